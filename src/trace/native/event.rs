//! Events: what a step does between two moments at which another step could run. A step without calls is one event; a
//! step that calls functions of the program has one more for each call that came back.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use crate::instrument::{Instruction, OperandValue, Segment, ValueId};
use crate::native::{
    Crash, FunctionShape, NativeCall, NativeFrame, NativeMachine, RecordAction, Register, UsedThing, Watch,
};
use crate::{BlockId, Step};

/// The longest range of which each byte is noted.
const MAX_RANGE: u64 = 4096;

/// When an event happened: the number of the record, from 1; and the step that it begins, 0 if it goes on with one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventTime(pub u64, pub u32);

/// Bytes of memory, each with the step that wrote it last; `None` for a byte that is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looked {
    /// Where they are.
    pub address: u64,
    /// How many.
    pub length: u64,
    /// The bytes; none of them if there are too many.
    pub bytes: Vec<(Option<u8>, Step)>,
}

/// Something that an event does to memory, in the order of the actions of its record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventAccess {
    /// Whether it is a single load, store or atomic operation.
    pub is_single: bool,
    /// The bytes of that; 0 for others.
    pub size: u32,
    /// Where a load, or a store, is; `None` if that is not known.
    pub address: Option<u64>,
    /// What was read, of at most 8 bytes.
    pub value: Option<u64>,
    /// The steps that wrote it.
    pub makers: Vec<Step>,
    /// Ranges that were read, and single values of which several steps wrote bytes.
    pub looked: Vec<Looked>,
    /// Ranges that were written.
    pub written: Vec<(u64, u64)>,
    /// For each of these the range, by its index, of which it is a copy.
    pub copied: Vec<Option<usize>>,
}

/// A call that came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Back {
    /// The last step of a function of the program; [`Step::START`] if the function is not instrumented.
    pub returned: Step,
    /// The function that is not instrumented, with its arguments.
    pub library: Option<(NativeCall, Vec<Option<u64>>)>,
    /// What it did.
    pub access: EventAccess,
}

/// What a step does between two moments.
#[derive(Debug, Clone)]
pub struct StepEvent {
    /// When.
    pub moment: EventTime,
    /// The step.
    pub step: Step,
    /// The number of its frame.
    pub frame: u64,
    /// Its function.
    pub shape: Arc<FunctionShape>,
    /// Its statement.
    pub statement: u32,
    /// The number of its segment.
    pub segment: u32,
    /// Its block and the one before.
    pub block: BlockId,
    /// See [`block`](Self::block).
    pub block_before: BlockId,
    /// Its instructions in the block.
    pub range: Range<usize>,
    /// The record.
    pub record: Rc<[u8]>,
    /// The decision, or the call, that let the step run.
    pub decider: Step,
    /// The step that called the function.
    pub caller: Step,
    /// Loads, stores and atomic operations by their order.
    pub accesses: Vec<EventAccess>,
    /// Structures that were passed in memory and arrive.
    pub received: Vec<EventAccess>,
    /// The call that came back.
    pub back: Option<Back>,
    /// Values of other statements that it uses, and who made them.
    pub temporaries: Vec<(Register, Step)>,
    /// The decisions that chose among values: by `&&`, `||` or `?:`.
    pub choices: Vec<Step>,
    /// The numbers that its registers hold.
    pub known: HashMap<ValueId, u64>,
    /// The crash that it ends with.
    pub crash: Option<Crash>,
    /// Whether it runs a function of a library, which has no steps of its own.
    pub is_quiet: bool,
}

impl StepEvent {
    /// The instructions of its block.
    pub fn block_instructions(&self) -> &[Instruction] {
        &self.shape.body.function.block(self.block).instructions
    }

    /// Its segment.
    pub fn segment(&self) -> &Segment {
        self.shape.body.segment(self.segment)
    }

    /// All that it does to memory.
    pub fn all_accesses(&self) -> impl DoubleEndedIterator<Item = &EventAccess> {
        let back = self.back.as_ref().map(|back| &back.access);
        self.received.iter().chain(back).chain(&self.accesses)
    }

    /// Whether it writes a byte of a range.
    pub fn writes(&self, address: u64, length: u64) -> bool {
        let overlaps = |(begin, n): &(u64, u64)| *begin < address.saturating_add(length) && address < begin + n;
        self.all_accesses().any(|access| access.written.iter().any(overlaps))
    }

