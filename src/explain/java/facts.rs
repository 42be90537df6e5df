//! What a person sees of a step of a Java program to judge it.

use crate::facts::{DecisionOutcome, StepFacts, UsedValue, read, way};
use crate::java::recorded::JavaRecorded;
use crate::statements::Statements;
use idd_trace::instrument::java::descriptor::{ValueKind, is_reference, result_type};
use idd_trace::java::detail::JavaFocus;
use idd_trace::java::parts::structure;
use idd_trace::java::{JavaFrame, JavaMachine, JavaValue, MachineMethod, ValueLocation, Watch, text};
use idd_trace::{Access, Detail, Step, TraceError};
use std::collections::HashMap;
use std::sync::Arc;

/// Of a line that the library calls back from often, so many steps are shown, the first.
const MAX_MEMBERS: usize = 256;

/// Of the values that methods which the library calls back from a step returned, so many are shown, the first.
const MAX_RETURNED: usize = 32;

/// How the name of what the library keeps in an object begins.
pub(in crate::java) const CONTENTS: &str = "contents of ";

/// The class of the streams of a program.
const STREAM: &str = "PrintStream#";

/// A value that another line of the same statement computed is called so, with its number.
const OPERAND: &str = "operand";

/// How the name of a variable of the compiler begins.
const UNNAMED: &str = "local ";

/// The static field that a compiler adds to a class with assertions.
const SWITCH: &str = ".$assertionsDisabled";

/// The facts about a line; `None` if there is no such step. Nothing is called to show a value: objects are shown by their
/// fields and elements, as far as the recorded code read or wrote them.
///
/// - `members`: its steps, ascending.
///
/// Cost: plays from the last checkpoint before the first of them to the end of the last one.
pub fn facts(recorded: &mut JavaRecorded, members: &[Step]) -> Result<Option<StepFacts>, TraceError> {
    let members = &members[..members.len().min(MAX_MEMBERS)];
    let beside = BesideCollector { members, found: HashMap::new(), open: None, thrown: None };
    let mut watch = (JavaFocus::new(members, Step(u32::MAX)), beside);
    recorded.player.replay_from(members.first().copied().unwrap_or(Step::START), &mut watch)?;
    let (focus, mut beside) = watch;
    let mut found: Option<StepFacts> = None;
    for mut detail in focus.end() {
        let own = beside.found.remove(&detail.standing.step).unwrap_or_default();
        name(&mut detail, &own);
        let mut used = read(&detail, members);
        // The object of the method is the way to its fields, and seldom what is wrong.
        used.sort_by_key(|used| used.name == "this");
        used.extend(own.returned);
        used.extend((1..).zip(own.taken).map(|(number, (kind, value))| UsedValue {
            name: format!("{OPERAND} {number}"),
            value: Some(text::value(&recorded.player.machine, kind.descriptor(), value)),
            makers: vec![value.maker],
            origin: None,
            target: None,
        }));
        let next = StepFacts { detail, used, outcome: own.outcome };
        found = Some(match found {
            Some(found) => found.joined(next),
            None => next,
        });
    }
    Ok(found)
}

/// Names what a step reads and writes as its line sees it, and leaves out the streams of the program, variables of the
/// compiler, and whether assertions are enabled.
fn name(detail: &mut Detail, own: &OwnFacts) {
    let is_stream = |access: &Access| {
        let is_printer = access.named.value.as_ref().is_some_and(|value| value.starts_with(STREAM));
        is_printer && (access.named.name.starts_with("System.") || access.named.name.starts_with(CONTENTS))
    };
    let is_made_up = |access: &Access| access.named.name.ends_with(SWITCH) || access.named.name.starts_with(UNNAMED);
    detail.reads.retain(|access| !is_stream(access) && !is_made_up(access));
    detail.writes.retain(|access| !is_stream(access) && !is_made_up(access));
    for access in &mut detail.reads {
        access.target = own.targets.get(&access.named.name).cloned();
    }
    if detail.standing.is_entry {
        let method = detail.standing.function.rsplit('.').next().unwrap_or_default();
        // What the library gives to a method is not given by the line.
        detail.writes.retain(|access| own.is_direct && access.named.name != "this");
        for access in &mut detail.writes {
            access.named.name = format!("{method}.{}", access.named.name);
        }
    }
}

/// What is known of a step beside its [`Detail`].
#[derive(Default)]
struct OwnFacts {
    /// Whether it is the entry of a method that its caller named.
    is_direct: bool,
    returned: Vec<UsedValue>,
    /// What other lines left on the stack.
    taken: Vec<(ValueKind, JavaValue)>,
    outcome: Option<DecisionOutcome>,
    /// What is in the objects that it reads, by the names of the variables.
    targets: HashMap<String, String>,
}

