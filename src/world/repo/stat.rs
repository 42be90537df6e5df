//! The record of written files: their content, and their state after writing.

use std::collections::BTreeMap;

use rustix::fs::{FileType, Mode};

use crate::repo::conversion::Conversion;
use idd_base::{BlobId, CommitId, TreeId};

/// The fields of `lstat` in which a change shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStat {
    /// Time of the last change of the content.
    pub mtime_ns: i128,
    /// Time of the last change of anything; a program cannot set it.
    pub ctime_ns: i128,
    /// Size in bytes.
    pub n_bytes: u64,
    /// Number of the inode.
    pub inode: u128,
    /// Permission bits.
    pub mode: Mode,
    /// Regular file, directory, link, ...
    pub file_type: FileType,
}

/// The state of a missing file.
impl Default for FileStat {
    fn default() -> Self {
        let (mode, file_type) = (Mode::empty(), FileType::Unknown);
        Self { mtime_ns: 0, ctime_ns: 0, n_bytes: 0, inode: 0, mode, file_type }
    }
}

impl From<rustix::fs::Stat> for FileStat {
    fn from(stat: rustix::fs::Stat) -> Self {
        let ns = |seconds: i128, ns: i128| seconds * 1_000_000_000 + ns;
        Self {
            mtime_ns: ns(stat.st_mtime.into(), stat.st_mtime_nsec.into()),
            ctime_ns: ns(stat.st_ctime.into(), stat.st_ctime_nsec.into()),
            n_bytes: u64::try_from(stat.st_size).unwrap_or_default(),
            inode: stat.st_ino.into(),
            mode: Mode::from_raw_mode(stat.st_mode),
            file_type: FileType::from_raw_mode(stat.st_mode),
        }
    }
}

/// One file or link, as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRecord {
    /// The content as stored in the repository.
    pub blob_id: BlobId,
    /// Its form on disk.
    pub form: BlobForm,
    /// Its state after writing.
    pub stat: FileStat,
    /// Whether more than its content may have been changed since: its owner, its links, its attributes.
    pub is_touched: bool,
}

/// The form of a blob on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlobForm {
    /// A regular file.
    File {
        /// Whether it may be executed.
        is_executable: bool,
        /// From stored to written content.
        conversion: Conversion,
    },
    /// A symbolic link.
    Link,
}

/// The entry at a tracked path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrackedEntry {
    /// A file or link.
    File(FileRecord),
    /// A directory of the tree.
    Directory(Directory),
    /// The empty directory of a submodule, and its commit.
    Submodule(CommitId),
}

/// A directory as it was written: the stat table, with the shape of the tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Directory {
    /// The tree object; `None` before the first write.
    pub tree_id: Option<TreeId>,
    /// The commit, if it is a submodule.
    pub submodule: Option<CommitId>,
    /// By component.
    pub entries: BTreeMap<Vec<u8>, TrackedEntry>,
    /// Sums over everything below.
    pub totals: Totals,
    /// The state of the directory when its names were last read, if each of them may stay for good: names of the tree,
    /// and names that an ignore rule covers with everything below. `None` if they must be read again.
    pub settled: Option<FileStat>,
}

impl Directory {
    /// The blob of the regular file `name`, if there is one.
    pub fn regular_blob(&self, name: &[u8]) -> Option<BlobId> {
        match self.entries.get(name) {
            Some(TrackedEntry::File(FileRecord { blob_id, form: BlobForm::File { .. }, .. })) => Some(*blob_id),
            _ => None,
        }
    }

    /// Records the present state of a new file at `path`.
    pub fn set_stat(&mut self, path: &[u8], stat: FileStat) {
        self.totals.n_bytes = self.totals.n_bytes.saturating_add(stat.n_bytes);
        let (name, below) = match path.iter().position(|byte| *byte == b'/') {
            Some(slash) => (&path[..slash], Some(&path[slash + 1..])),
            None => (path, None),
        };
        match (self.entries.get_mut(name), below) {
            (Some(TrackedEntry::Directory(directory)), Some(below)) => directory.set_stat(below, stat),
            (Some(TrackedEntry::File(record)), None) => record.stat = stat,
            _ => unreachable!("what was written is in the record"),
        }
    }
}

/// Sums for the limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Files, links, submodules and directories.
    pub n_entries: usize,
    /// Size of all files and links, in bytes.
    pub n_bytes: u64,
}

impl Totals {
    /// Adds one entry and what is below it.
    pub fn add(&mut self, below: Self) {
        self.n_entries = self.n_entries.saturating_add(below.n_entries).saturating_add(1);
        self.n_bytes = self.n_bytes.saturating_add(below.n_bytes);
    }
}
