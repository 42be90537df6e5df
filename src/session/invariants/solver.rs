//! Asks an external solver whether the invariants are right.

use crate::{Context, Failure, Talk};
use idd_explain::invariant::Abstraction;
use idd_explain::invariant::history::BackwardRun as _;
use idd_explain::invariant::verify::questions;
use idd_explain::native::invariant::Native;
use idd_report::invariants::SolverResult;
use idd_report::{Terminal, Untrusted};
use idd_trace::logic::smtlib::question;
use idd_trace::logic::term::Terms;
use idd_world::process::ask;
use std::ffi::OsStr;
use std::time::Duration;

/// The time of the solver.
const TIME: Duration = Duration::from_secs(60);

/// Bytes of all questions: later ones are not asked. An invariant far from the failure has long ones.
const MAX_QUESTIONS: usize = 32 << 20;

/// Asks a solver about each invariant: whether the run implies it, and whether it implies the failure. Those next to the
/// failure come first.
///
/// - `command`: a program and its options, which reads SMT-LIB 2 from its standard input.
///
/// Errors: the program cannot be run, or does not answer as a solver.
pub fn verify(
    command: &str,
    terms: &mut Terms,
    found: &Abstraction,
    native: &Native<'_>,
    context: &Context,
    talk: &mut dyn Talk,
) -> Result<SolverResult, Failure> {
    talk.say("Asking the solver.");
    let mut text = String::from("(set-logic QF_BV)\n");
    for link in (0..found.links.len()).rev() {
        for truths in questions(terms, found, link, &|version| native.value(version)) {
            text += &question(terms, &truths);
        }
        if text.len() > MAX_QUESTIONS {
            break;
        }
    }
    let shown = Terminal.line(&Untrusted::from(command));
    let failed = |what: String| {
        Failure::error(what).with_hint(
            "`--verify` takes a solver that reads SMT-LIB 2, such as `z3 -in` (Debian: `apt-get install z3`)",
        )
    };
    let mut words = command.split_whitespace().map(OsStr::new);
    let program = words.next().ok_or_else(|| failed("`--verify` has no command".to_owned()))?;
    let words: Vec<&OsStr> = words.collect();
    let output = ask(program, &words, &context.directory, text.into_bytes(), (TIME, 1 << 20))
        .map_err(|error| failed(format!("failed to run `{shown}`: {error}")))?;
    let said = String::from_utf8_lossy(&output);
    let answers: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_answer = |line: &&str| ["sat", "unsat", "unknown"].contains(line);
    if let Some(first) = answers.iter().find(|line| !is_answer(line)) {
        let first: String = first.chars().take(100).collect();
        return Err(failed(format!(
            "`{shown}` is no solver: it prints `{}`",
            Terminal.line(&Untrusted::from(&*first))
        )));
    }
    if answers.len() > 2 * found.links.len() || (answers.is_empty() && !found.links.is_empty()) {
        return Err(failed(format!("`{shown}` is no solver: it gives {} answers", answers.len())));
    }
    let count = |is_wanted: &dyn Fn(&[&str]) -> bool| answers.chunks_exact(2).filter(|pair| is_wanted(pair)).count();
    let n_proved = count(&|pair| pair.iter().all(|answer| *answer == "unsat"));
    let n_refuted = count(&|pair| pair.contains(&"sat"));
    let n_unknown = found.links.len() - n_proved - n_refuted;
    Ok(SolverResult { solver: command.into(), n_proved, n_refuted, n_unknown })
}
