//! The memory of a reduction: the smallest failing input, and what was tried.

use crate::shrink::candidate::{InputCandidate, ShrinkProgress};
use crate::shrink::plan::{PredictablePlan, ShrinkPlan};
use idd_base::{Asker, Outcome, ahead};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

type CandidateDigest = (u64, u64);

/// Runs plans, and remembers what does not fail.
pub struct ShrinkSession {
    asker: Asker<InputCandidate, Outcome>,
    /// The smallest failing input so far.
    pub current: InputCandidate,
    /// Candidates that do not fail.
    refused: HashSet<CandidateDigest>,
    progress: Rc<RefCell<ShrinkProgress>>,
}

impl ShrinkSession {
    /// Begins with an input that fails.
    pub fn new(
        asker: Asker<InputCandidate, Outcome>,
        start: InputCandidate,
        progress: Rc<RefCell<ShrinkProgress>>,
    ) -> Self {
        Self { asker, current: start, refused: HashSet::new(), progress }
    }

    /// Runs a plan for a part to its end.
    ///
    /// - `units`: what it removes, for the progress.
    pub async fn run<P: ShrinkPlan>(&mut self, index: usize, units: &'static str, mut plan: P) {
        self.progress.borrow_mut().units = units;
        while let Some(content) = plan.next() {
            let candidate = self.current.with(index, content);
            let digest = digest(&candidate);
            if self.refused.contains(&digest) {
                plan.answer(false);
                continue;
            }
            let (base, refused) = (&self.current, &self.refused);
            let guesses = |overheard: &HashMap<InputCandidate, Outcome>, n_welcome: usize| {
                let known = |content: &Vec<u8>| {
                    let guess = base.with(index, content.clone());
                    match overheard.get(&guess) {
                        Some(outcome) => Some(*outcome == Outcome::Fail),
                        None => refused.contains(&self::digest(&guess)).then_some(false),
                    }
                };
                let contents = ahead(PredictablePlan { plan: plan.clone() }, known);
                contents.take(n_welcome).map(|content| base.with(index, content)).collect()
            };
            let is_failing = self.asker.one_before(candidate.clone(), guesses).await == Outcome::Fail;
            if is_failing {
                self.progress.borrow_mut().current = candidate.clone();
                self.current = candidate;
            } else {
                self.refused.insert(digest);
            }
            plan.answer(is_failing);
        }
    }
}

/// Two digests of 64 bits, so that no two candidates of a reduction have the same.
fn digest(candidate: &InputCandidate) -> CandidateDigest {
    let mut hashers = [DefaultHasher::new(), DefaultHasher::new()];
    for (number, hasher) in hashers.iter_mut().enumerate() {
        number.hash(hasher);
        candidate.hash(hasher);
    }
    let [one, other] = hashers.map(|hasher| hasher.finish());
    (one, other)
}
