//! Time limits. A limit that is measured says little about a run that builds more than the measured one, so a run that is
//! cut is repeated with more time. Reductions often make endless loops, so their candidates have a shorter limit.

use crate::criteria::FIRST_LIMIT;
use crate::runner::job::QueuedJob;
use crate::runner::known::is_proof;
use crate::runner::{Runner, RunnerError};
use idd_base::{CommitId, Ending, Observation, Outcome, Stage, TimeLimits, TreeId};
use idd_hunt::{Phase, Probe};
use idd_report::{Terminal, Untrusted, text};
use std::collections::HashSet;
use std::mem;
use std::time::Duration;

/// The limit of a test after runs of which the longest took a second, in seconds; and its minimum.
const OF_TEST: (u32, Duration) = (4, Duration::from_secs(20));

/// The same for a build.
const OF_BUILD: (u32, Duration) = (10, Duration::from_secs(10 * 60));

/// A run that is repeated because it was cut may take this many times as long.
const EXTENSION: u32 = 4;

/// A candidate may take this many times as long as a revision of the history.
const FACTOR: u32 = 10;

/// It may always take this long.
const FLOOR: Duration = Duration::from_secs(5);

/// After this many candidates that hung in both of their runs, a candidate that hangs is not run again.
const N_HUNG_TWICE: usize = 3;

/// With fewer runs there is no median.
pub(super) const FEWEST: usize = 3;

/// Whether a probe is a candidate of a reduction (of the culprit or of a repair) that supports no claim.
pub(super) fn is_of_reduction(probe: &Probe) -> bool {
    matches!(probe.phase, Phase::Reduce | Phase::Repair) && !probe.is_claim
}

/// Ten times the median, at least 5 s; `None` for fewer than three durations.
pub(super) fn candidate_limit(durations: &[Duration]) -> Option<Duration> {
    let mut sorted = durations.to_vec();
    sorted.sort_unstable();
    (sorted.len() >= FEWEST).then(|| sorted[sorted.len() / 2].saturating_mul(FACTOR).max(FLOOR))
}

/// The time limits after runs of which the longest took this time.
pub fn measured_limits(longest: Duration) -> TimeLimits {
    let [build, test] = [OF_BUILD, OF_TEST].map(|(factor, floor)| longest.saturating_mul(factor).max(floor));
    TimeLimits { build, test }
}

/// The time limits of a hunt, and the runs that they come from.
pub struct RunTimes {
    /// The limits of every further command, except those of candidates.
    pub limits: TimeLimits,
    /// The least time of a run that is repeated because it was cut; none once one has hung for so long.
    patience: Duration,
    /// A revision other than the bad one that was tested in this hunt.
    elsewhere: Option<CommitId>,
    /// The durations of used probes, without candidates of reductions.
    pub(super) durations: Vec<Duration>,
    /// The candidates that hung in both of their runs; emptied when a repeated run ends by itself.
    hung_twice: HashSet<TreeId>,
}

impl RunTimes {
    /// Nothing has run.
    pub(super) fn new(limits: TimeLimits) -> Self {
        Self { limits, patience: FIRST_LIMIT, elsewhere: None, durations: Vec::new(), hung_twice: HashSet::new() }
    }
}