/// Collects what a [`Detail`] has not.
struct BesideCollector<'m> {
    members: &'m [Step],
    found: HashMap<Step, OwnFacts>,
    /// A decision whose way is not known yet: its activation, its step, and its instruction.
    open: Option<(u64, Step, u32)>,
    /// The last exception.
    thrown: Option<String>,
}

impl BesideCollector<'_> {
    fn of(&mut self, step: Step) -> Option<&mut OwnFacts> {
        self.members.contains(&step).then(|| self.found.entry(step).or_default())
    }
}

impl Watch for BesideCollector<'_> {
    fn step(&mut self, _machine: &JavaMachine, frame: &JavaFrame) {
        if let Some((_, step, decision)) = self.open.take_if(|(number, ..)| *number == frame.number) {
            let outcome = outcome(&frame.method, decision, frame.at);
            if let Some(own) = self.of(step) {
                own.outcome = Some(outcome);
            }
        }
        if self.members.contains(&frame.step) && frame.step != frame.entry {
            let decision = frame.method.decision(frame.at);
            self.open = decision.map(|decision| (frame.number, frame.step, decision));
        }
    }

    fn takes(&mut self, frame: &JavaFrame, value: JavaValue, kind: ValueKind) {
        let is_inside = self.members.contains(&value.maker);
        if let Some(own) = self.of(frame.step).filter(|own| !is_inside && !own.taken.contains(&(kind, value))) {
            own.taken.push((kind, value));
        }
    }

    fn reads(&mut self, machine: &JavaMachine, frame: &JavaFrame, location: ValueLocation, value: JavaValue) {
        let Some(object) = value.object().filter(|_| self.members.contains(&frame.step)) else { return };
        let name = text::name(machine, frame, location);
        let structure = is_reference(&name.descriptor).then(|| structure(machine, object)).flatten();
        if let (Some(structure), Some(own)) = (structure, self.of(frame.step)) {
            own.targets.entry(name.text).or_insert(structure);
        }
    }

    fn writes(&mut self, _machine: &JavaMachine, frame: &JavaFrame, _location: ValueLocation, _value: JavaValue) {
        let is_direct = frame.is_direct || frame.caller == Step::START;
        if let Some(own) = self.of(frame.step).filter(|_| frame.step == frame.entry) {
            own.is_direct = is_direct;
        }
    }

    fn leaves(&mut self, machine: &JavaMachine, frame: &JavaFrame, is_return: bool, result: Option<JavaValue>) {
        self.open.take_if(|(number, ..)| *number == frame.number);
        let (target, value) = match result {
            Some(result) if is_return => {
                let descriptor = result_type(&frame.method.descriptor);
                let object = result.object().filter(|_| is_reference(descriptor));
                (object.and_then(|object| structure(machine, object)), text::value(machine, descriptor, result))
            }
            // The exception that left the method takes the place of what it returns.
            _ if !is_return => (None, self.thrown.clone().unwrap_or_else(|| "an exception".to_owned())),
            _ => return,
        };
        let is_direct = frame.is_direct;
        let own = self.of(frame.caller);
        // What the library was given by a method that it called back counts, too: `equals`, `compare`.
        if let Some(own) = own.filter(|own| is_direct || own.returned.len() < MAX_RETURNED) {
            own.returned.push(UsedValue {
                name: format!("{}()", frame.method.name),
                value: Some(value),
                makers: vec![frame.step],
                origin: None,
                target,
            });
        }
    }

    fn throws(&mut self, machine: &JavaMachine, _frame: &JavaFrame, exception: JavaValue) {
        self.thrown = exception.object().map(|object| text::object(machine, object));
    }

    fn is_done(&self) -> bool {
        true
    }
}

/// How a decision went that led to an instruction.
fn outcome(method: &MachineMethod, decision: u32, to: u32) -> DecisionOutcome {
    let place = |begin: u32| &method.places[method.starts[begin as usize] as usize];
    let way = way(place(to));
    let told = method.truth(decision, to).map_or_else(|| way.clone(), |truth| truth.to_string());
    DecisionOutcome::new(told, way, None, None)
}

impl Watch for Statements {
    fn step(&mut self, _machine: &JavaMachine, frame: &JavaFrame) {
        let method = &frame.method;
        let statement = if frame.step == frame.entry { 0 } else { frame.statement };
        Self::step(self, method.number, statement, method.places.len(), || {
            let place = frame.place().clone();
            let is_line = place.line > 0;
            (Some(place), is_line, Arc::clone(&method.function))
        });
    }
}
