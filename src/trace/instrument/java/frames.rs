//! The frames that the verifier takes at jump targets: the types on the stack and of the locals.

use crate::instrument::Unsupported;
use crate::instrument::java::code::Offsets;
use crate::instrument::java::cursor::ByteCursor;

/// The type of a slot. Those of two slots (`long` and `double`) stand once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotType {
    /// A basic type, `null`, or nothing, by its number in the specification.
    Basic(u8),
    /// `this` before the constructor of the class that is extended has run.
    This,
    /// An object of a class, by its number in the pool.
    Object(u16),
    /// A new object whose constructor has not run, by the instruction that made it.
    New(u32),
}

/// The number of `double` and `long` among the basic types.
const LONG: [u8; 2] = [3, 4];

impl SlotType {
    /// Whether the value takes two slots of the stack.
    pub fn is_long(self) -> bool {
        matches!(self, Self::Basic(number) if LONG.contains(&number))
    }
}

/// How a frame differs from the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrameDifference {
    /// The same locals, and an empty stack.
    Same,
    /// The same locals, and one value on the stack.
    One(SlotType),
    /// Locals were removed, one to three; the stack is empty.
    Chop(u8),
    /// Locals were added, one to three; the stack is empty.
    Append(Vec<SlotType>),
    /// Everything: locals and stack.
    Full(Vec<SlotType>, Vec<SlotType>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackMapFrame {
    /// Its instruction.
    pub at: u32,
    /// How it differs from the one before.
    pub shape: FrameDifference,
}

impl StackMapFrame {
    /// The types on the stack, from the bottom.
    pub fn stack(&self) -> &[SlotType] {
        match &self.shape {
            FrameDifference::One(slot) => std::slice::from_ref(slot),
            FrameDifference::Full(_, stack) => stack,
            FrameDifference::Same | FrameDifference::Chop(_) | FrameDifference::Append(_) => &[],
        }
    }
}

/// Reads a `StackMapTable`.
pub fn read(content: &[u8], offsets: &Offsets) -> Result<Vec<StackMapFrame>, Unsupported> {
    let mut cursor = ByteCursor::new(content);
    let mut frames = Vec::new();
    // The first one counts from 0, each other one from the one before, and one more.
    let mut next = 0_u32;
    for _ in 0..cursor.u2()? {
        let tag = cursor.u1()?;
        let (delta, shape) = match tag {
            0..=63 => (u16::from(tag), FrameDifference::Same),
            64..=127 => (u16::from(tag - 64), FrameDifference::One(slot(&mut cursor, offsets)?)),
            247 => (cursor.u2()?, FrameDifference::One(slot(&mut cursor, offsets)?)),
            248..=250 => (cursor.u2()?, FrameDifference::Chop(251 - tag)),
            251 => (cursor.u2()?, FrameDifference::Same),
            252..=254 => (cursor.u2()?, FrameDifference::Append(slots(&mut cursor, u16::from(tag - 251), offsets)?)),
            255 => {
                let delta = cursor.u2()?;
                let n_locals = cursor.u2()?;
                let locals = slots(&mut cursor, n_locals, offsets)?;
                let n_stack = cursor.u2()?;
                (delta, FrameDifference::Full(locals, slots(&mut cursor, n_stack, offsets)?))
            }
            128..=246 => return Err(Unsupported::new("an unknown frame")),
        };
        let offset = next + u32::from(delta);
        frames.push(StackMapFrame { at: offsets.instruction(offset)?, shape });
        next = offset + 1;
    }
    Ok(frames)
}

fn slots(cursor: &mut ByteCursor<'_>, n: u16, offsets: &Offsets) -> Result<Vec<SlotType>, Unsupported> {
    (0..n).map(|_| slot(cursor, offsets)).collect()
}

fn slot(cursor: &mut ByteCursor<'_>, offsets: &Offsets) -> Result<SlotType, Unsupported> {
    Ok(match cursor.u1()? {
        6 => SlotType::This,
        7 => SlotType::Object(cursor.u2()?),
        8 => SlotType::New(offsets.instruction(u32::from(cursor.u2()?))?),
        number @ 0..=5 => SlotType::Basic(number),
        _ => return Err(Unsupported::new("an unknown type in a frame")),
    })
}

/// Writes a `StackMapTable`.
///
/// - `target`: where a jump to an instruction leads, in bytes.
/// - `own`: where an instruction itself is.
pub fn write(frames: &[StackMapFrame], target: impl Fn(u32) -> u16, own: impl Fn(u32) -> u16) -> Vec<u8> {
    let n_frames = u16::try_from(frames.len()).expect("as many as were read");
    let mut bytes = n_frames.to_be_bytes().to_vec();
    let put = |bytes: &mut Vec<u8>, slots: &[SlotType]| {
        for slot in slots {
            match slot {
                SlotType::Basic(number) => bytes.push(*number),
                SlotType::This => bytes.push(6),
                SlotType::Object(class) => {
                    bytes.push(7);
                    bytes.extend(class.to_be_bytes());
                }
                SlotType::New(instruction) => {
                    bytes.push(8);
                    bytes.extend(own(*instruction).to_be_bytes());
                }
            }
        }
    };
    let count = |slots: &[SlotType]| u16::try_from(slots.len()).expect("as many as were read").to_be_bytes();
    let mut next = 0_u16;
    for frame in frames {
        let offset = target(frame.at);
        let delta = offset.wrapping_sub(next);
        next = offset.wrapping_add(1);
        let tag = match &frame.shape {
            FrameDifference::Same => 251,
            FrameDifference::One(_) => 247,
            FrameDifference::Chop(n) => 251 - n,
            FrameDifference::Append(slots) => 251 + u8::try_from(slots.len()).expect("one to three"),
            FrameDifference::Full(..) => 255,
        };
        bytes.push(tag);
        bytes.extend(delta.to_be_bytes());
        match &frame.shape {
            FrameDifference::Same | FrameDifference::Chop(_) => {}
            FrameDifference::One(slot) => put(&mut bytes, std::slice::from_ref(slot)),
            FrameDifference::Append(slots) => put(&mut bytes, slots),
            FrameDifference::Full(locals, stack) => {
                bytes.extend(count(locals));
                put(&mut bytes, locals);
                bytes.extend(count(stack));
                put(&mut bytes, stack);
            }
        }
    }
    bytes
}
