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
//! a loop share one suspicion. Their state machine is a baseline ([`microbat`]), and so are its simple inference alone
//! ([`simple`]) and what people do without it ([`baselines`]).

pub mod baselines;
pub mod microbat;
pub mod recommend;
pub mod simple;
pub mod suspects;
pub mod table;

#[cfg(test)]
mod samples;

use crate::explain::feedback::table::Table;
use crate::trace::dependence::Dependences;
use crate::trace::reach::Reached;
use crate::trace::slice;
use crate::trace::slice::Kinds;
use crate::trace::step::Step;
use crate::trace::step::Steps;

/// How the next step is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// By what its answer is expected to say: [`recommend`].
    #[default]
    Expected,
    /// By the state machine of the paper: [`microbat`].
    Microbat,
    /// By dominators, with those that were not tried taken up at a dead end: [`simple`].
    Dominators,
    /// In the order of the slice, from the failure on: [`baselines::slicing`].
    Slicing,
    /// So that the slice is halved: [`baselines::divide`].
    Divide,
}

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
pub struct Judged {
    /// The first step of its line.
    pub step: Step,
    /// What was said of it.
    pub feedback: Feedback,
    /// For each value that it uses: the steps that computed it.
    pub makers: Vec<Vec<Step>>,
}

impl Judged {
    /// The steps that computed the values that are wrong, or right.
    pub fn makers_of(&self, is_wrong: bool) -> Vec<Step> {
        let Feedback::WrongValue(wrong) = &self.feedback else { return Vec::new() };
        let makers = self.makers.iter().enumerate().filter(|(index, _)| wrong.contains(index) == is_wrong);
        makers.flat_map(|(_, makers)| makers.iter().copied()).filter(|maker| *maker != Step::START).collect()
    }
}

/// The decision because of which a step runs, or the call of its function, as a person looks at it.
pub fn control((graph, table): (&Dependences, &Table), step: Step) -> Option<Step> {
    let found = graph.makers(step).find(|(maker, kind)| !kind.is_flow() && *maker != Step::START);
    found.map(|(maker, _)| table.shown(maker)).filter(|control| *control != step)
}

/// The criteria of the slice of what some steps computed before `until`.
fn criteria(steps: &[Step], until: Step) -> Vec<(Step, Step)> {
    steps.iter().map(|step| (*step, if *step > until { Step(u32::MAX) } else { until })).collect()
}

/// The slices that a line is in.
fn reached_line(reached: &Reached, table: &Table, line: Step) -> u64 {
    table.chain(line).fold(0, |all, step| all | reached.of(step))
}

/// All steps that what some steps computed before `until` depends on, with these themselves, as a person looks at them.
fn behind((graph, table): (&Dependences, &Table), steps: &[Step], until: Step) -> Steps {
    table.shown_of(&slice::backward(graph, &criteria(steps, until), Kinds::ALL))
}
