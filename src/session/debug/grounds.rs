//! What recommendations are based on: the dependence graph of the run, and how suspicious its steps are.
//!
//! The graph takes a pass over the whole run, longer than any other part of the start. So it is built in a thread of its own
//! while the person reads the first question.

use crate::Failure;
use crate::recorded::failed;
use idd_explain::feedback::gap::Gap;
use idd_explain::feedback::recommend::{Recommendation, recommend};
use idd_explain::feedback::suspects::{Suspects, Weights};
use idd_explain::feedback::table::StepTable;
use idd_explain::feedback::{JudgedStep, gap};
use idd_trace::slice::Kinds;
use idd_trace::{Dependences, Step, Steps, TraceError, slice};
use std::collections::HashMap;
use std::sync::Arc;
use std::thread::JoinHandle;

/// Grounds that may still be built.
pub enum Building {
    /// In a thread.
    There(JoinHandle<Result<FailureGrounds, TraceError>>),
    /// They are built.
    Built(Box<FailureGrounds>),
}

impl Building {
    /// Begins to build them.
    ///
    /// - `graph`: reads the dependence graph.
    pub fn begin(
        graph: impl FnOnce() -> Result<Dependences, TraceError> + Send + 'static,
        table: Arc<StepTable>,
        failing: FailingStep,
    ) -> Self {
        Self::There(std::thread::spawn(move || Ok(FailureGrounds::new(graph()?, &table, failing))))
    }

    /// Waits for them.
    pub fn end(self) -> Result<FailureGrounds, Failure> {
        match self {
            Self::There(thread) => match thread.join() {
                Ok(built) => built.map_err(|error| failed(&error)),
                Err(_) => Err(Failure::error("the dependences of the run could not be read")),
            },
            Self::Built(grounds) => Ok(*grounds),
        }
    }
}

/// Where a run fails.
pub struct FailingStep {
    /// What was wrong, in the form of [slices](slice::backward).
    pub criteria: Vec<(Step, Step)>,
    /// How suspicious a statement is at first, where that is not 1.
    pub prior: HashMap<u32, f64>,
    /// Lines with assertions that held.
    pub held: Vec<Step>,
    /// How much more suspicious the steps are that made what is wrong at the first step that is judged, or decided for it.
    pub near: f64,
}

/// See the module.
pub struct FailureGrounds {
    /// The dependence graph, with potential dependences if they are known.
    pub graph: Dependences,
    /// The steps on which the failure depends.
    pub wrong: Steps,
    /// What is wrong, in the form of [slices](slice::backward).
    criteria: Vec<(Step, Step)>,
    /// After the answers that were heard.
    suspects: Suspects,
    /// Before the last of them.
    before: Option<Suspects>,
    heard: Vec<JudgedStep>,
    /// Whether all steps of the run are suspected.
    is_wide: bool,
    failing: FailingStep,
}

impl FailureGrounds {
    /// Of the graph of a run, and where the run fails.
    ///
    /// Cost: one pass over the graph.
    pub fn new(graph: Dependences, table: &StepTable, failing: FailingStep) -> Self {
        let wrong = slice::backward(&graph, &failing.criteria, Kinds::ALL);
        let suspects = unheard(&graph, table, &wrong, &failing);
        let criteria = failing.criteria.clone();
        Self { graph, wrong, criteria, suspects, before: None, heard: Vec::new(), is_wide: false, failing }
    }

    /// The steps on which the failure depends by what the run did, not by what it could have done.
    ///
    /// Cost: one pass over the graph.
    pub fn certain(&self) -> Steps {
        slice::backward(&self.graph, &self.criteria, Kinds { potential: false, ..Kinds::ALL })
    }

    /// Of the same run, if something else is wrong.
    #[must_use]
    pub fn with(self, table: &StepTable, criteria: &[(Step, Step)]) -> Self {
        let wrong = slice::backward(&self.graph, criteria, Kinds::ALL);
        let suspects = unheard(&self.graph, table, &wrong, &self.failing);
        Self { wrong, criteria: criteria.to_vec(), suspects, before: None, heard: Vec::new(), is_wide: false, ..self }
    }

    /// The next step after some answers; `None` if nothing is left. When all steps were judged on which the failure depends,
    /// and nothing says that code is missing, the other steps of the run are suspected: the graph lacks what went through
    /// a file, or what did not happen.
    ///
    /// Cost: one pass over the graph for each answer that is new, for all if two were taken back or all steps are
    /// suspected; and a [recommendation](recommend).
    pub fn recommend(&mut self, table: &StepTable, judged: &[JudgedStep]) -> Option<Recommendation> {
        if !judged.starts_with(&self.heard) {
            self.heard.pop();
            if let Some(before) = self.before.take().filter(|_| judged.starts_with(&self.heard) && !self.is_wide) {
                self.suspects = before;
            } else {
                self.suspects = unheard(&self.graph, table, &self.wrong, &self.failing);
                self.heard.clear();
                self.is_wide = false;
            }
        }
        for answer in &judged[self.heard.len()..] {
            self.before = Some(self.suspects.clone());
            self.suspects.hear(&self.graph, table, answer);
            if self.heard.is_empty() {
                self.suspects.favour(&self.graph, table, answer, self.failing.near);
            }
            self.heard.push(answer.clone());
        }
        let with_gap = self.suspects.with_gap(&self.graph, table, judged);
        let found = recommend(&self.graph, table, with_gap.as_ref().unwrap_or(&self.suspects), judged);
        if found.is_some() || self.is_wide || is_missing(&self.graph, table, judged) {
            return found.map(|found| if self.is_wide { found.elsewhere() } else { found });
        }
        self.widen(table, judged);
        recommend(&self.graph, table, &self.suspects, judged).map(Recommendation::elsewhere)
    }

    /// Suspects all steps of the run up to the failure.
    fn widen(&mut self, table: &StepTable, judged: &[JudgedStep]) {
        let mut all = Steps::new(self.graph.n_steps());
        let last = self.criteria.iter().map(|(step, _)| step.0).max().unwrap_or(0);
        (1..=last).map(Step).for_each(|step| {
            all.insert(step);
        });
        self.suspects = unheard(&self.graph, table, &all, &self.failing);
        for answer in judged {
            self.suspects.hear(&self.graph, table, answer);
        }
        self.is_wide = true;
    }
}

/// Whether the answers say that code is missing between a step that is right and one that uses a wrong value.
fn is_missing(graph: &Dependences, table: &StepTable, judged: &[JudgedStep]) -> bool {
    // Before a step that should not run, no step is known to be right.
    let is_after_right = |gap: &Gap| judged.iter().any(|answer| answer.step == gap.right && answer.is_clear());
    gap::find(graph, table, judged).as_ref().is_some_and(is_after_right)
}

/// How suspicious steps are before the first answer.
fn unheard(graph: &Dependences, table: &StepTable, wrong: &Steps, failing: &FailingStep) -> Suspects {
    let prior = |statement: u32| failing.prior.get(&statement).copied().unwrap_or(1.0);
    let mut suspects = Suspects::new(table, wrong, &prior, Weights::default());
    suspects.presume(graph, table, &failing.held);
    suspects
}
