//! `git idd try`: fixes of others are accepted if they mend, and refused if they do not, or only seem to.

use crate::fixture::Fixture;
use serde_json::Value;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};

/// `change 4` breaks `value`; a test of its own comes with it, and the suite wants its second line.
const HISTORY: &str = "
    mkdir src tests; seq 1 20 > src/value; printf '#!/bin/sh\\necho start\\n! grep -qx three src/value || { echo \"FAIL: three\"; exit 1; }\\necho done\\n' > tests/run.sh
    chmod +x tests/run.sh
    for n in 1 2 3 4 5 6; do
        echo $n > log$n
        if [ $n = 4 ]; then sed -i 's/^3$/three/; s/^15$/late/' src/value; echo late > tests/wanted; fi
        commit \"change $n\"
    done
";

/// Fails if a line of `tests/wanted` is missing.
const SUITE: &str =
    "while read -r line; do grep -qx \"$line\" src/value || { echo \"FAIL: $line\"; exit 1; }; done < tests/wanted";

/// A hunt whose script is not held, so that a fix can change it.
fn hunted(more: &[&str]) -> Fixture {
    let fixture = Fixture::of(HISTORY);
    fixture.report(&[more, &["--no-hold", "--", "./tests/run.sh"]].concat());
    fixture
}

/// The patch of what a script changes in a checkout of HEAD.
fn patch(fixture: &Fixture, script: &str) -> String {
    fixture.sh(&format!(
        "rm -rf \"$PLACE/draft\"; git clone -q . \"$PLACE/draft\"; cd \"$PLACE/draft\"; {script}; git add -A; git diff --cached --binary HEAD"
    ))
}

const MEND: &str = "sed -i 's/^three$/3/' src/value";

/// Judges a patch, and checks that nothing of the user's changes: the object of `--json`.
#[track_caller]
fn judge(fixture: &Fixture, text: impl AsRef<[u8]>, more: &[&str], code: i32) -> Value {
    let file = fixture.place().join("fix.patch");
    fs::write(&file, text).unwrap();
    judge_named(fixture, file.to_str().unwrap(), more, code)
}

#[track_caller]
fn judge_named(fixture: &Fixture, name: &str, more: &[&str], code: i32) -> Value {
    let before = fixture.state();
    let (said, progress) = fixture.said(&[&["try", "--json", name], more].concat(), code);
    assert_eq!(fixture.state(), before);
    assert_eq!(fixture.sandboxes_left().len(), 0);
    let value: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}{progress}"));
    let schema = fs::read_to_string(crate::fixture::root().join("docs/schema/git-idd-try-1.json")).unwrap();
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let wrong: Vec<String> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}: {value}");
    assert_eq!(value["accepted"], code == 0);
    value
}

/// The results of all checks, in their order: the first letter of each.
fn results(value: &Value) -> String {
    value["checks"].as_array().unwrap().iter().map(|check| &check["result"].as_str().unwrap()[..1]).collect()
}

fn why(value: &Value, index: usize) -> &str {
    value["checks"][index]["why"].as_str().unwrap()
}

/// The error for a proposal that cannot be judged.
#[track_caller]
fn check_error(fixture: &Fixture, args: &[&str], code: i32, expected: &str) {
    let before = fixture.state();
    let (_, said) = fixture.said(&[&["try"], args].concat(), code);
    assert!(said.contains(expected) && said.contains("hint: ") && !said.contains("panicked"), "{args:?}: {said}");
    assert_eq!(fixture.state(), before);
}

#[test]
fn a_fix_that_mends_is_accepted_in_each_form_in_which_it_comes() {
    let fixture = hunted(&["--suite", SUITE]);
    let value = judge(&fixture, patch(&fixture, MEND), &[], 0);
    assert_eq!(results(&value), "hhhnhh", "{value}");
    assert!(why(&value, 1).starts_with("3 runs in a row"), "{value}");
    assert!(why(&value, 2).contains("it prints 2 of 2 lines of the last good revision"), "{value}");
    assert!(why(&value, 5).contains("`tests/wanted` stay"), "{value}");
    assert_eq!(value["fix"]["lines"], 2);
    // As a mail, and from standard input.
    fixture.sh("cd \"$PLACE/draft\"; git commit -qm 'Mend it'; git format-patch -q -1 --stdout > \"$PLACE/mail\"");
    let mail = fs::read(fixture.place().join("mail")).unwrap();
    assert_eq!(judge(&fixture, &mail, &[], 0)["fix"]["patch"], value["fix"]["patch"]);
    let mut child = fixture.command(&["try", "-"]);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&mail).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && said.ends_with("The fix is accepted.\n"), "{said}");
    assert!(said.contains("\n✓ applies: ") && said.contains("\n✓ no vacuous pass: "), "{said}");
}

