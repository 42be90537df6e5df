//! The user's state as a digest: a hunt must not change it.

use crate::repo::{Location, refs};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Size and times of the files with the user's state: if they are unchanged, so is the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glance([u8; 32]);

impl Glance {
    /// Examines HEAD, index, refs and configuration without reading them. Cost: one stat for each file.
    pub fn take(location: &Location) -> Self {
        let mut digest = Sha256::new();
        for directory in [&location.git_directory, &location.common_directory] {
            for name in ["HEAD", "index", "packed-refs", "logs/refs/stash", "config", "config.worktree"] {
                stat(&directory.join(name), &mut digest);
            }
            add_stats(&directory.join("refs"), &mut digest);
            add_stats(&directory.join("reftable"), &mut digest);
        }
        Self(digest.finalize().into())
    }
}

/// Parts of the user's state, each with a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserState {
    parts: BTreeMap<&'static str, [u8; 32]>,
}

impl UserState {
    /// Reads HEAD, index, refs (with the stash, without `refs/worktree/idd`) and configuration.
    ///
    /// Refs are what git says, so packing them changes nothing.
    ///
    /// Cost: three or four runs of git, and the bytes of the other files; no working tree file is touched.
    pub fn read(location: &Location) -> Self {
        let own = |name: &str| file(&location.git_directory.join(name));
        let of_text = |text: Vec<u8>| Sha256::digest(text).into();
        let config = [file(&location.common_directory.join("config")), own("config.worktree")].concat();
        let parts = BTreeMap::from([
            ("HEAD", of_text(refs::head(location))),
            ("index", own("index")),
            ("refs", of_text(refs::listing(location))),
            ("stash", of_text(refs::stash(location))),
            ("config", of_text(config)),
        ]);
        Self { parts }
    }

    /// Adds the files of the working tree, by size and time of change.
    ///
    /// Cost: one stat for each file.
    #[must_use]
    pub fn with_work_tree(mut self, location: &Location) -> Self {
        if let Some(top) = &location.top {
            let mut digest = Sha256::new();
            add_files(top, &location.git_directory, &mut digest);
            self.parts.insert("working tree", digest.finalize().into());
        }
        self
    }

    /// The names of the parts that differ, if both have them.
    pub fn changed(&self, later: &Self) -> Vec<&'static str> {
        let differs = |(name, digest): (&&'static str, &[u8; 32])| {
            later.parts.get(name).is_some_and(|other| other != digest).then_some(*name)
        };
        self.parts.iter().filter_map(differs).collect()
    }
}

fn file(path: &Path) -> [u8; 32] {
    let mut digest = Sha256::new();
    // Opening a FIFO would wait for a writer.
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    if is_file && let Ok(bytes) = fs::read(path) {
        digest.update([1]);
        digest.update(bytes);
    }
    digest.finalize().into()
}

/// One stat for each file, relative to its directory: a whole path would be resolved again each time.
fn add_files(directory: &Path, git_directory: &Path, digest: &mut Sha256) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let look = |entry: DirEntry| Some((entry.file_name(), entry.metadata().ok()?));
    let mut files: Vec<(OsString, Metadata)> = entries.filter_map(|entry| entry.ok().and_then(look)).collect();
    files.sort_by(|(name, _), (other, _)| name.cmp(other));
    for (name, metadata) in files {
        let path = directory.join(&name);
        if name == ".git" || path == git_directory {
            continue;
        }
        add_name(&name, &metadata, digest);
        if metadata.is_dir() {
            add_files(&path, git_directory, digest);
            // No file has this name.
            digest.update(b"/\0");
        } else {
            add_stat(&metadata, digest);
        }
    }
}

fn add_stats(directory: &Path, digest: &mut Sha256) {
    for path in sorted(directory).into_iter().filter(|path| !path.ends_with("refs/worktree/idd")) {
        if path.is_dir() {
            add_stats(&path, digest);
        } else {
            digest.update(path.as_os_str().as_bytes());
            stat(&path, digest);
        }
    }
}

fn stat(path: &Path, digest: &mut Sha256) {
    match fs::symlink_metadata(path) {
        Ok(metadata) => add_stat(&metadata, digest),
        Err(_) => digest.update([0]),
    }
}

/// Name and mode; a name contains no zero, so a zero ends it.
fn add_name(name: &OsStr, metadata: &Metadata, digest: &mut Sha256) {
    digest.update(name.as_bytes());
    digest.update([0]);
    digest.update(metadata.mode().to_le_bytes());
}

