//! The running program, and programs that do not run.

use std::path::PathBuf;
use std::{fs, io};

use rustix::io::Errno;

/// Errors of a file that is no program of this system, beside those that all systems have.
pub const CANNOT_BE_EXECUTED: &[Errno] = &[Errno::LIBBAD];

/// A name of the file of the running program, which also leads there if another file has taken its place.
pub fn own_program() -> PathBuf {
    PathBuf::from("/proc/self/exe")
}

/// The file of the running program.
pub fn this_program() -> io::Result<PathBuf> {
    fs::read_link("/proc/self/exe")
}
