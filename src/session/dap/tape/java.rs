//! What was before the steps of a Java program.

use crate::dap::tape::{Meaning, Past, ShownVariable, StackLevel, StackPosition, Tape, TapeBuilder, WatchedVariable};
use crate::expression::condition::{Condition, ConditionAnswers, INTERVAL};
use crate::expression::java::{JavaState, NamedThing};
use crate::expression::states::States as _;
use crate::expression::{self, Expression, ExpressionValue, StateVariables as _};
use idd_trace::execution::Execution as _;
use idd_trace::instrument::java::descriptor::is_reference;
use idd_trace::java::machine::JavaValue as Held;
use idd_trace::java::{JavaFrame, JavaMachine, JavaPlayer, ValueLocation, Watch, output, parts, text};
use idd_trace::native::parts::VariableDivision;
use idd_trace::{Detail, Step, StepWalk, TraceError};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// A run that is played.
struct JavaPlayed {
    player: JavaPlayer,
    /// The steps that write a place, if they were looked for.
    writers: HashMap<(ValueLocation, u64), Vec<Step>>,
}

/// Reads a run; `None` if it was interrupted.
pub fn read(mut player: JavaPlayer, mut table: TapeBuilder<'_>) -> Result<Option<Tape>, TraceError> {
    player.look_from(Step(1), |machine, frame| {
        let statement = if frame.step == frame.entry { 0 } else { frame.statement };
        let place = table.place(frame.method.number, statement, || Some(frame.place()));
        table.step(place, frame.number, machine.frames().len() + 1, machine.thread);
        !table.is_interrupted
    })?;
    let crash = if table.is_interrupted { None } else { output::outputs(&mut player)?.crash };
    Ok(table.end(Box::new(JavaPlayed { player, writers: HashMap::new() }), crash.map(|step| (step, 0))))
}

/// How a value is divided.
fn division(machine: &JavaMachine, descriptor: &str, value: Held) -> VariableDivision {
    let object = value.object().filter(|object| *object != 0 && is_reference(descriptor));
    match object.map(|object| parts::count(machine, object)) {
        None | Some((0, _)) => VariableDivision::Whole,
        Some((_, Some(length))) => VariableDivision::Elements(u64::from(length)),
        Some((_, None)) => VariableDivision::Members,
    }
}

fn shown(state: JavaState<'_>, place: &NamedThing, name: String, expression: String) -> ShownVariable {
    let division = match place {
        NamedThing::Value(_, descriptor, value) => division(state.machine, descriptor, *value),
        NamedThing::Class(_) => VariableDivision::Whole,
    };
    ShownVariable { name, value: state.shown(place), expression, division }
}

