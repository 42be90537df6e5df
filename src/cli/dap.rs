//! `git idd dap`: a server of the Debug Adapter Protocol on standard input and output.

use crate::report::Status;
use crate::session::dap::Session;
use crate::session::dap::opener;
use crate::session::dap::wire;
use crate::session::dap::wire::Read;
use crate::session::failure::Failure;
use crate::world::repo::locate::Location;
use std::io;

/// Serves one client until it disconnects or its stream ends.
///
/// Errors: what comes in is not the protocol, or nothing can be written.
pub fn run(location: &Location) -> Result<(), Failure> {
    let mut session = Session::new(opener(location));
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let failed = |error: io::Error| {
        Failure::new(Status::Error, format!("the conversation with the debugger's client broke off: {error}"))
            .with_hint("the command is started by an editor; the manual page `dap.md` says how")
    };
    while !session.is_over {
        match wire::read(&mut input).map_err(failed)? {
            Read::Message(message) => {
                for answer in session.handle(&message) {
                    wire::write(&mut output, &answer).map_err(failed)?;
                }
            }
            Read::NoJson => {
                let answer = serde_json::json!({"seq": 0, "type": "response", "request_seq": 0, "command": "",
                    "success": false, "message": "the message is no JSON"});
                wire::write(&mut output, &answer).map_err(failed)?;
            }
            Read::End => break,
        }
    }
    Ok(())
}
