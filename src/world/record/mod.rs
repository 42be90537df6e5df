//! Recording programs: the instrumented build, the runtime that is linked in, and the traces.
//!
//! [`build`] is the directory of an instrumented build. [`shim`] is the compiler for it, and uses
//! [`arguments`](crate::compiler::arguments) to
//! understand a compiler call. [`objects`] keeps what it made. [`listen`] writes the records of running programs to disk, [`memory`] is shared with
//! them, [`control`] runs experiments in a parked one. [`store`] has the recordings, [`witness`] finds compilers that
//! were called instead. [`java`] records programs of a Java virtual machine, which need no build of their own.

pub mod build;
pub mod control;
pub mod java;
pub mod listen;
mod memory;
pub mod objects;
pub mod shim;
pub mod store;
pub mod witness;

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::jdk::JdkError;

/// Why recording is not possible.
#[derive(Debug, Error)]
pub enum RecordError {
    /// A directory cannot be written.
    #[error("failed to prepare `{}`", path.display())]
    Prepare {
        /// Its path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The runtime was not compiled.
    #[error("failed to compile the runtime: {said}")]
    Runtime {
        /// The message of the compiler.
        said: String,
    },
    /// A trace could not be stored.
    #[error("failed to keep the trace in `{}`", path.display())]
    Keep {
        /// Its path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl From<JdkError> for RecordError {
    fn from(error: JdkError) -> Self {
        match error {
            JdkError::Prepare { path, source } => Self::Prepare { path, source },
            JdkError::Compile { said } => Self::Runtime { said },
        }
    }
}
