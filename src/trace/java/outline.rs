//! Takes down where the steps of a run stand, and what the program printed.

use crate::java::machine::{Callee, Frame, Location, Machine, Value, Watch};
use crate::java::output::Printed;
use crate::output::{Stream, Written};
use crate::run::{Outline, Run, Said, Stand};

/// Takes the outline of a run down while it is played.
#[derive(Debug, Default)]
pub struct Reader {
    outline: Outline,
    printed: Printed,
}

impl Reader {
    /// Before the first step.
    pub fn new() -> Self {
        Self { outline: Outline::new(), printed: Printed::default() }
    }

    /// What the program has printed so far.
    pub fn written(&self) -> &[Written] {
        &self.printed.found.written
    }

    /// The run, after all of it was played.
    pub fn end(self) -> Run {
        let said = |Written { step, stream, bytes, .. }: Written| Said {
            step,
            time: u64::from(step.0),
            function: if stream == Stream::Errors { "System.err" } else { "System.out" }.into(),
            words: Vec::new(),
            text: bytes,
        };
        let said = self.printed.end().written.into_iter().map(said).collect();
        Run { said, ..self.outline.run }
    }
}

impl Watch for Reader {
    fn step(&mut self, machine: &Machine, frame: &Frame) {
        self.printed.step(machine, frame);
        let is_entry = frame.step == frame.entry;
        self.outline.step(&Stand {
            frame: frame.number,
            decider: frame.decider(),
            caller: frame.caller,
            decision: frame.method.decision(frame.at).filter(|_| !is_entry).map(|_| frame.statement),
            is_entry,
            is_rest: frame.is_rest && !is_entry,
            thread: machine.thread,
        });
    }

    fn reads(&mut self, machine: &Machine, frame: &Frame, location: Location, value: Value) {
        self.printed.reads(machine, frame, location, value);
    }

    fn called(&mut self, machine: &Machine, frame: &Frame, callee: &Callee, given: &[Value], result: Option<Value>) {
        self.printed.called(machine, frame, callee, given, result);
        if frame.step.0 != machine.n_steps {
            self.outline.returns(frame.step, machine.n_steps);
        }
    }

    fn leaves(&mut self, machine: &Machine, _frame: &Frame, _is_return: bool, _result: Option<Value>) {
        if let Some(below) = machine.frames().last() {
            self.outline.returns(below.step, machine.n_steps);
        }
    }
}
