//! What a recording is, of what was seen: its processes, which of them is meant, and how it is told.

use crate::cli::args::RecordArgs;
use crate::cli::args::TestCommand;
use crate::cli::failure::Failure;
use crate::cli::record::missed::shown;
use crate::outcome::Ending;
use crate::outcome::Observation;
use crate::report::Status;
use crate::trace::container::REPLACED;
use crate::world::record::build::Logged;
use crate::world::record::listen::Taken;
use crate::world::record::listen::has_failed;
use crate::world::record::store;
use crate::world::record::store::Recording;
use crate::world::record::store::Traced;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;

/// What the recording says of itself; the second run and the maps are still missing.
///
/// Errors: the program that is meant did not run.
pub(super) fn recording(
    args: &RecordArgs,
    commit: &str,
    seen: &Observation,
    (logged, taken): (&[Logged], Vec<Taken>),
) -> Result<Recording, Failure> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let pids: Vec<u32> = taken.iter().map(|taken| taken.process.pid).collect();
    let traced = |(index, taken): (usize, Taken)| Traced {
        forked_by: taken
            .process
            .forked_at
            .and_then(|_| pids[..index].iter().rposition(|pid| *pid == taken.process.parent)),
        n_given_up: taken.n_given_up,
        n_packed: taken.n_packed,
        file: taken.file,
        program: text(&taken.process.program),
        words: taken.process.arguments(),
        pid: taken.process.pid,
        n_bytes: taken.n_bytes,
        end: taken.end,
        is_left: taken.is_left,
        is_forked: taken.process.forked_at.is_some(),
        is_cut: taken.is_cut,
        is_lost: taken.is_lost,
    };
    let processes: Vec<Traced> = taken.into_iter().enumerate().map(traced).collect();
    let chosen = choose(&processes, args.program.as_deref(), seen.ending);
    let words = match &args.command {
        TestCommand::Shell(line) => vec![line.to_string_lossy().into_owned()],
        TestCommand::Argv(words) => words.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
    };
    let plain = |entry: &Logged| match entry {
        Logged::Plain(source, why) => Some((source.clone(), why.clone())),
        _ => None,
    };
    if let (Some(program), None) = (&args.program, chosen) {
        let names: Vec<&str> = processes.iter().map(|traced| traced.program.as_str()).collect();
        let program = program.to_string_lossy();
        let failure = Failure::new(Status::Error, format!("the test ran no instrumented program `{program}`"));
        return Err(failure.with_hint(format!("these it ran: {}", names.join(", "))));
    }
    Ok(Recording {
        version: store::VERSION,
        commit: commit.to_owned(),
        command: words,
        ending: seen.ending.to_string(),
        chosen,
        processes,
        n_instrumented: logged.iter().filter(|entry| matches!(entry, Logged::Instrumented(_))).count(),
        plain: logged.iter().filter_map(plain).collect(),
        units: Vec::new(),
        reference: None,
        is_same_output: None,
        is_repeatable: None,
    })
}

/// The process that is meant, of the named program if one is named: the last that ended as the test did; else the last that failed; else the last. Of
/// processes that a program forked only the first one counts, unless it did not fail.
fn choose(processes: &[Traced], program: Option<&OsStr>, ending: Ending) -> Option<usize> {
    let is_named =
        |traced: &Traced| program.is_none_or(|program| Path::new(&traced.program).file_name() == Some(program));
    let is_alike = |end: Option<u32>| match (ending, end) {
        (Ending::Exit(code), Some(end @ 0..256)) => u32::try_from(code) == Ok(end),
        // A shell says 128 + n for signal n.
        (Ending::Exit(code), Some(end)) => u32::try_from(code) == Ok(end - 128),
        (Ending::Signal(signal), Some(end)) => u32::try_from(signal) == Ok(end & 0xff) && end >= 256,
        (Ending::Timeout, None) => true,
        _ => false,
    };
    let named = || processes.iter().enumerate().filter(|(_, traced)| is_named(traced));
    let rank = |traced: &Traced| {
        let is_failed = has_failed((traced.end, traced.is_left), ending);
        (is_failed && is_alike(traced.end), is_failed, !traced.is_forked)
    };
    named().max_by_key(|(index, traced)| (rank(traced), *index)).map(|(index, _)| index)
}

