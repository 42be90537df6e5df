//! Conditions of breakpoints: a comparison of a variable, or a part of one, with a literal; and counts of hits.

/// A comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// What is compared: `n`, `p->f`, `a[3]`.
    pub expression: String,
    operator: &'static str,
    literal: String,
}

/// The longer ones first.
const OPERATORS: [&str; 6] = ["==", "!=", "<=", ">=", "<", ">"];

impl Condition {
    /// Reads `<expression> <operator> <literal>`; `None` if it has another form.
    pub fn parse(text: &str) -> Option<Self> {
        // The `>` of an arrow is no operator.
        let plain = text.replace("->", "..");
        let (at, operator) = plain.char_indices().find_map(|(at, _)| {
            let operator = OPERATORS.iter().find(|operator| plain[at..].starts_with(**operator))?;
            Some((at, *operator))
        })?;
        let (expression, literal) = (text[..at].trim(), text[at + operator.len()..].trim());
        let is_whole = !expression.is_empty() && !literal.is_empty();
        is_whole.then(|| Self { expression: expression.to_owned(), operator, literal: literal.to_owned() })
    }

    /// Whether it holds for a value, as it is shown: numbers by their size, other values only by `==` and `!=`.
    pub fn holds(&self, value: &str) -> bool {
        let first = value.split_whitespace().next().unwrap_or_default();
        let numbers = number(first).zip(number(&self.literal));
        match (numbers, self.operator) {
            (Some((value, literal)), "==") => value.total_cmp(&literal).is_eq(),
            (Some((value, literal)), "!=") => value.total_cmp(&literal).is_ne(),
            (Some((value, literal)), "<") => value < literal,
            (Some((value, literal)), "<=") => value <= literal,
            (Some((value, literal)), ">") => value > literal,
            (Some((value, literal)), ">=") => value >= literal,
            (None, "==") => value == self.literal || value.ends_with(&format!(" {}", self.literal)),
            (None, "!=") => value != self.literal && !value.ends_with(&format!(" {}", self.literal)),
            _ => false,
        }
    }
}

/// The number of a literal; whole numbers beyond 2^53 are rounded.
#[expect(clippy::cast_precision_loss, reason = "only compared")]
fn number(text: &str) -> Option<f64> {
    match text {
        "NULL" | "nullptr" | "null" | "false" => return Some(0.0),
        "true" => return Some(1.0),
        _ => {}
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().map(|number| number as f64);
    }
    let begins = text.trim_start_matches('-').starts_with(|letter: char| letter.is_ascii_digit());
    // -0 and 0 are the same.
    begins.then(|| text.parse::<f64>().ok()).flatten().map(|number| number + 0.0)
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
    fn values_are_compared_with_literals() {
        let holds = |text: &str, value: &str| Condition::parse(text).unwrap().holds(value);
        assert!(holds("n == 3", "3") && holds("p->n>=2", "2") && holds("n != -1", "4") && holds("x<0.5", "0.25"));
        assert!(holds("p == NULL", "0x0") && holds("p != 0", "0x10 -> x") && holds("c == 0x61", "97 'a'"));
        assert!(holds("s == \"ab\"", "0x5 \"ab\"") && !holds("s < RED", "BLUE") && holds("e == RED", "RED"));
        assert_eq!(Condition::parse("p->n >= 2").unwrap().expression, "p->n");
        assert!(["", "n", "n ==", "== 3", "p->n"].iter().all(|text| Condition::parse(text).is_none()));
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
