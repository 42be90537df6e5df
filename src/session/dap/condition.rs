//! Conditions of breakpoints, and counts of hits.

use crate::session::dap::expression;
use crate::session::dap::expression::Expression;
use crate::session::dap::state::State;

/// A condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// A number that is not 0.
    Expression(Expression),
    /// A variable, or a part of one, that is a text: the variable, whether the texts are to differ, and the text
    /// between quotes.
    Text(Expression, bool, String),
}

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
    pub fn holds(&self, state: State<'_>) -> Result<bool, String> {
        match self {
            Self::Expression(expression) => expression::is_true(&state, expression),
            Self::Text(variable, is_different, literal) => {
                let place = state.place(variable).ok_or("what is compared with the text is no variable here")?;
                let value = state.view.show(&place);
                let is_same = value == *literal || value.ends_with(&format!(" {literal}"));
                Ok(is_same != *is_different)
            }
        }
    }
}

/// A count of hits: `5` is the fifth one, `>= 5` and `> 5` all from there on, `% 5` each fifth one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// This one, from 1.
    Only(usize),
    /// This one and later ones.
    From(usize),
    /// Those whose number is a multiple.
    Each(usize),
}

impl Count {
    /// Reads a count; `None` if it has another form.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let number = |text: &str| text.trim().parse::<usize>().ok().filter(|number| *number > 0);
        if let Some(rest) = text.strip_prefix(">=") {
            number(rest).map(Self::From)
        } else if let Some(rest) = text.strip_prefix('>') {
            number(rest)?.checked_add(1).map(Self::From)
        } else if let Some(rest) = text.strip_prefix('%') {
            number(rest).map(Self::Each)
        } else {
            number(text.trim_start_matches('=')).map(Self::Only)
        }
    }

    /// Whether the hit of this number, from 1, counts.
    pub fn takes(self, hit: usize) -> bool {
        match self {
            Self::Only(number) => hit == number,
            Self::From(number) => hit >= number,
            Self::Each(number) => hit.is_multiple_of(number),
        }
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

    #[test]
    fn hits_are_counted() {
        let taken = |text: &str| -> Vec<usize> {
            let count = Count::parse(text).unwrap();
            (1..=6).filter(|hit| count.takes(*hit)).collect()
        };
        assert_eq!((taken("2"), taken(">= 5"), taken(">5"), taken("%3")), (vec![2], vec![5, 6], vec![6], vec![3, 6]));
        assert!(["0", "x", "", "-1", "%0"].iter().all(|text| Count::parse(text).is_none()));
    }
}
