//! The body of a method.

use crate::instrument::Unsupported;
use crate::instrument::java::class_file::{ATTRIBUTE_HEADER, ClassFile, ClassMethod};
use crate::instrument::java::cursor::ByteCursor;
use crate::instrument::java::operation::{self, Operation};
use crate::instrument::java::pool::Pool;
use std::ops::Range;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq)]
pub struct JavaInstruction {
    /// Its place in the code, in bytes.
    pub offset: u32,
    /// Its length in bytes.
    pub length: u32,
    pub operation: Operation,
}

/// An exception handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handler {
    /// The instructions that it guards.
    pub guarded: Range<u32>,
    /// Its first instruction.
    pub begin: u32,
    /// The class of the exceptions that it takes, by its number in the pool; 0 for all.
    pub class: u16,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceVariable {
    /// The instructions at which it is visible.
    pub visible: Range<u32>,
    pub name: Arc<str>,
    /// Its type: `I`, `Ljava/lang/String;`.
    pub descriptor: Arc<str>,
    /// Its first slot among the locals.
    pub local: u16,
}

/// The body of a method. Places in the code are numbers of instructions; the number after the last one is its end.
#[derive(Debug, Clone)]
pub struct Code<'b> {
    /// The slots of its stack.
    pub max_stack: u16,
    /// The slots of its locals.
    pub max_locals: u16,
    /// The instructions as bytes.
    pub bytes: &'b [u8],
    pub instructions: Vec<JavaInstruction>,
    /// The handlers, the first that fits is taken.
    pub handlers: Vec<Handler>,
    /// The lines of the source: the first instruction of each entry, ascending, and the line.
    pub lines: Vec<(u32, u16)>,
    /// The variables of the source, if the class was compiled with `-g`.
    pub variables: Vec<SourceVariable>,
    /// All attributes as bytes: name and content.
    pub attributes: Vec<(Arc<str>, u16, &'b [u8])>,
}

/// The numbers of the instructions, by their offsets.
#[derive(Debug, Clone)]
pub struct Offsets(Vec<u32>);

/// No instruction begins here.
const NONE: u32 = u32::MAX;

impl Offsets {
    /// The number of the instruction at an offset, which may be the end of the code.
    pub fn number(&self, offset: u32) -> Result<u32, Unsupported> {
        let number = self.0.get(offset as usize).copied().filter(|number| *number != NONE);
        number.ok_or_else(|| Unsupported::new("a place inside an instruction"))
    }

    /// The same, but not the end.
    pub fn instruction(&self, offset: u32) -> Result<u32, Unsupported> {
        if offset as usize + 1 == self.0.len() {
            return Err(Unsupported::new("a way to the end of the code"));
        }
        self.number(offset)
    }
}

impl<'b> Code<'b> {
    /// Reads the body of a method; `None` if it has none.
    ///
    /// Errors: the bytes are no code, or an instruction is not supported.
    pub fn of(class: &ClassFile<'b>, method: &ClassMethod) -> Result<Option<Self>, Unsupported> {
        let Some(range) = &method.code else { return Ok(None) };
        let content = class.bytes.get(range.start + ATTRIBUTE_HEADER..range.end).unwrap_or_default();
        Self::read(content, &class.pool).map(|(code, _)| Some(code))
    }

    /// Reads the content of a `Code` attribute.
    pub fn read(content: &'b [u8], pool: &Pool) -> Result<(Self, Offsets), Unsupported> {
        let mut cursor = ByteCursor::new(content);
        let (max_stack, max_locals, length) = (cursor.u2()?, cursor.u2()?, cursor.u4()?);
        let bytes = cursor.take(length as usize)?;
        if bytes.is_empty() || bytes.len() > usize::from(u16::MAX) {
            return Err(Unsupported::new("code of no length, or of more than 64 KiB"));
        }
        let (mut instructions, offsets) = instructions(bytes)?;
        for instruction in &mut instructions {
            for way in instruction.operation.ways_mut() {
                *way = offsets.instruction(*way)?;
            }
        }
        let at = |cursor: &mut ByteCursor<'_>| offsets.number(u32::from(cursor.u2()?));
        let mut handlers = Vec::new();
        for _ in 0..cursor.u2()? {
            let guarded = at(&mut cursor)?..at(&mut cursor)?;
            let (begin, class) = (offsets.instruction(u32::from(cursor.u2()?))?, cursor.u2()?);
            handlers.push(Handler { guarded, begin, class });
        }
        let (mut lines, mut variables, mut attributes) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..cursor.u2()? {
            let (number, content) = cursor.attribute()?;
            let name = Arc::clone(pool.text(number)?);
            let mut cursor = ByteCursor::new(content);
            match &*name {
                "LineNumberTable" => {
                    for _ in 0..cursor.u2()? {
                        lines.push((at(&mut cursor)?, cursor.u2()?));
                    }
                }
                "LocalVariableTable" => {
                    for _ in 0..cursor.u2()? {
                        let (begin, length) = (u32::from(cursor.u2()?), u32::from(cursor.u2()?));
                        let visible = offsets.number(begin)?..offsets.number(begin + length)?;
                        let (name, descriptor) = (Arc::clone(pool.text(cursor.u2()?)?), pool.text(cursor.u2()?)?);
                        let (descriptor, local) = (Arc::clone(descriptor), cursor.u2()?);
                        variables.push(SourceVariable { visible, name, descriptor, local });
                    }
                }
                _ => {}
            }
            attributes.push((name, number, content));
        }
        lines.sort_by_key(|(instruction, _)| *instruction);
        Ok((Self { max_stack, max_locals, bytes, instructions, handlers, lines, variables, attributes }, offsets))
    }

    /// The number after that of the last instruction.
    pub fn end(&self) -> u32 {
        u32::try_from(self.instructions.len()).expect("code has at most 64 KiB")
    }

    /// The numbers of the instructions, by their offsets.
    pub fn offsets(&self) -> Offsets {
        let mut numbers = vec![NONE; self.bytes.len() + 1];
        for (number, instruction) in (0..).zip(&self.instructions) {
            numbers[instruction.offset as usize] = number;
        }
        numbers[self.bytes.len()] = self.end();
        Offsets(numbers)
    }

    /// The line of the source of each instruction; before the first entry that of the first one, 0 if there is none.
    pub fn line_of_each(&self) -> Vec<u16> {
        let mut all = Vec::with_capacity(self.instructions.len());
        let mut entries = self.lines.iter().peekable();
        // Kotlin checks parameters before the first line.
        let mut line = self.lines.first().map_or(0, |(_, line)| *line);
        for number in 0..self.end() {
            while let Some((_, next)) = entries.next_if(|(begin, _)| *begin <= number) {
                line = *next;
            }
            all.push(line);
        }
        all
    }
}

fn instructions(bytes: &[u8]) -> Result<(Vec<JavaInstruction>, Offsets), Unsupported> {
    let mut cursor = ByteCursor::new(bytes);
    let mut numbers = vec![NONE; bytes.len() + 1];
    let mut instructions = Vec::new();
    while !cursor.is_at_end() {
        let begin = cursor.at();
        numbers[begin] = u32::try_from(instructions.len()).unwrap_or(NONE);
        let operation = operation::read(&mut cursor)?;
        let narrow = |at: usize| u32::try_from(at).expect("code has at most 64 KiB");
        instructions.push(JavaInstruction { offset: narrow(begin), length: narrow(cursor.at() - begin), operation });
    }
    numbers[bytes.len()] = u32::try_from(instructions.len()).unwrap_or(NONE);
    Ok((instructions, Offsets(numbers)))
}
