//! A patch without what changes only layout or comments.
//!
//! The lines that two versions have otherwise are compared by their tokens, and a part of them that has the same tokens in
//! both is one that both have. Whether a hunk begins inside of a comment is judged by its lines.

use crate::explain::source_text::tokens;
use idd_base::difference::difference;
use similar::{Algorithm, DiffOp};
use std::ops::Range;

/// Changed lines with more tokens are compared line by line.
const MAX_TOKENS: usize = 20_000;

/// The ranges of lines in the head of a hunk: in the older version, and in the newer one, each its first line and its length.
pub fn ranges(head: &str) -> Option<((u32, u32), (u32, u32))> {
    let range = |text: &str| {
        let (begin, n) = text.split_once(',').unwrap_or((text, "1"));
        (begin.parse::<u32>().unwrap_or(0), n.parse::<u32>().unwrap_or(0))
    };
    let mut words = head.strip_prefix("@@ -")?.split([' ', '+']).filter(|word| !word.is_empty());
    Some((range(words.next().unwrap_or("0")), range(words.next().unwrap_or("0"))))
}

/// A line of a hunk: its mark, its text, and its tokens.
struct HunkLine<'p> {
    mark: char,
    text: &'p str,
    tokens: Vec<String>,
}

/// A patch in which lines that change only layout or comments are lines that both versions have.
pub fn without_layout(patch: &str) -> String {
    let mut kept = String::new();
    let mut lines = patch.lines();
    while let Some(line) = lines.next() {
        let Some((old, new)) = ranges(line) else {
            add(&mut kept, "", line);
            continue;
        };
        let mut left = (old.1, new.1);
        let mut hunk = Vec::new();
        while left != (0, 0) {
            let Some(line) = lines.next() else { break };
            let (mark, text) = line.split_at_checked(1).unwrap_or((" ", ""));
            let mark = mark.chars().next().filter(|mark| "+-\\".contains(*mark)).unwrap_or(' ');
            if mark == '\\' {
                continue;
            }
            let count = |left: u32, other: char| if mark == other { left } else { left.saturating_sub(1) };
            left = (count(left.0, '+'), count(left.1, '-'));
            hunk.push(HunkLine { mark, text, tokens: Vec::new() });
        }
        for side in ['-', '+'] {
            tokenise(&mut hunk, side);
        }
        let mut changed = String::new();
        for group in hunk.chunk_by(|a, b| (a.mark == ' ') == (b.mark == ' ')) {
            if group[0].mark == ' ' {
                add_all(&mut changed, " ", group.iter());
            } else {
                write(&mut changed, group);
            }
        }
        let n_old = changed.lines().filter(|line| !line.starts_with('+')).count();
        add(&mut kept, "", &format!("@@ -{},{n_old} +{},{} @@", old.0, new.0, new.1));
        kept.push_str(&changed);
    }
    kept
}

fn add(text: &mut String, mark: &str, line: &str) {
    text.push_str(mark);
    text.push_str(line);
    text.push('\n');
}

fn add_all<'p: 'l, 'l>(text: &mut String, mark: &str, lines: impl Iterator<Item = &'l HunkLine<'p>>) {
    for line in lines {
        add(text, mark, line.text);
    }
}

