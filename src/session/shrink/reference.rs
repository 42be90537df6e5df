//! The comparison with another version: a candidate fails if the two versions behave differently with it.
//!
//! No test need fail. The endings of the two versions with the whole input are what they must keep. If these endings
//! are equal, the standard outputs are compared; standard error is not, since shells and allocators write numbers of
//! processes and addresses to it, and the two streams mix in an order that varies.

use crate::Failure;
use crate::criteria::criteria;
use crate::hunt::Hunt;
use crate::runner::time_limit::measured_limits;
use crate::runner::{Runner, RunnerError};
use crate::shrink::judge;
use idd_base::{CommitId, Ending, Observation, Outcome, Reason, Signature, Stage, TreeId};
use idd_hunt::drive::{ProbeRunner as _, RunnerReply};
use idd_hunt::finding::Conclusion;
use idd_hunt::{Phase, Probe, ProbeQuestion};
use idd_report::Status;
use idd_world::process::CommandWords;
use idd_world::run::classify::{self, classify, is_same_ending, reported};
use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// A version of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramVersion {
    /// Its name for people.
    pub name: String,
    /// Its tree.
    pub tree: TreeId,
}

impl ProgramVersion {
    /// Its name for a message: quoted, if it is the name of a revision.
    pub fn shown(&self) -> String {
        if self.name.contains(' ') { self.name.clone() } else { format!("`{}`", self.name) }
    }
}

/// The difference of two versions with one input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionDifference {
    /// The name of the version that is right.
    pub name: String,
    /// How it ends.
    pub ending: Ending,
    /// If the endings are equal: the first line of output that differs, of the failing version and of this one; `None`
    /// at the end of an output.
    pub lines: Option<[Option<String>; 2]>,
}

/// A candidate in both versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CandidatePair {
    /// In the version that fails.
    pub failing: Probe,
    /// In the other one; `None` if there is none.
    pub reference: Option<Probe>,
}

/// What the two versions must keep.
pub struct ShrinkReference {
    version: ProgramVersion,
    /// The endings of the failing version and of this one with the whole input.
    endings: [Ending; 2],
}

/// What is known about a pair.
enum PairState {
    Known(Outcome),
    /// These runs are missing; not empty.
    Missing(Vec<Probe>),
}

/// The probe of a tree of the reference.
pub fn probe(tree: TreeId, revision: CommitId, phase: Phase) -> Probe {
    Probe { question: ProbeQuestion::Reference, ..Probe::of(tree, revision, phase) }
}

impl ShrinkReference {
    /// Runs both versions twice with the whole input, and sets what counts as the failure.
    ///
    /// - `failing`, `version`: with everything that is held.
    ///
    /// Errors: one of them cannot be built or run, its runs differ, or both behave in the same way.
    ///
    /// Cost: four runs; eight if the outputs are compared.
    pub fn begin(
        hunt: &mut Hunt<'_>,
        failing: &ProgramVersion,
        version: ProgramVersion,
    ) -> Result<(Self, Signature, VersionDifference), Failure> {
        hunt.runner.talk.say(&format!("Comparing {} with {} on the whole input.", failing.shown(), version.shown()));
        hunt.runner.judging.criteria = criteria(hunt.plan, None)?;
        let bad = twice(hunt, failing, Probe::of(failing.tree, hunt.plan.bad, Phase::Reproduce))?;
        let good = twice(hunt, &version, probe(version.tree, hunt.plan.bad, Phase::Reproduce))?;
        if let (Ending::Exit(code @ (126 | 127)), true) = (bad[0].ending, bad[0].ending == good[0].ending) {
            return Err(hunt.bogus(code, &bad[0]));
        }
        let runs = || bad.iter().chain(&good);
        if hunt.plan.order.test.timeout.is_none() {
            let longest = runs().map(|seen| seen.duration).max().unwrap_or_default();
            hunt.runner.judging.times.limits = measured_limits(longest);
        }
        let durations: Vec<_> =
            runs().filter(|seen| seen.ending != Ending::Timeout).map(|seen| seen.duration).collect();
        let endings = [bad[0].ending, good[0].ending];
        let (signature, lines) = if is_same_ending(endings[0], endings[1]) {
            let lines = Self::compare(hunt, failing, &version)?;
            (Signature { ending: endings[0], test: None, line: None, printed: None }, Some(lines))
        } else {
            (failure(hunt, &bad, failing)?, None)
        };
        hunt.runner.expect_durations(&durations);
        let difference = VersionDifference { name: version.name.clone(), ending: endings[1], lines };
        Ok((Self { version, endings }, signature, difference))
    }

