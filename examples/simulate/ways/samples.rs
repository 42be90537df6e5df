//! Small runs for tests.

use idd_explain::feedback::table::StepTable;
use idd_explain::feedback::{Feedback, JudgedStep};
use idd_trace::{DependenceKind, Dependences, Notes, Run, Step};

/// A run without calls and decisions, each step a statement of its own line.
///
/// - `makers`: by step, the steps that it uses values of.
pub fn run(makers: &[&[u32]]) -> (Dependences, StepTable) {
    let all: Vec<u32> = (1..).take(makers.len()).collect();
    run_of(makers, &all)
}

/// The same, with the number of the statement of each step, from 1.
pub fn run_of(makers: &[&[u32]], statements: &[u32]) -> (Dependences, StepTable) {
    let mut notes = Notes::default();
    for (step, makers) in (1..).zip(makers) {
        notes.step(Step::START);
        makers.iter().for_each(|maker| notes.uses(Step(step), Step(*maker), DependenceKind::Data));
    }
    let n = makers.len() + 1;
    let run = Run { leaders: vec![0; n], callers: vec![0; n], entries: vec![false; n], ..Run::default() };
    let statements: Vec<u32> = [0].iter().chain(statements).copied().collect();
    let lines: Vec<u32> = (0..).take(n).collect();
    (notes.pack().unwrap(), StepTable::new(&run, statements, &lines))
}

/// A step that uses values of these, each of which one step computed.
pub fn judged(step: u32, feedback: Feedback, makers: &[u32]) -> JudgedStep {
    JudgedStep { step: Step(step), feedback, makers: makers.iter().map(|maker| vec![Step(*maker)]).collect() }
}
