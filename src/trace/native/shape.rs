//! What the records of a function do: its statements, and for each segment the actions that a record stands for.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::instrument::flow::{catcher, flow};
use crate::instrument::map::UnitMap;
use crate::instrument::segment::{is_list_intrinsic, is_memory_intrinsic, splits};
use crate::instrument::statement::{is_nothing, statements};
use crate::instrument::types::Type;
use crate::instrument::{
    BinaryOp, DataLayout, Debug, Function, FunctionStatement, Instruction, MetadataId, Op, OperandValue, READBACK,
    Segment, SegmentItem, SegmentItemKind, SegmentKind, Unsupported, ValueId,
};
use crate::native::call::NativeCall;
use crate::native::model;
use crate::native::units::Body;
use crate::{BlockId, Flow, Keys};

/// A place of a frame for one value of at most 8 bytes.
pub type Register = u32;

/// Where a value is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueSource {
    /// The record, so many bytes from its beginning.
    Item(u32),
    /// A register.
    Register(Register),
    /// A constant.
    Constant(i64),
    /// It is not recorded.
    Nowhere,
}

/// What one record does, in order. Offsets are in the record, sizes in bytes; `to` is the register that the result goes to, if it is used later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the fields say what they are")]
pub enum RecordAction {
    /// A statement begins.
    Step(u32),
    /// A register gets its value.
    Set { register: Register, offset: u32, size: u32 },
    /// The address of a slot of so many bytes, which holds nothing yet.
    Slot { register: Register, offset: u32, size: u64, is_plain: bool },
    /// A plain slot is read.
    LoadPlain { slot: Register, value: Register, size: u32, to: Option<Register>, is_address: bool },
    /// A plain slot is written.
    StorePlain { slot: Register, value: Register, source: ValueSource, size: u32 },
    /// Memory is read; the record has what.
    Load { address: ValueSource, offset: u32, size: u32, to: Option<Register>, is_address: bool },
    /// Memory is written.
    Store { address: ValueSource, source: ValueSource, size: u32 },
    /// An atomic update: what was there before is in the record.
    Update {
        kind: &'static str,
        address: ValueSource,
        operand: ValueSource,
        offset: u32,
        size: u32,
        to: Option<Register>,
    },
    /// An atomic exchange: what was there, and at the second offset whether it was exchanged.
    Exchange { address: ValueSource, new: ValueSource, offset: u32, success: u32, size: u32 },
    /// A range is copied.
    Copy { to: ValueSource, from: ValueSource, length: ValueSource },
    /// A range is filled.
    Fill { to: ValueSource, byte: ValueSource, length: ValueSource },
    /// A list of the arguments without names begins.
    BeginList { list: ValueSource },
    /// A list becomes what another one is.
    CopyList { to: ValueSource, from: ValueSource },
    /// A temporary value of another statement is used; of a phi only if the block before was this one.
    Use { register: Register, from: Option<BlockId> },
    /// What the phis of the block are depends on the decisions that led to the block before.
    Choose,
    /// A division of integers, which faults if the divisor is zero.
    Divide { dividend: ValueSource, divisor: ValueSource, size: u32, is_signed: bool },
    /// A temporary value is made that another statement uses.
    Make { register: Register },
    /// A structure that was passed in memory arrives: which parameter it is, the register of its address, its bytes.
    Receive { parameter: u32, register: Register, length: u64 },
    /// A call, by its index among [`FunctionShape::calls`].
    Call(u32),
    /// The call came back.
    Back { call: u32, offset: Option<u32>, size: u32, to: Option<Register> },
}

/// Where the program goes on behind a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// There is one way, or a call comes first.
    Straight,
    /// A decision was made; it says what runs until this block is entered, or the function is left.
    Decided(Option<BlockId>),
    /// The function is left, with a value or without.
    Returned(bool),
}

