//! Computes the outcome of an observation for one hunt.
//!
//! Pure functions: an observation is classified again whenever it is read from the cache, so a better rule never needs
//! a second run. Start at [`classify`]; [`signature`] computes the signature that it compares with.

use serde::{Deserialize, Serialize};

use regex::Regex;

use super::failure_line::{failure_line, is_telling, telling_line};
use super::normalise::{normalise, without_colours};
use super::{alike, crash, table};
use crate::run::runners::{NamedOutcome, RunnerReport, junit, names_in_part};
use idd_base::{Ending, NamedTest, Observation, Outcome, Reason, Signature, Sought, Stage};

/// The exit code of a test that cannot test the revision.
pub(super) const SKIP: i32 = 125;
/// The number that shells add to the signal that killed a command.
const SHELL_SIGNAL_BASE: i32 = 128;
/// The signals of a crash: ILL, TRAP, ABRT, BUS, FPE, KILL, SEGV, SYS.
const CRASHES: [i32; 8] = [4, 5, 6, 7, 8, 9, 11, 31];

/// The common part of failures that count as the same. Journals store the names of the variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum SignatureMode {
    /// The ending, and the failure line if both reproduction runs print the same.
    #[default]
    Auto,
    /// Only the ending.
    Exit,
    /// Any failing ending whose output matches [`Criteria::fail_match`].
    Regex,
}

/// The criteria of a hunt for its failure, and for a pass.
#[derive(Debug, Clone, Default)]
pub struct Criteria {
    /// What the hunt looks for.
    pub sought: Sought,
    /// How the hunted failure is recognised. With [`SignatureMode::Regex`] the signature only shows whether it is a
    /// hang.
    pub mode: SignatureMode,
    /// The signature at the bad revision; `None` accepts every failing ending except a timeout.
    pub signature: Option<Signature>,
    /// A failure counts only if its output matches.
    pub fail_match: Option<Regex>,
    /// A pass counts only if its output matches.
    pub pass_match: Option<Regex>,
    /// Whether the build is a separate command, so that the test's output need not be searched for build failures.
    pub has_build_command: bool,
    /// Whether the hunted failure is itself a failing build: [`is_build_failure`] of the bad revision's observation.
    pub is_build_hunted: bool,
    /// The statement at which the hunted failure occurs, as [`crash::place`] returns it; `None` if any will do.
    pub place: Option<String>,
}

impl Criteria {
    /// The hunted test, if its runner names it.
    pub fn named(&self) -> Option<&NamedTest> {
        self.signature.as_ref()?.test.as_ref()
    }
}

/// The result of a revision before there is a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainResult {
    /// The test passes.
    Passes,
    /// The test fails (or reaches its limit), and its output matches [`Criteria::fail_match`].
    Fails,
    /// The test fails, but its output does not match [`Criteria::fail_match`].
    FailsOtherwise,
    /// The build command fails.
    BuildFails,
    /// The test asks to be skipped.
    Skipped,
    /// The test was not started, or passed without testing anything ([`Reason::TestAbsent`]).
    NotRun(Reason),
}

/// The signature of a failure that occurred twice; `None` if the two runs do not have the same failure.
///
/// - `first`, `second`: two runs of one tree. Both must fail with the same ending; with [`SignatureMode::Regex`] the
///   exit codes may differ.
/// - The failure line is a line that both printed. For a crash or a hang, only a line that is known to report a failure
///   counts, because the last line is often progress.
pub fn signature(first: &Observation, second: &Observation, mode: SignatureMode) -> Option<Signature> {
    let is_same = match mode {
        SignatureMode::Auto | SignatureMode::Exit => is_same_ending(first.ending, second.ending),
        SignatureMode::Regex => (first.ending == Ending::Timeout) == (second.ending == Ending::Timeout),
    };
    if first.stage != second.stage || !is_same || !is_failing(first.ending) || !is_failing(second.ending) {
        return None;
    }
    let line = match mode {
        SignatureMode::Auto => common_line(first, second),
        SignatureMode::Exit | SignatureMode::Regex => None,
    };
    let printed = line.as_ref().map(|line| printed(first, line).unwrap_or_else(|| line.clone()));
    Some(Signature { ending: first.ending, test: None, line, printed })
}

/// The first test that failed in both runs, as their runner names it.
fn named(first: &Observation, second: &Observation) -> Option<NamedTest> {
    if first.stage != Stage::Test || !matches!(first.ending, Ending::Exit(_)) || crash(first.ending).is_some() {
        return None;
    }
    let report = RunnerReport::of_run(first)?;
    let again = RunnerReport::of_run_by(second, report.format)?;
    let name = report.failed.iter().find(|name| again.failed.contains(name))?.clone();
    let only_again = again.failed.iter().filter(|other| !report.failed.contains(other));
    let others = report.failed.iter().chain(only_again).filter(|other| **other != name).cloned().collect();
    Some(NamedTest { format: report.format.to_owned(), name, others })
}

