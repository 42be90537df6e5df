//! What is told about the programs that a command executes.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

/// What a process is about to execute.
pub struct ProgramStart<'e> {
    /// The file.
    pub program: PathBuf,
    /// Whether the process gets fewer rights than without an observer.
    pub takes_privileges: bool,
    /// The directory of the process in `/proc`.
    pub process: PathBuf,
    /// Reads the words that the program is given, its name first; `None` if they cannot be read.
    pub words: &'e dyn Fn() -> Option<Vec<OsString>>,
}

impl ProgramStart<'_> {
    /// The current directory of the process.
    pub fn directory(&self) -> Option<PathBuf> {
        fs::read_link(self.process.join("cwd")).ok()
    }

    /// A variable that the process was started with.
    pub fn variable(&self, name: &str) -> Option<OsString> {
        let all = fs::read(self.process.join("environ")).ok()?;
        let mut variables = all.split(|byte| *byte == 0);
        let value = variables.find_map(|one| one.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
        Some(OsString::from_vec(value.to_vec()))
    }
}

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
    /// A process is about to execute a program.
    fn executes(&self, execution: ProgramStart<'_>);

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
