//! What a test runner counts: how many tests ran, and how many were left out.
//!
//! Data first: [`SUMMARIES`] has the lines in which runners count, [`WORDS`] the meaning of the words beside a number.

use crate::run::classify::plain;
use crate::run::runners::CUT;
use regex::Regex;
use std::sync::LazyLock;

/// The lines in which runners sum up, anchored; `^` matches at lines.
const SUMMARIES: &[&str] = &[
    // pytest, unittest, cargo, nextest
    r"(?:=+ )?(?:\d+ \w+, )*\d+ (?:failed|passed|errors?|skipped|deselected|xfailed|xpassed)\b.* in [\d.]+s",
    r"Ran \d+ tests? in ",
    r"(?:OK|FAILED) \(\w+=\d+",
    r"test result: ",
    r" +Summary \[",
    // vitest, jest, mocha and playwright, ava, node
    r" +Tests  ",
    r"Tests: .*\d+ total$",
    r" +\d+ (?:passing|failing|pending|passed|failed|skipped)\b",
    r" +\d+ tests? (?:failed|passed|skipped)",
    r"ℹ (?:pass|fail|skipped|todo) \d+",
    // ctest, GoogleTest, Catch2, doctest, Check
    r"\d+% tests passed, \d+ tests? failed out of \d+",
    r"\[  (?:PASSED |FAILED |SKIPPED) \] \d+ test",
    r"test cases: +\d+ \|",
    r"All tests passed \(",
    r"\[doctest\] test cases:",
    r"\d+%: Checks: \d+",
    // automake, meson, prove, Surefire, JUnit console
    r"# (?:PASS|FAIL|SKIP|ERROR): +\d+$",
    r"(?:Ok|Fail|Skipped): +\d+$",
    r"Files=\d+, Tests=\d+",
    r"\[(?:ERROR|WARNING|INFO)\] Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+$",
    r"\[ *\d+ tests (?:successful|failed|skipped) +\]",
    // RSpec, minitest and test-unit, PHPUnit, ExUnit, .NET, TAP
    r"\d+ examples?, \d+ failures?",
    r"\d+ (?:runs|tests), \d+ assertions",
    r"Tests: \d+, Assertions: ",
    r"OK \(\d+ tests?, \d+ assertions?\)",
    r"\d+ (?:tests?|doctests?), .*\d+ failures?",
    r"(?:Failed|Passed)! +- Failed: +\d+",
    r" *1\.\.\d+$",
];

/// What a word beside a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CountedTests {
    /// All tests, those that were left out included.
    All,
    /// Tests that ran.
    Ran,
    /// Tests that were left out.
    LeftOut,
}

/// The words beside a number, before it or after it, without a plural's `s`.
const WORDS: &[(CountedTests, &[&str])] = &[
    (
        CountedTests::All,
        &["test", "tests run", "run", "example", "doctest", "total", "ran", "out of", "1..", "checks", "test case"],
    ),
    (
        CountedTests::Ran,
        &["passed", "passing", "pass", "ok", "successful", "failed", "failing", "failure", "fail", "error", "xpassed"],
    ),
    (
        CountedTests::LeftOut,
        &["skipped", "skip", "ignored", "pending", "deselected", "filtered out", "todo", "xfailed", "disabled"],
    ),
];

/// The counts of a run, of all its summaries together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TestCounts {
    /// Tests that ran.
    pub n_ran: u64,
    /// Tests that were left out.
    pub n_left_out: u64,
}

