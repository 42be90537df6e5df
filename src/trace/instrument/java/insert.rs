//! Inserts code into a class file.
//!
//! Only places move: those of jumps, handlers, lines, variables and frames. No jump and no frame is new, but for one
//! handler that may be added behind the last instruction. Its frame has no locals, so it fits to every instruction.

use crate::instrument::Unsupported;
use crate::instrument::java::class_file::{ClassFile, FRAMES};
use crate::instrument::java::code::{Code, Handler, JavaInstruction, Offsets};
use crate::instrument::java::cursor::ByteCursor;
use crate::instrument::java::descriptor::ValueKind;
use crate::instrument::java::frames::{self, FrameDifference, SlotType, StackMapFrame};
use crate::instrument::java::layout::{CodeLayout, Insert, InsertPlace, MORE_STACK};
use crate::instrument::java::operation::Operation;
use crate::instrument::java::stack::frames_of;
use std::collections::HashMap;
use std::ops::Range;

/// The class of all exceptions.
const EXCEPTION: &str = "java/lang/Throwable";

/// The attribute that has the frames.
const TABLE: &str = "StackMapTable";

/// The largest number that an instruction can have in itself.
const MAX_SHORT: u32 = i16::MAX as u32;

const SIPUSH: u8 = 17;
const LDC_W: u8 = 19;
const ILOAD: u8 = 21;
const ALOAD: u8 = 25;
const WIDE: u8 = 196;

/// The instruction that reads a local of a kind; the others of the five are between these.
pub(super) fn load(kind: ValueKind) -> u8 {
    match kind {
        ValueKind::Int => ILOAD,
        ValueKind::Long => ILOAD + 1,
        ValueKind::Float => ILOAD + 2,
        ValueKind::Double => ILOAD + 3,
        ValueKind::Reference => ALOAD,
    }
}

/// An instruction that names a local.
pub(super) fn put_local(out: &mut Vec<u8>, instruction: u8, local: u16) {
    if let Ok(local) = u8::try_from(local) {
        out.extend([instruction, local]);
    } else {
        out.extend([WIDE, instruction]);
        out.extend(local.to_be_bytes());
    }
}

/// The constants that are added to a class.
pub(super) struct Constants {
    /// The number of all constants, which is that of the next one.
    n: u16,
    bytes: Vec<u8>,
    texts: HashMap<String, u16>,
    classes: HashMap<String, u16>,
    methods: HashMap<(&'static str, &'static str), u16>,
}

impl Constants {
    pub(super) fn new(n: usize) -> Self {
        let n = u16::try_from(n).expect("a pool has at most 64 Ki constants");
        Self { n, bytes: Vec::new(), texts: HashMap::new(), classes: HashMap::new(), methods: HashMap::new() }
    }

    fn add(&mut self, tag: u8, content: &[u8]) -> Result<u16, Unsupported> {
        let number = self.n;
        self.n = self.n.checked_add(1).ok_or_else(|| Unsupported::new("too many constants"))?;
        self.bytes.push(tag);
        self.bytes.extend(content);
        Ok(number)
    }

    /// - `text`: in the encoding of class files, as all texts from there are; without zeros and rare characters, it is UTF-8.
    fn text(&mut self, text: &str) -> Result<u16, Unsupported> {
        if let Some(number) = self.texts.get(text) {
            return Ok(*number);
        }
        let length = u16::try_from(text.len()).map_err(|_| Unsupported::new("a long name"))?;
        let number = self.add(1, &[&length.to_be_bytes(), text.as_bytes()].concat())?;
        self.texts.insert(text.to_owned(), number);
        Ok(number)
    }

    /// A class, as class files name it.
    pub(super) fn class(&mut self, name: &str) -> Result<u16, Unsupported> {
        if let Some(number) = self.classes.get(name) {
            return Ok(*number);
        }
        let text = self.text(name)?;
        let number = self.add(7, &text.to_be_bytes())?;
        self.classes.insert(name.to_owned(), number);
        Ok(number)
    }

    /// A static method of a class of ours.
    pub(super) fn method(
        &mut self,
        class: &'static str,
        name: &'static str,
        descriptor: &'static str,
    ) -> Result<u16, Unsupported> {
        if let Some(number) = self.methods.get(&(name, descriptor)) {
            return Ok(*number);
        }
        let class = self.class(class)?;
        let (name_text, descriptor_text) = (self.text(name)?, self.text(descriptor)?);
        let both = self.add(12, &[name_text.to_be_bytes(), descriptor_text.to_be_bytes()].concat())?;
        let number = self.add(10, &[class.to_be_bytes(), both.to_be_bytes()].concat())?;
        self.methods.insert((name, descriptor), number);
        Ok(number)
    }

