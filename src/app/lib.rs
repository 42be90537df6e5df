//! The command line: the only part that prints.
//!
//! [`args`] reads the command line, [`commands`] does what it asks for with the drivers of [`session`](idd_session);
//! [`progress`] and [`failure`] write to stderr.

mod announce;
pub mod args;
mod badge;
mod browser;
mod by_hand;
mod cc;
pub mod chop;
mod columns;
pub mod commands;
mod completions;
pub mod console;
mod crash;
mod dap;
mod debug;
mod doctor;
mod each;
mod explain;
pub mod failure;
mod full_screen;
mod help;
mod invariants;
mod java;
mod list;
mod log;
pub mod man;
mod mcp;
mod memory;
mod notify;
mod overdue;
mod pager;
mod perf;
mod program;
pub mod progress;
mod record;
mod remote;
mod setup;
mod shrink;
mod slice;
mod status;
mod status_line;
mod stdout;
mod trace;
mod trial;
mod unknown;
mod walks;
mod watch;

pub use program::main;
