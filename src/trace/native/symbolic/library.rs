//! What a call came back with: the result of a function of the program, or what a library did.

use std::rc::Rc;

use crate::TraceError;
use crate::instrument::types::Type;
use crate::instrument::{Op, SegmentItemKind};
use crate::logic::substitute::variables;
use crate::logic::term::{BinaryTerm, TermId, Terms};
use crate::native::call::NativeCall;
use crate::native::event::Back;
use crate::native::model::{Effect, Length, ZERO};
use crate::native::symbolic::instructions::{ExecutedEvent, item, store_ranges, unknown};
use crate::native::symbolic::version::{AssignedPlace, PlaceVersion};
use crate::native::symbolic::{Evaluated, Symbolic, WrittenSource, compute};

/// Bytes that a library function read of which each is a condition of what it did.
const MAX_BYTES: usize = 64;

impl Symbolic<'_> {
    /// The argument that is a pointer to an address.
    pub fn pointer_to(&self, terms: &Terms, arguments: &[Option<TermId>], address: u64) -> Option<TermId> {
        let is_it = |term: &TermId| terms.width(*term) == 64 && self.versions.value(terms, *term) == address;
        arguments.iter().flatten().copied().find(is_it)
    }
}

impl ExecutedEvent<'_, '_> {
    /// Takes in what a call did.
    pub(super) fn came_back(&mut self, back: &Back) -> Result<(), TraceError> {
        let event = self.event;
        let instructions = event.block_instructions();
        let Some(index) = event.segment().before(instructions) else { return Ok(()) };
        let instruction = &instructions[index];
        let width = compute::width(&instruction.ty);
        let recorded = item(event, index, SegmentItemKind::Result);
        let Some((call, _)) = &back.library else {
            store_ranges(&mut self.done, &back.access, &unknown(), None);
            let assigned = self.symbolic.last_before(back.returned, event.moment);
            if let (Some(id), Some(width)) = (instruction.result, width) {
                let mut value = recorded;
                if value.is_none()
                    && let Some(moment) = assigned
                    && let Some(returned) = self.symbolic.evaluated(self.terms, moment)?.and_then(|done| done.returned)
                {
                    value = Some(self.symbolic.versions.value(self.terms, returned));
                }
                let place = AssignedPlace::Result(event.moment);
                let term = value.map(|value| {
                    self.symbolic
                        .versions
                        .put(self.terms, PlaceVersion { place, width, value, assigned, pins: Vec::new() })
                });
                self.done.values.insert(id, term);
            }
            return Ok(());
        };
        let before = self.symbolic.last_before(event.step, event.moment);
        let before = before.map(|moment| self.symbolic.evaluated(self.terms, moment)).transpose()?.flatten();
        let arguments = before.as_ref().map(|done| done.arguments.clone()).unwrap_or_default();
        let conditions: Rc<[TermId]> = self.conditions(call, back, &arguments)?.into();
        if let Some(before) = &before {
            // The versions of the call are read by what comes back of it, too.
            for (version, pointers) in &before.loads {
                self.done.loads.entry(*version).or_insert_with(|| pointers.clone());
            }
        }
        library_stores(self.terms, &mut self.done, call, back, &arguments, &conditions);
        if let (Some(id), Some(width), Some(bits)) = (instruction.result, width, recorded) {
            let alias = call.model.and_then(|model| model.alias).and_then(|index| arguments.get(index).copied());
            let term = match alias.flatten() {
                Some(same)
                    if self.terms.width(same) == width && self.symbolic.versions.value(self.terms, same) == bits =>
                {
                    same
                }
                _ => self.pinned(bits, width, conditions.to_vec()),
            };
            self.done.values.insert(id, Some(term));
        }
        Ok(())
    }

