//! The decisions of a run that can be switched: which instance of which segment makes each of them, and what every step
//! depends on.

use std::collections::{HashMap, HashSet};

use crate::native::origin::is_input;
use idd_trace::instrument::choice::choices;
use idd_trace::instrument::types::Type;
use idd_trace::instrument::{FunctionStatement, Op, OperandValue};
use idd_trace::native::{FunctionShape, NativeCall, NativeMachine, NativePlayer, Next, UsedThing, Watch};
use idd_trace::{Dependences, Step, TraceError, Uses};

/// A decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Its step.
    pub step: Step,
    /// The segment that ends with it.
    pub segment: u32,
    /// Which instance of the segment, from 1.
    pub n: u64,
    /// Which [choice](idd_trace::instrument::choice) of the segment it is, from 1; 0 for the decision at its end.
    pub choice: u8,
    /// The values to force: for a `switch` one for each target, the one that was taken included; for a branch one
    /// number without a meaning, and for a choice.
    pub cases: Vec<i64>,
    /// Whether it decides about its own next instance: whether a loop repeats.
    pub is_repeating: bool,
    /// Whether the step, or one that made a value which the step uses, brings input into the program.
    pub has_input: bool,
}

/// What can be switched in a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decisions {
    /// All of them, as they were made.
    pub all: Vec<Decision>,
    /// What the steps of the run depend on.
    pub dependences: Dependences,
}

impl Decisions {
    /// Reads them from a run.
    ///
    /// Cost: one pass over the trace.
    pub fn read(player: &mut NativePlayer) -> Result<Self, TraceError> {
        player.seek(0)?;
        let mut reader = DecisionReader { uses: Uses::all(), inputs: HashSet::new() };
        let mut instances: HashMap<u32, u64> = HashMap::new();
        let mut ways: HashMap<u32, Ways> = HashMap::new();
        let mut all = Vec::new();
        while let Some(segment) = player.next(&mut reader)? {
            let n = instances.entry(segment).or_default();
            *n += 1;
            let Some(frame) = player.machine.frame().filter(|frame| frame.segment == segment) else { continue };
            let Ways { choices, cases, is_repeating } =
                ways.entry(segment).or_insert_with(|| Ways::new(&frame.shape, segment));
            let decision = |choice, cases: Vec<i64>, is_repeating| {
                let step = frame.step;
                Decision { step, segment, n: *n, choice, cases, is_repeating, has_input: false }
            };
            let here = choices.iter().filter(|(_, statement)| *statement == frame.statement);
            all.extend(here.map(|(choice, _)| decision(*choice, vec![0], false)));
            if !cases.is_empty() {
                all.push(decision(0, cases.clone(), *is_repeating));
            }
        }
        let dependences = reader.uses.pack().map_err(TraceError::from)?;
        for decision in &mut all {
            let mut makers = dependences.makers(decision.step).filter(|(_, kind)| kind.is_flow());
            decision.has_input =
                reader.inputs.contains(&decision.step) || makers.any(|(maker, _)| reader.inputs.contains(&maker));
        }
        Ok(Self { all, dependences })
    }
}

/// What can be switched in a segment.
struct Ways {
    /// Its choices, and their statements.
    choices: Vec<(u8, u32)>,
    /// See [`Decision::cases`], of the decision at its end; none if there is none.
    cases: Vec<i64>,
    is_repeating: bool,
}

impl Ways {
    fn new(shape: &FunctionShape, segment: u32) -> Self {
        Self {
            choices: choices_of(shape, segment),
            cases: cases_of(shape, segment),
            is_repeating: is_repeating(shape, segment),
        }
    }
}

/// The choices of a segment, and their statements; none of a library, which has no steps.
fn choices_of(shape: &FunctionShape, segment: u32) -> Vec<(u8, u32)> {
    let (piece, body) = (shape.piece(segment), &shape.body);
    let Some(cut) = body.segments.segments.get((segment - body.first) as usize).filter(|_| !shape.is_quiet) else {
        return Vec::new();
    };
    let statement_of = |index: usize| {
        let is_around = |statement: &FunctionStatement| {
            statement.block == piece.block && (statement.first..statement.end).contains(&index)
        };
        shape.statements.iter().position(is_around).and_then(|statement| u32::try_from(statement).ok())
    };
    let choices = choices(&body.function.block(piece.block).instructions, cut);
    (1..).zip(choices).filter_map(|(number, index)| Some((number, statement_of(index)?))).collect()
}

/// Reads dependences, and the steps that bring input into the program: their own calls do, or calls in functions that they call.
struct DecisionReader {
    uses: Uses,
    inputs: HashSet<Step>,
}

impl Watch for DecisionReader {
    fn step(&mut self, machine: &NativeMachine) {
        self.uses.step(machine);
    }

    fn uses(&mut self, user: Step, maker: Step, what: UsedThing) {
        self.uses.uses(user, maker, what);
    }

    fn called(&mut self, machine: &NativeMachine, call: &NativeCall, _arguments: &[Option<u64>], _result: Option<u64>) {
        if is_input(call) {
            self.inputs.extend(machine.all_frames().map(|frame| frame.step));
        }
    }
}

/// Whether the decision at the end of a segment decides whether its own block runs again.
fn is_repeating(shape: &FunctionShape, segment: u32) -> bool {
    let block = shape.piece(segment).block;
    shape.flow.control_dependence[block.0 as usize].iter().any(|(decider, _)| *decider == block)
}

/// How the decision at the end of a segment can be switched; not at all if there is none.
fn cases_of(shape: &FunctionShape, segment: u32) -> Vec<i64> {
    let piece = shape.piece(segment);
    let Next::Decided(_) = piece.next else { return Vec::new() };
    let Some(last) = shape.body.function.block(piece.block).instructions.last() else { return Vec::new() };
    let Some(operand) = last.operands.first().filter(|operand| matches!(operand.value, OperandValue::Local(_))) else {
        return Vec::new();
    };
    match (&last.op, &operand.ty) {
        (Op::Branch(..), _) => vec![0],
        (Op::Switch(default, cases), Type::Int(n_bits)) => {
            let mut targets = vec![*default];
            let mut values = Vec::new();
            for (value, target) in cases {
                if !targets.contains(target) {
                    targets.push(*target);
                    values.extend(i64::try_from(*value));
                }
            }
            let known: Vec<i128> = cases.iter().map(|(value, _)| *value).collect();
            values.extend(other_value(&known, *n_bits));
            values
        }
        _ => Vec::new(),
    }
}

/// The smallest number of so many bits that is none of `values`.
fn other_value(values: &[i128], n_bits: u32) -> Option<i64> {
    let n_bits = n_bits.min(62);
    let mask = (1_i128 << n_bits) - 1;
    let is_free = |number: &i64| values.iter().all(|value| value & mask != i128::from(*number));
    (0..1_i64 << n_bits).find(is_free)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_for_the_default_is_none_of_the_cases() {
        assert_eq!(other_value(&[0, 1, 3], 32), Some(2));
        assert_eq!(other_value(&[0, -1], 1), None);
        // As 8 bits, -127 is 129.
        let others: Vec<i128> = (0..128).chain([-128]).collect();
        assert_eq!(other_value(&others, 8), Some(129));
    }
}
