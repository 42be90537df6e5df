//! What tests make once for all of them, below the target directory.
//!
//! - Parts of the user's cache: the runtime of recorded programs, and the agents of Java. A test has a cache of its own,
//!   which begins with what earlier tests have compiled.
//! - Repositories with recordings that tests read. Each test gets a copy.
//!
//! Everything is kept for one build of the program and one state of the compilers: a change of either makes it anew.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::fixture::{scratch_place, succeed};

/// The directories of a cache that have what is compiled once.
pub const NAMES: [&str; 2] = ["java", "runtime"];

/// The compilers of recorded programs.
const COMPILERS: [&str; 6] = ["cc", "gcc", "c++", "clang", "clang-19", "javac"];

/// Where the things of this build of the program are.
fn place() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let found = |name| std::env::split_paths(&path).map(|place| place.join(name)).find(|path| path.is_file());
    let programs = COMPILERS.iter().filter_map(found).chain([env!("CARGO_BIN_EXE_git-idd").into()]);
    let state = |path: PathBuf| {
        let metadata = fs::metadata(&path).unwrap();
        format!("{} {} {} {}", path.display(), metadata.len(), metadata.mtime(), metadata.mtime_nsec())
    };
    let states: Vec<String> = programs.map(state).collect();
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("kits").join(digest(&states))
}

/// A name for what depends on these texts.
fn digest(texts: &[impl AsRef<str>]) -> String {
    let mut sha256 = Sha256::new();
    for text in texts.iter().map(AsRef::as_ref) {
        sha256.update(text.len().to_le_bytes());
        sha256.update(text);
    }
    sha256.finalize().iter().take(12).map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

/// The directory that `make` returns, which it does once for all tests, or a copy.
///
/// - `what`: the texts that its content depends on.
pub fn once(what: &[&str], make: impl FnOnce() -> TempDir) -> TempDir {
    let kept = place().join("once").join(digest(what));
    if kept.is_dir() {
        let copy = TempDir::new_in(scratch_place()).unwrap();
        copy_all(&kept.join("."), copy.path());
        reconnect(copy.path());
        return copy;
    }
    let new = make();
    add(new.path(), &kept);
    new
}

/// Names the objects of the user again, in the private repository of a copy.
fn reconnect(copy: &Path) {
    for repo in [copy.to_owned(), copy.join("repo")] {
        let alternates = repo.join(".git/idd/objects.git/objects/info/alternates");
        if alternates.exists() {
            fs::write(alternates, format!("{}\n", repo.join(".git/objects").display())).unwrap();
        }
    }
}

/// Keeps a copy. If several tests do so, the first one is right.
fn add(from: &Path, kept: &Path) {
    let kits = place().parent().unwrap().to_owned();
    if !place().exists() {
        sweep(&kits);
    }
    fs::create_dir_all(kept.parent().unwrap()).unwrap();
    let scratch = TempDir::with_prefix_in("new-", kits).unwrap();
    let copy = scratch.path().join("copy");
    copy_all(from, &copy);
    let _ = fs::rename(copy, kept);
    assert!(kept.exists(), "{}", kept.display());
}

fn copy_all(from: &Path, to: &Path) {
    succeed(Command::new("cp").arg("-a").arg(from).arg(to));
}

/// Removes what was made for other builds of the program, unless tests of theirs may be running.
fn sweep(kits: &Path) {
    const MAX_AGE: Duration = Duration::from_secs(3600);
    for entry in fs::read_dir(kits).into_iter().flatten().flatten() {
        let changed = entry.metadata().and_then(|metadata| metadata.modified()).ok();
        if changed.and_then(|changed| changed.elapsed().ok()).is_some_and(|age| age > MAX_AGE) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Fills the new cache of a user, whose directory is `home`.
pub fn lend(home: &Path) {
    let cache = home.join("git-idd");
    if cache.exists() {
        return;
    }
    fs::create_dir_all(home).unwrap();
    fs::DirBuilder::new().mode(0o700).create(&cache).unwrap();
    for from in NAMES.map(|name| place().join(name)).iter().filter(|from| from.is_dir()) {
        copy_all(from, &cache);
    }
}

/// Keeps what was compiled into a cache.
pub fn keep(home: &Path) {
    for name in NAMES {
        for entry in fs::read_dir(home.join("git-idd").join(name)).into_iter().flatten().flatten() {
            let kept = place().join(name).join(entry.file_name());
            if !kept.exists() {
                add(&entry.path(), &kept);
            }
        }
    }
}

#[test]
fn what_one_test_has_compiled_is_in_the_cache_of_the_next_one() {
    let user = || TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (first, second) = (user(), user());
    lend(first.path());
    let name = format!("a test of the kits {}", std::process::id());
    fs::create_dir_all(first.path().join("git-idd/java").join(&name)).unwrap();
    fs::write(first.path().join("git-idd/java").join(&name).join("a.jar"), "archive").unwrap();
    keep(first.path());
    lend(second.path());
    assert_eq!(fs::read(second.path().join("git-idd/java").join(&name).join("a.jar")).unwrap(), b"archive");
    fs::remove_dir_all(place().join("java").join(&name)).unwrap();
}

#[test]
fn a_directory_is_made_once_and_a_copy_can_be_changed() {
    let name = format!("a test of the kits {}", std::process::id());
    let with = |file: &'static str| {
        move || {
            let made = TempDir::new().unwrap();
            fs::write(made.path().join(file), "made").unwrap();
            made
        }
    };
    let first = once(&[&name], with("file"));
    fs::write(first.path().join("file"), "changed").unwrap();
    let copy = once(&[&name], || panic!("it is there"));
    assert_eq!(fs::read(copy.path().join("file")).unwrap(), b"made");
    fs::write(copy.path().join("file"), "changed").unwrap();
    let copy = once(&[&name], || panic!("it is there"));
    assert_eq!(fs::read(copy.path().join("file")).unwrap(), b"made");
    let other = once(&[&name, ""], with("other"));
    assert!(other.path().join("other").exists() && !other.path().join("file").exists());
    for what in [&[name.as_str()][..], &[&name, ""]] {
        fs::remove_dir_all(place().join("once").join(digest(what))).unwrap();
    }
}
