//! Complaints: the warnings of compilers and interpreters for a tree, with warnings enabled, whatever the build's own
//! flags are.
//!
//! [`line`](fn@line) writes one shell line that checks the named files of the tree in `IDD_WORKTREE`; [`TreeComplaints::read`]
//! reads its output. Both are pure. [`c`], [`java`] and [`python`] know the checkers, [`compiles`] finds out how a
//! build calls its compilers. Nothing here knows trees or baselines.
//!
//! The line prints each diagnostic in one line, and marks of its own that begin with `@idd`:
//! ```text
//! @idd in c build/sub        the following lines are from this checker, in this directory
//! part.c: warning: unused variable 'x' [-Wunused-variable]
//! @idd failed java           the checker could not do its work
//! @idd end                   the line was run to its end
//! ```

pub mod c;
pub mod compiles;
pub mod java;
pub mod python;

use regex::Regex;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::LazyLock;

use crate::process::shell::quoted;

/// The checker of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Checker {
    /// The compiler of C or C++.
    C,
    /// `javac`.
    Java,
    /// `python3`, with our script.
    Python,
    /// The build itself.
    Build,
}

impl Checker {
    const ALL: [Self; 4] = [Self::C, Self::Java, Self::Python, Self::Build];

    /// The stable word for it, as used in the marks.
    pub fn word(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Java => "java",
            Self::Python => "python",
            Self::Build => "build",
        }
    }

    /// The checker of the file at `path`, by its extension; `None` if there is none.
    ///
    /// The build is the checker only for languages whose compilers print `warning:` and `error:`, not for every changed
    /// text, because it takes a whole build.
    pub fn of(path: &[u8]) -> Option<Self> {
        const BUILT: [&str; 38] = [
            "S", "ada", "adb", "ads", "asm", "cs", "cu", "d", "elm", "erl", "ex", "f", "f03", "f08", "f90", "f95",
            "fs", "go", "groovy", "hs", "kt", "l", "m", "ml", "mli", "mm", "nim", "pas", "proto", "rs", "s", "scala",
            "swift", "ts", "tsx", "vala", "y", "zig",
        ];
        let extension = extension(path)?;
        match extension {
            "java" => Some(Self::Java),
            "py" | "pyw" => Some(Self::Python),
            _ if c::is_source(path) || c::is_header(path) => Some(Self::C),
            _ => BUILT.contains(&extension).then_some(Self::Build),
        }
    }
}

/// The text after the last dot of a path's last component.
fn extension(path: &[u8]) -> Option<&str> {
    Path::new(OsStr::from_bytes(path)).extension()?.to_str()
}

/// The files to check.
#[derive(Debug, Clone, Default)]
pub struct Checks<'c> {
    /// Units of C and C++.
    pub units: Vec<c::CheckedUnit>,
    /// Sources of Java, relative to the top.
    pub java: Vec<Vec<u8>>,
    /// The build's options for Java.
    pub java_options: java::CompilerOptions,
    /// Sources of Python, relative to the top.
    pub python: Vec<Vec<u8>>,
    /// A command that builds everything, if the build is a checker.
    pub build: Option<&'c OsStr>,
}

impl Checks<'_> {
    /// Whether nothing is checked.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty() && self.java.is_empty() && self.python.is_empty() && self.build.is_none()
    }
}

/// The shell line of these checks in the worktree `IDD_WORKTREE`; a missing file is skipped.
pub fn line(checks: &Checks<'_>) -> OsString {
    let mut text = b"LC_ALL=C; export LC_ALL; unset LANGUAGE; cd \"$IDD_WORKTREE\" || exit\n".to_vec();
    c::append(&mut text, &checks.units);
    java::append(&mut text, &checks.java, &checks.java_options);
    python::append(&mut text, &checks.python);
    if let Some(build) = checks.build {
        text.extend(b"echo '@idd in build .'\nsh -c ");
        text.extend(quoted(build.as_bytes()));
        text.extend(b" 2>&1 | grep -aiE 'warning:|error:' | sort -u\n");
    }
    text.extend(b"echo '@idd end'\n");
    OsString::from_vec(text)
}

/// The words that set the positional parameters to the existing files of `files`.
fn append_present(text: &mut Vec<u8>, files: &[Vec<u8>]) {
    text.extend(b"set --\nfor idd_file in");
    for file in files {
        text.push(b' ');
        text.extend(quoted(file));
    }
    text.extend(b"; do test -f \"$idd_file\" && set -- \"$@\" \"$idd_file\"; done\n");
}

/// The result of the checkers for one tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TreeComplaints {
    /// Each complaint once: file, relative to the top, and text, without positions.
    pub complaints: BTreeSet<(Checker, String)>,
    /// The checkers that failed.
    pub failed: BTreeSet<Checker>,
    /// Whether a file was missing that a build may make.
    pub is_lacking: bool,
}

impl TreeComplaints {
    /// Reads the output of a line. If the output was cut, every checker counts as failed.
    pub fn read(output: &str) -> Self {
        let mut heard = Self::default();
        let mut place: Option<(Checker, &str)> = None;
        let mut is_whole = false;
        for line in output.lines() {
            if let Some(mark) = line.strip_prefix("@idd ") {
                let (verb, rest) = mark.split_once(' ').unwrap_or((mark, ""));
                let (word, directory) = rest.split_once(' ').unwrap_or((rest, ""));
                let checker = Checker::ALL.into_iter().find(|checker| checker.word() == word);
                match verb {
                    "in" => place = checker.map(|checker| (checker, directory)),
                    "failed" => heard.failed.extend(checker),
                    _ => is_whole |= verb == "end",
                }
            } else if is_cut(line) {
                is_whole = false;
                break;
            } else if let Some((checker, directory)) = place
                && let Some(text) = complaint(checker, directory, line)
            {
                heard.is_lacking |= is_lack(&text);
                heard.complaints.insert((checker, text));
            }
        }
        if !is_whole {
            return Self { failed: Checker::ALL.into(), ..Self::default() };
        }
        heard
    }
}

