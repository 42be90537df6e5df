//! What steps do with values that can be replaced: at which instruction, which time, and what stands there.

use std::collections::BTreeMap;

use crate::java::chain::RunPair;
use crate::link::{Did, Link};
use idd_trace::instrument::java::descriptor::{MethodTypes, ValueKind, is_reference, result_type};
use idd_trace::instrument::java::operation::{JumpTest, Operation};
use idd_trace::instrument::java::replace::{Instead, Replacement, ReplacementPoint, ValueHolder};
use idd_trace::java::arithmetic::holds;
use idd_trace::java::method::NONE;
use idd_trace::java::value::of_int;
use idd_trace::java::{
    JavaFrame, JavaMachine, JavaPlayer, JavaValue, LibraryCall, MachineMethod, ObjectKind, ValueLocation, Watch,
};
use idd_trace::{Step, TraceError};

/// What a step did once.
#[derive(Debug, Clone)]
struct StepEffect {
    /// What it gave a value: the same text in both versions.
    name: String,
    /// Where that can be replaced, and which time that is.
    point: Option<(ReplacementPoint, u64)>,
    /// What is there, as far as it can be said to another run.
    value: Option<Instead>,
}

/// How a step decided.
#[derive(Debug, Clone)]
struct StepDecision {
    point: ReplacementPoint,
    nth: u64,
    /// What is compared last.
    value: Option<Instead>,
    /// What must be there to go each of the ways.
    ways: Vec<Option<Instead>>,
    /// The way that was gone.
    taken: usize,
    /// Whether it decides whether a loop repeats.
    is_loop: bool,
}

#[derive(Debug, Clone, Default)]
struct Deeds {
    effects: Vec<StepEffect>,
    decision: Option<StepDecision>,
}

/// What some steps of a run did.
pub struct StepEffects(BTreeMap<Step, Deeds>);

/// How a step comes to do what the reference does: the values to replace.
pub type Remedy = Vec<Replacement>;

impl StepEffects {
    /// Looks at steps.
    ///
    /// Cost: plays the run.
    pub fn read(player: &mut JavaPlayer, steps: &[Step]) -> Result<Self, TraceError> {
        let found = steps.iter().map(|step| (*step, Deeds::default())).collect();
        let mut looking = Looking { found, counts: Vec::new(), entries: Vec::new() };
        player.replay(&mut looking)?;
        Ok(Self(looking.found))
    }

    /// How a decision between two ways goes the other one, and whether it decides whether a loop repeats; `None` if the step
    /// decides nothing, or nothing that could be there makes it do that.
    pub fn switched(&self, step: Step) -> Option<(Replacement, bool)> {
        let decision = self.0.get(&step)?.decision.as_ref().filter(|decision| decision.ways.len() == 2)?;
        Some((decision.gone(1 - decision.taken)?, decision.is_loop))
    }
}

impl StepDecision {
    /// How it goes a way.
    fn gone(&self, way: usize) -> Option<Replacement> {
        let expected = self.value.clone().filter(|value| *value != Instead::Object);
        Some(Replacement { point: self.point.clone(), nth: self.nth, expected, instead: self.ways.get(way)?.clone()? })
    }
}

