//! Divisions of a text, from the coarsest to the finest: lines, syntax, tags, brackets, tokens, bytes.
//!
//! No division needs a text without errors.

mod brackets;
mod lines;
mod syntax;
mod tags;

use crate::shrink::candidate::Form;
use crate::shrink::removal::Division;
use crate::shrink::removal::Node;
use std::ops::Range;

/// Divides a text; `None` if the division does not fit it.
pub type Divide = Box<dyn Fn(&[u8]) -> Option<Division>>;

/// The divisions for a part down to brackets, with the name of their units.
pub fn coarse(form: Form) -> Vec<(&'static str, Divide)> {
    match form {
        Form::Words => vec![("words", Box::new(|text: &[u8]| Some(flat(lines::pieces(text, 0)))))],
        Form::File(language) => {
            let mut views: Vec<(&'static str, Divide)> = vec![("lines", Box::new(|text| Some(lines::lines(text))))];
            if let Some(language) = language {
                views.push(("nodes of the syntax", Box::new(|text| syntax::nodes(language, text))));
            }
            views.push(("tags", Box::new(tags::tags)));
            views.push(("brackets", Box::new(|text| Some(brackets::brackets(text)))));
            views
        }
    }
}

/// Words, numbers, runs of white space, and single other characters.
pub fn tokens(text: &[u8]) -> Division {
    flat(token_ranges(text))
}

/// Single bytes.
pub fn bytes(text: &[u8]) -> Division {
    flat((0..text.len()).map(|at| at..at + 1).collect())
}

fn flat(ranges: Vec<Range<usize>>) -> Division {
    let roots = (0..ranges.len()).collect();
    Division { nodes: ranges.into_iter().map(Node::leaf).collect(), roots }
}

/// The ranges of the tokens, which cover the text.
pub fn token_ranges(text: &[u8]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut begin = 0;
    for end in 1..=text.len() {
        if end == text.len() || kind(text[end - 1]) != kind(text[end]) || kind(text[end]) == Kind::Other {
            ranges.push(begin..end);
            begin = end;
        }
    }
    ranges
}

#[derive(PartialEq, Eq)]
enum Kind {
    Word,
    Space,
    Other,
}

fn kind(byte: u8) -> Kind {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | 0x80.. => Kind::Word,
        b' ' | b'\t' | b'\n' | b'\r' => Kind::Space,
        _ => Kind::Other,
    }
}
