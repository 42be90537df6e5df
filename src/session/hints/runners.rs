//! The failing tests that known test runners name.

use crate::world::process::shell;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// A test runner.
struct Runner {
    /// A line that names a failing test; its first group is the name.
    failing: &'static str,
    /// What shows that other tests ran, too: a match, or a number above 1 in its first group.
    others: &'static str,
    /// The command that runs one test, with `{}` in place of a word for the shell.
    alone: &'static str,
    /// How this word begins and ends, if it is a pattern: the name stands between them.
    around: Option<(&'static str, &'static str)>,
}

const RUNNERS: [Runner; 6] = [
    Runner {
        failing: r"(?m)^(?:FAILED|ERROR) (\S+\.py(?:::[\w\[\]./-]+)+)",
        others: r"(?m)\b\d+ passed\b.* in [\d.]+s",
        alone: "`git idd -- pytest {}`",
        around: None,
    },
    Runner {
        failing: r"(?m)^test ([\w:]+)(?: - should panic)? \.\.\. FAILED$",
        others: r"(?m)^test [\w:]+ \.\.\. ok$",
        alone: "`git idd -- cargo test {} -- --exact`",
        around: None,
    },
    Runner {
        failing: r"(?m)^--- FAIL: (\w+) \(",
        others: r"(?m)^(?:ok  \t|--- PASS: )",
        alone: "`git idd -- go test -run {} ./...`",
        around: Some(("^", "$")),
    },
    Runner {
        failing: r"The following tests FAILED:\s+\d+ - (\S+) \(",
        others: r"tests failed out of (\d+)",
        alone: "`git idd` with `ctest -R {}`",
        around: Some(("^", "$")),
    },
    Runner {
        failing: r"(?m)^\[ERROR\] +(\w+\.\w+):\d+",
        others: r"(?m)Tests run: (\d+), Failures: ",
        alone: "`git idd -- mvn test -Dtest={}`",
        around: None,
    },
    Runner {
        failing: r"(?m)^(\S+\.t) +\(Wstat: ",
        others: r"(?m)^Files=(\d+), Tests=",
        alone: "`git idd -- prove {}`",
        around: None,
    },
];

/// The protocol of TAP alone names no way to run one test. What follows a `#` is a directive: such a test may fail.
const TAP: (&str, &str) = (r"(?m)^not ok \d+ (?:- )?([^#\s][^#\n]*)$", r"(?m)^ok \d+");

/// The sentence about the first failing test that the output names, if other tests ran, too.
///
/// - `command`: the test command; a test that it names already is no news.
pub fn hint(output: &str, command: &str) -> Option<String> {
    static COMPILED: LazyLock<Vec<(Regex, Regex, &Runner)>> = LazyLock::new(|| {
        let compile = |pattern| Regex::new(pattern).expect("a valid pattern");
        RUNNERS.iter().map(|runner| (compile(runner.failing), compile(runner.others), runner)).collect()
    });
    static TAP_COMPILED: LazyLock<(Regex, Regex)> = LazyLock::new(|| {
        let compile = |pattern| Regex::new(pattern).expect("a valid pattern");
        (compile(TAP.0), compile(TAP.1))
    });
    let names = |failing: &Regex| {
        let mut known = BTreeSet::new();
        let names = failing.captures_iter(output).filter_map(|found| Some(found.get(1)?.as_str().trim_end()));
        names.filter(|name| known.insert(*name)).collect::<Vec<_>>()
    };
    let have_run = |others: &Regex| {
        others.captures_iter(output).any(|found| match found.get(1) {
            Some(number) => number.as_str().parse::<u64>().is_ok_and(|number| number > 1),
            None => true,
        })
    };
    let said = |names: &[&str], alone: &str| {
        let others = match names.len() {
            1 => "other tests pass".to_owned(),
            n_names => format!("{} other tests fail", n_names - 1).replace("1 other tests fail", "1 other test fails"),
        };
        format!("The failing test is `{}`; {others}. {alone}.", names[0])
    };
    for (failing, others, Runner { alone, around, .. }) in COMPILED.iter() {
        let names = names(failing);
        if let Some(name) = names.first()
            && (names.len() > 1 || have_run(others))
        {
            let name = if alone.contains("-Dtest") { name.replacen('.', "#", 1) } else { (*name).to_owned() };
            let last = name.rsplit([':', '#']).next().unwrap_or_default();
            if command.contains(last) {
                return None;
            }
            let word = around.map(|(begin, end)| format!("{begin}{}{end}", regex::escape(&name)));
            let word = quoted(&word.unwrap_or(name));
            return Some(said(&names, &format!("{} hunts it alone", alone.replace("{}", &word))));
        }
    }
    let names = names(&TAP_COMPILED.0);
    let name = names.first()?;
    let pattern = quoted(&format!("^not ok [0-9]+ (- )?{}\\s*$", regex::escape(name)));
    // What was not UTF-8 is not found again by these words.
    let is_whole = !name.contains(char::REPLACEMENT_CHARACTER);
    (is_whole && (names.len() > 1 || have_run(&TAP_COMPILED.1)))
        .then(|| said(&names, &format!("`--match {pattern}` hunts it alone")))
}