#[test]
fn a_fix_that_is_in_a_branch_is_found_by_its_name_and_merged_if_head_does_not_lead_to_it() {
    let fixture = hunted(&[]);
    fixture.sh(&format!(
        "git switch -qc ahead; {MEND}; commit ahead; git switch -qc fork main~1; {MEND}; commit mend
         git switch -qc clash main~1; sed -i 's/^three$/drei/' src/value; commit clash; git switch -q main
         git clone -q --bare . \"$PLACE/remote\"; git -C \"$PLACE/remote\" branch -qf main ahead
         git remote add origin \"$PLACE/remote\"; git fetch -q origin; git branch -q --set-upstream-to=origin/main"
    ));
    for name in ["ahead", "@{upstream}"] {
        let value = judge_named(&fixture, name, &[], 0);
        assert_eq!((&value["fix"]["merged"], results(&value).as_str()), (&Value::Bool(false), "hhhnnh"), "{value}");
    }
    let fork = judge_named(&fixture, "fork", &[], 0);
    assert_eq!(fork["fix"]["merged"], true);
    assert_eq!(fork["fix"]["files"], serde_json::json!(["src/value"]), "what HEAD has since is no part of it");
    fixture.sh("sed -i 's/^three$/vier/' src/value; sed -i 's/three/vier/' tests/run.sh; commit later");
    let clash = judge_named(&fixture, "clash", &[], 1);
    assert_eq!(results(&clash), "fnnnnn", "{clash}");
    assert!(why(&clash, 0).ends_with("conflicts with HEAD in `src/value`"), "{clash}");
    assert_eq!((&clash["checks"][0]["about"][0], &clash["fix"]["patch"]), (&Value::from("src/value"), &Value::Null));
}

#[test]
fn a_fix_that_does_not_apply_or_does_not_mend_is_refused() {
    let fixture = hunted(&[]);
    let stale = patch(&fixture, MEND).replace("-three", "-drei");
    let value = judge(&fixture, stale, &[], 1);
    assert_eq!(results(&value), "fnnnnn", "{value}");
    assert!(why(&value, 0).contains("does not apply to `src/value`: hunk 1 ("), "{value}");
    assert_eq!(value["runs"], 0);
    let value = judge(&fixture, patch(&fixture, "sed -i 's/^9$/nine/' src/value"), &[], 1);
    assert_eq!(results(&value), "hfnnnn", "{value}");
    assert_eq!(why(&value, 1), "run 1 of 3: it still fails (exit code 1): FAIL: three");
}

#[test]
fn a_fix_that_mends_and_breaks_the_suite_is_refused() {
    let fixture = hunted(&[]);
    let whole = "sed -i 's/^three$/3/; s/^late$/15/' src/value";
    // Without a suite nothing shows it.
    assert_eq!(results(&judge(&fixture, patch(&fixture, whole), &[], 0)), "hhhnnh");
    let value = judge(&fixture, patch(&fixture, whole), &["--suite", SUITE], 1);
    assert_eq!(results(&value), "hhhnfh", "{value}");
    assert_eq!(why(&value, 4), "new failures: `FAIL: late`");
    // A suite that passes needs no other run beside it.
    let mute = "! grep -qx three src/value";
    assert_eq!(results(&judge(&fixture, patch(&fixture, MEND), &["--suite", mute], 0)), "hhhnhh");
    let value = judge(&fixture, patch(&fixture, MEND), &["--suite", "no-such-program"], 0);
    assert_eq!((results(&value).as_str(), why(&value, 4).contains("no result at HEAD")), ("hhhnnh", true), "{value}");
}

