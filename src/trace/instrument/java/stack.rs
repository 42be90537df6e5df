//! Which object a constructor is called on, and whether a reference to it stays on the stack.
//!
//! One pass over the code in order, as the verifier makes it: at jump targets the frames say what is on the stack. In
//! classes without frames nothing is known there, and what was there before counts as unknown.

use crate::instrument::Unsupported;
use crate::instrument::java::class_file::ClassMethod;
use crate::instrument::java::code::Code;
use crate::instrument::java::descriptor::{MethodTypes, ValueKind};
use crate::instrument::java::frames::{self, StackMapFrame};
use crate::instrument::java::operation::{Invoke, JumpTest, Operation};
use crate::instrument::java::pool::{Constant, Pool};
use std::collections::HashMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StackSlot {
    Other,
    /// The object of the constructor itself.
    This,
    /// A new object, by its instruction.
    New(u32),
}

/// The object of a call of a constructor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constructed {
    /// A new object; a reference to it is on top of the stack after the call.
    Top,
    /// The object of the constructor that makes the call.
    This,
    /// A new object of which no reference is on top, or nothing is known.
    Unknown,
}

/// The slots that an instruction takes from the stack and puts there.
///
/// Shuffles are not meant: those keep what they move.
pub fn effect(operation: &Operation, pool: &Pool) -> Result<(usize, usize), Unsupported> {
    let slots = |kind: ValueKind| usize::from(kind.n_slots());
    let field = |number: u16| {
        let kind = ValueKind::of(&pool.member(number)?.descriptor)?;
        Ok::<_, Unsupported>(kind.map_or(0, slots))
    };
    Ok(match operation {
        Operation::Nothing | Operation::Increment(..) | Operation::Goto(_) | Operation::Return(None) => (0, 0),
        Operation::Null | Operation::Int(_) | Operation::Float(_) | Operation::New(_) => (0, 1),
        Operation::Long(_) | Operation::Double(_) => (0, 2),
        Operation::Constant(number) => (0, slots(constant_kind(pool, *number)?)),
        Operation::Load(kind, _) => (0, slots(*kind)),
        Operation::Store(kind, _) | Operation::Return(Some(kind)) => (slots(*kind), 0),
        Operation::LoadElement(element) => (2, slots(element.kind())),
        Operation::StoreElement(element) => (2 + slots(element.kind()), 0),
        Operation::Shuffle(shuffle) => (shuffle.slots().0, shuffle.slots().1.len()),
        Operation::Arithmetic(operator, kind) => {
            (slots(*kind) + if operator.is_shift() { 1 } else { slots(*kind) }, slots(*kind))
        }
        Operation::Negate(kind) => (slots(*kind), slots(*kind)),
        Operation::Convert(from, to) => (slots(*from), slots(*to)),
        Operation::Compare(kind, _) => (2 * slots(*kind), 1),
        Operation::Jump(JumpTest::Zero(_) | JumpTest::Null(_), _)
        | Operation::Switch(_)
        | Operation::Throw
        | Operation::Enter
        | Operation::Exit => (1, 0),
        Operation::Jump(JumpTest::Ints(_) | JumpTest::Same(_), _) => (2, 0),
        Operation::LoadStatic(number) => (0, field(*number)?),
        Operation::StoreStatic(number) => (field(*number)?, 0),
        Operation::LoadField(number) => (1, field(*number)?),
        Operation::StoreField(number) => (1 + field(*number)?, 0),
        Operation::Invoke(invoke, number) => {
            let member = pool.member(*number)?;
            let signature = MethodTypes::of(&member.descriptor)?;
            let n_given: usize = signature.kinds()?.into_iter().map(slots).sum();
            let is_on_object = !matches!(invoke, Invoke::Static | Invoke::Dynamic);
            (n_given + usize::from(is_on_object), signature.result_kind()?.map_or(0, slots))
        }
        Operation::Narrow(_)
        | Operation::NewBasicArray(_)
        | Operation::NewArray(_)
        | Operation::Length
        | Operation::Cast(_)
        | Operation::InstanceOf(_) => (1, 1),
        Operation::NewArrays(_, n) => (usize::from(*n), 1),
    })
}

