//! What a debugger needs of recordings: opening, making, and judging them.

use crate::debug::expect::Expectation;
use crate::recorded::order::RecordOrder;
use crate::recorded::{ProcessChoice, ProcessRun, failed};
use crate::{Failure, Talk, debug};
use idd_report::Untrusted;
use idd_trace::TraceError;
use idd_world::answers::Answers;

/// A file of the recorded version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedFile {
    /// Its path in the tree.
    pub path: String,
    /// Its path in the working tree, if that has the same content there.
    pub on_disk: Option<String>,
    /// Its content.
    pub content: String,
}

/// Finds a file of the recorded version, by the name that the compiler was given.
pub type SourceFinder = Box<dyn Fn(&str) -> Option<RecordedFile>>;

/// A run that was opened for a debugger.
pub struct Opened {
    /// The recording and the process.
    pub which: ProcessChoice,
    /// The run.
    pub run: ProcessRun,
    /// How the process ended, see [`container`](idd_trace::container).
    pub end: Option<u32>,
    /// Gives a file, by the name that the compiler was given.
    pub sources: SourceFinder,
}

/// Where a walk begins.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WalkBegin {
    /// The criterion that names the failure, as it is typed.
    pub from: Option<String>,
    /// What holds at lines.
    pub expected: Vec<Expectation>,
    /// Whether earlier answers are forgotten.
    pub is_restarted: bool,
}

/// The recordings that a debugger can open.
pub trait Recordings {
    /// Opens a run.
    fn open(&mut self, which: &ProcessChoice) -> Result<Opened, Failure>;

    /// Makes a recording.
    fn record(&mut self, order: &RecordOrder, talk: &mut dyn Talk) -> Result<ProcessChoice, Failure>;

    /// Begins to ask about a run; the result has the file of the earlier answers, too, if they are kept.
    fn walk(
        &mut self,
        which: &ProcessChoice,
        begin: &WalkBegin,
    ) -> Result<(debug::DebugWalk, Option<Answers>), Failure>;
}

/// An error that the client can mend.
pub fn complaint(text: impl Into<Untrusted>) -> Failure {
    Failure::usage(text)
}

/// A recording that cannot be read.
#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
pub fn of_trace(error: TraceError) -> Failure {
    failed(&error)
}
