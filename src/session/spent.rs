//! The time that a hunt has spent, and the limit of its reductions.

use crate::order::Bound;
use idd_world::journal::Record;
use std::time::Duration;

/// The reductions may take this many times the time of the search.
const FACTOR: u32 = 10;

/// They may always take this long.
const FLOOR: Duration = Duration::from_secs(5 * 60);

/// Time spent, all runs of the program together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Time before the first reduction of the culprit; `None` until there is one.
    pub search: Option<Duration>,
    /// Time of reductions of the culprit.
    pub reduction: Duration,
}

impl Spent {
    /// The time limit of all reductions together.
    ///
    /// - `wanted`: the limit of the user.
    pub fn bound(self, wanted: Option<Bound>) -> Duration {
        match wanted {
            Some(Bound::Within(bound)) => bound,
            Some(Bound::Unlimited) => Duration::MAX,
            None => FLOOR.max(self.search.unwrap_or_default().saturating_mul(FACTOR)),
        }
    }

    /// The record of it.
    pub fn record(self) -> Record {
        Record::Spent { search: self.search, reduction: self.reduction }
    }

    /// The spent time of a record; `None` for other records.
    pub fn read(record: &Record) -> Option<Self> {
        match record {
            Record::Spent { search, reduction } => Some(Self { search: *search, reduction: *reduction }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(search_secs: Option<u64>, wanted: Option<Bound>, expected_secs: u64) {
        let spent = Spent { search: search_secs.map(Duration::from_secs), reduction: Duration::ZERO };
        assert_eq!(spent.bound(wanted), Duration::from_secs(expected_secs));
    }

    #[test]
    fn reductions_may_take_ten_times_the_search_and_at_least_five_minutes() {
        check(None, None, 300);
        check(Some(20), None, 300);
        check(Some(60), None, 600);
        check(Some(60), Some(Bound::Within(Duration::from_secs(7))), 7);
        let unlimited = Spent::default().bound(Some(Bound::Unlimited));
        assert_eq!(unlimited, Duration::MAX);
    }
}
