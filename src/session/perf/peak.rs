//! The peak of the memory of a command.
//!
//! The system reports for a child at least the memory of its parent, since a child has that until it executes its program. A
//! hunt can have a large history in memory. So a small process stands between: this program, in a mode that starts the command
//! at once, and writes what it used into a file.

use crate::Failure;
use crate::perf::places::argv;
use idd_world::process::CommandWords;
use idd_world::{files, system};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;

/// The name of the mode: `git-idd <name> <file> <program> <argument>...`.
pub const NAME: &str = "measure-peak";

/// The command that runs `words` and writes its peak into `file`.
pub fn words(words: &CommandWords, file: &Path) -> Result<CommandWords, Failure> {
    let program = system::this_program()?;
    let own = [program.into_os_string(), NAME.into(), file.into()];
    Ok(CommandWords::Argv(own.into_iter().chain(argv(words)).collect()))
}

/// The peak in a file, in bytes.
pub fn read(file: &Path) -> Result<u64, Failure> {
    let text = files::bytes(file)?;
    let number = String::from_utf8_lossy(&text).trim().parse();
    number.map_err(|_| Failure::error("the peak of the memory was not written"))
}

/// Runs a command, and writes its peak into the file that is the first word; returns the exit code, 128 + n for signal n.
///
/// - `output`: its streams.
pub fn run(words: &[OsString], output: &io::Stdout, environment: &[(OsString, OsString)]) -> io::Result<i32> {
    let [file, words @ ..] = words else { return Err(io::ErrorKind::InvalidInput.into()) };
    let words: Vec<&OsStr> = words.iter().map(OsString::as_os_str).collect();
    let child = system::launch_copied(&words, Path::new("."), environment, output)?;
    let (status, usage) = system::wait_with_usage(child)?;
    files::replace(Path::new(file), usage.peak_bytes.to_string().as_bytes())?;
    Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default()))
}
