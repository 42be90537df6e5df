//! Questions to history other than the commit since which a test fails.

use idd_base::Sought;
use idd_report::{Report, Status, json};

use crate::fixture::Fixture;

/// `value` is 1 at first, 2 in the changes 3 to 5, and 3 since then; `change 6` also changes other lines.
const HISTORY: &str = "
    printf 'a\\n.\\n1\\n.\\nb\\n' > value
    for n in 1 2 3 4 5 6 7 8 9; do
        echo $n >> log
        if [ $n = 3 ]; then sed -i 's/^1$/2/' value; fi
        if [ $n = 6 ]; then sed -i 's/^2$/3/; s/^a$/A/; s/^b$/B/' value; fi
        commit \"change $n\"
    done
";

/// Passes in the changes 1 and 2, and since change 6.
const TEST: &str = "! grep -qx 2 value";

/// Prints the value, and says something else on its standard error.
const BY: &str = "sed -n 3p value";

fn subject(report: &Report) -> String {
    let first = report.first_bad.as_ref().expect("a commit is found");
    String::from_utf8_lossy(first.commit.subject.as_bytes()).into_owned()
}

#[test]
#[cfg_attr(not(feature = "explain"), ignore = "it needs recordings")]
fn the_fixing_commit_is_told_in_its_own_words_and_not_in_those_of_a_failure() {
    let fixture = Fixture::of(HISTORY);
    let (stdout, stderr) = fixture.said(&["--find", "fix", TEST], 0);
    for said in
        ["is the first fixed commit", "    change 6", "last bad: ", "The change that fixes the test (2 of 7 lines)"]
    {
        assert!(stdout.contains(said), "{said}: {stdout}");
    }
    assert!(!stdout.contains("first bad") && !stdout.contains("git idd apply"), "{stdout}");
    assert!(stderr.contains(" fail  change 5\n") && stderr.contains(" pass  change 6\n"), "{stderr}");
    let report: Report = json::read(&fixture.run(&["show", "--json"]).stdout).unwrap();
    assert_eq!((report.find, report.fix, report.status), (Sought::Fix, None, Status::Found));
    let (log, _) = fixture.said(&["log", "--format=bisect"], 0);
    assert!(log.starts_with("git bisect start --term-old=old --term-new=new\n"), "{log}");
    std::fs::write(fixture.place().join("log"), &log).unwrap();
    let said = fixture.sh("git bisect replay \"$PLACE/log\"; git bisect reset");
    assert!(said.contains("is the first new commit") && said.contains("change 6"), "{said}");
    let (_, stderr) = fixture.said(&["explain"], 1);
    assert!(stderr.contains("did not look for a failure") && stderr.contains("--good"), "{stderr}");
}

#[test]
fn between_two_revisions_of_the_user_the_fix_is_searched_with_the_words_of_the_user() {
    let fixture = Fixture::of(HISTORY);
    let report = fixture.report(&["--find", "fix", "--bad", "HEAD~4", "--good", "HEAD~1", TEST]);
    assert_eq!((report.status, &*subject(&report)), (Status::Found, "change 6"));
    let (stdout, _) = fixture.said(&["--find", "fix", "--good", "HEAD~5", TEST], 3);
    assert!(stdout.contains("The test fails at the newer revision"), "{stdout}");
    assert!(stdout.contains("next: name a revision where the test passes with `--good <rev>`"), "{stdout}");
    let (stdout, _) = fixture.said(&["--find", "fix", "--bad", "HEAD~2", TEST], 3);
    assert!(stdout.contains("The test passes at the revision that was given as bad"), "{stdout}");
    let (stdout, _) = fixture.said(&["--find", "fix", "true"], 7);
    assert!(stdout.contains("No revision fails, back to the root"), "{stdout}");
}

#[test]
fn the_commit_that_changed_a_value_is_found_with_both_values_and_its_lines() {
    let fixture = Fixture::of(HISTORY);
    let report = fixture.report(&["--find", "change", "--by", BY]);
    assert_eq!((report.status, &*subject(&report)), (Status::Found, "change 6"));
    let text = |value: &Option<idd_report::Untrusted>| {
        value.as_ref().map(|text| String::from_utf8_lossy(text.as_bytes()).into_owned())
    };
    assert_eq!(text(&report.before).as_deref(), Some("2"));
    assert_eq!(text(&report.signature.as_ref().unwrap().line).as_deref(), Some("3"));
    let change = report.change.sufficient.as_ref().unwrap();
    assert_eq!(change.lines, 2, "{}", String::from_utf8_lossy(change.patch.as_bytes()));
    let older = fixture.report(&["--find", "change", "--bad", "HEAD~4", "--by", BY]);
    assert_eq!(&*subject(&older), "change 3");
    let (stdout, _) = fixture.said(&["show", "--full"], 0);
    for said in
        ["is the first commit with the new value", "value:     `2`", "before:    `1`", "  old (clean, verified)"]
    {
        assert!(stdout.contains(said), "{said}: {stdout}");
    }
}

