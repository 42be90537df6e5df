//! The dynamic dependence graph of a run. Its nodes are steps. It can be followed backward, to the origin of a value,
//! and forward, to its effects.
//!
//! There are three kinds of edges: data, address and control. The module does not know how programs are recorded: the
//! player adds steps and uses in order ([`Notes`]), and packs the graph at the end.
//!
//! Source of the terms: Ferrante, Ottenstein and Warren 1987; Korel and Laski 1988, "Dynamic Program Slicing".

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::sync::OnceLock;

use crate::trace::rows::Row;
use crate::trace::rows::Rows;
use crate::trace::rows::code;
use crate::trace::rows::push;
use crate::trace::step::Step;

/// The number of last uses of a step among which duplicates are searched.
const MAX_COMPARED: usize = 16;

/// How a step depends on another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Data: it uses a value that the other step computed.
    Data = 0,
    /// Address: it uses a value of the other step only to compute an address.
    Address = 1,
    /// Control: the other step is the decision because of which it runs, or the call of its function.
    Control = 2,
    /// Potential: the other step is a decision that could have led to another value of a variable that this step uses.
    Potential = 3,
}

impl Kind {
    /// The kind, from the two lowest bits of a number.
    pub fn of(code: u64) -> Self {
        match code & 3 {
            0 => Self::Data,
            1 => Self::Address,
            2 => Self::Control,
            _ => Self::Potential,
        }
    }

    /// Whether a value flows between the steps: [`Data`](Self::Data) and [`Address`](Self::Address).
    pub fn is_flow(self) -> bool {
        matches!(self, Self::Data | Self::Address)
    }
}

/// A dependence graph under construction.
#[derive(Debug, Clone, Default)]
pub struct Notes {
    n_steps: u32,
    /// The rows of the steps before the current one.
    rows: Rows,
    /// The row of the current step, and the last step in it.
    row: Vec<u8>,
    last: u32,
    /// The last uses of the current step.
    used: Vec<(Step, Kind)>,
    /// Uses by steps that waited while later steps began, in order.
    late: Vec<(Step, Step, Kind)>,
}

impl Notes {
    /// Begins the next step.
    ///
    /// - `decider`: its control dependence; [`Step::START`] if there is none.
    #[inline]
    pub fn step(&mut self, decider: Step) {
        self.rows.append(&self.row);
        self.n_steps += 1;
        self.row.clear();
        self.used.clear();
        self.last = self.n_steps;
        if decider != Step::START {
            self.edge(decider, Kind::Control);
        }
    }

    /// Adds an edge: a step that has begun uses a value of another step. Values from before the run have no edge.
    #[inline]
    pub fn uses(&mut self, user: Step, maker: Step, kind: Kind) {
        if maker == Step::START
            || maker.0 > self.n_steps
            || self.used.contains(&(maker, kind)) && user.0 == self.n_steps
        {
            return;
        }
        if user.0 == self.n_steps {
            if self.used.len() < MAX_COMPARED {
                self.used.push((maker, kind));
            }
            self.edge(maker, kind);
        } else if user != Step::START && user.0 < self.n_steps {
            self.late.push((user, maker, kind));
        }
    }

    #[inline]
    fn edge(&mut self, maker: Step, kind: Kind) {
        push(&mut self.row, code(self.last, maker, kind));
        self.last = maker.0;
    }

    /// The finished graph.
    ///
    /// Cost: linear, and a sort of the late uses.
    pub fn pack(mut self) -> Dependences {
        self.rows.append(&self.row);
        if !self.late.is_empty() {
            self.late.sort_by_key(|(user, ..)| *user);
            self.late.dedup();
            self.rows = merged(&self.rows, &self.late);
        }
        Dependences { n_steps: self.n_steps, makers: self.rows, users: OnceLock::new() }
    }
}

