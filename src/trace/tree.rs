//! The tree of calls and loops of a run.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::{BlockId, Place, Step};

/// What a node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeKind {
    /// A call of a function of the program.
    Call {
        /// The function.
        function: Arc<str>,
        /// Its parameters and their values; `None` if values were not recorded.
        arguments: Option<Vec<(Arc<str>, String)>>,
        /// What it returned; `None` if nothing, or it never did.
        result: Option<String>,
        /// Whether it was left otherwise than by a return, or not at all.
        is_unfinished: bool,
        /// Whether it was called before the part of the run that was kept, so that its arguments are not known.
        is_earlier: bool,
    },
    /// A loop.
    Loop {
        /// How often its body ran.
        n_iterations: u64,
    },
}

/// A call or a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallNode {
    /// What it is.
    pub kind: NodeKind,
    /// Its first step.
    pub step: Step,
    /// Its last step.
    pub last: Step,
    /// Where it is in the source.
    pub place: Option<Place>,
    /// For what is in a loop: in which iteration, from 1.
    pub iteration: Option<u64>,
    /// What is in it, in order.
    pub children: Vec<CallNode>,
    /// How many more there are directly in it that are left out.
    pub n_more: u64,
}

/// How much of a tree is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeLimits {
    /// Nodes below each other.
    pub depth: usize,
    /// Nodes beside each other.
    pub width: usize,
}

impl CallNode {
    /// A node that begins with a step.
    pub fn new(kind: NodeKind, step: Step, place: Option<Place>) -> Self {
        Self { kind, step, last: step, place, iteration: None, children: Vec::new(), n_more: 0 }
    }
}

/// A node that has not ended.
pub struct OpenNode<T> {
    /// Its frame.
    pub frame: u64,
    /// Its head if it is a loop.
    pub head: Option<BlockId>,
    /// The node; `None` if it is not wanted.
    pub node: Option<CallNode>,
    /// The iterations of a loop so far.
    pub n_iterations: u64,
    /// What a language knows of it besides.
    pub known: T,
}

/// A tree that grows while a run is replayed.
pub struct GrowingTree<T> {
    limits: TreeLimits,
    open: HashMap<u32, Vec<OpenNode<T>>>,
    /// The nodes that no open node has, by thread, and how many are left out.
    pub roots: BTreeMap<u32, (Vec<CallNode>, u64)>,
}

impl<T> GrowingTree<T> {
    /// An empty tree.
    pub fn new(limits: TreeLimits) -> Self {
        Self { limits, open: HashMap::new(), roots: BTreeMap::new() }
    }

    /// The threads that ran.
    pub fn threads(&self) -> Vec<u32> {
        self.open.keys().copied().collect()
    }

    /// The open nodes of a thread, the innermost last.
    pub fn open(&mut self, thread: u32) -> &mut Vec<OpenNode<T>> {
        self.open.entry(thread).or_default()
    }

    /// The innermost open node of a thread.
    pub fn last(&mut self, thread: u32) -> Option<&mut OpenNode<T>> {
        self.open.get_mut(&thread)?.last_mut()
    }

    /// Whether another node is wanted in the last open one.
    pub fn has_room(&self, thread: u32) -> bool {
        let open = self.open.get(&thread).map_or(&[][..], Vec::as_slice);
        match open.last() {
            None => self.roots.get(&thread).is_none_or(|(roots, _)| roots.len() < self.limits.width),
            Some(last) => {
                open.len() < self.limits.depth
                    && last.node.as_ref().is_some_and(|node| node.children.len() < self.limits.width)
            }
        }
    }

    /// The number of innermost open nodes of a thread that are loops of a frame.
    pub fn n_loops(&mut self, thread: u32, frame: u64) -> usize {
        self.open(thread).iter().rev().take_while(|open| open.frame == frame && open.head.is_some()).count()
    }

    /// The same number, if these loops have the first heads of `around`.
    pub fn n_loops_of(&mut self, thread: u32, frame: u64, around: &[BlockId]) -> Option<usize> {
        let n_loops = self.n_loops(thread, frame);
        let open = self.open(thread);
        let mut heads = open[open.len() - n_loops..].iter().map(|open| open.head).zip(around);
        (n_loops <= around.len() && heads.all(|(head, expected)| head == Some(*expected))).then_some(n_loops)
    }

    /// Adds a node that has ended to the last open one; `None` is one that is not wanted.
    ///
    /// - `n_begun`: how many iterations are counted that have not ended.
    pub fn add(&mut self, thread: u32, node: Option<CallNode>, n_begun: u64) {
        let last = self.open.get_mut(&thread).and_then(|open| open.last_mut());
        let last_iteration = last.as_ref().filter(|last| last.head.is_some()).map(|last| last.n_iterations);
        let iteration = last_iteration.map(|n_iterations| n_iterations.saturating_sub(n_begun));
        let (children, n_more) = match last {
            Some(OpenNode { node: Some(node), .. }) => (&mut node.children, &mut node.n_more),
            Some(_) => return,
            None => {
                let (roots, n_more) = self.roots.entry(thread).or_default();
                (roots, n_more)
            }
        };
        match node {
            Some(node) => children.push(CallNode { iteration, ..node }),
            None => *n_more += 1,
        }
    }

    /// The nodes that no other one has, in order, and how many are left out.
    pub fn end(self) -> (Vec<CallNode>, u64) {
        let n_more = self.roots.values().map(|(_, n_more)| n_more).sum();
        let mut roots: Vec<CallNode> = self.roots.into_values().flat_map(|(roots, _)| roots).collect();
        roots.sort_by_key(|root| root.step);
        (roots, n_more)
    }
}
