//! Potential dependences of a C program, see [`potential`].

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::dependence::Dependences;
use crate::native::machine::{Frame, Machine, Watch, What};
use crate::native::play::Player;
use crate::native::shape::{Action, Shape};
use crate::native::uses::kind_of;
use crate::native::variables::{Finder, Variable, WrittenBy};
use crate::potential::At;
use crate::step::Step;
use crate::{TraceError, potential};

/// Cost: the instructions of all functions, as often as calls are nested.
fn written_by(shapes: &[Arc<Shape>]) -> WrittenBy {
    let mut found = WrittenBy::new();
    loop {
        let mut is_changed = false;
        for shape in shapes {
            let finder = Finder::new(shape);
            let mut all = BTreeSet::new();
            for instruction in shape.body.function.blocks.iter().flat_map(|block| &block.instructions) {
                finder.written(instruction, &found, &mut all);
            }
            all.retain(|variable| !potential::Variable::is_local(variable));
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
struct Relevant {
    graph: potential::Relevant<Variable>,
    written_by: WrittenBy,
}

impl Relevant {
    fn learn(&mut self, shape: &Shape) {
        if self.graph.knows(shape.index) {
            return;
        }
        let finder = Finder::new(shape);
        let reads = |statement: &crate::instrument::statement::Statement| {
            let instructions = &shape.body.function.block(statement.block).instructions[statement.first..statement.end];
            let mut all = BTreeSet::new();
            for instruction in instructions {
                finder.read(instruction, &mut all);
            }
            all
        };
        let reads = shape.statements.iter().map(reads).collect();
        let writes = shape.body.function.blocks.iter().map(|block| {
            let mut all = BTreeSet::new();
            for instruction in &block.instructions {
                finder.written(instruction, &self.written_by, &mut all);
            }
            all
        });
        let writes: Vec<BTreeSet<Variable>> = writes.collect();
        self.graph.learn(shape.index, &shape.flow, reads, &writes);
    }
}

fn at(frame: &Frame) -> At {
    At { frame: frame.number, function: frame.shape.index, step: frame.step }
}

impl Watch for Relevant {
    fn step(&mut self, machine: &Machine) {
        let Some(frame) = machine.frame() else { return };
        self.learn(&frame.shape);
        self.graph.step(at(frame), frame.statement, frame.decider());
    }

    fn uses(&mut self, user: Step, maker: Step, what: What) {
        self.graph.uses(user, maker, kind_of(what));
    }

    fn block(&mut self, machine: &Machine) {
        let Some(frame) = machine.frame() else { return };
        self.learn(&frame.shape);
        self.graph.decides(at(frame), (frame.block_before, frame.block));
    }

    fn acts(&mut self, machine: &Machine, action: &Action, _record: &[u8]) {
        // A variable of the frame is written as a whole.
        let Action::StorePlain { slot, .. } = action else { return };
        let Some(frame) = machine.frame() else { return };
        if let Some(slot) = frame.shape.slots.iter().find(|other| other.register == *slot) {
            self.graph.overwrites(at(frame), &Variable::Local(slot.id));
        }
    }

    fn leaves(&mut self, machine: &Machine, _is_return: bool) {
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
pub fn relevant_dependences(player: &mut Player, wrong: (Step, Step)) -> Result<(Dependences, Vec<Step>), TraceError> {
    let shapes = player.program()?;
    let graph = potential::Relevant::new(player.spool.clone(), wrong);
    let mut relevant = Relevant { graph, written_by: written_by(&shapes) };
    player.replay(&mut relevant)?;
    relevant.graph.end()
}