/// Adds edges, which are sorted by row, to the ends of the rows.
fn merged(rows: &Rows, mut late: &[(Step, Step, Kind)]) -> Rows {
    let (mut merged, mut row) = (Rows::default(), Vec::new());
    for (step, before) in (0..).map(Step).zip(rows.all()) {
        let (here, rest) = late.split_at(late.iter().take_while(|(user, ..)| *user == step).count());
        late = rest;
        if here.is_empty() {
            merged.append(before.codes());
            continue;
        }
        row.clear();
        row.extend_from_slice(before.codes());
        let mut last = before.last().map_or(step.0, |(maker, _)| maker.0);
        for (_, maker, kind) in here {
            push(&mut row, code(last, *maker, *kind));
            last = maker.0;
        }
        merged.append(&row);
    }
    merged
}

/// The dependence graph of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dependences {
    n_steps: u32,
    makers: Rows,
    /// The reversed edges; computed at the first use.
    users: OnceLock<Rows>,
}

impl Dependences {
    /// The number of steps. Steps are numbered from 1, so it is also the number of the last step.
    pub fn n_steps(&self) -> u32 {
        self.n_steps
    }

    /// The dependences of a step: control first, then in the order of use. A `return` that the step waited for began
    /// after it.
    pub fn makers(&self, step: Step) -> Row<'_> {
        self.makers.row(step)
    }

    /// The dependences of all steps, in order, from [`Step::START`], which has none.
    pub fn all(&self) -> impl Iterator<Item = Row<'_>> {
        self.makers.all()
    }

    /// All edges: a step, a step on which it depends, and how.
    pub fn edges(&self) -> impl Iterator<Item = (Step, Step, Kind)> {
        self.makers.edges()
    }

    /// The steps that depend on a step.
    ///
    /// Cost: the first call is linear in the graph.
    pub fn users(&self, step: Step) -> Row<'_> {
        self.users.get_or_init(|| self.makers.turned()).row(step)
    }

    /// The memory in bytes: that of the backward edges, and that of all edges that are in memory.
    pub fn n_bytes(&self) -> usize {
        self.makers.n_bytes() + self.users.get().map_or(0, Rows::n_bytes)
    }

    /// For each step the number of edges on the shortest way from one of `from` back to it; [`u32::MAX`] if there is no
    /// way.
    pub fn distances(&self, from: &[Step]) -> Vec<u32> {
        let mut distances = vec![u32::MAX; self.n_steps as usize + 1];
        let mut front = from.to_vec();
        let mut distance = 0;
        while !front.is_empty() {
            let mut next = Vec::new();
            for step in front {
                if let Some(nearest @ &mut u32::MAX) = distances.get_mut(step.0 as usize) {
                    *nearest = distance;
                    next.extend(self.makers(step).map(|(maker, _)| maker));
                }
            }
            (front, distance) = (next, distance + 1);
        }
        distances
    }

    /// The backward slice over data and address edges, nearest first: the makers of some values, the makers of the values
    /// that those used, and so on.
    ///
    /// - `makers`: the steps that computed the values.
    /// - `at`: the step before which the values are examined.
    /// - Result: at most `limit` steps, usually the last one first, and whether there are more.
    ///
    /// A step that waits for a call uses values of later steps. Only its uses before the point where its own value was
    /// used count. So an argument of a function does not come from the result of that function.
    pub fn origins(&self, makers: impl IntoIterator<Item = Step>, at: Step, limit: usize) -> (Vec<Step>, bool) {
        let mut open: BTreeMap<Step, Step> = BTreeMap::new();
        let mut done: HashMap<Step, Step> = HashMap::new();
        let mut found = Vec::new();
        let is_known = |step: Step| step != Step::START && step < at;
        open.extend(makers.into_iter().filter(|maker| is_known(*maker)).map(|maker| (maker, at)));
        while let Some((step, until)) = open.pop_last() {
            if !done.contains_key(&step) {
                if found.len() == limit {
                    return (found, true);
                }
                found.push(step);
            }
            done.insert(step, until);
            for (maker, _) in self.makers(step).filter(|(maker, kind)| kind.is_flow() && *maker < until) {
                let until = if maker < step { step } else { until };
                if done.get(&maker).is_none_or(|before| *before < until) {
                    let open = open.entry(maker).or_insert(until);
                    *open = until.max(*open);
                }
            }
        }
        (found, false)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// A graph without control edges: steps, and the steps whose values they use.
    pub fn graph(n_steps: u32, pairs: &[(u32, u32)]) -> Dependences {
        let mut notes = Notes::default();
        for _ in 0..n_steps {
            notes.step(Step::START);
        }
        for (user, maker) in pairs {
            notes.uses(Step(*user), Step(*maker), Kind::Data);
        }
        notes.pack()
    }

    /// The steps of a run: the decider of each, and its uses, each after a number of further steps.
    pub type Does = (u32, Vec<(u32, u32, bool)>);

    pub fn run() -> impl Strategy<Value = Vec<Does>> {
        let uses = proptest::collection::vec((0..6_u32, 0..200_u32, any::<bool>()), 0..5);
        proptest::collection::vec((0..200_u32, uses), 1..100)
    }

    fn kind(is_address: bool) -> Kind {
        if is_address { Kind::Address } else { Kind::Data }
    }

    /// Builds the graph of a run, and a list of the same edges.
    pub fn noted(run: &[Does]) -> (Dependences, BTreeSet<(Step, Step, Kind)>) {
        let (mut notes, mut edges) = (Notes::default(), BTreeSet::new());
        for (step, (decider, _)) in (1..).zip(run) {
            let decider = Step(decider % step);
            notes.step(decider);
            edges.insert((Step(step), decider, Kind::Control));
            for (user, (_, uses)) in (1..=step).zip(run) {
                for (_, maker, is_address) in uses.iter().filter(|(after, ..)| user + after == step) {
                    let maker = Step(maker % (step + 1));
                    notes.uses(Step(user), maker, kind(*is_address));
                    edges.insert((Step(user), maker, kind(*is_address)));
                }
            }
        }
        edges.retain(|(_, maker, _)| *maker != Step::START);
        (notes.pack(), edges)
    }

    /// All reachable steps, by following each edge until no step is new.
    fn closure(edges: &BTreeSet<(Step, Step, Kind)>, from: Step) -> BTreeSet<Step> {
        let mut reached = BTreeSet::from([from]);
        loop {
            let new: Vec<Step> = edges
                .iter()
                .filter(|(user, maker, _)| reached.contains(user) && !reached.contains(maker))
                .map(|(_, maker, _)| *maker)
                .collect();
            if new.is_empty() {
                return reached;
            }
            reached.extend(new);
        }
    }

    proptest! {
        #[test]
        fn the_graph_is_what_was_noted_in_both_directions_and_in_order(run in run()) {
            let (graph, edges) = noted(&run);
            prop_assert_eq!(graph.n_steps() as usize, run.len());
            let steps = || (0..=graph.n_steps()).map(Step);
            let back: BTreeSet<_> = steps().flat_map(|user| graph.makers(user).map(move |(maker, kind)| (user, maker, kind))).collect();
            let on: BTreeSet<_> = steps().flat_map(|maker| graph.users(maker).map(move |(user, kind)| (user, maker, kind))).collect();
            prop_assert_eq!(&back, &edges);
            prop_assert_eq!(&on, &edges);
            for step in steps() {
                prop_assert!(graph.makers(step).skip(1).all(|(_, kind)| kind.is_flow()));
            }
            prop_assert_eq!(graph.makers(Step(graph.n_steps() + 1)).count(), 0);
            prop_assert_eq!(graph.users(Step(u32::MAX)).count(), 0);
        }

        #[test]
        fn distances_are_those_of_brute_force(run in run(), from in 0..1000_u32) {
            let (graph, edges) = noted(&run);
            let from = Step(1 + from % graph.n_steps());
            let behind = closure(&edges, from);
            let distances = graph.distances(&[from]);
            for step in (1..=graph.n_steps()).map(Step) {
                prop_assert_eq!(distances[step.0 as usize] != u32::MAX, behind.contains(&step));
                let nearest = edges.iter().filter(|(_, maker, _)| *maker == step).map(|(user, ..)| distances[user.0 as usize]).min();
                let expected = if step == from { 0 } else { nearest.unwrap_or(u32::MAX).saturating_add(1) };
                prop_assert_eq!(distances[step.0 as usize], expected);
            }
        }

        #[test]
        fn origins_are_behind_their_values_and_before_their_time(run in run(), at in 0..1000_u32, limit in 1..200_usize) {
            let (graph, edges) = noted(&run);
            let at = Step(1 + at % graph.n_steps());
            let flow: BTreeSet<_> = edges.into_iter().filter(|(_, _, kind)| kind.is_flow()).collect();
            let asked: Vec<Step> = graph.makers(at).filter(|(_, kind)| kind.is_flow()).map(|(maker, _)| maker).collect();
            let (all, is_cut) = graph.origins(asked.clone(), at, usize::MAX);
            prop_assert!(!is_cut);
            prop_assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
            let behind = closure(&flow, at);
            prop_assert!(all.iter().all(|step| *step < at && behind.contains(step)));
            // Each maker of before is one.
            prop_assert!(asked.iter().filter(|step| **step < at).all(|step| all.contains(step)));
            // Without steps that wait there is nothing that can be too late.
            if flow.iter().all(|(user, maker, _)| maker < user) {
                prop_assert_eq!(all.len() + 1, behind.len());
                prop_assert!(all.is_sorted_by(|one, other| one > other));
            }
            let (some, is_cut) = graph.origins(asked, at, limit);
            prop_assert_eq!(&some[..], &all[..limit.min(all.len())]);
            prop_assert_eq!(is_cut, all.len() > limit);
        }
    }

    #[test]
    fn what_a_function_is_given_does_not_come_from_what_it_returns() {
        // 1: `y = 3`; 2: `x = f(y)`; 3: the entry of `f`, 4: `return n + 1`; 5: `print(x)`.
        let graph = graph(5, &[(2, 1), (3, 2), (4, 3), (2, 4), (5, 2)]);
        let steps = |steps: &[u32]| steps.iter().copied().map(Step).collect::<Vec<_>>();
        assert_eq!(graph.origins([Step(3)], Step(4), 10), (steps(&[3, 2, 1]), false));
        assert_eq!(graph.origins([Step(2)], Step(5), 10), (steps(&[2, 4, 3, 1]), false));
        assert_eq!(graph.origins([Step(2)], Step(5), 2), (steps(&[2, 4]), true));
        assert_eq!(graph.origins([Step::START], Step(5), 2), (steps(&[]), false));
    }

    #[test]
    fn a_step_in_a_loop_takes_few_bytes() {
        // `for (...) sum += a[i];`: the test, the addition and the increment.
        let mut notes = Notes::default();
        for number in 0..10_000_u32 {
            let at = 3 * number;
            notes.step(Step(at.saturating_sub(2)));
            notes.uses(Step(at + 1), Step(at), Kind::Data);
            notes.step(Step(at + 1));
            notes.uses(Step(at + 2), Step(at), Kind::Address);
            notes.uses(Step(at + 2), Step(at.saturating_sub(1)), Kind::Data);
            notes.uses(Step(at + 2), Step(at.saturating_sub(1)), Kind::Data);
            notes.step(Step(at + 1));
            notes.uses(Step(at + 3), Step(at), Kind::Data);
        }
        let graph = notes.pack();
        assert_eq!(
            graph.makers(Step(302)).collect::<Vec<_>>(),
            [(Step(301), Kind::Control), (Step(300), Kind::Address), (Step(299), Kind::Data)]
        );
        assert_eq!(graph.users(Step(300)).next(), Some((Step(301), Kind::Data)));
        assert!(graph.n_bytes() < 10 * 30_000, "{}", graph.n_bytes());
    }
}
