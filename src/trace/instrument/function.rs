//! The body of one function.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::BlockId;
use crate::instrument::instruction::{FunctionNames, instruction};
use crate::instrument::invoke::{CONTINUED, joined};
use crate::instrument::lex::{TextCursor, written};
use crate::instrument::module::FunctionHeader;
use crate::instrument::types::Type;
use crate::instrument::{Instruction, MetadataId, Op, OperandValue, TypedValue, Unsupported, ValueId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    pub value: ValueId,
    pub ty: Type,
    /// For a structure that is passed in memory (`byval`): its type; the parameter is the address of the copy.
    pub copied: Option<Type>,
}

/// A straight run of instructions, the last of which says where it goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BasicBlock {
    pub label: Arc<str>,
    /// Not empty; only the last is a terminator.
    pub instructions: Vec<Instruction>,
}

/// A source variable that lives at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableDeclaration {
    /// The address: an alloca or a parameter.
    pub address: ValueId,
    pub variable: MetadataId,
    /// Whether the variable lies at the address itself; otherwise the expression of the debug info says where.
    pub is_plain: bool,
}

/// A function with its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: Arc<str>,
    /// What it returns.
    pub return_type: Type,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// What the debug info says of it.
    pub subprogram: Option<MetadataId>,
    /// Its blocks in the order of the text; the first is the entry.
    pub blocks: Vec<BasicBlock>,
    /// Names of its values, without `%`.
    pub values: Vec<Arc<str>>,
    /// Its variables in memory.
    pub declarations: Vec<VariableDeclaration>,
}

impl Function {
    /// The name of a value as the text has it, with its sigil.
    pub fn written(&self, value: ValueId) -> String {
        written('%', &self.values[value.0 as usize])
    }

    /// An operand as the text has it, without its type.
    pub fn text_of(&self, operand: &TypedValue) -> String {
        match &operand.value {
            OperandValue::Local(id) => self.written(*id),
            OperandValue::Global(name) => written('@', name),
            OperandValue::Int(0) if operand.ty == Type::Ptr => "null".to_owned(),
            OperandValue::Int(int) if operand.ty == Type::Int(1) => (*int != 0).to_string(),
            OperandValue::Int(int) => int.to_string(),
            OperandValue::Constant(text) => text.to_string(),
        }
    }

    /// The block with this number.
    pub fn block(&self, block: BlockId) -> &BasicBlock {
        &self.blocks[block.0 as usize]
    }
}

#[derive(Default)]
struct Interned {
    values: Vec<Arc<str>>,
    ids: HashMap<Arc<str>, ValueId>,
    labels: HashMap<Arc<str>, BlockId>,
}

impl FunctionNames for Interned {
    fn value(&mut self, name: &str) -> ValueId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let name: Arc<str> = name.into();
        let id = ValueId(u32::try_from(self.values.len()).expect("a text has fewer names than 4 G bytes"));
        self.values.push(Arc::clone(&name));
        self.ids.insert(name, id);
        id
    }

    fn block(&self, label: &str) -> Result<BlockId, Unsupported> {
        self.labels
            .get(label)
            .copied()
            .ok_or_else(|| Unsupported::new(format!("a jump to `{label}`, which is not there")))
    }
}

/// Reads the function that stands at `header.text` of the module's text.
pub fn read(text: &str, header: &FunctionHeader) -> Result<Function, Unsupported> {
    let mut names = Interned::default();
    let whole =
        text.get(header.text.clone()).ok_or_else(|| Unsupported::new("a function beyond the end of the text"))?;
    let first_line = whole.lines().next().unwrap_or_default();
    let (return_type, parameters) =
        signature(first_line, &mut names).map_err(|error| error.at(text, header.text.start))?;
    let lines = logical_lines(text, header.text.start + first_line.len()..header.text.end);

    let joined = joined(&lines)
        .map_err(|begin| Unsupported::new("a call that does not return to the next block").at(text, begin))?;
    let n_unnamed = names.values.iter().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).count();
    let mut labels: Vec<Arc<str>> = Vec::new();
    for (_, line) in &lines {
        match label(line) {
            Some(label) if joined.contains(label) => {
                let last = labels.len().saturating_sub(1);
                names.labels.insert(label.into(), block_id(last));
            }
            Some(label) => labels.push(label.into()),
            // The entry has no label if it has no name.
            None if labels.is_empty() => labels.push(n_unnamed.to_string().into()),
            None => {}
        }
    }
    for (index, label) in labels.iter().enumerate() {
        names.labels.insert(Arc::clone(label), block_id(index));
    }
    let mut blocks: Vec<BasicBlock> =
        labels.into_iter().map(|label| BasicBlock { label, instructions: Vec::new() }).collect();
    let mut declarations = Vec::new();
    let mut current = 0;
    let mut is_first = true;
    for (begin, line) in lines {
        if label(line).is_some_and(|label| joined.contains(label)) {
            continue;
        }
        if label(line).is_some() {
            current += usize::from(!is_first);
            is_first = false;
            continue;
        }
        is_first = false;
        let read_line = || -> Result<Option<Instruction>, Unsupported> {
            if let Some(record) = line.trim_start().strip_prefix('#') {
                declarations.extend(record_declaration(record, &mut names)?);
                return Ok(None);
            }
            let found = instruction(line, begin, &mut names)?;
            declarations.extend(call_declaration(&found, &mut names)?);
            Ok(Some(found))
        };
        let mut read_line = read_line;
        if let Some(found) = read_line().map_err(|error| error.at(text, begin))? {
            let block = blocks.get_mut(current).ok_or_else(|| Unsupported::new("an instruction outside of a block"))?;
            if block.instructions.last().is_some_and(Instruction::is_terminator) {
                return Err(Unsupported::new("an instruction behind the end of its block").at(text, begin));
            }
            block.instructions.push(found);
        }
    }
    for block in &blocks {
        if !block.instructions.last().is_some_and(Instruction::is_terminator) {
            return Err(
                Unsupported::new(format!("the block `{}` without an end", block.label)).at(text, header.text.start)
            );
        }
    }
    if blocks.is_empty() {
        return Err(Unsupported::new("a function without a body").at(text, header.text.start));
    }
    Ok(Function {
        name: Arc::clone(&header.name),
        return_type,
        parameters,
        subprogram: header.subprogram,
        blocks,
        values: names.values,
        declarations,
    })
}

