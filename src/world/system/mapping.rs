//! A file in the memory of a process.

use std::path::PathBuf;

/// A part of a file that is mapped into the memory of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// The first address.
    pub from: u64,
    /// The address after the last one.
    pub to: u64,
    /// The place of the first address in the file.
    pub offset: u64,
    /// Whether its bytes can be executed.
    pub is_code: bool,
    /// The file.
    pub file: PathBuf,
}
