//! How the options make up commands.
//!
//! [`split`](crate::args::words::split) finds the name of the command, so that each is parsed in one piece.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::args::by_hand::{StartCommand, VerdictOptions};
use crate::args::values::{value, word};
use clap::builder::RangedU64ValueParser;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Args, Command, CommandFactory, Parser, value_parser};
use idd_explain::native::invariant::AddressMode;
use idd_session::debug::expect::Expectation;
use idd_session::slice::criterion::Criterion;

use crate::args::config::FLAGS;
use crate::args::options::{
    AllowanceOptions, Choice, EffortOptions, Explain, HistoryOptions, HuntChoice, LogFormat, OutputOptions,
    RecordOptions, ReportFormat, Shell, Shrink, TestOptions, parse_duration, parse_step,
};
use crate::args::questions::Measured;
use crate::args::trial::TryArgs;
use crate::args::words::CommandLineWords;
use crate::args::{Help, ParseError, UsageError, criterion};

/// Find the change that broke a test.
///
/// Give it a test that fails now. It finds the first bad commit, a minimal change inside it that makes the test fail,
/// and a tested fix for HEAD. No known good revision is needed; revisions that do not build are repaired, not skipped.
#[derive(Debug, Parser)]
#[command(
    name = "git-idd",
    bin_name = "git idd",
    version = version(),
    long_version = format!("{}\nfeatures: {}", version(), if cfg!(feature = "remote") { "remote" } else { "none" }),
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

/// A recording.
#[derive(Debug, Args)]
pub struct RecordCommand {
    /// The test, as in a hunt.
    #[arg(value_name = "TEST-CMD", last = true, required = true)]
    pub words: Vec<OsString>,

    /// Record which statements of a Java program run, without values: for `trace stat` and `trace tree` only.
    #[arg(long, help_heading = "What is recorded")]
    pub steps: bool,

    #[command(flatten)]
    pub record: RecordOptions,
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
#[derive(Debug, Args)]
pub struct McpCommand {
    /// The test that a client may run, as in a hunt.
    #[arg(value_name = "TEST-CMD", last = true)]
    pub words: Vec<OsString>,

    /// Shell line that a client may run before the test.
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<OsString>,
}

/// A slice.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("direction").required(true))]
pub struct SliceCommand {
    /// Show the statements on which this depends: `<step>`, `<step>:<variable>`, `output:<byte>`, `stderr:<byte>`,
    /// `crash`, `end`, or `line:<file>:<line>`.
    #[arg(long, value_name = "CRITERION", group = "direction", value_parser = criterion::parse)]
    pub backward: Option<Criterion>,

    /// Show the statements that depend on this: `<step>`, `<step>:<variable>`, `line:<file>:<line>`, or
    /// `input:<file>[:<byte>[-<byte>]]`, where `-` is standard input.
    #[arg(long, value_name = "CRITERION", group = "direction", value_parser = criterion::parse)]
    pub forward: Option<Criterion>,

    /// Follow values only, not the decisions because of which a statement runs.
    #[arg(long)]
    pub data: bool,

    /// Follow values that are used only to compute an address, too: pointers and indices.
    #[arg(long)]
    pub address: bool,

    /// Follow decisions that skipped an assignment of a used variable, too (relevant slice).
    #[arg(long, conflicts_with = "data")]
    pub potential: bool,

    #[command(flatten)]
    pub which: ProcessOptions,
}

/// Error invariants.
#[derive(Debug, Args)]
pub struct InvariantsCommand {
    /// The test, as in a hunt; it is recorded first (default: a recording is examined).
    #[arg(value_name = "TEST-CMD", last = true)]
    pub words: Vec<OsString>,

    /// The recording (default: the last one).
    #[arg(long, value_name = "ID", conflicts_with = "words")]
    pub recording: Option<String>,

    /// The process, by its number in the recording (default: the last one that ended as the test did).
    #[arg(long, value_name = "N", conflicts_with = "words")]
    pub process: Option<usize>,

