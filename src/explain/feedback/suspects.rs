//! How suspicious each step is, by all that was said.
//!
//! A hypothesis is a step: it is the first one at which the fault of its line shows. All lines have equal shares, divided
//! among their steps: the earlier a step, the larger its part. Each answer multiplies: a wrong value accuses all that it
//! depends on, a right one acquits. Neither is taken as proof: a wrong value can come out right by chance, and a person can
//! err. So a dead end takes up what was put aside before. Shares by the distance from the failure, or from the earliest
//! wrong value, were tried; both need more answers.

use std::collections::HashMap;
use std::collections::HashSet;

use crate::explain::feedback::Feedback;
use crate::explain::feedback::Judged;
use crate::explain::feedback::behind;
use crate::explain::feedback::behind_line;
use crate::explain::feedback::control;
use crate::explain::feedback::table::Table;
use crate::trace::dependence::Dependences;
use crate::trace::step::Step;
use crate::trace::step::Steps;

/// How much each kind of answer changes, and what is likely before the first one.
///
/// Each factor is what is left of the suspicion of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Steps on which a wrong value does not depend.
    pub apart: f64,
    /// Steps on which a right value depends: values come out right by chance.
    pub acquitted: f64,
    /// Steps on which a right value beside a wrong one depends.
    pub beside: f64,
    /// A step that was judged.
    pub judged: f64,
    /// Other steps of a line that was judged correct.
    pub same_line: f64,
    /// How likely the fault of a line shows at each of its steps.
    pub shows: f64,
    /// The part of the share of a line that all its steps have alike.
    pub alike: f64,
    /// The steps of a gap together, beside all others.
    pub missing: f64,
    /// What finding the line is worth, in bits.
    pub found: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            apart: 0.01,
            acquitted: 0.12,
            beside: 0.35,
            judged: 1e-6,
            same_line: 0.2,
            shows: 0.3,
            alike: 0.5,
            missing: 9.0,
            found: 3.0,
        }
    }
}

/// The steps of a gap that are suspected, at most.
const MAX_GAP: usize = 2000;

/// A value that was right after a step and wrong at a later one. What should have changed it between them is missing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// The last step that is known to be right of those that computed the value, or a part of it.
    pub right: Step,
    /// The step that uses it.
    pub wrong: Step,
    /// How many of the statements that computed it are known to be right: a part of 1.
    pub known: f64,
}

