//! What was before the steps of a C program.

use crate::dap::tape::{Meaning, Past, ShownVariable, StackLevel, StackPosition, Tape, TapeBuilder, WatchedVariable};
use crate::expression::condition::{Condition, ConditionAnswers, INTERVAL};
use crate::expression::state::ProcessState;
use crate::expression::{self, Expression, ExpressionValue};
use idd_trace::native::parts::VariableDivision;
use idd_trace::native::visit::before_step;
use idd_trace::native::{Crash, NativeFrame, NativeMachine, NativePlayer, View, Watch, detail, object};
use idd_trace::writes::Writes;
use idd_trace::{Detail, Step, StepWalk, TraceError, WalkRow};
use std::ops::Range;

/// Structures of an array on the heap that are listed behind the members of the first one, at the most.
const MAX_TARGETS: u64 = 100;

/// A run that is played.
struct NativePlayed {
    player: NativePlayer,
    writes: Writes,
    /// The process right before the step that was looked at last.
    now: Option<(Step, NativeMachine)>,
}

/// Builds the table.
struct NativeTapeReader<'t> {
    table: TapeBuilder<'t>,
    crash: Option<(Step, u32)>,
    writes: Writes,
}

impl Watch for NativeTapeReader<'_> {
    fn step(&mut self, machine: &NativeMachine) {
        let Some(frame) = machine.frame() else { return };
        let place = self.table.place(frame.shape.index, frame.statement, || frame.place());
        self.table.step(place, frame.number, machine.frames.len(), machine.thread);
    }

    fn crashes(&mut self, machine: &NativeMachine, crash: &Crash) {
        if let Some(frame) = machine.frame() {
            self.crash = Some((frame.step, crash.signal));
        }
    }

    fn writes(&mut self, machine: &NativeMachine, step: Step, address: u64, length: u64) {
        if step != Step::START {
            self.writes.add(machine.n_steps, step, address, length);
        }
    }

    fn is_done(&self) -> bool {
        self.table.is_interrupted
    }
}

/// Reads a run; `None` if it was interrupted.
pub fn read(mut player: NativePlayer, writes: Writes, table: TapeBuilder<'_>) -> Result<Option<Tape>, TraceError> {
    let mut reader = NativeTapeReader { table, crash: None, writes };
    player.replay(&mut reader)?;
    let NativeTapeReader { table, crash, writes } = reader;
    Ok(table.end(Box::new(NativePlayed { player, writes, now: None }), crash))
}

/// Collects the steps that write a variable.
struct NativeWriters<'t> {
    target: &'t WatchedVariable,
    /// Steps from here on are not wanted.
    end: u32,
    found: Vec<Step>,
    is_over: &'t dyn Fn() -> bool,
    is_done: bool,
    is_interrupted: bool,
}

