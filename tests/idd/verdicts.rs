//! Right answers where a repair, a signature or an exit code could mislead.

use idd_report::{Report, Status};

use crate::fixture::Fixture;

#[track_caller]
fn check(fixture: &Fixture, args: &[&str], first_bad: &str) -> Report {
    let report = fixture.report(args);
    assert_eq!(report.status, Status::Found, "{report:?}");
    assert_eq!(report.first_bad.as_ref().unwrap().commit.subject, first_bad.into());
    assert!(report.evidence.iter().all(|evidence| evidence.expected == evidence.outcome), "{report:?}");
    report
}

/// Two defects in neighbouring lines: with the older one alone, the test fails otherwise.
const NEIGHBOURS: &str = r#"
    printf '#!/bin/sh\nalpha() { echo 1; }\nbeta() { echo 2; }\n' > lib.sh
    printf '#!/bin/sh\n. ./lib.sh\n[ "$(alpha)" = 1 ] || { echo "alpha is broken"; exit 1; }
[ "$(beta)" = 2 ] || { echo "beta is broken"; exit 1; }\n' > t.sh; chmod +x t.sh
    commit init
    for n in 1 2; do echo $n >> log; commit "log $n"; done
    sed -i 's/echo 2/echo 3/' lib.sh; commit "break beta"
    for n in 3 4; do echo $n >> log; commit "log $n"; done
    sed -i 's/echo 1/echo 0/' lib.sh; commit "break alpha"
    for n in 5 6; do echo $n >> log; commit "log $n"; done
"#;

#[test]
fn a_repair_that_brings_the_culprit_is_noticed_even_beside_another_edit() {
    let fixture = Fixture::of(NEIGHBOURS);
    check(&fixture, &["./t.sh"], "break alpha");
}

/// The culprit adds two tests, which stand before the hunted one in the list of the runner.
#[test]
fn a_commit_that_adds_tests_is_reduced_to_its_bug() {
    let fixture = Fixture::of(
        r#"
        mkdir t; echo 'area() { echo $(($1 * $2)); }' > lib.sh; echo '[ "$(area 2 3)" = 6 ]' > t/m_area
        printf '%s\n' '#!/bin/sh' '. ./lib.sh; n=0; bad=0' \
            'for t in t/*; do n=$((n + 1)); if . "./$t"; then echo "ok $n - $t"; else echo "not ok $n - $t"; bad=1; fi; done' \
            'echo "1..$n"; exit $bad' > run.sh; chmod +x run.sh; commit init
        echo 1 > log; commit 'log 1'
        sed -i 's/\*/+/' lib.sh; echo 'twice() { echo $((2 * $1)); }' >> lib.sh
        echo '[ "$(twice 4)" = 8 ]' > t/a_twice; echo '[ "$(twice 0)" = 0 ]' > t/b_zero; commit 'add twice'
        echo 2 > log; commit 'log 2'
    "#,
    );
    let report = check(&fixture, &["--no-hold", "./run.sh"], "add twice");
    assert_eq!(report.signature.unwrap().test.unwrap().name, "t/m_area".into());
    for change in [report.change.sufficient, report.change.necessary].map(Option::unwrap) {
        let patch = String::from_utf8_lossy(change.patch.as_bytes()).into_owned();
        assert!(change.lines == 2 && patch.contains("$1 + $2"), "{patch}");
    }
    assert!(report.fixes.iter().all(|fix| !String::from_utf8_lossy(fix.patch.as_bytes()).contains("t/a_twice")));
}