impl Runner<'_> {
    /// The time limits of the commands of a run.
    ///
    /// For the test of a candidate of a reduction, ten times the median of the revisions so far, at least 5 s and at most
    /// the limit of other probes. If the user gives a limit, or a hang is hunted, all runs have the same limits.
    pub(super) fn limits_of(&self, queued_job: &QueuedJob) -> TimeLimits {
        if !self.measures_limits() {
            return self.judging.times.limits;
        }
        match candidate_limit(&self.judging.times.durations) {
            Some(limit) if is_of_reduction(&queued_job.probe) => {
                TimeLimits { test: limit.min(self.judging.times.limits.test), ..self.judging.times.limits }
            }
            _ if is_of_reduction(&queued_job.probe) => self.judging.times.limits,
            _ if queued_job.is_again() || self.lacks_caches(queued_job) || self.is_first_elsewhere(queued_job) => {
                self.extended_limits()
            }
            _ => self.judging.times.limits,
        }
    }

    /// Whether a run sees less of what was built before than the runs that were measured.
    fn lacks_caches(&self, queued_job: &QueuedJob) -> bool {
        queued_job.probe.is_claim && !self.surroundings().caches.is_empty()
    }

    /// Whether no revision but the bad one was tested. A test that builds had nothing to build there, if the user has built it before.
    fn is_first_elsewhere(&self, queued_job: &QueuedJob) -> bool {
        self.judging.times.elsewhere.is_none() && queued_job.probe.revision != self.plan.bad
    }

    /// Says once that the runs which prove a claim build everything.
    pub(super) fn say_if_cold(&mut self, queued_job: &QueuedJob) {
        if self.lacks_caches(queued_job) && !mem::replace(&mut self.noticed.is_cold_said, true) {
            let caches = self.surroundings().caches.iter().map(|cache| format!("`{}`", cache.path.display()));
            let caches = caches.collect::<Vec<_>>().join(", ");
            let said = format!("Fresh checkouts do not have {caches}, so each of them is built anew.");
            self.talk.say(&Terminal.line(&Untrusted::from(said)));
        }
    }

    /// The limits of a run that is repeated because it was cut, or that builds more than those which were measured: four times the usual ones. Until a run has hung, at least
    /// what a first run has, because the measured run may have found what this one has to build.
    fn extended_limits(&self) -> TimeLimits {
        let TimeLimits { build, test } = self.judging.times.limits;
        TimeLimits {
            build: build.saturating_mul(EXTENSION),
            test: test.saturating_mul(EXTENSION).max(self.judging.times.patience),
        }
    }

    /// The time that an earlier result must have had: one that would be repeated is no answer.
    pub(super) fn answering_limits(&self, probe: &Probe) -> TimeLimits {
        let queued_job = self.queued(*probe, 0);
        self.limits_of(&if is_of_reduction(probe) { queued_job } else { queued_job.again() })
    }

    /// Whether limits come from measured runs.
    fn measures_limits(&self) -> bool {
        self.plan.order.test.timeout.is_none() && !self.hunts_hang()
    }

    /// Whether a run reached its time limit, so that it must be repeated once before it counts: something else may have
    /// kept the machine busy, or it builds more than the run that was measured. A hunted hang counts at once, and so do
    /// a limit of the user's, one that was longer than usual, a result of an earlier hunt, a claim about a tree whose
    /// run was cut in the search, and a candidate behind several that hung in both of their runs.
    pub(super) fn is_to_be_run_again(&self, queued_job: &QueuedJob, seen: &Observation) -> Result<bool, RunnerError> {
        if seen.ending != Ending::Timeout || self.hunts_hang() || self.own_observation(queued_job)?.is_none() {
            return Ok(false);
        }
        if is_of_reduction(&queued_job.probe) {
            let is_first = queued_job.probe.run.is_none() && self.judging.times.hung_twice.len() < N_HUNG_TWICE;
            return Ok(is_first && seen.stage == Stage::Test);
        }
        if seen.limit > self.judging.times.limits.of(seen.stage) {
            return Ok(false);
        }
        let warm = QueuedJob { probe: Probe { is_claim: false, ..queued_job.probe }, nth: 0, ..*queued_job };
        let was_cut = self.own_observation(&warm)?.is_some_and(|seen| seen.ending == Ending::Timeout);
        Ok(self.measures_limits() && !(is_proof(&queued_job.probe) && was_cut))
    }

    /// Takes in the result of a run.
    pub(super) fn learn_limits(
        &mut self,
        queued_job: &QueuedJob,
        seen: &Observation,
        outcome: Outcome,
    ) -> Result<(), RunnerError> {
        let is_hang = seen.ending == Ending::Timeout;
        if is_of_reduction(&queued_job.probe) && queued_job.is_again() {
            if is_hang {
                self.judging.times.hung_twice.insert(queued_job.probe.tree);
            } else {
                self.judging.times.hung_twice.clear();
            }
        }
        if !self.measures_limits() || is_of_reduction(&queued_job.probe) || seen.stage != Stage::Test {
            return Ok(());
        }
        let revision = queued_job.probe.revision;
        if outcome.is_testable() && revision != self.plan.bad && self.own_observation(queued_job)?.is_some() {
            self.judging.times.elsewhere = Some(revision);
        }
        if is_hang && seen.limit >= FIRST_LIMIT {
            self.judging.times.patience = Duration::ZERO;
        }
        if !is_hang && seen.duration > self.judging.times.limits.test {
            let TimeLimits { build, test } = measured_limits(seen.duration);
            self.judging.times.limits.build = self.judging.times.limits.build.max(build);
            self.judging.times.limits.test = self.judging.times.limits.test.max(test);
        }
        Ok(())
    }

    /// Says that a run is repeated because it was cut.
    pub(super) fn say_if_again(&mut self, queued_job: &QueuedJob) -> Result<(), RunnerError> {
        let first = QueuedJob { nth: queued_job.nth_before(), ..*queued_job };
        if is_of_reduction(&queued_job.probe) || !queued_job.is_again() {
            return Ok(());
        }
        if let Some(cut) = self.own_observation(&first)? {
            let limit = self.limits_of(queued_job).of(cut.stage);
            let [cut, limit] = [cut.limit, limit].map(|limit| text::duration(limit.as_secs_f64()));
            let revision = queued_job.probe.revision.short();
            self.talk.say(&format!("{revision} was killed after {cut}. It runs again, for up to {limit}."));
        }
        Ok(())
    }

    /// Whether the hunted failure is a hang.
    pub fn hunts_hang(&self) -> bool {
        self.judging.criteria.signature.as_ref().is_some_and(|signature| signature.ending == Ending::Timeout)
    }

    /// Sets the usual durations of the test, for the time limit of candidates; as if there had been enough probes.
    pub fn expect_durations(&mut self, durations: &[Duration]) {
        self.judging.times.durations = durations.iter().cycle().take(FEWEST * durations.len()).copied().collect();
    }

    /// The mean duration of a used probe; `None` before the first one.
    pub fn mean_duration(&self) -> Option<Duration> {
        let n = u32::try_from(self.judging.times.durations.len()).ok().filter(|n| *n > 0)?;
        Some(self.judging.times.durations.iter().sum::<Duration>() / n)
    }

    /// Records the duration of a used probe.
    pub(super) fn time(&mut self, probe: &Probe, outcome: Outcome, duration: Duration) {
        if outcome.is_testable() && !is_of_reduction(probe) {
            self.judging.times.durations.push(duration);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::HuntOrder;
    use crate::runner::job::AGAIN;
    use crate::runner::known::FIRST_OF_PROOF;
    use crate::testing::{observation, order, pass, probe, with_runner, words};
    use idd_base::{Reason, Signature};
    use idd_hunt::drive::ProbeRunner as _;
    use idd_world::place::surroundings::{ShownPath, Surroundings};

    #[track_caller]
    fn check(milliseconds: &[u64], expected_ms: Option<u64>) {
        let durations: Vec<Duration> = milliseconds.iter().copied().map(Duration::from_millis).collect();
        assert_eq!(candidate_limit(&durations), expected_ms.map(Duration::from_millis));
    }

    #[test]
    fn a_candidate_may_take_ten_times_the_median_and_at_least_five_seconds() {
        check(&[], None);
        check(&[9000, 9000], None);
        check(&[10, 20, 30], Some(5000));
        check(&[700, 60_000, 600], Some(7000));
        check(&[900, 100, 800, 700], Some(8000));
    }

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_limit_of_a_candidate_comes_from_the_runs_before_unless_the_user_or_a_hang_sets_it() {
        let limit = |runner: &Runner<'_>, asked: Probe| runner.limits_of(&runner.queued(asked, 0)).test;
        with_runner(order(), &[], |runner, world| {
            let (revision, candidate) = (probe(world, 0, Phase::Search), probe(world, 0, Phase::Reduce));
            runner.judging.times.elsewhere = Some(world.commits[1]);
            assert_eq!(limit(runner, candidate), seconds(600));
            runner.time(&revision, Outcome::Unresolved(Reason::Build), seconds(900));
            runner.time(&candidate, Outcome::Fail, seconds(900));
            assert_eq!(limit(runner, candidate), seconds(600));
            for _ in 0..8 {
                runner.time(&revision, Outcome::Pass, seconds(2));
            }
            assert_eq!((limit(runner, candidate), limit(runner, revision)), (seconds(20), seconds(600)));
            runner.judging.times.limits = TimeLimits::both(seconds(9));
            assert_eq!(limit(runner, candidate), seconds(9));
            runner.judging.times.limits = TimeLimits::both(seconds(600));
            runner.judging.criteria.signature =
                Some(Signature { ending: Ending::Timeout, test: None, line: None, printed: None });
            assert_eq!(limit(runner, candidate), seconds(600));
        });
        let mut given = order();
        given.test.timeout = Some(seconds(30));
        with_runner(given, &[], |runner, world| {
            runner.judging.times.durations = vec![seconds(1); 9];
            runner.judging.times.limits = TimeLimits::both(seconds(30));
            assert_eq!(limit(runner, probe(world, 0, Phase::Reduce)), seconds(30));
        });
    }

    #[test]
    fn a_proof_that_does_not_see_the_cache_of_the_search_has_the_time_of_a_first_run_and_says_so_once() {
        let cache = ShownPath { path: "target".into(), source: "/x".into(), is_large: true, digest: [0; 32] };
        let said = with_runner(order(), &[], |runner, world| {
            let queued = |runner: &Runner<'_>, asked: AskedProbe| {
                let probe = Probe { is_claim: asked.is_claim, ..probe(world, 0, asked.phase) };
                runner.queued(probe, 0)
            };
            let limit = |runner: &Runner<'_>, asked| runner.limits_of(&queued(runner, asked)).test;
            runner.judging.times.limits = measured_limits(seconds(1));
            runner.judging.times.elsewhere = Some(world.commits[1]);
            assert_eq!(limit(runner, CLAIMED), seconds(20));
            runner.stand(Surroundings { caches: vec![cache], ..runner.surroundings().clone() });
            assert_eq!([SEARCHED, CLAIMED].map(|asked| limit(runner, asked)), [20, 600].map(seconds));
            for asked in [SEARCHED, CLAIMED, CLAIMED] {
                let queued = queued(runner, asked);
                runner.say_if_cold(&queued);
            }
        });
        assert_eq!(said, ["Fresh checkouts do not have `target`, so each of them is built anew."]);
    }

    fn cut(limit: Duration) -> Observation {
        Observation { ending: Ending::Timeout, limit, ..observation(0, "") }
    }

    /// Asks for tree 0 after a run that was measured as one second, and returns what the limits are then.
    #[track_caller]
    fn ask(order: HuntOrder, results: &[(usize, u32, Observation)], asked: AskedProbe, expected: &str) -> [u64; 2] {
        let mut limits = [0; 2];
        with_runner(order, results, |runner, world| {
            runner.judging.compares_lines = false;
            runner.judging.times.limits = measured_limits(seconds(1));
            runner.judging.times.elsewhere = Some(world.commits[1]);
            let asked = Probe { is_claim: asked.is_claim, ..probe(world, 0, asked.phase) };
            assert_eq!(words(runner.answer(&[asked]).unwrap()), expected);
            let again = runner.queued(asked, AGAIN);
            limits = [runner.judging.times.limits.test, runner.limits_of(&again).test].map(|limit| limit.as_secs());
        });
        limits
    }

    #[test]
    fn the_first_other_revision_has_the_time_of_a_first_run_because_a_test_that_builds_may_have_had_nothing_to_build() {
        let answered = |results: &[(usize, u32, Observation)], expected: &[&str]| {
            let mut limits = Vec::new();
            with_runner(order(), results, |runner, world| {
                runner.judging.compares_lines = false;
                runner.judging.times.limits = measured_limits(seconds(1));
                let asked = [0, 1].map(|index| probe(world, index, Phase::Search));
                let limit =
                    |runner: &Runner<'_>, probe: &Probe| runner.limits_of(&runner.queued(*probe, 0)).test.as_secs();
                limits.push(limit(runner, &asked[0]));
                for (probe, expected) in asked.iter().zip(expected) {
                    assert_eq!(words(runner.answer(&[*probe]).unwrap()), *expected);
                    limits.push(limit(runner, &asked[1]));
                }
            });
            limits
        };
        let built = Observation { duration: seconds(30), limit: seconds(600), ..pass() };
        assert_eq!(answered(&[(0, 0, built)], &["pass"]), [600, 120]);
        // It has had the time of a repeated run. The next one hangs for as long as repeated runs do after a hang.
        assert_eq!(answered(&[(0, 0, cut(seconds(600)))], &["unresolved(timeout)"]), [600, 80]);
        // A build that fails says nothing about the time of others.
        let failed = Observation { stage: Stage::Build, ..observation(1, "error: no\n") };
        assert_eq!(answered(&[(0, 0, failed)], &["unresolved(build)"]), [600, 600]);
    }

    #[derive(Clone, Copy)]
    struct AskedProbe {
        phase: Phase,
        is_claim: bool,
    }

    const SEARCHED: AskedProbe = AskedProbe { phase: Phase::Search, is_claim: false };
    const CLAIMED: AskedProbe = AskedProbe { phase: Phase::Verify, is_claim: true };
    const REDUCED: AskedProbe = AskedProbe { phase: Phase::Reduce, is_claim: false };

    #[test]
    fn a_candidate_of_this_hunt_that_reaches_its_limit_is_run_once_more() {
        let cut = cut(seconds(20));
        ask(order(), &[(0, 0, cut.clone())], REDUCED, "Budget");
        ask(order(), &[(0, 0, cut.clone()), (0, AGAIN, pass())], REDUCED, "pass");
        ask(order(), &[(0, 0, cut.clone()), (0, AGAIN, cut)], REDUCED, "unresolved(timeout)");
    }

    #[test]
    fn behind_three_candidates_that_hang_twice_the_next_is_run_once_until_one_ends_when_it_is_repeated() {
        let hung = |tree| [(tree, 0, cut(seconds(5))), (tree, AGAIN, cut(seconds(5)))];
        let results = [hung(0).to_vec(), hung(1).to_vec(), hung(2).to_vec(), vec![(3, 0, cut(seconds(5)))]].concat();
        let answers = |results: &[(usize, u32, Observation)], n_trees: usize| {
            let mut answers = Vec::new();
            with_runner(order(), results, |runner, world| {
                runner.judging.times.limits = measured_limits(seconds(1));
                for tree in 0..n_trees {
                    let candidate = probe(world, tree, Phase::Reduce);
                    // Asking twice is no second candidate.
                    answers = [(); 2].map(|()| words(runner.answer(&[candidate]).unwrap())).to_vec();
                }
            });
            answers
        };
        assert_eq!(answers(&results, 4), ["unresolved(timeout)"; 2]);
        // Two are too few, however often they are asked for.
        assert_eq!(answers(&results[..5], 3), ["Budget"; 2]);
        let ended = results.iter().map(|(tree, nth, seen)| {
            let is_ended = (*tree, *nth) == (2, AGAIN);
            (*tree, *nth, if is_ended { pass() } else { seen.clone() })
        });
        assert_eq!(answers(&ended.collect::<Vec<_>>(), 4), ["Budget"; 2]);
    }

    #[test]
    fn a_revision_that_is_cut_is_run_once_more_with_the_time_of_a_first_run_and_its_time_counts_from_then_on() {
        let first = (0, 0, cut(seconds(20)));
        assert_eq!(ask(order(), std::slice::from_ref(&first), SEARCHED, "Budget"), [20, 600]);
        let built = Observation { duration: seconds(180), limit: seconds(600), ..pass() };
        assert_eq!(ask(order(), &[first.clone(), (0, AGAIN, built.clone())], SEARCHED, "pass"), [720, 2880]);
        // One that hangs is no reason to wait so long again.
        let hung = (0, AGAIN, cut(seconds(600)));
        assert_eq!(ask(order(), &[first.clone(), hung.clone()], SEARCHED, "unresolved(timeout)"), [20, 80]);
        let proved = |nth| FIRST_OF_PROOF + nth;
        let claimed = [(0, proved(0), cut(seconds(20))), (0, proved(AGAIN), built)];
        assert_eq!(ask(order(), &claimed, CLAIMED, "pass"), [720, 2880]);
        // The search has shown that it hangs.
        ask(order(), &[first, hung, (0, proved(0), cut(seconds(20)))], CLAIMED, "unresolved(timeout)");
    }

    #[test]
    fn the_limit_of_the_user_and_a_hunted_hang_count_at_once() {
        let mut given = order();
        given.test.timeout = Some(seconds(20));
        ask(given, &[(0, 0, cut(seconds(20)))], SEARCHED, "unresolved(timeout)");
        with_runner(order(), &[(0, 0, cut(seconds(20)))], |runner, world| {
            runner.judging.criteria.signature =
                Some(Signature { ending: Ending::Timeout, test: None, line: None, printed: None });
            assert_eq!(words(runner.answer(&[probe(world, 0, Phase::Search)]).unwrap()), "fail");
        });
    }
}
