//! Plays a trace from its beginning or from a checkpoint.
//!
//! A checkpoint is a copy of the [machine](crate::trace::machine) at the beginning of a chunk; copies share the pages of memory that did not change between
//! them. There are only so many: when they would take too much room, every second one goes, and later ones are farther apart.

use std::sync::Arc;

use crate::instrument::map::MapError;
use crate::trace::TraceError;
use crate::trace::container::Trace;
use crate::trace::globals::Globals;
use crate::trace::machine::Machine;
use crate::trace::machine::Watch;
use crate::trace::records::Position;
use crate::trace::records::Records;
use crate::trace::shape::Shape;
use crate::trace::step::Step;
use crate::trace::units::Units;

/// Bytes that all checkpoints may take if they share nothing.
const MAX_BYTES: usize = 512 << 20;

/// Checkpoints at the most.
const MAX_CHECKPOINTS: usize = 64;

/// A trace that is played.
pub struct Player {
    trace: Trace,
    units: Units,
    records: Records,
    shapes: Vec<Option<Arc<Shape>>>,
    /// The process, as it is after the records played so far.
    pub machine: Machine,
    /// Its global variables.
    pub globals: Arc<Globals>,
    checkpoints: Vec<(Position, Machine)>,
    /// Chunks from one checkpoint to the next.
    distance: usize,
    n_chunks_since: usize,
    /// Records played so far, also those played again.
    pub n_played: u64,
}

impl Player {
    /// Opens a trace.
    pub fn new(mut trace: Trace, mut units: Units) -> Result<Self, TraceError> {
        let globals = Globals::read(&mut trace, &mut units)?;
        let mut machine = Machine::new(&trace.process.words);
        if trace.is_window() {
            machine.is_window = true;
        } else {
            globals.fill(&mut machine.memory);
        }
        let records = Records::new(&trace);
        let checkpoints = vec![(Position::default(), machine.clone())];
        Ok(Self {
            trace,
            units,
            records,
            shapes: Vec::new(),
            machine,
            globals: Arc::new(globals),
            checkpoints,
            distance: 1,
            n_chunks_since: 0,
            n_played: 0,
        })
    }

    /// The trace.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Functions met so far.
    pub fn shapes(&self) -> impl Iterator<Item = &Arc<Shape>> {
        self.shapes.iter().flatten()
    }

    /// Plays on until the watch has seen enough; returns whether there is more.
    pub fn play<W: Watch>(&mut self, watch: &mut W) -> Result<bool, TraceError> {
        while !watch.is_done() {
            if let Some(position) = self.records.position() {
                if self.n_chunks_since >= self.distance {
                    let position = position.clone();
                    self.keep(position);
                }
                self.n_chunks_since += 1;
            }
            let Some(record) = self.records.next(&mut self.trace, &mut self.units)? else { return Ok(false) };
            self.n_played += 1;
            let index = record.entry.body as usize;
            if self.shapes.get(index).is_none_or(Option::is_none) {
                let body = Arc::clone(self.units.body(record.entry.body));
                let map = self.units.map(body.unit)?;
                let shape = Shape::new(&body, map, record.entry.body).map_err(MapError::from)?;
                if self.shapes.len() <= index {
                    self.shapes.resize(index + 1, None);
                }
                self.shapes[index] = Some(Arc::new(shape));
            }
            let Some(Some(shape)) = self.shapes.get(index) else {
                return Err(TraceError::Damaged("a record of no function"));
            };
            self.machine.take(shape, &record, watch)?;
        }
        Ok(true)
    }

    fn keep(&mut self, position: Position) {
        self.n_chunks_since = 0;
        if self.checkpoints.iter().any(|(_, machine)| machine.n_steps >= self.machine.n_steps) {
            return;
        }
        self.checkpoints.push((position, self.machine.clone()));
        let bytes = |machine: &Machine| {
            let (n_pages, size) = machine.memory.n_pages();
            n_pages * size
        };
        let n_bytes: usize = self.checkpoints.iter().map(|(_, machine)| bytes(machine)).sum();
        if self.checkpoints.len() > MAX_CHECKPOINTS || n_bytes > MAX_BYTES {
            let mut number = 0;
            self.checkpoints.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.distance *= 2;
        }
    }

    /// Goes back to a place before a step begins, from where it can be played.
    pub fn rewind(&mut self, step: Step) {
        if self.machine.n_steps < step.0 {
            return;
        }
        let found = self.checkpoints.iter().rev().find(|(_, machine)| machine.n_steps < step.0);
        if let Some((position, machine)) = found.or(self.checkpoints.first()) {
            self.records.seek(position);
            self.machine = machine.clone();
            self.n_chunks_since = 0;
        }
    }
}
