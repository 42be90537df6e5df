//! How the options make up commands.
//!
//! [`split`](crate::args::words::split) finds the name of the command, so that each is parsed in one piece.

use std::ffi::OsString;

use crate::args::by_hand::{StartCommand, VerdictOptions};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Args, Command, CommandFactory, Parser};

use crate::args::config::FLAGS;
use crate::args::options::{
    AllowanceOptions, Choice, EffortOptions, HistoryOptions, HuntChoice, LogFormat, OutputOptions, ReportFormat, Shell,
    Shrink, TestOptions,
};
use crate::args::questions::Measured;
#[cfg(feature = "explain")]
use crate::args::recorded::RecordedCommand;
use crate::args::trial::TryArgs;
use crate::args::words::CommandLineWords;
use crate::args::{Help, ParseError, UsageError};

/// Find the change that broke a test.
///
/// Give it a test that fails now. It finds the first bad commit, a minimal change inside it that makes the test fail,
/// and a tested fix for HEAD. No known good revision is needed; revisions that do not build are repaired, not skipped.
#[derive(Debug, Parser)]
#[command(
    name = "git-idd",
    bin_name = "git idd",
    version = version(),
    long_version = format!("{}\nfeatures: {}", version(), features()),
    disable_help_subcommand = true,
    args_conflicts_with_subcommands = true,
    max_term_width = 80,
    override_usage = "git idd [OPTIONS] [--] <TEST-CMD> [ARGS]...\n       git idd <COMMAND>"
)]
pub struct Cli {
    /// The test: one argument is a shell line, several are a program and its arguments. Exit code 0 means pass, 125
    /// means that the revision cannot be tested, anything else means failure.
    #[arg(value_name = "TEST-CMD", trailing_var_arg = true, required_unless_present_any = ["by", "perf"])]
    pub words: Vec<OsString>,

    /// With `--find change`: the command that prints the value, as a shell line. The value is all that it prints, without
    /// blank space at the ends; an exit code other than 0 means that the revision has no value.
    #[arg(long, value_name = "COMMAND", conflicts_with = "words", help_heading = "Where to look")]
    pub by: Option<OsString>,

    /// Hunt several failing tests, and list them by their culprits: shell line that prints the name of one in each line. The
    /// test command has `{}` in the place of the name.
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["by", "explain"], help_heading = "What is run")]
    pub each: Option<OsString>,

    /// The same for the tests that fail in this `JUnit` file. `{}` stands for class and name; `{name}`, `{classname}` and
    /// `{file}` for the attributes.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["each", "by", "explain"], help_heading = "What is run")]
    pub failures: Option<OsString>,

    #[command(flatten)]
    pub perf: Measured,

    #[command(flatten)]
    pub history: HistoryOptions,

    #[command(flatten)]
    pub test: TestOptions,

    #[command(flatten)]
    pub effort: EffortOptions,

    #[command(subcommand)]
    pub subcommand: Option<Subcommand>,
}

/// A reduction.
#[derive(Debug, Args)]
pub struct MinimizeArgs {
    /// Revision at which the test passes.
    pub good: String,

    /// Revision at which the test fails.
    pub bad: String,

    /// The test, as in a hunt.
    #[arg(value_name = "TEST-CMD", last = true, required = true)]
    pub words: Vec<OsString>,

    #[command(flatten)]
    pub test: TestOptions,

    #[command(flatten)]
    pub effort: EffortOptions,
}

/// A reduction of an input.
#[derive(Debug, Args)]
pub struct ShrinkCommand {
    /// The test, as in a hunt; it fails with the input.
    #[arg(value_name = "TEST-CMD", last = true, required = true)]
    pub words: Vec<OsString>,

    #[command(flatten)]
    pub shrink: Shrink,
}

/// What is followed.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct WatchArgs {
    /// Which hunt.
    #[command(flatten)]
    pub which: HuntChoice,

    /// Write a page to this file whenever there is news, until the hunt ends. A browser loads it again by itself.
    #[arg(long, value_name = "FILE")]
    pub html: Option<OsString>,
}

/// A server for programming assistants.
#[cfg(feature = "mcp")]
#[derive(Debug, Args)]
pub struct McpCommand {
    /// The test that a client may run, as in a hunt.
    #[arg(value_name = "TEST-CMD", last = true)]
    pub words: Vec<OsString>,

    /// Shell line that a client may run before the test.
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<OsString>,
}

