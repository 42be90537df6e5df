//! What each system offers in its own way: processes that end with this program, and what is known about others.
//!
//! This is the only module that has one version for each system. `linux` is complete. `elsewhere` is for all others: it has
//! what other Unix systems can do too, and refuses the rest. A port to a system is one more such module. [`unsupported`]
//! says whether this system can run tests; the drivers ask it first.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;
pub mod mapping;
pub mod observer;
pub mod process;
pub mod usage;
pub mod view;
mod wait;

#[cfg(not(target_os = "linux"))]
use crate::system::elsewhere as here;
#[cfg(target_os = "linux")]
use crate::system::linux as here;

pub use crate::system::wait::wait;
pub use here::{
    CANNOT_BE_EXECUTED, ExecutionWatch, InstructionCounter, NO_SIGNAL, WatchSetup, adopt_orphans, all,
    available_memory, be_traced, children, continue_with, end_of, environment_value, follow, follow_descendants,
    free_range, is_there, launch, launch_copied, make_pipe, mappings, memory_of, open_on_same_mount, own_program,
    peer_of, process_of_thread, program_of, read, registers, remedies, shared_memory, this_program,
    time_of_ended_children, unlock_directory, unsupported, wait_for_any, wait_with_usage, words_of,
};
