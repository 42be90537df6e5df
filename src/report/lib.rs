//! The finding as plain data, and its forms for people and programs.
//!
//! [`Report`] is the versioned form that leaves the program: it is printed as JSON ([`json`]) and as text ([`text`]),
//! stored for `git idd show`, and read back. Nothing here searches or runs anything. Text from a repository, a test or
//! the user is [`Untrusted`]: only an escaper of [`escape`] turns it into output.

pub mod certificate;

pub mod escape;

mod bounds;

pub mod chain;

pub mod chop;

pub mod commit;

pub mod course;

pub mod explanation;

pub mod forge;

pub mod github;

pub mod gitlab;

pub mod json;

pub mod html;
pub mod invariants;

pub mod junit;

pub mod lineage;

pub mod mail;
pub mod markdown;

pub mod outline;

pub mod patch;

pub mod phrase;

pub mod places;

pub mod sarif;

pub mod status;

pub mod story;

pub mod style;

pub mod summary;

pub mod text;

pub mod trial;

pub mod views;

pub mod walk;

#[cfg(any(test, feature = "testing"))]
pub mod samples;

mod wire;

pub use commit::{Commit, Date, Started};
pub use escape::{Json, Markdown, Terminal, Untrusted, Workflow, Xml};
pub use explanation::{Explained, Explanation, ExplanationError};
pub use phrase::Inline;
pub use status::Status;
pub use style::{Style, TextRole};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use idd_base::{CommitId, Outcome, Signature, Sought, TreeId};

use crate::phrase::{code, words};

/// The name of this form. Fields may be added under the same name; no field is removed or changes its meaning.
pub const SCHEMA: &str = "git-idd/2";

/// The held paths that are named in a report for people.
const MAX_HELD: usize = 3;

/// The result of a run of the program.
///
/// Every field is always present in JSON, `null` if unknown. `schema` and `exit` are added there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// How it ended.
    #[serde(flatten)]
    pub status: Status,
    /// What the hunt looked for. For another question than a failure, `fail` is the behaviour of the newer revisions, in
    /// every field, and `pass` that of the older ones.
    pub find: Sought,
    /// The error, if there was one.
    pub error: Option<ErrorReport>,
    /// One sentence for people, with its full stop (or an id at its end).
    pub sentence: Untrusted,
    /// The hunted failure.
    pub signature: Option<HuntedFailure>,
    /// The older value, if a change of a value was looked for.
    pub before: Option<Untrusted>,
    /// The loss, if the cost of a command was measured.
    pub loss: Option<Loss>,
    /// The revision where the test fails.
    pub bad: Option<Commit>,
    /// The newest revision known to pass.
    pub last_good: Option<Commit>,
    /// The first revision that fails; the newest one, if several commits take part.
    pub first_bad: Option<FirstBad>,
    /// Whether that commit and the one before it were run again in fresh checkouts.
    pub proved: bool,
    /// All commits that take part, newest first.
    pub culprits: Vec<Commit>,
    /// Whether the failure needs all of them together; otherwise each of them causes it alone.
    pub interaction: bool,
    /// The probability that the first bad commit is the right one, between 0 and 1, if runs of one tree disagreed and
    /// one rate for each side explains them.
    pub confidence: Option<f64>,
    /// The measured noise of the test if runs of one tree disagreed.
    pub noise: Option<ReportedNoise>,
    /// The remaining candidates, if no single commit can be named.
    pub range: Option<CandidateRange>,
    /// The reduced changes.
    pub change: Changes,
    /// The recommended fix; or, if that is not complete, the one that was carried farthest.
    pub fix: Option<ReportedFix>,
    /// All reversals that were tried, from the smallest to the largest.
    pub fixes: Vec<ReportedFix>,
    /// The reverts of whole commits that were tried. A revert is no fix: it takes back what the commit was for.
    pub reverts: Vec<ReportedFix>,
    /// Why no fix is recommended; `None` if one is, or if none was looked for.
    pub no_fix: Option<Untrusted>,
    /// The changes that made revisions testable.
    pub repairs: Vec<ReportedRepair>,
    /// The revisions whose verdict is one with a repair; a repair serves its neighbours, too.
    pub repaired: Vec<CommitId>,
    /// The claims that support the finding.
    pub evidence: Vec<ClaimEvidence>,
    /// The held paths.
    pub held: Vec<HeldPath>,
    /// Whether probes saw their checkout at the path of the user's working tree; `None` if no probe of this machine ran.
    pub in_place: Option<bool>,
    /// Notes, for example about a fallback.
    pub notes: Vec<Untrusted>,
    /// Whose programs were fetched, if `--from-artifacts` was used.
    pub artifacts: Option<FetchedArtifacts>,
    /// How often the test ran.
    pub probes: Probes,
    /// Wall time in seconds, all sessions of the hunt together.
    pub seconds: f64,
    /// The id of the hunt.
    pub hunt: Option<String>,
    /// The directory with the stored outputs.
    pub log: Option<Untrusted>,
}

