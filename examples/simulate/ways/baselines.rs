//! What a person would do without this program: baselines of the experiment.
//!
//! Sources: [`slicing`] reads the backward slice from the failure on, as a person does with a slicer (Weiser 1982,
//! "Programmers Use Slices When Debugging"). [`divide`] is divide and query (Shapiro 1982, "Algorithmic Program
//! Debugging") on the dependence graph in place of the tree of calls.

use std::collections::HashSet;

use idd_explain::feedback::table::StepTable;
use idd_explain::feedback::{Feedback, JudgedStep, control};
use idd_trace::slice::Kinds;
use idd_trace::{Dependences, Step, Steps, slice};

/// Steps whose slices are compared for one question.
const N_COMPARED: usize = 40;

/// All steps that what some steps computed before `until` depends on, with these themselves, as a person looks at them.
fn behind(graph: &Dependences, table: &StepTable, steps: &[Step], until: Step) -> Steps {
    let criteria = steps.iter().map(|step| (*step, if *step > until { Step(u32::MAX) } else { until }));
    table.shown_of(&slice::backward(graph, &criteria.collect::<Vec<_>>(), Kinds::ALL))
}

fn judged_steps(judged: &[JudgedStep]) -> HashSet<Step> {
    judged.iter().filter(|answer| answer.feedback != Feedback::Unclear).map(|answer| answer.step).collect()
}

/// The step of the slice that is nearest to the failure, of these the latest; answers do not matter.
///
/// Cost: one pass over the graph.
pub fn slicing(
    graph: &Dependences,
    table: &StepTable,
    wrong: &Steps,
    failure: Step,
    judged: &[JudgedStep],
) -> Option<Step> {
    let distances = graph.distances(&table.members(failure));
    let is_judged = judged_steps(judged);
    let last = judged.last().map(|answer| answer.step);
    let is_open = |step: &Step| *step != Step::START && !is_judged.contains(step) && Some(*step) != last;
    let open = table.shown_of(wrong).iter().filter(is_open).collect::<Vec<_>>();
    let near = |step: &Step| table.members(*step).iter().map(|step| distances[step.0 as usize]).min();
    open.into_iter()
        .min_by_key(|step| (near(step), std::cmp::Reverse(*step)))
        .or(last.filter(|step| !is_judged.contains(step)))
}

/// The step that splits best what the answers leave: what the last wrong value depends on, without what right values do.
///
/// Cost: at most [`N_COMPARED`] slices, and one for each answer.
pub fn divide(graph: &Dependences, table: &StepTable, wrong: &Steps, judged: &[JudgedStep]) -> Option<Step> {
    let mut open: Vec<Step> = table.shown_of(wrong).iter().filter(|step| *step != Step::START).collect();
    for answer in judged {
        let until = Step(answer.step.0 + 1);
        match &answer.feedback {
            Feedback::WrongValue(_) => {
                let of = behind(graph, table, &answer.makers_of(true), until);
                open.retain(|step| of.contains(*step));
            }
            Feedback::WrongPath => {
                let by = control(graph, table, answer.step).into_iter().collect::<Vec<_>>();
                let of = behind(graph, table, &by, until);
                open.retain(|step| of.contains(*step));
            }
            Feedback::Correct => {
                let of = behind(graph, table, &table.members(answer.step), Step(u32::MAX));
                open.retain(|step| !of.contains(*step));
            }
            Feedback::WrongResult | Feedback::Unclear => {}
        }
    }
    let is_judged = judged_steps(judged);
    let last = judged.last().map(|answer| answer.step);
    let stride = (open.len() / N_COMPARED).max(1);
    let tried = open.iter().copied().step_by(stride).filter(|step| !is_judged.contains(step) && Some(*step) != last);
    let size = |step: Step| {
        let of = behind(graph, table, &[step], Step(step.0 + 1));
        open.iter().filter(|step| of.contains(**step)).count()
    };
    let half = |step: &Step| (2 * size(*step)).abs_diff(open.len());
    tried.min_by_key(half).or_else(|| last.filter(|step| !is_judged.contains(step) && open.contains(step)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ways::samples::{judged, run};

    fn wrong(graph: &Dependences) -> Steps {
        slice::backward(graph, &[(Step(graph.n_steps()), Step(u32::MAX))], Kinds::ALL)
    }

    #[test]
    fn a_slice_is_read_from_the_failure_back() {
        let (graph, table) = run(&[&[], &[], &[1], &[2, 3]]);
        let mut all = vec![judged(4, Feedback::WrongValue(vec![0, 1]), &[2, 3])];
        for expected in [3, 2, 1] {
            let found = slicing(&graph, &table, &wrong(&graph), Step(4), &all);
            assert_eq!(found, Some(Step(expected)));
            all.push(judged(expected, Feedback::Correct, &[]));
        }
        assert_eq!(slicing(&graph, &table, &wrong(&graph), Step(4), &all), None);
    }

    #[test]
    fn divide_and_query_halves_a_chain() {
        let chain: Vec<Vec<u32>> = (0_u32..32).map(|step| Vec::from_iter((step > 0).then_some(step))).collect();
        let chain: Vec<&[u32]> = chain.iter().map(Vec::as_slice).collect();
        let (graph, table) = run(&chain);
        let mut all = vec![judged(32, Feedback::WrongValue(vec![0]), &[31])];
        assert_eq!(divide(&graph, &table, &wrong(&graph), &all), Some(Step(15)));
        all.push(judged(15, Feedback::Correct, &[14]));
        let next = divide(&graph, &table, &wrong(&graph), &all).unwrap();
        assert!((22..=25).contains(&next.0), "{next:?}");
    }
}
