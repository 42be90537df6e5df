//! All facts about one step, and the chain of steps from which a value comes.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::detail::MAX_CONTENT;
use crate::native::model::{Effect, Model};
use crate::native::scanned::{self, ScannedConversion};
use crate::native::visit::before_step;
use crate::native::{
    CallArgument, Crash, FunctionShape, NativeCall, NativeFrame, NativeMachine, NativePlayer, PrintClass, RecordAction,
    View, Watch, bounds, object, value,
};
use crate::{
    Access, Detail, Doing, NamedAddress, OriginAnswer, Outside, Place, Step, StepStanding, TraceError, UsedThing,
    VariableAnswer,
};

/// The maximum number of reads and writes of a step that are shown.
const MAX_ACCESSES: usize = 200;

/// Bytes that are shown of a text that a function of the library reads.
pub const MAX_TEXT: u64 = 80;

/// Formats that are looked through are no longer.
const MAX_FORMAT: u64 = 4096;

/// The maximum number of makers of a step that are shown.
const MAX_MAKERS: usize = 64;

/// A step that has begun and has not ended.
struct OpenStep {
    frame: u64,
    detail: Detail,
    /// The makers of the next value that it reads.
    makers: BTreeSet<Step>,
    /// Where that value is, if it is outside of what the program named.
    outside: Option<String>,
}

/// Collects the facts about some steps.
#[derive(Default)]
struct NativeFocus<'f> {
    /// The steps, ascending.
    steps: &'f [Step],
    /// The number of these that have begun.
    n_begun: usize,
    /// The first step that is left out.
    until: Step,
    counts: Option<HashMap<(u32, u32), u64>>,
    open: Vec<OpenStep>,
    found: Vec<Detail>,
    /// A step that returned, and its function, until its caller goes on.
    left: Option<(Step, Arc<FunctionShape>)>,
    is_done: bool,
}

impl NativeFocus<'_> {
    fn of(&mut self, step: Step) -> Option<&mut OpenStep> {
        self.open.iter_mut().rev().find(|open| open.detail.standing.step == step)
    }

    fn current(&mut self, machine: &NativeMachine) -> Option<&mut OpenStep> {
        self.of(machine.frame()?.step)
    }

    fn close(&mut self, frame: u64) {
        if let Some(index) = self.open.iter().position(|open| open.frame == frame) {
            self.found.push(self.open.remove(index).detail);
            self.is_done |= self.open.is_empty();
        }
    }
}

impl OpenStep {
    fn access(&mut self, view: View<'_>, address: u64, size: u64, bytes: Option<&[u8]>) -> Access {
        let makers = std::mem::take(&mut self.makers);
        let unwritten = || makers.contains(&Step::START).then(|| origin(view, address));
        let origin = self.outside.take().or_else(unwritten);
        let n = usize::try_from(size.min(MAX_CONTENT)).unwrap_or(0);
        let content = bytes.map_or_else(|| view.machine.memory.bytes(address, n), |bytes| Some(bytes.to_vec()));
        let named = view.named(address, size, bytes);
        let (text_makers, text_name) = text(view, &named, content.as_deref().filter(|_| size == 8));
        Access { named, address, size, content, makers, text_makers, text_name, target: None, origin }
    }
}

fn add(accesses: &mut Vec<Access>, access: Access) {
    if accesses.len() < MAX_ACCESSES {
        accesses.push(access);
    }
}

/// The steps that wrote the text that a pointer points to, if its value shows it, and what has that text.
fn text(view: View<'_>, named: &NamedAddress, bytes: Option<&[u8]>) -> (BTreeSet<Step>, Option<String>) {
    let pointer = bytes.and_then(<[u8]>::first_chunk).map(|bytes| u64::from_le_bytes(*bytes));
    let is_text = named.value.as_ref().is_some_and(|value| value.starts_with("0x") && value.contains('"'));
    let mut found = BTreeSet::new();
    if let Some(pointer) = pointer.filter(|_| is_text) {
        let (memory, longest) = (&view.machine.memory, object::MAX_STRING);
        let length = memory.string(pointer, longest).map_or(longest, |text| text.len() as u64 + 1);
        memory.writers(pointer, length, |maker| _ = found.insert(maker));
        return (found, view.name(pointer, 0));
    }
    (found, None)
}

