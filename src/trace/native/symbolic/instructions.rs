//! Executes the instructions of an event with terms.

use std::collections::HashMap;
use std::rc::Rc;

use crate::instrument::segment::{is_memory_intrinsic, splits};
use crate::instrument::types::Type;
use crate::instrument::{BinaryOp, Instruction, Op, OperandValue, Predicate, SegmentItemKind, TypedValue, ValueId};
use crate::logic::term::{BinaryTerm, TermId, Terms, mask};
use crate::native::event::{EventAccess, Looked, StepEvent};
use crate::native::frame::number;
use crate::native::symbolic::version::{AssignedPlace, PlaceVersion};
use crate::native::symbolic::{Crashed, Evaluated, StoredRange, Symbolic, WrittenBytes, WrittenSource, compute};
use crate::{Doing, Step, TraceError};

pub(super) struct ExecutedEvent<'e, 's> {
    pub(super) symbolic: &'e mut Symbolic<'s>,
    pub(super) terms: &'e mut Terms,
    pub(super) event: &'e StepEvent,
    pub(super) done: Evaluated,
    /// Pinned versions so far.
    n_pinned: u32,
    /// Pointers that are computed from others: their bases.
    bases: HashMap<TermId, TermId>,
}

impl Symbolic<'_> {
    pub(super) fn execute(&mut self, terms: &mut Terms, event: &StepEvent) -> Result<Evaluated, TraceError> {
        let (done, bases) = (Evaluated::default(), HashMap::new());
        let mut execution = ExecutedEvent { symbolic: self, terms, event, done, n_pinned: 0, bases };
        for access in &event.received {
            store_ranges(&mut execution.done, access, &unknown(), None);
        }
        if let Some(back) = &event.back {
            execution.came_back(back)?;
        }
        if event.is_quiet {
            // What a function of a library does in the program's stead is taken as it is.
            for access in &event.accesses {
                store_ranges(&mut execution.done, access, &unknown(), None);
            }
            return Ok(execution.done);
        }
        let instructions = event.block_instructions();
        let mut accesses = event.accesses.iter();
        for index in event.range.clone() {
            let Some(instruction) = instructions.get(index) else { break };
            execution.instruction(index, instruction, &mut accesses)?;
        }
        Ok(execution.done)
    }

    /// That a term has its recorded value.
    pub fn as_recorded(&self, terms: &mut Terms, term: TermId) -> TermId {
        let value = self.versions.value(terms, term);
        let value = terms.constant(value, terms.width(term));
        terms.binary(BinaryTerm::Eq, term, value)
    }

    /// That terms have their recorded values; nothing for constants.
    pub(super) fn pins(&self, terms: &mut Terms, all: &[TermId]) -> Vec<TermId> {
        let mut pins: Vec<TermId> = all.iter().map(|term| self.as_recorded(terms, *term)).collect();
        pins.retain(|pin| terms.constant_of(*pin).is_none());
        pins
    }
}

impl ExecutedEvent<'_, '_> {
    /// A version that has its recorded value as long as some terms have theirs.
    pub(super) fn pinned(&mut self, value: u64, width: u32, pins: Vec<TermId>) -> TermId {
        if pins.is_empty() {
            return self.terms.constant(value, width);
        }
        let moment = self.event.moment;
        let place = AssignedPlace::Pinned(moment, self.n_pinned);
        self.n_pinned += 1;
        self.symbolic.versions.put(self.terms, PlaceVersion { place, width, value, assigned: Some(moment), pins })
    }

