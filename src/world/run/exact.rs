//! The exact failure: what a candidate must print to count as the failure of the first bad revision.
//!
//! The signature of the search is tolerant, so that one failure is recognised over years of history. Inside one change
//! this would confuse failures: `got 17.35` and `got 18.32` are the same line without numbers.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::{Regex, RegexBuilder, RegexSet};

use super::normalise::{DESCRIBED, normalise, without_colours};
use idd_base::{Observation, Outcome, Reason};

/// A text that was cut, or has more lines than this, is not compared line by line.
const MAX_LINES: usize = 5000;

/// The mark at the place where an output was cut.
const CUT: &str = " bytes cut ...]";

/// The level of comparison; each level includes those after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Exactness {
    /// Every printed line is one that either end of the change prints; but for a test that a runner names, what that prints
    /// of all tests does not count.
    Output,
    /// The failure line is the same as printed.
    Line,
    /// The failure line is the same without numbers, paths and times.
    Normalised,
    /// The test has the same ending.
    Ending,
}

impl Exactness {
    /// The stable word for it, as used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Output => "output",
            Self::Line => "line",
            Self::Normalised => "normalised",
            Self::Ending => "ending",
        }
    }
}

/// Whether the middle of an output was dropped.
pub fn is_cut(observation: &Observation) -> bool {
    observation.output.contains(CUT)
}

/// The failure of the newer end of a change, and the output of both ends.
#[derive(Debug, Clone)]
pub struct Exact {
    /// The strictest level that holds between the runs of the newer end.
    pub exactness: Exactness,
    /// Whether the failing end prints no line that the passing one does not print.
    pub is_mute: bool,
    /// The failure line, if it is compared as it was printed.
    line: Option<String>,
    /// The lines of both ends.
    known: BTreeSet<String>,
    /// Lines that differ between two runs of one end, without numbers, paths and times.
    noise: BTreeSet<String>,
    /// Whether a runner names the hunted test. Then its counts, its progress and its lists of other tests do not tell how
    /// that test fails: a change that adds tests changes them.
    is_named: bool,
}

impl Exact {
    /// Learns from at least one run of each end. Only if there are two of each, all that is printed is compared: what changes
    /// from run to run is not known otherwise.
    ///
    /// - `is_failure_line`: whether a line is the failure line of the signature; `None` if the signature has none.
    pub fn new(older: &[Observation], newer: &[Observation], is_failure_line: Option<&dyn Fn(&str) -> bool>) -> Self {
        let lines_of = |runs: &[Observation]| -> Vec<BTreeSet<String>> { runs.iter().map(lines).collect() };
        let (older_lines, newer_lines) = (lines_of(older), lines_of(newer));
        let noise = noise_of(&older_lines).union(&noise_of(&newer_lines)).cloned().collect();
        let known: BTreeSet<String> = older_lines.iter().chain(&newer_lines).flatten().cloned().collect();
        let printed: Option<Vec<String>> = is_failure_line.and_then(|is_failure_line| {
            newer.iter().map(|run| run.output.lines().find(|line| is_failure_line(line)).map(form)).collect()
        });
        let line = printed.and_then(|lines| {
            let first = lines.first()?;
            lines.iter().all(|line| line == first).then(|| first.clone())
        });
        let is_repeatable = [&older_lines, &newer_lines].iter().all(|runs| runs.len() > 1 && is_repeatable(runs));
        let is_whole = is_repeatable && older.iter().chain(newer).all(|run| !is_cut(run)) && known.len() <= MAX_LINES;
        let exactness = match (is_whole, &line, is_failure_line) {
            (true, _, _) => Exactness::Output,
            (false, Some(_), _) => Exactness::Line,
            (false, None, Some(_)) => Exactness::Normalised,
            (false, None, None) => Exactness::Ending,
        };
        let is_mute = newer_lines.iter().flatten().all(|line| older_lines.iter().any(|lines| lines.contains(line)));
        Self { exactness, is_mute, line, known, noise, is_named: false }
    }

    /// The same for a test that a runner names.
    #[must_use]
    pub fn of_named_test(self) -> Self {
        let known = self.known.iter().map(|line| without_number(line)).collect();
        let line = self.line.filter(|line| !RUNNER_LINES.is_match(line)).map(|line| without_number(&line));
        Self { known, line, is_named: true, ..self }
    }

