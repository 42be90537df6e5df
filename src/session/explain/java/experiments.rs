//! Tests of links: the failing program runs again and again, and does at one step each time what the reference does there.
//!
//! Source: Sumner and Zhang, section 3: a value is a cause of the failure if the failure goes away with the value of the
//! reference in its place. Deviation: the whole test runs for each value, and says what becomes of the failure; the next
//! link is not looked at. Values that another process cannot be given, such as objects, are not replaced. Most runs are made
//! in one virtual machine, see [`trials`]; one of them is made again as the test is, and has to end alike.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt as _;
use std::time::{Duration, Instant};

use crate::explain::java::trials::{Bounds, TrialResults};
use crate::explain::java::{JavaSide, trials};
use crate::explain::model::{ChainLimits, Explainer, interrupted};
use crate::order::TestCommand;
use crate::record::instruments::Instruments;
use crate::record::{missed, observe};
use crate::{Failure, Interrupt};
use idd_base::{Ending, Observation, TreeId};
use idd_explain::java::effects::Remedy;
use idd_report::Untrusted;
use idd_report::chain::LinkTest;
use idd_trace::TracedProcess;
use idd_trace::instrument::java::replace::Replacement;
use idd_world::run::sandbox::{ProbeJob, Sandbox};

/// Time for all tests of a chain, unless the user sets another one.
pub(super) const BUDGET: Duration = Duration::from_secs(60);

/// A test may take so many times as long as the one without other values, and so much longer.
const SLOWER: (u32, Duration) = (5, Duration::from_secs(5));

/// Why links count as not tested.
const UNLIKE: &str = "links were not tested: the test does not fail in the same way each time";

/// What the tests of a chain come to.
#[derive(Debug, Default)]
pub(super) struct Experiments {
    /// By link: what was found.
    pub(super) found: Vec<Option<LinkTest>>,
    /// Runs of the test.
    pub(super) n_runs: u64,
    /// Runs of the program alone, and how long they took.
    pub(super) trials: (u64, Duration),
    /// Why links were not tested that could be.
    pub(super) remark: Option<String>,
}

impl Experiments {
    /// Those that a signal ended.
    pub(super) fn interrupted() -> Self {
        let remark = Some("links were not tested: the explanation was interrupted".to_owned());
        Self { remark, ..Self::default() }
    }
}

/// What experiments are made with.
pub(super) struct Laboratory<'l> {
    pub(super) instruments: &'l Instruments<'l>,
    pub(super) sandbox: &'l mut Sandbox,
    pub(super) interrupt: Interrupt,
    /// The test on the failing version, whose build is there.
    pub(super) job: ProbeJob,
    /// The virtual machine in which values are replaced.
    pub(super) process: TracedProcess,
    /// Whether the test is that virtual machine and nothing else.
    pub(super) is_direct: bool,
    /// How the test ended when it was recorded, and what it printed.
    recorded: (Ending, String),
    limits: ChainLimits,
}

/// How a run ended, and what it printed.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunOutput<'o> {
    pub(super) ending: Ending,
    pub(super) output: &'o str,
}

/// What a failing test prints, as far as it is the same in each run.
pub(super) struct FailingOutput {
    pub(super) ending: Ending,
    /// The lines, and whether each one is the same in another run.
    lines: Vec<(String, bool)>,
}

impl FailingOutput {
    /// Of two runs; `None` if they are not alike.
    pub(super) fn new(run: RunOutput<'_>, again: RunOutput<'_>) -> Option<Self> {
        let same = run.output.lines().zip(again.output.lines());
        let lines: Vec<(String, bool)> = same.map(|(one, other)| (one.to_owned(), one == other)).collect();
        let is_alike = run.output.lines().count() == again.output.lines().count() && run.ending == again.ending;
        is_alike.then_some(Self { ending: run.ending, lines })
    }

    /// Whether a run fails in the same way.
    pub(super) fn is(&self, run: RunOutput<'_>) -> bool {
        run.ending == self.ending && run.output.lines().count() == self.lines.len() && self.other(run.output).is_none()
    }

    /// Whether this is what a program prints in a test that prints the other: the lines that do not change are there, in
    /// this order, and those that change are none that do not change there. Frames of stack traces may be others.
    pub(super) fn is_part_of(&self, other: &Self) -> bool {
        let mut lines = other.lines.iter().map(|(line, _)| line);
        let is_there = |(line, is_fixed): &(String, bool)| match is_fixed {
            true => is_frame(line.trim()) || lines.any(|other| other == line),
            false => !other.lines.iter().any(|(other, is_fixed)| *is_fixed && other == line),
        };
        self.lines.iter().all(is_there)
    }

