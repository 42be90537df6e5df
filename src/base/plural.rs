//! Counts of things in sentences.

use std::fmt::Display;

/// `0 lines`, `1 line`, `2 lines`, `1 old journal`.
///
/// - `number`: in any notation in which one is `1`.
/// - `noun`: its plural must end with an `s`.
pub fn count(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    let ending = if number == "1" { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

/// `1st`, `2nd`, `3rd`, `11th`, `22nd`.
pub fn ordinal(number: u64) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        let counts = [0, 1, 2, 11, 21].map(|number| count(number, "run"));
        assert_eq!(counts, ["0 runs", "1 run", "2 runs", "11 runs", "21 runs"]);
        assert_eq!(count("1 000", "step"), "1 000 steps");
    }

    #[test]
    fn ordinals_end_as_they_are_spoken() {
        let ordinals = [1, 2, 3, 4, 11, 12, 13, 21, 102, 113, 1_013, 1_003].map(ordinal);
        let expected =
            ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "113th", "1013th", "1003rd"];
        assert_eq!(ordinals, expected);
    }
}
