//! The compiler cache of a build: `ccache`, with a store of our own.
//!
//! It stands under the names of the compilers in front of `PATH`, and only for builds in worktrees that keep their
//! products: what a claim rests on is compiled. What it takes from its store was compiled from the same preprocessed
//! source by the same compiler, in the same directory if the product names that. So left out are its direct mode (which
//! misses a header that appears earlier on the search path), rewritten paths (which change `__FILE__`), every
//! sloppiness, and the user's own settings and store.
//!
//! `sccache` is not used: its server outlives the command that started it, and nothing that a probe started may. A build
//! that asks for a cache itself gets what it asks for.

use crate::world::run::toolchain::find;
use crate::world::run::toolchain::variable;
use std::ffi::OsStr;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::path::PathBuf;

/// Names of compilers that the cache understands.
const COMPILERS: [&str; 12] = [
    "cc",
    "c++",
    "gcc",
    "g++",
    "clang",
    "clang++",
    "c89",
    "c99",
    "x86_64-linux-gnu-gcc",
    "x86_64-linux-gnu-g++",
    "aarch64-linux-gnu-gcc",
    "aarch64-linux-gnu-g++",
];

/// Variables by which builds are told a compiler or what to start it with.
const NAMING: [&str; 6] =
    ["CC", "CXX", "RUSTC_WRAPPER", "CMAKE_C_COMPILER_LAUNCHER", "CMAKE_CXX_COMPILER_LAUNCHER", "CC_WRAPPER"];

/// What the store may take on disk.
const MAX_SIZE: &str = "1G";

/// What a build is told so that it uses the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildCache {
    /// Variables, in the place of those of the same name.
    pub variables: Vec<(OsString, OsString)>,
}

/// The `ccache` to use; `None` if there is none, or if the user has set one up.
///
/// - `lines`: the commands of the user's, which may name a cache.
pub fn program(environment: &[(OsString, OsString)], lines: &[&OsStr]) -> Option<PathBuf> {
    let names_one = |text: &OsStr| text.as_bytes().windows(6).any(|window| window == b"ccache");
    let is_set = environment.iter().any(|(name, value)| {
        let is_setting = [b"CCACHE_" as &[u8], b"SCCACHE_"].iter().any(|prefix| name.as_bytes().starts_with(prefix));
        is_setting || NAMING.iter().any(|naming| name == naming) && names_one(value)
    });
    if is_set || lines.iter().any(|line| names_one(line)) {
        return None;
    }
    let path = variable(environment, "PATH")?;
    let stands_for = |name: &str| find(&path, name).is_some_and(|(place, _)| place.file_name().is_some_and(names_one));
    if COMPILERS.iter().any(|name| stands_for(name)) {
        return None;
    }
    // A relative directory would be another one in each worktree.
    find(&path, "ccache").map(|(place, _)| place).filter(|place| place.is_absolute())
}

/// Puts links with the names of the compilers into the new directory `links`.
///
/// - `program`: what [`program`] found.
/// - `store`: where products are kept; made by the cache.
pub fn prepare(
    program: &Path,
    links: &Path,
    store: &Path,
    environment: &[(OsString, OsString)],
) -> io::Result<BuildCache> {
    let path = variable(environment, "PATH").unwrap_or_default();
    fs::create_dir(links)?;
    for name in COMPILERS.iter().filter(|name| find(&path, name).is_some()) {
        std::os::unix::fs::symlink(program, links.join(name))?;
    }
    let in_front = [links.as_os_str().as_bytes(), b":", path.as_bytes()].concat();
    let set = |name: &str, value: &OsStr| (OsString::from(name), value.to_owned());
    let variables = vec![
        set("PATH", OsStr::from_bytes(&in_front)),
        set("CCACHE_PATH", &path),
        set("CCACHE_DIR", store.as_os_str()),
        set("CCACHE_TEMPDIR", store.join("tmp").as_os_str()),
        set("CCACHE_CONFIGPATH", store.join("ccache.conf").as_os_str()),
        set("CCACHE_MAXSIZE", OsStr::new(MAX_SIZE)),
        set("CCACHE_NODIRECT", OsStr::new("1")),
        set("CCACHE_COMPILERCHECK", OsStr::new("content")),
    ];
    Ok(BuildCache { variables })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A directory with these programs, none of which does anything.
    fn place(names: &[&str]) -> tempfile::TempDir {
        let place = tempfile::tempdir().unwrap();
        for name in names {
            fs::write(place.path().join(name), "#!/bin/sh\n").unwrap();
            fs::set_permissions(place.path().join(name), PermissionsExt::from_mode(0o755)).unwrap();
        }
        place
    }

    fn environment(place: &Path, more: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        let path = [("PATH".into(), place.as_os_str().to_owned())];
        path.into_iter().chain(more.iter().map(|(name, value)| (name.into(), value.into()))).collect()
    }

    #[test]
    fn a_cache_is_used_where_it_is_and_nobody_has_set_one_up() {
        let there = place(&["ccache", "cc"]);
        let found = program(&environment(there.path(), &[("CC", "gcc")]), &[OsStr::new("make")]);
        assert_eq!(found, Some(fs::canonicalize(there.path().join("ccache")).unwrap()));
        assert_eq!(program(&environment(there.path(), &[]), &[OsStr::new("make CC='ccache gcc'")]), None);
        for (name, value) in [("CC", "ccache gcc"), ("RUSTC_WRAPPER", "/usr/bin/sccache"), ("CCACHE_DISABLE", "1")] {
            assert_eq!(program(&environment(there.path(), &[(name, value)]), &[]), None, "{name}");
        }
        std::os::unix::fs::symlink("ccache", there.path().join("gcc")).unwrap();
        assert_eq!(program(&environment(there.path(), &[]), &[]), None);
        let not_there = place(&["cc"]);
        assert_eq!(program(&environment(not_there.path(), &[]), &[]), None);
        assert_eq!(program(&[], &[]), None);
    }

    #[test]
    fn compilers_that_are_there_get_links_and_nothing_of_the_users_is_used() {
        let there = place(&["ccache", "cc", "clang++"]);
        let environment = environment(there.path(), &[]);
        let links = there.path().join("links");
        let cache = prepare(Path::new("/c/ccache"), &links, Path::new("/store"), &environment).unwrap();
        let mut names: Vec<OsString> = fs::read_dir(&links).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["cc", "clang++"]);
        assert_eq!(fs::read_link(links.join("cc")).unwrap(), Path::new("/c/ccache"));
        let value = |name: &str| variable(&cache.variables, name).unwrap().into_string().unwrap();
        assert_eq!(value("PATH"), format!("{}:{}", links.display(), there.path().display()));
        for name in ["CCACHE_DIR", "CCACHE_TEMPDIR", "CCACHE_CONFIGPATH"] {
            assert!(value(name).starts_with("/store"), "{name}");
        }
    }
}
