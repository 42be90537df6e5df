//! What the C++ library does to the nodes of `std::map`, `std::set` and `std::list`.
//!
//! The functions that link nodes are in the library itself, which is not instrumented. The insertion into a red-black tree is that
//! of the library of GNU (`_Rb_tree_insert_and_rebalance`); it has to be the same one, so that the pointers are.

use std::collections::BTreeMap;

use crate::native::NativeMemory;

/// What is done to nodes, by their addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Linking {
    /// A node becomes the left or right child of another one, or of the header of an empty tree, which holds the root and
    /// both ends. The tree is balanced again.
    Insert { is_left: bool, node: u64, parent: u64, header: u64 },
    /// A node is put before another one of a list.
    Hook { node: u64, before: u64 },
    /// A node is taken out of a list.
    Unhook { node: u64 },
}

/// What is written: addresses and bytes, as they ascend; `None` if a word that is needed is not known.
pub fn linked(memory: &NativeMemory, linking: Linking) -> Option<Vec<(u64, Vec<u8>)>> {
    let mut nodes = Nodes { memory, written: BTreeMap::new() };
    match linking {
        Linking::Insert { is_left, node, parent, header } => nodes.insert(is_left, node, parent, header)?,
        Linking::Hook { node, before } => {
            let last = nodes.get(before, NodeField::Previous)?;
            nodes.set(node, NodeField::Next, before);
            nodes.set(node, NodeField::Previous, last);
            nodes.set(last, NodeField::Next, node);
            nodes.set(before, NodeField::Previous, node);
        }
        Linking::Unhook { node } => {
            let (next, previous) = (nodes.get(node, NodeField::Next)?, nodes.get(node, NodeField::Previous)?);
            nodes.set(previous, NodeField::Next, next);
            nodes.set(next, NodeField::Previous, previous);
        }
    }
    let bytes = |(address, (value, length)): (u64, (u64, usize))| (address, value.to_le_bytes()[..length].to_vec());
    Some(nodes.written.into_iter().map(bytes).collect())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NodeField {
    /// Of a tree: red is 0, black is 1.
    Color,
    Parent,
    Left,
    Right,
    /// Of a list.
    Next,
    Previous,
}

impl NodeField {
    /// Where it is in the node, and its bytes.
    fn place(self) -> (u64, usize) {
        match self {
            Self::Color => (0, 4),
            Self::Next => (0, 8),
            Self::Parent | Self::Previous => (8, 8),
            Self::Left => (16, 8),
            Self::Right => (24, 8),
        }
    }

    fn other_side(self) -> Self {
        if self == Self::Left { Self::Right } else { Self::Left }
    }
}

const RED: u64 = 0;
const BLACK: u64 = 1;

/// Nodes, and what was written to them so far.
struct Nodes<'m> {
    memory: &'m NativeMemory,
    written: BTreeMap<u64, (u64, usize)>,
}

