//! The texts about a step that both the panes and the lines show. All of them are safe to print.

use idd_base::count;
use idd_explain::facts::{StepFacts, UsedValue};
use idd_report::escape::safe;
use idd_session::debug::{StepQuestion, reason};

/// What stands after a value that is the same in the passing version.
const PRESUMED: &str = "  (as in the passing run)";

/// What stands after a value that is as the person expects.
const EXPECTED: &str = "  (as expected)";

/// Values are cut after so many characters.
const MAX_VALUE: usize = 200;

/// A line of a file with the space before it, if it is known.
pub type IndentedLine<'l> = &'l mut dyn FnMut(&str, u32) -> Option<String>;

/// The same, cut after [`MAX_VALUE`] characters.
pub fn short(text: &str) -> String {
    let cut: String = text.chars().take(MAX_VALUE).collect();
    safe(&if cut.len() < text.len() { cut + "..." } else { cut })
}

/// `parse.c:40, in read_line`.
pub fn at(facts: &StepFacts) -> String {
    let standing = &facts.detail.standing;
    match standing.place.as_ref().filter(|place| place.line > 0) {
        Some(place) => format!("{}:{}, in {}", safe(&place.file), place.line, safe(&standing.function)),
        None => format!("in {}", safe(&standing.function)),
    }
}

/// A value that a step uses, as it is shown in a line.
pub fn value(used: &UsedValue) -> String {
    used.value.as_deref().map_or_else(|| "?".to_owned(), short)
}

/// What stands after a value that is presumed to be right.
pub fn presumed(question: &StepQuestion<'_>, index: usize) -> &'static str {
    match () {
        () if question.expected.contains(&index) => EXPECTED,
        () if question.presumed.contains(&index) => PRESUMED,
        () => "",
    }
}

/// `3. step 12, a.c:9, in main`, and why it is asked; empty if the person chose it.
pub fn titled(question: &StepQuestion<'_>) -> (String, String) {
    let why = question
        .recommendation
        .map(|found| format!("({}; {} suspected)", reason(found.state), count(found.n_suspects, "statement")));
    let (nth, step) = (question.nth, question.facts.detail.standing.step.0);
    (format!("{nth}. step {step}, {}", at(question.facts)), why.unwrap_or_default())
}

/// What a step gives.
pub fn gives(facts: &StepFacts) -> impl Iterator<Item = String> {
    facts.detail.writes.iter().map(|write| {
        let value = write.named.value.as_deref().map_or_else(|| "?".to_owned(), short);
        format!("gives {} = {value}", short(&write.named.name))
    })
}

/// What a step calls and decides.
pub fn does(facts: &StepFacts) -> Vec<String> {
    let StepFacts { detail, outcome, .. } = facts;
    let mut lines = Vec::new();
    for call in &detail.calls {
        let name = call.name.as_deref().unwrap_or("a function");
        let result = call.result.as_ref().map(|result| format!(" = {}", short(result))).unwrap_or_default();
        lines.push(format!("calls {}({}){result}", safe(name), short(&call.arguments.join(", "))));
    }
    lines.extend(detail.returned.iter().map(|value| format!("returns {}", short(value))));
    if let Some(outcome) = outcome {
        lines.push(format!("decides: {}", safe(&outcome.told)));
    }
    if let Some((signal, _)) = &detail.crash {
        lines.push(format!("crashes with signal {signal}"));
    }
    lines
}
