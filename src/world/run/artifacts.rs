//! Programs of revisions that a command fetches in place of a build, and the place in which they are kept.
//!
//! The command runs in an empty directory; what it leaves there is the *artifact* of the revision. An artifact is kept
//! for each command and commit. It gets its name only when the command has succeeded and everything in it was found
//! harmless, so a killed process leaves no part of one.

use crate::files as disk;
use crate::process::EndedCommand;
use crate::repo::files;
use idd_base::{CommitId, Ending};
use rustix::fs::{FileType, FlockOperation, Mode, OFlags, SeekFrom};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use std::{fs, io};

/// Stands for the whole id of the commit in the command.
pub const COMMIT: &str = "{commit}";

/// Stands for the short id of the commit in the command.
pub const SHORT: &str = "{short}";

/// The time limit of the command, if the user gives none.
pub const LIMIT: Duration = Duration::from_secs(10 * 60);

/// A directory in an artifact may not be deeper than this.
const MAX_DEPTH: usize = 64;

/// With less space than this, a command that failed has probably failed for this reason.
const FULL_BYTES: u64 = 64 << 10;

/// How artifacts are fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetching {
    /// The command of the user, for `sh -c`, in which [`COMMIT`] and [`SHORT`] are not replaced yet.
    pub line: OsString,
    /// The directory of all kept artifacts, of every command.
    pub root: PathBuf,
    /// The space that they may take together.
    pub max_bytes: u64,
    /// The time limit of the command.
    pub limit: Duration,
}

/// Where an artifact came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArtifactOrigin {
    /// The command has fetched it.
    Command,
    /// It was kept from an earlier run of the command.
    Kept,
}

/// The answer to the question for an artifact.
#[derive(Debug)]
pub enum Fetched {
    /// There is one.
    There(Artifact),
    /// The command did not succeed: there is none, or the command was killed.
    Absent(EndedCommand),
}

/// An artifact that nobody removes while this exists.
#[derive(Debug)]
pub struct Artifact {
    /// Where it came from.
    pub origin: ArtifactOrigin,
    /// Where its files are.
    directory: PathBuf,
    /// Where it is kept, or will be.
    kept: PathBuf,
    lock: File,
}

/// Why an artifact was not placed.
#[derive(Debug, PartialEq, Eq)]
pub enum NotPlaced {
    /// It is not used, for this reason.
    Refused(String),
    /// The caller interrupted the copy.
    Interrupted,
}

/// What ends a copy early.
enum CopyEnd {
    Not(NotPlaced),
    Io(io::Error),
}

impl From<Errno> for CopyEnd {
    fn from(errno: Errno) -> Self {
        Self::Io(errno.into())
    }
}

impl From<io::Error> for CopyEnd {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Fetching {
    /// The command for one commit. Its id has only hexadecimal digits, so the shell takes it as it is.
    pub fn line_for(&self, commit: CommitId) -> OsString {
        let replaced = |line: Vec<u8>, name: &str, value: &str| -> Vec<u8> {
            let mut made = Vec::with_capacity(line.len());
            let mut rest = &line[..];
            while let Some(at) = rest.windows(name.len()).position(|window| window == name.as_bytes()) {
                made.extend_from_slice(&rest[..at]);
                made.extend_from_slice(value.as_bytes());
                rest = &rest[at + name.len()..];
            }
            made.extend_from_slice(rest);
            made
        };
        let line = replaced(self.line.as_bytes().to_vec(), COMMIT, &commit.to_string());
        OsString::from_vec(replaced(line, SHORT, &commit.short()))
    }

    /// The directory of the artifacts of this command.
    fn directory(&self) -> PathBuf {
        let mut digest = disk::hex(&Sha256::digest(self.line.as_bytes()));
        digest.truncate(16);
        self.root.join(digest)
    }

