//! Steps that stand beside each other in a run: of the same decision or call, and of the same function.

use idd_trace::{Run, Step};

/// Steps that are looked at.
const MAX_LOOKED: usize = 10_000;

/// Whether two steps stand beside each other. The same decision is not enough: what it calls is decided by it, too.
fn is_beside(run: &Run, one: Step, other: Step) -> bool {
    let same = |of: &[u32]| of[one.0 as usize] == of[other.0 as usize];
    same(&run.deciders) && same(&run.callers)
}

/// Those before a step, the nearest first.
///
/// Cost: looks at up to [`MAX_LOOKED`] steps.
pub fn before(run: &Run, step: Step) -> impl Iterator<Item = Step> {
    let around = run.deciders[step.0 as usize];
    let steps = (around.saturating_add(1)..step.0).rev().take(MAX_LOOKED).map(Step);
    steps.filter(move |other| is_beside(run, *other, step))
}

/// The next one after a step.
///
/// Cost: as [`before`].
pub fn next(run: &Run, step: Step) -> Option<Step> {
    let mut steps = (step.0 + 1..=run.n_steps()).take(MAX_LOOKED).map(Step);
    steps.find(|other| is_beside(run, *other, step))
}

/// The first step of a function that a decision, or a call, decides.
///
/// - `is_call`: whether the step is the call of the function.
///
/// Cost: as [`before`].
pub fn first(run: &Run, decider: Step, is_call: bool) -> Option<Step> {
    let caller = if is_call { decider.0 } else { run.callers[decider.0 as usize] };
    let mut steps = (decider.0 + 1..=run.n_steps()).take(MAX_LOOKED).map(Step);
    steps.find(|step| run.deciders[step.0 as usize] == decider.0 && run.callers[step.0 as usize] == caller)
}
