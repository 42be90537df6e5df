//! What was found, as plain data, and its forms for people and programs.
//!
//! [`Report`] is the versioned form that leaves the program: it is printed as JSON ([`json`]), as text ([`text`]), stored
//! for `git idd show`, and read back. Nothing here searches or runs anything. Text that came from a repository, from a
//! test or from the user's words is [`Untrusted`]: only an escaper of [`escape`] turns it into output.

pub mod certificate;

pub mod escape;

mod base64;

pub mod chain;

pub mod commit;

pub mod github;

pub mod gitlab;

pub mod json;

pub mod html;

pub mod junit;

pub mod lineage;

pub mod markdown;

pub mod places;

pub mod sarif;

pub mod status;

pub mod story;

pub mod style;

pub mod summary;

pub mod text;

#[cfg(test)]
mod samples;

mod wire;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;

use crate::outcome;
use crate::outcome::Outcome;
use crate::revision::CommitId;
use crate::revision::TreeId;

pub use crate::report::commit::Commit;
pub use crate::report::commit::Date;
pub use crate::report::escape::Untrusted;
pub use crate::report::status::Status;

/// The name of this form; a field may be added under the same name, none is removed and none changes its meaning.
pub const SCHEMA: &str = "git-idd/1";

/// Everything that a run of the program has to say.
///
/// Every field is always present in JSON, `null` where it is not known. `schema` and `exit` are added there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// How it ended.
    #[serde(flatten)]
    pub status: Status,
    /// What went wrong, if something did.
    pub error: Option<ErrorReport>,
    /// One true sentence for people, with its full stop (or an id at its end).
    pub sentence: Untrusted,
    /// What the hunted failure looks like.
    pub signature: Option<Signature>,
    /// The revision where the test fails.
    pub bad: Option<Commit>,
    /// The newest revision found where it passes.
    pub last_good: Option<Commit>,
    /// The first one where it fails; the newest one involved, if several are.
    pub first_bad: Option<FirstBad>,
    /// All commits involved, newest first.
    pub culprits: Vec<Commit>,
    /// Whether the failure needs all of them together; otherwise each is a culprit by itself.
    pub interaction: bool,
    /// The probability that the first bad commit is the right one, between 0 and 1, where runs of one tree disagreed.
    #[serde(default)]
    pub confidence: Option<f64>,
    /// How noisy the test was found to be there.
    #[serde(default)]
    pub noise: Option<Noise>,
    /// The candidates that are left, where no single commit can be named.
    pub range: Option<Range>,
    /// The reduced changes.
    pub change: Changes,
    /// The recommended fix; or, if it is not complete, the one that got farthest.
    pub fix: Option<Fix>,
    /// All reversals that were tried, from the smallest to the largest.
    #[serde(default)]
    pub fixes: Vec<Fix>,
    /// What had to be changed to test revisions at all.
    pub repairs: Vec<Repair>,
    /// The claims behind the finding.
    pub evidence: Vec<Evidence>,
    /// The paths kept as they are now.
    pub held: Vec<Held>,
    /// Other sentences worth reading, such as a fallback that was taken.
    pub notes: Vec<Untrusted>,
    /// How often the test ran.
    pub probes: Probes,
    /// Wall time in seconds, all sessions of the hunt together.
    pub seconds: f64,
    /// The id of the hunt.
    pub hunt: Option<String>,
    /// The directory with the outputs that were kept.
    pub log: Option<Untrusted>,
}

impl Report {
    /// A report that knows only how it ended.
    pub fn new(status: Status, sentence: impl Into<Untrusted>) -> Self {
        Self {
            status,
            error: None,
            sentence: sentence.into(),
            signature: None,
            bad: None,
            last_good: None,
            first_bad: None,
            culprits: Vec::new(),
            interaction: false,
            confidence: None,
            noise: None,
            range: None,
            change: Changes::default(),
            fix: None,
            fixes: Vec::new(),
            repairs: Vec::new(),
            evidence: Vec::new(),
            held: Vec::new(),
            notes: Vec::new(),
            probes: Probes::default(),
            seconds: 0.0,
            hunt: None,
            log: None,
        }
    }
}

