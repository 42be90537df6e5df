//! Potential dependences: a step uses a variable, and an earlier decision could have led to another value of it.
//!
//! If a decision skips `x = 1`, no later use of `x` depends on the decision by data or control, although a wrong decision
//! makes `x` wrong. Such errors of omission are in no dynamic slice. With these edges they are: the slice becomes the
//! *relevant* slice.
//!
//! Source: Agrawal, Horgan, Krauser and London 1993, "Incremental Regression Testing" (relevant slices); Gyimóthy,
//! Beszédes and Forgács 1999, "An Efficient Relevant Slicing Method for Debugging". Deviation: of all instances of one
//! decision only the last counts, and variables in memory are told apart by name, by field of a structure, or by type,
//! not by address.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::collections::HashMap;
use std::sync::Arc;

use crate::trace::TraceError;
use crate::trace::dependence::Dependences;
use crate::trace::dependence::Kind;
use crate::trace::dependence::Notes;
use crate::trace::flow::BlockId;
use crate::trace::native::machine::Machine;
use crate::trace::native::machine::Watch;
use crate::trace::native::machine::What;
use crate::trace::native::play::Player;
use crate::trace::native::shape::Action;
use crate::trace::native::shape::Shape;
use crate::trace::native::uses::kind_of;
use crate::trace::native::variables::Finder;
use crate::trace::native::variables::Variable;
use crate::trace::native::variables::WrittenBy;
use crate::trace::step::Step;

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
            all.retain(|variable| !variable.is_local());
            let known = found.entry(Arc::clone(&shape.body.function.name)).or_default();
            is_changed |= all.len() > known.len();
            known.extend(all);
        }
        if !is_changed {
            return found;
        }
    }
}

/// What is known of a function.
struct Facts {
    /// By statement: the variables that it reads.
    reads: Vec<Vec<Variable>>,
    /// By block that decides, and by its successor: the variables that are written only if it is chosen.
    chosen: HashMap<BlockId, Vec<(BlockId, Vec<Variable>)>>,
}

impl Facts {
    fn of(shape: &Shape, written_by: &WrittenBy) -> Self {
        let finder = Finder::new(shape);
        let reads = |statement: &crate::instrument::statement::Statement| {
            let instructions = &shape.body.function.block(statement.block).instructions[statement.first..statement.end];
            let mut all = BTreeSet::new();
            for instruction in instructions {
                finder.read(instruction, &mut all);
            }
            all.into_iter().collect()
        };
        let blocks: Vec<BTreeSet<Variable>> = shape
            .body
            .function
            .blocks
            .iter()
            .map(|block| {
                let mut all = BTreeSet::new();
                for instruction in &block.instructions {
                    finder.written(instruction, written_by, &mut all);
                }
                all
            })
            .collect();
        let mut chosen: HashMap<BlockId, Vec<(BlockId, Vec<Variable>)>> = HashMap::new();
        for (block, successors) in
            (0..).map(BlockId).zip(&shape.flow.successors).filter(|(_, successors)| successors.len() > 1)
        {
            let of = |successor: &BlockId| (*successor, governed(shape, block, *successor, &blocks));
            chosen.insert(block, successors.iter().map(of).collect());
        }
        Self { reads: shape.statements.iter().map(reads).collect(), chosen }
    }
}

/// The variables that are written in blocks that run because a decision chose a successor, directly or by decisions in
/// them.
fn governed(shape: &Shape, decision: BlockId, successor: BlockId, written: &[BTreeSet<Variable>]) -> Vec<Variable> {
    let depends = &shape.flow.control_dependence;
    let mut inside = vec![false; depends.len()];
    let mut is_changed = true;
    while is_changed {
        is_changed = false;
        for (block, on) in depends.iter().enumerate() {
            let is_inside = on.iter().any(|(by, choice)| {
                (*by == decision && *choice == successor) || (*by != decision && inside[by.0 as usize])
            });
            if is_inside && !inside[block] {
                inside[block] = true;
                is_changed = true;
            }
        }
    }
    let all = inside.iter().zip(written).filter(|(is_inside, _)| **is_inside).flat_map(|(_, written)| written);
    all.collect::<BTreeSet<_>>().into_iter().cloned().collect()
}

