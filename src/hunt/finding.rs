//! The finding: everything a hunt has learned, as data. How it looks is the business of `report`.

use crate::change::trees::Rung;
use crate::hunt::noise::Noise;
use crate::outcome::Outcome;
use crate::revision::{CommitId, TreeId};

/// How a hunt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Conclusion {
    /// One first bad revision, reduced, with a fix tested at the newest revision.
    Found,
    /// The culprit lies among several revisions that could not be told apart.
    Range,
    /// The bad revision passes.
    BadPasses,
    /// A revision given as good fails.
    GoodFails,
    /// Not even the bad revision gives a verdict.
    NothingTestable,
    /// The runs at the bad revision disagree.
    NotReproducible,
    /// No revision passes, down to the end of the history.
    NeverPassed,
    /// Found, but the fix could not be carried to the newest revision.
    Unported,
    /// The first bad commit is proved, and the hunt goes on: what is kept meanwhile.
    Culprit,
    /// The budget ended the hunt.
    Budget,
    /// The user ended the hunt.
    Interrupted,
}

/// A difference of two trees that was found to matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
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

/// A part of a change that was reduced as one (a line, or what `--level` says), and the commit it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labelled {
    /// The commit that made this part of the change.
    pub commit: CommitId,
    /// Path of the file, newer side where there is one; raw bytes.
    pub path: Vec<u8>,
    /// Added plus removed lines.
    pub n_lines: usize,
    /// Its edits, from good to bad.
    pub edits: Vec<Edit>,
    /// The tree without this one part: what is probed to show that it is needed.
    pub without: Option<TreeId>,
    /// What that tree was seen to show; `None` if that is not known.
    pub shown_without: Option<Outcome>,
}

impl Labelled {
    /// Its file and the begin of its first edit, as one line: `a.c: + int b;`.
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
pub struct Edit {
    /// Path of the file, newer side where there is one.
    pub path: Vec<u8>,
    /// Whether the text is inserted; otherwise it is deleted.
    pub is_insertion: bool,
    /// The text with its line end; empty for what is not a line.
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
    /// What the control said.
    pub control: Control,
}

/// Whether a repair was shown not to decide the verdict by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Control {
    /// On the nearest known pass the repair still passes.
    Held,
    /// It does not: the culprit lies inside the repair.
    Flipped,
    /// No pass was known that it could be put on.
    Provisional,
}

/// How much of the culprit a fix takes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The necessary change alone.
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

/// A reversal of the culprit, carried as far as it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// How much of the culprit it takes back.
    pub scope: Scope,
    /// The commit that it reverts, where there are several culprits and it is one of them.
    pub commit: Option<CommitId>,
    /// The tree that the reversal makes of the tree it was found at.
    pub reverted: TreeId,
    /// The newest revision it was carried to.
    pub revision: CommitId,
    /// The tree of that revision, as committed.
    pub older: TreeId,
    /// The tree with the fix.
    pub newer: TreeId,
    /// The tree that was tested: with the fix, held paths and the overlay.
    pub probed: TreeId,
    /// What the test says with it.
    pub tested: Outcome,
    /// Whether that revision is the newest one.
    pub is_complete: bool,
    /// Added plus removed lines.
    pub n_lines: usize,
    /// The last rung that was needed on the way to that revision.
    pub rung: Rung,
    /// Whether compiler or interpreter complain of something anew.
    pub has_complaints: bool,
    /// Whether the suite passes as before; `None` if it was not asked.
    pub suite: Option<Outcome>,
}

impl Fix {
    /// Whether the test passes with it, nobody complains, and no other test fails anew.
    pub fn is_whole(&self) -> bool {
        self.tested == Outcome::Pass && !self.has_complaints && self.suite.is_none_or(|suite| suite == Outcome::Pass)
    }
}

/// One clean run behind the finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// What it shows, in words.
    pub claim: String,
    /// The revision it was made at.
    pub revision: CommitId,
    /// The tree that was tested.
    pub tree: TreeId,
    /// What the claim needs.
    pub expected: Expected,
    /// What was seen.
    pub seen: Outcome,
}

