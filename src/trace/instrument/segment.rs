//! Straight-line pieces of a function, and what each one records.
//!
//! A segment begins where a function or a block is entered, after each call that may run code of the program, and where
//! the piece before would record too much; it ends before the next one begins. The program emits one record when it
//! begins one: the number of the segment, then its [items](SegmentItem) in order, without gaps. No branch is recorded: the next
//! record tells.
//!
//! What can be told from earlier records of the same frame is not recorded again (see [`Segments::is_known`]). A reader
//! keeps one table of values for each frame, filled by [`SegmentItemKind::Slot`], [`SegmentItemKind::Parameter`], [`SegmentItemKind::Result`], and one of the
//! values of *plain* slots (variables whose address does not escape), filled by stores:
//!
//! | instruction | items |
//! |---|---|
//! | entry of a function | the address of each slot; the frame if the function calls `setjmp` or can get an exception; each parameter of at most 16 bytes |
//! | a block that an exception goes to | the frame |
//! | `load` | its address unless known; what was read unless the slot is plain |
//! | `store` | its address unless known; what is written unless known |
//! | `alloca` that is no slot | its address |
//! | atomic update, compare and exchange | each operand unless known; the result |
//! | `select` | its condition unless known |
//! | `llvm.memcpy`, `memmove`, `memset` | destination, source or byte, length, each unless known |
//! | `llvm.va_start`, `va_copy` | each list unless known |
//! | call of a function that the unit does not define, or that is variadic | each argument unless known |
//! | call of another function | the address of each structure that is passed in memory, unless known |
//! | after a call | the frame if the function calls `setjmp`; the result |
//!
//! Items are written as LLVM stores a value of the type, without alignment, in the order of the machine (little-endian); `i1` is one byte.
//! An operand is recorded before its instruction runs, so that an access that crashes is there with its address.

use std::collections::{HashMap, HashSet};

use crate::BlockId;
use crate::instrument::function::returns_twice;
use crate::instrument::module::Module;
use crate::instrument::statement::statements;
use crate::instrument::types::Type;
use crate::instrument::{
    Callee, DataLayout, Debug, Function, Instruction, Op, OperandValue, READBACK, TypedValue, Unsupported, ValueId,
};

/// Bytes of the number at the beginning of a record.
pub const HEADER_SIZE: u32 = 4;

/// No record is longer than this plus one value.
const MAX_PAYLOAD: u32 = 16 << 10;

/// A value longer than this is not recorded as a parameter or result.
const MAX_SCALAR: u64 = 16;

/// How long a segment may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SegmentGrain {
    /// As long as nothing else can run.
    #[default]
    Straight,
    /// One [statement](crate::instrument::statement) at the most, so that a run can be parked before each of them. In
    /// functions of a library, which have no steps, they are as long as before.
    Statement,
}

impl SegmentGrain {
    /// The grain with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        [Self::Straight, Self::Statement].get(number as usize).copied()
    }
}

/// Why a segment begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentKind {
    /// A function is entered.
    Entry,
    /// A block is entered.
    Block,
    /// The call before its first instruction came back; what it left in memory was [read back](is_readback).
    AfterCall,
    /// The one before was full, or its statement ended.
    More,
}

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentItemKind {
    /// The address of a slot, an `alloca` at the beginning of the function.
    Slot(ValueId),
    /// The address of the frame: the same for all records of one activation, and for no other that is alive.
    Frame,
    /// A parameter, by its index.
    Parameter(usize),
    /// An operand, by its index, before the instruction.
    Operand(usize),
    /// What the instruction came to.
    Result,
}

/// One recorded value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentItem {
    /// What it is.
    pub what: SegmentItemKind,
    /// Of which instruction of the block; of the call before for the result of [`SegmentKind::AfterCall`], else 0 if of none.
    pub instruction: usize,
    /// Bytes from the beginning of the record.
    pub offset: u32,
    /// Its bytes.
    pub size: u32,
}

/// A segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Why it begins.
    pub kind: SegmentKind,
    /// Its block.
    pub block: BlockId,
    /// Its first instruction; phis belong to it although the record comes after them.
    pub first: usize,
    /// Behind its last instruction.
    pub end: usize,
    /// What it records, in order.
    pub items: Vec<SegmentItem>,
    /// Bytes of a record with its number.
    pub size: u32,
}

/// The segments of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segments {
    /// In the order of the text.
    pub segments: Vec<Segment>,
    /// Slots and their types, in order.
    pub slots: Vec<(ValueId, Type)>,
    /// Slots whose address does not escape.
    pub plain: HashSet<ValueId>,
    known: HashSet<ValueId>,
    /// Whether the function may return to a place a second time.
    pub has_setjmp: bool,
    /// Whether an exception can come to the function from what it calls.
    pub has_pads: bool,
}

