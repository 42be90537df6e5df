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
mod wait;

#[cfg(not(target_os = "linux"))]
use crate::world::system::elsewhere as here;
#[cfg(target_os = "linux")]
use crate::world::system::linux as here;

pub use crate::world::system::wait::wait;
pub use here::Bait;
pub use here::CANNOT_BE_EXECUTED;
pub use here::Counter;
pub use here::Following;
pub use here::NO_SIGNAL;
pub use here::adopt_orphans;
pub use here::all;
pub use here::available_memory;
pub use here::be_traced;
pub use here::children;
pub use here::continue_with;
pub use here::end_of;
pub use here::environment_value;
pub use here::follow;
pub use here::follow_descendants;
pub use here::free_range;
pub use here::is_there;
pub use here::launch;
pub use here::launch_copied;
pub use here::mappings;
pub use here::memory_of;
pub use here::open_on_same_mount;
pub use here::own_program;
pub use here::peer_of;
pub use here::process_of_thread;
pub use here::program_of;
pub use here::read;
pub use here::registers;
pub use here::shared_memory;
pub use here::this_program;
pub use here::time_of_ended_children;
pub use here::unlock_directory;
pub use here::unsupported;
pub use here::wait_for_any;
pub use here::wait_with_usage;
pub use here::words_of;
