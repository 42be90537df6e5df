//! The decisions of a run that can be switched: which instance of which segment makes each of them, and what every step
//! depends on.

use std::collections::HashMap;

use crate::instrument::instruction::Op;
use crate::instrument::instruction::Value;
use crate::instrument::types::Type;
use crate::trace::TraceError;
use crate::trace::dependence::Dependences;
use crate::trace::native::play::Player;
use crate::trace::native::shape::Next;
use crate::trace::native::shape::Shape;
use crate::trace::native::uses::Uses;
use crate::trace::step::Step;

/// A decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Its step.
    pub step: Step,
    /// The segment that ends with it.
    pub segment: u32,
    /// Which instance of the segment, from 1.
    pub n: u64,
    /// The values to force: for a `switch` one for each target, the one that was taken included; for a branch one
    /// number without a meaning.
    pub cases: Vec<i64>,
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
    /// Takes them down.
    ///
    /// Cost: one pass over the trace.
    pub fn read(player: &mut Player) -> Result<Self, TraceError> {
        player.seek(0)?;
        let mut uses = Uses::all();
        let mut instances: HashMap<u32, u64> = HashMap::new();
        let mut cases: HashMap<u32, Vec<i64>> = HashMap::new();
        let mut all = Vec::new();
        while let Some(segment) = player.next(&mut uses)? {
            let n = instances.entry(segment).or_default();
            *n += 1;
            let Some(frame) = player.machine.frame().filter(|frame| frame.segment == segment) else { continue };
            let cases = cases.entry(segment).or_insert_with(|| cases_of(&frame.shape, segment));
            if !cases.is_empty() {
                all.push(Decision { step: frame.step, segment, n: *n, cases: cases.clone() });
            }
        }
        Ok(Self { all, dependences: uses.pack().map_err(TraceError::from)? })
    }
}

/// How the decision at the end of a segment can be switched; not at all if there is none.
fn cases_of(shape: &Shape, segment: u32) -> Vec<i64> {
    let piece = shape.piece(segment);
    let Next::Decided(_) = piece.next else { return Vec::new() };
    let Some(last) = shape.body.function.block(piece.block).instructions.last() else { return Vec::new() };
    let Some(operand) = last.operands.first().filter(|operand| matches!(operand.value, Value::Local(_))) else {
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