impl Report {
    /// The held paths in the tested trees, or those beside them.
    pub fn held_paths(&self, beside: bool) -> impl Iterator<Item = &HeldPath> {
        self.held.iter().filter(move |held| held.beside == beside)
    }

    /// The held paths that a person is told, and how many others there are: `--hold` can name a large directory.
    pub fn shown_held(&self, beside: bool) -> (Vec<&HeldPath>, usize) {
        let mut shown: Vec<&HeldPath> = self.held_paths(beside).collect();
        let n_more = shown.len().saturating_sub(MAX_HELD);
        shown.truncate(MAX_HELD);
        (shown, n_more)
    }

    /// The revert to apply, if the user wants one: of those that apply, the one with the best result.
    pub fn revert(&self) -> Option<&ReportedFix> {
        let applies = self.reverts.iter().filter(|revert| !revert.patch.is_empty());
        applies.min_by_key(|revert| {
            // The code alone would leave the tests that came with it.
            let rank = [ReportedScope::Revert, ReportedScope::Code]
                .iter()
                .position(|scope| *scope == revert.scope)
                .unwrap_or(2);
            (revert.tested != Outcome::Pass, revert.suite == Suite::Worse, revert.complaints.len(), rank)
        })
    }

    /// The reversal to show: the fix; else a revert that makes the test pass at HEAD, if nothing speaks against it.
    pub fn reversal(&self) -> Option<&ReportedFix> {
        self.fix.as_ref().or_else(|| self.sound_revert())
    }

    /// The revert to apply, if it makes the test pass at HEAD and nothing speaks against it.
    pub fn sound_revert(&self) -> Option<&ReportedFix> {
        self.revert().filter(|revert| {
            let is_sound = revert.suite != Suite::Worse && revert.complaints.is_empty();
            // What newer commits rewrote can need what it takes back.
            let is_safe = !revert.is_partial() || revert.suite == Suite::Same;
            is_sound && is_safe && revert.complete && revert.tested == Outcome::Pass
        })
    }

    /// A report with only a status.
    pub fn new(status: Status, sentence: impl Into<Untrusted>) -> Self {
        Self { status, sentence: sentence.into(), ..Self::default() }
    }
}

/// How often a noisy test has the wrong outcome: shares of its runs, between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ReportedNoise {
    /// The share of failing runs among the runs of revisions without the cause of the failure.
    pub false_fails: f64,
    /// The share of passing runs among the runs of revisions with the cause.
    pub false_passes: f64,
}

/// How much more a command needs: two revisions, run by turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// What was measured: `time`, `cpu`, `memory` or `instructions`.
    pub measure: String,
    /// The unit of the medians: `seconds`, `bytes` or `instructions`.
    pub unit: String,
    /// The share by which the slow revision needs more: 0.5 for half as much again; negative if it needs less.
    pub more: f64,
    /// The lower end of the interval that contains this share.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The probability that the interval is right, between 0 and 1.
    pub confidence: f64,
    /// The number of rounds. Each ran both revisions once.
    pub rounds: u64,
    /// The median of the fast revision.
    pub fast: f64,
    /// The median of the slow revision.
    pub slow: f64,
}

impl Loss {
    /// "12.3 % more time (9.8 to 14.6 %, 24 rounds): 42.1 ms, before 37.5 ms".
    pub fn in_one_line(&self) -> String {
        let Self { low, high, rounds, .. } = self;
        let (slow, fast) = (self.amount(self.slow), self.amount(self.fast));
        let (low, high) = (100.0 * low, 100.0 * high);
        format!("{} ({low:.1} to {high:.1} %, {rounds} rounds): {slow}, before {fast}", self.in_words())
    }

    /// "12.3 % more time".
    pub fn in_words(&self) -> String {
        let noun = match self.measure.as_str() {
            "cpu" => "processor time",
            other => other,
        };
        let word = if self.more < 0.0 { "less" } else { "more" };
        format!("{:.1} % {word} {noun}", 100.0 * self.more.abs())
    }

