//! What the person expects of values at a line. The first step before which it does not hold is an answer.

use crate::Failure;
use crate::debug::{DebugWalk, given};
use crate::expression::condition::Condition;
use crate::recorded::failed;
use crate::slice::criterion::is_in_line;
use idd_explain::facts::StepFacts;
use idd_explain::feedback::Feedback;
use idd_report::{Terminal, Untrusted};
use idd_trace::Step;
use serde_json::{Value, json};

/// An expectation is examined before the first so many steps of its line.
pub const MAX_EXAMINED: usize = 10_000;

/// A condition that holds each time that a line is about to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// The condition, as it was given.
    pub text: String,
    /// The same.
    pub condition: Condition,
    /// The file, or the end of its path.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

impl Expectation {
    /// Reads `<expression> at <file>:<line>`.
    ///
    /// Errors: it has another form.
    pub fn parse(text: &str) -> Result<Self, String> {
        const FORM: &str = "an expectation has the form `<expression> at <file>:<line>`";
        let (condition, place) = text.rsplit_once(" at ").ok_or(FORM)?;
        let (file, line) = place.trim().rsplit_once(':').filter(|(file, _)| !file.is_empty()).ok_or(FORM)?;
        let line = line.parse().ok().filter(|line| *line > 0).ok_or(FORM)?;
        let file = file.strip_prefix("./").unwrap_or(file).to_owned();
        let text = condition.trim().to_owned();
        Ok(Self { condition: Condition::parse(&text)?, text, file, line })
    }

    /// `a.c:13`.
    pub fn place(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }
}

/// Where an expectation holds.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectationCheck {
    /// The expectation.
    pub expectation: Expectation,
    /// The steps before which it was examined and holds, ascending.
    pub holds: Vec<Step>,
    /// The first step before which it does not hold.
    pub broken: Option<Step>,
    /// The number of steps before which it was examined.
    pub n_examined: usize,
    /// The number of those before which a value is not known.
    pub n_unknown: usize,
    /// The number of all steps of the line up to the failure.
    pub n_steps: usize,
    /// If the walk begins at this step: the values that are wrong there, such as `n = 0`.
    pub wrong: Vec<String>,
}

impl ExpectationCheck {
    /// For programs.
    pub fn json(&self) -> Value {
        let Self { expectation, broken, n_examined, n_unknown, n_steps, wrong, .. } = self;
        json!({
            "schema": "git-idd debug expectation 1", "expectation": expectation.text, "file": expectation.file,
            "line": expectation.line, "step": broken.map(|step| step.0), "wrong": wrong, "examined": n_examined,
            "unknown": n_unknown, "steps": n_steps,
        })
    }
}

fn shown(text: &str) -> String {
    Terminal.line(&Untrusted::from(text))
}

fn shown_value(facts: &StepFacts, index: usize) -> String {
    let used = &facts.used[index];
    format!("{} = {}", used.name, used.value.as_deref().unwrap_or("?"))
}

impl DebugWalk {
    /// Examines expectations. The earliest step before which one does not hold takes the place of the failure: the value
    /// that it uses and that the expectation names is wrong, which counts as the first answer. If it uses none of them or
    /// several, or the value was wrong before the run began, the person is asked about the step.
    ///
    /// Errors: no step of the line ran, or an expectation could be evaluated before none of them.
    ///
    /// Cost: a pass over the run for each expectation.
    pub fn expect(&mut self, expectations: &[Expectation]) -> Result<(), Failure> {
        for expectation in expectations {
            let checked = self.check(expectation)?;
            self.expected.push(checked);
        }
        let Some(first) = self.expected.iter().filter_map(|checked| checked.broken).min() else { return Ok(()) };
        self.failure = first;
        let begin: Vec<_> = self.table.members(first).into_iter().map(|step| (step, Step(u32::MAX))).collect();
        self.grounds()?;
        self.grounds = self.grounds.take().map(|grounds| grounds.with(&self.table, &begin));
        let facts = self.facts(first)?;
        let mut wrong = Vec::new();
        for index in 0..self.expected.len() {
            if self.expected[index].broken == Some(first) {
                let condition = self.expected[index].expectation.condition.clone();
                let named = self.named(&condition, first, &facts)?;
                self.expected[index].wrong = named.iter().map(|used| shown_value(&facts, *used)).collect();
                wrong.extend(named);
            }
        }
        wrong.sort_unstable();
        wrong.dedup();
        let answer = Feedback::WrongValue(wrong.clone());
        if wrong.len() > 1 {
            // Which of them is wrong is for the person to say.
            self.expected.iter_mut().for_each(|checked| checked.wrong.clear());
        } else if !wrong.is_empty() && given(&facts, &answer).is_none() {
            self.tell(&facts, answer);
        }
        Ok(())
    }

    /// Takes a condition that does not hold at the failure for the first answer, if it names one of the values that are used
    /// there.
    pub(super) fn fail(&mut self, expectation: Expectation) -> Result<(), Failure> {
        let facts = self.facts(self.failure)?;
        let named = self.named(&expectation.condition, self.failure, &facts)?;
        let answer = Feedback::WrongValue(named.clone());
        let [only] = named[..] else { return Ok(()) };
        if given(&facts, &answer).is_none() {
            let wrong = vec![shown_value(&facts, only)];
            let (broken, holds) = (Some(self.failure), Vec::new());
            self.expected.push(ExpectationCheck {
                expectation,
                holds,
                broken,
                n_examined: 1,
                n_unknown: 0,
                n_steps: 1,
                wrong,
            });
            self.tell(&facts, answer);
        }
        Ok(())
    }