#[test]
fn a_first_bad_commit_that_prints_other_values_than_the_bad_revision_is_told() {
    let versions = |values: &[&str]| {
        let commits = values.iter().map(|value| format!("echo {value} > value; commit 'print {value}'\n"));
        Fixture::of(&commits.collect::<String>())
    };
    let test = r#"printf "assert '%s' == 'x'\\n" "$(cat value)"; grep -qx x value"#;
    let said = |fixture: &Fixture, first_bad: &str| -> Vec<String> {
        let notes = check(fixture, &["--until", "commit", test], first_bad).notes;
        let notes = notes.iter().map(|note| String::from_utf8_lossy(note.as_bytes()).into_owned());
        notes.filter(|note| note.contains("has other values")).collect()
    };
    let told = said(&versions(&["x", "y", "z"]), "print y");
    assert!(told[0].contains("than at the bad revision: `assert 'y' == 'x'`. If it is another failure"), "{told:?}");
    assert!(said(&versions(&["x", "z"]), "print z").is_empty());
    // Values in the lines after that of the failure.
    let test = r#"printf "assertion failed: equal\n  left: %s\n right: x\n" "$(cat value)"; grep -qx x value"#;
    let report = check(&versions(&["x", "y", "z"]), &["--until", "commit", test], "print y");
    let told = "the failure has other values than at the bad revision: `left: y`, `right: x`. If it is another failure";
    assert!(report.notes.iter().any(|note| String::from_utf8_lossy(note.as_bytes()).contains(told)), "{report:?}");
}

#[test]
fn the_fix_is_for_the_bad_revision_if_head_does_not_show_the_failure() {
    let fixture = Fixture::of(&format!("{NEIGHBOURS}\n sed -i 's/echo 0/echo 1/' lib.sh; commit 'mend alpha'"));
    let report = check(&fixture, &["--bad", "HEAD~1", "./t.sh"], "break alpha");
    let fix = report.fix.unwrap();
    // Both defects: with the newer one mended the older one would show.
    assert_eq!((fix.lines, fix.complete), (4, true));
    assert!(report.notes.iter().any(|note| String::from_utf8_lossy(note.as_bytes()).contains("HEAD does not show")));
}

#[test]
fn a_repair_takes_a_missing_data_file_whole() {
    let fixture = Fixture::of(
        r#"
        printf '#!/bin/sh\nsed -n 2p data.txt 2>/dev/null || true\n' > show.sh; chmod +x show.sh
        commit init
        for n in 1 2 3; do echo $n >> log; commit "log $n"; done
        sed -i 's/2p/3p/' show.sh; commit "show the third line"
        for n in 4 5; do echo $n >> log; commit "log $n"; done
        printf '10\n20\n30\n' > data.txt; commit "add the data"
        echo 6 >> log; commit "log 6"
        printf '#!/bin/sh\n[ -e data.txt ] || { echo no data; exit 3; }\ngot=$(./show.sh)\n[ "$got" = 20 ] || { echo "expected 20 got $got"; exit 1; }\n' > t.sh
        chmod +x t.sh
        "#,
    );
    let report = check(&fixture, &["./t.sh"], "show the third line");
    assert_eq!(report.repairs.iter().map(|repair| repair.lines).collect::<Vec<_>>(), [3]);
}

#[test]
fn exit_codes_126_and_127_from_inside_the_test_are_failures() {
    const SCRIPT: &str = r#"
        printf '#!/bin/sh\nexit 0\n' > tool; printf '#!/bin/sh\n./tool\n' > t.sh; chmod +x tool t.sh; commit init
        for n in 1 2; do echo $n >> log; commit "log $n"; done
    "#;
    let fixture = Fixture::of(&format!("{SCRIPT}\n chmod -x tool; commit 'edit tool'; echo 3 >> log; commit 'log 3'"));
    check(&fixture, &["./t.sh"], "edit tool");
    let fixture =
        Fixture::of(&format!("{SCRIPT}\n git mv tool utility; commit 'rename tool'; echo 3 >> log; commit 'log 3'"));
    check(&fixture, &["./t.sh"], "rename tool");
}

