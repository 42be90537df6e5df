//! Assertions of the program: answers that cost nobody anything.
//!
//! An assertion that fails is the first answer, if one value that its line uses is named in it. What an assertion that held
//! depends on is less suspicious. Assertions are found in the text: `assert(...)` in one line.

use crate::Failure;
use crate::debug::DebugWalk;
use crate::debug::expect::Expectation;
use crate::sources::RecordedSources;
use idd_explain::feedback::table::StepTable;
use idd_explain::statements::Statements;
use idd_trace::Step;
use std::collections::HashMap;

/// Of the lines with assertions that ran, so many of the last steps count.
const MAX_HELD: usize = 10_000;

/// The condition of the assertion in a line of the source: `assert(n > 0);`, in Java `assert n > 0 : text;`.
fn assertion(line: &str, is_java: bool) -> Option<&str> {
    if is_java {
        let condition = line.trim_start().strip_prefix("assert ")?.split([';', ':']).next()?.trim();
        return Some(condition).filter(|condition| !condition.is_empty());
    }
    let code = line.split("//").next().unwrap_or(line);
    let mut found = code.match_indices("assert");
    found.find_map(|(at, word)| {
        let is_begun = code[..at].chars().next_back().is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
        let rest = code[at + word.len()..].trim_start().strip_prefix('(').filter(|_| !is_begun)?;
        let mut depth = 1;
        let end = rest.find(|letter: char| {
            depth += i32::from(letter == '(') - i32::from(letter == ')');
            depth == 0
        })?;
        Some(rest[..end].trim()).filter(|condition| !condition.is_empty())
    })
}

/// The assertions in the lines that ran, by the number of their statements.
pub fn assertions(statements: &Statements, sources: &mut RecordedSources) -> HashMap<u32, String> {
    let places = (0_u32..).zip(&statements.places);
    let found = places.filter_map(|(number, place)| {
        let place = place.as_ref().filter(|place| place.line > 0)?;
        let line = sources.line(&place.file, place.line)?;
        Some((number, assertion(&line, place.file.ends_with(".java"))?.to_owned()))
    });
    found.collect()
}

/// The last steps before a failure of lines with assertions: these held. Ascending.
pub fn held(assertions: &HashMap<u32, String>, table: &StepTable, failure: Step) -> Vec<Step> {
    if assertions.is_empty() {
        return Vec::new();
    }
    let is_held = |step: &Step| assertions.contains_key(&table.statement(*step)) && table.shown(*step) == *step;
    let mut held: Vec<Step> = (1..failure.0).rev().map(Step).filter(is_held).take(MAX_HELD).collect();
    held.reverse();
    held
}

impl DebugWalk {
    /// Whether a step is in a line with an assertion.
    pub(super) fn is_assertion(&self, step: Step) -> bool {
        self.assertions.contains_key(&self.table.statement(step))
    }

    /// Takes the assertion that failed for the first answer.
    pub(super) fn fail_assertion(&mut self) -> Result<(), Failure> {
        let statement = self.table.statement(self.failure);
        let Some(place) = self.statements.places[statement as usize].clone() else { return Ok(()) };
        let Some(text) = self.assertions.get(&statement) else { return Ok(()) };
        let Ok(expectation) = Expectation::parse(&format!("{text} at {}:{}", place.file, place.line)) else {
            return Ok(());
        };
        self.fail(expectation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assertion_is_a_call_in_one_line() {
        let assertion = |line| assertion(line, false);
        assert_eq!(assertion("    assert(l->n < 8);"), Some("l->n < 8"));
        assert_eq!(assertion("if (x) assert ( (a) && f(b) ); g();"), Some("(a) && f(b)"));
        for line in ["static_assert(1);", "assertion(x);", "// assert(x)", "assert(x", "assert()", "x = assert;"] {
            assert_eq!(assertion(line), None, "{line}");
        }
    }

    #[test]
    fn an_assertion_of_java_is_a_statement() {
        assert_eq!(assertion("    assert (n > 0) && m == 2 : text;", true), Some("(n > 0) && m == 2"));
        assert_eq!(assertion("assert n > 0;", true), Some("n > 0"));
        for line in ["assertTrue(n > 0);", "// assert n > 0;", "assert ;", "int assert_ = 1;"] {
            assert_eq!(assertion(line, true), None, "{line}");
        }
    }
}
