//! The reasons that end a move: an answer about the tree, or an error of the world.

use std::io;
use std::path::PathBuf;

use rustix::io::Errno;
use thiserror::Error;

use idd_base::{CommitId, Reason};

/// Limits of a written tree; a larger tree is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenTreeLimits {
    /// Files, links, submodules and directories of one tree.
    pub max_entries: usize,
    /// Components of one path.
    pub max_depth: usize,
    /// Bytes of one path, slashes included.
    pub max_path_bytes: usize,
    /// Content of all files of one tree.
    pub max_bytes: u64,
}

impl Default for WrittenTreeLimits {
    fn default() -> Self {
        Self { max_entries: 2_000_000, max_depth: 256, max_path_bytes: 4096, max_bytes: 64 << 30 }
    }
}

/// Why a tree is not written. This is an answer about the tree: the probe is unresolved with its
/// [`reason`](Refusal::reason).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    /// A path that cannot or must not exist here.
    #[error("`{}` is not written: {why}", String::from_utf8_lossy(path))]
    Path {
        /// Raw, relative to the root of the tree; never printed unescaped.
        path: Vec<u8>,
        /// A phrase for people, such as "a component is `..`".
        why: &'static str,
    },
    /// The tree is larger than [`WrittenTreeLimits`] allows.
    #[error("`{}` is not written: {why}", String::from_utf8_lossy(path))]
    Limit {
        /// The path at which the limit was reached.
        path: Vec<u8>,
        /// A phrase for people, such as "more entries than allowed".
        why: &'static str,
    },
    /// The user's repository lacks an object of the tree.
    #[error("the {kind} {id} {why}; `git fsck` lists what is wrong with the repository")]
    Object {
        /// The expected kind.
        kind: &'static str,
        /// Its id.
        id: String,
        /// A phrase for people, such as "is missing".
        why: &'static str,
    },
    /// The user has no copy of a submodule at the commit of the tree.
    #[error(
        "the submodule `{}` is not here at commit {commit}; `git submodule update --init --recursive` gets it, \
         `git config idd.submodules empty` hunts with an empty directory in its place",
        String::from_utf8_lossy(path)
    )]
    Submodule {
        /// Raw, relative to the root of the tree; never printed unescaped.
        path: Vec<u8>,
        /// The commit.
        commit: CommitId,
    },
}

impl Refusal {
    /// The reason of the unresolved probe of this tree.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Path { .. } | Self::Limit { .. } => Reason::Path,
            Self::Object { .. } => Reason::Object,
            Self::Submodule { .. } => Reason::Submodule,
        }
    }
}

/// Why the writer cannot continue. The caller stops the hunt.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The hint is to free space; the hunt can be resumed.
    #[error("failed to write `{}`: the disk or quota is full", path.display())]
    DiskFull {
        /// The file that was being written.
        path: PathBuf,
    },
    /// Any other error of the file system.
    #[error("failed to {action} `{}`", path.display())]
    Io {
        /// The action, as a verb phrase.
        action: &'static str,
        /// Its path.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// An object of the user's repository is missing or damaged; for a writer this is an [answer](Refusal::Object).
    #[error("the {kind} {id} {why}")]
    Object {
        /// The expected kind.
        kind: &'static str,
        /// Its id.
        id: String,
        /// A phrase for people, such as "is missing".
        why: &'static str,
    },
    /// An object of the private repository is damaged; the caller removes it, so that it is made again.
    #[error("the {kind} {id} of the private repository is damaged")]
    Own {
        /// The expected kind.
        kind: &'static str,
        /// Its id.
        id: String,
    },
    /// libgit2 cannot read the repository.
    #[error("failed to {action}")]
    Repository {
        /// The action, as a verb phrase.
        action: String,
        /// The reason.
        source: git2::Error,
    },
}

/// Both kinds of end of a move in one type, for `?` inside the writer.
#[derive(Debug)]
pub enum MoveStop {
    /// An answer.
    Refused(Refusal),
    /// An error.
    Failed(WriteError),
}

impl From<WriteError> for MoveStop {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Object { kind, id, why } => Self::Refused(Refusal::Object { kind, id, why }),
            error => Self::Failed(error),
        }
    }
}

impl From<Refusal> for MoveStop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl WriteError {
    /// The variant for an error of the file system.
    pub fn from_errno(errno: Errno, action: &'static str, path: PathBuf) -> Self {
        match errno {
            Errno::NOSPC | Errno::DQUOT => Self::DiskFull { path },
            errno => Self::Io { action, path, source: errno.into() },
        }
    }
}

/// Separates the two kinds of end.
pub fn split<T>(result: Result<T, MoveStop>) -> Result<Result<T, Refusal>, WriteError> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(MoveStop::Refused(refusal)) => Ok(Err(refusal)),
        Err(MoveStop::Failed(error)) => Err(error),
    }
}
