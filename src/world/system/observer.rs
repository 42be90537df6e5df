//! What is told about the programs that a command executes.

use std::path::PathBuf;

/// What a process is about to do with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileAccess {
    /// It asks whether a file is there, and what it is.
    Look,
    /// It opens a file for reading.
    Read,
    /// It opens a file for writing, which may make it.
    Write,
    /// It makes a directory.
    Make,
    /// It removes, renames or cuts what is there.
    Change,
}

/// The calls that are watched beside those that execute a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WatchedCalls {
    /// None.
    Programs,
    /// Those that open or change a file.
    Files,
    /// Those, and the ones that look at a file.
    Looks,
}

/// Learns which programs a command and its descendants execute, and which files they open.
pub trait Observer: Send + Sync + 'static {
    /// A process is about to execute this file.
    ///
    /// - `takes_privileges`: whether it gets fewer rights than without an observer.
    fn executes(&self, path: PathBuf, takes_privileges: bool);

    /// A process is about to open or to change this file.
    fn uses(&self, path: PathBuf, access: FileAccess);

    /// Whether a process is about to write to a file of the user: then it does not go on.
    fn is_leaking(&self) -> bool;

    /// Some program may be missing.
    fn misses(&self);

    /// Watching would change the behaviour of the command.
    fn harms(&self);

    /// Whether watching would change the behaviour of the command: then no further program is permitted to start.
    fn is_harmful(&self) -> bool;
}
