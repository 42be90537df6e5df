//! A tree together with the revision that it stands for.

use idd_base::{CommitId, TreeId};

/// A tree of the private repository that is tested as a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeVersion {
    /// The tree.
    pub tree: TreeId,
    /// The revision of which the tree is a version.
    pub commit: CommitId,
}
