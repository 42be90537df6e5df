//! Time limits: reductions make endless loops, so candidates get a shorter one than the search.

use crate::cli::session::Session;
use crate::hunt::Probe;
use crate::hunt::event::Phase;
use crate::outcome::Ending;
use crate::outcome::Outcome;
use std::time::Duration;

/// A candidate may take so many times as long as a revision of the history.
const FACTOR: u32 = 10;

/// It may always take this long.
const FLOOR: Duration = Duration::from_secs(5);

/// Fewer runs than this tell nothing.
const FEWEST: usize = 3;

impl Session<'_> {
    /// The time limit of each command of a probe.
    ///
    /// For a candidate of a reduction, ten times the median of what revisions took so far, at least 5 s and at most what other probes
    /// may take. Where the user gives a limit, or a hang is hunted, all probes have the same.
    pub(super) fn limit_of(&self, probe: &Probe) -> Duration {
        let is_given = self.plan.args.test.timeout.is_some() || self.hunts_hang();
        match candidate_limit(&self.durations) {
            Some(limit) if is_of_reduction(probe) && !is_given => limit.min(self.limit),
            _ => self.limit,
        }
    }

    /// Whether the hunted failure is a hang.
    pub(super) fn hunts_hang(&self) -> bool {
        self.criteria.signature.as_ref().is_some_and(|signature| signature.ending == Ending::Timeout)
    }

    /// Takes in how long a probe took whose answer was used.
    pub(super) fn time(&mut self, probe: &Probe, outcome: Outcome, duration: Duration) {
        if outcome.is_testable() && !is_of_reduction(probe) {
            self.durations.push(duration);
        }
    }
}

/// Whether a probe is a candidate of a reduction, be it of the culprit or of a repair, on which nothing rests.
pub(super) fn is_of_reduction(probe: &Probe) -> bool {
    matches!(probe.phase, Phase::Reduce | Phase::Repair) && !probe.is_claim
}

/// Ten times the median, at least 5 s; `None` of fewer than three durations.
fn candidate_limit(durations: &[Duration]) -> Option<Duration> {
    let mut sorted = durations.to_vec();
    sorted.sort_unstable();
    (sorted.len() >= FEWEST).then(|| sorted[sorted.len() / 2].saturating_mul(FACTOR).max(FLOOR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(milliseconds: &[u64], expected_ms: Option<u64>) {
        let durations: Vec<Duration> = milliseconds.iter().copied().map(Duration::from_millis).collect();
        assert_eq!(candidate_limit(&durations), expected_ms.map(Duration::from_millis));
    }

    #[test]
    fn a_candidate_may_take_ten_times_the_median_and_at_least_five_seconds() {
        check(&[], None);
        check(&[9000, 9000], None);
        check(&[10, 20, 30], Some(5000));
        check(&[700, 60_000, 600], Some(7000));
        check(&[900, 100, 800, 700], Some(8000));
    }
}
