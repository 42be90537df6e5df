//! The failing run and its reference as the engines of the [chain](crate::chain) see them: points, faulty states, causality tests.
//!
//! A causality test is a fork of the failing program, parked at the point: what is not retained is overwritten with what the reference holds there, the
//! fork runs on and tells its records, and those are played from the state at the point on. So the steps of the fork have indices like all
//! others, and what it wrote has a definition. Source: Sumner and Zhang, definition 5; the fork server stands for their re-execution under a debugger.
//!
//! Points are right before steps that both runs have; the entry of a function is none, because its arguments are in no variable yet. A value that the
//! reference holds in an object which the failing run does not have cannot be put there: such a variable counts as retained ([`Causality::n_unpatched`]).

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use thiserror::Error;

use crate::align::Alignment;
use crate::chain::{AlignedPoint, CausalityTest, Definition, Executions, Goal, PathVariable};
use crate::failure::{self, RunEnding, RunFailure};
use crate::native::align::objects::RunSide;
use crate::native::align::state::{self, Cell, LearnedState};
use crate::native::recorded::NativeRecorded;
use crate::native::returns::{self, CallReturn};
use idd_trace::native::heap::HeapBlock;
use idd_trace::native::{NativeCall, NativeFrame, NativeMachine, Watch, run};
use idd_trace::{Index, ObservableCall, Revealed, Run, Step, TraceError};

/// Who "wrote" what was overwritten: no step of any run.
const PATCHED: Step = Step(u32::MAX - 1);

/// States that are kept at least and at the most.
const N_STATES: (usize, usize) = (8, 64);

/// Bytes of memory that they may take, if more than the least are kept and they share nothing.
const MAX_BYTES: usize = 512 << 20;

/// Points that are asked where values may be pending.
const MAX_AROUND: usize = 32;

/// Points of one function that are asked before its return, or before a step in it.
const MAX_IN_FRAME: usize = 6;

/// Activations that are asked where the runs part.
const MAX_ACTIVATIONS: usize = 8;

/// Steps that are looked at for them.
const MAX_LOOKED: u32 = 10_000;

/// A fork may run so many times as long as the failing run did, and so many segments more.
const PATIENCE: (u64, u64) = (2, 2000);

/// What a fork is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkOrder {
    /// Records of the failing run before it is forked.
    pub n_records: u64,
    /// What is overwritten.
    pub patches: Vec<(u64, Vec<u8>)>,
    /// Segments that it may run.
    pub budget: u64,
}

/// What a fork did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkRun {
    /// How it ended; also what was ended because its budget was used up is [`RunEnding::Endless`]. `None` if it could not run.
    pub ending: Option<RunEnding>,
    /// Its records.
    pub records: Vec<u8>,
}

/// Forks of the failing program.
pub trait Forks {
    /// What makes them impossible.
    type Error;

    /// Runs a fork.
    fn run(&mut self, order: &ForkOrder) -> Result<ForkRun, Self::Error>;

    /// Whether no further fork can be run, because the time is up or somebody stopped the work.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// Why causality cannot be tested.
#[derive(Debug, Error)]
pub enum CausalityError<E> {
    /// A trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A fork cannot be run.
    #[error("{0}")]
    Fork(E),
    /// The forks were stopped.
    #[error("the search for the chain was stopped")]
    Stopped,
}

/// The faulty state at a point.
pub struct FaultyState {
    /// What differs, in the order in which it is tried.
    pub cells: Vec<(Definition, Cell)>,
    /// What differs and cannot be overwritten: it points to something that the failing run does not have.
    pub unpatched: Vec<Cell>,
    machine: NativeMachine,
}

impl FaultyState {
    /// What the failing run holds in a byte, and who wrote it.
    pub fn byte(&self, address: u64) -> Option<(u8, Step)> {
        self.machine.memory.word(address, 1).map(|(byte, writer)| (byte.to_le_bytes()[0], writer))
    }

    /// The block of the heap that an address is in, in the failing run.
    pub fn block(&self, address: u64) -> Option<HeapBlock> {
        self.machine.heap.find(address)
    }
}

/// Where the failing run kept a value that the reference overwrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Omission {
    /// The last decision or call around it that the failing run has; it may have gone another way.
    pub decision: Step,
    /// How many steps of the failing run had begun then.
    pub time: u64,
    /// The step that wrote elsewhere, or that is there instead; where one is missing, the one of the same function that comes next in both runs, else the one before.
    pub place: Option<Step>,
    /// Whether it is left out of an arm of the decision in which the failing run does nothing.
    pub is_arm_empty: bool,
}