#[test]
fn with_first_parent_a_side_commit_is_named_without_a_claim_of_interaction() {
    let fixture = Fixture::of(
        "echo ok > value; commit init; for n in 1 2; do echo $n >> log; commit \"log $n\"; done
         git checkout -q -b side; echo bad > value; commit 'break it'; git checkout -q main; echo 3 >> log; commit 'log 3'
         git merge -q --no-ff --no-edit -m 'merge side' side; echo 4 >> log; commit 'log 4'",
    );
    let report = check(&fixture, &["--first-parent", "grep -q ok value"], "merge side");
    assert!(!report.interaction);
    check(&fixture, &["grep -q ok value"], "break it");
}

#[test]
fn a_mistyped_command_leaves_the_last_finding() {
    let fixture = Fixture::of(NEIGHBOURS);
    let found = check(&fixture, &["./t.sh"], "break alpha");
    let typo = fixture.run(&["statsu"]);
    let stderr = String::from_utf8_lossy(&typo.stderr).into_owned();
    assert_eq!(typo.status.code(), Some(129));
    assert!(stderr.contains("did you mean `git idd status`?"), "{stderr}");
    assert_eq!(fixture.report(&["show"]).hunt, found.hunt);
}

#[test]
fn units_that_are_too_many_to_run_again_are_told_to_be_observed() {
    let fixture = Fixture::of(
        "seq 1 70 > value; commit init; echo 1 >> log; commit 'log 1'; : > value; commit 'change all'; echo 2 >> log; commit 'log 2'",
    );
    // Any line of the old value that is still there makes it pass.
    let report = check(&fixture, &["grep -qxE '[1-9]|[1-6][0-9]|70' value"], "change all");
    let text =
        report.notes.iter().map(|note| String::from_utf8_lossy(note.as_bytes()).into_owned()).collect::<String>();
    assert!(text.contains("were not run again one by one"), "{text}");
    assert!(report.evidence.iter().any(|evidence| evidence.verified == idd_report::Verified::Observed));
}

/// A revision before the culprit fails in its first run only; what backs its verdict is another run, which passes.
#[test]
fn a_verdict_that_a_second_run_takes_back_is_not_believed() {
    let fixture =
        Fixture::of("for n in 1 2 3 4 5 6 7 8; do echo $n >n; [ $n -lt 7 ] || echo bad >v; commit \"change $n\"; done");
    let mark = fixture.place().join("lied");
    let lies = format!("[ \"$(cat n)\" = 6 ] && mkdir {} 2>/dev/null", mark.display());
    let test = format!("if {lies}; then echo 'FAIL: bad'; exit 1; fi; if [ -e v ]; then echo 'FAIL: bad'; exit 1; fi");
    let report = fixture.report(&["--clean", "-j1", &test]);
    assert!(mark.exists(), "the revision was run");
    assert_eq!(report.first_bad.unwrap().commit.subject, "change 7".into());
    assert!(report.confidence.is_some());
}

/// The newest commit adds a case to the project's tests; the defect came with a command long before. Revisions without that command, or
/// without the one that came later, fail otherwise, and the two lines of the defect make each of them fail as it is hunted. In the oldest
/// revision an empty target makes `make check` pass.
#[test]
fn a_repair_that_passes_emptily_or_brings_the_failure_names_no_commit() {
    let fixture = Fixture::of(
        r#"
        printf '#!/bin/sh\ncase $1 in\nadd) echo 5;;\nsub) echo 3;;\nesac\n' > calc.sh
        printf 'calc:\n\tsh -n calc.sh\n' > Makefile; commit init
        mkdir tests
        printf 'while read -r name value; do\n[ "$(sh calc.sh $name)" = "$value" ] || { echo "$name is not $value"; status=1; }\ndone <tests/cases.txt\nexit $status\n' > tests/run.sh
        printf 'check: calc\n\tsh tests/run.sh\n' >> Makefile
        printf 'add 5\n' > tests/cases.txt; commit 'add tests'
        sed -i 's/^add.*/&\npower) echo 8;;/; s/^sub.*/sub) echo 9;;/' calc.sh; echo 'power 8' >> tests/cases.txt; commit 'add power'
        sed -i 's/^add.*/&\nroot) echo 2;;/' calc.sh; echo 'root 2' >> tests/cases.txt; commit 'add root'
        echo 'sub 3' >> tests/cases.txt; commit 'add a case'
        "#,
    );
    for test in ["make check", "sh tests/run.sh"] {
        let report = fixture.report(&[test]);
        assert_eq!((report.status, report.first_bad), (Status::NeverPassed, None), "{test}");
        let oldest = String::from_utf8(fixture.git(&["rev-parse", "--short=12", ":/add power"])).unwrap();
        let seen = format!("{} is the oldest revision that fails without a repair", oldest.trim());
        assert!(
            report.notes.iter().any(|note| String::from_utf8_lossy(note.as_bytes()).contains(&seen)),
            "{:?}",
            report.notes
        );
    }
}

