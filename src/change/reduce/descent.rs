//! Bisection from the coarsest group down.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use crate::reduce::plan::{ReducePlan, without};
use crate::{Group, Subset, UnitId};

/// Starts from everything and drops parts. A list that cannot be dropped is halved, its second half first. A single
/// group that cannot be dropped is divided at once into its parts on the next rung.
///
/// Result: one pass; 1-minimal only if every superset of an interesting subset is interesting.
///
/// Cost: at most 2n - 1 candidates that were not judged before, n = groups of the last rung after all rungs are nested.
///
/// Source: Artho 2011, sections 3.1 to 3.5 and figure 3. Deviations: candidates are closed, so no unit is kept without
/// one that it needs; an inner node whose part was judged before is not judged again.
#[derive(Clone)]
pub(super) struct Descent {
    rungs: Rc<Vec<PartitionRung>>,
    /// Lists still to be tried, the next one last.
    open: Vec<GroupList>,
    /// The list that was tried last.
    tried: Option<GroupList>,
}

/// A partition, and for each group the range of its parts in the next one.
struct PartitionRung {
    groups: Vec<Group>,
    parts: Vec<Range<usize>>,
}

/// Consecutive groups of one rung.
#[derive(Clone)]
struct GroupList {
    rung: usize,
    groups: Range<usize>,
}

impl Descent {
    /// - `rungs`: partitions of the same units, coarse to fine, each in reverse order of the attempts. A group that
    ///   overlaps several groups of the rung before is divided there.
    pub(super) fn new(rungs: impl IntoIterator<Item = Vec<Group>>) -> Self {
        let mut nested: Vec<PartitionRung> = Vec::new();
        for groups in rungs {
            let (groups, parts) = match nested.last() {
                Some(above) => divided(&above.groups, &groups),
                None => (groups, Vec::new()),
            };
            if let Some(above) = nested.last_mut() {
                above.parts = parts;
            }
            nested.push(PartitionRung { groups, parts: Vec::new() });
        }
        let open = nested.first().map(|rung| GroupList { rung: 0, groups: 0..rung.groups.len() });
        Self { rungs: Rc::new(nested), open: Vec::from_iter(open), tried: None }
    }

    /// Pushes the parts of a list that cannot be dropped.
    fn descend(&mut self, GroupList { rung, groups }: &GroupList) {
        if groups.len() > 1 {
            let middle = groups.start + groups.len() / 2;
            self.open.push(GroupList { rung: *rung, groups: groups.start..middle });
            self.open.push(GroupList { rung: *rung, groups: middle..groups.end });
        } else if let Some(parts) = self.rungs[*rung].parts.get(groups.start) {
            self.open.push(GroupList { rung: rung + 1, groups: parts.clone() });
        }
    }
}

/// The parts of `groups`, divided so that none overlaps two groups of `above`, and sorted by those; and for each group
/// of `above` the range of its parts.
fn divided(above: &[Group], groups: &[Group]) -> (Vec<Group>, Vec<Range<usize>>) {
    let ids = |group: &Group| group.spans().iter().flat_map(|span| span.clone().map(UnitId)).collect::<Vec<_>>();
    let mut above_of: BTreeMap<UnitId, usize> = BTreeMap::new();
    for (index, group) in above.iter().enumerate() {
        above_of.extend(ids(group).into_iter().map(|id| (id, index)));
    }
    let mut parts: Vec<Vec<Group>> = vec![Vec::new(); above.len()];
    for group in groups {
        let mut pieces: BTreeMap<usize, Vec<UnitId>> = BTreeMap::new();
        for id in ids(group) {
            pieces.entry(above_of[&id]).or_default().push(id);
        }
        for (index, ids) in pieces {
            parts[index].push(Group::of(ids));
        }
    }
    let mut end = 0;
    let range = |parts: &Vec<Group>| {
        let start = end;
        end += parts.len();
        start..end
    };
    let ranges = parts.iter().map(range).collect();
    (parts.into_iter().flatten().collect(), ranges)
}

impl ReducePlan for Descent {
    fn next(&mut self, current: &Subset) -> Option<Subset> {
        if let Some(list) = self.tried.take() {
            self.descend(&list);
        }
        loop {
            let list = self.open.pop()?;
            let groups = &self.rungs[list.rung].groups[list.groups.clone()];
            // Units that were removed with others leave lists that have nothing to drop.
            if groups.iter().any(|group| current.has_any_of(group)) {
                let rest = without(current, groups);
                self.tried = Some(list);
                return Some(rest);
            }
        }
    }

    fn hit(&mut self, _current: &Subset) {
        self.tried = None;
    }
}
