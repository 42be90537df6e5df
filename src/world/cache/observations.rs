//! Looks up observations of this hunt and all others.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::journal::{self, DamageKind, JournalSegment, Record};
use crate::process::executions::ExecutedPrograms;
use crate::tools::{HuntTools, ProgramChange};
use idd_base::{Observation, TimeLimits};

use super::index::CacheIndex;
use super::{CacheEntry, CacheError, CacheEvent, Freed, IndexPosition, KeepLimits, Key, ResultCache, Want, gc, index};

/// All observations recorded in a repository, by key.
pub struct Observations {
    idd_directory: PathBuf,
    index: CacheIndex,
    events: Vec<CacheEvent>,
    /// Segments that were reported to the user.
    reported: HashSet<PathBuf>,
    /// Decides which observations were made with the present programs; without it all count.
    tools: Option<HuntTools>,
    /// Observations that do not count because a program changed.
    refused: BTreeMap<Key, ProgramChange>,
}

impl Observations {
    /// Opens and indexes all segments in `idd_directory`; also returns events.
    ///
    /// Cost: reads the parts of the segments that the index does not have yet.
    pub fn open(idd_directory: &Path) -> Result<(Self, Vec<CacheEvent>), CacheError> {
        let mut events = Vec::new();
        let index = CacheIndex::open(idd_directory, &mut events)?;
        let mut observations = Self {
            idd_directory: idd_directory.to_owned(),
            index,
            events,
            reported: HashSet::new(),
            tools: None,
            refused: BTreeMap::new(),
        };
        observations.take_in_all()?;
        let events = observations.take_events();
        Ok((observations, events))
    }

    /// From now on, only observations count that were made with the programs that these tools find now.
    pub fn use_tools(&mut self, tools: HuntTools) {
        self.tools = Some(tools);
    }

    /// The name of the set of all programs that were executed so far; `None` if unknown.
    pub fn toolset(&mut self) -> Option<String> {
        self.tools.as_mut().and_then(HuntTools::current)
    }

    /// The place where commands record the programs that they execute; `None` if it is not needed.
    pub fn executions(&self) -> Option<Arc<ExecutedPrograms>> {
        self.tools.as_ref().map(HuntTools::executions)
    }

    /// Whether a command of this hunt has executed git, or may have.
    pub fn has_git(&self) -> bool {
        self.tools.as_ref().is_some_and(HuntTools::has_git)
    }

