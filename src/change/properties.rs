//! Properties of every change set: examples for each kind of change, and random change sets.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::Index;

use crate::{
    ChangeSet, EntryContent, EntryMode, FileDivision, FilePair, FileSide, Group, Level, Subset, Unit, UnitId, UnitKind,
};
use idd_base::ObjectId;

type Tree = BTreeMap<Vec<u8>, (EntryMode, EntryContent)>;

fn side(path: &str, mode: EntryMode, text: &str) -> FileSide {
    FileSide { path: path.into(), mode, content: EntryContent::Bytes(text.as_bytes().into()) }
}

fn file(path: &str, text: &str) -> FileSide {
    side(path, EntryMode::Regular, text)
}

fn pair(older: Option<FileSide>, newer: Option<FileSide>) -> FilePair {
    FilePair { older, newer }
}

fn entries<'a>(sides: impl Iterator<Item = &'a Option<FileSide>>) -> Tree {
    sides.flatten().map(|side| (side.path.clone(), (side.mode, side.content.clone()))).collect()
}

/// The older tree with the edits of `subset` applied one by one, as a writer of trees does it.
fn applied(change_set: &ChangeSet, subset: &Subset) -> Tree {
    let mut tree = entries(change_set.files().iter().map(|pair| &pair.older));
    for edit in change_set.render(subset).unwrap() {
        match edit.result {
            None => assert!(tree.remove(&edit.path).is_some(), "only a path that is there goes"),
            Some(entry) => {
                let below = [&edit.path[..], b"/"].concat();
                assert!(!tree.keys().any(|path| path.starts_with(&below)), "no file is written over a directory");
                assert_ne!(tree.insert(edit.path, entry.clone()), Some(entry), "only what differs is written");
            }
        }
    }
    tree
}

fn of_ids(change_set: &ChangeSet, units: &[u32]) -> Subset {
    let mut subset = change_set.empty();
    subset.extend(units.iter().map(|unit| UnitId(*unit)));
    subset
}

fn text_at<'a>(tree: &'a Tree, path: &str) -> Option<&'a str> {
    match &tree.get(path.as_bytes())?.1 {
        EntryContent::Bytes(bytes) => Some(std::str::from_utf8(bytes).unwrap()),
        EntryContent::Submodule(_) => None,
    }
}

#[test]
fn a_file_that_a_program_writes_changes_as_a_whole_and_in_one_group_with_its_source() {
    let pairs = vec![
        pair(Some(file("a.c", "one\ntwo\n")), Some(file("a.c", "one\n2\n3\n"))),
        pair(None, Some(file("b.c", "one\ntwo\n"))),
        pair(Some(file("c.c", "one\n")), None),
        pair(Some(file("main.c", "x\n")), Some(file("main.c", "y\n"))),
        pair(Some(file("table", "x\nx\n")), Some(file("table", "y\n"))),
    ];
    let change_set = ChangeSet::divided(pairs, |pair| match pair.path() {
        b"main.c" | b"table" => FileDivision::Lines,
        path => FileDivision::Whole { sources: if path == b"a.c" { vec![b"table".to_vec()] } else { Vec::new() } },
    });
    let kinds: Vec<_> = change_set.units()[..3].iter().map(|unit| &unit.kind).collect();
    assert_eq!(kinds, [&UnitKind::Whole, &UnitKind::Create, &UnitKind::Remove]);
    assert_eq!([0, 1, 2].map(|unit| change_set.n_lines(&of_ids(&change_set, &[unit]))), [3, 2, 1]);
    assert_eq!(change_set.close(&of_ids(&change_set, &[0, 1, 4, 5])), of_ids(&change_set, &[1, 4, 5]));
    let made = applied(&change_set, &change_set.close(&of_ids(&change_set, &[0, 1, 2, 4, 5, 6])));
    assert_eq!((text_at(&made, "a.c"), text_at(&made, "b.c")), (Some("one\n2\n3\n"), Some("one\ntwo\n")));
    assert_eq!((text_at(&made, "c.c"), text_at(&made, "main.c")), (None, Some("x\n")));
    let of_files = change_set.groups(Level::File).iter().map(|group| format!("{:?}", group.spans()));
    assert_eq!(of_files.collect::<Vec<_>>(), ["[0..1, 4..7]", "[1..2]", "[2..3]", "[3..4]"]);
    assert_eq!(change_set.groups(Level::Hunk).len(), 5);
}

