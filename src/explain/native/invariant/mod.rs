//! Error invariants of C programs: a recorded run as the [engine](crate::invariant) wants it.
//!
//! [`criterion`] says what the failure is, [`passing`] compares with a passing run, [`words`] writes conditions in C.

mod criterion;
pub mod passing;
pub mod words;

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::invariant::history::{Assignment, BackwardRun, Because, HistoryVersion, Time, VersionEffects};
use crate::native::invariant::passing::{FailingRun, PassingTerms};
use idd_trace::instrument::{Instruction, Op};
use idd_trace::logic::substitute::variables;
use idd_trace::logic::term::{BinaryTerm, TermId, TermNode, Terms};
use idd_trace::native::event::{EventTime, StepEvent};
use idd_trace::native::symbolic::version::AssignedPlace;
use idd_trace::native::symbolic::{Evaluated, Symbolic, version};
use idd_trace::native::visit::before_step;
use idd_trace::{DependenceKind, Dependences, Step, TraceError};

/// What an invariant says of addresses.
///
/// Source: Oh and others 2014, section V. Deviation: [`Address`](Self::Address) compares the pointer of a load with the
/// pointer expression of the store that it reads from. The text of the paper compares both with a number, which is
/// [`Absolute`](Self::Absolute), but its figures do not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AddressMode {
    /// Nothing: why this value.
    #[default]
    Value,
    /// That a load reads what a store wrote: why this value here.
    Address,
    /// The address itself.
    Absolute,
}

/// When an event happened, for the engine.
pub fn time(moment: EventTime) -> Time {
    Time(moment.0, moment.1)
}

/// The event of a time.
pub fn moment(time: Time) -> EventTime {
    EventTime(time.0, time.1)
}

/// A recorded run of a C program.
pub struct Native<'n> {
    /// Its statements.
    pub symbolic: Symbolic<'n>,
    mode: AddressMode,
    /// The dependences of the run, with potential ones.
    pub potential: Option<Dependences>,
    /// The failing step, and decisions before it that could have led to other output.
    pub failing: Option<Step>,
    /// See [`failing`](Self::failing).
    pub skipped: Vec<Step>,
    /// Statements that belong to the slice, whatever holds at them.
    because: HashMap<EventTime, Because>,
    /// What printed in the passing run in the place of the failure.
    pub right: Option<Step>,
    /// A passing run to compare with.
    pub passing: Option<PassingTerms<'n>>,
    /// Where the texts of the program's arguments are, once that was asked for; none if it is not known.
    texts: Option<Texts>,
}

/// Where the arguments of the program begin, and these, each ended by a zero byte.
type Texts = (u64, Arc<[u8]>);

impl<'n> Native<'n> {
    /// A run.
    pub fn new(symbolic: Symbolic<'n>, mode: AddressMode) -> Self {
        Self {
            symbolic,
            mode,
            potential: None,
            failing: None,
            skipped: Vec::new(),
            because: HashMap::new(),
            right: None,
            passing: None,
            texts: None,
        }
    }

    /// An event that is there because the engine was given its time.
    fn evaluated(&mut self, terms: &mut Terms, moment: EventTime) -> Result<Rc<Evaluated>, TraceError> {
        let found = self.symbolic.evaluated(terms, moment)?;
        found.ok_or(TraceError::Damaged("a statement is not where it was"))
    }

    /// An event.
    pub fn event(&mut self, moment: EventTime) -> Result<Rc<StepEvent>, TraceError> {
        self.symbolic.tape.event(moment)?.ok_or(TraceError::Damaged("a statement is not where it was"))
    }

    /// What has to be known of the versions that an event reads, as far as `roots` mention them.
    fn surroundings(
        &mut self,
        terms: &mut Terms,
        moment: EventTime,
        evaluated: &Evaluated,
        roots: &[TermId],
    ) -> Result<VersionEffects, TraceError> {
        let mut effects = VersionEffects { hypotheses: evaluated.hypotheses.clone(), ..VersionEffects::default() };
        let mut open: Vec<TermId> = roots.to_vec();
        let mut seen: HashSet<HistoryVersion> = HashSet::new();
        while !open.is_empty() {
            let mut more = Vec::new();
            for (version, _) in variables(terms, &open) {
                if !seen.insert(version) {
                    continue;
                }
                let known = self.symbolic.versions.get(version);
                if matches!(known.place, AssignedPlace::Pinned(..)) || self.is_literal(version) {
                    more.extend(known.pins.iter().copied());
                    effects.pinned.insert(version, known.pins.clone());
                }
                let mut required = Vec::new();
                for pointer in evaluated.loads.get(&version).into_iter().flatten() {
                    required.extend(self.is_read_there(terms, version, *pointer)?);
                }
                if !required.is_empty() {
                    more.extend(&required);
                    effects.addresses.insert(version, required);
                }
            }
            open = more;
        }
        if let Some(passing) = &mut self.passing {
            for version in seen {
                let value = passing.value(&mut FailingRun { symbolic: &mut self.symbolic, terms }, moment, version)?;
                effects.passing.extend(value.map(|value| (version, value)));
            }
        }
        Ok(effects)
    }

