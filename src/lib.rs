//! A regression hunter: from "this test fails today" to a minimal change that makes it fail and a tested fix.
//!
//! The modules are in the order of a hunt: vocabulary first, then languages and the model of a change, the engines that
//! decide what to try next, the world in which it is tried, and the edge that people and programs read. Engines never
//! touch the world: they ask for probes and receive outcomes (see [`search`]).

pub mod outcome;

pub mod revision;

pub mod sought;

pub mod search;

pub mod plural;

pub mod logic;

pub mod syntax;

pub mod instrument;

pub mod trace;

pub mod change;

pub mod reduce;

pub mod hunt;

pub mod shrink;

pub mod explain;

pub mod world;

pub mod report;

pub mod session;

pub mod cli;
