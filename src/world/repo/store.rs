//! The store of trees for the engines: differences, candidates and merges through libgit2, in memory.

use crate::repo::division::{Divisions, Marks};
use crate::repo::entry::{entry_at, mode_bits, mode_of};
use crate::repo::ids::{object_id, oid, tree_id};
use crate::repo::object::{EntryKind, ObjectReader};
use crate::repo::promisor::Promisor;
use crate::repo::resolve::resolve;
use crate::repo::{RepoError, Repository, edit, patch};
use git2::{Diff, DiffFindOptions, DiffFormat, DiffOptions, FileFavor, MergeOptions, Oid};
use idd_base::{BlobId, ObjectId, TreeId};
use idd_change::trees::{Favor, Merged, Rung, Trees, TreesError};
use idd_change::{ChangeSet, EntryContent, EntryMode, FileDivision, FilePair, FileSide, Subset};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

/// The maximum number of files that are compared with each other in the search for renames.
const RENAME_LIMIT: usize = 400;

/// The files that are put into every tree before its test.
#[derive(Debug, Clone, Default)]
pub struct HeldFiles {
    /// Path -> mode and content; `None` removes the path.
    pub files: BTreeMap<Vec<u8>, Option<(EntryMode, Vec<u8>)>>,
    /// A patch (without, with) that is carried to every tree; it wins conflicts.
    pub overlay: Option<(TreeId, TreeId)>,
}

/// Trees of the private repository.
pub struct TreeStore {
    repository: Repository,
    held: BTreeMap<Vec<u8>, edit::EditedEntry>,
    overlay: Option<(TreeId, TreeId)>,
    pathspecs: Vec<String>,
    divisions: Divisions,
    views: RefCell<HashMap<TreeId, TreeId>>,
    sets: RefCell<HashMap<(TreeId, TreeId), Rc<ChangeSet>>>,
    sound: RefCell<HashSet<Oid>>,
    promisor: Option<Promisor>,
}

/// The result of [`TreeStore::merge_plainly`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlainMerge {
    /// The merged tree.
    Clean(TreeId),
    /// The paths in conflict, sorted.
    Conflict(Vec<Vec<u8>>),
}

/// How trees are merged.
fn merge_options() -> MergeOptions {
    let mut options = MergeOptions::new();
    options.find_renames(true).target_limit(1000);
    options
}

impl TreeStore {
    /// A store with a private repository; held contents become blobs of it.
    pub fn new(repository: Repository, held: HeldFiles, pathspecs: Vec<String>) -> Result<Self, RepoError> {
        let mut files = BTreeMap::new();
        for (path, file) in held.files {
            let entry = match file {
                None => None,
                Some((mode, bytes)) => {
                    let id =
                        repository.git().blob(&bytes).map_err(|source| RepoError::git("store a held file", source))?;
                    Some((mode_bits(mode), id))
                }
            };
            files.insert(path, entry);
        }
        let (views, sets, sound) = (RefCell::default(), RefCell::default(), RefCell::default());
        let divisions = Divisions::default();
        Ok(Self {
            repository,
            held: files,
            overlay: held.overlay,
            pathspecs,
            divisions,
            views,
            sets,
            sound,
            promisor: None,
        })
    }

    /// The same with the user's rules for dividing files.
    #[must_use]
    pub fn with_divisions(self, divisions: Divisions) -> Self {
        Self { divisions, ..self }
    }

    /// The same in a partial clone.
    #[must_use]
    pub fn with_promisor(self, promisor: Option<Promisor>) -> Self {
        Self { promisor, ..self }
    }

    /// Fetches the missing objects of a tree in a partial clone.
    fn complete(&self, tree: TreeId) -> Result<(), RepoError> {
        self.promisor.as_ref().map_or(Ok(()), |promisor| promisor.complete(&self.repository, tree))
    }

