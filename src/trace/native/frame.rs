//! One activation of a function.

use std::sync::Arc;

use crate::instrument::{FunctionStatement, Instruction};
use crate::native::call::NativeCall;
use crate::native::{FunctionShape, Register, ValueSource};
use crate::regions::Regions;
use crate::{BlockId, Index, Place, Step};

/// A register that was never set has this one as its step.
const UNSET: Step = Step(u32::MAX);

/// A call of a function that may be one of which nothing is known.
#[derive(Debug, Clone)]
pub struct External {
    /// By its index among the calls of the function.
    pub call: u32,
    /// Its arguments, as far as they have at most 8 bytes; 0 for one that is not known.
    pub arguments: [u64; 8],
    /// One bit for each argument that is not known, because the frame was met in the middle.
    pub unknown: u8,
    /// Whether the function called back.
    pub is_entered: bool,
    /// The call with the function that the pointer led to, if it is a call through one and the function is known.
    pub found: Option<Arc<NativeCall>>,
}

impl External {
    /// The arguments, as far as they are known.
    pub fn given(&self) -> [Option<u64>; 8] {
        std::array::from_fn(|bit| Some(self.arguments[bit]).filter(|_| self.unknown >> bit & 1 == 0))
    }

    /// The arguments behind those that have names, if the function is variadic and they are known.
    pub fn unnamed(&self, call: &NativeCall) -> Option<Box<[u64]>> {
        let first = call.n_named? as usize;
        let is_known = self.unknown == 0 && call.arguments.len() <= self.arguments.len();
        is_known.then(|| self.arguments.get(first..call.arguments.len()).unwrap_or_default().into())
    }
}

/// One activation of a function.
#[derive(Debug, Clone)]
pub struct NativeFrame {
    /// The function.
    pub shape: Arc<FunctionShape>,
    /// How many were entered before it.
    pub number: u64,
    /// The step that called it; the start for the first of a thread.
    pub caller: Step,
    /// Its current step, and the statement of that.
    pub step: Step,
    /// See [`step`](Self::step).
    pub statement: u32,
    /// The block it is in, and the one before.
    pub block: BlockId,
    /// See [`block`](Self::block).
    pub block_before: BlockId,
    /// The segment it is in.
    pub segment: u32,
    /// Whether it was met in the middle, so that not everything about it is known.
    pub is_partial: bool,
    /// The address of the frame, if it is recorded.
    pub address: u64,
    /// The step that returned from the last call.
    pub returned: Step,
    /// What a variadic function was called with behind the arguments that have names; `None` if that is not known.
    pub unnamed: Option<Box<[u64]>>,
    /// A call whose function was not seen yet.
    pub external: Option<External>,
    /// What was read back of its memory: addresses and bytes.
    pub read_back: Vec<(u64, Box<[u8]>)>,
    /// The structures that the last call passed in memory: the index of the argument, and the address.
    pub passed: Vec<(u32, u64)>,
    values: Vec<u64>,
    writers: Vec<Step>,
    regions: Regions,
    /// Decisions that choose the value of a phi, and the block of that, which was not entered yet.
    choices: Vec<(BlockId, Step)>,
}

impl NativeFrame {
    /// A new activation.
    pub fn new(shape: &Arc<FunctionShape>, number: u64, base: Index) -> Self {
        let n = shape.n_registers as usize;
        Self {
            shape: Arc::clone(shape),
            number,
            caller: Step::START,
            step: Step::START,
            statement: 0,
            block: BlockId(0),
            block_before: BlockId(0),
            segment: 0,
            is_partial: false,
            address: 0,
            returned: Step::START,
            unnamed: None,
            external: None,
            read_back: Vec::new(),
            passed: Vec::new(),
            values: vec![0; n],
            writers: vec![UNSET; n],
            regions: Regions::new(base),
            choices: Vec::new(),
        }
    }

    /// Makes it a new activation, keeping its memory.
    pub fn renew(&mut self, shape: &Arc<FunctionShape>, number: u64, base: Index) {
        let n = shape.n_registers as usize;
        if !Arc::ptr_eq(&self.shape, shape) {
            self.shape = Arc::clone(shape);
        }
        self.number = number;
        self.unnamed = None;
        self.external = None;
        self.read_back.clear();
        self.passed.clear();
        self.returned = Step::START;
        self.regions.renew(base);
        self.is_partial = false;
        self.address = 0;
        self.block = BlockId(0);
        self.choices.clear();
        self.values.clear();
        self.values.resize(n, 0);
        self.writers.clear();
        self.writers.resize(n, UNSET);
    }

    /// What a register holds, unless that is not known.
    #[inline]
    pub fn value(&self, register: Register) -> Option<u64> {
        let register = register as usize;
        (!self.is_partial || self.writers[register] != UNSET).then(|| self.values[register])
    }

    /// What a register was given, if it was given anything.
    pub fn given(&self, register: Register) -> Option<u64> {
        (self.writers[register as usize] != UNSET).then(|| self.values[register as usize])
    }

    /// The step that set a register.
    #[inline]
    pub fn writer(&self, register: Register) -> Step {
        let writer = self.writers[register as usize];
        if writer == UNSET { Step::START } else { writer }
    }

    /// Sets a register.
    #[inline]
    pub fn set(&mut self, register: Register, value: u64, writer: Step) {
        self.values[register as usize] = value;
        self.writers[register as usize] = writer;
    }

