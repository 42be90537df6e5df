//! The executed statements of a run, and how many of their steps are in some sets.

use crate::native::run::LOWEST_POINTER;
use crate::native::{NativeCall, NativeMachine, NativePlayer, Watch};
use crate::statements::{StatementCounter, StatementCounts};
use crate::{Place, Step, Steps, TraceError};
use std::sync::Arc;

/// All executed statements, by functions in the order in which they were first called. Entries of functions are no
/// statements.
///
/// - `distances`: a number for each step, from [`Step::START`](crate::Step::START); steps without one have [`u32::MAX`].
///
/// - Result: also the library functions without a model that steps of the sets called with pointers, or that returned one.
///
/// Cost: one pass over the trace.
pub fn statements(
    player: &mut NativePlayer,
    sets: &[&Steps],
    distances: &[u32],
) -> Result<StatementCounts, TraceError> {
    let mut counter = StatementCounter::new(sets, distances);
    player.replay(&mut counter)?;
    Ok(counter.counts())
}

/// The steps of statements at some places, ascending.
///
/// Cost: one pass over the trace.
pub fn steps_at(player: &mut NativePlayer, is_there: &dyn Fn(&Place) -> bool) -> Result<Vec<Step>, TraceError> {
    let mut found = Vec::new();
    player.each_step(|_, frame| {
        if frame.statement != 0 && frame.place().is_some_and(is_there) {
            found.push(frame.step);
        }
    })?;
    Ok(found)
}

/// Whether a number may be the address of memory of the program.
fn is_pointer(number: Option<u64>) -> bool {
    number.is_some_and(|number| number >= LOWEST_POINTER && number >> 47 == 0)
}

impl Watch for StatementCounter<'_> {
    fn step(&mut self, machine: &NativeMachine) {
        let Some(frame) = machine.frame().filter(|frame| frame.statement != 0) else { return };
        self.count(frame.shape.index, frame.statement, frame.step, || (frame.shape.name(), frame.place().cloned()));
    }

    fn called(&mut self, machine: &NativeMachine, call: &NativeCall, arguments: &[Option<u64>], result: Option<u64>) {
        let Some(name) = call.name.as_ref().filter(|_| call.model.is_none()) else { return };
        let Some(step) = machine.frame().map(|frame| frame.step) else { return };
        let mut wide = call.arguments.iter().zip(arguments).filter(|(argument, _)| argument.size == 8);
        let is_result = call.result_size == 8 && is_pointer(result);
        let mut is_given = || is_result || wide.any(|(_, number)| is_pointer(*number));
        self.add_unknown(step, || is_given().then(|| Arc::clone(name)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::stored::{lines, player};

    #[test]
    fn each_statement_counts_its_steps_and_those_of_a_set() {
        let mut player = player("list", "bad");
        let lines = lines(&mut player);
        let mut even = Steps::new(player.machine.n_steps);
        (2..=player.machine.n_steps).step_by(2).for_each(|step| _ = even.insert(Step(step)));
        let (all, _) = statements(&mut player, &[&even, &Steps::new(0)], &[]).unwrap();
        let adds = all.iter().find(|statement| statement.place.as_ref().unwrap().line == 17).unwrap();
        let expected: Vec<u32> = (0..).zip(lines).filter(|(_, line)| *line == 17).map(|(step, _)| step).collect();
        assert_eq!(adds.n_steps, expected.len() as u64);
        let inside: Vec<&u32> = expected.iter().filter(|step| *step % 2 == 0).collect();
        assert_eq!(adds.inside[0], (inside.len() as u64, Step(inside.last().copied().copied().unwrap_or(0))));
        assert_eq!(adds.inside[1], (0, Step::START));
        assert!(all.iter().all(|statement| statement.n_steps > 0));
    }
}