    /// Record the test of a finding at the version that fails, and say whether the change matters for the failure.
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["words", "recording"])]
    pub hunt: Option<String>,

    /// What the invariants say of pointers: `value` nothing, `address` that a value is read where it was stored,
    /// `absolute` their numbers.
    #[arg(long, value_name = "MODE", value_parser = value::<AddressMode>(), default_value = word(AddressMode::Address))]
    pub mode: AddressMode,

    /// Where the failure is seen: `crash`, `end`, `<step>`, `<step>:<variable>`, `output:<byte>` or `stderr:<byte>` (default: the
    /// crash; else the first byte that differs from `--expected` or `--good`; else the end).
    #[arg(long, value_name = "CRITERION", value_parser = criterion::parse)]
    pub from: Option<Criterion>,

    /// What should hold each time that a line is about to run, in C: `n > 0 at a.c:13`. The first time that it does not is
    /// the failure.
    #[arg(long, value_name = "EXPR at FILE:LINE", value_parser = Expectation::parse, conflicts_with = "from")]
    pub assert: Option<Expectation>,

    /// File with the output that is right: the first byte that differs is the failure.
    #[arg(long, value_name = "FILE", conflicts_with = "good")]
    pub expected: Option<OsString>,

    /// Revision at which the test passes: its output is right; conditions that also hold in its run are left out.
    #[arg(long, value_name = "REV", requires = "words", conflicts_with = "recording")]
    pub good: Option<String>,

    /// Recording in which the test passed: its output is right; conditions that also hold there are left out.
    #[arg(long, value_name = "ID", conflicts_with_all = ["words", "hunt", "expected", "good"])]
    pub passing: Option<String>,

    /// Follow values only, not the decisions because of which a statement runs.
    #[arg(long)]
    pub data: bool,

    /// How far decisions are followed: 1 for those on which the values of the failure depend, 2 for those on which the
    /// values in their conditions depend, too, and so on (default: 2; all, if there is a passing run to compare with).
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..), conflicts_with = "data")]
    pub depth: Option<u32>,

    /// Examine the failing run alone: keep conditions that also hold in the passing run.
    #[arg(long)]
    pub alone: bool,

    /// Leave out statements without which the failure follows as well.
    #[arg(long)]
    pub minimal: bool,

    /// Search for the slice at most this long (builds, and runs and their recordings, are not counted), and print the part
    /// that was found.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "10s")]
    pub budget: Duration,

    /// Stop after this number of statements.
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = value_parser!(u32).range(1..))]
    pub max_statements: u32,

    /// Let a solver for SMT-LIB 2 check each invariant: that the run implies it, and that it implies the failure.
    #[arg(long, value_name = "SOLVER", num_args = 0..=1, default_missing_value = "z3 -in")]
    pub verify: Option<String>,

    #[command(flatten)]
    pub record: RecordOptions,
}

/// A chop.
#[derive(Debug, Args)]
pub struct ChopCommand {
    /// The test, as in a hunt; that of the newest finding if none is given.
    #[arg(value_name = "TEST-CMD", last = true)]
    pub words: Vec<OsString>,

    /// The input of the failing run: a file that the program reads, or `-` for standard input; may be given more than
    /// once. Without this option everything counts that the program reads.
    ///
    /// A file is put into the checkout as it is on disk, and is shrunk first.
    #[arg(long, value_name = "FILE")]
    pub input: Vec<String>,

    /// Take the input as it is, and do not shrink it first.
    #[arg(long, conflicts_with = "passing")]
    pub no_shrink: bool,

    /// File with which the test passes: the input becomes as similar to it as possible, in place of as small as
    /// possible.
    #[arg(long, value_name = "FILE", requires = "input")]
    pub passing: Option<OsString>,

    /// Stop shrinking after this time, and go on with the smallest input so far.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "1m")]
    pub budget: Duration,

