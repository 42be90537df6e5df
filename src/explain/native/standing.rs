//! Where a step stands in the source, and how it decided, if it is a decision.

use std::sync::Arc;

use crate::explain::link::Instance;
use crate::explain::native::align::done;
use crate::explain::native::recorded::Recorded;
use crate::instrument::instruction::Op;
use crate::trace::TraceError;
use crate::trace::native::machine::Machine;
use crate::trace::native::machine::Watch;
use crate::trace::native::visit::at_step;
use crate::trace::place::Place;
use crate::trace::run::Run;
use crate::trace::step::Step;

/// Where a step stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// Its function.
    pub function: Option<Arc<str>>,
    /// Where it is in the source.
    pub place: Option<Place>,
    /// For a decision: how it went.
    pub outcome: Option<Outcome>,
    /// Which instance of its statement it is, once that is known.
    pub instance: Option<Instance>,
}

/// How a decision went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// `true`, `false`, or the line that was chosen.
    pub told: String,
    /// The line that was chosen.
    way: String,
    /// What the decision computes.
    condition: Option<String>,
    /// Which of its successors was chosen.
    successor: Option<Successor>,
}

/// That a run goes on at a place.
pub fn way(place: &Place) -> String {
    format!("decided for line {}", place.line)
}

/// One of the blocks that a decision leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Successor {
    /// That of a branch where its condition holds, or does not hold.
    Branch(bool),
    /// That of a `case`; none for the default.
    Case(Option<i128>),
}

impl Outcome {
    fn is_boolean(&self) -> bool {
        matches!(&*self.told, "true" | "false")
    }

    /// How both went, if not in the same way. The same condition in both versions is compared by what it chose, because lines move.
    pub(super) fn apart(&self, reference: &Self) -> Option<(String, String)> {
        if self.is_boolean() && reference.is_boolean() && self.told != reference.told {
            return Some((self.told.clone(), reference.told.clone()));
        }
        if self.condition.is_some() && self.condition == reference.condition && self.successor == reference.successor {
            return None;
        }
        // The versions have other conditions, perhaps with the same outcome.
        (self.way != reference.way).then(|| (self.way.clone(), reference.way.clone()))
    }
}

/// The step that stands for another one: for the entry of a function its call.
pub(super) fn giver(run: &Run, step: Step) -> Step {
    let caller = Step(run.callers[step.0 as usize]);
    if run.entries[step.0 as usize] && caller != Step::START { caller } else { step }
}

/// Looks a step up in its run; what the entry of a function gives to its parameters is given at the call.
pub fn standing(recorded: &mut Recorded, step: Step) -> Result<Standing, TraceError> {
    let step = giver(&recorded.run, step);
    looked(recorded, step)
}

/// Looks a step up; there is nothing to say of the start.
pub(super) fn looked(recorded: &mut Recorded, step: Step) -> Result<Standing, TraceError> {
    let mut look = Look { block: 0, statement: 0, standing: Standing::default(), is_over: false };
    at_step(&mut recorded.player, step, &mut look)?;
    Ok(look.standing)
}

/// Looks where a step stands, and how it decided.
struct Look {
    /// Its block, and its number in its function.
    block: u32,
    statement: u32,
    standing: Standing,
    is_over: bool,
}

impl Watch for Look {
    fn step(&mut self, machine: &Machine) {
        let Some(frame) = machine.frame() else { return };
        self.standing.function = Some(frame.shape.name());
        self.standing.place = frame.place().cloned();
        if frame.shape.is_decision(frame.statement) {
            (self.block, self.statement) = (frame.block.0, frame.statement);
        } else {
            self.is_over = true;
        }
    }

    fn block(&mut self, machine: &Machine) {
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
        let condition = done::exactly(&frame.shape, self.statement);
        self.standing.outcome = Some(Outcome { told, way, condition, successor });
        self.is_over = true;
    }

    fn is_done(&self) -> bool {
        self.is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_condition_is_compared_by_what_it_chose_and_another_one_by_its_line() {
        let outcome = |told: &str, line: u32, condition: &str, successor| Outcome {
            told: told.to_owned(),
            way: format!("decided for line {line}"),
            condition: Some(condition.to_owned()),
            successor: Some(successor),
        };
        let case = |n| Successor::Case(Some(n));
        let (five, moved) = (outcome("", 5, "switch x", case(1)), outcome("", 6, "switch x", case(1)));
        assert_eq!(five.apart(&moved), None, "lines move");
        let pair = |one: &str, two: &str| Some((one.to_owned(), two.to_owned()));
        let other = outcome("", 9, "switch x", case(2));
        assert_eq!(five.apart(&other), pair("decided for line 5", "decided for line 9"));
        let (yes, no) = (Successor::Branch(true), Successor::Branch(false));
        let taken = outcome("true", 5, "x", yes);
        assert_eq!(taken.apart(&outcome("false", 5, "y", no)), pair("true", "false"));
        let inverted = outcome("true", 7, "not x", yes);
        assert_eq!(taken.apart(&inverted), pair("decided for line 5", "decided for line 7"));
    }
}
