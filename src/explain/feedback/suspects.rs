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
use crate::explain::feedback::control;
use crate::explain::feedback::criteria;
use crate::explain::feedback::reached_line;
use crate::explain::feedback::table::Table;
use crate::trace::dependence::Dependences;
use crate::trace::dependence::Kind;
use crate::trace::reach;
use crate::trace::reach::MAX_SLICES;
use crate::trace::reach::Reached;
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
    /// What finding the line is worth, in bits.
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
            found: 3.0,
        }
    }
}

/// The steps of a gap that are suspected, at most.
const MAX_GAP: usize = 2000;

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
fn around(table: &Table, step: Step) -> HashSet<Step> {
    std::iter::successors(table.parent(step), |step| table.parent(*step)).map(|step| table.shown(step)).collect()
}

/// The latest gap: steps that computed a value were right, or it was right where it was used, and it was wrong where it was
/// used later. A call that passed the
/// value on, and is still open, does not count.
pub fn gap(table: &Table, judged: &[Judged]) -> Option<Gap> {
    let is_right = |maker: &Step| {
        let step = table.shown(*maker);
        judged.iter().any(|answer| answer.step == step && answer.feedback == Feedback::Correct)
    };
    let of_answer = |answer: &Judged| {
        let Feedback::WrongValue(wrong) = &answer.feedback else { return None };
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
    let is_wrong = |answer: &&Judged| matches!(answer.feedback, Feedback::WrongValue(_) | Feedback::WrongPath);
    let cut = |gap: Gap| {
        let around = around(table, gap.wrong);
        let wrong = judged.iter().filter(is_wrong).map(|answer| answer.step);
        let earliest = wrong.filter(|step| !around.contains(step)).min();
        Gap { wrong: earliest.unwrap_or(gap.wrong).min(gap.wrong), ..gap }
    };
    let gaps = judged.iter().rev().filter_map(of_answer).map(cut);
    gaps.into_iter().find(|gap| gap.right < gap.wrong)
}

/// The statements of the decisions that could have led to other values of what wrong steps use.
fn skipping((graph, table): (&Dependences, &Table), judged: &[Judged]) -> HashSet<u32> {
    let wrong = judged.iter().filter(|answer| matches!(answer.feedback, Feedback::WrongValue(_)));
    let makers = wrong.flat_map(|answer| table.members(answer.step)).flat_map(|step| graph.makers(step));
    let decisions = makers.filter(|(_, kind)| *kind == Kind::Potential);
    decisions.map(|(decision, _)| table.statement(table.shown(decision))).collect()
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
    pub fn new(table: &Table, wrong: &Steps, prior: &dyn Fn(u32) -> f64, by: Weights) -> Self {
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
    pub fn with_gap(&self, (graph, table): (&Dependences, &Table), judged: &[Judged]) -> Option<Self> {
        let gap = gap(table, judged)?;
        let mut suspects = self.clone();
        suspects.fill((graph, table), gap, judged);
        suspects.normalise(table);
        Some(suspects)
    }

    /// Takes lines for right of which the program itself says so.
    ///
    /// Cost: one pass over the graph; none without lines.
    pub fn presume(&mut self, (graph, table): (&Dependences, &Table), lines: &[Step]) {
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
    pub fn hear(&mut self, (graph, table): (&Dependences, &Table), answer: &Judged) {
        let by = self.by;
        let step = answer.step;
        let of = |steps: Vec<Step>| criteria(&steps, Step(step.0 + 1));
        let around: Vec<Step> =
            control((graph, table), step).into_iter().flat_map(|step| table.members(step)).collect();
        match &answer.feedback {
            Feedback::WrongValue(_) => {
                let slices = [of(answer.makers_of(true)), of(answer.makers_of(false)), of(around)];
                let reached = reach::backward(graph, &slices);
                self.scale(|step| match reached_line(&reached, table, step) {
                    slices if slices & 1 == 0 => by.apart,
                    1 => 1.0,
                    _ => by.beside,
                });
            }
            Feedback::WrongPath => {
                let reached = reach::backward(graph, &[of(around)]);
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
        let mut shares = vec![0.0; table.n_statements()];
        for (step, weight) in self.steps.iter().zip(&self.weights) {
            shares[table.statement(*step) as usize] += weight;
        }
        self.statements = (0..).zip(shares).filter(|(_, share)| *share > 0.0).collect();
    }

    /// Suspects the steps of a gap, also those on which the failure does not depend: something may be missing beside them.
    fn fill(&mut self, (graph, table): (&Dependences, &Table), gap: Gap, judged: &[Judged]) {
        let is_judged =
            |step: &Step| judged.iter().any(|answer| answer.step == *step && answer.feedback != Feedback::Unclear);
        let inside =
            (gap.right.0 + 1..gap.wrong.0).map(Step).filter(|step| table.shown(*step) == *step && !is_judged(step));
        let inside: Vec<Step> = inside.take(MAX_GAP).collect();
        let Some(outer) = inside.iter().map(|step| table.level(*step)).min() else { return };
        let skipping = skipping((graph, table), judged);
        // A step that should run confirms the decision because of which it runs, and so the path of the steps beside it.
        let is_on_path = |answer: &&Judged| answer.is_clear() && answer.feedback != Feedback::WrongPath;
        let on_path = judged.iter().filter(is_on_path).filter_map(|answer| control((graph, table), answer.step));
        let on_path: HashSet<Step> = on_path.collect();
        let right = judged.iter().filter(|answer| answer.feedback == Feedback::Correct);
        let right: Vec<u32> = right.map(|answer| table.statement(answer.step)).collect();
        let controls: Vec<Option<Step>> = inside.iter().map(|step| control((graph, table), *step)).collect();
        let decisions: HashSet<Step> = controls.iter().flatten().copied().collect();
        let share = |(step, control): (&Step, &Option<Step>)| {
            let of_level = 0.5_f64.powi(i32::from(table.level(*step) - outer));
            let is_confirmed = on_path.contains(step)
                || !decisions.contains(step) && control.is_some_and(|control| on_path.contains(&control));
            let by_path = if is_confirmed { self.by.on_path } else { 1.0 };
            let n_right = right.iter().filter(|statement| **statement == table.statement(*step)).count();
            let by_path = by_path * self.by.same_line.powi(i32::try_from(n_right).unwrap_or(i32::MAX));
            by_path * if skipping.contains(&table.statement(*step)) { self.by.skipped } else { of_level }
        };
        let shares: Vec<f64> = inside.iter().zip(&controls).map(share).collect();
        let all: f64 = shares.iter().sum();
        let mut merged: std::collections::BTreeMap<Step, f64> =
            self.steps.iter().copied().zip(self.weights.iter().copied()).collect();
        for (step, share) in inside.into_iter().zip(shares) {
            *merged.entry(step).or_insert(0.0) += self.by.missing * gap.known * share / all;
        }
        (self.steps, self.weights) = merged.into_iter().unzip();
    }

    /// How suspicious the steps of each slice are together, in the order of the slices.
    pub fn masses(&self, table: &Table, reached: &Reached) -> Vec<f64> {
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
    use crate::explain::feedback::samples::judged;
    use crate::explain::feedback::samples::run;
    use crate::trace::slice;
    use crate::trace::slice::Kinds;

    /// The suspicion of the steps of a run whose last one is wrong.
    fn suspects(makers: &[&[u32]], all: &[Judged]) -> Vec<f64> {
        let (graph, table) = run(makers);
        let wrong = slice::backward(&graph, &[(Step(graph.n_steps()), Step(u32::MAX))], Kinds::ALL);
        let mut found = Suspects::new(&table, &wrong, &|_| 1.0, Weights::default());
        for answer in all {
            found.hear((&graph, &table), answer);
        }
        let found = found.with_gap((&graph, &table), all).unwrap_or(found);
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
    fn a_value_that_was_right_at_one_use_and_wrong_at_a_later_one_should_have_changed_between_them() {
        // 2 and 5 use the value of 1.
        let (_, table) = run(&[&[], &[1], &[], &[], &[1]]);
        let all = [judged(5, Feedback::WrongValue(vec![0]), &[1]), judged(2, Feedback::Correct, &[1])];
        assert_eq!(gap(&table, &all), Some(Gap { right: Step(2), wrong: Step(5), known: 1.0 }));
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
