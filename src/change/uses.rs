//! Which groups of a change use what others define, and which lines change with the same name.
//!
//! The answer orders candidates and never forbids one: it is read from names alone, and a language may well let a use
//! stand without its definition.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::collections::BTreeSet;

use crate::change::group::Group;
use crate::change::subset::UnitId;

/// More groups of lines that change with one name are not tried: a change of that many names is better taken by place.
const MAX_GROUPS: usize = 24;

/// What one group of changed lines does with names.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    /// Names that it brings into being.
    pub(super) created: BTreeSet<Vec<u8>>,
    /// Names that cease to be defined with it.
    pub(super) dropped: BTreeSet<Vec<u8>>,
    /// Names in the lines that it inserts.
    pub(super) used: BTreeSet<Vec<u8>>,
    /// Names in the lines that it deletes.
    pub(super) unused: BTreeSet<Vec<u8>>,
}

/// How many groups stand on each group, at most: 0 for one that needs no other.
///
/// A group needs the one that creates a name it uses; one that drops a name needs those that cease to use it. To take
/// groups out by falling height is to take out users before what they use. Groups that need each other have the height of
/// the first of them that was reached.
///
/// Cost: groups times names.
pub(super) fn heights(groups: &[Names]) -> Vec<usize> {
    let mut creators: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    let mut quitters: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    for (index, names) in groups.iter().enumerate() {
        names.created.iter().for_each(|name| creators.entry(name).or_default().push(index));
        names.unused.difference(&names.used).for_each(|name| quitters.entry(name).or_default().push(index));
    }
    let needs: Vec<Vec<usize>> = groups
        .iter()
        .enumerate()
        .map(|(index, names)| {
            let created = names.used.iter().filter_map(|name| creators.get(&name[..]));
            let dropped = names.dropped.iter().filter_map(|name| quitters.get(&name[..]));
            created.chain(dropped).flatten().copied().filter(|needed| *needed != index).collect()
        })
        .collect();
    let mut heights = vec![None; groups.len()];
    for start in 0..groups.len() {
        // Depth first, with the path on a list of its own; what is on the path already is a cycle and counts 0.
        let mut path = vec![(start, 0)];
        let mut is_open = BTreeSet::from([start]);
        while let Some((group, next)) = path.last_mut() {
            if heights[*group].is_none()
                && let Some(needed) = needs[*group].get(*next)
            {
                *next += 1;
                if heights[*needed].is_none() && is_open.insert(*needed) {
                    path.push((*needed, 0));
                }
                continue;
            }
            let height =
                needs[*group].iter().filter_map(|needed| heights[*needed]).map(|height: usize| height + 1).max();
            heights[*group].get_or_insert(height.unwrap_or(0));
            path.pop();
        }
    }
    heights.into_iter().map(|height| height.expect("every group was reached")).collect()
}

/// Groups of units that change with the same name: a function that gets a parameter, with all its callers; a renamed
/// field with all its uses.
///
/// A name joins if its declaration changes or if it is there on one side only, so that common names do not join
/// everything.
///
/// - `units`: per unit the names in its lines, and those among them that the unit declares.
/// - `on_one_side`: the names that the changed files have on one side only.
/// - Result: first the groups joined where they share a unit, then those of single names, at most 24; without groups of
///   one unit, larger ones last. They are no partition: a unit can be in none, and in the second list in several.
pub(super) fn named_together(units: &[UnitNames], on_one_side: &BTreeSet<&[u8]>) -> [Vec<Group>; 2] {
    let declared = units.iter().flat_map(|unit| &unit.declared).map(Vec::as_slice);
    let joining: BTreeSet<&[u8]> = declared.chain(on_one_side.iter().copied()).collect();
    let mut members: BTreeMap<&[u8], Vec<UnitId>> = BTreeMap::new();
    for (index, unit) in units.iter().enumerate() {
        for name in unit.mentioned.iter().filter(|name| joining.contains(&name[..])) {
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

/// The names in the lines of one unit.
#[derive(Debug, Clone, Default)]
pub(super) struct UnitNames {
    /// All of them, on both sides.
    pub(super) mentioned: BTreeSet<Vec<u8>>,
    /// Those that one of its lines declares.
    pub(super) declared: BTreeSet<Vec<u8>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(created: &str, dropped: &str, used: &str, unused: &str) -> Names {
        let set = |names: &str| names.split_whitespace().map(|name| name.as_bytes().to_vec()).collect();
        Names { created: set(created), dropped: set(dropped), used: set(used), unused: set(unused) }
    }

    #[test]
    fn a_user_stands_higher_than_what_it_uses() {
        let groups =
            [names("f", "", "a f", ""), names("g", "", "f", ""), names("", "", "g", ""), names("h", "", "", "")];
        assert_eq!(heights(&groups), [0, 1, 2, 0]);
    }

    #[test]
    fn what_drops_a_name_stands_higher_than_what_ceases_to_use_it() {
        let groups = [names("", "old", "", "x"), names("", "", "new", "old"), names("", "", "old", "old")];
        assert_eq!(heights(&groups), [1, 0, 0]);
    }

    #[test]
    fn units_are_joined_by_names_whose_declaration_changes() {
        let unit = |mentioned: &str, declared: &str| UnitNames {
            mentioned: mentioned.split_whitespace().map(|name| name.as_bytes().to_vec()).collect(),
            declared: declared.split_whitespace().map(|name| name.as_bytes().to_vec()).collect(),
        };
        let units =
            [unit("f int", "f"), unit("f x", ""), unit("x", ""), unit("g f", ""), unit("g", "g"), unit("h", "h")];
        let of = |ids: &[u32]| Group::of(ids.iter().map(|id| UnitId(*id)));
        let [joined, by_name] = named_together(&units, &BTreeSet::new());
        assert_eq!(joined, [of(&[0, 1, 3, 4])]);
        assert_eq!(by_name, [of(&[3, 4]), of(&[0, 1, 3])]);
        let [joined, _] = named_together(&units, &BTreeSet::from([&b"x"[..]]));
        assert_eq!(joined, [of(&[0, 1, 2, 3, 4])]);
    }

    #[test]
    fn groups_that_need_each_other_end() {
        let groups = [names("f", "", "g", ""), names("g", "", "f", ""), names("", "", "f", "")];
        assert_eq!(heights(&groups), [1, 0, 2]);
    }
}