/// Decisions that could have led to another value, by decision.
type Pending = BTreeMap<(u32, BlockId), Step>;

/// Builds the dependence graph of a run with its potential dependences.
struct Relevant {
    notes: Notes,
    written_by: WrittenBy,
    facts: HashMap<u32, Facts>,
    /// By frame.
    locals: HashMap<u64, HashMap<Variable, Pending>>,
    others: HashMap<Variable, Pending>,
    /// A step, and the last step before it that printed.
    wrong: (Step, Step),
    /// The decisions between them that could have led to other output.
    skipped: Vec<Step>,
}

impl Relevant {
    fn facts(&mut self, shape: &Shape) {
        if !self.facts.contains_key(&shape.index) {
            self.facts.insert(shape.index, Facts::of(shape, &self.written_by));
        }
    }
}

impl Watch for Relevant {
    fn step(&mut self, machine: &Machine) {
        let Some(frame) = machine.frame() else { return };
        self.notes.step(frame.decider());
        if frame.step == self.wrong.0 {
            let decisions = self.others.get(&Variable::Output).into_iter().flat_map(BTreeMap::values);
            self.skipped = decisions.copied().filter(|decision| *decision > self.wrong.1).collect();
        }
        self.facts(&frame.shape);
        let Some(facts) = self.facts.get(&frame.shape.index) else { return };
        let none = HashMap::new();
        let locals = self.locals.get(&frame.number).unwrap_or(&none);
        for variable in &facts.reads[frame.statement as usize] {
            let pending = if variable.is_local() { locals.get(variable) } else { self.others.get(variable) };
            for decision in pending.into_iter().flat_map(BTreeMap::values) {
                self.notes.uses(frame.step, *decision, Kind::Potential);
            }
        }
    }

    fn uses(&mut self, user: Step, maker: Step, what: What) {
        self.notes.uses(user, maker, kind_of(what));
    }

    fn block(&mut self, machine: &Machine) {
        let Some(frame) = machine.frame() else { return };
        self.facts(&frame.shape);
        let (from, to) = (frame.block_before, frame.block);
        let Some(choices) = self.facts.get(&frame.shape.index).and_then(|facts| facts.chosen.get(&from)) else {
            return;
        };
        let decision = (frame.shape.index, from);
        for (successor, variables) in choices {
            for variable in variables {
                let all =
                    if variable.is_local() { self.locals.entry(frame.number).or_default() } else { &mut self.others };
                if *successor == to {
                    if let Some(pending) = all.get_mut(variable) {
                        pending.remove(&decision);
                    }
                } else {
                    all.entry(variable.clone()).or_default().insert(decision, frame.step);
                }
            }
        }
    }

    fn acts(&mut self, machine: &Machine, action: &Action, _record: &[u8]) {
        // A variable of the frame is written as a whole: earlier decisions do not matter any more.
        let Action::StorePlain { slot, .. } = action else { return };
        let Some(frame) = machine.frame() else { return };
        if let Some(locals) = self.locals.get_mut(&frame.number)
            && let Some(slot) = frame.shape.slots.iter().find(|other| other.register == *slot)
            && let Some(pending) = locals.get_mut(&Variable::Local(slot.id))
        {
            pending.clear();
        }
    }

    fn leaves(&mut self, machine: &Machine, _is_return: bool) {
        if let Some(frame) = machine.frame() {
            self.locals.remove(&frame.number);
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
pub fn dependences(player: &mut Player, wrong: (Step, Step)) -> Result<(Dependences, Vec<Step>), TraceError> {
    let shapes = player.program()?;
    let mut relevant = Relevant {
        notes: Notes::new(player.spool.clone()),
        written_by: written_by(&shapes),
        facts: HashMap::new(),
        locals: HashMap::new(),
        others: HashMap::new(),
        wrong,
        skipped: Vec::new(),
    };
    player.seek(0)?;
    player.play(&mut relevant)?;
    Ok((relevant.notes.pack()?, relevant.skipped))
}
