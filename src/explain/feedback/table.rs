//! Where each step of a run stands: its statement, and the call or loop around it.

use std::collections::HashMap;

use idd_trace::{Run, Step, Steps};

/// Where the steps of a run stand; by step, from [`Step::START`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepTable {
    /// The number of its statement; 0 for the start.
    pub statements: Vec<u32>,
    /// The call or the iteration of a loop that it is in directly; 0 in the function that the run begins with.
    pub parents: Vec<u32>,
    /// How many calls and loops are around it; that of the first function counts.
    pub levels: Vec<u16>,
    /// What a person looks at for it: the first step of its line, or of the statement that goes on in its line; for the
    /// entry of a function, that of its call.
    pub shown: Vec<u32>,
    /// The next step of its line; 0 for the last one.
    next: Vec<u32>,
    n_statements: usize,
}

/// Lines under construction.
struct TableLines {
    /// By activation: its last line, and the first step there; 0 for none.
    last: Vec<(u32, u32)>,
    /// By activation: the same of the last line in which a statement began.
    begun: Vec<(u32, u32)>,
    /// By the first step of a line: the last one.
    ends: Vec<u32>,
}

impl StepTable {
    /// Of a run whose statements are known.
    ///
    /// - `lines`: the number of the line of each statement; 0 for one that is in no line.
    ///
    /// Cost: 18 bytes for each step, 12 more while it is made, and one pass over the steps.
    pub fn new(run: &Run, statements: Vec<u32>, lines: &[u32]) -> Self {
        let is_loop = loops(run, &statements, lines.len());
        let n = statements.len();
        let mut table = Self {
            statements,
            parents: vec![0; n],
            levels: vec![0; n],
            shown: (0_u32..).take(n).collect(),
            next: vec![0; n],
            n_statements: lines.len(),
        };
        let mut open = TableLines { last: vec![(0, 0); n], begun: vec![(0, 0); n], ends: (0_u32..).take(n).collect() };
        for (step, number) in (1..n).zip(1_u32..) {
            let (head, caller) = (run.leaders[step], run.callers[step]);
            table.parents[step] = match head as usize {
                0 => 0,
                _ if head == caller || run.entries[step] => caller,
                // A step of a method that was called threw what is caught here, beside that call.
                thrown if run.callers[thrown] != caller => {
                    let calls = std::iter::successors(Some(thrown), |step| Some(run.callers[*step] as usize));
                    let call = calls.take_while(|step| *step != 0).find(|step| run.callers[*step] == caller);
                    call.map_or(caller, |call| table.parents[call])
                }
                decision if is_loop[decision] => head,
                decision => table.parents[decision],
            };
            let parent = table.parents[step] as usize;
            table.levels[step] = if parent == 0 { 1 } else { table.levels[parent].saturating_add(1) };
            if run.entries[step] {
                (open.last[caller as usize], open.begun[caller as usize]) = ((0, 0), (0, 0));
                if caller != 0 {
                    // The parameters are a part of what the call does.
                    let first = table.shown[caller as usize];
                    table.join(number, first, &mut open);
                }
                continue;
            }
            let line = lines[table.statements[step] as usize];
            let (known, first) = open.last[caller as usize];
            // What is in no line belongs to the line before: the end of `a && b`, the return of a value.
            let is_line = first != 0 && (line == 0 || line == known);
            let is_known = |member: Step| table.statement(member) == table.statements[step];
            let is_new_in = |first: u32| !table.chain(Step(first)).any(is_known);
            let is_rest = run.is_rest(Step(number));
            let begun = open.begun[caller as usize];
            if is_rest && begun.1 != 0 && head == run.leaders[begun.1 as usize] && is_new_in(begun.1) {
                table.join(number, begun.1, &mut open);
                open.last[caller as usize] = begun;
                continue;
            }
            if is_line && is_new_in(first) {
                table.join(number, first, &mut open);
            } else {
                open.last[caller as usize] = (line, number);
            }
            if !is_rest {
                open.begun[caller as usize] = open.last[caller as usize];
            }
        }
        table
    }

    fn join(&mut self, step: u32, first: u32, open: &mut TableLines) {
        self.shown[step as usize] = first;
        let end = &mut open.ends[first as usize];
        self.next[*end as usize] = step;
        *end = step;
    }

