//! Removes the parts of a line that differ between two runs of the same program.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// Longer lines are cut here.
const MAX_CHARS: usize = 400;

/// Removes the parts of `line` that depend on place, time and machine, so that two runs of one failure have equal
/// lines.
///
/// - Paths become `<path>`, numbers `N`, addresses `<address>`, times and dates `<time>`, durations `<duration>`,
///   random names `<id>`, versions of `git describe` `<version>`. Colours and control characters are removed, blanks become one space. Words stay.
/// - A digit inside a word stays (`utf8`, `test_3`), unless the word ends in five digits or more.
/// - Applying it twice changes nothing more. The result has no line break and at most 400 characters.
pub fn normalise(line: &str) -> String {
    let line: String = line.chars().take(4 * MAX_CHARS).collect();
    let line = without_colours(&line);
    let mut text = line.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()).fold(
        String::with_capacity(line.len()),
        |mut text, word| {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(word);
            text
        },
    );
    for (pattern, replacement) in REPLACEMENTS.iter() {
        if let Cow::Owned(replaced) = pattern.replace_all(&text, *replacement) {
            text = replaced;
        }
    }
    match text.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => text[..at].trim_end().to_owned(),
        None => text.trim().to_owned(),
    }
}

/// Removes the escape sequences of colours.
pub(super) fn without_colours(text: &str) -> Cow<'_, str> {
    static COLOUR: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-B])")
            .expect("a valid pattern")
    });
    COLOUR.replace_all(text, "")
}

/// A version as `git describe` prints it after a tag; the id can be replaced by [`COMMIT`](super::sandbox::COMMIT).
pub(super) const DESCRIBED: &str = r"\b[\w.+~-]+-\d+-g(?:[0-9a-f]{4,40}|<commit>)(?:-dirty)?";

