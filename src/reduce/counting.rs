//! Complements in the order of a counter.

use crate::change::Group;
use crate::change::Subset;
use crate::reduce::plan::{Plan, without};

/// How many groups to take out at once, by how often each of them was tried in vain.
///
/// The s that makes s(1-p)^s greatest for p = p0 / (1-1/e)^count and p0 = 0.1, the larger of two that are within a
/// thousandth of each other.
const SIZES: [usize; 5] = [10, 6, 4, 2, 1];

/// Takes out groups, those that were tried least often first and of equal ones the last ones, fewer at a time the more often
/// they were tried.
///
/// A group that was tried alone in vain is done. Result: not 1-minimal by itself (a later success can free an earlier
/// group), see [`Singles`](super::singles::Singles).
///
/// Cost: every group is tried at most once for each of the sizes 10, 6, 4, 2, 1: at most 2.02 n + 5 candidates that fail
/// and n that succeed, n = groups.
///
/// Source: counter-based delta debugging (Zhang et al. 2025), the deterministic form of probabilistic delta debugging
/// (Wang et al. 2021); complements only, as there. Deviation: the sizes are the table above.
#[derive(Clone)]
pub(super) struct Counting {
    groups: Vec<Counted>,
    /// Indices of the groups that were taken out last.
    taken: Vec<usize>,
}

#[derive(Clone)]
struct Counted {
    units: Group,
    n_tries: usize,
    is_done: bool,
}

impl Counting {
    pub(super) fn new(groups: Vec<Group>) -> Self {
        Self::tried(groups, 0)
    }

    /// For groups of which little can be expected: tries pairs, then each group alone.
    pub(super) fn again(groups: Vec<Group>) -> Self {
        Self::tried(groups, SIZES.len() - 2)
    }

    /// Tries each group alone, once.
    pub(super) fn one_by_one(groups: Vec<Group>) -> Self {
        Self::tried(groups, SIZES.len() - 1)
    }

    fn tried(groups: Vec<Group>, n_tries: usize) -> Self {
        let groups = groups.into_iter().map(|units| Counted { units, n_tries, is_done: false }).collect();
        Self { groups, taken: Vec::new() }
    }

    /// At the end of the plan: the groups that are left, each of which was tried alone in vain.
    pub(super) fn into_refused(self) -> impl Iterator<Item = Group> {
        self.groups.into_iter().map(|group| group.units)
    }

    fn note_failure(&mut self) {
        let is_alone = self.taken.len() == 1;
        for index in self.taken.drain(..) {
            self.groups[index].n_tries += 1;
            self.groups[index].is_done = is_alone;
        }
    }
}

impl Plan for Counting {
    fn next(&mut self, current: &Subset) -> Option<Subset> {
        self.note_failure();
        let fewest = self.groups.iter().filter(|group| !group.is_done).map(|group| group.n_tries).min()?;
        let is_next = |group: &Counted| !group.is_done && group.n_tries == fewest;
        let indices = (0..self.groups.len()).rev().filter(|index| is_next(&self.groups[*index]));
        self.taken = indices.take(SIZES[fewest]).collect();
        Some(without(current, self.taken.iter().map(|index| &self.groups[*index].units)))
    }

    fn hit(&mut self, current: &Subset) {
        self.taken.clear();
        self.groups.retain(|group| current.has_any_of(&group.units));
    }
}
