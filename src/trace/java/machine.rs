//! A process as its records move it on: activations, objects, steps, and what depends on what.
//!
//! - The **data dependences** of a step are the steps that wrote what it reads: locals, fields, elements, values that
//!   other steps left on the stack, arguments, results. Of an object of the [library] all that it holds is
//!   one place.
//! - The **control dependence** of a step is the last decision in its activation whose region it is in, else the call.
//!   What runs in an exception handler depends on the step that threw, up to where the handler meets the other ways.
//!
//! A record is confirmed before the code up to it runs. If it is not the one that the code leads to, an exception was
//! thrown: the code runs up to the instruction that threw.
//!
//! Nothing is kept of what was; a [`Watch`] is told as it happens.

use crate::instrument::java::descriptor::Kind;
use crate::instrument::java::operation::Operation;
use crate::instrument::java::operation::Shuffle;
use crate::instrument::java::operation::Test;
use crate::instrument::java::sites::Probe;
use crate::trace::TraceError;
use crate::trace::flow::BlockId;
use crate::trace::index::Index;
use crate::trace::java::arithmetic;
use crate::trace::java::frame::Fit;
use crate::trace::java::frame::Frame;
use crate::trace::java::library;
use crate::trace::java::memory::Location;
use crate::trace::java::memory::Memory;
use crate::trace::java::method::Callee;
use crate::trace::java::method::Method;
use crate::trace::java::method::NONE;
use crate::trace::java::method::Operand;
use crate::trace::java::objects::Kind as ObjectKind;
use crate::trace::java::objects::Objects;
use crate::trace::java::program::Program;
use crate::trace::java::streams::Record;
use crate::trace::java::value::Value;
use crate::trace::java::value::of_int;
use crate::trace::step::Step;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a step used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum What {
    /// What was at a place.
    Place(Location),
    /// A value that another step left on the stack.
    Temporary,
    /// The arguments of the call.
    Arguments,
    /// What a call returned.
    Returned,
    /// The exception.
    Exception,
}

/// Who wants to know what happens; all methods do nothing unless they are given. The frame is the last one of the
/// current thread; the machine has those below it.
#[expect(unused_variables, reason = "the names say what is given")]
pub trait Watch {
    /// A step begins.
    fn step(&mut self, machine: &Machine, frame: &Frame) {}
    /// A step uses what another one made.
    fn uses(&mut self, user: Step, maker: Step, what: What) {}
    /// A step has read a value.
    fn reads(&mut self, machine: &Machine, frame: &Frame, location: Location, value: Value) {}
    /// A step has written a value.
    fn writes(&mut self, machine: &Machine, frame: &Frame, location: Location, value: Value) {}
    /// The frame is new.
    fn enters(&mut self, machine: &Machine, frame: &Frame) {}
    /// The frame is left, by `return` if so, and with this result.
    fn leaves(&mut self, machine: &Machine, frame: &Frame, is_return: bool, result: Option<Value>) {}
    /// A method that is not recorded came back.
    fn called(&mut self, machine: &Machine, frame: &Frame, callee: &Callee, given: &[Value], result: Option<Value>) {}
    /// The current step threw an exception, or a call in it did.
    fn throws(&mut self, machine: &Machine, frame: &Frame) {}
    /// An exception was caught.
    fn catches(&mut self, machine: &Machine, frame: &Frame, exception: Value) {}
    /// Whether nothing more is wanted; asked after each record.
    fn is_done(&self) -> bool {
        false
    }
}

/// Nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nobody;

impl Watch for Nobody {}

/// The activations of a thread, the last one on top.
#[derive(Debug, Clone, Default)]
pub struct Thread {
    /// The activations.
    pub frames: Vec<Frame>,
    /// The step that threw the last exception.
    threw: Option<Step>,
}

/// A process.
pub struct Machine {
    /// The classes.
    pub program: Program,
    /// The threads, by their numbers.
    pub threads: BTreeMap<u32, Thread>,
    /// The thread of the last record.
    pub thread: u32,
    /// What objects hold.
    pub memory: Memory,
    /// The objects.
    pub objects: Arc<Objects>,
    /// The steps that have begun.
    pub n_steps: u32,
    /// The activations that have begun.
    pub n_frames: u64,
    /// The records that were taken.
    pub n_records: u64,
    /// The activations that an exception ended.
    pub n_unwound: u64,
    /// The values that were read from objects.
    pub n_reads: u64,
    /// Those of them that the recorded code had not written there last.
    pub n_other: u64,
    /// Those of these in objects that a call of the library had got since.
    pub n_reached: u64,
    /// The ways of decisions and the arguments that follow from what was interpreted before.
    pub n_derived: u64,
    /// Those of them that were recorded otherwise: something in the interpretation is wrong.
    pub n_wrong: u64,
    /// The new objects whose constructors have not returned, so far.
    n_new: u64,
}

