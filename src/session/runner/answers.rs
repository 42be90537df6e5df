//! The results of one hunt: its own, those of earlier hunts, and the digests that their keys are made of.

use crate::plan::Plan;
use crate::runner::error::RunnerError;
use idd_base::{CommitId, Observation, TreeId};
use idd_world::cache::{Key, Observations};
use idd_world::journal::{JournalSegment, Replay};
use sha2::{Digest as _, Sha256};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The results of one hunt.
pub struct AnswerStore {
    pub(super) plan_digest: [u8; 32],
    /// The plan digest for artifacts; `None` if none are fetched.
    pub(super) fetch_digest: Option<[u8; 32]>,
    /// The plan digest for products; `None` if they are not compared.
    pub(super) product_digest: Option<[u8; 32]>,
    /// See [`Executor::programs`](idd_world::run::executor::Executor::programs).
    programs: Option<[u8; 32]>,
    pub(super) observations: Arc<Mutex<Observations>>,
    pub(super) segment: Arc<Mutex<JournalSegment>>,
    pub(super) replay: Option<Replay>,
    pub(super) own: HashMap<(Key, u32, bool), Observation>,
    /// Probes that ran and whose answers the search has not used yet.
    pub(super) unconsumed: HashMap<Key, u64>,
    pub(super) next_sequence: u64,
    /// See [`Runner::head_of`](super::Runner::head_of).
    pub(super) heads: RefCell<HashMap<TreeId, CommitId>>,
    /// The observations of earlier runs of the program that have answered once.
    counted_before: HashSet<(Key, u32)>,
}

impl AnswerStore {
    /// The results of a hunt that begins, or is resumed from `replay`.
    pub(super) fn new(
        plan: &Plan,
        programs: Option<[u8; 32]>,
        observations: Observations,
        segment: JournalSegment,
        replay: Option<Replay>,
    ) -> Self {
        Self {
            plan_digest: digest(plan, programs),
            fetch_digest: plan.fetch_plan().map(|plan| plan.digest()),
            product_digest: None,
            programs,
            observations: Arc::new(Mutex::new(observations)),
            segment: Arc::new(Mutex::new(segment)),
            next_sequence: replay.as_ref().map_or(0, |replay| replay.next_sequence),
            replay,
            own: HashMap::new(),
            unconsumed: HashMap::new(),
            heads: RefCell::default(),
            counted_before: HashSet::new(),
        }
    }

    /// The digest of everything that results of a plan depend on, except trees.
    pub(super) fn digest(&self, plan: &Plan) -> [u8; 32] {
        digest(plan, self.programs)
    }

    /// The observations of all hunts.
    pub(super) fn observations(&self) -> MutexGuard<'_, Observations> {
        self.observations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The journal, open for appending.
    pub(super) fn segment(&self) -> MutexGuard<'_, JournalSegment> {
        self.segment.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether incremental observations were found wrong before the hunt was resumed.
    pub fn is_voided(&self) -> bool {
        self.replay.as_ref().is_some_and(|replay| replay.is_voided)
    }

    /// Whether probes were found to disturb each other before the hunt was resumed.
    pub fn is_alone(&self) -> bool {
        self.replay.as_ref().is_some_and(|replay| replay.is_alone)
    }

    /// What the failure needs of the user's files, if that was known before the hunt was resumed: paths as hex.
    pub fn environment(&self) -> Option<Vec<String>> {
        self.replay.as_ref().and_then(|replay| replay.environment.clone())
    }

    /// The directories that this hunt copies; see [`Record::Copied`](idd_world::journal::Record::Copied).
    pub fn copied(&self) -> Vec<String> {
        self.replay.as_ref().map(|replay| replay.copied.clone()).unwrap_or_default()
    }

    /// An observation of this hunt: the run with number `nth` under `key`.
    pub(super) fn own(&self, key: Key, nth: u32, is_clean: bool) -> Result<Option<Observation>, RunnerError> {
        let clean = self.own.get(&(key, nth, true));
        if let Some(observation) = clean.or_else(|| self.own.get(&(key, nth, false)).filter(|_| !is_clean)) {
            return Ok(Some(observation.clone()));
        }
        let Some(replay) = &self.replay else { return Ok(None) };
        let observation = replay.observation(&key.to_string(), nth)?;
        Ok(observation.filter(|observation| observation.is_clean || !is_clean))
    }

    /// Drops every observation of this hunt.
    pub(super) fn void_all(&mut self) -> Result<(), RunnerError> {
        self.observations().void_all(&mut self.segment())?;
        self.own.clear();
        self.replay.iter_mut().for_each(Replay::void_all);
        Ok(())
    }

    /// Drops every incremental observation of this hunt, because one of them was wrong.
    pub fn void_incremental(&mut self) -> Result<(), RunnerError> {
        self.observations().void_incremental(&mut self.segment())?;
        self.own.retain(|(_, _, is_clean), _| *is_clean);
        self.replay.iter_mut().for_each(Replay::void_incremental);
        Ok(())
    }

    /// Whether an earlier run of the program ran and counted the answer under one of these keys; only the first answer
    /// was counted.
    pub(super) fn is_counted_before(&mut self, keys: &[Key], nth: u32) -> bool {
        let Some(replay) = &self.replay else { return false };
        let held: Vec<Key> = keys.iter().copied().filter(|key| replay.holds(&key.to_string(), nth)).collect();
        held.into_iter().any(|key| self.counted_before.insert((key, nth)))
    }
}

fn digest(plan: &Plan, programs: Option<[u8; 32]>) -> [u8; 32] {
    let of_plan = plan.probe_plan().digest();
    programs.map_or(of_plan, |programs| Sha256::digest([of_plan, programs].concat()).into())
}
