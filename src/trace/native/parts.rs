//! The parts of a variable: members of structures, elements of arrays, what a pointer points to.

use std::sync::Arc;

use crate::instrument::{Compound, MetadataId, SourceType, StructMember};
use crate::native::{VariablePart, VariablePlace, View, value};

/// Unnamed structures in structures are followed so deep.
const MAX_UNNAMED: u32 = 10;

/// How a variable is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableDivision {
    /// Not at all: a number, a function, a structure that is only declared.
    Whole,
    /// Into the members of a structure or a union.
    Members,
    /// Into so many elements.
    Elements(u64),
    /// It is a pointer to something that has members.
    ToMembers,
    /// It is a pointer to something else.
    ToWhole,
}

impl<'v> View<'v> {
    /// How a variable is divided; a pointer that is null, or to nothing known, is whole.
    pub fn division(self, place: &VariablePlace<'v>) -> VariableDivision {
        match &place.part {
            Some(VariablePart::Row(_, counts)) => {
                return counts.first().copied().flatten().map_or(VariableDivision::Whole, VariableDivision::Elements);
            }
            Some(VariablePart::BitFields(_) | VariablePart::Characters) => return VariableDivision::Whole,
            Some(VariablePart::Whole(_)) | None => {}
        }
        match place.ty.and_then(|ty| place.debug.plain_ty(ty)).map(|(_, ty)| ty) {
            Some(SourceType::Struct(compound) | SourceType::Union(compound)) if !compound.members.is_empty() => {
                VariableDivision::Members
            }
            Some(SourceType::Array(Some(_), counts)) => match counts.first() {
                Some(Some(n)) => VariableDivision::Elements(*n),
                // An array without a size at the end of a structure.
                Some(None) => match self.element(place, 0).map_or(0, |first| self.n_to_end(&first)) {
                    0 => VariableDivision::Whole,
                    n => VariableDivision::Elements(n),
                },
                None => VariableDivision::Whole,
            },
            Some(SourceType::Pointer(Some(_))) => match self.element(place, 0) {
                Some(target) => match self.division(&target) {
                    VariableDivision::Members => VariableDivision::ToMembers,
                    // The value of a pointer to characters is a text already.
                    _ if target.size > 1 && self.n_to_end(&target) > 1 => {
                        VariableDivision::Elements(self.n_to_end(&target))
                    }
                    _ if self.machine.memory.bytes(target.address, 1).is_some() => VariableDivision::ToWhole,
                    _ => VariableDivision::Whole,
                },
                None => VariableDivision::Whole,
            },
            _ => VariableDivision::Whole,
        }
    }

    /// The structures that a pointer to one points to: the elements of an array if its block of the heap has room for
    /// several.
    pub fn n_targets(self, place: &VariablePlace<'v>) -> u64 {
        let Some(target) = self.element(place, 0) else { return 0 };
        let last = compound(&target).and_then(|compound| compound.members.last()?.ty);
        match last.and_then(|ty| place.debug.plain_ty(ty)) {
            // The room is that of its last member.
            Some((_, SourceType::Array(_, counts))) if counts.first() == Some(&None) => 1,
            _ => self.n_to_end(&target).max(1),
        }
    }

    /// The number of places like this one from here to the end of the block of the heap; 0 if it is elsewhere.
    fn n_to_end(self, place: &VariablePlace<'v>) -> u64 {
        let block = self.machine.heap.find(place.address).filter(|block| block.freed.is_none());
        let rest = block.map_or(0, |block| block.size.saturating_sub(place.address - block.address));
        rest.checked_div(place.size).unwrap_or(0)
    }

