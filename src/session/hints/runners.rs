//! The failing test that a known test runner names, and how to hunt it alone.

use crate::hints::text;
use crate::order::TestCommand;
use crate::{hold, suite};
use idd_base::Observation;
use idd_world::process::shell;
use idd_world::run::runners::RunnerReport;
use idd_world::run::toolchain;
use regex::Regex;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// A test runner.
#[derive(Clone, Copy)]
struct TestRunner {
    /// The name of the format of its reports.
    format: &'static str,
    /// What shows that tests passed, if the report does not list them: a match, or a number above 1 in its first group.
    others: &'static str,
    /// The command that runs one test, with `{}` in place of a word for the shell.
    alone: &'static str,
    /// How this word begins and ends, if it is a pattern: the name stands between them.
    around: Option<(&'static str, &'static str)>,
}

/// Programs that run a runner in an environment of their own, which is not that of the user.
const OWN_ENVIRONMENT: [&str; 3] = ["tox", "nox", "hatch"];

const fn row(format: &'static str, others: &'static str, alone: &'static str) -> TestRunner {
    TestRunner { format, others, alone, around: None }
}

const fn by_pattern(runner: TestRunner) -> TestRunner {
    TestRunner { around: Some(("^", "$")), ..runner }
}

const RUNNERS: [TestRunner; 6] = [
    row("pytest", r"(?m)\b\d+ passed\b.* in [\d.]+s", "pytest {}"),
    row("cargo test", r"(?m)^test \S+ \.\.\. ok$", "cargo test {} -- --exact"),
    by_pattern(row("go test", r"(?m)^(?:ok  \t|--- PASS: )", "go test -run {} ./...")),
    by_pattern(row("ctest", r"tests? failed out of (\d+)", "ctest -R {}")),
    row("Surefire", r"(?m)Tests run: (\d+), Failures: ", "mvn test -Dtest={}"),
    row("prove", r"(?m)^Files=(\d+), Tests=", "prove {}"),
];

/// The sentence about the test that is hunted, if the output names it and other tests ran, too.
///
/// - `command`: the test command; a test that it names already is no news.
/// - `options`: those of the hunt that a hunt of the one test needs, too.
/// - `environment`: that of the test; without the runner in its `PATH`, no command is named.
pub fn hint(
    seen: &Observation,
    command: &TestCommand,
    options: &str,
    environment: &[(OsString, OsString)],
) -> Option<String> {
    let report = RunnerReport::of_run(seen)?;
    let name = report.failed.first()?;
    let runner = RUNNERS.iter().find(|runner| runner.format == report.format);
    let have_passed = runner.is_some_and(|runner| {
        let others = Regex::new(runner.others).expect("a valid pattern");
        others.captures_iter(&seen.output).any(|found| match found.get(1) {
            Some(number) => number.as_str().parse::<u64>().is_ok_and(|number| number > 1),
            None => true,
        })
    });
    let others = match report.failed.len() - 1 {
        0 if have_passed => "other tests pass".to_owned(),
        0 => return None,
        1 => "1 other test fails, too, and does not count".to_owned(),
        n_others => format!("{n_others} other tests fail, too, and do not count"),
    };
    let parts: &[char] = if report.format == "Surefire" { &['.'] } else { &[':', '/', ' '] };
    let last = name.rsplit(parts).next().unwrap_or_default();
    let line = text(&command.to_line());
    if line.contains(last) {
        return None;
    }
    let alone = runner.and_then(|TestRunner { alone, around, format, .. }| {
        // Older versions print `method(package.Class)`.
        let older = name.trim_end_matches(')').split_once('(').filter(|(method, _)| !method.contains('.'));
        let name = match (older.map(|(method, class)| (class, method)).or(name.rsplit_once('.')), *format) {
            (Some((class, method)), "Surefire") => format!("{class}#{method}"),
            (_, "go test") => name.rsplit(' ').next().unwrap_or_default().to_owned(),
            _ => name.clone(),
        };
        let word = around.map(|(begin, end)| format!("{begin}{}{end}", regex::escape(&name)));
        let called = suite::one_of_cargo(command).filter(|_| *format == "cargo test");
        let called = called.or_else(|| as_called(alone, command, environment))?;
        let command = |start: &str, word: &str| match *format {
            // It runs in the directory of a build.
            "ctest" => format!("`{start}` with `{}`", alone.replace("{}", word)),
            _ => format!("`{start} {options}-- {}`", called.replace("{}", word)),
        };
        let mut said = format!(" {} hunts it alone.", command("git idd", &quoted(&word.unwrap_or(name))));
        if report.failed.len() > 1 {
            let place = around.map_or("{}".to_owned(), |(begin, end)| format!("'{begin}{{}}{end}'"));
            let each = command("git idd --each <command>", &place);
            let _ = write!(said, " {each} hunts each one that the command prints.");
        }
        Some(said)
    });
    Some(format!("The failing test is `{name}`; {others}.{}", alone.unwrap_or_default()))
}

