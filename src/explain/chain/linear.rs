//! Point by point.

use crate::explain::chain::executions::{Definition, Executions, Point};
use crate::explain::chain::session::Session;

/// Finds the latest point before `current` where `set` does not induce itself at the next point; none if it does everywhere.
///
/// Cost: one test for each point that is passed.
///
/// Source: Sumner and Zhang, definition 5, taken literally: what their algorithms are measured against.
pub(super) fn last_change<E: Executions>(
    session: &mut Session<'_, E>,
    current: Point,
    set: &[Definition],
) -> Result<Option<Point>, E::Error> {
    for point in (0..current.0).rev().map(Point) {
        if !session.keeps(set, point, point.next())? {
            return Ok(Some(point));
        }
    }
    Ok(None)
}
