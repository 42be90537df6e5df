//! A process as its records move it on: frames, memory, steps, and what depends on what.
//!
//! - The **data dominators** of a step are the steps that wrote last what it reads: bytes of memory, values of variables, temporary values of
//!   other statements, arguments, what a call returned.
//! - The **control dominator** of a step is the last decision in its frame whose region it is in, else the call of its frame (see [`Regions`](crate::regions::Regions)).
//!
//! Nothing is kept of what was; a [`Watch`] is told as it happens.

use std::collections::HashMap;
use std::sync::Arc;

pub use crate::detail::UsedThing;
use crate::instrument::SegmentKind;
use crate::native::atomic::updated;
use crate::native::blame::Remembered;
pub use crate::native::call::NativeCall;
use crate::native::effect::CallEffect;
pub use crate::native::fault::Crash;
pub use crate::native::frame::NativeFrame;
use crate::native::frame::number;
use crate::native::globals::Globals;
use crate::native::heap::Heap;
use crate::native::list::StartedList;
use crate::native::records::NativeRecord;
pub use crate::native::shape::RecordAction;
use crate::native::stream::{NativeStream, StreamOutput};
use crate::native::{External, FunctionShape, NativeMemory, Next, ValueSource};
use crate::stat::ValueCheck;
use crate::watch::watch;
use crate::{Index, Step, TraceError};

/// Frames deeper than this are damage, not recursion.
const MAX_DEPTH: usize = 50_000_000;

watch! {
    /// Who wants to know what happens; all methods do nothing unless they are given.
    ///
    /// The machine is compiled twice: for [`Nobody`], and for all others.
    pub trait Watch {
        /// A step begins: the current one of the last frame.
        fn step(&mut self, machine: &NativeMachine);
        /// A step uses what another one made.
        fn uses(&mut self, user: Step, maker: Step, what: UsedThing);
        /// A step has read bytes.
        fn reads(&mut self, machine: &NativeMachine, step: Step, address: u64, bytes: &[u8]);
        /// A step has written bytes.
        fn writes(&mut self, machine: &NativeMachine, step: Step, address: u64, length: u64);
        /// The last frame is new.
        fn enters(&mut self, machine: &NativeMachine);
        /// The last frame is left, by `return` if so.
        fn leaves(&mut self, machine: &NativeMachine, is_return: bool);
        /// The last frame enters a block.
        fn block(&mut self, machine: &NativeMachine);
        /// A step has used a range of memory whose bytes are not recorded.
        fn looks(&mut self, machine: &NativeMachine, step: Step, address: u64, length: u64);
        /// A function of the program came back to the last frame.
        fn returned(&mut self, machine: &NativeMachine, result: Option<u64>);
        /// The last frame is about to do something, which a record stands for.
        fn acts(&mut self, machine: &NativeMachine, action: &RecordAction, record: &[u8]);
        /// The current step of the last frame crashed: it is the last thing that the thread did there.
        fn crashes(&mut self, machine: &NativeMachine, crash: &Crash);
        /// A function that is not instrumented came back; an argument may be unknown in a frame that was met in the middle.
        fn called(&mut self, machine: &NativeMachine, call: &NativeCall, arguments: &[Option<u64>], result: Option<u64>);
    }
}

/// What a call left in a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockContent {
    /// Nothing.
    Unwritten,
    /// Bytes that are not known.
    Written,
    /// This text, and a zero byte.
    Text(Vec<u8>),
    /// What several calls printed, and a zero byte.
    Printed(Vec<StreamOutput>),
}

/// A pointer that a function wrote, and that is not known before it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Awaited {
    /// Where it is.
    pub place: u64,
    /// Bytes of the block that it points to.
    pub length: u64,
    /// Whose call it was.
    pub step: Step,
    /// What the call left in the block.
    pub content: BlockContent,
}

