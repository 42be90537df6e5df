//! An advisory lock on a whole file.

use std::fs::{File, OpenOptions};
use std::ops::Deref;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use rustix::fs::FlockOperation;
use rustix::io::Errno;
use rustix::process::Pid;

use crate::files::own;

/// The maximum time to wait for processes of a killed holder.
const MAX_WAIT: Duration = Duration::from_secs(2);

const PAUSE: Duration = Duration::from_millis(10);

/// An open file with a lock, which ends with the value or with the process.
#[derive(Debug)]
pub struct FileLock {
    file: File,
}

impl FileLock {
    /// Locks the file at `path`, which is created with its directory if needed; `None` if another process has the lock.
    ///
    /// The holder's number is written into the file, for [`holder`](Self::holder). If a holder was killed, processes
    /// that it has just started can hold the lock a moment longer; this function waits for them.
    pub fn at(path: &Path) -> io::Result<Option<Self>> {
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        let begin = Instant::now();
        let mut options = OpenOptions::new();
        let options = own(options.read(true).write(true).create(true).truncate(false));
        let mut lock = Self::try_new(options.open(path)?)?;
        while lock.is_none() && begin.elapsed() < MAX_WAIT && Self::holder(path).is_some_and(is_gone) {
            thread::sleep(PAUSE);
            lock = Self::try_new(options.open(path)?)?;
        }
        if let Some(lock) = &lock {
            lock.file.set_len(0)?;
            lock.file.write_all_at(std::process::id().to_string().as_bytes(), 0)?;
        }
        Ok(lock)
    }

    /// The process that holds a lock, as it wrote into the file.
    pub fn holder(path: &Path) -> Option<u32> {
        fs::read_to_string(path).ok()?.parse().ok()
    }

    /// Locks `file`, without waiting; `None` if another process has the lock.
    pub fn try_new(file: File) -> io::Result<Option<Self>> {
        Self::of(file, FlockOperation::NonBlockingLockExclusive)
    }

    /// Whether a process has the lock of `file`. Those who ask at the same time do not see each other.
    pub fn is_held(file: File) -> io::Result<bool> {
        Ok(Self::of(file, FlockOperation::NonBlockingLockShared)?.is_none())
    }

    fn of(file: File, operation: FlockOperation) -> io::Result<Option<Self>> {
        match rustix::fs::flock(&file, operation) {
            Ok(()) => Ok(Some(Self { file })),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(errno) => Err(refusal(errno)),
        }
    }
}

/// Why there is no lock; of a file system that has none, in words.
fn refusal(errno: Errno) -> io::Error {
    match errno {
        Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP => {
            let why =
                "its file system has no locks (`flock`), as some network file systems; hunt in a clone on a local one";
            io::Error::new(io::ErrorKind::Unsupported, why)
        }
        errno => errno.into(),
    }
}

/// Whether there is no process with this number.
fn is_gone(process: u32) -> bool {
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(Errno::SRCH))
}

impl Deref for FileLock {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}

impl Drop for FileLock {
    /// Closing alone is not enough: a forked child that has not yet started its program has the file open too.
    fn drop(&mut self) {
        // It can fail only if there was no lock.
        let _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_without_locks_is_named() {
        assert!(refusal(Errno::NOLCK).to_string().contains("no locks"));
        assert_eq!(refusal(Errno::IO).raw_os_error(), Some(Errno::IO.raw_os_error()));
    }

    #[test]
    fn what_a_killed_holder_leaves_behind_is_waited_for_and_nobody_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let held = FileLock::at(&path).unwrap().unwrap();
        assert!(FileLock::at(&path).unwrap().is_none());
        let mut gone = std::process::Command::new("true").spawn().unwrap();
        gone.wait().unwrap();
        fs::write(&path, gone.id().to_string()).unwrap();
        let left = thread::spawn(move || {
            thread::sleep(3 * PAUSE);
            drop(held);
        });
        assert!(FileLock::at(&path).unwrap().is_some());
        left.join().unwrap();
        assert_eq!(FileLock::holder(&path), Some(std::process::id()));
    }

    #[test]
    fn those_who_ask_for_a_lock_at_the_same_time_see_only_its_holder() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let open = || File::open(file.path()).unwrap();
        let asking = FileLock::of(open(), FlockOperation::NonBlockingLockShared).unwrap().unwrap();
        assert!(!FileLock::is_held(open()).unwrap());
        drop(asking);
        let held = FileLock::try_new(open()).unwrap().unwrap();
        assert!(FileLock::is_held(open()).unwrap());
        drop(held);
        assert!(!FileLock::is_held(open()).unwrap());
    }
}
