//! What the user's working tree has beside the commits: what a test may need of it, and caches of build tools.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry, File};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::FileType;
use sha2::{Digest as _, Sha256};

use crate::files::{self, OnDisk};
use crate::place::surroundings::ShownPath;
use crate::repo::{Location, locate};

/// The largest file and directory that are copied, in bytes; larger ones are shown as they are.
const MAX_COPIED_BYTES: u64 = 4 << 20;

/// The largest directory that is copied, in entries.
const MAX_COPIED_ENTRIES: usize = 500;

/// The limit of the bytes that become part of the tested trees, in total.
const MAX_BYTES: u64 = 64 << 20;

/// The limit of the entries of a directory that its digest covers.
const MAX_DIGESTED: usize = 200_000;

/// The file with which a directory says that it is a cache, and whose, see `bford.info/cachedir`.
const CACHE_TAG: &str = "CACHEDIR.TAG";

/// Tools whose caches save a lot of time, as their tags name them. The build directory of meson has a tag too, but a test can
/// need it.
const BUILDERS: [&str; 1] = ["cargo"];

/// The largest tag that is read, in bytes.
const MAX_TAG_BYTES: u64 = 1 << 12;

/// The first bytes of compiled code: ELF, Mach-O, archives, classes of Java, WebAssembly.
const COMPILED: [&[u8; 4]; 5] = [b"\x7fELF", b"\xcf\xfa\xed\xfe", b"!<ar", b"\xca\xfe\xba\xbe", b"\0asm"];

/// Names of directories that are caches, and are left out.
const CACHES: [&str; 6] = ["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".gradle", ".ccls-cache"];

/// Further ones that tools keep among installed packages.
const INNER_CACHES: [&str; 3] = [".cache", ".vite", ".vite-temp"];

/// A path of the user's working tree that no commit has as it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserPath {
    /// Its path, relative to the top: the topmost directory with nothing tracked below it, or a file.
    pub path: Vec<u8>,
    /// What git says of it.
    pub tracking: Tracking,
    /// How it becomes visible.
    pub content: Visibility,
}

/// What git says of a path that no commit has as it is in the working tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracking {
    /// It is new.
    Untracked,
    /// It is ignored.
    Ignored,
    /// It is tracked, and has changes that are not committed.
    Edited,
}

/// How a path becomes visible in a checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Visibility {
    /// These files become part of the tested trees: they are new, and git does not ignore them.
    Held(BTreeMap<Vec<u8>, OnDisk>),
    /// It is beside the tree, with its times, so that a build knows what is older than the sources.
    Beside(ShownPath),
}

impl UserPath {
    /// What is tracked and has uncommitted changes; `None` if it is gone, or large.
    pub fn edited(top: &Path, path: &[u8]) -> Option<Self> {
        let file = top.join(OsStr::from_bytes(path));
        size(&file).filter(|_| file.symlink_metadata().is_ok())?;
        let content = Visibility::Held(files::read_all(top, path));
        Some(Self { path: path.to_vec(), tracking: Tracking::Edited, content })
    }

    /// Whether git ignores it.
    pub fn is_ignored(&self) -> bool {
        self.tracking == Tracking::Ignored
    }

    /// Whether it is tracked.
    pub fn is_edited(&self) -> bool {
        self.tracking == Tracking::Edited
    }

    /// Its files, if they are part of the tested trees.
    pub fn held(&self) -> impl Iterator<Item = (&Vec<u8>, &OnDisk)> {
        let held = match &self.content {
            Visibility::Held(files) => Some(files),
            Visibility::Beside(_) => None,
        };
        held.into_iter().flatten()
    }

    /// The same, as a copy if it is shown beside the tested trees.
    #[must_use]
    pub fn copied(&self) -> Self {
        let content = match &self.content {
            Visibility::Beside(shown) => Visibility::Beside(shown.copied()),
            held @ Visibility::Held(_) => held.clone(),
        };
        Self { content, ..self.clone() }
    }

    /// What is shown beside the tested trees.
    pub fn shown(&self) -> Option<&ShownPath> {
        match &self.content {
            Visibility::Held(_) => None,
            Visibility::Beside(shown) => Some(shown),
        }
    }
}

/// What is beside the tracked files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Untracked {
    /// What a test may need, what git does not ignore first.
    pub candidates: Vec<UserPath>,
    /// Single programs that git ignores: a build makes them, and every revision would be tested with the same one.
    pub programs: Vec<UserPath>,
    /// Caches of build tools.
    pub caches: Vec<ShownPath>,
}

