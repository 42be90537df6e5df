//! The end of a child.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions};

/// Waits for the end of a child.
pub fn wait(pid: Pid) -> io::Result<ExitStatus> {
    loop {
        match rustix::process::waitpid(Some(pid), WaitOptions::empty()) {
            Ok(Some((_, status))) => return Ok(ExitStatus::from_raw(status.as_raw())),
            Ok(None) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}
