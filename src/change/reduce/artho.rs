//! Artho's bisection.

use crate::Level;
use crate::reduce::Judge;
use crate::reduce::descent::Descent;
use crate::reduce::session::ReduceSession;

/// Bisects over files. If a file cannot be removed as a whole, bisects over its hunks; then over the lines of a hunk.
///
/// Cost: at most 2n - 1 probes, n = groups of `finest`.
///
/// Source and deviations: see [`Descent`]. It makes one pass, as there. For the fix-point that the paper computes at
/// its last revision, the caller reduces the result again until nothing changes.
pub(super) async fn run<J: Judge>(session: &mut ReduceSession<'_, J>, finest: Level) -> Result<(), J::Error> {
    let coarse = [Level::File, Level::Hunk].into_iter().filter(|level| *level < finest);
    let levels: Vec<_> = coarse.chain([finest]).map(|level| session.groups(level)).collect();
    session.run(&mut Descent::new(levels)).await?;
    Ok(())
}
