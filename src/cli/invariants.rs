//! `git idd invariants`: runs the driver and prints the slice.

use crate::cli::console::Console;
use crate::cli::progress::Volume;
use crate::cli::slice::share;
use crate::cli::trace::json_line;
use crate::plural::count;
use crate::report::escape::Terminal;
use crate::report::escape::Untrusted;
use crate::report::explanation::Explanation;
use crate::report::invariants::Invariants;
use crate::report::invariants::Skipped;
use crate::report::invariants::Statement;
use crate::session;
use crate::session::context::Context;
use crate::session::failure::Failure;
use crate::session::invariants::InvariantsOrder;
use crate::world::repo::locate::Location;
use std::fmt::Write as _;

/// The number of printed conditions of an invariant.
const N_CONDITIONS: usize = 12;

/// Finds the error invariants of a run; the result is the printed text.
pub fn run(
    order: &InvariantsOrder,
    location: &Location,
    context: &Context,
    console: Console,
) -> Result<Vec<u8>, Failure> {
    let found = session::invariants::run(order, location, context, &mut console.progress())?;
    if console.is_json {
        return Ok(json_line(&Explanation::Invariants(found)));
    }
    Ok(text(&found, console.volume == Volume::Verbose).into_bytes())
}

fn safe(text: &Untrusted) -> String {
    Terminal.line(text)
}

fn put(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a string takes all");
}

/// `212 steps keep this (scan_text 200, main 12)`.
fn skipped(Skipped { n_steps, functions, kept }: &Skipped, text: &mut String) {
    if *n_steps > 0 {
        let functions: Vec<String> = functions.iter().map(|(name, n)| format!("{} {n}", safe(name))).collect();
        let steps = count(usize::try_from(*n_steps).unwrap_or(usize::MAX), "step");
        put(text, &format!("       ... {steps} skipped ({})", functions.join(", ")));
    }
    for (place, n) in kept {
        let times = count(usize::try_from(*n).unwrap_or(usize::MAX), "time");
        put(text, &format!("       ... {} runs {times} and keeps it", safe(place)));
    }
}

fn conditions(all: &[Untrusted], text: &mut String) {
    for condition in all.iter().take(N_CONDITIONS) {
        put(text, &format!("    | {}", safe(condition)));
    }
    if let Some(n_more @ 1..) = all.len().checked_sub(N_CONDITIONS) {
        put(text, &format!("    | ... {}; `--json` prints all", count(n_more, "more condition")));
    }
}

fn statement(statement: &Statement, is_last: bool, is_verbose: bool, text: &mut String) {
    conditions(&statement.invariant, text);
    skipped(&statement.skipped, text);
    let place = match (&statement.file, statement.line) {
        (Some(file), Some(line)) => format!("{}:{line}", safe(file)),
        _ => "?".to_owned(),
    };
    let source = statement.source.as_ref().map_or_else(|| "?".to_owned(), safe);
    let mark = if statement.is_changed { "*" } else { " " };
    let mut notes = Vec::new();
    if is_last {
        notes.push("fails");
    }
    if statement.is_decision {
        notes.push("decides");
    }
    if statement.is_unknown {
        notes.push("not modelled: the recorded value is taken");
    }
    if statement.is_pinned {
        notes.push("no answer in the budget: recorded values are taken");
    }
    let notes = if notes.is_empty() { String::new() } else { format!("   [{}]", notes.join("; ")) };
    let step = if statement.step == 0 { String::new() } else { format!("#{}", statement.step) };
    put(text, &format!("{mark} {step:<7} {place:<20} {:<16} {source}{notes}", safe(&statement.function)));
    if is_verbose && !statement.values.is_empty() {
        let values: Vec<String> = statement.values.iter().map(safe).collect();
        put(text, &format!("          before it: {}", values.join(", ")));
    }
}

fn text(found: &Invariants, is_verbose: bool) -> String {
    let mut text = String::new();
    put(&mut text, &format!("failure:         {} (the test ended with {})", safe(&found.failure), safe(&found.ending)));
    if let Some(dynamic) = found.dynamic {
        put(&mut text, &format!("dynamic slice:   {}", share(dynamic, found.run)));
    }
    put(&mut text, &format!("abstract slice:  {}", share(found.slice, found.run)));
    match found.has_change {
        Some(true) => put(&mut text, "change:          in the slice; `*` marks its lines"),
        Some(false) => put(&mut text, "change:          not in the slice"),
        None => {}
    }
    if found.is_partial {
        put(&mut text, "\nThe slice is not complete: a limit was met. Before its first statement, this holds.");
    } else {
        put(&mut text, "\nThe failure follows as long as the conditions between the statements hold.");
    }
    let n_shown = found.shown().count();
    let n_initial = found.shown().take_while(|one| one.step == 0).count();
    for (nth, one) in found.shown().enumerate() {
        if nth == n_initial && found.rest != one.invariant {
            conditions(&found.rest, &mut text);
        }
        statement(one, nth + 1 == n_shown, is_verbose, &mut text);
    }
    if let Some(verified) = &found.verified {
        let n = verified.n_proved + verified.n_refuted + verified.n_unknown;
        put(
            &mut text,
            &format!(
                "\n{}: {} of {} proved, {} refuted, {} without an answer.",
                safe(&verified.solver),
                verified.n_proved,
                count(n, "invariant"),
                verified.n_refuted,
                verified.n_unknown
            ),
        );
    }
    if is_verbose {
        put(
            &mut text,
            &format!(
                "\n{} to the built-in solver, {} without an answer.",
                count(usize::try_from(found.n_questions).unwrap_or(usize::MAX), "question"),
                found.n_unknown
            ),
        );
    }
    for remark in &found.remarks {
        put(&mut text, &format!("\n{}", safe(remark)));
    }
    put(&mut text, &format!("\n`git idd trace step <number>` shows a step of recording {}.", safe(&found.recording)));
    text
}
