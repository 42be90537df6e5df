//! Errors: why a command stops without a result.

use std::error::Error;
use std::io;

use idd_base::InvalidId;
use idd_change::trees::TreesError;
use idd_report::{ErrorReport, ExplanationError, Report, Status, Untrusted};
use idd_world::cache::CacheError;
use idd_world::journal::JournalError;
use idd_world::process::RunError;
use idd_world::repo::RepoError;
use idd_world::run::sandbox::SandboxError;
use idd_world::tidy::TidyError;

/// Why the program stops without a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The kind, with its exit code.
    pub status: Status,
    /// The chain of causes, in one line, lower case, without a full stop.
    pub message: Untrusted,
    /// Advice to the user.
    pub hint: Option<Untrusted>,
}

impl Failure {
    /// A failure of this kind with this message, in lower case and without a full stop.
    pub fn new(status: Status, message: impl Into<Untrusted>) -> Self {
        Self { status, message: message.into(), hint: None }
    }

    /// A failure of the kind `error` with this message.
    pub fn error(message: impl Into<Untrusted>) -> Self {
        Self::new(Status::Error, message)
    }

    /// A failure of the kind `usage` with this message.
    pub fn usage(message: impl Into<Untrusted>) -> Self {
        Self::new(Status::Usage, message)
    }

    /// A failure of the kind `error`, with the causes of `error` in its message.
    pub fn from_error(error: &(dyn Error + 'static)) -> Self {
        Self::error(chain(error))
    }

    /// Adds advice to the user.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<Untrusted>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The error for a report.
    pub fn error_report(&self) -> ErrorReport {
        ErrorReport { message: self.message.clone(), hint: self.hint.clone() }
    }

    /// The report of a run that has no other result.
    pub fn report(&self) -> Report {
        Report { error: Some(self.error_report()), ..Report::new(self.status, self.status.meaning()) }
    }
}

/// Errors of the layers below, each with its chain of causes.
macro_rules! causes {
    ($($error:ty),+ $(,)?) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::from_error(&error)
            }
        }
    )+};
}

causes!(
    io::Error,
    serde_json::Error,
    CacheError,
    ExplanationError,
    InvalidId,
    RepoError,
    RunError,
    SandboxError,
    TidyError,
    TreesError,
    regex::Error,
);

#[cfg(feature = "explain")]
causes!(idd_world::record::RecordError, idd_trace::TraceError);

/// A failure to write or read a journal, with advice.
impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        let failure = Self::from_error(&error);
        match error {
            JournalError::Version { .. } => {
                failure.with_hint("another version of the program made the hunt; that one reads it")
            }
            JournalError::Busy { .. } => failure.with_hint("the same hunt is running already in this worktree"),
            JournalError::Io { .. } => failure
                .with_hint("a hunt needs space in the git directory, and the right to write there; nothing is lost"),
            _ => failure,
        }
    }
}

/// An error and its causes, in one line. A cause whose text is already in its error is left out.
pub fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let part = error.to_string();
        if !text.ends_with(&part) {
            text.push_str(": ");
            text.push_str(&part);
        }
        cause = error.source();
    }
    text
}