impl Watch for NativeWriters<'_> {
    fn step(&mut self, machine: &NativeMachine) {
        self.is_interrupted |= machine.n_steps.is_multiple_of(INTERVAL) && (self.is_over)();
        self.is_done = self.is_interrupted || machine.n_steps >= self.end;
        let WatchedVariable::Register(number, name) = self.target else { return };
        let Some(frame) = machine.frame().filter(|frame| frame.number == *number) else { return };
        if let Some(place) = View::new(machine).variable(frame, name)
            && let Some((_, writer)) = place.held
            && writer != Step::START
        {
            self.found.push(writer);
        }
    }

    fn writes(&mut self, _machine: &NativeMachine, step: Step, address: u64, length: u64) {
        if let WatchedVariable::Memory(begin, size) = self.target
            && address < begin.saturating_add(*size)
            && *begin < address.saturating_add(length)
            && step != Step::START
        {
            self.found.push(step);
        }
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

impl NativePlayed {
    /// Looks at the process right before a step.
    ///
    /// Cost: plays from the last checkpoint before the step; nothing if it is the step that was looked at last.
    fn look<T>(&mut self, step: Step, look: impl FnOnce(View<'_>) -> T) -> Result<Option<T>, TraceError> {
        if self.now.as_ref().is_none_or(|(known, _)| *known != step) {
            let mut found = None;
            before_step(&mut self.player, step, |machine| found = Some(machine.clone()))?;
            self.now = found.map(|machine| (step, machine));
        }
        Ok(self.now.as_ref().map(|(_, machine)| look(View::new(machine))))
    }

    /// Looks at an activation right before a step; `None` if there is none of this level.
    fn look_at<T>(
        &mut self,
        at: StackPosition,
        look: impl FnOnce(ProcessState<'_>) -> T,
    ) -> Result<Option<T>, TraceError> {
        let found = self.look(at.step, |view| {
            let frame = view.machine.frames.iter().rev().nth(at.level)?;
            Some(look(ProcessState { view, frame }))
        })?;
        Ok(found.flatten())
    }

    /// The steps to play to see what an activation writes in a range: the next step of a function shows what the last
    /// one has written. Both are empty if it has no step there.
    fn seen(walk: &StepWalk, frame: u64, range: &Range<u32>) -> [Range<u32>; 2] {
        let index = |step: u32| (step as usize - 1).min(walk.rows.len());
        // Steps from the first row of a slice to one of the activation.
        let distance = |rows: &[WalkRow]| {
            let index = rows.iter().position(|row| u64::from(row.frame) == frame);
            index.and_then(|index| u32::try_from(index).ok())
        };
        let Some(first) = distance(&walk.rows[index(range.start)..index(range.end)]) else { return [0..0, 0..0] };
        let first = range.start + first;
        match distance(&walk.rows[index(range.end)..]).map(|after| range.end + after) {
            None => [first..range.end, 0..0],
            Some(after) if after - range.end < range.end - range.start => [first..after + 1, 0..0],
            Some(after) => [first..range.end, after..after + 1],
        }
    }
}

impl Past for NativePlayed {
    fn stack(&mut self, step: Step, range: Range<usize>) -> Result<(Vec<StackLevel>, usize), TraceError> {
        let levels = self.look(step, |view| {
            let frames = &view.machine.frames;
            let level =
                |frame: &NativeFrame| StackLevel { function: frame.shape.name(), place: frame.place().cloned() };
            let wanted = frames.iter().rev().skip(range.start).take(range.len());
            (wanted.map(level).collect(), frames.len())
        })?;
        Ok(levels.unwrap_or_default())
    }

    fn variables(&mut self, at: StackPosition, is_global: bool) -> Result<Option<Vec<ShownVariable>>, TraceError> {
        self.look_at(at, |ProcessState { view, frame }| {
            let places = if is_global { view.seen_globals(frame) } else { view.variables(frame) };
            places.iter().map(|place| shown(view, place, place.name.to_string(), place.name.to_string())).collect()
        })
    }

    fn parts(
        &mut self,
        at: StackPosition,
        expression: &Expression,
        text: &str,
        range: Range<u64>,
    ) -> Result<Option<Vec<ShownVariable>>, TraceError> {
        let found = self.look_at(at, |state| {
            let view = state.view;
            let whole = state.place(expression)?;
            let members = |whole: &_, dot: &str| {
                let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
                let members = view.members(whole).into_iter().skip(number(range.start));
                let members = members.take(number(range.end.saturating_sub(range.start)));
                members.map(|(name, part)| shown(view, &part, name.to_string(), format!("{text}{dot}{name}"))).collect()
            };
            let element = |index: u64| {
                let part = view.element(&whole, i64::try_from(index).ok()?)?;
                Some(shown(view, &part, format!("[{index}]"), format!("{text}[{index}]")))
            };
            match view.division(&whole) {
                VariableDivision::Whole => None,
                VariableDivision::Members => Some(members(&whole, ".")),
                VariableDivision::ToMembers => {
                    let target = view.element(&whole, 0)?;
                    let mut all: Vec<ShownVariable> = members(&target, "->");
                    let n_members = view.members(&target).len() as u64;
                    let positions = (n_members..).zip(1..view.n_targets(&whole).min(MAX_TARGETS));
                    let wanted = positions.filter(|(position, _)| range.contains(position));
                    all.extend(wanted.map_while(|(_, index)| element(index)));
                    Some(all)
                }
                VariableDivision::ToWhole => {
                    let target = element(0).map(|target| ShownVariable { name: format!("*{text}"), ..target });
                    Some(target.into_iter().filter(|_| range.start == 0 && range.end > 0).collect())
                }
                VariableDivision::Elements(n) => Some((range.start..range.end.min(n)).map_while(element).collect()),
            }
        })?;
        Ok(found.flatten())
    }

    fn detail(&mut self, step: Step) -> Result<Option<Detail>, TraceError> {
        detail::detail(&mut self.player, step)
    }

    fn meaning(&mut self, at: StackPosition, expression: &Expression) -> Result<Result<Meaning, String>, TraceError> {
        let found = self.look_at(at, |state| {
            let computed = |value: String| Meaning { value, target: None, division: VariableDivision::Whole };
            match expression::evaluate(&state, expression)? {
                ExpressionValue::Number(number) => Ok(computed(number.shown())),
                ExpressionValue::Pointer(0, ..) => Ok(computed("NULL".to_owned())),
                ExpressionValue::Pointer(address, ..) => {
                    let name = state.view.name(address, 0).map(|name| format!(" -> {name}"));
                    Ok(computed(format!("{address:#x}{}", name.unwrap_or_default())))
                }
                ExpressionValue::Place(place) => {
                    let target = match place.held {
                        Some(_) => WatchedVariable::Register(state.frame.number, place.name.to_string()),
                        None => WatchedVariable::Memory(place.address, place.size),
                    };
                    let division = state.view.division(&place);
                    Ok(Meaning { value: state.view.show(&place), target: Some(target), division })
                }
            }
        })?;
        Ok(found.unwrap_or_else(|| Err("there is no such activation on the stack".to_owned())))
    }

    fn test(&mut self, steps: &[Step], condition: &Condition, is_over: &dyn Fn() -> bool) -> ConditionAnswers {
        condition.test(&mut self.player, steps, is_over)
    }

    fn writers(
        &mut self,
        walk: &StepWalk,
        target: &WatchedVariable,
        range: Range<u32>,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<Step>>, TraceError> {
        let range = range.start.max(1)..range.end;
        let (mut found, played) = match target {
            WatchedVariable::Memory(address, size) => {
                let listed = self.writes.listed(&range, *address, *size).collect();
                let is_played = self.writes.may_write(&range, *address, *size);
                (listed, [if is_played { range.clone() } else { 0..0 }, 0..0])
            }
            WatchedVariable::Register(frame, _) => (Vec::new(), Self::seen(walk, *frame, &range)),
            WatchedVariable::Place(..) => (Vec::new(), [0..0, 0..0]),
        };
        for played in played.into_iter().filter(|played| !played.is_empty()) {
            let mut writers = NativeWriters {
                target,
                end: played.end,
                found: Vec::new(),
                is_over,
                is_done: false,
                is_interrupted: false,
            };
            self.player.replay_from(Step(played.start), &mut writers)?;
            if writers.is_interrupted {
                return Ok(None);
            }
            found.extend(writers.found);
        }
        found.retain(|step| range.contains(&step.0));
        found.sort_unstable();
        found.dedup();
        Ok(Some(found))
    }
}

fn shown<'v>(view: View<'v>, place: &object::VariablePlace<'v>, name: String, expression: String) -> ShownVariable {
    ShownVariable { name, value: view.show(place), expression, division: view.division(place) }
}
