//! What is said of a hunt in which nothing passed.

use crate::hunt::finding::{Conclusion, Coverage, Finding};
use crate::plural::count;
use crate::report::{Untrusted, text};
use crate::session::hints;
use crate::session::hunt::Hunt;

impl Hunt<'_> {
    /// The notes on what was not tested, and on a file that old revisions lack.
    pub(super) fn notes_of_never_passed(&self, finding: &Finding) -> Vec<Untrusted> {
        if finding.conclusion != Conclusion::NeverPassed || !self.plan.order.history.find.is_failure() {
            return Vec::new();
        }
        let oldest = finding.oldest_failing.filter(|oldest| *oldest != finding.bad);
        let absent = oldest.and_then(|oldest| self.with_scene(&[], |scene| hints::files::absent_at(scene, oldest))?);
        absent.into_iter().chain(self.untested(finding)).map(Untrusted::from).collect()
    }

    /// The note on the revisions that were not tested, with the command that tests them.
    fn untested(&self, finding: &Finding) -> Option<String> {
        let Coverage { n_tested, n_all } = Coverage::of(finding, &self.history);
        let n_left = u32::try_from(n_all - n_tested).ok().filter(|n_left| *n_left > 0)?;
        let time = (self.runner.mean_duration()? * n_left).as_secs_f64();
        let time = if time < 1.0 { String::new() } else { format!(", in about {}", text::duration(time)) };
        let left = count(n_left, "revision");
        Some(format!("Not tested: {left} of the line; `--walk linear` tests each of them{time}."))
    }
}
