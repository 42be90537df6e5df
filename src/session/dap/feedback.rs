//! Recommends steps to a person who judges them in an editor: the requests `gitIdd/recommend`, `gitIdd/expect` and `gitIdd/answer`.
//!
//! The answers are those of [`answer_lines`](crate::debug::answer_lines), in the same file as those of the terminal.

use crate::Failure;
use crate::dap::recordings::{WalkBegin, complaint};
use crate::debug::answer_lines::{WrittenAnswers, written};
use crate::debug::expect::{Expectation, ExpectationCheck};
use crate::debug::{DebugWalk, PersonReply, StepJudge, StepQuestion, WalkEnd, given, reason};
use idd_explain::facts::StepFacts;
use idd_explain::feedback::Feedback;
use idd_explain::feedback::recommend::RecommendationState;
use idd_trace::Step;
use idd_world::answers::Answers;
use serde_json::{Value, json};

/// A walk, and the step that is asked about.
pub struct AskedWalk {
    walk: DebugWalk,
    /// The step, and what is known of it; `None` if nothing is left to ask.
    asked: Option<(Step, StepFacts)>,
    /// The first wrong step, if it was found.
    found: Option<Step>,
    /// The file of the answers, if they are kept.
    answers: Option<Answers>,
}

/// What is told to the client, and the step to go to.
pub type Recommended = (Value, Option<Step>);

/// What a client says.
enum ClientMessage {
    Feedback(Feedback),
    Undo,
}

impl AskedWalk {
    /// Begins at the step at which the failure is seen, or takes up an earlier walk from there.
    pub fn new(mut walk: DebugWalk, mut answers: Option<Answers>) -> Result<Self, Failure> {
        let mut found = None;
        while let Some(answers) = answers.as_mut().filter(|answers| !answers.is_read()) {
            found = match walk.ask(&mut WrittenAnswers(answers), false)? {
                WalkEnd::Found(step, _) => Some(step),
                // What is left was said about a question that is not asked any more.
                _ => break,
            };
        }
        Ok(Self { walk, asked: None, found, answers })
    }

    /// Keeps an answer.
    fn keep(&mut self, reply: &PersonReply) -> Result<(), Failure> {
        let Some(answers) = &mut self.answers else { return Ok(()) };
        written(reply).map_or(Ok(()), |text| answers.add(&text)).map_err(|error| Failure::from_error(&error))
    }

    /// The step to look at next, and why.
    ///
    /// Cost: a recommendation, and the facts about one line.
    pub fn recommend(&mut self) -> Result<Recommended, Failure> {
        let n_judged = self.walk.judged.len();
        let mut known = json!({"judged": n_judged, "found": self.found.is_some(), "exhausted": false});
        if !self.walk.expected.is_empty() {
            known["expectations"] = self.walk.expected.iter().map(ExpectationCheck::json).collect();
        }
        if let Some(step) = self.found {
            let facts = self.walk.facts(step)?;
            let text = match self.walk.judged.last().map(|answer| &answer.feedback) {
                Some(Feedback::WrongValue(_)) => "this step uses a value that was wrong before the program began",
                _ => "this step is the first wrong one: all that it uses is right, and its result is not",
            };
            return Ok((with(known, &described(step, &facts, "ringleader", text, 1)), Some(step)));
        }
        let Some(next) = self.walk.recommend()? else {
            self.asked = None;
            let text =
                "no step is left that the failure depends on and that was not judged; `undo` takes an answer back";
            return Ok((with(known, &json!({"exhausted": true, "text": text})), None));
        };
        let facts = self.walk.facts(next.step)?;
        let (reason, text) = if n_judged == 0 { FAILURE } else { (name(next.state), reason(next.state)) };
        let body = described(next.step, &facts, reason, text, next.n_suspects);
        self.asked = Some((next.step, facts));
        Ok((with(known, &body), Some(next.step)))
    }

    /// Takes an answer, and recommends the next step.
    ///
    /// Errors: it is no answer, or it is about a step or a value that does not exist. Nothing is taken then.
    pub fn answer(&mut self, arguments: &Value) -> Result<Recommended, Failure> {
        let said = said(arguments)?;
        if let ClientMessage::Undo = said {
            if self.walk.judged.pop().is_none() {
                return Err(complaint("there is no answer to take back"));
            }
            if self.found.take().is_none() {
                self.keep(&PersonReply::Undo)?;
            } else if let Some(answers) = &mut self.answers {
                // A walk in a terminal ends with the finding, so nothing can follow it in the file.
                answers.take_back(|line| line.starts_with('g')).map_err(|error| Failure::from_error(&error))?;
            }
            return self.recommend();
        }
        let ClientMessage::Feedback(feedback) = said else { return self.recommend() };
        let (step, facts) = self.judged_step(&arguments["step"])?;
        if let Feedback::WrongValue(wrong) = &feedback
            && let Some(index) = wrong.iter().find(|index| **index >= facts.used.len())
        {
            let n = facts.used.len();
            return Err(complaint(format!("the step uses no value number {index}: it uses {n}, numbered from 0")));
        }
        if self.asked.as_ref().is_none_or(|(asked, _)| *asked != step) {
            self.keep(&PersonReply::Jump(step))?;
        }
        self.keep(&PersonReply::Said(feedback.clone()))?;
        let is_found = feedback == Feedback::WrongResult || given(&facts, &feedback).is_some();
        self.found = is_found.then_some(step);
        self.walk.tell(&facts, feedback);
        self.recommend()
    }