    /// The exact outcome of an observation, given its outcome in the search.
    pub fn judge(&self, observation: &Observation, tolerant: Outcome) -> Outcome {
        let is_line = |wanted: &String| observation.output.lines().any(|line| self.compared(&form(line)) == *wanted);
        match tolerant {
            Outcome::Unresolved(_) => tolerant,
            Outcome::Fail if !self.line.as_ref().is_none_or(is_line) => Outcome::Unresolved(Reason::Other),
            _ if self.exactness == Exactness::Output && self.foreign(observation).is_some() => {
                Outcome::Unresolved(Reason::Other)
            }
            _ => tolerant,
        }
    }

    /// A line as it is compared.
    fn compared<'l>(&self, line: &'l str) -> Cow<'l, str> {
        if self.is_named { without_number(line).into() } else { line.into() }
    }

    /// The first line that neither end prints.
    fn foreign(&self, observation: &Observation) -> Option<String> {
        let is_foreign = |line: &String| {
            if self.is_named && RUNNER_LINES.is_match(line) {
                return false;
            }
            !self.known.contains(&*self.compared(line)) && !self.noise.contains(&normalise(line))
        };
        lines(observation).into_iter().find(is_foreign)
    }
}

/// The line of a test in a list (`not ok 3 - name`, `2) name`) without its number, which changes if there are other tests
/// before it.
fn without_number(line: &str) -> String {
    static NUMBER: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^(?:((?:not )?ok) \d+|\d+\))(?: |$)").expect("a valid pattern"));
    NUMBER.replace(line, "$1 ").into_owned()
}

/// What runners print of all tests together, as [`form`] makes it: counts, progress, what passes; and the frames below a
/// panic of Go, whose arguments are addresses.
static RUNNER_LINES: LazyLock<RegexSet> = LazyLock::new(|| {
    let patterns = [
        r"(?i)^(?:[#ℹ=*-]+ ?)*(?:\[\w+\] )?(?:test files|test suites|tests?(?: run)?|suites|examples?|files|snapshots|assertions|specs|pass(?:ed|ing)?|fail(?:ed|ing|ures)?(?: tests?)?|skipped|todo|cancelled|duration_ms|time)[:=]? *(?:<duration>|\d+(?:\.\d+)?)(?: *(?:$|[,|(/%-])| (?:passed|failed|skipped|todo|total)\b)",
        r"(?i)^(?:[#=*-]+ ?)*\[? *\d+ (?:tests?|examples?|runs?|passed|failed|passing|failing|pending|success(?:es)?|specs?|assertions?|skipped|failures?)\b",
        r"^[.FESsxXI*●◼◌○✱!+-]+(?:\s+(?:\[[ \dN]*%\]|\d+ / \d+ \([ \dN]*%\)))?$|^\S+ [.FEsxX]+\s+\[N%\]$",
        r"^ok(?: \d|\s+\S+\s+(?:<duration>|\[|\(cached\))|$)|^1\.\.\d+$|^# Looks like you \w+ \d|^\S+ \(Wstat: |^\S+\.t \.+|^(?:Failure|Error) (?:->|→) \S+ @ \d+$|^Dubious, test returned|^Non-zero exit status: \d+$",
        r"^[✓✔√❯↓] |^(?:PASS|FAIL|\?)\s+\S+\s+(?:<duration>|\[|\(cached\)|coverage)|^--- PASS: |^=== (?:RUN|PAUSE|CONT|NAME)\b",
        r"^goroutine \d+|^\S+\(.*\b0x.*\)$|^\S+\.go:N \+0x|^created by ",
        r"^running \d+ tests?$|^test result: |^test .* \.\.\. ok$|^Ran \d+ tests? in|^(?:OK|FAILED) \(|^Finished in |^Finished tests|^Run options: |^Randomized with seed|^\d+% tests passed|^\d+/\d+ +Test +#\d+: .* Passed|^Start +\d+: ",
    ];
    RegexSet::new(patterns.map(|pattern| pattern.replace(r"\b", r"(?-u:\b)"))).expect("valid patterns")
});

