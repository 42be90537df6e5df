//! The error invariants of a failing run: an [explanation](crate::report::explanation) of a finding.

use serde::Deserialize;
use serde::Serialize;

use crate::report::Untrusted;
use crate::report::chain::MAX_TEXT;
use crate::report::chop::Size;

/// The maximum number of printed statements.
const MAX_STATEMENTS: usize = 2001;

/// The maximum number of printed texts of a list.
const MAX_TEXTS: usize = 200;

/// The abstract slice of a failing run: the statements that matter for the failure, and what has to hold before each so
/// that the failure follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invariants {
    /// The recording of the run.
    pub recording: Untrusted,
    /// The revision.
    pub commit: Untrusted,
    /// How the test ended.
    pub ending: Untrusted,
    /// The failure in words.
    pub failure: Untrusted,
    /// What the invariants say of addresses: `value`, `address` or `absolute`.
    pub mode: Untrusted,
    /// How far decisions are followed: 0 not at all, 1 those on which the values of the failure depend, 2 those on which
    /// the values in their conditions depend, too, and so on.
    pub depth: u32,
    /// The executed part of the program.
    pub run: Size,
    /// The dynamic slice of the failure; `None` if the run is too long to compute it.
    pub dynamic: Option<Size>,
    /// The abstract slice, with the failing statement.
    pub slice: Size,
    /// The statements in the order of their execution; the last one fails.
    pub statements: Vec<Statement>,
    /// What has to hold before the first statement that ran: of values that are older than the run; of others, too, if a
    /// limit was met.
    pub rest: Vec<Untrusted>,
    /// Whether a limit was met, so that statements before the first are missing.
    pub is_partial: bool,
    /// Questions to the solver, and those without an answer in their budget.
    pub n_questions: u64,
    /// See [`n_questions`](Self::n_questions).
    pub n_unknown: u64,
    /// The number of invariants that were checked by an external solver, if one was asked.
    pub verified: Option<Verified>,
    /// Whether a statement of the slice is in a line of the change; `None` if the change is not known.
    pub has_change: Option<bool>,
    /// Notes: assumptions, and limits of the slice.
    pub remarks: Vec<Untrusted>,
}

/// What an external solver said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    /// The command of the solver.
    pub solver: Untrusted,
    /// Invariants that it proved: both that the run implies them, and that they imply the failure.
    pub n_proved: usize,
    /// Invariants that it refuted.
    pub n_refuted: usize,
    /// Invariants without an answer.
    pub n_unknown: usize,
}

/// A statement of the slice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// Its step; 0 for the initial value of a global variable.
    pub step: u32,
    /// The file, as the compiler was given it.
    pub file: Option<Untrusted>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The function.
    pub function: Untrusted,
    /// The text of the line without the space around it, if it is known.
    pub source: Option<Untrusted>,
    /// Whether it decides that another statement of the slice runs, and does nothing else for the failure.
    pub is_decision: bool,
    /// Whether the change that breaks the test touches the line.
    pub is_changed: bool,
    /// Whether the failure does not follow without it, whatever the others do; `None` if that was not asked.
    pub is_necessary: Option<bool>,
    /// Whether it computes something that is not modelled, so that its recorded value was taken.
    pub is_unknown: bool,
    /// Whether a question had no answer in its budget, so that recorded values were taken.
    pub is_pinned: bool,
    /// The invariant before it, as expressions of C; all hold.
    pub invariant: Vec<Untrusted>,
    /// The recorded values of its variables: `x = 3`.
    pub values: Vec<Untrusted>,
    /// The steps between the statement before and this one.
    pub skipped: Skipped,
}

/// Steps that do not matter for the failure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Their number.
    pub n_steps: u64,
    /// The functions of most of them, with their numbers.
    pub functions: Vec<(Untrusted, u64)>,
    /// Statements that assign something of the invariant and keep it: the line, and how often.
    pub kept: Vec<(Untrusted, u64)>,
}

impl Invariants {
    /// The statements that are printed: without those that are not necessary, if that was asked.
    pub fn shown(&self) -> impl Iterator<Item = &Statement> {
        self.statements.iter().filter(|statement| statement.is_necessary != Some(false))
    }

    /// The same with a limited number of statements, and with short texts.
    #[must_use]
    pub fn bounded(self) -> Self {
        Self {
            recording: self.recording.cut(MAX_TEXT),
            commit: self.commit.cut(MAX_TEXT),
            ending: self.ending.cut(MAX_TEXT),
            failure: self.failure.cut(MAX_TEXT),
            mode: self.mode.cut(MAX_TEXT),
            statements: self.statements.iter().take(MAX_STATEMENTS).map(Statement::bounded).collect(),
            rest: texts(&self.rest),
            remarks: texts(&self.remarks),
            ..self
        }
    }
}

impl Statement {
    fn bounded(&self) -> Self {
        let counted = |all: &[(Untrusted, u64)]| {
            all.iter().take(MAX_TEXTS).map(|(text, n)| (text.cut(MAX_TEXT), *n)).collect::<Vec<_>>()
        };
        let Skipped { n_steps, functions, kept } = &self.skipped;
        Self {
            file: self.file.as_ref().map(|file| file.cut(MAX_TEXT)),
            function: self.function.cut(MAX_TEXT),
            source: self.source.as_ref().map(|source| source.cut(MAX_TEXT)),
            invariant: texts(&self.invariant),
            values: texts(&self.values),
            skipped: Skipped { n_steps: *n_steps, functions: counted(functions), kept: counted(kept) },
            ..*self
        }
    }
}

fn texts(texts: &[Untrusted]) -> Vec<Untrusted> {
    texts.iter().take(MAX_TEXTS).map(|text| text.cut(MAX_TEXT)).collect()
}
