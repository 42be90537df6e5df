//! Artho's bisection.

use crate::change::Level;
use crate::reduce::Judge;
use crate::reduce::descent::Descent;
use crate::reduce::session::Session;

/// Bisects over files; a file that cannot go as a whole over its hunks, a hunk over its lines.
///
/// Cost: at most 2n - 1 probes, n = groups of `finest`.
///
/// Source and deviations: see [`Descent`]. One pass, as there; for the fix-point that the paper takes at its last
/// revision the caller reduces the result again until it stays.
pub(super) async fn run<J: Judge>(session: &mut Session<'_, J>, finest: Level) -> Result<(), J::Error> {
    let coarse = [Level::File, Level::Hunk].into_iter().filter(|level| *level < finest);
    let levels: Vec<_> = coarse.chain([finest]).map(|level| session.groups(level)).collect();
    session.run(&mut Descent::new(levels)).await?;
    Ok(())
}

/// Bisects over the groups of `finest` alone: figure 3 to the letter.
///
/// Cost: at most 2n - 1 probes, n = groups of `finest`.
pub(super) async fn run_flat<J: Judge>(session: &mut Session<'_, J>, finest: Level) -> Result<(), J::Error> {
    let groups = session.groups(finest);
    session.run(&mut Descent::new([groups])).await?;
    Ok(())
}
