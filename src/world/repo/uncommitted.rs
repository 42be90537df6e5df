//! What the user changed and has not committed.

use crate::repo::{Location, private};
use git2::{IndexEntry, IndexEntryExtendedFlag, IndexEntryFlag, ObjectType, Oid, StatusOptions};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

/// The tracked files (relative to the top) that the working tree or the index has in another version than `HEAD`; none if
/// the repository cannot be opened.
///
/// Nothing is written, not even the index. No filter and no monitor of files runs, as they would for `git status`.
pub fn changed(location: &Location) -> Vec<Vec<u8>> {
    let Ok(user) = private::open(&location.git_directory) else { return Vec::new() };
    let mut options = StatusOptions::new();
    options.include_untracked(false).include_ignored(false).exclude_submodules(true).update_index(false);
    let Ok(statuses) = user.git().statuses(Some(&mut options)) else { return Vec::new() };
    let hidden = hidden(user.git()).unwrap_or_default();
    let left_out = left_out(user.git()).unwrap_or_default();
    let seen = statuses.iter().map(|entry| entry.path_bytes().to_vec());
    let seen = seen.filter(|path| !left_out.contains(path));
    seen.chain(hidden).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The files that a sparse checkout leaves out; a file that is there is not one of them.
fn left_out(user: &git2::Repository) -> Result<BTreeSet<Vec<u8>>, git2::Error> {
    let Some(top) = user.workdir() else { return Ok(BTreeSet::new()) };
    let is_left_out = |entry: &IndexEntry| {
        IndexEntryExtendedFlag::from_bits_truncate(entry.flags_extended).is_skip_worktree()
            && top.join(OsStr::from_bytes(&entry.path)).symlink_metadata().is_err()
    };
    Ok(user.index()?.iter().filter(is_left_out).map(|entry| entry.path).collect())
}

/// The changed files that git was told not to look at (`git update-index --skip-worktree`, `--assume-unchanged`). A file that
/// is not there is left out by a sparse checkout.
fn hidden(user: &git2::Repository) -> Result<Vec<Vec<u8>>, git2::Error> {
    let Some(top) = user.workdir() else { return Ok(Vec::new()) };
    let is_unseen = |entry: &IndexEntry| {
        IndexEntryFlag::from_bits_truncate(entry.flags).is_valid()
            || IndexEntryExtendedFlag::from_bits_truncate(entry.flags_extended).is_skip_worktree()
    };
    let is_changed = |entry: &IndexEntry| {
        let file = top.join(OsStr::from_bytes(&entry.path));
        let is_file = file.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
        let Some(text) = fs::read(file).ok().filter(|_| is_file) else { return false };
        let is_stored = |text: &[u8]| Oid::hash_object(ObjectType::Blob, text).is_ok_and(|id| id == entry.id);
        // Git may have written other ends of lines.
        let is_kept = |at: usize| text[at] != b'\r' || text.get(at + 1) != Some(&b'\n');
        let plain: Vec<u8> = (0..text.len()).filter(|at| is_kept(*at)).map(|at| text[at]).collect();
        !is_stored(&text) && !is_stored(&plain)
    };
    Ok(user.index()?.iter().filter(is_unseen).filter(is_changed).map(|entry| entry.path).collect())
}
