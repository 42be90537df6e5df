//! Names for addresses: variables of frames, global variables, blocks of the heap, arguments and environment.

use std::sync::Arc;

use crate::instrument::types::Type;
use crate::instrument::{Debug, DebugVariable, MetadataId, SourceType};
use crate::native::globals::Global;
use crate::native::{
    FunctionShape, FunctionSlot, NativeFrame, NativeMachine, Register, ValueContent, VariablePart, value,
};
use crate::{NamedAddress, Step};

/// Bytes of a string that a pointer points to.
pub const MAX_STRING: u64 = 80;

/// A process and what is needed to read it.
#[derive(Clone, Copy)]
pub struct View<'v> {
    /// The process.
    pub machine: &'v NativeMachine,
    /// Its arguments, each ended by a zero byte, if they have names.
    words: &'v [u8],
}

/// A variable in a frame or of the program.
#[derive(Clone)]
pub struct VariablePlace<'p> {
    /// Its name.
    pub name: Arc<str>,
    /// Its address.
    pub address: u64,
    /// Its bytes.
    pub size: u64,
    /// Its type.
    pub ty: Option<MetadataId>,
    /// The debug info that has the type.
    pub debug: Debug<'p>,
    /// If its address does not escape: what it holds, as far as it was given anything, and who gave it.
    pub held: Option<(Option<u64>, Step)>,
    /// Which part of these bytes is meant; all of them if `None`.
    pub part: Option<VariablePart>,
    /// The line of its declaration.
    pub line: u32,
}

/// What a variable holds.
struct HeldValue<'h> {
    view: View<'h>,
    address: u64,
    bytes: VariableBytes,
}

/// Where the bytes of a variable are.
#[derive(Clone, Copy)]
enum VariableBytes {
    InMemory,
    /// These, which never reach memory.
    Given([u8; 8]),
    /// Nowhere: nothing was put there yet.
    Unset,
}

impl ValueContent for HeldValue<'_> {
    fn bytes(&self, offset: u64, length: usize) -> Option<Vec<u8>> {
        match self.bytes {
            VariableBytes::Unset => None,
            VariableBytes::Given(bytes) => {
                let offset = usize::try_from(offset).ok()?;
                bytes.get(offset..offset.checked_add(length)?).map(<[u8]>::to_vec)
            }
            VariableBytes::InMemory => self.view.machine.memory.bytes(self.address.checked_add(offset)?, length),
        }
    }

    fn pointer(&self, pointer: u64, to: Option<(MetadataId, SourceType)>) -> String {
        if let Some(function) = self.view.machine.globals.functions().get(&pointer) {
            return function.to_string();
        }
        // A structure is meant as a whole, not its first member.
        let size = match &to {
            Some((_, SourceType::Struct(compound) | SourceType::Union(compound))) => compound.bits / 8,
            _ => 0,
        };
        let target = match &to {
            Some((_, SourceType::Function)) => None,
            _ => {
                self.view.text(pointer, to.as_ref()).or_else(|| Some(format!("-> {}", self.view.name(pointer, size)?)))
            }
        };
        target.map_or_else(|| format!("{pointer:#x}"), |target| format!("{pointer:#x} {target}"))
    }
}

/// Bytes that are not those of the memory now.
struct Typed<'t> {
    view: View<'t>,
    bytes: &'t [Option<u8>],
}

impl ValueContent for Typed<'_> {
    fn bytes(&self, offset: u64, length: usize) -> Option<Vec<u8>> {
        let offset = usize::try_from(offset).ok()?;
        self.bytes.get(offset..offset.checked_add(length)?)?.iter().copied().collect()
    }

    fn pointer(&self, pointer: u64, to: Option<(MetadataId, SourceType)>) -> String {
        HeldValue { view: self.view, address: 0, bytes: VariableBytes::Unset }.pointer(pointer, to)
    }
}

/// Bytes that the arguments and the environment take at the most.
const MAX_WORDS: u64 = 8 << 20;

impl<'v> View<'v> {
    /// A process in which all has a name.
    pub fn new(machine: &'v NativeMachine) -> Self {
        Self { machine, words: &machine.given }
    }

    /// A process in which the texts of its arguments have no names.
    pub fn without_words(machine: &'v NativeMachine) -> Self {
        Self { machine, words: &[] }
    }

