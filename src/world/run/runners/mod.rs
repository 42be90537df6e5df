//! Reads which tests failed from what a test runner printed.
//!
//! The name of a test is a part of the failure: another test that fails prints the same assertion easily.

mod formats;

pub use crate::world::run::runners::formats::{FORMATS, RunnerFormat};

use crate::world::run::classify::plain;
use regex::Regex;
use std::sync::LazyLock;

/// What a runner has reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunnerReport {
    /// The name of its format.
    pub format: &'static str,
    /// The failing tests, in the order of the report, each once; not those that fail because a part of them does.
    pub failed: Vec<String>,
    /// The passing tests, if the format lists them.
    passed: Option<Vec<String>>,
    /// What could not be run: parts of the names of its tests.
    lost: Vec<String>,
    /// Whether all tests were run that could be.
    is_whole: bool,
}

/// What a report says of one test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedOutcome {
    /// It failed.
    Failed,
    /// It passed, or the runner would have named it.
    Passed,
    /// It may not have run.
    Absent,
}

struct Compiled {
    format: &'static RunnerFormat,
    failed: Regex,
    passed: Option<Regex>,
    end: Regex,
    lost: Option<Regex>,
}

static COMPILED: LazyLock<Vec<Compiled>> = LazyLock::new(|| {
    let compile = |pattern: &str| Regex::new(&format!("(?m){pattern}")).expect("a valid pattern");
    let of = |format: &'static RunnerFormat| Compiled {
        format,
        failed: compile(format.failed),
        passed: format.passed.map(compile),
        end: compile(format.end),
        lost: format.lost.map(compile),
    };
    FORMATS.iter().map(of).collect()
});

/// The line that stands for the part of an output that was not stored.
const CUT: &str = " bytes cut ...]\n";

impl RunnerReport {
    /// The report in the output of a failing test; `None` if no known runner has named a failing test, and ended.
    pub fn find(output: &str) -> Option<Self> {
        let output = plain(output);
        let compiled = COMPILED.iter().filter(|compiled| compiled.end.is_match(&output));
        compiled.map(|compiled| Self::of(compiled, &output)).find(|report| !report.failed.is_empty())
    }

    /// The report of a runner that is known; `None` if there is none in the output.
    pub fn read(output: &str, format: &str) -> Option<Self> {
        let output = plain(output);
        let compiled = COMPILED.iter().find(|compiled| compiled.format.name == format)?;
        let report = Self::of(compiled, &output);
        (compiled.end.is_match(&output) || !report.failed.is_empty()).then_some(report)
    }

    fn of(Compiled { format, failed, passed, end, lost }: &Compiled, output: &str) -> Self {
        let lost: Vec<_> = lost.iter().flat_map(|lost| lost.captures_iter(output)).collect();
        let is_left_out = lost.iter().any(|found| found.iter().skip(1).all(|group| group.is_none()));
        let mut failed = names(failed, output);
        let all = failed.clone();
        failed.retain(|name| !all.iter().any(|other| is_part(other, name)));
        Self {
            format: format.name,
            failed,
            passed: passed.as_ref().map(|passed| names(passed, output)),
            lost: lost.iter().filter_map(|found| Some(found.get(1)?.as_str().to_owned())).collect(),
            is_whole: end.is_match(output) && !is_left_out && !output.contains(CUT),
        }
    }

    /// What the report says of a test.
    pub fn outcome(&self, name: &str) -> NamedOutcome {
        let is_in = |names: &[String]| names.iter().any(|known| known == name);
        let is_lost = self.lost.iter().any(|lost| name.contains(lost.as_str()));
        match &self.passed {
            _ if is_in(&self.failed) => NamedOutcome::Failed,
            Some(passed) if is_in(passed) => NamedOutcome::Passed,
            None if self.is_whole && !is_lost => NamedOutcome::Passed,
            _ => NamedOutcome::Absent,
        }
    }
}

/// Whether a test is a part of another one, which fails with it.
fn is_part(name: &str, whole: &str) -> bool {
    name.strip_prefix(whole).is_some_and(|rest| rest.starts_with('/'))
}

/// The line of a test in its file, which other changes move.
static LINE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r" \(line \d+\)").expect("a valid pattern"));

/// Headings that look like those of a failing test.
const NOT_TESTS: [&str; 2] = ["Console", "Test suite failed to run"];

/// The names that a pattern finds, each once: the groups of a match, with single spaces.
fn names(pattern: &Regex, output: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for found in pattern.captures_iter(output) {
        let groups = found.iter().skip(1).flatten();
        let words: Vec<&str> = groups.flat_map(|group| group.as_str().split_whitespace()).collect();
        let name = LINE.replace(&words.join(" "), "").into_owned();
        if !name.is_empty() && !NOT_TESTS.contains(&name.as_str()) && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests;
