//! A recorded run as a debugger sees it: the stack and the variables before a step, the hits of breakpoints, the writers of
//! a variable.

use crate::trace::TraceError;
use crate::trace::native::detail;
use crate::trace::native::detail::Access;
use crate::trace::native::detail::Detail;
use crate::trace::native::fault::Crash;
use crate::trace::native::frame::Frame;
use crate::trace::native::globals::Globals;
use crate::trace::native::machine::Machine;
use crate::trace::native::machine::Watch;
use crate::trace::native::object::View;
use crate::trace::native::play::Player;
use crate::trace::native::visit::before_step;
use crate::trace::place::Place;
use crate::trace::step::Step;
use crate::trace::walk::Row;
use crate::trace::walk::Walk;
use std::collections::HashMap;
use std::sync::Arc;

/// A recorded run, and a table of its steps.
pub struct Tape {
    player: Player,
    /// The places of the steps.
    pub places: Vec<Place>,
    /// The table.
    pub walk: Walk,
    /// The step that crashed, and the signal.
    pub crash: Option<(Step, u32)>,
}

/// An activation on the stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// The function.
    pub function: Arc<str>,
    /// Where it is.
    pub place: Option<Place>,
    /// Its visible variables: name and value.
    pub variables: Vec<(Arc<str>, String)>,
}

/// A variable whose writers can be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Bytes of memory: the address, and how many.
    Memory(u64, u64),
    /// A variable that is kept in a register: the number of the activation, and its name.
    Register(u64, String),
}

/// What an expression means: its value, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meaning {
    /// The value.
    pub value: String,
    /// Where it is.
    pub target: Target,
}

/// Builds the table.
#[derive(Default)]
struct Table {
    numbers: HashMap<Place, u32>,
    places: Vec<Place>,
    walk: Walk,
    crash: Option<(Step, u32)>,
}

impl Watch for Table {
    fn step(&mut self, machine: &Machine) {
        let Some(frame) = machine.frame() else { return };
        let place = frame.place().filter(|place| frame.statement != 0 && place.line != 0);
        let place = place.map_or(Row::NOWHERE, |place| {
            if let Some(number) = self.numbers.get(place) {
                return *number;
            }
            let number = u32::try_from(self.places.len()).unwrap_or(Row::NOWHERE);
            self.places.push(place.clone());
            self.numbers.insert(place.clone(), number);
            number
        });
        let short = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let depth = short(machine.frames.len() as u64);
        self.walk.rows.push(Row { place, frame: short(frame.number), depth, thread: machine.thread });
    }

    fn crashes(&mut self, machine: &Machine, crash: &Crash) {
        if let Some(frame) = machine.frame() {
            self.crash = Some((frame.step, crash.signal));
        }
    }
}

/// Evaluates an expression at given steps.
struct Values<'t> {
    player: (&'t Globals, &'t [u8]),
    /// Ascending.
    steps: &'t [Step],
    expression: &'t str,
    found: Vec<Option<String>>,
}

impl Watch for Values<'_> {
    fn step(&mut self, machine: &Machine) {
        if self.steps.get(self.found.len()).is_some_and(|step| step.0 == machine.n_steps) {
            let view = View { machine, globals: self.player.0, words: self.player.1 };
            let value = machine.frame().and_then(|frame| Some(view.show(&view.named_by(frame, self.expression)?)));
            self.found.push(value);
        }
    }

    fn is_done(&self) -> bool {
        self.found.len() == self.steps.len()
    }
}

/// Collects the steps that write a variable.
struct Writers<'t> {
    player: (&'t Globals, &'t [u8]),
    target: &'t Target,
    found: Vec<Step>,
}

impl Watch for Writers<'_> {
    fn step(&mut self, machine: &Machine) {
        let Target::Register(number, name) = self.target else { return };
        let Some(frame) = machine.frame().filter(|frame| frame.number == *number) else { return };
        let view = View { machine, globals: self.player.0, words: self.player.1 };
        if let Some(place) = view.named_by(frame, name)
            && let Some((_, writer)) = place.held
            && writer != Step::START
        {
            self.found.push(writer);
        }
    }

    fn writes(&mut self, _machine: &Machine, step: Step, address: u64, length: u64) {
        if let Target::Memory(begin, size) = self.target
            && address < begin.saturating_add(*size)
            && *begin < address.saturating_add(length)
            && step != Step::START
        {
            self.found.push(step);
        }
    }
}

