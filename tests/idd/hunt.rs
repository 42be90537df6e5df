//! The hunt on every fixture: expected against found, and nothing of the user's changed.

use std::fmt::Write as _;
use std::path::PathBuf;

use git_idd::report::{Report, json};
use serde_json::Value;

use crate::expect::{ByHand, Expect, Finding};
use crate::fixture;
use crate::fixture::{Fixture, Format};

/// Runs one command on `fixture` and compares everything that can be compared.
#[track_caller]
fn check<S: AsRef<str>>(what: &str, fixture: &Fixture, args: &[S], expected: &Finding) {
    check_hunt(what, fixture, |complaints| {
        let report = fixture.report(args);
        complaints.extend(expected.complaints(&report));
        if let Some(fix) = report.fix.as_ref().filter(|fix| fix.complete && !fixture.applies(fix.patch.as_bytes())) {
            complaints
                .push(format!("git apply does not take the fix:\n{}", String::from_utf8_lossy(fix.patch.as_bytes())));
        }
        shown(&report)
    });
}

/// Calls `hunt`, which adds complaints and returns what is printed below them.
///
/// Nothing of the user's may change, and no process may be left.
#[track_caller]
fn check_hunt(what: &str, fixture: &Fixture, hunt: impl FnOnce(&mut Vec<String>) -> String) {
    let before = fixture.state();
    let mut complaints = Vec::new();
    let shown = hunt(&mut complaints);
    let after = fixture.state();
    for name in before.keys().chain(after.keys()).filter(|name| before.get(*name) != after.get(*name)) {
        complaints.push(format!("the hunt changed {name}: {:?} became {:?}", before.get(name), after.get(name)));
    }
    complaints.extend(fixture.processes_left().iter().map(|command| format!("still running: {command}")));
    assert!(complaints.is_empty(), "{what}:\n{}\n\n{shown}", complaints.join("\n"));
}

fn shown(report: &Report) -> String {
    serde_json::to_string_pretty(report).unwrap()
}

fn hunt(name: &str) {
    let fixture = Fixture::make(name);
    let expect = &fixture.expect;
    if let Some(by_hand) = &expect.by_hand {
        check_hunt(name, &fixture, |complaints| judge(&fixture, by_hand, complaints));
    } else if !expect.each.is_empty() {
        check_hunt(name, &fixture, |complaints| hunt_each(&fixture, complaints));
    } else {
        check(name, &fixture, &expect.arguments, &expect.finding);
    }
}

/// The answer to a command of a hunt by hand: the report, or the subject and the directory of the revision that waits.
enum Answer {
    Report(Box<Report>),
    Waiting(String, PathBuf),
}

/// Runs a command of a hunt by hand.
fn answer(fixture: &Fixture, args: &[&str]) -> Answer {
    let output = fixture.run(&[args, &["--json"]].concat());
    if let Ok(report) = json::read(&output.stdout) {
        assert_eq!(output.status.code(), Some(i32::from(report.status.code())));
        return Answer::Report(Box::new(report));
    }
    let value: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{args:?}: {error}\n{}", String::from_utf8_lossy(&output.stderr)));
    let text =
        |name: &str| value[name].as_str().unwrap_or_else(|| panic!("{args:?}: no `{name}` in {value}")).to_owned();
    Answer::Waiting(text("subject"), text("directory").into())
}

