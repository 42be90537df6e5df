//! For each unit, the units that must be applied with it.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::balance::ties;
use crate::file::{FilePair, FileSide};
use crate::parsed::Parsed;
use crate::subset::{Subset, UnitId};
use crate::text_lines::is_open;
use crate::unit::{TextPair, Unit, UnitKind};

/// The needs of all units of one change set, stored in reverse: the units that depend on each unit.
#[derive(Debug, Clone)]
pub(super) struct Needs {
    /// Indexed by the needed unit.
    dependents: Vec<Vec<UnitId>>,
    /// The units that have dependents.
    needed: Subset,
}

impl Needs {
    fn add(&mut self, unit: UnitId, needed: UnitId) {
        self.dependents[needed.index()].push(unit);
        self.needed.insert(needed);
    }

    /// Makes two units need each other.
    pub(super) fn tie(&mut self, one: UnitId, other: UnitId) {
        self.add(one, other);
        self.add(other, one);
    }

    /// The smallest superset of `subset` in which every unit has the units that it needs.
    pub(super) fn complete(&self, subset: &Subset) -> Subset {
        let mut complete = subset.clone();
        loop {
            let n_units = complete.len();
            for needed in &self.needed {
                if !complete.contains(needed)
                    && self.dependents[needed.index()].iter().any(|unit| complete.contains(*unit))
                {
                    complete.insert(needed);
                }
            }
            if complete.len() == n_units {
                return complete;
            }
        }
    }

    /// The pairs of units that need each other, each in both orders.
    pub(super) fn mutual(&self) -> Vec<(UnitId, UnitId)> {
        let needed = (0..).map(UnitId).zip(&self.dependents);
        let pairs = needed.flat_map(|(needed, dependents)| dependents.iter().map(move |unit| (*unit, needed)));
        pairs.filter(|(unit, needed)| self.dependents[unit.index()].contains(needed)).collect()
    }

    /// The largest part of `subset` in which every unit has the units that it needs.
    ///
    /// Cost: the needs of the missing units, and one pass over the set.
    pub(super) fn close(&self, subset: &Subset) -> Subset {
        let mut closed = subset.clone();
        let mut missing: Vec<UnitId> = self.needed.difference(subset).iter().collect();
        while let Some(unit) = missing.pop() {
            for dependent in &self.dependents[unit.index()] {
                if closed.contains(*dependent) {
                    closed.remove(*dependent);
                    missing.push(*dependent);
                }
            }
        }
        closed
    }
}

/// Collects the needs of the units of `files`.
///
/// - The lines of an added file need its creation. The removal of a file needs the deletion of all its lines.
/// - No line may follow a line without terminator: both would become one line that neither side has.
/// - A file at a new path needs the removal of a file at that path, above it, or below it.
pub(super) fn collect(files: &[FilePair], texts: &[TextPair], units: &[Unit], spans: &[Range<u32>]) -> Needs {
    let n_units = u32::try_from(units.len()).expect("unit ids are u32");
    let mut needs = Needs { dependents: vec![Vec::new(); units.len()], needed: Subset::empty(n_units) };
    for (file, span) in spans.iter().enumerate() {
        of_existence(units, span, &mut needs);
        of_open_lines(&files[file], &texts[file], units, span, &mut needs);
    }
    of_paths(files, units, &mut needs);
    needs
}

fn of_existence(units: &[Unit], span: &Range<u32>, needs: &mut Needs) {
    let kind = |id: u32| &units[id as usize].kind;
    let Some(last) = span.clone().next_back() else { return };
    if matches!(kind(span.start), UnitKind::Create) {
        (span.start + 1..span.end).for_each(|line| needs.add(UnitId(line), UnitId(span.start)));
    }
    if matches!(kind(last), UnitKind::Remove) {
        (span.start..last).for_each(|line| needs.add(UnitId(last), UnitId(line)));
    }
}

