//! A fix that somebody proposes: a patch, or a revision whose change is merged into HEAD.

use crate::Failure;
use crate::failure::chain;
use idd_base::{CommitId, TreeId};
use idd_world::repo::{PlainMerge, RepoError, Repository, TreeStore, graph};

/// A proposed fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proposal {
    /// A patch of `git diff` or `git format-patch`.
    Patch {
        /// The name of its file; `-` is standard input.
        name: String,
        /// Its content.
        bytes: Vec<u8>,
    },
    /// The change from HEAD to this revision.
    Revision(String),
}

impl Proposal {
    /// Its name for messages.
    pub fn name(&self) -> &str {
        match self {
            Self::Patch { name, .. } | Self::Revision(name) => name,
        }
    }
}

/// The change of a proposal.
pub(super) struct ProposedChange {
    /// HEAD with it; `Err` if it does not apply.
    pub(super) tree: Result<TreeId, Unfit>,
    /// The commit, if a revision was named.
    pub(super) commit: Option<CommitId>,
    /// Whether it was merged into HEAD; `None` for a patch.
    pub(super) is_merged: Option<bool>,
}

/// Why a change does not apply.
pub(super) struct Unfit {
    pub(super) why: String,
    /// The files in conflict.
    pub(super) files: Vec<Vec<u8>>,
}

/// Applies a proposal to HEAD. Nothing is run.
///
/// Errors: it cannot be read, names a path that git refuses, or changes nothing.
pub(super) fn applied(
    proposal: &Proposal,
    head: CommitId,
    user: &Repository,
    store: &TreeStore,
) -> Result<ProposedChange, Failure> {
    let before = graph::tree_of(user, head)?;
    let change = match proposal {
        Proposal::Patch { name, bytes } => patched(name, bytes, before, store)?,
        Proposal::Revision(name) => merged(name, head, user, store)?,
    };
    if change.tree.as_ref().is_ok_and(|tree| *tree == before) {
        let message = match proposal {
            Proposal::Patch { name, .. } => format!("`{name}` is no patch that changes a file of HEAD"),
            Proposal::Revision(name) => format!("`{name}` changes nothing at HEAD, which has all of it"),
        };
        return Err(Failure::usage(message)
            .with_hint("`git idd try` takes a patch for HEAD, or a revision that HEAD does not contain"));
    }
    Ok(change)
}

fn patched(name: &str, bytes: &[u8], before: TreeId, store: &TreeStore) -> Result<ProposedChange, Failure> {
    let change = |tree| Ok(ProposedChange { tree, commit: None, is_merged: None });
    match store.apply(before, bytes) {
        Ok(tree) => change(Ok(tree)),
        Err(RepoError::Patch { said, is_unfit: true }) => change(Err(Unfit { why: said, files: Vec::new() })),
        Err(RepoError::Patch { said, .. }) => Err(Failure::usage(format!("the patch `{name}` {said}"))
            .with_hint("`git idd try` takes a patch as `git diff --binary` and `git format-patch` print it")),
        Err(error) => Err(error.into()),
    }
}

fn merged(name: &str, head: CommitId, user: &Repository, store: &TreeStore) -> Result<ProposedChange, Failure> {
    let commit = graph::resolve(user, name)
        .map_err(|error| Failure::usage(chain(&error)).with_hint("`git branch --all` lists branches"))?;
    let tree = |commit| graph::tree_of(user, commit);
    let change = |tree, is_merged| Ok(ProposedChange { tree, commit: Some(commit), is_merged: Some(is_merged) });
    if commit == head || graph::is_ancestor(user, head, commit) {
        return change(Ok(tree(commit)?), false);
    }
    if graph::is_ancestor(user, commit, head) {
        return change(Ok(tree(head)?), false);
    }
    let Some(base) = graph::merge_base(user, head, commit) else {
        return Err(Failure::usage(format!("`{name}` and HEAD have no common ancestor"))
            .with_hint("`git diff` prints the difference of two revisions as a patch"));
    };
    match store.merge_plainly(tree(base)?, tree(head)?, tree(commit)?)? {
        PlainMerge::Clean(tree) => change(Ok(tree), true),
        PlainMerge::Conflict(files) => {
            let why = format!("its change since {} conflicts with HEAD", base.short());
            change(Err(Unfit { why, files }), true)
        }
    }
}