/// Activations deeper than this are damage, not recursion.
const MAX_DEPTH: usize = 10_000_000;

/// Marks the bits of a new object before its constructor has run.
const NEW: u64 = 1 << 63;

impl Machine {
    /// A process before its first record.
    pub fn new(program: Program, objects: Arc<Objects>) -> Self {
        Self {
            program,
            threads: BTreeMap::new(),
            thread: 0,
            memory: Memory::default(),
            objects,
            n_steps: 0,
            n_frames: 0,
            n_records: 0,
            n_unwound: 0,
            n_reads: 0,
            n_other: 0,
            n_reached: 0,
            n_derived: 0,
            n_wrong: 0,
            n_new: 0,
        }
    }

    /// Goes back to before the first record.
    pub fn rewind(&mut self) {
        self.threads.clear();
        self.memory = Memory::default();
        (self.thread, self.n_steps, self.n_frames, self.n_records, self.n_unwound, self.n_new) = (0, 0, 0, 0, 0, 0);
        (self.n_reads, self.n_other, self.n_reached, self.n_derived, self.n_wrong) = (0, 0, 0, 0, 0);
    }

    /// Takes a record.
    ///
    /// Errors: no activation can have written it.
    pub fn take<W: Watch>(&mut self, record: Record, watch: &mut W) -> Result<(), TraceError> {
        self.thread = record.thread;
        self.n_records += 1;
        let (method, index) = self.program.site(record.site)?;
        let site = method.sites[index];
        match site.probe {
            Probe::Enter => self.enter(method, watch),
            Probe::Parameter(kind, local) => {
                self.parameter(&method, (kind, local), record.payload, watch);
                Ok(())
            }
            Probe::Handler => self.catch(&method, site.instruction, record.payload, watch),
            Probe::Leave => self.leave(&method, watch),
            Probe::Block | Probe::Monitor | Probe::This | Probe::Value(_) => {
                self.reach(&method, index, record.payload, watch)
            }
        }
    }

    fn pop(&mut self) -> Option<Frame> {
        self.threads.get_mut(&self.thread)?.frames.pop()
    }

    fn push(&mut self, frame: Frame) {
        self.threads.entry(self.thread).or_default().frames.push(frame);
    }

    /// The last activation of the current thread, between two records.
    pub fn frame(&self) -> Option<&Frame> {
        self.threads.get(&self.thread)?.frames.last()
    }

    /// The frames of the current thread; while a record is taken, those below the current one.
    pub fn frames(&self) -> &[Frame] {
        self.threads.get(&self.thread).map_or(&[], |thread| &thread.frames)
    }

    /// A method was entered.
    fn enter<W: Watch>(&mut self, method: Arc<Method>, watch: &mut W) -> Result<(), TraceError> {
        if self.frames().len() >= MAX_DEPTH {
            return Err(TraceError::Damaged("activations without an end"));
        }
        let is_initialiser = &*method.name == "<clinit>";
        let (mut caller, mut base, mut is_direct) = (Step::START, Index::root(self.thread), false);
        while let Some(mut frame) = self.pop() {
            let stop = frame.stop();
            if frame.returns() && !(is_initialiser && frame.may_initialise()) {
                self.go(&mut frame, stop, watch);
                self.returns(frame, watch);
                continue;
            }
            if stop != NONE && !is_initialiser && frame.pending.is_none() && !frame.is_waiting {
                if let Operand::Call(callee) = &frame.method.operands[stop as usize] {
                    let callee = Arc::clone(callee);
                    self.go(&mut frame, stop, watch);
                    let given = self.given(&mut frame, &callee, watch);
                    frame.pending = Some(given);
                }
            }
            if frame.pending.is_some()
                && let Some(Operand::Call(callee)) = frame.method.operands.get(frame.at as usize)
            {
                let member = &callee.member;
                is_direct = member.name == method.name
                    && member.descriptor == method.descriptor
                    && (!callee.is_constructor() || member.class == method.class);
            }
            caller = frame.step;
            base = frame.regions.call(method.keys.function);
            self.push(frame);
            break;
        }
        self.n_frames += 1;
        let mut frame = Frame::new(self.n_frames, method, base);
        (frame.caller, frame.is_direct) = (caller, is_direct);
        self.n_steps += 1;
        (frame.step, frame.entry) = (Step(self.n_steps), Step(self.n_steps));
        frame.regions.begin(frame.method.keys.statements.first().copied());
        watch.enters(self, &frame);
        watch.step(self, &frame);
        if caller != Step::START {
            watch.uses(frame.step, caller, What::Arguments);
        }
        // A constructor has its object from the caller, who has not got its number yet.
        if &*frame.method.name == "<init>" {
            let object = self.frames().last().and_then(|below| below.pending.as_ref()?.first().copied());
            if let (Some(object), Some(local)) = (object.filter(|_| is_direct), frame.locals.first_mut()) {
                *local = Value { maker: frame.entry, ..object };
            }
        }
        self.push(frame);
        Ok(())
    }

