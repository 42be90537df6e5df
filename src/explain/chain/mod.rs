//! The failure-inducing chain: the faulty values that lead from the change to the failure, each step proved by re-execution.
//!
//! A failing run is compared with a reference run at their aligned points. Of the faulty state at the last point before the failure,
//! [`compute`] finds a minimal set that induces the failure when all else is overwritten by the reference's values;
//! then, backwards, minimal sets that each induce the next one. The definitions in these sets, in temporal order, are the chain.
//!
//! The engine sees the two runs only through [`Executions`]: it reads no trace and runs no program. [`verify`](fn@verify) asks everything
//! that makes a chain a chain once more.
//!
//! Source: Sumner and Zhang, *Automatic Failure Inducing Chain Computation through Aligned Execution Comparison*. A set is mostly the
//! same at many points in a row (their property 2, stability). So leaps to the latest definition find where it changes, as a walk point by
//! point does, where stability holds. It need not: what a patched run does with a benign value may stop a set from inducing itself
//! point by point although it does so over a longer way, or the other way round.

mod dependence;
mod executions;
mod hierarchical;
mod minimise;
mod session;
mod verify;

#[cfg(test)]
mod examples;
#[cfg(test)]
mod model;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod testing;

pub use crate::chain::executions::{AlignedPoint, CausalityTest, Definition, Executions, Goal, PathVariable};
pub use crate::chain::verify::verify;

use crate::chain::session::ExecutionSession;

/// What explains a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultChain {
    /// The definitions of all sets, in temporal order, without repetition.
    pub definitions: Vec<Definition>,
    /// The failure-inducing set at each point where it changed, the last point first; each in temporal order.
    ///
    /// - The first induces the failure. Each other induces the set before it, at the point right after its own, from where that
    ///   one is kept.
    /// - An empty set ends the chain, or stands where values were pending that no patch reaches: then the set after it, from
    ///   the beginning of a statement that was under way, induces what the empty one induces.
    /// - The same set may stand twice in a row: it is kept from point to point, but not all the way at once.
    pub sets: Vec<(AlignedPoint, Vec<Definition>)>,
    /// Why the chain begins where it does.
    pub end: ChainEnd,
    /// The number of different causality tests.
    pub n_tests: u64,
}

/// Why a chain begins where it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChainEnd {
    /// Nothing faulty is needed at the point of the last, empty set: what follows is made from benign state.
    ///
    /// If the first definition is of an earlier time than that point's position, it was right until the reference went on to
    /// overwrite it, between this point and the next: an omission.
    Benign,
    /// The set is needed from the first aligned point on: what was there at the start.
    Start,
    /// Not even the whole faulty state of the point before induces the set.
    Stuck,
    /// The tests were used up, or the executions were stopped.
    Unfinished,
}

/// Finds the latest point before another one at which a set changes, if there is one.
type LastChange<E> = fn(
    &mut ExecutionSession<'_, E>,
    AlignedPoint,
    &[Definition],
) -> Result<Option<AlignedPoint>, <E as Executions>::Error>;

/// Computes a failure-inducing chain.
///
/// - `max_tests`: no further set is looked for once so many tests were used. What is found by then is the end of the chain that
///   would be found without this limit.
/// - Result: each set is 1-minimal, and each follows from the one before it in time, which [`verify`](fn@verify) asks again. A chain
///   without definitions and with [`ChainEnd::Benign`] says that the failure is made after the last point, from benign state.
///
/// A set need not be unique (their property 1). What is taken is a function of the answers alone: the present set if it still
/// induces, else the one that [`Executions::faulty`]'s order favours.
///
/// Before an empty set ends the chain, the points of [`Executions::around`] are asked, innermost first: a value that was
/// read before a call and waits for its return cannot be overwritten during the call, so that inside the call
/// nothing seems to be needed. The chain goes on from the first of these points where something is. (Not in the paper, whose states hold
/// whole variables only.)
///
/// When the executions are stopped ([`Executions::is_stopped`]), the sets that were found by then are the result, with [`ChainEnd::Unfinished`]. They may
/// be none at all.
///
/// Cost in tests, c = changes of the set: c minimal sets (a few tests each, about 2 log2 n for each definition found among n faulty
/// ones), and between the changes one, or log2 of the siblings in every region on the way where the leap is not valid.
pub fn compute<E: Executions>(executions: &mut E, max_tests: u64) -> Result<FaultChain, E::Error> {
    compute_by(executions, dependence::last_change, max_tests)
}

fn compute_by<E: Executions>(
    executions: &mut E,
    last_change: LastChange<E>,
    max_tests: u64,
) -> Result<FaultChain, E::Error> {
    let n_points = u32::try_from(executions.n_points()).expect("every point fits a `Point`");
    let mut session = ExecutionSession::new(executions);
    let mut sets = Vec::new();
    let end = match search(&mut session, n_points, last_change, max_tests, &mut sets) {
        Err(_) if session.executions().is_stopped() => {
            // That an empty set is the last one is not known, unless the chain ends there.
            while sets.last().is_some_and(|(_, set)| set.is_empty()) {
                sets.pop();
            }
            ChainEnd::Unfinished
        }
        searched => searched?,
    };
    Ok(FaultChain { definitions: definitions(&sets), sets, end, n_tests: session.n_tests() })
}

/// Finds the sets, the last point first, and why they end.
fn search<E: Executions>(
    session: &mut ExecutionSession<'_, E>,
    n_points: u32,
    last_change: LastChange<E>,
    max_tests: u64,
    sets: &mut Vec<(AlignedPoint, Vec<Definition>)>,
) -> Result<ChainEnd, E::Error> {
    let mut goal = Goal::Failure;
    let mut next = n_points.checked_sub(1).map(AlignedPoint);
    loop {
        let Some(mut point) = next else { return Ok(if sets.is_empty() { ChainEnd::Stuck } else { ChainEnd::Start }) };
        let Some(mut set) = minimise::inducing_set(session, point, &goal)? else { return Ok(ChainEnd::Stuck) };
        if set.is_empty() {
            sets.push((point, set));
            let Some(around) = pending_set(session, point, &goal)? else { return Ok(ChainEnd::Benign) };
            (point, set) = around;
        }
        sets.push((point, set.clone()));
        if session.n_tests() >= max_tests {
            return Ok(ChainEnd::Unfinished);
        }
        next = last_change(session, point, &set)?;
        if let Some(change) = next {
            goal = Goal::Set { point: change.next(), definitions: set };
        }
    }
}

/// The set that induces `goal` from the beginning of a statement that is under way at `point`, where none is needed any more.
fn pending_set<E: Executions>(
    session: &mut ExecutionSession<'_, E>,
    point: AlignedPoint,
    goal: &Goal,
) -> Result<Option<(AlignedPoint, Vec<Definition>)>, E::Error> {
    for around in session.around(point)?.into_iter().filter(|around| *around < point) {
        if let Some(set) = minimise::inducing_set(session, around, goal)?.filter(|set| !set.is_empty()) {
            return Ok(Some((around, set)));
        }
    }
    Ok(None)
}

/// All definitions of the sets, in temporal order.
fn definitions(sets: &[(AlignedPoint, Vec<Definition>)]) -> Vec<Definition> {
    let mut definitions: Vec<_> = sets.iter().flat_map(|(_, set)| set).copied().collect();
    definitions.sort_unstable();
    definitions.dedup();
    definitions
}
