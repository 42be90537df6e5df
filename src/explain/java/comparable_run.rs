//! A run of a Java program in the form in which it is compared with another one: for each step what it used and what it
//! did, in words that do not depend on where objects lie.
//!
//! A number is its bits, a string its text. Any other object is called by its birth: the index of the step that made it,
//! its class, and how many of that class the step had made before.

use std::collections::HashMap;
use std::sync::Arc;

use crate::align::statements::{StatementNames, WhichVersion};
use crate::java::object_names::JavaNames;
use crate::java::statements;
use idd_trace::instrument::java::descriptor::{MethodTypes, is_reference, result_type};
use idd_trace::instrument::java::operation::Operation;
use idd_trace::instrument::java::pool::PoolMember;
use idd_trace::java::outline::JavaOutlineReader;
use idd_trace::java::{
    JavaFrame, JavaMachine, JavaPlayer, JavaUse, JavaValue, LibraryCall, ObjectKind, ValueLocation, Watch, text,
};
use idd_trace::{BlockId, Index, ObservableCall, Place, Run, RunArgument, Step, TraceError};

/// A run of more steps is not compared: it would take gigabytes.
pub const MAX_STEPS: u32 = 20_000_000;

/// Elements of an array that count as said.
const MAX_ELEMENTS: u32 = 64;

/// The places of what the library keeps in an object have this bit, others do not.
const CONTENTS: u32 = 1 << 31;

/// What a step used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    /// The step that made it; [`Step::START`] for what was there before.
    pub maker: Step,
    /// The place that it was read from: equal in both runs for variables of one name. 0 for what has no place.
    pub place: u32,
    /// The value; 0 if it is not known.
    pub value: u32,
}

impl Use {
    /// Whether it is what the library keeps in an object: the value stands for all that was done to that.
    pub fn is_contents(&self) -> bool {
        self.place & CONTENTS != 0
    }
}

/// An exception that left a method which the library had called, and that no recorded code caught.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EscapedException {
    /// The step that threw it.
    pub step: Step,
    /// The method that it left.
    pub function: Arc<str>,
    /// The exception, if a recorded `throw` threw it.
    pub exception: Option<String>,
    /// The thread.
    pub thread: u32,
}

/// How a decision went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecisionWay {
    /// The position of the block among those that may follow, from 1; 0 for a step that decided nothing.
    pub number: u16,
    /// Whether a condition held; `None` for a `switch`, and if its line has other conditions.
    pub truth: Option<bool>,
    /// The line that followed.
    pub line: u32,
}

impl DecisionWay {
    const NONE: Self = Self { number: 0, truth: None, line: 0 };
}

/// A run.
#[derive(Default)]
pub struct TakenRun {
    /// Where its steps stand, and what it printed.
    pub run: Run,
    /// By step: what it wrote and returned, and what it called the library with.
    pub did: Vec<u64>,
    /// By step: how it decided.
    pub ways: Vec<DecisionWay>,
    /// By step: the number of its statement.
    pub statements: Vec<u32>,
    /// By statement: its place.
    pub places: Vec<Place>,
    /// The exceptions that nobody caught.
    pub escapes: Vec<EscapedException>,
    /// By step during which its method caught an exception: the step that threw it.
    pub caught: HashMap<Step, Step>,
    /// The code with which it exited by a call; `None` if it made none, or the code is not known.
    pub exit: Option<i32>,
    /// By step: the position of its first use.
    first: Vec<u32>,
    uses: Vec<Use>,
    /// See [`JavaNames`].
    objects: HashMap<u32, u32>,
    contents: HashMap<(Step, u32), u64>,
}

/// Takes two runs down by names that both share, and says what these are.
///
/// Cost: plays each run once; see [`TakenRun::read`].
pub fn both(
    failing: &mut JavaPlayer,
    reference: &mut JavaPlayer,
) -> Result<(TakenRun, TakenRun, Arc<StatementNames>), TraceError> {
    let mut functions = [Vec::new(), Vec::new()];
    for (player, found) in [&mut *failing, &mut *reference].into_iter().zip(&mut functions) {
        let program = &mut player.machine.program;
        program.meet_all()?;
        found.extend(program.methods().iter().map(|method| statements::function(method, program)));
    }
    let names = Arc::new(StatementNames::new(&functions[0], &functions[1]));
    failing.machine.program.rename(&names.naming(WhichVersion::First));
    reference.machine.program.rename(&names.naming(WhichVersion::Second));
    Ok((TakenRun::read(failing)?, TakenRun::read(reference)?, names))
}

