//! The step to ask about next: the most suspicious one, and among equals the one whose answer is expected to say most.
//!
//! A step with suspects behind it and suspects elsewhere splits them (as in divide and query, Shapiro 1982), and one that uses
//! several values splits them further: the person says which one is wrong. A step that is suspicious itself may be the
//! ringleader, which is worth more than all that an answer says. A person can tell less of a step that is deep in calls and loops.

use std::collections::HashMap;

use crate::feedback::suspects::Suspects;
use crate::feedback::table::StepTable;
use crate::feedback::{JudgedStep, criteria};
use idd_trace::reach::{self, MAX_SLICES};
use idd_trace::{Dependences, Step};

/// Steps that are compared with each other, of a short run.
const N_COMPARED: usize = 40;

/// Values that a step uses, of which slices are compared.
const MAX_VALUES: usize = 4;

/// Passes over a long run for one recommendation are as many as have together so many steps; at least one.
const MAX_FOLLOWED: usize = 4_000_000;

/// Why a step is recommended; the names of the paper, and what is beyond it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecommendationState {
    /// It computed a value that is wrong, or decided for a path that is.
    SimpleInference,
    /// Steps between are skipped: another iteration, or an earlier part of the run.
    PatternInference,
    /// It is between a step that is right and one that uses a wrong value.
    InspectDetails,
    /// It is the call or the loop around a step that was unclear.
    ClarityInference,
    /// The failure does not depend on it, but all steps on which it depends were judged. Not in the paper.
    Elsewhere,
    /// The passing run does something else there, or more after it, with the same values. Not in the paper.
    FirstDifference,
}

/// A recommended step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recommendation {
    /// The step.
    pub step: Step,
    /// Why.
    pub state: RecommendationState,
    /// Statements that share nine tenths of the suspicion.
    pub n_suspects: usize,
}

impl Recommendation {
    /// The same, if the failure does not depend on the steps that are left.
    #[must_use]
    pub fn elsewhere(self) -> Self {
        let state = match self.state {
            RecommendationState::PatternInference | RecommendationState::InspectDetails => {
                RecommendationState::Elsewhere
            }
            state => state,
        };
        Self { state, ..self }
    }
}

/// How likely it is that a step is unclear when it is seen for the `nth` time, from 1.
///
/// Source: Lin and others 2017, formula 1.
pub fn unclear(level: u16, nth: u32) -> f64 {
    if level < 1 { 0.0 } else { (1.0 - (-(f64::from(level) - 1.0)).exp()) / f64::from(nth.max(1)) }
}

/// How often a step is expected to be asked until it is clear, from the `nth` time on.
fn visits(level: u16, nth: u32) -> f64 {
    let mut expected = 1.0;
    for later in (nth..nth.saturating_add(8)).rev() {
        expected = 1.0 + unclear(level, later) * expected;
    }
    expected
}

/// Recommends a step; none if nothing is left.
///
/// Cost: at most five passes over the graph of a short run, one over that of a long one.
pub fn recommend(
    graph: &Dependences,
    table: &StepTable,
    suspects: &Suspects,
    judged: &[JudgedStep],
) -> Option<Recommendation> {
    let mut seen: HashMap<Step, u32> = HashMap::new();
    for answer in judged {
        *seen.entry(answer.step).or_insert(0) += 1;
    }
    let last_unclear = judged.last().filter(|answer| answer.feedback == super::Feedback::Unclear);
    let candidates = candidates(graph, table, suspects, judged);
    let is_open = |step: &Step| {
        let is_clear = judged.iter().any(|answer| answer.step == *step && answer.is_clear());
        !is_clear && last_unclear.is_none_or(|answer| answer.step != *step)
    };
    let open: Vec<Step> = candidates.into_iter().filter(is_open).collect();
    let n_passes = (MAX_FOLLOWED / (graph.n_steps() as usize + 1)).max(1);
    let mut best: Option<(f64, Step)> = None;
    for some in open.chunks(MAX_SLICES / (MAX_VALUES + 1)).take(n_passes) {
        for (step, masses) in some.iter().zip(masses(graph, table, suspects, some)) {
            let here = suspects.weight(*step);
            let clear = 1.0 / visits(table.level(*step), seen.get(step).copied().unwrap_or(0) + 1);
            let score = information(here, &masses) * clear + here * suspects.by.found;
            if best.is_none_or(|(other, _)| score > other) {
                best = Some((score, *step));
            }
        }
    }
    let (_, step) = best?;
    let mut heaviest: Vec<f64> = suspects.statements.values().copied().collect();
    heaviest.sort_by(|one, other| other.total_cmp(one));
    let mut sum = 0.0;
    let is_needed = |weight: &&f64| {
        let before = sum;
        sum += **weight;
        before < 0.9
    };
    let n_suspects = heaviest.iter().take_while(is_needed).count();
    Some(Recommendation { step, state: state(graph, table, judged, step), n_suspects })
}

