//! What the user changed and has not committed.

use crate::repo::{Location, private};
use git2::StatusOptions;

/// The tracked files (relative to the top) that the working tree or the index has in another version than `HEAD`; none if
/// the repository cannot be opened.
///
/// Nothing is written, not even the index. No filter and no monitor of files runs, as they would for `git status`.
pub fn changed(location: &Location) -> Vec<Vec<u8>> {
    let Ok(user) = private::open(&location.git_directory) else { return Vec::new() };
    let mut options = StatusOptions::new();
    options.include_untracked(false).include_ignored(false).exclude_submodules(true).update_index(false);
    let Ok(statuses) = user.git().statuses(Some(&mut options)) else { return Vec::new() };
    statuses.iter().map(|entry| entry.path_bytes().to_vec()).collect()
}
