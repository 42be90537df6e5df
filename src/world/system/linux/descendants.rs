//! The end of processes, and of their parents.

use std::io;
use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags};

/// A handle that becomes readable when the process has ended; `None` if there is no such process, or on a kernel without
/// such handles.
pub fn end_of(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok()
}

/// From now on, a descendant whose parents have ended becomes a child of this process.
pub fn adopt_orphans() -> io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?)
}
