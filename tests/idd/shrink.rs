//! `git idd shrink`: the real binary, on inputs of a few bytes.

use crate::fixture;
use crate::plain::{git, idd};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Fails with its number if the first file of the command line has a `{` and later a `}`, with 2 if it is empty.
const BRACES: &str =
    "#!/bin/sh\ncase $(cat \"$1\") in *'{'*'}'*) echo \"error: braces $#\"; exit 1;; '') exit 2;; esac\n";

fn repository(files: &[(&str, &str)]) -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt;
    let place = tempfile::tempdir().unwrap();
    git(place.path(), &["init", "--quiet", "."]);
    for (name, content) in files {
        let path = place.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    git(place.path(), &["add", "."]);
    git(place.path(), &["commit", "--quiet", "-m", "All"]);
    place
}

fn json(place: &Path, words: &[&str]) -> Value {
    let (said, progress, code) = idd(place, words);
    assert_eq!(code, Some(0), "{said}{progress}");
    let value: Value = serde_json::from_str(&said).unwrap();
    let schema = fs::read_to_string(fixture::root().join("docs/schema/git-idd-shrink-1.json")).unwrap();
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    assert!(schema.is_valid(&value), "{value}");
    value
}

#[test]
fn shrink_reduces_files_from_inside_and_outside_and_the_same_command_runs_nothing_again() {
    let place = repository(&[("t.sh", BRACES), ("d/in", "kept")]);
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("x.txt");
    fs::write(&file, "one {\n  two\n}\nthree\n").unwrap();
    let file = file.to_str().unwrap();
    let words = ["shrink", "--json", "-j1", "--input", file, "--input", "d/in", "--", "./t.sh", file, "d/in"];
    let value = json(place.path(), &words);
    assert_eq!(value["status"], "minimal");
    assert_eq!(value["inputs"][0]["text"], "{}");
    assert_eq!(value["inputs"][1]["bytes"], 0, "the test does not read it");
    assert_eq!(value["failure"]["line"], "error: braces 2");
    let written = value["inputs"][0]["output"].as_str().unwrap();
    assert_eq!(fs::read(written).unwrap(), b"{}");
    assert_eq!(fs::read(file).unwrap(), b"one {\n  two\n}\nthree\n");
    assert_eq!(fs::read(place.path().join("d/in")).unwrap(), b"kept");
    let again = json(place.path(), &words);
    assert_eq!(again["inputs"][0]["text"], "{}");
    assert_eq!(again["probes"]["run"], 4, "only the failure and the result are reproduced: {again}");
    // It is no hunt.
    let (list, _, _) = idd(place.path(), &["list"]);
    assert!(list.contains("No hunt"), "{list}");
}

#[test]
fn shrink_reduces_arguments_and_variables_and_isolates_a_difference() {
    let script = "#!/bin/sh\ntest \"$3\" = '{' && test -n \"$MODE\" && exit 3; exit 0\n";
    let place = repository(&[("a.sh", script), ("t.sh", BRACES), ("bad", "a {\n b }\n"), ("good", "a (\n b }\n")]);
    let output = crate::plain::program(place.path())
        .args(["shrink", "--json", "--args", "--env", "MODE", "--", "./a.sh", "-v", "x y", "{", "rest"])
        .env("MODE", "fast")
        .output()
        .unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["words"]["arguments"], "'' '' '{'");
    assert_eq!(value["words"]["variables"], "'MODE=a'");

    let value = json(
        place.path(),
        &["shrink", "--json", "-o", "small", "--input", "bad", "--passing", "good", "--", "./t.sh", "bad"],
    );
    assert_eq!(value["inputs"][0]["text"], "a {\n b }\n");
    assert_eq!(value["passing"]["text"], "a (\n b }\n");
    assert_eq!(fs::read(place.path().join("small/bad.passing")).unwrap(), b"a (\n b }\n");
    let (_, said, code) = idd(place.path(), &["shrink", "-o", "small", "--input", "bad", "--", "./t.sh", "bad"]);
    assert_eq!(code, Some(129), "{said}");
    assert!(said.contains("small/bad` exists already"), "{said}");
}

#[test]
fn shrink_passing_prints_the_difference_and_takes_an_empty_file() {
    let place = repository(&[("t.sh", "grep -q x $1 && exit 3; exit 0\n"), ("bad", "1\n2\nx\n4\n"), ("empty", "")]);
    let words = ["shrink", "--input", "bad", "--passing", "empty", "--", "./t.sh", "bad"];
    let (said, progress, code) = idd(place.path(), &words);
    assert_eq!(code, Some(0), "{said}{progress}");
    assert!(said.starts_with("bad: 1 byte (8 bytes before), in "), "{said}");
    assert!(said.ends_with("\n--- passes\n+++ fails\n@@ -0,0 +1,1 @@\n+x\n"), "{said}");
}

