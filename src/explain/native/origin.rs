//! Where the difference that a chain begins with comes from, as far as the runs tell.
//!
//! A chain ends where no faulty variable is needed any more. That is the change if the first link stands in it; else
//! the difference came in where no variable of this process shows it: with its arguments, with what it read, from
//! another thread.

use std::sync::Arc;

use crate::chain::ChainEnd;
use crate::link::Link;
use crate::native::align::state::Cell;
use crate::native::causality::{Causality, CausalityError, Forks};
use crate::native::naming;
use crate::native::recorded::NativeRecorded;
use crate::native::roots::Missing;
use crate::native::standing::standing;
use idd_trace::native::model::Input;
use idd_trace::native::visit::at_step;
use idd_trace::native::{NativeCall, NativeMachine, UsedThing, Watch};
use idd_trace::{Place, Step, TraceError};

/// Faulty variables that are told of where nothing leads to them.
const MAX_USED: usize = 3;

/// Where a difference comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DifferenceOrigin {
    /// The first link, or the failing statement where there is none, is of the change.
    Change,
    /// An initial value that the change touches.
    Initial,
    /// The process was run with other arguments.
    Arguments(Vec<String>, Vec<String>),
    /// This function brought it in from outside of the process.
    Input(Arc<str>),
    /// Several threads ran; the statement that fails uses these.
    Threads(Vec<UsedVariable>),
    /// What was there at the start.
    Start,
    /// It was not looked for to the end.
    Unfinished,
    /// Nothing earlier leads to it by itself.
    Stuck,
    /// What comes before is the same in both runs.
    Same,
    /// The first links are before the switched decision, and were found by replacing values.
    Replaced,
    /// Not the change; the statement that fails uses these, and this is why the change is not reached. Without a reason, a later link is in the change.
    Unknown(Vec<UsedVariable>, Option<Missing>),
}

/// A faulty variable that a statement uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedVariable {
    /// The variable.
    pub variable: String,
    /// What it holds in both runs.
    pub values: (String, String),
    /// Where it was given that.
    pub place: Option<Place>,
}

/// Finds it.
///
/// - `in_change`: whether the first link, or the failing statement where there is none, stands in the change; `None` if
///   there is no change, only a switched decision.
/// - `missing`: why no link leads back to the change, if none does.
/// - `from_outside`: what [`outside`] says, if it was asked.
///
/// Cost: plays a step or two.
pub fn origin<F: Forks>(
    causality: &mut Causality<F>,
    links: &[Link],
    end: ChainEnd,
    in_change: Option<bool>,
    missing: Option<Missing>,
    from_outside: Option<DifferenceOrigin>,
) -> Result<DifferenceOrigin, CausalityError<F::Error>> {
    let first = links.first().map_or(causality.failure().step, |link| link.step);
    if end == ChainEnd::Unfinished {
        return Ok(DifferenceOrigin::Unfinished);
    }
    match (first, in_change) {
        (Step::START, Some(true)) => return Ok(DifferenceOrigin::Initial),
        (_, Some(true)) if end != ChainEnd::Stuck => return Ok(DifferenceOrigin::Change),
        (_, None) => return Ok(plain(end)),
        _ => {}
    }
    if let Some(found) = from_outside {
        return Ok(found);
    }
    if first == Step::START {
        return Ok(plain(end));
    }
    let used = if links.is_empty() { used(causality, first)? } else { Vec::new() };
    if causality.failing().run.n_threads > 1 || causality.reference().run.n_threads > 1 {
        return Ok(DifferenceOrigin::Threads(used));
    }
    if end == ChainEnd::Stuck {
        return Ok(DifferenceOrigin::Stuck);
    }
    Ok(DifferenceOrigin::Unknown(used, missing))
}

/// Whether what a chain begins with came in from outside of the process: with its arguments, or by a function that its
/// first step calls. Of several processes one may have made what another one read, and what was read need not be known:
/// then the last function before that brought something in.
///
/// Cost: plays a step, of several processes the whole run.
pub fn outside<F: Forks>(
    causality: &mut Causality<F>,
    links: &[Link],
    n_processes: usize,
) -> Result<Option<DifferenceOrigin>, CausalityError<F::Error>> {
    let first = links.first().map_or(causality.failure().step, |link| link.step);
    let words = |recorded: &mut NativeRecorded| recorded.player.trace().process.arguments();
    let (ours, theirs) = (words(causality.failing()), words(causality.reference()));
    if ours != theirs {
        return Ok(Some(DifferenceOrigin::Arguments(ours, theirs)));
    }
    if first == Step::START {
        return Ok(None);
    }
    let mut function = looked(causality.failing(), first)?.function;
    if function.is_none() && n_processes > 1 {
        let mut inputs = LastInput { until: first, last: None, is_over: false };
        let failing = causality.failing();
        failing.player.replay(&mut inputs)?;
        function = inputs.last;
    }
    Ok(function.map(DifferenceOrigin::Input))
}

