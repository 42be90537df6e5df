//! A recorded run as a debugger sees it: the stack and the variables before a step, the hits of breakpoints, the writers of
//! a variable.

use crate::session::expression;
use crate::session::expression::Expression;
use crate::session::expression::Value;
use crate::session::expression::condition::Condition;
use crate::session::expression::state::State;
use crate::trace::TraceError;
use crate::trace::native::detail;
use crate::trace::native::detail::Access;
use crate::trace::native::detail::Detail;
use crate::trace::native::fault::Crash;
use crate::trace::native::frame::Frame;
use crate::trace::native::globals::Globals;
use crate::trace::native::machine::Machine;
use crate::trace::native::machine::Watch;
use crate::trace::native::object;
use crate::trace::native::object::View;
use crate::trace::native::parts::Division;
use crate::trace::native::play::Player;
use crate::trace::native::visit::before_step;
use crate::trace::place::Place;
use crate::trace::step::Step;
use crate::trace::walk::Row;
use crate::trace::walk::Walk;
use std::collections::BTreeSet;
use std::collections::HashMap;
use std::ops::Range;
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
    /// The threads, ascending.
    pub threads: Vec<u32>,
    /// The process right before the step that was looked at last.
    now: Option<(Step, Machine)>,
}

/// An activation on the stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// The function.
    pub function: Arc<str>,
    /// Where it is.
    pub place: Option<Place>,
}

/// A variable, or a part of one, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Its name in the list.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The expression for it.
    pub expression: String,
    /// How it is divided.
    pub division: Division,
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
    /// Where it is; `None` for a number that was computed.
    pub target: Option<Target>,
    /// How it is divided.
    pub division: Division,
}

/// Builds the table.
#[derive(Default)]
struct Table {
    /// By function and statement: the number of the place.
    statements: Vec<Vec<Option<u32>>>,
    numbers: HashMap<Place, u32>,
    places: Vec<Place>,
    walk: Walk,
    crash: Option<(Step, u32)>,
    threads: BTreeSet<u32>,
}

impl Table {
    /// The number of the place of the current statement. It is looked up once for each statement of a function.
    fn place(&mut self, frame: &Frame) -> u32 {
        let (shape, statement) = (frame.shape.index as usize, frame.statement as usize);
        if let Some(Some(number)) = self.statements.get(shape).and_then(|known| known.get(statement)) {
            return *number;
        }
        let place = frame.place().filter(|place| statement != 0 && place.line != 0);
        let next = u32::try_from(self.places.len()).unwrap_or(Row::NOWHERE);
        let number = place.map_or(Row::NOWHERE, |place| *self.numbers.entry(place.clone()).or_insert(next));
        if let Some(place) = place.filter(|_| number == next) {
            self.places.push(place.clone());
        }
        if self.statements.len() <= shape {
            self.statements.resize(shape + 1, Vec::new());
        }
        let known = &mut self.statements[shape];
        if known.len() <= statement {
            known.resize(statement + 1, None);
        }
        known[statement] = Some(number);
        number
    }
}

impl Watch for Table {
    fn step(&mut self, machine: &Machine) {
        let Some(frame) = machine.frame() else { return };
        let place = self.place(frame);
        let short = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let depth = short(machine.frames.len() as u64);
        if self.walk.rows.last().is_none_or(|row| row.thread != machine.thread) {
            self.threads.insert(machine.thread);
        }
        self.walk.rows.push(Row { place, frame: short(frame.number), depth, thread: machine.thread });
    }

    fn crashes(&mut self, machine: &Machine, crash: &Crash) {
        if let Some(frame) = machine.frame() {
            self.crash = Some((frame.step, crash.signal));
        }
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
        let Table { places, walk, crash, threads, .. } = table;
        Ok(Self { player, places, walk, crash, threads: threads.into_iter().collect(), now: None })
    }

    /// The place of a step.
    pub fn place(&self, step: Step) -> Option<&Place> {
        self.places.get(self.walk.row(step)?.place as usize)
    }

