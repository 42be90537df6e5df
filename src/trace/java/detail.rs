//! All facts about some steps, and the chain of steps from which a value comes.

use crate::detail::UsedThing as Neutral;
use crate::instrument::java::code::SourceVariable;
use crate::instrument::java::descriptor::result_type;
use crate::java::input::JavaInputReader;
use crate::java::{
    JavaFrame, JavaMachine, JavaPlayer, JavaUse, JavaValue, LibraryCall, MethodCallee, ValueLocation, Watch, text,
};
use crate::{Access, Detail, NamedAddress, OriginAnswer, Outside, Step, StepStanding, TraceError, VariableAnswer};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The maximum number of reads and writes of a step that are shown.
const MAX_ACCESSES: usize = 200;

/// Where the current step of an activation is in the source.
pub fn standing(frame: &JavaFrame) -> StepStanding {
    let place = frame.place();
    let n_in_line = frame.method.places.iter().skip(1).filter(|other| other.line == place.line).count();
    StepStanding {
        step: frame.step,
        function: Arc::clone(&frame.method.function),
        place: Some(place.clone()).filter(|place| place.line != 0),
        is_entry: frame.step == frame.entry,
        is_alone: n_in_line <= 1,
    }
}

/// The facts that are known when a step begins.
fn begun(machine: &JavaMachine, frame: &JavaFrame) -> Detail {
    let mut stack = Vec::new();
    let mut caller = frame.caller;
    for below in machine.frames().iter().rev() {
        stack.push((caller, Arc::clone(&below.method.function)));
        caller = below.caller;
    }
    Detail {
        standing: standing(frame),
        thread: machine.thread,
        control: Some(frame.decider()).filter(|step| *step != Step::START),
        stack,
        variables: text::variables(machine, frame),
        ..Detail::default()
    }
}

fn access(machine: &JavaMachine, frame: &JavaFrame, location: ValueLocation, value: JavaValue) -> Access {
    let name = text::name(machine, frame, location);
    let is_before = value.maker == Step::START;
    Access {
        named: NamedAddress { name: name.text, value: Some(text::value(machine, &name.descriptor, value)) },
        makers: BTreeSet::from([value.maker]),
        origin: is_before.then(|| "not set by code that is recorded".to_owned()),
        ..Access::default()
    }
}

/// Collects the facts about some steps.
#[derive(Default)]
pub struct JavaFocus<'f> {
    steps: &'f [Step],
    /// The number of these that have begun.
    n_begun: usize,
    until: Step,
    /// The details by step, with the number of the activation, and whether it has not gone on.
    found: HashMap<Step, (u64, Detail)>,
    /// The steps that have not ended.
    open: Vec<(u64, Step)>,
    n_steps: u32,
    inputs: JavaInputReader,
}

impl<'f> JavaFocus<'f> {
    /// Of steps, ascending, as far as the facts are known before `until`.
    pub fn new(steps: &'f [Step], until: Step) -> Self {
        Self { steps, until, ..Self::default() }
    }

    /// What was found, in the order of the steps.
    pub fn end(mut self) -> Vec<Detail> {
        self.steps.iter().filter_map(|step| self.found.remove(step)).map(|(_, detail)| detail).collect()
    }

    fn close(&mut self, frame: u64) {
        self.open.retain(|(number, _)| *number != frame);
    }

    fn of(&mut self, step: Step) -> Option<&mut Detail> {
        self.found.get_mut(&step).map(|(_, detail)| detail)
    }
}

fn note(accesses: &mut Vec<Access>, access: Access) {
    if accesses.len() < MAX_ACCESSES && !accesses.contains(&access) {
        accesses.push(access);
    }
}

