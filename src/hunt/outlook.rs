//! The probes that a walk may ask next: for each stop, the stops that follow after a pass and after a failure.
//!
//! With several workers, revisions that may be needed soon are tested ahead of time. An answer counts only when the
//! walk asks for it, so a wrong guess costs a run, but never changes the result.

use crate::gaps::widest_middle;
use crate::walk::GALLOP;
use crate::{Halt, Hunter, Outlook, Phase, Probe, WalkPosition};
use idd_base::{CommitId, Course, Outcome, ahead};
use std::collections::HashMap;
use std::iter;

/// A walk on a line whose last index is `last`.
#[derive(Debug, Clone, Copy)]
struct Walking {
    position: WalkPosition,
    last: usize,
    /// The oldest revision that is known to fail, and the newest one that is known to pass, in turn or not.
    known: (usize, usize),
}

impl Course for Walking {
    type Query = usize;

    fn query(&self) -> Option<usize> {
        match self.position {
            WalkPosition::Verify { good } => Some(good),
            WalkPosition::Gallop { near, stop } => (near < stop).then_some(stop),
            WalkPosition::Bisect { bad, good } => (good - bad > 1).then_some(bad + (good - bad) / 2),
            WalkPosition::Gaps | WalkPosition::Over => None,
        }
    }

    fn after(&self, passes: bool) -> Self {
        let position = match (self.position, passes) {
            (WalkPosition::Verify { good }, true) => WalkPosition::Bisect { bad: 0, good },
            (WalkPosition::Gallop { stop, .. }, false) => {
                WalkPosition::Gallop { near: stop, stop: (GALLOP.1 * stop).min(self.last) }
            }
            (WalkPosition::Gallop { near, stop }, true) => WalkPosition::Bisect { bad: near, good: stop },
            (WalkPosition::Bisect { bad, good }, passes) => {
                let middle = bad + (good - bad) / 2;
                if passes {
                    WalkPosition::Bisect { bad, good: middle }
                } else {
                    WalkPosition::Bisect { bad: middle, good }
                }
            }
            (WalkPosition::Verify { .. } | WalkPosition::Gaps | WalkPosition::Over, _) => WalkPosition::Over,
        };
        Self { position, ..*self }
    }

    /// The probability that a stop fails. A revision between two failing ones usually fails; it is asked anyway.
    fn odds(&self) -> f64 {
        const AS_A_RULE: f64 = 0.99;
        let (fails, passes) = self.known;
        match self.query() {
            Some(stop) if stop <= fails => 1.0 - AS_A_RULE,
            Some(stop) if stop >= passes => AS_A_RULE,
            _ => 0.5,
        }
    }
}

impl Outlook {
    /// The two stops around the first failure, for a walk that bisects, if early answers are typical.
    fn known_by(&self, overheard: &HashMap<Probe, Outcome>) -> (usize, usize) {
        let WalkPosition::Bisect { bad, good } = self.position else { return (0, usize::MAX) };
        let mut known = (bad, good);
        let shown: HashMap<CommitId, Outcome> = overheard
            .iter()
            .filter(|(probe, _)| probe.phase == Phase::Search)
            .map(|(probe, outcome)| (probe.revision, *outcome))
            .collect();
        for stop in bad + 1..good {
            match shown.get(&self.line[stop]) {
                Some(Outcome::Fail) => known.0 = stop,
                Some(Outcome::Pass) => known.1 = known.1.min(stop),
                _ => {}
            }
        }
        known
    }
}

impl Hunter<'_> {
    /// Records the position of the walk on `line` when it asks for the next revision.
    pub(super) fn look_ahead(&self, line: &[CommitId], position: WalkPosition) {
        self.state.borrow_mut().outlook = Some(Outlook { line: line.to_vec(), position });
    }

    /// At most `n` probes that the walk may ask after the current one, without those in `asked`.
    pub(super) fn guesses(
        &self,
        outlook: &Outlook,
        asked: &Probe,
        overheard: &HashMap<Probe, Outcome>,
        n: usize,
    ) -> Vec<Probe> {
        // If the tree of a predicted stop cannot be read, that is no error until it is asked for.
        let probe = |stop: usize| self.bare_probe(outlook.line[stop]).ok();
        let known = |stop: &usize| {
            let tested = self.state.borrow().tested.get(&outlook.line[*stop]).map(|tested| tested.outcome);
            let outcome = tested.or_else(|| overheard.get(&probe(*stop)?).copied())?;
            outcome.is_testable().then_some(outcome == Outcome::Pass)
        };
        let is_open = |stop: &usize| !self.state.borrow().tested.contains_key(&outlook.line[*stop]);
        let is_new = |probe: &Probe| probe != asked && !overheard.contains_key(probe);
        if outlook.position == WalkPosition::Gaps {
            let mut tested = self.tested_on(&outlook.line);
            let middles = iter::from_fn(|| {
                let middle = widest_middle(&tested, 1)?;
                tested.insert(middle);
                Some(middle)
            });
            return middles.filter_map(probe).filter(is_new).take(n).collect();
        }
        let last = outlook.line.len() - 1;
        let walking = Walking { position: outlook.position, last, known: outlook.known_by(overheard) };
        let stops = ahead(walking, known).filter(is_open);
        // In short histories there are few predictions.
        stops.filter_map(probe).filter(is_new).take(n).collect()
    }

    /// The probe of a revision without a repair. Cost: none, it is not run.
    pub(super) fn bare_probe(&self, revision: CommitId) -> Result<Probe, Halt> {
        let tree = self.view(revision)?;
        Ok(Probe { is_fetched: self.is_fetched(revision), ..Probe::of(tree, revision, Phase::Search) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stops_after(position: WalkPosition, last: usize, known: impl Fn(usize) -> Option<bool>) -> Vec<usize> {
        ahead(Walking { position, last, known: (0, usize::MAX) }, |stop| known(*stop)).take(100).collect()
    }

    #[test]
    fn both_ways_out_of_every_stop_are_looked_at_level_by_level() {
        let bisect = WalkPosition::Bisect { bad: 0, good: 16 };
        assert_eq!(stops_after(bisect, 16, |_| None)[..6], [12, 4, 14, 10, 6, 2]);
        let gallop = WalkPosition::Gallop { near: 2, stop: 4 };
        assert_eq!(stops_after(gallop, 100, |_| None)[..6], [16, 3, 64, 10, 100, 40]);
        let passes = |stop| [3, 16].contains(&stop).then_some(stop == 16);
        assert_eq!(stops_after(gallop, 100, passes)[..3], [10, 13, 7]);
        assert_eq!(stops_after(WalkPosition::Verify { good: 8 }, 8, |_| None), [4, 6, 2, 7, 5, 3, 1]);
    }

    #[test]
    fn every_index_between_the_ends_comes_once_and_no_other() {
        for good in 2..40 {
            let mut stops = stops_after(WalkPosition::Bisect { bad: 0, good }, good, |_| None);
            stops.push(good / 2);
            stops.sort_unstable();
            assert_eq!(stops, (1..good).collect::<Vec<_>>());
        }
    }
}
