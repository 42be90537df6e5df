//! Digests of what the steps of a run do, to find where two runs part.
//!
//! A digest is of what a step reads, writes, gets back and calls. Addresses let it differ by chance.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use idd_trace::native::{NativeCall, NativeMachine, NativePlayer, Watch};
use idd_trace::{Step, TraceError};

#[derive(Default)]
struct Digests(Vec<u64>);

/// By step, a digest of what it does.
///
/// Cost: one pass over the run, and 8 bytes for each step.
pub fn of(player: &mut NativePlayer) -> Result<Vec<u64>, TraceError> {
    let mut digests = Digests::default();
    player.replay(&mut digests)?;
    Ok(digests.0)
}

impl Digests {
    fn mix(&mut self, step: Step, what: impl FnOnce(&mut DefaultHasher)) {
        let index = step.0 as usize;
        if self.0.len() <= index {
            self.0.resize(index + 1, 0);
        }
        let mut hasher = DefaultHasher::new();
        self.0[index].hash(&mut hasher);
        what(&mut hasher);
        self.0[index] = hasher.finish();
    }
}

impl Watch for Digests {
    fn reads(&mut self, _: &NativeMachine, step: Step, _: u64, bytes: &[u8]) {
        self.mix(step, |hasher| bytes.hash(hasher));
    }

    fn writes(&mut self, machine: &NativeMachine, step: Step, address: u64, length: u64) {
        let bytes = usize::try_from(length).ok().and_then(|length| machine.memory.bytes(address, length));
        self.mix(step, |hasher| bytes.hash(hasher));
    }

    fn returned(&mut self, machine: &NativeMachine, result: Option<u64>) {
        if let Some(step) = machine.frame().map(|frame| frame.step) {
            self.mix(step, |hasher| result.hash(hasher));
        }
    }

    fn called(&mut self, machine: &NativeMachine, _: &NativeCall, arguments: &[Option<u64>], result: Option<u64>) {
        if let Some(step) = machine.frame().map(|frame| frame.step) {
            self.mix(step, |hasher| (arguments, result).hash(hasher));
        }
    }
}