    /// Looks at the process right before a step.
    ///
    /// Cost: plays from the last checkpoint before the step; nothing if it is the step that was looked at last.
    fn look<T>(&mut self, step: Step, look: impl FnOnce(View<'_>) -> T) -> Result<Option<T>, TraceError> {
        if self.now.as_ref().is_none_or(|(known, _)| *known != step) {
            let mut found = None;
            before_step(&mut self.player, step, |machine| found = Some(machine.clone()))?;
            self.now = found.map(|machine| (step, machine));
        }
        let Some((_, machine)) = &self.now else { return Ok(None) };
        let words = &self.player.trace().process.words;
        Ok(Some(look(View { machine, globals: &self.player.globals, words })))
    }

    /// Looks at an activation right before a step; `None` if there is none of this level.
    fn look_at<T>(
        &mut self,
        (step, level): (Step, usize),
        look: impl FnOnce(State<'_>) -> T,
    ) -> Result<Option<T>, TraceError> {
        let found = self.look(step, |view| {
            let frame = view.machine.frames.iter().rev().nth(level)?;
            Some(look(State { view, frame }))
        })?;
        Ok(found.flatten())
    }

    /// A part of the stack before a step, the innermost activation first; and the number of all activations.
    pub fn stack(&mut self, step: Step, range: Range<usize>) -> Result<(Vec<Level>, usize), TraceError> {
        let levels = self.look(step, |view| {
            let frames = &view.machine.frames;
            let level = |frame: &Frame| Level { function: frame.shape.name(), place: frame.place().cloned() };
            let wanted = frames.iter().rev().skip(range.start).take(range.len());
            (wanted.map(level).collect(), frames.len())
        })?;
        Ok(levels.unwrap_or_default())
    }

    /// The variables of the activation of a level before a step, or the global ones that it sees; `None` if there is
    /// no such level.
    pub fn variables(&mut self, at: (Step, usize), is_global: bool) -> Result<Option<Vec<Shown>>, TraceError> {
        self.look_at(at, |State { view, frame }| {
            let places = if is_global { view.seen_globals(frame) } else { view.variables(frame) };
            places.iter().map(|place| shown(view, place, place.name.to_string(), place.name.to_string())).collect()
        })
    }

    /// The parts of a variable before a step; `None` if it has none.
    ///
    /// - `range`: the positions of those that are wanted.
    pub fn parts(
        &mut self,
        at: (Step, usize),
        expression: &Expression,
        (text, range): (&str, Range<u64>),
    ) -> Result<Option<Vec<Shown>>, TraceError> {
        let found = self.look_at(at, |state| {
            let view = state.view;
            let whole = state.place(expression)?;
            let members = |whole: &_, dot: &str| {
                let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
                let members = view.members(whole).into_iter().skip(number(range.start));
                let members = members.take(number(range.end.saturating_sub(range.start)));
                members.map(|(name, part)| shown(view, &part, name.to_string(), format!("{text}{dot}{name}"))).collect()
            };
            let element = |index: u64| {
                let part = view.element(&whole, i64::try_from(index).ok()?)?;
                Some(shown(view, &part, format!("[{index}]"), format!("{text}[{index}]")))
            };
            match view.division(&whole) {
                Division::Whole => None,
                Division::Members => Some(members(&whole, ".")),
                Division::ToMembers => Some(members(&view.element(&whole, 0)?, "->")),
                Division::ToWhole => {
                    let target = element(0).map(|target| Shown { name: format!("*{text}"), ..target });
                    Some(target.into_iter().filter(|_| range.start == 0 && range.end > 0).collect())
                }
                Division::Elements(n) => Some((range.start..range.end.min(n)).map_while(element).collect()),
            }
        })?;
        Ok(found.flatten())
    }

    /// All facts about a step.
    pub fn detail(&mut self, step: Step) -> Result<Option<Detail>, TraceError> {
        detail::detail(&mut self.player, step)
    }

    /// What an expression means before a step, in the activation of a level, or why it means nothing.
    pub fn meaning(
        &mut self,
        at: (Step, usize),
        expression: &Expression,
    ) -> Result<Result<Meaning, String>, TraceError> {
        let found = self.look_at(at, |state| {
            let computed = |value: String| Meaning { value, target: None, division: Division::Whole };
            match expression::evaluate(&state, expression)? {
                Value::Number(number) => Ok(computed(number.shown())),
                Value::Pointer(0, ..) => Ok(computed("NULL".to_owned())),
                Value::Pointer(address, ..) => {
                    let name = state.view.name(address, 0).map(|name| format!(" -> {name}"));
                    Ok(computed(format!("{address:#x}{}", name.unwrap_or_default())))
                }
                Value::Place(place) => {
                    let target = match place.held {
                        Some(_) => Target::Register(state.frame.number, place.name.to_string()),
                        None => Target::Memory(place.address, place.size),
                    };
                    let division = state.view.division(&place);
                    Ok(Meaning { value: state.view.show(&place), target: Some(target), division })
                }
            }
        })?;
        Ok(found.unwrap_or_else(|| Err("there is no such activation on the stack".to_owned())))
    }

    /// Whether a condition holds before some steps, ascending.
    ///
    /// Cost: plays up to the last of them.
    pub fn test(&mut self, steps: &[Step], condition: &Condition) -> Result<Vec<Result<bool, String>>, TraceError> {
        condition.test(&mut self.player, steps)
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

fn shown<'v>(view: View<'v>, place: &object::Place<'v>, name: String, expression: String) -> Shown {
    Shown { name, value: view.show(place), expression, division: view.division(place) }
}

/// Where an access of a step is.
pub fn target(access: &Access) -> Target {
    Target::Memory(access.address, access.size)
}
