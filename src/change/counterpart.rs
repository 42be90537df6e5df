//! The same edits in the difference that leads the other way.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::ops::Range;

use crate::change::set::ChangeSet;
use crate::change::set::Level;
use crate::change::set::Unit;
use crate::change::set::UnitKind;
use crate::change::subset::Subset;
use crate::change::subset::UnitId;

/// What some units change in one file, seen from older to newer.
#[derive(Default)]
struct Touched {
    older_lines: BTreeSet<u32>,
    newer_lines: BTreeSet<u32>,
    /// Whether something beside lines changes: the file comes, goes, is renamed or changes as a whole.
    is_file: bool,
}

impl Touched {
    fn take(&mut self, older: &Range<u32>, newer: &Range<u32>) {
        self.older_lines.extend(older.clone());
        self.newer_lines.extend(newer.clone());
    }

    fn has(&self, older: &Range<u32>, newer: &Range<u32>) -> bool {
        let any = |lines: &BTreeSet<u32>, range: &Range<u32>| !range.is_empty() && lines.range(range.clone()).next().is_some();
        any(&self.older_lines, older) || any(&self.newer_lines, newer)
    }
}

/// The older and the newer lines of a unit of lines; `None` for what changes a file in another way.
fn lines_of(kind: &UnitKind) -> Option<(&Range<u32>, &Range<u32>)> {
    match kind {
        UnitKind::Lines { deleted, inserted } => Some((deleted, inserted)),
        UnitKind::Move { from, to, .. } => Some((from, to)),
        _ => None,
    }
}

impl ChangeSet {
    /// The edits of this difference that change the lines that `subset` of the reversed difference changes.
    ///
    /// - `reversed`: the difference of the same two trees, the other way round.
    /// - Result: whole edits, with what they need.
    pub fn counterpart(&self, reversed: &Self, subset: &Subset) -> Subset {
        let mut touched: BTreeMap<(Option<&[u8]>, Option<&[u8]>), Touched> = BTreeMap::new();
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
            let path = |side: &'_ Option<crate::change::FileSide>| side.as_ref().map(|side| side.path.clone());
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

    /// All groups of a level that hold some of `subset`, with what they need.
    pub fn widened(&self, subset: &Subset, level: Level) -> Subset {
        let mut wide = subset.clone();
        self.groups(level).iter().filter(|group| subset.has_any_of(group)).for_each(|group| wide.insert_group(group));
        self.complete(&wide)
    }
}
