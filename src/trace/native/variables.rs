//! The variables that the instructions of a function read and write, as far as the text of the program tells.
//!
//! Memory behind a pointer is told apart by the fields of structures, else by the type of the value. A copy of a whole structure through pointers
//! writes all structures of its size.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::instrument::lex::TextCursor;
use crate::instrument::segment::is_memory_intrinsic;
use crate::instrument::types::Type;
use crate::instrument::{Callee, DataLayout, Instruction, Op, OperandValue, ValueId};
use crate::native::FunctionShape;
use crate::native::model::{self, Effect};
use crate::native::run::OUTPUTS;
use crate::potential;

/// Something that a statement may write.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NativeWritable {
    /// A local variable of the function.
    Local(ValueId),
    /// A global variable.
    Global(Arc<str>),
    /// A field of a structure, in any object: the type, and the number of the field.
    Field(Arc<str>, i128),
    /// A whole structure, in any object.
    Structure(Arc<str>),
    /// Other memory, by the type of the value.
    Memory(String),
    Output,
}

impl NativeWritable {
    /// What functions of the library read and write through a pointer, besides the variables that are known there: mostly text.
    fn bytes() -> Self {
        Self::Memory(format!("{:?}", Type::Int(8)))
    }
}

impl potential::WritableVariable for NativeWritable {
    const OUTPUT: Self = Self::Output;

    fn is_local(&self) -> bool {
        matches!(self, Self::Local(_))
    }
}

/// By function: the variables that it may write and its callers may read, its callees included.
pub type WrittenBy = HashMap<Arc<str>, BTreeSet<NativeWritable>>;

/// Finds the variables of a function.
pub struct VariableFinder<'f> {
    /// The instruction that computes each value.
    definitions: HashMap<ValueId, &'f Instruction>,
    layout: DataLayout<'f>,
}

impl<'f> VariableFinder<'f> {
    /// For the instructions of a function.
    pub fn new(shape: &'f FunctionShape) -> Self {
        let all = shape.body.function.blocks.iter().flat_map(|block| &block.instructions);
        let definitions = all.filter_map(|instruction| Some((instruction.result?, instruction))).collect();
        Self { definitions, layout: shape.map.module.layout() }
    }

    /// The variables that have the memory at an address: the smallest part first, the whole variable last. Empty if nothing is known of it.
    fn around(&self, address: &OperandValue) -> Vec<NativeWritable> {
        let (mut found, mut address) = (Vec::new(), address.clone());
        for _ in 0..MAX_DEPTH {
            match &address {
                OperandValue::Global(name) => {
                    found.push(NativeWritable::Global(Arc::clone(name)));
                    break;
                }
                OperandValue::Local(id) => match self.definitions.get(id) {
                    Some(Instruction { op: Op::Alloca(_), .. }) => {
                        found.push(NativeWritable::Local(*id));
                        break;
                    }
                    Some(Instruction { op: Op::Element(of), operands, .. }) => {
                        let Some((base, indices)) = operands.split_first() else { break };
                        let indices = indices.iter().map(|index| match index.value {
                            OperandValue::Int(index) => Some(index),
                            _ => None,
                        });
                        self.fields(of, indices, &mut found);
                        address = base.value.clone();
                    }
                    Some(Instruction { op: Op::Cast(_) | Op::Freeze, operands, .. }) => match operands.first() {
                        Some(base) => address = base.value.clone(),
                        None => break,
                    },
                    _ => break,
                },
                OperandValue::Constant(text) => match self.constant(text, &mut found) {
                    Some(base) => address = base,
                    None => break,
                },
                OperandValue::Int(_) => break,
            }
        }
        found
    }