    /// Compares the standard outputs of the whole input, and runs only with these from now on.
    fn compare(
        hunt: &mut Hunt<'_>,
        failing: &ProgramVersion,
        version: &ProgramVersion,
    ) -> Result<[Option<String>; 2], Failure> {
        hunt.runner.use_test(without_errors(&hunt.plan.commands.test));
        let bad = twice(hunt, failing, Probe::of(failing.tree, hunt.plan.bad, Phase::Reproduce))?;
        let good = twice(hunt, version, probe(version.tree, hunt.plan.bad, Phase::Reproduce))?;
        for (version, runs) in [(failing, &bad), (version, &good)] {
            if let Some([one, other]) = first_difference(&runs[0].output, &runs[1].output) {
                let line = one.or(other).unwrap_or_default();
                let message = format!("two runs at {} print different outputs, first at: {line}", version.shown());
                return Err(Failure::new(Status::NotReproducible, message)
                    .with_hint("make the test print the same in every run: no times, addresses or process ids"));
            }
        }
        first_difference(&bad[0].output, &good[0].output).ok_or_else(|| {
            let message = format!("{} behaves as the failing version with the whole input", version.shown());
            Failure::new(Status::BadPasses, message).with_hint(
                "standard output and the exit code or signal are compared; `2>&1` in the test adds standard error",
            )
        })
    }

    /// The tree of a version that candidates are put into.
    pub fn tree(&self) -> TreeId {
        self.version.tree
    }

    /// How the versions differ with a candidate; `None` if that is not known.
    pub fn difference(
        &self,
        runner: &mut Runner<'_>,
        pair: &CandidatePair,
    ) -> Result<Option<VersionDifference>, RunnerError> {
        let Some(reference) = pair.reference else { return Ok(None) };
        let (Some(bad), Some(good)) = (runner.seen(&pair.failing)?, runner.seen(&reference)?) else { return Ok(None) };
        let are_alike = is_same_ending(bad.ending, good.ending);
        let lines = if are_alike { first_difference(&bad.output, &good.output) } else { None };
        Ok(Some(VersionDifference { name: self.version.name.clone(), ending: good.ending, lines }))
    }

    /// Answers as many of the first pairs as it can, as [`ProbeRunner::answer`](idd_hunt::drive::ProbeRunner) does;
    /// an outcome that is overheard comes with the probe in the failing version.
    ///
    /// The version that fails runs first, and the other one only if that ends as with the whole input. With several
    /// jobs both run at once.
    pub fn answer(&self, runner: &mut Runner<'_>, pairs: &[CandidatePair]) -> Result<RunnerReply, RunnerError> {
        loop {
            let (mut outcomes, mut overheard, mut open) = (Vec::new(), Vec::new(), Vec::new());
            for pair in pairs {
                match self.state(runner, pair)? {
                    PairState::Missing(probes) => open.extend(probes),
                    PairState::Known(outcome) if open.is_empty() => outcomes.push(outcome),
                    PairState::Known(outcome) => overheard.push((pair.failing, outcome)),
                }
            }
            if !outcomes.is_empty() {
                return Ok(RunnerReply::Outcomes(outcomes));
            }
            if !overheard.is_empty() {
                return Ok(RunnerReply::Overheard(overheard));
            }
            match runner.answer(&open)? {
                RunnerReply::Outcomes(_) | RunnerReply::Overheard(_) => {}
                stop => return Ok(stop),
            }
        }
    }

    fn state(&self, runner: &mut Runner<'_>, pair: &CandidatePair) -> Result<PairState, RunnerError> {
        let Some(reference) = pair.reference else { return Ok(PairState::Known(Outcome::Unresolved(Reason::Path))) };
        let seen = runner.seen(&pair.failing)?;
        if let Some(seen) = &seen {
            let outcome = self.of_failing(seen, &runner.judging.criteria);
            if outcome != Outcome::Fail {
                return Ok(PairState::Known(outcome));
            }
        }
        let may_guess = runner.width() > 1;
        let other = if seen.is_some() || may_guess { runner.seen(&reference)? } else { None };
        Ok(match (seen, other) {
            (Some(seen), Some(other)) => PairState::Known(self.of_both(&seen, &other)),
            (Some(_), None) => PairState::Missing(vec![reference]),
            (None, None) if may_guess => PairState::Missing(vec![pair.failing, reference]),
            (None, _) => PairState::Missing(vec![pair.failing]),
        })
    }