/// Lines that some run printed and another one did not, without those that are known to differ.
fn noise_of(runs: &[BTreeSet<String>]) -> BTreeSet<String> {
    let is_in_all = |line: &&String| runs.iter().all(|run| run.contains(*line));
    runs.iter().flatten().filter(|line| !is_in_all(line)).map(|line| normalise(line)).collect()
}

/// Whether the runs of one end differ only in parts that are normalised.
fn is_repeatable(runs: &[BTreeSet<String>]) -> bool {
    let kinds: Vec<BTreeSet<String>> =
        runs.iter().map(|run| run.iter().map(|line| normalise(line)).collect()).collect();
    kinds.windows(2).all(|pair| pair[0] == pair[1])
}

/// The lines as they are compared. What builders say of their work depends on what earlier probes have built, so it does not
/// count.
fn lines(observation: &Observation) -> BTreeSet<String> {
    observation.output.lines().map(form).filter(|line| !line.is_empty() && !BUILDER_LINES.is_match(line)).collect()
}

/// Progress of `make`, Ninja, `CMake`, cargo, Maven and Gradle, and that there is nothing to build, as [`form`] makes it.
static BUILDER_LINES: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new([
        r"^\S*make(?:\[\d+\])?: (?:Entering|Leaving|Nothing to be done|.* is up to date\.$)",
        r"^ninja: (?:no work to do|Entering directory)|^\[\d+/\d+\] \S",
        r"^\[N%\] (?:Built target|Building|Linking|Generating|Automatic) |^(?:Scanning dependencies|Consolidate compiler generated dependencies) of ",
        r"^(?:Compiling|Checking|Fresh|Dirty|Downloaded|Documenting) \S+ v\d|^(?:Finished .* target\(s\)|Blocking waiting for|Running (?:unittests|tests/|`))",
        r"^\[INFO\] (?:Nothing to compile|Changes detected|(?:Recompiling|Compiling) \d+ )|^> Task :\S+|^\d+ actionable tasks?: ",
    ])
    .expect("valid patterns")
});

/// A line without colours, and without parts that change with every candidate or every run: places in sources,
/// addresses, times, versions of `git describe`. Other numbers stay.
pub fn form(line: &str) -> String {
    let mut text = without_colours(line).trim().to_owned();
    for (pattern, replacement) in REPLACEMENTS.iter() {
        if let Cow::Owned(replaced) = pattern.replace_all(&text, *replacement) {
            text = replaced;
        }
    }
    text
}

static REPLACEMENTS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        // A candidate has a commit of its own.
        (DESCRIBED, "<version>"),
        // `file.c:12:5`, `File.java:12`, `file.c(12)`, `file", line 12`, `line 12:`.
        (r"([\w>/+-]\.[A-Za-z]\w{0,4})(?::\d+)+", "$1:N"),
        (r"([\w>/+-]\.[A-Za-z]\w{0,4})\(\d+(?:,\d+)?\)", "$1(N)"),
        (r"\bline \d+", "line N"),
        (r"\b0[xX][0-9a-fA-F]{5,}\b", "<address>"),
        (r"==\d+==", "==N=="),
        (r"\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?", "<time>"),
        (r"\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?\b", "<time>"),
        (r"\b\d+(?:[.,]\d+)?(?: ?(?:ns|us|µs|ms|msec|sec|seconds?|milliseconds?)|s)\b", "<duration>"),
        (r"(?i)\b(time|elapsed|duration)(:? ?|=)\d+[.,]\d+\b", "$1$2<duration>"),
        (r"/tmp/[^\s:;,'`()]+", "<path>"),
        (r"\[ *\d+%\]", "[N%]"),
        (r" ?\(core dumped\)", ""),
    ]
    .into_iter()
    .map(|(pattern, replacement)| {
        let pattern = RegexBuilder::new(&pattern.replace(r"\b", r"(?-u:\b)")).build();
        (pattern.expect("a valid pattern"), replacement)
    })
    .collect()
});

#[cfg(test)]
mod tests {
    use super::*;
    use idd_base::{Ending, Stage};
    use std::time::Duration;

    fn seen(output: &str) -> Observation {
        Observation {
            stage: Stage::Test,
            ending: Ending::Exit(1),
            duration: Duration::ZERO,
            limit: Duration::ZERO,
            output: output.to_owned(),
            reported: String::new(),
            is_clean: false,
            is_tampered: false,
            place: None,
        }
    }

