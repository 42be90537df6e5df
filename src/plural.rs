//! Numbers of things in sentences.

use std::fmt::Display;

/// `0 lines`, `1 line`, `2 lines`, `1 old journal`.
///
/// - `number`: however it is written, as long as one is `1`.
/// - `noun`: takes an `s` at its end.
pub fn count(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    let ending = if number == "1" { "" } else { "s" };
    format!("{number} {noun}{ending}")
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
}
