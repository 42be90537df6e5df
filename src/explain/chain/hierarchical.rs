//! Along the tree of regions.

use std::collections::HashMap;

use crate::chain::executions::{AlignedPoint, Definition, Executions};
use crate::chain::session::ExecutionSession;

/// The aligned points as a tree: a point's children are those in the region that its step leads.
pub(super) struct PointTree {
    parents: Vec<Option<AlignedPoint>>,
    /// In the order of the run.
    children: HashMap<Option<AlignedPoint>, Vec<AlignedPoint>>,
}

impl PointTree {
    pub(super) fn of(executions: &impl Executions) -> Self {
        let points =
            (0..executions.n_points()).map(|point| AlignedPoint(u32::try_from(point).expect("a point fits a `Point`")));
        let mut tree = Self { parents: Vec::new(), children: HashMap::new() };
        for point in points {
            let parent = executions.parent(point);
            tree.parents.push(parent);
            tree.children.entry(parent).or_default().push(point);
        }
        tree
    }

    pub(super) fn parent(&self, point: AlignedPoint) -> Option<AlignedPoint> {
        self.parents[point.0 as usize]
    }

    pub(super) fn children(&self, region: Option<AlignedPoint>) -> &[AlignedPoint] {
        self.children.get(&region).map_or(&[], Vec::as_slice)
    }

    /// The innermost region that holds both points, or that the earlier leads and the later is in.
    fn common(&self, earlier: AlignedPoint, later: AlignedPoint) -> Option<AlignedPoint> {
        let mut region = self.parent(later);
        while let Some(head) = region.filter(|head| *head > earlier) {
            region = self.parent(head);
        }
        // From here on `region` is not later than `earlier`, so it holds `earlier` if it ends after it, as it does: it holds `later`.
        region
    }
}

/// Answers whether the set is kept from a point on.
pub(super) type IsKept<'a, E> = &'a mut dyn FnMut(AlignedPoint) -> Result<bool, E>;

/// Finds the latest point from `first` on, before `current`, from which `set` is not kept until `current`.
///
/// `first`: a point from which it is not kept.
///
/// Among the siblings in a region, and in the regions that they lead, by binary search, which finds the change if sets are stable.
///
/// Cost: the sum of log2(siblings + 1) over the regions on that way.
///
/// Source: Sumner and Zhang, `ClosestAdaptive` of algorithm 2. Deviations: each midpoint costs one test, whether the set is kept,
/// where theirs computes a set at every midpoint; nothing is computed beyond the latest change, since the sets there depend on it;
/// the iterations of a loop are siblings, where theirs nest, so that the way is not as long as the loop.
pub(super) fn last_change_since<E: Executions>(
    session: &mut ExecutionSession<'_, E>,
    first: AlignedPoint,
    current: AlignedPoint,
    set: &[Definition],
) -> Result<AlignedPoint, E::Error> {
    let tree = session.tree();
    let is_kept: IsKept<'_, E::Error> = &mut |point| Ok(point > first && session.keeps(set, point, current)?);
    let mut frontier = current;
    let kids = tree.children(tree.common(first, current));
    match last_lost(kids, &mut frontier, is_kept)? {
        Some(point) => descend(&tree, point, frontier, is_kept),
        // The region is led by `first` itself.
        None => Ok(first),
    }
}

/// Goes on inside the region that `lost` leads, before `frontier`.
pub(super) fn descend<E>(
    tree: &PointTree,
    mut lost: AlignedPoint,
    mut frontier: AlignedPoint,
    is_kept: IsKept<'_, E>,
) -> Result<AlignedPoint, E> {
    while let Some(inner) = last_lost(tree.children(Some(lost)), &mut frontier, is_kept)? {
        lost = inner;
    }
    Ok(lost)
}

/// The last of the `siblings` before `frontier` from which the set is not kept. Moves `frontier` to the sibling after it.
pub(super) fn last_lost<E>(
    siblings: &[AlignedPoint],
    frontier: &mut AlignedPoint,
    is_kept: IsKept<'_, E>,
) -> Result<Option<AlignedPoint>, E> {
    let (mut begin, mut end) = (0, siblings.partition_point(|sibling| *sibling < *frontier));
    while begin < end {
        let middle = begin.midpoint(end);
        if is_kept(siblings[middle])? {
            *frontier = siblings[middle];
            end = middle;
        } else {
            begin = middle + 1;
        }
    }
    Ok(begin.checked_sub(1).map(|last| siblings[last]))
}
