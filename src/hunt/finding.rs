//! The finding: all results of a hunt as data. `report` prints it.

use crate::{History, Noise};
use idd_base::{CommitId, Outcome, TreeId};
use idd_change::trees::Rung;
use std::collections::HashSet;

/// How a hunt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Conclusion {
    /// One first bad revision was found and reduced, and a fix was tested at the newest revision.
    Found,
    /// The culprit is one of several revisions that could not be told apart.
    Range,
    /// The bad revision passes.
    BadPasses,
    /// A revision given as good fails.
    GoodFails,
    /// The bad revision gives no verdict.
    NothingTestable,
    /// The runs at the bad revision disagree.
    NotReproducible,
    /// No revision passes, down to the end of the history.
    NeverPassed,
    /// Found, but no fix for the newest revision is recommended.
    Unfixed,
    /// The first bad commit is known, and the hunt goes on or was to go no further; see [`Finding::is_proved`].
    Culprit,
    /// The budget ended the hunt.
    Budget,
    /// The user ended the hunt.
    Interrupted,
    /// A person has to judge a revision.
    Waiting,
}

/// A difference of two trees that changes the outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundChange {
    /// The tree without the change.
    pub older: TreeId,
    /// The tree with it.
    pub newer: TreeId,
    /// Added plus removed lines.
    pub n_lines: usize,
    /// Its parts, in source order.
    pub units: Vec<Labelled>,
    /// Whether the reduction ran to its end, so that no unit can be left out.
    pub is_minimal: bool,
}

/// A part of a change that was reduced as one unit (a line, or what `--level` says), and the commit that made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labelled {
    /// The commit that made this part of the change.
    pub commit: CommitId,
    /// Path of the file, of the newer side if there is one; raw bytes.
    pub path: Vec<u8>,
    /// Added plus removed lines.
    pub n_lines: usize,
    /// Its edits, from good to bad.
    pub edits: Vec<ChangeEdit>,
    /// The tree without this part: the probe that shows whether the part is needed.
    pub without: Option<TreeId>,
    /// The outcome of that tree; `None` if unknown.
    pub shown_without: Option<Outcome>,
}

impl Labelled {
    /// Its file and the beginning of its first edit, as one line: `a.c: + int b;`.
    pub fn title(&self) -> String {
        const MAX_CHARS: usize = 40;
        let path = String::from_utf8_lossy(&self.path);
        let Some(edit) = self.edits.iter().find(|edit| !edit.text.trim_ascii().is_empty()) else {
            return path.into_owned();
        };
        let text = String::from_utf8_lossy(edit.text.trim_ascii()).into_owned();
        let text = text.lines().next().unwrap_or_default();
        let begin: String = text.chars().take(MAX_CHARS).collect();
        let more = if begin.len() < text.len() { "…" } else { "" };
        format!("{path}: {} {begin}{more}", if edit.is_insertion { '+' } else { '-' })
    }
}

/// One edit of a change.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ChangeEdit {
    /// Path of the file, of the newer side if there is one.
    pub path: Vec<u8>,
    /// Whether the text is inserted; otherwise it is deleted.
    pub is_insertion: bool,
    /// The text with its line end; empty if the edit is not a line.
    pub text: Vec<u8>,
}

/// A repair that made a revision testable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// The revision it was found at.
    pub revision: CommitId,
    /// The neighbour whose difference it was reduced from.
    pub source: CommitId,
    /// The tree of the revision without the repair.
    pub base: TreeId,
    /// The tree with it.
    pub patched: TreeId,
    /// Added plus removed lines.
    pub n_lines: usize,
    /// The result of the check.
    pub control: RepairCheck,
}

/// Whether a check has shown that a repair does not decide the verdict by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RepairCheck {
    /// With the repair, the nearest known pass still passes.
    Held,
    /// With the repair, it does not pass: the culprit is inside the repair.
    Flipped,
    /// There was no known pass to which the repair applies.
    Provisional,
}

/// The part of the culprit that a fix reverses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Only the necessary change.
    Lines,
    /// The runs of changed lines around it.
    Statements,
    /// Everything that the culprit changed in the same declarations.
    Declarations,
    /// Everything that the culprit changed in the same files.
    Files,
    /// A whole commit.
    Revert,
    /// Everything that the merge brought with which the culprit came.
    Merge,
}