/// How suspicious the steps behind each of some lines are, and those behind each of the first values that it uses.
fn masses(graph: &Dependences, table: &StepTable, suspects: &Suspects, lines: &[Step]) -> Vec<(f64, Vec<f64>)> {
    let (mut slices, mut n_values) = (Vec::new(), Vec::new());
    for line in lines {
        let members = table.members(*line);
        let of_member = |member: &Step| graph.makers(*member).map(|(maker, _)| maker).collect::<Vec<_>>();
        let mut makers: Vec<Step> = members.iter().flat_map(of_member).collect();
        makers.retain(|maker| *maker != Step::START && table.shown(*maker) != *line);
        makers.sort_unstable();
        makers.dedup();
        makers.truncate(MAX_VALUES);
        slices.push(criteria(&members, Step(u32::MAX)));
        slices.extend(makers.iter().map(|maker| criteria(&[*maker], Step(line.0 + 1))));
        n_values.push(makers.len());
    }
    let mut all = suspects.masses(table, &reach::backward(graph, &slices)).into_iter();
    n_values.into_iter().map(|n| (all.next().unwrap_or(0.0), all.by_ref().take(n).collect())).collect()
}

/// The entropy of what may be said of a step, in bits: it is the ringleader, one of the values that it uses is wrong, or it is right.
fn information(here: f64, (whole, of_values): &(f64, Vec<f64>)) -> f64 {
    let mut parts = vec![here];
    let mut told = 0.0;
    for mass in of_values {
        // Values that share what they depend on are wrong together.
        parts.push((mass).min((whole - here - told).max(0.0)));
        told += mass;
    }
    parts.push((1.0 - whole).max(0.0));
    let all: f64 = parts.iter().sum();
    let bits = |part: f64| if part > 0.0 { -(part / all) * (part / all).log2() } else { 0.0 };
    parts.into_iter().map(bits).sum()
}

/// Steps that are compared: what computed the wrong values, the calls and loops around what was unclear, instances of the most
/// suspicious statements, and steps that part the suspicion in the order of time.
fn candidates(graph: &Dependences, table: &StepTable, suspects: &Suspects, judged: &[JudgedStep]) -> Vec<Step> {
    let mut found = Vec::new();
    if let Some(last) = judged.last() {
        let mut direct = last.makers_of(true);
        // A text has many makers; of each statement the latest is enough.
        direct.sort_unstable_by(|one, other| other.cmp(one));
        let mut known = std::collections::HashSet::new();
        direct.retain(|step| known.insert(table.statement(table.shown(*step))));
        direct.extend(super::control(graph, table, last.step));
        found.extend(direct.into_iter().map(|step| table.shown(step)));
        let mut around = table.parent(last.step);
        while let Some(parent) = around.filter(|_| last.feedback == super::Feedback::Unclear) {
            found.push(table.shown(parent));
            around = table.parent(parent);
        }
    }
    let mut statements: Vec<(u32, f64)> =
        suspects.statements.iter().map(|(statement, weight)| (*statement, *weight)).collect();
    statements.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    statements.truncate(N_COMPARED / 2);
    let mut heaviest = vec![(0.0, Step::START); table.n_statements()];
    for (step, weight) in suspects.steps.iter().zip(&suspects.weights) {
        let best = &mut heaviest[table.statement(*step) as usize];
        if (*weight, *step) > *best {
            *best = (*weight, *step);
        }
    }
    found.extend(statements.iter().map(|(statement, _)| heaviest[*statement as usize].1));
    let (mut sum, mut next) = (0.0, 1);
    for (step, weight) in suspects.steps.iter().zip(&suspects.weights) {
        sum += weight;
        while next < N_COMPARED / 2 && sum >= f64::from(u32::try_from(next).unwrap_or(0)) * 2.0 / 40.0 {
            found.push(*step);
            next += 1;
        }
    }
    for step in &mut found {
        *step = table.shown(*step);
    }
    found.retain(|step| *step != Step::START);
    let mut known = std::collections::HashSet::new();
    found.retain(|step| known.insert(*step));
    found
}

