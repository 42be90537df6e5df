//! The suite: its failures, and the command that runs it.

use crate::order::{HuntOrder, TestCommand};
use idd_base::{Ending, Observation, Stage, TreeId};
use idd_hunt::own_tests::{Covered, RunnableFiles};
use idd_world::process::shell;
use idd_world::repo::{RepoError, TreeStore};
use idd_world::run::runners::RunnerReport;
use idd_world::run::{form, is_cut, is_telling};
use regex::Regex;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt};
use std::path::Path;
use std::sync::LazyLock;

/// At most this many new lines of a suite are reported.
pub const MAX_LINES: usize = 5;

/// The failures in a run of a suite.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failures {
    /// The tests that fail, if the runner names them, and the lines that report a failure, numbers included: without such a
    /// runner all, else those of the commands after it. And how often each is printed.
    lines: BTreeMap<String, usize>,
    /// The sum of the suite's own counts: `2 failed, 1 error`, `Failures: 3`.
    n_counted: u64,
    /// Whether the middle of the output was dropped.
    is_cut: bool,
}

impl Failures {
    /// Reads them from an output.
    pub fn of(seen: &Observation) -> Self {
        let mut failures = Self { is_cut: is_cut(seen), ..Self::default() };
        let report = RunnerReport::of_run(seen);
        let rest = report.as_ref().map_or_else(|| seen.output.clone(), |report| report.rest_of(&seen.output));
        failures.n_counted = seen.output.lines().filter_map(counted).sum();
        // A runner may tell more of its tests at its end, indented.
        let is_own = |line: &&str| report.is_some() && line.starts_with(char::is_whitespace);
        let telling = rest.lines().filter(|line| !is_own(line) && counted(line).is_none() && is_telling(line));
        let lines: Vec<String> = telling.map(form).collect();
        for failure in report.into_iter().flat_map(|report| report.failed).chain(lines) {
            *failures.lines.entry(failure).or_default() += 1;
        }
        failures
    }

    /// Whether a failing suite names a failure, so that new failures can be recognised.
    pub fn can_tell(&self) -> bool {
        !self.is_cut && (self.n_counted > 0 || !self.lines.is_empty())
    }

    /// The lines that are printed more often than at `known`.
    pub fn beyond<'a>(&'a self, known: &'a Self) -> impl Iterator<Item = &'a String> {
        let is_more = |(line, n): &(&String, &usize)| **n > known.lines.get(*line).copied().unwrap_or(0);
        self.lines.iter().filter(is_more).map(|(line, _)| line)
    }

    /// Whether the suite itself counts more failures than at `known`.
    pub fn counts_more_than(&self, known: &Self) -> bool {
        self.n_counted > known.n_counted
    }
}

/// Why a run of the suite cannot be compared with others; `None` if it can.
pub fn why_useless(seen: &Observation) -> Option<&'static str> {
    match seen.ending {
        Ending::Exit(0) => None,
        _ if seen.stage == Stage::Build => Some("the build fails"),
        Ending::Exit(125..=127) | Ending::NotRun(_) => Some("it cannot be run"),
        Ending::Exit(_) if is_unstarted(&seen.output) => Some("it cannot be run"),
        Ending::Timeout => Some("it does not end in time"),
        Ending::Exit(_) | Ending::Signal(_) if Failures::of(seen).can_tell() => None,
        Ending::Exit(_) | Ending::Signal(_) if is_cut(seen) => Some("it fails, and prints more than is kept"),
        Ending::Exit(_) | Ending::Signal(_) => Some("it fails, and names no failure"),
    }
}

/// Whether an output says that the command itself could not be started (a misspelt file or directory, for example).
pub fn is_unstarted(output: &str) -> bool {
    static UNSTARTED: LazyLock<Regex> = LazyLock::new(|| {
        let patterns = [
            r"\S*python[\d.]*: can't open file ",
            r"\S*(?:sh|bash|dash|ksh|zsh): (?:line )?(?:\d+: )?(?:cannot|can't) open ",
            r"\S*make(?:\[\d+\])?: \*\*\* \S+: No such file or directory\.  Stop\.",
            r"\S*make(?:\[\d+\])?: \S+: No such file or directory$",
            r"Can't open perl script ",
            r"ruby: No such file or directory -- ",
            r"Error: Cannot find module '\S+'$",
        ];
        Regex::new(&format!("(?m)^(?:{})", patterns.join("|"))).expect("a valid pattern")
    });
    UNSTARTED.is_match(output)
}

