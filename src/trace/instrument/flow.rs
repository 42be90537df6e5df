//! What follows what inside a function of LLVM.

use crate::instrument::{Function, Instruction, Op};
use crate::{BlockId, Flow};

/// The flow graph of a function.
pub fn flow(function: &Function) -> Flow {
    let last = function.blocks.iter().map(|block| block.instructions.last());
    Flow::of(last.map(|last| last.map(|last| targets(&last.op)).unwrap_or_default()).collect())
}

/// Where an instruction may go on; each block once, in the order of the instruction.
pub fn targets(op: &Op) -> Vec<BlockId> {
    let mut blocks = match op {
        Op::Jump(block) => vec![*block],
        Op::Branch(then, other) => vec![*then, *other],
        Op::Switch(default, cases) => std::iter::once(*default).chain(cases.iter().map(|(_, block)| *block)).collect(),
        Op::IndirectJump(blocks) => blocks.clone(),
        _ => Vec::new(),
    };
    let mut seen = std::collections::HashSet::new();
    blocks.retain(|block| seen.insert(*block));
    blocks
}

/// The block that catches exceptions of a call, unless they end the program there.
pub fn catcher(function: &Function, call: &Instruction) -> Option<BlockId> {
    let Op::Call(_, _, _, _, Some(pad)) = call.op else { return None };
    let instructions = &function.block(pad).instructions;
    let ends = || instructions.iter().any(|instruction| instruction.called() == Some("__clang_call_terminate"));
    let catches = matches!(instructions.first()?.op, Op::LandingPad(true));
    (catches && !ends()).then_some(pad)
}
