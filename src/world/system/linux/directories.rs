//! Directories that are opened without leaving the mount, and without any right.

use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};

use rustix::fs;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Opens a directory on the same mount. [`Errno::XDEV`] if it is a mount point.
pub fn open_on_same_mount(parent: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match fs::openat2(parent, name, flags, Mode::empty(), fs::ResolveFlags::NO_XDEV) {
        // Before Linux 5.6, and under some filters of system calls.
        Err(Errno::NOSYS | Errno::PERM) => fs::openat(parent, name, flags, Mode::empty()),
        other => other,
    }
}

/// Gives the owner all rights to a directory that cannot even be opened for reading; a link is not followed.
pub fn unlock_directory(parent: BorrowedFd<'_>, name: &[u8]) -> Result<(), Errno> {
    // Older kernels have no call that changes the mode of a path without following it. A handle of the path itself can
    // be opened without any right, and its name below /proc leads to exactly that inode.
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = fs::openat(parent, name, flags, Mode::empty())?;
    fs::chmod(format!("/proc/self/fd/{}", handle.as_raw_fd()), Mode::RWXU)
}
