//! The change set: changed files, their units, and the levels on which units are grouped.

use crate::unit::{Level, TextPair, Unit, UnitGrain, UnitKind};
use std::ops::Range;

use crate::atoms::Atoms;
use crate::divide::UnitBuilder;
use crate::file::{EntryContent, FileDivision, FilePair, FileSide};
use crate::generated_files::{self, tied_files};
use crate::group::Group;
use crate::ladder::Ladder;
use crate::needs::{self, Needs};
use crate::parsed::Parsed;
use crate::plausible::Plausible;
use crate::subset::{Subset, UnitId};
use crate::text_lines::TextLines;

/// The facts about a unit that a report prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description<'a> {
    /// What it does.
    pub kind: &'a UnitKind,
    /// The path before the change; `None` for an added file.
    pub older_path: Option<&'a [u8]>,
    /// The path after the change; `None` for a removed file.
    pub newer_path: Option<&'a [u8]>,
    /// Half-open, 0-based line numbers in the older file; empty if it deletes no line.
    pub older_lines: Range<u32>,
    /// Half-open, 0-based line numbers in the newer file; empty if it inserts no line.
    pub newer_lines: Range<u32>,
    /// The deleted bytes, with line terminators.
    pub deleted: &'a [u8],
    /// The inserted bytes, with line terminators.
    pub inserted: &'a [u8],
}

impl<'a> Description<'a> {
    /// The path for messages: the newer one, or the older one of a removed file.
    pub fn path(&self) -> &'a [u8] {
        self.newer_path.or(self.older_path).unwrap_or_default()
    }
}

/// The difference of two trees as units.
///
/// Units are numbered from 0 in source order: by path; inside a file creation, rename and mode first, then lines from
/// top to bottom, removal last. The order depends only on the trees.
#[derive(Debug, Clone)]
pub struct ChangeSet {
    files: Vec<FilePair>,
    /// For each file, how it is divided.
    divisions: Vec<FileDivision>,
    grain: UnitGrain,
    texts: Vec<TextPair>,
    units: Vec<Unit>,
    /// Per file: the ids of its units.
    file_spans: Vec<Range<u32>>,
    /// The partitions of all units, coarse before fine. Each level has at least one; its last one is the level itself.
    rungs: Vec<(Level, Vec<Group>)>,
    named_together: [Vec<Group>; 2],
    /// Units that change only comments and white space.
    trivia: Subset,
    /// All units, by hunk and by the innermost declaration around them.
    places: Vec<Group>,
    needs: Needs,
    plausible: Plausible,
}

impl ChangeSet {
    /// Divides changed files into units.
    ///
    /// - `pairs`: one per changed file, in any order; a pair without sides is dropped, one without a difference has
    ///   no units. Paths are unique on each side, as in a tree.
    ///
    /// Panics above 2³² units.
    pub fn new(pairs: Vec<FilePair>) -> Self {
        Self::divided(pairs, |_| FileDivision::Lines)
    }

    /// Divides changed files into units, each file as `division` says; otherwise like [`new`](Self::new).
    pub fn divided(mut pairs: Vec<FilePair>, division: impl Fn(&FilePair) -> FileDivision) -> Self {
        pairs.retain(|pair| pair.older.is_some() || pair.newer.is_some());
        pairs.sort_by(|one, two| (one.path(), one.newer.is_some()).cmp(&(two.path(), two.newer.is_some())));
        let divisions = pairs.iter().map(division).collect();
        Self::built(pairs, divisions, UnitBuilder::default())
    }

    /// The same difference without modified lines: each is two units, a deletion and an insertion. In a run of changed
    /// lines, all deletions come first, as in a patch.
    #[must_use]
    pub fn with_single_lines(&self) -> Self {
        self.with_grain(UnitGrain::HalfLines)
    }

    /// The same difference in whole edits: parts of an edit that no version had alone are applied together.
    ///
    /// These are one edit: a replaced statement or line; a comment; an added or removed statement or function with
    /// everything in it; the changed header of a function or control statement; a control statement that was put around
    /// statements or removed from around them. A blank line belongs to the line before it.
    #[must_use]
    pub fn with_whole_edits(&self) -> Self {
        self.with_grain(UnitGrain::Edits)
    }

