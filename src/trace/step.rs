//! Steps: executed statements of the source.

use std::fmt;

/// An executed statement, by its number in the process: from 1, in the order in which they began.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step(pub u32);

impl Step {
    /// Before the first step: what the program was started with.
    pub const START: Self = Self(0);
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}