/// A runner that takes a selection of tests.
struct Selecting {
    /// The words that start it.
    starts: &'static [&'static str],
    /// Options with a value that select tests.
    selects: &'static [&'static str],
    /// Options without a value that only serve a selection.
    flags: &'static [&'static str],
    /// Other options that have a value of their own.
    values: &'static [&'static str],
    /// What ends a file in the name of one of its tests.
    inside: Option<&'static str>,
    /// Whether a plain word selects tests, and not files.
    has_names: bool,
}

/// The runners whose selection is known.
const SELECTING: [Selecting; 16] = [
    Selecting { starts: &["pytest"], selects: &["-k", "-m"], inside: Some("::"), ..PLAIN },
    Selecting { starts: &["py.test"], selects: &["-k", "-m"], inside: Some("::"), ..PLAIN },
    Selecting { starts: &["-m", "pytest"], selects: &["-k", "-m"], inside: Some("::"), ..PLAIN },
    Selecting {
        starts: &["cargo", "test"],
        flags: &["--exact"],
        values: &[
            "-p",
            "--package",
            "--test",
            "--bin",
            "--example",
            "--manifest-path",
            "-F",
            "--features",
            "-j",
            "--test-threads",
            "--skip",
        ],
        has_names: true,
        ..PLAIN
    },
    Selecting { starts: &["go", "test"], selects: &["-run", "--run"], ..PLAIN },
    Selecting { starts: &["ctest"], selects: &["-R", "--tests-regex", "-I"], ..PLAIN },
    Selecting { starts: &["jest"], selects: &["-t", "--testNamePattern"], ..PLAIN },
    Selecting { starts: &["vitest", "run"], selects: &["-t", "--testNamePattern"], ..PLAIN },
    Selecting { starts: &["vitest"], selects: &["-t", "--testNamePattern"], ..PLAIN },
    Selecting { starts: &["mocha"], selects: &["-g", "--grep", "-f", "--fgrep"], ..PLAIN },
    Selecting { starts: &["phpunit"], selects: &["--filter"], ..PLAIN },
    Selecting {
        starts: &["rspec"],
        selects: &["-e", "--example", "-t", "--tag"],
        values: &["-I", "-r", "--require", "-f", "--format"],
        inside: Some(":"),
        ..PLAIN
    },
    Selecting { starts: &["node", "--test"], selects: &["--test-name-pattern"], ..PLAIN },
    Selecting { starts: &["busted"], selects: &["-t", "--tags", "--filter", "--name"], ..PLAIN },
    Selecting { starts: &["prove"], values: &["-I", "-j", "-e"], ..PLAIN },
    Selecting { starts: &["bats"], selects: &["-f", "--filter"], values: &["-j", "--jobs"], ..PLAIN },
];

const PLAIN: Selecting =
    Selecting { starts: &[], selects: &[], flags: &[], values: &[], inside: None, has_names: false };

/// A runner stands after at most this many words, such as `python3` or `npx`.
const MAX_BEFORE: usize = 3;

/// The shell line of the suite: that of the user, or else the test command without its selection.
pub fn line(order: &HuntOrder) -> Option<OsString> {
    let can_widen = !order.test.no_suite && order.history.find.is_failure();
    let widened = || if can_widen { widened(&order.command) } else { None };
    order.test.suite.clone().or_else(widened)
}

/// A command of a known runner.
struct RunnerCommand<'c> {
    runner: &'static Selecting,
    /// What a shell line sets for it: `GO111MODULE=off `, or nothing.
    set: &'c str,
    words: Vec<&'c str>,
    /// Its words without its selection of tests.
    kept: Vec<&'c str>,
    /// Of these, the paths.
    paths: Vec<&'c str>,
    /// Of these, the options.
    options: Vec<&'c str>,
}

