//! The text of a unit with the code that emits the records put in.
//!
//! Every segment begins with a call of `__idd_seg`, which LLVM inlines: it moves the cursor of the thread on by the size of
//! the record, writes the number, and returns where the items go. Only when the buffer is full, or control is armed, `__idd_slow` of
//! the runtime is called. The record is reserved first and filled as the segment runs. No block is split, so that phis and the
//! order of blocks stay as they were.
//!
//! Conditions of branches and switches go through `__idd_flip`: it is 0, and the runtime sets it to 1 for the one instance that is to
//! go the other way (a switch then takes the case `__idd_case`). A condition that is used without a branch goes through
//! `__idd_choice`, which is the number of the one of its segment that is inverted.

use std::fmt::Write as _;

use crate::instrument::choice::choices;
use crate::instrument::function::read;
use crate::instrument::lex::written;
use crate::instrument::module::{DefinedGlobal, FunctionHeader, Module};
use crate::instrument::segment::{cut, is_head};
use crate::instrument::types::Type;
use crate::instrument::{
    Function, Instruction, Op, OperandValue, Segment, SegmentGrain, SegmentItem, SegmentItemKind, SegmentKind,
    Segments, Unsupported,
};

/// What every unit is given.
const PRELUDE: &str = "
@__idd_cur = external thread_local(initialexec) global ptr
@__idd_lim = external thread_local(initialexec) global ptr
@__idd_flip = external thread_local(initialexec) global i8
@__idd_choice = external thread_local(initialexec) global i8
@__idd_case = external global i64

declare ptr @__idd_slow(i32, i64)

define internal ptr @__idd_seg(i32 %id, i64 %size) alwaysinline nounwind {
  %begin = load ptr, ptr @__idd_cur, align 8
  %end = getelementptr i8, ptr %begin, i64 %size
  %limit = load ptr, ptr @__idd_lim, align 8
  %is_over = icmp ugt ptr %end, %limit
  br i1 %is_over, label %slow, label %fast, !prof !PROFILE

fast:
  store ptr %end, ptr @__idd_cur, align 8
  store i32 %id, ptr %begin, align 1
  ret ptr %begin

slow:
  %record = call ptr @__idd_slow(i32 %id, i64 %size)
  ret ptr %record
}

!PROFILE = !{!\"branch_weights\", i32 1, i32 1000000}
";

/// A rewritten unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewrittenUnit {
    /// The text for the compiler.
    pub text: String,
    /// For each function of the module in order: how many segments it has; 0 for one that is left as it is.
    pub n_segments: Vec<u32>,
}

/// The number of segments of each function, without the rewritten text.
pub fn count(text: &str, module: &Module, grain: SegmentGrain) -> Result<Vec<u32>, Unsupported> {
    let count = |header| Ok(piece(text, module, header, grain)?.map_or(0, |(_, cut)| length(&cut)));
    module.functions.iter().map(count).collect()
}

/// A function and its segments; `None` if it is left as it is.
///
/// Left are functions that have no frame of their own, those that run before the program is linked, and those that pass
/// their own arguments on (thunks).
pub fn piece(
    text: &str,
    module: &Module,
    header: &FunctionHeader,
    grain: SegmentGrain,
) -> Result<Option<(Function, Segments)>, Unsupported> {
    if header.attributes.is_some_and(|group| module.has_attribute(text, group, "naked")) {
        return Ok(None);
    }
    // Nothing may stand between such a call and the return.
    if text.get(header.text.clone()).is_some_and(|text| text.contains("musttail call ")) {
        return Ok(None);
    }
    let function = read(text, header)?;
    let segments = cut(module, text, &function, grain).map_err(|error| error.at(text, header.text.start))?;
    Ok(Some((function, segments)))
}

fn length(segments: &Segments) -> u32 {
    u32::try_from(segments.segments.len()).expect("a text has fewer segments than 4 G bytes")
}

/// The numbers that a unit is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnitNumbers {
    /// Its own.
    pub unit: u32,
    /// That of its first segment.
    pub first: u32,
    /// How long its segments are.
    pub grain: SegmentGrain,
}

