//! Writes the tokens of a merge as a text.

use crate::port::merge::{MergeSide, Out};
use crate::port::version::FileVersion;
use std::collections::BTreeMap;

/// The text of a merge. Tokens of the patch get the indentation of ours.
pub(super) fn render(ours: &FileVersion, patched: &FileVersion, out: &[Out]) -> Vec<u8> {
    let version = |side: MergeSide| if side == MergeSide::Ours { ours } else { patched };
    let n_crlf = ours.text.windows(2).filter(|bytes| bytes == b"\r\n").count();
    let has_crlf = n_crlf * 2 > ours.text.split(|byte| *byte == b'\n').count();
    let mut text: Vec<u8> = Vec::new();
    let mut indents = Indents::default();
    let mut last = None;
    for one in out {
        let (side, at) = one.text;
        if let (Some(peer), MergeSide::Ours) = (one.peer, side)
            && let (Some(there), Some(here)) = (indent(patched, peer), indent(ours, at))
        {
            indents.learn(there, here);
        }
        if one.lead.is_foreign {
            indents.push(&mut text, &one.lead.bytes);
        } else {
            text.extend_from_slice(&one.lead.bytes);
        }
        let word = &version(side).text[version(side).tokens[at].text.clone()];
        if last != at.checked_sub(1).map(|before| (side, before)) {
            keep_apart(&mut text, word);
        }
        text.extend_from_slice(word);
        text.extend_from_slice(&one.trail.bytes);
        last = Some(one.text);
    }
    if has_crlf && !patched.text.windows(2).any(|bytes| bytes == b"\r\n") {
        return with_crlf(&text);
    }
    text
}

fn with_crlf(text: &[u8]) -> Vec<u8> {
    let mut changed = Vec::with_capacity(text.len());
    for (index, byte) in text.iter().enumerate() {
        if *byte == b'\n' && (index == 0 || text[index - 1] != b'\r') {
            changed.push(b'\r');
        }
        changed.push(*byte);
    }
    changed
}

/// The white space before the first token of a line; `None` for other tokens.
fn indent<'text>(version: &FileVersion<'text>, at: usize) -> Option<&'text [u8]> {
    let start = version.tokens[at].text.start;
    let line = version.text[..start].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    let before = &version.text[line..start];
    before.trim_ascii().is_empty().then_some(before)
}

/// The indentation of lines in the patched version, and of the same lines in ours.
#[derive(Debug, Default)]
struct Indents<'text> {
    /// The last line seen for each indentation of the patched version.
    known: BTreeMap<&'text [u8], &'text [u8]>,
    /// The last line seen.
    last: (&'text [u8], &'text [u8]),
}

impl<'text> Indents<'text> {
    fn learn(&mut self, there: &'text [u8], here: &'text [u8]) {
        self.known.insert(there, here);
        self.last = (there, here);
    }

    /// Writes white space and comments of the patched version with the indentation of ours.
    fn push(&self, text: &mut Vec<u8>, lead: &[u8]) {
        for line in lead.split_inclusive(|byte| *byte == b'\n') {
            let is_at_start = text.last().is_none_or(|byte| *byte == b'\n');
            let (indent, rest) = line.split_at(line.len() - line.trim_ascii_start().len());
            if !is_at_start || indent.ends_with(b"\n") {
                text.extend_from_slice(line);
                continue;
            }
            match (self.known.get(indent), indent.strip_prefix(self.last.0)) {
                (Some(here), _) => text.extend_from_slice(here),
                (None, Some(deeper)) => {
                    text.extend_from_slice(self.last.1);
                    text.extend_from_slice(deeper);
                }
                (None, None) => text.extend_from_slice(indent),
            }
            text.extend_from_slice(rest);
        }
    }
}

/// Separates a token from the text before it if they come from different places.
fn keep_apart(text: &mut Vec<u8>, word: &[u8]) {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let Some(first) = word.first() else { return };
    if *first == b'#' && word.len() > 1 {
        let line = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        if !text[line..].trim_ascii().is_empty() && word[1..].iter().any(u8::is_ascii_alphabetic) {
            text.push(b'\n');
        }
    } else if is_letter(first) && text.last().is_some_and(is_letter) {
        text.push(b' ');
    }
}
