//! The command line as plain data.
//!
//! [`parse`] turns words and configured values into a [`Request`]; it reads nothing else, so the same words always mean
//! the same. [`words`] finds the name of the command and writes out abbreviated options, [`options`] says which options
//! there are, [`config`] which of them `git config` may set, `command` how they are put together. What a request does is not known here.

mod by_hand;
mod command;
pub mod config;
pub mod habits;
pub mod options;
mod orders;
mod questions;
#[cfg(feature = "explain")]
pub mod recorded;
mod trial;
mod values;
pub mod words;

use std::ffi::OsString;

use clap::FromArgMatches;

use crate::args::by_hand::{StartCommand, VerdictOptions};
#[cfg(feature = "mcp")]
use crate::args::command::McpCommand;
use crate::args::command::{Cli, RemoteCommand, Subcommand};
use crate::args::options::{HuntChoice, LogFormat, OutputOptions, ReportFormat, Shell, Shrink};
use crate::args::questions::{OptionMessage, asked, hunt_args, measured, several, turned};
#[cfg(feature = "explain")]
use crate::args::recorded::RecordedRequest;
#[cfg(feature = "mcp")]
use crate::args::recorded::command_of;
use idd_session::by_hand::{GivenVerdict, PersonVerdict};
use idd_session::order::{Allowance, EffortOrder, HistoryOrder, HuntOrder, ShrinkOrder, TestOrder};
use idd_session::test_list::{Each, TestSource};

use crate::args::words::split;

pub use crate::args::by_hand::ByHand;
pub use crate::args::command::{WatchArgs, command};
pub use crate::args::questions::NO_EXPLANATIONS;
pub use crate::args::trial::TryArgs;

/// One run of the program, as asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Invocation {
    /// What to do.
    pub request: Request,
    /// How to talk about it.
    pub output: OutputOptions,
    /// Sentences for stderr, such as an unknown `idd.*` key; they may hold text of the user's configuration and command
    /// line.
    pub warnings: Vec<String>,
}

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Hunt for the change that broke the test.
    Hunt(HuntOrder),
    /// Reduce the difference of two revisions; nothing is searched and nothing ported.
    Minimize {
        /// The revision at which the test passes.
        good: String,
        /// The revision at which it fails.
        bad: String,
        /// The rest, as in a hunt; its `history` has the default values.
        hunt: HuntOrder,
    },
    /// Hunt several tests.
    Each(Each),
    /// Hunt with verdicts of a person.
    ByHand(ByHand),
    /// Reduce an input.
    Shrink(ShrinkArgs),
    /// List the hunts that are kept.
    List {
        /// Whether the badge of the newest one is printed in place of the list.
        is_badge: bool,
    },
    /// Say what a hunt has come to.
    Status {
        /// Which, if not the newest: its id, or the beginning of it.
        hunt: Option<String>,
    },
    /// Follow a hunt.
    Watch(WatchArgs),
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
        /// Whether all of it is printed.
        is_full: bool,
    },
    /// Print the finding for other people and programs.
    Report {
        /// Of which hunt, if not the newest finding.
        hunt: Option<String>,
        /// In which form.
        format: ReportFormat,
        /// As a page instead.
        page: Option<PageArgs>,
        /// Of the walks over this recording instead of a hunt.
        recording: Option<String>,
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
        /// Which of the reversals.
        choice: options::Choice,
    },
    /// Judge a fix.
    Try(TryArgs),
    /// Forget the hunts of this worktree.
    Reset,
    /// Remove what no hunt needs any more.
    Gc,
    /// Show what the system permits.
    Doctor,
    /// Record a run, or examine a recorded one.
    #[cfg(feature = "explain")]
    Recorded(RecordedRequest),
    /// Serve a programming assistant.
    #[cfg(feature = "mcp")]
    Mcp(McpArgs),
    /// Print completions.
    Completions {
        /// For this shell.
        shell: Shell,
        /// The words up to the cursor, to be completed; empty if the function of the shell is printed.
        words: Vec<OsString>,
    },
    /// Print the man page.
    Man,
    /// Install the man page and the completions, or remove them.
    Setup {
        /// Whether they are removed.
        is_removal: bool,
        /// Whether nothing is changed.
        is_dry_run: bool,
    },
    /// Find out what a remote service can do; that of the configuration if none is named.
    RemoteCheck {
        /// Its address.
        address: Option<String>,
    },
    /// Show the manual, or the help of this command; the words are its name.
    Help(Vec<String>),
}

