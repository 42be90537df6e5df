//! Checks whether a tree may be written, before the first write, so that a refusal changes nothing.

use std::collections::HashSet;

use crate::repo::object::{EntryKind, ObjectReader, TreeEntry};
use crate::repo::paths::{case_collision, refuse_component};
use crate::repo::refusal::{MoveStop, Refusal, WrittenTreeLimits};
use crate::repo::stat::{BlobForm, Directory, Totals, TrackedEntry};
use idd_base::{BlobId, CommitId, TreeId};

/// The maximum length of a link's target, in bytes.
const MAX_TARGET_BYTES: u64 = 4095;

/// The context of a survey.
pub struct SurveyContext<'a> {
    /// The object store.
    pub objects: &'a ObjectReader<'a>,
    /// The limits of a tree.
    pub limits: WrittenTreeLimits,
    /// Whether the file system is case-insensitive.
    pub folds_case: bool,
}

/// Checks every path of the tree that `written` does not have at the same place.
///
/// Cost: reads the trees that differ, and the sizes of the blobs that differ.
pub fn survey(context: &SurveyContext<'_>, written: &Directory, tree_id: TreeId) -> Result<(), MoveStop> {
    let mut surveyor = Surveyor { context, path: Vec::new(), totals: Totals::default() };
    surveyor.tree(Some(written), tree_id, 0)
}

struct Surveyor<'a> {
    context: &'a SurveyContext<'a>,
    path: Vec<u8>,
    totals: Totals,
}

impl Surveyor<'_> {
    fn tree(&mut self, written: Option<&Directory>, tree_id: TreeId, depth: usize) -> Result<(), MoveStop> {
        let entries = self.context.objects.tree(tree_id, &self.path)?;
        if depth == self.context.limits.max_depth && !entries.is_empty() {
            return Err(self.too_large("more directories inside each other than allowed"));
        }
        self.check_names(&entries)?;
        let path_bytes = self.path.len();
        for entry in &entries {
            if path_bytes > 0 {
                self.path.push(b'/');
            }
            self.path.extend_from_slice(&entry.name);
            self.entry(written.and_then(|written| written.entries.get(&entry.name)), entry, depth)?;
            self.path.truncate(path_bytes);
        }
        Ok(())
    }

    fn check_names(&self, entries: &[TreeEntry]) -> Result<(), Refusal> {
        let refusal = |name: &[u8], why| {
            let separator: &[u8] = if self.path.is_empty() { b"" } else { b"/" };
            Refusal::Path { path: [&self.path, separator, name].concat(), why }
        };
        let mut names = HashSet::new();
        for TreeEntry { name, .. } in entries {
            if let Some(why) = refuse_component(name) {
                return Err(refusal(name, why));
            }
            if !names.insert(name) {
                return Err(refusal(name, "the tree holds this name twice"));
            }
        }
        if self.context.folds_case
            && let Some(name) = case_collision(entries.iter().map(|entry| entry.name.as_slice()))
        {
            return Err(refusal(name, "another name differs in case only, and this file system takes them for one"));
        }
        Ok(())
    }

    fn entry(&mut self, written: Option<&TrackedEntry>, entry: &TreeEntry, depth: usize) -> Result<(), MoveStop> {
        if self.path.len() > self.context.limits.max_path_bytes {
            return Err(self.too_large("a longer path than allowed"));
        }
        let mut id = entry.id;
        let mut kind = entry.kind;
        if kind == EntryKind::Submodule
            && let Some(tree_id) = self.context.objects.submodule(CommitId(id), &self.path)?
        {
            (id, kind) = (tree_id.0, EntryKind::Tree);
        }
        let (below, next) = match (kind, written) {
            (EntryKind::Tree, Some(TrackedEntry::Directory(below))) if below.tree_id == Some(TreeId(id)) => {
                (below.totals, None)
            }
            (EntryKind::Tree, Some(TrackedEntry::Directory(below))) => (Totals::default(), Some(Some(below))),
            (EntryKind::Tree, _) => (Totals::default(), Some(None)),
            (EntryKind::Submodule, _) => (Totals::default(), None),
            (kind, Some(TrackedEntry::File(record)))
                if record.blob_id.0 == id && (record.form == BlobForm::Link) == (kind == EntryKind::Link) =>
            {
                (Totals { n_entries: 0, n_bytes: record.stat.n_bytes }, None)
            }
            (kind, _) => {
                let n_bytes = self.context.objects.blob_bytes(BlobId(id))?;
                if kind == EntryKind::Link {
                    self.check_target(BlobId(id), n_bytes)?;
                }
                (Totals { n_entries: 0, n_bytes }, None)
            }
        };
        self.totals.add(below);
        if self.totals.n_entries > self.context.limits.max_entries {
            return Err(self.too_large("more entries than allowed"));
        }
        if self.totals.n_bytes > self.context.limits.max_bytes {
            return Err(self.too_large("more content than allowed"));
        }
        match next {
            Some(written) => self.tree(written, TreeId(id), depth + 1),
            None => Ok(()),
        }
    }

    fn check_target(&self, blob_id: BlobId, n_bytes: u64) -> Result<(), MoveStop> {
        let refusal = |why| MoveStop::Refused(Refusal::Path { path: self.path.clone(), why });
        if n_bytes == 0 || n_bytes > MAX_TARGET_BYTES {
            return Err(refusal("the target of the link is empty or too long"));
        }
        if self.context.objects.blob(blob_id)?.contains(&0) {
            return Err(refusal("the target of the link contains a NUL byte"));
        }
        Ok(())
    }

    fn too_large(&self, why: &'static str) -> MoveStop {
        MoveStop::Refused(Refusal::Limit { path: self.path.clone(), why })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::refusal::split;
    use crate::repo::testing::{Sandbox, files, tree_of};

    #[track_caller]
    fn check(names: &[(&str, &str)], folds_case: bool, expected: Option<&str>) {
        let sandbox = Sandbox::new();
        let repository = sandbox.repository();
        let tree_id = tree_of(&repository, &files(names));
        let objects = ObjectReader::open(&repository).unwrap();
        let context = SurveyContext { objects: &objects, limits: WrittenTreeLimits::default(), folds_case };
        let found = match split(survey(&context, &Directory::default(), tree_id)).unwrap() {
            Err(Refusal::Path { path, .. }) => Some(String::from_utf8(path).unwrap()),
            _ => None,
        };
        assert_eq!(found.as_deref(), expected);
    }

    #[test]
    fn names_that_differ_in_case_only_are_refused_where_the_file_system_folds_them() {
        check(&[("d/Makefile", ""), ("d/makefile", "")], true, Some("d/makefile"));
        check(&[("Dir/x", ""), ("dir/y", "")], true, Some("dir"));
        check(&[("d/Makefile", ""), ("e/makefile", "")], true, None);
        check(&[("d/Makefile", ""), ("d/makefile", "")], false, None);
    }
}