#[test]
fn a_command_without_one_value_is_an_error_that_prints_what_it_printed() {
    let fixture = Fixture::of(HISTORY);
    let (_, stderr) = fixture.said(&["--find", "change", "--by", "date +%s.%N"], 5);
    assert!(stderr.contains("the runs at the newer revision print `1") && stderr.contains("2>/dev/null"), "{stderr}");
    let (_, stderr) = fixture.said(&["--find", "change", "--by", "cat nothing"], 4);
    assert!(stderr.contains("so it has no value there: cat: nothing"), "{stderr}");
    let (stdout, _) = fixture.said(&["--find", "change", "--by", "sed -n 9p value"], 7);
    assert!(stdout.contains("No revision has another value, back to the root"), "{stdout}");
}

#[test]
fn a_hunt_for_a_value_goes_on_where_it_was_stopped_with_the_same_question() {
    let fixture = Fixture::of(HISTORY);
    let args = ["--find", "change", "--max-probes", "6", "--json", "--by", BY];
    let stopped: Report = json::read(&fixture.run(&args).stdout).unwrap();
    assert_eq!(stopped.status, Status::Budget, "{stopped:?}");
    let resumed: Report = json::read(&fixture.run(&["resume", "--max-probes", "500", "--json"]).stdout).unwrap();
    assert_eq!((resumed.find, resumed.status, &*subject(&resumed)), (Sought::Change, Status::Found, "change 6"));
}

#[test]
fn a_script_that_prints_a_value_is_that_of_each_revision() {
    let fixture = Fixture::of(
        "printf '#!/bin/sh\\necho $((1 + $(cat n)))\\n' > size.sh; chmod +x size.sh; echo 1 > n; commit 'Begin'
         for i in 2 3 4; do echo $i > other; commit \"Other $i\"; done
         printf '#!/bin/sh\\necho $((2 + $(cat n)))\\n' > size.sh; commit 'Count one more'
         for i in 5 6 7; do echo $i > other; commit \"Other $i\"; done",
    );
    let report = fixture.report(&["--find", "change", "--by", "./size.sh"]);
    assert_eq!(report.first_bad.unwrap().commit.subject, "Count one more".into());
    assert_eq!(report.before.unwrap(), "2".into());
}

#[test]
fn a_change_of_a_value_needs_no_other_commit_that_changed_it_before() {
    let fixture = Fixture::of(
        "echo 1 > a; echo 1 > b; commit first; seq 3 > b; commit 'other part'; echo > n; commit filler
        seq 2 > a; commit culprit",
    );
    let report = fixture.report(&["--find", "change", "--by", "cat a b | wc -l"]);
    assert_eq!((report.status, &*subject(&report)), (Status::Found, "culprit"));
    assert!(!report.interaction && report.culprits.len() == 1, "{:?}", report.culprits);
}

#[test]
fn a_value_that_changed_by_a_test_file_alone_changed_there() {
    let fixture = Fixture::of(
        "mkdir tests; seq 3 > a; seq 3 > tests/a_test.txt; commit first; seq 4 > a; commit older; echo > n; commit filler
        seq 5 > tests/a_test.txt; commit newer; echo 1 > n; commit last",
    );
    let report = fixture.report(&["--find", "change", "--by", "cat a tests/*.txt | wc -l"]);
    assert_eq!((report.status, &*subject(&report)), (Status::Found, "newer"));
    assert!(report.held.is_empty());
}

#[test]
fn a_test_that_a_change_of_tests_alone_mended_was_mended_there() {
    let fixture = Fixture::of(
        "mkdir tests; echo 1 > value; echo 1 > tests/expected.txt; commit first; echo 2 > value; commit 'new value'
        echo > n; commit filler; echo 2 > tests/expected.txt; commit 'expect the new value'; echo 1 > n; commit last",
    );
    let report = fixture.report(&["--find", "fix", "cmp value tests/expected.txt"]);
    assert_eq!((report.status, &*subject(&report)), (Status::Found, "expect the new value"));
}

#[test]
fn a_fix_names_no_commits_that_only_let_an_older_test_run() {
    // At the first commit the test fails for want of two files; with empty ones it passes, whatever the value is.
    let fixture = Fixture::of(
        "echo wrong > value; commit first; echo strict > x; commit 'add x'; echo strict > y; commit 'add y'
        echo > n; commit filler; echo 1 > n; commit 'more filler'; echo right > value; commit 'the fix'",
    );
    let test = "cat x y && { ! grep -q strict x y || grep -q right value; }";
    let report = fixture.report(&["--find", "fix", test]);
    assert_eq!((report.status, &*subject(&report)), (Status::Found, "the fix"));
    assert!(!report.interaction && report.culprits.len() == 1, "{:?}", report.culprits);
}
