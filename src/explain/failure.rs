//! What the failure is, found by comparing the failing run with the reference.

use crate::align::{Alignment, beside};
use idd_trace::{ObservableCall, Run, Step};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnding {
    /// The program exited with this code.
    Exit(u32),
    /// It was killed by this signal.
    Signal(u32),
    /// It did not end.
    Endless,
}

/// What is wrong with the failing run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunWrong {
    /// It said something else than the reference, which said this, or nothing more.
    Said(ObservableCall, Option<ObservableCall>),
    /// It left out what the reference said, and went on with what the reference says later, perhaps otherwise.
    Skipped(ObservableCall, ObservableCall),
    /// It said less: this is missing.
    Silent(ObservableCall),
    /// It ended otherwise.
    Ended,
}

/// The failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFailure {
    /// What is wrong.
    pub wrong: RunWrong,
    /// The step of the failing run in which it is seen.
    pub step: Step,
    /// How many steps had begun then.
    pub time: u64,
    /// How the failing run ended.
    pub ending: RunEnding,
    /// How the reference ended.
    pub reference: RunEnding,
}

impl RunFailure {
    /// The first difference that can be seen from outside; `None` if there is none.
    ///
    /// - A crash and a run without an end are the failure whatever was said before.
    /// - Else the first thing that one run said and the other one not, or otherwise. What was left out is seen where the runs part: in the last decision around it that
    ///   both have.
    /// - Else the exit code.
    pub fn find(
        run: &Run,
        reference: &Run,
        alignment: &Alignment,
        ending: RunEnding,
        expected: RunEnding,
    ) -> Option<Self> {
        let last = Step(run.n_steps());
        let at = |wrong, step, time| Some(Self { wrong, step, time, ending, reference: expected });
        let failure = |wrong, step: Step| at(wrong, step, u64::from(step.0));
        if ending != expected && !matches!(ending, RunEnding::Exit(_)) {
            return at(RunWrong::Ended, run.end.unwrap_or(last), u64::from(last.0));
        }
        let pairs = run.said.iter().zip(&reference.said);
        let first = pairs.take_while(|(said, other)| said.is_same(other)).count();
        let first = first_skipped(&run.said, &reference.said, first, alignment);
        match (run.said.get(first), reference.said.get(first)) {
            (Some(said), Some(other)) if is_later(said, &reference.said[first..], alignment) => {
                let step = left_out(other.step, run, reference, alignment);
                at(RunWrong::Skipped(other.clone(), said.clone()), step, run.falls(step))
            }
            (Some(said), other) => at(RunWrong::Said(said.clone(), other.cloned()), said.step, said.time),
            (None, _) if ending != expected => failure(RunWrong::Ended, run.main_end.unwrap_or(last)),
            (None, Some(missing)) => {
                let step = left_out(missing.step, run, reference, alignment);
                at(RunWrong::Silent(missing.clone()), step, run.falls(step))
            }
            (None, None) => None,
        }
    }

    /// Whether a patched run shows it: `said` is what it said since it was patched, with the index of the step each time, after `n_before` things that the failing run had said before;
    /// `last` is the index of its last step.
    pub fn is_seen(
        &self,
        run: &Run,
        said: &[(ObservableCall, u64)],
        n_before: usize,
        ending: RunEnding,
        last: u64,
    ) -> bool {
        let index = run.indices[self.step.0 as usize];
        match &self.wrong {
            RunWrong::Said(wrong, _) => said.iter().any(|(other, at)| *at == index && other.is_same(wrong)),
            RunWrong::Skipped(_, next) => {
                let rest = run.said.get(n_before..).unwrap_or_default();
                let Some(n) = rest.iter().position(|said| said == next) else { return false };
                let is_here = |at: u64, other: &ObservableCall| at == run.indices[other.step.0 as usize];
                let is_same = |((said, at), other): (&(ObservableCall, u64), &ObservableCall)| {
                    is_here(*at, other) && said.is_same(other)
                };
                // What it goes on with may be said otherwise.
                said.iter().zip(rest).take(n).all(is_same) && said.get(n).is_some_and(|(_, at)| is_here(*at, next))
            }
            RunWrong::Silent(_) => {
                let rest = run.said.get(n_before..).unwrap_or_default();
                ending == self.ending
                    && said.len() == rest.len()
                    && said.iter().zip(rest).all(|((said, _), other)| said.is_same(other))
            }
            RunWrong::Ended => match self.ending {
                RunEnding::Signal(_) => ending == self.ending && last == index,
                _ => ending == self.ending,
            },
        }
    }
}

/// Whether the reference says something at the step that corresponds, but not first of all that it says.
fn is_later(said: &ObservableCall, rest: &[ObservableCall], alignment: &Alignment) -> bool {
    let step = alignment.reference(said.step);
    step.is_some()
        && rest.iter().skip(1).any(|other| Some(other.step) == step)
        && rest.first().map(|other| other.step) != step
}

