//! Conditions that no branch is made for: `a < 0 ? 0 : 1` becomes a `select`, and `is_even = n % 2 == 0` keeps the condition as a number.

use crate::instrument::types::Type;
use crate::instrument::{CastOp, Instruction, Op, OperandValue, Segment};

/// More of one segment have no number.
const MAX_CHOICES: usize = 250;

/// The instructions of a segment's block that use a condition without a branch. The first of them has the number 1 in
/// the orders of the runtime.
pub fn choices(instructions: &[Instruction], segment: &Segment) -> Vec<usize> {
    let within = instructions.iter().enumerate().take(segment.end).skip(segment.first);
    within.filter(|(_, instruction)| is_choice(instruction)).map(|(index, _)| index).take(MAX_CHOICES).collect()
}

fn is_choice(instruction: &Instruction) -> bool {
    let is_kind = matches!(instruction.op, Op::Select | Op::Cast(CastOp::ZExt));
    let condition = instruction.operands.first();
    is_kind
        && condition
            .is_some_and(|operand| operand.ty == Type::Int(1) && matches!(operand.value, OperandValue::Local(_)))
}