    /// A parameter of the method that was just entered.
    fn parameter<W: Watch>(&mut self, method: &Method, (kind, local): (Kind, u16), bits: u64, watch: &mut W) {
        let Some(mut frame) = self.pop() else { return };
        if frame.method.number == method.number && !frame.is_begun {
            let value = Value::of(bits, frame.entry);
            if frame.is_direct
                && let Some(given) = self.argument(&frame.method, local).filter(|given| given.is_known)
            {
                self.n_derived += 1;
                self.n_wrong += u64::from(given.bits != bits);
            }
            if let Some(slot) = frame.locals.get_mut(usize::from(local)) {
                *slot = value;
            }
            if kind == Kind::Reference && !frame.is_direct {
                let giver = value.object().and_then(|object| self.memory.giver(object));
                if let Some(giver) = giver {
                    watch.uses(frame.step, giver, What::Arguments);
                }
            }
            watch.writes(self, &frame, Location::Local(local), value);
        }
        self.push(frame);
    }

    /// What the caller gave for a local of a method that it called itself.
    fn argument(&self, method: &Method, local: u16) -> Option<Value> {
        let below = self.frames().last()?;
        let Operand::Call(callee) = below.method.operands.get(below.at as usize)? else { return None };
        let mut at = 0;
        let kinds = (!method.is_static).then_some(Kind::Reference).into_iter().chain(callee.parameters.iter().copied());
        let mut begins = kinds.map(|kind| {
            at += kind.n_slots();
            at - kind.n_slots()
        });
        let position = begins.position(|begin| begin == local)?;
        below.pending.as_ref()?.get(position).copied()
    }

    /// A record that follows in the code of an activation.
    fn reach<W: Watch>(
        &mut self,
        method: &Arc<Method>,
        index: usize,
        payload: u64,
        watch: &mut W,
    ) -> Result<(), TraceError> {
        let site = method.sites[index];
        let mut is_expected = false;
        while let Some(mut frame) = self.pop() {
            match frame.fits(method.number, &site) {
                Fit::Next => {
                    self.arrive(&mut frame, site.instruction, site.probe, payload, watch);
                    self.push(frame);
                    return Ok(());
                }
                Fit::Returns => {
                    let stop = frame.stop();
                    self.go(&mut frame, stop, watch);
                    self.returns(frame, watch);
                }
                Fit::Not => {
                    is_expected =
                        is_expected || self.frames().iter().any(|frame| frame.fits(method.number, &site) == Fit::Next);
                    if !is_expected {
                        self.push(frame);
                        break;
                    }
                    self.fail(&mut frame, watch);
                    self.leave_by_exception(frame, watch);
                }
            }
        }
        Err(TraceError::Damaged("a record that no activation can have written"))
    }

    /// Ends the activations above the last one of a method, because of an exception.
    ///
    /// Errors: there is none of it.
    fn unwind<W: Watch>(&mut self, method: &Method, watch: &mut W) -> Result<Frame, TraceError> {
        if !self.frames().iter().any(|frame| frame.method.number == method.number) {
            return Err(TraceError::Damaged("an exception in no activation"));
        }
        loop {
            let mut frame = self.pop().ok_or(TraceError::Damaged("an exception in no activation"))?;
            let is_here = frame.method.number == method.number;
            // A return is not recorded.
            if frame.returns() && (!is_here || !frame.may_throw()) && !frame.is_unguarded() {
                let stop = frame.stop();
                self.go(&mut frame, stop, watch);
                self.returns(frame, watch);
                continue;
            }
            self.fail(&mut frame, watch);
            if is_here {
                return Ok(frame);
            }
            // A constructor cannot record what leaves it before the one of the class that is extended has run.
            self.leave_by_exception(frame, watch);
        }
    }

    /// An exception leaves the last activation of a method.
    fn leave<W: Watch>(&mut self, method: &Method, watch: &mut W) -> Result<(), TraceError> {
        let frame = self.unwind(method, watch)?;
        self.leave_by_exception(frame, watch);
        Ok(())
    }

