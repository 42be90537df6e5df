//! A changed file divided into units.

use std::ops::Range;

use crate::file::{FileDivision, FilePair, FileSide};
use crate::lines::{self, LineEdit, LineStep};
use crate::outline::Outline;
use crate::parsed::Parsed;
use crate::parting::Parting;
use crate::subset::UnitId;
use crate::text_lines::TextLines;
use crate::unit::{MovedPiece, SyntaxCheck, TextPair, Unit, UnitGrain, UnitKind};
use crate::whole::Whole;

/// The units of the files divided so far.
#[derive(Default)]
pub(super) struct UnitBuilder {
    pub(super) units: Vec<Unit>,
    /// Half-open ranges of unit ids, ascending.
    pub(super) hunks: Vec<Range<u32>>,
    /// Per file divided so far.
    pub(super) parsed: Vec<Option<Parsed>>,
    /// The unit size, and the edits that are one unit.
    pub(super) grain: UnitGrain,
}

impl UnitBuilder {
    pub(super) fn n_units(&self) -> u32 {
        u32::try_from(self.units.len()).expect("a change set has fewer than 2^32 units")
    }

    fn push_hunk(&mut self, file: usize, kinds: impl IntoIterator<Item = UnitKind>) -> Range<u32> {
        let start = self.n_units();
        self.units.extend(kinds.into_iter().map(|kind| Unit { file, kind }));
        let span = start..self.n_units();
        if !span.is_empty() {
            self.hunks.push(span.clone());
        }
        span
    }

    /// Adds the units of a file.
    pub(super) fn divide(&mut self, file: usize, pair: &FilePair, division: &FileDivision) -> TextPair {
        self.parsed.push(None);
        let is_whole = matches!(division, FileDivision::Whole { .. });
        let whole = |side: &FileSide| TextPair {
            n_whole_lines: side.text().map_or(0, |text| TextLines::of(text).len() as usize),
            ..TextPair::default()
        };
        match (&pair.older, &pair.newer) {
            (None, Some(newer)) if is_whole => {
                self.push_hunk(file, [UnitKind::Create]);
                whole(newer)
            }
            (Some(older), None) if is_whole => {
                self.push_hunk(file, [UnitKind::Remove]);
                whole(older)
            }
            (Some(older), Some(newer)) => self.divide_changed(file, older, newer, division),
            (None, Some(newer)) => {
                self.push_hunk(file, [UnitKind::Create]);
                let lines = newer.text().map(TextLines::of).unwrap_or_default();
                let insert = |line: u32| UnitKind::Lines { deleted: 0..0, inserted: line..line + 1 };
                self.push_hunk(file, (0..lines.len()).map(insert));
                let mut text = TextPair { newer: lines, ..TextPair::default() };
                self.parse(division, b"", newer.text().unwrap_or_default(), &mut text);
                text
            }
            (Some(older), None) => {
                let lines = older.text().map(TextLines::of).unwrap_or_default();
                let delete = |line: u32| UnitKind::Lines { deleted: line..line + 1, inserted: 0..0 };
                self.push_hunk(file, (0..lines.len()).map(delete));
                self.push_hunk(file, [UnitKind::Remove]);
                let mut text = TextPair { older: lines, ..TextPair::default() };
                self.parse(division, older.text().unwrap_or_default(), b"", &mut text);
                text
            }
            (None, None) => TextPair::default(),
        }
    }

    /// Reads the syntax of the file that is being divided, if it has one.
    fn parse(&mut self, division: &FileDivision, older: &[u8], newer: &[u8], text: &mut TextPair) {
        let language = if let FileDivision::Syntax(language) = *division { Some(language) } else { None };
        let parsed = language.and_then(|language| Parsed::of(language, text.older.on(older), text.newer.on(newer)));
        if let (Some(parsed), Some(language)) = (&parsed, language) {
            text.check = Some(SyntaxCheck { language, max_errors: parsed.older.n_errors.max(parsed.newer.n_errors) });
        }
        *self.parsed.last_mut().expect("the file that is being divided has an entry") = parsed;
        if self.grain == UnitGrain::Edits {
            text.whole = Some(self.whole(older, newer, text));
        }
    }

    /// The whole edits of the file that is being divided: by its syntax, or else by brackets and indentation.
    fn whole(&self, older: &[u8], newer: &[u8], text: &TextPair) -> Whole {
        match self.parsed.last().and_then(Option::as_ref) {
            Some(parsed) => Whole::of(&parsed.older.outline, &parsed.newer.outline, &parsed.pairs),
            None => Whole::of(&Outline::of_text(older, &text.older), &Outline::of_text(newer, &text.newer), &[]),
        }
    }

