//! The partitions of a change set, coarse before fine.
//!
//! File > declarations, outer ones first > hunks > statements, outer ones first > lines. Declarations join lines that
//! belong together at different places (a function that changed in three places), and separate lines that are adjacent
//! by chance (three functions that were added at once). Statements divide a run of lines that only one side has.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::group::Group;
use crate::heights::heights;
use crate::named_together::named_together;
use crate::names::LineNames;
use crate::parsed::Parsed;
use crate::subset::UnitId;
use crate::unit::{Level, Unit, UnitKind};

/// The key of a group: units with equal keys are in one group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum GroupKey {
    /// Comments, blank lines and white space of one file.
    Trivia { file: usize },
    /// A declaration of a file, by its number in [`Parsed`].
    Declaration { file: usize, number: usize },
    /// A statement or declaration of more than one line that only one side has.
    Block { file: usize, is_newer: bool, block: usize },
    /// The first and last lines of a block, without the blocks inside.
    Frame { file: usize, is_newer: bool, block: usize },
    /// The rest of a hunk: units with no other key.
    Hunk { hunk: usize },
    /// A unit alone.
    Unit { unit: u32 },
}

/// The input of the ladder.
pub(super) struct Ladder<'a> {
    pub(super) units: &'a [Unit],
    /// Half-open ranges of unit ids, ascending: per file, and per hunk.
    pub(super) files: &'a [Range<u32>],
    pub(super) hunks: &'a [Range<u32>],
    /// Files that are one group on the coarsest rung; each file is in exactly one entry.
    pub(super) tied: &'a [Vec<usize>],
    /// For each file its syntax, if it has one.
    pub(super) parsed: &'a [Option<Parsed>],
    /// For each unit: whether it changes only comments and white space, in a file with a syntax.
    pub(super) is_trivia: &'a [bool],
    /// For each unit, the unit that represents its edit. All units of one edit are in one group on every rung.
    pub(super) atom_of: &'a [usize],
}

