//! The calls and the iterations of loops of a run, as a tree: what is around a step, and what runs beside it.

use idd_explain::feedback::table::StepTable;
use idd_explain::statements::Statements;
use idd_trace::{Place, Run, Step, TimeDirection};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

/// What a part of the run is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunPart {
    /// The function that the run, or a thread, begins with.
    Begin(Arc<str>),
    /// A call of this function.
    Call(Arc<str>),
    /// An iteration of a loop.
    Iteration,
    /// A step that neither calls nor begins an iteration.
    Line,
}

/// A part of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunNode {
    /// The step of the call, or the decision of the iteration; [`Step::START`] for where the run begins.
    pub step: Step,
    /// What it is.
    pub part: RunPart,
    /// Its line.
    pub place: Option<Place>,
    /// How many calls and loops are around it.
    pub depth: usize,
    /// Its ordinal, from 1, and the number of all that the same statement begins in the same call or iteration; `None` where
    /// that was not counted.
    pub nth: Option<(usize, usize)>,
}

/// By call or iteration and statement: the parts that the statement begins there, ascending.
type CountedParts = HashMap<(u32, u32), Rc<[u32]>>;

/// The parts beside those that were looked at last.
#[derive(Debug, Default)]
pub struct Siblings(RefCell<CountedParts>);

/// The calls and iterations of a run.
#[derive(Clone, Copy)]
pub struct CallIndex<'c> {
    /// Where the steps stand.
    pub table: &'c StepTable,
    /// The run.
    pub run: &'c Run,
    /// The statements of the run.
    pub statements: &'c Statements,
    /// What was counted before.
    pub siblings: &'c Siblings,
}

impl<'c> CallIndex<'c> {
    /// The number of steps.
    pub fn n_steps(&self) -> u32 {
        self.run.n_steps()
    }

