//! The known state of a probe: the outcome of all its runs, or the next missing run.

use crate::hunt::Artifacts;
use crate::hunt::event::Phase;
use crate::hunt::noise::Weighing;
use crate::hunt::probe::Probe;
use crate::outcome::{Ending, Observation, Outcome, Reason, Stage};
use crate::session::runner::ticket::{Seen, State, Ticket};
use crate::session::runner::time_limit::{FEWEST, candidate_limit, is_of_reduction};
use crate::session::runner::{Runner, RunnerError};
use crate::world::cache::Key;
use std::time::Duration;

impl Runner<'_> {
    /// The known outcome of `probe`, or the next missing run.
    pub(super) fn state(&mut self, probe: &Probe) -> Result<State, RunnerError> {
        let key = self.key(probe);
        let mut seen = Seen::default();
        let mut weighing = self.noise.map(Weighing::new);
        let first = first_run(probe);
        let mut n_wanted = self.plan.order.test.repeat;
        let mut is_cut = false;
        if self.plan.artifacts() == Artifacts::Only && !probe.is_fetched {
            // Nothing can be built.
            seen.outcome = Some(Outcome::Unresolved(Reason::NoArtifact));
            return Ok(State::Known(seen));
        }
        for nth in first.. {
            let ticket = Ticket { probe: *probe, key, nth };
            let Some((observation, is_same_product)) = self.known(&ticket)? else {
                return Ok(State::Missing(ticket));
            };
            if !is_cut && self.is_to_be_run_again(&ticket, &observation)? {
                is_cut = true;
                n_wanted += 1;
                continue;
            }
            let outcome = self.judged(probe, &observation);
            if probe.run.is_none()
                && self.noise.is_none()
                && seen.outcome == Some(Outcome::Pass)
                && outcome == Outcome::Fail
            {
                return Ok(State::Disagreeing);
            }
            seen.take_in(&observation, outcome);
            seen.is_same_product |= is_same_product;
            seen.duration = observation.duration;
            let is_known = match &mut weighing {
                _ if probe.run.is_some() => true,
                // It is not asked for again.
                _ if observation.stage == Stage::Fetch => {
                    seen.outcome = Some(outcome);
                    true
                }
                Some(weighing) => {
                    weighing.add(outcome);
                    seen.outcome = weighing.verdict();
                    seen.outcome.is_some()
                }
                // One failure is a failure; everything else needs all runs.
                None => seen.outcome == Some(Outcome::Fail) || nth + 1 == first + n_wanted,
            };
            if is_known {
                break;
            }
        }
        Ok(State::Known(seen))
    }

    /// The last run of `probe`; `None` if a run is missing.
    pub fn seen(&mut self, probe: &Probe) -> Result<Option<Observation>, RunnerError> {
        if !matches!(self.state(probe)?, State::Known(_)) {
            return Ok(None);
        }
        let key = self.key(probe);
        let mut last = None;
        for nth in first_run(probe).. {
            match self.known(&Ticket { probe: *probe, key, nth })? {
                Some((observation, _)) => last = Some(observation),
                None => break,
            }
        }
        Ok(last)
    }

    /// Whether a run of a candidate reached the time limit, so that it must be repeated once before it counts:
    /// something else may have kept the machine busy. A hunted hang counts at once, and so does a result of an earlier
    /// hunt.
    fn is_to_be_run_again(&self, ticket: &Ticket, observation: &Observation) -> Result<bool, RunnerError> {
        let is_cut = observation.ending == Ending::Timeout && is_of_reduction(&ticket.probe) && !self.hunts_hang();
        Ok(is_cut && ticket.probe.run.is_none() && self.own_observation(ticket)?.is_some())
    }

    /// Whether an earlier run of the program ran and counted the answer to `probe`; only the first answer was counted.
    pub(super) fn is_counted_before(&mut self, probe: &Probe, keys: &[Key]) -> bool {
        let nth = first_run(probe);
        let Some(replay) = &self.replay else { return false };
        let held: Vec<Key> = keys.iter().copied().filter(|key| replay.holds(&key.to_string(), nth)).collect();
        held.into_iter().any(|key| self.counted_before.insert((key, nth)))
    }
}