#[test]
fn shrink_prefers_the_last_line_of_standard_error_to_that_of_standard_output() {
    let script = "grep -q x $1 || exit 0\necho unlucky >&2; echo best $(wc -c <$1); exit 6\n";
    let place = repository(&[("t.sh", script), ("bad", "1\n2\nx\n4\n")]);
    let value = json(place.path(), &["shrink", "--json", "--input", "bad", "--", "./t.sh", "bad"]);
    assert_eq!((&value["failure"]["line"], &value["inputs"][0]["text"]), (&"unlucky".into(), &"x".into()), "{value}");
}

#[test]
fn shrink_says_if_the_test_does_not_always_fail_with_the_result() {
    let marks = tempfile::tempdir().unwrap();
    let mark = marks.path().join("mark");
    // It fails with the smallest input only once.
    let script = format!(
        "#!/bin/sh\n[ -s in ] || exit 0\nif [ $(wc -c <in) = 1 ]; then [ ! -e {0} ] || exit 0; : >{0}; fi\nexit 3\n",
        mark.display()
    );
    let place = repository(&[("t.sh", &script), ("in", "abc\n")]);
    let (said, progress, code) = idd(place.path(), &["shrink", "-j1", "--input", "in", "--", "./t.sh", "in"]);
    assert_eq!(code, Some(0), "{said}{progress}");
    assert!(said.contains("The test fails only now and then, also with the same input"), "{said}{progress}");
}

#[test]
fn shrink_needs_the_directory_of_the_test_in_the_checkout() {
    let place = repository(&[("t.sh", BRACES), ("bad", "{}")]);
    fs::create_dir(place.path().join("new")).unwrap();
    let words = ["shrink", "--input", "../bad", "--", "../t.sh", "../bad"];
    let (said, progress, code) = idd(&place.path().join("new"), &words);
    assert_eq!(code, Some(129), "{said}{progress}");
    assert!(progress.contains("there is no directory `new` at `HEAD`"), "{progress}");
}

#[test]
fn shrink_output_replaces_only_its_own_unfinished_result() {
    let place = repository(&[("t.sh", BRACES), ("bad", "one {\n two\n}\nthree\n"), ("file", "x")]);
    let run = |output: &str, more: &[&str], code: i32, expected: &str| {
        let words = [&["shrink", "-o", output, "--input", "bad"], more, &["--", "./t.sh", "bad"]].concat();
        let (said, progress, ended) = idd(place.path(), &words);
        assert_eq!(ended, Some(code), "{said}{progress}");
        assert!(format!("{said}{progress}").contains(expected), "{said}{progress}");
    };
    run("small", &["--max-probes", "4"], 6, "the same command goes on from here");
    run("small", &["--max-probes", "6"], 6, "the same command goes on from here");
    run("small", &[], 0, "2 of 19 bytes left");
    run("small", &[], 129, "small/bad` exists already");
    run("other", &["--no-cache", "--max-probes", "4"], 6, "the same command goes on from here");
    fs::write(place.path().join("other/bad"), "of the user").unwrap();
    run("other", &["--no-cache"], 129, "other/bad` exists already");
    run("file", &[], 129, "file` is not a directory");
    run("file/below", &[], 129, "file` is not a directory");
    fs::create_dir(place.path().join("links")).unwrap();
    std::os::unix::fs::symlink("nowhere", place.path().join("links/bad")).unwrap();
    run("links", &[], 129, "links/bad` exists already");
    assert!(place.path().join("links/bad").symlink_metadata().unwrap().is_symlink());
}

#[test]
fn shrink_says_why_an_input_cannot_be_reduced() {
    let place = repository(&[("t.sh", BRACES), ("good", "x"), ("bad", "{}"), ("empty", ""), ("sub/bad", "{}")]);
    let check = |words: &[&str], code: i32, expected: &str| {
        let (said, progress, ended) = idd(place.path(), &[&["shrink"], words].concat());
        assert_eq!(ended, Some(code), "{said}{progress}");
        assert!(progress.contains(expected), "{progress}");
    };
    check(&["--input", "good", "--", "./t.sh", "good"], 3, "the test passes with this input");
    check(&["--input", "good", "--", "./t.sh", "bad"], 1, "fails in the same way when `good` is empty");
    check(&["--input", "empty", "--", "./t.sh", "bad"], 129, "is empty already");
    check(&["--input", "sub", "--", "./t.sh", "bad"], 129, "is a directory");
    check(&["--input", "/dev/null", "--", "./t.sh", "bad"], 129, "the input `/dev/null` is not a regular file");
    check(&["--input", "none", "--", "./t.sh", "bad"], 129, "failed to read the input `none`");
    check(&["--args", "--", "./t.sh bad"], 129, "`--args` needs the test as a program");
    check(&["--input", "bad", "--passing", "bad", "--", "./t.sh", "bad"], 129, "does not pass with the file");
    check(&["--input", "bad", "--passing", "sub", "--", "./t.sh", "bad"], 129, "the passing file `sub` is a directory");
    check(&["--", "./t.sh", "bad"], 129, "--input");
}

