//! Outcomes: the meaning of one probe of one tree.
//!
//! An [`Observation`] is the raw result (how the command ended, how long it took, what it printed); the cache and the
//! journal store it. An [`Outcome`] is its meaning for one hunt. A pure function (`idd_world::run::classify`)
//! computes the outcome, and does so again on every read. So a better rule never needs a second run.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The meaning of one probe for the hunt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The test passes.
    Pass,
    /// The test fails with the signature of the hunt.
    Fail,
    /// Neither: the probe says nothing about the hunted failure.
    Unresolved(Reason),
}

impl Outcome {
    /// Whether the outcome is a verdict: `Pass`, or `Fail` with the signature.
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

/// An outcome by its words, as it is displayed: `pass`, `fail`, `unresolved(build)`.
impl FromStr for Outcome {
    type Err = &'static str;

    fn from_str(words: &str) -> Result<Self, Self::Err> {
        let mut all = Reason::ALL.into_iter().map(Self::Unresolved).chain([Self::Pass, Self::Fail]);
        all.find(|outcome| outcome.to_string() == words).ok_or("an unknown outcome")
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Outcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// Why a probe gives no verdict; stored as its [`word`](Self::word).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The build command failed, or a single command failed in a way that only builds do.
    Build,
    /// The command reached its time limit, and the hunted failure is not a hang.
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
    /// The repository lacks an object of the tree, or the object is damaged.
    Object,
    /// The repository lacks a submodule of the tree.
    Submodule,
    /// There is no artifact of the revision, and it was not built.
    NoArtifact,
    /// The test asked to be skipped (exit code 125).
    Skip,
    /// The test passed without testing anything, or does not exist.
    TestAbsent,
    /// The test has the wanted outcome, but compiler or interpreter print a new warning.
    Complaint,
    /// The test has the wanted outcome, but the suite has a new failure.
    Suite,
}

impl Reason {
    /// Every reason, in the order of the documentation.
    pub const ALL: [Self; 15] = [
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
        Self::NoArtifact,
        Self::Skip,
        Self::TestAbsent,
        Self::Complaint,
        Self::Suite,
    ];

    /// Whether products of an earlier build can be the reason, and not the tree. A failed build was already repeated.
    pub fn may_be_stale(self) -> bool {
        matches!(self, Self::Signal | Self::Assertion | Self::Memory | Self::Other)
    }

    /// The stable word for it, as used in JSON.
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
            Self::NoArtifact => "no-artifact",
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// It exited with this code, 0 to 255.
    Exit(i32),
    /// It was killed by this signal, or a shell reported so. (Exit code 128 + n of a shell line is an exit code.)
    Signal(i32),
    /// It was killed at the time limit.
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

/// The user's command that ended the probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The `--from-artifacts` command, which failed; the test was not started.
    Fetch,
    /// The `--precheck` command, which failed; neither build nor test was started.
    Precheck,
    /// The `--build` command, which failed; the test was not started.
    Build,
    /// The test command.
    Test,
}

/// The time limits of the commands of a probe. The time that a build takes depends on what is there from earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimits {
    /// Of each command before the test.
    pub build: Duration,
    /// Of the test.
    pub test: Duration,
}

impl TimeLimits {
    /// The same limit for all commands.
    pub const fn both(limit: Duration) -> Self {
        Self { build: limit, test: limit }
    }

    /// The limit of one command.
    pub fn of(self, stage: Stage) -> Duration {
        if stage == Stage::Test { self.test } else { self.build }
    }
}

/// The raw result of one probe; independent of the hunted failure. The journal stores it in this form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// The command that ended the probe.
    pub stage: Stage,
    /// How it ended.
    pub ending: Ending,
    /// Wall time of build and test together.
    pub duration: Duration,
    /// The time limit of the command that ended the probe.
    pub limit: Duration,
    /// Combined output of the command that ended the probe: lossy UTF-8, with the worktree's path replaced by
    /// `<worktree>`, at most 128 KiB (head and tail; a line `[... n bytes cut ...]` marks the cut).
    pub output: String,
    /// What report files that a failing test wrote say about its tests, a line each, as
    /// `idd_world::run::runners` reads them; at most 256 KiB.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reported: String,
    /// Whether it ran in a freshly written worktree.
    pub is_clean: bool,
    /// Whether the command changed tracked files of its worktree.
    pub is_tampered: bool,
    /// The address of the service that ran it; `None` for this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// A test as its runner names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedTest {
    /// The name of the format of the runner's report.
    pub format: String,
    /// Its name in that report.
    pub name: String,
    /// The tests that failed beside it.
    pub others: Vec<String>,
}

/// The common part of failures that count as the same (from two runs at the bad revision).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// How the test ended.
    pub ending: Ending,
    /// The failing test that is hunted, if a runner named it in both runs.
    pub test: Option<NamedTest>,
    /// The normalised failure line that both runs printed, if they agreed on one.
    pub line: Option<String>,
    /// That line as one of the runs printed it, with its numbers and names; for people.
    pub printed: Option<String>,
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(test) = &self.test {
            write!(f, "`{}`, ", test.name)?;
        }
        write!(f, "{}", self.ending)?;
        match &self.printed {
            Some(line) => write!(f, ", `{line}`"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_is_known_by_its_word() {
        for outcome in Reason::ALL.into_iter().map(Outcome::Unresolved).chain([Outcome::Pass, Outcome::Fail]) {
            assert_eq!(outcome.to_string().parse(), Ok(outcome));
        }
        assert!("passed".parse::<Outcome>().is_err());
    }
}
