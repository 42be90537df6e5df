//! Where a step stands in the source, and how it decided, if it is a decision.

use std::sync::Arc;

use crate::facts::{DecisionOutcome, Successor, way};
use crate::link::Instance;
use crate::native::align::done;
use crate::native::recorded::NativeRecorded;
use idd_trace::instrument::Op;
use idd_trace::native::visit::at_step;
use idd_trace::native::{NativeMachine, Watch};
use idd_trace::{Place, Run, Step, TraceError};

/// Where a step stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// Its function.
    pub function: Option<Arc<str>>,
    /// Where it is in the source.
    pub place: Option<Place>,
    /// For a decision: how it went.
    pub outcome: Option<DecisionOutcome>,
    /// For a decision: where the arm begins that it went into.
    pub arm: Option<Place>,
    /// Which instance of its statement it is, once that is known.
    pub instance: Option<Instance>,
}

/// The step that stands for another one: for the entry of a function its call.
pub(super) fn giver(run: &Run, step: Step) -> Step {
    let caller = Step(run.callers[step.0 as usize]);
    if run.entries[step.0 as usize] && caller != Step::START { caller } else { step }
}

/// Looks a step up in its run; what the entry of a function gives to its parameters is given at the call.
pub fn standing(recorded: &mut NativeRecorded, step: Step) -> Result<Standing, TraceError> {
    let step = giver(&recorded.run, step);
    looked(recorded, step)
}

/// Looks a step up; there is nothing to say of the start.
pub(super) fn looked(recorded: &mut NativeRecorded, step: Step) -> Result<Standing, TraceError> {
    let mut look = StandingWatch { block: 0, statement: 0, standing: Standing::default(), is_over: false };
    at_step(&mut recorded.player, step, &mut look)?;
    Ok(look.standing)
}

/// Looks where a step stands, and how it decided.
struct StandingWatch {
    /// Its block, and its number in its function.
    block: u32,
    statement: u32,
    standing: Standing,
    is_over: bool,
}

impl Watch for StandingWatch {
    fn step(&mut self, machine: &NativeMachine) {
        let Some(frame) = machine.frame() else { return };
        self.standing.function = Some(frame.shape.name());
        self.standing.place = frame.place().cloned();
        if frame.shape.is_decision(frame.statement) {
            (self.block, self.statement) = (frame.block.0, frame.statement);
        } else {
            self.is_over = true;
        }
    }

    fn block(&mut self, machine: &NativeMachine) {
        let Some(frame) = machine.frame() else { return };
        let function = &frame.shape.body.function;
        let decision = function.blocks[self.block as usize].instructions.last();
        let label = &*function.block(frame.block).label;
        let is_taken =
            ["if.then", "for.body", "while.body", "do.body", "cond.true", "land.rhs", "land.lhs.true", "lor.end"];
        let is_left = [
            "if.end",
            "if.else",
            "for.end",
            "while.end",
            "do.end",
            "cond.false",
            "land.end",
            "lor.rhs",
            "lor.lhs.false",
        ];
        let begins = |labels: &[&str]| labels.iter().any(|begin| label.starts_with(begin));
        let statement = frame.shape.statements.iter().find(|statement| statement.block == frame.block);
        let place = statement.and_then(|statement| statement.place.as_ref());
        let way = place.map_or_else(|| "decided so".to_owned(), way);
        let decision = decision.map(|instruction| &instruction.op);
        let told = match decision {
            Some(Op::Branch(..)) if begins(&is_taken) => "true".to_owned(),
            Some(Op::Branch(..)) if begins(&is_left) => "false".to_owned(),
            _ => way.clone(),
        };
        let successor = match decision {
            Some(Op::Branch(then, _)) => Some(Successor::Branch(*then == frame.block)),
            Some(Op::Switch(_, cases)) => {
                let case = cases.iter().find(|(_, block)| *block == frame.block);
                Some(Successor::Case(case.map(|(value, _)| *value)))
            }
            _ => None,
        };
        let dependence = &frame.shape.flow.control_dependence[frame.block.0 as usize];
        if dependence.iter().any(|(decision, _)| decision.0 == self.block) {
            let places = function.block(frame.block).instructions.iter().filter_map(|instruction| {
                frame.shape.debug().place(instruction.location?).filter(|place| place.line > 0)
            });
            self.standing.arm = places.min();
        }
        let condition = done::exactly(&frame.shape, self.statement);
        self.standing.outcome = Some(DecisionOutcome::new(told, way, condition, successor));
        self.is_over = true;
    }

    fn is_done(&self) -> bool {
        self.is_over
    }
}
