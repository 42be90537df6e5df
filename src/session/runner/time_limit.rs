//! Time limits: reductions often make endless loops, so candidates have a shorter limit than the search.

use crate::hunt::event::Phase;
use crate::hunt::probe::Probe;
use std::time::Duration;

/// A candidate may take this many times as long as a revision of the history.
const FACTOR: u32 = 10;

/// It may always take this long.
const FLOOR: Duration = Duration::from_secs(5);

/// With fewer runs there is no median.
pub(super) const FEWEST: usize = 3;

/// Whether a probe is a candidate of a reduction (of the culprit or of a repair) that supports no claim.
pub(super) fn is_of_reduction(probe: &Probe) -> bool {
    matches!(probe.phase, Phase::Reduce | Phase::Repair) && !probe.is_claim
}

/// Ten times the median, at least 5 s; `None` for fewer than three durations.
pub(super) fn candidate_limit(durations: &[Duration]) -> Option<Duration> {
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
