//! Two runs side by side: which steps correspond.
//!
//! Source: Sumner and Zhang, sections 2 and 3. [`statements`] says which statements of two versions are the same. [`way`] writes down what a part of a variable is called, for whoever
//! compares states.

pub(crate) mod beside;
pub mod statements;
pub(crate) mod way;

use std::collections::HashMap;

use idd_trace::{Run, Step};

/// Which steps of two runs correspond.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alignment {
    to_reference: Vec<u32>,
    /// Pairs of steps, ascending in both runs.
    pub pairs: Vec<(Step, Step)>,
}

impl Alignment {
    /// Steps with the same index correspond; of several with the same index, the first.
    ///
    /// What would not keep the order (threads; indices that happen to be the same) is left out.
    pub fn new(run: &Run, reference: &Run) -> Self {
        let mut by_index: HashMap<u64, u32> = HashMap::with_capacity(reference.indices.len());
        for (step, index) in (0..).zip(&reference.indices) {
            if *index != 0 {
                by_index.entry(*index).or_insert(step);
            }
        }
        let mut to_reference = vec![0; run.indices.len()];
        let (mut pairs, mut last) = (Vec::new(), 0);
        for (step, index) in (0_u32..).zip(&run.indices) {
            // Each index is given once.
            let Some(found) = by_index.remove(index).filter(|_| *index != 0) else { continue };
            if found > last {
                last = found;
                to_reference[step as usize] = found;
                pairs.push((Step(step), Step(found)));
            }
        }
        Self { to_reference, pairs }
    }

    /// The step of the reference that corresponds to this one.
    pub fn reference(&self, step: Step) -> Option<Step> {
        self.to_reference.get(step.0 as usize).copied().filter(|step| *step != 0).map(Step)
    }

    /// The step of the failing run that corresponds to this one of the reference.
    pub fn failing(&self, reference: Step) -> Option<Step> {
        let found = self.pairs.binary_search_by_key(&reference, |(_, other)| *other).ok()?;
        Some(self.pairs[found].0)
    }

    /// Whether a value written by `step` and one written by `reference` have corresponding definitions.
    pub fn is_same(&self, step: Step, reference: Step) -> bool {
        if step == Step::START || reference == Step::START {
            return step == reference;
        }
        self.reference(step) == Some(reference)
    }
}
