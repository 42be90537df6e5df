//! The hunt on every fixture: expected against found, and nothing of the user's changed.

use git_idd::report::Report;

use crate::expect::Finding;
use crate::fixture;
use crate::fixture::Fixture;
use crate::fixture::Format;

/// Runs one command on `fixture` and compares everything that can be compared.
#[track_caller]
fn check<S: AsRef<str>>(what: &str, fixture: &Fixture, args: &[S], expected: &Finding) {
    let before = fixture.state();
    let report = fixture.report(args);
    let after = fixture.state();
    let mut complaints = expected.complaints(&report);
    for name in before.keys().chain(after.keys()).filter(|name| before.get(*name) != after.get(*name)) {
        complaints.push(format!("the hunt changed {name}: {:?} became {:?}", before.get(name), after.get(name)));
    }
    if let Some(fix) = report.fix.as_ref().filter(|fix| fix.complete && !fixture.applies(fix.patch.as_bytes())) {
        complaints.push(format!("git apply does not take the fix:\n{}", String::from_utf8_lossy(fix.patch.as_bytes())));
    }
    complaints.extend(fixture.processes_left().iter().map(|command| format!("still running: {command}")));
    assert!(complaints.is_empty(), "{what}:\n{}\n\n{}", complaints.join("\n"), shown(&report));
}

fn shown(report: &Report) -> String {
    serde_json::to_string_pretty(report).unwrap()
}

fn hunt(name: &str) {
    let fixture = Fixture::make(name);
    check(name, &fixture, &fixture.expect.arguments, &fixture.expect.finding);
}

/// The same finding with a known good revision, with other arguments, in another format, and the reduction alone.
fn hunt_otherwise(name: &str) {
    let expect = Fixture::make(name).expect;
    let is_other = expect.with_good.is_some() || !expect.variants.is_empty() || expect.minimize.is_some();
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
