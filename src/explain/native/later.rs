//! Bytes that a step wrote through the library, and that are known only from what reads them later.
//!
//! A recording has no results of `scanf`, `fgets` and `read` but what they return. What the program loads from there afterwards
//! is recorded.

use crate::native::recorded::NativeRecorded;
use idd_trace::native::{NativeMachine, Watch};
use idd_trace::{Step, TraceError};

/// Steps that are played for what they read.
const MAX_STEPS: u32 = 100_000;

/// What the parts of memory, each given by its address and its bytes, hold after a step wrote or used them, as far as something is read from
/// there before it is written again; by part, a byte each.
///
/// - `parts`: such that the step writes or uses.
///
/// Cost: plays from the checkpoint before the step until all is known, at most [`MAX_STEPS`] steps.
pub fn later(
    recorded: &mut NativeRecorded,
    step: Step,
    parts: &[(u64, u64)],
) -> Result<Vec<Vec<Option<u8>>>, TraceError> {
    let part = |(address, length): &(u64, u64)| LaterPart {
        address: *address,
        bytes: vec![None; usize::try_from(*length).unwrap_or(0)],
        is_begun: false,
        is_over: false,
    };
    let mut readers = LaterReads { step, parts: parts.iter().map(part).collect(), is_done: parts.is_empty() };
    if !readers.is_done {
        recorded.player.replay_from(step, &mut readers)?;
    }
    Ok(readers.parts.into_iter().map(|part| part.bytes).collect())
}

/// A part of memory, and what is known of it so far.
struct LaterPart {
    address: u64,
    bytes: Vec<Option<u8>>,
    /// Whether the step has written or used it.
    is_begun: bool,
    /// Whether nothing more can be learned of it.
    is_over: bool,
}

impl LaterPart {
    fn overlaps(&self, address: u64, length: u64) -> bool {
        let end = self.address.saturating_add(self.bytes.len() as u64);
        address < end && self.address < address.saturating_add(length)
    }

    fn begin(&mut self, address: u64, length: u64) {
        self.is_begun |= self.address == address && self.bytes.len() as u64 == length;
    }

    fn learn(&mut self, address: u64, bytes: &[u8]) {
        for (at, byte) in (address..).zip(bytes) {
            let index = at.checked_sub(self.address).and_then(|index| usize::try_from(index).ok());
            if let Some(known) = index.and_then(|index| self.bytes.get_mut(index)) {
                known.get_or_insert(*byte);
            }
        }
        self.is_over = self.bytes.iter().all(Option::is_some);
    }
}

/// Watches what is read.
struct LaterReads {
    step: Step,
    parts: Vec<LaterPart>,
    is_done: bool,
}

impl Watch for LaterReads {
    fn step(&mut self, machine: &NativeMachine) {
        let is_far = machine.n_steps > self.step.0.saturating_add(MAX_STEPS);
        self.is_done = is_far || self.parts.iter().all(|part| part.is_over);
    }

    fn reads(&mut self, _machine: &NativeMachine, step: Step, address: u64, bytes: &[u8]) {
        for part in self.parts.iter_mut().filter(|part| !part.is_over) {
            if part.is_begun && step != self.step && part.overlaps(address, bytes.len() as u64) {
                part.learn(address, bytes);
            }
        }
    }

    fn looks(&mut self, _machine: &NativeMachine, step: Step, address: u64, length: u64) {
        if step == self.step {
            self.parts.iter_mut().for_each(|part| part.begin(address, length));
        }
    }

    fn writes(&mut self, _machine: &NativeMachine, step: Step, address: u64, length: u64) {
        for part in &mut self.parts {
            if step == self.step {
                part.begin(address, length);
            } else if part.is_begun {
                part.is_over |= part.overlaps(address, length);
            }
        }
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}
