//! Why a change makes a test fail: two runs compared, and what leads from one difference to the next.
//!
//! [`align`] says which points of two recorded runs correspond and what differs there, [`failure`] what the failure is. [`chain`] has the engines that
//! find the faulty values which lead from the change to the failure; [`causality`] answers their questions by re-execution. [`story`] tells the result in the words of the
//! source: by the names of [`naming`], with values as [`shown`], and the [`instances`] of statements. [`roots`] leads it back to the change, or to what that is [`governing`],
//! [`origin`] says where it comes from, and [`crash`] which pointer was null. Where no version passes, [`decisions`] are taken from the failing run, and
//! [`switch`] orders them. Nothing here runs a program: forks of the failing one are given from outside.

pub mod align;
pub mod causality;
pub mod chain;
pub mod crash;
pub mod decisions;
pub mod failure;
pub mod governing;
pub mod instances;
pub mod naming;
pub mod origin;
pub mod returns;
pub mod roots;
pub mod shown;
pub mod story;
pub mod switch;
pub mod texts;
