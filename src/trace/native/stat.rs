//! Counts a run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::native::{NativeCall, NativeMachine, NativePlayer, UsedThing, Watch};
use crate::stat::{HeapCounts, Stat};
use crate::{Step, TraceError};

#[derive(Default)]
struct NativeCounter {
    n_accesses: u64,
    n_uses: u64,
    threads: BTreeSet<u32>,
    last_thread: Option<u32>,
    unmodelled: BTreeMap<Arc<str>, u64>,
}

impl Watch for NativeCounter {
    fn step(&mut self, machine: &NativeMachine) {
        if self.last_thread != Some(machine.thread) {
            self.threads.insert(machine.thread);
            self.last_thread = Some(machine.thread);
        }
    }

    fn uses(&mut self, _user: Step, _maker: Step, _what: UsedThing) {
        self.n_uses += 1;
    }

    fn reads(&mut self, _machine: &NativeMachine, _step: Step, _address: u64, _bytes: &[u8]) {
        self.n_accesses += 1;
    }

    fn writes(&mut self, _machine: &NativeMachine, _step: Step, _address: u64, _length: u64) {
        self.n_accesses += 1;
    }

    fn looks(&mut self, machine: &NativeMachine, _step: Step, _address: u64, _length: u64) {
        // A variable that was set before the stored part: its value is unknown, but the read counts.
        self.n_accesses += u64::from(machine.frame().is_some_and(|frame| frame.is_partial));
    }

    fn called(
        &mut self,
        _machine: &NativeMachine,
        call: &NativeCall,
        _arguments: &[Option<u64>],
        _result: Option<u64>,
    ) {
        if let Some(name) = call.name.as_ref().filter(|_| call.model.is_none()) {
            *self.unmodelled.entry(Arc::clone(name)).or_insert(0) += 1;
        }
    }
}

/// Counts a whole trace.
///
/// Cost: one pass over the trace.
pub fn stat(player: &mut NativePlayer) -> Result<Stat, TraceError> {
    let mut counter = NativeCounter::default();
    player.seek(0)?;
    let n_before = player.n_played;
    player.play(&mut counter)?;
    let mut unmodelled: Vec<(String, u64)> =
        counter.unmodelled.into_iter().map(|(name, n)| (name.to_string(), n)).collect();
    unmodelled.sort_by_key(|(name, n)| (u64::MAX - n, name.clone()));
    let machine = &player.machine;
    Ok(Stat {
        n_records: player.n_played - n_before,
        n_bytes: player.trace().n_bytes(),
        n_repeated: player.trace().n_repeated(),
        n_events: machine.n_events,
        n_steps: machine.n_steps,
        n_accesses: counter.n_accesses,
        n_uses: counter.n_uses,
        n_functions: player.shapes().count(),
        n_threads: counter.threads.len(),
        n_calls: machine.n_frames,
        heap: HeapCounts { n_made: machine.heap.n_made, n_live: machine.heap.n_live() },
        check: machine.check,
        unmodelled,
    })
}
