//! `git idd debug`: asks a person about steps of a recorded run, and recommends the next one, until the first wrong step is found.
//!
//! A passing version answers silently where it can: values that are the same there are presumed to be right.

use crate::explain::align::Alignment;
use crate::explain::feedback::Feedback;
use crate::explain::feedback::Judged;
use crate::explain::feedback::recommend::Recommendation;
use crate::explain::feedback::recommend::State;
use crate::explain::feedback::recommend::recommend;
use crate::explain::feedback::simple;
use crate::explain::feedback::suspects::Suspects;
use crate::explain::feedback::table::Table;
use crate::explain::native::facts;
use crate::explain::native::facts::Facts;
use crate::explain::native::facts::Statements;
use crate::explain::native::recorded::Recorded;
use crate::report::Status;
use crate::session::context::Context;
use crate::session::explain::both::Both;
use crate::session::explain::both::with_both;
use crate::session::failure::Failure;
use crate::session::order::ExplainOrder;
use crate::session::recorded;
use crate::session::recorded::Which;
use crate::session::recorded::failed;
use crate::session::slice::Direction;
use crate::session::slice::criterion::Criterion;
use crate::session::sources::Sources;
use crate::session::talk::Talk;
use crate::trace::dependence::Dependences;
use crate::trace::native::relevant;
use crate::trace::run::Run;
use crate::trace::slice;
use crate::trace::slice::Kinds;
use crate::trace::step::Step;
use crate::trace::step::Steps;
use crate::world::record::store;
use crate::world::repo::locate::Location;
use std::path::PathBuf;

pub mod simulated;

/// What is debugged.
#[derive(Debug, Clone, PartialEq)]
pub struct DebugOrder {
    /// The recorded run.
    pub which: Which,
    /// Where the failure is seen; what is found first of a crash and the last step if it is `None`.
    pub from: Option<Criterion>,
    /// The file of the answers, in place of that beside the recording.
    pub answers: Option<PathBuf>,
    /// Whether earlier answers are forgotten.
    pub is_restarted: bool,
    /// Whether questions are asked by lines, also on a terminal.
    pub is_plain: bool,
    /// Two versions, in place of a recording.
    pub versions: Option<ExplainOrder>,
    /// The person is simulated: `expected` or `simple`, and `+help` if the passing version may answer, too.
    pub simulated: Option<String>,
}

/// A question to the person.
pub struct Question<'q> {
    /// Its number, from 1.
    pub nth: usize,
    /// The step, and why it is asked; `None` for the step at which the failure is seen, and one that the person chose.
    pub recommendation: Option<Recommendation>,
    /// What is known of it.
    pub facts: &'q Facts,
    /// What was said before.
    pub judged: &'q [Judged],
}

/// What a person answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// What is said of the step.
    Said(Feedback),
    /// The last answer is taken back.
    Undo,
    /// Another step is judged first.
    Jump(Step),
    /// That is all.
    Quit,
}

/// Who judges steps.
pub trait Person {
    /// Judges a step.
    fn judge(&mut self, question: &Question<'_>) -> Result<Reply, Failure>;

    /// Is told of a step that the passing version has as well.
    fn presumed(&mut self, facts: &Facts);
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// With the first wrong step.
    Found(Step),
    /// All steps that the failure depends on were judged, and none is the first wrong one.
    Exhausted,
    /// The person left.
    Left,
}

/// The passing version judges so many lines before a person is asked.
const MAX_SILENT: usize = 40;

/// A walk over a run.
pub struct Walk {
    /// The failing run.
    pub run: Recorded,
    /// The run of the passing version, and which steps correspond.
    pub passing: Option<(Recorded, Alignment)>,
    graph: Dependences,
    table: Table,
    /// The statements of the run.
    pub statements: Statements,
    wrong: Steps,
    /// The step at which the failure is seen.
    pub failure: Step,
    /// What was said, in order.
    pub judged: Vec<Judged>,
    /// Whether only dominators are followed.
    pub is_simple: bool,
}

impl Walk {
    /// Of a run that fails at some steps.
    ///
    /// Cost: three passes over the run.
    pub fn new(
        mut run: Recorded,
        passing: Option<(Recorded, Alignment)>,
        criteria: &[(Step, Step)],
    ) -> Result<Self, Failure> {
        let failure = criteria.iter().map(|(step, _)| *step).max().unwrap_or(Step::START);
        let before = run.run.said.iter().rev().map(|said| said.step).find(|step| *step < failure);
        let wrong = (failure, before.unwrap_or(Step::START));
        let relevant = relevant::dependences(&mut run.player, wrong).map_err(|error| failed(&error))?;
        let (graph, _skipped) = relevant;
        let statements = Statements::read(&mut run.player).map_err(|error| failed(&error))?;
        let table = Table::new(&run.run, statements.of_steps.clone(), &statements.lines);
        let wrong = slice::backward(&graph, criteria, Kinds::ALL);
        let failure = table.shown(failure);
        Ok(Self { run, passing, graph, table, statements, wrong, failure, judged: Vec::new(), is_simple: false })
    }

    /// The next step; `None` if nothing is left.
    pub fn next(&self) -> Option<Recommendation> {
        if self.judged.is_empty() {
            return Some(Recommendation { step: self.failure, state: State::SimpleInference, n_suspects: 0 });
        }
        let both = (&self.graph, &self.table);
        if self.is_simple
            && let Some(step) = simple::next(both, &self.judged)
        {
            return Some(Recommendation { step, state: State::SimpleInference, n_suspects: 0 });
        }
        let suspects = Suspects::new(both, &self.wrong, &self.judged, &|_| 1.0);
        recommend(both, &suspects, &self.judged)
    }

