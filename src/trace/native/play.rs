//! Plays a trace from its beginning or from a checkpoint.
//!
//! A checkpoint is a copy of the [machine](crate::native::machine) at the beginning of a chunk; copies share the pages of memory that did not change between
//! them. There are only so many: when they would take too much room, every second one goes, and later ones are farther apart.

use std::collections::HashMap;
use std::sync::Arc;

use crate::instrument::map::MapError;
use crate::native::fault::{Fault, faults};
use crate::native::globals::Globals;
use crate::native::records::{NativeRecord, RecordPosition, Records};
use crate::native::units::RecordedUnits;
use crate::native::{FunctionShape, NativeMachine, Nobody, Watch};
use crate::spool::Spool;
use crate::{Naming, Step, Trace, TraceError};

/// Bytes that all checkpoints may take if they share nothing.
const MAX_BYTES: usize = 512 << 20;

/// Checkpoints at the most.
const MAX_CHECKPOINTS: usize = 64;

/// Steps between a copy of the process that is kept for the steps around one, and that one.
const NEAR: u32 = 2000;

/// A trace that is played.
pub struct NativePlayer {
    trace: Trace,
    units: RecordedUnits,
    records: Records,
    shapes: Vec<Option<Arc<FunctionShape>>>,
    /// The process, as it is after the records played so far.
    pub machine: NativeMachine,
    /// By thread, and by the end of the record that was broken off.
    faults: HashMap<(u32, u64), Fault>,
    checkpoints: Vec<(RecordPosition, NativeMachine)>,
    /// A copy of the process a little before the step that was approached last.
    near: Option<(RecordPosition, NativeMachine)>,
    /// Chunks from one checkpoint to the next.
    distance: usize,
    n_chunks_since: usize,
    naming: Option<Naming>,
    /// Records played so far, also those played again.
    pub n_played: u64,
    /// Where graphs of the run go that are too large for memory.
    pub spool: Option<Spool>,
}

impl NativePlayer {
    /// Opens a trace.
    pub fn new(mut trace: Trace, mut units: RecordedUnits) -> Result<Self, TraceError> {
        let globals = Globals::read(&mut trace, &mut units)?;
        let mut machine = NativeMachine::new(&trace.process.words);
        machine.ostreams = (globals.stream("_ZSt4cout"), ["_ZSt4cerr", "_ZSt4clog"].map(|name| globals.stream(name)));
        if trace.is_window() {
            machine.is_window = true;
        } else {
            globals.fill(&mut machine.memory);
        }
        machine.globals = Arc::new(globals);
        let faults = faults(&mut trace)?;
        let records = Records::new(&trace);
        let checkpoints = vec![(RecordPosition::default(), machine.clone())];
        Ok(Self {
            trace,
            units,
            records,
            shapes: Vec::new(),
            machine,
            faults,
            checkpoints,
            near: None,
            distance: 1,
            n_chunks_since: 0,
            naming: None,
            n_played: 0,
            spool: None,
        })
    }

    /// Goes to the beginning, and uses other names for functions and statements: those that another version has for them, too.
    pub fn rename(&mut self, naming: Naming) {
        self.naming = Some(naming);
        self.shapes.clear();
        self.near = None;
        self.checkpoints.truncate(1);
        if let Some((position, machine)) = self.checkpoints.first().cloned() {
            self.go_to(&position, machine);
        }
    }

    /// The trace.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Functions of the program met so far.
    pub fn shapes(&self) -> impl Iterator<Item = &Arc<FunctionShape>> {
        self.shapes.iter().flatten().filter(|shape| !shape.is_readback)
    }

