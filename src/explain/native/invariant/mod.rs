//! Error invariants of C programs: a recorded run as the [engine](crate::explain::invariant) wants it.
//!
//! [`criterion`] says what the failure is, [`words`] writes conditions in C.

pub mod criterion;
pub mod words;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::explain::invariant::history::Assignment;
use crate::explain::invariant::history::Effects;
use crate::explain::invariant::history::History;
use crate::explain::invariant::history::Time;
use crate::explain::invariant::history::Version;
use crate::instrument::instruction::Op;
use crate::logic::substitute::variables;
use crate::logic::term::Binary;
use crate::logic::term::TermId;
use crate::logic::term::Terms;
use crate::trace::TraceError;
use crate::trace::dependence::Dependences;
use crate::trace::dependence::Kind;
use crate::trace::native::event::Event;
use crate::trace::native::event::Moment;
use crate::trace::native::symbolic::Evaluated;
use crate::trace::native::symbolic::Symbolic;
use crate::trace::native::symbolic::version;
use crate::trace::native::symbolic::version::Place;
use crate::trace::step::Step;

/// What an invariant says of addresses.
///
/// Source: Oh and others 2014, section V. Deviation: [`Address`](Self::Address) compares the pointer of a load with the
/// pointer expression of the store that it reads from. The text of the paper compares both with a number, which is
/// [`Absolute`](Self::Absolute), but its figures do not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// Nothing: why this value.
    #[default]
    Value,
    /// That a load reads what a store wrote: why this value here.
    Address,
    /// The address itself.
    Absolute,
}

/// When an event happened, for the engine.
pub fn time(moment: Moment) -> Time {
    Time(moment.0, moment.1)
}

/// The event of a time.
pub fn moment(time: Time) -> Moment {
    Moment(time.0, time.1)
}

/// A recorded run of a C program.
pub struct Native<'n> {
    /// Its statements.
    pub symbolic: Symbolic<'n>,
    mode: Mode,
    /// The dependences of the run, with potential ones.
    pub potential: Option<Dependences>,
    /// The failing step, and decisions before it that could have led to other output.
    pub failing: Option<Step>,
    /// See [`failing`](Self::failing).
    pub skipped: Vec<Step>,
}

impl<'n> Native<'n> {
    /// A run.
    pub fn new(symbolic: Symbolic<'n>, mode: Mode) -> Self {
        Self { symbolic, mode, potential: None, failing: None, skipped: Vec::new() }
    }

    /// An event that is there because the engine was given its time.
    fn evaluated(&mut self, terms: &mut Terms, moment: Moment) -> Result<Rc<Evaluated>, TraceError> {
        let found = self.symbolic.evaluated(terms, moment)?;
        found.ok_or(TraceError::Damaged("a statement is not where it was"))
    }

    /// An event.
    pub fn event(&mut self, moment: Moment) -> Result<Rc<Event>, TraceError> {
        self.symbolic.tape.event(moment)?.ok_or(TraceError::Damaged("a statement is not where it was"))
    }

    /// What has to be known of the versions that an event reads, as far as `roots` mention them.
    fn surroundings(&mut self, terms: &mut Terms, evaluated: &Evaluated, roots: &[TermId]) -> Effects {
        let mut effects = Effects { hypotheses: evaluated.hypotheses.clone(), ..Effects::default() };
        for (version, pointers) in &evaluated.loads {
            let required: Vec<TermId> =
                pointers.iter().filter_map(|pointer| self.is_read_there(terms, *version, *pointer)).collect();
            if !required.is_empty() {
                effects.addresses.insert(*version, required);
            }
        }
        let mut open: Vec<TermId> = roots.iter().chain(effects.addresses.values().flatten()).copied().collect();
        while !open.is_empty() {
            let mut more = Vec::new();
            for (version, _) in variables(terms, &open) {
                let known = self.symbolic.versions.get(version);
                if (matches!(known.place, Place::Pinned(..)) || self.is_literal(version))
                    && !effects.pinned.contains_key(&version)
                {
                    more.extend(known.pins.iter().copied());
                    effects.pinned.insert(version, known.pins.clone());
                }
            }
            open = more;
        }
        effects
    }

    /// Whether a version is text of the program, or the address of it: what nothing can change.
    fn is_literal(&self, version: Version) -> bool {
        let known = self.symbolic.versions.get(version);
        let (Place::Memory(address, _) | Place::Pointer(address, _), None) = (known.place, known.assigned) else {
            return false;
        };
        self.symbolic.tape.player.globals.find(address).is_some_and(|global| !global.is_named)
    }

    /// That a pointer leads to the place of a version.
    fn is_read_there(&mut self, terms: &mut Terms, version: Version, pointer: TermId) -> Option<TermId> {
        let known = self.symbolic.versions.get(version).clone();
        let Place::Memory(address, length) = known.place else { return None };
        match self.mode {
            Mode::Value => None,
            Mode::Absolute => {
                let there = self.symbolic.as_recorded_value(terms, pointer);
                Some(there)
            }
            Mode::Address => {
                let value = self.symbolic.versions.value(terms, pointer);
                // A part of what the pointer leads to.
                let offset = terms.constant(address.wrapping_sub(value), 64);
                let part = terms.binary(Binary::Add, pointer, offset);
                let place = Place::Pointer(address, length);
                let stored = version::Version { place, width: 64, value: address, pins: Vec::new(), ..known };
                let stored = self.symbolic.versions.put(terms, stored);
                Some(terms.binary(Binary::Eq, part, stored))
            }
        }
    }

