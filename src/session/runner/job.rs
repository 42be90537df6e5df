//! A probe with its place in the journal, while it runs, and its known state.

use idd_base::{Ending, Observation, Outcome, Reason};
use idd_hunt::{Phase, Probe};
use idd_world::cache::Key;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The keys of the results of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProbeKeys {
    /// Until a command has executed git: the results are those of the tree.
    pub(super) alone: Key,
    /// From then on: git names the commit to the commands.
    pub(super) with_commit: Key,
}

impl ProbeKeys {
    /// Both: a result under either is one of the probe.
    pub(super) fn both(self) -> [Key; 2] {
        [self.with_commit, self.alone]
    }
}

/// A probe with its place in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct QueuedJob {
    pub(super) probe: Probe,
    pub(super) keys: ProbeKeys,
    /// The number of this run of the probe, if several are needed.
    pub(super) nth: u32,
}

/// The runs that reproduce the failure far away, if a hunt has places near and far: both must show the same.
pub const FAR_RUNS: [u32; 2] = [1, 4];

/// The number of a run that repeats one which was cut is so much greater.
pub const AGAIN: u32 = 1 << 24;

impl QueuedJob {
    /// The run that repeats this one.
    pub(super) fn again(self) -> Self {
        Self { nth: self.nth | AGAIN, ..self }
    }

    /// Whether this run repeats one which was cut.
    pub(super) fn is_again(&self) -> bool {
        self.nth & AGAIN != 0
    }

    /// The number of the run that it repeats, if it repeats one.
    pub(super) fn nth_before(&self) -> u32 {
        self.nth & !AGAIN
    }

    /// See [`FAR_RUNS`].
    pub(super) fn is_far(&self) -> bool {
        self.probe.phase == Phase::Reproduce && FAR_RUNS.contains(&self.nth)
    }
}

/// A running probe.
#[derive(Debug)]
pub(super) struct RunningJob {
    pub(super) queued_job: QueuedJob,
    pub(super) is_clean: bool,
    pub(super) sequence: u64,
    /// The key of a rejection by the precheck, if the probe has one.
    pub(super) refusal_key: Option<Key>,
    /// Its place, in numbers of the executor.
    pub(super) place: usize,
    pub(super) is_called_back: Arc<AtomicBool>,
    pub(super) begin: Instant,
    /// How often it was spoken of because it takes long.
    pub(super) n_said: u32,
}

impl RunningJob {
    pub(super) fn is_leaving(&self) -> bool {
        self.is_called_back.load(Ordering::Relaxed)
    }
}

/// The known facts about one probe.
#[derive(Debug, Default)]
pub(super) struct ProbeFacts {
    pub(super) outcome: Option<Outcome>,
    pub(super) is_tampered: bool,
    /// The time limit that some run has reached.
    pub(super) cut_at: Option<Duration>,
    /// The duration of the last run.
    pub(super) duration: Duration,
    pub(super) is_same_product: bool,
    /// The missing object or submodule, as a sentence.
    pub(super) lack: Option<String>,
    /// The service that made the last run; `None` for this machine.
    pub(super) place: Option<String>,
}

impl ProbeFacts {
    pub(super) fn take_in(&mut self, observation: &Observation, seen: Outcome) {
        self.place.clone_from(&observation.place);
        if matches!(observation.ending, Ending::NotRun(Reason::Object | Reason::Submodule)) {
            self.lack = Some(observation.output.trim_start_matches("git-idd: ").trim_end().to_owned());
        }
        self.is_tampered |= observation.is_tampered;
        self.cut_at = (observation.ending == Ending::Timeout).then_some(observation.limit).or(self.cut_at);
        self.outcome = match (self.outcome, seen) {
            (Some(Outcome::Unresolved(reason)), seen) if seen != Outcome::Fail => Some(Outcome::Unresolved(reason)),
            _ => Some(seen),
        };
    }
}

/// The known state of a probe.
pub(super) enum ProbeState {
    /// Its outcome is known.
    Known(ProbeFacts),
    /// Its runs disagree, and the hunt uses single runs as verdicts.
    Disagreeing,
    /// This run is missing.
    Missing(QueuedJob),
}