    /// Whether it ends with a call of a function, or with a return.
    pub fn last(&self) -> Option<&Instruction> {
        self.block_instructions().get(self.range.clone()).and_then(<[_]>::last)
    }
}

/// Takes events down.
pub struct Collector {
    /// The events that are over, in order.
    pub events: Vec<StepEvent>,
    open: Option<StepEvent>,
    /// Where what is read and written next belongs to.
    at: EventPlace,
    record: u64,
    /// The last record that is wanted, and the last one that was seen.
    until: u64,
    seen: u64,
}

/// Where a fact of the machine belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum EventPlace {
    #[default]
    Nowhere,
    Access,
    Received,
    Back,
}

impl Collector {
    /// Takes down events up to this record, and the rest of it.
    pub fn new(until: u64) -> Self {
        Self { events: Vec::new(), open: None, at: EventPlace::Nowhere, record: 0, until, seen: 0 }
    }

    /// Ends the open event.
    pub fn close(&mut self, machine: &NativeMachine) {
        let Some(mut event) = self.open.take() else { return };
        let frame = machine.all_frames().find(|frame| frame.number == event.frame);
        if let Some(frame) = frame {
            event.known = known(&event, frame);
        }
        self.at = EventPlace::Nowhere;
        self.events.push(event);
    }

    fn open(&mut self, machine: &NativeMachine, begun: u32) {
        self.close(machine);
        self.record = machine.n_records;
        let Some(frame) = machine.frame() else { return };
        let shape = &frame.shape;
        // A frame that was met in the middle is in no segment yet.
        let number = frame.segment.wrapping_sub(shape.body.first) as usize;
        let Some(segment) = shape.body.segments.segments.get(number) else { return };
        let statement = frame.current();
        let is_here = statement.block == segment.block && !shape.is_quiet;
        let (mut first, mut end) = (segment.first, segment.end);
        if is_here {
            (first, end) = (first.max(if begun == 0 { first } else { statement.first }), end.min(statement.end));
        }
        self.open = Some(StepEvent {
            moment: EventTime(machine.n_records, begun),
            step: frame.step,
            frame: frame.number,
            shape: Arc::clone(shape),
            statement: frame.statement,
            segment: frame.segment,
            block: segment.block,
            block_before: frame.block_before,
            range: first..end.max(first),
            record: Rc::new([]),
            decider: frame.decider(),
            caller: frame.caller,
            accesses: Vec::new(),
            received: Vec::new(),
            back: None,
            temporaries: Vec::new(),
            choices: Vec::new(),
            known: HashMap::new(),
            crash: None,
            is_quiet: shape.is_quiet,
        });
    }

    /// What is done to memory now, if a step does it whose event is open.
    fn access(&mut self, step: Step) -> Option<&mut EventAccess> {
        let event = self.open.as_mut().filter(|event| event.step == step)?;
        match self.at {
            EventPlace::Nowhere => None,
            EventPlace::Access => event.accesses.last_mut(),
            EventPlace::Received => event.received.last_mut(),
            EventPlace::Back => event.back.as_mut().map(|back| &mut back.access),
        }
    }
}

/// The numbers of the values that an event uses, as its frame has them.
fn known(event: &StepEvent, frame: &NativeFrame) -> HashMap<ValueId, u64> {
    let body = &event.shape.body;
    let instructions = event.block_instructions().get(event.range.clone()).unwrap_or_default();
    let mut known = HashMap::new();
    for instruction in instructions {
        let operands = instruction.operands.iter().map(|operand| &operand.value);
        let pointer = instruction.pointer().map(OperandValue::Local);
        for value in operands.chain(&pointer).filter(|value| body.segments.is_known(value)) {
            let OperandValue::Local(id) = value else { continue };
            if let Some(number) = event.shape.registers.get(id).and_then(|register| frame.given(*register)) {
                known.insert(*id, number);
            }
        }
    }
    known
}

fn empty(size: u32) -> EventAccess {
    EventAccess { is_single: size > 0, size, ..EventAccess::default() }
}

/// The bytes of a range with their writers.
fn looked(machine: &NativeMachine, address: u64, length: u64) -> Looked {
    let mut bytes = Vec::new();
    if length <= MAX_RANGE {
        for at in 0..length {
            let address = address.wrapping_add(at);
            let mut writer = Step::START;
            machine.memory.writers(address, 1, |found| writer = found);
            bytes.push((machine.memory.word(address, 1).and_then(|(byte, _)| u8::try_from(byte).ok()), writer));
        }
    }
    Looked { address, length, bytes }
}

