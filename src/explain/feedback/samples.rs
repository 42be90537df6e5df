//! Small runs for tests.

use crate::feedback::table::StepTable;
use crate::feedback::{Feedback, JudgedStep};
use idd_trace::dependence::graph;
use idd_trace::{Dependences, Run, Step};

/// A run without calls and decisions, each step a statement of its own line.
///
/// - `makers`: by step, the steps that it uses values of.
pub(super) fn run(makers: &[&[u32]]) -> (Dependences, StepTable) {
    let n_steps = u32::try_from(makers.len()).unwrap();
    let pairs = (1..).zip(makers).flat_map(|(user, makers)| makers.iter().map(move |maker| (user, *maker)));
    let n = makers.len() + 1;
    let run = Run { leaders: vec![0; n], callers: vec![0; n], entries: vec![false; n], ..Run::default() };
    let lines: Vec<u32> = (0..=n_steps).collect();
    (graph(n_steps, &pairs.collect::<Vec<_>>()), StepTable::new(&run, lines.clone(), &lines))
}

/// A step that uses values of these, each of which one step computed.
pub(super) fn judged(step: u32, feedback: Feedback, makers: &[u32]) -> JudgedStep {
    JudgedStep { step: Step(step), feedback, makers: makers.iter().map(|maker| vec![Step(*maker)]).collect() }
}