/// A test that answers 125 somewhere tells failures apart by its exit codes: its line is that of the first command that fails.
#[test]
fn a_test_that_asks_to_be_skipped_somewhere_is_believed_in_what_it_says_elsewhere() {
    let fixture = Fixture::of(
        r#"
        echo 1 > value; echo one > name; commit init
        for n in 1 2; do echo $n >> log; commit "log $n"; done
        echo 2 > value; commit 'break value'
        for n in 3 4; do echo $n >> log; commit "log $n"; done
        rm name; commit 'lose the name'
        for n in 5 6; do echo $n >> log; commit "log $n"; done
        echo two > name; commit 'find the name'
        for n in 7 8 9; do echo $n >> log; commit "log $n"; done
        "#,
    );
    fixture.sh("echo untracked > new");
    let test = "[ -e name ] || exit 125; [ $(cat value) = 1 ] || { echo FAIL: $(cat name) is $(cat value); exit 1; }";
    let report = check(&fixture, &["-j1", test], "break value");
    assert_eq!(report.signature.unwrap().line, None);
    // Two that reproduce the failure, which is judged anew and not reproduced again, and one of the culprit with all files.
    assert_eq!(report.probes.reproduce, 3);
}

/// What the test prints where it passes differs from revision to revision.
#[test]
fn commits_that_interact_are_proved_although_each_pass_prints_another_value() {
    let fixture = Fixture::of(
        "echo 2 > a; echo 10 > b; commit init; for n in 1 2 3; do echo $n > log; commit \"log $n\"; done
         echo 4 > a; commit older; for n in 4 5 6; do echo $n > log; commit \"log $n\"; done
         echo 15 > b; commit culprit; for n in 7 8 9; do echo $n > log; commit \"log $n\"; done",
    );
    let test = "v=$(($(cat a) * $(cat b))); echo value $v; [ $v -lt 60 ]";
    let report = check(&fixture, &[test], "culprit");
    let culprits: Vec<_> = report.culprits.iter().map(|commit| commit.subject.clone()).collect();
    assert_eq!((report.interaction, culprits), (true, vec!["culprit".into(), "older".into()]));
}

/// The hunted test needs one function of the culprit, another test another one.
#[test]
fn the_fix_is_one_with_which_the_whole_command_passes_if_there_is_one() {
    let test = r#"
        for test in a b; do grep -q "$test.*return 1" v.c || echo "FAIL: test_$test (tests.T.test_$test)"; done > failed
        cat failed; echo "Ran 2 tests in 0.0s"; [ ! -s failed ]"#;
    let functions = |a: u8, b: u8| format!("int a(void) {{ return {a}; }}\n\nint b(void) {{ return {b}; }}\n");
    for (still_fails, n_lines, last) in [(false, 4, functions(2, 2)), (true, 2, functions(2, 3))] {
        let fixture = Fixture::of(&format!(
            "echo '{test}' > run; printf '{}' > v.c; echo > more.c; commit start
             for n in 1 2 3; do echo $n > log; commit \"log $n\"; done
             printf '{}' > v.c; echo 'int c;' > more.c; commit 'break both'
             for n in 4 5 6; do echo $n > log; printf '{last}' > v.c; commit \"log $n\"; done",
            functions(1, 1),
            functions(2, 2),
        ));
        let report = check(&fixture, &["sh run"], "break both");
        assert_eq!(report.change.necessary.unwrap().lines, 2);
        let fix = report.fix.unwrap();
        assert_eq!((fix.still_fails, fix.lines), (still_fails, n_lines), "{:?}", report.fixes);
    }
}