    /// The first line that a run prints otherwise.
    fn other<'o>(&self, output: &'o str) -> Option<&'o str> {
        let mut lines = self.lines.iter();
        let mut is_same = |line: &str| lines.next().is_some_and(|(own, is_fixed)| !is_fixed || own == line);
        let mut others = output.lines().filter(|line| !is_same(line)).map(str::trim);
        let first = others.next()?;
        // Where it was thrown says less than what was thrown.
        Some(if is_frame(first) { others.find(|line| !is_frame(line)).unwrap_or(first) } else { first })
    }

    /// What a run with other values says of a link.
    fn tested(&self, run: RunOutput<'_>) -> LinkTest {
        if run.ending == Ending::Exit(0) {
            LinkTest::Passes
        } else if self.is(run) {
            LinkTest::Fails
        } else {
            let other = self.other(run.output).map_or_else(|| run.ending.to_string(), missed::shown);
            LinkTest::FailsOtherwise(Untrusted::from(other))
        }
    }
}

/// The output of a run of the test.
pub(super) fn said(seen: &Observation) -> RunOutput<'_> {
    RunOutput { ending: seen.ending, output: &seen.output }
}

/// Whether a command is the process itself, and not one that starts it among other things.
fn is_direct(command: Option<&TestCommand>, process: &TracedProcess) -> bool {
    let Some(TestCommand::Argv(words)) = command else { return false };
    let own: Vec<u8> = words.iter().flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect();
    own == process.words
}

/// Whether a line is of a stack trace.
fn is_frame(line: &str) -> bool {
    line.starts_with("at ") || line.starts_with("... ")
}

impl<'l> Laboratory<'l> {
    /// For the failing version.
    pub(super) fn new(
        explainer: &Explainer<'_>,
        instruments: &'l Instruments<'l>,
        sandbox: &'l mut Sandbox,
        bad: &JavaSide,
        number: usize,
        tree: TreeId,
    ) -> Self {
        Self {
            instruments,
            sandbox,
            interrupt: explainer.interrupt.clone(),
            job: ProbeJob { is_clean: false, ..ProbeJob::fresh(tree, explainer.limit()) },
            process: bad.processes[number].process.clone(),
            is_direct: is_direct(explainer.order.command.as_ref(), &bad.processes[number].process),
            recorded: (bad.ending, bad.output.clone()),
            limits: ChainLimits { max_tests: explainer.order.max_tests, time: explainer.order.budget },
        }
    }

    /// Tests links, the last one first: it is the nearest to the failure.
    ///
    /// Cost: a run of the program for each link whose values can be replaced, see [`Laboratory::try_out`], and three of the
    /// test; if the program cannot be run like that, one of the test for each.
    pub(super) fn test(&mut self, remedies: &[Remedy]) -> Result<Experiments, Failure> {
        let mut done = Experiments { found: vec![None; remedies.len()], ..Experiments::default() };
        let begin = Instant::now();
        if remedies.iter().all(Vec::is_empty) {
            return Ok(done);
        }
        let (max_runs, budget) = (self.limits.max_tests, self.limits.time.unwrap_or(BUDGET));
        done.n_runs = 1;
        let Some((again, _)) = self.run(&[])? else { return Ok(done) };
        let recorded = RunOutput { ending: self.recorded.0, output: &self.recorded.1 };
        let Some(failing) = FailingOutput::new(recorded, said(&again)) else {
            done.remark = Some(UNLIKE.to_owned());
            return Ok(done);
        };
        // A value may make the program run on and on.
        self.job.limits.test = self.job.limits.test.min(again.duration * SLOWER.0 + SLOWER.1);
        let mut order: Vec<usize> = (0..remedies.len()).rev().filter(|nth| !remedies[*nth].is_empty()).collect();
        order.truncate(usize::try_from(max_runs).unwrap_or(usize::MAX));
        let sets: Vec<&[Replacement]> = order.iter().map(|nth| &*remedies[*nth]).collect();
        let bounds = Bounds { begin, budget, n_wanted: u32::MAX };
        let tried = self.tried(&sets, &failing, bounds, &mut done.trials)?;
        let mut tried: HashMap<usize, LinkTest> =
            order.iter().copied().zip(tried).filter_map(|(nth, tested)| Some((nth, tested?))).collect();
        // One of the trials is made again as a run of the test.
        let passing = order.iter().position(|nth| tried.get(nth) == Some(&LinkTest::Passes));
        if !self.is_direct {
            // What the test does besides may fail then.
            tried.retain(|_, tested| *tested != LinkTest::Passes);
        }
        let checked =
            passing.filter(|_| self.is_direct).or_else(|| order.iter().position(|nth| tried.contains_key(nth)));
        let checked = checked.map(|at| order.remove(at));
        for nth in checked.iter().chain(&order).copied() {
            if checked != Some(nth)
                && let Some(tested) = tried.remove(&nth)
            {
                done.found[nth] = Some(tested);
                continue;
            }
            if done.n_runs > max_runs || begin.elapsed() >= budget {
                done.remark = Some("some links were not tested: the limit of the tests was reached".to_owned());
                continue;
            }
            done.n_runs += 1;
            let Some((seen, is_done)) = self.run(&remedies[nth])? else { break };
            done.found[nth] = is_done.then(|| failing.tested(said(&seen)));
            if checked == Some(nth) && done.found[nth] != tried.remove(&nth) {
                tried.clear();
            }
        }
        // A test that counts its runs in a file, say, passes by itself after some time.
        if done.found.iter().any(Option::is_some) {
            done.n_runs += 1;
            if self.run(&[])?.is_none_or(|(again, _)| !failing.is(said(&again))) {
                done.found.fill(None);
                done.remark = Some(UNLIKE.to_owned());
            }
        }
        Ok(done)
    }