impl TakenRun {
    /// Takes a run down; of one with more than [`MAX_STEPS`] steps only these and the next one.
    ///
    /// Errors: the trace is damaged.
    ///
    /// Cost: plays the trace. About 80 bytes for each step, and 16 for each use.
    pub fn read(player: &mut JavaPlayer) -> Result<Self, TraceError> {
        let mut taking = RunTaking::new();
        player.replay(&mut taking)?;
        let mut uses = taking.uses;
        uses.sort_by_key(|(user, _)| *user);
        let n_steps = taking.taken.did.len();
        let mut first = vec![0_u32; n_steps + 1];
        for (user, _) in &uses {
            first[user.0 as usize + 1] += 1;
        }
        for step in 1..first.len() {
            first[step] += first[step - 1];
        }
        let uses = uses.into_iter().map(|(_, of)| of).collect();
        let Run { indices, said, main_end, .. } = taking.taken.run;
        let run = Run { indices, said, main_end, n_records: player.machine.n_records, ..taking.outline.end() };
        Ok(Self { run, first, uses, objects: taking.objects, contents: taking.contents, ..taking.taken })
    }

    /// Where its steps stand, and what its objects are called.
    pub fn into_named(self) -> (Run, JavaNames) {
        let digest = |step: Step| {
            let at = step.0 as usize;
            let way = self.ways[at];
            let way = way.truth.map_or(u64::from(way.number), |truth| u64::from(truth) + 1);
            let used = self.uses(step).iter().filter(|used| used.value != 0);
            used.fold(mix(self.did[at], way), |digest, used| {
                mix(digest, u64::from(used.place) << 32 | u64::from(used.value))
            })
        };
        let digests = (0..=self.run.n_steps()).map(|step| digest(Step(step))).collect();
        (self.run, JavaNames { objects: self.objects, contents: self.contents, digests })
    }

    /// A run with these steps, from [`Step::START`]: for each its index, its decider, what it did, and what it used.
    #[cfg(test)]
    pub fn of(steps: &[(u64, u32, u64, Vec<Use>)]) -> Self {
        let mut taken = RunTaking::new().taken;
        (taken.run.indices, taken.run.deciders) = steps.iter().map(|(index, decider, ..)| (*index, *decider)).unzip();
        taken.run.leaders.clone_from(&taken.run.deciders);
        taken.run.callers = vec![0; steps.len()];
        taken.did = steps.iter().map(|(_, _, did, _)| *did).collect();
        taken.ways = vec![DecisionWay::NONE; steps.len()];
        taken.uses = steps.iter().flat_map(|(.., uses)| uses.clone()).collect();
        taken.first = vec![0];
        for (.., uses) in steps {
            let last = taken.first.last().copied().unwrap_or(0);
            taken.first.push(last + u32::try_from(uses.len()).unwrap_or(0));
        }
        taken
    }

    /// What a step used, in order.
    pub fn uses(&self, step: Step) -> &[Use] {
        let at = step.0 as usize;
        self.uses.get(self.first[at] as usize..self.first[at + 1] as usize).unwrap_or_default()
    }

    /// The place of a step.
    pub fn place(&self, step: Step) -> Option<&Place> {
        let statement = self.statements.get(step.0 as usize)?;
        self.places.get(*statement as usize).filter(|place| place.line != 0)
    }
}