/// A runner that prints as unittest does. A revision without the test passes, because it runs nothing.
#[test]
fn a_test_that_is_younger_than_the_culprit_is_held_with_all_that_came_with_it() {
    let fixture = Fixture::of(
        r#"
        echo 'if [ -e tests/init ] && [ -e tests/mul ]; then
            grep -qx 1 value && { echo "Ran 1 test in 0.0s"; exit 0; }
            echo "FAIL: test_mul (tests.mul.T.test_mul)"; echo "FAIL: test_sum (tests.mul.T.test_sum)"
            echo "AssertionError: 5 != 6"; echo "Ran 2 tests in 0.0s"; exit 1
        fi
        echo "Ran 0 tests in 0.0s"' > run
        echo 1 > value; commit init
        for n in 1 2 3; do echo $n > log; commit "log $n"; done
        echo 2 > value; commit 'break value'
        for n in 4 5 6; do echo $n > log; commit "log $n"; done
        mkdir tests; echo > tests/init; echo > tests/mul; commit 'add test'
        for n in 7 8 9; do echo $n > log; commit "log $n"; done
        "#,
    );
    let report = check(&fixture, &["sh run"], "break value");
    assert_eq!(report.change.necessary.unwrap().lines, 2);
    let notes: Vec<_> = report.notes.iter().map(|note| String::from_utf8_lossy(note.as_bytes())).collect();
    let other = "1 other test fails at the bad revision, too, and is not hunted: `test_sum (tests.mul.T.test_sum)`.";
    assert!(notes.iter().any(|note| note == other), "{notes:?}");
    let border = "do not run the test `test_mul (tests.mul.T.test_mul)`.";
    assert!(notes.iter().any(|note| note.ends_with(border)), "{notes:?}");
}

#[test]
fn a_shim_stands_in_every_revision_and_is_part_of_no_change() {
    let fixture = Fixture::of(
        r#"
        mkdir ../shim; echo present > ../shim/compat.h
        echo 1 > value; commit init
        for n in 1 2; do echo $n >> log; commit "log $n"; done
        echo 2 > value; commit 'break value'
        echo 3 >> log; echo present > compat.h; commit 'log 3'
        "#,
    );
    let test = "grep -q present compat.h || { echo compat.h is missing; exit 3; }; v=$(cat value); [ $v = 1 ] || { echo FAIL: $v; exit 1; }";
    let report = check(&fixture, &["--shim", "../shim", test], "break value");
    assert_eq!((report.repairs.len(), report.change.sufficient.unwrap().lines), (0, 2));
    let output = fixture.command(&["--shim", "value", test]).output().unwrap();
    assert_eq!(output.status.code(), Some(129));
    assert!(String::from_utf8_lossy(&output.stderr).contains("the shim `value` is no directory"));
}

