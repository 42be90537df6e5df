use super::*;
use crate::repo::ids::tree_id;
use crate::repo::{HeldFiles, Repository, TreeStore};
use idd_base::TreeId;
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs a shell script in a new repository, whose two last commits are the two sides; returns their trees and the whole
/// output.
fn sides(script: &str) -> (tempfile::TempDir, [TreeId; 2], Vec<u8>) {
    let directory = tempfile::tempdir().unwrap();
    let commit = "commit() { git add -A; git -c user.name=a -c user.email=a@b commit -qm \"$1\"; }";
    let script = format!("{commit}\ngit init -q .; git config core.autocrlf false\n{script}");
    let mut shell = Command::new("sh");
    shell.args(["-ec", &script]).current_dir(directory.path()).env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output = shell.env("LC_ALL", "C").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let repository = Repository::from(git2::Repository::open(directory.path()).unwrap());
    let tree = |name: &str| tree_id(repository.git().revparse_single(name).unwrap().id());
    let trees = [tree("old^{tree}"), tree("HEAD^{tree}")];
    (directory, trees, output.stdout)
}

fn apply(directory: &Path, tree: TreeId, patch: &[u8]) -> Result<TreeId, RepoError> {
    let repository = Repository::from(git2::Repository::open(directory).unwrap());
    TreeStore::new(repository, HeldFiles::default(), Vec::new()).unwrap().apply(tree, patch)
}

/// The older side, tagged `old`.
const OLD: &str = "printf 'one\\ntwo\\nthree\\nfour\\nfive\\nsix\\nseven\\n' > a; printf 'x\\r\\ny\\r\\n' > crlf; printf end > open; \
    seq 1 20 > 'sp ace'; : > empty; mkdir d; echo 1 > d/e; printf '\\0\\1\\2' > bin; ln -s a link; commit 0; git tag old";

/// The output of `print` leads from the tree tagged `old` to HEAD.
#[track_caller]
fn check(changes: &str, print: &str) {
    let (directory, [older, newer], patch) = sides(&format!("{OLD}; {changes}; commit 1; {print}"));
    let made = apply(directory.path(), older, &patch);
    let made = made.unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(&patch)));
    assert_eq!(made, newer, "{changes}: {}", String::from_utf8_lossy(&patch));
}

const CHANGES: [&str; 13] = [
    "sed -i 's/two/2/; s/seven/7/' a",
    "sed -i 's/y/z/' crlf",
    "echo more >> open",
    "printf new > fresh; : > void",
    "rm a empty; rm -r d",
    "git mv a b; git mv 'sp ace' 'd/other space'",
    "git mv 'sp ace' s; sed -i s/^7/seven/ s; chmod +x s",
    "chmod +x a; cp a copied; echo 8 >> copied",
    "printf '\\0\\3\\4' > bin; head -c 3000 /dev/urandom > noise",
    "rm bin; rm link; ln -s crlf link",
    "rm a; ln -s open a",
    "rm empty; mkdir empty; echo 1 > empty/f",
    "printf 'caf\\303\\251 \\351\\n' > \"$(printf 'n\\303\\251\\ttab')\"",
];

#[test]
fn what_git_diff_prints_is_applied() {
    for changes in CHANGES {
        check(changes, "git diff --binary --full-index -M -C old HEAD");
        check(changes, "git diff --binary --no-renames old HEAD");
    }
}

