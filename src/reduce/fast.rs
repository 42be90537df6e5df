//! The cheap way: depth first.

use std::collections::HashSet;

use crate::change::{Group, Level};
use crate::reduce::Judge;
use crate::reduce::counting::Counting;
use crate::reduce::descent::Descent;
use crate::reduce::session::Session;
use crate::reduce::singles::Singles;

/// Shrinks to a subset that is 1-minimal at `finest`, with few probes.
///
/// 1. One [`Descent`] over all rungs.
/// 2. What is left of each group alone, rung by rung from files downwards, with the lines that change with one name behind
///    the files, round and round until none gives anything. It costs little and finds what depth first misses: what can
///    only go as a whole.
/// 3. [`Singles`]; then once more without the filter, so that 1-minimality does not rest on it.
///
/// Cost in probes, n = units (or names, if those are more), R = rungs with the two of names: at most 2n - 1 for the
/// descent, (R - 1) n (n + 1) / 2 + n for the rounds, n (n + 1) for the singles; at least one for each unit that is left. About 2 m log2 n where m units matter and each matters by
/// itself.
///
/// Source: depth first as Artho 2011, figure 3, on all rungs; the rest makes the result minimal where the judge is not
/// monotone.
pub(super) async fn run<J: Judge>(session: &mut Session<'_, J>, finest: Level) -> Result<(), J::Error> {
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

/// Tries each group of each rung alone, one that stands on several rungs once; returns whether anything was taken out.
async fn sweep<J: Judge>(session: &mut Session<'_, J>, rungs: &[Vec<Group>]) -> Result<bool, J::Error> {
    let mut is_changed = false;
    let mut tried: HashSet<Group> = HashSet::new();
    for rung in rungs {
        let mut left = session.left_of(rung);
        left.retain(|group| tried.insert(group.clone()));
        is_changed |= session.run(&mut Counting::one_by_one(left)).await?;
    }
    Ok(is_changed)
}
