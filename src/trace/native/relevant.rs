//! Potential dependences of a C program, see [`potential`].

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::native::uses::kind_of;
use crate::native::variables::{NativeWritable, VariableFinder, WrittenBy};
use crate::native::{FunctionShape, NativeFrame, NativeMachine, NativePlayer, RecordAction, UsedThing, Watch};
use crate::potential::ActivationStep;
use crate::{Dependences, Step, TraceError, potential};

/// Cost: the instructions of all functions, as often as calls are nested.
fn written_by(shapes: &[Arc<FunctionShape>]) -> WrittenBy {
    let mut found = WrittenBy::new();
    loop {
        let mut is_changed = false;
        for shape in shapes {
            let finder = VariableFinder::new(shape);
            let mut all = BTreeSet::new();
            for instruction in shape.body.function.blocks.iter().flat_map(|block| &block.instructions) {
                finder.written(instruction, &found, &mut all);
            }
            all.retain(|variable| !potential::WritableVariable::is_local(variable));
            let known = found.entry(Arc::clone(&shape.body.function.name)).or_default();
            is_changed |= all.len() > known.len();
            known.extend(all);
        }
        if !is_changed {
            return found;
        }
    }
}

/// Watches a run of a C program.
struct NativeRelevant {
    graph: potential::PotentialGraph<NativeWritable>,
    written_by: WrittenBy,
}

impl NativeRelevant {
    fn learn(&mut self, shape: &FunctionShape) {
        if self.graph.knows(shape.index) {
            return;
        }
        let finder = VariableFinder::new(shape);
        let mut reads = vec![BTreeSet::new(); shape.statements.len()];
        for (all, statement) in reads.iter_mut().zip(&shape.statements) {
            shape.instructions(statement).iter().for_each(|instruction| finder.read(instruction, all));
        }
        let mut writes = vec![BTreeSet::new(); shape.body.function.blocks.len()];
        for (all, block) in writes.iter_mut().zip(&shape.body.function.blocks) {
            block.instructions.iter().for_each(|instruction| finder.written(instruction, &self.written_by, all));
        }
        self.graph.learn(shape.index, &shape.flow, reads, &writes);
    }
}

fn at(frame: &NativeFrame) -> ActivationStep {
    ActivationStep { frame: frame.number, function: frame.shape.index, step: frame.step }
}

impl Watch for NativeRelevant {
    fn step(&mut self, machine: &NativeMachine) {
        let Some(frame) = machine.frame() else { return };
        self.learn(&frame.shape);
        self.graph.step(at(frame), frame.statement, frame.decider());
    }

    fn uses(&mut self, user: Step, maker: Step, what: UsedThing) {
        self.graph.uses(user, maker, kind_of(what));
    }

    fn block(&mut self, machine: &NativeMachine) {
        let Some(frame) = machine.frame() else { return };
        self.learn(&frame.shape);
        self.graph.decides(at(frame), frame.block_before, frame.block);
    }

    fn acts(&mut self, machine: &NativeMachine, action: &RecordAction, _record: &[u8]) {
        // A variable of the frame is written as a whole.
        let RecordAction::StorePlain { slot, .. } = action else { return };
        let Some(frame) = machine.frame() else { return };
        if let Some(slot) = frame.shape.slots.iter().find(|other| other.register == *slot) {
            self.graph.overwrites(at(frame), &NativeWritable::Local(slot.id));
        }
    }

    fn leaves(&mut self, machine: &NativeMachine, _is_return: bool) {
        if let Some(frame) = machine.frame() {
            self.graph.leaves(frame.number);
        }
    }
}

/// The dependence graph of a run with its potential dependences, and the decisions before a wrong output that could have
/// led to other output.
///
/// - `wrong`: the step of the output, and the last step before it that printed. The number of blanks before a word, for
///   example, depends on a loop after which the word is printed.
///
/// Cost: all functions of the program are read, and one pass over the trace, about twice as long as without potential
/// dependences.
pub fn relevant_dependences(
    player: &mut NativePlayer,
    wrong: (Step, Step),
) -> Result<(Dependences, Vec<Step>), TraceError> {
    let shapes = player.program()?;
    let graph = potential::PotentialGraph::new(player.spool.clone(), wrong);
    let mut relevant = NativeRelevant { graph, written_by: written_by(&shapes) };
    player.replay(&mut relevant)?;
    relevant.graph.end()
}
