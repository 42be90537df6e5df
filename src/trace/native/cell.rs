//! Single variables of a process, wherever they are: in memory, or in a frame if their address does not escape.

use crate::Step;
use crate::native::{NativeFrame, NativeMachine, Register};

/// What a variable holds, and who wrote it last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldCell {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The last step that wrote one of them.
    pub writer: Step,
}

/// The plain slot of a frame that an address is in: the register of its value, the place in it, and its bytes.
fn plain_at(frame: &NativeFrame, address: u64, length: u64) -> Option<(Register, usize, usize)> {
    frame.shape.slots.iter().find_map(|slot| {
        let begin = frame.given(slot.register).filter(|begin| *begin != 0)?;
        let at = address.checked_sub(begin).filter(|at| at + length <= slot.size)?;
        Some((slot.plain?, usize::try_from(at).ok()?, usize::try_from(length).ok()?))
    })
}

impl NativeMachine {
    /// What is at an address; `None` if a byte of it is not known.
    ///
    /// Cost: the slots of all frames are looked at.
    pub fn cell(&self, address: u64, length: u64) -> Option<HeldCell> {
        let plain = self.frames.iter().rev().find_map(|frame| Some((frame, plain_at(frame, address, length)?)));
        if let Some((frame, (register, at, n))) = plain {
            let bytes = frame.given(register)?.to_le_bytes();
            return Some(HeldCell { bytes: bytes.get(at..at + n)?.to_vec(), writer: frame.writer(register) });
        }
        self.cell_in_memory(address, length)
    }

    /// The same for an address that is in no plain slot.
    pub fn cell_in_memory(&self, address: u64, length: u64) -> Option<HeldCell> {
        let bytes = self.memory.bytes(address, usize::try_from(length).ok()?)?;
        let mut writer = Step::START;
        self.memory.writers(address, length, |found| writer = writer.max(found));
        Some(HeldCell { bytes, writer })
    }

    /// Puts bytes at an address as if `writer` had written them.
    pub fn overwrite(&mut self, address: u64, bytes: &[u8], writer: Step) {
        let length = bytes.len() as u64;
        for frame in self.frames.iter_mut().rev() {
            if let Some((register, at, n)) = plain_at(frame, address, length) {
                let mut held = frame.given(register).unwrap_or(0).to_le_bytes();
                held[at..at + n].copy_from_slice(bytes);
                frame.set(register, u64::from_le_bytes(held), writer);
                return;
            }
        }
        self.memory.write(address, bytes, writer);
    }
}
