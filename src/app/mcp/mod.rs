//! `git idd mcp`: a server of the Model Context Protocol on standard input and output.
//!
//! [`wire`] has the streams, [`server`] answers the requests of the protocol, [`tools`] is the table of the tools. What they
//! do is in [`hunts`], [`judging`] and [`runs`]; [`jobs`] has the one thing that runs in the background, [`allowed`] says
//! what may run.

mod allowed;
mod answer;
mod arguments;
mod hunts;
mod jobs;
mod judging;
mod object;
mod resources;
mod runs;
mod server;
mod state;
mod tools;
mod wire;

use crate::args::McpArgs;
use crate::mcp::allowed::Allowed;
use crate::mcp::server::McpServer;
use crate::mcp::state::ServerState;
use crate::mcp::wire::Wire;
use idd_session::{Context, Failure, Interrupt};
use idd_world::repo::Location;
use rmcp::service;
use std::sync::Arc;
use std::time::Duration;

/// The time that a tool is waited for at the end.
const PATIENCE: Duration = Duration::from_millis(500);

/// Serves one client until its stream ends, or a signal comes. What runs then is stopped first.
pub fn run(args: McpArgs, location: &Location, context: &Context) -> Result<(), Failure> {
    let interrupt = Interrupt::register()?;
    let state = Arc::new(ServerState::new(location.clone(), context.clone(), Allowed::new(args, context)));
    let (wire, flushed) = Wire::open(Arc::clone(&state), interrupt.clone())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|error| Failure::from_error(&error))?;
    let served = runtime.block_on(async {
        let server = McpServer(Arc::clone(&state));
        match service::serve_server(server, wire).await {
            Ok(running) => running.waiting().await.map(|_| ()).map_err(|error| Failure::from_error(&error)),
            // The client has left without a greeting.
            Err(service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => {
                let message = format!("the conversation with the client broke off: {error}");
                Err(Failure::error(message)
                    .with_hint("the command is started by a client; the manual page `mcp.md` says how"))
            }
        }
    });
    state.jobs.end();
    runtime.shutdown_timeout(PATIENCE);
    // Without a reader, the last answers are given up.
    let _ = flushed.recv_timeout(PATIENCE);
    interrupt.check("stopped")?;
    served
}
