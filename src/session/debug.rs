//! `git idd debug`: asks a person about steps of a recorded run, and recommends the next one, until the first wrong step is found.
//!
//! A passing version answers silently where it can: it leads to the first step that does something else with the same
//! values, and values that are the same there are presumed to be right.

use crate::Failure;
use crate::debug::any_run::Walked;
use crate::debug::calls::CallIndex;
use crate::debug::expect::{Expectation, ExpectationCheck};
use crate::debug::grounds::{Building, FailingStep, FailureGrounds};
use crate::debug::passing::PassingRun;
use crate::debug::seek::{Seek, StepSeeker};
use crate::explain::change::LinesByPath;
use crate::recorded::order::{ExplainOrder, RecordOrder};
use crate::recorded::{ProcessChoice, failed};
use crate::slice::criterion::Criterion;
use idd_base::TreeId;
use idd_explain::comparison::{Comparison, DifferingStep};
use idd_explain::facts::StepFacts;
use idd_explain::feedback::recommend::{Recommendation, RecommendationState};
use idd_explain::feedback::table::StepTable;
use idd_explain::feedback::{Feedback, JudgedStep, contradicted, gap};
use idd_explain::statements::Statements;
use idd_trace::Step;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub mod answer_lines;
pub mod any_run;
mod asserted;
pub mod begin;
pub mod calls;
pub mod expect;
pub mod explained;
pub mod grounds;
mod helped;
pub mod passing;
mod recent;
pub mod recording;
pub mod reply;
pub mod seek;

/// What is debugged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DebugOrder {
    /// The recorded run.
    pub which: ProcessChoice,
    /// How a test is recorded first, in place of the recording.
    pub record: Option<RecordOrder>,
    /// What holds at lines.
    pub expected: Vec<Expectation>,
    /// Where the failure is seen; what is found first of a crash and the last step if it is `None`.
    pub from: Option<Criterion>,
    /// The file of the answers, in place of that beside the recording; `-` for standard input.
    pub answers: Option<PathBuf>,
    /// A recording in which the test passed.
    pub passing: Option<String>,
    /// Whether earlier answers are forgotten.
    pub is_restarted: bool,
    /// Whether questions are asked by lines, also on a terminal.
    pub is_plain: bool,
    /// Two versions, in place of a recording.
    pub versions: Option<ExplainOrder>,
}

/// A question to the person.
pub struct StepQuestion<'q> {
    /// Its number, from 1.
    pub nth: usize,
    /// The step, and why it is asked; `None` for the step at which the failure is seen, and one that the person chose.
    pub recommendation: Option<Recommendation>,
    /// What is known of it.
    pub facts: &'q StepFacts,
    /// What was said before.
    pub judged: &'q [JudgedStep],
    /// The values that are the same in the passing version: their indices. Presumed to be right.
    pub presumed: Vec<usize>,
    /// The values that are as the person expects: their indices.
    pub expected: Vec<usize>,
    /// The calls and loops of the run.
    pub calls: CallIndex<'q>,
    /// What came of the last wish to go to a step, if that needs words.
    pub note: Option<String>,
}

/// What a person answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PersonReply {
    /// What is said of the step.
    Said(Feedback),
    /// Code is missing before the step.
    Missing,
    /// The last answer is taken back.
    Undo,
    /// Another step is judged first.
    Jump(Step),
    /// Another step is looked for, and judged first.
    Seek(Seek),
    /// That is all.
    Quit,
}

/// Why a step is recommended, for a person.
pub fn reason(state: RecommendationState) -> &'static str {
    match state {
        RecommendationState::SimpleInference => "it gave a wrong value, or decided for what followed",
        RecommendationState::PatternInference => "its answer says most about what is left",
        RecommendationState::InspectDetails => "it lies between a step that is right and one that uses a wrong value",
        RecommendationState::ClarityInference => "it is around the step that was unclear",
        RecommendationState::Elsewhere => {
            "the steps that the failure depends on were judged, and none is the first wrong one"
        }
        RecommendationState::FirstDifference => {
            "with the same values, the passing version does something else here, or more after it"
        }
    }
}

