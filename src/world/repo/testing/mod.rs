//! Repositories, trees and pictures of directories for tests in which git is the oracle.

mod hostile;
mod moving;
mod settling;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::repo::Repository;
use crate::repo::ids::{oid, tree_id};
use crate::repo::object::n_id_bytes;
use crate::repo::refusal::{Refusal, WrittenTreeLimits};
use crate::repo::settle::{Settled, Since};
use crate::repo::worktree::Worktree;
use crate::repo::write::MoveResult;
use idd_base::TreeId;

/// A new repository that sees only its own configuration.
pub struct Sandbox {
    directory: TempDir,
}

impl Sandbox {
    /// Makes one.
    pub fn new() -> Self {
        Self::of(git2::ObjectFormat::Sha1)
    }

    /// Makes one in a format.
    pub fn of(format: git2::ObjectFormat) -> Self {
        let sandbox = Self { directory: tempfile::tempdir().unwrap() };
        sandbox.git(&["init", "-q", &format!("--object-format={format}")]);
        sandbox
    }

    /// A path in the working tree.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.directory.path().join(relative)
    }

    /// Writes a file in the working tree.
    pub fn write(&self, relative: &str, content: &[u8]) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// The repository as a library handle.
    pub fn repository(&self) -> Repository {
        Repository::from(git2::Repository::open(self.directory.path()).unwrap())
    }

    /// Runs git; exit code 1 (for example of `check-ignore`) is no failure.
    pub fn git(&self, arguments: &[&str]) -> String {
        self.git_with_input(arguments, b"")
    }

    /// Runs git with this input.
    pub fn git_with_input(&self, arguments: &[&str], input: &[u8]) -> String {
        let mut command = Command::new("git");
        command.args(["-c", "core.safecrlf=false"]).args(arguments).current_dir(self.directory.path());
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_ATTR_NOSYSTEM", "1");
        command.env("HOME", self.directory.path()).env("XDG_CONFIG_HOME", "/nonexistent").env_remove("GIT_DIR");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(matches!(output.status.code(), Some(0 | 1)), "git {arguments:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Adds regular files to the index without any conversion; returns their tree.
    pub fn stage(&self, files: &[(String, Vec<u8>)]) -> TreeId {
        let repository = self.repository();
        let mut input = Vec::new();
        for (path, content) in files {
            input.extend(format!("100644 {}\t{path}\0", repository.git().blob(content).unwrap()).as_bytes());
        }
        self.git_with_input(&["update-index", "-z", "--index-info"], &input);
        self.git(&["write-tree"]).trim().parse().unwrap()
    }
}

/// A leaf of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leaf {
    File(Vec<u8>),
    Executable(Vec<u8>),
    Link(Vec<u8>),
    Submodule,
}

/// Path to leaf.
pub type Leaves = BTreeMap<Vec<u8>, Leaf>;

/// Text files from literals.
pub fn files(files: &[(&str, &str)]) -> Leaves {
    files.iter().map(|(path, content)| (path.as_bytes().to_vec(), Leaf::File(content.as_bytes().to_vec()))).collect()
}

/// Writes the trees of these leaves, with any names.
pub fn tree_of(repository: &Repository, leaves: &Leaves) -> TreeId {
    let mut entries = BTreeMap::new();
    let mut below: BTreeMap<Vec<u8>, Leaves> = BTreeMap::new();
    for (path, leaf) in leaves {
        if let Some(at) = path.iter().position(|byte| *byte == b'/') {
            below.entry(path[..at].to_vec()).or_default().insert(path[at + 1..].to_vec(), leaf.clone());
            continue;
        }
        let blob = |content: &[u8]| repository.git().blob(content).unwrap();
        let (mode, id) = match leaf {
            Leaf::File(content) => ("100644", blob(content)),
            Leaf::Executable(content) => ("100755", blob(content)),
            Leaf::Link(target) => ("120000", blob(target)),
            Leaf::Submodule => ("160000", git2::Oid::from_bytes(&[7; 32][..n_id_bytes(repository)]).unwrap()),
        };
        entries.insert(path.clone(), (mode, path.clone(), id));
    }
    for (name, leaves) in below {
        let id = oid(tree_of(repository, &leaves).0);
        entries.insert([&name[..], b"/"].concat(), ("40000", name, id));
    }
    raw_tree(repository, entries.into_values())
}

