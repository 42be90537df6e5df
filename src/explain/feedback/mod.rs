//! The debugger that asks: a person says of some steps whether they are right, and the search recommends the next one.
//!
//! What is looked for is the *ringleader*: the first step that does something else than it should. A step can be *correct*, can
//! use a *wrong value*, can be on a *wrong path* (it should not run at all), can give a wrong result although all that it uses is
//! right (then it is the ringleader), or the person cannot tell (*unclear*).
//!
//! The engine is pure: it knows the dependence graph of a run, and where each step stands in the tree of calls and loops. Values
//! are for the person who judges.
//!
//! Source: Lin, Sun, Xue, Liu and Dong 2017, "Feedback-Based Debugging" (Microbat). Deviation: the recommended step is the
//! one whose answer is expected to say most ([`recommend`]), which contains their inference of patterns: equal iterations of
//! a loop share one suspicion.

pub mod gap;
pub mod recommend;
pub mod suspects;
pub mod table;

#[cfg(test)]
mod samples;

use std::collections::BTreeSet;

use crate::feedback::table::StepTable;
use idd_trace::reach::Reached;
use idd_trace::{Dependences, Step};

/// What is said of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Feedback {
    /// It should run, and all that it uses and computes is right.
    Correct,
    /// Some of the values that it uses are wrong: their numbers.
    WrongValue(Vec<usize>),
    /// All that it uses is right, but not what it computes or decides: it is the ringleader.
    WrongResult,
    /// It should not run.
    WrongPath,
    /// It cannot be told.
    Unclear,
}

/// A step that was judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedStep {
    /// The first step of its line.
    pub step: Step,
    /// What was said of it.
    pub feedback: Feedback,
    /// For each value that it uses: the steps that computed it.
    pub makers: Vec<Vec<Step>>,
}

impl JudgedStep {
    /// Whether it is clear.
    pub fn is_clear(&self) -> bool {
        self.feedback != Feedback::Unclear
    }

    /// Whether it says that the value that some steps computed is right where it is used.
    fn is_right(&self, value: &[Step]) -> bool {
        let is_wrong = |index: usize| matches!(&self.feedback, Feedback::WrongValue(wrong) if wrong.contains(&index));
        let is_judged = matches!(self.feedback, Feedback::Correct | Feedback::WrongResult | Feedback::WrongValue(_));
        is_judged && self.values(value).any(|index| !is_wrong(index))
    }

    /// Whether it says that this value is wrong.
    fn is_wrong(&self, value: &[Step]) -> bool {
        matches!(&self.feedback, Feedback::WrongValue(wrong) if self.values(value).any(|index| wrong.contains(&index)))
    }

    /// The numbers of a value that some steps computed; none if no step did.
    fn values(&self, value: &[Step]) -> impl Iterator<Item = usize> + '_ {
        let set = |of: &[Step]| of.iter().copied().filter(|step| *step != Step::START).collect::<BTreeSet<Step>>();
        let value = set(value);
        let is_same = move |makers: &Vec<Step>| !value.is_empty() && set(makers) == value;
        self.makers.iter().enumerate().filter(move |(_, makers)| is_same(makers)).map(|(index, _)| index)
    }
    /// The steps that computed the values that are wrong, or right.
    pub fn makers_of(&self, is_wrong: bool) -> Vec<Step> {
        let Feedback::WrongValue(wrong) = &self.feedback else { return Vec::new() };
        let makers = self.makers.iter().enumerate().filter(|(index, _)| wrong.contains(index) == is_wrong);
        makers.flat_map(|(_, makers)| makers.iter().copied()).filter(|maker| *maker != Step::START).collect()
    }
}

/// The earlier answer that the last one contradicts, by its index: another one about the same step, or one by which a value is
/// wrong at an earlier step than that where it is right. A value that is right first and wrong later is a gap instead.
pub fn contradicted(judged: &[JudgedStep]) -> Option<usize> {
    let (last, before) = judged.split_last().filter(|(last, _)| last.is_clear())?;
    let is_against = |other: &JudgedStep| {
        let (early, late) = if other.step < last.step { (other, last) } else { (last, other) };
        let is_other = other.step == last.step && other.feedback != last.feedback;
        is_other
            || early.step < late.step && early.makers.iter().any(|value| early.is_wrong(value) && late.is_right(value))
    };
    before.iter().rposition(|other| other.is_clear() && is_against(other))
}

/// The decision because of which a step runs, or the call of its function, as a person looks at it.
pub fn control(graph: &Dependences, table: &StepTable, step: Step) -> Option<Step> {
    let found = graph.makers(step).find(|(maker, kind)| !kind.is_flow() && *maker != Step::START);
    found.map(|(maker, _)| table.shown(maker)).filter(|control| *control != step)
}

/// The criteria of the slice of what some steps computed before `until`.
fn criteria(steps: &[Step], until: Step) -> Vec<(Step, Step)> {
    steps.iter().map(|step| (*step, if *step > until { Step(u32::MAX) } else { until })).collect()
}

/// The slices that a line is in.
fn reached_line(reached: &Reached, table: &StepTable, line: Step) -> u64 {
    table.chain(line).fold(0, |all, step| all | reached.of(step))
}

#[cfg(test)]
mod tests {
    use super::samples::judged;
    use super::*;

    #[test]
    fn a_value_cannot_be_wrong_and_right_later() {
        let wrong = judged(3, Feedback::WrongValue(vec![1]), &[1, 2]);
        let right = judged(5, Feedback::Correct, &[2]);
        assert_eq!(contradicted(&[wrong.clone(), right.clone()]), Some(0));
        assert_eq!(contradicted(&[right.clone(), wrong.clone()]), Some(0));
        // It is another value, it is right first, or nothing is said of it.
        let cases = [
            judged(5, Feedback::Correct, &[1]),
            judged(2, Feedback::Correct, &[2]),
            judged(5, Feedback::Unclear, &[2]),
            judged(5, Feedback::WrongPath, &[2]),
            judged(5, Feedback::Correct, &[0]),
        ];
        for other in cases {
            assert_eq!(contradicted(&[wrong.clone(), other.clone()]), None, "{other:?}");
        }
    }

    #[test]
    fn a_step_has_one_answer() {
        let all = [Feedback::Correct, Feedback::Unclear, Feedback::WrongPath].map(|said| judged(3, said, &[]));
        assert_eq!(contradicted(&all), Some(0));
        assert_eq!(contradicted(&all[..2]), None);
    }
}
