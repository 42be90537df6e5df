//! A probe: a tree to test, and a question about it.

use crate::{Phase, TestedRevision};
use idd_base::{CommitId, TreeId};

/// One question to the world: what is the outcome of this tree?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Probe {
    /// The tree, with held paths and overlay.
    pub tree: TreeId,
    /// Its revision, for progress and for `IDD_COMMIT`.
    pub revision: CommitId,
    /// Its purpose.
    pub phase: Phase,
    /// Whether the program is the artifact of the revision, in place of a build of the tree.
    pub is_fetched: bool,
    /// Whether the answer supports a claim, so only a run in a fresh worktree counts.
    pub is_claim: bool,
    /// For a candidate that a precheck may reject: the change that it is a part of. `None` if a result depends on the
    /// answer.
    pub precheck: Option<ChangeEnds>,
    /// The question.
    pub question: ProbeQuestion,
    /// Asks for the outcome of the run with this number, not for a verdict.
    pub run: Option<u32>,
}

impl Probe {
    /// Asks for the test, as the search does.
    pub fn of(tree: TreeId, revision: CommitId, phase: Phase) -> Self {
        let question = ProbeQuestion::Test;
        Self { tree, revision, phase, is_fetched: false, is_claim: false, precheck: None, question, run: None }
    }

    /// Asks for a tested revision in a fresh worktree.
    pub(super) fn again(tested: &TestedRevision) -> Self {
        let claim = Self::claim(tested.tree, tested.revision, ProbeQuestion::Test);
        Self { is_fetched: tested.is_fetched, ..claim }
    }

    /// Asks for the test in a fresh worktree, to prove the answer to `question`.
    pub(super) fn claim(tree: TreeId, revision: CommitId, question: ProbeQuestion) -> Self {
        Self { is_claim: true, question, ..Self::of(tree, revision, Phase::Verify) }
    }
}

/// A question about a tree. One test says little about a program, so a hit of a reduction is asked several questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProbeQuestion {
    /// The outcome of the test; it fails if the failure has the signature of the hunt.
    Test,
    /// The result of the test in a version that others are compared with. These trees have workers of their own, so
    /// that build products fit.
    Reference,
    /// The outcome of the test; it fails if the failure is exactly that of the newer end, and every printed line is one
    /// that either end prints.
    Exact(ChangeEnds),
    /// Whether compiler and interpreter print no warning that they do not print for any of these trees: passes, or
    /// fails. Passes if there is no checker.
    Complaints(Baseline),
    /// Whether the suite has no failure that it does not have in any of these trees: passes, or fails.
    Suite(Baseline),
    /// Whether the whole command passes where the hunted test does: passes, or fails. Costs nothing after that test.
    Command,
    /// Whether the suite is fast enough for each hit: passes, or fails. Unresolved if it cannot compare two trees.
    IsSuiteQuick,
}

impl ProbeQuestion {
    /// Whether the test answers it.
    pub fn is_of_test(self) -> bool {
        matches!(self, Self::Test | Self::Reference | Self::Exact(_))
    }
}

/// The trees that a candidate may be as bad as; they may be equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Baseline {
    /// In no particular order.
    pub trees: [TreeId; 3],
}

impl From<ChangeEnds> for Baseline {
    fn from(ends: ChangeEnds) -> Self {
        Self { trees: [ends.older, ends.newer, ends.newer] }
    }
}

/// The two trees whose difference is reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChangeEnds {
    /// The tree without the change.
    pub older: TreeId,
    /// The tree with the whole change.
    pub newer: TreeId,
}
