//! The times of the user's files, for checkouts in which products of the user's build are visible.
//!
//! A build compares times. Beside products of the user, a file of a checkout that is the user's gets its time, so that only
//! what differs is built again. This is sound only in an empty checkout: later a file that becomes the user's again is newer
//! than what was built of another version meanwhile.

use crate::repo::ids::object_id;
use crate::repo::stat::{Directory, FileStat, TrackedEntry};
use crate::repo::{Location, files, private};
use idd_base::ObjectId;
use rustix::fs::{AtFlags, Timespec, Timestamps, UTIME_NOW, utimensat};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;

const NS: i128 = 1_000_000_000;

/// The present time.
const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };

/// The tracked files of the working tree that are as in the index: path, content, time in nanoseconds since 1970.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileTimes(HashMap<Vec<u8>, (ObjectId, i128)>);

impl FileTimes {
    /// Reads the index of the user; without any file if that fails.
    ///
    /// Cost: one stat for each file.
    pub fn read(location: &Location) -> Self {
        let user = private::open(&location.git_directory).ok();
        let index = user.as_ref().and_then(|user| user.git().index().ok());
        let (Some(index), Some(top)) = (index, &location.top) else { return Self::default() };
        // A file that was changed within the tick in which the index was written can differ from it.
        let written = fs::metadata(location.git_directory.join("index")).map_or(0, |metadata| metadata.mtime());
        let time = |entry: git2::IndexEntry| {
            let metadata = fs::symlink_metadata(top.join(OsStr::from_bytes(&entry.path))).ok()?;
            let is_same = i64::from(entry.mtime.seconds()) == metadata.mtime()
                && metadata.mtime() < written
                && u64::from(entry.file_size) == metadata.size()
                && metadata.is_file();
            let time = i128::from(metadata.mtime()) * NS + i128::from(metadata.mtime_nsec());
            is_same.then(|| (entry.path, (object_id(entry.id), time)))
        };
        Self(index.iter().filter_map(time).collect())
    }

    /// Gives the files in `written` that are the user's the times of the user's files, and with `renews` all others the
    /// present time.
    ///
    /// - `root`: the directory in which they were written, which had nothing else before.
    pub(super) fn give(&self, root: BorrowedFd<'_>, written: &mut Directory, renews: bool) {
        if renews || !self.0.is_empty() {
            self.give_below(root, written, &mut Vec::new(), renews);
        }
    }

    fn give_below(&self, directory: BorrowedFd<'_>, written: &mut Directory, path: &mut Vec<u8>, renews: bool) {
        let n_bytes = path.len();
        for (name, node) in &mut written.entries {
            path.extend_from_slice(name);
            match node {
                TrackedEntry::Directory(below) => {
                    path.push(b'/');
                    if let Ok(handle) = files::open_as_it_is(directory, name) {
                        self.give_below(handle.as_fd(), below, path, renews);
                    }
                }
                TrackedEntry::File(record) => {
                    let time = self.0.get(path.as_slice()).filter(|(id, _)| *id == record.blob_id.0);
                    let time = time.and_then(|(_, time)| timespec(*time)).or(renews.then_some(NOW));
                    if let Some(stat) = time.and_then(|time| dated(directory, name, time)) {
                        record.stat = stat;
                    }
                }
                TrackedEntry::Submodule(_) => {}
            }
            path.truncate(n_bytes);
        }
    }
}

fn timespec(ns: i128) -> Option<Timespec> {
    let tv_sec = i64::try_from(ns.div_euclid(NS)).ok()?;
    Some(Timespec { tv_sec, tv_nsec: i64::try_from(ns.rem_euclid(NS)).ok()? })
}

/// Sets the time of a file; returns its state, `None` if that failed.
fn dated(directory: BorrowedFd<'_>, name: &[u8], time: Timespec) -> Option<FileStat> {
    let times = Timestamps { last_access: time, last_modification: time };
    utimensat(directory, name, &times, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    files::look(directory, name).ok()?
}
