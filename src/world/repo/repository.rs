//! An open repository, behind which libgit2 stands: only this room knows that.

use std::fmt;
use std::path::Path;

/// A repository. The functions of this room read it and write to it.
pub struct Repository(git2::Repository);

impl Repository {
    /// Its git directory.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The repository as libgit2 has it.
    pub(super) fn git(&self) -> &git2::Repository {
        &self.0
    }
}

impl From<git2::Repository> for Repository {
    fn from(repository: git2::Repository) -> Self {
        Self(repository)
    }
}

impl fmt::Debug for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Repository").field(&self.path()).finish()
    }
}