    /// A step and those after it in its line.
    pub(super) fn chain(&self, first: Step) -> impl Iterator<Item = Step> + '_ {
        let next = |step: &Step| Some(Step(self.next[step.0 as usize])).filter(|next| *next != Step::START);
        std::iter::successors(Some(first), next)
    }

    /// The steps that a person looks at as one.
    pub fn members(&self, step: Step) -> Vec<Step> {
        self.chain(step).collect()
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

    /// How many numbers of statements there are.
    pub fn n_statements(&self) -> usize {
        self.n_statements
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
fn loops(run: &Run, statements: &[u32], n_statements: usize) -> Vec<bool> {
    let mut is_head = vec![false; statements.len()];
    for (leader, caller) in run.leaders.iter().zip(&run.callers) {
        is_head[*leader as usize] = *leader != *caller && *leader != 0;
    }
    let mut decides = vec![false; n_statements];
    for (statement, is_head) in statements.iter().zip(&is_head) {
        decides[*statement as usize] |= is_head;
    }
    let mut first: HashMap<(u32, u32, u32), u32> = HashMap::new();
    let mut is_loop = vec![false; statements.len()];
    // One line may call a function twice: the entry of the last call of each caller tells the activations apart.
    let mut entered = vec![0; statements.len()];
    for step in (1_u32..).take(statements.len().saturating_sub(1)) {
        let at = step as usize;
        let caller = run.callers[at];
        if run.entries[at] {
            entered[caller as usize] = step;
        }
        if !decides[statements[at] as usize] {
            continue;
        }
        match first.entry((run.leaders[at], statements[at], entered[caller as usize])) {
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
        let table = StepTable::new(&run, vec![0, 1, 2, 3, 4, 5, 1, 2], &[0, 1, 2, 3, 4, 5]);
        assert_eq!(table.parents, [0, 0, 1, 2, 2, 2, 0, 6]);
        assert_eq!(table.levels, [0, 1, 2, 3, 3, 3, 1, 2]);
        assert_eq!(table.shown(Step(3)), Step(2));
        assert_eq!(table.members(Step(2)), [Step(2), Step(3)]);
    }

    #[test]
    fn what_an_exception_decides_is_beside_the_call_that_it_left() {
        // 1: while, 2: its body calls, 3: the entry, 4: throws, 5: is caught in the body, 6: while again.
        let steps = [(0, 0, false), (1, 0, false), (2, 2, true), (2, 2, false), (4, 0, false), (0, 0, false)];
        let table = StepTable::new(&run(&steps), vec![0, 1, 2, 3, 4, 5, 1], &[0, 1, 2, 3, 4, 5]);
        assert_eq!(table.parents, [0, 0, 1, 2, 2, 1, 0]);
    }

    #[test]
    fn a_decision_in_two_calls_of_one_line_is_no_loop() {
        // 1: calls twice; 2 and 5: the entries, 3 and 6: a decision, 4 and 7: because of it.
        let call = [(1, 1, true), (1, 1, false)];
        let steps = [&[(0, 0, false)][..], &call, &[(3, 1, false)], &call, &[(6, 1, false)]].concat();
        let table = StepTable::new(&run(&steps), vec![0, 1, 2, 3, 4, 2, 3, 4], &[0, 1, 2, 3, 4]);
        assert_eq!(table.parents, [0, 0, 1, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn a_statement_that_goes_on_in_other_lines_is_one_step() {
        // 1: line 7, 2: a decision in line 8, 3: line 9 because of it, 4: line 7 again, 5: line 9 in the next statement.
        let mut run = run(&[(0, 0, false), (0, 0, false), (2, 0, false), (0, 0, false), (0, 0, false)]);
        run.rests = vec![false, false, true, true, true];
        let table = StepTable::new(&run, vec![0, 1, 2, 3, 4, 5], &[0, 7, 8, 9, 7, 9]);
        assert_eq!(table.members(Step(1)), [Step(1), Step(2), Step(4)]);
        assert_eq!((table.shown(Step(3)), table.shown(Step(5))), (Step(3), Step(5)));
    }

    #[test]
    fn a_loop_in_a_statement_has_a_step_for_each_iteration() {
        // Line 8 runs three times while line 7 has not ended.
        let mut run = run(&[(0, 0, false), (0, 0, false), (0, 0, false), (0, 0, false)]);
        run.rests = vec![false, false, true, true, true];
        let table = StepTable::new(&run, vec![0, 1, 2, 2, 2], &[0, 7, 8]);
        assert_eq!(table.members(Step(1)), [Step(1), Step(2)]);
        assert_eq!((table.shown(Step(3)), table.shown(Step(4))), (Step(3), Step(4)));
    }

    #[test]
    fn what_is_in_no_line_belongs_to_the_line_before() {
        let run = run(&[(0, 0, false), (0, 0, false), (0, 0, false), (0, 0, false)]);
        let table = StepTable::new(&run, vec![0, 1, 2, 3, 4], &[0, 7, 0, 7, 8]);
        assert_eq!(table.members(Step(1)), [Step(1), Step(2), Step(3)]);
        assert_eq!(table.shown(Step(4)), Step(4));
    }
}