    /// Gives synthetic addresses to variables that do not escape, so that they can be told apart, in a frame whose entry was not recorded.
    pub fn place_plain_slots(&mut self) {
        // No program has memory in the middle of the address space; a frame has 2^20 places there.
        const NOWHERE: u64 = 1 << 62;
        let shape = Arc::clone(&self.shape);
        for (slot, index) in shape.slots.iter().filter(|slot| slot.plain.is_some()).zip(0..) {
            self.set(slot.register, NOWHERE + (self.number << 20) % (1 << 61) + 8 * index, Step::START);
        }
    }

    /// Says that it is not known what a register holds; in a frame that was met in the middle.
    pub fn forget(&mut self, register: Register) {
        self.writers[register as usize] = UNSET;
    }

    /// Says which step made the value of a register.
    pub fn make(&mut self, register: Register) {
        self.writers[register as usize] = self.step;
    }

    /// The number that a source gives, of `size` bytes, at most 8.
    #[inline]
    pub fn number_at(&self, source: ValueSource, bytes: &[u8], size: u32) -> Option<u64> {
        match source {
            ValueSource::Item(offset) => number(bytes, offset, size),
            ValueSource::Register(register) => self.value(register),
            ValueSource::Constant(constant) => Some(constant.cast_unsigned()),
            ValueSource::Nowhere => None,
        }
    }

    /// A call of a function that is not instrumented, which has not come back, and its arguments.
    pub fn pending(&self) -> Option<(&NativeCall, [Option<u64>; 8])> {
        let external = self.external.as_ref()?;
        Some((self.external_call(external), external.given()))
    }

    /// The call that a function of others was called by.
    pub fn external_call<'c>(&'c self, external: &'c External) -> &'c NativeCall {
        external.found.as_deref().unwrap_or_else(|| self.call(external.call))
    }

    /// The step that decided that the current statement runs.
    #[inline]
    pub fn decider(&self) -> Step {
        self.regions.decider().unwrap_or(self.caller)
    }

    /// What the region of its call is called.
    pub fn base(&self) -> Index {
        self.regions.base()
    }

    /// What the current step is called; `None` before the first.
    pub fn index(&self) -> Option<Index> {
        self.regions.index()
    }

    /// What a function that the current step calls next is called.
    pub fn next_call(&mut self, key: u64) -> Index {
        self.regions.call(key)
    }

    /// A block is entered.
    #[inline]
    pub fn enter(&mut self, block: BlockId) {
        self.block_before = self.block;
        self.block = block;
        let is_back = self.shape.flow.goes_back[block.0 as usize].contains(&self.block_before);
        self.regions.enter(block, is_back);
    }

    /// An exception comes to the frame, and goes on at the block `pad`. The call decides that what follows runs, as it would
    /// if it had not thrown.
    pub fn land(&mut self, pad: BlockId) {
        self.external = None;
        self.returned = Step::START;
        self.choices.clear();
        let shape = Arc::clone(&self.shape);
        self.regions.leave(|block| shape.flow.is_after(pad, block));
        self.decide(shape.flow.meeting(self.block, pad));
    }

    /// A step begins.
    #[inline]
    pub fn begin(&mut self, step: Step, statement: u32) {
        self.step = step;
        self.statement = statement;
        self.regions.begin(self.shape.keys.statements.get(statement as usize).copied());
    }

    /// The current step decides what runs until `end`.
    #[inline]
    pub fn decide(&mut self, end: Option<BlockId>) {
        self.regions.decide(self.step, end);
    }

    /// The current step chooses, with others, what a phi of this block is.
    pub fn choose(&mut self, block: BlockId) {
        self.choices.push((block, self.step));
    }

    /// The next decision that chose what a phi of the current block is, each once.
    pub fn chosen(&mut self) -> Option<Step> {
        let found = self.choices.iter().position(|(block, _)| *block == self.block)?;
        Some(self.choices.remove(found).1)
    }

    /// A function that returns twice returned before this segment, see [`Regions::mark`].
    pub fn mark(&mut self, segment: u32, is_first: bool) {
        if !is_first {
            self.choices.clear();
        }
        self.regions.mark(segment, is_first);
    }

    /// The current statement.
    pub fn current(&self) -> &FunctionStatement {
        &self.shape.statements[self.statement as usize]
    }

    /// The instructions of the current statement.
    pub fn instructions(&self) -> &[Instruction] {
        self.shape.instructions(self.current())
    }

    /// Where the current statement begins.
    pub fn place(&self) -> Option<&Place> {
        self.current().place.as_ref()
    }

    /// A call of the function.
    pub fn call(&self, index: u32) -> &NativeCall {
        &self.shape.calls[index as usize]
    }
}

/// A little-endian number of at most 8 bytes.
#[inline]
pub fn number(bytes: &[u8], offset: u32, size: u32) -> Option<u64> {
    let at = offset as usize;
    if size == 8 {
        return bytes.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
    }
    if size == 4 {
        return bytes.get(at..)?.first_chunk().map(|bytes| u64::from(u32::from_le_bytes(*bytes)));
    }
    let bytes = bytes.get(at..at + size.min(8) as usize)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// A number that may be a negative one of 32 bits.
pub fn narrow(number: u64) -> i64 {
    u32::try_from(number).map_or(number.cast_signed(), |number| number.cast_signed().into())
}
