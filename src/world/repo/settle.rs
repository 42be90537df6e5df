//! After a probe: restores tracked files, and removes untracked ones unless the tree ignores them or the build made them.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{FileType, Mode, fchmod};
use rustix::io::Errno;

use crate::repo::attention::attention;
use crate::repo::files;
use crate::repo::ignored::{IgnoreFile, IgnoreStack};
use crate::repo::object::ObjectReader;
use crate::repo::refusal::WriteError;
use crate::repo::stat::{Directory, FileRecord, TrackedEntry};
use crate::repo::worktree::GIT_FILE;
use crate::repo::write::{content, write};

/// The maximum number of paths in the report.
const MAX_TAMPERED: usize = 100;

/// The maximum depth of untracked directories; deeper ones are removed as a whole.
const MAX_DEPTH: usize = 256;

/// The changes that the probe made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settled {
    /// Tracked files and links that were changed, replaced or missing: sorted, the first 100, raw paths from the root.
    pub tampered: Vec<Vec<u8>>,
    /// Untracked files and directories that were removed.
    pub removed_untracked: usize,
    /// Untracked directories that stay because a rule covers a part of what is in them, and whose other files were removed: raw
    /// paths from the root.
    pub thinned: Vec<Vec<u8>>,
    /// Removed files that look like products of a build, in the order of removal: the first 100, raw paths from the root.
    pub products: Vec<Vec<u8>>,
}

/// What is known of the commands that ran. Times are those of the clock of the file system.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Since {
    /// If the commands were killed, the time at which they were started. Build products that changed since then can be
    /// half-written, and no later build would notice, so they are removed too.
    pub cut_ns: Option<i128>,
    /// A time after the end of the build and before the start of the test, if both are known. Untracked files that have not
    /// changed since then are products of the build. Beside products that a rule covers, they stay as well.
    pub built_ns: Option<i128>,
    /// If everything must be as after a first checkout, the permissions of directories: nothing untracked stays, and files
    /// that were touched are written again.
    pub fresh: Option<Mode>,
}

/// Restores the files below `root` to the state in `written`, and updates the record.
///
/// - `since`: `None` if no command ran, but the ignore rules have changed. Otherwise the names of an unchanged directory are
///   not read again: adding, removing or renaming an entry changes the directory. Files are always examined.
pub fn settle(
    objects: &ObjectReader<'_>,
    directory: &Path,
    root: BorrowedFd<'_>,
    written: &mut Directory,
    since: Option<Since>,
) -> Result<Settled, WriteError> {
    let last_ctime_ns = last_ctime_ns(written);
    let may_know_names = since.is_some_and(|since| since.cut_ns.is_none() && since.fresh.is_none());
    let mut settler = Settler {
        objects,
        directory,
        path: Vec::new(),
        depth: 0,
        ignored: IgnoreStack::default(),
        attention: may_know_names.then(|| attention(root, written, last_ctime_ns)),
        last_ctime_ns,
        since: since.unwrap_or_default(),
        keeps_built: false,
        settled: Settled::default(),
    };
    settler.directory(root, written, false)?;
    let mut settled = settler.settled;
    settled.tampered.sort();
    settled.tampered.truncate(MAX_TAMPERED);
    Ok(settled)
}

/// Extensions of files that compilers and linkers write.
const PRODUCTS: [&[u8]; 15] = [
    b"a", b"class", b"cmi", b"cmo", b"cmx", b"d", b"dylib", b"exe", b"gch", b"hi", b"jar", b"lo", b"o", b"rlib", b"so",
];

/// Whether an untracked file is probably a product of a build: by its extension, or as a program without one.
fn is_product(parent: BorrowedFd<'_>, name: &[u8], file_type: FileType) -> bool {
    if file_type != FileType::RegularFile {
        return false;
    }
    match name.iter().rposition(|byte| *byte == b'.') {
        Some(dot) => PRODUCTS.contains(&&name[dot + 1..]),
        None => files::begins_with(parent, name, b"\x7fELF"),
    }
}

/// The last tick of the file system's clock that is known to have passed when the probe began.
///
/// If a file was written before this tick, a later change shows in its `ctime`; otherwise it may not.
fn last_ctime_ns(directory: &Directory) -> i128 {
    let of_node = |node: &TrackedEntry| match node {
        TrackedEntry::File(record) => record.stat.ctime_ns,
        TrackedEntry::Directory(below) => last_ctime_ns(below),
        TrackedEntry::Submodule(_) => i128::MIN,
    };
    directory.entries.values().map(of_node).max().unwrap_or(i128::MIN)
}

