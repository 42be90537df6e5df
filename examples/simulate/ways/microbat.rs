//! The state machine of the paper, without what this program adds: a baseline of the experiment.
//!
//! Source: Lin, Sun, Xue, Liu and Dong 2017, sections 3.4.1 to 3.4.3 and figures 4, 5 and 7. Deviations: homologous
//! variables are the values at the same position among those that two steps of one statement use; of several wrong values
//! the one computed last is followed; a path of more than [`MAX_PATH`] steps has no pattern; a step that was judged before
//! is not asked again, its answer counts at once.

use std::collections::HashSet;

use idd_explain::feedback::table::StepTable;
use idd_explain::feedback::{Feedback, JudgedStep, control};
use idd_trace::{Dependences, Step};

/// The steps of the longest path that is compared with others.
const MAX_PATH: u32 = 20_000;

/// The statements of the longest part of a path that is merged with its repetitions.
const MAX_REPEATED: usize = 64;

/// A state, with what it remembers.
#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    /// Follows the dominator of what is wrong.
    Simple,
    /// Skipped these steps, the latest first, because they are in paths like one that is free of the fault.
    Skip(Vec<Step>),
    /// Searches the skipped steps, ascending.
    BinarySearch(Vec<Step>),
    /// Goes from a step that is right to one that uses a wrong value.
    InspectDetails(Step),
    /// Looks for a step that is clear, around those that were not.
    Unclear,
    /// Leads back to what was unclear.
    PartialClear,
}

/// A path that is free of the fault: its statements, and the position of the wrong value in the step at its end.
type Pattern = (Vec<u32>, usize);

struct Machine<'m> {
    graph: &'m Dependences,
    table: &'m StepTable,
    state: State,
    backup: State,
    unclear: Vec<Step>,
    patterns: HashSet<Pattern>,
    /// The steps that use a wrong value or are on a wrong path, in the order of the answers.
    wrong: Vec<Step>,
}

/// The next step by all answers so far; none at a dead end.
///
/// Cost: replays the answers; each compares paths of at most [`MAX_PATH`] steps.
pub fn next(graph: &Dependences, table: &StepTable, judged: &[JudgedStep]) -> Option<Step> {
    let mut machine = Machine {
        graph,
        table,
        state: State::Simple,
        backup: State::Simple,
        unclear: Vec::new(),
        patterns: HashSet::new(),
        wrong: Vec::new(),
    };
    let mut found = None;
    for answer in judged {
        found = machine.take(answer);
    }
    // What was judged before is known.
    for _ in 0..judged.len() {
        let step = found?;
        let known = judged.iter().rev().find(|answer| answer.step == step && answer.feedback != Feedback::Unclear);
        let Some(answer) = known else { return Some(step) };
        found = machine.take(answer);
    }
    None
}