    /// The next step for a person whom the passing version helps: the first one on the way back that uses the same values as there, and gives
    /// other ones. What differs on the way there is taken as wrong for now; what is the same is told as presumed.
    ///
    /// Cost: the facts about at most [`MAX_SILENT`] lines, in both runs.
    pub fn next_helped(&mut self, presumed: &mut dyn FnMut(&Facts)) -> Result<Option<Recommendation>, Failure> {
        let known = self.judged.clone();
        let mut right = Vec::new();
        let mut found = None;
        for _ in 0..MAX_SILENT {
            let Some(next) = self.next().filter(|_| !known.is_empty()) else { break };
            let facts = self.facts(next.step)?;
            let Some(feedback) = self.silent(next.step)? else { break };
            if feedback == Feedback::WrongResult {
                found = Some(next);
                break;
            }
            if feedback == Feedback::Correct {
                presumed(&facts);
                right.push(facts.clone());
            }
            self.tell(&facts, feedback);
        }
        self.judged = known;
        for facts in right {
            self.tell(&facts, Feedback::Correct);
        }
        Ok(found.or_else(|| self.next()))
    }

    /// What is known of a step.
    pub fn facts(&mut self, step: Step) -> Result<Facts, Failure> {
        let found = facts::facts(&mut self.run, &self.table.members(step)).map_err(|error| failed(&error))?;
        found.ok_or_else(|| Failure::new(Status::Error, format!("there is no step {}", step.0)))
    }

    /// What the passing version says of a step.
    pub fn silent(&mut self, step: Step) -> Result<Option<Feedback>, Failure> {
        let Some((reference, alignment)) = &mut self.passing else { return Ok(None) };
        facts::judge((&mut self.run, reference), alignment, &self.table.members(step))
            .map(Some)
            .map_err(|error| failed(&error))
    }

    /// Takes an answer.
    pub fn tell(&mut self, facts: &Facts, feedback: Feedback) {
        let makers = facts.used.iter().map(|used| used.makers.clone()).collect();
        self.judged.push(Judged { step: facts.detail.standing.step, feedback, makers });
    }

    /// How many calls and loops are around a step.
    pub fn level(&self, step: Step) -> u16 {
        self.table.level(step)
    }

    /// Asks until the first wrong step is found.
    ///
    /// - `is_helped`: whether the passing version answers where it agrees.
    pub fn ask(&mut self, person: &mut dyn Person, is_helped: bool) -> Result<End, Failure> {
        let mut jump = None;
        let mut nth = 1;
        loop {
            let recommendation = match jump {
                Some(_) => None,
                None if is_helped => self.next_helped(&mut |facts| person.presumed(facts))?,
                None => self.next(),
            };
            let Some(step) = jump.take().or(recommendation.map(|found| found.step)) else {
                return Ok(End::Exhausted);
            };
            let facts = self.facts(step)?;
            let is_first = self.judged.is_empty();
            let recommendation = recommendation.filter(|found| found.step == step && !is_first);
            let question = Question { nth, recommendation, facts: &facts, judged: &self.judged };
            match person.judge(&question)? {
                Reply::Said(feedback) => {
                    let is_found = feedback == Feedback::WrongResult;
                    self.tell(&facts, feedback);
                    nth += 1;
                    if is_found {
                        return Ok(End::Found(step));
                    }
                }
                Reply::Undo => {
                    self.judged.pop();
                    jump = self.judged.is_empty().then_some(self.failure);
                }
                Reply::Jump(to) => {
                    let is_known = to != Step::START && to.0 <= self.run.run.n_steps();
                    jump = Some(if is_known { self.table.shown(to) } else { step });
                }
                Reply::Quit => return Ok(End::Left),
            }
        }
    }
}

/// The run of a recording, its sources, and the file where the answers of a walk from the same failure are kept.
pub fn of_recording(order: &DebugOrder, location: &Location) -> Result<(Walk, Sources, PathBuf), Failure> {
    let mut recorded = recorded::open(&order.which, location)?;
    let sources = Sources::new(location, &recorded.recording);
    let ended = recorded.traced().end;
    let player = &mut recorded.player;
    let find = |criterion: &Criterion, player: &mut _| criterion.find(player, ended, Direction::Backward, &sources);
    let found = match &order.from {
        Some(criterion) => find(criterion, player)?,
        None => find(&Criterion::Crash, player).or_else(|_| find(&Criterion::End, player))?,
    };
    let run = Run::read(player).map_err(|error| failed(&error))?;
    let walk = Walk::new(Recorded { player: recorded.player, run }, None, &found.steps)?;
    let place = store::directory(&location.session_directory()).join(&recorded.name);
    let kept = place.join(format!("walk-{}-{}.answers", recorded.process, walk.failure.0));
    Ok((walk, sources, kept))
}

/// Builds and runs two versions, and has the failing one debugged.
pub fn of_versions<T>(
    order: &ExplainOrder,
    location: &Location,
    context: &Context,
    talk: &mut dyn Talk,
    debug: impl FnOnce(Walk, &Versions) -> Result<T, Failure>,
) -> Result<T, Failure> {
    with_both(order, location, context, talk, |both, _| {
        let Both { failing, reference, alignment, failure, changed, pair } = both;
        let walk = Walk::new(failing, Some((reference, alignment)), &[(failure.step, Step(u32::MAX))])?;
        debug(walk, &Versions { changed, tree: pair.failing.0 })
    })
}

/// What is known of two versions besides their runs.
pub struct Versions {
    /// The lines of the failing version that the change touches.
    pub changed: crate::session::explain::change::Lines,
    /// The tree of the failing version.
    pub tree: crate::revision::TreeId,
}
