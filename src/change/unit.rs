//! The units of a change: the parts that distinguish one candidate from another.

use crate::subset::UnitId;
use crate::syntax::Language;
use crate::text_lines::TextLines;
use crate::whole::Whole;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The effect of a unit on its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnitKind {
    /// The file is created: empty if it is divided into lines, else with its content.
    Create,
    /// The file is removed; if it is divided into lines, all its lines must be deleted.
    Remove,
    /// The file moves to its newer path; its other units apply at whichever path it has.
    Rename,
    /// The executable bit changes.
    Mode,
    /// The content changes as a whole: a binary file, a link, a submodule, a change between these, or a generated file.
    Whole,
    /// A declaration moves to another place of its file; changes inside it are separate units.
    Move {
        /// Half-open, 0-based line numbers in the older file.
        from: Range<u32>,
        /// Half-open, 0-based line numbers in the newer file.
        to: Range<u32>,
        /// The older line before which it is inserted.
        at: u32,
    },
    /// Older lines are replaced by newer lines: one deleted, one inserted, or one of each (a modified line).
    Lines {
        /// Half-open, 0-based line numbers in the older file; for an insertion the range is empty and gives the place.
        deleted: Range<u32>,
        /// Half-open, 0-based line numbers in the newer file; for a deletion the range is empty and gives the place.
        inserted: Range<u32>,
    },
}

impl UnitKind {
    /// The older and the newer line that it changes; for a moved declaration, its first older line.
    pub(super) fn place(&self) -> Option<(Option<u32>, Option<u32>)> {
        let first = |lines: &Range<u32>| (!lines.is_empty()).then_some(lines.start);
        match self {
            Self::Lines { deleted, inserted } => Some((first(deleted), first(inserted))),
            Self::Move { from, .. } => Some((first(from), None)),
            _ => None,
        }
    }
}

/// The smallest part of a change that can be applied alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Index into [`ChangeSet::files`](crate::ChangeSet::files).
    pub file: usize,
    /// Its effect there.
    pub kind: UnitKind,
}

/// How finely a change set is divided. Journals store the names of the variants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Level {
    /// All units of one file.
    File,
    /// The units of one declaration, or of one hunk if the language of the file is not known.
    Unit,
    /// A maximal run of changed lines without context lines; any other unit is a group of its own.
    Hunk,
    /// Every edit alone: a line, or units that are applied together (see
    /// [`with_whole_edits`](crate::ChangeSet::with_whole_edits)).
    #[default]
    Line,
    /// Every unit alone, and a replaced line as two of them.
    HalfLine,
}

/// The size of a unit, and which units are applied together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnitGrain {
    /// A unit is a line, or a line and the one that replaces it.
    #[default]
    Lines,
    /// The same, but the units of one edit are applied together.
    Edits,
    /// A replaced line is two units, a deletion and an insertion.
    HalfLines,
}

/// The starts of the lines of both sides; no lines on a side that is missing or not text.
#[derive(Debug, Clone, Default)]
pub(super) struct TextPair {
    pub(super) older: TextLines,
    pub(super) newer: TextLines,
    /// The order in which the units write the text, if declarations move in it.
    pub(super) script: Option<Vec<MovedPiece>>,
    /// The added and removed lines of a text that changes as a whole.
    pub(super) n_whole_lines: usize,
    /// How candidates are checked, if the file has a syntax.
    pub(super) check: Option<SyntaxCheck>,
    /// The whole edits, if they are used.
    pub(super) whole: Option<Whole>,
}

/// A part of a text with moved declarations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MovedPiece {
    /// The lines of a unit.
    Unit(UnitId),
    /// A declaration with the units inside it (half-open ids), at its place on the older side.
    Out(UnitId, Range<u32>),
    /// The same at its place on the newer side: before this older line.
    In(UnitId, Range<u32>, u32),
}

/// The data for checking a changed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SyntaxCheck {
    pub(super) language: &'static Language,
    /// The larger number of syntax errors of its two sides.
    pub(super) max_errors: usize,
}
