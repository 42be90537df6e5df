//! The statement at which a program failed, as its output names it.
//!
//! Two failures of one program are the same only if they have the same place, whatever its input.

use regex::Regex;
use std::sync::LazyLock;

/// The statement at which a program failed; `None` if its output does not name it.
///
/// Sanitizers, `assert` of C, panics of Rust, and uncaught exceptions of Python, Java and JavaScript name it. If several
/// are named, the last one counts: a later program of the test reported it.
pub fn place(output: &str) -> Option<String> {
    let mut last: Option<(usize, String)> = None;
    for (pattern, _) in PATTERNS.iter() {
        let Some(found) = pattern.captures_iter(output).last() else { continue };
        let at = found.get(0).map_or(0, |whole| whole.start());
        let groups = found.iter().skip(1).flatten().map(|group| group.as_str().trim());
        // Each worker has a checkout of its own.
        let text = DIRECTORIES.replace_all(&groups.collect::<Vec<_>>().join(" "), "").into_owned();
        if last.as_ref().is_none_or(|(known, _)| *known < at) {
            last = Some((at, text));
        }
    }
    last.map(|(_, text)| text)
}

/// The functions on the stack of a crash, the innermost first, as sanitizers and the tracer print them; each only once
/// in a row. Empty if the output does not name them.
pub fn functions(output: &str) -> Vec<String> {
    static FRAME: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?m)^ +#(\d+) 0x[0-9a-f]+ in ([^\s(]+)").expect("a valid pattern"));
    static TRACED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?m)^git-idd: crashed at (.*)$").expect("a valid pattern"));
    static NAME: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\+0x[0-9a-f]+ \(([^\s,]+)\)").expect("a valid pattern"));
    let mut functions: Vec<String> = Vec::new();
    if let Some(traced) = TRACED.captures_iter(output).last() {
        functions.extend(NAME.captures_iter(&traced[1]).map(|name| name[1].to_owned()));
    } else {
        // Other stacks follow, for example of the allocation.
        let frames = FRAME.captures_iter(output).enumerate();
        let first = frames.take_while(|(index, frame)| *index == 0 || &frame[1] != "0");
        functions.extend(first.map(|(_, frame)| frame[2].to_owned()));
    }
    functions.dedup();
    functions
}

static DIRECTORIES: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#"(?:/[^/\s:"(]+)+/"#).expect("a valid pattern"));

static PATTERNS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (r"(?m)^SUMMARY: (\w*Sanitizer: [\w-]+) (.*)$", "sanitizers"),
        (r"(?m)^(.*:\d+:\d+): runtime error: ", "undefined behaviour"),
        (r"(?m)([^\s:]+:\d+): (?:[^\n]*: )?(Assertion [`'].*[`'] failed)", "assert of C"),
        (r"(?m)^thread '[^\n]*' (?:\(\d+\) )?panicked at (?:'.*', )?(\S+:\d+:\d+)", "Rust"),
        (r"(?m)^ +File (.*, line \d+)[^\n]*\n(?:    [^\n]*\n)*(\w[\w.]*)(?::|$)", "Python"),
        (
            r"(?m)^(?:Exception in thread .*? |Caused by: )?([\w.$]+(?:Exception|Error))[^\n]*\n\s+at ([^\n]*:\d+\))",
            "Java",
        ),
        (r"(?m)^(\w*Error): [^\n]*\n    at ([^\n]*:\d+:\d+\)?)$", "JavaScript"),
        (r"(?m)^git-idd: crashed at ([^\s,]+\+0x[0-9a-f]+(?: \([^\s,]+\))?),", "a tracer"),
    ]
    .into_iter()
    .map(|(pattern, name)| (Regex::new(pattern).expect("a valid pattern"), name))
    .collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, expected: Option<&str>) {
        assert_eq!(place(output).as_deref(), expected, "{output}");
    }

    #[test]
    fn the_place_of_a_failure_is_read_as_tools_print_it() {
        check("a: a.c:12: main: Assertion `n > 3' failed.\nAborted\n", Some("a.c:12 Assertion `n > 3' failed"));
        check(
            "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1\n    #0 0x2 in f a.c:9:3\n\
             SUMMARY: AddressSanitizer: heap-buffer-overflow a.c:9:3 in f\n",
            Some("AddressSanitizer: heap-buffer-overflow a.c:9:3 in f"),
        );
        check("a.c:7:14: runtime error: signed integer overflow: 3 + 4\n", Some("a.c:7:14"));
        check("thread 'main' panicked at src/x.rs:3:5:\nboom\n", Some("src/x.rs:3:5"));
        check("thread 'main' (77) panicked at src/x.rs:3:5:\nboom\n", Some("src/x.rs:3:5"));
        check(
            "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    f()\n    ~^^\n  File \"a.py\", \
             line 2, in f\n    raise KeyError(1)\nKeyError: 1\n",
            Some("\"a.py\", line 2 KeyError"),
        );
        check(
            "Exception in thread \"main\" java.lang.IllegalStateException: x\n\tat p.A.f(A.java:7)\n\tat p.A.main(A.java:3)\n",
            Some("java.lang.IllegalStateException p.A.f(A.java:7)"),
        );
        check("TypeError: x is not a function\n    at f (/w/a.js:3:7)\n    at g\n", Some("TypeError f (a.js:3:7)"));
        check("x\ngit-idd: crashed at p+0x1139, signal 11, called from p+0x2\n", Some("p+0x1139"));
        check("git-idd: crashed at p+0x9 (f), signal 11, called from p+0x2\n", Some("p+0x9 (f)"));
        check("git-idd: crashed at ?, signal 11\n", None);
        check("FAIL: 3 != 4\n", None);
    }

    #[test]
    fn the_functions_of_the_first_stack_are_read() {
        let of = |output: &str| functions(output).join(" ");
        let stacks = "==1==ERROR: AddressSanitizer: x\n    #0 0x1 in f a.c:9:3\n    #1 0x2 in f a.c:8\n    #2 0x3 in main a.c:1\n\
                      freed by:\n    #0 0x4 in free\n";
        assert_eq!(of(stacks), "f main");
        assert_eq!(of("git-idd: crashed at p+0x9 (f), signal 11, called from p+0x2 (g), called from p+0x3\n"), "f g");
        assert_eq!(of("Segmentation fault\n"), "");
    }
}
