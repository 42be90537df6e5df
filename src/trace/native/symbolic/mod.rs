//! The statements of a recorded run as terms: what they assign, by what they read.
//!
//! An event is executed with terms in place of numbers. What it reads of memory, of its parameters, or as the result of a
//! call is a [version](version::PlaceVersion). Numbers that the program computed for itself are never recorded twice; they are
//! computed by the terms, and compared with the next load that was.
//!
//! Operations that the terms do not have (floating-point, products and quotients of two variables, library functions)
//! give a *pinned* version: it has its recorded value as long as the operands have theirs.

mod compute;
mod instructions;
mod library;
pub mod version;

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::instrument::segment::splits;
use crate::instrument::{Op, ValueId};
use crate::logic::term::{BinaryTerm, TermId, Terms};
use crate::native::FunctionShape;
use crate::native::event::{EventTime, Looked, StepEvent};
use crate::native::symbolic::version::{AssignedPlace, PlaceVersion, PlaceVersions};
use crate::native::tape::EventTape;
use crate::{BlockId, Step, TraceError};

/// Events that may lie between the beginning and the end of one value.
const MAX_DEPTH: u32 = 64;

/// Where the bytes come from that an event writes.
#[derive(Debug, Clone)]
pub enum WrittenSource {
    /// This term, of all bytes.
    Term(TermId),
    /// This byte, again and again.
    Filled(TermId),
    /// They are a copy.
    Copied(Rc<Looked>),
    /// A computation that is not modelled. If all of these hold, it gives the same again.
    Unknown(Rc<[TermId]>),
}

/// A range that an event writes.
#[derive(Debug, Clone)]
pub struct StoredRange {
    /// Its address.
    pub address: u64,
    /// Its length in bytes.
    pub length: u64,
    /// What it gets.
    pub source: WrittenSource,
    /// The pointer through which it is written, if that is a term.
    pub pointer: Option<TermId>,
}

/// An event as terms.
#[derive(Debug, Clone, Default)]
pub struct Evaluated {
    /// The values of its instructions; `None` for one that is not known.
    pub values: HashMap<ValueId, Option<TermId>>,
    /// What it writes, in order.
    pub stored: Vec<StoredRange>,
    /// The versions of memory that it reads, each with the pointers through which it does.
    pub loads: HashMap<u32, Vec<TermId>>,
    /// What the language promises of it: no signed overflow.
    pub hypotheses: Vec<TermId>,
    /// The arguments of the call that it ends with.
    pub arguments: Vec<Option<TermId>>,
    /// What it returns.
    pub returned: Option<TermId>,
    /// What holds because of the way that it went at its end.
    pub condition: Option<TermId>,
    /// Which way that is: 1 or 0 of a condition, the number of the case of a `switch`.
    pub chosen: Option<usize>,
    /// Whether it uses something of which only the recorded value is known, not what it depends on.
    pub is_incomplete: bool,
    /// The address that it crashes at: the pointer; and its base and the offset from that, if it is computed so.
    pub crash: Option<Crashed>,
}

/// The address of a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crashed {
    /// The address, or the divisor.
    pub operand: TermId,
    /// The pointer that the address is computed from.
    pub base: Option<TermId>,
}

/// Where the values of a function are computed.
type Definitions = HashMap<ValueId, (BlockId, usize)>;

/// Evaluates events.
pub struct Symbolic<'s> {
    /// The events.
    pub tape: EventTape<'s>,
    /// The versions met so far.
    pub versions: PlaceVersions,
    done: HashMap<EventTime, Rc<Evaluated>>,
    /// By function: where its values are computed.
    definitions: HashMap<u32, Rc<Definitions>>,
    depth: u32,
}

impl<'s> Symbolic<'s> {
    /// Over the events of a run.
    pub fn new(tape: EventTape<'s>) -> Self {
        Self { tape, versions: PlaceVersions::default(), done: HashMap::new(), definitions: HashMap::new(), depth: 0 }
    }

    /// An event as terms; `None` if there is none.
    pub fn evaluated(&mut self, terms: &mut Terms, moment: EventTime) -> Result<Option<Rc<Evaluated>>, TraceError> {
        if let Some(done) = self.done.get(&moment) {
            return Ok(Some(Rc::clone(done)));
        }
        if self.depth >= MAX_DEPTH {
            return Ok(None);
        }
        let Some(event) = self.tape.event(moment)? else { return Ok(None) };
        self.depth += 1;
        let evaluated = self.execute(terms, &event);
        self.depth -= 1;
        let evaluated = Rc::new(evaluated?);
        self.done.insert(moment, Rc::clone(&evaluated));
        Ok(Some(evaluated))
    }

    /// The threads of the program.
    pub fn n_threads(&self) -> usize {
        let chunks = self.tape.player.trace().chunks().iter();
        let records = chunks.filter(|chunk| chunk.kind == crate::container::ChunkKind::Records);
        records.map(|chunk| chunk.thread).collect::<std::collections::HashSet<_>>().len()
    }

