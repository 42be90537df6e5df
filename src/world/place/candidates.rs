//! What the user's working tree has beside the tracked files: what a test may need of it, and caches of build tools.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::world::files::{self, OnDisk};
use crate::world::place::surroundings::Shown;
use crate::world::repo::locate::{self, Location};

/// The largest file and the largest directory that become part of the tested trees, in bytes.
const MAX_HELD_BYTES: u64 = 4 << 20;

/// The largest directory that becomes part of the tested trees, in entries.
const MAX_HELD_ENTRIES: usize = 500;

/// At most so many bytes become part of the tested trees in all.
const MAX_BYTES: u64 = 64 << 20;

/// Entries of a directory that its digest covers.
const MAX_DIGESTED: usize = 200_000;

/// The file with which a directory says that it is a cache, see `bford.info/cachedir`.
const CACHE_TAG: &str = "CACHEDIR.TAG";

/// Names of directories that are caches without that file.
const CACHES: [&str; 5] = ["__pycache__", ".mypy_cache", ".ruff_cache", ".gradle", ".ccls-cache"];

/// A path of the user's working tree that is not tracked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its path, relative to the top: the topmost directory with nothing tracked below it, or a file.
    pub path: Vec<u8>,
    /// Whether git ignores it.
    pub is_ignored: bool,
    /// How it becomes visible.
    pub content: Content,
}

/// How a path becomes visible in a checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// These files become part of the tested trees.
    Held(BTreeMap<Vec<u8>, OnDisk>),
    /// It is too large for that.
    Shown(Shown),
}

impl Candidate {
    /// Its files, if they are part of the tested trees.
    pub fn held(&self) -> impl Iterator<Item = (&Vec<u8>, &OnDisk)> {
        let held = match &self.content {
            Content::Held(files) => Some(files),
            Content::Shown(_) => None,
        };
        held.into_iter().flatten()
    }

    /// What is shown beside the tested trees.
    pub fn shown(&self) -> Option<&Shown> {
        match &self.content {
            Content::Held(_) => None,
            Content::Shown(shown) => Some(shown),
        }
    }
}

/// What is beside the tracked files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Beside {
    /// What a test may need, what git does not ignore first.
    pub candidates: Vec<Candidate>,
    /// Caches of build tools.
    pub caches: Vec<Shown>,
}

/// Looks at the working tree; nothing if there is none, or git cannot say.
///
/// - `is_known`: whether a path is not to be listed, because every checkout has it.
///
/// Cost: git reads the names of all files; small files are read.
pub fn beside(location: &Location, environment: &[(OsString, OsString)], is_known: &dyn Fn(&[u8]) -> bool) -> Beside {
    let mut beside = Beside::default();
    let Some(top) = &location.top else { return beside };
    let mut n_bytes = 0;
    for is_ignored in [false, true] {
        for path in locate::untracked(location, is_ignored, environment) {
            let name = path.strip_suffix(b"/").unwrap_or(&path);
            let (relative, source) = (PathBuf::from(OsStr::from_bytes(name)), top.join(OsStr::from_bytes(name)));
            if is_known(name) {
                continue;
            }
            let shown = || Shown { path: relative.clone(), source: source.clone(), digest: digest(&source) };
            if is_ignored && is_program(&source) {
                continue;
            }
            if is_cache(&source) {
                if source.join(CACHE_TAG).is_file() {
                    beside.caches.push(Shown { path: relative, source, digest: [0; 32] });
                }
                continue;
            }
            let content = match size(&source) {
                Some(size) if n_bytes + size <= MAX_BYTES => {
                    n_bytes += size;
                    Content::Held(files::read_all(top, name))
                }
                _ => Content::Shown(shown()),
            };
            if content != Content::Held(BTreeMap::new()) {
                beside.candidates.push(Candidate { path: name.to_vec(), is_ignored, content });
            }
        }
    }
    beside
}

/// Whether this is a file that can be executed. If git ignores it, a build makes it, and every revision would be tested with
/// the same one.
fn is_program(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file()) && files::is_executable(path)
}

/// Whether a directory only saves time.
fn is_cache(path: &Path) -> bool {
    path.is_dir() && (path.join(CACHE_TAG).is_file() || CACHES.iter().any(|name| path.ends_with(name)))
}

/// Bytes of a file or directory that can become part of a tree; `None` if it is too large, or has a repository in it.
fn size(path: &Path) -> Option<u64> {
    let (mut n_bytes, mut n_entries) = (0, 0);
    let is_seen = walk(path, &mut |path, metadata| {
        n_entries += 1;
        n_bytes += metadata.size();
        n_entries <= MAX_HELD_ENTRIES && n_bytes <= MAX_HELD_BYTES && !path.ends_with(".git")
    });
    is_seen.then_some(n_bytes)
}

/// The digest of names, sizes and times.
fn digest(path: &Path) -> [u8; 32] {
    let mut digest = Sha256::new();
    let mut n_entries = 0;
    walk(path, &mut |path, metadata| {
        n_entries += 1;
        digest.update(path.as_os_str().as_bytes());
        // The time of a directory changes with each file that is made and removed there.
        let time = if metadata.is_dir() { 0 } else { metadata.mtime() };
        for number in [u64::from(metadata.mode()), metadata.size(), time.cast_unsigned()] {
            digest.update(number.to_le_bytes());
        }
        n_entries < MAX_DIGESTED
    });
    digest.finalize().into()
}

/// Visits a path and everything below it in the order of names, without following links, until `visit` returns false;
/// returns whether all was visited.
fn walk(path: &Path, visit: &mut dyn FnMut(&Path, &fs::Metadata) -> bool) -> bool {
    let Ok(metadata) = fs::symlink_metadata(path) else { return true };
    if !visit(path, &metadata) {
        return false;
    }
    let entries = if metadata.is_dir() { fs::read_dir(path).ok() } else { None };
    let mut entries: Vec<DirEntry> = entries.into_iter().flatten().flatten().collect();
    entries.sort_by_key(DirEntry::file_name);
    entries.iter().all(|entry| walk(&entry.path(), visit))
}
