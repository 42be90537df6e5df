//! The cache: observations by key, over all hunts of a repository.
//!
//! It keeps no observation itself. Its index ([`ResultCache`]) says in which segment of the journal, and where, the
//! observations of a key stand; each is read from there, with its checksum and key, before it answers. So the index may
//! be lost, stale or damaged without an answer ever being wrong: it is rebuilt from the segments.
//!
//! Start at [`Observations`]. The index is [`SledCache`] for the process that gets its lock, and [`MemoryCache`] for
//! the others, which therefore share what is recorded meanwhile as well. Keys are made by [`KeyParts`].

mod gc;
mod index;
mod key;
mod memory;
mod observations;
mod sled;
mod want;

use std::io;
use std::path::Path;
use std::path::PathBuf;

pub use self::sled::SledCache;
pub use gc::Freed;
pub use gc::Keep;
pub use key::CommandParts;
pub use key::InvalidKey;
pub use key::Key;
pub use key::KeyParts;
pub use key::ProbePlan;
pub use key::ProductParts;
pub use memory::MemoryCache;
pub use observations::Observations;
use thiserror::Error;
pub use want::Want;

use crate::world::journal::JournalError;
use crate::world::journal::Location;

/// An index over segments.
///
/// Everything that was put counts at once; it is durable at some later time, together with its [`Position`].
pub trait ResultCache: Send {
    /// Where observations of `key` stand, in no particular order and without repetition.
    fn get(&self, key: &Key) -> Result<Vec<Entry>, CacheError>;

    /// Adds entries of the segment of `hunt` and moves its position, both or neither.
    fn put(&mut self, hunt: &str, entries: &[(Key, Location)], position: Position) -> Result<(), CacheError>;

    /// How far the segment of `hunt` was taken in; the start for an unknown one.
    fn position(&self, hunt: &str) -> Result<Position, CacheError>;

    /// The hunts that have a position, in the order of their ids.
    fn hunts(&self) -> Result<Vec<String>, CacheError>;

    /// Makes durable what was put; nothing for an index without storage.
    fn flush(&self) -> Result<(), CacheError>;
}

/// Where one observation stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The hunt that made it.
    pub hunt: String,
    /// Its record in the segment of that hunt.
    pub location: Location,
}

/// How far a segment was taken in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Position {
    /// The end of the last record taken in, in bytes.
    pub offset: u64,
    /// Incremental observations that stand before this byte are void.
    pub void_before: u64,
    /// All observations that stand before this byte are void.
    pub all_void_before: u64,
}

/// What keeps observations from being looked up.
#[derive(Debug, Error)]
pub enum CacheError {
    /// [`Observations`] goes on without the index that another process holds.
    #[error("failed to lock the index of observations: another process holds it")]
    Busy,
    /// [`Observations`] sets the index aside and rebuilds it.
    #[error("failed to use the index of observations: {reason}")]
    Index {
        /// What the index said, for people.
        reason: String,
    },
    /// The caller stops the hunt.
    #[error("failed to read the recorded observations")]
    Journal(#[from] JournalError),
    /// The caller stops the hunt.
    #[error("failed to {action} `{path}`")]
    Io {
        /// What was attempted, as in "failed to ...".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl CacheError {
    fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }
}

/// What the user is told about the cache. None of it changes an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Another process holds the index; this one works from the segments.
    IndexBusy,
    /// The index was damaged, or of another format, and was rebuilt from the segments.
    IndexRebuilt {
        /// Where the damaged one is now.
        kept: PathBuf,
        /// What was wrong.
        reason: String,
    },
    /// The index cannot be stored; this process works from the segments.
    IndexLost {
        /// Why.
        reason: String,
    },
    /// A segment is damaged: observations that stand behind that byte do not answer.
    SegmentDamaged {
        /// The segment.
        path: PathBuf,
        /// The first damaged byte.
        offset: u64,
    },
    /// The observations of a segment do not answer, because it cannot be read.
    SegmentSkipped {
        /// The segment.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}
