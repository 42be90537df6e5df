//! How suspicious each step is, by all that was said.
//!
//! A step is the more suspicious the fewer dependences lead from it to the failure, by one over their number: so the
//! search doubles its strides where answers say that it is still too late. Each answer multiplies: a wrong value accuses all that it depends on, a right one acquits. Neither is taken as proof: a wrong value can
//! come out right by chance, and a person can err. So a dead end takes up what was put aside before.

use std::collections::HashMap;

use crate::explain::feedback::Feedback;
use crate::explain::feedback::Judged;
use crate::explain::feedback::behind;
use crate::explain::feedback::behind_line;
use crate::explain::feedback::control;
use crate::explain::feedback::table::Table;
use crate::trace::dependence::Dependences;
use crate::trace::step::Step;
use crate::trace::step::Steps;

/// What a wrong value does not depend on keeps this part.
const APART: f64 = 0.01;

/// What a right value depends on keeps this part: values come out right by chance.
const ACQUITTED: f64 = 0.12;

/// A step that was judged keeps this part.
const JUDGED: f64 = 1e-6;

/// Other instances of a statement that was judged correct keep this part.
const SAME_STATEMENT: f64 = 0.5;

/// What the first wrong value does not depend on is so many dependences away.
const FAR: f64 = 1000.0;

/// The steps that gave the first wrong value that was told, or decided for the wrong path; none before the first answer.
fn frontier((graph, table): (&Dependences, &Table), judged: &[Judged]) -> Vec<Step> {
    let first = judged.iter().find_map(|answer| match answer.feedback {
        Feedback::WrongValue(_) => Some(answer.makers_of(true)),
        Feedback::WrongPath => Some(control((graph, table), answer.step).into_iter().collect()),
        _ => None,
    });
    first.unwrap_or_default().into_iter().flat_map(|step| table.members(table.shown(step))).collect()
}

/// Suspicion of the steps on which a failure depends.
#[derive(Debug, Clone)]
pub struct Suspects {
    /// The steps, ascending.
    pub steps: Vec<Step>,
    /// How suspicious each is; together 1.
    pub weights: Vec<f64>,
    /// How suspicious each statement is; together 1.
    pub statements: HashMap<u32, f64>,
}

impl Suspects {
    /// After some answers.
    ///
    /// - `wrong`: steps, and for each the step before which its value was wrong: the failure.
    /// - `prior`: how suspicious a statement is at first.
    ///
    /// Cost: a backward slice for the failure, and at most three for each answer.
    pub fn new(
        (graph, table): (&Dependences, &Table),
        wrong: &Steps,
        judged: &[Judged],
        prior: &dyn Fn(u32) -> f64,
    ) -> Self {
        let steps: Vec<Step> = table.shown_of(wrong).iter().filter(|step| *step != Step::START).collect();
        let distances = graph.distances(&frontier((graph, table), judged));
        let first = |step: &Step| {
            let members = table.members(*step);
            let distance = members.iter().map(|step| distances[step.0 as usize]).min().unwrap_or(u32::MAX);
            prior(table.statement(*step)) / (1.0 + if distance == u32::MAX { FAR } else { f64::from(distance) })
        };
        let weights = steps.iter().map(first).collect();
        let mut suspects = Self { steps, weights, statements: HashMap::new() };
        for answer in judged.iter().filter(|answer| answer.feedback != Feedback::Unclear) {
            suspects.hear((graph, table), answer);
        }
        suspects.normalise(table);
        suspects
    }