#[test]
fn shrink_names_the_file_that_checkouts_lack_and_a_script_that_is_inverted() {
    let place = repository(&[("README", "x")]);
    let write = |name: &str, content: &str| fs::write(place.path().join(name), content).unwrap();
    fs::create_dir(place.path().join("case")).unwrap();
    write("case/in", "a\nbad\n");
    write("case/look.sh", "grep bad $1\n");
    write("case/keep.sh", "sh case/look.sh case/in >/dev/null\n");
    write("case/fails.sh", "! sh case/look.sh case/in\n");
    let check = |words: &[&str], code: i32, expected: &str| {
        let (said, progress, ended) = idd(place.path(), &[&["shrink", "--input", "case/in"], words].concat());
        assert_eq!(ended, Some(code), "{said}{progress}");
        assert!(format!("{said}{progress}").contains(expected), "{progress}");
    };
    let lacks = "hint: `case/look.sh` is in your working tree, but in no checkout";
    check(&["--", "sh", "case/keep.sh"], 1, lacks);
    check(&["--", "sh", "case/fails.sh"], 3, lacks);
    check(&["--hold", "case", "--", "sh", "case/keep.sh"], 3, "is inverted by `!`");
    check(&["--hold", "case", "--", "sh", "case/fails.sh"], 0, "3 of 6 bytes left");
    check(&["--hold", "case", "--", "! sh case/keep.sh"], 0, "3 of 6 bytes left");
}

#[test]
fn shrink_refuses_an_input_that_no_checkout_can_have() {
    use std::os::unix::fs::symlink;
    let place = repository(&[("t.sh", BRACES), ("data/x", "1"), ("file", "1"), ("sub.d/x", "1")]);
    let path = |name: &str| place.path().join(name);
    symlink("data", path("link")).unwrap();
    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), path("out")).unwrap();
    git(&path("."), &["init", "--quiet", "module"]);
    git(&path("module"), &["commit", "--quiet", "--allow-empty", "-m", "M"]);
    git(place.path(), &["-c", "advice.addEmbeddedRepo=false", "add", "link", "out", "module"]);
    git(place.path(), &["config", "idd.submodules", "empty"]);
    git(place.path(), &["commit", "--quiet", "-m", "Links"]);
    fs::remove_file(path("file")).unwrap();
    fs::create_dir(path("file")).unwrap();
    fs::remove_dir_all(path("sub.d")).unwrap();
    for name in ["link/in", "out/in", "module/in", "file/in", "sub.d", ".git/in"] {
        fs::write(path(name), "a {\n b }\n").unwrap();
    }
    let check = |name: &str, expected: &str| {
        let (said, progress, ended) = idd(place.path(), &["shrink", "--input", name, "--", "./t.sh", name]);
        assert_eq!(ended, Some(129), "{said}{progress}");
        assert!(progress.contains(expected), "{progress}");
    };
    check("out/in", "the input `out/in` is below `out`, a symbolic link that leads out of the working tree");
    check("module/in", "the input `module/in` is in the submodule `module`");
    check("file/in", "the input `file/in` is below `file`, which is a file at `HEAD`");
    check("sub.d", "the input `sub.d` has the place of `sub.d`, a directory at `HEAD`");
    check(".git/in", "the input `.git/in` is in a git directory, which no checkout has");
    let value = json(place.path(), &["shrink", "--json", "--input", "link/in", "--", "./t.sh", "link/in"]);
    assert_eq!(value["inputs"][0]["text"], "{}");
}

#[test]
fn shrink_reports_a_test_command_that_cannot_be_run() {
    let place = repository(&[("in", "{}")]);
    let (said, progress, ended) = idd(place.path(), &["shrink", "--input", "in", "--", "./nothing", "in"]);
    assert_eq!(ended, Some(1), "{said}{progress}");
    assert!(progress.contains("the test command was not found (exit code 127)"), "{progress}");
    assert!(progress.contains("runs in a checkout of the revision"), "{progress}");
}

/// Crashes in one function at a `}` after a `{`, and in another one at a `z`.
const TWO_CRASHES: &str = r#"
#include <stdio.h>
static int *volatile nowhere;
static void in_braces(void) { *nowhere = 1; }
static void at_end(void) { *nowhere = 2; }
int main(int argc, char **argv) {
    FILE *file = fopen(argv[1], "r");
    int c, depth = 0;
    while ((c = getc(file)) != EOF) {
        if (c == '{') depth++;
        if (c == '}' && depth) in_braces();
        if (c == 'z') at_end();
    }
    return argc > 9;
}
"#;

