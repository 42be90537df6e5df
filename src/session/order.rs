//! The order of the user as plain data: a hunt, or the reduction of an input.
//!
//! The command line makes these values from its options. A journal stores the order of a hunt, so that `resume` can
//! start the same hunt again: its field names and variants are a file format.

use crate::share::{Flaky, Share, Threshold, default_confidence};
use idd_base::Sought;
pub use idd_base::{Bound, HuntStage as Until};
pub use idd_change::Level;
pub use idd_hunt::HistoryWalk;
use idd_world::process::shell;
pub use idd_world::run::SignatureMode;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

/// A hunt. [`HuntOrder::new`] gives the defaults of the command line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HuntOrder {
    /// The test.
    pub command: TestCommand,
    /// Where to look.
    pub history: HistoryOrder,
    /// The commands, and the meaning of their results.
    pub test: TestOrder,
    /// The amount of work.
    pub effort: EffortOrder,
    /// Whether a person judges the revisions, so that the command is only a name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_hand: bool,
    /// Ids of commits that broke other tests, the one of the last test first. The search begins with them, and one that is
    /// found is not reduced again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<String>,
    /// How the command is measured, if its cost is hunted and not its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub perf: Option<Perf>,
}

impl HuntOrder {
    /// A hunt with this test, as `git idd <test>` without an option starts it.
    pub fn new(command: TestCommand) -> Self {
        Self {
            command,
            history: HistoryOrder::default(),
            test: TestOrder::default(),
            effort: EffortOrder::default(),
            by_hand: false,
            known: Vec::new(),
            perf: None,
        }
    }
}

/// How the cost of a command is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Perf {
    /// What is measured.
    pub measure: Measure,
    /// How much more is a loss.
    pub threshold: Threshold,
}

/// The cost of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Wall time.
    #[default]
    Time,
    /// Processor time of the command and of all processes that it waits for.
    Cpu,
    /// The peak of the resident memory of the largest of these processes.
    Memory,
    /// Instructions in user space.
    Instructions,
}

impl Measure {
    /// Its word on the command line and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::Instructions => "instructions",
        }
    }

    /// What a slower revision needs more of.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Cpu => "processor time",
            Self::Memory => "memory",
            Self::Instructions => "instructions",
        }
    }
}

/// Where to look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryOrder {
    /// What is looked for.
    #[serde(default, skip_serializing_if = "Sought::is_failure")]
    pub find: Sought,
    /// Revision at which the test fails; `HEAD` by default. For another question, the newer revision.
    pub bad: String,
    /// Revisions at which the test passes; one is searched if there is none. For another question, older revisions.
    pub good: Vec<String>,
    /// Whether both are those of the `git bisect` that is under way; false as soon as they are known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_bisect: bool,
    /// Whether only the first parent of a merge is followed.
    pub first_parent: bool,
    /// How history is walked.
    pub walk: HistoryWalk,
    /// Only commits that change one of these paths are considered; all if there is none.
    pub path: Vec<OsString>,
}

impl Default for HistoryOrder {
    fn default() -> Self {
        Self {
            find: Sought::Failure,
            bad: "HEAD".to_owned(),
            good: Vec::new(),
            from_bisect: false,
            first_parent: false,
            walk: HistoryWalk::Auto,
            path: Vec::new(),
        }
    }
}

/// The commands, and the meaning of their results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct TestOrder {
    /// Shell line that is run before the test; if it fails, the revision is unresolved.
    pub build: Option<OsString>,
    /// Shell line that is run before the build of a candidate; if it fails, the candidate is not built.
    pub precheck: Option<OsString>,
    /// Shell line that fetches the program of a revision, in place of a build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_artifacts: Option<OsString>,
    /// Bytes that fetched programs may take on disk.
    #[serde(default = "default_artifacts_size", skip_serializing_if = "is_default_artifacts_size")]
    pub artifacts_size: u64,
    /// Products of the build, as paths; the test depends on nothing else that the build makes.
    pub artifact: Vec<OsString>,
    /// Whether prechecks are disabled.
    pub no_precheck: bool,
    /// Time limit of the build and of the test, each; measured if it is `None`.
    pub timeout: Option<Duration>,
    /// A failure counts only if a line of its output matches this regular expression.
    pub match_line: Option<String>,
    /// A pass counts only if a line of its output matches this regular expression.
    pub pass_match: Option<String>,
    /// How failures are compared.
    pub signature: SignatureMode,
    /// Paths that keep the content of the working tree in every revision.
    pub hold: Vec<OsString>,
    /// Whether nothing is held, not even the test script.
    pub no_hold: bool,
    /// Patch or directory that is put over every revision.
    pub overlay: Option<OsString>,
    /// Directories whose files are put over every revision.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shim: Vec<OsString>,
    /// Runs of each test, 1 to 1000; one failure is a failure.
    pub repeat: u32,
    /// How often the test fails or passes without a reason; `None` if the user does not expect noise.
    pub flaky: Option<Flaky>,
    /// The probability at which the search ends if runs of one revision disagree.
    #[serde(default = "default_confidence")]
    pub confidence: Share,
    /// Shell line with more tests, which choose the fix.
    pub suite: Option<OsString>,
    /// Whether no other tests than the test command are run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_suite: bool,
    /// Whether the test gets the commit it runs at, in `IDD_COMMIT`.
    pub expose_commit: bool,
    /// Whether each worker has a `HOME` of its own.
    pub isolate_home: bool,
    /// The address of the service that runs the probes; `none` or nothing for this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
}