fn of_open_lines(pair: &FilePair, text: &TextPair, units: &[Unit], span: &Range<u32>, needs: &mut Needs) {
    let steps = || {
        span.clone().filter_map(|id| match &units[id as usize].kind {
            UnitKind::Lines { deleted, inserted } => Some((UnitId(id), deleted, inserted)),
            _ => None,
        })
    };
    let is_side_open = |side: &Option<FileSide>| side.as_ref().and_then(FileSide::text).is_some_and(is_open);
    let last_of_older = text.older.len();
    if is_side_open(&pair.older)
        && let Some((open, ..)) = steps().find(|(_, deleted, _)| !deleted.is_empty() && deleted.end == last_of_older)
    {
        for (unit, _, inserted) in steps().filter(|(unit, ..)| *unit > open) {
            if !inserted.is_empty() {
                needs.add(unit, open);
            }
        }
    }
    let last_of_newer = text.newer.len();
    if is_side_open(&pair.newer)
        && let Some((open, ..)) = steps().find(|(_, _, inserted)| !inserted.is_empty() && inserted.end == last_of_newer)
    {
        for (unit, deleted, _) in steps().filter(|(unit, ..)| *unit > open) {
            if !deleted.is_empty() {
                needs.add(open, unit);
            }
        }
    }
}

fn of_paths(files: &[FilePair], units: &[Unit], needs: &mut Needs) {
    let mut leaving: BTreeMap<&[u8], UnitId> = BTreeMap::new();
    let mut arriving: Vec<(&[u8], UnitId)> = Vec::new();
    for (id, unit) in (0..).map(UnitId).zip(units) {
        let pair = &files[unit.file];
        if let (UnitKind::Remove | UnitKind::Rename, Some(older)) = (&unit.kind, &pair.older) {
            leaving.insert(&older.path, id);
        }
        if let (UnitKind::Create | UnitKind::Rename, Some(newer)) = (&unit.kind, &pair.newer) {
            arriving.push((&newer.path, id));
        }
    }
    for (path, unit) in arriving {
        let above = above(path).filter_map(|path| leaving.get(path));
        // The byte after `/` is `0`.
        let (below_start, below_end) = ([path, b"/"].concat(), [path, b"0"].concat());
        let below = leaving.range(&below_start[..]..&below_end[..]).map(|(_, unit)| unit);
        for needed in leaving.get(path).into_iter().chain(above).chain(below) {
            if *needed != unit {
                needs.add(unit, *needed);
            }
        }
    }
}

/// Makes a generated file change only with its sources, because a newer generated file beside older sources never
/// existed.
///
/// - `span`: the units of the generated file; `sources`: the units of its sources.
pub(super) fn tie_to_sources(units: &[Unit], span: &Range<u32>, sources: &[u32], needs: &mut Needs) {
    let is_content =
        |id: &u32| matches!(units[*id as usize].kind, UnitKind::Whole | UnitKind::Create | UnitKind::Remove);
    for written in span.clone().filter(is_content) {
        for source in sources {
            needs.add(UnitId(written), UnitId(*source));
        }
    }
}

/// Ties the lines of one file that keep brackets in pairs only together.
pub(super) fn tie_brackets(parsed: &Parsed, units: &[Unit], span: &Range<u32>, needs: &mut Needs) {
    let is_step = |id: &UnitId| matches!(units[id.index()].kind, UnitKind::Lines { .. });
    let steps: Vec<UnitId> = span.clone().map(UnitId).filter(is_step).collect();
    let place = |id: &UnitId| {
        let (deleted, inserted) = units[id.index()].kind.place()?;
        Some(((deleted, inserted), parsed.declarations_around(deleted, inserted).pop()))
    };
    let places: Vec<_> = steps.iter().filter_map(place).collect();
    for (one, other) in ties(&parsed.older.depths, &parsed.newer.depths, &places) {
        needs.tie(steps[one], steps[other]);
    }
}

/// The directories that contain a path, innermost last.
pub(super) fn above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(index, _)| &path[..index])
}