impl Runner<'_> {
    /// The time limit of each command of a probe.
    ///
    /// For a candidate of a reduction, ten times the median of the revisions so far, at least 5 s and at most the limit
    /// of other probes. If the user gives a limit, or a hang is hunted, all probes have the same one.
    pub(super) fn limit_of(&self, probe: &Probe) -> Duration {
        let is_given = self.plan.order.test.timeout.is_some() || self.hunts_hang();
        match candidate_limit(&self.durations) {
            Some(limit) if is_of_reduction(probe) && !is_given => limit.min(self.limit),
            _ => self.limit,
        }
    }

    /// Whether a run that answered one of these probes, and backs a claim, took so long that it is not repeated.
    pub(super) fn is_claim_slow(&mut self, probes: &[Probe]) -> Result<bool, RunnerError> {
        for probe in probes.iter().filter(|probe| is_proof(probe)) {
            if matches!(self.state(probe)?, State::Known(seen) if seen.duration >= SLOW) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the hunted failure is a hang.
    pub fn hunts_hang(&self) -> bool {
        self.criteria.signature.as_ref().is_some_and(|signature| signature.ending == Ending::Timeout)
    }

    /// Sets the usual durations of the test, for the time limit of candidates; as if there had been enough probes.
    pub fn expect_durations(&mut self, durations: &[Duration]) {
        self.durations = durations.iter().cycle().take(FEWEST * durations.len()).copied().collect();
    }

    /// Records the duration of a used probe.
    pub(super) fn time(&mut self, probe: &Probe, outcome: Outcome, duration: Duration) {
        if outcome.is_testable() && !is_of_reduction(probe) {
            self.durations.push(duration);
        }
    }
}

/// A run that backs a claim and takes this time is not repeated.
const SLOW: Duration = Duration::from_secs(2);

/// What backs a claim is run for it: runs from this number on are of no use to the search, and no earlier hunt answers
/// them.
pub(super) const FIRST_OF_PROOF: u32 = 1 << 16;

/// The number of the first run that answers a probe.
pub(super) fn first_run(probe: &Probe) -> u32 {
    let first = if is_proof(probe) { FIRST_OF_PROOF } else { 0 };
    first + probe.run.unwrap_or_default()
}

/// Whether the answer of a probe backs a claim.
fn is_proof(probe: &Probe) -> bool {
    probe.is_claim && probe.phase == Phase::Verify
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hunt::drive::ProbeRunner as _;
    use crate::hunt::noise::Noise;
    use crate::outcome::Signature;
    use crate::session::order::HuntOrder;
    use crate::session::testing::{fail, observation, order, pass, probe, with_runner, words};

    #[track_caller]
    fn check(order: HuntOrder, results: &[(usize, u32, Observation)], asked: &[usize], expected: &str) {
        with_runner(order, results, |runner, world| {
            let probes: Vec<Probe> = asked.iter().map(|index| probe(world, *index, Phase::Search)).collect();
            assert_eq!(words(runner.answer(&probes).unwrap()), expected);
        });
    }

    fn repeated(n: u32) -> HuntOrder {
        let mut order = order();
        order.test.repeat = n;
        order
    }

    #[test]
    fn with_repeat_one_failure_is_enough_and_a_pass_needs_all_runs() {
        check(repeated(2), &[(0, 0, fail())], &[0], "fail");
        check(repeated(2), &[(0, 0, pass())], &[0], "Budget");
        check(repeated(2), &[(0, 0, pass()), (0, 1, pass())], &[0], "pass");
        check(repeated(2), &[(0, 0, pass()), (0, 1, fail())], &[0], "disagree");
        // Only what stands before the disagreement counts.
        check(repeated(2), &[(0, 0, fail()), (1, 0, pass()), (1, 1, fail())], &[0, 1], "fail");
        let skipped = observation(125, "");
        check(repeated(2), &[(0, 0, skipped.clone()), (0, 1, pass())], &[0], "unresolved(skip)");
        check(repeated(2), &[(0, 0, skipped), (0, 1, fail())], &[0], "fail");
    }

    #[test]
    fn a_noisy_test_never_disagrees_and_needs_as_many_runs_as_its_noise_demands() {
        let runs = |outcomes: &[bool]| -> Vec<(usize, u32, Observation)> {
            let seen = |is_pass: &bool| if *is_pass { pass() } else { fail() };
            (0..).zip(outcomes).map(|(nth, is_pass)| (0, nth, seen(is_pass))).collect()
        };
        let ask = |outcomes: &[bool], expected: &str| {
            with_runner(order(), &runs(outcomes), |runner, world| {
                runner.noise = Some(Noise { false_fails: 0.05, false_passes: 0.4 });
                let reply = runner.answer(&[probe(world, 0, Phase::Search)]).unwrap();
                assert_eq!(words(reply), expected, "{outcomes:?}");
            });
        };
        ask(&[true], "Budget");
        ask(&[true, false, false, false, false], "fail");
        ask(&[true; 12], "pass");
    }

    #[test]
    fn a_claim_counts_only_runs_in_fresh_checkouts_with_numbers_of_their_own() {
        let incremental = Observation { is_clean: false, ..fail() };
        let ask = |results: &[(usize, u32, Observation)], is_claim: bool, expected: &str| {
            with_runner(order(), results, |runner, world| {
                let asked = Probe { is_claim, ..probe(world, 2, Phase::Verify) };
                assert_eq!(words(runner.answer(&[asked]).unwrap()), expected);
            });
        };
        ask(&[(2, 0, incremental.clone())], false, "fail");
        ask(&[(2, 0, fail())], true, "Budget");
        ask(&[(2, 1 << 16, incremental)], true, "Budget");
        ask(&[(2, 1 << 16, fail())], true, "fail");
    }

    #[test]
    fn a_run_that_backs_a_claim_and_takes_two_seconds_is_slow() {
        let ask = |seconds: f64, is_claim: bool, expected: bool| {
            let seen = Observation { duration: Duration::from_secs_f64(seconds), ..fail() };
            with_runner(order(), &[(2, 0, seen.clone()), (2, 1 << 16, seen)], |runner, world| {
                let asked = Probe { is_claim, ..probe(world, 2, Phase::Verify) };
                assert_eq!(runner.has_slow_claim(&[asked]).unwrap(), expected, "{seconds} s");
            });
        };
        ask(2.0, true, true);
        ask(1.9, true, false);
        ask(9.0, false, false);
    }

    #[test]
    fn the_limit_of_a_candidate_comes_from_the_runs_before_unless_the_user_or_a_hang_sets_it() {
        let seconds = Duration::from_secs;
        with_runner(order(), &[], |runner, world| {
            let (revision, candidate) = (probe(world, 0, Phase::Search), probe(world, 0, Phase::Reduce));
            assert_eq!(runner.limit_of(&candidate), seconds(600));
            runner.time(&revision, Outcome::Unresolved(Reason::Build), seconds(900));
            runner.time(&candidate, Outcome::Fail, seconds(900));
            assert_eq!(runner.limit_of(&candidate), seconds(600));
            for _ in 0..8 {
                runner.time(&revision, Outcome::Pass, seconds(2));
            }
            assert_eq!((runner.limit_of(&candidate), runner.limit_of(&revision)), (seconds(20), seconds(600)));
            runner.limit = seconds(9);
            assert_eq!(runner.limit_of(&candidate), seconds(9));
            runner.limit = seconds(600);
            runner.criteria.signature = Some(Signature { ending: Ending::Timeout, line: None, printed: None });
            assert_eq!(runner.limit_of(&candidate), seconds(600));
        });
        let mut given = order();
        given.test.timeout = Some(seconds(30));
        with_runner(given, &[], |runner, world| {
            runner.durations = vec![seconds(1); 9];
            runner.limit = seconds(30);
            assert_eq!(runner.limit_of(&probe(world, 0, Phase::Reduce)), seconds(30));
        });
    }

    #[test]
    fn a_candidate_of_this_hunt_that_reaches_its_limit_is_run_once_more() {
        let cut = Observation { ending: Ending::Timeout, ..observation(0, "") };
        let ask = |results: &[(usize, u32, Observation)], phase, expected: &str| {
            with_runner(order(), results, |runner, world| {
                runner.compares_lines = false;
                let reply = runner.answer(&[probe(world, 0, phase)]).unwrap();
                assert_eq!(words(reply), expected);
            });
        };
        ask(&[(0, 0, cut.clone())], Phase::Reduce, "Budget");
        ask(&[(0, 0, cut.clone()), (0, 1, pass())], Phase::Reduce, "pass");
        ask(&[(0, 0, cut.clone()), (0, 1, cut.clone())], Phase::Reduce, "unresolved(timeout)");
        ask(&[(0, 0, cut)], Phase::Search, "unresolved(timeout)");
    }
}