#[test]
fn shrink_keeps_a_crash_without_a_message_at_its_instruction() {
    let place = repository(&[("p.c", TWO_CRASHES), ("in", "a{b}z\n"), (".gitignore", "p\n")]);
    for line in [&["./p", "in"][..], &["./p in; test $? -ne 139 || exit 139"]] {
        let words = ["shrink", "--json", "--build", "cc -o p p.c", "--input", "in", "--"];
        let value = json(place.path(), &[&words[..], line].concat());
        assert_eq!(value["inputs"][0]["text"], "{}", "{value}");
        assert!(value["failure"]["place"].as_str().unwrap().starts_with("p+0x"), "{value}");
    }
}

/// Prints the sum of the numbers of a file; the older version skips lines that begin with `#`.
const SUMS: [&str; 2] = [
    "echo $$ >&2; grep -v '^#' $1 | awk '{ s += $2 } END { print \"sum\", s + 0; exit (s > 99) }'\n",
    "echo $$ >&2; awk '{ s += $2 } END { print \"sum\", s + 0; exit (s > 99) }' $1\n",
];

#[test]
fn shrink_good_compares_the_output_of_two_versions() {
    let place = repository(&[("sum.sh", SUMS[0]), (".gitignore", "made\n")]);
    git(place.path(), &["tag", "v1"]);
    fs::write(place.path().join("sum.sh"), SUMS[1]).unwrap();
    git(place.path(), &["commit", "--quiet", "-am", "Read all"]);
    fs::write(place.path().join("in"), "a 1\nb 2\n# 7\nc 3\n").unwrap();
    for jobs in ["-j1", "-j2"] {
        let words =
            ["shrink", "--json", jobs, "--good", "v1", "--no-hold", "--input", "in", "--", "sh", "sum.sh", "in"];
        let value = json(place.path(), &words);
        assert_eq!(value["inputs"][0]["text"], "# 1", "{value}");
        assert_eq!(value["failure"]["ending"], "exit code 0");
        assert_eq!(value["reference"]["lines"], serde_json::json!(["sum 1", "sum 0"]), "{value}");
    }
    // Each version is built once, since its products stay.
    let log = place.path().join(".git/log");
    let build = format!("test -e made || {{ cp sum.sh made; echo made >>{}; }}", log.display());
    let words = ["shrink", "--json", "-j1", "--good", "v1", "--no-hold", "--build", &build];
    json(place.path(), &[&words[..], &["--input", "in", "--", "sh", "made", "in"]].concat());
    assert_eq!(fs::read_to_string(&log).unwrap(), "made\nmade\n");
    // The ending differs.
    fs::write(place.path().join("in"), "a 1\nb 2\n# 700\nc 3\n").unwrap();
    let words = ["shrink", "-j1", "--good", "v1", "--no-hold", "--input", "in", "--", "sh", "sum.sh", "in"];
    let (said, progress, code) = idd(place.path(), &words);
    assert_eq!(code, Some(0), "{said}{progress}");
    assert!(said.contains("difference: `v1` ends with exit code 0"), "{said}");
    assert!(said.ends_with("\n\n# 700\n"), "{said}");
}

#[test]
fn shrink_good_says_why_two_versions_cannot_be_compared() {
    let place = repository(&[("sum.sh", SUMS[0]), ("Makefile", "all:\n\tfalse no such tool\n")]);
    git(place.path(), &["tag", "v1"]);
    fs::write(place.path().join("sum.sh"), SUMS[1]).unwrap();
    fs::write(place.path().join("Makefile"), "all:\n").unwrap();
    git(place.path(), &["commit", "--quiet", "-am", "Read all"]);
    fs::write(place.path().join("in"), "a 1\n").unwrap();
    let check = |words: &[&str], code: i32, expected: &str| {
        let (said, progress, ended) = idd(place.path(), &[&["shrink", "--no-hold", "--input", "in"], words].concat());
        assert_eq!(ended, Some(code), "{said}{progress}");
        assert!(progress.contains(expected), "{progress}");
    };
    check(&["--good", "v1", "--", "sh", "sum.sh", "in"], 3, "`v1` behaves as the failing version with the whole input");
    check(&["--good", "none", "--", "sh", "sum.sh", "in"], 129, "none");
    check(&["--good", "HEAD", "--", "sh", "sum.sh", "in"], 129, "are the same tree");
    check(&["--good", "v1", "--build", "make", "--", "sh", "sum.sh", "in"], 4, "`v1` does not build: make: ***");
    check(&["--good", "v1", "--", "./none", "in"], 1, "the test command was not found (exit code 127)");
    check(&["--good", "v1", "--", "date +%N"], 5, "print different outputs, first at: ");
}
