//! What a person sees of a step of a C program to judge it, and how it is compared with a step of another run.

use std::sync::Arc;

use crate::align::Alignment;
use crate::comparison::ComparedRun;
use crate::facts::{StepFacts, UsedValue, read};
use crate::native::recorded::NativeRecorded;
use crate::native::{digests, named_values, returns, standing};
use crate::statements::Statements;
use idd_trace::instrument::{Op, OperandValue, ValueId};
use idd_trace::native::{NativeFrame, NativeMachine, NativePlayer, Watch, detail};
use idd_trace::{Detail, Step, TraceError};

/// The facts about a line; `None` if there is no such step.
///
/// - `members`: its steps, ascending.
///
/// Cost: plays four times from the checkpoint before each step to its end; and that of [`named_values::name`].
pub fn facts(recorded: &mut NativeRecorded, members: &[Step]) -> Result<Option<StepFacts>, TraceError> {
    let mut found: Option<StepFacts> = None;
    let nowhere: Arc<str> = "".into();
    for step in members {
        let Some(mut detail) = detail::detail(&mut recorded.player, *step)? else { continue };
        // What a call gives to the parameters of a function is named with that function.
        let first = found.as_ref().map(|found| &found.detail.standing.function);
        let home = match first {
            Some(_) if detail.standing.is_entry => Arc::clone(&nowhere),
            first => Arc::clone(first.unwrap_or(&detail.standing.function)),
        };
        named_values::name(recorded, &mut detail, &home)?;
        let outcome = standing::standing(recorded, *step)?.outcome;
        let (returned, _) = returns::of_step(recorded, *step, u64::MAX)?;
        let mut used = read(&detail, members);
        for back in returned {
            used.push(UsedValue {
                name: format!("{}()", back.function),
                value: Some(back.text),
                makers: std::iter::once(back.step).chain(back.makers).collect(),
                origin: None,
                target: None,
            });
        }
        if detail.standing.is_entry {
            let known = found.as_ref().map_or(&[][..], |found| &found.used);
            let function = found.as_ref().map(|found| &*found.detail.standing.function);
            used.extend(passed(&detail, known, function.unwrap_or_default()));
        }
        let next = StepFacts { detail, used, outcome };
        found = Some(match found.take() {
            Some(found) => found.joined(next),
            None => next,
        });
    }
    Ok(found)
}

/// The texts that an entry of a function gets by pointers to variables, without those that the line is known to use: an array
/// that is passed is read nowhere in the line.
fn passed<'d>(entry: &'d Detail, known: &'d [UsedValue], caller: &'d str) -> impl Iterator<Item = UsedValue> + 'd {
    let text = |value: &str| value.find('"').map(|at| value[at..].to_owned());
    entry.writes.iter().filter_map(move |access| {
        let name = access.text_name.as_ref().filter(|_| !access.text_makers.is_empty())?;
        let name = name.strip_suffix(&format!(" of {caller}")).unwrap_or(name);
        let name = name.strip_suffix("[0]").unwrap_or(name).to_owned();
        let value = access.named.value.as_deref().and_then(text)?;
        let is_known = known.iter().any(|used| used.value.as_deref().and_then(text).as_ref() == Some(&value));
        let makers = access.text_makers.iter().copied().collect();
        (!is_known).then_some(UsedValue { name, value: Some(value), makers, origin: None, target: None })
    })
}

impl ComparedRun for NativeRecorded {
    fn facts(&mut self, members: &[Step]) -> Result<Option<StepFacts>, TraceError> {
        facts(self, members)
    }

    fn digests(&mut self) -> Result<Vec<u64>, TraceError> {
        digests::of(&mut self.player)
    }

    /// With the numbers of the failing run's steps as those of the reference, and without addresses: blocks lie elsewhere
    /// in another run. Of a pointer to a block, the step that allocated it counts.
    fn text(&self, text: &str, alignment: Option<&Alignment>) -> String {
        let text = &without_addresses(text);
        let mut out = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find("step ") {
            let (before, after) = rest.split_at(at + "step ".len());
            out.push_str(before);
            let n_digits = after.bytes().take_while(u8::is_ascii_digit).count();
            let (number, behind) = after.split_at(n_digits);
            let step = number.parse().ok().map(Step);
            match alignment.and_then(|alignment| alignment.reference(step?)) {
                Some(other) => out.push_str(&other.0.to_string()),
                None => out.push_str(number),
            }
            rest = behind;
        }
        out + rest
    }
}

/// A text with `0x` for each address in it.
fn without_addresses(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("0x") {
        let (before, after) = rest.split_at(at + 2);
        out.push_str(before);
        rest = after.trim_start_matches(|digit: char| digit.is_ascii_hexdigit());
    }
    out + rest
}

/// The statements of a run.
///
/// Cost: one pass over the run.
pub fn statements(player: &mut NativePlayer) -> Result<Statements, TraceError> {
    let mut found = Statements::new();
    player.replay(&mut found)?;
    Ok(found)
}

impl Watch for Statements {
    fn step(&mut self, machine: &NativeMachine) {
        let Some(frame) = machine.frame() else { return };
        let n_statements = frame.shape.statements.len();
        self.step(frame.shape.index, frame.statement, n_statements, || {
            let place = frame.place().cloned();
            let is_line = place.as_ref().is_some_and(|place| place.line > 0) && !is_bare_return(frame);
            (place, is_line, frame.shape.name())
        });
    }
}

/// Whether the current statement only returns what a `return` before it stored in a variable of the compiler: it stands at
/// the closing brace.
fn is_bare_return(frame: &NativeFrame) -> bool {
    let function = &frame.shape.body.function;
    let [load, end] = frame.instructions() else { return false };
    if load.op != Op::Load || end.op != Op::Return || end.operands.len() != 1 {
        return false;
    }
    let is_named = |slot: ValueId| function.declarations.iter().any(|known| known.address == slot);
    matches!(load.operands.first().map(|operand| &operand.value), Some(OperandValue::Local(slot)) if !is_named(*slot))
}