    fn check(&mut self, expectation: &Expectation) -> Result<ExpectationCheck, Failure> {
        let is_here = |place: &idd_trace::Place| is_in_line(place, &expectation.file, expectation.line);
        let places: Vec<bool> =
            self.statements.places.iter().map(|place| place.as_ref().is_some_and(is_here)).collect();
        let here = (1..=self.failure.0).map(Step).filter(|step| {
            let at = step.0 as usize;
            let statement = self.statements.of_steps.get(at).copied().unwrap_or(0);
            places[statement as usize] && !self.run.outline().entries[at]
        });
        let mut steps: Vec<Step> = here.map(|step| self.table.shown(step)).collect();
        steps.sort_unstable();
        steps.dedup();
        let n_steps = steps.len();
        steps.truncate(MAX_EXAMINED);
        let place = shown(&expectation.place());
        let Some(first) = steps.first().copied() else {
            return Err(Failure::error(format!("no statement of {place} ran up to the failure"))
                .with_hint("a statement is in the line in which it begins; `git idd trace tree` shows what ran"));
        };
        let found = self.run.test(&expectation.condition, &steps);
        let found = found.map_err(|error| failed(&error))?;
        if let Some(Err(why)) = found.first()
            && found.iter().all(Result::is_err)
        {
            let text = shown(&expectation.text);
            let message = format!("`{text}` cannot be evaluated before any step of {place}: {}", shown(why));
            let names = self.run.names(first).map_err(|error| failed(&error))?;
            let names: Vec<String> = names.iter().map(|name| shown(name)).collect();
            let failure = Failure::error(message);
            return Err(if names.is_empty() {
                failure.with_hint("only global variables are visible there")
            } else {
                failure.with_hint(format!("visible at step {} are: {}", first.0, names.join(", ")))
            });
        }
        let with = |answer: bool| steps.iter().zip(&found).filter(move |(_, found)| **found == Ok(answer));
        Ok(ExpectationCheck {
            expectation: expectation.clone(),
            holds: with(true).map(|(step, _)| *step).collect(),
            broken: with(false).map(|(step, _)| *step).next(),
            n_examined: steps.len(),
            n_unknown: found.iter().filter(|found| found.is_err()).count(),
            n_steps,
            wrong: Vec::new(),
        })
    }

    /// Of the values that a step uses, those that a condition names: their indices, ascending.
    fn named(&mut self, condition: &Condition, step: Step, facts: &StepFacts) -> Result<Vec<usize>, Failure> {
        self.run.named(condition, step, facts).map_err(|error| failed(&error))
    }

    /// Of the values that a step uses, those that an expectation names that holds before it, or all if it is an assertion
    /// that held: their indices, ascending.
    pub fn as_expected(&mut self, step: Step, facts: &StepFacts) -> Result<Vec<usize>, Failure> {
        if self.is_assertion(step) && step < self.failure {
            return Ok((0..facts.used.len()).collect());
        }
        let here = self.expected.iter().filter(|checked| checked.holds.binary_search(&step).is_ok());
        let conditions: Vec<Condition> = here.map(|checked| checked.expectation.condition.clone()).collect();
        let mut found = Vec::new();
        for condition in conditions {
            found.extend(self.named(&condition, step, facts)?);
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// The values that an expectation answered for, as a part of the name of the file with the later answers.
    pub fn answered(&self) -> String {
        let is_broken = self.expected.iter().any(|checked| checked.broken.is_some());
        match self.judged.first().filter(|_| is_broken).map(|first| &first.feedback) {
            Some(Feedback::WrongValue(wrong)) => {
                let numbers: Vec<String> = wrong.iter().map(|index| (index + 1).to_string()).collect();
                format!("-{}", numbers.join("-"))
            }
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expectation_is_a_condition_at_a_line() {
        let read = Expectation::parse(" p->n > 0 at ./src/a.c:13").unwrap();
        assert_eq!((&*read.text, &*read.file, read.line), ("p->n > 0", "src/a.c", 13));
        assert_eq!(read.place(), "src/a.c:13");
        let text = Expectation::parse("s == \"look at me\" at a.c:1").unwrap();
        assert_eq!(text.text, "s == \"look at me\"");
        for text in ["", "n > 0", "n > 0 at a.c", "n > 0 at a.c:0", "n > 0 at :3", "n > at a.c:3", " at a.c:3"] {
            assert!(Expectation::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_condition_names_variables_and_their_parts() {
        let names = |text: &str| -> Vec<Option<String>> {
            let condition = Condition::parse(text).unwrap();
            condition.subject().named().iter().map(|named| named.written()).collect()
        };
        let some =
            |names: &[&str]| -> Vec<Option<String>> { names.iter().map(|name| Some((*name).to_owned())).collect() };
        assert_eq!(names("p->n + -x > 3 && *q"), some(&["p->n", "x", "*q"]));
        assert_eq!(names("a[2].b ? c : (long)d"), some(&["a[2].b", "c", "d"]));
        assert_eq!(names("a[i] > sizeof n"), [None, Some("i".to_owned())]);
        assert_eq!(names("&x != p"), some(&["p"]));
        assert_eq!(names("s == \"t\""), some(&["s"]));
    }
}