    /// The place of a step.
    pub fn place(&self, step: Step) -> Option<&'c Place> {
        let place = self.statements.places.get(self.table.statement(step) as usize)?;
        place.as_ref().filter(|place| place.line > 0)
    }

    /// The function of a step.
    pub fn function(&self, step: Step) -> &'c Arc<str> {
        &self.statements.functions[self.table.statement(step) as usize]
    }

    /// Whether a step is a call, or the decision of an iteration.
    pub fn is_part(&self, step: Step) -> bool {
        self.table.parents.get(step.0 as usize + 1) == Some(&step.0) && step != Step::START
    }

    /// The steps of the calls and iterations around a step, the outermost first.
    pub fn around(&self, step: Step) -> Vec<Step> {
        let mut found: Vec<Step> =
            std::iter::successors(self.table.parent(step), |step| self.table.parent(*step)).collect();
        found.reverse();
        found
    }

    /// What is around a step, the outermost first: where the run begins, then calls and iterations; each with its ordinal.
    ///
    /// - `limit`: so many of these are given, the innermost.
    ///
    /// Cost: one pass over the part of the run that was not counted before; nothing for a step beside the last one.
    pub fn path(&self, step: Step, limit: usize) -> Vec<RunNode> {
        let around = self.around(step);
        self.count(&around);
        let begin = around.first().copied().unwrap_or(step);
        let mut nodes = vec![self.begin(begin)];
        let inner = around.iter().skip(1).chain([&step]);
        let of = |(part, inner): (&Step, &Step)| {
            let node = self.node(*part);
            // A step may call several functions.
            let part = match node.part {
                RunPart::Call(_) => RunPart::Call(Arc::clone(self.function(*inner))),
                part => part,
            };
            RunNode { part, ..node }
        };
        nodes.extend(around.iter().zip(inner).skip(around.len().saturating_sub(limit)).map(of));
        nodes
    }

    /// Where the run, or the thread of a step, begins.
    pub fn begin(&self, step: Step) -> RunNode {
        let part = RunPart::Begin(Arc::clone(self.function(step)));
        RunNode { step: Step::START, part, place: None, depth: 0, nth: None }
    }

    /// A part, with its ordinal if that was counted.
    pub fn node(&self, step: Step) -> RunNode {
        let next = step.0 as usize + 1;
        let is_call = self.run.entries.get(next) == Some(&true) && self.run.callers[next] == step.0;
        let part = match () {
            () if !self.is_part(step) => RunPart::Line,
            () if is_call => RunPart::Call(Arc::clone(self.function(Step(step.0 + 1)))),
            () => RunPart::Iteration,
        };
        let counted = self.siblings.0.borrow().get(&self.key(step)).map(Rc::clone);
        let nth = counted.filter(|_| part != RunPart::Line).map(|all| {
            let nth = all.partition_point(|sibling| *sibling < step.0) + 1;
            (nth, all.len().max(nth))
        });
        RunNode { step, part, place: self.place(step).cloned(), depth: usize::from(self.table.level(step)), nth }
    }

    fn key(&self, step: Step) -> (u32, u32) {
        (self.table.parents[step.0 as usize], self.table.statement(step))
    }

    /// The next part of the same statement, or the one before: of the innermost call or iteration around the step, or the
    /// step itself, that has one.
    pub fn beside(&self, step: Step, time: TimeDirection) -> Option<Step> {
        let mut around = self.around(step);
        if self.is_part(step) {
            around.push(step);
        }
        self.count(&around);
        let known = self.siblings.0.borrow();
        around.iter().rev().find_map(|part| {
            let all = known.get(&self.key(*part))?;
            let at = all.partition_point(|sibling| *sibling < part.0);
            let found = match time {
                TimeDirection::Forward => all.get(at + 1),
                TimeDirection::Backward => all.get(at.checked_sub(1)?),
            };
            found.copied().map(Step)
        })
    }

    /// The calls and iterations directly in a part, ascending.
    ///
    /// Cost: one pass over the part.
    pub fn inside(&self, part: Step) -> Vec<Step> {
        let is_inside = |step: &u32| self.table.parents[*step as usize] == part.0 && self.is_part(Step(*step));
        self.steps_of(part).filter(is_inside).map(Step).collect()
    }

    /// The steps in a part; with several threads also those after it.
    fn steps_of(&self, part: Step) -> impl Iterator<Item = u32> + use<'_> {
        let level = self.table.level(part);
        let is_whole = part == Step::START || self.run.n_threads > 1;
        (part.0 + 1..=self.n_steps()).take_while(move |step| is_whole || self.table.levels[*step as usize] > level)
    }

    /// Counts the parts beside some that lie in each other, the outermost first. What is beside others is forgotten.
    fn count(&self, parts: &[Step]) {
        let mut known = self.siblings.0.borrow_mut();
        let keys: Vec<(u32, u32)> = parts.iter().map(|part| self.key(*part)).collect();
        let wanted: HashSet<(u32, u32)> = keys.iter().copied().collect();
        known.retain(|key, _| wanted.contains(key));
        let Some(first) = keys.iter().position(|key| !known.contains_key(key)) else { return };
        let mut found: Vec<Vec<u32>> = vec![Vec::new(); parts.len()];
        for step in self.steps_of(Step(keys[first].0)) {
            let at = step as usize;
            let depth = usize::from(self.table.levels[at]).wrapping_sub(1);
            if keys.get(depth).is_some_and(|(parent, _)| self.table.parents[at] == *parent)
                && keys[depth].1 == self.table.statements[at]
                && self.is_part(Step(step))
            {
                found[depth].push(step);
            }
        }
        for (key, all) in keys.into_iter().zip(found).skip(first) {
            known.entry(key).or_insert_with(|| all.into());
        }
    }
}

