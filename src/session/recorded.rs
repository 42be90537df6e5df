//! Opens a stored recording.

pub mod order;

use crate::Failure;
use idd_report::{Terminal, Untrusted};
use idd_trace::native::NativePlayer;
use idd_trace::spool::Spool;
use idd_trace::{ChunkKind, Execution, Trace, TraceError, java};
use idd_world::record::store::{self, Recording, Traced};
use idd_world::repo::Location;
use idd_world::spool;
use std::path::{Path, PathBuf};

/// Which process of which recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessChoice {
    /// The recording; the last one if it is `None`.
    pub recording: Option<String>,
    /// The process, by its number in the recording; the chosen one if it is `None`.
    pub process: Option<usize>,
}

/// A process of a recording.
pub struct RecordedProcess {
    /// The name of the recording.
    pub name: String,
    /// Its description.
    pub recording: Recording,
    /// The number of the process.
    pub process: usize,
    /// Its run.
    pub run: ProcessRun,
}

/// The run of a process, by the language of its program.
pub enum ProcessRun {
    /// A run of a C program.
    Native(Box<NativePlayer>),
    /// A run of a Java program.
    Java(Box<java::player::JavaPlayer>),
}

impl ProcessRun {
    /// The run, for a command that works in each language.
    pub fn execution(&mut self) -> &mut dyn Execution {
        match self {
            Self::Native(player) => &mut **player,
            Self::Java(run) => &mut **run,
        }
    }

    /// The run, for a command that reads only recordings of C programs.
    ///
    /// Errors: it is one of a program in another language.
    pub fn native(&mut self) -> Result<&mut NativePlayer, Failure> {
        match self {
            Self::Native(player) => Ok(player),
            Self::Java(_) => Err(failed(&TraceError::Java)),
        }
    }

    /// As [`native`](Self::native), to keep it.
    ///
    /// Errors: it is one of a program in another language.
    pub fn into_native(self) -> Result<NativePlayer, Failure> {
        match self {
            Self::Native(player) => Ok(*player),
            Self::Java(_) => Err(failed(&TraceError::Java)),
        }
    }
}

impl RecordedProcess {
    /// The description of the process.
    pub fn traced(&self) -> &Traced {
        &self.recording.processes[self.process]
    }
}

/// Finds a recording: its name, its directory, and its description.
pub fn find(which: &ProcessChoice, location: &Location) -> Result<(String, PathBuf, Recording), Failure> {
    let session = location.session_directory();
    // `5` is short for `0005`.
    let full = |name: &String| name.parse::<u32>().map_or_else(|_| name.clone(), |number| format!("{number:04}"));
    let name = which.recording.as_ref().map(full).or_else(|| store::last(&session));
    let name = name.ok_or_else(|| {
        Failure::error("nothing was recorded in this worktree").with_hint("`git idd record` records a test")
    })?;
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let place = store::directory(&session).join(&name);
    let recording = if is_name { store::read(&place).ok() } else { None };
    let recording = recording.ok_or_else(|| {
        let shown = Terminal.line(&Untrusted::from(name.as_str()));
        Failure::error(format!("there is no recording `{shown}` that can be read"))
            .with_hint("without `--recording` the last one is taken; `git idd trace list` shows all")
    })?;
    Ok((name, place, recording))
}

/// Opens a process of a recording, for a command that shows values or follows them.
///
/// Errors: it has the steps alone.
pub fn open(which: &ProcessChoice, location: &Location) -> Result<RecordedProcess, Failure> {
    let recorded = open_steps(which, location)?;
    if recorded.traced().has_values {
        return Ok(recorded);
    }
    let message = format!("recording {} has no values, only steps", recorded.name);
    Err(Failure::error(message).with_hint(
        "record the test again without `--steps`; `git idd trace stat` and `git idd trace tree` read this recording",
    ))
}

/// Opens a process of a recording, for a command that needs no values.
pub fn open_steps(which: &ProcessChoice, location: &Location) -> Result<RecordedProcess, Failure> {
    let (name, place, recording) = find(which, location)?;
    let process = which.process.or(recording.chosen);
    let process = process.filter(|process| *process < recording.processes.len()).ok_or_else(|| {
        let n = recording.processes.len();
        Failure::error("there is no such process in the recording")
            .with_hint(format!("it has {n}; `--process` takes their numbers, from 0"))
    })?;
    let run = run(&place, &recording, process).map_err(|error| failed(&error))?;
    Ok(RecordedProcess { name, recording, process, run })
}

/// The run of a process of a recording that is stored at a place.
pub fn run(place: &Path, recording: &Recording, process: usize) -> Result<ProcessRun, TraceError> {
    let trace = store::trace(place, recording, &recording.processes[process])?;
    let spool = spool::spool(place);
    if is_java(&trace) {
        return java(trace, spool);
    }
    let mut player = NativePlayer::new(trace, store::units(place, recording))?;
    player.spool = Some(spool);
    Ok(ProcessRun::Native(Box::new(player)))
}

/// Whether a trace is one of a Java program.
pub fn is_java(trace: &Trace) -> bool {
    trace.chunks().iter().any(|chunk| chunk.kind == ChunkKind::Classes)
}

/// The run of a Java program.
fn java(trace: Trace, spool: Spool) -> Result<ProcessRun, TraceError> {
    let mut player = java::player::JavaPlayer::new(trace)?;
    player.spool = Some(spool);
    Ok(ProcessRun::Java(Box::new(player)))
}

/// A recording that cannot be read, with advice.
pub fn failed(error: &TraceError) -> Failure {
    let failure = Failure::from_error(error);
    match error {
        TraceError::Version | TraceError::Damaged(_) | TraceError::Program(_) => {
            failure.with_hint("record it again with `git idd record`")
        }
        TraceError::Java => failure.with_hint(
            "`git idd chop` finds the statements on which its failure depends; `slice`, `explain`, `debug`, `dap` and `trace` \
             read it, too",
        ),
        TraceError::Io(_) => failure.with_hint(
            "`git idd trace list` shows the recordings; record the test again with `git idd record` if a file is gone",
        ),
    }
}
