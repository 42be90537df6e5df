//! The drivers: they carry out a command with the engines and the world, from the order to the report, without a
//! command line.
//!
//! [`hunt`](hunt()) is the entry point for programs. An [`order`] has the wishes of the user, [`plan`] resolves them
//! against the repository, [`hunt`](mod@hunt) drives the engines, and [`runner`] answers their probes. [`saved`] stores
//! everything that outlives the process. Messages go to a [`talk::Talk`].

pub mod announce;
pub mod audit;
pub mod bisect;
pub mod by_hand;
pub mod certificate;
#[cfg(feature = "explain")]
pub mod chop;
mod chronicle;
pub mod context;
pub mod course;
pub mod criteria;
#[cfg(feature = "explain")]
pub mod dap;
pub mod deadline;
#[cfg(feature = "explain")]
pub mod debug;
mod ending;
mod entry;
mod environment;
mod estimate;
#[cfg(feature = "explain")]
pub mod explain;
#[cfg(feature = "explain")]
pub mod expression;
pub mod failure;
pub mod finding;
pub mod hints;
pub mod hold;
pub mod hunt;
mod identity;
pub mod interrupt;
#[cfg(feature = "explain")]
pub mod invariants;
pub mod kept;
pub mod leak;
pub mod lease;
pub mod lines;
pub mod mend;
pub mod narrowing;
mod never_passed;
pub mod order;
mod outside;
mod own_copy;
pub mod perf;
pub mod plan;
pub mod positions;
pub mod precheck;
pub mod python;
#[cfg(feature = "explain")]
pub mod record;
#[cfg(feature = "explain")]
pub mod recorded;
#[cfg(feature = "explain")]
pub mod remark;
pub mod remote;
mod reproduce;
pub mod runner;
pub mod sandboxes;
pub mod saved;
pub mod service;
pub mod setup;
pub mod share;
pub mod shrink;
pub mod side_results;
#[cfg(feature = "explain")]
pub mod slice;
#[cfg(feature = "explain")]
pub mod sources;
mod spent;
pub mod story;
pub mod suite;
mod surroundings;
pub mod talk;
pub mod tally;
pub mod test_list;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod trial;
mod unchanging;
mod upstream;
mod varying_line;
pub mod verdict_records;
pub mod version;

pub use context::{Context, Embedding};
pub use entry::{hunt, require_support};
pub use failure::Failure;
pub use interrupt::Interrupt;
pub use talk::{Silent, Talk};
