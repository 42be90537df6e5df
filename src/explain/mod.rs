//! Why a change makes a test fail: the engines behind an explanation.
//!
//! They compare a failing run with a reference run, which they know only through what an answerer tells them.
//! Start with [`chain`]: the faulty values that lead from the change to the failure.

pub mod chain;
