//! The lines of a changed text file: where they start, and which runs of them differ.

use crate::text_lines::LinedText;
use std::ops::Range;

use idd_base::difference::difference;
use similar::{Algorithm, DiffOp};

use crate::pairing::pair;
use crate::parting::Parting;

/// The smallest step of a text change: some older lines are replaced by some newer lines.
///
/// One deleted line, one inserted line, or one of each (a modified line). 0-based, half-open; an empty range gives the
/// position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LineStep {
    pub(super) deleted: Range<u32>,
    pub(super) inserted: Range<u32>,
}

/// An entry of a run of changed lines, in the order of the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LineEdit {
    /// A changed line.
    Step(LineStep),
    /// The moved lines of this index are removed here.
    Out(usize),
    /// The moved lines of this index are inserted here, before this older line.
    In(usize, u32),
}

impl LineEdit {
    /// The step, if it is one.
    pub(super) fn step(self) -> Option<LineStep> {
        if let Self::Step(step) = self { Some(step) } else { None }
    }
}

/// The hunks between two texts: maximal runs of changed lines, from top to bottom, each as its edits.
///
/// Steps ascend in both line numbers. The lines between two steps are equal on both sides. Between two modified lines
/// of a run, deletions come before insertions.
///
/// It uses histogram differencing, as git does, because its hunks follow the structure of programs. The order of lines
/// inside a run is that of the files.
///
/// - `parting`: knowledge from the syntax; lines of different declarations are never matched.
///
/// Cost: that of a histogram difference, plus the product of deleted and inserted lines of each run, up to 4096.
pub(super) fn hunks(older: LinedText<'_>, newer: LinedText<'_>, parting: &Parting) -> Vec<Vec<LineEdit>> {
    let Parting { moved, owners, .. } = parting;
    let older = LineSide::of(older, 0..older.lines.len(), moved.iter().map(|(from, _)| from).collect(), &owners.0);
    let newer = LineSide::of(newer, 0..newer.lines.len(), moved.iter().map(|(_, to)| to).collect(), &owners.1);
    compare(&older, &newer, parting)
}

/// The hunks inside the moved lines with this index.
pub(super) fn hunks_within(
    older: LinedText<'_>,
    newer: LinedText<'_>,
    parting: &Parting,
    index: usize,
) -> Vec<Vec<LineEdit>> {
    let Parting { moved, owners, .. } = parting;
    let older = LineSide::of(older, moved[index].0.clone(), Vec::new(), &owners.0);
    let newer = LineSide::of(newer, moved[index].1.clone(), Vec::new(), &owners.1);
    compare(&older, &newer, parting)
}

/// A line with its owner, or moved lines as one token.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum LineToken<'a> {
    Line(Option<usize>, &'a [u8]),
    Moved(usize),
}

/// One side of a comparison.
struct LineSide<'a> {
    tokens: Vec<LineToken<'a>>,
    /// The number of the first line of each token, and the end of the last one.
    starts: Vec<u32>,
}

impl<'a> LineSide<'a> {
    fn of(side: LinedText<'a>, range: Range<u32>, moved: Vec<&Range<u32>>, owners: &[Option<usize>]) -> Self {
        let mut moved: Vec<(usize, &Range<u32>)> = moved.into_iter().enumerate().collect();
        moved.sort_by_key(|(_, range)| range.start);
        let mut moved = moved.into_iter().peekable();
        let (mut tokens, mut starts) = (Vec::new(), Vec::new());
        let mut line = range.start;
        while line < range.end {
            starts.push(line);
            if let Some((index, moved)) = moved.next_if(|(_, moved)| moved.start == line) {
                tokens.push(LineToken::Moved(index));
                line = moved.end;
            } else {
                let owner = owners.get(line as usize).copied().flatten();
                tokens.push(LineToken::Line(owner, side.lines.slice(side.text, &(line..line + 1))));
                line += 1;
            }
        }
        starts.push(line);
        Self { tokens, starts }
    }

