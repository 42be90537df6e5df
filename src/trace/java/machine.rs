//! A process as its records move it on: activations, objects, steps, and what depends on what.
//!
//! - The **data dependences** of a step are the steps that wrote what it reads: locals, fields, elements, values that
//!   other steps left on the stack, arguments, results. Of an object of the library all that it holds is
//!   one place.
//! - The **control dependence** of a step is the last decision in its activation whose region it is in, else the call.
//!   What runs in an exception handler depends on the step that threw, up to where the handler meets the other ways.
//!
//! A record is confirmed before the code up to it runs. If it is not the one that the code leads to, an exception was
//! thrown: the code runs up to the instruction that threw.
//!
//! Nothing is kept of what was; a [`Watch`] is told as it happens.

use crate::instrument::java::descriptor::ValueKind;
use crate::instrument::java::operation::Operation;
use crate::instrument::java::sites::{Site, SiteProbe};
pub use crate::java::frame::JavaFrame;
use crate::java::memory::ObjectMemory;
pub use crate::java::memory::ValueLocation;
pub use crate::java::method::MethodCallee;
use crate::java::method::NONE;
use crate::java::streams::StreamRecord;
pub use crate::java::value::JavaValue;
use crate::java::{Fit, JavaObjects, JavaProgram, MachineMethod, MethodOperand};
use crate::watch::watch;
use crate::{BlockId, Index, Keys, Step, TraceError};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

mod calls;
mod interpret;
#[cfg(test)]
mod tests;

/// What a step used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum JavaUse {
    /// What was at a place.
    Place(ValueLocation),
    /// A value that another step left on the stack.
    Temporary,
    /// The arguments of the call.
    Arguments,
    /// What a call returned.
    Returned,
    /// The exception.
    Exception,
}

/// A call of a method that is not recorded.
#[derive(Debug, Clone, Copy)]
pub struct LibraryCall<'a> {
    /// What is called.
    pub callee: &'a MethodCallee,
    /// The values that it was given, with its object first.
    pub given: &'a [JavaValue],
    /// What it returned; `None` as well if the process ended in it.
    pub result: Option<JavaValue>,
}