/// A reversal of the culprit, carried as far as possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The part of the culprit that it reverses.
    pub scope: Scope,
    /// The commit that it reverts, perhaps without its tests and comments; `None` if it takes back only a part of one.
    pub commit: Option<CommitId>,
    /// The first commit on the way to the newest revision since which the reversal does not apply.
    pub stopped_by: Option<CommitId>,
    /// The result of the reversal in the tree in which it was found.
    pub reverted: TreeId,
    /// The newest revision it was carried to.
    pub revision: CommitId,
    /// The tree of that revision, as committed.
    pub older: TreeId,
    /// The tree with the fix.
    pub newer: TreeId,
    /// The tree that was tested: with the fix, held paths and the overlay.
    pub probed: TreeId,
    /// The outcome of the test with it.
    pub tested: Outcome,
    /// Whether that revision is the newest one.
    pub is_complete: bool,
    /// Added plus removed lines.
    pub n_lines: usize,
    /// The last method that was needed on the way to that revision.
    pub rung: Rung,
    /// Whether other tests make the command fail with it.
    pub still_fails: bool,
    /// Whether it causes new warnings of compiler or interpreter.
    pub has_complaints: bool,
    /// Whether the suite passes as before; `None` if it was not run.
    pub suite: Option<Outcome>,
}

impl Fix {
    /// Whether it takes back whole commits: a decision about them, and no fix of one fault.
    pub fn is_revert(&self) -> bool {
        self.commit.is_some() || self.scope >= Scope::Revert
    }

    /// Whether it takes back the code of a commit, and leaves tests or comments that came with it.
    pub fn is_code_of_commit(&self) -> bool {
        self.commit.is_some() && self.scope < Scope::Revert
    }

    /// Whether the test passes with it, there are no new warnings, and no other test newly fails.
    pub fn is_whole(&self) -> bool {
        self.tested == Outcome::Pass && !self.has_complaints && self.suite.is_none_or(|suite| suite == Outcome::Pass)
    }
}

/// One clean run that supports the finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanRun {
    /// What it shows, in words.
    pub claim: String,
    /// The revision of the run.
    pub revision: CommitId,
    /// The tree that was tested.
    pub tree: TreeId,
    /// The outcome that the claim needs.
    pub expected: Expected,
    /// The outcome of the run.
    pub seen: Outcome,
}

/// The outcome that a claim needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Expected {
    /// A pass.
    Pass,
    /// The failure that is hunted.
    Fail,
    /// Anything but the failure.
    NotFail,
    /// Anything but a pass.
    NotPass,
}

impl Expected {
    /// Whether the claim holds with the outcome `seen`.
    pub fn accepts(self, seen: Outcome) -> bool {
        match self {
            Self::Pass => seen == Outcome::Pass,
            Self::Fail => seen == Outcome::Fail,
            Self::NotFail => seen != Outcome::Fail,
            Self::NotPass => seen != Outcome::Pass,
        }
    }
}

impl CleanRun {
    /// Whether the run supports its claim.
    pub fn holds(&self) -> bool {
        self.expected.accepts(self.seen)
    }
}

