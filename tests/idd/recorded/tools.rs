//! The programs outside of the tree that the commands of a hunt executed, as they are compared between machines.
//!
//! They are those that the product sees (`src/world/tools`). It compares inode and time of a file, which differ between
//! machines; a record has the digest of the file. A program is named as it is found: by its name in `PATH`, below the
//! directory of rustup or of the user, or by its path.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use idd_world::files::hex;
use sha2::{Digest, Sha256};

/// The beginning of the names of programs below the directory of rustup.
const OF_RUSTUP: &str = "<rustup>/";

/// The beginning of the names of programs below the home directory.
const OF_HOME: &str = "<home>/";

/// The beginnings of the names of interpreters that find modules.
const INTERPRETERS: [&str; 8] = ["python", "pypy", "node", "perl", "ruby", "php", "lua", "R"];

/// Directories of modules that others have installed, in a directory of modules.
const INSTALLED: [&str; 2] = ["site-packages", "dist-packages"];

/// How this machine finds programs.
#[derive(Debug, Clone)]
pub struct Machine {
    /// The directories of `PATH`.
    pub path: Vec<PathBuf>,
    /// The directory of rustup.
    pub rustup: Option<PathBuf>,
    /// The directory of the user.
    pub home: Option<PathBuf>,
    /// The directory that has the digests of programs which were read before.
    pub known: PathBuf,
}

impl Machine {
    /// The programs with their digests.
    ///
    /// - `executed`: absolute paths.
    /// - `of_test`: directories of the test; a program in one of them is part of the story.
    pub fn programs(&self, executed: &BTreeSet<PathBuf>, of_test: &[PathBuf]) -> BTreeMap<String, String> {
        let is_foreign = |path: &&PathBuf| {
            let real = fs::canonicalize(path);
            of_test.iter().all(|directory| {
                !path.starts_with(directory) && !real.as_ref().is_ok_and(|real| real.starts_with(directory))
            })
        };
        let with_digest = |name: String| {
            let digest = self.find(&name).and_then(|path| self.digest(&path));
            let digest = digest.unwrap_or_else(|| panic!("`{name}` was executed, and is gone"));
            (name, digest)
        };
        executed.iter().filter(is_foreign).map(|path| with_digest(self.name(path))).collect()
    }

    /// The first program of a record that differs here, in words; `None` if all are the same.
    pub fn difference(&self, programs: &BTreeMap<String, String>) -> Option<String> {
        programs.iter().find_map(|(name, digest)| match self.find(name) {
            None => Some(format!("`{name}` is not here")),
            Some(path) => (self.digest(&path).as_ref() != Some(digest)).then(|| format!("`{name}` differs")),
        })
    }

    /// The directories whose paths are not in records, with their names.
    fn directories(&self) -> [(&'static str, Option<&PathBuf>); 2] {
        [(OF_RUSTUP, self.rustup.as_ref()), (OF_HOME, self.home.as_ref())]
    }

    fn name(&self, path: &Path) -> String {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let real = fs::canonicalize(path).ok();
        let name = path.file_name().map(|name| text(name.as_ref())).unwrap_or_default();
        if real.is_some() && self.find(&name).and_then(|found| fs::canonicalize(found).ok()) == real {
            return name;
        }
        let mut directories = self.directories().into_iter();
        let below = directories.find_map(|(name, directory)| Some((name, path.strip_prefix(directory?).ok()?)));
        below.map_or_else(|| text(path), |(name, below)| format!("{name}{}", text(below)))
    }

    fn find(&self, name: &str) -> Option<PathBuf> {
        let is_program = |path: &PathBuf| {
            fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
        };
        for (prefix, directory) in self.directories() {
            if let Some(below) = name.strip_prefix(prefix) {
                return Some(directory?.join(below)).filter(is_program);
            }
        }
        if name.starts_with('/') {
            return Some(PathBuf::from(name)).filter(is_program);
        }
        self.path.iter().map(|directory| directory.join(name)).find(is_program)
    }

    /// The digest of a program; of the names of its modules, too, if it is an interpreter, and of the file that names its
    /// version, if it is a part of a development kit of Java.
    fn digest(&self, path: &Path) -> Option<String> {
        let real = fs::canonicalize(path).ok()?;
        let mut parts = vec![self.digest_of_file(path)?];
        parts.extend(modules(&real).into_iter().flatten());
        let release = real.ancestors().nth(2).map(|home| home.join("release"));
        parts.extend(release.and_then(|release| fs::read_to_string(release).ok()));
        Some(if parts.len() == 1 { parts.swap_remove(0) } else { short(parts.join("\n").as_bytes()) })
    }

    /// The digest of a file. It is read once, as long as it does not change.
    fn digest_of_file(&self, path: &Path) -> Option<String> {
        let metadata = fs::metadata(path).ok()?;
        let identity = (path, metadata.dev(), metadata.ino(), metadata.size(), metadata.ctime(), metadata.ctime_nsec());
        let known = self.known.join(short(format!("{identity:?}").as_bytes()));
        if let Ok(digest) = fs::read_to_string(&known)
            && digest.len() == 16
        {
            return Some(digest);
        }
        let digest = short(&fs::read(path).ok()?);
        // Several processes can write the same.
        let kept = fs::create_dir_all(&self.known).and_then(|()| {
            let mut file = tempfile::NamedTempFile::new_in(&self.known)?;
            std::io::Write::write_all(&mut file, digest.as_bytes())?;
            file.persist(&known).map_err(std::io::Error::from)
        });
        kept.unwrap_or_else(|error| panic!("{}: {error}", known.display()));
        Some(digest)
    }
}

/// The names of the modules of an interpreter, sorted; `None` if the program is none.
fn modules(program: &Path) -> Option<Vec<String>> {
    let name = program.file_name()?.to_str()?;
    let is_version = |rest: &str| rest.chars().all(|sign| sign.is_ascii_digit() || matches!(sign, '.' | '-'));
    let is_of = |kind: &&&str| name.strip_prefix(**kind).is_some_and(is_version);
    let kind = INTERPRETERS.iter().find(is_of)?;
    let prefix = program.parent()?.parent()?;
    let names = |directory: &Path| -> Vec<PathBuf> {
        fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    let is_its = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(kind));
    let roots = ["lib", "share"].into_iter().flat_map(|below| names(&prefix.join(below))).filter(is_its);
    let within =
        |root: PathBuf| INSTALLED.map(|below| root.join(below)).into_iter().chain([root.clone()]).collect::<Vec<_>>();
    let found = roots.flat_map(within).flat_map(|directory| names(&directory));
    let mut found: Vec<String> =
        found.map(|path| path.strip_prefix(prefix).unwrap_or(&path).display().to_string()).collect();
    found.sort();
    Some(found)
}

/// 16 digits of the digest.
fn short(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes)[..8])
}
