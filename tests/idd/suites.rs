//! What the other tests of a project say: `--suite`, and the tests that came with the culprit.

use idd_report::{Report, ReportedScope, Status, Suite};

use crate::fixture::Fixture;

/// The third commit says `three`, and a list of what is wanted says so, too; later commits add to both files.
const HISTORY: &str = "
    mkdir tests; seq 1 30 > value; echo 20 > tests/wanted
    for n in 1 2 3 4 5 6; do
        echo $n >> log
        if [ $n = 3 ]; then sed -i 's/^3$/three/' value; echo three >> tests/wanted; fi
        if [ $n = 5 ]; then echo 30 >> tests/wanted; fi
        commit \"change $n\"
    done
";

const TEST: &str = "! grep -qx three value";

fn notes(report: &Report) -> String {
    report.notes.iter().map(|note| String::from_utf8_lossy(note.as_bytes()).into_owned()).collect::<Vec<_>>().join("\n")
}

fn suites(report: &Report) -> Vec<Suite> {
    report.fixes.iter().filter(|fix| !fix.patch.is_empty()).map(|fix| fix.suite).collect()
}

#[test]
fn a_suite_that_cannot_tell_is_told_and_counts_for_nothing() {
    let fixture = Fixture::of(HISTORY);
    let plain = fixture.report(&[TEST]);
    assert_eq!((plain.status, plain.fix), (Status::Found, None));
    for suite in ["no-such-program", "exit 125", "echo 'test old: bad'; exit 1"] {
        let report = fixture.report(&["--suite", suite, TEST]);
        assert!(notes(&report).contains("The suite gives no result at "), "{suite}: {}", notes(&report));
        assert_eq!((report.status, &report.fix), (Status::Found, &None), "{suite}");
        assert!(suites(&report).iter().all(|suite| *suite == Suite::NotRun), "{suite}");
    }
}

#[test]
fn a_new_failure_is_seen_beside_old_ones_by_its_number_and_by_what_the_suite_counts() {
    let fixture = Fixture::of(HISTORY);
    let wants_three = "grep -qx three value";
    for suite in [
        format!("echo 'not ok 1'; {wants_three} || echo 'not ok 2'; exit 1"),
        format!("echo 'FAIL: a'; {wants_three} || echo 'FAIL: a'; exit 1"),
        format!("if {wants_three}; then echo 'Tests failed: 0'; else echo 'Tests failed: 1'; fi"),
    ] {
        let report = fixture.report(&["--suite", &suite, TEST]);
        assert_eq!((report.status, &report.fix), (Status::Found, &None), "{suite}");
        assert!(suites(&report).iter().all(|suite| *suite == Suite::Worse), "{suite}: {:?}", suites(&report));
        let why = report.no_fix.unwrap();
        let named = if suite.starts_with("echo 'not ok 1'") { ", such as `not ok 2`" } else { "" };
        assert!(why.as_bytes().ends_with(named.as_bytes()), "{why:?}");
    }
    // What the reversal mends is no new failure.
    let suite = format!("if {wants_three}; then echo '2 failed, 1 passed'; else echo '1 failed, 2 passed'; fi; exit 1");
    let report = fixture.report(&["--suite", &suite, TEST]);
    assert_eq!(report.fix.map(|fix| (fix.scope, fix.suite)), Some((ReportedScope::Files, Suite::Same)));
}

#[test]
fn a_test_that_came_with_the_culprit_is_not_taken_out_to_make_the_suite_pass() {
    let fixture = Fixture::of(HISTORY);
    let suite = "while read -r wanted; do grep -qx \"$wanted\" value || { echo \"FAIL: $wanted\"; exit 1; }; done <tests/wanted";
    let report = fixture.report(&["--suite", suite, TEST]);
    let files = |fix: &idd_report::ReportedFix| String::from_utf8_lossy(fix.patch.as_bytes()).contains("tests/wanted");
    let small = report.fixes.iter().filter(|fix| fix.scope != ReportedScope::Revert && !fix.patch.is_empty());
    assert!(small.clone().count() > 0);
    for fix in small {
        assert!(!files(fix) && fix.suite == Suite::Worse, "{fix:?}");
    }
    assert_eq!(report.change.necessary.map(|change| change.lines), Some(2));
}