struct Settler<'a> {
    objects: &'a ObjectReader<'a>,
    directory: &'a Path,
    path: Vec<u8>,
    depth: usize,
    ignored: IgnoreStack,
    /// The paths to examine; `None` for all.
    attention: Option<HashSet<Vec<u8>>>,
    last_ctime_ns: i128,
    since: Since,
    /// Whether products stay that no rule covers, since others stay in this directory, or above, that a rule covers.
    keeps_built: bool,
    settled: Settled,
}

impl Settler<'_> {
    /// - `is_ignored`: a rule covers the directory or one above it, so untracked files in it stay.
    fn directory(
        &mut self,
        handle: BorrowedFd<'_>,
        written: &mut Directory,
        is_ignored: bool,
    ) -> Result<(), WriteError> {
        let rules = match written.regular_blob(b".gitignore") {
            Some(blob_id) => IgnoreFile::parse(&self.objects.blob(blob_id)?),
            None => IgnoreFile::default(),
        };
        self.ignored.push(if self.path.is_empty() { 0 } else { self.path.len() + 1 }, rules);
        self.depth += 1;
        let kept_before = self.keeps_built;
        let looks = files::look_at(handle).map_err(|errno| self.failed(errno, "look at"))?;
        if let Some(mode) = self.since.fresh.filter(|mode| self.depth > 1 && looks.mode != *mode) {
            fchmod(handle, mode).map_err(|errno| self.failed(errno, "restore"))?;
        }
        let is_known = written.settled == Some(looks) && looks.ctime_ns < self.last_ctime_ns;
        if !(is_known && self.attention.is_some()) {
            let mut is_settled = true;
            let n_products = self.settled.products.len();
            // Untracked entries first: on a case-insensitive file system one of them can have the name of a tracked
            // file.
            let mut entries = files::list(handle).map_err(|errno| self.failed(errno, "list"))?;
            entries.retain(|(name, _)| !written.entries.contains_key(name));
            let is_kept = |(name, file_type): &(Vec<u8>, FileType)| {
                let path = if self.path.is_empty() { name.clone() } else { [&self.path[..], b"/", name].concat() };
                is_product(handle, name, *file_type) && self.ignored.is_ignored(&path, false)
            };
            self.keeps_built |= self.since.built_ns.is_some() && entries.iter().any(is_kept);
            for (name, file_type) in &entries {
                is_settled &= self.at(name, |settler| settler.untracked(handle, name, *file_type, is_ignored))?;
            }
            // What a build made here goes as a whole: an object without its list of headers would not be made again.
            if self.settled.products[n_products..].iter().any(|path| self.is_here(path)) {
                for (name, _) in entries.iter().filter(|(name, file_type)| is_product(handle, name, *file_type)) {
                    let n_removed = files::remove(handle, name).map_err(|errno| self.failed(errno, "remove"))?;
                    self.settled.removed_untracked += n_removed;
                }
            }
            // The state before: if something was added or removed in the meantime, the directory is examined again.
            written.settled = is_settled.then_some(looks);
        }
        for (name, node) in &mut written.entries {
            self.at(name, |settler| settler.tracked(handle, name, node, is_ignored))?;
        }
        self.keeps_built = kept_before;
        self.depth -= 1;
        self.ignored.pop();
        Ok(())
    }

    /// Whether a path is that of an entry of the present directory.
    fn is_here(&self, path: &[u8]) -> bool {
        let name = if self.path.is_empty() { Some(path) } else { path[self.path.len()..].strip_prefix(b"/") };
        name.is_some_and(|name| !name.contains(&b'/'))
    }

    fn at<T>(&mut self, name: &[u8], step: impl FnOnce(&mut Self) -> Result<T, WriteError>) -> Result<T, WriteError> {
        let path_bytes = self.path.len();
        if path_bytes > 0 {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(name);
        let result = step(self);
        self.path.truncate(path_bytes);
        result
    }

    /// Removes an untracked entry, unless an ignore rule covers it or the build made it.
    ///
    /// Result: whether the entry needs no examination next time: it was removed, or a rule covers it with all its content.
    fn untracked(
        &mut self,
        parent: BorrowedFd<'_>,
        name: &[u8],
        file_type: FileType,
        is_ignored: bool,
    ) -> Result<bool, WriteError> {
        let is_top = self.depth == 1;
        let is_directory = file_type == FileType::Directory;
        if is_top && name == GIT_FILE && file_type == FileType::RegularFile {
            return Ok(true);
        }
        if self.since.fresh.is_some() {
            files::remove(parent, name).map_err(|errno| self.failed(errno, "remove"))?;
            return Ok(true);
        }
        // No rule covers a `.git`, at the top or in a directory that is not ignored as a whole.
        if is_ignored || name != GIT_FILE && self.ignored.is_ignored(&self.path, is_directory) {
            if let Some(cut_ns) = self.since.cut_ns {
                self.remove_written_since(parent, name, cut_ns)?;
            }
            return Ok(true);
        }
        if is_directory && name != GIT_FILE && self.depth < MAX_DEPTH {
            let below = files::open_directory(parent, name).map_err(|errno| self.failed(errno, "open"))?;
            let is_repository =
                files::look(below.as_fd(), GIT_FILE).map_err(|errno| self.failed(errno, "look at"))?.is_some();
            if !is_repository {
                let n_before = self.settled.removed_untracked;
                self.directory(below.as_fd(), &mut Directory::default(), false)?;
                let is_thinner = self.settled.removed_untracked > n_before;
                let is_gone = files::remove_directory_if_empty(parent, name);
                let is_gone = is_gone.map_err(|errno| self.failed(errno, "remove"))?;
                self.settled.removed_untracked += usize::from(is_gone);
                if is_thinner && !is_gone {
                    self.settled.thinned.push(self.path.clone());
                }
                return Ok(is_gone);
            }
        }
        if !is_directory
            && self.keeps_built
            && let Some(built_ns) = self.since.built_ns
            && let Some(stat) = files::look(parent, name).map_err(|errno| self.failed(errno, "look at"))?
            && stat.ctime_ns < built_ns
        {
            return Ok(false);
        }
        if self.settled.products.len() < MAX_TAMPERED && is_product(parent, name, file_type) {
            self.settled.products.push(self.path.clone());
        }
        let n_removed = files::remove(parent, name).map_err(|errno| self.failed(errno, "remove"))?;
        self.settled.removed_untracked += n_removed;
        Ok(true)
    }

    fn remove_written_since(&mut self, parent: BorrowedFd<'_>, name: &[u8], cut_ns: i128) -> Result<(), WriteError> {
        let Some(stat) = files::look(parent, name).map_err(|errno| self.failed(errno, "look at"))? else {
            return Ok(());
        };
        if stat.file_type != FileType::Directory {
            if stat.ctime_ns >= cut_ns {
                files::remove(parent, name).map_err(|errno| self.failed(errno, "remove"))?;
            }
            return Ok(());
        }
        self.depth += 1;
        if self.depth < MAX_DEPTH {
            let below = files::open_directory(parent, name).map_err(|errno| self.failed(errno, "open"))?;
            for (name, _) in files::list(below.as_fd()).map_err(|errno| self.failed(errno, "list"))? {
                self.at(&name, |settler| settler.remove_written_since(below.as_fd(), &name, cut_ns))?;
            }
        } else {
            files::remove(parent, name).map_err(|errno| self.failed(errno, "remove"))?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn tracked(
        &mut self,
        parent: BorrowedFd<'_>,
        name: &[u8],
        node: &mut TrackedEntry,
        is_ignored: bool,
    ) -> Result<(), WriteError> {
        if self.attention.as_ref().is_some_and(|attention| !attention.contains(&self.path)) {
            return Ok(());
        }
        let mut nothing = Directory::default();
        let below = match node {
            TrackedEntry::File(record) => return self.file(parent, name, record),
            TrackedEntry::Directory(below) => below,
            TrackedEntry::Submodule(_) => &mut nothing,
        };
        let is_ignored = is_ignored || self.ignored.is_ignored(&self.path, true);
        let handle = files::make_directory(parent, name).map_err(|errno| self.failed(errno, "restore"))?;
        self.directory(handle.as_fd(), below, is_ignored)
    }

    fn file(&mut self, parent: BorrowedFd<'_>, name: &[u8], record: &mut FileRecord) -> Result<(), WriteError> {
        let found = files::look(parent, name).map_err(|errno| self.failed(errno, "look at"))?;
        let is_plain = found == Some(record.stat) && record.stat.ctime_ns < self.last_ctime_ns;
        let is_touched = record.is_touched || !is_plain;
        let is_rewritten = self.since.fresh.is_some() && is_touched;
        if is_plain && !is_rewritten {
            return Ok(());
        }
        let expected = content(self.objects, record.blob_id, record.form)?;
        if let Some(stat) = found.filter(|_| !is_rewritten)
            && (stat.file_type, stat.mode) == (record.stat.file_type, record.stat.mode)
            && files::holds(parent, name, stat.file_type, &expected)
        {
            // Only its times or its number of links changed.
            (record.stat, record.is_touched) = (stat, is_touched);
            return Ok(());
        }
        self.settled.tampered.push(self.path.clone());
        record.stat = write(parent, name, &expected, record.form).map_err(|errno| self.failed(errno, "restore"))?;
        record.is_touched = false;
        Ok(())
    }

    fn failed(&self, errno: Errno, action: &'static str) -> WriteError {
        WriteError::from_errno(errno, action, self.directory.join(OsStr::from_bytes(&self.path)))
    }
}
