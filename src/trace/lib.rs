//! Runs of programs that were recorded: what they did, and what depends on what.
//!
//! What is here knows neither how a program was recorded nor in which language it is written. A run is a sequence of
//! [`step`]s, executed statements. Each has a [`place`] in the source, and an [`index`], by which it has the same name
//! in another run; [`regions`] gives the indices, from the [`flow`] of the functions. [`run`] is a run as far as it is
//! needed to compare it, and [`dependence`] the graph of what its steps depend on. [`execution`] is what commands ask of
//! a run, and [`stat`], [`mod@tree`], [`detail`], [`statements`], [`input`] and [`output`] are its answers.
//!
//! A recording is a directory of traces, one for each process that ran ([`container`] is their form on disk), and of
//! what is known of the program. What a recorder of one language needs to read them is in a part of its own: [`native`]
//! is that of C. [`instrument`] rewrites programs so that they record, and [`logic`] decides whether terms over their values can
//! hold together. Everything is checked against its bounds: a damaged file is a [`TraceError`].

pub mod container;
pub mod dependence;
pub mod detail;
pub mod execution;
mod flow;
mod index;
pub mod input;
pub mod instrument;
pub mod java;
pub mod logic;
pub mod native;
pub mod output;
mod place;
mod potential;
pub mod reach;
mod regions;
mod rows;
pub mod run;
pub mod slice;
pub mod spool;
pub mod stat;
pub mod statements;
mod step;
pub mod tree;
pub mod walk;
mod watch;
pub mod writes;

pub use container::{Chunk, ChunkKind, Trace, TraceWriter, TracedProcess, Unfinished};
pub use dependence::{Clock, DependenceKind, Dependences, Notes, Uses};
pub use detail::{
    Access, Detail, Doing, NamedAddress, OriginAnswer, Outside, StepStanding, UsedThing, VariableAnswer, Why,
};
pub use execution::Execution;
pub use flow::{BlockId, Flow};
pub use run::{LateWrite, ObservableCall, OutlineReader, Revealed, Run, RunArgument, StepStand};
pub use walk::{SearchOutcome, StepWalk, Stride, TimeDirection, WalkRow};

pub use index::{Index, Keys, Naming};
pub use place::Place;
pub use step::{Step, Steps};

use std::error::Error;
use std::io;

use thiserror::Error;

/// Why a trace cannot be read.
#[derive(Debug, Error)]
pub enum TraceError {
    /// The file cannot be read.
    #[error("failed to read the trace")]
    Io(#[from] io::Error),
    /// It was cut short or changed, or does not belong to its program.
    #[error("the trace is damaged ({0})")]
    Damaged(&'static str),
    /// It was written by another version.
    #[error("the trace was written by another version of git-idd")]
    Version,
    /// It is of a Java program, and was to be played as one of a C program.
    #[error("this command does not read recordings of Java programs yet")]
    Java,
    /// What is known of the program cannot be read.
    #[error(transparent)]
    Program(Box<dyn Error + Send + Sync>),
}
