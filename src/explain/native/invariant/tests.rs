//! Invariants of stored runs.

use crate::invariant::{InvariantLimits, abstraction};
use crate::native::invariant::words::conditions;
use crate::native::invariant::{AddressMode, Native, moment};
use idd_trace::Step;
use idd_trace::logic::term::Terms;
use idd_trace::native::output::outputs;
use idd_trace::native::stored::player;
use idd_trace::native::symbolic::Symbolic;
use idd_trace::native::symbolic::version::AssignedPlace;
use idd_trace::native::tape::EventTape;

/// What the terms of all statements of a run give is what was recorded, or is known not to be modelled.
#[test]
fn the_terms_of_a_run_give_what_was_recorded() {
    for (program, version) in
        [("crash", "bad"), ("input", "bad"), ("inputs", "good"), ("list", "bad"), ("returns", "bad"), ("text", "good")]
    {
        let mut player = player(program, version);
        let mut symbolic = Symbolic::new(EventTape::new(&mut player).unwrap());
        let mut terms = Terms::default();
        for step in 1..=symbolic.tape.n_steps() {
            for moment in symbolic.tape.moments(Step(step)) {
                symbolic.evaluated(&mut terms, moment).unwrap().expect("it happened");
            }
        }
        let (mut n_right, mut other) = (0, Vec::new());
        for version in 0..symbolic.versions.len() {
            let known = symbolic.versions.get(version).clone();
            let Some(moment) = known.assigned else { continue };
            let is_library =
                symbolic.tape.event(moment).unwrap().unwrap().back.as_ref().is_some_and(|back| back.library.is_some());
            if is_library || matches!(known.place, AssignedPlace::Pinned(..)) {
                continue;
            }
            let assigned = symbolic.assigned(&mut terms, version).unwrap();
            if assigned.value.is_some() {
                n_right += 1;
            } else {
                other.push(symbolic.versions.get(version).clone());
            }
        }
        assert!(n_right > 5 * other.len(), "{program}-{version}: {n_right} of {}", n_right + other.len());
    }
}

#[test]
fn the_crash_of_a_stored_run_has_an_abstract_slice() {
    for mode in [AddressMode::Value, AddressMode::Address, AddressMode::Absolute] {
        let mut player = player("crash", "bad");
        let crash = outputs(&mut player).unwrap().crash.unwrap();
        let mut native = Native::new(Symbolic::new(EventTape::new(&mut player).unwrap()), mode);
        let mut terms = Terms::default();
        let failing = native.crash(&mut terms, crash, 2).unwrap();
        let found = abstraction(&mut terms, &mut native, &failing, InvariantLimits::default()).unwrap();
        let last = found.links.last().unwrap();
        let names = native.names(&terms, moment(last.time), &last.before).unwrap();
        let told = conditions(&terms, &last.before, &names);
        // The pointer is null from its initialisation on.
        assert!(found.links.len() > usize::from(mode != AddressMode::Value), "{mode:?}: {told:?}");
        let place = native.event(moment(found.links[0].time)).unwrap();
        let line = place.shape.statements[place.statement as usize].place.clone().unwrap().line;
        assert_eq!((line, &found.links[0].before), (16, &Vec::new()), "{mode:?}: {told:?}");
        assert!(!found.links.is_empty());
    }
}