impl<'c> RunnerCommand<'c> {
    fn read(command: &'c TestCommand) -> Option<Self> {
        let (set, line) = match command {
            TestCommand::Argv(_) => ("", ""),
            TestCommand::Shell(line) => assigned(line.to_str()?),
        };
        let words: Vec<&str> = match command {
            TestCommand::Argv(words) => words.iter().map(|word| word.to_str()).collect::<Option<_>>()?,
            // A line that the shell would read otherwise than word by word is left alone.
            TestCommand::Shell(_) => {
                let is_plain = |line: &&str| !line.contains(|letter| "|&;<>()$`\\\"'*?[]#~=%!{}\n".contains(letter));
                Some(line).filter(is_plain)?.split_whitespace().collect()
            }
        };
        let (runner, begin) = SELECTING.iter().find_map(|runner| {
            let n_starts = runner.starts.len();
            let is_start = |at: &usize| {
                let name = words[*at].rsplit('/').next().unwrap_or_default();
                name == runner.starts[0] && words[at + 1..at + n_starts] == runner.starts[1..]
            };
            let last = words.len().checked_sub(n_starts)?.min(MAX_BEFORE);
            (0..=last).find(is_start).map(|at| (runner, at + n_starts))
        })?;
        let mut read = Self {
            runner,
            set,
            kept: words[..begin].to_vec(),
            paths: Vec::new(),
            options: Vec::new(),
            words: words.clone(),
        };
        let mut rest = words[begin..].iter();
        while let Some(word) = rest.next() {
            let is_joined = |option: &&str| word.strip_prefix(*option).is_some_and(|rest| rest.starts_with('='));
            if runner.selects.contains(word) {
                rest.next();
            } else if word.starts_with('-') {
                if !runner.flags.contains(word) && !runner.selects.iter().any(is_joined) {
                    read.kept.push(word);
                    read.options.push(word);
                }
                if runner.values.contains(word) {
                    read.kept.extend(rest.next());
                }
            } else if !runner.has_names {
                let file = runner.inside.and_then(|mark| word.split(mark).next()).unwrap_or(word);
                // Two tests of one file are one file.
                if file == *word || !read.kept.contains(&file) {
                    read.kept.push(file);
                    read.paths.push(file);
                }
            }
        }
        if read.kept.last() == Some(&"--") {
            read.kept.pop();
        }
        Some(read)
    }

    /// The shell line of these words with what is set for them.
    fn line<'w>(&self, words: impl IntoIterator<Item = &'w [u8]>) -> OsString {
        OsString::from_vec([self.set.as_bytes(), &shell::line(words)].concat())
    }
}

/// A shell line without the plain assignments at its beginning, and these.
fn assigned(line: &str) -> (&str, &str) {
    static ASSIGNED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^(?:[A-Za-z_]\w*=[\w./:,+-]*\s+)*").expect("a valid pattern"));
    line.split_at(ASSIGNED.find(line).map_or(0, |found| found.end()))
}

/// The test command without its selection of tests: all tests of the same file or package. `None` if it is no command of
/// a known runner, or selects nothing.
fn widened(command: &TestCommand) -> Option<OsString> {
    let read = RunnerCommand::read(command)?;
    (read.kept != read.words).then(|| read.line(read.kept.iter().map(|word| word.as_bytes())))
}

/// The test files that a hunt can run by the runner of its test command. None, if the user has named a suite or wants none,
/// or if the runner takes no files.
///
/// Of a cargo workspace, only files of the package at its top: the command runs no other.
pub fn runnable_files(order: &HuntOrder) -> RunnableFiles {
    let is_asked = order.test.suite.is_none() && !order.test.no_suite && order.history.find.is_failure();
    let Some(read) = RunnerCommand::read(&order.command).filter(|_| is_asked) else { return RunnableFiles::default() };
    let suffix = |path: &&str| Some(format!(".{}", path.rsplit('/').next()?.rsplit_once('.')?.1).into_bytes());
    let (suffixes, prefixes) = match read.runner.starts[0] {
        "go" => (vec![b"_test.go".to_vec()], Vec::new()),
        "cargo" if read.options.iter().any(|option| OF_PACKAGE.contains(option)) => (Vec::new(), Vec::new()),
        "cargo" => (vec![b".rs".to_vec()], vec![b"src/".to_vec(), b"tests/".to_vec()]),
        "ctest" => (Vec::new(), Vec::new()),
        _ => (read.paths.iter().filter_map(suffix).collect(), Vec::new()),
    };
    RunnableFiles { suffixes, prefixes }
}

