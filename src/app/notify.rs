//! `--notify`: runs a command of the user with the first bad commit, and with the result of a hunt.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use std::{io, thread};

use crate::console::Console;
use crate::failure::warn;
use idd_report::escape::Terminal;
use idd_report::style::Style;
use idd_report::text::{DetailLevel, TextLook};
use idd_report::{Report, Status, Untrusted, summary, text};
use idd_session::context::Context;
use idd_world::process::{self, OutputDestination};

/// The time limit of the command, because other programs wait for the exit code of the hunt.
const MAX_TIME: Duration = Duration::from_secs(60);

/// The command of `--notify`.
#[derive(Debug)]
pub struct NotifyCommand {
    words: NotifyWords,
    /// The command that was started while the hunt goes on.
    earlier: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Clone)]
struct NotifyWords {
    /// A shell line.
    line: String,
    /// The test of the hunt.
    test: Untrusted,
    /// Set when the user interrupts.
    interrupt: Arc<AtomicBool>,
}

impl NotifyCommand {
    /// A shell line, for a hunt with this test.
    ///
    /// - `interrupt`: set when the user interrupts.
    pub fn new(line: String, test: Untrusted, interrupt: &Arc<AtomicBool>) -> Self {
        let words = NotifyWords { line, test, interrupt: Arc::clone(interrupt) };
        Self { words, earlier: Mutex::default() }
    }

    /// As [`give`](Self::give), without waiting for it.
    pub fn give_meanwhile(&self, report: Report, context: &Context, console: Console) {
        self.wait();
        let (words, context) = (self.words.clone(), context.clone());
        let given = thread::spawn(move || words.give(&report, &context, console));
        *self.earlier.lock().unwrap_or_else(PoisonError::into_inner) = Some(given);
    }

    /// Waits for the earlier command, so that the end is never reported first.
    fn wait(&self) {
        if let Some(earlier) = self.earlier.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // It has printed its own error.
            let _ = earlier.join();
        }
    }

    /// Runs the line in the directory in which the program was started. It reads the finding from stdin, and has in its
    /// environment `IDD_STATUS`, `IDD_COMMIT` (the first bad revision, if known) and `IDD_SUMMARY`, one line. Its
    /// output goes to stderr. Its failure is only a warning.
    ///
    /// If the user interrupted the hunt, nothing is run, because the user sees its end.
    pub fn give(&self, report: &Report, context: &Context, console: Console) {
        self.wait();
        if report.status != Status::Interrupted {
            self.words.give(report, context, console);
        }
    }
}

impl NotifyWords {
    fn give(&self, report: &Report, context: &Context, console: Console) {
        if let Err(said) = self.tell(report, context) {
            // If stderr is closed, this cannot be reported.
            let _ = warn(&Untrusted::from(said), console.err_style, &mut io::stderr());
        }
    }

    fn tell(&self, report: &Report, context: &Context) -> Result<(), String> {
        let first_bad = report.first_bad.as_ref().map(|first_bad| first_bad.commit.commit.to_string());
        let variables = [
            ("IDD_STATUS", report.status.word().to_owned()),
            ("IDD_COMMIT", first_bad.unwrap_or_default()),
            ("IDD_SUMMARY", Terminal.line(&summary::title(report, &self.test))),
        ];
        let mut environment = context.environment.clone();
        environment.extend(variables.map(|(name, value)| (name.into(), OsString::from_vec(value.into_bytes()))));
        let told = told(report).map_err(|error| format!("the finding cannot be written for `--notify`: {error}"))?;
        let words = [OsStr::new("-c"), OsStr::new(&self.line)];
        let limit = Some((MAX_TIME, &*self.interrupt));
        let (sh, printed) = (OsStr::new("sh"), OutputDestination::ToStderr);
        match process::feed(sh, &words, &context.directory, &environment, told, printed, limit) {
            Ok(Some(0)) => Ok(()),
            Ok(Some(code)) => Err(format!("the command of `--notify` ended with {code}")),
            Ok(None) if self.interrupt.load(Ordering::Relaxed) => {
                Err("the command of `--notify` was killed".to_owned())
            }
            Ok(None) => {
                Err(format!("the command of `--notify` was killed after its limit of {} s", MAX_TIME.as_secs()))
            }
            Err(error) => Err(format!("the command of `--notify` cannot be run: {error}")),
        }
    }
}

/// The finding as text for people.
fn told(report: &Report) -> io::Result<Vec<u8>> {
    let mut told = Vec::new();
    if let Some(error) = &report.error {
        told.extend(format!("error: {}\n", Terminal.line(&error.message)).bytes());
    }
    let look =
        TextLook { style: Style::PLAIN, is_raw: false, detail: DetailLevel::Full, columns: None, is_older: false };
    text::write(report, &[], look, &mut told)?;
    Ok(told)
}
