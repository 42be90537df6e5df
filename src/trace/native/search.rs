//! Searches a run for a step that writes some bytes, or that shows a text. The search plays the run in slices, and asks after
//! each whether it goes on.

use std::collections::HashMap;

use crate::native::owner::{Owner, owner};
use crate::native::visit::at_step;
use crate::native::{NativeCall, NativeMachine, NativePlayer, View, Watch, detail};
use crate::{SearchOutcome, Step, TimeDirection, TraceError};

/// Steps between two questions whether the search goes on.
const SLICE: u32 = 10_000;

/// What is searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NativeTarget {
    /// A write of some of these bytes of a variable or block: the address, how many, and what they belong to.
    Write(u64, u64, Owner),
    /// A text in the name of a called function, in `name = value` of what is written, or in a call of a function that is not
    /// instrumented.
    Text(String),
}

/// What an address belongs to while a step uses it, or before it does.
///
/// Cost: plays the step.
pub fn owner_at(player: &mut NativePlayer, step: Step, address: u64, size: u64) -> Result<Owner, TraceError> {
    let mut owned = Owned { address, size, owner: Owner::Program };
    at_step(player, step, &mut owned)?;
    Ok(owned.owner)
}

fn is_apart(address: u64, size: u64, other: u64, length: u64) -> bool {
    address >= other.saturating_add(length) || other >= address.saturating_add(size)
}

struct Owned {
    address: u64,
    size: u64,
    owner: Owner,
}

impl Watch for Owned {
    fn step(&mut self, machine: &NativeMachine) {
        self.owner = owner(machine, self.address);
    }

    fn reads(&mut self, machine: &NativeMachine, _step: Step, address: u64, bytes: &[u8]) {
        if !is_apart(self.address, self.size, address, bytes.len() as u64) {
            self.owner = owner(machine, self.address);
        }
    }

    fn writes(&mut self, machine: &NativeMachine, _step: Step, address: u64, length: u64) {
        if !is_apart(self.address, self.size, address, length) {
            self.owner = owner(machine, self.address);
        }
    }
}

/// Searches from a step on: the first one after it, or the last one before it.
///
/// - `shown`: the step that a person looks at for another one; `from` is such a step, and so is the result.
/// - `is_stopped`: is given the step that the search has come to, about every [`SLICE`] steps.
///
/// Cost: plays from `from` to what is found; backward, from the last checkpoint before what is found to `from`.
pub fn search(
    player: &mut NativePlayer,
    wanted: &NativeTarget,
    from: Step,
    time: TimeDirection,
    shown: &dyn Fn(Step) -> Step,
    is_stopped: &mut dyn FnMut(Step) -> bool,
) -> Result<SearchOutcome, TraceError> {
    let hunt = NativeSearch {
        wanted,
        from,
        time,
        shown,
        functions: HashMap::new(),
        found: None,
        slice: 0,
        end: u32::MAX,
        is_over: false,
    };
    match time {
        TimeDirection::Forward => forward(player, hunt, is_stopped),
        TimeDirection::Backward => backward(player, hunt, is_stopped),
    }
}

fn forward(
    player: &mut NativePlayer,
    mut hunt: NativeSearch<'_>,
    is_stopped: &mut dyn FnMut(Step) -> bool,
) -> Result<SearchOutcome, TraceError> {
    player.approach(Step(hunt.from.0 + 1))?;
    loop {
        let is_more = hunt.play(player)?;
        if let Some(step) = hunt.found {
            return Ok(SearchOutcome::Found(step));
        }
        if !is_more {
            return Ok(SearchOutcome::Nothing);
        }
        let now = Step(player.machine.n_steps);
        if now > hunt.from && is_stopped(now) {
            return Ok(SearchOutcome::Stopped(now));
        }
    }
}

fn backward(
    player: &mut NativePlayer,
    mut hunt: NativeSearch<'_>,
    is_stopped: &mut dyn FnMut(Step) -> bool,
) -> Result<SearchOutcome, TraceError> {
    hunt.end = hunt.from.0;
    loop {
        player.rewind(Step(hunt.end));
        if player.machine.n_steps >= hunt.end {
            return Ok(SearchOutcome::Nothing);
        }
        let begin = player.machine.n_steps;
        while !hunt.is_over && hunt.play(player)? {
            // Until the whole block was played, nothing is known of its end.
            if !hunt.is_over && is_stopped(Step(hunt.end)) {
                return Ok(SearchOutcome::Stopped(Step(hunt.end)));
            }
        }
        if let Some(step) = hunt.found {
            return Ok(SearchOutcome::Found(step));
        }
        if begin == 0 {
            return Ok(SearchOutcome::Nothing);
        }
        (hunt.end, hunt.is_over) = (begin, false);
    }
}

/// Watches for what is wanted.
struct NativeSearch<'h> {
    wanted: &'h NativeTarget,
    from: Step,
    time: TimeDirection,
    shown: &'h dyn Fn(Step) -> Step,
    /// By the number of a function: whether its name has the text.
    functions: HashMap<u32, bool>,
    /// The first one, or the last one.
    found: Option<Step>,
    /// Where the slice ends.
    slice: u32,
    /// Where the search ends.
    end: u32,
    is_over: bool,
}

impl NativeSearch<'_> {
    /// Plays a slice; returns whether the run has more.
    fn play(&mut self, player: &mut NativePlayer) -> Result<bool, TraceError> {
        self.slice = player.machine.n_steps.saturating_add(SLICE);
        player.play(self)
    }

    fn hit(&mut self, step: Step) {
        self.found = self.time.nearest(self.from, self.found, (self.shown)(step));
    }
}

impl Watch for NativeSearch<'_> {
    fn step(&mut self, machine: &NativeMachine) {
        if machine.n_steps > self.end {
            self.is_over = true;
            return;
        }
        if machine.n_steps >= self.slice {
            self.slice = 0;
        }
        let (NativeTarget::Text(text), Some(frame)) = (self.wanted, machine.frame()) else { return };
        if frame.statement == 0 {
            let has = || frame.shape.name().contains(text.as_str());
            if *self.functions.entry(frame.shape.index).or_insert_with(has) {
                self.hit(frame.step);
            }
        }
    }

    fn writes(&mut self, machine: &NativeMachine, step: Step, address: u64, length: u64) {
        let is_hit = match self.wanted {
            NativeTarget::Write(begin, size, whose) => {
                !is_apart(*begin, *size, address, length) && owner(machine, *begin) == *whose
            }
            NativeTarget::Text(text) => {
                let named = detail::written(View::new(machine), address, length);
                let value = named.value.as_deref().unwrap_or("?");
                value.contains(text.as_str()) || format!("{} = {value}", named.name).contains(text.as_str())
            }
        };
        if is_hit && !self.is_over {
            self.hit(step);
        }
    }

    fn called(&mut self, machine: &NativeMachine, call: &NativeCall, arguments: &[Option<u64>], result: Option<u64>) {
        let (NativeTarget::Text(text), Some(frame)) = (self.wanted, machine.frame()) else { return };
        let call = detail::outside(View::new(machine), call, arguments, result);
        let (name, result) = (call.name.as_deref().unwrap_or("a function"), call.result.as_deref());
        let told = format!("{name}({})", call.arguments.join(", "));
        let told = result.map_or_else(|| told.clone(), |result| format!("{told} = {result}"));
        if told.contains(text.as_str()) && !self.is_over {
            self.hit(frame.step);
        }
    }

    fn is_done(&self) -> bool {
        self.is_over || self.time == TimeDirection::Forward && self.found.is_some() || self.slice == 0
    }
}
