//! The rules that the syntax gives for the comparison of two texts.

use crate::lines::{self, LineEdit};
use crate::moves::MovedLines;
use crate::parsed::Parsed;
use crate::text_lines::{LinedText, is_open};
use crate::whole::Whole;

/// This number of additional changed lines, compared with a plain difference, is always accepted.
const N_LINES_FREE: usize = 8;

/// Pairs of lines that must not be compared; empty by default.
#[derive(Debug, Clone, Default)]
pub(super) struct Parting {
    /// Line ranges that are not compared in place, each with its other place. The ranges of one side do not overlap.
    pub(super) moved: Vec<MovedLines>,
    /// For each older and each newer line its owner: equal numbers for the same declaration. Missing lines have no
    /// owner.
    pub(super) owners: (Vec<Option<usize>>, Vec<Option<usize>>),
    /// For each number: whether only one side has the declaration.
    pub(super) is_alone: Vec<bool>,
    /// Older and newer lines, ascending in both. No line above a cut is matched with a line below it.
    pub(super) cuts: Vec<(u32, u32)>,
}

impl Parting {
    /// The strictest useful rules: moved declarations and the owner of each line; or else only the owners; or else
    /// nothing.
    ///
    /// It returns the first of these with which at most half as many lines again, and 8, change as in a plain
    /// difference. Some additional lines are worth it, because the reduction removes them by declaration. Many
    /// additional lines mean that declarations were not matched: a parser that fails (macros that open a body) could
    /// make most of a file look new.
    ///
    /// - `whole`: the known statements; their lines are distinguished too.
    ///
    /// Cost: up to three comparisons of the texts.
    pub(super) fn of(parsed: &Parsed, whole: Option<&Whole>, older: LinedText<'_>, newer: LinedText<'_>) -> Self {
        let owned = match whole {
            Some(whole) => Self::of_whole(whole),
            None => Self { owners: parsed.owners(), is_alone: parsed.is_alone.clone(), ..Self::default() },
        };
        // A last line without terminator never moves.
        let may_move = !is_open(older.text) && !is_open(newer.text);
        let moved = if may_move { parsed.moves() } else { Vec::new() };
        let moving = (!moved.is_empty()).then(|| Self { moved, ..owned.clone() });
        let n_plain = Self::default().n_lines(older, newer);
        let pays = |parting: &Self| parting.n_lines(older, newer) <= n_plain + n_plain / 2 + N_LINES_FREE;
        moving.into_iter().chain([owned]).find(pays).unwrap_or_default()
    }

    /// Lines of statements that correspond or replace each other are compared only with each other.
    pub(super) fn of_whole(whole: &Whole) -> Self {
        Self {
            moved: Vec::new(),
            owners: whole.owners.clone(),
            is_alone: whole.is_alone.clone(),
            cuts: whole.cuts.clone(),
        }
    }

    /// The number of deleted and inserted lines, including the lines of moved declarations.
    fn n_lines(&self, older: LinedText<'_>, newer: LinedText<'_>) -> usize {
        let n_lines = |edit: LineEdit| match edit {
            LineEdit::Step(step) => step.deleted.len() + step.inserted.len(),
            LineEdit::Out(index) => self.moved[index].0.len(),
            LineEdit::In(index, _) => self.moved[index].1.len(),
        };
        lines::hunks(older, newer, self).into_iter().flatten().map(n_lines).sum()
    }

    /// Whether a line of one owner can have replaced a line of the other.
    pub(super) fn may_pair(&self, older: Option<usize>, newer: Option<usize>) -> bool {
        let is_alone = |owner: Option<usize>| owner.is_some_and(|owner| self.is_alone[owner]);
        older == newer || (is_alone(older) && is_alone(newer))
    }
}
