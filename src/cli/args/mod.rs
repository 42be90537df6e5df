//! The command line as plain data.
//!
//! [`parse`] turns words and configured values into a [`Request`]; it reads nothing else, so the same words always mean
//! the same. [`options`] says which options there are, [`config`] which of them `git config` may set, `command` how
//! they are put together. What a request does is not known here.

mod command;
pub mod config;
pub mod options;
pub mod share;

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use clap::FromArgMatches;
use serde::Deserialize;
use serde::Serialize;

use crate::cli::args::command::Cli;
use crate::cli::args::command::Subcommand;
use crate::cli::args::command::TraceCommand;
use crate::cli::args::options::Algorithm;
use crate::cli::args::options::Allowance;
use crate::cli::args::options::Effort;
use crate::cli::args::options::Explain;
use crate::cli::args::options::History;
use crate::cli::args::options::Holding;
use crate::cli::args::options::Hunt;
use crate::cli::args::options::Keep;
use crate::cli::args::options::LogFormat;
use crate::cli::args::options::Output;
use crate::cli::args::options::Record;
use crate::cli::args::options::ReportFormat;
use crate::cli::args::options::Shell;
use crate::cli::args::options::Side;
use crate::cli::args::options::SignatureMode;
use crate::cli::args::options::Test;

use crate::explain::chain::Method;

pub use crate::cli::args::command::command;

/// One run of the program, as asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Invocation {
    /// What to do.
    pub request: Request,
    /// How to talk about it.
    pub output: Output,
    /// Sentences for stderr, such as an unknown `idd.*` key; they may hold text of the user's configuration.
    pub warnings: Vec<String>,
}

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Hunt for the change that broke the test.
    Hunt(HuntArgs),
    /// Reduce the difference of two revisions; nothing is searched and nothing ported.
    Minimize {
        /// The revision at which the test passes.
        good: String,
        /// The revision at which it fails.
        bad: String,
        /// The rest, as in a hunt; its `history` has the default values.
        hunt: HuntArgs,
    },
    /// List the hunts that are kept.
    List,
    /// Say what a hunt has come to.
    Status {
        /// Which, if not the newest: its id, or the beginning of it.
        hunt: Option<String>,
    },
    /// Go on with a hunt.
    Resume {
        /// Which, if not the newest.
        hunt: Option<String>,
        /// How much it may do.
        allowance: Allowance,
    },
    /// Print what was tested.
    Log {
        /// By which hunt, if not the newest.
        hunt: Option<String>,
        /// Only what this probe, or the one that answered for this revision, wrote.
        probe: Option<String>,
        /// In which form.
        format: LogFormat,
    },
    /// Print the finding again.
    Show {
        /// Of which hunt, if not the newest finding.
        hunt: Option<String>,
    },
    /// Print the finding for other people and programs.
    Report {
        /// Of which hunt, if not the newest finding.
        hunt: Option<String>,
        /// In which form.
        format: ReportFormat,
        /// As a page instead.
        page: Option<PageArgs>,
    },
    /// Run what proves a finding again.
    Verify {
        /// The certificate.
        file: OsString,
        /// Whether its commands may be run.
        is_agreed: bool,
    },
    /// Put the fix into the user's working tree.
    Apply {
        /// Of which hunt, if not the newest finding.
        hunt: Option<String>,
        /// Which of the fixes, if not the recommended one.
        rung: Option<options::Rung>,
    },
    /// Forget the hunts of this worktree.
    Reset,
    /// Remove what no hunt needs any more.
    Gc,
    /// Explain a failure.
    Explain(ExplainArgs),
    /// Record a test.
    Record(RecordArgs),
    /// Show a recording.
    Trace(TraceArgs),
    /// Print completions.
    Completions {
        /// For this shell.
        shell: Shell,
    },
    /// Print the man page.
    Man,
}

/// Everything a hunt is told by the user; stored beside it, so that `resume` can start it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HuntArgs {
    /// The test.
    pub command: TestCommand,
    /// Where to look.
    pub history: History,
    /// What is run, and what its result means.
    pub test: Test,
    /// How much work is done, and how.
    pub effort: Effort,
}

