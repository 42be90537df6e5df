//! Whether a pass is vacuous, by what the test prints: with the fix, at HEAD, and at the last good revision.
//!
//! Pure functions. What an output does not show is not claimed.

use idd_base::{NamedTest, Observation, count};
use idd_world::run::classify::plain;
use idd_world::run::counts::TestCounts;
use idd_world::run::normalise;
use idd_world::run::runners::{NamedOutcome, RunnerReport};
use std::collections::HashSet;

/// The runs that are compared.
pub(super) struct ComparedRuns<'o> {
    /// A pass with the fix.
    pub(super) pass: &'o Observation,
    /// The failure at HEAD.
    pub(super) failing: &'o Observation,
    /// A pass of the last good revision.
    pub(super) good: Option<&'o Observation>,
    /// The test that fails, if its runner names it.
    pub(super) named: Option<&'o NamedTest>,
}

/// What the outputs show.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TestedAmount {
    /// Less was tested than before; why.
    Less(String),
    /// As much was tested; how that is known, if it is.
    AsMuch(Option<String>),
}

/// Compares the outputs.
pub(super) fn compare(outputs: &ComparedRuns<'_>) -> TestedAmount {
    let mut said = Vec::new();
    for compare in [by_name, by_count] {
        match compare(outputs) {
            TestedAmount::Less(why) => return TestedAmount::Less(why),
            TestedAmount::AsMuch(known) => said.extend(known),
        }
    }
    if said.is_empty() {
        return by_lines(outputs);
    }
    TestedAmount::AsMuch(Some(said.join("; ")))
}

/// The test that failed must be reported as passed.
fn by_name(outputs: &ComparedRuns<'_>) -> TestedAmount {
    let Some(test) = outputs.named else { return TestedAmount::AsMuch(None) };
    let read = |seen: &Observation| RunnerReport::of_run_by(seen, &test.format);
    match read(outputs.pass) {
        None if outputs.good.and_then(read).is_some() => TestedAmount::Less(format!("{} reports no test", test.format)),
        Some(report) if report.outcome(&test.name) != NamedOutcome::Passed => {
            TestedAmount::Less(format!("{} does not report `{}` as passed", test.format, test.name))
        }
        Some(report) if report.names_passing() => {
            TestedAmount::AsMuch(Some(format!("`{}` is reported as passed", test.name)))
        }
        // The count says whether it ran.
        Some(_) | None => TestedAmount::AsMuch(None),
    }
}

/// The runner must count as many tests as at HEAD, and leave no more out.
fn by_count(outputs: &ComparedRuns<'_>) -> TestedAmount {
    let counts = |seen: &Observation| TestCounts::of(&seen.output);
    let good = outputs.good.and_then(counts);
    let (at, before) = match (counts(outputs.failing), good) {
        (Some(failing), _) => ("HEAD", failing),
        (None, Some(good)) => ("the last good revision", good),
        (None, None) => return TestedAmount::AsMuch(None),
    };
    let n = |number: u64| count(usize::try_from(number).unwrap_or(usize::MAX), "test");
    match counts(outputs.pass) {
        // Some runners count only failures.
        None if outputs.good.is_some() && good.is_none() => TestedAmount::AsMuch(None),
        None => TestedAmount::Less(format!("no test is counted; {} at {at}", n(before.n_ran))),
        Some(now) if now.n_ran == 0 => TestedAmount::Less("no test runs".to_owned()),
        Some(now) if now.n_ran < before.n_ran => {
            TestedAmount::Less(format!("{} run; {} at {at}", n(now.n_ran), before.n_ran))
        }
        Some(now) if now.n_left_out > before.n_left_out => {
            TestedAmount::Less(format!("{} left out; {} at {at}", n(now.n_left_out), before.n_left_out))
        }
        Some(now) => TestedAmount::AsMuch(Some(format!("{} run, {} at {at}", n(now.n_ran), before.n_ran))),
    }
}

/// Something that the test prints at the last good revision must be printed.
fn by_lines(outputs: &ComparedRuns<'_>) -> TestedAmount {
    let lines = |seen: &Observation| -> HashSet<String> {
        plain(&seen.output).lines().map(normalise).filter(|line| !line.trim().is_empty()).collect()
    };
    let Some(good) = outputs.good.map(lines) else { return TestedAmount::AsMuch(None) };
    if good.is_empty() {
        return TestedAmount::AsMuch(None);
    }
    let n_there = good.intersection(&lines(outputs.pass)).count();
    if n_there == 0 {
        return TestedAmount::Less("it prints none of the lines of the last good revision".to_owned());
    }
    let n_good = count(good.len(), "line");
    TestedAmount::AsMuch(Some(format!("it prints {n_there} of {n_good} of the last good revision")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::observation;

    #[track_caller]
    fn check(pass: &str, failing: &str, good: Option<&str>, expected: &str) {
        let good = good.map(|good| observation(0, good));
        let (pass, failing) = (observation(0, pass), observation(1, failing));
        let report = RunnerReport::of_run(&failing);
        let named = report.map(|report| NamedTest {
            format: report.format.to_owned(),
            name: report.failed[0].clone(),
            others: Vec::new(),
        });
        let outputs = ComparedRuns { pass: &pass, failing: &failing, good: good.as_ref(), named: named.as_ref() };
        let shown = match compare(&outputs) {
            TestedAmount::Less(why) => format!("less: {why}"),
            TestedAmount::AsMuch(known) => known.unwrap_or_default(),
        };
        assert_eq!(shown, expected);
    }

    const CARGO: &str = "test a::b ... FAILED\ntest c ... ok\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n";
    const PYTEST: &str = "FAILED t.py::test_a - assert\n1 failed, 2 passed in 0.01s\n";

    #[test]
    fn the_failing_test_must_be_reported_as_passed() {
        let of = |output: &str, expected| check(output, CARGO, None, expected);
        of(
            "test a::b ... ok\ntest c ... ok\ntest result: ok. 2 passed; 0 failed; 0 ignored\n",
            "`a::b` is reported as passed; 2 tests run, 2 at HEAD",
        );
        of(
            "test a::b ... ignored\ntest c ... ok\ntest result: ok. 1 passed; 0 failed; 1 ignored\n",
            "less: cargo test does not report `a::b` as passed",
        );
        of("", "less: no test is counted; 2 tests at HEAD");
    }

    #[test]
    fn fewer_tests_or_more_that_are_left_out_are_less() {
        let of = |output: &str, expected| check(output, PYTEST, Some("3 passed in 0.01s\n"), expected);
        of("3 passed in 0.01s\n", "3 tests run, 3 at HEAD");
        of("4 passed in 0.01s\n", "4 tests run, 3 at HEAD");
        of("2 passed in 0.01s\n", "less: 2 tests run; 3 at HEAD");
        of("3 passed, 1 skipped in 0.01s\n", "less: 1 test left out; 0 at HEAD");
        of("", "less: pytest reports no test");
    }

    #[test]
    fn without_counts_lines_are_compared_and_silence_shows_nothing() {
        check(
            "start\nok 7\n",
            "start\nFAIL\n",
            Some("start\nok 9\n"),
            "it prints 2 of 2 lines of the last good revision",
        );
        check("", "FAIL\n", Some("all good\n"), "less: it prints none of the lines of the last good revision");
        check("", "FAIL\n", Some("\n"), "");
        check("", "FAIL\n", None, "");
    }

    #[test]
    fn a_runner_that_counts_only_failures_shows_nothing_by_its_silence() {
        check("fine\n", " 1 failing\n", Some("fine\n"), "it prints 1 of 1 line of the last good revision");
    }
}