fn is_cut(line: &str) -> bool {
    line.starts_with("[... ") && line.ends_with(" bytes cut ...]")
}

/// Whether a message is about a missing file that a build could make.
fn is_lack(text: &str) -> bool {
    ["No such file or directory", "file not found", "cannot find symbol", " does not exist"]
        .iter()
        .any(|lack| text.contains(lack))
}

/// The complaint of a line, `file: text`; `None` if it is none, or about a file outside the worktree.
fn complaint(checker: Checker, directory: &str, line: &str) -> Option<String> {
    const MAX_CHARS: usize = 400;
    static KIND: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("(:[0-9]+){0,2}: (warning|error|fatal error): ").expect("a valid pattern"));
    let (file, text) = match (checker, KIND.find(line)) {
        (Checker::Build, _) => return Some(without_positions(line.trim()).chars().take(MAX_CHARS).collect()),
        (_, Some(kind)) => (&line[..kind.start()], &line[kind.start()..]),
        (_, None) => return None,
    };
    let file = match file.strip_prefix("<worktree>/") {
        Some(file) => plain(file)?,
        None if file.starts_with('/') => return None,
        None => plain(&format!("{directory}/{file}"))?,
    };
    // If a tool prints its own name (`cc1: warning: ...`), there is no extension.
    extension(file.as_bytes())?;
    let text = text.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit()).trim();
    Some(format!("{file}: {}", without_positions(text)).chars().take(MAX_CHARS).collect())
}

/// A path without `.` and `..`; `None` if it leads out of its start.
fn plain(path: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The text without numbers of lines and columns.
fn without_positions(text: &str) -> Cow<'_, str> {
    static POSITIONS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?<path>[\w./+-]*\.\w+)(?::\d+){1,2}\b|(?<word>\b(?:[Ll]ines?|[Cc]olumns?)) \d+(?:\s*(?:-|to|and)\s*\d+)?")
            .expect("a valid pattern")
    });
    POSITIONS.replace_all(text, "$path$word")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(checker: Checker, directory: &str, line: &str, expected: Option<&str>) {
        assert_eq!(complaint(checker, directory, line).as_deref(), expected, "{line}");
    }

    #[test]
    fn a_complaint_is_a_file_and_a_text_without_positions() {
        let unused = "src/a.c: warning: unused variable 'x1' [-Wunused-variable]";
        for (directory, line) in [
            (".", "src/a.c:12:3: warning: unused variable 'x1' [-Wunused-variable]"),
            ("build", "../src/a.c: warning: unused variable 'x1' [-Wunused-variable]"),
            ("build", "<worktree>/src/a.c:7: warning: unused variable 'x1' [-Wunused-variable]"),
        ] {
            check(Checker::C, directory, line, Some(unused));
        }
        check(
            Checker::C,
            ".",
            "a.c:1:2: fatal error: x.h: No such file or directory",
            Some("a.c: fatal error: x.h: No such file or directory"),
        );
        check(Checker::C, ".", "/usr/include/x.h:3:4: warning: bad", None);
        check(Checker::C, ".", "../x.h:3:4: warning: bad", None);
        check(Checker::C, ".", "cc1: warning: unrecognised option", None);
        check(Checker::C, ".", "a.c:3:4: note: declared here", None);
        check(
            Checker::Java,
            ".",
            "A.java:3: warning: [rawtypes] found raw type: List",
            Some("A.java: warning: [rawtypes] found raw type: List"),
        );
        check(Checker::Build, ".", "warning: unused: `x` (src/x.rs:3:4)", Some("warning: unused: `x` (src/x.rs)"));
    }

    #[test]
    fn positions_inside_of_a_text_do_not_count_and_names_and_other_numbers_do() {
        check(
            Checker::C,
            ".",
            "a.c:3:4: warning: 'line' at line 12 and lines 3-4, first used at x.c:3:4 of 7",
            Some("a.c: warning: 'line' at line and lines, first used at x.c of 7"),
        );
    }

    #[test]
    fn output_is_read_by_its_marks() {
        let heard = TreeComplaints::read(
            "noise: warning: not ours\n@idd in c d\na.c: warning: one\na.c: warning: one\n@idd in java .\nA.java: error: cannot find symbol class X\n@idd failed python\n@idd end\n",
        );
        let complaints = [
            (Checker::C, "d/a.c: warning: one".to_owned()),
            (Checker::Java, "A.java: error: cannot find symbol class X".to_owned()),
        ];
        assert_eq!(
            heard,
            TreeComplaints { complaints: complaints.into(), failed: [Checker::Python].into(), is_lacking: true }
        );
        for cut in ["", "@idd in c .\na.c: warning: one\n", "@idd in c .\n[... 77 bytes cut ...]\n@idd end\n"] {
            assert_eq!(
                TreeComplaints::read(cut),
                TreeComplaints { failed: Checker::ALL.into(), ..TreeComplaints::default() },
                "{cut}"
            );
        }
    }

    #[test]
    fn who_checks_a_file_is_told_by_its_extension() {
        for (path, expected) in [
            (&b"a/b.c"[..], Some(Checker::C)),
            (b"b.hpp", Some(Checker::C)),
            (b"B.java", Some(Checker::Java)),
            (b"x.d/b.py", Some(Checker::Python)),
            (b"src/lib.rs", Some(Checker::Build)),
            (b"README.md", None),
            (b"Makefile", None),
        ] {
            assert_eq!(Checker::of(path), expected);
        }
    }
}
