//! Outputs of real runners, made with two or more tests that fail by the same assertion. Those of Surefire 3, Gradle, the
//! `JUnit` console, dotnet and Playwright are made after their documentation.

use std::time::Duration;

use idd_base::{Ending, Stage};

use super::*;

/// The output of a runner.
macro_rules! output {
    ($name:literal) => {
        include_str!(concat!("outputs/", $name, ".txt"))
    };
}

#[track_caller]
fn check(output: &str, format: &str, failed: &[&str]) {
    let report = RunnerReport::find(output).unwrap_or_else(|| panic!("no report: {output}"));
    assert_eq!(
        (report.format, report.failed.iter().map(String::as_str).collect::<Vec<_>>()),
        (format, failed.to_vec())
    );
    for name in failed {
        assert_eq!(report.outcome(name), NamedOutcome::Failed, "{name}");
    }
}

#[test]
fn a_runner_that_succeeds_without_the_test_lacks_it() {
    let lacks = |format: &str, name: &str, output: &str| {
        let has_run_nothing = output.lines().any(crate::run::table::ran_nothing);
        match RunnerReport::read(output, format) {
            Some(report) => report.lacks(name, output, has_run_nothing),
            None => has_run_nothing && !names_in_part(name, output),
        }
    };
    let result = |n_passed: usize, n_filtered: usize| {
        format!(
            "test result: ok. {n_passed} passed; 0 failed; 0 ignored; 0 measured; {n_filtered} filtered out; finished in 0.00s\n"
        )
    };
    for (format, name, output, expected) in [
        ("unittest", "test_a (m.T.test_a)", "\nRan 0 tests in 0.000s\n\nOK\n".to_owned(), true),
        ("unittest", "test_a (m.T.test_a)", "..\nRan 2 tests in 0.000s\n\nOK\n".to_owned(), false),
        ("cargo test", "tests::two", format!("running 1 test\ntest tests::one ... ok\n{}", result(1, 0)), true),
        ("cargo test", "tests::one", format!("running 1 test\ntest tests::one ... ok\n{}", result(1, 0)), false),
        ("cargo test", "tests::two", format!("running 0 tests\n{}", result(0, 3)), true),
        ("cargo test -q", "--lib tests::two", format!("running 0 tests\n{}", result(0, 3)), true),
        ("cargo test -q", "--lib tests::two", format!("running 1 test\n.\n{}{}", result(1, 2), result(0, 1)), false),
        (
            "go test",
            "x TestA",
            "testing: warning: no tests to run\nPASS\nok  \tx\t0.001s [no tests to run]\n".to_owned(),
            true,
        ),
        ("go test", "x TestA", "ok  \tx\t0.001s\nok  \ty\t0.001s [no tests to run]\n".to_owned(), false),
        ("go test", "x TestA", "ok  \tx\t0.001s [no tests to run]\nok  \ty\t(cached)\n".to_owned(), true),
        ("go test", "x TestA", "ok  \tx\t0.001s\tcoverage: [no statements]\n".to_owned(), false),
        ("mocha", "suite two", "\n\n  0 passing (2ms)\n\n".to_owned(), true),
        ("mocha", "suite two", "\n\n  3 passing (2ms)\n\n".to_owned(), false),
        (
            "vitest",
            "test/a.test.ts > one",
            " ↓ test/a.test.ts (3 tests | 3 skipped)\n\n Test Files  1 skipped (1)\n      Tests  3 skipped (3)\n"
                .to_owned(),
            true,
        ),
        ("vitest", "test/a.test.ts > one", "      Tests  1 passed | 2 skipped (3)\n".to_owned(), false),
        ("jest", "one", "Tests:       3 skipped, 3 total\n".to_owned(), true),
        ("jest", "one", "Tests:       2 skipped, 1 passed, 3 total\n".to_owned(), false),
        // What is skipped has not run, whatever is printed of it.
        (
            "cargo test",
            "tests::two",
            format!("running 1 test\ntest tests::two ... ignored, slow\n{}", result(0, 3)),
            true,
        ),
        ("go test", "x TestA", "=== RUN   TestA\n--- SKIP: TestA (0.00s)\nPASS\nok  \tx\t0.001s\n".to_owned(), true),
        (
            "unittest",
            "test_a (m.T.test_a)",
            "test_a (m.T.test_a) ... skipped 'no'\n\nRan 1 test in 0.000s\n\nOK (skipped=1)\n".to_owned(),
            true,
        ),
        (
            "pytest",
            "test_m.py::test_a",
            "test_m.py::test_a SKIPPED (no)\n\n=== 1 skipped in 0.01s ===\n".to_owned(),
            true,
        ),
        ("pytest", "test_m.py::test_a", "s\n1 skipped in 0.01s\n".to_owned(), true),
        ("pytest", "test_m.py::test_a", ".s\n1 passed, 1 skipped in 0.01s\n".to_owned(), false),
        // The file passes, but its line is another one than without `-v`; and a quieter runner lists nothing.
        (
            "prove",
            "t/calc.t",
            "t/calc.t .. \n1..1\nok 1\nok\nAll tests successful.\nFiles=1, Tests=1\n".to_owned(),
            false,
        ),
        ("prove", "t/calc.t", "t/sum.t .. ok\nAll tests successful.\nFiles=1, Tests=1\n".to_owned(), true),
        ("cargo test", "tests::two", format!("running 2 tests\n..\n{}", result(2, 0)), false),
        ("cargo test", "tests::two", format!("running 1 test\ntest tests::two ... said\nok\n{}", result(1, 0)), false),
        // What was not stored may have named it.
        ("cargo test", "tests::two", format!("[... 9 bytes cut ...]\n{}", result(1, 0)), false),
    ] {
        assert_eq!(lacks(format, name, &output), expected, "{format}: {output}");
    }
}