/// A report as a page, as asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageArgs {
    /// Where it is written; `-` is stdout, and `None` a file in the git directory.
    pub file: Option<OsString>,
    /// Whether it is opened in a browser.
    pub is_opened: bool,
}

/// A recording, as asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordArgs {
    /// The test.
    pub command: TestCommand,
    /// The revision.
    pub at: String,
    /// Shell line that is run before the test.
    pub build: Option<OsString>,
    /// What is kept as it is now.
    pub holding: Holding,
    /// The program that is meant, if the test runs several.
    pub program: Option<OsString>,
    /// Whether it is not compared with other runs.
    pub once: bool,
    /// Bytes that all traces may take on disk.
    pub max_trace: u64,
    /// Bytes that the test may write to one file.
    pub max_output: u64,
    /// What is kept if they would take more.
    pub keep: Keep,
    /// Limit of build and test, each.
    pub timeout: Option<Duration>,
}

/// An explanation, as asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainArgs {
    /// The test; that of the hunt if none is given.
    pub command: Option<TestCommand>,
    /// The revision that fails.
    pub bad: Option<String>,
    /// The one that passes.
    pub good: Option<String>,
    /// The hunt whose change is explained, if not the newest finding.
    pub hunt: Option<String>,
    /// Decisions that may be switched in search of a reference; `None` if it is a version.
    pub switch_budget: Option<usize>,
    /// Tests after which the search for the chain ends.
    pub max_tests: u64,
    /// Which pair of the hunt.
    pub at: Side,
    /// Shell line that is run before the test.
    pub build: Option<OsString>,
    /// What is kept as it is now; in versions of a hunt that is done.
    pub holding: Holding,
    /// The program that is meant.
    pub program: Option<OsString>,
    /// How the chain is found.
    pub method: Method,
    /// Whether the chain is not asked again.
    pub is_unchecked: bool,
    /// Bytes that all traces may take on disk.
    pub max_trace: u64,
    /// Bytes that the test may write to one file.
    pub max_output: u64,
    /// Limit of build and test, each.
    pub timeout: Option<Duration>,
}

/// What is shown of which recording.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceArgs {
    /// The recording; the last one if none is named.
    pub recording: Option<String>,
    /// The process, by its number in the recording; the chosen one if none is named.
    pub process: Option<usize>,
    /// What is shown.
    pub shown: Shown,
}

/// What is shown of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// All recordings.
    List,
    /// Counts.
    Stat,
    /// Calls and loops: how many below each other and beside each other.
    Tree {
        /// Below each other.
        depth: usize,
        /// Beside each other.
        width: usize,
    },
    /// A step.
    Step(u32),
    /// Where the value of a variable comes from.
    Why {
        /// Before this step.
        step: u32,
        /// The variable.
        variable: String,
        /// Steps that are shown.
        limit: usize,
    },
}

/// The test command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TestCommand {
    /// One argument: a line for `sh -c`; not blank.
    Shell(OsString),
    /// Several arguments: a program and its arguments; at least two words, the first not empty.
    Argv(Vec<OsString>),
}

impl TestCommand {
    /// As a line for the shell.
    pub fn to_line(&self) -> Vec<u8> {
        match self {
            Self::Shell(line) => line.as_bytes().to_vec(),
            Self::Argv(words) => to_line(words.iter().map(|word| word.as_bytes())),
        }
    }

    fn from_words(mut words: Vec<OsString>) -> Option<Self> {
        let is_blank = words.first()?.to_string_lossy().trim().is_empty();
        match words.len() {
            _ if is_blank => None,
            1 => Some(Self::Shell(words.remove(0))),
            _ => Some(Self::Argv(words)),
        }
    }
}

/// Words as a line for the shell.
pub fn to_line<'w>(words: impl Iterator<Item = &'w [u8]>) -> Vec<u8> {
    words.map(quoted).collect::<Vec<_>>().join(&b' ')
}

