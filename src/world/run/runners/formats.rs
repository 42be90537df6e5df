//! The formats in which test runners report: a row of patterns for each.

/// How a runner reports. Patterns match lines of the output, without colours.
#[derive(Debug)]
pub struct RunnerFormat {
    /// The runner.
    pub name: &'static str,
    /// What names a failing test: its groups, joined.
    pub failed: &'static str,
    /// What names a passing test, if the runner always lists them.
    pub passed: Option<&'static str>,
    /// What names a test that was skipped.
    pub skipped: Option<&'static str>,
    /// What the runner prints after all tests: without it, a test that is not named may not have run.
    pub end: &'static str,
    /// What names a file, class or module whose tests could not be run (its first group, a part of their names), or says
    /// that tests were left out (no group).
    pub lost: Option<&'static str>,
    /// What names the file or package of the tests around it, and whether it stands after them; a part of their names.
    pub section: Option<(&'static str, bool)>,
    /// Whether a group of tests has a line as a test has, less indented than theirs and after them.
    pub has_groups: bool,
}

const fn row(name: &'static str, failed: &'static str, end: &'static str) -> RunnerFormat {
    RunnerFormat { name, failed, passed: None, skipped: None, end, lost: None, section: None, has_groups: false }
}

impl RunnerFormat {
    const fn passed(self, passed: &'static str) -> Self {
        Self { passed: Some(passed), ..self }
    }

    const fn skipped(self, skipped: &'static str) -> Self {
        Self { skipped: Some(skipped), ..self }
    }

    const fn section(self, section: &'static str) -> Self {
        Self { section: Some((section, false)), ..self }
    }

    const fn section_after(self, section: &'static str) -> Self {
        Self { section: Some((section, true)), ..self }
    }

    const fn groups(self) -> Self {
        Self { has_groups: true, ..self }
    }