/// Whether the runner reports that a test failed.
fn reports_failure(observation: &Observation, test: &NamedTest) -> bool {
    let report = RunnerReport::of_run_by(observation, &test.format);
    report.is_some_and(|report| report.outcome(&test.name) == NamedOutcome::Failed)
}

/// The tests that fail beside the hunted one, as the runner names them.
pub fn failing_others(observation: &Observation, test: &NamedTest) -> Vec<String> {
    let report = RunnerReport::of_run_by(observation, &test.format).filter(|_| is_failing(observation.ending));
    let failed = report.into_iter().flat_map(|report| report.failed);
    failed.filter(|name| *name != test.name).collect()
}

/// Whether a test fails that did not fail beside the hunted one at the bad revision.
pub fn breaks_others(observation: &Observation, test: &NamedTest) -> bool {
    failing_others(observation, test).iter().any(|name| !test.others.contains(name))
}

/// What a report of the runner says about the hunted test, if the test command failed; `None` if it says nothing.
///
/// - The test is among several that failed: their lines are not told apart, so its name decides.
/// - It is the only one: the rules about the ending and the line decide.
/// - It is not among them: other tests fail, and this one passes; or it has not run.
fn outcome_of_named(observation: &Observation, criteria: &Criteria) -> Option<Outcome> {
    let test = criteria.named()?;
    let is_ordinary = matches!(observation.ending, Ending::Exit(_)) && crash(observation.ending).is_none();
    if !is_ordinary {
        return None;
    }
    let report = RunnerReport::of_run_by(observation, &test.format)?;
    match report.outcome(&test.name) {
        NamedOutcome::Failed if report.failed.len() > 1 => Some(Outcome::Fail),
        NamedOutcome::Failed => None,
        NamedOutcome::Passed if is_empty_pass(observation, criteria) => Some(Outcome::Unresolved(Reason::TestAbsent)),
        NamedOutcome::Passed => Some(Outcome::Pass),
        NamedOutcome::Absent => Some(Outcome::Unresolved(Reason::TestAbsent)),
    }
}

/// The signature of what a hunt looks for: that of a failure; the exit code of a test that passes; the whole value that a
/// command prints. `None` if the two runs do not agree.
pub fn hunted(first: &Observation, second: &Observation, criteria: &Criteria) -> Option<Signature> {
    let ending = Ending::Exit(0);
    match criteria.sought {
        Sought::Failure | Sought::Slower => {
            let found = signature(first, second, criteria.mode)?;
            let is_by_name = criteria.mode == SignatureMode::Auto && criteria.fail_match.is_none();
            let test = if is_by_name { named(first, second) } else { None };
            // Of several tests that fail, the line can be that of another one.
            let has_others = test.as_ref().is_some_and(|test| !test.others.is_empty());
            let (line, printed) = if has_others { (None, None) } else { (found.line, found.printed) };
            Some(Signature { test, line, printed, ..found })
        }
        Sought::Fix => Some(Signature { ending, test: None, line: None, printed: None }),
        Sought::Change => {
            let value = value(&first.output);
            let is_same = value == self::value(&second.output);
            let value = Some(value.to_owned());
            is_same.then(|| Signature { ending, test: None, line: value.clone(), printed: value })
        }
    }
}

/// What a command printed, without blank space at the ends.
pub fn value(output: &str) -> &str {
    output.trim()
}

/// The first line that a run said whose normalised form is this one, without colours; `None` if there is none, or it is
/// too long.
pub fn printed(observation: &Observation, normalised: &str) -> Option<String> {
    let output = without_colours(&observation.output);
    let mut lines = said(observation, &output).map(str::trim).filter(|line| line.len() <= MAX_PRINTED_BYTES);
    lines.find(|line| normalise(line) == normalised).map(str::to_owned)
}

/// The failure line of a failing observation, as printed; `None` if it passes or has no such line.
pub fn printed_failure(observation: &Observation, criteria: &Criteria) -> Option<String> {
    if !is_failing(observation.ending) || observation.stage != Stage::Test {
        return None;
    }
    if let Some(pattern) = &criteria.fail_match
        && let Some(line) = without_colours(&observation.output).lines().find(|line| pattern.is_match(line))
    {
        return Some(line.trim().to_owned());
    }
    printed(observation, &reason(observation)?)
}

/// The line that best explains an observation that is no pass, as printed, from any command.
pub fn printed_trouble(observation: &Observation) -> Option<String> {
    printed(observation, &failure_line(&observation.output)?)
}

