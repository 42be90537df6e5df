//! Why a change makes a test fail: two runs compared, and what leads from one difference to the next.
//!
//! [`align`] says which steps of two recorded runs correspond, [`failure`] what the failure is. [`chain`] has the engines that find the faulty values which lead from
//! the change to the failure. Where no version passes, decisions of the failing run are switched, in the order of
//! [`switch`]. [`invariant`] says what has to hold at each point so that the failure follows. What reads the state of a program is in a part for its language: [`native`] is that of C. Nothing here
//! runs a program: forks of the failing one are given from outside.

pub mod align;
pub mod chain;
pub mod comparison;
pub mod facts;
pub mod failure;
pub mod feedback;
pub mod invariant;
pub mod java;
pub mod link;
pub mod native;
pub mod passing;
pub mod statements;
pub mod switch;