    /// Its repository.
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// The difference of two trees as a patch that `git apply` accepts, and its added plus removed lines that are not
    /// blank; empty if one of them cannot be read.
    pub fn patch(&self, older: TreeId, newer: TreeId) -> Result<(Vec<u8>, usize), RepoError> {
        self.patch_of(older, newer, &[])
    }

    /// The same for some paths; for all if there are none.
    pub fn patch_of(&self, older: TreeId, newer: TreeId, paths: &[Vec<u8>]) -> Result<(Vec<u8>, usize), RepoError> {
        /// The number of digits for people.
        const SHORT_ID: u16 = 12;
        if !self.can_compare(older, newer)? {
            return Ok((Vec::new(), 0));
        }
        let (patch, n_lines, has_binary) = self.print(older, newer, paths, SHORT_ID)?;
        if has_binary {
            // `git apply` needs whole ids in a binary patch.
            let n_digits = newer.to_string().len().try_into().expect("it is 40 or 64");
            let (patch, n_lines, _) = self.print(older, newer, paths, n_digits)?;
            return Ok((patch, n_lines));
        }
        Ok((patch, n_lines))
    }

    /// The patch, its changed lines, and whether some file in it is binary.
    fn print(
        &self,
        older: TreeId,
        newer: TreeId,
        paths: &[Vec<u8>],
        id_abbrev: u16,
    ) -> Result<(Vec<u8>, usize, bool), RepoError> {
        let failed = |source| RepoError::git("print a patch", source);
        let mut options = DiffOptions::new();
        options.disable_pathspec_match(true);
        for path in paths {
            options.pathspec(path.as_slice());
        }
        options.show_binary(true).id_abbrev(id_abbrev);
        let diff = self.diff(older, newer, &mut options)?;
        let mut text = Vec::new();
        let mut n_lines = 0;
        let mut has_binary = false;
        diff.print(DiffFormat::Patch, |delta, _, line| {
            let origin = line.origin();
            // Of a binary file that only has a new name, libgit2 says that it differs, and no patch with that applies.
            if origin == 'B' && delta.old_file().id() == delta.new_file().id() {
                return true;
            }
            if matches!(origin, '+' | '-' | ' ') {
                text.push(u8::try_from(origin).expect("these three are ASCII"));
            }
            let is_blank = line.content().trim_ascii().is_empty();
            n_lines += usize::from(matches!(origin, '+' | '-') && !is_blank);
            has_binary |= origin == 'B';
            text.extend_from_slice(line.content());
            true
        })
        .map_err(failed)?;
        Ok((text, n_lines, has_binary))
    }

    /// A tree with a patch of `git diff` or `git format-patch` applied to it.
    ///
    /// Errors: [`RepoError::Patch`] if the patch cannot be read or does not apply.
    pub fn apply(&self, tree: TreeId, patch: &[u8]) -> Result<TreeId, RepoError> {
        let edits = patch::edits(&self.repository, &self.tree(tree)?, patch)?;
        let written = edit::edit(&self.repository, oid(tree.0), edits)?;
        let said = "names a path that git refuses, or a file where a directory is";
        written.map(tree_id).ok_or_else(|| RepoError::Patch { said: said.to_owned(), is_unfit: false })
    }

