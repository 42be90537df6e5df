//! The user's Java development kit, and programs of this project in Java, which its compiler compiles once.

mod jar;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use sha2::{Digest as _, Sha256};

use crate::{files, process};

/// Options to compile the sources with, best first. What comes of the first ones runs from Java 8 on, whatever the version of
/// the compiler: it takes the methods of the library from its tables of Java 8, not from its own library. The compiler of Java 8
/// itself knows only the second ones, and a later compiler may know neither.
const WAYS: [&[&str]; 3] = [&["--release", "8"], &["-source", "8", "-target", "8"], &[]];

/// Why a program in Java is not there.
#[derive(Debug, thiserror::Error)]
pub enum JdkError {
    /// A directory cannot be written, or the compiler not be started.
    #[error("failed to prepare `{}`", path.display())]
    Prepare {
        /// Its path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It was not compiled.
    #[error("failed to compile: {said}")]
    Compile {
        /// The message of the compiler.
        said: String,
    },
}

/// A Java development kit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jdk {
    /// Its compiler.
    pub javac: PathBuf,
}

/// A program in Java.
#[derive(Debug)]
pub struct Kit {
    /// The name of its archive.
    pub archive: &'static str,
    /// The lines of its manifest after the version; each ends with a line feed.
    pub manifest: &'static str,
    /// Its files: paths, as their packages are named, and contents. Each is a class.
    pub sources: &'static [(&'static str, &'static str)],
}

/// Paths in an archive, and contents.
type Entries = Vec<(String, Vec<u8>)>;

impl Jdk {
    /// Finds one: that of `home` (`JAVA_HOME`), or the first in `path`.
    pub fn find(path: &OsStr, home: Option<&OsStr>) -> Option<Self> {
        let of_home = home.filter(|home| !home.is_empty()).map(|home| Path::new(home).join("bin"));
        let directories = path.as_bytes().split(|byte| *byte == b':').filter(|directory| !directory.is_empty());
        let directories = directories.map(|directory| PathBuf::from(OsStr::from_bytes(directory)));
        let places = of_home.into_iter().chain(directories).map(|directory| directory.join("javac"));
        let mut found = places.filter(|place| place.is_absolute() && files::is_executable(place));
        found.next().map(|javac| Self { javac })
    }

    /// The program `java` beside the compiler; `None` if it is not there.
    pub fn java(&self) -> Option<PathBuf> {
        Some(self.javac.with_file_name("java")).filter(|java| files::is_executable(java))
    }

    /// The archive of a program in the directory `cache`; it is compiled if it is not there yet.
    pub fn archive(&self, kit: &Kit, cache: &Path) -> Result<PathBuf, JdkError> {
        let mut digest = Sha256::new();
        for (name, source) in kit.sources {
            digest.update(name);
            digest.update(source);
        }
        digest.update(kit.manifest);
        let digest = files::hex(&digest.finalize()[..16]);
        let place = cache.join("java").join(digest);
        let archive = place.join(kit.archive);
        if archive.is_file() {
            return Ok(archive);
        }
        let failed = |source| JdkError::Prepare { path: place.clone(), source };
        fs::create_dir_all(&place).map_err(failed)?;
        // Beside others that do the same; what a killed one leaves is small.
        let scratch = tempfile::Builder::new().prefix("compile-").tempdir_in(&place).map_err(failed)?;
        for (name, source) in kit.sources {
            let path = scratch.path().join(name);
            path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, source)).map_err(failed)?;
        }
        let classes = self.compile(kit, scratch.path())?.map_err(failed)?;
        files::replace(&archive, &jar::archive(kit.manifest, &classes)).map_err(failed)?;
        Ok(archive)
    }

    /// The classes of the sources in a directory: paths in an archive, and contents.
    fn compile(&self, kit: &Kit, directory: &Path) -> Result<io::Result<Entries>, JdkError> {
        let mut said = String::new();
        for options in WAYS {
            let mut words: Vec<&OsStr> = options.iter().map(OsStr::new).collect();
            words.extend(["-nowarn", "-proc:none", "-encoding", "UTF-8", "-d", "out"].map(OsStr::new));
            words.extend(kit.sources.iter().map(|(name, _)| OsStr::new(*name)));
            let out = directory.join("out");
            let made = fs::create_dir_all(&out);
            let done = made.and_then(|()| process::capture(self.javac.as_os_str(), &words, directory, &[]));
            let done = done.map_err(|source| JdkError::Prepare { path: self.javac.clone(), source })?;
            if done.code == Some(0) {
                let entries = classes(kit, &out);
                let has = |entries: &Entries, (source, _): &(&str, &str)| {
                    let class = source.replace(".java", ".class");
                    entries.iter().any(|(entry, _)| *entry == class)
                };
                if entries.as_ref().map_or(true, |entries| kit.sources.iter().all(|source| has(entries, source))) {
                    return Ok(entries);
                }
                return Err(JdkError::Compile { said: "javac made no classes".to_owned() });
            }
            said = String::from_utf8_lossy(&done.stderr).into_owned();
        }
        Err(JdkError::Compile { said })
    }
}

/// The classes in a directory that are of the packages of sources.
fn classes(kit: &Kit, out: &Path) -> io::Result<Entries> {
    let packages: BTreeSet<&Path> = kit.sources.iter().filter_map(|(name, _)| Path::new(name).parent()).collect();
    let mut entries = Entries::new();
    for package in packages {
        for name in files::names(&out.join(package)) {
            let (path, bytes) = (package.join(&name), fs::read(out.join(package).join(&name))?);
            entries.extend(path.into_os_string().into_string().ok().map(|path| (path, bytes)));
        }
    }
    Ok(entries)
}