    /// What trials say of links.
    ///
    /// - `spent`: gets how often the program ran, and how long that took.
    fn tried(
        &mut self,
        sets: &[&[Replacement]],
        test: &FailingOutput,
        bounds: Bounds,
        spent: &mut (u64, Duration),
    ) -> Result<Vec<Option<LinkTest>>, Failure> {
        let TrialResults { all, failing, n_runs, time } = self.try_out(sets, test, bounds)?;
        *spent = (n_runs, time);
        let tested = all.into_iter().zip(sets).map(|(trial, set)| {
            let trial = trial.filter(|trial| trial.is_done(set.len()))?;
            Some(failing.as_ref()?.tested(trials::said(&trial)))
        });
        Ok(tested.collect())
    }

    /// Runs the test with replaced values; the result has whether all were replaced, in the virtual machine that is meant
    /// and in no other one. `None` if it cannot be told.
    pub(super) fn run(&mut self, replacements: &[Replacement]) -> Result<Option<(Observation, bool)>, Failure> {
        let Self { instruments, sandbox, interrupt, job, process, .. } = self;
        let ran = instruments.replace(job, replacements, &mut |job, commands, listener| {
            observe(sandbox, job, commands, listener, interrupt)?.ok_or_else(interrupted)
        })?;
        let is_meant = |other: &TracedProcess| other.words == process.words;
        Ok(ran.map(|(seen, replaced)| {
            let is_done = match &replaced[..] {
                [] => replacements.is_empty(),
                [one] => is_meant(&one.process) && !one.is_other && one.done.iter().copied().eq(0..replacements.len()),
                _ => false,
            };
            (seen, is_done)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(code: i32, output: &str) -> RunOutput<'_> {
        RunOutput { ending: Ending::Exit(code), output }
    }

    #[test]
    fn a_failure_is_the_same_if_the_lines_are_that_do_not_change_by_themselves() {
        let recorded = seen(1, "time 1\nexpected 3 but was 4\n");
        let failing = FailingOutput::new(recorded, seen(1, "time 2\nexpected 3 but was 4\n")).unwrap();
        assert!(failing.is(seen(1, "time 9\nexpected 3 but was 4\n")));
        for other in
            [seen(2, "time 1\nexpected 3 but was 4\n"), seen(1, "time 1\nexpected 3 but was 5\n"), seen(1, "time 1\n")]
        {
            assert!(!failing.is(other), "{other:?}");
        }
        assert!(FailingOutput::new(recorded, seen(1, "time 2\n")).is_none());
        assert!(FailingOutput::new(recorded, seen(2, "time 2\nexpected 3 but was 4\n")).is_none());
    }

    #[test]
    fn the_program_prints_a_part_of_what_the_test_prints() {
        let test = |output, again| FailingOutput::new(seen(1, output), seen(1, again)).unwrap();
        let failing = test("time 1\nwrong\n\tat A.f(A.java:3)\n", "time 2\nwrong\n\tat A.f(A.java:3)\n");
        let output = "make\ntime 7\nwrong\n\tat A.g(A.java:5)\nmake: error 1\n";
        assert!(failing.is_part_of(&test(output, output)));
        let output = "make\nright\n";
        assert!(!failing.is_part_of(&test(output, output)));
        // What changes when it runs again in one virtual machine is the same in each run of the test.
        let output = "time 1\nwrong\n";
        assert!(!failing.is_part_of(&test(output, output)));
        assert!(failing.is_part_of(&test(output, "time 3\nwrong\n")));
    }
}