/// Looks at an activation right before a step; `None` if there is none of this level.
fn look_at<T>(
    player: &mut JavaPlayer,
    at: StackPosition,
    look: impl FnOnce(JavaState<'_>) -> T,
) -> Result<Option<T>, TraceError> {
    let found = player.look_at(at.step, |state| {
        let below = at.level.checked_sub(1).map(|level| state.machine.frames().iter().rev().nth(level));
        let frame = below.map_or(Some(state.frame), |below| below.map(Box::as_ref))?;
        Some(look(JavaState { machine: state.machine, frame }))
    })?;
    Ok(found.flatten())
}

impl Past for JavaPlayed {
    fn stack(&mut self, step: Step, range: Range<usize>) -> Result<(Vec<StackLevel>, usize), TraceError> {
        let levels = self.player.look_at(step, |state| {
            let level = |frame: &JavaFrame| StackLevel {
                function: Arc::clone(&frame.method.function),
                place: Some(frame.place().clone()).filter(|place| place.line != 0),
            };
            let all = std::iter::once(state.frame).chain(state.machine.frames().iter().rev().map(Box::as_ref));
            let wanted = all.skip(range.start).take(range.len());
            (wanted.map(level).collect(), state.machine.frames().len() + 1)
        })?;
        Ok(levels.unwrap_or_default())
    }

    fn variables(&mut self, at: StackPosition, is_global: bool) -> Result<Option<Vec<ShownVariable>>, TraceError> {
        look_at(&mut self.player, at, |state| {
            let names = if is_global { state.static_names() } else { state.names() };
            let one = |name: &Arc<str>| {
                let place = state.variable(name)?;
                Some(shown(state, &place, name.to_string(), name.to_string()))
            };
            names.iter().filter_map(one).collect()
        })
    }

    fn parts(
        &mut self,
        at: StackPosition,
        expression: &Expression,
        text: &str,
        range: Range<u64>,
    ) -> Result<Option<Vec<ShownVariable>>, TraceError> {
        let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let (skip, take) = (number(range.start), number(range.end.saturating_sub(range.start)));
        let found = look_at(&mut self.player, at, |state| {
            let Some(NamedThing::Value(_, _, value)) = expression::place(&state, expression) else { return None };
            let object = value.object().filter(|object| *object != 0)?;
            let part = |part: parts::ObjectPart| {
                let dot = if part.name.starts_with('[') { "" } else { "." };
                let place = NamedThing::Value(Some(part.location), part.descriptor, part.value);
                shown(state, &place, part.name.clone(), format!("{text}{dot}{}", part.name))
            };
            Some(parts::parts(state.machine, object, skip, take).into_iter().map(part).collect())
        })?;
        Ok(found.flatten())
    }

    fn detail(&mut self, step: Step) -> Result<Option<Detail>, TraceError> {
        Ok(self.player.details(&[step], Step(u32::MAX))?.pop())
    }

    fn meaning(&mut self, at: StackPosition, expression: &Expression) -> Result<Result<Meaning, String>, TraceError> {
        let found = look_at(&mut self.player, at, |state| {
            let computed = |value: String| Meaning { value, target: None, division: VariableDivision::Whole };
            Ok(match expression::evaluate(&state, expression)? {
                ExpressionValue::Number(number) => computed(number.shown()),
                ExpressionValue::Pointer(object, ..) => {
                    computed(text::object(state.machine, u32::try_from(object).unwrap_or_default()))
                }
                ExpressionValue::Place(place) => {
                    let target = match place {
                        NamedThing::Value(Some(location), ..) => {
                            let is_local = matches!(location, ValueLocation::Local(_));
                            Some(WatchedVariable::Place(location, if is_local { state.frame.number } else { 0 }))
                        }
                        _ => None,
                    };
                    let ShownVariable { value, division, .. } = shown(state, &place, String::new(), String::new());
                    Meaning { value, target, division }
                }
            })
        })?;
        Ok(found.unwrap_or_else(|| Err("there is no such activation on the stack".to_owned())))
    }

    fn test(&mut self, steps: &[Step], condition: &Condition, is_over: &dyn Fn() -> bool) -> ConditionAnswers {
        condition.test(&mut self.player, steps, is_over)
    }

    /// The first time, the whole run is played.
    fn writers(
        &mut self,
        _walk: &StepWalk,
        target: &WatchedVariable,
        range: Range<u32>,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<Step>>, TraceError> {
        let WatchedVariable::Place(location, frame) = *target else { return Ok(Some(Vec::new())) };
        if !self.writers.contains_key(&(location, frame)) {
            let mut writers = JavaWriters { location, frame, found: Vec::new(), is_over, is_interrupted: false };
            self.player.replay(&mut writers)?;
            if writers.is_interrupted {
                return Ok(None);
            }
            writers.found.sort_unstable();
            writers.found.dedup();
            self.writers.insert((location, frame), writers.found);
        }
        let found = self.writers.get(&(location, frame)).into_iter().flatten();
        Ok(Some(found.copied().filter(|step| range.contains(&step.0)).collect()))
    }
}

/// Collects the steps that write a place.
struct JavaWriters<'w> {
    location: ValueLocation,
    /// The activation of a local, else 0.
    frame: u64,
    found: Vec<Step>,
    is_over: &'w dyn Fn() -> bool,
    is_interrupted: bool,
}

impl Watch for JavaWriters<'_> {
    fn step(&mut self, machine: &JavaMachine, _frame: &JavaFrame) {
        self.is_interrupted |= machine.n_steps.is_multiple_of(INTERVAL) && (self.is_over)();
    }

    fn writes(&mut self, _machine: &JavaMachine, frame: &JavaFrame, location: ValueLocation, _value: Held) {
        if location == self.location && (self.frame == 0 || self.frame == frame.number) {
            self.found.push(frame.step);
        }
    }

    fn is_done(&self) -> bool {
        self.is_interrupted
    }
}
