//! Runs of the failing program with other values in one virtual machine, which starts the program again and again.
//!
//! Source: Sumner and Zhang fork the failing process for each experiment, section 4.2. Deviation: a virtual machine cannot be
//! forked, so the program begins anew, with its classes loaded anew. A trial counts only if trials without other values before
//! and behind it do the same, and do what the test did; what it leaves in files or in classes of the system shows there.

use std::time::{Duration, Instant};

use crate::Failure;
use crate::explain::java::experiments::{FailingOutput, Laboratory, RunOutput};
use crate::explain::model::interrupted;
use crate::record::observe;
use idd_base::{Ending, TimeLimits};
use idd_trace::instrument::java::replace::Replacement;
use idd_world::record::java::trials::{TrialResult, Trials};
use idd_world::run::sandbox::ProbeJob;

/// For fewer trials the virtual machine is not worth its start.
const N_LEAST: usize = 3;

/// Trials between two without other values.
const N_BETWEEN: usize = 16;

/// Bytes that are kept of the output of a trial.
const KEPT: u32 = 64 << 10;

/// What came of trials.
pub(super) struct TrialResults {
    /// By trial; `None` if it cannot be told.
    pub(super) all: Vec<Option<TrialResult>>,
    /// What the program does without other values; `None` if no trial counts.
    pub(super) failing: Option<FailingOutput>,
    /// Runs of the program, with the trials in all plans.
    pub(super) n_runs: u64,
    /// How long they took, with the starts of the virtual machines.
    pub(super) time: Duration,
}

/// How long trials may take, and after how many that pass they end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// When they began.
    pub(super) begin: Instant,
    /// How long all of them may take.
    pub(super) budget: Duration,
    /// Trials that pass, then they end.
    pub(super) n_wanted: u32,
}

impl Laboratory<'_> {
    /// Makes trials: the program runs with each of some sets of other values.
    ///
    /// - `test`: what runs of the whole test do without other values.
    ///
    /// Cost: a run of the test, in which the program runs once for each set, once more for each [`N_BETWEEN`] of them, and
    /// twice more; the same again if a trial does not end, or if classes outside of the checkout have to be loaded anew.
    pub(super) fn try_out(
        &mut self,
        sets: &[&[Replacement]],
        test: &FailingOutput,
        bounds: Bounds,
    ) -> Result<TrialResults, Failure> {
        let mut found = TrialResults { all: vec![None; sets.len()], failing: None, n_runs: 0, time: Duration::ZERO };
        let mut left: Vec<usize> = (0..sets.len()).filter(|nth| !sets[*nth].is_empty()).collect();
        if test.ending == Ending::Exit(0) || left.len() < N_LEAST {
            return Ok(found);
        }
        let mut is_shared = true;
        while !left.is_empty() && bounds.begin.elapsed() < bounds.budget {
            let plan = plan(&left);
            let begin = Instant::now();
            let Some(tried) = self.batch(sets, &plan, is_shared, bounds)? else { break };
            found.n_runs += tried.len() as u64;
            found.time += begin.elapsed();
            let failing = failing(&tried, test);
            let is_good = failing.is_some();
            let (counted, is_sound) =
                failing.as_ref().map_or_else(Default::default, |failing| counted(&tried, &plan, failing));
            for trial in counted {
                let number = plan[trial.number].expect("it is no trial without other values");
                found.all[number] = Some(trial);
            }
            found.failing = found.failing.or(failing);
            // The trial that did not end is not tried again.
            let endless = tried.last().and_then(|last| plan.get(last.number + 1).copied().flatten());
            let n_before = left.len();
            left.retain(|number| found.all[*number].is_none() && (!is_good || Some(*number) != endless));
            let n_passing = found.all.iter().flatten().filter(|trial| trial.code == 0).count();
            if n_passing >= bounds.n_wanted as usize {
                break;
            }
            if !is_sound || left.len() == n_before {
                if !is_shared {
                    break;
                }
                is_shared = false;
            }
        }
        Ok(found)
    }

    /// What came of the trials of a plan; `None` if none was made.
    fn batch(
        &mut self,
        sets: &[&[Replacement]],
        plan: &[Option<usize>],
        is_shared: bool,
        Bounds { begin, budget, n_wanted }: Bounds,
    ) -> Result<Option<Vec<TrialResult>>, Failure> {
        let all: Vec<&[Replacement]> = plan.iter().map(|set| set.map_or(&[][..], |number| sets[number])).collect();
        let Self { instruments, sandbox, interrupt, job, process, .. } = self;
        let trials =
            Trials { words: &process.words, all: &all, limit: job.limits.test, kept: KEPT, is_shared, n_wanted };
        // If trials hang, there is time left for runs of the test.
        let limit = budget.saturating_sub(begin.elapsed()) / 2 + job.limits.test;
        let job = ProbeJob { limits: TimeLimits::both(limit), ..job.clone() };
        instruments.try_out(&job, &trials, &mut |job, commands, listener| {
            observe(sandbox, job, commands, listener, interrupt)?.ok_or_else(interrupted)
        })
    }
}

