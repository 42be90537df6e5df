//! Writes the differences between the present files and a tree.
//!
//! The record of the written files is the older tree. It is walked together with the newer one; directories with the
//! same tree object are skipped. In each directory, missing entries are removed before anything is written. Contents
//! are written last, all [at once](crate::repo::fill).

use crate::repo::{Repository, files};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::mem;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::repo::attributes::{AttributeFile, AttributeStack};
use crate::repo::conversion::{Conversion, ConversionNotice};
use crate::repo::fill::{self, Filled, PendingFile, fill};
use crate::repo::object::{EntryKind, ObjectReader, TreeEntry};
use crate::repo::refusal::{MoveStop, WriteError};
use crate::repo::stat::{BlobForm, Directory, FileRecord, FileStat, Totals, TrackedEntry};
use idd_base::{BlobId, CommitId, TreeId};

/// The maximum number of notices; a tree can have any number of them.
const MAX_NOTICES: usize = 1000;

/// The result of a move.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MoveResult {
    /// Files and links written.
    pub n_written: usize,
    /// Removed files and links, without rewritten ones.
    pub n_removed: usize,
}

/// A running move; its record is valid only if the move is complete.
pub struct WorktreeWriter<'a> {
    repository: &'a Repository,
    objects: &'a ObjectReader<'a>,
    directory: &'a Path,
    notices: &'a mut BTreeSet<ConversionNotice>,
    path: Vec<u8>,
    attributes: AttributeStack,
    /// Files that must still be written.
    pending: Vec<PendingFile>,
    /// The changes so far.
    pub moved: MoveResult,
    /// Whether a `.gitignore` was added, changed or removed.
    pub has_new_ignore_rules: bool,
}

impl<'a> WorktreeWriter<'a> {
    /// `directory`: only for messages.
    pub fn new(
        repository: &'a Repository,
        objects: &'a ObjectReader<'a>,
        directory: &'a Path,
        notices: &'a mut BTreeSet<ConversionNotice>,
    ) -> Self {
        Self {
            repository,
            objects,
            directory,
            notices,
            path: Vec::new(),
            attributes: AttributeStack::default(),
            pending: Vec::new(),
            moved: MoveResult::default(),
            has_new_ignore_rules: false,
        }
    }

    /// Changes the files of `older`, below `root`, into those of the tree, which must have been surveyed.
    pub fn update(&mut self, root: BorrowedFd<'_>, older: Directory, tree_id: TreeId) -> Result<Directory, MoveStop> {
        let mut newer = self.prepare(root, older, tree_id, false)?;
        let pending = mem::take(&mut self.pending);
        let filled = fill(self.repository, self.objects, root, self.directory, &pending)?;
        self.moved.n_written += filled.len();
        for (PendingFile { path, .. }, Filled { stat, is_lfs_pointer }) in pending.into_iter().zip(filled) {
            newer.set_stat(&path, stat);
            if is_lfs_pointer {
                self.notice(ConversionNotice::LfsPointer { path });
            }
        }
        Ok(newer)
    }

