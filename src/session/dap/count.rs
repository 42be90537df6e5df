//! Counts of hits of a breakpoint.

/// A count of hits: `5` is the fifth one, `>= 5` and `> 5` all from there on, `% 5` each fifth one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HitCount {
    /// This one, from 1.
    Only(usize),
    /// This one and later ones.
    From(usize),
    /// Those whose number is a multiple.
    Each(usize),
}

impl HitCount {
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
    fn hits_are_counted() {
        let taken = |text: &str| -> Vec<usize> {
            let count = HitCount::parse(text).unwrap();
            (1..=6).filter(|hit| count.takes(*hit)).collect()
        };
        assert_eq!((taken("2"), taken(">= 5"), taken(">5"), taken("%3")), (vec![2], vec![5, 6], vec![6], vec![3, 6]));
        assert!(["0", "x", "", "-1", "%0"].iter().all(|text| HitCount::parse(text).is_none()));
    }
}
