//! What every engine is: a sequence of parts to take out.

use crate::change::Group;
use crate::change::Subset;
use crate::change::UnitId;

/// The state of one engine.
///
/// Each call of [`next`](Self::next) takes it that the candidate before was not interesting, unless [`hit`](Self::hit) was
/// called. A clone can be run ahead of the answers: it names the candidates to come if they are as it is told.
pub(super) trait Plan {
    /// What to leave of `current` in the next candidate (not yet closed); `None` when there is nothing more to try.
    ///
    /// Always a proper part of `current`.
    fn next(&mut self, current: &Subset) -> Option<Subset>;

    /// The candidate named last was interesting; closed, it is `current` now.
    fn hit(&mut self, current: &Subset);
}

/// `current` without the units of `groups`.
pub(super) fn without<'a>(current: &Subset, groups: impl IntoIterator<Item = &'a Group>) -> Subset {
    let mut rest = current.clone();
    groups.into_iter().for_each(|group| rest.remove_group(group));
    rest
}

/// What is left of `groups`: their units in the current subset, without those groups that have none.
pub(super) fn left_of(groups: &[Group], current: &Subset) -> Vec<Group> {
    let left = |group: &Group| {
        let ids = group.spans().iter().flat_map(|span| span.clone().map(UnitId));
        Group::of(ids.filter(|id| current.contains(*id)))
    };
    groups.iter().filter(|group| current.has_any_of(group)).map(left).collect()
}