/// The test command without its selection, which also runs the tests in `files`; see [`runnable_files`].
///
/// - `directory`: where it runs, relative to the top, as the files are.
pub fn with_files(command: &TestCommand, files: &[Vec<u8>], directory: &Path) -> Option<OsString> {
    let read = RunnerCommand::read(command)?;
    let mut words: Vec<Vec<u8>> = read.kept.iter().map(|word| word.as_bytes().to_vec()).collect();
    match read.runner.starts[0] {
        // All targets: cargo takes the names of targets, which the manifest gives.
        "cargo" => {
            let targets = ["--test", "--bin", "--example", "--lib", "--bins", "--doc", "--tests"].map(str::as_bytes);
            while let Some(at) = words.iter().position(|word| targets.contains(&&word[..])) {
                let n_words =
                    if read.runner.values.iter().any(|option| option.as_bytes() == words[at]) { 2 } else { 1 };
                words.drain(at..(at + n_words).min(words.len()));
            }
        }
        runner => {
            let files = files.iter().map(|file| seen_from(directory, file));
            let own = files.map(|file| match file.iter().rposition(|byte| *byte == b'/') {
                Some(end) if runner == "go" => [b"./", &file[..end]].concat(),
                None if runner == "go" => b".".to_vec(),
                // No option comes from the repository.
                _ if file.starts_with(b"-") => [b"./", &file[..]].concat(),
                _ => file.clone(),
            });
            for word in own {
                if !words.contains(&word) {
                    words.push(word);
                }
            }
        }
    }
    Some(read.line(words.iter().map(|word| &word[..])))
}

/// A path relative to the top, as it is named in a directory.
fn seen_from(directory: &Path, path: &[u8]) -> Vec<u8> {
    match Path::new(OsStr::from_bytes(path)).strip_prefix(directory) {
        Ok(below) => below.as_os_str().as_bytes().to_vec(),
        Err(_) => [&b"../".repeat(directory.components().count())[..], path].concat(),
    }
}

/// The command for all tests of the project by the runner of the test command; `None` if the runner is not known, or
/// finds tests only where its arguments say.
pub fn whole(command: &TestCommand) -> Option<String> {
    let read = RunnerCommand::read(command)?;
    let line = match read.runner.starts[0] {
        "cargo" if !read.options.iter().any(|option| OF_PACKAGE.contains(option)) => {
            with_files(command, &[], Path::new(""))?
        }
        "pytest" | "py.test" | "-m" | "jest" | "vitest" | "rspec" | "busted" | "ctest" => {
            let is_kept = |word: &&&str| !read.paths.contains(*word);
            read.line(read.kept.iter().filter(is_kept).map(|word| word.as_bytes()))
        }
        "go" => {
            let words = read.kept.iter().filter(|word| !read.paths.contains(*word)).chain([&"./..."]);
            read.line(words.map(|word| word.as_bytes()))
        }
        _ => return None,
    };
    line.into_string().ok()
}

/// The command of cargo with its options and one test, `{}`, in place of the names; `None` for any other command.
pub fn one_of_cargo(command: &TestCommand) -> Option<String> {
    let read = RunnerCommand::read(command).filter(|read| read.runner.starts[0] == "cargo" && read.set.is_empty())?;
    let mut parts = read.kept.splitn(2, |word| *word == "--");
    let [before, after] = [(); 2].map(|()| parts.next().unwrap_or_default());
    let after = ["--exact"].into_iter().chain(after.iter().copied());
    let line = |words: &mut dyn Iterator<Item = &str>| shell::line(words.map(str::as_bytes));
    let lines = [&line(&mut before.iter().copied())[..], b" {} -- ", &line(&mut { after })].concat();
    String::from_utf8(lines).ok()
}

