//! A recorded run as a debugger sees it: the stack and the variables before a step, the hits of breakpoints, the writers of
//! a variable.

use crate::session::expression;
use crate::session::expression::Expression;
use crate::session::expression::Value;
use crate::session::expression::condition::Condition;
use crate::session::expression::condition::INTERVAL;
use crate::session::expression::state::State;
use crate::trace::TraceError;
use crate::trace::detail::Access;
use crate::trace::detail::Detail;
use crate::trace::native::detail;
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
use crate::trace::writes::Writes;
use std::collections::BTreeSet;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Structures of an array on the heap that are listed behind the members of the first one, at the most.
const MAX_TARGETS: u64 = 100;

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
    writes: Writes,
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
struct Table<'t> {
    /// By function and statement: the number of the place.
    statements: Vec<Vec<Option<u32>>>,
    numbers: HashMap<Place, u32>,
    places: Vec<Place>,
    walk: Walk,
    crash: Option<(Step, u32)>,
    threads: BTreeSet<u32>,
    writes: Writes,
    is_over: &'t dyn Fn() -> bool,
    is_interrupted: bool,
}

impl<'t> Table<'t> {
    fn new(writes: Writes, is_over: &'t dyn Fn() -> bool) -> Self {
        Self {
            statements: Vec::new(),
            numbers: HashMap::new(),
            places: Vec::new(),
            walk: Walk::default(),
            crash: None,
            threads: BTreeSet::new(),
            writes,
            is_over,
            is_interrupted: false,
        }
    }

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

impl Watch for Table<'_> {
    fn step(&mut self, machine: &Machine) {
        if machine.n_steps.is_multiple_of(INTERVAL) && (self.is_over)() {
            self.is_interrupted = true;
        }
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

    fn writes(&mut self, machine: &Machine, step: Step, address: u64, length: u64) {
        if step != Step::START {
            self.writes.add(machine.n_steps, step, address, length);
        }
    }

    fn is_done(&self) -> bool {
        self.is_interrupted
    }
}

/// Collects the steps that write a variable.
struct Writers<'t> {
    player: (&'t Globals, &'t [u8]),
    target: &'t Target,
    /// Steps from here on are not wanted.
    end: u32,
    found: Vec<Step>,
    is_over: &'t dyn Fn() -> bool,
    is_done: bool,
    is_interrupted: bool,
}

impl Watch for Writers<'_> {
    fn step(&mut self, machine: &Machine) {
        self.is_interrupted |= machine.n_steps.is_multiple_of(INTERVAL) && (self.is_over)();
        self.is_done = self.is_interrupted || machine.n_steps >= self.end;
        let Target::Register(number, name) = self.target else { return };
        let Some(frame) = machine.frame().filter(|frame| frame.number == *number) else { return };
        let view = View { machine, globals: self.player.0, words: self.player.1 };
        if let Some(place) = view.variable(frame, name)
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

    fn is_done(&self) -> bool {
        self.is_done
    }
}

impl Tape {
    /// Reads a run; `None` if it was interrupted.
    ///
    /// - `is_over`: whether nobody waits for it any longer; asked often.
    ///
    /// Cost: plays the whole run once. The table takes 16 bytes for each step.
    pub fn new(player: Player, is_over: &dyn Fn() -> bool) -> Result<Option<Self>, TraceError> {
        Self::read(player, Writes::default(), is_over)
    }