    /// An exception handler was entered.
    fn catch<W: Watch>(
        &mut self,
        method: &Arc<Method>,
        begin: u32,
        exception: u64,
        watch: &mut W,
    ) -> Result<(), TraceError> {
        let mut frame = self.unwind(method, watch)?;
        let threw = self.threads.get_mut(&self.thread).and_then(|thread| thread.threw.take()).unwrap_or(frame.step);
        frame.stack.clear();
        let value = Value::of(exception, threw);
        frame.stack.push(value);
        let blocks = &frame.method.blocks;
        let (from, to) = (blocks.of[frame.at as usize], blocks.of[begin as usize]);
        let end = if from == to { None } else { blocks.flow.meeting(to, from) };
        let is_ahead = |block: BlockId| block == to || blocks.flow.is_after(to, block);
        frame.regions.leave(is_ahead);
        frame.regions.decide(threw, end);
        (frame.at, frame.is_begun, frame.is_waiting, frame.block) = (begin, true, false, None);
        watch.catches(self, &frame, value);
        self.push(frame);
        Ok(())
    }

    /// Runs up to the instruction before which, or after which, something was recorded.
    fn arrive<W: Watch>(&mut self, frame: &mut Frame, instruction: u32, probe: Probe, payload: u64, watch: &mut W) {
        if frame.is_waiting {
            frame.is_waiting = false;
            return;
        }
        let stop = frame.stop();
        if frame.pending.is_none() {
            self.go(frame, stop, watch);
        }
        if !probe.is_before() {
            self.result(frame, probe, payload, watch);
        } else if frame.method.operations[stop as usize].is_decision() {
            self.decide(frame, instruction, watch);
        } else {
            self.run(frame, watch);
            frame.at = instruction;
        }
    }

    /// Runs up to an instruction, which is on the way, and begins the statement of that, if one begins there.
    fn go<W: Watch>(&mut self, frame: &mut Frame, stop: u32, watch: &mut W) {
        loop {
            self.begin(frame, watch);
            if frame.at == stop {
                return;
            }
            self.run(frame, watch);
            let next = frame.method.next[frame.at as usize];
            if next == NONE {
                return;
            }
            frame.at = next;
        }
    }

    /// Enters the block and begins the statement of the next instruction.
    #[inline]
    fn begin<W: Watch>(&mut self, frame: &mut Frame, watch: &mut W) {
        frame.is_begun = true;
        let statement = frame.method.starts[frame.at as usize];
        // A call that has not come back began before.
        if statement == 0 || frame.pending.is_some() {
            return;
        }
        if let Some(block) = frame.method.block_at(frame.at) {
            let goes_back = &frame.method.blocks.flow.goes_back[block.0 as usize];
            let is_back = frame.block.is_some_and(|from| goes_back.contains(&from));
            frame.regions.enter(block, is_back);
        }
        frame.block = Some(frame.method.blocks.of[frame.at as usize]);
        frame.statement = statement;
        frame.regions.begin(frame.method.keys.statements.get(statement as usize).copied());
        self.n_steps += 1;
        frame.step = Step(self.n_steps);
        watch.step(self, frame);
    }

    fn take_value<W: Watch>(&mut self, frame: &mut Frame, kind: Kind, watch: &mut W) -> Value {
        if kind.n_slots() == 2 {
            frame.stack.pop();
        }
        let value = frame.stack.pop().unwrap_or(Value::UNKNOWN);
        if value.maker != frame.step && value.maker != Step::START {
            watch.uses(frame.step, value.maker, What::Temporary);
        }
        value
    }

    fn put(frame: &mut Frame, kind: Kind, value: Value) {
        frame.stack.push(value);
        if kind.n_slots() == 2 {
            frame.stack.push(Value::UNKNOWN);
        }
    }

    fn made(frame: &Frame, bits: Option<u64>) -> Value {
        bits.map_or(Value { maker: frame.step, ..Value::UNKNOWN }, |bits| Value::of(bits, frame.step))
    }

    /// The values that a call takes from the stack, with its object first.
    fn given<W: Watch>(&mut self, frame: &mut Frame, callee: &Callee, watch: &mut W) -> Vec<Value> {
        let mut given: Vec<Value> =
            callee.parameters.iter().rev().map(|kind| self.take_value(frame, *kind, watch)).collect();
        if callee.has_object {
            given.push(self.take_value(frame, Kind::Reference, watch));
        }
        given.reverse();
        given
    }

