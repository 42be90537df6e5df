//! The tree of calls and loops of a run.

use crate::instrument::java::descriptor::result_type;
use crate::instrument::java::sites::RecordedContent;
use crate::java::{JavaFrame, JavaMachine, JavaPlayer, JavaValue, MachineMethod, ValueLocation, Watch, text};
use crate::tree::{CallNode, GrowingTree, NodeKind, OpenNode, TreeLimits};
use crate::{BlockId, Step, TraceError};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// How a call or loop ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum NodeEnd {
    /// The call returned a value, or nothing; the method of the loop ended.
    Returned(Option<String>),
    /// An exception ended the call, or it never ended; the loop ended by itself.
    Left,
}

struct JavaTreeBuilder {
    /// Of each open loop is known the block that was entered last in it.
    tree: GrowingTree<Option<BlockId>>,
    /// The heads of the loops around each block, by method.
    loops: HashMap<u32, Rc<Vec<Vec<BlockId>>>>,
    n_steps: u32,
}

impl JavaTreeBuilder {
    fn close(&mut self, thread: u32, end: NodeEnd) {
        let Some(mut closed) = self.tree.open(thread).pop() else { return };
        if let Some(node) = &mut closed.node {
            node.last = Step(self.n_steps);
            match &mut node.kind {
                // The last test of the head leads out of the loop.
                NodeKind::Loop { n_iterations } => {
                    *n_iterations =
                        closed.n_iterations - u64::from(closed.known == closed.head && end == NodeEnd::Left);
                }
                NodeKind::Call { is_unfinished, result, .. } => {
                    *is_unfinished = end == NodeEnd::Left;
                    *result = if let NodeEnd::Returned(value) = end { value } else { None };
                }
            }
        }
        self.tree.add(thread, closed.node, 1);
    }

    fn loops(&mut self, method: &MachineMethod) -> Rc<Vec<Vec<BlockId>>> {
        Rc::clone(self.loops.entry(method.number).or_insert_with(|| Rc::new(method.blocks.flow.loops())))
    }

    /// Closes the loops that were left, and opens those that were entered.
    fn note_loops(&mut self, thread: u32, frame: &JavaFrame, block: BlockId) {
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
            self.close(thread, NodeEnd::Left);
        }
        let n_open = self.tree.n_loops(thread, frame.number);
        for head in &around[n_open..] {
            let first = frame.method.blocks.ranges[head.0 as usize].start;
            let place = &frame.method.places[frame.method.starts[first as usize] as usize];
            let kind = NodeKind::Loop { n_iterations: 0 };
            let node = self.tree.has_room(thread).then(|| CallNode::new(kind, frame.step, Some(place.clone())));
            let (frame, head) = (frame.number, Some(*head));
            self.tree.open(thread).push(OpenNode { frame, head, node, n_iterations: 1, known: Some(block) });
        }
    }
}

impl Watch for JavaTreeBuilder {
    fn enters(&mut self, machine: &JavaMachine, frame: &JavaFrame) {
        let node = self.tree.has_room(machine.thread).then(|| {
            let kind = NodeKind::Call {
                function: Arc::clone(&frame.method.function),
                arguments: (machine.program.content() == RecordedContent::Values).then(Vec::new),
                result: None,
                is_unfinished: true,
                is_earlier: false,
            };
            CallNode::new(kind, frame.step, Some(frame.place().clone()).filter(|place| place.line != 0))
        });
        let open = OpenNode { frame: frame.number, head: None, node, n_iterations: 0, known: None };
        self.tree.open(machine.thread).push(open);
    }

    fn writes(&mut self, machine: &JavaMachine, frame: &JavaFrame, location: ValueLocation, value: JavaValue) {
        // What is written before the first statement are the parameters.
        if frame.is_begun || !matches!(location, ValueLocation::Local(_)) {
            return;
        }
        let last = self.tree.last(machine.thread);
        if let Some(CallNode { kind: NodeKind::Call { arguments: Some(arguments), .. }, .. }) =
            last.and_then(|last| last.node.as_mut())
        {
            let name = text::name(machine, frame, location);
            let value = text::value(machine, &name.descriptor, value);
            arguments.push((name.text.into(), value));
        }
    }

    fn step(&mut self, machine: &JavaMachine, frame: &JavaFrame) {
        self.n_steps = frame.step.0;
        if let Some(block) = frame.block.filter(|_| frame.step != frame.entry)
            && frame.method.block_at(frame.at).is_some()
        {
            self.note_loops(machine.thread, frame, block);
        }
    }

    fn leaves(&mut self, machine: &JavaMachine, frame: &JavaFrame, is_return: bool, result: Option<JavaValue>) {
        let descriptor = result_type(&frame.method.descriptor);
        let has_values = machine.program.content() == RecordedContent::Values;
        let result = result.filter(|_| has_values).map(|result| text::value(machine, descriptor, result));
        loop {
            let last = self.tree.last(machine.thread).filter(|last| last.frame == frame.number);
            let Some(last) = last else { return };
            if last.head.is_some() {
                self.close(machine.thread, NodeEnd::Returned(None));
            } else {
                self.close(machine.thread, if is_return { NodeEnd::Returned(result) } else { NodeEnd::Left });
                return;
            }
        }
    }
}

/// The tree of a whole run: the first calls of its threads, and how many are left out.
///
/// Cost: one pass over the trace.
pub fn tree(player: &mut JavaPlayer, limits: TreeLimits) -> Result<(Vec<CallNode>, u64), TraceError> {
    let mut builder = JavaTreeBuilder { tree: GrowingTree::new(limits), loops: HashMap::new(), n_steps: 0 };
    player.replay(&mut builder)?;
    for thread in builder.tree.threads() {
        while builder.tree.last(thread).is_some() {
            builder.close(thread, NodeEnd::Left);
        }
    }
    Ok(builder.tree.end())
}
