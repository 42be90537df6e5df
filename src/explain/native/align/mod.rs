//! What differs between two runs of C programs.
//!
//! [`done`] says what statements do, so that those of two versions can be matched, [`objects`] matches what pointers lead to, and [`state`] compares what memory holds at
//! points that correspond. Source: Sumner and Zhang, sections 2, 3 and 4.5.

pub mod done;
pub(crate) mod objects;
pub(crate) mod state;