    /// The first of these names that is that of a program which a command of this hunt has executed.
    pub fn executed(&self, names: &[&'static str]) -> Option<&'static str> {
        self.tools.as_ref().and_then(|tools| tools.executed(names))
    }

    /// Observations that do not count because a program changed since.
    pub fn refused(&self) -> &BTreeMap<Key, ProgramChange> {
        &self.refused
    }

    /// An observation of `key` that meets `want`, from any hunt.
    ///
    /// A clean one is preferred; of equal ones the last one of the greatest hunt id.
    ///
    /// Cost: reads the observations of the key; on a miss also examines every segment for new records.
    pub fn lookup(&mut self, key: &Key, want: Want) -> Option<Observation> {
        if let Some(observation) = self.find(key, want) {
            return Some(observation);
        }
        if let Err(error) = self.take_in_all() {
            self.skip(journal::segments_directory(&self.idd_directory), &error);
        }
        self.find(key, want)
    }

    /// An observation of `key` with any limit, from any hunt.
    pub fn lookup_any(&mut self, key: &Key) -> Option<Observation> {
        let want = |limit| Want { clean: false, limits: TimeLimits::both(limit) };
        self.lookup(key, want(Duration::ZERO)).or_else(|| self.lookup(key, want(Duration::MAX)))
    }

    /// The result of the test of a product, if it was always the same.
    ///
    /// - `key`: the key of a product.
    /// - Result: the last observation that meets `want`; `None` if any two observations of the product ended
    ///   differently.
    ///
    /// Cost: reads the observations of the key, and examines every segment for new records.
    pub fn lookup_product(&mut self, key: &Key, want: Want) -> Option<Observation> {
        if let Err(error) = self.take_in_all() {
            self.skip(journal::segments_directory(&self.idd_directory), &error);
        }
        let mut entries = self.with_index(|cache| cache.get(key)).ok()?;
        entries.sort_unstable();
        let mut seen: Vec<(CacheEntry, Observation)> = Vec::new();
        for entry in entries {
            if let Some((observation, toolset)) = self.read(key, &entry)
                && self.change(toolset.as_deref()).is_none()
            {
                seen.push((entry, observation));
            }
        }
        let is_steady =
            seen.windows(2).all(|pair| (pair[0].1.stage, pair[0].1.ending) == (pair[1].1.stage, pair[1].1.ending));
        let mut usable = seen.into_iter().rev().filter(|(_, observation)| is_steady && want.is_met_by(observation));
        usable
            .find(|(entry, observation)| !self.is_void(entry, observation.is_clean))
            .map(|(_, observation)| observation)
    }

    /// Indexes the new records of `segment`; call it after an observation was appended.
    ///
    /// Optional: a lookup that misses does the same.
    pub fn record(&mut self, segment: &JournalSegment) {
        self.take_in(segment.hunt(), segment.path());
    }

    /// Makes all previous incremental observations of this hunt void, in the journal and for every process.
    ///
    /// Clean ones and later ones still count.
    pub fn void_incremental(&mut self, segment: &mut JournalSegment) -> Result<(), CacheError> {
        self.void(segment, &Record::Voided)
    }

    /// Makes all previous observations of this hunt void; compare [`void_incremental`](Self::void_incremental).
    pub fn void_all(&mut self, segment: &mut JournalSegment) -> Result<(), CacheError> {
        self.void(segment, &Record::VoidedAll)
    }

    fn void(&mut self, segment: &mut JournalSegment, record: &Record) -> Result<(), CacheError> {
        segment.append_durable(record)?;
        let hunt = segment.hunt();
        self.with_index(|cache| index::take_in(cache, hunt, segment.path()).map(drop))
    }

    /// The events since `open`, or since the last call.
    pub fn take_events(&mut self) -> Vec<CacheEvent> {
        std::mem::take(&mut self.events)
    }

    /// Stores the index. Without this, the next process reads the missing part from the segments.
    pub fn flush(&mut self) {
        // A failure has become an event.
        let _ = self.with_index(|cache| cache.flush());
    }

    /// Removes segments of ended hunts beyond the limits of `keep`, and rebuilds the index; see [`KeepLimits`].
    ///
    /// - `now`: the time from which the age of a segment is computed.
    pub fn gc(idd_directory: &Path, keep: &KeepLimits, now: SystemTime) -> Result<Freed, CacheError> {
        gc::collect(idd_directory, keep, now)
    }

    fn find(&mut self, key: &Key, want: Want) -> Option<Observation> {
        let mut entries = self.with_index(|cache| cache.get(key)).ok()?;
        entries.sort_unstable_by(|one, other| other.cmp(one));
        let mut incremental = None;
        let mut refused = None;
        for entry in entries {
            let read = self.read(key, &entry).filter(|(observation, _)| want.is_met_by(observation));
            let Some((observation, toolset)) = read else { continue };
            if let Some(change) = self.change(toolset.as_deref()) {
                refused.get_or_insert(change);
                continue;
            }
            if self.is_void(&entry, observation.is_clean) {
                continue;
            }
            if observation.is_clean {
                return Some(observation);
            }
            incremental.get_or_insert(observation);
        }
        if let Some(change) = refused.filter(|_| incremental.is_none()) {
            self.refused.entry(*key).or_insert(change);
        }
        incremental
    }

    /// Why an observation with this set of programs does not count; `None` if it counts.
    fn change(&mut self, toolset: Option<&str>) -> Option<ProgramChange> {
        let tools = self.tools.as_mut()?;
        // An empty name belongs to no set.
        tools.change(toolset.unwrap_or_default())
    }

    /// The observation at `entry` and the name of its set of programs, if there is one and it has this key.
    fn read(&self, key: &Key, entry: &CacheEntry) -> Option<(Observation, Option<String>)> {
        let path = journal::segment_path(&self.idd_directory, &entry.hunt).ok()?;
        match journal::read_at(&path, entry.location) {
            Ok(Some(Record::Observed { key: recorded, product, toolset, observation, .. }))
                if recorded == key.to_string() || product == Some(key.to_string()) =>
            {
                Some((observation, toolset))
            }
            // Stale or wrong entries are no answers; an unreadable segment is reported when it is indexed.
            _ => None,
        }
    }

    /// Whether the observation at `entry` was voided, perhaps by another process a moment ago.
    fn is_void(&mut self, entry: &CacheEntry, is_clean: bool) -> bool {
        let Ok(path) = journal::segment_path(&self.idd_directory, &entry.hunt) else {
            return true;
        };
        self.take_in(&entry.hunt, &path);
        let of_incremental = |position: IndexPosition| if is_clean { 0 } else { position.void_before };
        let end = |position: IndexPosition| position.all_void_before.max(of_incremental(position));
        self.with_index(|cache| cache.position(&entry.hunt)).is_ok_and(|position| entry.location.offset < end(position))
    }

    fn take_in_all(&mut self) -> Result<(), CacheError> {
        for (hunt, path) in journal::segments(&self.idd_directory)? {
            self.take_in(&hunt, &path);
        }
        Ok(())
    }

    fn take_in(&mut self, hunt: &str, path: &Path) {
        match self.with_index(|cache| index::take_in(cache, hunt, path)) {
            // A torn line is being written, or its writer was killed; it was never durable.
            Ok(Some(damage)) if damage.kind != DamageKind::Torn => {
                if self.reported.insert(path.to_owned()) {
                    self.events.push(CacheEvent::SegmentDamaged { path: path.to_owned(), offset: damage.offset });
                }
            }
            Ok(_) => {}
            Err(error) if index::is_not_found(&error) => {}
            Err(error) => self.skip(path.to_owned(), &error),
        }
    }

    fn skip(&mut self, path: PathBuf, error: &CacheError) {
        if self.reported.insert(path.clone()) {
            let cause = std::error::Error::source(error).map(|source| format!(": {source}")).unwrap_or_default();
            self.events.push(CacheEvent::SegmentSkipped { path, reason: format!("{error}{cause}") });
        }
    }

    /// Uses the index. An index that fails is replaced, in the end by one in memory, which cannot fail.
    fn with_index<T>(&mut self, work: impl Fn(&mut dyn ResultCache) -> Result<T, CacheError>) -> Result<T, CacheError> {
        loop {
            match work(&mut *self.index.cache) {
                Err(CacheError::Index { reason }) => {
                    self.index.give_up(&self.idd_directory, &reason, &mut self.events);
                }
                done => return done,
            }
        }
    }
}

#[cfg(test)]
mod tests;
