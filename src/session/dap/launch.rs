//! What a client wants to open, or to record first.

use crate::Failure;
use crate::dap::recordings::complaint;
use crate::order::{Holding, TestCommand};
use crate::recorded::ProcessChoice;
use crate::recorded::order::RecordOrder;
use serde_json::Value;
use std::ffi::OsString;
use std::time::Duration;

/// What is opened.
#[derive(Debug, Clone, PartialEq)]
pub enum Launch {
    /// A recording.
    Open(ProcessChoice),
    /// A recording that is made first, and the process in it.
    Record(Box<RecordOrder>, Option<usize>),
}

/// Reads the arguments of a launch.
///
/// Errors: an argument has another type, or two of them exclude each other.
pub fn read(arguments: &Value) -> Result<Launch, Failure> {
    let process = match &arguments["process"] {
        Value::Null => None,
        number => {
            let index = number.as_u64().and_then(|number| usize::try_from(number).ok());
            Some(index.ok_or_else(|| complaint("`process` is a number, from 0"))?)
        }
    };
    let recording = match &arguments["recording"] {
        Value::Null => None,
        Value::Number(number) => Some(number.to_string()),
        Value::String(name) => Some(name.clone()),
        _ => return Err(complaint("`recording` is the name of a recording")),
    };
    let words = words(&arguments["command"])?;
    if words.is_empty() {
        if let Some(name) = ["build", "at", "hold", "timeout", "once"].iter().find(|name| !arguments[**name].is_null())
        {
            return Err(complaint(format!("`{name}` has a meaning only with `command`, which is recorded")));
        }
        return Ok(Launch::Open(ProcessChoice { recording, process }));
    }
    if recording.is_some() {
        return Err(complaint("`command` makes a new recording, and `recording` opens another one")
            .with_hint("leave one of them out"));
    }
    let text = |name: &str| match &arguments[name] {
        Value::Null => Ok(None),
        // Editors that ask for it give an empty one.
        Value::String(text) => Ok(Some(text.clone()).filter(|text| !text.trim().is_empty())),
        _ => Err(complaint(format!("`{name}` is a text"))),
    };
    let hold = match &arguments["hold"] {
        Value::Null => Vec::new(),
        hold => self::words(hold)?,
    };
    let timeout = match &arguments["timeout"] {
        Value::Null => None,
        number => {
            let seconds = number.as_u64().filter(|seconds| *seconds > 0);
            Some(Duration::from_secs(seconds.ok_or_else(|| complaint("`timeout` is a number of seconds"))?))
        }
    };
    let once = match &arguments["once"] {
        Value::Null => false,
        once => once.as_bool().ok_or_else(|| complaint("`once` is true or false"))?,
    };
    let command = TestCommand::from_words(words).ok_or_else(|| complaint("the test command is empty"))?;
    let order = RecordOrder {
        at: text("at")?.unwrap_or_else(|| "HEAD".to_owned()),
        build: text("build")?.map(OsString::from),
        holding: Holding { hold, no_hold: false },
        program: text("program")?.map(OsString::from),
        once,
        timeout,
        ..RecordOrder::new(command)
    };
    Ok(Launch::Record(Box::new(order), process))
}

/// A text, or a list of words.
fn words(value: &Value) -> Result<Vec<OsString>, Failure> {
    let word = |word: &Value| {
        let text = word.as_str().filter(|text| !text.contains('\0'));
        text.map(OsString::from).ok_or_else(|| complaint("a command is a line for the shell, or a list of words"))
    };
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(words) => words.iter().map(word).collect(),
        one => Ok(vec![word(one)?]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn order(arguments: &Value) -> RecordOrder {
        match read(arguments) {
            Ok(Launch::Record(order, _)) => *order,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn check_error(arguments: &Value, expected: &str) {
        let failure = read(arguments).unwrap_err();
        assert!(format!("{:?}", failure.message).contains(expected), "{failure:?}");
    }

    #[test]
    fn a_launch_opens_a_recording_or_makes_one() {
        let open = |recording: Option<&str>, process| {
            Launch::Open(ProcessChoice { recording: recording.map(str::to_owned), process })
        };
        assert_eq!(read(&json!({})), Ok(open(None, None)));
        assert_eq!(read(&json!({"recording": 3, "process": 1})), Ok(open(Some("3"), Some(1))));
        let shell = order(&json!({"command": "./test.sh x", "build": "make"}));
        assert_eq!(shell.command, TestCommand::Shell("./test.sh x".into()));
        assert_eq!(order(&json!({"command": "./a", "build": ""})).build, None);
        assert_eq!((shell.build, &*shell.at, shell.once), (Some("make".into()), "HEAD", false));
        let words = order(&json!({"command": ["./a", "b c"], "at": "HEAD~1", "timeout": 5, "once": true}));
        assert_eq!(words.command, TestCommand::Argv(vec!["./a".into(), "b c".into()]));
        assert_eq!((&*words.at, words.timeout, words.once), ("HEAD~1", Some(Duration::from_secs(5)), true));
    }

    #[test]
    fn arguments_of_other_types_are_errors() {
        check_error(&json!({"process": "x"}), "`process`");
        check_error(&json!({"process": -1}), "`process`");
        check_error(&json!({"recording": [1]}), "`recording`");
        check_error(&json!({"command": 3}), "a line for the shell");
        check_error(&json!({"command": ["a", 3]}), "a line for the shell");
        check_error(&json!({"command": " "}), "empty");
        check_error(&json!({"command": "a", "build": 3}), "`build`");
        check_error(&json!({"command": "a", "timeout": 0}), "`timeout`");
        check_error(&json!({"command": "a", "once": 1}), "`once`");
        check_error(&json!({"command": "a", "recording": "1"}), "a new recording");
        check_error(&json!({"build": "make"}), "only with `command`");
    }
}