/// Everything but a hunt.
#[derive(Debug, clap::Subcommand)]
pub enum Subcommand {
    /// Reduce the difference of two revisions, without a search.
    #[command(override_usage = "git idd minimize [OPTIONS] <GOOD> <BAD> -- <TEST-CMD> [ARGS]...")]
    Minimize(Box<MinimizeArgs>),
    /// Reduce the input of a failing test to a minimal one that makes it fail in the same way.
    #[command(override_usage = "git idd shrink [OPTIONS] --input <FILE>... -- <TEST-CMD> [ARGS]...")]
    Shrink(Box<ShrinkCommand>),
    /// Hunt by hand: look at each revision yourself, and say whether it is good or bad; no test is needed.
    #[command(override_usage = "git idd start [OPTIONS] [<BAD> [<GOOD>...]]")]
    Start(Box<StartCommand>),
    /// Say that the revision that is checked out is good, in a hunt by hand.
    Good(VerdictOptions),
    /// Say that it is bad.
    Bad(VerdictOptions),
    /// Say that it cannot be judged.
    Skip(VerdictOptions),
    /// Take the last verdict of a hunt by hand back.
    Undo,
    /// List all stored hunts; a star marks the newest finding.
    List {
        /// Print the state of the newest hunt of this worktree as the JSON of a badge (shields.io) for a dashboard.
        #[arg(long)]
        badge: bool,
    },
    /// Print the progress of a hunt; without --hunt of the last one.
    Status(HuntChoice),
    /// Follow a hunt while it runs: the range, the verdicts and the running test; without --hunt the one that runs. `q` leaves
    /// it.
    Watch(WatchArgs),
    /// Continue a hunt that was interrupted or reached its budget; without --hunt the last one.
    Resume {
        #[command(flatten)]
        which: HuntChoice,
        #[command(flatten)]
        allowance: AllowanceOptions,
    },
    /// Print the tested revisions, or the output of one probe; without --hunt of the last hunt.
    Log {
        /// Print the output of the test at this revision, or of the probe with this number (`git idd log -v` prints the
        /// numbers).
        #[arg(value_name = "REV|PROBE", conflicts_with = "format")]
        probe: Option<String>,
        #[command(flatten)]
        which: HuntChoice,
        /// Form of the log; `bisect` is accepted by `git bisect replay`.
        #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
        format: LogFormat,
    },
    /// Print a finding again; without --hunt the newest.
    Show {
        #[command(flatten)]
        which: HuntChoice,
        /// Print all of it: patches, the fix, the reversals that were tried, the evidence, and the cost.
        #[arg(long = "full")]
        is_full: bool,
    },
    /// Print a finding for other people and programs; without --hunt the newest.
    Report {
        #[command(flatten)]
        which: HuntChoice,
        /// Report what `git idd debug` found in this recording, instead of a hunt; as Markdown, text or JSON.
        #[arg(long, value_name = "ID", conflicts_with_all = ["hunt", "html", "open"])]
        recording: Option<String>,
        /// Form of the report.
        #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
        format: ReportFormat,
        /// Write an HTML page to this file; `-` is stdout. The page needs no other file, and can be mailed.
        #[arg(long, value_name = "FILE", conflicts_with = "format")]
        html: Option<OsString>,
        /// Open the page in the browser (`web.browser` of git's configuration, or `xdg-open`).
        #[arg(long, conflicts_with = "format")]
        open: bool,
    },
    /// Prove a finding again, from a certificate (`git idd report --format certificate`).
    Verify {
        /// The certificate.
        #[arg(value_name = "FILE")]
        file: OsString,
        /// Run the commands of the certificate; without this option they are only printed.
        #[arg(long)]
        yes: bool,
    },
    /// Put the fix into the working tree; without --hunt that of the newest finding.
    Apply {
        #[command(flatten)]
        which: HuntChoice,
        #[command(flatten)]
        choice: Choice,
    },
    /// Judge somebody's fix for a finding as a hunt judges its own; without --hunt for the newest finding.
    Try(TryArgs),
    /// Forget the hunts of this worktree, and remove the refs of their findings.
    Reset,
    /// Delete old hunts, data that no hunt needs, and all recordings but the last one.
    Gc,
    /// Show where probes see their checkout on this system, and how it can permit more.
    Doctor,
    /// What records a run, or examines a recorded one.
    #[cfg(feature = "explain")]
    #[command(flatten)]
    Recorded(RecordedCommand),
    /// Answer the questions of a programming assistant: a Model Context Protocol server on stdio. A client may run only
    /// the commands that are given here, and those of `idd.mcpAllow`.
    #[cfg(feature = "mcp")]
    #[command(override_usage = "git idd mcp [OPTIONS] [-- <TEST-CMD> [ARGS]...]")]
    Mcp(Box<McpCommand>),
    /// Print completions for a shell.
    Completions {
        /// The shell.
        #[arg(value_enum, value_name = "SHELL")]
        shell: Shell,
        /// The words after `git idd` up to the cursor: prints the candidates for the last one.
        #[arg(last = true, hide = true)]
        words: Vec<OsString>,
    },
    /// Print the man page.
    Man,
    /// Ask what a remote service can do.
    Remote {
        #[command(subcommand)]
        command: RemoteCommand,
    },
    /// Install the man page and the completions, beside the program or in your home directory.
    Setup {
        /// Print what would be written or removed, and change nothing.
        #[arg(long)]
        dry_run: bool,
        /// Remove the files again.
        #[arg(long)]
        remove: bool,
    },
    /// Show the manual, one of its pages, or all options of a command.
    Help {
        /// The command, or a page: ci, fixes, flaky, hunting, languages, limits, old-revisions, place, questions; without it,
        /// the manual is shown.
        #[arg(value_name = "COMMAND")]
        command: Vec<String>,
    },
}