    const fn lost(self, lost: &'static str) -> Self {
        Self { lost: Some(lost), ..self }
    }
}

/// All formats. Of several that fit an output, the first counts: special ones stand before those that others imitate.
pub const FORMATS: [RunnerFormat; 36] = [
    row(
        "pytest",
        r"^(?:FAILED|ERROR) (\S+?\.py::.+?)(?: - .*)?$",
        r"^(?:=+ )?(?:\d+ \w+, )*\d+ (?:failed|passed|errors?|skipped|deselected|xfailed|xpassed|warnings?)\b.* in [\d.]+s",
    )
    .lost(r"^ERROR (\S+\.py)(?: - .*)?$|^(?:=+ )?(?:no tests ran|\d+ (?:deselected|skipped)(?:, \d+ (?:deselected|warnings?))*) in |^!+ (?:Interrupted|stopping|xdist.dsession.Interrupted|KeyboardInterrupt)")
    .skipped(r"^(\S+?\.py::\S+) SKIPPED"),
    row("unittest", r"^(?:FAIL|ERROR): (\w+ \([\w.]+\)(?: \(.*\)| \[.*\])?)$", r"^Ran \d+ tests? in ")
        .skipped(r"^(\w+ \([\w.]+\)).* \.\.\. skipped ")
        .lost(r"^ERROR: ([\w.]+) \(unittest\.loader\._FailedTest|^Ran 0 tests in "),
    row("cargo test", r"^test (.+?)(?: - should panic)? \.\.\. FAILED$", r"^test result: ")
        .passed(r"^test (.+?)(?: - should panic)? \.\.\. ok$")
        .skipped(r"^test (.+?)(?: - should panic)? \.\.\. ignored\b"),
    // The binary or crate is named after its tests, if one of them fails.
    row(
        "cargo test -q",
        r"^(?:---- (\S.*?) stdout ----|(\S.*?) --- FAILED)$",
        r"^test result: (?:FAILED|ok\. [1-9]\d* passed)",
    )
        .section_after(r"^error: (?:doc)?test failed, to rerun pass ['`](.+?)['`]"),
    row("nextest", r"^ +(?:FAIL|SIGABRT|SIGSEGV|TIMEOUT) \[ *[\d.]+s\] (?:\( *\d+/\d+\) )?(\S+ \S+)$", r"^ +Summary \[")
        .passed(r"^ +PASS \[ *[\d.]+s\] (?:\( *\d+/\d+\) )?(\S+ \S+)$"),
    row("go test", r"^\s*--- FAIL: (\S+) \(", r"^(?:FAIL\s+\S+\s|ok\s+\S+\s(?:[^\[\n]|\[no s)*$)")
        .section_after(r"^(?:FAIL|ok  )\t(\S+)(?:\t(?:[^\[\n]|\[no s)*)?$")
        .skipped(r"^\s*--- SKIP: (\S+) \(")
        .lost(r"^FAIL\t(\S+) \[(?:build|setup) failed\]|^panic: "),
    row(
        "go test -json",
        r#""Action":"fail",(?:"Package":"([^"]*)",)?"Test":"([^"]*)""#,
        r#""Action":"(?:pass|fail)","Package":"[^"]*","Elapsed""#,
    )
    .passed(r#""Action":"pass",(?:"Package":"([^"]*)",)?"Test":"([^"]*)""#),
    row("vitest", r"^ *(?:FAIL|×) +(\S+\.[cm]?[jt]sx? > .+?)(?: \d+m?s)?$", r"^ +Tests  ")
        .lost(r"^ *FAIL +(\S+\.[cm]?[jt]sx?) \[ "),
    row("jest", r"^ +● (.+?)$", r"^Tests: .*\d+ total$")
        .section(r"^(?:FAIL|PASS) +(\S+)")
        .lost(r"^FAIL +(\S+).*\n +● Test suite failed to run"),
    row("playwright", r"^ +\d+\) (?:\[[^\]]*\] › )?(\S+?)(?::\d+)+ › (.+?) *─*$", r"^ +\d+ (?:failed|passed)"),
    row("busted", r"^(?:Failure|Error) (?:→|->) (\S+) @ \d+\n(.+)$", r"^\d+ success(?:es)? / \d+ failures? / "),
    row("mocha", r"^ +\d+\) (.+?)(?:\n((?: {7,}.+\n)*? {7,}.+))?:$", r"^ +\d+ failing"),
    row("ava", r"^ +✘ \[fail\]: (.+?)(?: (?:Error|Rejected).*)?$", r"^ +\d+ tests? (?:failed|passed)")
        .passed(r"^ +✔ (.+?)(?: \([\d.]+m?s\))?$"),
    row("node:test", r"^ *✖ (.+?) \([\d.]+ms\)", r"^ℹ fail \d+").passed(r"^ *✔ (.+?) \([\d.]+ms\)").groups(),
    row(
        "ctest",
        r"^ *\d+/\d+ +Test +#\d+: (\S+) \.*\*\*\*(?:Failed|Exception|Timeout|Not Run)",
        r"tests passed, \d+ tests? failed out of \d+",
    )
    .passed(r"^ *\d+/\d+ +Test +#\d+: (\S+) \.+ +Passed"),
    row("GoogleTest", r"^\[  FAILED  \] ([\w./<>]+)(?:, where .*)?(?: \(\d+ ms\))?$", r"^\[  PASSED  \] \d+ test")
        .passed(r"^\[       OK \] ([\w./<>]+)(?: \(\d+ ms\))?$"),
    row("Catch2", r"^-{20,}\n(.+)\n(?: +.+\n)*-{20,}\n\S+:\d+\n\.{20,}\n", r"^test cases: +\d+ \|"),
    row("doctest", r"^TEST CASE:  (.+)$", r"^\[doctest\] test cases:"),
    row("Boost.Test", r#"error: in "([^"]+)""#, r"^\*\*\* \d+ failures? (?:is|are) detected"),
    row("Check", r"^\S+:\d+:[FE]:(\S+?:\S+?:\d+):", r"^\d+%: Checks: "),
    row("CUnit", r"^ *Test: (.+?) \.{3} ?FAILED", r"^Run Summary:").passed(r"^ *Test: (.+?) \.{3} ?passed"),
    row("automake", r"^(?:FAIL|ERROR|XPASS): (\S.*)$", r"^# TOTAL: ").passed(r"^PASS: (\S.*)$"),
    row("meson", r"^ *\d+/\d+ (.+?) +(?:FAIL|ERROR|TIMEOUT)\b", r"^Fail: +\d+").passed(r"^ *\d+/\d+ (.+?) +OK\b"),
    row("prove", r"^(\S+\.t) +\(Wstat: ", r"^Files=\d+, Tests=").passed(r"^(\S+\.t) \.+ ok$"),
    row(
        "Surefire",
        r"^\[ERROR\] (?:Tests run: .*|([\w.$]+(?:\(.*?\)|\[.*?\])*)(?: --|  ) ?Time elapsed: .*<<< (?:FAILURE|ERROR)!)",
        r"^\[(?:ERROR|WARNING|INFO)\] Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+$",
    )
    .lost(r"^\[INFO\] \S.* SKIPPED$"),
    row("Gradle", r"^(\w\S*(?: > .+?)+) FAILED$", r"^\d+ tests? completed").lost(r"^> Task :[\w:-]+:test\w* FAILED$"),
    row("JUnit 4", r"^\d+\) (\S.*?\([\w.$]+\))", r"^Tests run: \d+,  Failures: \d+"),
    row("JUnit console", r"^  (JUnit \w+:.+)\n +MethodSource ", r"^\[ *\d+ tests failed +\]"),
    row("RSpec", r"^rspec \S+ # (.+)$", r"^\d+ examples?, \d+ failures?").lost(r"errors? occurred outside of examples"),
    row("minitest", r"^ *(?:\d+\) )?(?:Failure|Error):\n(\S+#.+?)(?: \[.*\])?:$", r"^\d+ (?:runs|tests), \d+ assertions"),
    row("test-unit", r"^(?:Failure|Error): (\w+\([\w:]+\))", r"^\d+ tests, \d+ assertions"),
    row("PHPUnit", r"^\d+\) ([\w\\]+::.+)$", r"^Tests: \d+, Assertions: "),
    row("ExUnit", r"^ +\d+\) (?:test|doctest) (.+ \([\w.]+\))$", r"^\d+ (?:tests?|doctests?), .*\d+ failures?"),
    row("dotnet test", r"^ +Failed (\S.*?)(?: \[.*\])?$", r"^(?:Failed|Passed)! +- Failed: +\d+"),
    row("TAP", r"^ *not ok \d+ (?:- )?([^#\s][^#\n]*?)(?: # time=.*)?$", r"^ *1\.\.\d+$")
        .passed(r"^ *ok \d+ (?:- )?([^#\s][^#\n]*?)(?: # time=.*)?$")
        .lost(r"^Bail out!")
        .groups(),
    // The files that a runner wrote, and not what it printed (`runners/junit.rs`).
    row("JUnit file", r"^JUnit failed: (.+)$", r"^JUnit (?:failed|passed): ").passed(r"^JUnit passed: (.+)$"),
];
