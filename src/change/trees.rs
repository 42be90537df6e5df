//! The store of trees that engines compute with: pure functions of content ids.

use crate::{ChangeSet, FilePair, Subset};
use idd_base::TreeId;
use std::error::Error;
use std::rc::Rc;

/// Reading or writing the object store failed; the work stops.
#[derive(Debug, thiserror::Error)]
#[error("failed to {attempt}")]
pub struct TreesError {
    /// What was attempted, as in "failed to ...".
    pub attempt: String,
    /// Why it failed.
    #[source]
    pub source: Box<dyn Error + Send + Sync>,
}

/// The method by which a patch was carried, from the plainest on. With several files: the last method that some file
/// needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rung {
    /// A three-way merge by hunks.
    Merge,
    /// Line by line: edits touch.
    Lines,
    /// By syntax: declarations wherever they stand, tokens whatever their formatting.
    Syntax,
    /// By syntax, after old names of the patch were replaced by the present ones.
    Renamed,
    /// Not carried, but found by a new reduction. No merge returns this.
    Reduced,
}

/// The result of carrying a patch to another tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merged {
    /// It applies: the new tree, and the method.
    Clean(TreeId, Rung),
    /// Some paths conflict.
    Conflict,
}

/// Which side wins where a merge conflicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Favor {
    /// Neither: a conflict is a conflict.
    Neither,
    /// The patch wins.
    Patch,
}

/// Trees by content id. Every function is deterministic: the same ids give the same result in every run.
pub trait Trees {
    /// The files that differ between two trees and whose path is wanted.
    fn files(
        &self,
        older: TreeId,
        newer: TreeId,
        is_wanted: &dyn Fn(&[u8]) -> bool,
    ) -> Result<Vec<FilePair>, TreesError> {
        let mut files = self.change_set(older, newer)?.files().to_vec();
        files.retain(|pair| is_wanted(pair.path()));
        Ok(files)
    }

    /// The difference of two trees as units.
    fn change_set(&self, older: TreeId, newer: TreeId) -> Result<Rc<ChangeSet>, TreesError>;

    /// The older tree of `set` with the units of `subset` applied; `None` if they do not fit into one tree.
    fn compose(&self, set: &ChangeSet, older: TreeId, subset: &Subset) -> Result<Option<TreeId>, TreesError>;

    /// Carries the patch `base` -> `patched` to `ours`, as a three-way merge.
    fn merge(&self, base: TreeId, ours: TreeId, patched: TreeId, favor: Favor) -> Result<Merged, TreesError>;

    /// The tested form of the tree: with held paths and the overlay.
    fn view(&self, tree: TreeId) -> Result<TreeId, TreesError>;

    /// Whether two trees differ below the pathspecs of the hunt; always true without pathspecs.
    fn differ_in_scope(&self, older: TreeId, newer: TreeId) -> Result<bool, TreesError>;

    /// The tree with those held files that it does not have itself; `None` if it has none of them with other content.
    fn released(&self, tree: TreeId) -> Result<Option<TreeId>, TreesError>;
}
