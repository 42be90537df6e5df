//! Whether the failure is mended already where the user's branch comes from.

use crate::hunt::Hunt;
use crate::{Failure, hints};
use idd_base::{Outcome, Sought};
use idd_change::trees::Trees as _;
use idd_hunt::finding::Finding;
use idd_hunt::{Phase, Probe};
use idd_report::Untrusted;
use idd_world::repo::{TreeStore, graph, private, refs};
use idd_world::run::classify::classify;

impl Hunt<'_> {
    /// The note that the test passes at the tip of the upstream branch; `None` if there is none ahead of the bad revision,
    /// or if the test does not pass there.
    ///
    /// Cost: one probe, after the commit was proved.
    pub(super) fn passes_upstream(
        &mut self,
        finding: &Finding,
        store: &TreeStore,
    ) -> Result<Option<Untrusted>, Failure> {
        let is_about_failure = self.plan.order.history.find == Sought::Failure && self.subject.is_none();
        if !is_about_failure || finding.first_bad.is_none() || !finding.is_proved || self.plan.is_minimize {
            return Ok(None);
        }
        let user = private::open(&self.location.git_directory)?;
        let Some((tip, name)) = refs::upstream(&user) else { return Ok(None) };
        if !graph::is_ancestor(&user, self.plan.bad, tip) {
            return Ok(None);
        }
        let Ok(tree) = graph::tree_of(&user, tip) else { return Ok(None) };
        let probe = Probe::of(store.view(tree)?, tip, Phase::Verify);
        // What cannot be tested there takes nothing from the finding.
        let Ok(Some(seen)) = self.runner.reproduce(probe, &[0]) else { return Ok(None) };
        let passes = seen.iter().all(|seen| classify(seen, &self.runner.judging.criteria) == Outcome::Pass);
        Ok(passes.then(|| {
            let (bad, options) = (self.plan.bad.short(), hints::options(&self.plan.order));
            Untrusted::from(format!(
                "The test passes at {name} ({}), which is ahead: `git idd --find fix --good @{{upstream}} --bad {bad}{}` \
                 with this test says since when.",
                tip.short(),
                format!(" {options}").trim_end()
            ))
        }))
    }
}
