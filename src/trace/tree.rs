//! The tree of calls and loops of a run.

use std::sync::Arc;

use crate::trace::place::Place;
use crate::trace::step::Step;

/// What a node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
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
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Its first step.
    pub step: Step,
    /// Its last step.
    pub last: Step,
    /// Where it is in the source.
    pub place: Option<Place>,
    /// For what is in a loop: in which iteration, from 1.
    pub iteration: Option<u64>,
    /// What is in it, in order.
    pub children: Vec<Node>,
    /// How many more there are directly in it that are left out.
    pub n_more: u64,
}

/// How much of a tree is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Nodes below each other.
    pub depth: usize,
    /// Nodes beside each other.
    pub width: usize,
}
