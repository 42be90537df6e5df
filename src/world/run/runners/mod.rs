//! Reads which tests failed from what a test runner printed, or from the files that it wrote.
//!
//! The name of a test is a part of the failure: another test that fails prints the same assertion easily.

mod formats;
pub mod junit;

pub use crate::run::runners::formats::{FORMATS, RunnerFormat};

use crate::run::classify::plain;
use crate::run::table::ran_nothing_at_all;
use idd_base::Observation;
use regex::Regex;
use std::collections::HashSet;
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
    /// The tests that were skipped, as far as the format names them.
    skipped: Vec<String>,
    /// What could not be run: parts of the names of its tests.
    lost: Vec<String>,
    /// The files or packages with which the names begin, if the format has them.
    sections: Vec<String>,
    /// Whether all tests were run that could be.
    is_whole: bool,
    /// Whether a part of the output was not stored.
    is_cut: bool,
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

/// A format with its patterns.
struct CompiledFormat {
    format: &'static RunnerFormat,
    failed: Regex,
    passed: Option<Regex>,
    skipped: Option<Regex>,
    end: Regex,
    lost: Option<Regex>,
    section: Option<(Regex, bool)>,
}

static COMPILED: LazyLock<Vec<CompiledFormat>> = LazyLock::new(|| {
    let compile = |pattern: &str| Regex::new(&format!("(?m){pattern}")).expect("a valid pattern");
    let of = |format: &'static RunnerFormat| CompiledFormat {
        format,
        failed: compile(format.failed),
        passed: format.passed.map(compile),
        skipped: format.skipped.map(compile),
        end: compile(format.end),
        lost: format.lost.map(compile),
        section: format.section.map(|(section, is_after)| (compile(section), is_after)),
    };
    FORMATS.iter().map(of).collect()
});

/// The names of groups of tests: a failing one stands right after a failing member, and is less indented, wherever it stands.
fn groups<'o>(pattern: &Regex, output: &'o str) -> HashSet<&'o str> {
    let (mut groups, mut tests) = (HashSet::new(), HashSet::new());
    let mut last = 0;
    for found in pattern.captures_iter(output) {
        let (line, Some(name)) = (&found[0], found.get(1)) else { continue };
        let indentation = line.len() - line.trim_start().len();
        let kind = if indentation < last { &mut groups } else { &mut tests };
        kind.insert(name.as_str());
        last = indentation;
    }
    groups.retain(|name| !tests.contains(name));
    groups
}

/// The line that stands for the part of an output that was not stored.
pub(super) const CUT: &str = " bytes cut ...]\n";

impl RunnerReport {
    /// The report of a failing run: that which the runner printed, or else that of its files.
    pub fn of_run(seen: &Observation) -> Option<Self> {
        Self::find(&seen.output).or_else(|| Self::find(&seen.reported))
    }

    /// The report of a run by a runner that is known.
    pub fn of_run_by(seen: &Observation, format: &str) -> Option<Self> {
        Self::read(&seen.output, format).or_else(|| Self::read(&seen.reported, format))
    }

    /// The report in the output of a failing test; `None` if no known runner has named a failing test, and ended.
    fn find(output: &str) -> Option<Self> {
        let output = plain(output);
        let compiled = COMPILED.iter().filter(|compiled| compiled.end.is_match(&output));
        compiled.map(|compiled| Self::of(compiled, &output)).find(|report| !report.failed.is_empty())
    }

    /// The report of a runner that is known; `None` if there is none in the output.
    fn read(output: &str, format: &str) -> Option<Self> {
        let output = plain(output);
        let compiled = COMPILED.iter().find(|compiled| compiled.format.name == format)?;
        let report = Self::of(compiled, &output);
        (compiled.end.is_match(&output) || !report.failed.is_empty()).then_some(report)
    }

    fn of(
        CompiledFormat { format, failed: failed_pattern, passed, skipped, end, lost, section }: &CompiledFormat,
        output: &str,
    ) -> Self {
        let sections = Sections::find(section.as_ref(), output);
        let names = |pattern: &Regex| names(pattern, &sections, output);
        let lost: Vec<_> = lost.iter().flat_map(|lost| lost.captures_iter(output)).collect();
        let is_cut = output.contains(CUT);
        let is_left_out = lost.iter().any(|found| found.iter().skip(1).all(|group| group.is_none()));
        let mut failed = names(failed_pattern);
        let all = failed.clone();
        let wholes: HashSet<&str> = all.iter().flat_map(|name| wholes(name)).collect();
        failed.retain(|name| !wholes.contains(name.as_str()));
        if format.has_groups {
            let groups = groups(failed_pattern, output);
            failed.retain(|name| !groups.contains(name.as_str()));
        }
        Self {
            format: format.name,
            failed,
            passed: passed.as_ref().map(names),
            skipped: skipped.as_ref().map(names).unwrap_or_default(),
            lost: lost.iter().filter_map(|found| Some(found.get(1)?.as_str().to_owned())).collect(),
            sections: sections.places.iter().map(|(_, name)| (*name).to_owned()).collect(),
            is_whole: end.is_match(output) && !is_left_out && !is_cut,
            is_cut,
        }
    }