    /// Number of tests that run at once while the input is shrunk (default: processors, at most 8).
    #[arg(short, long, value_name = "N", value_parser = value_parser!(u32).range(1..=1000))]
    pub jobs: Option<u32>,

    /// File with the output that is right: the first byte that differs is the failure.
    #[arg(long, value_name = "FILE", conflicts_with = "good")]
    pub expected: Option<OsString>,

    /// Revision at which the test passes: its output is right.
    #[arg(long, value_name = "REV")]
    pub good: Option<String>,

    /// The hunt whose finding is examined, if no test is given (default: the newest finding).
    #[arg(long, value_name = "ID", conflicts_with = "words")]
    pub hunt: Option<String>,

    /// Follow values only, not the decisions because of which a statement runs.
    #[arg(long)]
    pub data: bool,

    #[command(flatten)]
    pub record: RecordOptions,
}

/// An explanation.
#[derive(Debug, Args)]
pub struct ExplainCommand {
    /// The test, as in a hunt; that of the last hunt if none is given.
    #[arg(value_name = "TEST-CMD", last = true)]
    pub words: Vec<OsString>,

    #[command(flatten)]
    pub explain: Explain,
}

/// A walk over a recorded run.
#[derive(Debug, Args)]
pub struct DebugCommand {
    /// The test, as in a hunt; it is recorded first, at HEAD or at `--bad` and `--good` (default: a recording is opened).
    #[arg(value_name = "TEST-CMD", last = true)]
    pub words: Vec<OsString>,

    /// The recording (default: the last one).
    #[arg(long, value_name = "ID", conflicts_with_all = ["bad", "good", "words"])]
    pub recording: Option<String>,

    /// The process, by its number in the recording (default: the last one that ended as the test did).
    #[arg(long, value_name = "N")]
    pub process: Option<usize>,

    /// Where the failure is seen: `<step>`, `<step>:<variable>`, `output:<byte>`, `stderr:<byte>`, `crash`, `end`, or
    /// `line:<file>:<line>` (default: the crash; else the last output if the
    /// exit code is 0, else the last step).
    #[arg(long, value_name = "CRITERION", value_parser = criterion::parse, conflicts_with = "bad")]
    pub from: Option<Criterion>,

    /// What holds each time that a line is about to run, in C: `n > 0 at a.c:13`. The walk begins where it does not; may
    /// be given more than once.
    #[arg(long, value_name = "EXPR at FILE:LINE", value_parser = Expectation::parse)]
    pub expect: Vec<Expectation>,

    /// Revision at which the test fails (default: `HEAD`); it is recorded.
    #[arg(long, value_name = "REV", requires = "good")]
    pub bad: Option<String>,

    /// Revision at which the test passes: values that are the same there are presumed to be right.
    #[arg(long, value_name = "REV", conflicts_with = "passing")]
    pub good: Option<String>,

    /// Recording in which the test passed, with another input or at another revision: values that are the same there are
    /// presumed to be right.
    #[arg(long, value_name = "ID", conflicts_with_all = ["bad", "good", "words"])]
    pub passing: Option<String>,

    /// Shell line that is run before the test.
    #[arg(long, value_name = "COMMAND", requires = "words")]
    pub build: Option<OsString>,

    /// Read answers from this file first, a line each, and add those that are given then (default: a file beside the
    /// recording, so that a walk is taken up where it ended); `-` reads them from standard input, and keeps none.
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,

    /// Forget the answers that were given before.
    #[arg(long)]
    pub restart: bool,

    /// Ask by lines on a terminal, too: for screen readers and small terminals.
    #[arg(long)]
    pub plain: bool,
}

/// Which process of which recording.
#[derive(Debug, Default, Args)]
pub struct ProcessOptions {
    /// The recording (default: the last one).
    #[arg(long, value_name = "ID")]
    pub recording: Option<String>,