    fn hear(&mut self, (graph, table): (&Dependences, &Table), answer: &Judged) {
        let step = answer.step;
        let of = |steps: &[Step]| behind((graph, table), steps, Step(step.0 + 1));
        let around: Vec<Step> =
            control((graph, table), step).into_iter().flat_map(|step| table.members(step)).collect();
        match &answer.feedback {
            Feedback::WrongValue(_) => {
                let (wrong, right) = (of(&answer.makers_of(true)), of(&answer.makers_of(false)));
                let ran = of(&around);
                self.scale(|step| match () {
                    () if !wrong.contains(step) => APART,
                    () if right.contains(step) || ran.contains(step) => ACQUITTED.sqrt(),
                    () => 1.0,
                });
            }
            Feedback::WrongPath => {
                let wrong = of(&around);
                self.scale(|step| if wrong.contains(step) { 1.0 } else { APART });
            }
            Feedback::Correct => {
                let right = behind_line((graph, table), step);
                self.scale(|step| if right.contains(step) { ACQUITTED } else { 1.0 });
                let statement = table.statement(step);
                self.scale(|step| if table.statement(step) == statement { SAME_STATEMENT } else { 1.0 });
            }
            Feedback::WrongResult => self.scale(|other| if other == step { 1.0 } else { APART }),
            Feedback::Unclear => {}
        }
        if answer.feedback != Feedback::WrongResult {
            self.scale(|other| if other == step { JUDGED } else { 1.0 });
        }
    }

    fn scale(&mut self, factor: impl Fn(Step) -> f64) {
        for (step, weight) in self.steps.iter().zip(&mut self.weights) {
            *weight *= factor(*step);
        }
    }

    fn normalise(&mut self, table: &Table) {
        let all: f64 = self.weights.iter().sum();
        if all > 0.0 {
            self.weights.iter_mut().for_each(|weight| *weight /= all);
        }
        for (step, weight) in self.steps.iter().zip(&self.weights) {
            *self.statements.entry(table.statement(*step)).or_insert(0.0) += weight;
        }
    }

    /// How suspicious some steps are together.
    pub fn mass(&self, of: &Steps) -> f64 {
        self.steps.iter().zip(&self.weights).filter(|(step, _)| of.contains(**step)).map(|(_, weight)| weight).sum()
    }

    /// How suspicious a step is.
    pub fn weight(&self, step: Step) -> f64 {
        self.steps.binary_search(&step).map_or(0.0, |index| self.weights[index])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::feedback::samples::judged;
    use crate::explain::feedback::samples::run;
    use crate::trace::slice;
    use crate::trace::slice::Kinds;

    /// The suspicion of the steps of a run whose last one is wrong.
    fn suspects(makers: &[&[u32]], all: &[Judged]) -> Vec<f64> {
        let (graph, table) = run(makers);
        let wrong = slice::backward(&graph, &[(Step(graph.n_steps()), Step(u32::MAX))], Kinds::ALL);
        let found = Suspects::new((&graph, &table), &wrong, all, &|_| 1.0);
        assert!((found.weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        (1..=graph.n_steps()).map(|step| found.weight(Step(step))).collect()
    }

    #[test]
    fn what_the_failure_does_not_depend_on_is_no_suspect() {
        let weights = suspects(&[&[], &[], &[1]], &[]);
        assert!(weights[1] == 0.0 && weights[0] > 0.0 && weights[2] > 0.0, "{weights:?}");
    }

    #[test]
    fn a_wrong_value_accuses_what_it_comes_from_and_acquits_the_rest() {
        // 5 uses 3, which comes from 1, and 4, which comes from 2.
        let makers: &[&[u32]] = &[&[], &[], &[1], &[2], &[3, 4]];
        let weights = suspects(makers, &[judged(5, Feedback::WrongValue(vec![0]), &[3, 4])]);
        assert!(weights[0] + weights[2] > 0.95, "{weights:?}");
        assert!(weights[2] > weights[0], "the nearer one is more suspicious: {weights:?}");
    }

    #[test]
    fn a_step_that_is_right_acquits_what_it_depends_on_and_is_no_proof() {
        let makers: &[&[u32]] = &[&[], &[1], &[], &[2, 3]];
        let wrong = judged(4, Feedback::WrongValue(vec![0, 1]), &[2, 3]);
        let weights = suspects(makers, &[wrong, judged(2, Feedback::Correct, &[1])]);
        assert!(weights[2] > 0.8 && weights[0] > 0.0, "{weights:?}");
    }
}
