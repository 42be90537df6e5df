//! Reads through an array or a pointer that end up outside of what they began in.
//!
//! The address alone does not say it: there may be another variable, which the program did not mean.

use crate::instrument::{Instruction, Op, OperandValue, ValueId};
use crate::native::{NativeFrame, NativeMachine, RecordAction, View};

/// An array or a block of the heap.
struct Extent {
    begin: u64,
    size: u64,
    name: String,
}

/// Where the read that the current frame is about to do is, if that is outside of the array that it names, or of the block
/// that its pointer is in: `4 bytes behind the end of a`. `None` also where this is not known.
///
/// - `action`: one of the actions of the frame's current piece.
///
/// Cost: looks through the instructions of a block.
pub fn outside(machine: &NativeMachine, action: &RecordAction, record: &[u8]) -> Option<String> {
    let RecordAction::Load { address, .. } = action else { return None };
    let frame = machine.frame()?;
    let address = frame.number_at(*address, record, 8)?;
    let extent = extent(machine, frame, &load(frame, action)?.operands.first()?.value)?;
    let end = extent.begin.checked_add(extent.size)?;
    let bytes = |n: u64| if n == 1 { "1 byte".to_owned() } else { format!("{n} bytes") };
    let name = &extent.name;
    match (address.checked_sub(end), extent.begin.checked_sub(address)) {
        (Some(0), _) => Some(format!("right behind the end of {name}")),
        (Some(n), _) => Some(format!("{} behind the end of {name}", bytes(n))),
        (None, Some(n @ 1..)) => Some(format!("{} before {name}", bytes(n))),
        _ => None,
    }
}

/// The instruction that an action stands for.
fn load<'f>(frame: &'f NativeFrame, action: &RecordAction) -> Option<&'f Instruction> {
    let segment = frame.shape.body.segment(frame.segment);
    let is_load = |action: &&RecordAction| matches!(action, RecordAction::Load { .. } | RecordAction::LoadPlain { .. });
    let mut loads = frame.shape.piece(frame.segment).actions.iter().filter(is_load);
    let number = loads.position(|other| std::ptr::eq(other, action))?;
    let instructions = &frame.shape.body.function.block(segment.block).instructions[segment.first..segment.end];
    instructions.iter().filter(|instruction| matches!(instruction.op, Op::Load)).nth(number)
}

/// What an address is computed from by indices. A pointer to what is no block of the heap may be one behind an array's end.
fn extent(machine: &NativeMachine, frame: &NativeFrame, address: &OperandValue) -> Option<Extent> {
    let mut base = address;
    let mut is_part = false;
    loop {
        match base {
            OperandValue::Local(id) => match made(frame, *id) {
                Some(Instruction { op: Op::Element(_), operands, .. }) => {
                    (base, is_part) = (&operands.first()?.value, true);
                }
                _ if !is_part => return None,
                Some(Instruction { op: Op::Load, operands, .. }) => {
                    let pointer = &operands.first()?.value;
                    let OperandValue::Local(variable) = pointer else { return None };
                    let slot = frame.shape.slots.iter().find(|slot| slot.id == *variable)?;
                    let block = machine.heap.find(frame.value(slot.plain?)?)?;
                    let name = format!("a block of {} bytes", block.size);
                    return Some(Extent { begin: block.address, size: block.size, name });
                }
                _ => {
                    let slot = frame.shape.slots.iter().find(|slot| slot.id == *id)?;
                    let begin = frame.value(slot.register)?;
                    let variable = View::new(machine).locals(frame).find(|place| place.address == begin)?;
                    return Some(Extent { begin, size: slot.size, name: variable.name.to_string() });
                }
            },
            OperandValue::Global(name) if is_part => {
                // Units and functions may have variables of the same name that only they see.
                let mut all = machine.globals.iter().filter(|global| global.is_named && global.name == *name);
                let global = all.next().filter(|_| all.next().is_none())?;
                return Some(Extent { begin: global.address, size: global.size, name: global.name.to_string() });
            }
            _ => return None,
        }
    }
}

/// The instruction of the current block that makes a value.
fn made(frame: &NativeFrame, id: ValueId) -> Option<&Instruction> {
    let block = frame.shape.body.segment(frame.segment).block;
    let instructions = &frame.shape.body.function.block(block).instructions;
    instructions.iter().find(|instruction| instruction.result == Some(id))
}
