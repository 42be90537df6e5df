//! Finds the call that wrote bytes which no record has.

use crate::Step;

/// Calls of unknown functions that are remembered.
const N_REMEMBERED: usize = 16;

/// What is behind a pointer that was given away counts as reached up to here.
const REACH: u64 = 1 << 20;

/// The last calls that may have written anything behind their arguments.
#[derive(Debug, Clone, Default)]
pub struct Remembered {
    calls: Vec<(Step, [u64; 8])>,
    next: usize,
}

impl Remembered {
    pub fn add(&mut self, step: Step, arguments: [u64; 8]) {
        if self.calls.len() < N_REMEMBERED {
            self.calls.push((step, arguments));
        } else {
            self.calls[self.next % N_REMEMBERED] = (step, arguments);
        }
        self.next += 1;
    }

    /// Begins a search at a read. `n_steps` steps have begun.
    pub fn blame(&self, n_steps: u32) -> Blame<'_> {
        Blame { remembered: &self.calls, is_reached: false, is_after_call: false, n_steps }
    }
}

/// A search for the calls that wrote the bytes of a read.
pub struct Blame<'m> {
    remembered: &'m [(Step, [u64; 8])],
    /// Whether a call was given a pointer to one of the bytes.
    pub is_reached: bool,
    /// Whether there was a call at all.
    pub is_after_call: bool,
    n_steps: u32,
}

impl Blame<'_> {
    /// The last call since `writer` that was given a pointer to there; else the last call; else `writer`.
    pub fn find(&mut self, address: u64, writer: Step) -> Step {
        let later = || self.remembered.iter().filter(|(step, _)| *step >= writer && step.0 <= self.n_steps);
        let points_there = |(_, arguments): &&(Step, [u64; 8])| {
            arguments.iter().any(|pointer| *pointer > 4096 && address.wrapping_sub(*pointer) < REACH)
        };
        let reached = later().filter(points_there).map(|(step, _)| *step).max();
        let last = later().map(|(step, _)| *step).max();
        self.is_reached |= reached.is_some();
        self.is_after_call |= last.is_some();
        reached.or(last).unwrap_or(writer)
    }
}
