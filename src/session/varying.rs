//! A failure line that varies from revision to revision is no evidence.

use crate::hunt::Board;
use crate::hunt::history::History;
use crate::hunt::probe::Probe;
use crate::outcome::{Observation, Outcome};
use crate::revision::CommitId;
use crate::world::run::classify::{Criteria, other_line};
use std::collections::{BTreeMap, HashSet};

/// So many revisions whose lines are unlike the hunted one, and unlike each other, show that the line varies.
const MAX_UNLIKE: usize = 3;

/// With fewer verdicts, no share is computed.
const MIN_JUDGED: usize = 6;

/// The lines of unrepaired revisions that end as the hunted failure does, and print another line.
#[derive(Debug, Default)]
pub struct Unlike {
    /// Normalised, by revision.
    lines: BTreeMap<CommitId, String>,
}

impl Unlike {
    /// Adds what a probe has shown. Shows of repaired revisions do not count: there, another failure is a defect of its own.
    pub(super) fn add(&mut self, probe: &Probe, seen: &Observation, criteria: &Criteria) {
        if let Some(line) = other_line(seen, criteria) {
            self.lines.insert(probe.revision, line);
        }
    }

    /// Whether the line varies: at [`MAX_UNLIKE`] revisions, or at more than half of those that were tested.
    ///
    /// For the share, a revision with no testable one before it does not count: it can be before a border of history, as
    /// all older ones, and need a repair.
    pub(super) fn varies(&self, board: &Board, history: &History) -> bool {
        let different: HashSet<&String> = self.lines.values().collect();
        if different.len() >= MAX_UNLIKE {
            return true;
        }
        let rest = board.tested().filter(|(revision, _)| !self.lines.contains_key(revision));
        let rest: Vec<(CommitId, Outcome)> = rest.collect();
        let is_most = |n_unlike: usize| n_unlike + rest.len() >= MIN_JUDGED && n_unlike > rest.len();
        if !is_most(self.lines.len()) {
            return false;
        }
        let is_before = |unlike: &&CommitId| {
            let ancestors = history.ancestors(**unlike);
            rest.iter().any(|(revision, outcome)| outcome.is_testable() && ancestors.contains(revision))
        };
        is_most(self.lines.keys().filter(is_before).count())
    }
}
