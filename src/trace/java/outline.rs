//! Takes down where the steps of a run stand, and what the program printed.

use crate::trace::TraceError;
use crate::trace::java::frame::Frame;
use crate::trace::java::machine::Machine;
use crate::trace::java::machine::Watch;
use crate::trace::java::method::Callee;
use crate::trace::java::output;
use crate::trace::java::player::Player;
use crate::trace::java::value::Value;
use crate::trace::output::Stream;
use crate::trace::output::Written;
use crate::trace::run::Outline;
use crate::trace::run::Run;
use crate::trace::run::Said;
use crate::trace::run::Stand;

/// Takes the outline of a run down while it is played.
#[derive(Debug, Default)]
pub struct Reader(Outline);

impl Reader {
    /// Before the first step.
    pub fn new() -> Self {
        Self(Outline::new())
    }

    /// The run, after all of it was played.
    pub fn end(self) -> Run {
        self.0.run
    }
}

impl Watch for Reader {
    fn step(&mut self, machine: &Machine, frame: &Frame) {
        let is_entry = frame.step == frame.entry;
        self.0.step(&Stand {
            frame: frame.number,
            decider: frame.decider(),
            caller: frame.caller,
            decision: frame.method.decision(frame.at).filter(|_| !is_entry).map(|_| frame.statement),
            is_entry,
            thread: machine.thread,
        });
    }

    fn called(&mut self, machine: &Machine, frame: &Frame, _: &Callee, _: &[Value], _: Option<Value>) {
        if frame.step.0 != machine.n_steps {
            self.0.returns(frame.step, machine.n_steps);
        }
    }

    fn leaves(&mut self, machine: &Machine, _frame: &Frame, _is_return: bool, _result: Option<Value>) {
        if let Some(below) = machine.frames().last() {
            self.0.returns(below.step, machine.n_steps);
        }
    }
}

/// What a program printed, as calls that the outside can observe.
///
/// Cost: one pass over the trace.
pub fn said(player: &mut Player) -> Result<Vec<Said>, TraceError> {
    let said = |Written { step, stream, bytes, .. }: Written| Said {
        step,
        time: u64::from(step.0),
        function: if stream == Stream::Errors { "System.err" } else { "System.out" }.into(),
        words: Vec::new(),
        text: bytes,
    };
    Ok(output::outputs(player)?.written.into_iter().map(said).collect())
}