#[test]
fn a_search_that_is_stopped_says_how_far_it_is_seen_to_fail() {
    let fixture = Fixture::of("for n in $(seq 40); do echo $n > n; commit \"change $n\"; done");
    let report = fixture.report(&["--max-probes", "4", "-j1", "[ $(cat n) -lt 10 ] || { echo FAIL; exit 1; }"]);
    assert_eq!(report.status, Status::Budget);
    // Two runs of HEAD, and those 4 and 16 revisions back.
    let oldest = String::from_utf8(fixture.git(&["rev-parse", "--short=12", "HEAD~16"])).unwrap();
    let said = format!("the oldest that fails is {}, none passes yet", oldest.trim());
    assert!(
        report.notes.iter().any(|note| String::from_utf8_lossy(note.as_bytes()).contains(&said)),
        "{:?}",
        report.notes
    );
}

#[test]
fn a_fix_beside_lines_that_were_appended_since_does_not_repeat_them() {
    let fixture = Fixture::of(
        "echo good > value; commit init; for n in 1 2; do echo $n > n; commit \"change $n\"; done; echo bad > value; commit 'break it'
         for n in 3 4 5; do echo $n >> value; commit \"append $n\"; done",
    );
    let report = check(&fixture, &["head -n1 value | grep -q good"], "break it");
    let revert = report.revert().unwrap();
    assert_eq!((revert.lines, revert.complete), (2, true), "{:?}", revert.patch);
    fixture.run(&["apply", "--revert"]);
    assert_eq!(std::fs::read_to_string(fixture.repo().join("value")).unwrap(), "good\n3\n4\n5\n");
}

#[test]
fn a_merge_of_unrelated_histories_is_named_with_what_was_not_searched() {
    let fixture = Fixture::of(
        "main=$(git symbolic-ref --short HEAD)
        for n in 1 2 3; do echo $n > log; commit \"change $n\"; done
        git checkout -q --orphan other; git rm -rfq .
        for n in 1 2 3; do mkdir -p z; echo $n > z/x; commit \"other $n\"; done
        git checkout -q $main
        git merge -q --allow-unrelated-histories -m merged other
        echo 4 > log; commit 'change 4'",
    );
    let report = fixture.report(&["--until", "commit", "--", "test ! -e z/x || test $(cat z/x) -lt 2"]);
    let notes: Vec<String> =
        report.notes.iter().map(|note| String::from_utf8_lossy(note.as_bytes()).into_owned()).collect();
    assert_eq!(report.first_bad.unwrap().commit.subject, "merged".into());
    // Ideal: the search enters the other history, and names `other 2`.
    assert!(notes.iter().any(|note| note.contains("without a common commit")), "{notes:?}");
}

#[test]
fn a_test_that_passes_at_the_upstream_branch_is_said_to() {
    let fixture = Fixture::of(
        "echo ok > value; commit 'change 1'; echo bad > value; commit 'change 2'; echo 3 > log; commit 'change 3'
        main=$(git symbolic-ref --short HEAD)
        git checkout -qb ahead; echo 4 > log; commit 'change 4'; echo ok > value; commit 'mended'
        git checkout -q $main; git config branch.$main.remote .; git config branch.$main.merge refs/heads/ahead",
    );
    let test = "! grep -q bad value";
    let said = |arguments: &[&str]| {
        let report = fixture.report(&[arguments, &["--", test]].concat());
        let notes = report.notes.iter().map(|note| String::from_utf8_lossy(note.as_bytes()).into_owned());
        notes.filter(|note| note.contains("passes at ahead")).count()
    };
    assert_eq!(said(&["--until", "commit"]), 1);
    assert_eq!(said(&["--until", "found"]), 0);
    // Where it fails, too, and where the branch is not ahead, there is nothing to say.
    fixture.sh("git branch -qf ahead ahead~1");
    assert_eq!(said(&["--until", "commit"]), 0);
    fixture.sh("git branch -qf ahead HEAD~2");
    assert_eq!(said(&["--until", "commit"]), 0);
    // The advice is a command that works.
    fixture.sh("git branch -qf ahead ahead@{2}");
    let fix = fixture.report(&["--find", "fix", "--good", "@{upstream}", "--bad", "HEAD", "--", test]);
    assert_eq!(fix.first_bad.unwrap().commit.subject, "mended".into());
}

