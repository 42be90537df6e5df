//! Plays a trace from its beginning.

use crate::trace::TraceError;
use crate::trace::container::Trace;
use crate::trace::java::machine::Machine;
use crate::trace::java::machine::Nobody;
use crate::trace::java::machine::Watch;
use crate::trace::java::objects::Objects;
use crate::trace::java::program::Program;
use crate::trace::java::streams::Streams;
use crate::trace::spool::Spool;
use std::sync::Arc;

/// A trace of Java that is played.
pub struct Player {
    trace: Trace,
    streams: Streams,
    /// The process, as it is after the records played so far.
    pub machine: Machine,
    /// Where graphs of the run go that are too large for memory.
    pub spool: Option<Spool>,
}

impl Player {
    /// Opens a trace.
    pub fn new(mut trace: Trace) -> Result<Self, TraceError> {
        let program = Program::read(&mut trace)?;
        let machine = Machine::new(program, Arc::new(Objects::read(&mut trace)?));
        let streams = Streams::new(&trace);
        Ok(Self { trace, streams, machine, spool: None })
    }

    /// The trace.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Goes back to the beginning.
    pub fn rewind(&mut self) {
        self.machine.rewind();
        self.streams = Streams::new(&self.trace);
    }

    /// Plays on to the end, or until the watcher is done.
    pub fn play<W: Watch>(&mut self, watch: &mut W) -> Result<(), TraceError> {
        while !watch.is_done()
            && let Some(record) = self.streams.next(&mut self.trace, &self.machine.program)?
        {
            self.machine.take(record, watch)?;
        }
        if !watch.is_done() {
            self.machine.finish(watch);
        }
        Ok(())
    }

    /// Plays the whole trace from its beginning.
    pub fn replay<W: Watch>(&mut self, watch: &mut W) -> Result<(), TraceError> {
        self.rewind();
        self.play(watch)
    }

    /// The number of steps of the run.
    ///
    /// Cost: plays the trace to its end.
    pub fn n_steps(&mut self) -> Result<u32, TraceError> {
        self.play(&mut Nobody)?;
        Ok(self.machine.n_steps)
    }
}
