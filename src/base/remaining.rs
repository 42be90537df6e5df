//! Estimates the remaining time, from measured probe times and the remaining work. Nothing here reads a clock.

use std::collections::VecDeque;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The number of last runs from which the duration of the next is estimated: they are mostly of one phase.
const WINDOW: usize = 31;

/// With fewer runs there is no estimate.
const FEWEST: usize = 3;

/// The tests that prove a finding, at most, apart from those of single units.
const PROOF: u64 = 6;

/// The durations of the last runs, build and test together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pace(VecDeque<Duration>);

impl Pace {
    /// Adds a run.
    pub fn add(&mut self, duration: Duration) {
        if self.0.len() == WINDOW {
            self.0.pop_front();
        }
        self.0.push_back(duration);
    }

    /// The median; `None` for fewer than three runs.
    pub fn typical(&self) -> Option<Duration> {
        let mut durations: Vec<Duration> = self.0.iter().copied().collect();
        durations.sort_unstable();
        (durations.len() >= FEWEST).then(|| durations[durations.len() / 2])
    }
}

/// What a hunt may still do beside its present phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rest {
    /// The number of tests that run at once.
    pub n_jobs: usize,
    /// The time that reductions may still take; [`Duration::MAX`] without a limit.
    pub reduction: Duration,
    /// The runs so far for repairs, and for the search.
    pub runs: (u64, u64),
}

impl Rest {
    /// The time of repairs in a search of this time, if it needs as many for each test as so far.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn repairs(self, search: Duration) -> Duration {
        let (n_repairs, n_tests) = self.runs;
        let times = n_repairs as f64 / n_tests.max(1) as f64;
        Duration::try_from_secs_f64(search.as_secs_f64() * times).unwrap_or(Duration::MAX)
    }
}

/// The remaining work of the search or a reduction, from the last event of a hunt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemainingWork {
    /// The search for a pass, at a distance of `distance` steps in a history of `n_revisions`.
    Galloping {
        /// Steps from the bad revision.
        distance: u64,
        /// The number of revisions.
        n_revisions: u64,
    },
    /// Revisions that may still be the culprit.
    Bisecting {
        /// Their number.
        n_candidates: u64,
    },
    /// Units still in a set that is reduced.
    Reducing {
        /// Their number.
        n_units: u64,
    },
}

impl RemainingWork {
    /// That of a search through a whole history.
    pub fn of_all(n_revisions: usize) -> Self {
        Self::Galloping { distance: 1, n_revisions: n_revisions as u64 }
    }

    /// The number of tests, one after the other.
    ///
    /// - Bisecting: the expected number, the base-2 logarithm. Repairs are not included.
    /// - Galloping: a bound, to the end of history and back to the culprit by halves.
    /// - Reducing: a bound for one pass over the units, with one test for each. The number of passes is unknown.
    pub fn n_tests(self) -> u64 {
        match self {
            Self::Bisecting { n_candidates } => halvings(n_candidates),
            Self::Galloping { distance, n_revisions } => {
                let n_jumps = halvings(n_revisions / distance.max(1)).div_ceil(2).max(1);
                n_jumps + halvings(n_revisions)
            }
            Self::Reducing { n_units } => n_units,
        }
    }

    /// The largest number of tests at once, 1 to `n_jobs`, with which the work and the proof behind it can be done in
    /// `n_affordable` tests.
    ///
    /// `n` at once test n places to learn what log2(n + 1) tests one after the other tell. A reduction counts as the search for
    /// one unit, the least that it can be: how much is needed, nobody knows.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn affordable_width(self, n_jobs: usize, n_affordable: u64) -> usize {
        let n_tests = match self {
            Self::Reducing { n_units } => halvings(n_units),
            Self::Bisecting { .. } | Self::Galloping { .. } => self.n_tests(),
        };
        let n_all = |width: usize| width as f64 * (n_tests as f64 / ((width + 1) as f64).log2()).ceil();
        (1..=n_jobs).rev().find(|width| n_all(*width) <= n_affordable.saturating_sub(PROOF) as f64).unwrap_or(1)
    }

    /// The time of these tests with this number of jobs.
    ///
    /// `n` jobs complete log2(n + 1) steps of a search at a time, and at best `n` units of a reduction. So the bound
    /// for a reduction is that of one job.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn time(self, n_jobs: usize, typical: Duration) -> Duration {
        let n_at_once = match self {
            Self::Bisecting { .. } | Self::Galloping { .. } => ((n_jobs + 1) as f64).log2().max(1.0),
            Self::Reducing { .. } => 1.0,
        };
        let n_tests = self.n_tests() as f64;
        Duration::try_from_secs_f64(typical.as_secs_f64() * (n_tests / n_at_once).ceil()).unwrap_or(Duration::MAX)
    }

    /// The shortest and the longest time to the end of the reduction; `None` if too little is known.
    ///
    /// - In a search, the shortest one is that of the search: the culprit may be a line. The longest one has repairs in it, as
    ///   many for each test as the search needed so far.
    /// - In a reduction, it is 0: the last unit may be the next.
    pub fn range(self, rest: Rest, pace: &Pace) -> Option<(Duration, Duration)> {
        let time = self.time(rest.n_jobs, pace.typical()?);
        Some(match self {
            Self::Reducing { .. } => (Duration::ZERO, rest.reduction),
            Self::Bisecting { .. } | Self::Galloping { .. } => {
                (time, time.saturating_add(rest.repairs(time)).saturating_add(rest.reduction))
            }
        })
    }
}

