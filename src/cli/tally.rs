//! Counting: what a hunt has used, and how much it may use.

use crate::cli::estimate::Pace;
use crate::hunt::event::Phase;
use std::collections::BTreeMap;
use std::time::Instant;

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Wall time of this run of the program.
    pub deadline: Option<Instant>,
    /// Runs of the test in this run of the program.
    pub max_probes: Option<u64>,
}

/// How probes were answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Runs for each phase.
    pub runs: BTreeMap<Phase, u64>,
    /// Runs of the check before the build, for candidates that were not known already.
    pub n_prechecked: u64,
    /// Those of them that failed, so that nothing else was run.
    pub n_refused: u64,
    /// Builds whose product an earlier test had, so that the test was not run.
    pub n_same_product: u64,
    /// Checks for complaints, and the build that shows how they are made; those that were not known already.
    pub n_checks: u64,
    /// Answers that were known already.
    pub n_cached: u64,
    /// Used answers for each phase, by outcome.
    pub outcomes: BTreeMap<(Phase, String), u64>,
    /// How long the last runs took.
    pub pace: Pace,
}

impl Tally {
    /// Runs of all phases.
    pub fn n_runs(&self) -> u64 {
        self.runs.values().sum()
    }
}
