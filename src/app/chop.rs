//! `git idd chop`: runs the driver and prints the chop.

use crate::console::CommandScene;
use crate::progress::Volume;
use crate::slice::share;
use idd_base::count;
use idd_report::chop::{Chop, ChopLine, ReducedInput};
use idd_report::json::json_line;
use idd_report::{Explanation, Terminal, Untrusted};
use idd_session::Failure;
use idd_session::recorded::order::ChopOrder;
use std::fmt::Write as _;

/// The number of printed lines of a chop, and of its constants, unless all are wanted.
const N_SHOWN: usize = 10;

/// The longest printed value.
const VALUE: usize = 60;

/// Computes a chop; the result is the printed text.
pub fn run(order: &ChopOrder, scene: CommandScene<'_>) -> Result<Vec<u8>, Failure> {
    let CommandScene { location, context, console } = scene;
    let chop = idd_session::chop::run(order, location, context, &mut console.progress())?;
    Ok(if console.is_json {
        json_line(&Explanation::Chop(chop))
    } else {
        text(&chop, console.volume == Volume::Verbose).into_bytes()
    })
}

fn safe(text: &Untrusted) -> String {
    Terminal.line(text)
}

fn cut(text: &Untrusted) -> String {
    let text = String::from_utf8_lossy(text.as_bytes());
    if text.chars().count() <= VALUE {
        return safe(&(*text).into());
    }
    let head: String = text.chars().take(VALUE).collect();
    format!("{}...", safe(&head.into()))
}

/// Lines by rank: place, number of steps, source, values.
fn ranked(lines: &[ChopLine], n_passing: u32, n_shown: usize, text: &mut String) {
    for line in lines.iter().take(n_shown) {
        let mark = if line.is_changed { "*" } else { " " };
        let place = format!("{}:{}", safe(&line.file), line.line);
        let source = line.source.as_ref().map_or_else(|| "?".to_owned(), safe);
        let passing = if n_passing == 0 { String::new() } else { format!("[{}] ", line.n_passing) };
        writeln!(text, "{mark} {passing}{place:<24} {:<20} {source}", safe(&line.function))
            .expect("a string takes all");
        if !line.values.is_empty() {
            let values: Vec<String> = line.values.iter().map(cut).collect();
            writeln!(text, "      #{}: {}", line.last, values.join(", ")).expect("a string takes all");
        }
    }
    if let Some(n_more @ 1..) = lines.len().checked_sub(n_shown) {
        writeln!(text, "  and {}; `-v` prints all", count(n_more, "more line")).expect("a string takes all");
    }
}

/// `in.txt was shrunk from 63 bytes to 2: 4;`.
fn reduced(file: &ReducedInput) -> String {
    let (name, before) = (safe(&file.name), count(file.n_bytes_before, "byte"));
    let changed = if file.n_bytes < file.n_bytes_before { "shrunk" } else { "changed" };
    let text = file.text.as_ref().map(|text| format!(": {}", cut(text))).unwrap_or_default();
    format!("          {name} was {changed} from {before} to {}{text}", file.n_bytes)
}

/// The chop for people.
///
/// - `is_whole`: whether all lines are printed.
pub fn text(chop: &Chop, is_whole: bool) -> String {
    let n_shown = if is_whole { usize::MAX } else { N_SHOWN };
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{line}").expect("a string takes all");
    line(format!("failure:  {} (the test ended with {})", safe(&chop.failure), safe(&chop.ending)));
    line(format!(
        "program:  {} in {}, of which {} ran",
        count(chop.program.n_statements, "statement"),
        count(chop.program.n_lines, "line"),
        chop.run.n_statements
    ));
    if !chop.inputs.is_empty() {
        line(format!("input:    {}", chop.inputs.iter().map(safe).collect::<Vec<_>>().join(", ")));
        chop.reduced.iter().for_each(|file| line(reduced(file)));
        line(format!("forward slice of the input:      {}", share(chop.forward, chop.run)));
    }
    line(format!("backward slice of the failure:   {}", share(chop.backward, chop.run)));
    if !chop.inputs.is_empty() {
        line(format!("failure-inducing chop:           {}", share(chop.chop, chop.run)));
    }
    let is_marked = |lines: &[ChopLine]| lines.iter().any(|one| one.is_changed);
    if is_marked(&chop.lines) || is_marked(&chop.constant_lines) {
        line("`*` marks a line that the change from the passing version touches.".to_owned());
    }
    let n_passing = if chop.tells_apart() { chop.n_passing } else { 0 };
    if !chop.lines.is_empty() {
        line(match n_passing {
            0 => "\nThe chop, the most suspicious first:".to_owned(),
            n => format!(
                "\nThe chop, ranked by how many of {} with similar inputs ran a line (in brackets: fewer is more suspicious), \
                 then by the distance to the failure:",
                count(n as usize, "passing run")
            ),
        });
        ranked(&chop.lines, n_passing, n_shown, &mut text);
    }
    if !chop.constant_lines.is_empty() {
        text.push_str("\nThe failure also depends on these statements, which depend on no input:\n");
        ranked(&chop.constant_lines, 0, n_shown, &mut text);
    }
    for remark in &chop.remarks {
        writeln!(text, "\n{}", safe(remark)).expect("a string takes all");
    }
    writeln!(text, "\n`git idd trace step <number>` shows a step of recording {}.", safe(&chop.recording))
        .expect("a string takes all");
    text
}
