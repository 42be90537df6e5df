//! Which objects of two runs are the same one, at points that correspond.
//!
//! Blocks of the heap are the same if steps that correspond made them; those that only one run made are matched along pointers, as global variables and variables of
//! frames are by name. A block has the same counterpart at all points that are asked, so that what leads to it differs, and not all that is in it, where one run has it in
//! another place. Deviation from the paper, whose memory graphs are matched at each point anew, along pointers alone.

use std::collections::{BTreeMap, HashMap};

use crate::align::Alignment;
use crate::align::way::AccessPath;
use idd_trace::Step;
use idd_trace::native::heap::HeapBlock;
use idd_trace::native::{NativeMachine, View};

/// One of the two runs at a point.
#[derive(Clone, Copy)]
pub struct RunSide<'s> {
    pub machine: &'s NativeMachine,
}

impl<'s> RunSide<'s> {
    /// What is needed to read it.
    pub fn view(self) -> View<'s> {
        View::without_words(self.machine)
    }

    /// The block that an address is in, if it was not freed.
    pub fn live(self, address: u64) -> Option<HeapBlock> {
        self.machine.heap.find(address).filter(|block| block.freed.is_none())
    }

    /// The block, if it is still there.
    fn same(self, wanted: MadeBlock) -> Option<HeapBlock> {
        self.live(wanted.address).filter(|block| MadeBlock::from(block) == wanted)
    }
}

/// An object that pointers lead to, by its address: a block of the heap, a global variable, a variable of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PointedObject(pub u64);

/// Objects of the failing run and their counterparts.
pub struct PairedObjects {
    to_theirs: HashMap<PointedObject, PointedObject>,
    to_ours: HashMap<PointedObject, PointedObject>,
}

impl PairedObjects {
    /// Begins with the blocks that steps which correspond made, and those that were matched at later points.
    ///
    /// Cost: linear in the blocks of both heaps.
    pub fn new(ours: RunSide<'_>, theirs: RunSide<'_>, alignment: &Alignment, layouts: &BlockLayouts) -> Self {
        let mut objects = Self { to_theirs: HashMap::new(), to_ours: HashMap::new() };
        let made = theirs.machine.heap.blocks().map(|block| ((block.made, block.nth), block.address));
        let mut made: HashMap<(Step, u32), u64> = made.collect();
        for block in ours.machine.heap.blocks() {
            let same = alignment.reference(block.made).and_then(|step| made.remove(&(step, block.nth)));
            if let Some(same) = same {
                objects.pair(PointedObject(block.address), PointedObject(same));
            }
        }
        for (block, layout) in &layouts.0 {
            if let (Some(block), Some(other)) = (ours.same(*block), theirs.same(layout.other)) {
                objects.pair(PointedObject(block.address), PointedObject(other.address));
            }
        }
        objects
    }

    /// Matches two objects unless one of them has another counterpart already; returns whether they are the same now.
    pub fn pair(&mut self, ours: PointedObject, theirs: PointedObject) -> bool {
        match (self.to_theirs.get(&ours), self.to_ours.get(&theirs)) {
            (None, None) => {
                self.to_theirs.insert(ours, theirs);
                self.to_ours.insert(theirs, ours);
                true
            }
            (found, _) => found == Some(&theirs),
        }
    }

    /// The counterpart of an object of the failing run.
    pub fn theirs(&self, ours: PointedObject) -> Option<PointedObject> {
        self.to_theirs.get(&ours).copied()
    }

    /// The counterpart of an object of the reference.
    pub fn ours(&self, theirs: PointedObject) -> Option<PointedObject> {
        self.to_ours.get(&theirs).copied()
    }
}

/// What a block of the heap is known by, also when its address was given to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct MadeBlock {
    address: u64,
    made: Step,
}

impl From<&HeapBlock> for MadeBlock {
    fn from(block: &HeapBlock) -> Self {
        Self { address: block.address, made: block.made }
    }
}

/// Blocks of the heap, and how they are divided: learned where they are reached along pointers, and
/// used where only a value that waits for a call leads to them, so that nothing that a point can see does.
#[derive(Debug, Clone, Default)]
pub struct BlockLayouts(BTreeMap<MadeBlock, BlockLayout>);

/// A block that was reached.
#[derive(Debug, Clone)]
pub struct BlockLayout {
    /// Its counterpart.
    other: MadeBlock,
    /// By their places in it.
    pub parts: BTreeMap<u64, ReachedPart>,
}

/// A part of a block that was reached.
#[derive(Debug, Clone)]
pub struct ReachedPart {
    /// Its place in the block of the reference.
    pub their_offset: u64,
    /// Its bytes.
    pub length: u64,
    pub is_pointer: bool,
    pub way: AccessPath,
}

impl BlockLayouts {
    /// Whether it is known how a block is divided.
    pub fn has(&self, block: &HeapBlock) -> bool {
        self.0.contains_key(&block.into())
    }

    /// Notes a part of two blocks, which correspond.
    pub fn learn(&mut self, block: &HeapBlock, other: &HeapBlock, offset: u64, part: ReachedPart) {
        let new = || BlockLayout { other: other.into(), parts: BTreeMap::new() };
        self.0.entry(block.into()).or_insert_with(new).parts.insert(offset, part);
    }

    /// The blocks that are there in both runs, with their counterparts.
    pub fn present<'l>(
        &'l self,
        ours: RunSide<'l>,
        theirs: RunSide<'l>,
    ) -> impl Iterator<Item = (HeapBlock, HeapBlock, &'l BlockLayout)> {
        self.0.iter().filter_map(move |(block, layout)| Some((ours.same(*block)?, theirs.same(layout.other)?, layout)))
    }
}
