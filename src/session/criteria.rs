//! The criteria for observations of a hunt, and the time limit of commands before it is measured.

use crate::Failure;
use crate::plan::Plan;
use idd_base::Signature;
use idd_world::run::classify::Criteria;
use std::time::Duration;

/// The time limit of the first run if the user gives none.
pub const FIRST_LIMIT: Duration = Duration::from_secs(10 * 60);

/// The criteria of a hunt with this signature; `None` before the failure was reproduced.
pub fn criteria(plan: &Plan, signature: Option<Signature>) -> Result<Criteria, Failure> {
    let regex = |text: &Option<String>| {
        // The patterns match lines, so `^` and `$` match at line ends.
        let of_lines = |text| regex::RegexBuilder::new(text).multi_line(true).crlf(true).build();
        let compiled = text.as_deref().map(of_lines).transpose();
        compiled.map_err(Failure::from)
    };
    Ok(Criteria {
        sought: plan.order.history.find,
        signature,
        fail_match: regex(&plan.order.test.match_line)?,
        pass_match: regex(&plan.order.test.pass_match)?,
        has_build_command: plan.commands.build.is_some() || plan.commands.fetching.is_some(),
        mode: plan.order.test.signature,
        is_build_hunted: false,
        place: None,
    })
}
