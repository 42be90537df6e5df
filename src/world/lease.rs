//! A lease: a file in a directory that several machines share, so that two jobs do not make the same hunt at once.
//!
//! The file has the name of the hunt and is renewed as long as the job lives. One that was not renewed for some minutes is of a
//! job that was killed, and is taken over. All times are those of the file system that has the directory, because clocks of
//! machines differ. If two jobs have the same lease after all (a machine that slept), both hunts are right; only time is lost.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};
use std::{fs, io, thread};

/// The interval in which a lease is renewed.
const RENEWAL: Duration = Duration::from_secs(20);

/// The age at which a lease counts as left behind.
const STALE: Duration = Duration::from_secs(180);

/// The longest name of an owner in bytes.
const MAX_OWNER_BYTES: u64 = 200;

/// The interval in which the renewing thread looks whether the hunt has ended.
const LOOK: Duration = Duration::from_millis(50);

/// A lease that this process has; it ends when it is dropped.
pub struct Lease {
    path: PathBuf,
    owner: String,
    is_over: Arc<AtomicBool>,
    renewing: Option<JoinHandle<()>>,
}

/// Who has a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseHolder(pub String);

/// Takes the lease of this name in a directory, which is made if it is not there.
pub fn take(directory: &Path, name: &str) -> io::Result<Result<Lease, LeaseHolder>> {
    lease(directory, name, &owner(), STALE)
}

fn owner() -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("{host}, process {}", std::process::id())
}

