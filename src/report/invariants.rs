//! The error invariants of a failing run: an [explanation](crate::explanation) of a finding.

use serde::{Deserialize, Serialize};

use crate::Untrusted;
use crate::bounds::{Shorten, shorten};
use crate::chop::Size;
use idd_base::count;

/// The maximum number of printed statements.
const MAX_STATEMENTS: usize = 2001;

/// The maximum number of printed texts of a list.
const MAX_TEXTS: usize = 200;

/// The abstract slice of a failing run: the statements that matter for the failure, and what has to hold before each so
/// that the failure follows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The recording of a passing run: what holds there, too, is left out. `None` if there is none.
    pub compared: Option<Untrusted>,
    /// How far decisions are followed: 0 not at all, 1 those on which the values of the failure depend, 2 those on which
    /// the values in their conditions depend, too, and so on; `None` for all.
    pub depth: Option<u32>,
    /// The executed part of the program.
    pub run: Size,
    /// The dynamic slice of the failure; `None` if the run is too long to compute it.
    pub dynamic: Option<Size>,
    /// The abstract slice, with the failing statement.
    pub slice: Size,
    /// The statements in the order of their execution; the last one fails.
    pub statements: Vec<InvariantStatement>,
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
    pub verified: Option<SolverResult>,
    /// Whether a statement of the slice is in a line of the change; `None` if the change is not known.
    pub has_change: Option<bool>,
    /// Notes: assumptions, and limits of the slice.
    pub remarks: Vec<Untrusted>,
}

/// What an external solver said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SolverResult {
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
#[expect(clippy::struct_excessive_bools, reason = "independent facts, which are fields of the stored form")]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvariantStatement {
    /// Its step; 0 for the initial value of a global variable.
    pub step: u32,
    /// The file, as the compiler was given it.
    pub file: Option<Untrusted>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The function; `initial value of <name>` for the initial value of a global variable.
    pub function: Untrusted,
    /// The text of the line without the space around it, if it is known.
    pub source: Option<Untrusted>,
    /// Whether it decides that another statement of the slice runs, and does nothing else for the failure.
    pub is_decision: bool,
    /// Whether the failing and the passing run do different things after it, although the same holds in both.
    pub is_parting: bool,
    /// Whether it stores at another address than in the passing run.
    pub is_elsewhere: bool,
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
    pub fn shown(&self) -> impl Iterator<Item = &InvariantStatement> {
        self.statements.iter().filter(|statement| statement.is_necessary != Some(false))
    }

    /// The same with a limited number of statements, the last ones, and with short texts.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        let Self { recording, commit, ending, failure, mode, statements, rest, verified, remarks, .. } = &mut self;
        rest.truncate(MAX_TEXTS);
        remarks.truncate(MAX_TEXTS);
        if let Some(n_omitted @ 1..) = statements.len().checked_sub(MAX_STATEMENTS) {
            let all = count(statements.len(), "statement");
            remarks.push(format!("of {all} the last {MAX_STATEMENTS} are shown").into());
            statements.drain(..n_omitted);
        }
        shorten([recording, commit, ending, failure, mode, statements, rest, verified, remarks]);
        self
    }
}

impl Shorten for SolverResult {
    fn shorten(&mut self) {
        self.solver.shorten();
    }
}

impl SolverResult {
    /// `z3: 2 of 3 invariants proved, 0 refuted, 1 without an answer.`
    ///
    /// - `shown`: escapes the command of the solver.
    pub fn sentence(&self, shown: impl FnOnce(&Untrusted) -> String) -> String {
        let Self { solver, n_proved, n_refuted, n_unknown } = self;
        let all = count(n_proved + n_refuted + n_unknown, "invariant");
        format!("{}: {n_proved} of {all} proved, {n_refuted} refuted, {n_unknown} without an answer.", shown(solver))
    }
}

impl InvariantStatement {
    /// Whether it is the declaration of a global variable; then `function` names the variable in words.
    pub fn is_initial(&self) -> bool {
        self.step == 0
    }

    /// What is special about it, in words.
    pub fn notes(&self) -> Vec<&'static str> {
        let notes = [
            (self.is_decision, "decides"),
            (self.is_parting, "the runs part here"),
            (self.is_elsewhere, "stores elsewhere than in the passing run"),
            (self.is_unknown, "not modelled: the recorded value is taken"),
            (self.is_pinned, "no answer in the budget: recorded values are taken"),
        ];
        notes.into_iter().filter_map(|(is_so, note)| is_so.then_some(note)).collect()
    }
}

impl Shorten for InvariantStatement {
    fn shorten(&mut self) {
        let Self { file, function, source, invariant, values, skipped: Skipped { functions, kept, .. }, .. } = self;
        invariant.truncate(MAX_TEXTS);
        values.truncate(MAX_TEXTS);
        functions.truncate(MAX_TEXTS);
        kept.truncate(MAX_TEXTS);
        shorten([file, function, source, invariant, values, functions, kept]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::MAX_TEXT;
    use crate::samples;

    #[test]
    fn of_too_many_statements_the_last_are_shown_and_long_texts_are_cut() {
        let long = || Untrusted::from("x".repeat(MAX_TEXT + 1));
        let short = Untrusted::from(format!("{}…", "x".repeat(MAX_TEXT)));
        let mut found = samples::invariants();
        let last = found.statements.last_mut().unwrap();
        (last.source, last.values) = (Some(long()), vec![long(); MAX_TEXTS + 1]);
        last.skipped.kept = vec![(long(), 1)];
        found.statements = [vec![found.statements[0].clone(); MAX_STATEMENTS + 6], found.statements].concat();
        found.rest = vec![long()];
        let found = found.bounded();
        assert_eq!(found.statements.len(), MAX_STATEMENTS);
        assert_eq!(found.remarks.last().unwrap(), &"of 2010 statements the last 2001 are shown".into());
        let last = found.statements.last().unwrap();
        assert_eq!((last.source.as_ref(), last.values.len()), (Some(&short), MAX_TEXTS));
        assert_eq!((&last.values[0], &last.skipped.kept[0].0, &found.rest[0]), (&short, &short, &short));
        assert_eq!(samples::invariants().bounded(), samples::invariants());
    }

    #[test]
    fn only_statements_known_not_to_be_necessary_are_left_out() {
        let mut found = samples::invariants();
        for (statement, is_necessary) in found.statements.iter_mut().zip([None, Some(false), Some(true)]) {
            statement.is_necessary = is_necessary;
        }
        assert_eq!(found.shown().map(|statement| statement.step).collect::<Vec<_>>(), [0, 20]);
    }

    #[test]
    fn what_a_solver_answered_is_a_sentence() {
        let verified = SolverResult { solver: "z3".into(), n_proved: 2, n_refuted: 0, n_unknown: 1 };
        let sentence = verified.sentence(|text| format!("`{}`", String::from_utf8_lossy(text.as_bytes())));
        assert_eq!(sentence, "`z3`: 2 of 3 invariants proved, 0 refuted, 1 without an answer.");
    }
}