    /// The frame of a step, the decision or the call that let it run, and the step that called its function.
    pub fn around(&mut self, step: Step) -> Result<Option<(u64, Step, Step)>, TraceError> {
        let first = self.tape.moments(step).next();
        let event = first.map(|first| self.tape.event(first)).transpose()?.flatten();
        Ok(event.map(|event| (event.frame, event.decider, event.caller)))
    }

    /// The last event of a step before a moment.
    pub fn last_before(&self, step: Step, moment: EventTime) -> Option<EventTime> {
        self.tape.moments(step).rev().find(|at| *at < moment)
    }

    /// When a range was written that `maker` wrote last before `moment`.
    fn writer(
        &mut self,
        maker: Step,
        moment: EventTime,
        address: u64,
        length: u64,
    ) -> Result<Option<EventTime>, TraceError> {
        let candidates: Vec<EventTime> = self.tape.moments(maker).rev().filter(|at| *at < moment).collect();
        if let [only] = candidates[..] {
            return Ok(Some(only));
        }
        for candidate in &candidates {
            if self.tape.event(*candidate)?.is_some_and(|event| event.writes(address, length)) {
                return Ok(Some(*candidate));
            }
        }
        Ok(candidates.first().copied())
    }

    /// Bytes of memory as a term, of which `maker` wrote all.
    fn bytes_of(
        &mut self,
        terms: &mut Terms,
        moment: EventTime,
        address: u64,
        length: u64,
        maker: Step,
        value: u64,
    ) -> Result<TermId, TraceError> {
        let assigned = self.writer(maker, moment, address, length)?;
        let width = u32::try_from(8 * length).unwrap_or(64);
        let place = AssignedPlace::Memory(address, length);
        Ok(self.versions.put(terms, PlaceVersion { place, width, value, assigned, pins: Vec::new() }))
    }

    /// A part of bytes that were looked at, as a term, and the versions of which it consists.
    pub fn looked(
        &mut self,
        terms: &mut Terms,
        moment: EventTime,
        looked: &Looked,
        address: u64,
        length: u64,
    ) -> Result<Option<TermId>, TraceError> {
        let Some(begin) = address.checked_sub(looked.address).and_then(|begin| usize::try_from(begin).ok()) else {
            return Ok(None);
        };
        let Some(bytes) = usize::try_from(length).ok().and_then(|n| looked.bytes.get(begin..begin.checked_add(n)?))
        else {
            return Ok(None);
        };
        let value = |bytes: &[(Option<u8>, Step)]| {
            bytes.iter().rev().try_fold(0_u64, |value, (byte, _)| Some(value << 8 | u64::from((*byte)?)))
        };
        let Some(whole) = value(bytes).filter(|_| (1..=8).contains(&length)) else { return Ok(None) };
        let maker = bytes[0].1;
        if bytes.iter().all(|(_, writer)| *writer == maker) {
            return self.bytes_of(terms, moment, address, length, maker, whole).map(Some);
        }
        let mut term = None;
        for (at, byte) in (address..).zip(bytes) {
            let value = u64::from(byte.0.unwrap_or(0));
            let byte = self.bytes_of(terms, moment, at, 1, byte.1, value)?;
            term = Some(term.map_or(byte, |lower| terms.concat(byte, lower)));
        }
        Ok(term)
    }

    /// What bytes hold after some writes of an event; `None` if none of these wrote all of them.
    fn written(
        &mut self,
        terms: &mut Terms,
        moment: EventTime,
        stored: &[StoredRange],
        address: u64,
        length: u64,
    ) -> Result<WrittenBytes, TraceError> {
        let end = address.saturating_add(length);
        let overlaps = |one: &&StoredRange| one.address < end && address < one.address.saturating_add(one.length);
        let Some(last) = stored.iter().rev().find(overlaps) else { return Ok(WrittenBytes::Not) };
        let offset = address.wrapping_sub(last.address);
        if address < last.address || end > last.address.saturating_add(last.length) {
            if length == 1 || length > 8 {
                return Ok(WrittenBytes::Unknown(Rc::new([])));
            }
            // Byte by byte.
            let mut term = None;
            for at in 0..length {
                match self.written(terms, moment, stored, address + at, 1)? {
                    WrittenBytes::Term(byte) => term = Some(term.map_or(byte, |lower| terms.concat(byte, lower))),
                    other => {
                        return Ok(if let WrittenBytes::Not = other {
                            WrittenBytes::Unknown(Rc::new([]))
                        } else {
                            other
                        });
                    }
                }
            }
            return Ok(term.map_or(WrittenBytes::Not, WrittenBytes::Term));
        }
        let width = u32::try_from(8 * length).unwrap_or(64);
        match &last.source {
            WrittenSource::Term(term) if length <= 8 => {
                let low = u32::try_from(8 * offset).unwrap_or(0);
                Ok(WrittenBytes::Term(terms.extract(*term, low, width)))
            }
            WrittenSource::Filled(byte) if length <= 8 => {
                let mut term = *byte;
                for _ in 1..length {
                    term = terms.concat(term, *byte);
                }
                Ok(WrittenBytes::Term(term))
            }
            WrittenSource::Copied(looked) => {
                let from = looked.address.wrapping_add(offset);
                let term = self.looked(terms, moment, looked, from, length)?;
                Ok(term.map_or_else(|| WrittenBytes::Unknown(Rc::new([])), WrittenBytes::Term))
            }
            WrittenSource::Unknown(conditions) => Ok(WrittenBytes::Unknown(Rc::clone(conditions))),
            _ => Ok(WrittenBytes::Unknown(Rc::new([]))),
        }
    }

