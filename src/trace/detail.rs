//! One step in full, and the chain of steps that made a value.

use std::collections::BTreeSet;
use std::collections::HashMap;
use std::sync::Arc;

use crate::instrument::debug::Place;
use crate::trace::TraceError;
use crate::trace::fault::Crash;
use crate::trace::fault::Doing;
use crate::trace::frame::Frame;
use crate::trace::globals::Globals;
use crate::trace::machine::Machine;
use crate::trace::machine::Watch;
use crate::trace::machine::What;
use crate::trace::object::Named;
use crate::trace::object::View;
use crate::trace::play::Player;
use crate::trace::shape::Argument;
use crate::trace::shape::Call;
use crate::trace::shape::Class;
use crate::trace::step::Step;
use crate::trace::value;

/// Reads and writes of one step that are told.
const MAX_ACCESSES: usize = 200;

/// A step that reads from more steps than this tells only so many.
const MAX_MAKERS: usize = 64;

/// Where a step stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The step.
    pub step: Step,
    /// The function, as the source names it.
    pub function: Arc<str>,
    /// The place of the statement.
    pub place: Option<Place>,
    /// Whether it is the entry of the function.
    pub is_entry: bool,
    /// Whether no other statement of the function begins in its line.
    pub is_alone: bool,
}

/// Something that was read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// What it is called, and what was read or is there now.
    pub named: Named,
    /// Its address and bytes.
    pub address: u64,
    /// See [`address`](Self::address).
    pub size: u64,
    /// Who wrote what was read; [`Step::START`] for what was there from the beginning.
    pub makers: BTreeSet<Step>,
    /// If it was there from the beginning: why.
    pub origin: Option<String>,
}

/// A call of a function that is not instrumented.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outside {
    /// The function; `None` through a pointer.
    pub name: Option<Arc<str>>,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// What it returned.
    pub result: Option<String>,
    /// Whether it brings input into the program.
    pub is_input: bool,
    /// Whether it is known what it does.
    pub is_modelled: bool,
}

/// A step in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detail {
    /// Where it stands.
    pub standing: Standing,
    /// Its thread.
    pub thread: u32,
    /// How often its statement ran up to here, if that was counted.
    pub instance: Option<u64>,
    /// What it reads and writes.
    pub reads: Vec<Access>,
    /// See [`reads`](Self::reads).
    pub writes: Vec<Access>,
    /// What it uses otherwise, and who made it.
    pub uses: BTreeSet<(Step, What)>,
    /// What it calls outside.
    pub calls: Vec<Outside>,
    /// How it crashed, if it did: the number of the signal, and what it read or wrote where; `None` if it divided.
    pub crash: Option<(u32, Option<(Doing, Access)>)>,
    /// The step that decided that it runs; `None` for the first of all.
    pub control: Option<Step>,
    /// The calls it stands in, the innermost first: the calling step and the function.
    pub stack: Vec<(Step, Arc<str>)>,
    /// The variables that are seen, before it runs: name and value.
    pub variables: Vec<(Arc<str>, String)>,
    /// Whether something ran before the first record that was kept.
    pub is_window: bool,
}

impl Detail {
    /// The steps that made what it reads.
    pub fn makers(&self) -> BTreeSet<Step> {
        let read = self.reads.iter().flat_map(|access| access.makers.iter().copied());
        read.chain(self.uses.iter().map(|(step, _)| *step)).filter(|step| *step != Step::START).collect()
    }
}

/// Watches one step.
struct Focus<'f> {
    step: Step,
    globals: &'f Globals,
    words: &'f [u8],
    /// The variable that is asked for.
    variable: Option<&'f str>,
    frame: u64,
    detail: Option<Detail>,
    asked: Option<Access>,
    makers: BTreeSet<Step>,
    counts: Option<HashMap<(u32, u32), u64>>,
    is_done: bool,
}

impl<'f> Focus<'f> {
    fn view<'v>(&self, machine: &'v Machine) -> View<'v>
    where
        'f: 'v,
    {
        View { machine, globals: self.globals, words: self.words }
    }

    fn access(&mut self, machine: &Machine, address: u64, size: u64, bytes: Option<&[u8]>) -> Access {
        let makers = std::mem::take(&mut self.makers);
        let view = self.view(machine);
        let origin = makers.contains(&Step::START).then(|| origin(view, address));
        Access { named: view.named(address, size, bytes), address, size, makers, origin }
    }
}

/// Why a byte that no step wrote has its value.
fn origin(view: View<'_>, address: u64) -> String {
    if view.machine.is_window {
        return "from before the part that was kept".to_owned();
    }
    if let Some(name) = view.start(address).filter(|name| name.starts_with("argv") || name.starts_with('*')) {
        return format!("argument of the program: {name}");
    }
    if view.machine.heap.find(address).is_some() {
        return "never written: a block of the heap".to_owned();
    }
    if let Some(global) = view.globals.find(address) {
        return if global.is_named { format!("initial value of {}", global.name) } else { "a constant".to_owned() };
    }
    match view.name(address, 1) {
        Some(name) if name == "the environment" => "the environment".to_owned(),
        Some(_) => "never written: a variable without a value".to_owned(),
        None => "written by nothing that was recorded".to_owned(),
    }
}