/// Finds the tokens of the lines of one version.
fn tokenise(hunk: &mut [HunkLine<'_>], side: char) {
    let mut lines: Vec<&mut HunkLine<'_>> =
        hunk.iter_mut().filter(|line| line.mark == ' ' || line.mark == side).collect();
    let text: Vec<&str> = lines.iter().map(|line| line.text).collect();
    for (line, tokens) in lines.iter_mut().zip(tokens(&text.join("\n"))) {
        line.tokens = tokens;
    }
}

/// Writes lines that only one version has.
fn write(patch: &mut String, group: &[HunkLine<'_>]) {
    let old: Vec<&HunkLine<'_>> = group.iter().filter(|line| line.mark == '-' && !line.tokens.is_empty()).collect();
    let new: Vec<&HunkLine<'_>> = group.iter().filter(|line| line.mark == '+').collect();
    let with_code: Vec<usize> = (0..new.len()).filter(|at| !new[*at].tokens.is_empty()).collect();
    let tokens = |lines: &[&HunkLine<'_>]| lines.iter().map(|line| line.tokens.clone()).collect::<Vec<_>>();
    let ours: Vec<Vec<String>> = with_code.iter().map(|at| new[*at].tokens.clone()).collect();
    let mut at = 0;
    for (gone, come) in differing(&tokens(&old), &ours) {
        // The code is missing behind comments that only stand in its place.
        let comments = if ours.is_empty() { new.len() } else { 0 };
        let begin = with_code[come.clone()].first().copied().unwrap_or(at.max(comments));
        for line in &new[at..begin] {
            add(patch, if ours.is_empty() && !line.text.trim().is_empty() { "+" } else { " " }, line.text);
        }
        add_all(patch, "-", old[gone].iter().copied());
        at = with_code[come].last().map_or(begin, |last| last + 1);
        add_all(patch, "+", new[begin..at].iter().copied());
    }
    add_all(patch, " ", new[at..].iter().copied());
}

/// The parts of two texts that have other tokens, as ranges of lines; all lines have tokens.
fn differing(old: &[Vec<String>], new: &[Vec<String>]) -> Vec<(Range<usize>, Range<usize>)> {
    let n_tokens = |lines: &[Vec<String>]| lines.iter().map(Vec::len).sum::<usize>();
    let is_long = n_tokens(old) + n_tokens(new) > MAX_TOKENS;
    // Tokens, or lines, and the number of them before each line.
    let units = |lines: &[Vec<String>]| -> (Vec<String>, Vec<usize>) {
        let lines = lines.iter().map(|line| if is_long { vec![line.join(" ")] } else { line.clone() });
        let mut begins = vec![0];
        let all = lines.inspect(|line| begins.push(begins[begins.len() - 1] + line.len())).flatten().collect();
        (all, begins)
    };
    let ((ours, our_begins), (theirs, their_begins)) = (units(old), units(new));
    // Where a line begins in both with the same token.
    let mut found = Vec::new();
    let mut from = (0, 0);
    let mut is_same = true;
    let mut cut = |(i, j): (usize, usize), is_same: &mut bool| {
        let (Ok(to_old), Ok(to_new)) = (our_begins.binary_search(&i), their_begins.binary_search(&j)) else { return };
        if !*is_same && (to_old, to_new) != from {
            found.push((from.0..to_old, from.1..to_new));
        }
        (from, *is_same) = ((to_old, to_new), true);
    };
    for op in difference(Algorithm::Myers, &ours, &theirs) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            (0..=len).for_each(|n| cut((old_index + n, new_index + n), &mut is_same));
        } else {
            cut((op.old_range().start, op.new_range().start), &mut is_same);
            is_same = false;
            cut((op.old_range().end, op.new_range().end), &mut is_same);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of changed lines.
    fn check(lines: &[&str], expected: &[&str]) {
        let n = |mark: char| lines.iter().filter(|line| !line.starts_with(mark)).count();
        let patch = format!("--- a/x\n+++ b/x\n@@ -1,{} +1,{} @@\n{}\n", n('+'), n('-'), lines.join("\n"));
        let left = without_layout(&patch);
        let changed: Vec<&str> = left.lines().skip(3).filter(|line| !line.starts_with(' ')).collect();
        assert_eq!(changed, expected, "{patch}");
        let n_new = left.lines().skip(3).filter(|line| !line.starts_with('-')).count();
        assert_eq!(n_new, n('-'), "{left}");
    }

    #[test]
    fn layout_and_comments_are_no_change() {
        check(&["-if (a) {", "+if (a)", "+{", " b();"], &[]);
        check(&["-  \t", "+", "-call(a, // first", "-    b);", "+call(a, b);"], &[]);
        check(&["-/* Old", "- * text. */", "+// New.", " a();"], &[]);
        check(&[" /**", "- * Old.", "+ * New.", "  */"], &[]);
        check(&["- * Old.", "+ * New.", "  */", " a();"], &[]);
        check(&[" int a = b", "-    * c;", "+    * d;"], &["-    * c;", "+    * d;"]);
        check(&["-say(\"a  b\");", "+say(\"a b\");"], &["-say(\"a  b\");", "+say(\"a b\");"]);
        check(&["-a = b + +c;", "+a = b ++c;"], &["-a = b + +c;", "+a = b ++c;"]);
    }

    #[test]
    fn what_is_beside_changed_layout_is_a_change() {
        check(&["-", "-if (a) {", "-  return;", "-}", "+  ", " b();"], &["-if (a) {", "-  return;", "-}"]);
        check(&["-a( );", "-b(1);", "-c( );", "+a();", "+b(2);", "+c();"], &["-b(1);", "+b(2);"]);
        check(&["-b = 1;", "-c = 1;", "+b = 2;", "+// Why.", "+c = 2;"], &["-b = 1;", "+b = 2;", "-c = 1;", "+c = 2;"]);
        check(&["-a();", "-// Old.", "+", "+// No call.", " b();"], &["+// No call.", "-a();"]);
        check(&["-call(a,", "-    b);", "+call(a, b, c);"], &["-call(a,", "-    b);", "+call(a, b, c);"]);
    }
}