    /// Gets the artifact of `commit`: the kept one, or that of the command.
    ///
    /// - `run`: runs the command in an empty directory.
    ///
    /// Errors: the directory of the artifacts cannot be written; or that of `run`.
    pub fn fetch<E>(
        &self,
        commit: CommitId,
        run: impl FnOnce(&Path) -> Result<EndedCommand, E>,
    ) -> Result<io::Result<Fetched>, E> {
        let prepared = || -> io::Result<Artifact> {
            let directory = self.directory();
            fs::create_dir_all(&directory)?;
            disk::remove_unfinished(&directory);
            let lock = self.lock()?;
            rustix::fs::flock(&lock, FlockOperation::LockShared)?;
            let kept = directory.join(commit.to_string());
            if kept.is_dir() {
                return Ok(Artifact { origin: ArtifactOrigin::Kept, directory: kept.clone(), kept, lock });
            }
            let fresh = directory.join(unfinished(commit));
            disk::make_private(&fresh)?;
            Ok(Artifact { origin: ArtifactOrigin::Command, directory: fresh, kept, lock })
        };
        let artifact = match prepared() {
            Ok(artifact) if artifact.origin == ArtifactOrigin::Kept => return Ok(Ok(Fetched::There(artifact))),
            Ok(artifact) => artifact,
            Err(error) => return Ok(Err(error)),
        };
        let mut ran = match run(&artifact.directory) {
            Ok(ran) => ran,
            Err(error) => {
                let _ = disk::remove(&artifact.directory);
                return Err(error);
            }
        };
        let is_empty = disk::names(&artifact.directory).is_empty();
        if !ran.cancelled && ran.ending == Ending::Exit(0) {
            if !is_empty {
                return Ok(Ok(Fetched::There(artifact)));
            }
            ran.ending = Ending::Exit(1);
            ran.output.extend(b"git-idd: the command left no file in its directory\n");
        }
        let is_full = !ran.cancelled && space(&self.root).is_some_and(|free| free < FULL_BYTES);
        let _ = disk::remove(&artifact.directory);
        Ok(if is_full { Err(io::ErrorKind::StorageFull.into()) } else { Ok(Fetched::Absent(ran)) })
    }

    /// Puts an artifact into a worktree that has only the files of its tree, and keeps it; returns the first file that
    /// stayed as it was because the tree has it. One that takes more space than all artifacts may is refused.
    ///
    /// Otherwise, some of it can be in the worktree.
    ///
    /// - `is_interrupted`: asked before each file, and after each 64 MiB.
    ///
    /// Errors: the worktree or the directory of the artifacts cannot be written.
    pub fn place(
        &self,
        artifact: Artifact,
        worktree: &Path,
        is_interrupted: &dyn Fn() -> bool,
    ) -> io::Result<Result<Option<Vec<u8>>, NotPlaced>> {
        let Artifact { origin, directory, kept, lock } = artifact;
        let n_bytes = taken(&directory);
        let copied = if n_bytes > self.max_bytes {
            let why = format!("it takes {n_bytes} bytes, and `--artifacts-size` allows {}", self.max_bytes);
            Ok(Err(NotPlaced::Refused(format!("the artifact is not used: {why}"))))
        } else {
            copied(&directory, worktree, is_interrupted)
        };
        let is_accepted = matches!(copied, Ok(Ok(_)));
        if origin == ArtifactOrigin::Command {
            let renamed = if is_accepted { fs::rename(&directory, &kept) } else { Ok(()) };
            // It has another name now, or is not wanted, or another worker was faster.
            let _ = disk::remove(&directory);
            if let Err(error) = renamed
                && !kept.is_dir()
            {
                return Err(error);
            }
        }
        if is_accepted {
            used(&kept);
            drop(lock);
            self.make_room(&kept);
        }
        copied
    }

    fn lock(&self) -> io::Result<File> {
        disk::own(fs::OpenOptions::new().create(true).append(true)).open(self.root.join("lock"))
    }