#[test]
fn a_fix_that_only_changes_what_is_tested_is_refused() {
    let fixture = hunted(&[]);
    for (cheat, expected) in [
        ("printf '#!/bin/sh\\n' > tests/run.sh", "it prints none of the lines of the last good revision"),
        (
            "sed -i 's/three src/never src/' tests/run.sh",
            "the fix changes only `tests/run.sh`, which belong to the tests",
        ),
        (
            "sed -i 's/three src/never src/' tests/run.sh; echo x > other",
            "the test passes only with the changes of `tests/run.sh`",
        ),
    ] {
        let value = judge(&fixture, patch(&fixture, cheat), &[], 1);
        assert_eq!((results(&value).as_str(), why(&value, 2)), ("hhfnnh", expected), "{value}");
    }
    let value = judge(&fixture, patch(&fixture, "git rm -q tests/run.sh"), &[], 1);
    assert_eq!(results(&value), "hfnnnn", "{value}");
    // A fix may bring tests.
    let more = format!("{MEND}; echo '# more' >> tests/run.sh");
    let value = judge(&fixture, patch(&fixture, &more), &[], 0);
    assert!(why(&value, 2).ends_with("the test passes without the changes of `tests/run.sh`, too"), "{value}");
    let value = judge(&fixture, patch(&fixture, &format!("{MEND}; git rm -q tests/wanted")), &[], 1);
    assert_eq!(results(&value), "hhhnnf", "{value}");
    assert_eq!(why(&value, 5), "the fix changes or removes what the culprit tests in `tests/wanted`");
}

#[test]
fn a_build_file_that_no_longer_runs_the_test_is_found_out_and_one_that_the_fix_needs_is_pointed_at() {
    let fixture = Fixture::of(
        "printf 'all: run\\n.PHONY: all run\\nrun:\\n\\tcat value\\n\\tgrep -qx 3 value || { echo FAIL: three; exit 1; }\\n' > Makefile; seq 1 5 > value; commit first
         echo 1 > log; commit second; sed -i 's/^3$/three/' value; commit third; echo 2 > log; commit fourth",
    );
    fixture.report(&["--", "make", "-s"]);
    let value = judge(&fixture, patch(&fixture, "sed -i '/grep/d' Makefile; echo x > other"), &[], 1);
    assert_eq!(results(&value), "hhfnnh", "{value}");
    assert_eq!(why(&value, 2), "the test passes only with the changes of `Makefile`");
    let both = "sed -i 's/^three$/3/' value; echo '# more' >> Makefile";
    let value = judge(&fixture, patch(&fixture, both), &[], 0);
    assert!(why(&value, 2).ends_with("without the changes of `Makefile`, too"), "{value}");
    let moved = "git mv value other; sed -i 's/^three$/3/' other; sed -i 's/ value/ other/' Makefile";
    let value = judge(&fixture, patch(&fixture, moved), &[], 0);
    let remarks = value["remarks"].to_string();
    assert!(remarks.contains("`Makefile` can decide what is tested"), "{value}");
}

#[test]
fn a_revert_of_the_whole_culprit_may_take_its_tests_with_it() {
    let fixture = hunted(&[]);
    let revert = "git revert --no-edit --no-commit \"$(git log --format=%H --grep='change 4')\"";
    let value = judge(&fixture, patch(&fixture, revert), &[], 0);
    assert_eq!(results(&value), "hhhnnh", "{value}");
    assert_eq!(why(&value, 5), "`tests/wanted` go with the whole commit, which the fix reverts");
    // Nor are they missed in the suite.
    let counting = "echo \"Ran $(ls tests | wc -l) tests in 0.001s\"; echo; echo OK";
    let value = judge(&fixture, patch(&fixture, revert), &["--suite", counting], 0);
    assert_eq!(
        (results(&value).as_str(), why(&value, 4)),
        ("hhhnhh", "1 test run with the fix; 2 at HEAD, with those of the reverted commit"),
        "{value}"
    );
    let left_out = format!("{MEND}; git rm -q tests/wanted");
    let value = judge(&fixture, patch(&fixture, &left_out), &["--suite", counting], 1);
    assert_eq!(results(&value), "hhhnff", "{value}");
}

#[test]
fn a_fix_may_change_tests_of_the_culprit_that_pass_with_it_as_they_are_too() {
    let fixture = hunted(&[]);
    let stricter = "printf '16\\nlate_\\n' > tests/wanted; sed -i 's/^late$/late\\nlate_/' src/value";
    let value = judge(&fixture, patch(&fixture, &format!("{MEND}; {stricter}")), &["--suite", SUITE], 0);
    assert_eq!(results(&value), "hhhnhh", "{value}");
    assert_eq!(why(&value, 5), "the fix changes `tests/wanted`; without that the suite is no worse, either");
    let weaker = "echo 16 > tests/wanted; sed -i 's/^late$/15/' src/value";
    let value = judge(&fixture, patch(&fixture, &format!("{MEND}; {weaker}")), &["--suite", SUITE], 1);
    assert_eq!(results(&value), "hhhnhf", "{value}");
}

