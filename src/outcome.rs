//! Outcomes: what one probe says about one tree.
//!
//! An [`Observation`] is what was seen (how the command ended, how long it took, what it printed); it is what the cache
//! and the journal keep. An [`Outcome`] is what that means for one hunt. The step between the two is a pure function
//! ([`crate::world::run::classify`]) and is taken again on every read, so a better rule never needs a second run.

use std::fmt;
use std::time::Duration;

/// What one probe means for the hunt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The test passes.
    Pass,
    /// The test fails with the signature of the hunt.
    Fail,
    /// Neither; nothing can be said about the failure that is hunted.
    Unresolved(Reason),
}

impl Outcome {
    /// Whether the outcome decides something: `Pass`, or `Fail` with the signature.
    pub fn is_testable(self) -> bool {
        !matches!(self, Self::Unresolved(_))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass => f.write_str("pass"),
            Self::Fail => f.write_str("fail"),
            Self::Unresolved(reason) => write!(f, "unresolved({reason})"),
        }
    }
}

/// Why a probe decides nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The build command failed, or a single command failed in a way that only builds do.
    Build,
    /// The command was cut at its time limit, and the failure that is hunted is not a hang.
    Timeout,
    /// The command died of a signal that is not the hunted failure.
    Signal,
    /// An assertion other than the hunted one.
    Assertion,
    /// A sanitizer or the allocator reported corrupted memory.
    Memory,
    /// The test failed, but with another signature.
    Other,
    /// The patch does not apply to this revision.
    DoesNotApply,
    /// The tree holds a path that cannot or must not be written here.
    Path,
    /// The repository lacks an object of the tree, or has it damaged.
    Object,
    /// The repository lacks a submodule of the tree.
    Submodule,
    /// The test asked to be skipped (exit code 125).
    Skip,
    /// The test passed without having tested anything, or is not there at all.
    TestAbsent,
    /// The test shows what is wanted, but compiler or interpreter complain of something anew.
    Complaint,
    /// The test shows what is wanted, but the suite fails anew.
    Suite,
}

impl Reason {
    /// Every reason, in the order of the documentation.
    pub const ALL: [Self; 14] = [
        Self::Build,
        Self::Timeout,
        Self::Signal,
        Self::Assertion,
        Self::Memory,
        Self::Other,
        Self::DoesNotApply,
        Self::Path,
        Self::Object,
        Self::Submodule,
        Self::Skip,
        Self::TestAbsent,
        Self::Complaint,
        Self::Suite,
    ];

    /// Whether products of an earlier build could be to blame, and not the tree itself. A build that fails was made again already.
    pub fn may_be_stale(self) -> bool {
        matches!(self, Self::Signal | Self::Assertion | Self::Memory | Self::Other)
    }

    /// The stable word for it, as in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Build => "build",
            Self::Timeout => "timeout",
            Self::Signal => "signal",
            Self::Assertion => "assertion",
            Self::Memory => "memory",
            Self::Other => "other",
            Self::DoesNotApply => "does-not-apply",
            Self::Path => "path",
            Self::Object => "object",
            Self::Submodule => "submodule",
            Self::Skip => "skip",
            Self::TestAbsent => "test-absent",
            Self::Complaint => "complaint",
            Self::Suite => "suite",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// It exited with this code, 0 to 255.
    Exit(i32),
    /// It was killed by this signal, or a shell reported so (exit code 128 + n of a shell line stays an exit code).
    Signal(i32),
    /// It was cut at the time limit.
    Timeout,
    /// It was never started: the tree could not be written, or the working directory is not in it.
    NotRun(Reason),
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Timeout => f.write_str("timeout"),
            Self::NotRun(reason) => write!(f, "not run ({reason})"),
        }
    }
}

/// Which of the user's commands ended the probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// The `--precheck` command, which failed; neither build nor test was started.
    Precheck,
    /// The `--build` command, which failed; the test was not started.
    Build,
    /// The test command.
    Test,
}

/// What was seen in one probe; independent of what is hunted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// Which command ended the probe.
    pub stage: Stage,
    /// How it ended.
    pub ending: Ending,
    /// Wall time of build and test together.
    pub duration: Duration,
    /// The time limit that was in force for each command.
    pub limit: Duration,
    /// Combined output of the command that ended the probe: lossy UTF-8, the worktree's path replaced by
    /// `<worktree>`, at most 128 KiB (head and tail, the cut marked by a line `[... n bytes cut ...]`).
    pub output: String,
    /// Whether it was made in a freshly written worktree.
    pub is_clean: bool,
    /// Whether the command changed tracked files of its worktree.
    pub is_tampered: bool,
}

/// What makes two failures the same failure (taken from two runs at the bad revision).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// How the test ended.
    pub ending: Ending,
    /// The normalised failure line that both runs printed, if they agreed on one.
    pub line: Option<String>,
    /// That line as one of the runs printed it, with its numbers and names; for people.
    pub printed: Option<String>,
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.ending)?;
        match &self.printed {
            Some(line) => write!(f, ", `{line}`"),
            None => Ok(()),
        }
    }
}
