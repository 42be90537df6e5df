//! The executed statements of a run, and how many of their steps are in some sets.

use crate::trace::TraceError;
use crate::trace::java::frame::Frame;
use crate::trace::java::machine::{Machine, Watch};
use crate::trace::java::method::Callee;
use crate::trace::java::player::Player;
use crate::trace::java::text::simple;
use crate::trace::java::value::Value;
use crate::trace::place::Place;
use crate::trace::statements::Statement;
use crate::trace::step::{Step, Steps};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

struct Counter<'c> {
    sets: &'c [&'c Steps],
    distances: &'c [u32],
    /// By method and line: the blocks of a line are one statement for people.
    known: HashMap<(u32, u32), usize>,
    found: Vec<Statement>,
    unknown: BTreeSet<Arc<str>>,
}

/// All executed statements, by methods in the order in which they were first called. See
/// [`Execution::statements`](crate::trace::execution::Execution::statements).
///
/// Cost: one pass over the trace.
pub fn statements(
    player: &mut Player,
    sets: &[&Steps],
    distances: &[u32],
) -> Result<(Vec<Statement>, BTreeSet<Arc<str>>), TraceError> {
    let mut counter = Counter { sets, distances, known: HashMap::new(), found: Vec::new(), unknown: BTreeSet::new() };
    player.replay(&mut counter)?;
    Ok((counter.found, counter.unknown))
}

/// The places of all statements of the program, one for each line of a method.
pub fn program(player: &mut Player) -> Result<Vec<Option<Place>>, TraceError> {
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

impl Watch for Counter<'_> {
    fn step(&mut self, _machine: &Machine, frame: &Frame) {
        if frame.step == frame.entry {
            return;
        }
        let index = *self.known.entry((frame.method.number, frame.place().line)).or_insert_with(|| {
            self.found.push(Statement {
                function: Arc::clone(&frame.method.function),
                place: Some(frame.place().clone()).filter(|place| place.line != 0),
                n_steps: 0,
                inside: vec![(0, Step::START); self.sets.len()],
                nearest: u32::MAX,
            });
            self.found.len() - 1
        });
        let statement = &mut self.found[index];
        statement.n_steps += 1;
        let distance = self.distances.get(frame.step.0 as usize).copied().unwrap_or(u32::MAX);
        statement.nearest = statement.nearest.min(distance);
        for ((n_inside, last), set) in statement.inside.iter_mut().zip(self.sets) {
            if set.contains(frame.step) {
                *n_inside += 1;
                *last = frame.step;
            }
        }
    }

    fn called(&mut self, machine: &Machine, frame: &Frame, callee: &Callee, given: &[Value], _result: Option<Value>) {
        if self.sets.iter().any(|set| set.contains(frame.step)) && !machine.is_modelled(callee, given) {
            self.unknown.insert(format!("{}.{}", simple(&callee.member.class), callee.member.name).into());
        }
    }
}
