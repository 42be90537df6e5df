//! The streams of the protocol: one message in each line of standard input and output.
//!
//! Threads read and write, so neither a client that is silent nor one that does not read keeps the program from ending. A
//! line that is no message is answered here; the protocol's implementation sees only messages.

use crate::mcp::state::ServerState;
use idd_session::Interrupt;
use idd_world::process::CommandWatch as _;
use rmcp::RoleServer;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use std::convert::Infallible;
use std::io::{BufRead, PipeWriter, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use std::{future, io, thread};
use tokio::sync::mpsc as waiting;
use tokio::time;

/// The longest line, in bytes.
const MAX_LINE: usize = 1 << 20;

/// Lines that wait until they are looked at.
const MAX_WAITING: usize = 16;

/// Calls that are worked on; the next line is read when one of them is answered.
const MAX_CALLS: usize = 64;

/// Bytes of answers that a client has not read; with more, the conversation is over.
const MAX_UNREAD: usize = 64 << 20;

/// The time between two looks whether a signal came.
const LOOK: Duration = Duration::from_millis(100);

/// A line of the client.
#[derive(Debug, PartialEq, Eq)]
enum ClientLine {
    Bytes(Vec<u8>),
    TooLong,
}

/// The streams.
pub struct Wire {
    lines: waiting::Receiver<ClientLine>,
    written: Option<mpsc::Sender<Vec<u8>>>,
    /// Bytes that are not written yet.
    n_unread: Arc<AtomicUsize>,
    /// Whether a request has come: nothing else may come first.
    has_begun: bool,
    state: Arc<ServerState>,
    interrupt: Interrupt,
}

impl Wire {
    /// Starts the threads. When all is written and the wire is dropped, the receiver is disconnected.
    ///
    /// Errors: there is no standard output.
    pub fn open(state: Arc<ServerState>, interrupt: Interrupt) -> io::Result<(Self, mpsc::Receiver<Infallible>)> {
        // The end of the program takes the lock of stdout, and must not wait for a client that does not read.
        let mut output = PipeWriter::from(io::stdout().as_fd().try_clone_to_owned()?);
        let (sender, lines) = waiting::channel(MAX_WAITING);
        let jobs = Arc::clone(&state.jobs);
        thread::spawn(move || {
            let mut input = io::stdin().lock();
            // At the end and after an error there are no more lines.
            while let Ok(Some(line)) = next(&mut input) {
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
            jobs.leave();
        });
        let n_unread = Arc::new(AtomicUsize::new(0));
        let n_left = Arc::clone(&n_unread);
        let (written, messages) = mpsc::channel::<Vec<u8>>();
        let (is_flushed, flushed) = mpsc::channel();
        thread::spawn(move || {
            for message in messages {
                if output.write_all(&message).is_err() {
                    break;
                }
                n_left.fetch_sub(message.len(), Ordering::SeqCst);
            }
            drop(is_flushed);
        });
        Ok((Self { lines, written: Some(written), n_unread, has_begun: false, state, interrupt }, flushed))
    }

    fn put(&mut self, message: &TxJsonRpcMessage<RoleServer>) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(message)?;
        bytes.push(b'\n');
        let n_unread = self.n_unread.fetch_add(bytes.len(), Ordering::SeqCst);
        let is_sent =
            n_unread <= MAX_UNREAD && self.written.as_ref().is_some_and(|written| written.send(bytes).is_ok());
        if is_sent {
            return Ok(());
        }
        self.written = None;
        Err(io::ErrorKind::BrokenPipe.into())
    }
}

/// The next line, without its end; `None` at the end of the stream.
fn next(input: &mut impl BufRead) -> io::Result<Option<ClientLine>> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX) + 1;
    if input.by_ref().take(limit).read_until(b'\n', &mut bytes)? == 0 {
        return Ok(None);
    }
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    } else if bytes.len() > MAX_LINE {
        input.skip_until(b'\n')?;
        return Ok(Some(ClientLine::TooLong));
    }
    Ok(Some(ClientLine::Bytes(bytes)))
}

/// What a line is.
enum ReadLine {
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// It needs no answer.
    Nothing,
    Refused(Option<RequestId>, ErrorData),
}