    /// Whether the failing version keeps its failure; `Fail` if so.
    fn of_failing(&self, seen: &Observation, criteria: &classify::Criteria) -> Outcome {
        let reason = match (seen.ending, seen.stage) {
            (Ending::NotRun(reason), _) => reason,
            (_, Stage::Fetch | Stage::Precheck | Stage::Build) => Reason::Build,
            _ if criteria.signature.is_some() => return classify(seen, criteria),
            _ if is_same_ending(seen.ending, self.endings[0]) => {
                let is_matching = criteria.fail_match.as_ref().is_none_or(|pattern| pattern.is_match(&seen.output));
                return if is_matching { Outcome::Fail } else { Outcome::Unresolved(Reason::Other) };
            }
            (Ending::Timeout, _) => Reason::Timeout,
            (Ending::Signal(_), _) => Reason::Signal,
            (Ending::Exit(_), _) => Reason::Other,
        };
        Outcome::Unresolved(reason)
    }

    /// The outcome of a candidate with which the failing version keeps its failure.
    fn of_both(&self, failing: &Observation, reference: &Observation) -> Outcome {
        if reference.stage != Stage::Test {
            return Outcome::Unresolved(Reason::Build);
        }
        let are_alike = is_same_ending(self.endings[0], self.endings[1]);
        if is_same_ending(failing.ending, reference.ending) {
            let is_pass = !are_alike || first_difference(&failing.output, &reference.output).is_none();
            return if is_pass { Outcome::Pass } else { Outcome::Fail };
        }
        match reference.ending {
            Ending::NotRun(reason) => Outcome::Unresolved(reason),
            ending if is_same_ending(ending, self.endings[1]) => Outcome::Fail,
            Ending::Timeout => Outcome::Unresolved(Reason::Timeout),
            Ending::Signal(_) => Outcome::Unresolved(Reason::Signal),
            Ending::Exit(_) => Outcome::Unresolved(Reason::Other),
        }
    }
}

/// Two runs of a version with the whole input, which end in the same way.
fn twice(hunt: &mut Hunt<'_>, version: &ProgramVersion, probe: Probe) -> Result<Vec<Observation>, Failure> {
    let name = version.shown();
    let Some(seen) = hunt.runner.reproduce(probe, &[0, 1])? else {
        return Err(match hunt.runner.conclusion() {
            Conclusion::Interrupted => {
                Failure::new(Status::Interrupted, "stopped while the two versions were compared on the whole input")
            }
            _ => Failure::new(Status::Budget, "the budget is used up before the two versions are compared"),
        });
    };
    if let Some(failed) = seen.iter().find(|seen| seen.stage == Stage::Build) {
        let last = reported(&failed.output);
        let message = match failed.ending {
            Ending::Timeout => format!("the build of {name} reaches the time limit"),
            ending if last.is_empty() => format!("{name} does not build ({ending})"),
            _ => format!("{name} does not build: {last}"),
        };
        return Err(Failure::new(Status::NothingTestable, message)
            .with_hint("`--build` is a shell line that is run in a checkout of each of the two versions"));
    }
    if let Some(Ending::NotRun(reason)) = seen.iter().map(|seen| seen.ending).find(|it| matches!(it, Ending::NotRun(_)))
    {
        let message = format!("the test cannot be run at {name} ({reason}): {}", reported(&seen[0].output));
        return Err(Failure::new(Status::NothingTestable, message.trim_end_matches([':', ' ']).to_owned()));
    }
    if !seen.windows(2).all(|pair| is_same_ending(pair[0].ending, pair[1].ending)) {
        let message = format!("two runs at {name} end differently: {}, then {}", seen[0].ending, seen[1].ending);
        return Err(Failure::new(Status::NotReproducible, message)
            .with_hint("make the test repeatable; versions are compared by single runs"));
    }
    Ok(seen)
}