impl Segments {
    /// Whether a reader that follows the frame knows the value without an item: integers, null, and values of at most 8 bytes that
    /// are a slot, a parameter, or the recorded result of an instruction.
    pub fn is_known(&self, value: &OperandValue) -> bool {
        match value {
            OperandValue::Int(_) => true,
            OperandValue::Local(id) => self.known.contains(id),
            OperandValue::Global(_) | OperandValue::Constant(_) => false,
        }
    }

    /// The slot whose address tells activations apart, see [`SegmentItemKind::Frame`]; `None` if the frame's own address does.
    pub fn frame_slot(&self) -> Option<ValueId> {
        self.slots.first().map(|(slot, _)| *slot).filter(|_| !self.has_setjmp)
    }

    /// Whether some record has the address of the frame.
    pub fn has_frame(&self) -> bool {
        self.has_setjmp || self.has_pads
    }

    /// The slot that an access goes to directly.
    pub fn slot(&self, operand: &TypedValue) -> Option<ValueId> {
        match operand.value {
            OperandValue::Local(id) if self.slots.iter().any(|(slot, _)| *slot == id) => Some(id),
            _ => None,
        }
    }

    fn is_plain(&self, operand: &TypedValue) -> bool {
        matches!(operand.value, OperandValue::Local(id) if self.plain.contains(&id))
    }
}

impl Segment {
    /// The instruction before the first one: the call that comes back, after [`SegmentKind::AfterCall`].
    ///
    /// - `instructions`: those of its block.
    pub fn before(&self, instructions: &[Instruction]) -> Option<usize> {
        instructions.get(..self.first)?.iter().rposition(|instruction| !is_readback(instruction))
    }
}

/// Cuts a function of `module`, whose text is `text`.
pub fn cut(module: &Module, text: &str, function: &Function, grain: SegmentGrain) -> Result<Segments, Unsupported> {
    let layout = module.layout();
    let entry = &function.blocks[0].instructions;
    let n_slots = entry.iter().take_while(|instruction| is_static_alloca(instruction)).count();
    let mut slots = Vec::new();
    for instruction in &entry[..n_slots] {
        if let (Some(id), Op::Alloca(ty)) = (instruction.result, &instruction.op) {
            slots.push((id, ty.clone()));
        }
    }
    let instructions = || function.blocks.iter().flat_map(|block| &block.instructions);
    let has_setjmp = instructions()
        .any(|instruction| returns_twice(instruction, |group| module.has_attribute(text, group, "returns_twice")));
    let plain = if has_setjmp { HashSet::new() } else { plain_slots(&slots, function, layout) };

    let mut known: HashSet<ValueId> = slots.iter().map(|(id, _)| *id).collect();
    for parameter in &function.parameters {
        if is_short(&parameter.ty, layout)? {
            known.insert(parameter.value);
        }
    }
    for instruction in instructions() {
        let is_recorded = match &instruction.op {
            Op::Load | Op::Alloca(_) | Op::AtomicUpdate(_) | Op::NextArgument => true,
            Op::Call(..) => splits(instruction),
            _ => false,
        };
        if let Some(id) = instruction.result
            && is_recorded
            && is_short(&instruction.ty, layout)?
        {
            known.insert(id);
        }
    }
    let has_pads = instructions().any(|instruction| matches!(instruction.op, Op::LandingPad(_)));
    let segments = Segments { segments: Vec::new(), slots, plain, known, has_setjmp, has_pads };
    let mut begins = vec![HashSet::new(); function.blocks.len()];
    let debug = Debug::new(module, text);
    let is_of_library = function.subprogram.is_some_and(|id| debug.is_of_library(id));
    if grain == SegmentGrain::Statement && !is_of_library {
        // The first statement of a block begins with it, as the entry of the function does.
        for pair in statements(function, n_slots, debug).windows(2) {
            if pair[0].block == pair[1].block {
                begins[pair[1].block.0 as usize].insert(pair[1].first);
            }
        }
    }
    let mut cutter = Cutter { module, layout, function, segments, begins, open: None };
    for index in 0..function.blocks.len() {
        let block = BlockId(u32::try_from(index).expect("blocks are numbered by u32"));
        cutter.block(block, if index == 0 { n_slots } else { 0 })?;
    }
    Ok(cutter.segments)
}

/// Whether nothing may stand before an instruction but others of its kind at the beginning of its block.
pub fn is_head(instruction: &Instruction) -> bool {
    matches!(instruction.op, Op::Phi(_) | Op::LandingPad(_))
}

