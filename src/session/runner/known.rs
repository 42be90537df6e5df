//! The known state of a probe: the outcome of all its runs, or the next missing run.

use crate::runner::job::{ProbeFacts, ProbeState, QueuedJob};
use crate::runner::{Runner, RunnerError};
use idd_base::{Observation, Outcome, Reason, Stage};
use idd_hunt::{Artifacts, Phase, Probe, Weighing};
use idd_world::cache::{Key, Want};
use std::time::Duration;

impl Runner<'_> {
    /// An observation of this hunt.
    pub(super) fn own_observation(&self, queued_job: &QueuedJob) -> Result<Option<Observation>, RunnerError> {
        let is_clean = self.wants_clean(&queued_job.probe);
        for key in queued_job.keys.both() {
            if let Some(observation) = self.answers.own(key, queued_job.nth, is_clean)? {
                return Ok(Some(observation));
            }
        }
        Ok(None)
    }

    /// A known observation, which can be a rejection by the precheck; and whether it is only of an equal product.
    pub(super) fn known(&mut self, queued_job: &QueuedJob) -> Result<Option<(Observation, bool)>, RunnerError> {
        let same_product = self.same_product_key(&queued_job.probe);
        let refusal_key = self.refusal_key(&queued_job.probe);
        let [with_commit, alone] = queued_job.keys.both().map(Some);
        for key in [with_commit, alone, same_product, refusal_key].into_iter().flatten() {
            if let Some(known) = self.known_at(key, queued_job)? {
                if Some(key) == refusal_key {
                    let refused = self.checks.precheck.iter_mut().map(|checking| &mut checking.refused);
                    refused.for_each(|refused| refused.extend([queued_job.probe.tree]));
                }
                return Ok(Some((known, Some(key) == same_product)));
            }
        }
        Ok(None)
    }

    fn known_at(&mut self, key: Key, queued_job: &QueuedJob) -> Result<Option<Observation>, RunnerError> {
        let clean = self.wants_clean(&queued_job.probe);
        if let Some(observation) = self.answers.own(key, queued_job.nth, clean)? {
            return Ok(Some(observation));
        }
        if self.plan.order.effort.no_cache || queued_job.nth > 0 {
            return Ok(None);
        }
        let want = Want { clean, limits: self.answering_limits(&queued_job.probe) };
        let known = self.answers.observations().lookup(&key, want);
        self.tell_of_changed_tools();
        Ok(known)
    }

    /// The known outcome of `probe`, or the next missing run.
    pub(super) fn state(&mut self, probe: &Probe) -> Result<ProbeState, RunnerError> {
        let mut seen = ProbeFacts::default();
        let mut weighing = self.judging.noise.map(Weighing::new);
        let first = first_run(probe);
        let n_wanted = self.plan.order.test.repeat;
        if self.plan.artifacts() == Artifacts::Only && !probe.is_fetched {
            // Nothing can be built.
            seen.outcome = Some(Outcome::Unresolved(Reason::NoArtifact));
            return Ok(ProbeState::Known(seen));
        }
        for nth in first.. {
            let mut queued_job = self.queued(*probe, nth);
            let Some(mut known) = self.known(&queued_job)? else { return Ok(ProbeState::Missing(queued_job)) };
            if self.is_to_be_run_again(&queued_job, &known.0)? {
                queued_job = queued_job.again();
                let Some(again) = self.known(&queued_job)? else { return Ok(ProbeState::Missing(queued_job)) };
                known = again;
            }
            let (observation, is_same_product) = known;
            let outcome = self.judged(probe, &observation);
            self.learn_limits(&queued_job, &observation, outcome)?;
            if probe.run.is_none()
                && self.judging.noise.is_none()
                && seen.outcome == Some(Outcome::Pass)
                && outcome == Outcome::Fail
            {
                return Ok(ProbeState::Disagreeing);
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
        Ok(ProbeState::Known(seen))
    }

    /// The last run of `probe`; `None` if a run is missing.
    pub fn seen(&mut self, probe: &Probe) -> Result<Option<Observation>, RunnerError> {
        if !matches!(self.state(probe)?, ProbeState::Known(_)) {
            return Ok(None);
        }
        let mut last = None;
        for nth in first_run(probe).. {
            let queued_job = self.queued(*probe, nth);
            let Some((observation, _)) = self.known(&queued_job)? else { break };
            let again = self.own_observation(&queued_job.again())?;
            last = Some(again.unwrap_or(observation));
        }
        Ok(last)
    }

    /// Whether a run that answered one of these probes, and backs a claim, took so long that it is not repeated.
    pub(super) fn is_claim_slow(&mut self, probes: &[Probe]) -> Result<bool, RunnerError> {
        for probe in probes.iter().filter(|probe| is_proof(probe)) {
            if matches!(self.state(probe)?, ProbeState::Known(seen) if seen.duration >= SLOW) {
                return Ok(true);
            }
        }
        Ok(false)
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
pub(super) fn is_proof(probe: &Probe) -> bool {
    probe.is_claim && probe.phase == Phase::Verify
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::HuntOrder;
    use crate::testing::{fail, observation, order, pass, probe, with_runner, words};
    use idd_hunt::Noise;
    use idd_hunt::drive::ProbeRunner as _;

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
                runner.judging.noise = Some(Noise { false_fails: 0.05, false_passes: 0.4 });
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
}
