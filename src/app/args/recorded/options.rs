//! The options of the commands that record a run, or examine a recorded one.

use crate::args::options::{HoldingOptions, parse_duration, parse_room, parse_size};
use crate::args::recorded::criterion;
use crate::args::values::{value, values, word};
use clap::builder::RangedU64ValueParser;
use clap::{Args, value_parser};
use idd_explain::native::invariant::AddressMode;
use idd_session::debug::expect::Expectation;
use idd_session::recorded::ProcessChoice;
use idd_session::recorded::order::{ExplainedSide, KeepOrder, SWITCH_BUDGET};
use idd_session::slice::criterion::Criterion;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

values! {
    KeepOrder {
        First "first" "The beginning"
        Last "last" "The end"
    }
    AddressMode {
        Value "value" "Nothing"
        Address "address" "That a value is read where it was stored"
        Absolute "absolute" "Their numbers"
    }
    ExplainedSide {
        Culprit "culprit" "The first bad revision"
        Head "head" "The revision that the fix is for"
    }
}

/// What records a run, or examines a recorded one.
#[derive(Debug, clap::Subcommand)]
pub enum RecordedCommand {
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
        /// What is shown of it.
        #[command(subcommand)]
        command: TraceCommand,
    },
    /// Let an editor step through a recording, forward and backward: a Debug Adapter Protocol server on stdio.
    Dap,
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

/// What is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(next_help_heading = "What is recorded")]
pub struct RecordOptions {
    /// Revision that is built and run.
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    pub at: String,

    /// Shell line that is run before the test.
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<OsString>,

    #[command(flatten)]
    /// What is kept.
    pub holding: HoldingOptions,

    /// If the test runs several programs: the one that `trace` shows (default: the last one that ended as the test
    /// did).
    #[arg(long, value_name = "NAME")]
    pub program: Option<OsString>,

    /// Run the test only once; without this option it also runs without instrumentation, and a second time, to compare
    /// the runs.
    #[arg(long)]
    pub once: bool,

    /// Limit of the disk space of all traces together: `500M`, `4G`.
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = parse_room, allow_negative_numbers = true)]
    pub max_trace: u64,

    /// Part of the run that is kept if the whole exceeds `--max-trace` (default: last; of a Java program always the first).
    #[arg(long, value_name = "PART", value_parser = value::<KeepOrder>())]
    pub keep: Option<KeepOrder>,

    /// Limit of the size of each file that the test writes, its output included: `100M`, `2G`.
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = parse_size, allow_negative_numbers = true)]
    pub max_output: u64,

    /// Time limit of the build and of the test, each.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub timeout: Option<Duration>,
}

/// What is explained.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(next_help_heading = "What is explained")]
pub struct Explain {
    /// Revision at which the test fails (default: `HEAD`).
    #[arg(long, value_name = "REV")]
    pub bad: Option<String>,

    /// Revision at which the test passes; as similar to the bad one as possible.
    #[arg(long, value_name = "REV")]
    pub good: Option<String>,

    /// The hunt whose finding is explained, by its id or the beginning of one (default: the newest finding).
    #[arg(long, value_name = "ID", conflicts_with_all = ["bad", "good", "words"])]
    pub hunt: Option<String>,

    /// Compare the failing run with itself with one decision inverted (an `if` goes the other way), so that the test
    /// passes.
    #[arg(long, conflicts_with = "good")]
    pub switch: bool,

    /// Number of decisions that `--switch` tries at most, each in a fork of the program: the last ones first, then
    /// those that the failure depends on.
    #[arg(long, value_name = "N", default_value_t = SWITCH_BUDGET, requires = "switch")]
    pub switch_budget: usize,

    /// Stop after this many causality tests, and print the chain so far.
    #[arg(long, value_name = "N", default_value_t = 5000)]
    pub max_tests: u64,

    /// Search for the chain at most this long (builds and runs of the test are not counted), and print the chain so
    /// far.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub budget: Option<Duration>,

    /// Pair of versions of a hunt: the first bad revision with and without the necessary change, or HEAD without and
    /// with the fix.
    #[arg(long, value_parser = value::<ExplainedSide>(), value_name = "WHERE", default_value = word(ExplainedSide::default()))]
    pub at: ExplainedSide,

    /// Shell line that is run before the test.
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<OsString>,

    #[command(flatten)]
    /// What is kept.
    pub holding: HoldingOptions,

    /// If the test runs several processes: the number of the one that is explained, as in `git idd record`.
    #[arg(long, value_name = "N")]
    pub process: Option<usize>,

    /// If the test runs several programs: the one that is explained.
    #[arg(long, value_name = "NAME")]
    pub program: Option<OsString>,

    /// Explain a process that has this text in one of its arguments.
    #[arg(long, value_name = "TEXT")]
    pub argument: Option<OsString>,

    /// Do not test each step of the chain again at the end.
    #[arg(long)]
    pub unchecked: bool,

    /// Limit of the disk space of all traces together: `500M`, `4G`.
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = parse_room, allow_negative_numbers = true)]
    pub max_trace: u64,

    /// Limit of the size of each file that the test writes, its output included: `100M`, `2G`.
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = parse_size, allow_negative_numbers = true)]
    pub max_output: u64,

    /// Time limit of the build and of the test, each.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub timeout: Option<Duration>,
}

impl From<ProcessOptions> for ProcessChoice {
    fn from(options: ProcessOptions) -> Self {
        let ProcessOptions { recording, process } = options;
        Self { recording, process }
    }
}

/// The number of a step.
fn parse_step(text: &str) -> Result<u32, String> {
    let step = text.parse().ok().filter(|step| *step > 0);
    step.ok_or_else(|| "steps are numbered from 1; `git idd trace tree` shows where they are".to_owned())
}