/// All results so far; complete only when the hunt has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// How the hunt ended.
    pub conclusion: Conclusion,
    /// The revision where the test fails.
    pub bad: CommitId,
    /// The newest revision that passes, as far as known.
    pub last_good: Option<CommitId>,
    /// The first failing revision after it.
    pub first_bad: Option<CommitId>,
    /// Whether the first bad revision and the one before it were run again in fresh worktrees.
    pub is_proved: bool,
    /// Every commit that contributes to the failure, newest first.
    pub culprits: Vec<CommitId>,
    /// Whether the failure needs all culprits together; otherwise each of them causes it alone.
    pub is_interaction: bool,
    /// The candidates if the culprit could not be told apart, newest first; otherwise empty.
    pub range: Vec<CommitId>,
    /// If it is added to the last good tree, the test fails.
    pub sufficient: Option<FoundChange>,
    /// If it is taken out of the first bad tree, the test passes.
    pub necessary: Option<FoundChange>,
    /// The revision to which the sufficient change is added, and the one from which the necessary change is taken.
    pub ends: Option<[CommitId; 2]>,
    /// The recommended fix, never a revert; or, if that is not complete, the one that was carried farthest.
    pub fix: Option<Fix>,
    /// All reversals that were tried, from the smallest to the largest.
    pub fixes: Vec<Fix>,
    /// Without a suite: the paths of the tests that the culprit changed and whose changes still exist. They are a
    /// reason against a fix.
    pub own_tests: Vec<Vec<u8>>,
    /// The repairs that verdicts depend on, in the order found.
    pub repairs: Vec<Repair>,
    /// The clean runs.
    pub evidence: Vec<CleanRun>,
    /// Number of units that were not re-run one by one, because there are too many.
    pub n_unverified_units: usize,
    /// The oldest revision that was tested.
    pub oldest_tested: Option<CommitId>,
    /// If nothing passes, the oldest revision that fails without a repair. Older ones were tested only with repairs, if
    /// at all.
    pub oldest_failing: Option<CommitId>,
    /// Borders: a revision that cannot be tested without a repair, and its child that can, in the order found.
    pub borders: Vec<(CommitId, CommitId)>,
    /// The probability of the culprit, if runs of one tree disagreed and one rate for each side explains them.
    pub confidence: Option<f64>,
    /// The measured noise of the test.
    pub noise: Option<Noise>,
    /// Verdicts in the order they were reached: revision, outcome, whether a repair was needed.
    pub verdicts: Vec<(CommitId, Outcome, bool)>,
    /// Revisions whose verdict is that of their artifact, in the order they were reached.
    pub fetched: Vec<CommitId>,
    /// Notes: full sentences without text from the repository.
    pub notes: Vec<String>,
}

impl Finding {
    /// Whether there is a result: a first bad revision, a change, or a list of candidates.
    pub fn is_finding(&self) -> bool {
        let found = [Conclusion::Found, Conclusion::Culprit, Conclusion::Unfixed, Conclusion::Range];
        found.contains(&self.conclusion) || self.first_bad.is_some()
    }

    /// A finding that only has the bad revision.
    pub fn new(bad: CommitId) -> Self {
        Self {
            conclusion: Conclusion::Interrupted,
            bad,
            last_good: None,
            first_bad: None,
            is_proved: false,
            culprits: Vec::new(),
            is_interaction: false,
            range: Vec::new(),
            sufficient: None,
            necessary: None,
            ends: None,
            fix: None,
            fixes: Vec::new(),
            own_tests: Vec::new(),
            repairs: Vec::new(),
            evidence: Vec::new(),
            n_unverified_units: 0,
            oldest_tested: None,
            oldest_failing: None,
            borders: Vec::new(),
            confidence: None,
            noise: None,
            verdicts: Vec::new(),
            fetched: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// How much of the first-parent line of a hunt was tested.
#[derive(Debug, Clone, Copy)]
pub struct Coverage {
    /// The tested revisions, with a verdict or without.
    pub n_tested: usize,
    /// The revisions of the line, the bad one included.
    pub n_all: usize,
}

impl Coverage {
    /// What a finding covers of the line from its bad revision.
    pub fn of(finding: &Finding, history: &History) -> Self {
        let tested: HashSet<CommitId> = finding.verdicts.iter().map(|(revision, ..)| *revision).collect();
        let line = history.first_parents(finding.bad);
        let is_tested = |revision: &&CommitId| **revision == finding.bad || tested.contains(*revision);
        Self { n_tested: line.iter().filter(is_tested).count(), n_all: line.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(edits: &[(bool, &str)], expected: &str) {
        let path = b"a.c".to_vec();
        let edit = |(is_insertion, text): &(bool, &str)| ChangeEdit {
            path: path.clone(),
            is_insertion: *is_insertion,
            text: text.as_bytes().to_vec(),
        };
        let commit = CommitId::sha1([0; 20]);
        let unit = Labelled {
            commit,
            path: path.clone(),
            n_lines: 1,
            edits: edits.iter().map(edit).collect(),
            without: None,
            shown_without: None,
        };
        assert_eq!(unit.title(), expected);
    }

    #[test]
    fn a_unit_is_called_by_its_file_and_its_first_edit() {
        check(&[(true, "  int b;\n"), (false, "int c;\n")], "a.c: + int b;");
        check(&[(false, "\n"), (false, "x\n")], "a.c: - x");
        check(&[(false, &"x".repeat(50))], &format!("a.c: - {}…", "x".repeat(40)));
        check(&[(true, "")], "a.c");
    }
}
