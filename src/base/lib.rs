//! The vocabulary of a hunt: revisions, outcomes, and the protocol between an engine and whoever answers it.
//!
//! Every other member may use these words. They know nothing of repositories, processes, languages or reports.

pub mod goal;
pub mod outcome;
pub mod plural;
pub mod remaining;
pub mod revision;
pub mod revision_table;
pub mod search;
pub mod sought;