fn state(graph: &Dependences, table: &StepTable, judged: &[JudgedStep], step: Step) -> RecommendationState {
    use super::Feedback;
    let is_direct = |answer: &JudgedStep| {
        let direct = answer.makers_of(true).into_iter().map(|maker| table.shown(maker)).any(|maker| maker == step);
        let decided = answer.feedback == Feedback::WrongPath && super::control(graph, table, answer.step) == Some(step);
        direct || decided
    };
    let is_around = |answer: &JudgedStep| {
        let mut around = table.parent(answer.step);
        while let Some(parent) = around.filter(|parent| *parent != step) {
            around = table.parent(parent);
        }
        answer.feedback == Feedback::Unclear && around.is_some()
    };
    let is_between = judged.iter().any(|answer| answer.feedback == Feedback::Correct && answer.step < step);
    match judged.last() {
        Some(last) if is_around(last) => RecommendationState::ClarityInference,
        _ if judged.iter().any(is_direct) => RecommendationState::SimpleInference,
        _ if is_between => RecommendationState::InspectDetails,
        _ => RecommendationState::PatternInference,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::Feedback;
    use crate::feedback::samples::{judged, run};
    use crate::feedback::suspects::Weights;
    use idd_trace::slice;
    use idd_trace::slice::Kinds;

    fn next(makers: &[&[u32]], all: &[JudgedStep]) -> Option<Recommendation> {
        let (graph, table) = run(makers);
        let wrong = slice::backward(&graph, &[(Step(graph.n_steps()), Step(u32::MAX))], Kinds::ALL);
        let mut suspects = Suspects::new(&table, &wrong, &|_| 1.0, Weights::default());
        for answer in all {
            suspects.hear(&graph, &table, answer);
        }
        let suspects = suspects.with_gap(&graph, &table, all).unwrap_or(suspects);
        recommend(&graph, &table, &suspects, all)
    }

    #[test]
    fn deep_steps_are_unclear_more_often_and_less_when_they_are_seen_again() {
        assert!(unclear(1, 1).abs() < 1e-9);
        assert!((unclear(3, 1) - 0.8647).abs() < 1e-3);
        assert!((unclear(3, 2) - 0.4323).abs() < 1e-3);
    }

    #[test]
    fn what_gave_the_wrong_value_comes_first() {
        let found = next(&[&[], &[1], &[2]], &[judged(3, Feedback::WrongValue(vec![0]), &[2])]).unwrap();
        assert_eq!((found.step, found.state), (Step(2), RecommendationState::SimpleInference));
    }

    #[test]
    fn a_long_way_is_not_walked_step_by_step() {
        // A chain of 64 steps, wrong all the way back to the first one.
        let chain: Vec<Vec<u32>> = (0_u32..64).map(|step| Vec::from_iter((step > 0).then_some(step))).collect();
        let chain: Vec<&[u32]> = chain.iter().map(Vec::as_slice).collect();
        let mut all = vec![judged(64, Feedback::WrongValue(vec![0]), &[63])];
        while let Some(found) = next(&chain, &all).filter(|found| found.step != Step(1)) {
            all.push(judged(found.step.0, Feedback::WrongValue(vec![0]), &[found.step.0 - 1]));
        }
        assert!(all.len() <= 16, "{} answers", all.len());
    }

    #[test]
    fn nothing_is_recommended_when_all_was_judged() {
        let all = [judged(2, Feedback::WrongValue(vec![0]), &[1]), judged(1, Feedback::Correct, &[])];
        assert_eq!(next(&[&[], &[1]], &all), None);
    }
}
