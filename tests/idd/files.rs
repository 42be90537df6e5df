//! What the user says of files: their languages, and which of them a program writes.

use crate::fixture::Fixture;

fn has_note(report: &idd_report::Report, part: &str) -> bool {
    report.notes.iter().any(|note| String::from_utf8_lossy(note.as_bytes()).contains(part))
}

#[test]
fn with_regenerate_the_row_of_the_table_is_found_and_mended() {
    let fixture = Fixture::make("generated-file");
    fixture.git(&["config", "idd.regenerate", "sh ./gen.sh"]);
    let report = fixture.report(&fixture.expect.arguments);
    let sufficient = report.change.sufficient.as_ref().unwrap();
    assert_eq!((&sufficient.files[..], sufficient.lines), (&["table.txt".into()][..], 2));
    let fix = report.fix.as_ref().unwrap();
    assert!(fix.complete && fix.lines == 2, "{fix:?}");
    assert!(String::from_utf8_lossy(fix.patch.as_bytes()).contains("\n+039B capital-lambda\n"));
    assert!(has_note(&report, "in no patch"));
    assert!(!has_note(&report, "change tracked files"), "the command may write what it is there to write");
}

#[test]
fn a_command_that_writes_generated_files_and_fails_is_a_build_that_fails() {
    let fixture = Fixture::make("generated-file");
    fixture.git(&["config", "idd.regenerate", "test -f glyph.c && false"]);
    let report = fixture.report(&fixture.expect.arguments);
    assert_eq!(report.status.word(), "nothing_testable");
    let message = String::from_utf8(report.error.unwrap().message.as_bytes().to_vec()).unwrap();
    assert!(message.ends_with("git-idd: `idd.regenerate` ended with exit code 1"), "{message}");
}

#[test]
fn without_regenerate_a_generated_file_changes_as_a_whole_unless_the_user_says_that_it_is_none() {
    let fixture = Fixture::make("generated-file");
    let whole = fixture.report(&fixture.expect.arguments);
    let sufficient = whole.change.sufficient.as_ref().unwrap();
    assert_eq!((&sufficient.files[..], sufficient.lines), (&["names.c".into(), "table.txt".into()][..], 388 + 4));
    assert!(has_note(&whole, "`names.c` is a generated file"));
    fixture.git(&["config", "idd.generated", "!names.c"]);
    let by_line = fixture.report(&fixture.expect.arguments);
    assert!(by_line.change.sufficient.as_ref().unwrap().lines < 10);
    assert!(!has_note(&by_line, "is a generated file"));
}

#[test]
fn an_unknown_language_is_a_usage_error_that_lists_those_there_are() {
    let fixture = Fixture::of("commit 'Say nothing'");
    fixture.git(&["config", "idd.grammar.*.x", "cobol"]);
    let output = fixture.run(&["true"]);
    assert_eq!(output.status.code(), Some(129));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        message.contains(
            "`idd.grammar.*.x`: expected one of c, cpp, go, java, javascript, python, rust, tsx, typescript, none"
        ),
        "{message}"
    );
    fixture.git(&["config", "idd.grammar.*.x", "none"]);
    assert_eq!(fixture.run(&["true"]).status.code(), Some(3), "the test passes at HEAD");
}

/// Two functions in two files, and a culprit that rewrites both; the test looks at one.
const CALLS: &str = r#"
    for n in 0 1; do echo "int f$n(void) { return 0; }" >f$n.c; done
    printf 'int f1(void);\nint main(void) { return f1(); }\n' >main.c
    echo 'cc -o "$TMPDIR/p" *.c' >build.sh
    commit good
    for n in 0 1; do printf 'static int g(void)\n{\n    return 1;\n}\nint f%s(void)\n{\n    return g();\n}\n' $n >f$n.c; done
    commit bad
"#;

#[test]
fn what_the_precheck_refuses_is_not_built_and_the_answer_does_not_rest_on_it() {
    let hunted = |options: &[&str]| {
        let fixture = Fixture::of(CALLS);
        let rest = ["--good", "HEAD~1", "--no-port", "--build", "sh build.sh", "--", "\"$TMPDIR/p\""];
        let report = fixture.report(&[options, &rest].concat());
        (report.change.sufficient.unwrap().patch, report.probes)
    };
    let (plain, without) = hunted(&["--no-precheck"]);
    assert_eq!((without.prechecked, without.precheck_refused), (0, 0));
    let (checked, with) = hunted(&["--precheck", "cc -fsyntax-only -Werror=implicit-function-declaration f*.c"]);
    assert_eq!(checked, plain);
    assert!(with.prechecked > 0 && with.precheck_refused <= with.prechecked, "{with:?}");
    assert_ne!(with.precheck_refused, 0);
}

#[test]
fn a_precheck_that_refuses_the_bad_revision_is_not_used_and_the_report_says_so() {
    let hunted = |script: &str, options: &[&str], command: &str| {
        let fixture = Fixture::of(script);
        let rest = ["--good", "HEAD~1", "--no-port", "--", command];
        let report = fixture.report(&[options, &rest].concat());
        let notes = report.notes.iter().map(|note| String::from_utf8_lossy(note.as_bytes()).into_owned());
        (
            notes.filter(|note| note.contains("--precheck")).count(),
            report.probes.prechecked,
            report.probes.precheck_refused,
        )
    };
    // The whole limit is waited for once; build and test take no time.
    let lines = "seq 1 3 >value; commit good; seq 4 9 >value; commit bad";
    let test = "! grep -q 5 value";
    assert_eq!(hunted(lines, &["--build", "true", "--precheck", "false"], test), (1, 1, 0));
    let options = ["--build", "true", "--precheck", "sleep 100", "--timeout", "4s"];
    assert_eq!(hunted(lines, &options, test), (1, 1, 0));
    let options = ["--build", "sh build.sh", "--precheck", "cc -fsyntax-only f*.c"];
    let (n_notes, n_checked, _) = hunted(CALLS, &options, "\"$TMPDIR/p\"");
    assert!(n_notes == 0 && n_checked > 1, "{n_checked}");
}

#[test]
fn a_precheck_that_writes_tracked_files_is_named_and_not_build_or_test() {
    let lines = "seq 1 3 >value; commit good; seq 4 9 >value; commit bad";
    let said = |build: &str, precheck: &str| {
        let options =
            ["--good", "HEAD~1", "--no-port", "--level", "half-line", "--build", build, "--precheck", precheck];
        let report = Fixture::of(lines).report(&[&options[..], &["! grep -q 5 value"]].concat());
        assert!(report.probes.prechecked > 1, "{:?}", report.probes);
        ["Build or test change files of the tested tree", "`--precheck` changes tracked files"]
            .map(|text| has_note(&report, text))
    };
    assert_eq!(said("true", "true"), [false, false]);
    assert_eq!(said("true", "echo >>value"), [false, true]);
    assert_eq!(said("echo >>value", "true"), [true, false]);
}
