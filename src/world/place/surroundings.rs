//! What a probe sees of the user's working tree beside the tracked files.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use sha2::{Digest as _, Sha256};

use crate::place::ProbePlace;
use crate::repo::unchanged::FileTimes;
use crate::system::view::{Mount, MountView};
use crate::{files, system};

/// The directory in a sandbox that keeps what commands change in directories of the user, as they see them.
pub const CHANGES: &str = "changes";

/// Where a probe sees its checkout, and what is visible in it.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The place; `None` if it is the directory of the checkout.
    pub place: Option<Arc<ProbePlace>>,
    /// The environment: what the test needs. Its untracked files are held, and so part of the tree.
    pub shown: Vec<ShownPath>,
    /// The files of the environment that are part of the tree, although no revision has them.
    pub held: BTreeSet<Vec<u8>>,
    /// Those that revisions have, and the user has changed: what was built with one version says nothing of the other.
    pub edited: BTreeSet<Vec<u8>>,
    /// The times of the user's files, if products of the user's build are visible.
    pub times: Option<Arc<FileTimes>>,
    /// Whether directories of the environment have compiled code.
    pub has_objects: bool,
    /// Caches of build tools. They only save time, and no claim sees them.
    pub caches: Vec<ShownPath>,
}

/// A file or directory of the user's working tree that probes see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownPath {
    /// Its path, relative to the top.
    pub path: PathBuf,
    /// It.
    pub source: PathBuf,
    /// Whether it is mounted rather than copied, if that is possible; large files are always copied.
    pub is_large: bool,
    /// The digest of its names, sizes and times.
    pub digest: [u8; 32],
}

impl Surroundings {
    /// What a command in the checkout `tree` of a sandbox sees; `None` if it sees the checkout where it is.
    ///
    /// - `sandbox`: the directory of the sandbox; changes of shown directories are kept in it.
    /// - `sees_caches`: not for a claim.
    pub fn view(&self, sandbox: &Path, tree: &Path, sees_caches: bool) -> io::Result<Option<MountView>> {
        let Some(place) = &self.place else { return Ok(None) };
        let caches = self.caches.iter().filter(|_| sees_caches);
        let mut overlays = Vec::new();
        for shown in self.shown.iter().chain(caches).filter(|shown| self.is_mounted(shown)) {
            let Some(to) = shown.mount_point(tree)? else { continue };
            let changes = sandbox.join(CHANGES).join(files::short_digest(&shown.path));
            let [upper, work] = ["upper", "work"].map(|part| changes.join(part));
            fs::create_dir_all(&upper)?;
            fs::create_dir_all(&work)?;
            overlays.push(Mount::Overlay { lower: shown.source.clone(), upper, work, to });
        }
        if let Some(name) = place.mount_point() {
            fs::create_dir_all(sandbox.join(name))?;
        }
        Ok(Some(place.view(sandbox, tree, overlays)))
    }

    /// Whether something in the checkout `tree`, such as a fresh build, stands where a cache would be mounted.
    pub fn hides_caches(&self, tree: &Path) -> bool {
        let is_hidden = |cache: &ShownPath| matches!(cache.free_path(tree), Ok(None));
        self.caches.iter().filter(|cache| self.is_mounted(cache)).any(is_hidden)
    }

    /// What a probe sees of the user's working tree, and which of its tracked files are as the user edited them.
    pub fn seen_of_user(&self) -> (Vec<ShownPath>, BTreeSet<Vec<u8>>) {
        (self.shown.clone(), self.edited.clone())
    }

    /// Copies into the checkout `tree` what is not mounted there.
    pub fn copy(&self, tree: &Path) -> io::Result<()> {
        self.copied().try_for_each(|shown| shown.copy(tree))
    }

    /// What is copied.
    pub fn copied(&self) -> impl Iterator<Item = &ShownPath> {
        self.shown.iter().filter(|shown| !self.is_mounted(shown))
    }

    /// Whether the file at this path was copied.
    pub fn has_copied(&self, path: &[u8]) -> bool {
        self.copied().any(|shown| Path::new(OsStr::from_bytes(path)).starts_with(&shown.path))
    }

    /// Whether commands see it through a mount, so that they cannot remove or rename it.
    pub fn is_mounted(&self, shown: &ShownPath) -> bool {
        let has_overlays = self.place.as_ref().is_some_and(|place| place.has_overlays);
        has_overlays && shown.is_large && shown.source.is_dir()
    }

    /// The path at which commands see the checkout `tree`.
    pub fn seen<'p>(&'p self, tree: &'p Path) -> &'p Path {
        self.place.as_ref().map_or(tree, |place| &place.top)
    }
}

impl ShownPath {
    /// The same as a copy, which commands can remove. What they show with it is told apart from what they show with the mount.
    #[must_use]
    pub fn copied(&self) -> Self {
        let digest = Sha256::new().chain_update(self.digest).chain_update("copied").finalize().into();
        Self { is_large: false, digest, ..self.clone() }
    }

