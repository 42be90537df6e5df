//! Steps: executed statements of the source.

use std::fmt;

/// An executed statement, by its number in the process: from 1, in the order in which they began.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

/// A set of steps: one bit for each step of the run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Steps(Vec<u64>);

impl Steps {
    /// The empty set, for a run of this length.
    pub fn new(n_steps: u32) -> Self {
        Self(vec![0; n_steps as usize / 64 + 1])
    }

    /// Whether the set has a step.
    pub fn contains(&self, step: Step) -> bool {
        self.0.get(step.0 as usize / 64).is_some_and(|word| word >> (step.0 % 64) & 1 == 1)
    }

    /// Adds a step; returns whether it is new. A step behind the end of the run is ignored.
    pub fn insert(&mut self, step: Step) -> bool {
        let Some(word) = self.0.get_mut(step.0 as usize / 64) else { return false };
        let bit = 1 << (step.0 % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// The number of steps in the set.
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// The steps, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Step> + '_ {
        let words = (0_u32..).step_by(64).zip(&self.0);
        words
            .flat_map(|(first, word)| (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| Step(first + bit)))
    }

    /// The steps that are in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, other)| one & other).collect())
    }

    /// The steps that are in this set and not in the other one.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        let others = other.0.iter().copied().chain(std::iter::repeat(0));
        Self(self.0.iter().zip(others).map(|(one, other)| one & !other).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_steps_keep_their_members_in_order() {
        let mut set = Steps::new(130);
        assert!(set.is_empty() && set.insert(Step(130)) && set.insert(Step(64)) && set.insert(Step(1)));
        assert!(!set.insert(Step(64)) && !set.insert(Step(500)) && !set.contains(Step(500)));
        assert_eq!(set.iter().collect::<Vec<_>>(), [Step(1), Step(64), Step(130)]);
        let mut other = Steps::new(70);
        other.insert(Step(64));
        assert_eq!(set.intersection(&other).iter().collect::<Vec<_>>(), [Step(64)]);
        assert_eq!(set.difference(&other).iter().collect::<Vec<_>>(), [Step(1), Step(130)]);
        assert_eq!(set.len(), 3);
    }
}