/// In the order of application: the longer and more special forms first.
static REPLACEMENTS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        // Whether a core file is written depends on the limits of the machine.
        (r" ?\(core dumped\)", ""),
        (r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b", "<id>"),
        (r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?(?:Z|[+-]\d{2}:?\d{2})\b)?)?", "<time>"),
        (
            r"\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:\d{1,2} )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)(?: \d{1,2})?,?(?: \d{4})? \d{2}:\d{2}:\d{2}(?: [A-Z]{3,4})?(?: \d{4})?",
            "<time>",
        ),
        (r"\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?\b", "<time>"),
        // `<worktree>/x`, `/x/y`, `./x`, `~/x`, `file:///x`, and `x/y.z`; not `and/or`, not `1/2`.
        (r#"(?:file://)?<worktree>[^\s:;,'"`‘’()<>\[\]{}|]*"#, "<path>"),
        (
            r#"(^|[\s='"`‘(<\[{,:;@|])(?:file://)?(?:~|\.{1,2})?(?:/[^\s:;,'"`‘’()<>\[\]{}|/]+)+/?"#,
            "$1<path>",
        ),
        (r"(^|[^\w/>])(?:[\w.+@-]+/)+[\w+@-]*\.[\w.+-]*\w", "$1<path>"),
        (r"\b0[xX][0-9a-fA-F]+\b", "<address>"),
        (r"\btmp[._-]?[A-Za-z0-9_]*\d[A-Za-z0-9_]*\b", "<id>"),
        // As `git describe` prints it: the tag alone at a tagged commit.
        (DESCRIBED, "<version>"),
        (r"\bv\d+(?:\.\d+)+(?:-dirty)?\b", "<version>"),
        (r"\b(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{32})\b", "<id>"),
        (
            r"\b(?:\d+ ?(?:h|m|min) ?)*\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)? ?(?:ns|nsec|µs|us|usec|ms|msec|s|secs?|seconds?|milliseconds?|mins?|minutes?|h|hours?)\b",
            "<duration>",
        ),
        // A sign belongs to the number unless it joins two words.
        (r"(^|[^\w>)\]])[-+](\d)", "$1$2"),
        (r"\b\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?", "N"),
        (r"\d{5,}\b", "N"),
    ]
    .into_iter()
    .map(|(pattern, replacement)| {
        // Word boundaries of ASCII: others would make every line with non-ASCII text slow.
        let pattern = pattern.replace(r"\b", r"(?-u:\b)");
        (Regex::new(&pattern).expect("a valid pattern"), replacement)
    })
    .collect()
});

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        assert_eq!(normalise(line), expected, "{line}");
    }

    #[test]
    fn paths_are_removed_wherever_they_are() {
        check("prog: list.c:88: push: Assertion `n > 0' failed.", "prog: list.c:N: push: Assertion `n > N' failed.");
        check("/home/me/w1/prog: src/list.c:88: boom", "<path>: <path>:N: boom");
        check("<worktree>/build/prog: ../src/list.c:91: boom", "<path>: <path>:N: boom");
        check("cannot open '/tmp/x.Ab12/data file'", "cannot open '<path> file'");
        check("--file=/etc/x and (./run.sh)", "--file=<path> and (<path>)");
        check("Binary files a/x.bin and <worktree> differ", "Binary files <path> and <path> differ");
    }

    #[test]
    fn words_with_slashes_and_digits_stay() {
        check("expected and/or either I/O of utf8 \"\\n\"", "expected and/or either I/O of utf8 \"\\n\"");
        check("test_3 failed", "test_3 failed");
        check("a // comment / b", "a // comment / b");
        check("1/2 tests failed", "N/N tests failed");
    }

    #[test]
    fn numbers_addresses_and_ids_are_removed() {
        check("expected 3.5e-7, got -12", "expected N, got N");
        check("range 10-20 of list-3", "range N-N of list-N");
        check(
            "==4711==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000014 at pc 0x55d",
            "==N==ERROR: AddressSanitizer: heap-use-after-free on address <address> at pc <address>",
        );
        check("object 0123456789abcdef0123456789abcdef01234567 lost", "object <id> lost");
        check("request 123e4567-e89b-12d3-a456-426614174000 failed", "request <id> failed");
        check("worker12345 died, thread-7 too", "workerN died, thread-N too");
    }

    #[test]
    fn versions_of_git_describe_are_removed() {
        check("v0.9-9-gca52e3c: n is 9", "<version>: n is N");
        check("v0.9: n is 9", "<version>: n is N");
        check("v0.9-9-g<commit>-dirty: n is 9", "<version>: n is N");
        check("tool rel_1.2-12-g0a1b2c3d-dirty (utf8)", "tool <version> (utf8)");
        check("v2 API of list-3-good", "v2 API of list-N-good");
    }

    #[test]
    fn times_and_durations_are_removed() {
        check("2026-01-31T23:59:59.123+01:00 FAIL", "<time> FAIL");
        check("[12:00:01] FAIL foo (0.01s)", "[<time>] FAIL foo (<duration>)");
        check("Sat Jan 31 23:59:59 CET 2026: error", "<time>: error");
        check("took 1m 3s, 1h2m3.5s", "took <duration>, <duration>");
        check("took 12 ms", "took <duration>");
        check("took 3.2 seconds", "took <duration>");
    }

    #[test]
    fn colours_blanks_and_what_the_shell_adds_are_removed() {
        check("\x1b[1;31merror\x1b[0m:\t  x\r", "error: x");
        check(
            "./t.sh: line 3: 4711 Segmentation fault      (core dumped) ./prog",
            "<path>: line N: N Segmentation fault <path>",
        );
    }

    #[test]
    fn a_long_line_is_shortened() {
        assert_eq!(normalise(&"word ".repeat(10_000)).chars().count(), 399);
    }

    proptest! {
        #[test]
        fn normalising_twice_changes_nothing_more(line in "[ a-c0-9./:<>'(=-]{0,40}|\\PC{0,60}|(/?[a-z]{1,3}|[0-9]{1,6}|[:. ]|ms|tmp|<path>|-){0,12}") {
            let once = normalise(&line);
            prop_assert_eq!(normalise(&once), once);
        }

        #[test]
        fn the_place_of_the_worktree_does_not_matter(base in "(/[a-z0-9._-]{1,8}){1,4}", line in 1_u32..5000) {
            let at = |base: &str, line| normalise(&format!("{base}/src/x.c:{line}: check `a == b` failed in {base}"));
            prop_assert_eq!(at(&base, line), at("/other", 7));
            prop_assert_eq!(at("<worktree>", line), at("/other", 7));
        }
    }
}
