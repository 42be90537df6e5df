//! Noise: how often a test has the wrong outcome, and the number of runs that a verdict then takes.
//!
//! After two runs of one tree have disagreed, a single run is evidence, not a verdict.

use idd_base::{Outcome, Reason};

/// How often a test has the wrong outcome. Both are shares of runs, in 0..1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// The share of failing runs among the runs of revisions without the cause of the failure.
    pub false_fails: f64,
    /// The share of passing runs among the runs of revisions with the cause.
    pub false_passes: f64,
}

impl Noise {
    /// The assumed noise before any measurement: the mean of the prior of [`crate::belief::Belief`].
    ///
    /// - `rate`: the rate that the user gave, if any. From one half on, it is that of passes: a test that fails now and then
    ///   since some commit.
    pub fn expected(rate: Option<f64>) -> Self {
        let rate = rate.unwrap_or(UNKNOWN_RATE);
        Self { false_fails: if rate < 0.5 { rate } else { RARE }, false_passes: rate }
    }

    /// Returns the evidence of one run for the cause being in the tree, in nats; negative for a pass.
    ///
    /// A rate below [`MIN_RATE`] counts as that one, because few runs cannot show a smaller rate.
    pub fn weight(self, is_fail: bool) -> f64 {
        let (false_fails, false_passes) = (self.false_fails.max(MIN_RATE), self.false_passes.max(MIN_RATE));
        if is_fail { ((1.0 - false_passes) / false_fails).ln() } else { (false_passes / (1.0 - false_fails)).ln() }
    }
}

/// The mean of an unknown rate.
const UNKNOWN_RATE: f64 = 0.2;

/// The rate of false failures of a test that often passes with the cause.
const RARE: f64 = 0.05;

/// No verdict assumes a rate below this one, so each takes at least two runs.
const MIN_RATE: f64 = 0.02;

/// The maximum probability that a verdict is wrong. It is far below the error allowed for the whole hunt, because a
/// hunt depends on many verdicts.
const MAX_ERROR: f64 = 0.002;

/// The same for an end of a pair whose probability is computed as well.
const MAX_ERROR_OF_END: f64 = 0.02;

/// If a verdict needs more runs than this, there is none.
const MAX_RUNS: u32 = 400;

/// The runs of one tree, weighed until they give a verdict.
///
/// Source: Wald 1945, the sequential probability ratio test with equal errors of both kinds. A third outcome,
/// unresolved, is the verdict if it occurs at least twice, and more often than the two others together. A failed build
/// is a verdict at once.
#[derive(Debug, Clone, Copy)]
pub struct Weighing {
    noise: Noise,
    max_error: f64,
    /// The logarithm of the odds that the cause is in the tree.
    log_odds: f64,
    n_decided: u32,
    n_unresolved: u32,
    reason: Option<Reason>,
}

impl Weighing {
    /// Begins with even odds.
    pub fn new(noise: Noise) -> Self {
        Self { noise, max_error: MAX_ERROR, log_odds: 0.0, n_decided: 0, n_unresolved: 0, reason: None }
    }

    /// The same for an end of a pair. Both outcomes have the higher rate of the two: where a test is noisy in a part of
    /// the history only, one run that the rates of the whole line make nearly impossible proves nothing. A rate of one half
    /// or more can only be that of one side.
    pub fn of_end(noise: Noise) -> Self {
        let rate = noise.false_fails.max(noise.false_passes);
        let noise = if rate < 0.5 { Noise { false_fails: rate, false_passes: rate } } else { noise };
        Self { max_error: MAX_ERROR_OF_END, ..Self::new(noise) }
    }

    /// Adds the outcome of one run.
    pub fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Pass | Outcome::Fail => {
                self.log_odds += self.noise.weight(outcome == Outcome::Fail);
                self.n_decided += 1;
            }
            Outcome::Unresolved(reason) => {
                self.reason.get_or_insert(reason);
                self.n_unresolved += 1;
            }
        }
    }

    /// Returns the verdict, or `None` if more runs are needed.
    pub fn verdict(&self) -> Option<Outcome> {
        let limit = ((1.0 - self.max_error) / self.max_error).ln();
        if let Some(reason) = self.reason {
            let is_believed = self.n_unresolved > self.n_decided && self.n_unresolved > 1;
            if is_believed || (reason == Reason::Build && self.n_decided == 0) {
                return Some(Outcome::Unresolved(reason));
            }
        }
        if self.log_odds.abs() >= limit {
            return Some(if self.log_odds > 0.0 { Outcome::Fail } else { Outcome::Pass });
        }
        let is_hopeless = self.n_decided + self.n_unresolved >= MAX_RUNS;
        is_hopeless.then_some(Outcome::Unresolved(self.reason.unwrap_or(Reason::Other)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(noise: (f64, f64), runs: &str, expected: Option<Outcome>) {
        let (false_fails, false_passes) = noise;
        let mut weighing = Weighing::new(Noise { false_fails, false_passes });
        for (index, run) in runs.chars().enumerate() {
            assert_eq!(weighing.verdict(), None, "decided after {index} runs");
            weighing.add(match run {
                'P' => Outcome::Pass,
                'F' => Outcome::Fail,
                'B' => Outcome::Unresolved(Reason::Build),
                _ => Outcome::Unresolved(Reason::Signal),
            });
        }
        assert_eq!(weighing.verdict(), expected);
    }

    #[test]
    fn the_runs_of_a_verdict_are_as_many_as_the_odds_ask() {
        check((0.1, 0.001), "PP", Some(Outcome::Pass));
        check((0.1, 0.001), "FFF", Some(Outcome::Fail));
        check((0.1, 0.001), "FP", None);
        check((0.1, 0.001), "FPPP", Some(Outcome::Pass));
        check((0.3, 0.3), "FFFFFFF", None);
        check((0.3, 0.3), "FFFFFFFF", Some(Outcome::Fail));
        // A failure that occurs now and then: a pass says little, a failure nearly everything.
        check((0.001, 0.7), "PPPPPFFF", Some(Outcome::Fail));
    }

    #[test]
    fn an_unresolved_run_is_believed_when_it_comes_again() {
        check((0.1, 0.1), "S", None);
        check((0.1, 0.1), "SS", Some(Outcome::Unresolved(Reason::Signal)));
        check((0.1, 0.1), "SPPP", Some(Outcome::Pass));
        check((0.1, 0.1), "B", Some(Outcome::Unresolved(Reason::Build)));
        check((0.1, 0.1), "FB", None);
    }
}