    fn with_grain(&self, grain: UnitGrain) -> Self {
        let builder = UnitBuilder { grain, ..UnitBuilder::default() };
        Self::built(self.files.clone(), self.divisions.clone(), builder)
    }

    /// The size of its units.
    pub fn grain(&self) -> UnitGrain {
        self.grain
    }

    /// - `files`: sorted, each with its entry in `divisions`.
    fn built(files: Vec<FilePair>, divisions: Vec<FileDivision>, mut builder: UnitBuilder) -> Self {
        let (mut texts, mut file_spans) = (Vec::new(), Vec::new());
        let mut written_from = Vec::new();
        for (file, (pair, division)) in files.iter().zip(&divisions).enumerate() {
            let start = builder.n_units();
            texts.push(builder.divide(file, pair, division));
            if let FileDivision::Whole { sources } = division {
                written_from.push((file, sources.clone()));
            }
            file_spans.push(start..builder.n_units());
        }
        let UnitBuilder { units, hunks, parsed, grain } = builder;
        let mut needs = needs::collect(&files, &texts, &units, &file_spans);
        let written = generated_files::written(&files, &written_from);
        for (file, sources) in &written {
            let sources: Vec<u32> = sources.iter().flat_map(|source| file_spans[*source].clone()).collect();
            needs::tie_to_sources(&units, &file_spans[*file], &sources, &mut needs);
        }
        for (parsed, span) in parsed.iter().zip(&file_spans) {
            if let Some(parsed) = parsed {
                needs::tie_brackets(parsed, &units, span, &mut needs);
            }
        }
        let mut set = Self {
            files,
            divisions,
            grain,
            texts,
            units,
            file_spans,
            rungs: Vec::new(),
            named_together: Default::default(),
            trivia: Subset::empty(0),
            places: Vec::new(),
            needs,
            plausible: Plausible::default(),
        };
        let is_trivia: Vec<bool> = (0..set.units.len()).map(|unit| set.is_trivia(UnitId::at(unit), &parsed)).collect();
        let atom_of = set.join_edits(&hunks, &parsed, &is_trivia);
        set.trivia = set.empty();
        (0..is_trivia.len()).filter(|unit| is_trivia[*unit]).for_each(|unit| set.trivia.insert(UnitId::at(unit)));
        let (units, files) = (&set.units, &set.file_spans);
        let tied = tied_files(set.files.len(), &written);
        let ladder = Ladder {
            units,
            files,
            tied: &tied,
            hunks: &hunks,
            parsed: &parsed,
            is_trivia: &is_trivia,
            atom_of: &atom_of,
        };
        (set.rungs, set.named_together, set.places) = (ladder.rungs(), ladder.named_together(), ladder.places());
        set
    }

    /// Makes the units of one edit need each other; returns for each unit the one that names its edit.
    fn join_edits(&mut self, hunks: &[Range<u32>], parsed: &[Option<Parsed>], is_trivia: &[bool]) -> Vec<usize> {
        let mut atoms = Atoms::alone(self.units.len());
        if self.grain == UnitGrain::Edits {
            let is_blank = |unit: usize| {
                let text = self.describe(UnitId::at(unit));
                text.deleted.trim_ascii().is_empty() && text.inserted.trim_ascii().is_empty()
            };
            for (file, span) in self.file_spans.iter().enumerate() {
                let hunks: Vec<Range<u32>> =
                    hunks.iter().filter(|hunk| span.start <= hunk.start && hunk.end <= span.end).cloned().collect();
                let edits = self.texts[file].whole.as_ref().map_or(&[][..], |whole| &whole.edits);
                atoms.join_edits(&self.units, span, &hunks, edits, parsed[file].as_ref(), is_blank);
            }
            for (one, other) in self.needs.mutual() {
                atoms.join(one.index(), other.index());
            }
        }
        let names = atoms.into_names(is_trivia);
        for (unit, name) in names.iter().enumerate().filter(|(unit, name)| unit != *name) {
            self.needs.tie(UnitId::at(unit), UnitId::at(*name));
        }
        names
    }

    fn is_trivia(&self, unit: UnitId, parsed: &[Option<Parsed>]) -> bool {
        let Unit { file, kind } = &self.units[unit.index()];
        let (UnitKind::Lines { .. }, Some(parsed)) = (kind, &parsed[*file]) else { return false };
        let text = self.describe(unit);
        kind.place()
            .is_some_and(|(deleted, inserted)| parsed.is_trivia((deleted, text.deleted), (inserted, text.inserted)))
    }