#[test]
fn lines_of_an_added_file_need_its_creation_and_creation_alone_makes_an_empty_file() {
    let change_set = ChangeSet::new(vec![pair(None, Some(file("f", "one\ntwo\n")))]);
    assert_eq!(change_set.units()[0].kind, UnitKind::Create);
    assert!(change_set.close(&of_ids(&change_set, &[1, 2])).is_empty());
    assert_eq!(text_at(&applied(&change_set, &of_ids(&change_set, &[0])), "f"), Some(""));
    assert_eq!(text_at(&applied(&change_set, &of_ids(&change_set, &[0, 2])), "f"), Some("two\n"));
    assert_eq!(change_set.n_lines(&change_set.full()), 2);
}

#[test]
fn the_removal_of_a_file_needs_the_deletion_of_all_its_lines() {
    let change_set = ChangeSet::new(vec![pair(Some(file("f", "one\ntwo\n")), None)]);
    assert_eq!(change_set.close(&of_ids(&change_set, &[0, 2])), of_ids(&change_set, &[0]));
    assert_eq!(text_at(&applied(&change_set, &of_ids(&change_set, &[0])), "f"), Some("two\n"));
    assert_eq!(text_at(&applied(&change_set, &of_ids(&change_set, &[0, 1])), "f"), Some(""));
    assert_eq!(text_at(&applied(&change_set, &change_set.full()), "f"), None);
}

#[test]
fn a_rename_and_the_lines_of_the_renamed_file_are_independent() {
    let change_set = ChangeSet::new(vec![pair(Some(file("a.c", "x = 1;\n")), Some(file("b.c", "x = 2;\n")))]);
    let moved = applied(&change_set, &of_ids(&change_set, &[0]));
    assert_eq!((text_at(&moved, "a.c"), text_at(&moved, "b.c")), (None, Some("x = 1;\n")));
    let edited = applied(&change_set, &of_ids(&change_set, &[1]));
    assert_eq!((text_at(&edited, "a.c"), text_at(&edited, "b.c")), (Some("x = 2;\n"), None));
}

#[test]
fn the_executable_bit_is_a_unit_of_its_own() {
    let older = side("run", EntryMode::Regular, "x\0");
    let newer = side("run", EntryMode::Executable, "y\0");
    let change_set = ChangeSet::new(vec![pair(Some(older), Some(newer.clone()))]);
    let kinds: Vec<_> = change_set.units().iter().map(|unit| unit.kind.clone()).collect();
    assert_eq!(kinds, [UnitKind::Mode, UnitKind::Whole]);
    let content = applied(&change_set, &of_ids(&change_set, &[1]));
    assert_eq!(content[&b"run"[..]], (EntryMode::Regular, newer.content));
}

#[test]
fn links_submodules_and_type_changes_are_whole() {
    let submodule = FileSide {
        path: b"s".to_vec(),
        mode: EntryMode::Submodule,
        content: EntryContent::Submodule(ObjectId::Sha1([7; 20])),
    };
    let change_set = ChangeSet::new(vec![
        pair(Some(file("f", "text\n")), Some(side("f", EntryMode::Symlink, "target"))),
        pair(Some(side("l", EntryMode::Symlink, "here")), Some(side("l", EntryMode::Symlink, "there"))),
        pair(None, Some(submodule.clone())),
    ]);
    let kinds: Vec<_> = change_set.units().iter().map(|unit| unit.kind.clone()).collect();
    assert_eq!(kinds, [UnitKind::Whole, UnitKind::Whole, UnitKind::Create]);
    let tree = applied(&change_set, &change_set.full());
    assert_eq!(tree[&b"f"[..]].0, EntryMode::Symlink);
    assert_eq!(tree[&b"s"[..]], (EntryMode::Submodule, submodule.content));
}