fn block_id(index: usize) -> BlockId {
    BlockId(u32::try_from(index).expect("a text has fewer blocks than 4 G bytes"))
}

/// The lines of a body, each with the offset of its first character; a `switch` is one line, and so is a line with those
/// that continue it.
fn logical_lines(text: &str, range: Range<usize>) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let rest = &text[at..range.end];
        let mut end = rest.find('\n').unwrap_or(rest.len());
        let line = &rest[..end];
        let content = line.trim_start();
        if content.starts_with("switch ") && !line.contains(']') {
            end = rest.find("\n  ]").map_or(rest.len(), |close| {
                let close = close + 1;
                rest[close..].find('\n').map_or(rest.len(), |length| close + length)
            });
        }
        while rest.get(end + 1..).is_some_and(|next| next.starts_with(CONTINUED)) {
            let begin = end + 1;
            end = rest[begin..].find('\n').map_or(rest.len(), |length| begin + length);
        }
        if !content.is_empty() && content != "}" && !content.starts_with(';') {
            lines.push((at + line.len() - content.len(), rest[line.len() - content.len()..end].trim_end()));
        }
        at += end + 1;
    }
    lines
}

/// The name of the block that begins with this line.
pub(super) fn label(line: &str) -> Option<&str> {
    if let Some(quoted) = line.strip_prefix('"') {
        let end = quoted.find('"')?;
        return quoted[end + 1..].starts_with(':').then_some(&quoted[..end]);
    }
    let end = line.find(|letter: char| !(letter.is_ascii_alphanumeric() || "_.$-".contains(letter)))?;
    (end > 0 && line[end..].starts_with(':')).then_some(&line[..end])
}

fn signature(line: &str, names: &mut Interned) -> Result<(Type, Vec<Parameter>), Unsupported> {
    let mut cursor = TextCursor::new(line);
    cursor.expect("define")?;
    while !cursor.is_at_type() {
        cursor.skip_attribute()?;
    }
    let return_type = cursor.ty()?;
    cursor.name('@')?;
    cursor.expect("(")?;
    let mut parameters = Vec::new();
    while !cursor.eat(")") {
        if cursor.eat("...") {
            continue;
        }
        let ty = cursor.ty()?;
        let copied = cursor.passed()?;
        let name = cursor.name('%')?;
        parameters.push(Parameter { value: names.value(name), ty, copied });
        cursor.eat(",");
    }
    Ok((return_type, parameters))
}

/// `#dbg_declare(ptr %x, !1, !DIExpression(), !2)`, as clang prints it from version 19 on.
fn record_declaration(record: &str, names: &mut Interned) -> Result<Option<VariableDeclaration>, Unsupported> {
    let mut cursor = TextCursor::new(record);
    if !cursor.eat("dbg_declare") {
        return Ok(None);
    }
    cursor.expect("(")?;
    let address = cursor.part()?;
    cursor.expect(",")?;
    let variable = cursor.part()?;
    cursor.expect(",")?;
    let expression = cursor.part()?;
    declaration(address, variable, expression, names)
}

/// `call void @llvm.dbg.declare(metadata ptr %x, metadata !1, metadata !DIExpression())`, as it was printed before.
fn call_declaration(found: &Instruction, names: &mut Interned) -> Result<Option<VariableDeclaration>, Unsupported> {
    if found.called() != Some("llvm.dbg.declare") {
        return Ok(None);
    }
    let texts: Vec<&str> = found
        .operands
        .iter()
        .filter_map(|operand| match &operand.value {
            OperandValue::Constant(text) => Some(&**text),
            _ => None,
        })
        .collect();
    match texts[..] {
        [address, variable, expression] => declaration(address, variable, expression, names),
        _ => Err(Unsupported::new("a declaration of a variable without its three parts")),
    }
}

fn declaration(
    address: &str,
    variable: &str,
    expression: &str,
    names: &mut Interned,
) -> Result<Option<VariableDeclaration>, Unsupported> {
    let mut cursor = TextCursor::new(address);
    if !cursor.eat("ptr") || cursor.peek() != b'%' {
        return Ok(None);
    }
    let address = names.value(cursor.name('%')?);
    let mut cursor = TextCursor::new(variable);
    cursor.expect("!")?;
    let variable = MetadataId(cursor.number()?);
    Ok(Some(VariableDeclaration { address, variable, is_plain: expression == "!DIExpression()" }))
}

/// Whether the function that an instruction calls may return twice.
pub fn returns_twice(instruction: &Instruction, is_marked: impl Fn(u32) -> bool) -> bool {
    let Op::Call(_, attributes, ..) = &instruction.op else { return false };
    attributes.is_some_and(is_marked)
        || matches!(
            instruction.called(),
            Some("setjmp" | "_setjmp" | "sigsetjmp" | "__sigsetjmp" | "vfork" | "getcontext" | "savectx")
        )
}
