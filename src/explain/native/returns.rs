//! What calls returned: values that wait in no variable, so that no patch reaches them.
//!
//! They are compared here, step by step, where a chain comes to a statement that calls: the `return`s whose values
//! differ are where values may be pending ([`Executions::around`](crate::chain::Executions::around)), and what
//! a [story](crate::native::story) tells between them and the variable.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use crate::align::Alignment;
use crate::native::align::objects::RunSide;
use crate::native::recorded::NativeRecorded;
use crate::native::value_texts;
use idd_trace::native::visit::at_step;
use idd_trace::native::{FunctionShape, NativeMachine, UsedThing, Watch};
use idd_trace::{Step, TraceError};

/// Calls in calls are looked at so deep, and so many of them.
const MAX_FOUND: usize = 64;

/// Bytes behind a pointer whose writers are looked for.
const MAX_BEHIND: u64 = 256;

/// A call that came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallReturn {
    /// The step that returned.
    pub step: Step,
    pub function: Arc<str>,
    /// What it returned; pointers only by whether they are null.
    pub bits: u64,
    /// How that is written.
    pub text: String,
    /// For a pointer: the steps that wrote what it points to, as far as the text shows that.
    pub makers: BTreeSet<Step>,
}

/// The steps that wrote the text, or the beginning of the block of the heap, that a pointer points to.
fn behind(machine: &NativeMachine, pointer: u64, text: &str) -> BTreeSet<Step> {
    let is_text = text.starts_with('"');
    let length = match machine.heap.find(pointer) {
        _ if is_text => machine.memory.string(pointer, MAX_BEHIND).map(|text| text.len() as u64 + 1),
        Some(block) => Some(block.address + block.size - pointer),
        None => None,
    };
    let mut found = BTreeSet::new();
    machine.memory.writers(pointer, length.unwrap_or(0).min(MAX_BEHIND), |maker| _ = found.insert(maker));
    found
}

/// The calls of one step that came back before so many steps had begun, without those that return nothing; and the steps whose temporary values it used.
pub(super) fn of_step(
    recorded: &mut NativeRecorded,
    step: Step,
    before: u64,
) -> Result<(Vec<CallReturn>, Vec<Step>), TraceError> {
    if step == Step::START {
        return Ok((Vec::new(), Vec::new()));
    }
    let mut calls = StepCalls { before, left: None, found: Vec::new(), makers: Vec::new(), is_over: false };
    at_step(&mut recorded.player, step, &mut calls)?;
    Ok((calls.found, calls.makers))
}

/// The calls behind a step that returned something else than in the reference, with what they returned there: those of
/// the step before so many steps had begun, those of the steps whose temporary values it used (the parts of `&&`, `||`
/// and `?:`), those of their `return`s, and so on; the last first.
///
/// Cost: one pass over the calls of each step that is found.
pub fn differing(
    failing: &mut NativeRecorded,
    reference: &mut NativeRecorded,
    alignment: &Alignment,
    step: Step,
    before: u64,
) -> Result<Vec<(CallReturn, CallReturn)>, TraceError> {
    let mut found: Vec<(CallReturn, CallReturn)> = Vec::new();
    let mut open = vec![(step, before)];
    let mut seen = HashSet::new();
    while let Some((step, before)) = open.pop() {
        let Some(other) = alignment.reference(step).filter(|_| seen.insert(step)) else { continue };
        let (ours, makers) = of_step(failing, step, before)?;
        open.extend(makers.into_iter().map(|maker| (maker, u64::MAX)));
        if failing.run.returned(step).is_none() {
            continue;
        }
        let (theirs, _) = of_step(reference, other, u64::MAX)?;
        for (ours, theirs) in ours.into_iter().zip(theirs) {
            if ours.function == theirs.function && ours.bits != theirs.bits && found.len() < MAX_FOUND {
                open.push((ours.step, u64::MAX));
                found.push((ours, theirs));
            }
        }
    }
    found.sort_by_key(|(ours, _)| std::cmp::Reverse(ours.step));
    Ok(found)
}

struct StepCalls {
    before: u64,
    left: Option<(Step, Arc<FunctionShape>)>,
    found: Vec<CallReturn>,
    makers: Vec<Step>,
    is_over: bool,
}

impl Watch for StepCalls {
    fn uses(&mut self, _user: Step, maker: Step, what: UsedThing) {
        if what == UsedThing::Temporary {
            self.makers.push(maker);
        }
    }

    fn leaves(&mut self, machine: &NativeMachine, is_return: bool) {
        let Some(frame) = machine.frame() else { return };
        self.is_over |= u64::from(machine.n_steps) > self.before;
        if is_return {
            self.left = Some((frame.step, Arc::clone(&frame.shape)));
        }
    }

    fn returned(&mut self, machine: &NativeMachine, result: Option<u64>) {
        let Some(frame) = machine.frame().filter(|_| !self.is_over) else { return };
        let (Some((step, shape)), Some(bits)) = (self.left.take(), result) else { return };
        let side = RunSide { machine };
        let Some((text, is_pointer)) = side.view().result(frame, bits) else { return };
        let ty = shape.body.function.subprogram.and_then(|subprogram| shape.debug().result(subprogram));
        let text = ty.map_or(text, |ty| value_texts::given(side, bits, shape.debug(), ty));
        let makers = if is_pointer { behind(machine, bits, &text) } else { BTreeSet::new() };
        let bits = if is_pointer { u64::from(bits != 0) } else { bits };
        self.found.push(CallReturn { step, function: shape.name(), bits, text, makers });
    }

    fn is_done(&self) -> bool {
        self.is_over
    }
}

#[cfg(test)]
mod tests {
    use crate::failure::RunEnding;
    use crate::native::stored::causality;
    use idd_trace::native::stored::step;

    #[test]
    fn calls_in_calls_that_returned_something_else_are_found_the_last_first() {
        let mut causality = causality("returns", RunEnding::Exit(0));
        // `if (chosen && answer(5000) == 10)`: its second part.
        let decision = step(&mut causality.failing().player, 25, 1);
        let found = causality.returns(decision, u64::MAX).unwrap();
        let told: Vec<_> = found.iter().map(|(ours, theirs)| (&*ours.function, &*ours.text, &*theirs.text)).collect();
        assert_eq!(told, [("may_climb", "0", "1"), ("answer", "10", "11")]);
        assert!(causality.returns(decision, u64::from(decision.0)).unwrap().is_empty());
    }
}