#[test]
fn a_file_that_only_the_working_tree_has_is_in_every_revision() {
    let fixture = Fixture::of(HISTORY);
    fixture.sh(
        "echo three > unwanted; printf 'exec grep -qxf \"$1\" value\\n' > run.sh; git add run.sh; git commit -qm run",
    );
    let test = ["!", "sh", "run.sh", "unwanted"].join(" ");
    for args in [&[test.as_str()][..], &["--hold", "unwanted", &test]] {
        let report = fixture.report(args);
        assert_eq!(report.status, Status::Found, "{args:?}");
        let held: Vec<&[u8]> = report.held.iter().map(|held| held.path.as_bytes()).collect();
        assert!(held.contains(&&b"unwanted"[..]), "{held:?}");
    }
}

/// `three` is wrong, `twenty` is what the commit was for; its test wants what `WANTED` says.
const WITH_TESTS: &str = r#"
    mkdir tests tools; seq 1 30 > value
    cat > tools/pytest <<'END'
#!/bin/sh
failed=0
for file; do
    if grep -q missing "$file"; then echo "ERROR $file - no such module"; failed=1
    elif sh "$file"; then echo "PASSED $file::it"; else echo "FAILED $file::it - no"; failed=1; fi
done
echo "=== $failed failed in 0.1s ==="
exit $failed
END
    chmod +x tools/pytest
    for n in 1 2 3 4 5; do
        echo $n >> log
        if [ $n = 3 ]; then
            sed -i 's/^3$/three/; s/^20$/twenty/' value; echo 'WANTED' > tests/test_value.py
        fi
        commit "change $n"
    done
    echo '! grep -qx three value' > new.py
"#;

#[test]
fn the_tests_that_the_culprit_changed_are_run_with_each_reversal() {
    let hunted = |wanted: &str| {
        let fixture = Fixture::of(&WITH_TESTS.replace("WANTED", wanted));
        fixture.report(&["--", "./tools/pytest", "new.py"])
    };
    let report = hunted("grep -qx twenty value");
    let fix = report.fix.as_ref().map(|fix| (fix.lines, fix.suite));
    assert_eq!((report.status, fix), (Status::Found, Some((2, Suite::Same))), "{}", notes(&report));
    let said =
        "tested with `./tools/pytest new.py tests/test_value.py`, the test command with the tests of the culprit";
    assert!(notes(&report).contains(said), "{}", notes(&report));

    // What cannot be run at HEAD fails in the same way with each reversal, and says nothing for it.
    let report = hunted("import missing");
    assert_eq!((report.status, &report.fix), (Status::Found, &None), "{}", notes(&report));
    assert!(notes(&report).contains("`: some of its tests cannot be run."), "{}", notes(&report));

    let report = hunted("grep -qx three value");
    let why = report.no_fix.as_ref().map(|why| String::from_utf8_lossy(why.as_bytes()).into_owned());
    assert_eq!((report.status, &report.fix), (Status::Found, &None));
    assert!(why.as_ref().is_some_and(|why| why.ends_with("such as `tests/test_value.py::it`")), "{why:?}");
}

#[test]
fn a_fix_that_takes_back_nearly_all_code_of_the_culprit_says_so() {
    let history = WITH_TESTS.replace("s/^3$/three/;", "s/^[3-9]$/three/;").replace("WANTED", "grep -qx twenty value");
    let report = Fixture::of(&history).report(&["--", "./tools/pytest", "new.py"]);
    assert!(report.fix.is_some(), "{}", notes(&report));
    let said = "takes back nearly all code of the culprit: it has 14 lines, and the culprit changed 17";
    assert!(notes(&report).contains(said), "{}", notes(&report));
}