    /// The base of an address that is a constant expression.
    fn constant(&self, text: &str, found: &mut Vec<NativeWritable>) -> Option<OperandValue> {
        let mut cursor = TextCursor::new(text);
        if cursor.word().ok()? != "getelementptr" {
            return None;
        }
        // Not `skip_attribute`, which would take the bracket for that of an attribute.
        while cursor.peek() != b'(' {
            cursor.word().ok()?;
        }
        cursor.expect("(").ok()?;
        let of = cursor.ty().ok()?;
        cursor.expect(",").ok()?;
        cursor.ty().ok()?;
        let base = cursor.value().ok()?;
        let mut indices = Vec::new();
        while cursor.eat(",") {
            while !cursor.is_at_type() {
                cursor.skip_attribute().ok()?;
            }
            cursor.ty().ok()?;
            indices.push(cursor.number().ok());
        }
        self.fields(&of, indices.into_iter(), found);
        Some(match base.strip_prefix('@') {
            Some(name) => OperandValue::Global(name.trim_matches('"').into()),
            None => OperandValue::Constant(base.into()),
        })
    }

    /// The fields on the way to a part of an object: the last one first. The first index only moves the base.
    fn fields(&self, of: &Type, indices: impl Iterator<Item = Option<i128>>, found: &mut Vec<NativeWritable>) {
        let (mut ty, mut fields) = (of.clone(), Vec::new());
        for index in indices.skip(1) {
            let name = if let Type::Named(name) = &ty { Some(Arc::clone(name)) } else { None };
            let Ok(resolved) = self.layout.resolve(&ty) else { break };
            ty = match (resolved, index) {
                (Type::Array(_, element) | Type::Vector(_, element), _) => (**element).clone(),
                (Type::Struct { fields: types, .. }, Some(index)) => {
                    let Some(field) = usize::try_from(index).ok().and_then(|index| types.get(index)) else { break };
                    let field = field.clone();
                    if let Some(name) = name {
                        fields.push(NativeWritable::Structure(Arc::clone(&name)));
                        fields.push(NativeWritable::Field(name, index));
                    }
                    field
                }
                _ => break,
            };
        }
        found.extend(fields.into_iter().rev());
    }

    /// The variable that a value of a type at an address belongs to.
    fn smallest(&self, address: &OperandValue, ty: &Type) -> NativeWritable {
        self.around(address).into_iter().next().unwrap_or_else(|| NativeWritable::Memory(format!("{ty:?}")))
    }

    /// The structures of a length in bytes, with their fields.
    fn structures(&self, length: i128) -> impl Iterator<Item = (Arc<str>, usize)> {
        self.layout.named.iter().filter_map(move |(name, ty)| {
            let Type::Struct { fields, .. } = ty.as_ref()? else { return None };
            let size = self.layout.size_and_align(&Type::Named(Arc::clone(name))).ok()?.0;
            (i128::from(size) == length).then(|| (Arc::clone(name), fields.len()))
        })
    }

    /// The variables that an instruction reads from memory.
    pub fn read(&self, instruction: &Instruction, into: &mut BTreeSet<NativeWritable>) {
        match (&instruction.op, &instruction.operands[..]) {
            (Op::Load, [address, ..]) => {
                let around = self.around(&address.value);
                if around.is_empty() {
                    into.insert(NativeWritable::Memory(format!("{:?}", instruction.ty)));
                }
                into.extend(around);
            }
            (Op::Call(_, _, _, copied, _), operands) => {
                let length = |index: usize| operands.get(index).map(|operand| &operand.value);
                match (instruction.called(), length(1), length(2)) {
                    (Some(name), Some(from), Some(OperandValue::Int(length)))
                        if is_memory_intrinsic(name) && !name.starts_with("llvm.memset") =>
                    {
                        self.read_whole(from, *length, into);
                    }
                    _ => {
                        for (index, ty) in copied {
                            let size = self.layout.size_and_align(ty).map_or(0, |(size, _)| size);
                            self.read_whole(&operands[*index].value, size.into(), into);
                        }
                        self.read_by_library(instruction, into);
                    }
                }
            }
            _ => {}
        }
    }