/// Gives the verdicts of a person, of which the first one is a slip and is taken back; compares the report at the end.
fn judge(fixture: &Fixture, by_hand: &ByHand, complaints: &mut Vec<String>) -> String {
    let arguments: Vec<&str> = fixture.expect.arguments.iter().map(String::as_str).collect();
    let verdict = |directory: &PathBuf| {
        let seen = fixture.shell(&format!("cd '{}' && {}", directory.display(), by_hand.look));
        match seen.status.code() {
            Some(0) => "good",
            Some(1) => "bad",
            Some(125) => "skip",
            _ => panic!("`{}` sees nothing in {}: {seen:?}", by_hand.look, directory.display()),
        }
    };
    let mut now = answer(fixture, &arguments);
    if let Answer::Waiting(first, directory) = &now {
        let slip = if verdict(directory) == "good" { "bad" } else { "good" };
        answer(fixture, &[slip, "--why", "a slip"]);
        let again = answer(fixture, &["undo"]);
        if !matches!(&again, Answer::Waiting(subject, _) if subject == first) {
            complaints.push(format!("`git idd undo` does not show `{first}` again"));
        }
        now = again;
    }
    let (mut said, mut skipped, mut n_verdicts) = (String::new(), Vec::new(), 0);
    while let Answer::Waiting(subject, directory) = &now {
        let verdict = verdict(directory);
        n_verdicts += 1;
        if verdict == "skip" {
            skipped.push(subject.clone());
        }
        writeln!(said, "{verdict}: {subject}").unwrap();
        assert!(n_verdicts < 100, "the hunt does not end:\n{said}");
        now = answer(fixture, &[verdict]);
    }
    let Answer::Report(report) = now else { unreachable!("the loop ends with a report") };
    complaints.extend(fixture.expect.finding.complaints(&report));
    if skipped != by_hand.skipped_subjects {
        complaints.push(format!("skipped_subjects: expected {:?}, found {skipped:?}", by_hand.skipped_subjects));
    }
    if n_verdicts > by_hand.max_verdicts {
        complaints.push(format!("max_verdicts: expected at most {}, found {n_verdicts}", by_hand.max_verdicts));
    }
    format!("{said}\n{}", shown(&report))
}

/// Hunts several failing tests: the list names all of them with their commits, and each has a finding of its own.
fn hunt_each(fixture: &Fixture, complaints: &mut Vec<String>) -> String {
    let expect = &fixture.expect;
    let args: Vec<&str> = ["--json"].into_iter().chain(expect.arguments.iter().map(String::as_str)).collect();
    let output = fixture.run(&args);
    let all: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{args:?}: {error}\n{}", String::from_utf8_lossy(&output.stderr)));
    let tests = all["tests"].as_array().expect("a list of tests");
    let names: Vec<&str> = tests.iter().map(|test| test["test"].as_str().unwrap()).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(expect.each.keys()) {
        complaints.push(format!("each: expected {:?}, found {names:?}", expect.each.keys()));
    }
    complaints.extend(
        expect
            .finding
            .complaints_about_cost(output.status.code(), tests.iter().filter_map(|test| test["runs"].as_u64()).sum()),
    );
    for (test, name) in tests.iter().zip(names) {
        let (stdout, _) = fixture.said(&["show", "--json", "--hunt", test["hunt"].as_str().unwrap()], 0);
        let report = json::read(stdout.as_bytes()).unwrap();
        let found = expect.each.get(name).into_iter().flat_map(|finding| finding.complaints(&report));
        complaints.extend(found.map(|complaint| format!("{name}: {complaint}")));
        let subject = report
            .first_bad
            .as_ref()
            .map(|first_bad| String::from_utf8_lossy(first_bad.commit.subject.as_bytes()).into_owned());
        if test["status"] != report.status.word() || test["first_bad"]["subject"].as_str() != subject.as_deref() {
            complaints
                .push(format!("{name}: the list says {test}, the report {} and {subject:?}", report.status.word()));
        }
    }
    serde_json::to_string_pretty(&all).unwrap()
}

/// The same finding with a known good revision, with other arguments, in another format.
///
/// Also the other hunts, and the reduction alone.
fn hunt_otherwise(name: &str) {
    let expect = Expect::of(name);
    let is_other = expect.with_good.is_some()
        || !expect.variants.is_empty()
        || !expect.hunts.is_empty()
        || expect.minimize.is_some();
    let Some(format) = is_other.then(|| Format::NEWEST.known()[0]) else { return };
    if let Some(with_good) = &expect.with_good {
        let args: Vec<&str> = ["--until", "commit", "--good", &with_good.good]
            .into_iter()
            .chain(expect.arguments.iter().map(String::as_str))
            .collect();
        check(
            &format!("{name} with --good"),
            &Fixture::make_in(format, name),
            &args,
            &expect.finding_with_good(with_good),
        );
    }
    for (variant, args) in &expect.variants {
        check(
            &format!("{name}, variant {variant}"),
            &Fixture::make_in(format, name),
            args,
            &expect.finding_of_variant(),
        );
    }
    for (other, hunt) in &expect.hunts {
        let fixture = Fixture::make_in(format, name);
        check(&format!("{name}, hunt {other}"), &fixture, &hunt.arguments, &hunt.finding);
    }
    if let Some(minimize) = &expect.minimize {
        let ends = ["minimize", &minimize.good, &minimize.bad];
        let args: Vec<&str> = ends.into_iter().chain(expect.arguments.iter().map(String::as_str)).collect();
        check(&format!("{name}, minimize"), &Fixture::make_in(format, name), &args, &minimize.finding);
    }
}

