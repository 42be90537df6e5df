//! The difference of two texts for people: the lines that differ, with those around them.

use idd_base::difference::difference;
use similar::{Algorithm, DiffTag, group_diff_ops};

/// Lines around a difference.
const N_AROUND: usize = 2;

/// More lines are not printed.
const MAX_LINES: usize = 40;

/// Of a longer line only the letters around the difference are printed.
const MAX_LETTERS: usize = 160;

/// Letters before the difference in a long line.
const N_BEFORE: usize = 40;

/// The lines of the difference of a passing and a failing text, without line ends.
pub fn lines(passing: &str, failing: &str) -> Vec<String> {
    let (older, newer): (Vec<&str>, Vec<&str>) = (passing.lines().collect(), failing.lines().collect());
    let mut made = vec!["--- passes".to_owned(), "+++ fails".to_owned()];
    for group in group_diff_ops(difference(Algorithm::Myers, &older, &newer), N_AROUND) {
        let at = |lines: &std::ops::Range<usize>| {
            format!("{},{}", lines.start + usize::from(!lines.is_empty()), lines.len())
        };
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let ranges = (first.old_range().start..last.old_range().end, first.new_range().start..last.new_range().end);
        made.push(format!("@@ -{} +{} @@", at(&ranges.0), at(&ranges.1)));
        for op in &group {
            let (older, newer) = (&older[op.old_range()], &newer[op.new_range()]);
            let common = match (older, newer) {
                ([one, ..], [other, ..]) if op.tag() == DiffTag::Replace => {
                    one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count()
                }
                _ => 0,
            };
            if op.tag() == DiffTag::Equal {
                made.extend(older.iter().map(|line| format!(" {}", excerpt(line, 0))));
                continue;
            }
            made.extend(older.iter().map(|line| format!("-{}", excerpt(line, common))));
            made.extend(newer.iter().map(|line| format!("+{}", excerpt(line, common))));
        }
    }
    // The last line of one of them lacks its end.
    if older == newer {
        made.push("(only the end of the last line differs)".to_owned());
    }
    if made.len() > MAX_LINES {
        let n_more = made.len() - MAX_LINES;
        made.truncate(MAX_LINES);
        made.push(format!("[... {n_more} more lines ...]"));
    }
    made
}

/// A line, or the part of a long one around a letter.
fn excerpt(line: &str, at: usize) -> String {
    let n = line.chars().count();
    if n <= MAX_LETTERS {
        return line.to_owned();
    }
    let begin = at.saturating_sub(N_BEFORE).min(n - MAX_LETTERS);
    let part: String = line.chars().skip(begin).take(MAX_LETTERS).collect();
    let (before, after) = (if begin > 0 { "..." } else { "" }, if begin + MAX_LETTERS < n { "..." } else { "" });
    format!("{before}{part}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(passing: &str, failing: &str, expected: &[&str]) {
        assert_eq!(lines(passing, failing)[2..], *expected);
    }

    #[test]
    fn only_lines_around_the_difference_are_printed() {
        let text = |third: &str| format!("1\n2\n{third}\n4\n5\n6\n7\n");
        check(&text("a"), &text("b"), &["@@ -1,5 +1,5 @@", " 1", " 2", "-a", "+b", " 4", " 5"]);
        check("", "a\n", &["@@ -0,0 +1,1 @@", "+a"]);
        check("a", "a\n", &["(only the end of the last line differs)"]);
    }

    #[test]
    fn a_long_line_is_cut_around_the_difference() {
        let long = |letter: &str| format!("{}{letter}{}", "x".repeat(500), "y".repeat(500));
        let made = lines(&long("a"), &long("b"));
        assert!(made[3].starts_with("-...xxx") && made[3].contains("xay") && made[3].ends_with("y..."), "{made:?}");
        assert!(made[4].contains("xby") && made[4].len() < 200);
    }
}