/// A test command that reports two tests, of which each fails if its file holds a 0.
const TWO_TESTS: &str = r#"printf 'f=0; for t in a b; do [ $(cat $t) = 1 ] || { f=1; echo "FAILED t.py::test_$t - assert False"; }; done
echo "=== 1 failed, 1 passed in 0.01s ==="; exit $f\n' > t.sh"#;

#[test]
fn another_test_that_fails_by_the_same_assertion_is_another_failure() {
    // `test_a` is hunted; `test_b` fails long before it, and no longer at HEAD.
    let fixture = Fixture::of(&format!(
        "{TWO_TESTS}; echo 1 > a; echo 1 > b; commit start; for n in 1 2 3; do echo $n > log; commit \"one $n\"; done
        echo 0 > b; commit 'break b'; for n in 4 5 6; do echo $n > log; commit \"two $n\"; done
        echo 0 > a; commit 'break a'; echo 7 > log; commit seven; echo 1 > b; commit 'mend b'; echo 8 > log; commit eight"
    ));
    let said =
        String::from_utf8(fixture.run(&["--no-cache", "--until", "commit", "-j1", "--", "sh", "t.sh"]).stderr).unwrap();
    assert_eq!(
        said.matches(" fails only in other tests, such as `t.py::test_b`: the hunted one passes.").count(),
        1,
        "{said}"
    );
    let report = fixture.report(&["--", "sh", "t.sh"]);
    assert_eq!((report.first_bad.unwrap().commit.subject, report.repairs.len()), ("break a".into(), 0));
    let test = report.signature.unwrap().test.unwrap();
    assert_eq!((test.runner.as_str(), test.name), ("pytest", "t.py::test_a".into()));
    assert_eq!(report.change.sufficient.unwrap().files, ["a".into()]);
}

/// A test command that prints nothing about its two tests, and writes a report of them. Beside it is a report of an
/// earlier run, and a copy of a tracked one.
const TWO_REPORTED: &str = r#"echo '<testsuite><testcase name="of.a.fixture"><failure/></testcase></testsuite>' > fixture.xml
printf 'out\n' > .gitignore; printf 'f=0; mkdir -p out/reports; cp fixture.xml out/copy.xml
for t in a b; do printf "<testcase classname=\"m\" name=\"$t\">"; [ $(cat $t) = 1 ] || { f=1; echo "<failure/>"; }; echo "</testcase>"; done > out/cases
{ echo "<testsuite>"; cat out/cases; echo "</testsuite>"; } > out/reports/r.xml; echo assertion failed; exit $f\n' > t.sh"#;

#[test]
fn a_report_file_that_the_test_writes_names_its_tests() {
    let fixture = Fixture::of(&format!(
        "{TWO_REPORTED}; echo 1 > a; echo 1 > b; commit start; for n in 1 2 3; do echo $n > log; commit \"one $n\"; done
        echo 0 > b; commit 'break b'; for n in 4 5 6; do echo $n > log; commit \"two $n\"; done
        echo 0 > a; commit 'break a'; echo 7 > log; commit seven; echo 1 > b; commit 'mend b'; echo 8 > log; commit eight
        mkdir out; echo '<testsuite><testcase name=\"earlier\"><failure/></testcase></testsuite>' > out/earlier.xml"
    ));
    let report = fixture.report(&["--", "sh", "t.sh"]);
    assert_eq!((report.first_bad.unwrap().commit.subject, report.repairs.len()), ("break a".into(), 0));
    let test = report.signature.unwrap().test.unwrap();
    assert_eq!((test.runner.as_str(), test.name), ("JUnit file", "m.a".into()));
    assert_eq!(report.change.sufficient.unwrap().files, ["a".into()]);
    // The cache has what it needs to say so again.
    let report = fixture.report(&["--", "sh", "t.sh"]);
    assert_eq!(
        (report.first_bad.unwrap().commit.subject, report.signature.unwrap().test.is_some()),
        ("break a".into(), true)
    );
}

