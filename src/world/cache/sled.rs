//! The stored index.
//!
//! One tree, three kinds of keys with different first bytes: `f` the format; `p` and a hunt id the position of that
//! segment; `e`, a [`Key`], a hunt id, a zero byte and an offset (big endian) an entry, whose value is the length.
//! Entries and position of one `put` are one batch, so the position never covers missing entries.
//!
//! sled can panic on damaged files, so every call is guarded. The other user of sled is
//! [`StoredMap`](super::stored_map::StoredMap).

use std::cell::Cell;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::{Once, mpsc};
use std::time::Duration;
use std::{panic, thread};

use sled::{Batch, Db, Mode};

use crate::journal::RecordLocation;

use super::{CacheEntry, CacheError, IndexPosition, Key, ResultCache};

const FORMAT_KEY: &[u8] = b"f";
const FORMAT: &[u8] = b"git-idd index 2";
const CACHE_BYTES: u64 = 16 << 20;
/// Those that wait for work, and the one that flushes.
const N_THREADS: usize = 8;
const OPEN_ATTEMPTS: u32 = 40;
const OPEN_PAUSE: Duration = Duration::from_millis(5);

/// An index in a directory of its own, for one process at a time.
pub struct SledCache {
    /// `None` only while it is dropped.
    db: Option<Db>,
}

impl SledCache {
    /// Opens the index in `directory`, or creates one.
    ///
    /// It waits a short time for a lock: a process that just ended may not have released its files yet.
    ///
    /// Errors: [`CacheError::Busy`] if another process has it; [`CacheError::Index`] if it is damaged or has another
    /// format.
    pub fn open(directory: &Path) -> Result<Self, CacheError> {
        let cache = Self { db: Some(open(directory)?) };
        cache.check_format()?;
        Ok(cache)
    }

    fn check_format(&self) -> Result<(), CacheError> {
        let format = self.with(|db| db.get(FORMAT_KEY))?;
        match format {
            Some(format) if format == FORMAT => Ok(()),
            None if self.with(|db| Ok(db.is_empty()))? => self.with(|db| db.insert(FORMAT_KEY, FORMAT)).map(drop),
            _ => Err(CacheError::Index { reason: "it has another format".to_owned() }),
        }
    }

    /// Writes an index of another program, or another version.
    #[cfg(test)]
    pub(super) fn write_foreign(directory: &Path) {
        let db = sled::open(directory).unwrap();
        db.insert(b"key", b"value").unwrap();
        db.flush().unwrap();
    }

    fn with<T>(&self, work: impl FnOnce(&Db) -> sled::Result<T>) -> Result<T, CacheError> {
        let db = self.db.as_ref().expect("the database is taken out only by `drop`");
        guarded(|| work(db))
    }
}

impl ResultCache for SledCache {
    fn get(&self, key: &Key) -> Result<Vec<CacheEntry>, CacheError> {
        let prefix = [b"e", &key.0[..]].concat();
        let pairs = self.with(|db| db.scan_prefix(&prefix).collect::<sled::Result<Vec<_>>>())?;
        pairs.iter().map(|(name, value)| entry(&name[prefix.len()..], value).ok_or_else(foreign)).collect()
    }

    fn put(
        &mut self,
        hunt: &str,
        entries: &[(Key, RecordLocation)],
        position: IndexPosition,
    ) -> Result<(), CacheError> {
        let mut batch = Batch::default();
        for (key, location) in entries {
            let name = [b"e", &key.0[..], hunt.as_bytes(), b"\0", &location.offset.to_be_bytes()].concat();
            batch.insert(name, &location.length.to_be_bytes());
        }
        let IndexPosition { offset, void_before, all_void_before } = position;
        let value = [offset, void_before, all_void_before].map(u64::to_be_bytes).concat();
        batch.insert([b"p", hunt.as_bytes()].concat(), value);
        self.with(|db| db.apply_batch(batch))
    }

    fn position(&self, hunt: &str) -> Result<IndexPosition, CacheError> {
        match self.with(|db| db.get([b"p", hunt.as_bytes()].concat()))? {
            Some(value) => {
                let numbers: Option<Vec<u64>> = value.chunks(8).map(number).collect();
                let [offset, void_before, all_void_before] = numbers.ok_or_else(foreign)?[..] else {
                    return Err(foreign());
                };
                Ok(IndexPosition { offset, void_before, all_void_before })
            }
            None => Ok(IndexPosition::default()),
        }
    }

    fn hunts(&self) -> Result<Vec<String>, CacheError> {
        let names = self.with(|db| db.scan_prefix(b"p").keys().collect::<sled::Result<Vec<_>>>())?;
        names.iter().map(|name| String::from_utf8(name[1..].to_vec()).map_err(|_| foreign())).collect()
    }

    fn flush(&self) -> Result<(), CacheError> {
        self.with(|db| db.flush()).map(drop)
    }
}

impl Drop for SledCache {
    fn drop(&mut self) {
        let db = self.db.take();
        // Unstored entries are read from the segments again.
        let _ = guarded(|| {
            drop(db);
            Ok(())
        });
    }
}