/// An `alloca` of a fixed size.
fn is_static_alloca(instruction: &Instruction) -> bool {
    matches!(instruction.op, Op::Alloca(_))
        && instruction.operands.iter().all(|count| matches!(count.value, OperandValue::Int(1)))
}

fn is_short(ty: &Type, layout: DataLayout<'_>) -> Result<bool, Unsupported> {
    Ok(match ty {
        Type::Int(_) | Type::Half | Type::Float | Type::Double | Type::Ptr => layout.store_size(ty)? <= 8,
        _ => false,
    })
}

/// The slots that are only read and written as what they are.
fn plain_slots(slots: &[(ValueId, Type)], function: &Function, layout: DataLayout<'_>) -> HashSet<ValueId> {
    let types: HashMap<ValueId, &Type> =
        slots.iter().filter(|(_, ty)| is_short(ty, layout).unwrap_or(false)).map(|(id, ty)| (*id, ty)).collect();
    let mut plain: HashSet<ValueId> = types.keys().copied().collect();
    for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
        for (index, operand) in instruction.operands.iter().enumerate() {
            let OperandValue::Local(id) = operand.value else { continue };
            let Some(ty) = types.get(&id) else { continue };
            let is_access = match instruction.op {
                Op::Load => instruction.ty == **ty,
                Op::Store => index == 1 && instruction.operands[0].ty == **ty,
                _ => false,
            };
            if !is_access {
                plain.remove(&id);
            }
        }
    }
    plain
}

/// Whether code of the program may run in this call, so that the segment ends with it.
pub fn splits(instruction: &Instruction) -> bool {
    match &instruction.op {
        Op::Call(callee, ..) => match &**callee {
            Callee::Asm(..) => false,
            Callee::Value(OperandValue::Global(name)) => !["llvm.", READBACK].iter().any(|put| name.starts_with(put)),
            Callee::Value(_) => true,
        },
        _ => false,
    }
}

/// Whether it is a call that is put in to read something back. It belongs to no segment: its records stand between that of the call whose memory it reads back,
/// and that of the return from there.
pub fn is_readback(instruction: &Instruction) -> bool {
    instruction.called().is_some_and(|name| name.starts_with(READBACK))
}

/// Whether it is an intrinsic that writes a range of memory.
pub fn is_memory_intrinsic(name: &str) -> bool {
    ["llvm.memcpy.", "llvm.memmove.", "llvm.memset."].iter().any(|prefix| name.starts_with(prefix))
}

/// Whether it is an intrinsic that makes a list of arguments without names (`va_list`).
pub fn is_list_intrinsic(name: &str) -> bool {
    ["llvm.va_start", "llvm.va_copy"].iter().any(|prefix| name.starts_with(prefix))
}

struct Cutter<'m> {
    module: &'m Module,
    layout: DataLayout<'m>,
    function: &'m Function,
    segments: Segments,
    /// For each block where a segment has to begin.
    begins: Vec<HashSet<usize>>,
    open: Option<Segment>,
}

