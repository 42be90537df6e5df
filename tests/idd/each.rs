//! Several failing tests, hunted one after the other.

use std::fs;

use serde_json::Value;

use crate::fixture::Fixture;

/// Twelve facts, of which the changes 4, 9, 14 and 19 of 24 break three each. Each of these changes ten other lines, too.
const HISTORY: &str = "
    for fact in a b c d e f g h i j k l; do echo good > $fact; done
    seq 40 > other
    for n in $(seq 24); do
        echo $n > log
        case $n in 4 | 9 | 14 | 19) sed -i \"s/^\\([0-9]*[37]\\)\\b.*/\\1 since $n/\" other ;; esac
        case $n in
        4) for fact in a b c; do echo bad > $fact; done ;;
        9) for fact in d e f; do echo bad > $fact; done ;;
        14) for fact in g h i; do echo bad > $fact; done ;;
        19) for fact in j k l; do echo bad > $fact; done ;;
        esac
        commit \"change $n\"
    done
";

const LIST: &str = "printf '%s\\n' a b c d e f g h i j k l";

const TEST: &str = "grep -q good {}";

fn json(fixture: &Fixture, args: &[&str], code: i32) -> Value {
    serde_json::from_str(&fixture.said(&[&["--json"], args].concat(), code).0).unwrap()
}

#[test]
fn twelve_tests_of_four_culprits_take_at_most_half_of_the_runs_of_twelve_hunts() {
    let fixture = Fixture::of(HISTORY);
    let all = json(&fixture, &["-j1", "--each", LIST, TEST], 0);
    let tests = all["tests"].as_array().unwrap();
    let culprit = |test: &Value| test["first_bad"]["subject"].as_str().unwrap().to_owned();
    let culprits: Vec<String> = tests.iter().map(culprit).collect();
    let expected = ["change 4", "change 9", "change 14", "change 19"].map(|subject| vec![subject; 3]).concat();
    assert_eq!(culprits, expected);
    let together: u64 = tests.iter().map(|test| test["runs"].as_u64().unwrap()).sum();
    let alone = Fixture::of(HISTORY);
    let runs_of = |fact: &&str| alone.report(&["-j1", &TEST.replace("{}", fact)]).probes.run;
    let apart: u64 = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"].iter().map(runs_of).sum();
    assert!(together * 2 <= apart, "{together} runs together, {apart} apart");
    // A hunt for each test.
    assert_eq!(json(&fixture, &["list"], 0)["hunts"].as_array().unwrap().len(), 12);
}

#[test]
fn tests_are_printed_by_their_culprits_with_the_hunts_that_found_them() {
    let fixture = Fixture::of(HISTORY);
    let (stdout, stderr) = fixture
        .said(&["--each", "printf 'a\\nd\\nb\\nlog\\nnone of them\\n'", "grep -qs . {} && grep -q '[g1-9]' {}"], 2);
    assert!(stderr.contains("Hunting 5 tests.\n") && stderr.contains("\n1 of 5: a: "), "{stderr}");
    assert!(stdout.contains(" change 4 (2024-01-01) broke 2 tests:\n  a  ("), "{stdout}");
    assert!(stdout.contains(" change 9 (2024-01-01) broke 1 test:\n  d  ("), "{stdout}");
    assert!(stdout.contains("No commit was found for:\n  log: The test passes at the bad revision"), "{stdout}");
    assert!(stdout.contains("  none of them: No revision passes, back to the root"), "{stdout}");
    assert!(stdout.contains("\n2 culprits of 5 tests in "), "{stdout}");
    let hunt = stdout.split("  a  (").nth(1).and_then(|rest| rest.split(')').next()).unwrap();
    let (shown, _) = fixture.said(&["show", "--hunt", hunt], 0);
    assert!(shown.contains("    change 4\n"), "{shown}");
}

#[test]
fn the_failing_tests_of_a_junit_file_are_hunted() {
    let fixture = Fixture::of(HISTORY);
    let report = fixture.place().join("report.xml");
    fs::write(
        &report,
        "<testsuites><testsuite><testcase classname='x' name='a'><failure/></testcase><testcase classname='x' name='b'/>
         <testcase classname='x' name='j'><error/></testcase></testsuite></testsuites>",
    )
    .unwrap();
    let all = json(&fixture, &["--failures", report.to_str().unwrap(), "--until", "commit", "grep -q good {name}"], 0);
    let names: Vec<&str> = all["tests"].as_array().unwrap().iter().map(|test| test["test"].as_str().unwrap()).collect();
    assert_eq!(names, ["x.a", "x.j"]);
    assert_eq!(all["tests"][1]["first_bad"]["subject"], "change 19");
}