/// A segment, and what its records do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapePiece {
    /// Why it begins.
    pub kind: SegmentKind,
    pub block: BlockId,
    /// The address of the frame in the record.
    pub frame: Option<u32>,
    /// Whether an exception goes to its block.
    pub is_landing: bool,
    /// After a call whose exceptions are caught in the function: the block where they go. That it did not throw decides
    /// that what follows runs.
    pub catches: Option<BlockId>,
    /// In order.
    pub actions: Box<[RecordAction]>,
    /// The statement that goes on.
    pub resumes: u32,
    /// What follows.
    pub next: Next,
    /// The block whose phis its decision chooses the values of, if it does.
    pub chooses: Option<BlockId>,
    /// Its events: loads, stores, atomic updates, copies, calls, decisions, returns.
    pub n_events: u32,
}

/// How a value is printed if only its LLVM type is known, not its type in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrintClass {
    /// An integer or an address.
    Integer,
    /// A `float` or `double`.
    Float,
    /// Something else: `long double`, a vector, a structure.
    Other,
}

impl PrintClass {
    fn of(ty: &Type) -> Self {
        match ty {
            Type::Float | Type::Double => Self::Float,
            Type::Int(1..=64) | Type::Ptr => Self::Integer,
            _ => Self::Other,
        }
    }
}

/// An argument of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallArgument {
    /// Where it is.
    pub source: ValueSource,
    /// Its bytes.
    pub size: u32,
    /// What it is.
    pub class: PrintClass,
}

/// A slot of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionSlot {
    /// Its address in the text.
    pub id: ValueId,
    /// Its address in a frame.
    pub register: Register,
    /// What it holds, if its address does not escape.
    pub plain: Option<Register>,
    /// Its bytes.
    pub size: u64,
}

/// A function, ready for its records.
#[derive(Debug)]
pub struct FunctionShape {
    /// Whether it belongs to a library: it has no steps of its own. What it reads and writes is done by the step that
    /// called it.
    pub is_quiet: bool,
    /// Whether it reads back what a library has left in memory: it has no frame either.
    pub is_readback: bool,
    /// The function.
    pub body: Arc<Body>,
    /// What follows what in it.
    pub flow: Flow,
    /// Its statements; the first is its entry.
    pub statements: Vec<FunctionStatement>,
    /// Its calls.
    pub calls: Vec<NativeCall>,
    /// Its slots.
    pub slots: Vec<FunctionSlot>,
    /// The registers of its parameters; `None` where one is too long.
    pub parameters: Vec<Option<Register>>,
    /// The structures that it gets in memory: the registers of their addresses, and their bytes.
    pub copied: Vec<(Register, u64)>,
    /// The registers of its values, for those that have one.
    pub registers: HashMap<ValueId, Register>,
    /// How many registers a frame has.
    pub n_registers: u32,
    /// By segment.
    pub pieces: Vec<ShapePiece>,
    /// What it and its statements are called in other runs.
    pub keys: Keys,
    /// Its number among those met.
    pub index: u32,
    /// Its unit.
    pub map: Arc<UnitMap>,
}