/// The recording, for people.
pub(super) fn text(name: &str, recording: &Recording) -> String {
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{line}").expect("a string takes all");
    line(format!("recording {name}: the test ended with {}", recording.ending));
    line(format!(
        "sources instrumented: {}, compiled as they are: {}",
        recording.n_instrumented,
        recording.plain.len()
    ));
    for (source, why) in &recording.plain {
        line(format!("  {}: {}", shown(source), shown(why)));
    }
    if let Some(reference) = recording.reference.as_ref().filter(|reference| **reference != recording.ending) {
        line(format!("warning: without instrumentation the test ends with {reference}, so this is not the same run"));
    } else if recording.is_same_output == Some(false) {
        line("note: without instrumentation the test ends in the same way, but prints something else".to_owned());
    }
    if recording.ending == Ending::Timeout.to_string() {
        line("note: the test reached its time limit, and was not run again".to_owned());
    } else if recording.is_repeatable == Some(false) {
        line("warning: a second run took another path, so experiments may not hold for this one".to_owned());
    }
    if recording.processes.iter().any(|traced| traced.is_cut) {
        line(
            "warning: the end of the run was left out: the trace reached its limit; `--max-trace` sets another one"
                .to_owned(),
        );
    }
    if recording.processes.iter().any(|traced| traced.n_given_up > 0) {
        line(
            "warning: the beginning of the run was left out: the trace reached its limit; `--max-trace` sets another \
              one, `--keep first` keeps the beginning"
                .to_owned(),
        );
    }
    for (index, traced) in recording.processes.iter().enumerate() {
        let mark = if recording.chosen == Some(index) { "*" } else { " " };
        let size = match traced.n_bytes {
            0 => "no records".to_owned(),
            bytes => format!("{} of records, {} on disk", size_of(bytes), size_of(traced.n_packed)),
        };
        let left_out = match traced.n_given_up {
            0 => String::new(),
            bytes => format!(", the first {} left out", size_of(bytes)),
        };
        let end = ending(recording, index).map(|end| format!("; {end}")).unwrap_or_default();
        let forked = match traced.forked_by {
            Some(parent) => format!("forked by {parent}: "),
            None if traced.is_forked => "forked by a process without records: ".to_owned(),
            None => String::new(),
        };
        line(format!("{mark} {index}: {forked}{} ({size}{left_out}{end})", shown(&traced.words.join(" "))));
    }
    text
}

/// What is said of a process whose last records could not be had.
const LOST: &str = "it closed the connection to the recorder, or had more than 256 threads: only the first MiB of the \
                    records after that was kept, for each thread";

/// What is to be known of how a process ended, and of what is missing therefore; `None` of one that exited or was killed under its own eyes.
fn ending(recording: &Recording, index: usize) -> Option<&'static str> {
    let traced = &recording.processes[index];
    let mut later = recording.processes[index + 1..].iter();
    let is_replaced = later.any(|other| other.pid == traced.pid && !other.is_forked);
    match traced.end {
        // By a call that is not seen, if it does not say so itself.
        Some(REPLACED) | None if is_replaced => Some("then it ran another program"),
        Some(REPLACED) => Some("then it ran another program, which is not instrumented or was not given its variables"),
        _ if traced.is_lost => Some(LOST),
        Some(_) => None,
        None if traced.is_left => Some("it outlived the test"),
        None if recording.ending == Ending::Timeout.to_string() => None,
        None => Some("it was killed"),
    }
}

/// Bytes, for people.
fn size_of(n_bytes: u64) -> String {
    match n_bytes {
        0..0x10_0000 => format!("{} KiB", n_bytes.div_ceil(1 << 10)),
        0x10_0000..0x4000_0000 => format!("{} MiB", n_bytes >> 20),
        _ => format!("{}.{} GiB", n_bytes >> 30, ((n_bytes >> 20) & 0x3ff) * 10 / 1024),
    }
}