/// Both runs, and forks of the failing one.
pub struct Causality<F: Forks> {
    failing: NativeRecorded,
    reference: NativeRecorded,
    alignment: Alignment,
    failure: RunFailure,
    forks: F,
    points: Vec<(Step, Step)>,
    /// By step of the failing run.
    point_of: HashMap<u32, AlignedPoint>,
    variables: HashMap<(u64, u64), PathVariable>,
    places: Vec<(u64, u64)>,
    states: Vec<(AlignedPoint, Rc<FaultyState>)>,
    known: LearnedState,
    /// Forks run so far.
    pub n_forks: u64,
    /// States compared so far.
    pub n_states: u64,
    /// Faulty variables that could not be overwritten, at the most of all points.
    pub n_unpatched: usize,
}

impl<F: Forks> Causality<F> {
    /// Begins with two runs that were recorded and aligned.
    pub fn new(
        failing: NativeRecorded,
        reference: NativeRecorded,
        alignment: Alignment,
        failure: RunFailure,
        forks: F,
    ) -> Self {
        let is_point =
            |(step, _): &&(Step, Step)| !failing.run.entries[step.0 as usize] && u64::from(step.0) <= failure.time;
        let points: Vec<(Step, Step)> = alignment.pairs.iter().filter(is_point).copied().collect();
        let point_of = (0..).zip(&points).map(|(point, (step, _))| (step.0, AlignedPoint(point))).collect();
        Self {
            failing,
            reference,
            alignment,
            failure,
            forks,
            points,
            point_of,
            variables: HashMap::new(),
            places: Vec::new(),
            states: Vec::new(),
            known: LearnedState::default(),
            n_forks: 0,
            n_states: 0,
            n_unpatched: 0,
        }
    }

    /// The failing run.
    pub fn failing(&mut self) -> &mut NativeRecorded {
        &mut self.failing
    }

    /// The reference.
    pub fn reference(&mut self) -> &mut NativeRecorded {
        &mut self.reference
    }

    /// Which steps correspond.
    pub fn alignment(&self) -> &Alignment {
        &self.alignment
    }

    /// The failure.
    pub fn failure(&self) -> &RunFailure {
        &self.failure
    }

    /// The steps of both runs right before which a point is.
    pub fn steps(&self, point: AlignedPoint) -> (Step, Step) {
        self.points[point.0 as usize]
    }

    /// The last point up to right before a step.
    pub fn point_until(&self, step: Step) -> Option<AlignedPoint> {
        let index = self.points.partition_point(|(at, _)| *at <= step).checked_sub(1)?;
        u32::try_from(index).ok().map(AlignedPoint)
    }

