//! Divisions of a text, from the coarsest to the finest: blocks, lines, syntax, tags, brackets, tokens, bytes.
//!
//! No division needs a text without errors.

mod brackets;
mod lines;
mod syntax;
mod tags;

use crate::shrink::candidate::Form;
use crate::shrink::removal::{Division, Node};
use std::ops::Range;

/// Divides a text; `None` if the division does not fit it.
pub type Divide = Box<dyn Fn(&[u8]) -> Option<Division>>;

/// The divisions for a part down to tokens, with the name of their units.
pub fn coarse(form: Form) -> Vec<(&'static str, Divide)> {
    match form {
        Form::Words => vec![
            ("words", Box::new(|text: &[u8]| Some(flat(lines::pieces(text, 0))))),
            ("tokens", Box::new(|text: &[u8]| Some(tokens(text)))),
        ],
        Form::File(language) => {
            let mut views: Vec<(&'static str, Divide)> = vec![("blocks", Box::new(blocks))];
            views.push(("lines", Box::new(|text| Some(lines::lines(text)))));
            if let Some(language) = language {
                views.push(("nodes of the syntax", Box::new(|text| syntax::nodes(language, text))));
            }
            views.push(("tags", Box::new(tags::tags)));
            views.push(("brackets", Box::new(|text| Some(brackets::brackets(text)))));
            views.push(("tokens", Box::new(|text| Some(tokens(text)))));
            views
        }
    }
}

/// Blocks of a binary file whose lengths are powers of two, the smaller inside the larger; `None` for a text.
fn blocks(text: &[u8]) -> Option<Division> {
    fn divide(division: &mut Division, bytes: Range<usize>, lengths: &[usize]) -> Vec<usize> {
        let Some((length, shorter)) = lengths.split_first() else { return Vec::new() };
        let starts = bytes.clone().step_by(*length);
        let blocks = starts.map(|start| {
            let block = start..bytes.end.min(start + length);
            let children = divide(division, block.clone(), shorter);
            division.add(Node { bytes: block, children, extras: Vec::new() })
        });
        blocks.collect()
    }
    let mut division = Division::default();
    division.roots = divide(&mut division, 0..text.len(), &BLOCKS);
    text.contains(&0).then_some(division)
}

/// Words, numbers, runs of white space, and single other characters.
fn tokens(text: &[u8]) -> Division {
    flat(token_ranges(text))
}

/// The runs of 2 to [`MAX_RUN`] tokens, the longest first; `None` for a text with more than [`MAX_TOKENS_IN_RUNS`].
pub fn runs_of_tokens(text: &[u8]) -> Option<Division> {
    let tokens = token_ranges(text);
    if tokens.len() > MAX_TOKENS_IN_RUNS {
        return None;
    }
    let runs = (2..=MAX_RUN).rev().flat_map(|n| tokens.windows(n));
    let extras = runs.map(<[_]>::to_vec).collect();
    Some(Division { nodes: vec![Node { bytes: 0..text.len(), children: Vec::new(), extras }], roots: vec![0] })
}

/// Single bytes.
pub fn bytes(text: &[u8]) -> Division {
    flat((0..text.len()).map(|at| at..at + 1).collect())
}

/// The lengths of the blocks of binary files.
const BLOCKS: [usize; 6] = [1 << 20, 1 << 16, 1 << 12, 1 << 9, 1 << 6, 1 << 3];

/// The longest run of tokens that is removed at once although none of them can be removed alone.
const MAX_RUN: usize = 6;

/// Runs of tokens are removed from a text with at most this many.
const MAX_TOKENS_IN_RUNS: usize = 64;

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
