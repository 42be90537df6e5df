//! Rows of a terminal: sentences are broken, other text is cut.

use unicode_width::UnicodeWidthChar;

/// What stands for the rest of a row that is cut.
const MORE: char = '…';

/// A row cut to so many columns. Escape sequences take none, and those behind the cut are kept.
pub fn cut(row: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns.filter(|columns| width(row) > *columns) else { return row.to_owned() };
    let mut kept = String::with_capacity(row.len());
    let (mut at, mut is_in_sequence, mut is_cut) = (0, false, false);
    for letter in row.chars() {
        is_in_sequence |= letter == '\x1b';
        if is_in_sequence {
            kept.push(letter);
            is_in_sequence = letter != 'm';
            continue;
        }
        at += letter.width().unwrap_or(0);
        if at < columns {
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
    rows.iter().map(|row| cut(row, Some(columns))).collect()
}

/// The columns of a text.
pub fn width(text: &str) -> usize {
    let mut is_in_sequence = false;
    let mut columns = 0;
    for letter in text.chars() {
        is_in_sequence |= letter == '\x1b';
        if is_in_sequence {
            is_in_sequence = letter != 'm';
        } else {
            columns += letter.width().unwrap_or(0);
        }
    }
    columns
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
    fn a_sentence_is_broken_between_words_and_goes_on_below_its_beginning() {
        assert_eq!(broken("fix: ", "one two three", Some(12)), ["fix: one two", "     three"]);
        assert_eq!(broken("fix: ", "abcdefghijk two", Some(10)), ["fix: abcd…", "     two"]);
        assert_eq!(broken("fix: ", "one two", None), ["fix: one two"]);
        assert_eq!(broken("fix: ", "", Some(10)), ["fix: "]);
    }
}