fn lease(directory: &Path, name: &str, owner: &str, stale: Duration) -> io::Result<Result<Lease, LeaseHolder>> {
    fs::create_dir_all(directory)?;
    let path = directory.join(format!("{name}.lease"));
    let mut has_taken_over = false;
    loop {
        match File::create_new(&path) {
            Ok(mut file) => {
                file.write_all(owner.as_bytes())?;
                return Ok(Ok(Lease::renewed(path, owner.to_owned())));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        let now = present(directory)?;
        let age = |path: &Path| -> io::Result<Duration> {
            let metadata = fs::symlink_metadata(path)?;
            if !metadata.is_file() {
                return Err(io::Error::other(format!("`{}` is no file", path.display())));
            }
            // A time far in the future is of a clock that was wrong.
            let written = metadata.modified()?;
            Ok(now.duration_since(written).unwrap_or_else(|error| error.duration().saturating_sub(stale)))
        };
        let held = || LeaseHolder(holder(&path));
        match age(&path) {
            Ok(age) if age < stale || has_taken_over => return Ok(Err(held())),
            Ok(_) => {}
            // It has just ended.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        }
        // Of several jobs that find it stale, one can rename it.
        let aside = directory.join(format!("{name}.{}.stale", std::process::id()));
        match fs::rename(&path, &aside) {
            // Another job had taken it over between the look and the renaming: it gets its lease back.
            Ok(()) if age(&aside)? < stale => {
                fs::rename(&aside, &path)?;
                return Ok(Err(held()));
            }
            Ok(()) => fs::remove_file(&aside)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        has_taken_over = true;
    }
}

/// Who wrote a lease, as far as it says so.
fn holder(path: &Path) -> String {
    let mut text = Vec::new();
    if !fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return "unknown".to_owned();
    }
    let _ = File::open(path).and_then(|file| file.take(MAX_OWNER_BYTES).read_to_end(&mut text));
    let text =
        String::from_utf8_lossy(&text).trim_matches(|letter: char| letter.is_control() || letter == ' ').to_owned();
    if text.is_empty() { "unknown".to_owned() } else { text }
}

/// The present time of the file system.
fn present(directory: &Path) -> io::Result<SystemTime> {
    // A new file, so nothing that stands there is written or waited for.
    let clock = new_clock(directory)?;
    let now = fs::symlink_metadata(&clock)?.modified();
    fs::remove_file(&clock)?;
    now
}

/// A new empty file with a name that nobody knows before.
fn new_clock(directory: &Path) -> io::Result<PathBuf> {
    let mut random = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    let name = directory.join(format!("{:016x}.clock", u64::from_ne_bytes(random)));
    File::create_new(&name)?;
    Ok(name)
}

/// Whether a lease is still that of its owner. What is no file is not read: it could keep the reader waiting.
fn is_of(path: &Path, owner: &str) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() == owner.len() as u64)
        && fs::read(path).is_ok_and(|content| content == owner.as_bytes())
}

impl Lease {
    fn renewed(path: PathBuf, owner: String) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let (flag, file, text) = (Arc::clone(&is_over), path.clone(), owner.clone());
        let renewing = thread::spawn(move || {
            let mut rest = RENEWAL;
            while !flag.load(Ordering::Relaxed) {
                thread::sleep(LOOK);
                rest = rest.saturating_sub(LOOK);
                if rest.is_zero() {
                    // Writing sets the time by the clock of the file system. It is of another job now if it has another text.
                    if is_of(&file, &text) {
                        let _ = fs::write(&file, text.as_bytes());
                    }
                    rest = RENEWAL;
                }
            }
        });
        Self { path, owner, is_over, renewing: Some(renewing) }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(renewing) = self.renewing.take() {
            let _ = renewing.join();
        }
        if is_of(&self.path, &self.owner) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_job_has_a_lease_until_it_ends() {
        let directory = tempfile::tempdir().unwrap();
        let take = |owner: &str| lease(directory.path(), "a", owner, STALE).unwrap();
        let first = take("one").ok().unwrap();
        assert_eq!(take("two").err(), Some(LeaseHolder("one".to_owned())));
        assert!(lease(directory.path(), "b", "two", STALE).unwrap().is_ok());
        drop(first);
        assert!(take("two").is_ok());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_lease_that_was_left_behind_is_taken_over() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.lease");
        fs::write(&path, "dead").unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - 2 * STALE).unwrap();
        let taken = lease(directory.path(), "a", "alive", STALE).unwrap().ok().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "alive");
        assert!(lease(directory.path(), "a", "third", STALE).unwrap().is_err());
        drop(taken);
        assert!(!path.exists());
    }

    #[test]
    fn of_many_jobs_at_once_one_takes_a_stale_lease() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.lease");
        fs::write(&path, "dead").unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(SystemTime::now() - 2 * STALE).unwrap();
        let first = lease(directory.path(), "a", "first", STALE).unwrap();
        let others: Vec<_> =
            (0..8).map(|number| lease(directory.path(), "a", &number.to_string(), STALE).unwrap()).collect();
        assert!(first.is_ok() && others.iter().all(Result::is_err));
    }

    #[test]
    fn what_is_no_lease_is_an_error_or_is_taken_over() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.lease");
        fs::create_dir(&path).unwrap();
        assert!(lease(directory.path(), "a", "one", STALE).is_err());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        fs::remove_dir(&path).unwrap();
        fs::write(&path, vec![0; 1000]).unwrap();
        let held = lease(directory.path(), "a", "one", STALE).unwrap().err();
        assert_eq!(held, Some(LeaseHolder("unknown".to_owned())));
        File::options().write(true).open(&path).unwrap().set_modified(SystemTime::now() + 9 * STALE).unwrap();
        assert!(lease(directory.path(), "a", "one", STALE).unwrap().is_ok());
    }

    #[test]
    fn what_stands_in_the_place_of_a_lease_is_neither_written_nor_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.lease");
        let taken = lease(directory.path(), "a", "one", STALE).unwrap().ok().unwrap();
        fs::remove_file(&path).unwrap();
        let fifo = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(fifo.success());
        drop(taken);
        assert!(path.exists());
        assert!(lease(directory.path(), "a", "two", STALE).is_err());
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(lease(&file.path().join("below"), "a", "one", STALE).is_err());
    }
}
