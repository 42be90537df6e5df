//! Applies patches of `git diff` and `git format-patch` to a tree.
//!
//! There is no fuzz: a hunk applies where all its context matches, at its line or at the nearest such place. The error
//! names the file and the hunk that do not apply.

use crate::repo::binary_patch::is_whole;
use crate::repo::edit::EditedEntry;
use crate::repo::entry::{entry_at, mode_bits, mode_of};
use crate::repo::ids::oid;
use crate::repo::{RepoError, Repository};
use diffy::binary::BinaryPatch;
use diffy::patch_set::{FileMode, FileOperation, FilePatch, ParseOptions, PatchKind, PatchSet};
use diffy::{ApplyError, Patch};
use git2::Tree;
use idd_base::CommitId;
use idd_change::EntryMode;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Display;

/// The text that git writes for a commit of another repository.
const SUBPROJECT: &str = "Subproject commit ";

/// Mode and content of a file; `None` if it does not exist.
type File = Option<(EntryMode, Vec<u8>)>;

/// The edits of a patch to a tree, path by path.
///
/// Errors: [`RepoError::Patch`] if it cannot be read or does not apply.
pub(super) fn edits(
    repository: &Repository,
    tree: &Tree<'_>,
    patch: &[u8],
) -> Result<Vec<(Vec<u8>, EditedEntry)>, RepoError> {
    let is_of_git = patch.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"diff --git "));
    let options = if is_of_git { ParseOptions::gitdiff() } else { ParseOptions::unidiff() };
    let patch = &without_signatures(patch)[..];
    let mut patching = Patching { repository, tree, files: BTreeMap::new() };
    for file in PatchSet::parse_bytes(patch, options) {
        let file = file.map_err(|error| refused(format!("cannot be read: {error}")))?;
        patching.apply(&file)?;
    }
    patching.files.into_iter().map(|(path, file)| Ok((path, entry(repository, file)?))).collect()
}

/// The submodules that a patch of git moves to another commit, which no `git apply` does: the path and the new commit.
pub fn moved_submodules(patch: &[u8]) -> Vec<MovedSubmodule> {
    let Ok(diff) = git2::Diff::from_buffer(patch) else { return Vec::new() };
    let moved = |at: usize, path: &[u8]| {
        let patch = git2::Patch::from_diff(&diff, at).ok()??;
        let n_lines = patch.num_lines_in_hunk(0).ok()?;
        let lines = (0..n_lines).filter_map(|line| patch.line_in_hunk(0, line).ok());
        let added = lines.into_iter().find(|line| line.origin() == '+')?;
        let commit = str::from_utf8(added.content()).ok()?.strip_prefix(SUBPROJECT)?.trim_end().parse().ok()?;
        Some(MovedSubmodule { path: path.to_vec(), commit })
    };
    let deltas = diff.deltas().map(|delta| delta.new_file()).enumerate();
    let submodules = deltas.filter(|(_, file)| file.mode() == git2::FileMode::Commit);
    submodules.filter_map(|(at, file)| moved(at, file.path_bytes()?)).collect()
}

/// A submodule of which a patch asks for another commit.
#[derive(Debug, PartialEq, Eq)]
pub struct MovedSubmodule {
    /// Its path.
    pub path: Vec<u8>,
    /// The commit.
    pub commit: CommitId,
}

/// A patch without the line before the signature of a mail.
///
/// After a deleted line without a line end, diffy 0.5.2 reads it as one more deleted line.
fn without_signatures(patch: &[u8]) -> Cow<'_, [u8]> {
    if !patch.starts_with(b"From ") {
        return Cow::Borrowed(patch);
    }
    let lines: Vec<&[u8]> = patch.split_inclusive(|byte| *byte == b'\n').collect();
    // A line of a hunk is followed by another one, or by the next header.
    let is_signature = |line: &[u8]| {
        !line.first().is_none_or(|first| b" +-@\\\n\r".contains(first))
            && !line.starts_with(b"diff ")
            && !line.starts_with(b"From ")
    };
    let next = lines.iter().skip(1).map(|line| is_signature(line)).chain([false]);
    let kept = lines.iter().zip(next).filter(|(line, is_signature)| !(*is_signature && line.trim_ascii_end() == b"--"));
    Cow::Owned(kept.flat_map(|(line, _)| line.iter().copied()).collect())
}

fn refused(said: String) -> RepoError {
    RepoError::Patch { said, is_unfit: false }
}

/// The error for one file of a patch.
fn does_not_apply(path: &[u8], why: &str) -> RepoError {
    let said = format!("does not apply to `{}`: {why}", String::from_utf8_lossy(path));
    RepoError::Patch { said, is_unfit: true }
}

fn entry(repository: &Repository, file: File) -> Result<EditedEntry, RepoError> {
    let Some((mode, text)) = file else { return Ok(None) };
    let id = match mode {
        EntryMode::Submodule => {
            let text = String::from_utf8_lossy(&text);
            let id = text.strip_prefix(SUBPROJECT).and_then(|id| id.trim_end().parse().ok().map(oid));
            id.ok_or_else(|| refused("names no commit of a submodule".to_owned()))?
        }
        EntryMode::Regular | EntryMode::Executable | EntryMode::Symlink => {
            repository.git().blob(&text).map_err(|source| RepoError::git("write a file", source))?
        }
    };
    Ok(Some((mode_bits(mode), id)))
}

/// A tree with the first files of a patch applied.
struct Patching<'a> {
    repository: &'a Repository,
    tree: &'a Tree<'a>,
    files: BTreeMap<Vec<u8>, File>,
}