#[derive(Default)]
struct RunTaking {
    taken: TakenRun,
    outline: JavaOutlineReader,
    uses: Vec<(Step, Use)>,
    /// The exception that each thread threw last, as far as it is known.
    thrown: HashMap<u32, String>,
    /// By activation: its last step, and the block of that.
    last: HashMap<u64, (Step, BlockId)>,
    /// By method and statement: the number of the statement.
    known: HashMap<(u32, u32), u32>,
    /// The names of objects.
    objects: HashMap<u32, u32>,
    /// What the library kept in an object after each step that changed it.
    contents: HashMap<(Step, u32), u64>,
    /// The same, at the end.
    kept: HashMap<u32, u64>,
    /// The same of the calls that brought the objects.
    brought: HashMap<u32, u64>,
    /// The objects of the library that the present call changes.
    changed: Vec<u32>,
    /// By the step of a call: what the methods returned that the library called back from it.
    returned: HashMap<Step, u64>,
    /// How many objects of a class a step has made.
    made: HashMap<(Step, Arc<str>), u32>,
    /// The names of places that have one: fields and variables.
    names: HashMap<(u32, u32, u32), u32>,
}

/// Mixes a number into another one.
fn mix(number: u64, more: u64) -> u64 {
    Index(number).below(more).0
}

fn short(number: u64) -> u32 {
    let [low, high] = [number & 0xffff_ffff, number >> 32];
    u32::try_from(low ^ high).unwrap_or(1).max(1)
}

/// The number of a place that is not what the library keeps.
fn named_place(name: u64) -> u32 {
    (short(name) & !CONTENTS).max(1)
}

