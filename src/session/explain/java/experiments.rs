//! Tests of links: the failing program runs again and again, and does at one step each time what the reference does there.
//!
//! Source: Sumner and Zhang, section 3: a value is a cause of the failure if the failure goes away with the value of the
//! reference in its place. Deviation: the whole test runs for each value, and says what becomes of the failure; the next
//! link is not looked at. Values that another process cannot be given, such as objects, are not replaced.

use std::time::Duration;
use std::time::Instant;

use crate::explain::java::effects::Remedy;
use crate::instrument::java::replace::Replacement;
use crate::outcome;
use crate::outcome::Observation;
use crate::report::Untrusted;
use crate::report::chain::Tested;
use crate::revision::TreeId;
use crate::session::explain::java::Side;
use crate::session::explain::model::Explainer;
use crate::session::explain::model::interrupted;
use crate::session::explain::sides::job;
use crate::session::failure::Failure;
use crate::session::interrupt::Interrupt;
use crate::session::record::instruments::Instruments;
use crate::session::record::missed;
use crate::session::record::observe;
use crate::trace::container::Process;
use crate::world::run::sandbox::Job;
use crate::world::run::sandbox::Sandbox;

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
    pub(super) found: Vec<Option<Tested>>,
    /// Runs of the test.
    pub(super) n_runs: u64,
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
    instruments: &'l Instruments<'l>,
    sandbox: &'l mut Sandbox,
    interrupt: Interrupt,
    /// The test on the failing version, whose build is there.
    job: Job,
    /// The virtual machine in which values are replaced.
    process: Process,
    /// How the test ended when it was recorded, and what it printed.
    recorded: (outcome::Ending, String),
    /// How many runs there may be, and how long they may take.
    limits: (u64, Option<Duration>),
}

/// What a failing test prints, as far as it is the same in each run.
struct Failing {
    ending: outcome::Ending,
    /// The lines, and whether each one is the same in another run.
    lines: Vec<(String, bool)>,
}

impl Failing {
    /// - `again`: what the test printed in another run.
    ///
    /// `None` if both are not alike.
    fn new((ending, output): &(outcome::Ending, String), again: &Observation) -> Option<Self> {
        let same = output.lines().zip(again.output.lines());
        let lines: Vec<(String, bool)> = same.map(|(one, other)| (one.to_owned(), one == other)).collect();
        let is_alike = output.lines().count() == again.output.lines().count() && *ending == again.ending;
        is_alike.then_some(Self { ending: *ending, lines })
    }

    /// Whether a run fails in the same way.
    fn is(&self, seen: &Observation) -> bool {
        let is_as_long = seen.output.lines().count() == self.lines.len();
        seen.ending == self.ending && is_as_long && self.other(seen).is_none()
    }

    /// The first line that a run prints otherwise.
    fn other<'o>(&self, seen: &'o Observation) -> Option<&'o str> {
        let mut lines = self.lines.iter();
        let mut is_same = |line: &str| lines.next().is_some_and(|(own, is_fixed)| !is_fixed || own == line);
        let mut others = seen.output.lines().filter(|line| !is_same(line)).map(str::trim);
        let first = others.next()?;
        // Where it was thrown says less than what was thrown.
        Some(if is_frame(first) { others.find(|line| !is_frame(line)).unwrap_or(first) } else { first })
    }
}

/// Whether a line is of a stack trace.
fn is_frame(line: &str) -> bool {
    line.starts_with("at ") || line.starts_with("... ")
}

