//! The blocks of the heap, as the calls that made them tell.

use std::collections::BTreeMap;

use crate::Step;

/// A block of the heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeapBlock {
    /// Its address.
    pub address: u64,
    /// Its bytes.
    pub size: u64,
    /// The step that made it.
    pub made: Step,
    /// How many blocks that step had made right before it.
    pub nth: u32,
    /// The step that freed it.
    pub freed: Option<Step>,
}

/// Blocks by address; one that is freed stays until another one takes its place.
#[derive(Debug, Clone, Default)]
pub struct Heap {
    blocks: BTreeMap<u64, HeapBlock>,
    /// Blocks that were ever made.
    pub n_made: u64,
    /// The step that made the last one, and how many blocks it had made right before.
    last: Option<(Step, u32)>,
}

impl Heap {
    /// A block was made.
    pub fn make(&mut self, address: u64, size: u64, made: Step) {
        if let Some((before, block)) = self.blocks.range(..address).next_back()
            && block.freed.is_some()
            && before.saturating_add(block.size) > address
        {
            let before = *before;
            self.blocks.remove(&before);
        }
        let end = address.saturating_add(size.max(1));
        while let Some((inside, _)) = self.blocks.range(address..end).next() {
            let inside = *inside;
            self.blocks.remove(&inside);
        }
        let nth = self.last.filter(|(step, _)| *step == made).map_or(0, |(_, nth)| nth + 1);
        self.last = Some((made, nth));
        self.blocks.insert(address, HeapBlock { address, size, made, nth, freed: None });
        self.n_made += 1;
    }

    /// A block was freed; returns it.
    pub fn free(&mut self, address: u64, step: Step) -> Option<HeapBlock> {
        let block = self.blocks.get_mut(&address)?;
        block.freed = Some(step);
        Some(*block)
    }

    /// The block that an address is in; the byte behind its end belongs to it only if it is empty.
    pub fn find(&self, address: u64) -> Option<HeapBlock> {
        let (_, block) = self.blocks.range(..=address).next_back()?;
        (address - block.address < block.size.max(1)).then_some(*block)
    }

    /// All blocks whose place was not taken since, by address.
    pub fn blocks(&self) -> impl Iterator<Item = &HeapBlock> {
        self.blocks.values()
    }

    /// Blocks that were not freed.
    pub fn n_live(&self) -> usize {
        self.blocks.values().filter(|block| block.freed.is_none()).count()
    }
}
