//! What leads to the failure itself, wherever that changes.

use crate::explain::chain::End;
use crate::explain::chain::executions::{Definition, Executions, Goal, Point};
use crate::explain::chain::minimise::inducing_set;
use crate::explain::chain::session::Session;

/// Finds a minimal set that induces the failure at the last point, at the first one, and on both sides of each point in between where it changes.
///
/// Between two points that have different sets there is a change; it is looked for by binary search, as long as there are points in between. Sets at points
/// between two with the same set are taken to be the same.
///
/// Cost: one minimal set for each point that is looked at, about log2 of the points for each change.
///
/// Source: Zeller 2002, cause-effect chains, and Cleve and Zeller 2005, cause transitions: what Sumner and Zhang compare theirs with (`DD` and `DD_p` of their table 3).
/// Deviations: points correspond by their structural index, where theirs are the n-th instances of a place; and all transitions are sought.
pub(super) fn search<E: Executions>(
    session: &mut Session<'_, E>,
    n_points: u32,
    found: &mut Vec<(Point, Vec<Definition>)>,
) -> Result<End, E::Error> {
    let Some(last) = n_points.checked_sub(1).map(Point) else { return Ok(End::Start) };
    let mut at = |point: Point| -> Result<(Point, Vec<Definition>), E::Error> {
        Ok((point, inducing_set(session, point, &Goal::Failure)?.unwrap_or_default()))
    };
    found.push(at(last)?);
    let mut open = vec![at(Point(0))?];
    // The earliest point so far with the set that was found last.
    let mut later = last;
    while let Some((earlier, set)) = open.pop() {
        let middle = Point(earlier.0.midpoint(later.0));
        if found.last().is_some_and(|(_, known)| *known == set) {
            later = earlier;
        } else if middle == earlier {
            later = earlier;
            found.push((earlier, set));
        } else {
            open.push((earlier, set));
            open.push(at(middle)?);
        }
    }
    Ok(if found.last().is_some_and(|(_, set)| set.is_empty()) { End::Benign } else { End::Start })
}
