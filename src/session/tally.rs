//! Counting: what a hunt has used, and how much it may use.

use crate::hunt::event::Phase;
use crate::session::estimate::Pace;
use std::collections::BTreeMap;
use std::time::Instant;

/// The words for what is counted beside the phases of a hunt, as the journal has them.
pub mod counted {
    /// A run of the check before the build.
    pub const PRECHECKED: &str = "prechecked";
    /// The check turned the candidate down.
    pub const REFUSED: &str = "precheck_refused";
    /// The test was spared: an earlier one had the same product.
    pub const SAME_PRODUCT: &str = "same_product";
    /// The build failed with products of earlier builds in place, but not in a fresh worktree.
    pub const REBUILT: &str = "rebuilt";
    /// A check of compiler or interpreter was run in the place of the test.
    pub const CHECK: &str = "check";
    /// The suite was.
    pub const SUITE: &str = "suite";
}

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
    /// What earlier runs of the program counted, by the words below.
    pub earlier: BTreeMap<String, u64>,
    /// Runs for each phase.
    pub runs: BTreeMap<Phase, u64>,
    /// Runs of the check before the build, for candidates that were not known already.
    pub n_prechecked: u64,
    /// Those of them that failed, so that nothing else was run.
    pub n_refused: u64,
    /// Builds whose product an earlier test had, so that the test was not run.
    pub n_same_product: u64,
    /// Builds that failed with products of earlier builds in place, but not in a fresh worktree.
    pub n_rebuilt: u64,
    /// Runs of the checks of compiler and interpreter.
    pub n_checks: u64,
    /// Runs of the suite.
    pub n_suite_runs: u64,
    /// Answers that were known already.
    pub n_cached: u64,
    /// Used answers for each phase, by outcome.
    pub outcomes: BTreeMap<(Phase, String), u64>,
    /// How long the last runs took.
    pub pace: Pace,
}

impl Tally {
    /// How often a word was counted by earlier runs of the program.
    pub fn earlier(&self, word: &str) -> u64 {
        self.earlier.get(word).copied().unwrap_or(0)
    }

    /// Runs of all phases in this run of the program.
    pub fn n_runs(&self) -> u64 {
        self.runs.values().sum()
    }
}