    /// An element of an array, or what is so many elements behind a pointer; `None` if there is no such thing, or the
    /// pointer is null or not known.
    pub fn element(self, place: &VariablePlace<'v>, index: i64) -> Option<VariablePlace<'v>> {
        let (element, begin, rest) = match &place.part {
            Some(VariablePart::Row(element, counts)) => (*element, place.address, counts.get(1..)?.to_vec()),
            Some(_) => return None,
            None => match place.debug.plain_ty(place.ty?)?.1 {
                SourceType::Pointer(to) => (to?, self.number(place, 8).filter(|pointer| *pointer != 0)?, Vec::new()),
                SourceType::Array(element, counts) => (element?, place.address, counts.get(1..)?.to_vec()),
                _ => return None,
            },
        };
        let size = value::size_of(place.debug, element, 0)?;
        let size = rest.iter().try_fold(size, |size, count| size.checked_mul((*count)?))?;
        let offset = index.checked_mul(i64::try_from(size).ok()?)?;
        let mut found = part(place, begin.checked_add_signed(offset)?, size, element);
        if !rest.is_empty() {
            found.part = Some(VariablePart::Row(element, rest));
        }
        Some(found)
    }

    /// A member of a structure or a union, also of an unnamed one inside.
    pub fn member(self, place: &VariablePlace<'v>, name: &str) -> Option<VariablePlace<'v>> {
        let compound = compound(place)?;
        let (begin, member) = find(place, &compound, name, 0)?;
        member_at(place, begin, member)
    }

    /// The members of a structure or a union in order, with those of unnamed ones inside.
    pub fn members(self, place: &VariablePlace<'v>) -> Vec<(Arc<str>, VariablePlace<'v>)> {
        let mut found = Vec::new();
        if let Some(compound) = compound(place) {
            collect(place, &compound, 0, 0, &mut found);
        }
        found
    }
}

fn compound(place: &VariablePlace<'_>) -> Option<Arc<Compound>> {
    if place.part.is_some() {
        return None;
    }
    match place.debug.plain_ty(place.ty?)?.1 {
        SourceType::Struct(compound) | SourceType::Union(compound) => Some(compound),
        _ => None,
    }
}

fn member_at<'p>(place: &VariablePlace<'p>, begin: u64, member: StructMember) -> Option<VariablePlace<'p>> {
    let ty = member.ty?;
    let (first, end) = (begin / 8, (begin + member.bits).div_ceil(8));
    let mut found = part(place, place.address.checked_add(first)?, end - first, ty);
    if member.is_bit_field {
        found.part = Some(VariablePart::BitFields(vec![(i64::try_from(begin % 8).ok()?, member)]));
    }
    Some(found)
}

/// A member of this name, and the bits before it; also of an unnamed structure inside.
fn find(place: &VariablePlace<'_>, compound: &Compound, name: &str, depth: u32) -> Option<(u64, StructMember)> {
    if let Some(member) = compound.members.iter().find(|member| &*member.name == name) {
        return Some((member.offset_bits, member.clone()));
    }
    compound.members.iter().filter(|member| member.name.is_empty() && depth < MAX_UNNAMED).find_map(
        |member| match place.debug.plain_ty(member.ty?)?.1 {
            SourceType::Struct(inner) | SourceType::Union(inner) => {
                let (begin, found) = find(place, &inner, name, depth + 1)?;
                Some((member.offset_bits + begin, found))
            }
            _ => None,
        },
    )
}

fn collect<'p>(
    place: &VariablePlace<'p>,
    compound: &Compound,
    begin: u64,
    depth: u32,
    found: &mut Vec<(Arc<str>, VariablePlace<'p>)>,
) {
    for member in &compound.members {
        let begin = begin + member.offset_bits;
        if !member.name.is_empty() {
            found.extend(member_at(place, begin, member.clone()).map(|part| (Arc::clone(&member.name), part)));
        } else if depth < MAX_UNNAMED
            && let Some((_, SourceType::Struct(inner) | SourceType::Union(inner))) =
                member.ty.and_then(|ty| place.debug.plain_ty(ty))
        {
            collect(place, &inner, begin, depth + 1, found);
        }
    }
}

fn part<'p>(place: &VariablePlace<'p>, address: u64, size: u64, ty: MetadataId) -> VariablePlace<'p> {
    VariablePlace { address, size, ty: Some(ty), held: None, part: None, ..place.clone() }
}
