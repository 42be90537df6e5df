//! A plan: a sequence of contents for one part, each made from the answers to those before it.

use idd_base::Course;

/// Decides which content of a part to try next.
pub trait ShrinkPlan: Clone {
    /// The next content; `None` at the end. It is not longer than the last accepted one.
    fn next(&self) -> Option<Vec<u8>>;

    /// Takes the answer to [`next`](Self::next): whether the test still fails.
    fn answer(&mut self, is_failing: bool);

    /// The probability that the next content fails, 0 to 1. It decides only what is tried ahead of time.
    fn odds(&self) -> f64;
}

/// A plan as a course that can be predicted.
pub struct PredictablePlan<P> {
    pub plan: P,
}

impl<P: ShrinkPlan> Course for PredictablePlan<P> {
    type Query = Vec<u8>;

    fn query(&self) -> Option<Vec<u8>> {
        self.plan.next()
    }

    fn after(&self, is_yes: bool) -> Self {
        let mut plan = self.plan.clone();
        plan.answer(is_yes);
        Self { plan }
    }

    fn odds(&self) -> f64 {
        self.plan.odds()
    }
}
