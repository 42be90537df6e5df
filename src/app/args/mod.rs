//! The command line as plain data.
//!
//! [`parse`] turns words and configured values into a [`Request`]; it reads nothing else, so the same words always mean
//! the same. [`words`] finds the name of the command and writes out abbreviated options, [`options`] says which options
//! there are, [`config`] which of them `git config` may set, `command` how they are put together. What a request does is not known here.

mod by_hand;
mod command;
pub mod config;
pub mod criterion;
pub mod habits;
pub mod options;
mod orders;
mod questions;
mod trial;
mod values;
pub mod words;

use idd_trace::instrument::java::sites::RecordedContent;
use std::ffi::OsString;

use clap::FromArgMatches;

use crate::args::by_hand::{StartCommand, VerdictOptions};
use crate::args::command::{
    ChopCommand, Cli, DebugCommand, InvariantsCommand, McpCommand, ProcessOptions, RemoteCommand, SliceCommand,
    Subcommand, TraceCommand,
};
use crate::args::options::{Explain, HuntChoice, LogFormat, OutputOptions, RecordOptions, ReportFormat, Shell, Shrink};
use crate::args::questions::{OptionMessage, asked, hunt_args, measured, several, turned};
use idd_session::by_hand::{GivenVerdict, PersonVerdict};
use idd_session::debug::DebugOrder;
use idd_session::invariants::{self, InvariantsOrder, Right};
use idd_session::order::{
    Allowance, ChopOrder, EffortOrder, ExplainOrder, HistoryOrder, HuntOrder, MAX_OUTPUT, MAX_TRACE, RecordOrder,
    ReductionOrder, ShrinkOrder, TestCommand, TestOrder,
};
use idd_session::recorded::ProcessChoice;
use idd_session::slice::{SliceDirection, SliceOrder};
use idd_session::test_list::{Each, TestSource};
use idd_trace::slice::Kinds;

use idd_explain::invariant::InvariantLimits;

use crate::args::words::split;

pub use crate::args::by_hand::ByHand;
pub use crate::args::command::{WatchArgs, command};
pub use crate::args::trial::TryArgs;

/// What is said of a blank test command.
const EMPTY_COMMAND: &str = "the test command is empty";

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
    /// Explain a failure.
    Explain(ExplainOrder),
    /// Find the first wrong step of a run.
    Debug(Box<DebugOrder>),
    /// Record a test.
    Record(RecordOrder),
    /// Chop a failing run.
    Chop(ChopOrder),
    /// Find the error invariants of a failing run.
    Invariants(Box<InvariantsOrder>),
    /// Slice a recording.
    Slice(SliceOrder),
    /// Show a recording.
    Trace(TraceArgs),
    /// Serve a debugger.
    Dap,
    /// Serve a programming assistant.
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
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct McpArgs {
    /// The test.
    pub command: Option<TestCommand>,
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

/// What is shown of which recording.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceArgs {
    /// Which recording.
    pub which: ProcessChoice,
    /// What is shown.
    pub shown: RecordingView,
}

/// What is shown of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordingView {
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
    /// What the program read: how many reads of each input.
    Inputs(usize),
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
        Subcommand::Record(args) => {
            let content = if args.steps { RecordedContent::Steps } else { RecordedContent::Values };
            let hint = "give the command to record: git idd record -- ./test.sh";
            let command = command_of(args.words, hint)?.ok_or((EMPTY_COMMAND, hint))?;
            Request::Record(RecordOrder { content, ..record_args(command, args.record) })
        }
        Subcommand::Explain(args) => Request::Explain(explain_args(args.words, args.explain)?),
        Subcommand::Debug(args) => Request::Debug(Box::new(debug_args(*args)?)),
        Subcommand::Chop(args) => Request::Chop(chop_args(*args)?),
        Subcommand::Invariants(args) => Request::Invariants(Box::new(invariants_args(*args)?)),
        Subcommand::Slice(args) => Request::Slice(slice_args(*args)),
        Subcommand::Trace { command } => Request::Trace(trace_args(command)),
        Subcommand::Dap => Request::Dap,
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
    let parts = (cli.history.into(), cli.test.into(), cli.effort.into());
    if let Some(line) = cli.perf.perf {
        return Ok(Request::Hunt(measured(line, cli.perf.measure, cli.perf.threshold, parts)?));
    }
    cli.perf.refuse_alone()?;
    let hunt = asked((cli.words, cli.by), parts)?;
    match cli.each.map(TestSource::Command).or(cli.failures.map(TestSource::Junit)) {
        Some(source) => Ok(Request::Each(several(hunt, source)?)),
        None => Ok(Request::Hunt(hunt)),
    }
}