impl Patching<'_> {
    fn apply(&mut self, part: &FilePatch<'_, [u8]>) -> Result<(), RepoError> {
        // Renames and copies have headers of their own, with paths without a prefix.
        let operation = match part.operation() {
            renamed @ (FileOperation::Rename { .. } | FileOperation::Copy { .. }) => renamed.strip_prefix(0),
            other => other.strip_prefix(1),
        };
        let mode = part.new_mode().copied().map(mode_of_header);
        match &operation {
            FileOperation::Create(path) => {
                self.is_free(path)?;
                let text = patched(path, &[], part.patch())?;
                self.files.insert(path.to_vec(), Some((mode.unwrap_or(EntryMode::Regular), text)));
            }
            FileOperation::Delete(path) => {
                let (_, text) = self.present(path)?;
                if !patched(path, &text, part.patch())?.is_empty() {
                    return Err(does_not_apply(path, "the file has more than what the patch deletes"));
                }
                self.files.insert(path.to_vec(), None);
            }
            FileOperation::Modify { original, modified } => {
                // With other prefixes than `a/` and `b/` the names can differ: the existing file is used.
                let path = if self.file(modified)?.is_some() { modified } else { original };
                let (before, text) = self.present(path)?;
                let text = patched(path, &text, part.patch())?;
                self.files.insert(path.to_vec(), Some((mode.unwrap_or(before), text)));
            }
            FileOperation::Rename { from, to } | FileOperation::Copy { from, to } => {
                let (before, text) = self.present(from)?;
                self.is_free(to)?;
                let text = patched(from, &text, part.patch())?;
                if operation.is_rename() {
                    self.files.insert(from.to_vec(), None);
                }
                self.files.insert(to.to_vec(), Some((mode.unwrap_or(before), text)));
            }
        }
        Ok(())
    }

    /// A file after the edits of the patch so far.
    fn file(&self, path: &[u8]) -> Result<File, RepoError> {
        if let Some(file) = self.files.get(path) {
            return Ok(file.clone());
        }
        let Some((bits, id)) = entry_at(self.repository, self.tree, path) else { return Ok(None) };
        let Some(mode) = mode_of(bits) else { return Ok(None) };
        if mode == EntryMode::Submodule {
            return Ok(Some((mode, format!("{SUBPROJECT}{id}\n").into_bytes())));
        }
        let blob = self
            .repository
            .git()
            .find_blob(id)
            .map_err(|source| RepoError::git("read a file of the history", source))?;
        Ok(Some((mode, blob.content().to_vec())))
    }

    fn present(&self, path: &[u8]) -> Result<(EntryMode, Vec<u8>), RepoError> {
        self.file(path)?.ok_or_else(|| does_not_apply(path, "there is no such file"))
    }

    fn is_free(&self, path: &[u8]) -> Result<(), RepoError> {
        match self.file(path)? {
            Some(_) => Err(does_not_apply(path, "the file is there already")),
            None => Ok(()),
        }
    }
}

fn mode_of_header(mode: FileMode) -> EntryMode {
    match mode {
        FileMode::Regular => EntryMode::Regular,
        FileMode::Executable => EntryMode::Executable,
        FileMode::Symlink => EntryMode::Symlink,
        FileMode::Gitlink => EntryMode::Submodule,
    }
}

/// The text of a file after its part of a patch.
fn patched(path: &[u8], text: &[u8], part: &PatchKind<'_, [u8]>) -> Result<Vec<u8>, RepoError> {
    match part {
        PatchKind::Text(hunks) => {
            diffy::apply_bytes(text, hunks).map_err(|error| does_not_apply(path, &unfit(text, hunks, &error)))
        }
        PatchKind::Binary(blocks) => {
            let failed = |error: &dyn Display| does_not_apply(path, &format!("its binary part: {error}"));
            if let BinaryPatch::Full { forward, reverse } = blocks
                && !(is_whole(forward) && is_whole(reverse))
            {
                return Err(failed(&"the data are cut or damaged"));
            }
            let new = blocks.apply(text).map_err(|error| failed(&error))?;
            // The reverse patch shows whether this is the file for which the patch was made.
            let old = blocks.apply_reverse(&new).map_err(|error| failed(&error))?;
            if old == text { Ok(new) } else { Err(failed(&"the file is another one")) }
        }
    }
}

/// The hunk that does not apply, with the reason if it is the line ends.
fn unfit(text: &[u8], patch: &Patch<'_, [u8]>, error: &ApplyError) -> String {
    // Only the text of the error has its number, from 1.
    let said = error.to_string();
    let number = said.rsplit('#').next().and_then(|number| number.parse::<usize>().ok()).unwrap_or(1);
    let Some(hunk) = number.checked_sub(1).and_then(|index| patch.hunks().get(index)) else { return said };
    let ends_dos = |line: &[u8]| line.ends_with(b"\r\n");
    let lines = || text.split_inclusive(|byte| *byte == b'\n');
    let is_dos = |line: &diffy::Line<'_, [u8]>| match line {
        diffy::Line::Context(line) | diffy::Line::Delete(line) => ends_dos(line),
        diffy::Line::Insert(_) => false,
    };
    let line_ends = match (hunk.lines().iter().any(is_dos), lines().any(ends_dos)) {
        (true, false) => "; the lines of the patch end with CR LF, those of the file with LF",
        (false, true) => "; the lines of the file end with CR LF, those of the patch with LF",
        _ => "",
    };
    format!("hunk {number} (`@@ -{} +{} @@`) does not fit{line_ends}", hunk.old_range(), hunk.new_range())
}

#[cfg(test)]
mod tests;
