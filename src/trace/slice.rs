//! Dynamic slices: the steps on which some values depend, and the steps that depend on some values.
//!
//! Source: Korel and Laski 1988, "Dynamic Program Slicing"; Gupta, He, Zhang and Gupta 2005, "Locating Faulty Code Using
//! Failure-Inducing Chops", section 3. Deviation: a step that calls a function begins before the steps of the function,
//! and uses the result after them. Both papers have one node for it. Here time counts: the arguments of a call do not
//! depend on its result, and neither do the steps of the called function.

use std::collections::HashMap;

use crate::trace::dependence::Dependences;
use crate::trace::dependence::Kind;
use crate::trace::step::Step;
use crate::trace::step::Steps;

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

    fn has(self, kind: Kind) -> bool {
        match kind {
            Kind::Data => true,
            Kind::Address => self.address,
            Kind::Control => self.control,
            Kind::Potential => self.potential,
        }
    }
}

/// The backward slice: all steps on which some values depend, with the steps that computed them.
///
/// - `criteria`: steps, and for each the step before which its value was used. A step uses more after a call came back;
///   `Step(u32::MAX)` includes everything that it ever used.
///
/// Cost: two passes over the graph; 2 bits a step, and 8 bytes for each step of the slice that waited for a call.
pub fn backward(graph: &Dependences, criteria: &[(Step, Step)], kinds: Kinds) -> Steps {
    let mut slice = Backward { found: Steps::new(graph.n_steps()), waiting: waiting(graph), until: HashMap::new() };
    for (step, until) in criteria.iter().filter(|(step, _)| *step != Step::START) {
        slice.reach(*step, *until);
    }
    let mut open = Vec::new();
    for step in (1..=graph.n_steps()).rev().map(Step) {
        if !slice.found.contains(step) {
            continue;
        }
        open.push(step);
        while let Some(user) = open.pop() {
            let until = slice.until.get(&user).copied().unwrap_or(user);
            for (maker, _) in graph.makers(user).filter(|(_, kind)| kinds.has(*kind)) {
                let used = if maker < user { user } else { until };
                // Earlier steps have their turn later.
                if maker < used && slice.reach(maker, used) && maker >= step {
                    open.push(maker);
                }
            }
        }
    }
    slice.found
}

struct Backward {
    found: Steps,
    waiting: Steps,
    /// For each step of the slice that waited for a call: the last step before which its value was used.
    until: HashMap<Step, Step>,
}

impl Backward {
    /// Adds a step whose value is used before `until`; returns whether its uses have to be followed (again).
    fn reach(&mut self, step: Step, until: Step) -> bool {
        let is_new = self.found.insert(step);
        if !self.waiting.contains(step) {
            return is_new;
        }
        let last = self.until.entry(step).or_insert(Step::START);
        let is_later = *last < until;
        *last = until.max(*last);
        is_new || is_later
    }
}

/// The steps that used a value of a later step: they waited for a call.
fn waiting(graph: &Dependences) -> Steps {
    let mut waiting = Steps::new(graph.n_steps());
    for (user, maker, _) in graph.edges() {
        if maker > user {
            waiting.insert(user);
        }
    }
    waiting
}

/// The forward slice: all steps that depend on some steps, with these themselves.
///
/// Cost: two passes over the graph; 2 bits a step, and 8 bytes for each use after a call came back.
pub fn forward(graph: &Dependences, criteria: &[Step], kinds: Kinds) -> Steps {
    let mut late: Vec<(Step, Step)> = Vec::new();
    late.extend(
        graph
            .edges()
            .filter(|(user, maker, kind)| maker > user && kinds.has(*kind))
            .map(|(user, maker, _)| (maker, user)),
    );
    late.sort_unstable();
    let mut asked = Steps::new(graph.n_steps());
    for step in criteria {
        asked.insert(*step);
    }
    let mut found = Steps::new(graph.n_steps());
    let mut open = Vec::new();
    for (step, row) in (0..).map(Step).zip(graph.all()) {
        let is_reached = |found: &Steps| {
            let mut makers = row.filter(|(maker, kind)| *maker < step && kinds.has(*kind));
            makers.any(|(maker, _)| found.contains(maker))
        };
        if asked.contains(step) || is_reached(&found) {
            open.push(step);
        }
        // What waited for the step depends on it from now on.
        while let Some(maker) = open.pop() {
            if found.insert(maker) {
                let first = late.partition_point(|(before, _)| *before < maker);
                let users = late[first..].iter().take_while(|(of, _)| *of == maker);
                open.extend(users.map(|(_, user)| *user));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::trace::dependence::tests::graph;
    use crate::trace::dependence::tests::noted;
    use crate::trace::dependence::tests::run;

    /// The steps that a step has an effect on, and the time from which on each of them carries it, by following each
    /// edge until nothing changes.
    fn effects(edges: &BTreeSet<(Step, Step, Kind)>, from: Step, kinds: Kinds) -> BTreeMap<Step, Step> {
        let mut since = BTreeMap::from([(from, from)]);
        loop {
            let mut is_changed = false;
            for (user, maker, _) in edges.iter().filter(|(.., kind)| kinds.has(*kind)) {
                let Some(known) = since.get(maker).copied() else { continue };
                let time = if maker < user { *user } else { known };
                if known < *user || maker > user {
                    let before = since.entry(*user).or_insert(Step(u32::MAX));
                    is_changed |= *before > time;
                    *before = time.min(*before);
                }
            }
            if !is_changed {
                return since;
            }
        }
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
                    prop_assert_eq!(found.contains(*step), expected.contains_key(step), "{:?} on {:?}", from, step);
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
