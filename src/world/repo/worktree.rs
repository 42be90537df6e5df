//! The directory of one worker: it moves from tree to tree by writing only the differences.
//!
//! Between two moves a test runs in it and may change anything. [`Worktree::settle`] then restores the written files;
//! build products that the tree's own ignore rules cover stay. No hook, filter or configuration is used, and nothing
//! outside of the directory is changed, whatever the tree or the test contains.

use crate::repo::{Repository, files, survey};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::{fs, mem};

use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::repo::conversion::ConversionNotice;
use crate::repo::object::ObjectReader;
use crate::repo::refusal::{Refusal, WriteError, WrittenTreeLimits, split};
use crate::repo::settle::{Settled, Since, settle};
use crate::repo::stat::Directory;
use crate::repo::unchanged::FileTimes;
use crate::repo::write::{MoveResult, WorktreeWriter};
use idd_base::TreeId;

/// The file at the top that belongs to the worker and not to the tree.
pub const GIT_FILE: &[u8] = b".git";

/// A directory with the record of its written files.
#[derive(Debug)]
pub struct Worktree {
    directory: PathBuf,
    root: OwnedFd,
    written: Directory,
    /// The permissions of new directories in it.
    mode: Mode,
    /// The content is unknown: a write was interrupted.
    is_doubtful: bool,
    folds_case: bool,
    limits: WrittenTreeLimits,
    notices: BTreeSet<ConversionNotice>,
    git_file: Option<Vec<u8>>,
    /// The directories that [`Settled::thinned`] named since they were asked for.
    thinned: BTreeSet<Vec<u8>>,
}

impl Worktree {
    /// Takes a directory, with the default [`WrittenTreeLimits`], and empties it.
    pub fn create(directory: &Path) -> Result<Self, WriteError> {
        Self::with_limits(directory, WrittenTreeLimits::default())
    }

    /// Takes a directory, and empties it; a link in its place is replaced.
    pub fn with_limits(directory: &Path, limits: WrittenTreeLimits) -> Result<Self, WriteError> {
        let root = open_root(directory)?;
        let failed = |errno| WriteError::from_errno(errno, "clear", directory.to_path_buf());
        for (name, _) in files::list(root.as_fd()).map_err(failed)? {
            files::remove(root.as_fd(), &name).map_err(failed)?;
        }
        let folds_case = files::folds_case(root.as_fd()).map_err(failed)?;
        Ok(Self {
            directory: directory.to_path_buf(),
            mode: mode_below(root.as_fd()).map_err(failed)?,
            root,
            written: Directory::default(),
            is_doubtful: false,
            folds_case,
            limits,
            notices: BTreeSet::new(),
            git_file: None,
            thinned: BTreeSet::new(),
        })
    }

    /// Its path.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The tree that it contains; `None` if it is empty or half-written.
    pub fn tree_id(&self) -> Option<TreeId> {
        if self.is_doubtful { None } else { self.written.tree_id }
    }

    /// The written files with their state; valid only while [`Self::tree_id`] returns their tree.
    pub fn written(&self) -> &Directory {
        &self.written
    }

    /// Unsupported features of the trees so far, at most 1,000.
    pub fn notices(&self) -> &BTreeSet<ConversionNotice> {
        &self.notices
    }

    /// Writes the `.git` file at the top, and preserves it from now on.
    pub fn set_git_file(&mut self, content: &[u8]) -> Result<(), WriteError> {
        self.git_file = Some(content.to_vec());
        self.restore_git_file()
    }