/// Puts the records into the text of a module.
pub fn rewrite(text: &str, module: &Module, numbers: UnitNumbers) -> Result<RewrittenUnit, Unsupported> {
    let mut out = String::with_capacity(text.len() * 2);
    let mut n_segments = Vec::new();
    let mut next = numbers.first;
    let mut copied = 0;
    let mut asks_for_frame = false;
    for header in &module.functions {
        let Some((function, segments)) = piece(text, module, header, numbers.grain)? else {
            n_segments.push(0);
            continue;
        };
        out.push_str(&text[copied..header.text.start]);
        let mut writer =
            ModuleWriter { text, function: &function, segments: &segments, out, copied: header.text.start, n: 0 };
        writer.function(next)?;
        writer.copy_to(header.text.end);
        out = writer.out;
        copied = header.text.end;
        asks_for_frame |= segments.has_frame() && segments.frame_slot().is_none();
        n_segments.push(length(&segments));
        next = next
            .checked_add(length(&segments))
            .ok_or_else(|| Unsupported::new("more segments than there are numbers"))?;
    }
    out.push_str(&text[copied..]);
    out.push_str(&PRELUDE.replace("!PROFILE", &format!("!{}", module.metadata.len())));
    if asks_for_frame && !module.declared.contains("llvm.frameaddress.p0") {
        out.push_str("declare ptr @llvm.frameaddress.p0(i32 immarg)\n");
    }
    out.push_str(&table(module, numbers.unit));
    Ok(RewrittenUnit { text: out, n_segments })
}

/// The addresses of the global variables, of the streams and of the functions of others, in the order of [`Module::globals`],
/// [`Module::streams`] and [`Module::pointed`], for the runtime to send; null for what has none.
fn table(module: &Module, unit: u32) -> String {
    let n = module.globals.len() + module.streams.len() + module.pointed.len();
    let address = |global: &DefinedGlobal| {
        let is_left = global.is_thread_local || global.name.starts_with("llvm.");
        if is_left { "ptr null".to_owned() } else { format!("ptr {}", written('@', &global.name)) }
    };
    let others = module.streams.iter().chain(&module.pointed).map(|name| format!("ptr {}", written('@', name)));
    let addresses: Vec<String> = module.globals.iter().map(address).chain(others).collect();
    let addresses = addresses.join(", ");
    format!(
        "@__idd.addresses = private constant [{n} x ptr] [{addresses}]\n\
         @__idd.globals = private constant {{ i32, i32, ptr }} {{ i32 {unit}, i32 {n}, ptr @__idd.addresses }}\n\
         @__idd.entry.{unit} = hidden global ptr @__idd.globals, section \"idd_globals\", align 8\n"
    )
}

struct ModuleWriter<'w> {
    text: &'w str,
    function: &'w Function,
    segments: &'w Segments,
    out: String,
    copied: usize,
    /// Makes names unique.
    n: u32,
}

