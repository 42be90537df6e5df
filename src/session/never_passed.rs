//! What is said of a hunt in which nothing passed.

use crate::hints;
use crate::hunt::Hunt;
use idd_base::{CommitId, Outcome, count};
use idd_hunt::finding::{Conclusion, Coverage, Finding};
use idd_report::{Untrusted, text};
use std::collections::HashMap;

impl Hunt<'_> {
    /// The notes on what was not tested, and on a file that old revisions lack; or on what is known of a hunt that was stopped.
    pub(super) fn notes_of_never_passed(&self, finding: &Finding) -> Vec<Untrusted> {
        let is_failure = self.plan.order.history.find.is_failure();
        match finding.conclusion {
            Conclusion::NeverPassed if is_failure => {}
            Conclusion::Budget | Conclusion::Interrupted if is_failure => {
                return self.so_far(finding).map(Untrusted::from).into_iter().collect();
            }
            _ => return Vec::new(),
        }
        let oldest = finding.oldest_failing.filter(|oldest| *oldest != finding.bad);
        let absent = oldest.and_then(|oldest| self.with_scene(&[], |scene| hints::files::absent_at(scene, oldest))?);
        absent.into_iter().chain(self.untested(finding)).map(Untrusted::from).collect()
    }

    /// The note on the revisions that fail, while nothing is known to pass; `None` before the first verdict.
    fn so_far(&self, finding: &Finding) -> Option<String> {
        let passes = finding.verdicts.iter().any(|(_, outcome, _)| *outcome == Outcome::Pass);
        if passes || finding.last_good.is_some() || finding.first_bad.is_some() {
            return None;
        }
        // The last verdict of a revision counts: a repair can change it.
        let verdicts: HashMap<CommitId, Outcome> =
            finding.verdicts.iter().map(|(revision, outcome, _)| (*revision, *outcome)).collect();
        let line = self.history.first_parents(finding.bad);
        let tested = || line.iter().filter_map(|revision| Some((revision, verdicts.get(revision)?)));
        let failing = || tested().filter(|(_, outcome)| **outcome == Outcome::Fail);
        let (oldest, _) = failing().next_back()?;
        let n_open = tested().filter(|(_, outcome)| !outcome.is_testable()).count();
        Some(format!(
            "No revision passes so far: of {} along first parents, {} failed, back to {}, and {n_open} could not be tested.",
            count(line.len(), "revision"),
            failing().count(),
            oldest.short(),
        ))
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