/// Bytes that fetched programs may take on disk, if nothing else is said.
pub const ARTIFACTS_SIZE: u64 = 4 << 30;

fn default_artifacts_size() -> u64 {
    ARTIFACTS_SIZE
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_default_artifacts_size(size: &u64) -> bool {
    *size == ARTIFACTS_SIZE
}

impl Default for TestOrder {
    fn default() -> Self {
        Self {
            build: None,
            precheck: None,
            from_artifacts: None,
            artifacts_size: ARTIFACTS_SIZE,
            artifact: Vec::new(),
            no_precheck: false,
            timeout: None,
            match_line: None,
            pass_match: None,
            signature: SignatureMode::Auto,
            hold: Vec::new(),
            no_hold: false,
            overlay: None,
            shim: Vec::new(),
            repeat: 1,
            flaky: None,
            confidence: default_confidence(),
            suite: None,
            no_suite: false,
            expose_commit: false,
            isolate_home: false,
            remote: None,
        }
    }
}

/// The amount of work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct EffortOrder {
    /// How far the culprit is reduced.
    pub level: Level,
    /// Whether the reduction makes fewer tests, often to a larger change.
    pub fast: bool,
    /// Whether the culprit is reduced a second time, from the other end.
    pub retry: bool,
    /// Whether every test runs in a freshly written checkout.
    pub clean: bool,
    /// Whether no result of an earlier run is used.
    pub no_cache: bool,
    /// Whether missing objects of a partial or shallow clone may be fetched.
    pub fetch: bool,
    /// The last stage.
    pub until: Until,
    /// The time limit of the reduction; `None` for the default.
    pub reduction: Option<Bound>,
    /// Whether repairs of revisions may take any number of tests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repair: bool,
    /// Whether the fix is not carried to HEAD.
    pub no_port: bool,
    /// Whether a hunt that recommends no fix ends with a status of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub require_fix: bool,
    /// Whether the change is explained when it is found.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub explain: bool,
    /// Number of tests that run at once, 1 to 1000; `None` for the default.
    pub jobs: Option<u32>,
    /// Of these, the number that may run on this machine in a hunt on a remote service; `None` for no one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_jobs: Option<u32>,
    /// Time after which the hunt stops.
    pub budget: Option<Duration>,
    /// Runs of the test after which the hunt stops.
    pub max_probes: Option<u64>,
    /// Time of all workers together after which the hunt stops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<Duration>,
    /// Shell line that runs when the first bad commit is found, and when the hunt has ended.
    pub notify: Option<String>,
    /// Directory in which jobs of several machines tell each other what they hunt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<OsString>,
}

/// The new limits of a resumed hunt; a `None` field stays unchanged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Allowance {
    /// Number of tests that run at once.
    pub jobs: Option<u32>,
    /// Time after which the hunt stops, counted from now.
    pub budget: Option<Duration>,
    /// Runs of the test after which the hunt stops, counted from now.
    pub max_probes: Option<u64>,
    /// Time of all workers together after which the hunt stops, counted from now.
    pub max_cost: Option<Duration>,
    /// The last stage.
    pub until: Option<Until>,
    /// The time limit of the reduction, including the time that it has taken so far.
    pub reduction: Option<Bound>,
    /// Whether missing objects of a partial or shallow clone may be fetched from now on.
    pub fetch: bool,
}

impl Allowance {
    /// Replaces the given fields in `effort`.
    pub fn replace(self, effort: &mut EffortOrder) {
        effort.jobs = self.jobs.or(effort.jobs);
        effort.budget = self.budget.or(effort.budget);
        effort.max_probes = self.max_probes.or(effort.max_probes);
        effort.max_cost = self.max_cost.or(effort.max_cost);
        effort.until = self.until.unwrap_or(effort.until);
        effort.reduction = self.reduction.or(effort.reduction);
        effort.fetch |= self.fetch;
    }
}