    /// Makes the files those of `tree_id`. Equal files are not touched. Build products stay if the rules of the tree
    /// ignore them and they are not in the way.
    ///
    /// - After a probe it must have been [settled](Self::settle); changes by a test are not searched here.
    /// - After a refusal the directory is unchanged if [`Self::tree_id`] still returns the same tree; otherwise, and
    ///   after an error, the next move begins from an empty directory.
    ///
    /// Cost: the differences. If ignore rules differ, every file is examined once.
    pub fn move_to(
        &mut self,
        repository: &Repository,
        tree_id: TreeId,
    ) -> Result<Result<MoveResult, Refusal>, WriteError> {
        if self.reopen_if_replaced()? || self.is_doubtful {
            self.wipe()?;
        }
        if self.written.tree_id == Some(tree_id) {
            return Ok(Ok(MoveResult::default()));
        }
        let objects = ObjectReader::open(repository)?;
        let context = survey::SurveyContext { objects: &objects, limits: self.limits, folds_case: self.folds_case };
        if let Err(refusal) = split(survey::survey(&context, &self.written, tree_id))? {
            return Ok(Err(refusal));
        }
        self.is_doubtful = true;
        let older = mem::take(&mut self.written);
        let has_products = older.tree_id.is_some();
        let mut writer = WorktreeWriter::new(repository, &objects, &self.directory, &mut self.notices);
        match split(writer.update(self.root.as_fd(), older, tree_id))? {
            Ok(newer) => self.written = newer,
            Err(refusal) => return Ok(Err(refusal)),
        }
        let moved = writer.moved;
        if writer.has_new_ignore_rules && has_products {
            self.settle_files(&objects, None)?;
        }
        self.is_doubtful = false;
        Ok(Ok(moved))
    }

    /// Gives the files that are the user's the times of the user's files, and with `renews` all others the present time.
    ///
    /// The worktree was empty or [refreshed](Self::refresh) before the last move.
    pub fn date(&mut self, times: &FileTimes, renews: bool) {
        times.give(self.root.as_fd(), &mut self.written, renews);
    }

    /// Makes everything but the times of files as after a first checkout of the same tree: nothing else is left.
    ///
    /// A file stays if its state is that in which it was written, since a program cannot hide a change of it. A file that was
    /// touched in any way is written anew. Cost: examines every file and every name.
    pub fn refresh(&mut self, repository: &Repository) -> Result<(), WriteError> {
        if self.reopen_if_replaced()? || self.is_doubtful {
            return self.wipe();
        }
        self.is_doubtful = true;
        let since = Since { fresh: Some(self.mode), ..Since::default() };
        self.settle_files(&ObjectReader::open(repository)?, Some(since))?;
        self.restore_git_file()?;
        self.is_doubtful = false;
        Ok(())
    }

    /// Removes everything but the directory and the `.git` file at its top.
    pub fn wipe(&mut self) -> Result<(), WriteError> {
        self.reopen_if_replaced()?;
        self.is_doubtful = true;
        self.written = Directory::default();
        let failed = |errno| WriteError::from_errno(errno, "clear", self.directory.clone());
        for (name, file_type) in files::list(self.root.as_fd()).map_err(failed)? {
            if name != GIT_FILE || file_type != FileType::RegularFile {
                files::remove(self.root.as_fd(), &name).map_err(failed)?;
            }
        }
        self.restore_git_file()?;
        self.is_doubtful = false;
        Ok(())
    }

    /// Undoes the changes of a probe: restores tracked files, and removes untracked ones that no ignore rule of the
    /// tree covers and that the build did not make.
    ///
    /// Cost: examines every file and directory, and every name in a directory that changed. It reads the content of
    /// files whose state differs, and of those written last, because a change within one clock tick is not visible.
    /// After a kill it also examines every product.
    pub fn settle(&mut self, repository: &Repository, since: Since) -> Result<Settled, WriteError> {
        self.reopen_if_replaced()?;
        if self.is_doubtful {
            self.wipe()?;
            return Ok(Settled::default());
        }
        self.is_doubtful = true;
        let settled = self.settle_files(&ObjectReader::open(repository)?, Some(since))?;
        self.restore_git_file()?;
        self.is_doubtful = false;
        Ok(settled)
    }

