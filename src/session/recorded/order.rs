//! The order of the user for what needs a recorded run, as plain data: a recording, a chop, an explanation.

use crate::order::{Holding, MAX_OUTPUT, TestCommand};
use idd_trace::instrument::java::sites::RecordedContent;
use idd_trace::slice::Kinds;
use std::ffi::OsString;
use std::time::Duration;

/// Decisions that are switched in search of a reference, if no other number is given.
pub const SWITCH_BUDGET: usize = 2000;

/// Bytes that all traces may take on disk, if nothing else is said.
pub const MAX_TRACE: u64 = 4 << 30;

/// A recording. [`RecordOrder::new`] gives the defaults of the command line.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordOrder {
    /// The test.
    pub command: TestCommand,
    /// The revision.
    pub at: String,
    /// Shell line that is run before the test.
    pub build: Option<OsString>,
    /// The held files.
    pub holding: Holding,
    /// The program to show, if the test runs several.
    pub program: Option<OsString>,
    /// Whether the run is not compared with other runs.
    pub once: bool,
    /// Bytes that all traces may take on disk.
    pub max_trace: u64,
    /// Bytes that the test may write to one file.
    pub max_output: u64,
    /// The part of the run that is stored if the whole is too long. Default: the end, but the beginning of a Java program.
    pub keep: Option<KeepOrder>,
    /// What is recorded of a Java program.
    pub content: RecordedContent,
    /// Time limit of the build and of the test, each.
    pub timeout: Option<Duration>,
}

impl RecordOrder {
    /// A recording of this test at HEAD, as `git idd record <test>` makes it.
    pub fn new(command: TestCommand) -> Self {
        Self {
            command,
            at: "HEAD".to_owned(),
            build: None,
            holding: Holding::default(),
            program: None,
            once: false,
            max_trace: MAX_TRACE,
            max_output: MAX_OUTPUT,
            keep: None,
            content: RecordedContent::Values,
            timeout: None,
        }
    }
}

/// A chop.
#[derive(Debug, Clone, PartialEq)]
pub struct ChopOrder {
    /// How the run is recorded. The revision counts only with a command.
    pub record: RecordOrder,
    /// The test; that of the newest finding if it is `None`.
    pub command: Option<TestCommand>,
    /// The hunt, if it is not the newest finding.
    pub hunt: Option<String>,
    /// A revision at which the test passes.
    pub good: Option<String>,
    /// A file with the output that is right.
    pub expected: Option<OsString>,
    /// The inputs, by names; all that the program reads if there is none.
    pub inputs: Vec<String>,
    /// The dependences that the slices follow.
    pub kinds: Kinds,
    /// How the input is reduced first; `None` if it is not.
    pub reduction: Option<ReductionOrder>,
}

/// The reduction of the input of a run that is examined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReductionOrder {
    /// A file with which the test passes; the only input and this one are moved towards each other.
    pub passing: Option<OsString>,
    /// Its time limit.
    pub budget: Duration,
    /// Number of tests that run at once, 1 to 1000; `None` for the default.
    pub jobs: Option<u32>,
}

/// An explanation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExplainOrder {
    /// The test; that of the hunt if it is `None`.
    pub command: Option<TestCommand>,
    /// The revision that fails.
    pub bad: Option<String>,
    /// The revision that passes.
    pub good: Option<String>,
    /// The hunt whose change is explained; the newest finding if it is `None`.
    pub hunt: Option<String>,
    /// Decisions that may be switched in search of a reference; `None` if the reference is a version.
    pub switch_budget: Option<usize>,
    /// Tests after which the search for the chain ends.
    pub max_tests: u64,
    /// Time after which it ends; `None` for no limit.
    pub budget: Option<Duration>,
    /// The pair of the hunt.
    pub at: ExplainedSide,
    /// Shell line that is run before the test.
    pub build: Option<OsString>,
    /// The held files; for versions of a hunt the files that the hunt held.
    pub holding: Holding,
    /// The number of the process to explain, if the test runs several.
    pub process: Option<usize>,
    /// The name of its program.
    pub program: Option<OsString>,
    /// A part of one of its arguments.
    pub argument: Option<OsString>,
    /// Whether the steps of the chain are not tested again.
    pub is_unchecked: bool,
    /// Bytes that all traces may take on disk.
    pub max_trace: u64,
    /// Bytes that the test may write to one file.
    pub max_output: u64,
    /// Time limit of the build and of the test, each.
    pub timeout: Option<Duration>,
}

/// The part of a run that is stored if the whole is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepOrder {
    /// The beginning.
    First,
    /// The end.
    Last,
}

/// The pair of versions that is explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExplainedSide {
    /// The first bad revision, and the same revision without the necessary change.
    #[default]
    Culprit,
    /// The revision that the fix is for, and the same revision with the fix.
    Head,
}
