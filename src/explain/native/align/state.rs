//! What differs between the states of two runs at points that correspond.
//!
//! The states are walked side by side as memory graphs: from the variables of the program and of the frames, by name, along members by name and along pointers to
//! the blocks of the heap, by type; never by address. What both have is a [`Cell`]: a number, or a pointer, which is the same if it leads to the same place of an
//! object that [corresponds](crate::native::align::objects). Source: Sumner and Zhang, definition 4 and section 4.2; memory graphs: Zimmermann and Zeller 2002.
//! Deviation: a union is a row of words, and so are bit-fields. A word of which both runs know the same part is divided.
//!
//! What only one run has, and bytes that are not known, are no cells: nothing can be put in their place.

use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use crate::align::Alignment;
use crate::align::way::AccessPath;
use crate::native::align::objects::{BlockLayouts, PairedObjects, PointedObject, ReachedPart, RunSide};
use crate::native::align::state::slots::Slots;
use crate::native::unions::Union;
use crate::native::value_texts;
use idd_trace::instrument::module::Module;
use idd_trace::instrument::types::Type;
use idd_trace::instrument::{Debug, MetadataId, SourceType};
use idd_trace::native::cell::HeldCell;
use idd_trace::native::heap::HeapBlock;
use idd_trace::native::{NativeFrame, VariablePlace, value};
use idd_trace::{Place, Step};

mod skim;
mod slots;
mod union;

/// Elements of one array or block that are walked.
const MAX_ELEMENTS: u64 = 1 << 16;

/// Cells that are walked at one point.
const MAX_CELLS: usize = 4 << 20;

/// Structures in structures.
const MAX_DEPTH: u32 = 64;

/// A variable that both runs have, and that is faulty: its value or its definition differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// Where it is in the failing run.
    pub address: u64,
    /// Where it is in the reference.
    pub reference_address: u64,
    /// Its bytes.
    pub length: u64,
    /// Where it is declared, if it is a part of a global variable.
    pub declared: Option<Place>,
    /// The way to it from a variable: `head->next->v`.
    pub path: String,
    /// The step of the failing run that wrote it last.
    pub writer: Step,
    /// The step of the reference that wrote it last.
    pub reference_writer: Step,
    /// What it holds there.
    pub bytes: Vec<u8>,
    /// What it holds in the reference, with pointers as the failing run has them; `None` if that points to something that the failing run does not have.
    pub reference: Option<Vec<u8>>,
    /// How both are written.
    pub shown: (String, String),
    /// For pointers that lead to other places and are written alike: the steps of both runs that made the blocks that they lead to.
    pub made: (Option<Step>, Option<Step>),
    /// The union that it begins, if it is a part of one.
    pub union: Option<Rc<Union>>,
}

/// A part of both runs that is yet to be walked.
struct PartPair<'s> {
    ours: (u64, Debug<'s>, MetadataId),
    theirs: (u64, Debug<'s>, MetadataId),
    way: AccessPath,
    depth: u32,
}

/// Two values that are yet to be compared.
struct ValuePair<'s> {
    addresses: (u64, u64),
    length: u64,
    is_pointer: bool,
    /// Whether it is a floating-point number of no known type.
    is_float: bool,
    types: Option<TypePair<'s>>,
    /// The union that it begins.
    union: Option<Rc<Union>>,
    way: AccessPath,
}

impl ValuePair<'_> {
    /// A number of no known type.
    fn new(addresses: (u64, u64), length: u64, way: AccessPath) -> Self {
        Self { addresses, length, is_pointer: false, is_float: false, types: None, union: None, way }
    }
}

/// The types of two values.
type TypePair<'s> = ((Debug<'s>, MetadataId), (Debug<'s>, MetadataId));

/// A block that only the reference has a way to.
struct HiddenBlock<'s> {
    blocks: (HeapBlock, HeapBlock),
    offset: u64,
    to: Option<TypePair<'s>>,
    way: AccessPath,
    depth: u32,
}