    /// Makes a mount point for it below the checkout `tree`; `None` if the tree or a build has something at this path.
    fn mount_point(&self, tree: &Path) -> io::Result<Option<PathBuf>> {
        let Some(target) = self.free_path(tree)? else { return Ok(None) };
        match fs::create_dir(&target) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(Some(target)),
        }
    }

    /// Copies it into the checkout `tree`, unless the tree or a build has something at this path.
    fn copy(&self, tree: &Path) -> io::Result<()> {
        // The checkouts can be below it.
        match self.free_path(tree)?.filter(|target| !target.starts_with(&self.source)) {
            Some(target) => copy(&self.source, &target),
            None => Ok(()),
        }
    }

    /// Its path below `tree`; `None` if something is there, or if a directory above it is something else. An empty
    /// directory is nothing.
    fn free_path(&self, tree: &Path) -> io::Result<Option<PathBuf>> {
        let mut above = tree.to_owned();
        for part in self.path.parent().into_iter().flat_map(Path::components) {
            above.push(part);
            match fs::symlink_metadata(&above) {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(_) => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir(&above)?,
                Err(error) => return Err(error),
            }
        }
        let target = tree.join(&self.path);
        Ok(match fs::symlink_metadata(&target) {
            Ok(metadata) => (metadata.is_dir() && fs::read_dir(&target)?.next().is_none()).then_some(target),
            Err(_) => Some(target),
        })
    }
}

/// Copies a file, a link, a named pipe or a directory, with the times of its files. Links are not followed. What the user may
/// not read, what is gone in the meantime, sockets and devices are left out.
///
/// Errors: the copy cannot be written.
fn copy(source: &Path, target: &Path) -> io::Result<()> {
    let Some(metadata) = readable(fs::symlink_metadata(source))? else { return Ok(()) };
    if metadata.is_symlink() {
        return readable(fs::read_link(source))?.map_or(Ok(()), |to| symlink(to, target));
    }
    if metadata.is_file() {
        return match readable(fs::copy(source, target))? {
            Some(_) => File::open(target)?.set_modified(metadata.modified()?),
            None => Ok(()),
        };
    }
    if metadata.file_type().is_fifo() {
        return system::make_pipe(target, metadata.mode());
    }
    let Some(entries) = readable(fs::read_dir(source)).ok().flatten().filter(|_| metadata.is_dir()) else {
        return Ok(());
    };
    if !target.is_dir() {
        fs::create_dir(target)?;
    }
    entries.flatten().try_for_each(|entry| copy(&entry.path(), &target.join(entry.file_name())))?;
    fs::set_permissions(target, metadata.permissions())
}

/// What was read of a file of the user; `None` if it may not be read, is gone, or has too long a path.
fn readable<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    use io::ErrorKind::{InvalidFilename, NotFound, PermissionDenied};
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if matches!(error.kind(), PermissionDenied | NotFound | InvalidFilename) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::Command;

    fn shown(source: &Path) -> ShownPath {
        ShownPath { path: "a/b".into(), source: source.to_owned(), is_large: false, digest: [0; 32] }
    }

    #[test]
    fn a_copy_has_what_can_be_read_and_its_times() {
        let place = tempfile::tempdir().unwrap();
        let (source, tree) = (place.path().join("source"), place.path().join("tree"));
        fs::create_dir_all(source.join("deep")).unwrap();
        fs::create_dir(&tree).unwrap();
        fs::write(source.join("deep/file"), "text").unwrap();
        fs::write(source.join("secret"), "text").unwrap();
        fs::set_permissions(source.join("secret"), fs::Permissions::from_mode(0o000)).unwrap();
        symlink("/nowhere", source.join("link")).unwrap();
        assert!(Command::new("mkfifo").arg(source.join("pipe")).status().unwrap().success());
        let then = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        File::open(source.join("deep/file")).unwrap().set_modified(then).unwrap();
        shown(&source).copy(&tree).unwrap();
        let copied = tree.join("a/b");
        assert_eq!(fs::metadata(copied.join("deep/file")).unwrap().modified().unwrap(), then);
        assert_eq!(fs::read_link(copied.join("link")).unwrap(), Path::new("/nowhere"));
        assert!(fs::metadata(copied.join("pipe")).unwrap().file_type().is_fifo());
        // Only the administrator can read everything.
        assert_eq!(copied.join("secret").exists(), fs::read(source.join("secret")).is_ok());
        // What is there stays.
        fs::write(copied.join("deep/file"), "changed").unwrap();
        shown(&source).copy(&tree).unwrap();
        assert_eq!(fs::read_to_string(copied.join("deep/file")).unwrap(), "changed");
    }

    #[test]
    fn what_is_gone_is_left_out_and_a_link_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        shown(&place.path().join("gone")).copy(place.path()).unwrap();
        let (tree, outside) = (place.path().join("tree"), place.path().join("outside"));
        fs::create_dir(&tree).unwrap();
        fs::create_dir(&outside).unwrap();
        symlink(&outside, tree.join("a")).unwrap();
        fs::write(place.path().join("file"), "").unwrap();
        shown(&place.path().join("file")).copy(&tree).unwrap();
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    }
}