    /// The changed files, by path.
    pub fn files(&self) -> &[FilePair] {
        &self.files
    }

    /// The units in source order; a [`UnitId`] is an index into them.
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    fn n_units(&self) -> u32 {
        self.file_spans.last().map_or(0, |span| span.end)
    }

    /// All units: renders to the newer side.
    pub fn full(&self) -> Subset {
        Subset::full(self.n_units())
    }

    /// No unit: renders to the older side.
    pub fn empty(&self) -> Subset {
        Subset::empty(self.n_units())
    }

    /// Adds to `subset` the rest of each file and each block that it adds: a function is added as a whole or not at
    /// all.
    ///
    /// A block is an added line, with the added lines after it that are indented deeper or close it. Empty lines are in
    /// no block.
    #[must_use]
    pub fn with_whole_additions(&self, subset: &Subset) -> Subset {
        let mut whole = subset.clone();
        for unit in subset {
            let Unit { file, kind } = &self.units[unit.index()];
            if *kind == UnitKind::Create {
                whole.insert_range(self.units_of(*file));
            }
        }
        for hunk in self.groups(Level::Hunk) {
            let mut block = self.empty();
            let mut indent = 0;
            for unit in &self.subset(hunk) {
                let text = self.describe(unit);
                let is_added = text.deleted.is_empty() && !text.inserted.is_empty();
                if is_added && text.inserted.trim_ascii().is_empty() {
                    continue;
                }
                let found = indent_of(text.inserted);
                if !is_added || found.is_some_and(|found| found <= indent) {
                    block = self.empty();
                }
                if is_added {
                    if block.is_empty() {
                        indent = found.unwrap_or(0);
                    }
                    block.extend(std::iter::once(unit));
                    if !block.intersection(&whole).is_empty() {
                        whole = whole.union(&block);
                    }
                }
            }
        }
        whole
    }

    /// The largest closed part of `subset`: units whose needs are not in the set are dropped.
    ///
    /// Lines of an added file need its creation. The removal of a text file needs the deletion of all its lines. A line
    /// can follow a last line without terminator only if that line is deleted. A generated file changes only with all
    /// changes of its sources. A file at a new path needs the removal of a file at that path, above it, or below it.
    /// Closing is idempotent and monotone.
    #[must_use]
    pub fn close(&self, subset: &Subset) -> Subset {
        self.needs.close(subset)
    }

    /// The smallest closed superset of `subset`: with the units that its units need.
    #[must_use]
    pub fn complete(&self, subset: &Subset) -> Subset {
        self.needs.complete(subset)
    }

    /// The partition of all units at `level`, by first unit; declarations come after those that they use.
    pub fn groups(&self, level: Level) -> &[Group] {
        let rung = self.rungs.iter().rev().find(|(rung, _)| *rung <= level);
        rung.map_or(&[], |(_, groups)| groups)
    }

    /// The partitions of all units down to `finest`, coarse before fine: those of every level, and those of the syntax
    /// between them (members in types, statements in statements). Never empty; two neighbours can be equal.
    pub fn rungs(&self, finest: Level) -> impl Iterator<Item = &[Group]> {
        self.rungs.iter().filter(move |(level, _)| *level <= finest).map(|(_, groups)| &groups[..])
    }

    /// Two lists of groups of units that change with the same name, at any place: for example a function that gets a
    /// parameter, with all its callers.
    ///
    /// The second list has one group for each name, larger ones last. The first list has the same groups, but those
    /// that share a unit are joined. The lists are not partitions: a unit can be in no group, and in several groups of
    /// the second list.
    pub fn named_together(&self) -> &[Vec<Group>] {
        &self.named_together
    }

    /// The edits that share no name of only one version with another edit: each of them can be applied alone.
    pub fn independent_edits(&self) -> Vec<&Group> {
        let mut shared = self.empty();
        self.named_together[0].iter().for_each(|group| shared.insert_group(group));
        let is_text = |group: &Group| {
            self.subset(group).iter().any(|unit| {
                let text = self.describe(unit);
                text.deleted.is_empty() && text.inserted.is_empty()
                    || !text.deleted.trim_ascii().is_empty()
                    || !text.inserted.trim_ascii().is_empty()
            })
        };
        self.groups(Level::Line).iter().filter(|group| !shared.has_any_of(group) && is_text(group)).collect()
    }

