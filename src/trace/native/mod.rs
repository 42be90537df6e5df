//! Traces of C programs, which LLVM instrumented: records, and the machine that they are played on.
//!
//! The maps of the units (see [`instrument::map`](crate::instrument::map)) say what the records mean. [`units`] finds
//! the segment of a number and reads functions as they are met; [`records`] gives the records of one thread in order,
//! chunk by chunk, so that memory does not grow with the length of a trace. [`shape`] is what the records of a function
//! do, [`machine`] a process as they move it on, [`play`] plays a trace, and whoever wants to know something of it
//! [watches](machine::Watch). [`visit`] looks at one step, [`detail`] and [`tree`] show a run to people, [`mod@run`]
//! and [`uses`] take it down for what is not about C.

pub mod assemble;
mod atomic;
mod blame;
pub mod bounds;
pub mod call;
pub mod cell;
pub mod detail;
pub mod digest;
mod effect;
pub mod event;
mod execution;
pub mod fault;
pub mod frame;
mod globals;
pub mod heap;
mod initial;
mod input;
mod list;
mod lvalue;
mod machine;
mod memory;
pub mod model;
mod nodes;
pub mod object;
mod ostream;
pub mod output;
mod owner;
pub mod parts;
pub mod play;
mod printed;
pub mod readback;
pub mod records;
pub mod relevant;
pub mod run;
mod scanned;
pub mod search;
mod shape;
mod stat;
pub mod statements;
mod stream;
mod streams;
pub mod symbolic;
pub mod tape;
pub mod target;
pub mod tokens;
pub mod tree;
pub mod units;
pub mod uses;
pub mod value;
mod variables;
pub mod visit;

#[cfg(any(test, feature = "testing"))]
pub mod stored;

pub use frame::{External, NativeFrame};
pub use machine::{Awaited, BlockContent, Crash, NativeCall, NativeMachine, Nobody, RecordAction, UsedThing, Watch};
pub use memory::{NativeMemory, Octet};
pub use object::{VariablePlace, View};
pub use play::NativePlayer;
pub use shape::{CallArgument, FunctionShape, FunctionSlot, Next, PrintClass, Register, ValueSource};
pub use value::{ValueContent, VariablePart};

use crate::TraceError;
use crate::instrument::map::MapError;

impl From<MapError> for TraceError {
    fn from(error: MapError) -> Self {
        Self::Program(Box::new(error))
    }
}