/// The kind of a constant that an instruction loads.
pub fn constant_kind(pool: &Pool, number: u16) -> Result<ValueKind, Unsupported> {
    Ok(match pool.get(number)? {
        Constant::Int(_) => ValueKind::Int,
        Constant::Float(_) => ValueKind::Float,
        Constant::Long(_) => ValueKind::Long,
        Constant::Double(_) => ValueKind::Double,
        Constant::Dynamic(_) => {
            let kind = ValueKind::of(&pool.member(number)?.descriptor)?;
            kind.ok_or_else(|| Unsupported::new("a constant without a value"))?
        }
        _ => ValueKind::Reference,
    })
}

/// The frames of a method; none if its class is too old to have them.
pub fn frames_of(code: &Code<'_>) -> Result<Vec<StackMapFrame>, Unsupported> {
    let mut tables = code.attributes.iter().filter(|(name, ..)| &**name == "StackMapTable");
    let Some((_, _, content)) = tables.next() else { return Ok(Vec::new()) };
    if tables.next().is_some() {
        return Err(Unsupported::new("two tables of frames"));
    }
    frames::read(content, &code.offsets())
}

/// For each call of a constructor, by its instruction: the object.
pub fn constructed(
    code: &Code<'_>,
    method: &ClassMethod,
    pool: &Pool,
) -> Result<HashMap<u32, Constructed>, Unsupported> {
    let frames: HashMap<u32, StackMapFrame> = frames_of(code)?.into_iter().map(|frame| (frame.at, frame)).collect();
    let mut is_target = vec![false; code.instructions.len()];
    for instruction in &code.instructions {
        for way in instruction.operation.ways() {
            is_target[way as usize] = true;
        }
    }
    for handler in &code.handlers {
        is_target[handler.begin as usize] = true;
    }
    // `aload_0` is `this` as long as nothing else is stored there.
    let is_this_kept = method.is_constructor()
        && !code.instructions.iter().any(|instruction| matches!(instruction.operation, Operation::Store(_, 0)));
    let mut found = HashMap::new();
    // What is below the known part is unknown.
    let mut stack: Vec<StackSlot> = Vec::new();
    let mut is_reached = true;
    for (number, instruction) in (0_u32..).zip(&code.instructions) {
        if let Some(frame) = frames.get(&number) {
            stack.clear();
            for slot in frame.stack() {
                stack.push(match slot {
                    frames::SlotType::New(at) => StackSlot::New(*at),
                    frames::SlotType::This if is_this_kept => StackSlot::This,
                    frames::SlotType::Basic(_) | frames::SlotType::Object(_) | frames::SlotType::This => {
                        StackSlot::Other
                    }
                });
                if slot.is_long() {
                    stack.push(StackSlot::Other);
                }
            }
        } else if is_target[number as usize] || !is_reached {
            stack.clear();
        }
        let operation = &instruction.operation;
        is_reached = operation.goes_on();
        if let Operation::Shuffle(shuffle) = operation {
            let (n_taken, put) = shuffle.slots();
            let taken = take(&mut stack, n_taken);
            stack.extend(put.iter().map(|slot| taken[*slot]));
            continue;
        }
        let (n_taken, n_put) = effect(operation, pool)?;
        let taken = take(&mut stack, n_taken);
        match operation {
            Operation::New(_) => stack.push(StackSlot::New(number)),
            Operation::Load(ValueKind::Reference, 0) if is_this_kept => stack.push(StackSlot::This),
            Operation::Invoke(Invoke::Special, member) if &*pool.member(*member)?.name == "<init>" => {
                let object = taken.first().copied().unwrap_or(StackSlot::Other);
                let constructed = match object {
                    StackSlot::New(_) if stack.last() == Some(&object) => Constructed::Top,
                    StackSlot::This => Constructed::This,
                    StackSlot::New(_) | StackSlot::Other => Constructed::Unknown,
                };
                found.insert(number, constructed);
                // All copies are ordinary references from here on.
                for slot in stack.iter_mut().filter(|slot| **slot == object) {
                    *slot = StackSlot::Other;
                }
            }
            _ => stack.extend(std::iter::repeat_n(StackSlot::Other, n_put)),
        }
    }
    Ok(found)
}

/// The uppermost slots, from the bottom.
fn take(stack: &mut Vec<StackSlot>, n: usize) -> Vec<StackSlot> {
    let n_known = n.min(stack.len());
    let known = stack.split_off(stack.len() - n_known);
    std::iter::repeat_n(StackSlot::Other, n - n_known).chain(known).collect()
}