fn trace_args(command: TraceCommand) -> TraceArgs {
    let (which, shown) = match command {
        TraceCommand::List => (ProcessOptions::default(), RecordingView::List),
        TraceCommand::Stat(which) => (which, RecordingView::Stat),
        TraceCommand::Tree { depth, width, which } => (which, RecordingView::Tree { depth, width }),
        TraceCommand::Inputs { limit, which } => (which, RecordingView::Inputs(limit)),
        TraceCommand::Step { step, which } => (which, RecordingView::Step(step)),
        TraceCommand::Why { step, variable, limit, which } => (which, RecordingView::Why { step, variable, limit }),
    };
    TraceArgs { which: which.into(), shown }
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

fn slice_args(args: SliceCommand) -> SliceOrder {
    let SliceCommand { backward, forward, data, address, potential, which } = args;
    let (direction, criterion) = match (backward, forward) {
        (Some(criterion), _) => (SliceDirection::Backward, criterion),
        (None, Some(criterion)) => (SliceDirection::Forward, criterion),
        (None, None) => unreachable!("clap requires one of them"),
    };
    SliceOrder { which: which.into(), direction, criterion, kinds: Kinds { address, control: !data, potential } }
}

/// The test command of these words; `None` if there are none.
fn command_of(words: Vec<OsString>, hint: &'static str) -> Result<Option<TestCommand>, OptionMessage> {
    let is_given = !words.is_empty();
    let command = TestCommand::from_words(words);
    if is_given && command.is_none() { Err((EMPTY_COMMAND, hint)) } else { Ok(command) }
}

fn record_args(command: TestCommand, record: RecordOptions) -> RecordOrder {
    let RecordOptions { at, build, holding, program, once, max_trace, keep, max_output, timeout } = record;
    let holding = holding.into();
    let content = RecordedContent::Values;
    RecordOrder { command, at, build, holding, program, once, max_trace, max_output, keep, content, timeout }
}

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

/// Takes the place of a command that is not given; that of the hunt then takes its place.
fn of_hunt() -> TestCommand {
    TestCommand::Shell(OsString::from("false"))
}

fn chop_args(args: ChopCommand) -> Result<ChopOrder, OptionMessage> {
    let ChopCommand { words, input, expected, good, hunt, data, record, .. } = args;
    let reduction =
        (!args.no_shrink).then_some(ReductionOrder { passing: args.passing, budget: args.budget, jobs: args.jobs });
    let command = command_of(words, "give the command that fails: git idd chop -- ./test.sh")?;
    if command.is_none() && good.is_some() {
        return Err((
            "`--good` and a test command must be given together",
            "the finding of a hunt has its passing version",
        ));
    }
    let record = record_args(command.clone().unwrap_or_else(of_hunt), record);
    let kinds = Kinds { address: true, control: !data, potential: !data };
    Ok(ChopOrder { record, command, hunt, good, expected, inputs: input, kinds, reduction })
}

fn invariants_args(args: InvariantsCommand) -> Result<InvariantsOrder, OptionMessage> {
    let InvariantsCommand { words, recording, process, hunt, expected, good, passing, record, .. } = args;
    let command = command_of(words, "give the command that fails: git idd invariants -- ./test.sh")?;
    let subject = if command.is_some() || hunt.is_some() {
        invariants::ExaminedRun::Test(Box::new(ChopOrder {
            record: record_args(command.clone().unwrap_or_else(of_hunt), record),
            command,
            hunt: hunt.filter(|hunt| !hunt.is_empty()),
            good,
            expected,
            inputs: Vec::new(),
            kinds: Kinds { address: true, control: true, potential: false },
            reduction: None,
        }))
    } else {
        let right = expected.map(Right::File).or(passing.map(Right::Recording));
        invariants::ExaminedRun::Recording(ProcessChoice { recording, process }, right)
    };
    Ok(InvariantsOrder {
        subject,
        mode: args.mode,
        at: args.from,
        assertion: args.assert,
        depth: if args.data { Some(0) } else { args.depth },
        is_alone: args.alone,
        limits: InvariantLimits { max_links: args.max_statements as usize, time: Some(args.budget) },
        is_minimal: args.minimal,
        solver: args.verify,
    })
}

fn explain_args(words: Vec<OsString>, explain: Explain) -> Result<ExplainOrder, OptionMessage> {
    let hint = "give the command that fails: git idd explain --good v1 -- ./test.sh";
    let command = command_of(words, hint)?;
    Ok(ExplainOrder {
        command,
        bad: explain.bad,
        good: explain.good,
        hunt: explain.hunt,
        switch_budget: explain.switch.then_some(explain.switch_budget),
        max_tests: explain.max_tests,
        budget: explain.budget,
        at: explain.at,
        build: explain.build,
        holding: explain.holding.into(),
        process: explain.process,
        program: explain.program,
        argument: explain.argument,
        is_unchecked: explain.unchecked,
        max_trace: explain.max_trace,
        max_output: explain.max_output,
        timeout: explain.timeout,
    })
}

fn debug_args(command: DebugCommand) -> Result<DebugOrder, OptionMessage> {
    let DebugCommand { words, recording, process, from, expect: expected, bad, good, passing, build, .. } = command;
    let mut record = None;
    let versions = if good.is_some() {
        Some(ExplainOrder {
            command: Some(TestCommand::from_words(words).ok_or((
                "the test command is missing",
                "give the command that fails: git idd debug --good v1 -- ./test.sh",
            ))?),
            bad,
            good,
            build,
            process,
            is_unchecked: true,
            max_trace: MAX_TRACE,
            max_output: MAX_OUTPUT,
            ..ExplainOrder::default()
        })
    } else {
        let command = command_of(words, "give the command that fails: git idd debug -- ./test.sh")?;
        record = command.map(|command| RecordOrder { build, ..RecordOrder::new(command) });
        None
    };
    let which = ProcessChoice { recording, process };
    let (answers, is_restarted, is_plain) = (command.answers, command.restart, command.plain);
    Ok(DebugOrder { which, record, expected, from, answers, passing, is_restarted, is_plain, versions })
}

#[cfg(test)]
mod tests;
