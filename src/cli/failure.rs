//! The only place that prints errors.
//!
//! An error is one line `error: ` with its chain of causes, a blank line, and `hint: ` with what to do. Under `--json` the
//! same goes to stdout as a [`Report`], so that a program always finds one object there.

use std::error::Error;
use std::io;
use std::io::Write;

use crate::cli::args::UsageError;
use crate::report::ErrorReport;
use crate::report::Report;
use crate::report::Status;
use crate::report::Untrusted;
use crate::report::escape::Terminal;
use crate::report::style::Role;
use crate::report::style::Style;

/// Why the program stops without a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The kind, with its exit code.
    pub status: Status,
    /// The chain of causes, in one line, lower case, without a full stop.
    pub message: Untrusted,
    /// What to do about it.
    pub hint: Option<Untrusted>,
}

impl Failure {
    /// A failure of this kind with this message, in lower case and without a full stop.
    pub fn new(status: Status, message: impl Into<Untrusted>) -> Self {
        Self { status, message: message.into(), hint: None }
    }

    /// A failure of the kind `error`, with the causes of `error` in its message.
    pub fn from_error(error: &(dyn Error + 'static)) -> Self {
        Self::new(Status::Error, chain(error))
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<Untrusted>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Prints it for people; `err` is stderr.
    pub fn write(&self, style: Style, err: &mut dyn Write) -> io::Result<()> {
        writeln!(err, "{} {}", style.paint(Role::Removed, "error:"), Terminal.line(&self.message))?;
        match &self.hint {
            Some(hint) => writeln!(err, "\n{} {}", style.paint(Role::Warning, "hint:"), Terminal.line(hint)),
            None => Ok(()),
        }
    }

    /// What `error` of a report says about it.
    pub fn error(&self) -> ErrorReport {
        ErrorReport { message: self.message.clone(), hint: self.hint.clone() }
    }

    /// The report of a run that came to nothing else.
    pub fn report(&self) -> Report {
        Report { error: Some(self.error()), ..Report::new(self.status, self.status.meaning()) }
    }
}

impl From<UsageError> for Failure {
    fn from(error: UsageError) -> Self {
        Self::new(Status::Usage, error.message).with_hint(error.hint)
    }
}

/// Prints a warning, a sentence with a full stop; `err` is stderr.
pub fn warn(warning: &Untrusted, style: Style, err: &mut dyn Write) -> io::Result<()> {
    writeln!(err, "{} {}", style.paint(Role::Warning, "warning:"), Terminal.line(warning))
}

/// An error and its causes, in one line. A cause that its error repeats already is left out.
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

#[cfg(test)]
mod tests {
    use thiserror::Error;

    use super::*;

    #[derive(Debug, Error)]
    #[error("failed to start the test command `{program}`")]
    struct Spawn {
        program: String,
        source: io::Error,
    }

    fn spawn_failure(program: &str) -> Failure {
        let error = Spawn { program: program.to_owned(), source: io::Error::other("no such file") };
        Failure::from_error(&error).with_hint("the command runs in a checkout of each revision")
    }

    fn written(failure: &Failure, style: Style) -> String {
        let mut err = Vec::new();
        failure.write(style, &mut err).unwrap();
        String::from_utf8(err).unwrap()
    }

    #[test]
    fn an_error_is_printed_with_its_causes_and_a_hint() {
        insta::assert_snapshot!(written(&spawn_failure("./chek.sh"), Style::PLAIN), @r"
        error: failed to start the test command `./chek.sh`: no such file

        hint: the command runs in a checkout of each revision
        ");
    }

    #[test]
    fn an_error_sends_no_escape_sequence_of_a_file_name() {
        assert!(!written(&spawn_failure("\x1b[2J"), Style::PLAIN).contains('\x1b'));
    }

    #[test]
    fn a_usage_error_becomes_a_report_with_status_and_error() {
        let error = UsageError { message: "the test command is empty".into(), hint: "give one".into(), is_json: true };
        let report = Failure::from(error).report();
        assert_eq!(report.status.code(), 129);
        assert_eq!(report.error.unwrap().message, "the test command is empty".into());
    }
}
