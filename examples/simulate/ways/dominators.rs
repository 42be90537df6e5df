//! From a wrong value to the step that computed it, from a wrong path to the decision for it: the simple inference of the paper.
//!
//! Deviation: values that were wrong beside the one that was followed are kept, and taken up again at a dead end.

use idd_explain::feedback::table::StepTable;
use idd_explain::feedback::{Feedback, JudgedStep, control};
use idd_trace::{Dependences, Step};

/// The next step, by the last wrong answer with something left to follow; none at the end of all of them.
///
/// Cost: a look-up for each answer.
pub fn next(graph: &Dependences, table: &StepTable, judged: &[JudgedStep]) -> Option<Step> {
    let is_clear = |step: Step| {
        let of_step = |answer: &&JudgedStep| answer.step == step && answer.feedback != Feedback::Unclear;
        judged.iter().any(|answer| of_step(&answer))
    };
    let last = judged.last()?.step;
    let mut unclear = None;
    for answer in judged.iter().rev() {
        let mut options: Vec<Step> = match &answer.feedback {
            Feedback::WrongValue(_) => answer.makers_of(true),
            Feedback::WrongPath => control(graph, table, answer.step).into_iter().collect(),
            _ => continue,
        };
        for step in &mut options {
            *step = table.shown(*step);
        }
        options.sort_unstable();
        for step in options.into_iter().rev().filter(|step| *step != Step::START && !is_clear(*step)) {
            if step != last {
                return Some(step);
            }
            unclear = unclear.or(Some(step));
        }
    }
    // Around what was unclear, and back to it.
    let parent = unclear
        .and_then(|step| table.parent(step))
        .map(|parent| table.shown(parent))
        .filter(|parent| !is_clear(*parent));
    parent.or(unclear)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ways::samples::{judged, run};

    #[test]
    fn the_last_wrong_value_is_followed_and_what_was_wrong_beside_it_is_taken_up_later() {
        let (graph, table) = run(&[&[], &[], &[1, 2], &[3]]);
        assert_eq!(next(&graph, &table, &[]), None);
        let mut all = vec![judged(4, Feedback::WrongValue(vec![0]), &[3])];
        assert_eq!(next(&graph, &table, &all), Some(Step(3)));
        all.push(judged(3, Feedback::WrongValue(vec![0, 1]), &[1, 2]));
        assert_eq!(next(&graph, &table, &all), Some(Step(2)));
        all.push(judged(2, Feedback::Correct, &[]));
        assert_eq!(next(&graph, &table, &all), Some(Step(1)));
        all.push(judged(1, Feedback::Correct, &[]));
        assert_eq!(next(&graph, &table, &all), None);
    }
}
