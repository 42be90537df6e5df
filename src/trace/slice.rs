//! Dynamic slices: the steps on which some values depend, and the steps that depend on some values.
//!
//! Source: Korel and Laski 1988, "Dynamic Program Slicing"; Gupta, He, Zhang and Gupta 2005, "Locating Faulty Code Using
//! Failure-Inducing Chops", section 3. Deviation: a step that calls a function begins before the steps of the function,
//! and uses the result after them. Both papers have one node for it. Here time counts: the arguments of a call do not
//! depend on its result, and neither do the steps of the called function.

use std::collections::HashMap;

use crate::rows::RowPlaces;
use crate::{Clock, DependenceKind, Dependences, Step, Steps};

/// The kinds of dependence that a slice follows. Data dependence is always one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds {
    /// Whether it follows values that are used only to compute an address.
    pub address: bool,
    /// Whether it follows decisions and calls.
    pub control: bool,
    /// Whether it follows decisions that could have led to other values: a *relevant* slice, if the graph has such edges.
    pub potential: bool,
}

impl Kinds {
    /// All kinds.
    pub const ALL: Self = Self { address: true, control: true, potential: true };

    fn has(self, kind: DependenceKind) -> bool {
        match kind {
            DependenceKind::Data => true,
            DependenceKind::Address => self.address,
            DependenceKind::Control => self.control,
            DependenceKind::Potential => self.potential,
        }
    }
}

/// One of the values that a step used, if the slice begins with it alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedPart {
    /// The step.
    pub step: Step,
    /// The steps that computed the value.
    pub makers: Vec<Step>,
    /// The steps that computed other values which the step used to find this one.
    pub others: Vec<Step>,
}

impl UsedPart {
    /// The criteria of its backward slice. The step itself is a part of the slice, too.
    pub fn criteria(&self, graph: &Dependences, kinds: Kinds) -> Vec<(Step, Step)> {
        let others = if kinds.address { &self.others[..] } else { &[] };
        let computed = self.makers.iter().chain(others).copied();
        let decided = graph.makers(self.step).filter(|(_, kind)| !kind.is_flow() && kinds.has(*kind));
        computed
            .chain(decided.map(|(maker, _)| maker))
            .map(|maker| (maker, if maker > self.step { Step(u32::MAX) } else { self.step }))
            .collect()
    }
}

/// The backward slice: all steps on which some values depend, with the steps that computed them.
///
/// - `criteria`: steps, and for each the step before which its value was used. A step uses more after a call came back;
///   `Step(u32::MAX)` includes everything that it ever used.
///
/// Cost: one pass over the graph; 2 bits a step, and 8 bytes for each step of the slice that waited for a call.
pub fn backward(graph: &Dependences, criteria: &[(Step, Step)], kinds: Kinds) -> Steps {
    let mut slice = Backward { graph, found: Steps::new(graph.n_steps()), until: HashMap::new() };
    for (step, until) in criteria.iter().filter(|(step, _)| *step != Step::START) {
        slice.reach(*step, || graph.clock(*until));
    }
    let (mut open, mut places) = (Vec::new(), RowPlaces::default());
    for step in (1..=graph.n_steps()).rev().map(Step) {
        if !slice.found.contains(step) {
            continue;
        }
        open.push(step);
        while let Some(user) = open.pop() {
            for (maker, _) in graph.row(user, &mut places).filter(|(_, kind)| kinds.has(*kind)) {
                // Earlier steps have their turn later.
                if slice.reach(maker, || graph.clock(user)) && maker >= step {
                    open.push(maker);
                }
            }
            if !graph.is_waiting(user) {
                continue;
            }
            let Some(until) = slice.until.get(&user).copied() else { continue };
            let late = graph.late_of(user).take_while(|(time, ..)| *time < until);
            for (time, maker, _) in late.filter(|(_, _, kind)| kinds.has(*kind)) {
                if slice.reach(maker, || time) && maker >= step {
                    open.push(maker);
                }
            }
        }
    }
    slice.found
}

struct Backward<'b> {
    graph: &'b Dependences,
    found: Steps,
    /// For each step of the slice that waited for a call: the last time at which its value was used.
    until: HashMap<Step, Clock>,
}

impl Backward<'_> {
    /// Adds a step whose value is used before `until`; returns whether its uses have to be followed (again).
    fn reach(&mut self, step: Step, until: impl FnOnce() -> Clock) -> bool {
        let is_new = self.found.insert(step);
        if !self.graph.is_waiting(step) {
            return is_new;
        }
        let until = until();
        let last = self.until.entry(step).or_insert(0);
        let is_later = *last < until;
        *last = until.max(*last);
        is_new || is_later
    }
}

