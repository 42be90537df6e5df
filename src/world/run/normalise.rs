//! Removes the parts of a line that differ between two runs of the same program.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Longer lines are cut here.
const MAX_CHARS: usize = 400;

/// Removes the parts of `line` that depend on place, time and machine, so that two runs of one failure have equal
/// lines.
///
/// Two lines are *alike* if they are equal afterwards. [`MASKS`] is the table of what is removed; colours and control
/// characters go too, and blanks become one space. Words stay, and so do the names of source files.
///
/// - A digit inside a word stays (`utf8`, `test_3`), unless the word ends in five digits or more.
/// - A quoted value goes only in a line that compares values: elsewhere, quotes enclose names.
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
    for (pattern, mask) in MASKS.iter() {
        let replaced = match mask {
            Mask::Text(replacement) => pattern.replace_all(&text, *replacement),
            Mask::By(replacement) => pattern.replace_all(&text, replacement),
        };
        if let Cow::Owned(replaced) = replaced {
            text = replaced;
        }
    }
    if COMPARES.is_match(&text) && !NAMES.is_match(&text) {
        text = QUOTED.replace_all(&text, "$1$2<value>").into_owned();
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

/// A version as `git describe` prints it after a tag; the id can be replaced by [`COMMIT`](super::printed::COMMIT).
pub(super) const DESCRIBED: &str = r"\b[\w.+~-]+-\d+-g(?:[0-9a-f]{4,40}|<commit>)(?:-dirty)?";

/// What stands in place of a part.
enum Mask {
    /// A text, with groups of the pattern.
    Text(&'static str),
    /// The text that this function makes of the match.
    By(fn(&Captures<'_>) -> String),
}

/// Directories whose files have new names in each run.
const TEMPORARY: [&str; 4] = ["/tmp/", "/var/tmp/", "/dev/shm/", "/run/"];

/// A path (group 2, after group 1) without its directory; the name of a source file stays.
fn masked_path(found: &Captures<'_>) -> String {
    let (before, path) = (&found[1], &found[2]);
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_word = |part: &str| part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_source = !TEMPORARY.iter().any(|directory| path.trim_start_matches("file://").starts_with(directory))
        && name.split('.').all(is_word)
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.+-".contains(c))
        && name.contains('.');
    if is_source { format!("{before}<path>/{name}") } else { format!("{before}<path>") }
}

/// A word of hexadecimal digits, which is an id if it has letters and digits.
fn masked_id(found: &Captures<'_>) -> String {
    let is_id = [u8::is_ascii_digit, u8::is_ascii_alphabetic].iter().all(|kind| found[0].as_bytes().iter().any(kind));
    if is_id { "N".to_owned() } else { found[0].to_owned() }
}

/// In the order of application: the longer and more special forms first.
static MASKS: LazyLock<Vec<(Regex, Mask)>> = LazyLock::new(|| {
    let by = Mask::By;
    let text = Mask::Text;
    [
        // Whether a core file is written depends on the limits of the machine.
        (r" ?\(core dumped\)", text("")),
        (r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b", text("<id>")),
        (
            r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?(?:Z|[+-]\d{2}:?\d{2})\b)?)?",
            text("<time>"),
        ),
        (
            r"\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:\d{1,2} )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)(?: \d{1,2})?,?(?: \d{4})? \d{2}:\d{2}:\d{2}(?: [A-Z]{3,4})?(?: \d{4})?",
            text("<time>"),
        ),
        (r"\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?\b", text("<time>")),
        // `<worktree>/x`, `/x/y`, `./x`, `~/x`, `file:///x`, and `x/y.z`; not `and/or`, not `1/2`.
        (r#"()((?:file://)?<worktree>[^\s:;,'"`‘’()<>\[\]{}|]*)"#, by(masked_path)),
        (
            r#"(^|[\s='"`‘(<\[{,:;@|])((?:file://)?(?:~|\.{1,2})?(?:/[^\s:;,'"`‘’()<>\[\]{}|/]+)+/?)"#,
            by(masked_path),
        ),
        (r"(^|[^\w/>])((?:[\w.+@-]+/)+[\w+@-]*\.[\w.+-]*\w)", by(masked_path)),
        (r"\b0[xX][0-9a-fA-F]+\b", text("<address>")),
        (r"\btmp[._-]?[A-Za-z0-9_]*\d[A-Za-z0-9_]*\b", text("<id>")),
        // As `git describe` prints it: the tag alone at a tagged commit.
        (DESCRIBED, text("<version>")),
        (r"\bv\d+(?:\.\d+)+(?:-dirty)?\b", text("<version>")),
        (r"\b(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{32})\b", text("<id>")),
        (
            r"\b(?:\d+ ?(?:h|m|min) ?)*\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)? ?(?:ns|nsec|µs|us|usec|ms|msec|s|secs?|seconds?|milliseconds?|mins?|minutes?|h|hours?)\b",
            text("<duration>"),
        ),
        (r"\b\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)? ?(?:[kKMGTP]i?B|bytes?)\b", text("<size>")),
        (r"\b[0-9a-fA-F]{7,}\b", by(masked_id)),
        // A sign belongs to the number unless it joins two words.
        (r"(^|[^\w>)\]])[-+](\d)", text("$1$2")),
        (r"\b\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?", text("N")),
        (r"\d{5,}\b", text("N")),
    ]
    .into_iter()
    .map(|(pattern, mask)| (compiled(pattern), mask))
    .collect()
});

/// Lines that compare values.
static COMPARES: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?i)\b(?:expect\w*|got|want\w*|actual\w*|received|returned|but was|instead of|left|right|equals?|differs?|match\w*|(?:not|unexpectedly) found in)\b|[!=]=",
    )
});

