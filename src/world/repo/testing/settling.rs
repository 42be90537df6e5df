//! Settling: the files that a probe leaves, and those that stay.

use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;
use std::{fs, thread};

use rustix::process::Uid;

use crate::repo::files::{make_directory, write_file};
use crate::repo::settle::{Settled, Since};
use crate::repo::stat::TrackedEntry;
use crate::repo::testing::moving::many;
use crate::repo::testing::{Bench, Leaf, Leaves, files};
use crate::repo::unchanged::FileTimes;
use crate::repo::write::MoveResult;

/// Writes a file in the next tick of the file system's clock, which has ticks of some milliseconds; returns its time.
fn later_ns(bench: &Bench, path: &str) -> i128 {
    let write = || {
        bench.write(path, "x");
        let metadata = fs::metadata(bench.path(path)).unwrap();
        i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec())
    };
    let begin_ns = write();
    loop {
        let now_ns = write();
        if now_ns > begin_ns {
            return now_ns;
        }
    }
}

#[track_caller]
fn check_settled(settled: &Settled, tampered: &[Vec<u8>], removed_untracked: usize) {
    assert_eq!((&settled.tampered[..], settled.removed_untracked), (tampered, removed_untracked));
}

#[test]
fn a_directory_that_lost_what_no_rule_covers_is_removed_where_it_was_copied() {
    let mut bench = Bench::new();
    bench.go(&files(&[(".gitignore", "*.o\n"), ("a.c", "1")]));
    for path in ["build/lib/a.o", "build/lib/flags", "out/flags", "whole/a.o", "here/a.o", "here/flags"] {
        bench.write(path, "x");
    }
    let mut thinned = bench.settle().thinned;
    thinned.sort();
    assert_eq!(thinned, ["build", "build/lib", "here"].map(|path| path.as_bytes().to_vec()));
    let copied = ["build", "out", "whole", "a.c"].map(Path::new);
    bench.worktree.remove_thinned(copied.into_iter()).unwrap();
    let is_there = |path: &str| bench.path(path).exists();
    assert_eq!(["build", "out", "whole/a.o", "here/a.o", "a.c"].map(is_there), [false, false, true, true, true]);
    // Only what was removed since.
    bench.write("build/a.o", "x");
    bench.worktree.remove_thinned(copied.into_iter()).unwrap();
    assert!(bench.path("build/a.o").exists());
}

#[test]
fn products_that_no_rule_covers_are_named() {
    let mut bench = Bench::new();
    bench.go(&files(&[(".gitignore", "*.o\n"), ("a.c", "1")]));
    for path in ["a.o", "lib/b.a", "log.txt", "notes"] {
        bench.write(path, "x");
    }
    bench.write("prog", "\x7fELF and more");
    let mut products = bench.settle().products;
    products.sort();
    assert_eq!(products, ["lib/b.a", "prog"].map(|path| path.as_bytes().to_vec()));
}

#[test]
fn what_a_build_made_in_one_directory_is_removed_as_a_whole() {
    let mut bench = Bench::new();
    bench.go(&files(&[(".gitignore", "*.o\n"), ("a.c", "1"), ("lib/b.c", "1")]));
    for path in ["a.o", "a.d", "a.json.o", "lib/b.o"] {
        bench.write(path, "x");
    }
    bench.settle();
    let is_there = |path: &str| bench.path(path).exists();
    // Nothing was removed beside `lib/b.o`.
    assert_eq!(["a.o", "a.d", "a.json.o", "lib/b.o"].map(is_there), [false, false, false, true]);
}

#[test]
fn what_the_build_made_stays_and_what_the_test_made_goes() {
    let mut bench = Bench::new();
    bench.go(&files(&[(".gitignore", "*.o\n"), ("a.c", "1")]));
    for path in ["a.o", "a.d", "new/made"] {
        bench.write(path, "x");
    }
    let built_ns = later_ns(&bench, "left");
    for path in ["left.o", "new/left"] {
        bench.write(path, "x");
    }
    let settled = bench.settle_since(Since { built_ns: Some(built_ns), ..Since::default() });
    assert_eq!(settled.removed_untracked, 2);
    let is_there = |path: &str| bench.path(path).exists();
    assert_eq!(
        ["a.o", "a.d", "new/made", "left.o", "left", "new/left"].map(is_there),
        [true, true, true, true, false, false]
    );
    // A later test changes a product.
    let built_ns = later_ns(&bench, "a.d");
    bench.settle_since(Since { built_ns: Some(built_ns), ..Since::default() });
    assert!(!bench.path("a.d").exists() && bench.path("new/made").exists());
}

