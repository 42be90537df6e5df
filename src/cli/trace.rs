//! `git idd trace`: what a recording holds.

use crate::cli::args::TraceArgs;
use crate::cli::commands::Console;
use crate::cli::failure::Failure;
use crate::report::Status;
use crate::trace::TraceError;
use crate::trace::records::Records;
use crate::world::record::store;
use crate::world::record::store::Recording;
use crate::world::repo::locate::Location;
use serde::Serialize;
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
    let chosen = recording.chosen.and_then(|index| recording.processes.get(index));
    let traced = chosen.ok_or(TraceError::Damaged("no process is chosen"))?;
    let mut trace = store::trace(place, traced)?;
    let mut units = store::units(place, recording);
    let mut stat = Stat { program: traced.words.join(" "), ..Stat::default() };
    let mut records = Records::new(&trace);
    while records.next(&mut trace, &mut units)?.is_some() {
        stat.n_records += 1;
    }
    Ok(stat)
}
