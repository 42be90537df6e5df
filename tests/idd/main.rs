//! The integration tests: the rules of the code base, and the real binary on histories made by script.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![cfg_attr(not(feature = "explain"), expect(dead_code, reason = "helpers of tests that need recordings"))]

mod artifacts;
mod browser;
mod by_hand;
mod certificate;
#[cfg(feature = "explain")]
mod chop_java;
#[cfg(feature = "explain")]
mod chops;
mod commands;
mod complaints;
mod completions;
#[cfg(feature = "explain")]
mod corruption;
#[cfg(feature = "explain")]
mod cplusplus;
mod damage;
#[cfg(feature = "explain")]
mod dap;
#[cfg(feature = "explain")]
mod debug;
#[cfg(feature = "explain")]
mod debug_java;
mod desk;
mod docs;
#[cfg(feature = "explain")]
mod dominators;
mod each;
mod expect;
#[cfg(feature = "explain")]
mod explain;
#[cfg(feature = "explain")]
mod explain_java;
#[cfg(feature = "explain")]
mod explained;
mod fetching;
mod files;
mod fixture;
#[cfg(feature = "explain")]
mod flowing;
#[cfg(feature = "explain")]
mod forking;
mod formats;
mod forms;
#[cfg(feature = "explain")]
mod hangs;
mod histories;
mod hostile;
mod hunt;
#[cfg(feature = "explain")]
mod invariants;
#[cfg(feature = "explain")]
mod java;
#[cfg(feature = "explain")]
mod java_homes;
mod kept;
mod kits;
mod leases;
mod library;
#[cfg(feature = "explain")]
mod limits;
#[cfg(feature = "explain")]
mod limits_java;
mod live;
#[cfg(feature = "explain")]
mod mcp;
#[cfg(feature = "explain")]
mod measuring;
mod messages;
#[cfg(feature = "explain")]
mod named;
mod newcomers;
mod nightly;
mod page;
#[cfg(feature = "explain")]
mod panes;
mod perf;
mod places;
mod plain;
mod precheck;
mod product;
mod questions;
#[cfg(feature = "explain")]
mod record;
mod recorded;
mod release;
#[cfg(feature = "remote")]
mod remote;
mod resume;
mod scan;
mod screen;
#[cfg(feature = "explain")]
mod seeds;
mod setup;
mod shrink;
#[cfg(feature = "explain")]
mod slices;
#[cfg(feature = "explain")]
mod slicing;
mod stages;
mod stale;
#[cfg(feature = "explain")]
mod steps_java;
mod stories;
mod submodules;
mod suites;
#[cfg(feature = "explain")]
mod switch;
mod terminal;
mod tidy;
mod tiers;
mod together;
mod tools;
#[cfg(feature = "explain")]
mod trace;
mod trial;
mod usage;
#[cfg(feature = "explain")]
mod values;
mod verdicts;
// Cargo runs no unit tests of an example that is built as a program, too.
mod watch;
#[cfg(feature = "explain")]
#[path = "../../examples/simulate/ways/mod.rs"]
mod ways;
#[cfg(feature = "explain")]
mod window;
