//! A failure line that varies from revision to revision is no evidence.

use idd_base::{CommitId, Observation, Outcome};
use idd_hunt::{Again, EngineState, History, Probe};
use idd_world::run::alike;
use idd_world::run::classify::{Criteria, other_line};
use std::collections::{BTreeMap, BTreeSet};

/// So many lines that are unlike the hunted one, and unlike each other, but have its words, show that the line varies.
const MAX_UNLIKE: usize = 3;

/// With fewer verdicts, no share is computed.
const MIN_JUDGED: usize = 6;

/// The lines of unrepaired revisions that end as the hunted failure does, and print another line.
#[derive(Debug, Default)]
pub struct UnlikeLines {
    /// Normalised, by revision.
    lines: BTreeMap<CommitId, String>,
}

impl UnlikeLines {
    /// Adds what a probe has shown. Shows of repaired revisions do not count: there, another failure is a defect of its own.
    pub(super) fn add(&mut self, probe: &Probe, seen: &Observation, criteria: &Criteria) {
        if let Some(line) = other_line(seen, criteria) {
            self.lines.insert(probe.revision, line);
        }
    }

    /// What else has to count if the line varies: its pattern, if there are [`MAX_UNLIKE`] other forms of it; only the ending,
    /// if more than half of the tested revisions print so many other lines. A few failures that have nothing in common are
    /// other failures, and the line tells them apart.
    ///
    /// For the share, a revision with no testable one before it does not count: it can be before a border of history, as
    /// all older ones, and need a repair.
    ///
    /// - `hunted`: the line of the hunted failure, or its pattern.
    pub(super) fn widened(&self, hunted: &str, state: &EngineState, history: &History) -> Option<Again> {
        let different: BTreeSet<&String> = self.lines.values().collect();
        let (mut pattern, mut n_forms) = (hunted.to_owned(), 0);
        for line in &different {
            if let Some(common) = alike::common(&pattern, line) {
                (pattern, n_forms) = (common, n_forms + 1);
            }
        }
        if n_forms >= MAX_UNLIKE {
            return Some(Again::LineVaries(pattern));
        }
        let rest = state.tested().filter(|(revision, _)| !self.lines.contains_key(revision));
        let rest: Vec<(CommitId, Outcome)> = rest.collect();
        let is_most = |n_unlike: usize| n_unlike + rest.len() >= MIN_JUDGED && n_unlike > rest.len();
        if different.len() < MAX_UNLIKE || !is_most(self.lines.len()) {
            return None;
        }
        let is_before = |unlike: &&CommitId| {
            let ancestors = history.ancestors(**unlike);
            rest.iter().any(|(revision, outcome)| outcome.is_testable() && history.is_in(&ancestors, *revision))
        };
        is_most(self.lines.keys().filter(is_before).count()).then_some(Again::SignatureIsExit)
    }
}
