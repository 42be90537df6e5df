//! The rows of a sparse graph of steps in compressed form: one or two bytes for each edge.
//!
//! Rows are stored one after the other. A row begins with its length in bytes. Each edge is a difference: its step minus
//! the step of the edge before (for the first edge, minus the number of the row). The [`Kind`] is in the two lowest bits.
//! All numbers are LEB128, the variable-length form of DWARF. An index has the place of every 32nd row.

use crate::trace::dependence::Kind;
use crate::trace::step::Step;

/// The distance of two rows whose places are in the index.
const STRIDE: usize = 32;

/// For each step its edges in one direction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows {
    bytes: Vec<u8>,
    places: Vec<usize>,
    length: usize,
}

impl Rows {
    /// Adds the next row, given as the [`code`]s of its edges.
    pub fn append(&mut self, row: &[u8]) {
        if self.length.is_multiple_of(STRIDE) {
            self.places.push(self.bytes.len());
        }
        self.length += 1;
        push(&mut self.bytes, row.len() as u64);
        self.bytes.extend_from_slice(row);
    }

    /// The transposed graph. The edges of each row are in the order of the rows they come from.
    ///
    /// Cost: linear; 16 bytes a row while it runs.
    #[must_use]
    pub fn turned(&self) -> Self {
        let mut lengths = vec![0_u32; self.length];
        let mut lasts: Vec<u32> = (0..).take(self.length).collect();
        for (from, to, kind) in self.edges() {
            let index = to.0 as usize;
            lengths[index] += size(code(lasts[index], from, kind));
            lasts[index] = from.0;
        }
        let (mut at, mut places) = (0, Vec::with_capacity(self.length / STRIDE + 1));
        let mut cursors = Vec::with_capacity(self.length);
        for (index, length) in lengths.iter().enumerate() {
            if index % STRIDE == 0 {
                places.push(at);
            }
            at += size(u64::from(*length)) as usize;
            cursors.push(at);
            at += *length as usize;
        }
        let mut bytes = vec![0; at];
        for (((row, last), length), begin) in (0..).zip(&mut lasts).zip(lengths).zip(&cursors) {
            let mut header = begin - size(u64::from(length)) as usize;
            put(&mut bytes, &mut header, u64::from(length));
            *last = row;
        }
        for (from, to, kind) in self.edges() {
            let index = to.0 as usize;
            put(&mut bytes, &mut cursors[index], code(lasts[index], from, kind));
            lasts[index] = from.0;
        }
        Self { bytes, places, length: self.length }
    }

    /// All rows in order.
    pub fn all(&self) -> impl Iterator<Item = Row<'_>> {
        let mut rest = &self.bytes[..];
        (0..).take(self.length).map(move |last| {
            let length = usize::try_from(take(&mut rest)).unwrap_or(usize::MAX);
            let (bytes, others) = rest.split_at_checked(length).unwrap_or_default();
            rest = others;
            Row { bytes, last }
        })
    }

    /// All edges, by rows.
    pub fn edges(&self) -> impl Iterator<Item = (Step, Step, Kind)> {
        let numbered = (0..).map(Step).zip(self.all());
        numbered.flat_map(|(from, row)| row.map(move |(to, kind)| (from, to, kind)))
    }

    /// The steps at the other ends of the edges of a step, and the kinds of the edges; empty if the graph does not have
    /// the step.
    pub fn row(&self, step: Step) -> Row<'_> {
        let index = step.0 as usize;
        let Some(place) = self.places.get(index / STRIDE) else { return Row { bytes: &[], last: step.0 } };
        let mut rest = &self.bytes[*place..];
        for _ in 0..index % STRIDE {
            let length = usize::try_from(take(&mut rest)).unwrap_or(usize::MAX);
            rest = rest.get(length..).unwrap_or_default();
        }
        let length = usize::try_from(take(&mut rest)).unwrap_or(usize::MAX);
        Row { bytes: rest.get(..length).unwrap_or_default(), last: step.0 }
    }

    /// Bytes of memory.
    pub fn n_bytes(&self) -> usize {
        self.bytes.len() + self.places.len() * size_of::<usize>()
    }
}

/// The edges of one step.
#[derive(Debug, Clone)]
pub struct Row<'r> {
    bytes: &'r [u8],
    last: u32,
}

impl<'r> Row<'r> {
    /// The [`code`]s of its edges.
    pub fn codes(&self) -> &'r [u8] {
        self.bytes
    }
}

impl Iterator for Row<'_> {
    type Item = (Step, Kind);

    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() {
            return None;
        }
        let code = take(&mut self.bytes);
        self.last = there(self.last, code >> 2);
        Some((Step(self.last), Kind::of(code)))
    }
}

/// The number that is stored for an edge. `last` is the step of the edge before, or the row itself.
#[inline]
pub fn code(last: u32, other: Step, kind: Kind) -> u64 {
    way(last, other.0) << 2 | kind as u64
}

/// The difference of two steps in zigzag form, so that a short distance is a small number.
#[inline]
fn way(from: u32, to: u32) -> u64 {
    let distance = i64::from(to) - i64::from(from);
    (distance << 1 ^ distance >> 63).cast_unsigned()
}

/// The step at such a difference from `from`.
#[inline]
fn there(from: u32, way: u64) -> u32 {
    let distance = (way >> 1).cast_signed() ^ -(way & 1).cast_signed();
    u32::try_from(i64::from(from).wrapping_add(distance)).unwrap_or(0)
}

/// The length of a number in bytes.
#[inline]
fn size(number: u64) -> u32 {
    (64 - (number | 1).leading_zeros()).div_ceil(7)
}

#[inline]
fn put(bytes: &mut [u8], at: &mut usize, mut number: u64) {
    while number >= 0x80 {
        bytes[*at] = (number & 0x7f | 0x80).to_le_bytes()[0];
        number >>= 7;
        *at += 1;
    }
    bytes[*at] = number.to_le_bytes()[0];
    *at += 1;
}

/// Appends a number.
#[inline]
pub fn push(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number & 0x7f | 0x80).to_le_bytes()[0]);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

/// Takes the first number; 0 if there is none.
#[inline]
fn take(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let Some((first, rest)) = bytes.split_first() else { break };
        *bytes = rest;
        number |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_and_ways_come_back_as_they_were(number: u64, from: u32, to: u32) {
            let mut bytes = Vec::new();
            push(&mut bytes, number);
            prop_assert_eq!(bytes.len(), size(number) as usize);
            let mut placed = vec![0; bytes.len()];
            put(&mut placed, &mut 0, number);
            prop_assert_eq!(&placed, &bytes);
            prop_assert_eq!(take(&mut &bytes[..]), number);
            prop_assert_eq!(there(from, way(from, to)), to);
        }
    }

    #[test]
    fn a_short_way_takes_a_byte() {
        for other in [5, 0, 10, 20] {
            assert_eq!(size(code(10, Step(other), Kind::Control)), 1, "{other}");
        }
        assert_eq!(size(code(10, Step(1000), Kind::Data)), 2);
        assert_eq!(size(code(u32::MAX, Step::START, Kind::Data)), 5);
    }
}
