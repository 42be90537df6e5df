//! How suspicious each step is, by all that was said.
//!
//! A hypothesis is a step: it is the first one at which the fault of its line shows. All lines have equal shares, divided
//! among their steps: the earlier a step, the larger its part. Each answer multiplies: steps on which a wrong value does not
//! depend become less suspicious, and those on which a right one depends. Neither is taken as proof: a value can come out
//! right by chance, and a person can err. So steps that became less suspicious are asked about when the others were judged.
//! Shares by the distance from the failure, or from the earliest wrong value, were tried; both need more answers.

use std::collections::HashMap;

use crate::feedback::table::StepTable;
use crate::feedback::{Feedback, JudgedStep, control, criteria, gap, reached_line};
use idd_trace::reach::{self, MAX_SLICES, Reached};
use idd_trace::{Dependences, Step, Steps};

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
    /// Steps on which an assertion depends that held: it says little of each value.
    pub held: f64,
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
    /// A step of a gap that may have skipped what is missing, beside one that is in no more calls and loops than any other.
    pub skipped: f64,
    /// A step of a gap beside one that should run.
    pub on_path: f64,
    /// What finding the step is worth, in bits.
    pub found: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            apart: 0.01,
            acquitted: 0.12,
            beside: 0.35,
            held: 0.5,
            judged: 1e-6,
            same_line: 0.2,
            shows: 0.5,
            alike: 0.5,
            missing: 9.0,
            skipped: 8.0,
            on_path: 0.1,
            found: 50.0,
        }
    }
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
    /// Before the first answer.
    ///
    /// - `wrong`: the steps on which the failure depends.
    /// - `prior`: how suspicious a statement is at first.
    ///
    /// Cost: 12 bytes for each of the steps.
    pub fn new(table: &StepTable, wrong: &Steps, prior: &dyn Fn(u32) -> f64, by: Weights) -> Self {
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
        suspects.normalise(table);
        suspects
    }

    /// With what a gap between right and wrong values adds; `None` if there is none.
    pub fn with_gap(&self, graph: &Dependences, table: &StepTable, judged: &[JudgedStep]) -> Option<Self> {
        let gap = gap::find(graph, table, judged)?;
        let mut suspects = self.clone();
        suspects.fill(&gap.shares(graph, table, judged, self.by));
        suspects.normalise(table);
        Some(suspects)
    }

    /// Takes lines for right of which the program itself says so.
    ///
    /// Cost: one pass over the graph; none without lines.
    pub fn presume(&mut self, graph: &Dependences, table: &StepTable, lines: &[Step]) {
        if lines.is_empty() {
            return;
        }
        let members: Vec<Step> = lines.iter().flat_map(|line| table.members(*line)).collect();
        let reached = reach::backward(graph, &[criteria(&members, Step(u32::MAX))]);
        let held = self.by.held;
        self.scale(|step| if reached_line(&reached, table, step) == 0 { 1.0 } else { held });
        self.normalise(table);
    }

    /// Takes one more answer.
    ///
    /// Cost: one pass over the graph.
    pub fn hear(&mut self, graph: &Dependences, table: &StepTable, answer: &JudgedStep) {
        let by = self.by;
        let step = answer.step;
        let of = |steps: Vec<Step>| criteria(&steps, Step(step.0 + 1));
        let around: Vec<Step> = control(graph, table, step).into_iter().flat_map(|step| table.members(step)).collect();
        match &answer.feedback {
            Feedback::WrongValue(_) => {
                let slices = [of(answer.makers_of(true)), of(answer.makers_of(false)), of(around)];
                let reached = reach::backward(graph, &slices);
                self.admit(table, &reached, step);
                self.scale(|step| match reached_line(&reached, table, step) {
                    slices if slices & 1 == 0 => by.apart,
                    1 => 1.0,
                    _ => by.beside,
                });
            }
            Feedback::WrongPath => {
                let reached = reach::backward(graph, &[of(around)]);
                self.admit(table, &reached, step);
                self.scale(|step| if reached_line(&reached, table, step) == 0 { by.apart } else { 1.0 });
            }
            Feedback::Correct => {
                let reached = reach::backward(graph, &[criteria(&table.members(step), Step(u32::MAX))]);
                self.scale(|step| if reached_line(&reached, table, step) == 0 { 1.0 } else { by.acquitted });
                let statement = table.statement(step);
                self.scale(|step| if table.statement(step) == statement { by.same_line } else { 1.0 });
            }
            Feedback::WrongResult => self.scale(|other| if other == step { 1.0 } else { by.apart }),
            Feedback::Unclear => {}
        }
        if !matches!(answer.feedback, Feedback::WrongResult | Feedback::Unclear) {
            self.scale(|other| if other == step { by.judged } else { 1.0 });
        }
        self.normalise(table);
    }

    /// Suspects the steps of the first slice, too, if the failure does not depend on the step that was judged: something is
    /// wrong there all the same. Together they are as suspicious as all others.
    fn admit(&mut self, table: &StepTable, reached: &Reached, judged: Step) {
        if self.steps.binary_search(&judged).is_ok() {
            return;
        }
        let is_new = |step: &Step| {
            table.shown(*step) == *step
                && reached_line(reached, table, *step) & 1 == 1
                && self.steps.binary_search(step).is_err()
        };
        let new: Vec<Step> = (1..=judged.0).map(Step).filter(is_new).collect();
        #[expect(clippy::cast_precision_loss, reason = "a run has fewer steps than 2^52")]
        let share = 1.0 / new.len().max(1) as f64;
        self.fill(&new.into_iter().map(|step| (step, share)).collect::<Vec<_>>());
    }

    /// Suspects the steps more that made the values which are wrong by an answer, or that decided for its step.
    pub fn favour(&mut self, graph: &Dependences, table: &StepTable, answer: &JudgedStep, factor: f64) {
        let decided = control(graph, table, answer.step).filter(|_| answer.feedback == Feedback::WrongPath);
        let makers = answer.makers_of(true).into_iter().map(|maker| table.shown(maker));
        let near: Vec<Step> = makers.chain(decided).collect();
        self.scale(|step| if near.contains(&step) { factor } else { 1.0 });
        self.normalise(table);
    }

    fn scale(&mut self, factor: impl Fn(Step) -> f64) {
        for (step, weight) in self.steps.iter().zip(&mut self.weights) {
            *weight *= factor(*step);
        }
    }

    fn normalise(&mut self, table: &StepTable) {
        let all: f64 = self.weights.iter().sum();
        if all > 0.0 {
            self.weights.iter_mut().for_each(|weight| *weight /= all);
        }
        let mut shares = vec![0.0; table.n_statements()];
        for (step, weight) in self.steps.iter().zip(&self.weights) {
            shares[table.statement(*step) as usize] += weight;
        }
        self.statements = (0..).zip(shares).filter(|(_, share)| *share > 0.0).collect();
    }

    /// Suspects the steps of a gap, also those on which the failure does not depend: something may be missing beside them.
    fn fill(&mut self, shares: &[(Step, f64)]) {
        let mut merged = Vec::with_capacity(self.steps.len() + shares.len());
        let mut known = self.steps.iter().copied().zip(self.weights.iter().copied()).peekable();
        for (step, share) in shares {
            merged.extend(std::iter::from_fn(|| known.next_if(|(other, _)| other < step)));
            let before = known.next_if(|(other, _)| other == step).map_or(0.0, |(_, weight)| weight);
            merged.push((*step, before + share));
        }
        merged.extend(known);
        (self.steps, self.weights) = merged.into_iter().unzip();
    }

    /// How suspicious the steps of each slice are together, in the order of the slices.
    pub fn masses(&self, table: &StepTable, reached: &Reached) -> Vec<f64> {
        // Steps near each other are in the same slices.
        let mut sums: HashMap<u64, f64> = HashMap::new();
        let (mut last, mut sum) = (0, 0.0);
        for (step, weight) in self.steps.iter().zip(&self.weights) {
            let slices = reached_line(reached, table, *step);
            if slices != last {
                *sums.entry(last).or_insert(0.0) += sum;
                (last, sum) = (slices, 0.0);
            }
            sum += weight;
        }
        *sums.entry(last).or_insert(0.0) += sum;
        let of_slice = |bit: usize| sums.iter().filter(|(slices, _)| *slices >> bit & 1 == 1).map(|(_, sum)| sum).sum();
        (0..MAX_SLICES).map(of_slice).collect()
    }

    /// How suspicious a step is.
    pub fn weight(&self, step: Step) -> f64 {
        self.steps.binary_search(&step).map_or(0.0, |index| self.weights[index])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::samples::{judged, run};
    use idd_trace::slice;
    use idd_trace::slice::Kinds;

    /// The suspicion of the steps of a run whose last one is wrong.
    fn suspects(makers: &[&[u32]], all: &[JudgedStep]) -> Vec<f64> {
        let (graph, table) = run(makers);
        let wrong = slice::backward(&graph, &[(Step(graph.n_steps()), Step(u32::MAX))], Kinds::ALL);
        let mut found = Suspects::new(&table, &wrong, &|_| 1.0, Weights::default());
        for answer in all {
            found.hear(&graph, &table, answer);
        }
        let found = found.with_gap(&graph, &table, all).unwrap_or(found);
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
    fn the_steps_that_made_a_wrong_value_are_favoured_and_those_of_a_right_one_not() {
        // 4 uses 2, which comes from 1, and 3.
        let (graph, table) = run(&[&[], &[1], &[], &[2, 3]]);
        let wrong = slice::backward(&graph, &[(Step(4), Step(u32::MAX))], Kinds::ALL);
        let mut found = Suspects::new(&table, &wrong, &|_| 1.0, Weights::default());
        let answer = judged(4, Feedback::WrongValue(vec![0]), &[2, 3]);
        found.hear(&graph, &table, &answer);
        let before = found.weight(Step(3));
        found.favour(&graph, &table, &answer, 20.0);
        assert!(found.weight(Step(2)) > 0.9, "{:?}", found.weights);
        assert!(found.weight(Step(3)) < before, "{:?}", found.weights);
    }

    #[test]
    fn what_a_wrong_value_comes_from_is_suspected_although_the_failure_does_not_depend_on_it() {
        // 4 fails because of 1; 3 uses 2.
        let makers: &[&[u32]] = &[&[], &[], &[2], &[1]];
        let weights = suspects(makers, &[judged(3, Feedback::WrongValue(vec![0]), &[2])]);
        assert!(weights[1] > 0.9, "{weights:?}");
    }

    #[test]
    fn between_a_right_value_and_its_wrong_use_something_is_missing() {
        // 4 uses the value of 1; 2 and 3 have nothing to do with it.
        let makers: &[&[u32]] = &[&[], &[], &[], &[1]];
        let all = [judged(4, Feedback::WrongValue(vec![0]), &[1]), judged(1, Feedback::Correct, &[])];
        let weights = suspects(makers, &all);
        assert!(weights[1] + weights[2] > 0.8, "{weights:?}");
    }
}
