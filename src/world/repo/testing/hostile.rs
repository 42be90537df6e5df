//! Hostile trees.

use std::fs;

use crate::repo::ids::oid;
use crate::repo::refusal::{Refusal, WrittenTreeLimits};
use crate::repo::testing::{Bench, Leaf, Leaves, files, raw_tree};
use idd_base::TreeId;

fn id(tree_id: TreeId) -> git2::Oid {
    oid(tree_id.0)
}

#[test]
fn a_tree_with_a_dangerous_name_is_refused_and_nothing_changes() {
    let mut bench = Bench::new();
    let before = files(&[("kept/x", "1")]);
    bench.go(&before);
    let blob = bench.repository.git().blob(b"evil").unwrap();
    let names = [
        "..",
        ".",
        "",
        ".git",
        ".GIT",
        "git~1",
        "a/../b",
        "/etc",
        "a\\.git",
        ".git::$INDEX_ALLOCATION",
        ".g\u{200c}it",
    ];
    let long = "x".repeat(256);
    for name in names.into_iter().chain([long.as_str()]) {
        for mode in ["100644", "40000", "120000", "160000"] {
            let below = raw_tree(&bench.repository, [("100644", b"config".to_vec(), blob)]);
            let object = if mode == "40000" { id(below) } else { blob };
            let inner = raw_tree(&bench.repository, [(mode, name.as_bytes().to_vec(), object)]);
            for tree_id in [inner, raw_tree(&bench.repository, [("40000", b"kept".to_vec(), id(inner))])] {
                assert!(matches!(bench.refused(tree_id), Refusal::Path { .. }), "{name}");
            }
        }
    }
    assert_eq!(bench.picture(), before);
    assert_eq!(bench.worktree.tree_id(), Some(bench.tree(&before)));
    assert_eq!(fs::read_dir(bench.outside()).unwrap().count(), 1);
}

#[test]
fn odd_modes_doubled_names_and_impossible_links_are_refused() {
    let mut bench = Bench::new();
    let repository = &bench.repository;
    let [blob, nothing, nul, long] =
        [&b"x"[..], b"", b"a\0b", &[b'x'; 5000]].map(|content| repository.git().blob(content).unwrap());
    let below = raw_tree(repository, [("100644", b"x".to_vec(), blob)]);
    let trees = [
        vec![("10644", b"x".to_vec(), blob)],
        vec![("20644", b"x".to_vec(), blob)],
        vec![("100644", b"x".to_vec(), blob), ("40000", b"x".to_vec(), id(below))],
        vec![("120000", b"x".to_vec(), nothing)],
        vec![("120000", b"x".to_vec(), nul)],
        vec![("120000", b"x".to_vec(), long)],
    ]
    .map(|entries| raw_tree(repository, entries));
    for tree_id in trees {
        assert!(matches!(bench.refused(tree_id), Refusal::Path { .. }));
    }
}

#[test]
fn a_tree_beyond_a_limit_is_refused() {
    let limits = WrittenTreeLimits { max_entries: 50, max_depth: 4, max_path_bytes: 20, max_bytes: 100 };
    let mut bench = Bench::with_limits(limits);
    let blob = bench.repository.git().blob(b"x").unwrap();
    let mut bomb = raw_tree(&bench.repository, (0..10).map(|name| ("100644", format!("{name}").into_bytes(), blob)));
    bench.worktree.move_to(&bench.repository, bomb).unwrap().unwrap();
    bomb = raw_tree(&bench.repository, (0..10).map(|name| ("40000", format!("{name}").into_bytes(), id(bomb))));
    assert!(matches!(bench.refused(bomb), Refusal::Limit { why: "more entries than allowed", .. }));
    for leaves in
        [files(&[("a/b/c/d/e", "")]), files(&[("0123456789/0123456789", "")]), files(&[("x", &"x".repeat(101))])]
    {
        let tree_id = bench.tree(&leaves);
        assert!(matches!(bench.refused(tree_id), Refusal::Limit { .. }), "{leaves:?}");
    }
    bench.go(&files(&[("a/b/c/d", ""), ("x", &"x".repeat(100))]));
}

