//! One by one: the exact end of a reduction.

use crate::reduce::plan::{ReducePlan, without};
use crate::{Group, Subset};

/// Removes single groups, last to first, again and again until a full cycle removes nothing.
///
/// Result: 1-minimal for every judge, because every single removal was rejected for the final subset.
///
/// Cost: at most r(r+1)/2 candidates, r = groups at the start; r if nothing can be removed. Known candidates are free.
///
/// It starts at the end, because later code uses declarations of earlier code.
#[derive(Clone)]
pub(super) struct Singles {
    groups: Vec<Group>,
    /// Index of the group that was tried last.
    at: usize,
    n_refused: usize,
}

impl Singles {
    pub(super) fn new(groups: Vec<Group>) -> Self {
        Self { at: groups.len(), groups, n_refused: 0 }
    }
}

impl ReducePlan for Singles {
    fn next(&mut self, current: &Subset) -> Option<Subset> {
        if self.n_refused == self.groups.len() {
            return None;
        }
        self.n_refused += 1;
        self.at = if self.at == 0 { self.groups.len() } else { self.at } - 1;
        Some(without(current, [&self.groups[self.at]]))
    }

    fn hit(&mut self, current: &Subset) {
        let n_before = self.groups[..self.at].iter().filter(|group| current.has_any_of(group)).count();
        self.groups.retain(|group| current.has_any_of(group));
        self.at = n_before;
        self.n_refused = 0;
    }
}
