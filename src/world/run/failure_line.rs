//! Finds the line of an output that best explains why the program failed.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use super::normalise::{normalise, without_colours};

/// The normalised line of `output` that best explains the failure; `None` if there is only noise.
///
/// It is the first line of the best kind that occurs (a sanitizer's headline, an assertion, ..., any line with
/// `failed`), or else the last line that is not a runner's footer.
pub fn failure_line(output: &str) -> Option<String> {
    telling_line(output).or_else(|| {
        let output = without_colours(output);
        lines(&output).filter(|line| !is_noise(line)).last().map(normalise)
    })
}

/// As [`failure_line`], but only a line that is known to report a failure, without a fallback.
pub(super) fn telling_line(output: &str) -> Option<String> {
    let output = without_colours(output);
    let lines: Vec<&str> = lines(&output).collect();
    let mut best: Option<(usize, usize)> = None;
    for (index, line) in lines.iter().enumerate() {
        if !is_noise(line)
            && let Some(kind) = TELLING.matches(line).iter().min()
            && best.is_none_or(|(best_kind, _)| kind < best_kind)
        {
            best = Some((kind, index));
        }
    }
    let (_, index) = best?;
    Some(normalise(reason(&lines[index..])))
}

/// The line with the reason of a failure: the first of these, or what follows a headline.
fn reason<'o>(lines: &[&'o str]) -> &'o str {
    let line = lines[0];
    if NAMED_HEADLINE.is_match(line) {
        // The name of the test, then the reason, or what differs.
        let is_of_difference = |line: &str| ["---", "+++", "@@"].iter().any(|head| line.starts_with(head));
        return lines[1..].iter().skip(1).find(|line| !is_of_difference(line)).unwrap_or(&line);
    }
    lines.get(1).filter(|_| HEADLINE.is_match(line)).unwrap_or(&line)
}

/// Whether a line is known to report a failure.
pub fn is_telling(line: &str) -> bool {
    !is_noise(line) && TELLING.is_match(line)
}

fn lines(output: &str) -> impl Iterator<Item = &str> {
    output.lines().filter(|line| line.contains(|c: char| !c.is_whitespace() && !c.is_control()))
}

fn is_noise(line: &str) -> bool {
    NOISE.is_match(line)
}

/// Word boundaries are those of ASCII: others would make every line with non-ASCII text slow.
fn compile(patterns: &[&str]) -> RegexSet {
    RegexSet::new(patterns.iter().map(|pattern| pattern.replace(r"\b", r"(?-u:\b)"))).expect("valid patterns")
}

/// Kinds of lines that report a failure, the best first.
static TELLING: LazyLock<RegexSet> = LazyLock::new(|| {
    compile(&[
        // Sanitizers, valgrind, the allocator.
        r"(?:ERROR|WARNING): \w+Sanitizer: |^\S+:\d+:\d+: runtime error: ",
        r"^==\d+== (?:Invalid |Conditional jump|Use of uninit|Mismatched free|Jump to the invalid|Process terminating)",
        r"double free or corruption|stack smashing detected|buffer overflow detected|corrupted (?:size|double|unsorted)|^(?:malloc|free|realloc|munmap_chunk|malloc_consolidate)\w*\(\): ",
        // Assertions, with what was asserted.
        r"[Aa]ssertion [`'\x22‘].*failed|[Aa]ssertion failed|ASSERT(?:ION)? (?:FAILED|failed)|[Aa]ssertion .* failed|Check failed: ",
        r"\bpanicked at |^panic: |^\s*fatal runtime error: ",
        r"^\s*(?:E\s+)?(?:[A-Za-z_]\w*\.)*Assertion(?:Failed)?Error\b|^\s*(?:[a-z]\w*\.)+(?:ComparisonFailure|\w*MultipleFailuresError)\b",
        r"^E\s{3,}\S",
        r"^\s*● +process\.exit called with ",
        // Uncaught exceptions.
        r"^(?:Uncaught |Unhandled )?[Ee]xception in thread |terminate called after throwing|^Unhandled exception",
        r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?:: |$)",
        r"^\s*Caused by: ",
        // Messages of compilers and linkers.
        r"^[^\s:]+:\d+(?::\d+)?: (?:fatal )?error: |^error\[E\d+\]: |: undefined reference to |^[^\s:]+\.java:\d+: error: |^CMake Error\b",
        // One failed check, as test frameworks report it.
        r"(?i)\bexpected\b.*\b(?:got|but|actual|was|received|found|instead)\b|\b(?:got|actual|was|received)\b.*\bexpected\b",
        r"^not ok\b|^\s*--- FAIL: |^\[\s+FAILED\s+\] |^\s*#\s+Failed (?:\([A-Z]+\) )?test\b|^(?:FAIL|FAILED|XPASS|ERROR): |^Failed asserting that |^FAIL(?:ED)?[ :]|^\S+ \.\.\. FAILED$|: Failure$",
        r"^\s*[✗✘✖✕❌]\s*\S",
        r"(?i)\b(?:files? .* differ|differ: |mismatch|do(?:es)? not match)",
        // Crashes, as a shell reports them.
        r"\b(?:Segmentation fault|Bus error|Illegal instruction|Floating point exception|Aborted|Trace/breakpoint trap|stack overflow)\b",
        // Messages of programs.
        r"(?i)(?:^|[\s:\[])(?:fatal(?: error)?|panic|bug|internal error)\b\s*[\]:]",
        r"(?i)(?:^|[\s:\[])error\b\s*[\]:]",
        r"\bERROR\b|\bFAIL(?:ED|URE)?\b",
        r"(?i)\b(?:fail(?:s|ed|ure|ures)?|cannot|could not|unable to|not found|no such file|permission denied|invalid|undefined|unexpected|exception|wrong|missing|abort(?:ed|ing)?)\b",
    ])
});

