//! `--notify`: a command of the user's that is told of the first bad commit, and how a hunt ended.

use std::ffi::OsStr;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::thread::JoinHandle;
use std::time::Duration;

use crate::cli::console::Console;
use crate::cli::failure::warn;
use crate::report::Report;
use crate::report::Status;
use crate::report::Untrusted;
use crate::report::escape::Terminal;
use crate::report::style::Style;
use crate::report::summary;
use crate::report::text;
use crate::report::text::Look;
use crate::session::context::Context;
use crate::world::run::process;
use crate::world::run::process::Printed;

/// How long it may take: whoever waits for the exit code of a hunt does not wait for a mail.
const MAX_TIME: Duration = Duration::from_secs(60);

/// What is to be run when there is something to tell.
#[derive(Debug)]
pub struct Notice {
    words: Words,
    /// The command that was started while the hunt goes on.
    earlier: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Clone)]
struct Words {
    /// A shell line.
    line: String,
    /// The test that was hunted with.
    test: Untrusted,
    /// Set when the user interrupts.
    interrupt: Arc<AtomicBool>,
}

impl Notice {
    /// A shell line, for a hunt with this test.
    ///
    /// - `interrupt`: set when the user interrupts.
    pub fn new(line: String, test: Untrusted, interrupt: &Arc<AtomicBool>) -> Self {
        let words = Words { line, test, interrupt: Arc::clone(interrupt) };
        Self { words, earlier: Mutex::default() }
    }

    /// As [`give`](Self::give), without waiting for it.
    pub fn give_meanwhile(&self, report: Report, context: &Context, console: Console) {
        self.wait();
        let (words, context) = (self.words.clone(), context.clone());
        let given = thread::spawn(move || words.give(&report, &context, console));
        *self.earlier.lock().unwrap_or_else(PoisonError::into_inner) = Some(given);
    }

    /// Waits for what was started, so that nobody is told of the end first.
    fn wait(&self) {
        if let Some(earlier) = self.earlier.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // It has said itself what went wrong.
            let _ = earlier.join();
        }
    }

    /// Runs the line where the program was started, with the finding to read and its gist in the environment: `IDD_STATUS`, `IDD_COMMIT`
    /// (the first bad revision, if one is known) and `IDD_SUMMARY`, one line. What it prints goes to stderr; what becomes of it
    /// changes nothing, and is warned of.
    ///
    /// Whoever interrupts a hunt is there to see its end: then nothing is run.
    pub fn give(&self, report: &Report, context: &Context, console: Console) {
        self.wait();
        if report.status != Status::Interrupted {
            self.words.give(report, context, console);
        }
    }
}

impl Words {
    fn give(&self, report: &Report, context: &Context, console: Console) {
        if let Err(said) = self.tell(report, context) {
            // Nobody can be told that stderr is closed.
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
        let what = (told, Printed::ToStderr, Some((MAX_TIME, &*self.interrupt)));
        match process::feed(OsStr::new("sh"), &words, (&context.directory, &environment), what) {
            Ok(Some(0)) => Ok(()),
            Ok(Some(code)) => Err(format!("the command of `--notify` ended with {code}")),
            Ok(None) => {
                Err(format!("the command of `--notify` was killed after its limit of {} s", MAX_TIME.as_secs()))
            }
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