/// The first thing that the reference says and the failing run leaves out, where what it goes on with happens to be the same text; else `first`, the first difference.
///
/// So `"a"` that is said once is not the first but the second of two `"a"`, if that is who says it.
fn first_skipped(said: &[ObservableCall], reference: &[ObservableCall], first: usize, alignment: &Alignment) -> usize {
    let is_apart = |at: &usize| alignment.reference(said[*at].step) != Some(reference[*at].step);
    let apart = (0..first.min(said.len()).min(reference.len())).rev().take_while(is_apart);
    let is_skipped = |at: &usize| is_later(&said[*at], &reference[*at..], alignment);
    apart.take_while(is_skipped).last().unwrap_or(first)
}

/// The step of the failing run that corresponds to the last decision, or call, around a step of the reference that has a counterpart.
pub fn parting(step: Step, reference: &Run, alignment: &Alignment) -> Step {
    let mut at = step;
    while at != Step::START {
        if let Some(found) = alignment.failing(at) {
            return found;
        }
        at = Step(reference.deciders[at.0 as usize]);
    }
    Step(1)
}

/// Where the failing run leaves a step of the reference out: what only it does in that place, else [`parting`].
fn left_out(step: Step, run: &Run, reference: &Run, alignment: &Alignment) -> Step {
    let decision = parting(step, reference, alignment);
    let Some(around) = alignment.reference(decision).filter(|around| *around != step) else { return decision };
    let decider = |at: &Step| Some(Step(reference.deciders[at.0 as usize])).filter(|at| *at != Step::START);
    let outer = std::iter::successors(Some(step), decider).take_while(|at| *at != around).last().unwrap_or(step);
    let next = match beside::before(reference, outer).find_map(|at| alignment.failing(at)) {
        Some(before) => beside::next(run, before),
        None => beside::first(run, decision, reference.callers[outer.0 as usize] == around.0),
    };
    next.filter(|at| alignment.reference(*at).is_none()).unwrap_or(decision)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const ZERO: RunEnding = RunEnding::Exit(0);

    fn said(step: u32, text: &str) -> ObservableCall {
        let text = Some(text.as_bytes().to_vec());
        ObservableCall { step: Step(step), time: u64::from(step), function: Arc::from("puts"), words: Vec::new(), text }
    }

    /// A run whose steps, from 1, have these indices and deciders, and that says this.
    fn run(steps: &[(u64, u32)], all: &[(u32, &str)]) -> Run {
        let steps = || [(0, 0)].into_iter().chain(steps.iter().copied());
        Run {
            indices: steps().map(|(index, _)| index).collect(),
            deciders: steps().map(|(_, decider)| decider).collect(),
            callers: steps().map(|_| 0).collect(),
            said: all.iter().map(|(step, text)| said(*step, text)).collect(),
            ..Run::default()
        }
    }

    const STEPS: [(u64, u32); 4] = [(10, 0), (20, 0), (30, 0), (40, 0)];

    fn found(ours: &[(u32, &str)], theirs: &[(u32, &str)], endings: (RunEnding, RunEnding)) -> Option<(RunWrong, u32)> {
        let (ours, theirs) = (run(&STEPS, ours), run(&STEPS, theirs));
        let failure = RunFailure::find(&ours, &theirs, &Alignment::new(&ours, &theirs), endings.0, endings.1)?;
        assert_eq!((failure.ending, failure.reference), endings);
        Some((failure.wrong, failure.step.0))
    }

    #[test]
    fn the_first_difference_that_is_seen_from_outside_is_the_failure() {
        let both = (ZERO, ZERO);
        assert_eq!(found(&[(1, "a")], &[(1, "a")], both), None);
        // A text said elsewhere is the same text.
        assert_eq!(found(&[(1, "a")], &[(2, "a")], both), None);
        let wrong = RunWrong::Said(said(2, "b"), Some(said(2, "c")));
        assert_eq!(found(&[(1, "a"), (2, "b")], &[(1, "a"), (2, "c")], both), Some((wrong, 2)));
        assert_eq!(found(&[(3, "a")], &[], both), Some((RunWrong::Said(said(3, "a"), None), 3)));
        assert_eq!(found(&[], &[(2, "a")], both), Some((RunWrong::Silent(said(2, "a")), 2)));
    }

    #[test]
    fn a_crash_comes_before_all_that_was_said_and_an_exit_code_after_it() {
        let (other, same) = ([(1, "x")], [(1, "a")]);
        for ending in [RunEnding::Signal(11), RunEnding::Endless] {
            assert_eq!(found(&other, &same, (ending, ZERO)), Some((RunWrong::Ended, 4)));
        }
        let one = RunEnding::Exit(1);
        let wrong = RunWrong::Said(said(1, "x"), Some(said(1, "a")));
        assert_eq!(found(&other, &same, (one, ZERO)), Some((wrong, 1)));
        assert_eq!(found(&same, &same, (one, ZERO)), Some((RunWrong::Ended, 4)));
        // It ended before it could say the rest.
        assert_eq!(found(&[], &same, (one, ZERO)), Some((RunWrong::Ended, 4)));
        assert_eq!(found(&same, &same, (RunEnding::Signal(6), RunEnding::Signal(6))), None);
    }

    #[test]
    fn what_was_left_out_is_seen_where_the_runs_part() {
        // The reference says `b` because of its step 2, which the failing run has, too.
        let reference = run(&[(10, 0), (20, 0), (25, 2), (30, 0)], &[(1, "a"), (3, "b"), (4, "c")]);
        let failing = run(&[(10, 0), (20, 0), (30, 0)], &[(1, "a"), (3, "c")]);
        let alignment = Alignment::new(&failing, &reference);
        let failure = RunFailure::find(&failing, &reference, &alignment, ZERO, ZERO).unwrap();
        assert_eq!(failure.wrong, RunWrong::Skipped(said(3, "b"), said(3, "c")));
        assert_eq!((failure.step, failure.time), (Step(2), 2));
        assert_eq!(parting(Step(4), &reference, &alignment), Step(3));
        // Nothing around it corresponds.
        let other = run(&[(11, 0), (12, 1)], &[]);
        assert_eq!(parting(Step(2), &other, &Alignment::new(&failing, &other)), Step(1));
    }

    #[test]
    fn what_was_left_out_may_have_said_the_same_as_what_comes_next() {
        // The reference says `a` twice, first because of its step 2; the failing run says it once, and then `b`.
        let reference = run(&[(10, 0), (20, 0), (25, 2), (30, 0), (40, 0)], &[(3, "a"), (4, "a"), (5, "b")]);
        let failing = run(&[(10, 0), (20, 0), (30, 0), (40, 0)], &[(3, "a"), (4, "b")]);
        let alignment = Alignment::new(&failing, &reference);
        let failure = RunFailure::find(&failing, &reference, &alignment, ZERO, ZERO).unwrap();
        assert_eq!(failure.wrong, RunWrong::Skipped(said(3, "a"), said(3, "a")));
        assert_eq!(failure.step, Step(2));
    }

    /// Whether a patched run shows a failure in step 2 of a run that says `a`, `b` and `c`.
    fn is_seen(
        wrong: RunWrong,
        ending: RunEnding,
        patched: &[(&str, u64)],
        n_before: usize,
        end: (RunEnding, u64),
    ) -> bool {
        let run = run(&STEPS, &[(1, "a"), (2, "b"), (3, "c")]);
        let failure = RunFailure { wrong, step: Step(2), time: 2, ending, reference: ZERO };
        let patched: Vec<(ObservableCall, u64)> = patched.iter().map(|(text, index)| (said(9, text), *index)).collect();
        failure.is_seen(&run, &patched, n_before, end.0, end.1)
    }

    #[test]
    fn a_patched_run_shows_the_failure_if_it_says_the_same_at_the_same_point() {
        let wrong = || RunWrong::Said(said(2, "b"), None);
        let end = (ZERO, 40);
        assert!(is_seen(wrong(), ZERO, &[("x", 10), ("b", 20)], 1, end));
        assert!(!is_seen(wrong(), ZERO, &[("b", 30)], 1, end));
        assert!(!is_seen(wrong(), ZERO, &[("x", 20)], 1, end));
        let silent = || RunWrong::Silent(said(4, "d"));
        assert!(is_seen(silent(), ZERO, &[("b", 0), ("c", 0)], 1, end));
        assert!(!is_seen(silent(), ZERO, &[("b", 0), ("c", 0), ("d", 0)], 1, end));
        assert!(!is_seen(silent(), ZERO, &[("b", 0)], 1, end));
        assert!(!is_seen(silent(), ZERO, &[("b", 0), ("c", 0)], 1, (RunEnding::Exit(1), 40)));
    }

    #[test]
    fn a_crash_is_the_same_only_at_the_same_point_and_an_exit_code_anywhere() {
        let crash = RunEnding::Signal(11);
        assert!(is_seen(RunWrong::Ended, crash, &[], 0, (crash, 20)));
        assert!(!is_seen(RunWrong::Ended, crash, &[], 0, (crash, 30)));
        assert!(!is_seen(RunWrong::Ended, crash, &[], 0, (RunEnding::Signal(6), 20)));
        assert!(is_seen(RunWrong::Ended, RunEnding::Exit(1), &[], 0, (RunEnding::Exit(1), 30)));
    }

    #[test]
    fn what_is_skipped_is_seen_where_the_run_goes_on_with_what_comes_next() {
        let skipped = || RunWrong::Skipped(said(2, "x"), said(3, "c"));
        let end = (ZERO, 40);
        assert!(is_seen(skipped(), ZERO, &[("b", 20), ("c", 30)], 1, end));
        // What it goes on with may be said otherwise.
        assert!(is_seen(skipped(), ZERO, &[("b", 20), ("d", 30)], 1, end));
        assert!(!is_seen(skipped(), ZERO, &[("x", 20), ("c", 30)], 1, end));
        assert!(!is_seen(skipped(), ZERO, &[("b", 20)], 1, end));
        assert!(!is_seen(skipped(), ZERO, &[("c", 30)], 3, end));
    }
}
