//! Edits trees: sets or removes some paths of a tree, and writes the result to the object store.

use crate::repo::{RepoError, Repository};
use git2::{ObjectType, Oid};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The new entry of a path: mode and object, or nothing.
pub type EditedEntry = Option<(i32, Oid)>;

/// The edits below one directory.
#[derive(Debug, Default)]
struct DirectoryEdit {
    entry: Option<EditedEntry>,
    below: BTreeMap<Vec<u8>, DirectoryEdit>,
}

/// Writes `base` with `edits` applied (path -> entry). A directory that becomes empty disappears.
///
/// `None` if libgit2 refuses a name, or one edit needs a file where another needs a directory.
pub fn edit(
    repository: &Repository,
    base: Oid,
    edits: impl IntoIterator<Item = (Vec<u8>, EditedEntry)>,
) -> Result<Option<Oid>, RepoError> {
    let mut root = DirectoryEdit::default();
    for (path, entry) in edits {
        let mut node = &mut root;
        for part in path.split(|byte| *byte == b'/') {
            node = node.below.entry(part.to_vec()).or_default();
        }
        node.entry = Some(entry);
    }
    write(repository, Some(base), &root)
}

fn write(repository: &Repository, base: Option<Oid>, node: &DirectoryEdit) -> Result<Option<Oid>, RepoError> {
    let failed = |source| RepoError::git("write a tree", source);
    let tree = base.map(|id| repository.git().find_tree(id)).transpose().map_err(failed)?;
    let mut builder = repository.git().treebuilder(tree.as_ref()).map_err(failed)?;
    for (name, child) in &node.below {
        let path = Path::new(OsStr::from_bytes(name));
        let present = builder.get(path).map_err(failed)?.map(|entry| (entry.kind(), entry.id()));
        if !child.below.is_empty() {
            // A file of this name is removed by the same edit, or it is in the way.
            let is_file = matches!(present, Some((kind, _)) if kind != Some(ObjectType::Tree));
            if is_file && child.entry.is_none() {
                return Ok(None);
            }
            let below = present.filter(|(kind, _)| *kind == Some(ObjectType::Tree)).map(|(_, id)| id);
            let Some(written) = write(repository, below, child)? else { return Ok(None) };
            if present.is_some() {
                builder.remove(path).map_err(failed)?;
            }
            // A file can replace a directory that the same edit empties.
            let entry = match (is_empty(repository, written)?, child.entry.flatten()) {
                (true, file) => file,
                (false, None) => Some((0o040_000, written)),
                (false, Some(_)) => return Ok(None),
            };
            if let Some((mode, id)) = entry
                && builder.insert(path, id, mode).is_err()
            {
                return Ok(None);
            }
            continue;
        }
        match child.entry.as_ref().and_then(|entry| *entry) {
            Some((mode, id))
                if matches!(present, Some((Some(ObjectType::Tree), _))) || builder.insert(path, id, mode).is_err() =>
            {
                return Ok(None);
            }
            None if present.is_some() => builder.remove(path).map_err(failed)?,
            Some(_) | None => {}
        }
    }
    builder.write().map(Some).map_err(failed)
}

fn is_empty(repository: &Repository, tree: Oid) -> Result<bool, RepoError> {
    let tree = repository.git().find_tree(tree).map_err(|source| RepoError::git("read a tree", source))?;
    Ok(tree.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_repository(check: impl FnOnce(&Repository, Oid)) {
        let directory = tempfile::tempdir().unwrap();
        let repository = Repository::from(git2::Repository::init_bare(directory.path()).unwrap());
        let empty = repository.git().treebuilder(None).unwrap().write().unwrap();
        check(&repository, empty);
    }

    fn file(repository: &Repository, path: &str, text: &str) -> (Vec<u8>, EditedEntry) {
        (path.into(), Some((0o100_644, repository.git().blob(text.as_bytes()).unwrap())))
    }

    #[test]
    fn what_is_put_in_and_taken_out_again_leaves_the_tree_as_it_was() {
        with_repository(|repository, empty| {
            let put = [file(repository, "a/b/c", "x"), file(repository, "d", "y")];
            let tree = edit(repository, empty, put).unwrap().unwrap();
            assert_ne!(tree, empty);
            let take = [(b"a/b/c".to_vec(), None), (b"d".to_vec(), None)];
            assert_eq!(edit(repository, tree, take).unwrap(), Some(empty));
        });
    }

    #[test]
    fn a_file_may_become_a_directory_only_if_it_is_removed() {
        with_repository(|repository, empty| {
            let tree = edit(repository, empty, [file(repository, "a", "x")]).unwrap().unwrap();
            let below = file(repository, "a/b", "y");
            assert_eq!(edit(repository, tree, [below.clone()]).unwrap(), None);
            assert!(edit(repository, tree, [(b"a".to_vec(), None), below]).unwrap().is_some());
        });
    }

    #[test]
    fn a_name_that_git_forbids_is_refused() {
        with_repository(|repository, empty| {
            assert_eq!(edit(repository, empty, [file(repository, ".git/config", "x")]).unwrap(), None);
        });
    }
}