/// How often this number can be halved until one is left.
fn halvings(n: u64) -> u64 {
    u64::from(n.max(1).next_power_of_two().trailing_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(seconds: &[u64]) -> Pace {
        let mut pace = Pace::default();
        for seconds in seconds {
            pace.add(Duration::from_secs(*seconds));
        }
        pace
    }

    #[test]
    fn a_search_is_as_wide_as_the_tests_that_it_may_make_allow() {
        let ahead = RemainingWork::Bisecting { n_candidates: 1 << 12 };
        // One after the other 12 tests, two at once 16, eight at once 32, 41 at once 123, and 64 at once 128; six more prove
        // the finding.
        for (n_affordable, width) in [(0, 1), (18, 1), (22, 2), (38, 8), (131, 41), (134, 64), (u64::MAX, 64)] {
            assert_eq!(ahead.affordable_width(64, n_affordable), width, "{n_affordable}");
        }
        assert_eq!(ahead.affordable_width(4, u64::MAX), 4);
        assert_eq!(RemainingWork::Reducing { n_units: 1000 }.affordable_width(8, 40), 8);
        // Nine tests to the end of history and back.
        let widths = [17, 18].map(|n_affordable| RemainingWork::of_all(1 << 6).affordable_width(8, n_affordable));
        assert_eq!(widths, [1, 2]);
    }

    #[test]
    fn the_pace_is_the_median_of_the_last_runs() {
        assert_eq!(pace(&[1, 2]).typical(), None);
        assert_eq!(pace(&[900, 2, 3]).typical(), Some(Duration::from_secs(3)));
        let mut seconds = vec![100; 40];
        seconds.extend([7; 16]);
        assert_eq!(pace(&seconds).typical(), Some(Duration::from_secs(7)));
    }

    #[test]
    fn a_search_takes_its_halvings_times_the_median() {
        for (n_candidates, n_tests) in [(0, 0), (1, 0), (2, 1), (3, 2), (8, 3), (9, 4), (1000, 10)] {
            assert_eq!(RemainingWork::Bisecting { n_candidates }.n_tests(), n_tests, "{n_candidates}");
        }
        let ahead = RemainingWork::Bisecting { n_candidates: 1000 };
        let eight = Duration::from_secs(8);
        assert_eq!(ahead.time(1, eight), Duration::from_secs(80));
        assert_eq!(ahead.time(3, eight), Duration::from_secs(40));
    }

    #[test]
    fn galloping_and_reducing_have_bounds() {
        let galloping = RemainingWork::Galloping { distance: 4, n_revisions: 1024 };
        assert_eq!(galloping.n_tests(), 4 + 10);
        assert_eq!(RemainingWork::Galloping { distance: 0, n_revisions: 0 }.n_tests(), 1);
        let (reducing, two) = (RemainingWork::Reducing { n_units: 30 }, Duration::from_secs(2));
        assert_eq!((reducing.time(1, two), reducing.time(4, two)), (30 * two, 30 * two));
    }

    #[test]
    fn a_range_has_repairs_in_it_as_many_as_there_were_so_far() {
        let seconds = Duration::from_secs;
        let range = |runs| {
            let rest = Rest { n_jobs: 1, reduction: seconds(60), runs };
            RemainingWork::Bisecting { n_candidates: 16 }.range(rest, &pace(&[10, 10, 10])).unwrap()
        };
        assert_eq!(range((0, 5)), (seconds(40), seconds(100)));
        assert_eq!(range((10, 5)), (seconds(40), seconds(180)));
        assert_eq!(range((u64::MAX, 0)).1, Duration::MAX);
    }

    #[test]
    fn more_than_can_be_said_is_no_error() {
        let ahead = RemainingWork::Reducing { n_units: u64::MAX };
        assert_eq!(ahead.time(1, Duration::MAX), Duration::MAX);
    }
}
