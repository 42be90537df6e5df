//! The blocks of a method, and their flow.

use crate::instrument::java::code::Code;
use crate::{BlockId, Flow};
use std::ops::Range;

/// The blocks of a method, in the order of the code.
///
/// A block is entered only at its first instruction, and only its last one chooses. Ways from an instruction to a
/// handler of its exception are not part of the flow; a handler is the first instruction of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    /// Their instructions.
    pub ranges: Vec<Range<u32>>,
    /// The block of each instruction.
    pub of: Vec<BlockId>,
    pub flow: Flow,
}

impl Blocks {
    /// The blocks of a method.
    pub fn of(code: &Code<'_>) -> Self {
        let n = code.instructions.len();
        let mut is_leader = vec![false; n + 1];
        is_leader[0] = true;
        for handler in &code.handlers {
            is_leader[handler.begin as usize] = true;
        }
        for (number, instruction) in code.instructions.iter().enumerate() {
            let operation = &instruction.operation;
            for way in operation.ways() {
                is_leader[way as usize] = true;
            }
            is_leader[number + 1] |= operation.is_decision() || !operation.goes_on();
        }
        let mut ranges: Vec<Range<u32>> = Vec::new();
        let mut of = Vec::with_capacity(n);
        for number in 0..code.end() {
            if is_leader[number as usize] {
                ranges.push(number..number);
            }
            let block = ranges.len() - 1;
            ranges[block].end = number + 1;
            of.push(BlockId(u32::try_from(block).expect("blocks are fewer than instructions")));
        }
        let successors = ranges.iter().map(|range| {
            let operation = &code.instructions[range.end as usize - 1].operation;
            let next = (operation.goes_on() && range.end < code.end()).then_some(range.end);
            let mut blocks: Vec<BlockId> = Vec::new();
            for way in next.into_iter().chain(operation.ways()) {
                if !blocks.contains(&of[way as usize]) {
                    blocks.push(of[way as usize]);
                }
            }
            blocks
        });
        let flow = Flow::of(successors.collect());
        Self { ranges, of, flow }
    }
}
