//! Where types have pointers.

use std::collections::HashMap;
use std::rc::Rc;

use crate::native::naming::{MAX_DEPTH, MAX_ELEMENTS};
use idd_trace::instrument::module::Module;
use idd_trace::instrument::{Debug, MetadataId, SourceType, StructMember};
use idd_trace::native::value;

/// The parts of a type that have pointers.
pub(super) enum TypeLayout {
    /// It has none.
    Plain,
    Pointer {
        /// The type of what it leads to.
        to: MetadataId,
        is_reference: bool,
    },
    /// The members with pointers, and how these have them.
    Compound(Vec<(StructMember, Rc<TypeLayout>)>),
    /// Elements with pointers: how one has them, how many are looked through, and the bytes of each.
    Array { element: Rc<TypeLayout>, n: u64, size: u64 },
}

/// The layouts of the types that were met.
#[derive(Default)]
pub(super) struct TypeLayouts(HashMap<(*const Module, MetadataId), Rc<TypeLayout>>);

impl TypeLayouts {
    /// That of a type that is `depth` parts deep in another one; what is too deep is taken for plain.
    pub(super) fn of(&mut self, debug: Debug<'_>, ty: MetadataId, depth: u32) -> Rc<TypeLayout> {
        let key: (*const Module, _) = (debug.module(), ty);
        if let Some(known) = self.0.get(&key) {
            return Rc::clone(known);
        }
        if depth > MAX_DEPTH {
            return Rc::new(TypeLayout::Plain);
        }
        let layout = Rc::new(self.read(debug, ty, depth));
        self.0.insert(key, Rc::clone(&layout));
        layout
    }

    fn read(&mut self, debug: Debug<'_>, ty: MetadataId, depth: u32) -> TypeLayout {
        let mut inner = |ty| Some(self.of(debug, ty, depth + 1)).filter(|inner| !matches!(**inner, TypeLayout::Plain));
        match debug.plain_ty(ty) {
            Some((_, SourceType::Pointer(Some(to)))) => {
                TypeLayout::Pointer { to, is_reference: debug.is_reference(ty) }
            }
            Some((_, SourceType::Struct(compound) | SourceType::Union(compound))) => {
                let members = compound.members.iter().filter(|member| !member.is_bit_field);
                let members: Vec<_> = members.filter_map(|member| Some((member.clone(), inner(member.ty?)?))).collect();
                if members.is_empty() { TypeLayout::Plain } else { TypeLayout::Compound(members) }
            }
            Some((_, SourceType::Array(Some(element), counts))) => {
                let n = counts.iter().try_fold(1_u64, |n, count| n.checked_mul((*count)?)).unwrap_or(0);
                match (value::size_of(debug, element, 0), inner(element)) {
                    (Some(size), Some(element)) => TypeLayout::Array { element, n: n.min(MAX_ELEMENTS), size },
                    _ => TypeLayout::Plain,
                }
            }
            _ => TypeLayout::Plain,
        }
    }
}
