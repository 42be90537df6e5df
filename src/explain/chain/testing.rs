//! The ways to find where a set changes: that of the program, and slower ones that tests compare it with.

use crate::chain::executions::{AlignedPoint, Definition, Executions};
use crate::chain::hierarchical::{IsKept, descend, last_lost};
use crate::chain::session::ExecutionSession;
use crate::chain::{FaultChain, LastChange, compute_by, dependence};

/// A way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainMethod {
    /// Point by point, backwards: one test for each point.
    Linear,
    /// By binary search along the tree of regions (Sumner and Zhang, algorithm 1).
    Hierarchical,
    /// That of the program.
    Dependence,
}

/// All of them.
pub const METHODS: [ChainMethod; 3] = [ChainMethod::Linear, ChainMethod::Hierarchical, ChainMethod::Dependence];

/// A chain by one of these ways.
pub fn chain_by<E: Executions>(
    executions: &mut E,
    method: ChainMethod,
    max_tests: u64,
) -> Result<FaultChain, E::Error> {
    let last_change: LastChange<E> = match method {
        ChainMethod::Linear => last_of_all,
        ChainMethod::Hierarchical => last_in_regions,
        ChainMethod::Dependence => dependence::last_change,
    };
    compute_by(executions, last_change, max_tests)
}

/// Finds the latest point before `current` where `set` does not induce itself at the next point; none if it does everywhere.
///
/// Source: Sumner and Zhang, definition 5, taken literally.
fn last_of_all<E: Executions>(
    session: &mut ExecutionSession<'_, E>,
    current: AlignedPoint,
    set: &[Definition],
) -> Result<Option<AlignedPoint>, E::Error> {
    for point in (0..current.0).rev().map(AlignedPoint) {
        if !session.keeps(set, point, point.next())? {
            return Ok(Some(point));
        }
    }
    Ok(None)
}

/// Finds the latest point before `current` from which `set` is not kept until `current`; none if it is kept from everywhere.
///
/// First outwards: the earlier siblings of `current`, then of the region around it, until there is one from which it is not kept. Then
/// inwards: into the region that this one leads. Among siblings by binary search, which finds the change if sets are stable.
///
/// Cost: the sum of log2(siblings + 1) over the regions on that way.
///
/// Source: Sumner and Zhang, algorithm 1. Deviations: those of [`last_change_since`](super::hierarchical::last_change_since).
fn last_in_regions<E: Executions>(
    session: &mut ExecutionSession<'_, E>,
    current: AlignedPoint,
    set: &[Definition],
) -> Result<Option<AlignedPoint>, E::Error> {
    let tree = session.tree();
    let is_kept: IsKept<'_, E::Error> = &mut |point| session.keeps(set, point, current);
    let mut frontier = current;
    let mut region = tree.parent(current);
    loop {
        if let Some(point) = last_lost(tree.children(region), &mut frontier, is_kept)? {
            return descend(&tree, point, frontier, is_kept).map(Some);
        }
        let Some(head) = region else { return Ok(None) };
        region = tree.parent(head);
    }
}
