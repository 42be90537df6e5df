//! Which of several switched runs that pass explains a failure best.
//!
//! Each run is the failing run with one decision switched. A switch far before the failure often mends it by accident: the
//! program reads less input, or leaves a loop. Such a switch changes much that has nothing to do with the failure. A switch right
//! before the failure changes little, but its chain explains little. So the chain is taken that explains most for what its
//! switch changes ([`best`]). Chains are costly, so only some are computed ([`compared`]).
//!
//! Source: Sumner and Zhang, section 4.1, take the first decision that makes the test pass. Deviation: the comparison. On
//! the programs of `docs/bench-chain.md`, the chains that are chosen here have more of the ideal chain.

use std::cmp::Reverse;
use std::collections::HashMap;

/// A decision that makes the test pass when it is switched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassingDecision {
    /// Its ordinal among the decisions of the failing run, in the order in which they were made.
    pub nth: usize,
    /// The segment that ends with it: the same for all instances of one decision.
    pub segment: u32,
    /// Whether it decides whether a loop repeats, or about input that was just read.
    pub is_accident: bool,
    /// The number of steps that only one of the two runs has.
    pub n_changed: u32,
    /// Whether the failing run crashes, and the switched run does not come near the crash.
    pub is_far: bool,
}

/// The decisions whose chains are compared: at most `n` indices of `passing`, in the order in which they are tried.
///
/// Of the instances of one decision the one is taken that changes least, of equal ones the last. Decisions that are no accidents come first; of equal
/// ones those that were made earlier, because they are nearer to the cause. Runs that stay far from a crash come last.
pub fn compared(passing: &[PassingDecision], n: usize) -> Vec<usize> {
    let mut least: HashMap<u32, usize> = HashMap::new();
    let rank = |index: usize| (passing[index].is_far, passing[index].n_changed, Reverse(passing[index].nth));
    for (index, next) in passing.iter().enumerate() {
        let held = least.entry(next.segment).or_insert(index);
        if rank(index) < rank(*held) {
            *held = index;
        }
    }
    let mut chosen: Vec<usize> = least.into_values().collect();
    chosen.sort_by_key(|index| {
        let PassingDecision { nth, is_accident, is_far, .. } = passing[*index];
        // Nearest to the crash.
        let order = if is_far { usize::MAX - nth } else { nth };
        (is_far, is_accident, order)
    });
    chosen.truncate(n);
    chosen
}

/// The chain of a switched run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwitchedChain {
    /// The decision.
    pub passing: PassingDecision,
    /// The number of its links.
    pub n_links: usize,
    /// Whether the search came to its beginning.
    pub is_whole: bool,
}

impl SwitchedChain {
    /// Cubed, because a chain that is twice as long explains more than two of its halves: without it the shortest chains win.
    /// On the programs of `docs/bench-chain.md` a power of four does as well.
    fn worth(&self) -> (bool, bool, u128) {
        let n_links = u128::try_from(self.n_links).unwrap_or(u128::MAX).min(1 << 20);
        let worth = (n_links.pow(3) << 32) / (1 + u128::from(self.passing.n_changed));
        (!self.passing.is_far, self.is_whole, worth)
    }
}

/// The chain that explains most with the fewest effects: the index of it, `None` if there are none.
///
/// It has the largest cube of its length for each step that the switch changes. Of equal ones the decision is taken that was made last.
pub fn best(explained: &[SwitchedChain]) -> Option<usize> {
    (0..explained.len()).max_by_key(|index| (explained[*index].worth(), explained[*index].passing.nth))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passing(nth: usize, segment: u32, n_changed: u32) -> PassingDecision {
        PassingDecision { nth, segment, is_accident: false, n_changed, is_far: false }
    }

    #[test]
    fn of_the_instances_of_a_decision_the_one_that_changes_least_is_compared() {
        let all = [passing(1, 7, 90), passing(4, 7, 50), passing(5, 7, 50), passing(6, 7, 80), passing(3, 8, 99)];
        assert_eq!(compared(&all, 8), [4, 2]);
        assert_eq!(compared(&all, 1), [4]);
        assert_eq!(compared(&[], 8), [0_usize; 0]);
    }

    #[test]
    fn decisions_about_input_and_loops_come_last_and_runs_far_from_a_crash_behind_them() {
        let accident = PassingDecision { is_accident: true, ..passing(1, 1, 9) };
        let far = |nth, segment| PassingDecision { is_far: true, ..passing(nth, segment, 9) };
        let all = [accident, far(2, 2), far(3, 3), passing(5, 4, 9), passing(4, 5, 9)];
        assert_eq!(compared(&all, 8), [4, 3, 0, 2, 1]);
        // An instance that comes near the crash stands for its decision.
        assert_eq!(compared(&[far(9, 1), passing(1, 1, 200)], 8), [1]);
    }

    #[test]
    fn the_longest_chain_for_its_changes_is_the_best() {
        let chain =
            |nth, n_changed, n_links| SwitchedChain { passing: passing(nth, 1, n_changed), n_links, is_whole: true };
        // Ends the program early; the cause; right before the failure.
        assert_eq!(best(&[chain(1, 4943, 26), chain(2, 357, 24), chain(3, 20, 4)]), Some(1));
        assert_eq!(best(&[chain(1, 10, 5), chain(2, 10, 5)]), Some(1));
        let cut = SwitchedChain { is_whole: false, ..chain(1, 1, 90) };
        assert_eq!(best(&[cut, chain(2, 500, 2)]), Some(1));
        let mut far = chain(1, 1, 90);
        far.passing.is_far = true;
        assert_eq!(best(&[far, cut]), Some(1));
        assert_eq!(best(&[]), None);
    }
}
