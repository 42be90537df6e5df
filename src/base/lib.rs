//! The vocabulary of a hunt: revisions, outcomes, and the protocol between an engine and whoever answers it.
//!
//! Every other member may use these words. They know nothing of repositories, processes, languages or reports.
//! [`difference`] is here because members that share no other code compare sequences.

pub mod difference;

mod goal;
mod outcome;
mod plural;
mod remaining;
mod revision;
mod revision_table;
mod search;
mod sought;

pub use goal::{Bound, HuntGoal, HuntStage};
pub use outcome::{Ending, NamedTest, Observation, Outcome, Reason, Signature, Stage, TimeLimits};
pub use plural::{count, ordinal};
pub use remaining::{Pace, RemainingWork, Rest};
pub use revision::{BlobId, CommitId, InvalidId, ObjectId, Revision, TreeId};
pub use revision_table::RevisionTable;
pub use search::{Asker, Asking, Course, Search, SearchStep, ahead};
pub use sought::{AnswerWords, Sought};