    fn amount(&self, number: f64) -> String {
        match self.unit.as_str() {
            "seconds" if number < 0.9995 => format!("{:.1} ms", 1e3 * number),
            "seconds" => format!("{number:.2} s"),
            "bytes" => format!("{:.1} MiB", number / f64::from(1 << 20)),
            unit => format!("{:.1} million {unit}", number / 1e6),
        }
    }
}

/// An error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorReport {
    /// The chain of causes, in one line.
    pub message: Untrusted,
    /// Advice to the user.
    pub hint: Option<Untrusted>,
}

/// The hunted failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HuntedFailure {
    /// How the test ended, in words: `exit code 1`, `signal 11`, `timeout`.
    pub ending: String,
    /// The failing test, if the runner names it: then its failures alone count.
    pub test: Option<FailingTest>,
    /// The failure line, as the test printed it at the bad revision. Parts that differ between runs (numbers, paths,
    /// times) are compared by their kind only.
    pub line: Option<Untrusted>,
    /// The level of comparison for candidates: `output` (this line as printed, and no line that neither end of the
    /// change prints), `line`, `normalised` (the line without numbers), `ending`; `None` if nothing was reduced.
    pub compared: Option<String>,
}

impl HuntedFailure {
    /// The failing test, the ending, and the failure line.
    pub fn in_short(&self) -> Vec<Inline> {
        let test = self.test.iter().flat_map(|test| [code(&test.name), words(", ")]);
        let line = self.line.iter().flat_map(|line| [words(", "), code(line)]);
        test.chain([words(self.ending.as_str())]).chain(line).collect()
    }
}

impl From<&Signature> for HuntedFailure {
    fn from(signature: &Signature) -> Self {
        let line = signature.printed.as_deref().map(Untrusted::from);
        let test = signature
            .test
            .as_ref()
            .map(|test| FailingTest { runner: test.format.clone(), name: Untrusted::from(test.name.as_str()) });
        Self { ending: signature.ending.to_string(), test, line, compared: None }
    }
}

/// A test that a runner reports as failing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailingTest {
    /// The runner: `pytest`, `cargo test`, ...
    pub runner: String,
    /// Its name in the report of the runner.
    pub name: Untrusted,
}

/// The first bad commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstBad {
    /// The commit.
    #[serde(flatten)]
    pub commit: Commit,
    /// Added and removed lines of the whole commit.
    pub lines: u64,
}

/// Candidates, if no single commit can be named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CandidateRange {
    /// One of them is the first bad commit; newest first.
    pub candidates: Vec<Commit>,
}

/// The reduced changes between good and bad.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Changes {
    /// If it is added to the good revision, the test fails.
    pub sufficient: Option<ReducedChange>,
    /// If it is taken out of the bad revision, the test passes.
    pub necessary: Option<ReducedChange>,
    /// The commit to which the sufficient change is added, and the one from which the necessary change is taken.
    pub ends: Option<[CommitId; 2]>,
}

/// A reduced change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReducedChange {
    /// In the direction from good to bad.
    pub patch: Untrusted,
    /// Added and removed lines of the patch that are not blank.
    pub lines: u64,
    /// Paths, in the order of the patch.
    pub files: Vec<Untrusted>,
    /// Where its runs of changed lines are in the first bad commit, in the order of the patch.
    pub places: Vec<ChangePlace>,
    /// In the sufficient change: the lines of `patch`, from 1, that the necessary change has, too. Empty if the necessary
    /// change is unknown, or has other lines as well.
    pub marked: Vec<u64>,
    /// Its units.
    pub units: Vec<ChangePart>,
    /// Whether every single unit was shown to be needed.
    pub is_minimal: bool,
}

/// A place in a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangePlace {
    /// The path.
    pub file: Untrusted,
    /// The line, from 1; for removed lines, the one before which they were. `None` if it is not known, or if the change
    /// is not one of lines.
    pub line: Option<u64>,
}

/// A part of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangePart {
    /// The commit that it comes from, if that is known.
    pub commit: Option<CommitId>,
    /// Its path.
    pub file: Untrusted,
    /// Its added and removed lines.
    pub lines: u64,
    /// Its edits as lines of a patch, without headers and context; empty if it changes no text.
    pub text: Untrusted,
    /// The outcome of the test without it: for the sufficient change, if only this unit is left out; for the necessary
    /// one, if only this unit is not reversed. `None` if unknown.
    pub without: Option<Outcome>,
}