    /// The result of the next instruction, which was recorded.
    fn result<W: Watch>(&mut self, frame: &mut Frame, probe: Probe, payload: u64, watch: &mut W) {
        let method = Arc::clone(&frame.method);
        let at = frame.at as usize;
        let (kind, value) = match probe {
            Probe::Value(Some(kind)) => (Some(kind), Some(Value::of(payload, frame.step))),
            Probe::This => (None, Some(Value::of(payload, frame.step))),
            _ => (None, None),
        };
        match (&method.operations[at], &method.operands[at]) {
            (_, Operand::Call(callee)) => self.comes_back(frame, callee, (probe, value), watch),
            (Operation::LoadStatic(_), Operand::Field(field, kind)) => {
                self.loads(frame, Location::Static(*field), (*kind, payload), watch);
            }
            (Operation::LoadField(_), Operand::Field(field, kind)) => {
                let object = self.take_value(frame, Kind::Reference, watch).object().unwrap_or(0);
                self.loads(frame, Location::Field(object, *field), (*kind, payload), watch);
            }
            (Operation::LoadElement(element), _) => {
                let index = self.take_value(frame, Kind::Int, watch).int().unwrap_or(-1);
                let array = self.take_value(frame, Kind::Reference, watch).object().unwrap_or(0);
                let location = Location::Element(array, index.cast_unsigned());
                self.loads(frame, location, (element.kind(), payload), watch);
            }
            (operation, _) => {
                let n_taken = match operation {
                    Operation::NewArrays(_, n) => usize::from(*n),
                    Operation::Constant(_) => 0,
                    _ => 1,
                };
                for _ in 0..n_taken {
                    self.take_value(frame, Kind::Int, watch);
                }
                let is_new = matches!(
                    operation,
                    Operation::NewArray(_) | Operation::NewBasicArray(_) | Operation::NewArrays(..)
                );
                if let Some(array) = value.and_then(Value::object).filter(|_| is_new) {
                    self.memory.bear(array, frame.step);
                }
                if let (Some(kind), Some(value)) = (kind, value) {
                    Self::put(frame, kind, value);
                }
            }
        }
        frame.at = method.next[at];
        if frame.at == NONE {
            frame.at = u32::try_from(at).unwrap_or(0);
        }
        frame.is_waiting = method.is_announced[frame.at as usize];
    }

    /// A value was read from an object.
    fn loads<W: Watch>(&mut self, frame: &mut Frame, location: Location, (kind, bits): (Kind, u64), watch: &mut W) {
        self.n_reads += 1;
        if self.memory.get(location).is_some_and(|value| value.is_known && value.bits != bits) {
            self.n_other += 1;
            let object = match location {
                Location::Field(object, _) | Location::Element(object, _) => Some(object),
                _ => None,
            };
            self.n_reached += u64::from(object.is_some_and(|object| self.memory.giver(object).is_some()));
        }
        let maker = self.memory.read(location, bits);
        if maker != Step::START {
            watch.uses(frame.step, maker, What::Place(location));
        }
        watch.reads(self, frame, location, Value::of(bits, maker));
        Self::put(frame, kind, Value::of(bits, frame.step));
    }

    /// A call came back.
    fn comes_back<W: Watch>(
        &mut self,
        frame: &mut Frame,
        callee: &Callee,
        (probe, value): (Probe, Option<Value>),
        watch: &mut W,
    ) {
        let given = match frame.pending.take() {
            Some(given) => given,
            None => self.given(frame, callee, watch),
        };
        if let Some(thread) = self.threads.get_mut(&self.thread) {
            // What was thrown in code that is not recorded was caught there.
            thread.threw = None;
        }
        let is_recorded = match frame.returned.take() {
            Some((step, is_direct)) => {
                watch.uses(frame.step, step, What::Returned);
                is_direct
            }
            None => false,
        };
        let object = value.and_then(Value::object);
        if callee.is_constructor() {
            if let (Some(new), Some(object)) = (given.first().filter(|new| !new.is_known), object) {
                self.name_new(frame, new.bits, object);
            }
            if let Some(object) = object {
                let maker = if probe == Probe::This { frame.caller } else { frame.step };
                self.memory.bear(object, maker);
            }
        }
        if !is_recorded {
            let result = value.filter(|_| probe != Probe::This);
            self.library(frame, callee, &given, result, watch);
        }
        // After a constructor, a copy of the object is there already.
        if let (Some(kind), Some(value), false) = (callee.result, value, callee.is_constructor()) {
            Self::put(frame, kind, value);
        }
    }

    /// Gives a new object its number wherever it is.
    fn name_new(&mut self, frame: &mut Frame, bits: u64, object: u32) {
        let name = |value: &mut Value| {
            if !value.is_known && value.bits == bits && bits & NEW != 0 {
                (value.bits, value.is_known) = (u64::from(object), true);
            }
        };
        frame.stack.iter_mut().chain(&mut frame.locals).for_each(name);
        if let Some(thread) = self.threads.get_mut(&self.thread) {
            for below in thread.frames.iter_mut().rev().take_while(|below| below.pending.is_some()) {
                let given = below.pending.iter_mut().flatten();
                below.stack.iter_mut().chain(&mut below.locals).chain(given).for_each(name);
            }
        }
    }

