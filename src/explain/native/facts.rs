//! What a person sees of a step of a C program to judge it, and what another run says of it.

use std::sync::Arc;

use crate::explain::align::Alignment;
use crate::explain::facts::Comparison;
use crate::explain::facts::Facts;
use crate::explain::facts::Used;
use crate::explain::facts::compare;
use crate::explain::facts::read;
use crate::explain::feedback::Feedback;
use crate::explain::native::recorded::Recorded;
use crate::explain::native::returns;
use crate::explain::native::seen;
use crate::explain::native::standing;
use crate::explain::statements::Statements;
use crate::instrument::instruction::Op;
use crate::instrument::instruction::Value;
use crate::instrument::instruction::ValueId;
use crate::trace::TraceError;
use crate::trace::detail::Detail;
use crate::trace::native::detail;
use crate::trace::native::frame::Frame;
use crate::trace::native::machine::Machine;
use crate::trace::native::machine::Watch;
use crate::trace::native::play::Player;
use crate::trace::step::Step;

/// The facts about a line; `None` if there is no such step.
///
/// - `members`: its steps, ascending.
///
/// Cost: plays four times from the checkpoint before each step to its end; and that of [`seen::name`].
pub fn facts(recorded: &mut Recorded, members: &[Step]) -> Result<Option<Facts>, TraceError> {
    let mut found: Option<Facts> = None;
    let nowhere: Arc<str> = "".into();
    for step in members {
        let Some(mut detail) = detail::detail(&mut recorded.player, *step)? else { continue };
        // What a call gives to the parameters of a function is named with that function.
        let first = found.as_ref().map(|found| &found.detail.standing.function);
        let home = match first {
            Some(_) if detail.standing.is_entry => Arc::clone(&nowhere),
            first => Arc::clone(first.unwrap_or(&detail.standing.function)),
        };
        seen::name(recorded, &mut detail, &home)?;
        let outcome = standing::standing(recorded, *step)?.outcome;
        let (returned, _) = returns::of_step(recorded, *step, u64::MAX)?;
        let mut used = read(&detail, members);
        for back in returned {
            used.push(Used {
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
        let next = Facts { detail, used, outcome };
        found = Some(match found.take() {
            Some(found) => found.joined(next),
            None => next,
        });
    }
    Ok(found)
}

/// The texts that an entry of a function gets by pointers to variables, without those that the line is known to use: an array
/// that is passed is read nowhere in the line.
fn passed<'d>(entry: &'d Detail, known: &'d [Used], caller: &'d str) -> impl Iterator<Item = Used> + 'd {
    let text = |value: &str| value.find('"').map(|at| value[at..].to_owned());
    entry.writes.iter().filter_map(move |access| {
        let name = access.text_name.as_ref().filter(|_| !access.text_makers.is_empty())?;
        let name = name.strip_suffix(&format!(" of {caller}")).unwrap_or(name);
        let name = name.strip_suffix("[0]").unwrap_or(name).to_owned();
        let value = access.named.value.as_deref().and_then(text)?;
        let is_known = known.iter().any(|used| used.value.as_deref().and_then(text).as_ref() == Some(&value));
        let makers = access.text_makers.iter().copied().collect();
        (!is_known).then_some(Used { name, value: Some(value), makers, origin: None, target: None })
    })
}

/// Compares a step with that of another run.
///
/// - `members`: the steps of a line, ascending.
///
/// Cost: the [facts] about the line in both runs.
pub fn judge(
    (failing, reference): (&mut Recorded, &mut Recorded),
    alignment: &Alignment,
    members: &[Step],
) -> Result<Comparison, TraceError> {
    let others: Vec<Step> = members.iter().filter_map(|step| alignment.reference(*step)).collect();
    // Two lines may end with the same step, as two `return` of a function do: the first step says where the run is.
    if members.first().is_none_or(|first| alignment.reference(*first).is_none()) {
        return Ok(Feedback::WrongPath.into());
    }
    let (Some(ours), Some(theirs)) = (facts(failing, members)?, facts(reference, &others)?) else {
        return Ok(Feedback::Unclear.into());
    };
    // A line that other steps belong to there decided otherwise inside of itself.
    Ok(compare((&ours, &theirs), alignment, others.len() < members.len()))
}

/// The statements of a run.
///
/// Cost: one pass over the run.
pub fn statements(player: &mut Player) -> Result<Statements, TraceError> {
    let mut found = Statements::new();
    player.seek(0)?;
    player.play(&mut found)?;
    Ok(found)
}

impl Watch for Statements {
    fn step(&mut self, machine: &Machine) {
        let Some(frame) = machine.frame() else { return };
        let n_statements = frame.shape.statements.len();
        self.step((frame.shape.index, frame.statement, n_statements), || {
            let place = frame.place().cloned();
            let is_line = place.as_ref().is_some_and(|place| place.line > 0) && !is_bare_return(frame);
            (place, is_line, frame.shape.name())
        });
    }
}

/// Whether the current statement only returns what a `return` before it stored in a variable of the compiler: it stands at
/// the closing brace.
fn is_bare_return(frame: &Frame) -> bool {
    let statement = frame.current();
    let function = &frame.shape.body.function;
    let all = &function.block(statement.block).instructions[statement.first..statement.end];
    let [load, end] = all else { return false };
    if load.op != Op::Load || end.op != Op::Return || end.operands.len() != 1 {
        return false;
    }
    let is_named = |slot: ValueId| function.declarations.iter().any(|known| known.address == slot);
    matches!(load.operands.first().map(|operand| &operand.value), Some(Value::Local(slot)) if !is_named(*slot))
}
