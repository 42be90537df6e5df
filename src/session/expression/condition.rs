//! Conditions on a recorded state: of breakpoints, and what must hold.

use crate::expression::states::States;
use crate::expression::{self, Expression, StateVariables};
use idd_trace::{Step, TraceError};

/// Steps between two questions whether somebody waits.
pub const INTERVAL: u32 = 1 << 10;

/// A condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// A number that is not 0.
    Expression(Expression),
    /// A variable, or a part of one, that is a text: the variable, whether the texts are to differ, and the text
    /// between quotes.
    Text(Expression, bool, String),
}

/// For some steps, whether a condition holds right before each, or why that cannot be said.
pub type ConditionAnswers = Result<Vec<Result<bool, String>>, TraceError>;

impl Condition {
    /// Reads an expression, or `<variable> == "<text>"`.
    ///
    /// Errors: it has another form.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some(before) =
            text.trim().strip_suffix('"').and_then(|rest| rest.find('"')).map(|at| text.trim().split_at(at))
        else {
            return expression::parse(text).map(Self::Expression);
        };
        let (variable, literal) = (before.0.trim_end(), before.1.to_owned());
        let compared = |operator| variable.strip_suffix(operator).map(expression::parse);
        match (compared("=="), compared("!=")) {
            (Some(variable), _) => Ok(Self::Text(variable?, false, literal)),
            (_, Some(variable)) => Ok(Self::Text(variable?, true, literal)),
            _ => Err("a text is compared by `==` or `!=`".to_owned()),
        }
    }

    /// Whether it holds in a state.
    ///
    /// Errors: a value is not known, or C does not define the result.
    pub fn holds<O: StateVariables>(&self, state: &O) -> Result<bool, String> {
        match self {
            Self::Expression(expression) => expression::is_true(state, expression),
            Self::Text(variable, is_different, literal) => {
                let place =
                    expression::place(state, variable).ok_or("what is compared with the text is no variable here")?;
                let value = state.shown(&place);
                let is_same = value == *literal || value.ends_with(&format!(" {literal}"));
                Ok(is_same != *is_different)
            }
        }
    }

    /// What it says something about.
    pub fn subject(&self) -> &Expression {
        match self {
            Self::Expression(expression) | Self::Text(expression, ..) => expression,
        }
    }

    /// Whether it holds right before some steps, ascending: an answer for each, or fewer if it was interrupted.
    ///
    /// - `is_over`: whether nobody waits for the answers any longer; asked often.
    ///
    /// Cost: plays from the last checkpoint before the first of them up to the last one.
    pub fn test(&self, run: &mut impl States, steps: &[Step], is_over: &dyn Fn() -> bool) -> ConditionAnswers {
        let Some(first) = steps.first() else { return Ok(Vec::new()) };
        let (mut found, mut is_interrupted) = (Vec::new(), false);
        run.look_from(*first, |step, state| {
            is_interrupted |= step.0.is_multiple_of(INTERVAL) && is_over();
            if steps.get(found.len()) == Some(&step) {
                found.push(self.holds(&state));
            }
            !is_interrupted && found.len() < steps.len()
        })?;
        if !is_interrupted {
            found.resize(steps.len(), Ok(false));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_an_expression_or_compares_a_text() {
        assert_eq!(Condition::parse("n >= 2"), expression::parse("n >= 2").map(Condition::Expression));
        let variable = || expression::parse("p->s").unwrap();
        assert_eq!(Condition::parse("p->s == \"a b\""), Ok(Condition::Text(variable(), false, "\"a b\"".to_owned())));
        assert_eq!(Condition::parse("p->s!=\"\" "), Ok(Condition::Text(variable(), true, "\"\"".to_owned())));
        for text in ["", "n ==", "== 3", "n < \"a\"", "\"a\"", "\"", "f(n) == \"a\""] {
            assert!(Condition::parse(text).is_err(), "{text}");
        }
    }
}