    /// A call of the library: what it does to the objects that it got.
    fn library<W: Watch>(
        &mut self,
        frame: &Frame,
        callee: &Callee,
        given: &[Value],
        result: Option<Value>,
        watch: &mut W,
    ) {
        let objects = Arc::clone(&self.objects);
        let is_read = library::only_reads(&callee.member.name);
        for (position, value) in given.iter().enumerate() {
            let Some(id) = value.object().filter(|id| *id != 0) else { continue };
            let Some(object) = objects.get(id) else { continue };
            if !library::is_mutable(object) {
                continue;
            }
            self.memory.give(id, frame.step);
            let is_object = callee.has_object && position == 0;
            if object.kind != ObjectKind::Array {
                if let Some(maker) = self.memory.state(id).or_else(|| self.memory.birth(id)) {
                    watch.uses(frame.step, maker, What::Place(Location::State(id)));
                    watch.reads(self, frame, Location::State(id), Value::of(u64::from(id), maker));
                }
            }
            let is_changed = object.kind == ObjectKind::Array || is_object || !callee.has_object;
            if is_changed && !is_read {
                self.memory.touch(id, frame.step);
                if object.kind != ObjectKind::Array {
                    watch.writes(self, frame, Location::State(id), Value::of(u64::from(id), frame.step));
                }
            }
        }
        if let Some(id) = result.filter(|_| callee.result == Some(Kind::Reference)).and_then(Value::object)
            && id != 0
            && self.memory.state(id).is_none()
            && self.memory.birth(id).is_none()
        {
            self.memory.touch(id, frame.step);
        }
        watch.called(self, frame, callee, given, result);
    }

    /// A decision went to an instruction.
    fn decide<W: Watch>(&mut self, frame: &mut Frame, way: u32, watch: &mut W) {
        let method = Arc::clone(&frame.method);
        let operation = &method.operations[frame.at as usize];
        let right = self.take_value(frame, Kind::Int, watch);
        let expected = match operation {
            Operation::Jump(test, to) => {
                let is_of_two = matches!(test, Test::Ints(_) | Test::Same(_));
                let left = if is_of_two { self.take_value(frame, Kind::Int, watch) } else { right };
                let right = if is_of_two { right } else { Value::of(0, Step::START) };
                let is_met = match test {
                    Test::Zero(condition) | Test::Ints(condition) => {
                        left.int().zip(right.int()).map(|(left, right)| arithmetic::holds(*condition, left, right))
                    }
                    Test::Same(is_same) | Test::Null(is_same) => {
                        left.object().zip(right.object()).map(|(left, right)| (left == right) == *is_same)
                    }
                };
                is_met.map(|is_met| if is_met { *to } else { frame.at + 1 })
            }
            Operation::Switch(switch) => right.int().map(|value| {
                let case = switch.cases.iter().find(|(case, _)| *case == value);
                case.map_or(switch.default, |(_, to)| *to)
            }),
            _ => None,
        };
        self.n_derived += u64::from(expected.is_some());
        self.n_wrong += u64::from(expected.is_some_and(|expected| expected != way));
        let block = method.blocks.of[frame.at as usize];
        let end = method.blocks.flow.post_dominator[block.0 as usize];
        frame.regions.decide(frame.step, end);
        frame.at = way;
    }