    /// Whether a version is text of the program, or the address of it: what nothing can change.
    pub(super) fn is_literal(&self, version: HistoryVersion) -> bool {
        let known = self.symbolic.versions.get(version);
        let address = match (known.place, known.assigned) {
            (AssignedPlace::Memory(address, _), None) => address,
            // Where something is that was there from the beginning.
            (AssignedPlace::Pointer(..), None) => return true,
            _ => return false,
        };
        self.symbolic.tape.player.machine.globals.find(address).is_some_and(|global| !global.is_named)
    }

    /// That a pointer leads to the place of a version.
    fn is_read_there(
        &mut self,
        terms: &mut Terms,
        version: HistoryVersion,
        pointer: TermId,
    ) -> Result<Option<TermId>, TraceError> {
        let known = self.symbolic.versions.get(version).clone();
        let AssignedPlace::Memory(address, length) = known.place else { return Ok(None) };
        match self.mode {
            AddressMode::Value => Ok(None),
            AddressMode::Absolute => Ok(Some(self.symbolic.as_recorded(terms, pointer))),
            AddressMode::Address => {
                if terms.constant_of(pointer).is_some() && self.is_stored_by_name(terms, version)? {
                    return Ok(None);
                }
                let value = self.symbolic.versions.value(terms, pointer);
                // A part of what the pointer leads to.
                let offset = terms.constant(address.wrapping_sub(value), 64);
                let part = terms.binary(BinaryTerm::Add, pointer, offset);
                let stored = self.location(terms, &known, address, length);
                Ok(Some(terms.binary(BinaryTerm::Eq, part, stored)))
            }
        }
    }

    /// The pointer through which a version was stored, as a variable.
    fn location(&mut self, terms: &mut Terms, known: &version::PlaceVersion, address: u64, length: u64) -> TermId {
        let place = AssignedPlace::Pointer(address, length);
        let stored =
            version::PlaceVersion { place, width: 64, value: address, pins: Vec::new(), assigned: known.assigned };
        self.symbolic.versions.put(terms, stored)
    }

    /// Whether a version was stored at an address that nothing can change: in a variable by its name.
    fn is_stored_by_name(&mut self, terms: &mut Terms, version: HistoryVersion) -> Result<bool, TraceError> {
        let known = self.symbolic.versions.get(version).clone();
        let AssignedPlace::Memory(address, length) = known.place else { return Ok(false) };
        let Some(moment) = known.assigned else { return Ok(true) };
        let Some(evaluated) = self.symbolic.evaluated(terms, moment)? else { return Ok(false) };
        let pointer = self.symbolic.pointer_of(terms, &evaluated, address, length);
        Ok(pointer.is_some_and(|pointer| terms.constant_of(pointer).is_some()))
    }

    /// What has to be known of what an event reads, for conditions on it.
    pub fn effects_of(
        &mut self,
        terms: &mut Terms,
        moment: EventTime,
        roots: &[TermId],
    ) -> Result<VersionEffects, TraceError> {
        let evaluated = self.evaluated(terms, moment)?;
        self.surroundings(terms, moment, &evaluated, roots)
    }

    /// A byte of an argument of the program: `argv[1][0]`.
    ///
    /// Cost: plays up to the failing step, the first time.
    fn argument_byte(&mut self, address: u64) -> Result<Option<String>, TraceError> {
        if self.texts.is_none() {
            let mut texts: Texts = (0, Arc::from([]));
            if let Some(step) = self.failing {
                before_step(self.symbolic.tape.player, step, |machine| {
                    if let Some((begin, found)) = &machine.texts {
                        texts = (*begin, Arc::clone(found));
                    }
                })?;
            }
            self.texts = Some(texts);
        }
        let Some((begin, texts)) = &self.texts else { return Ok(None) };
        let Some(at) = address.checked_sub(*begin).and_then(|at| usize::try_from(at).ok()) else { return Ok(None) };
        if at >= texts.len() {
            return Ok(None);
        }
        let words: Vec<&[u8]> = texts[..at].split(|byte| *byte == 0).collect();
        let place = words.last().map_or(0, |word| word.len());
        Ok(Some(format!("argv[{}][{place}]", words.len().saturating_sub(1))))
    }