/// The normalised failure line of an observation that would be the hunted failure if only its line were; empty if it has
/// none.
pub fn other_line(observation: &Observation, criteria: &Criteria) -> Option<String> {
    let signature = criteria.signature.clone().filter(|signature| signature.line.is_some())?;
    let any_line = Criteria { signature: Some(Signature { line: None, ..signature }), ..criteria.clone() };
    let is_other =
        classify(observation, criteria) != Outcome::Fail && classify(observation, &any_line) == Outcome::Fail;
    is_other.then(|| reason(observation).unwrap_or_default())
}

/// The normalised line that best explains a failing test: what the file of its runner says, or else what was printed.
fn reason(observation: &Observation) -> Option<String> {
    junit::reason(&observation.reported).map(normalise).or_else(|| failure_line(&observation.output))
}

/// The reason in the file of a runner, and the lines of an output.
fn said<'o>(observation: &'o Observation, output: &'o str) -> impl Iterator<Item = &'o str> {
    junit::reason(&observation.reported).into_iter().chain(output.lines())
}

fn common_line(first: &Observation, second: &Observation) -> Option<String> {
    let is_cut_short = first.ending == Ending::Timeout || crash(first.ending).is_some();
    let line_of = |observation: &Observation| {
        if is_cut_short { telling_line(&observation.output) } else { reason(observation) }
    };
    line_of(first)
        .filter(|line| has_line(second, line))
        .or_else(|| line_of(second).filter(|line| has_line(first, line)))
}

fn has_line(observation: &Observation, normalised: &str) -> bool {
    said(observation, &observation.output).any(|line| alike::matches(&normalise(line), normalised))
}

/// Longer failure lines are printed in their normalised form, which is cut.
const MAX_PRINTED_BYTES: usize = 400;

/// The outcome of `observation` for a hunt with these `criteria`.
///
/// The first rule that applies: not run; no artifact; failed precheck or build command; passed (unless empty, or the hunted test
/// has not run); exit code 125; the
/// hunted failure; a timeout; a build failure inside a single command; and then the best reason why this is another
/// failure. The hunted failure comes before build failures, so that a failing build can be hunted. But if only the
/// ending of the hunted failure is known, a build failure does not count as it, unless a build failure is hunted.
pub fn classify(observation: &Observation, criteria: &Criteria) -> Outcome {
    let is_test = observation.stage == Stage::Test && !matches!(observation.ending, Ending::Exit(0 | SKIP));
    if is_test
        && criteria.sought == Sought::Failure
        && let Some(outcome) = outcome_of_named(observation, criteria)
    {
        return outcome;
    }
    let reason = match (observation.ending, observation.stage) {
        (Ending::NotRun(reason), _) => reason,
        (Ending::Timeout, Stage::Fetch | Stage::Precheck | Stage::Build) => Reason::Timeout,
        (Ending::Signal(_), Stage::Fetch) => Reason::Signal,
        (_, Stage::Fetch) => Reason::NoArtifact,
        (_, Stage::Precheck | Stage::Build) => Reason::Build,
        (Ending::Exit(0), Stage::Test)
            if is_empty_pass(observation, criteria) || passes_without_test(observation, criteria) =>
        {
            Reason::TestAbsent
        }
        (Ending::Exit(0), Stage::Test) => return passed(observation, criteria),
        (Ending::Exit(SKIP), Stage::Test) => Reason::Skip,
        (Ending::Exit(_), Stage::Test) if absent(observation, criteria).is_some() => Reason::TestAbsent,
        _ if criteria.sought == Sought::Failure && is_hunted(observation, criteria) => return Outcome::Fail,
        _ if criteria.sought == Sought::Fix && is_any_failure(observation, criteria) => return Outcome::Pass,
        (Ending::Timeout, Stage::Test) => Reason::Timeout,
        (ending, Stage::Test) => {
            let output = plain(&observation.output);
            if !criteria.has_build_command && table::failed_builder(&output).is_some() {
                Reason::Build
            } else if table::reports_memory_damage(&output) {
                Reason::Memory
            } else if table::reports_assertion(&output) {
                Reason::Assertion
            } else if matches!(ending, Ending::Signal(_)) || crash(ending).is_some() {
                Reason::Signal
            } else if matches!(ending, Ending::Exit(126 | 127)) {
                Reason::TestAbsent
            } else {
                Reason::Other
            }
        }
    };
    Outcome::Unresolved(reason)
}

/// The outcome of a test that ended with exit code 0.
fn passed(observation: &Observation, criteria: &Criteria) -> Outcome {
    let is_newer = match criteria.sought {
        Sought::Failure | Sought::Slower => false,
        Sought::Fix => true,
        Sought::Change => {
            let known = criteria.signature.as_ref().and_then(|signature| signature.line.as_deref());
            known.is_none_or(|known| known == value(&observation.output))
        }
    };
    if is_newer { Outcome::Fail } else { Outcome::Pass }
}

