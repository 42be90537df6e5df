//! The dynamic dependence graph of a run. Its nodes are steps. Each has edges to the steps on which it depends; effects
//! are found by a pass over all steps in order.
//!
//! There are three kinds of edges: data, address and control. The module does not know how programs are recorded: the
//! player adds steps and uses in order ([`Notes`]), and packs the graph at the end.
//!
//! Source of the terms: Ferrante, Ottenstein and Warren 1987; Korel and Laski 1988, "Dynamic Program Slicing".

use std::collections::{BTreeMap, HashMap};
use std::io;

use crate::rows::{self, EdgeRow, RowPlaces, Rows, code, push};
use crate::spool::Spool;
use crate::{Step, Steps};

/// The number of last uses of a step among which duplicates are searched.
const MAX_COMPARED: usize = 16;

/// How a step depends on another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DependenceKind {
    /// Data: it uses a value that the other step computed.
    Data = 0,
    /// Address: it uses a value of the other step only to compute an address.
    Address = 1,
    /// Control: the other step is the decision because of which it runs, or the call of its function.
    Control = 2,
    /// Potential: the other step is a decision that could have led to another value of a variable that this step uses.
    Potential = 3,
}

impl DependenceKind {
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

/// A use by a step that had waited while later steps began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LateUse {
    user: Step,
    maker: Step,
    kind: DependenceKind,
    /// The number of steps that had begun.
    time: u32,
}

/// The dependence graph of the first steps of a run, while that is played; a watcher of each language tells it the steps and uses.
pub struct Uses {
    notes: Notes,
    until: Step,
    /// Whether all steps that are wanted were played.
    pub is_over: bool,
}

impl Uses {
    /// - `until`: the first step that is left out.
    /// - `spool`: a file for a graph that is too large for memory.
    pub fn until(until: Step, spool: Option<Spool>) -> Self {
        Self { notes: Notes::new(spool), until, is_over: until <= Step(1) }
    }

    /// For a whole run.
    pub fn all() -> Self {
        Self::until(Step(u32::MAX), None)
    }

    /// A step begins, whose control dependence is `decider`.
    #[inline]
    pub fn begins(&mut self, step: Step, decider: Step) {
        self.is_over |= step >= self.until;
        if !self.is_over {
            self.notes.step(decider);
        }
    }

    /// A step uses what another one made.
    #[inline]
    pub fn adds(&mut self, user: Step, maker: Step, kind: DependenceKind) {
        if !self.is_over {
            self.notes.uses(user, maker, kind);
        }
    }

    /// The finished graph.
    ///
    /// Errors: the file could not be written.
    pub fn pack(self) -> io::Result<Dependences> {
        self.notes.pack()
    }
}

/// A dependence graph under construction.
#[derive(Default)]
pub struct Notes {
    n_steps: u32,
    /// The rows of the steps before the current one.
    rows: rows::RowWriter,
    /// The row of the current step, and the last step in it.
    row: Vec<u8>,
    last: u32,
    /// The last uses of the current step.
    used: Vec<(Step, DependenceKind)>,
    /// In order.
    late: Vec<LateUse>,
}

impl Notes {
    /// With a file for a graph that is too large for memory; it stays in memory without one.
    pub fn new(spool: Option<Spool>) -> Self {
        Self { rows: rows::RowWriter::new(spool), ..Self::default() }
    }

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
            self.edge(decider, DependenceKind::Control);
        }
    }

    /// Adds an edge: a step that has begun uses a value of another step. Values from before the run have no edge.
    #[inline]
    pub fn uses(&mut self, user: Step, maker: Step, kind: DependenceKind) {
        if maker == Step::START
            || maker.0 > self.n_steps
            || self.used.contains(&(maker, kind)) && user.0 == self.n_steps
        {
            return;
        }
        // Other steps may have gone on since the current one began, in another thread.
        let is_early = self.late.last().is_none_or(|last| last.time != self.n_steps);
        if user.0 == self.n_steps && is_early {
            if self.used.len() < MAX_COMPARED {
                self.used.push((maker, kind));
            }
            self.edge(maker, kind);
        } else if user != Step::START && user.0 <= self.n_steps {
            let late = LateUse { user, maker, kind, time: self.n_steps };
            if self.late.last() != Some(&late) {
                self.late.push(late);
            }
        }
    }

    #[inline]
    fn edge(&mut self, maker: Step, kind: DependenceKind) {
        push(&mut self.row, code(self.last, maker, kind));
        self.last = maker.0;
    }

    /// The finished graph.
    ///
    /// Cost: a sort of the late uses.
    ///
    /// Errors: the file could not be written.
    pub fn pack(mut self) -> io::Result<Dependences> {
        self.rows.append(&self.row);
        let rows = self.rows.finish()?;
        self.late.shrink_to_fit();
        let n_late = u32::try_from(self.late.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let mut by_user: Vec<u32> = (0..n_late).collect();
        by_user.sort_by_key(|index| self.late[*index as usize].user);
        let mut waiting = Steps::new(self.n_steps);
        for late in &self.late {
            waiting.insert(late.user);
        }
        Ok(Dependences { n_steps: self.n_steps, rows, late: self.late, by_user, waiting })
    }
}

