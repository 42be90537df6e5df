//! Lines that change with the same name.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::group::Group;
use crate::names::LineNames;
use crate::subset::UnitId;

/// If more groups of lines change with one name, they are not tried: it is better to divide such a change by place.
const MAX_GROUPS: usize = 24;

/// Groups of units that change with the same name: a function that gets a parameter, with all its callers; a renamed
/// field with all its uses.
///
/// A name forms a group if its declaration changes, or if only one side has it. So common names do not join everything.
///
/// - `units`: for each unit the names in its lines.
/// - `on_one_side`: the names that only one side of the changed files has.
/// - Result: first the groups, joined where they share a unit; then one group for each name, at most 24, larger ones
///   last. Groups of one unit are left out. A unit can be in no group, and in several groups of the second list.
pub(super) fn named_together(units: &[LineNames], on_one_side: &BTreeSet<&[u8]>) -> [Vec<Group>; 2] {
    let declared = units.iter().flat_map(|unit| &unit.declared).map(Vec::as_slice);
    let joining: BTreeSet<&[u8]> = declared.chain(on_one_side.iter().copied()).collect();
    let mut members: BTreeMap<&[u8], Vec<UnitId>> = BTreeMap::new();
    for (index, unit) in units.iter().enumerate() {
        for name in unit.used.union(&unit.unused).filter(|name| joining.contains(&name[..])) {
            members.entry(name).or_default().push(UnitId::at(index));
        }
    }
    let mut joined: Vec<BTreeSet<UnitId>> = Vec::new();
    for group in members.values() {
        let mut whole: BTreeSet<UnitId> = group.iter().copied().collect();
        joined.retain(|other| {
            let is_apart = other.is_disjoint(&whole);
            if !is_apart {
                whole.extend(other);
            }
            is_apart
        });
        joined.push(whole);
    }
    let groups = |mut lists: Vec<Vec<UnitId>>| -> Vec<Group> {
        lists.retain(|list| list.len() > 1);
        lists.sort_by_key(|list| (Reverse(list.len()), list[0]));
        lists.dedup();
        lists.truncate(MAX_GROUPS);
        lists.reverse();
        lists.into_iter().map(Group::of).collect()
    };
    let joined = joined.into_iter().map(|group| group.into_iter().collect()).collect();
    [groups(joined), groups(members.into_values().collect())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_joined_by_names_whose_declaration_changes() {
        let set = |names: &str| names.split_whitespace().map(|name| name.as_bytes().to_vec()).collect();
        let unit =
            |used: &str, declared: &str| LineNames { used: set(used), declared: set(declared), ..LineNames::default() };
        let units =
            [unit("f int", "f"), unit("f x", ""), unit("x", ""), unit("g f", ""), unit("g", "g"), unit("h", "h")];
        let of = |ids: &[u32]| Group::of(ids.iter().map(|id| UnitId(*id)));
        let [joined, by_name] = named_together(&units, &BTreeSet::new());
        assert_eq!(joined, [of(&[0, 1, 3, 4])]);
        assert_eq!(by_name, [of(&[3, 4]), of(&[0, 1, 3])]);
        let [joined, _] = named_together(&units, &BTreeSet::from([&b"x"[..]]));
        assert_eq!(joined, [of(&[0, 1, 2, 3, 4])]);
    }
}
