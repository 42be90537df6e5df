//! Statements of a function, as a source has them.
//!
//! A **statement** is a run of instructions of one block. No temporary value lives from one statement of a block to the next, but where an array of variable
//! length lies, and how long it is. A statement begins behind the last place of the source that the one before touches; so `x = f(a) + b;` is one,
//! `a = 1; b = 2;` are two, and the three parts of the head of a `for` are three. A jump without a condition is none. Statement 0 of each function is its
//! entry: parameters get their values there.

use std::collections::HashMap;

use crate::instrument::segment::is_readback;
use crate::instrument::{Debug, Function, Instruction, Op, OperandValue, ValueId};
use crate::{BlockId, Place};

/// A statement of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionStatement {
    /// Its block.
    pub block: BlockId,
    /// Its first instruction.
    pub first: usize,
    /// Behind its last.
    pub end: usize,
    /// Where it begins in the source.
    pub place: Option<Place>,
}

/// Where instructions are in the source: the first and the last place of a run.
#[derive(Clone)]
struct StatementRun {
    first: usize,
    end: usize,
    places: Option<(Place, Place)>,
}

/// The statements of a function whose first `n_slots` instructions are its slots; the first statement is its entry.
pub fn statements(function: &Function, n_slots: usize, debug: Debug<'_>) -> Vec<FunctionStatement> {
    let entry_place = function.subprogram.and_then(|id| debug.function(id)).map(|(_, place)| place);
    let entry = FunctionStatement { block: BlockId(0), first: 0, end: 0, place: entry_place };
    let mut statements = vec![entry];
    for (number, block) in (0..).zip(&function.blocks) {
        let instructions = &block.instructions;
        let n_slots = if number == 0 { n_slots } else { 0 };
        let mut uses: HashMap<ValueId, usize> = HashMap::new();
        for (index, instruction) in instructions.iter().enumerate().filter(|(_, one)| !is_readback(one)) {
            for id in locals(instruction) {
                uses.insert(id, index);
            }
        }
        for (id, made) in lasting(function, &instructions[n_slots..]) {
            uses.insert(id, n_slots + made);
        }
        let mut runs: Vec<StatementRun> = Vec::new();
        let mut open: Option<StatementRun> = None;
        let mut reach = 0;
        for (index, instruction) in instructions.iter().enumerate().skip(n_slots) {
            if is_nothing(instruction) {
                continue;
            }
            let run = open.get_or_insert(StatementRun { first: index, end: index, places: None });
            run.end = index + 1;
            let place = instruction.location.and_then(|location| debug.place(location)).filter(|place| place.line > 0);
            if let Some(place) = place {
                let (first, last) = run.places.take().unwrap_or_else(|| (place.clone(), place.clone()));
                run.places = Some((first.min(place.clone()), last.max(place)));
            }
            if let Some(last) = instruction.result.and_then(|id| uses.get(&id)) {
                reach = reach.max(*last);
            }
            if reach <= index {
                runs.extend(open.take());
            }
        }
        runs.extend(open);
        let mut merged: Vec<StatementRun> = Vec::new();
        for run in runs {
            let joins = match (merged.last().and_then(|last| last.places.as_ref()), &run.places) {
                (Some((_, last)), Some((first, _))) => last.file == first.file && first <= last,
                (_, None) => number == 0 || !merged.is_empty(),
                (None, Some(_)) => number != 0 && !merged.is_empty(),
            };
            match merged.last_mut() {
                Some(last) if joins => {
                    last.end = run.end;
                    last.places = match (last.places.take(), run.places) {
                        (Some((first, last)), Some((other_first, other_last))) => {
                            Some((first.min(other_first), last.max(other_last)))
                        }
                        (one, other) => one.or(other),
                    };
                }
                _ => merged.push(run),
            }
        }
        for run in merged {
            // What stands in the entry without a place stores the parameters.
            if number == 0 && run.places.is_none() && statements.len() == 1 && statements[0].end == 0 {
                statements[0].first = run.first;
                statements[0].end = run.end;
                continue;
            }
            let place = run.places.map(|(first, _)| first);
            statements.push(FunctionStatement { block: BlockId(number), first: run.first, end: run.end, place });
        }
    }
    statements
}

/// The values of an instruction that the function makes.
fn locals(instruction: &Instruction) -> impl Iterator<Item = ValueId> {
    instruction.operands.iter().filter_map(|operand| match operand.value {
        OperandValue::Local(id) => Some(id),
        _ => None,
    })
}

/// The addresses and lengths of arrays of variable length, which are kept until the block ends; with where the array is made.
fn lasting(function: &Function, instructions: &[Instruction]) -> HashMap<ValueId, usize> {
    let mut found: HashMap<ValueId, usize> = HashMap::new();
    for (index, instruction) in instructions.iter().enumerate().rev() {
        let Some(result) = instruction.result else { continue };
        let is_array = matches!(instruction.op, Op::Alloca(_))
            && function.declarations.iter().any(|declaration| declaration.address == result);
        let Some(made) = is_array.then_some(index).or_else(|| found.get(&result).copied()) else { continue };
        found.insert(result, made);
        found.extend(locals(instruction).map(|id| (id, made)));
    }
    found
}

/// What does nothing that the source says.
pub fn is_nothing(instruction: &Instruction) -> bool {
    let name = instruction.called().unwrap_or_default();
    matches!(instruction.op, Op::Jump(_) | Op::Unreachable | Op::LandingPad(_) | Op::Resume)
        || is_readback(instruction)
        || ["llvm.dbg.", "llvm.lifetime."].iter().any(|prefix| name.starts_with(prefix))
}
