//! Where each step of a run stands: its statement, and the call or loop around it.

use std::collections::HashMap;

use crate::trace::run::Run;
use crate::trace::step::Step;
use crate::trace::step::Steps;

/// Where the steps of a run stand; by step, from [`Step::START`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// The number of its statement; 0 for the start.
    pub statements: Vec<u32>,
    /// The call or the iteration of a loop that it is in directly; 0 in the function that the run begins with.
    pub parents: Vec<u32>,
    /// How many calls and loops are around it; that of the first function counts.
    pub levels: Vec<u16>,
    /// What a person looks at for it: the first step of its line; for the entry of a function, that of its call.
    pub shown: Vec<u32>,
    /// The steps of lines that have several, by the first one.
    members: HashMap<u32, Vec<Step>>,
}

impl Table {
    /// Of a run whose statements are known.
    ///
    /// - `lines`: the number of the line of each statement; 0 for one that is in no line.
    ///
    /// Cost: 14 bytes for each step, and one pass over the steps.
    pub fn new(run: &Run, statements: Vec<u32>, lines: &[u32]) -> Self {
        let is_loop = loops(run, &statements);
        let n = statements.len();
        let mut table = Self {
            statements,
            parents: vec![0; n],
            levels: vec![0; n],
            shown: (0_u32..).take(n).collect(),
            members: HashMap::new(),
        };
        // By activation, the last group: its line, and its steps.
        let mut groups: HashMap<u32, (u32, Vec<Step>)> = HashMap::new();
        for step in 1..n {
            let (head, caller) = (run.leaders[step], run.callers[step]);
            table.parents[step] = match head as usize {
                0 => 0,
                _ if head == caller || run.entries[step] => caller,
                decision if is_loop[decision] => head,
                decision => table.parents[decision],
            };
            let parent = table.parents[step] as usize;
            table.levels[step] = if parent == 0 { 1 } else { table.levels[parent].saturating_add(1) };
            if run.entries[step] {
                groups.remove(&caller);
                if caller != 0 {
                    // The parameters are a part of what the call does.
                    table.join(step, table.shown[caller as usize]);
                }
                continue;
            }
            let line = lines[table.statements[step] as usize];
            let group = groups.entry(caller).or_default();
            let is_new = |known: &Step| table.statements[known.0 as usize] != table.statements[step];
            // What is in no line belongs to the line before: the end of `a && b`, the return of a value.
            let is_line = if line == 0 { !group.1.is_empty() } else { group.0 == line };
            let is_same = is_line && group.1.iter().all(is_new);
            if !is_same {
                *group = (line, Vec::new());
            }
            group.1.push(Step(u32::try_from(step).unwrap_or(u32::MAX)));
            table.join(step, group.1[0].0);
        }
        table
    }

    fn join(&mut self, step: usize, first: u32) {
        self.shown[step] = first;
        let step = u32::try_from(step).unwrap_or(u32::MAX);
        if step != first {
            self.members.entry(first).or_insert_with(|| vec![Step(first)]).push(Step(step));
        }
    }

    /// The steps that a person looks at as one.
    pub fn members(&self, step: Step) -> Vec<Step> {
        self.members.get(&step.0).cloned().unwrap_or_else(|| vec![step])
    }

    /// The steps of a slice as a person looks at them.
    pub fn shown_of(&self, slice: &Steps) -> Steps {
        let mut found = Steps::new(u32::try_from(self.shown.len()).unwrap_or(u32::MAX));
        for step in slice.iter() {
            found.insert(self.shown(step));
        }
        found
    }

    /// The step that a person looks at for this one.
    pub fn shown(&self, step: Step) -> Step {
        Step(self.shown[step.0 as usize])
    }

    /// The statement of a step.
    pub fn statement(&self, step: Step) -> u32 {
        self.statements[step.0 as usize]
    }

    /// The call or loop around a step.
    pub fn parent(&self, step: Step) -> Option<Step> {
        Some(Step(self.parents[step.0 as usize])).filter(|parent| *parent != Step::START)
    }

    /// How many calls and loops are around it, from 1.
    pub fn level(&self, step: Step) -> u16 {
        self.levels[step.0 as usize]
    }
}

/// Whether a step is the decision of a loop: it has a sibling of the same statement.
fn loops(run: &Run, statements: &[u32]) -> Vec<bool> {
    let mut is_head = vec![false; statements.len()];
    for (leader, caller) in run.leaders.iter().zip(&run.callers) {
        is_head[*leader as usize] = *leader != *caller && *leader != 0;
    }
    let mut first: HashMap<(u32, u32), u32> = HashMap::new();
    let mut is_loop = vec![false; statements.len()];
    for step in (1_u32..).take(statements.len().saturating_sub(1)) {
        let at = step as usize;
        match first.entry((run.leaders[at], statements[at])) {
            std::collections::hash_map::Entry::Vacant(entry) if is_head[at] => {
                entry.insert(step);
            }
            std::collections::hash_map::Entry::Occupied(entry) => {
                is_loop[*entry.get() as usize] = true;
                is_loop[at] = true;
            }
            std::collections::hash_map::Entry::Vacant(_) => {}
        }
    }
    is_loop
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run with these leaders and callers.
    fn run(steps: &[(u32, u32, bool)]) -> Run {
        let mut run = Run { leaders: vec![0], callers: vec![0], entries: vec![false], ..Run::default() };
        for (leader, caller, is_entry) in steps {
            run.leaders.push(*leader);
            run.callers.push(*caller);
            run.entries.push(*is_entry);
        }
        run
    }

    #[test]
    fn a_step_is_in_the_call_or_the_iteration_around_it() {
        // 1: while, 2: its body calls, 3: the entry, 4: an if in it, 5: in the if, 6: while again, 7: its body.
        let run = run(&[
            (0, 0, false),
            (1, 0, false),
            (2, 2, true),
            (2, 2, false),
            (4, 2, false),
            (0, 0, false),
            (6, 0, false),
        ]);
        let table = Table::new(&run, vec![0, 1, 2, 3, 4, 5, 1, 2], &[0, 1, 2, 3, 4, 5]);
        assert_eq!(table.parents, [0, 0, 1, 2, 2, 2, 0, 6]);
        assert_eq!(table.levels, [0, 1, 2, 3, 3, 3, 1, 2]);
        assert_eq!(table.shown(Step(3)), Step(2));
        assert_eq!(table.members(Step(2)), [Step(2), Step(3)]);
    }

    #[test]
    fn what_is_in_no_line_belongs_to_the_line_before() {
        let run = run(&[(0, 0, false), (0, 0, false), (0, 0, false), (0, 0, false)]);
        let table = Table::new(&run, vec![0, 1, 2, 3, 4], &[0, 7, 0, 7, 8]);
        assert_eq!(table.members(Step(1)), [Step(1), Step(2), Step(3)]);
        assert_eq!(table.shown(Step(4)), Step(4));
    }
}