/// Lines with the place of a failure whose reason is in the next line.
static HEADLINE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\bpanicked at .*:\d+:\d+:$|[Ee]xpected equality of these values:$|: Failure$|^CMake Error at .*:$")
        .expect("a valid pattern")
});

/// The headline of a test that fails in minitest, or in busted.
static NAMED_HEADLINE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^ +\d+\) (?:Failure|Error):$|^(?:Failure|Error) (?:->|→) \S+ @ \d+$").expect("a valid pattern")
});

/// Lines that runners, build tools and shells add to every failure.
static NOISE: LazyLock<RegexSet> = LazyLock::new(|| {
    compile(&[
        // Frames of a backtrace of Rust.
        r"^\s*\d+:\s+(?:0x[0-9a-f]+|<address>) - ",
        // Excerpts of sources.
        r"^\s*>?\s*\d+ \|(?:\s|$)|^\s*\|\s*\^",
        r"^\S*make(?:\[\d+\])?: (?:\*\*\* \[|\*\*\* Waiting|Entering|Leaving|Target .* not remade|Nothing to be done|.* is up to date|.*\(ignored\)$)",
        r"(?i)^(?:(?:the |process |command |child |\S+: )*)exit(?:ed)?(?: with)?(?: status| code| value)?:? \d+\.?\s*$|\breturned non-zero exit status \d+\.?$",
        r"^ninja: build stopped|^FAILED: meson-|^Errors while running CTest|^The following tests FAILED:|^\d+% tests passed",
        r"^error: test failed, to rerun pass|^error: \d+ targets? failed|^note: (?:run with|Some details)|^test result: |^failures:$|^stack backtrace:|^warning: ",
        r"^(?:FAIL|FAILED)$|^(?:FAIL|ok)\s+\S+\s+[\d.]+m?s$|^PASS\b|^ok \d",
        r"^\[(?:ERROR|INFO)\] *(?:$|-{3,}|BUILD |Total time|Finished at|Final Memory|Re-run Maven|To see the full stack|For more information|\[Help \d|-> \[Help|After correcting|Please refer|Failed to execute goal .*surefire|There are test failures|Tests run: |Results:|Failures:? *$|mvn <)",
        r"^\* (?:What went wrong|Try|Get more help)|^> (?:Run with|Get more help|There were failing tests)|^BUILD FAILED|^FAILURE: Build failed|^\d+ actionable task|^Execution failed for task",
        r"^=+ .*(?:failed|passed|error|FAILURES|ERRORS|short test summary|test session).* =+$|^={3,}$|^-{3,}$|^_{3,}.*_{3,}$|^#{3,}$|^(?:FAILED|OK) \((?:failures|errors|skipped)=",
        // Lua: the message precedes the traceback.
        r"^stack traceback:$|^\s*\[C\]: (?:in \S|\?$)|^\s+\S+: in (?:main chunk|(?:upvalue|local|function|method|field|global|metamethod|for iterator)\b)",
        // Summaries.
        r"(?i)\b\d+ (?:of|out of|/) \d+ (?:tests?|checks?|assertions?) (?:passed|ok|succeeded)\b|^\s*✖ (?:failing tests:$|\d+ problems?\b)",
        // What is left out, and what prove and `PHPUnit` count.
        r"(?i)^\s*skipp(?:ing|ed)\b",
        r"^\s*# Looks like you failed \d|^Dubious, test returned \d|^Failed \d+/\d+ subtests|^\s+Failed tests?: +\d|^Result: FAIL$|^There (?:was|were) \d+ (?:failure|error)s?:$|^FAILURES!$|^ERRORS!$|^\d+ success(?:es)? / \d+ failures? / ",
        // All but `Missing script`.
        r"^npm (?:ERR!|error)(?:\s*$| +(?:[^M\s]|M[^i]))|^Traceback \(most recent call last\)|^During handling of|^\s+at \S+\(.*\)$|^\s+at .*:\d+:\d+\)?$|^goroutine \d|^\s+\.\.\. \d+ more",
        r"^# (?:TOTAL|PASS|SKIP|XFAIL|FAIL|XPASS|ERROR): |^See \S*test-suite\.log|^\[\.\.\. \d+ bytes cut \.\.\.\]$|^1\.\.\d+$",
        r"^\[\s+(?:FAILED|PASSED)\s+\] \d+ tests?|^\s*\d+ FAILED TESTS?$|^collect2: error: ld returned|^\d+ errors? generated\.|^error: aborting due to|^For more information about this error|^Some errors have detailed",
    ])
});

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, expected: &str) {
        assert_eq!(failure_line(output).as_deref(), Some(expected), "{output}");
    }

    #[test]
    fn the_message_of_lua_stands_before_its_traceback() {
        let output = "lua: t.lua:3: attempt to index a nil value (field 'x')\nstack traceback:\n\
                      \tt.lua:3: in local 'f'\n\tt.lua:5: in main chunk\n\t[C]: in ?\n";
        check(output, "lua: t.lua:N: attempt to index a nil value (field 'x')");
    }

    #[test]
    fn the_reason_is_found_in_the_outputs_of_prove_minitest_and_an_old_lua() {
        check(
            "lua: t.lua:5: gave /x\nstack traceback:\n\t[C]: in function 'assert'\n\tt.lua:5: in main chunk\n\t[C]: ?\n",
            "lua: t.lua:N: gave <path>",
        );
        check(
            "#   Failed test 'more classes'\n#   at t/dom.t line 1090.\n# Looks like you failed 1 test of 132.\nt/dom.t .. \n\
             Dubious, test returned 1 (wstat 256, 0x100)\nFailed 1/132 subtests \n  Failed test:  44\nResult: FAIL\n",
            "# Failed test 'more classes'",
        );
        check(
            "Skipping latex tests because latex is missing\n  1) Failure:\nTestA#test_b [a.rb:60]:\n--- expected\n\
             +++ actual\n@@ -1 +1 @@\n-\"x\"\n+\"y\"\n\n1 runs, 1 assertions, 1 failures, 0 errors, 0 skips\n",
            "-\"x\"",
        );
        check(
            "-+\n1 success / 1 failure / 0 errors / 0 pending : 0.1 seconds\n\nFailure -> spec/a.lua @ 3\nm area\n\
             spec/a.lua:4: Expected objects to be equal.\n",
            "<path>/a.lua:N: Expected objects to be equal.",
        );
        check("  1) Failure:\nTestA#test_b [a.rb:60]:\nExpected: 3\n  Actual: 4\n", "Expected: N");
        check(
            "1) ATest::testB\nFailed asserting that 3 is 4.\n\na.php:12\n\nFAILURES!\n",
            "Failed asserting that N is N.",
        );
    }

    #[test]
    fn the_error_of_cmake_tells_more_than_the_build_that_failed_with_it() {
        check(
            "[0/1] Re-running CMake...\nCMake Error at CMakeLists.txt:2 (cmake_minimum_required):\n  Compatibility with CMake < 3.5 \
             has been removed from CMake.\n\n-- Configuring incomplete, errors occurred!\nFAILED: [code=1] build.ninja \n",
            "Compatibility with CMake < N has been removed from CMake.",
        );
    }

    #[test]
    fn a_check_with_a_cross_tells_more_than_the_summary_after_it() {
        check(
            "✘ L:3 constant condition: x is \"B\"\nFinished suite idd in 0.003 seconds - 1 of 2 tests passed.\n",
            "✘ L:N constant condition: x is \"B\"",
        );
        check("  ✖ adds (0.5ms)\n\n✖ failing tests:\n\nTypeError: no\n", "TypeError: no");
    }

    #[test]
    fn a_frame_of_a_backtrace_tells_nothing() {
        check(
            "it went wrong here\n  11:     0x55d0c3 - <alloc[fd]::boxed::Box<dyn Fn(&PanicHookInfo)> as Fn>::call: failed\n",
            "it went wrong here",
        );
    }

    #[test]
    fn a_line_of_a_source_excerpt_tells_nothing() {
        check(
            "  ● process.exit called with \"1\"\n\n      829 |   /**\n    > 830 |    * Error: failed\n          |    ^\n",
            "● process.exit called with \"N\"",
        );
        check(
            "npm error code EX\nnpm error Missing script: \"b\"\nnpm error To see a list\n",
            "npm error Missing script: \"b\"",
        );
        check("it went wrong here\n  12 | x = 1\n     |     ^\n", "it went wrong here");
    }

    #[test]
    fn an_assertion_outranks_what_make_and_the_shell_add() {
        check(
            "running 3 tests\n\
             error: warming up\n\
             t: src/list.c:88: list_pop: Assertion `list->n > 0' failed.\n\
             /bin/sh: line 1: 4711 Aborted                 (core dumped) ./t\n\
             make[1]: *** [Makefile:12: check] Error 134\n\
             make[1]: Leaving directory '/home/me/x'\n\
             make: *** [Makefile:3: all] Error 2\n",
            "t: <path>/list.c:N: list_pop: Assertion `list->n > N' failed.",
        );
    }

    #[test]
    fn a_sanitizer_headline_outranks_everything() {
        check(
            "test 1: failed\n=================================================================\n\
             ==99==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000014 at pc 0x1\n\
             SUMMARY: AddressSanitizer: heap-buffer-overflow /x/list.c:3:9 in pop\n==99==ABORTING\n",
            "==N==ERROR: AddressSanitizer: heap-buffer-overflow on address <address> at pc <address>",
        );
    }

    #[test]
    fn a_rust_panic_is_told_by_its_message() {
        check(
            "running 1 test\ntest a ... FAILED\n\nthread 'a' (77) panicked at src/lib.rs:3:5:\nno such key: 12\n\
             note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\
             test result: FAILED. 0 passed; 1 failed; finished in 0.00s\n\nerror: test failed, to rerun pass `--lib`\n",
            "no such key: N",
        );
        check(
            "thread 'a' panicked at src/lib.rs:3:5:\nassertion `left == right` failed\n  left: 1\n right: 2\n",
            "assertion `left == right` failed",
        );
    }

    #[test]
    fn exceptions_of_java_and_python_are_told() {
        check(
            "Exception in thread \"main\" java.lang.IllegalStateException: no key k7\n\tat a.B.c(B.java:12)\n\
             [ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.0.0:test\n",
            "Exception in thread \"main\" java.lang.IllegalStateException: no key k7",
        );
        check(
            "Traceback (most recent call last):\n  File \"/w/t.py\", line 3, in <module>\n    f()\nValueError: bad 3\n",
            "ValueError: bad N",
        );
        check(
            "    def test_x():\n>       assert f() == 2\nE       assert 1 == 2\n\nt.py:3: AssertionError\n=== 1 failed in 0.02s ===\n",
            "E assert N == N",
        );
    }

    #[test]
    fn one_failed_check_outranks_a_summary() {
        check("ok 1 - a\nnot ok 2 - parse\n# FAIL: 1\nexit status 1\n", "not ok N - parse");
        check(
            "--- FAIL: TestX (0.00s)\n    x_test.go:12: expected 3, got 4\nFAIL\nexit status 1\nFAIL\tx/y\t0.003s\n",
            "x_test.go:N: expected N, got N",
        );
        check(
            "PASS: a\nFAIL: parse-utf8\n# FAIL:  1\nSee ./test-suite.log\nmake: *** [check] Error 1\n",
            "FAIL: parse-utf8",
        );
        check(
            "FAIL: expected exit status 0, got 3\nProcess exited with code 1\n",
            "FAIL: expected exit status N, got N",
        );
        check("x.txt y.txt differ: byte 7, line 2\n", "x.txt y.txt differ: byte N, line N");
    }

    #[test]
    fn a_crash_is_told_by_the_shell() {
        check(
            "starting\n./t.sh: line 3: 812 Segmentation fault (core dumped) ./prog\n",
            "<path>/t.sh: line N: N Segmentation fault <path>",
        );
    }

    #[test]
    fn a_compiler_error_is_told_by_its_first_message() {
        check(
            "cc -c x.c\nx.c: In function 'main':\nx.c:3:5: error: 'y' undeclared (first use in this function)\n\
             x.c:9:1: error: expected ';' before '}' token\nmake: *** [Makefile:2: x.o] Error 1\n",
            "x.c:N:N: error: 'y' undeclared (first use in this function)",
        );
    }

    #[test]
    fn without_a_telling_line_the_last_one_that_is_not_noise_is_taken() {
        check("loading\nsum is 41\nmake: *** [Makefile:2: test] Error 1\n\n", "sum is N");
        check("\x1b[31msum is 41\x1b[0m\n", "sum is N");
        assert_eq!(telling_line("loading\nsum is 41\n"), None);
    }

    #[test]
    fn noise_alone_is_no_failure_line() {
        assert_eq!(failure_line(""), None);
        assert_eq!(failure_line("\n \nmake: *** [Makefile:2: test] Error 1\nexit status 3\n"), None);
    }
}