/// A word for the shell: the output of a test may contain anything.
fn quoted(word: &str) -> String {
    let is_plain = shell::quoted(word.as_bytes()) == word.as_bytes();
    if is_plain { word.to_owned() } else { shell::in_quotes(word) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, expected: &str) {
        assert_eq!(hint(output, "make test").unwrap_or_default(), expected, "{output}");
    }

    #[test]
    fn the_first_failing_test_is_named_with_the_command_that_runs_it() {
        check(
            "FAILED tests/test_a.py::T::test_b[1-2] - assert 1 == 2\n=== 1 failed, 4 passed in 0.03s ===\n",
            "The failing test is `tests/test_a.py::T::test_b[1-2]`; other tests pass. `git idd -- pytest 'tests/test_a.py::T::test_b[1-2]'` hunts it alone.",
        );
        check(
            "test a::b ... ok\ntest a::c ... FAILED\n",
            "The failing test is `a::c`; other tests pass. `git idd -- cargo test a::c -- --exact` hunts it alone.",
        );
        check(
            "--- FAIL: TestX (0.00s)\n--- FAIL: TestY (0.00s)\nFAIL\n",
            "The failing test is `TestX`; 1 other test fails. `git idd -- go test -run '^TestX$' ./...` hunts it alone.",
        );
        check(
            "50% tests passed, 1 tests failed out of 2\n\nThe following tests FAILED:\n\t  2 - parse (Failed)\n",
            "The failing test is `parse`; other tests pass. `git idd` with `ctest -R '^parse$'` hunts it alone.",
        );
        check(
            "[ERROR] Failures:\n[ERROR]   FooTest.bar:12 expected: <1> but was: <2>\n[ERROR] Tests run: 3, Failures: 1, Errors: 0\n",
            "The failing test is `FooTest.bar`; other tests pass. `git idd -- mvn test -Dtest='FooTest#bar'` hunts it alone.",
        );
        check(
            "t/a.t (Wstat: 256 Tests: 2 Failed: 1)\nFiles=2, Tests=4, 0 wallclock secs\n",
            "The failing test is `t/a.t`; other tests pass. `git idd -- prove t/a.t` hunts it alone.",
        );
        check(
            "1..2\nok 1 - load\nnot ok 2 - later # TODO\nnot ok 3 - its (1)\n",
            "The failing test is `its (1)`; other tests pass. `--match '^not ok [0-9]+ (- )?its \\(1\\)\\s*$'` hunts it alone.",
        );
    }

    #[test]
    fn a_name_is_a_word_for_the_shell_whatever_it_contains() {
        check(
            "FAILED a$(id).py::bad - x\n=== 1 failed, 4 passed in 0.03s ===\n",
            "The failing test is `a$(id).py::bad`; other tests pass. `git idd -- pytest 'a$(id).py::bad'` hunts it alone.",
        );
        check(
            "50% tests passed, 1 tests failed out of 2\n\nThe following tests FAILED:\n\t  2 - x;id (Failed)\n",
            "The failing test is `x;id`; other tests pass. `git idd` with `ctest -R '^x;id$'` hunts it alone.",
        );
    }

    #[test]
    fn a_test_that_ran_alone_or_that_the_command_names_is_no_news() {
        check("test a::c ... FAILED\n", "");
        check("not ok 1 - load\n", "");
        check("FAIL: parse\nPASS: x\n", "");
        assert_eq!(hint("test a::b ... ok\ntest a::c ... FAILED\n", "cargo test a::c"), None);
    }
}
