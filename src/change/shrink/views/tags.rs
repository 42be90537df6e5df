//! Elements of HTML and XML: an opening tag, the content, and the closing tag.

use crate::shrink::removal::{RemovalNode, TextDivision};
use std::ops::Range;

/// A tag: `<name ...>`, `</name>`, or another thing in angle brackets.
struct Tag<'t> {
    bytes: Range<usize>,
    name: &'t [u8],
    is_closing: bool,
    /// Whether it stands by itself: `<br/>`, a comment, a declaration.
    is_whole: bool,
}

/// An element that is not closed yet.
struct OpenElement<'t> {
    tag: Tag<'t>,
    content: Vec<usize>,
}

/// The elements; `None` if there is no closing tag. An opening tag without its counterpart stands by itself.
///
/// An extra of an element removes its two tags.
pub fn tags(text: &[u8]) -> Option<TextDivision> {
    let tags = find(text);
    if !tags.iter().any(|tag| tag.is_closing) {
        return None;
    }
    let mut division = TextDivision::default();
    let mut outermost: Vec<usize> = Vec::new();
    let mut stack: Vec<OpenElement<'_>> = Vec::new();
    let mut at = 0;
    for tag in tags {
        if at < tag.bytes.start {
            let between = division.add(RemovalNode::leaf(at..tag.bytes.start));
            put(&mut stack, &mut outermost, between);
        }
        at = tag.bytes.end;
        if tag.is_whole {
            let node = tag_node(&mut division, text, &tag);
            put(&mut stack, &mut outermost, node);
        } else if !tag.is_closing {
            stack.push(OpenElement { tag, content: Vec::new() });
        } else if let Some(depth) = stack.iter().rposition(|open| open.tag.name == tag.name) {
            while stack.len() > depth + 1 {
                splice(&mut division, text, &mut stack, &mut outermost);
            }
            let Some(open) = stack.pop() else { break };
            let bytes = open.tag.bytes.start..tag.bytes.end;
            let first = tag_node(&mut division, text, &open.tag);
            let last = division.add(RemovalNode::leaf(tag.bytes.clone()));
            let children = [first].into_iter().chain(open.content).chain([last]).collect();
            let extras = vec![vec![open.tag.bytes.clone(), tag.bytes.clone()]];
            let node = division.add(RemovalNode { bytes, children, extras });
            put(&mut stack, &mut outermost, node);
        } else {
            let node = division.add(RemovalNode::leaf(tag.bytes.clone()));
            put(&mut stack, &mut outermost, node);
        }
    }
    while !stack.is_empty() {
        splice(&mut division, text, &mut stack, &mut outermost);
    }
    if at < text.len() {
        outermost.push(division.add(RemovalNode::leaf(at..text.len())));
    }
    division.roots = outermost;
    Some(division)
}

fn put(stack: &mut [OpenElement<'_>], outermost: &mut Vec<usize>, node: usize) {
    match stack.last_mut() {
        Some(open) => open.content.push(node),
        None => outermost.push(node),
    }
}

/// Makes the innermost open tag one that stands by itself.
fn splice(division: &mut TextDivision, text: &[u8], stack: &mut Vec<OpenElement<'_>>, outermost: &mut Vec<usize>) {
    let Some(open) = stack.pop() else { return };
    let tag = tag_node(division, text, &open.tag);
    for node in [tag].into_iter().chain(open.content) {
        put(stack, outermost, node);
    }
}

/// An opening tag with its attributes as children.
fn tag_node(division: &mut TextDivision, text: &[u8], tag: &Tag<'_>) -> usize {
    let mut children = Vec::new();
    let end = tag.bytes.end - 1;
    let mut at = tag.bytes.start + 1 + tag.name.len();
    while at < end && !tag.name.is_empty() {
        let mut next = at + 1;
        let mut quote = None;
        while next < end && (quote.is_some() || !text[next].is_ascii_whitespace()) {
            match text[next] {
                byte if quote == Some(byte) => quote = None,
                byte @ (b'"' | b'\'') if quote.is_none() => quote = Some(byte),
                _ => {}
            }
            next += 1;
        }
        children.push(division.add(RemovalNode::leaf(at..next)));
        at = next;
    }
    division.add(RemovalNode { bytes: tag.bytes.clone(), children, extras: Vec::new() })
}

/// The tags of a text, in order.
fn find(text: &[u8]) -> Vec<Tag<'_>> {
    let mut tags = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if text[at] != b'<' {
            at += 1;
            continue;
        }
        let rest = &text[at + 1..];
        let is_closing = rest.first() == Some(&b'/');
        let name_begin = at + 1 + usize::from(is_closing);
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-_:.".contains(byte);
        let name_end = name_begin + text[name_begin..].iter().take_while(is_name).count();
        let is_special = matches!(rest.first(), Some(b'!' | b'?'));
        let end = if rest.starts_with(b"!--") {
            rest.windows(3).position(|three| three == b"-->").map(|end| at + 1 + end + 3)
        } else if name_end > name_begin || is_special {
            end_of_tag(text, name_end)
        } else {
            None
        };
        let Some(end) = end else {
            at += 1;
            continue;
        };
        let is_whole = is_special || text[end - 2] == b'/';
        tags.push(Tag { bytes: at..end, name: &text[name_begin..name_end], is_closing, is_whole });
        at = end;
    }
    tags
}

/// The end of the tag whose name ends at `at`: after its `>`, which is not in quotes.
fn end_of_tag(text: &[u8], mut at: usize) -> Option<usize> {
    let mut quote = None;
    loop {
        match *text.get(at)? {
            byte if quote == Some(byte) => quote = None,
            _ if quote.is_some() => {}
            byte @ (b'"' | b'\'') => quote = Some(byte),
            b'>' => return Some(at + 1),
            b'<' => return None,
            _ => {}
        }
        at += 1;
    }
}