/// The source of a byte that no step wrote.
fn origin(view: View<'_>, address: u64) -> String {
    if view.machine.is_window {
        return "from before the part that was kept".to_owned();
    }
    if let Some(name) = view.start(address).filter(|name| name.starts_with("argv") || name.starts_with('*')) {
        return format!("argument of the program: {name}");
    }
    if view.machine.heap.find(address).is_some() {
        return "never written: a block of the heap".to_owned();
    }
    if let Some(global) = view.machine.globals.find(address) {
        return if global.is_named { format!("initial value of {}", global.name) } else { "a constant".to_owned() };
    }
    match view.name(address, 1) {
        Some(name) if name == "the environment" => "the environment".to_owned(),
        Some(_) => "never written: a variable without a value".to_owned(),
        None => "written by nothing that was recorded".to_owned(),
    }
}

/// The facts about a step that are known when it begins.
fn begun(view: View<'_>, frame: &NativeFrame, instance: Option<u64>) -> Detail {
    let machine = view.machine;
    let is_entry = frame.statement == 0;
    let control = if is_entry { frame.caller } else { frame.decider() };
    let variables = if is_entry { Vec::new() } else { view.variables(frame) };
    let callers = machine.frames.iter().rev();
    let stack = callers.clone().zip(callers.skip(1)).map(|(frame, caller)| (frame.caller, caller.shape.name()));
    Detail {
        standing: StepStanding {
            step: frame.step,
            function: frame.shape.name(),
            place: frame.place().cloned(),
            is_entry,
            is_alone: is_alone(frame),
        },
        thread: machine.thread,
        instance,
        control: (control != Step::START).then_some(control),
        stack: stack.collect(),
        variables: variables.iter().map(|place| (Arc::clone(&place.name), view.show(place))).collect(),
        is_window: machine.is_window,
        ..Detail::default()
    }
}

/// The bytes of a variable of the current activation that never reach memory, right after it was written.
fn held(machine: &NativeMachine, address: u64) -> Option<[u8; 8]> {
    let frame = machine.frame()?;
    let slot = frame.shape.slots.iter().find(|slot| frame.value(slot.register) == Some(address))?;
    frame.value(slot.plain?).map(u64::to_le_bytes)
}

/// What has just been written, as the facts about its step show it.
pub fn written(view: View<'_>, address: u64, length: u64) -> NamedAddress {
    let bytes = held(view.machine, address);
    let n = usize::try_from(length).unwrap_or(8).min(8);
    view.named(address, length, bytes.as_ref().map(|bytes| &bytes[..n]))
}

