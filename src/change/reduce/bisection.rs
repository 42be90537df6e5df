//! Bisection from both ends.

use crate::reduce::plan::{ReducePlan, without};
use crate::{Group, Subset};

/// The end of the window that a search cuts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WindowEnd {
    /// The shortest prefix of the window that is still interesting.
    Back,
    /// The shortest suffix.
    Front,
}

/// The number of consecutive searches that may drop fewer groups than they ask questions.
///
/// Three, because among few groups one search often drops less than it asks, and the next one drops the rest: with two,
/// two lines in 6 files of 8 hunks of 6 lines took 36 probes instead of 26.
const PATIENCE: usize = 3;

/// Finds the window that matters by binary search from the back and from the front, and then searches inside it.
///
/// The groups are in source order; at first all are in the window. A search drops as many groups as it can from one end
/// of the window: first everything, then by binary search. The group at which it stops is kept and leaves the window,
/// and the other end is next. The plan ends when the window is empty, or when three searches in a row each dropped
/// fewer groups than they asked questions: then the answer is dense, or the judge is not monotone, and another engine
/// is better.
///
/// Result: exactly the groups that matter, if each matters by itself and the engine was not stopped. In general it is
/// not 1-minimal.
///
/// Cost: a search of n groups is at most 2 + log2 n candidates, so m groups that matter cost about m (1 + log2 n); at
/// most 4n + 3 (2 + log2 n) in any case.
///
/// Source: the shortest failing prefix is binary search as in bisection of a history. Keeping the group at its end and
/// continuing with the rest is Junker's `QuickXplain` (2004) without its recursion.
#[derive(Clone)]
pub(super) struct Bisection {
    /// The window, without the kept groups outside of it.
    groups: Vec<Group>,
    end: WindowEnd,
    /// Dropping this many groups (or more) from the end is rejected. One more than there are if nothing is known.
    too_many: usize,
    /// `too_many` before the last candidate was assumed to be rejected.
    too_many_before: usize,
    n_asked: usize,
    n_dropped: usize,
    n_idle: usize,
}

impl Bisection {
    pub(super) fn new(groups: Vec<Group>) -> Self {
        let too_many = groups.len() + 1;
        Self { groups, end: WindowEnd::Back, too_many, too_many_before: too_many, n_asked: 0, n_dropped: 0, n_idle: 0 }
    }

    /// Whether it ended because its searches dropped too little.
    pub(super) fn has_given_up(&self) -> bool {
        !self.groups.is_empty()
    }

    /// Keeps the group at which the search stopped, and continues at the other end.
    fn turn(&mut self) {
        self.n_idle = if self.n_dropped < self.n_asked { self.n_idle + 1 } else { 0 };
        match self.end {
            WindowEnd::Back => drop(self.groups.pop()),
            WindowEnd::Front => drop(self.groups.remove(0)),
        }
        self.end = if self.end == WindowEnd::Back { WindowEnd::Front } else { WindowEnd::Back };
        (self.too_many, self.n_asked, self.n_dropped) = (self.groups.len() + 1, 0, 0);
    }
}

impl ReducePlan for Bisection {
    fn next(&mut self, current: &Subset) -> Option<Subset> {
        loop {
            if self.groups.is_empty() || self.n_idle == PATIENCE {
                return None;
            }
            if self.too_many > 1 {
                break;
            }
            self.turn();
        }
        let n = self.groups.len();
        let n_dropped = if self.too_many > n { n } else { self.too_many / 2 };
        self.too_many_before = self.too_many;
        self.too_many = n_dropped;
        self.n_asked += 1;
        let dropped = match self.end {
            WindowEnd::Back => &self.groups[n - n_dropped..],
            WindowEnd::Front => &self.groups[..n_dropped],
        };
        Some(without(current, dropped))
    }

    fn hit(&mut self, current: &Subset) {
        let n_before = self.groups.len();
        self.groups.retain(|group| current.has_any_of(group));
        let n_dropped = n_before - self.groups.len();
        self.n_dropped += n_dropped;
        // Earlier rejections counted these groups too. With closing this is a guess, and only the cost depends on it.
        self.too_many = self.too_many_before.saturating_sub(n_dropped).clamp(1, self.groups.len() + 1);
    }
}
