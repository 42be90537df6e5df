//! Events: the progress of a hunt. Their wording and escaping are the business of the edge.

use crate::finding::Scope;
use crate::{Noise, Probe};
use idd_base::{CommitId, Outcome, RemainingWork, TreeId};
use idd_change::trees::Rung;

/// What a probe is for; also how probes are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// The runs at the bad revision that establish the signature.
    Reproduce,
    /// Walking, galloping and bisecting through history.
    Search,
    /// Reducing the difference to a neighbour to a repair that makes a revision testable, and checking the repair.
    Repair,
    /// Reducing the culprit.
    Reduce,
    /// Carrying the fix to newer revisions.
    Port,
    /// The clean runs that prove the finding.
    Verify,
}

impl Phase {
    /// The stable word for it, as used in JSON.
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

/// One event of a hunt.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The assumed noise of the test from now on.
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
    /// The culprit changed these tests, and the suite is asked with them from now on.
    OwnTests {
        /// Paths in the newest tree.
        paths: Vec<Vec<u8>>,
    },
    /// The state of a bisection between the newest known pass and the oldest known failure.
    Bisecting {
        /// Revisions left to test after the next one, should it fail.
        n_left: usize,
        /// Revisions that may still be the culprit.
        n_candidates: usize,
        /// The revision to be tested next.
        next: CommitId,
    },
    /// No pass is known yet; a revision at this distance is tried next.
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
    /// Revisions before this one cannot be tested without a repair.
    Border {
        /// The probe of the newest of them.
        probe: Probe,
        /// The first one that can be tested.
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
        /// Added plus removed lines at the beginning.
        n_lines_before: usize,
        /// Added plus removed lines of the result.
        n_lines: usize,
    },
    /// A reduction rejected this tree without a probe; sent only if the order asks for it.
    Refused {
        /// The tree.
        tree: TreeId,
    },
    /// The first bad commit and the one before it were run again in fresh worktrees. No reduction can name another
    /// commit.
    Proved {
        /// The first bad revision.
        revision: CommitId,
    },
    /// The culprit is known.
    Culprit {
        /// The first bad revision.
        revision: CommitId,
        /// The number of revisions that may be it, 1 or more.
        n_candidates: usize,
    },
    /// A reversal is tried at a revision.
    Trying {
        /// The part of the culprit that it reverses.
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
        /// The method of the merge.
        rung: Rung,
    },
    /// A note for the user: a full sentence without text from the repository.
    Remark(String),
}

impl Event {
    /// The remaining work that the event reports, in a history of this many revisions; `None` if it reports none.
    pub fn remaining_work(&self, n_revisions: usize) -> Option<RemainingWork> {
        match self {
            Self::Galloping { distance, .. } => {
                Some(RemainingWork::Galloping { distance: *distance as u64, n_revisions: n_revisions as u64 })
            }
            Self::Bisecting { n_candidates, .. } => {
                Some(RemainingWork::Bisecting { n_candidates: *n_candidates as u64 })
            }
            Self::Reducing { n_units, .. } => Some(RemainingWork::Reducing { n_units: *n_units as u64 }),
            _ => None,
        }
    }
}