    /// Goes to where so many records were taken, or to the end if there are fewer.
    ///
    /// Cost: plays from the last checkpoint before, or from the present place if that is nearer.
    pub fn seek(&mut self, n_records: u64) -> Result<(), TraceError> {
        let is_before = |(_, machine): &&(RecordPosition, NativeMachine)| machine.n_records <= n_records;
        let found = self.checkpoints.iter().rev().find(is_before);
        let is_nearer = found.is_some_and(|(_, machine)| machine.n_records > self.machine.n_records);
        if (self.machine.n_records > n_records || is_nearer)
            && let Some((position, machine)) = found.or(self.checkpoints.first())
        {
            self.go_to(&position.clone(), machine.clone());
        }
        self.play_while(&mut Nobody, |machine| machine.n_records < n_records)?;
        Ok(())
    }

    /// Moves a copy of the process on by records that are not of the trace.
    ///
    /// Errors: they are no records of its program. A last one that is cut short is left out.
    pub fn feed(
        &mut self,
        machine: &mut NativeMachine,
        records: &[u8],
        watch: &mut dyn Watch,
    ) -> Result<(), TraceError> {
        let mut at = 0;
        while !watch.is_done()
            && let Some(number) = records.get(at..).and_then(<[u8]>::first_chunk)
        {
            let segment = u32::from_le_bytes(*number);
            let entry = self.units.entry(segment)?;
            let Some(bytes) = records.get(at..at + entry.size as usize) else { break };
            at += entry.size as usize;
            let shape = shape_of(&mut self.shapes, &mut self.units, self.naming.as_ref(), entry.body)?;
            let record = NativeRecord { thread: machine.thread, segment, entry, bytes, offset: 0 };
            machine.take(&shape, &record, watch)?;
        }
        Ok(())
    }

    /// All functions of the program, also those that did not run.
    ///
    /// Cost: the text of each is parsed.
    pub fn program(&mut self) -> Result<Vec<Arc<FunctionShape>>, TraceError> {
        let mut all = Vec::new();
        for map in self.machine.globals.maps().to_vec() {
            for firsts in map.firsts.windows(2).filter(|firsts| firsts[0] < firsts[1]) {
                let entry = self.units.entry(firsts[0])?;
                all.push(shape_of(&mut self.shapes, &mut self.units, self.naming.as_ref(), entry.body)?);
            }
        }
        Ok(all)
    }

    /// A function that need not have run, by its unit's source file and its name.
    pub fn function(&mut self, file: &str, name: &str) -> Result<Option<Arc<FunctionShape>>, TraceError> {
        let Some(segment) = self.units.find(file, name)? else { return Ok(None) };
        let entry = self.units.entry(segment)?;
        shape_of(&mut self.shapes, &mut self.units, self.naming.as_ref(), entry.body).map(Some)
    }

    /// Plays on until the watch has seen enough; returns whether there is more.
    pub fn play(&mut self, watch: &mut dyn Watch) -> Result<bool, TraceError> {
        self.play_while(watch, |_| true)
    }

    /// Plays the whole run, until the watch has seen enough.
    pub fn replay(&mut self, watch: &mut dyn Watch) -> Result<(), TraceError> {
        self.seek(0)?;
        self.play(watch)?;
        Ok(())
    }

    /// The same from the nearest place that is known before a step begins.
    pub fn replay_from(&mut self, step: Step, watch: &mut dyn Watch) -> Result<(), TraceError> {
        self.rewind(step);
        self.play(watch)?;
        Ok(())
    }