    /// The step that an answer is about: the one that is asked about if the client names none.
    fn judged_step(&mut self, named: &Value) -> Result<(Step, StepFacts), Failure> {
        if self.asked.is_none() && self.found.is_none() {
            self.recommend()?;
        }
        let asked = self.asked.clone();
        if named.is_null() {
            return asked.ok_or_else(|| complaint("nothing is left to judge; `step` names another step"));
        }
        let number = named.as_u64().and_then(|number| u32::try_from(number).ok());
        let n_steps = self.walk.run.outline().n_steps();
        let step = number.filter(|number| (1..=n_steps).contains(number)).map(Step);
        let step = step.ok_or_else(|| complaint(format!("`step` is the number of a step, from 1 to {n_steps}")))?;
        if let Some(asked) = asked.filter(|(asked, _)| *asked == step) {
            return Ok(asked);
        }
        // All steps of a line are judged as one: the walk knows which.
        let mut jump = Jump { to: Some(step), facts: None };
        if self.walk.ask(&mut jump, false)? == WalkEnd::Exhausted {
            return Err(complaint("nothing is left to judge; `undo` takes an answer back"));
        }
        let facts = jump.facts.ok_or_else(|| complaint("nothing is known of this step"))?;
        Ok((facts.detail.standing.step, facts))
    }
}

/// A person who only looks at another step.
struct Jump {
    to: Option<Step>,
    facts: Option<StepFacts>,
}

impl StepJudge for Jump {
    fn judge(&mut self, question: &StepQuestion<'_>) -> Result<PersonReply, Failure> {
        if let Some(step) = self.to.take() {
            return Ok(PersonReply::Jump(step));
        }
        self.facts = Some(question.facts.clone());
        Ok(PersonReply::Quit)
    }
}

const FAILURE: (&str, &str) = ("failure", "the failure is seen here");

fn name(state: RecommendationState) -> &'static str {
    match state {
        RecommendationState::SimpleInference => "simpleInference",
        RecommendationState::PatternInference => "patternInference",
        RecommendationState::InspectDetails => "inspectDetails",
        RecommendationState::ClarityInference => "clarityInference",
        RecommendationState::FirstDifference => "firstDifference",
        RecommendationState::Elsewhere => "elsewhere",
    }
}

/// Reads where a walk is to begin; the default if it goes on.
///
/// Errors: an argument has another type, or belongs to another request.
pub fn begin(command: &str, arguments: &Value) -> Result<WalkBegin, Failure> {
    let is_answer = command == "gitIdd/answer";
    let from = match &arguments["from"] {
        Value::String(from) if !is_answer => Some(from.clone()),
        Value::Null => None,
        _ => return Err(complaint("`from` is a criterion as of `git idd debug --from`, and begins a new walk")),
    };
    let is_restarted = match &arguments["restart"] {
        Value::Bool(restart) if !is_answer => *restart,
        Value::Null => false,
        _ => return Err(complaint("`restart` is true or false, and forgets the earlier answers")),
    };
    let mut expected = Vec::new();
    if command == "gitIdd/expect" {
        let bad = || complaint("`expect` lists expectations as of `git idd debug --expect`: `n > 0 at a.c:13`");
        for text in arguments["expect"].as_array().filter(|list| !list.is_empty()).ok_or_else(bad)? {
            expected.push(Expectation::parse(text.as_str().ok_or_else(bad)?).map_err(complaint)?);
        }
    }
    Ok(WalkBegin { from, expected, is_restarted })
}

/// Reads an answer.
fn said(arguments: &Value) -> Result<ClientMessage, Failure> {
    let wrong = || -> Result<Vec<usize>, Failure> {
        let bad = || complaint("`values` lists the numbers of the wrong values, as in `used` of the recommendation");
        let list = arguments["values"].as_array().filter(|list| !list.is_empty()).ok_or_else(bad)?;
        let number = |value: &Value| value.as_u64().and_then(|number| usize::try_from(number).ok()).ok_or_else(bad);
        let mut wrong = list.iter().map(number).collect::<Result<Vec<_>, _>>()?;
        wrong.sort_unstable();
        wrong.dedup();
        Ok(wrong)
    };
    Ok(match arguments["answer"].as_str() {
        Some("correct") => ClientMessage::Feedback(Feedback::Correct),
        Some("wrongValue") => ClientMessage::Feedback(Feedback::WrongValue(wrong()?)),
        Some("wrongPath") => ClientMessage::Feedback(Feedback::WrongPath),
        Some("wrongResult") => ClientMessage::Feedback(Feedback::WrongResult),
        Some("unclear") => ClientMessage::Feedback(Feedback::Unclear),
        Some("undo") => ClientMessage::Undo,
        _ => {
            let all = "`answer` is correct, wrongValue, wrongPath, wrongResult, unclear, or undo";
            return Err(complaint(all));
        }
    })
}

/// A step for the client; its place is added by the caller.
fn described(step: Step, facts: &StepFacts, reason: &str, text: &str, n_suspects: usize) -> Value {
    let used =
        facts.used.iter().enumerate().map(
            |(index, used)| json!({"index": index, "name": used.name, "value": used.value, "origin": used.origin}),
        );
    let gives = facts.detail.writes.iter().map(|write| json!({"name": write.named.name, "value": write.named.value}));
    let decides = facts.outcome.as_ref().map(|outcome| outcome.told.clone());
    json!({"step": step.0, "reason": reason, "text": text, "suspects": n_suspects,
        "function": &*facts.detail.standing.function, "used": used.collect::<Vec<_>>(),
        "gives": gives.collect::<Vec<_>>(), "decides": decides})
}

fn with(mut body: Value, more: &Value) -> Value {
    for (name, value) in more.as_object().into_iter().flatten() {
        body[name] = value.clone();
    }
    body
}
