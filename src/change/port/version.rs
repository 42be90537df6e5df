//! One version of a file as tokens, and its syntax units.

use crate::port::words::{VersionWord, VersionWords};
use crate::syntax::{Language, NodeId, SyntaxNode, SyntaxTree, UnitClass};
use std::ops::Range;

/// A token with the white space and the comments around it. The three ranges of all tokens cover the text.
#[derive(Debug, Clone)]
pub(super) struct VersionToken {
    pub word: VersionWord,
    /// White space and comments from the start of its line, or from the token before it on that line. In bytes, as the
    /// others.
    pub lead: Range<usize>,
    pub text: Range<usize>,
    /// The rest of its line with the line end, if no other token follows there; else empty.
    pub trail: Range<usize>,
    /// The kind of its node; empty if the parser skipped it.
    pub kind: &'static str,
    /// Whether it is the name of something.
    pub is_name: bool,
}

/// Index of a unit in its [`FileVersion`]; 0 is the whole file.
pub(super) type UnitNo = usize;

/// The parts that distinguish a declaration from its neighbours.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct DeclarationName {
    pub kind: &'static str,
    pub word: VersionWord,
    pub signature: Vec<VersionWord>,
}

#[derive(Debug, Clone)]
pub(super) struct SyntaxUnit {
    pub kind: &'static str,
    pub class: Option<UnitClass>,
    /// Indices of its tokens.
    pub tokens: Range<usize>,
    /// The nearest units inside, in source order.
    pub children: Vec<UnitNo>,
    pub parent: Option<UnitNo>,
    pub name: Option<DeclarationName>,
    /// The children whose order has no meaning; empty if the order of all children counts.
    pub members: Vec<UnitNo>,
    /// Equal for units with equal words.
    pub hash: u64,
}

/// A part of a unit, on its first level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnitPart {
    Token(usize),
    Unit(UnitNo),
}

#[derive(Debug)]
pub(super) struct FileVersion<'text> {
    pub text: &'text [u8],
    pub tokens: Vec<VersionToken>,
    /// The words of the tokens.
    pub words: Vec<VersionWord>,
    pub units: Vec<SyntaxUnit>,
    pub n_errors: usize,
}

/// The multiplier of the hashes; odd, without further meaning.
const HASH_FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

impl<'text> FileVersion<'text> {
    /// Reads a version; `None` if the language cannot parse it.
    pub(super) fn read(language: &Language, text: &'text [u8], words: &mut VersionWords) -> Option<Self> {
        let tree = language.parse(text)?;
        let tokens = tokens(&tree, text, words);
        let mut units = units(language, &tree, text, &tokens, words);
        let words: Vec<VersionWord> = tokens.iter().map(|token| token.word).collect();
        for unit in &mut units {
            unit.hash = hash(&words[unit.tokens.clone()]);
        }
        Some(Self { text, tokens, words, units, n_errors: tree.n_errors() })
    }

    /// The white space and comments before a token, and those after it on its line.
    pub(super) fn trivia(&self, at: usize) -> (&'text [u8], &'text [u8]) {
        let token = &self.tokens[at];
        (&self.text[token.lead.clone()], &self.text[token.trail.clone()])
    }

    /// The words of some tokens.
    pub(super) fn words(&self, tokens: &Range<usize>) -> &[VersionWord] {
        &self.words[tokens.clone()]
    }

    /// The items in a range of the tokens of a unit: its children, and its own tokens.
    pub(super) fn items(&self, unit: UnitNo, range: &Range<usize>) -> Vec<UnitPart> {
        let mut items = Vec::new();
        let mut at = range.start;
        for child in &self.units[unit].children {
            let tokens = &self.units[*child].tokens;
            if tokens.start < at || tokens.end > range.end {
                continue;
            }
            items.extend((at..tokens.start).map(UnitPart::Token));
            items.push(UnitPart::Unit(*child));
            at = tokens.end;
        }
        items.extend((at..range.end).map(UnitPart::Token));
        items
    }

    /// The tokens of an item.
    pub(super) fn extent(&self, item: UnitPart) -> Range<usize> {
        match item {
            UnitPart::Token(token) => token..token + 1,
            UnitPart::Unit(unit) => self.units[unit].tokens.clone(),
        }
    }

    /// Equal for items with equal words.
    pub(super) fn fingerprint(&self, item: UnitPart) -> (bool, u64) {
        match item {
            UnitPart::Token(token) => (false, u64::from(self.words[token].0)),
            UnitPart::Unit(unit) => (true, self.units[unit].hash),
        }
    }
}

/// Equal for equal words. Different words seldom have equal hashes, and equality is always checked.
fn hash(words: &[VersionWord]) -> u64 {
    words
        .iter()
        .fold(0, |hash: u64, word| hash.rotate_left(5).wrapping_add(u64::from(word.0) + 1).wrapping_mul(HASH_FACTOR))
}

