//! The tree of calls and loops of a run.

use crate::TraceError;
use crate::flow::BlockId;
use crate::instrument::java::descriptor::result_type;
use crate::instrument::java::sites::Content;
use crate::java::machine::{Frame, Location, Machine, Value, Watch};
use crate::java::method::Method;
use crate::java::player::Player;
use crate::java::text;
use crate::step::Step;
use crate::tree::{GrowingTree, Kind, Limits, Node, OpenNode};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// How a call or loop ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    /// The call returned a value, or nothing; the method of the loop ended.
    Returned(Option<String>),
    /// An exception ended the call, or it never ended; the loop ended by itself.
    Left,
}

struct Builder {
    /// Of each open loop is known the block that was entered last in it.
    tree: GrowingTree<Option<BlockId>>,
    /// The heads of the loops around each block, by method.
    loops: HashMap<u32, Rc<Vec<Vec<BlockId>>>>,
    n_steps: u32,
}

impl Builder {
    fn close(&mut self, thread: u32, end: End) {
        let Some(mut closed) = self.tree.open(thread).pop() else { return };
        if let Some(node) = &mut closed.node {
            node.last = Step(self.n_steps);
            match &mut node.kind {
                // The last test of the head leads out of the loop.
                Kind::Loop { n_iterations } => {
                    *n_iterations = closed.n_iterations - u64::from(closed.known == closed.head && end == End::Left);
                }
                Kind::Call { is_unfinished, result, .. } => {
                    *is_unfinished = end == End::Left;
                    *result = if let End::Returned(value) = end { value } else { None };
                }
            }
        }
        self.tree.add(thread, closed.node, 1);
    }

    fn loops(&mut self, method: &Method) -> Rc<Vec<Vec<BlockId>>> {
        Rc::clone(self.loops.entry(method.number).or_insert_with(|| Rc::new(method.blocks.flow.loops())))
    }

    /// Closes the loops that were left, and opens those that were entered.
    fn note_loops(&mut self, thread: u32, frame: &Frame, block: BlockId) {
        let loops = self.loops(&frame.method);
        let around = &loops[block.0 as usize];
        loop {
            if let Some(n_loops) = self.tree.n_loops_of(thread, frame.number, around) {
                if n_loops == around.len() {
                    if let Some(last) = self.tree.last(thread).filter(|_| n_loops > 0) {
                        last.n_iterations += u64::from(last.head == Some(block));
                        last.known = Some(block);
                    }
                    return;
                }
                break;
            }
            self.close(thread, End::Left);
        }
        let n_open = self.tree.n_loops(thread, frame.number);
        for head in &around[n_open..] {
            let first = frame.method.blocks.ranges[head.0 as usize].start;
            let place = &frame.method.places[frame.method.starts[first as usize] as usize];
            let kind = Kind::Loop { n_iterations: 0 };
            let node = self.tree.has_room(thread).then(|| Node::new(kind, frame.step, Some(place.clone())));
            let (frame, head) = (frame.number, Some(*head));
            self.tree.open(thread).push(OpenNode { frame, head, node, n_iterations: 1, known: Some(block) });
        }
    }
}

impl Watch for Builder {
    fn enters(&mut self, machine: &Machine, frame: &Frame) {
        let node = self.tree.has_room(machine.thread).then(|| {
            let kind = Kind::Call {
                function: Arc::clone(&frame.method.function),
                arguments: (machine.program.content() == Content::Values).then(Vec::new),
                result: None,
                is_unfinished: true,
                is_earlier: false,
            };
            Node::new(kind, frame.step, Some(frame.place().clone()).filter(|place| place.line != 0))
        });
        let open = OpenNode { frame: frame.number, head: None, node, n_iterations: 0, known: None };
        self.tree.open(machine.thread).push(open);
    }

    fn writes(&mut self, machine: &Machine, frame: &Frame, location: Location, value: Value) {
        // What is written before the first statement are the parameters.
        if frame.is_begun || !matches!(location, Location::Local(_)) {
            return;
        }
        let last = self.tree.last(machine.thread);
        if let Some(Node { kind: Kind::Call { arguments: Some(arguments), .. }, .. }) =
            last.and_then(|last| last.node.as_mut())
        {
            let name = text::name(machine, frame, location);
            let value = text::value(machine, &name.descriptor, value);
            arguments.push((name.text.into(), value));
        }
    }

    fn step(&mut self, machine: &Machine, frame: &Frame) {
        self.n_steps = frame.step.0;
        if let Some(block) = frame.block.filter(|_| frame.step != frame.entry)
            && frame.method.block_at(frame.at).is_some()
        {
            self.note_loops(machine.thread, frame, block);
        }
    }

    fn leaves(&mut self, machine: &Machine, frame: &Frame, is_return: bool, result: Option<Value>) {
        let descriptor = result_type(&frame.method.descriptor);
        let has_values = machine.program.content() == Content::Values;
        let result = result.filter(|_| has_values).map(|result| text::value(machine, descriptor, result));
        loop {
            let last = self.tree.last(machine.thread).filter(|last| last.frame == frame.number);
            let Some(last) = last else { return };
            if last.head.is_some() {
                self.close(machine.thread, End::Returned(None));
            } else {
                self.close(machine.thread, if is_return { End::Returned(result) } else { End::Left });
                return;
            }
        }
    }
}

/// The tree of a whole run: the first calls of its threads, and how many are left out.
///
/// Cost: one pass over the trace.
pub fn tree(player: &mut Player, limits: Limits) -> Result<(Vec<Node>, u64), TraceError> {
    let mut builder = Builder { tree: GrowingTree::new(limits), loops: HashMap::new(), n_steps: 0 };
    player.replay(&mut builder)?;
    for thread in builder.tree.threads() {
        while builder.tree.last(thread).is_some() {
            builder.close(thread, End::Left);
        }
    }
    Ok(builder.tree.end())
}
