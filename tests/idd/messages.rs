//! What `record`, `trace` and `explain` say where they cannot do what they are asked for.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::plain::{self, git};
use serde_json::Value;

/// Three revisions of a program that fails from the last one on; its test is in none of them.
fn repository() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    git(place.path(), &["init", "--quiet", "."]);
    for code in [0, 0, 3] {
        let known = fs::read_dir(place.path()).unwrap().count();
        let text = format!("/* {known} */\nint main(void)\n{{\n    int code = {code};\n    return code;\n}}\n");
        fs::write(place.path().join("a.c"), text).unwrap();
        fs::write(place.path().join(format!("n{known}")), "").unwrap();
        fs::write(place.path().join(".gitignore"), "a\n").unwrap();
        git(place.path(), &["add", "."]);
        git(place.path(), &["commit", "--quiet", "-m", "Another version"]);
    }
    let script = place.path().join("test.sh");
    fs::write(&script, "#!/bin/sh\n./a\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    place
}

fn command(place: &Path, words: &[&str]) -> Command {
    let mut command = plain::program(place);
    command.args(words).env_remove("IDD_CLANG");
    command
}

fn run(mut command: Command) -> (String, String, Option<i32>) {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

fn idd(place: &Path, words: &[&str]) -> (String, String, Option<i32>) {
    run(command(place, words))
}

#[track_caller]
fn refused(place: &Path, words: &[&str], status: i32, message: &str) {
    let (said, complaint, code) = idd(place, words);
    assert_eq!(code, Some(status), "{words:?}: {said}{complaint}");
    assert!(complaint.contains(message), "{words:?}: {complaint}");
    assert!(complaint.contains("\nhint: "), "{words:?}: {complaint}");
}

const BUILD: [&str; 2] = ["--build", "cc -o a a.c"];

#[test]
#[cfg_attr(not(feature = "explain"), ignore = "it needs recordings")]
fn record_and_explain_hold_the_test_script_as_a_hunt_does() {
    let place = repository();
    let words = |words: &[&'static str]| [&["record", "--once"], words, &BUILD, &["--", "./test.sh"]].concat();
    let (said, complaint, code) = idd(place.path(), &words(&["--at", "HEAD~1"]));
    assert_eq!(code, Some(0), "{said}{complaint}");
    assert!(said.contains("the test ended with exit code 0"), "{said}");
    assert!(complaint.contains("Held as in the working tree: `test.sh`."), "{complaint}");
    let missing = "error: the test ended with exit code 127: ";
    refused(place.path(), &words(&["--at", "HEAD~1", "--no-hold"]), 1, missing);
    let words =
        [&["explain", "--json", "--bad", "HEAD", "--good", "HEAD~1"], &BUILD[..], &["--", "./test.sh"]].concat();
    let (said, complaint, code) = idd(place.path(), &words);
    assert_eq!(code, Some(0), "{said}{complaint}");
    let explanation: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(explanation["chain"][0]["variable"], "code", "{explanation}");
    assert_eq!(explanation["chain"][0]["in_change"], true, "{explanation}");
}

#[test]
fn explain_of_another_test_builds_as_the_last_hunt_did_and_a_report_says_who_lacks_what_is_held() {
    let place = repository();
    let (said, complaint, code) = idd(place.path(), &["--quiet", "--build", "cc -o a a.c", "--", "./test.sh"]);
    assert_eq!(code, Some(0), "{said}{complaint}");
    assert!(said.contains("\nheld:      test.sh, as now, in every revision\n"), "{said}");
    let (said, ..) = idd(place.path(), &["show", "--full"]);
    assert!(said.contains("\n  test.sh (neither the last good nor the first bad commit has it)\n"), "{said}");
    let test = "./a; test $? = 0";
    let (said, complaint, code) = idd(place.path(), &["explain", "--bad", "HEAD", "--good", "HEAD~1", "--", test]);
    assert_eq!(code, Some(0), "{said}{complaint}");
    assert!(complaint.contains("Building as in the last hunt, with `cc -o a a.c`; `--build` names"), "{complaint}");
    // The one that is given wins, and so does that of the configuration.
    let words = ["explain", "--switch", "--build", "false", "--", test];
    refused(place.path(), &words, 1, "error: the build fails under the instrumenting compiler");
    git(place.path(), &["config", "idd.build", "exit 7"]);
    refused(place.path(), &["explain", "--switch", "--", test], 1, "error: the build fails");
    // A script that the culprit brought is not in good.
    git(place.path(), &["config", "--unset", "idd.build"]);
    git(place.path(), &["add", "test.sh"]);
    git(place.path(), &["commit", "--quiet", "--amend", "-m", "Last version"]);
    let (said, complaint, code) = idd(place.path(), &["--quiet", "--build", "cc -o a a.c", "--", "./test.sh"]);
    assert_eq!(code, Some(0), "{said}{complaint}");
    let (said, ..) = idd(place.path(), &["show", "--full"]);
    assert!(said.contains("\n  test.sh (the last good commit does not have it)\n"), "{said}");
}

#[test]
#[cfg_attr(not(feature = "explain"), ignore = "it needs recordings")]
fn a_size_a_step_or_a_command_that_cannot_be_meant_is_refused() {
    let place = repository();
    let of = |size: &'static str| ["record", "--max-trace", size, "--", "./a"];
    refused(place.path(), &of("0"), 129, "invalid value '0' for '--max-trace <SIZE>': the smallest limit is 1M");
    refused(place.path(), &of("1"), 129, "the smallest limit is 1M");
    refused(place.path(), &of("-5"), 129, "invalid value '-5' for '--max-trace <SIZE>': a size is a number and K, M");
    refused(place.path(), &["trace", "step", "0"], 129, "invalid value '0' for '<STEP>': steps are numbered from 1");
    refused(place.path(), &["trace", "why", "-1", "n"], 129, "steps are numbered from 1");
    let message = "error: `git idd trace` needs a subcommand: list, stat, tree, inputs, step, why\n";
    refused(place.path(), &["trace"], 129, message);
}

#[test]
#[cfg_attr(not(feature = "explain"), ignore = "it needs recordings")]
fn a_clang_or_a_test_that_is_not_there_is_named() {
    let place = repository();
    let mut wrong = command(place.path(), &["record", "--", "./a"]);
    wrong.env("IDD_CLANG", "/nowhere/clang");
    let (_, complaint, code) = run(wrong);
    assert_eq!(code, Some(1), "{complaint}");
    assert!(complaint.contains("error: `IDD_CLANG` names `/nowhere/clang`, which is not clang 16"), "{complaint}");
    let words = ["record", "--once", "--build", "cc -o a a.c", "--", "./nosuch", "x"];
    refused(place.path(), &words, 1, "error: the test ended with exit code 127: ");
    refused(place.path(), &words, 1, "./nosuch: not found");
    let words = ["explain", "--bad", "HEAD", "--good", "HEAD~1", "--build", "cc -o a a.c", "--", "./nosuch"];
    refused(place.path(), &words, 1, "./nosuch: not found");
}

#[test]
#[cfg_attr(not(feature = "explain"), ignore = "it needs recordings")]
fn a_git_directory_that_cannot_be_written_is_said_to_have_to_be() {
    let place = repository();
    for words in [&["record", "--", "./a"][..], &["--", "./a"]] {
        // A limit on the size of files holds for root, too.
        let mut limited = Command::new("sh");
        limited.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_git-idd")]).args(words);
        limited.current_dir(place.path()).env("XDG_CACHE_HOME", place.path().join(".git/cache"));
        let (_, complaint, code) = run(limited);
        assert_eq!(code, Some(1), "{words:?}: {complaint}");
        assert!(complaint.contains("File too large"), "{words:?}: {complaint}");
        assert!(complaint.contains("make it writable, free space"), "{words:?}: {complaint}");
    }
}

#[test]
#[cfg_attr(not(feature = "explain"), ignore = "it needs recordings")]
fn who_is_at_work_in_the_worktree_is_told_by_number() {
    let place = repository();
    let ready = place.path().join(".git/ready");
    let mut hunting = command(place.path(), &["--timeout", "1h", "--", "sh", "wait.sh"]);
    hunting.env("READY", &ready);
    fs::write(place.path().join("wait.sh"), "touch \"$READY\"\nsleep 1000\n").unwrap();
    let mut hunting = hunting.stderr(std::process::Stdio::null()).stdout(std::process::Stdio::null()).spawn().unwrap();
    while !ready.exists() {
        assert!(hunting.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    let pid = hunting.id();
    let message = format!("error: `git idd` is at work already in this worktree, as process {pid}\n");
    refused(place.path(), &["record", "--", "./a"], 1, &message);
    refused(place.path(), &["resume"], 1, &format!("`kill -INT {pid}` stops it"));
    assert!(Command::new("kill").args(["-INT", &pid.to_string()]).status().unwrap().success());
    assert_eq!(hunting.wait().unwrap().code(), Some(130));
}
