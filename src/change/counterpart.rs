//! Finds the same edits in the difference of the opposite direction.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::set::ChangeSet;
use crate::subset::{Subset, UnitId};
use crate::unit::{Level, Unit, UnitKind};

/// The older and the newer path of a file.
type PathPair<'a> = (Option<&'a [u8]>, Option<&'a [u8]>);

/// The parts of one file that some units change, from older to newer.
#[derive(Default)]
struct TouchedParts {
    older_lines: BTreeSet<u32>,
    newer_lines: BTreeSet<u32>,
    /// Whether the units change more than lines: the file is added, removed, renamed or replaced as a whole.
    is_file: bool,
}

impl TouchedParts {
    fn take(&mut self, older: &Range<u32>, newer: &Range<u32>) {
        self.older_lines.extend(older.clone());
        self.newer_lines.extend(newer.clone());
    }

    fn has(&self, older: &Range<u32>, newer: &Range<u32>) -> bool {
        let any = |lines: &BTreeSet<u32>, range: &Range<u32>| {
            !range.is_empty() && lines.range(range.clone()).next().is_some()
        };
        any(&self.older_lines, older) || any(&self.newer_lines, newer)
    }
}

/// The older and the newer lines of a unit of kind `Lines`; `None` for other kinds.
fn lines_of(kind: &UnitKind) -> Option<(&Range<u32>, &Range<u32>)> {
    match kind {
        UnitKind::Lines { deleted, inserted } => Some((deleted, inserted)),
        UnitKind::Move { from, to, .. } => Some((from, to)),
        _ => None,
    }
}

impl ChangeSet {
    /// The edits of this difference that change the same lines as `subset` does in the reversed difference.
    ///
    /// - `reversed`: the difference of the same two trees, in the opposite direction.
    /// - Result: whole edits, with the units that they need.
    pub fn counterpart(&self, reversed: &Self, subset: &Subset) -> Subset {
        let mut touched: BTreeMap<PathPair, TouchedParts> = BTreeMap::new();
        for unit in subset {
            let text = reversed.describe(unit);
            let file = touched.entry((text.newer_path, text.older_path)).or_default();
            match lines_of(text.kind) {
                Some((gone, came)) => file.take(came, gone),
                None => file.is_file = true,
            }
        }
        let mut found = self.empty();
        for (index, Unit { file, kind }) in self.units().iter().enumerate() {
            let pair = &self.files()[*file];
            let path = |side: &'_ Option<crate::FileSide>| side.as_ref().map(|side| side.path.clone());
            let (older, newer) = (path(&pair.older), path(&pair.newer));
            let Some(touched) = touched.get(&(older.as_deref(), newer.as_deref())) else { continue };
            let is_touched = match lines_of(kind) {
                Some((older, newer)) => touched.has(older, newer),
                None => touched.is_file,
            };
            if is_touched {
                found.insert(UnitId::at(index));
            }
        }
        self.complete(&found)
    }

    /// All groups of a level that contain a unit of `subset`, with the units that they need.
    ///
    /// A row of a table, or a member of a type, counts as a declaration of its own: its neighbours are not included.
    pub fn widened(&self, subset: &Subset, level: Level) -> Subset {
        let mut inner = subset.clone();
        if level >= Level::Unit {
            subset.iter().filter(|unit| self.is_member(*unit)).for_each(|unit| inner.remove(unit));
        }
        let mut wide = subset.clone();
        self.groups(level).iter().filter(|group| inner.has_any_of(group)).for_each(|group| wide.insert_group(group));
        if level == Level::Unit {
            // The reduction does not count comments and layout as a part of a declaration, but a reader does.
            let code = wide.clone();
            let around = self.places().iter().filter(|place| code.has_any_of(place));
            around.for_each(|place| wide = wide.union(&self.subset(place).intersection(self.trivia())));
        }
        self.complete(&wide)
    }

    /// Whether a unit changes a member of a container that exists on one side only.
    fn is_member(&self, unit: UnitId) -> bool {
        let Unit { file, kind } = &self.units()[unit.index()];
        let (Some(whole), Some((older, newer))) = (&self.text(*file).whole, lines_of(kind)) else { return false };
        let holds = |lines: &[Range<u32>], changed: &Range<u32>| {
            !changed.is_empty() && lines.iter().any(|lines| lines.start <= changed.start && changed.end <= lines.end)
        };
        whole.edits.iter().any(|edit| edit.is_member && (holds(&edit.older, older) || holds(&edit.newer, newer)))
    }
}
