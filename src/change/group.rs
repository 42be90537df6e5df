//! Units that are applied together or not at all.

use std::ops::Range;

use crate::subset::UnitId;

/// A group of units at some level; never empty.
///
/// Most groups are one run of unit ids, but the lines of one declaration can be at several places.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Group {
    /// Half-open, sorted, not adjacent, none empty.
    spans: Box<[Range<u32>]>,
}

impl Group {
    /// The group of these units; `ids` must ascend.
    ///
    /// Panics if there are none.
    pub fn of(ids: impl IntoIterator<Item = UnitId>) -> Self {
        let mut spans: Vec<Range<u32>> = Vec::new();
        for id in ids {
            match spans.last_mut() {
                Some(span) if span.end == id.0 => span.end += 1,
                _ => spans.push(id.0..id.0 + 1),
            }
        }
        assert!(!spans.is_empty(), "a group is made around a unit");
        Self { spans: spans.into() }
    }

    /// The units as half-open ranges of ids, ascending.
    pub fn spans(&self) -> &[Range<u32>] {
        &self.spans
    }

    /// The first unit.
    pub fn first(&self) -> UnitId {
        UnitId(self.spans[0].start)
    }

    /// How many units it has; at least 1.
    pub fn n_units(&self) -> usize {
        self.spans.iter().map(ExactSizeIterator::len).sum()
    }
}

impl From<Range<u32>> for Group {
    /// One run of units; panics if it is empty.
    fn from(span: Range<u32>) -> Self {
        assert!(!span.is_empty(), "a group is not empty");
        Self { spans: Box::new([span]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_span() {
        let group = Group::of([2, 3, 4, 9].map(UnitId));
        assert_eq!(group.spans(), [2..5, 9..10]);
        assert_eq!((group.first(), group.n_units()), (UnitId(2), 4));
    }
}