    /// A tree with these files in it; `None` if a path cannot be in it.
    pub fn with_files<'f>(
        &self,
        tree: TreeId,
        files: impl IntoIterator<Item = (&'f [u8], EntryMode, &'f [u8])>,
    ) -> Result<Option<TreeId>, RepoError> {
        let mut entries = Vec::new();
        for (path, mode, bytes) in files {
            let id = self.repository.git().blob(bytes).map_err(|source| RepoError::git("write a file", source))?;
            entries.push((path.to_vec(), Some((mode_bits(mode), id))));
        }
        Ok(edit::edit(&self.repository, oid(tree.0), entries)?.map(tree_id))
    }

    /// The paths that differ between two trees, of the newer side if there is one, sorted; none if one of the trees
    /// cannot be read.
    pub fn paths(&self, older: TreeId, newer: TreeId) -> Result<Vec<Vec<u8>>, RepoError> {
        if !self.can_compare(older, newer)? {
            return Ok(Vec::new());
        }
        let diff = self.diff(older, newer, &mut DiffOptions::new())?;
        let mut paths: Vec<Vec<u8>> = diff
            .deltas()
            .filter_map(|delta| delta.new_file().path_bytes().or(delta.old_file().path_bytes()).map(<[u8]>::to_vec))
            .collect();
        paths.sort();
        Ok(paths)
    }

    /// A tree with these paths as another tree has them; `None` if they cannot be in it.
    pub fn with_paths_of(&self, other: TreeId, tree: TreeId, paths: &[Vec<u8>]) -> Result<Option<TreeId>, RepoError> {
        let other = self.tree(other)?;
        let entries = paths.iter().map(|path| (path.clone(), entry_at(&self.repository, &other, path)));
        Ok(edit::edit(&self.repository, oid(tree.0), entries)?.map(tree_id))
    }

    /// Merges two trees as `git merge` does. A tree that cannot be read is a conflict without a path.
    pub fn merge_plainly(&self, base: TreeId, ours: TreeId, theirs: TreeId) -> Result<PlainMerge, RepoError> {
        [base, ours, theirs].into_iter().try_for_each(|tree| self.complete(tree))?;
        if ![base, ours, theirs].into_iter().all(|tree| self.is_sound(oid(tree.0))) {
            return Ok(PlainMerge::Conflict(Vec::new()));
        }
        let failed = |source| RepoError::git("merge two trees", source);
        let (base, ours, theirs) = (self.tree(base)?, self.tree(ours)?, self.tree(theirs)?);
        let merged = self.repository.git().merge_trees(&base, &ours, &theirs, Some(&merge_options()));
        let mut index = merged.map_err(failed)?;
        if !index.has_conflicts() {
            return Ok(PlainMerge::Clean(tree_id(index.write_tree_to(self.repository.git()).map_err(failed)?)));
        }
        let mut paths = Vec::new();
        for conflict in index.conflicts().map_err(failed)? {
            let conflict = conflict.map_err(failed)?;
            paths.extend(conflict.our.or(conflict.their).or(conflict.ancestor).map(|entry| entry.path));
        }
        paths.sort();
        paths.dedup();
        Ok(PlainMerge::Conflict(paths))
    }

    /// Mode and content of a path in a tree; `None` if it does not exist, is not a file, or the tree cannot be read.
    pub fn file(&self, tree: TreeId, path: &[u8]) -> Result<Option<(EntryMode, Vec<u8>)>, RepoError> {
        self.complete(tree)?;
        if self.leads_to(tree, path).is_none() {
            return Ok(None);
        }
        let tree = self.tree(tree)?;
        let Some((mode, id)) = entry_at(&self.repository, &tree, path) else { return Ok(None) };
        match mode_of(mode) {
            Some(EntryMode::Submodule) | None => Ok(None),
            Some(mode) => Ok(Some((mode, self.blob(id)?))),
        }
    }

    fn diff(&self, older: TreeId, newer: TreeId, options: &mut DiffOptions) -> Result<Diff<'_>, RepoError> {
        let failed = |source| RepoError::git("compare two trees", source);
        let (older, newer) = (self.tree(older)?, self.tree(newer)?);
        options.ignore_submodules(false);
        let mut diff =
            self.repository.git().diff_tree_to_tree(Some(&older), Some(&newer), Some(options)).map_err(failed)?;
        let mut find = DiffFindOptions::new();
        find.renames(true).rename_limit(RENAME_LIMIT);
        diff.find_similar(Some(&mut find)).map_err(failed)?;
        Ok(diff)
    }

    /// Whether libgit2 can read both trees safely.
    fn can_compare(&self, older: TreeId, newer: TreeId) -> Result<bool, RepoError> {
        [older, newer].into_iter().try_for_each(|tree| self.complete(tree))?;
        Ok(self.is_sound(oid(older.0)) && self.is_sound(oid(newer.0)))
    }

    /// Whether libgit2 can read a tree safely: it crashes on entries of mode 0, and loops for ever on cut objects. Each
    /// tree is checked once.
    fn is_sound(&self, tree: Oid) -> bool {
        let Ok(objects) = ObjectReader::open(&self.repository) else { return false };
        let mut open = vec![tree];
        let mut seen = Vec::new();
        while let Some(id) = open.pop() {
            if self.sound.borrow().contains(&id) || seen.contains(&id) {
                continue;
            }
            let Ok(entries) = objects.tree(tree_id(id), b"") else { return false };
            for entry in entries {
                match entry.kind {
                    EntryKind::Tree => open.push(oid(entry.id)),
                    EntryKind::Submodule => {}
                    EntryKind::File { .. } | EntryKind::Link => {
                        if !self.is_there(&objects, entry.id) {
                            return false;
                        }
                    }
                }
            }
            seen.push(id);
        }
        self.sound.borrow_mut().extend(seen);
        true
    }

    /// The edits that put the held files into a tree, with the removal of each file where one of them needs a directory. `None`
    /// if libgit2 cannot read the existing trees on the way to them safely.
    fn edits(&self, tree: TreeId) -> Option<BTreeMap<Vec<u8>, edit::EditedEntry>> {
        let mut edits = self.held.clone();
        for (path, entry) in &self.held {
            let n_bytes = self.leads_to(tree, path)?;
            if entry.is_some() && n_bytes < path.len() {
                edits.entry(path[..n_bytes].to_vec()).or_insert(None);
            }
        }
        Some(edits)
    }

    /// The length of the part of a path that is a file in a tree where the path needs a directory, else that of the whole
    /// path. `None` if libgit2 cannot read the existing trees on the way safely.
    fn leads_to(&self, tree: TreeId, path: &[u8]) -> Option<usize> {
        let objects = ObjectReader::open(&self.repository).ok()?;
        let (mut tree, mut n_bytes) = (tree, 0);
        for part in path.split(|byte| *byte == b'/') {
            n_bytes += part.len();
            match objects.tree(tree, b"").ok()?.into_iter().find(|entry| entry.name == part) {
                Some(entry) if entry.kind == EntryKind::Tree => tree = TreeId(entry.id),
                Some(_) => return Some(n_bytes),
                None => break,
            }
            n_bytes += 1;
        }
        Some(path.len())
    }

    /// Whether a blob can be read. Each is checked once.
    fn is_there(&self, objects: &ObjectReader<'_>, blob: ObjectId) -> bool {
        let is_there = self.sound.borrow().contains(&oid(blob)) || objects.has_blob(BlobId(blob));
        if is_there {
            self.sound.borrow_mut().insert(oid(blob));
        }
        is_there
    }

    fn tree(&self, id: TreeId) -> Result<git2::Tree<'_>, RepoError> {
        self.complete(id)?;
        self.repository.git().find_tree(oid(id.0)).map_err(|source| RepoError::git("read a tree", source))
    }

    fn blob(&self, id: Oid) -> Result<Vec<u8>, RepoError> {
        let blob = self
            .repository
            .git()
            .find_blob(id)
            .map_err(|source| RepoError::git("read a file of the history", source))?;
        Ok(blob.content().to_vec())
    }

    /// One side of a difference, with its tree. The mode is read from the tree, because git2 panics on unknown modes.
    fn side(&self, tree: &git2::Tree<'_>, file: &git2::DiffFile<'_>) -> Result<Option<FileSide>, RepoError> {
        if file.id().is_zero() {
            return Ok(None);
        }
        let path = file.path_bytes().unwrap_or_default().to_vec();
        let Some((mode, _)) = entry_at(&self.repository, tree, &path) else { return Ok(None) };
        let Some(mode) = mode_of(mode) else { return Ok(None) };
        let content = match mode {
            EntryMode::Submodule => EntryContent::Submodule(object_id(file.id())),
            _ => EntryContent::Bytes(self.blob(file.id())?.into()),
        };
        Ok(Some(FileSide { path, mode, content }))
    }

    fn pairs(
        &self,
        older: TreeId,
        newer: TreeId,
        is_wanted: &dyn Fn(&[u8]) -> bool,
    ) -> Result<Vec<FilePair>, RepoError> {
        let diff = self.diff(older, newer, &mut DiffOptions::new())?;
        let (older, newer) = (self.tree(older)?, self.tree(newer)?);
        let mut pairs = Vec::new();
        for delta in diff.deltas() {
            let mut paths = [delta.old_file(), delta.new_file()].into_iter().filter_map(|file| file.path_bytes());
            if !paths.any(is_wanted) {
                continue;
            }
            let pair =
                FilePair { older: self.side(&older, &delta.old_file())?, newer: self.side(&newer, &delta.new_file())? };
            if pair.older.is_some() || pair.newer.is_some() {
                pairs.push(pair);
            }
        }
        Ok(pairs)
    }

    fn merge_trees(&self, base: TreeId, ours: TreeId, patched: TreeId, favor: Favor) -> Result<Merged, RepoError> {
        if base == patched || ours == patched {
            return Ok(Merged::Clean(ours, Rung::Merge));
        }
        if base == ours {
            return Ok(Merged::Clean(patched, Rung::Merge));
        }
        [base, ours, patched].into_iter().try_for_each(|tree| self.complete(tree))?;
        if ![base, ours, patched].into_iter().all(|tree| self.is_sound(oid(tree.0))) {
            return Ok(Merged::Conflict);
        }
        let failed = |source| RepoError::git("merge two trees", source);
        let mut options = merge_options();
        if favor == Favor::Patch {
            options.file_favor(FileFavor::Theirs);
        }
        let (base, ours, theirs) = (self.tree(base)?, self.tree(ours)?, self.tree(patched)?);
        let merged = self.repository.git().merge_trees(&base, &ours, &theirs, Some(&options));
        // A tree that libgit2 cannot load into an index is a conflict, and does not end the hunt.
        let Ok(mut index) = merged else { return Ok(Merged::Conflict) };
        let mut rung = Rung::Merge;
        if index.has_conflicts() {
            let resolved = resolve(&self.repository, &self.divisions, &mut index, &base, &ours)?;
            let Some(needed) = resolved else { return Ok(Merged::Conflict) };
            rung = needed;
        }
        let id = index.write_tree_to(self.repository.git()).map_err(failed)?;
        Ok(Merged::Clean(tree_id(id), rung))
    }

    fn compose_tree(&self, set: &ChangeSet, older: TreeId, subset: &Subset) -> Result<Option<TreeId>, RepoError> {
        let Ok(edits) = set.render(subset) else { return Ok(None) };
        let mut entries = Vec::with_capacity(edits.len());
        for file in edits {
            let entry = match file.result {
                None => None,
                Some((mode, EntryContent::Submodule(id))) => Some((mode_bits(mode), oid(id))),
                Some((mode, EntryContent::Bytes(bytes))) => {
                    let id =
                        self.repository.git().blob(&bytes).map_err(|source| RepoError::git("write a file", source))?;
                    Some((mode_bits(mode), id))
                }
            };
            entries.push((file.path, entry));
        }
        Ok(edit::edit(&self.repository, oid(older.0), entries)?.map(tree_id))
    }
}