impl Watch for Focus<'_> {
    fn step(&mut self, machine: &Machine) {
        let Some(frame) = machine.frame() else { return };
        if let Some(counts) = &mut self.counts {
            *counts.entry((frame.shape.index, frame.statement)).or_insert(0) += 1;
        }
        if self.detail.is_some() {
            self.is_done |= frame.number == self.frame;
            return;
        }
        if frame.step != self.step {
            return;
        }
        self.frame = frame.number;
        let view = self.view(machine);
        if let Some(place) = self.variable.and_then(|name| view.named_by(frame, name)) {
            let mut makers = BTreeSet::new();
            match place.held {
                Some((_, maker)) => {
                    makers.insert(maker);
                }
                None => machine.memory.writers(place.address, place.size, |maker| {
                    makers.insert(maker);
                }),
            }
            let origin = makers.contains(&Step::START).then(|| origin(view, place.address));
            let named = Named { name: place.name.to_string(), value: Some(view.show(&place)) };
            self.asked = Some(Access { named, address: place.address, size: place.size, makers, origin });
        }
        let is_entry = frame.statement == 0;
        let control = if is_entry { frame.caller } else { frame.decider() };
        let variables = if is_entry { Vec::new() } else { view.variables(frame) };
        let callers = machine.frames.iter().rev();
        let stack = callers.clone().zip(callers.skip(1)).map(|(frame, caller)| (frame.caller, caller.shape.name()));
        let count = self.counts.as_ref().and_then(|counts| counts.get(&(frame.shape.index, frame.statement)));
        self.detail = Some(Detail {
            standing: Standing {
                step: frame.step,
                function: frame.shape.name(),
                place: frame.place().cloned(),
                is_entry,
                is_alone: is_alone(frame),
            },
            thread: machine.thread,
            instance: count.copied(),
            reads: Vec::new(),
            writes: Vec::new(),
            uses: BTreeSet::new(),
            calls: Vec::new(),
            crash: None,
            control: (control != Step::START).then_some(control),
            stack: stack.collect(),
            variables: variables.iter().map(|place| (Arc::clone(&place.name), view.show(place))).collect(),
            is_window: machine.is_window,
        });
        self.counts = None;
    }

    fn uses(&mut self, user: Step, maker: Step, what: What) {
        if user != self.step {
            return;
        }
        match what {
            What::Memory(..) => {
                if self.makers.len() < MAX_MAKERS {
                    self.makers.insert(maker);
                }
            }
            _ => {
                if let Some(detail) = &mut self.detail {
                    detail.uses.insert((maker, what));
                }
            }
        }
    }

    fn reads(&mut self, machine: &Machine, step: Step, address: u64, bytes: &[u8]) {
        if step != self.step {
            return;
        }
        let access = self.access(machine, address, bytes.len() as u64, Some(bytes));
        if let Some(detail) = self.detail.as_mut().filter(|detail| detail.reads.len() < MAX_ACCESSES) {
            detail.reads.push(access);
        }
    }

    fn looks(&mut self, machine: &Machine, step: Step, address: u64, length: u64) {
        if step != self.step {
            return;
        }
        let mut access = self.access(machine, address, length, None);
        // As a rule it is text, and without a type.
        if let Some(bytes) = machine.memory.bytes(address, usize::try_from(length.min(80)).unwrap_or(80)) {
            access.named.value = Some(value::quoted(bytes.strip_suffix(&[0]).unwrap_or(&bytes), '"'));
        }
        if let Some(detail) = self.detail.as_mut().filter(|detail| detail.reads.len() < MAX_ACCESSES) {
            detail.reads.push(access);
        }
    }

    fn writes(&mut self, machine: &Machine, step: Step, address: u64, length: u64) {
        if step != self.step {
            return;
        }
        let bytes = machine.frame().and_then(|frame| {
            let slot = frame.shape.slots.iter().find(|slot| frame.value(slot.register) == Some(address))?;
            frame.value(slot.plain?)
        });
        let bytes = bytes.map(u64::to_le_bytes);
        let n = usize::try_from(length).unwrap_or(8).min(8);
        let access = self.access(machine, address, length, bytes.as_ref().map(|bytes| &bytes[..n]));
        if let Some(detail) = self.detail.as_mut().filter(|detail| detail.writes.len() < MAX_ACCESSES) {
            detail.writes.push(access);
        }
    }

    fn called(&mut self, machine: &Machine, call: &Call, arguments: &[Option<u64>], result: Option<u64>) {
        if machine.frame().is_none_or(|frame| frame.step != self.step) {
            return;
        }
        let view = self.view(machine);
        let show = |number: u64, size: u32, class: Class| match class {
            Class::Float => value::float_of(&number.to_le_bytes()[..size.clamp(4, 8) as usize]),
            Class::Integer => view.raw(&number.to_le_bytes()[..size.clamp(1, 8) as usize]),
            Class::Other => "?".to_owned(),
        };
        let text = |(number, argument): (&Option<u64>, &Argument)| {
            let Some(number) = number else { return "?".to_owned() };
            let is_pointer = argument.size == 8 && argument.class == Class::Integer && *number > 4096;
            let string = is_pointer.then(|| machine.memory.string(*number, 80)).flatten();
            match string.filter(|bytes| !bytes.is_empty() && value::is_text(bytes)) {
                Some(string) => value::quoted(&string, '"'),
                None => show(*number, argument.size, argument.class),
            }
        };
        let model = call.model;
        let outside = Outside {
            name: call.name.clone(),
            arguments: arguments.iter().zip(&call.arguments).map(text).collect(),
            result: result.map(|result| {
                let class = call.result.unwrap_or(Class::Integer);
                let is_short = result >> 32 == 0 && class == Class::Integer;
                show(result, if is_short { 4 } else { call.result_size.min(8) }, class)
            }),
            is_input: model.is_some_and(|model| model.input.is_some()),
            is_modelled: model.is_some(),
        };
        if let Some(detail) = &mut self.detail {
            detail.calls.push(outside);
        }
    }

    fn crashes(&mut self, machine: &Machine, crash: &Crash) {
        if machine.frame().is_none_or(|frame| frame.step != self.step) {
            return;
        }
        let written = if let Doing::Writing(written) = crash.doing { written.map(u64::to_le_bytes) } else { None };
        let length = usize::try_from(crash.length).unwrap_or(usize::MAX);
        let bytes = written.as_ref().and_then(|bytes| bytes.get(..length));
        let access = (crash.doing != Doing::Dividing)
            .then(|| (crash.doing, self.access(machine, crash.address, crash.length, bytes)));
        if let Some(detail) = &mut self.detail {
            detail.crash = Some((crash.signal, access));
        }
    }

    fn leaves(&mut self, machine: &Machine, _is_return: bool) {
        if self.detail.is_some() && machine.frame().is_some_and(|frame| frame.number == self.frame) {
            self.is_done = true;
        }
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

fn is_alone(frame: &Frame) -> bool {
    let Some(place) = frame.place() else { return false };
    let is_here = |other: &&Place| other.file == place.file && other.line == place.line;
    frame.shape.statements.iter().filter_map(|statement| statement.place.as_ref()).filter(is_here).count() == 1
}

/// What is known of a step, and of the variable that is asked for.
fn look(
    player: &mut Player,
    step: Step,
    variable: Option<&str>,
) -> Result<(Option<Detail>, Option<Access>), TraceError> {
    player.rewind(step);
    let (globals, words) = (Arc::clone(&player.globals), player.trace().process.words.clone());
    // How often something ran before the part that was kept is not known.
    let is_from_start = player.machine.n_steps == 0 && !player.machine.is_window;
    let counts = is_from_start.then(HashMap::new);
    let mut focus = Focus {
        step,
        globals: &globals,
        words: &words,
        variable,
        frame: 0,
        detail: None,
        asked: None,
        makers: BTreeSet::new(),
        counts,
        is_done: false,
    };
    player.play(&mut focus)?;
    Ok((focus.detail, focus.asked))
}

/// A step in full; `None` if there is no such step.
pub fn detail(player: &mut Player, step: Step) -> Result<Option<Detail>, TraceError> {
    Ok(look(player, step, None)?.0)
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// Where it was asked.
    pub standing: Standing,
    /// The variable, its value there, and who wrote it last.
    pub asked: Access,
    /// The steps that the value comes from, the last first: the last writers, the writers of what those read, and so on.
    pub steps: Vec<Detail>,
    /// Whether there are more.
    pub is_cut: bool,
}

/// Why a variable has its value before a step runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The chain.
    Found(Why),
    /// There is no such step.
    NoStep,
    /// No variable of that name is seen there; these are.
    NoVariable(Vec<Arc<str>>),
}

/// Follows the last definitions of a variable, from before `step`, through at most `limit` steps.
pub fn why(player: &mut Player, step: Step, variable: &str, limit: usize) -> Result<Answer, TraceError> {
    let asked_at = step;
    let (Some(detail), asked) = look(player, step, Some(variable))? else { return Ok(Answer::NoStep) };
    let Some(asked) = asked else {
        return Ok(Answer::NoVariable(detail.variables.into_iter().map(|(name, _)| name).collect()));
    };
    let mut open: BTreeSet<Step> = asked.makers.iter().copied().filter(|step| *step != Step::START).collect();
    let mut seen = open.clone();
    let mut steps = Vec::new();
    while steps.len() < limit
        && let Some(step) = open.pop_last()
    {
        if let Some(detail) = self::detail(player, step)? {
            // A step that calls also uses what later steps made: those of the call.
            // What is asked for was there before any of those that had not begun.
            let makers = detail.makers().into_iter().filter(|maker| *maker < asked_at);
            open.extend(makers.filter(|maker| seen.insert(*maker)));
            steps.push(detail);
        }
    }
    Ok(Answer::Found(Why { standing: detail.standing, asked, steps, is_cut: !open.is_empty() }))
}