/// A fix, ported towards HEAD and tested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedFix {
    /// The newest revision to which it was carried.
    pub commit: CommitId,
    /// Whether that is HEAD.
    pub complete: bool,
    /// Applies at `commit`.
    pub patch: Untrusted,
    /// Added and removed lines of the patch.
    pub lines: u64,
    /// The outcome of the test at `commit` with the patch.
    pub tested: Outcome,
    /// Whether other tests make the command fail at `commit` with the patch.
    pub still_fails: bool,
    /// Added and removed lines of the culprit, for comparison.
    pub culprit_lines: u64,
    /// The result of the other tests.
    pub suite: Suite,
    /// The method by which it was carried to `commit`.
    pub rung: PortRung,
    /// The part of the culprit that it reverses.
    pub scope: ReportedScope,
    /// The commit that it reverts as a whole, if it is one commit.
    pub reverts: Option<Commit>,
    /// The files with tests that its patch changes or removes.
    pub tests: Vec<Untrusted>,
    /// The failing lines of the suite that appear only with it.
    pub fails: Vec<Untrusted>,
    /// The first commit between the culprit and `commit` since which it does not apply.
    pub stopped_by: Option<Commit>,
    /// The warnings of compiler or interpreter that appear only with it.
    pub complaints: Vec<Untrusted>,
}

/// The part of the culprit that a fix reverses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportedScope {
    /// Only the necessary change.
    #[default]
    Lines,
    /// The runs of changed lines around it.
    Statements,
    /// Everything that the culprit changed in the same declarations.
    Declarations,
    /// Everything that the culprit changed in the same files.
    Files,
    /// All code of a commit, without tests and comments that came with it.
    Code,
    /// A whole commit.
    Revert,
    /// All that the merge brought with which the culprit came.
    Merge,
}

impl ReportedScope {
    /// The stable word for it, as used in JSON and on the command line.
    pub fn word(self) -> &'static str {
        self.said()[0]
    }

    /// The reversed part, in words.
    pub fn words(self) -> &'static str {
        self.said()[1]
    }

    fn said(self) -> [&'static str; 2] {
        match self {
            Self::Lines => ["lines", "the lines that the test needs"],
            Self::Statements => ["statements", "the runs of lines around them"],
            Self::Declarations => ["declarations", "the whole declarations"],
            Self::Files => ["files", "all in their files"],
            Self::Code => ["code", "all code of the commit"],
            Self::Revert => ["revert", "the whole commit"],
            Self::Merge => ["merge", "the whole merge"],
        }
    }
}

/// The last method that carrying a fix needed, from the plainest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PortRung {
    /// A three-way merge.
    Merge,
    /// A merge line by line.
    Lines,
    /// A merge by syntax.
    Syntax,
    /// A merge by syntax, with the present names.
    Renamed,
    /// A new reduction found it.
    Reduced,
}

/// The result of `--suite` for a fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Suite {
    /// The same as without the fix.
    Same,
    /// There are new failures.
    Worse,
    /// Nothing else was checked.
    NotRun,
}

/// A change that made a revision testable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedRepair {
    /// The revision that it was made for.
    pub commit: CommitId,
    /// The neighbour from which its lines come.
    pub source: CommitId,
    /// The direction of that neighbour.
    pub direction: RepairDirection,
    /// Added and removed lines of the patch.
    pub lines: u64,
    /// Applies at `commit`.
    pub patch: Untrusted,
    /// The result of the check.
    pub control: RepairControl,
}

/// The direction of the source of a repair, from the repaired revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepairDirection {
    /// Towards HEAD.
    Newer,
    /// Towards the root.
    Older,
}

/// The fixes from the smallest to the largest; equals keep their order.
pub fn by_size(mut fixes: Vec<ReportedFix>) -> Vec<ReportedFix> {
    fixes.sort_by_key(|fix| fix.lines);
    fixes
}

impl ReportedFix {
    /// Whether it takes back whole commits. A revert is no fix: it takes back what they were for.
    pub fn is_revert(&self) -> bool {
        self.scope >= ReportedScope::Code
    }

    /// Whether it is a revert without what newer commits rewrote.
    pub fn is_partial(&self) -> bool {
        self.reverts.is_some() && self.rung != PortRung::Merge && self.lines > 0
    }

    /// What the test showed with it, in words.
    pub fn result(&self) -> String {
        let others = if self.still_fails { ", but other tests make the command fail" } else { "" };
        format!("{}{others}", self.tested)
    }