impl Tape {
    /// Reads a run.
    ///
    /// Cost: plays the whole run once. The table takes 16 bytes for each step.
    pub fn new(mut player: Player) -> Result<Self, TraceError> {
        let mut table = Table::default();
        player.seek(0)?;
        player.play(&mut table)?;
        let Table { places, walk, crash, .. } = table;
        Ok(Self { player, places, walk, crash })
    }

    /// The place of a step.
    pub fn place(&self, step: Step) -> Option<&Place> {
        self.places.get(self.walk.row(step)?.place as usize)
    }

    /// Looks at the process right before a step.
    fn look<T>(&mut self, step: Step, look: impl FnOnce(View<'_>) -> T) -> Result<Option<T>, TraceError> {
        let (globals, words) = (Arc::clone(&self.player.globals), self.player.trace().process.words.clone());
        let mut found = None;
        before_step(&mut self.player, step, |machine| {
            found = Some(look(View { machine, globals: &globals, words: &words }));
        })?;
        Ok(found)
    }

    /// The stack before a step, the innermost activation first.
    ///
    /// Cost: plays from the last checkpoint before the step.
    pub fn stack(&mut self, step: Step) -> Result<Vec<Level>, TraceError> {
        let levels = self.look(step, |view| {
            let level = |frame: &Frame| {
                let variables = view.variables(frame);
                let variables = variables.iter().map(|place| (Arc::clone(&place.name), view.show(place))).collect();

                Level { function: frame.shape.name(), place: frame.place().cloned(), variables }
            };
            view.machine.frames.iter().rev().map(level).collect()
        })?;
        Ok(levels.unwrap_or_default())
    }

    /// All facts about a step.
    pub fn detail(&mut self, step: Step) -> Result<Option<Detail>, TraceError> {
        detail::detail(&mut self.player, step)
    }

    /// What an expression means before a step, in the activation of this level; `None` if there is no such thing.
    pub fn meaning(&mut self, step: Step, level: usize, expression: &str) -> Result<Option<Meaning>, TraceError> {
        let found = self.look(step, |view| {
            let frame = view.machine.frames.iter().rev().nth(level)?;
            let place = view.named_by(frame, expression)?;
            let target = match place.held {
                Some(_) => Target::Register(frame.number, expression.to_owned()),
                None => Target::Memory(place.address, place.size),
            };
            Some(Meaning { value: view.show(&place), target })
        })?;
        Ok(found.flatten())
    }

    /// The values of an expression before some steps, ascending; `None` where there is no such thing.
    ///
    /// Cost: plays up to the last of them.
    pub fn values(&mut self, steps: &[Step], expression: &str) -> Result<Vec<Option<String>>, TraceError> {
        let (globals, words) = (Arc::clone(&self.player.globals), self.player.trace().process.words.clone());
        let mut values = Values { player: (&globals, &words), steps, expression, found: Vec::new() };
        self.player.seek(0)?;
        self.player.play(&mut values)?;
        let mut found = values.found;
        found.resize(steps.len(), None);
        Ok(found)
    }

    /// The steps that write a variable, ascending.
    ///
    /// Cost: plays the whole run once.
    pub fn writers(&mut self, target: &Target) -> Result<Vec<Step>, TraceError> {
        let (globals, words) = (Arc::clone(&self.player.globals), self.player.trace().process.words.clone());
        let mut writers = Writers { player: (&globals, &words), target, found: Vec::new() };
        self.player.seek(0)?;
        self.player.play(&mut writers)?;
        let mut found = writers.found;
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}

/// Where an access of a step is.
pub fn target(access: &Access) -> Target {
    Target::Memory(access.address, access.size)
}