impl Nodes<'_> {
    fn get(&self, node: u64, field: NodeField) -> Option<u64> {
        let (offset, length) = field.place();
        let address = node.checked_add(offset)?;
        if let Some((value, _)) = self.written.get(&address) {
            return Some(*value);
        }
        self.memory.word(address, length as u64).map(|(word, _)| word)
    }

    fn set(&mut self, node: u64, field: NodeField, value: u64) {
        let (offset, length) = field.place();
        self.written.insert(node.wrapping_add(offset), (value, length));
    }

    fn insert(&mut self, is_left: bool, node: u64, parent: u64, header: u64) -> Option<()> {
        self.set(node, NodeField::Parent, parent);
        self.set(node, NodeField::Left, 0);
        self.set(node, NodeField::Right, 0);
        self.set(node, NodeField::Color, RED);
        let side = if is_left { NodeField::Left } else { NodeField::Right };
        let is_outermost = self.get(header, side)? == parent;
        self.set(parent, side, node);
        if parent == header {
            // The first node; the library inserts it to the left.
            self.set(header, NodeField::Parent, node);
            self.set(header, side.other_side(), node);
        } else if is_outermost {
            self.set(header, side, node);
        }
        self.balance(node, header)
    }

    fn balance(&mut self, mut node: u64, header: u64) -> Option<()> {
        while node != self.get(header, NodeField::Parent)? {
            let parent = self.get(node, NodeField::Parent)?;
            if self.get(parent, NodeField::Color)? != RED {
                break;
            }
            let above = self.get(parent, NodeField::Parent)?;
            let side = if self.get(above, NodeField::Left)? == parent { NodeField::Left } else { NodeField::Right };
            let uncle = self.get(above, side.other_side())?;
            if uncle != 0 && self.get(uncle, NodeField::Color)? == RED {
                self.set(parent, NodeField::Color, BLACK);
                self.set(uncle, NodeField::Color, BLACK);
                self.set(above, NodeField::Color, RED);
                node = above;
                continue;
            }
            if self.get(parent, side.other_side())? == node {
                node = parent;
                self.rotate(node, side, header)?;
            }
            let parent = self.get(node, NodeField::Parent)?;
            self.set(parent, NodeField::Color, BLACK);
            self.set(above, NodeField::Color, RED);
            self.rotate(above, side.other_side(), header)?;
        }
        let root = self.get(header, NodeField::Parent)?;
        self.set(root, NodeField::Color, BLACK);
        Some(())
    }

    /// Moves a node down to a side; its child on the other side takes its place.
    fn rotate(&mut self, node: u64, side: NodeField, header: u64) -> Option<()> {
        let child = self.get(node, side.other_side())?;
        let inner = self.get(child, side)?;
        self.set(node, side.other_side(), inner);
        if inner != 0 {
            self.set(inner, NodeField::Parent, node);
        }
        let parent = self.get(node, NodeField::Parent)?;
        self.set(child, NodeField::Parent, parent);
        if self.get(header, NodeField::Parent)? == node {
            self.set(header, NodeField::Parent, child);
        } else {
            let of = if self.get(parent, side)? == node { side } else { side.other_side() };
            self.set(parent, of, child);
        }
        self.set(child, side, node);
        self.set(node, NodeField::Parent, child);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Step;

    const HEADER: u64 = 0x1000;

    fn apply(memory: &mut NativeMemory, linking: Linking) {
        for (address, bytes) in linked(memory, linking).unwrap() {
            memory.write(address, &bytes, Step(1));
        }
    }

    fn word(memory: &NativeMemory, address: u64) -> u64 {
        memory.word(address, 8).unwrap().0
    }

    /// Checks a subtree of nodes whose keys are their addresses; returns them in order, and the number of black nodes on each way down.
    fn walk(memory: &NativeMemory, node: u64, parent: u64) -> (Vec<u64>, u32) {
        if node == 0 {
            return (Vec::new(), 1);
        }
        assert_eq!(word(memory, node + 8), parent);
        let is_red = |node: u64| node != 0 && memory.word(node, 4).unwrap().0 == RED;
        let (left, right) = (word(memory, node + 16), word(memory, node + 24));
        assert!(!is_red(node) || !(is_red(left) || is_red(right)), "a red node has black children");
        let ((mut nodes, n_left), (more, n_right)) = (walk(memory, left, node), walk(memory, right, node));
        assert_eq!(n_left, n_right, "all ways have as many black nodes");
        nodes.push(node);
        nodes.extend(more);
        (nodes, n_left + u32::from(!is_red(node)))
    }

    #[test]
    fn a_tree_stays_ordered_and_balanced() {
        let mut memory = NativeMemory::default();
        for (offset, value) in [(8, 0), (16, HEADER), (24, HEADER)] {
            memory.write(HEADER + offset, &u64::to_le_bytes(value), Step(1));
        }
        memory.write(HEADER, &[0; 4], Step(1));
        let mut known = Vec::new();
        for n in 0..60_u64 {
            let node = 0x2000 + (n * 37 % 61) * 0x40;
            let (mut parent, mut next, mut is_left) = (HEADER, word(&memory, HEADER + 8), true);
            while next != 0 {
                is_left = node < next;
                (parent, next) = (next, word(&memory, next + if is_left { 16 } else { 24 }));
            }
            apply(&mut memory, Linking::Insert { is_left, node, parent, header: HEADER });
            known.push(node);
            known.sort_unstable();
            assert_eq!(walk(&memory, word(&memory, HEADER + 8), HEADER).0, known);
            let ends = (word(&memory, HEADER + 16), word(&memory, HEADER + 24));
            assert_eq!(ends, (known[0], known[known.len() - 1]));
        }
    }

    #[test]
    fn nodes_of_a_list_are_put_in_and_taken_out() {
        let mut memory = NativeMemory::default();
        memory.write(HEADER, &HEADER.to_le_bytes(), Step(1));
        memory.write(HEADER + 8, &HEADER.to_le_bytes(), Step(1));
        for node in [0x2000, 0x3000] {
            apply(&mut memory, Linking::Hook { node, before: HEADER });
        }
        assert_eq!([HEADER, 0x2000, 0x3000].map(|node| word(&memory, node)), [0x2000, 0x3000, HEADER]);
        apply(&mut memory, Linking::Unhook { node: 0x2000 });
        assert_eq!((word(&memory, HEADER), word(&memory, 0x3008)), (0x3000, HEADER));
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        assert_eq!(linked(&NativeMemory::default(), Linking::Unhook { node: 0x2000 }), None);
    }
}
