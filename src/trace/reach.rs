//! Up to 64 backward slices in one pass over the graph.
//!
//! A search that compares many slices of the same run needs only to know which of them each step is in. One pass with a bit
//! for each slice costs little more than a pass for a single one.

use std::collections::HashMap;

use crate::rows::RowPlaces;
use crate::{Clock, Dependences, Step};

/// The slices of one pass, at most.
pub const MAX_SLICES: usize = 64;

/// By step: a bit for each slice that it is in, the lowest for the first.
#[derive(Debug, Clone, Default)]
pub struct Reached {
    bits: Vec<u64>,
    /// For each step that waited for a call: the last times at which its value was used.
    until: HashMap<Step, Times>,
}

/// Times, each with the slices whose last one it is; later times come first.
#[derive(Debug, Clone, Default)]
struct Times {
    /// There are seldom more.
    first: (Clock, u64),
    more: Vec<(Clock, u64)>,
}

impl Times {
    fn iter(&self) -> impl Iterator<Item = (Clock, u64)> + '_ {
        std::iter::once(self.first).chain(self.more.iter().copied())
    }

    /// Adds a time for some slices; returns whether it is later than the last one of any of them.
    fn add(&mut self, until: Clock, slices: u64) -> bool {
        let later = self.iter().take_while(|(time, _)| *time >= until).fold(0, |all, (_, slices)| all | slices);
        let added = slices & !later;
        if added == 0 {
            return false;
        }
        if self.first.1 == 0 {
            self.first = (until, added);
            return true;
        }
        let rest = |(time, slices)| (time, if time < until { slices & !added } else { slices });
        let mut all: Vec<(Clock, u64)> = self.iter().map(rest).collect();
        let place = all.partition_point(|(time, _)| *time >= until);
        all.insert(place, (until, added));
        all.retain(|(_, slices)| *slices != 0);
        self.first = all.remove(0);
        self.more = all;
        true
    }
}

impl Reached {
    /// The slices that a step is in.
    pub fn of(&self, step: Step) -> u64 {
        self.bits.get(step.0 as usize).copied().unwrap_or(0)
    }

    /// Adds a step whose value is used before `until` by some slices; returns whether its uses have to be followed (again).
    fn reach(&mut self, graph: &Dependences, step: Step, slices: u64, until: impl FnOnce() -> Clock) -> bool {
        let Some(known) = self.bits.get_mut(step.0 as usize) else { return false };
        let is_new = *known | slices != *known;
        *known |= slices;
        if !graph.is_waiting(step) {
            return is_new;
        }
        self.until.entry(step).or_default().add(until(), slices) || is_new
    }
}

/// The backward slices of some criteria, as [`slice::backward`](crate::slice::backward) has them with
/// [all kinds](crate::slice::Kinds::ALL) of dependence, at most [`MAX_SLICES`].
///
/// - `criteria`: for each slice, steps, and for each the step before which its value was used.
///
/// Cost: one pass over the graph from the last criterion on; 8 bytes for each step of the run, and 16 for each step
/// of a slice that waited for a call.
pub fn backward(graph: &Dependences, criteria: &[Vec<(Step, Step)>]) -> Reached {
    debug_assert!(criteria.len() <= MAX_SLICES, "a mask has 64 bits");
    let mut slices = Reached { bits: vec![0; graph.n_steps() as usize + 1], until: HashMap::new() };
    let mut last = Step::START;
    for (number, (step, until)) in (0_u32..).zip(criteria).flat_map(|(n, of)| of.iter().map(move |each| (n, each))) {
        if *step != Step::START {
            slices.reach(graph, *step, 1 << number, || graph.clock(*until));
            last = last.max(*step);
        }
    }
    let (mut open, mut places) = (Vec::new(), RowPlaces::default());
    for step in (1..=last.0.min(graph.n_steps())).rev().map(Step) {
        if slices.of(step) == 0 {
            continue;
        }
        open.push(step);
        while let Some(user) = open.pop() {
            let of_user = slices.of(user);
            for (maker, _) in graph.row(user, &mut places) {
                // Earlier steps have their turn later.
                if slices.reach(graph, maker, of_user, || graph.clock(user)) && maker >= step {
                    open.push(maker);
                }
            }
            if !graph.is_waiting(user) {
                continue;
            }
            let Some(times) = slices.until.get(&user).cloned() else { continue };
            for (time, maker, _) in graph.late_of(user).take_while(|(time, ..)| *time < times.first.0) {
                let of_time = times.iter().take_while(|(until, _)| time < *until).fold(0, |all, (_, of)| all | of);
                if slices.reach(graph, maker, of_time, || time) && maker >= step {
                    open.push(maker);
                }
            }
        }
    }
    slices
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::dependence::tests::{noted, run};
    use crate::slice;
    use crate::slice::Kinds;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn each_slice_is_that_of_a_pass_of_its_own(run in run(), criteria in proptest::collection::vec(proptest::collection::vec((0..100_u32, 0..110_u32), 0..3), 1..64)) {
            let (graph, _) = noted(&run);
            let n = graph.n_steps();
            let criterion = |(step, until): &(u32, u32)| (Step(step % (n + 1)), Step(if *until > 100 { u32::MAX } else { *until }));
            let criteria: Vec<Vec<(Step, Step)>> = criteria.iter().map(|of| of.iter().map(criterion).collect()).collect();
            let found = backward(&graph, &criteria);
            for (number, of) in criteria.iter().enumerate() {
                let expected = slice::backward(&graph, of, Kinds::ALL);
                for step in (1..=n).map(Step) {
                    prop_assert_eq!(found.of(step) >> number & 1 == 1, expected.contains(step), "{:?} in slice {}", step, number);
                }
            }
        }
    }
}