#[test]
fn a_file_in_the_place_of_a_directory_needs_the_directory_to_go() {
    let change_set = ChangeSet::new(vec![pair(None, Some(file("d", ""))), pair(Some(file("d/x", "gone\n")), None)]);
    assert!(change_set.close(&of_ids(&change_set, &[0])).is_empty());
    assert_eq!(change_set.render(&of_ids(&change_set, &[0])).unwrap_err().path, b"d");
    let edits = change_set.render(&change_set.full()).unwrap();
    assert_eq!(edits.iter().map(|edit| &edit.path[..]).collect::<Vec<_>>(), [&b"d/x"[..], b"d"]);
}

#[test]
fn two_files_that_swap_their_paths_do_so_together() {
    let change_set = ChangeSet::new(vec![
        pair(Some(file("a", "1\n")), Some(file("b", "1\n"))),
        pair(Some(file("b", "2\n")), Some(file("a", "2\n"))),
    ]);
    assert!(change_set.close(&of_ids(&change_set, &[0])).is_empty());
    assert!(change_set.render(&of_ids(&change_set, &[0])).is_err());
    let tree = applied(&change_set, &change_set.full());
    assert_eq!((text_at(&tree, "a"), text_at(&tree, "b")), (Some("2\n"), Some("1\n")));
}

#[test]
fn no_line_is_glued_to_a_last_line_without_terminator() {
    let change_set = ChangeSet::new(vec![pair(Some(file("f", "a\nend")), Some(file("f", "a\nend\nmore\n")))]);
    assert!(change_set.close(&of_ids(&change_set, &[1])).is_empty());
    let change_set = ChangeSet::new(vec![pair(Some(file("f", "end\nmore\n")), Some(file("f", "end")))]);
    assert!(change_set.close(&of_ids(&change_set, &[0])).is_empty());
}

#[test]
fn a_description_holds_paths_lines_and_bytes() {
    let older = file("a.c", "same\nint n = 1;\n");
    let change_set = ChangeSet::new(vec![pair(Some(older), Some(file("b.c", "same\nint n = 2;\nfresh\n")))]);
    let modified = change_set.describe(UnitId(1));
    assert_eq!((modified.path(), modified.older_path), (&b"b.c"[..], Some(&b"a.c"[..])));
    assert_eq!((modified.older_lines.clone(), modified.newer_lines.clone()), (1..2, 1..2));
    assert_eq!((modified.deleted, modified.inserted), (&b"int n = 1;\n"[..], &b"int n = 2;\n"[..]));
    let inserted = change_set.describe(UnitId(2));
    assert_eq!((inserted.older_lines, inserted.newer_lines, inserted.inserted), (2..2, 2..3, &b"fresh\n"[..]));
    assert_eq!(change_set.n_lines(&change_set.full()), 3);
}

#[test]
fn levels_divide_by_file_then_by_run_of_changed_lines() {
    let change_set = ChangeSet::new(vec![
        pair(Some(file("a", "1\n2\n3\n")), Some(file("a", "x\ny\n2\nz\n"))),
        pair(None, Some(file("b", "1\n2\n"))),
    ]);
    assert_eq!(change_set.groups(Level::File), [0..4, 4..7].map(Group::from));
    assert_eq!(change_set.groups(Level::Hunk), [0..3, 3..4, 4..5, 5..7].map(Group::from));
    assert_eq!(change_set.groups(Level::Line).len(), 7);
}

#[test]
fn single_lines_are_those_of_a_patch_deletions_of_a_run_before_its_insertions() {
    let (older, newer) = ("start\nint a = 1;\nint b = 1;\nend\n", "start\nint a = 2;\nint b = 2;\nend\n");
    let change_set = ChangeSet::new(vec![pair(Some(file("f", older)), Some(file("f", newer)))]);
    assert_eq!(change_set.units().len(), 2);
    let single = change_set.with_single_lines();
    let text = |units: &[u32]| text_at(&applied(&single, &of_ids(&single, units)), "f").unwrap().replace('\n', " ");
    assert_eq!(text(&[0, 1, 2, 3]), newer.replace('\n', " "));
    assert_eq!(text(&[1, 2, 3]), "start int a = 1; int a = 2; int b = 2; end ");
    assert_eq!(text(&[0, 1, 3]), "start int b = 2; end ");
    assert_eq!(text(&[3]), "start int a = 1; int b = 1; int b = 2; end ");
}