/// Whether a test fails in a way that shows that it is not fixed yet: it ran, and what it printed matches.
fn is_any_failure(observation: &Observation, criteria: &Criteria) -> bool {
    let is_built = criteria.has_build_command || !is_build_failure(observation);
    let is_absent = matches!(observation.ending, Ending::Exit(126 | 127));
    is_built && !is_absent && matches_or_absent(criteria.fail_match.as_ref(), &observation.output)
}

/// The result of `observation`, made at the bad revision; `criteria` need no signature yet.
pub fn reproduced(observation: &Observation, criteria: &Criteria) -> PlainResult {
    match (observation.ending, observation.stage) {
        (Ending::NotRun(reason), _) => PlainResult::NotRun(reason),
        (_, Stage::Fetch) => PlainResult::NotRun(Reason::NoArtifact),
        (_, Stage::Precheck | Stage::Build) => PlainResult::BuildFails,
        (Ending::Exit(0), Stage::Test) if is_empty_pass(observation, criteria) => {
            PlainResult::NotRun(Reason::TestAbsent)
        }
        (Ending::Exit(0), Stage::Test) if criteria.sought == Sought::Failure => PlainResult::Passes,
        // The behaviour that is looked for.
        (Ending::Exit(0), Stage::Test) => PlainResult::Fails,
        (Ending::Exit(SKIP), Stage::Test) => PlainResult::Skipped,
        (Ending::Exit(_), Stage::Test) if absent(observation, criteria).is_some() => {
            PlainResult::NotRun(Reason::TestAbsent)
        }
        _ if criteria.sought == Sought::Fix && is_any_failure(observation, criteria) => PlainResult::Passes,
        _ if criteria.sought != Sought::Failure => PlainResult::FailsOtherwise,
        _ if !matches_or_absent(criteria.fail_match.as_ref(), &observation.output) => PlainResult::FailsOtherwise,
        _ => PlainResult::Fails,
    }
}

/// The line in which the runner says that it has not found the test. That is no failure of the test, unless `--match` asks for
/// it, or a line of another kind reports a failure: several runners can print into one output, and tests can run runners.
pub fn absent<'o>(observation: &'o Observation, criteria: &Criteria) -> Option<&'o str> {
    if criteria.sought == Sought::Change || criteria.fail_match.is_some() {
        return None;
    }
    let lines = || observation.output.lines();
    let found = lines().find(|line| table::lacks_test(line))?;
    // unittest counts a name that it cannot load as a test that fails.
    let is_failure = |line: &str| is_telling(line) && !table::lacks_test(line) && !line.contains("loader._FailedTest");
    (!lines().any(is_failure)).then_some(found)
}

/// Whether the test's output shows a build failure.
pub fn is_build_failure(observation: &Observation) -> bool {
    is_failing(observation.ending)
        && (observation.stage != Stage::Test || table::failed_builder(&plain(&observation.output)).is_some())
}

fn is_hunted(observation: &Observation, criteria: &Criteria) -> bool {
    let hunted = criteria.signature.as_ref();
    if (observation.ending == Ending::Timeout) != hunted.is_some_and(|hunted| hunted.ending == Ending::Timeout)
        || !matches_or_absent(criteria.fail_match.as_ref(), &observation.output)
    {
        return false;
    }
    if criteria.place.is_some() && crash::place(&plain(&observation.output)) != criteria.place {
        return false;
    }
    if criteria.mode == SignatureMode::Regex && criteria.fail_match.is_some() {
        return true;
    }
    // A runner that names tests may exit with their number. Without its report, this is something else.
    let named = criteria.named();
    if named.is_some_and(|test| !reports_failure(observation, test)) {
        return false;
    }
    let is_named = named.is_some();
    if hunted.is_some_and(|hunted| !is_named && !is_same_ending(hunted.ending, observation.ending)) {
        return false;
    }
    match hunted.and_then(|hunted| hunted.line.as_ref()) {
        Some(line) => has_line(observation, line),
        None => criteria.has_build_command || criteria.is_build_hunted || !is_build_failure(observation),
    }
}

/// Whether the runner of the hunted test succeeds and has not run it: the revision does not have the test.
fn passes_without_test(observation: &Observation, criteria: &Criteria) -> bool {
    let Some(test) = criteria.named().filter(|_| criteria.sought == Sought::Failure && criteria.pass_match.is_none())
    else {
        return false;
    };
    let output = plain(&observation.output);
    let has_run_nothing = output.lines().any(table::ran_nothing);
    match RunnerReport::of_run_by(observation, &test.format) {
        Some(report) => report.lacks(&test.name, &output, has_run_nothing),
        None => has_run_nothing && !names_in_part(&test.name, &output),
    }
}

fn is_empty_pass(observation: &Observation, criteria: &Criteria) -> bool {
    !matches_or_absent(criteria.pass_match.as_ref(), &observation.output)
}

fn matches_or_absent(pattern: Option<&Regex>, output: &str) -> bool {
    pattern.is_none_or(|pattern| pattern.is_match(output))
}

