//! What a piece of memory is called where a statement runs.
//!
//! A variable has its own name; one of another function that is active is named by the pointer that the statement uses for it (`*total`), else it stands behind the name of
//! its function and a dot: `main.total`. A part of a block of the heap is named by the shortest way that leads there from what the statement sees: a variable that it
//! uses, another one of its function, a global variable, at last a variable of a caller. So no name belongs to a function that is not active, or to another time.

use std::collections::{HashSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use crate::align::way::AccessPath;
use crate::native::library;
use crate::native::naming::layout::{TypeLayout, TypeLayouts};
use crate::native::recorded::NativeRecorded;
use idd_trace::instrument::{Debug, MetadataId, OperandValue, SourceType};
use idd_trace::native::visit::before_step;
use idd_trace::native::{NativeFrame, NativeMachine, VariablePlace, View, value};
use idd_trace::{Step, TraceError};

mod layout;

/// Pointers that are followed for one name.
const MAX_POINTERS: usize = 50_000;

/// Elements of one array or block that are looked through for pointers.
const MAX_ELEMENTS: u64 = 4096;

/// The streams of the C library that are variables.
pub const STREAMS: [&str; 3] = ["stdin", "stdout", "stderr"];

/// Structures in structures.
const MAX_DEPTH: u32 = 16;

/// What parts of memory are called right before a step runs, each given by its address and its bytes; `None` for one that nothing seen there leads to.
///
/// - `home`: the function in which the names are to be understood; variables of others, also of that of the step, stand behind its name.
///
/// Cost: one seek, one pass over the variables, and at most [`MAX_POINTERS`] visits for each part.
pub fn before(
    recorded: &mut NativeRecorded,
    step: Step,
    parts: &[(u64, u64)],
    home: Option<&Arc<str>>,
) -> Result<Vec<Option<String>>, TraceError> {
    let parts: Vec<MemoryPart> =
        parts.iter().map(|(address, length)| MemoryPart { address: *address, length: *length, bytes: &[] }).collect();
    let seen = seen_before(recorded, step, &parts, home)?;
    Ok(seen.into_iter().map(|seen| seen.map(|seen| seen.name)).collect())
}

/// A part of memory.
#[derive(Debug, Clone, Copy)]
pub struct MemoryPart<'p> {
    /// Its address.
    pub address: u64,
    /// Its bytes; 0 for what begins there, whatever it is.
    pub length: u64,
    /// What it holds, if that is to be shown: `length` bytes, `None` for those that are not known.
    pub bytes: &'p [Option<u8>],
}

/// How a part of memory is called, and what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPart {
    /// Its name.
    pub name: String,
    /// The value by its type; `None` if that is not known, or no bytes were given.
    pub value: Option<String>,
    /// The structure that it points to.
    pub target: Option<String>,
}

/// The same as [`before`], with values.
pub fn seen_before(
    recorded: &mut NativeRecorded,
    step: Step,
    parts: &[MemoryPart<'_>],
    home: Option<&Arc<str>>,
) -> Result<Vec<Option<NamedPart>>, TraceError> {
    let mut found = vec![None; parts.len()];
    if step == Step::START {
        return Ok(found);
    }
    let find = |machine: &NativeMachine| {
        let view = View::without_words(machine);
        let mut beginnings = Beginnings { view, home, layouts: TypeLayouts::default(), roots: None };
        let seen = |part: &MemoryPart<'_>| {
            let NamedType { name, part: ty } = called(&mut beginnings, part.address, part.length, home)?;
            let ty = ty.filter(|_| !part.bytes.is_empty());
            let target = ty.as_ref().and_then(|(debug, ty)| view.target(*debug, ty, part.bytes));
            let value = ty.map(|(debug, ty)| view.typed(debug, &ty, part.bytes));
            Some(NamedPart { name: library::plain(name), value, target })
        };
        found = parts.iter().map(seen).collect();
    };
    before_step(&mut recorded.player, step, find)?;
    Ok(found)
}

