//! `git idd dap`: a server of the Debug Adapter Protocol on standard input and output.

use crate::cli::args::criterion;
use crate::report::Status;
use crate::session::context::Context;
use crate::session::dap::Session;
use crate::session::dap::Stored;
use crate::session::dap::wire;
use crate::session::dap::wire::Read;
use crate::session::failure::Failure;
use crate::session::interrupt::Interrupt;
use crate::session::interrupt::raise;
use crate::world::repo::locate::Location;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::RecvTimeoutError;
use std::thread;
use std::time::Duration;

/// The time between two looks whether a signal came.
const LOOK: Duration = Duration::from_millis(100);

/// Messages that wait while one is answered.
const MAX_WAITING: usize = 64;

/// Serves one client until it disconnects, its stream ends, or a signal comes.
///
/// Errors: what comes in is not the protocol, or nothing can be written.
pub fn run(location: &Location, context: &Context) -> Result<(), Failure> {
    let interrupt = Interrupt::register()?;
    let mut session = Session::new(Box::new(Stored { location, context, criterion: criterion::parse }));
    let mut output = io::stdout().lock();
    let failed = |error: io::Error| {
        Failure::new(Status::Error, format!("the conversation with the debugger's client broke off: {error}"))
            .with_hint("the command is started by an editor; the manual page `dap.md` says how")
    };
    let state = Arc::new(State::default());
    let messages = messages(Arc::clone(&state));
    while !session.is_over {
        let message = match messages.recv_timeout(LOOK) {
            Ok(message) => message.map_err(failed)?,
            Err(RecvTimeoutError::Timeout) if interrupt.check("stopped").is_ok() => continue,
            Err(_) => break,
        };
        match message {
            Read::Message(message) => {
                let mut written = Ok(());
                session.handle(&message, &mut |answer| {
                    // Only a recording reports while it goes on.
                    if answer["event"] == "output" {
                        state.recording.store(true, Ordering::SeqCst);
                        state.raised.store(false, Ordering::SeqCst);
                        state.end_recording();
                    } else {
                        state.recording.store(false, Ordering::SeqCst);
                    }
                    if written.is_ok() {
                        written = wire::write(&mut output, &answer);
                    }
                });
                written.map_err(failed)?;
                if message["command"] == "terminate" {
                    state.left.store(false, Ordering::SeqCst);
                }
            }
            Read::NoJson => wire::write(&mut output, &session.no_json()).map_err(failed)?,
            Read::End => break,
        }
    }
    Ok(())
}

/// What the threads share.
#[derive(Default)]
struct State {
    /// Whether a test is recorded, and has the signal handlers of a recording.
    recording: AtomicBool,
    /// Whether the client has left, or is about to.
    left: AtomicBool,
    /// Whether the recording was interrupted since it reported last; a second signal ends the program at once.
    raised: AtomicBool,
}

impl State {
    /// Interrupts a recording that nobody waits for.
    fn end_recording(&self) {
        let is_wanted = self.left.load(Ordering::SeqCst) && self.recording.load(Ordering::SeqCst);
        if is_wanted && !self.raised.swap(true, Ordering::SeqCst) {
            raise();
        }
    }
}

/// The messages of the client, read by a thread of their own, so that a client can leave while a test is recorded.
fn messages(state: Arc<State>) -> Receiver<io::Result<Read>> {
    let (sender, receiver) = mpsc::sync_channel(MAX_WAITING);
    thread::spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            let message = wire::read(&mut input);
            let is_last = !matches!(message, Ok(Read::Message(_) | Read::NoJson));
            let is_goodbye = match &message {
                Ok(Read::Message(message)) => message["command"] == "disconnect" || message["command"] == "terminate",
                _ => is_last,
            };
            if is_goodbye && !state.left.swap(true, Ordering::SeqCst) {
                state.end_recording();
            }
            if sender.send(message).is_err() || is_last {
                return;
            }
        }
    });
    receiver
}
