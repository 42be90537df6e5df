//! Groups of a change that use definitions of other groups.
//!
//! The result orders candidates and never forbids one. It is read from names alone, and some languages allow a use
//! without its definition.

use std::collections::{BTreeMap, BTreeSet};

use crate::names::LineNames;

/// For each group, the length of the longest chain of groups that it needs: 0 if it needs no other.
///
/// A group needs the group that creates a name that it uses. A group that removes a name needs the groups that stop
/// using it. So removing groups by falling height removes users before definitions. Groups that need each other have
/// the height of the first of them that was reached.
///
/// Cost: groups times names.
pub(super) fn heights(groups: &[LineNames]) -> Vec<usize> {
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
        // Depth first, with the path on a list of its own. A group that is already on the path closes a cycle and
        // counts 0.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn names(created: &str, dropped: &str, used: &str, unused: &str) -> LineNames {
        let set = |names: &str| names.split_whitespace().map(|name| name.as_bytes().to_vec()).collect();
        LineNames {
            created: set(created),
            dropped: set(dropped),
            used: set(used),
            unused: set(unused),
            ..LineNames::default()
        }
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
    fn groups_that_need_each_other_end() {
        let groups = [names("f", "", "g", ""), names("g", "", "f", ""), names("", "", "f", "")];
        assert_eq!(heights(&groups), [1, 0, 2]);
    }
}
