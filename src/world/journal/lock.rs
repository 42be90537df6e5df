//! An advisory lock on a whole file.

use std::fs;
use std::fs::File;
use std::fs::OpenOptions;
use std::io;
use std::ops::Deref;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::world::files::own;

/// An open file with an exclusive lock that ends with the value, or with the process.
#[derive(Debug)]
pub struct FileLock {
    file: File,
}

impl FileLock {
    /// Locks the file at `path`, which is made if need be with its directory; `None` if someone else holds the lock.
    ///
    /// Who holds it is written into the file, for [`holder`](Self::holder).
    pub fn at(path: &Path) -> io::Result<Option<Self>> {
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        let lock =
            Self::try_new(own(OpenOptions::new().read(true).write(true).create(true).truncate(false)).open(path)?)?;
        if let Some(lock) = &lock {
            lock.file.set_len(0)?;
            lock.file.write_all_at(std::process::id().to_string().as_bytes(), 0)?;
        }
        Ok(lock)
    }

    /// The process that holds a lock, as it has written down.
    pub fn holder(path: &Path) -> Option<u32> {
        fs::read_to_string(path).ok()?.parse().ok()
    }

    /// Locks `file`, without waiting; `None` if someone else holds the lock.
    pub fn try_new(file: File) -> io::Result<Option<Self>> {
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self { file })),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }
}

impl Deref for FileLock {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}

impl Drop for FileLock {
    /// Closing alone would not do: a child that was forked but has not yet started its program holds the file too.
    fn drop(&mut self) {
        // The only failure is that there was no lock to end.
        let _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
    }
}
