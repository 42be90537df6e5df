//! Resolves the conflicts of a merge of two trees, file by file.

use crate::repo::division::Divisions;
use crate::repo::{RepoError, Repository};
use git2::{Delta, Index, IndexConflict, IndexEntry, Oid, Tree};
use idd_change::port::{Elsewhere, merge_syntax};
use idd_change::syntax::Language;
use idd_change::trees::Rung;
use idd_change::{Touching, merge_lines, port, with_keywords_of};
use std::cell::OnceCell;
use std::cmp::Reverse;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The maximum number of added files that are compared with a missing one.
const MAX_COMPARED: usize = 32;

/// An added file is the missing one if they share at least this part of their words, and no other file nearly as many.
const MIN_SHARED_PERCENT: usize = 60;

/// The least lead of the best added file over the next one.
const MIN_LEAD_PERCENT: usize = 5;

/// The maximum number of other files that are searched for moved functions.
const MAX_SEARCHED: usize = 200;

/// Resolves the conflicts in `index`, a merge of a patch on `base` into `ours`; returns the last method, or `None` if a
/// conflict is left.
///
/// A file that ours moved and changed too much for the merge is found among the added files of ours, by its words. A
/// file that the patch deletes is deleted if ours only reformatted it. If ours moved functions to other files, the
/// edits of the patch to these functions are made there.
pub(super) fn resolve(
    repository: &Repository,
    divisions: &Divisions,
    index: &mut Index,
    base: &Tree,
    ours: &Tree,
) -> Result<Option<Rung>, RepoError> {
    let failed = |source| RepoError::git("merge two trees", source);
    let conflicts = index.conflicts().map_err(failed)?.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let resolver = Resolver { repository, divisions, base, ours, added: OnceCell::new() };
    let mut rung = Rung::Lines;
    let mut files = Vec::new();
    let mut elsewhere: Vec<IndexEntry> = Vec::new();
    for conflict in &conflicts {
        let IndexConflict { ancestor, our, their } = conflict;
        let (file, needed) = match (ancestor, our, their) {
            (Some(base), Some(ours), Some(patched)) if base.path == ours.path && base.path == patched.path => {
                if let Some((file, needed)) = resolver.merge([base, ours, patched])? {
                    (Some(file), needed)
                } else {
                    let Some(followed) = resolver.follow(index, [base, ours, patched])? else { return Ok(None) };
                    let Some((file, needed)) = resolver.merge([base, ours, &followed.rest])? else { return Ok(None) };
                    elsewhere.extend(followed.files);
                    (Some(file), needed.max(followed.rung))
                }
            }
            (Some(base), None, Some(patched)) if base.path == patched.path => {
                if let Some((path, id)) = resolver.moved(base)? {
                    let ours = at(&path, id, base);
                    let Some((file, needed)) = resolver.merge([base, &ours, patched])? else { return Ok(None) };
                    (Some(file), needed.max(Rung::Syntax))
                } else {
                    let nothing = at(&base.path, resolver.write(&[])?, base);
                    let Some(followed) = resolver.follow(index, [base, &nothing, patched])? else { return Ok(None) };
                    if !resolver.is_reformatted(base, &followed.rest) {
                        return Ok(None);
                    }
                    elsewhere.extend(followed.files);
                    (None, followed.rung)
                }
            }
            (Some(base), Some(ours), None) if base.path == ours.path && resolver.is_reformatted(base, ours) => {
                (None, Rung::Syntax)
            }
            // The other half of a moved file; if that is not resolved, this is left.
            (None, Some(_), None) => continue,
            _ => return Ok(None),
        };
        rung = rung.max(needed);
        files.push((ancestor.as_ref().map(|entry| entry.path.clone()), file));
    }
    elsewhere.sort_by(|one, other| one.path.cmp(&other.path));
    let is_twice = elsewhere.windows(2).any(|pair| pair[0].path == pair[1].path);
    if is_twice || elsewhere.iter().any(|entry| files.iter().any(|(_, file)| is_at(file.as_ref(), &entry.path))) {
        return Ok(None);
    }
    for (gone, file) in files {
        let moved = file.as_ref().map(|entry| entry.path.clone());
        for path in [gone, moved].into_iter().flatten() {
            let path = Path::new(OsStr::from_bytes(&path));
            // A path without a conflict has nothing to remove.
            let _ = index.conflict_remove(path);
        }
        if let Some(entry) = file {
            index.add(&entry).map_err(failed)?;
        }
    }
    for entry in elsewhere {
        index.add(&entry).map_err(failed)?;
    }
    Ok((!index.has_conflicts()).then_some(rung))
}

