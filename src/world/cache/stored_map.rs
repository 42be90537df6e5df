//! A stored map from bytes to bytes, for one process at a time.

use crate::cache::CacheError;
use crate::cache::sled::{guarded, open};
use ::sled::Db;
use std::path::Path;

/// A map whose entries stay, or are lost without harm.
pub struct StoredMap {
    /// `None` only while it is dropped.
    db: Option<Db>,
}

impl StoredMap {
    /// Opens the map in `directory`, or creates one.
    ///
    /// Errors: [`CacheError::Busy`] if another process has it; [`CacheError::Index`] if it is damaged.
    pub fn open(directory: &Path) -> Result<Self, CacheError> {
        Ok(Self { db: Some(open(directory)?) })
    }

    /// The value of a key.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, CacheError> {
        self.with(|db| Ok(db.get(key)?.map(|value| value.to_vec())))
    }

    /// Sets the value of a key.
    pub fn put(&self, key: &[u8], value: &[u8]) -> Result<(), CacheError> {
        self.with(|db| db.insert(key, value).map(drop))
    }

    fn with<T>(&self, work: impl FnOnce(&Db) -> ::sled::Result<T>) -> Result<T, CacheError> {
        let db = self.db.as_ref().expect("the database is taken out only by `drop`");
        guarded(|| work(db))
    }
}

impl Drop for StoredMap {
    fn drop(&mut self) {
        let db = self.db.take();
        let _ = guarded(|| {
            drop(db);
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_and_the_map_has_one_owner() {
        let directory = tempfile::tempdir().unwrap();
        let map = StoredMap::open(directory.path()).unwrap();
        map.put(b"a", b"1").unwrap();
        map.put(b"a", b"2").unwrap();
        assert!(matches!(StoredMap::open(directory.path()), Err(CacheError::Busy)));
        drop(map);
        let map = StoredMap::open(directory.path()).unwrap();
        assert_eq!(map.get(b"a").unwrap().as_deref(), Some(&b"2"[..]));
        assert_eq!(map.get(b"b").unwrap(), None);
    }
}