impl RunPair<'_> {
    /// How a step of the failing run comes to do what the reference does, as far as a link tells it: the value that it names, or
    /// the decision. Empty if that cannot be replaced.
    pub fn remedy(&self, link: &Link, ours: &StepEffects, theirs: &StepEffects) -> Remedy {
        let Some(other) = self.alignment.reference(link.step) else { return Remedy::new() };
        let (Some(ours), Some(theirs)) = (ours.0.get(&link.step), theirs.0.get(&other)) else { return Remedy::new() };
        match &link.did {
            Did::Decided { .. } => self.other_way(ours.decision.as_ref(), other).into_iter().collect(),
            // The reference made a call behind the decision.
            Did::Holds { .. } if self.decides_otherwise(link.step, other) => {
                self.other_way(ours.decision.as_ref(), other).into_iter().collect()
            }
            Did::Gave { variable, is_kept: false, .. } => replaced(ours, theirs, &|name| names(name, variable)),
            Did::Returned { function, .. } if link.function.as_ref() == Some(function) => {
                replaced(ours, theirs, &|name| name == RETURN)
            }
            Did::Returned { function, .. } => replaced(ours, theirs, &|name| is_result(name, function)),
            _ => Remedy::new(),
        }
    }

    /// How a decision goes the way of the reference.
    fn other_way(&self, decision: Option<&StepDecision>, other: Step) -> Option<Replacement> {
        let decision = decision?;
        let wanted = match decision.ways.len() {
            2 => 1 - decision.taken,
            _ => usize::from(self.reference.ways[other.0 as usize].number).checked_sub(1)?,
        };
        decision.gone(wanted)
    }
}

/// Whether the name of an effect is that of a variable of the source: `local n`, `field count` of `known.count`.
fn names(effect: &str, variable: &str) -> bool {
    let Some((kind, name)) = effect.split_once(' ') else { return false };
    match kind {
        "local" => name == variable,
        "field" | "static" => {
            let name = name.rsplit('.').next().unwrap_or(name);
            variable == name || variable.strip_suffix(name).is_some_and(|before| before.ends_with('.'))
        }
        "element" => variable.ends_with(&format!("[{name}]")),
        _ => false,
    }
}

/// The name of the effect of a `return`.
const RETURN: &str = "return";

/// Whether the name of an effect is that of what a function of the library returned: `result java/lang/String.length` of
/// `String.length`.
fn is_result(effect: &str, function: &str) -> bool {
    effect.strip_prefix("result ").is_some_and(|name| name.rsplit('/').next() == Some(function))
}

/// The effects of these names, with the values that the reference has; empty if one of them cannot be replaced.
fn replaced(ours: &Deeds, theirs: &Deeds, is_meant: &dyn Fn(&str) -> bool) -> Remedy {
    let mut rest = theirs.effects.clone();
    let mut found = Remedy::new();
    for effect in ours.effects.iter().filter(|effect| is_meant(&effect.name)) {
        let same = rest.iter().position(|other| other.name == effect.name).map(|at| rest.remove(at));
        let instead = same.and_then(|same| same.value);
        if instead.is_some() && instead == effect.value && instead != Some(Instead::Object) {
            continue;
        }
        match (&effect.point, instead) {
            (Some((point, nth)), Some(instead)) if instead != Instead::Object => {
                let expected = effect.value.clone().filter(|value| *value != Instead::Object);
                found.push(Replacement { point: point.clone(), nth: *nth, expected, instead });
            }
            _ => return Remedy::new(),
        }
    }
    found
}

struct Looking {
    found: BTreeMap<Step, Deeds>,
    /// By method: how many times each of its instructions ran that may be a point.
    counts: Vec<Vec<u64>>,
    /// By method: how many times it was entered.
    entries: Vec<u64>,
}

fn point(method: &MachineMethod, instruction: u32, holder: ValueHolder, of: &str) -> ReplacementPoint {
    ReplacementPoint {
        class: method.class.to_string(),
        method: method.name.to_string(),
        descriptor: method.descriptor.to_string(),
        instruction,
        holder,
        of: of.to_owned(),
    }
}

const OBJECT: &str = "Ljava/lang/Object;";

fn descriptor(kind: ValueKind) -> Option<&'static str> {
    match kind {
        ValueKind::Int => Some("I"),
        ValueKind::Long => Some("J"),
        ValueKind::Float => Some("F"),
        ValueKind::Double => Some("D"),
        ValueKind::Reference => None,
    }
}

