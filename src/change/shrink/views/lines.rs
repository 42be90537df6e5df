//! Blank-line blocks, lines with the deeper lines below them, and single lines.

use crate::shrink::removal::{RemovalNode, TextDivision};
use std::ops::Range;

/// The pieces that each end with `end`; the last one may lack it.
pub fn pieces(text: &[u8], end: u8) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut begin = 0;
    for piece in text.split_inclusive(|byte| *byte == end) {
        pieces.push(begin..begin + piece.len());
        begin += piece.len();
    }
    pieces
}

/// A line with deeper lines below it is a node with the line and them as children, and so is the line after them if it
/// begins with a closing bracket or tag; blank lines divide the outermost
/// nodes into blocks.
pub fn lines(text: &[u8]) -> TextDivision {
    let mut division = TextDivision::default();
    let lines = pieces(text, b'\n');
    let depths: Vec<Option<usize>> = lines.iter().map(|line| depth(&text[line.clone()])).collect();
    let is_closing = |line: &Range<usize>| is_closing(&text[line.clone()]);
    let outermost = nested(&mut division, &lines, &depths, &is_closing);
    let is_blank = |node: &usize, division: &TextDivision| {
        text[division.nodes[*node].bytes.clone()].iter().all(u8::is_ascii_whitespace)
    };
    let mut blocks: Vec<Vec<usize>> = vec![Vec::new()];
    for node in outermost {
        let was_blank = blocks.last().and_then(|block| block.last()).is_some_and(|last| is_blank(last, &division));
        if was_blank && !is_blank(&node, &division) {
            blocks.push(Vec::new());
        }
        if let Some(block) = blocks.last_mut() {
            block.push(node);
        }
    }
    if let [_] = blocks[..] {
        division.roots = blocks.remove(0);
        return division;
    }
    for block in blocks {
        let root = match block[..] {
            [only] => only,
            [first, .., last] => {
                let bytes = division.nodes[first].bytes.start..division.nodes[last].bytes.end;
                division.add(RemovalNode { bytes, children: block, extras: Vec::new() })
            }
            [] => continue,
        };
        division.roots.push(root);
    }
    division
}

/// The width of the indentation; `None` for a blank line.
fn depth(line: &[u8]) -> Option<usize> {
    let is_indent = |byte: &&u8| **byte == b' ' || **byte == b'\t';
    let depth = line.iter().take_while(is_indent).count();
    line[depth..].iter().any(|byte| !byte.is_ascii_whitespace()).then_some(depth)
}

fn is_closing(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    line.starts_with(b"</") || line.first().is_some_and(|byte| b"}])".contains(byte))
}

/// The nodes of these lines; returns the outermost ones.
fn nested(
    division: &mut TextDivision,
    lines: &[Range<usize>],
    depths: &[Option<usize>],
    is_closing: &dyn Fn(&Range<usize>) -> bool,
) -> Vec<usize> {
    /// A line that is open for deeper ones.
    struct Open {
        depth: usize,
        line: usize,
        below: Vec<usize>,
    }
    fn close(division: &mut TextDivision, open: Open, lines: &[Range<usize>]) -> usize {
        let line = division.add(RemovalNode::leaf(lines[open.line].clone()));
        let Some(last) = open.below.last() else { return line };
        let bytes = lines[open.line].start..division.nodes[*last].bytes.end;
        let children = [line].into_iter().chain(open.below).collect();
        division.add(RemovalNode { bytes, children, extras: Vec::new() })
    }
    let mut outermost = Vec::new();
    let mut stack: Vec<Open> = Vec::new();
    let put = |stack: &mut Vec<Open>, outermost: &mut Vec<usize>, node: usize| match stack.last_mut() {
        Some(open) => open.below.push(node),
        None => outermost.push(node),
    };
    'lines: for (line, depth) in depths.iter().enumerate() {
        let Some(depth) = *depth else {
            // A blank line belongs to the outermost list, so that it divides blocks, unless it is inside.
            let next = depths[line..].iter().flatten().next();
            while stack.last().is_some_and(|open| next.is_none_or(|next| open.depth >= *next)) {
                let Some(open) = stack.pop() else { break };
                let node = close(division, open, lines);
                put(&mut stack, &mut outermost, node);
            }
            let node = division.add(RemovalNode::leaf(lines[line].clone()));
            put(&mut stack, &mut outermost, node);
            continue;
        };
        while stack.last().is_some_and(|open| open.depth >= depth) {
            let Some(mut open) = stack.pop() else { break };
            if open.depth == depth && !open.below.is_empty() && is_closing(&lines[line]) {
                let last = division.add(RemovalNode::leaf(lines[line].clone()));
                open.below.push(last);
                let node = close(division, open, lines);
                put(&mut stack, &mut outermost, node);
                continue 'lines;
            }
            let node = close(division, open, lines);
            put(&mut stack, &mut outermost, node);
        }
        stack.push(Open { depth, line, below: Vec::new() });
    }
    while let Some(open) = stack.pop() {
        let node = close(division, open, lines);
        put(&mut stack, &mut outermost, node);
    }
    outermost
}