fn is_at(file: Option<&IndexEntry>, path: &[u8]) -> bool {
    file.is_some_and(|entry| entry.path == path)
}

/// The mode of a file if one side changed it, or both in the same way; `None` if both changed it differently, or a file
/// became a link.
fn merged_mode([base, ours, patched]: [u32; 3]) -> Option<u32> {
    let kind = |mode: u32| mode & 0o170_000;
    if kind(base) != kind(ours) || kind(base) != kind(patched) {
        return None;
    }
    if base == ours {
        return Some(patched);
    }
    (base == patched || ours == patched).then_some(ours)
}

/// An entry without conflict.
fn at(path: &[u8], id: Oid, like: &IndexEntry) -> IndexEntry {
    IndexEntry {
        ctime: like.ctime,
        mtime: like.mtime,
        dev: like.dev,
        ino: like.ino,
        mode: like.mode,
        uid: like.uid,
        gid: like.gid,
        file_size: like.file_size,
        id,
        // Stage 0: no conflict any more.
        flags: 0,
        flags_extended: 0,
        path: path.to_vec(),
    }
}

/// Path, mode and content of a file.
type Added = (Vec<u8>, u32, Oid);

/// A patch of a file that was divided among several files.
struct FollowedPatch {
    /// The patched file without the parts that were carried elsewhere.
    rest: IndexEntry,
    /// The other files, merged.
    files: Vec<IndexEntry>,
    rung: Rung,
}

struct Resolver<'a> {
    repository: &'a Repository,
    divisions: &'a Divisions,
    base: &'a Tree<'a>,
    ours: &'a Tree<'a>,
    /// The files that ours has and the base does not.
    added: OnceCell<Vec<Added>>,
}