    /// The faulty state at a point; variables that were written later come first.
    pub fn state(&mut self, point: AlignedPoint) -> Result<Rc<FaultyState>, CausalityError<F::Error>> {
        if let Some((_, state)) = self.states.iter().find(|(other, _)| *other == point) {
            return Ok(Rc::clone(state));
        }
        let (step, other) = self.points[point.0 as usize];
        let n_records = self.failing.run.records[step.0 as usize];
        self.failing.player.seek(n_records)?;
        self.reference.player.seek(self.reference.run.records[other.0 as usize])?;
        let side = |recorded: &'_ NativeRecorded| {
            let mut machine = recorded.player.machine.clone();
            for Revealed { address, bytes, length, writer } in &recorded.run.revealed {
                machine.memory.reveal(*address, &bytes[..usize::from(*length)], *writer);
            }
            machine
        };
        let (machine, other_machine) = (side(&self.failing), side(&self.reference));
        let found = state::faulty(
            RunSide { machine: &machine },
            RunSide { machine: &other_machine },
            &self.alignment,
            &mut self.known,
        );
        self.n_states += 1;
        let (found, unpatched): (Vec<Cell>, Vec<Cell>) = found.into_iter().partition(|cell| cell.reference.is_some());
        self.n_unpatched = self.n_unpatched.max(unpatched.len());
        let mut cells = Vec::new();
        for cell in found {
            let time = self.failing.run.time(cell.writer, cell.address, n_records);
            let variable = self.variable(cell.address, cell.length);
            cells.push((Definition { time, variable }, cell));
        }
        cells.sort_by_key(|(definition, _)| Reverse(definition.time));
        let state = Rc::new(FaultyState { cells, unpatched, machine });
        self.states.push((point, Rc::clone(&state)));
        let bytes = |(_, state): &(AlignedPoint, Rc<FaultyState>)| {
            let (n_pages, page) = state.machine.memory.n_pages();
            n_pages * page + (state.cells.len() + state.unpatched.len()) * size_of::<(Definition, Cell)>()
        };
        let mut n_bytes: usize = self.states.iter().map(bytes).sum();
        while self.states.len() > N_STATES.0 && (self.states.len() > N_STATES.1 || n_bytes > MAX_BYTES) {
            n_bytes -= bytes(&self.states.remove(0));
        }
        Ok(state)
    }

    fn variable(&mut self, address: u64, length: u64) -> PathVariable {
        let next = PathVariable(u32::try_from(self.places.len()).expect("there is less memory than 4 G variables"));
        let variable = *self.variables.entry((address, length)).or_insert(next);
        if variable == next {
            self.places.push((address, length));
        }
        variable
    }

    /// What a step that is not in the reference runs because of: the last decision around it that is, and that went another way.
    pub fn decision(&self, step: Step) -> Option<Step> {
        let mut at = step;
        while at != Step::START {
            if self.alignment.reference(at).is_some() {
                return (at != step).then_some(at);
            }
            at = Step(self.failing.run.deciders[at.0 as usize]);
        }
        None
    }

    /// Where the failing run kept a value that the reference overwrote; `None` if it wrote it later than that.
    pub fn omission(&self, definition: Definition, cell: &Cell) -> Option<Omission> {
        let step = cell.reference_writer;
        // Steps of several threads have no order in common with those of the reference.
        if step == Step::START || self.reference.run.n_threads > 1 {
            return None;
        }
        if let Some(same) = self.alignment.failing(step) {
            // It wrote elsewhere.
            let time = self.failing.run.falls(same);
            let is_later = same != cell.writer && time > definition.time;
            return is_later.then_some(Omission { decision: same, time, place: Some(same), is_arm_empty: false });
        }
        let gap = self.gap(step);
        (gap.time >= definition.time).then_some(gap)
    }

    /// Where the failing run leaves out a step of the reference that it does not have.
    pub fn gap(&self, step: Step) -> Omission {
        let Run { callers, deciders, .. } = &self.reference.run;
        let pairs = &self.alignment.pairs;
        let decider = |step: Step| Step(deciders[step.0 as usize]);
        let is_missing = |step: &Step| *step != Step::START && self.alignment.failing(*step).is_none();
        let around = std::iter::successors(Some(step), |step| Some(decider(*step)).filter(is_missing));
        let step = around.last().unwrap_or(step);
        let decision = failure::parting(step, &self.reference.run, &self.alignment);
        let next = pairs.partition_point(|(_, other)| *other < step);
        let is_here = |(_, other): &&(Step, Step)| callers[other.0 as usize] == callers[step.0 as usize];
        let is_in_arm = |pair: &&(Step, Step)| is_here(pair) && decider(pair.1) == decider(step);
        let (behind, before) = (&pairs[next..], &pairs[..next]);
        let in_arm = behind.iter().find(is_in_arm).or_else(|| before.iter().rev().find(is_in_arm));
        let place = in_arm.or_else(|| behind.iter().find(is_here)).or_else(|| before.iter().rev().find(is_here));
        let place = place.map(|(step, _)| *step);
        // What only the failing run does there stands for it.
        let last = before.last().map_or(Step::START, |(step, _)| *step);
        let end = behind.first().map_or(self.failing.run.n_steps() + 1, |(step, _)| step.0);
        let Run { callers: ours, deciders: our_deciders, .. } = &self.failing.run;
        let is_beside = |step: &u32| place.is_some_and(|place| ours[*step as usize] == ours[place.0 as usize]);
        let instead = (last.0 + 1..end).find(is_beside).map(Step);
        let is_decision = decider(step).0 != callers[step.0 as usize];
        let is_decided = |step: Step| our_deciders[step.0 as usize] == decision.0;
        Omission {
            decision,
            time: u64::from(last.0),
            place: instead.or(place),
            is_arm_empty: is_decision && in_arm.is_none() && !instead.is_some_and(is_decided),
        }
    }

    /// Where the runs part before a step: the last steps that both have in the same activation, and in those that called it, before the runs do something else there; and what the
    /// failing run does then. Each of the last common steps has the next ones of both runs.
    ///
    /// Cost: looks at each step between the call of each of [`MAX_ACTIVATIONS`] activations and the step.
    pub fn partings(&self, step: Step) -> HashMap<Step, Option<(Step, Step)>> {
        let mut found = HashMap::new();
        let mut last = step;
        for _ in 0..MAX_ACTIVATIONS {
            if last == Step::START {
                break;
            }
            let caller = Step(self.failing.run.callers[last.0 as usize]);
            if let Some(other) = self.alignment.reference(caller).or((caller == Step::START).then_some(Step::START)) {
                let until = self.alignment.reference(last).map_or(u32::MAX, |step| step.0);
                let ours = activation(&self.failing.run, caller, last.0);
                let theirs: HashMap<u32, u32> =
                    activation(&self.reference.run, other, until).windows(2).map(|pair| (pair[0], pair[1])).collect();
                for pair in ours.windows(2).map(|pair| (Step(pair[0]), Step(pair[1]))) {
                    let Some(same) = self.alignment.reference(pair.0) else { continue };
                    let (next, other) = (self.alignment.reference(pair.1), theirs.get(&same.0).copied().map(Step));
                    if next.is_none() || other.is_some() && other != next {
                        found.entry(pair.1).or_insert(None);
                        found.insert(pair.0, other.map(|other| (pair.1, other)));
                    }
                }
            }
            last = caller;
        }
        found
    }

    /// Calls behind a step that returned something else than in the reference, with what they returned there, before so many steps had begun.
    pub fn returns(&mut self, step: Step, before: u64) -> Result<Vec<(CallReturn, CallReturn)>, TraceError> {
        returns::differing(&mut self.failing, &mut self.reference, &self.alignment, step, before)
    }

    /// Adds the last points of the function up to a step in it: what the step uses, or returns, may have been computed before it.
    fn extend_with_frame(&self, last: Step, points: &mut Vec<AlignedPoint>) {
        let callers = &self.failing.run.callers;
        let caller = callers[last.0 as usize];
        let first = caller.saturating_add(1).max(last.0.saturating_sub(MAX_LOOKED));
        let is_here = |step: &u32| callers[*step as usize] == caller;
        let steps = (first..=last.0).rev().filter(is_here);
        points.extend(steps.filter_map(|step| self.point_of.get(&step).copied()).take(MAX_IN_FRAME));
    }

    /// An error if the forks are stopped: states of long runs take time, too.
    fn go_on(&self) -> Result<(), CausalityError<F::Error>> {
        if self.forks.is_stopped() { Err(CausalityError::Stopped) } else { Ok(()) }
    }

    fn test(&mut self, test: &CausalityTest) -> Result<bool, CausalityError<F::Error>> {
        self.go_on()?;
        let state = self.state(test.point)?;
        let from = self.points[test.point.0 as usize].0;
        let n_before = self.failing.run.records[from.0 as usize];
        let retained: HashSet<Definition> = test.retained.iter().copied().collect();
        let mut machine = state.machine.clone();
        let mut patches = Vec::new();
        for (definition, cell) in state.cells.iter().filter(|(definition, _)| !retained.contains(definition)) {
            debug_assert!(definition.time <= u64::from(from.0), "a state holds what was written before");
            let Some(reference) = &cell.reference else { continue };
            machine.overwrite(cell.address, reference, PATCHED);
            if *reference != cell.bytes {
                patches.push((cell.address, reference.clone()));
            }
        }
        let (mut until, mut goal, mut wanted) = (self.failing.run.n_records, None, Vec::new());
        if let Goal::Set { point, definitions } = &test.goal {
            let step = self.points[point.0 as usize].0.0 as usize;
            (until, goal) = (self.failing.run.records[step], Some(self.failing.run.indices[step]));
            let later = self.state(*point)?;
            for definition in definitions {
                let Some((_, cell)) = later.cells.iter().find(|(other, _)| other == definition) else {
                    return Ok(false);
                };
                wanted.push(WantedValue { address: cell.address, bytes: cell.bytes.clone(), writer: cell.writer });
            }
        }
        let budget = until.saturating_sub(n_before).saturating_mul(PATIENCE.0) + PATIENCE.1;
        let order = ForkOrder { n_records: n_before, patches, budget };
        self.n_forks += 1;
        let ran = match self.forks.run(&order) {
            // What a fork does that is cut off is no answer.
            _ if self.forks.is_stopped() => return Err(CausalityError::Stopped),
            ran => ran.map_err(CausalityError::Fork)?,
        };
        let Some(ending) = ran.ending else { return Ok(false) };
        let mut fork = PlayedFork {
            run: &self.failing.run,
            goal,
            wanted,
            is_there: false,
            first: machine.n_steps,
            indices: Vec::new(),
            said: Vec::new(),
            is_induced: None,
        };
        match self.failing.player.feed(&mut machine, &ran.records, &mut fork) {
            // A patched program may write anywhere, also over its own records: what it brought about is not known.
            Err(TraceError::Damaged(_)) => return Ok(false),
            fed => fed?,
        }
        if fork.goal.is_some() {
            return Ok(fork.is_induced == Some(true));
        }
        fork.told(&machine, run::last_words(&machine));
        let n_said = self.failing.run.said.partition_point(|said| said.step < from);
        // The record of a crash may be taken for executed, so that its function was left.
        let lasts = [machine.frame().map_or(0, index), fork.indices.last().copied().unwrap_or(0)];
        let is_seen = |last| self.failure.is_seen(&self.failing.run, &fork.said, n_said, ending, last);
        Ok(lasts.into_iter().any(is_seen))
    }
}