    fn divide_changed(&mut self, file: usize, older: &FileSide, newer: &FileSide, division: &FileDivision) -> TextPair {
        if older.path != newer.path {
            self.push_hunk(file, [UnitKind::Rename]);
        }
        let is_same_type = older.mode == newer.mode || (older.mode.is_file() && newer.mode.is_file());
        if is_same_type && older.mode != newer.mode {
            self.push_hunk(file, [UnitKind::Mode]);
        }
        if is_same_type && older.content == newer.content {
            return TextPair::default();
        }
        let (Some(older), Some(newer)) = (older.text(), newer.text()) else {
            self.push_hunk(file, [UnitKind::Whole]);
            return TextPair::default();
        };
        let mut text = TextPair { older: TextLines::of(older), newer: TextLines::of(newer), ..TextPair::default() };
        if matches!(division, FileDivision::Whole { .. }) {
            self.push_hunk(file, [UnitKind::Whole]);
            let runs = lines::hunks(text.older.on(older), text.newer.on(newer), &Parting::default());
            let steps = runs.into_iter().flatten().filter_map(LineEdit::step);
            let n_whole_lines = steps.map(|step| step.deleted.len() + step.inserted.len()).sum();
            return TextPair { n_whole_lines, ..TextPair::default() };
        }
        self.parse(division, older, newer, &mut text);
        let parsed = self.parsed.last().and_then(Option::as_ref);
        let whole = text.whole.as_ref();
        let parting = match parsed {
            Some(parsed) => Parting::of(parsed, whole, text.older.on(older), text.newer.on(newer)),
            None => whole.map(Parting::of_whole).unwrap_or_default(),
        };
        let moved = &parting.moved;
        let (older, newer) = (text.older.on(older), text.newer.on(newer));
        let mut script = Vec::new();
        // For each moved declaration, its unit and the units inside it.
        let mut ids = vec![(UnitId(0), 0..0); moved.len()];
        for run in lines::hunks(older, newer, &parting) {
            let mut steps = Vec::new();
            for edit in run {
                match edit {
                    LineEdit::Step(step) => steps.push(step),
                    LineEdit::In(index, at) => {
                        self.push_steps(file, &mut steps, &mut script);
                        script.push(MovedPiece::In(UnitId::at(index), 0..0, at));
                    }
                    LineEdit::Out(index) => {
                        self.push_steps(file, &mut steps, &mut script);
                        let (from, to) = moved[index].clone();
                        let unit = UnitId(self.push_hunk(file, [UnitKind::Move { from, to, at: 0 }]).start);
                        for run in lines::hunks_within(older, newer, &parting, index) {
                            let mut steps = run.into_iter().filter_map(LineEdit::step).collect();
                            self.push_steps(file, &mut steps, &mut Vec::new());
                        }
                        ids[index] = (unit, unit.0 + 1..self.n_units());
                        script.push(MovedPiece::Out(unit, ids[index].1.clone()));
                    }
                }
            }
            self.push_steps(file, &mut steps, &mut script);
        }
        for piece in &mut script {
            if let MovedPiece::In(unit, inner, arrives) = piece {
                (*unit, *inner) = ids[unit.index()].clone();
                if let UnitKind::Move { at, .. } = &mut self.units[unit.index()].kind {
                    *at = *arrives;
                }
            }
        }
        text.script = (!moved.is_empty()).then_some(script);
        text
    }

    /// Makes units of adjacent steps, and empties the list.
    fn push_steps(&mut self, file: usize, steps: &mut Vec<LineStep>, script: &mut Vec<MovedPiece>) {
        if self.grain == UnitGrain::HalfLines {
            *steps = single_lines(steps);
        }
        let kind = |step: LineStep| UnitKind::Lines { deleted: step.deleted, inserted: step.inserted };
        let span = self.push_hunk(file, steps.drain(..).map(kind));
        script.extend(span.map(|unit| MovedPiece::Unit(UnitId(unit))));
    }
}

/// The same change as deletions and insertions of one line each. Among adjacent steps, deletions come first.
fn single_lines(steps: &[LineStep]) -> Vec<LineStep> {
    let are_neighbours =
        |one: &LineStep, two: &LineStep| one.deleted.end == two.deleted.start && one.inserted.end == two.inserted.start;
    let mut single = Vec::new();
    for run in steps.chunk_by(are_neighbours) {
        let start = run[0].inserted.start;
        let end = run[run.len() - 1].deleted.end;
        let deletions = run.iter().filter(|step| !step.deleted.is_empty());
        single.extend(deletions.map(|step| LineStep { deleted: step.deleted.clone(), inserted: start..start }));
        let insertions = run.iter().filter(|step| !step.inserted.is_empty());
        single.extend(insertions.map(|step| LineStep { deleted: end..end, inserted: step.inserted.clone() }));
    }
    single
}