/// A text of a few lines from a small alphabet, so that many lines are equal or similar; sometimes binary or without a
/// last line end.
fn text() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec!["{", "}", "", "int n = 1;", "int n = 2;", "call(n);", "call(n, n);\r"]);
    (prop::collection::vec(line, 0..9), prop::bool::ANY, prop::bool::weighted(0.1)).prop_map(
        |(lines, is_open, is_binary)| {
            let mut text = lines.join("\n");
            if !is_open && !lines.is_empty() {
                text.push('\n');
            }
            if is_binary {
                text.push('\0');
            }
            text
        },
    )
}

/// A valid tree with few paths, some of which are above others.
fn tree() -> impl Strategy<Value = Tree> {
    let path = prop::sample::select(vec!["a", "b", "d", "d/x", "d/y", "d/y/z", "e"]);
    let mode = prop::sample::select(vec![
        EntryMode::Regular,
        EntryMode::Regular,
        EntryMode::Executable,
        EntryMode::Symlink,
        EntryMode::Submodule,
    ]);
    prop::collection::vec((path, mode, text()), 0..6).prop_map(|files| {
        let mut tree = Tree::new();
        for (path, mode, text) in files {
            let excludes = |other: &Vec<u8>| {
                let (path, other) = (format!("{path}/"), [&other[..], b"/"].concat());
                path.as_bytes().starts_with(&other) || other.starts_with(path.as_bytes())
            };
            if !tree.keys().any(excludes) {
                let content = match mode {
                    EntryMode::Submodule => {
                        EntryContent::Submodule(ObjectId::Sha1([u8::try_from(text.len()).unwrap(); 20]))
                    }
                    _ => EntryContent::Bytes(text.into_bytes().into()),
                };
                tree.insert(path.into(), (mode, content));
            }
        }
        tree
    })
}

fn take(tree: &mut Tree, path: &[u8]) -> Option<FileSide> {
    let (mode, content) = tree.remove(path)?;
    Some(FileSide { path: path.to_vec(), mode, content })
}

/// The pairs between two trees; some removed files count as renamed to added files.
fn pairs(mut older: Tree, mut newer: Tree, renames: &[(Index, Index)]) -> Vec<FilePair> {
    let mut pairs = Vec::new();
    for (from, to) in renames {
        let is_file = |entry: &(&Vec<u8>, &(EntryMode, EntryContent))| entry.1.0.is_file();
        let from_paths: Vec<_> = older.iter().filter(is_file).map(|entry| entry.0.clone()).collect();
        let to_paths: Vec<_> = newer.iter().filter(is_file).map(|entry| entry.0.clone()).collect();
        if !from_paths.is_empty() && !to_paths.is_empty() {
            let (from, to) = (from.get(&from_paths), to.get(&to_paths));
            pairs.push(pair(take(&mut older, from), take(&mut newer, to)));
        }
    }
    let paths: std::collections::BTreeSet<_> = older.keys().chain(newer.keys()).cloned().collect();
    pairs.extend(paths.iter().map(|path| pair(take(&mut older, path), take(&mut newer, path))));
    pairs
}

fn change() -> impl Strategy<Value = (Tree, Tree, ChangeSet)> {
    let renames = prop::collection::vec(any::<(Index, Index)>(), 0..3);
    (tree(), tree(), renames, any::<bool>()).prop_map(|(older, newer, renames, has_single_lines)| {
        let change_set = ChangeSet::new(pairs(older.clone(), newer.clone(), &renames));
        let change_set = if has_single_lines { change_set.with_single_lines() } else { change_set };
        (older, newer, change_set)
    })
}

fn chosen(change_set: &ChangeSet, bits: &[bool]) -> Subset {
    let mut subset = change_set.empty();
    subset.extend((0..).map(UnitId).take(change_set.units().len()).filter(|unit| bits[unit.index() % bits.len()]));
    subset
}

fn lines_of(content: &EntryContent) -> Vec<&[u8]> {
    match content {
        EntryContent::Bytes(bytes) => bytes.split_inclusive(|byte| *byte == b'\n').collect(),
        EntryContent::Submodule(_) => Vec::new(),
    }
}