/// What the number in a variable is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NumberKind {
    /// A number with a sign, or something of which no more is known.
    #[default]
    Signed,
    /// A number without a sign.
    Unsigned,
    /// A character.
    Character,
    /// A pointer.
    Pointer,
    /// A floating-point number, by its bits.
    Float,
}

/// What parts of memory are called in a state, each given by its address and its bytes, and what they hold.
pub fn named(view: View<'_>, parts: &[(u64, u64)], home: Option<&Arc<str>>) -> Vec<Option<(String, NumberKind)>> {
    let mut beginnings = Beginnings { view, home, layouts: TypeLayouts::default(), roots: None };
    let name = |(address, length): &(u64, u64)| {
        let NamedType { name, part } = called(&mut beginnings, *address, *length, home)?;
        let is_whole = |(debug, part): &(Debug<'_>, value::VariablePart)| match part {
            value::VariablePart::Whole(ty) => value::size_of(*debug, *ty, 0).is_none_or(|size| size == *length),
            _ => true,
        };
        let ty = match length {
            1 => "unsigned char",
            2 => "unsigned short",
            4 => "unsigned",
            _ => "unsigned long",
        };
        match part {
            Some(part) if is_whole(&part) => Some((library::plain(name), kind(part.0, &part.1))),
            None if STREAMS.contains(&&*name) => Some((name, NumberKind::Pointer)),
            // A part of something else: a byte of a number.
            _ => Some((format!("*({ty} *)&{}", library::plain(name)), NumberKind::Unsigned)),
        }
    };
    parts.iter().map(name).collect()
}

fn kind(debug: Debug<'_>, part: &value::VariablePart) -> NumberKind {
    let ty = match part {
        value::VariablePart::Whole(ty) => debug.plain_ty(*ty).map(|(_, ty)| ty),
        value::VariablePart::Characters => return NumberKind::Character,
        _ => None,
    };
    match ty {
        Some(SourceType::Pointer(_)) => NumberKind::Pointer,
        Some(SourceType::Base(_, _, encoding)) => match &*encoding {
            "DW_ATE_float" => NumberKind::Float,
            "DW_ATE_signed_char" => NumberKind::Character,
            "DW_ATE_unsigned" | "DW_ATE_unsigned_char" | "DW_ATE_boolean" => NumberKind::Unsigned,
            _ => NumberKind::Signed,
        },
        _ => NumberKind::Signed,
    }
}

/// A name, and the type of what has it if all of that is meant.
struct NamedType<'v> {
    name: String,
    part: Option<(Debug<'v>, value::VariablePart)>,
}

/// What bytes of a variable of the program or of a frame are called in the function `home`, by default that of the last frame.
///
/// - `length`: bytes of the part that is meant; 0 for what begins there, whatever it is.
pub fn variable(view: View<'_>, address: u64, length: u64, home: Option<&Arc<str>>) -> Option<String> {
    called_variable(view, address, length, home).map(|called| called.name)
}

fn called_variable<'v>(view: View<'v>, address: u64, length: u64, home: Option<&Arc<str>>) -> Option<NamedType<'v>> {
    let whole = |name: String, offset: u64, ty: Option<(Debug<'v>, MetadataId)>| {
        let Some((debug, ty)) = ty else { return NamedType { name, part: None } };
        let (path, part) = path(debug, ty, offset, length);
        NamedType { name: name + &path, part: part.map(|part| (debug, part)) }
    };
    if let Some((frame, place)) = local(view, address) {
        let name = format!("{}{}", prefix(view, frame, home), place.name);
        return Some(whole(name, address - place.address, place.ty.map(|ty| (place.debug, ty))));
    }
    if let Some(global) = view.machine.globals.find(address).filter(|global| global.is_named) {
        let debug = Debug::new(&global.map.module, &global.map.text);
        return Some(whole(global.name.to_string(), address - global.address, global.ty.map(|ty| (debug, ty))));
    }
    let stream = STREAMS.into_iter().find(|name| view.machine.globals.stream(name) == Some(address))?;
    Some(NamedType { name: stream.to_owned(), part: None })
}