impl Cutter<'_> {
    fn block(&mut self, block: BlockId, first: usize) -> Result<(), Unsupported> {
        let function = self.function;
        let instructions = &function.block(block).instructions;
        let is_entry = block.0 == 0;
        self.begin(if is_entry { SegmentKind::Entry } else { SegmentKind::Block }, block, first);
        if is_entry {
            for (id, _) in self.segments.slots.clone() {
                self.item(SegmentItemKind::Slot(id), 0, 8)?;
            }
            self.frame(true)?;
            for (index, parameter) in function.parameters.iter().enumerate() {
                if let Some(size) = self.scalar_size(&parameter.ty)? {
                    self.item(SegmentItemKind::Parameter(index), 0, size)?;
                }
            }
        }
        for (index, instruction) in instructions.iter().enumerate().skip(first) {
            if matches!(instruction.op, Op::LandingPad(_)) {
                self.frame(true)?;
            }
            if is_head(instruction) || is_readback(instruction) {
                continue;
            }
            let begins = self.begins[block.0 as usize].contains(&index);
            if begins || self.open.as_ref().is_some_and(|open| open.size > MAX_PAYLOAD) {
                self.end(index);
                self.begin(SegmentKind::More, block, index);
            }
            self.instruction(index, instruction)?;
            if splits(instruction) {
                self.end(index + 1);
                let n_readbacks = instructions[index + 1..].iter().take_while(|next| is_readback(next)).count();
                self.begin(SegmentKind::AfterCall, block, index + 1 + n_readbacks);
                self.frame(false)?;
                if instruction.result.is_some() {
                    let size = self.value_size(&instruction.ty)?;
                    self.item(SegmentItemKind::Result, index, size)?;
                }
            }
        }
        self.end(instructions.len());
        Ok(())
    }

    fn begin(&mut self, kind: SegmentKind, block: BlockId, first: usize) {
        self.open = Some(Segment { kind, block, first, end: first, items: Vec::new(), size: HEADER_SIZE });
    }

    fn end(&mut self, end: usize) {
        self.segments.segments.extend(self.open.take().map(|open| Segment { end, ..open }));
    }

    fn item(&mut self, what: SegmentItemKind, instruction: usize, size: u64) -> Result<(), Unsupported> {
        let size = u32::try_from(size).map_err(|_| Unsupported::new("a value of more than 4 GiB"))?;
        if size > MAX_PAYLOAD {
            return Err(Unsupported::new("a value too large to be recorded"));
        }
        if let Some(open) = &mut self.open {
            open.items.push(SegmentItem { what, instruction, offset: open.size, size });
            open.size += size;
        }
        Ok(())
    }

    fn frame(&mut self, may_be_left_to: bool) -> Result<(), Unsupported> {
        let is_needed = self.segments.has_setjmp || (may_be_left_to && self.segments.has_pads);
        if is_needed { self.item(SegmentItemKind::Frame, 0, 8) } else { Ok(()) }
    }

    fn value_size(&self, ty: &Type) -> Result<u64, Unsupported> {
        self.layout.store_size(ty)
    }

    fn scalar_size(&self, ty: &Type) -> Result<Option<u64>, Unsupported> {
        Ok(match ty {
            Type::Metadata => None,
            _ => Some(self.value_size(ty)?).filter(|size| *size <= MAX_SCALAR),
        })
    }

    /// An operand, unless it is known.
    fn operand(&mut self, index: usize, instruction: &Instruction, operand: usize) -> Result<(), Unsupported> {
        let TypedValue { ty, value } = &instruction.operands[operand];
        if self.segments.is_known(value) {
            return Ok(());
        }
        let size = self.value_size(ty)?;
        self.item(SegmentItemKind::Operand(operand), index, size)
    }

    fn instruction(&mut self, index: usize, instruction: &Instruction) -> Result<(), Unsupported> {
        match &instruction.op {
            Op::Load => {
                self.operand(index, instruction, 0)?;
                if !self.segments.is_plain(&instruction.operands[0]) {
                    self.result(index, instruction)?;
                }
            }
            Op::Store => {
                self.operand(index, instruction, 1)?;
                self.operand(index, instruction, 0)?;
            }
            Op::Alloca(_) | Op::NextArgument => self.result(index, instruction)?,
            Op::AtomicUpdate(_) | Op::CompareExchange => {
                for operand in 0..instruction.operands.len() {
                    self.operand(index, instruction, operand)?;
                }
                self.result(index, instruction)?;
            }
            Op::Select if instruction.operands[0].ty == Type::Int(1) => self.operand(index, instruction, 0)?,
            Op::Call(_, _, n_named, copied, _) => self.call(index, instruction, n_named.is_some(), copied)?,
            _ => {}
        }
        Ok(())
    }

    fn result(&mut self, index: usize, instruction: &Instruction) -> Result<(), Unsupported> {
        let size = self.value_size(&instruction.ty)?;
        self.item(SegmentItemKind::Result, index, size)
    }

    fn call(
        &mut self,
        index: usize,
        instruction: &Instruction,
        is_variadic: bool,
        copied: &[(usize, Type)],
    ) -> Result<(), Unsupported> {
        let n_recorded = match instruction.called() {
            Some(name) if is_memory_intrinsic(name) => 3,
            Some(name) if name.starts_with("llvm.eh.") && !name.starts_with("llvm.eh.typeid.") => {
                return Err(Unsupported::new(format!("the intrinsic `{name}`")));
            }
            Some(name) if is_list_intrinsic(name) => instruction.operands.len(),
            Some(name) if splits(instruction) && (is_variadic || self.module.declared.contains(name)) => {
                instruction.operands.len()
            }
            None if splits(instruction) => instruction.operands.len(),
            _ => 0,
        };
        for (operand, argument) in instruction.operands.iter().enumerate() {
            let is_recorded = operand < n_recorded || copied.iter().any(|(copied, _)| *copied == operand);
            if is_recorded && self.scalar_size(&argument.ty)?.is_some() {
                self.operand(index, instruction, operand)?;
            }
        }
        Ok(())
    }
}