impl Trees for TreeStore {
    fn files(
        &self,
        older: TreeId,
        newer: TreeId,
        is_wanted: &dyn Fn(&[u8]) -> bool,
    ) -> Result<Vec<FilePair>, TreesError> {
        let can_compare = self.can_compare(older, newer)?;
        Ok(if can_compare { self.pairs(older, newer, is_wanted)? } else { Vec::new() })
    }

    fn change_set(&self, older: TreeId, newer: TreeId) -> Result<Rc<ChangeSet>, TreesError> {
        if !self.can_compare(older, newer)? {
            return Ok(Rc::new(ChangeSet::new(Vec::new())));
        }
        if let Some(set) = self.sets.borrow().get(&(older, newer)) {
            return Ok(Rc::clone(set));
        }
        let marks = |tree| Ok::<_, RepoError>(Marks::new(&self.repository, self.tree(tree)?));
        let (of_older, of_newer) = (marks(older)?, marks(newer)?);
        let division = |pair: &FilePair| self.divisions.of(pair, &of_older, &of_newer);
        let mut pairs = self.pairs(older, newer, &|_| true)?;
        if self.divisions.is_regenerated {
            pairs.retain(|pair| !matches!(division(pair), FileDivision::Whole { .. }));
        }
        let set = Rc::new(ChangeSet::divided(pairs, division));
        self.sets.borrow_mut().insert((older, newer), Rc::clone(&set));
        Ok(set)
    }