    fn play_while<W: Watch + ?Sized>(
        &mut self,
        watch: &mut W,
        is_wanted: impl Fn(&NativeMachine) -> bool,
    ) -> Result<bool, TraceError> {
        while !watch.is_done() && is_wanted(&self.machine) {
            if self.play_one(watch)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Plays one record, and gives the number of its segment; `None` at the end.
    pub fn next(&mut self, watch: &mut dyn Watch) -> Result<Option<u32>, TraceError> {
        self.play_one(watch)
    }

    #[inline]
    fn play_one<W: Watch + ?Sized>(&mut self, watch: &mut W) -> Result<Option<u32>, TraceError> {
        if let Some(position) = self.records.position() {
            if self.n_chunks_since >= self.distance {
                let position = position.clone();
                self.keep(position);
            }
            self.n_chunks_since += 1;
        }
        let Some(record) = self.records.next(&mut self.trace, &mut self.units)? else { return Ok(None) };
        self.n_played += 1;
        let index = record.entry.body as usize;
        if self.shapes.get(index).is_none_or(Option::is_none) {
            shape_of(&mut self.shapes, &mut self.units, self.naming.as_ref(), record.entry.body)?;
        }
        let Some(Some(shape)) = self.shapes.get(index) else {
            return Err(TraceError::Damaged("a record of no function"));
        };
        let end = record.offset + record.bytes.len() as u64;
        match self.faults.get(&(record.thread, end)) {
            Some(fault) => fault.take(&mut self.machine, shape, &record, watch)?,
            None => self.machine.take(shape, &record, watch)?,
        }
        Ok(Some(record.segment))
    }

    fn keep(&mut self, position: RecordPosition) {
        self.n_chunks_since = 0;
        if self.checkpoints.iter().any(|(_, machine)| machine.n_steps >= self.machine.n_steps) {
            return;
        }
        self.checkpoints.push((position, self.machine.clone()));
        let bytes = |machine: &NativeMachine| {
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

    /// Goes to the nearest place that is known before a step begins, from where it can be played.
    pub fn rewind(&mut self, step: Step) {
        let n_steps = self.machine.n_steps;
        let found = self.checkpoints.iter().rev().find(|(_, machine)| machine.n_steps < step.0);
        let is_nearer = found.is_some_and(|(_, machine)| machine.n_steps > n_steps);
        if n_steps < step.0 && !is_nearer {
            return;
        }
        if let Some((position, machine)) = found.or(self.checkpoints.first()) {
            self.go_to(&position.clone(), machine.clone());
        }
    }

    /// Goes to a place before a step begins, from where it can be played. The steps around it are reached faster then than
    /// from a checkpoint.
    ///
    /// Cost: plays from the last checkpoint before the step, or from the last place that was approached if that is nearer.
    pub fn approach(&mut self, step: Step) -> Result<(), TraceError> {
        self.rewind(step);
        let n_steps = self.machine.n_steps;
        let near = self.near.as_ref().filter(|(_, near)| (n_steps + 1..step.0).contains(&near.n_steps));
        if let Some((position, machine)) = near.cloned() {
            self.go_to(&position, machine);
        }
        let begin = step.0.saturating_sub(NEAR);
        if self.machine.n_steps < begin {
            self.play_while(&mut Nobody, |machine| machine.n_steps < begin)?;
            self.near = Some((self.records.middle(), self.machine.clone()));
        }
        if self.machine.n_steps >= step.0 {
            self.rewind(step);
        }
        Ok(())
    }

    fn go_to(&mut self, position: &RecordPosition, machine: NativeMachine) {
        self.records.seek(position);
        self.machine = machine;
        self.n_chunks_since = 0;
    }
}

/// A function, read when it is first met.
fn shape_of(
    shapes: &mut Vec<Option<Arc<FunctionShape>>>,
    units: &mut RecordedUnits,
    naming: Option<&Naming>,
    number: u32,
) -> Result<Arc<FunctionShape>, TraceError> {
    let index = number as usize;
    if let Some(Some(shape)) = shapes.get(index) {
        return Ok(Arc::clone(shape));
    }
    let body = Arc::clone(units.body(number));
    let map = units.map(body.unit)?;
    let mut shape = FunctionShape::new(&body, map, number).map_err(MapError::from)?;
    if let Some(naming) = naming {
        shape.keys = naming(&map.module.source, &body.function.name, shape.statements.len());
    }
    if shapes.len() <= index {
        shapes.resize(index + 1, None);
    }
    let shape = Arc::new(shape);
    shapes[index] = Some(Arc::clone(&shape));
    Ok(shape)
}
