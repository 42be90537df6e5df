//! The resources of an ended child.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;
use std::{io, mem};

use rustix::process::Pid;

use crate::system::usage::Usage;

/// Waits for the end of a child; also returns what it used.
///
/// The peak is at least the resident memory that this process has when it starts the child: until the child executes its
/// program, it has the memory of its parent.
#[expect(unsafe_code, reason = "no safe interface returns the resources of one child")]
pub fn wait_with_usage(pid: Pid) -> io::Result<(ExitStatus, Usage)> {
    loop {
        let mut status = 0;
        // SAFETY: both are plain data, and live until the call returns.
        let (waited, used) = unsafe {
            let mut used: libc::rusage = mem::zeroed();
            (libc::wait4(pid.as_raw_pid(), &raw mut status, 0, &raw mut used), used)
        };
        if waited >= 0 {
            let processor = duration(used.ru_utime) + duration(used.ru_stime);
            let peak_bytes = u64::try_from(used.ru_maxrss).unwrap_or(0).saturating_mul(1024);
            return Ok((ExitStatus::from_raw(status), Usage { processor, peak_bytes }));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn duration(time: libc::timeval) -> Duration {
    Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0))
        + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
}