impl Watch for NativeFocus<'_> {
    fn step(&mut self, machine: &NativeMachine) {
        self.left = None;
        let Some(frame) = machine.frame() else { return };
        self.close(frame.number);
        if frame.step >= self.until {
            self.found.extend(self.open.drain(..).map(|open| open.detail));
            self.is_done = true;
            return;
        }
        let statement = (frame.shape.index, frame.statement);
        let count = self.counts.as_mut().map(|counts| {
            let count = counts.entry(statement).or_insert(0);
            *count += 1;
            *count
        });
        if self.steps.get(self.n_begun) == Some(&frame.step) {
            self.n_begun += 1;
            if self.n_begun == self.steps.len() {
                self.counts = None;
            }
            let detail = begun(View::new(machine), frame, count);
            self.open.push(OpenStep { frame: frame.number, detail, makers: BTreeSet::new(), outside: None });
            self.is_done = false;
        }
    }

    fn uses(&mut self, user: Step, maker: Step, what: UsedThing) {
        let Some(open) = self.of(user) else { return };
        match what {
            UsedThing::Memory(..) | UsedThing::Address(..) => {
                if open.makers.len() < MAX_MAKERS {
                    open.makers.insert(maker);
                }
            }
            _ => {
                open.detail.uses.insert((maker, what));
            }
        }
    }

    fn acts(&mut self, machine: &NativeMachine, action: &RecordAction, record: &[u8]) {
        if let Some(open) = self.current(machine) {
            open.outside = bounds::outside(machine, action, record);
        }
    }

    fn reads(&mut self, machine: &NativeMachine, step: Step, address: u64, bytes: &[u8]) {
        let Some(open) = self.of(step) else { return };
        let access = open.access(View::new(machine), address, bytes.len() as u64, Some(bytes));
        add(&mut open.detail.reads, access);
    }

    fn looks(&mut self, machine: &NativeMachine, step: Step, address: u64, length: u64) {
        let Some(open) = self.of(step) else { return };
        let mut access = open.access(View::new(machine), address, length, None);
        // As a rule it is text, and without a type. A structure is shown by its fields.
        let is_structure = access.named.value.as_ref().is_some_and(|value| value.starts_with('{'));
        if !is_structure
            && let Some(bytes) = machine.memory.bytes(address, usize::try_from(length.min(MAX_TEXT)).unwrap_or(0))
        {
            access.named.value = Some(value::quoted(bytes.strip_suffix(&[0]).unwrap_or(&bytes), '"'));
        }
        add(&mut open.detail.reads, access);
    }

    fn writes(&mut self, machine: &NativeMachine, step: Step, address: u64, length: u64) {
        let Some(open) = self.of(step) else { return };
        let bytes = held(machine, address);
        let n = usize::try_from(length).unwrap_or(8).min(8);
        let access = open.access(View::new(machine), address, length, bytes.as_ref().map(|bytes| &bytes[..n]));
        add(&mut open.detail.writes, access);
    }

    fn called(&mut self, machine: &NativeMachine, call: &NativeCall, arguments: &[Option<u64>], result: Option<u64>) {
        let view = View::new(machine);
        if let Some(open) = self.current(machine) {
            open.detail.calls.push(outside(view, call, arguments, result));
        }
    }

    fn crashes(&mut self, machine: &NativeMachine, crash: &Crash) {
        let view = View::new(machine);
        let Some(open) = self.current(machine) else { return };
        let written = if let Doing::Writing(written) = crash.doing { written.map(u64::to_le_bytes) } else { None };
        let length = usize::try_from(crash.length).unwrap_or(usize::MAX);
        let bytes = written.as_ref().and_then(|bytes| bytes.get(..length));
        let access = (crash.doing != Doing::Dividing)
            .then(|| (crash.doing, open.access(view, crash.address, crash.length, bytes)));
        open.detail.crash = Some((crash.signal, access));
    }

    fn leaves(&mut self, machine: &NativeMachine, is_return: bool) {
        let Some(frame) = machine.frame() else { return };
        let is_here = is_return && self.open.iter().any(|open| open.detail.standing.step == frame.step);
        self.left = is_here.then(|| (frame.step, Arc::clone(&frame.shape)));
        self.close(frame.number);
    }

    fn returned(&mut self, machine: &NativeMachine, result: Option<u64>) {
        let Some((step, shape)) = self.left.take() else { return };
        let view = View::new(machine);
        let ty = shape.body.function.subprogram.and_then(|subprogram| shape.debug().result(subprogram));
        let text = result.and_then(|bits| match ty {
            Some(ty) => Some(view.given(shape.debug(), ty, bits)),
            None => view.result(machine.frame()?, bits).map(|(text, _)| text),
        });
        if let Some(detail) = self.found.iter_mut().rev().find(|detail| detail.standing.step == step) {
            detail.returned = text;
        }
    }

    fn is_done(&self) -> bool {
        self.is_done && self.left.is_none()
    }
}