/// Types that were looked up, which takes long: what is behind other names, and the bytes it takes.
#[derive(Default)]
struct Types(HashMap<(*const Module, MetadataId), Option<Rc<Plain>>>);

struct Plain {
    id: MetadataId,
    ty: SourceType,
    size: Option<u64>,
    union: Option<Rc<Union>>,
}

impl Types {
    fn plain(&mut self, debug: Debug<'_>, ty: MetadataId) -> Option<Rc<Plain>> {
        let found = self.0.entry((debug.module(), ty)).or_insert_with(|| {
            let (id, plain) = debug.plain_ty(ty)?;
            let union = match &plain {
                SourceType::Union(compound) => Some(Rc::new(Union::new(debug, compound))),
                _ => None,
            };
            Some(Rc::new(Plain { id, ty: plain, size: value::size_of(debug, ty, 0), union }))
        });
        found.clone()
    }

    fn size(&mut self, debug: Debug<'_>, ty: MetadataId) -> Option<u64> {
        self.plain(debug, ty)?.size
    }
}

/// What is learned at one point, and used at others.
#[derive(Default)]
pub struct LearnedState {
    layouts: BlockLayouts,
    types: Types,
    /// Whether each element is compared by itself, so that a test can see that nothing is lost otherwise.
    #[cfg(test)]
    is_thorough: bool,
}

impl LearnedState {
    #[cfg(test)]
    fn is_thorough(&self) -> bool {
        self.is_thorough
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "only tests compare in another way")]
    fn is_thorough(&self) -> bool {
        false
    }
}

struct StateWalk<'s> {
    types: &'s mut Types,
    layouts: &'s mut BlockLayouts,
    alignment: &'s Alignment,
    is_thorough: bool,
    sides: (RunSide<'s>, RunSide<'s>),
    slots: (Slots<'s>, Slots<'s>),
    objects: PairedObjects,
    queue: VecDeque<PartPair<'s>>,
    hidden: VecDeque<HiddenBlock<'s>>,
    leaves: Vec<ValuePair<'s>>,
    /// Blocks of the failing run, by address.
    walked: HashSet<u64>,
}

/// The faulty state: what differs, in an order that depends only on the runs.
///
/// Cost: one visit to each variable that both have; at most 4 million.
///
/// `known` is what was learned at other points of the same runs.
pub fn faulty(
    failing: RunSide<'_>,
    reference: RunSide<'_>,
    alignment: &Alignment,
    known: &mut LearnedState,
) -> Vec<Cell> {
    let is_thorough = known.is_thorough();
    let LearnedState { layouts, types, .. } = known;
    let objects = PairedObjects::new(failing, reference, alignment, layouts);
    let mut walk = StateWalk {
        types,
        layouts,
        alignment,
        is_thorough,
        sides: (failing, reference),
        slots: (Slots::new(failing), Slots::new(reference)),
        objects,
        queue: VecDeque::new(),
        hidden: VecDeque::new(),
        leaves: Vec::new(),
        walked: HashSet::new(),
    };
    walk.globals();
    walk.frames();
    while walk.leaves.len() < MAX_CELLS {
        if let Some(pair) = walk.queue.pop_front() {
            walk.part(pair);
        } else if let Some(HiddenBlock { blocks, offset, to, way, depth }) = walk.hidden.pop_front() {
            walk.block(blocks.0, blocks.1, offset, to, &way, depth);
        } else {
            break;
        }
    }
    walk.learn();
    walk.unreached();
    let leaves = std::mem::take(&mut walk.leaves);
    let mut seen = HashSet::new();
    leaves
        .into_iter()
        .filter(|leaf| !walk.is_plainly_same(leaf) && seen.insert((leaf.addresses.0, leaf.length)))
        .filter_map(|leaf| walk.compare(&leaf))
        .collect()
}

