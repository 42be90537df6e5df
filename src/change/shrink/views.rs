//! Divisions of a text, from the coarsest to the finest: blocks, lines, syntax, tags, brackets, tokens, bytes.
//!
//! No division needs a text without errors.

mod brackets;
mod lines;
mod syntax;
mod tags;

use crate::shrink::candidate::PartForm;
use crate::shrink::removal::{RemovalNode, TextDivision};
pub use crate::shrink::views::lines::pieces;
use std::ops::Range;

/// Divides a text; `None` if the division does not fit it.
pub type TextDivider = Box<dyn Fn(&[u8]) -> Option<TextDivision>>;

/// The divisions for a part down to tokens, with the name of their units.
pub fn coarse(form: PartForm) -> Vec<(&'static str, TextDivider)> {
    match form {
        PartForm::Words => vec![
            ("words", Box::new(|text: &[u8]| Some(flat(pieces(text, 0))))),
            ("tokens", Box::new(|text: &[u8]| Some(tokens(text)))),
        ],
        PartForm::File(language) => {
            let mut views: Vec<(&'static str, TextDivider)> = vec![("blocks", Box::new(blocks))];
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
fn blocks(text: &[u8]) -> Option<TextDivision> {
    fn divide(division: &mut TextDivision, bytes: Range<usize>, lengths: &[usize]) -> Vec<usize> {
        let Some((length, shorter)) = lengths.split_first() else { return Vec::new() };
        let starts = bytes.clone().step_by(*length);
        let blocks = starts.map(|start| {
            let block = start..bytes.end.min(start + length);
            let children = divide(division, block.clone(), shorter);
            division.add(RemovalNode { bytes: block, children, extras: Vec::new() })
        });
        blocks.collect()
    }
    let mut division = TextDivision::default();
    division.roots = divide(&mut division, 0..text.len(), &BLOCKS);
    text.contains(&0).then_some(division)
}

/// Words, numbers, runs of white space, and single other characters.
fn tokens(text: &[u8]) -> TextDivision {
    flat(token_ranges(text))
}

/// The runs of 2 to [`MAX_RUN`] tokens, the longest first; `None` for a text with more than [`MAX_TOKENS_IN_RUNS`].
pub fn runs_of_tokens(text: &[u8]) -> Option<TextDivision> {
    let tokens = token_ranges(text);
    if tokens.len() > MAX_TOKENS_IN_RUNS {
        return None;
    }
    let runs = (2..=MAX_RUN).rev().flat_map(|n| tokens.windows(n));
    let extras = runs.map(<[_]>::to_vec).collect();
    Some(TextDivision {
        nodes: vec![RemovalNode { bytes: 0..text.len(), children: Vec::new(), extras }],
        roots: vec![0],
    })
}

/// Single bytes.
pub fn bytes(text: &[u8]) -> TextDivision {
    flat((0..text.len()).map(|at| at..at + 1).collect())
}

/// The lengths of the blocks of binary files.
const BLOCKS: [usize; 6] = [1 << 20, 1 << 16, 1 << 12, 1 << 9, 1 << 6, 1 << 3];

/// The longest run of tokens that is removed at once although none of them can be removed alone.
const MAX_RUN: usize = 6;

/// Runs of tokens are removed from a text with at most this many.
const MAX_TOKENS_IN_RUNS: usize = 64;

fn flat(ranges: Vec<Range<usize>>) -> TextDivision {
    let roots = (0..ranges.len()).collect();
    TextDivision { nodes: ranges.into_iter().map(RemovalNode::leaf).collect(), roots }
}

/// The ranges of the tokens, which cover the text.
pub fn token_ranges(text: &[u8]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut begin = 0;
    for end in 1..=text.len() {
        if end == text.len() || kind(text[end - 1]) != kind(text[end]) || kind(text[end]) == ViewKind::Other {
            ranges.push(begin..end);
            begin = end;
        }
    }
    ranges
}

#[derive(PartialEq, Eq)]
enum ViewKind {
    Word,
    Space,
    Other,
}

fn kind(byte: u8) -> ViewKind {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | 0x80.. => ViewKind::Word,
        b' ' | b'\t' | b'\n' | b'\r' => ViewKind::Space,
        _ => ViewKind::Other,
    }
}
