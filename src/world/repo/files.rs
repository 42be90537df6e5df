//! Access to the file system, always relative to an open directory and never through a link.
//!
//! A tree or a test can put a link anywhere. Nothing here resolves more than one component, or a component that is a
//! link. So nothing outside of the first opened directory is ever written or removed.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{self, AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::repo::stat::FileStat;
use crate::system;

/// The maximum number of open levels of a removal; deeper directories are moved up first.
const MAX_OPEN_LEVELS: usize = 64;

/// Opens an existing directory, and makes it accessible for its owner if it is not.
///
/// [`Errno::NOTDIR`] or [`Errno::LOOP`] if it is another kind of entry.
pub fn open_directory(parent: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Errno> {
    let directory = match open_as_it_is(parent, name) {
        Err(Errno::ACCESS) => {
            system::unlock_directory(parent, name)?;
            open_as_it_is(parent, name)?
        }
        other => other?,
    };
    unlock(directory.as_fd())?;
    Ok(directory)
}

/// Opens a directory on the same mount, without changing its mode: behind a mount that a test left are files of others.
///
/// [`Errno::XDEV`] if it is a mount point.
pub fn open_as_it_is(parent: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Errno> {
    system::open_on_same_mount(parent, name)
}

/// Gives the owner all rights to an open directory; a directory of another owner is not changed.
pub fn unlock(directory: BorrowedFd<'_>) -> Result<(), Errno> {
    let mode = Mode::from_raw_mode(fs::fstat(directory)?.st_mode);
    if mode.contains(Mode::RWXU) {
        return Ok(());
    }
    match fs::fchmod(directory, mode | Mode::RWXU) {
        Err(Errno::PERM) => Ok(()),
        other => other,
    }
}

/// Opens a directory, and creates it if needed; any other entry of that name is removed.
pub fn make_directory(parent: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Errno> {
    match open_directory(parent, name) {
        Err(Errno::NOENT) => {}
        Err(Errno::NOTDIR | Errno::LOOP | Errno::MLINK) => fs::unlinkat(parent, name, AtFlags::empty())?,
        other => return other,
    }
    fs::mkdirat(parent, name, Mode::from_raw_mode(0o755))?;
    open_directory(parent, name)
}

/// The entries of a directory, without `.` and `..`, in no order.
pub fn list(directory: BorrowedFd<'_>) -> Result<Vec<(Vec<u8>, FileType)>, Errno> {
    let mut found = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        let file_type = match entry.file_type() {
            FileType::Unknown => look(directory, name)?.map_or(FileType::Unknown, |stat| stat.file_type),
            known => known,
        };
        found.push((name.to_vec(), file_type));
    }
    Ok(found)
}

/// The state of an open directory.
pub fn look_at(directory: BorrowedFd<'_>) -> Result<FileStat, Errno> {
    Ok(fs::fstat(directory)?.into())
}

/// The state of a path, without following it; `None` if it does not exist.
pub fn look(parent: BorrowedFd<'_>, name: &[u8]) -> Result<Option<FileStat>, Errno> {
    match fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat.into())),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// Removes a directory if it is empty; returns whether it was removed.
pub fn remove_directory_if_empty(parent: BorrowedFd<'_>, name: &[u8]) -> Result<bool, Errno> {
    match fs::unlinkat(parent, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Removes an entry with everything below it; returns the number of removed files and directories.
pub fn remove(parent: BorrowedFd<'_>, name: &[u8]) -> Result<usize, Errno> {
    let mut n_removed = 0;
    let mut pending = vec![name.to_vec()];
    while let Some(name) = pending.pop() {
        if unlink(parent, &name, &mut n_removed)? {
            continue;
        }
        let directory = open_directory(parent, &name)?;
        empty(
            directory.as_fd(),
            &mut FileRemoval { top: parent, pending: &mut pending, n_removed: &mut n_removed },
            1,
        )?;
        fs::unlinkat(parent, &name, AtFlags::REMOVEDIR)?;
        n_removed += 1;
    }
    Ok(n_removed)
}

struct FileRemoval<'a> {
    top: BorrowedFd<'a>,
    pending: &'a mut Vec<Vec<u8>>,
    n_removed: &'a mut usize,
}

fn empty(directory: BorrowedFd<'_>, removal: &mut FileRemoval<'_>, depth: usize) -> Result<(), Errno> {
    for (name, _) in list(directory)? {
        if unlink(directory, &name, removal.n_removed)? {
            continue;
        }
        let below = open_directory(directory, &name)?;
        if depth < MAX_OPEN_LEVELS {
            empty(below.as_fd(), removal, depth + 1)?;
            fs::unlinkat(directory, &name, AtFlags::REMOVEDIR)?;
            *removal.n_removed += 1;
        } else {
            let spare = spare_name(removal.top)?;
            fs::renameat(directory, &name, removal.top, spare.as_slice())?;
            removal.pending.push(spare);
        }
    }
    Ok(())
}

/// `false` if it is a directory.
fn unlink(parent: BorrowedFd<'_>, name: &[u8], n_removed: &mut usize) -> Result<bool, Errno> {
    match fs::unlinkat(parent, name, AtFlags::empty()) {
        Ok(()) => {
            *n_removed += 1;
            Ok(true)
        }
        Err(Errno::NOENT) => Ok(true),
        Err(Errno::ISDIR) => Ok(false),
        // POSIX requires this error for directories, but it can also be a missing right.
        Err(Errno::PERM) if look(parent, name)?.is_some_and(|stat| stat.file_type == FileType::Directory) => Ok(false),
        Err(errno) => Err(errno),
    }
}

fn spare_name(parent: BorrowedFd<'_>) -> Result<Vec<u8>, Errno> {
    for number in 0_u64.. {
        let name = format!(".idd-removed-{number}").into_bytes();
        if look(parent, &name)?.is_none() {
            return Ok(name);
        }
    }
    Err(Errno::EXIST)
}

/// Writes a new file in place of any existing entry; its times are new.
pub fn write_file(parent: BorrowedFd<'_>, name: &[u8], content: &[u8], is_executable: bool) -> Result<FileStat, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(if is_executable { 0o755 } else { 0o644 });
    let file = replace(parent, name, || fs::openat(parent, name, flags, mode))?;
    let mut file = File::from(file);
    file.write_all(content).map_err(|error| errno_of(&error))?;
    Ok(fs::fstat(&file)?.into())
}

/// Creates a link in place of any existing entry.
pub fn write_link(parent: BorrowedFd<'_>, name: &[u8], target: &[u8]) -> Result<FileStat, Errno> {
    replace(parent, name, || fs::symlinkat(target, parent, name))?;
    Ok(fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?.into())
}

/// Tries to create an entry, and removes an existing one if needed.
fn replace<T>(parent: BorrowedFd<'_>, name: &[u8], make: impl Fn() -> Result<T, Errno>) -> Result<T, Errno> {
    match make() {
        Err(Errno::EXIST) => {
            remove(parent, name)?;
            make()
        }
        other => other,
    }
}

/// Whether a regular file or link has exactly the content `expected`; false if it cannot be read.
pub fn holds(parent: BorrowedFd<'_>, name: &[u8], file_type: FileType, expected: &[u8]) -> bool {
    match file_type {
        FileType::Symlink => fs::readlinkat(parent, name, Vec::new()).is_ok_and(|target| target.as_bytes() == expected),
        FileType::RegularFile => {
            read_at_most(parent, name, expected.len() + 1).is_ok_and(|content| content == expected)
        }
        _ => false,
    }
}

/// Whether a regular file begins with these bytes; false if it cannot be read.
pub fn begins_with(parent: BorrowedFd<'_>, name: &[u8], begin: &[u8]) -> bool {
    read_at_most(parent, name, begin.len()).is_ok_and(|content| content == begin)
}

/// The first `max_bytes` of a regular file.
pub fn read_at_most(parent: BorrowedFd<'_>, name: &[u8], max_bytes: usize) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    open_file(parent, name)?.0.take(max_bytes as u64).read_to_end(&mut content)?;
    Ok(content)
}

/// Opens a regular file for reading; also returns whether it is executable.
pub fn open_file(parent: BorrowedFd<'_>, name: &[u8]) -> io::Result<(File, bool)> {
    // The entry may have been replaced since it was examined: opening a pipe must not wait.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = fs::openat(parent, name, flags, Mode::empty())?;
    let stat = fs::fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok((File::from(file), stat.st_mode & 0o111 != 0))
}

/// The target of a link, as written.
pub fn read_link(parent: BorrowedFd<'_>, name: &[u8]) -> Result<Vec<u8>, Errno> {
    Ok(fs::readlinkat(parent, name, Vec::new())?.into_bytes())
}

fn errno_of(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// Whether the file system treats `a` and `A` as one name; leaves no files.
pub fn folds_case(directory: BorrowedFd<'_>) -> Result<bool, Errno> {
    write_file(directory, b".idd-case", b"", false)?;
    let folds_case = look(directory, b".IDD-CASE")?.is_some();
    fs::unlinkat(directory, ".idd-case", AtFlags::empty())?;
    Ok(folds_case)
}
