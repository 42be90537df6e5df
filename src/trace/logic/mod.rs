//! Terms of bit vectors (`QF_BV` of SMT-LIB 2), and whether some of them can hold together. Knows no programs and
//! no traces.
//!
//! - [`term`]: terms of 1 to 64 bits, each kept once and simplified when it is built.
//! - [`evaluate`]: the value of a term for given values of its variables.
//! - [`check`]: satisfiability, with the assumptions that contradict each other. It translates terms into clauses
//!   ([`blast`]) for the SAT solver `batsat`.
//! - [`substitute`]: a term with other terms in the place of its variables.
//! - [`smtlib`]: the text of a term, for an external solver as second opinion.
//!
//! Division by zero and shifts by at least the width have the values of SMT-LIB. The caller adds what its language
//! forbids.

mod blast;
pub mod check;
pub mod evaluate;
pub mod smtlib;
pub mod substitute;
pub mod term;

#[cfg(test)]
mod tests;
