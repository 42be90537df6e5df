//! The world outside of the engines: repositories, processes, files.

pub mod answers;

pub mod system;

pub mod process;

pub mod place;

pub mod compiler;

pub mod jdk;

pub mod repo;

pub mod run;
#[cfg(feature = "record")]
pub mod spool;

pub mod journal;

pub mod lease;
pub mod shared_cost;

pub mod processors;

pub mod remote;

#[cfg(feature = "record")]
pub mod record;

pub mod tools;

pub mod cache;

pub mod files;

pub mod tidy;
