//! What Linux offers.
//!
//! [`launch`](mod@launch) starts a program, [`mounts`] changes what it sees, [`exec_filter`] and [`executions`] see what it executes, [`process_table`] reads
//! `/proc`, [`descendants`] notices what ends, [`ptrace`] stops at crashes. The other files are small.

mod counter;
mod descendants;
mod directories;
mod exec_filter;
mod executions;
mod launch;
mod mounts;
mod process_table;
mod program;
mod ptrace;
mod remedies;
mod shared_memory;
mod space;
mod usage;

pub use counter::InstructionCounter;
pub use descendants::{adopt_orphans, end_of};
pub use directories::{make_pipe, open_on_same_mount, unlock_directory};
pub use executions::{ExecutionWatch, WatchSetup, follow};
pub use launch::{launch, launch_copied};
pub use process_table::{
    all, children, environment_value, is_there, program_of, read, time_of_ended_children, words_of,
};
pub use program::{CANNOT_BE_EXECUTED, own_program, this_program};
pub use ptrace::{
    be_traced, continue_with, follow_descendants, mappings, memory_of, process_of_thread, registers, wait_for_any,
};
pub use remedies::remedies;
pub use shared_memory::{NO_SIGNAL, peer_of, shared_memory};
pub use space::{available_memory, free_range};
pub use usage::wait_with_usage;

/// Why this system cannot run tests; `None` because it can.
pub fn unsupported() -> Option<&'static str> {
    None
}