/// The dependence graph of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dependences {
    n_steps: u32,
    rows: Rows,
    /// In order: the index is the time that the slices count with.
    late: Vec<LateUse>,
    /// The indices of these by user.
    by_user: Vec<u32>,
    /// The users of these.
    waiting: Steps,
}

/// A time between two uses of a value by steps that had waited: the number of such uses before it.
pub type Clock = usize;

impl Dependences {
    /// The number of steps. Steps are numbered from 1, so it is also the number of the last step.
    pub fn n_steps(&self) -> u32 {
        self.n_steps
    }

    /// The dependences of a step: control first, then in the order of use. A `return` that the step waited for began
    /// after it.
    pub fn makers(&self, step: Step) -> impl Iterator<Item = (Step, DependenceKind)> + '_ {
        self.rows.row(step).chain(self.late_of(step).map(|(_, maker, kind)| (maker, kind)))
    }

    /// The dependences of a step that it had before later steps began. `places` keeps what was found before, for steps
    /// near each other.
    pub fn row(&self, step: Step, places: &mut RowPlaces) -> EdgeRow<'_> {
        self.rows.near(step, places)
    }

    /// The other dependences of a step, in order, each with the time of the use.
    pub fn late_of(&self, step: Step) -> impl Iterator<Item = (Clock, Step, DependenceKind)> + '_ {
        let range = if self.is_waiting(step) {
            let user = |index: &u32| self.late[*index as usize].user;
            let first = self.by_user.partition_point(|index| user(index) < step);
            let length = self.by_user[first..].iter().take_while(|index| user(index) == step).count();
            first..first + length
        } else {
            0..0
        };
        self.by_user[range].iter().map(|index| {
            let LateUse { maker, kind, .. } = self.late[*index as usize];
            (*index as usize, maker, kind)
        })
    }

    /// Whether a step has dependences from the time after later steps began.
    pub fn is_waiting(&self, step: Step) -> bool {
        self.waiting.contains(step)
    }

    /// The time when a step begins; the end for a step after the last one.
    pub fn clock(&self, step: Step) -> Clock {
        self.late.partition_point(|late| late.time < step.0)
    }

    /// The dependences of all steps before later steps began, in order, from [`Step::START`], which has none.
    pub fn rows(&self) -> impl Iterator<Item = EdgeRow<'_>> {
        self.rows.all()
    }

    /// The uses by steps that had waited, in order: for each the number of steps that had begun, the user, the maker, and
    /// the kind.
    pub fn late(&self) -> impl Iterator<Item = (u32, Step, Step, DependenceKind)> + '_ {
        self.late.iter().map(|late| (late.time, late.user, late.maker, late.kind))
    }

    /// The bytes of the graph, in memory or in a file.
    pub fn n_bytes(&self) -> usize {
        self.rows.n_bytes() + self.late.len() * (size_of::<LateUse>() + size_of::<u32>())
    }

    /// Whether most of it is in a file.
    pub fn is_on_disk(&self) -> bool {
        self.rows.is_on_disk()
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
        let mut open: BTreeMap<Step, Clock> = BTreeMap::new();
        let mut done: HashMap<Step, Clock> = HashMap::new();
        let mut found = Vec::new();
        let is_known = |step: Step| step != Step::START && step < at;
        let asked = self.clock(at);
        open.extend(makers.into_iter().filter(|maker| is_known(*maker)).map(|maker| (maker, asked)));
        while let Some((step, until)) = open.pop_last() {
            if !done.contains_key(&step) {
                if found.len() == limit {
                    return (found, true);
                }
                found.push(step);
            }
            done.insert(step, until);
            let row = self.rows.row(step).map(|(maker, kind)| (self.clock(step), maker, kind));
            let late = self.late_of(step).take_while(|(time, ..)| *time < until);
            for (until, maker, _) in row.chain(late).filter(|(_, _, kind)| kind.is_flow()) {
                if done.get(&maker).is_none_or(|before| self.is_waiting(maker) && *before < until) {
                    let open = open.entry(maker).or_insert(until);
                    *open = until.max(*open);
                }
            }
        }
        (found, false)
    }
}