/// A word as the shell reads it back: in single quotes where it has a meaning of its own there.
fn quoted(word: &[u8]) -> Vec<u8> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"%+,-./:=@_".contains(byte);
    if !word.is_empty() && word.iter().all(is_plain) {
        return word.to_vec();
    }
    let mut quoted = vec![b'\''];
    for byte in word {
        match byte {
            b'\'' => quoted.extend_from_slice(b"'\\''"),
            _ => quoted.push(*byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

/// Why there is no request.
#[derive(Debug)]
pub enum ParseError {
    /// `--help` or `--version`: this text goes to stdout and the exit code is 0.
    Display(String),
    /// The command line or the configuration cannot be understood; the exit code is 129.
    Usage(UsageError),
}

/// What cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageError {
    /// One line, lower case, without a prefix.
    pub message: String,
    /// What to do about it.
    pub hint: String,
    /// Whether `--json` was among the options.
    pub is_json: bool,
}

/// Reads the command line.
///
/// - `args`: with the program's name in front, as the system gives them.
/// - `config`: keys and values of `git config -z --get-regexp '^(idd\.|color\.ui$)'` in the order of the files, the
///   last one wins. A key without `=` has the value `true`, as git reads it. Keys are compared as git does, without case.
///
/// An option on the command line takes the place of everything configured for it.
pub fn parse(args: Vec<OsString>, config: &[(String, String)]) -> Result<Invocation, ParseError> {
    let words = command::split(args);
    let is_json = words.before.iter().chain(&words.after).take_while(|word| *word != "--").any(|word| word == "--json");
    let usage = |message: String, hint: &str| ParseError::Usage(UsageError { message, hint: hint.to_owned(), is_json });

    let given =
        command().try_get_matches_from(words.argv(&[])).map_err(|error| command::explain(&error, &words, is_json))?;
    let configured =
        config::options_for(words.command_in(&command()), words.matches_in(&given), config).map_err(|error| {
            usage(error.to_string(), "`git config --show-origin --get-regexp '^idd\\.'` prints where it is set")
        })?;
    let matches = command()
        .try_get_matches_from(words.argv(&configured.options))
        .map_err(|error| command::explain(&error, &words, is_json))?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| command::explain(&error, &words, is_json))?;

    let (request, output) = request(cli).map_err(|(message, hint)| usage(message.to_owned(), hint))?;
    Ok(Invocation { request, output, warnings: configured.warnings })
}

/// A message and a hint.
type Complaint = (&'static str, &'static str);

fn request(cli: Cli) -> Result<(Request, Output), Complaint> {
    Ok(match cli.subcommand {
        None => (Request::Hunt(hunt_args(cli.words, cli.history, cli.test, cli.effort)?), cli.output),
        Some(Subcommand::Minimize(args)) => {
            let hunt = hunt_args(args.words, History::default(), args.test, args.effort)?;
            (Request::Minimize { good: args.good, bad: args.bad, hunt }, args.output)
        }
        Some(Subcommand::List { output }) => (Request::List, output),
        Some(Subcommand::Status { which: Hunt { hunt }, output }) => (Request::Status { hunt }, output),
        Some(Subcommand::Resume { which: Hunt { hunt }, allowance, output }) => {
            (Request::Resume { hunt, allowance }, output)
        }
        Some(Subcommand::Log { which: Hunt { hunt }, probe, format, output }) => {
            if output.json {
                return Err((
                    "`git idd log` prints text, not JSON",
                    "`git idd show --json` prints the finding; `git idd log --format bisect` what was tested, for programs",
                ));
            }
            (Request::Log { hunt, probe, format }, output)
        }
        Some(Subcommand::Show { which: Hunt { hunt }, output }) => (Request::Show { hunt }, output),
        Some(Subcommand::Report { which: Hunt { hunt }, format, html, open, output }) => {
            let page = (html.is_some() || open).then_some(PageArgs { file: html, is_opened: open });
            if let Some(PageArgs { file: Some(file), is_opened }) = &page
                && file == "-"
                && (*is_opened || output.json)
            {
                return Err((
                    "`--html -` writes to stdout, so `--open` and `--json` cannot be given",
                    "give a file: git idd report --html report.html --open",
                ));
            }
            (Request::Report { hunt, format, page }, output)
        }
        Some(Subcommand::Verify { file, yes, output }) => (Request::Verify { file, is_agreed: yes }, output),
        Some(Subcommand::Apply { which: Hunt { hunt }, rung, output }) => (Request::Apply { hunt, rung }, output),
        Some(Subcommand::Reset { output }) => (Request::Reset, output),
        Some(Subcommand::Gc { output }) => (Request::Gc, output),
        Some(Subcommand::Record(args)) => {
            let output = args.output;
            (Request::Record(record_args(args.words, args.record)?), output)
        }
        Some(Subcommand::Explain(args)) => {
            let output = args.output;
            (Request::Explain(explain_args(args.words, args.explain)?), output)
        }
        Some(Subcommand::Trace { command }) => {
            let (which, shown) = match command {
                TraceCommand::List { output } => {
                    let args = TraceArgs { recording: None, process: None, shown: Shown::List };
                    return Ok((Request::Trace(args), output));
                }
                TraceCommand::Stat { which } => (which, Shown::Stat),
                TraceCommand::Tree { depth, width, which } => (which, Shown::Tree { depth, width }),
                TraceCommand::Step { step, which } => (which, Shown::Step(step)),
                TraceCommand::Why { step, variable, limit, which } => (which, Shown::Why { step, variable, limit }),
            };
            (Request::Trace(TraceArgs { recording: which.recording, process: which.process, shown }), which.output)
        }
        Some(Subcommand::Completions { shell, output }) => (Request::Completions { shell }, output),
        Some(Subcommand::Man { output }) => (Request::Man, output),
    })
}

fn record_args(words: Vec<OsString>, record: Record) -> Result<RecordArgs, Complaint> {
    let Some(command) = TestCommand::from_words(words) else {
        return Err(("the test command is empty", "give the command to record: git idd record -- ./test.sh"));
    };
    let Record { at, build, holding, program, once, max_trace, keep, max_output, timeout } = record;
    Ok(RecordArgs { command, at, build, holding, program, once, max_trace, max_output, keep, timeout })
}

fn explain_args(words: Vec<OsString>, explain: Explain) -> Result<ExplainArgs, Complaint> {
    let is_given = !words.is_empty();
    let command = TestCommand::from_words(words);
    if is_given && command.is_none() {
        return Err((
            "the test command is empty",
            "give the command that fails: git idd explain --bad HEAD --good v1 -- ./test.sh",
        ));
    }
    let Explain {
        bad,
        good,
        hunt,
        switch,
        switch_budget,
        max_tests,
        at,
        build,
        holding,
        program,
        algorithm,
        unchecked,
        max_trace,
        max_output,
        timeout,
    } = explain;
    let switch_budget = switch.then_some(switch_budget);
    let method = match algorithm {
        Algorithm::Dependence => Method::Dependence,
        Algorithm::Hierarchical => Method::Hierarchical,
        Algorithm::Linear => Method::Linear,
        Algorithm::Global => Method::Global,
    };
    let is_unchecked = unchecked;
    Ok(ExplainArgs {
        command,
        bad,
        good,
        hunt,
        switch_budget,
        max_tests,
        at,
        build,
        holding,
        program,
        method,
        is_unchecked,
        max_trace,
        max_output,
        timeout,
    })
}

fn hunt_args(words: Vec<OsString>, history: History, mut test: Test, effort: Effort) -> Result<HuntArgs, Complaint> {
    let Some(command) = TestCommand::from_words(words) else {
        return Err(("the test command is empty", "give a command that fails now: git idd -- ./test.sh"));
    };
    if test.build.as_ref().is_some_and(|line| line.to_string_lossy().trim().is_empty()) {
        return Err(("the command of `--build` is empty", "leave `--build` out if there is nothing to build"));
    }
    match (test.signature, &test.match_line) {
        (SignatureMode::Regex, None) => {
            return Err((
                "`--signature regex` needs `--match <regex>`",
                "give the regular expression that the output of the failure matches",
            ));
        }
        (SignatureMode::Exit, Some(_)) => {
            return Err((
                "`--match` and `--signature exit` exclude each other",
                "with `--signature exit` the output of the test is not looked at",
            ));
        }
        (_, Some(_)) => test.signature = SignatureMode::Regex,
        (_, None) => {}
    }
    Ok(HuntArgs { command, history, test, effort })
}

#[cfg(test)]
mod tests;
