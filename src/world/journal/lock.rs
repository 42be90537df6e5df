//! An advisory lock on a whole file.

use std::fs;
use std::fs::File;
use std::fs::OpenOptions;
use std::io;
use std::ops::Deref;
use std::path::Path;

use rustix::fs::FlockOperation;
use rustix::io::Errno;

/// An open file with an exclusive lock that ends with the value, or with the process.
#[derive(Debug)]
pub struct FileLock {
    file: File,
}

impl FileLock {
    /// Locks the file at `path`, which is made if need be with its directory; `None` if someone else holds the lock.
    pub fn at(path: &Path) -> io::Result<Option<Self>> {
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        Self::try_new(OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?)
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