/// Bytes that the test may write to one file, if nothing else is said.
pub const MAX_OUTPUT: u64 = 1 << 30;

/// A reduction of the input of a failing test.
#[derive(Debug, Clone, PartialEq)]
pub struct ShrinkOrder {
    /// The test.
    pub command: TestCommand,
    /// The files that the test reads, as paths from the current directory.
    pub input: Vec<OsString>,
    /// A file with which the test passes; the only input and this one are moved towards each other.
    pub passing: Option<OsString>,
    /// Whether the arguments of the test are reduced, too.
    pub args: bool,
    /// Variables of the environment whose values are reduced, too.
    pub env: Vec<String>,
    /// The revision that is built and run.
    pub at: String,
    /// A revision that behaves otherwise with the input; the difference is what counts as the failure.
    pub good: Option<String>,
    /// The commands, and the meaning of their results.
    pub test: TestOrder,
    /// The amount of work.
    pub effort: EffortOrder,
}

/// The held files of a recording or an explanation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Holding {
    /// Paths that keep the content of the working tree.
    pub hold: Vec<OsString>,
    /// Whether nothing is held, not even the test script.
    pub no_hold: bool,
}

/// The test command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TestCommand {
    /// One argument: a line for `sh -c`; not blank.
    Shell(OsString),
    /// Several arguments: a program and its arguments; at least two words, the first not empty.
    Argv(Vec<OsString>),
}

impl TestCommand {
    /// As a line for the shell.
    pub fn to_line(&self) -> Vec<u8> {
        match self {
            Self::Shell(line) => line.as_bytes().to_vec(),
            Self::Argv(words) => shell::line(words.iter().map(|word| word.as_bytes())),
        }
    }

    /// The command of these arguments; `None` if there are none, or if the first one is blank.
    pub fn from_words(mut words: Vec<OsString>) -> Option<Self> {
        let is_blank = words.first()?.to_string_lossy().trim().is_empty();
        match words.len() {
            _ if is_blank => None,
            1 => Some(Self::Shell(words.remove(0))),
            _ => Some(Self::Argv(words)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check_line(words: &[&str], expected: &str) {
        let command = TestCommand::from_words(words.iter().map(OsString::from).collect());
        let line = command.map(|command| String::from_utf8(command.to_line()).unwrap());
        assert_eq!(line.as_deref(), (!expected.is_empty()).then_some(expected), "{words:?}");
    }

    #[test]
    fn several_words_are_quoted_for_the_shell_and_one_word_is_a_line_already() {
        check_line(&["make -s check; true"], "make -s check; true");
        check_line(&["./t.sh", "a b", "", "-x"], "./t.sh 'a b' '' -x");
        check_line(&["a b", "c"], "'a b' c");
    }

    #[test]
    fn a_blank_command_is_none() {
        check_line(&[], "");
        check_line(&[""], "");
        check_line(&[" \t"], "");
        check_line(&["", "x"], "");
    }

    #[test]
    fn a_resumed_hunt_keeps_each_limit_that_is_not_given_again() {
        let seconds = Duration::from_secs;
        let mut effort = EffortOrder {
            jobs: Some(3),
            budget: Some(seconds(9)),
            max_probes: Some(7),
            max_cost: None,
            lease: None,
            until: Until::Commit,
            reduction: Some(Bound::Unlimited),
            fetch: true,
            clean: true,
            ..EffortOrder::default()
        };
        let before = effort.clone();
        Allowance::default().replace(&mut effort);
        assert_eq!(effort, before);
        let within = Some(Bound::Within(seconds(1)));
        let allowance = Allowance { jobs: Some(1), until: Some(Until::Fix), reduction: within, ..Allowance::default() };
        allowance.replace(&mut effort);
        let expected = EffortOrder { jobs: Some(1), until: Until::Fix, reduction: within, ..before };
        assert_eq!(effort, expected);
        Allowance { budget: Some(seconds(2)), max_probes: Some(1), ..Allowance::default() }.replace(&mut effort);
        assert_eq!((effort.budget, effort.max_probes, effort.fetch), (Some(seconds(2)), Some(1), true));
        let mut offline = EffortOrder::default();
        Allowance { fetch: true, ..Allowance::default() }.replace(&mut offline);
        assert!(offline.fetch);
    }

    #[test]
    fn an_order_comes_back_from_a_journal() {
        let order = HuntOrder::new(TestCommand::Argv(vec!["./t".into(), "x".into()]));
        let mut value = serde_json::to_value(&order).unwrap();
        assert_eq!(serde_json::from_value::<HuntOrder>(value.clone()).unwrap(), order);
        value["test"]["repeat"] = json!("often");
        assert!(serde_json::from_value::<HuntOrder>(value).is_err());
    }
}
