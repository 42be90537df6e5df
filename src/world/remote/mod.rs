//! Probes on a service that speaks the Remote Execution API, version 2.
//!
//! - [`address`]: where the service is, and what a connection must have. Always compiled, so that errors are the same.
//! - [`digest`] and [`merkle`]: a git tree as the service's directories, with [`map`], which knows earlier digests.
//! - [`action`]: the commands of a probe as one action, and its result as an observation.
//! - [`client`]: the calls of the protocol, with retries, over a [`connection`]; [`transfer`]: which blobs to send.
//! - [`remote_executor`]: the [executor](crate::run::executor). [`check`]: what a service can do.
//!
//! Nothing that the service returns is trusted: it is bounded, and a result without a complete report is trouble, never an
//! outcome of the test. Source: the protocol's definition, `remote_execution.proto`.

pub mod address;

#[cfg(feature = "remote")]
mod action;
#[cfg(feature = "remote")]
pub mod check;
#[cfg(feature = "remote")]
pub mod client;
#[cfg(feature = "remote")]
mod connection;
#[cfg(feature = "remote")]
mod digest;
#[cfg(feature = "remote")]
mod map;
#[cfg(feature = "remote")]
mod merkle;
#[cfg(feature = "remote")]
pub mod remote_executor;
#[cfg(feature = "remote")]
pub mod toolchain;
#[cfg(feature = "remote")]
mod transfer;
#[cfg(feature = "remote")]
pub mod trouble;

pub use address::{Address, Service};
