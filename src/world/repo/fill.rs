//! Writes the files of a move, several at a time.
//!
//! A move finds the differences, removes entries and creates directories, one after the other. Most of the time goes
//! into reading objects and creating files. These do not depend on each other, so a first checkout uses all processors.

use crate::repo::{Repository, files};
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rayon::iter::ParallelIterator as _;
use rayon::slice::ParallelSlice as _;
use rustix::io::Errno;

use crate::processors;
use crate::repo::conversion::is_lfs_pointer;
use crate::repo::object::ObjectReader;
use crate::repo::refusal::{MoveStop, Refusal, WriteError};
use crate::repo::stat::{BlobForm, FileStat};
use crate::repo::write::{content, write};
use idd_base::BlobId;

/// Fewer files are written by one thread: other threads would have to open the repository first.
const FEW: usize = 128;

/// The number of shares for each processor, so that a share with large files does not delay the others.
const SHARES: usize = 4;

/// A file or link whose directory exists.
#[derive(Debug)]
pub struct PendingFile {
    /// From the root of the tree.
    pub path: Vec<u8>,
    /// Its content.
    pub blob_id: BlobId,
    /// Its form.
    pub form: BlobForm,
}

/// The result for one file.
#[derive(Debug)]
pub struct Filled {
    /// Its state now.
    pub stat: FileStat,
    /// Whether its content is only a pointer to a large file elsewhere.
    pub is_lfs_pointer: bool,
}

/// Writes all files below `root`; returns the results in the same order.
///
/// - `objects`: the objects of `repository`. If several threads write, each opens the repository again instead.
/// - `directory`: only for messages.
///
/// The error is that of the first failed file; others may have been written.
pub fn fill(
    repository: &Repository,
    objects: &ObjectReader<'_>,
    root: BorrowedFd<'_>,
    directory: &Path,
    pending: &[PendingFile],
) -> Result<Vec<Filled>, MoveStop> {
    let Some(pool) = processors::pool().filter(|_| pending.len() >= FEW) else {
        return fill_share(objects, root, directory, pending);
    };
    let share = pending.len().div_ceil(SHARES * pool.current_num_threads());
    let git_directory = repository.path();
    let shares = pending.par_chunks(share).map(|share| {
        let repository = git2::Repository::open(git_directory)
            .map(Repository::from)
            .map_err(|source| WriteError::Repository { action: "open the repository once more".into(), source })?;
        fill_share(&ObjectReader::open(&repository)?, root, directory, share)
    });
    let filled: Vec<Result<Vec<Filled>, MoveStop>> = pool.install(|| shares.collect());
    Ok(filled.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

fn fill_share(
    objects: &ObjectReader<'_>,
    root: BorrowedFd<'_>,
    directory: &Path,
    pending: &[PendingFile],
) -> Result<Vec<Filled>, MoveStop> {
    let mut parent = Parent { root, last: None };
    let fill = |PendingFile { path, blob_id, form }: &PendingFile| {
        let content = content(objects, *blob_id, *form)?;
        let (above, name) = split_path(path);
        let written = parent.open(above).and_then(|parent| write(parent, name, &content, *form));
        let stat = written.map_err(|errno| stop(errno, directory, path))?;
        Ok(Filled { stat, is_lfs_pointer: *form != BlobForm::Link && is_lfs_pointer(&content) })
    };
    pending.iter().map(fill).collect()
}

/// The directory of the last written file, probably also that of the next.
struct Parent<'a> {
    root: BorrowedFd<'a>,
    last: Option<(Vec<u8>, OwnedFd)>,
}

impl Parent<'_> {
    fn open(&mut self, path: &[u8]) -> Result<BorrowedFd<'_>, Errno> {
        if self.last.as_ref().is_none_or(|(last, _)| last != path) {
            let mut opened = None;
            for name in path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
                let parent = opened.as_ref().map_or(self.root, OwnedFd::as_fd);
                opened = Some(files::open_directory(parent, name)?);
            }
            self.last = opened.map(|opened| (path.to_vec(), opened));
        }
        Ok(self.last.as_ref().map_or(self.root, |(_, directory)| directory.as_fd()))
    }
}

/// The directory without its last slash, and the name.
fn split_path(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => (&path[..slash], &path[slash + 1..]),
        None => (b"", path),
    }
}

/// The meaning of an error of the file system for a path of the tree.
pub fn stop(errno: Errno, directory: &Path, path: &[u8]) -> MoveStop {
    match errno {
        Errno::NAMETOOLONG | Errno::ILSEQ | Errno::INVAL => {
            Refusal::Path { path: path.to_vec(), why: "the file system does not take this name" }.into()
        }
        errno => WriteError::from_errno(errno, "write", directory.join(OsStr::from_bytes(path))).into(),
    }
}