/// The variable of a frame that an address is in.
fn local(view: View<'_>, address: u64) -> Option<(&NativeFrame, VariablePlace<'_>)> {
    let is_here = |place: &VariablePlace<'_>| {
        place.address != 0 && (place.address..place.address + place.size.max(1)).contains(&address)
    };
    view.machine.frames.iter().rev().find_map(|frame| Some((frame, view.locals(frame).find(is_here)?)))
}

/// The way to a part of a type, and what that is; where a structure or array has nothing else in it, on to that.
fn path(debug: Debug<'_>, ty: MetadataId, offset: u64, length: u64) -> (String, Option<value::VariablePart>) {
    let (mut text, mut part) = value::path(debug, ty, offset, length);
    for _ in 0..MAX_DEPTH {
        let Some(value::VariablePart::Whole(whole)) = part else { break };
        let (step, inner) = match debug.plain_ty(whole) {
            Some((_, SourceType::Struct(compound))) if length > 0 => match &compound.members[..] {
                [only] if !only.is_bit_field && !only.name.is_empty() => (format!(".{}", only.name), only.ty),
                _ => break,
            },
            Some((_, SourceType::Array(element, counts))) if length > 0 && counts == [Some(1)] => {
                ("[0]".to_owned(), element)
            }
            _ => break,
        };
        let Some(inner) = inner else { break };
        text.push_str(&step);
        part = Some(value::VariablePart::Whole(inner));
    }
    (text, part)
}

/// What stands before the names of a frame's variables: nothing, or its function and a dot.
fn prefix(view: View<'_>, frame: &NativeFrame, home: Option<&Arc<str>>) -> String {
    let name = frame.shape.name();
    let is_last = view.machine.frame().is_some_and(|last| last.number == frame.number);
    if is_last && home.is_none_or(|home| *home == name) { String::new() } else { format!("{name}.") }
}

/// What bytes are called at the current statement.
fn called<'v>(
    beginnings: &mut Beginnings<'v>,
    address: u64,
    length: u64,
    home: Option<&Arc<str>>,
) -> Option<NamedType<'v>> {
    let view = beginnings.view;
    if let Some((frame, place)) = local(view, address)
        && view.machine.frame().is_some_and(|last| last.number != frame.number)
        && let Some(found) = beginnings.search((place.address, place.address + place.size), address, length).pointed()
    {
        return Some(found);
    }
    if let Some(found) = called_variable(view, address, length, home) {
        return Some(found);
    }
    let object = match view.machine.heap.find(address) {
        Some(block) => (block.address, block.address + block.size),
        None => unnamed(view, address)?,
    };
    beginnings.search(object, address, length).run()
}

/// Where the variable of the compiler begins and ends that has a byte: a compound literal, the object of a reference.
fn unnamed(view: View<'_>, address: u64) -> Option<(u64, u64)> {
    let slots =
        view.machine.frames.iter().rev().flat_map(|frame| frame.shape.slots.iter().map(move |slot| (frame, slot)));
    let mut places = slots.filter_map(|(frame, slot)| {
        let begin = frame.given(slot.register)?;
        Some((begin, begin.saturating_add(slot.size)))
    });
    places.find(|(begin, end)| *begin != 0 && (*begin..*end).contains(&address))
}

/// What is used by the current statement of a frame: addresses of its variables, and names of global ones.
fn mentioned(frame: &NativeFrame) -> (HashSet<u64>, HashSet<Arc<str>>) {
    let (mut slots, mut globals) = (HashSet::new(), HashSet::new());
    for operand in frame.instructions().iter().flat_map(|instruction| &instruction.operands) {
        match &operand.value {
            OperandValue::Local(id) => {
                let slot = frame.shape.slots.iter().find(|slot| slot.id == *id);
                slots.extend(slot.and_then(|slot| frame.given(slot.register)));
            }
            OperandValue::Global(name) => {
                globals.insert(Arc::clone(name));
            }
            _ => {}
        }
    }
    (slots, globals)
}

