//! Explanations of Java programs.
//!
//! A virtual machine cannot be forked, so nothing is overwritten and run again: what is told is *observed*. [`statements`]
//! says what methods do, so that those of two versions can be matched; [`taken`] is a run in the form in which it is
//! compared with another one; [`chain`] goes from the failure back over what differs; [`story`] puts that into the words
//! of the source.

pub mod chain;
pub mod statements;
pub mod story;
pub mod taken;

#[cfg(test)]
mod tests;
