//! One question with its place in the journal, while it is under way, and what is known of it.

use crate::hunt::probe::Probe;
use crate::outcome::Ending;
use crate::outcome::Observation;
use crate::outcome::Outcome;
use crate::outcome::Reason;
use crate::world::cache::Key;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// One question with its place in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ticket {
    pub(super) probe: Probe,
    pub(super) key: Key,
    /// Which of several wanted runs of the same probe this is.
    pub(super) nth: u32,
}

/// A probe under way.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) ticket: Ticket,
    pub(super) is_clean: bool,
    pub(super) sequence: u64,
    /// Under what it is kept that the check before the build refused the tree, if that check is made.
    pub(super) refusal_key: Option<Key>,
    pub(super) worker: usize,
    pub(super) is_called_back: Arc<AtomicBool>,
}

impl Flight {
    pub(super) fn is_leaving(&self) -> bool {
        self.is_called_back.load(Ordering::Relaxed)
    }
}

/// What was seen of one probe.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) outcome: Option<Outcome>,
    pub(super) is_tampered: bool,
    /// The time limit at which some run was cut.
    pub(super) cut_at: Option<Duration>,
    /// How long the last run took.
    pub(super) duration: Duration,
    pub(super) is_same_product: bool,
    /// What the repository lacks, as a sentence.
    pub(super) lack: Option<String>,
}

impl Seen {
    pub(super) fn take_in(&mut self, observation: &Observation, seen: Outcome) {
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

/// What is known of the outcome of a probe.
pub(super) enum State {
    /// All that is wanted.
    Known(Seen),
    /// Its runs disagree, and the hunt takes a single one for a verdict.
    Disagreeing,
    /// This is to be run next.
    Missing(Ticket),
}