#[test]
fn a_held_script_is_that_of_the_working_tree_whatever_the_fix_does_with_it() {
    let fixture = Fixture::of(HISTORY);
    fixture.report(&["--", "./tests/run.sh"]);
    let value = judge(&fixture, patch(&fixture, "printf '#!/bin/sh\\n' > tests/run.sh"), &[], 1);
    assert_eq!(results(&value), "hfnnnn", "{value}");
    let remark = value["remarks"][0].as_str().unwrap();
    assert_eq!(remark, "The test runs with `tests/run.sh` of your working tree, not of the fix.");
}

#[test]
fn tests_that_a_fix_leaves_out_are_missed_by_name_and_by_count() {
    let fixture = Fixture::of(
        "printf 'value = 3\\n' > a.py
         printf 'import unittest, a, b\\nclass T(unittest.TestCase):\\n    def test_a(self):\\n        b.check(self)\\n    def test_b(self):\\n        pass\\n' > t.py
         printf 'import a\\ndef check(case):\\n    case.assertEqual(a.value, 3)\\n' > b.py; commit first
         echo 1 > log; commit second; printf 'value = 4\\n' > a.py; commit third; echo 2 > log; commit fourth",
    );
    fixture.report(&["--", "python3", "-m", "unittest", "t"]);
    let value = judge(&fixture, patch(&fixture, "printf 'value = 3\\n' > a.py"), &[], 0);
    assert_eq!(results(&value), "hhhhnh", "{value}");
    assert_eq!(why(&value, 2), "2 tests run, 2 at HEAD");
    for (cheat, expected) in [
        ("printf 'def check(case):\\n    case.skipTest(\"later\")\\n' > b.py", "1 test run; 2 at HEAD"),
        ("printf 'import os\\nos._exit(0)\\n' > b.py", "unittest reports no test"),
    ] {
        let value = judge(&fixture, patch(&fixture, cheat), &[], 1);
        assert_eq!((&results(&value)[..3], why(&value, 2)), ("hhf", expected), "{value}");
    }
    let value = judge(&fixture, patch(&fixture, "printf 'value = 3\\nprint(valeu)\\n' > a.py"), &[], 1);
    assert_eq!(&results(&value)[..2], "hf", "{value}");
    let value =
        judge(&fixture, patch(&fixture, "printf 'value = 3\\ndef other():\\n    return valeu\\n' > a.py"), &[], 1);
    assert_eq!(results(&value), "hhhfnh", "{value}");
    assert!(why(&value, 3).contains("valeu"), "{value}");
}

#[test]
fn what_is_no_fix_is_an_error_that_says_what_is_wrong_with_it() {
    let fixture = hunted(&[]);
    let file = |name: &str, bytes: &[u8]| fs::write(fixture.place().join(name), bytes).unwrap();
    file("empty", b"\n");
    file("text", b"Hello.\n");
    file("garbage", &[0, 159, 146, 150, 10, 0xff, 0xfe].repeat(40));
    file("escape", b"diff --git a/../x b/../x\nnew file mode 100644\n--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n");
    file("config", b"diff --git a/.git/config b/.git/config\nnew file mode 100644\n--- /dev/null\n+++ b/.git/config\n@@ -0,0 +1 @@\n+x\n");
    file("cut", b"diff --git a/src/value b/src/value\n--- a/src/value\n+++ b/src/value\n@@ -1,4 +1,4 @@\n 1\n");
    fs::File::create(fixture.place().join("huge")).unwrap().set_len(65 << 20).unwrap();
    for (name, expected) in [
        ("missing", "is neither a file nor a revision"),
        ("empty", "is empty"),
        ("text", "cannot be read"),
        ("garbage", "cannot be read"),
        ("escape", "names a path that git refuses"),
        ("config", "names a path that git refuses"),
        ("cut", "cannot be read"),
        ("huge", "has more than 64 MiB"),
        ("home", "is a directory, and no revision"),
    ] {
        check_error(&fixture, &[fixture.place().join(name).to_str().unwrap()], 129, expected);
    }
    check_error(&fixture, &["HEAD~1"], 129, "changes nothing at HEAD");
    check_error(&fixture, &["HEAD"], 129, "changes nothing at HEAD");
    fixture.sh("git branch both; echo x > both");
    check_error(&fixture, &["both"], 129, "is both a file and a revision");
    assert!(!fixture.place().join("x").exists());
    // A file that is no UTF-8, under a name that is none.
    let latin =
        format!("{MEND}; printf 'caf\\351\\n' > \"$(printf 'n\\351')\"; git add -A; git diff --cached HEAD > ../latin");
    patch(&fixture, &format!("({latin}); git reset -q --hard"));
    let value = judge_named(&fixture, fixture.place().join("latin").to_str().unwrap(), &[], 0);
    assert_eq!(results(&value), "hhhnnh", "{value}");
}