/// The last function that brought something in before a step.
struct LastInput {
    until: Step,
    last: Option<Arc<str>>,
    is_over: bool,
}

impl Watch for LastInput {
    fn step(&mut self, machine: &NativeMachine) {
        self.is_over |= machine.n_steps >= self.until.0;
    }

    fn called(
        &mut self,
        _machine: &NativeMachine,
        call: &NativeCall,
        _arguments: &[Option<u64>],
        _result: Option<u64>,
    ) {
        if is_input(call) {
            self.last.clone_from(&call.name);
        }
    }

    fn is_done(&self) -> bool {
        self.is_over
    }
}

/// Whether a call brings in what others may have made; the time and the like are not made by others.
pub fn is_input(call: &NativeCall) -> bool {
    call.model.and_then(|model| model.input.as_ref()).is_some_and(|input| !matches!(input, Input::System))
}

fn plain(end: ChainEnd) -> DifferenceOrigin {
    match end {
        ChainEnd::Benign => DifferenceOrigin::Same,
        ChainEnd::Start => DifferenceOrigin::Start,
        ChainEnd::Unfinished => DifferenceOrigin::Unfinished,
        ChainEnd::Stuck => DifferenceOrigin::Stuck,
    }
}

/// The faulty variables that a step uses.
fn used<F: Forks>(causality: &mut Causality<F>, step: Step) -> Result<Vec<UsedVariable>, CausalityError<F::Error>> {
    let Some(point) = causality.point_until(step) else { return Ok(Vec::new()) };
    let look = looked(causality.failing(), step)?;
    let state = causality.state(point)?;
    let is_read = |cell: &Cell| {
        let end = cell.address + cell.length;
        look.reads.iter().any(|(address, length)| *address < end && cell.address < address + length)
    };
    let mut found = Vec::new();
    let cells = state.cells.iter().map(|(_, cell)| cell).chain(&state.unpatched);
    for cell in cells.filter(|cell| is_read(cell)).take(MAX_USED) {
        let names = naming::before(causality.failing(), step, &[(cell.address, cell.length)], None)?;
        found.push(UsedVariable {
            variable: names.into_iter().flatten().next().unwrap_or_else(|| cell.path.clone()),
            values: cell.shown.clone(),
            place: standing(causality.failing(), cell.writer)?.place,
        });
    }
    Ok(found)
}

fn looked(recorded: &mut NativeRecorded, step: Step) -> Result<OriginWatch, TraceError> {
    let mut look = OriginWatch::default();
    at_step(&mut recorded.player, step, &mut look)?;
    Ok(look)
}

/// Looks at what one step does.
#[derive(Default)]
struct OriginWatch {
    /// The first function that brought something in.
    function: Option<Arc<str>>,
    /// Addresses and bytes.
    reads: Vec<(u64, u64)>,
}

impl Watch for OriginWatch {
    fn uses(&mut self, _user: Step, _maker: Step, what: UsedThing) {
        if let UsedThing::Memory(address, length) | UsedThing::Address(address, length) = what {
            self.reads.push((address, length));
        }
    }

    fn called(
        &mut self,
        _machine: &NativeMachine,
        call: &NativeCall,
        _arguments: &[Option<u64>],
        _result: Option<u64>,
    ) {
        if is_input(call) && self.function.is_none() {
            self.function.clone_from(&call.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::RunEnding;
    use crate::native::stored::{causality, chain, links};

    #[test]
    fn what_a_function_of_the_library_read_comes_from_outside() {
        let mut causality = causality("input", RunEnding::Exit(0));
        let last = causality.failure().step;
        let chain = chain(&mut causality, last, |_, _| true);
        let links = links(&mut causality, &chain);
        let found = outside(&mut causality, &links, 1).unwrap();
        assert_eq!(found, Some(DifferenceOrigin::Input("__isoc99_fscanf".into())));
        let told = |causality: &mut _, in_change, from_outside| {
            origin(causality, &links, ChainEnd::Benign, in_change, None, from_outside).unwrap()
        };
        assert_eq!(told(&mut causality, Some(false), found.clone()), DifferenceOrigin::Input("__isoc99_fscanf".into()));
        assert_eq!(told(&mut causality, Some(true), found), DifferenceOrigin::Change);
        assert_eq!(told(&mut causality, None, None), DifferenceOrigin::Same);
    }

    #[test]
    fn an_initial_value_that_the_change_touches_is_told_as_one() {
        let mut causality = causality("list", RunEnding::Exit(0));
        let last = causality.failure().step;
        let chain = chain(&mut causality, last, |_, _| true);
        let links = links(&mut causality, &chain);
        assert_eq!(outside(&mut causality, &links, 1).unwrap(), None);
        assert_eq!(
            origin(&mut causality, &links, ChainEnd::Start, Some(true), None, None).unwrap(),
            DifferenceOrigin::Initial
        );
        assert_eq!(
            origin(&mut causality, &links, ChainEnd::Start, Some(false), None, None).unwrap(),
            DifferenceOrigin::Start
        );
    }
}
