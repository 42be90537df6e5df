//! Removes units of a division, the largest first.

use crate::shrink::plan::ShrinkPlan;
use std::ops::Range;
use std::rc::Rc;

/// A unit: bytes that are removed together. Its ranges are in order and do not overlap.
pub type RemovalUnit = Vec<Range<usize>>;

/// A part of a division: a range of bytes, and the smaller parts inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovalNode {
    pub bytes: Range<usize>,
    /// The nodes inside it, in order; they do not overlap.
    pub children: Vec<usize>,
    /// Other units to remove when the children were tried: a pair of brackets, everything around an inner part.
    pub extras: Vec<RemovalUnit>,
}

impl RemovalNode {
    /// A node with nothing inside.
    pub fn leaf(bytes: Range<usize>) -> Self {
        Self { bytes, children: Vec::new(), extras: Vec::new() }
    }
}

/// How a text is divided: nodes, and those that are inside no other one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextDivision {
    pub nodes: Vec<RemovalNode>,
    /// The outermost nodes, in order.
    pub roots: Vec<usize>,
}

impl TextDivision {
    /// Adds a node; returns its index.
    pub fn add(&mut self, node: RemovalNode) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }
}

/// Removes nodes from the outermost inwards: first runs of siblings, then their children, those of the largest node
/// first; after the children of a node its extras.
///
/// Runs of siblings are tried from the end. A run is twice as long after a success, and half as long after a refusal.
/// Every node that stays was tried alone.
///
/// Cost: for a list of n siblings of which k stay in r runs, about k + 2 r log2(n / r) probes.
///
/// Source: hierarchical delta debugging (Misherghi and Su 2006), with the lists of one node instead of those of one
/// level; the length of runs as in the adaptive search of property-based testing.
#[derive(Clone)]
pub struct NodeRemoval {
    text: Rc<[u8]>,
    division: Rc<TextDivision>,
    /// For each byte, whether it was removed.
    is_gone: Vec<bool>,
    /// Nodes whose children were not tried yet.
    open: Vec<usize>,
    list: UnitList,
    /// Whether the last answer was a success.
    has_hit: bool,
}

/// A list of units that are tried from the end.
#[derive(Clone, Default)]
struct UnitList {
    units: Vec<RemovalUnit>,
    /// For each unit its node; empty for extras.
    nodes: Vec<usize>,
    /// The units before this one were not tried yet.
    end: usize,
    /// Number of units that are tried together.
    n_tried: usize,
    /// The extras of the node, to be tried next.
    extras: Vec<RemovalUnit>,
}

impl NodeRemoval {
    /// Removes units of `text`.
    pub fn new(text: &Rc<[u8]>, division: TextDivision) -> Self {
        let mut removal = Self {
            text: Rc::clone(text),
            is_gone: vec![false; text.len()],
            open: Vec::new(),
            list: UnitList::default(),
            has_hit: false,
            division: Rc::new(division),
        };
        let division = Rc::clone(&removal.division);
        removal.enter(&division.roots, Vec::new());
        removal.settle();
        removal
    }

    fn enter(&mut self, nodes: &[usize], extras: Vec<RemovalUnit>) {
        let units = nodes.iter().map(|node| vec![self.division.nodes[*node].bytes.clone()]).collect();
        let n = nodes.len();
        self.list = UnitList { units, nodes: nodes.to_vec(), end: n, n_tried: n, extras };
    }

    fn n_live(&self, range: &Range<usize>) -> usize {
        self.is_gone[range.clone()].iter().filter(|is_gone| !**is_gone).count()
    }

    /// Goes on to the next list until there is something to try.
    fn settle(&mut self) {
        loop {
            while self.list.end > 0 && self.list.units[self.list.end - 1].iter().all(|range| self.n_live(range) == 0) {
                self.list.end -= 1;
            }
            self.list.n_tried = self.list.n_tried.min(self.list.end);
            if self.list.end > 0 {
                return;
            }
            let division = Rc::clone(&self.division);
            let survivors = self.list.nodes.iter().copied();
            let survivors = survivors.filter(|node| {
                let node = &division.nodes[*node];
                (!node.children.is_empty() || !node.extras.is_empty()) && self.n_live(&node.bytes) > 0
            });
            let survivors: Vec<usize> = survivors.collect();
            self.open.extend(survivors);
            let extras = std::mem::take(&mut self.list.extras);
            if !extras.is_empty() {
                // The last unit of a list is tried first.
                let units: Vec<RemovalUnit> = extras.into_iter().rev().collect();
                self.list = UnitList { end: units.len(), n_tried: 1, units, ..UnitList::default() };
                continue;
            }
            self.list = UnitList::default();
            let largest =
                (0..self.open.len()).rev().max_by_key(|at| self.n_live(&division.nodes[self.open[*at]].bytes));
            let Some(largest) = largest else { return };
            let node = &division.nodes[self.open.remove(largest)];
            let live: Vec<usize> =
                node.children.iter().copied().filter(|child| self.n_live(&division.nodes[*child].bytes) > 0).collect();
            self.enter(&live, node.extras.clone());
        }
    }

    fn trial(&self) -> &[RemovalUnit] {
        &self.list.units[self.list.end - self.list.n_tried..self.list.end]
    }
}

impl ShrinkPlan for NodeRemoval {
    fn next(&self) -> Option<Vec<u8>> {
        if self.list.end == 0 {
            return None;
        }
        let mut is_gone = self.is_gone.clone();
        for range in self.trial().iter().flatten() {
            is_gone[range.clone()].fill(true);
        }
        Some(self.text.iter().zip(is_gone).filter(|(_, is_gone)| !is_gone).map(|(byte, _)| *byte).collect())
    }

    fn answer(&mut self, is_failing: bool) {
        self.has_hit = is_failing;
        let n_tried = self.list.n_tried;
        if is_failing {
            for range in self.trial().to_vec().iter().flatten() {
                self.is_gone[range.clone()].fill(true);
            }
            self.list.end -= n_tried;
            self.list.n_tried = if self.list.nodes.is_empty() { 1 } else { 2 * n_tried };
        } else if n_tried == 1 {
            self.list.end -= 1;
        } else {
            self.list.n_tried = n_tried / 2;
        }
        self.settle();
    }

    fn odds(&self) -> f64 {
        if self.has_hit { 0.6 } else { 0.15 }
    }
}
