//! `git idd dap`: a server of the Debug Adapter Protocol on standard input and output.

use crate::cli::args::criterion;
use crate::report::Status;
use crate::session::context::Context;
use crate::session::dap::Session;
use crate::session::dap::Stored;
use crate::session::dap::wire;
use crate::session::dap::wire::Read;
use crate::session::failure::Failure;
use crate::world::repo::locate::Location;
use std::io;

/// Serves one client until it disconnects or its stream ends.
///
/// Errors: what comes in is not the protocol, or nothing can be written.
pub fn run(location: &Location, context: &Context) -> Result<(), Failure> {
    let mut session = Session::new(Box::new(Stored { location, context, criterion: criterion::parse }));
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let failed = |error: io::Error| {
        Failure::new(Status::Error, format!("the conversation with the debugger's client broke off: {error}"))
            .with_hint("the command is started by an editor; the manual page `dap.md` says how")
    };
    while !session.is_over {
        match wire::read(&mut input).map_err(failed)? {
            Read::Message(message) => {
                let mut written = Ok(());
                session.handle(&message, &mut |answer| {
                    if written.is_ok() {
                        written = wire::write(&mut output, &answer);
                    }
                });
                written.map_err(failed)?;
            }
            Read::NoJson => wire::write(&mut output, &session.no_json()).map_err(failed)?,
            Read::End => break,
        }
    }
    Ok(())
}