/// The steps of an activation, by the step that called it, up to one of them.
fn activation(run: &Run, caller: Step, until: u32) -> Vec<u32> {
    let end = run.n_steps().min(until);
    let inside = (caller.0 + 1..=end).take_while(|step| run.callers[*step as usize] >= caller.0);
    inside.filter(|step| run.callers[*step as usize] == caller.0).collect()
}

impl<F: Forks> Executions for Causality<F> {
    type Error = CausalityError<F::Error>;

    fn n_points(&self) -> usize {
        self.points.len()
    }

    fn position(&self, point: AlignedPoint) -> u64 {
        u64::from(self.points[point.0 as usize].0.0)
    }

    fn is_stopped(&self) -> bool {
        self.forks.is_stopped()
    }

    fn faulty(&mut self, point: AlignedPoint) -> Result<Vec<Definition>, Self::Error> {
        self.go_on()?;
        Ok(self.state(point)?.cells.iter().map(|(definition, _)| *definition).collect())
    }

    fn induce(&mut self, test: &CausalityTest) -> Result<bool, Self::Error> {
        self.test(test)
    }

    fn parent(&self, point: AlignedPoint) -> Option<AlignedPoint> {
        let mut step = self.points[point.0 as usize].0.0;
        while step != 0 {
            step = self.failing.run.leaders[step as usize];
            if let Some(parent) = self.point_of.get(&step) {
                return Some(*parent);
            }
        }
        None
    }

