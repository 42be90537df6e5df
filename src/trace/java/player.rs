//! Plays a trace from its beginning, or from a checkpoint.
//!
//! A checkpoint is a copy of the process between two records. There are only so many: when they would take too much room,
//! every second one goes, and later ones are farther apart.

use crate::java::streams::Streams;
use crate::java::{JavaFrame, JavaMachine, JavaMoment, JavaObjects, JavaProgram, Nobody, Watch};
use crate::spool::Spool;
use crate::{Step, Trace, TraceError};
use std::mem;
use std::sync::Arc;

/// Records from one checkpoint to the next, at first.
const DISTANCE: u64 = 1 << 15;

/// Checkpoints at the most.
const MAX_CHECKPOINTS: usize = 32;

/// Places that all checkpoints may know something of.
const MAX_PLACES: usize = 4 << 20;

/// A point from which a trace is played.
struct Checkpoint {
    streams: Streams,
    moment: JavaMoment,
    n_records: u64,
    n_places: usize,
}

/// A trace of Java that is played.
pub struct JavaPlayer {
    trace: Trace,
    streams: Streams,
    /// Ascending.
    checkpoints: Vec<Checkpoint>,
    distance: u64,
    /// The process, as it is after the records played so far.
    pub machine: JavaMachine,
    /// Where graphs of the run go that are too large for memory.
    pub spool: Option<Spool>,
}

impl JavaPlayer {
    /// Opens a trace.
    pub fn new(mut trace: Trace) -> Result<Self, TraceError> {
        let program = JavaProgram::read(&mut trace)?;
        let machine = JavaMachine::new(program, Arc::new(JavaObjects::read(&mut trace)?));
        let streams = Streams::new(&trace);
        Ok(Self { trace, streams, checkpoints: Vec::new(), distance: DISTANCE, machine, spool: None })
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
    pub fn play(&mut self, watch: &mut dyn Watch) -> Result<(), TraceError> {
        while !watch.is_done()
            && let Some(record) = self.streams.next(&mut self.trace, &self.machine.program)?
        {
            self.machine.take(record, watch)?;
            if self.machine.n_records.is_multiple_of(self.distance) {
                self.keep();
            }
        }
        if !watch.is_done() {
            self.machine.finish(watch);
        }
        Ok(())
    }

    /// Plays the whole trace from its beginning.
    pub fn replay(&mut self, watch: &mut dyn Watch) -> Result<(), TraceError> {
        self.rewind();
        self.play(watch)
    }

    /// Plays the whole trace from its beginning, and keeps no checkpoints.
    pub fn replay_once(&mut self, watch: &mut dyn Watch) -> Result<(), TraceError> {
        let distance = mem::replace(&mut self.distance, u64::MAX);
        let played = self.replay(watch);
        self.distance = distance;
        played
    }

    fn keep(&mut self) {
        let n_records = self.machine.n_records;
        if self.checkpoints.last().is_some_and(|last| last.n_records >= n_records) {
            return;
        }
        let (streams, moment, n_places) = (self.streams.clone(), self.machine.moment(), self.machine.memory.len());
        self.checkpoints.push(Checkpoint { streams, moment, n_records, n_places });
        let n_all: usize = self.checkpoints.iter().map(|checkpoint| checkpoint.n_places).sum();
        if self.checkpoints.len() > MAX_CHECKPOINTS || n_all > MAX_PLACES {
            self.distance *= 2;
            let distance = self.distance;
            self.checkpoints.retain(|checkpoint| checkpoint.n_records.is_multiple_of(distance));
        }
    }

    /// Plays the trace from before a step on.
    ///
    /// Cost: plays from the last checkpoint before the step.
    pub fn replay_from(&mut self, step: Step, watch: &mut dyn Watch) -> Result<(), TraceError> {
        let is_before = |checkpoint: &&Checkpoint| checkpoint.moment.n_steps < step.0;
        match self.checkpoints.iter().rev().find(is_before) {
            Some(checkpoint) => {
                self.machine.go_to(checkpoint.moment.clone());
                self.streams = checkpoint.streams.clone();
            }
            None => self.rewind(),
        }
        self.play(watch)
    }

    /// Looks at the process right before each step, from a step on, as long as `look` wants to see more.
    ///
    /// Cost: plays from the last checkpoint before the step.
    pub fn look_from(
        &mut self,
        step: Step,
        look: impl FnMut(&JavaMachine, &JavaFrame) -> bool,
    ) -> Result<(), TraceError> {
        self.replay_from(step, &mut Looking { look, is_done: false })
    }

    /// The number of steps of the run.
    ///
    /// Cost: plays the trace to its end.
    pub fn n_steps(&mut self) -> Result<u32, TraceError> {
        self.play(&mut Nobody)?;
        Ok(self.machine.n_steps)
    }
}

struct Looking<F> {
    look: F,
    is_done: bool,
}

impl<F: FnMut(&JavaMachine, &JavaFrame) -> bool> Watch for Looking<F> {
    fn step(&mut self, machine: &JavaMachine, frame: &JavaFrame) {
        self.is_done |= !(self.look)(machine, frame);
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}
