//! The drivers: what a command does from the order to the report, with the engines and the world, but without a command line.
//!
//! [`hunt`](hunt()) is the way in for programs. An [`order`] says what is wanted, [`plan`] resolves it against the repository, [`hunt`](mod@hunt)
//! drives the engines, and [`runner`] answers their probes; [`saved`] keeps what outlives the process. What is said meanwhile goes to a [`talk::Talk`].

pub mod announce;
pub mod beside;
pub mod certificate;
mod chronicle;
pub mod context;
pub mod criteria;
pub mod estimate;
pub mod explain;
pub mod failure;
pub mod finding;
pub mod hold;
pub mod hunt;
mod identity;
pub mod interrupt;
pub mod kept;
pub mod order;
pub mod plan;
pub mod precheck;
pub mod record;
mod reproduce;
pub mod runner;
pub mod saved;
pub mod share;
mod spent;
pub mod story;
pub mod suite;
pub mod talk;
pub mod tally;