    /// What a library function depends on: its arguments that are no pointers, and the bytes that it read.
    fn conditions(
        &mut self,
        call: &NativeCall,
        back: &Back,
        arguments: &[Option<TermId>],
    ) -> Result<Vec<TermId>, TraceError> {
        let is_given = |effect: &Effect| {
            matches!(effect, Effect::Allocates(_) | Effect::AllocatesZero(_) | Effect::AllocatesAt(..))
        };
        if call.model.is_some_and(|model| model.input.is_some() || model.effects.iter().any(is_given)) {
            return Ok(Vec::new());
        }
        let event = self.event;
        let index = event.segment().first.saturating_sub(1);
        let types: Vec<Type> = match &event.block_instructions()[index] {
            instruction if matches!(instruction.op, Op::Call(..)) => {
                instruction.operands.iter().map(|operand| operand.ty.clone()).collect()
            }
            _ => Vec::new(),
        };
        let plain: Vec<TermId> = arguments
            .iter()
            .zip(&types)
            .filter(|(_, ty)| **ty != Type::Ptr)
            .filter_map(|(argument, _)| *argument)
            .collect();
        let mut conditions = self.symbolic.pins(self.terms, &plain);
        let is_text = |effect: &Effect| matches!(effect, Effect::Reads(_, Length::String | Length::StringAtMost(_)));
        let reads_text = call.model.is_some_and(|model| model.effects.iter().any(is_text));
        let is_length = matches!(call.name.as_deref(), Some("strlen" | "strnlen"));
        let mut n_bytes = 0;
        for looked in &back.access.looked {
            let pointer = self.symbolic.pointer_to(self.terms, arguments, looked.address);
            for (at, (byte, _)) in (looked.address..).zip(&looked.bytes) {
                let Some(byte) = byte else {
                    // Nobody knows where a text ends of which a byte is not known.
                    if reads_text {
                        break;
                    }
                    continue;
                };
                n_bytes += 1;
                if n_bytes > MAX_BYTES {
                    break;
                }
                let Some(term) = self.symbolic.looked(self.terms, event.moment, looked, at, 1)? else { continue };
                if let Some(pointer) = pointer {
                    let offset = self.terms.constant(at - looked.address, 64);
                    let pointer = self.terms.binary(BinaryTerm::Add, pointer, offset);
                    for (version, _) in variables(self.terms, &[term]) {
                        self.done.loads.entry(version).or_default().push(pointer);
                    }
                }
                let zero = self.terms.constant(0, 8);
                let condition = if is_length && *byte != 0 {
                    let is_end = self.terms.binary(BinaryTerm::Eq, term, zero);
                    self.terms.not(is_end)
                } else {
                    let byte = self.terms.constant(u64::from(*byte), 8);
                    self.terms.binary(BinaryTerm::Eq, term, byte)
                };
                if self.terms.constant_of(condition).is_none() {
                    conditions.push(condition);
                }
            }
        }
        Ok(conditions)
    }
}

/// What a library function wrote.
fn library_stores(
    terms: &mut Terms,
    done: &mut Evaluated,
    call: &NativeCall,
    back: &Back,
    arguments: &[Option<TermId>],
    conditions: &Rc<[TermId]>,
) {
    let effects = call.model.map(|model| model.effects).unwrap_or_default();
    let filled = effects.iter().find_map(|effect| match effect {
        Effect::Fills(to, ZERO, _) => Some((Some(*to), terms.constant(0, 8))),
        Effect::Fills(to, byte, _) => {
            let byte = arguments.get(*byte).copied().flatten().filter(|byte| terms.width(*byte) >= 8)?;
            Some((Some(*to), terms.extract(byte, 0, 8)))
        }
        Effect::AllocatesZero(_) => Some((None, terms.constant(0, 8))),
        _ => None,
    });
    let (otherwise, pointer) = match filled {
        Some((to, byte)) => (WrittenSource::Filled(byte), to.and_then(|to| arguments.get(to).copied().flatten())),
        None => (WrittenSource::Unknown(Rc::clone(conditions)), None),
    };
    store_ranges(done, &back.access, &otherwise, pointer);
}