/// A command of a runner as the user calls the runner: `.venv/bin/python -m pytest` for `pytest`. `None` if the test command
/// does not name the runner, and the user cannot call it, or would call another one.
fn as_called(alone: &str, command: &TestCommand, environment: &[(OsString, OsString)]) -> Option<String> {
    let runner = alone.split(' ').next().unwrap_or(alone);
    let words = hold::words(command);
    let is_runner = |word: &OsString| Path::new(word).file_name().is_some_and(|name| name == runner);
    match words.iter().position(is_runner) {
        Some(at) => {
            let called: Vec<String> = words[..=at].iter().map(|word| quoted(&text(word.as_bytes()))).collect();
            Some(format!("{}{}", called.join(" "), &alone[runner.len()..]))
        }
        None => {
            (!has_own_environment(command) && !toolchain::is_missing(environment, runner)).then(|| alone.to_owned())
        }
    }
}

/// Whether the command runs the test in an environment that it makes.
pub fn has_own_environment(command: &TestCommand) -> bool {
    let makes_one = |word: &OsString| OWN_ENVIRONMENT.iter().any(|name| Path::new(word).ends_with(name));
    hold::words(command).iter().any(makes_one)
}

/// A word for the shell: the output of a test may contain anything.
fn quoted(word: &str) -> String {
    let is_plain = shell::quoted(word.as_bytes()) == word.as_bytes();
    if is_plain { word.to_owned() } else { shell::in_quotes(word) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::observation;

    #[track_caller]
    fn check(output: &str, expected: &str) {
        let command = TestCommand::Shell("make test".into());
        assert_eq!(hint(&observation(1, output), &command, "", &[]).unwrap_or_default(), expected, "{output}");
    }

    #[test]
    fn the_first_failing_test_is_named_with_the_command_that_runs_it() {
        check(
            "FAILED tests/test_a.py::T::test_b[1-2] - assert 1 == 2\n=== 1 failed, 4 passed in 0.03s ===\n",
            "The failing test is `tests/test_a.py::T::test_b[1-2]`; other tests pass. `git idd -- pytest 'tests/test_a.py::T::test_b[1-2]'` hunts it alone.",
        );
        check(
            "test a::b ... ok\ntest a::c ... FAILED\ntest result: FAILED. 1 passed; 1 failed\n",
            "The failing test is `a::c`; other tests pass. `git idd -- cargo test a::c -- --exact` hunts it alone.",
        );
        check(
            "--- FAIL: TestX (0.00s)\n--- FAIL: TestY (0.00s)\nFAIL\nFAIL\tx\t0.003s\n",
            "The failing test is `x TestX`; 1 other test fails, too, and does not count. `git idd -- go test -run '^TestX$' ./...` hunts it alone. `git idd --each <command> -- go test -run '^{}$' ./...` hunts each one that the command prints.",
        );
        check(
            "1/2 Test #1: parse .....***Failed    0.00 sec\n\n50% tests passed, 1 tests failed out of 2\n",
            "The failing test is `parse`; other tests pass. `git idd` with `ctest -R '^parse$'` hunts it alone.",
        );
        check(
            "[ERROR] p.FooTest.bar -- Time elapsed: 0.01 s <<< FAILURE!\n[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0\n",
            "The failing test is `p.FooTest.bar`; other tests pass. `git idd -- mvn test -Dtest='p.FooTest#bar'` hunts it alone.",
        );
        check(
            "[ERROR] bar(p.FooTest)  Time elapsed: 0.01 s  <<< FAILURE!\n[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0\n",
            "The failing test is `bar(p.FooTest)`; other tests pass. `git idd -- mvn test -Dtest='p.FooTest#bar'` hunts it alone.",
        );
        check(
            "t/a.t (Wstat: 256 Tests: 2 Failed: 1)\nt/b.t (Wstat: 256 Tests: 2 Failed: 1)\nFiles=2, Tests=4, 0 wallclock secs\n",
            "The failing test is `t/a.t`; 1 other test fails, too, and does not count. `git idd -- prove t/a.t` hunts it alone. `git idd --each <command> -- prove {}` hunts each one that the command prints.",
        );
        check(
            "t/a.t (Wstat: 256 Tests: 2 Failed: 1)\nFiles=2, Tests=4, 0 wallclock secs\n",
            "The failing test is `t/a.t`; other tests pass. `git idd -- prove t/a.t` hunts it alone.",
        );
        check(
            "1..3\nnot ok 1 - load\nnot ok 2 - later # TODO\nnot ok 3 - its (1)\n",
            "The failing test is `load`; 1 other test fails, too, and does not count.",
        );
    }

    #[test]
    fn a_name_is_a_word_for_the_shell_whatever_it_contains() {
        check(
            "FAILED a$(id).py::bad - x\n=== 1 failed, 4 passed in 0.03s ===\n",
            "The failing test is `a$(id).py::bad`; other tests pass. `git idd -- pytest 'a$(id).py::bad'` hunts it alone.",
        );
        check(
            "1/2 Test #1: x;id .....***Failed    0.00 sec\n50% tests passed, 1 tests failed out of 2\n",
            "The failing test is `x;id`; other tests pass. `git idd` with `ctest -R '^x;id$'` hunts it alone.",
        );
    }

    #[test]
    fn a_test_that_ran_alone_or_that_the_command_names_is_no_news() {
        check("test a::c ... FAILED\ntest result: FAILED. 0 passed; 1 failed\n", "");
        check("1..1\nnot ok 1 - load\n", "");
        check("FAIL: parse\nPASS: x\n", "");
        let output = "test a::b ... ok\ntest a::c ... FAILED\ntest result: FAILED. 1 passed; 1 failed\n";
        assert_eq!(hint(&observation(1, output), &TestCommand::Shell("cargo test a::c".into()), "", &[]), None);
    }

    #[test]
    fn the_command_calls_the_runner_as_the_user_does_and_has_the_options_of_the_hunt() {
        let seen = observation(1, "FAILED a.py::test_x - y\n=== 1 failed, 4 passed in 0.03s ===\n");
        let nowhere = [("PATH".into(), "/nonexistent".into())];
        let hint = |line: &str, environment: &[_]| {
            hint(&seen, &TestCommand::Shell(line.into()), "--hold a.py ", environment).unwrap()
        };
        let said = |line: &str| hint(line, &[]);
        for (line, expected) in [
            ("X=1 '.venv/bin/pytest' -q", "pytest"),
            (".venv/bin/pytest -q tests", ".venv/bin/pytest"),
            ("uv run python -m pytest tests", "uv run python -m pytest"),
        ] {
            let expected = format!(" `git idd --hold a.py -- {expected} a.py::test_x` hunts it alone.");
            assert!(said(line).ends_with(&expected), "{}", said(line));
        }
        let of_cargo = |line: &str| suite::one_of_cargo(&TestCommand::Shell(line.into()));
        for (line, expected) in [
            ("cargo test", Some("cargo test {} -- --exact")),
            ("cargo +nightly test -q --test mine first", None),
            (
                "cargo test -q --test mine first -- --nocapture",
                Some("cargo test -q --test mine {} -- --exact --nocapture"),
            ),
            ("X=1 cargo test", None),
            ("pytest", None),
        ] {
            assert_eq!(of_cargo(line).as_deref(), expected, "{line}");
        }
        assert!(hint(".venv/bin/pytest", &nowhere).ends_with("hunts it alone."));
        for (line, environment) in [("make test", &nowhere[..]), ("tox -e t -- a.py", &[]), ("/v/bin/tox -q", &[])] {
            assert_eq!(hint(line, environment), "The failing test is `a.py::test_x`; other tests pass.");
        }
    }
}
