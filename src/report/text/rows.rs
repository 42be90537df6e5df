//! Rows of a terminal: sentences are broken, other text is cut.

use crate::escape::text_without_commands;
use unicode_width::UnicodeWidthChar;

/// What stands for the rest of a row that is cut.
const MORE: char = '…';

/// The character that makes the one before it an emoji, which takes two columns.
const AS_EMOJI: char = '\u{fe0f}';

/// A row cut to so many columns. Escape sequences take none, and those behind the cut are kept.
pub fn cut(row: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns.filter(|columns| width(row) > *columns) else { return row.to_owned() };
    let mut kept = String::with_capacity(row.len());
    let (mut at, mut is_cut) = (0, false);
    for Glyph { letter, columns: n_columns, .. } in glyphs(row) {
        at += n_columns.unwrap_or(0);
        if n_columns.is_none() || at < columns {
            kept.push(letter);
        } else if !is_cut {
            kept.push(MORE);
            is_cut = true;
        }
    }
    kept
}

/// A sentence behind a label, in rows of at most so many columns; the rows after the first one begin below the sentence. A
/// word that is longer than a row is cut.
pub fn broken(label: &str, sentence: &str, columns: Option<usize>) -> Vec<String> {
    let begin = width(label);
    let Some(columns) = columns else { return vec![format!("{label}{sentence}")] };
    let mut rows = vec![label.to_owned()];
    let mut at = begin;
    for word in sentence.split(' ').filter(|word| !word.is_empty()) {
        let blank = usize::from(at > begin);
        if at > begin && at + blank + width(word) > columns {
            rows.push(" ".repeat(begin));
            at = begin;
        }
        if let Some(row) = rows.last_mut() {
            let blank = if at > begin { " " } else { "" };
            at += blank.len() + width(word);
            *row += blank;
            *row += word;
        }
    }
    rows.iter().map(|row| text_without_commands(cut(row, Some(columns)))).collect()
}

/// The columns of a text.
pub fn width(text: &str) -> usize {
    glyphs(text).filter_map(|glyph| glyph.columns).sum()
}

/// A letter of a text.
struct Glyph {
    /// The byte at which it begins.
    at: usize,
    letter: char,
    /// Its columns: two if the next letter makes it an emoji. `None` in an escape sequence.
    columns: Option<usize>,
}

fn glyphs(text: &str) -> impl Iterator<Item = Glyph> {
    let mut is_in_sequence = false;
    let mut letters = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (at, letter) = letters.next()?;
        is_in_sequence |= letter == '\x1b';
        let columns = match letter.width().unwrap_or(0) {
            _ if is_in_sequence => None,
            1 if letters.peek().is_some_and(|(_, next)| *next == AS_EMOJI) => Some(2),
            columns => Some(columns),
        };
        is_in_sequence &= letter != 'm';
        Some(Glyph { at, letter, columns })
    })
}

/// Lines broken at so many columns: between words if there are some, else anywhere. What goes on is indented two columns more
/// than its line.
pub fn fitted(text: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns else { return text.to_owned() };
    let mut fitted = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        if width(line) <= columns {
            fitted.push_str(line);
        } else {
            fit(line, columns, &mut fitted);
        }
        fitted.push_str(end);
    }
    text_without_commands(fitted)
}

/// Breaks a line that is longer than a row.
fn fit(line: &str, columns: usize, fitted: &mut String) {
    let indent = (width(line) - width(line.trim_start_matches(' ')) + 2).min(columns / 2);
    let mut rest = line;
    let mut begin = 0;
    while begin + width(rest) > columns {
        let at = end_of_row(rest, columns.saturating_sub(begin).max(2), begin == 0);
        fitted.push_str(rest[..at].trim_end_matches(' '));
        fitted.push('\n');
        fitted.push_str(&" ".repeat(indent));
        rest = rest[at..].trim_start_matches(' ');
        begin = indent;
    }
    fitted.push_str(rest);
}

/// The byte at which the first row of a line ends: behind the last blank in it, else in a word. The blanks at the beginning
/// of a whole line are no place to break it.
fn end_of_row(line: &str, columns: usize, is_whole: bool) -> usize {
    let first = if is_whole { line.len() - line.trim_start_matches(' ').len() } else { 0 };
    let (mut width, mut blank, mut end) = (0, None, 0);
    for Glyph { at, letter, columns: n_columns } in glyphs(line) {
        let behind = at + letter.len_utf8();
        width += n_columns.unwrap_or(0);
        if letter == ' ' && n_columns.is_some() && at > first {
            blank = Some(behind);
        }
        if width > columns {
            break;
        }
        end = behind;
    }
    let least = line.chars().next().map_or(0, char::len_utf8);
    blank.unwrap_or(end).max(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_cut_at_its_columns_and_keeps_its_colours() {
        assert_eq!(cut("abcdef", Some(6)), "abcdef");
        assert_eq!(cut("abcdefg", Some(6)), "abcde…");
        assert_eq!(cut("\x1b[31mabcdefg\x1b[m", Some(4)), "\x1b[31mabc…\x1b[m");
        assert_eq!(cut("漢字漢字", Some(5)), "漢字…");
        assert_eq!(cut("abcdefg", None), "abcdefg");
    }

    #[test]
    fn an_emoji_that_is_made_of_two_characters_takes_two_columns() {
        assert_eq!(width("\u{26a0}\u{fe0f}x"), 3);
        assert_eq!(width("\u{26a0}x"), 2);
        assert_eq!(cut("ab\u{26a0}\u{fe0f}x", Some(4)), "ab…");
    }

    #[test]
    fn a_long_line_is_broken_and_loses_no_word() {
        assert_eq!(fitted("ab\n  one two three four\n", Some(12)), "ab\n  one two\n    three\n    four\n");
        assert_eq!(fitted("abcdefghijkl\n", Some(6)), "abcdef\n  ghij\n  kl\n");
        assert_eq!(fitted("\x1b[31mone two\x1b[m", Some(4)), "\x1b[31mone\n  tw\n  o\x1b[m");
        assert_eq!(fitted("one two three\n", None), "one two three\n");
        // What was harmless in the middle of a line is none at its beginning.
        assert_eq!(fitted("one two ::error::x\n", Some(12)), "one two\n  \\x3a:error::x\n");
        assert_eq!(broken("why: ", "one ::error::x", Some(15)), ["why: one", "     \\x3a:error::x"]);
    }

    #[test]
    fn a_sentence_is_broken_between_words_and_goes_on_below_its_beginning() {
        assert_eq!(broken("fix: ", "one two three", Some(12)), ["fix: one two", "     three"]);
        assert_eq!(broken("fix: ", "abcdefghijk two", Some(10)), ["fix: abcd…", "     two"]);
        assert_eq!(broken("fix: ", "one two", None), ["fix: one two"]);
        assert_eq!(broken("fix: ", "", Some(10)), ["fix: "]);
    }
}
