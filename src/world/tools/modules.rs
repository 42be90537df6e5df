//! The modules that an interpreter finds outside of the tree, by names, sizes and times of change.
//!
//! Directories are guessed from the place of the interpreter; nothing is run. Names are read some levels deep, with
//! sizes and times of change of files; at most [`MAX_ENTRIES`] for an interpreter. So an installed, removed or replaced
//! package is noticed, but an edited file deep inside of one is not; and `.pth` files and links to a project under
//! development are noticed, but not their targets. Compiled files that an interpreter writes while it runs do not
//! count.

use crate::cache::Key;
use crate::files;
use crate::run::toolchain::variable;
use sha2::{Digest as _, Sha256};
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The maximum number of directory entries for one interpreter or variable.
const MAX_ENTRIES: usize = 20_000;

/// The number of levels that are read in the directories of a variable.
const DEPTH_OF_VARIABLES: usize = 2;

/// The directories of modules of one kind of interpreter, each with the number of levels to read.
struct InterpreterKind {
    /// The prefix of the interpreter's name.
    name: &'static str,
    /// Below the parent of the interpreter's directory; `*` matches any name. For an interpreter in `/usr` also below
    /// `/usr/local`.
    below: &'static [(&'static str, usize)],
    /// For an interpreter in `/usr`: absolute.
    of_system: &'static [(&'static str, usize)],
    /// Below the home directory.
    of_home: &'static [(&'static str, usize)],
}

const KINDS: [InterpreterKind; 10] = [
    InterpreterKind {
        name: "python",
        below: &[
            ("lib/python*", 1),
            ("lib/python*/site-packages", 2),
            ("lib/python*/dist-packages", 2),
            ("pyvenv.cfg", 0),
        ],
        of_system: &[],
        of_home: &[(".local/lib/python*/site-packages", 2)],
    },
    InterpreterKind {
        name: "pypy",
        below: &[("lib/pypy*", 1), ("lib/pypy*/site-packages", 2), ("site-packages", 2)],
        of_system: &[],
        of_home: &[(".local/lib/pypy*/site-packages", 2)],
    },
    InterpreterKind {
        name: "node",
        below: &[("lib/node_modules", 2), ("lib/node_modules/@*", 2)],
        of_system: &[("/usr/share/nodejs", 2), ("/usr/lib/nodejs", 2), ("/node_modules", 2)],
        // Two of them are above the checkouts, where it searches too.
        of_home: &[(".node_modules", 2), (".node_libraries", 2), ("node_modules", 2), (".cache/node_modules", 2)],
    },
    InterpreterKind {
        name: "perl",
        below: &[
            ("lib/perl", 3),
            ("lib/perl5", 3),
            ("share/perl", 3),
            ("share/perl5", 3),
            ("lib/*-linux-*/perl", 3),
            ("lib/*-linux-*/perl5", 3),
            ("lib/*-linux-*/perl-base", 2),
        ],
        of_system: &[("/etc/perl", 2)],
        of_home: &[("perl5/lib/perl5", 3)],
    },
    InterpreterKind {
        name: "ruby",
        below: &[("lib/ruby", 4), ("lib/*-linux-*/ruby", 3)],
        of_system: &[("/var/lib/gems", 3), ("/usr/share/rubygems-integration", 3)],
        of_home: &[(".gem", 4), (".local/share/gem", 4)],
    },
    InterpreterKind {
        name: "php",
        below: &[("lib/php", 2), ("share/php", 2), ("etc", 1)],
        of_system: &[("/etc/php", 4)],
        of_home: &[(".config/composer/vendor", 2), (".composer/vendor", 2)],
    },
    InterpreterKind { name: "java", below: &[("release", 0), ("lib", 1), ("conf", 2)], of_system: &[], of_home: &[] },
    InterpreterKind {
        name: "lua",
        below: &[("share/lua", 3), ("lib/lua", 3)],
        of_system: &[],
        of_home: &[(".luarocks", 3)],
    },
    InterpreterKind { name: "go", below: &[("VERSION", 0), ("pkg", 2)], of_system: &[], of_home: &[] },
    InterpreterKind { name: "rustc", below: &[("lib", 1), ("lib/rustlib", 2)], of_system: &[], of_home: &[] },
];

/// A digest of the modules of an interpreter; `None` if the program is no interpreter.
///
/// - `place`, `file`: the program with links unresolved, and resolved; a virtual environment of Python is around the
///   former.
pub(super) fn digest(place: &Path, file: &Path, environment: &[(OsString, OsString)]) -> Option<String> {
    let roots = roots(place, file, environment)?;
    let mut listing = DirectoryDigest::new();
    for (root, depth) in roots {
        listing.sha256.update(root.as_os_str().as_bytes());
        listing.read(&root, depth);
    }
    Some(listing.finish())
}

