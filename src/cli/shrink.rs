//! `git idd shrink`: runs the driver, writes the reduced files, and prints the result.

use crate::cli::args::ShrinkArgs;
use crate::cli::console::Answer;
use crate::cli::console::Console;
use crate::cli::trace::json_line;
use crate::plural::count;
use crate::report::Status;
use crate::report::Untrusted;
use crate::report::escape::Terminal;
use crate::session;
use crate::session::context::Context;
use crate::session::failure::Failure;
use crate::session::interrupt::Interrupt;
use crate::session::shrink::Shrunk;
use crate::session::shrink::ShrunkFile;
use crate::world::files;
use crate::world::repo::locate::Location;
use serde_json::Value;
use serde_json::json;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::path::PathBuf;

/// The version of the object of `--json`.
const SCHEMA: &str = "git-idd/shrink/1";

/// A content with at most this many bytes is printed, if it is a text.
const MAX_PRINTED: usize = 2000;

/// Shrinks, and writes the files.
pub fn run(args: &ShrinkArgs, location: &Location, context: &Context, console: Console) -> Result<Answer, Failure> {
    let directory = match &args.output {
        Some(output) => context.directory.join(output),
        None => location.session_directory().join("shrunk"),
    };
    let names: Vec<&OsStr> = args.order.input.iter().map(|name| file_name(name)).collect();
    let is_twice = |(index, name): (usize, &&OsStr)| names[..index].contains(name);
    let places: Vec<PathBuf> = names
        .iter()
        .enumerate()
        .map(
            |(index, name)| if is_twice((index, name)) { directory.join(index.to_string()) } else { directory.clone() },
        )
        .zip(&names)
        .map(|(directory, name)| directory.join(name))
        .collect();
    if args.output.is_some()
        && let Some(place) = written(args, &places).into_iter().find(|place| place.exists())
    {
        return Err(Failure::new(Status::Usage, format!("`{}` exists already", place.display()))
            .with_hint("`--output` takes a directory in which the reduced files do not exist yet"));
    }
    let interrupt = Interrupt::register()?.0;
    let shrunk = session::shrink::run(&args.order, location, context, interrupt, &mut console.progress())?;
    let passing = shrunk.passing.as_ref().map(|content| (beside(&places[0]), content));
    if let Some((place, content)) = &passing {
        write(place, content, args.output.is_some())?;
    }
    for (file, place) in shrunk.files.iter().zip(&places) {
        write(place, &file.content, args.output.is_some())?;
    }
    let code = shrunk.stopped.map_or(0, |status| console.code(status));
    let text = if console.is_json { json_line(&json(&shrunk, &places)) } else { text(&shrunk, &places).into_bytes() };
    Ok(Answer::Text(text, code))
}

/// The files that are written.
fn written(args: &ShrinkArgs, places: &[PathBuf]) -> Vec<PathBuf> {
    let passing = args.order.passing.as_ref().and(places.first()).map(|place| beside(place));
    places.iter().cloned().chain(passing).collect()
}

/// The place of the passing input beside that of the failing one.
fn beside(place: &Path) -> PathBuf {
    let mut name = place.as_os_str().to_owned();
    name.push(".passing");
    PathBuf::from(name)
}

fn file_name(name: &OsStr) -> &OsStr {
    Path::new(name).file_name().unwrap_or(name)
}

fn write(place: &Path, content: &[u8], is_new: bool) -> Result<(), Failure> {
    let written = files::make_directory_of(place).and_then(|()| {
        if is_new { files::create_new(place)?.write_all(content) } else { files::replace(place, content) }
    });
    written.map_err(|error| {
        Failure::new(Status::Error, format!("failed to write the reduced input `{}`: {error}", place.display()))
            .with_hint("`--output <dir>` names another directory; known results are not run again")
    })
}

/// The result for people.
fn text(shrunk: &Shrunk, places: &[PathBuf]) -> String {
    let mut text = String::new();
    let safe = |text: &str| Terminal.line(&Untrusted::from(text));
    let mut line = |line: String| writeln!(text, "{line}").expect("a string takes all");
    for (file, place) in shrunk.files.iter().zip(places) {
        let (name, n_before) = (safe(&file.name.to_string_lossy()), count(file.n_bytes_before, "byte"));
        line(format!("{name}: {} of {n_before} left, in {}", file.content.len(), safe(&place.to_string_lossy())));
    }
    for (what, words) in &shrunk.words {
        line(format!("{what} left: {}", safe(&words.to_string_lossy())));
    }
    if let (Some(_), [place, ..]) = (&shrunk.passing, places) {
        line(format!("the test passes with {}", safe(&beside(place).to_string_lossy())));
    }
    let at = shrunk.place.as_ref().map(|place| format!(", at {}", safe(place))).unwrap_or_default();
    line(format!("failure: {}{at}", safe(&shrunk.signature.to_string())));
    let n_run = usize::try_from(shrunk.n_run).unwrap_or(usize::MAX);
    line(format!("probes: {n_run} run, {} known", shrunk.n_cached));
    match shrunk.stopped {
        None if shrunk.passing.is_some() => {
            line("If any one of the differences is taken back or made, the test answers in another way.".to_owned());
        }
        None => line("If any byte is left out, the test does not fail in this way.".to_owned()),
        Some(_) => line("Stopped before the end: more can be left out; the same command goes on from here.".to_owned()),
    }
    let files = shrunk.files.iter().map(|file| (file.name.to_string_lossy(), &file.content));
    let passing = shrunk.passing.iter().map(|content| ("passes".into(), content));
    for (name, content) in files.chain(passing).filter(|(_, content)| is_printable(content)) {
        line(String::new());
        if shrunk.files.len() > 1 || shrunk.passing.is_some() {
            line(format!("{}:", safe(&name)));
        }
        line(Terminal.block(&Untrusted::from(&content[..])).trim_end_matches('\n').to_owned());
    }
    text
}

/// Whether a content is short, not empty, and a text.
fn is_printable(content: &[u8]) -> bool {
    let is_text = |text: &str| !text.contains(|letter: char| letter.is_control() && !"\n\t\r".contains(letter));
    !content.is_empty() && content.len() <= MAX_PRINTED && std::str::from_utf8(content).is_ok_and(is_text)
}

fn printed(content: &[u8]) -> Option<&str> {
    std::str::from_utf8(content).ok().filter(|_| is_printable(content))
}

/// The result for programs.
fn json(shrunk: &Shrunk, places: &[PathBuf]) -> Value {
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
        "inputs": shrunk.files.iter().zip(places).map(file).collect::<Vec<_>>(),
        "words": shrunk.words.iter().map(|(what, words)| (what.to_string(), json!(words.to_string_lossy()))).collect::<serde_json::Map<_, _>>(),
        "passing": shrunk.passing.as_ref().zip(places.first()).map(|(content, place)| json!({
            "output": beside(place).to_string_lossy(),
            "bytes": content.len(),
            "text": printed(content),
        })),
        "failure": {
            "ending": shrunk.signature.ending.to_string(),
            "line": shrunk.signature.printed,
            "place": shrunk.place,
        },
        "probes": { "run": shrunk.n_run, "known": shrunk.n_cached },
    })
}
