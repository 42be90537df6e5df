//! Finds the C sources that a change touches: changed ones, and those that include a changed file.

use crate::repo::Repository;
use crate::repo::object::{EntryKind, ObjectReader, TreeEntry};
use crate::repo::refusal::MoveStop;
use idd_base::{BlobId, TreeId};
use std::collections::{BTreeMap, HashMap, HashSet, hash_map};

/// The maximum number of sources.
const MAX_SOURCES: usize = 8;

/// If a tree has more files that can include others, includes are not followed.
const MAX_READ: usize = 5_000;

/// Extensions of files that include others or are included.
const INCLUDING: [&[u8]; 9] = [b".c", b".h", b".inc", b".def", b".hpp", b".hh", b".hxx", b".ipp", b".tbl"];

/// The includes of files, stored by their content.
#[derive(Debug, Default)]
pub struct TouchedIncludes {
    /// The file names in the `#include`s of a file, without directories.
    included: HashMap<BlobId, Vec<Vec<u8>>>,
}

impl TouchedIncludes {
    /// The sources of `newer` that a change from `older` touches, at most 8; see
    /// [`sources_up_to`](Self::sources_up_to).
    pub fn sources(
        &mut self,
        repository: &Repository,
        older: TreeId,
        newer: TreeId,
        is_source: &dyn Fn(&[u8]) -> bool,
    ) -> Vec<Vec<u8>> {
        self.sources_up_to(MAX_SOURCES, repository, older, newer, is_source)
    }

    /// The sources of `newer` that a change from `older` touches, at most `max`: changed ones by path, then those that
    /// include a changed file, directly first, by path. Only paths for which `is_source` is true; none if a tree cannot
    /// be read.
    ///
    /// A file counts as including every file with an included name, in any directory, because options of the compiler
    /// and conditions of the preprocessor are not known here. So the result can have a few sources too many. A source
    /// that another one includes is not in the result: it is compiled as a part of that one.
    ///
    /// Cost: reads the directories that differ, all directories of `newer`, and once each file that can include others.
    pub fn sources_up_to(
        &mut self,
        max: usize,
        repository: &Repository,
        older: TreeId,
        newer: TreeId,
        is_source: &dyn Fn(&[u8]) -> bool,
    ) -> Vec<Vec<u8>> {
        self.look(max, repository, older, newer, is_source).unwrap_or_default()
    }

    fn look(
        &mut self,
        max: usize,
        repository: &Repository,
        older: TreeId,
        newer: TreeId,
        is_source: &dyn Fn(&[u8]) -> bool,
    ) -> Result<Vec<Vec<u8>>, MoveStop> {
        let objects = ObjectReader::open(repository)?;
        let mut changed = BTreeMap::new();
        compare(&objects, Some(older), Some(newer), b"", &mut changed)?;
        let is_there = |(path, blob): &(&Vec<u8>, &Option<BlobId>)| blob.is_some() && is_source(path);
        let mut sources: Vec<Vec<u8>> = changed.iter().filter(is_there).map(|(path, _)| path.clone()).collect();
        let mut names: HashSet<Vec<u8>> = changed.keys().map(|path| name(path)).collect();
        let mut files = BTreeMap::new();
        if names.iter().any(|name| is_including(name)) {
            compare(&objects, None, Some(newer), b"", &mut files)?;
        }
        files.retain(|path, _| is_including(path) || is_source(path));
        if files.len() > MAX_READ {
            files.clear();
        }
        while !names.is_empty() && sources.len() < max {
            let mut including = HashSet::new();
            for (path, blob) in &files {
                let Some(blob) = blob else { continue };
                let mut included =
                    self.included(&objects, *blob)?.iter().filter(|name| names.contains(*name)).peekable();
                if included.peek().is_none() {
                    continue;
                }
                if !is_source(path) {
                    including.insert(path.clone());
                    continue;
                }
                let included: Vec<&Vec<u8>> = included.collect();
                sources.retain(|source| source == path || !included.contains(&&name(source)));
                if !sources.contains(path) {
                    sources.push(path.clone());
                }
            }
            names = including.iter().map(|path| name(path)).collect();
            // Each file is followed only once, because files can include each other.
            files.retain(|path, _| !including.contains(path));
        }
        sources.truncate(max);
        Ok(sources)
    }