    /// Removes the artifacts that were not used for the longest time until the rest is small enough; never `last`.
    ///
    /// While another process or worker uses artifacts, nothing is removed; the next one does it then.
    fn make_room(&self, last: &Path) {
        let Ok(lock) = self.lock() else { return };
        if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            return;
        }
        let directories = disk::names(&self.root).into_iter().map(|name| self.root.join(name));
        let entries = directories.flat_map(|directory| {
            let names = disk::names(&directory).into_iter();
            names.filter(|name| !name.as_bytes().contains(&b'.')).map(move |name| directory.join(name))
        });
        let mut entries: Vec<(SystemTime, PathBuf, u64)> = entries
            .filter_map(|path| Some((fs::metadata(&path).ok()?.modified().ok()?, taken(&path), path)))
            .map(|(time, size, path)| (time, path, size))
            .collect();
        entries.sort();
        let mut total: u64 = entries.iter().map(|(_, _, size)| size).sum();
        for (_, path, size) in entries.into_iter().filter(|(_, path, _)| path != last) {
            if total <= self.max_bytes {
                break;
            }
            // Under a name that the next process removes if this one is killed.
            let Some(name) = path.file_name() else { continue };
            let leaving = path.with_file_name(format!("{}.old.new-{}", name.to_string_lossy(), own_number()));
            if fs::rename(&path, &leaving).is_ok() && disk::remove(&leaving).is_ok() {
                total -= size;
            }
        }
    }
}

/// The name of an artifact that is being fetched; see [`disk::remove_unfinished`].
fn unfinished(commit: CommitId) -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    format!("{commit}.{}.new-{}", NUMBER.fetch_add(1, Ordering::Relaxed), own_number())
}

fn own_number() -> u32 {
    std::process::id()
}

/// Notes that an artifact was used now.
fn used(kept: &Path) {
    // If that fails, it is removed too early, and fetched again.
    let _ = File::open(kept).and_then(|directory| directory.set_modified(SystemTime::now()));
}

/// The bytes of all files below a path that are on the disk: holes take none.
fn taken(path: &Path) -> u64 {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => disk::names(path).iter().map(|name| taken(&path.join(name))).sum(),
        Ok(metadata) => metadata.len().min(metadata.blocks() * 512),
        Err(_) => 0,
    }
}

/// The free space for this user around a directory.
fn space(directory: &Path) -> Option<u64> {
    let seen = rustix::fs::statvfs(directory).ok()?;
    Some(seen.f_bavail * seen.f_frsize)
}

/// Copies an artifact; see [`Fetching::place`].
fn copied(
    artifact: &Path,
    worktree: &Path,
    is_interrupted: &dyn Fn() -> bool,
) -> io::Result<Result<Option<Vec<u8>>, NotPlaced>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = |path: &Path| rustix::fs::open(path, flags, Mode::empty());
    let (source, target) = (opened(artifact)?, opened(worktree)?);
    let mut copy = ArtifactCopy { path: Vec::new(), tracked: None, is_interrupted };
    match copy.directory(source.as_fd(), target.as_fd()) {
        Ok(()) => Ok(Ok(copy.tracked)),
        Err(CopyEnd::Not(why)) => Ok(Err(why)),
        Err(CopyEnd::Io(error)) => Err(error),
    }
}

/// A copy of an artifact; no link is followed.
struct ArtifactCopy<'i> {
    /// The names from the top to the present entry.
    path: Vec<Vec<u8>>,
    tracked: Option<Vec<u8>>,
    is_interrupted: &'i dyn Fn() -> bool,
}

