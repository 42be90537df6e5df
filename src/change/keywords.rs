//! Keywords that a version control system expands in a text: `$Id: a.c,v 1.2 2004/05/31 $`. They are not part of a
//! change.

use std::borrow::Cow;
use std::ops::Range;

const NAMES: [&str; 6] = ["Id", "Revision", "Date", "Header", "Author", "Source"];

/// The expanded keywords of a text: the index of the name, and the range of its value, from the colon on.
fn values(text: &[u8]) -> Vec<(usize, Range<usize>)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(dollar) = text[at..].iter().position(|byte| *byte == b'$') {
        at += dollar + 1;
        let begins = |name: &&str| text[at..].strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b": "));
        let Some(name) = NAMES.iter().position(begins) else { continue };
        let start = at + NAMES[name].len();
        let end = text[start..].iter().position(|byte| matches!(byte, b'$' | b'\n'));
        if let Some(end) = end.map(|length| start + length).filter(|end| text[*end] == b'$') {
            found.push((name, start..end));
            at = end + 1;
        }
    }
    found
}

/// A text without the values of its keywords: `$Id$`.
pub(super) fn without_keywords(text: &[u8]) -> Cow<'_, [u8]> {
    let values = values(text);
    if values.is_empty() {
        return text.into();
    }
    replaced(text, values.into_iter().map(|(_, range)| (range, &[][..]))).into()
}

/// A text with the keyword values of `ours`: its first `Id` gets the value of the first `Id` there, and so on.
///
/// Keywords stay as they are if `ours` does not have the same number of them.
pub fn with_keywords_of(text: &[u8], ours: &[u8]) -> Vec<u8> {
    let (here, there) = (values(text), values(ours));
    let of = |values: &[(usize, Range<usize>)], name: usize| -> Vec<Range<usize>> {
        values.iter().filter(|(other, _)| *other == name).map(|(_, range)| range.clone()).collect()
    };
    let mut edits = Vec::new();
    for name in 0..NAMES.len() {
        let (here, there) = (of(&here, name), of(&there, name));
        if here.len() == there.len() {
            edits.extend(here.into_iter().zip(there.into_iter().map(|range| &ours[range])));
        }
    }
    edits.sort_by_key(|(range, _)| range.start);
    replaced(text, edits.into_iter())
}

/// Replaces ranges of a text. The ranges ascend and do not overlap.
pub(super) fn replaced<'a>(text: &[u8], edits: impl Iterator<Item = (Range<usize>, &'a [u8])>) -> Vec<u8> {
    let mut result = Vec::with_capacity(text.len());
    let mut from = 0;
    for (range, new) in edits {
        result.extend_from_slice(&text[from..range.start]);
        result.extend_from_slice(new);
        from = range.end;
    }
    result.extend_from_slice(&text[from..]);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, ours: &str, expected: &str) {
        assert_eq!(String::from_utf8(with_keywords_of(text.as_bytes(), ours.as_bytes())).unwrap(), expected);
    }

    #[test]
    fn keywords_get_the_values_of_ours_one_by_one() {
        check("a $Id: x 1$ b\n$Date: 1$", "$Date: 2 $ $Id: y 2 $", "a $Id: y 2 $ b\n$Date: 2 $");
        check("$Id: 1$ $Id: 2$", "$Id: 3$ $Id: 4$", "$Id: 3$ $Id: 4$");
    }

    #[test]
    fn what_is_no_keyword_of_both_stays() {
        check("$Id: 1$ $Id: 2$", "$Id: 3$", "$Id: 1$ $Id: 2$");
        check("$Id$ $Idea: 1$ $Id: 1\n$", "$Id: 3$", "$Id$ $Idea: 1$ $Id: 1\n$");
        check("$", "$Id: 3$", "$");
    }

    #[test]
    fn without_keywords_no_value_is_left() {
        assert_eq!(&*without_keywords(b"\"$Id: a.c,v 1.2 $ $Date: 3$\""), b"\"$Id$ $Date$\"");
    }
}