/// A reduction of an input, as asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct ShrinkArgs {
    /// What is reduced.
    pub order: ShrinkOrder,
    /// The directory for the reduced files; `None` for one in the git directory.
    pub output: Option<OsString>,
}

/// What a programming assistant may run.
#[cfg(feature = "mcp")]
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct McpArgs {
    /// The test.
    pub command: Option<idd_session::order::TestCommand>,
    /// Shell line that is run before the test.
    pub build: Option<OsString>,
}

/// A report as a page, as asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageArgs {
    /// Where it is written; `-` is stdout, and `None` a file in the git directory.
    pub file: Option<OsString>,
    /// Whether it is opened in a browser.
    pub is_opened: bool,
}

/// Why there is no request.
#[derive(Debug)]
pub enum ParseError {
    /// `--version`: this text goes to stdout and the exit code is 0.
    Display(String),
    /// `-h` or `--help`; the exit code is 0.
    Help(Help),
    /// The command line or the configuration cannot be understood; the exit code is 129.
    Usage(UsageError),
}

/// The help that `-h` or `--help` asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Help {
    /// The most used options, and the names of the commands.
    Summary,
    /// The manual.
    Manual,
    /// This text about a command.
    Command(String),
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
///   last one wins. A key without `=` has the value `true`, as git reads it. Keys are compared as git does, without
///   case.
///
/// An option on the command line takes the place of everything configured for it.
pub fn parse(args: Vec<OsString>, config: &[(String, String)]) -> Result<Invocation, ParseError> {
    let mut words = split(args);
    let is_json = words.before.iter().chain(&words.after).take_while(|word| *word != "--").any(|word| word == "--json");
    let usage = |message: String, hint: &str| ParseError::Usage(UsageError { message, hint: hint.to_owned(), is_json });

    words.write_out().map_err(|ambiguous| {
        usage(ambiguous.to_string(), "write more of its name; `git idd help` lists the options")
    })?;
    let (words, remarks) = habits::understood(words).map_err(|(message, hint)| usage(message, &hint))?;
    let given =
        command().try_get_matches_from(words.argv(&[])).map_err(|error| command::explain(&error, &words, is_json))?;
    let configured =
        config::options_for(words.command_in(&command()), words.matches_in(&given), config).map_err(|error| {
            usage(error.to_string(), "`git config --show-origin --get-regexp '^idd\\.'` prints where it is set")
        })?;
    let matches = command()
        .try_get_matches_from(words.argv(&configured.options))
        .map_err(|error| command::explain(&error, &words, is_json))?;
    let mut inner = &matches;
    while let Some((_, below)) = inner.subcommand() {
        inner = below;
    }
    let read = Cli::from_arg_matches(&matches).and_then(|cli| Ok((cli, OutputOptions::from_arg_matches(inner)?)));
    let (cli, output) = read.map_err(|error| command::explain(&error, &words, is_json))?;
    let request = request(cli, output.json).map_err(|(message, hint)| usage(message.to_owned(), hint))?;
    let warnings = [remarks, configured.warnings].concat();
    Ok(Invocation { request, output, warnings })
}

