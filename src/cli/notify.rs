//! `--notify`: a command of the user's that is told how a hunt ended.

use std::ffi::OsStr;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::cli::commands::Console;
use crate::cli::failure::warn;
use crate::cli::plan::Surroundings;
use crate::report::Report;
use crate::report::Status;
use crate::report::Untrusted;
use crate::report::escape::Terminal;
use crate::report::style::Style;
use crate::report::summary;
use crate::report::text;
use crate::report::text::Look;
use crate::world::run::process;
use crate::world::run::process::Printed;

/// How long it may take: whoever waits for the exit code of a hunt does not wait for a mail.
const MAX_TIME: Duration = Duration::from_secs(60);

/// What is to be run at the end of a hunt.
#[derive(Debug, Clone)]
pub struct Notice {
    /// A shell line.
    pub line: String,
    /// The test that was hunted with.
    pub test: Untrusted,
    /// Set when the user interrupts.
    pub interrupt: Arc<AtomicBool>,
}

impl Notice {
    /// Runs the line where the program was started, with the finding to read and its gist in the environment: `IDD_STATUS`, `IDD_COMMIT`
    /// (the first bad revision, if one is known) and `IDD_SUMMARY`, one line. What it prints goes to stderr; what becomes of it
    /// changes nothing, and is warned of.
    ///
    /// Whoever interrupts a hunt is there to see its end: then nothing is run.
    pub fn give(&self, report: &Report, around: &Surroundings, console: Console) {
        if report.status == Status::Interrupted {
            return;
        }
        if let Err(said) = self.tell(report, around) {
            // Nobody can be told that stderr is closed.
            let _ = warn(&Untrusted::from(said), console.err_style, &mut io::stderr());
        }
    }

    fn tell(&self, report: &Report, around: &Surroundings) -> Result<(), String> {
        let first_bad = report.first_bad.as_ref().map(|first_bad| first_bad.commit.commit.to_string());
        let variables = [
            ("IDD_STATUS", report.status.word().to_owned()),
            ("IDD_COMMIT", first_bad.unwrap_or_default()),
            ("IDD_SUMMARY", Terminal.line(&summary::title(report, &self.test))),
        ];
        let mut environment = around.environment.clone();
        environment.extend(variables.map(|(name, value)| (name.into(), OsString::from_vec(value.into_bytes()))));
        let told = told(report).map_err(|error| format!("the finding cannot be written for `--notify`: {error}"))?;
        let words = [OsStr::new("-c"), OsStr::new(&self.line)];
        let what = (told, Printed::ToStderr, Some((MAX_TIME, &*self.interrupt)));
        match process::feed(OsStr::new("sh"), &words, (&around.directory, &environment), what) {
            Ok(Some(0)) => Ok(()),
            Ok(Some(code)) => Err(format!("the command of `--notify` ended with {code}")),
            Ok(None) => Err(format!("the command of `--notify` was ended; it may take {} s", MAX_TIME.as_secs())),
            Err(error) => Err(format!("the command of `--notify` cannot be run: {error}")),
        }
    }
}

/// As people read it.
fn told(report: &Report) -> io::Result<Vec<u8>> {
    let mut told = Vec::new();
    if let Some(error) = &report.error {
        told.extend(format!("error: {}\n", Terminal.line(&error.message)).bytes());
    }
    text::write(report, Look { style: Style::PLAIN, is_raw: false, is_verbose: false }, &mut told)?;
    Ok(told)
}