/// A value as another run can be told it; `None` if it is not known.
fn known(machine: &JavaMachine, value: JavaValue, is_object: bool) -> Option<Instead> {
    if !is_object {
        return value.is_known.then_some(Instead::Bits(value.bits));
    }
    let id = value.object()?;
    if id == 0 {
        return Some(Instead::Null);
    }
    let object = machine.objects.get(id)?;
    let text = || object.text.to_string();
    Some(match object.kind {
        ObjectKind::String if object.text.encode_utf16().count() == object.length as usize => Instead::Text(text()),
        ObjectKind::Boxed => Instead::Boxed(text()),
        ObjectKind::Constant => Instead::Constant(text()),
        _ => Instead::Object,
    })
}

/// The type of a parameter, by its local.
fn parameter(method: &MachineMethod, local: u16) -> Option<String> {
    let signature = MethodTypes::of(&method.descriptor).ok()?;
    let mut at = u16::from(!method.is_static);
    for (of, kind) in signature.parameters.iter().zip(signature.kinds().ok()?) {
        if at == local {
            return Some((*of).to_owned());
        }
        at += kind.n_slots();
    }
    None
}

impl Looking {
    /// Counts a run of the present instruction; which time it is.
    fn count(&mut self, frame: &JavaFrame) -> u64 {
        let number = frame.method.number as usize;
        if self.counts.len() <= number {
            self.counts.resize(number + 1, Vec::new());
        }
        let counts = &mut self.counts[number];
        if counts.is_empty() {
            counts.resize(frame.method.operations.len(), 0);
        }
        let Some(count) = counts.get_mut(frame.at as usize) else { return 0 };
        *count += 1;
        *count
    }

    fn add(&mut self, step: Step, effect: StepEffect) {
        if let Some(deeds) = self.found.get_mut(&step) {
            deeds.effects.push(effect);
        }
    }

    fn is_wanted(&self, step: Step) -> bool {
        self.found.contains_key(&step)
    }

    /// The name of a local, and its type if that is known.
    fn local(frame: &JavaFrame, local: u16) -> (String, Option<String>) {
        let method = &frame.method;
        let variable = method.variable(local, frame.at);
        let name = variable.map_or_else(|| format!("local {local}"), |variable| format!("local {}", variable.name));
        let of = match (variable, method.operations.get(frame.at as usize)) {
            (Some(variable), _) => Some(variable.descriptor.to_string()),
            (None, Some(Operation::Store(kind, _))) => descriptor(*kind).map(str::to_owned),
            (None, Some(Operation::Increment(..))) => Some("I".to_owned()),
            _ => None,
        };
        (name, of)
    }
}

impl Watch for Looking {
    fn enters(&mut self, _: &JavaMachine, frame: &JavaFrame) {
        let number = frame.method.number as usize;
        if self.entries.len() <= number {
            self.entries.resize(number + 1, 0);
        }
        self.entries[number] += 1;
    }

    fn writes(&mut self, machine: &JavaMachine, frame: &JavaFrame, location: ValueLocation, value: JavaValue) {
        if frame.step == frame.entry && !frame.is_begun {
            if let ValueLocation::Local(local) = location
                && self.is_wanted(frame.step)
            {
                let nth = self.entries.get(frame.method.number as usize).copied().unwrap_or(0);
                let of = parameter(&frame.method, local);
                let is_object = of.as_deref().is_none_or(is_reference);
                let (name, _) = Self::local(frame, local);
                let point = of.map(|of| (point(&frame.method, 0, ValueHolder::Parameter(local), &of), nth));
                self.add(frame.step, StepEffect { name, point, value: known(machine, value, is_object) });
            }
            return;
        }
        if matches!(location, ValueLocation::State(_)) {
            return;
        }
        let nth = self.count(frame);
        if !self.is_wanted(frame.step) {
            return;
        }
        let program = &machine.program;
        let (name, of, holder) = match location {
            ValueLocation::Local(local) => {
                let (name, of) = Self::local(frame, local);
                (name, of, ValueHolder::Local(local))
            }
            ValueLocation::Field(_, field) => {
                let field = program.field(field);
                (format!("field {}", field.name), Some(field.descriptor.to_string()), ValueHolder::Operand)
            }
            ValueLocation::Static(field) => {
                let field = program.field(field);
                (
                    format!("static {}.{}", field.class, field.name),
                    Some(field.descriptor.to_string()),
                    ValueHolder::Operand,
                )
            }
            ValueLocation::Element(_, index) => {
                let of = match frame.method.operations.get(frame.at as usize) {
                    Some(Operation::StoreElement(element)) => Some(descriptor(element.kind()).unwrap_or(OBJECT)),
                    _ => None,
                };
                (format!("element {index}"), of.map(str::to_owned), ValueHolder::Operand)
            }
            ValueLocation::State(_) => return,
        };
        let is_object = of.as_deref().is_none_or(is_reference);
        let point = of.map(|of| (point(&frame.method, frame.at, holder, &of), nth));
        self.add(frame.step, StepEffect { name, point, value: known(machine, value, is_object) });
    }