fn request(cli: Cli, is_json: bool) -> Result<Request, OptionMessage> {
    let Some(subcommand) = cli.subcommand else { return hunt(cli) };
    Ok(match subcommand {
        Subcommand::Minimize(args) => {
            let hunt = hunt_args(args.words, HistoryOrder::default(), args.test.into(), args.effort.into())?;
            Request::Minimize { good: args.good, bad: args.bad, hunt }
        }
        Subcommand::Shrink(args) => Request::Shrink(shrink_args(args.words, args.shrink)?),
        Subcommand::Start(args) => Request::ByHand(start_args(*args)?),
        Subcommand::Good(judged) => judged_args(PersonVerdict::Good, judged),
        Subcommand::Bad(judged) => judged_args(PersonVerdict::Bad, judged),
        Subcommand::Skip(judged) => judged_args(PersonVerdict::Skip, judged),
        Subcommand::Undo => Request::ByHand(ByHand::Given(GivenVerdict::Undo)),
        Subcommand::List { badge } => Request::List { is_badge: badge },
        Subcommand::Status(HuntChoice { hunt }) => Request::Status { hunt },
        Subcommand::Watch(args) => Request::Watch(args),
        Subcommand::Resume { which: HuntChoice { hunt }, allowance } => {
            Request::Resume { hunt, allowance: allowance.into() }
        }
        Subcommand::Log { which: HuntChoice { hunt }, probe, format } => {
            if is_json {
                return Err((
                    "`git idd log` prints text, not JSON",
                    "`git idd show --json` prints the finding; `git idd log --format bisect` what was tested, for programs",
                ));
            }
            Request::Log { hunt, probe, format }
        }
        Subcommand::Show { which, is_full } => Request::Show { hunt: which.hunt, is_full },
        Subcommand::Report { which: HuntChoice { hunt }, recording, format, html, open } => {
            let page = (html.is_some() || open).then_some(PageArgs { file: html, is_opened: open });
            if let Some(PageArgs { file: Some(file), is_opened }) = &page
                && file == "-"
                && (*is_opened || is_json)
            {
                return Err((
                    "`--html -` writes to stdout, so `--open` and `--json` cannot be given",
                    "give a file: git idd report --html report.html --open",
                ));
            }
            Request::Report { hunt, format, page, recording }
        }
        Subcommand::Verify { file, yes } => Request::Verify { file, is_agreed: yes },
        Subcommand::Apply { which, choice } => Request::Apply { hunt: which.hunt, choice },
        Subcommand::Try(args) => Request::Try(args),
        Subcommand::Reset => Request::Reset,
        Subcommand::Gc => Request::Gc,
        Subcommand::Doctor => Request::Doctor,
        #[cfg(feature = "explain")]
        Subcommand::Recorded(command) => Request::Recorded(recorded::request(command)?),
        #[cfg(feature = "mcp")]
        Subcommand::Mcp(args) => Request::Mcp(mcp_args(*args)?),
        Subcommand::Completions { shell, words } => Request::Completions { shell, words },
        Subcommand::Man => Request::Man,
        Subcommand::Remote { command: RemoteCommand::Check { address } } => Request::RemoteCheck { address },
        Subcommand::Setup { dry_run, remove } => Request::Setup { is_removal: remove, is_dry_run: dry_run },
        Subcommand::Help { command } => Request::Help(command),
    })
}

/// A hunt, or several.
fn hunt(cli: Cli) -> Result<Request, OptionMessage> {
    let (history, test, effort) = (cli.history.into(), cli.test.into(), cli.effort.into());
    if let Some(line) = cli.perf.perf {
        return Ok(Request::Hunt(measured(line, cli.perf.measure, cli.perf.threshold, history, test, effort)?));
    }
    cli.perf.refuse_alone()?;
    let hunt = asked(cli.words, cli.by, history, test, effort)?;
    match cli.each.map(TestSource::Command).or(cli.failures.map(TestSource::Junit)) {
        Some(source) => Ok(Request::Each(several(hunt, source)?)),
        None => Ok(Request::Hunt(hunt)),
    }
}

/// The hunt that `git idd start` begins.
fn start_args(args: StartCommand) -> Result<ByHand, OptionMessage> {
    let history = turned(args.history()?, false)?;
    let StartCommand { build, timeout, no_shell, .. } = args;
    let order = idd_session::by_hand::order(history, build, timeout);
    Ok(ByHand::Start { order: Box::new(order), has_shell: !no_shell })
}

/// A verdict.
fn judged_args(verdict: PersonVerdict, VerdictOptions { revision, why }: VerdictOptions) -> Request {
    Request::ByHand(ByHand::Given(GivenVerdict::Verdict { verdict, revision, why }))
}

#[cfg(feature = "mcp")]
fn mcp_args(args: McpCommand) -> Result<McpArgs, OptionMessage> {
    let McpCommand { words, build } = args;
    let command = command_of(words, "give the test that a client may run: git idd mcp -- ./test.sh")?;
    Ok(McpArgs { command, build })
}

fn shrink_args(words: Vec<OsString>, shrink: Shrink) -> Result<ShrinkArgs, OptionMessage> {
    let Shrink { input, passing, args, env, output, at, good, build, timeout, match_line, signature, .. } = shrink;
    let Shrink { holding, isolate_home, clean, no_cache, jobs, budget, max_probes, .. } = shrink;
    let options::HoldingOptions { hold, no_hold } = holding;
    let test = TestOrder { build, timeout, match_line, signature, hold, no_hold, isolate_home, ..Default::default() };
    let effort = EffortOrder { clean, no_cache, jobs, budget, max_probes, ..Default::default() };
    let HuntOrder { command, test, effort, .. } = hunt_args(words, HistoryOrder::default(), test, effort)?;
    Ok(ShrinkArgs { order: ShrinkOrder { command, input, passing, args, env, at, good, test, effort }, output })
}

#[cfg(test)]
mod tests;
