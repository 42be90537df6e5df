//! Merging text line by line, where a merge by hunks gives up because two edits touch.

use similar::Algorithm;
use similar::DiffOp;
use similar::capture_diff_slices;

/// What becomes of lines that both sides insert between the same two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Insertions {
    /// Both stand, those of `ours` first.
    Joined,
    /// They conflict: which goes first, and what belongs around them, is for somebody to say who knows the language.
    Refused,
}

/// Carries the edits `base` -> `patched` to `ours`; edits of neighbouring lines do not disturb each other.
///
/// An edit fits if the lines that it deletes stand unchanged and together in `ours`; an insertion alone, if the line before
/// or behind it does, and if nothing but blank lines was inserted there by `ours` (unless `insertions` says otherwise).
/// `None` if some edit does not fit.
///
/// A three-way merge by hunks takes touching edits for a conflict, because nobody has seen them together. Here the
/// result is tested before it is used, so it may be tried.
pub fn merge_lines(base: &[u8], ours: &[u8], patched: &[u8], insertions: Insertions) -> Option<Vec<u8>> {
    let (base, ours, patched) = (lines(base), lines(ours), lines(patched));
    let place = unchanged(&base, &ours);
    // What stands in place of each line of `ours`, and what is inserted before it (one more for the end).
    let mut is_kept = vec![true; ours.len()];
    let mut before: Vec<Vec<&[u8]>> = vec![Vec::new(); ours.len() + 1];
    for edit in capture_diff_slices(Algorithm::Myers, &base, &patched) {
        let (deleted, inserted) = match edit {
            DiffOp::Equal { .. } => continue,
            DiffOp::Delete { old_index, old_len, .. } => (old_index..old_index + old_len, 0..0),
            DiffOp::Insert { old_index, new_index, new_len } => (old_index..old_index, new_index..new_index + new_len),
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                (old_index..old_index + old_len, new_index..new_index + new_len)
            }
        };
        let at = if deleted.is_empty() {
            if insertions == Insertions::Refused && has_inserted(&place, deleted.start, &ours) {
                return None;
            }
            insertion_point(&place, deleted.start, ours.len())?
        } else {
            let first = place[deleted.start]?;
            for (offset, line) in deleted.clone().enumerate() {
                (place[line]? == first + offset).then_some(())?;
                is_kept[first + offset] = false;
            }
            first
        };
        before[at].extend(&patched[inserted]);
    }
    let mut merged = Vec::new();
    for (index, inserted) in before.iter().enumerate() {
        merged.extend(inserted.iter().copied().flatten());
        if index < ours.len() && is_kept[index] {
            merged.extend_from_slice(ours[index]);
        }
    }
    Some(merged)
}

/// Where in `ours` a text goes that was inserted before line `at` of the base.
fn insertion_point(place: &[Option<usize>], at: usize, n_ours: usize) -> Option<usize> {
    let behind = at.checked_sub(1).map(|line| place[line]);
    match (behind, place.get(at)) {
        (_, Some(Some(line))) => Some(*line),
        (Some(Some(line)), _) => Some(line + 1),
        (None, None) if n_ours == 0 => Some(0),
        _ => None,
    }
}

/// Whether `ours` has a line, not a blank one, between the neighbours of a place before line `at` of the base.
fn has_inserted(place: &[Option<usize>], at: usize, ours: &[&[u8]]) -> bool {
    let start = at.checked_sub(1).map_or(Some(0), |line| place[line].map(|line| line + 1));
    let end = place.get(at).map_or(Some(ours.len()), |line| *line);
    let between = start.zip(end).map_or(&[][..], |(start, end)| &ours[start..end]);
    between.iter().any(|line| !line.trim_ascii().is_empty())
}

/// For each line of `base` its place in `ours`, if it stands there unchanged.
fn unchanged(base: &[&[u8]], ours: &[&[u8]]) -> Vec<Option<usize>> {
    let mut place = vec![None; base.len()];
    for edit in capture_diff_slices(Algorithm::Myers, base, ours) {
        if let DiffOp::Equal { old_index, new_index, len } = edit {
            for offset in 0..len {
                place[old_index + offset] = Some(new_index + offset);
            }
        }
    }
    place
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(base: &str, ours: &str, patched: &str, expected: Option<&str>) {
        let merged = merge_lines(base.as_bytes(), ours.as_bytes(), patched.as_bytes(), Insertions::Refused);
        assert_eq!(merged.map(|text| String::from_utf8(text).unwrap()), expected.map(str::to_owned));
    }

    #[test]
    fn edits_of_neighbouring_lines_go_together() {
        check("a 1\nb 3\n", "a 1\nb 2\n", "a 0\nb 3\n", Some("a 0\nb 2\n"));
    }

    #[test]
    fn edits_of_the_same_line_conflict() {
        check("a\n", "b\n", "c\n", None);
    }

    #[test]
    fn an_insertion_follows_the_neighbour_that_is_still_there() {
        check("x\ny\n", "x\nz\n", "x\nnew\ny\n", Some("x\nnew\nz\n"));
        check("x\ny\n", "w\ny\n", "x\nnew\ny\n", Some("w\nnew\ny\n"));
        check("x\ny\n", "w\nz\n", "x\nnew\ny\n", None);
    }

    #[test]
    fn insertions_of_both_at_one_place_are_joined_only_if_asked_for() {
        check("x\ny\n", "x\n1\ny\n", "x\n2\ny\n", None);
        check("x\n", "1\nx\n", "2\nx\n", None);
        check("x\n", "x\n1\n", "x\n2\n", None);
        check("x\ny\n", "x\n\ny\n", "x\n2\ny\n", Some("x\n\n2\ny\n"));
        let joined = merge_lines(b"x\ny\n", b"x\n1\ny\n", b"x\n2\ny\n", Insertions::Joined);
        assert_eq!(joined.as_deref(), Some(&b"x\n1\n2\ny\n"[..]));
    }

    proptest! {
        #[test]
        fn what_only_one_side_changes_is_taken(base in "([ab]\n){0,8}", other in "([abc]\n){0,8}") {
            let (base, other) = (base.as_bytes(), other.as_bytes());
            prop_assert_eq!(merge_lines(base, base, other, Insertions::Refused), Some(other.to_vec()));
            prop_assert_eq!(merge_lines(base, other, base, Insertions::Refused), Some(other.to_vec()));
        }
    }
}
