//! What a walk may ask next, before it knows: the stops of both ways out of every stop.
//!
//! With several workers the revisions that may be wanted soon are tested ahead of time. An answer counts only when the
//! walk comes to ask for it, so guessing costs runs, never rightness.

use crate::hunt::Hunter;
use crate::outcome::Outcome;
use crate::revision::CommitId;
use std::collections::VecDeque;

/// Where a walk stands on a line: see [`crate::hunt::walk`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// Galloping: the revision at `near` fails, the one at `stop` is asked for.
    Gallop { near: usize, stop: usize },
    /// Bisecting between a failing index and a passing one.
    Bisect { bad: usize, good: usize },
}

impl Position {
    fn stop(self) -> usize {
        match self {
            Self::Gallop { stop, .. } => stop,
            Self::Bisect { bad, good } => bad + (good - bad) / 2,
        }
    }

    /// Where the walk stands if its stop fails, and if it passes.
    fn next(self, last: usize) -> [Self; 2] {
        match self {
            Self::Gallop { near, stop } => {
                let further = (2 * stop).min(last);
                // A bisection begins at the bad end; its first stop is `near`, which fails, unless the line was too short.
                let bad = if stop == 2 * near { near } else { 0 };
                [Self::Gallop { near: stop, stop: further }, Self::Bisect { bad, good: stop }]
            }
            Self::Bisect { bad, good } => {
                let middle = self.stop();
                [Self::Bisect { bad: middle, good }, Self::Bisect { bad, good: middle }]
            }
        }
    }

    fn is_over(self) -> bool {
        match self {
            Self::Gallop { near, stop } => near == stop,
            Self::Bisect { bad, good } => good - bad < 2,
        }
    }
}

/// The stops that may follow the one at `position`, the likelier ones first: pass and fail count as equally likely.
///
/// - `last`: the last index of the line.
/// - `passes`: what is known of an index already; such stops are passed over.
///
/// Indices, each once, lazily. Source: speculative bisection; answers are taken in the order asked, where a search that
/// takes them as they come would narrow a little sooner, but to a result that depends on the number of workers.
pub(super) fn stops_after(
    position: Position,
    last: usize,
    passes: impl Fn(usize) -> Option<bool>,
) -> impl Iterator<Item = usize> {
    let mut seen = vec![position.stop()];
    let mut queue = VecDeque::from(position.next(last));
    std::iter::from_fn(move || {
        loop {
            let position = queue.pop_front()?;
            if position.is_over() {
                continue;
            }
            let (stop, [if_fails, if_passes]) = (position.stop(), position.next(last));
            match passes(stop) {
                Some(true) => queue.push_front(if_passes),
                Some(false) => queue.push_front(if_fails),
                None => {
                    queue.extend([if_fails, if_passes]);
                    if !seen.contains(&stop) {
                        seen.push(stop);
                        return Some(stop);
                    }
                }
            }
        }
    })
}

/// More guesses than this are never asked at once.
const MAX_GUESSES: usize = 64;

impl Hunter<'_> {
    /// Says what may be asked after the revision that is asked next.
    pub(super) fn look_ahead(&self, line: &[CommitId], position: Position) {
        let passes = |stop: usize| {
            let outcome = self.board.borrow().tested.get(&line[stop])?.outcome;
            outcome.is_testable().then_some(outcome == Outcome::Pass)
        };
        let stops = stops_after(position, line.len() - 1, passes).take(MAX_GUESSES);
        let guesses = stops.map(|stop| line[stop]).collect();
        self.board.borrow_mut().guesses = guesses;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_out_of_every_stop_are_looked_at_level_by_level() {
        let bisect = Position::Bisect { bad: 0, good: 16 };
        assert_eq!(stops_after(bisect, 16, |_| None).take(6).collect::<Vec<_>>(), [12, 4, 14, 10, 6, 2]);
        let gallop = Position::Gallop { near: 2, stop: 4 };
        assert_eq!(stops_after(gallop, 100, |_| None).take(6).collect::<Vec<_>>(), [8, 3, 16, 6, 32, 12]);
        let passes = |stop| [3, 8].contains(&stop).then_some(stop == 8);
        assert_eq!(stops_after(gallop, 100, passes).collect::<Vec<_>>(), [6, 7, 5]);
    }

    #[test]
    fn every_index_between_the_ends_comes_once_and_no_other() {
        for good in 1..40 {
            let position = Position::Bisect { bad: 0, good };
            let mut stops: Vec<usize> = stops_after(position, good, |_| None).collect();
            stops.push(position.stop());
            stops.sort_unstable();
            let expected: Vec<usize> = if good < 2 { vec![0] } else { (1..good).collect() };
            assert_eq!(stops, expected);
        }
        let mut stops: Vec<usize> = stops_after(Position::Gallop { near: 0, stop: 1 }, 30, |_| None).collect();
        stops.sort_unstable();
        assert_eq!(stops, (2..=30).collect::<Vec<_>>());
    }
}
