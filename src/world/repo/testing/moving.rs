//! Moves between ordinary trees.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use proptest::prelude::*;

use crate::repo::conversion::ConversionNotice;
use crate::repo::refusal::Refusal;
use crate::repo::settle::Settled;
use crate::repo::stat::{Directory, TrackedEntry};
use crate::repo::testing::{Bench, Leaf, Leaves, files, picture};
use crate::repo::write::MoveResult;

/// The pointer in place of a file that Git LFS stores elsewhere.
const LFS_POINTER: &str = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n";

fn ordinary() -> Leaves {
    let mut leaves = files(&[
        ("README", "$Id$\n"),
        ("a/deep/er/x.c", "int x;\n"),
        ("a/deep/y.c", "int y;\r\n"),
        ("dos.txt", "one\ntwo\n"),
        ("auto.txt", "one\ntwo\n"),
        ("auto.bin", "one\0two\n"),
        ("wide.txt", "caf\u{e9}\n"),
        ("a/dos.txt", "nested\n"),
        (
            ".gitattributes",
            "*.txt eol=crlf\nauto.* text=auto\nwide.txt working-tree-encoding=UTF-16LE-BOM\nREADME ident\n",
        ),
        ("a/.gitattributes", "*.txt -text\n"),
    ]);
    leaves.insert(b"bin/run".into(), Leaf::Executable(b"#!/bin/sh\n".into()));
    leaves.insert(b"bin/again".into(), Leaf::Link(b"run".into()));
    leaves.insert(b"dangling".into(), Leaf::Link(b"../../nowhere/\xff".into()));
    leaves.insert(b"module".into(), Leaf::Submodule);
    leaves
}

#[test]
fn the_files_are_those_of_git_checkout_index() {
    let mut bench = Bench::new();
    let leaves = ordinary();
    let tree = bench.tree(&leaves).to_string();
    bench.sandbox.git(&["read-tree", &tree]);
    let prefix = bench.outside().join("oracle/");
    // The oracle reads attributes from the index only if its own working tree has none.
    bench.sandbox.git(&["checkout-index", "-a", "-f", &format!("--prefix={}", prefix.display())]);
    let moved = bench.go(&leaves);
    assert_eq!(bench.picture(), picture(&prefix));
    assert_eq!(moved, MoveResult { n_written: 13, n_removed: 0 });
}

/// More leaves than one thread writes or examines: `n` in one directory, and as many below others.
pub fn many(n: usize) -> Leaves {
    let leaf = |number: usize| match number % 5 {
        0 => Leaf::Executable(format!("run {number}").into()),
        1 => Leaf::Link(format!("to {number}").into()),
        _ => Leaf::File(format!("file {number}").into()),
    };
    let flat = (0..n).map(|number| (format!("flat/{number}").into_bytes(), leaf(number)));
    let deep = (0..n).map(|number| (format!("{}/{}/{number}", number % 7, number % 3).into_bytes(), leaf(number + 1)));
    flat.chain(deep).collect()
}

#[test]
fn many_files_are_written_at_once_as_one_by_one() {
    let mut bench = Bench::new();
    let mut leaves = many(700);
    leaves.insert(b"large".into(), Leaf::File(LFS_POINTER.into()));
    assert_eq!(bench.go(&leaves), MoveResult { n_written: 1401, n_removed: 0 });
    assert_eq!(bench.picture(), leaves);
    assert!(bench.worktree.notices().contains(&ConversionNotice::LfsPointer { path: b"large".into() }));
    // The record has their state and their content.
    let written = bench.worktree.written().clone();
    assert_eq!(bench.settle(), Settled::default());
    let record = |directory: &Directory, name: &[u8]| match &directory.entries[name] {
        TrackedEntry::File(record) => (record.blob_id, record.stat),
        _ => panic!("it is a file"),
    };
    assert_eq!(record(bench.worktree.written(), b"large"), record(&written, b"large"));
    let n_bytes = |leaf: &Leaf| match leaf {
        Leaf::File(content) | Leaf::Executable(content) | Leaf::Link(content) => content.len() as u64,
        Leaf::Submodule => 0,
    };
    assert_eq!(written.totals.n_bytes, leaves.values().map(n_bytes).sum::<u64>());
}

#[test]
fn a_damaged_object_among_many_is_named() {
    let mut bench = Bench::new();
    let mut leaves = many(300);
    let content =
        (0..2000_u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_be_bytes()).collect::<Vec<u8>>();
    leaves.insert(b"3/damaged".into(), Leaf::File(content.clone()));
    let tree = bench.tree(&leaves);
    let id = bench.repository.git().blob(&content).unwrap().to_string();
    // Its header, which the survey before the move reads, is complete.
    let object = bench.sandbox.path(&format!(".git/objects/{}/{}", &id[..2], &id[2..]));
    let bytes = fs::read(&object).unwrap();
    fs::remove_file(&object).unwrap();
    let middle = bytes.len() / 2;
    fs::write(&object, [&bytes[..middle], &[0xff; 99], &bytes[middle + 99..]].concat()).unwrap();
    let refusal = bench.refused(tree);
    assert!(matches!(&refusal, Refusal::Object { id: named, .. } if *named == id), "{refusal}");
    assert_eq!(bench.worktree.tree_id(), None);
    fs::write(&object, bytes).unwrap();
    assert_eq!(bench.go(&leaves).n_written, 601);
    assert_eq!(bench.picture(), leaves);
}