    /// Removes missing entries, creates directories, and collects the files to write: the record has an empty [`FileStat`]
    /// for them.
    ///
    /// - `has_new_attributes`: whether a `.gitattributes` above differs, so that equal blobs can give different files.
    fn prepare(
        &mut self,
        directory: BorrowedFd<'_>,
        mut older: Directory,
        tree_id: TreeId,
        has_new_attributes: bool,
    ) -> Result<Directory, MoveStop> {
        let entries: BTreeMap<_, _> =
            self.objects.tree(tree_id, &self.path)?.into_iter().map(|entry| (entry.name.clone(), entry)).collect();
        let newer_blob = |name: &str| entries.get(name.as_bytes()).and_then(TreeEntry::regular_blob);
        self.has_new_ignore_rules |= newer_blob(".gitignore") != older.regular_blob(b".gitignore");
        let attributes = newer_blob(".gitattributes");
        let has_new_attributes = has_new_attributes || attributes != older.regular_blob(b".gitattributes");
        let file = match attributes {
            Some(blob_id) => AttributeFile::parse(&self.objects.blob(blob_id)?),
            None => AttributeFile::default(),
        };
        let path_bytes = self.path.len();
        self.attributes.push(if path_bytes == 0 { 0 } else { path_bytes + 1 }, file);

        let (kept, gone): (BTreeMap<_, _>, BTreeMap<_, _>) =
            mem::take(&mut older.entries).into_iter().partition(|(name, node)| becomes(node, entries.get(name)));
        for (name, node) in gone {
            self.at(&name, |writer| writer.take_away(directory, &name, node))?;
        }
        let mut newer = Directory { tree_id: Some(tree_id), ..Directory::default() };
        let mut kept = kept;
        for (name, entry) in entries {
            let older = kept.remove(&name);
            let node = self.at(&name, |writer| writer.entry(directory, older, &entry, has_new_attributes))?;
            newer.totals.add(match &node {
                TrackedEntry::File(record) => Totals { n_bytes: record.stat.n_bytes, ..Totals::default() },
                TrackedEntry::Directory(below) => below.totals,
                TrackedEntry::Submodule(_) => Totals::default(),
            });
            newer.entries.insert(name, node);
        }
        self.attributes.pop();
        Ok(newer)
    }