impl Ladder<'_> {
    /// The rungs, each with its level. The last rung of a level is the full partition of that level; earlier ones lead
    /// to it. Each level has at least one rung.
    pub(super) fn rungs(&self) -> Vec<(Level, Vec<Group>)> {
        let of_files = |files: &Vec<usize>| {
            let ids: Vec<UnitId> = files.iter().flat_map(|file| self.files[*file].clone()).map(UnitId).collect();
            (!ids.is_empty()).then(|| Group::of(ids))
        };
        let mut rungs = vec![(Level::File, self.tied.iter().filter_map(of_files).collect())];
        let declarations = self.declarations();
        let depth = declarations.iter().map(Vec::len).max().unwrap_or(0).max(1);
        for depth in 0..depth {
            let key = |unit: usize| declarations[unit].get(depth).or(declarations[unit].last()).copied();
            self.push(&mut rungs, Level::Unit, &|unit| key(unit).expect("every unit has a key"));
        }
        let mut hunk_of = vec![0; self.units.len()];
        for (hunk, span) in self.hunks.iter().enumerate() {
            hunk_of[span.start as usize..span.end as usize].fill(hunk);
        }
        self.push(&mut rungs, Level::Hunk, &|unit| GroupKey::Hunk { hunk: hunk_of[unit] });
        let blocks = self.blocks();
        let depth = blocks.iter().map(Vec::len).max().unwrap_or(0);
        for depth in 0..depth {
            self.push(&mut rungs, Level::Line, &|unit| match (blocks[unit].get(depth), blocks[unit].last()) {
                (Some(key), _) => *key,
                (None, Some(GroupKey::Block { file, is_newer, block })) => {
                    GroupKey::Frame { file: *file, is_newer: *is_newer, block: *block }
                }
                _ => GroupKey::Unit { unit: UnitId::at(unit).0 },
            });
        }
        self.push(&mut rungs, Level::Line, &|unit| GroupKey::Unit { unit: UnitId::at(unit).0 });
        rungs
    }

    /// Adds the partition by `key`, unless it equals the previous rung.
    fn push(&self, rungs: &mut Vec<(Level, Vec<Group>)>, level: Level, key: &dyn Fn(usize) -> GroupKey) {
        let mut members: BTreeMap<GroupKey, Vec<UnitId>> = BTreeMap::new();
        for unit in 0..self.units.len() {
            members.entry(key(self.atom_of[unit])).or_default().push(UnitId::at(unit));
        }
        let mut groups: Vec<Group> = members.into_values().map(Group::of).collect();
        groups.sort_by_key(Group::first);
        if level == Level::Unit {
            groups = self.users_last(groups);
        }
        if rungs.last() != Some(&(level, groups.clone())) {
            rungs.push((level, groups));
        }
    }

    /// Groups of units that change with the same name, at any place; see [`named_together`].
    pub(super) fn named_together(&self) -> [Vec<Group>; 2] {
        let (mut older, mut newer) = (BTreeSet::new(), BTreeSet::new());
        for parsed in self.parsed.iter().flatten() {
            let (of_older, of_newer) = parsed.all_names();
            older.extend(of_older);
            newer.extend(of_newer);
        }
        let on_one_side = older.symmetric_difference(&newer).copied().collect();
        let names: Vec<LineNames> = self.units.iter().map(|unit| self.names_of([unit])).collect();
        named_together(&names, &on_one_side)
    }

    /// The same groups, with groups that use definitions of others last; or unchanged.
    fn users_last(&self, groups: Vec<Group>) -> Vec<Group> {
        let names_of = |group: &Group| {
            self.names_of(group.spans().iter().flat_map(|span| &self.units[span.start as usize..span.end as usize]))
        };
        let names: Vec<LineNames> = groups.iter().map(names_of).collect();
        let mut ordered: Vec<(usize, Group)> = heights(&names).into_iter().zip(groups).collect();
        ordered.sort_by_key(|(height, _)| *height);
        ordered.into_iter().map(|(_, group)| group).collect()
    }

    /// The names in the lines of some units.
    fn names_of<'u>(&self, units: impl IntoIterator<Item = &'u Unit>) -> LineNames {
        let mut names = LineNames::default();
        for Unit { file, kind } in units {
            if let (Some(parsed), UnitKind::Lines { .. }, Some((deleted, inserted))) =
                (&self.parsed[*file], kind, kind.place())
            {
                parsed.note_names(deleted, inserted, &mut names);
            }
        }
        names
    }

    /// All units, by hunk and by the innermost declaration around them.
    pub(super) fn places(&self) -> Vec<Group> {
        let mut places: BTreeMap<(usize, Option<usize>), Vec<UnitId>> = BTreeMap::new();
        for (hunk, span) in self.hunks.iter().enumerate() {
            for unit in span.clone() {
                let Unit { file, kind } = &self.units[unit as usize];
                let parsed = self.parsed[*file].as_ref().zip(kind.place());
                let innermost = parsed
                    .and_then(|(parsed, (deleted, inserted))| parsed.declarations_around(deleted, inserted).pop());
                places.entry((hunk, innermost)).or_default().push(UnitId(unit));
            }
        }
        places.into_values().map(Group::of).collect()
    }

    /// For each unit the declarations around it, outermost first; never empty.
    fn declarations(&self) -> Vec<Vec<GroupKey>> {
        let mut keys: Vec<Vec<GroupKey>> = vec![Vec::new(); self.units.len()];
        for (hunk, span) in self.hunks.iter().enumerate() {
            let mut alone: [Vec<usize>; 2] = [Vec::new(), Vec::new()];
            for unit in span.clone() {
                let unit = unit as usize;
                let Unit { file, kind } = &self.units[unit];
                let (Some(parsed), Some((deleted, inserted))) = (&self.parsed[*file], kind.place()) else {
                    keys[unit].push(GroupKey::Hunk { hunk });
                    continue;
                };
                if self.is_trivia[unit] {
                    keys[unit].push(GroupKey::Trivia { file: *file });
                    continue;
                }
                for innermost in
                    [parsed.innermost(deleted, None), parsed.innermost(None, inserted)].into_iter().flatten()
                {
                    if let Some(is_newer) = parsed.side_of(innermost)
                        && !alone[usize::from(is_newer)].contains(&innermost)
                    {
                        alone[usize::from(is_newer)].push(innermost);
                    }
                }
                let numbers = parsed.declarations_around(deleted, inserted);
                keys[unit].extend(numbers.into_iter().map(|number| GroupKey::Declaration { file: *file, number }));
                if keys[unit].is_empty() {
                    keys[unit].push(GroupKey::Hunk { hunk });
                }
            }
            // Deleted lines with inserted lines at the same place were replaced by them. A run of both kinds is not
            // divided here.
            if let [gone, came] = &alone
                && let Some(replaced) = gone.first().filter(|_| !came.is_empty())
            {
                for key in keys[span.start as usize..span.end as usize].iter_mut().flatten() {
                    if let GroupKey::Declaration { number, .. } = key
                        && (gone.contains(number) || came.contains(number))
                    {
                        *number = *replaced;
                    }
                }
            }
        }
        keys
    }

    /// For each unit the one-sided blocks around it, outermost first.
    fn blocks(&self) -> Vec<Vec<GroupKey>> {
        let mut keys: Vec<Vec<GroupKey>> = vec![Vec::new(); self.units.len()];
        for (file, (span, parsed)) in self.files.iter().zip(self.parsed).enumerate() {
            let Some(parsed) = parsed else { continue };
            for (is_newer, side) in [(false, &parsed.older), (true, &parsed.newer)] {
                let line_of = |unit: u32| match &self.units[unit as usize].kind {
                    UnitKind::Lines { deleted, inserted } if is_newer && deleted.is_empty() => Some(inserted.start),
                    UnitKind::Lines { deleted, inserted } if !is_newer && inserted.is_empty() => Some(deleted.start),
                    _ => None,
                };
                let n_lines = side.n_lines();
                let mut is_one_sided = vec![false; n_lines];
                span.clone().filter_map(line_of).for_each(|line| is_one_sided[line as usize] = true);
                let blocks = side.blocks_of(&is_one_sided);
                for unit in span.clone() {
                    let Some(line) = line_of(unit) else { continue };
                    let key = |block: &usize| GroupKey::Block { file, is_newer, block: *block };
                    keys[unit as usize] = blocks[line as usize].iter().map(key).collect();
                }
            }
        }
        keys
    }
}
