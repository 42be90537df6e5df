//! Directories that are opened without leaving the mount, and without any right; named pipes.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{self, FileType, Mode, OFlags};
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

/// Makes a named pipe, with these permission bits.
pub fn make_pipe(path: &Path, mode: u32) -> io::Result<()> {
    Ok(fs::mknodat(fs::CWD, path, FileType::Fifo, Mode::from_raw_mode(mode), 0)?)
}

/// Gives the owner all rights to a directory that cannot even be opened for reading; a link is not followed.
pub fn unlock_directory(parent: BorrowedFd<'_>, name: &[u8]) -> Result<(), Errno> {
    // Older kernels have no call that changes the mode of a path without following it. A handle of the path itself can
    // be opened without any right, and its name below /proc leads to exactly that inode.
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = fs::openat(parent, name, flags, Mode::empty())?;
    fs::chmod(format!("/proc/self/fd/{}", handle.as_raw_fd()), Mode::RWXU)
}