/// Writes a tree object without any check.
pub fn raw_tree<'a>(
    repository: &Repository,
    entries: impl IntoIterator<Item = (&'a str, Vec<u8>, git2::Oid)>,
) -> TreeId {
    let mut raw = Vec::new();
    for (mode, name, id) in entries {
        raw.extend([mode.as_bytes(), b" ", &name, b"\0", id.as_bytes()].concat());
    }
    let id = repository.git().odb().unwrap().write(git2::ObjectType::Tree, &raw).unwrap();
    tree_id(id)
}

/// Everything below a directory, as leaves; empty directories are submodules.
pub fn picture(directory: &Path) -> Leaves {
    let mut leaves = Leaves::new();
    add_to_picture(directory, b"", &mut leaves);
    leaves
}

fn add_to_picture(directory: &Path, prefix: &[u8], leaves: &mut Leaves) {
    for entry in fs::read_dir(directory.join(OsStr::from_bytes(prefix))).unwrap() {
        let entry = entry.unwrap();
        let path = [prefix, entry.file_name().as_bytes()].concat();
        let metadata = entry.metadata().unwrap();
        let full_path = directory.join(OsStr::from_bytes(&path));
        if metadata.is_dir() {
            let n_leaves = leaves.len();
            add_to_picture(directory, &[&path[..], b"/"].concat(), leaves);
            if leaves.len() == n_leaves {
                leaves.insert(path, Leaf::Submodule);
            }
        } else if metadata.is_symlink() {
            leaves.insert(path, Leaf::Link(fs::read_link(full_path).unwrap().as_os_str().as_bytes().to_vec()));
        } else if metadata.permissions().mode() & 0o100 != 0 {
            leaves.insert(path, Leaf::Executable(fs::read(full_path).unwrap()));
        } else {
            leaves.insert(path, Leaf::File(fs::read(full_path).unwrap()));
        }
    }
}

/// A repository and a worktree beside it.
pub struct Bench {
    pub sandbox: Sandbox,
    pub repository: Repository,
    pub worktree: Worktree,
    outside: TempDir,
}

impl Bench {
    pub fn new() -> Self {
        Self::with_limits(WrittenTreeLimits::default())
    }

    pub fn with_limits(limits: WrittenTreeLimits) -> Self {
        let sandbox = Sandbox::new();
        let outside = tempfile::tempdir().unwrap();
        let worktree = Worktree::with_limits(&outside.path().join("worktree"), limits).unwrap();
        Self { repository: sandbox.repository(), sandbox, worktree, outside }
    }

    /// The directory above the worktree.
    pub fn outside(&self) -> &Path {
        self.outside.path()
    }

    /// A path in the worktree.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.worktree.directory().join(relative)
    }

    pub fn write(&self, relative: &str, content: &str) {
        fs::create_dir_all(self.path(relative).parent().unwrap()).unwrap();
        fs::write(self.path(relative), content).unwrap();
    }

    pub fn tree(&self, leaves: &Leaves) -> TreeId {
        tree_of(&self.repository, leaves)
    }

    /// Moves to a tree that must be accepted.
    #[track_caller]
    pub fn go(&mut self, leaves: &Leaves) -> MoveResult {
        let tree_id = self.tree(leaves);
        self.worktree.move_to(&self.repository, tree_id).unwrap().unwrap()
    }

    /// Moves to a tree that must be refused.
    #[track_caller]
    pub fn refused(&mut self, tree_id: TreeId) -> Refusal {
        self.worktree.move_to(&self.repository, tree_id).unwrap().unwrap_err()
    }

    pub fn settle(&mut self) -> Settled {
        self.worktree.settle(&self.repository, Since::default()).unwrap()
    }

    /// Settles after a probe of which this is known.
    pub fn settle_since(&mut self, since: Since) -> Settled {
        self.worktree.settle(&self.repository, since).unwrap()
    }

    pub fn picture(&self) -> Leaves {
        picture(self.worktree.directory())
    }
}