    /// The instruction that puts a number on the stack.
    pub(super) fn put_number(&mut self, number: u32, out: &mut Vec<u8>) -> Result<(), Unsupported> {
        if let Some(short) = u16::try_from(number).ok().filter(|short| u32::from(*short) <= MAX_SHORT) {
            out.push(SIPUSH);
            out.extend(short.to_be_bytes());
        } else {
            out.push(LDC_W);
            out.extend(self.add(3, &number.to_be_bytes())?.to_be_bytes());
        }
        Ok(())
    }
}

/// Writes the code of an insert, given by its position.
pub(super) type Put<'p> = dyn FnMut(usize, &mut Vec<u8>, &mut Constants) -> Result<(), Unsupported> + 'p;

/// What is inserted into a method.
pub(super) struct Inserts<'i> {
    /// In the order of the code.
    pub all: &'i [Insert],
    /// Writes as many bytes as the insert says.
    pub put: &'i mut Put<'i>,
    /// The instructions whose exceptions lead to the code behind the last instruction, if there is such code.
    pub guarded: Option<Range<u32>>,
}

/// A class whose methods have other code: for each method its `Code` attribute, or `None` if it is as it was.
pub(super) fn with_code(class: &ClassFile<'_>, codes: &[Option<Vec<u8>>], constants: &Constants) -> Vec<u8> {
    let mut file = Vec::with_capacity(2 * class.bytes.len());
    file.extend(&class.bytes[..8]);
    file.extend(constants.n.to_be_bytes());
    file.extend(&class.bytes[10..class.after_pool]);
    file.extend(&constants.bytes);
    file.extend(&class.bytes[class.after_pool..class.methods_at]);
    for (method, code) in class.methods.iter().zip(codes) {
        match (code, &method.code) {
            (Some(code), Some(range)) => {
                file.extend(&class.bytes[method.range.start..range.start + 2]);
                file.extend(u32::try_from(code.len()).unwrap_or(u32::MAX).to_be_bytes());
                file.extend(code);
                file.extend(&class.bytes[range.end..method.range.end]);
            }
            _ => file.extend(&class.bytes[method.range.clone()]),
        }
    }
    file.extend(&class.bytes[class.after_methods..]);
    file
}

/// The content of the `Code` attribute of a method with more code.
///
/// - `version`: that of the class file.
///
/// Errors: there is no room for it.
pub(super) fn code_attribute(
    version: u16,
    code: &Code<'_>,
    inserts: Inserts<'_>,
    constants: &mut Constants,
) -> Result<Vec<u8>, Unsupported> {
    let Inserts { all, put, guarded } = inserts;
    let layout = CodeLayout::of(code, all.iter().copied())?;
    let body = body(code, &layout, all, put, constants)?;
    let max_stack = code.max_stack.checked_add(MORE_STACK).expect("the inserts were found to fit");
    let mut out = max_stack.to_be_bytes().to_vec();
    out.extend(code.max_locals.to_be_bytes());
    out.extend(u32::from(layout.length).to_be_bytes());
    out.extend(body);
    let count = |n: usize| u16::try_from(n).expect("the inserts were found to fit").to_be_bytes();
    let target = |instruction: u32| layout.targets[instruction as usize];
    let mut handlers = code.handlers.clone();
    let mut frames = frames_of(code)?;
    if let Some(guarded) = guarded {
        handlers.push(Handler { guarded, begin: code.end(), class: 0 });
        let exception = SlotType::Object(constants.class(EXCEPTION)?);
        frames.push(StackMapFrame { at: code.end(), shape: FrameDifference::Full(Vec::new(), vec![exception]) });
    }
    out.extend(count(handlers.len()));
    // A monitor is guarded from the moment it is entered: else the machine takes it for one that is never left if the
    // code behind throws, and never compiles the method.
    let begin = |start: u32| match start.checked_sub(1) {
        Some(before) if matches!(code.instructions[before as usize].operation, Operation::Enter) => {
            layout.own[before as usize] + 1
        }
        _ => target(start),
    };
    for handler in &handlers {
        let places = [begin(handler.guarded.start), target(handler.guarded.end), target(handler.begin)];
        out.extend(places.iter().flat_map(|place| place.to_be_bytes()));
        out.extend(handler.class.to_be_bytes());
    }
    let offsets = code.offsets();
    let mut attributes: Vec<(u16, Vec<u8>)> = Vec::new();
    if version >= FRAMES && !frames.is_empty() {
        let own = |at: u32| layout.own[at as usize];
        let table = code.attributes.iter().find(|(name, ..)| &**name == TABLE);
        let name = table.map_or_else(|| constants.text(TABLE), |(_, number, _)| Ok(*number))?;
        attributes.push((name, frames::write(&frames, target, own)));
    }
    for (name, number, content) in &code.attributes {
        let moved = match &**name {
            "LineNumberTable" => lines(content, &offsets, &layout)?,
            "LocalVariableTable" => variables(content, &offsets, &layout)?,
            // Annotations of types within the code, and type arguments of variables: nothing reads them while it runs.
            _ => continue,
        };
        attributes.push((*number, moved));
    }
    out.extend(count(attributes.len()));
    for (number, content) in attributes {
        out.extend(number.to_be_bytes());
        out.extend(u32::try_from(content.len()).unwrap_or(u32::MAX).to_be_bytes());
        out.extend(content);
    }
    Ok(out)
}

