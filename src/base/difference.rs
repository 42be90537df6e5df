//! The difference of two sequences. All items become numbers first, so each algorithm is compiled once for the whole program.

use std::collections::HashMap;
use std::hash::Hash;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// The operations that make `newer` of `older`, in order. Together they cover both sequences.
///
/// Cost: one table of the distinct items, and that of the algorithm.
pub fn difference<T: Eq + Hash>(algorithm: Algorithm, older: &[T], newer: &[T]) -> Vec<DiffOp> {
    let mut numbers = HashMap::new();
    let mut sequences = [older, newer].map(|_| Vec::new());
    for (sequence, items) in sequences.iter_mut().zip([older, newer]) {
        for item in items {
            let next = numbers.len() as u64;
            sequence.push(*numbers.entry(item).or_insert(next));
        }
    }
    difference_of_numbers(algorithm, &sequences[0], &sequences[1])
}

/// [`difference`] of what is compiled here, and not where it is called.
#[inline(never)]
fn difference_of_numbers(algorithm: Algorithm, older: &[u64], newer: &[u64]) -> Vec<DiffOp> {
    capture_diff_slices(algorithm, older, newer)
}

/// The indices of the items that both sequences have, ascending in both.
pub fn common_items<T: Eq + Hash>(older: &[T], newer: &[T]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for op in difference(Algorithm::Myers, older, newer) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            pairs.extend((0..len).map(|nth| (old_index + nth, new_index + nth)));
        }
    }
    pairs
}