    /// The variables of a frame that are seen at its current statement, inner ones first; of those with the same name only the innermost.
    pub fn variables(self, frame: &'v NativeFrame) -> Vec<VariablePlace<'v>> {
        let mut found = self.visible(frame, |_| true);
        let mut seen = std::collections::HashSet::new();
        found.retain(|place| seen.insert(Arc::clone(&place.name)));
        found
    }

    /// Those of some variables of a frame that are visible at its current statement, inner ones first; also those that
    /// another one of the same name hides.
    fn visible(self, frame: &'v NativeFrame, is_wanted: impl Fn(&DebugVariable) -> bool) -> Vec<VariablePlace<'v>> {
        let debug = frame.shape.debug();
        let mut scopes = Vec::new();
        let location = frame.instructions().iter().find_map(|instruction| instruction.location);
        let mut scope = location.and_then(|location| debug.scope(location));
        while let Some(found) = scope {
            if scopes.len() > 1000 {
                break;
            }
            scopes.push(found);
            scope = debug.outer_scope(found);
        }
        let mut found: Vec<(usize, VariablePlace<'v>)> = Vec::new();
        for (variable, place) in self.declared_as(frame, is_wanted) {
            let depth = match variable.scope {
                Some(scope) => scopes.iter().position(|found| *found == scope),
                None => None,
            };
            if let Some(depth) = depth.or(scopes.is_empty().then_some(0)) {
                found.push((depth, place));
            }
        }
        found.sort_by_key(|(depth, place)| (*depth, place.line));
        found.into_iter().map(|(_, place)| place).collect()
    }

    /// The parameters of a frame with their values, in order.
    pub fn arguments(self, frame: &'v NativeFrame) -> Vec<(Arc<str>, String)> {
        let mut found: Vec<(u32, VariablePlace<'v>)> = self
            .declared(frame)
            .filter(|(variable, _)| variable.parameter > 0)
            .map(|(variable, place)| (variable.parameter, place))
            .collect();
        found.sort_by_key(|(number, _)| *number);
        found.iter().map(|(_, place)| (Arc::clone(&place.name), self.show(place))).collect()
    }

    /// The text that a pointer to characters points to, between quotes; `None` if it points to something else.
    pub fn text(self, pointer: u64, to: Option<&(MetadataId, SourceType)>) -> Option<String> {
        let Some((_, SourceType::Base(_, 8, encoding))) = to else { return None };
        if !encoding.ends_with("_char") {
            return None;
        }
        let memory = &self.machine.memory;
        if let Some(string) = memory.string(pointer, MAX_STRING) {
            return Some(value::quoted(&string, '"'));
        }
        let beginning = memory.bytes(pointer, usize::try_from(MAX_STRING).ok()?)?;
        (!beginning.contains(&0)).then(|| format!("{}...", value::quoted(&beginning, '"')))
    }

    /// All variables of a frame, also those that are not seen at its current statement, in the order of their declarations.
    pub fn locals(self, frame: &'v NativeFrame) -> impl Iterator<Item = VariablePlace<'v>> {
        self.declared(frame).map(|(_, place)| place)
    }

    /// All variables of a frame.
    fn declared(self, frame: &'v NativeFrame) -> impl Iterator<Item = (DebugVariable, VariablePlace<'v>)> {
        self.declared_as(frame, |_| true)
    }

    /// Some variables of a frame.
    fn declared_as(
        self,
        frame: &'v NativeFrame,
        is_wanted: impl Fn(&DebugVariable) -> bool,
    ) -> impl Iterator<Item = (DebugVariable, VariablePlace<'v>)> {
        let debug = frame.shape.debug();
        let declarations = frame.shape.body.function.declarations.iter();
        declarations.filter_map(move |declaration| {
            let variable = debug.variable(declaration.variable).filter(&is_wanted)?;
            let slot = frame.shape.slots.iter().find(|slot| slot.id == declaration.address);
            let place = match slot {
                Some(slot) if declaration.is_plain => place(frame, slot, &variable, debug)?,
                // What is passed in memory: the parameter is the address. What has a size known only at run time: the slot holds the address.
                Some(slot) => {
                    let address = held(frame, slot).or_else(|| {
                        let bytes = self.machine.memory.bytes(frame.value(slot.register)?, 8)?;
                        bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
                    })?;
                    far(address, &variable, debug)
                }
                None => far(frame.register_of(declaration.address)?, &variable, debug),
            };
            Some((variable, place))
        })
    }

    /// The variable of this name that is seen at the current statement of a frame.
    pub fn variable(self, frame: &'v NativeFrame, name: &str) -> Option<VariablePlace<'v>> {
        let local = self.visible(frame, |variable| &*variable.name == name).into_iter().next();
        local.or_else(|| {
            let global = self.machine.globals.named(name, frame.shape.body.unit)?;
            Some(everywhere(global))
        })
    }

    /// The global variables that are seen at the current statement of a frame, by name.
    pub fn seen_globals(self, frame: &'v NativeFrame) -> Vec<VariablePlace<'v>> {
        let locals = self.variables(frame);
        let is_seen = |global: &&Global| {
            let found = self.machine.globals.named(&global.name, frame.shape.body.unit);
            let is_hidden = locals.iter().any(|local| local.name == global.name);
            global.is_named && !is_hidden && found.is_some_and(|found| found.address == global.address)
        };
        let mut found: Vec<VariablePlace<'v>> = self.machine.globals.iter().filter(is_seen).map(everywhere).collect();
        found.sort_by(|one, other| one.name.cmp(&other.name));
        found.dedup_by(|one, other| one.name == other.name);
        found
    }

    /// The value of a variable.
    pub fn show(self, place: &VariablePlace<'v>) -> String {
        let bytes = match place.held {
            None => VariableBytes::InMemory,
            Some((None, _)) => VariableBytes::Unset,
            Some((Some(held), _)) => VariableBytes::Given(held.to_le_bytes()),
        };
        let content = HeldValue { view: self, address: place.address, bytes };
        if let Some(part) = &place.part {
            return value::show_part(place.debug, part, &content, place.size);
        }
        place.ty.map_or_else(|| "?".to_owned(), |ty| value::show(place.debug, ty, &content))
    }

    /// The number that a variable of `size` bytes holds, at most 8.
    pub fn number(self, place: &VariablePlace<'v>, size: u64) -> Option<u64> {
        let size = usize::try_from(size).ok().filter(|size| (1..=8).contains(size))?;
        let mut bytes = [0; 8];
        match place.held {
            Some((held, _)) => bytes[..size].copy_from_slice(&held?.to_le_bytes()[..size]),
            None => bytes[..size].copy_from_slice(&self.machine.memory.bytes(place.address, size)?),
        }
        Some(u64::from_le_bytes(bytes))
    }

    /// What the bytes at an address are called; `size` 0 for the address alone.
    pub fn name(self, address: u64, size: u64) -> Option<String> {
        self.find(address, size).map(|(name, _)| name)
    }

    /// What is called how, and of which type the part is.
    fn find(self, address: u64, size: u64) -> Option<(String, Option<(VariablePart, Debug<'v>)>)> {
        let inside = |place: &VariablePlace<'v>| {
            let (path, part) = match place.ty {
                Some(ty) => value::path(place.debug, ty, address - place.address, size),
                None => (String::new(), None),
            };
            (format!("{}{path}", place.name), part.map(|part| (part, place.debug)))
        };
        for (depth, frame) in self.machine.all_frames().collect::<Vec<_>>().into_iter().rev().enumerate() {
            let slot = slot_at(frame, address).map(|slot| slot.register);
            let Some(register) = slot.or_else(|| copied_at(frame, address)) else { continue };
            let variable = self.declared(frame).find(|(_, place)| place.address == frame.value(register).unwrap_or(0));
            let Some((_, place)) = variable else {
                let name = frame.shape.name();
                return Some((format!("temporary of {name}"), None));
            };
            let (name, part) = inside(&place);
            let is_current = depth == 0 || self.machine.frame().is_some_and(|current| current.number == frame.number);
            return Some((if is_current { name } else { format!("{name} of {}", frame.shape.name()) }, part));
        }
        if let Some(block) = self.machine.heap.find(address) {
            let offset = address - block.address;
            let freed = if block.freed.is_some() { "freed " } else { "" };
            let offset = if offset > 0 { format!("+{offset}") } else { String::new() };
            return Some((format!("{freed}block of step {}{offset}", block.made.0), None));
        }
        if let Some(global) = self.machine.globals.find(address) {
            let place = everywhere(global);
            if !global.is_named {
                return Some(("a constant".to_owned(), None));
            }
            return Some(inside(&place));
        }
        self.start(address).map(|name| (name, None))
    }

    /// What a step read or wrote at an address; `bytes` are those that it read.
    pub fn named(self, address: u64, size: u64, bytes: Option<&[u8]>) -> NamedAddress {
        let found = self.find(address, size);
        let bytes = bytes.filter(|bytes| bytes.len() <= 8).map_or(VariableBytes::InMemory, |bytes| {
            let mut given = [0; 8];
            given[..bytes.len()].copy_from_slice(bytes);
            VariableBytes::Given(given)
        });
        let content = HeldValue { view: self, address, bytes };
        let value = if let Some((_, Some((part, debug)))) = &found {
            Some(value::show_part(*debug, part, &content, size))
        } else {
            let known = content.bytes(0, usize::try_from(size).unwrap_or(0).min(64));
            // What is only known in part is a text that ends before the rest.
            let text = || content.bytes(0, 1).map(|_| value::characters(&content, 0, size));
            known.map(|bytes| raw(&bytes, &content)).or_else(text)
        };
        let name = found.map_or_else(|| format!("*{address:#x}"), |(name, _)| name);
        NamedAddress { name, value }
    }

    /// Bytes as their type writes them; those that are not known as `?`.
    pub fn typed(self, debug: Debug<'_>, part: &VariablePart, bytes: &[Option<u8>]) -> String {
        value::show_part(debug, part, &Typed { view: self, bytes }, bytes.len() as u64)
    }

    /// The structure or union that a value points to, as it is now; `None` if it points to something else, or to what was freed.
    pub fn target(self, debug: Debug<'_>, part: &VariablePart, bytes: &[Option<u8>]) -> Option<String> {
        let VariablePart::Whole(ty) = part else { return None };
        let SourceType::Pointer(Some(to)) = debug.plain_ty(*ty)?.1 else { return None };
        let (SourceType::Struct(_) | SourceType::Union(_)) = debug.plain_ty(to)?.1 else { return None };
        let bytes: Option<Vec<u8>> = bytes.iter().copied().collect();
        let address = u64::from_le_bytes(*bytes?.first_chunk()?);
        let block = self.machine.heap.find(address);
        if address == 0 || block.is_some_and(|block| block.freed.is_some()) {
            return None;
        }
        let text = value::show(debug, to, &HeldValue { view: self, address, bytes: VariableBytes::InMemory });
        // Of what the library made, nothing may be known.
        let is_known = text.split(", ").any(|member| !member.trim_end_matches('}').ends_with('?'));
        is_known.then_some(text)
    }

    /// The argument that a byte belongs to, or the environment.
    pub fn start(self, address: u64) -> Option<String> {
        let (array, n) = self.machine.words?;
        if address >= array && address - array < 8 * n {
            return Some(format!("argv[{}]", (address - array) / 8));
        }
        if let Some((index, at)) = self.word_at(address) {
            return Some(if at == 0 { format!("*argv[{index}]") } else { format!("argv[{index}][{at}]") });
        }
        // The arguments lie highest in memory, then the environment.
        (address > array && address - array < MAX_WORDS).then(|| "the environment".to_owned())
    }

    /// The index of the argument that has the byte, and the place in it.
    fn word_at(self, address: u64) -> Option<(usize, u64)> {
        let (array, n) = self.machine.words?;
        let words: Vec<&[u8]> = self.words.split_inclusive(|byte| *byte == 0).collect();
        let mut before = 0;
        let mut begin = None;
        for (word, index) in words.iter().zip(0..n) {
            let bytes = self.machine.memory.bytes(array + 8 * index, 8);
            if let Some(pointer) = bytes.as_deref().and_then(<[u8]>::first_chunk) {
                begin = u64::from_le_bytes(*pointer).checked_sub(before);
                break;
            }
            before += word.len() as u64;
        }
        // The arguments lie behind each other; where one of them is tells where all are.
        let begin = begin?;
        let mut at = begin;
        for (index, word) in words.iter().enumerate() {
            let length = word.len() as u64;
            if (at..at + length).contains(&address) {
                return Some((index, address - at));
            }
            at += length;
        }
        None
    }
}

impl View<'_> {
    /// What the call before the current segment of a frame returned, and whether that is a pointer; `None` if it is no scalar.
    pub fn result(self, frame: &NativeFrame, result: u64) -> Option<(String, bool)> {
        let segment = frame.shape.body.segment(frame.segment);
        let instructions = &frame.shape.body.function.block(segment.block).instructions;
        let ty = &instructions[segment.before(instructions)?].ty;
        let text = match ty {
            Type::Int(1) => (result & 1 == 1).to_string(),
            Type::Int(n_bits) if *n_bits <= 64 => self.raw(&result.to_le_bytes()[..n_bits.div_ceil(8) as usize]),
            Type::Double => f64::from_bits(result).to_string(),
            Type::Float => f32::from_bits(u32::try_from(result & 0xffff_ffff).unwrap_or(0)).to_string(),
            Type::Ptr if result == 0 => "NULL".to_owned(),
            Type::Ptr => self.raw(&result.to_le_bytes()),
            _ => return None,
        };
        Some((text, *ty == Type::Ptr))
    }

    /// A value of a type that is in no memory.
    pub fn given(self, debug: Debug<'_>, ty: MetadataId, bits: u64) -> String {
        value::show(debug, ty, &HeldValue { view: self, address: 0, bytes: VariableBytes::Given(bits.to_le_bytes()) })
    }

    /// A number of which only the size is known.
    pub fn raw(self, bytes: &[u8]) -> String {
        raw(bytes, &HeldValue { view: self, address: 0, bytes: VariableBytes::InMemory })
    }
}

/// Bytes without a type.
fn raw(bytes: &[u8], content: &HeldValue<'_>) -> String {
    let number = || bytes.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    match bytes.len() {
        8 => {
            let number = number();
            if number > 4096 && content.view.name(number, 0).is_some() {
                content.pointer(number, None)
            } else {
                number.cast_signed().to_string()
            }
        }
        4 => number().to_le_bytes().first_chunk().map_or(0, |bytes| i32::from_le_bytes(*bytes)).to_string(),
        1 => format!("{} {}", bytes[0], value::quoted(bytes, '\'')),
        0..8 => number().to_string(),
        _ if bytes[0] != 0 && value::is_text(bytes.split(|byte| *byte == 0).next().unwrap_or_default()) => {
            value::quoted(bytes.split(|byte| *byte == 0).next().unwrap_or_default(), '"')
        }
        n if bytes.iter().all(|byte| *byte == bytes[0]) => format!("{n} bytes of {}", bytes[0]),
        _ => {
            let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("[{}]", digits.join(" "))
        }
    }
}

pub(super) fn slot_at(frame: &NativeFrame, address: u64) -> Option<&FunctionSlot> {
    frame.shape.slots.iter().find(|slot| {
        let begin = frame.value(slot.register).unwrap_or(0);
        begin != 0 && begin <= address && address - begin < slot.size.max(1)
    })
}

/// The bytes from an address to the end of its array of characters, and true; else to the end of its variable or block, and
/// false. `None` if it is in none.
pub(super) fn rest(machine: &NativeMachine, address: u64) -> Option<(u64, bool)> {
    let slot = machine.all_frames().find_map(|frame| {
        let slot = slot_at(frame, address)?;
        let ty = frame.shape.body.segments.slots.iter().find(|(id, _)| *id == slot.id).map(|(_, ty)| ty);
        Some((frame.value(slot.register)?, slot.size, ty))
    });
    let block = || machine.heap.find(address).map(|block| (block.address, block.size, None));
    let global = || {
        let global = machine.globals.find(address)?;
        let ty = global.map.module.globals.iter().find(|other| other.name == global.name).map(|other| &other.ty);
        Some((global.address, global.size, ty))
    };
    let (begin, size, ty) = slot.or_else(block).or_else(global)?;
    let offset = address.checked_sub(begin)?;
    let rest = size.checked_sub(offset)?;
    Some(ty.and_then(|ty| rest_of_text(ty, offset)).map_or((rest, false), |rest| (rest, true)))
}

/// The bytes from an offset to the end of the array of characters that it is in; `None` for other types than arrays of such.
fn rest_of_text(ty: &Type, offset: u64) -> Option<u64> {
    fn size(ty: &Type) -> Option<u64> {
        match ty {
            Type::Int(8) => Some(1),
            Type::Array(n, element) => n.checked_mul(size(element)?),
            _ => None,
        }
    }
    let Type::Array(_, element) = ty else { return None };
    match **element {
        Type::Int(8) => size(ty)?.checked_sub(offset),
        _ => rest_of_text(element, offset.checked_rem(size(element)?)?),
    }
}

/// The register with the address of the structure passed in memory that has a byte.
fn copied_at(frame: &NativeFrame, address: u64) -> Option<Register> {
    let is_inside = |(register, length): &&(Register, u64)| {
        frame.given(*register).is_some_and(|begin| begin <= address && address - begin < *length)
    };
    frame.shape.copied.iter().find(is_inside).map(|(register, _)| *register)
}

fn held(frame: &NativeFrame, slot: &FunctionSlot) -> Option<u64> {
    frame.given(slot.plain?)
}

fn place<'p>(
    frame: &'p NativeFrame,
    slot: &FunctionSlot,
    variable: &DebugVariable,
    debug: Debug<'p>,
) -> Option<VariablePlace<'p>> {
    let held = slot.plain.map(|register| (frame.given(register), frame.writer(register)));
    Some(VariablePlace {
        name: Arc::clone(&variable.name),
        address: frame.value(slot.register)?,
        size: slot.size,
        ty: variable.ty,
        debug,
        held,
        part: None,
        line: variable.line,
    })
}

fn everywhere(global: &Global) -> VariablePlace<'_> {
    VariablePlace {
        name: Arc::clone(&global.name),
        address: global.address,
        size: global.size,
        ty: global.ty,
        debug: Debug::new(&global.map.module, &global.map.text),
        held: None,
        part: None,
        line: 0,
    }
}

fn far<'p>(address: u64, variable: &DebugVariable, debug: Debug<'p>) -> VariablePlace<'p> {
    let size = variable.ty.and_then(|ty| value::size_of(debug, ty, 0)).unwrap_or(0);
    let (name, ty, line) = (Arc::clone(&variable.name), variable.ty, variable.line);
    VariablePlace { name, address, size, ty, debug, held: None, part: None, line }
}

impl NativeFrame {
    /// What a value of the text is in this frame.
    pub fn register_of(&self, id: crate::instrument::instruction::ValueId) -> Option<u64> {
        let shape: &FunctionShape = &self.shape;
        let index = shape.body.function.parameters.iter().position(|parameter| parameter.value == id)?;
        self.value((*shape.parameters.get(index)?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::stored::{player, step};
    use crate::native::visit::before_step;

    #[test]
    fn a_text_ends_with_the_innermost_array_of_characters() {
        let array = |n: u64, element: Type| Type::Array(n, Arc::new(element));
        let row = array(20, Type::Int(8));
        assert_eq!(rest_of_text(&row, 5), Some(15));
        assert_eq!(rest_of_text(&array(3, row.clone()), 27), Some(13));
        assert_eq!(rest_of_text(&array(2, array(3, row)), 119), Some(1));
        for other in [Type::Int(8), array(4, Type::Int(32)), array(0, Type::Ptr), array(2, array(0, Type::Int(8)))] {
            assert_eq!(rest_of_text(&other, 0), None, "{other:?}");
        }
    }

    /// Looks at a stored run before the `nth` step of a line.
    fn look<T>(program: &str, line: u32, nth: usize, look: impl FnOnce(View<'_>, &NativeFrame) -> T) -> T {
        let mut player = player(program, "bad");
        let at = step(&mut player, line, nth);
        let mut found = None;
        before_step(&mut player, at, |machine| {
            found = Some(look(View::new(machine), machine.frame().unwrap()));
        })
        .unwrap();
        found.unwrap()
    }

    fn shown(view: View<'_>, frame: &NativeFrame, name: &str) -> Option<String> {
        view.variable(frame, name).map(|place| view.show(&place))
    }

    #[test]
    fn variables_are_those_of_the_scope_and_then_the_globals() {
        look("list", 17, 2, |view, frame| {
            let names: Vec<_> = view.variables(frame).into_iter().map(|place| place.name.to_string()).collect();
            assert_eq!(names, ["node", "sum"]);
            assert_eq!(shown(view, frame, "sum"), Some("9".to_owned()));
            assert_eq!(shown(view, frame, "weights"), Some("{2, 4, 5}".to_owned()));
            assert_eq!(shown(view, frame, "list"), None);
            let weights = view.variable(frame, "weights").unwrap();
            assert_eq!(
                (view.number(&weights, 4), view.number(&weights, 9), view.number(&weights, 0)),
                (Some(2), None, None)
            );
        });
    }

    #[test]
    fn an_inner_variable_is_seen_only_in_its_block() {
        let names = |line, nth| {
            look("list", line, nth, |view, frame| {
                view.variables(frame).into_iter().map(|place| place.name.to_string()).collect::<Vec<_>>()
            })
        };
        assert_eq!(names(27, 0), ["node", "i", "list"]);
        assert_eq!(names(30, 0), ["list"]);
    }

    #[test]
    fn an_address_is_called_by_the_variable_block_or_argument_that_holds_it() {
        look("list", 17, 0, |view, frame| {
            let node = view.variable(frame, "node").unwrap();
            let block = view.number(&node, 8).unwrap();
            let name = view.name(block, 8).unwrap();
            assert!(name.starts_with("block of step "), "{name}");
            assert_eq!(view.name(block + 8, 4).unwrap(), format!("{name}+8"));
            assert_eq!(view.name(node.address, node.size), Some("node".to_owned()));
            let weights = view.variable(frame, "weights").unwrap();
            assert_eq!(view.name(weights.address + 8, 4), Some("weights[2]".to_owned()));
            let outer = &view.machine.frames[0];
            let list = view.locals(outer).find(|place| &*place.name == "list").unwrap();
            assert_eq!(view.name(list.address, list.size), Some("list of main".to_owned()));
            let named = view.named(block + 8, 4, Some(&7_u32.to_le_bytes()));
            assert_eq!((named.name, named.value), (format!("{name}+8"), Some("7".to_owned())));
            let nowhere = view.named(8, 4, None);
            assert_eq!((&*nowhere.name, nowhere.value), ("*0x8", None));
        });
    }

    #[test]
    fn a_part_of_a_text_is_written_as_characters() {
        look("text", 25, 0, |view, frame| {
            let text = view.variable(frame, "text").unwrap();
            assert_eq!(view.show(&text), "\"ho there\"");
            let named = view.named(text.address + 1, 1, None);
            assert_eq!((&*named.name, named.value.as_deref()), ("text[1]", Some("111 'o'")));
            let from = view.variable(frame, "from").unwrap();
            let (debug, ty) = (from.debug, from.ty.unwrap());
            let Some((_, SourceType::Pointer(to))) = debug.plain_ty(ty) else { panic!("a pointer") };
            let to = to.and_then(|to| debug.plain_ty(to));
            assert_eq!(view.text(view.number(&from, 8).unwrap(), to.as_ref()).as_deref(), Some("\"ho there\""));
            assert_eq!(view.text(text.address, None), None);
        });
    }

    #[test]
    fn parameters_come_with_their_values() {
        let arguments = look("returns", 12, 1, |view, frame| view.arguments(frame));
        assert_eq!(arguments, [("height".into(), "5000".to_owned())]);
    }

    #[test]
    fn bytes_without_a_type_are_a_number_a_text_or_digits() {
        look("list", 17, 0, |view, _| {
            assert_eq!(view.raw(&[255; 4]), "-1");
            assert_eq!(view.raw(&[255; 8]), "-1");
            assert_eq!(view.raw(&[1, 1]), "257");
            assert_eq!(view.raw(b"A"), "65 'A'");
            assert_eq!(view.raw(b"hello\0....."), "\"hello\"");
            assert_eq!(view.raw(&[0; 12]), "12 bytes of 0");
            assert_eq!(view.raw(&[1, 2, 0, 0, 0, 0, 0, 0, 255]), "[01 02 00 00 00 00 00 00 ff]");
        });
    }
}