fn of_text(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

impl RunTaking {
    fn new() -> Self {
        let nowhere = Place { file: "".into(), line: 0, column: 0 };
        let taken = TakenRun { places: vec![nowhere], ..TakenRun::default() };
        let mut taking = Self { taken, outline: JavaOutlineReader::new(), ..Self::default() };
        taking.push(0, 0);
        taking
    }

    fn push(&mut self, index: u64, statement: u32) {
        self.taken.run.indices.push(index);
        self.taken.did.push(0);
        self.taken.ways.push(DecisionWay::NONE);
        self.taken.statements.push(statement);
    }

    /// What an object is called.
    fn object(&mut self, machine: &JavaMachine, id: u32) -> u32 {
        if id == 0 {
            return 1;
        }
        if let Some(known) = self.objects.get(&id) {
            return *known;
        }
        let object = machine.objects.get(id);
        let class = object.map_or_else(|| Arc::from("?"), |object| Arc::clone(&object.class));
        let content = object.filter(|object| !matches!(object.kind, ObjectKind::Other | ObjectKind::Array));
        let name = if let Some(object) = content {
            mix(mix(of_text(&class), of_text(&object.text)), u64::from(object.length))
        } else {
            let birth = machine.memory.birth(id).unwrap_or(Step::START);
            let made = self.made.entry((birth, Arc::clone(&class))).or_insert(0);
            *made += 1;
            let index = self.taken.run.indices.get(birth.0 as usize).copied().unwrap_or(0);
            // That of an array; an array of another length is another one.
            let length = object.map_or(0, |object| object.length);
            mix(mix(mix(of_text(&class), index), u64::from(*made)), u64::from(length))
        };
        *self.objects.entry(id).or_insert(short(name))
    }

    /// Calls an object that cannot change, and of which nothing is known, by the call that brought it: `Optional.of(x)`.
    fn name_constant(&mut self, machine: &JavaMachine, made: Option<u32>, what: u64) {
        let is_plain = |made: &u32| {
            let object = machine.objects.get(*made);
            object.is_some_and(|object| object.kind == ObjectKind::Other && !object.is_mutable)
        };
        if let Some(made) = made.filter(is_plain).filter(|made| machine.memory.birth(*made).is_none()) {
            self.objects.entry(made).or_insert(short(what));
        }
    }

    /// What a value is called; 0 if it is not known.
    fn value(&mut self, machine: &JavaMachine, value: JavaValue, is_object: bool) -> u32 {
        match (value.is_known, is_object) {
            (false, _) => 0,
            (true, true) => value.object().map_or(0, |id| self.object(machine, id)),
            (true, false) => short(mix(1, value.bits)),
        }
    }

    /// What a place is called, and whether it holds an object.
    fn place(&mut self, machine: &JavaMachine, frame: &JavaFrame, location: ValueLocation) -> (u32, bool) {
        let program = &machine.program;
        let (key, is_object) = match location {
            ValueLocation::Local(local) => {
                let method = &frame.method;
                let variable = method.variable(local, frame.at);
                let is_object = match (variable, &method.operations.get(frame.at as usize)) {
                    (Some(variable), _) => is_reference(&variable.descriptor),
                    (None, Some(Operation::Load(kind, of) | Operation::Store(kind, of))) if *of == local => {
                        *kind == idd_trace::instrument::java::descriptor::ValueKind::Reference
                    }
                    (None, _) => local == 0 && !method.is_static,
                };
                let Some(variable) = variable else { return (u32::from(local) + 2, is_object) };
                ((1, method.number, u32::from(local) << 16 | variable.visible.start & 0xffff), is_object)
            }
            ValueLocation::Field(_, field) => ((2, field.0, 0), is_reference(&program.field(field).descriptor)),
            ValueLocation::Static(field) => ((3, field.0, 0), is_reference(&program.field(field).descriptor)),
            ValueLocation::Element(array, index) => {
                let class = machine.objects.get(array).map(|object| &object.class);
                let is_object = class.is_some_and(|class| is_reference(class.strip_prefix('[').unwrap_or("")));
                return (named_place(mix(4, u64::from(index))), is_object);
            }
            ValueLocation::State(_) => return (CONTENTS, true),
        };
        if let Some(known) = self.names.get(&key) {
            return (*known, is_object);
        }
        let name = match location {
            ValueLocation::Local(local) => {
                let variable = frame.method.variable(local, frame.at);
                variable.map_or_else(String::new, |variable| format!("local {}", variable.name))
            }
            ValueLocation::Field(_, field) => format!("field {}", program.field(field).name),
            ValueLocation::Static(field) => {
                format!("static {}.{}", program.field(field).class, program.field(field).name)
            }
            ValueLocation::Element(..) | ValueLocation::State(_) => String::new(),
        };
        (*self.names.entry(key).or_insert(named_place(of_text(&name))), is_object)
    }

    fn did(&mut self, step: Step, what: u64) {
        if let Some(did) = self.taken.did.get_mut(step.0 as usize) {
            *did = mix(*did, what);
        }
    }

    /// Takes down what the library keeps in the objects that a call changed or made: what it kept before, what the call did,
    /// and what that depends on.
    ///
    /// - `made`: the object that the call brought.
    fn keeps(&mut self, machine: &JavaMachine, step: Step, given: &[JavaValue], made: Option<u32>, did: u64) {
        let mut what = mix(did, self.returned.remove(&step).unwrap_or(0));
        for object in given.iter().filter_map(|value| value.object()) {
            what = self.kept.get(&object).map_or(what, |kept| mix(what, *kept));
            let brought = self.brought.get(&object).filter(|_| !self.changed.contains(&object));
            what = brought.map_or(what, |brought| mix(what, *brought));
            let array = machine.objects.get(object).filter(|known| known.kind == ObjectKind::Array);
            let Some(descriptor) = array.and_then(|array| array.class.strip_prefix('[')) else { continue };
            let is_object = is_reference(descriptor);
            for index in 0..array.map_or(0, |array| array.length.min(MAX_ELEMENTS)) {
                let element = machine.memory.get(ValueLocation::Element(object, index));
                what = mix(what, element.map_or(0, |element| u64::from(self.value(machine, element, is_object))));
            }
        }
        for object in std::mem::take(&mut self.changed) {
            let kept = self.kept.entry(object).or_insert(0);
            *kept = mix(*kept, what);
            self.contents.insert((step, object), *kept);
        }
        if let Some(made) = made {
            self.brought.entry(made).or_insert(what);
        }
    }

    /// The place of what the library keeps in an object, and a number for that: equal in both runs if the same was done to
    /// it. 0 while a step changes it.
    fn contents(&mut self, machine: &JavaMachine, object: u32) -> (u32, u32) {
        let of = |known: &HashMap<u32, u64>| known.get(&object).copied().unwrap_or(0);
        let kept = short(mix(of(&self.brought), of(&self.kept)));
        let place = CONTENTS | self.object(machine, object);
        (place, if self.changed.contains(&object) { 0 } else { kept })
    }

    /// The number of the current statement.
    fn statement(&mut self, frame: &JavaFrame) -> u32 {
        let statement = if frame.step == frame.entry { 0 } else { frame.statement };
        let next = u32::try_from(self.taken.places.len()).unwrap_or(0);
        let number = *self.known.entry((frame.method.number, statement)).or_insert(next);
        if number == next {
            self.taken.places.push(frame.place().clone());
        }
        number
    }

    /// Notes how the step before decided that led to the present block.
    fn decided(&mut self, frame: &JavaFrame) {
        let Some(block) = frame.block else { return };
        let Some((before, from)) = self.last.insert(frame.number, (frame.step, block)) else { return };
        let blocks = &frame.method.blocks;
        let ways = &blocks.flow.successors[from.0 as usize];
        if from == block && !ways.contains(&block) || ways.len() < 2 {
            return;
        }
        let Some(position) = ways.iter().position(|way| *way == block) else { return };
        let last = blocks.ranges[from.0 as usize].end.saturating_sub(1);
        let begin = blocks.ranges[block.0 as usize].start;
        let truth = frame.method.truth(last, begin);
        let number = u16::try_from(position + 1).unwrap_or(u16::MAX);
        if let Some(way) = self.taken.ways.get_mut(before.0 as usize) {
            *way = DecisionWay { number, truth, line: frame.place().line };
        }
    }
}

impl Watch for RunTaking {
    fn is_done(&self) -> bool {
        self.taken.did.len() > MAX_STEPS as usize + 1
    }

    fn step(&mut self, machine: &JavaMachine, frame: &JavaFrame) {
        self.outline.step(machine, frame);
        let index = frame.regions.index().map_or(0, |Index(index)| index.max(1));
        let statement = self.statement(frame);
        self.push(index, statement);
        self.decided(frame);
    }

    fn uses(&mut self, user: Step, maker: Step, what: JavaUse) {
        // What has a place is noted with its value.
        if !matches!(what, JavaUse::Place(_)) {
            self.uses.push((user, Use { maker, place: 0, value: 0 }));
        }
    }

    fn reads(&mut self, machine: &JavaMachine, frame: &JavaFrame, location: ValueLocation, value: JavaValue) {
        self.outline.reads(machine, frame, location, value);
        let (place, value_name) = if let ValueLocation::State(object) = location {
            self.contents(machine, object)
        } else {
            let (place, is_object) = self.place(machine, frame, location);
            (place, self.value(machine, value, is_object))
        };
        self.uses.push((frame.step, Use { maker: value.maker, place, value: value_name }));
    }

    fn writes(&mut self, machine: &JavaMachine, frame: &JavaFrame, location: ValueLocation, value: JavaValue) {
        let (place, is_object) = self.place(machine, frame, location);
        let named = match location {
            ValueLocation::State(object) => {
                self.changed.push(object);
                0
            }
            _ => self.value(machine, value, is_object),
        };
        let what = u64::from(place) << 32 | u64::from(named);
        self.did(frame.step, what);
        // The caller gave the value of a parameter.
        if frame.step == frame.entry && frame.is_direct && matches!(location, ValueLocation::Local(_)) {
            self.did(frame.caller, what);
        }
    }

    fn called(&mut self, machine: &JavaMachine, frame: &JavaFrame, call: &LibraryCall<'_>) {
        let LibraryCall { callee, given, result } = *call;
        let n_before = self.outline.written().len();
        self.outline.called(machine, frame, call);
        let signature = MethodTypes::of(&callee.member.descriptor).ok();
        let types: Vec<&str> = signature.map(|signature| signature.parameters).unwrap_or_default();
        let n_object = usize::from(callee.has_object);
        let mut what = mix(of_text(&callee.member.class), of_text(&callee.member.name));
        for (at, value) in given.iter().enumerate() {
            let is_object =
                at < n_object || types.get(at - n_object).is_some_and(|descriptor| is_reference(descriptor));
            what = mix(what, u64::from(self.value(machine, *value, is_object)));
        }
        let is_object = is_reference(result_type(&callee.member.descriptor));
        let made = if callee.is_constructor() { given.first().copied() } else { result.filter(|_| is_object) };
        let made = made.and_then(JavaValue::object).filter(|made| *made != 0);
        self.name_constant(machine, made, what);
        if let Some(result) = result {
            what = mix(what, u64::from(self.value(machine, result, is_object)));
        }
        self.did(frame.step, what);
        self.keeps(machine, frame.step, given, made, what);
        if exits(&callee.member) {
            self.taken.exit = given.last().and_then(|code| code.int());
            self.taken.run.main_end = Some(frame.step);
        }
        if let Some(written) = self.outline.written().get(n_before) {
            let words = words(machine, &types, given.get(n_object..).unwrap_or_default());
            self.taken.run.said.push(ObservableCall {
                step: written.step,
                time: u64::from(machine.n_steps),
                function: Arc::clone(&callee.member.name),
                words,
                text: written.bytes.clone(),
            });
        }
    }

    fn throws(&mut self, machine: &JavaMachine, frame: &JavaFrame, exception: JavaValue) {
        self.did(frame.step, 2);
        if machine.threw().is_none() {
            self.thrown.remove(&machine.thread);
        }
        if let Some(id) = exception.object() {
            self.thrown.insert(machine.thread, text::without_numbers(&text::object(machine, id)));
        }
    }

    fn threw(&mut self, machine: &JavaMachine, exception: JavaValue) {
        let Some(id) = exception.object() else { return };
        self.thrown.entry(machine.thread).or_insert_with(|| text::without_numbers(&text::object(machine, id)));
    }

    fn catches(&mut self, machine: &JavaMachine, frame: &JavaFrame, exception: JavaValue) {
        self.last.remove(&frame.number);
        self.taken.caught.insert(frame.step, exception.maker);
        // It went through the library, which threw it again.
        let is_it = |escape: &EscapedException| escape.step == exception.maker && escape.thread == machine.thread;
        if self.taken.escapes.last().is_some_and(is_it) {
            self.taken.escapes.pop();
        }
    }

    fn leaves(&mut self, machine: &JavaMachine, frame: &JavaFrame, is_return: bool, result: Option<JavaValue>) {
        self.outline.leaves(machine, frame, is_return, result);
        self.last.remove(&frame.number);
        if let Some(result) = result {
            let descriptor = result_type(&frame.method.descriptor);
            let named = self.value(machine, result, is_reference(descriptor));
            self.did(frame.step, mix(3, u64::from(named)));
            if !frame.is_direct {
                let returned = self.returned.entry(frame.caller).or_insert(0);
                *returned = mix(*returned, u64::from(named));
            }
        }
        if !is_return && (machine.frames().is_empty() || !frame.is_direct) {
            let step = machine.threw().unwrap_or(frame.step);
            let function = Arc::clone(&frame.method.function);
            let exception = self.thrown.remove(&machine.thread);
            self.taken.escapes.push(EscapedException { step, function, exception, thread: machine.thread });
        }
    }
}

/// Whether a method ends the process with a code.
fn exits(member: &PoolMember) -> bool {
    matches!((&*member.class, &*member.name), ("java/lang/System", "exit") | ("java/lang/Runtime", "exit" | "halt"))
}

/// What a call prints, as far as it is the same in another run.
fn words(machine: &JavaMachine, types: &[&str], given: &[JavaValue]) -> Vec<RunArgument> {
    let mut words = Vec::new();
    for (value, descriptor) in given.iter().zip(types) {
        let object = value.object().filter(|id| is_reference(descriptor) && *id != 0);
        match object.and_then(|id| Some((id, machine.objects.get(id)?))) {
            Some((array, object)) if object.kind == ObjectKind::Array => {
                for index in 0..object.length.min(MAX_ELEMENTS) {
                    let element = machine.memory.get(ValueLocation::Element(array, index));
                    words.push(element.map_or(RunArgument::Pointer, |element| word(machine, "L;", element)));
                }
            }
            _ => words.push(word(machine, descriptor, *value)),
        }
    }
    words
}

fn word(machine: &JavaMachine, descriptor: &str, value: JavaValue) -> RunArgument {
    let object = value.object().filter(|_| is_reference(descriptor)).and_then(|id| machine.objects.get(id));
    match object.map(|object| object.kind) {
        Some(ObjectKind::Other | ObjectKind::Array) => RunArgument::Pointer,
        _ => RunArgument::Text(text::value(machine, descriptor, value).into_bytes()),
    }
}