    /// Splits a range of tokens into maximal ranges of lines, and the moved tokens between them.
    fn parts(&self, tokens: Range<usize>) -> (Vec<Range<usize>>, Vec<usize>) {
        let (mut runs, mut moved) = (Vec::new(), Vec::new());
        let mut start = tokens.start;
        for index in tokens.clone() {
            if let LineToken::Moved(which) = self.tokens[index] {
                runs.push(start..index);
                moved.push(which);
                start = index + 1;
            }
        }
        runs.push(start..tokens.end);
        (runs, moved)
    }

    fn lines(&self, tokens: Range<usize>) -> Vec<&'a [u8]> {
        let text = |token: &LineToken<'a>| match token {
            LineToken::Line(_, line) => *line,
            LineToken::Moved(_) => &[],
        };
        self.tokens[tokens].iter().map(text).collect()
    }
}

fn compare(older: &LineSide, newer: &LineSide, parting: &Parting) -> Vec<Vec<LineEdit>> {
    let mut runs: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    // Moved tokens of the two sides must never be equal.
    let apart: Vec<(LineToken, bool)> =
        newer.tokens.iter().map(|token| (*token, matches!(token, LineToken::Moved(_)))).collect();
    let tokens: Vec<(LineToken, bool)> = older.tokens.iter().map(|token| (*token, false)).collect();
    for op in difference(Algorithm::Histogram, &tokens, &apart) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (deleted, inserted) = (op.old_range(), op.new_range());
        match runs.last_mut() {
            Some(run) if run.0.end == deleted.start && run.1.end == inserted.start => {
                run.0.end = deleted.end;
                run.1.end = inserted.end;
            }
            _ => runs.push((deleted, inserted)),
        }
    }
    runs.into_iter().map(|(deleted, inserted)| edits(older, deleted, newer, inserted, parting)).collect()
}

/// The edits of one run. Where lines move out or in, the lines around are compared part by part.
fn edits(
    older: &LineSide,
    deleted: Range<usize>,
    newer: &LineSide,
    inserted: Range<usize>,
    parting: &Parting,
) -> Vec<LineEdit> {
    let (deleted_end, inserted_end) = (deleted.end, inserted.end);
    let (out_runs, out) = older.parts(deleted);
    let (in_runs, arriving) = newer.parts(inserted);
    let mut edits = Vec::new();
    for index in 0..out_runs.len().max(in_runs.len()) {
        let deleted = out_runs.get(index).cloned().unwrap_or(deleted_end..deleted_end);
        let inserted = in_runs.get(index).cloned().unwrap_or(inserted_end..inserted_end);
        let behind = older.starts[deleted.end];
        edits.extend(steps(older, deleted, newer, inserted, parting).into_iter().map(LineEdit::Step));
        edits.extend(arriving.get(index).map(|moved| LineEdit::In(*moved, behind)));
        edits.extend(out.get(index).map(|moved| LineEdit::Out(*moved)));
    }
    edits
}

/// The steps of a run; each part between two cuts is compared separately.
fn steps(
    older: &LineSide,
    deleted: Range<usize>,
    newer: &LineSide,
    inserted: Range<usize>,
    parting: &Parting,
) -> Vec<LineStep> {
    let mut all = Vec::new();
    let (mut row, mut column) = (deleted.start, inserted.start);
    let at = |side: &LineSide, line: u32, tokens: &Range<usize>| {
        let index = tokens.start + side.starts[tokens.start..=tokens.end].partition_point(|start| *start < line);
        (index <= tokens.end && side.starts[index] == line).then_some(index)
    };
    for (older_line, newer_line) in &parting.cuts {
        if let (Some(older_cut), Some(newer_cut)) =
            (at(older, *older_line, &deleted), at(newer, *newer_line, &inserted))
            && older_cut >= row
            && newer_cut >= column
        {
            all.extend(steps_between(older, row..older_cut, newer, column..newer_cut, parting));
            (row, column) = (older_cut, newer_cut);
        }
    }
    all.extend(steps_between(older, row..deleted.end, newer, column..inserted.end, parting));
    all
}

