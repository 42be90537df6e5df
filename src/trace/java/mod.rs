//! Traces of Java programs, whose class files were rewritten: records, and the machine that interprets the code between
//! them.
//!
//! A trace holds the [classes](program) as they were before, the [objects] that were met, and the records of each
//! thread ([`streams`]). The code of a [`method`] says what each record means: the [`machine`] runs it from one record
//! to the next, and takes from the records what cannot be derived. A [`player`] plays a trace, and whoever wants to know
//! something of it [watches](machine::Watch).
//!
//! A step is an executed statement: it begins where the compiler says that a line begins, and at each block of the
//! method, so that each decision is a step of its own. Before the first statement of a method there is one step for its
//! entry.
//!
//! Deviation from the machine: fields are known by name and type, not by the class that declares them. Two fields of one
//! name and type in an object, one of which hides the other, are taken for one.

pub mod arithmetic;
pub mod contents;
pub mod detail;
mod execution;
mod frame;
mod input;
mod library;
pub mod machine;
pub mod memory;
pub mod method;
mod objects;
pub mod outline;
pub mod output;
pub mod parts;
pub mod player;
mod program;
mod relevant;
mod stat;
mod statements;
mod streams;
pub mod text;
mod tree;
pub mod uses;
pub mod value;

pub use frame::{Fit, JavaFrame};
pub use machine::{JavaMachine, JavaMoment, JavaUse, LibraryCall, Nobody, ValueLocation, Watch};
pub use method::{FieldId, MachineMethod, MethodCallee, MethodOperand};
pub use objects::{JavaObjects, Object, ObjectKind};
pub use player::JavaPlayer;
pub use program::JavaProgram;
pub use value::JavaValue;
