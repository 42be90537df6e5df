//! `git idd record`: runs the driver and prints the recording.

use crate::console::CommandScene;
use idd_base::{Ending, count};
use idd_session::Failure;
use idd_session::record::missed::shown;
use idd_session::recorded::order::RecordOrder;
use idd_trace::container::REPLACED;
use idd_world::record::store::Recording;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Records; the result is the printed text.
pub fn run(order: &RecordOrder, scene: CommandScene<'_>) -> Result<String, Failure> {
    let CommandScene { location, context, console } = scene;
    let (name, recording) = idd_session::record::run(order, location, context, &mut console.progress())?;
    Ok(text(&name, &recording))
}

/// The recording, for people.
pub fn text(name: &str, recording: &Recording) -> String {
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{line}").expect("a string takes all");
    line(format!("recording {name}: the test ended with {}", recording.ending));
    let (n_instrumented, n_plain) = (recording.n_instrumented, recording.plain.len());
    let is_java = recording.processes.iter().any(|traced| traced.is_java);
    if n_instrumented + n_plain > 0 || !is_java {
        line(format!("sources instrumented: {n_instrumented}, compiled as they are: {n_plain}"));
    }
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
    let mut cut = recording.processes.iter().filter(|traced| traced.is_cut).peekable();
    if cut.peek().is_some() {
        let of_java =
            if cut.any(|traced| traced.is_java) { ", and of a Java program the beginning is kept" } else { "" };
        line(format!(
            "warning: the end of the run was left out: the trace reached its limit{of_java}; `--max-trace` sets another one"
        ));
    }
    if recording.processes.iter().any(|traced| traced.is_java && traced.is_lost) {
        line(
            "warning: the end of the run was left out: a Java program could not write more records, for example because \
              the disk was full"
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
    for text in left_out(recording.processes.iter().flat_map(|traced| &traced.left_out)) {
        line(text);
    }
    for loss in &recording.losses {
        line(format!("warning: {}", shown(loss)));
    }
    for (index, traced) in recording.processes.iter().enumerate() {
        let mark = if recording.chosen == Some(index) { "*" } else { " " };
        let size = match traced.n_bytes {
            0 => "no records".to_owned(),
            bytes => {
                let content = if traced.has_values { "records" } else { "records without values" };
                format!("{} of {content}, {} on disk", size_of(bytes), size_of(traced.n_packed))
            }
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

/// The number of methods that are named.
const N_NAMED: usize = 8;

/// Lines on the methods that were not recorded, each method once.
pub fn left_out<'m>(methods: impl Iterator<Item = &'m String>) -> Vec<String> {
    let methods: BTreeSet<&String> = methods.collect();
    let n = methods.len();
    let what = if n == 1 { "method of a recorded Java class was" } else { "methods of recorded Java classes were" };
    let first = (n > 0).then(|| format!("warning: {n} {what} left out:"));
    let named = methods.into_iter().take(N_NAMED).map(|method| format!("  {}", shown(method)));
    let more = n.checked_sub(N_NAMED + 1).map(|n| format!("  and {}", count(n + 1, "more method")));
    first.into_iter().chain(named).chain(more).collect()
}

/// The note about a process whose last records are missing.
const LOST: &str = "it closed the connection to the recorder, or had more than 256 threads: only the first MiB of the \
                    records after that was kept, for each thread";

/// A note on the end of a process, and on records that are missing because of it; `None` if it exited, or was killed
/// while it was recorded.
fn ending(recording: &Recording, index: usize) -> Option<&'static str> {
    let traced = &recording.processes[index];
    let mut later = recording.processes[index + 1..].iter();
    let is_replaced = later.any(|other| other.pid == traced.pid && !other.is_forked);
    match traced.end {
        // By a system call that is not recorded, if the process does not report it.
        Some(REPLACED) | None if is_replaced => Some("then it ran another program"),
        Some(REPLACED) => Some("then it ran another program, which is not instrumented or was not given its variables"),
        // What it became is not known.
        _ if traced.is_java => traced.is_lost.then_some("some of its records are missing"),
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
