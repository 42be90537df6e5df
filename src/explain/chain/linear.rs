//! Point by point.

use crate::explain::chain::executions::{Definition, Executions, Point};
use crate::explain::chain::session::{Session, keeping};

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
    // Piece by piece, because a plan is run from its beginning after every answer.
    let n_ahead = u32::try_from(session.width()).unwrap_or(u32::MAX);
    let mut end = current.0;
    while end > 0 {
        let begin = end.saturating_sub(n_ahead);
        let change = session.run(|ask| {
            for point in (begin..end).rev().map(Point) {
                if !ask(keeping(set, point, point.next()))? {
                    return Ok(Some(point));
                }
            }
            Ok(None)
        })?;
        if change.is_some() {
            return Ok(change);
        }
        end = begin;
    }
    Ok(None)
}
