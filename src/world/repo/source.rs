//! Source files of a commit, by the name that a compiler was given.

use std::path::Path;

use crate::revision::CommitId;
use crate::world::repo::graph::oid;
use git2::ObjectType;
use git2::Repository;
use git2::TreeWalkMode;
use git2::TreeWalkResult;

/// Files larger than this are no sources.
const MAX_BYTES: usize = 16 << 20;

/// The content of the file that `name` means in a commit: that path, or the only one that ends with it.
pub fn find(repository: &Repository, commit: CommitId, name: &str) -> Option<Vec<u8>> {
    let tree = repository.find_commit(oid(commit.0)).and_then(|commit| commit.tree()).ok()?;
    let parts: Vec<&str> = name.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
    // The directory that the compiler ran in is not known, nor how much of an absolute path is that of the checkout.
    for n_left_out in 0..parts.len() {
        let path = parts[n_left_out..].join("/");
        let found = tree.get_path(Path::new(&path)).ok().map(|entry| entry.id());
        let id = found.or_else(|| {
            let mut ids = Vec::new();
            let walked = tree.walk(TreeWalkMode::PreOrder, |directory, entry| {
                let whole = [directory.as_bytes(), entry.name_bytes()].concat();
                let is_end = whole.strip_suffix(path.as_bytes()).is_some_and(|before| before.ends_with(b"/"));
                if is_end && entry.kind() == Some(ObjectType::Blob) {
                    ids.push(entry.id());
                }
                TreeWalkResult::Ok
            });
            walked.ok().filter(|()| ids.len() == 1).map(|()| ids[0])
        });
        if let Some(blob) = id.and_then(|id| repository.find_blob(id).ok()) {
            return (blob.size() <= MAX_BYTES).then(|| blob.content().to_vec());
        }
    }
    None
}