fn entry(name: &[u8], value: &[u8]) -> Option<CacheEntry> {
    let (name, offset) = name.split_at_checked(name.len().checked_sub(8)?)?;
    let hunt = String::from_utf8(name.strip_suffix(b"\0")?.to_vec()).ok()?;
    Some(CacheEntry { hunt, location: RecordLocation { offset: number(offset)?, length: number(value)? } })
}

fn number(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}

fn foreign() -> CacheError {
    CacheError::Index { reason: "it holds an entry that no version of this program wrote".to_owned() }
}

/// sled has no error kind for a lock that is held.
fn is_lock(error: &CacheError) -> bool {
    matches!(error, CacheError::Index { reason } if reason.contains("could not acquire lock"))
}

/// Opens a database in `directory`, or creates one; see [`SledCache::open`].
pub(super) fn open(directory: &Path) -> Result<Db, CacheError> {
    try_threads();
    let config = sled::Config::new().path(directory).cache_capacity(CACHE_BYTES).mode(Mode::LowSpace);
    let mut attempt = 1;
    loop {
        match guarded(|| config.open()) {
            Err(error) if !is_lock(&error) => return Err(error),
            Err(_) if attempt == OPEN_ATTEMPTS => return Err(CacheError::Busy),
            Err(_) => {
                attempt += 1;
                thread::sleep(OPEN_PAUSE);
            }
            Ok(db) => return Ok(db),
        }
    }
}

/// Starts as many threads as sled does, once: of those that it cannot start it says nothing, and then waits for them for ever.
/// The stacks are kept for the next threads.
///
/// Panics if one cannot be started.
fn try_threads() {
    static TRIED: Once = Once::new();
    TRIED.call_once(|| {
        let start = |_| {
            let (end, wait) = mpsc::channel::<()>();
            (end, thread::spawn(move || wait.recv()))
        };
        for (end, thread) in (0..N_THREADS).map(start).collect::<Vec<_>>() {
            drop(end);
            // It is told that nobody sends.
            let _ = thread.join();
        }
    });
}

/// Calls sled. A panic of it becomes an error, and is not printed.
pub(super) fn guarded<T>(work: impl FnOnce() -> sled::Result<T>) -> Result<T, CacheError> {
    static QUIET_HOOK: Once = Once::new();
    thread_local! {
        static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
    }
    QUIET_HOOK.call_once(|| {
        let loud = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_GUARDED.get() {
                loud(info);
            }
        }));
    });
    IS_GUARDED.set(true);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(false);
    match done {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(sled::Error::Corruption { .. })) | Err(_) => {
            Err(CacheError::Index { reason: "its files are damaged".to_owned() })
        }
        Ok(Err(error)) => Err(CacheError::Index { reason: error.to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::cache::MemoryCache;

    use super::*;

    type Put = (String, Vec<(Key, RecordLocation)>, IndexPosition);

    fn any_put() -> impl Strategy<Value = Put> {
        let location = (0..9_u64, 1..9_u64).prop_map(|(offset, length)| RecordLocation { offset, length });
        let entries = proptest::collection::vec(((0..3_u8).prop_map(|n| Key([n; 32])), location), 0..6);
        let position = any::<(u64, u64, u64)>().prop_map(|(offset, void_before, all_void_before)| IndexPosition {
            offset,
            void_before,
            all_void_before,
        });
        ("[a-c]{1,2}", entries, position)
    }

    #[track_caller]
    fn check_same(sled: &SledCache, memory: &MemoryCache) {
        for n in 0..3 {
            let (mut stored, mut expected) = (sled.get(&Key([n; 32])).unwrap(), memory.get(&Key([n; 32])).unwrap());
            stored.sort();
            expected.sort();
            assert_eq!(stored, expected);
        }
        assert_eq!(sled.hunts().unwrap(), memory.hunts().unwrap());
        for hunt in memory.hunts().unwrap().iter().map(String::as_str).chain(["other"]) {
            assert_eq!(sled.position(hunt).unwrap(), memory.position(hunt).unwrap());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn the_stored_index_and_the_one_in_memory_agree(puts in proptest::collection::vec(any_put(), 0..6)) {
            let directory = tempfile::tempdir().unwrap();
            let mut sled = SledCache::open(directory.path()).unwrap();
            let mut memory = MemoryCache::default();
            for (hunt, entries, position) in &puts {
                sled.put(hunt, entries, *position).unwrap();
                memory.put(hunt, entries, *position).unwrap();
            }
            check_same(&sled, &memory);
            sled.flush().unwrap();
            drop(sled);
            check_same(&SledCache::open(directory.path()).unwrap(), &memory);
        }
    }

    #[test]
    fn an_index_that_is_open_is_busy() {
        let directory = tempfile::tempdir().unwrap();
        let _open = SledCache::open(directory.path()).unwrap();
        assert!(matches!(SledCache::open(directory.path()), Err(CacheError::Busy)));
    }
}