/// The order of trials; `None` is one without other values.
fn plan(left: &[usize]) -> Vec<Option<usize>> {
    let mut plan = vec![None, None];
    for some in left.chunks(N_BETWEEN) {
        plan.extend(some.iter().copied().map(Some));
        plan.push(None);
    }
    plan
}

/// What the program does without other values, by the first two trials; `None` if that is not what the test did.
fn failing(tried: &[TrialResult], test: &FailingOutput) -> Option<FailingOutput> {
    let [first, second, ..] = tried else { return None };
    let failing = FailingOutput::new(said(first), said(second))?;
    (first.code != 0 && failing.is_part_of(test)).then_some(failing)
}

/// The trials with other values behind which one without them does what it should, and whether all of these do.
fn counted(tried: &[TrialResult], plan: &[Option<usize>], failing: &FailingOutput) -> (Vec<TrialResult>, bool) {
    let (mut counted, mut open) = (Vec::new(), Vec::new());
    for trial in tried {
        match plan.get(trial.number) {
            Some(Some(_)) => open.push(trial.clone()),
            Some(None) if failing.is(said(trial)) => counted.append(&mut open),
            _ => return (counted, false),
        }
    }
    (counted, true)
}

/// The output of a trial.
pub(super) fn said(trial: &TrialResult) -> RunOutput<'_> {
    RunOutput { ending: Ending::Exit(trial.code), output: &trial.output }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(number: usize, code: i32) -> TrialResult {
        TrialResult { number, code, done: Vec::new(), is_other: false, output: format!("ends with {code}\n") }
    }

    #[test]
    fn a_trial_counts_if_the_program_does_behind_it_what_it_did_before() {
        let plan = plan(&(5..25).collect::<Vec<_>>());
        assert_eq!(plan.len(), 24);
        assert_eq!(
            [plan[0], plan[1], plan[2], plan[18], plan[19], plan[23]],
            [None, None, Some(5), None, Some(21), None]
        );
        let failing = FailingOutput::new(said(&tried(0, 3)), said(&tried(1, 3))).unwrap();
        let made = |codes: &[(usize, i32)]| {
            let all: Vec<TrialResult> = codes.iter().map(|(number, code)| tried(*number, *code)).collect();
            let (counted, is_sound) = counted(&all, &plan, &failing);
            (counted.iter().map(|trial| trial.number).collect::<Vec<_>>(), is_sound)
        };
        assert_eq!(made(&[(2, 0), (3, 3), (18, 3), (19, 0)]), (vec![2, 3], true));
        assert_eq!(made(&[(2, 0), (18, 3), (19, 0), (23, 0)]), (vec![2], false));
        assert_eq!(made(&[(2, 0)]), (Vec::new(), true));
    }
}
