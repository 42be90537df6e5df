//! Code that is missing: a value was right, and later it is wrong, though no step computed it again.
//!
//! What should have changed it stands between the two steps, or a decision there skipped it. Beyond the paper, which has no
//! answer for code that does not run.

use std::collections::HashSet;

use crate::feedback::suspects::Weights;
use crate::feedback::table::StepTable;
use crate::feedback::{Feedback, JudgedStep, control};
use idd_trace::{DependenceKind, Dependences, Step};

/// The steps of a gap that are suspected, at most.
const MAX_STEPS: usize = 2000;

/// Steps before one that should not run that are looked at for a call.
const MAX_BESIDE: usize = 1_000_000;

/// A value that was right after a step and wrong at a later one. What should have changed it between them is missing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// The last step that is known to be right of those that computed the value, or a part of it, or that used it.
    pub right: Step,
    /// The step that uses it, or an earlier one that is wrong.
    pub wrong: Step,
    /// How many of the statements that computed it are known to be right: a part of 1.
    pub known: f64,
}

/// The lines with the calls and loops around a step.
fn around(table: &StepTable, step: Step) -> HashSet<Step> {
    std::iter::successors(table.parent(step), |step| table.parent(*step)).map(|step| table.shown(step)).collect()
}

/// The latest gap: steps that computed a value were right, or it was right where it was used, and it was wrong where it was
/// used later. A call that passed the value on, and is still open, does not count.
///
/// Of a step that should not run, although it should be come to as far as its decision or its call says, the same holds: what
/// ran before it should have left the method.
pub fn find(graph: &Dependences, table: &StepTable, judged: &[JudgedStep]) -> Option<Gap> {
    let is_right = |maker: &Step| {
        let step = table.shown(*maker);
        judged.iter().any(|answer| answer.step == step && answer.feedback == Feedback::Correct)
    };
    let of_answer = |answer: &JudgedStep| {
        let wrong = match &answer.feedback {
            Feedback::WrongPath => return left(graph, table, judged, answer.step),
            Feedback::WrongValue(wrong) => wrong,
            _ => return None,
        };
        let around = around(table, answer.step);
        let gaps = wrong.iter().filter_map(|index| answer.makers.get(*index)).filter_map(|whole| {
            let is_over = |maker: &&Step| !around.contains(&table.shown(**maker)) && **maker != Step::START;
            let makers: Vec<Step> = whole.iter().filter(is_over).copied().collect();
            let right: Vec<Step> = makers.iter().filter(|maker| is_right(maker)).copied().collect();
            let used = judged.iter().filter(|other| other.step < answer.step && other.is_right(whole));
            let used = used.map(|other| other.step).max();
            let last = right.iter().max().map(|maker| table.shown(*maker)).max(used)?;
            let statements = |of: &[Step]| of.iter().map(|step| table.statement(*step)).collect::<HashSet<u32>>().len();
            #[expect(clippy::cast_precision_loss, reason = "a value has few makers")]
            let known = if used.is_some() { 1.0 } else { statements(&right) as f64 / statements(&makers) as f64 };
            Some(Gap { right: last, wrong: answer.step, known }).filter(|gap| gap.right < gap.wrong)
        });
        gaps.max_by(|one, other| one.known.total_cmp(&other.known).then(one.right.cmp(&other.right)))
    };
    // The first wrong step is not after the earliest one that is known to be wrong. Of a call around the gap that is not known:
    // what it returned may be wrong.
    let is_wrong = |answer: &&JudgedStep| matches!(answer.feedback, Feedback::WrongValue(_) | Feedback::WrongPath);
    let cut = |gap: Gap| {
        let around = around(table, gap.wrong);
        let wrong = judged.iter().filter(is_wrong).map(|answer| answer.step);
        let earliest = wrong.filter(|step| !around.contains(step)).min();
        Gap { wrong: earliest.unwrap_or(gap.wrong).min(gap.wrong), ..gap }
    };
    let gaps = judged.iter().rev().filter_map(of_answer).map(cut);
    gaps.into_iter().find(|gap| gap.right < gap.wrong)
}

/// The gap before a step that should not run, if nothing decided for it, or what did is right: in the latest call beside it
/// that has steps which were not judged, something should have thrown an exception.
fn left(graph: &Dependences, table: &StepTable, judged: &[JudgedStep], wrong: Step) -> Option<Gap> {
    let of = |step: Step| judged.iter().filter(move |answer| answer.step == step && answer.is_clear());
    if let Some(decider) = control(graph, table, wrong)
        && !of(decider).any(|answer| answer.feedback != Feedback::WrongPath)
    {
        return None;
    }
    let mut is_open = false;
    for step in (1..wrong.0).rev().take(MAX_BESIDE).map(Step).filter(|step| table.shown(*step) == *step) {
        if table.parent(step) != table.parent(wrong) {
            is_open |= of(step).next().is_none();
        } else if is_open {
            return Some(Gap { right: Step(step.0 - 1), wrong, known: 1.0 });
        }
    }
    None
}