    fn included(&mut self, objects: &ObjectReader<'_>, blob: BlobId) -> Result<&[Vec<u8>], MoveStop> {
        match self.included.entry(blob) {
            hash_map::Entry::Occupied(known) => Ok(known.into_mut()),
            hash_map::Entry::Vacant(unknown) => Ok(unknown.insert(included_in(&objects.blob(blob)?))),
        }
    }
}

/// The files of `newer`, by path, that are not the same in `older`; regular files only, none if a tree cannot be read.
pub fn changed(repository: &Repository, older: TreeId, newer: TreeId) -> Vec<Vec<u8>> {
    let look = || -> Result<_, MoveStop> {
        let mut changed = BTreeMap::new();
        compare(&ObjectReader::open(repository)?, Some(older), Some(newer), b"", &mut changed)?;
        Ok(changed)
    };
    let changed = look().unwrap_or_default();
    changed.into_iter().filter(|(_, blob)| blob.is_some()).map(|(path, _)| path).collect()
}

fn is_including(path: &[u8]) -> bool {
    INCLUDING.iter().any(|extension| path.ends_with(extension))
}

/// The last component of a path.
fn name(path: &[u8]) -> Vec<u8> {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or_default().to_vec()
}

/// The file names in the `#include`s of a text, without directories.
fn included_in(text: &[u8]) -> Vec<Vec<u8>> {
    let included = |line: &[u8]| {
        let rest = line.trim_ascii_start().strip_prefix(b"#")?.trim_ascii_start();
        let rest = rest.strip_prefix(b"include")?.trim_ascii_start();
        let close = match rest.first()? {
            b'"' => b'"',
            b'<' => b'>',
            _ => return None,
        };
        let path = rest[1..].split(|byte| *byte == close).next()?;
        Some(name(path))
    };
    text.split(|byte| *byte == b'\n').filter_map(included).collect()
}

