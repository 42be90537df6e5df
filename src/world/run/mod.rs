//! Running commands: the processes of one probe from start to the last descendant, and the meaning of their output.
//!
//! Start at [`process::run`], which runs one command and leaves no process; [`classify::classify`] computes the outcome
//! of its observation for one hunt. Only `process` (with `launch`) starts programs; only `process_table`, `survivors`
//! and `executions` examine other processes. The modules that judge output (`classify`, `complaints`, `failure_line`,
//! `normalise`, `table`) are pure. Nothing here knows revisions, trees or the cache.

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
/// Without children that no process waited for.
pub fn time_of_commands() -> Duration {
    process_table::time_of_ended_children()
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