impl Resolver<'_> {
    /// The text of a file; `None` if it is no text.
    fn text(&self, id: Oid) -> Option<Vec<u8>> {
        let blob = self.repository.git().find_blob(id).ok()?;
        (!blob.content().contains(&0)).then(|| blob.content().to_vec())
    }

    /// Merges three versions of a file that conflict by hunks; also returns the method. `None` if all methods conflict.
    fn merge(&self, entries: [&IndexEntry; 3]) -> Result<Option<(IndexEntry, Rung)>, RepoError> {
        let ours = entries[1];
        let Some(mode) = merged_mode(entries.map(|entry| entry.mode)) else { return Ok(None) };
        let [Some(old), Some(here), Some(new)] = entries.map(|entry| self.text(entry.id)) else { return Ok(None) };
        let (old, new) = (with_keywords_of(&old, &here), with_keywords_of(&new, &here));
        let language = self.divisions.language_of(&ours.path, &here);
        // In a known language, syntax decides which insertions can be joined.
        let touching = if language.is_some() { Touching::Judged } else { Touching::Joined };
        let by_lines = merge_lines(&old, &here, &new, touching).map(|text| (text, Rung::Lines));
        let merged = by_lines.or_else(|| merge_syntax(language?, &old, &here, &new));
        let Some((text, rung)) = merged else { return Ok(None) };
        Ok(Some((IndexEntry { mode, ..at(&ours.path, self.write(&text)?, ours) }, rung)))
    }

    fn write(&self, text: &[u8]) -> Result<Oid, RepoError> {
        self.repository.git().blob(text).map_err(|source| RepoError::git("merge two trees", source))
    }

    /// Carries edits of functions to the files in which ours has them; `None` if there are none, or they conflict
    /// there.
    ///
    /// - `index`: the files merged so far.
    fn follow(&self, index: &Index, entries: [&IndexEntry; 3]) -> Result<Option<FollowedPatch>, RepoError> {
        let Some(language) = self.divisions.language(&entries[0].path) else { return Ok(None) };
        let [Some(base), Some(ours), Some(patched)] = entries.map(|entry| self.text(entry.id)) else { return Ok(None) };
        let (mut places, mut files) = (Vec::new(), Vec::new());
        for (path, before) in self.changed()? {
            let is_other = path != entries[0].path && self.divisions.language(&path) == Some(language);
            let Some(entry) = index.get_path(Path::new(OsStr::from_bytes(&path)), 0).filter(|_| is_other) else {
                continue;
            };
            let before = if before.is_zero() { Some(Vec::new()) } else { self.text(before) };
            if let Some((before, now)) = before.zip(self.text(entry.id)).filter(|_| places.len() < MAX_SEARCHED) {
                places.push(entry);
                files.push(Elsewhere { before, now });
            }
        }
        let Some(followed) = port::follow(language, [&base, &ours, &patched], &files) else { return Ok(None) };
        let rest = at(&entries[2].path, self.write(&followed.rest)?, entries[2]);
        let (mut rung, mut merged) = (Rung::Syntax, Vec::new());
        for (file, [old, new]) in followed.files {
            let Some((text, needed)) = merge_syntax(language, &old, &files[file].now, &new) else { return Ok(None) };
            rung = rung.max(needed);
            merged.push(at(&places[file].path, self.write(&text)?, &places[file]));
        }
        Ok(Some(FollowedPatch { rest, files: merged, rung }))
    }

    /// The files that ours added or changed: path, and content in the base (zero if new); added files first.
    fn changed(&self) -> Result<Vec<(Vec<u8>, Oid)>, RepoError> {
        let diff = self
            .repository
            .git()
            .diff_tree_to_tree(Some(self.base), Some(self.ours), None)
            .map_err(|source| RepoError::git("compare two trees", source))?;
        let kept = diff.deltas().filter(|delta| matches!(delta.status(), Delta::Added | Delta::Modified));
        let files = kept.filter_map(|delta| Some((delta.new_file().path_bytes()?.to_vec(), delta.old_file().id())));
        let mut files: Vec<(Vec<u8>, Oid)> = files.collect();
        files.sort_by_key(|(_, before)| !before.is_zero());
        Ok(files)
    }

    /// The new place in ours of a missing file of the base: path and content.
    fn moved(&self, base: &IndexEntry) -> Result<Option<(Vec<u8>, Oid)>, RepoError> {
        let (Some(language), Some(text)) = (self.divisions.language(&base.path), self.text(base.id)) else {
            return Ok(None);
        };
        let name = |path: &[u8]| path.rsplit(|byte| *byte == b'/').next().unwrap_or_default().to_vec();
        let is_like = |path: &[u8], mode: u32| {
            mode == base.mode && self.divisions.language(path).is_some_and(|other: &Language| other == language)
        };
        let mut candidates: Vec<_> = self.added()?.iter().filter(|(path, mode, _)| is_like(path, *mode)).collect();
        candidates.sort_by_key(|(path, ..)| name(path) != name(&base.path));
        let mut shares: Vec<(usize, _)> = Vec::new();
        for (path, _, id) in candidates.into_iter().take(MAX_COMPARED) {
            let share = self.text(*id).and_then(|other| port::likeness(language, &text, &other)).unwrap_or(0);
            shares.push((share, (path.clone(), *id)));
        }
        shares.sort_by_key(|(share, _)| Reverse(*share));
        let next = shares.get(1).map_or(0, |(share, _)| *share);
        let best = shares.into_iter().next();
        Ok(best
            .filter(|(share, _)| *share >= MIN_SHARED_PERCENT && *share >= next + MIN_LEAD_PERCENT)
            .map(|(_, file)| file))
    }

    fn added(&self) -> Result<&[Added], RepoError> {
        if let Some(added) = self.added.get() {
            return Ok(added);
        }
        let diff = self
            .repository
            .git()
            .diff_tree_to_tree(Some(self.base), Some(self.ours), None)
            .map_err(|source| RepoError::git("compare two trees", source))?;
        let deltas = diff.deltas().filter(|delta| delta.status() == Delta::Added).map(|delta| delta.new_file());
        let files = deltas.filter_map(|file| Some((file.path_bytes()?.to_vec(), u32::from(file.mode()), file.id())));
        Ok(self.added.get_or_init(|| files.collect()))
    }

    /// Whether one file has the tokens of another.
    fn is_reformatted(&self, base: &IndexEntry, ours: &IndexEntry) -> bool {
        let texts = [base, ours].map(|entry| self.text(entry.id));
        let [Some(before), Some(ours)] = texts else { return false };
        let Some(language) = self.divisions.language_of(&base.path, &before) else { return false };
        port::is_reformatted(language, &before, &ours)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::edit::edit;
    use crate::repo::ids::{oid, tree_id};
    use crate::repo::{HeldFiles, TreeStore};
    use idd_base::TreeId;
    use idd_change::trees::{Favor, Merged, Trees};

    type Files<'a> = &'a [(&'a str, &'a str)];

    /// The files of a merge and its method; `None` if it conflicts.
    fn merge(base: Files, ours: Files, patched: Files) -> Option<(Vec<(String, String)>, Rung)> {
        let directory = tempfile::tempdir().unwrap();
        let repository = Repository::from(git2::Repository::init_bare(directory.path()).unwrap());
        let empty = repository.git().treebuilder(None).unwrap().write().unwrap();
        let tree = |files: Files| -> TreeId {
            let entries = files.iter().map(|(path, text)| {
                ((*path).into(), Some((0o100_644, repository.git().blob(text.as_bytes()).unwrap())))
            });
            tree_id(edit(&repository, empty, entries.collect::<Vec<_>>()).unwrap().unwrap())
        };
        let [base, ours, patched] = [base, ours, patched].map(tree);
        let store = TreeStore::new(repository, HeldFiles::default(), Vec::new()).unwrap();
        let Merged::Clean(merged, rung) = store.merge(base, ours, patched, Favor::Neither).unwrap() else {
            return None;
        };
        let repository = store.repository();
        let mut files = Vec::new();
        let tree = repository.git().find_tree(oid(merged.0)).unwrap();
        for entry in &tree {
            let blob = repository.git().find_blob(entry.id()).unwrap();
            files.push((entry.name().unwrap().to_owned(), String::from_utf8(blob.content().to_vec()).unwrap()));
        }
        Some((files, rung))
    }

    #[test]
    fn a_mode_that_one_side_changed_is_carried() {
        let (plain, executable, link) = (0o100_644, 0o100_755, 0o120_000);
        assert_eq!(merged_mode([plain, plain, executable]), Some(executable));
        assert_eq!(merged_mode([plain, executable, plain]), Some(executable));
        assert_eq!(merged_mode([plain, executable, executable]), Some(executable));
        assert_eq!(merged_mode([plain, plain, link]), None);
        assert_eq!(merged_mode([link, link, link]), Some(link));
    }

    #[track_caller]
    fn check(base: Files, ours: Files, patched: Files, expected: Option<(Files, Rung)>) {
        let expected = expected.map(|(files, rung)| {
            (files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect::<Vec<_>>(), rung)
        });
        assert_eq!(merge(base, ours, patched), expected);
    }

    const OLD: &str = "int f(int a) {\n  int b = a + 1;\n  return b * 2;\n}\n\nint g(void) {\n  return 3;\n}\n";
    const INDENTED: &str = "int f(int a)\n{\n\tint b = a + 1;\n\treturn b * 2;\n}\n\nint g(void)\n{\n\treturn 3;\n}\n";
    const MENDED: &str = "int f(int a) {\n  int b = a + 1;\n  return b * 5;\n}\n\nint g(void) {\n  return 3;\n}\n";
    const BOTH: &str = "int f(int a)\n{\n\tint b = a + 1;\n\treturn b * 5;\n}\n\nint g(void)\n{\n\treturn 3;\n}\n";

    #[test]
    fn each_rung_is_told() {
        let merged = [("a.c", "int a = 2;\nint b;\nint c;\nint d = 2;\n")];
        let base = [("a.c", "int a;\nint b;\nint c;\nint d;\n")];
        let ours = [("a.c", "int a = 2;\nint b;\nint c;\nint d;\n")];
        check(&base, &ours, &[("a.c", "int a;\nint b;\nint c;\nint d = 2;\n")], Some((&merged, Rung::Merge)));
        let touching = [("a.c", "int a = 2;\nint b = 2;\nint c;\nint d;\n")];
        check(&base, &ours, &[("a.c", "int a;\nint b = 2;\nint c;\nint d;\n")], Some((&touching, Rung::Lines)));
        check(&[("a.c", OLD)], &[("a.c", INDENTED)], &[("a.c", MENDED)], Some((&[("a.c", BOTH)], Rung::Syntax)));
        check(&[("a.txt", OLD)], &[("a.txt", INDENTED)], &[("a.txt", MENDED)], None);
    }

    #[test]
    fn a_patch_follows_a_file_that_was_moved_and_reformatted() {
        let other = ("z.c", "int other;\n");
        check(
            &[("a.c", OLD), other],
            &[("b.c", INDENTED), other],
            &[("a.c", MENDED), other],
            Some((&[("b.c", BOTH), other], Rung::Syntax)),
        );
        check(&[("a.c", OLD), other], &[other], &[("a.c", MENDED), other], None);
    }

    const PRICES: &str = "int price(int n, int each) {\n  int sum = 0;\n  for (int i = 0; i < n; i++)\n    sum += each;\n  if (n > 5 && each > 5)\n    sum -= n;\n  if (sum > 10)\n    return sum;\n  return 10;\n}\n";

    #[test]
    fn a_patch_follows_a_function_to_another_file() {
        let first = "int first;\n";
        let before = format!("{first}\n{PRICES}");
        let mended = before.replace("sum > 10", "sum >= 10");
        let renamed = PRICES.replace("price", "cost").replace("sum", "total");
        let calls = format!("{first}\nint price(int n, int each) {{\n  return cost(n, each);\n}}\n");
        let there = format!("int last;\n\n{renamed}");
        let done = there.replace("total > 10", "total >= 10");
        let other = ("z.c", "int last;\n");
        for here in [calls.as_str(), first] {
            check(
                &[("a.c", &before), other],
                &[("a.c", here), ("z.c", &there)],
                &[("a.c", &mended), other],
                Some((&[("a.c", here), ("z.c", &done)], Rung::Renamed)),
            );
        }
        // The file that it left is gone.
        check(
            &[("a.c", &before), other],
            &[("z.c", &there)],
            &[("a.c", &mended), other],
            Some((&[("z.c", &done)], Rung::Renamed)),
        );
        // The rest of the patch stays where it was.
        check(
            &[("a.c", &before), other],
            &[("a.c", first), ("z.c", &there)],
            &[("a.c", &mended.replace("first", "second")), other],
            Some((&[("a.c", "int second;\n"), ("z.c", &done)], Rung::Renamed)),
        );
    }

    #[test]
    fn a_patch_follows_no_function_that_may_be_another() {
        let before = format!("int first;\n\n{PRICES}");
        let mended = before.replace("sum > 10", "sum >= 10");
        let there = format!("int last;\n\n{PRICES}");
        let (here, other) = (("a.c", "int first;\n"), ("z.c", "int last;\n"));
        let patched = [("a.c", mended.as_str()), other];
        // It was there before.
        check(
            &[("a.c", &before), ("z.c", &there)],
            &[here, ("z.c", &there)],
            &[("a.c", &mended), ("z.c", &there)],
            None,
        );
        // There are two.
        check(&[("a.c", &before), other], &[here, ("y.c", PRICES), ("z.c", &there)], &patched, None);
        // It is edited there, too.
        let edited = there.replace("sum > 10", "sum > 12");
        check(&[("a.c", &before), other], &[here, ("z.c", &edited)], &patched, None);
        // It is deleted.
        check(
            &[("a.c", &before), other],
            &[here, ("z.c", &there)],
            &[here, other],
            Some((&[here, ("z.c", &there)], Rung::Merge)),
        );
    }

    #[test]
    fn what_a_version_control_system_wrote_does_not_conflict() {
        let text = |id: u32, a: u32, b: u32| format!("$Id: a 1.{id} $\nint a = {a};\nint b;\nint c;\nint b = {b};\n");
        check(
            &[("a.txt", &text(1, 1, 1))],
            &[("a.txt", &text(2, 7, 1))],
            &[("a.txt", &text(3, 1, 7))],
            Some((&[("a.txt", &text(2, 7, 7))], Rung::Lines)),
        );
    }

    #[test]
    fn what_both_insert_at_one_place_stands_together_only_where_syntax_allows_it() {
        let body = |text: &str| format!("int g;\nvoid f(void) {{\n  one();\n{text}}}\n");
        let (base, ours, patched) = (body(""), body("  two();\n"), body("  three();\n"));
        check(&[("a.c", &base)], &[("a.c", &ours)], &[("a.c", &patched)], None);
        let both = body("  two();\n  three();\n");
        check(
            &[("a.txt", &base)],
            &[("a.txt", &ours)],
            &[("a.txt", &patched)],
            Some((&[("a.txt", &both)], Rung::Lines)),
        );
    }

    #[test]
    fn a_patch_deletes_a_file_that_was_only_reformatted() {
        let other = ("z.c", "int other;\n");
        check(&[("a.c", OLD), other], &[("a.c", INDENTED), other], &[other], Some((&[other], Rung::Syntax)));
        check(&[("a.c", OLD), other], &[("a.c", BOTH), other], &[other], None);
    }

    #[test]
    fn what_was_appended_since_stands_once_behind_a_changed_line() {
        let text = |first: &str, rest: &str| format!("{first}\n{rest}");
        let appended = "8\n9\n10\n11\n12\n";
        let other = ["1\n2\n3\n4\n5\n6\n7\n".to_owned(), "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n".to_owned()];
        check(
            &[("a.txt", "bad\n"), ("b.txt", &other[0])],
            &[("a.txt", &text("bad", appended)), ("b.txt", &other[1])],
            &[("a.txt", "good\n"), ("b.txt", &other[0])],
            Some((&[("a.txt", &text("good", appended)), ("b.txt", &other[1])], Rung::Lines)),
        );
    }
}
