//! Entries of trees, and their modes.

use crate::repo::Repository;
use git2::Oid;
use idd_change::EntryMode;

pub(super) fn entry_at(repository: &Repository, tree: &git2::Tree<'_>, path: &[u8]) -> Option<(i32, Oid)> {
    let mut current = tree.clone();
    let mut parts = path.split(|byte| *byte == b'/').peekable();
    while let Some(part) = parts.next() {
        let (mode, id) = {
            let entry = current.iter().find(|entry| entry.name_bytes() == part)?;
            (entry.filemode(), entry.id())
        };
        if parts.peek().is_none() {
            return Some((mode, id));
        }
        current = repository.git().find_tree(id).ok()?;
    }
    None
}

pub(super) fn mode_of(mode: i32) -> Option<EntryMode> {
    match mode {
        0o100_644 | 0o100_664 | 0o100_600 => Some(EntryMode::Regular),
        0o100_755 => Some(EntryMode::Executable),
        0o120_000 => Some(EntryMode::Symlink),
        0o160_000 => Some(EntryMode::Submodule),
        _ => None,
    }
}

pub(super) fn mode_bits(mode: EntryMode) -> i32 {
    match mode {
        EntryMode::Regular => 0o100_644,
        EntryMode::Executable => 0o100_755,
        EntryMode::Symlink => 0o120_000,
        EntryMode::Submodule => 0o160_000,
    }
}
