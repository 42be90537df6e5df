//! By leaps to the definitions.

use crate::chain::executions::{AlignedPoint, Definition, Executions};
use crate::chain::hierarchical::last_change_since;
use crate::chain::session::ExecutionSession;

/// Finds the latest point before `current` from which `set` is not kept until `current`; none if it is kept from everywhere.
///
/// The set cannot be kept from before its latest definition. If it is kept from right after it, the change is there; otherwise (an
/// omission, or state that nobody sees) it is searched for in between, region by region.
///
/// Cost: none if `current` is right after the definition; else one test, and a search if that says no.
///
/// Source: Sumner and Zhang, algorithm 2. Deviations: one test says whether the leap is valid, where theirs computes a set at its
/// end; it leaps to the latest definition of the present set alone, as those of other sets cannot change this one.
pub(super) fn last_change<E: Executions>(
    session: &mut ExecutionSession<'_, E>,
    current: AlignedPoint,
    set: &[Definition],
) -> Result<Option<AlignedPoint>, E::Error> {
    let latest = set.iter().map(|definition| definition.time).max().unwrap_or(0);
    let after = first_after(session.executions(), latest, current);
    if after < current && !session.keeps(set, after, current)? {
        return last_change_since(session, after, current, set).map(Some);
    }
    Ok(after.previous())
}

/// The first point, `current` at the latest, whose state holds what was written at `time`.
fn first_after(executions: &impl Executions, time: u64, current: AlignedPoint) -> AlignedPoint {
    let (mut begin, mut end) = (0, current.0);
    while begin < end {
        let middle = begin.midpoint(end);
        if executions.position(AlignedPoint(middle)) > time {
            end = middle;
        } else {
            begin = middle + 1;
        }
    }
    AlignedPoint(begin)
}