/// The pointers in variables, from which all searches at one step begin.
struct Beginnings<'v> {
    view: View<'v>,
    home: Option<&'v Arc<str>>,
    layouts: TypeLayouts,
    roots: Option<Rc<Roots<'v>>>,
}

/// The pointers in the variables that the statement uses, in all of its function, in those of the program, in those of callers.
type Roots<'v> = [Vec<Pointer<'v>>; 4];

/// A pointer: its value, the type of what it leads to, and the way to it.
#[derive(Clone)]
struct Pointer<'v> {
    address: u64,
    debug: Debug<'v>,
    to: MetadataId,
    /// Whether it is a reference, which is called as what it leads to.
    is_reference: bool,
    way: AccessPath,
}

impl<'v> Beginnings<'v> {
    fn search(&mut self, object: (u64, u64), address: u64, length: u64) -> NameSearch<'_, 'v> {
        let (roots, view, layouts) = (self.roots(), self.view, &mut self.layouts);
        let seen = HashSet::new();
        NameSearch { roots, view, layouts, object, address, length, seen, n_pointers: 0, inexact: None }
    }

    fn roots(&mut self) -> Rc<Roots<'v>> {
        let roots = self.roots.take().unwrap_or_else(|| Rc::new(self.found()));
        Rc::clone(self.roots.insert(roots))
    }

    fn found(&mut self) -> Roots<'v> {
        let mut groups = Roots::default();
        let Some(frame) = self.view.machine.frame() else { return groups };
        let (slots, globals) = mentioned(frame);
        let (view, home) = (self.view, self.home);
        let prefix = |frame| prefix(view, frame, home);
        for place in view.variables(frame) {
            let group = usize::from(!slots.contains(&place.address));
            self.of_place(&place, format!("{}{}", prefix(frame), place.name), &mut groups[group]);
        }
        for global in view.machine.globals.iter().filter(|global| global.is_named) {
            let Some(ty) = global.ty else { continue };
            let debug = Debug::new(&global.map.module, &global.map.text);
            let layout = self.layouts.of(debug, ty, 0);
            let way = || AccessPath::begin(&*global.name);
            let group = if globals.contains(&global.name) { 0 } else { 2 };
            pointers(view, debug, global.address, &layout, &way, &mut groups[group]);
        }
        for caller in view.machine.frames.iter().rev().skip(1) {
            for place in view.variables(caller) {
                self.of_place(&place, format!("{}{}", prefix(caller), place.name), &mut groups[3]);
            }
        }
        groups
    }

    fn of_place(&mut self, place: &VariablePlace<'v>, name: String, found: &mut Vec<Pointer<'v>>) {
        let Some(ty) = place.ty else { return };
        if place.held.is_none() {
            let layout = self.layouts.of(place.debug, ty, 0);
            let way = || AccessPath::begin(&*name);
            return pointers(self.view, place.debug, place.address, &layout, &way, found);
        }
        let Some((_, SourceType::Pointer(Some(to)))) = place.debug.plain_ty(ty) else { return };
        let pointer = self.view.number(place, 8).filter(|pointer| *pointer != 0);
        let is_reference = place.debug.is_reference(ty);
        found.extend(pointer.map(|address| Pointer {
            address,
            debug: place.debug,
            to,
            is_reference,
            way: AccessPath::begin(name),
        }));
    }
}

