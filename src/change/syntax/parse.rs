//! Parses a text into a tree.

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};

use tree_sitter::{ParseOptions, ParseState, Parser, Query, QueryCursor, StreamingIterator};

use crate::syntax::language::Language;
use crate::syntax::tree::{Declared, NodeId, SyntaxNode, SyntaxTree, UnitClass};

/// Longer texts are not parsed.
const MAX_BYTES: usize = 1 << 20;

/// The maximum number of progress reports of the parser for each KiB, three times the number for real programs. Texts
/// that need more are not parsed.
const MAX_REPORTS_PER_KIB: usize = 60;

/// Texts with deeper nesting are not parsed, because functions that visit the nodes around a node must end.
const MAX_DEPTH: usize = 1000;

/// A text with this many consecutive brackets and commas is no program; queries take quadratic time on it.
const MAX_BARE_TOKENS: usize = 1000;

/// The maximum number of matches of a query that are open at once.
const MAX_OPEN_MATCHES: u32 = 4096;

impl Language {
    /// Parses a text; the result depends only on the text.
    ///
    /// `None` if it is longer than 1 MiB, contains a NUL, is nested more than 1000 nodes deep, or takes the parser too
    /// much work. Errors in the text are part of the tree.
    pub fn parse(&self, text: &[u8]) -> Option<SyntaxTree> {
        if text.len() > MAX_BYTES || text.contains(&0) {
            return None;
        }
        let (shown, hidden) = self.compiled().unseen.hide(text, |word| self.is_keyword(word));
        let parsed = self.parsed(&shown)?;
        let mut copy = Copy::new(text, hidden);
        copy.nodes_of(&parsed, &self.atoms)?;
        copy.adopt(&self.leading);
        let is_part = self.mark_units(&parsed, text, &mut copy);
        self.mark_declarations(&parsed, text, &is_part, &mut copy);
        Some(copy.tree)
    }

    /// The number of places that the parser cannot understand; `None` as in [`parse`](Self::parse).
    pub fn n_errors(&self, text: &[u8]) -> Option<usize> {
        if text.len() > MAX_BYTES || text.contains(&0) {
            return None;
        }
        let (shown, _) = self.compiled().unseen.hide(text, |word| self.is_keyword(word));
        let parsed = self.parsed(&shown)?;
        if !parsed.root_node().has_error() {
            return Some(0);
        }
        let mut copy = Copy::new(text, Vec::new());
        copy.nodes_of(&parsed, &[])?;
        Some(copy.tree.n_errors)
    }

    fn parsed(&self, text: &[u8]) -> Option<tree_sitter::Tree> {
        let mut parser = Parser::new();
        parser.set_language(&self.parser).ok()?;
        let mut n_left = (text.len() / 1024 + 16) * MAX_REPORTS_PER_KIB;
        let mut go_on = |_: &ParseState| {
            n_left = n_left.saturating_sub(1);
            if n_left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut go_on);
        parser.parse_with_options(&mut |at, _| text.get(at..).unwrap_or_default(), None, Some(options))
    }

    /// Gives each unit its class; returns for each node whether it is a part of the unit around it, and none itself.
    fn mark_units(&self, parsed: &tree_sitter::Tree, text: &[u8], copy: &mut Copy) -> Vec<bool> {
        // The pattern that gave a node its class: the last one in the file wins, in any order of matches.
        let mut given = vec![0; copy.tree.nodes.len()];
        let mut is_part = vec![false; copy.tree.nodes.len()];
        each_match(&self.compiled().units, parsed, text, |pattern, captures| {
            for (capture, node) in captures {
                if let Some(id) = copy.find(node)
                    && given[id.index()] <= pattern
                {
                    given[id.index()] = pattern;
                    let class = self.compiled().classes[*capture as usize];
                    copy.tree.nodes[id.index()].class = class;
                    is_part[id.index()] = class.is_none();
                }
            }
        });
        is_part
    }

    fn mark_declarations(&self, parsed: &tree_sitter::Tree, text: &[u8], is_part: &[bool], copy: &mut Copy) {
        let declarations = &self.compiled().declarations;
        let index = |name: &str| declarations.capture_index_for_name(name);
        let [declaration, name, signature, used] = ["declaration", "name", "signature", "use"].map(index);
        each_match(declarations, parsed, text, |_, captures| {
            let bytes = |wanted: Option<u32>| {
                let found = captures.iter().find(|(capture, _)| Some(*capture) == wanted);
                found.map(|(_, node)| node.byte_range())
            };
            for (capture, node) in captures {
                let Some(mut id) = copy.find(node) else { continue };
                // What a part declares, the unit around it declares.
                if Some(*capture) == declaration && is_part[id.index()] {
                    let around = copy.tree.ancestors(id).find(|around| !is_part[around.index()]);
                    let Some(unit) = around.filter(|around| copy.tree.node(*around).class.is_some()) else { continue };
                    id = unit;
                }
                let node = &mut copy.tree.nodes[id.index()];
                if Some(*capture) == used {
                    node.is_use = node.is_leaf;
                } else if Some(*capture) == declaration
                    && node.declared.is_none()
                    && let Some(name) = bytes(name)
                {
                    node.declared = Some(Declared { name, signature: bytes(signature) });
                    node.class.get_or_insert(UnitClass::Declaration);
                }
            }
        });
    }
}

