//! Tests that are hunted one after the other: their names, and how a name is put into the test command.

use crate::Failure;
use crate::order::{HuntOrder, TestCommand};
use idd_world::process::shell;
use idd_world::run::runners::junit::{self, TestCase};
use idd_world::{files, process};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

/// The most tests of one command.
const MAX_TESTS: usize = 1000;

/// The place of a name in the test command.
pub const PLACE: &str = "{}";

/// All places.
const PLACES: [&str; 4] = [PLACE, "{name}", "{classname}", "{file}"];

/// Where the names of the tests come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestSource {
    /// Each line that this shell line prints is one.
    Command(OsString),
    /// The failures and errors of a `JUnit` file.
    Junit(OsString),
}

/// Hunts of several tests, as asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Each {
    /// The hunt of one, with places for its name.
    pub order: Box<HuntOrder>,
    /// The tests.
    pub source: TestSource,
}

/// One of the tests.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Listed {
    /// The name for people.
    pub name: Vec<u8>,
    /// What the places in the test command stand for.
    places: Vec<(&'static str, Vec<u8>)>,
}

impl Listed {
    fn of_line(line: &[u8]) -> Self {
        Self { name: line.to_vec(), places: vec![(PLACE, line.to_vec())] }
    }

    fn of_case(case: &TestCase) -> Self {
        let whole = case.whole_name();
        let text = |text: &str| text.as_bytes().to_vec();
        Self {
            name: text(&whole),
            places: vec![
                (PLACE, text(&whole)),
                ("{name}", text(&case.name)),
                ("{classname}", text(&case.class)),
                ("{file}", text(&case.file)),
            ],
        }
    }

    /// The test command for this test: the shell line with the names quoted, or the words with them inside.
    pub fn command(&self, command: &TestCommand) -> TestCommand {
        let put = |text: &OsStr, is_quoted: bool| {
            OsString::from_vec(replaced(text.as_bytes(), &|place| {
                let (_, value) = self.places.iter().find(|(known, _)| *known == place)?;
                Some(if is_quoted { shell::quoted(value) } else { value.clone() })
            }))
        };
        match command {
            TestCommand::Shell(line) => TestCommand::Shell(put(line, true)),
            TestCommand::Argv(words) => TestCommand::Argv(words.iter().map(|word| put(word, false)).collect()),
        }
    }
}

/// `text` with what `value` says for each place; what was put in is not looked at again.
fn replaced(text: &[u8], value: &dyn Fn(&str) -> Option<Vec<u8>>) -> Vec<u8> {
    let mut result = Vec::new();
    let mut rest = text;
    while let Some((first, behind)) = rest.split_first() {
        let place = PLACES.into_iter().find(|place| rest.starts_with(place.as_bytes()));
        if let Some((place, value)) = place.and_then(|place| Some((place, value(place)?))) {
            result.extend(value);
            rest = &rest[place.len()..];
        } else {
            result.push(*first);
            rest = behind;
        }
    }
    result
}

/// Whether a command has a place for a name.
pub fn has_place(command: &TestCommand) -> bool {
    let line = command.to_line();
    replaced(&line, &|_| Some(Vec::new())) != line
}

/// The tests of a source, each once, in its order.
///
/// Errors: the command fails, the file cannot be read or is no `JUnit` file, there is no test, or there are more than 1,000.
pub fn read(
    source: &TestSource,
    directory: &Path,
    environment: &[(OsString, OsString)],
) -> Result<Vec<Listed>, Failure> {
    let (mut tests, whence) = match source {
        TestSource::Command(line) => (of_command(line, directory, environment)?, "the command of `--each` prints"),
        TestSource::Junit(file) => (of_junit(file, directory)?, "the file of `--failures` has"),
    };
    let mut seen = std::collections::HashSet::new();
    tests.retain(|test| seen.insert(test.clone()));
    if tests.is_empty() {
        return Err(Failure::usage(format!("{whence} no failing test"))
            .with_hint("each line, or each failed test case, is one test"));
    }
    if tests.len() > MAX_TESTS {
        return Err(Failure::usage(format!("{whence} {} tests, more than {MAX_TESTS}", tests.len()))
            .with_hint("list those that fail: many failures with one cause need one hunt"));
    }
    Ok(tests)
}