#[test]
fn changed_missing_and_replaced_files_are_restored_and_reported() {
    let mut bench = Bench::new();
    let mut leaves =
        files(&[("changed", "1"), ("missing", "1"), ("mode", "1"), ("d/gone", "1"), ("file", "1"), ("kept", "1")]);
    leaves.insert(b"link".into(), Leaf::Link(b"kept".into()));
    leaves.insert(b"module".into(), Leaf::Submodule);
    bench.go(&leaves);
    bench.write("changed", "2");
    fs::remove_file(bench.path("missing")).unwrap();
    fs::set_permissions(bench.path("mode"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_dir_all(bench.path("d")).unwrap();
    fs::remove_dir(bench.path("module")).unwrap();
    fs::remove_file(bench.path("file")).unwrap();
    bench.write("file/is/directory", "now");
    fs::remove_file(bench.path("link")).unwrap();
    bench.write("link", "kept");
    let tampered = ["changed", "d/gone", "file", "link", "missing", "mode"].map(|path| path.as_bytes().to_vec());
    check_settled(&bench.settle(), &tampered, 0);
    assert_eq!(bench.picture(), leaves);
    assert_eq!(bench.settle(), Settled::default());
}

#[test]
fn a_change_in_the_tick_of_writing_with_size_and_time_kept_is_detected() {
    let mut bench = Bench::new();
    let leaves = files(&[("x", "1"), ("y", "1")]);
    for _ in 0..50 {
        bench.go(&leaves);
        let time = fs::metadata(bench.path("x")).unwrap().modified().unwrap();
        fs::write(bench.path("x"), "2").unwrap();
        fs::File::options().write(true).open(bench.path("x")).unwrap().set_modified(time).unwrap();
        assert_eq!(bench.settle().tampered, [b"x".to_vec()]);
        assert_eq!(bench.picture(), leaves);
        bench.go(&Leaves::new());
    }
}

#[test]
fn a_file_that_was_only_touched_is_not_tampered_with() {
    let mut bench = Bench::new();
    bench.go(&files(&[("x", "1")]));
    fs::File::options().write(true).open(bench.path("x")).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(bench.settle(), Settled::default());
    assert_eq!(fs::metadata(bench.path("x")).unwrap().modified().unwrap(), SystemTime::UNIX_EPOCH);
}

#[test]
fn among_many_files_each_that_was_changed_is_found() {
    let mut bench = Bench::new();
    let leaves = many(1500);
    bench.go(&leaves);
    let changed = ["0/1/1498", "1/1/1", "flat/0", "flat/1497", "flat/2"];
    // Until every file but those written last is known to be unchanged.
    settle_until_known(&mut bench, "flat/3", "flat");
    for path in changed {
        fs::remove_file(bench.path(path)).unwrap();
        bench.write(path, "other");
    }
    bench.write("3/2/junk", "x");
    let tampered = changed.map(|path| path.as_bytes().to_vec());
    check_settled(&bench.settle(), &tampered, 1);
    assert_eq!(bench.picture(), leaves);
    assert_eq!(bench.settle(), Settled::default());
}

#[test]
fn at_most_a_hundred_tampered_paths_are_reported() {
    let mut bench = Bench::new();
    let leaves: Leaves =
        (0..150).map(|number| (format!("{number:03}").into_bytes(), Leaf::File(b"1".into()))).collect();
    bench.go(&leaves);
    for path in leaves.keys() {
        fs::remove_file(bench.path(str::from_utf8(path).unwrap())).unwrap();
    }
    let tampered = bench.settle().tampered;
    assert_eq!((tampered.len(), tampered[99].as_slice()), (100, &b"099"[..]));
    assert_eq!(bench.picture(), leaves);
}

#[test]
fn only_products_that_the_tree_ignores_stay() {
    let mut bench = Bench::new();
    let leaves =
        files(&[(".gitignore", "*.o\n/out/\n!keep.o\n"), ("d/.gitignore", "*.log\n"), ("d/x.c", "x"), ("out/t", "t")]);
    bench.go(&leaves);
    let kept = ["d/x.o", "d/x.log", "d/new/x.o", "out/a", "out/b/.git/config", "new/deep/y.o"];
    // The first one goes with `keep.o`.
    let gone = ["x.o", "x.log", "keep.o", "d/out/z", "new/deep/z", "fresh/z", ".hidden"];
    kept.iter().chain(&gone).for_each(|path| bench.write(path, "product"));
    // Rules that the test writes do not count.
    bench.write("fresh/.gitignore", "*");
    bench.write("d/new/.gitignore", "!*.o");
    fs::create_dir_all(bench.path("empty/directory")).unwrap();
    let settled = bench.settle();
    let mut expected = leaves;
    expected.extend(files(&kept.map(|path| (path, "product"))));
    assert_eq!(bench.picture(), expected);
    check_settled(&settled, &[], gone.len() + 2 + 4);
}

#[test]
fn a_repository_made_by_the_test_goes_and_the_git_file_stays() {
    let mut bench = Bench::new();
    let leaves = files(&[(".gitignore", "*.o\n"), ("d/x", "1")]);
    bench.go(&leaves);
    bench.worktree.set_git_file(b"gitdir: elsewhere\n").unwrap();
    for path in ["nested/.git/config", "nested/x.o", "d/.git/config", "a/b/.git/HEAD"] {
        bench.write(path, "x");
    }
    bench.settle();
    let mut expected = leaves;
    expected.extend(files(&[(".git", "gitdir: elsewhere\n")]));
    assert_eq!(bench.picture(), expected);
    fs::remove_file(bench.path(".git")).unwrap();
    bench.write(".git/config", "x");
    bench.settle();
    assert_eq!(bench.picture(), expected);
}

#[test]
fn product_becomes_tracked() {
    let mut bench = Bench::new();
    let ignoring = [(".gitignore", "*.gen\nout/\n"), ("x", "1")];
    bench.go(&files(&ignoring));
    bench.write("a.gen", "product");
    bench.write("b.gen/inside", "product");
    bench.write("out/x", "product");
    bench.write("c.gen", "product");
    assert_eq!(bench.settle(), Settled::default());
    let mut newer = files(&ignoring);
    newer.extend(files(&[("a.gen", "tracked"), ("b.gen", "tracked"), ("out/x", "tracked"), ("c.gen/d", "tracked")]));
    assert_eq!(bench.go(&newer), MoveResult { n_written: 4, n_removed: 0 });
    assert_eq!(bench.picture(), newer);
}

#[test]
fn gitignore_added_late() {
    let mut bench = Bench::new();
    let early = files(&[("src/x.c", "1")]);
    let mut late = early.clone();
    late.extend(files(&[(".gitignore", "*.o\n")]));
    bench.go(&early);
    bench.write("src/x.o", "product");
    assert_eq!(bench.settle().removed_untracked, 1);
    bench.go(&late);
    bench.write("src/x.o", "product");
    assert_eq!(bench.settle(), Settled::default());
    // Back to before the rule: a probe there must not see the product.
    bench.go(&early);
    assert_eq!(bench.picture(), early);
}

#[test]
fn products_in_a_directory_that_goes_stay_if_they_are_ignored() {
    let mut bench = Bench::new();
    bench.go(&files(&[(".gitignore", "*.o\n"), ("src/x.c", "1"), ("lib/y.c", "1")]));
    bench.write("src/x.o", "product");
    bench.go(&files(&[(".gitignore", "*.o\n")]));
    assert_eq!(bench.picture(), files(&[(".gitignore", "*.o\n"), ("src/x.o", "product")]));
}

#[test]
fn a_directory_deeper_than_any_path_is_removed() {
    let mut bench = Bench::new();
    bench.go(&files(&[("x", "1")]));
    let mut directory: OwnedFd = fs::File::open(bench.worktree.directory()).unwrap().into();
    for _ in 0..1500 {
        directory = make_directory(directory.as_fd(), b"deep").unwrap();
    }
    write_file(directory.as_fd(), b"file", b"", false).unwrap();
    check_settled(&bench.settle(), &[], 1501);
    assert_eq!(bench.picture(), files(&[("x", "1")]));
}

/// Locks directories, as the owner and, if the system allows it, without the rights of the superuser.
#[test]
fn directories_without_permissions_are_opened_by_their_owner() {
    let sandbox_mode = |bench: &Bench, path: &str, mode| {
        fs::set_permissions(bench.path(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    let mut bench = Bench::new();
    let older = files(&[("d/x", "1"), ("d/e/y", "1"), ("f/z", "1")]);
    let newer = files(&[("d/x", "2")]);
    let newer_id = bench.tree(&newer);
    let is_root = rustix::process::geteuid().is_root();
    bench.go(&older);
    let nobody = Uid::from_raw(65_534);
    if is_root {
        let everything = [bench.outside().to_path_buf(), bench.sandbox.path("")];
        let status = Command::new("chown").arg("-R").arg("65534").args(everything).status().unwrap();
        assert!(status.success());
    }
    let run = move || {
        if is_root {
            rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
        }
        bench.write("untracked/deep/x", "1");
        for path in ["untracked/deep", "untracked", "d/e", "d", "f", ""] {
            sandbox_mode(&bench, path, 0);
        }
        let settled = bench.settle();
        assert_eq!((settled.tampered, settled.removed_untracked), (vec![], 3));
        assert_eq!(bench.picture(), older);
        sandbox_mode(&bench, "d/e", 0o555);
        sandbox_mode(&bench, "d", 0o111);
        bench.worktree.move_to(&bench.repository, newer_id).unwrap().unwrap();
        assert_eq!(bench.picture(), newer);
        sandbox_mode(&bench, "d", 0);
        bench.worktree.wipe().unwrap();
        assert_eq!(bench.picture(), Leaves::new());
        bench
    };
    drop(thread::spawn(run).join().unwrap());
}

#[test]
fn what_a_killed_build_wrote_goes_and_what_was_built_before_stays() {
    let mut bench = Bench::new();
    let leaves = files(&[(".gitignore", "*.o\nout/\n"), ("main.c", "1"), ("out/kept.c", "1")]);
    bench.go(&leaves);
    for path in ["old.o", "rewritten.o", "out/old", "out/deep/old"] {
        bench.write(path, "built");
    }
    bench.settle();
    let cut_ns = later_ns(&bench, "new.o");
    for path in ["rewritten.o", "out/new", "out/deep/new"] {
        bench.write(path, "half");
    }
    assert_eq!(bench.settle_since(Since { cut_ns: Some(cut_ns), ..Since::default() }), Settled::default());
    for path in ["old.o", "out/old", "out/deep/old", "out/kept.c"] {
        assert!(bench.path(path).exists(), "{path}");
    }
    for path in ["new.o", "rewritten.o", "out/new", "out/deep/new"] {
        assert!(!bench.path(path).exists(), "{path}");
    }
}

/// Settles until every directory of the tree is older than the last clock tick that is known to have passed.
fn settle_until_known(bench: &mut Bench, touched: &str, looked_at: &str) {
    loop {
        fs::File::options()
            .write(true)
            .open(bench.path(touched))
            .unwrap()
            .set_modified(SystemTime::UNIX_EPOCH)
            .unwrap();
        bench.settle();
        let directory = fs::symlink_metadata(bench.path(looked_at)).unwrap();
        let file = fs::symlink_metadata(bench.path(touched)).unwrap();
        if (directory.ctime(), directory.ctime_nsec()) < (file.ctime(), file.ctime_nsec()) {
            return;
        }
    }
}

#[test]
fn what_comes_into_a_directory_that_was_gone_through_is_not_missed() {
    let mut bench = Bench::new();
    let leaves = files(&[(".gitignore", "*.o\nout/\n"), ("d/x", "1"), ("d/e/y", "1"), ("z", "1")]);
    bench.go(&leaves);
    let kept = ["d/x.o", "d/out/a", "d/new/x.o"];
    for path in kept {
        bench.write(path, "product");
    }
    let mut expected = leaves.clone();
    expected.extend(files(&kept.map(|path| (path, "product"))));
    settle_until_known(&mut bench, "z", "d");
    let settled = |bench: &Bench, name: &[u8]| match &bench.worktree.written().entries[name] {
        TrackedEntry::Directory(directory) => directory.settled.is_some(),
        _ => panic!("it is a directory"),
    };
    // The other entries of `d/new` can be different next time.
    assert!(!settled(&bench, b"d"));
    fs::remove_dir_all(bench.path("d/new")).unwrap();
    expected.remove(&b"d/new/x.o"[..]);
    settle_until_known(&mut bench, "z", "d");
    settle_until_known(&mut bench, "z", "d");
    assert!(settled(&bench, b"d"));
    assert_eq!(bench.settle(), Settled::default());
    for junk in ["d/junk", "d/e/junk", "d/more/junk", "junk"] {
        bench.write(junk, "x");
        assert_eq!(bench.settle().removed_untracked, 1 + usize::from(junk.contains("more")), "{junk}");
        settle_until_known(&mut bench, "z", "d");
        assert_eq!(bench.picture(), expected);
    }
    bench.write("d/out/b", "product");
    fs::remove_file(bench.path("d/e/y")).unwrap();
    assert_eq!(bench.settle().tampered, [b"d/e/y"]);
    expected.extend(files(&[("d/out/b", "product")]));
    assert_eq!(bench.picture(), expected);
    // Other rules, although nothing in the directory changed.
    let mut newer = leaves;
    newer.extend(files(&[(".gitignore", "*.o\n")]));
    bench.go(&newer);
    newer.extend(files(&[("d/x.o", "product")]));
    assert_eq!(bench.picture(), newer);
}

#[test]
fn a_refreshed_worktree_is_as_after_a_first_checkout() {
    let mut bench = Bench::new();
    let leaves = files(&[
        (".gitignore", "*.o\nout/\n"),
        ("d/x", "1"),
        ("d/y", "1"),
        ("linked", "1"),
        ("out/z", "1"),
        ("w", "1"),
    ]);
    bench.go(&leaves.clone().into_iter().filter(|(path, _)| path != b"w").collect());
    // What was written in the last tick counts as touched.
    later_ns(&bench, "late");
    bench.go(&leaves);
    bench.worktree.set_git_file(b"gitdir: elsewhere\n").unwrap();
    let state = |bench: &Bench, path: &str| fs::symlink_metadata(bench.path(path)).unwrap();
    let before = ["d", "d/x", "d/y", "linked", "w"].map(|path| state(&bench, path));
    for path in ["d/x.o", "out/deep/product", "untracked/.git/config", "w"] {
        bench.write(path, "2");
    }
    fs::hard_link(bench.path("linked"), bench.outside().join("link")).unwrap();
    bench.settle();
    assert!(bench.path("d/x.o").exists());
    // After the last probe was settled, too.
    fs::set_permissions(bench.path("d"), fs::Permissions::from_mode(0o777)).unwrap();
    fs::set_permissions(bench.path("d/y"), fs::Permissions::from_mode(0o600)).unwrap();
    later_ns(&bench, "late");
    bench.worktree.refresh(&bench.repository).unwrap();
    bench.worktree.date(&FileTimes::default(), true);
    let mut expected = leaves.clone();
    expected.extend(files(&[(".git", "gitdir: elsewhere\n")]));
    assert_eq!(bench.picture(), expected);
    let after = ["d", "d/x", "d/y", "linked", "w"].map(|path| state(&bench, path));
    let facts = |of: &fs::Metadata| (of.mode(), of.uid(), of.gid());
    assert_eq!(after.each_ref().map(facts), before.each_ref().map(facts));
    assert_eq!([0, 1].map(|at| before[at].ino() == after[at].ino()), [true, true], "what was not touched stays");
    let is_newer =
        |(before, after): (&fs::Metadata, &fs::Metadata)| after.modified().unwrap() > before.modified().unwrap();
    assert!(before.iter().zip(&after).skip(1).all(is_newer));
    assert_eq!(after[3].nlink(), 1);
    assert_eq!(bench.settle(), Settled::default());
    assert_eq!(bench.go(&leaves), MoveResult::default());
}
