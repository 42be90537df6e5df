//! What syntax says about the lines of two texts, as far as it may say it.

use std::ops::Range;

use crate::change::lines;
use crate::change::lines::Edit;
use crate::change::lines::Lines;
use crate::change::lines::is_open;
use crate::change::parsed::Parsed;
use crate::change::whole::Whole;

/// Lines that stand elsewhere on the newer side, with or without changes inside: half-open older and newer lines.
pub(super) type Moved = (Range<u32>, Range<u32>);

/// So many more lines than in a plain difference may change in any case.
const N_LINES_FREE: usize = 8;

/// What keeps lines from being compared with each other; nothing by default.
#[derive(Debug, Clone, Default)]
pub(super) struct Parting {
    /// Line ranges that are not compared in place, each with its other place; on neither side do two overlap.
    pub(super) moved: Vec<Moved>,
    /// Per older and per newer line whose it is: equal numbers for the same declaration. Missing ones are nobody's.
    pub(super) owners: (Vec<Option<usize>>, Vec<Option<usize>>),
    /// Per number whether that declaration is on one side only.
    pub(super) is_alone: Vec<bool>,
    /// An older and a newer line, ascending in both, between which no line above is taken for one below.
    pub(super) cuts: Vec<(u32, u32)>,
}

impl Parting {
    /// What syntax says, as far as it pays: declarations that moved and whose each line is, else only the latter, else nothing.
    ///
    /// The first of them by which at most half as many lines again and 8 change as in a plain difference. A few more are
    /// worth it, because they are taken out by declaration. Many more say that declarations were not found again: a
    /// parser that loses its way (macros that open a body) could make most of a file another one.
    ///
    /// - `whole`: what is known of statements; their lines are told apart, too.
    ///
    /// Cost: up to three comparisons of the texts.
    pub(super) fn of(parsed: &Parsed, whole: Option<&Whole>, older: (&[u8], &Lines), newer: (&[u8], &Lines)) -> Self {
        let owned = match whole {
            Some(whole) => Self::of_whole(whole),
            None => Self { owners: parsed.owners(), is_alone: parsed.is_alone.clone(), ..Self::default() },
        };
        // A last line without terminator stays where it is.
        let may_move = !is_open(older.0) && !is_open(newer.0);
        let moved = if may_move { parsed.moves() } else { Vec::new() };
        let moving = (!moved.is_empty()).then(|| Self { moved, ..owned.clone() });
        let n_plain = Self::default().n_lines(older, newer);
        let pays = |parting: &Self| parting.n_lines(older, newer) <= n_plain + n_plain / 2 + N_LINES_FREE;
        moving.into_iter().chain([owned]).find(pays).unwrap_or_default()
    }

    /// Lines of statements that correspond, or replace each other, are compared with each other alone.
    pub(super) fn of_whole(whole: &Whole) -> Self {
        Self {
            moved: Vec::new(),
            owners: whole.owners.clone(),
            is_alone: whole.is_alone.clone(),
            cuts: whole.cuts.clone(),
        }
    }

    /// How many lines go and come, those of a declaration that moves among them.
    fn n_lines(&self, older: (&[u8], &Lines), newer: (&[u8], &Lines)) -> usize {
        let n_lines = |edit: Edit| match edit {
            Edit::Step(step) => step.deleted.len() + step.inserted.len(),
            Edit::Out(index) => self.moved[index].0.len(),
            Edit::In(index, _) => self.moved[index].1.len(),
        };
        lines::hunks(older, newer, self).into_iter().flatten().map(n_lines).sum()
    }

    /// Whether a line of one owner can have become a line of the other.
    pub(super) fn may_pair(&self, older: Option<usize>, newer: Option<usize>) -> bool {
        let is_alone = |owner: Option<usize>| owner.is_some_and(|owner| self.is_alone[owner]);
        older == newer || (is_alone(older) && is_alone(newer))
    }
}