    /// Whether there is a passing run, and nothing that corresponds to an event.
    pub fn is_only_here(&mut self, time: Time) -> Result<bool, TraceError> {
        let Some(passing) = &mut self.passing else { return Ok(false) };
        Ok(passing.counterpart(&mut self.symbolic, moment(time))?.is_none())
    }

    /// The activation, the file and the line of an event.
    fn line(event: &StepEvent) -> Option<(u64, String, u32)> {
        let place = event.shape.statements.get(event.statement as usize)?.place.as_ref()?;
        Some((event.frame, place.file.to_string(), place.line))
    }

    /// Whether a step ends with a decision.
    fn is_decision(event: &StepEvent) -> bool {
        let last = event.last().map(|last| &last.op);
        matches!(last, Some(Op::Branch(..) | Op::Switch(..) | Op::IndirectJump(_)))
    }

    /// A call: what matters is what let it run, and the function that a pointer leads to.
    fn called(&mut self, terms: &mut Terms, moment: EventTime) -> Result<(TermId, VersionEffects), TraceError> {
        let evaluated = self.evaluated(terms, moment)?;
        let pointer = self.event(moment)?.last().and_then(Instruction::pointer);
        let Some(pointer) = pointer.and_then(|id| evaluated.values.get(&id).copied().flatten()) else {
            return Ok((terms.truth(true), VersionEffects::default()));
        };
        let is_this = self.symbolic.as_recorded(terms, pointer);
        let effects = self.surroundings(terms, moment, &evaluated, &[is_this])?;
        Ok((is_this, effects))
    }

    /// That an event stores at the addresses at which it did.
    fn stored_there(&mut self, terms: &mut Terms, moment: EventTime) -> Result<(TermId, VersionEffects), TraceError> {
        let evaluated = self.evaluated(terms, moment)?;
        let mut there = terms.truth(true);
        for pointer in evaluated.stored.iter().filter_map(|stored| stored.pointer) {
            let is_there = self.symbolic.as_recorded(terms, pointer);
            there = terms.binary(BinaryTerm::And, there, is_there);
        }
        let effects = self.surroundings(terms, moment, &evaluated, &[there])?;
        Ok((there, effects))
    }

    /// The version of the same place that an event reads.
    fn before(&mut self, terms: &mut Terms, evaluated: &Evaluated, version: HistoryVersion) -> Option<HistoryVersion> {
        let known = self.symbolic.versions.get(version).clone();
        let place = match known.place {
            AssignedPlace::Pointer(address, length) => AssignedPlace::Memory(address, length),
            place => place,
        };
        let is_same = |other: &&HistoryVersion| {
            let other = self.symbolic.versions.get(**other);
            other.place == place && other.assigned != known.assigned
        };
        let before = evaluated.loads.keys().filter(is_same).min().copied()?;
        let AssignedPlace::Pointer(address, length) = known.place else { return Some(before) };
        let before = self.symbolic.versions.get(before).clone();
        let location = self.location(terms, &before, address, length);
        match terms.node(location) {
            TermNode::Variable(version) => Some(version),
            _ => None,
        }
    }
}

