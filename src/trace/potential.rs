//! Potential dependences: a step uses a variable, and an earlier decision could have led to another value of it.
//!
//! If a decision skips `x = 1`, no later use of `x` depends on the decision by data or control, although a wrong decision
//! makes `x` wrong. Such errors of omission are in no dynamic slice. With these edges they are: the slice becomes the
//! *relevant* slice.
//!
//! What a variable is, and which ones the statements of a function read and write, depends on the language. This is the
//! rest.
//!
//! Source: Agrawal, Horgan, Krauser and London 1993, "Incremental Regression Testing" (relevant slices); Gyimóthy,
//! Beszédes and Forgács 1999, "An Efficient Relevant Slicing Method for Debugging". Deviation: of all instances of one
//! decision only the last counts, and variables in memory are told apart by name, by field of a structure, or by type,
//! not by address.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

use crate::spool::Spool;
use crate::{BlockId, DependenceKind, Dependences, Flow, Notes, Step, TraceError};

/// Something that a statement may write.
pub trait WritableVariable: Clone + Ord + Hash {
    /// What stands for the output of the program.
    const OUTPUT: Self;

    /// Whether it is a local variable of the function.
    fn is_local(&self) -> bool;
}

/// A variable by its number: of the function, or of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VariableNumber {
    Local(u32),
    Other(u32),
}

/// The numbers of some variables, in the order in which they are met.
struct VariableNumbers<V>(HashMap<V, u32>);

impl<V: WritableVariable> VariableNumbers<V> {
    fn of(&mut self, variable: V) -> u32 {
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        *self.0.entry(variable).or_insert(next)
    }
}

struct FunctionFacts<V> {
    /// By statement: the variables that it reads.
    reads: Vec<Vec<VariableNumber>>,
    /// By block; of one that decides by its successor: the variables that are written only if it is chosen.
    chosen: Vec<Vec<(BlockId, Vec<VariableNumber>)>>,
    /// The numbers of the local variables.
    locals: HashMap<V, u32>,
}