    /// An operand of an instruction as a term.
    pub(super) fn operand(&mut self, index: usize, number: usize) -> Result<Option<TermId>, TraceError> {
        let instruction = &self.event.block_instructions()[index];
        let Some(TypedValue { ty, value }) = instruction.operands.get(number) else { return Ok(None) };
        let Some(width) = compute::width(ty) else { return Ok(None) };
        let recorded = item(self.event, index, SegmentItemKind::Operand(number));
        Ok(match value {
            OperandValue::Int(int) => {
                let bits = u64::try_from(*int & i128::from(u64::MAX)).unwrap_or(0);
                Some(self.terms.constant(bits, width))
            }
            OperandValue::Local(id) => {
                let found = self.local(*id, width)?;
                self.done.is_incomplete |= found.is_none();
                found.or_else(|| recorded.map(|bits| self.terms.constant(bits, width)))
            }
            OperandValue::Global(name) => {
                let known = recorded.or_else(|| {
                    let globals = &self.symbolic.tape.player.machine.globals;
                    let unit = self.event.shape.body.unit;
                    let global = globals.named(name, unit).or_else(|| globals.unnamed(name, unit));
                    let global = global.map(|global| global.address);
                    let function = || globals.functions().iter().find(|(_, found)| *found == name);
                    global.or_else(|| function().map(|(address, _)| *address))
                });
                known.map(|address| self.terms.constant(address, width))
            }
            OperandValue::Constant(text) => {
                let known = recorded.or_else(|| compute::constant_bits(text, ty));
                known.map(|bits| self.terms.constant(bits, width))
            }
        })
    }

    fn local(&mut self, id: ValueId, width: u32) -> Result<Option<TermId>, TraceError> {
        let event = self.event;
        if let Some(value) = self.done.values.get(&id) {
            return Ok(*value);
        }
        if event.shape.slots.iter().any(|slot| slot.id == id) {
            return Ok(event.known.get(&id).map(|address| self.terms.constant(*address, 64)));
        }
        let parameters = &event.shape.body.function.parameters;
        if let Some(index) = parameters.iter().position(|parameter| parameter.value == id) {
            return self.parameter(index, id, width);
        }
        let Some(moment) = self.symbolic.computed(event, id)? else { return Ok(None) };
        let Some(other) = self.symbolic.evaluated(self.terms, moment)? else { return Ok(None) };
        for (version, pointers) in &other.loads {
            self.done.loads.entry(*version).or_insert_with(|| pointers.clone());
        }
        self.done.hypotheses.extend(&other.hypotheses);
        Ok(other.values.get(&id).copied().flatten())
    }