impl ModuleWriter<'_> {
    fn copy_to(&mut self, offset: usize) {
        self.out.push_str(&self.text[self.copied..offset]);
        self.copied = offset;
    }

    fn function(&mut self, first: u32) -> Result<(), Unsupported> {
        let (function, segments) = (self.function, self.segments);
        for (id, segment) in (first..).zip(&segments.segments) {
            self.segment(id, segment, &function.block(segment.block).instructions)?;
        }
        Ok(())
    }

    fn segment(&mut self, id: u32, segment: &Segment, instructions: &[Instruction]) -> Result<(), Unsupported> {
        let n_phis = instructions[segment.first..].iter().take_while(|instruction| is_head(instruction)).count();
        let begin = segment.first + n_phis;
        if let Some(instruction) = instructions.get(begin) {
            self.copy_to(instruction.text.start);
        }
        let record = self.fresh("p");
        let size = segment.size;
        write!(self.out, "{record} = call ptr @__idd_seg(i32 {id}, i64 {size})\n  ").expect("a string takes all");
        let (early, late): (Vec<&SegmentItem>, Vec<&SegmentItem>) =
            segment.items.iter().partition(|item| is_early(item, segment));
        for item in early {
            let call = instructions.get(item.instruction);
            self.early(item, call, &record)?;
        }
        let choices = choices(instructions, segment);
        for (index, instruction) in instructions.iter().enumerate().take(segment.end).skip(begin) {
            self.copy_to(instruction.text.start);
            let choice = choices.iter().position(|choice| *choice == index);
            let condition = choice.map(|choice| self.condition(choice + 1, instruction));
            for item in late.iter().filter(|item| item.instruction == index) {
                if let SegmentItemKind::Operand(operand) = item.what {
                    let turned = condition.clone().filter(|_| operand == 0);
                    let operand = &instruction.operands[operand];
                    let value = turned.unwrap_or_else(|| self.function.text_of(operand));
                    let ty = &text_of_type(&operand.ty);
                    self.store(ty, &value, item, &record, false);
                }
            }
            self.decision(instruction);
            if let Some(condition) = condition {
                self.choose(instruction, &condition);
            }
            self.copy_to(instruction.text.end);
            for item in late.iter().filter(|item| item.instruction == index && item.what == SegmentItemKind::Result) {
                if let Some(result) = instruction.result {
                    let value = self.function.written(result);
                    let ty = text_of_type(&instruction.ty);
                    self.store(&ty, &value, item, &record, true);
                }
            }
        }
        Ok(())
    }

    /// What is recorded where the segment begins.
    fn early(&mut self, item: &SegmentItem, call: Option<&Instruction>, record: &str) -> Result<(), Unsupported> {
        match item.what {
            SegmentItemKind::Slot(id) => {
                let value = self.function.written(id);
                self.store("ptr", &value, item, record, false);
            }
            SegmentItemKind::Frame if self.segments.frame_slot().is_some() => {
                if let Some(slot) = self.segments.frame_slot() {
                    let value = self.function.written(slot);
                    self.store("ptr", &value, item, record, false);
                }
            }
            SegmentItemKind::Frame => {
                let frame = self.fresh("f");
                write!(self.out, "{frame} = call ptr @llvm.frameaddress.p0(i32 0)\n  ").expect("a string takes all");
                self.store("ptr", &frame, item, record, false);
            }
            SegmentItemKind::Parameter(index) => {
                let parameter = &self.function.parameters[index];
                let value = self.function.written(parameter.value);
                let ty = text_of_type(&parameter.ty);
                self.store(&ty, &value, item, record, false);
            }
            SegmentItemKind::Result => {
                let call = call.ok_or_else(|| Unsupported::new("a result of no call"))?;
                let result = call.result.ok_or_else(|| Unsupported::new("a result of nothing"))?;
                let value = self.function.written(result);
                let ty = text_of_type(&call.ty);
                self.store(&ty, &value, item, record, false);
            }
            SegmentItemKind::Operand(_) => {}
        }
        Ok(())
    }

    fn store(&mut self, ty: &str, value: &str, item: &SegmentItem, record: &str, is_after: bool) {
        let place = self.fresh("q");
        let (before, behind) = if is_after { ("\n  ", "") } else { ("", "\n  ") };
        let (middle, offset) = ("\n  ", item.offset);
        write!(
            self.out,
            "{before}{place} = getelementptr i8, ptr {record}, i64 {offset}{middle}store {ty} {value}, ptr {place}, align 1{behind}"
        )
        .expect("a string takes all");
    }

    /// The condition of a choice, which the runtime can invert; `number` is that of the choice in its segment, from 1.
    fn condition(&mut self, number: usize, instruction: &Instruction) -> String {
        let operand = &instruction.operands[0];
        let value = self.function.text_of(operand);
        let (byte, is_meant, turned) = (self.fresh("b"), self.fresh("t"), self.fresh("c"));
        write!(
            self.out,
            "{byte} = load i8, ptr @__idd_choice, align 1\n  {is_meant} = icmp eq i8 {byte}, {number}\n  \
             {turned} = xor i1 {value}, {is_meant}\n  "
        )
        .expect("a string takes all");
        turned
    }

    /// Writes a choice with another condition.
    fn choose(&mut self, instruction: &Instruction, condition: &str) {
        let operand = &instruction.operands[0];
        let old = format!("i1 {}", self.function.text_of(operand));
        if let Some(at) = self.text[instruction.text.clone()].find(&old).map(|at| instruction.text.start + at) {
            self.copy_to(at);
            self.out.extend(["i1 ", condition]);
            self.copied = at + old.len();
        }
    }

    /// Lets the runtime turn a branch or a switch.
    fn decision(&mut self, instruction: &Instruction) {
        let Some(operand) = instruction.operands.first() else { return };
        if !matches!(instruction.op, Op::Branch(..) | Op::Switch(..))
            || !matches!(operand.value, OperandValue::Local(_))
        {
            return;
        }
        let value = self.function.text_of(operand);
        let ty = text_of_type(&operand.ty);
        let (byte, flip, turned) = (self.fresh("b"), self.fresh("t"), self.fresh("c"));
        let mut add = |line: String| {
            self.out.push_str(&line);
            self.out.push_str("\n  ");
        };
        add(format!("{byte} = load i8, ptr @__idd_flip, align 1"));
        let keyword = if let Op::Branch(..) = instruction.op {
            // Bytes are compared, so that what was just computed as one is not made a bit again.
            add(format!("{flip} = zext i1 {value} to i8"));
            add(format!("{turned} = icmp ne i8 {flip}, {byte}"));
            "br"
        } else {
            let Type::Int(n_bits) = operand.ty else { return };
            add(format!("{flip} = trunc i8 {byte} to i1"));
            let (wide, case) = (format!("{turned}.w"), format!("{turned}.n"));
            add(format!("{wide} = load i64, ptr @__idd_case, align 8"));
            match n_bits {
                64 => add(format!("{case} = or i64 {wide}, 0")),
                65.. => add(format!("{case} = sext i64 {wide} to {ty}")),
                _ => add(format!("{case} = trunc i64 {wide} to {ty}")),
            }
            add(format!("{turned} = select i1 {flip}, {ty} {case}, {ty} {value}"));
            "switch"
        };
        let line = &self.text[instruction.text.clone()];
        let rest = line.find(", label").unwrap_or(line.len());
        self.out.extend([keyword, " ", &ty, " ", &turned]);
        self.copied = instruction.text.start + rest;
    }

    fn fresh(&mut self, stem: &str) -> String {
        self.n += 1;
        format!("%__idd.{stem}{}", self.n)
    }
}