/// Adds the files that differ, each with its content in the newer tree if it is there.
fn compare(
    objects: &ObjectReader<'_>,
    older: Option<TreeId>,
    newer: Option<TreeId>,
    above: &[u8],
    found: &mut BTreeMap<Vec<u8>, Option<BlobId>>,
) -> Result<(), MoveStop> {
    let entries = |tree: Option<TreeId>| tree.map_or(Ok(Vec::new()), |tree| objects.tree(tree, above));
    let mut sides: BTreeMap<Vec<u8>, [Option<TreeEntry>; 2]> = BTreeMap::new();
    for (side, entries) in [entries(older)?, entries(newer)?].into_iter().enumerate() {
        for entry in entries {
            let name = entry.name.clone();
            sides.entry(name).or_default()[side] = Some(entry);
        }
    }
    for (name, [older, newer]) in sides.into_iter().filter(|(_, [older, newer])| older != newer) {
        let path = [above, &name].concat();
        let tree = |entry: &Option<TreeEntry>| {
            entry.as_ref().filter(|entry| entry.kind == EntryKind::Tree).map(|entry| TreeId(entry.id))
        };
        let trees = [tree(&older), tree(&newer)];
        if trees != [None, None] {
            compare(objects, trees[0], trees[1], &[&path[..], b"/"].concat(), found)?;
        }
        let is_file = |entry: &Option<TreeEntry>| entry.as_ref().is_some_and(|entry| entry.kind != EntryKind::Tree);
        if is_file(&older) || is_file(&newer) {
            found.insert(path, newer.and_then(|entry| entry.regular_blob()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::Repository;

    /// The tree with these files; a path has at most one directory.
    fn tree(repository: &Repository, files: &[(&str, &str)]) -> TreeId {
        let mut index = git2::Index::new().unwrap();
        for (path, text) in files {
            let entry = git2::IndexEntry {
                ctime: git2::IndexTime::new(0, 0),
                mtime: git2::IndexTime::new(0, 0),
                dev: 0,
                ino: 0,
                mode: 0o100_644,
                uid: 0,
                gid: 0,
                file_size: 0,
                id: repository.git().blob(text.as_bytes()).unwrap(),
                flags: 0,
                flags_extended: 0,
                path: path.as_bytes().to_vec(),
            };
            index.add(&entry).unwrap();
        }
        crate::repo::ids::tree_id(index.write_tree_to(repository.git()).unwrap())
    }

    #[track_caller]
    fn check(older: &[(&str, &str)], newer: &[(&str, &str)], expected: &[&str]) {
        let place = tempfile::tempdir().unwrap();
        let repository = Repository::from(git2::Repository::init_bare(place.path()).unwrap());
        let [older, newer] = [older, newer].map(|files| tree(&repository, files));
        let found = TouchedIncludes::default().sources(&repository, older, newer, &|path| path.ends_with(b".c"));
        let found: Vec<&str> = found.iter().map(|path| std::str::from_utf8(path).unwrap()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn sources_that_changed_come_first_and_then_those_that_include_what_changed() {
        let includes = " # include \"../d/one.h\"\n";
        let both =
            [("a.c", includes), ("d/two.h", "#include <one.h>\n"), ("u.c", "int u;"), ("z.c", "#include \"two.h\"")];
        let with = |more: &[(&'static str, &'static str)]| [&both[..], more].concat();
        let (older, newer) = (with(&[("d/one.h", "int one;")]), with(&[("d/one.h", "")]));
        check(&older, &older, &[]);
        check(&older, &newer, &["a.c", "z.c"]);
        check(&older, &with(&[]), &["a.c", "z.c"]);
        let sources = |text: &'static str| [&newer[..2], &newer[3..], &[("u.c", text)]].concat();
        check(&sources("1"), &sources("2"), &["u.c"]);
        check(&older, &sources("2"), &["u.c", "a.c", "z.c"]);
        check(&[("w.c", "")], &older, &["a.c", "u.c", "z.c"]);
        let main = ("main.c", "#include \"u.c\"\n");
        check(&[main, ("u.c", "1")], &[main, ("u.c", "2")], &["main.c"]);
    }

    #[test]
    fn files_that_changed_are_those_that_are_there() {
        let place = tempfile::tempdir().unwrap();
        let repository = Repository::from(git2::Repository::init_bare(place.path()).unwrap());
        let older = tree(&repository, &[("a.py", "1"), ("d/b", "1"), ("gone", "1"), ("same", "1")]);
        let newer = tree(&repository, &[("a.py", "2"), ("d/b", "2"), ("d/new", "2"), ("same", "1")]);
        assert_eq!(changed(&repository, older, newer), [&b"a.py"[..], b"d/b", b"d/new"]);
        assert_eq!(changed(&repository, newer, newer), Vec::<Vec<u8>>::new());
    }

    #[test]
    fn files_that_include_each_other_are_looked_at_once() {
        let both = [("x.h", "#include \"y.h\""), ("m.c", "#include \"x.h\"")];
        let with = |text: &'static str| [&both[..], &[("y.h", text)]].concat();
        check(&with("#include \"x.h\""), &with("#include \"x.h\"\n"), &["m.c"]);
    }

    #[test]
    fn of_very_many_sources_the_first_are_named() {
        let names: Vec<String> = (10..40).map(|n| format!("{n}.c")).collect();
        let files: Vec<(&str, &str)> = names.iter().map(|name| (&name[..], "")).collect();
        let expected: Vec<&str> = names[..8].iter().map(|name| &name[..]).collect();
        check(&[], &files, &expected);
    }
}
