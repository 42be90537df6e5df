//! The environment that a result depends on, in addition to the tree. [`tools`](crate::tools) handles the
//! programs.

use crate::tools::modules;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The tools that count as executed if executions cannot be seen: compilers, interpreters, and programs that run them.
const TOOLS: [&str; 27] = [
    "cc", "gcc", "g++", "c++", "clang", "clang++", "ld", "as", "make", "cmake", "ninja", "javac", "java", "rustc",
    "cargo", "go", "python", "python3", "node", "perl", "ruby", "php", "lua", "sh", "bash", "sed", "awk",
];

/// The variables that builds and tests commonly read.
const VARIABLES: [&str; 18] = [
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
    "RUSTFLAGS",
];

/// Variables that only name directories and files: the content of these counts. For `PATH`, the programs that are found
/// in it count.
const PLACES: [&str; 17] = [
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LIBRARY_PATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "PKG_CONFIG_PATH",
    "PYTHONPATH",
    "PYTHONHOME",
    "NODE_PATH",
    "PERL5LIB",
    "RUBYLIB",
    "GEM_HOME",
    "GEM_PATH",
    "CLASSPATH",
    "JAVA_HOME",
    "GOROOT",
];

/// The names of the tools that count as executed if executions cannot be seen: a fixed list, and the words of the
/// commands.
pub fn audited<'w>(words: impl IntoIterator<Item = &'w OsStr>) -> Vec<String> {
    let words = words.into_iter().filter_map(|word| Some(Path::new(word).file_name()?.to_str()?.to_owned()));
    TOOLS.into_iter().map(str::to_owned).chain(words).collect()
}

/// Operating system and processor.
pub fn platform() -> Vec<u8> {
    let uname = rustix::system::uname();
    [uname.sysname().to_bytes(), b" ", uname.machine().to_bytes()].concat()
}

/// The variables that a result depends on: a fixed list, and the user's own. A variable that names directories has a
/// digest of their content. `PATH` has only its relative directories, which differ in each checkout, with their order
/// among the absolute ones.
pub fn listed(environment: &[(OsString, OsString)], more: &[String]) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let is_place = |name: &&str| *name == "PATH" || PLACES.contains(name);
    let names = VARIABLES.into_iter().chain(more.iter().map(String::as_str).filter(|name| !is_place(name)));
    let value = |name: &str| Some((name.into(), variable(environment, name)?.as_bytes().to_vec()));
    let resolved = |name: &str| Some((name.into(), modules::resolved(&variable(environment, name)?)?.into_bytes()));
    let path = || Some((b"PATH".to_vec(), relative(&variable(environment, "PATH")?)?));
    names.filter_map(value).chain(PLACES.into_iter().filter_map(resolved)).chain(path()).collect()
}

/// The relative directories of a search path, with a `/` for those between them; `None` if all are absolute.
fn relative(path: &OsStr) -> Option<Vec<u8>> {
    let mut parts: Vec<&[u8]> = path.as_bytes().split(|byte| *byte == b':').collect();
    parts.iter_mut().filter(|part| part.starts_with(b"/")).for_each(|part| *part = b"/");
    parts.dedup();
    (parts != [b"/"]).then(|| parts.join(&b':'))
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

/// Whether no directory of `PATH` has the program `name`. False if a directory of it is relative, or `PATH` is not set,
/// because then it is unknown.
pub fn is_missing(environment: &[(OsString, OsString)], name: &str) -> bool {
    let Some(path) = variable(environment, "PATH") else { return false };
    let is_absolute = path.as_bytes().split(|byte| *byte == b':').all(|directory| directory.starts_with(b"/"));
    is_absolute && find(&path, name).is_none()
}

/// The possible paths of a program: in each absolute directory of `PATH`, in its order.
pub fn places<'p>(path: &'p OsStr, tool: &'p str) -> impl Iterator<Item = PathBuf> + 'p {
    let directories = path.as_bytes().split(|byte| *byte == b':').filter(|directory| directory.starts_with(b"/"));
    directories.map(move |directory| Path::new(OsStr::from_bytes(directory)).join(tool))
}

/// The first program of this name in the directories of `path`, links resolved.
pub(super) fn find(path: &OsStr, tool: &str) -> Option<(PathBuf, fs::Metadata)> {
    path.as_bytes().split(|byte| *byte == b':').find_map(|directory| {
        let place = fs::canonicalize(Path::new(OsStr::from_bytes(directory)).join(tool)).ok()?;
        let metadata = fs::metadata(&place).ok()?;
        metadata.is_file().then_some((place, metadata))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)], more: &[&str]) -> BTreeMap<Vec<u8>, Vec<u8>> {
        let environment: Vec<_> = pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let more: Vec<String> = more.iter().map(|name| (*name).to_owned()).collect();
        listed(&environment, &more)
    }

    #[test]
    fn the_text_of_a_search_path_does_not_count() {
        let nothing = BTreeMap::new();
        assert_eq!(of(&[("PATH", "/usr/bin:/bin")], &[]), nothing);
        assert_eq!(of(&[("PATH", "/usr/bin:/bin")], &["PATH"]), nothing);
        assert_eq!(
            of(&[("PATH", ""), ("PYTHONPATH", "/no/such"), ("LD_LIBRARY_PATH", "")], &[]),
            BTreeMap::from([(b"PATH".to_vec(), Vec::new())])
        );
        let relative = of(&[("PATH", "/a:/b:bin:/c:")], &[]);
        assert_eq!(relative[&b"PATH"[..]], b"/:bin:/:");
        assert_eq!(of(&[("PATH", "/x:bin:/c:")], &[]), relative);
        assert_eq!(of(&[("LANG", "C"), ("X", "y")], &["X"]).len(), 2);
    }

    #[test]
    fn a_variable_that_names_directories_counts_by_what_is_there() {
        let directory = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| directory.path().join(name));
        for place in [&one, &other] {
            fs::create_dir_all(place.join("package")).unwrap();
            fs::write(place.join("package/module.py"), "1").unwrap();
            let file = fs::File::options().write(true).open(place.join("package/module.py")).unwrap();
            file.set_modified(std::time::UNIX_EPOCH).unwrap();
        }
        let value = |path: &str| of(&[("PYTHONPATH", path)], &[]);
        let [one_name, other_name] = [&one, &other].map(|path| path.display().to_string());
        let before = value(&one_name);
        assert_eq!(value(&other_name), before);
        assert_eq!(value(&format!("/no/such:{one_name}")), before);
        assert_ne!(value(&format!("{one_name}:lib")), before);
        fs::create_dir(one.join("package/__pycache__")).unwrap();
        assert_eq!(value(&one_name), before);
        fs::write(one.join("package/module.py"), "2").unwrap();
        assert_ne!(value(&one_name), before);
        fs::remove_file(other.join("package/module.py")).unwrap();
        assert_ne!(value(&other_name), before);
    }
}