impl<'s> StateWalk<'s> {
    fn globals(&mut self) {
        let (ours, theirs) = self.sides;
        let mut by_name: HashMap<(Arc<str>, Arc<str>), VecDeque<_>> = HashMap::new();
        for global in theirs.machine.globals.iter().filter(|global| global.is_named) {
            let key = (Arc::clone(&global.map.module.source), Arc::clone(&global.name));
            by_name.entry(key).or_default().push_back(global);
        }
        let mut constants: HashMap<Vec<u8>, PointedObject> = HashMap::new();
        let content = |side: RunSide<'_>, address: u64, size: u64| {
            side.machine.memory.bytes(address, usize::try_from(size.min(MAX_ELEMENTS)).unwrap_or(0))
        };
        for global in theirs.machine.globals.iter().filter(|global| !global.is_named) {
            if let Some(bytes) = content(theirs, global.address, global.size) {
                constants.entry(bytes).or_insert(PointedObject(global.address));
            }
        }
        for global in ours.machine.globals.iter() {
            if !global.is_named {
                let same = content(ours, global.address, global.size).and_then(|bytes| constants.remove(&bytes));
                if let Some(same) = same {
                    self.objects.pair(PointedObject(global.address), same);
                }
                continue;
            }
            let key = (Arc::clone(&global.map.module.source), Arc::clone(&global.name));
            let Some(other) = by_name.get_mut(&key).and_then(VecDeque::pop_front) else { continue };
            if !self.objects.pair(PointedObject(global.address), PointedObject(other.address)) {
                continue;
            }
            let (Some(ty), Some(other_ty)) = (global.ty, other.ty) else { continue };
            self.queue.push_back(PartPair {
                ours: (global.address, Debug::new(&global.map.module, &global.map.text), ty),
                theirs: (other.address, Debug::new(&other.map.module, &other.map.text), other_ty),
                way: AccessPath::begin(&*global.name),
                depth: 0,
            });
        }
    }

    /// Frames correspond if their calls do; those that only one version has are left out.
    fn frames(&mut self) {
        let (ours, theirs) = self.sides;
        let mut others = theirs.machine.frames.iter().peekable();
        let n = ours.machine.frames.len();
        for (depth, frame) in ours.machine.frames.iter().enumerate() {
            let mut ahead = others.clone();
            let Some(other) = ahead.find(|other| other.base() == frame.base()) else { continue };
            others = ahead;
            let name = frame.shape.name();
            let mut by_name: HashMap<Arc<str>, VecDeque<VariablePlace<'s>>> = HashMap::new();
            for place in theirs.view().locals(other) {
                by_name.entry(Arc::clone(&place.name)).or_default().push_back(place);
            }
            for place in ours.view().locals(frame) {
                let Some(same) = by_name.get_mut(&place.name).and_then(VecDeque::pop_front) else { continue };
                if place.address == 0 || same.address == 0 {
                    continue;
                }
                if !self.objects.pair(PointedObject(place.address), PointedObject(same.address)) {
                    continue;
                }
                let (Some(ty), Some(other_ty)) = (place.ty, same.ty) else { continue };
                let way = if depth + 1 == n { place.name.to_string() } else { format!("{name}.{}", place.name) };
                self.queue.push_back(PartPair {
                    ours: (place.address, place.debug, ty),
                    theirs: (same.address, same.debug, other_ty),
                    way: AccessPath::begin(way),
                    depth: 0,
                });
            }
            self.returned(frame, other, if depth + 1 == n { None } else { Some(&name) });
        }
    }

    /// What a function with several `return`s is about to return: the compiler keeps it in a slot of this name.
    fn returned(&mut self, frame: &'s NativeFrame, other_frame: &'s NativeFrame, name: Option<&str>) {
        let slot = |frame: &NativeFrame| {
            let body = &frame.shape.body;
            let (id, ty) = body.segments.slots.iter().find(|(id, _)| body.function.written(*id) == "%retval")?;
            let slot = frame.shape.slots.iter().find(|slot| slot.id == *id)?;
            let address = frame.given(slot.register)?;
            Some((address, slot.size, ty.clone()))
        };
        let (Some((address, length, ty)), Some((other, _, other_ty))) = (slot(frame), slot(other_frame)) else {
            return;
        };
        if ty != other_ty || length > 8 || !self.objects.pair(PointedObject(address), PointedObject(other)) {
            return;
        }
        let way = AccessPath::begin(match name {
            Some(name) => format!("the value that {name} returns"),
            None => "the returned value".to_owned(),
        });
        let is_pointer = ty == Type::Ptr;
        let is_float = [(Type::Double, 8), (Type::Float, 4)].contains(&(ty, length));
        let result = |frame: &'s NativeFrame| {
            let debug = frame.shape.debug();
            Some((debug, debug.result(frame.shape.body.function.subprogram?)?))
        };
        let types = result(frame).zip(result(other_frame));
        self.leaves.push(ValuePair { is_pointer, is_float, types, ..ValuePair::new((address, other), length, way) });
    }

    fn part(&mut self, pair: PartPair<'s>) {
        let PartPair { ours: (at, debug, ty), theirs: (their_at, other_debug, other_ty), way, depth } = pair;
        if depth > MAX_DEPTH {
            return;
        }
        let (Some(plain), Some(other)) = (self.types.plain(debug, ty), self.types.plain(other_debug, other_ty)) else {
            return;
        };
        let types = Some(((debug, plain.id), (other_debug, other.id)));
        match (&plain.ty, &other.ty) {
            (
                SourceType::Base(_, bits, _) | SourceType::Enum(_, bits, _),
                SourceType::Base(_, other, _) | SourceType::Enum(_, other, _),
            ) if bits == other && *bits <= 64 => {
                self.leaves.push(ValuePair { types, ..ValuePair::new((at, their_at), bits / 8, way) });
            }
            (SourceType::Base(_, 128, _), SourceType::Base(_, 128, _)) => {
                // An 80-bit number; the rest of its room is nothing.
                self.leaves.push(ValuePair { types, ..ValuePair::new((at, their_at), 10, way) });
            }
            (SourceType::Pointer(to), SourceType::Pointer(target)) => {
                let leaf = ValuePair::new((at, their_at), 8, way.clone());
                self.leaves.push(ValuePair { is_pointer: true, types, ..leaf });
                let to = to.zip(*target).map(|(to, other)| ((debug, to), (other_debug, other)));
                self.follow((at, their_at), to, &way, depth);
            }
            (SourceType::Struct(compound), SourceType::Struct(other)) => {
                for member in &compound.members {
                    let same = other.members.iter().find(|same| same.name == member.name);
                    let Some((same, ty, other_ty)) = same.and_then(|same| Some((same, member.ty?, same.ty?))) else {
                        continue;
                    };
                    if member.is_bit_field {
                        if member.offset_bits == same.offset_bits {
                            let byte = member.offset_bits / 8;
                            let length = (member.offset_bits % 8 + member.bits).div_ceil(8).min(8);
                            let way = way.member(&member.name);
                            self.leaves.push(ValuePair::new((at + byte, their_at + byte), length, way));
                        }
                        continue;
                    }
                    self.queue.push_back(PartPair {
                        ours: (at + member.offset_bits / 8, debug, ty),
                        theirs: (their_at + same.offset_bits / 8, other_debug, other_ty),
                        way: way.member(&member.name),
                        depth: depth + 1,
                    });
                }
            }
            (SourceType::Union(compound), SourceType::Union(other)) if compound.bits == other.bits => {
                self.union(((at, debug, compound), (their_at, other_debug, other)), plain.union.as_ref(), &way, depth);
            }
            (SourceType::Array(Some(element), counts), SourceType::Array(Some(other), others)) => {
                let (failing, reference) = self.sides;
                let n = self.n_elements(failing, at, (debug, *element), counts);
                let n = n.min(self.n_elements(reference, their_at, (other_debug, *other), others));
                self.elements((at, debug, *element), (their_at, other_debug, *other), n, &way, depth);
            }
            _ => {}
        }
    }

    /// Elements of an array; one without a number, at the end of a structure, goes on to the end of its block.
    fn n_elements(&mut self, side: RunSide<'s>, at: u64, of: (Debug<'s>, MetadataId), counts: &[Option<u64>]) -> u64 {
        if let Some(n) = counts.iter().try_fold(1_u64, |n, count| n.checked_mul((*count)?)) {
            return n;
        }
        let room = side.live(at).map_or(0, |block| block.address + block.size - at);
        self.types.size(of.0, of.1).and_then(|length| room.checked_div(length)).unwrap_or(0)
    }

    /// A row of elements of one type.
    ///
    /// What is taken for small numbers may be more: a pointer to the text of a node leads into the whole node, and code for a virtual machine has addresses between its
    /// instructions. So words of it that lead to objects are pointers; as numbers they would differ wherever an object lies in another place, and to overwrite them one by one
    /// would make pointers that lead nowhere. Between single bytes a pointer is aligned, between larger numbers it may begin at any of them.
    fn elements(
        &mut self,
        ours: (u64, Debug<'s>, MetadataId),
        theirs: (u64, Debug<'s>, MetadataId),
        n: u64,
        way: &AccessPath,
        depth: u32,
    ) {
        let (Some(size), Some(other_size)) = (self.types.size(ours.1, ours.2), self.types.size(theirs.1, theirs.2))
        else {
            return;
        };
        let n = n.min(MAX_ELEMENTS);
        let skim = if size == other_size && !self.is_thorough { self.skim(ours, theirs, size) } else { None };
        let mut index = 0;
        while index < n {
            let (at, their_at) = (ours.0 + index * size, theirs.0 + index * other_size);
            let skipped = skim.map_or(0, |skim| self.skipped(skim, at, their_at, n - index));
            if skipped > 0 {
                index += skipped;
                continue;
            }
            let way = way.element(index);
            let may_be = size == other_size && size < 8 && (n - index) * size >= 8 && 8_u64.is_multiple_of(size);
            if may_be && (size > 1 || at.is_multiple_of(8)) && self.is_pointer(at, their_at) {
                self.leaves.push(ValuePair { is_pointer: true, ..ValuePair::new((at, their_at), 8, way) });
                index += 8 / size;
                continue;
            }
            let (ours, theirs) = ((at, ours.1, ours.2), (their_at, theirs.1, theirs.2));
            self.queue.push_back(PartPair { ours, theirs, way, depth: depth + 1 });
            index += 1;
        }
    }

    /// Whether a word in a row of small numbers leads to an object.
    fn is_pointer(&self, at: u64, their_at: u64) -> bool {
        self.slots.0.is_pointer(at) || self.slots.1.is_pointer(their_at)
    }

    /// Goes on behind a pointer to the heap: to what it leads to in the failing run, and to what it leads to in the reference.
    fn follow(&mut self, places: (u64, u64), to: Option<TypePair<'s>>, way: &AccessPath, depth: u32) {
        let (ours, theirs) = self.sides;
        let pointers = (self.slots.0.pointer(places.0), self.slots.1.pointer(places.1));
        let block = pointers.0.and_then(|pointer| Some((ours.live(pointer)?, pointer)));
        let other = pointers.1.and_then(|pointer| Some((theirs.live(pointer)?, pointer)));
        if let (Some((block, _)), Some((other, _))) = (block, other) {
            self.objects.pair(PointedObject(block.address), PointedObject(other.address));
        }
        if let Some((block, pointer)) = block
            && let Some(same) = self.objects.theirs(PointedObject(block.address)).and_then(|same| theirs.live(same.0))
        {
            self.block(block, same, pointer - block.address, to, way, depth);
        }
        if let Some((other, pointer)) = other
            && let Some(same) = self.objects.ours(PointedObject(other.address)).and_then(|same| ours.live(same.0))
            && !self.walked.contains(&same.address)
        {
            let (offset, way) = (pointer - other.address, way.clone());
            self.hidden.push_back(HiddenBlock { blocks: (same, other), offset, to, way, depth });
        }
    }

    /// A row of bytes of which only the number is known; words of it that lead to objects are pointers, as in [`elements`](Self::elements).
    fn bytes(&mut self, at: u64, their_at: u64, n_bytes: u64, way: &AccessPath) {
        let n_bytes = n_bytes.min(MAX_ELEMENTS);
        let mut begin = 0;
        while begin < n_bytes {
            let addresses = (at + begin, their_at + begin);
            let is_pointer =
                n_bytes - begin >= 8 && addresses.0.is_multiple_of(8) && self.is_pointer(addresses.0, addresses.1);
            let length = if is_pointer { 8 } else { 1 };
            self.leaves.push(ValuePair { is_pointer, ..ValuePair::new(addresses, length, way.element(begin)) });
            begin += length;
        }
    }

    /// Goes through two blocks that correspond; `offset` is that of a pointer into them.
    ///
    /// A block is an array of what the pointer leads to; unless that is a structure that does not fill it evenly: then it is one, with bytes behind it.
    fn block(
        &mut self,
        block: HeapBlock,
        other: HeapBlock,
        offset: u64,
        to: Option<TypePair<'s>>,
        way: &AccessPath,
        depth: u32,
    ) {
        let Some(((debug, ty), (other_debug, other_ty))) = to else { return };
        let (Some(plain), Some(other_size)) = (self.types.plain(debug, ty), self.types.size(other_debug, other_ty))
        else {
            return;
        };
        let Some(size) = plain.size else { return };
        if size == 0 || other_size == 0 || !offset.is_multiple_of(size) || !self.walked.insert(block.address) {
            return;
        }
        let n = (block.size / size).min(other.size / other_size);
        let is_compound = matches!(plain.ty, SourceType::Struct(_) | SourceType::Union(_));
        let (ours, theirs) = ((block.address, debug, ty), (other.address, other_debug, other_ty));
        let is_even = block.size.is_multiple_of(size) && other.size.is_multiple_of(other_size);
        let has_tail = n > 0 && is_compound && !is_even && (size, 0) == (other_size, offset);
        if (n == 1 || has_tail) && offset == 0 {
            let whole = if is_compound { way.arrow() } else { way.star() };
            self.queue.push_back(PartPair { ours, theirs, way: whole, depth: depth + 1 });
            if has_tail {
                let n_bytes = block.size.min(other.size) - size;
                self.bytes(block.address + size, other.address + size, n_bytes, &way.behind());
            }
        } else {
            self.elements(ours, theirs, n, way, depth);
        }
    }

    /// Notes how the blocks are divided that were reached for the first time.
    fn learn(&mut self) {
        let (ours, theirs) = self.sides;
        let is_new = |address: &u64| ours.live(*address).is_some_and(|block| !self.layouts.has(&block));
        let new: HashSet<u64> = self.walked.iter().copied().filter(is_new).collect();
        if new.is_empty() {
            return;
        }
        for leaf in &self.leaves {
            let Some(block) = ours.live(leaf.addresses.0).filter(|block| new.contains(&block.address)) else {
                continue;
            };
            let Some(other) = theirs.live(leaf.addresses.1) else { continue };
            let part = ReachedPart {
                their_offset: leaf.addresses.1 - other.address,
                length: leaf.length,
                is_pointer: leaf.is_pointer,
                way: leaf.way.clone(),
            };
            self.layouts.learn(&block, &other, leaf.addresses.0 - block.address, part);
        }
    }

    /// Adds the parts of blocks that are known from later points and were not reached.
    fn unreached(&mut self) {
        for (block, other, layout) in self.layouts.present(self.sides.0, self.sides.1) {
            let is_same = self.objects.theirs(PointedObject(block.address)) == Some(PointedObject(other.address));
            if !is_same || self.walked.contains(&block.address) {
                continue;
            }
            for (offset, part) in &layout.parts {
                let addresses = (block.address + offset, other.address + part.their_offset);
                let leaf = ValuePair::new(addresses, part.length, part.way.clone());
                self.leaves.push(ValuePair { is_pointer: part.is_pointer, ..leaf });
            }
        }
    }

    /// Whether both hold the same from steps that correspond, where that can be told at once; so it is for most.
    fn is_plainly_same(&self, leaf: &ValuePair<'s>) -> bool {
        let words =
            (self.slots.0.word(leaf.addresses.0, leaf.length), self.slots.1.word(leaf.addresses.1, leaf.length));
        let (Some((held, writer)), Some((other, other_writer))) = words else { return false };
        if !self.alignment.is_same(writer, other_writer) {
            return false;
        }
        if !leaf.is_pointer || held == 0 {
            return held == other;
        }
        let translated =
            self.slots.1.object(other).and_then(|(object, offset)| Some(self.objects.ours(object)?.0 + offset));
        translated == Some(held)
    }

    fn compare(&self, leaf: &ValuePair<'s>) -> Option<Cell> {
        let (ours, theirs) = self.sides;
        let held = self.slots.0.held(leaf.addresses.0, leaf.length)?;
        let other = self.slots.1.held(leaf.addresses.1, leaf.length)?;
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        let (mut is_same, mut reference) = (held.bytes == other.bytes, Some(other.bytes.clone()));
        if leaf.is_pointer {
            let (pointer, wanted) = (number(&held.bytes), number(&other.bytes));
            let places = (self.slots.0.object(pointer), self.slots.1.object(wanted));
            match places {
                (_, Some((object, offset))) => {
                    let translated = self.objects.ours(object).map(|object| object.0 + offset);
                    is_same = translated == Some(pointer);
                    reference = translated.map(|address| address.to_le_bytes().to_vec());
                }
                (Some(_), None) if wanted != 0 => {
                    is_same = false;
                    // It leads somewhere that no object is known of: functions, the libraries.
                    reference = None;
                }
                // Functions, and what belongs to the libraries, lie elsewhere in each program.
                (None, None) if is_far(pointer, leaf.types.is_some()) && is_far(wanted, leaf.types.is_some()) => {
                    is_same = true;
                    reference = Some(held.bytes.clone());
                }
                _ => {}
            }
        }
        if is_same && self.alignment.is_same(held.writer, other.writer) {
            return None;
        }
        let shown = (
            shown(ours, leaf.addresses.0, leaf.types.map(|types| types.0), &held, leaf.is_float),
            shown(theirs, leaf.addresses.1, leaf.types.map(|types| types.1), &other, leaf.is_float),
        );
        let made = |side: RunSide<'_>, bytes: &[u8]| side.machine.heap.find(number(bytes)).map(|block| block.made);
        let is_alike = leaf.is_pointer && !is_same && shown.0 == shown.1;
        let made = if is_alike { (made(ours, &held.bytes), made(theirs, &other.bytes)) } else { (None, None) };
        Some(Cell {
            made,
            address: leaf.addresses.0,
            reference_address: leaf.addresses.1,
            length: leaf.length,
            declared: ours.machine.globals.find(leaf.addresses.0).and_then(|global| global.place.clone()),
            path: leaf.way.written(),
            writer: held.writer,
            reference_writer: other.writer,
            bytes: held.bytes,
            reference,
            shown,
            union: leaf.union.clone(),
        })
    }
}

/// Whether a pointer, or a word that may be one, leads to something.
fn is_far(word: u64, is_pointer: bool) -> bool {
    word != 0 && (is_pointer || (0x1_0000..1 << 47).contains(&word))
}

fn shown(
    side: RunSide<'_>,
    address: u64,
    ty: Option<(Debug<'_>, MetadataId)>,
    held: &HeldCell,
    is_float: bool,
) -> String {
    let bytes = &held.bytes[..];
    match (ty, bytes.first_chunk::<8>(), bytes.first_chunk::<4>()) {
        (Some((debug, ty)), ..) => value_texts::typed(side, address, debug, ty, held.writer),
        (None, Some(bytes), _) if is_float => f64::from_le_bytes(*bytes).to_string(),
        (None, None, Some(bytes)) if is_float => f32::from_le_bytes(*bytes).to_string(),
        _ => value_texts::raw(side, bytes),
    }
}

#[cfg(test)]
mod tests;
