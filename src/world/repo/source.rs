//! Finds source files of a tree by the name that a compiler was given.

use std::path::Path;

use crate::repo::Repository;
use crate::repo::ids::oid;
use git2::{ObjectType, Tree, TreeWalkMode, TreeWalkResult};
use idd_base::TreeId;

/// Larger files are not sources.
const MAX_BYTES: usize = 16 << 20;

/// The path and the content of the file `name` in a tree: that path, or the only path that ends with it.
pub fn find_in(repository: &Repository, tree: TreeId, name: &str) -> Option<(String, Vec<u8>)> {
    search(repository, &repository.git().find_tree(oid(tree.0)).ok()?, name)
}

/// The paths and texts of the files of a tree whose names end so; those that are no UTF-8 have replacement characters.
///
/// Cost: reads each of them.
pub fn texts(repository: &Repository, tree: TreeId, endings: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let Ok(tree) = repository.git().find_tree(oid(tree.0)) else { return found };
    let walked = tree.walk(TreeWalkMode::PreOrder, |directory, entry| {
        let whole = String::from_utf8_lossy(&[directory.as_bytes(), entry.name_bytes()].concat()).into_owned();
        if entry.kind() == Some(ObjectType::Blob)
            && endings.iter().any(|ending| whole.ends_with(ending))
            && let Ok(blob) = repository.git().find_blob(entry.id())
            && blob.size() <= MAX_BYTES
        {
            found.push((whole, String::from_utf8_lossy(blob.content()).into_owned()));
        }
        TreeWalkResult::Ok
    });
    debug_assert!(walked.is_ok(), "the walk ends at no entry");
    found
}

/// The paths of the files of a tree whose names end so, as far as they are UTF-8; in the order of the tree.
pub fn paths(repository: &Repository, tree: TreeId, endings: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let Ok(tree) = repository.git().find_tree(oid(tree.0)) else { return found };
    let walked = tree.walk(TreeWalkMode::PreOrder, |directory, entry| {
        if let Some(name) = entry.name().ok().filter(|name| endings.iter().any(|ending| name.ends_with(ending)))
            && entry.kind() == Some(ObjectType::Blob)
        {
            found.push(format!("{directory}{name}"));
        }
        TreeWalkResult::Ok
    });
    debug_assert!(walked.is_ok(), "the walk ends at no entry");
    found
}

/// Whether the names of some files of a tree end so; `None` if it cannot be read.
pub fn has(repository: &Repository, tree: TreeId, endings: &[&str]) -> Option<bool> {
    let tree = repository.git().find_tree(oid(tree.0)).ok()?;
    let mut is_found = false;
    // Where it is aborted, this is an error.
    let _ = tree.walk(TreeWalkMode::PreOrder, |_, entry| {
        is_found |= endings.iter().any(|ending| entry.name_bytes().ends_with(ending.as_bytes()));
        if is_found { TreeWalkResult::Abort } else { TreeWalkResult::Ok }
    });
    Some(is_found)
}

fn search(repository: &Repository, tree: &Tree<'_>, name: &str) -> Option<(String, Vec<u8>)> {
    let parts: Vec<&str> = name.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
    // The working directory of the compiler is unknown, and so is the part of an absolute path that belongs to the
    // checkout.
    for n_left_out in 0..parts.len() {
        let path = parts[n_left_out..].join("/");
        let found = tree.get_path(Path::new(&path)).ok().map(|entry| (path.clone(), entry.id()));
        let found = found.or_else(|| {
            let mut found = Vec::new();
            let walked = tree.walk(TreeWalkMode::PreOrder, |directory, entry| {
                // What is no UTF-8 has replacement characters in the name, too.
                let whole = String::from_utf8_lossy(&[directory.as_bytes(), entry.name_bytes()].concat()).into_owned();
                let is_end = whole.strip_suffix(&path).is_some_and(|before| before.is_empty() || before.ends_with('/'));
                if is_end && entry.kind() == Some(ObjectType::Blob) {
                    found.push((whole, entry.id()));
                }
                TreeWalkResult::Ok
            });
            walked.ok().filter(|()| found.len() == 1).and_then(|()| found.pop())
        });
        if let Some((path, blob)) = found.and_then(|(path, id)| Some((path, repository.git().find_blob(id).ok()?))) {
            return (blob.size() <= MAX_BYTES).then(|| (path, blob.content().to_vec()));
        }
    }
    None
}