/// A process.
#[derive(Debug, Clone, Default)]
pub struct NativeMachine {
    /// The thread that runs.
    pub thread: u32,
    /// Its frames, the first called first.
    pub frames: Vec<NativeFrame>,
    others: HashMap<u32, Vec<NativeFrame>>,
    spare: Vec<NativeFrame>,
    /// Its memory.
    pub memory: NativeMemory,
    /// The blocks of its heap.
    pub heap: Heap,
    /// Records taken so far.
    pub n_records: u64,
    /// Steps so far.
    pub n_steps: u32,
    /// Frames so far.
    pub n_frames: u64,
    /// Events so far, see [`ShapePiece::n_events`](crate::native::shape::ShapePiece::n_events).
    pub n_events: u64,
    /// Whether what came before the first record is not known.
    pub is_window: bool,
    /// What the check of values found.
    pub check: ValueCheck,
    /// The address of the arguments, and their number, as `main` got them.
    pub words: Option<(u64, u64)>,
    /// The addresses of `std::cout`, and of `std::cerr` and `std::clog`, as far as the program names them.
    pub ostreams: (Option<u64>, [Option<u64>; 2]),
    /// Where the texts of the arguments begin, and these, each ended by a zero byte; `None` until a read has shown it.
    pub texts: Option<(u64, Arc<[u8]>)>,
    pub(super) lists: Vec<StartedList>,
    /// The streams whose other end is memory of the program.
    pub(super) streams: HashMap<u64, NativeStream>,
    /// Where `strtok` goes on, by where the position is kept; 0 if the library keeps it.
    pub(super) tokens: HashMap<u64, u64>,
    pub(super) remembered: Remembered,
    awaited: Vec<Awaited>,
    /// Whether something in memory becomes known when a pointer is read.
    is_awaiting: bool,
    /// A function that returned to a frame that was not met yet, if it did in the last record: when, its name, and its last step.
    left: Option<(u64, Arc<str>, Step)>,
    /// The arguments of the program, each ended by a zero byte; `None` once a read has shown where they are in memory.
    arguments: Option<Arc<[u8]>>,
    /// The same, always.
    pub given: Arc<[u8]>,
    /// Its global variables.
    pub globals: Arc<Globals>,
}

impl NativeMachine {
    /// The current frame.
    pub fn frame(&self) -> Option<&NativeFrame> {
        self.frames.last()
    }

    /// The frames of all threads.
    pub fn all_frames(&self) -> impl Iterator<Item = &NativeFrame> {
        self.frames.iter().chain(self.others.values().flatten())
    }

    /// Takes a record of a function in.
    #[inline]
    pub fn take<W: Watch + ?Sized>(
        &mut self,
        shape: &Arc<FunctionShape>,
        record: &NativeRecord<'_>,
        watch: &mut W,
    ) -> Result<(), TraceError> {
        self.take_until(shape, record, usize::MAX, watch)
    }