/// Adds the pointers in a value that are not null.
///
/// - `way`: makes the way to the value. Most values have no pointer, or only null ones, and need none.
fn pointers<'v>(
    view: View<'v>,
    debug: Debug<'v>,
    address: u64,
    layout: &TypeLayout,
    way: &dyn Fn() -> AccessPath,
    found: &mut Vec<Pointer<'v>>,
) {
    match layout {
        TypeLayout::Pointer { to, is_reference } => {
            let (to, is_reference) = (*to, *is_reference);
            let pointer = pointer_at(view, address);
            found.extend(pointer.map(|address| Pointer { address, debug, to, is_reference, way: way() }));
        }
        TypeLayout::Compound(members) => {
            for (member, layout) in members {
                let address = address + member.offset_bits / 8;
                pointers(view, debug, address, layout, &|| way().member(&member.name), found);
            }
        }
        TypeLayout::Array { element, n, size } => {
            for index in 0..*n {
                pointers(view, debug, address + index * size, element, &|| way().element(index), found);
            }
        }
        TypeLayout::Plain => {}
    }
}

/// The pointer at an address, unless it is null.
fn pointer_at(view: View<'_>, address: u64) -> Option<u64> {
    let memory = &view.machine.memory;
    let pointer = if address.is_multiple_of(8) {
        memory.word(address, 8)?.0
    } else {
        u64::from_le_bytes(*memory.bytes(address, 8)?.first_chunk()?)
    };
    Some(pointer).filter(|pointer| *pointer != 0)
}

/// A search for the shortest way to a part of an object.
struct NameSearch<'s, 'v> {
    roots: Rc<Roots<'v>>,
    view: View<'v>,
    layouts: &'s mut TypeLayouts,
    /// Where the object begins and ends.
    object: (u64, u64),
    address: u64,
    length: u64,
    /// Blocks that were looked through.
    seen: HashSet<u64>,
    n_pointers: usize,
    /// A way to a part that has not the length that is meant.
    inexact: Option<NamedType<'v>>,
}

impl<'v> NameSearch<'_, 'v> {
    /// The way over one pointer that the statement uses.
    fn pointed(mut self) -> Option<NamedType<'v>> {
        let roots = Rc::clone(&self.roots);
        roots[0].iter().find_map(|pointer| self.reached(pointer))
    }

    fn run(mut self) -> Option<NamedType<'v>> {
        let roots = Rc::clone(&self.roots);
        let mut groups = roots.iter();
        let mut open = VecDeque::new();
        loop {
            // What is one pointer farther away begins one round later.
            open.extend(groups.next().into_iter().flatten().cloned());
            let n = open.len();
            for pointer in open.drain(..n).collect::<Vec<_>>() {
                self.n_pointers += 1;
                if let Some(name) = self.reached(&pointer) {
                    return Some(name);
                }
                self.follow(&pointer, &mut open);
            }
            if (open.is_empty() && groups.len() == 0) || self.n_pointers > MAX_POINTERS {
                return self.inexact;
            }
        }
    }

    /// The name, if a pointer leads to the part that is meant.
    fn reached(&mut self, pointer: &Pointer<'v>) -> Option<NamedType<'v>> {
        let Pointer { address: pointer, debug, to, is_reference, way } = pointer;
        let (begin, end) = self.object;
        let offset = self.address.checked_sub(*pointer).filter(|_| (begin..end).contains(pointer))?;
        let size = value::size_of(*debug, *to, 0).filter(|size| *size > 0)?;
        let is_compound = is_compound(*debug, *to);
        if is_compound && offset >= size && !(end - *pointer).is_multiple_of(size) {
            // It does not fill the block evenly: bytes lie behind it, not more of its kind.
            return Some(NamedType { name: way.behind().element(offset - size).written(), part: None });
        }
        let (path, part) = path(*debug, *to, offset % size, self.length);
        let (index, n) = (offset / size, (end - *pointer) / size);
        let way = if *is_reference && index == 0 { way.clone() } else { step(is_compound, way, index, n) };
        let way = way.written();
        let path = if way.ends_with("->") { path.strip_prefix('.').unwrap_or(&path) } else { &path };
        let mut name = format!("{way}{path}");
        if self.length > 0 && path.is_empty() && way.ends_with("->") {
            name = format!("*{}", way.trim_end_matches("->"));
        }
        if part.is_some() {
            // A pointer to characters leads to all that lies behind them, whatever it is.
            let is_character = size == 1 && self.length == 1;
            let inexact = self.inexact.take_if(|_| is_character);
            name.truncate(name.trim_end_matches("->").len());
            return Some(inexact.unwrap_or_else(|| NamedType { name, part: part.map(|part| (*debug, part)) }));
        }
        self.inexact.get_or_insert(NamedType { name, part: None });
        None
    }

    /// Adds the pointers in the block that a pointer leads to.
    fn follow(&mut self, pointer: &Pointer<'v>, open: &mut VecDeque<Pointer<'v>>) {
        let Pointer { address: pointer, debug, to, is_reference, way } = pointer;
        let Some(block) = self.view.machine.heap.find(*pointer).filter(|block| block.freed.is_none()) else { return };
        let Some(size) = value::size_of(*debug, *to, 0).filter(|size| *size > 1) else { return };
        let layout = self.layouts.of(*debug, *to, 0);
        if !self.seen.insert(*pointer) || matches!(*layout, TypeLayout::Plain) {
            return;
        }
        let n = (block.address + block.size - pointer) / size;
        let is_compound = is_compound(*debug, *to);
        let mut found = Vec::new();
        for index in 0..n.min(MAX_ELEMENTS) {
            let is_whole = *is_reference && index == 0;
            let way = || if is_whole { way.clone() } else { step(is_compound, way, index, n) };
            pointers(self.view, *debug, pointer + index * size, &layout, &way, &mut found);
        }
        open.extend(found);
    }
}

