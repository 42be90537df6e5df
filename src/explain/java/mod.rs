//! Explanations of Java programs, and what a person is asked about their runs.
//!
//! [`statements`] says what methods do, so that those of two versions can be matched; [`comparable_run`] is a run in the form in
//! which it is compared with another one; [`chain`] goes from the failure back over what differs; [`story`] puts that into
//! the words of the source.
//!
//! A virtual machine cannot be forked, so the chain is *observed*. Its links are *tested* afterwards, as far as they have
//! values that another run of the program can be given: [`effects`] finds where and when.
//!
//! [`facts`] are what a person sees of a step, [`search`] finds steps, [`recorded`] is a run with its outline, and [`object_names`] what
//! its objects are called, so that a line can be compared with that of another run.

pub mod chain;
pub mod comparable_run;
pub mod effects;
mod facts;
pub mod object_names;
pub mod recorded;
pub mod search;
mod statements;
pub mod story;

#[cfg(test)]
mod tests;
