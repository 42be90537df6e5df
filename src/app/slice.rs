//! `git idd slice`: runs the driver and prints the slice.

use crate::console::Console;
use idd_base::count;
use idd_report::chop::Size;
use idd_report::escape::safe;
use idd_report::json::json_line;
use idd_session::Failure;
use idd_session::slice::{Slice, SliceDirection, SliceLine, SliceOrder};
use idd_session::sources::RecordedSources;
use idd_world::repo::Location;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The version of the JSON object.
const SCHEMA: &str = "git-idd/slice/1";

/// Computes a slice; the result is the printed text.
pub fn run(order: &SliceOrder, location: &Location, console: Console) -> Result<Vec<u8>, Failure> {
    let (slice, mut sources) = idd_session::slice::run(order, location)?;
    Ok(if console.is_json { json_line(&value(&slice, &mut sources)) } else { text(&slice, &mut sources).into_bytes() })
}

/// `3 of 40 statements, 3 of 38 lines, 17 of 912 steps`.
pub fn share(part: Size, whole: Size) -> String {
    format!(
        "{} of {}, {} of {}, {} of {}",
        part.n_statements,
        count(whole.n_statements, "statement"),
        part.n_lines,
        count(whole.n_lines, "line"),
        part.n_steps,
        count(whole.n_steps, "step")
    )
}

/// Lines of the source under the name of their file and function, each with its steps.
pub fn listing(lines: &[SliceLine], sources: &mut RecordedSources) -> String {
    let mut text = String::new();
    let mut last = None;
    for line in lines {
        let function = (&line.file, &line.function);
        if last != Some(function) {
            writeln!(text, "\n{}, {}", safe(&line.file), safe(&line.function)).expect("a string takes all");
            last = Some(function);
        }
        let source = sources.line(&line.file, line.line).map_or_else(|| "?".to_owned(), |source| safe(&source));
        let steps = format!("{} of {}", line.n_steps, line.n_run);
        writeln!(text, "{:>6}  {steps:>11}  #{:<7} {source}", line.line, line.last.0).expect("a string takes all");
    }
    text
}

fn text(slice: &Slice, sources: &mut RecordedSources) -> String {
    let direction = match slice.direction {
        SliceDirection::Backward => "Backward slice of",
        SliceDirection::Forward => "Forward slice of",
    };
    let head = format!("{direction} {}: {}", slice.criterion, share(slice.size, slice.run));
    let mut text = format!("{head}\n{}", listing(&slice.lines, sources));
    for remark in &slice.remarks {
        writeln!(text, "\n{}", safe(remark)).expect("a string takes all");
    }
    text
}

fn value(slice: &Slice, sources: &mut RecordedSources) -> Value {
    let line = |line: &SliceLine| {
        json!({
            "file": line.file,
            "line": line.line,
            "function": line.function,
            "source": sources.line(&line.file, line.line),
            "n_steps": line.n_steps,
            "n_run": line.n_run,
            "last": line.last.0,
        })
    };
    json!({
        "schema": SCHEMA,
        "recording": slice.recording,
        "commit": slice.commit,
        "direction": match slice.direction {
            SliceDirection::Backward => "backward",
            SliceDirection::Forward => "forward",
        },
        "criterion": slice.criterion,
        "n_criteria": slice.n_criteria,
        "slice": slice.size,
        "run": slice.run,
        "remarks": slice.remarks,
        "lines": slice.lines.iter().map(line).collect::<Vec<_>>(),
    })
}
