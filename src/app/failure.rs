//! The only place that prints errors.
//!
//! An error is one line `error: ` with its chain of causes, a blank line, and `hint: ` with advice. With `--json`, the
//! same goes to stdout as a [`Report`](idd_report::Report), so a program always finds one object there.

use crate::args::UsageError;
use idd_report::{Status, Style, Terminal, TextRole, Untrusted};
use idd_session::Failure;
use std::io::{self, Write};

/// Prints a failure for people; `err` is stderr.
pub fn write(failure: &Failure, style: Style, err: &mut dyn Write) -> io::Result<()> {
    writeln!(err, "{} {}", style.paint(TextRole::Removed, "error:"), Terminal.line(&failure.message))?;
    match &failure.hint {
        Some(hint) => writeln!(err, "\n{} {}", style.paint(TextRole::Warning, "hint:"), Terminal.line(hint)),
        None => Ok(()),
    }
}

impl From<UsageError> for Failure {
    fn from(error: UsageError) -> Self {
        Self::new(Status::Usage, error.message).with_hint(error.hint)
    }
}

/// Prints a warning, a sentence with a full stop; `err` is stderr.
pub fn warn(warning: &Untrusted, style: Style, err: &mut dyn Write) -> io::Result<()> {
    writeln!(err, "{} {}", style.paint(TextRole::Warning, "warning:"), Terminal.line(warning))
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
        write(failure, style, &mut err).unwrap();
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
