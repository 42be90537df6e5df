//! A parsed text as an arena of nodes.

use std::ops::Range;

/// Index of a node in its [`SyntaxTree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    /// As an index into [`SyntaxTree::nodes`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The kind of a syntax unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UnitClass {
    /// A construct with a name, or a whole top-level construct.
    Declaration,
    /// A function or method with its body.
    Definition,
    /// A member of a type, or an entry of a table.
    Field,
    /// A constant of an enumeration.
    Enumerator,
    /// A branch of a switch.
    Case,
    /// A statement.
    Statement,
    /// A part of a statement that can be removed alone: `else`, `catch`.
    Clause,
    /// A formal parameter.
    Parameter,
    /// A construct that includes another file.
    Import,
    /// The content of a preprocessor conditional.
    Region,
}

impl UnitClass {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "declaration" => Self::Declaration,
            "definition" => Self::Definition,
            "field" => Self::Field,
            "enumerator" => Self::Enumerator,
            "case" => Self::Case,
            "statement" => Self::Statement,
            "clause" => Self::Clause,
            "parameter" => Self::Parameter,
            "import" => Self::Import,
            "region" => Self::Region,
            _ => return None,
        })
    }

    /// Whether such a unit is matched between versions by its name.
    pub fn is_declaration(self) -> bool {
        matches!(self, Self::Declaration | Self::Definition | Self::Field | Self::Enumerator)
    }
}

/// The declaration of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// The byte range of its name.
    pub name: Range<usize>,
    /// The byte range of the part that distinguishes it from others of that name (its parameters).
    pub signature: Option<Range<usize>>,
}

/// A part of the text.
#[expect(clippy::struct_excessive_bools, reason = "four independent facts that the grammar tells")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxNode {
    /// The name of its kind in the grammar.
    pub kind: &'static str,
    /// Half-open, in bytes.
    pub bytes: Range<usize>,
    /// Its lines: half-open, 0-based; never empty.
    pub lines: Range<u32>,
    /// Its parent; `None` for the root.
    pub parent: Option<NodeId>,
    /// The id after its last descendant: nodes are numbered in preorder, so `id + 1..end` are its descendants.
    pub end: NodeId,
    /// Has no children: a token, or nothing at all.
    pub is_leaf: bool,
    /// Has a rule of its own in the grammar (is not a bare keyword or punctuation).
    pub is_named: bool,
    /// May occur anywhere, as a comment may.
    pub is_extra: bool,
    /// The parser could not understand it, or inserted it.
    pub is_error: bool,
    /// Its class, if it is a syntax unit.
    pub class: Option<UnitClass>,
    /// Its declaration, if it declares a name.
    pub declared: Option<Declared>,
    /// A leaf that is a name and may refer to a declaration.
    pub is_use: bool,
}

/// A parsed text.
///
/// Nodes are numbered in preorder, the root is 0. A text that is not of the language still gives a tree, with errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxTree {
    pub(super) nodes: Vec<SyntaxNode>,
    pub(super) n_errors: usize,
}

impl SyntaxTree {
    /// All nodes, by [`NodeId`].
    pub fn nodes(&self) -> &[SyntaxNode] {
        &self.nodes
    }

    /// The node of this id.
    pub fn node(&self, id: NodeId) -> &SyntaxNode {
        &self.nodes[id.index()]
    }

    /// The node that contains all others.
    pub fn root(&self) -> NodeId {
        NodeId(0)
    }

    /// The number of places that the parser could not understand.
    pub fn n_errors(&self) -> usize {
        self.n_errors
    }

    /// The children of a node, in source order.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        let end = self.node(id).end;
        let mut next = NodeId(id.0 + 1);
        std::iter::from_fn(move || {
            let child = next;
            (child < end).then(|| {
                next = self.node(child).end;
                child
            })
        })
    }

    /// The descendants of a node in source order, parents first; without the node itself.
    pub fn descendants(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        (id.0 + 1..self.node(id).end.0).map(NodeId)
    }

    /// The tokens below a node, in source order: its leaves that have a text; the node itself if it is one.
    pub fn tokens(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        (id.0..self.node(id).end.0).map(NodeId).filter(|id| {
            let node = self.node(*id);
            node.is_leaf && !node.bytes.is_empty()
        })
    }

    /// The nodes around a node, nearest first.
    pub fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(self.node(id).parent, |id| self.node(*id).parent)
    }

    /// The nodes that are syntax units, in source order, outer ones first.
    pub fn units(&self) -> impl Iterator<Item = (NodeId, UnitClass)> {
        (0..).map(NodeId).zip(&self.nodes).filter_map(|(id, node)| Some((id, node.class?)))
    }
}
