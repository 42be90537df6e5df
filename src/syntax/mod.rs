//! What is known of programming languages: which parts of a text are units, and what declares and uses a name.
//!
//! The knowledge is data in `grammars/`, embedded when the program is built; this is the only module that knows of the
//! parser. A [`Language`] turns a text into a [`Tree`], an arena of nodes with byte and line ranges; what a change or a
//! merge does with it is not decided here. A text without a language is lines to everybody.

mod language;
mod parse;
mod tree;
mod unseen;

pub use language::Language;
pub use tree::{Class, Declared, Node, NodeId, Tree};