/// Of these, lines in which quotes enclose what was asserted, or the code that does not compile.
static NAMES: LazyLock<Regex> = LazyLock::new(|| {
    compiled(r#"(?i)\bassertion ['"].*\bfailed|^[^\s:]+(?::\w+){1,2}: (?:fatal )?error:|^SyntaxError"#)
});

/// Values, with what is before them: in quotes, or as `JUnit` prints them.
static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
    compiled(r#"(?i)(^|[\s(\[{=,:])(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|((?:expected|actual|was):? ?)<[^<>]+>"#)
});

/// The quoted values of a line that compares values, which [`normalise`] leaves out.
pub fn quoted_values(line: &str) -> Vec<&str> {
    let has_values = COMPARES.is_match(line) && !NAMES.is_match(line);
    QUOTED.find_iter(line).filter(|_| has_values).map(|found| found.as_str().trim_start()).collect()
}

/// Word boundaries of ASCII: others would make every line with non-ASCII text slow.
fn compiled(pattern: &str) -> Regex {
    Regex::new(&pattern.replace(r"\b", r"(?-u:\b)")).expect("a valid pattern")
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        assert_eq!(normalise(line), expected, "{line}");
    }

    #[test]
    fn paths_are_removed_wherever_they_are() {
        check("prog: list.c:88: push: Assertion `n > 0' failed.", "prog: list.c:N: push: Assertion `n > N' failed.");
        check("/home/me/w1/prog: src/list.c:88: boom", "<path>: <path>/list.c:N: boom");
        check("<worktree>/build/prog: ../src/list.c:91: boom", "<path>: <path>/list.c:N: boom");
        check("/usr/lib/python3.11/json/x_1.py and /tmp/x.Ab/a.py", "<path>/x_1.py and <path>");
        check("cannot open '/tmp/x.Ab12/data file'", "cannot open '<path> file'");
        check("--file=/etc/x and (./run.sh)", "--file=<path> and (<path>/run.sh)");
        check("Binary files a/x.bin and <worktree> differ", "Binary files <path>/x.bin and <path> differ");
    }

    #[test]
    fn words_with_slashes_and_digits_stay() {
        check("accepts and/or either I/O of utf8 \"\\n\"", "accepts and/or either I/O of utf8 \"\\n\"");
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
    fn short_ids_and_sizes_are_removed() {
        check("at 1a2b3c4: defaced beef", "at N: defaced beef");
        check("at 1234567: used 1e+03 KiB, 12 bytes of 900kB", "at N: used <size>, <size> of <size>");
    }

    #[test]
    fn quoted_values_are_removed_from_comparisons_only() {
        check("AssertionError: 'ab' != \"it's\"", "AssertionError: <value> != <value>");
        check("expected:<[ab]> but was:<[a]c>", "expected:<value> but was:<value>");
        check("x_test.go:7: Parse() = \"a\\\"b\", want \"c\"", "x_test.go:N: Parse() = <value>, want <value>");
        check("ModuleNotFoundError: No module named 'ab'", "ModuleNotFoundError: No module named 'ab'");
        check("a.c:3:5: error: expected ';' before 'x'", "a.c:N:N: error: expected ';' before 'x'");
        check("Assertion 'a == b' failed at f", "Assertion 'a == b' failed at f");
        check("doesn't match what isn't", "doesn't match what isn't");
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
            "<path>/t.sh: line N: N Segmentation fault <path>",
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
        fn lines_that_differ_in_a_letter_outside_the_masks_are_not_alike(
            words in vec("[g-kq-r]{2,6}", 4), at in 0_usize..4, letter in "[x-z]", masked in 0_usize..7,
        ) {
            let masks = ["17", "src/x.c:3:", "'a b' != 'c'", "0x7f", "3 ms", "1a2b3c4d", "<worktree>/t"];
            let line = |words: &[String]| [&words[..2], &[masks[masked].to_owned()], &words[2..]].concat().join(" ");
            let mut others = words.clone();
            others[at].replace_range(..1, &letter);
            prop_assert_ne!(normalise(&line(&words)), normalise(&line(&others)));
        }

        #[test]
        fn the_place_of_the_worktree_does_not_matter(base in "(/[a-z0-9_-]{1,8}){1,4}", line in 1_u32..5000) {
            let at = |base: &str, line| normalise(&format!("{base}/src/x.c:{line}: check `a == b` failed in {base}"));
            prop_assert_eq!(at(&base, line), at("/other", 7));
            prop_assert_eq!(at("<worktree>", line), at("/other", 7));
        }
    }
}