    /// The process, by its number in the recording (default: the last one that ended as the test did).
    #[arg(long, value_name = "N")]
    pub process: Option<usize>,
}

/// What is shown of a recording.
#[derive(Debug, clap::Subcommand)]
pub enum TraceCommand {
    /// List the recordings of this worktree.
    List,
    /// Print counts of a recording, and how much of it is understood.
    Stat(ProcessOptions),
    /// Show calls and loops with their values.
    Tree {
        /// Number of levels that are printed, at most 1000.
        #[arg(long, value_name = "N", default_value_t = 6, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1000))]
        depth: usize,

        /// Number of calls and iterations that are printed on each level.
        #[arg(long, value_name = "N", default_value_t = 20)]
        width: usize,

        #[command(flatten)]
        which: ProcessOptions,
    },
    /// List what the program read: which bytes of which file came in at which step.
    Inputs {
        /// Maximum number of reads that are printed for each input.
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,

        #[command(flatten)]
        which: ProcessOptions,
    },
    /// Show an executed statement: what it read and wrote, and what it depends on.
    Step {
        /// The step, by its number.
        #[arg(value_name = "STEP", value_parser = parse_step, allow_negative_numbers = true)]
        step: u32,

        #[command(flatten)]
        which: ProcessOptions,
    },
    /// Follow the last definitions of a variable back to where its value comes from.
    Why {
        /// The step; the variable is read before it.
        #[arg(value_name = "STEP", value_parser = parse_step, allow_negative_numbers = true)]
        step: u32,

        /// The variable, or a part of one: `n`, `s.f`, `p->f`, `a[3]`, `a[i]`, `*p`.
        #[arg(value_name = "VARIABLE")]
        variable: String,

        /// Maximum number of steps that are printed.
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,

        #[command(flatten)]
        which: ProcessOptions,
    },
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
    /// Build with an instrumenting compiler, run the test, and store what the program does.
    #[command(override_usage = "git idd record [OPTIONS] -- <TEST-CMD> [ARGS]...")]
    Record(Box<RecordCommand>),
    /// Explain why a change makes the test fail, as a chain of faulty values. Without arguments: the newest finding.
    #[command(
        override_usage = "git idd explain [OPTIONS]\n       git idd explain [OPTIONS] [--bad <REV>] --good <REV> -- <TEST-CMD> [ARGS]..."
    )]
    Explain(Box<ExplainCommand>),
    /// Show the statements that depend on the input of a failing test and on which its failure depends. Without
    /// arguments: of the newest finding.
    #[command(override_usage = "git idd chop [OPTIONS]\n       git idd chop [OPTIONS] -- <TEST-CMD> [ARGS]...")]
    Chop(Box<ChopCommand>),
    /// Show the few statements of a failing run that matter for its failure, and what has to hold before each of them.
    #[command(
        override_usage = "git idd invariants [OPTIONS]\n       git idd invariants [OPTIONS] -- <TEST-CMD> [ARGS]..."
    )]
    Invariants(Box<InvariantsCommand>),
    /// Show the statements of a recording on which a value depends, or that depend on it.
    #[command(override_usage = "git idd slice [OPTIONS] <--backward <CRITERION>|--forward <CRITERION>>")]
    Slice(Box<SliceCommand>),
    /// Find the first wrong step of a recorded run: you say which values are right, it recommends the next step.
    #[command(
        override_usage = "git idd debug [OPTIONS]\n       git idd debug [OPTIONS] [--bad <REV>] --good <REV> -- <TEST-CMD> [ARGS]..."
    )]
    Debug(Box<DebugCommand>),
    /// Show a recording.
    Trace {
        #[command(subcommand)]
        command: TraceCommand,
    },
    /// Let an editor step through a recording, forward and backward: a Debug Adapter Protocol server on stdio.
    Dap,
    /// Answer the questions of a programming assistant: a Model Context Protocol server on stdio. A client may run only
    /// the commands that are given here, and those of `idd.mcpAllow`.
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