/// The tests that a command executes, if it is one of a known runner and selects none of them by name.
pub fn covered(command: &TestCommand) -> Covered {
    let Some(read) = RunnerCommand::read(command).filter(|read| read.kept == read.words) else {
        return Covered::Unknown;
    };
    let leaves_out = |option: &&str| LEAVES_OUT.iter().any(|word| option.to_lowercase().contains(word));
    let is_whole = match read.runner.starts {
        ["cargo", ..] => {
            !read.options.iter().any(|option| OF_CARGO.contains(option) || read.runner.values.contains(option))
        }
        ["go", ..] => read.paths == ["./..."],
        _ => read.paths.is_empty(),
    };
    let has_paths = !["cargo", "go", "ctest"].contains(&read.runner.starts[0]);
    match () {
        () if read.options.iter().any(leaves_out) => Covered::Unknown,
        () if is_whole => Covered::All,
        () if has_paths => {
            let path = |path: &&str| path.trim_start_matches("./").trim_end_matches('/').as_bytes().to_vec();
            Covered::Below(read.paths.iter().map(path).collect())
        }
        () => Covered::Unknown,
    }
}

/// Parts of the names of options with which a runner leaves tests out, in small letters.
const LEAVES_OUT: [&str; 19] = [
    "ignore",
    "filter",
    "pattern",
    "exclude",
    "deselect",
    "project",
    "grep",
    "tag",
    "only",
    "changed",
    "shard",
    "related",
    "skip",
    "short",
    "group",
    "suite",
    "last-failed",
    "--lf",
    "--stepwise",
];

/// Options with which cargo runs the tests of some packages.
const OF_PACKAGE: [&str; 3] = ["-p", "--package", "--manifest-path"];

/// Options with which cargo runs the tests of some targets.
const OF_CARGO: [&str; 6] = ["--lib", "--bins", "--doc", "--tests", "--examples", "--benches"];

/// The number of failures in a line; `None` if it has no count.
fn counted(line: &str) -> Option<u64> {
    static COUNT: LazyLock<Regex> = LazyLock::new(|| {
        let words = r"(?:failed|failures?|errors?|failing|not ok)";
        let pattern = format!(r"(?i)\b(\d+) (?:tests? )?{words}\b|\b(?:tests? )?{words} ?[:=] ?(\d+)\b");
        Regex::new(&pattern).expect("a valid pattern")
    });
    let numbers = COUNT.captures_iter(line).filter_map(|found| found.get(1).or_else(|| found.get(2)));
    numbers.map(|number| number.as_str().parse().unwrap_or(u64::MAX / 1000)).reduce(u64::saturating_add)
}

