//! Opens an index, and adds segments to it.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::files::own;
use crate::journal::{self, Damage, FileLock, Record, RecordLocation, SegmentReader};

use super::{CacheError, CacheEvent, IndexPosition, Key, MemoryCache, ResultCache, SledCache};

/// Entries are added in batches of this size, so that a long segment is not held in memory.
const BATCH_ENTRIES: usize = 512;

/// An index, with the lock on it.
pub(super) struct CacheIndex {
    // Dropped before the lock is released.
    pub(super) cache: Box<dyn ResultCache>,
    lock: Option<FileLock>,
}

/// The directory of the stored index inside `idd_directory`.
pub(super) fn directory(idd_directory: &Path) -> PathBuf {
    idd_directory.join("cache.sled")
}

/// Locks the stored index without opening it; `None` if another process has it.
///
/// The lock is a file beside the index, so that it also covers setting a damaged index aside.
pub(super) fn lock(idd_directory: &Path) -> Result<Option<FileLock>, CacheError> {
    fs::create_dir_all(idd_directory).map_err(CacheError::io("create", idd_directory))?;
    let path = idd_directory.join("cache.lock");
    let file = own(OpenOptions::new().read(true).write(true).create(true).truncate(false)).open(&path);
    file.and_then(FileLock::try_new).map_err(CacheError::io("lock", &path))
}

impl CacheIndex {
    /// Opens the stored index if possible, else one in memory; neither is filled yet.
    pub(super) fn open(idd_directory: &Path, events: &mut Vec<CacheEvent>) -> Result<Self, CacheError> {
        let lock = match lock(idd_directory) {
            Ok(Some(lock)) => lock,
            Ok(None) => return Ok(Self::in_memory(events, CacheEvent::IndexBusy)),
            Err(error) => return Ok(Self::in_memory(events, CacheEvent::IndexLost { reason: reason(&error) })),
        };
        match open_current(idd_directory) {
            Ok(cache) => Ok(Self { cache: Box::new(cache), lock: Some(lock) }),
            Err(CacheError::Busy) => Ok(Self::in_memory(events, CacheEvent::IndexBusy)),
            Err(error @ CacheError::Journal(_)) => Err(error),
            Err(error) => Ok(Self::replace(idd_directory, lock, &reason(&error), events)),
        }
    }

    fn in_memory(events: &mut Vec<CacheEvent>, event: CacheEvent) -> Self {
        events.push(event);
        Self { cache: Box::new(MemoryCache::default()), lock: None }
    }

    /// Replaces an index that failed; the new one is empty.
    pub(super) fn give_up(&mut self, idd_directory: &Path, reason: &str, events: &mut Vec<CacheEvent>) {
        self.cache = Box::new(MemoryCache::default());
        *self = match self.lock.take() {
            Some(lock) => Self::replace(idd_directory, lock, reason, events),
            None => Self::in_memory(events, CacheEvent::IndexLost { reason: reason.to_owned() }),
        };
    }

    /// Sets the stored index aside and creates another. If that fails too, the reason is not in the index (a full disk,
    /// for example): the old one is restored, and this process uses an index in memory.
    fn replace(idd_directory: &Path, lock: FileLock, reason: &str, events: &mut Vec<CacheEvent>) -> Self {
        let directory = directory(idd_directory);
        let lost = || CacheEvent::IndexLost { reason: reason.to_owned() };
        let Ok(kept) = set_aside(&directory) else {
            return Self::in_memory(events, lost());
        };
        if let Ok(cache) = SledCache::open(&directory) {
            events.push(CacheEvent::IndexRebuilt { kept, reason: reason.to_owned() });
            return Self { cache: Box::new(cache), lock: Some(lock) };
        }
        // Best effort: the next process checks the result.
        let _ = fs::remove_dir_all(&directory).and_then(|()| fs::rename(&kept, &directory));
        Self::in_memory(events, lost())
    }
}

/// Opens the stored index, without entries of missing segments.
fn open_current(idd_directory: &Path) -> Result<SledCache, CacheError> {
    let directory = directory(idd_directory);
    let cache = SledCache::open(&directory)?;
    let segments = journal::segments(idd_directory)?;
    let is_gone = |hunt: &String| segments.binary_search_by(|(id, _)| id.cmp(hunt)).is_err();
    if !cache.hunts()?.iter().any(is_gone) {
        return Ok(cache);
    }
    drop(cache);
    fs::remove_dir_all(&directory).map_err(CacheError::io("remove the outdated index", &directory))?;
    SledCache::open(&directory)
}

/// Moves `path` to the first free name `<path>.damaged-<n>`, which is returned.
fn set_aside(path: &Path) -> Result<PathBuf, CacheError> {
    let mut n = 0_u32;
    loop {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".damaged-{n}"));
        let kept = PathBuf::from(name);
        if kept.symlink_metadata().is_err() {
            fs::rename(path, &kept).map_err(CacheError::io("set the damaged index aside as", &kept))?;
            return Ok(kept);
        }
        n += 1;
    }
}

/// Adds the new records of a segment. Cost: one `stat` if there are none.
pub(super) fn take_in(cache: &mut dyn ResultCache, hunt: &str, path: &Path) -> Result<Option<Damage>, CacheError> {
    let mut position = cache.position(hunt)?;
    let length = path.metadata().map_err(CacheError::io("examine the journal", path))?.len();
    if length == position.offset {
        return Ok(None);
    }
    if !is_end_of_line(path, length, position.offset) {
        // A crash of the machine removed the end of the segment. Old entries are rejected when they are read.
        position = IndexPosition::default();
    }
    let mut reader = SegmentReader::open(path, position.offset)?;
    let mut entries: Vec<(Key, RecordLocation)> = Vec::new();
    while let Some((location, record)) = reader.next_record()? {
        match record {
            Record::Observed { key, product, .. } => {
                let keys = [Some(key), product].into_iter().flatten();
                entries.extend(keys.filter_map(|key| Some((key.parse().ok()?, location))));
            }
            Record::Voided => position.void_before = location.offset,
            Record::VoidedAll => position.all_void_before = location.offset,
            _ => {}
        }
        position.offset = location.end();
        if entries.len() >= BATCH_ENTRIES {
            cache.put(hunt, &entries, position)?;
            entries.clear();
        }
    }
    cache.put(hunt, &entries, position)?;
    Ok(reader.damage())
}

fn is_end_of_line(path: &Path, length: u64, offset: u64) -> bool {
    let mut byte = [0];
    let read = |file: File| file.read_exact_at(&mut byte, offset.saturating_sub(1));
    offset == 0 || (offset <= length && File::open(path).and_then(read).is_ok() && byte == *b"\n")
}

fn reason(error: &CacheError) -> String {
    match error {
        CacheError::Index { reason } => reason.clone(),
        CacheError::Io { source, .. } => format!("{error}: {source}"),
        _ => error.to_string(),
    }
}

/// Whether an error only says that a segment was removed in the meantime.
pub(super) fn is_not_found(error: &CacheError) -> bool {
    match error {
        CacheError::Io { source, .. } | CacheError::Journal(journal::JournalError::Io { source, .. }) => {
            source.kind() == io::ErrorKind::NotFound
        }
        _ => false,
    }
}
