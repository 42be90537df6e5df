//! Finds the parts of one version that another version has unchanged.

use crate::port::version::{FileVersion, UnitNo, UnitPart};
use crate::port::words::VersionWord;
use idd_base::difference::common_items;
use std::cell::Cell;
use std::hash::Hash;
use std::ops::Range;

/// Longer sequences are aligned at their ends only; the rest counts as changed.
const MAX_ALIGNED: usize = 6000;

/// Gaps with more units than this are not searched for similar units.
const MAX_GAP: usize = 48;

/// Units that share less than this part of their words are different units.
const MIN_SHARED_PERCENT: usize = 50;

/// The remaining work, in compared words. A merge that needs more is a conflict. So the result does not depend on the
/// clock.
#[derive(Debug)]
pub(super) struct AlignEffort(Cell<usize>);

impl AlignEffort {
    /// Enough for any file that people write.
    pub(super) fn new() -> Self {
        Self(Cell::new(40_000_000))
    }

    /// Subtracts `amount`; returns whether enough was left.
    pub(super) fn spend(&self, amount: usize) -> bool {
        let left = self.0.get();
        self.0.set(left.saturating_sub(amount));
        left > amount
    }
}

/// For each element of `base` its index in `other`; indices ascend.
pub(super) fn align<T: Eq + Hash>(base: &[T], other: &[T], effort: &AlignEffort) -> Vec<Option<usize>> {
    let mut place = vec![None; base.len()];
    let start = base.iter().zip(other).take_while(|(one, two)| one == two).count();
    let limit = base.len().min(other.len()) - start;
    let end = base.iter().rev().zip(other.iter().rev()).take(limit).take_while(|(one, two)| one == two).count();
    for (index, place) in place[..start].iter_mut().enumerate() {
        *place = Some(index);
    }
    for back in 1..=end {
        place[base.len() - back] = Some(other.len() - back);
    }
    let (inner, inner_other) = (&base[start..base.len() - end], &other[start..other.len() - end]);
    let size = inner.len() + inner_other.len();
    if size > MAX_ALIGNED || !effort.spend(size + inner.len() * inner_other.len() / 16) {
        return place;
    }
    for (index, found) in common_items(inner, inner_other) {
        place[start + index] = Some(start + found);
    }
    place
}

/// For each item of `base` its index among those of `other`: equal words, or a similar unit of the same kind.
pub(super) fn align_items(
    base: &FileVersion,
    base_items: &[UnitPart],
    other: &FileVersion,
    other_items: &[UnitPart],
    effort: &AlignEffort,
) -> Vec<Option<usize>> {
    let prints: Vec<_> = base_items.iter().map(|item| base.fingerprint(*item)).collect();
    let other_prints: Vec<_> = other_items.iter().map(|item| other.fingerprint(*item)).collect();
    let mut place = align(&prints, &other_prints, effort);
    let mut from = (0, 0);
    for index in 0..=base_items.len() {
        let to = if index == base_items.len() { Some(other_items.len()) } else { place[index] };
        if let Some(to) = to {
            pair_gap((base, base_items, from.0..index), (other, other_items, from.1..to), &mut place, effort);
            from = (index + 1, to + 1);
        }
    }
    place
}

/// Pairs similar units of a gap, in order, with the most shared words in total.
fn pair_gap(
    (base, base_items, range): (&FileVersion, &[UnitPart], Range<usize>),
    (other, other_items, other_range): (&FileVersion, &[UnitPart], Range<usize>),
    place: &mut [Option<usize>],
    effort: &AlignEffort,
) {
    let units = |items: &[UnitPart], range: Range<usize>| -> Vec<(usize, UnitNo)> {
        range.filter_map(|at| if let UnitPart::Unit(unit) = items[at] { Some((at, unit)) } else { None }).collect()
    };
    let (rows, columns) = (units(base_items, range), units(other_items, other_range));
    if rows.is_empty() || columns.is_empty() || rows.len() > MAX_GAP || columns.len() > MAX_GAP {
        return;
    }
    let shared: Vec<Vec<usize>> = rows
        .iter()
        .map(|(_, row)| {
            let pair = |(_, column): &(usize, UnitNo)| {
                let names = (&base.units[*row].name, &other.units[*column].name);
                let is_other = matches!(names, (Some(one), Some(two)) if one.word != two.word);
                // The order in a list must not decide which declaration corresponds to which.
                if is_other { 0 } else { likeness(base, *row, other, *column, effort) }
            };
            columns.iter().map(pair).collect()
        })
        .collect();
    // best[i][j]: the most words that the rows from i and the columns from j can share.
    let mut best = vec![vec![0; columns.len() + 1]; rows.len() + 1];
    for i in (0..rows.len()).rev() {
        for j in (0..columns.len()).rev() {
            let paired = if shared[i][j] > 0 { shared[i][j] + best[i + 1][j + 1] } else { 0 };
            best[i][j] = paired.max(best[i + 1][j]).max(best[i][j + 1]);
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < rows.len() && j < columns.len() {
        if shared[i][j] > 0 && best[i][j] == shared[i][j] + best[i + 1][j + 1] {
            place[rows[i].0] = Some(columns[j].0);
            (i, j) = (i + 1, j + 1);
        } else if best[i][j] == best[i + 1][j] {
            i += 1;
        } else {
            j += 1;
        }
    }
}

/// The number of words that two units share; 0 if they have different kinds or share too few.
pub(super) fn likeness(
    base: &FileVersion,
    unit: UnitNo,
    other: &FileVersion,
    like: UnitNo,
    effort: &AlignEffort,
) -> usize {
    let (one, two) = (&base.units[unit], &other.units[like]);
    let total = one.tokens.len() + two.tokens.len();
    let most = 2 * one.tokens.len().min(two.tokens.len());
    if one.kind != two.kind || most * 100 < total * MIN_SHARED_PERCENT || !effort.spend(total) {
        return 0;
    }
    let sorted = |words: &[VersionWord]| {
        let mut words = words.to_vec();
        words.sort_unstable();
        words
    };
    let (one, two) = (sorted(base.words(&one.tokens)), sorted(other.words(&two.tokens)));
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < one.len() && j < two.len() {
        match one[i].cmp(&two[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, shared) = (i + 1, j + 1, shared + 1),
        }
    }
    if 200 * shared < total * MIN_SHARED_PERCENT { 0 } else { shared }
}
