//! The counts of a recorded run.

use crate::java::text::simple;
use crate::java::{JavaFrame, JavaMachine, JavaPlayer, JavaUse, JavaValue, LibraryCall, ValueLocation, Watch};
use crate::stat::{HeapCounts, Stat, ValueCheck};
use crate::{Step, TraceError};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

#[derive(Default)]
struct JavaCounter {
    n_accesses: u64,
    n_uses: u64,
    methods: HashSet<u32>,
    threads: HashSet<u32>,
    n_modelled: u64,
    unmodelled: BTreeMap<(Arc<str>, Arc<str>), u64>,
}

impl Watch for JavaCounter {
    fn enters(&mut self, machine: &JavaMachine, frame: &JavaFrame) {
        self.methods.insert(frame.method.number);
        self.threads.insert(machine.thread);
    }

    fn uses(&mut self, _user: Step, _maker: Step, _what: JavaUse) {
        self.n_uses += 1;
    }

    fn reads(&mut self, _machine: &JavaMachine, _frame: &JavaFrame, _location: ValueLocation, _value: JavaValue) {
        self.n_accesses += 1;
    }

    fn writes(&mut self, _machine: &JavaMachine, _frame: &JavaFrame, _location: ValueLocation, _value: JavaValue) {
        self.n_accesses += 1;
    }

    fn called(&mut self, machine: &JavaMachine, _frame: &JavaFrame, call: &LibraryCall<'_>) {
        if machine.is_modelled(call) {
            self.n_modelled += 1;
        } else {
            let member = &call.callee.member;
            let name = (Arc::clone(&member.class), Arc::clone(&member.name));
            *self.unmodelled.entry(name).or_insert(0) += 1;
        }
    }
}

/// Counts a whole trace.
///
/// Cost: one pass over the trace.
pub fn stat(player: &mut JavaPlayer) -> Result<Stat, TraceError> {
    let mut counter = JavaCounter::default();
    player.replay_once(&mut counter)?;
    let name = |((class, name), n): ((Arc<str>, Arc<str>), u64)| (format!("{}.{name}", simple(&class)), n);
    let mut unmodelled: Vec<(String, u64)> = counter.unmodelled.into_iter().map(name).collect();
    unmodelled.sort_by_key(|(name, n)| (u64::MAX - n, name.clone()));
    let machine = &player.machine;
    let n_objects = machine.objects.len();
    Ok(Stat {
        n_records: machine.n_records,
        n_bytes: player.trace().n_bytes(),
        n_repeated: player.trace().n_repeated(),
        n_events: machine.n_records,
        n_steps: machine.n_steps,
        n_accesses: counter.n_accesses,
        n_uses: counter.n_uses,
        n_functions: counter.methods.len(),
        n_threads: counter.threads.len(),
        n_calls: machine.n_frames,
        heap: HeapCounts { n_made: n_objects as u64, n_live: n_objects },
        check: ValueCheck {
            n_reads: machine.n_reads,
            n_other: machine.n_other,
            n_reached: machine.n_reached,
            n_after_call: machine.n_reached,
            n_modelled: counter.n_modelled,
            n_unmodelled: unmodelled.iter().map(|(_, n)| n).sum(),
            n_unwound: machine.n_unwound,
            n_partial: 0,
        },
        unmodelled,
    })
}
