//! What ends a runner.

use crate::Failure;
use idd_world::cache::CacheError;
use idd_world::journal::JournalError;
use idd_world::run::sandbox::SandboxError;

/// An error that ends a runner.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// A probe could not be made.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The journal could not be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The cache could not be used at all.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The hunt cannot say anything true, for example because the test reads the files of the user.
    #[error("the hunt was ended")]
    Ended(Box<Failure>),
}

impl From<RunnerError> for Failure {
    fn from(error: RunnerError) -> Self {
        if let RunnerError::Ended(failure) = error {
            return *failure;
        }
        Self::from_error(&error).with_hint("what was learned is kept; the same command goes on from there")
    }
}
