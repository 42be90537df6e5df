//! The known state of a probe: the outcome of all its runs, or the next missing run.

use crate::hunt::event::Phase;
use crate::hunt::noise::Weighing;
use crate::hunt::probe::Probe;
use crate::outcome::Ending;
use crate::outcome::Observation;
use crate::outcome::Outcome;
use crate::session::runner::Runner;
use crate::session::runner::RunnerError;
use crate::session::runner::ticket::Seen;
use crate::session::runner::ticket::State;
use crate::session::runner::ticket::Ticket;
use crate::session::runner::time_limit::candidate_limit;
use crate::session::runner::time_limit::is_of_reduction;
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

    /// Whether the hunted failure is a hang.
    pub(super) fn hunts_hang(&self) -> bool {
        self.criteria.signature.as_ref().is_some_and(|signature| signature.ending == Ending::Timeout)
    }

    /// Records the duration of a used probe.
    pub(super) fn time(&mut self, probe: &Probe, outcome: Outcome, duration: Duration) {
        if outcome.is_testable() && !is_of_reduction(probe) {
            self.durations.push(duration);
        }
    }
}

/// What backs a claim is run for it: runs from this number on are of no use to the search, and no earlier hunt answers
/// them.
const FIRST_OF_PROOF: u32 = 1 << 16;

/// The number of the first run that answers a probe.
pub(super) fn first_run(probe: &Probe) -> u32 {
    let first = if is_proof(probe) { FIRST_OF_PROOF } else { 0 };
    first + probe.run.unwrap_or_default()
}

/// Whether the answer of a probe backs a claim.
fn is_proof(probe: &Probe) -> bool {
    probe.is_claim && probe.phase == Phase::Verify
}
