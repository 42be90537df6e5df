//! The default: coarse before fine, bisection before counting, singles at the end.

use std::collections::HashMap;

use crate::change::{Group, Level};
use crate::reduce::Judge;
use crate::reduce::bisection::Bisection;
use crate::reduce::counting::Counting;
use crate::reduce::session::Session;
use crate::reduce::singles::Singles;

/// Shrinks to a subset that is 1-minimal at `finest`, one rung after the other from files downwards.
///
/// 1. The coarse rungs (all but the finest) in turn until none gives anything. Finer groups stay out until then: freed too
///    early, they trap the search in a larger answer. A rung that is seen for the first time gets a [`Bisection`], unless
///    one gave up before, and then [`Counting`]; after that only pairs and each group alone. A group that stands on
///    several rungs is tried on the coarsest of them only.
/// 2. The finest rung likewise, then [`Singles`] on it; if either gave anything, again from 1.
/// 3. [`Singles`] without the filter; if that gave anything, again from 1. Else the result is exactly 1-minimal: the
///    filter had no part in that.
///
/// Behind the files come the lines that change with one name, wherever they stand, as two rungs that divide nothing:
/// joined where they share a line, then name by name. On a change of one signature in ten files 988 runs of a hunt became
/// 26.
///
/// What stands last in its list is tried first, because later code uses what earlier code declares.
///
/// Cost in probes, n = units (or names, if those are more), R = rungs with the two of names: at most (1.1R + 1.5) n² +
/// (14R + 3) n + 11R, since every round but the last drops a unit: in each a rung costs 2.02n + 5 and the singles 2n, and
/// each hit of the singles n more. At least one for each unit that is left. About m log2 n where m units matter and each
/// matters by itself.
///
/// Source: hierarchical delta debugging (Misherghi and Su 2006) on the hierarchy of a patch (Artho 2011, section 3.4);
/// deviations in what runs on a level. Bisection comes first because it is cheap where the answer is small, and it stops at
/// the first rung where it does not pay. In a dense change most probes would go into large parts of groups known to be
/// needed: hence no large parts after the first visit, and no group on two rungs.
///
/// Measured on synthetic change sets, mean probes of 12 seeds, and those of Artho's bisection to its fix-point: one hunk of
/// 1000 lines of which 1, 2, 3, 8 matter: 12, 23, 35, 96 and 17, 32, 44, 105; 128 hunks of which 2 matter: 18 and 23; 20
/// files of 5 hunks of 10 lines of which 1, 2, 3, 8 matter: 14, 29, 60, 159 and 18, 32, 48, 108. It is dearer where much
/// matters and nothing is untestable (30 of the 1000 lines in 20 files: 455 and 318), and where units are untestable
/// without others drawn at random (200 such pairs there, 3 lines matter: 1030 and 733): the price of going rung by rung,
/// which keeps it out of larger answers where what is untestable follows the syntax.
pub(super) async fn run<J: Judge>(session: &mut Session<'_, J>, finest: Level) -> Result<(), J::Error> {
    let mut rungs = session.rungs(finest);
    if finest == Level::Line {
        rungs.splice(1..1, session.named_together());
    }
    let (finest, coarse) = rungs.split_last().expect("a change set has at least one rung");
    let n_units = finest.iter().map(Group::n_units).sum();
    let mut memory = Memory { n_units, n_seen: 0, is_dense: false, tried_on: HashMap::new() };
    loop {
        session.is_filtered = true;
        loop {
            let mut is_changed = false;
            for (rung, groups) in coarse.iter().enumerate() {
                is_changed |= visit(session, (rung, groups), &mut memory).await?;
            }
            if !is_changed {
                break;
            }
        }
        if visit(session, (coarse.len(), finest), &mut memory).await? {
            continue;
        }
        let mut singles = Singles::new(session.left_of(finest));
        if session.run(&mut singles.clone()).await? {
            continue;
        }
        session.is_filtered = false;
        if !session.run(&mut singles).await? {
            return Ok(());
        }
    }
}

/// What was learned on the way.
struct Memory {
    /// Units of the whole change.
    n_units: usize,
    /// Rungs visited so far; they are visited in order for the first time.
    n_seen: usize,
    /// Whether a bisection gave up: too much of the change matters, or answers are not monotone. Finer rungs are no better.
    is_dense: bool,
    /// The groups that were tried alone in vain, and on which rung first.
    tried_on: HashMap<Group, usize>,
}

/// One visit of one rung, given with its number; returns whether anything was taken out.
async fn visit<J: Judge>(
    session: &mut Session<'_, J>,
    (rung, groups): (usize, &[Group]),
    memory: &mut Memory,
) -> Result<bool, J::Error> {
    let is_first = rung == memory.n_seen;
    memory.n_seen = memory.n_seen.max(rung + 1);
    let is_open = |group: &Group, memory: &Memory| memory.tried_on.get(group).is_none_or(|first| *first == rung);
    let mut left = session.left_of(groups);
    let mut is_changed = false;
    // Only what divides the change is bisected: groups of names overlap.
    let is_divided = memory.n_units == groups.iter().map(Group::n_units).sum::<usize>();
    if is_first && is_divided && !memory.is_dense && left.iter().any(|group| is_open(group, memory)) {
        let mut bisection = Bisection::new(left);
        is_changed |= session.run(&mut bisection).await?;
        memory.is_dense = bisection.has_given_up();
        left = session.left_of(groups);
    }
    left.retain(|group| is_open(group, memory));
    let mut counting = if is_first { Counting::new(left) } else { Counting::again(left) };
    is_changed |= session.run(&mut counting).await?;
    for group in counting.into_refused() {
        memory.tried_on.entry(group).or_insert(rung);
    }
    Ok(is_changed)
}