/// A place of the debugging information: what is visible from the beginning is so from the first site on.
fn place(instruction: u32, layout: &CodeLayout) -> u16 {
    if instruction == 0 { 0 } else { layout.targets[instruction as usize] }
}

fn lines(content: &[u8], offsets: &Offsets, layout: &CodeLayout) -> Result<Vec<u8>, Unsupported> {
    let mut cursor = ByteCursor::new(content);
    let n = cursor.u2()?;
    let mut out = n.to_be_bytes().to_vec();
    for _ in 0..n {
        let (begin, line) = (offsets.number(u32::from(cursor.u2()?))?, cursor.u2()?);
        out.extend([place(begin, layout), line].iter().flat_map(|number| number.to_be_bytes()));
    }
    Ok(out)
}

fn variables(content: &[u8], offsets: &Offsets, layout: &CodeLayout) -> Result<Vec<u8>, Unsupported> {
    let mut cursor = ByteCursor::new(content);
    let n = cursor.u2()?;
    let mut out = n.to_be_bytes().to_vec();
    for _ in 0..n {
        let (begin, length) = (u32::from(cursor.u2()?), u32::from(cursor.u2()?));
        let begin_at = place(offsets.number(begin)?, layout);
        let end_at = layout.targets[offsets.number(begin + length)? as usize];
        out.extend(begin_at.to_be_bytes());
        out.extend(end_at.saturating_sub(begin_at).to_be_bytes());
        out.extend(cursor.take(6)?);
    }
    Ok(out)
}

/// The instructions, with the inserts between them.
fn body(
    code: &Code<'_>,
    layout: &CodeLayout,
    inserts: &[Insert],
    put: &mut Put<'_>,
    constants: &mut Constants,
) -> Result<Vec<u8>, Unsupported> {
    let mut out = Vec::with_capacity(usize::from(layout.length));
    let mut rest = inserts.iter().enumerate().peekable();
    for (number, instruction) in (0_u32..).zip(&code.instructions) {
        let is_here = |insert: &Insert, at: InsertPlace| insert.instruction == number && insert.at == at;
        for at in [InsertPlace::Entry, InsertPlace::Before] {
            while let Some((nth, _)) = rest.next_if(|(_, insert)| is_here(insert, at)) {
                put(nth, &mut out, constants)?;
            }
        }
        put_instruction(&mut out, code, number, instruction, layout);
        while let Some((nth, _)) = rest.next_if(|(_, insert)| is_here(insert, InsertPlace::Behind)) {
            put(nth, &mut out, constants)?;
        }
    }
    for (nth, _) in rest {
        put(nth, &mut out, constants)?;
    }
    Ok(out)
}

/// An instruction at its new place.
fn put_instruction(
    out: &mut Vec<u8>,
    code: &Code<'_>,
    number: u32,
    instruction: &JavaInstruction,
    layout: &CodeLayout,
) {
    let begin = instruction.offset as usize;
    let own = i32::from(layout.own[number as usize]);
    let far = |way: u32| (i32::from(layout.targets[way as usize]) - own).to_be_bytes();
    match &instruction.operation {
        Operation::Jump(_, way) | Operation::Goto(way) => {
            out.push(code.bytes[begin]);
            // The layout says that it fits.
            let far = far(*way);
            out.extend(if instruction.length == 5 { &far[..] } else { &far[2..] });
        }
        Operation::Switch(switch) => {
            out.push(code.bytes[begin]);
            out.extend(std::iter::repeat_n(0, (4 - out.len() % 4) % 4));
            out.extend(far(switch.default));
            if switch.is_table {
                let bounds = [switch.cases.first(), switch.cases.last()];
                out.extend(bounds.into_iter().flatten().flat_map(|(value, _)| value.to_be_bytes()));
            } else {
                out.extend(u32::try_from(switch.cases.len()).unwrap_or(u32::MAX).to_be_bytes());
            }
            for (value, way) in &switch.cases {
                if !switch.is_table {
                    out.extend(value.to_be_bytes());
                }
                out.extend(far(*way));
            }
        }
        _ => out.extend(&code.bytes[begin..begin + instruction.length as usize]),
    }
}
