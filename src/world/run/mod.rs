//! Running commands: one probe's processes from start to the last descendant, and what their output means.
//!
//! Start at [`process::run`], which runs one command and leaves nothing behind; [`classify::classify`] says what the
//! observation made of it means for one hunt. Only `process` (and `launch` for it) starts programs, only
//! `process_table`, `survivors` and `executions` look at other processes; everything that judges output (`classify`,
//! `complaints`, `failure_line`, `normalise`, `table`) is pure. Nothing here knows of revisions, trees or the cache.

use std::io;
use std::time::Duration;

use thiserror::Error;

pub mod classify;
pub mod compile_database;
pub mod complaints;
pub mod crew;
pub mod exact;
mod exec_filter;
pub mod executions;
mod failure_line;
mod launch;
pub mod normalise;
mod output;
pub mod process;
mod process_table;
pub mod product;
pub mod sandbox;
mod stream;
mod survivors;
mod table;
pub mod toolchain;

pub use classify::Criteria;
pub use classify::Shown;
pub use classify::SignatureMode;
pub use exact::form;
pub use exact::is_cut;
pub use failure_line::failure_line;
pub use failure_line::is_telling;
pub use normalise::normalise;
pub use process::Command;
pub use process::Ran;
pub use process::Watch;
pub use process::Words;
pub use survivors::ProcessGroup;
pub use survivors::kill_leftover;
pub use survivors::kill_leftovers_of;
pub use survivors::this_process;

/// The processor time of all commands that have ended so far.
///
/// Children that nobody waited for are not in it.
pub fn time_of_commands() -> Duration {
    process_table::time_of_ended_children()
}

/// Why a command could not be run; that it fails, hangs or does not exist is an answer, not one of these.
#[derive(Debug, Error)]
pub enum RunError {
    /// The machine refused to start it (no processes, memory or file handles left). The caller stops the hunt.
    #[error("failed to start the command `{program}`")]
    Spawn {
        /// The program, or the shell line.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// How it ended is not known; everything it started was ended. The caller may run it again.
    #[error("failed to learn how the command `{program}` ended")]
    Wait {
        /// The program, or the shell line.
        program: String,
        /// What the system said.
        source: io::Error,
    },
}
