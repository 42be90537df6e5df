//! Instrumented Java: class files, read, understood and rewritten so that the program records what it does.
//!
//! [`class_file`] reads a class and its [constants](pool), [`code`] the body of a method as [instructions](operation).
//! [`sites`] says what a method records and where: what cannot be derived from its bytecode, and nothing else. [`doubt`]
//! finds the statements of which it is not sure that they ran.
//! [`mod@rewrite`] inserts that. A reader of a recording enumerates the same sites in the class file as it was, so
//! nothing else is stored about it. [`blocks`] gives the flow of a method. [`mod@replace`] inserts points at which another
//! value can be put in place of one.
//!
//! The inserted code only copies values on the stack and calls static methods. It has no jumps and no variables, so no
//! frame of the verifier changes but its place. What cannot be rewritten like that is [`Unsupported`]: such a class or
//! method is left as it is, and counted.
//!
//! Nothing here runs a program or touches a file.
//!
//! Source: "The Java Virtual Machine Specification", Java SE 21 Edition, chapters 4 and 6.
//!
//! [`Unsupported`]: crate::instrument::Unsupported

pub(crate) mod blocks;
pub mod class_file;
pub(crate) mod code;
mod cursor;
pub mod descriptor;
mod doubt;
pub mod exits;
mod frames;
mod insert;
pub(crate) mod layout;
pub mod operation;
pub mod pool;
pub mod replace;
pub mod rewrite;
pub mod sites;
pub(crate) mod stack;
pub(crate) mod stratum;

#[cfg(test)]
mod replace_tests;
#[cfg(test)]
pub(crate) mod tests;
