//! A finding as something that others can check: what to run, on which trees, and what must be seen.
//!
//! A claim names a commit and a patch to it, so that any clone that has the commit can make the tree again; the id of the
//! tree guards both. What the claims have to do with each other (the sufficient change leads from the first to the second,
//! and so on) is not written down but checked by whoever verifies.

use serde::Deserialize;
use serde::Serialize;

use crate::report::Report;
use crate::report::Signature;
use crate::report::Untrusted;
use crate::revision::CommitId;
use crate::revision::TreeId;

/// The name of this form.
pub const SCHEMA: &str = "git-idd-certificate/1";

/// A certificate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// [`SCHEMA`].
    pub schema: String,
    /// The words of the command line that say what is run and what a failure is: `["--build", "make", "--", "./test.sh"]`.
    pub options: Vec<Untrusted>,
    /// What writes the generated files of a tree before it is built.
    pub regenerate: Option<Untrusted>,
    /// The directory that the commands run in, relative to the top.
    pub directory: Untrusted,
    /// What the failure looks like.
    pub signature: Signature,
    /// The newest revision that passes: a parent of the first bad one.
    pub last_good: CommitId,
    /// The first one that fails.
    pub first_bad: CommitId,
    /// Added to the last good revision, it fails.
    pub sufficient: Option<Untrusted>,
    /// Taken out of the first bad revision, it passes.
    pub necessary: Option<Untrusted>,
    /// Applied to the newest revision that it reached, it passes.
    pub fix: Option<Untrusted>,
    /// What must be seen; each role at most once.
    pub claims: Vec<Claim>,
}

/// A claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// What it says.
    pub role: Role,
    /// The commit that the tested tree is made from.
    pub commit: CommitId,
    /// From the tree of the commit to the tested one: held files, repairs, and the change that the claim is about.
    pub patch: Untrusted,
    /// The tested tree.
    pub tree: TreeId,
}

/// What a claim says, in the order in which they are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The last good revision passes.
    GoodPasses,
    /// The first bad revision fails.
    BadFails,
    /// With the sufficient change the good one fails.
    SufficientFails,
    /// Without the necessary change the bad one passes.
    NecessaryPasses,
    /// The revision that the fix is for fails.
    TargetFails,
    /// With the fix it passes.
    FixPasses,
}

/// Each role, and the claim of a report that it is.
const ROLES: [(Role, &str); 6] = [
    (Role::GoodPasses, "the last good revision passes"),
    (Role::BadFails, "the first bad revision fails"),
    (Role::SufficientFails, "with the sufficient change it fails"),
    (Role::NecessaryPasses, "without the necessary change it passes"),
    (Role::TargetFails, "the newest revision reached by the fix fails"),
    (Role::FixPasses, "with the fix it passes"),
];

impl Role {
    /// In words.
    pub fn words(self) -> &'static str {
        ROLES.iter().find(|(role, _)| *role == self).map_or("", |(_, words)| words)
    }

    /// Whether the test must fail; else it must pass.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::BadFails | Self::SufficientFails | Self::TargetFails)
    }

    /// Whether it speaks of the history as it is, and of no change.
    pub fn is_bare(self) -> bool {
        matches!(self, Self::GoodPasses | Self::BadFails | Self::TargetFails)
    }
}

/// The runs behind a finding that were made for their claim: role, commit and tree, in the order of the roles.
pub fn proven(report: &Report) -> Vec<(Role, CommitId, TreeId)> {
    let of_role = |(role, words): (Role, &str)| {
        let is_it = |claim: &&crate::report::Evidence| {
            claim.claim == words.into() && claim.is_clean && claim.expected == claim.outcome
        };
        let evidence = report.evidence.iter().find(is_it)?;
        Some((role, evidence.commit?, evidence.tree?))
    };
    ROLES.into_iter().filter_map(of_role).collect()
}
