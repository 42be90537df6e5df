//! `git idd shrink`: the real binary, on inputs of a few bytes.

use crate::fixture;
use crate::plain::git;
use crate::plain::idd;
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
    assert_eq!(again["probes"]["run"], 2, "only the failure is reproduced: {again}");
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
    check(&["--input", "none", "--", "./t.sh", "bad"], 129, "failed to read the input `none`");
    check(&["--args", "--", "./t.sh bad"], 129, "`--args` needs the test as a program");
    check(&["--input", "bad", "--passing", "bad", "--", "./t.sh", "bad"], 129, "does not pass with the file");
    check(&["--", "./t.sh", "bad"], 129, "--input");
}
