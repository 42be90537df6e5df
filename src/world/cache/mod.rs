//! The cache: observations by key, over all hunts of a repository.
//!
//! It contains no observation itself. Its index ([`ResultCache`]) has the places of the observations of a key: the
//! segment of the journal, and the offset. Each observation is read from there, and its checksum and key are checked,
//! before it counts. So a lost, stale or damaged index never leads to a wrong answer; it is rebuilt from the segments.
//!
//! Start at [`Observations`]. The process with the lock has a [`SledCache`] as its index; the others have a
//! [`MemoryCache`], so they also see new records. [`KeyParts`] makes the keys.

mod gc;
mod index;
mod key;
mod memory;
mod observations;
mod sled;
pub mod stored_map;
mod want;

use std::io;
use std::path::{Path, PathBuf};

pub use self::sled::SledCache;
pub use gc::{Freed, KeepLimits};
pub use key::{CommandParts, InvalidKey, Key, KeyParts, ProbePlan, ProductParts};
pub use memory::MemoryCache;
pub use observations::Observations;
use thiserror::Error;
pub use want::Want;

use crate::journal::{JournalError, RecordLocation};

/// An index over segments.
///
/// New entries count at once. They are durable at some later time, together with their [`IndexPosition`].
pub trait ResultCache: Send {
    /// The places of the observations of `key`, in no particular order, each once.
    fn get(&self, key: &Key) -> Result<Vec<CacheEntry>, CacheError>;

    /// Adds entries of the segment of `hunt` and moves its position, both or neither.
    fn put(&mut self, hunt: &str, entries: &[(Key, RecordLocation)], position: IndexPosition)
    -> Result<(), CacheError>;

    /// The end of the indexed part of the segment of `hunt`; the start for an unknown one.
    fn position(&self, hunt: &str) -> Result<IndexPosition, CacheError>;

    /// The hunts that have a position, in the order of their ids.
    fn hunts(&self) -> Result<Vec<String>, CacheError>;

    /// Makes new entries durable; does nothing for an index without storage.
    fn flush(&self) -> Result<(), CacheError>;
}

/// The place of one observation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CacheEntry {
    /// The hunt that made it.
    pub hunt: String,
    /// Its record in the segment of that hunt.
    pub location: RecordLocation,
}

/// The end of the indexed part of a segment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IndexPosition {
    /// The end of the last indexed record, in bytes.
    pub offset: u64,
    /// Incremental observations before this byte are void.
    pub void_before: u64,
    /// All observations before this byte are void.
    pub all_void_before: u64,
}

/// Why observations cannot be looked up.
#[derive(Debug, Error)]
pub enum CacheError {
    /// [`Observations`] continues without the index that another process holds.
    #[error("failed to lock the index of observations: another process holds it")]
    Busy,
    /// [`Observations`] sets the index aside and rebuilds it.
    #[error("failed to use the index of observations: {reason}")]
    Index {
        /// The message of the index, for people.
        reason: String,
    },
    /// The caller stops the hunt.
    #[error("failed to read the recorded observations")]
    Journal(#[from] JournalError),
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

impl CacheError {
    fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }
}

/// A message for the user about the cache. None of them changes an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CacheEvent {
    /// Another process has the index; this one uses the segments.
    IndexBusy,
    /// The index was damaged, or has another format, and was rebuilt from the segments.
    IndexRebuilt {
        /// The place of the damaged one.
        kept: PathBuf,
        /// The damage.
        reason: String,
    },
    /// The index cannot be stored; this process uses the segments.
    IndexLost {
        /// Why.
        reason: String,
    },
    /// A segment is damaged: observations after that byte do not count.
    SegmentDamaged {
        /// The segment.
        path: PathBuf,
        /// The first damaged byte.
        offset: u64,
    },
    /// The observations of a segment do not count, because it cannot be read.
    SegmentSkipped {
        /// The segment.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}
