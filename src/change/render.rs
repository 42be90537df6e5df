//! From a subset of units back to files.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use thiserror::Error;

use crate::file::{EntryContent, EntryMode, FilePair, FileSide};
use crate::needs::above;
use crate::set::{ChangeSet, Description};
use crate::subset::{Subset, UnitId};
use crate::unit::{MovedPiece, UnitKind};

/// The entry at a path after a subset was applied to the older tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// The path from the root of the tree.
    pub path: Vec<u8>,
    /// The entry at the path; `None` if the path is gone.
    pub result: Option<(EntryMode, EntryContent)>,
}

/// Two files that cannot be in one tree: they need the same path, or one needs a directory where the other is.
///
/// The caller treats the subset as one that cannot be tested. A closed subset of a valid change set never collides.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("two files want the path `{}`", .path.escape_ascii())]
pub struct Collision {
    /// The path that two files need.
    pub path: Vec<u8>,
}

impl ChangeSet {
    /// Applies a closed subset to the older tree.
    ///
    /// Result: the paths that differ from the older side, each once: first removed paths, then written ones, both
    /// sorted. In this order, no file is in the way of a directory.
    pub fn render(&self, subset: &Subset) -> Result<Vec<FileEdit>, Collision> {
        let files: Vec<Option<FileSide>> = (0..self.files().len()).map(|file| self.applied(file, subset)).collect();
        collide(&files)?;
        let older = by_path(self.files().iter().filter_map(|pair| pair.older.as_ref()));
        let newer = by_path(files.iter().flatten());
        let edit = |path: &[u8], side: Option<&FileSide>| FileEdit {
            path: path.to_vec(),
            result: side.map(|side| (side.mode, side.content.clone())),
        };
        let gone = older.keys().filter(|path| !newer.contains_key(*path)).map(|path| edit(path, None));
        let written = newer.iter().filter(|(path, side)| older.get(*path) != Some(*side));
        Ok(gone.chain(written.map(|(path, side)| edit(path, Some(side)))).collect())
    }

    /// One file with the units of `subset` applied; `None` if the file does not exist then.
    pub(super) fn applied(&self, file: usize, subset: &Subset) -> Option<FileSide> {
        let FilePair { older, newer } = &self.files()[file];
        let mut lines = Vec::new();
        let mut side = older.clone();
        for id in self.units_of(file).map(UnitId) {
            let is_taken = subset.contains(id);
            let kind = &self.units()[id.index()].kind;
            if matches!(kind, UnitKind::Lines { .. } | UnitKind::Move { .. }) {
                lines.push((id, is_taken));
                continue;
            }
            if !is_taken {
                continue;
            }
            match (kind, &mut side, newer) {
                (UnitKind::Remove, ..) => return None,
                (UnitKind::Create, _, Some(newer)) => side = Some(newer.clone()),
                (UnitKind::Rename, Some(side), Some(newer)) => side.path.clone_from(&newer.path),
                (UnitKind::Mode, Some(side), Some(newer)) => side.mode = newer.mode,
                (UnitKind::Whole, Some(side), Some(newer)) => {
                    side.content.clone_from(&newer.content);
                    // A change of the type includes the mode; a change of the executable bit alone is a unit.
                    if !(side.mode.is_file() && newer.mode.is_file()) {
                        side.mode = newer.mode;
                    }
                }
                _ => {}
            }
        }
        let mut side = side?;
        let is_any_taken = lines.iter().any(|(_, is_taken)| *is_taken);
        let is_all_taken = lines.iter().all(|(_, is_taken)| *is_taken);
        match newer {
            Some(newer) if is_any_taken && is_all_taken => side.content.clone_from(&newer.content),
            // Without any of its lines a changed file is unchanged, but a created one is empty.
            _ if is_any_taken || (older.is_none() && !lines.is_empty()) => {
                side.content = EntryContent::Bytes(self.composed(file, &lines));
            }
            _ => {}
        }
        Some(side)
    }

    fn composed(&self, file: usize, lines: &[(UnitId, bool)]) -> Arc<[u8]> {
        let mut text = Composed { set: self, file, bytes: Vec::new(), next: 0 };
        match &self.text(file).script {
            None => lines.iter().for_each(|(id, is_taken)| text.unit(*id, *is_taken)),
            Some(script) => {
                let start = self.units_of(file).start;
                let mut is_taken = vec![false; self.units_of(file).len()];
                for (id, taken) in lines {
                    is_taken[(id.0 - start) as usize] = *taken;
                }
                let is_taken = |id: UnitId| is_taken[(id.0 - start) as usize];
                for piece in script {
                    match piece {
                        MovedPiece::Unit(id) => text.unit(*id, is_taken(*id)),
                        MovedPiece::Out(id, inner) => {
                            let Description { older_lines, .. } = self.describe(*id);
                            text.keep_to(older_lines.start);
                            if !is_taken(*id) {
                                text.declaration(&older_lines, inner, is_taken);
                            }
                            text.next = older_lines.end;
                        }
                        MovedPiece::In(id, inner, at) => {
                            text.keep_to(*at);
                            if is_taken(*id) {
                                text.declaration(&self.describe(*id).older_lines, inner, is_taken);
                            }
                            text.next = *at;
                        }
                    }
                }
            }
        }
        text.keep_to(self.n_older_lines(file));
        text.bytes.into()
    }
}

fn by_path<'f>(files: impl Iterator<Item = &'f FileSide>) -> BTreeMap<&'f [u8], &'f FileSide> {
    files.map(|side| (&side.path[..], side)).collect()
}

/// A text that is being written.
struct Composed<'a> {
    set: &'a ChangeSet,
    file: usize,
    bytes: Vec<u8>,
    /// The next older line.
    next: u32,
}

impl Composed<'_> {
    /// Writes the older lines before line `end`.
    fn keep_to(&mut self, end: u32) {
        self.bytes.extend_from_slice(self.set.older_text(self.file, &(self.next.min(end)..end)));
        self.next = end;
    }

    fn unit(&mut self, id: UnitId, is_taken: bool) {
        let unit = self.set.describe(id);
        self.keep_to(unit.older_lines.start);
        self.bytes.extend_from_slice(if is_taken { unit.inserted } else { unit.deleted });
        self.next = unit.older_lines.end;
    }

    /// Writes moved lines with the units inside them.
    fn declaration(&mut self, older_lines: &Range<u32>, inner: &Range<u32>, is_taken: impl Fn(UnitId) -> bool) {
        self.next = older_lines.start;
        inner.clone().map(UnitId).for_each(|id| self.unit(id, is_taken(id)));
        self.keep_to(older_lines.end);
    }
}

/// Looks for two files that cannot be in one tree.
fn collide(files: &[Option<FileSide>]) -> Result<(), Collision> {
    let mut paths: HashSet<&[u8]> = HashSet::new();
    for side in files.iter().flatten() {
        if !paths.insert(&side.path) {
            return Err(Collision { path: side.path.clone() });
        }
    }
    for side in files.iter().flatten() {
        if let Some(path) = above(&side.path).find(|path| paths.contains(path)) {
            return Err(Collision { path: path.to_vec() });
        }
    }
    Ok(())
}
