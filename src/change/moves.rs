//! Finds declarations that moved to another place.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::declarations::{Declaration, similarity};

/// Lines that moved, with or without changes inside: half-open older and newer lines.
pub(super) type MovedLines = (Range<u32>, Range<u32>);

/// Shorter declarations count as deleted and inserted: it does not help a reader to know that a line moved.
const MIN_LINES: usize = 3;

/// If a moved pair has a smaller share of common lines (in thousandths), it counts as two different declarations.
const MIN_SIMILARITY: u32 = 500;

/// The declarations that moved, outermost ones only, as their line ranges. The ranges of one side do not overlap.
///
/// - `pairs`: matched older and newer indices, ascending in the older ones.
///
/// Among the declarations of a body, those that keep their order stay: a selection with as many lines as possible. The
/// others moved, and so did those that are now in another body.
pub(super) fn moves(older: &[Declaration], newer: &[Declaration], pairs: &[(usize, usize)]) -> Vec<MovedLines> {
    let mut newer_of = vec![None; older.len()];
    for (row, column) in pairs {
        newer_of[*row] = Some(*column);
    }
    let keeps_body = |row: usize, column: usize| match (older[row].parent, newer[column].parent) {
        (None, None) => true,
        (Some(row), Some(column)) => newer_of[row] == Some(column),
        _ => false,
    };
    let mut moved: Vec<(usize, usize)> = Vec::new();
    let mut bodies: BTreeMap<Option<usize>, Vec<(usize, usize)>> = BTreeMap::new();
    for (row, column) in pairs.iter().copied() {
        if keeps_body(row, column) {
            bodies.entry(older[row].parent).or_default().push((row, column));
        } else {
            moved.push((row, column));
        }
    }
    for members in bodies.values() {
        let stays = longest_ordered(members, |row| older[row].lines.len());
        moved.extend(members.iter().filter(|pair| !stays.contains(pair)));
    }
    moved.retain(|(row, column)| {
        let (one, two) = (&older[*row], &newer[*column]);
        one.lines.len() >= MIN_LINES && two.lines.len() >= MIN_LINES && similarity(one, two) >= MIN_SIMILARITY
    });
    moved.sort_unstable();
    let mut ranges: Vec<MovedLines> = Vec::new();
    for (row, column) in moved {
        let (from, to) = (older[row].lines.clone(), newer[column].lines.clone());
        let is_apart = |(other_from, other_to): &MovedLines| {
            (other_from.end <= from.start || from.end <= other_from.start)
                && (other_to.end <= to.start || to.end <= other_to.start)
        };
        if ranges.iter().all(is_apart) {
            ranges.push((from, to));
        }
    }
    ranges
}

/// The pairs with the greatest total weight that ascend in both indices; `pairs` ascends in the first one.
fn longest_ordered(pairs: &[(usize, usize)], weight: impl Fn(usize) -> usize) -> Vec<(usize, usize)> {
    if pairs.is_sorted_by_key(|pair| pair.1) {
        return pairs.to_vec();
    }
    // The best chain that ends at each pair: its weight, and the pair before. Bodies are small; a square is cheap.
    let mut best: Vec<(usize, Option<usize>)> = Vec::with_capacity(pairs.len());
    for (index, (row, column)) in pairs.iter().enumerate() {
        let before = (0..index).filter(|before| pairs[*before].1 < *column);
        let before = before.max_by_key(|before| (best[*before].0, Reverse(*before)));
        best.push((before.map_or(0, |before| best[before].0) + weight(*row), before));
    }
    let mut at = (0..pairs.len()).max_by_key(|index| (best[*index].0, Reverse(*index)));
    let mut chain = Vec::new();
    while let Some(index) = at {
        chain.push(pairs[index]);
        at = best[index].1;
    }
    chain.reverse();
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_part_that_keeps_its_order_stays() {
        let pairs = [(0, 2), (1, 0), (2, 1), (3, 3)];
        assert_eq!(longest_ordered(&pairs, |_| 1), [(1, 0), (2, 1), (3, 3)]);
        assert_eq!(longest_ordered(&pairs, |row| if row == 0 { 9 } else { 1 }), [(0, 2), (3, 3)]);
        assert_eq!(longest_ordered(&[], |_| 1), []);
    }
}
