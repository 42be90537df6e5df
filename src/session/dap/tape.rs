//! A recorded run as a debugger sees it: the stack and the variables before a step, the hits of breakpoints, the writers of
//! a variable.
//!
//! The table of steps is the same in each language. What is before a step comes from a [`Past`]: [`native`] is that of C
//! programs, [`java`] that of Java programs.

use crate::expression::Expression;
use crate::expression::condition::{Condition, ConditionAnswers, INTERVAL};
use crate::recorded::ProcessRun;
use idd_trace::java::FieldId;
use idd_trace::java::memory::ValueLocation;
use idd_trace::native::NativePlayer;
use idd_trace::native::parts::VariableDivision;
use idd_trace::writes::Writes;
use idd_trace::{Access, Detail, Place, Step, StepWalk, TraceError, WalkRow};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

mod java;
mod native;

/// A recorded run, and a table of its steps.
pub struct Tape {
    /// What was before each step.
    pub past: Box<dyn Past>,
    /// The places of the steps.
    pub places: Vec<Place>,
    /// The table.
    pub walk: StepWalk,
    /// The step that crashed, and the signal; 0 for an exception.
    pub crash: Option<(Step, u32)>,
    /// The threads, ascending.
    pub threads: Vec<u32>,
}

/// An activation on the stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackLevel {
    /// The function.
    pub function: Arc<str>,
    /// Where it is.
    pub place: Option<Place>,
}

/// A variable, or a part of one, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownVariable {
    /// Its name in the list.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The expression for it.
    pub expression: String,
    /// How it is divided.
    pub division: VariableDivision,
}

/// A variable whose writers can be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchedVariable {
    /// Bytes of memory: the address, and how many.
    Memory(u64, u64),
    /// A variable that is kept in a register: the number of the activation, and its name.
    Register(u64, String),
    /// A place in a process of Java; of a local also the number of the activation, else 0.
    Place(ValueLocation, u64),
}

impl WatchedVariable {
    /// Its text for a client, which may send it again.
    pub fn id(&self) -> String {
        match self {
            Self::Memory(address, size) => format!("memory:{address}:{size}"),
            Self::Register(frame, name) => format!("register:{frame}:{name}"),
            Self::Place(location, frame) => {
                let (kind, first, second) = match location {
                    ValueLocation::Local(local) => ("local", u32::from(*local), 0),
                    ValueLocation::Field(object, field) => ("field", *object, field.0),
                    ValueLocation::Static(field) => ("static", field.0, 0),
                    ValueLocation::Element(array, index) => ("element", *array, *index),
                    ValueLocation::State(object) => ("state", *object, 0),
                };
                format!("{kind}:{first}:{second}:{frame}")
            }
        }
    }

    /// Reads such a text.
    pub fn of_id(id: &str) -> Option<Self> {
        let (kind, rest) = id.split_once(':')?;
        let (first, second) = rest.split_once(':')?;
        match kind {
            "memory" => return Some(Self::Memory(first.parse().ok()?, second.parse().ok()?)),
            "register" => return Some(Self::Register(first.parse().ok()?, second.to_owned())),
            _ => {}
        }
        let (second, frame) = second.split_once(':')?;
        let (first, second): (u32, u32) = (first.parse().ok()?, second.parse().ok()?);
        let location = match kind {
            "local" => ValueLocation::Local(u16::try_from(first).ok()?),
            "field" => ValueLocation::Field(first, FieldId(second)),
            "static" => ValueLocation::Static(FieldId(first)),
            "element" => ValueLocation::Element(first, second),
            "state" => ValueLocation::State(first),
            _ => return None,
        };
        Some(Self::Place(location, frame.parse().ok()?))
    }
}

/// What an expression means: its value, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meaning {
    /// The value.
    pub value: String,
    /// Where it is; `None` for a number that was computed.
    pub target: Option<WatchedVariable>,
    /// How it is divided.
    pub division: VariableDivision,
}

/// An activation before a step.
#[derive(Debug, Clone, Copy)]
pub struct StackPosition {
    /// The step.
    pub step: Step,
    /// The level in the stack; 0 is the innermost.
    pub level: usize,
}

/// What was before each step of a run.
pub trait Past {
    /// A part of the stack before a step, the innermost activation first; and the number of all activations.
    fn stack(&mut self, step: Step, range: Range<usize>) -> Result<(Vec<StackLevel>, usize), TraceError>;

    /// The variables of the activation of a level before a step, or the global ones that it sees; `None` if there is
    /// no such level.
    fn variables(&mut self, at: StackPosition, is_global: bool) -> Result<Option<Vec<ShownVariable>>, TraceError>;

    /// The parts of a variable before a step; `None` if it has none.
    ///
    /// - `range`: the positions of those that are wanted.
    fn parts(
        &mut self,
        at: StackPosition,
        expression: &Expression,
        text: &str,
        range: Range<u64>,
    ) -> Result<Option<Vec<ShownVariable>>, TraceError>;

    /// All facts about a step.
    fn detail(&mut self, step: Step) -> Result<Option<Detail>, TraceError>;