    #[track_caller]
    fn check(older: &[&str], newer: &[&str], candidate: &str, tolerant: Outcome, expected: Outcome) {
        let runs = |outputs: &[&str]| outputs.iter().map(|output| seen(output)).collect::<Vec<_>>();
        let is_failure_line = |line: &str| line.starts_with("FAIL");
        let exact = Exact::new(&runs(older), &runs(newer), Some(&is_failure_line));
        assert_eq!(exact.judge(&seen(candidate), tolerant), expected, "{candidate}");
    }

    const OTHER: Outcome = Outcome::Unresolved(Reason::Other);

    #[test]
    fn the_failure_line_counts_with_its_numbers() {
        let (older, newer) = (["ok\n", "ok\n"], ["FAIL: got 17.35\n", "FAIL: got 17.35\n"]);
        check(&older, &newer, "FAIL: got 17.35\n", Outcome::Fail, Outcome::Fail);
        check(&older, &newer, "FAIL: got 18.32\n", Outcome::Fail, OTHER);
        check(&older, &newer, "\x1b[31mFAIL: got 17.35\x1b[0m\n", Outcome::Fail, Outcome::Fail);
    }

    #[test]
    fn a_line_that_neither_end_prints_is_another_behaviour_also_of_a_pass() {
        let (older, newer) = (["a\nok\n", "a\nok\n"], ["a\nFAIL\n", "a\nFAIL\n"]);
        check(&older, &newer, "a\nFAIL\nb\n", Outcome::Fail, OTHER);
        check(&older, &newer, "a\nok\nempty table\n", Outcome::Pass, OTHER);
        check(&older, &newer, "ok\n", Outcome::Pass, Outcome::Pass);
    }

    #[test]
    fn what_a_runner_counts_does_not_count_where_it_names_the_test() {
        let named = |older: &str, newer: &str, candidate: &str, tolerant: Outcome| {
            let runs = |output: &str| [seen(output), seen(output)];
            let is_failure_line = |line: &str| line.starts_with("FAIL") || line.starts_with("not ok");
            Exact::new(&runs(older), &runs(newer), Some(&is_failure_line))
                .of_named_test()
                .judge(&seen(candidate), tolerant)
        };
        let (older, newer) = (
            "✓ test/q.test.ts (28 tests) 9ms\n Tests  28 passed (28)\n",
            "FAIL test/q.test.ts > a\nAssertionError: 1\n Tests  1 failed | 36 passed (37)\n",
        );
        let failed = "FAIL test/q.test.ts > a\nAssertionError: 1\n Tests  1 failed | 30 passed (31)\n";
        assert_eq!(named(older, newer, failed, Outcome::Fail), Outcome::Fail);
        let passed = "✓ test/q.test.ts (34 tests) 9ms\n Tests  34 passed (34)\n";
        assert_eq!(named(older, newer, passed, Outcome::Pass), Outcome::Pass);
        let otherwise = "FAIL test/q.test.ts > a\nReferenceError: f\n Tests  1 failed | 30 passed (31)\n";
        assert_eq!(named(older, newer, otherwise, Outcome::Fail), OTHER);
        let (older, newer) = ("1..2\nok 1 - a\nok 2 - b\n", "1..3\nok 1 - new\nnot ok 2 - a\n# at a.t\nok 3 - b\n");
        assert_eq!(named(older, newer, "1..2\nnot ok 1 - a\n# at a.t\nok 2 - b\n", Outcome::Fail), Outcome::Fail);
        let counts = [
            "# tests 5",
            "ℹ fail 1",
            "Files=1, Tests=132, 3 wallclock secs",
            "Failed 1/132 subtests",
            "Failed tests:  44-46, 48",
            "Non-zero exit status: 9",
            "Failed test:  44",
            "3 examples, 1 failure",
            "5 runs, 5 assertions, 1 failures",
            "..F.",
            "ok  \tm\t(cached)",
            "Tests: 6, Assertions: 6, Failures: 1.",
            ".....F  6 / 6 (100%)",
            "# Looks like you failed 1 test of 132.",
            "=== 1 failed, 3 passed in 0.2s ===",
            "t/a.t (Wstat: 256 (exited 1) Tests: 132 Failed: 1)",
            "\t/x/encode.go:555 +0x285",
            "goroutine 34 [running]:",
        ];
        for line in counts {
            assert_eq!(named("a\n", "FAIL a\n", &format!("FAIL a\n{line}\n"), Outcome::Fail), Outcome::Fail, "{line}");
        }
    }

