//! `git idd chop`: runs the driver and prints the chop.

use crate::cli::console::Console;
use crate::cli::slice::share;
use crate::cli::slice::sized;
use crate::cli::trace::json_line;
use crate::plural::count;
use crate::report::escape::Terminal;
use crate::report::escape::Untrusted;
use crate::session;
use crate::session::chop::Chop;
use crate::session::chop::ChopOrder;
use crate::session::chop::Ranked;
use crate::session::context::Context;
use crate::session::failure::Failure;
use crate::session::sources::Sources;
use crate::world::repo::locate::Location;
use serde_json::Value;
use serde_json::json;
use std::fmt::Write as _;

/// The version of the JSON object.
const SCHEMA: &str = "git-idd/chop/1";

/// The number of printed lines of a chop, and of its constants.
const N_SHOWN: usize = 40;

/// The longest printed value.
const VALUE: usize = 60;

/// Computes a chop; the result is the printed text.
pub fn run(order: &ChopOrder, location: &Location, context: &Context, console: Console) -> Result<Vec<u8>, Failure> {
    let (chop, mut sources) = session::chop::run(order, location, context, &mut console.progress())?;
    Ok(if console.is_json { json_line(&value(&chop, &mut sources)) } else { text(&chop, &mut sources).into_bytes() })
}

fn safe(text: &str) -> String {
    Terminal.line(&Untrusted::from(text))
}

fn cut(text: &str) -> String {
    if text.chars().count() <= VALUE {
        return safe(text);
    }
    let head: String = text.chars().take(VALUE).collect();
    format!("{}...", safe(&head))
}

/// Lines by rank: place, number of steps, source, values.
fn ranked(lines: &[Ranked], sources: &mut Sources, text: &mut String) {
    for Ranked { line, is_changed, values, .. } in lines.iter().take(N_SHOWN) {
        let mark = if *is_changed { "*" } else { " " };
        let place = format!("{}:{}", safe(&line.file), line.line);
        let source = sources.line(&line.file, line.line).map_or_else(|| "?".to_owned(), |source| safe(&source));
        writeln!(text, "{mark} {place:<24} {:<20} {source}", safe(&line.function)).expect("a string takes all");
        if !values.is_empty() {
            let values: Vec<String> = values.iter().map(|value| cut(value)).collect();
            writeln!(text, "      #{}: {}", line.last.0, values.join(", ")).expect("a string takes all");
        }
    }
    if let Some(n_more @ 1..) = lines.len().checked_sub(N_SHOWN) {
        writeln!(text, "  ... {}; `--json` prints all", count(n_more, "more line")).expect("a string takes all");
    }
}

fn text(chop: &Chop, sources: &mut Sources) -> String {
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{line}").expect("a string takes all");
    line(format!("failure:  {} (the test ended with {})", chop.failure, chop.ending));
    line(format!(
        "program:  {} in {}, of which {} ran",
        count(chop.program.n_statements, "statement"),
        count(chop.program.n_lines, "line"),
        chop.run.n_statements
    ));
    if !chop.inputs.is_empty() {
        line(format!("input:    {}", safe(&chop.inputs.join(", "))));
        line(format!("forward slice of the input:      {}", share(chop.forward, chop.run)));
    }
    line(format!("backward slice of the failure:   {}", share(chop.backward, chop.run)));
    if !chop.inputs.is_empty() {
        line(format!("failure-inducing chop:           {}", share(chop.chop, chop.run)));
    }
    let is_marked = |ranked: &[Ranked]| ranked.iter().any(|one| one.is_changed);
    if is_marked(&chop.lines) || is_marked(&chop.constant_lines) {
        line("`*` marks a line of the change that breaks the test.".to_owned());
    }
    if !chop.lines.is_empty() {
        line("\nThe chop, the nearest to the failure first:".to_owned());
        ranked(&chop.lines, sources, &mut text);
    }
    if !chop.constant_lines.is_empty() {
        text.push_str("\nThe failure also depends on these statements, which depend on no input:\n");
        ranked(&chop.constant_lines, sources, &mut text);
    }
    for remark in &chop.remarks {
        writeln!(text, "\n{}", safe(remark)).expect("a string takes all");
    }
    writeln!(text, "\n`git idd trace step <number>` shows a step of recording {}.", chop.recording)
        .expect("a string takes all");
    text
}

fn value(chop: &Chop, sources: &mut Sources) -> Value {
    let mut lines = |lines: &[Ranked]| -> Vec<Value> {
        let line = |ranked: &Ranked| {
            let line = &ranked.line;
            json!({
                "file": line.file,
                "line": line.line,
                "function": line.function,
                "source": sources.line(&line.file, line.line),
                "is_changed": ranked.is_changed,
                "distance": (ranked.distance != u32::MAX).then_some(ranked.distance),
                "n_steps": line.n_steps,
                "n_run": line.n_run,
                "last": line.last.0,
                "values": ranked.values,
            })
        };
        lines.iter().map(line).collect()
    };
    json!({
        "schema": SCHEMA,
        "recording": chop.recording,
        "commit": chop.commit,
        "ending": chop.ending,
        "failure": chop.failure,
        "inputs": chop.inputs,
        "program": sized(chop.program),
        "run": sized(chop.run),
        "forward": sized(chop.forward),
        "backward": sized(chop.backward),
        "chop": sized(chop.chop),
        "lines": lines(&chop.lines),
        "constants": sized(chop.constants),
        "constant_lines": lines(&chop.constant_lines),
        "remarks": chop.remarks,
    })
}
