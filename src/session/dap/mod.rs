//! A debugger on a recorded run: a server of the Debug Adapter Protocol, without the streams.
//!
//! [`wire`] is the form of the messages, and [`DapSession`] answers the requests. The state is a [`stand`]: one step, and all
//! that is shown is the process right before that step runs. Nothing runs: a walk is a look into a table, and what is shown
//! is played from the last checkpoint. [`tape`] answers questions about the run, a [`search`] finds hits of breakpoints part by
//! part, [`expression`](crate::expression) computes
//! what is typed, [`feedback`] recommends steps to a person who judges them, and
//! [`launch`] reads what a client wants to open or to record.

mod arguments;
mod breakpoints;
mod count;
pub mod feedback;
pub mod launch;
mod lists;
mod order;
mod progress;
pub mod recordings;
mod search;
mod session;
mod stand;
pub mod tape;
#[cfg(test)]
mod tests;
pub mod wire;

pub use crate::dap::order::StoredRecordings;
pub use crate::dap::session::DapSession;
