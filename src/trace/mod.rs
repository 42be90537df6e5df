//! Traces of instrumented programs: the form on disk, and the stream of records.
//!
//! A recording is a directory of maps (see [`instrument::map`](crate::instrument::map)), one for each unit, and of traces, one for each process that
//! ran. [`container`] is the form of a trace on disk; [`units`] finds the segment of a number and reads functions as they are met; [`records`] gives the
//! records of one thread in order. A trace is read chunk by chunk, so that memory does not grow with its length; everything is
//! checked against its bounds: a damaged file is a [`TraceError`].

pub mod assemble;
pub mod cell;
pub mod container;
pub mod digest;
pub mod records;
pub mod units;

pub mod atomic;
pub mod dependence;
pub mod detail;
pub mod effect;
pub mod fault;
pub mod frame;
pub mod globals;
pub mod heap;
pub mod index;
pub mod list;
pub mod lvalue;
pub mod machine;
pub mod memory;
pub mod model;
pub mod object;
pub mod play;
pub mod printed;
pub mod rows;
pub mod scanned;
pub mod shape;
pub mod step;
pub mod tree;
pub mod uses;
pub mod value;
pub mod visit;

use std::io;

use thiserror::Error;

use crate::instrument::map::MapError;

/// Why a trace cannot be read.
#[derive(Debug, Error)]
pub enum TraceError {
    /// The file cannot be read.
    #[error("failed to read the trace")]
    Io(#[from] io::Error),
    /// It was cut short or changed, or does not belong to the maps.
    #[error("the trace is damaged ({0})")]
    Damaged(&'static str),
    /// It was written by another version.
    #[error("the trace was written by another version of git-idd")]
    Version,
    /// A map cannot be read.
    #[error(transparent)]
    Map(#[from] MapError),
}
