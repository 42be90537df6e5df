//! The executed statements of a run, and how many of their steps are in some sets.

use crate::java::text::simple;
use crate::java::{JavaFrame, JavaMachine, JavaPlayer, LibraryCall, Watch};
use crate::statements::{StatementCounter, StatementCounts};
use crate::{Place, Step, Steps, TraceError};
use std::sync::Arc;

/// All executed statements, by methods in the order in which they were first called. See
/// [`Execution::statements`](crate::execution::Execution::statements).
///
/// Cost: one pass over the trace.
pub fn statements(player: &mut JavaPlayer, sets: &[&Steps], distances: &[u32]) -> Result<StatementCounts, TraceError> {
    let mut counter = StatementCounter::new(sets, distances);
    player.replay(&mut counter)?;
    Ok(counter.counts())
}

/// The steps of statements at some places, ascending.
///
/// Cost: one pass over the trace.
pub fn steps_at(player: &mut JavaPlayer, is_there: &dyn Fn(&Place) -> bool) -> Result<Vec<Step>, TraceError> {
    let mut found = Vec::new();
    player.look_from(Step(1), |_, frame| {
        if frame.step != frame.entry && is_there(frame.place()) {
            found.push(frame.step);
        }
        true
    })?;
    Ok(found)
}

/// The places of all statements of the program, one for each line of a method.
pub fn program(player: &mut JavaPlayer) -> Result<Vec<Option<Place>>, TraceError> {
    let program = &mut player.machine.program;
    program.meet_all()?;
    let mut all = Vec::new();
    for method in program.methods() {
        // The first one is the entry.
        let mut places: Vec<&Place> = method.places.iter().skip(1).collect();
        places.sort_unstable_by_key(|place| place.line);
        places.dedup_by_key(|place| place.line);
        all.extend(places.into_iter().map(|place| Some(place.clone()).filter(|place| place.line != 0)));
    }
    Ok(all)
}

impl Watch for StatementCounter<'_> {
    fn step(&mut self, _machine: &JavaMachine, frame: &JavaFrame) {
        if frame.step == frame.entry {
            return;
        }
        // The blocks of a line are one statement for people.
        let place = frame.place();
        self.count(frame.method.number, place.line, frame.step, || {
            (Arc::clone(&frame.method.function), Some(place.clone()).filter(|place| place.line != 0))
        });
    }

    fn called(&mut self, machine: &JavaMachine, frame: &JavaFrame, call: &LibraryCall<'_>) {
        let member = &call.callee.member;
        let name = || format!("{}.{}", simple(&member.class), member.name).into();
        self.add_unknown(frame.step, || (!machine.is_modelled(call)).then(name));
    }
}
