//! What a hunt looks for in history, and the words for its answers.
//!
//! Every question has the same form: the newer revisions behave in one way, older ones in another, and the hunt looks for the
//! commit between them. So [`Outcome::Fail`] is the newer behaviour and [`Outcome::Pass`] the older one, in the engines, in the
//! journal and in JSON. Only the words that people read depend on the question.

use crate::Outcome;
use serde::{Deserialize, Serialize};

/// What a hunt looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sought {
    /// The commit since which the test fails.
    #[default]
    Failure,
    /// The commit since which it passes again.
    Fix,
    /// The commit since which a command prints what it prints now.
    Change,
    /// The commit since which a command needs more time or memory.
    Slower,
}

/// The words for the answers to one question.
#[derive(Debug)]
pub struct AnswerWords {
    /// The two outcomes: of older revisions, and of newer ones.
    pub outcomes: [&'static str; 2],
    /// The commit that is looked for, after "the".
    pub first: &'static str,
    /// The labels of the newest revision with the older behaviour, of the one where the hunt began, and of the commit.
    pub labels: [&'static str; 3],
    /// The label of the behaviour that is looked for.
    pub behaviour: &'static str,
    /// The titles of the reduced changes: of both in one view, of the sufficient and of the necessary change.
    pub changes: [&'static str; 3],
    /// What such a change does if it is added, and if it is taken back.
    pub by_change: [&'static str; 2],
    /// How a commit takes part that is not enough alone, and what needs several commits.
    pub together: [&'static str; 2],
    /// What the test does since the commit, behind the name of the test.
    pub since: &'static str,
    /// What the first runs are for.
    pub reproducing: &'static str,
    /// What a revision with the older behaviour does, and one with the newer one.
    pub shows: [&'static str; 2],
    /// Why there is no such commit, if the newer end has the older behaviour, or the older end the newer one.
    pub absent: [&'static str; 2],
    /// What to do in these two cases, and if all of history has the newer behaviour.
    pub advice: [&'static str; 3],
    /// The claims about the two revisions and the two changes, in the order in which they are proved.
    pub claims: [&'static str; 4],
    /// The ends of the claims about one unit of the sufficient change, and of the necessary one.
    pub of_unit: [&'static str; 2],
}

const FAILURE: AnswerWords = AnswerWords {
    outcomes: ["pass", "fail"],
    first: "first bad commit",
    labels: ["last good:", "bad:", "first bad:"],
    behaviour: "failure:",
    changes: [
        "The change that breaks the test",
        "A minimal change that makes the test fail",
        "A minimal change whose reversal makes it pass",
    ],
    by_change: ["breaks the test", "mends it"],
    together: ["It breaks the test only together with", "The failure"],
    since: "fails since",
    reproducing: "Reproducing the failure",
    shows: ["passes", "fails"],
    absent: [
        "The test passes at the bad revision: there is nothing to hunt.",
        "A revision given as good shows the failure itself.",
    ],
    advice: [
        "name a revision where the test fails with `--bad <rev>`; a file that is not committed is not in the checkout",
        "give an older revision with `--good <rev>`, or leave it out and let one be searched",
        "give a revision that passes with `--good <rev>`; if the test needs something that is built, name the build with `--build <cmd>`",
    ],
    claims: [
        "the last good revision passes",
        "with the sufficient change it fails",
        "the first bad revision fails",
        "without the necessary change it passes",
    ],
    of_unit: ["does not fail", "does not pass"],
};

const FIX: AnswerWords = AnswerWords {
    outcomes: ["fail", "pass"],
    first: "first fixed commit",
    labels: ["last bad:", "good:", "first good:"],
    behaviour: "now:",
    changes: [
        "The change that fixes the test",
        "A minimal change that makes the test pass",
        "A minimal change whose reversal makes it fail again",
    ],
    by_change: ["makes the test pass", "makes it fail again"],
    together: ["It fixes the test only together with", "The fix"],
    since: "passes since",
    reproducing: "Running the test at the newer revision",
    shows: ["fails", "passes"],
    absent: [
        "The test fails at the newer revision: it is not fixed there.",
        "The test passes at the revision that was given as bad.",
    ],
    advice: [
        "name a revision where the test passes with `--good <rev>`; without `--find fix`, the commit that broke it is searched",
        "give a revision where the test fails with `--bad <rev>`, or leave it out and let one be searched",
        "give a revision that fails with `--bad <rev>`; perhaps the test never failed in this history",
    ],
    claims: [
        "the last bad revision fails",
        "with the sufficient change it passes",
        "the first fixed revision passes",
        "without the necessary change it fails",
    ],
    of_unit: ["does not pass", "does not fail"],
};

const CHANGE: AnswerWords = AnswerWords {
    outcomes: ["old", "new"],
    first: "first commit with the new value",
    labels: ["last old:", "new:", "first new:"],
    behaviour: "value:",
    changes: [
        "The change that changes the value",
        "A minimal change that gives the new value",
        "A minimal change whose reversal gives another value",
    ],
    by_change: ["gives the new value", "gives another value"],
    together: ["It gives the new value only together with", "The new value"],
    since: "has its value since",
    reproducing: "Reading the value at the newer revision",
    shows: ["has another value", "has the new value"],
    absent: [
        "The command prints no value at the newer revision.",
        "The older revision has the same value as the newer one.",
    ],
    advice: [
        "name a revision where the command ends with exit code 0 with `--bad <rev>`",
        "give an older revision with `--good <rev>`, or leave it out and let one be searched",
        "give a revision with another value with `--good <rev>`; perhaps the value never changed in this history",
    ],
    claims: [
        "the last old revision has another value",
        "with the sufficient change it has the new value",
        "the first new revision has the new value",
        "without the necessary change it has another value",
    ],
    of_unit: ["does not have the new value", "does not have another value"],
};

const SLOWER: AnswerWords = AnswerWords {
    outcomes: ["fast", "slow"],
    first: "first slower commit",
    labels: ["last fast:", "slow:", "first slower:"],
    behaviour: "loss:",
    // Nothing is reduced.
    changes: [
        "The change that makes the command slower",
        "A minimal change that makes the command slower",
        "A minimal change whose reversal makes it faster",
    ],
    by_change: ["makes the command slower", "makes it faster"],
    together: ["It makes the command slower only together with", "The loss"],
    since: "needs more since",
    reproducing: "Measuring both ends",
    shows: ["is faster", "is slow"],
    absent: [
        "There is no loss: the bad revision does not clearly need more than the good one.",
        "The revision that was given as good is as slow as the bad one.",
    ],
    advice: [
        "a smaller loss is found with a smaller `--threshold`; `--good <rev>` and `--bad <rev>` name other revisions",
        "give an older revision with `--good <rev>`, or leave it out and let one be searched",
        "a smaller loss is found with a smaller `--threshold`; perhaps the command was never faster in this history",
    ],
    claims: [
        "the last fast revision is faster",
        "with the sufficient change it is slow",
        "the first slower revision needs more",
        "without the necessary change it is faster",
    ],
    of_unit: ["is not slow", "is not faster"],
};

impl Sought {
    /// Its words.
    pub fn words(self) -> &'static AnswerWords {
        match self {
            Self::Failure => &FAILURE,
            Self::Fix => &FIX,
            Self::Change => &CHANGE,
            Self::Slower => &SLOWER,
        }
    }

    /// Whether it is the usual question.
    pub fn is_failure(&self) -> bool {
        *self == Self::Failure
    }

    /// The revision with the newer behaviour: `the bad revision`, or `the newer revision`.
    pub fn newer_revision(self) -> &'static str {
        match self {
            Self::Fix | Self::Change => "the newer revision",
            Self::Failure | Self::Slower => "the bad revision",
        }
    }

    /// The labels of the two ends of a range: of the older one, and of the newer one.
    pub fn end_labels(self) -> [&'static str; 2] {
        match self {
            Self::Failure => ["passes:", "fails:"],
            Self::Fix => ["fails:", "passes:"],
            Self::Change => ["old:", "new:"],
            Self::Slower => ["fast:", "slow:"],
        }
    }

    /// An outcome, in the words of the question.
    pub fn outcome(self, outcome: Outcome) -> String {
        let [older, newer] = self.words().outcomes;
        match outcome {
            Outcome::Pass => older.to_owned(),
            Outcome::Fail => newer.to_owned(),
            Outcome::Unresolved(_) => outcome.to_string(),
        }
    }

    /// The word of an outcome of the journal, in the words of the question.
    pub fn word(self, outcome: &str) -> &str {
        let [older, newer] = self.words().outcomes;
        match outcome {
            "pass" => older,
            "fail" => newer,
            other => other,
        }
    }
}