    /// Runs a step with `name` appended to the path.
    fn at<T>(&mut self, name: &[u8], step: impl FnOnce(&mut Self) -> Result<T, MoveStop>) -> Result<T, MoveStop> {
        let path_bytes = self.path.len();
        if path_bytes > 0 {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(name);
        let result = step(self);
        self.path.truncate(path_bytes);
        result
    }

    fn entry(
        &mut self,
        parent: BorrowedFd<'_>,
        older: Option<TrackedEntry>,
        entry: &TreeEntry,
        has_new_attributes: bool,
    ) -> Result<TrackedEntry, MoveStop> {
        match (entry.kind, older) {
            (EntryKind::Tree, Some(TrackedEntry::Directory(below)))
                if below.tree_id == Some(TreeId(entry.id)) && !has_new_attributes =>
            {
                Ok(TrackedEntry::Directory(below))
            }
            (EntryKind::Tree, older) => {
                let below = if let Some(TrackedEntry::Directory(below)) = older { below } else { Directory::default() };
                let made = files::make_directory(parent, &entry.name).map_err(|errno| self.stop(errno))?;
                Ok(TrackedEntry::Directory(self.prepare(made.as_fd(), below, TreeId(entry.id), has_new_attributes)?))
            }
            (EntryKind::Submodule, older) => self.submodule(parent, older, entry),
            (EntryKind::File { is_executable }, Some(TrackedEntry::File(record)))
                if !has_new_attributes
                    && record.blob_id.0 == entry.id
                    && matches!(record.form, BlobForm::File { is_executable: is, .. } if is == is_executable) =>
            {
                Ok(TrackedEntry::File(record))
            }
            (EntryKind::File { is_executable }, older) => {
                let blob_id = BlobId(entry.id);
                let (conversion, notices) = Conversion::choose(&self.attributes.lookup(&self.path));
                for notice in notices {
                    self.notice(notice);
                }
                Ok(self.file(older, blob_id, BlobForm::File { is_executable, conversion }))
            }
            (EntryKind::Link, older) => Ok(self.file(older, BlobId(entry.id), BlobForm::Link)),
        }
    }

    /// A submodule is written as the tree of its commit; attributes of the outer tree do not apply in it.
    fn submodule(
        &mut self,
        parent: BorrowedFd<'_>,
        older: Option<TrackedEntry>,
        entry: &TreeEntry,
    ) -> Result<TrackedEntry, MoveStop> {
        let commit_id = CommitId(entry.id);
        let Some(tree_id) = self.objects.submodule(commit_id, &self.path)? else {
            files::make_directory(parent, &entry.name).map_err(|errno| self.stop(errno))?;
            return Ok(TrackedEntry::Submodule(commit_id));
        };
        let below = match older {
            Some(TrackedEntry::Directory(below)) if below.tree_id == Some(tree_id) => below,
            older => {
                let made = files::make_directory(parent, &entry.name).map_err(|errno| self.stop(errno))?;
                let below = if let Some(TrackedEntry::Directory(below)) = older { below } else { Directory::default() };
                let around = mem::take(&mut self.attributes);
                let below = self.prepare(made.as_fd(), below, tree_id, false);
                self.attributes = around;
                below?
            }
        };
        Ok(TrackedEntry::Directory(Directory { submodule: Some(commit_id), ..below }))
    }

    fn file(&mut self, older: Option<TrackedEntry>, blob_id: BlobId, form: BlobForm) -> TrackedEntry {
        match older {
            Some(TrackedEntry::File(record)) if record.blob_id == blob_id && record.form == form => {
                TrackedEntry::File(record)
            }
            _ => {
                self.pending.push(PendingFile { path: self.path.clone(), blob_id, form });
                TrackedEntry::File(FileRecord { blob_id, form, stat: FileStat::default(), is_touched: false })
            }
        }
    }

    /// Removes the written files, and then empty directories; build products stay.
    fn take_away(&mut self, parent: BorrowedFd<'_>, name: &[u8], node: TrackedEntry) -> Result<(), MoveStop> {
        let result = match node {
            TrackedEntry::File(_) => {
                self.has_new_ignore_rules |= name == b".gitignore";
                self.moved.n_removed += 1;
                files::remove(parent, name).map(|_| ())
            }
            TrackedEntry::Submodule(_) => files::remove_directory_if_empty(parent, name).map(|_| ()),
            TrackedEntry::Directory(below) => match files::open_directory(parent, name) {
                Ok(directory) => {
                    for (name, node) in below.entries {
                        self.at(&name, |writer| writer.take_away(directory.as_fd(), &name, node))?;
                    }
                    files::remove_directory_if_empty(parent, name).map(|_| ())
                }
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(()),
                Err(errno) => Err(errno),
            },
        };
        result.map_err(|errno| WriteError::from_errno(errno, "remove", self.full_path()).into())
    }

    fn notice(&mut self, notice: ConversionNotice) {
        if self.notices.len() < MAX_NOTICES {
            self.notices.insert(notice);
        }
    }

    fn stop(&self, errno: Errno) -> MoveStop {
        fill::stop(errno, self.directory, &self.path)
    }

    fn full_path(&self) -> PathBuf {
        self.directory.join(OsStr::from_bytes(&self.path))
    }
}

/// Whether the present entry can become the new one in place.
fn becomes(node: &TrackedEntry, entry: Option<&TreeEntry>) -> bool {
    let Some(entry) = entry else { return false };
    match node {
        TrackedEntry::File(_) => !entry.kind.is_directory(),
        TrackedEntry::Directory(Directory { submodule: Some(_), .. }) => entry.kind == EntryKind::Submodule,
        TrackedEntry::Directory(_) => entry.kind == EntryKind::Tree,
        TrackedEntry::Submodule(_) => entry.kind.is_directory(),
    }
}

/// The content of a file of this form, or the target of a link.
pub fn content(objects: &ObjectReader<'_>, blob_id: BlobId, form: BlobForm) -> Result<Vec<u8>, WriteError> {
    let stored = objects.blob(blob_id)?;
    Ok(match form {
        BlobForm::File { conversion, .. } => conversion.apply(stored, blob_id),
        BlobForm::Link => stored,
    })
}

/// Writes it.
pub fn write(parent: BorrowedFd<'_>, name: &[u8], content: &[u8], form: BlobForm) -> Result<FileStat, Errno> {
    match form {
        BlobForm::File { is_executable, .. } => files::write_file(parent, name, content, is_executable),
        BlobForm::Link => files::write_link(parent, name, content),
    }
}
