//! Git repositories and the directories in which their trees are tried.
//!
//! - The worker's directory: [`worktree`] (start there), [`settle`](mod@settle), and below them [`survey`](mod@survey)
//!   (may this tree be written?), [`distance`](mod@distance), [`touched`] (which sources to check first),
//!   [`write`](mod@write) (write what differs), [`stat`] (what was written), [`index`] (the same for git), [`files`]
//!   (all access to the file system), [`paths`] (which names are safe).
//! - What the tree says about its own files: [`attributes`], [`conversion`], [`ignored`], all over [`pattern`].
//! - The user's repository and ours beside it: [`locate`], [`refs`], [`private`], [`graph`], [`store`] (differences,
//!   candidates and merges) over [`edit`] and `resolve` (what conflicts in a merge), [`keep`] (a finding brought into
//!   the user's), [`state`] (what must stay as it was), [`bisect`] (a `git bisect` under way),
//!   [`uncommitted`] (what was changed since `HEAD`), [`unchanged`] (the times of all else), [`promisor`] and [`fetch`] (what only a remote has).
//! - Raw objects: [`object`], [`untrusted`] (for tests with any bytes). What stops a writer, and what is only an
//!   answer: [`refusal`].

pub mod attention;
pub mod attributes;
mod binary_patch;
pub mod bisect;
pub mod conversion;
pub mod distance;
pub mod division;
pub mod edit;
mod entry;
pub mod fetch;
pub mod files;
pub mod fill;
pub mod generated;
pub mod graph;
mod ids;
pub mod ignored;
pub mod index;
pub mod keep;
pub mod locate;
mod loose;
pub mod modules;
pub mod object;
pub mod obstacle;
pub mod origin;
pub mod ownership;
pub mod patch;
pub mod paths;
pub mod pattern;
pub mod private;
pub mod promisor;
pub mod refs;
pub mod refusal;
mod repository;
mod resolve;
pub mod settle;
pub mod source;
pub mod stat;
pub mod state;
pub mod store;
pub mod survey;
pub mod touched;
pub mod unchanged;
pub mod uncommitted;
pub mod untrusted;
pub mod worktree;
pub mod write;

#[cfg(any(test, feature = "testing"))]
pub mod test_repository;
#[cfg(test)]
mod testing;

pub use locate::Location;
pub use store::{HeldFiles, PlainMerge, TreeStore};

use idd_base::count;
use idd_change::trees::TreesError;
use std::io;
use std::path::{Path, PathBuf};

pub use conversion::ConversionNotice;
pub use refusal::WriteError;
pub use repository::Repository;
pub use worktree::Worktree;

/// Reading or writing a repository failed.
#[derive(Debug, thiserror::Error)]
pub enum RepoError {
    /// The caller reports the expression to the user.
    #[error("`{expression}` is not a revision of this repository")]
    UnknownRevision {
        /// The expression that the user gave.
        expression: String,
    },
    /// Git refused, with a reason.
    #[error("{said}")]
    GitSays {
        /// The first line of git's message.
        said: String,
    },
    /// A partial clone lacks objects, and must not fetch them.
    #[error(
        "this partial clone lacks {} of a revision, which `{remote}` has; `git idd --fetch` gets what is needed when it is needed, \
         `git fetch --refetch --no-filter {remote}` gets all",
        count(n_missing, "object")
    )]
    Promised {
        /// Their number, as far as known: the content of a missing directory is unknown.
        n_missing: u64,
        /// The remote that has them.
        remote: String,
    },
    /// Objects could not be fetched.
    #[error("failed to fetch objects from `{remote}`: {said}")]
    NotFetched {
        /// The remote.
        remote: String,
        /// The first line of git's message.
        said: String,
    },
    /// The repository is of a kind that is not supported.
    #[error("{what} not supported")]
    Unsupported {
        /// The kind, with its verb.
        what: &'static str,
    },
    /// A patch cannot be applied; the caller names it.
    #[error("the patch {said}")]
    Patch {
        /// The reason, and the place.
        said: String,
        /// Whether it can be read, and does not fit the tree.
        is_unfit: bool,
    },
    /// libgit2 failed; the hunt stops.
    #[error("failed to {attempt}")]
    Git {
        /// The action.
        attempt: String,
        /// Why it failed.
        source: git2::Error,
    },
    /// An object cannot be read.
    #[error(transparent)]
    Object(WriteError),
    /// The file system failed; the hunt stops.
    #[error("failed to {attempt} `{}`", path.display())]
    Io {
        /// The action.
        attempt: &'static str,
        /// The path.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

impl RepoError {
    pub(super) fn git(attempt: impl Into<String>, source: git2::Error) -> Self {
        Self::Git { attempt: attempt.into(), source }
    }

    pub(super) fn io(attempt: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { attempt, path: path.to_owned(), source }
    }
}

impl From<RepoError> for TreesError {
    fn from(error: RepoError) -> Self {
        Self { attempt: "compute with trees".to_owned(), source: Box::new(error) }
    }
}
