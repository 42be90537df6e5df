//! The words of a text that can name files.

use std::collections::BTreeSet;

/// At most this many different words are looked at.
const MAX_WORDS: usize = 400;

/// Texts in messages about missing files.
const LACKS: [&str; 14] = [
    "not found",
    "No such file",
    "no such file",
    "cannot open",
    "can't open",
    "Cannot open",
    "could not open",
    "Could not open",
    "cannot find",
    "Cannot find",
    "can't find",
    "does not exist",
    "No rule to make target",
    "not exist",
];

/// The words of the lines that report a missing file, each once, in their order.
pub fn lacking(output: &str) -> Vec<&str> {
    words(output.lines().filter(|line| LACKS.iter().any(|lack| line.contains(lack))))
}

/// The words of a script or command, without comments, each once, in their order.
pub fn of_script(text: &str) -> Vec<&str> {
    words(text.lines().filter(|line| !line.trim_start().starts_with(['#', '%'])))
}

fn words<'t>(lines: impl Iterator<Item = &'t str>) -> Vec<&'t str> {
    let mut known = BTreeSet::new();
    // The worktree of a probe is printed as `<worktree>`.
    let parts = lines
        .flat_map(|line| line.split(|letter: char| letter.is_whitespace() || "'\"`()[]{},;:=|&<>".contains(letter)));
    parts
        .map(|word| word.trim_end_matches(['.', '!', '?']))
        .filter(|word| word.len() > 1 && word.contains(|letter: char| letter.is_ascii_alphanumeric()))
        .filter(|word| known.insert(*word))
        .take(MAX_WORDS)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_in_the_lines_that_report_a_lack() {
        let output =
            "reading x.txt\n./t.sh: 3: ./calc: not found\n/bin/sh: 1: 'lib/a.so': cannot open shared object file.\n";
        assert_eq!(
            lacking(output),
            ["./t.sh", "./calc", "not", "found", "/bin/sh", "lib/a.so", "cannot", "open", "shared", "object", "file"]
        );
    }

    #[test]
    fn comments_of_a_script_name_nothing() {
        assert_eq!(of_script("#!/bin/sh\n# see ./doc\nx=$(./calc 1) || ./b\n"), ["$", "./calc", "./b"][1..]);
    }
}
