//! What the failure is, found by comparing the failing run with the reference.

use crate::explain::align::Alignment;
use crate::trace::run::Run;
use crate::trace::run::Said;
use crate::trace::step::Step;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The program exited with this code.
    Exit(u32),
    /// It was killed by this signal.
    Signal(u32),
    /// It did not end.
    Endless,
}

/// What is wrong with the failing run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wrong {
    /// It said something else than the reference, which said this, or nothing more.
    Said(Said, Option<Said>),
    /// It left out what the reference said, and went on with what the reference says later, perhaps otherwise.
    Skipped(Said, Said),
    /// It said less: this is missing.
    Silent(Said),
    /// It ended otherwise.
    Ended,
}

/// The failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What is wrong.
    pub wrong: Wrong,
    /// The step of the failing run in which it is seen.
    pub step: Step,
    /// How many steps had begun then.
    pub time: u64,
    /// How the failing run ended.
    pub ending: Ending,
    /// How the reference ended.
    pub reference: Ending,
}

impl Failure {
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
        (ending, expected): (Ending, Ending),
    ) -> Option<Self> {
        let last = Step(run.n_steps());
        let at = |wrong, step, time| Some(Self { wrong, step, time, ending, reference: expected });
        let failure = |wrong, step: Step| at(wrong, step, u64::from(step.0));
        if ending != expected && !matches!(ending, Ending::Exit(_)) {
            return failure(Wrong::Ended, last);
        }
        let pairs = run.said.iter().zip(&reference.said);
        let first = pairs.take_while(|(said, other)| said.is_same(other)).count();
        match (run.said.get(first), reference.said.get(first)) {
            (Some(said), Some(other)) if is_later(said, &reference.said[first..], alignment) => {
                let step = parting(other.step, reference, alignment);
                at(Wrong::Skipped(other.clone(), said.clone()), step, run.falls(step))
            }
            (Some(said), other) => at(Wrong::Said(said.clone(), other.cloned()), said.step, said.time),
            (None, _) if ending != expected => failure(Wrong::Ended, last),
            (None, Some(missing)) => failure(Wrong::Silent(missing.clone()), last),
            (None, None) => None,
        }
    }

    /// Whether a patched run shows it: `said` is what it said since it was patched, with the index of the step each time, after `n_before` things that the failing run had said before;
    /// `last` is the index of its last step.
    pub fn is_seen(&self, run: &Run, said: &[(Said, u64)], n_before: usize, (ending, last): (Ending, u64)) -> bool {
        let index = run.indices[self.step.0 as usize];
        match &self.wrong {
            Wrong::Said(wrong, _) => said.iter().any(|(other, at)| *at == index && other.is_same(wrong)),
            Wrong::Skipped(_, next) => {
                let rest = run.said.get(n_before..).unwrap_or_default();
                let Some(n) = rest.iter().position(|said| said == next) else { return false };
                let is_here = |at: u64, other: &Said| at == run.indices[other.step.0 as usize];
                let is_same = |((said, at), other): (&(Said, u64), &Said)| is_here(*at, other) && said.is_same(other);
                // What it goes on with may be said otherwise.
                said.iter().zip(rest).take(n).all(is_same) && said.get(n).is_some_and(|(_, at)| is_here(*at, next))
            }
            Wrong::Silent(_) => {
                let rest = run.said.get(n_before..).unwrap_or_default();
                ending == self.ending
                    && said.len() == rest.len()
                    && said.iter().zip(rest).all(|((said, _), other)| said.is_same(other))
            }
            Wrong::Ended => match self.ending {
                Ending::Signal(_) => ending == self.ending && last == index,
                _ => ending == self.ending,
            },
        }
    }
}

/// Whether the reference says something at the step that corresponds, but not first of all that it says.
fn is_later(said: &Said, rest: &[Said], alignment: &Alignment) -> bool {
    let step = alignment.reference(said.step);
    step.is_some()
        && rest.iter().skip(1).any(|other| Some(other.step) == step)
        && rest.first().map(|other| other.step) != step
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