    /// What an expression means before a step, in the activation of a level, or why it means nothing.
    fn meaning(&mut self, at: StackPosition, expression: &Expression) -> Result<Result<Meaning, String>, TraceError>;

    /// Whether a condition holds before some steps, ascending; fewer answers if it was interrupted.
    ///
    /// Cost: plays from the last checkpoint before the first of them up to the last one.
    fn test(&mut self, steps: &[Step], condition: &Condition, is_over: &dyn Fn() -> bool) -> ConditionAnswers;

    /// The steps of a range that write a variable, ascending; `None` if it was interrupted.
    ///
    /// - `range`: begins and ends where [`Writes`] has a new block.
    ///
    /// Cost: plays the range, from the last checkpoint before it; nothing if its steps do not write there. For a variable
    /// in a register, also plays up to where its function goes on after the range.
    fn writers(
        &mut self,
        walk: &StepWalk,
        target: &WatchedVariable,
        range: Range<u32>,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<Step>>, TraceError>;
}

/// Builds the table.
struct TapeBuilder<'t> {
    /// By function and statement: the number of the place.
    statements: Vec<Vec<Option<u32>>>,
    numbers: HashMap<Place, u32>,
    places: Vec<Place>,
    walk: StepWalk,
    threads: BTreeSet<u32>,
    is_over: &'t dyn Fn() -> bool,
    is_interrupted: bool,
}

impl<'t> TapeBuilder<'t> {
    fn new(is_over: &'t dyn Fn() -> bool) -> Self {
        Self {
            statements: Vec::new(),
            numbers: HashMap::new(),
            places: Vec::new(),
            walk: StepWalk::default(),
            threads: BTreeSet::new(),
            is_over,
            is_interrupted: false,
        }
    }

    /// The number of the place of a statement. It is looked up once for each statement of a function.
    ///
    /// - `place`: where a debugger stops for it, if it does.
    fn place<'p>(&mut self, function: u32, statement: u32, place: impl FnOnce() -> Option<&'p Place>) -> u32 {
        let (function, statement) = (function as usize, statement as usize);
        if let Some(Some(number)) = self.statements.get(function).and_then(|known| known.get(statement)) {
            return *number;
        }
        let place = place().filter(|place| statement != 0 && place.line != 0);
        let next = u32::try_from(self.places.len()).unwrap_or(WalkRow::NOWHERE);
        let number = place.map_or(WalkRow::NOWHERE, |place| *self.numbers.entry(place.clone()).or_insert(next));
        if let Some(place) = place.filter(|_| number == next) {
            self.places.push(place.clone());
        }
        if self.statements.len() <= function {
            self.statements.resize(function + 1, Vec::new());
        }
        let known = &mut self.statements[function];
        if known.len() <= statement {
            known.resize(statement + 1, None);
        }
        known[statement] = Some(number);
        number
    }

    /// Takes the next step down.
    ///
    /// - `frame`, `depth`: the number of its activation, and of all on the stack.
    fn step(&mut self, place: u32, frame: u64, depth: usize, thread: u32) {
        let n_steps = u32::try_from(self.walk.rows.len() + 1).unwrap_or(u32::MAX);
        if n_steps.is_multiple_of(INTERVAL) && (self.is_over)() {
            self.is_interrupted = true;
        }
        let short = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        if self.walk.rows.last().is_none_or(|row| row.thread != thread) {
            self.threads.insert(thread);
        }
        self.walk.rows.push(WalkRow { place, frame: short(frame), depth: short(depth as u64), thread });
    }

    /// The tape; `None` if it was interrupted.
    fn end(self, past: Box<dyn Past>, crash: Option<(Step, u32)>) -> Option<Tape> {
        let Self { places, walk, threads, is_interrupted, .. } = self;
        let threads = threads.into_iter().collect();
        (!is_interrupted).then_some(Tape { past, places, walk, crash, threads })
    }
}

impl Tape {
    /// Reads a run; `None` if it was interrupted.
    ///
    /// - `is_over`: whether nobody waits for it any longer; asked often.
    ///
    /// Cost: plays the whole run once, twice for Java. The table takes 16 bytes for each step.
    pub fn new(run: ProcessRun, is_over: &dyn Fn() -> bool) -> Result<Option<Self>, TraceError> {
        match run {
            ProcessRun::Native(player) => Self::read(*player, Writes::default(), is_over),
            ProcessRun::Java(player) => java::read(*player, TapeBuilder::new(is_over)),
        }
    }

    /// The same for a C program, with an index of writes that is empty.
    pub(super) fn read(
        player: NativePlayer,
        writes: Writes,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Option<Self>, TraceError> {
        native::read(player, writes, TapeBuilder::new(is_over))
    }

    /// The number of all steps.
    pub fn n_steps(&self) -> u32 {
        u32::try_from(self.walk.rows.len()).unwrap_or(u32::MAX)
    }

    /// The place of a step.
    pub fn place(&self, step: Step) -> Option<&Place> {
        self.places.get(self.walk.row(step)?.place as usize)
    }
}

/// Where an access of a step is, if it has an address.
pub fn target(access: &Access) -> Option<WatchedVariable> {
    (access.size > 0).then_some(WatchedVariable::Memory(access.address, access.size))
}
