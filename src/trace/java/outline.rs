//! Takes down where the steps of a run stand, and what the program printed.

use crate::java::output::JavaOutput;
use crate::java::{JavaFrame, JavaMachine, JavaValue, LibraryCall, ValueLocation, Watch};
use crate::output::{OutputStream, WrittenOutput};
use crate::{ObservableCall, OutlineReader, Run, StepStand};

/// Takes the outline of a run down while it is played.
#[derive(Debug, Default)]
pub struct JavaOutlineReader {
    outline: OutlineReader,
    printed: JavaOutput,
}

impl JavaOutlineReader {
    /// Before the first step.
    pub fn new() -> Self {
        Self { outline: OutlineReader::new(), printed: JavaOutput::default() }
    }

    /// What the program has printed so far.
    pub fn written(&self) -> &[WrittenOutput] {
        &self.printed.found.written
    }

    /// The run, after all of it was played.
    pub fn end(self) -> Run {
        let said = |WrittenOutput { step, stream, bytes, .. }: WrittenOutput| ObservableCall {
            step,
            time: u64::from(step.0),
            function: if stream == OutputStream::Errors { "System.err" } else { "System.out" }.into(),
            words: Vec::new(),
            text: bytes,
        };
        let said = self.printed.end().written.into_iter().map(said).collect();
        Run { said, ..self.outline.run }
    }
}

impl Watch for JavaOutlineReader {
    fn step(&mut self, machine: &JavaMachine, frame: &JavaFrame) {
        self.printed.step(machine, frame);
        let is_entry = frame.step == frame.entry;
        self.outline.step(&StepStand {
            frame: frame.number,
            decider: frame.decider(),
            caller: frame.caller,
            decision: frame.method.decision(frame.at).filter(|_| !is_entry).map(|_| frame.statement),
            is_entry,
            is_rest: frame.is_rest && !is_entry,
            thread: machine.thread,
        });
    }

    fn reads(&mut self, machine: &JavaMachine, frame: &JavaFrame, location: ValueLocation, value: JavaValue) {
        self.printed.reads(machine, frame, location, value);
    }

    fn called(&mut self, machine: &JavaMachine, frame: &JavaFrame, call: &LibraryCall<'_>) {
        self.printed.called(machine, frame, call);
        if frame.step.0 != machine.n_steps {
            self.outline.returns(frame.step, machine.n_steps);
        }
    }

    fn leaves(&mut self, machine: &JavaMachine, _frame: &JavaFrame, _is_return: bool, _result: Option<JavaValue>) {
        if let Some(below) = machine.frames().last() {
            self.outline.returns(below.step, machine.n_steps);
        }
    }
}