impl BackwardRun for Native<'_> {
    type Error = TraceError;

    fn assigned(&mut self, version: HistoryVersion) -> Result<Option<Time>, TraceError> {
        Ok(self.symbolic.versions.get(version).assigned.map(time))
    }

    fn value(&self, version: HistoryVersion) -> u64 {
        self.symbolic.versions.get(version).value
    }

    fn effects(
        &mut self,
        terms: &mut Terms,
        time: Time,
        versions: &[HistoryVersion],
    ) -> Result<VersionEffects, TraceError> {
        let moment = moment(time);
        let evaluated = self.evaluated(terms, moment)?;
        let is_library = self.event(moment)?.back.as_ref().is_some_and(|back| back.library.is_some());
        let (mut assignments, mut roots, mut is_unknown) = (Vec::new(), Vec::new(), false);
        for version in versions {
            let known = self.symbolic.versions.get(*version).clone();
            let assigned = self.symbolic.assigned(terms, *version)?;
            let is_pointer = matches!(known.place, AssignedPlace::Pointer(..));
            is_unknown |= assigned.value.is_none() && assigned.conditions.is_empty() && !is_library && !is_pointer;
            let value = assigned.value.unwrap_or_else(|| terms.constant(known.value, known.width));
            let mut requires = assigned.conditions;
            if self.mode == AddressMode::Absolute
                && let AssignedPlace::Memory(address, length) = known.place
                && let Some(pointer) = self.symbolic.pointer_of(terms, &evaluated, address, length)
            {
                requires.push(self.symbolic.as_recorded(terms, pointer));
            }
            roots.push(value);
            roots.extend(&requires);
            let before = self.before(terms, &evaluated, *version);
            assignments.push(Assignment { version: *version, value, before, requires, is_location: is_pointer });
        }
        let effects = self.surroundings(terms, moment, &evaluated, &roots)?;
        is_unknown |= evaluated.is_incomplete && !is_library;
        Ok(VersionEffects { assignments, is_unknown, ..effects })
    }

    fn decisions(&mut self, terms: &mut Terms, time: Time) -> Result<Vec<(Time, bool)>, TraceError> {
        let at = moment(time);
        let step = self.event(at)?.step;
        let Some(first) = self.symbolic.tape.moments(step).next() else { return Ok(Vec::new()) };
        let decider = self.event(first)?.decider;
        let mut found: Vec<EventTime> = Vec::new();
        if decider != Step::START {
            found.extend(self.symbolic.last_before(decider, first));
        }
        let skipped = self.potential.as_ref().map(|graph| {
            graph
                .makers(step)
                .filter(|(_, kind)| *kind == DependenceKind::Potential)
                .map(|(maker, _)| maker)
                .collect::<Vec<_>>()
        });
        let of_output = self.skipped.iter().filter(|_| self.failing == Some(step)).copied();
        for maker in skipped.into_iter().flatten().chain(of_output) {
            found.extend(self.symbolic.last_before(maker, at));
        }
        // Text that a function of a library read, and that nobody knows.
        let event = self.event(at)?;
        let read = event.back.iter().filter(|back| back.library.is_some()).flat_map(|back| &back.access.looked);
        let unknown = read.flat_map(|looked| &looked.bytes).filter(|(byte, _)| byte.is_none()).map(|(_, maker)| *maker);
        let makers: BTreeSet<Step> = unknown.filter(|maker| *maker != Step::START).collect();
        for maker in makers {
            let moment = self.symbolic.last_before(maker, at);
            found.extend(moment);
            self.because.extend(moment.map(|moment| (moment, Because::Supplies)));
        }
        if let Some(passing) = &mut self.passing {
            for parting in passing.parting(&mut FailingRun { symbolic: &mut self.symbolic, terms }, step, decider)? {
                let moment = self.symbolic.last_before(parting, at);
                found.extend(moment);
                self.because.extend(moment.map(|moment| (moment, Because::Parts)));
            }
        }
        let here = Self::line(&*self.event(at)?);
        let mut decisions = Vec::new();
        for moment in found {
            let other = self.event(moment)?;
            let is_same = here.is_some() && Self::line(&other) == here && Self::is_decision(&other);
            decisions.push((self::time(moment), is_same));
        }
        Ok(decisions)
    }

    fn omissions(&mut self, terms: &mut Terms, time: Time) -> Result<Vec<Time>, TraceError> {
        let at = moment(time);
        let step = self.event(at)?.step;
        let Some(passing) = &mut self.passing else { return Ok(Vec::new()) };
        let run = &mut FailingRun { symbolic: &mut self.symbolic, terms };
        let mut omissions = passing.omissions(run, at)?;
        if self.failing == Some(step)
            && let Some(right) = self.right
        {
            omissions.extend(passing.skipped(run, right)?);
        }
        let mut found = Vec::new();
        for (omission, because) in omissions {
            let Some(moment) = self.symbolic.last_before(omission, at) else { continue };
            found.push(self::time(moment));
            if let Some(because) = because {
                self.because.insert(moment, because);
            }
        }
        Ok(found)
    }

    fn condition(&mut self, terms: &mut Terms, decision: Time) -> Result<(TermId, VersionEffects), TraceError> {
        let moment = moment(decision);
        let event = self.event(moment)?;
        if let Some(because) = self.because.get(&moment).copied() {
            let (condition, effects) = match because {
                Because::Parts => self.called(terms, moment)?,
                Because::Supplies => (terms.truth(true), VersionEffects::default()),
                Because::Elsewhere => self.stored_there(terms, moment)?,
            };
            return Ok((condition, VersionEffects { because: Some(because), ..effects }));
        }
        if !Self::is_decision(&event) {
            return self.called(terms, moment);
        }
        let evaluated = self.evaluated(terms, moment)?;
        let is_unknown = evaluated.condition.is_none() || evaluated.is_incomplete;
        let condition = evaluated.condition.unwrap_or_else(|| terms.truth(true));
        let effects = self.surroundings(terms, moment, &evaluated, &[condition])?;
        let is_same_way = match &mut self.passing {
            Some(passing) => {
                let run = &mut FailingRun { symbolic: &mut self.symbolic, terms };
                match passing.went_the_same_way(run, moment)? {
                    // Only this run decides here, and not because another decision went another way.
                    None if !passing.parting(run, event.step, event.decider)?.is_empty() => Some(false),
                    way => way,
                }
            }
            None => None,
        };
        Ok((condition, VersionEffects { is_same_way, is_unknown, ..effects }))
    }
}
