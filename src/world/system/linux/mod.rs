//! What Linux offers.
//!
//! [`launch`](mod@launch) starts a program, [`exec_filter`] and [`executions`] see what it executes, [`process_table`] reads
//! `/proc`, [`descendants`] notices what ends, [`ptrace`] stops at crashes. The other files are small.

mod counter;
mod descendants;
mod directories;
mod exec_filter;
mod executions;
mod launch;
mod process_table;
mod program;
mod ptrace;
mod shared_memory;
mod space;
mod usage;

pub use counter::Counter;
pub use descendants::adopt_orphans;
pub use descendants::end_of;
pub use directories::open_on_same_mount;
pub use directories::unlock_directory;
pub use executions::Bait;
pub use executions::Following;
pub use executions::follow;
pub use launch::launch;
pub use launch::launch_copied;
pub use process_table::all;
pub use process_table::children;
pub use process_table::environment_value;
pub use process_table::is_there;
pub use process_table::program_of;
pub use process_table::read;
pub use process_table::time_of_ended_children;
pub use process_table::words_of;
pub use program::CANNOT_BE_EXECUTED;
pub use program::own_program;
pub use program::this_program;
pub use ptrace::be_traced;
pub use ptrace::continue_with;
pub use ptrace::follow_descendants;
pub use ptrace::mappings;
pub use ptrace::memory_of;
pub use ptrace::process_of_thread;
pub use ptrace::registers;
pub use ptrace::wait_for_any;
pub use shared_memory::NO_SIGNAL;
pub use shared_memory::peer_of;
pub use shared_memory::shared_memory;
pub use space::available_memory;
pub use space::free_range;
pub use usage::wait_with_usage;

/// Why this system cannot run tests; `None` because it can.
pub fn unsupported() -> Option<&'static str> {
    None
}
