//! Running probes: the commands of one probe in a sandbox, and the meaning of their output.
//!
//! [`sandbox`] runs the commands of a probe with [`process::run`](crate::process::run);
//! [`classify::classify`] computes the outcome of an observation for one hunt. The modules that judge output
//! (`classify`, `complaints`, `crash`, `failure_line`, `normalise`, `table`) are pure.

pub mod alike;
pub mod artifacts;
pub mod classify;
pub mod compared;
pub mod compile_database;
pub mod complaints;
pub mod counts;
pub mod crash;
pub mod exact;
pub mod executor;
pub mod executor_pair;
mod failure_line;
pub mod java_check;
pub mod kept_executor;
pub mod live;
pub mod local_executor;
pub mod normalise;
pub mod printed;
pub mod product;
mod report_files;
pub mod runners;
pub mod sandbox;
mod table;
pub mod toolchain;

pub use classify::{Criteria, PlainResult, SignatureMode};
pub use exact::{form, is_cut};
pub use failure_line::{failure_line, is_telling};
pub use normalise::normalise;
pub use table::ran_nothing_at_all;