    /// Takes the first actions of a record in; if there are more, the program came no further.
    pub fn take_until<W: Watch + ?Sized>(
        &mut self,
        shape: &Arc<FunctionShape>,
        record: &NativeRecord<'_>,
        n_actions: usize,
        watch: &mut W,
    ) -> Result<(), TraceError> {
        if record.thread != self.thread {
            let frames = self.others.remove(&record.thread).unwrap_or_default();
            let before = std::mem::replace(&mut self.frames, frames);
            self.others.insert(self.thread, before);
            self.thread = record.thread;
        }
        let jumper = self.frames.last().map_or(Step::START, |frame| frame.step);
        self.n_records += 1;
        let piece = shape.piece(record.segment);
        if shape.is_readback {
            return self.take_back(&piece.actions, record.bytes);
        }
        self.n_events += u64::from(piece.n_events);
        if piece.kind == SegmentKind::Entry {
            self.enter(shape, watch)?;
        } else {
            self.resume(shape, record, piece.frame, watch)?;
        }
        let frame = self.frames.last_mut().ok_or_else(|| TraceError::Damaged("a record without a frame"))?;
        if let Some(offset) = piece.frame {
            frame.address = number(record.bytes, offset, 8).unwrap_or(0);
        }
        let is_next = record.segment == frame.segment + 1;
        frame.segment = record.segment;
        match piece.kind {
            SegmentKind::Block => {
                if piece.is_landing {
                    frame.land(piece.block);
                    // The call came to what the last step of the frame that was left did, as if it had returned that.
                    let caller = frame.step;
                    if caller != jumper {
                        watch.uses(caller, jumper, UsedThing::Returned);
                    }
                }
                if let Some(frame) = self.frames.last_mut() {
                    frame.enter(piece.block);
                }
                watch.block(self);
            }
            SegmentKind::AfterCall if piece.catches.is_some() => {
                if let Some(pad) = piece.catches {
                    frame.decide(frame.shape.flow.meeting(piece.block, pad));
                }
            }
            SegmentKind::AfterCall if piece.frame.is_some() => {
                frame.mark(record.segment, is_next);
                if !is_next {
                    // `longjmp` returns what it was given.
                    frame.returned = jumper;
                    self.begin(piece.resumes, watch)?;
                }
            }
            _ => {}
        }
        for action in &piece.actions[..n_actions.min(piece.actions.len())] {
            watch.acts(self, action, record.bytes);
            self.act(*action, shape, record.bytes, watch)?;
        }
        if n_actions < piece.actions.len() {
            return Ok(());
        }
        match piece.next {
            Next::Straight => {}
            Next::Decided(end) => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.decide(end);
                    if let Some(block) = piece.chooses {
                        frame.choose(block);
                    }
                }
            }
            Next::Returned(_) => self.leave(true, watch),
        }
        Ok(())
    }

    fn enter<W: Watch + ?Sized>(&mut self, shape: &Arc<FunctionShape>, watch: &mut W) -> Result<(), TraceError> {
        if self.frames.len() >= MAX_DEPTH {
            return Err(TraceError::Damaged("too many functions call each other"));
        }
        let mut caller = Step::START;
        let mut unnamed = None;
        if let Some(frame) = self.frames.last_mut() {
            caller = frame.step;
            frame.returned = Step::START;
            if let Some(mut external) = frame.external.take() {
                let name = frame.external_call(&external).name.as_deref();
                if name.is_some_and(|name| name != &*shape.body.function.name) {
                    // An unknown function calls back, and goes on later.
                    external.is_entered = true;
                    frame.external = Some(external);
                    frame.passed.clear();
                } else {
                    unnamed = external.unnamed(frame.external_call(&external));
                }
            }
        }
        self.push(shape, caller);
        if let Some(frame) = self.frames.last_mut() {
            frame.unnamed = unnamed;
        }
        watch.enters(self);
        Ok(())
    }

    /// A process with these arguments, each ended by a zero byte.
    pub fn new(arguments: &[u8]) -> Self {
        Self { given: arguments.into(), arguments: Some(arguments.into()), ..Self::default() }
    }

    /// The arguments lie behind each other in memory, so one pointer to them tells where all are.
    fn find_arguments(&mut self, place: u64, pointer: u64) {
        let (Some((array, n)), Some(arguments)) = (self.words, &self.arguments) else { return };
        if pointer == 0 || place < array || place >= array.saturating_add(n.saturating_mul(8)) {
            return;
        }
        let index = usize::try_from((place - array) / 8).unwrap_or(usize::MAX);
        let before: usize = arguments.split_inclusive(|byte| *byte == 0).take(index).map(<[u8]>::len).sum();
        if let Some(begin) = pointer.checked_sub(before as u64) {
            let texts = Arc::clone(arguments);
            self.memory.write(begin, &texts, Step::START);
            self.texts = Some((begin, texts));
        }
        self.arguments = None;
    }

    fn find_words(&mut self) {
        let frame = self.frames.last();
        let parameter = |index: usize| frame?.given((*frame?.shape.parameters.get(index)?)?);
        if let (Some(n), Some(array)) = (parameter(0), parameter(1)) {
            self.words = Some((array, n));
            self.is_awaiting = true;
        }
    }

    fn push(&mut self, shape: &Arc<FunctionShape>, caller: Step) {
        let key = shape.keys.function;
        let root = Index::root(self.thread).below(key);
        let base = self.frames.last_mut().map_or(root, |frame| frame.next_call(key));
        let mut frame = match self.spare.pop() {
            Some(mut frame) => {
                frame.renew(shape, self.n_frames, base);
                frame
            }
            None => NativeFrame::new(shape, self.n_frames, base),
        };
        self.n_frames += 1;
        frame.caller = caller;
        frame.step = caller;
        frame.statement = 0;
        self.frames.push(frame);
    }

    /// Leaves the last frame.
    fn leave<W: Watch + ?Sized>(&mut self, is_return: bool, watch: &mut W) {
        watch.leaves(self, is_return);
        if let (true, [.., caller, frame]) = (is_return, &self.frames[..])
            && caller.external.as_ref().is_some_and(|external| external.is_entered)
        {
            // What a library makes of what the functions that it calls return is not recorded.
            watch.uses(caller.step, frame.step, UsedThing::Returned);
        }
        if let Some(frame) = self.frames.pop() {
            match self.frames.last_mut() {
                Some(caller) => caller.returned = frame.step,
                None if is_return => {
                    self.left = Some((self.n_records, frame.shape.body.function.name.clone(), frame.step));
                }
                None => {}
            }
            if self.spare.len() < 64 {
                self.spare.push(frame);
            }
        }
    }

    /// Finds the frame of a record that enters none: frames above it were left by a jump.
    #[inline]
    fn resume<W: Watch + ?Sized>(
        &mut self,
        shape: &Arc<FunctionShape>,
        record: &NativeRecord<'_>,
        address: Option<u32>,
        watch: &mut W,
    ) -> Result<(), TraceError> {
        let is_here = |frame: &NativeFrame| frame.shape.index == shape.index;
        let address = match address {
            None if self.frames.last().is_some_and(is_here) => return Ok(()),
            None => None,
            Some(offset) => number(record.bytes, offset, 8),
        };
        // A frame that was met in the middle tells its address only now.
        let is_next =
            |frame: &NativeFrame| frame.is_partial && frame.address == 0 && record.segment == frame.segment + 1;
        let is_at = |frame: &NativeFrame| address.is_none_or(|address| frame.address == address || is_next(frame));
        let is_ours = |frame: &NativeFrame| is_here(frame) && is_at(frame);
        if let Some(found) = self.frames.iter().rposition(is_ours) {
            while self.frames.len() > found + 1 {
                self.check.n_unwound += 1;
                self.leave(false, watch);
            }
            return Ok(());
        }
        self.check.n_partial += 1;
        if self.is_window {
            // It was entered before the window, and so before all that is known: those were left by a jump.
            while !self.frames.is_empty() {
                self.check.n_unwound += 1;
                self.leave(false, watch);
            }
        }
        self.push(shape, Step::START);
        if let Some(frame) = self.frames.last_mut() {
            frame.is_partial = true;
            frame.place_plain_slots();
        }
        watch.enters(self);
        self.begin(0, watch)
    }

    fn begin<W: Watch + ?Sized>(&mut self, statement: u32, watch: &mut W) -> Result<(), TraceError> {
        if self.n_steps >= u32::MAX - 1 {
            return Err(TraceError::Damaged("there are more steps than there are numbers"));
        }
        self.n_steps += 1;
        let step = Step(self.n_steps);
        if let Some(frame) = self.frames.last_mut() {
            frame.begin(step, statement);
            if statement != 0 && self.words.is_none() && &*frame.shape.body.function.name == "main" {
                self.find_words();
            }
        }
        watch.step(self);
        Ok(())
    }

    #[inline]
    #[expect(clippy::too_many_lines, reason = "one arm for each action, in the loop that all the time goes into")]
    fn act<W: Watch + ?Sized>(
        &mut self,
        action: RecordAction,
        shape: &Arc<FunctionShape>,
        bytes: &[u8],
        watch: &mut W,
    ) -> Result<(), TraceError> {
        if let RecordAction::Step(statement) = action {
            self.begin(statement, watch)?;
            if statement == 0 && !shape.parameters.is_empty() {
                let frame = self.frames.last().ok_or_else(|| TraceError::Damaged("a record without a frame"))?;
                watch.uses(frame.step, frame.caller, UsedThing::Arguments);
            }
            return Ok(());
        }
        let frame = self.frames.last_mut().ok_or_else(|| TraceError::Damaged("a record without a frame"))?;
        let step = frame.step;
        match action {
            RecordAction::Step(_) | RecordAction::Divide { .. } => {}
            RecordAction::Set { register, offset, size } => {
                frame.set(register, number(bytes, offset, size).unwrap_or(0), step);
            }
            RecordAction::Slot { register, offset, size, is_plain } => {
                let address = number(bytes, offset, 8).unwrap_or(0);
                frame.set(register, address, step);
                if !is_plain {
                    self.memory.forget(address, size);
                }
            }
            RecordAction::LoadPlain { slot, value, size, to, is_address } => {
                let (address, maker) = (frame.value(slot).unwrap_or(0), frame.writer(value));
                let Some(held) = frame.value(value) else {
                    // The frame was met in the middle: what the variable holds is not known, nor what comes of it.
                    if let Some(to) = to {
                        frame.forget(to);
                    }
                    watch.uses(step, maker, read(is_address, address, u64::from(size)));
                    watch.looks(self, step, address, u64::from(size));
                    return Ok(());
                };
                if let Some(to) = to {
                    frame.set(to, held, step);
                }
                watch.uses(step, maker, read(is_address, address, u64::from(size)));
                watch.reads(self, step, address, &held.to_le_bytes()[..size as usize]);
            }
            RecordAction::StorePlain { slot, value, source, size } => {
                let address = frame.value(slot).unwrap_or(0);
                match frame.number_at(source, bytes, size) {
                    Some(number) if size < 8 => frame.set(value, number & ((1 << (8 * size)) - 1), step),
                    Some(number) => frame.set(value, number, step),
                    None => frame.forget(value),
                }
                watch.writes(self, step, address, u64::from(size));
            }
            RecordAction::Load { address, offset, size, to, is_address } => {
                let address = frame.number_at(address, bytes, 8);
                let content = piece_of(bytes, offset, size)?;
                if let (Some(to), true) = (to, size <= 8) {
                    frame.set(to, number(bytes, offset, size).unwrap_or(0), step);
                }
                if let Some(address) = address {
                    self.read(step, read(is_address, address, u64::from(size)), content, watch);
                }
            }
            RecordAction::Store { address, source, size } => {
                let Some(address) = frame.number_at(address, bytes, 8) else {
                    self.memory.doubt();
                    return Ok(());
                };
                match source {
                    ValueSource::Item(offset) => self.memory.write(address, piece_of(bytes, offset, size)?, step),
                    _ => match frame.number_at(source, bytes, size) {
                        Some(number) => {
                            let is_negative = number >> 63 == 1;
                            let mut content = [if is_negative { 0xff } else { 0 }; 64];
                            content[..8].copy_from_slice(&number.to_le_bytes());
                            self.memory.write(address, &content[..(size as usize).min(64)], step);
                        }
                        None => self.memory.define(address, u64::from(size), step),
                    },
                }
                watch.writes(self, step, address, u64::from(size));
            }
            RecordAction::Update { kind, address, operand, offset, size, to } => {
                let (address, operand) = (frame.number_at(address, bytes, 8), frame.number_at(operand, bytes, size));
                let before = number(bytes, offset, size).unwrap_or(0);
                if let Some(to) = to {
                    frame.set(to, before, step);
                }
                let Some(address) = address else {
                    self.memory.doubt();
                    return Ok(());
                };
                self.read(step, read(false, address, u64::from(size)), piece_of(bytes, offset, size)?, watch);
                match operand.and_then(|operand| updated(kind, before, operand, size)) {
                    Some(new) if size <= 8 => self.memory.write(address, &new.to_le_bytes()[..size as usize], step),
                    _ => self.memory.define(address, u64::from(size), step),
                }
                watch.writes(self, step, address, u64::from(size));
            }
            RecordAction::Exchange { address, new, offset, success, size } => {
                let (address, new) = (frame.number_at(address, bytes, 8), frame.number_at(new, bytes, size.min(8)));
                let Some(address) = address else {
                    self.memory.doubt();
                    return Ok(());
                };
                self.read(step, read(false, address, u64::from(size)), piece_of(bytes, offset, size)?, watch);
                if piece_of(bytes, success, 1)? != [0] {
                    match new {
                        Some(new) if size <= 8 => {
                            self.memory.write(address, &new.to_le_bytes()[..size as usize], step);
                        }
                        _ => self.memory.define(address, u64::from(size), step),
                    }
                    watch.writes(self, step, address, u64::from(size));
                }
            }
            RecordAction::Copy { to, from, length } => {
                let number = |source| frame.number_at(source, bytes, 8);
                match (number(to), number(from), number(length)) {
                    (Some(to), Some(from), Some(length)) => self.copy(step, to, from, length, watch),
                    (Some(to), None, Some(length)) => {
                        self.memory.define(to, length, step);
                        watch.writes(self, step, to, length);
                    }
                    _ => self.memory.doubt(),
                }
            }
            RecordAction::Fill { to, byte, length } => {
                let (to, length) = (frame.number_at(to, bytes, 8), frame.number_at(length, bytes, 8));
                let byte = frame.number_at(byte, bytes, 1);
                let (Some(to), Some(length)) = (to, length) else {
                    self.memory.doubt();
                    return Ok(());
                };
                match byte {
                    Some(byte) => self.memory.fill(to, byte.to_le_bytes()[0], length, step),
                    None => self.memory.define(to, length, step),
                }
                watch.writes(self, step, to, length);
            }
            RecordAction::BeginList { list } => {
                if let Some(address) = frame.number_at(list, bytes, 8) {
                    self.begin_list(address);
                }
            }
            RecordAction::CopyList { to, from } => {
                let (to, from) = (frame.number_at(to, bytes, 8), frame.number_at(from, bytes, 8));
                if let (Some(to), Some(from)) = (to, from) {
                    self.copy_list(to, from);
                }
            }
            RecordAction::Use { register, from } => {
                if from.is_none_or(|from| from == frame.block_before) {
                    watch.uses(step, frame.writer(register), UsedThing::Temporary);
                }
            }
            RecordAction::Choose => {
                while let Some(decision) = frame.chosen() {
                    watch.uses(step, decision, UsedThing::Decision);
                }
            }
            RecordAction::Make { register } => frame.make(register),
            RecordAction::Receive { parameter, register, length } => {
                let Some(to) = frame.value(register) else { return Ok(()) };
                let from = self.frames.iter().rev().nth(1).and_then(|caller| {
                    let passed = caller.passed.iter().find(|(index, _)| *index == parameter);
                    passed.map(|(_, from)| *from)
                });
                match from {
                    Some(from) => self.memory.copy(to, from, length, step),
                    None => self.memory.define(to, length, step),
                }
                watch.writes(self, step, to, length);
            }
            RecordAction::Call(index) => {
                frame.returned = Step::START;
                let call = &shape.calls[index as usize];
                frame.passed.clear();
                for (argument, _) in &call.copied {
                    let source = call.arguments[*argument as usize].source;
                    frame.passed.extend(frame.number_at(source, bytes, 8).map(|from| (*argument, from)));
                }
                frame.external = call.is_external.then(|| {
                    let (mut arguments, mut unknown) = ([0; 8], 0);
                    for (bit, (number, argument)) in arguments.iter_mut().zip(&call.arguments).enumerate() {
                        let found = frame.number_at(argument.source, bytes, argument.size.min(8));
                        unknown |= u8::from(frame.is_partial && found.is_none()) << bit;
                        *number = found.unwrap_or(0);
                    }
                    let found =
                        frame.number_at(call.pointer, bytes, 8).and_then(|at| self.globals.functions().get(&at));
                    let found = found.map(|name| Arc::new(call.of(name)));
                    External { call: index, arguments, unknown, is_entered: false, found }
                });
                if !frame.passed.is_empty() {
                    for (argument, from) in frame.passed.clone() {
                        let copied = call.copied.iter().find(|(index, _)| *index == argument);
                        if let Some((_, length)) = copied {
                            self.look(step, from, *length, watch);
                        }
                    }
                }
            }
            RecordAction::Back { call, offset, size, to } => {
                let result = offset.and_then(|offset| number(bytes, offset, size.min(8)));
                if let (Some(to), Some(result)) = (to, result) {
                    frame.set(to, result, step);
                }
                let mut returned = std::mem::replace(&mut frame.returned, Step::START);
                let external = frame.external.take();
                if frame.is_partial && external.is_none() && returned == Step::START {
                    returned = self.returned_unseen(&shape.calls[call as usize]);
                }
                match external {
                    Some(external) => self.come_back(shape, &external, result, watch),
                    None if returned != Step::START => {
                        if shape.calls[call as usize].result.is_some() {
                            watch.uses(step, returned, UsedThing::Returned);
                        }
                        watch.returned(self, result);
                    }
                    None => {}
                }
            }
        }
        Ok(())
    }

    /// Keeps what loads read back until the call whose memory it is comes back.
    fn take_back(&mut self, actions: &[RecordAction], bytes: &[u8]) -> Result<(), TraceError> {
        let called = self.frames.last_mut().filter(|frame| frame.external.is_some());
        let Some(frame) = called else { return Ok(()) };
        for action in actions {
            if let RecordAction::Load { address: ValueSource::Item(address), offset, size, .. } = *action {
                let address = number(bytes, address, 8).unwrap_or(0);
                frame.read_back.push((address, piece_of(bytes, offset, size)?.into()));
            }
        }
        Ok(())
    }

    #[inline]
    fn read<W: Watch + ?Sized>(&mut self, step: Step, what: UsedThing, bytes: &[u8], watch: &mut W) {
        let (UsedThing::Memory(address, _) | UsedThing::Address(address, _)) = what else { return };
        self.check.n_reads += 1;
        if self.is_awaiting && bytes.len() == 8 {
            self.found(address, number(bytes, 0, 8).unwrap_or(0));
        }
        if let Some(maker) = self.memory.expected(address, bytes) {
            watch.uses(step, maker, what);
            watch.reads(self, step, address, bytes);
            return;
        }
        let mut blame = self.remembered.blame(self.n_steps);
        let is_other = self.memory.read(
            address,
            bytes,
            |address, writer| blame.find(address, writer),
            |maker| watch.uses(step, maker, what),
        );
        if is_other {
            self.check.n_other += 1;
            self.check.n_reached += u64::from(blame.is_reached);
            self.check.n_after_call += u64::from(blame.is_after_call);
        }
        watch.reads(self, step, address, bytes);
    }

    /// Waits for a pointer to be read.
    pub fn await_pointer(&mut self, awaited: Awaited) {
        self.awaited.retain(|other| other.place != awaited.place);
        if awaited.place != 0 && self.awaited.len() < 1000 {
            self.awaited.push(awaited);
            self.is_awaiting = true;
        }
    }

    #[cold]
    pub(super) fn found(&mut self, place: u64, pointer: u64) {
        self.find_arguments(place, pointer);
        self.is_awaiting = !self.awaited.is_empty() || (self.words.is_some() && self.arguments.is_some());
        let Some(index) = self.awaited.iter().position(|awaited| awaited.place == place) else { return };
        let Awaited { length, step, content, .. } = self.awaited.swap_remove(index);
        if pointer == 0 {
            return;
        }
        if self.heap.find(pointer).is_none_or(|block| block.address != pointer || block.size < length) {
            self.heap.make(pointer, length, step);
        }
        match content {
            BlockContent::Unwritten => self.memory.forget(pointer, length),
            BlockContent::Written => self.memory.define(pointer, length, step),
            BlockContent::Text(mut text) => {
                text.push(0);
                self.memory.write(pointer, &text, step);
            }
            BlockContent::Printed(printed) => {
                let mut at = pointer;
                for (step, length, bytes) in printed {
                    match bytes {
                        Some(bytes) => self.memory.write(at, &bytes, step),
                        None => self.memory.define(at, length, step),
                    }
                    at = at.saturating_add(length);
                }
                self.memory.write(at, &[0], step);
            }
        }
    }

    /// A step copies bytes.
    pub fn copy<W: Watch + ?Sized>(&mut self, step: Step, to: u64, from: u64, length: u64, watch: &mut W) {
        self.look(step, from, length, watch);
        self.memory.copy(to, from, length, step);
        watch.writes(self, step, to, length);
    }

    /// A step reads a range whose bytes are not recorded.
    pub fn look<W: Watch + ?Sized>(&mut self, step: Step, address: u64, length: u64, watch: &mut W) {
        self.memory.writers(address, length, |maker| watch.uses(step, maker, UsedThing::Memory(address, length)));
        watch.looks(self, step, address, length);
    }

    /// The last step of a call that was open when its frame was met; the start if that is not known. What a library did then is not known either.
    fn returned_unseen(&mut self, call: &NativeCall) -> Step {
        let left = self.left.take().filter(|(n_records, _, _)| n_records + 1 == self.n_records);
        match left.filter(|(_, name, _)| call.name.as_ref() == Some(name)) {
            Some((_, _, step)) => return step,
            None if call.is_external => self.memory.doubt(),
            None => {}
        }
        Step::START
    }

    fn come_back<W: Watch + ?Sized>(
        &mut self,
        shape: &FunctionShape,
        external: &External,
        result: Option<u64>,
        watch: &mut W,
    ) {
        let call = external.found.as_deref().unwrap_or(&shape.calls[external.call as usize]);
        let read_back = self.frames.last_mut().map(|frame| std::mem::take(&mut frame.read_back)).unwrap_or_default();
        let step = self.frames.last().map_or(Step::START, |frame| frame.step);
        match call.model {
            Some(model) if external.unknown == 0 || !model.changes_anything() => {
                self.check.n_modelled += 1;
                let (arguments, read_back) = (&external.arguments, &read_back[..]);
                self.apply(model, &CallEffect { step, arguments, result, read_back }, watch);
            }
            Some(_) => {
                self.check.n_unmodelled += 1;
                self.memory.doubt();
            }
            None => self.check.n_unmodelled += 1,
        }
        self.remembered.add(step, external.arguments);
        let arguments = external.given();
        watch.called(self, call, &arguments[..call.arguments.len().min(arguments.len())], result);
    }
}

fn piece_of(bytes: &[u8], offset: u32, size: u32) -> Result<&[u8], TraceError> {
    bytes.get(offset as usize..(offset + size) as usize).ok_or_else(|| TraceError::Damaged("a record is cut short"))
}

/// A use of bytes of memory.
#[inline]
fn read(is_address: bool, address: u64, length: u64) -> UsedThing {
    if is_address { UsedThing::Address(address, length) } else { UsedThing::Memory(address, length) }
}

#[cfg(test)]
pub(crate) mod tests;
