//! What a hunt knows while it goes on: verdicts, the repair that is carried, where the search stands.

use idd_base::{CommitId, Outcome, TreeId};

/// The outcome of a revision, and the tree that was tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestedRevision {
    /// The revision.
    pub revision: CommitId,
    /// The tree that was probed, with the repair if there is one.
    pub tree: TreeId,
    /// Its outcome.
    pub outcome: Outcome,
    /// Index of the repair in the finding, if one was needed.
    pub repair: Option<usize>,
    /// Whether its program was fetched and not built; never with a repair.
    pub is_fetched: bool,
}

/// The repair that is tried on further revisions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// The tree in which it was found.
    pub base: TreeId,
    /// That tree with the repair.
    pub patched: TreeId,
    /// Its index in the finding.
    pub index: usize,
}

/// The position of a walk on a line: see [`crate::walk`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WalkPosition {
    /// A revision that was given as good, at `good`, is verified.
    Verify { good: usize },
    /// Galloping: the revision at `near` fails, the one at `stop` is next.
    Gallop { near: usize, stop: usize },
    /// Bisecting between a failing index and a passing one.
    Bisect { bad: usize, good: usize },
    /// Nothing has passed: the gaps between tested revisions are sampled.
    Gaps,
    /// The following probes cannot be predicted.
    Over,
}

/// The prediction for a walk.
#[derive(Debug, Clone)]
pub(super) struct Outlook {
    pub(super) line: Vec<CommitId>,
    pub(super) position: WalkPosition,
}
