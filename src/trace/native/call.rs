//! Calls of functions that may be those of others.

use std::sync::Arc;

use crate::native::model::{self, Model};
use crate::native::{CallArgument, PrintClass, ValueSource};

/// A call that may run code of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeCall {
    /// The function; `None` through a pointer.
    pub name: Option<Arc<str>>,
    /// Where the pointer is taken from.
    pub pointer: ValueSource,
    /// Its arguments.
    pub arguments: Vec<CallArgument>,
    /// Those of them that are structures passed in memory, by their index: the argument is the address. With the bytes.
    pub copied: Box<[(u32, u64)]>,
    /// Those of them that have a name in the function, if it is variadic.
    pub n_named: Option<u32>,
    /// Whether the arguments are recorded: the function may be one of which nothing is known.
    pub is_external: bool,
    /// What it returns; `None` if nothing.
    pub result: Option<PrintClass>,
    /// The bytes of that.
    pub result_size: u32,
    /// What the function does, if that is known.
    pub model: Option<&'static Model>,
}

impl NativeCall {
    /// The same, of a function that was found behind the pointer.
    #[must_use]
    pub fn of(&self, name: &Arc<str>) -> Self {
        Self { name: Some(Arc::clone(name)), model: model::find(name), ..self.clone() }
    }
}
