//! The description of a recording: its processes, and the default one.

use crate::Failure;
use crate::order::TestCommand;
use crate::recorded::order::RecordOrder;
use idd_base::{CommitId, Ending, Observation, TreeId};
use idd_world::record::build::Logged;
use idd_world::record::listen::{TakenTrace, has_failed};
use idd_world::record::store::{self, Recording, Traced};
use std::ffi::OsStr;
use std::path::Path;

/// The description of the recording, still without the second run and the maps.
///
/// Errors: the selected program did not run.
pub(super) fn recording(
    order: &RecordOrder,
    tree: TreeId,
    commit: CommitId,
    seen: &Observation,
    logged: &[Logged],
    taken: Vec<TakenTrace>,
) -> Result<Recording, Failure> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let pids: Vec<u32> = taken.iter().map(|taken| taken.process.pid).collect();
    let traced = |(index, taken): (usize, TakenTrace)| Traced {
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
        is_java: taken.is_java,
        has_values: taken.has_values,
        left_out: taken.left_out,
    };
    let processes: Vec<Traced> = taken.into_iter().enumerate().map(traced).collect();
    let chosen = choose(&processes, order.program.as_deref(), seen.ending);
    let words = match &order.command {
        TestCommand::Shell(line) => vec![line.to_string_lossy().into_owned()],
        TestCommand::Argv(words) => words.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
    };
    let plain = |entry: &Logged| match entry {
        Logged::Plain(source, why) => Some((source.clone(), why.clone())),
        _ => None,
    };
    if let (Some(program), None) = (&order.program, chosen) {
        let names: Vec<&str> = processes.iter().map(|traced| traced.program.as_str()).collect();
        let program = program.to_string_lossy();
        let failure = Failure::error(format!("the test ran no instrumented program `{program}`"));
        return Err(failure.with_hint(format!("these it ran: {}", names.join(", "))));
    }
    Ok(Recording {
        version: store::VERSION,
        commit: commit.to_string(),
        tree: Some(tree.to_string()),
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
        losses: Vec::new(),
    })
}

/// The default process, of the selected program if there is one: the last that ended as the test did; else the last
/// that failed; else the last. Among processes that a program forked, only the first one counts, unless it did not
/// fail. A Java virtual machine counts as one that failed if the test did, but less than one that is known to.
fn choose(processes: &[Traced], program: Option<&OsStr>, ending: Ending) -> Option<usize> {
    let is_named =
        |traced: &Traced| program.is_none_or(|program| Path::new(&traced.program).file_name() == Some(program));
    let is_alike = |end: Option<u32>| match (ending, end) {
        (Ending::Exit(code), Some(end @ 0..256)) => u32::try_from(code) == Ok(end),
        // For a shell, exit code 128 + n means signal n.
        (Ending::Exit(code), Some(end)) => u32::try_from(code) == Ok(end - 128),
        (Ending::Signal(signal), Some(end)) => u32::try_from(signal) == Ok(end & 0xff) && end >= 256,
        (Ending::Timeout, None) => true,
        _ => false,
    };
    let named = || processes.iter().enumerate().filter(|(_, traced)| is_named(traced));
    let rank = |traced: &Traced| {
        let is_failed =
            if traced.is_java { ending != Ending::Exit(0) } else { has_failed(traced.end, traced.is_left, ending) };
        let is_alike = is_failed && !traced.is_java && is_alike(traced.end);
        (is_alike, is_failed && !traced.is_java, is_failed, !traced.is_forked)
    };
    named().max_by_key(|(index, traced)| (rank(traced), *index)).map(|(index, _)| index)
}
