//! What is said of a hunt in which nothing passed.

use crate::hunt::finding::{Conclusion, Coverage, Finding};
use crate::outcome::Outcome;
use crate::plural::count;
use crate::report::{Untrusted, text};
use crate::revision::CommitId;
use crate::session::hints;
use crate::session::hunt::Hunt;

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
        if finding.last_good.is_some() || finding.first_bad.is_some() {
            return None;
        }
        let of = |is_it: fn(Outcome) -> bool| finding.verdicts.iter().filter(move |(_, outcome, _)| is_it(*outcome));
        let (n_open, n_failing) =
            (of(|outcome| !outcome.is_testable()).count(), of(|outcome| outcome == Outcome::Fail).count());
        let line = self.history.first_parents(finding.bad);
        let place = |revision: &CommitId| line.iter().position(|commit| commit == revision);
        let oldest = of(|outcome| outcome == Outcome::Fail).filter_map(|(revision, ..)| place(revision)).max()?;
        Some(format!(
            "No revision passes so far: {} failed, {} is the oldest of them, and {} could not be tested; the line has {}.",
            count(n_failing, "revision"),
            line[oldest].short(),
            count(n_open, "revision"),
            line.len(),
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
