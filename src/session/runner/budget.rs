//! The budget of a hunt that is explained afterwards: a part of it is for the explanation.

use crate::deadline::Deadline;
use crate::runner::Runner;
use std::mem;
use std::time::Duration;

impl Runner<'_> {
    /// Keeps a third of the budget that is left for the explanation.
    pub fn keep_a_third(&mut self) {
        if let Some(left) =
            self.effort.limits.deadline.as_ref().map(Deadline::left).filter(|_| self.effort.limits.reserve.is_zero())
        {
            self.effort.limits.reserve = left / 3;
            self.end_after(2 * left / 3);
        }
    }

    /// Uses for the hunt what was kept for the explanation.
    pub fn give_back(&mut self) {
        let reserve = mem::take(&mut self.effort.limits.reserve);
        if let Some(left) = self.effort.limits.deadline.as_ref().map(Deadline::left).filter(|_| !reserve.is_zero()) {
            self.end_after(left + reserve);
        }
    }

    fn end_after(&mut self, left: Duration) {
        // It withdraws its interruption first.
        self.effort.limits.deadline = None;
        self.effort.limits.deadline = Deadline::after(left, &self.interrupt);
    }

    /// Whether the budget ended before any test did.
    pub fn was_too_short(&self) -> bool {
        self.effort.tally.n_runs() == 0 && self.effort.limits.deadline.as_ref().is_some_and(Deadline::is_over)
    }
}