fn is_failing(ending: Ending) -> bool {
    !matches!(ending, Ending::Exit(0 | SKIP) | Ending::NotRun(_))
}

/// A command that was killed by a signal, and a shell that reports it, have the same ending: the script decides which
/// of them is seen.
pub fn is_same_ending(one: Ending, other: Ending) -> bool {
    one == other || crash(one).is_some_and(|signal| crash(other) == Some(signal))
}

/// The signal of a crash, seen directly or reported by a shell.
pub fn crash(ending: Ending) -> Option<i32> {
    let signal = match ending {
        Ending::Signal(signal) => signal,
        Ending::Exit(code) => code - SHELL_SIGNAL_BASE,
        Ending::Timeout | Ending::NotRun(_) => return None,
    };
    CRASHES.contains(&signal).then_some(signal)
}

/// `output` without colours and carriage returns, as the tables need it.
pub fn plain(output: &str) -> String {
    without_colours(output).replace('\r', "")
}

/// The line of an output that reports an error: the first with `error:`, else the last one that is not blank.
pub fn reported(output: &str) -> &str {
    let lines = || output.lines().map(str::trim).filter(|line| !line.is_empty());
    lines().find(|line| line.contains("error:")).or_else(|| lines().next_back()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const BROKEN_BUILD: &str = "cc -c x.c\nx.c:3:5: error: 'y' undeclared\nmake: *** [Makefile:2: x.o] Error 1\n";

    fn observed(ending: Ending, output: &str) -> Observation {
        Observation {
            stage: Stage::Test,
            ending,
            duration: Duration::from_millis(5),
            limit: Duration::from_secs(20),
            output: output.to_owned(),
            reported: String::new(),
            is_clean: false,
            is_tampered: false,
            place: None,
        }
    }

    fn built(ending: Ending) -> Observation {
        Observation { stage: Stage::Build, ..observed(ending, BROKEN_BUILD) }
    }

    fn hunting(ending: Ending, line: Option<&str>) -> Criteria {
        Criteria {
            signature: Some(Signature { ending, test: None, line: line.map(str::to_owned), printed: None }),
            ..Criteria::default()
        }
    }

    fn regex(pattern: &str) -> Regex {
        Regex::new(pattern).unwrap()
    }

    #[track_caller]
    fn check(criteria: &Criteria, ending: Ending, output: &str, expected: Outcome) {
        assert_eq!(classify(&observed(ending, output), criteria), expected, "{ending}: {output}");
    }

    #[track_caller]
    fn check_unresolved(criteria: &Criteria, ending: Ending, output: &str, expected: Reason) {
        check(criteria, ending, output, Outcome::Unresolved(expected));
    }

    #[test]
    fn the_same_ending_and_line_are_the_hunted_failure_and_others_are_not() {
        let criteria = hunting(Ending::Exit(1), Some("FAIL: parse, line N"));
        check(&criteria, Ending::Exit(1), "begin\nFAIL: parse, line 77\nend\n", Outcome::Fail);
        check_unresolved(&criteria, Ending::Exit(1), "FAIL: print, line 77\n", Reason::Other);
        check_unresolved(&criteria, Ending::Exit(2), "FAIL: parse, line 77\n", Reason::Other);
        check(&criteria, Ending::Exit(0), "FAIL: parse, line 77\n", Outcome::Pass);
        check_unresolved(&criteria, Ending::Exit(125), "FAIL: parse, line 77\n", Reason::Skip);
    }

    #[test]
    fn the_file_of_a_runner_says_why_its_test_failed_and_what_a_build_tool_prints_does_not() {
        let run = |reason: &str| Observation {
            reported: format!("JUnit failed: p.A.one\nJUnit reason: {reason}\nJUnit passed: p.A.two\n"),
            ..observed(Ending::Exit(1), "java.lang.ClassNotFoundException: of.the.Tool\n1 test failed\n")
        };
        let hunted = hunted(&run("expected 3 but was 4"), &run("expected 3 but was 4"), &Criteria::default()).unwrap();
        assert_eq!(hunted.printed.as_deref(), Some("expected 3 but was 4"));
        let criteria = Criteria { signature: Some(hunted), ..Criteria::default() };
        assert_eq!(classify(&run("expected 3 but was 4"), &criteria), Outcome::Fail);
        assert_eq!(classify(&run("no such file"), &criteria), Outcome::Unresolved(Reason::Other));
        assert_eq!(printed_failure(&run("no such file"), &criteria).as_deref(), Some("no such file"));
    }

    #[test]
    fn another_line_is_that_of_a_failure_that_only_differs_in_it() {
        let criteria = hunting(Ending::Exit(1), Some("error: N of apples"));
        let other = |code, output: &str| other_line(&observed(Ending::Exit(code), output), &criteria);
        assert_eq!(other(1, "error: 3 of pears\n").as_deref(), Some("error: N of pears"));
        assert_eq!(other(1, "").as_deref(), Some(""));
        assert_eq!(other(1, "error: 4 of apples\n"), None);
        assert_eq!(other(2, "error: 3 of pears\n"), None);
        assert_eq!(other(1, BROKEN_BUILD), None);
    }

    #[test]
    fn a_fetch_that_fails_shows_that_there_is_no_artifact_and_one_that_is_killed_does_not() {
        let shows = |ending, expected| {
            let seen = Observation { stage: Stage::Fetch, ..observed(ending, "FAIL: x\n") };
            let hunted = hunting(Ending::Exit(1), Some("FAIL: x"));
            assert_eq!(classify(&seen, &hunted), Outcome::Unresolved(expected), "{ending}");
        };
        shows(Ending::Exit(1), Reason::NoArtifact);
        shows(Ending::Exit(125), Reason::NoArtifact);
        shows(Ending::NotRun(Reason::Path), Reason::Path);
        shows(Ending::Timeout, Reason::Timeout);
        shows(Ending::Signal(9), Reason::Signal);
    }

    #[test]
    fn a_fix_is_a_pass_and_every_failure_that_ran_comes_before_it() {
        let criteria = Criteria { sought: Sought::Fix, fail_match: Some(regex("wrong")), ..Criteria::default() };
        check(&criteria, Ending::Exit(0), "ok\n", Outcome::Fail);
        for ending in [Ending::Exit(1), Ending::Exit(139), Ending::Signal(6), Ending::Timeout] {
            check(&criteria, ending, "wrong\n", Outcome::Pass);
        }
        check_unresolved(&criteria, Ending::Exit(1), "other\n", Reason::Other);
        check_unresolved(&criteria, Ending::Exit(125), "wrong\n", Reason::Skip);
        check_unresolved(&criteria, Ending::Exit(127), "wrong\n", Reason::TestAbsent);
        check_unresolved(&criteria, Ending::Exit(2), &format!("wrong\n{BROKEN_BUILD}"), Reason::Build);
        assert_eq!(classify(&built(Ending::Exit(2)), &criteria), Outcome::Unresolved(Reason::Build));
        assert_eq!(reproduced(&observed(Ending::Exit(0), ""), &criteria), PlainResult::Fails);
        assert_eq!(reproduced(&observed(Ending::Exit(1), "wrong"), &criteria), PlainResult::Passes);
    }

    #[test]
    fn a_value_is_all_that_is_printed_and_only_the_value_of_the_newer_revision_is_new() {
        let of_value = Criteria { sought: Sought::Change, ..Criteria::default() };
        let newer = observed(Ending::Exit(0), "\n1.4\nbeta \n");
        let signature = hunted(&newer, &newer, &of_value);
        assert_eq!(signature.as_ref().unwrap().line.as_deref(), Some("1.4\nbeta"));
        assert_eq!(hunted(&newer, &observed(Ending::Exit(0), "1.5\nbeta\n"), &of_value), None);
        let criteria = Criteria { signature, ..of_value };
        check(&criteria, Ending::Exit(0), "1.4\nbeta", Outcome::Fail);
        check(&criteria, Ending::Exit(0), "1.3\nbeta", Outcome::Pass);
        // Numbers are no noise in a value.
        check(&criteria, Ending::Exit(0), "", Outcome::Pass);
        check_unresolved(&criteria, Ending::Exit(1), "1.4\nbeta", Reason::Other);
        check_unresolved(&criteria, Ending::Timeout, "1.4\nbeta", Reason::Timeout);
        assert_eq!(reproduced(&observed(Ending::Exit(1), "1.4"), &criteria), PlainResult::FailsOtherwise);
    }

    #[test]
    fn what_was_not_run_keeps_its_reason() {
        for reason in Reason::ALL {
            check_unresolved(&hunting(Ending::Exit(1), None), Ending::NotRun(reason), "", reason);
        }
    }

    #[test]
    fn a_failed_build_command_is_never_the_hunted_failure() {
        let criteria = Criteria { has_build_command: true, ..hunting(Ending::Exit(2), None) };
        assert_eq!(classify(&built(Ending::Exit(2)), &criteria), Outcome::Unresolved(Reason::Build));
        assert_eq!(classify(&built(Ending::Exit(125)), &criteria), Outcome::Unresolved(Reason::Build));
        assert_eq!(classify(&built(Ending::Signal(11)), &criteria), Outcome::Unresolved(Reason::Build));
        assert_eq!(classify(&built(Ending::Timeout), &criteria), Outcome::Unresolved(Reason::Timeout));
    }

    #[test]
    fn does_not_compile_is_not_taken_for_fails() {
        check_unresolved(&hunting(Ending::Exit(2), None), Ending::Exit(2), BROKEN_BUILD, Reason::Build);
        check_unresolved(&hunting(Ending::Exit(1), Some("FAIL")), Ending::Exit(2), BROKEN_BUILD, Reason::Build);
        let has_build_command = Criteria { has_build_command: true, ..hunting(Ending::Exit(2), None) };
        check(&has_build_command, Ending::Exit(2), BROKEN_BUILD, Outcome::Fail);
        let coloured = "\x1b[1mx.c:3:5: \x1b[31merror: \x1b[0m'y' undeclared\r\n";
        check_unresolved(&hunting(Ending::Exit(2), None), Ending::Exit(2), coloured, Reason::Build);
    }

    #[test]
    fn a_failing_build_can_be_hunted() {
        let first = observed(Ending::Exit(2), BROKEN_BUILD);
        let mut criteria = Criteria {
            signature: signature(&first, &first, SignatureMode::Auto),
            is_build_hunted: is_build_failure(&first),
            ..Criteria::default()
        };
        assert_eq!(classify(&first, &criteria), Outcome::Fail);
        check_unresolved(&criteria, Ending::Exit(2), "z.c:9:9: error: other\n", Reason::Build);
        criteria.signature = signature(&first, &first, SignatureMode::Exit);
        check(&criteria, Ending::Exit(2), "z.c:9:9: error: other\n", Outcome::Fail);
    }

    #[test]
    fn a_timeout_fails_only_where_a_hang_is_hunted() {
        check(&hunting(Ending::Timeout, None), Ending::Timeout, "", Outcome::Fail);
        check_unresolved(&hunting(Ending::Exit(1), None), Ending::Timeout, "", Reason::Timeout);
        check_unresolved(&Criteria::default(), Ending::Timeout, "", Reason::Timeout);
        check_unresolved(&hunting(Ending::Timeout, None), Ending::Exit(1), "", Reason::Other);
        check(&hunting(Ending::Timeout, None), Ending::Exit(0), "", Outcome::Pass);
    }

    #[test]
    fn a_crash_is_the_same_whether_seen_or_reported_by_a_shell() {
        check(&hunting(Ending::Signal(11), None), Ending::Exit(139), "", Outcome::Fail);
        check(&hunting(Ending::Exit(139), None), Ending::Signal(11), "", Outcome::Fail);
        check_unresolved(&hunting(Ending::Signal(11), None), Ending::Signal(6), "", Reason::Signal);
        check_unresolved(&hunting(Ending::Exit(1), None), Ending::Exit(139), "", Reason::Signal);
    }

    #[test]
    fn another_failure_is_named_by_its_most_telling_reason() {
        let criteria = hunting(Ending::Exit(3), Some("FAIL"));
        let assertion = "t: x.c:3: f: Assertion `n > 0' failed.\n";
        check_unresolved(&criteria, Ending::Signal(6), assertion, Reason::Assertion);
        check_unresolved(&criteria, Ending::Signal(6), "", Reason::Signal);
        check_unresolved(&criteria, Ending::Signal(6), "free(): invalid pointer\n", Reason::Memory);
        check_unresolved(&criteria, Ending::Exit(1), "==1==ERROR: AddressSanitizer: SEGV\n", Reason::Memory);
        check_unresolved(&criteria, Ending::Exit(127), "sh: 1: ./t: not found\n", Reason::TestAbsent);
        check_unresolved(&criteria, Ending::Exit(1), "boom\n", Reason::Other);
    }

    #[test]
    fn a_match_option_narrows_failures_and_passes() {
        let criteria = Criteria {
            fail_match: Some(regex("wrong (sum|total)")),
            pass_match: Some(regex("(?m)^[1-9]\\d* passed$")),
            ..hunting(Ending::Exit(1), None)
        };
        check(&criteria, Ending::Exit(1), "wrong total\n", Outcome::Fail);
        check_unresolved(&criteria, Ending::Exit(1), "wrong name\n", Reason::Other);
        check(&criteria, Ending::Exit(0), "12 passed\n", Outcome::Pass);
        check_unresolved(&criteria, Ending::Exit(0), "0 passed\n", Reason::TestAbsent);
    }

    #[test]
    fn a_runner_without_the_test_gives_no_verdict_unless_something_fails() {
        let pytest = "collected 0 items\n\n=== no tests ran in 0.00s ===\nERROR: not found: /w/t.py::test_b\n\
                      (no match in any of [<Module t.py>])\n";
        let unittest = "E\n======\nERROR: test_f (unittest.loader._FailedTest.test_f)\n------\n\
                        AttributeError: type object 'T' has no attribute 'test_f'\n\n------\nRan 1 test in 0.000s\n\n\
                        FAILED (errors=1)\n";
        let jest = "No tests found, exiting with code 1\nRun with `--passWithNoTests` to exit with code 0\n\
                    Pattern: x - 0 matches\nnpm ERR! Test failed.  See above for more details.\n";
        let criteria = hunting(Ending::Exit(1), Some("FAIL: x"));
        for output in [pytest, unittest, jest] {
            check_unresolved(&criteria, Ending::Exit(1), output, Reason::TestAbsent);
            let seen = observed(Ending::Exit(1), output);
            assert_eq!(reproduced(&seen, &criteria), PlainResult::NotRun(Reason::TestAbsent));
            // Another runner has found a failure, or the runner ran inside of a test that fails.
            check(&criteria, Ending::Exit(1), &format!("{output}FAIL: x\n"), Outcome::Fail);
            let matching = Criteria { fail_match: Some(regex("no")), ..criteria.clone() };
            assert_eq!(
                reproduced(&observed(Ending::Exit(1), "=== no tests ran in 0.00s ===\n"), &matching),
                PlainResult::Fails
            );
        }
    }

    #[test]
    fn in_mode_regex_the_code_does_not_matter() {
        let criteria =
            Criteria { mode: SignatureMode::Regex, fail_match: Some(regex("wrong")), ..hunting(Ending::Exit(1), None) };
        check(&criteria, Ending::Exit(7), "wrong\n", Outcome::Fail);
        check(&criteria, Ending::Signal(11), "wrong\n", Outcome::Fail);
        check(&criteria, Ending::Exit(0), "wrong\n", Outcome::Pass);
        check_unresolved(&criteria, Ending::Timeout, "wrong\n", Reason::Timeout);
        check_unresolved(&criteria, Ending::Exit(1), "right\n", Reason::Other);
    }

    #[test]
    fn the_signature_is_what_two_runs_have_in_common() {
        let run = |code, output: &str| observed(Ending::Exit(code), output);
        let of = |first: &Observation, second: &Observation, mode| signature(first, second, mode);
        let failure = |code, line: Option<&str>| {
            let printed = line.map(|line| line.replace("<duration>", "0.1s"));
            Some(Signature { ending: Ending::Exit(code), test: None, line: line.map(str::to_owned), printed })
        };

        let (first, second) = (run(1, "a\nFAIL: x (0.1s)\n"), run(1, "FAIL: x (0.2s)\nb\n"));
        assert_eq!(of(&first, &second, SignatureMode::Auto), failure(1, Some("FAIL: x (<duration>)")));
        let coloured = run(1, "  \x1b[31mFAIL: x\x1b[0m (0.1s)\n");
        assert_eq!(of(&coloured, &second, SignatureMode::Auto), failure(1, Some("FAIL: x (<duration>)")));
        assert_eq!(of(&first, &second, SignatureMode::Exit), failure(1, None));
        assert_eq!(of(&first, &run(1, "FAIL: y\n"), SignatureMode::Auto), failure(1, None));
        assert_eq!(
            of(&first, &run(1, "FAIL: y\nFAIL: x (3s)\n"), SignatureMode::Auto),
            failure(1, Some("FAIL: x (<duration>)"))
        );
        assert_eq!(of(&first, &run(2, "FAIL: x (0.1s)\n"), SignatureMode::Auto), None);
        assert_eq!(of(&first, &run(2, "FAIL: x (0.1s)\n"), SignatureMode::Regex), failure(1, None));
        assert_eq!(of(&first, &run(0, ""), SignatureMode::Regex), None);
        assert_eq!(of(&run(0, ""), &run(0, ""), SignatureMode::Auto), None);
    }

    #[test]
    fn a_crash_takes_no_line_of_progress() {
        let crashed = observed(Ending::Signal(11), "test 1 ok\ntest 2\n");
        assert_eq!(
            signature(&crashed, &crashed, SignatureMode::Auto),
            Some(Signature { ending: Ending::Signal(11), test: None, line: None, printed: None })
        );
    }

    #[test]
    fn what_the_bad_revision_shows_needs_no_signature() {
        let criteria =
            Criteria { fail_match: Some(regex("wrong")), pass_match: Some(regex("ok")), ..Criteria::default() };
        let shown = |ending, output| reproduced(&observed(ending, output), &criteria);
        assert_eq!(shown(Ending::Exit(0), "ok"), PlainResult::Passes);
        assert_eq!(shown(Ending::Exit(0), ""), PlainResult::NotRun(Reason::TestAbsent));
        assert_eq!(shown(Ending::Exit(1), "wrong"), PlainResult::Fails);
        assert_eq!(shown(Ending::Timeout, "wrong"), PlainResult::Fails);
        assert_eq!(shown(Ending::Signal(11), ""), PlainResult::FailsOtherwise);
        assert_eq!(shown(Ending::Exit(125), "wrong"), PlainResult::Skipped);
        assert_eq!(shown(Ending::NotRun(Reason::Path), ""), PlainResult::NotRun(Reason::Path));
        assert_eq!(reproduced(&built(Ending::Exit(2)), &criteria), PlainResult::BuildFails);
    }
}
