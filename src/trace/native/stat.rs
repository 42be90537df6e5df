//! Counts for `git idd trace stat`.

use crate::trace::TraceError;
use crate::trace::native::call::Call;
use crate::trace::native::machine::Machine;
use crate::trace::native::machine::Watch;
use crate::trace::native::machine::What;
use crate::trace::native::play::Player;
use crate::trace::step::Step;
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The counts.
#[derive(Debug, Default)]
pub struct Stat {
    /// Records.
    pub n_records: u64,
    /// Their size in bytes.
    pub n_bytes: u64,
    /// Reads and writes of memory and variables.
    pub n_accesses: u64,
    /// Uses of values that another step produced.
    pub n_uses: u64,
    /// Functions that ran.
    pub n_functions: usize,
    /// Threads that ran.
    pub n_threads: usize,
    /// Functions without a model, and how often each was called; the most called first.
    pub unmodelled: Vec<(String, u64)>,
    /// The process at its end.
    pub machine: Machine,
}

#[derive(Default)]
struct Counter {
    n_accesses: u64,
    n_uses: u64,
    threads: BTreeSet<u32>,
    last_thread: Option<u32>,
    unmodelled: BTreeMap<Arc<str>, u64>,
}

impl Watch for Counter {
    fn step(&mut self, machine: &Machine) {
        if self.last_thread != Some(machine.thread) {
            self.threads.insert(machine.thread);
            self.last_thread = Some(machine.thread);
        }
    }

    fn uses(&mut self, _user: Step, _maker: Step, _what: What) {
        self.n_uses += 1;
    }

    fn reads(&mut self, _machine: &Machine, _step: Step, _address: u64, _bytes: &[u8]) {
        self.n_accesses += 1;
    }

    fn writes(&mut self, _machine: &Machine, _step: Step, _address: u64, _length: u64) {
        self.n_accesses += 1;
    }

    fn looks(&mut self, machine: &Machine, _step: Step, _address: u64, _length: u64) {
        // A variable that was set before the stored part: its value is unknown, but the read counts.
        self.n_accesses += u64::from(machine.frame().is_some_and(|frame| frame.is_partial));
    }

    fn called(&mut self, _machine: &Machine, call: &Call, _arguments: &[Option<u64>], _result: Option<u64>) {
        if let Some(name) = call.name.as_ref().filter(|_| call.model.is_none()) {
            *self.unmodelled.entry(Arc::clone(name)).or_insert(0) += 1;
        }
    }
}

/// Counts a whole trace.
pub fn stat(player: &mut Player) -> Result<Stat, TraceError> {
    let mut counter = Counter::default();
    player.play(&mut counter)?;
    let mut unmodelled: Vec<(String, u64)> =
        counter.unmodelled.into_iter().map(|(name, n)| (name.to_string(), n)).collect();
    unmodelled.sort_by_key(|(name, n)| (u64::MAX - n, name.clone()));
    Ok(Stat {
        n_records: player.n_played,
        n_bytes: player.trace().n_bytes(),
        n_accesses: counter.n_accesses,
        n_uses: counter.n_uses,
        n_functions: player.shapes().count(),
        n_threads: counter.threads.len(),
        unmodelled,
        machine: player.machine.clone(),
    })
}