    /// A group as a subset; not closed.
    pub fn subset(&self, group: &Group) -> Subset {
        let mut subset = self.empty();
        subset.insert_group(group);
        subset
    }

    /// The ids of the units of one file, half-open; `file` is an index into [`files`](Self::files).
    pub fn units_of(&self, file: usize) -> Range<u32> {
        self.file_spans[file].clone()
    }

    /// Added plus removed text lines, as in a patch. A modified line counts twice, and so does each line that moves. A
    /// line that leaves a moved declaration, or is added to it, counts once.
    pub fn n_lines(&self, subset: &Subset) -> usize {
        let (mut n_added, mut n_removed) = (0, 0);
        // The last moved declaration; the changes inside it follow directly.
        let mut moved: Option<(&Range<u32>, &Range<u32>)> = None;
        let is_within = |lines: &Range<u32>, whole: &Range<u32>| {
            !lines.is_empty() && whole.start <= lines.start && lines.end <= whole.end
        };
        for unit in subset {
            let Unit { file, kind } = &self.units[unit.index()];
            match kind {
                UnitKind::Move { from, to, .. } => {
                    n_removed += from.len();
                    n_added += from.len();
                    moved = Some((from, to));
                }
                UnitKind::Lines { deleted, inserted } => {
                    n_added += inserted.len();
                    if moved.is_some_and(|(from, to)| is_within(deleted, from) || is_within(inserted, to)) {
                        // It leaves with its declaration, and is not inserted again.
                        n_added -= deleted.len();
                    } else {
                        n_removed += deleted.len();
                    }
                }
                UnitKind::Whole | UnitKind::Create | UnitKind::Remove => n_added += self.texts[*file].n_whole_lines,
                UnitKind::Rename | UnitKind::Mode => {}
            }
        }
        n_added + n_removed
    }

    /// What a report needs to show `unit`.
    pub fn describe(&self, unit: UnitId) -> Description<'_> {
        let Unit { file, kind } = &self.units[unit.index()];
        let pair = &self.files[*file];
        let (older_lines, newer_lines) = match kind {
            UnitKind::Lines { deleted, inserted } => (deleted.clone(), inserted.clone()),
            UnitKind::Move { from, to, .. } => (from.clone(), to.clone()),
            _ => (0..0, 0..0),
        };
        Description {
            kind,
            older_path: pair.older.as_ref().map(|side| &side.path[..]),
            newer_path: pair.newer.as_ref().map(|side| &side.path[..]),
            deleted: slice(pair.older.as_ref(), &self.texts[*file].older, &older_lines),
            inserted: slice(pair.newer.as_ref(), &self.texts[*file].newer, &newer_lines),
            older_lines,
            newer_lines,
        }
    }

    /// The units that change only comments and white space.
    pub fn trivia(&self) -> &Subset {
        &self.trivia
    }

    pub(super) fn places(&self) -> &[Group] {
        &self.places
    }

    pub(super) fn text(&self, file: usize) -> &TextPair {
        &self.texts[file]
    }

    pub(super) fn plausible(&self) -> &Plausible {
        &self.plausible
    }

    /// The older lines of a file, from line `start` to before line `end`.
    pub(super) fn older_text(&self, file: usize, lines: &Range<u32>) -> &[u8] {
        slice(self.files[file].older.as_ref(), &self.texts[file].older, lines)
    }

    /// How many lines the older side of a file has; 0 if it is missing or not text.
    pub(super) fn n_older_lines(&self, file: usize) -> u32 {
        self.texts[file].older.len()
    }
}

fn slice<'a>(side: Option<&'a FileSide>, lines: &TextLines, range: &Range<u32>) -> &'a [u8] {
    match side.map(|side| &side.content) {
        Some(EntryContent::Bytes(bytes)) => lines.slice(bytes, range),
        _ => &[],
    }
}

/// White space before a line; `None` for a line that opens or closes a block.
fn indent_of(line: &[u8]) -> Option<usize> {
    let indent = line.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    line.get(indent).filter(|first| !b"{})]".contains(first)).map(|_| indent)
}
