//! What the journal of a hunt tells besides its observations: which answers the search took in and for what, and what came of
//! each reduction. It is there for reports; nothing is resumed from it.

use serde::Deserialize;
use serde::Serialize;

use crate::hunt::event::Event;
use crate::revision::CommitId;
use crate::revision::TreeId;
use crate::world::journal::Record;

/// How a note of this kind begins.
const TOLD: &str = "told ";

/// One thing worth telling later. These types are the stored form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// An answer was used.
    Answer {
        /// What the probe was for.
        phase: String,
        /// The revision that it belongs to.
        revision: CommitId,
        /// What was probed.
        tree: TreeId,
        /// The key of the observation, as hex; where another one answered (a refusal, an equal product), `sequence` names it.
        key: String,
        /// The number of the probe if it was run now; `None` if its answer was known.
        sequence: Option<u64>,
        /// What it means for the hunt.
        outcome: String,
    },
    /// A reduction has ended.
    Reduced {
        /// What was reduced.
        what: String,
        /// The revision whose change it was.
        revision: CommitId,
        /// Added plus removed lines before.
        before: u64,
        /// And after.
        after: u64,
    },
    /// A revision was made testable.
    Repaired {
        /// The revision.
        revision: CommitId,
        /// Where the lines come from.
        source: CommitId,
        /// How many.
        lines: u64,
    },
    /// The fix reached a revision.
    Carried {
        /// The revision.
        revision: CommitId,
    },
}

impl Told {
    /// What is kept of an event.
    pub fn of(event: &Event) -> Option<Self> {
        match event {
            Event::Reduced { what, revision, n_lines_before, n_lines } => Some(Self::Reduced {
                what: (*what).to_owned(),
                revision: *revision,
                before: *n_lines_before as u64,
                after: *n_lines as u64,
            }),
            Event::Repaired { revision, source, n_lines } => {
                Some(Self::Repaired { revision: *revision, source: *source, lines: *n_lines as u64 })
            }
            Event::Carried { revision, .. } => Some(Self::Carried { revision: *revision }),
            _ => None,
        }
    }

    /// The note that [`read`](Self::read) reads.
    pub fn note(&self) -> Record {
        // Ids, words and numbers of ours can be written.
        let text = serde_json::to_string(self).unwrap_or_default();
        Record::Note { text: format!("{TOLD}{text}") }
    }

    /// What a note tells; `None` if it is of another kind, or of another version.
    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text.strip_prefix(TOLD)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_is_read_again_and_other_notes_are_not() {
        let told = Told::Answer {
            phase: "reduce".to_owned(),
            revision: CommitId([1; 20]),
            tree: TreeId([2; 20]),
            key: "ab".to_owned(),
            sequence: Some(7),
            outcome: "unresolved(build)".to_owned(),
        };
        let Record::Note { text } = told.note() else { panic!("a note") };
        assert_eq!(Told::read(&text), Some(told));
        assert_eq!(Told::read("tested 1 pass"), None);
        assert_eq!(Told::read("told {}"), None);
    }
}
