//! The exact failure: what a candidate must print to count as the failure of the first bad revision.
//!
//! The signature of the search is tolerant, so that one failure is recognised over years of history. Inside one change
//! this would confuse failures: `got 17.35` and `got 18.32` are the same line without numbers.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};

use super::normalise::{DESCRIBED, normalise, without_colours};
use idd_base::{Observation, Outcome, Reason};

/// A text that was cut, or has more lines than this, is not compared line by line.
const MAX_LINES: usize = 5000;

/// The mark at the place where an output was cut.
const CUT: &str = " bytes cut ...]";

/// The level of comparison; each level includes those after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Exactness {
    /// Every printed line is one that either end of the change prints.
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
        Self { exactness, is_mute, line, known, noise }
    }

    /// The exact outcome of an observation, given its outcome in the search.
    pub fn judge(&self, observation: &Observation, tolerant: Outcome) -> Outcome {
        let is_line = |wanted: &String| observation.output.lines().any(|line| form(line) == *wanted);
        match tolerant {
            Outcome::Unresolved(_) => tolerant,
            Outcome::Fail if !self.line.as_ref().is_none_or(is_line) => Outcome::Unresolved(Reason::Other),
            _ if self.exactness == Exactness::Output && self.foreign(observation).is_some() => {
                Outcome::Unresolved(Reason::Other)
            }
            _ => tolerant,
        }
    }

    /// The first line that neither end prints.
    fn foreign(&self, observation: &Observation) -> Option<String> {
        lines(observation).into_iter().find(|line| !self.known.contains(line) && !self.noise.contains(&normalise(line)))
    }
}

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

fn lines(observation: &Observation) -> BTreeSet<String> {
    observation.output.lines().map(form).filter(|line| !line.is_empty()).collect()
}

/// A line without colours, and without parts that change with every candidate or every run: places in sources,
/// addresses, times, versions of `git describe`. Other numbers stay.
pub fn form(line: &str) -> String {
    let mut text = without_colours(line).trim().to_owned();
    for (pattern, replacement) in REPLACEMENTS.iter() {
        if let std::borrow::Cow::Owned(replaced) = pattern.replace_all(&text, *replacement) {
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
    fn places_in_sources_times_and_what_differs_between_runs_do_not_count() {
        let older = ["job 3 done\nok\n", "job 4 done\nok\n"];
        let newer = ["FAIL x.c:12: bad\ntook 12 ms\nTime: 0.12\n", "FAIL x.c:12: bad\ntook 12 ms\nTime: 0.12\n"];
        check(&older, &newer, "job 9 done\nFAIL x.c:17: bad\ntook 99 ms\nTime: 1.5\n", Outcome::Fail, Outcome::Fail);
        check(&older, &newer, "work 9 done\nFAIL x.c:17: bad\n", Outcome::Fail, OTHER);
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
