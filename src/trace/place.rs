//! Places in the source.

use std::sync::Arc;

/// A place in the source.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The file, as the compiler was given it.
    pub file: Arc<str>,
    /// From 1; 0 if the compiler made the code up.
    pub line: u32,
    /// From 1; 0 if it is not known.
    pub column: u32,
}
