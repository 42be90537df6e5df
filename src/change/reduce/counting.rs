//! Complements in the order of a counter.

use crate::reduce::plan::{ReducePlan, without};
use crate::{Group, Subset};

/// The number of groups to remove at once, by the number of failed attempts for each of them.
///
/// It is the s that maximises s(1-p)^s for p = p0 / (1-1/e)^count and p0 = 0.1, and the larger of two if they differ by
/// less than a thousandth.
const SIZES: [usize; 5] = [10, 6, 4, 2, 1];

/// Removes groups: those with the fewest attempts first, and of equal ones the last ones; fewer at a time after more
/// attempts.
///
/// A group that failed alone is done. The result is not 1-minimal by itself, because a later success can make an
/// earlier group removable; see [`Singles`](super::singles::Singles).
///
/// Cost: every group is tried at most once for each of the sizes 10, 6, 4, 2, 1: at most 2.02 n + 5 candidates that
/// fail and n that succeed, n = groups.
///
/// Source: counter-based delta debugging (Zhang et al. 2025), the deterministic form of probabilistic delta debugging
/// (Wang et al. 2021); complements only, as there. Deviation: the sizes are the table above.
#[derive(Clone)]
pub(super) struct Counting {
    groups: Vec<CountingJudge>,
    /// Indices of the groups that were removed last.
    taken: Vec<usize>,
}

#[derive(Clone)]
struct CountingJudge {
    units: Group,
    n_tries: usize,
    is_done: bool,
}

impl Counting {
    pub(super) fn new(groups: Vec<Group>) -> Self {
        Self::tried(groups, 0)
    }

    /// For groups that can probably not be removed: tries pairs, then each group alone.
    pub(super) fn again(groups: Vec<Group>) -> Self {
        Self::tried(groups, SIZES.len() - 2)
    }

    /// Tries each group alone, once.
    pub(super) fn one_by_one(groups: Vec<Group>) -> Self {
        Self::tried(groups, SIZES.len() - 1)
    }

    fn tried(groups: Vec<Group>, n_tries: usize) -> Self {
        let groups = groups.into_iter().map(|units| CountingJudge { units, n_tries, is_done: false }).collect();
        Self { groups, taken: Vec::new() }
    }

    /// At the end of the plan: the remaining groups, none of which can be removed alone.
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

impl ReducePlan for Counting {
    fn next(&mut self, current: &Subset) -> Option<Subset> {
        self.note_failure();
        let fewest = self.groups.iter().filter(|group| !group.is_done).map(|group| group.n_tries).min()?;
        let is_next = |group: &CountingJudge| !group.is_done && group.n_tries == fewest;
        let indices = (0..self.groups.len()).rev().filter(|index| is_next(&self.groups[*index]));
        self.taken = indices.take(SIZES[fewest]).collect();
        Some(without(current, self.taken.iter().map(|index| &self.groups[*index].units)))
    }

    fn hit(&mut self, current: &Subset) {
        self.taken.clear();
        self.groups.retain(|group| current.has_any_of(&group.units));
    }
}
