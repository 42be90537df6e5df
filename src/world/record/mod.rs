//! Recording programs: the instrumented build, the runtime that is linked in, and the traces that come out.
//!
//! [`build`] is the directory of an instrumented build, [`shim`] the compiler that works for it, over what
//! [`arguments`] understands of a compiler's command line; [`listen`] takes the records of running programs to disk,
//! [`memory`] is where they make them, [`control`] tries things in a parked one; [`store`] is where recordings lie,
//! [`witness`] sees what was called in the place of the compiler.

pub mod arguments;
pub mod build;
pub mod control;
pub mod listen;
mod memory;
pub mod shim;
pub mod store;
pub mod witness;

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why nothing can be recorded.
#[derive(Debug, Error)]
pub enum RecordError {
    /// A directory cannot be written.
    #[error("failed to prepare `{}`", path.display())]
    Prepare {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The runtime was not compiled.
    #[error("failed to compile the runtime: {said}")]
    Runtime {
        /// What the compiler said.
        said: String,
    },
    /// A trace could not be taken.
    #[error("failed to keep the trace in `{}`", path.display())]
    Keep {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}