/// The tokens of a text with comments and white space between them. The last token is empty and ends the text.
fn tokens(tree: &SyntaxTree, text: &[u8], words: &mut VersionWords) -> Vec<VersionToken> {
    let mut found: Vec<(Range<usize>, &'static str, bool)> = Vec::new();
    let mut comments: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    for id in tree.tokens(tree.root()) {
        let node = tree.node(id);
        if node.bytes.start < at {
            continue;
        }
        // Text that the parser skipped is a token too, if it is not white space.
        found.extend(scraps(text, at..node.bytes.start).map(|scrap| (scrap, "", false)));
        at = node.bytes.end;
        if node.kind.contains("comment") {
            comments.push(node.bytes.clone());
        } else if !text[node.bytes.clone()].trim_ascii().is_empty() {
            found.push((trimmed(text, &node.bytes), node.kind, is_name(node)));
        }
    }
    found.extend(scraps(text, at..text.len()).map(|scrap| (scrap, "", false)));
    let mut tokens = Vec::with_capacity(found.len() + 1);
    let mut comments = comments.into_iter().peekable();
    let mut start = 0;
    for (index, (bytes, kind, is_name)) in found.iter().enumerate() {
        let next = found.get(index + 1).map_or(text.len(), |(bytes, ..)| bytes.start);
        while comments.next_if(|comment| comment.end <= bytes.end).is_some() {}
        let mut behind = bytes.end;
        let trail = loop {
            let limit = comments.peek().filter(|comment| comment.start < next).map_or(next, |comment| comment.start);
            if let Some(end) = line_end(text, behind..limit) {
                break bytes.end..end;
            }
            match comments.next_if(|comment| comment.start < next) {
                Some(comment) => behind = comment.end,
                None => break bytes.end..bytes.end,
            }
        };
        let word = words.word(&text[bytes.clone()]);
        let end = trail.end;
        tokens.push(VersionToken {
            word,
            lead: start..bytes.start,
            text: bytes.clone(),
            trail,
            kind,
            is_name: *is_name,
        });
        start = end;
    }
    let end = text.len();
    tokens.push(VersionToken {
        word: VersionWords::END,
        lead: start..end,
        text: end..end,
        trail: end..end,
        kind: "",
        is_name: false,
    });
    tokens
}

fn is_name(node: &SyntaxNode) -> bool {
    node.is_use || node.kind.ends_with("identifier")
}

/// A range without the white space at its ends.
fn trimmed(text: &[u8], bytes: &Range<usize>) -> Range<usize> {
    let start = bytes.start + (bytes.len() - text[bytes.clone()].trim_ascii_start().len());
    start..start + text[bytes.clone()].trim_ascii().len()
}

/// The parts of a range that are neither white space nor a continued line end.
fn scraps(text: &[u8], range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut at = range.start;
    std::iter::from_fn(move || {
        let is_blank = |at: usize| {
            text[at].is_ascii_whitespace()
                || text[at] == b'\\' && matches!(text.get(at + 1), Some(b'\n' | b'\r'))
                || text[at] == 0xEF && text[at..].starts_with(b"\xEF\xBB\xBF")
        };
        while at < range.end && is_blank(at) {
            at += if text[at] == 0xEF { 3 } else { 1 };
        }
        let start = at;
        while at < range.end && !is_blank(at) {
            at += 1;
        }
        (start < at.min(range.end)).then(|| start..at.min(range.end))
    })
}

/// The end of the line in which a range starts; `None` if the line continues after the range. A continued line does not
/// end.
fn line_end(text: &[u8], range: Range<usize>) -> Option<usize> {
    range
        .clone()
        .find(|at| {
            text[*at] == b'\n' && !text[range.start..*at].ends_with(b"\\") && !text[range.start..*at].ends_with(b"\\\r")
        })
        .map(|at| at + 1)
}

fn units(
    language: &Language,
    tree: &SyntaxTree,
    text: &[u8],
    tokens: &[VersionToken],
    words: &mut VersionWords,
) -> Vec<SyntaxUnit> {
    let end = tokens.len() - 1;
    let root = tree.node(tree.root());
    let whole = SyntaxUnit {
        kind: root.kind,
        class: None,
        tokens: 0..end,
        children: vec![],
        parent: None,
        name: None,
        members: vec![],
        hash: 0,
    };
    let mut units = vec![whole];
    // The node of each unit, and the open units.
    let mut nodes: Vec<NodeId> = vec![tree.root()];
    let mut open: Vec<UnitNo> = vec![0];
    for (id, class) in tree.units() {
        if id == tree.root() {
            continue;
        }
        let node = tree.node(id);
        let first = tokens[..end].partition_point(|token| token.text.start < node.bytes.start);
        let last = tokens[..end].partition_point(|token| token.text.start < node.bytes.end);
        if first >= last || tokens[last - 1].text.end > node.bytes.end {
            continue;
        }
        while open.len() > 1 && tree.node(nodes[open[open.len() - 1]]).end <= id {
            open.pop();
        }
        let parent = open[open.len() - 1];
        let around = &units[parent].tokens;
        if first < around.start || last > around.end {
            continue;
        }
        let name = node.declared.as_ref().map(|declared| DeclarationName {
            kind: node.kind,
            word: words.word(&text[declared.name.clone()]),
            signature: declared.signature.as_ref().map_or_else(Vec::new, |bytes| {
                let inside = tokens.iter().skip_while(|token| token.text.start < bytes.start);
                inside.take_while(|token| token.text.start < bytes.end).map(|token| token.word).collect()
            }),
        });
        let number = units.len();
        let is_free = is_unordered(language, tree, id, nodes[parent]) && (parent == 0 || is_member(&units, parent));
        let unit = SyntaxUnit {
            kind: node.kind,
            class: Some(class),
            tokens: first..last,
            children: vec![],
            parent: Some(parent),
            name,
            members: vec![],
            hash: 0,
        };
        units.push(unit);
        units[parent].children.push(number);
        if is_free {
            units[parent].members.push(number);
        }
        nodes.push(id);
        open.push(number);
    }
    units
}

fn is_member(units: &[SyntaxUnit], unit: UnitNo) -> bool {
    units[unit].parent.is_some_and(|parent| units[parent].members.last() == Some(&unit))
}

/// Whether a unit is a direct child of a node whose children may have any order, and that node is its parent unit or
/// its body.
fn is_unordered(language: &Language, tree: &SyntaxTree, unit: NodeId, parent: NodeId) -> bool {
    tree.node(unit).parent.is_some_and(|around| {
        language.is_unordered(tree.node(around).kind) && (around == parent || tree.node(around).parent == Some(parent))
    })
}