impl TestCounts {
    /// The counts in an output; `None` if no known runner has counted.
    pub fn of(output: &str) -> Option<Self> {
        static SUMMARY: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(&format!("^(?:{})", SUMMARIES.join("|"))).expect("a valid pattern"));
        static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
            let mut words: Vec<&str> = WORDS.iter().flat_map(|(_, words)| words.iter().copied()).collect();
            // The longest one comes first.
            words.sort_by_key(|word| std::cmp::Reverse(word.len()));
            let words: Vec<String> = words.into_iter().map(regex::escape).collect();
            let words = words.join("|");
            let pattern = format!(r"(?i)\b(\d+) (?:tests? )?({words})s?\b|(?:\b|^ *)({words})s?(?: ?[:=] *| |)(\d+)\b");
            Regex::new(&pattern).expect("a valid pattern")
        });
        let mut counts: Option<Self> = None;
        let output = plain(output);
        for line in output.lines().filter(|line| SUMMARY.is_match(line)) {
            let (mut all, mut ran, mut left_out) = (None, 0, 0);
            for found in NUMBER.captures_iter(line) {
                let number = found.get(1).or_else(|| found.get(4)).map_or("", |number| number.as_str());
                let word = found.get(2).or_else(|| found.get(3)).map_or("", |word| word.as_str()).to_lowercase();
                let number = number.parse::<u64>().unwrap_or_default();
                match WORDS.iter().find(|(_, words)| words.contains(&word.as_str())).map(|(counted, _)| *counted) {
                    Some(CountedTests::All) => all = all.max(Some(number)),
                    Some(CountedTests::Ran) => ran += number,
                    Some(CountedTests::LeftOut) => left_out += number,
                    None => {}
                }
            }
            let known = counts.get_or_insert_default();
            // `Ran 3 tests` and `OK (skipped=1)` are two lines.
            let n_ran = all.map_or(ran, |all: u64| all.saturating_sub(left_out));
            let is_of_line_before = all.is_none() && (line.starts_with("OK (") || line.starts_with("FAILED ("));
            known.n_ran = if is_of_line_before { known.n_ran.saturating_sub(left_out) } else { known.n_ran + n_ran };
            known.n_left_out += left_out;
        }
        counts.or_else(|| Self::started(&output))
    }

    /// The tests that `go test -v` says it starts: it sums up nothing. `None` if there are none, or if not all were kept.
    fn started(output: &str) -> Option<Self> {
        let n_with = |start: &str| output.lines().filter(|line| line.trim_start().starts_with(start)).count() as u64;
        let (n_started, n_left_out) = (n_with("=== RUN "), n_with("--- SKIP: "));
        let is_known = n_started > 0 && !output.contains(CUT);
        is_known.then(|| Self { n_ran: n_started.saturating_sub(n_left_out), n_left_out })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, n_ran: u64, n_left_out: u64) {
        assert_eq!(TestCounts::of(output), Some(TestCounts { n_ran, n_left_out }), "{output}");
    }

    #[test]
    fn runners_count_in_lines_of_their_own() {
        check("===== 1 failed, 9 passed, 2 skipped in 0.12s =====\n", 10, 2);
        check("9 passed, 1 deselected in 0.12s\n", 9, 1);
        check("Ran 3 tests in 0.001s\n\nOK (skipped=1)\n", 2, 1);
        check("Ran 3 tests in 0.001s\n\nFAILED (failures=1, skipped=1)\n", 2, 1);
        check(
            "=== RUN   TestA\n=== RUN   TestA/b\n    --- SKIP: TestA/b (0.00s)\n--- PASS: TestA (0.00s)\nok  \ta\t0.1s\n",
            1,
            1,
        );
        check("test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.00s\n", 3, 3);
        check("test result: ok. 3 passed; 0 failed; 0 ignored\ntest result: ok. 2 passed; 0 failed; 0 ignored\n", 5, 0);
        check("Tests:       1 failed, 2 skipped, 3 passed, 6 total\n", 4, 2);
        check("  2 passing (5ms)\n  1 pending\n  1 failing\n", 3, 1);
        check("100% tests passed, 0 tests failed out of 3\n", 3, 0);
        check("[  PASSED  ] 3 tests.\n", 3, 0);
        check("[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 2\n", 3, 2);
        check("3 examples, 0 failures, 1 pending\n", 2, 1);
        check("5 runs, 9 assertions, 0 failures, 0 errors, 1 skips\n", 4, 1);
        check("OK (3 tests, 5 assertions)\n", 3, 0);
        check("# TOTAL: 4\n# PASS:  3\n# SKIP:  1\n# FAIL:  0\n", 3, 1);
        check("Failed!  - Failed:     1, Passed:     3, Skipped:     0, Total:     4\n", 4, 0);
        check("1..4\nok 1 - a\n", 4, 0);
        check("Files=2, Tests=7,  0 wallclock secs\n", 7, 0);
    }

    #[test]
    fn other_texts_count_nothing() {
        for output in ["", "3 errors in the input\n", "PASS 3\n", "ok  \texample.com/a\t0.01s\n"] {
            assert_eq!(TestCounts::of(output), None, "{output}");
        }
    }
}