/// The arguments through which a function writes numbers or pointers.
fn written_as_numbers(view: View<'_>, model: &Model, arguments: &[Option<u64>]) -> Vec<usize> {
    let mut found = Vec::new();
    for effect in model.effects {
        match *effect {
            Effect::ReadsLine(pointer, size) => found.extend([pointer, size]),
            Effect::Scans(format) => {
                let at = arguments.get(format).copied().flatten();
                let text = at.and_then(|at| view.machine.memory.string(at, MAX_FORMAT)).unwrap_or_default();
                let conversions = (format + 1..).zip(scanned::conversions(&text));
                let others = conversions.filter(|(_, written)| !matches!(written, ScannedConversion::Text(_)));
                found.extend(others.map(|(index, _)| index));
            }
            _ => {}
        }
    }
    found
}

/// A call of a function that is not instrumented, as the facts about its step show it.
pub fn outside(view: View<'_>, call: &NativeCall, arguments: &[Option<u64>], result: Option<u64>) -> Outside {
    let show = |number: u64, size: u32, class: PrintClass| match class {
        PrintClass::Float => value::float_of(&number.to_le_bytes()[..size.clamp(4, 8) as usize]),
        PrintClass::Integer => view.raw(&number.to_le_bytes()[..size.clamp(1, 8) as usize]),
        PrintClass::Other => "?".to_owned(),
    };
    let numbers = call.model.map(|model| written_as_numbers(view, model, arguments)).unwrap_or_default();
    let text = |(index, (number, argument)): (usize, (&Option<u64>, &CallArgument))| {
        let Some(number) = number else { return "?".to_owned() };
        let is_word = argument.size == 8 && argument.class == PrintClass::Integer;
        let is_pointer = is_word && *number > 4096 && !numbers.contains(&index);
        let string = is_pointer.then(|| view.machine.memory.string(*number, 80)).flatten();
        match string.filter(|bytes| !bytes.is_empty() && value::is_text(bytes)) {
            Some(string) => value::quoted(&string, '"'),
            None => show(*number, argument.size, argument.class),
        }
    };
    let model = call.model;
    Outside {
        name: call.name.clone(),
        arguments: arguments.iter().zip(&call.arguments).enumerate().map(text).collect(),
        numbers: arguments.to_vec(),
        result: result.map(|result| {
            let class = call.result.unwrap_or(PrintClass::Integer);
            let is_short = result >> 32 == 0 && class == PrintClass::Integer;
            show(result, if is_short { 4 } else { call.result_size.min(8) }, class)
        }),
        is_input: model.is_some_and(|model| model.input.is_some()),
        input: None,
        is_modelled: model.is_some(),
    }
}

fn is_alone(frame: &NativeFrame) -> bool {
    let Some(place) = frame.place() else { return false };
    let is_here = |other: &&Place| other.file == place.file && other.line == place.line;
    frame.shape.statements.iter().filter_map(|statement| statement.place.as_ref()).filter(is_here).count() == 1
}

/// All facts about some steps, up to the beginning of `until`. Steps that do not exist are left out.
///
/// - `steps`: ascending.
///
/// Cost: plays from the checkpoint before the first step to the end of the last one; checkpoints in between are used
/// to skip.
pub fn details(player: &mut NativePlayer, steps: &[Step], until: Step) -> Result<Vec<Detail>, TraceError> {
    let mut focus = NativeFocus { steps, until, ..NativeFocus::default() };
    while let Some(step) = steps.get(focus.n_begun) {
        let n_before = player.machine.n_steps;
        player.rewind(*step);
        // How often something ran before the part that was kept is not known.
        let is_from_start = player.machine.n_steps == 0 && !player.machine.is_window;
        if is_from_start {
            focus.counts = Some(HashMap::new());
        } else if player.machine.n_steps != n_before {
            focus.counts = None;
        }
        if focus.counts.is_none() && focus.open.is_empty() {
            player.approach(*step)?;
        }
        focus.is_done = false;
        if !player.play(&mut focus)? {
            break;
        }
    }
    focus.found.extend(focus.open.drain(..).map(|open| open.detail));
    Ok(focus.found)
}