    /// Runs the next instruction, which records nothing and decides nothing.
    fn run<W: Watch>(&mut self, frame: &mut Frame, watch: &mut W) {
        let method = Arc::clone(&frame.method);
        let at = frame.at as usize;
        match &method.operations[at] {
            Operation::Nothing | Operation::Goto(_) | Operation::Cast(_) => {}
            Operation::Null => Self::put(frame, Kind::Reference, Value::of(0, frame.step)),
            Operation::Int(value) => Self::put(frame, Kind::Int, Value::of(of_int(*value), frame.step)),
            Operation::Long(value) => Self::put(frame, Kind::Long, Value::of(value.cast_unsigned(), frame.step)),
            Operation::Float(value) => {
                Self::put(frame, Kind::Float, Value::of(u64::from(value.to_bits()), frame.step));
            }
            Operation::Double(value) => Self::put(frame, Kind::Double, Value::of(value.to_bits(), frame.step)),
            Operation::Constant(_) => {
                if let Operand::Number(bits, n_slots) = method.operands[at] {
                    let kind = if n_slots == 2 { Kind::Long } else { Kind::Int };
                    Self::put(frame, kind, Value::of(bits, frame.step));
                }
            }
            Operation::Load(kind, local) => {
                let value = frame.locals.get(usize::from(*local)).copied().unwrap_or(Value::UNKNOWN);
                if value.maker != Step::START {
                    watch.uses(frame.step, value.maker, What::Place(Location::Local(*local)));
                }
                watch.reads(self, frame, Location::Local(*local), value);
                Self::put(frame, *kind, Value { maker: frame.step, ..value });
            }
            Operation::Store(kind, local) => {
                let value = self.take_value(frame, *kind, watch);
                self.stores(frame, *local, value, watch);
            }
            Operation::Increment(local, by) => {
                let value = frame.locals.get(usize::from(*local)).copied().unwrap_or(Value::UNKNOWN);
                if value.maker != Step::START {
                    watch.uses(frame.step, value.maker, What::Place(Location::Local(*local)));
                }
                watch.reads(self, frame, Location::Local(*local), value);
                let bits = value.int().map(|value| of_int(value.wrapping_add(i32::from(*by))));
                let value = Self::made(frame, bits);
                self.stores(frame, *local, value, watch);
            }
            Operation::Shuffle(shuffle) => self.shuffle(frame, *shuffle, watch),
            Operation::Arithmetic(operator, kind) => {
                use crate::instrument::java::operation::Arithmetic::{ShiftLeft, ShiftRight, ShiftRightUnsigned};
                let is_shift = matches!(operator, ShiftLeft | ShiftRight | ShiftRightUnsigned);
                let right = self.take_value(frame, if is_shift { Kind::Int } else { *kind }, watch);
                let left = self.take_value(frame, *kind, watch);
                let bits = if left.is_known && right.is_known {
                    arithmetic::binary(*operator, *kind, left.bits, right.bits)
                } else {
                    None
                };
                let value = Self::made(frame, bits);
                Self::put(frame, *kind, value);
            }
            Operation::Negate(kind) => {
                let value = self.take_value(frame, *kind, watch);
                let value = Self::made(frame, value.is_known.then(|| arithmetic::negate(*kind, value.bits)));
                Self::put(frame, *kind, value);
            }
            Operation::Convert(from, to) => {
                let value = self.take_value(frame, *from, watch);
                let value = Self::made(frame, value.is_known.then(|| arithmetic::convert(*from, *to, value.bits)));
                Self::put(frame, *to, value);
            }
            Operation::Narrow(to) => {
                let value = self.take_value(frame, Kind::Int, watch);
                let value = Self::made(frame, value.is_known.then(|| arithmetic::narrow(*to, value.bits)));
                Self::put(frame, Kind::Int, value);
            }
            Operation::Compare(kind, otherwise) => {
                let right = self.take_value(frame, *kind, watch);
                let left = self.take_value(frame, *kind, watch);
                let is_known = left.is_known && right.is_known;
                let bits = is_known.then(|| arithmetic::compare(*kind, left.bits, right.bits, *otherwise));
                let value = Self::made(frame, bits);
                Self::put(frame, Kind::Int, value);
            }
            Operation::StoreStatic(_) => {
                if let Operand::Field(field, kind) = method.operands[at] {
                    let value = self.take_value(frame, kind, watch);
                    self.writes(frame, Location::Static(field), value, watch);
                }
            }
            Operation::StoreField(_) => {
                if let Operand::Field(field, kind) = method.operands[at] {
                    let value = self.take_value(frame, kind, watch);
                    let object = self.take_value(frame, Kind::Reference, watch);
                    if let Some(object) = object.object() {
                        self.writes(frame, Location::Field(object, field), value, watch);
                    }
                }
            }
            Operation::StoreElement(element) => {
                let value = self.take_value(frame, element.kind(), watch);
                let index = self.take_value(frame, Kind::Int, watch);
                let array = self.take_value(frame, Kind::Reference, watch);
                if let (Some(array), Some(index)) = (array.object(), index.int()) {
                    let location = Location::Element(array, index.cast_unsigned());
                    self.writes(frame, location, cut(*element, value), watch);
                }
            }
            Operation::New(_) => {
                self.n_new += 1;
                let value = Value { bits: NEW | self.n_new, maker: frame.step, is_known: false };
                Self::put(frame, Kind::Reference, value);
            }
            Operation::Length => {
                let array = self.take_value(frame, Kind::Reference, watch);
                let array = array.object().and_then(|array| self.objects.get(array));
                let length = array.filter(|array| array.kind == ObjectKind::Array);
                let value = Self::made(frame, length.map(|array| u64::from(array.length)));
                Self::put(frame, Kind::Int, value);
            }
            Operation::Throw | Operation::Exit | Operation::Enter => {
                self.take_value(frame, Kind::Reference, watch);
            }
            Operation::Return(_)
            | Operation::Jump(..)
            | Operation::Switch(_)
            | Operation::LoadElement(_)
            | Operation::LoadStatic(_)
            | Operation::LoadField(_)
            | Operation::Invoke(..)
            | Operation::NewBasicArray(_)
            | Operation::NewArray(_)
            | Operation::NewArrays(..)
            | Operation::InstanceOf(_) => {}
        }
    }

    fn shuffle<W: Watch>(&mut self, frame: &mut Frame, shuffle: Shuffle, _watch: &mut W) {
        let (n_taken, put) = shuffle.slots();
        let n_known = n_taken.min(frame.stack.len());
        let taken = frame.stack.split_off(frame.stack.len() - n_known);
        frame.stack.extend(put.iter().filter_map(|slot| taken.get(*slot)));
    }

