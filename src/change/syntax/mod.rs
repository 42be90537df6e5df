//! Knowledge of programming languages: the syntax units of a text, and the declarations and uses of names.
//!
//! The knowledge is data in `grammars/`, embedded when the program is built. Only this module uses the parser. A
//! [`Language`] turns a text into a [`SyntaxTree`], an arena of nodes with byte and line ranges; changes and merges decide
//! how they use it. A text without a language is divided into lines.

mod hidden_words;
mod language;
mod parse;
mod tree;

pub use language::Language;
pub use tree::{Declared, NodeId, SyntaxNode, SyntaxTree, UnitClass};