    /// A function of the library reads what it is given pointers to, but not where it writes.
    fn read_by_library(&self, instruction: &Instruction, into: &mut BTreeSet<NativeWritable>) {
        let Some(model) = instruction.called().and_then(model::find) else { return };
        for (index, operand) in instruction.operands.iter().enumerate() {
            let is_written = model.effects.iter().any(|effect| writes_at(effect, index));
            if operand.ty == Type::Ptr && !is_written && matches!(operand.value, OperandValue::Local(_)) {
                into.extend(self.around(&operand.value));
                into.insert(NativeWritable::bytes());
            }
        }
    }

    fn read_whole(&self, address: &OperandValue, length: i128, into: &mut BTreeSet<NativeWritable>) {
        into.extend(self.around(address));
        for (name, n_fields) in self.structures(length) {
            into.extend((0..).take(n_fields).map(|field| NativeWritable::Field(Arc::clone(&name), field)));
            into.insert(NativeWritable::Structure(name));
        }
    }

    /// The variables that an instruction may write.
    pub fn written(&self, instruction: &Instruction, written_by: &WrittenBy, into: &mut BTreeSet<NativeWritable>) {
        match &instruction.op {
            Op::Store => {
                if let [value, address] = &instruction.operands[..] {
                    into.insert(self.smallest(&address.value, &value.ty));
                }
            }
            Op::AtomicUpdate(_) | Op::CompareExchange => {
                if let [address, value, ..] = &instruction.operands[..] {
                    into.insert(self.smallest(&address.value, &value.ty));
                }
            }
            Op::Call(callee, ..) => {
                let Callee::Value(OperandValue::Global(name)) = &**callee else { return };
                if is_memory_intrinsic(name) {
                    self.written_as_a_whole(instruction, into);
                    return;
                }
                if OUTPUTS.contains(&&**name) {
                    into.insert(NativeWritable::Output);
                }
                if let Some(all) = written_by.get(name) {
                    into.extend(all.iter().cloned());
                }
                let model = model::find(name);
                for (index, operand) in instruction.operands.iter().enumerate() {
                    let is_written = match model {
                        Some(model) => model.effects.iter().any(|effect| writes_at(effect, index)),
                        // A function of the program writes through pointers that it is given.
                        None => !name.starts_with("llvm."),
                    };
                    if operand.ty == Type::Ptr && is_written {
                        let of_library = model.map(|_| NativeWritable::bytes());
                        into.extend(self.around(&operand.value).into_iter().next().or(of_library));
                    }
                }
            }
            _ => {}
        }
    }

    /// A range is copied or filled.
    fn written_as_a_whole(&self, instruction: &Instruction, into: &mut BTreeSet<NativeWritable>) {
        let [to, _, length, ..] = &instruction.operands[..] else { return };
        match (self.around(&to.value).into_iter().next(), &length.value) {
            (Some(variable), _) => _ = into.insert(variable),
            (None, OperandValue::Int(length)) => {
                into.extend(self.structures(*length).map(|(name, _)| NativeWritable::Structure(name)));
            }
            _ => {}
        }
    }
}

/// Addresses that are computed in more steps are not followed.
const MAX_DEPTH: usize = 1000;

fn writes_at(effect: &Effect, index: usize) -> bool {
    match effect {
        Effect::Writes(at, _)
        | Effect::Copies(at, ..)
        | Effect::Prints(at, ..)
        | Effect::PrintsList(at, ..)
        | Effect::PrintsAt(at, _)
        | Effect::PrintsListAt(at, _)
        | Effect::Appends(at, ..)
        | Effect::Fills(at, ..)
        | Effect::AllocatesAt(at, _)
        | Effect::OpensBlock(at, _)
        | Effect::OpensBuffer(at, _)
        | Effect::ReadsLine(at, _) => *at == index,
        Effect::Splits(save) => index == 0 || Some(index) == *save,
        Effect::Scans(format) => index > *format,
        _ => false,
    }
}
