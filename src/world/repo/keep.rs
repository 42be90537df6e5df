//! Copies a tree of the private repository into the user's, as a commit for a ref of a finding.

use crate::revision::{CommitId, TreeId};
use crate::world::repo::ids::{commit_id, oid};
use crate::world::repo::{RepoError, Repository};
use git2::{ObjectType, Oid, Signature, Time};

/// Writes a commit of `tree` with the parent `parent`, and all its missing objects, into the user's object store.
///
/// The commit depends only on the arguments: author and time are fixed. No ref is changed.
pub fn keep(
    private: &Repository,
    user: &Repository,
    (tree, parent): (TreeId, CommitId),
    message: &str,
) -> Result<CommitId, RepoError> {
    let failed = |source| RepoError::git("keep the fix in the repository", source);
    copy(private, user, oid(tree.0))?;
    let parent = user.git().find_commit(oid(parent.0)).map_err(failed)?;
    let signature = Signature::new("git-idd", "git-idd", &Time::new(parent.time().seconds(), 0)).map_err(failed)?;
    let tree = user.git().find_tree(oid(tree.0)).map_err(failed)?;
    let id = user.git().commit(None, &signature, &signature, message, &tree, &[&parent]).map_err(failed)?;
    Ok(commit_id(id))
}

fn copy(private: &Repository, user: &Repository, tree: Oid) -> Result<(), RepoError> {
    let failed = |source| RepoError::git("keep the fix in the repository", source);
    let target = user.git().odb().map_err(failed)?;
    if target.exists(tree) {
        return Ok(());
    }
    let source = private.git().odb().map_err(failed)?;
    for entry in &private.git().find_tree(tree).map_err(failed)? {
        match entry.kind() {
            Some(ObjectType::Tree) => copy(private, user, entry.id())?,
            Some(ObjectType::Blob) if !target.exists(entry.id()) => {
                let blob = source.read(entry.id()).map_err(failed)?;
                target.write(ObjectType::Blob, blob.data()).map_err(failed)?;
            }
            _ => {}
        }
    }
    let object = source.read(tree).map_err(failed)?;
    target.write(ObjectType::Tree, object.data()).map_err(failed)?;
    Ok(())
}