    /// What has to be known of what an event reads, for conditions on it.
    pub fn effects_of(&mut self, terms: &mut Terms, moment: Moment, roots: &[TermId]) -> Result<Effects, TraceError> {
        let evaluated = self.evaluated(terms, moment)?;
        Ok(self.surroundings(terms, &evaluated, roots))
    }

    /// Whether a step ends with a decision.
    fn is_decision(event: &Event) -> bool {
        let last = event.last().map(|last| &last.op);
        matches!(last, Some(Op::Branch(..) | Op::Switch(..) | Op::IndirectJump(_)))
    }

    /// The version of the same place that an event reads.
    fn before(&self, evaluated: &Evaluated, version: Version) -> Option<Version> {
        let known = self.symbolic.versions.get(version);
        let is_same = |other: &&Version| {
            let other = self.symbolic.versions.get(**other);
            other.place == known.place && other.assigned != known.assigned && other.width == known.width
        };
        evaluated.loads.keys().filter(is_same).min().copied()
    }
}

impl History for Native<'_> {
    type Error = TraceError;

    fn assigned(&mut self, version: Version) -> Result<Option<Time>, TraceError> {
        Ok(self.symbolic.versions.get(version).assigned.map(time))
    }

    fn value(&self, version: Version) -> u64 {
        self.symbolic.versions.get(version).value
    }

    fn effects(&mut self, terms: &mut Terms, time: Time, versions: &[Version]) -> Result<Effects, TraceError> {
        let moment = moment(time);
        let evaluated = self.evaluated(terms, moment)?;
        let is_library = self.event(moment)?.back.as_ref().is_some_and(|back| back.library.is_some());
        let (mut assignments, mut roots, mut is_unknown) = (Vec::new(), Vec::new(), false);
        for version in versions {
            let known = self.symbolic.versions.get(*version).clone();
            let assigned = self.symbolic.assigned(terms, *version)?;
            let is_pointer = matches!(known.place, Place::Pointer(..));
            is_unknown |= assigned.value.is_none() && assigned.conditions.is_empty() && !is_library && !is_pointer;
            let value = assigned.value.unwrap_or_else(|| terms.constant(known.value, known.width));
            let mut requires = assigned.conditions;
            if self.mode == Mode::Absolute
                && let Place::Memory(address, length) = known.place
                && let Some(pointer) = self.symbolic.pointer_of(terms, &evaluated, (address, length))
            {
                requires.push(self.symbolic.as_recorded_value(terms, pointer));
            }
            roots.push(value);
            roots.extend(&requires);
            let before = self.before(&evaluated, *version);
            assignments.push(Assignment { version: *version, value, before, requires, is_location: is_pointer });
        }
        let effects = self.surroundings(terms, &evaluated, &roots);
        Ok(Effects { assignments, is_unknown, ..effects })
    }

    fn decisions(&mut self, time: Time) -> Result<Vec<Time>, TraceError> {
        let at = moment(time);
        let step = self.event(at)?.step;
        let Some(first) = self.symbolic.tape.moments(step).next() else { return Ok(Vec::new()) };
        let decider = self.event(first)?.decider;
        let mut found: Vec<Moment> = Vec::new();
        if decider != Step::START {
            found.extend(self.symbolic.last_before(decider, first));
        }
        let skipped = self.potential.as_ref().map(|graph| {
            graph.makers(step).filter(|(_, kind)| *kind == Kind::Potential).map(|(maker, _)| maker).collect::<Vec<_>>()
        });
        let of_output = self.skipped.iter().filter(|_| self.failing == Some(step)).copied();
        for maker in skipped.into_iter().flatten().chain(of_output) {
            found.extend(self.symbolic.last_before(maker, at));
        }
        Ok(found.into_iter().map(self::time).collect())
    }

    fn condition(&mut self, terms: &mut Terms, decision: Time) -> Result<(TermId, Effects), TraceError> {
        let moment = moment(decision);
        let event = self.event(moment)?;
        if !Self::is_decision(&event) {
            // A call: what matters is what let it run.
            return Ok((terms.truth(true), Effects::default()));
        }
        let evaluated = self.evaluated(terms, moment)?;
        let is_unknown = evaluated.condition.is_none();
        let condition = evaluated.condition.unwrap_or_else(|| terms.truth(true));
        let effects = self.surroundings(terms, &evaluated, &[condition]);
        Ok((condition, Effects { is_unknown, ..effects }))
    }
}

/// The steps of some times, each once.
pub fn steps(native: &mut Native<'_>, times: impl Iterator<Item = Time>) -> Result<BTreeSet<Step>, TraceError> {
    times.map(|time| Ok(native.event(moment(time))?.step)).collect()
}
