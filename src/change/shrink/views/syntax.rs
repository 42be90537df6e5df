//! The nodes of a syntax tree.

use crate::shrink::removal::{RemovalNode, RemovalUnit, TextDivision};
use crate::syntax::{Language, NodeId, SyntaxTree};

/// For each node, at most this many inner nodes are tried in its place.
const MAX_REPLACEMENTS: usize = 4;

/// The nodes of a text in this language; `None` if it cannot be parsed.
///
/// The extras of a node put one of the nodes inside in its place: first those of the same kind, then its own children,
/// the largest first.
///
/// Source: the replacement of a node by a descendant of the same kind is that of Perses (Sun et al. 2018).
pub fn nodes(language: &Language, text: &[u8]) -> Option<TextDivision> {
    let tree = language.parse(text)?;
    let mut division = TextDivision::default();
    let mut indices = vec![0; tree.nodes().len()];
    // Children have higher numbers than their parents.
    for id in (0..tree.nodes().len()).rev() {
        let id = NodeId(u32::try_from(id).ok()?);
        let node = tree.node(id);
        let children = tree.children(id).filter(|child| !tree.node(*child).bytes.is_empty());
        let children: Vec<usize> = children.map(|child| indices[child.index()]).collect();
        let extras = if node.is_leaf { Vec::new() } else { replacements(&tree, id) };
        indices[id.index()] = division.add(RemovalNode { bytes: node.bytes.clone(), children, extras });
    }
    division.roots = vec![indices[tree.root().index()]];
    Some(division)
}

/// What to remove around inner nodes.
fn replacements(tree: &SyntaxTree, id: NodeId) -> Vec<RemovalUnit> {
    let outer = tree.node(id);
    let same = tree.descendants(id).filter(|inner| *inner != id && tree.node(*inner).kind == outer.kind);
    let same = same.take(MAX_REPLACEMENTS / 2);
    let mut children: Vec<NodeId> = tree.children(id).filter(|child| tree.node(*child).is_named).collect();
    children.sort_by_key(|child| std::cmp::Reverse(tree.node(*child).bytes.len()));
    let mut chosen: Vec<NodeId> = Vec::new();
    for inner in same.chain(children) {
        if !chosen.contains(&inner) && tree.node(inner).bytes.len() < outer.bytes.len() {
            chosen.push(inner);
        }
    }
    let around = |inner: NodeId| {
        let inner = &tree.node(inner).bytes;
        let sides = [outer.bytes.start..inner.start, inner.end..outer.bytes.end];
        sides.into_iter().filter(|side| !side.is_empty()).collect()
    };
    chosen.into_iter().take(MAX_REPLACEMENTS).map(around).collect()
}