impl Watch for JavaFocus<'_> {
    fn step(&mut self, machine: &JavaMachine, frame: &JavaFrame) {
        self.n_steps = frame.step.0;
        self.close(frame.number);
        if self.steps.get(self.n_begun) == Some(&frame.step) {
            self.n_begun += 1;
            self.found.insert(frame.step, (frame.number, begun(machine, frame)));
            self.open.push((frame.number, frame.step));
        }
    }

    fn uses(&mut self, user: Step, maker: Step, what: JavaUse) {
        let what = match what {
            JavaUse::Place(_) => return,
            JavaUse::Temporary | JavaUse::Exception => Neutral::Temporary,
            JavaUse::Arguments => Neutral::Arguments,
            JavaUse::Returned => Neutral::Returned,
        };
        if let Some(detail) = self.of(user) {
            detail.uses.insert((maker, what));
        }
    }

    fn reads(&mut self, machine: &JavaMachine, frame: &JavaFrame, location: ValueLocation, value: JavaValue) {
        self.inputs.reads(machine, frame, location, value);
        if let Some(detail) = self.of(frame.step) {
            note(&mut detail.reads, access(machine, frame, location, value));
        }
    }

    fn writes(&mut self, machine: &JavaMachine, frame: &JavaFrame, location: ValueLocation, value: JavaValue) {
        self.inputs.writes(machine, frame, location, value);
        if let Some(detail) = self.of(frame.step) {
            note(&mut detail.writes, access(machine, frame, location, value));
        }
    }

    fn called(&mut self, machine: &JavaMachine, frame: &JavaFrame, call: &LibraryCall<'_>) {
        let n_before = self.inputs.n_reads();
        self.inputs.called(machine, frame, call);
        let is_input = self.inputs.n_reads() > n_before;
        let Some(detail) = self.of(frame.step) else { return };
        if detail.calls.len() >= MAX_ACCESSES {
            return;
        }
        let LibraryCall { callee, given, result } = *call;
        let (arguments, name) = self::call(machine, call);
        let shown = |value: JavaValue| text::value(machine, result_type(&callee.member.descriptor), value);
        detail.calls.push(Outside {
            name: Some(name),
            arguments,
            numbers: given.iter().map(|value| value.is_known.then_some(value.bits)).collect(),
            result: result.filter(|_| callee.result.is_some()).map(shown),
            is_input,
            input: None,
            is_modelled: machine.is_modelled(call),
        });
    }

    fn leaves(&mut self, machine: &JavaMachine, frame: &JavaFrame, _is_return: bool, result: Option<JavaValue>) {
        let descriptor = result_type(&frame.method.descriptor);
        if let (Some(result), Some(detail)) = (result, self.of(frame.step)) {
            detail.returned = Some(text::value(machine, descriptor, result));
        }
        self.close(frame.number);
    }

    fn is_done(&self) -> bool {
        self.n_steps >= self.until.0 || (self.n_begun == self.steps.len() && self.open.is_empty())
    }
}

/// A call for people: its arguments, and its name: `list.add`, `Math.max`, `new ArrayList`.
pub fn call(machine: &JavaMachine, call: &LibraryCall<'_>) -> (Vec<String>, Arc<str>) {
    let LibraryCall { callee, given, .. } = *call;
    let signature = crate::instrument::java::descriptor::MethodTypes::of(&callee.member.descriptor);
    let types = signature.map(|signature| signature.parameters).unwrap_or_default();
    let (object, rest) = given.split_at(usize::from(callee.has_object).min(given.len()));
    let arguments =
        rest.iter().zip(types).map(|(value, descriptor)| text::value(machine, descriptor, *value)).collect();
    let class = text::simple(&callee.member.class);
    let name = match object.first() {
        Some(object) if !callee.is_constructor() => {
            format!("{}.{}", text::value(machine, "L;", *object), callee.member.name).into()
        }
        None if &*callee.member.name == "makeConcatWithConstants" => "string +".into(),
        None if class.is_empty() => format!("lambda for {}", callee.member.name).into(),
        _ => call_name(callee),
    };
    (arguments, name)
}