/// A graph without control edges: steps, and the steps whose values they use, each as soon as it can.
#[cfg(any(test, feature = "testing"))]
#[expect(clippy::unwrap_used, reason = "only tests call this")]
pub fn graph(n_steps: u32, pairs: &[(u32, u32)]) -> Dependences {
    let mut notes = Notes::default();
    for step in 1..=n_steps {
        notes.step(Step::START);
        for (user, maker) in pairs.iter().filter(|(user, maker)| *user.max(maker) == step) {
            notes.uses(Step(*user), Step(*maker), DependenceKind::Data);
        }
    }
    notes.pack().unwrap()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// The steps of a run: the decider of each, and its uses, each after a number of further steps.
    pub type Does = (u32, Vec<(u32, u32, bool)>);

    pub fn run() -> impl Strategy<Value = Vec<Does>> {
        let uses = proptest::collection::vec((0..6_u32, 0..200_u32, any::<bool>()), 0..5);
        proptest::collection::vec((0..200_u32, uses), 1..100)
    }

    fn kind(is_address: bool) -> DependenceKind {
        if is_address { DependenceKind::Address } else { DependenceKind::Data }
    }

    /// Builds the graph of a run, and a list of the same edges, in the order in which they came.
    pub fn noted(run: &[Does]) -> (Dependences, Vec<(Step, Step, DependenceKind)>) {
        let (mut notes, mut edges) = (Notes::default(), Vec::new());
        for (step, (decider, _)) in (1..).zip(run) {
            let decider = Step(decider % step);
            notes.step(decider);
            edges.push((Step(step), decider, DependenceKind::Control));
            for (user, (_, uses)) in (1..=step).zip(run) {
                for (_, maker, is_address) in uses.iter().filter(|(after, ..)| user + after == step) {
                    let maker = Step(maker % (step + 1));
                    notes.uses(Step(user), maker, kind(*is_address));
                    edges.push((Step(user), maker, kind(*is_address)));
                }
            }
        }
        edges.retain(|(_, maker, _)| *maker != Step::START);
        (notes.pack().unwrap(), edges)
    }

    /// All reachable steps, by following each edge until no step is new.
    fn closure(edges: &BTreeSet<(Step, Step, DependenceKind)>, from: Step) -> BTreeSet<Step> {
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
        fn the_graph_is_what_was_noted_in_order(run in run()) {
            let (graph, edges) = noted(&run);
            let edges: BTreeSet<_> = edges.into_iter().collect();
            prop_assert_eq!(graph.n_steps() as usize, run.len());
            let steps = || (0..=graph.n_steps()).map(Step);
            let back: BTreeSet<_> = steps().flat_map(|user| graph.makers(user).map(move |(maker, kind)| (user, maker, kind))).collect();
            prop_assert_eq!(&back, &edges);
            let mut places = RowPlaces::default();
            for (step, row) in steps().zip(graph.rows()) {
                let row: Vec<_> = row.collect();
                prop_assert_eq!(&graph.row(step, &mut places).collect::<Vec<_>>(), &row);
                let late = graph.late_of(step).map(|(_, maker, kind)| (maker, kind));
                prop_assert_eq!(graph.makers(step).collect::<Vec<_>>(), row.into_iter().chain(late).collect::<Vec<_>>());
                prop_assert!(graph.makers(step).skip(1).all(|(_, kind)| kind.is_flow()));
            }
            prop_assert_eq!(graph.makers(Step(graph.n_steps() + 1)).count(), 0);
        }

        #[test]
        fn distances_are_those_of_brute_force(run in run(), from in 0..1000_u32) {
            let (graph, edges) = noted(&run);
            let edges: BTreeSet<_> = edges.into_iter().collect();
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
            let (some, is_cut) = graph.origins(asked, at, limit);
            prop_assert_eq!(&some[..], &all[..limit.min(all.len())]);
            prop_assert_eq!(is_cut, all.len() > limit);
        }

        #[test]
        fn origins_are_the_whole_slice_if_no_step_waited(run in run(), at in 0..1000_u32) {
            let at_once = |(decider, uses): Does| (decider, uses.into_iter().filter(|(after, ..)| *after == 0).collect());
            let (graph, edges) = noted(&run.into_iter().map(at_once).collect::<Vec<Does>>());
            prop_assert_eq!(graph.late().count(), 0);
            let at = Step(1 + at % graph.n_steps());
            let flow: BTreeSet<_> = edges.into_iter().filter(|(_, _, kind)| kind.is_flow()).collect();
            let asked = graph.makers(at).filter(|(_, kind)| kind.is_flow()).map(|(maker, _)| maker);
            let (all, _) = graph.origins(asked, at, usize::MAX);
            let behind = closure(&flow, at).into_iter().rev().filter(|step| *step != at);
            prop_assert_eq!(all, behind.collect::<Vec<_>>());
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
            notes.uses(Step(at + 1), Step(at), DependenceKind::Data);
            notes.step(Step(at + 1));
            notes.uses(Step(at + 2), Step(at), DependenceKind::Address);
            notes.uses(Step(at + 2), Step(at.saturating_sub(1)), DependenceKind::Data);
            notes.uses(Step(at + 2), Step(at.saturating_sub(1)), DependenceKind::Data);
            notes.step(Step(at + 1));
            notes.uses(Step(at + 3), Step(at), DependenceKind::Data);
        }
        let graph = notes.pack().unwrap();
        assert_eq!(
            graph.makers(Step(302)).collect::<Vec<_>>(),
            [
                (Step(301), DependenceKind::Control),
                (Step(300), DependenceKind::Address),
                (Step(299), DependenceKind::Data)
            ]
        );
        assert!(graph.n_bytes() < 6 * 30_000, "{}", graph.n_bytes());
    }
}
