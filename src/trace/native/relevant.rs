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

use std::collections::BTreeSet;
use std::collections::HashMap;
use std::sync::Arc;

use crate::instrument::instruction::ValueId;
use crate::trace::TraceError;
use crate::trace::dependence::Dependences;
use crate::trace::dependence::Kind;
use crate::trace::dependence::Notes;
use crate::trace::detail::What;
use crate::trace::flow::BlockId;
use crate::trace::native::machine::Machine;
use crate::trace::native::machine::Watch;
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

/// A variable by its number: of the function, or of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    Local(u32),
    Other(u32),
}

/// The numbers of some variables, in the order in which they are met.
#[derive(Default)]
struct Numbers(HashMap<Variable, u32>);

impl Numbers {
    fn of(&mut self, variable: Variable) -> u32 {
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        *self.0.entry(variable).or_insert(next)
    }
}

/// What is known of a function.
struct Facts {
    /// By statement: the variables that it reads.
    reads: Vec<Vec<Number>>,
    /// By block; of one that decides by its successor: the variables that are written only if it is chosen.
    chosen: Vec<Vec<(BlockId, Vec<Number>)>>,
    /// The numbers of the local variables.
    locals: HashMap<ValueId, u32>,
}

impl Facts {
    fn of(shape: &Shape, written_by: &WrittenBy, others: &mut Numbers) -> Self {
        let finder = Finder::new(shape);
        let reads = |statement: &crate::instrument::statement::Statement| {
            let instructions = &shape.body.function.block(statement.block).instructions[statement.first..statement.end];
            let mut all = BTreeSet::new();
            for instruction in instructions {
                finder.read(instruction, &mut all);
            }
            all.into_iter().collect::<Vec<_>>()
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
        let mut locals = HashMap::new();
        let mut number = |variable: Variable| {
            let next = u32::try_from(locals.len()).unwrap_or(u32::MAX);
            match variable {
                Variable::Local(id) => Number::Local(*locals.entry(id).or_insert(next)),
                other => Number::Other(others.of(other)),
            }
        };
        let reads = shape.statements.iter().map(|statement| reads(statement).into_iter().map(&mut number).collect());
        let reads = reads.collect();
        let mut chosen = Vec::new();
        for (block, successors) in (0..).map(BlockId).zip(&shape.flow.successors) {
            let successors = if successors.len() > 1 { &successors[..] } else { &[] };
            let mut of = |successor: &BlockId| {
                let governed = governed(shape, block, *successor, &blocks);
                (*successor, governed.into_iter().map(&mut number).collect())
            };
            chosen.push(successors.iter().map(&mut of).collect());
        }
        Self { reads, chosen, locals }
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
///
/// Ordered by decision; there are few.
type Pending = Vec<((u32, BlockId), Step)>;

/// The decisions that could have led to other values of the variables with these numbers.
#[derive(Default)]
struct Waiting(Vec<Pending>);

impl Waiting {
    fn of(&mut self, variable: u32) -> &mut Pending {
        let at = variable as usize;
        if self.0.len() <= at {
            self.0.resize_with(at + 1, Pending::new);
        }
        &mut self.0[at]
    }

    fn get(&self, variable: u32) -> impl Iterator<Item = Step> + '_ {
        self.0.get(variable as usize).into_iter().flatten().map(|(_, step)| *step)
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(Vec::is_empty)
    }
}

/// Builds the dependence graph of a run with its potential dependences.
struct Relevant {
    notes: Notes,
    written_by: WrittenBy,
    /// By function, of those that were met.
    facts: Vec<Option<Facts>>,
    numbers: Numbers,
    /// By frame, without the current one.
    frames: HashMap<u64, Waiting>,
    /// The number of the current frame, and its local variables.
    locals: (u64, Waiting),
    /// Of frames that were left, to be used again.
    spare: Vec<Waiting>,
    others: Waiting,
    /// A step, and the last step before it that printed.
    wrong: (Step, Step),
    /// The decisions between them that could have led to other output.
    skipped: Vec<Step>,
}

impl Relevant {
    fn facts(&mut self, shape: &Shape) {
        let index = shape.index as usize;
        if self.facts.len() <= index {
            self.facts.resize_with(index + 1, || None);
        }
        if self.facts[index].is_none() {
            self.facts[index] = Some(Facts::of(shape, &self.written_by, &mut self.numbers));
        }
    }

    /// Makes a frame the current one.
    fn turn_to(&mut self, frame: u64) {
        if self.locals.0 != frame {
            let locals = self.frames.remove(&frame).or_else(|| self.spare.pop()).unwrap_or_default();
            let (before, waiting) = std::mem::replace(&mut self.locals, (frame, locals));
            if waiting.is_empty() {
                self.spare.push(waiting);
            } else {
                self.frames.insert(before, waiting);
            }
        }
    }
}

impl Watch for Relevant {
    fn step(&mut self, machine: &Machine) {
        let Some(frame) = machine.frame() else { return };
        self.notes.step(frame.decider());
        if frame.step == self.wrong.0 {
            let output = self.numbers.of(Variable::Output);
            self.skipped = self.others.get(output).filter(|decision| *decision > self.wrong.1).collect();
        }
        self.facts(&frame.shape);
        self.turn_to(frame.number);
        let Some(Some(facts)) = self.facts.get(frame.shape.index as usize) else { return };
        for variable in &facts.reads[frame.statement as usize] {
            let (waiting, number) = match variable {
                Number::Local(number) => (&self.locals.1, number),
                Number::Other(number) => (&self.others, number),
            };
            for decision in waiting.get(*number) {
                self.notes.uses(frame.step, decision, Kind::Potential);
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
        self.turn_to(frame.number);
        let Some(Some(facts)) = self.facts.get(frame.shape.index as usize) else { return };
        let decision = (frame.shape.index, from);
        for (successor, variables) in facts.chosen.get(from.0 as usize).into_iter().flatten() {
            for variable in variables {
                let pending = match variable {
                    Number::Local(number) => self.locals.1.of(*number),
                    Number::Other(number) => self.others.of(*number),
                };
                match pending.binary_search_by_key(&decision, |(decision, _)| *decision) {
                    Ok(at) if *successor == to => _ = pending.remove(at),
                    Ok(at) => pending[at].1 = frame.step,
                    Err(_) if *successor == to => {}
                    Err(at) => pending.insert(at, (decision, frame.step)),
                }
            }
        }
    }

    fn acts(&mut self, machine: &Machine, action: &Action, _record: &[u8]) {
        // A variable of the frame is written as a whole: earlier decisions do not matter any more.
        let Action::StorePlain { slot, .. } = action else { return };
        let Some(frame) = machine.frame() else { return };
        let Some(Some(facts)) = self.facts.get(frame.shape.index as usize) else { return };
        if let Some(slot) = frame.shape.slots.iter().find(|other| other.register == *slot)
            && let Some(number) = facts.locals.get(&slot.id).copied()
        {
            self.turn_to(frame.number);
            self.locals.1.of(number).clear();
        }
    }

    fn leaves(&mut self, machine: &Machine, _is_return: bool) {
        if let Some(frame) = machine.frame() {
            self.turn_to(frame.number);
            self.locals.1.0.iter_mut().for_each(Vec::clear);
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
        facts: Vec::new(),
        numbers: Numbers::default(),
        frames: HashMap::new(),
        locals: (u64::MAX, Waiting::default()),
        spare: Vec::new(),
        others: Waiting::default(),
        wrong,
        skipped: Vec::new(),
    };
    player.seek(0)?;
    player.play(&mut relevant)?;
    Ok((relevant.notes.pack()?, relevant.skipped))
}