macro_rules! fixtures {
    ($($test:ident: $name:literal),* $(,)?) => {
        const NAMES: &[&str] = &[$($name),*];

        $(mod $test {
            #[test]
            fn the_hunt_finds_what_is_expected() {
                super::hunt($name);
            }

            #[test]
            fn the_hunt_asked_otherwise_finds_the_same() {
                super::hunt_otherwise($name);
            }
        })*
    };
}

fixtures! {
    bad_passes: "bad-passes",
    binary_crlf_symlink_nonutf8: "binary-crlf-symlink-nonutf8",
    body_emptied: "body-emptied",
    broken_window: "broken-window",
    call_without_its_guard: "call-without-its-guard",
    clean_up_dropped: "clean-up-dropped",
    comment_cut: "comment-cut",
    cpp_classes: "cpp-classes",
    crash: "crash",
    culprit_mends_build: "culprit-mends-build",
    escape_sequences: "escape-sequences",
    exception_from_elsewhere: "exception-from-elsewhere",
    field_without_initialisation: "field-without-initialisation",
    fixed_and_broken_again: "fixed-and-broken-again",
    fixed_port: "fixed-port",
    fixed_since: "fixed-since",
    flaky: "flaky",
    forward_port_conflict: "forward-port-conflict",
    function_emptied: "function-emptied",
    generated_file: "generated-file",
    gitignore_added_late: "gitignore-added-late",
    go_functions: "go-functions",
    good_fails: "good-fails",
    guard_without_variable: "guard-without-variable",
    half_of_a_replaced_line: "half-of-a-replaced-line",
    hang: "hang",
    header_without_body: "header-without-body",
    held_is_culprit: "held-is-culprit",
    hostile_tree: "hostile-tree",
    huge_culprit: "huge-culprit",
    java_refactoring: "java-refactoring",
    javascript_exports: "javascript-exports",
    leaves_children: "leaves-children",
    linear_c: "linear-c",
    linear_java: "linear-java",
    macro_heavy: "macro-heavy",
    make_is_the_test: "make-is-the-test",
    masked_by_older_defect: "masked-by-older-defect",
    merge_culprit: "merge-culprit",
    merge_only_fails: "merge-only-fails",
    moved_function: "moved-function",
    nesting_dropped: "nesting-dropped",
    never_passed: "never-passed",
    no_build_flag: "no-build-flag",
    no_known_good: "no-known-good",
    old_code_new_compiler: "old-code-new-compiler",
    one_commit_per_file: "one-commit-per-file",
    other_failure_same_line: "other-failure-same-line",
    prebuilt_programs: "prebuilt-programs",
    product_becomes_tracked: "product-becomes-tracked",
    reformatted_history: "reformatted-history",
    rename: "rename",
    renamed_symbol: "renamed-symbol",
    repair_flips_verdict: "repair-flips-verdict",
    repair_reverts_culprit: "repair-reverts-culprit",
    root_is_bad: "root-is-bad",
    rust_methods: "rust-methods",
    same_exit_other_failure: "same-exit-other-failure",
    second_culprit_newer: "second-culprit-newer",
    seen_by_a_person: "seen-by-a-person",
    several_tests: "several-tests",
    shallow: "shallow",
    signature_change_across_files: "signature-change-across-files",
    single_commit: "single-commit",
    slower_since: "slower-since",
    stacked_repairs: "stacked-repairs",
    stale_generated: "stale-generated",
    stale_header: "stale-header",
    test_edits_tracked_file: "test-edits-tracked-file",
    test_needs_newer_api: "test-needs-newer-api",
    two_commits_interact: "two-commits-interact",
    type_changed_alone: "type-changed-alone",
    typescript_types: "typescript-types",
    unwrapped_body: "unwrapped-body",
    vacuous_pass: "vacuous-pass",
    value_changed: "value-changed",
    version_stamp: "version-stamp",
    wanted_by_its_tests: "wanted-by-its-tests",
}

#[test]
fn every_fixture_is_hunted_in() {
    let missing: Vec<String> = fixture::names().into_iter().filter(|name| !NAMES.contains(&name.as_str())).collect();
    assert_eq!(missing, Vec::<String>::new(), "name them in the list above");
}