/// The name of a called method with its class: `Math.max`, `List.add`, `new ArrayList`.
pub fn call_name(callee: &MethodCallee) -> Arc<str> {
    let class = text::simple(&callee.member.class);
    if callee.is_constructor() {
        format!("new {class}").into()
    } else {
        format!("{class}.{}", callee.member.name).into()
    }
}

/// All facts about some steps; see [`Execution::details`](crate::execution::Execution::details).
///
/// Cost: plays the trace up to the end of the last of them.
pub fn details(player: &mut JavaPlayer, steps: &[Step], until: Step) -> Result<Vec<Detail>, TraceError> {
    let mut focus = JavaFocus::new(steps, until);
    player.replay(&mut focus)?;
    Ok(focus.end())
}

/// A variable or a part of one: `x`, `this.count`, `a[2].next`; also `count` and `Main.limit` where no variable has the name.
fn variable(machine: &JavaMachine, frame: &JavaFrame, path: &str) -> Option<Access> {
    let (mut location, mut rest) = root(machine, frame, path)?;
    let mut held = match location {
        ValueLocation::Local(local) => frame.locals.get(usize::from(local)).copied()?,
        _ => machine.memory.get(location)?,
    };
    while !rest.is_empty() {
        let object = held.object().filter(|object| *object != 0)?;
        let (part, after) = rest.split_at(end_of_part(rest));
        location = match part.strip_prefix('[').and_then(|part| part.strip_suffix(']')) {
            Some(index) => ValueLocation::Element(object, index.parse().ok()?),
            None => machine.memory.field_named(object, &part[1..], &machine.program)?,
        };
        held = machine.memory.get(location)?;
        rest = after;
    }
    Some(access(machine, frame, location, held))
}

/// Where the first of some parts of a variable ends: `.next` of `.next[2]`.
fn end_of_part(parts: &str) -> usize {
    parts[1..].find(['.', '[']).map_or(parts.len(), |at| at + 1)
}

/// The place that a path begins with, and the rest of the path: a variable, a field of `this`, or a static field.
fn root<'p>(machine: &JavaMachine, frame: &JavaFrame, path: &'p str) -> Option<(ValueLocation, &'p str)> {
    let (first, rest) = path.split_at(path.find(['.', '[']).unwrap_or(path.len()));
    let visible = |variable: &&SourceVariable| &*variable.name == first && variable.visible.contains(&frame.at);
    if let Some(variable) = frame.method.variables.iter().find(visible) {
        return Some((ValueLocation::Local(variable.local), rest));
    }
    if !frame.method.is_static {
        if first == "this" {
            return Some((ValueLocation::Local(0), rest));
        }
        let this = frame.locals.first()?.object()?;
        if let Some(field) = machine.memory.field_named(this, first, &machine.program) {
            return Some((field, rest));
        }
    }
    let set = |name: &str, is_of: &dyn Fn(&str) -> bool| {
        let fields = machine.program.fields_named(name).filter(|field| is_of(&machine.program.field(*field).class));
        fields.map(ValueLocation::Static).find(|location| machine.memory.get(*location).is_some())
    };
    if let Some(field) = set(first, &|class| class == &*frame.method.class) {
        return Some((field, rest));
    }
    if rest.is_empty() {
        return None;
    }
    let (part, after) = rest.split_at(end_of_part(rest));
    Some((set(part.strip_prefix('.')?, &|class| text::simple(class) == first)?, after))
}

/// A variable before a step, or the answer that there is none.
pub fn asked(player: &mut JavaPlayer, step: Step, path: &str) -> Result<VariableAnswer, TraceError> {
    let mut found = None;
    player.look_from(step, |machine, frame| {
        if frame.step == step {
            let names = text::variables(machine, frame).into_iter().map(|(name, _)| name).collect();
            found = Some((standing(frame), variable(machine, frame, path), names));
        }
        frame.step < step
    })?;
    let Some((standing, asked, names)) = found else { return Ok(Err(OriginAnswer::NoStep)) };
    Ok(asked.map(|asked| (standing, asked)).ok_or(OriginAnswer::NoVariable(names)))
}
