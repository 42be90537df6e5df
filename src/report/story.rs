//! The course of a hunt in a report: the tests in their order, and their outcomes.

use crate::lineage::LineageNode;
use crate::{Commit, Untrusted};
use idd_base::{CommitId, Outcome};

/// Data of a hunt beyond its finding, from the journal and the repository.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Story {
    /// The important revisions, newest first.
    pub revisions: Vec<TestedStory>,
    /// The number of revisions with a verdict; some of them may not be in `revisions`.
    pub n_tested: usize,
    /// The answers that the search used, in its order.
    pub answers: Vec<UsedAnswer>,
    /// The outputs that [`ProbeRun::output`] names, each once.
    pub outputs: Vec<Untrusted>,
    /// The reductions, in their order.
    pub reductions: Vec<ReductionStory>,
    /// The whole difference of the first bad commit, if there is one.
    pub culprit: Option<Untrusted>,
    /// Source files that the explanation names.
    pub sources: Vec<FilePart>,
}

/// A revision that was tested, or that the finding or the graph needs.
#[derive(Debug, Clone, PartialEq)]
pub struct TestedStory {
    /// The commit.
    pub commit: Commit,
    /// Its place in the graph; the index of this revision is that of its node.
    pub node: LineageNode,
    /// Its verdict, if it was tested.
    pub verdict: Option<RevisionVerdict>,
}

/// The verdict on a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RevisionVerdict {
    /// The outcome.
    pub outcome: Outcome,
    /// Whether it needed a repair.
    pub is_repaired: bool,
    /// Its number among the verdicts, from 1.
    pub nth: usize,
}

/// An answer that the search used.
#[derive(Debug, Clone, PartialEq)]
pub struct UsedAnswer {
    /// Its purpose, as in [`Probes`](crate::Probes).
    pub phase: Untrusted,
    /// The revision of the tree.
    pub commit: CommitId,
    /// Its outcome; `None` for a run that was only compared with another one.
    pub outcome: Option<Outcome>,
    /// Whether it is from an earlier hunt.
    pub is_known: bool,
    /// The run, if its data still exist.
    pub seen: Option<ProbeRun>,
}

/// The run of a probe.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeRun {
    /// The command that ended it, and its ending: `test: exit code 1`.
    pub ending: String,
    /// Wall time of build and test.
    pub seconds: f64,
    /// Whether it ran in a freshly written checkout.
    pub is_clean: bool,
    /// The index of its output; `None` if there is none, or it is omitted.
    pub output: Option<usize>,
}

/// A reduction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReductionStory {
    /// The reduced change, in words.
    pub what: Untrusted,
    /// The revision of the change.
    pub commit: CommitId,
    /// Added and removed lines at the beginning.
    pub before: u64,
    /// Added and removed lines of the result.
    pub after: u64,
}

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePart {
    /// Its path.
    pub file: Untrusted,
    /// The known lines, with their numbers from 1, in order.
    pub lines: Vec<(u64, Untrusted)>,
}
