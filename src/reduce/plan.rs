//! What every engine is: a sequence of parts to take out.

use crate::change::Group;
use crate::change::Subset;

/// The state of one engine.
///
/// Each call of [`next`](Self::next) takes it that the candidate before was not interesting. Because of that a clone can
/// be run ahead of the answers: it names the candidates to come for as long as none of them is a hit.
pub(super) trait Plan: Clone {
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