/// Who judges steps.
pub trait StepJudge {
    /// Judges a step.
    fn judge(&mut self, question: &StepQuestion<'_>) -> Result<PersonReply, Failure>;

    /// Whether a search that has come to a step in this time is given up. Asked several times a second.
    fn stops(&mut self, _at: Step, elapsed: Duration) -> bool {
        elapsed > MAX_SEARCH
    }
}

/// The wrong value that no step computed: an initial value, an argument of the program, memory that was never written.
pub fn given(facts: &StepFacts, feedback: &Feedback) -> Option<usize> {
    let Feedback::WrongValue(wrong) = feedback else { return None };
    let is_given = |index: &&usize| {
        let used = facts.used.get(**index);
        used.is_some_and(|used| used.origin.is_some() && used.makers.iter().all(|maker| *maker == Step::START))
    };
    wrong.iter().find(is_given).copied()
}

fn judged(facts: &StepFacts, feedback: Feedback) -> JudgedStep {
    let makers = facts.used.iter().map(|used| used.makers.clone()).collect();
    JudgedStep { step: facts.detail.standing.step, feedback, makers }
}

/// What is wrong at the first wrong step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    /// It computes a wrong value from right ones.
    Value,
    /// It decides wrongly.
    Decision,
    /// Code is missing before it.
    Missing,
    /// A value that it uses was wrong before the run began: its index.
    Given(usize),
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WalkEnd {
    /// With the first wrong step, and what is wrong there.
    Found(Step, Bug),
    /// All steps that the failure depends on were judged, and none is the first wrong one.
    Exhausted,
    /// The steps that are left were unclear each time they were asked about.
    Unclear,
    /// The person left.
    Left,
}

/// A step that was unclear so often is not asked about again.
const MAX_UNCLEAR: usize = 4;

/// A search by a person that cannot stop it takes so long.
const MAX_SEARCH: Duration = Duration::from_secs(10);

/// A walk over a run.
pub struct DebugWalk {
    /// The failing run.
    pub run: Walked,
    /// The run of the passing version.
    pub passing: Option<PassingRun>,
    /// Where its steps stand.
    pub table: Arc<StepTable>,
    /// The statements of the run.
    pub statements: Statements,
    building: Option<Building>,
    grounds: Option<FailureGrounds>,
    /// The step at which the failure is seen.
    pub failure: Step,
    /// Where the chain from the change to the failure begins, if that is known.
    pub first: Option<Step>,
    /// What was said, in order.
    pub judged: Vec<JudgedStep>,
    /// The version that was recorded, if it is known.
    pub tree: Option<TreeId>,
    /// What was found at last.
    pub explanation: Option<idd_report::walk::FinishedWalk>,
    /// Where the expectations of the person hold, and the assertion that failed.
    pub expected: Vec<ExpectationCheck>,
    /// The assertions in the lines that ran, by the number of their statements.
    assertions: HashMap<u32, String>,
    /// What the passing version said of steps.
    silent: HashMap<Step, Comparison>,
    divergences: Option<Vec<DifferingStep>>,
}

impl DebugWalk {
    /// Of a run that fails at some steps.
    ///
    /// Cost: two passes over the run.
    pub fn new(mut run: Walked, passing: Option<PassingRun>, criteria: &[(Step, Step)]) -> Result<Self, Failure> {
        let statements = run.statements().map_err(|error| failed(&error))?;
        let table = Arc::new(StepTable::new(run.outline(), statements.of_steps.clone(), &statements.lines));
        let output = begin::last_output(run.outline(), criteria);
        let near = run.near();
        let prior = begin::prior(&statements, |_| None, &LinesByPath::new(), None);
        let failing = FailingStep { criteria: criteria.to_vec(), prior, held: Vec::new(), near };
        let graph = run.graph(output).map_err(|error| failed(&error))?;
        let grounds = FailureGrounds::new(graph, &table, failing);
        Ok(Self::of(run, statements, table, Building::Built(Box::new(grounds)), passing, output.0))
    }

    fn of(
        run: Walked,
        statements: Statements,
        table: Arc<StepTable>,
        building: Building,
        passing: Option<PassingRun>,
        failure: Step,
    ) -> Self {
        let failure = table.shown(failure);
        Self {
            run,
            passing,
            table,
            statements,
            building: Some(building),
            grounds: None,
            failure,
            first: None,
            judged: Vec::new(),
            tree: None,
            explanation: None,
            expected: Vec::new(),
            assertions: HashMap::new(),
            silent: HashMap::new(),
            divergences: None,
        }
    }

    /// What recommendations are based on.
    pub fn grounds(&mut self) -> Result<&mut FailureGrounds, Failure> {
        if let Some(building) = self.building.take() {
            self.grounds = Some(building.end()?);
        }
        let missing = || Failure::error("the dependences of the run could not be read");
        self.grounds.as_mut().ok_or_else(missing)
    }

    /// The next step; `None` if nothing is left.
    ///
    /// Cost: two passes over the graph after a new answer, more of a short run; and what [`FailureGrounds`] cost the first time.
    pub fn recommend(&mut self) -> Result<Option<Recommendation>, Failure> {
        if self.judged.is_empty() {
            return Ok(Some(Recommendation {
                step: self.failure,
                state: RecommendationState::SimpleInference,
                n_suspects: 0,
            }));
        }
        self.grounds()?;
        let Some(grounds) = &mut self.grounds else { return Ok(None) };
        Ok(grounds.recommend(&self.table, &self.judged))
    }

