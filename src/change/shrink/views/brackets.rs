//! Brackets, quotes, and the items between commas, semicolons and line ends.

use crate::shrink::removal::{RemovalNode, RemovalUnit, TextDivision};
use std::ops::Range;

/// A group has at most this many inner groups that are put in its place.
const MAX_INNER: usize = 3;

/// An open bracket, and what was seen inside it.
struct OpenBracket {
    /// Where the bracket stands; `None` outside of all.
    at: Option<usize>,
    /// The byte that closes it.
    close: u8,
    /// Items that have ended.
    items: Vec<usize>,
    /// Where the item begins that has not ended.
    begin: usize,
    /// Groups inside the item that has not ended.
    groups: Vec<usize>,
    /// Where the last comma stands.
    comma: Option<usize>,
}

impl OpenBracket {
    fn new(at: Option<usize>, close: u8, begin: usize) -> Self {
        Self { at, close, items: Vec::new(), begin, groups: Vec::new(), comma: None }
    }

    /// Ends the item before `end`.
    fn end_item(&mut self, division: &mut TextDivision, text: &[u8], end: usize) {
        let groups = std::mem::take(&mut self.groups);
        if self.begin < end {
            let bytes = self.begin..end;
            // An item that is a group and nothing else needs no node of its own.
            let item = match groups[..] {
                [only] if division.nodes[only].bytes == bytes => only,
                _ => {
                    let is_ended = bytes.end - bytes.start > 1 && b",;\n".contains(&text[bytes.end - 1]);
                    let extras = insides(division, &groups, &(bytes.start..bytes.end - usize::from(is_ended)));
                    division.add(RemovalNode { bytes, children: groups, extras })
                }
            };
            self.items.push(item);
        }
        self.begin = end;
    }
}

/// Groups in brackets and quotes; inside them and outside of all the items that end with a comma, a semicolon or a line
/// end. A bracket without its counterpart is an ordinary character.
///
/// The extras of an item put the inside of one of its groups in its place. The extras of a group put a group of the same brackets inside it in its place, or remove the pair of brackets,
/// everything inside, or a last item together with the comma before it.
pub fn brackets(text: &[u8]) -> TextDivision {
    let mut division = TextDivision::default();
    let mut stack = vec![OpenBracket::new(None, 0, 0)];
    let mut at = 0;
    while let Some(byte) = text.get(at).copied() {
        let Some(top) = stack.last_mut() else { break };
        match byte {
            b'(' => stack.push(OpenBracket::new(Some(at), b')', at + 1)),
            b'[' => stack.push(OpenBracket::new(Some(at), b']', at + 1)),
            b'{' => stack.push(OpenBracket::new(Some(at), b'}', at + 1)),
            b')' | b']' | b'}' => close(&mut division, &mut stack, text, at),
            b'"' | b'\'' | b'`' => {
                if let Some(end) = quoted(text, at) {
                    let group = division.add(pair(at..at + 1, end - 1..end));
                    top.groups.push(group);
                    at = end;
                    continue;
                }
            }
            b',' => {
                top.comma = Some(at);
                top.end_item(&mut division, text, at + 1);
            }
            b';' | b'\n' => top.end_item(&mut division, text, at + 1),
            _ => {}
        }
        at += 1;
    }
    while stack.len() > 1 {
        splice(&mut stack);
    }
    if let Some(mut outer) = stack.pop() {
        outer.end_item(&mut division, text, text.len());
        division.roots = outer.items;
    }
    division
}

/// What to remove of an item, without its end, around the inside of one of its groups: the largest groups first.
fn insides(division: &TextDivision, groups: &[usize], item: &Range<usize>) -> Vec<RemovalUnit> {
    let inside = |group: &usize| {
        let group = &division.nodes[*group].bytes;
        group.start + 1..group.end - 1
    };
    let mut insides: Vec<Range<usize>> = groups.iter().map(inside).filter(|inside| !inside.is_empty()).collect();
    insides.sort_by_key(|inside| std::cmp::Reverse((inside.len(), inside.start)));
    insides.truncate(MAX_INNER);
    insides.into_iter().map(|inside| vec![item.start..inside.start, inside.end..item.end]).collect()
}

/// A group without items: its pair and its inside can be removed.
fn pair(open: Range<usize>, close: Range<usize>) -> RemovalNode {
    let inside = open.end..close.start;
    let mut extras = vec![vec![open.clone(), close.clone()]];
    if !inside.is_empty() {
        extras.insert(0, vec![inside]);
    }
    RemovalNode { bytes: open.start..close.end, children: Vec::new(), extras }
}

/// Closes the innermost bracket that the byte at `at` fits, if there is one; brackets inside it have no counterpart.
fn close(division: &mut TextDivision, stack: &mut Vec<OpenBracket>, text: &[u8], at: usize) {
    let byte = text[at];
    let Some(depth) = stack.iter().rposition(|open| open.at.is_some() && open.close == byte) else { return };
    while stack.len() > depth + 1 {
        splice(stack);
    }
    let Some(mut open) = stack.pop() else { return };
    let Some(begin) = open.at else { return };
    let comma = open.comma;
    open.end_item(division, text, at);
    let mut group = pair(begin..begin + 1, at..at + 1);
    if let (Some(comma), Some(last)) = (comma, open.items.last())
        && division.nodes[*last].bytes.start == comma + 1
    {
        let last = comma..at;
        group.extras.insert(0, RemovalUnit::from_iter(Some(last)));
    }
    group.children = open.items;
    let inner = same_inside(division, text, &group, text[begin]);
    let around = inner.into_iter().map(|inner| vec![begin..inner.start, inner.end..at + 1]);
    group.extras = around.chain(group.extras).collect();
    let group = division.add(group);
    if let Some(outer) = stack.last_mut() {
        outer.groups.push(group);
    }
}

/// The largest groups inside a node that begin with this bracket, and lie in no other such group; at most
/// [`MAX_INNER`].
fn same_inside(division: &TextDivision, text: &[u8], node: &RemovalNode, bracket: u8) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut open = node.children.clone();
    while let Some(index) = open.pop() {
        let inner = &division.nodes[index];
        if text[inner.bytes.start] == bracket && !inner.extras.is_empty() {
            found.push(inner.bytes.clone());
        } else {
            open.extend(&inner.children);
        }
    }
    found.sort_by_key(|range| std::cmp::Reverse((range.len(), range.start)));
    found.truncate(MAX_INNER);
    found
}

/// Gives what was seen inside an open bracket to the one around it.
fn splice(stack: &mut Vec<OpenBracket>) {
    let Some(open) = stack.pop() else { return };
    if let Some(outer) = stack.last_mut() {
        outer.groups.extend(open.items);
        outer.groups.extend(open.groups);
    }
}

/// The end of the quoted text that begins at `at`; `None` if the line ends before it, or if this is an apostrophe.
fn quoted(text: &[u8], at: usize) -> Option<usize> {
    let quote = text[at];
    if quote == b'\'' && at > 0 && text[at - 1].is_ascii_alphanumeric() {
        return None;
    }
    let mut end = at + 1;
    loop {
        match *text.get(end)? {
            b'\\' => end += 1,
            b'\n' if quote != b'`' => return None,
            byte if byte == quote => return Some(end + 1),
            _ => {}
        }
        end += 1;
    }
}