/// The statements of the decisions that could have led to other values of what wrong steps use.
fn skipping(graph: &Dependences, table: &StepTable, judged: &[JudgedStep]) -> HashSet<u32> {
    let wrong = judged.iter().filter(|answer| matches!(answer.feedback, Feedback::WrongValue(_)));
    let makers = wrong.flat_map(|answer| table.members(answer.step)).flat_map(|step| graph.makers(step));
    let decisions = makers.filter(|(_, kind)| *kind == DependenceKind::Potential);
    decisions.map(|(decision, _)| table.statement(table.shown(decision))).collect()
}

impl Gap {
    /// How suspicious its steps are, beside all others together; ascending.
    ///
    /// Cost: a look at the edges of at most [`MAX_STEPS`] steps.
    pub fn shares(
        self,
        graph: &Dependences,
        table: &StepTable,
        judged: &[JudgedStep],
        by: Weights,
    ) -> Vec<(Step, f64)> {
        let is_judged = |step: &Step| judged.iter().any(|answer| answer.step == *step && answer.is_clear());
        let inside = (self.right.0 + 1..self.wrong.0).map(Step);
        let inside = inside.filter(|step| table.shown(*step) == *step && !is_judged(step));
        let inside: Vec<(Step, Option<Step>)> =
            inside.take(MAX_STEPS).map(|step| (step, control(graph, table, step))).collect();
        let Some(outer) = inside.iter().map(|(step, _)| table.level(*step)).min() else { return Vec::new() };
        let skipping = skipping(graph, table, judged);
        // A step that should run confirms the decision because of which it runs, and so the path of the steps beside it.
        let is_on_path = |answer: &&JudgedStep| answer.is_clear() && answer.feedback != Feedback::WrongPath;
        let on_path = judged.iter().filter(is_on_path).filter_map(|answer| control(graph, table, answer.step));
        let on_path: HashSet<Step> = on_path.collect();
        let right = judged.iter().filter(|answer| answer.feedback == Feedback::Correct);
        let right: Vec<u32> = right.map(|answer| table.statement(answer.step)).collect();
        let decisions: HashSet<Step> = inside.iter().filter_map(|(_, control)| *control).collect();
        let share = |(step, control): &(Step, Option<Step>)| {
            let statement = table.statement(*step);
            let is_confirmed = on_path.contains(step)
                || !decisions.contains(step) && control.is_some_and(|control| on_path.contains(&control));
            let by_path = if is_confirmed { by.on_path } else { 1.0 };
            let n_right = right.iter().filter(|other| **other == statement).count();
            let by_line = by.same_line.powi(i32::try_from(n_right).unwrap_or(i32::MAX));
            let of_level = || 0.5_f64.powi(i32::from(table.level(*step) - outer));
            by_path * by_line * if skipping.contains(&statement) { by.skipped } else { of_level() }
        };
        let shares: Vec<f64> = inside.iter().map(share).collect();
        let all: f64 = shares.iter().sum();
        let steps = inside.iter().map(|(step, _)| *step);
        steps.zip(shares).map(|(step, share)| (step, by.missing * self.known * share / all)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::samples::{judged, run};

    #[test]
    fn a_value_that_was_right_when_it_was_computed_and_wrong_at_its_use_should_have_changed_between_them() {
        // 4 uses the value of 1; 2 and 3 have nothing to do with it.
        let (graph, table) = run(&[&[], &[], &[], &[1]]);
        let all = [judged(4, Feedback::WrongValue(vec![0]), &[1]), judged(1, Feedback::Correct, &[])];
        assert_eq!(find(&graph, &table, &all[..1]), None);
        assert_eq!(find(&graph, &table, &all), Some(Gap { right: Step(1), wrong: Step(4), known: 1.0 }));
    }

    #[test]
    fn a_value_that_was_right_at_one_use_and_wrong_at_a_later_one_should_have_changed_between_them() {
        // 2 and 5 use the value of 1.
        let (graph, table) = run(&[&[], &[1], &[], &[], &[1]]);
        let all = [judged(5, Feedback::WrongValue(vec![0]), &[1]), judged(2, Feedback::Correct, &[1])];
        assert_eq!(find(&graph, &table, &all), Some(Gap { right: Step(2), wrong: Step(5), known: 1.0 }));
    }

    #[test]
    fn an_earlier_step_that_is_wrong_ends_the_gap() {
        let (graph, table) = run(&[&[], &[], &[], &[], &[1]]);
        let all = [
            judged(5, Feedback::WrongValue(vec![0]), &[1]),
            judged(1, Feedback::Correct, &[]),
            judged(3, Feedback::WrongPath, &[]),
        ];
        assert_eq!(find(&graph, &table, &all).map(|gap| gap.wrong), Some(Step(3)));
    }
}
