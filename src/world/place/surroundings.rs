//! What a probe sees of the user's working tree beside the tracked files.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use crate::world::place::Place;
use crate::world::repo::unchanged::Times;

/// Where a probe sees its checkout, and what is visible in it.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The place; `None` if it is the directory of the checkout.
    pub place: Option<Arc<Place>>,
    /// The environment: what the test needs. Its untracked files are held, and so part of the tree.
    pub shown: Vec<Shown>,
    /// The files of the environment that are part of the tree, although no revision has them.
    pub held: BTreeSet<Vec<u8>>,
    /// The times of the user's files, if products of the user's build are visible.
    pub times: Option<Arc<Times>>,
    /// Caches of build tools. They only save time, and no claim sees them.
    pub caches: Vec<Shown>,
}

/// A file or directory of the user's working tree that probes see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
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
    /// The path at which commands see the checkout `tree`.
    pub fn seen<'p>(&'p self, tree: &'p Path) -> &'p Path {
        self.place.as_ref().map_or(tree, |place| &place.top)
    }
}

impl Shown {
    /// Whether it is mounted if the place has overlays.
    pub fn is_mounted(&self) -> bool {
        self.is_large && self.source.is_dir()
    }

    /// Makes a mount point for it below the checkout `tree`; `None` if the tree or a build has something at this path.
    pub fn mount_point(&self, tree: &Path) -> io::Result<Option<PathBuf>> {
        let Some(target) = self.free_path(tree)? else { return Ok(None) };
        match fs::create_dir(&target) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(Some(target)),
        }
    }

    /// Copies it into the checkout `tree`, unless the tree or a build has something at this path.
    pub fn copy(&self, tree: &Path) -> io::Result<()> {
        match self.free_path(tree)? {
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

/// Copies a file, a link or a directory with the times of its files; no link is followed, and what is none of these is
/// left out.
fn copy(source: &Path, target: &Path) -> io::Result<()> {
    let metadata = fs::symlink_metadata(source)?;
    if metadata.is_symlink() {
        return symlink(fs::read_link(source)?, target);
    }
    if metadata.is_file() {
        fs::copy(source, target)?;
        return File::open(target)?.set_modified(metadata.modified()?);
    }
    if metadata.is_dir() {
        if !target.is_dir() {
            fs::create_dir(target)?;
        }
        for entry in fs::read_dir(source)? {
            let entry = entry?;
            copy(&entry.path(), &target.join(entry.file_name()))?;
        }
    }
    Ok(())
}
