//! What differs between two runs of C programs.
//!
//! [`statements`] matches the statements of two versions of a program, [`objects`] matches what pointers lead to, and [`state`] compares what memory holds at
//! points that correspond. Source: Sumner and Zhang, sections 2, 3 and 4.5.

pub mod objects;
pub mod state;
pub mod statements;

#[cfg(test)]
mod tests;