/// What a claim needs to see.
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
    /// Whether `seen` is what the claim needs.
    pub fn accepts(self, seen: Outcome) -> bool {
        match self {
            Self::Pass => seen == Outcome::Pass,
            Self::Fail => seen == Outcome::Fail,
            Self::NotFail => seen != Outcome::Fail,
            Self::NotPass => seen != Outcome::Pass,
        }
    }
}

impl Evidence {
    /// Whether the run shows what it is meant to show.
    pub fn holds(&self) -> bool {
        self.expected.accepts(self.seen)
    }
}

/// Everything learned so far; complete only when the hunt has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// How the hunt ended.
    pub conclusion: Conclusion,
    /// The revision where the test fails.
    pub bad: CommitId,
    /// The newest revision found to pass.
    pub last_good: Option<CommitId>,
    /// The first revision found to fail after it.
    pub first_bad: Option<CommitId>,
    /// Every commit that contributes to the failure, newest first.
    pub culprits: Vec<CommitId>,
    /// Whether the failure needs all culprits together; otherwise each is one by itself.
    pub is_interaction: bool,
    /// The candidates when the culprit is not told apart, newest first; otherwise empty.
    pub range: Vec<CommitId>,
    /// Added to the last good tree, it makes the test fail.
    pub sufficient: Option<Change>,
    /// Taken out of the first bad tree, the test passes.
    pub necessary: Option<Change>,
    /// What the two have in common.
    pub common: Option<Change>,
    /// The recommended fix; or, if it is not complete, the one that got farthest.
    pub fix: Option<Fix>,
    /// All reversals that were tried, from the smallest to the largest.
    pub fixes: Vec<Fix>,
    /// Without a suite: the tests that the culprit changed, where its changes still stand, by their paths. They speak against a fix.
    pub own_tests: Vec<Vec<u8>>,
    /// The repairs that verdicts rest on, in the order found.
    pub repairs: Vec<Repair>,
    /// The clean runs.
    pub evidence: Vec<Evidence>,
    /// Number of kept units that were too many to be re-run one by one.
    pub n_unverified_units: usize,
    /// The oldest revision that was tested.
    pub oldest_tested: Option<CommitId>,
    /// If nothing passes, the oldest revision seen to fail as it is; older ones were tested with repairs, if at all.
    pub oldest_failing: Option<CommitId>,
    /// Borders of testability: a revision that cannot be tested as it is, and the child of it that can, in the order found.
    pub borders: Vec<(CommitId, CommitId)>,
    /// The probability of the culprit, where runs of one tree disagreed.
    pub confidence: Option<f64>,
    /// How noisy the test was found to be.
    pub noise: Option<Noise>,
    /// Verdicts in the order they were reached: revision, outcome, whether a repair was needed.
    pub verdicts: Vec<(CommitId, Outcome, bool)>,
    /// True sentences without text from the repository.
    pub notes: Vec<String>,
}

impl Finding {
    /// Whether something was found: a first bad revision, a change, or the commits that it can be.
    pub fn is_finding(&self) -> bool {
        let found = [Conclusion::Found, Conclusion::Culprit, Conclusion::Unported, Conclusion::Range];
        found.contains(&self.conclusion) || self.first_bad.is_some()
    }

    /// A finding that says nothing yet but which revision is bad.
    pub fn new(bad: CommitId) -> Self {
        Self {
            conclusion: Conclusion::Interrupted,
            bad,
            last_good: None,
            first_bad: None,
            culprits: Vec::new(),
            is_interaction: false,
            range: Vec::new(),
            sufficient: None,
            necessary: None,
            common: None,
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
            notes: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(edits: &[(bool, &str)], expected: &str) {
        let path = b"a.c".to_vec();
        let edit = |(is_insertion, text): &(bool, &str)| Edit {
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