#[test]
fn what_was_written_counts_for_the_limits_when_only_a_part_changes() {
    let mut bench =
        Bench::with_limits(WrittenTreeLimits { max_entries: 4, max_bytes: 10, ..WrittenTreeLimits::default() });
    bench.go(&files(&[("d/x", "12345"), ("y", "1")]));
    for leaves in
        [files(&[("d/x", "12345"), ("y", "123456")]), files(&[("d/x", "12345"), ("y", ""), ("z", ""), ("w", "")])]
    {
        let tree_id = bench.tree(&leaves);
        assert!(matches!(bench.refused(tree_id), Refusal::Limit { .. }), "{leaves:?}");
    }
}

#[test]
fn a_link_that_becomes_a_directory_is_never_followed() {
    let mut bench = Bench::new();
    let target = bench.outside().join("target");
    fs::create_dir(&target).unwrap();
    fs::write(target.join("kept"), "1").unwrap();
    let link = Leaves::from([(b"x".into(), Leaf::Link(target.as_os_str().as_encoded_bytes().into()))]);
    let directory = files(&[("x/kept", "2"), ("x/made", "2")]);
    bench.go(&link);
    bench.go(&directory);
    assert_eq!(bench.picture(), directory);
    bench.go(&link);
    bench.go(&Leaves::new());
    assert_eq!(super::picture(&target), files(&[("kept", "1")]));
}

#[test]
fn a_link_that_the_test_puts_in_the_way_is_never_followed() {
    let mut bench = Bench::new();
    let target = bench.outside().join("target");
    fs::create_dir_all(target.join("y")).unwrap();
    fs::write(target.join("y/f"), "1").unwrap();
    let older = files(&[("x/y/f", "1"), ("x/g", "1")]);
    bench.go(&older);
    let plant = |bench: &Bench| {
        fs::remove_dir_all(bench.path("x")).unwrap();
        std::os::unix::fs::symlink(&target, bench.path("x")).unwrap();
    };
    plant(&bench);
    assert_eq!(bench.settle().tampered, [b"x/g".to_vec(), b"x/y/f".to_vec()]);
    assert_eq!(bench.picture(), older);
    // Even a move without a settlement before it stays inside.
    plant(&bench);
    bench.go(&files(&[("x/y/f", "2")]));
    plant(&bench);
    bench.go(&files(&[("z", "2")]));
    plant_root(&mut bench, &target);
    assert_eq!(super::picture(&target), files(&[("y/f", "1")]));
}

fn plant_root(bench: &mut Bench, target: &std::path::Path) {
    fs::rename(bench.worktree.directory(), bench.outside().join("moved")).unwrap();
    std::os::unix::fs::symlink(target, bench.worktree.directory()).unwrap();
    assert_eq!(bench.settle().tampered, [b"z".to_vec()]);
    assert_eq!(bench.picture(), files(&[("z", "2")]));
}

#[test]
fn a_thousand_hostile_file_names_are_written_and_removed() {
    let odd: [&[u8]; 16] = [
        b"\n",
        b"\r",
        b"\x1b[31m",
        b"\xff\xfe",
        b"-rf",
        b"--help",
        b"'",
        b"\"",
        b"`id`",
        b"$(id)",
        b" ",
        b"\t",
        b"*",
        b":(top)",
        "\u{202e}".as_bytes(),
        b"\x7f",
    ];
    let mut leaves = Leaves::new();
    for number in 0..1000_usize {
        let digits = number.to_string().into_bytes();
        let first = odd[number % odd.len()];
        let second = odd[number / odd.len() % odd.len()];
        let mut name = [first, second, &digits].concat();
        match number % 5 {
            0 => name = [first, b"/", &name[..], b"/", second].concat(),
            1 => name.extend(vec![b'x'; 255 - name.len()]),
            _ => {}
        }
        leaves.insert(name, Leaf::File(digits));
    }
    let mut bench = Bench::new();
    bench.go(&leaves);
    assert_eq!(bench.picture(), leaves);
    assert_eq!(leaves.len(), 1000);
    assert!(bench.settle().tampered.is_empty());
    let moved = bench.go(&Leaves::new());
    assert_eq!((moved.n_removed, bench.picture()), (leaves.len(), Leaves::new()));
}