/// A run of `main` with a loop of two iterations in line 2, each with a call of `work` in line 3, which has one line, 7.
#[cfg(any(test, feature = "testing"))]
pub fn example() -> (StepTable, Run, Statements) {
    // 1: loop, 2: call, 3: entry, 4: line 7, 5: loop, 6: call, 7: entry, 8: line 7, 9: loop ends, 10: line 5.
    let run = Run {
        indices: vec![0; 11],
        leaders: vec![0, 0, 1, 2, 2, 0, 5, 6, 6, 0, 0],
        callers: vec![0, 0, 0, 2, 2, 0, 0, 6, 6, 0, 0],
        entries: [false, false, false, true, false, false, false, true, false, false, false].to_vec(),
        n_threads: 1,
        ..Run::default()
    };
    let place = |line| Some(Place { file: "a.c".into(), line, column: 1 });
    let of_steps = vec![0, 1, 2, 3, 4, 1, 2, 3, 4, 1, 5];
    let places = vec![None, place(2), place(3), None, place(7), place(5)];
    let lines = [0, 2, 3, 0, 7, 5];
    let table = StepTable::new(&run, of_steps.clone(), &lines);
    let mut statements = Statements::default();
    (statements.of_steps, statements.places, statements.lines) = (of_steps, places, lines.to_vec());
    statements.functions = ["", "main", "main", "work", "work", "main"].map(Arc::from).to_vec();
    (table, run, statements)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_around_a_step_is_counted() {
        let (table, run, statements) = example();
        let siblings = Siblings::default();
        let calls = CallIndex { table: &table, run: &run, statements: &statements, siblings: &siblings };
        let path = calls.path(Step(8), 9);
        let steps: Vec<(u32, Option<(usize, usize)>)> = path.iter().map(|node| (node.step.0, node.nth)).collect();
        assert_eq!(steps, [(0, None), (5, Some((2, 2))), (6, Some((1, 1)))]);
        assert_eq!(path[0].part, RunPart::Begin("main".into()));
        assert_eq!(path[1].part, RunPart::Iteration);
        assert_eq!(path[2].part, RunPart::Call("work".into()));
        assert_eq!(path[2].place.as_ref().unwrap().line, 3);
        let steps = |limit| calls.path(Step(8), limit).iter().map(|node| node.step.0).collect::<Vec<_>>();
        assert_eq!(steps(1), [0, 6]);
        // From what was counted before, the same comes out.
        assert_eq!(calls.path(Step(7), 9), path);
        assert_eq!(calls.path(Step(10), 9).len(), 1);
    }

    #[test]
    fn of_several_calls_of_a_step_the_one_around_is_named() {
        // 1: line 2 of `main`, 2: entry of `first`, 3: its line 7, 4: entry of `second`, 5: its line 9.
        let run = Run {
            indices: vec![0; 6],
            leaders: vec![0, 0, 1, 1, 1, 1],
            callers: vec![0, 0, 1, 1, 1, 1],
            entries: [false, false, true, false, true, false].to_vec(),
            n_threads: 1,
            ..Run::default()
        };
        let place = |line| Some(Place { file: "a.c".into(), line, column: 1 });
        let (of_steps, lines) = (vec![0, 1, 2, 3, 4, 5], [0, 2, 0, 7, 0, 9]);
        let table = StepTable::new(&run, of_steps.clone(), &lines);
        let mut statements = Statements::default();
        (statements.of_steps, statements.lines) = (of_steps, lines.to_vec());
        statements.places = vec![None, place(2), None, place(7), None, place(9)];
        statements.functions = ["", "main", "first", "first", "second", "second"].map(Arc::from).to_vec();
        let siblings = Siblings::default();
        let calls = CallIndex { table: &table, run: &run, statements: &statements, siblings: &siblings };
        for (step, function) in [(3, "first"), (5, "second")] {
            assert_eq!(calls.path(Step(step), 9)[1].part, RunPart::Call(function.into()));
        }
    }

    #[test]
    fn the_parts_beside_and_inside_are_found() {
        let (table, run, statements) = example();
        let siblings = Siblings::default();
        let calls = CallIndex { table: &table, run: &run, statements: &statements, siblings: &siblings };
        // The call is the only one of its iteration, so the next iteration follows.
        assert_eq!(calls.beside(Step(4), TimeDirection::Forward), Some(Step(5)));
        assert_eq!(calls.beside(Step(5), TimeDirection::Backward), Some(Step(1)));
        assert_eq!(calls.beside(Step(5), TimeDirection::Forward), None);
        assert_eq!(calls.inside(Step::START), [Step(1), Step(5)]);
        assert_eq!(calls.inside(Step(1)), [Step(2)]);
        assert_eq!(calls.inside(Step(2)), []);
    }
}
