//! Sets of units.

use std::fmt;
use std::ops::Range;

use crate::group::Group;

/// The position of a unit in its change set, from 0, in source order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnitId(pub u32);

impl UnitId {
    /// The unit at an index of the list of units.
    pub(super) fn at(index: usize) -> Self {
        Self(u32::try_from(index).expect("a change set has fewer than 2^32 units"))
    }

    /// The position as an index into [`ChangeSet::units`](crate::ChangeSet::units).
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A set of units of one change set; iterates in source order.
///
/// One bit per unit of the change set. Two subsets are compared or combined only if they belong to the same change
/// set: the number of units is part of the value, and mixing them panics.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Subset {
    n_units: u32,
    words: Box<[u64]>,
}

const WORD: u32 = u64::BITS;

/// The bits of `range` that lie in word number `word`.
fn mask(range: &Range<u32>, word: u32) -> u64 {
    let start = range.start.max(word * WORD);
    let end = range.end.min((word + 1) * WORD);
    if start >= end {
        return 0;
    }
    (u64::MAX >> (WORD - (end - start))) << (start % WORD)
}

/// The words that hold the bits of `range`.
fn words_of(range: &Range<u32>) -> Range<u32> {
    if range.is_empty() { 0..0 } else { range.start / WORD..range.end.div_ceil(WORD) }
}

impl Subset {
    /// No unit out of `n_units`.
    pub fn empty(n_units: u32) -> Self {
        Self { n_units, words: vec![0; n_units.div_ceil(WORD) as usize].into() }
    }

    /// All of `n_units` units.
    pub fn full(n_units: u32) -> Self {
        let mut subset = Self::empty(n_units);
        subset.insert_range(0..n_units);
        subset
    }

    /// How many units the change set has.
    pub fn n_units(&self) -> u32 {
        self.n_units
    }

    /// How many units are in the set.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether no unit is in the set.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Whether `unit` is in the set.
    pub fn contains(&self, unit: UnitId) -> bool {
        self.intersects(&(unit.0..unit.0 + 1))
    }

    /// Adds `unit`.
    pub fn insert(&mut self, unit: UnitId) {
        self.insert_range(unit.0..unit.0 + 1);
    }

    /// Removes `unit`.
    pub fn remove(&mut self, unit: UnitId) {
        self.remove_range(&(unit.0..unit.0 + 1));
    }

    /// Adds every unit of a half-open range of ids.
    pub fn insert_range(&mut self, range: Range<u32>) {
        assert!(range.end <= self.n_units, "a unit id lies in its change set");
        for word in words_of(&range) {
            self.words[word as usize] |= mask(&range, word);
        }
    }

    /// Removes every unit of a half-open range of ids.
    pub fn remove_range(&mut self, range: &Range<u32>) {
        for word in words_of(range) {
            self.words[word as usize] &= !mask(range, word);
        }
    }

    /// Whether any unit of a half-open range of ids is in the set.
    pub fn intersects(&self, range: &Range<u32>) -> bool {
        words_of(range).any(|word| self.words[word as usize] & mask(range, word) != 0)
    }

    /// Adds all units of `group`. Panics if one is outside of the change set.
    pub fn insert_group(&mut self, group: &Group) {
        group.spans().iter().for_each(|span| self.insert_range(span.clone()));
    }

    /// Whether any unit of `group` is in the set.
    pub fn has_any_of(&self, group: &Group) -> bool {
        group.spans().iter().any(|span| self.intersects(span))
    }

    /// The units of a half-open range of ids that are in the set, ascending.
    pub fn within(&self, range: &Range<u32>) -> impl Iterator<Item = UnitId> {
        range.clone().map(UnitId).filter(|unit| self.contains(*unit))
    }

    fn combined(&self, other: &Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        assert_eq!(self.n_units, other.n_units, "two subsets belong to the same change set");
        let words = self.words.iter().zip(&other.words).map(|(one, two)| combine(*one, *two));
        Self { n_units: self.n_units, words: words.collect() }
    }

