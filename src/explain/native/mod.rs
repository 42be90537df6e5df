//! Explanations of C programs.
//!
//! [`align`] says what differs between the states of two runs. [`causality`] answers the questions of the chain engines by re-execution. [`story`] tells the result in the
//! words of the source: by the names of [`naming`], with values as [`value_texts`] (of [`unions`], the member that was stored; [`unwritten`] values are named), and the [`instances`] of statements.
//! [`roots`] leads it back to the change, to what that is [`governing`], or [`through`] a file, [`origin`] says where it comes from, and
//! [`crash`] which pointer was null, and [`endless`] which loop does not end.
//! [`facts`] are what a person is asked about: [`named_values`] names their values, of which some are known only [`later`]. [`invariant`] says what has to hold at each point so that the failure follows. [`decisions`] are those of a run that can be switched, and [`replacements`] says what leads to such a decision.

pub mod align;
pub mod causality;
pub mod crash;
pub mod decisions;
mod digests;
pub mod endless;
pub mod facts;
pub mod governing;
mod instances;
pub mod invariant;
mod later;
mod library;
mod named_values;
pub mod naming;
pub mod origin;
pub mod recorded;
pub mod replacements;
mod returns;
pub mod roots;
pub mod standing;
pub mod story;
mod texts;
mod through;
mod unions;
mod unwritten;
mod value_texts;
mod variable;

#[cfg(test)]
pub(crate) mod stored;