fn read(line: &ClientLine) -> ReadLine {
    let refused = |code, what: String, id| ReadLine::Refused(id, ErrorData::new(code, what, None));
    let ClientLine::Bytes(bytes) = line else {
        let what = format!("the message is longer than {MAX_LINE} bytes");
        return refused(ErrorCode::INVALID_REQUEST, what, None);
    };
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return ReadLine::Nothing;
    }
    let value: Value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(_) => return refused(ErrorCode::PARSE_ERROR, "the line is no JSON".to_owned(), None),
    };
    let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    // A note of the client; there is no answer to it, whatever it is.
    let is_note = value.get("method").is_some() && value.get("id").is_none();
    match serde_json::from_value(value) {
        Ok(message) => ReadLine::Message(Box::new(message)),
        Err(_) if is_note => ReadLine::Nothing,
        Err(_) => refused(ErrorCode::INVALID_REQUEST, "the line is no message of the protocol".to_owned(), id),
    }
}

impl Transport<RoleServer> for Wire {
    type Error = io::Error;

    fn send(&mut self, item: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        future::ready(self.put(&item))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let is_over = self.interrupt.is_interrupted() || self.written.is_none();
            if !is_over && self.state.n_calls() >= MAX_CALLS {
                time::sleep(LOOK).await;
                continue;
            }
            let line = if is_over { Ok(None) } else { time::timeout(LOOK, self.lines.recv()).await };
            let line = match line {
                Err(_) => continue,
                Ok(None) => {
                    self.state.jobs.leave();
                    return None;
                }
                Ok(Some(line)) => line,
            };
            match read(&line) {
                ReadLine::Message(message) => {
                    self.has_begun |= matches!(*message, JsonRpcMessage::Request(_));
                    if self.has_begun {
                        return Some(*message);
                    }
                }
                ReadLine::Nothing => {}
                ReadLine::Refused(id, error) => {
                    // If that fails, it is seen at the next turn.
                    let _ = self.put(&JsonRpcMessage::error(error, id));
                }
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = io::Result<()>> + Send {
        self.written = None;
        future::ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_the_next_one_is_read() {
        let text = [&b"one\n\n"[..], &vec![b'x'; MAX_LINE + 1], b"\n", &vec![b'y'; MAX_LINE], b"\nend"].concat();
        let mut input = &text[..];
        let mut line = || next(&mut input).unwrap();
        assert_eq!(line(), Some(ClientLine::Bytes(b"one".to_vec())));
        assert_eq!(line(), Some(ClientLine::Bytes(Vec::new())));
        assert_eq!(line(), Some(ClientLine::TooLong));
        assert_eq!(line(), Some(ClientLine::Bytes(vec![b'y'; MAX_LINE])));
        assert_eq!(line(), Some(ClientLine::Bytes(b"end".to_vec())));
        assert_eq!(line(), None);
    }

    #[test]
    fn what_is_no_message_is_refused_with_the_number_of_the_request() {
        let code = |line: &str| match read(&ClientLine::Bytes(line.into())) {
            ReadLine::Refused(id, error) => Some((id, error.code.0)),
            ReadLine::Message(_) => Some((None, 0)),
            ReadLine::Nothing => None,
        };
        let deep = "[".repeat(100_000);
        for line in ["{", "nul", "\u{0}", "{}{}", &deep] {
            assert_eq!(code(line), Some((None, -32700)), "{}", &line[..line.len().min(9)]);
        }
        for line in ["3", "[]", "null", "{}", "\"x\"", r#"{"jsonrpc":"1.0","method":"ping","id":{}}"#] {
            assert_eq!(code(line), Some((None, -32600)), "{line}");
        }
        assert_eq!(code(r#"{"id":7}"#), Some((Some(RequestId::Number(7)), -32600)));
        for line in ["", " \r", r#"{"method":3}"#, r#"{"jsonrpc":"0","method":"x"}"#] {
            assert_eq!(code(line), None, "{line}");
        }
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#), Some((None, 0)));
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":1,"method":"no/such","params":{"a":1}}"#), Some((None, 0)));
    }
}
