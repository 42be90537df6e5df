//! Which object a constructor is called on, and whether a reference to it stays on the stack.
//!
//! One pass over the code in order, as the verifier makes it: at jump targets the frames say what is on the stack. In
//! classes without frames nothing is known there, and what was there before counts as unknown.

use crate::instrument::Unsupported;
use crate::instrument::java::class_file::Method;
use crate::instrument::java::code::Code;
use crate::instrument::java::descriptor::{Kind, Signature};
use crate::instrument::java::frames;
use crate::instrument::java::frames::Frame;
use crate::instrument::java::operation::{Invoke, Operation, Test};
use crate::instrument::java::pool::{Constant, Pool};
use std::collections::HashMap;

/// What is known of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
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
    let slots = |kind: Kind| usize::from(kind.n_slots());
    let field = |number: u16| {
        let kind = Kind::of(&pool.member(number)?.descriptor)?;
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
        Operation::Jump(Test::Zero(_) | Test::Null(_), _)
        | Operation::Switch(_)
        | Operation::Throw
        | Operation::Enter
        | Operation::Exit => (1, 0),
        Operation::Jump(Test::Ints(_) | Test::Same(_), _) => (2, 0),
        Operation::LoadStatic(number) => (0, field(*number)?),
        Operation::StoreStatic(number) => (field(*number)?, 0),
        Operation::LoadField(number) => (1, field(*number)?),
        Operation::StoreField(number) => (1 + field(*number)?, 0),
        Operation::Invoke(invoke, number) => {
            let member = pool.member(*number)?;
            let signature = Signature::of(&member.descriptor)?;
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
pub fn constant_kind(pool: &Pool, number: u16) -> Result<Kind, Unsupported> {
    Ok(match pool.get(number)? {
        Constant::Int(_) => Kind::Int,
        Constant::Float(_) => Kind::Float,
        Constant::Long(_) => Kind::Long,
        Constant::Double(_) => Kind::Double,
        Constant::Dynamic(_) => {
            let kind = Kind::of(&pool.member(number)?.descriptor)?;
            kind.ok_or_else(|| Unsupported::new("a constant without a value"))?
        }
        _ => Kind::Reference,
    })
}

/// The frames of a method; none if its class is too old to have them.
pub fn frames_of(code: &Code<'_>) -> Result<Vec<Frame>, Unsupported> {
    let mut tables = code.attributes.iter().filter(|(name, ..)| &**name == "StackMapTable");
    let Some((_, _, content)) = tables.next() else { return Ok(Vec::new()) };
    if tables.next().is_some() {
        return Err(Unsupported::new("two tables of frames"));
    }
    frames::read(content, &code.offsets())
}

/// For each call of a constructor, by its instruction: the object.
pub fn constructed(code: &Code<'_>, method: &Method, pool: &Pool) -> Result<HashMap<u32, Constructed>, Unsupported> {
    let frames: HashMap<u32, Frame> = frames_of(code)?.into_iter().map(|frame| (frame.at, frame)).collect();
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
    let mut stack: Vec<Slot> = Vec::new();
    let mut is_reached = true;
    for (number, instruction) in (0_u32..).zip(&code.instructions) {
        if let Some(frame) = frames.get(&number) {
            stack.clear();
            for slot in frame.stack() {
                stack.push(match slot {
                    frames::Slot::New(at) => Slot::New(*at),
                    frames::Slot::This if is_this_kept => Slot::This,
                    frames::Slot::Basic(_) | frames::Slot::Object(_) | frames::Slot::This => Slot::Other,
                });
                if slot.is_long() {
                    stack.push(Slot::Other);
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
            Operation::New(_) => stack.push(Slot::New(number)),
            Operation::Load(Kind::Reference, 0) if is_this_kept => stack.push(Slot::This),
            Operation::Invoke(Invoke::Special, member) if &*pool.member(*member)?.name == "<init>" => {
                let object = taken.first().copied().unwrap_or(Slot::Other);
                let constructed = match object {
                    Slot::New(_) if stack.last() == Some(&object) => Constructed::Top,
                    Slot::This => Constructed::This,
                    Slot::New(_) | Slot::Other => Constructed::Unknown,
                };
                found.insert(number, constructed);
                // All copies are ordinary references from here on.
                for slot in stack.iter_mut().filter(|slot| **slot == object) {
                    *slot = Slot::Other;
                }
            }
            _ => stack.extend(std::iter::repeat_n(Slot::Other, n_put)),
        }
    }
    Ok(found)
}

/// The uppermost slots, from the bottom.
fn take(stack: &mut Vec<Slot>, n: usize) -> Vec<Slot> {
    let n_known = n.min(stack.len());
    let known = stack.split_off(stack.len() - n_known);
    std::iter::repeat_n(Slot::Other, n - n_known).chain(known).collect()
}