#[test]
fn the_failing_tests_are_those_that_the_runner_names() {
    let tests = ["test_m.py::test_b[x y]", "test_m.py::test_c"];
    check(output!("pytest"), "pytest", &tests);
    check(output!("pytest-q"), "pytest", &tests);
    check(output!("pytest-x"), "pytest", &[tests[1], tests[0]]);
    check(output!("pytest-stop"), "pytest", &tests[..1]);
    let tests = ["test_a (m.TestM.test_a)", "test_b (m.TestM.test_b)", "test_s (m.TestM.test_s) (i=1)"];
    check(output!("unittest"), "unittest", &tests);
    check(output!("nose2"), "unittest", &tests);
    check(output!("cargo"), "cargo test", &["tests::panics", "tests::adds", "tests::takes"]);
    check(output!("cargo-all"), "cargo test", &["tests::panics", "tests::adds", "tests::takes", "src/lib.rs -"]);
    check(output!("cargo-q"), "cargo test -q", &["--lib tests::panics", "--lib tests::takes", "--lib tests::adds"]);
    check(output!("nextest"), "nextest", &["cg tests::panics", "cg tests::takes", "cg tests::adds"]);
    check(output!("go"), "go test", &["x TestA", "x TestB/two"]);
    check(output!("go-json"), "go test -json", &["x TestA", "x TestB/two"]);
    check(output!("jest"), "jest", &["t/a.test.js suite › one", "t/a.test.js suite › two", "t/a.test.js top"]);
    check(
        output!("vitest"),
        "vitest",
        &["v/a.test.mjs > suite > one", "v/a.test.mjs > suite > two", "v/a.test.mjs > top"],
    );
    check(output!("playwright"), "playwright", &["tests/sum.spec.ts sum › adds"]);
    check(output!("mocha"), "mocha", &["top", "suite two", "suite inner one"]);
    check(output!("busted"), "busted", &["spec/m_spec.lua m area", "spec/m_spec.lua m sum of two"]);
    check(output!("node"), "TAP", &["one", "two"]);
    check(output!("node-spec"), "node:test", &["one", "two"]);
    check(output!("ava"), "ava", &["one", "two"]);
    check(output!("tape"), "TAP", &["is it"]);
    check(output!("prove"), "prove", &["t/a.t"]);
    check(output!("ctest"), "ctest", &["adds", "takes.away"]);
    check(output!("gtest"), "GoogleTest", &["Sum.Adds", "Sum.Takes"]);
    check(output!("cmocka"), "GoogleTest", &["adds", "takes"]);
    check(output!("catch2"), "Catch2", &["adds", "takes away"]);
    check(output!("doctest"), "doctest", &["adds", "takes away"]);
    check(output!("boost"), "Boost.Test", &["adds", "takes"]);
    check(output!("check"), "Check", &["core:adds:0", "core:takes:0"]);
    check(output!("cunit"), "CUnit", &["adds"]);
    check(output!("automake"), "automake", &["adds.sh", "takes.sh"]);
    check(output!("meson"), "meson", &["p:adds", "p:takes away"]);
    check(output!("surefire"), "Surefire", &["p.SumTest.adds", "p.SumTest.takes"]);
    check(output!("gradle"), "Gradle", &["SumTest > adds()", "SumTest > takes()"]);
    check(output!("surefire-old"), "Surefire", &["a(MTest)", "b(MTest)"]);
    check(output!("junit4"), "JUnit 4", &["a(MTest)", "b(MTest)"]);
    check(output!("junit"), "JUnit console", &["JUnit Jupiter:SumTest:adds()"]);
    check(output!("rspec"), "RSpec", &["Sum adds", "Sum takes away"]);
    check(output!("minitest"), "minitest", &["TestM#test_a", "TestM#test_e", "TestM#test_b"]);
    check(output!("testunit"), "test-unit", &["test_a(TestM)"]);
    check(output!("phpunit"), "PHPUnit", &["MTest::testA", "MTest::testB"]);
    check(output!("exunit"), "ExUnit", &["takes away (SumTest)", "adds (SumTest)"]);
    check(output!("dotnet"), "dotnet test", &["Sum.SumTest.Adds", "Sum.SumTest.Takes"]);
}

