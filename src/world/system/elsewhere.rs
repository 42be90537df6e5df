//! What any Unix system offers that this program does not support yet.
//!
//! Some functions have another way that is sound everywhere. Each other one gives the answer of a system on which nothing is
//! known or allowed. No command that runs a test gets there: [`unsupported`] tells the drivers to refuse it.

use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{self, AtFlags, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::SendFlags;
use rustix::process::Pid;

use crate::system::mapping::Mapping;
use crate::system::observer::{Observer, WatchedCalls};
use crate::system::process::Process;
use crate::system::usage::Usage;
use crate::system::view::MountView;
use crate::system::wait::wait;

/// Why this system cannot run tests.
const WHY: &str = "this system is not supported yet: tests are run on Linux only";

fn refused<T>() -> io::Result<T> {
    Err(io::Error::new(ErrorKind::Unsupported, WHY))
}

/// Waits for the end of a child; what it used is not known.
pub fn wait_with_usage(pid: Pid) -> io::Result<(ExitStatus, Usage)> {
    wait(pid).map(|status| (status, Usage::default()))
}

/// A counter of instructions; there is none.
#[derive(Debug)]
pub struct InstructionCounter(Infallible);

impl InstructionCounter {
    /// Counts nothing.
    pub fn of_instructions() -> io::Result<Self> {
        refused()
    }

    /// Nothing is counted.
    pub fn count(&mut self) -> io::Result<u64> {
        match self.0 {}
    }
}

/// Why this system cannot run tests; `None` if it can.
pub fn unsupported() -> Option<&'static str> {
    Some(WHY)
}

/// The data with which the first process of a command starts to be watched; there is none.
pub enum WatchSetup {}

/// Watches one command; nothing does.
pub enum ExecutionWatch {}

/// Errors of a file that is no program of this system, beside those that all systems have.
pub const CANNOT_BE_EXECUTED: &[Errno] = &[];

/// Sends without a signal if the other end is closed: the socket has this option already.
pub const NO_SIGNAL: SendFlags = SendFlags::empty();

/// Prepares to watch a command: that is not possible.
pub fn follow<O: Observer>(_: &Arc<O>, _: WatchedCalls) -> Option<(ExecutionWatch, WatchSetup)> {
    None
}

/// Starts no program.
pub fn launch(
    _words: &[&OsStr],
    _directory: &Path,
    _environment: &[(OsString, OsString)],
    _output: impl AsFd,
    _view: Option<&MountView>,
    _bait: Option<WatchSetup>,
) -> io::Result<Pid> {
    refused()
}

/// Starts no program.
pub fn launch_copied(
    _words: &[&OsStr],
    _directory: &Path,
    _environment: &[(OsString, OsString)],
    _output: impl AsFd,
) -> io::Result<Pid> {
    refused()
}

/// No end of a process is reported; a child can be asked for.
pub fn end_of(_: Pid) -> Option<OwnedFd> {
    None
}

/// Orphans go to the first process of the system.
pub fn adopt_orphans() -> io::Result<()> {
    refused()
}

/// The process table is not read: it has no process.
pub fn read(_: i32) -> Option<Process> {
    None
}

/// The process table is not read: it has no process.
pub fn all() -> Vec<Process> {
    Vec::new()
}

/// The process table is not read: it has no process.
pub fn children(_: i32) -> Vec<i32> {
    Vec::new()
}

/// No environment of another process is known.
pub fn environment_value(_: i32, _: &str) -> Option<String> {
    None
}

/// No time is known.
pub fn time_of_ended_children() -> Duration {
    Duration::ZERO
}

/// No program of another process is known.
pub fn program_of(_: u32) -> Option<PathBuf> {
    None
}

/// No words of another process are known.
pub fn words_of(_: u32) -> Vec<u8> {
    Vec::new()
}

/// Whether there is a process with this number.
pub fn is_there(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| matches!(rustix::process::test_kill_process(pid), Ok(()) | Err(Errno::PERM)))
}

/// The file of the running program.
pub fn this_program() -> io::Result<PathBuf> {
    std::env::current_exe()
}

/// What would permit mounts; nothing does.
pub fn remedies() -> Vec<String> {
    Vec::new()
}

/// A name of the file of the running program.
pub fn own_program() -> PathBuf {
    this_program().unwrap_or_default()
}

/// No process is traced. A child calls it before it executes a program, so the error has only a number.
pub fn be_traced() -> io::Result<()> {
    Err(Errno::NOTSUP.into())
}

/// No process is traced.
pub fn follow_descendants(_: i32) -> io::Result<()> {
    refused()
}

/// No process is traced.
pub fn continue_with(_: i32, _: i32) {}

/// No process is traced.
pub fn wait_for_any() -> io::Result<(i32, ExitStatus)> {
    refused()
}

/// No process is traced.
pub fn registers(_: i32) -> Option<(u64, u64, u64)> {
    None
}

/// No process is traced.
pub fn process_of_thread(_: i32) -> Option<i32> {
    None
}

/// No process is traced.
pub fn mappings(_: i32) -> Option<Vec<Mapping>> {
    None
}

/// No process is traced.
pub fn memory_of(_: i32) -> Option<File> {
    None
}

/// No memory is shared.
pub fn shared_memory() -> io::Result<File> {
    refused()
}

/// The process at the other end of a socket is not known.
pub fn peer_of(_: &UnixStream) -> io::Result<Pid> {
    refused()
}

/// The available memory is not known.
pub fn available_memory() -> Option<u64> {
    None
}

/// No part of a file can be returned to the file system.
pub fn free_range(_: &File, _: u64, _: u64) -> io::Result<()> {
    refused()
}

/// Opens a directory; one that is a mount point is opened too.
pub fn open_on_same_mount(parent: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    fs::openat(parent, name, flags, Mode::empty())
}

/// Makes a named pipe; refused.
pub fn make_pipe(_path: &Path, _mode: u32) -> io::Result<()> {
    refused()
}

/// Gives the owner all rights to a directory that cannot even be opened for reading; a link is not followed.
pub fn unlock_directory(parent: BorrowedFd<'_>, name: &[u8]) -> Result<(), Errno> {
    fs::chmodat(parent, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW)
}
