//! Elements of large tables that are passed over because nothing of them can be faulty: most of a state is the same in both runs.

use crate::native::align::state::{StateWalk, is_far};
use idd_trace::Step;
use idd_trace::instrument::{Debug, MetadataId, SourceType};
use idd_trace::native::Octet;

/// Bytes that are looked at together.
const OCTET: u64 = 8;

/// How the elements of one row are passed over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Skim {
    /// The bytes of an element: a part of [`OCTET`].
    size: u64,
    is_pointer: bool,
}

impl<'s> StateWalk<'s> {
    /// Whether elements of a row can be passed over, which begins at these addresses and has elements of `size` bytes in both runs: numbers, or pointers, in memory. None where the
    /// row is in a block whose parts have yet to be learned.
    pub(super) fn skim(
        &mut self,
        (at, debug, ty): (u64, Debug<'s>, MetadataId),
        (their_at, other_debug, other_ty): (u64, Debug<'s>, MetadataId),
        size: u64,
    ) -> Option<Skim> {
        let (plain, other) = (self.types.plain(debug, ty)?, self.types.plain(other_debug, other_ty)?);
        let is_pointer = match (&plain.ty, &other.ty) {
            (SourceType::Pointer(_), SourceType::Pointer(_)) => size == OCTET,
            (
                SourceType::Base(_, bits, _) | SourceType::Enum(_, bits, _),
                SourceType::Base(_, other, _) | SourceType::Enum(_, other, _),
            ) if bits == other && *bits == size * 8 => false,
            _ => return None,
        };
        let is_divided =
            size > 0 && OCTET.is_multiple_of(size) && at.is_multiple_of(size) && at % OCTET == their_at % OCTET;
        let is_known = || self.sides.0.live(at).is_none_or(|block| self.layouts.has(&block));
        let is_in_memory = || self.slots.0.is_in_memory(at) && self.slots.1.is_in_memory(their_at);
        (is_divided && is_in_memory() && is_known()).then_some(Skim { size, is_pointer })
    }

    /// How many elements from these addresses on are passed over, of the `n` that are left.
    ///
    /// A number is if it holds the same in both runs from steps that correspond, or if a run does not know it; unless it may be a part of a pointer. A pointer is
    /// if it is null in both, or neither run knows it.
    pub(super) fn skipped(&self, skim: Skim, at: u64, their_at: u64, n: u64) -> u64 {
        let n_elements = OCTET / skim.size;
        if n < n_elements || !at.is_multiple_of(OCTET) {
            return 0;
        }
        let (ours, theirs) = (self.slots.0.octet(at), self.slots.1.octet(their_at));
        let is_skipped = match (ours.known, theirs.known) {
            (u8::MAX, u8::MAX) => {
                let is_number = !skim.is_pointer && (skim.size == OCTET || !is_far(ours.word, false));
                ours.word == theirs.word && (is_number || ours.word == 0) && self.are_same(skim, &ours, &theirs)
            }
            (0, _) | (_, 0) if !skim.is_pointer => true,
            (0, 0) => true,
            _ => false,
        };
        if is_skipped { n_elements } else { 0 }
    }

    /// Whether steps that correspond wrote each of the elements, alone.
    fn are_same(&self, skim: Skim, ours: &Octet<'_>, theirs: &Octet<'_>) -> bool {
        let (Some(ours), Some(theirs)) = (ours.writers, theirs.writers) else { return false };
        let size = usize::try_from(skim.size).unwrap_or(1);
        let writer = |of: &[Step]| of.iter().all(|step| *step == of[0]).then_some(of[0]);
        ours.chunks(size).zip(theirs.chunks(size)).all(|(ours, theirs)| {
            writer(ours).zip(writer(theirs)).is_some_and(|(step, other)| self.alignment.is_same(step, other))
        })
    }
}
