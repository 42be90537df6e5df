//! What the failure is, as conditions.

use crate::invariant::FailingState;
use crate::invariant::history::VersionEffects;
use crate::native::invariant::{Native, time};
use idd_trace::instrument::Op;
use idd_trace::instrument::types::Type;
use idd_trace::logic::substitute::variables;
use idd_trace::logic::term::{BinaryTerm, TermId, Terms};
use idd_trace::native::NativeMachine;
use idd_trace::native::event::{EventTime, Looked};
use idd_trace::native::output::ByteOrigin;
use idd_trace::native::visit::before_step;
use idd_trace::{Doing, Step, TraceError};

/// Addresses below are those of no memory.
const FIRST_PAGE: u64 = 1 << 16;

impl Native<'_> {
    fn last_of(&mut self, step: Step) -> Result<EventTime, TraceError> {
        self.symbolic.tape.moments(step).next_back().ok_or(TraceError::Damaged("a step is not where it was"))
    }

    fn failing(
        &mut self,
        terms: &mut Terms,
        moment: EventTime,
        conditions: Vec<TermId>,
        depth: u32,
    ) -> Result<FailingState, TraceError> {
        let effects = self.effects_of(terms, moment, &conditions)?;
        Ok(FailingState { conditions, effects, time: time(moment), depth })
    }

    /// The crash of a step: that the address it uses is null, or outside of the object that it is computed from.
    ///
    /// Cost: plays the step.
    pub fn crash(&mut self, terms: &mut Terms, step: Step, depth: u32) -> Result<FailingState, TraceError> {
        let moment = self.last_of(step)?;
        let event = self.event(moment)?;
        let evaluated = self.evaluated(terms, moment)?;
        let mut conditions = Vec::new();
        if let Some(crashed) = evaluated.crash {
            let is_division = event.crash.is_some_and(|crash| crash.doing == Doing::Dividing);
            let base = crashed.base.unwrap_or(crashed.operand);
            if is_division || self.symbolic.versions.value(terms, base) == 0 {
                let operand = if is_division { crashed.operand } else { base };
                conditions.push(self.symbolic.as_recorded(terms, operand));
            } else {
                conditions.push(self.outside(terms, step, crashed.operand, base)?);
            }
        } else if let Some(last) = event.last().filter(|last| matches!(last.op, Op::Call(..))) {
            // A library crashed: at a pointer that it was given, else because of all that it was given.
            let given = last.operands.iter().zip(&evaluated.arguments);
            let given: Vec<_> = given.filter_map(|(operand, argument)| Some((&operand.ty, (*argument)?))).collect();
            let is_bad = |(ty, argument): &&(&Type, TermId)| {
                **ty == Type::Ptr && self.symbolic.versions.value(terms, *argument) < FIRST_PAGE
            };
            let bad: Vec<_> = given.iter().filter(is_bad).collect();
            let chosen = if bad.is_empty() { given.iter().collect() } else { bad };
            for (_, argument) in chosen {
                if terms.constant_of(*argument).is_none() {
                    conditions.push(self.symbolic.as_recorded(terms, *argument));
                }
            }
        }
        self.failing(terms, moment, conditions, depth)
    }

    /// That an address is outside of the object that its base leads to; if there is none, that it is what it is.
    fn outside(&mut self, terms: &mut Terms, step: Step, address: TermId, base: TermId) -> Result<TermId, TraceError> {
        let [at, begin] = [address, base].map(|term| self.symbolic.versions.value(terms, term));
        if at < FIRST_PAGE {
            let limit = terms.constant(FIRST_PAGE, 64);
            return Ok(terms.binary(BinaryTerm::Ult, address, limit));
        }
        let object = self.object(step, begin)?;
        let Some((object, length)) = object.filter(|(object, length)| at.wrapping_sub(*object) >= *length) else {
            return Ok(self.symbolic.as_recorded(terms, address));
        };
        let inside = terms.constant(begin.wrapping_sub(object), 64);
        let by = terms.binary(BinaryTerm::Sub, address, base);
        let offset = terms.binary(BinaryTerm::Add, by, inside);
        let length = terms.constant(length, 64);
        Ok(terms.binary(BinaryTerm::Ule, length, offset))
    }

    /// Where the object begins that an address is in, and its length.
    fn object(&mut self, step: Step, address: u64) -> Result<Option<(u64, u64)>, TraceError> {
        let player = &mut *self.symbolic.tape.player;
        let global = player.machine.globals.find(address).map(|global| (global.address, global.size));
        let mut found = None;
        before_step(player, step, |machine: &NativeMachine| {
            let block = machine.heap.find(address).map(|block| (block.address, block.size));
            let mut slots = machine.frames.iter().rev().flat_map(|frame| {
                frame.shape.slots.iter().filter_map(move |slot| Some((frame.given(slot.register)?, slot.size)))
            });
            let slot = slots.rfind(|(begin, size)| *begin != 0 && address.wrapping_sub(*begin) < *size);
            found = slot.or(block);
        })?;
        Ok(found.or(global))
    }

    /// The end of a program in a step: what it returned, or gave to `exit`, and what let it run.
    pub fn end(&mut self, terms: &mut Terms, step: Step, depth: u32) -> Result<FailingState, TraceError> {
        let moment = self.last_of(step)?;
        let event = self.event(moment)?;
        let evaluated = self.evaluated(terms, moment)?;
        let mut conditions = Vec::new();
        let is_exit = |name: &str| matches!(name, "exit" | "_exit" | "_Exit" | "quick_exit");
        let value = match event.last() {
            Some(last) if last.called().is_some_and(is_exit) => evaluated.arguments.first().copied().flatten(),
            Some(last) if matches!(last.op, Op::Return) => evaluated.returned,
            _ => None,
        };
        if let Some(value) = value {
            let is_bad = self.symbolic.versions.value(terms, value) != 0;
            let zero = terms.constant(0, terms.width(value));
            let is_zero = terms.binary(BinaryTerm::Eq, value, zero);
            conditions.push(if is_bad { terms.not(is_zero) } else { is_zero });
        }
        self.failing(terms, moment, conditions, depth)
    }

    /// A wrong byte of the output.
    ///
    /// - `nth`: the number of calls of the step that printed something before.
    /// - `expected`: what is right in its place: the byte, or the argument; and the step that printed the text before it, if
    ///   that may be too short.
    pub fn output(
        &mut self,
        terms: &mut Terms,
        (step, nth): (Step, usize),
        origin: ByteOrigin,
        (expected, text_before): (Option<u64>, Option<Step>),
        depth: u32,
    ) -> Result<FailingState, TraceError> {
        let mut calls = Vec::new();
        for moment in self.symbolic.tape.moments(step) {
            let event = self.event(moment)?;
            if event.back.as_ref().is_some_and(|back| back.library.is_some()) {
                calls.extend(self.symbolic.last_before(step, moment).map(|call| (call, moment)));
            }
        }
        let last = self.last_of(step)?;
        let (call, back) = calls.get(nth).or(calls.last()).copied().unwrap_or((last, last));
        let evaluated = self.evaluated(terms, call)?;
        let mut pointer = None;
        let term = match origin {
            ByteOrigin::Argument(index) => evaluated.arguments.get(index).copied().flatten(),
            ByteOrigin::Byte(address) => {
                let event = self.event(back)?;
                let looked: Vec<Looked> =
                    event.back.as_ref().map(|back| back.access.looked.clone()).unwrap_or_default();
                let is_there = |one: &&Looked| address.wrapping_sub(one.address) < one.length;
                match looked.iter().find(is_there) {
                    Some(looked) => {
                        pointer =
                            self.symbolic.pointer_to(terms, &evaluated.arguments, looked.address).map(|pointer| {
                                let offset = terms.constant(address - looked.address, 64);
                                terms.binary(BinaryTerm::Add, pointer, offset)
                            });
                        self.symbolic.looked(terms, back, looked, address, 1)?
                    }
                    None => None,
                }
            }
            ByteOrigin::Unknown => None,
        };
        let mut conditions = Vec::new();
        if let Some(term) = term {
            let recorded = self.symbolic.as_recorded(terms, term);
            let right = expected.map(|right| {
                let right = terms.constant(right, terms.width(term));
                let is_right = terms.binary(BinaryTerm::Eq, term, right);
                terms.not(is_right)
            });
            // An expectation that the run meets is none.
            let right = right.filter(|right| self.symbolic.versions.value(terms, *right) == 1);
            let condition = right.unwrap_or(recorded);
            // Text that nothing can change is there because the pointer leads to it.
            let is_constant = variables(terms, &[condition]).into_iter().all(|(version, _)| self.is_literal(version));
            let there = pointer.filter(|_| is_constant).map(|pointer| self.symbolic.as_recorded(terms, pointer));
            conditions.push(there.unwrap_or(condition));
        }
        if let (Some(term), Some(pointer)) = (term, pointer) {
            let versions: Vec<u32> = variables(terms, &[term]).into_iter().map(|(version, _)| version).collect();
            for version in versions {
                conditions.extend(self.is_read_there(terms, version, pointer)?);
            }
        }
        let before = text_before.map(|step| self.printed(terms, step)).transpose()?;
        let mut failing = self.failing(terms, call, conditions, depth)?;
        if let Some((conditions, effects)) = before {
            failing.conditions.extend(conditions);
            failing.effects.pinned.extend(effects.pinned);
            failing.effects.addresses.extend(effects.addresses);
            failing.effects.passing.extend(effects.passing);
        }
        Ok(failing)
    }

    /// Output that differs from that of the passing run, and whose text is not known.
    pub fn otherwise(&mut self, terms: &mut Terms, step: Step, depth: u32) -> Result<FailingState, TraceError> {
        let moment = self.last_of(step)?;
        let (conditions, effects) = self.printed(terms, step)?;
        Ok(FailingState { conditions, effects, time: time(moment), depth })
    }

    /// That a step prints what it printed: its arguments that are numbers have their recorded values.
    fn printed(&mut self, terms: &mut Terms, step: Step) -> Result<(Vec<TermId>, VersionEffects), TraceError> {
        let mut conditions = Vec::new();
        let moments: Vec<EventTime> = self.symbolic.tape.moments(step).collect();
        for moment in moments.iter().rev() {
            let event = self.event(*moment)?;
            let evaluated = self.evaluated(terms, *moment)?;
            let Some(last) = event.last().filter(|_| !evaluated.arguments.is_empty()) else { continue };
            for (operand, argument) in last.operands.iter().zip(&evaluated.arguments) {
                if let Some(argument) = argument.filter(|_| operand.ty != Type::Ptr) {
                    conditions.push(self.symbolic.as_recorded(terms, argument));
                }
            }
            // The texts that it printed end where they end.
            for after in moments.iter().filter(|after| *after > moment) {
                let back = self.event(*after)?.back.clone();
                for looked in back.iter().flat_map(|back| &back.access.looked) {
                    let Some(last) = looked.bytes.last().filter(|(byte, _)| *byte == Some(0)) else { continue };
                    let end = looked.address + looked.bytes.len() as u64 - 1;
                    if last.1 != Step::START
                        && let Some(byte) = self.symbolic.looked(terms, *after, looked, end, 1)?
                    {
                        conditions.push(self.symbolic.as_recorded(terms, byte));
                    }
                }
            }
            let effects = self.effects_of(terms, *moment, &conditions)?;
            return Ok((conditions, effects));
        }
        Ok((conditions, VersionEffects::default()))
    }

    /// Conditions on what memory holds right before a step.
    pub fn state(&mut self, step: Step, conditions: Vec<TermId>, depth: u32) -> Result<FailingState, TraceError> {
        let moment = self.symbolic.tape.moments(step).next();
        let moment = moment.ok_or(TraceError::Damaged("a step is not where it was"))?;
        Ok(FailingState { conditions, effects: VersionEffects::default(), time: time(moment), depth })
    }

    /// What memory holds right before a step, as a term; `None` if it is not known.
    pub fn held(
        &mut self,
        terms: &mut Terms,
        step: Step,
        address: u64,
        length: u64,
    ) -> Result<Option<TermId>, TraceError> {
        let Some(moment) = self.symbolic.tape.moments(step).next() else { return Ok(None) };
        let mut looked = None;
        before_step(self.symbolic.tape.player, step, |machine| looked = bytes(machine, address, length))?;
        match looked {
            Some(looked) => self.symbolic.looked(terms, moment, &looked, address, length),
            None => Ok(None),
        }
    }
}

/// Bytes of a variable with their writers.
pub fn bytes(machine: &NativeMachine, address: u64, length: u64) -> Option<Looked> {
    let held = machine.cell(address, length)?;
    let is_plain = machine.cell_in_memory(address, length).is_none();
    let writer = |at: u64| {
        let mut writer = held.writer;
        if !is_plain {
            machine.memory.writers(at, 1, |found| writer = found);
        }
        writer
    };
    let bytes = (address..).zip(&held.bytes).map(|(at, byte)| (Some(*byte), writer(at))).collect();
    Some(Looked { address, length, bytes })
}