    fn is_clear(&self, step: Step) -> bool {
        self.judged.iter().any(|answer| answer.step == step && answer.is_clear())
    }

    /// What is known of a step.
    pub fn facts(&mut self, step: Step) -> Result<StepFacts, Failure> {
        let found = self.run.facts(&self.table.members(step)).map_err(|error| failed(&error))?;
        found.ok_or_else(|| Failure::error(format!("there is no step {}", step.0)))
    }

    /// Takes an answer.
    pub fn tell(&mut self, facts: &StepFacts, feedback: Feedback) {
        self.judged.push(judged(facts, feedback));
    }

    /// The latest value that was right after the steps that computed it, and wrong where it was used: these two steps.
    /// What should have changed it between them is missing.
    pub fn gap(&self) -> Option<(Step, Step)> {
        let grounds = self.grounds.as_ref()?;
        gap::find(&grounds.graph, &self.table, &self.judged).map(|gap| (gap.right, gap.wrong))
    }

    /// How the last answer contradicts an earlier one.
    pub fn contradiction(&self) -> Option<String> {
        let index = contradicted(&self.judged)?;
        let (last, other) = (self.judged.last()?, &self.judged[index]);
        let why = if last.step == other.step {
            "the same step".to_owned()
        } else {
            let step = other.step.0;
            format!(
                "step {step}: a value that is wrong at the earlier step is right at the later one, though no step computed it again"
            )
        };
        Some(format!("the last answer contradicts answer {} about {why}; `z` takes the last answer back", index + 1))
    }

    /// Asks until the first wrong step is found.
    ///
    /// - `is_helped`: whether the passing version answers where it agrees.
    pub fn ask(&mut self, person: &mut dyn StepJudge, is_helped: bool) -> Result<WalkEnd, Failure> {
        let mut seeker = StepSeeker::default();
        let (mut jump, mut note, mut again) = (None, None, None);
        let mut nth = 1;
        loop {
            let recommendation = match jump {
                // Nothing was found, so the same step is asked about for the same reason.
                Some(_) if again.is_some() => again.take(),
                Some(_) => None,
                None if is_helped => self.recommend_helped()?,
                None => self.recommend()?,
            };
            let Some(step) = jump.take().or(recommendation.map(|found| found.step)) else {
                return Ok(WalkEnd::Exhausted);
            };
            let unclear =
                self.judged.iter().filter(|answer| answer.step == step && answer.feedback == Feedback::Unclear);
            if recommendation.is_some_and(|found| found.step == step) && unclear.count() >= MAX_UNCLEAR {
                return Ok(WalkEnd::Unclear);
            }
            let facts = self.facts(step)?;
            let is_first = self.judged.is_empty();
            let recommendation = recommendation.filter(|found| found.step == step && !is_first);
            let presumed = self.presumed(step, &facts.used)?;
            let expected = self.as_expected(step, &facts)?;
            let (calls, judged) = (seeker.calls(self), &self.judged[..]);
            let note_now = note.take();
            let question =
                StepQuestion { nth, recommendation, facts: &facts, judged, presumed, expected, calls, note: note_now };
            match person.judge(&question)? {
                PersonReply::Said(feedback) => {
                    let bug = match feedback {
                        Feedback::WrongResult if facts.outcome.is_some() => Some(Bug::Decision),
                        Feedback::WrongResult => Some(Bug::Value),
                        _ => given(&facts, &feedback).map(Bug::Given),
                    };
                    self.tell(&facts, feedback);
                    nth += 1;
                    note = self.contradiction();
                    if let Some(bug) = bug {
                        return Ok(WalkEnd::Found(step, bug));
                    }
                }
                PersonReply::Missing => {
                    self.tell(&facts, Feedback::WrongResult);
                    return Ok(WalkEnd::Found(step, Bug::Missing));
                }
                PersonReply::Undo => {
                    self.judged.pop();
                    jump = self.judged.is_empty().then_some(self.failure);
                }
                PersonReply::Jump(to) => {
                    let is_known = to != Step::START && to.0 <= self.run.outline().n_steps();
                    jump = Some(if is_known { self.table.shown(to) } else { step });
                    again = recommendation.filter(|_| !is_known);
                    note = (!is_known).then(|| {
                        format!("there is no step {}: the run has steps 1 to {}", to.0, self.run.outline().n_steps())
                    });
                }
                PersonReply::Seek(seek) => {
                    let found = seeker.seek(self, seek, step, person)?;
                    again = recommendation.filter(|_| found.step.is_none());
                    (jump, note) = (Some(found.step.unwrap_or(step)), found.note);
                }
                PersonReply::Quit => return Ok(WalkEnd::Left),
            }
        }
    }
}
