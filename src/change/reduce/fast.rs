//! The cheap algorithm: depth first.

use std::collections::HashSet;

use crate::reduce::Judge;
use crate::reduce::counting::Counting;
use crate::reduce::descent::Descent;
use crate::reduce::session::ReduceSession;
use crate::reduce::singles::Singles;
use crate::{Group, Level};

/// Shrinks to a subset that is 1-minimal at `finest`, with few probes.
///
/// 1. One [`Descent`] over all rungs.
/// 2. Each remaining group alone, rung by rung from files downwards, repeated until nothing changes. Lines that change
///    with one name come after the files. This costs little, and finds what depth first misses: parts that can only be
///    removed as a whole.
/// 3. [`Singles`]; then once more without the filter, so that 1-minimality does not depend on it.
///
/// Cost in probes, n = units (or names, if those are more), R = rungs with the two of names: at most 2n - 1 for the
/// descent, (R - 1) n (n + 1) / 2 + n for the rounds, n (n + 1) for the singles; at least one for each remaining unit.
/// About 2 m log2 n where m units matter and each matters by itself.
///
/// Source: depth first as Artho 2011, figure 3, on all rungs; the rest makes the result minimal if the judge is not
/// monotone.
pub(super) async fn run<J: Judge>(session: &mut ReduceSession<'_, J>, finest: Level) -> Result<(), J::Error> {
    session.is_filtered = true;
    let rungs = session.rungs(finest);
    let (lines, coarse) = rungs.split_last().expect("a change set has at least one rung");
    let left: Vec<Vec<Group>> = rungs.iter().map(|rung| session.left_of(rung)).collect();
    session.run(&mut Descent::new(left)).await?;
    let mut coarse = coarse.to_vec();
    if finest >= Level::Line {
        coarse.splice(1..1, session.named_together());
    }
    while sweep(session, &coarse).await? {}
    let mut singles = Singles::new(session.left_of(lines));
    session.run(&mut singles).await?;
    session.is_filtered = false;
    let mut singles = Singles::new(session.left_of(lines));
    session.run(&mut singles).await?;
    Ok(())
}

/// Tries each group of each rung alone; a group of several rungs once. Returns whether anything was removed.
async fn sweep<J: Judge>(session: &mut ReduceSession<'_, J>, rungs: &[Vec<Group>]) -> Result<bool, J::Error> {
    let mut is_changed = false;
    let mut tried: HashSet<Group> = HashSet::new();
    for rung in rungs {
        let mut left = session.left_of(rung);
        left.retain(|group| tried.insert(group.clone()));
        is_changed |= session.run(&mut Counting::one_by_one(left)).await?;
    }
    Ok(is_changed)
}
