//! The digests of git objects, which never change: stored in the repository's directory of this program.
//!
//! A key is a kind, an object and what else the content depends on (line ends, attributes). Another process can have the
//! stored map open, or its files can be damaged: then a map in memory does, and the digests are computed again.

use crate::cache::stored_map::StoredMap;
use crate::remote::digest::Digest;
use std::collections::HashMap;
use std::path::Path;

/// Git objects with their digests.
#[derive(Default)]
pub struct DigestMap {
    stored: Option<StoredMap>,
    seen: HashMap<Vec<u8>, Digest>,
}

impl DigestMap {
    /// Opens the map in `directory`, or one in memory.
    pub fn open(directory: &Path) -> Self {
        Self { stored: StoredMap::open(directory).ok(), seen: HashMap::new() }
    }

    /// The known digest.
    pub fn get(&mut self, key: &[u8]) -> Option<Digest> {
        if let Some(digest) = self.seen.get(key) {
            return Some(*digest);
        }
        let value = self.stored.as_ref()?.get(key).ok()??;
        let digest = Digest::from_stored(&value)?;
        self.seen.insert(key.to_vec(), digest);
        Some(digest)
    }

    /// Adds a digest.
    pub fn put(&mut self, key: Vec<u8>, digest: Digest) {
        if let Some(stored) = &self.stored
            && stored.put(&key, &digest.stored()).is_err()
        {
            self.stored = None;
        }
        self.seen.insert(key, digest);
    }
}
