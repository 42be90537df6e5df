//! The executed statements of a run, and how many of their steps are in some sets.

use std::sync::Arc;

use crate::trace::place::Place;
use crate::trace::step::Step;

/// A global variable whose initial value was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Initial {
    /// The variable.
    pub name: Arc<str>,
    /// Its declaration.
    pub place: Place,
    /// The number of steps that read it.
    pub n_reads: u64,
    /// The last of them.
    pub last: Step,
}

/// A statement of the source that ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The function, by its name in the source.
    pub function: Arc<str>,
    /// The place.
    pub place: Option<Place>,
    /// The number of times that it ran.
    pub n_steps: u64,
    /// For each set: the number of its steps that are in the set, and the last of these.
    pub inside: Vec<(u64, Step)>,
    /// The smallest distance of one of its steps.
    pub nearest: u32,
}