impl Machine<'_> {
    fn take(&mut self, answer: &JudgedStep) -> Option<Step> {
        let step = answer.step;
        match answer.feedback {
            Feedback::Unclear => {
                if !matches!(self.state, State::Unclear | State::PartialClear) {
                    self.backup = self.state.clone();
                }
                self.unclear.push(step);
                self.state = State::Unclear;
                self.around(step)
            }
            Feedback::WrongValue(_) | Feedback::WrongPath => self.wrong(answer),
            Feedback::Correct => self.correct(step),
            Feedback::WrongResult => Some(step),
        }
    }

    /// The call or loop around a step; the step before it if it is on the first level.
    fn around(&self, step: Step) -> Option<Step> {
        let parent = self.table.parent(step).map(|parent| self.table.shown(parent)).filter(|parent| *parent != step);
        match parent {
            Some(parent) if self.table.level(parent) > 1 => Some(parent),
            Some(parent) => self.before(parent).or(Some(parent)),
            None => self.before(step),
        }
    }

    fn before(&self, step: Step) -> Option<Step> {
        (1..step.0).rev().map(Step).find(|step| self.table.shown(*step) == *step)
    }

    fn after(&self, step: Step, until: Step) -> Option<Step> {
        (step.0 + 1..until.0).map(Step).find(|step| self.table.shown(*step) == *step)
    }

    fn wrong(&mut self, answer: &JudgedStep) -> Option<Step> {
        if let State::BinarySearch(skipped) = &self.state
            && let Some(index) = skipped.iter().position(|step| *step == answer.step)
            && index > 0
            && matches!(answer.feedback, Feedback::WrongValue(_))
        {
            let left = skipped[..index].to_vec();
            return self.middle(left, answer.step);
        }
        self.unclear.clear();
        if self.state == State::Simple
            && let Some(end) = self.wrong.last().copied()
            && let Some(pattern) = self.pattern(answer.step, end)
        {
            self.patterns.insert(pattern);
        }
        self.wrong.push(answer.step);
        self.state = State::Simple;
        if answer.feedback == Feedback::WrongPath {
            return control(self.graph, self.table, answer.step);
        }
        let dominator = answer.makers_of(true).into_iter().map(|maker| self.table.shown(maker)).max()?;
        let (last, skipped) = self.skip(dominator);
        if !skipped.is_empty() {
            self.state = State::Skip(skipped);
        }
        Some(last)
    }

    /// Goes on along dominators whose paths are like one that is free of the fault.
    fn skip(&self, dominator: Step) -> (Step, Vec<Step>) {
        let (mut step, mut skipped) = (dominator, Vec::new());
        'skipping: while skipped.len() < 10_000 {
            for maker in self.used(step) {
                let is_like = self.pattern(maker, step).is_some_and(|pattern| self.patterns.contains(&pattern));
                if is_like && maker < step {
                    skipped.push(step);
                    step = maker;
                    continue 'skipping;
                }
            }
            break;
        }
        (step, skipped)
    }

    /// The steps that computed what a step uses, as a person looks at them, in the order of use.
    fn used(&self, step: Step) -> Vec<Step> {
        let members = self.table.members(step);
        let flow = members.iter().flat_map(|member| self.graph.makers(*member).filter(|(_, kind)| kind.is_flow()));
        let shown = flow.map(|(maker, _)| self.table.shown(maker));
        shown.filter(|maker| *maker != step && *maker != Step::START).collect()
    }

    /// The pattern of the path from a step to one that uses its value.
    fn pattern(&self, begin: Step, end: Step) -> Option<Pattern> {
        if begin >= end || end.0 - begin.0 > MAX_PATH {
            return None;
        }
        let position = self.used(end).iter().position(|maker| *maker == begin)?;
        let mut merged: Vec<u32> = Vec::new();
        for step in (begin.0..=end.0).map(Step).filter(|step| self.table.shown(*step) == *step) {
            merged.push(self.table.statement(step));
            // Statements that repeat those right before them are merged.
            let n = merged.len();
            let repeats = |length: &usize| merged[n - length..] == merged[n - 2 * length..n - length];
            if let Some(length) = (1..=MAX_REPEATED.min(n / 2)).find(repeats) {
                merged.truncate(n - length);
            }
        }
        Some((merged, position))
    }

    fn correct(&mut self, step: Step) -> Option<Step> {
        match std::mem::replace(&mut self.state, State::Simple) {
            State::Simple | State::InspectDetails(_) => self.inspect(step),
            State::Skip(mut skipped) => {
                skipped.reverse();
                self.middle(skipped, step)
            }
            State::BinarySearch(skipped) => {
                let left = skipped.into_iter().filter(|skipped| *skipped > step).collect();
                self.middle(left, step)
            }
            State::Unclear | State::PartialClear => {
                self.unclear.retain(|unclear| *unclear > step);
                let Some(earliest) = self.unclear.iter().min().copied() else {
                    self.state = self.backup.clone();
                    return self.correct(step);
                };
                self.state = State::PartialClear;
                Some(self.back(step, earliest))
            }
        }
    }

    /// A dominator of the earliest wrong step, between a clear step and an unclear one and less deep than that; else the unclear one.
    fn back(&self, clear: Step, unclear: Step) -> Step {
        let Some(wrong) = self.wrong.iter().min() else { return unclear };
        let mut dominators = self.used(*wrong);
        dominators.extend(control(self.graph, self.table, *wrong));
        dominators
            .retain(|step| *step > clear && *step < unclear && self.table.level(*step) < self.table.level(unclear));
        dominators.sort_unstable();
        dominators.get(dominators.len() / 2).copied().unwrap_or(unclear)
    }

    /// The next step between one that is right and the first wrong one after it.
    fn inspect(&mut self, right: Step) -> Option<Step> {
        let wrong = self.wrong.iter().filter(|wrong| **wrong > right).min().copied()?;
        self.state = State::InspectDetails(wrong);
        self.after(right, wrong)
    }

    fn middle(&mut self, skipped: Vec<Step>, judged: Step) -> Option<Step> {
        let Some(middle) = skipped.get(skipped.len() / 2).copied() else {
            return self.inspect(judged);
        };
        self.state = State::BinarySearch(skipped);
        Some(middle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ways::samples::{judged, run, run_of};

    #[test]
    fn the_dominator_of_a_wrong_value_is_next() {
        let (graph, table) = run(&[&[], &[1], &[2]]);
        let all = [judged(3, Feedback::WrongValue(vec![0]), &[2])];
        assert_eq!(next(&graph, &table, &all), Some(Step(2)));
    }

    #[test]
    fn steps_between_a_right_and_a_wrong_one_are_inspected_in_order() {
        let (graph, table) = run(&[&[], &[], &[], &[1]]);
        let mut all = vec![judged(4, Feedback::WrongValue(vec![0]), &[1]), judged(1, Feedback::Correct, &[])];
        assert_eq!(next(&graph, &table, &all), Some(Step(2)));
        all.push(judged(2, Feedback::Correct, &[]));
        assert_eq!(next(&graph, &table, &all), Some(Step(3)));
        all.push(judged(3, Feedback::Correct, &[]));
        assert_eq!(next(&graph, &table, &all), None);
    }

    #[test]
    fn iterations_like_one_without_the_fault_are_skipped_and_searched_when_that_went_too_far() {
        // A loop of one statement, 2, after the first one: each iteration uses the value of the one before.
        let makers: Vec<Vec<u32>> = (0_u32..12).map(|step| Vec::from_iter((step > 0).then_some(step))).collect();
        let makers: Vec<&[u32]> = makers.iter().map(Vec::as_slice).collect();
        let (graph, table) = run_of(&makers, &[1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3]);
        let mut all = vec![
            judged(12, Feedback::WrongValue(vec![0]), &[11]),
            judged(11, Feedback::WrongValue(vec![0]), &[10]),
            judged(10, Feedback::WrongValue(vec![0]), &[9]),
        ];
        // All iterations but the first one are like that from 10 to 11.
        assert_eq!(next(&graph, &table, &all), Some(Step(2)));
        all.push(judged(2, Feedback::Correct, &[1]));
        assert_eq!(next(&graph, &table, &all), Some(Step(6)));
        all.push(judged(6, Feedback::WrongValue(vec![0]), &[5]));
        assert_eq!(next(&graph, &table, &all), Some(Step(4)));
    }
}