/// The obvious command for all tests of a tree, by the files at its top; `None` if there is none.
///
/// It is suggested to the user, and never run unasked.
///
/// - `directory`: where it runs. Make, ctest and Maven do not look above it.
pub fn obvious(store: &TreeStore, tree: TreeId, directory: &Path) -> Result<Option<&'static str>, RepoError> {
    let text = |path: &str| -> Result<String, RepoError> {
        let file = store.file(tree, path.as_bytes())?;
        Ok(match file {
            Some((_, bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
            None => String::new(),
        })
    };
    let here = |name: &str| text(&directory.join(name).to_string_lossy());
    let has_target =
        |makefile: &str, target: &str| makefile.lines().any(|line| line.starts_with(&format!("{target}:")));
    for makefile in ["Makefile", "makefile", "GNUmakefile"] {
        let makefile = here(makefile)?;
        for (target, command) in [("check", "make check"), ("test", "make test")] {
            if has_target(&makefile, target) {
                return Ok(Some(command));
            }
        }
    }
    if !here("Makefile.am")?.is_empty() {
        return Ok(Some("make check"));
    }
    if here("CMakeLists.txt")?.contains("enable_testing") {
        return Ok(Some("ctest"));
    }
    if !here("pom.xml")?.is_empty() {
        return Ok(Some("mvn test"));
    }
    if !text("go.mod")?.is_empty() {
        return Ok(Some("go test ./..."));
    }
    if !text("Cargo.toml")?.is_empty() {
        return Ok(Some("cargo test"));
    }
    if text("package.json")?.contains("\"test\":") {
        return Ok(Some("npm test"));
    }
    let is_of_pytest = !text("pytest.ini")?.is_empty()
        || !text("tox.ini")?.is_empty()
        || ["pyproject.toml", "setup.cfg"]
            .iter()
            .try_fold(false, |found, path| Ok(found || text(path)?.contains("pytest")))?;
    Ok(is_of_pytest.then_some("pytest"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn failures(output: &str) -> Failures {
        Failures::of(&Observation {
            stage: Stage::Test,
            ending: Ending::Exit(1),
            duration: Duration::ZERO,
            limit: Duration::ZERO,
            output: output.to_owned(),
            reported: String::new(),
            is_clean: true,
            is_tampered: false,
            place: None,
        })
    }

    #[track_caller]
    fn check(known: &str, seen: &str, expected: &[&str], counts_more: bool) {
        let (known, seen) = (failures(known), failures(seen));
        assert_eq!(seen.beyond(&known).collect::<Vec<_>>(), expected);
        assert_eq!(seen.counts_more_than(&known), counts_more);
    }

    #[test]
    fn a_suite_that_was_not_started_is_known_by_what_its_launcher_says() {
        for output in [
            "python3: can't open file '/x/nosuch.py': [Errno 2] No such file or directory\n",
            "/usr/bin/python3.11: can't open file 'nosuch.py'\n",
            "sh: 0: cannot open nosuch.sh: No such file\n",
            "make: *** nosuch: No such file or directory.  Stop.\n",
            "make: nosuch.mk: No such file or directory\nmake: *** No rule to make target 'nosuch.mk'.  Stop.\n",
            "Can't open perl script \"nosuch.pl\": No such file or directory\n",
        ] {
            assert!(is_unstarted(output), "{output}");
        }
        for output in
            ["FAIL: cannot open nosuch.txt: No such file\n", "test: Error: Cannot find module 'x' is printed\n"]
        {
            assert!(!is_unstarted(output), "{output}");
        }
    }

    #[test]
    fn a_failure_is_new_by_its_number_and_by_how_often_it_is_told() {
        check("not ok 1\n", "not ok 1\n", &[], false);
        check("not ok 1\n", "not ok 2\n", &["not ok 2"], false);
        check("FAIL: a\n", "FAIL: a\nok\nFAIL: a\n", &["FAIL: a"], false);
        check("FAIL: a\nFAIL: b\n", "FAIL: b\n", &[], false);
    }

    #[test]
    fn a_runner_that_names_its_tests_is_believed_whatever_else_it_prints() {
        let jest = |tests: &str, n: usize| {
            format!(
                "FAIL test/a.ts (5.2 s)\n{tests}\nTests:       {n} failed, 2 passed, 3 total\nRan all test suites.\n"
            )
        };
        let at_head = jest("  ✕ is null (1 ms)\n  ✓ should fail (1 ms)\n  ● a › is null", 1);
        let with_fix =
            jest("  ✕ is null\n  ✓ should fail\n  ● a › is null\n  E another line fails", 1).replace(" (5.2 s)", "");
        check(&at_head, &with_fix, &[], false);
        let worse = jest("  ● a › is null\n  ● a › should fail", 2);
        check(&at_head, &worse, &["test/a.ts a › should fail"], true);
        let mocha = |details: &str| format!("  1 passing\n  1 failing\n\n  1) a:\n       b:\n{details}");
        check(&mocha(""), &mocha("\n     AssertionError: expected 3 to equal 4\n"), &[], false);
    }

    #[test]
    fn what_another_command_prints_after_the_runner_counts_too() {
        let pytest = "FAILED t.py::one - assert 3\n=== 1 failed, 2 passed in 0.1s ===\n";
        check(pytest, &format!("{pytest}a.c:3:1: error: bad\n"), &["a.c:N: error: bad"], false);
        check(&format!("{pytest}a.c:3:1: error: bad\n"), &format!("{pytest}a.c:4:1: error: bad\n"), &[], false);
        check(pytest, &format!("E   assert 3\n{pytest}"), &[], false);
    }

    #[test]
    fn a_command_without_a_selection_covers_the_project_or_the_paths_that_it_names() {
        let below = |path: &str| Covered::Below(vec![path.as_bytes().to_vec()]);
        for (line, expected) in [
            ("go test ./...", Covered::All),
            ("go test ./pkg", Covered::Unknown),
            ("go test -run TestOne ./...", Covered::Unknown),
            ("cargo test --release", Covered::All),
            ("cargo test --lib", Covered::Unknown),
            ("npx jest --testPathPattern a", Covered::Unknown),
            ("pytest --lf", Covered::Unknown),
            ("cargo test -p core", Covered::Unknown),
            ("npx vitest run", Covered::All),
            ("npx vitest run ./test/q.test.ts", below("test/q.test.ts")),
            ("npx vitest run test/q.test.ts -t one", Covered::Unknown),
            ("python3 -m pytest -q tests/", below("tests")),
            ("pytest tests/a.py::one", Covered::Unknown),
            ("pytest --ignore tests/b", Covered::Unknown),
            ("rspec -I lib", Covered::All),
            ("prove -l t/a.t", below("t/a.t")),
            ("make check", Covered::Unknown),
        ] {
            assert_eq!(covered(&TestCommand::Shell(line.into())), expected, "{line}");
        }
        assert!(below("tests").has(b"tests/a.py") && !below("tests").has(b"tests2/a.py"));
        let in_directory = |line: &str| covered(&TestCommand::Shell(line.into())).run_in(Path::new("pkg/"));
        assert_eq!(in_directory("pytest"), below("pkg"));
        assert_eq!(in_directory("pytest tests/"), below("pkg/tests"));
        assert_eq!(in_directory("pytest ../tests"), Covered::Below(Vec::new()));
        assert_eq!(in_directory("make check"), Covered::Unknown);
    }

    #[test]
    fn a_selection_is_widened_to_the_file_or_the_package() {
        let of = |line: &str| widened(&TestCommand::Shell(line.into())).map(|line| line.into_string().unwrap());
        for (line, expected) in [
            ("pytest tests/test_a.py::test_one", "pytest tests/test_a.py"),
            ("python3 -m pytest -q t/a.py::C::one t/a.py::two -k x", "python3 -m pytest -q t/a.py"),
            (".venv/bin/pytest -x t/a.py::one", ".venv/bin/pytest -x t/a.py"),
            ("cargo test -p core parses -- --exact", "cargo test -p core"),
            ("cargo test --test cli one", "cargo test --test cli"),
            ("cargo test one -- --test-threads 1 --exact two", "cargo test -- --test-threads 1"),
            ("pytest -n 2 --maxfail 2 t.py::one", "pytest -n 2 --maxfail 2 t.py"),
            ("go test -run TestOne ./pkg", "go test ./pkg"),
            ("ctest -R one --output-on-failure", "ctest --output-on-failure"),
            ("npx jest a.test.js -t adds", "npx jest a.test.js"),
            ("npx mocha --grep adds t.js", "npx mocha t.js"),
            ("rspec -I lib spec/a_spec.rb:12", "rspec -I lib spec/a_spec.rb"),
            ("node --test --test-name-pattern adds a.js", "node --test a.js"),
            ("bats -f adds test", "bats test"),
            ("busted --filter adds spec", "busted spec"),
            ("GO111MODULE=off A= go test -run One .", "GO111MODULE=off A= go test ."),
        ] {
            assert_eq!(of(line).as_deref(), Some(expected), "{line}");
        }
        for line in [
            "pytest tests/test_a.py",
            "cargo test",
            "make check",
            "./test.sh t/a.py::one",
            "pytest t.py::one | tee log",
            "go",
            "X=$(y) pytest t.py::one",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
        let words = ["pytest", "t/a b.py::one[x]"].map(OsString::from).to_vec();
        assert_eq!(widened(&TestCommand::Argv(words)), Some("pytest 't/a b.py'".into()));
    }

    #[test]
    fn the_tests_of_the_culprit_are_run_by_the_command_of_the_user() {
        let files = [b"test/b.ts".to_vec(), b"c_test.go".to_vec(), b"-p it's.py".to_vec()];
        for (line, file, expected) in [
            ("npx mocha test/new.ts", 0, "npx mocha test/new.ts test/b.ts"),
            ("pytest -q new.py::test_a", 0, "pytest -q new.py test/b.ts"),
            ("pytest test/b.ts", 0, "pytest test/b.ts"),
            ("go test -run TestA ./pkg", 1, "go test ./pkg ."),
            ("pytest new.py", 2, r#"pytest new.py "./-p it's.py""#),
            ("cargo test -q --test new one", 0, "cargo test -q"),
        ] {
            let line = with_files(&TestCommand::Shell(line.into()), &files[file..=file], Path::new("")).unwrap();
            assert_eq!(line, expected);
        }
        let in_directory = |line: &str, file: &[u8]| {
            with_files(&TestCommand::Shell(line.into()), &[file.to_vec()], Path::new("pkg/tests/")).unwrap()
        };
        assert_eq!(in_directory("pytest new.py", b"pkg/tests/b.py"), "pytest new.py b.py");
        assert_eq!(in_directory("pytest new.py", b"pkg/b_test.py"), "pytest new.py ../../pkg/b_test.py");
        assert_eq!(in_directory("go test -run TestA", b"pkg/tests/c_test.go"), "go test .");
        for (line, expected) in [
            ("GO111MODULE=off go test -run TestA ./pkg", Some("GO111MODULE=off go test ./...")),
            (".venv/bin/python -m pytest -q new.py::test_a", Some(".venv/bin/python -m pytest -q")),
            ("cargo test --test new one", Some("cargo test")),
            ("npx mocha new.ts", None),
            ("cargo test -p core one", None),
        ] {
            assert_eq!(whole(&TestCommand::Shell(line.into())).as_deref(), expected);
        }
        let taken = |line: &str, change: fn(&mut HuntOrder)| {
            let mut order = HuntOrder::new(TestCommand::Shell(line.into()));
            change(&mut order);
            runnable_files(&order).suffixes.concat()
        };
        assert_eq!(taken("npx mocha -R spec test/new.test.ts", |_| {}), b".ts");
        assert_eq!(taken("go test -run TestA", |_| {}), b"_test.go");
        assert_eq!(taken("make check", |_| {}), b"");
        assert_eq!(taken("cargo test -p core one", |_| {}), b"");
        let of_cargo = runnable_files(&HuntOrder::new(TestCommand::Shell("cargo test one".into())));
        assert!(of_cargo.has(b"tests/a.rs") && !of_cargo.has(b"member/tests/a.rs") && !of_cargo.has(b"tests/a.toml"));
        let below = of_cargo.run_in(Path::new("member/"));
        assert!(below.has(b"member/tests/a.rs") && !below.has(b"tests/a.rs"));
        assert_eq!(taken("pytest a.py", |order| order.test.no_suite = true), b"");
        assert_eq!(taken("pytest a.py", |order| order.test.suite = Some("make check".into())), b"");
    }

    #[test]
    fn what_a_suite_counts_may_go_down() {
        check("2 failed, 40 passed in 0.2s\n", "1 failed, 41 passed in 0.3s\n", &[], false);
        check("40 passed\n", "1 failed, 1 error\n", &[], true);
        check("Tests failed: 0\n", "Tests failed: 1\n", &[], true);
        check("Tests run: 5, Failures: 1, Errors: 0\n", "Tests run: 5, Failures: 0, Errors: 2\n", &[], true);
    }

    #[test]
    fn a_suite_that_names_no_failure_or_whose_output_was_cut_cannot_tell() {
        assert!(failures("FAIL: a\n").can_tell());
        assert!(failures("3 failed\n").can_tell());
        assert!(!failures("test old: bad\n").can_tell());
        assert!(!failures("FAIL: a\n[... 12 bytes cut ...]\nFAIL: b\n").can_tell());
    }
}
