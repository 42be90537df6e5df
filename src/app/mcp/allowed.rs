//! The commands that a client may run.
//!
//! The text of a client is only compared. What runs is the command that the user allowed.

use crate::args::McpArgs;
use idd_report::{Terminal, Untrusted};
use idd_session::order::TestCommand;
use idd_session::{Context, Failure};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;

/// The configuration key of further commands.
const KEY: &str = "idd.mcpAllow";

/// Commands that are listed in an error.
const MAX_LISTED: usize = 10;

/// A longer command is cut in an error, in bytes.
const MAX_SHOWN: usize = 200;

/// The commands that may run.
pub struct Allowed {
    /// The test of the command line.
    command: Option<TestCommand>,
    /// The build of the command line.
    build: Option<OsString>,
    /// Shell lines of the configuration.
    lines: Vec<OsString>,
}

impl Allowed {
    /// The commands of the command line, and those of the user's configuration.
    pub fn new(args: McpArgs, context: &Context) -> Self {
        let lines = context.configured(KEY).filter(|line| !line.trim().is_empty()).map(OsString::from);
        Self { command: args.command, build: args.build, lines: lines.collect() }
    }

    /// The allowed test that these words name; that of the command line if there are none.
    pub fn test(&self, words: Vec<OsString>) -> Result<TestCommand, Failure> {
        if words.is_empty() {
            return self.command.clone().ok_or_else(|| {
                Failure::usage("`test` is missing: the server was started without a test command")
                    .with_hint(hint("test", &self.tests()))
            });
        }
        let asked = TestCommand::from_words(words).ok_or_else(|| Failure::usage("the test command is empty"))?;
        self.is_allowed(&asked).ok_or_else(|| refused("test", &asked.to_line(), &self.tests()))
    }

    /// The allowed build that this line names; that of the command line if there is none, and none if it is empty.
    pub fn build(&self, line: Option<&str>) -> Result<Option<OsString>, Failure> {
        match line {
            None => Ok(self.build.clone()),
            Some(line) if line.trim().is_empty() => Ok(None),
            Some(line) => {
                let found = self.builds().into_iter().find(|allowed| allowed.as_bytes() == line.as_bytes());
                let shown: Vec<Vec<u8>> = self.builds().iter().map(|line| line.as_bytes().to_vec()).collect();
                found.map(Some).ok_or_else(|| refused("build", line.as_bytes(), &shown))
            }
        }
    }

    /// An error if a stored hunt has other commands.
    pub fn check(&self, command: &TestCommand, build: Option<&OsString>) -> Result<(), Failure> {
        if self.is_allowed(command).is_none() {
            return Err(refused("test of this hunt", &command.to_line(), &self.tests()));
        }
        self.check_build(build)
    }

    /// The same of a build alone.
    pub fn check_build(&self, build: Option<&OsString>) -> Result<(), Failure> {
        let Some(build) = build.filter(|build| !self.builds().contains(build)) else { return Ok(()) };
        let shown: Vec<Vec<u8>> = self.builds().iter().map(|line| line.as_bytes().to_vec()).collect();
        Err(refused("build of this hunt", build.as_bytes(), &shown))
    }

    /// The allowed test with the same line.
    fn is_allowed(&self, asked: &TestCommand) -> Option<TestCommand> {
        let lines = self.lines.iter().map(|line| TestCommand::Shell(line.clone()));
        self.command.iter().cloned().chain(lines).find(|allowed| allowed.to_line() == asked.to_line())
    }

    fn tests(&self) -> Vec<Vec<u8>> {
        let lines = self.lines.iter().map(|line| line.as_bytes().to_vec());
        self.command.iter().map(TestCommand::to_line).chain(lines).collect()
    }

    fn builds(&self) -> Vec<OsString> {
        self.build.iter().chain(&self.lines).cloned().collect()
    }
}

fn refused(what: &str, asked: &[u8], allowed: &[Vec<u8>]) -> Failure {
    let asked = shown(asked);
    let what_is_allowed = what.split(' ').next().unwrap_or(what);
    Failure::usage(format!("the {what} `{asked}` is not allowed")).with_hint(hint(what_is_allowed, allowed))
}

/// What is allowed, and how the user allows more.
fn hint(what: &str, allowed: &[Vec<u8>]) -> String {
    let listed: Vec<String> = allowed.iter().take(MAX_LISTED).map(|line| format!("`{}`", shown(line))).collect();
    let more = if allowed.len() > MAX_LISTED { ", ..." } else { "" };
    let allowed = match listed.len() {
        0 => format!("no {what} is allowed"),
        _ => format!("allowed as {what}: {}{more}", listed.join(", ")),
    };
    format!(
        "{allowed}; the user allows more with `git config --add {KEY} <line>`, or on the command line of the server \
         (`git idd mcp --build <line> -- <test-cmd>`), and starts it again"
    )
}

fn shown(line: &[u8]) -> String {
    Terminal.line(&Untrusted::from(line).cut(MAX_SHOWN))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(words: &[&str], build: Option<&str>, lines: &[&str]) -> Allowed {
        let command = TestCommand::from_words(words.iter().map(OsString::from).collect());
        let lines = lines.iter().map(OsString::from).collect();
        Allowed { command, build: build.map(OsString::from), lines }
    }

    #[test]
    fn only_what_was_allowed_runs_and_the_words_of_the_user_do() {
        let user = allowed(&["./t.sh", "a b"], Some("make"), &["./u.sh"]);
        let test = |words: &[&str]| user.test(words.iter().map(OsString::from).collect());
        let argv = TestCommand::Argv(vec!["./t.sh".into(), "a b".into()]);
        assert_eq!(test(&[]).unwrap(), argv);
        assert_eq!(test(&["./t.sh", "a b"]).unwrap(), argv);
        assert_eq!(test(&["./t.sh 'a b'"]).unwrap(), argv);
        assert_eq!(test(&["./u.sh"]).unwrap(), TestCommand::Shell("./u.sh".into()));
        for other in [&["./t.sh a b"][..], &["./t.sh"], &["./u.sh "], &["./u.sh; id"], &["make"], &["./u.sh", ""]] {
            let failure = test(other).unwrap_err();
            let hint = String::from_utf8(failure.hint.unwrap().as_bytes().to_vec()).unwrap();
            assert!(hint.contains("git config --add idd.mcpAllow"), "{other:?}: {hint}");
        }
        assert_eq!(user.build(None).unwrap(), Some("make".into()));
        assert_eq!(user.build(Some("")).unwrap(), None);
        assert_eq!(user.build(Some("./u.sh")).unwrap(), Some("./u.sh".into()));
        assert!(user.build(Some("make all")).is_err() && user.build(Some("./t.sh 'a b'")).is_err());
    }

    #[test]
    fn a_stored_hunt_runs_again_only_if_both_its_commands_are_allowed() {
        let user = allowed(&["./t.sh"], Some("make"), &[]);
        let shell = |line: &str| TestCommand::Shell(line.into());
        assert!(user.check(&shell("./t.sh"), Some(&"make".into())).is_ok());
        assert!(user.check(&shell("./t.sh"), None).is_ok());
        assert!(user.check(&shell("./t.sh"), Some(&"make x".into())).is_err());
        assert!(user.check(&shell("make"), None).is_err());
        assert!(allowed(&[], None, &[]).test(Vec::new()).is_err());
    }
}
