//! Instrumented C: the text of LLVM IR that clang prints, read, understood and rewritten so that the program tells what it does.
//!
//! Nothing of LLVM is linked. `clang -S -emit-llvm -O0 -g` prints one instruction a line with types, names and debug info; that
//! text is all there is. [`module`](mod@module) reads a unit as a whole, [`function`] the body of one function, [`layout`] knows sizes, [`debug`]
//! source names, types and lines, [`flow`] what follows what and what decides what. [`segment`] cuts a function into straight-line pieces and says what
//! each one records, [`rewrite`](mod@rewrite) inserts that, and [`map`] is what is kept so that a trace can be read. A
//! construct that is not known is [`Unsupported`]: such a file is compiled as it is, and named.
//!
//! Nothing here runs a program or touches a file.

pub mod choice;
pub(crate) mod debug;
pub(crate) mod flow;
pub(crate) mod function;
pub(crate) mod instruction;
pub mod invoke;
pub mod java;
pub(crate) mod layout;
pub(crate) mod lex;
pub mod map;
pub mod module;
pub(crate) mod operator;
pub mod rewrite;
pub(crate) mod segment;
pub mod statement;
pub mod types;

pub use debug::{Compound, Debug, DebugVariable, SourceType, StructMember};
pub use function::Function;
pub use instruction::{Callee, Instruction, MetadataId, Op, OperandValue, TypedValue, ValueId};
pub use layout::DataLayout;
pub use operator::{BinaryOp, CastOp, Flags, FloatPredicate, Predicate};
pub use segment::{Segment, SegmentGrain, SegmentItem, SegmentItemKind, SegmentKind, Segments};
pub use statement::FunctionStatement;

use thiserror::Error;

/// What the names of functions begin with that are put in to read back what a library has left in memory.
pub const READBACK: &str = "__idd_readback_";

/// Why a unit cannot be instrumented; it is then compiled as it is.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {what}")]
pub struct Unsupported {
    /// What was met, in lower case.
    pub what: String,
    /// Where in the text of the unit, from 1; 0 if it is not about one line.
    pub line: usize,
}

impl Unsupported {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), line: 0 }
    }

    /// The same at this place, unless it has one already.
    pub(crate) fn at(mut self, text: &str, offset: usize) -> Self {
        if self.line == 0 {
            self.line = text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1;
        }
        self
    }
}