fn add_stat(metadata: &Metadata, digest: &mut Sha256) {
    digest.update(metadata.size().to_le_bytes());
    digest.update(metadata.mtime().to_le_bytes());
    digest.update(metadata.mtime_nsec().to_le_bytes());
    digest.update(metadata.ino().to_le_bytes());
}

fn sorted(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Whether the digest notices a shell script that runs in the working tree.
    #[track_caller]
    fn check(script: &str, is_seen: bool) {
        let place = tempfile::tempdir().unwrap();
        let top = place.path().join("top");
        let sh =
            |line: &str| assert!(Command::new("sh").args(["-ec", line]).current_dir(&top).status().unwrap().success());
        fs::create_dir_all(top.join(".git/sub")).unwrap();
        sh("mkdir -p a/b c; echo one >a/one; echo two >a/b/two; ln -s one a/link; echo three >c/three");
        let git_directory = top.join(".git");
        let common_directory = git_directory.clone();
        let location = Location { git_directory, common_directory, top: Some(top.clone()), prefix: PathBuf::new() };
        let state = || UserState::read(&location).with_work_tree(&location);
        let before = state();
        sh(script);
        let expected: &[&str] = if is_seen { &["working tree"] } else { &[] };
        assert_eq!(before.changed(&state()), expected, "{script}");
    }

    fn what_happens_to_refs_is_seen(format: &str) {
        let place = tempfile::tempdir().unwrap();
        let top = place.path().to_owned();
        let sh = |line: &str| {
            let mut command = Command::new("sh");
            command.args(["-ec", line]).current_dir(&top).env("GIT_CONFIG_GLOBAL", "/dev/null").env("EMAIL", "a@b");
            command.env("GIT_AUTHOR_NAME", "a").env("GIT_COMMITTER_NAME", "a").status().unwrap().success()
        };
        // An older git has files only.
        if !sh(&format!("git init -q --ref-format={format} . 2>/dev/null")) {
            assert!(sh("git init -q"));
        }
        let git_directory = top.join(".git");
        let common_directory = git_directory.clone();
        let location = Location { git_directory, common_directory, top: None, prefix: PathBuf::new() };
        assert!(sh("echo 1 >a; git add a; git commit -qm one; for n in 2 3; do echo $n >a; git stash -q; done"));
        let check = |script: &str, expected: &[&str]| {
            let before = UserState::read(&location);
            assert!(sh(script), "{script}");
            assert_eq!(before.changed(&UserState::read(&location)), expected, "{script}");
        };
        check("git update-ref refs/worktree/idd/fix HEAD", &[]);
        check("git pack-refs --all", &[]);
        check("git gc -q", &[]);
        let before = Glance::take(&location);
        check("git tag t", &["refs"]);
        assert_ne!(Glance::take(&location), before);
        check("git symbolic-ref HEAD refs/heads/other", &["HEAD"]);
        check("git symbolic-ref refs/one refs/tags/t", &["refs"]);
        check("git stash drop -q stash@{1}", &["stash"]);
        check("git update-ref --no-deref -d refs/one; git update-ref -d refs/tags/t", &["refs"]);
        // Git does not read it either.
        check("[ -f .git/refs/heads ] || mkfifo .git/refs/heads/pipe", &[]);
        check("git config a.b c", &["config"]);
        check("git rm -q --cached a", &["index"]);
    }

    #[test]
    fn what_happens_to_refs_in_files_is_seen() {
        what_happens_to_refs_is_seen("files");
    }

    #[test]
    fn what_happens_to_refs_in_tables_is_seen() {
        what_happens_to_refs_is_seen("reftable");
    }

    #[test]
    fn what_happens_to_a_file_of_the_working_tree_is_seen() {
        check("true", false);
        check("cat a/one a/b/two; ls -R; echo x >.git/sub/x", false);
        check("echo 1ne >a/one", true);
        check("touch -d 2001-01-01 c/three", true);
        check("chmod 600 a/b/two", true);
        check("cp -p c/three x; mv x c/three", true);
        check("mv a/b b", true);
        check("mv a/b/two a/two", true);
        check("rm a/link", true);
        check("ln -sfn two a/link", true);
        check("mkdir c/empty", true);
        check("touch new", true);
    }
}