    fn decides(&mut self, machine: &JavaMachine, frame: &JavaFrame, way: u32) {
        let nth = self.count(frame);
        if !self.is_wanted(frame.step) {
            return;
        }
        let method = &frame.method;
        let is_object =
            matches!(method.operations[frame.at as usize], Operation::Jump(JumpTest::Same(_) | JumpTest::Null(_), _));
        let top = frame.stack.last().copied().unwrap_or(JavaValue::UNKNOWN);
        let below = frame.stack.len().checked_sub(2).map_or(JavaValue::UNKNOWN, |at| frame.stack[at]);
        let from = method.blocks.of[frame.at as usize];
        let successors = &method.blocks.flow.successors[from.0 as usize];
        let begins: Vec<u32> = successors
            .iter()
            .map(|block| method.blocks.ranges.get(block.0 as usize).map_or(NONE, |range| range.start))
            .collect();
        let Some(taken) = begins.iter().position(|begin| *begin == way) else { return };
        let ways = begins.iter().map(|begin| for_way(&method.operations[frame.at as usize], below, frame.at, *begin));
        let of = if is_object { OBJECT } else { "I" };
        let goes_back = &method.blocks.flow.goes_back;
        let is_loop = !goes_back[from.0 as usize].is_empty()
            || successors.iter().any(|to| goes_back.get(to.0 as usize).is_some_and(|back| back.contains(&from)));
        let decision = StepDecision {
            point: point(method, frame.at, ValueHolder::Operand, of),
            nth,
            value: known(machine, top, is_object),
            ways: ways.collect(),
            taken,
            is_loop,
        };
        if let Some(deeds) = self.found.get_mut(&frame.step) {
            deeds.decision = Some(decision);
        }
    }

    fn leaves(&mut self, machine: &JavaMachine, frame: &JavaFrame, is_return: bool, result: Option<JavaValue>) {
        let Some(result) = result.filter(|_| is_return) else { return };
        let nth = self.count(frame);
        if !self.is_wanted(frame.step) {
            return;
        }
        let of = result_type(&frame.method.descriptor);
        let point = (point(&frame.method, frame.at, ValueHolder::Operand, of), nth);
        let value = known(machine, result, is_reference(of));
        self.add(frame.step, StepEffect { name: RETURN.to_owned(), point: Some(point), value });
    }

    fn called(&mut self, machine: &JavaMachine, frame: &JavaFrame, call: &LibraryCall<'_>) {
        let LibraryCall { callee, result: Some(result), .. } = *call else { return };
        let nth = self.count(frame);
        if !self.is_wanted(frame.step) {
            return;
        }
        let of = result_type(&callee.member.descriptor);
        let point = (point(&frame.method, frame.at, ValueHolder::Result, of), nth);
        let name = format!("result {}.{}", callee.member.class, callee.member.name);
        let value = known(machine, result, is_reference(of));
        self.add(frame.step, StepEffect { name, point: Some(point), value });
    }
}