impl FunctionShape {
    /// Prepares a function of the unit of `map`; `index` is its number among those met.
    pub fn new(body: &Arc<Body>, map: &Arc<UnitMap>, index: u32) -> Result<Self, Unsupported> {
        let debug = Debug::new(&map.module, &map.text);
        let statements = statements(&body.function, body.segments.slots.len(), debug);
        let is_quiet = body.function.subprogram.is_some_and(|id| debug.is_of_library(id));
        let mut maker = ShapeMaker {
            is_quiet,
            body: Arc::clone(body),
            layout: map.module.layout(),
            debug,
            branches: branches(body, debug),
            flow: flow(&body.function),
            statement_of: statement_of(body, &statements),
            defined_in: HashMap::new(),
            shared: HashSet::new(),
            addresses: addresses(&body.function),
            registers: HashMap::new(),
            n_registers: 0,
            slots: Vec::new(),
            copied: Vec::new(),
            calls: Vec::new(),
        };
        maker.prepare()?;
        let parameters = maker.body.function.parameters.iter();
        let parameters: Vec<ValueId> = parameters.map(|parameter| parameter.value).collect();
        let keys = Keys::of(&map.module.source, &body.function.name, statements.len());
        let body = Arc::clone(body);
        let pieces = body.segments.segments.iter().map(|segment| maker.piece(segment)).collect::<Result<_, _>>()?;
        let parameters = parameters.iter().map(|id| maker.registers.get(id).copied()).collect();
        let ShapeMaker { flow, slots, copied, calls, registers, n_registers, .. } = maker;
        Ok(Self {
            is_quiet,
            is_readback: body.function.name.starts_with(READBACK),
            body,
            flow,
            statements,
            calls,
            slots,
            parameters,
            copied,
            registers,
            n_registers,
            pieces,
            keys,
            index,
            map: Arc::clone(map),
        })
    }

    /// Whether a statement decides where the function goes on.
    pub fn is_decision(&self, statement: u32) -> bool {
        let last = self.instructions(&self.statements[statement as usize]).last().map(|instruction| &instruction.op);
        matches!(last, Some(Op::Branch(..) | Op::Switch(..) | Op::IndirectJump(_)))
    }

    /// The instructions of one of its statements.
    pub fn instructions(&self, statement: &FunctionStatement) -> &[Instruction] {
        &self.body.function.block(statement.block).instructions[statement.first..statement.end]
    }

    /// The debug info of its unit.
    pub fn debug(&self) -> Debug<'_> {
        Debug::new(&self.map.module, &self.map.text)
    }

    /// Its name in the source.
    pub fn name(&self) -> Arc<str> {
        let function = self.body.function.subprogram.and_then(|id| self.debug().function(id));
        function.map_or_else(|| Arc::clone(&self.body.function.name), |(name, _)| name)
    }

    /// The piece of a segment, by its number in the recording.
    pub fn piece(&self, segment: u32) -> &ShapePiece {
        &self.pieces[(segment - self.body.first) as usize]
    }
}

/// For each block and instruction its statement; `u32::MAX` if none.
fn statement_of(body: &Body, statements: &[FunctionStatement]) -> Vec<Vec<u32>> {
    let blocks = body.function.blocks.iter();
    let mut of: Vec<Vec<u32>> = blocks.map(|block| vec![u32::MAX; block.instructions.len()]).collect();
    for (number, statement) in (0..).zip(statements) {
        of[statement.block.0 as usize][statement.first..statement.end].fill(number);
    }
    of
}

/// The values of a function that only say where something is: an address, or what one is computed from.
fn addresses(function: &Function) -> HashSet<ValueId> {
    let (mut used, mut values) = (HashSet::new(), HashSet::new());
    // The users of a value come later, but for those of a phi, which come nowhere then.
    for instruction in function.blocks.iter().rev().flat_map(|block| block.instructions.iter().rev()) {
        let passes_on =
            matches!(instruction.op, Op::Element(_) | Op::Cast(_) | Op::Binary(..) | Op::Select | Op::Freeze);
        let is_address = |number: usize| match &instruction.op {
            Op::Load | Op::AtomicUpdate(_) | Op::CompareExchange => number == 0,
            Op::Store => number == 1,
            _ => passes_on && instruction.result.is_some_and(|id| used.contains(&id) && !values.contains(&id)),
        };
        let locals = instruction.operands.iter().enumerate().filter_map(|(number, operand)| match operand.value {
            OperandValue::Local(id) => Some((id, is_address(number))),
            _ => None,
        });
        for (id, is_address) in locals.collect::<Vec<_>>() {
            used.insert(id);
            if !is_address {
                values.insert(id);
            }
        }
    }
    used.difference(&values).copied().collect()
}