    fn parameter(&mut self, index: usize, id: ValueId, width: u32) -> Result<Option<TermId>, TraceError> {
        let event = self.event;
        let assigned = match event.caller {
            Step::START => None,
            caller => self.symbolic.last_before(caller, event.moment),
        };
        let mut value = event.known.get(&id).copied();
        if value.is_none()
            && let Some(moment) = assigned
            && let Some(call) = self.symbolic.evaluated(self.terms, moment)?
            && let Some(term) = call.arguments.get(index).copied().flatten()
        {
            value = Some(self.symbolic.versions.value(self.terms, term));
        }
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        let place = AssignedPlace::Parameter(event.frame, index);
        Ok(value.map(|value| {
            self.symbolic.versions.put(self.terms, PlaceVersion { place, width, value, assigned, pins: Vec::new() })
        }))
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each instruction")]
    fn instruction(
        &mut self,
        index: usize,
        instruction: &Instruction,
        accesses: &mut std::slice::Iter<'_, EventAccess>,
    ) -> Result<(), TraceError> {
        let width = compute::width(&instruction.ty);
        let event = self.event;
        let value = match &instruction.op {
            Op::Load => {
                let pointer = self.operand(index, 0)?;
                let Some(access) = accesses.next() else {
                    self.crash(pointer);
                    return Ok(());
                };
                let loaded = self.load(access, pointer)?;
                match (loaded, width) {
                    (Some(loaded), Some(width)) if width <= self.terms.width(loaded) => {
                        Some(self.terms.extract(loaded, 0, width))
                    }
                    _ => None,
                }
            }
            Op::Store => {
                let (value, pointer) = (self.operand(index, 0)?, self.operand(index, 1)?);
                let Some(access) = accesses.next() else {
                    self.crash(pointer);
                    return Ok(());
                };
                for (address, length) in &access.written {
                    let bits = u32::try_from(8 * length).unwrap_or(u32::MAX);
                    let source = match value {
                        Some(value) if bits <= 64 && self.terms.width(value) <= bits => {
                            WrittenSource::Term(self.terms.zero_extend(value, bits))
                        }
                        _ => unknown(),
                    };
                    self.done.stored.push(StoredRange { address: *address, length: *length, source, pointer });
                }
                return Ok(());
            }
            Op::AtomicUpdate(name) => {
                let pointer = self.operand(index, 0)?;
                let change = self.operand(index, 1)?;
                let Some(access) = accesses.next() else {
                    self.crash(pointer);
                    return Ok(());
                };
                let loaded = self.load(access, pointer)?;
                let op = match *name {
                    "add" => Some(BinaryTerm::Add),
                    "sub" => Some(BinaryTerm::Sub),
                    "and" => Some(BinaryTerm::And),
                    "or" => Some(BinaryTerm::Or),
                    "xor" => Some(BinaryTerm::Xor),
                    _ => None,
                };
                let new = match (loaded, change, op) {
                    (Some(loaded), Some(change), Some(op)) if self.terms.width(loaded) == self.terms.width(change) => {
                        Some(self.terms.binary(op, loaded, change))
                    }
                    (_, change, None) if *name == "xchg" => change,
                    _ => None,
                };
                for (address, length) in &access.written {
                    let fits = |new: &TermId| u64::from(self.terms.width(*new)) == 8 * length;
                    let source = new.filter(fits).map_or_else(unknown, WrittenSource::Term);
                    self.done.stored.push(StoredRange { address: *address, length: *length, source, pointer });
                }
                loaded
            }
            Op::CompareExchange => {
                if let Some(access) = accesses.next() {
                    store_ranges(&mut self.done, access, &unknown(), None);
                }
                None
            }
            Op::Element(ty) => self.element(index, instruction, ty)?,
            Op::Binary(op, flags) => {
                let operands = (self.operand(index, 0)?, self.operand(index, 1)?);
                let (Some(first), Some(second), Some(width)) = (operands.0, operands.1, width) else {
                    return self.finish(instruction, None);
                };
                if event.crash.is_some_and(|crash| crash.doing == Doing::Dividing) && op.is_division() {
                    self.done.crash = Some(Crashed { operand: second, base: None });
                }
                if flags.no_signed_wrap
                    && let Some(promise) = compute::no_signed_wrap(self.terms, *op, first, second)
                    && self.terms.constant_of(promise).is_none()
                    && self.symbolic.versions.value(self.terms, promise) == 1
                {
                    self.done.hypotheses.push(promise);
                }
                match compute::binary(self.terms, *op, first, second) {
                    Some(value) => Some(value),
                    None => self.inexact(*op, &instruction.ty, first, second, width),
                }
            }
            Op::Compare(predicate) => {
                let operands = (self.operand(index, 0)?, self.operand(index, 1)?);
                match (operands, predicate) {
                    ((Some(first), Some(second)), Predicate::Float(predicate)) => {
                        let bits = [first, second].map(|term| self.symbolic.versions.value(self.terms, term));
                        let ty = &instruction.operands[0].ty;
                        let holds = compute::compare_floats(*predicate, ty, bits[0], bits[1]);
                        let pins = self.symbolic.pins(self.terms, &[first, second]);
                        holds.map(|holds| self.pinned(u64::from(holds), 1, pins))
                    }
                    ((Some(first), Some(second)), predicate) => compute::compare(self.terms, *predicate, first, second),
                    _ => None,
                }
            }
            Op::Cast(op) => match (self.operand(index, 0)?, width) {
                (Some(from), Some(width)) => {
                    let value = compute::cast(self.terms, *op, from, width);
                    if let (Some(value), Some(base)) = (value, self.bases.get(&from).copied()) {
                        self.bases.insert(value, base);
                    }
                    value.or_else(|| {
                        let bits = self.symbolic.versions.value(self.terms, from);
                        let bits = compute::cast_bits(*op, &instruction.operands[0].ty, &instruction.ty, bits);
                        let pins = self.symbolic.pins(self.terms, &[from]);
                        bits.map(|bits| self.pinned(bits, width, pins))
                    })
                }
                _ => None,
            },
            Op::Phi(blocks) => match blocks.iter().position(|block| *block == event.block_before) {
                Some(number) => {
                    let value = self.operand(index, number)?;
                    self.chosen(value, number)?
                }
                None => None,
            },
            Op::Select => {
                let [condition, yes, no] = [0, 1, 2].map(|number| self.operand(index, number));
                match (condition?, yes?, no?) {
                    (Some(condition), Some(yes), Some(no)) if self.terms.width(condition) == 1 => {
                        Some(self.terms.if_else(condition, yes, no))
                    }
                    _ => None,
                }
            }
            Op::Freeze => self.operand(index, 0)?,
            Op::Negate => match (self.operand(index, 0)?, width) {
                (Some(from), Some(width)) => {
                    let sign = self.terms.constant(1 << (width - 1), width);
                    Some(self.terms.binary(BinaryTerm::Xor, from, sign))
                }
                _ => None,
            },
            Op::Call(..) => return self.call(index, instruction, accesses),
            Op::Return => {
                self.done.returned = self.operand(index, 0)?;
                return Ok(());
            }
            Op::Branch(..) => {
                let condition = self.operand(index, 0)?;
                let chosen = condition.map(|condition| self.symbolic.versions.value(self.terms, condition));
                self.done.chosen = chosen.and_then(|bit| usize::try_from(bit).ok());
                self.done.condition =
                    condition.map(|condition| if chosen == Some(1) { condition } else { self.terms.not(condition) });
                return Ok(());
            }
            Op::Switch(_, cases) => {
                let Some(chosen) = self.operand(index, 0)? else { return Ok(()) };
                let (bits, width) = (self.symbolic.versions.value(self.terms, chosen), self.terms.width(chosen));
                let mut condition = self.terms.truth(true);
                let case_bits = |case: i128| u64::try_from(case & i128::from(u64::MAX)).unwrap_or(0) & mask(width);
                let case = cases.iter().position(|(case, _)| case_bits(*case) == bits);
                self.done.chosen = Some(case.unwrap_or(cases.len()));
                let is_case = case.is_some();
                for (case, _) in cases {
                    let case = self.terms.constant(case_bits(*case), width);
                    let is_this = self.terms.binary(BinaryTerm::Eq, chosen, case);
                    if self.terms.constant_of(case) == Some(bits) {
                        condition = is_this;
                    } else if !is_case {
                        let is_other = self.terms.not(is_this);
                        condition = self.terms.binary(BinaryTerm::And, condition, is_other);
                    }
                }
                self.done.condition = Some(condition);
                return Ok(());
            }
            Op::Alloca(_) | Op::NextArgument => match (item(event, index, SegmentItemKind::Result), width) {
                (Some(bits), Some(width)) => Some(self.terms.constant(bits, width)),
                _ => None,
            },
            _ => None,
        };
        self.finish(instruction, value)
    }

    #[expect(clippy::unnecessary_wraps, reason = "the end of each arm")]
    fn finish(&mut self, instruction: &Instruction, value: Option<TermId>) -> Result<(), TraceError> {
        if let Some(id) = instruction.result {
            self.done.values.insert(id, value);
        }
        Ok(())
    }

    /// An operation that terms do not have, or not cheaply.
    fn inexact(&mut self, op: BinaryOp, ty: &Type, first: TermId, second: TermId, width: u32) -> Option<TermId> {
        // One factor, or the amount of a shift, is enough if the rest is a term.
        if matches!(op, BinaryOp::Mul | BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr) && width <= 32 {
            let pins = self.symbolic.pins(self.terms, &[second]);
            let bits = self.symbolic.versions.value(self.terms, second);
            let constant = self.terms.constant(bits, width);
            let value = compute::binary(self.terms, op, first, constant)?;
            let bits = self.symbolic.versions.value(self.terms, second);
            let fixed = self.pinned(bits, width, pins);
            // The pinned version stands for the constant, so its condition comes along.
            let difference = self.terms.binary(BinaryTerm::Xor, fixed, constant);
            return Some(self.terms.binary(BinaryTerm::Xor, value, difference));
        }
        let bits = [first, second].map(|term| self.symbolic.versions.value(self.terms, term));
        let bits = compute::binary_bits(op, ty, bits[0], bits[1])?;
        let pins = self.symbolic.pins(self.terms, &[first, second]);
        Some(self.pinned(bits, width, pins))
    }

    /// A value that decisions chose among several, as long as they go the same way.
    fn chosen(&mut self, value: Option<TermId>, number: usize) -> Result<Option<TermId>, TraceError> {
        let Some(value) = value else { return Ok(None) };
        let event = self.event;
        let mut conditions = Vec::new();
        for decision in &event.choices {
            let Some(moment) = self.symbolic.last_before(*decision, event.moment) else { continue };
            let Some(other) = self.symbolic.evaluated(self.terms, moment)? else { continue };
            conditions.extend(other.condition.filter(|condition| self.terms.constant_of(*condition).is_none()));
            for (version, pointers) in &other.loads {
                self.done.loads.entry(*version).or_insert_with(|| pointers.clone());
            }
        }
        if conditions.is_empty() {
            return Ok(Some(value));
        }
        // In another run another one may be chosen.
        let number = number as u64 & mask(8);
        let (choice, number) = (self.pinned(number, 8, conditions), self.terms.constant(number, 8));
        let is_chosen = self.terms.binary(BinaryTerm::Eq, choice, number);
        let other = self.terms.not(value);
        Ok(Some(self.terms.if_else(is_chosen, value, other)))
    }

    /// Notes the pointer of an access that crashed.
    fn crash(&mut self, pointer: Option<TermId>) {
        if self.event.crash.is_some()
            && self.done.crash.is_none()
            && let Some(operand) = pointer
        {
            let base = self.bases.get(&operand).copied();
            self.done.crash = Some(Crashed { operand, base });
        }
    }

    /// What a load reads, all bytes of it.
    fn load(&mut self, access: &EventAccess, pointer: Option<TermId>) -> Result<Option<TermId>, TraceError> {
        let moment = self.event.moment;
        let (Some(address), Some(value), 1..=8) = (access.address, access.value, access.size) else { return Ok(None) };
        let length = u64::from(access.size);
        let stored = self.done.stored.clone();
        match self.symbolic.written(self.terms, moment, &stored, address, length)? {
            WrittenBytes::Term(term) => return Ok(Some(term)),
            WrittenBytes::Unknown(pins) => {
                self.done.is_incomplete |= pins.is_empty();
                let width = u32::try_from(8 * length).unwrap_or(64);
                return Ok(Some(self.pinned(value, width, pins.to_vec())));
            }
            WrittenBytes::Not => {}
        }
        let mut makers = access.makers.clone();
        makers.dedup();
        let term = match (&makers[..], access.looked.first()) {
            ([only], _) => self.symbolic.bytes_of(self.terms, moment, address, length, *only, value)?,
            (_, Some(looked)) => match self.symbolic.looked(self.terms, moment, looked, address, length)? {
                Some(term) => term,
                None => return Ok(None),
            },
            _ => self.symbolic.bytes_of(self.terms, moment, address, length, Step::START, value)?,
        };
        for (version, _) in crate::logic::substitute::variables(self.terms, &[term]) {
            self.done.loads.entry(version).or_default().extend(pointer);
        }
        Ok(Some(term))
    }

    /// The address of a part.
    fn element(&mut self, index: usize, instruction: &Instruction, ty: &Type) -> Result<Option<TermId>, TraceError> {
        let Some(base) = self.operand(index, 0)? else { return Ok(None) };
        let map = std::sync::Arc::clone(&self.event.shape.map);
        let layout = map.module.layout();
        let (mut address, mut ty) = (base, ty.clone());
        for number in 1..instruction.operands.len() {
            if number > 1 {
                let Ok(resolved) = layout.resolve(&ty).cloned() else { return Ok(None) };
                if let Type::Struct { fields, .. } = &resolved {
                    let OperandValue::Int(field) = instruction.operands[number].value else { return Ok(None) };
                    let Ok(offsets) = layout.offsets(&resolved) else { return Ok(None) };
                    let field = usize::try_from(field).unwrap_or(usize::MAX);
                    let (Some(offset), Some(inner)) = (offsets.get(field), fields.get(field)) else { return Ok(None) };
                    let offset = self.terms.constant(*offset, 64);
                    address = self.terms.binary(BinaryTerm::Add, address, offset);
                    ty = inner.clone();
                    continue;
                }
                ty = match resolved {
                    Type::Array(_, element) | Type::Vector(_, element) => (*element).clone(),
                    _ => return Ok(None),
                };
            }
            let Some(by) = self.operand(index, number)? else { return Ok(None) };
            let Ok((size, _)) = layout.size_and_align(&ty) else { return Ok(None) };
            let by = if self.terms.width(by) < 64 { self.terms.sign_extend(by, 64) } else { by };
            let size = self.terms.constant(size, 64);
            let offset = self.terms.binary(BinaryTerm::Mul, by, size);
            address = self.terms.binary(BinaryTerm::Add, address, offset);
        }
        let first = self.bases.get(&base).copied().unwrap_or(base);
        self.bases.insert(address, first);
        Ok(Some(address))
    }

    /// A call: of the program or of a library, where the event ends; or an intrinsic.
    fn call(
        &mut self,
        index: usize,
        instruction: &Instruction,
        accesses: &mut std::slice::Iter<'_, EventAccess>,
    ) -> Result<(), TraceError> {
        let name = instruction.called().unwrap_or_default();
        if is_memory_intrinsic(name) {
            let pointer = self.operand(index, 0)?;
            let second = self.operand(index, 1)?;
            let Some(access) = accesses.next() else { return Ok(()) };
            let filled = second.filter(|byte| name.starts_with("llvm.memset") && self.terms.width(*byte) == 8);
            let otherwise = filled.map_or_else(unknown, WrittenSource::Filled);
            store_ranges(&mut self.done, access, &otherwise, pointer);
            return Ok(());
        }
        if splits(instruction) {
            for number in 0..instruction.operands.len() {
                let argument = self.operand(index, number)?;
                self.done.arguments.push(argument);
            }
            return Ok(());
        }
        let value = match name {
            _ if name.starts_with("llvm.expect.") => self.operand(index, 0)?,
            _ if name.starts_with("llvm.") => {
                let mut operands = Vec::new();
                for number in 0..instruction.operands.len() {
                    operands.extend(self.operand(index, number)?);
                }
                let bits: Vec<u64> =
                    operands.iter().map(|term| self.symbolic.versions.value(self.terms, *term)).collect();
                let ty = instruction.operands.first().map(|operand| &operand.ty);
                let is_whole = operands.len() == instruction.operands.len();
                let found = ty.filter(|_| is_whole).and_then(|ty| compute::intrinsic_bits(name, ty, &bits));
                found.zip(compute::width(&instruction.ty)).map(|(bits, width)| {
                    let pins = self.symbolic.pins(self.terms, &operands);
                    self.pinned(bits, width, pins)
                })
            }
            _ => None,
        };
        self.finish(instruction, value)
    }
}

/// A recorded item of an event, of at most 8 bytes.
pub(super) fn item(event: &StepEvent, index: usize, what: SegmentItemKind) -> Option<u64> {
    let mut items = event.segment().items.iter();
    let found = items.find(|item| item.what == what && item.instruction == index).filter(|item| item.size <= 8)?;
    number(&event.record, found.offset, found.size)
}

/// Ranges that are written: with what they are copied from, else with something.
///
/// - `pointer`: what they are written through, if that is a term.
pub(super) fn store_ranges(
    done: &mut Evaluated,
    access: &EventAccess,
    otherwise: &WrittenSource,
    pointer: Option<TermId>,
) {
    for (nth, (address, length)) in access.written.iter().enumerate() {
        let copied: Option<&Looked> = access.copied.get(nth).copied().flatten().and_then(|at| access.looked.get(at));
        let source = match copied {
            Some(looked) => WrittenSource::Copied(Rc::new(looked.clone())),
            None => otherwise.clone(),
        };
        done.stored.push(StoredRange { address: *address, length: *length, source, pointer });
    }
}

/// What is not modelled, and depends on nothing that is known.
pub(super) fn unknown() -> WrittenSource {
    WrittenSource::Unknown(Rc::new([]))
}