watch! {
    /// An observer of the machine. All methods do nothing by default. The frame is the last one of the current thread; the
    /// machine has those below it.
    pub trait Watch {
        /// A step begins.
        fn step(&mut self, machine: &JavaMachine, frame: &JavaFrame);
        /// A step uses what another one made.
        fn uses(&mut self, user: Step, maker: Step, what: JavaUse);
        /// A step takes a value that another one left on the stack.
        fn takes(&mut self, frame: &JavaFrame, value: JavaValue, kind: ValueKind);
        /// A step has read a value.
        fn reads(&mut self, machine: &JavaMachine, frame: &JavaFrame, location: ValueLocation, value: JavaValue);
        /// A step has written a value.
        fn writes(&mut self, machine: &JavaMachine, frame: &JavaFrame, location: ValueLocation, value: JavaValue);
        /// A decision goes to an instruction; what it compares is still on the stack.
        fn decides(&mut self, machine: &JavaMachine, frame: &JavaFrame, way: u32);
        /// The frame is new.
        fn enters(&mut self, machine: &JavaMachine, frame: &JavaFrame);
        /// The frame is left, by `return` if so, and with this result.
        fn leaves(&mut self, machine: &JavaMachine, frame: &JavaFrame, is_return: bool, result: Option<JavaValue>);
        /// A method that is not recorded came back, or the process ended in it.
        fn called(&mut self, machine: &JavaMachine, frame: &JavaFrame, call: &LibraryCall<'_>);
        /// The current step threw an exception, or a call in it did.
        ///
        /// - `exception`: not known unless a `throw` threw it.
        fn throws(&mut self, machine: &JavaMachine, frame: &JavaFrame, exception: JavaValue);
        /// The exception of the last [`throws`](Self::throws), where only a record behind it tells which one that was.
        fn threw(&mut self, machine: &JavaMachine, exception: JavaValue);
        /// An exception was caught.
        fn catches(&mut self, machine: &JavaMachine, frame: &JavaFrame, exception: JavaValue);
    }
}

/// The activations of a thread, the last one on top.
#[derive(Debug, Clone, Default)]
pub struct Thread {
    /// The activations.
    pub frames: Vec<Box<JavaFrame>>,
    /// The step that threw the last exception.
    threw: Option<Step>,
    /// By the key of a method: how often code that is not recorded called it first in the thread.
    n_roots: HashMap<u64, u64>,
}

impl Thread {
    /// The index of the next activation of a method below which there is no other one.
    fn root(&mut self, thread: u32, method: u64) -> Index {
        let root = Index::root(thread);
        if !Keys::is_shared(method) {
            return root;
        }
        let n = self.n_roots.entry(method).or_insert(0);
        *n += 1;
        root.below(method).again(*n)
    }
}

/// A process.
pub struct JavaMachine {
    /// The classes.
    pub program: JavaProgram,
    /// The thread of the last record.
    pub thread: u32,
    current: Thread,
    /// The other threads, by their numbers.
    others: BTreeMap<u32, Thread>,
    /// What objects hold.
    pub memory: ObjectMemory,
    /// The objects.
    pub objects: Arc<JavaObjects>,
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

/// A process at some point of its run, without what is the same in all of it.
#[derive(Debug, Clone)]
pub struct JavaMoment {
    thread: u32,
    current: Thread,
    others: BTreeMap<u32, Thread>,
    memory: ObjectMemory,
    /// The steps that had begun.
    pub n_steps: u32,
    n_frames: u64,
    n_records: u64,
    n_new: u64,
}

/// Activations deeper than this are damage, not recursion.
const MAX_DEPTH: usize = 10_000_000;

/// Marks the bits of a new object before its constructor has run.
const NEW: u64 = 1 << 63;

impl JavaMachine {
    /// A process before its first record.
    pub fn new(program: JavaProgram, objects: Arc<JavaObjects>) -> Self {
        Self {
            program,
            thread: 0,
            current: Thread::default(),
            others: BTreeMap::new(),
            memory: ObjectMemory::default(),
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
        self.current = Thread::default();
        self.others.clear();
        self.memory = ObjectMemory::default();
        (self.thread, self.n_steps, self.n_frames, self.n_records, self.n_unwound, self.n_new) = (0, 0, 0, 0, 0, 0);
        (self.n_reads, self.n_other, self.n_reached, self.n_derived, self.n_wrong) = (0, 0, 0, 0, 0);
    }

    /// The process between two records.
    pub fn moment(&self) -> JavaMoment {
        let Self { n_steps, n_frames, n_records, n_new, .. } = *self;
        let (current, others, memory) = (self.current.clone(), self.others.clone(), self.memory.clone());
        JavaMoment { thread: self.thread, current, others, memory, n_steps, n_frames, n_records, n_new }
    }

    /// Goes to a moment of the same process. What is counted for [`Stat`](crate::stat::Stat) begins there.
    pub fn go_to(&mut self, moment: JavaMoment) {
        self.rewind();
        (self.thread, self.current, self.others) = (moment.thread, moment.current, moment.others);
        self.memory = moment.memory;
        (self.n_steps, self.n_frames) = (moment.n_steps, moment.n_frames);
        (self.n_records, self.n_new) = (moment.n_records, moment.n_new);
    }

    /// Takes a record.
    ///
    /// Errors: no activation can have written it.
    pub fn take(&mut self, record: StreamRecord, watch: &mut dyn Watch) -> Result<(), TraceError> {
        if record.thread != self.thread {
            self.settle(watch);
            self.switch(record.thread);
        }
        self.n_records += 1;
        let (method, index) = self.program.site(record.site)?;
        let site = method.sites[index];
        match site.probe {
            SiteProbe::Enter => self.enter(method, watch),
            SiteProbe::Parameter(kind, local) => {
                self.parameter(&method, kind, local, record.payload, watch);
                Ok(())
            }
            SiteProbe::Handler => self.catch(&method, site.instruction, record.payload, watch),
            SiteProbe::Leave => self.leave(&method, record.payload, watch),
            SiteProbe::Block | SiteProbe::Monitor | SiteProbe::This | SiteProbe::Constructed | SiteProbe::Value(_) => {
                self.reach(&method, index, record.payload, watch)
            }
        }
    }

    /// Goes on with another thread.
    fn switch(&mut self, thread: u32) {
        let next = self.others.remove(&thread).unwrap_or_default();
        let before = std::mem::replace(&mut self.current, next);
        self.others.insert(self.thread, before);
        self.thread = thread;
    }

    /// Runs the code of the current thread that follows without a record, before another thread goes on: up to the last
    /// monitor that it leaves, or up to the end of the method. In a program without data races the other thread may see
    /// what that code wrote, and nothing of the other one is seen by it.
    fn settle(&mut self, watch: &mut dyn Watch) {
        let Some(mut frame) = self.pop() else { return };
        if let Some(stop) = frame.last_exit() {
            let method = Arc::clone(&frame.method);
            while frame.at != stop && !self.throws(&frame) {
                self.begin(&mut frame, watch);
                self.run(&method, &mut frame, watch);
                frame.at = method.next[frame.at as usize];
            }
        }
        self.push(frame);
    }

    /// Ends the methods that return without another record, when no more records follow, and begins the calls from which
    /// the threads did not come back, such as `System.exit`.
    pub fn finish(&mut self, watch: &mut dyn Watch) {
        let mut threads: Vec<u32> = self.others.keys().copied().chain([self.thread]).collect();
        threads.sort_unstable();
        for thread in threads.into_iter().chain([self.thread]) {
            if thread != self.thread {
                self.switch(thread);
            }
            while self.frame().is_some_and(JavaFrame::returns)
                && let Some(mut frame) = self.pop()
            {
                let stop = frame.stop();
                self.go(&mut frame, stop, watch);
                self.returns(frame, watch);
            }
            if let Some(mut frame) = self.pop() {
                self.begin_last_call(&mut frame, watch);
                self.push(frame);
            }
        }
    }

    /// Begins the call that a method made last, if no record says that it came back.
    fn begin_last_call(&mut self, frame: &mut JavaFrame, watch: &mut dyn Watch) {
        let (stop, method) = (frame.stop(), Arc::clone(&frame.method));
        if frame.pending.is_some() || frame.is_waiting || stop == NONE {
            return;
        }
        let MethodOperand::Call(callee) = &method.operands[stop as usize] else { return };
        while frame.at != stop && !self.throws(frame) {
            self.begin(frame, watch);
            self.run(&method, frame, watch);
            frame.at = method.next[frame.at as usize];
        }
        if frame.at == stop {
            self.begin(frame, watch);
            let given = Self::given(frame, callee, watch);
            watch.called(self, frame, &LibraryCall { callee, given: &given, result: None });
            frame.pending = Some(given);
        }
    }

    /// The step that threw the exception that is on its way in the current thread.
    pub fn threw(&self) -> Option<Step> {
        self.current.threw
    }

    fn pop(&mut self) -> Option<Box<JavaFrame>> {
        self.current.frames.pop()
    }

    fn push(&mut self, frame: Box<JavaFrame>) {
        self.current.frames.push(frame);
    }

    /// The last activation of the current thread, between two records.
    pub fn frame(&self) -> Option<&JavaFrame> {
        self.current.frames.last().map(Box::as_ref)
    }

    /// The frames of the current thread; while a record is taken, those below the current one.
    pub fn frames(&self) -> &[Box<JavaFrame>] {
        &self.current.frames
    }

    /// A method was entered.
    fn enter(&mut self, method: Arc<MachineMethod>, watch: &mut dyn Watch) -> Result<(), TraceError> {
        if self.frames().len() >= MAX_DEPTH {
            return Err(TraceError::Damaged("activations without an end"));
        }
        let is_initialiser = &*method.name == "<clinit>";
        let (mut caller, mut base, mut is_direct) = (Step::START, None, false);
        while let Some(mut frame) = self.pop() {
            let stop = frame.stop();
            if frame.returns() && !(is_initialiser && frame.may_initialise()) {
                self.go(&mut frame, stop, watch);
                self.returns(frame, watch);
                continue;
            }
            if stop != NONE
                && !is_initialiser
                && frame.pending.is_none()
                && !frame.is_waiting
                && let MethodOperand::Call(call) = &frame.method.operands[stop as usize]
            {
                let call = Arc::clone(call);
                self.go(&mut frame, stop, watch);
                let given = Self::given(&mut frame, &call, watch);
                frame.pending = Some(given);
            }
            if frame.pending.is_some()
                && let Some(MethodOperand::Call(callee)) = frame.method.operands.get(frame.at as usize)
            {
                let member = &callee.member;
                is_direct = member.name == method.name
                    && member.descriptor == method.descriptor
                    && (!callee.is_constructor() || member.class == method.class);
            }
            caller = frame.step;
            base = Some(frame.regions.call(method.keys.function));
            self.push(frame);
            break;
        }
        // What was thrown before was caught in code that is not recorded.
        self.current.threw = None;
        let base = base.unwrap_or_else(|| self.current.root(self.thread, method.keys.function));
        self.n_frames += 1;
        let mut frame = Box::new(JavaFrame::new(self.n_frames, method, base));
        (frame.caller, frame.is_direct) = (caller, is_direct);
        self.n_steps += 1;
        (frame.step, frame.entry) = (Step(self.n_steps), Step(self.n_steps));
        frame.regions.begin(frame.method.keys.statements.first().copied());
        watch.enters(self, &frame);
        watch.step(self, &frame);
        if caller != Step::START && !is_initialiser {
            watch.uses(frame.step, caller, JavaUse::Arguments);
        }
        // A constructor has its object from the caller, who has not got its number yet.
        if &*frame.method.name == "<init>" {
            let object = self.frames().last().and_then(|below| below.pending.as_ref()?.first().copied());
            if let (Some(object), Some(local)) = (object.filter(|_| is_direct), frame.locals.first_mut()) {
                *local = JavaValue { maker: frame.entry, ..object };
            }
        }
        self.push(frame);
        Ok(())
    }

    /// A parameter of the method that was just entered.
    fn parameter(&mut self, method: &MachineMethod, kind: ValueKind, local: u16, bits: u64, watch: &mut dyn Watch) {
        let Some(mut frame) = self.pop() else { return };
        if frame.method.number == method.number && !frame.is_begun {
            let value = JavaValue::of(bits, frame.entry);
            if frame.is_direct && local == 0 && !method.is_static {
                // A method of the library may call one of the same name, of another object.
                let object = self.frames().last().and_then(|below| below.pending.as_ref()?.first().copied());
                frame.is_direct = object.is_none_or(|object| !object.is_known || object.bits == bits);
            }
            if frame.is_direct
                && let Some(given) = self.argument(&frame.method, local).filter(|given| given.is_known)
            {
                self.n_derived += 1;
                self.n_wrong += u64::from(given.bits != bits);
            }
            if let Some(slot) = frame.locals.get_mut(usize::from(local)) {
                *slot = value;
            }
            if kind == ValueKind::Reference && !frame.is_direct {
                let giver = value.object().and_then(|object| self.memory.giver(object));
                if let Some(giver) = giver {
                    watch.uses(frame.step, giver, JavaUse::Arguments);
                }
            }
            watch.writes(self, &frame, ValueLocation::Local(local), value);
        }
        self.push(frame);
    }

    /// What the caller gave for a local of a method that it called itself.
    fn argument(&self, method: &MachineMethod, local: u16) -> Option<JavaValue> {
        let below = self.frames().last()?;
        let MethodOperand::Call(callee) = below.method.operands.get(below.at as usize)? else { return None };
        let mut at = 0;
        let kinds =
            (!method.is_static).then_some(ValueKind::Reference).into_iter().chain(callee.parameters.iter().copied());
        let mut begins = kinds.map(|kind| {
            at += kind.n_slots();
            at - kind.n_slots()
        });
        let position = begins.position(|begin| begin == local)?;
        below.pending.as_ref()?.get(position).copied()
    }

    /// A record that follows in the code of an activation.
    fn reach(
        &mut self,
        method: &Arc<MachineMethod>,
        index: usize,
        payload: u64,
        watch: &mut dyn Watch,
    ) -> Result<(), TraceError> {
        let site = method.sites[index];
        let mut is_expected = false;
        while let Some(mut frame) = self.pop() {
            match frame.fits(method.number, &site) {
                Fit::Next => {
                    self.arrive(method, &mut frame, site, payload, watch);
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
                    self.leave_by_exception(&frame, watch);
                }
            }
        }
        Err(TraceError::Damaged("a record that no activation can have written"))
    }

    /// Whether there is an activation of a method.
    fn has(&self, method: &MachineMethod) -> bool {
        self.frames().iter().any(|frame| frame.method.number == method.number)
    }

    /// Ends the activations above the last one of a method, because of an exception.
    ///
    /// Errors: there is none of it.
    fn unwind(&mut self, method: &MachineMethod, watch: &mut dyn Watch) -> Result<Box<JavaFrame>, TraceError> {
        if !self.has(method) {
            return Err(TraceError::Damaged("an exception in no activation"));
        }
        loop {
            let mut frame = self.pop().ok_or_else(|| TraceError::Damaged("an exception in no activation"))?;
            let is_here = frame.method.number == method.number;
            // A return is not recorded. The only activation of the method has not returned: its exception came from
            // outside (`Thread.stop`).
            if frame.returns() && (!is_here || !frame.may_throw() && self.has(method)) && !frame.is_unguarded() {
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
            self.leave_by_exception(&frame, watch);
        }
    }

    /// An exception leaves the last activation of a method.
    ///
    /// If there is none of it, the exception came while the method was entered, before a record said so: `Thread.stop` can do
    /// that.
    fn leave(&mut self, method: &MachineMethod, exception: u64, watch: &mut dyn Watch) -> Result<(), TraceError> {
        if !self.has(method) {
            return Ok(());
        }
        let frame = self.unwind(method, watch)?;
        watch.threw(self, JavaValue::of(exception, self.threw().unwrap_or(frame.step)));
        self.leave_by_exception(&frame, watch);
        Ok(())
    }

    /// An exception handler was entered.
    fn catch(
        &mut self,
        method: &Arc<MachineMethod>,
        begin: u32,
        exception: u64,
        watch: &mut dyn Watch,
    ) -> Result<(), TraceError> {
        let mut frame = self.unwind(method, watch)?;
        let threw = self.current.threw.take().unwrap_or(frame.step);
        frame.stack.clear();
        let value = JavaValue::of(exception, threw);
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
    fn arrive(
        &mut self,
        method: &MachineMethod,
        frame: &mut JavaFrame,
        site: Site,
        payload: u64,
        watch: &mut dyn Watch,
    ) {
        if frame.is_waiting {
            frame.is_waiting = false;
            return;
        }
        let stop = frame.stop();
        if frame.pending.is_none() {
            self.go(frame, stop, watch);
        }
        if !site.probe.is_before() {
            self.result(method, frame, site.probe, payload, watch);
        } else if method.operations[stop as usize].is_decision() {
            self.decide(method, frame, site.instruction, watch);
        } else {
            self.run(method, frame, watch);
            frame.at = site.instruction;
        }
    }

    /// Runs up to an instruction, which is on the way, and begins the statement of that, if one begins there.
    fn go(&mut self, frame: &mut JavaFrame, stop: u32, watch: &mut dyn Watch) {
        let method = Arc::clone(&frame.method);
        loop {
            self.begin(frame, watch);
            if frame.at == stop {
                return;
            }
            self.run(&method, frame, watch);
            let next = method.next[frame.at as usize];
            if next == NONE {
                return;
            }
            frame.at = next;
        }
    }

    /// Enters the block and begins the statement of the next instruction.
    #[inline]
    fn begin(&mut self, frame: &mut JavaFrame, watch: &mut dyn Watch) {
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
        // A handler begins with the exception on the stack, and has no block yet.
        frame.is_rest = frame.block.is_some() && !frame.stack.is_empty();
        frame.block = Some(frame.method.blocks.of[frame.at as usize]);
        frame.statement = statement;
        frame.regions.begin(frame.method.keys.statements.get(statement as usize).copied());
        self.n_steps += 1;
        frame.step = Step(self.n_steps);
        watch.step(self, frame);
    }

    /// The activation returns: its present instruction says so.
    fn returns(&mut self, mut frame: Box<JavaFrame>, watch: &mut dyn Watch) {
        let result = match frame.method.operations[frame.at as usize] {
            Operation::Return(Some(kind)) => Some(Self::take_value(&mut frame, kind, watch)),
            _ => None,
        };
        watch.leaves(self, &frame, true, result);
        self.came_back(&frame, watch);
        let is_object =
            matches!(frame.method.operations[frame.at as usize], Operation::Return(Some(ValueKind::Reference)));
        if let Some(result) = result.filter(|_| is_object && !frame.is_direct) {
            self.gives_back(result, watch);
        }
    }

    /// Notes in the activation below that one has ended, by a return or an exception.
    fn came_back(&mut self, frame: &JavaFrame, watch: &mut dyn Watch) {
        if let Some(below) = self.current.frames.last_mut()
            && below.pending.is_some()
        {
            below.returned = Some((frame.step, frame.is_direct));
            if !frame.is_direct {
                // The library may call back again before it returns.
                watch.uses(below.step, frame.step, JavaUse::Returned);
            }
        }
    }

    /// Runs up to the instruction that threw an exception.
    fn fail(&mut self, frame: &mut JavaFrame, watch: &mut dyn Watch) {
        let stop = frame.stop();
        let method = Arc::clone(&frame.method);
        if frame.pending.is_none() && !frame.is_waiting && stop != NONE {
            loop {
                self.begin(frame, watch);
                if frame.at == stop || self.throws(frame) {
                    break;
                }
                self.run(&method, frame, watch);
                let next = method.next[frame.at as usize];
                if next == NONE {
                    break;
                }
                frame.at = next;
            }
        }
        let mut exception = JavaValue::UNKNOWN;
        if let MethodOperand::Call(callee) = &frame.method.operands[frame.at as usize] {
            let callee = Arc::clone(callee);
            let given = match frame.pending.take() {
                Some(given) => given,
                None => Self::given(frame, &callee, watch),
            };
            let call = LibraryCall { callee: &callee, given: &given, result: None };
            match frame.returned.take() {
                Some((threw, is_direct)) => {
                    watch.uses(frame.step, threw, JavaUse::Exception);
                    if !is_direct {
                        self.library(frame, &call, watch);
                    }
                }
                None => self.library(frame, &call, watch),
            }
        } else if matches!(frame.method.operations[frame.at as usize], Operation::Throw) {
            exception = Self::take_value(frame, ValueKind::Reference, watch);
        }
        frame.pending = None;
        frame.returned = None;
        watch.throws(self, frame, exception);
        self.current.threw.get_or_insert(frame.step);
    }

    fn leave_by_exception(&mut self, frame: &JavaFrame, watch: &mut dyn Watch) {
        self.n_unwound += 1;
        watch.leaves(self, frame, false, None);
        self.came_back(frame, watch);
        if self.current.frames.is_empty() {
            self.current.threw = None;
        }
    }
}
