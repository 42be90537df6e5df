//! Asks an external solver whether the invariants are right.

use crate::explain::invariant::Abstraction;
use crate::explain::invariant::history::History as _;
use crate::explain::invariant::verify::questions;
use crate::explain::native::invariant::Native;
use crate::logic::smtlib::question;
use crate::logic::term::Terms;
use crate::report::Status;
use crate::report::invariants::Verified;
use crate::session::context::Context;
use crate::session::failure::Failure;
use crate::world::files;
use crate::world::process::capture;
use std::ffi::OsStr;
use std::ffi::OsString;

/// Asks a solver about each invariant: whether the run implies it, and whether it implies the failure.
///
/// - `command`: a program and its options; it is given a file of SMT-LIB 2.
///
/// Errors: the program cannot be run, or does not answer as a solver.
pub fn verify(
    command: &str,
    terms: &mut Terms,
    found: &Abstraction,
    native: &Native<'_>,
    context: &Context,
) -> Result<Verified, Failure> {
    let mut text = String::from("(set-logic QF_BV)\n");
    for link in 0..found.links.len() {
        for truths in questions(terms, found, link, &|version| native.value(version)) {
            text += &question(terms, &truths);
        }
    }
    let failed = |what: String| {
        Failure::new(Status::Error, what)
            .with_hint("`--verify` takes a solver for SMT-LIB 2, such as `z3` (Debian: `apt-get install z3`)")
    };
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("invariants.smt2");
    files::replace(&path, text.as_bytes())?;
    let mut words = command.split_whitespace().map(OsString::from);
    let program = words.next().ok_or_else(|| failed("`--verify` has no command".to_owned()))?;
    let words: Vec<OsString> = words.chain([path.into_os_string()]).collect();
    let arguments: Vec<&OsStr> = words.iter().map(OsString::as_os_str).collect();
    let output = capture(&program, &arguments, &context.directory, &[])
        .map_err(|error| failed(format!("failed to run `{command}`: {error}")))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let answers: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_answer = |line: &&str| ["sat", "unsat", "unknown"].contains(line);
    if answers.len() != 2 * found.links.len() || !answers.iter().all(is_answer) {
        let first = answers.iter().find(|line| !is_answer(line)).copied().unwrap_or("too few answers");
        return Err(failed(format!("`{command}` is no solver: {first}")));
    }
    let count = |is_wanted: &dyn Fn(&[&str]) -> bool| answers.chunks(2).filter(|pair| is_wanted(pair)).count();
    let n_proved = count(&|pair| pair.iter().all(|answer| *answer == "unsat"));
    let n_refuted = count(&|pair| pair.contains(&"sat"));
    let n_unknown = found.links.len() - n_proved - n_refuted;
    Ok(Verified { solver: command.into(), n_proved, n_refuted, n_unknown })
}