/// The commands of `git idd remote`.
#[derive(Debug, clap::Subcommand)]
pub enum RemoteCommand {
    /// Connect to a service, run a few small actions, and print what it can do and how fast.
    Check {
        /// Its address (default: that of `idd.remote`).
        #[arg(value_name = "URL")]
        address: Option<String>,
    },
}

/// What `--verbose` adds to an explanation.
const VERBOSE_EXPLAIN: &str =
    "Print all links of the chain, and what it cost; without this option, links that repeat are left out";

/// The whole command line, for parsing, help and the man page.
pub fn command() -> Command {
    let command = add_output(Cli::command().mut_subcommands(with_output));
    let command = command.mut_subcommands(|command| match command.get_name() {
        "explain" => command.mut_arg("verbose", |arg| arg.help(VERBOSE_EXPLAIN)),
        _ => command,
    });
    with_opposites(command).mut_subcommands(with_opposites)
}

/// Gives the options of the output to a command, or to the commands that it has.
fn with_output(command: Command) -> Command {
    if command.has_subcommands() { command.mut_subcommands(with_output) } else { add_output(command) }
}

/// Adds the options of the output; what the help says of the command stays.
fn add_output(command: Command) -> Command {
    let (about, long_about) = (command.get_about().cloned(), command.get_long_about().cloned());
    let command = OutputOptions::augment_args(command);
    let command = about.into_iter().fold(command, Command::about);
    long_about.into_iter().fold(command, Command::long_about)
}

/// Gives each flag its hidden opposite (`--no-clean`), which takes back what is configured.
fn with_opposites(mut command: Command) -> Command {
    for flag in FLAGS {
        if command.get_arguments().any(|arg| arg.get_id() == flag.id) {
            let opposite = Arg::new(flag.opposite).long(flag.opposite).action(ArgAction::SetTrue).hide(true);
            command =
                command.arg(opposite.overrides_with(flag.id)).mut_arg(flag.id, |arg| arg.overrides_with(flag.opposite));
        }
    }
    command
}

/// Turns the parser's error into ours.
pub fn explain(error: &clap::Error, words: &CommandLineWords, is_json: bool) -> ParseError {
    match error.kind() {
        ErrorKind::DisplayVersion => return ParseError::Display(error.render().to_string()),
        ErrorKind::DisplayHelp => return ParseError::Help(help(error, words)),
        _ => {}
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return ParseError::Usage(missing_subcommand(words, is_json));
    }
    if error.kind() == ErrorKind::MissingRequiredArgument && words.subcommand.is_none() {
        return ParseError::Usage(UsageError {
            message: "the test command is missing".to_owned(),
            hint: "give a command that fails now: git idd -- ./test.sh; `git idd -h` lists the options".to_owned(),
            is_json,
        });
    }
    let text = error.render().to_string();
    let mut paragraphs = text.split("\n\n").map(str::trim).filter(|text| !text.is_empty());
    let message = paragraphs.next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let tip = paragraphs.find_map(|text| text.strip_prefix("tip: ")?.lines().next()).map(str::to_owned);
    let list = match &words.subcommand {
        Some(name) => format!("`git idd {name} -h` lists the options"),
        None => "`git idd -h` lists the most used options, `git idd help` all".to_owned(),
    };
    ParseError::Usage(UsageError {
        message: message.lines().map(str::trim).collect::<Vec<_>>().join(" "),
        hint: tip.unwrap_or(list),
        is_json,
    })
}

/// The help that was asked for: `-h` of the program, `--help` of the program, or either of a command.
fn help(error: &clap::Error, words: &CommandLineWords) -> Help {
    let is_long = words.before.iter().chain(&words.after).any(|word| word == "--help");
    match (&words.subcommand, is_long) {
        (None, false) => Help::Summary,
        (None, true) => Help::Manual,
        (Some(_), _) => Help::Command(error.render().to_string()),
    }
}

/// What is said of a command that has commands of its own, and was given none.
fn missing_subcommand(words: &CommandLineWords, is_json: bool) -> UsageError {
    let name = words.subcommand.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
    let command = command();
    let of = words.subcommand.as_ref().and_then(|name| command.find_subcommand(name)).unwrap_or(&command);
    let names: Vec<&str> = of.get_subcommands().map(Command::get_name).collect();
    UsageError {
        message: format!("`git idd{name}` needs a subcommand: {}", names.join(", ")),
        hint: format!("`git idd{name} -h` describes them"),
        is_json,
    }
}

/// The version, and the commit with its date if the build names one, as `scripts/release` does.
fn version() -> String {
    let commit = option_env!("GIT_IDD_COMMIT").map(|commit| format!(" ({commit})"));
    format!("{}{}", env!("CARGO_PKG_VERSION"), commit.unwrap_or_default())
}

/// The optional parts that this build has.
fn features() -> String {
    let all =
        [("explain", cfg!(feature = "explain")), ("mcp", cfg!(feature = "mcp")), ("remote", cfg!(feature = "remote"))];
    let has: Vec<&str> = all.into_iter().filter_map(|(name, has)| has.then_some(name)).collect();
    if has.is_empty() { "none".to_owned() } else { has.join(" ") }
}