impl ArtifactCopy<'_> {
    fn directory(&mut self, source: BorrowedFd<'_>, target: BorrowedFd<'_>) -> Result<(), CopyEnd> {
        let mut entries = files::list(source)?;
        entries.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        for (name, file_type) in entries {
            self.path.push(name.clone());
            if name.eq_ignore_ascii_case(b".git") {
                return Err(self.refused("belongs to git"));
            }
            match file_type {
                FileType::RegularFile => self.file(source, target, &name)?,
                FileType::Symlink => self.link(source, target, &name)?,
                FileType::Directory if self.path.len() <= MAX_DEPTH => self.below(source, target, &name)?,
                FileType::Directory => return Err(self.refused("is too deep")),
                _ => return Err(self.refused("is no file, directory or link")),
            }
            self.path.pop();
        }
        Ok(())
    }

    fn below(&mut self, source: BorrowedFd<'_>, target: BorrowedFd<'_>, name: &[u8]) -> Result<(), CopyEnd> {
        match files::look(target, name)?.map(|stat| stat.file_type) {
            Some(FileType::Directory) => {}
            Some(_) => return Err(self.refused("is a directory, but a file in the revision")),
            None => rustix::fs::mkdirat(target, name, Mode::from_raw_mode(0o755))?,
        }
        let (source, target) = (files::open_directory(source, name)?, files::open_directory(target, name)?);
        self.directory(source.as_fd(), target.as_fd())
    }

    fn file(&mut self, source: BorrowedFd<'_>, target: BorrowedFd<'_>, name: &[u8]) -> Result<(), CopyEnd> {
        if self.stays(target, name)? {
            return Ok(());
        }
        let (content, is_executable) = files::open_file(source, name)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(if is_executable { 0o755 } else { 0o644 });
        let written = File::from(rustix::fs::openat(target, name, flags, mode)?);
        self.content(&content, &written)
    }

    /// Copies what a file has; its holes stay holes.
    fn content(&self, content: &File, mut written: &File) -> Result<(), CopyEnd> {
        const PART: u64 = 64 << 20;
        let mut at = 0;
        loop {
            if (self.is_interrupted)() {
                return Err(CopyEnd::Not(NotPlaced::Interrupted));
            }
            at = match rustix::fs::seek(content, SeekFrom::Data(at)) {
                Ok(start) => start,
                Err(Errno::NXIO) => return Ok(written.set_len(content.metadata()?.len())?),
                Err(error) => return Err(error.into()),
            };
            let end = rustix::fs::seek(content, SeekFrom::Hole(at))?;
            for file in [content, written] {
                rustix::fs::seek(file, SeekFrom::Start(at))?;
            }
            at += io::copy(&mut content.take(PART.min(end - at)), &mut written)?;
        }
    }

    /// A link may lead up only with its first names, and not out of the worktree: the others can lead through links.
    fn link(&mut self, source: BorrowedFd<'_>, target: BorrowedFd<'_>, name: &[u8]) -> Result<(), CopyEnd> {
        let to = files::read_link(source, name)?;
        let mut parts = to.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".").peekable();
        let mut n_up = 0;
        while parts.next_if(|part| *part == b"..").is_some() {
            n_up += 1;
        }
        let leads_out = to.starts_with(b"/") || n_up >= self.path.len();
        if leads_out || parts.any(|part| part == b".." || part.eq_ignore_ascii_case(b".git")) {
            return Err(self.refused("is a link that may lead out of the checkout"));
        }
        if !self.stays(target, name)? {
            rustix::fs::symlinkat(to.as_slice(), target, name)?;
        }
        Ok(())
    }

    /// Whether the revision has a file of this name, which stays.
    fn stays(&mut self, target: BorrowedFd<'_>, name: &[u8]) -> Result<bool, CopyEnd> {
        let Some(stat) = files::look(target, name)? else { return Ok(false) };
        if stat.file_type == FileType::Directory {
            return Err(self.refused("is a file, but a directory in the revision"));
        }
        self.tracked.get_or_insert_with(|| self.path.join(&b'/'));
        Ok(true)
    }

    fn refused(&self, why: &str) -> CopyEnd {
        let path = String::from_utf8_lossy(&self.path.join(&b'/')).into_owned();
        CopyEnd::Not(NotPlaced::Refused(format!("the artifact is not used: `{path}` {why}")))
    }
}