    fn around(&mut self, point: AlignedPoint) -> Result<Vec<AlignedPoint>, Self::Error> {
        let mut found = Vec::new();
        let here = self.points[point.0 as usize].0;
        let mut step = here;
        // What `&&`, `||` and `?:` came to waits for no call, but in no variable either.
        self.extend_with_frame(here, &mut found);
        while step != Step::START {
            let differing = self.returns(step, u64::from(here.0))?;
            for (ours, _) in differing {
                self.extend_with_frame(ours.step, &mut found);
            }
            step = Step(self.failing.run.callers[step.0 as usize]);
            found.extend(self.point_of.get(&step.0).copied());
        }
        found.retain(|other| *other < point);
        found.sort_unstable();
        found.dedup();
        found.reverse();
        found.truncate(MAX_AROUND);
        Ok(found)
    }
}

/// The index of the step of a frame, as [`Run::indices`] has it.
fn index(frame: &NativeFrame) -> u64 {
    frame.index().map_or(0, |Index(index)| index.max(1))
}

/// What a variable has to hold.
struct WantedValue {
    address: u64,
    bytes: Vec<u8>,
    writer: Step,
}

struct PlayedFork<'f> {
    run: &'f Run,
    /// The index of the step before which the goal is looked for; `None` for the failure.
    goal: Option<u64>,
    /// What has to be held there, without what was seen to be.
    wanted: Vec<WantedValue>,
    is_there: bool,
    /// Steps before the fork's first one.
    first: u32,
    indices: Vec<u64>,
    said: Vec<(ObservableCall, u64)>,
    is_induced: Option<bool>,
}