#[test]
fn nothing_is_judged_without_a_finding_or_where_the_test_passes() {
    let fixture = Fixture::of(HISTORY);
    check_error(&fixture, &["HEAD"], 1, "there is no hunt in this worktree");
    fixture.report(&["--max-probes", "2", "--no-hold", "--", "./tests/run.sh"]);
    check_error(&fixture, &["HEAD"], 1, "has found no commit that breaks the test");
    fixture.report(&["--no-hold", "--", "./tests/run.sh"]);
    fixture.sh(&format!("git branch old; {MEND}; commit mend; git branch more; git reset -q --hard"));
    let nine = patch(&fixture, "sed -i 's/^9$/nine/' src/value");
    fs::write(fixture.place().join("nine"), nine).unwrap();
    let nine = fixture.place().join("nine");
    check_error(&fixture, &[nine.to_str().unwrap()], 3, "so there is nothing to mend");
    fixture.sh("printf '#!/bin/sh\\necho \"FAIL: other\"\\nexit 1\\n' > tests/run.sh; commit other");
    check_error(&fixture, &[nine.to_str().unwrap()], 1, "HEAD fails in another way than the finding: FAIL: other");
}

#[test]
fn a_trial_ends_with_its_budget_and_leaves_nothing() {
    let fixture = hunted(&[]);
    let file = fixture.place().join("fix");
    fs::write(&file, patch(&fixture, MEND)).unwrap();
    check_error(&fixture, &["--budget", "1ms", file.to_str().unwrap()], 6, "budget was used up");
    assert_eq!(fixture.sandboxes_left().len(), 0);
}

#[test]
fn ctrl_c_ends_a_trial_and_its_test_and_leaves_nothing() {
    let fixture = hunted(&[]);
    let (before, file) = (fixture.state(), fixture.place().join("fix"));
    fs::write(&file, patch(&fixture, "printf '#!/bin/sh\\nsleep 1000\\n' > tests/run.sh")).unwrap();
    let mut command = fixture.command(&["try", file.to_str().unwrap()]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("with the fix: 1 of 3") {
        line.clear();
        assert_ne!(stderr.read_line(&mut line).unwrap(), 0);
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    line.clear();
    stderr.read_to_string(&mut line).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{line}");
    assert!(line.contains("stopped before the fix was judged"), "{line}");
    assert_eq!((fixture.sandboxes_left().len(), fixture.processes_left().len()), (0, 0));
    assert_eq!(fixture.state(), before);
}

#[test]
fn a_test_that_fails_now_and_then_is_run_until_a_failure_would_have_been_seen() {
    let fixture = Fixture::of(
        "echo good > value; commit first; echo 1 > log; commit second; echo bad > value; commit third; echo 2 > log; commit fourth",
    );
    // Every second run of a bad version passes.
    let turns = fixture.place().join("turns");
    let test = format!(
        "if grep -q bad value; then echo >> {0}; [ $(($(wc -l < {0}) % 2)) = 1 ] && {{ echo FAIL: bad; exit 1; }}; fi; echo fine",
        turns.display()
    );
    fixture.report(&["--flaky", "-j1", "--", &test]);
    let value = judge(&fixture, patch(&fixture, "echo good > value"), &[], 0);
    assert!(
        why(&value, 1).contains("; without the fix, ") && why(&value, 1).ends_with(" % of the runs pass"),
        "{value}"
    );
    let n_runs: u32 = why(&value, 1).split(' ').next().unwrap().parse().unwrap();
    assert!((4..=40).contains(&n_runs), "{value}");
    let value = judge(&fixture, patch(&fixture, "echo 3 > log"), &[], 1);
    assert_eq!(results(&value), "hfnnnn", "{value}");
}