/// The forward slice: all steps that depend on some steps, with these themselves.
///
/// Cost: one pass over the graph; 2 bits a step.
pub fn forward(graph: &Dependences, criteria: &[Step], kinds: Kinds) -> Steps {
    let mut asked = Steps::new(graph.n_steps());
    for step in criteria {
        asked.insert(*step);
    }
    let mut found = Steps::new(graph.n_steps());
    let mut late = graph.late().peekable();
    for (step, row) in (0..).map(Step).zip(graph.rows()) {
        // Uses of steps that had waited until now.
        while let Some((_, user, maker, kind)) = late.next_if(|(time, ..)| *time < step.0) {
            if kinds.has(kind) && found.contains(maker) {
                found.insert(user);
            }
        }
        let mut makers = row.filter(|(_, kind)| kinds.has(*kind));
        if asked.contains(step) || makers.any(|(maker, _)| found.contains(maker)) {
            found.insert(step);
        }
    }
    for (_, user, maker, kind) in late {
        if kinds.has(kind) && found.contains(maker) {
            found.insert(user);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::dependence::graph;
    use crate::dependence::tests::{noted, run};

    /// The steps that a step has an effect on: those that used its value, or that of one of them, after it got there.
    fn effects(edges: &[(Step, Step, DependenceKind)], from: Step, kinds: Kinds) -> BTreeSet<Step> {
        let mut found = BTreeSet::from([from]);
        for (user, maker, kind) in edges {
            if kinds.has(*kind) && found.contains(maker) {
                found.insert(*user);
            }
        }
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn slices_are_those_of_brute_force(run in run(), address: bool, control: bool) {
            let (graph, edges) = noted(&run);
            let kinds = Kinds { address, control, potential: true };
            let steps: Vec<Step> = (1..=graph.n_steps()).map(Step).collect();
            let backward: Vec<Steps> = steps.iter().map(|step| backward(&graph, &[(*step, Step(u32::MAX))], kinds)).collect();
            for from in &steps {
                let expected = effects(&edges, *from, kinds);
                let found = forward(&graph, &[*from], kinds);
                for (step, backward) in steps.iter().zip(&backward) {
                    prop_assert_eq!(found.contains(*step), expected.contains(step), "{:?} on {:?}", from, step);
                    prop_assert_eq!(backward.contains(*from), found.contains(*step), "{:?} behind {:?}", from, step);
                }
            }
        }

        #[test]
        fn the_slice_of_several_steps_has_the_slice_of_each(run in run(), one in 0..100_u32, other in 0..100_u32) {
            let (graph, _) = noted(&run);
            let [one, other] = [one, other].map(|step| Step(1 + step % graph.n_steps()));
            let end = Step(u32::MAX);
            let both = (
                forward(&graph, &[one, other], Kinds::ALL),
                backward(&graph, &[(one, end), (other, end)], Kinds::ALL),
            );
            let each = [one, other].map(|step| {
                (forward(&graph, &[step], Kinds::ALL), backward(&graph, &[(step, end)], Kinds::ALL))
            });
            for step in (1..=graph.n_steps()).map(Step) {
                prop_assert_eq!(both.0.contains(step), each.iter().any(|(forward, _)| forward.contains(step)));
                prop_assert_eq!(both.1.contains(step), each.iter().any(|(_, backward)| backward.contains(step)));
            }
        }
    }

    #[test]
    fn the_argument_of_a_call_does_not_depend_on_its_result() {
        // 1: `a = 3`; 2: `y = f(a)`; 3: the entry of `f`, 4: `b = 5`, 5: `return b`; 6: `print(y)`.
        let graph = graph(6, &[(2, 1), (3, 2), (5, 4), (2, 5), (6, 2)]);
        let steps = |slice: &Steps| slice.iter().map(|step| step.0).collect::<Vec<_>>();
        assert_eq!(steps(&forward(&graph, &[Step(4)], Kinds::ALL)), [2, 4, 5, 6]);
        assert_eq!(steps(&backward(&graph, &[(Step(3), Step(u32::MAX))], Kinds::ALL)), [1, 2, 3]);
        assert_eq!(steps(&backward(&graph, &[(Step(2), Step(5))], Kinds::ALL)), [1, 2]);
        assert_eq!(steps(&backward(&graph, &[(Step(6), Step(u32::MAX))], Kinds::ALL)), [1, 2, 4, 5, 6]);
    }
}
