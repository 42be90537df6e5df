//! The rows of a sparse graph of steps in compressed form: one or two bytes for each edge.
//!
//! Rows are stored one after the other. A row begins with its length in bytes. Each edge is a difference: its step minus
//! the step of the edge before (for the first edge, minus the number of the row). The [`DependenceKind`] is in the two lowest bits.
//! All numbers are LEB128, the variable-length form of DWARF. An index has the place of every 32nd row.

use std::io;

use crate::spool::{self, Spool, SpooledBytes};
use crate::{DependenceKind, Step};

/// The distance of two rows whose places are in the index.
const STRIDE: usize = 32;

/// Writes rows, one after the other.
#[derive(Default)]
pub struct RowWriter {
    bytes: spool::SpoolWriter,
    places: Vec<usize>,
    length: usize,
}

impl RowWriter {
    /// With a file for many bytes; all stay in memory without one.
    pub fn new(spool: Option<Spool>) -> Self {
        Self { bytes: spool::SpoolWriter::new(spool), ..Self::default() }
    }

    /// Adds the next row, given as the [`code`]s of its edges.
    #[inline]
    pub fn append(&mut self, row: &[u8]) {
        if self.length.is_multiple_of(STRIDE) {
            self.places.push(self.bytes.len());
        }
        self.length += 1;
        let bytes = self.bytes.end();
        push(bytes, row.len() as u64);
        bytes.extend_from_slice(row);
    }

    /// The finished rows.
    ///
    /// Errors: the file could not be written.
    pub fn finish(self) -> io::Result<Rows> {
        Ok(Rows { bytes: self.bytes.finish()?, places: self.places, length: self.length })
    }
}

/// For each step its edges.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows {
    bytes: SpooledBytes,
    places: Vec<usize>,
    length: usize,
}

/// The places of the rows of one stride.
#[derive(Debug, Clone, Default)]
pub struct RowPlaces {
    /// Which stride; 0 is none, they count from 1.
    stride: usize,
    /// By row, the range of its bytes.
    rows: Vec<(usize, usize)>,
}

/// Takes the row from the front of `rest`.
#[inline]
fn first<'r>(rest: &mut &'r [u8]) -> &'r [u8] {
    let length = usize::try_from(take(rest)).unwrap_or(usize::MAX);
    let (row, others) = rest.split_at_checked(length).unwrap_or_default();
    *rest = others;
    row
}

impl Rows {
    /// All rows in order.
    pub fn all(&self) -> impl Iterator<Item = EdgeRow<'_>> {
        let mut rest = self.bytes.as_ref();
        (0..).take(self.length).map(move |last| EdgeRow { bytes: first(&mut rest), last })
    }

    /// The steps at the other ends of the edges of a step, and the kinds of the edges; empty if the graph does not have
    /// the step.
    pub fn row(&self, step: Step) -> EdgeRow<'_> {
        let index = step.0 as usize;
        let Some(place) = self.places.get(index / STRIDE).filter(|_| index < self.length) else {
            return EdgeRow { bytes: &[], last: step.0 };
        };
        let mut rest = &self.bytes.as_ref()[*place..];
        for _ in 0..index % STRIDE {
            first(&mut rest);
        }
        EdgeRow { bytes: first(&mut rest), last: step.0 }
    }

    /// The same as [`row`](Self::row), for many rows near each other: `places` keeps what was found before.
    pub fn near(&self, step: Step, places: &mut RowPlaces) -> EdgeRow<'_> {
        let index = step.0 as usize;
        let stride = index / STRIDE + 1;
        let bytes = self.bytes.as_ref();
        if places.stride != stride {
            places.stride = stride;
            places.rows.clear();
            let mut rest = self.places.get(stride - 1).and_then(|place| bytes.get(*place..)).unwrap_or_default();
            for _ in 0..STRIDE.min(self.length.saturating_sub((stride - 1) * STRIDE)) {
                let row = first(&mut rest);
                let end = bytes.len() - rest.len();
                places.rows.push((end - row.len(), end));
            }
        }
        let range = places.rows.get(index % STRIDE).copied();
        EdgeRow { bytes: range.and_then(|(begin, end)| bytes.get(begin..end)).unwrap_or_default(), last: step.0 }
    }

    /// The bytes of all rows and of their index.
    pub fn n_bytes(&self) -> usize {
        self.bytes.as_ref().len() + self.places.len() * size_of::<usize>()
    }

    /// Whether the rows are in a file.
    pub fn is_on_disk(&self) -> bool {
        self.bytes.is_mapped()
    }
}

/// The edges of one step.
#[derive(Debug, Clone)]
pub struct EdgeRow<'r> {
    bytes: &'r [u8],
    last: u32,
}

impl Iterator for EdgeRow<'_> {
    type Item = (Step, DependenceKind);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() {
            return None;
        }
        let code = take(&mut self.bytes);
        self.last = there(self.last, code >> 2);
        Some((Step(self.last), DependenceKind::of(code)))
    }
}

/// The number that is stored for an edge. `last` is the step of the edge before, or the row itself.
#[inline]
pub fn code(last: u32, other: Step, kind: DependenceKind) -> u64 {
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
            prop_assert_eq!(take(&mut &bytes[..]), number);
            prop_assert_eq!(there(from, way(from, to)), to);
        }
    }

    #[test]
    fn a_short_way_takes_a_byte() {
        let size = |number| {
            let mut bytes = Vec::new();
            push(&mut bytes, number);
            bytes.len()
        };
        for other in [5, 0, 10, 20] {
            assert_eq!(size(code(10, Step(other), DependenceKind::Control)), 1, "{other}");
        }
        assert_eq!(size(code(10, Step(1000), DependenceKind::Data)), 2);
        assert_eq!(size(code(u32::MAX, Step::START, DependenceKind::Data)), 5);
    }
}
