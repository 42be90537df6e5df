//! The walk from a failure to the first wrong step that a person judged: an [explanation](crate::explanation) of
//! a finding.

use serde::{Deserialize, Serialize};

use crate::bounds::{Shorten, shorten};
use crate::{Style, Terminal, TextRole, Untrusted};
use idd_base::count;

/// The maximum number of steps that are shown.
const MAX_STEPS: usize = 400;

/// The maximum number of values of a step that are shown.
const MAX_VALUES: usize = 20;

/// A walk that ended with the first wrong step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinishedWalk {
    /// What is wrong at the first wrong step.
    pub fault: StepFault,
    /// The number of answers that led there.
    pub n_answers: usize,
    /// The first wrong step, and the steps from there to the failure that were judged to be wrong; in the order of the run.
    pub steps: Vec<WrongStep>,
}

/// What is wrong at the first wrong step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepFault {
    /// It computes a wrong value from right ones.
    #[serde(rename = "wrong value")]
    Value,
    /// It decides wrongly.
    #[serde(rename = "wrong decision")]
    Decision,
    /// Code is missing before it.
    #[serde(rename = "missing code")]
    Missing,
    /// A value that it uses was wrong before the program began.
    #[serde(rename = "wrong before the run")]
    Given,
}

/// A wrong step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrongStep {
    /// Its number.
    pub step: u32,
    /// The file, as the compiler was given it.
    pub file: Option<Untrusted>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The function.
    pub function: Untrusted,
    /// The text of the line without the space around it, if it is known.
    pub source: Option<Untrusted>,
    /// What is wrong, in words.
    pub wrong: Untrusted,
    /// The values that it uses and gives, such as `n = 3`.
    pub values: Vec<Untrusted>,
}

impl StepFault {
    /// What the first of the steps is.
    pub fn title(self) -> &'static str {
        match self {
            Self::Value | Self::Decision => "The first wrong step",
            Self::Missing => "Missing code",
            Self::Given => "A wrong initial value",
        }
    }

    /// The fault in short.
    pub fn words(self) -> &'static str {
        match self {
            Self::Value => "wrong value",
            Self::Decision => "wrong decision",
            Self::Missing => "missing code",
            Self::Given => "wrong before the run",
        }
    }
}

impl FinishedWalk {
    /// The result in a sentence.
    pub fn sentence(&self) -> String {
        let what = match self.fault {
            StepFault::Value => "The first wrong step computes a wrong value from right ones",
            StepFault::Decision => "The first wrong step decides wrongly, and all that it uses is right",
            StepFault::Missing => "Code that should have run before this step is missing",
            StepFault::Given => "This step uses a value that was wrong before the program began",
        };
        format!("{what}; found with {}.", count(self.n_answers, "answer"))
    }

    /// For a terminal: what is wrong, and the steps with their sources and values; ends with a newline.
    pub fn text(&self, style: Style) -> String {
        let title = match self.fault {
            StepFault::Given => "This step uses a value that was wrong before the program began:",
            StepFault::Missing => "Code is missing before this step:",
            StepFault::Value | StepFault::Decision => "The first wrong step:",
        };
        let mut lines = vec![title.to_owned()];
        let faint = |text: String| format!("      {}", style.paint(TextRole::Faint, text));
        for step in &self.steps {
            let place = step.file.as_ref().zip(step.line);
            let place = place.map(|(file, line)| format!("{}:{line}, ", Terminal.line(file))).unwrap_or_default();
            let (function, wrong) = (Terminal.line(&step.function), Terminal.line(&step.wrong));
            lines.push(format!("  step {}, {place}in {function}: {wrong}", step.step));
            lines.extend(step.source.as_ref().map(|source| faint(Terminal.line(source))));
            if !step.values.is_empty() {
                let values: Vec<String> = step.values.iter().map(|value| Terminal.line(value)).collect();
                lines.push(faint(values.join(", ")));
            }
        }
        lines.join("\n") + "\n"
    }

    /// The same with a limited number of steps, and with short texts.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        self.steps.truncate(MAX_STEPS);
        self.steps.shorten();
        self
    }
}

impl Shorten for WrongStep {
    fn shorten(&mut self) {
        self.values.truncate(MAX_VALUES);
        shorten([&mut self.file, &mut self.function, &mut self.source, &mut self.wrong, &mut self.values]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::MAX_TEXT;
    use crate::samples;

    #[test]
    fn a_walk_is_text_with_the_values_of_each_step() {
        let expected = "The first wrong step:
  step 12, src/parse.c:8, in parse: computes a wrong value
      n = max - 1;
      max = 4, n = <1>
  step 27, src/parse.c:9, in parse: uses the wrong n = <1>
      n = <1>
";
        assert_eq!(samples::walk().text(Style::PLAIN), expected);
    }

    #[test]
    fn of_too_many_steps_the_first_are_shown_and_long_texts_are_cut() {
        let mut walk = samples::walk();
        walk.steps = vec![walk.steps[0].clone(); MAX_STEPS + 9];
        walk.steps[0].wrong = "x".repeat(MAX_TEXT + 1).into();
        walk.steps[0].values = vec!["n = 1".into(); 1000];
        let walk = walk.bounded();
        assert_eq!((walk.steps.len(), walk.steps[0].values.len()), (MAX_STEPS, MAX_VALUES));
        assert_eq!(walk.steps[0].wrong, format!("{}…", "x".repeat(MAX_TEXT)).into());
        assert_eq!(samples::walk().bounded(), samples::walk());
    }
}