#[track_caller]
fn check_other(output: &str, format: &str, name: &str, expected: Option<NamedOutcome>) {
    let report = RunnerReport::read(output, format);
    assert_eq!(report.map(|report| report.outcome(name)), expected, "{name}");
}

#[test]
fn a_test_that_is_not_among_the_failing_ones_passes_or_may_not_have_run() {
    let check_passed = |output, format, name| check_other(output, format, name, Some(NamedOutcome::Passed));
    let check_absent = |output, format, name| check_other(output, format, name, Some(NamedOutcome::Absent));
    check_passed(output!("pytest"), "pytest", "test_m.py::TestX::test_a");
    check_passed(output!("jest"), "jest", "t/a.test.js suite › ok");
    check_passed(output!("go"), "go test", "x TestC");
    check_passed(output!("surefire"), "Surefire", "p.SumTest.works");
    // Listed by name.
    check_passed(output!("cargo"), "cargo test", "tests::works");
    check_absent(output!("cargo"), "cargo test", "tests::later");
    check_absent(output!("cargo"), "cargo test", "src/lib.rs -");
    check_passed(output!("ctest"), "ctest", "works");
    check_absent(output!("ctest"), "ctest", "later");
    check_passed(output!("gtest"), "GoogleTest", "Sum.Works");
    // Its binary was run.
    check_passed(output!("cargo-q"), "cargo test -q", "--lib tests::works");
    check_absent(output!("cargo-q"), "cargo test -q", "--test other works");
    check_absent(output!("go"), "go test", "y TestA");
    check_passed(output!("junit4"), "JUnit 4", "c(MTest)");
    check_passed(output!("tape"), "TAP", "should be truthy");
    check_passed(output!("go-json"), "go test -json", "x TestC");
    // The runner stopped early, or could not run a file.
    check_absent(output!("pytest-stop"), "pytest", "test_m.py::test_c");
    check_absent(output!("pytest-collect"), "pytest", "test_m.py::test_c");
    check_absent(output!("unittest-lost"), "unittest", "test_x (nope.TestN.test_x)");
    check_passed(output!("unittest-lost"), "unittest", "test_c (m.TestM.test_c)");
    check_absent(output!("go-lost"), "go test", "x/broken TestZ");
    check_passed(output!("go-lost"), "go test", "x TestC");
    check_absent(output!("jest-lost"), "jest", "t/b.test.js x");
    check_passed(output!("jest-lost"), "jest", "t/a.test.js suite › ok");
    // It was killed before the end, and what it printed was cut.
    check_absent("FAILED test_m.py::test_b - assert False\n", "pytest", "test_m.py::test_c");
    let cut = "[... 9 bytes cut ...]\nFAILED t.py::test_b - x\n=== 1 failed, 9 passed in 0.01s ===\n";
    check_absent(cut, "pytest", "t.py::test_c");
    check_other("make: *** [p] Error 1\n", "pytest", "test_m.py::test_c", None);
}

#[test]
fn other_outputs_have_no_report() {
    for output in ["", "wrong value\n", "FAIL: x\n", "error[E0425]: cannot find `x`\n", output!("pytest-collect")] {
        assert_eq!(RunnerReport::find(output), None, "{output}");
    }
    // A test that may fail is no failure.
    assert_eq!(RunnerReport::find("1..2\nok 1 - load\nnot ok 2 - later # TODO\n"), None);
}

#[test]
fn the_report_of_files_counts_if_what_was_printed_names_no_test() {
    let run = |output: &str, reported: &str| Observation {
        reported: reported.to_owned(),
        stage: Stage::Test,
        ending: Ending::Exit(1),
        duration: Duration::from_millis(7),
        limit: Duration::from_secs(600),
        output: output.to_owned(),
        is_clean: true,
        is_tampered: false,
        place: None,
    };
    let reported = "JUnit failed: p.A.one\nJUnit failed: p.A.two\nJUnit passed: p.A.three\n";
    let report = RunnerReport::of_run(&run("make: *** [check] Error 1\n", reported)).unwrap();
    assert_eq!((report.format, &report.failed[..]), ("JUnit file", &["p.A.one".to_owned(), "p.A.two".to_owned()][..]));
    let names = ["p.A.two", "p.A.three", "p.A.four"];
    let expected = [NamedOutcome::Failed, NamedOutcome::Passed, NamedOutcome::Absent];
    assert_eq!(names.map(|name| report.outcome(name)), expected);
    assert_eq!(RunnerReport::of_run(&run(output!("pytest"), reported)).unwrap().format, "pytest");
    assert!(RunnerReport::of_run_by(&run("", "JUnit passed: p.A.one\n"), "JUnit file").is_some());
    assert_eq!(RunnerReport::of_run_by(&run(output!("pytest"), ""), "JUnit file"), None);
}

#[test]
fn many_names_take_no_more_time_than_few() {
    let reported = (0..20_000).map(|n| format!("JUnit failed: {n}/x\nJUnit failed: {n}\n")).collect::<Vec<_>>();
    assert_eq!(RunnerReport::find(&reported.concat()).unwrap().failed.len(), 20_000);
}
