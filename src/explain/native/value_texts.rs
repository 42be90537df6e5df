//! How a value is told of two runs: by what pointers lead to, because addresses differ from run to run and say nothing.
//!
//! Text stands between quotes, a place in a variable is `&tree[3]`, a block of the heap is what it holds: `-> struct node {key = 3, next = ...}`. Only where nothing is known
//! of what lies there it is a number.
//!
//! A value is told as of the step that wrote it, although both runs are at a later point. So what was written since behind a
//! pointer is not shown.

use crate::native::align::objects::RunSide;
use crate::native::naming;
use idd_trace::Step;
use idd_trace::instrument::{Compound, Debug, MetadataId, SourceType};
use idd_trace::native::heap::HeapBlock;
use idd_trace::native::{ValueContent, VariablePart, value};

/// Members of a structure are told up to so many bytes of text.
const MAX_MEMBERS: usize = 80;

/// The smallest number that may be an address.
const LOWEST: u64 = 1 << 12;

/// What is shown: bytes in memory, or those given.
struct ShownBytes<'v> {
    side: RunSide<'v>,
    debug: Debug<'v>,
    address: u64,
    given: Option<Vec<u8>>,
    /// The step as of which it is shown; `None` for the present one.
    step: Option<Step>,
    /// Whether it lies behind a pointer that is shown: what its own pointers lead to is left out.
    is_behind: bool,
}

impl ValueContent for ShownBytes<'_> {
    fn bytes(&self, offset: u64, length: usize) -> Option<Vec<u8>> {
        match &self.given {
            Some(bytes) => {
                let offset = usize::try_from(offset).ok()?;
                bytes.get(offset..offset.checked_add(length)?).map(<[u8]>::to_vec)
            }
            None => self.side.machine.memory.bytes(self.address.checked_add(offset)?, length),
        }
    }

    fn pointer(&self, pointer: u64, to: Option<(MetadataId, SourceType)>) -> String {
        if let Some(text) = self.side.view().text(pointer, to.as_ref())
            && self.is_older(pointer, text.len() as u64)
        {
            return text;
        }
        if let Some(function) = self.side.machine.globals.functions().get(&pointer) {
            return function.to_string();
        }
        let size = to.as_ref().and_then(|(ty, _)| value::size_of(self.debug, *ty, 0)).unwrap_or(0);
        if let Some(block) = self.side.machine.heap.find(pointer) {
            let freed = if block.freed.is_some() { "freed " } else { "" };
            return if self.is_behind {
                "...".to_owned()
            } else if self.step.is_some_and(|step| block.made > step) {
                "-> a block that was freed since".to_owned()
            } else {
                format!("-> {freed}{}", self.behind(pointer, block, to))
            };
        }
        match naming::variable(self.side.view(), pointer, size, None)
            .or_else(|| naming::variable(self.side.view(), pointer, 0, None))
        {
            Some(name) => format!("&{name}"),
            None => match self.side.view().name(pointer, 0) {
                Some(what) => format!("-> {what}"),
                None => format!("{pointer:#x}"),
            },
        }
    }
}

impl ShownBytes<'_> {
    /// Whether nothing was written to these bytes since the step as of which they are shown.
    fn is_older(&self, address: u64, length: u64) -> bool {
        let Some(step) = self.step else { return true };
        let mut is_older = true;
        self.side.machine.memory.writers(address, length, |writer| is_older &= writer <= step);
        is_older
    }

    /// What a block of the heap holds where a pointer to it leads.
    fn behind(&self, pointer: u64, block: HeapBlock, to: Option<(MetadataId, SourceType)>) -> String {
        let all = || format!("a block of {} bytes", block.size);
        let Some((ty, plain)) = to else { return all() };
        let behind = ShownBytes { address: pointer, given: None, is_behind: true, ..*self };
        match plain {
            SourceType::Struct(compound) if !compound.is_incomplete => behind.members("struct", &compound),
            SourceType::Union(compound) if !compound.is_incomplete => behind.members("union", &compound),
            SourceType::Function => all(),
            _ if value::size_of(self.debug, ty, 0).is_none() => all(),
            _ => value::show(self.debug, ty, &behind),
        }
    }

    fn members(&self, kind: &str, compound: &Compound) -> String {
        let mut text = match &compound.name {
            Some(name) => format!("{kind} {name} {{"),
            None => "{".to_owned(),
        };
        let begin = text.len();
        for (index, member) in compound.members.iter().enumerate() {
            if index > 0 {
                text.push_str(", ");
            }
            if text.len() - begin > MAX_MEMBERS {
                text.push_str("...");
                break;
            }
            if !member.name.is_empty() {
                text.push_str(&member.name);
                text.push_str(" = ");
            }
            let at = ShownBytes { address: self.address + member.offset_bits / 8, given: None, ..*self };
            if !self.is_older(at.address, member.bits.div_ceil(8)) {
                text.push_str("...");
                continue;
            }
            text.push_str(&match member.ty {
                Some(_) if member.is_bit_field => {
                    let field = (i64::try_from(member.offset_bits % 8).unwrap_or(0), member.clone());
                    value::show_part(self.debug, &VariablePart::BitFields(vec![field]), &at, member.bits.div_ceil(8))
                }
                Some(ty) => value::show(self.debug, ty, &at),
                None => "?".to_owned(),
            });
        }
        text.push('}');
        text
    }
}

/// A value of a type, wherever it is, as of the step that wrote it.
pub fn typed(side: RunSide<'_>, address: u64, debug: Debug<'_>, ty: MetadataId, writer: Step) -> String {
    let length = value::size_of(debug, ty, 0).filter(|length| *length <= 8);
    let given = length.and_then(|length| side.machine.cell(address, length)).map(|held| held.bytes);
    value::show(debug, ty, &ShownBytes { side, debug, address, given, step: Some(writer), is_behind: false })
}

/// A number of a type, as a call returns it.
pub fn given(side: RunSide<'_>, number: u64, debug: Debug<'_>, ty: MetadataId) -> String {
    let given = Some(number.to_le_bytes().to_vec());
    value::show(debug, ty, &ShownBytes { side, debug, address: 0, given, step: None, is_behind: false })
}

/// A value of which only the size is known.
pub fn raw(side: RunSide<'_>, bytes: &[u8]) -> String {
    let Some(pointer) = bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes)).filter(|_| bytes.len() == 8) else {
        return side.view().raw(bytes);
    };
    if pointer < LOWEST {
        return side.view().raw(bytes);
    }
    if let Some(block) = side.machine.heap.find(pointer) {
        let freed = if block.freed.is_some() { "freed" } else { "a" };
        return format!("-> {freed} block of {} bytes", block.size);
    }
    match naming::variable(side.view(), pointer, 0, None) {
        Some(name) => format!("&{name}"),
        None => side.view().raw(bytes),
    }
}
