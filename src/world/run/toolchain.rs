//! What a result depends on beside the tree: the tools that are found and the environment that they read.

use sha2::Digest;
use sha2::Sha256;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::path::PathBuf;

/// The tools whose change makes a result another one. They are looked at, never run.
const TOOLS: [&str; 16] = [
    "cc", "gcc", "g++", "c++", "clang", "ld", "as", "make", "cmake", "ninja", "javac", "java", "rustc", "python3",
    "sh", "bash",
];

/// The variables that builds and tests commonly read.
const VARIABLES: [&str; 25] = [
    "PATH",
    "CC",
    "CXX",
    "CPP",
    "LD",
    "AR",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "LIBS",
    "MAKEFLAGS",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LC_COLLATE",
    "LC_MESSAGES",
    "TZ",
    "JAVA_HOME",
    "CLASSPATH",
    "RUSTFLAGS",
    "PYTHONPATH",
    "PKG_CONFIG_PATH",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
];

/// A digest of where each tool is found, its size and its time of change.
pub fn toolchain(environment: &[(OsString, OsString)]) -> Vec<u8> {
    let path = variable(environment, "PATH").unwrap_or_default();
    let mut digest = Sha256::new();
    for tool in TOOLS {
        let Some((place, metadata)) = find(&path, tool) else { continue };
        digest.update(place.as_os_str().as_bytes());
        digest.update([0]);
        digest.update(metadata.size().to_le_bytes());
        digest.update(metadata.mtime().to_le_bytes());
    }
    digest.finalize().to_vec()
}

/// Operating system and processor.
pub fn platform() -> Vec<u8> {
    let uname = rustix::system::uname();
    [uname.sysname().to_bytes(), b" ", uname.machine().to_bytes()].concat()
}

/// The variables that a result depends on: a fixed list, and those that the user names.
pub fn listed(environment: &[(OsString, OsString)], more: &[String]) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let names = VARIABLES.into_iter().chain(more.iter().map(String::as_str));
    let value = |name: &str| variable(environment, name).map(|value| (name.into(), value.as_bytes().to_vec()));
    names.filter_map(value).collect()
}

/// The value of a variable.
pub fn variable(environment: &[(OsString, OsString)], name: &str) -> Option<OsString> {
    environment.iter().find(|(present, _)| present == name).map(|(_, value)| value.clone())
}

/// The digest of a file outside the tree; `None` if it cannot be read.
pub fn file_digest(path: &Path) -> Option<Vec<u8>> {
    let metadata = fs::metadata(path).ok()?;
    metadata.is_file().then_some(())?;
    Some(Sha256::digest(fs::read(path).ok()?).to_vec())
}

/// Whether no directory of `PATH` has the program `name`. Where a directory of it is relative, or `PATH` is not set, nobody
/// can say: then it is not missing.
pub fn is_missing(environment: &[(OsString, OsString)], name: &str) -> bool {
    let Some(path) = variable(environment, "PATH") else { return false };
    let is_absolute = path.as_bytes().split(|byte| *byte == b':').all(|directory| directory.starts_with(b"/"));
    is_absolute && find(&path, name).is_none()
}

/// Where a program may lie: in each absolute directory of `PATH`, in its order.
pub fn places<'p>(path: &'p OsStr, tool: &'p str) -> impl Iterator<Item = PathBuf> + 'p {
    let directories = path.as_bytes().split(|byte| *byte == b':').filter(|directory| directory.starts_with(b"/"));
    directories.map(move |directory| Path::new(OsStr::from_bytes(directory)).join(tool))
}

/// The first of this name in the directories of `path`, links followed.
pub(super) fn find(path: &OsStr, tool: &str) -> Option<(PathBuf, fs::Metadata)> {
    path.as_bytes().split(|byte| *byte == b':').find_map(|directory| {
        let place = fs::canonicalize(Path::new(OsStr::from_bytes(directory)).join(tool)).ok()?;
        let metadata = fs::metadata(&place).ok()?;
        metadata.is_file().then_some((place, metadata))
    })
}
