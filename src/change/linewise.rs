//! Merges text line by line, where a merge by hunks fails because two edits touch.

use crate::mentioned_names::TextNames;
use idd_base::difference::{common_items, difference};
use similar::{Algorithm, DiffOp};
use std::collections::BTreeMap;
use std::ops::Range;

/// What happens to edits of the two sides that have no unchanged line between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touching {
    /// They are merged. If both sides insert between the same two lines, the insertion of `ours` comes first.
    Joined,
    /// For programs: insertions of both sides at one place conflict, because only the language decides their order.
    /// Edits conflict too if one [disturbs](TextNames::disturbs) the other.
    Judged,
}

/// Applies the edits `base` -> `patched` to `ours`. Edits of adjacent lines alone do not conflict.
///
/// An edit fits if the lines that it deletes are unchanged and adjacent in `ours`. An insertion fits if the line before
/// or after it is unchanged there. The place must be unambiguous: among the unchanged lines around the edit, adjacent
/// in both versions, one must occur only once in either version, or they must reach to the same end of both. `None` if
/// some edit does not fit.
///
/// A three-way merge by hunks reports touching edits as a conflict, because nobody has seen them together. Here the
/// result is tested before it is used, so it can be tried.
pub fn merge_lines(base: &[u8], ours: &[u8], patched: &[u8], touching: Touching) -> Option<Vec<u8>> {
    let (base, ours, patched) = (lines(base), lines(ours), lines(patched));
    let place = unchanged(&base, &ours);
    let is_anchor = anchors(&base, &ours, &place);
    // The replacement of each line of `ours`, and the insertions before it (one more entry for the end).
    let mut is_kept = vec![true; ours.len()];
    let mut before: Vec<Vec<&[u8]>> = vec![Vec::new(); ours.len() + 1];
    for edit in difference(Algorithm::Myers, &base, &patched) {
        if matches!(edit, DiffOp::Equal { .. }) {
            continue;
        }
        let (deleted, inserted) = (edit.old_range(), edit.new_range());
        if !base.is_empty() && !run_around(&place, &deleted).any(|line| is_anchor[line]) {
            return None;
        }
        let edit = [&base[deleted.clone()], &patched[inserted.clone()]].concat().concat();
        if touching == Touching::Judged && is_disturbed(&place, &deleted, &base, &ours, &edit) {
            return None;
        }
        let at = if deleted.is_empty() {
            if touching == Touching::Judged && has_inserted(&place, deleted.start, &ours) {
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

/// The position in `ours` for a text that was inserted before line `at` of the base.
fn insertion_point(place: &[Option<usize>], at: usize, n_ours: usize) -> Option<usize> {
    let behind = at.checked_sub(1).map(|line| place[line]);
    match (behind, place.get(at)) {
        (_, Some(Some(line))) => Some(*line),
        (Some(Some(line)), _) => Some(line + 1),
        (None, None) if n_ours == 0 => Some(0),
        _ => None,
    }
}

/// Whether `ours` has a non-blank line between the neighbours of the place before line `at` of the base.
fn has_inserted(place: &[Option<usize>], at: usize, ours: &[&[u8]]) -> bool {
    let start = at.checked_sub(1).map_or(Some(0), |line| place[line].map(|line| line + 1));
    let end = place.get(at).map_or(Some(ours.len()), |line| *line);
    let between = start.zip(end).map_or(&[][..], |(start, end)| &ours[start..end]);
    between.iter().any(|line| !line.trim_ascii().is_empty())
}

/// The lines of the base with an unambiguous place in `ours`: they occur once in either, or are at the same end of
/// both.
fn anchors(base: &[&[u8]], ours: &[&[u8]], place: &[Option<usize>]) -> Vec<bool> {
    let mut counts: BTreeMap<&[u8], [usize; 2]> = BTreeMap::new();
    for (side, lines) in [base, ours].into_iter().enumerate() {
        for line in lines {
            counts.entry(line).or_default()[side] += 1;
        }
    }
    let is_end =
        |line: usize, there: usize| line == 0 && there == 0 || line + 1 == base.len() && there + 1 == ours.len();
    let is_anchor = |(line, place): (usize, &Option<usize>)| {
        place.is_some_and(|there| counts[base[line]] == [1, 1] || is_end(line, there))
    };
    place.iter().enumerate().map(is_anchor).collect()
}

/// The unchanged lines that are adjacent, without a gap in either version, to some deleted lines or to an insertion
/// point.
fn run_around(place: &[Option<usize>], deleted: &Range<usize>) -> Range<usize> {
    let follows = |line: usize| line > 0 && place[line - 1].zip(place[line]).is_some_and(|(one, two)| one + 1 == two);
    let is_there = |line: usize| place.get(line).is_some_and(Option::is_some);
    let (mut start, mut end) = (deleted.start, deleted.end);
    if start < end || is_there(start) {
        // From the edit forward, then backward from it.
        end = end.max(start + 1);
        while end < place.len() && follows(end) {
            end += 1;
        }
    } else if start > 0 && is_there(start - 1) {
        start -= 1;
    }
    while start < end && follows(start) {
        start -= 1;
    }
    start..end
}

/// The edit of `ours` between the unchanged lines before and after a line of the base: the lines of the base, and those
/// of `ours`.
fn gap(place: &[Option<usize>], at: usize, n_ours: usize) -> [Range<usize>; 2] {
    let before = place[..at].iter().rposition(Option::is_some);
    let behind = place[at..].iter().position(Option::is_some).map(|offset| at + offset);
    let there = |line: Option<usize>| line.and_then(|line| place[line]);
    let start = |line: Option<usize>| line.map_or(0, |line| line + 1);
    [start(before)..behind.unwrap_or(place.len()), start(there(before))..there(behind).unwrap_or(n_ours)]
}

/// Whether the patch and a touching edit of `ours` disturb each other. `edit`: the lines that the patch deletes and
/// inserts.
fn is_disturbed(place: &[Option<usize>], deleted: &Range<usize>, base: &[&[u8]], ours: &[&[u8]], edit: &[u8]) -> bool {
    let patched = TextNames::of(edit);
    [deleted.start, deleted.end].into_iter().any(|at| {
        let [old, new] = gap(place, at, ours.len());
        let (old, new) = (&base[old], &ours[new]);
        if old.iter().map(|line| line.trim_ascii()).eq(new.iter().map(|line| line.trim_ascii())) {
            return false;
        }
        let text = [old, new].concat().concat();
        let ours = TextNames::of(&text);
        ours.disturbs(&patched) || patched.disturbs(&ours)
    })
}

/// For each line of `base` its index in `ours`, if it is unchanged there.
fn unchanged(base: &[&[u8]], ours: &[&[u8]]) -> Vec<Option<usize>> {
    let mut place = vec![None; base.len()];
    for (index, other) in common_items(base, ours) {
        place[index] = Some(other);
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
        let merged = merge_lines(base.as_bytes(), ours.as_bytes(), patched.as_bytes(), Touching::Judged);
        assert_eq!(merged.map(|text| String::from_utf8(text).unwrap()), expected.map(str::to_owned));
    }

    #[test]
    fn edits_of_neighbouring_lines_go_together() {
        check("a 1\nb 3\n", "a 1\nb 2\n", "a 0\nb 3\n", Some("a 0\nb 2\n"));
    }

    #[test]
    fn a_line_that_stands_in_many_places_is_no_place_for_an_insertion() {
        let base = "/*\n** one\n*/\n\nuse one\n\n/*\n** two\n*/\n\nuse two\n";
        let patched = "/*\n** one\n*/\nnew one\n\nuse one\n\n/*\n** two\n*/\n\nuse two\n";
        check(base, "/*\n** 1\n*/\n\nuse 1\n\n/*\n** two\n*/\n\nuse two\n", patched, None);
        let ours = "/*\n** one\n*/\n\nuse 1\n\n/*\n** two\n*/\n\nuse two\n";
        check(base, ours, patched, Some("/*\n** one\n*/\nnew one\n\nuse 1\n\n/*\n** two\n*/\n\nuse two\n"));
    }

    #[test]
    fn neighbouring_lines_of_which_one_gives_a_value_to_a_name_of_the_other_conflict() {
        let base = "x = read();\nset(value, x);\nnext();\n";
        let unwrapped = "x = read();\nif (is_list(x)) x = first(x);\nset(value, x);\nnext();\n";
        let first = "x = read();\nset(value, first(x));\nnext();\n";
        check(base, unwrapped, first, None);
        check(base, first, unwrapped, None);
        let joined = merge_lines(base.as_bytes(), unwrapped.as_bytes(), first.as_bytes(), Touching::Joined);
        assert!(joined.is_some());
        check(
            base,
            "x = read();\nlog(x);\nset(value, x);\nnext();\n",
            first,
            Some("x = read();\nlog(x);\nset(value, first(x));\nnext();\n"),
        );
        check(
            base,
            "  x = read();\nset(value, x);\nnext();\n",
            first,
            Some("  x = read();\nset(value, first(x));\nnext();\n"),
        );
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
        let joined = merge_lines(b"x\ny\n", b"x\n1\ny\n", b"x\n2\ny\n", Touching::Joined);
        assert_eq!(joined.as_deref(), Some(&b"x\n1\n2\ny\n"[..]));
    }

    proptest! {
        #[test]
        fn what_only_one_side_changes_is_taken(base in "([ab]\n){0,8}", other in "([abc]\n){0,8}") {
            let (base, other) = (base.as_bytes(), other.as_bytes());
            prop_assert_eq!(merge_lines(base, base, other, Touching::Judged), Some(other.to_vec()));
            prop_assert_eq!(merge_lines(base, other, base, Touching::Judged), Some(other.to_vec()));
        }
    }
}
