//! Pairs deleted lines with the inserted lines that replaced them.

use crate::mentioned_names::tokens;

/// Two lines with fewer common tokens than this (in thousandths) are not one modified line.
pub(super) const MIN_SIMILARITY: u32 = 500;

/// A run with more combinations of a deleted and an inserted line than this is not aligned.
const MAX_COMBINATIONS: usize = 4096;

/// Pairs the deleted and inserted lines of one run of changed lines.
///
/// - `may_pair`: whether the lines of two indices can be one modified line at all.
/// - Result: (index into `deleted`, index into `inserted`), strictly ascending in both. Only pairs that share at least
///   half of their tokens count; among these, the total similarity is the greatest possible.
/// - One deleted and one inserted line alone are always one modified line: restoring only one of them is rarely useful.
/// - A run of more than 4096 combinations is paired by position if both sides have the same length, or else not at all.
///
/// Cost: `deleted.len() * inserted.len()` comparisons of token lists.
pub(super) fn pair(
    deleted: &[&[u8]],
    inserted: &[&[u8]],
    may_pair: impl Fn(usize, usize) -> bool,
) -> Vec<(usize, usize)> {
    if deleted.len() == 1 && inserted.len() == 1 {
        return if may_pair(0, 0) { vec![(0, 0)] } else { Vec::new() };
    }
    let older: Vec<_> = deleted.iter().map(|line| sorted_tokens(line)).collect();
    let newer: Vec<_> = inserted.iter().map(|line| sorted_tokens(line)).collect();
    if older.len() * newer.len() > MAX_COMBINATIONS {
        if older.len() != newer.len() {
            return Vec::new();
        }
        let are_similar =
            |index: &usize| may_pair(*index, *index) && similarity(&older[*index], &newer[*index]) >= MIN_SIMILARITY;
        return (0..older.len()).filter(are_similar).map(|index| (index, index)).collect();
    }
    align(
        older.len(),
        newer.len(),
        |row, column| {
            if may_pair(row, column) { similarity(&older[row], &newer[column]) } else { 0 }
        },
    )
}

/// The order-preserving pairing of greatest total similarity, by dynamic programming from the end.
pub(super) fn align(n_rows: usize, n_columns: usize, similarity: impl Fn(usize, usize) -> u32) -> Vec<(usize, usize)> {
    let width = n_columns + 1;
    let mut best = vec![0_u32; (n_rows + 1) * width];
    let mut is_paired = vec![false; n_rows * width];
    for row in (0..n_rows).rev() {
        for column in (0..n_columns).rev() {
            let at = row * width + column;
            let unpaired = best[at + width].max(best[at + 1]);
            let similarity = similarity(row, column);
            let paired = best[at + width + 1] + similarity;
            is_paired[at] = similarity >= MIN_SIMILARITY && paired >= unpaired;
            best[at] = if is_paired[at] { paired } else { unpaired };
        }
    }
    let (mut row, mut column) = (0, 0);
    let mut pairs = Vec::new();
    while row < n_rows && column < n_columns {
        let at = row * width + column;
        if is_paired[at] {
            pairs.push((row, column));
            row += 1;
            column += 1;
        } else if best[at + width] >= best[at + 1] {
            row += 1;
        } else {
            column += 1;
        }
    }
    pairs
}

/// The words and signs of a line, sorted, without white space.
fn sorted_tokens(line: &[u8]) -> Vec<&[u8]> {
    let mut tokens: Vec<&[u8]> = tokens(line).collect();
    tokens.sort_unstable();
    tokens
}

/// The common share of two sorted multisets, in thousandths (the Dice coefficient); 1000 for two empty ones.
pub(super) fn similarity<T: Ord>(older: &[T], newer: &[T]) -> u32 {
    let n_tokens = older.len() + newer.len();
    if n_tokens == 0 {
        return 1000;
    }
    let (mut row, mut column, mut n_common) = (0, 0, 0);
    while row < older.len() && column < newer.len() {
        let ordering = older[row].cmp(&newer[column]);
        n_common += usize::from(ordering.is_eq());
        row += usize::from(ordering.is_le());
        column += usize::from(ordering.is_ge());
    }
    u32::try_from(2000 * n_common / n_tokens).expect("a share of a thousand fits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(deleted: &[&str], inserted: &[&str], expected: &[(usize, usize)]) {
        let deleted: Vec<&[u8]> = deleted.iter().map(|line| line.as_bytes()).collect();
        let inserted: Vec<&[u8]> = inserted.iter().map(|line| line.as_bytes()).collect();
        assert_eq!(pair(&deleted, &inserted, |_, _| true), expected);
    }

    #[test]
    fn a_modified_line_is_paired_with_itself_and_not_with_its_new_neighbour() {
        check(&["if (n > 0)\n"], &["int unrelated = 7;\n", "if (n >= 0)\n"], &[(0, 1)]);
    }

    #[test]
    fn lines_with_less_than_half_in_common_stay_apart_even_when_counts_agree() {
        check(&["return total;\n", "}\n"], &["while (next(&it)) {\n", "step(it);\n"], &[]);
    }

    #[test]
    fn a_single_line_that_is_replaced_by_a_single_line_is_a_modified_line() {
        check(&["return total;\n"], &["while (next(&it)) {\n"], &[(0, 0)]);
    }

    #[test]
    fn a_change_of_white_space_or_line_end_is_a_modified_line() {
        check(&["x = 1;\r\n", "\n"], &["  x = 1;\n", "\t\n"], &[(0, 0), (1, 1)]);
    }

    #[test]
    fn pairs_never_cross() {
        check(&["alpha one two\n", "beta one\n"], &["beta one 2\n", "alpha one two\n"], &[(0, 1)]);
    }

    #[test]
    fn a_run_too_large_to_align_is_paired_by_position_only_if_the_counts_agree() {
        let deleted: Vec<String> = (0..80).map(|index| format!("call(v{index}, old);\n")).collect();
        let inserted: Vec<String> = (0..80).map(|index| format!("call(v{index}, fresh);\n")).collect();
        let deleted: Vec<&str> = deleted.iter().map(String::as_str).collect();
        let inserted: Vec<&str> = inserted.iter().map(String::as_str).collect();
        check(&deleted, &inserted, &(0..80).map(|index| (index, index)).collect::<Vec<_>>());
        check(&deleted, &inserted[1..], &[]);
    }
}
