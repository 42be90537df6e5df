//! The flag that is set by signals that ask the program to end.

use crate::Failure;
use idd_report::Status;
use idd_world::process::{CommandWatch, ProcessGroup};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGXFSZ};
use std::io::Read as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{io, thread};

/// git sends on to its command what the terminal has sent to both, so one Ctrl-C arrives twice within this time.
const ECHO: Duration = Duration::from_millis(300);

/// The time that an analysis has to stop by itself: it does not look at the flag while it reads a long recording.
const GRACE: Duration = Duration::from_millis(1500);

/// The time that it has once it has looked at the flag: it tells then what it has found.
const HEARD_GRACE: Duration = Duration::from_secs(10);

/// The signals.
const SIGNALS: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];

/// Asks this process to end, as a signal from outside does.
pub fn raise() {
    // It fails only for signals that do not exist.
    let _ = signal_hook::low_level::raise(SIGTERM);
}

/// Stops this process until the shell continues it, as Ctrl-Z does.
pub fn suspend() {
    // It fails only for signals that do not exist.
    let _ = signal_hook::low_level::emulate_default_handler(SIGTSTP);
}

/// Ends the program at once, from any thread, with this exit code; 130 is that of an interruption.
pub fn end(code: u8) -> ! {
    signal_hook::low_level::exit(i32::from(code))
}

/// A flag that is set when somebody else stops this process as Ctrl-Z does (`kill -TSTP`); [`suspend`] does it then.
pub fn on_suspend() -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGTSTP, Arc::clone(&flag))?;
    Ok(flag)
}

/// Installs a handler for the signal of a limit on the size of files. Without one, it would kill the program; with one the
/// write fails, and is reported.
pub fn outlive_file_limits() -> io::Result<()> {
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map(|_| ())
}

/// Set by the first such signal.
#[derive(Debug, Clone)]
pub struct Interrupt {
    /// Set by the signal.
    pub flag: Arc<AtomicBool>,
    /// Set by the work that has seen the flag.
    is_heard: Arc<AtomicBool>,
}

impl From<Arc<AtomicBool>> for Interrupt {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self { flag, is_heard: Arc::default() }
    }
}

impl Interrupt {
    /// Installs the signal handlers. A second signal, if it is no echo of the first one, ends the program at once; stored
    /// data are consistent at any time.
    pub fn register() -> Result<Self, Failure> {
        Self::register_until(false)
    }

    /// The same for work that may go on for long after the first signal: the program ends 1.5 seconds later, or 10 if the work
    /// has looked at the flag by then.
    pub fn register_ending() -> Result<Self, Failure> {
        Self::register_until(true)
    }

    fn register_until(is_ending: bool) -> Result<Self, Failure> {
        let interrupt = Self::from(Arc::new(AtomicBool::new(false)));
        outlive_file_limits()?;
        let (mut told, teller) = UnixStream::pair()?;
        let is_next_the_end = Arc::new(AtomicBool::new(false));
        for signal in SIGNALS {
            let conditional =
                signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&is_next_the_end));
            conditional?;
            signal_hook::flag::register(signal, Arc::clone(&interrupt.flag))?;
            signal_hook::low_level::pipe::register(signal, teller.try_clone()?)?;
        }
        let (is_end, is_heard) = (Arc::clone(&is_next_the_end), Arc::clone(&interrupt.is_heard));
        let patient = move || {
            if told.read(&mut [0]).is_ok() {
                thread::sleep(ECHO);
                is_end.store(true, Ordering::Relaxed);
                if is_ending {
                    thread::sleep(GRACE.saturating_sub(ECHO));
                    if is_heard.load(Ordering::Relaxed) {
                        thread::sleep(HEARD_GRACE.saturating_sub(GRACE));
                    }
                    raise();
                }
            }
        };
        if thread::Builder::new().name("interrupt".to_owned()).spawn(patient).is_err() {
            // Without a thread to wait, the first signal is the end.
            is_next_the_end.store(true, Ordering::Relaxed);
        }
        Ok(interrupt)
    }

    /// An error with this message if a signal has asked the program to end.
    pub fn check(&self, message: &str) -> Result<(), Failure> {
        if self.is_interrupted() { Err(Failure::new(Status::Interrupted, message)) } else { Ok(()) }
    }

    /// From now on, signals end the program at once; an error if one has arrived already.
    pub fn end_at_once(&self) -> Result<(), Failure> {
        for signal in SIGNALS {
            signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::new(AtomicBool::new(true)))?;
        }
        self.check("stopped")
    }
}

/// For commands outside of a hunt: they end with the program, and are not recorded.
impl CommandWatch for Interrupt {
    fn started(&mut self, _group: ProcessGroup) {}

    fn is_interrupted(&self) -> bool {
        let is_interrupted = self.flag.load(Ordering::Relaxed);
        if is_interrupted {
            self.is_heard.store(true, Ordering::Relaxed);
        }
        is_interrupted
    }
}