/// Whether a path is where the output of this process goes: it grows from probe to probe, and no test needs it.
fn is_written_by_this_process(path: &Path) -> bool {
    let Ok(file) = rustix::fs::lstat(path) else { return false };
    let outputs = [rustix::fs::fstat(io::stdout()), rustix::fs::fstat(io::stderr())];
    FileType::from_raw_mode(file.st_mode) == FileType::RegularFile
        && outputs.into_iter().flatten().any(|output| (output.st_dev, output.st_ino) == (file.st_dev, file.st_ino))
}

/// Looks at the working tree; nothing if there is none, or git cannot say.
///
/// - `is_known`: whether a path is not to be listed, because every checkout has it.
///
/// Cost: git reads the names of all files; small files are read.
pub fn untracked(
    location: &Location,
    environment: &[(OsString, OsString)],
    is_known: &dyn Fn(&[u8]) -> bool,
) -> Untracked {
    let mut found = Untracked::default();
    let Some(top) = &location.top else { return found };
    let mut n_bytes = 0;
    // A directory is whole, with what git ignores in it.
    let mut listed = HashSet::new();
    for tracking in [Tracking::Untracked, Tracking::Ignored] {
        let is_ignored = tracking == Tracking::Ignored;
        for path in locate::untracked(location, is_ignored, environment) {
            let name = path.strip_suffix(b"/").unwrap_or(&path);
            let (relative, source) = (PathBuf::from(OsStr::from_bytes(name)), top.join(OsStr::from_bytes(name)));
            let is_listed = relative.ancestors().any(|above| listed.contains(above));
            if is_listed || is_known(name) || is_written_by_this_process(&source) {
                continue;
            }
            listed.insert(relative.clone());
            let size = size(&source);
            let shown = || ShownPath {
                path: relative.clone(),
                source: source.clone(),
                is_large: size.is_none(),
                digest: digest(&source),
            };
            if is_ignored && is_program(&source) {
                found.programs.push(UserPath {
                    path: name.to_vec(),
                    tracking: Tracking::Ignored,
                    content: Visibility::Beside(shown()),
                });
                continue;
            }
            if is_of_builder(&source) {
                found.caches.push(ShownPath { path: relative, source, is_large: true, digest: [0; 32] });
                continue;
            }
            if CACHES.iter().any(|name| relative.ends_with(name)) {
                continue;
            }
            let content = match size {
                Some(size) if !is_ignored && n_bytes + size <= MAX_BYTES && has_mode_of_trees(&source) => {
                    n_bytes += size;
                    Visibility::Held(files::read_all(top, name))
                }
                _ => Visibility::Beside(shown()),
            };
            // A tree has no empty directory, and no named pipe.
            let is_without_files = content == Visibility::Held(BTreeMap::new()) && !source.join(".git").exists();
            let content = if is_without_files { Visibility::Beside(shown()) } else { content };
            if content != Visibility::Held(BTreeMap::new()) {
                found.candidates.push(UserPath { path: name.to_vec(), tracking, content });
            }
        }
    }
    found
}

/// The candidates with a file that was used, other than compiled code, which a build makes again. Beside an ignored file
/// that was used, also the other ignored files of its directory: one configuration has made them, and can need each of them.
///
/// - `paths`: the used paths, relative to the top; they need not exist.
pub fn used(candidates: &[Arc<UserPath>], paths: &BTreeSet<PathBuf>, top: &Path) -> Vec<Arc<UserPath>> {
    let names: HashSet<&[u8]> = candidates.iter().map(|candidate| &candidate.path[..]).collect();
    let mut found = HashSet::new();
    for path in paths {
        let candidate = path.ancestors().find_map(|above| names.get(above.as_os_str().as_bytes()));
        if let Some(candidate) = candidate.filter(|candidate| !found.contains(*candidate))
            && let file = top.join(path)
            && file.is_file()
            && !is_compiled(&file)
        {
            found.insert(*candidate);
        }
    }
    let file_in = |candidate: &UserPath| {
        let path = Path::new(OsStr::from_bytes(&candidate.path));
        let file = top.join(path);
        (candidate.is_ignored() && file.is_file()).then(|| (path.parent().map(Path::to_owned), file))
    };
    let is_found = |candidate: &UserPath| found.contains(&candidate.path[..]);
    let used = candidates.iter().filter(|candidate| is_found(candidate));
    let directories: HashSet<_> =
        used.filter_map(|candidate| file_in(candidate)).map(|(directory, _)| directory).collect();
    let is_beside = |candidate: &UserPath| {
        file_in(candidate).is_some_and(|(directory, file)| directories.contains(&directory) && !is_compiled(&file))
    };
    candidates.iter().filter(|candidate| is_found(candidate) || is_beside(candidate)).cloned().collect()
}