#[test]
fn a_move_touches_only_what_differs() {
    let mut bench = Bench::new();
    let mut leaves = ordinary();
    bench.go(&leaves);
    let before =
        |path: &str| fs::symlink_metadata(bench.path(path)).map(|file| (file.ino(), file.ctime_nsec())).unwrap();
    let (kept, nested) = (before("bin/run"), before("a/deep/er/x.c"));
    leaves.insert(b"a/deep/y.c".into(), Leaf::File(b"int z;\n".into()));
    leaves.remove(&b"dangling"[..]);
    let moved = bench.go(&leaves);
    assert_eq!(moved, MoveResult { n_written: 1, n_removed: 1 });
    let after =
        |path: &str| fs::symlink_metadata(bench.path(path)).map(|file| (file.ino(), file.ctime_nsec())).unwrap();
    assert_eq!((kept, nested), (after("bin/run"), after("a/deep/er/x.c")));
    assert_eq!(bench.go(&leaves), MoveResult::default());
}

#[test]
fn changed_attributes_rewrite_exactly_the_files_that_look_different_now() {
    let mut bench = Bench::new();
    let mut leaves = files(&[("d/a.txt", "x\n"), ("d/b.c", "x\n"), ("d/crlf.txt", "x\r\n"), (".gitattributes", "")]);
    bench.go(&leaves);
    leaves.insert(b".gitattributes".into(), Leaf::File(b"a.* eol=crlf\n".into()));
    assert_eq!(bench.go(&leaves), MoveResult { n_written: 2, n_removed: 0 });
    assert_eq!(fs::read(bench.path("d/a.txt")).unwrap(), b"x\r\n");
    leaves.remove(&b".gitattributes"[..]);
    assert_eq!(bench.go(&leaves), MoveResult { n_written: 1, n_removed: 1 });
    assert_eq!(fs::read(bench.path("d/a.txt")).unwrap(), b"x\n");
}

#[test]
fn filters_and_lfs_pointers_are_written_as_stored_and_noticed() {
    let mut bench = Bench::new();
    let leaves = files(&[(".gitattributes", "*.bin filter=lfs\n"), ("d/x.bin", LFS_POINTER)]);
    bench.go(&leaves);
    assert_eq!(bench.picture(), leaves);
    let notices: Vec<_> = bench.worktree.notices().iter().cloned().collect();
    assert_eq!(
        notices,
        [ConversionNotice::Filter { name: b"lfs".into() }, ConversionNotice::LfsPointer { path: b"d/x.bin".into() }]
    );
}

#[test]
fn files_directories_links_and_submodules_replace_each_other() {
    let mut bench = Bench::new();
    let kinds = [
        files(&[("x", "file")]),
        files(&[("x/y", "below"), ("x/z/q", "deeper")]),
        Leaves::from([(b"x".into(), Leaf::Link(b"/tmp".into()))]),
        Leaves::from([(b"x".into(), Leaf::Submodule)]),
        Leaves::from([(b"x".into(), Leaf::Executable(b"file".into()))]),
        files(&[("other", "")]),
    ];
    for older in &kinds {
        for newer in &kinds {
            bench.go(older);
            bench.go(newer);
            assert_eq!(bench.picture(), *newer, "from {older:?}");
        }
    }
}

#[test]
fn wipe_leaves_nothing_but_the_git_file() {
    let mut bench = Bench::new();
    bench.worktree.set_git_file(b"gitdir: elsewhere\n").unwrap();
    bench.go(&ordinary());
    bench.write("build/x.o", "product");
    bench.worktree.wipe().unwrap();
    assert_eq!(bench.picture(), files(&[(".git", "gitdir: elsewhere\n")]));
    assert_eq!(bench.worktree.tree_id(), None);
    assert_eq!(bench.go(&ordinary()).n_written, 13);
}

#[test]
fn a_missing_object_is_an_answer_and_the_next_move_begins_from_empty() {
    let mut bench = Bench::new();
    bench.go(&files(&[("x", "1"), ("y", "1")]));
    let missing = git2::Oid::from_bytes(&[9; 20]).unwrap();
    let tree_id =
        super::raw_tree(&bench.repository, [("100644", b"x".to_vec(), missing), ("100644", b"z".to_vec(), missing)]);
    assert!(matches!(bench.refused(tree_id), Refusal::Object { why: "is missing", .. }));
    let leaves = files(&[("x", "1"), ("w", "2")]);
    bench.go(&leaves);
    assert_eq!(bench.picture(), leaves);
}

/// Few names, so that files, links and directories meet.
fn random_leaves() -> impl Strategy<Value = Leaves> {
    let leaf = prop_oneof![
        4 => "[ab\n]{0,3}".prop_map(|content| Leaf::File(content.into_bytes())),
        1 => "[ab]{0,1}".prop_map(|content| Leaf::Executable(content.into_bytes())),
        1 => "(\\.\\./)?[ab]{1}".prop_map(|target| Leaf::Link(target.into_bytes())),
        1 => Just(Leaf::Submodule),
    ];
    prop::collection::btree_map("[abc](/[abc]){0,3}", leaf, 1..10).prop_map(|map| {
        let mut leaves = Leaves::new();
        for (path, leaf) in map {
            // A path below another leaf is dropped.
            if !path.match_indices('/').any(|(at, _)| leaves.contains_key(&path.as_bytes()[..at])) {
                leaves.insert(path.into_bytes(), leaf);
            }
        }
        leaves
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_walk_over_random_trees_leaves_exactly_the_files_of_each(walk in prop::collection::vec(random_leaves(), 2..6)) {
        let mut bench = Bench::new();
        for leaves in walk {
            bench.go(&leaves);
            prop_assert_eq!(&bench.picture(), &leaves);
            let settled = bench.settle();
            prop_assert!(settled.tampered.is_empty() && settled.removed_untracked == 0);
        }
    }
}