/// The matches of a query in source order, each as the index of its pattern and its captures.
fn each_match<'tree>(
    query: &Query,
    parsed: &'tree tree_sitter::Tree,
    text: &[u8],
    mut see: impl FnMut(usize, &[(u32, tree_sitter::Node<'tree>)]),
) {
    let mut cursor = QueryCursor::new();
    cursor.set_match_limit(MAX_OPEN_MATCHES);
    let mut matches = cursor.matches(query, parsed.root_node(), text);
    while let Some(found) = matches.next() {
        let captures: Vec<_> = found.captures.iter().map(|capture| (capture.index, capture.node)).collect();
        see(found.pattern_index, &captures);
    }
}

/// A tree that is being built.
struct Copy<'a> {
    tree: SyntaxTree,
    /// From the parser's name of a node to its copy.
    ids: HashMap<usize, NodeId>,
    text: &'a [u8],
    /// The hidden words that have no node yet, last first.
    hidden: Vec<Range<usize>>,
    /// The number of lines that end before a byte: the last such pair.
    line: (usize, u32),
    /// The end of the last leaf.
    at: usize,
}

impl<'a> Copy<'a> {
    fn new(text: &'a [u8], mut hidden: Vec<Range<usize>>) -> Self {
        hidden.reverse();
        let tree = SyntaxTree { nodes: Vec::new(), n_errors: 0 };
        Self { tree, ids: HashMap::new(), text, hidden, line: (0, 0), at: 0 }
    }

    /// The copy of a node; `None` below an atom.
    fn find(&self, node: &tree_sitter::Node) -> Option<NodeId> {
        self.ids.get(&node.id()).copied()
    }

    /// Copies the nodes of a parsed text, without recursion; `atoms` become leaves. `None` if it is too deep or no
    /// program.
    fn nodes_of(&mut self, parsed: &tree_sitter::Tree, atoms: &[String]) -> Option<()> {
        let mut cursor = parsed.walk();
        let mut open: Vec<NodeId> = Vec::new();
        let mut n_bare_tokens = 0;
        loop {
            let node = cursor.node();
            n_bare_tokens = if node.is_named() { 0 } else { n_bare_tokens + 1 };
            if n_bare_tokens > MAX_BARE_TOKENS {
                return None;
            }
            let is_inner = !atoms.iter().any(|atom| atom == node.kind()) && cursor.goto_first_child();
            let parent = open.last().copied();
            let before = if parent.is_some() { self.hidden_before(node.start_byte()) } else { Vec::new() };
            if is_inner {
                // The text before a node belongs to it.
                let id = self.push(&node, parent, before.first());
                self.push_hidden(before, id);
                self.tree.nodes[id.index()].is_leaf = false;
                open.push(id);
                if open.len() > MAX_DEPTH {
                    return None;
                }
                continue;
            }
            self.push_hidden(before, parent.unwrap_or(NodeId(0)));
            self.push(&node, parent, None);
            self.at = node.end_byte();
            while !cursor.goto_next_sibling() {
                let Some(parent) = open.pop() else {
                    self.finish();
                    return Some(());
                };
                cursor.goto_parent();
                self.tree.nodes[parent.index()].end = NodeId(number(self.tree.nodes.len()));
            }
        }
    }

    /// Makes each node of a kind in `leading` a child of the node after it, if that is one with children.
    fn adopt(&mut self, leading: &[String]) {
        if leading.is_empty() {
            return;
        }
        // Where a node goes; only one whose place changes.
        let mut moved: HashMap<NodeId, NodeId> = HashMap::new();
        for parent in (0..number(self.tree.nodes.len())).map(NodeId) {
            let children: Vec<NodeId> = self.tree.children(parent).collect();
            let is_leading = |child: NodeId| leading.iter().any(|kind| kind == self.tree.node(child).kind);
            // What a node begins with is its own already.
            let n_own = if parent == self.tree.root() {
                0
            } else {
                children.iter().take_while(|child| is_leading(**child)).count()
            };
            let mut first = None;
            for child in children.into_iter().skip(n_own) {
                let node = self.tree.node(child);
                if leading.iter().any(|kind| kind == node.kind) {
                    first = first.or(Some(child));
                } else if !node.is_extra
                    && let Some(first) = first.take()
                    && node.is_named
                    && !node.is_leaf
                {
                    self.put_first(first, child);
                    moved.insert(child, first);
                    moved.extend((first.0..child.0).map(|id| (NodeId(id), NodeId(id + 1))));
                }
            }
        }
        for id in self.ids.values_mut() {
            *id = moved.get(id).copied().unwrap_or(*id);
        }
    }

    /// Puts a node before its siblings from `first` on, which become its children.
    fn put_first(&mut self, first: NodeId, node: NodeId) {
        let nodes = &mut self.tree.nodes;
        let (bytes, lines) = (nodes[first.index()].bytes.start, nodes[first.index()].lines.start);
        let parent = nodes[first.index()].parent;
        nodes[first.index()..=node.index()].rotate_right(1);
        let adopter = &mut nodes[first.index()];
        (adopter.bytes.start, adopter.lines.start) = (bytes, lines);
        let end = adopter.end;
        for inner in &mut nodes[first.index() + 1..=node.index()] {
            inner.end = NodeId(inner.end.0 + 1);
            let around = inner.parent.map(|around| NodeId(around.0 + 1));
            inner.parent = if inner.parent == parent { Some(first) } else { around };
        }
        for inner in &mut nodes[node.index() + 1..end.index()] {
            if inner.parent == Some(node) {
                inner.parent = Some(first);
            }
        }
    }

    /// Adds the rest to the root, which is the whole text.
    fn finish(&mut self) {
        let rest = self.hidden_before(self.text.len());
        self.push_hidden(rest, NodeId(0));
        let end = NodeId(number(self.tree.nodes.len()));
        let root = &mut self.tree.nodes[0];
        root.end = end;
        root.is_leaf = end == NodeId(1);
        if let (Some(first), Some(last)) = (self.tree.nodes.get(1), self.tree.nodes.last()) {
            let (bytes, lines) = (first.bytes.start..last.bytes.end, first.lines.start..last.lines.end);
            let root = &mut self.tree.nodes[0];
            root.bytes = root.bytes.start.min(bytes.start)..root.bytes.end.max(bytes.end);
            root.lines = root.lines.start.min(lines.start)..root.lines.end.max(lines.end);
        }
    }

    /// Copies one node; `before`: a hidden word at its start.
    fn push(&mut self, node: &tree_sitter::Node, parent: Option<NodeId>, before: Option<&HiddenWord>) -> NodeId {
        let id = NodeId(number(self.tree.nodes.len()));
        let is_error = node.is_error() || node.is_missing();
        let (mut bytes, mut lines) = (node.byte_range(), lines(node));
        if let Some(before) = before {
            (bytes.start, lines.start) = (before.bytes.start, before.line);
        }
        self.tree.n_errors += usize::from(is_error);
        self.ids.insert(node.id(), id);
        self.tree.nodes.push(SyntaxNode {
            kind: node.kind(),
            bytes,
            lines,
            parent,
            end: NodeId(id.0 + 1),
            is_leaf: true,
            is_named: node.is_named(),
            is_extra: node.is_extra(),
            is_error,
            class: None,
            declared: None,
            is_use: false,
        });
        id
    }

    /// Takes the hidden words before a byte. A word inside of a leaf (a comment) is a part of it.
    fn hidden_before(&mut self, byte: usize) -> Vec<HiddenWord> {
        let mut before = Vec::new();
        while let Some(bytes) = self.hidden.pop_if(|word| word.start < byte) {
            if bytes.start >= self.at {
                let (at, line) = self.line;
                let n_ends = self.text[at..bytes.start].split(|byte| *byte == b'\n').count() - 1;
                self.line = (bytes.start, line + number(n_ends));
                before.push(HiddenWord { bytes, line: self.line.1 });
            }
        }
        before
    }

    fn push_hidden(&mut self, words: Vec<HiddenWord>, parent: NodeId) {
        for HiddenWord { bytes, line } in words {
            let id = NodeId(number(self.tree.nodes.len()));
            self.at = bytes.end;
            self.tree.nodes.push(SyntaxNode {
                kind: "unseen",
                bytes,
                lines: line..line + 1,
                parent: Some(parent),
                end: NodeId(id.0 + 1),
                is_leaf: true,
                is_named: true,
                is_extra: false,
                is_error: false,
                class: None,
                declared: None,
                is_use: true,
            });
        }
    }
}

/// A word that was hidden from the parser.
struct HiddenWord {
    bytes: Range<usize>,
    line: u32,
}

/// The lines of a node. A node that ends at the start of a line does not include that line.
fn lines(node: &tree_sitter::Node) -> Range<u32> {
    let (start, end) = (node.start_position(), node.end_position());
    let last = if end.column == 0 && end.row > start.row { end.row } else { end.row + 1 };
    number(start.row)..number(last)
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("a text of 1 MiB has fewer nodes and lines")
}

#[cfg(test)]
mod tests;