/// How often a noisy test shows the wrong outcome: shares of its runs, between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Of the runs of revisions without the cause of the failure, the share that fails.
    pub false_fails: f64,
    /// Of the runs of revisions with the cause, the share that passes.
    pub false_passes: f64,
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorReport {
    /// The chain of causes, in one line.
    pub message: Untrusted,
    /// What to do about it.
    pub hint: Option<Untrusted>,
}

/// What the hunted failure looks like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// How the test ended, in words: `exit code 1`, `signal 11`, `timeout`.
    pub ending: String,
    /// The failure line, as the test printed it at the bad revision; what differs between runs (numbers, paths, times) is compared by its kind only.
    pub line: Option<Untrusted>,
    /// What a candidate had to have in common with it: `output` (this line as printed, and no line that neither end of the change
    /// prints), `line`, `normalised` (the line without numbers), `ending`; `None` if nothing was reduced.
    #[serde(default)]
    pub compared: Option<String>,
}

impl From<&outcome::Signature> for Signature {
    fn from(signature: &outcome::Signature) -> Self {
        let line = signature.printed.as_deref().map(Untrusted::from);
        Self { ending: signature.ending.to_string(), line, compared: None }
    }
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

/// Candidates, where no single commit can be named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// They hold the first bad commit; newest first.
    pub candidates: Vec<Commit>,
}

/// The reduced changes between good and bad.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Changes {
    /// Added to the good revision, it fails.
    pub sufficient: Option<Change>,
    /// Taken out of the bad revision, it passes.
    pub necessary: Option<Change>,
    /// What both have in common: the change to look at first.
    #[serde(default)]
    pub common: Option<Change>,
}

/// A reduced change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// In the direction from good to bad.
    pub patch: Untrusted,
    /// Added and removed lines of the patch.
    pub lines: u64,
    /// Paths, in the order of the patch.
    pub files: Vec<Untrusted>,
    /// Where its parts come from.
    pub units: Vec<Unit>,
    /// Whether every single unit was seen to be needed.
    pub is_minimal: bool,
}

/// A part of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// The commit that it comes from, if that is known.
    pub commit: Option<CommitId>,
    /// Its path.
    pub file: Untrusted,
    /// Its added and removed lines.
    pub lines: u64,
    /// Its edits as lines of a patch, without headers and context; empty if it changes no text.
    #[serde(default)]
    pub text: Untrusted,
    /// What the test shows without it: for the sufficient change, if only this unit is left out; for the necessary one,
    /// if only this unit is not taken back. `None` if that was not seen.
    #[serde(default, with = "wire::known_outcome")]
    pub without: Option<Outcome>,
}

/// A fix, ported towards HEAD and tested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// The newest revision that it reached.
    pub commit: CommitId,
    /// Whether that is HEAD.
    pub complete: bool,
    /// Applies at `commit`.
    pub patch: Untrusted,
    /// Added and removed lines of the patch.
    pub lines: u64,
    /// The outcome of the test at `commit` with the patch.
    #[serde(with = "wire::outcome")]
    pub tested: Outcome,
    /// Added and removed lines of the culprit, for comparison.
    pub culprit_lines: u64,
    /// What the other tests say.
    pub suite: Suite,
    /// How it was carried to `commit`.
    pub rung: Rung,
    /// How much of the culprit it takes back.
    #[serde(default)]
    pub scope: Scope,
    /// The commit that it reverts, where it is one of several culprits.
    #[serde(default)]
    pub reverts: Option<CommitId>,
    /// What compiler or interpreter complain of with it, and not without it.
    #[serde(default)]
    pub complaints: Vec<Untrusted>,
}

/// How much of the culprit a fix takes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The necessary change alone.
    #[default]
    Lines,
    /// The runs of changed lines that it is in.
    Statements,
    /// All that the culprit changed in the declarations that it is in.
    Declarations,
    /// All that the culprit changed in its files.
    Files,
    /// A whole commit.
    Revert,
}

