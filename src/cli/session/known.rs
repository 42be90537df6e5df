//! What is known of a probe: the outcome of as many runs as it asks for, or the run that is missing.

use crate::cli::session::Session;
use crate::cli::session::SessionError;
use crate::cli::session::Ticket;
use crate::cli::session::time_limit::is_of_reduction;
use crate::hunt::Probe;
use crate::hunt::event::Phase;
use crate::hunt::noise::Weighing;
use crate::outcome::Ending;
use crate::outcome::Observation;
use crate::outcome::Outcome;
use crate::outcome::Reason;
use crate::world::cache::Key;
use std::time::Duration;

/// What was seen of one probe.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) outcome: Option<Outcome>,
    pub(super) is_tampered: bool,
    /// The time limit at which some run was cut.
    pub(super) cut_at: Option<Duration>,
    /// How long the last run took.
    pub(super) duration: Duration,
    pub(super) is_same_product: bool,
    /// What the repository lacks, as a sentence.
    pub(super) lack: Option<String>,
}

impl Seen {
    fn take_in(&mut self, observation: &Observation, seen: Outcome) {
        if matches!(observation.ending, Ending::NotRun(Reason::Object | Reason::Submodule)) {
            self.lack = Some(observation.output.trim_start_matches("git-idd: ").trim_end().to_owned());
        }
        self.is_tampered |= observation.is_tampered;
        self.cut_at = (observation.ending == Ending::Timeout).then_some(observation.limit).or(self.cut_at);
        self.outcome = match (self.outcome, seen) {
            (Some(Outcome::Unresolved(reason)), seen) if seen != Outcome::Fail => Some(Outcome::Unresolved(reason)),
            _ => Some(seen),
        };
    }
}

/// What is known of the outcome of a probe.
pub(super) enum State {
    /// All that is wanted.
    Known(Seen),
    /// Its runs disagree, and the hunt takes a single one for a verdict.
    Disagreeing,
    /// This is to be run next.
    Missing(Ticket),
}

impl Session<'_> {
    /// What is known of the outcome of `probe`: all of it, or the run that is missing.
    pub(super) fn state(&mut self, probe: &Probe) -> Result<State, SessionError> {
        let key = self.key(probe);
        let mut seen = Seen::default();
        let mut weighing = self.noise.map(Weighing::new);
        let first = first_run(probe);
        let mut n_wanted = self.plan.args.test.repeat;
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

    /// Whether a run of a candidate was cut at the time limit, so that another one is wanted before that means anything: something
    /// else may have kept the machine busy. A hang that is hunted is believed, and so is what an earlier hunt has seen.
    fn is_to_be_run_again(&self, ticket: &Ticket, observation: &Observation) -> Result<bool, SessionError> {
        let is_cut = observation.ending == Ending::Timeout && is_of_reduction(&ticket.probe) && !self.hunts_hang();
        Ok(is_cut && ticket.probe.run.is_none() && self.own_observation(ticket)?.is_some())
    }

    /// Whether an earlier run of the program ran what answers `probe`, and counted it; only the first answer was counted so.
    pub(super) fn is_counted_before(&mut self, probe: &Probe, keys: &[Key]) -> bool {
        let nth = first_run(probe);
        let Some(replay) = &self.replay else { return false };
        let held: Vec<Key> = keys.iter().copied().filter(|key| replay.holds(&key.to_string(), nth)).collect();
        held.into_iter().any(|key| self.counted_before.insert((key, nth)))
    }
}

/// What backs a claim is run for it: runs from this number on are of no use to the search, and no earlier hunt answers them.
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