    fn stores<W: Watch>(&mut self, frame: &mut Frame, local: u16, value: Value, watch: &mut W) {
        let value = Value { maker: frame.step, ..value };
        if let Some(slot) = frame.locals.get_mut(usize::from(local)) {
            *slot = value;
        }
        watch.writes(self, frame, Location::Local(local), value);
    }

    fn writes<W: Watch>(&mut self, frame: &mut Frame, location: Location, value: Value, watch: &mut W) {
        let value = Value { maker: frame.step, ..value };
        self.memory.set(location, value);
        watch.writes(self, frame, location, value);
    }

    /// The activation returns: its present instruction says so.
    fn returns<W: Watch>(&mut self, mut frame: Frame, watch: &mut W) {
        let result = match frame.method.operations[frame.at as usize] {
            Operation::Return(Some(kind)) => Some(self.take_value(&mut frame, kind, watch)),
            _ => None,
        };
        watch.leaves(self, &frame, true, result);
        let (step, is_direct) = (frame.step, frame.is_direct);
        if let Some(below) = self.threads.get_mut(&self.thread).and_then(|thread| thread.frames.last_mut())
            && below.pending.is_some()
        {
            below.returned = Some((step, is_direct));
        }
    }

    /// Runs up to the instruction that threw an exception.
    fn fail<W: Watch>(&mut self, frame: &mut Frame, watch: &mut W) {
        let stop = frame.stop();
        if frame.pending.is_none() && !frame.is_waiting && stop != NONE {
            loop {
                self.begin(frame, watch);
                if frame.at == stop || self.throws(frame) {
                    break;
                }
                self.run(frame, watch);
                let next = frame.method.next[frame.at as usize];
                if next == NONE {
                    break;
                }
                frame.at = next;
            }
        }
        if let Operand::Call(callee) = &frame.method.operands[frame.at as usize] {
            let callee = Arc::clone(callee);
            if frame.pending.is_none() {
                let given = self.given(frame, &callee, watch);
                frame.pending = Some(given);
            }
        } else if matches!(frame.method.operations[frame.at as usize], Operation::Throw) {
            self.take_value(frame, Kind::Reference, watch);
        }
        frame.pending = None;
        frame.returned = None;
        watch.throws(self, frame);
        let step = frame.step;
        let thread = self.threads.entry(self.thread).or_default();
        if thread.threw.is_none() {
            thread.threw = Some(step);
        }
    }

    fn leave_by_exception<W: Watch>(&mut self, frame: Frame, watch: &mut W) {
        self.n_unwound += 1;
        watch.leaves(self, &frame, false, None);
    }

    /// Whether the next instruction is sure to throw an exception.
    fn throws(&self, frame: &Frame) -> bool {
        let value =
            |below: usize| frame.stack.len().checked_sub(below + 1).map_or(Value::UNKNOWN, |index| frame.stack[index]);
        let is_null = |below: usize| value(below).object() == Some(0);
        let is_outside = |array: usize, index: usize| {
            let length = value(array).object().and_then(|array| self.objects.get(array)).map(|array| array.length);
            let index = value(index).int().map(i32::cast_unsigned);
            length.zip(index).is_some_and(|(length, index)| index >= length)
        };
        let at = frame.at as usize;
        let slots = |kind: Kind| usize::from(kind.n_slots());
        match (&frame.method.operations[at], &frame.method.operands[at]) {
            (Operation::Throw, _) => true,
            (Operation::LoadField(_) | Operation::Length | Operation::Enter | Operation::Exit, _) => is_null(0),
            (Operation::StoreField(_), Operand::Field(_, kind)) => is_null(slots(*kind)),
            (Operation::LoadElement(_), _) => is_null(1) || is_outside(1, 0),
            (Operation::StoreElement(element), _) => {
                let below = slots(element.kind());
                is_null(below + 1) || is_outside(below + 1, below)
            }
            (Operation::Arithmetic(operator, kind @ (Kind::Int | Kind::Long)), _) => {
                use crate::instrument::java::operation::Arithmetic::{Divide, Remainder};
                let right = value(slots(*kind) - 1);
                matches!(operator, Divide | Remainder) && right.is_known && right.bits == 0
            }
            (Operation::Invoke(..), Operand::Call(callee)) if callee.has_object => {
                is_null(callee.parameters.iter().map(|kind| slots(*kind)).sum())
            }
            _ => false,
        }
    }
}

/// A value as an element holds it.
fn cut(element: crate::instrument::java::operation::Element, value: Value) -> Value {
    use crate::instrument::java::operation::Element;
    use crate::instrument::java::operation::Narrow;
    let to = match element {
        Element::Byte => Narrow::Byte,
        Element::Char => Narrow::Char,
        Element::Short => Narrow::Short,
        _ => return value,
    };
    Value { bits: arithmetic::narrow(to, value.bits), ..value }
}