fn branches(body: &Body, debug: Debug<'_>) -> HashSet<(MetadataId, (u32, u32))> {
    let last = body.function.blocks.iter().filter_map(|block| block.instructions.last());
    let locations = last.filter(|last| matches!(last.op, Op::Branch(..))).filter_map(|last| last.location);
    let place = |location| {
        let place = debug.place(location)?;
        Some((debug.scope(location)?, (place.line, place.column)))
    };
    locations.filter_map(place).collect()
}

struct ShapeMaker<'m> {
    is_quiet: bool,
    body: Arc<Body>,
    layout: DataLayout<'m>,
    debug: Debug<'m>,
    /// Scope, line and column of each branch.
    branches: HashSet<(MetadataId, (u32, u32))>,
    flow: Flow,
    statement_of: Vec<Vec<u32>>,
    /// The statement of each temporary value.
    defined_in: HashMap<ValueId, u32>,
    /// Temporary values that another statement uses.
    shared: HashSet<ValueId>,
    /// Values that only say where something is.
    addresses: HashSet<ValueId>,
    registers: HashMap<ValueId, Register>,
    n_registers: u32,
    slots: Vec<FunctionSlot>,
    copied: Vec<(Register, u64)>,
    calls: Vec<NativeCall>,
}

impl ShapeMaker<'_> {
    fn fresh(&mut self) -> Register {
        self.n_registers += 1;
        self.n_registers - 1
    }

    fn register(&mut self, id: ValueId) -> Register {
        if let Some(register) = self.registers.get(&id) {
            return *register;
        }
        let register = self.fresh();
        self.registers.insert(id, register);
        register
    }

    /// Gives registers to what needs one.
    fn prepare(&mut self) -> Result<(), Unsupported> {
        let body = Arc::clone(&self.body);
        let (function, segments) = (&body.function, &body.segments);
        for (id, ty) in &segments.slots {
            let register = self.register(*id);
            let plain = segments.plain.contains(id).then(|| self.fresh());
            let size = self.layout.size_and_align(ty)?.0;
            self.slots.push(FunctionSlot { id: *id, register, plain, size });
        }
        for parameter in &function.parameters {
            self.defined_in.insert(parameter.value, 0);
            if segments.is_known(&OperandValue::Local(parameter.value)) {
                let register = self.register(parameter.value);
                if let Some(ty) = &parameter.copied {
                    self.copied.push((register, self.layout.size_and_align(ty)?.0));
                }
            }
        }
        for (block, of) in function.blocks.iter().zip(&self.statement_of) {
            for (instruction, statement) in block.instructions.iter().zip(of) {
                if let Some(id) = instruction.result {
                    self.defined_in.insert(id, *statement);
                }
            }
        }
        let statement_of = std::mem::take(&mut self.statement_of);
        for (block, of) in function.blocks.iter().zip(&statement_of) {
            for (instruction, statement) in block.instructions.iter().zip(of) {
                let is_access = match instruction.op {
                    Op::Load | Op::Store | Op::AtomicUpdate(_) | Op::CompareExchange | Op::Call(..) => true,
                    Op::Binary(op, _) => op.is_division(),
                    _ => false,
                };
                if let Some(id) = instruction.pointer().filter(|id| segments.is_known(&OperandValue::Local(*id))) {
                    self.register(id);
                }
                for operand in &instruction.operands {
                    let OperandValue::Local(id) = operand.value else { continue };
                    if self.is_shared(id, *statement) {
                        self.shared.insert(id);
                        self.register(id);
                    } else if is_access && segments.is_known(&operand.value) {
                        self.register(id);
                    }
                }
            }
        }
        self.statement_of = statement_of;
        Ok(())
    }

    /// Whether a value that a statement uses comes from another one.
    ///
    /// The address of a variable of the frame is no value.
    fn is_shared(&self, id: ValueId, statement: u32) -> bool {
        let is_copied = || {
            let register = self.registers.get(&id);
            register.is_some_and(|register| self.copied.iter().any(|(copied, _)| copied == register))
        };
        statement != u32::MAX
            && !self.slots.iter().any(|slot| slot.id == id)
            && !is_copied()
            && self.defined_in.get(&id).is_some_and(|other| *other != statement)
    }

    fn piece(&mut self, segment: &Segment) -> Result<ShapePiece, Unsupported> {
        let body = Arc::clone(&self.body);
        let instructions = &body.function.block(segment.block).instructions;
        let (mut actions, mut frame, mut result) = (Vec::new(), None, None);
        let is_early = |item: &&SegmentItem| match item.what {
            SegmentItemKind::Operand(_) => false,
            SegmentItemKind::Result => segment.kind == SegmentKind::AfterCall && item.instruction < segment.first,
            _ => true,
        };
        let (early, late): (Vec<&SegmentItem>, Vec<&SegmentItem>) = segment.items.iter().partition(is_early);
        if segment.kind == SegmentKind::Entry && !self.is_quiet {
            actions.push(RecordAction::Step(0));
        }
        for item in early {
            match item.what {
                SegmentItemKind::Slot(id) => {
                    let slot = self.slots.iter().find(|slot| slot.id == id).copied();
                    let FunctionSlot { register, plain, size, .. } =
                        slot.ok_or_else(|| Unsupported::new("a slot that is none"))?;
                    actions.push(RecordAction::Slot { register, offset: item.offset, size, is_plain: plain.is_some() });
                }
                SegmentItemKind::Frame => frame = Some(item.offset),
                SegmentItemKind::Parameter(index) => {
                    let parameter = &body.function.parameters[index];
                    let Some(register) = self.registers.get(&parameter.value).copied() else { continue };
                    actions.push(RecordAction::Set { register, offset: item.offset, size: item.size });
                    if let Some((_, length)) = self.copied.iter().find(|(copied, _)| *copied == register).copied() {
                        let parameter = u32::try_from(index).unwrap_or(u32::MAX);
                        actions.push(RecordAction::Receive { parameter, register, length });
                    }
                }
                SegmentItemKind::Result => result = Some(item),
                SegmentItemKind::Operand(_) => {}
            }
        }
        let before = segment.before(instructions);
        if segment.kind == SegmentKind::AfterCall {
            let call = self.calls.len().checked_sub(1).and_then(|index| u32::try_from(index).ok());
            let call = call.ok_or_else(|| Unsupported::new("a return from no call"))?;
            let id = before.and_then(|index| instructions[index].result);
            let to = id.and_then(|id| self.registers.get(&id).copied());
            actions.push(RecordAction::Back {
                call,
                offset: result.map(|item| item.offset),
                size: result.map_or(0, |item| item.size),
                to,
            });
        }
        for (index, instruction) in instructions.iter().enumerate().take(segment.end).skip(segment.first) {
            let items = Items { all: &late, index };
            self.instruction(segment.block, index, instruction, items, &mut actions)?;
        }
        let next = match instructions[..segment.end].last() {
            Some(last) if last.is_terminator() && segment.end == instructions.len() => match last.op {
                Op::Return => Next::Returned(!last.operands.is_empty()),
                _ if self.flow.successors[segment.block.0 as usize].len() > 1 => {
                    Next::Decided(self.region_end(segment.block))
                }
                _ => Next::Straight,
            },
            _ => Next::Straight,
        };
        let resumes = before.map(|index| self.statement_of[segment.block.0 as usize][index]);
        let resumes = resumes.filter(|statement| *statement != u32::MAX).unwrap_or(0);
        let is_event = |action: &&RecordAction| {
            use RecordAction::{Back, Choose, Divide, Make, Receive, Set, Slot, Step, Use};
            !matches!(
                action,
                Step(_)
                    | Set { .. }
                    | Slot { .. }
                    | Use { .. }
                    | Choose
                    | Divide { .. }
                    | Make { .. }
                    | Receive { .. }
                    | Back { .. }
            )
        };
        let n_events = actions.iter().filter(is_event).count() + usize::from(next != Next::Straight);
        let n_events = u32::try_from(n_events).unwrap_or(u32::MAX);
        let chooses = match next {
            Next::Decided(_) => self.flow.post_dominator[segment.block.0 as usize].filter(|end| self.has_phi(*end)),
            _ => None,
        };
        let is_landing = segment.kind == SegmentKind::Block
            && instructions.get(segment.first).is_some_and(|first| matches!(first.op, Op::LandingPad(_)));
        let before = before.filter(|_| segment.kind == SegmentKind::AfterCall);
        let catches = before.and_then(|index| catcher(&body.function, &instructions[index]));
        Ok(ShapePiece {
            chooses,
            is_landing,
            catches,
            resumes,
            kind: segment.kind,
            block: segment.block,
            frame,
            actions: actions.into(),
            next,
            n_events,
        })
    }

    fn has_phi(&self, block: BlockId) -> bool {
        let first = self.body.function.block(block).instructions.first();
        first.is_some_and(|first| matches!(first.op, Op::Phi(_)))
    }

    /// The block that ends what a decision says.
    ///
    /// That is its immediate post-dominator (Ferrante, Ottenstein and Warren 1987), with one exception: in `while (1) { ...; if (a) { b; break; } }` the
    /// block of `b` is on every way to the end, because there is no other way out of the loop; but who asks why `b` ran wants to hear of `a`, and
    /// not of what called the function. So what stands inside of the `if` in the source never ends what its condition says.
    fn region_end(&self, block: BlockId) -> Option<BlockId> {
        let mut end = self.flow.post_dominator[block.0 as usize];
        if let Some(scope) = self.scope_of_if(block) {
            while let Some(inside) = end.filter(|end| self.is_inside(*end, scope)) {
                end = self.flow.post_dominator[inside.0 as usize];
            }
        }
        end
    }

    /// The scope of the `if` whose condition, or a part of it, is what a block ends with. Clang makes one that begins where the condition does, and puts the
    /// branch at that place, but into the scope around it.
    fn scope_of_if(&self, block: BlockId) -> Option<MetadataId> {
        let instructions = &self.body.function.block(block).instructions;
        let before = instructions.iter().rev().skip(1).find_map(|instruction| instruction.location)?;
        let scope = self.debug.scope(before)?;
        let (outer, place) = (self.debug.outer_scope(scope)?, self.debug.place_of_block(scope)?);
        self.branches.contains(&(outer, place)).then_some(scope)
    }

    /// Whether the first thing that a block does stands in this scope of the source.
    fn is_inside(&self, block: BlockId, scope: MetadataId) -> bool {
        let instructions = &self.body.function.block(block).instructions;
        let first = instructions.iter().find(|instruction| !is_nothing(instruction)).and_then(|first| first.location);
        let mut at = first.and_then(|location| self.debug.scope(location));
        for _ in 0..1000 {
            match at {
                Some(found) if found == scope => return true,
                Some(found) => at = self.debug.outer_scope(found),
                None => return false,
            }
        }
        false
    }

    /// Where an operand is taken from.
    fn source(&self, value: &OperandValue, item: Option<&SegmentItem>) -> ValueSource {
        if let Some(item) = item {
            return ValueSource::Item(item.offset);
        }
        match value {
            OperandValue::Local(id) => {
                self.registers.get(id).map_or(ValueSource::Nowhere, |register| ValueSource::Register(*register))
            }
            OperandValue::Int(int) => i64::try_from(*int).map_or(ValueSource::Nowhere, ValueSource::Constant),
            OperandValue::Global(_) | OperandValue::Constant(_) => ValueSource::Nowhere,
        }
    }

    fn size(&self, ty: &Type) -> Result<u32, Unsupported> {
        u32::try_from(self.layout.store_size(ty)?).map_err(|_| Unsupported::new("a value of more than 4 GiB"))
    }

    fn instruction(
        &mut self,
        block: BlockId,
        index: usize,
        instruction: &Instruction,
        items: Items<'_>,
        actions: &mut Vec<RecordAction>,
    ) -> Result<(), Unsupported> {
        let of = &self.statement_of[block.0 as usize];
        let statement = of[index];
        if !self.is_quiet && statement != u32::MAX && statement != 0 && (index == 0 || of[index - 1] != statement) {
            // A jump or a mark may stand inside of a statement; only its first instruction begins it.
            if !of[..index].contains(&statement) {
                actions.push(RecordAction::Step(statement));
            }
        }
        self.uses(index, instruction, statement, actions);
        let source = |number: usize| {
            let operand = instruction.operands.get(number);
            operand.map_or(ValueSource::Nowhere, |operand| self.source(&operand.value, items.operand(number)))
        };
        let to = instruction.result.and_then(|id| self.registers.get(&id).copied());
        let slot = |number: usize| {
            let id = self.body.segments.slot(&instruction.operands[number])?;
            let slot = self.slots.iter().find(|slot| slot.id == id)?;
            slot.plain.map(|plain| (slot.register, plain))
        };
        match &instruction.op {
            Op::Load => {
                let size = self.size(&instruction.ty)?;
                let is_address = instruction.result.is_some_and(|id| self.addresses.contains(&id));
                actions.push(match (slot(0), items.result()) {
                    (Some((slot, value)), None) => RecordAction::LoadPlain { slot, value, size, to, is_address },
                    (_, Some(item)) => {
                        RecordAction::Load { address: source(0), offset: item.offset, size, to, is_address }
                    }
                    (None, None) => return Err(Unsupported::new("a load that is not recorded")),
                });
            }
            Op::Store => {
                let size = self.size(&instruction.operands[0].ty)?;
                actions.push(match slot(1) {
                    Some((slot, value)) => RecordAction::StorePlain { slot, value, source: source(0), size },
                    None => RecordAction::Store { address: source(1), source: source(0), size },
                });
            }
            Op::AtomicUpdate(kind) => {
                let size = self.size(&instruction.ty)?;
                let offset = items.result().map_or(0, |item| item.offset);
                actions.push(RecordAction::Update { kind, address: source(0), operand: source(1), offset, size, to });
            }
            Op::CompareExchange => {
                let size = self.size(&instruction.operands[1].ty)?;
                let flag = self.layout.offsets(&instruction.ty)?.get(1).copied().unwrap_or(0);
                let offset = items.result().map_or(0, |item| item.offset);
                let success = offset + u32::try_from(flag).unwrap_or(0);
                actions.push(RecordAction::Exchange { address: source(0), new: source(2), offset, success, size });
            }
            Op::Binary(op, _) if op.is_division() => {
                let size = self.size(&instruction.ty)?;
                let is_harmless = matches!(instruction.operands[1].value, OperandValue::Int(divisor) if divisor != 0 && divisor != -1);
                if size <= 8 && !is_harmless {
                    let is_signed = matches!(op, BinaryOp::SDiv | BinaryOp::SRem);
                    actions.push(RecordAction::Divide { dividend: source(0), divisor: source(1), size, is_signed });
                }
            }
            Op::Alloca(_) | Op::NextArgument => {
                if let (Some(register), Some(item)) = (to, items.result()) {
                    actions.push(RecordAction::Set { register, offset: item.offset, size: item.size });
                }
            }
            Op::Call(..) => match instruction.called() {
                Some(name) if is_memory_intrinsic(name) => {
                    let (to, second, length) = (source(0), source(1), source(2));
                    actions.push(if name.starts_with("llvm.memset") {
                        RecordAction::Fill { to, byte: second, length }
                    } else {
                        RecordAction::Copy { to, from: second, length }
                    });
                }
                Some(name) if is_list_intrinsic(name) => {
                    actions.push(if name.starts_with("llvm.va_start") {
                        RecordAction::BeginList { list: source(0) }
                    } else {
                        RecordAction::CopyList { to: source(0), from: source(1) }
                    });
                }
                name if splits(instruction) => {
                    let call = self.call(instruction, name, &source)?;
                    actions.push(RecordAction::Call(u32::try_from(self.calls.len()).unwrap_or(u32::MAX)));
                    self.calls.push(call);
                    // Its result comes with the next segment.
                    return Ok(());
                }
                _ => {}
            },
            _ => {}
        }
        // A value that is told has its maker with it, or is not known.
        if let (Some(id), Some(register)) = (instruction.result, to)
            && self.shared.contains(&id)
            && !self.body.segments.is_known(&OperandValue::Local(id))
        {
            actions.push(RecordAction::Make { register });
        }
        Ok(())
    }

    /// What an instruction uses of other statements.
    fn uses(&self, index: usize, instruction: &Instruction, statement: u32, actions: &mut Vec<RecordAction>) {
        for (number, operand) in instruction.operands.iter().enumerate() {
            let OperandValue::Local(id) = operand.value else { continue };
            if self.is_shared(id, statement) {
                let from = if let Op::Phi(blocks) = &instruction.op { blocks.get(number).copied() } else { None };
                actions.push(RecordAction::Use { register: self.registers[&id], from });
            }
        }
        if index == 0 && matches!(instruction.op, Op::Phi(_)) {
            actions.push(RecordAction::Choose);
        }
    }

    fn call(
        &self,
        instruction: &Instruction,
        name: Option<&str>,
        source: &dyn Fn(usize) -> ValueSource,
    ) -> Result<NativeCall, Unsupported> {
        let mut arguments = Vec::new();
        for (number, operand) in instruction.operands.iter().enumerate() {
            let size = if operand.ty == Type::Metadata { 0 } else { self.size(&operand.ty)? };
            arguments.push(CallArgument { source: source(number), size, class: PrintClass::of(&operand.ty) });
        }
        let is_recorded = |argument: &CallArgument| argument.source != ValueSource::Nowhere || argument.size > 16;
        let is_external = arguments.iter().all(is_recorded);
        let result = instruction.result.map(|_| PrintClass::of(&instruction.ty));
        let result_size = if result.is_some() { self.size(&instruction.ty)? } else { 0 };
        let model = name.and_then(model::find);
        let (mut n_named, mut copied) = (None, Vec::new());
        if let Op::Call(_, _, named, structures, ..) = &instruction.op {
            n_named = *named;
            for (index, ty) in structures {
                let index = u32::try_from(*index).map_err(|_| Unsupported::new("more than 4 G arguments"))?;
                copied.push((index, self.layout.size_and_align(ty)?.0));
            }
        }
        let copied = copied.into();
        let pointer =
            instruction.pointer().map_or(ValueSource::Nowhere, |id| self.source(&OperandValue::Local(id), None));
        let name = name.map(Into::into);
        Ok(NativeCall { name, pointer, arguments, copied, n_named, is_external, result, result_size, model })
    }
}

/// The items of one instruction.
#[derive(Clone, Copy)]
struct Items<'i> {
    all: &'i [&'i SegmentItem],
    index: usize,
}

impl<'i> Items<'i> {
    fn find(self, what: SegmentItemKind) -> Option<&'i SegmentItem> {
        self.all.iter().copied().find(|item| item.instruction == self.index && item.what == what)
    }

    fn operand(self, number: usize) -> Option<&'i SegmentItem> {
        self.find(SegmentItemKind::Operand(number))
    }

    fn result(self) -> Option<&'i SegmentItem> {
        self.find(SegmentItemKind::Result)
    }
}

#[cfg(test)]
mod tests;
