//! The names that a piece of a program mentions, and the names that it assigns to. There is no parser, so it works for
//! every language.

use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub(super) struct TextNames<'text> {
    /// Every name.
    pub(super) all: BTreeSet<&'text [u8]>,
    /// The names that are assigned to.
    pub(super) assigned: BTreeSet<&'text [u8]>,
}

impl<'text> TextNames<'text> {
    /// Reads a text. Text in quotes does not count, nor does the rest of a line after an unclosed quote. Comments
    /// count.
    ///
    /// A name is assigned to if `=`, an operator with `=`, `++` or `--` follows it (an index in brackets may be
    /// between), or if `++` or `--` precedes it. Assignments through arguments of a function are not known.
    pub(super) fn of(text: &'text [u8]) -> Self {
        let mut named = Self::default();
        // The name that an operator would assign to, and whether `++` or `--` directly precedes the next name.
        let (mut last, mut is_stepped): (Option<&[u8]>, bool) = (None, false);
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            let length = rest.iter().take_while(|byte| is_word(**byte)).count();
            at += if length > 0 {
                let name = &rest[..length];
                if !name[0].is_ascii_digit() {
                    named.all.insert(name);
                    last = Some(name);
                    if is_stepped {
                        named.assigned.insert(name);
                    }
                }
                is_stepped = false;
                length
            } else if matches!(rest[0], b'"' | b'\'') {
                last = None;
                quoted(rest)
            } else if rest[0] == b'[' {
                // The names of an index are read separately.
                let length = rest.iter().take_while(|byte| !matches!(**byte, b']' | b'\n')).count();
                let inside = Self::of(&rest[1..length]);
                named.all.extend(inside.all);
                named.assigned.extend(inside.assigned);
                (length + 1).min(rest.len())
            } else if rest.starts_with(b"++") || rest.starts_with(b"--") {
                named.assigned.extend(last.take());
                is_stepped = true;
                2
            } else if let Some(length) = assignment(rest) {
                named.assigned.extend(last.take());
                length
            } else {
                if !rest[0].is_ascii_whitespace() {
                    (last, is_stepped) = (None, false);
                }
                comparison(rest).unwrap_or(1)
            };
        }
        named
    }

    /// Whether this text assigns to a name that the other one mentions.
    pub(super) fn disturbs(&self, other: &Self) -> bool {
        !self.assigned.is_disjoint(&other.all)
    }
}

/// Whether a byte can be a part of a word.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// The words and signs of a text; each sign is a token of its own.
pub(super) fn tokens(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.chunk_by(|one, two| is_word(*one) && is_word(*two)).filter(|token| !token[0].is_ascii_whitespace())
}

/// The length of the quoted text at the start.
fn quoted(text: &[u8]) -> usize {
    let mut at = 1;
    while at < text.len() && text[at] != text[0] && text[at] != b'\n' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(text.len())
}

/// The length of the assignment operator at the start of a text: `=`, `+=`, `>>=`.
fn assignment(text: &[u8]) -> Option<usize> {
    let length = text.iter().take_while(|byte| b"+-*/%&|^<>:".contains(*byte)).count();
    let is_shift = matches!(&text[..length], b"<<" | b">>" | b">>>" | b"**" | b"//");
    let is_one = length == 1 && !matches!(text[0], b'<' | b'>');
    let is_assignment = text.get(length) == Some(&b'=') && text.get(length + 1) != Some(&b'=');
    (is_assignment && (length == 0 || is_one || is_shift)).then_some(length + 1)
}

/// The length of the comparison operator at the start of a text.
fn comparison(text: &[u8]) -> Option<usize> {
    ["===", "!==", "==", "!=", "<=", ">=", "=>"].into_iter().find(|one| text.starts_with(one.as_bytes())).map(str::len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, all: &[&str], assigned: &[&str]) {
        let named = TextNames::of(text.as_bytes());
        let shown = |names: &BTreeSet<&[u8]>| {
            names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(
            (shown(&named.all), shown(&named.assigned)),
            (
                all.iter().map(|name| (*name).to_owned()).collect(),
                assigned.iter().map(|name| (*name).to_owned()).collect()
            )
        );
    }

    #[test]
    fn what_stands_before_an_assignment_is_given_a_value() {
        check("int a = b + 1;", &["a", "b", "int"], &["a"]);
        check("p->a += b; c >>= 2;", &["a", "b", "c", "p"], &["a", "c"]);
        check("a[i] = b[j++];", &["a", "b", "i", "j"], &["a", "j"]);
        check("++a; b--;", &["a", "b"], &["a", "b"]);
    }

    #[test]
    fn a_comparison_is_no_assignment() {
        check(
            "a == b || c <= d && e != f && g >= h || i === j",
            &["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"],
            &[],
        );
    }

    #[test]
    fn what_stands_in_quotes_is_not_read() {
        check("log(\"a = \\\"b\", 'c', d)", &["d", "log"], &[]);
        check("it's a = 1\nb", &["b", "it"], &[]);
        check("[", &[], &[]);
    }
}