/// All facts about one step; `None` if there is no such step.
pub fn detail(player: &mut NativePlayer, step: Step) -> Result<Option<Detail>, TraceError> {
    Ok(details(player, &[step], Step(u32::MAX))?.pop())
}

/// A variable before the current step of a frame, and its last writers.
fn variable(view: View<'_>, frame: &NativeFrame, variable: &str) -> Option<Access> {
    let place = view.named_by(frame, variable)?;
    let mut makers: BTreeSet<Step> = place.held.iter().map(|(_, maker)| *maker).collect();
    if place.held.is_none() {
        view.machine.memory.writers(place.address, place.size, |maker| _ = makers.insert(maker));
    }
    let origin = makers.contains(&Step::START).then(|| origin(view, place.address));
    let named = NamedAddress { name: place.name.to_string(), value: Some(view.show(&place)) };
    let (address, size) = (place.address, place.size);
    Some(Access { named, address, size, makers, origin, ..Access::default() })
}

/// A variable before a step, or the answer that there is none.
pub fn asked(player: &mut NativePlayer, step: Step, path: &str) -> Result<VariableAnswer, TraceError> {
    let mut found = None;
    before_step(player, step, |machine| {
        let view = View::new(machine);
        found = machine.frame().map(|frame| (begun(view, frame, None), variable(view, frame, path)));
    })?;
    let Some((detail, asked)) = found else { return Ok(Err(OriginAnswer::NoStep)) };
    let names = detail.variables.into_iter().map(|(name, _)| name).collect();
    Ok(asked.map(|asked| (detail.standing, asked)).ok_or(OriginAnswer::NoVariable(names)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Execution;
    use crate::native::stored::{player, step};
    use crate::native::uses::dependences;

    /// The lines of the steps that a variable comes from, and whether there are more.
    fn origins(program: &str, at: (u32, usize), variable: &str, limit: usize) -> (Vec<u32>, bool) {
        let mut player = player(program, "bad");
        let at = step(&mut player, at.0, at.1);
        let graph = dependences(&mut player, at).unwrap();
        let OriginAnswer::Found(why) = player.why(&graph, (at, variable), limit).unwrap() else { panic!("{variable}") };
        assert!(why.steps.iter().all(|detail| detail.standing.step < at));
        let lines = why.steps.iter().map(|detail| detail.standing.place.as_ref().map_or(0, |place| place.line));
        (lines.collect(), why.is_cut)
    }

    #[test]
    fn what_an_operator_chose_comes_from_what_its_conditions_returned() {
        // `int both = may_climb(5000) && answer(1) > 0;` is false because of `return 0;`.
        let (lines, is_cut) = origins("returns", (25, 0), "both", 50);
        assert!(lines.contains(&14) && lines.iter().filter(|line| **line == 24).count() == 2 && !is_cut, "{lines:?}");
        assert_eq!(origins("returns", (25, 0), "both", 2), (lines[..2].to_vec(), true));
    }

    #[test]
    fn what_a_function_was_given_does_not_come_from_what_it_returns_later() {
        // `return may_climb(height) + 10;` runs because of `answer(5000) == 10`, to which neither has returned.
        let (lines, _) = origins("returns", (18, 0), "height", 50);
        assert!(lines.contains(&25) && !lines.contains(&14) && !lines.contains(&18), "{lines:?}");
    }

    #[test]
    fn several_steps_are_looked_at_in_one_go_as_if_each_were_alone() {
        let mut run = player("list", "bad");
        run.play(&mut crate::native::machine::Nobody).unwrap();
        let all: Vec<Step> = (1..=run.machine.n_steps).map(Step).collect();
        let together = details(&mut run, &all, Step(u32::MAX)).unwrap();
        assert_eq!(together.len(), all.len());
        for found in together {
            assert_eq!(detail(&mut player("list", "bad"), found.standing.step).unwrap(), Some(found));
        }
        assert_eq!(detail(&mut run, Step(1000)).unwrap(), None);
    }
}