impl Scope {
    /// The stable word for it, as in JSON and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Statements => "statements",
            Self::Declarations => "declarations",
            Self::Files => "files",
            Self::Revert => "revert",
        }
    }

    /// What it takes back, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Lines => "the lines that the test needs",
            Self::Statements => "the runs of lines around them",
            Self::Declarations => "the whole declarations",
            Self::Files => "all in their files",
            Self::Revert => "the whole commit",
        }
    }
}

/// The last means that carrying a fix needed, from the plainest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// A three-way merge.
    Merge,
    /// A merge line by line.
    Lines,
    /// A merge by syntax.
    Syntax,
    /// A merge by syntax, with the names that things have now.
    Renamed,
    /// It was found anew by reduction.
    Reduced,
}

/// What the tests of `--suite` say about a fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Suite {
    /// The same as without the fix.
    Same,
    /// Something fails that did not before.
    Worse,
    /// Nothing else was checked.
    NotRun,
}

/// A change that made a revision testable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repair {
    /// The revision that it was made for.
    pub commit: CommitId,
    /// The neighbour that its lines come from.
    pub source: CommitId,
    /// Where that neighbour lies.
    pub direction: Direction,
    /// Added and removed lines of the patch.
    pub lines: u64,
    /// Applies at `commit`.
    pub patch: Untrusted,
    /// What the control run said.
    pub control: Control,
}

/// Where the source of a repair lies, seen from the repaired revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Towards HEAD.
    Newer,
    /// Towards the root.
    Older,
}

/// The fixes from the smallest to the largest; equals keep their order.
pub fn by_size(mut fixes: Vec<Fix>) -> Vec<Fix> {
    fixes.sort_by_key(|fix| fix.lines);
    fixes
}

/// Whether a repair leaves a known verdict as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// It does.
    Held,
    /// It turns it round: the culprit lies inside the repair.
    Flipped,
    /// No verdict was known to control it with.
    Provisional,
}

/// A claim, and the run that it rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// In words: `good passes`, `good + sufficient fails`.
    pub claim: Untrusted,
    /// The commit that the tree belongs to or is derived from.
    pub commit: Option<CommitId>,
    /// The tree that was tested.
    pub tree: Option<TreeId>,
    /// What the claim expects.
    #[serde(with = "wire::outcome")]
    pub expected: Outcome,
    /// What was seen.
    #[serde(with = "wire::outcome")]
    pub outcome: Outcome,
    /// Whether it was seen in a freshly written checkout.
    #[serde(rename = "clean")]
    pub is_clean: bool,
    /// How far the claim goes.
    pub verified: Verified,
}

/// How far a claim goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verified {
    /// Run again for this purpose.
    Verified,
    /// Seen on the way, or on a sample.
    Observed,
}

/// A path that was kept as it is now in every revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// The path.
    pub path: Untrusted,
    /// Whether it changed between good and bad; null if that is not known.
    pub changed: Option<bool>,
    /// Whether the last good revision has it; null if there is none.
    #[serde(default)]
    pub in_good: Option<bool>,
    /// Whether the first bad revision has it; null if there is none.
    #[serde(default)]
    pub in_bad: Option<bool>,
}

impl Held {
    /// What good and bad have in its place, to stand behind its path.
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

/// Counts of probes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Probes {
    /// Runs of the test, whatever for, all sessions of the hunt together: the sum of the six purposes below.
    pub run: u64,
    /// Answers that were known already.
    pub cached: u64,
    /// Candidates that were turned down without a run.
    pub refused: u64,
    /// Runs of the check before the build.
    pub prechecked: u64,
    /// Candidates that this check turned down, so that nothing else was run; they are in no other count.
    pub precheck_refused: u64,
    /// Builds that made, byte for byte, what an earlier probe had tested; the test was not run again.
    #[serde(default)]
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
    /// Runs of the checks of compiler and interpreter; in no other count.
    #[serde(default)]
    pub checks: u64,
    /// Runs of the suite; in no other count.
    #[serde(default)]
    pub suite: u64,
    /// Answers that were used, cached ones included: for each purpose, how many there were of each outcome.
    #[serde(default)]
    pub outcomes: BTreeMap<String, BTreeMap<String, u64>>,
}