    /// The same, with an index of writes that is empty.
    pub(super) fn read(
        mut player: Player,
        writes: Writes,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Option<Self>, TraceError> {
        let mut table = Table::new(writes, is_over);
        player.seek(0)?;
        player.play(&mut table)?;
        let Table { places, walk, crash, threads, writes, is_interrupted, .. } = table;
        let threads = threads.into_iter().collect();
        Ok((!is_interrupted).then_some(Self { player, places, walk, crash, threads, writes, now: None }))
    }

    /// The number of all steps.
    pub fn n_steps(&self) -> u32 {
        u32::try_from(self.walk.rows.len()).unwrap_or(u32::MAX)
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
                Division::ToMembers => {
                    let target = view.element(&whole, 0)?;
                    let mut all: Vec<Shown> = members(&target, "->");
                    let n_members = view.members(&target).len() as u64;
                    let positions = (n_members..).zip(1..view.n_targets(&whole).min(MAX_TARGETS));
                    let wanted = positions.filter(|(position, _)| range.contains(position));
                    all.extend(wanted.map_while(|(_, index)| element(index)));
                    Some(all)
                }
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

    /// Whether a condition holds before some steps, ascending; fewer answers if it was interrupted.
    ///
    /// Cost: plays from the last checkpoint before the first of them up to the last one.
    pub fn test(
        &mut self,
        steps: &[Step],
        condition: &Condition,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Vec<Result<bool, String>>, TraceError> {
        condition.test(&mut self.player, steps, is_over)
    }

    /// The steps of a range that write a variable, ascending; `None` if it was interrupted.
    ///
    /// - `range`: begins and ends where [`Writes`] has a new block.
    ///
    /// Cost: plays the range, from the last checkpoint before it; nothing if its steps do not write there. For a variable
    /// in a register, also plays up to where its function goes on after the range.
    pub fn writers(
        &mut self,
        target: &Target,
        range: Range<u32>,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<Step>>, TraceError> {
        let range = range.start.max(1)..range.end;
        let (mut found, played) = match target {
            Target::Memory(address, size) => {
                let listed = self.writes.listed(&range, *address, *size).collect();
                let is_played = self.writes.may_write(&range, *address, *size);
                (listed, [if is_played { range.clone() } else { 0..0 }, 0..0])
            }
            Target::Register(frame, _) => (Vec::new(), self.seen(*frame, &range)),
        };
        let (globals, words) = (Arc::clone(&self.player.globals), self.player.trace().process.words.clone());
        for played in played.into_iter().filter(|played| !played.is_empty()) {
            let mut writers = Writers {
                player: (&globals, &words),
                target,
                end: played.end,
                found: Vec::new(),
                is_over,
                is_done: false,
                is_interrupted: false,
            };
            self.player.rewind(Step(played.start));
            self.player.play(&mut writers)?;
            if writers.is_interrupted {
                return Ok(None);
            }
            found.extend(writers.found);
        }
        found.retain(|step| range.contains(&step.0));
        found.sort_unstable();
        found.dedup();
        Ok(Some(found))
    }

    /// The steps to play to see what an activation writes in a range: the next step of a function shows what the last
    /// one has written. Both are empty if it has no step there.
    fn seen(&self, frame: u64, range: &Range<u32>) -> [Range<u32>; 2] {
        let index = |step: u32| (step as usize - 1).min(self.walk.rows.len());
        // Steps from the first row of a slice to one of the activation.
        let distance = |rows: &[Row]| {
            let index = rows.iter().position(|row| u64::from(row.frame) == frame);
            index.and_then(|index| u32::try_from(index).ok())
        };
        let Some(first) = distance(&self.walk.rows[index(range.start)..index(range.end)]) else { return [0..0, 0..0] };
        let first = range.start + first;
        match distance(&self.walk.rows[index(range.end)..]).map(|after| range.end + after) {
            None => [first..range.end, 0..0],
            Some(after) if after - range.end < range.end - range.start => [first..after + 1, 0..0],
            Some(after) => [first..range.end, after..after + 1],
        }
    }
}

fn shown<'v>(view: View<'v>, place: &object::Place<'v>, name: String, expression: String) -> Shown {
    Shown { name, value: view.show(place), expression, division: view.division(place) }
}

/// Where an access of a step is.
pub fn target(access: &Access) -> Target {
    Target::Memory(access.address, access.size)
}