/// Whether a command names the commit in a way that can be replaced or read.
pub fn names_commit(line: &OsStr) -> bool {
    let line = line.to_string_lossy();
    [COMMIT, SHORT, "IDD_COMMIT"].iter().any(|name| line.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::usage::Usage;
    use std::cell::Cell;
    use std::os::unix::fs::{FileExt as _, PermissionsExt as _, symlink};

    fn ran(code: i32) -> EndedCommand {
        EndedCommand {
            ending: Ending::Exit(code),
            duration: Duration::ZERO,
            output: Vec::new(),
            cancelled: false,
            usage: Usage::default(),
        }
    }

    fn fetching(root: &Path, max_bytes: u64) -> Fetching {
        Fetching { line: "get {commit}".into(), root: root.to_owned(), max_bytes, limit: Duration::MAX }
    }

    fn commit(number: u8) -> CommitId {
        CommitId::sha1([number; 20])
    }

    /// Places what `leave` leaves, in a worktree with the files `README` and `src/a`.
    fn placed(leave: impl FnOnce(&Path)) -> (tempfile::TempDir, Result<Option<Vec<u8>>, NotPlaced>) {
        let place = tempfile::tempdir().unwrap();
        let worktree = place.path().join("worktree");
        fs::create_dir_all(worktree.join("src")).unwrap();
        fs::write(worktree.join("README"), "tracked").unwrap();
        fs::write(worktree.join("src/a"), "tracked").unwrap();
        let run = |directory: &Path| {
            leave(directory);
            Ok::<_, io::Error>(ran(0))
        };
        let fetching = fetching(&place.path().join("kept"), 1 << 20);
        let Fetched::There(artifact) = fetching.fetch(commit(1), run).unwrap().unwrap() else { panic!("it is there") };
        let n_asked = Cell::new(0);
        let is_interrupted = || n_asked.replace(n_asked.get() + 1) == 100;
        let placed = fetching.place(artifact, &worktree, &is_interrupted).unwrap();
        (place, placed)
    }

    #[test]
    fn both_names_of_the_commit_are_replaced_wherever_they_are() {
        let line = "get {commit} {short}{commit} '{other}' {commi".into();
        let fetching = Fetching { line, ..fetching(Path::new("/"), 0) };
        let (long, short) = (commit(7).to_string(), commit(7).short());
        let expected = format!("get {long} {short}{long} '{{other}}' {{commi");
        assert_eq!(fetching.line_for(commit(7)), OsString::from(expected));
        assert!(names_commit("x {short}".as_ref()) && names_commit("x $IDD_COMMIT".as_ref()));
        assert!(!names_commit("x {commit".as_ref()));
    }

    #[test]
    fn an_artifact_is_put_beside_the_files_of_the_revision_and_over_none() {
        let (place, fetched) = placed(|directory| {
            fs::create_dir_all(directory.join("src/deep")).unwrap();
            fs::write(directory.join("README"), "other").unwrap();
            fs::write(directory.join("src/deep/prog"), "program").unwrap();
            fs::set_permissions(directory.join("src/deep/prog"), fs::Permissions::from_mode(0o4755)).unwrap();
            symlink("../a", directory.join("src/deep/link")).unwrap();
        });
        assert_eq!(fetched.unwrap().as_deref(), Some(&b"README"[..]));
        let at = |path: &str| place.path().join("worktree").join(path);
        assert_eq!(fs::read_to_string(at("README")).unwrap(), "tracked");
        assert_eq!(fs::read_to_string(at("src/deep/link/../prog")).ok(), None);
        assert_eq!(fs::read_link(at("src/deep/link")).unwrap(), Path::new("../a"));
        assert_eq!(fs::metadata(at("src/deep/prog")).unwrap().permissions().mode() & 0o7777 & !0o022, 0o755);
    }

    #[test]
    fn what_could_write_or_read_elsewhere_is_refused_and_not_kept() {
        #[track_caller]
        fn check(leave: impl FnOnce(&Path), expected: &str) {
            let (place, fetched) = placed(leave);
            let Err(NotPlaced::Refused(why)) = fetched else { panic!("it is refused") };
            assert!(why.contains(expected), "{why}");
            let kept = fetching(&place.path().join("kept"), 0).directory();
            assert_eq!(disk::names(&kept), Vec::<OsString>::new());
        }
        let leads_out = "may lead out of the checkout";
        for to in ["/etc/passwd", "..", "../x", "a/..", ".git/config", "./../x"] {
            check(|directory| symlink(to, directory.join("x")).unwrap(), leads_out);
        }
        let nested = |directory: &Path| {
            fs::create_dir(directory.join("d")).unwrap();
            symlink("../..", directory.join("d/x")).unwrap();
        };
        check(nested, leads_out);
        check(|directory| fs::create_dir(directory.join(".GIT")).unwrap(), "`.GIT` belongs to git");
        check(|directory| fs::write(directory.join("src"), "").unwrap(), "is a file, but a directory in the revision");
        check(|it| fs::create_dir(it.join("README")).unwrap(), "is a directory, but a file in the revision");
        let mode = Mode::RUSR | Mode::WUSR;
        let pipe = |directory: &Path| {
            rustix::fs::mknodat(rustix::fs::CWD, directory.join("p"), FileType::Fifo, mode, 0).unwrap();
        };
        check(pipe, "is no file, directory or link");
        check(|it| fs::write(it.join("large"), vec![b'x'; 2 << 20]).unwrap(), "and `--artifacts-size` allows 1048576");
    }

    #[test]
    fn a_file_with_holes_takes_no_more_space_than_before() {
        let (place, fetched) = placed(|directory| {
            let file = File::create(directory.join("disk")).unwrap();
            for at in [0, 1 << 20, 1 << 40] {
                file.write_all_at(b"data", at).unwrap();
            }
            file.set_len((1 << 40) + 8192).unwrap();
            File::create(directory.join("holes")).unwrap().set_len(1 << 40).unwrap();
        });
        assert_eq!(fetched, Ok(None));
        let read = |name: &str, at: u64| {
            let file = File::open(place.path().join("worktree").join(name)).unwrap();
            let mut data = [0; 5];
            file.read_exact_at(&mut data, at).unwrap();
            (data, file.metadata().unwrap().len(), taken(&place.path().join("worktree").join(name)) < 1 << 20)
        };
        for at in [0, 1 << 20, 1 << 40] {
            assert_eq!(read("disk", at), (*b"data\0", (1 << 40) + 8192, true));
        }
        assert_eq!(read("holes", 0), ([0; 5], 1 << 40, true));
    }

    #[test]
    fn a_copy_that_is_interrupted_is_not_kept() {
        let (place, fetched) = placed(|directory| {
            (0..100).for_each(|n| fs::write(directory.join(n.to_string()), "x").unwrap());
        });
        assert_eq!(fetched, Err(NotPlaced::Interrupted));
        assert_eq!(disk::names(&fetching(&place.path().join("kept"), 0).directory()), Vec::<OsString>::new());
    }

    #[test]
    fn an_artifact_is_fetched_once_and_the_one_used_last_stays() {
        let place = tempfile::tempdir().unwrap();
        let (root, worktrees) = (place.path().join("kept"), place.path().join("worktrees"));
        let fetching = fetching(&root, 250);
        let fetch = |number: u8, code: i32| {
            let worktree = worktrees.join(disk::names(&worktrees).len().to_string());
            fs::create_dir_all(&worktree).unwrap();
            let mut n_runs = 0;
            let fetched = fetching.fetch(commit(number), |directory| {
                n_runs += 1;
                fs::write(directory.join("prog"), [b'x'; 100]).unwrap();
                Ok::<_, io::Error>(ran(code))
            });
            let Fetched::There(artifact) = fetched.unwrap().unwrap() else { return (false, n_runs, false) };
            fetching.place(artifact, &worktree, &|| false).unwrap().unwrap();
            (true, n_runs, worktree.join("prog").exists())
        };
        let age = |number: u8, seconds: u64| {
            let kept = File::open(fetching.directory().join(commit(number).to_string())).unwrap();
            kept.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
        };
        assert_eq!(fetch(1, 0), (true, 1, true));
        assert_eq!(fetch(1, 0), (true, 0, true));
        assert_eq!(fetch(2, 1), (false, 1, false));
        assert_eq!(fetch(2, 0), (true, 1, true));
        age(1, 20);
        age(2, 10);
        assert_eq!(fetch(1, 0), (true, 0, true));
        // Three are too many: the second is gone.
        assert_eq!(fetch(3, 0), (true, 1, true));
        assert_eq!(fetch(1, 0), (true, 0, true));
        assert_eq!(fetch(2, 0), (true, 1, true));
    }
}
