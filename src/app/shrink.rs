//! `git idd shrink`: runs the driver, writes the reduced files, and prints the result.

mod difference;
mod output;

use crate::args::ShrinkArgs;
use crate::console::{CommandAnswer, CommandScene};
use crate::shrink::output::ReducedFiles;
use idd_base::count;
use idd_report::escape::safe;
use idd_report::json::json_line;
use idd_report::{Status, Terminal, Untrusted};
use idd_session::shrink::{Shrunk, ShrunkFile, VersionDifference};
use idd_session::{Failure, Interrupt};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;

/// The version of the object of `--json`.
const SCHEMA: &str = "git-idd/shrink/1";

/// Contents with at most this many bytes are compared line by line, if they are texts.
const MAX_COMPARED: usize = 4 << 20;

/// A content with at most this many bytes is printed, if it is a text.
const MAX_PRINTED: usize = 2000;

/// Shrinks, and writes the files.
pub fn run(args: &ShrinkArgs, scene: CommandScene<'_>) -> Result<CommandAnswer, Failure> {
    let CommandScene { location, context, console } = scene;
    let output = ReducedFiles::plan(args, location, context)?;
    let interrupt = Interrupt::register()?.flag;
    let shrunk = idd_session::shrink::run(&args.order, location, context, interrupt, &mut console.progress())?;
    output.write(&shrunk)?;
    let code = shrunk.stopped.map_or(0, |status| console.code(status));
    let text = if console.is_json { json_line(&json(&shrunk, &output)) } else { text(&shrunk, &output).into_bytes() };
    Ok(CommandAnswer::Text(text, code))
}

/// The result for people.
fn text(shrunk: &Shrunk, output: &ReducedFiles) -> String {
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{line}").expect("a string takes all");
    for (file, place) in shrunk.files.iter().zip(&output.places) {
        let (name, n_before) = (safe(&file.name.to_string_lossy()), count(file.n_bytes_before, "byte"));
        let (n_bytes, place) = (file.content.len(), safe(&place.to_string_lossy()));
        // It takes parts of the passing one, so it can be longer than before.
        line(match &shrunk.passing {
            Some(_) => format!("{name}: {} ({n_before} before), in {place}", count(n_bytes, "byte")),
            None => format!("{name}: {n_bytes} of {n_before} left, in {place}"),
        });
    }
    for (what, words) in &shrunk.words {
        line(match safe(&words.to_string_lossy()) {
            words if words.is_empty() => format!("{what} left: none"),
            words => format!("{what} left: {words}"),
        });
    }
    if let Some(place) = &output.passing {
        line(format!("the test passes with {}", safe(&place.to_string_lossy())));
    }
    let at = shrunk.place.as_ref().map(|place| format!(", at {}", safe(place))).unwrap_or_default();
    line(format!("failure: {}{at}", safe(&shrunk.signature.to_string())));
    if let Some(difference) = &shrunk.difference {
        line(safe(&compared(difference)));
    }
    shrunk.remarks.iter().for_each(|remark| line(remark.clone()));
    let n_run = usize::try_from(shrunk.n_run).unwrap_or(usize::MAX);
    line(format!("probes: {n_run} run, {} known", shrunk.n_cached));
    match shrunk.stopped {
        None if shrunk.passing.is_some() => {
            line("If any one of the differences is taken back or made, the test answers in another way.".to_owned());
        }
        None if shrunk.difference.is_some() => {
            line("If any byte is left out, the two versions do not differ in this way.".to_owned());
        }
        None => line("If any byte is left out, the test does not fail in this way.".to_owned()),
        Some(_) => line("Stopped before the end: more can be left out; the same command goes on from here.".to_owned()),
    }
    let as_text = |content| printable(content, MAX_COMPARED);
    if let (Some(passing), [file, ..]) = (&shrunk.passing, &shrunk.files[..]) {
        if let (Some(passing), Some(failing)) = (as_text(passing), as_text(&file.content)) {
            line(String::new());
            for text in difference::lines(passing, failing) {
                line(safe(&text));
            }
        }
        return text;
    }
    for file in shrunk.files.iter().filter(|file| is_printable(&file.content)) {
        line(String::new());
        if shrunk.files.len() > 1 {
            line(format!("{}:", safe(&file.name.to_string_lossy())));
        }
        line(Terminal.block(&Untrusted::from(&file.content[..])).trim_end_matches('\n').to_owned());
    }
    text
}

/// How the other version behaves.
fn compared(difference: &VersionDifference) -> String {
    let quoted = |line: &Option<String>| match line {
        Some(line) => format!("prints `{line}`"),
        None => "prints nothing more".to_owned(),
    };
    let name = &difference.name;
    match &difference.lines {
        Some([failing, other]) => format!("difference: {}; `{name}` {}", quoted(failing), quoted(other)),
        None => format!("difference: `{name}` ends with {}", difference.ending),
    }
}

/// Whether a content is short, not empty, and a text.
fn is_printable(content: &[u8]) -> bool {
    !content.is_empty() && printed(content).is_some()
}

fn printed(content: &[u8]) -> Option<&str> {
    printable(content, MAX_PRINTED).filter(|text| !text.is_empty())
}

/// A content as a text of at most `max` bytes.
fn printable(content: &[u8], max: usize) -> Option<&str> {
    let is_text = |text: &&str| !text.contains(|letter: char| letter.is_control() && !"\n\t\r".contains(letter));
    std::str::from_utf8(content).ok().filter(|_| content.len() <= max).filter(is_text)
}

/// The result for programs.
fn json(shrunk: &Shrunk, output: &ReducedFiles) -> Value {
    let file = |(file, place): (&ShrunkFile, &PathBuf)| {
        json!({
            "input": file.name.to_string_lossy(),
            "output": place.to_string_lossy(),
            "bytes_before": file.n_bytes_before,
            "bytes": file.content.len(),
            "text": printed(&file.content),
        })
    };
    json!({
        "schema": SCHEMA,
        "status": shrunk.stopped.map_or("minimal", Status::word),
        "inputs": shrunk.files.iter().zip(&output.places).map(file).collect::<Vec<_>>(),
        "words": shrunk.words.iter().map(|(what, words)| (what.to_string(), json!(words.to_string_lossy()))).collect::<serde_json::Map<_, _>>(),
        "passing": shrunk.passing.as_ref().zip(output.passing.as_ref()).map(|(content, place)| json!({
            "output": place.to_string_lossy(),
            "bytes": content.len(),
            "text": printed(content),
        })),
        "failure": {
            "ending": shrunk.signature.ending.to_string(),
            "line": shrunk.signature.printed,
            "place": shrunk.place,
        },
        "reference": shrunk.difference.as_ref().map(|difference| json!({
            "revision": difference.name,
            "ending": difference.ending.to_string(),
            "lines": difference.lines,
        })),
        "remarks": shrunk.remarks,
        "probes": { "run": shrunk.n_run, "known": shrunk.n_cached },
    })
}
