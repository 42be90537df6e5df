//! Arguments and variables of the test as parts of the input: a script in the checkout sets and passes them.

use crate::order::TestCommand;
use crate::{Context, Failure};
use idd_world::process::shell;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The name of the script in the directory of the test.
pub const NAME: &str = ".git-idd-test";

/// The script, and which parts of it are reduced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    test: TestCommand,
    /// The arguments, if they are reduced.
    arguments: Option<Vec<OsString>>,
    /// The variables with their values.
    variables: Vec<(String, OsString)>,
}

impl Script {
    /// The script of a test; `None` if neither arguments nor variables are reduced.
    ///
    /// Errors: the test is a shell line, which has no arguments; a variable is not set.
    pub fn new(
        test: &TestCommand,
        has_args: bool,
        names: &[String],
        context: &Context,
    ) -> Result<Option<Self>, Failure> {
        let usage = |message: String, hint: &str| Err(Failure::usage(message).with_hint(hint));
        let arguments = match test {
            _ if !has_args => None,
            TestCommand::Argv(words) => Some(words[1..].to_vec()),
            TestCommand::Shell(_) => {
                return usage(
                    "`--args` needs the test as a program and its arguments".to_owned(),
                    "a single word after `--` is a shell line; write the words apart: -- ./prog -a b",
                );
            }
        };
        let mut variables = Vec::new();
        for name in names {
            let is_name = |(index, byte): (usize, u8)| {
                byte == b'_' || byte.is_ascii_alphabetic() || (index > 0 && byte.is_ascii_digit())
            };
            let value = context.variable(name).filter(|_| name.bytes().enumerate().all(is_name));
            let Some(value) = value else {
                return usage(
                    format!("the variable `{name}` is not set"),
                    "`--env` takes the name of a variable of the environment",
                );
            };
            variables.push((name.clone(), value));
        }
        let is_needed = arguments.is_some() || !variables.is_empty();
        Ok(is_needed.then(|| Self { test: test.clone(), arguments, variables }))
    }

    /// The parts as lists of words, each with a NUL after it: the arguments, then the variables (`NAME=value`).
    pub fn parts(&self) -> Vec<Vec<u8>> {
        let arguments = self
            .arguments
            .iter()
            .map(|words| words.iter().flat_map(|word| word.as_bytes().iter().copied().chain([0])).collect::<Vec<u8>>());
        let variables = self.variables.iter().flat_map(|(name, value)| {
            let pair = name.bytes().chain([b'=']).chain(value.as_bytes().iter().copied());
            pair.chain([0]).collect::<Vec<u8>>()
        });
        let variables: Vec<u8> = variables.collect();
        arguments.chain(Some(variables).filter(|variables| !variables.is_empty())).collect()
    }

    /// What each of these parts is, in the order of [`parts`](Self::parts).
    pub fn names(&self) -> Vec<&'static str> {
        let arguments = self.arguments.as_ref().map(|_| "arguments");
        arguments.into_iter().chain((!self.variables.is_empty()).then_some("variables")).collect()
    }

    /// The script with these contents of the parts; `None` if they are no arguments and variables.
    pub fn text(&self, parts: &[&[u8]]) -> Option<Vec<u8>> {
        let mut parts = parts.iter();
        let line = match (&self.arguments, &self.test) {
            (Some(_), TestCommand::Argv(words)) => {
                let arguments = words_of(parts.next()?)?;
                let program = words.first()?.as_bytes();
                [b"exec ".to_vec(), shell::line([program].into_iter().chain(arguments))].concat()
            }
            (_, test) => test.to_line(),
        };
        let mut text = Vec::new();
        if !self.variables.is_empty() {
            let set = words_of(parts.next()?)?;
            let mut open: Vec<&str> = self.variables.iter().map(|(name, _)| name.as_str()).collect();
            for word in set {
                let end = word.iter().position(|byte| *byte == b'=')?;
                let at = open.iter().position(|name| name.as_bytes() == &word[..end])?;
                open.remove(at);
                let value = shell::quoted(&word[end + 1..]);
                text.extend([b"export ", &word[..=end], &value, b"\n"].concat());
            }
            for name in open {
                text.extend_from_slice(format!("unset {name}\n").as_bytes());
            }
        }
        text.extend(line);
        text.push(b'\n');
        Some(text)
    }

    /// The script as the test of a candidate.
    pub fn command() -> Vec<OsString> {
        vec!["/bin/sh".into(), NAME.into()]
    }

    /// A part for people: its words in the quoting of the shell.
    pub fn shown(part: &[u8]) -> OsString {
        OsString::from_vec(shell::line(words_of(part).unwrap_or_default()))
    }

    /// The path of the script relative to the top.
    pub fn path(prefix: &std::path::Path) -> Vec<u8> {
        prefix.join(OsStr::new(NAME)).into_os_string().into_vec()
    }
}

/// The words of a part; `None` if the last one has no end.
fn words_of(part: &[u8]) -> Option<Vec<&[u8]>> {
    let Some((last, words)) = part.split_last() else { return Some(Vec::new()) };
    (*last == 0).then(|| words.split(|byte| *byte == 0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Embedding;

    fn context() -> Context {
        let environment = vec![("MODE".into(), "it's".into()), ("X1".into(), "1".into())];
        Context {
            directory: "/".into(),
            environment,
            configuration: Vec::new(),
            interrupt: None,
            kept_executor: None,
            embedding: Embedding::default(),
        }
    }

    #[test]
    fn arguments_and_variables_become_a_script() {
        let test = TestCommand::Argv(["./p", "-a", "b c"].map(OsString::from).into());
        let script = Script::new(&test, true, &["MODE".to_owned(), "X1".to_owned()], &context()).unwrap().unwrap();
        let parts = script.parts();
        assert_eq!(parts, [b"-a\0b c\0".to_vec(), b"MODE=it's\0X1=1\0".to_vec()]);
        let made = |parts: &[&[u8]]| script.text(parts).map(|text| String::from_utf8(text).unwrap());
        let whole = "export MODE=\"it's\"\nexport X1=1\nexec ./p -a 'b c'\n";
        assert_eq!(made(&[&parts[0], &parts[1]]).as_deref(), Some(whole));
        assert_eq!(made(&[b"c\0", b"X1=\0"]).as_deref(), Some("export X1=''\nunset MODE\nexec ./p c\n"));
        assert_eq!(made(&[b"", b""]).as_deref(), Some("unset MODE\nunset X1\nexec ./p\n"));
        assert_eq!(made(&[b"c", b"X1=\0"]), None, "a word without an end");
        assert_eq!(made(&[b"c\0", b"X=\0"]), None, "another variable");
    }

    #[test]
    fn a_shell_line_has_no_arguments_and_a_variable_must_be_set() {
        let test = TestCommand::Shell("./p -a".into());
        assert!(Script::new(&test, true, &[], &context()).is_err());
        assert!(Script::new(&test, false, &["NONE".to_owned()], &context()).is_err());
        assert_eq!(Script::new(&test, false, &[], &context()).unwrap(), None);
    }
}
