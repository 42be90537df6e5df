//! The common form of every engine: a sequence of parts to remove.

use crate::{Group, Subset, UnitId};

/// The state of one engine.
///
/// Each call of [`next`](Self::next) assumes that the previous candidate was not interesting, unless [`hit`](Self::hit)
/// was called. A clone can run ahead of the answers: it returns the candidates that follow from assumed answers.
pub(super) trait ReducePlan {
    /// The part of `current` that the next candidate keeps (not yet closed); `None` if there is nothing more to try.
    ///
    /// Always a proper part of `current`.
    fn next(&mut self, current: &Subset) -> Option<Subset>;

    /// The last candidate was interesting; its closure is now `current`.
    fn hit(&mut self, current: &Subset);
}

/// `current` without the units of `groups`.
pub(super) fn without<'a>(current: &Subset, groups: impl IntoIterator<Item = &'a Group>) -> Subset {
    let mut rest = current.clone();
    groups.into_iter().flat_map(Group::spans).for_each(|span| rest.remove_range(span));
    rest
}

/// The remaining units of `groups` in the current subset, without empty groups.
pub(super) fn left_of(groups: &[Group], current: &Subset) -> Vec<Group> {
    let left = |group: &Group| {
        let ids = group.spans().iter().flat_map(|span| span.clone().map(UnitId));
        Group::of(ids.filter(|id| current.contains(*id)))
    };
    groups.iter().filter(|group| current.has_any_of(group)).map(left).collect()
}
