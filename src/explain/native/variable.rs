//! What a faulty variable is called where its link stands, and what it holds in both runs.

use crate::chain::AlignedPoint;
use crate::native::align::state::Cell;
use crate::native::causality::{Causality, CausalityError, Forks};
use crate::native::instances::instances;
use crate::native::recorded::NativeRecorded;
use crate::native::standing::{giver, looked, standing};
use crate::native::{naming, unions};
use idd_base::{count, ordinal};
use idd_trace::{Step, TraceError};

/// What a variable is called where its link stands; what the entry of a function gives is a parameter of that, and
/// stands at the call.
pub(super) fn variable<F: Forks>(
    causality: &mut Causality<F>,
    cell: &Cell,
    step: Step,
    point: AlignedPoint,
) -> Result<String, CausalityError<F::Error>> {
    let run = &causality.failing().run;
    if step != Step::START && giver(run, step) != step {
        let function = looked(causality.failing(), step)?.function.unwrap_or_default();
        let name = cell.path.strip_prefix(&*format!("{function}.")).unwrap_or(&cell.path);
        return Ok(format!("{function}.{name}"));
    }
    name(causality, cell.address, cell.length, &cell.path, step, point)
}

/// What bytes are called at a step, else at a point; `path` is told of what is no variable: what a function returns,
/// what the program was given.
fn name<F: Forks>(
    causality: &mut Causality<F>,
    address: u64,
    length: u64,
    path: &str,
    step: Step,
    point: AlignedPoint,
) -> Result<String, CausalityError<F::Error>> {
    let place = [(address, length)];
    if let Some(found) = naming::before(causality.failing(), step, &place, None)?.pop().flatten() {
        return Ok(found);
    }
    let Some(block) = causality.state(point)?.block(address) else { return Ok(path.to_owned()) };
    let home = standing(causality.failing(), step)?.function;
    let at = causality.steps(point).0;
    if let Some(found) = naming::before(causality.failing(), at, &place, home.as_ref())?.pop().flatten() {
        return Ok(found);
    }
    let made = standing(causality.failing(), block.made)?.place.map_or(0, |place| place.line);
    Ok(format!("{} at {} of the block made in line {made}", count(length, "byte"), address - block.address))
}

/// Names the member of a union that a cell is, and shows it as its type has it, if both runs stored the same member.
pub(super) fn name_member<F: Forks>(
    causality: &mut Causality<F>,
    cell: &Cell,
    variable: &mut String,
    shown: &mut (String, String),
) -> Result<(), CausalityError<F::Error>> {
    let (Some(union), Some(reference)) = (&cell.union, &cell.reference) else { return Ok(()) };
    let stored = unions::stored(causality.failing(), cell.writer, cell.address, cell.length)?;
    let Some(ty) = stored else { return Ok(()) };
    let theirs = unions::stored(causality.reference(), cell.reference_writer, cell.reference_address, cell.length)?;
    if theirs.as_ref() != Some(&ty) {
        return Ok(());
    }
    let named = union.member(&ty).and_then(|member| union.named(variable, cell.length, member));
    if let Some(named) = named {
        *variable = named;
        if let (Some(ours), Some(theirs)) = (unions::shown(&ty, &cell.bytes), unions::shown(&ty, reference)) {
            *shown = (ours, theirs);
        }
    }
    Ok(())
}

/// What a variable holds in both runs. Pointers to blocks that look the same are told apart by the statements that made
/// the blocks.
pub(super) fn values<F: Forks>(
    causality: &mut Causality<F>,
    cell: &Cell,
) -> Result<(String, String), CausalityError<F::Error>> {
    let (mut value, mut other) = cell.shown.clone();
    if let (Some(ours), Some(theirs)) = cell.made {
        value.push_str(&made(causality.failing(), ours)?);
        let here = causality.alignment().failing(theirs);
        if let Some(here) = here {
            other.push_str(&made(causality.failing(), here)?);
        } else {
            other.push_str(&made(causality.reference(), theirs)?);
            other.push_str(", which only the reference does");
        }
    }
    Ok((value, other))
}

/// Where a block was made.
fn made(recorded: &mut NativeRecorded, step: Step) -> Result<String, TraceError> {
    let line = standing(recorded, step)?.place.map_or(0, |place| place.line);
    let instance = instances(recorded, &[step])?.remove(&step).map(|(instance, _)| instance);
    let instance = instance.filter(|instance| instance.of > 1);
    let which = instance.map(|instance| format!(", {} time", ordinal(u64::from(instance.nth))));
    Ok(format!(" made in line {line}{}", which.unwrap_or_default()))
}