    fn compose(&self, set: &ChangeSet, older: TreeId, subset: &Subset) -> Result<Option<TreeId>, TreesError> {
        Ok(self.compose_tree(set, older, subset)?)
    }

    fn merge(&self, base: TreeId, ours: TreeId, patched: TreeId, favor: Favor) -> Result<Merged, TreesError> {
        Ok(self.merge_trees(base, ours, patched, favor)?)
    }

    fn view(&self, tree: TreeId) -> Result<TreeId, TreesError> {
        if let Some(view) = self.views.borrow().get(&tree) {
            return Ok(*view);
        }
        self.complete(tree)?;
        let mut view = tree;
        if let Some((without, with)) = self.overlay
            && let Merged::Clean(merged, _) = self.merge_trees(without, tree, with, Favor::Patch)?
        {
            view = merged;
        }
        // An unreadable tree is unchanged: its probe reports the reason.
        if !self.held.is_empty()
            && let Some(edits) = self.edits(view)
        {
            view = edit::edit(&self.repository, oid(view.0), edits)?.map_or(view, tree_id);
        }
        self.views.borrow_mut().insert(tree, view);
        Ok(view)
    }

    fn differ_in_scope(&self, older: TreeId, newer: TreeId) -> Result<bool, TreesError> {
        if self.pathspecs.is_empty() {
            return Ok(true);
        }
        if older == newer {
            return Ok(false);
        }
        let mut options = DiffOptions::new();
        for pathspec in &self.pathspecs {
            options.pathspec(pathspec);
        }
        [older, newer].into_iter().try_for_each(|tree| self.complete(tree))?;
        let read = |tree: TreeId| self.repository.git().find_tree(oid(tree.0));
        let diff = read(older).and_then(|older| {
            self.repository.git().diff_tree_to_tree(Some(&older), Some(&read(newer)?), Some(&mut options))
        });
        // Unreadable trees may differ: their probes report the reason.
        Ok(diff.map_or(true, |diff| diff.deltas().len() > 0))
    }

    fn released(&self, tree: TreeId) -> Result<Option<TreeId>, TreesError> {
        self.complete(tree)?;
        let Some(mut edits) = self.edits(tree) else { return Ok(None) };
        let bare = self.tree(tree)?;
        let mut differs = false;
        edits.retain(|path, entry| match entry_at(&self.repository, &bare, path) {
            Some(present) => {
                differs |= self.held.contains_key(path) && Some(present) != *entry;
                false
            }
            None => true,
        });
        if !differs {
            return Ok(None);
        }
        Ok(edit::edit(&self.repository, oid(tree.0), edits)?.map(tree_id))
    }
}
