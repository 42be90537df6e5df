//! The story of a hunt, as a report has it: what was tested in which order, and what came of it.

use crate::outcome::Outcome;
use crate::report::Commit;
use crate::report::Untrusted;
use crate::report::lineage::Node;
use crate::revision::CommitId;

/// What the journal and the repository tell about a hunt beyond its finding.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Story {
    /// The revisions that matter, newest first.
    pub revisions: Vec<Revision>,
    /// How many revisions have a verdict; those that do not fit are left out of `revisions`.
    pub n_tested: usize,
    /// The answers that the search used, in its order.
    pub answers: Vec<Answer>,
    /// The outputs that [`Seen::output`] names, each once.
    pub outputs: Vec<Untrusted>,
    /// The reductions, in their order.
    pub reductions: Vec<Reduction>,
    /// The whole difference that the first bad commit makes, if there is one.
    pub culprit: Option<Untrusted>,
    /// Sources that the explanation names.
    pub sources: Vec<Source>,
}

/// A revision that was tested, or that the finding or the graph needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Revision {
    /// The commit.
    pub commit: Commit,
    /// Its place in the graph; the index of this revision is that of its node.
    pub node: Node,
    /// What the hunt says of it, if it was tested.
    pub verdict: Option<Verdict>,
}

/// What the hunt says of a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// The outcome.
    pub outcome: Outcome,
    /// Whether it took a repair.
    pub is_repaired: bool,
    /// Its number among the verdicts, from 1.
    pub nth: usize,
}

/// An answer that the search used.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What it was for, as in [`Probes`](crate::report::Probes).
    pub phase: Untrusted,
    /// The revision that the tree belongs to.
    pub commit: CommitId,
    /// What it means for the hunt; `None` for a run that was only compared with another one.
    pub outcome: Option<Outcome>,
    /// Whether it was known from an earlier hunt, and not seen in this one.
    pub is_known: bool,
    /// What was seen, if that is still known.
    pub seen: Option<Seen>,
}

/// What was seen of a probe.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// Which command ended it, and how: `test: exit code 1`.
    pub ending: String,
    /// Wall time of build and test.
    pub seconds: f64,
    /// Whether it was in a freshly written checkout.
    pub is_clean: bool,
    /// The index of its output; `None` if there was none, or it is left out.
    pub output: Option<usize>,
}

/// A reduction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reduction {
    /// What was reduced.
    pub what: Untrusted,
    /// The revision whose change it was.
    pub commit: CommitId,
    /// Added and removed lines that it began with.
    pub before: u64,
    /// Those that are left.
    pub after: u64,
}

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its path.
    pub file: Untrusted,
    /// The lines that are known, with their numbers from 1, in order.
    pub lines: Vec<(u64, Untrusted)>,
}