#[test]
fn of_several_failing_tests_the_first_is_hunted_whatever_the_others_do() {
    let fixture = Fixture::of(&format!(
        "{TWO_TESTS}; echo 1 > a; echo 1 > b; commit start; for n in 1 2 3; do echo $n > log; commit \"one $n\"; done
        echo 0 > a; commit 'break a'; for n in 4 5 6; do echo $n > log; commit \"two $n\"; done
        echo 0 > b; commit 'break b'; echo 7 > log; commit seven"
    ));
    let output = fixture.run(&["--", "sh", "t.sh"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("The failing test is `t.py::test_a`; 1 other test fails, too, and does not count."),
        "{said}"
    );
    let found = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(found.contains("    break a\n") && found.contains("failure:   `t.py::test_a`, exit code 1\n"), "{found}");
}

#[test]
fn what_breaks_another_test_is_no_fix() {
    // Since `later` is there, `test_b` needs what the culprit did.
    let script = r#"printf 'f=0; fail() { f=1; echo "FAILED t.py::test_$1 - assert False"; }
[ $(cat a) = 1 ] || fail a; [ -e later ] && [ $(cat a) = 1 ] && fail b
echo "=== 1 failed, 1 passed in 0.01s ==="; exit $f\n' > t.sh"#;
    let fixture = Fixture::of(&format!(
        "{script}; echo 1 > a; commit start; for n in 1 2 3; do echo $n > log; commit \"one $n\"; done
        echo 0 > a; commit 'break a'; echo 4 > log; commit four; touch later; commit 'rely on it'"
    ));
    let report = fixture.report(&["--", "sh", "t.sh"]);
    assert_eq!(report.first_bad.unwrap().commit.subject, "break a".into());
    // With the culprit alone taken back, `test_b` fails.
    assert_eq!(report.fix.unwrap().lines, 2);
    fixture.run(&["apply"]);
    fixture.sh("sh t.sh");
}

#[test]
fn output_without_a_report_is_not_the_failure_of_a_named_test() {
    // The runner itself breaks down before the culprit, and two tests fail at HEAD.
    let script = r#"printf '[ -e conftest ] && { echo "error: no such hook"; exit 1; }
f=0; for t in a b; do [ $(cat $t) = 1 ] || { f=1; echo "FAILED t.py::test_$t - assert False"; }; done
echo "=== 1 failed, 1 passed in 0.01s ==="; exit $f\n' > t.sh"#;
    let fixture = Fixture::of(&format!(
        "{script}; echo 1 > a; echo 1 > b; touch conftest; commit start; for n in 1 2 3; do echo $n > log; commit \"one $n\"; done
        git rm -q conftest; commit 'mend the runner'; echo 4 > log; commit four
        echo 0 > a; commit 'break a'; echo 0 > b; commit 'break b'; echo 5 > log; commit five"
    ));
    let report = fixture.report(&["--", "sh", "t.sh"]);
    assert_eq!(report.first_bad.unwrap().commit.subject, "break a".into());
}

#[test]
fn a_tracked_file_with_the_name_of_our_own_is_the_one_that_the_test_sees() {
    let fixture = Fixture::of(
        "echo tracked > output; echo 1 > value; commit one; for n in 2 3 4 5; do echo $n > value; commit \"change $n\"; done",
    );
    let test = "grep -qx tracked output && test -z \"$(git status --porcelain)\" || exit 3; test $(cat value) -lt 4 || { echo wrong; exit 1; }";
    let report = fixture.report(&["--until", "commit", "--", test]);
    assert_eq!(report.first_bad.unwrap().commit.subject, "change 4".into());
    assert_eq!(report.signature.unwrap().line, Some("wrong".into()));
}
