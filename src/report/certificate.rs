//! A finding that others can check: the commands, the trees, and the required outcomes.
//!
//! A claim names a commit and a patch to it, so every clone with the commit can make the tree again. The id of the tree
//! protects both. The relations between claims (the sufficient change leads from the first tree to the second, and so
//! on) are not stored; `verify` checks them.

use serde::{Deserialize, Serialize};

use crate::{HuntedFailure, Report, Untrusted};
use idd_base::{CommitId, TreeId};

/// The name of this form.
pub const SCHEMA: &str = "git-idd-certificate/1";

/// A certificate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// [`SCHEMA`].
    pub schema: String,
    /// The words of the command line that set the commands and the signature: `["--build", "make", "--", "./test.sh"]`.
    pub options: Vec<Untrusted>,
    /// The command that writes the generated files of a tree before its build.
    pub regenerate: Option<Untrusted>,
    /// The directory that the commands run in, relative to the top.
    pub directory: Untrusted,
    /// The paths of the author's working tree that the commands need beside the tested trees, such as installed
    /// dependencies.
    pub environment: Vec<Untrusted>,
    /// The hunted failure.
    pub signature: HuntedFailure,
    /// The newest revision that passes: a parent of the first bad one.
    pub last_good: CommitId,
    /// The first one that fails.
    pub first_bad: CommitId,
    /// If it is added to the last good revision, the test fails.
    pub sufficient: Option<Untrusted>,
    /// If it is taken out of the first bad revision, the test passes.
    pub necessary: Option<Untrusted>,
    /// If it is applied to the newest revision that it reached, the test passes.
    pub fix: Option<Untrusted>,
    /// The claims; each role at most once.
    pub claims: Vec<Claim>,
}

/// A claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its meaning.
    pub role: ClaimRole,
    /// The commit from which the tested tree is made.
    pub commit: CommitId,
    /// From the tree of the commit to the tested tree: held files, repairs, and the change of the claim.
    pub patch: Untrusted,
    /// The tested tree.
    pub tree: TreeId,
}

/// The meaning of a claim, in the order in which claims are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimRole {
    /// The last good revision passes.
    GoodPasses,
    /// The first bad revision fails.
    BadFails,
    /// With the sufficient change the good one fails.
    SufficientFails,
    /// Without the necessary change the bad one passes.
    NecessaryPasses,
    /// The target of the fix fails.
    TargetFails,
    /// With the fix it passes.
    FixPasses,
}

/// Each role, with its claim in a report; the last two roles also with that of a revert.
const ROLES: [(ClaimRole, &str); 8] = [
    (ClaimRole::GoodPasses, "the last good revision passes"),
    (ClaimRole::BadFails, "the first bad revision fails"),
    (ClaimRole::SufficientFails, "with the sufficient change it fails"),
    (ClaimRole::NecessaryPasses, "without the necessary change it passes"),
    (ClaimRole::TargetFails, "the newest revision reached by the fix fails"),
    (ClaimRole::FixPasses, "with the fix it passes"),
    (ClaimRole::TargetFails, "the newest revision fails"),
    (ClaimRole::FixPasses, "with the revert it passes"),
];

impl ClaimRole {
    /// In words.
    pub fn words(self) -> &'static str {
        ROLES.iter().find(|(role, _)| *role == self).map_or("", |(_, words)| words)
    }

    /// Whether the test must fail; else it must pass.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::BadFails | Self::SufficientFails | Self::TargetFails)
    }

    /// Whether it is about an unchanged revision.
    pub fn is_bare(self) -> bool {
        matches!(self, Self::GoodPasses | Self::BadFails | Self::TargetFails)
    }
}

/// The runs of a finding that were made to prove a claim: role, commit and tree, in the order of the roles.
pub fn proven(report: &Report) -> Vec<(ClaimRole, CommitId, TreeId)> {
    let of_role = |(role, words): (ClaimRole, &str)| {
        let is_it = |claim: &&crate::ClaimEvidence| {
            claim.claim == words.into() && claim.is_clean && claim.expected == claim.outcome
        };
        let evidence = report.evidence.iter().find(is_it)?;
        Some((role, evidence.commit?, evidence.tree?))
    };
    ROLES.into_iter().filter_map(of_role).collect()
}
