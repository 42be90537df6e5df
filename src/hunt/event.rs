//! Events: what a hunt tells while it runs. Wording and escaping are the business of the edge.

use crate::change::trees::Rung;
use crate::hunt::Probe;
use crate::hunt::finding::Scope;
use crate::hunt::noise::Noise;
use crate::outcome::Outcome;
use crate::revision::CommitId;
use crate::revision::TreeId;

/// What a probe is for; also how probes are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// The runs at the bad revision that establish the signature.
    Reproduce,
    /// Walking, galloping and bisecting through history.
    Search,
    /// Reducing a neighbour's difference to what makes a revision testable, and controlling it.
    Repair,
    /// Reducing the culprit.
    Reduce,
    /// Carrying the fix to newer revisions.
    Port,
    /// The clean runs behind the finding.
    Verify,
}

impl Phase {
    /// The stable word for it, as in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Reproduce => "reproduce",
            Self::Search => "search",
            Self::Repair => "repair",
            Self::Reduce => "reduce",
            Self::Port => "port",
            Self::Verify => "verify",
        }
    }
}

/// One thing worth telling while a hunt runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// This is how noisy the test is taken to be from now on.
    Noise {
        /// Both rates.
        noise: Noise,
    },
    /// A revision is run once more, because the test is noisy.
    Weighing {
        /// The revision to be run next.
        next: CommitId,
        /// The most likely first bad revision.
        likeliest: CommitId,
        /// Its probability.
        probability: f64,
    },
    /// So many revisions are left between the newest pass and the oldest failure known.
    Bisecting {
        /// Revisions left to test after the next one, should it fail.
        n_left: usize,
        /// Revisions that may still be the culprit.
        n_candidates: usize,
        /// The revision to be tested next.
        next: CommitId,
    },
    /// No pass is known yet; this far back is tried next.
    Galloping {
        /// Steps from the bad revision.
        distance: usize,
        /// The revision to be tested next.
        next: CommitId,
    },
    /// A revision has a verdict.
    Tested {
        /// The revision.
        revision: CommitId,
        /// Its outcome.
        outcome: Outcome,
        /// Whether a repair was needed for it.
        is_repaired: bool,
    },
    /// Revisions before this one cannot be tested as they are.
    Border {
        /// What was asked of the newest of them.
        probe: Probe,
        /// The first that can be tested.
        first: CommitId,
    },
    /// A repair was found.
    Repaired {
        /// The revision it was found at.
        revision: CommitId,
        /// The neighbour it was taken from.
        source: CommitId,
        /// Its size in added and removed lines.
        n_lines: usize,
    },
    /// A reduction goes on with this many units.
    Reducing {
        /// What is reduced, in a few words.
        what: &'static str,
        /// Units still in the set.
        n_units: usize,
        /// Units at the beginning.
        n_total: usize,
    },
    /// A reduction has ended.
    Reduced {
        /// What was reduced, in a few words.
        what: &'static str,
        /// The revision whose change it was.
        revision: CommitId,
        /// Added plus removed lines that it began with.
        n_lines_before: usize,
        /// Those that are left.
        n_lines: usize,
    },
    /// A reduction turned this tree down without a probe; told only where the order asks for it.
    Refused {
        /// The tree.
        tree: TreeId,
    },
    /// The first bad commit was run again, and the one before it, each in a fresh worktree; no reduction can name another.
    Proved {
        /// The first bad revision.
        revision: CommitId,
    },
    /// The culprit is known.
    Culprit {
        /// The first bad revision.
        revision: CommitId,
    },
    /// A reversal is tried at a revision.
    Trying {
        /// How much it takes back.
        scope: Scope,
        /// The revision.
        revision: CommitId,
    },
    /// The fix is carried to a newer revision.
    Porting {
        /// The revision tried.
        revision: CommitId,
    },
    /// The fix was carried, and the test passes with it.
    Carried {
        /// The revision reached.
        revision: CommitId,
        /// What it took.
        rung: Rung,
    },
    /// Something the user should know; already a full sentence without text from the repository.
    Remark(String),
}