impl Watch for Collector {
    fn step(&mut self, machine: &NativeMachine) {
        self.open(machine, machine.n_steps);
    }

    fn enters(&mut self, machine: &NativeMachine) {
        self.close(machine);
    }

    fn leaves(&mut self, machine: &NativeMachine, _is_return: bool) {
        self.close(machine);
        self.seen = machine.n_records;
    }

    fn block(&mut self, machine: &NativeMachine) {
        self.seen = machine.n_records;
    }

    fn is_done(&self) -> bool {
        self.seen >= self.until
    }

    fn acts(&mut self, machine: &NativeMachine, action: &RecordAction, record: &[u8]) {
        self.seen = machine.n_records;
        if let RecordAction::Step(_) = action {
            self.close(machine);
            return;
        }
        if self.open.is_none() || self.record != machine.n_records {
            self.open(machine, 0);
        }
        let Some(frame) = machine.frame() else { return };
        let Some(event) = &mut self.open else { return };
        if event.record.is_empty() {
            event.record = record.into();
        }
        self.at = match action {
            RecordAction::Load { size, .. }
            | RecordAction::LoadPlain { size, .. }
            | RecordAction::Store { size, .. }
            | RecordAction::StorePlain { size, .. }
            | RecordAction::Update { size, .. }
            | RecordAction::Exchange { size, .. } => {
                event.accesses.push(empty(*size));
                EventPlace::Access
            }
            RecordAction::Copy { .. } | RecordAction::Fill { .. } => {
                event.accesses.push(empty(0));
                EventPlace::Access
            }
            RecordAction::Receive { .. } => {
                event.received.push(empty(0));
                EventPlace::Received
            }
            RecordAction::Back { call, .. } => {
                let external = frame.external.as_ref();
                let library = external.map(|external| {
                    let call = frame.external_call(external).clone();
                    let given = external.given();
                    let arguments = given[..call.arguments.len().min(given.len())].to_vec();
                    (call, arguments)
                });
                let returned = if library.is_some() { Step::START } else { frame.returned };
                // A function that is not known at all did whatever it did.
                let library = library.or_else(|| {
                    let call = frame.call(*call);
                    (returned == Step::START).then(|| (call.clone(), vec![None; call.arguments.len()]))
                });
                event.back = Some(Back { returned, library, access: empty(0) });
                EventPlace::Back
            }
            RecordAction::Use { register, from } => {
                if from.is_none_or(|from| from == frame.block_before) {
                    event.temporaries.push((*register, frame.writer(*register)));
                }
                EventPlace::Nowhere
            }
            _ => EventPlace::Nowhere,
        };
    }

    fn uses(&mut self, user: Step, maker: Step, what: UsedThing) {
        if what == UsedThing::Decision
            && let Some(event) = self.open.as_mut().filter(|event| event.step == user)
        {
            event.choices.push(maker);
        }
        if let UsedThing::Memory(..) | UsedThing::Address(..) = what
            && let Some(access) = self.access(user)
        {
            access.makers.push(maker);
        }
    }

    fn reads(&mut self, machine: &NativeMachine, step: Step, address: u64, bytes: &[u8]) {
        let Some(access) = self.access(step) else { return };
        access.address = Some(address);
        let mut word = [0; 8];
        if let Some(place) = word.get_mut(..bytes.len()) {
            place.copy_from_slice(bytes);
            access.value = Some(u64::from_le_bytes(word));
        }
        if access.makers.len() > 1 {
            access.looked.push(looked(machine, address, bytes.len() as u64));
        }
    }

    fn looks(&mut self, machine: &NativeMachine, step: Step, address: u64, length: u64) {
        if let Some(access) = self.access(step) {
            access.looked.push(looked(machine, address, length));
        }
    }

    fn writes(&mut self, _machine: &NativeMachine, step: Step, address: u64, length: u64) {
        let Some(access) = self.access(step) else { return };
        access.address = access.address.or(Some(address));
        // A copy is read right before it is written.
        let is_copy = !access.is_single && access.looked.len() > access.copied.iter().flatten().count();
        let last = access.looked.len().checked_sub(1);
        access.copied.push(last.filter(|last| is_copy && access.looked[*last].length == length));
        access.written.push((address, length));
    }

    fn crashes(&mut self, machine: &NativeMachine, crash: &Crash) {
        if self.open.is_none() || self.record != machine.n_records {
            self.open(machine, 0);
        }
        if let Some(event) = &mut self.open {
            event.crash = Some(*crash);
        }
    }
}