impl PlayedFork<'_> {
    fn told(&mut self, machine: &NativeMachine, said: Option<ObservableCall>) {
        let index = machine.frame().map_or(0, index);
        self.said.extend(said.map(|said| (said, index)));
    }

    /// Whether a variable holds what it has to; `None` if the right step left it, and its bytes are not known before they are read.
    fn holds(&self, machine: &NativeMachine, wanted: &WantedValue) -> Option<bool> {
        if let Some(held) = machine.cell(wanted.address, wanted.bytes.len() as u64) {
            return Some(held.bytes == wanted.bytes && self.is_step(held.writer, wanted.writer));
        }
        let mut is_left = true;
        let writer = |writer| is_left &= self.is_step(writer, wanted.writer);
        machine.memory.writers(wanted.address, wanted.bytes.len() as u64, writer);
        if is_left { None } else { Some(false) }
    }

    /// Whether a step of the fork is one of the failing run.
    fn is_step(&self, step: Step, wanted: Step) -> bool {
        if step.0 <= self.first || step == PATCHED {
            return step == wanted;
        }
        let index = self.indices.get((step.0 - self.first - 1) as usize);
        index.is_some_and(|index| *index != 0 && *index == self.run.indices[wanted.0 as usize])
    }

    /// Looks at what is still wanted.
    fn look(&mut self, machine: &NativeMachine) {
        let mut wanted = std::mem::take(&mut self.wanted);
        let mut is_lost = false;
        wanted.retain(|wanted| match self.holds(machine, wanted) {
            Some(holds) => {
                is_lost |= !holds;
                false
            }
            None => true,
        });
        if is_lost || wanted.is_empty() {
            self.is_induced = Some(!is_lost);
        }
        self.wanted = wanted;
    }
}

impl Watch for PlayedFork<'_> {
    fn step(&mut self, machine: &NativeMachine) {
        let index = machine.frame().map_or(0, index);
        self.is_there |= self.goal == Some(index);
        if self.is_there && self.is_induced.is_none() {
            self.look(machine);
        }
        self.indices.push(index);
    }

    fn reads(&mut self, machine: &NativeMachine, _step: Step, _address: u64, _bytes: &[u8]) {
        if self.is_there && self.is_induced.is_none() {
            self.look(machine);
        }
    }

    fn called(&mut self, machine: &NativeMachine, call: &NativeCall, arguments: &[Option<u64>], result: Option<u64>) {
        if self.goal.is_none() {
            self.told(machine, run::said(machine, call, arguments, result));
        }
    }

    fn is_done(&self) -> bool {
        self.is_induced.is_some()
    }
}

#[cfg(test)]
mod tests {
    use crate::chain::{CausalityTest, Executions as _, Goal};
    use crate::failure::RunEnding;
    use crate::native::stored::causality;
    use idd_trace::native::stored::step;

    #[test]
    fn a_state_holds_what_differs_the_last_written_first() {
        let mut causality = causality("list", RunEnding::Exit(0));
        let inside = step(&mut causality.failing().player, 17, 2);
        let point = causality.point_until(inside).unwrap();
        assert_eq!(causality.steps(point), (inside, inside));
        let state = causality.state(point).unwrap();
        let cells = state.cells.iter().map(|(definition, cell)| (definition.time, &*cell.path, cell.shown.clone()));
        let shown = |ours: &str, theirs: &str| (ours.to_owned(), theirs.to_owned());
        let expected = [
            (30, "sum", shown("9", "8")),
            (12, "main.list->next->value", shown("4", "3")),
            (0, "weights[1]", shown("4", "3")),
        ];
        assert!(cells.eq(expected));
        assert!(state.unpatched.is_empty());
        assert_eq!(state.byte(state.cells[1].1.address).map(|(byte, _)| byte), Some(4));
    }

    #[test]
    fn a_fork_that_does_as_before_shows_the_failure_and_what_it_did_not_write_is_overwritten() {
        let mut causality = causality("list", RunEnding::Exit(0));
        let failing = &mut causality.failing().player;
        let (early, late) = (step(failing, 17, 0), step(failing, 17, 2));
        let (point, later) = (causality.point_until(early).unwrap(), causality.point_until(late).unwrap());
        let definitions = causality.faulty(later).unwrap();
        let kept = definitions.iter().copied().filter(|definition| definition.time > 0).collect::<Vec<_>>();
        let induces = |causality: &mut crate::native::causality::Causality<_>, retained, goal| {
            causality.induce(&CausalityTest { point, retained, goal }).unwrap()
        };
        assert!(induces(&mut causality, Vec::new(), Goal::Failure));
        let set = |definitions: &[_]| Goal::Set { point: later, definitions: definitions.to_vec() };
        assert_eq!(kept.len(), 2);
        assert!(induces(&mut causality, kept.clone(), set(&kept)));
        // Nothing writes the initial value again.
        assert!(!induces(&mut causality, kept, set(&definitions)));
        assert_eq!(causality.n_forks, 3);
    }
}