    #[test]
    fn places_in_sources_times_and_what_differs_between_runs_do_not_count() {
        let older = ["job 3 done\nok\n", "job 4 done\nok\n"];
        let newer = ["FAIL x.c:12: bad\ntook 12 ms\nTime: 0.12\n", "FAIL x.c:12: bad\ntook 12 ms\nTime: 0.12\n"];
        check(&older, &newer, "job 9 done\nFAIL x.c:17: bad\ntook 99 ms\nTime: 1.5\n", Outcome::Fail, Outcome::Fail);
        check(&older, &newer, "work 9 done\nFAIL x.c:17: bad\n", Outcome::Fail, OTHER);
    }

    #[test]
    fn what_a_builder_says_of_its_work_does_not_count() {
        let (older, newer) =
            (["cc -o p p.c\nok\n", "cc -o p p.c\nok\n"], ["cc -o p p.c\nFAIL\n", "cc -o p p.c\nFAIL\n"]);
        let said = [
            "make: Nothing to be done for 'all'.",
            "make[2]: Entering directory '/tmp/x'",
            "make: 'p' is up to date.",
            "ninja: no work to do.",
            "[3/17] Building C object p.o",
            "[ 50%] Built target p",
            "   Compiling p v0.1.0 (/tmp/p)",
            "    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.03s",
            "     Running unittests src/lib.rs (target/debug/deps/p-0a1b)",
            "[INFO] Nothing to compile - all classes are up to date.",
            "> Task :compileJava UP-TO-DATE",
            "3 actionable tasks: 1 executed, 2 up-to-date",
        ];
        for line in said {
            check(&older, &newer, &format!("{line}\nFAIL\n"), Outcome::Fail, Outcome::Fail);
        }
        check(&older, &newer, "make: *** [p] Error 1\nFAIL\n", Outcome::Fail, OTHER);
        check(&older, &newer, "Compiling a pattern\nFAIL\n", Outcome::Fail, OTHER);
    }

    #[test]
    fn where_the_line_differs_between_runs_its_kind_is_compared() {
        let newer = ["FAIL: got 17\n", "FAIL: got 18\n"];
        check(&["ok\n", "ok\n"], &newer, "FAIL: got 19\n", Outcome::Fail, Outcome::Fail);
        check(&["ok\n", "ok\n"], &newer, "FAIL: nothing\n", Outcome::Fail, OTHER);
    }

    #[test]
    fn with_one_run_of_an_end_only_the_failure_line_is_compared() {
        let (older, newer) = (["ok in 7 steps\n"], ["FAIL: got 17\n", "FAIL: got 17\n"]);
        check(&older, &newer, "ok in 9 steps\n", Outcome::Pass, Outcome::Pass);
        check(&older, &newer, "FAIL: got 18\n", Outcome::Fail, OTHER);
    }

    #[test]
    fn random_lines_do_not_count_but_the_failure_line_does() {
        let (older, newer) = (["qx7\nok\n", "zu3\nok\n"], ["ab1\nFAIL: got 17\n", "cd2\nFAIL: got 17\n"]);
        check(&older, &newer, "ef9\nFAIL: got 17\n", Outcome::Fail, Outcome::Fail);
        check(&older, &newer, "ef9\nFAIL: got 18\n", Outcome::Fail, OTHER);
        check(&older, &newer, "gh8\nok\n", Outcome::Pass, Outcome::Pass);
    }

    #[test]
    fn a_test_that_prints_the_same_at_both_ends_is_mute() {
        let exact = |older: &str, newer: &str| Exact::new(&[seen(older)], &[seen(newer)], None);
        assert!(exact("", "").is_mute);
        assert!(exact("a\n", "a\n").is_mute);
        assert!(!exact("a\n", "b\n").is_mute);
    }
}
