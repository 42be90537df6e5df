//! Running probes: the commands of one probe in a sandbox, and the meaning of their output.
//!
//! [`sandbox`] runs the commands of a probe with [`process::run`](crate::process::run);
//! [`classify::classify`] computes the outcome of an observation for one hunt. The modules that judge output
//! (`classify`, `complaints`, `crash`, `failure_line`, `normalise`, `table`) are pure.

pub mod alike;
pub mod artifacts;
pub mod both;
pub mod classify;
pub mod compile_database;
pub mod complaints;
pub mod counts;
pub mod crash;
pub mod crew;
pub mod exact;
pub mod executor;
mod failure_line;
pub mod java_check;
pub mod kept_crew;
pub mod live;
pub mod normalise;
pub mod product;
mod report_files;
pub mod runners;
pub mod sandbox;
mod table;
pub mod toolchain;

pub use classify::{Criteria, Shown, SignatureMode};
pub use exact::{form, is_cut};
pub use failure_line::{failure_line, is_telling};
pub use normalise::normalise;
