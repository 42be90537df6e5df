//! Finds the user's submodule repositories, whose objects are used as alternates.

use crate::repo::Repository;
use std::fs;
use std::path::{Path, PathBuf};

/// The maximum depth of nested submodules, and of names with slashes.
const MAX_DEPTH: usize = 16;

/// The object directories of the repositories below `modules` in the user's git directories, sorted; absolute if those
/// are.
///
/// Links are not followed. Cost: lists the directories above those of objects.
pub fn object_directories(git_directories: &[&Path]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for directory in git_directories {
        add(&directory.join("modules"), MAX_DEPTH, &mut found);
    }
    found.sort();
    found.dedup();
    found
}

/// Whether the user's checkout has the files of no submodule.
pub fn are_absent(user: &Repository) -> bool {
    let git = user.git();
    let is_empty = |path: &Path| fs::read_dir(path).map_or(true, |mut entries| entries.next().is_none());
    let Some(top) = git.workdir() else { return false };
    object_directories(&[git.commondir(), user.path()]).is_empty()
        && git.submodules().is_ok_and(|all| all.iter().all(|one| is_empty(&top.join(one.path()))))
}

/// Whether the user's checkout names a submodule.
pub fn has_any(user: &Repository) -> bool {
    user.git().submodules().is_ok_and(|all| !all.is_empty())
}

fn add(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let is_directory = |path: &Path| path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    if depth == 0 || !is_directory(directory) {
        return;
    }
    let objects = directory.join("objects");
    if is_directory(&objects) && directory.join("HEAD").is_file() {
        found.push(objects);
        return add(&directory.join("modules"), depth - 1, found);
    }
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        add(&entry.path(), depth - 1, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_are_found_by_their_names_and_inside_each_other() {
        let directory = tempfile::tempdir().unwrap();
        let git = directory.path();
        for name in ["a", "lib/b", "lib/b/modules/c"] {
            fs::create_dir_all(git.join("modules").join(name).join("objects/pack")).unwrap();
            fs::write(git.join("modules").join(name).join("HEAD"), "ref: refs/heads/main\n").unwrap();
        }
        fs::create_dir_all(git.join("modules/empty")).unwrap();
        let modules = git.join("modules");
        let expected = ["a", "lib/b/modules/c", "lib/b"].map(|name| modules.join(name).join("objects"));
        assert_eq!(object_directories(&[git, git]), expected);
        assert!(object_directories(&[&git.join("nowhere")]).is_empty());
    }
}
