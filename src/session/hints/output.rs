//! Phrases in the output of a test whose cause is outside of the revision.

use idd_base::Observation;
use idd_world::process::shell;
use idd_world::run::classify::plain;
use idd_world::run::ran_nothing_at_all;
use regex::Regex;
use std::sync::LazyLock;

/// The maximum length of a quoted line, in characters.
const MAX_QUOTED: usize = 100;

/// Phrases, and what follows from them; the line is quoted before. The flag: only for a hunt without a finding, because
/// the phrase alone says little.
const PHRASES: [(&str, &str, bool); 5] = [
    (
        r"Could not resolve host|[Tt]emporary failure in name resolution|Name or service not known|Network is unreachable|No route to host|Connection refused|ECONNREFUSED|ENOTFOUND",
        "the test could not reach the network or a server. If that is why it fails, exit with 125 in this case, or name \
         the failure that you mean with `--match <regex>`",
        false,
    ),
    (
        r"(?i)address already in use|EADDRINUSE|port \d+ is (?:already )?in use",
        "the test needs a port that is taken: by another run of the test, or by a program of yours. `-j1` runs one test \
         at a time",
        false,
    ),
    (
        r"EOF when reading a line|NoSuchElementException: No line found",
        "the test reads standard input, which is empty here. Redirect it: `git idd './test.sh < input.txt'`",
        false,
    ),
    (
        r"(?i)\bstd(?:in|out) is not a (?:tty|terminal)|\bnot a terminal\b|\b(?:needs|requires) a (?:tty|terminal)\b|the input device is not a tty|inappropriate ioctl for device",
        "the test asks for a terminal. `script` gives it one: `git idd 'script -qec ./test.sh /dev/null'`",
        false,
    ),
    (
        r"(?i)cannot open display|no display (?:name )?and no \$DISPLAY|could not connect to display",
        "the test needs a display. `xvfb-run` gives it one: `git idd -- xvfb-run ./test.sh`",
        true,
    ),
];

/// The place of the phrases about ports.
const PORT: usize = 1;

static COMPILED: LazyLock<Vec<Regex>> =
    LazyLock::new(|| PHRASES.iter().map(|(pattern, ..)| Regex::new(pattern).expect("a valid pattern")).collect());

/// The hints for the outputs of these runs, as sentences.
///
/// - `is_without_finding`: whether the hunt has ended without one.
pub fn hints(seen: &[Observation], is_without_finding: bool) -> Vec<String> {
    let mut hints = Vec::new();
    for (pattern, (_, advice, is_weak)) in COMPILED.iter().zip(&PHRASES) {
        let line = seen.iter().find_map(|seen| seen.output.lines().find(|line| pattern.is_match(line)));
        if let Some(line) = line.filter(|_| is_without_finding || !is_weak) {
            let line: String = line.trim().chars().take(MAX_QUOTED).collect();
            hints.push(format!("The output has `{line}`: {advice}."));
        }
    }
    hints
}

/// The hint about a runner that succeeds and has run no test.
pub fn ran_nothing(output: &str) -> Option<String> {
    let output = plain(output);
    let line = ran_nothing_at_all(&output)?;
    Some(format!("The runner has run no test: `{}`. Check the name of the test.", line.trim()))
}

/// Whether a run found its port taken.
pub fn has_port_taken(seen: &Observation) -> bool {
    COMPILED[PORT].is_match(&seen.output)
}

/// The hint about a test script that asks its user.
///
/// - `name`: its name.
/// - `content`: its text.
/// - `command`: the test command.
pub fn question(name: &str, content: &str, command: &str) -> Option<String> {
    static ASKING: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?m)^(?:[^#\n]*\bread\s+(?:-\w+\s+)*-\w*p\b|(?:[^#\n]*[^.\w#\n])?input\().*$").expect("a constant")
    });
    let line = ASKING.find(content)?.as_str().trim();
    Some(format!(
        "`{name}` may ask a question (`{line}`), but the standard input of a test is empty, and it has no terminal. A file with \
         the answers can be given: `git idd {}`.",
        shell::quoted_text(format!("{command} < answers.txt").as_bytes())
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::observation;

    #[track_caller]
    fn check(output: &str, expected: &str) {
        let hints = hints(&[observation(1, "x\n"), observation(1, output)], false).concat();
        assert!(if expected.is_empty() { hints.is_empty() } else { hints.contains(expected) }, "{output}: {hints}");
    }

    #[test]
    fn phrases_are_quoted_with_what_follows_from_them() {
        check(
            "a\n  curl: (6) Could not resolve host: x\n",
            "The output has `curl: (6) Could not resolve host: x`: the test could",
        );
        check("Error: listen EADDRINUSE: address already in use :::3000\n", "`-j1` runs one test at a time");
        check("EOFError: EOF when reading a line\n", "standard input, which is empty here");
        check("FAIL: connection x refused; host found; port 80 is used\n", "");
        check("Error: cannot open display: \n", "");
        check("stdin: is not a tty\n", "");
        check("error: not a terminal\n", "the test asks for a terminal. `script` gives it one");
        check("read: Inappropriate ioctl for device\n", "the test asks for a terminal");
        assert!(has_port_taken(&observation(1, "bind: Address already in use\n")));
        assert!(!has_port_taken(&observation(1, "Connection refused\n")));
    }

    #[test]
    fn a_script_that_asks_its_user_is_told_apart() {
        let of = |content: &str| question("ask.sh", content, "bash ./ask.sh");
        assert!(
            of("cd x\nread -p \"continue? \" a; [ \"$a\" = y ]\n")
                .unwrap()
                .contains("(`read -p \"continue? \" a; [ \"$a\" = y ]`)")
        );
        assert!(of("read -p x y").unwrap().ends_with("`git idd 'bash ./ask.sh < answers.txt'`."));
        assert!(of("name = input('who? ')\n").is_some() && of("read -rp 'x' y\n").is_some());
        for content in ["while read -r line; do :; done < list", "# read -p x", "re_input(x)", "form.input(x)", "cat"] {
            assert_eq!(of(content), None, "{content}");
        }
    }
}