/// Directories and files, in the order of examination.
fn roots(place: &Path, file: &Path, environment: &[(OsString, OsString)]) -> Option<Vec<(PathBuf, usize)>> {
    let name = file.file_name()?.to_string_lossy();
    let is_of = |kind: &&InterpreterKind| {
        let rest = name.strip_prefix(kind.name);
        // `nodejs`, `javac` and `python3.12` match; `gofmt` and `perldoc` do not.
        rest.is_some_and(|rest| {
            matches!(rest, "" | "js" | "c") || rest.starts_with(|sign: char| sign.is_ascii_digit() || sign == '-')
        })
    };
    let kind = KINDS.iter().find(is_of)?;
    let mut prefixes: Vec<&Path> = Vec::new();
    for program in [place, file] {
        if let Some(prefix) = program.parent().and_then(Path::parent)
            && !prefixes.contains(&prefix)
        {
            prefixes.push(prefix);
        }
    }
    let is_of_system = prefixes.contains(&Path::new("/usr")) || prefixes.contains(&Path::new("/"));
    if is_of_system {
        prefixes.extend(
            ["/usr", "/usr/local"]
                .map(Path::new)
                .iter()
                .filter(|more| !prefixes.contains(more))
                .copied()
                .collect::<Vec<_>>(),
        );
    }
    let mut roots = Vec::new();
    for (below, depth) in kind.below {
        roots.extend(prefixes.iter().flat_map(|prefix| expanded(prefix, below)).map(|root| (root, *depth)));
    }
    let of_system = kind.of_system.iter().filter(|_| is_of_system);
    roots.extend(of_system.map(|(root, depth)| (PathBuf::from(root), *depth)));
    let home = variable(environment, "HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    for (below, depth) in kind.of_home {
        roots.extend(home.iter().flat_map(|home| expanded(home, below)).map(|root| (root, *depth)));
    }
    Some(roots)
}

/// The paths below `root` that match a pattern of names, in the order of their names.
fn expanded(root: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut paths = vec![root.to_owned()];
    for part in pattern.split('/') {
        if !part.contains('*') {
            paths = paths.into_iter().map(|path| path.join(part)).collect();
            continue;
        }
        let mut pieces = part.split('*');
        let (first, last) = (pieces.next().unwrap_or_default(), pieces.next_back().unwrap_or_default());
        let middle: Vec<&str> = pieces.collect();
        let fits = |name: &OsStr| {
            let name = name.to_string_lossy();
            name.starts_with(first) && name.ends_with(last) && middle.iter().all(|piece| name.contains(piece))
        };
        paths = paths
            .iter()
            .flat_map(|path| files::names(path).into_iter().filter(|name| fits(name)).map(|name| path.join(name)))
            .collect();
    }
    paths
}

/// The value of a variable that only names directories and files: a digest of their content, in its order; `None` if
/// there is none.
///
/// Relative paths are other directories in each checkout, so their text counts. Missing absolute ones do not count.
pub fn resolved(value: &OsStr) -> Option<String> {
    let mut listing = DirectoryDigest::new();
    let mut is_any = false;
    for part in value.as_bytes().split(|byte| *byte == b':').filter(|_| !value.is_empty()) {
        // A class path can name all archives of a directory.
        let part = part.strip_suffix(b"/*").unwrap_or(part);
        let path = Path::new(OsStr::from_bytes(part));
        if path.is_relative() {
            listing.sha256.update(b"\0relative\0");
            listing.sha256.update(part);
            is_any = true;
        } else if path.exists() {
            listing.sha256.update(b"\0absolute\0");
            listing.read(path, DEPTH_OF_VARIABLES);
            is_any = true;
        }
    }
    is_any.then(|| listing.finish())
}

/// A digest of directories.
struct DirectoryDigest {
    sha256: Sha256,
    n_left: usize,
}

impl DirectoryDigest {
    fn new() -> Self {
        Self { sha256: Sha256::new(), n_left: MAX_ENTRIES }
    }

    /// Adds a file, or a directory with `depth` levels of its content; level by level, so that one large package does
    /// not hide the others.
    fn read(&mut self, root: &Path, depth: usize) {
        let mut queue = VecDeque::from([(root.to_owned(), Vec::new(), 0)]);
        while let Some((path, name, level)) = queue.pop_front() {
            let Ok(metadata) = fs::metadata(&path) else {
                self.entry(&name, [0; 4]);
                continue;
            };
            if !metadata.is_dir() {
                let size = metadata.size().cast_signed();
                self.entry(&name, [1, size, metadata.mtime(), metadata.mtime_nsec()]);
                continue;
            }
            // The time of a directory changes when interpreters write into it.
            self.entry(&name, [2, 0, 0, 0]);
            if level == depth {
                continue;
            }
            for below in files::names(&path).into_iter().filter(|name| !is_compiled(name)) {
                if self.n_left == 0 {
                    return;
                }
                self.n_left -= 1;
                let name = [&name, &b"/"[..], below.as_bytes()].concat();
                queue.push_back((path.join(below), name, level + 1));
            }
        }
    }

    fn entry(&mut self, name: &[u8], facts: [i64; 4]) {
        self.sha256.update((name.len() as u64).to_le_bytes());
        self.sha256.update(name);
        for fact in facts {
            self.sha256.update(fact.to_le_bytes());
        }
    }

    fn finish(self) -> String {
        Key(self.sha256.finalize().into()).to_string()
    }
}

/// Whether interpreters write files of this name themselves.
fn is_compiled(name: &OsStr) -> bool {
    let name = name.as_bytes();
    name == b"__pycache__" || name.ends_with(b".pyc") || name.ends_with(b".pyo")
}
