//! Whose files are below the git directory: after a command of root in a repository of another user, they are that user's.
//!
//! Otherwise that user could neither hunt there again nor, where git put an object into a new directory, commit.

use crate::repo::Location;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, chownat, fstat, openat};
use rustix::io::Result;
use rustix::process::{Gid, Uid, geteuid};
use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// What this program, and git on its behalf, write below a git directory.
const WRITTEN: [&CStr; 3] = [c"idd", c"objects", c"refs"];

/// Gives the files of a command of root to the owner of the repository, when it is dropped.
pub struct OwnerGuard {
    directories: [OwnedFd; 2],
    user: Uid,
    group: Gid,
}

impl OwnerGuard {
    /// A guard, or `None` if this process is not root's, or the repository is.
    pub fn of(location: &Location) -> Option<Self> {
        let open = |path: &Path| {
            openat(rustix::fs::CWD, path, OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()).ok()
        };
        let directories = [open(&location.git_directory)?, open(&location.common_directory)?];
        let stat = fstat(&directories[1]).ok()?;
        let (user, group) = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
        (geteuid().is_root() && !user.is_root()).then_some(Self { directories, user, group })
    }

    /// Gives a file of root, and all below it, to the owner.
    ///
    /// The owner can change names in the meantime: what was looked at is changed, by its descriptor, and no link is followed.
    /// A file with a second name is left, because that may lie elsewhere.
    fn give(&self, parent: BorrowedFd<'_>, name: &CStr) -> Result<()> {
        let file = openat(parent, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
        let stat = fstat(&file)?;
        let is_directory = FileType::from_raw_mode(stat.st_mode).is_dir();
        if stat.st_uid == 0 && (is_directory || stat.st_nlink == 1) {
            chownat(&file, c"", Some(self.user), Some(self.group), AtFlags::EMPTY_PATH)?;
        }
        if !is_directory {
            return Ok(());
        }
        let directory = openat(&file, c".", OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
        for entry in Dir::read_from(&directory)? {
            let entry = entry?;
            if ![c".", c".."].contains(&entry.file_name()) {
                self.give(directory.as_fd(), entry.file_name())?;
            }
        }
        Ok(())
    }
}

impl Drop for OwnerGuard {
    /// Cost: looks at each file below the directories that are written.
    fn drop(&mut self) {
        for directory in &self.directories {
            for name in WRITTEN {
                // What is not there needs no owner, and root may do all else.
                let _ = self.give(directory.as_fd(), name);
            }
        }
    }
}