/// The latest gap: steps that computed a value were right, and the value wrong where it was used. A call that passed the
/// value on, and is still open, does not count.
pub fn gap(table: &Table, judged: &[Judged]) -> Option<Gap> {
    let is_right = |maker: &Step| {
        let step = table.shown(*maker);
        judged.iter().any(|answer| answer.step == step && answer.feedback == Feedback::Correct)
    };
    let of_answer = |answer: &Judged| {
        let Feedback::WrongValue(wrong) = &answer.feedback else { return None };
        let around: Vec<Step> = std::iter::successors(table.parent(answer.step), |step| table.parent(*step)).collect();
        let gaps = wrong.iter().filter_map(|index| answer.makers.get(*index)).filter_map(|makers| {
            let is_over = |maker: &&Step| !around.contains(&table.shown(**maker)) && **maker != Step::START;
            let makers: Vec<Step> = makers.iter().filter(is_over).copied().collect();
            let right: Vec<Step> = makers.iter().filter(|maker| is_right(maker)).copied().collect();
            let last = table.shown(*right.iter().max()?);
            let statements = |of: &[Step]| of.iter().map(|step| table.statement(*step)).collect::<HashSet<u32>>().len();
            #[expect(clippy::cast_precision_loss, reason = "a value has few makers")]
            let known = statements(&right) as f64 / statements(&makers) as f64;
            Some(Gap { right: last, wrong: answer.step, known }).filter(|gap| gap.right < gap.wrong)
        });
        gaps.max_by(|one, other| one.known.total_cmp(&other.known).then(one.right.cmp(&other.right)))
    };
    judged.iter().rev().find_map(of_answer)
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
    /// How answers count.
    pub by: Weights,
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
        by: Weights,
    ) -> Self {
        let steps: Vec<Step> = table.shown_of(wrong).iter().filter(|step| *step != Step::START).collect();
        let n_statements = table.n_statements();
        let mut n_steps = vec![0.0; n_statements];
        for step in &steps {
            n_steps[table.statement(*step) as usize] += 1.0;
        }
        let mut shows_first = vec![by.shows; n_statements];
        let share = |step: &Step| {
            let statement = table.statement(*step);
            let first = &mut shows_first[statement as usize];
            let share = by.alike / n_steps[statement as usize] + (1.0 - by.alike) * *first;
            *first *= 1.0 - by.shows;
            prior(statement) * share
        };
        let weights = steps.iter().map(share).collect();
        let mut suspects = Self { steps, weights, statements: HashMap::new(), by };
        for answer in judged.iter().filter(|answer| answer.feedback != Feedback::Unclear) {
            suspects.hear((graph, table), answer);
        }
        suspects.normalise();
        if let Some(gap) = gap(table, judged) {
            suspects.fill(table, gap, judged);
            suspects.normalise();
        }
        let mut shares = vec![0.0; n_statements];
        for (step, weight) in suspects.steps.iter().zip(&suspects.weights) {
            shares[table.statement(*step) as usize] += weight;
        }
        suspects.statements = (0..).zip(shares).filter(|(_, share)| *share > 0.0).collect();
        suspects
    }

    fn hear(&mut self, (graph, table): (&Dependences, &Table), answer: &Judged) {
        let by = self.by;
        let step = answer.step;
        let of = |steps: &[Step]| behind((graph, table), steps, Step(step.0 + 1));
        let around: Vec<Step> =
            control((graph, table), step).into_iter().flat_map(|step| table.members(step)).collect();
        match &answer.feedback {
            Feedback::WrongValue(_) => {
                let (wrong, right) = (of(&answer.makers_of(true)), of(&answer.makers_of(false)));
                let ran = of(&around);
                self.scale(|step| match () {
                    () if !wrong.contains(step) => by.apart,
                    () if right.contains(step) || ran.contains(step) => by.beside,
                    () => 1.0,
                });
            }
            Feedback::WrongPath => {
                let wrong = of(&around);
                self.scale(|step| if wrong.contains(step) { 1.0 } else { by.apart });
            }
            Feedback::Correct => {
                let right = behind_line((graph, table), step);
                self.scale(|step| if right.contains(step) { by.acquitted } else { 1.0 });
                let statement = table.statement(step);
                self.scale(|step| if table.statement(step) == statement { by.same_line } else { 1.0 });
            }
            Feedback::WrongResult => self.scale(|other| if other == step { 1.0 } else { by.apart }),
            Feedback::Unclear => {}
        }
        if answer.feedback != Feedback::WrongResult {
            self.scale(|other| if other == step { by.judged } else { 1.0 });
        }
    }

    fn scale(&mut self, factor: impl Fn(Step) -> f64) {
        for (step, weight) in self.steps.iter().zip(&mut self.weights) {
            *weight *= factor(*step);
        }
    }

    fn normalise(&mut self) {
        let all: f64 = self.weights.iter().sum();
        if all > 0.0 {
            self.weights.iter_mut().for_each(|weight| *weight /= all);
        }
    }

    /// Suspects the steps of a gap, also those on which the failure does not depend: something may be missing beside them.
    fn fill(&mut self, table: &Table, gap: Gap, judged: &[Judged]) {
        let is_judged =
            |step: &Step| judged.iter().any(|answer| answer.step == *step && answer.feedback != Feedback::Unclear);
        let inside =
            (gap.right.0 + 1..gap.wrong.0).map(Step).filter(|step| table.shown(*step) == *step && !is_judged(step));
        let inside: Vec<Step> = inside.take(MAX_GAP).collect();
        let Some(outer) = inside.iter().map(|step| table.level(*step)).min() else { return };
        let shares: Vec<f64> = inside.iter().map(|step| 0.5_f64.powi(i32::from(table.level(*step) - outer))).collect();
        let all: f64 = shares.iter().sum();
        let mut merged: std::collections::BTreeMap<Step, f64> =
            self.steps.iter().copied().zip(self.weights.iter().copied()).collect();
        for (step, share) in inside.into_iter().zip(shares) {
            *merged.entry(step).or_insert(0.0) += self.by.missing * gap.known * share / all;
        }
        (self.steps, self.weights) = merged.into_iter().unzip();
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
        let found = Suspects::new((&graph, &table), &wrong, all, &|_| 1.0, Weights::default());
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
        assert!(weights[1] + weights[3] < 0.05, "{weights:?}");
    }

    #[test]
    fn a_step_that_is_right_acquits_what_it_depends_on_and_is_no_proof() {
        let makers: &[&[u32]] = &[&[], &[1], &[], &[2, 3]];
        let wrong = judged(4, Feedback::WrongValue(vec![0, 1]), &[2, 3]);
        let weights = suspects(makers, &[wrong, judged(2, Feedback::Correct, &[1])]);
        assert!(weights[2] > 0.8 && weights[0] > 0.0, "{weights:?}");
    }

    #[test]
    fn between_a_right_value_and_its_wrong_use_something_is_missing() {
        // 4 uses the value of 1; 2 and 3 have nothing to do with it.
        let makers: &[&[u32]] = &[&[], &[], &[], &[1]];
        let all = [judged(4, Feedback::WrongValue(vec![0]), &[1]), judged(1, Feedback::Correct, &[])];
        let (_, table) = run(makers);
        assert_eq!(gap(&table, &all[..1]), None);
        assert_eq!(gap(&table, &all), Some(Gap { right: Step(1), wrong: Step(4), known: 1.0 }));
        let weights = suspects(makers, &all);
        assert!(weights[1] + weights[2] > 0.8, "{weights:?}");
    }
}