/// What must be on top of the stack so that a decision goes to an instruction.
///
/// - `below`: what is below that.
/// - `at`: the decision.
fn for_way(operation: &Operation, below: JavaValue, at: u32, way: u32) -> Option<Instead> {
    let number = |number: i32| Instead::Bits(of_int(number));
    match operation {
        Operation::Jump(test, to) => {
            let is_met = way == *to;
            if *to == at + 1 {
                return None;
            }
            match test {
                JumpTest::Zero(condition) => {
                    [0, 1, -1].into_iter().find(|it| holds(*condition, *it, 0) == is_met).map(number)
                }
                JumpTest::Ints(condition) => {
                    let left = below.int()?;
                    let near = [Some(left), left.checked_add(1), left.checked_sub(1)];
                    near.into_iter().flatten().find(|it| holds(*condition, left, *it) == is_met).map(number)
                }
                JumpTest::Null(is_null) => Some(if *is_null == is_met { Instead::Null } else { Instead::Object }),
                JumpTest::Same(is_same) => match (*is_same == is_met, below.object()? == 0) {
                    (true, true) | (false, false) => Some(Instead::Null),
                    (false, true) => Some(Instead::Object),
                    (true, false) => None,
                },
            }
        }
        Operation::Switch(switch) => {
            let case = switch.cases.iter().find(|(_, to)| *to == way).map(|(case, _)| *case);
            let is_free = |number: &i32| switch.cases.iter().all(|(case, _)| case != number);
            let n_cases = i32::try_from(switch.cases.len()).unwrap_or(i32::MAX);
            let other = (switch.default == way).then(|| (0..=n_cases).find(is_free)).flatten();
            case.or(other).map(number)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use idd_trace::instrument::java::operation::{JumpCondition, Switch};

    #[test]
    fn an_effect_is_of_the_variable_that_a_link_names() {
        let check = |effect: &str, variable: &str, expected: bool| {
            assert_eq!(names(effect, variable), expected, "{effect} {variable}");
        };
        check("local count", "count", true);
        check("local count", "known.count", false);
        check("field count", "known.count", true);
        check("field count", "known.account", false);
        check("field count", "count", true);
        check("static org/example/Main.limit", "Main.limit", true);
        check("element 3", "values[3]", true);
        check("element 3", "values[13]", false);
        check(RETURN, "return", false);
    }

    #[test]
    fn a_result_is_of_the_function_that_a_link_names_and_no_return() {
        assert!(is_result("result java/lang/String.length", "String.length"));
        assert!(!is_result("result java/lang/String.length", "Text.length"));
        assert!(!is_result(RETURN, "String.length"));
    }

    #[test]
    fn what_must_be_on_the_stack_leads_a_decision_its_way() {
        let below = |number: i32| JavaValue::of(of_int(number), Step::START);
        let jump = |test: JumpTest, left: i32, way: u32| for_way(&Operation::Jump(test, 9), below(left), 4, way);
        let bits = |number: i32| Some(Instead::Bits(of_int(number)));
        assert_eq!(jump(JumpTest::Zero(JumpCondition::Equal), 0, 9), bits(0));
        assert_eq!(jump(JumpTest::Zero(JumpCondition::Less), 0, 9), bits(-1));
        assert_eq!(jump(JumpTest::Zero(JumpCondition::Less), 0, 5), bits(0));
        assert_eq!(jump(JumpTest::Ints(JumpCondition::Different), 7, 5), bits(7));
        assert_eq!(jump(JumpTest::Ints(JumpCondition::Different), 7, 9), bits(8));
        // No number is less than the least one.
        assert_eq!(jump(JumpTest::Ints(JumpCondition::Greater), i32::MIN, 9), None);
        assert_eq!(jump(JumpTest::Null(true), 0, 9), Some(Instead::Null));
        assert_eq!(jump(JumpTest::Null(true), 0, 5), Some(Instead::Object));
        let switch = Operation::Switch(Box::new(Switch { default: 8, cases: vec![(0, 6), (1, 7)], is_table: true }));
        assert_eq!(for_way(&switch, below(0), 4, 7), bits(1));
        assert_eq!(for_way(&switch, below(0), 4, 8), bits(2));
    }
}
