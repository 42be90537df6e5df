//! The commands that record a run, or examine a recorded one, as plain data.

pub mod criterion;
mod options;

use crate::args::questions::OptionMessage;
use idd_explain::invariant::InvariantLimits;
use idd_session::debug::DebugOrder;
use idd_session::invariants::{self, InvariantsOrder, Right};
use idd_session::order::{MAX_OUTPUT, TestCommand};
use idd_session::recorded::ProcessChoice;
use idd_session::recorded::order::{ChopOrder, ExplainOrder, MAX_TRACE, RecordOrder, ReductionOrder};
use idd_session::slice::{SliceDirection, SliceOrder};
use idd_trace::instrument::java::sites::RecordedContent;
use idd_trace::slice::Kinds;
use std::ffi::OsString;

use options::{
    ChopCommand, DebugCommand, Explain, InvariantsCommand, ProcessOptions, RecordOptions, SliceCommand, TraceCommand,
};

pub use options::RecordedCommand;

/// What is said of a blank test command.
const EMPTY_COMMAND: &str = "the test command is empty";

/// What is recorded, or examined.
#[derive(Debug, Clone, PartialEq)]
pub enum RecordedRequest {
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
}

impl RecordedRequest {
    /// Whether it builds or runs something, and so needs the store of this worktree.
    pub const fn uses_store(&self) -> bool {
        !matches!(self, Self::Slice(_) | Self::Trace(_) | Self::Dap)
    }
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

/// The request that a command makes.
pub fn request(command: RecordedCommand) -> Result<RecordedRequest, OptionMessage> {
    Ok(match command {
        RecordedCommand::Record(args) => {
            let content = if args.steps { RecordedContent::Steps } else { RecordedContent::Values };
            let hint = "give the command to record: git idd record -- ./test.sh";
            let command = command_of(args.words, hint)?.ok_or((EMPTY_COMMAND, hint))?;
            RecordedRequest::Record(RecordOrder { content, ..record_args(command, args.record) })
        }
        RecordedCommand::Explain(args) => RecordedRequest::Explain(explain_args(args.words, args.explain)?),
        RecordedCommand::Debug(args) => RecordedRequest::Debug(Box::new(debug_args(*args)?)),
        RecordedCommand::Chop(args) => RecordedRequest::Chop(chop_args(*args)?),
        RecordedCommand::Invariants(args) => RecordedRequest::Invariants(Box::new(invariants_args(*args)?)),
        RecordedCommand::Slice(args) => RecordedRequest::Slice(slice_args(*args)),
        RecordedCommand::Trace { command } => RecordedRequest::Trace(trace_args(command)),
        RecordedCommand::Dap => RecordedRequest::Dap,
    })
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

fn slice_args(args: SliceCommand) -> SliceOrder {
    let SliceCommand { backward, forward, data, address, potential, which } = args;
    let (direction, criterion) = match (backward, forward) {
        (Some(criterion), _) => (SliceDirection::Backward, criterion),
        (None, Some(criterion)) => (SliceDirection::Forward, criterion),
        (None, None) => unreachable!("clap requires one of them"),
    };
    SliceOrder { which: which.into(), direction, criterion, kinds: Kinds { address, control: !data, potential } }
}

fn record_args(command: TestCommand, record: RecordOptions) -> RecordOrder {
    let RecordOptions { at, build, holding, program, once, max_trace, keep, max_output, timeout } = record;
    let holding = holding.into();
    let content = RecordedContent::Values;
    RecordOrder { command, at, build, holding, program, once, max_trace, max_output, keep, content, timeout }
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

/// The test command of these words; `None` if there are none.
pub fn command_of(words: Vec<OsString>, hint: &'static str) -> Result<Option<TestCommand>, OptionMessage> {
    let is_given = !words.is_empty();
    let command = TestCommand::from_words(words);
    if is_given && command.is_none() { Err((EMPTY_COMMAND, hint)) } else { Ok(command) }
}
