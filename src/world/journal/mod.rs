//! The journal: the append-only record of a hunt, and the only truth about it.
//!
//! Every hunt owns one [`JournalSegment`] `idd/segments/<hunt id>.log` in the common git directory. A segment is a text file
//! with one [`Record`] in each line, each with its own checksum. One process at a time writes it, and holds an advisory
//! lock on it. Other processes can read it at the same time: as a whole with [`read()`], record by record with
//! [`SegmentReader`]. [`Replay`] finds the unfinished work of a killed hunt.
//!
//! This order makes a kill harmless: [`Record::Intent`], then the run, then [`Record::Observed`] made durable, then
//! [`Record::Consumed`]. The journal knows no searches and verdicts; it stores observations.

mod line;
mod lock;
pub(crate) mod path_text;
mod read;
mod record;
mod replay;
mod segment;

use std::path::{Path, PathBuf};
use std::{fs, io};

pub use line::DamageKind;
pub use lock::FileLock;
pub use read::{Damage, ReadSegment, RecordLocation, SegmentReader, read, read_at};
pub use record::{AboutRecord, AnswerRecord, FORMAT_VERSION, PlanRecord, Record};
pub use replay::{OpenIntent, Replay};
pub use segment::{CutTail, JournalSegment};
use thiserror::Error;

/// Why the journal cannot be written or read.
///
/// A damaged segment is no error: reading returns the valid prefix and the start of the [`Damage`].
#[derive(Debug, Error)]
pub enum JournalError {
    /// The caller reports that this hunt is already running, and stops.
    #[error("failed to lock the journal `{path}`: another process is writing it")]
    Busy {
        /// The segment.
        path: PathBuf,
    },
    /// The caller resumes the hunt, or chooses another id.
    #[error("failed to start the journal `{path}`: it holds a hunt already")]
    Exists {
        /// The segment.
        path: PathBuf,
    },
    /// The caller starts the hunt again: there is no record to resume from.
    #[error("failed to read the journal `{path}`: it holds no test plan")]
    NoPlan {
        /// The segment.
        path: PathBuf,
    },
    /// The caller does not change the segment: another version of the program wrote it.
    #[error("failed to read the journal `{path}`: it has format {version}, this program knows format {FORMAT_VERSION}")]
    Version {
        /// The segment.
        path: PathBuf,
        /// Its format.
        version: u32,
    },
    /// The caller stops: the id is not one or more of `0-9`, `a-z` and `-`.
    #[error("not the id of a hunt: `{id}`")]
    HuntId {
        /// The given id.
        id: String,
    },
    /// The caller stops the hunt.
    #[error("failed to {action} `{path}`")]
    Io {
        /// The action, as in "failed to ...".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl JournalError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }
}

/// The directory of all segments inside `idd_directory`.
pub fn segments_directory(idd_directory: &Path) -> PathBuf {
    idd_directory.join("segments")
}

/// The segment of the hunt `id` inside `idd_directory`; the id is one or more of `0-9`, `a-z` and `-`.
pub fn segment_path(idd_directory: &Path, id: &str) -> Result<PathBuf, JournalError> {
    if is_hunt_id(id) {
        Ok(segments_directory(idd_directory).join(format!("{id}.log")))
    } else {
        Err(JournalError::HuntId { id: id.to_owned() })
    }
}

/// A kind of explanation that is stored beside a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplanationKind {
    /// A chain of faulty values.
    Chain,
    /// A chop.
    Chop,
    /// A walk to the first wrong step.
    Walk,
    /// Error invariants.
    Invariants,
}

impl ExplanationKind {
    /// All kinds, in the order of reports.
    pub const ALL: [Self; 4] = [Self::Chain, Self::Chop, Self::Walk, Self::Invariants];
}

/// The place of an explanation of a segment's hunt. It is removed together with the segment.
pub fn explanation_of(segment: &Path, kind: ExplanationKind) -> PathBuf {
    segment.with_extension(match kind {
        ExplanationKind::Chain => "explanation.json",
        ExplanationKind::Chop => "chop.json",
        ExplanationKind::Walk => "walk.json",
        ExplanationKind::Invariants => "invariants.json",
    })
}

/// All segments inside `idd_directory` as (hunt id, path), ordered by id; empty if the directory does not exist yet.
pub fn segments(idd_directory: &Path) -> Result<Vec<(String, PathBuf)>, JournalError> {
    let directory = segments_directory(idd_directory);
    let entries = match fs::read_dir(&directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(JournalError::io("list the journal directory", &directory)(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(JournalError::io("list the journal directory", &directory))?;
        let name = entry.file_name();
        if let Some(id) = name.to_str().and_then(|name| name.strip_suffix(".log"))
            && is_hunt_id(id)
        {
            found.push((id.to_owned(), entry.path()));
        }
    }
    found.sort();
    Ok(found)
}

/// Whether a process is writing the segment at `path`. Changes nothing; a missing segment has no writer.
pub fn is_written(path: &Path) -> Result<bool, JournalError> {
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(JournalError::io("open the journal", path)(error)),
    };
    FileLock::is_held(file).map_err(JournalError::io("lock the journal", path))
}

fn is_hunt_id(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hunt_id_cannot_leave_the_directory() {
        let idd = Path::new("/idd");
        assert_eq!(segment_path(idd, "2026-a1").unwrap(), Path::new("/idd/segments/2026-a1.log"));
        for id in ["", "..", "a/b", "A", "a.b", "ä", "a\n"] {
            assert!(matches!(segment_path(idd, id), Err(JournalError::HuntId { .. })), "{id:?}");
        }
    }

    #[test]
    fn segments_are_listed_in_the_order_of_their_ids_and_nothing_else_is() {
        let directory = tempfile::tempdir().unwrap();
        assert!(segments(directory.path()).unwrap().is_empty());
        fs::create_dir(segments_directory(directory.path())).unwrap();
        for name in ["b.log", "a.log", "a.log.damaged-0", "C.log", "note.txt"] {
            fs::write(segments_directory(directory.path()).join(name), "").unwrap();
        }
        let ids: Vec<String> = segments(directory.path()).unwrap().into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, ["a", "b"]);
    }
}