fn steps_between(
    older: &LineSide,
    deleted: Range<usize>,
    newer: &LineSide,
    inserted: Range<usize>,
    parting: &Parting,
) -> Vec<LineStep> {
    let step = |deleted: Range<usize>, inserted: Range<usize>| LineStep {
        deleted: older.starts[deleted.start]..older.starts[deleted.end],
        inserted: newer.starts[inserted.start]..newer.starts[inserted.end],
    };
    let mut steps = Vec::new();
    let (mut row, mut column) = (deleted.start, inserted.start);
    let may_pair =
        |row: usize, column: usize| match (older.tokens[deleted.start + row], newer.tokens[inserted.start + column]) {
            (LineToken::Line(older, _), LineToken::Line(newer, _)) => parting.may_pair(older, newer),
            _ => false,
        };
    let pairs = pair(&older.lines(deleted.clone()), &newer.lines(inserted.clone()), may_pair);
    let pairs = pairs.into_iter().map(|pair| (pair.0 + deleted.start, pair.1 + inserted.start));
    for (paired_row, paired_column) in pairs.map(|pair| (pair.0, Some(pair.1))).chain([(deleted.end, None)]) {
        let end = paired_column.unwrap_or(inserted.end);
        steps.extend((row..paired_row).map(|row| step(row..row + 1, column..column)));
        steps.extend((column..end).map(|column| step(paired_row..paired_row, column..column + 1)));
        if paired_column.is_some() {
            // A run can contain equal lines, from histogram differencing or from different owners. They are not steps.
            if older.lines(paired_row..paired_row + 1) != newer.lines(end..end + 1) {
                steps.push(step(paired_row..paired_row + 1, end..end + 1));
            }
            (row, column) = (paired_row + 1, end + 1);
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moves::MovedLines;
    use crate::text_lines::TextLines;

    /// Steps as `-deleted+inserted` line numbers, one text per hunk.
    fn shown(older: &str, newer: &str) -> Vec<String> {
        shown_with(older, newer, &[])
    }

    fn shown_with(older: &str, newer: &str, moved: &[MovedLines]) -> Vec<String> {
        let (older, newer) = (older.as_bytes(), newer.as_bytes());
        let show = |edit: &LineEdit| match edit {
            LineEdit::Step(step) => format!("-{:?}+{:?}", step.deleted, step.inserted),
            other => format!("{other:?}"),
        };
        let parting = Parting { moved: moved.to_vec(), ..Parting::default() };
        let [older_lines, newer_lines] = [older, newer].map(TextLines::of);
        hunks(older_lines.on(older), newer_lines.on(newer), &parting)
            .iter()
            .map(|hunk| hunk.iter().map(show).collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn lines_keep_their_terminators_and_an_open_last_line_is_a_line() {
        let text = b"a\r\n\nb";
        let lines = TextLines::of(text);
        assert_eq!(lines.len(), 3);
        assert_eq!(lines.slice(text, &(0..1)), b"a\r\n");
        assert_eq!(lines.slice(text, &(1..3)), b"\nb");
        assert_eq!(TextLines::of(b"").len(), 0);
    }

    #[test]
    fn a_hunk_is_a_maximal_run_of_changed_lines() {
        assert_eq!(shown("a\nb\nc\nd\n", "a\nB(1)\nc\nd\ne\nf\n"), ["-1..2+1..2", "-4..4+4..5 -4..4+5..6"]);
    }

    #[test]
    fn a_modified_line_inside_a_run_is_one_step_with_its_neighbours_around_it() {
        let older = "start\ndrop this entirely\nint total = count + one;\nend\n";
        let newer = "start\nint total = count + two;\nbrand new thing\nend\n";
        assert_eq!(shown(older, newer), ["-1..2+1..1 -2..3+1..2 -3..3+2..3"]);
    }

    #[test]
    fn moved_lines_leave_at_one_place_and_arrive_at_the_other() {
        let (older, newer) = ("one\ntwo\nlast\nmid\nend\n", "zero\nmid\none\nTWO\nend\n");
        let moved = [(0..2, 2..4)];
        assert_eq!(shown_with(older, newer, &moved), ["-0..0+0..1 Out(0) -2..3+1..1", "In(0, 4)"]);
    }

    #[test]
    fn a_lost_line_end_at_the_end_of_the_file_is_a_modified_line() {
        assert_eq!(shown("a\nb\n", "a\nb"), ["-1..2+1..2"]);
    }
}