    /// Whether the runner names a file, class or module whose tests could not be run.
    pub fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Whether it has run all its tests, as far as it says.
    pub fn has_run_all(&self) -> bool {
        self.is_whole && !self.has_lost()
    }

    /// What follows the last line in which this runner names a failing test or its end: the output of other commands.
    pub fn rest_of(&self, output: &str) -> String {
        let mut output = plain(output);
        let compiled = COMPILED.iter().find(|compiled| compiled.format.name == self.format);
        let patterns = compiled.into_iter().flat_map(|compiled| [&compiled.failed, &compiled.end]);
        let ends = patterns.filter_map(|pattern| pattern.find_iter(&output).last()).map(|found| found.end());
        let end = ends.max().unwrap_or(output.len());
        output.split_off(end)
    }

    /// Whether a test has certainly not run: the runner says that it skipped this test; or it lists those that pass, or says
    /// that it ran nothing, and this one is not named. A name that stands anywhere else in the output may have passed.
    ///
    /// - `has_run_nothing`: what the runner says, at least of one part.
    pub fn lacks(&self, name: &str, output: &str, has_run_nothing: bool) -> bool {
        let is_listed = self.passed.as_ref().is_none_or(|passed| !passed.is_empty()) || has_run_nothing;
        let is_skipped = self.skipped.iter().any(|skipped| skipped == name);
        let are_all_skipped = self.passed.is_none() && self.is_whole && ran_nothing_at_all(output).is_some();
        is_skipped
            || are_all_skipped
            || !self.is_cut && is_listed && self.outcome(name) == NamedOutcome::Absent && !names_in_part(name, output)
    }

    /// Whether the runner names the tests that pass.
    pub fn names_passing(&self) -> bool {
        self.passed.is_some()
    }

    /// What the report says of a test.
    pub fn outcome(&self, name: &str) -> NamedOutcome {
        let is_in = |names: &[String]| names.iter().any(|known| known == name);
        let begins = |section: &String| name.strip_prefix(section).is_some_and(|rest| rest.starts_with(' '));
        let is_lost = if self.sections.is_empty() {
            self.lost.iter().any(|lost| name.contains(lost))
        } else {
            self.lost.iter().any(begins) || !self.sections.iter().any(begins)
        };
        match &self.passed {
            _ if is_in(&self.failed) => NamedOutcome::Failed,
            Some(passed) if is_in(passed) => NamedOutcome::Passed,
            None if self.is_whole && !is_lost => NamedOutcome::Passed,
            _ => NamedOutcome::Absent,
        }
    }
}

/// Whether a word of the name of a test stands in an output. A file or package with which the name begins is no such word.
pub fn names_in_part(name: &str, output: &str) -> bool {
    let words = || name.split([' ', '(', ')']).filter(|word| word.len() > 2);
    let n_first = usize::from(words().nth(1).is_some());
    words().skip(n_first).any(|word| output.contains(word))
}

/// The tests of which a test is a part, and which fail with it.
fn wholes(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('/').map(|(at, _)| &name[..at])
}

/// The line of a test in its file, which other changes move.
static LINE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r" \(line \d+\)").expect("a valid pattern"));

/// Headings that look like those of a failing test.
const NOT_TESTS: [&str; 2] = ["Console", "Test suite failed to run"];

/// Where the names of files or packages stand in an output.
struct Sections<'o> {
    places: Vec<(usize, &'o str)>,
    is_after: bool,
}

impl<'o> Sections<'o> {
    fn find(pattern: Option<&(Regex, bool)>, output: &'o str) -> Self {
        let place = |found: regex::Captures<'o>| found.get(1).map(|name| (name.start(), name.as_str()));
        let places = pattern.iter().flat_map(|(pattern, _)| pattern.captures_iter(output)).filter_map(place).collect();
        Self { places, is_after: pattern.is_some_and(|(_, is_after)| *is_after) }
    }

    /// The section of what stands at this place.
    fn of(&self, at: usize) -> Option<&'o str> {
        let n_before = self.places.partition_point(|(place, _)| *place <= at);
        let nth = if self.is_after { Some(n_before) } else { n_before.checked_sub(1) };
        nth.and_then(|nth| self.places.get(nth)).map(|(_, name)| *name)
    }
}

/// The names that a pattern finds, each once: the section, and the groups of a match, with single spaces.
fn names(pattern: &Regex, sections: &Sections<'_>, output: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    for found in pattern.captures_iter(output) {
        let groups = found.iter().skip(1).flatten();
        let words: Vec<&str> = groups.flat_map(|group| group.as_str().split_whitespace()).collect();
        let name = LINE.replace(&words.join(" "), "").into_owned();
        if NOT_TESTS.contains(&name.as_str()) || name.is_empty() {
            continue;
        }
        let section = found.get(0).and_then(|found| sections.of(found.start()));
        let name = section.map_or_else(|| name.clone(), |section| format!("{section} {name}"));
        if seen.insert(name.clone()) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests;