/// The variables that are written in blocks that run because a decision chose a successor, directly or by decisions in
/// them.
fn governed<V: WritableVariable>(
    flow: &Flow,
    decision: BlockId,
    successor: BlockId,
    written: &[BTreeSet<V>],
) -> Vec<V> {
    let depends = &flow.control_dependence;
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
type PendingDecisions = Vec<((u32, BlockId), Step)>;

/// The decisions that could have led to other values of the variables with these numbers.
#[derive(Default)]
struct WaitingDecisions(Vec<PendingDecisions>);

impl WaitingDecisions {
    fn of(&mut self, variable: u32) -> &mut PendingDecisions {
        let at = variable as usize;
        if self.0.len() <= at {
            self.0.resize_with(at + 1, PendingDecisions::new);
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActivationStep {
    /// The number of the activation.
    pub frame: u64,
    pub function: u32,
    pub step: Step,
}

/// Builds the dependence graph of a run with its potential dependences.
pub struct PotentialGraph<V> {
    notes: Notes,
    /// By function, of those that were met.
    facts: Vec<Option<FunctionFacts<V>>>,
    numbers: VariableNumbers<V>,
    /// By frame, without the current one.
    frames: HashMap<u64, WaitingDecisions>,
    /// The number of the current frame, and its local variables.
    locals: (u64, WaitingDecisions),
    /// Of frames that were left, to be used again.
    spare: Vec<WaitingDecisions>,
    others: WaitingDecisions,
    /// A step, and the last step before it that printed.
    wrong: (Step, Step),
    /// The decisions between them that could have led to other output.
    skipped: Vec<Step>,
}

impl<V: WritableVariable> PotentialGraph<V> {
    /// Before the first step.
    ///
    /// - `wrong`: the step of a wrong output, and the last step before it that printed.
    pub fn new(spool: Option<Spool>, wrong: (Step, Step)) -> Self {
        Self {
            notes: Notes::new(spool),
            facts: Vec::new(),
            numbers: VariableNumbers(HashMap::new()),
            frames: HashMap::new(),
            locals: (u64::MAX, WaitingDecisions::default()),
            spare: Vec::new(),
            others: WaitingDecisions::default(),
            wrong,
            skipped: Vec::new(),
        }
    }

    /// Whether it was said what a function reads and writes.
    pub fn knows(&self, function: u32) -> bool {
        self.facts.get(function as usize).is_some_and(Option::is_some)
    }

    /// Says what a function reads and writes.
    ///
    /// - `reads`: by statement, the entry first.
    /// - `writes`: by block, with what the called functions write.
    pub fn learn(&mut self, function: u32, flow: &Flow, reads: Vec<BTreeSet<V>>, writes: &[BTreeSet<V>]) {
        let mut locals = HashMap::new();
        let mut number = |variable: V| {
            let next = u32::try_from(locals.len()).unwrap_or(u32::MAX);
            if variable.is_local() {
                VariableNumber::Local(*locals.entry(variable).or_insert(next))
            } else {
                VariableNumber::Other(self.numbers.of(variable))
            }
        };
        let reads = reads.into_iter().map(|all| all.into_iter().map(&mut number).collect()).collect();
        let mut chosen = Vec::new();
        for (block, successors) in (0..).map(BlockId).zip(&flow.successors) {
            let successors = if successors.len() > 1 { &successors[..] } else { &[] };
            let mut of = |successor: &BlockId| {
                let governed = governed(flow, block, *successor, writes);
                (*successor, governed.into_iter().map(&mut number).collect())
            };
            chosen.push(successors.iter().map(&mut of).collect());
        }
        let index = function as usize;
        if self.facts.len() <= index {
            self.facts.resize_with(index + 1, || None);
        }
        self.facts[index] = Some(FunctionFacts { reads, chosen, locals });
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

    /// A step begins.
    ///
    /// - `statement`: that of its function.
    pub fn step(&mut self, at: ActivationStep, statement: u32, decider: Step) {
        self.notes.step(decider);
        if at.step == self.wrong.0 {
            let output = self.numbers.of(V::OUTPUT);
            self.skipped = self.others.get(output).filter(|decision| *decision > self.wrong.1).collect();
        }
        self.turn_to(at.frame);
        let Some(Some(facts)) = self.facts.get(at.function as usize) else { return };
        for variable in facts.reads.get(statement as usize).into_iter().flatten() {
            let (waiting, number) = match variable {
                VariableNumber::Local(number) => (&self.locals.1, number),
                VariableNumber::Other(number) => (&self.others, number),
            };
            for decision in waiting.get(*number) {
                self.notes.uses(at.step, decision, DependenceKind::Potential);
            }
        }
    }

    /// A step uses what another one made.
    pub fn uses(&mut self, user: Step, maker: Step, kind: DependenceKind) {
        self.notes.uses(user, maker, kind);
    }

    /// The last step of an activation led from one block to another one.
    pub fn decides(&mut self, at: ActivationStep, from: BlockId, to: BlockId) {
        self.turn_to(at.frame);
        let Some(Some(facts)) = self.facts.get(at.function as usize) else { return };
        let Some(chosen) = facts.chosen.get(from.0 as usize) else { return };
        // An exception leads elsewhere.
        if chosen.iter().all(|(successor, _)| *successor != to) {
            return;
        }
        let decision = (at.function, from);
        for (successor, variables) in chosen {
            for variable in variables {
                let pending = match variable {
                    VariableNumber::Local(number) => self.locals.1.of(*number),
                    VariableNumber::Other(number) => self.others.of(*number),
                };
                match pending.binary_search_by_key(&decision, |(decision, _)| *decision) {
                    Ok(at) if *successor == to => _ = pending.remove(at),
                    Ok(found) => pending[found].1 = at.step,
                    Err(_) if *successor == to => {}
                    Err(found) => pending.insert(found, (decision, at.step)),
                }
            }
        }
    }

    /// A local variable is written as a whole: earlier decisions do not matter any more.
    pub fn overwrites(&mut self, at: ActivationStep, variable: &V) {
        let Some(Some(facts)) = self.facts.get(at.function as usize) else { return };
        if let Some(number) = facts.locals.get(variable).copied() {
            self.turn_to(at.frame);
            self.locals.1.of(number).clear();
        }
    }

    /// An activation ends.
    pub fn leaves(&mut self, frame: u64) {
        self.turn_to(frame);
        self.locals.1.0.iter_mut().for_each(Vec::clear);
    }

    /// The graph, and the decisions before the wrong output that could have led to other output.
    pub fn end(self) -> Result<(Dependences, Vec<Step>), TraceError> {
        Ok((self.notes.pack()?, self.skipped))
    }
}