    /// What it reverses, in words.
    pub fn part(&self) -> &'static str {
        if self.is_partial() { "the commit, but for what newer commits rewrote" } else { self.scope.words() }
    }
}

/// Whether a repair preserves a known verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepairControl {
    /// It does.
    Held,
    /// It reverses it: the culprit is inside the repair.
    Flipped,
    /// There was no known verdict to check it with.
    Provisional,
}

/// A claim, and the run that supports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimEvidence {
    /// In words: `good passes`, `good + sufficient fails`.
    pub claim: Untrusted,
    /// The commit of the tree, or the commit from which the tree is derived.
    pub commit: Option<CommitId>,
    /// The tree that was tested.
    pub tree: Option<TreeId>,
    /// The expected outcome.
    pub expected: Outcome,
    /// The outcome of the run.
    pub outcome: Outcome,
    /// Whether the run was in a freshly written checkout.
    #[serde(rename = "clean")]
    pub is_clean: bool,
    /// The strength of the evidence.
    pub verified: Verified,
    /// The service that made the run; `None` for this machine.
    pub place: Option<Untrusted>,
}

impl ClaimEvidence {
    /// Whether the outcome is the expected one.
    pub fn holds(&self) -> bool {
        self.expected == self.outcome
    }
}

/// The strength of the evidence for a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verified {
    /// A run that was made to prove the claim.
    Verified,
    /// A run of the search, or only a sample.
    Observed,
}

impl Verified {
    /// The stable word for it, as used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Observed => "observed",
        }
    }
}

/// A held path: its present version is used in every revision.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldPath {
    /// The path.
    pub path: Untrusted,
    /// Whether it changed between good and bad; null if unknown.
    pub changed: Option<bool>,
    /// Whether the last good revision has it; null if there is none.
    pub in_good: Option<bool>,
    /// Whether the first bad revision has it; null if there is none.
    pub in_bad: Option<bool>,
    /// Whether it is beside the tested trees, not in them: git ignores it, or it is large.
    pub beside: bool,
}

impl HeldPath {
    /// The difference from the versions in good and bad, to follow the path.
    pub fn words(&self) -> &'static str {
        match (self.changed, self.in_good, self.in_bad) {
            (_, Some(false), Some(false)) => " (neither the last good nor the first bad commit has it)",
            (_, Some(false), _) => " (the last good commit does not have it)",
            (_, _, Some(false)) => " (the first bad commit does not have it)",
            (Some(true), ..) => " (the last good and the first bad commit have different ones)",
            (Some(false), ..) => " (the same in the last good and the first bad commit)",
            (None, ..) => "",
        }
    }
}

/// Programs that were fetched in place of a build, in all sessions of the hunt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FetchedArtifacts {
    /// Tests of an artifact that the command had just fetched.
    pub fetched: u64,
    /// Tests of an artifact that was kept from before.
    pub cached: u64,
    /// Revisions without an artifact that could be used.
    pub absent: u64,
    /// Runs of the search, and of the reproduction, for which the revision was built.
    pub built: u64,
    /// The revisions whose verdict is that of their artifact, in the order they were reached.
    pub revisions: Vec<CommitId>,
}

/// Counts of probes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Probes {
    /// All runs of the test, in all sessions of the hunt: the sum of the six purposes below.
    pub run: u64,
    /// Answers from the cache.
    pub cached: u64,
    /// Candidates that were rejected without a run.
    pub refused: u64,
    /// Runs of the precheck.
    pub prechecked: u64,
    /// Candidates that the precheck rejected, so nothing else ran; they are in no other count.
    pub precheck_refused: u64,
    /// Builds with the same bytes as an earlier, tested one; the test was not run again.
    pub same_product: u64,
    /// Runs to find good and bad.
    pub search: u64,
    /// Runs to make revisions testable.
    pub repair: u64,
    /// Runs to reduce the culprit.
    pub reduce: u64,
    /// Runs to port the fix.
    pub port: u64,
    /// Runs to verify the claims.
    pub verify: u64,
    /// Runs to reproduce the failure.
    pub reproduce: u64,
    /// Runs of the checks for new warnings; in no other count.
    pub checks: u64,
    /// Runs of the suite; in no other count.
    pub suite: u64,
    /// Used answers, including cached ones: for each purpose, the number of each outcome.
    pub outcomes: BTreeMap<String, BTreeMap<String, u64>>,
}