#[test]
fn what_lists_no_tests_is_an_error_with_the_next_step() {
    let fixture = Fixture::of("commit a");
    let check = |args: &[&str], expected: &str| {
        let (_, stderr) = fixture.said(args, 129);
        assert!(stderr.contains(expected) && stderr.contains("\nhint: "), "{args:?}: {stderr}");
    };
    check(&["--each", "true", "t {}"], "the command of `--each` prints no failing test");
    check(&["--each", "echo oh >&2; false", "t {}"], "the command of `--each` fails: oh");
    check(&["--each", "echo a", "./t.sh"], "the test command has no `{}`");
    check(&["--failures", "no.xml", "t {}"], "failed to read `no.xml`");
    check(&["--each", "echo a", "--find", "fix", "t {}"], "for their failures only");
}

#[test]
fn what_one_hunt_has_built_is_there_for_the_next() {
    let fixture = Fixture::of(HISTORY);
    let log = fixture.place().join("builds");
    // What a checkout has built is known by the number of its commit.
    let build = format!("cmp -s log built || {{ echo built >> '{}'; cp log built; }}", log.display());
    let n_builds = |list: &str| {
        fs::write(&log, "").unwrap();
        let args = ["--each", list, "--no-cache", "-j1", "--until", "commit", "--build", &build, TEST];
        assert_eq!(json(&fixture, &args, 0)["tests"][0]["first_bad"]["subject"], "change 14");
        fs::read_to_string(&log).unwrap().lines().count()
    };
    let (one, both) = (n_builds("echo g"), n_builds("printf 'g\\nh\\n'"));
    // HEAD is built, the commit, the one before it, and five fresh checkouts for the claims.
    assert!(both - one <= 8, "{one} builds for one test, {both} for two");
    assert!(fixture.sandboxes_left().is_empty());
}

#[test]
fn a_hunt_that_a_limit_ends_has_its_commit_and_is_no_success() {
    let fixture = Fixture::of(HISTORY);
    let all = json(&fixture, &["-j1", "--each", "echo a", "--max-probes", "16", TEST], 6);
    let test = &all["tests"][0];
    assert_eq!((&test["status"], &test["proved"]), (&Value::from("budget"), &Value::from(true)), "{all}");
    assert_eq!(test["first_bad"]["subject"], "change 4", "{all}");
    let (stdout, _) = fixture.said(&["-j1", "--no-cache", "--each", "echo a", "--until", "found", TEST], 0);
    assert!(stdout.contains(" change 4 (2024-01-01) broke 1 test:\n  a: not proved  ("), "{stdout}");
}

#[test]
fn a_test_that_failed_for_another_reason_at_a_known_commit_has_a_culprit_of_its_own() {
    let history = "echo good > a; echo good > c; commit first; echo bad > a; echo stop > broken; commit 'Break a';
        rm broken; commit 'Mend what is broken'; echo 1 > log; commit 'Something else'; echo bad > c; commit 'Break c'; echo 2 > log; commit last";
    let fixture = Fixture::of(history);
    let test = "if [ {} = a ]; then grep -q good a; else test ! -e broken || { echo 'FAIL: it is broken'; exit 1; }; \
                grep -q good c || { echo 'FAIL: c is bad'; exit 2; }; fi";
    for list in ["printf 'a\\nc\\n'", "printf 'c\\na\\n'"] {
        let all = json(&fixture, &["--no-cache", "--each", list, test], 0);
        for found in all["tests"].as_array().unwrap() {
            let expected = format!("Break {}", found["test"].as_str().unwrap());
            assert_eq!(found["first_bad"]["subject"], expected, "{list}: {all}");
        }
    }
    // Broken by a known commit, mended since.
    let (stdout, _) = fixture
        .said(&["--each", "printf 'a\\nx\\n'", "if [ {} = a ]; then grep -q good a; else test ! -e broken; fi"], 2);
    assert!(stdout.contains("  x: The test passes at the bad revision"), "{stdout}");
}