impl<'l> Laboratory<'l> {
    /// For the failing version.
    pub(super) fn new(
        explainer: &Explainer<'_>,
        (instruments, sandbox): (&'l Instruments<'l>, &'l mut Sandbox),
        (bad, number, tree): (&Side, usize, TreeId),
    ) -> Self {
        Self {
            instruments,
            sandbox,
            interrupt: explainer.interrupt.clone(),
            job: Job { is_clean: false, ..job(tree, explainer.limit()) },
            process: bad.processes[number].process.clone(),
            recorded: (bad.ending, bad.output.clone()),
            limits: (explainer.order.max_tests, explainer.order.budget),
        }
    }

    /// Tests links, the last one first: it is the nearest to the failure.
    ///
    /// Cost: a run of the test for each link whose values can be replaced, and two more to see that it fails again, before and
    /// after that.
    pub(super) fn test(&mut self, remedies: &[Remedy]) -> Result<Experiments, Failure> {
        let mut done = Experiments { found: vec![None; remedies.len()], ..Experiments::default() };
        let begin = Instant::now();
        if remedies.iter().all(Vec::is_empty) {
            return Ok(done);
        }
        let (max_runs, budget) = (self.limits.0, self.limits.1.unwrap_or(BUDGET));
        done.n_runs = 1;
        let Some((again, _)) = self.run(&[])? else { return Ok(done) };
        let Some(failing) = Failing::new(&self.recorded, &again) else {
            done.remark = Some(UNLIKE.to_owned());
            return Ok(done);
        };
        // A value may make the program run on and on.
        self.job.limit = self.job.limit.min(again.duration * SLOWER.0 + SLOWER.1);
        for (remedy, found) in remedies.iter().zip(&mut done.found).rev() {
            if remedy.is_empty() {
                continue;
            }
            if done.n_runs > max_runs || begin.elapsed() >= budget {
                done.remark = Some("some links were not tested: the limit of the tests was reached".to_owned());
                break;
            }
            done.n_runs += 1;
            let Some((seen, is_done)) = self.run(remedy)? else { break };
            *found = if !is_done {
                None
            } else if seen.ending == outcome::Ending::Exit(0) {
                Some(Tested::Passes)
            } else if !failing.is(&seen) {
                let other = failing.other(&seen).map_or_else(|| seen.ending.to_string(), missed::shown);
                Some(Tested::FailsOtherwise(Untrusted::from(other)))
            } else {
                Some(Tested::Fails)
            };
        }
        // A test that counts its runs in a file, say, passes by itself after some time.
        if done.found.iter().any(Option::is_some) {
            done.n_runs += 1;
            if self.run(&[])?.is_none_or(|(again, _)| !failing.is(&again)) {
                done.found.fill(None);
                done.remark = Some(UNLIKE.to_owned());
            }
        }
        Ok(done)
    }

    /// Runs the test with replaced values; the result has whether all were replaced, in the virtual machine that is meant
    /// and in no other one. `None` if it cannot be told.
    pub(super) fn run(&mut self, replacements: &[Replacement]) -> Result<Option<(Observation, bool)>, Failure> {
        let Self { instruments, sandbox, interrupt, job, process, .. } = self;
        let ran = instruments.replace(job, replacements, &mut |job, commands, listener| {
            observe(sandbox, job, commands, (listener, interrupt))?.ok_or_else(interrupted)
        })?;
        let is_meant = |other: &Process| other.words == process.words;
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
    use crate::outcome::Stage;

    fn seen(code: i32, output: &str) -> Observation {
        Observation {
            stage: Stage::Test,
            ending: outcome::Ending::Exit(code),
            duration: Duration::ZERO,
            limit: Duration::ZERO,
            output: output.to_owned(),
            is_clean: true,
            is_tampered: false,
        }
    }

    #[test]
    fn a_failure_is_the_same_if_the_lines_are_that_do_not_change_by_themselves() {
        let recorded = (outcome::Ending::Exit(1), "time 1\nexpected 3 but was 4\n".to_owned());
        let failing = Failing::new(&recorded, &seen(1, "time 2\nexpected 3 but was 4\n")).unwrap();
        assert!(failing.is(&seen(1, "time 9\nexpected 3 but was 4\n")));
        for other in
            [seen(2, "time 1\nexpected 3 but was 4\n"), seen(1, "time 1\nexpected 3 but was 5\n"), seen(1, "time 1\n")]
        {
            assert!(!failing.is(&other), "{other:?}");
        }
        assert!(Failing::new(&recorded, &seen(1, "time 2\n")).is_none());
        assert!(Failing::new(&recorded, &seen(2, "time 2\nexpected 3 but was 4\n")).is_none());
    }
}