    /// The units of either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.combined(other, |one, two| one | two)
    }

    /// The units of both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.combined(other, |one, two| one & two)
    }

    /// The units of this set that are not in `other`.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        self.combined(other, |one, two| one & !two)
    }

    /// Whether every unit of this set is in `other`.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.difference(other).is_empty()
    }

    /// The units in source order.
    pub fn iter(&self) -> Units<'_> {
        Units { subset: self, word: 0, bits: self.words.first().copied().unwrap_or(0) }
    }
}

impl fmt::Debug for Subset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(|unit| unit.0)).finish()
    }
}

impl Extend<UnitId> for Subset {
    fn extend<I: IntoIterator<Item = UnitId>>(&mut self, units: I) {
        units.into_iter().for_each(|unit| self.insert(unit));
    }
}

impl<'a> IntoIterator for &'a Subset {
    type Item = UnitId;
    type IntoIter = Units<'a>;

    fn into_iter(self) -> Units<'a> {
        self.iter()
    }
}

/// The units of a [`Subset`] in source order.
#[derive(Debug, Clone)]
pub struct Units<'a> {
    subset: &'a Subset,
    word: usize,
    bits: u64,
}

impl Iterator for Units<'_> {
    type Item = UnitId;

    fn next(&mut self) -> Option<UnitId> {
        while self.bits == 0 {
            self.word += 1;
            self.bits = *self.subset.words.get(self.word)?;
        }
        let bit = self.bits.trailing_zeros();
        self.bits &= self.bits - 1;
        let word = u32::try_from(self.word).expect("a word number is at most a unit id, which is a u32");
        Some(UnitId(word * WORD + bit))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn subset(n_units: u32, units: &BTreeSet<u32>) -> Subset {
        let mut subset = Subset::empty(n_units);
        subset.extend(units.iter().map(|unit| UnitId(*unit)));
        subset
    }

    fn units(subset: &Subset) -> BTreeSet<u32> {
        subset.iter().map(|unit| unit.0).collect()
    }

    proptest! {
        #[test]
        fn a_subset_behaves_like_a_sorted_set(
            one in prop::collection::btree_set(0_u32..200, 0..60),
            two in prop::collection::btree_set(0_u32..200, 0..60),
            start in 0_u32..=200,
            len in 0_u32..140,
        ) {
            let (first, second) = (subset(200, &one), subset(200, &two));
            prop_assert_eq!(&units(&first), &one);
            prop_assert_eq!(first.len(), one.len());
            prop_assert_eq!(first.is_empty(), one.is_empty());
            prop_assert_eq!(first.is_subset(&second), one.is_subset(&two));
            prop_assert_eq!(units(&first.union(&second)), one.union(&two).copied().collect::<BTreeSet<_>>());
            prop_assert_eq!(units(&first.intersection(&second)), one.intersection(&two).copied().collect::<BTreeSet<_>>());
            prop_assert_eq!(units(&first.difference(&second)), one.difference(&two).copied().collect::<BTreeSet<_>>());

            let range = start..(start + len).min(200);
            prop_assert_eq!(first.intersects(&range), one.iter().any(|unit| range.contains(unit)));
            let mut cut = first.clone();
            cut.remove_range(&range);
            prop_assert_eq!(units(&cut), one.iter().copied().filter(|unit| !range.contains(unit)).collect::<BTreeSet<_>>());
            cut.insert_range(range.clone());
            prop_assert_eq!(units(&cut), one.iter().copied().chain(range).collect::<BTreeSet<_>>());
        }
    }

    #[test]
    fn the_full_set_holds_every_unit_also_at_the_ends_of_words() {
        for n_units in [0, 1, 63, 64, 65, 128] {
            let full = Subset::full(n_units);
            assert_eq!(full.len(), n_units as usize);
            assert_eq!(full.iter().map(|unit| unit.0).collect::<Vec<_>>(), (0..n_units).collect::<Vec<_>>());
        }
    }
}