/// A type as the text has it.
fn text_of_type(ty: &Type) -> String {
    match ty {
        Type::Void => "void".to_owned(),
        Type::Int(n_bits) => format!("i{n_bits}"),
        Type::Half => "half".to_owned(),
        Type::Float => "float".to_owned(),
        Type::Double => "double".to_owned(),
        Type::X86Fp80 => "x86_fp80".to_owned(),
        Type::Fp128 => "fp128".to_owned(),
        Type::Ptr => "ptr".to_owned(),
        Type::Metadata => "metadata".to_owned(),
        Type::Array(n_elements, element) => format!("[{n_elements} x {}]", text_of_type(element)),
        Type::Vector(n_elements, element) => format!("<{n_elements} x {}>", text_of_type(element)),
        Type::Struct { is_packed, fields } => {
            let fields: Vec<String> = fields.iter().map(text_of_type).collect();
            let fields = fields.join(", ");
            if *is_packed { format!("<{{ {fields} }}>") } else { format!("{{ {fields} }}") }
        }
        Type::Named(name) => written('%', name),
        Type::Function(result, _, _) => text_of_type(result),
    }
}

/// Whether an item is recorded where the segment begins.
fn is_early(item: &SegmentItem, segment: &Segment) -> bool {
    match item.what {
        SegmentItemKind::Slot(_) | SegmentItemKind::Frame | SegmentItemKind::Parameter(_) => true,
        SegmentItemKind::Result => segment.kind == SegmentKind::AfterCall && item.instruction < segment.first,
        SegmentItemKind::Operand(_) => false,
    }
}

#[cfg(test)]
mod tests;
