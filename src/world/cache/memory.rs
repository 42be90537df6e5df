//! The index for a process that cannot get the stored one.

use std::collections::{BTreeMap, HashMap};

use crate::journal::RecordLocation;

use super::{CacheEntry, CacheError, IndexPosition, Key, ResultCache};

/// An index in memory; about 100 bytes for each observation.
#[derive(Debug, Clone, Default)]
pub struct MemoryCache {
    entries: HashMap<Key, Vec<CacheEntry>>,
    positions: BTreeMap<String, IndexPosition>,
}

impl ResultCache for MemoryCache {
    fn get(&self, key: &Key) -> Result<Vec<CacheEntry>, CacheError> {
        Ok(self.entries.get(key).cloned().unwrap_or_default())
    }

    fn put(
        &mut self,
        hunt: &str,
        entries: &[(Key, RecordLocation)],
        position: IndexPosition,
    ) -> Result<(), CacheError> {
        for (key, location) in entries {
            let entry = CacheEntry { hunt: hunt.to_owned(), location: *location };
            let known = self.entries.entry(*key).or_default();
            // As in the stored index, a segment has only one entry at an offset.
            known.retain(|other| (&other.hunt, other.location.offset) != (&entry.hunt, location.offset));
            known.push(entry);
        }
        self.positions.insert(hunt.to_owned(), position);
        Ok(())
    }

    fn position(&self, hunt: &str) -> Result<IndexPosition, CacheError> {
        Ok(self.positions.get(hunt).copied().unwrap_or_default())
    }

    fn hunts(&self) -> Result<Vec<String>, CacheError> {
        Ok(self.positions.keys().cloned().collect())
    }

    fn flush(&self) -> Result<(), CacheError> {
        Ok(())
    }
}