    fn settle_files(&mut self, objects: &ObjectReader<'_>, since: Option<Since>) -> Result<Settled, WriteError> {
        let settled = settle(objects, &self.directory, self.root.as_fd(), &mut self.written, since)?;
        self.thinned.extend(settled.thinned.iter().cloned());
        Ok(settled)
    }

    /// Removes each of these directories (relative to the top) if a tree whose rules cover only a part of what is in it has
    /// made it lose the rest, here or below it.
    pub fn remove_thinned<'p>(&mut self, directories: impl Iterator<Item = &'p Path>) -> Result<(), WriteError> {
        let thinned = mem::take(&mut self.thinned);
        let is_thinned = |path: &&Path| thinned.iter().any(|one| Path::new(OsStr::from_bytes(one)).starts_with(path));
        for path in directories.filter(is_thinned) {
            match self.remove(path) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(WriteError::from_errno(errno, "remove", self.directory.join(path))),
            }
        }
        Ok(())
    }

    /// Removes what is at a path; no link leads out of the directory.
    fn remove(&self, path: &Path) -> Result<(), Errno> {
        let mut above = self.root.try_clone().map_err(|_| Errno::MFILE)?;
        for part in path.parent().into_iter().flat_map(Path::components) {
            above = files::open_directory(above.as_fd(), part.as_os_str().as_bytes())?;
        }
        let name = path.file_name().unwrap_or_default();
        files::remove(above.as_fd(), name.as_bytes()).map(|_| ())
    }

    fn restore_git_file(&self) -> Result<(), WriteError> {
        let Some(content) = &self.git_file else { return Ok(()) };
        if is_regular(self.root.as_fd(), GIT_FILE)
            && files::holds(self.root.as_fd(), GIT_FILE, FileType::RegularFile, content)
        {
            return Ok(());
        }
        let written = files::write_file(self.root.as_fd(), GIT_FILE, content, false);
        written.map(|_| ()).map_err(|errno| WriteError::from_errno(errno, "write", self.directory.join(".git")))
    }

    /// Opens the directory again if the test moved or removed it; returns whether it did.
    fn reopen_if_replaced(&mut self) -> Result<bool, WriteError> {
        let failed = |errno| WriteError::from_errno(errno, "open", self.directory.clone());
        let held = rustix::fs::fstat(&self.root).map_err(failed)?;
        match rustix::fs::lstat(&self.directory) {
            Ok(found) if (found.st_dev, found.st_ino) == (held.st_dev, held.st_ino) => {
                files::unlock(self.root.as_fd()).map_err(failed)?;
                Ok(false)
            }
            Ok(_) | Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => {
                self.root = open_root(&self.directory)?;
                Ok(true)
            }
            Err(errno) => Err(failed(errno)),
        }
    }
}

/// The permissions of a directory that a checkout makes in this one, which the program has made.
fn mode_below(directory: BorrowedFd<'_>) -> Result<Mode, Errno> {
    Ok(files::look_at(directory)?.mode & Mode::from_raw_mode(0o2755))
}

fn is_regular(parent: BorrowedFd<'_>, name: &[u8]) -> bool {
    files::look(parent, name).is_ok_and(|stat| stat.is_some_and(|stat| stat.file_type == FileType::RegularFile))
}

/// Opens the directory itself; only the path to its parent may contain links.
fn open_root(directory: &Path) -> Result<OwnedFd, WriteError> {
    let failed = |errno| WriteError::from_errno(errno, "open", directory.to_path_buf());
    let (Some(parent), Some(name)) = (directory.parent(), directory.file_name()) else {
        return Err(failed(Errno::INVAL));
    };
    let parent = if parent == OsStr::new("") { Path::new(".") } else { parent };
    fs::create_dir_all(parent).map_err(|source| WriteError::Io {
        action: "make the directory",
        path: parent.to_path_buf(),
        source,
    })?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = rustix::fs::openat(CWD, parent, flags, Mode::empty()).map_err(failed)?;
    files::make_directory(parent.as_fd(), name.as_bytes()).map_err(failed)
}
