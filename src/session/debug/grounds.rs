//! What recommendations are based on: the dependence graph of the run, and how suspicious its steps are.
//!
//! The graph takes a pass over the whole run, longer than any other part of the start. So it is built in a thread of its own
//! while the person reads the first question.

use crate::explain::feedback::Judged;
use crate::explain::feedback::recommend::Recommendation;
use crate::explain::feedback::recommend::recommend;
use crate::explain::feedback::suspects::Suspects;
use crate::explain::feedback::suspects::Weights;
use crate::explain::feedback::table::Table;
use crate::report::Status;
use crate::session::failure::Failure;
use crate::session::recorded::failed;
use crate::trace::TraceError;
use crate::trace::dependence::Dependences;
use crate::trace::native::play::Player;
use crate::trace::native::relevant;
use crate::trace::slice;
use crate::trace::slice::Kinds;
use crate::trace::step::Step;
use crate::trace::step::Steps;
use std::thread::JoinHandle;

/// A graph that may still be built.
pub enum Building {
    /// In a thread.
    There(JoinHandle<Result<Dependences, TraceError>>),
    /// It is built.
    Built(Dependences),
}

impl Building {
    /// Begins to build the graph of a run.
    ///
    /// - `open`: opens the run once more.
    /// - `wrong`: see [`relevant::dependences`].
    pub fn begin(open: impl FnOnce() -> Result<Player, TraceError> + Send + 'static, wrong: (Step, Step)) -> Self {
        let build = move || relevant::dependences(&mut open()?, wrong).map(|(graph, _)| graph);
        Self::There(std::thread::spawn(build))
    }

    /// Builds the graph at once.
    pub fn here(player: &mut Player, wrong: (Step, Step)) -> Result<Self, Failure> {
        let (graph, _) = relevant::dependences(player, wrong).map_err(|error| failed(&error))?;
        Ok(Self::Built(graph))
    }

    /// Waits for it.
    pub fn end(self) -> Result<Dependences, Failure> {
        match self {
            Self::There(thread) => match thread.join() {
                Ok(built) => built.map_err(|error| failed(&error)),
                Err(_) => Err(Failure::new(Status::Error, "the dependences of the run could not be read")),
            },
            Self::Built(graph) => Ok(graph),
        }
    }
}

/// See the module.
pub struct Grounds {
    /// The dependence graph, with potential dependences.
    pub graph: Dependences,
    /// The steps on which the failure depends.
    pub wrong: Steps,
    /// After the answers that were heard.
    suspects: Suspects,
    /// Before the first answer.
    unheard: Suspects,
    heard: Vec<Judged>,
}

impl Grounds {
    /// Of a failure.
    ///
    /// - `prior`: how suspicious a statement is at first.
    ///
    /// Cost: one pass over the graph.
    pub fn new(graph: Dependences, table: &Table, criteria: &[(Step, Step)], prior: &dyn Fn(u32) -> f64) -> Self {
        let wrong = slice::backward(&graph, criteria, Kinds::ALL);
        let unheard = Suspects::new(table, &wrong, prior, Weights::default());
        Self { graph, wrong, suspects: unheard.clone(), unheard, heard: Vec::new() }
    }

    /// The next step after some answers; `None` if nothing is left.
    ///
    /// Cost: one pass over the graph for each answer that is new, for all if one was taken back; and a [recommendation](recommend).
    pub fn recommend(&mut self, table: &Table, judged: &[Judged]) -> Option<Recommendation> {
        if !judged.starts_with(&self.heard) {
            self.suspects = self.unheard.clone();
            self.heard.clear();
        }
        for answer in &judged[self.heard.len()..] {
            self.suspects.hear((&self.graph, table), answer);
            self.heard.push(answer.clone());
        }
        let with_gap = self.suspects.with_gap(table, judged);
        recommend((&self.graph, table), with_gap.as_ref().unwrap_or(&self.suspects), judged)
    }
}