    /// What was assigned to a version, by what held before; and what that needs.
    pub fn assigned(&mut self, terms: &mut Terms, version: u32) -> Result<Assigned, TraceError> {
        let PlaceVersion { place, assigned, value, width, .. } = self.versions.get(version).clone();
        let unknown = |conditions: &[TermId]| Assigned { value: None, conditions: conditions.to_vec() };
        let Some(moment) = assigned else { return Ok(unknown(&[])) };
        let Some(evaluated) = self.evaluated(terms, moment)? else { return Ok(unknown(&[])) };
        let term = match place {
            AssignedPlace::Memory(address, length) => {
                let stored = evaluated.stored.clone();
                match self.written(terms, moment, &stored, address, length)? {
                    WrittenBytes::Term(term) => Some(term),
                    WrittenBytes::Unknown(conditions) => return Ok(unknown(&conditions)),
                    // The block was moved later: by `realloc`.
                    WrittenBytes::Not => {
                        let same = |one: &&StoredRange| {
                            matches!(one.source, WrittenSource::Term(term)
                                if one.length == length && self.versions.value(terms, term) == value)
                        };
                        let mut all = stored.iter().filter(same);
                        match (all.next(), all.next()) {
                            (Some(StoredRange { source: WrittenSource::Term(term), .. }), None) => Some(*term),
                            _ => None,
                        }
                    }
                }
            }
            AssignedPlace::Pointer(address, length) => self.pointer_of(terms, &evaluated, address, length),
            AssignedPlace::Parameter(_, index) => evaluated.arguments.get(index as usize).copied().flatten(),
            AssignedPlace::Result(_) => evaluated.returned,
            AssignedPlace::Pinned(..) => None,
        };
        // The recorded value decides whether the term is right.
        let term = term.filter(|term| terms.width(*term) == width && self.versions.value(terms, *term) == value);
        Ok(Assigned { value: term, conditions: Vec::new() })
    }

    /// The pointer through which an event wrote some bytes last.
    pub fn pointer_of(&self, terms: &mut Terms, evaluated: &Evaluated, address: u64, length: u64) -> Option<TermId> {
        let end = address.saturating_add(length);
        let covers = |one: &&StoredRange| one.address <= address && end <= one.address.saturating_add(one.length);
        let last = evaluated.stored.iter().rev().find(covers)?;
        let offset = terms.constant(address - last.address, 64);
        Some(terms.binary(BinaryTerm::Add, last.pointer?, offset))
    }

    /// Where the values of a function are computed.
    fn definitions(&mut self, shape: &Arc<FunctionShape>) -> Rc<Definitions> {
        let found = self.definitions.entry(shape.index).or_insert_with(|| {
            let mut found = Definitions::new();
            for (number, block) in (0..).zip(&shape.body.function.blocks) {
                for (index, instruction) in block.instructions.iter().enumerate() {
                    if let Some(id) = instruction.result {
                        found.insert(id, (BlockId(number), index));
                    }
                }
            }
            Rc::new(found)
        });
        Rc::clone(found)
    }

    /// The event in which a value was computed that `event` uses.
    fn computed(&mut self, event: &StepEvent, id: ValueId) -> Result<Option<EventTime>, TraceError> {
        let register = event.shape.registers.get(&id);
        let maker = event.temporaries.iter().find(|(other, _)| Some(other) == register).map(|(_, maker)| *maker);
        let Some((block, index)) = self.definitions(&event.shape).get(&id).copied() else { return Ok(None) };
        let instruction = &event.shape.body.function.block(block).instructions[index];
        let is_call = matches!(instruction.op, Op::Call(..)) && splits(instruction);
        let candidates: Vec<EventTime> = [maker, Some(event.step)]
            .into_iter()
            .flatten()
            .flat_map(|step| self.tape.moments(step).rev())
            .filter(|at| *at < event.moment)
            .collect();
        for candidate in candidates {
            let Some(other) = self.tape.event(candidate)? else { continue };
            let is_there = if is_call {
                other.back.is_some() && other.segment().first == index + 1
            } else {
                other.range.contains(&index)
            };
            if other.frame == event.frame && other.block == block && is_there {
                return Ok(Some(candidate));
            }
        }
        Ok(None)
    }
}

/// What bytes hold after some writes.
enum WrittenBytes {
    Term(TermId),
    /// What is not modelled, as long as these hold.
    Unknown(Rc<[TermId]>),
    /// They were not written.
    Not,
}

/// What was assigned to a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assigned {
    /// The term; `None` if that is not modelled, or if it is not what was recorded.
    pub value: Option<TermId>,
    /// What has to hold so that a computation that is not modelled gives the same again.
    pub conditions: Vec<TermId>,
}
