//! `git idd trace`: what a recording holds.

use crate::cli::args::TraceArgs;
use crate::cli::commands::Console;
use crate::cli::failure::Failure;
use crate::report::Status;
use crate::trace::TraceError;
use crate::trace::container::Kind;
use crate::trace::records::Records;
use crate::world::record::store;
use crate::world::record::store::Recording;
use crate::world::repo::locate::Location;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

/// What `git idd trace stat` counts.
#[derive(Debug, Default, Serialize)]
struct Stat {
    recording: String,
    program: String,
    n_threads: usize,
    n_records: u64,
    n_events: u64,
    n_bytes: u64,
    n_functions: usize,
}

/// Prints what was asked for.
pub fn run(args: &TraceArgs, location: &Location, console: Console) -> Result<Vec<u8>, Failure> {
    let session = location.session_directory();
    let name = args.recording.clone().or_else(|| store::last(&session));
    let name = name.ok_or_else(|| {
        Failure::new(Status::Error, "nothing was recorded in this worktree")
            .with_hint("`git idd record` records a test")
    })?;
    let place = store::directory(&session).join(&name);
    let recording = store::read(&place).map_err(|error| Failure::from_error(&error))?;
    let stat = stat(&place, &recording).map_err(|error| Failure::from_error(&error))?;
    let stat = Stat { recording: name, ..stat };
    if console.is_json {
        let mut text = serde_json::to_vec(&stat).map_err(|error| Failure::from_error(&error))?;
        text.push(b'\n');
        return Ok(text);
    }
    Ok(format!(
        "recording {} of {}\n{} records of {} functions in {} threads, {} accesses, branches and calls, {} bytes\n",
        stat.recording, stat.program, stat.n_records, stat.n_functions, stat.n_threads, stat.n_events, stat.n_bytes
    )
    .into_bytes())
}

fn stat(place: &Path, recording: &Recording) -> Result<Stat, TraceError> {
    use crate::instrument::instruction::Op;
    let chosen = recording.chosen.and_then(|index| recording.processes.get(index));
    let traced = chosen.ok_or(TraceError::Damaged("no process is chosen"))?;
    let mut trace = store::trace(place, traced)?;
    let mut units = store::units(place, recording);
    let threads: BTreeSet<u32> =
        trace.chunks().iter().filter(|chunk| chunk.kind == Kind::Records).map(|chunk| chunk.thread).collect();
    let mut stat = Stat { program: traced.words.join(" "), n_threads: threads.len(), ..Stat::default() };
    let mut functions = BTreeSet::new();
    let mut n_events_of: Vec<Option<u64>> = Vec::new();
    for thread in threads {
        let mut records = Records::new(&trace, thread, 0);
        while let Some(record) = records.next(&mut trace, &mut units)? {
            let (segment, entry, n_bytes) = (record.segment, record.entry, record.bytes.len());
            stat.n_records += 1;
            stat.n_bytes += n_bytes as u64;
            functions.insert(entry.body);
            if n_events_of.len() <= segment as usize {
                n_events_of.resize(segment as usize + 1, None);
            }
            let n_events = *n_events_of[segment as usize].get_or_insert_with(|| {
                let body = units.body(entry.body);
                let is_event = |op: &Op| {
                    matches!(op, Op::Load | Op::Store | Op::Branch(..) | Op::Switch(..) | Op::Call(..) | Op::Return)
                };
                let instructions = body.instructions(body.segment(segment));
                instructions.iter().filter(|instruction| is_event(&instruction.op)).count() as u64
            });
            stat.n_events += n_events;
        }
    }
    stat.n_functions = functions.len();
    Ok(stat)
}