fn of_command(line: &OsStr, directory: &Path, environment: &[(OsString, OsString)]) -> Result<Vec<Listed>, Failure> {
    let words = [OsStr::new("-c"), line];
    let printed = process::capture(OsStr::new("sh"), &words, directory, environment)?;
    if printed.code != Some(0) {
        let said = String::from_utf8_lossy(&printed.stderr).trim().lines().next_back().unwrap_or_default().to_owned();
        let said = if said.is_empty() { String::new() } else { format!(": {said}") };
        return Err(Failure::usage(format!("the command of `--each` fails{said}"))
            .with_hint("it has to end with exit code 0, and to print the name of a failing test in each line"));
    }
    let lines = printed.stdout.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    Ok(lines.filter(|line| !line.is_empty() && !line.contains(&0)).map(Listed::of_line).collect())
}

fn of_junit(file: &OsStr, directory: &Path) -> Result<Vec<Listed>, Failure> {
    let shown = file.to_string_lossy().into_owned();
    let failed = |why: String| {
        Failure::usage(format!("failed to read `{shown}`: {why}"))
            .with_hint("`--failures` takes the XML file that a runner of tests writes (JUnit)")
    };
    let bytes = files::bytes(&directory.join(file)).map_err(|error| failed(error.to_string()))?;
    let cases = junit::cases(&String::from_utf8_lossy(&bytes)).map_err(failed)?;
    let listed = cases.iter().filter(|case| case.is_failed).map(Listed::of_case);
    Ok(listed.filter(|test| !test.name.contains(&0)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(command: &TestCommand) -> String {
        String::from_utf8(command.to_line()).unwrap()
    }

    #[test]
    fn a_name_is_one_word_of_the_command_whatever_it_is() {
        let shell = TestCommand::Shell("./run {} && echo {}".into());
        let test = Listed::of_line(b"a'; rm -rf {} $x");
        assert_eq!(line(&test.command(&shell)), r#"./run "a'; rm -rf {} "'$x' && echo "a'; rm -rf {} "'$x'"#);
        let argv = TestCommand::Argv(vec!["./run".into(), "--only={}".into()]);
        let TestCommand::Argv(words) = test.command(&argv) else { panic!("it stays a list of words") };
        assert_eq!(words, ["./run", "--only=a'; rm -rf {} $x"]);
        assert!(has_place(&shell) && has_place(&argv) && !has_place(&TestCommand::Shell("./run".into())));
    }

    #[test]
    fn the_failures_and_errors_of_a_junit_file_are_read_and_other_cases_are_not() {
        let place = tempfile::tempdir().unwrap();
        let text = "<testsuites><testsuite><testcase classname='a.B' name='one' file='b.py'><failure/></testcase>
            <testcase classname='a.B' name='two'/><testcase name='three &lt;x&gt;'><error message='m'>t</error></testcase>
            <testcase classname='a.B' name='four'><skipped/></testcase></testsuite></testsuites>";
        std::fs::write(place.path().join("r.xml"), text).unwrap();
        let tests = read(&TestSource::Junit("r.xml".into()), place.path(), &[]).unwrap();
        let names: Vec<_> = tests.iter().map(|test| String::from_utf8_lossy(&test.name).into_owned()).collect();
        assert_eq!(names, ["a.B.one", "three <x>"]);
        let command = TestCommand::Shell("pytest {file} -k {name}".into());
        assert_eq!(line(&tests[0].command(&command)), "pytest b.py -k one");
        // A name that looks like a place stays a name.
        let hostile =
            Listed::of_case(&TestCase { name: "x{file}".into(), file: "'; true '".into(), ..TestCase::default() });
        let quoted = line(&hostile.command(&TestCommand::Shell("t {name}".into())));
        assert!(quoted.contains("{file}") && !quoted.contains("true"), "{quoted}");
        std::fs::write(place.path().join("r.xml"), "<testsuite><testcase>").unwrap();
        assert!(read(&TestSource::Junit("r.xml".into()), place.path(), &[]).is_err());
        std::fs::write(place.path().join("r.xml"), "<testsuite/>").unwrap();
        assert!(read(&TestSource::Junit("r.xml".into()), place.path(), &[]).is_err());
    }

    #[test]
    fn each_line_of_a_command_is_a_test_once() {
        let place = tempfile::tempdir().unwrap();
        let of = |line: &str| read(&TestSource::Command(line.into()), place.path(), &[]);
        let tests = of("printf 'a\\n\\n b c \\na\\n'").unwrap();
        assert_eq!(tests.iter().map(|test| &test.name[..]).collect::<Vec<_>>(), [&b"a"[..], b"b c"]);
        assert!(of("true").is_err() && of("echo no >&2; exit 3").is_err() && of("seq 1001").is_err());
    }
}
