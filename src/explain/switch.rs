//! In which order the decisions of a failing run are switched.
//!
//! Source: Sumner and Zhang, section 4.1, after Zhang, Gupta and Gupta, "Locating Faults Through Automated Predicate
//! Switching" (2006): what was executed last is switched first, because a failure is often not far from its cause; what
//! is left of the effort goes to what the failure depends on, by distance. Deviations: both orders are tried one after
//! the other, each with a part of the effort; and a decision is as far away as the shortest way over data *and* control
//! makes it, where they count the data of a slice that is pruned by the values that were right.

use std::cmp::Reverse;

use idd_trace::{Dependences, Step};

/// The part of the effort that goes to what was executed last.
const FIRST_PART: usize = 4;

/// Decisions in the order in which they are switched: indices of `decisions`, which ascend.
///
/// - `dependences`: what the steps of the run depend on.
/// - `failing`: the steps in which the failure may be seen.
/// - `budget`: how many of them may be tried; all are given nevertheless.
///
/// Of what is equally far away, the later one comes first; what the failure does not depend on comes last.
///
/// Cost: linear in the dependences, and a sort.
pub fn order(decisions: &[Step], dependences: &Dependences, failing: &[Step], budget: usize) -> Vec<usize> {
    let n_first = (budget / FIRST_PART).min(decisions.len());
    let (rest, first) = decisions.split_at(decisions.len() - n_first);
    let mut order: Vec<usize> = (rest.len()..decisions.len()).rev().collect();
    debug_assert_eq!(order.len(), first.len(), "the last ones come first");
    let distances = dependences.distances(failing);
    let distance = |step: Step| distances.get(step.0 as usize).copied().unwrap_or(u32::MAX);
    let mut later: Vec<usize> = (0..rest.len()).collect();
    later.sort_by_key(|index| (distance(rest[*index]), Reverse(*index)));
    order.extend(later);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use idd_trace::dependence::graph;

    fn steps(numbers: &[u32]) -> Vec<Step> {
        numbers.iter().copied().map(Step).collect()
    }

    /// The steps in the order in which they are switched.
    fn switched(decisions: &[u32], dependences: &[(u32, u32)], failing: &[u32], budget: usize) -> Vec<u32> {
        let order = order(&steps(decisions), &graph(30, dependences), &steps(failing), budget);
        order.into_iter().map(|index| decisions[index]).collect()
    }

    #[test]
    fn the_last_executed_are_switched_first_then_the_nearest() {
        // 20 depends on 2 directly, and on 8 over 10; 12 and 14 are executed last; nothing depends on 5.
        let dependences = [(20, 2), (20, 10), (10, 8), (8, 6), (20, 2)];
        let decisions = [2, 5, 6, 8, 12, 14];
        assert_eq!(switched(&decisions, &dependences, &[20], 8), [14, 12, 2, 8, 6, 5]);
        assert_eq!(switched(&decisions, &dependences, &[20], 0), [2, 8, 6, 14, 12, 5]);
        assert_eq!(switched(&decisions, &dependences, &[20], 1000), [14, 12, 8, 6, 5, 2]);
    }

    #[test]
    fn of_several_ways_the_shortest_from_any_failing_step_counts() {
        let dependences = [(30, 20), (20, 10), (25, 10), (25, 3), (3, 1), (10, 1)];
        assert_eq!(switched(&[1, 3, 10, 20], &dependences, &[30, 25], 0), [20, 10, 3, 1]);
        assert_eq!(switched(&[1, 3, 10, 20], &dependences, &[30], 0), [20, 10, 1, 3]);
    }

    #[test]
    fn cycles_end_and_nothing_is_no_order() {
        assert_eq!(switched(&[1, 2], &[(1, 2), (2, 1)], &[2], 0), [2, 1]);
        assert_eq!(switched(&[], &[], &[], 10), [0_u32; 0]);
        assert_eq!(switched(&[4], &[], &[9], 0), [4]);
    }
}
