//! Searches a run of a Java program for a step that writes a place, or that shows a text.

use idd_trace::instrument::java::descriptor::result_type;
use idd_trace::java::{JavaFrame, JavaMachine, JavaPlayer, JavaValue, LibraryCall, ValueLocation, Watch, detail, text};
use idd_trace::{SearchOutcome, Step, TimeDirection, TraceError};

/// Steps between two questions whether the search goes on.
const SLICE: u32 = 10_000;

/// What is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JavaTarget<'w> {
    /// A write of the place that the step where the search begins reads or writes by this name.
    Write(&'w str),
    /// A text in the name of a called method, in `name = value` of what is written, or in a call of a method that is not
    /// recorded.
    Text(&'w str),
}

/// A place, and the activation of a local.
type LocalPlace = (ValueLocation, Option<u64>);

fn place(frame: &JavaFrame, location: ValueLocation) -> LocalPlace {
    (location, matches!(location, ValueLocation::Local(_)).then_some(frame.number))
}

/// Searches from a step on: the first one after it, or the last one before it.
///
/// - `shown`: the step that a person looks at for another one; `from` is such a step, and so is the result.
/// - `is_stopped`: is given the step that the search has come to, about every [`SLICE`] steps.
///
/// Cost: forward, plays from the last checkpoint before `from` up to what is found; backward, from the beginning up to `from`.
/// For a write also from that checkpoint up to the end of the line of `from`.
pub fn search(
    player: &mut JavaPlayer,
    wanted: JavaTarget<'_>,
    from: Step,
    time: TimeDirection,
    shown: &dyn Fn(Step) -> Step,
    is_stopped: &mut dyn FnMut(Step) -> bool,
) -> Result<SearchOutcome, TraceError> {
    let target = match wanted {
        JavaTarget::Text(text) => SearchedPlace::Text(text),
        JavaTarget::Write(name) => {
            let mut named = NameFinder { name, from, shown, found: None, is_over: false };
            player.replay_from(from, &mut named)?;
            let Some(place) = named.found else { return Ok(SearchOutcome::Nothing) };
            SearchedPlace::Place(place)
        }
    };
    let mut hunt = JavaSearch { target, from, time, shown, is_stopped, found: None, stopped: None, n_steps: 0 };
    let begin = if time == TimeDirection::Forward { from } else { Step::START };
    player.replay_from(begin, &mut hunt)?;
    Ok(match (hunt.stopped, hunt.found) {
        (Some(step), _) => SearchOutcome::Stopped(step),
        (None, Some(step)) => SearchOutcome::Found(step),
        (None, None) => SearchOutcome::Nothing,
    })
}

/// Finds the place that a line calls by a name.
struct NameFinder<'n> {
    name: &'n str,
    from: Step,
    shown: &'n dyn Fn(Step) -> Step,
    found: Option<LocalPlace>,
    is_over: bool,
}

impl NameFinder<'_> {
    fn note(&mut self, machine: &JavaMachine, frame: &JavaFrame, location: ValueLocation) {
        if self.found.is_some() || frame.step < self.from || (self.shown)(frame.step) != self.from {
            return;
        }
        let name = text::name(machine, frame, location).text;
        let is_parameter = frame.step == frame.entry && self.name == format!("{}.{name}", frame.method.name);
        if name == self.name || is_parameter {
            self.found = Some(place(frame, location));
        }
    }
}

impl Watch for NameFinder<'_> {
    fn step(&mut self, _machine: &JavaMachine, frame: &JavaFrame) {
        // A line is over when its activation has gone on; its callees run in between.
        self.is_over |= frame.step > self.from && frame.entry < self.from && (self.shown)(frame.step) != self.from;
    }

    fn reads(&mut self, machine: &JavaMachine, frame: &JavaFrame, location: ValueLocation, _value: JavaValue) {
        self.note(machine, frame, location);
    }

    fn writes(&mut self, machine: &JavaMachine, frame: &JavaFrame, location: ValueLocation, _value: JavaValue) {
        self.note(machine, frame, location);
    }

    fn is_done(&self) -> bool {
        self.is_over || self.found.is_some()
    }
}

enum SearchedPlace<'t> {
    Text(&'t str),
    Place(LocalPlace),
}

/// Watches for what is wanted.
struct JavaSearch<'h> {
    target: SearchedPlace<'h>,
    from: Step,
    time: TimeDirection,
    shown: &'h dyn Fn(Step) -> Step,
    is_stopped: &'h mut dyn FnMut(Step) -> bool,
    /// The first one, or the last one.
    found: Option<Step>,
    stopped: Option<Step>,
    n_steps: u32,
}

impl JavaSearch<'_> {
    fn hit(&mut self, step: Step) {
        self.found = self.time.nearest(self.from, self.found, (self.shown)(step));
    }

    /// Whether a step may be what is looked for.
    fn is_ahead(&self, step: Step) -> bool {
        self.time == TimeDirection::Backward || step > self.from
    }
}

impl Watch for JavaSearch<'_> {
    fn step(&mut self, machine: &JavaMachine, frame: &JavaFrame) {
        self.n_steps = machine.n_steps;
        if self.n_steps.is_multiple_of(SLICE) {
            // Backward nothing is known before the search has come to where it began.
            let reached = if self.time == TimeDirection::Forward { frame.step.max(self.from) } else { self.from };
            if (self.is_stopped)(reached) {
                self.stopped = Some(reached);
            }
        }
        if let SearchedPlace::Text(text) = self.target
            && frame.step == frame.entry
            && self.is_ahead(frame.step)
            && frame.method.function.contains(text)
        {
            self.hit(frame.step);
        }
    }

    fn writes(&mut self, machine: &JavaMachine, frame: &JavaFrame, location: ValueLocation, value: JavaValue) {
        if !self.is_ahead(frame.step) {
            return;
        }
        let is_hit = match self.target {
            SearchedPlace::Place(wanted) => place(frame, location) == wanted,
            SearchedPlace::Text(text) => {
                let name = text::name(machine, frame, location);
                format!("{} = {}", name.text, text::value(machine, &name.descriptor, value)).contains(text)
            }
        };
        if is_hit {
            self.hit(frame.step);
        }
    }

    fn called(&mut self, machine: &JavaMachine, frame: &JavaFrame, call: &LibraryCall<'_>) {
        let SearchedPlace::Text(text) = self.target else { return };
        if !self.is_ahead(frame.step) {
            return;
        }
        let (arguments, name) = detail::call(machine, call);
        let descriptor = result_type(&call.callee.member.descriptor);
        let result = call.result.map(|result| format!(" = {}", text::value(machine, descriptor, result)));
        if format!("{name}({}){}", arguments.join(", "), result.unwrap_or_default()).contains(text) {
            self.hit(frame.step);
        }
    }

    fn is_done(&self) -> bool {
        let is_past = self.time == TimeDirection::Backward && self.n_steps > self.from.0;
        is_past || self.stopped.is_some() || self.time == TimeDirection::Forward && self.found.is_some()
    }
}