/// The failure of the version that ends in another way than the reference, which becomes the criteria.
fn failure(hunt: &mut Hunt<'_>, runs: &[Observation], failing: &ProgramVersion) -> Result<Signature, Failure> {
    let mode = hunt.plan.order.test.signature;
    match classify::signature(&runs[0], &runs[1], mode) {
        Some(signature) => {
            hunt.runner.judging.criteria = classify::Criteria { mode, ..criteria(hunt.plan, Some(signature.clone()))? };
            judge::refine(hunt, failing.tree, false)?;
            Ok(hunt.runner.judging.criteria.signature.clone().unwrap_or(signature))
        }
        // It ends without an error.
        None => Ok(Signature { ending: runs[0].ending, test: None, line: None, printed: None }),
    }
}

/// The test without its standard error.
fn without_errors(test: &CommandWords) -> CommandWords {
    let (script, rest) = match test {
        CommandWords::Shell(line) => ("exec /bin/sh -c \"$1\" 2>/dev/null", vec![line.clone()]),
        CommandWords::Argv(words) => ("exec \"$@\" 2>/dev/null", words.clone()),
    };
    CommandWords::Argv(["/bin/sh", "-c", script, "sh"].into_iter().map(Into::into).chain(rest).collect())
}

/// Output without the lines in which a shell reports a crash; they name processes.
fn printed(output: &str) -> Vec<&str> {
    static CRASH: LazyLock<Regex> = LazyLock::new(|| {
        let signals = "Segmentation fault|Aborted|Killed|Bus error|Illegal instruction|Floating point exception|Trace/breakpoint trap";
        let pattern = format!(r"^(?:\S+: line \d+: +\d+ (?:{signals})\b.*|(?:{signals})(?: +\(core dumped\))?)$");
        Regex::new(&pattern).expect("a valid pattern")
    });
    output.split_inclusive('\n').filter(|line| !CRASH.is_match(line.trim_end())).collect()
}

/// A line without addresses of objects, which differ from run to run.
fn without_addresses(line: &str) -> Cow<'_, str> {
    static ADDRESS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b0x[5-7a-f][0-9a-f]{11}\b").expect("a valid pattern"));
    ADDRESS.replace_all(line, "0x")
}

/// The first line in which two outputs differ; `None` if they are equal. Addresses of objects do not count.
fn first_difference(one: &str, other: &str) -> Option<[Option<String>; 2]> {
    let (one, other) = (printed(one), printed(other));
    let is_alike = |one: &str, other: &str| one == other || without_addresses(one) == without_addresses(other);
    let n_equal = one.iter().zip(&other).take_while(|(one, other)| is_alike(one, other)).count();
    let line = |lines: &[&str]| lines.get(n_equal).map(|line| line.trim_end_matches(['\n', '\r']).to_owned());
    (n_equal < one.len().max(other.len())).then(|| [line(&one), line(&other)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(one: &str, other: &str, expected: Option<[Option<&str>; 2]>) {
        let expected = expected.map(|lines| lines.map(|line| line.map(str::to_owned)));
        assert_eq!(first_difference(one, other), expected);
    }

    #[test]
    fn outputs_differ_in_their_first_other_line_and_reports_of_the_shell_are_no_output() {
        check("a\nb\n", "a\nb\n", None);
        check("a\nb\n", "a\nc\n", Some([Some("b"), Some("c")]));
        check("a\n", "a\nc\n", Some([None, Some("c")]));
        check("a\n", "a", Some([Some("a"), Some("a")]));
        check("a\n./t.sh: line 3: 4711 Segmentation fault      (core dumped) ./p\n", "a\nSegmentation fault\n", None);
        check("t 0x55f1132572a0\n", "t 0x558fa000d2a0\n", None);
        check(
            "t 0x55f1132572a0 1\n",
            "t 0x558fa000d2a0 2\n",
            Some([Some("t 0x55f1132572a0 1"), Some("t 0x558fa000d2a0 2")]),
        );
        check("h 0x1f2e3d4c\n", "h 0x1f2e3d4d\n", Some([Some("h 0x1f2e3d4c"), Some("h 0x1f2e3d4d")]));
        check("a\nKilled by user\n", "a\n", Some([Some("Killed by user"), None]));
    }
}