proptest! {
    #[test]
    fn the_empty_subset_is_the_older_side_and_the_full_one_the_newer((older, newer, change_set) in change()) {
        prop_assert_eq!(change_set.render(&change_set.empty()).unwrap(), vec![]);
        prop_assert_eq!(applied(&change_set, &change_set.empty()), older);
        prop_assert_eq!(change_set.close(&change_set.full()), change_set.full());
        prop_assert_eq!(applied(&change_set, &change_set.full()), newer);
    }

    #[test]
    fn every_closed_subset_renders_without_collision_and_each_line_from_one_side(
        (_, _, change_set) in change(),
        bits in prop::collection::vec(any::<bool>(), 1..70),
    ) {
        let subset = change_set.close(&chosen(&change_set, &bits));
        let tree = applied(&change_set, &subset);
        let sides: Vec<&FileSide> =
            change_set.files().iter().flat_map(|pair| [&pair.older, &pair.newer]).flatten().collect();
        for (path, (mode, content)) in &tree {
            let of_path = change_set.files().iter().filter(|pair| {
                [&pair.older, &pair.newer].into_iter().flatten().any(|side| &side.path == path)
            });
            let lines: Vec<&[u8]> = of_path
                .flat_map(|pair| [&pair.older, &pair.newer])
                .flatten()
                .flat_map(|side| lines_of(&side.content))
                .collect();
            prop_assert!(lines_of(content).iter().all(|line| lines.contains(line)), "a line of neither side");
            prop_assert!(sides.iter().any(|side| side.mode == *mode));
        }
    }

    #[test]
    fn closing_is_idempotent_monotone_and_only_drops(
        (_, _, change_set) in change(),
        bits in prop::collection::vec(any::<bool>(), 1..70),
        more in prop::collection::vec(any::<bool>(), 1..70),
    ) {
        let subset = chosen(&change_set, &bits);
        let larger = subset.union(&chosen(&change_set, &more));
        let closed = change_set.close(&subset);
        prop_assert!(closed.is_subset(&subset));
        prop_assert_eq!(&change_set.close(&closed), &closed);
        prop_assert!(closed.is_subset(&change_set.close(&larger)));
    }

    #[test]
    fn each_level_is_a_partition_and_a_finer_one_divides_a_coarser_one((_, _, change_set) in change()) {
        for (coarse, fine) in [(Level::File, Level::Hunk), (Level::Hunk, Level::Line)] {
            let subsets = |level| change_set.groups(level).iter().map(|group| change_set.subset(group)).collect::<Vec<_>>();
            let (coarse, fine) = (subsets(coarse), subsets(fine));
            prop_assert!(fine.iter().all(|group| coarse.iter().filter(|above| group.is_subset(above)).count() == 1));
            prop_assert_eq!(coarse.iter().map(Subset::len).sum::<usize>(), change_set.units().len());
            prop_assert_eq!(fine.iter().fold(change_set.empty(), |all, group| all.union(group)), change_set.full());
        }
    }

    #[test]
    fn the_units_between_two_texts_ascend_and_each_changes_something((older, newer) in (text(), text())) {
        let change_set = ChangeSet::new(vec![pair(Some(file("f", &older)), Some(file("f", &newer)))]);
        let single = change_set.with_single_lines();
        prop_assert_eq!(single.n_lines(&single.full()), change_set.n_lines(&change_set.full()));
        let is_single = |unit: &Unit| match &unit.kind {
            UnitKind::Lines { deleted, inserted } => deleted.is_empty() || inserted.is_empty(),
            _ => true,
        };
        prop_assert!(single.units().iter().all(is_single));
        let (mut deleted, mut inserted) = (0, 0);
        for unit in (0..).map(UnitId).take(change_set.units().len()) {
            let unit = change_set.describe(unit);
            if let UnitKind::Lines { .. } = unit.kind {
                prop_assert!(unit.older_lines.start >= deleted && unit.newer_lines.start >= inserted);
                prop_assert!(unit.older_lines.len() <= 1 && unit.newer_lines.len() <= 1);
                prop_assert!(unit.older_lines.len() + unit.newer_lines.len() > 0);
                prop_assert_ne!(unit.deleted, unit.inserted);
                (deleted, inserted) = (unit.older_lines.end, unit.newer_lines.end);
            }
        }
    }
}