fn is_compound(debug: Debug<'_>, ty: MetadataId) -> bool {
    matches!(debug.plain_ty(ty), Some((_, SourceType::Struct(_) | SourceType::Union(_))))
}

/// The way along a pointer to a compound or another value, to the element of this index of so many.
fn step(is_compound: bool, way: &AccessPath, index: u64, n: u64) -> AccessPath {
    match (index, is_compound) {
        (0, true) => way.arrow(),
        (0, false) if n <= 1 => way.star(),
        _ => way.element(index),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::RunEnding;
    use crate::native::stored::{causality, recorded};
    use idd_trace::native::stored::step;

    #[test]
    fn a_part_of_the_heap_is_named_as_the_statement_sees_it() {
        let mut causality = causality("list", RunEnding::Exit(0));
        let failing = &mut causality.failing().player;
        // `sum += node->value;` of the second node, and `printf(...)`.
        let (inside, outside) = (step(failing, 17, 1), step(failing, 31, 0));
        let point = causality.point_until(inside).unwrap();
        let state = causality.state(point).unwrap();
        let (_, cell) = state.cells.iter().find(|(_, cell)| cell.path == "node->value").unwrap();
        let place = [(cell.address, cell.length)];
        let name = |recorded: &mut NativeRecorded, step, home: Option<&str>| {
            let home: Option<Arc<str>> = home.map(Into::into);
            before(recorded, step, &place, home.as_ref()).unwrap().pop().flatten()
        };
        assert_eq!(name(causality.failing(), inside, None).as_deref(), Some("node->value"));
        assert_eq!(name(causality.failing(), inside, Some("main")).as_deref(), Some("total.node->value"));
        assert_eq!(name(causality.failing(), outside, None).as_deref(), Some("list->next->value"));
        assert_eq!(name(causality.failing(), Step::START, None), None);
    }

    #[test]
    fn what_nothing_leads_to_has_no_name() {
        let mut run = recorded("list", "bad");
        let last = Step(run.run.n_steps());
        assert_eq!(before(&mut run, last, &[(16, 4)], None).unwrap(), [None]);
    }
}