#[test]
fn what_is_printed_here_is_applied_by_git() {
    for changes in CHANGES.into_iter().chain(["git mv bin moved; git mv a b"]) {
        let (directory, [older, newer], _) = sides(&format!("{OLD}; {changes}; commit 1"));
        let repository = Repository::from(git2::Repository::open(directory.path()).unwrap());
        let store = TreeStore::new(repository, HeldFiles::default(), Vec::new()).unwrap();
        let (patch, _) = store.patch(older, newer).unwrap();
        fs::write(directory.path().join(".git/patch"), &patch).unwrap();
        let script = "git checkout -q old && git apply --index .git/patch && git write-tree";
        let output = Command::new("sh").args(["-ec", script]).current_dir(directory.path()).output().unwrap();
        let made = String::from_utf8_lossy(&output.stdout);
        assert_eq!(made.trim(), newer.to_string(), "{changes}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn what_git_format_patch_prints_is_applied() {
    for changes in CHANGES {
        let two = format!("echo first >> d/e; commit 'between\n\ndiff of a kind'; {changes}");
        if !changes.contains("rm -r d") {
            check(&two, "git format-patch --stdout --binary old");
        }
        check(changes, "git format-patch --stdout --binary old");
    }
    check(
        CHANGES[0],
        "diff -u --label a/a --label b/a a /dev/null >/dev/null || git diff old HEAD | grep -v '^diff\\|^index'",
    );
}

#[track_caller]
fn check_refused(patch: &str, expected: &str) {
    let (directory, [older, _], patch) =
        sides(&format!("seq 1 30 > a; printf 'x\\r\\n' > crlf; printf '\\0' > bin; commit 0; git tag old; {patch}"));
    let said = apply(directory.path(), older, &patch).unwrap_err().to_string();
    assert!(said.contains(expected), "expected {expected:?} in {said}");
}

#[test]
fn what_does_not_apply_is_named_by_file_and_hunk() {
    let diff = "git diff --binary";
    check_refused(
        &format!("sed -i 's/^3$/x/; s/^23$/y/' a; {diff} | sed 's/^ 24/ 99/'"),
        "the patch does not apply to `a`: hunk 2 (`@@ -20,7 +20,7 @@`) does not fit",
    );
    check_refused(
        &format!("echo z >> crlf; {diff} | tr -d '\\r'"),
        "of the file end with CR LF, those of the patch with LF",
    );
    check_refused(
        &format!("echo z >> a; {diff} | sed 's/^ .*/&\\r/'"),
        "of the patch end with CR LF, those of the file with LF",
    );
    check_refused(&format!("echo z >> a; {diff} | sed 's/ [ab]\\/a/&a/g'"), "`aa`: there is no such file");
    check_refused("git diff --no-index /dev/null a || true", "`a`: the file is there already");
    check_refused(
        &format!(
            "printf '\\0\\1' > bin; {diff} > p; printf '\\0\\2' > bin; commit 1; git diff HEAD~; git tag -f old >/dev/null"
        ),
        "`bin`",
    );
    check_refused("printf '\\0\\1' > bin; git diff", "`bin`: its binary part");
    check_refused("echo nothing", "the patch cannot be read");
    check_refused(
        "printf 'diff --git a/.git/x b/.git/x\\nnew file mode 100644\\n--- /dev/null\\n+++ b/.git/x\\n@@ -0,0 +1 @@\\n+x\\n'",
        "git refuses",
    );
    check_refused(
        "printf 'diff --git a/../x b/../x\\nnew file mode 100644\\n--- /dev/null\\n+++ b/../x\\n@@ -0,0 +1 @@\\n+x\\n'",
        "git refuses",
    );
}

/// The result of `git merge-file` for three texts; `None` if it conflicts.
fn merged_by_git(texts: [&str; 3]) -> Option<Vec<u8>> {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in ["base", "ours", "theirs"].into_iter().zip(texts) {
        fs::write(directory.path().join(name), text).unwrap();
    }
    let mut git = Command::new("git");
    git.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output =
        git.args(["merge-file", "-p", "ours", "base", "theirs"]).current_dir(directory.path()).output().unwrap();
    output.status.success().then_some(output.stdout)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_merge_of_diffy_is_that_of_git_where_both_are_clean(
        lines in prop::sample::subsequence(('a'..='n').collect::<Vec<_>>(), 0..=14),
        edits in prop::collection::vec((any::<prop::sample::Index>(), prop::option::of(prop::char::range('X', 'Z')), any::<bool>()), 0..6),
        is_open in any::<bool>(),
    ) {
        // No text has a line twice. With repeated lines a difference is ambiguous, and both may merge cleanly in different ways.
        let text = |lines: &[char]| {
            let lines: Vec<String> = lines.iter().map(char::to_string).collect();
            lines.join("\n") + if is_open || lines.is_empty() { "" } else { "\n" }
        };
        let (mut ours, mut theirs) = (lines.clone(), lines.clone());
        for (at, line, is_ours) in edits {
            let side = if is_ours { &mut ours } else { &mut theirs };
            let at = at.index(side.len() + 1);
            match line {
                Some(line) if !side.contains(&line) => side.insert(at, line),
                None if at < side.len() => drop(side.remove(at)),
                Some(_) | None => {}
            }
        }
        let [base, ours, theirs] = [text(&lines), text(&ours), text(&theirs)];
        if let (Ok(merged), Some(expected)) =
            (diffy::merge_bytes(base.as_bytes(), ours.as_bytes(), theirs.as_bytes()), merged_by_git([&base, &ours, &theirs]))
        {
            prop_assert_eq!(merged, expected);
        }
    }
}

#[test]
fn a_binary_patch_that_lacks_a_line_is_refused() {
    let (directory, [older, _], patch) = sides(
        "echo 1 > a; commit 0; git tag old; seq 1 400 | tr '\\n' '\\0' > bin; commit 1; git diff --binary old HEAD",
    );
    let lines: Vec<&[u8]> = patch.split_inclusive(|byte| *byte == b'\n').collect();
    let first = lines.iter().position(|line| line.starts_with(b"literal ")).unwrap() + 1;
    let n_lines = lines[first..].iter().position(|line| line.trim_ascii().is_empty()).unwrap();
    assert!(n_lines > 2);
    for lost in first..first + n_lines {
        let cut: Vec<u8> =
            lines.iter().enumerate().filter(|(at, _)| *at != lost).flat_map(|(_, line)| line.to_vec()).collect();
        let error = apply(directory.path(), older, &cut).unwrap_err();
        assert!(error.to_string().contains("cut or damaged"), "{error}");
    }
}
