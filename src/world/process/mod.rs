//! Processes: a command from its start to its last descendant, and what it printed.
//!
//! Start at [`run`], which runs one command and leaves no process. Only `command` starts programs; only
//! `survivors`, `executions` and `crash_place` examine other processes, with the means of [`system`]. Nothing here knows
//! repositories, or the meaning of an ending.

mod command;
pub mod crash_place;
pub mod executions;
pub mod output;
pub mod shell;
mod stream;
mod survivors;
mod symbols;

pub use command::{
    Captured, Command, CommandWatch, CommandWords, EndedCommand, HelperProgram, OutputDestination, ask, capture, feed,
    relay, run,
};
pub use survivors::{ProcessGroup, is_alive, kill_leftover, kill_leftovers_of, this_process};

use crate::system;
use std::io;
use std::time::Duration;
use thiserror::Error;

/// The processor time of all commands that have ended so far.
///
/// Without children that no process waited for.
pub fn time_of_commands() -> Duration {
    system::time_of_ended_children()
}

/// The number of the process that is the parent of this one, if there is one.
pub fn parent_of(pid: u32) -> Option<u32> {
    let parent = system::read(i32::try_from(pid).ok()?)?.parent;
    u32::try_from(parent).ok()
}

/// Why a command could not be run. A command that fails, hangs or does not exist is an answer, and not one of these
/// errors.
#[derive(Debug, Error)]
pub enum RunError {
    /// The machine refused to start it (no processes, memory or file handles left). The caller stops the hunt.
    #[error("failed to start the command `{program}`")]
    Spawn {
        /// The program, or the shell line.
        program: String,
        /// The error of the system.
        source: io::Error,
    },
    /// Its ending is unknown; everything it started was killed. The caller may run it again.
    #[error("failed to learn how the command `{program}` ended")]
    Wait {
        /// The program, or the shell line.
        program: String,
        /// The error of the system.
        source: io::Error,
    },
}