/// Whether a file is compiled code: an object file, a library, a program or a class.
fn is_compiled(path: &Path) -> bool {
    let mut magic = [0; 4];
    let is_read = File::open(path).is_ok_and(|mut file| file.read_exact(&mut magic).is_ok());
    is_read && COMPILED.contains(&&magic)
}

/// Extensions of compiled code.
const OBJECTS: [&str; 8] = ["a", "class", "dylib", "lo", "o", "obj", "rlib", "so"];

/// Whether a path is a directory with compiled code somewhere in it.
pub fn has_objects(path: &Path) -> bool {
    let is_object = |path: &Path| path.extension().is_some_and(|name| OBJECTS.iter().any(|object| name == *object));
    path.is_dir() && !walk(path, &mut |path, metadata| metadata.is_dir() || !is_object(path))
}

/// Whether the modes of all files and directories are such as a tree can tell: all may read, and their owner may write.
fn has_mode_of_trees(path: &Path) -> bool {
    walk(path, &mut |_, metadata| metadata.is_symlink() || metadata.mode() & 0o244 == 0o244)
}

/// Whether this is a program that was compiled, and no library.
fn is_program(path: &Path) -> bool {
    if path.file_name().is_some_and(|name| name.as_bytes().windows(3).any(|part| part == b".so")) {
        return false;
    }
    let is_executable =
        fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file()) && files::is_executable(path);
    is_executable && is_compiled(path)
}

/// Whether a directory is the cache of a build tool.
fn is_of_builder(path: &Path) -> bool {
    let tag = files::plain_up_to(&path.join(CACHE_TAG), MAX_TAG_BYTES).ok().flatten().unwrap_or_default();
    let tag = String::from_utf8_lossy(&tag);
    BUILDERS.iter().any(|name| tag.contains(name))
}

/// Whether a directory is too large to become part of the tested trees, and is shown beside them as a whole.
pub fn is_large(path: &Path) -> bool {
    size(path).is_none()
}

/// Bytes of a file or directory that is copied; `None` if it is too large, or has a repository in it.
fn size(path: &Path) -> Option<u64> {
    let (mut n_bytes, mut n_entries) = (0, 0);
    let is_seen = walk(path, &mut |path, metadata| {
        n_entries += 1;
        n_bytes += metadata.size();
        n_entries <= MAX_COPIED_ENTRIES && n_bytes <= MAX_COPIED_BYTES && !path.ends_with(".git")
    });
    is_seen.then_some(n_bytes)
}

/// The digest of names, modes, sizes and times, without caches: each run of a tool by hand changes them.
fn digest(top: &Path) -> [u8; 32] {
    let is_cache = |name: &OsStr| CACHES.iter().chain(&INNER_CACHES).any(|cache| name == *cache);
    let mut digest = Sha256::new();
    let mut n_entries = 0;
    walk(top, &mut |path, metadata| {
        n_entries += 1;
        if path.strip_prefix(top).is_ok_and(|below| below.iter().any(is_cache)) {
            return n_entries < MAX_DIGESTED;
        }
        digest.update(path.as_os_str().as_bytes());
        // The time of a directory changes with each file that is made and removed there.
        let time = if metadata.is_dir() { [0; 2] } else { [metadata.mtime(), metadata.mtime_nsec()] };
        let [seconds, nanoseconds] = time.map(i64::cast_unsigned);
        for number in [u64::from(metadata.mode()), metadata.size(), seconds, nanoseconds] {
            digest.update(number.to_le_bytes());
        }
        n_entries < MAX_DIGESTED
    });
    digest.finalize().into()
}

/// Visits a path and everything below it in the order of names, without following links, until `visit` returns false;
/// returns whether all was visited.
fn walk(path: &Path, visit: &mut dyn FnMut(&Path, &fs::Metadata) -> bool) -> bool {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) => return error.kind() != io::ErrorKind::InvalidFilename,
    };
    if !visit(path, &metadata) {
        return false;
    }
    let entries = if metadata.is_dir() { fs::read_dir(path).ok() } else { None };
    let mut entries: Vec<DirEntry> = entries.into_iter().flatten().flatten().collect();
    entries.sort_by_key(DirEntry::file_name);
    entries.iter().all(|entry| walk(&entry.path(), visit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_a_directory_is_that_of_its_files_without_caches() {
        // A cache above the directory is none of its own.
        let place = tempfile::tempdir().unwrap();
        let top = place.path().join(".cache/packages");
        let write = |path: &str, text: &str| {
            let path = top.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("a/main.py", "1");
        let before = digest(&top);
        write("a/__pycache__/main.pyc", "compiled");
        write(".vite/vitest/results.json", "{}");
        assert_eq!(digest(&top), before);
        write("a/main.py", "11");
        assert_ne!(digest(&top), before);
    }
}
