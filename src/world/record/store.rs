//! The stored recordings, and the description of each.
//!
//! ```text
//! <idd directory of the worktree>/recordings/<id>/
//!     recording.json   see `Recording`
//!     maps/<n>.map     see `instrument::map`
//!     <n>.trace        see `trace::container`
//! ```

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::files;
use idd_trace::instrument::map::UnitMap;
use idd_trace::native::units::RecordedUnits;
use idd_trace::{Trace, TraceError};

/// The description of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// The form of this file.
    pub version: u32,
    /// The revision that was recorded.
    pub commit: String,
    /// The tree that was checked out: a version of the revision with other inputs or held files, or its own tree.
    pub tree: Option<String>,
    /// The test, as it was given.
    pub command: Vec<String>,
    /// How the test ended.
    pub ending: String,
    /// Processes that were traced, in the order in which they began.
    pub processes: Vec<Traced>,
    /// The default process.
    pub chosen: Option<usize>,
    /// Sources that were instrumented.
    pub n_instrumented: usize,
    /// Sources that were compiled without instrumentation, with the reason.
    pub plain: Vec<(String, String)>,
    /// How the test ended without instrumentation; `None` if it was not run.
    pub reference: Option<String>,
    /// Whether it printed the same text without instrumentation.
    pub is_same_output: Option<bool>,
    /// Whether a second run went through the same segments.
    pub is_repeatable: Option<bool>,
    /// The units that were instrumented.
    pub units: Vec<UnitRange>,
    /// Why records of Java programs are missing, a sentence without a full stop for each reason.
    pub losses: Vec<String>,
}

/// A unit and its segments: number, first segment, end.
pub type UnitRange = (u32, u32, u32);

/// A process of a recording.
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traced {
    /// Its trace.
    pub file: String,
    /// The program.
    pub program: String,
    /// Its arguments.
    pub words: Vec<String>,
    /// Its number.
    pub pid: u32,
    /// Bytes of its records.
    pub n_bytes: u64,
    /// How it ended, see [`container`](idd_trace::container).
    pub end: Option<u32>,
    /// Whether records are missing at the end because of the limit.
    pub is_cut: bool,
    /// Whether records are missing at the end for another reason.
    pub is_lost: bool,
    /// Bytes of records that were dropped at the beginning because of the limit.
    pub n_given_up: u64,
    /// Bytes of the trace on disk.
    pub n_packed: u64,
    /// If it was forked and executed no other program: its parent, by its number in the recording.
    pub forked_by: Option<usize>,
    /// Whether it was forked and executed no other program; its parent may have no records.
    pub is_forked: bool,
    /// Whether it was killed because it outlived the test.
    pub is_left: bool,
    /// Whether it is a Java virtual machine; how one ended is not known.
    pub is_java: bool,
    /// Whether values were recorded, beside the steps.
    pub has_values: bool,
    /// The methods of recorded Java classes that were not recorded, and why.
    pub left_out: Vec<String>,
}

/// The form of `recording.json`.
pub const VERSION: u32 = 1;

/// The maximum size of the description of a recording, and of the map of a unit.
const MAX_RECORDING: u64 = 64 << 20;
const MAX_MAP: u64 = 1 << 30;

/// The directory of all recordings.
pub fn directory(idd_directory: &Path) -> PathBuf {
    idd_directory.join("recordings")
}

/// The name of the last complete recording.
pub fn last(idd_directory: &Path) -> Option<String> {
    all(idd_directory).pop()
}

/// The directories of all recordings but the last one.
pub fn older(idd_directory: &Path) -> Vec<PathBuf> {
    let place = directory(idd_directory);
    let last = last(idd_directory);
    let names = files::names(&place).into_iter().filter(|name| name.to_str() != last.as_deref());
    names.map(|name| place.join(name)).collect()
}

/// A name for a new recording; names sort by age.
pub fn new_name(idd_directory: &Path) -> String {
    let names = files::names(&directory(idd_directory));
    let number = names.iter().filter_map(|name| name.to_str()?.parse::<u32>().ok()).max().unwrap_or(0);
    format!("{:04}", number + 1)
}

/// Reads the description of a recording.
pub fn read(place: &Path) -> io::Result<Recording> {
    let recording: Recording =
        serde_json::from_slice(&files::bytes_up_to(&place.join("recording.json"), MAX_RECORDING)?)?;
    if recording.version == VERSION { Ok(recording) } else { Err(io::ErrorKind::Unsupported.into()) }
}

/// Writes the description of a recording.
pub fn write(place: &Path, recording: &Recording) -> io::Result<()> {
    files::replace(&place.join("recording.json"), &serde_json::to_vec_pretty(recording)?)
}

/// Copies the maps of a build into a recording; returns its units.
pub fn take_maps(build: &Path, place: &Path) -> io::Result<Vec<UnitRange>> {
    let (from, to) = (build.join("maps"), place.join("maps"));
    fs::create_dir_all(&to)?;
    let mut units = Vec::new();
    for name in files::names(&from) {
        let bytes = fs::read(from.join(&name))?;
        let map = UnitMap::read(&bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        units.push((map.unit, map.segments().start, map.segments().end));
        fs::write(to.join(&name), &bytes)?;
    }
    units.sort_unstable();
    Ok(units)
}

/// The units of a recording.
pub fn units(place: &Path, recording: &Recording) -> RecordedUnits {
    units_at(place, &recording.units)
}

/// Units whose maps were copied to a place.
pub fn units_at(place: &Path, ranges: &[UnitRange]) -> RecordedUnits {
    let maps = place.join("maps");
    let units = ranges.iter().map(|(unit, first, end)| (*unit, *first..*end));
    RecordedUnits::new(units, Box::new(move |unit| files::bytes_up_to(&maps.join(format!("{unit}.map")), MAX_MAP)))
}

/// A trace of a recording. The trace of a forked process begins with the steps of its parent.
///
/// The description is written when all traces are complete: a trace without an end was cut.
pub fn trace(place: &Path, recording: &Recording, traced: &Traced) -> Result<Trace, TraceError> {
    let trace = open(&place.join(&traced.file))?;
    if !trace.is_complete {
        return Err(TraceError::Damaged("it is cut short"));
    }
    // A parent is always an earlier process, so this ends.
    match traced.forked_by.and_then(|index| recording.processes.get(index)) {
        Some(parent) if parent.forked_by.is_none_or(|index| Some(index) < traced.forked_by) => {
            Ok(trace.after(self::trace(place, recording, parent)?))
        }
        _ => Ok(trace),
    }
}

/// The names of all complete recordings, oldest first.
pub fn all(idd_directory: &Path) -> Vec<String> {
    let place = directory(idd_directory);
    let names = files::names(&place).into_iter().filter(|name| place.join(name).join("recording.json").exists());
    names.filter_map(|name| name.into_string().ok()).collect()
}

/// A trace, by its file.
pub fn open(file: &Path) -> Result<Trace, TraceError> {
    Trace::open(Box::new(BufReader::new(File::open(file)?)))
}
