//! Unions, of which the active member is not known.

use std::rc::Rc;

use crate::align::way::AccessPath;
use crate::native::align::state::slots::Slots;
use crate::native::align::state::{PartPair, StateWalk, ValuePair};
use crate::native::unions::Union;
use idd_trace::instrument::{Compound, Debug, SourceType, StructMember};

impl<'s> StateWalk<'s> {
    /// Nothing tells which member of a union is in use. It is taken for the text that fills it if there is such a member
    /// and a word of it was written only in part; else for a row of words.
    pub(super) fn union(
        &mut self,
        ((at, debug, compound), (their_at, other_debug, other)): (
            (u64, Debug<'s>, &Compound),
            (u64, Debug<'s>, &Compound),
        ),
        members: Option<&Rc<Union>>,
        way: &AccessPath,
        depth: u32,
    ) {
        let n_bytes = compound.bits / 8;
        let is_whole = |slots: &Slots<'_>, at: u64| {
            (0..n_bytes).step_by(8).all(|begin| slots.word(at + begin, (n_bytes - begin).min(8)).is_some())
        };
        let is_whole = is_whole(&self.slots.0, at) && is_whole(&self.slots.1, their_at);
        let text = self.text(debug, compound).filter(|_| !is_whole);
        let same = text.zip(text.and_then(|text| other.members.iter().find(|same| same.name == text.name)));
        let types = same.and_then(|(text, same)| Some((text, text.ty?, same.ty?)));
        let Some((text, ty, other_ty)) = types else { return self.words(at, their_at, n_bytes, members, way) };
        self.queue.push_back(PartPair {
            ours: (at, debug, ty),
            theirs: (their_at, other_debug, other_ty),
            way: way.member(&text.name),
            depth: depth + 1,
        });
    }

    /// The member of a union that is a row of single bytes as long as itself.
    fn text<'c>(&mut self, debug: Debug<'s>, compound: &'c Compound) -> Option<&'c StructMember> {
        for member in compound.members.iter().filter(|member| member.bits == compound.bits) {
            let Some(plain) = member.ty.and_then(|ty| self.types.plain(debug, ty)) else { continue };
            if let SourceType::Array(Some(element), _) = plain.ty
                && self.types.size(debug, element) == Some(1)
            {
                return Some(member);
            }
        }
        None
    }

    /// A row of words of which only the size is known.
    fn words(&mut self, at: u64, their_at: u64, n_bytes: u64, union: Option<&Rc<Union>>, way: &AccessPath) {
        for begin in (0..n_bytes).step_by(8) {
            let length = (n_bytes - begin).min(8);
            for (offset, length) in self.known(at + begin, their_at + begin, length) {
                let offset = begin + offset;
                let leaf = ValuePair::new((at + offset, their_at + offset), length, way.element(begin / 8));
                let union = union.filter(|_| offset == 0).cloned();
                self.leaves.push(ValuePair { is_pointer: length == 8, union, ..leaf });
            }
        }
    }

    /// The parts of a word that are known, as offset and length: the whole word, or the halves of it, the quarters or
    /// bytes, if both runs know the same of these. A member that is shorter than its union leaves the rest unknown.
    fn known(&self, at: u64, their_at: u64, length: u64) -> Vec<(u64, u64)> {
        let mut open = vec![(0, length)];
        let mut found = Vec::new();
        while let Some((offset, length)) = open.pop() {
            let is_known = (
                self.slots.0.word(at + offset, length).is_some(),
                self.slots.1.word(their_at + offset, length).is_some(),
            );
            match is_known {
                (true, true) => found.push((offset, length)),
                (false, false) if length > 1 && length.is_power_of_two() => {
                    open.extend([(offset + length / 2, length / 2), (offset, length / 2)]);
                }
                (false, false) => {}
                // What only one run knows is in another member.
                _ => return vec![(0, length)],
            }
        }
        if found.is_empty() { vec![(0, length)] } else { found }
    }
}
