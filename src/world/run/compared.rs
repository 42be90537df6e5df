//! The values that a failed assertion compares, which no signature has.

use super::classify::printed;
use super::normalise::{normalise, quoted_values, without_colours};
use idd_base::Observation;
use regex::Regex;
use std::sync::LazyLock;

/// Values are looked for in so many lines after the line of a failure.
const N_LINES: usize = 12;

/// Lines with a value of an assertion: of Rust, Jest, Go, unittest, and the differences of pytest and Node.
static VALUE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"^\s*(?:E\s+)?(?:(?i:left|right|expected|actual|received|got|want(?:ed)?)\s*[:=]|[+-] )\s*\S";
    Regex::new(pattern).expect("a valid pattern")
});

/// What a failing run shows of its values: its line with this normalised form if that has values in quotes, or else the lines
/// of values after it. Empty if there are none.
pub fn compared_values(observation: &Observation, normalised: &str) -> Vec<String> {
    let in_line = printed(observation, normalised).filter(|line| !quoted_values(line).is_empty());
    if let Some(line) = in_line {
        return vec![line];
    }
    let output = without_colours(&observation.output);
    let after = output.lines().skip_while(|line| normalise(line.trim()) != normalised).skip(1).take(N_LINES);
    after.filter(|line| VALUE.is_match(line)).map(|line| line.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use idd_base::{Ending, Stage};
    use std::time::Duration;

    #[track_caller]
    fn check(output: &str, expected: &[&str]) {
        let seen = Observation {
            stage: Stage::Test,
            ending: Ending::Exit(1),
            duration: Duration::ZERO,
            limit: Duration::ZERO,
            output: output.to_owned(),
            reported: String::new(),
            is_clean: true,
            is_tampered: false,
            place: None,
        };
        let line = output.lines().next().unwrap_or_default();
        assert_eq!(compared_values(&seen, &normalise(line)), expected, "{output}");
    }

    #[test]
    fn values_stand_in_the_line_of_the_failure_or_after_it() {
        check("assert 'y' == 'x'\n", &["assert 'y' == 'x'"]);
        check(
            "assertion `left == right` failed\n  left: \"aB\"\n right: \"a_b\"\nnote: run with\n",
            &["left: \"aB\"", "right: \"a_b\""],
        );
        check(
            "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n+ actual - expected\n\n+ 1\n- 2\n    at f\n",
            &["+ actual - expected", "+ 1", "- 2"],
        );
        check(
            "Error: expect(received).toBe(expected)\n\n  Expected: 2\n  Received: 3\n",
            &["Expected: 2", "Received: 3"],
        );
        check("FAIL: x\nthe end\n", &[]);
    }
}
