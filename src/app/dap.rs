//! `git idd dap`: a server of the Debug Adapter Protocol on standard input and output.

use crate::args::recorded::criterion;
use idd_session::dap::wire::ReadMessage;
use idd_session::dap::{DapSession, StoredRecordings, wire};
use idd_session::interrupt::raise;
use idd_session::{Context, Failure, Interrupt};
use idd_world::process::CommandWatch as _;
use idd_world::repo::Location;
use serde_json::Value;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use std::{io, thread};

/// The time between two looks whether a signal came.
const LOOK: Duration = Duration::from_millis(100);

/// Messages that wait while one is answered.
const MAX_WAITING: usize = 64;

/// Serves one client until it disconnects, its stream ends, or a signal comes.
///
/// Errors: what comes in is not the protocol, or nothing can be written.
pub fn run(location: &Location, context: &Context) -> Result<(), Failure> {
    let interrupt = Interrupt::register()?;
    let state = Arc::new(DapState::default());
    let is_over_now = {
        let (state, interrupt) = (Arc::clone(&state), interrupt.clone());
        move || state.n_interrupting.load(Ordering::SeqCst) > 0 || interrupt.is_interrupted()
    };
    let session = DapSession::new(Box::new(StoredRecordings { location, context, criterion: criterion::parse }));
    let mut session = session.interrupted_by(Box::new(is_over_now));
    let mut output = io::stdout().lock();
    let failed = |error: io::Error| {
        Failure::error(format!("the conversation with the debugger's client broke off: {error}"))
            .with_hint("the command is started by an editor; the manual page `dap.md` says how")
    };
    let messages = messages(Arc::clone(&state));
    while !session.is_over {
        let (message, is_interrupting) = match messages.recv_timeout(LOOK) {
            Ok((message, is_interrupting)) => (message.map_err(failed)?, is_interrupting),
            Err(RecvTimeoutError::Timeout) if interrupt.check("stopped").is_ok() => continue,
            Err(_) => break,
        };
        if is_interrupting {
            state.n_interrupting.fetch_sub(1, Ordering::SeqCst);
        }
        match message {
            ReadMessage::Message(message) => {
                let mut written = Ok(());
                state.current.store(message["seq"].as_u64().unwrap_or(0), Ordering::SeqCst);
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
                        if written.is_err() {
                            state.n_interrupting.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                });
                written.map_err(failed)?;
                if message["command"] == "terminate" {
                    state.left.store(false, Ordering::SeqCst);
                }
            }
            ReadMessage::NoJson => wire::write(&mut output, &session.no_json()).map_err(failed)?,
            ReadMessage::End => break,
        }
    }
    Ok(())
}

/// What the threads share.
#[derive(Default)]
struct DapState {
    /// Whether a test is recorded, and has the signal handlers of a recording.
    recording: AtomicBool,
    /// Whether the client has left, or is about to.
    left: AtomicBool,
    /// Whether the recording was interrupted since it reported last; a second signal ends the program at once.
    raised: AtomicBool,
    /// Messages that end what goes on, and were not answered yet.
    n_interrupting: AtomicUsize,
    /// The number of the request that is answered.
    current: AtomicU64,
}

impl DapState {
    /// Whether a message ends a launch or a search that goes on.
    fn is_interrupting(&self, message: &Value) -> bool {
        match message["command"].as_str() {
            Some("pause" | "disconnect" | "terminate") => true,
            Some("cancel") => {
                let arguments = &message["arguments"];
                let current = self.current.load(Ordering::SeqCst);
                arguments["progressId"].is_string() || arguments["requestId"].as_u64() == Some(current)
            }
            _ => false,
        }
    }

    /// Interrupts a recording that nobody waits for.
    fn end_recording(&self) {
        let is_wanted = self.left.load(Ordering::SeqCst) && self.recording.load(Ordering::SeqCst);
        if is_wanted && !self.raised.swap(true, Ordering::SeqCst) {
            raise();
        }
    }
}

/// The messages of the client, read by a thread of their own, so that a client can leave while a test is recorded.
///
/// Each comes with whether it was counted as one that ends what goes on.
fn messages(state: Arc<DapState>) -> Receiver<(io::Result<ReadMessage>, bool)> {
    let (sender, receiver) = mpsc::sync_channel(MAX_WAITING);
    thread::spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            let message = wire::read(&mut input);
            let is_last = !matches!(message, Ok(ReadMessage::Message(_) | ReadMessage::NoJson));
            let is_goodbye = match &message {
                Ok(ReadMessage::Message(message)) => {
                    message["command"] == "disconnect" || message["command"] == "terminate"
                }
                _ => is_last,
            };
            if is_goodbye && !state.left.swap(true, Ordering::SeqCst) {
                state.end_recording();
            }
            let is_interrupting =
                matches!(&message, Ok(ReadMessage::Message(message)) if state.is_interrupting(message));
            if is_interrupting {
                state.n_interrupting.fetch_add(1, Ordering::SeqCst);
            }
            if sender.send((message, is_interrupting)).is_err() || is_last {
                return;
            }
        }
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_client_that_waits_no_longer_interrupts_what_goes_on() {
        let state = DapState::default();
        state.current.store(7, Ordering::SeqCst);
        let is_interrupting = |command: &str, arguments: Value| {
            state.is_interrupting(&json!({"command": command, "arguments": arguments}))
        };
        assert!(is_interrupting("pause", json!({})) && is_interrupting("disconnect", Value::Null));
        assert!(is_interrupting("cancel", json!({"requestId": 7})));
        assert!(is_interrupting("cancel", json!({"progressId": "search-1"})));
        for other in [json!({"requestId": 8}), json!({}), json!([]), json!({"progressId": 3})] {
            assert!(!is_interrupting("cancel", other));
        }
        assert!(!is_interrupting("next", json!({})) && !state.is_interrupting(&json!(3)));
    }
}
