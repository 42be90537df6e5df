//! Whether a tree can have a file at a path.

use crate::repo::ids::oid;
use crate::repo::{RepoError, Repository};
use git2::ObjectType;
use idd_base::TreeId;

/// What prevents a file at a path. The paths are relative to the top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// A part of the path is `.git`.
    GitDirectory,
    /// It leads into this submodule, or is one.
    Submodule(Vec<u8>),
    /// It leads through this symbolic link.
    Link(Vec<u8>),
    /// It is below this file.
    File(Vec<u8>),
    /// It is a directory of the tree.
    Directory,
}

/// The mode of a symbolic link.
const LINK: i32 = 0o120_000;

/// Finds what prevents a file at `path`; `None` if a file can be there. A file or a symbolic link with this path is no
/// obstacle.
pub fn obstacle(repository: &Repository, tree: TreeId, path: &[u8]) -> Result<Option<Obstacle>, RepoError> {
    let failed = |source| RepoError::git("read a tree", source);
    let parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    if parts.iter().any(|part| part.eq_ignore_ascii_case(b".git")) {
        return Ok(Some(Obstacle::GitDirectory));
    }
    let mut current = repository.git().find_tree(oid(tree.0)).map_err(failed)?;
    for (index, part) in parts.iter().enumerate() {
        let is_last = index + 1 == parts.len();
        let Some((kind, mode, id)) = current
            .iter()
            .find(|entry| entry.name_bytes() == *part)
            .map(|entry| (entry.kind(), entry.filemode(), entry.id()))
        else {
            return Ok(None);
        };
        let here = || parts[..=index].join(&b'/');
        match kind {
            Some(ObjectType::Commit) => return Ok(Some(Obstacle::Submodule(here()))),
            Some(ObjectType::Tree) if is_last => return Ok(Some(Obstacle::Directory)),
            Some(ObjectType::Tree) => {}
            _ if is_last => return Ok(None),
            _ if mode == LINK => return Ok(Some(Obstacle::Link(here()))),
            _ => return Ok(Some(Obstacle::File(here()))),
        }
        current = repository.git().find_tree(id).map_err(failed)?;
    }
    Ok(None)
}
