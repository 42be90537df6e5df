//! What a run holds at addresses: in memory, or in variables of frames that are in none.

use std::ops::Range;

use crate::native::align::objects::{PointedObject, RunSide};
use crate::native::align::state::is_far;
use idd_trace::Step;
use idd_trace::native::cell::HeldCell;
use idd_trace::native::{NativeFrame, Octet};

/// The variables of the frames of a run, by address.
pub(super) struct Slots<'s> {
    side: RunSide<'s>,
    /// Begin, bytes, and whether it is in no memory.
    all: Vec<(u64, u64, bool)>,
    /// The addresses between which all of them are.
    span: Range<u64>,
}

impl<'s> Slots<'s> {
    pub(super) fn new(side: RunSide<'s>) -> Self {
        let slots = |frame: &'s NativeFrame| {
            frame.shape.slots.iter().filter_map(|slot| {
                let begin = frame.given(slot.register).filter(|begin| *begin != 0)?;
                Some((begin, slot.size.max(1), slot.plain.is_some()))
            })
        };
        let mut all: Vec<_> = side.machine.frames.iter().flat_map(slots).collect();
        all.sort_unstable();
        let end = all.iter().map(|(begin, size, _)| begin + size).max().unwrap_or(0);
        let span = all.first().map_or(0, |(begin, ..)| *begin)..end;
        Self { side, all, span }
    }

    pub(super) fn find(&self, address: u64) -> Option<(u64, u64, bool)> {
        // Most addresses are of the heap or of global variables.
        if !self.span.contains(&address) {
            return None;
        }
        let found = self.all.partition_point(|(begin, ..)| *begin <= address).checked_sub(1)?;
        Some(self.all[found]).filter(|(begin, size, _)| address - begin < *size)
    }

    /// The object at an address, and the place in it.
    pub(super) fn object(&self, address: u64) -> Option<(PointedObject, u64)> {
        if let Some(block) = self.side.machine.heap.find(address) {
            return Some((PointedObject(block.address), address - block.address));
        }
        if let Some(global) = self.side.machine.globals.find(address) {
            return Some((PointedObject(global.address), address - global.address));
        }
        let (begin, ..) = self.find(address)?;
        Some((PointedObject(begin), address - begin))
    }

    /// What is at an address; `None` if a byte of it is not known.
    pub(super) fn held(&self, address: u64, length: u64) -> Option<HeldCell> {
        match self.find(address) {
            Some((.., true)) => self.side.machine.cell(address, length),
            _ => self.side.machine.cell_in_memory(address, length),
        }
    }

    /// What is in memory at an address and who wrote it, where that can be told at once.
    pub(super) fn word(&self, address: u64, length: u64) -> Option<(u64, Step)> {
        match self.find(address) {
            Some((.., true)) => None,
            _ => self.side.machine.memory.word(address, length),
        }
    }

    /// Whether what is at an address is in memory, and so is all behind it in the same variable.
    pub(super) fn is_in_memory(&self, address: u64) -> bool {
        self.find(address).is_none_or(|(.., is_plain)| !is_plain)
    }

    /// Eight bytes of memory.
    pub(super) fn octet(&self, address: u64) -> Octet<'_> {
        self.side.machine.memory.octet(address)
    }

    /// Whether a word leads to an object.
    pub(super) fn is_pointer(&self, address: u64) -> bool {
        self.word(address, 8).is_some_and(|(word, _)| is_far(word, false) && self.object(word).is_some())
    }

    /// The pointer at an address, unless it is null.
    pub(super) fn pointer(&self, address: u64) -> Option<u64> {
        let held = self.held(address, 8)?;
        held.bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes)).filter(|pointer| *pointer != 0)
    }
}
