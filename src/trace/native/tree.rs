//! The tree of calls and loops of a run.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::instrument::Op;
use crate::native::{FunctionShape, NativeMachine, NativePlayer, View, Watch};
use crate::tree::{CallNode, GrowingTree, NodeKind, OpenNode, TreeLimits};
use crate::{BlockId, Step, TraceError};

struct Loops {
    /// The heads of the loops around each block, the outermost first.
    around: Vec<Vec<BlockId>>,
    /// For the head of a loop: the block that tests whether there is another iteration.
    tests: HashMap<BlockId, BlockId>,
}

impl Loops {
    fn of(shape: &FunctionShape) -> Self {
        let around = shape.flow.loops();
        let heads: HashSet<BlockId> = around.iter().flatten().copied().collect();
        let tests = heads.into_iter().map(|head| (head, test(shape, head, &around))).collect();
        Self { around, tests }
    }
}

/// The block that tests whether there is another iteration of a loop: its head, but where the condition has an `&&`,
/// `||` or `?:` the block where the values that those choose among come together.
fn test(shape: &FunctionShape, head: BlockId, around: &[Vec<BlockId>]) -> BlockId {
    let is_outside = |block: &BlockId| !around[block.0 as usize].contains(&head);
    let mut block = head;
    loop {
        let next = &shape.flow.successors[block.0 as usize];
        if next.iter().any(is_outside) {
            return if next.contains(&head) { head } else { block };
        }
        let joins = |block: &BlockId| {
            let instructions = &shape.body.function.block(*block).instructions;
            instructions.first().is_some_and(|first| matches!(first.op, Op::Phi(_)))
        };
        let end = shape.flow.post_dominator[block.0 as usize];
        match end.filter(|end| next.len() > 1 && !is_outside(end) && joins(end)) {
            Some(end) => block = end,
            None => return head,
        }
    }
}

struct NativeTreeBuilder {
    /// Of each open node is known whether it has its arguments.
    tree: GrowingTree<bool>,
    /// For each thread what was closed last by a return; its value comes later.
    loops: HashMap<u32, Rc<Loops>>,
    last_returned: Option<u64>,
}

impl NativeTreeBuilder {
    fn close(&mut self, machine: &NativeMachine, is_return: bool) {
        let Some(mut closed) = self.tree.open(machine.thread).pop() else { return };
        if let Some(node) = &mut closed.node {
            node.last = Step(machine.n_steps);
            match &mut node.kind {
                NodeKind::Loop { n_iterations } => *n_iterations = closed.n_iterations,
                NodeKind::Call { is_unfinished, .. } => *is_unfinished = !is_return,
            }
        }
        self.tree.add(machine.thread, closed.node, 0);
    }

    /// Notes what the last call was given: before its first statement, and before a loop that its body begins with.
    fn note_arguments(&mut self, machine: &NativeMachine) {
        let Some(frame) = machine.frame() else { return };
        let Some(open) = self.tree.last(machine.thread) else { return };
        if open.known || open.head.is_some() || open.frame != frame.number {
            return;
        }
        open.known = true;
        if let Some(CallNode { kind: NodeKind::Call { arguments, .. }, .. }) = &mut open.node {
            *arguments = Some(View::new(machine).arguments(frame));
        }
    }

    /// Closes the loops that were left, and opens those that were entered.
    fn note_loops(&mut self, machine: &NativeMachine) {
        let Some(frame) = machine.frame() else { return };
        let loops = self.loops.entry(frame.shape.index).or_insert_with(|| Rc::new(Loops::of(&frame.shape)));
        let loops = Rc::clone(loops);
        let around = &loops.around[frame.block.0 as usize];
        let number = frame.number;
        if around.is_empty() && self.tree.last(machine.thread).is_none_or(|last| last.head.is_none()) {
            return;
        }
        loop {
            let n_loops = self.tree.n_loops_of(machine.thread, number, around);
            let last = self.tree.last(machine.thread);
            if let Some(n_loops) = n_loops {
                let is_again = around.last() == Some(&frame.block) && n_loops == around.len();
                if is_again {
                    if let Some(last) = last {
                        last.n_iterations += 1;
                    }
                    return;
                }
                break;
            }
            if let Some(last) = last {
                // Left from elsewhere than where it is tested: the iteration was begun.
                let test = last.head.and_then(|head| loops.tests.get(&head));
                last.n_iterations += u64::from(test != Some(&frame.block_before));
            }
            self.close(machine, true);
        }
        let n_open = self.tree.n_loops(machine.thread, number);
        for head in &around[n_open..] {
            let first = frame.shape.statements.iter().find(|statement| statement.block == *head);
            let node = self.tree.has_room(machine.thread).then(|| {
                let place = first.and_then(|statement| statement.place.clone());
                CallNode::new(NodeKind::Loop { n_iterations: 0 }, Step(machine.n_steps + 1), place)
            });
            let open = OpenNode { frame: number, head: Some(*head), node, n_iterations: 0, known: true };
            self.tree.open(machine.thread).push(open);
        }
    }
}

impl Watch for NativeTreeBuilder {
    fn enters(&mut self, machine: &NativeMachine) {
        let Some(frame) = machine.frame() else { return };
        let is_earlier = machine.is_window && frame.is_partial;
        let is_root = self.tree.last(machine.thread).is_none();
        // Whoever was called earlier and is met only now had called all that was met before.
        let within = if is_earlier && is_root { self.tree.roots.remove(&machine.thread) } else { None };
        let first = Step(machine.n_steps + 1);
        let node = self.tree.has_room(machine.thread).then(|| {
            let (function, arguments) = (frame.shape.name(), Some(Vec::new()));
            let (children, n_more) = within.unwrap_or_default();
            let kind = NodeKind::Call { function, arguments, result: None, is_unfinished: true, is_earlier };
            let step = children.first().map_or(first, |child| child.step);
            CallNode {
                last: first,
                children,
                n_more,
                ..CallNode::new(kind, step, frame.shape.statements[0].place.clone())
            }
        });
        let open = OpenNode { frame: frame.number, head: None, node, n_iterations: 0, known: is_earlier };
        self.tree.open(machine.thread).push(open);
    }

    fn step(&mut self, machine: &NativeMachine) {
        if machine.frame().is_some_and(|frame| frame.statement != 0) {
            self.note_arguments(machine);
        }
    }

    fn block(&mut self, machine: &NativeMachine) {
        self.note_arguments(machine);
        self.note_loops(machine);
    }

    fn leaves(&mut self, machine: &NativeMachine, is_return: bool) {
        let Some(frame) = machine.frame() else { return };
        loop {
            let Some(open) = self.tree.last(machine.thread) else { return };
            if open.frame != frame.number {
                return;
            }
            let is_loop = open.head.is_some();
            if is_loop {
                open.n_iterations += 1;
            }
            self.close(machine, is_return || is_loop);
            if !is_loop {
                self.last_returned = is_return.then_some(frame.number);
                return;
            }
        }
    }

    fn returned(&mut self, machine: &NativeMachine, result: Option<u64>) {
        let (Some(result), Some(_)) = (result, self.last_returned.take()) else { return };
        let Some(frame) = machine.frame() else { return };
        let Some((text, _)) = View::new(machine).result(frame, result) else { return };
        let last = self.tree.last(machine.thread).and_then(|open| open.node.as_mut());
        let called = last.filter(|node| node.n_more == 0).and_then(|node| node.children.last_mut());
        if let Some(CallNode { kind: NodeKind::Call { result, .. }, .. }) = called {
            *result = Some(text);
        }
    }
}

/// Takes away what is deeper than wanted: in calls that were met after what they had called.
fn prune(node: &mut CallNode, depth: usize) {
    if depth <= 1 {
        node.n_more += node.children.len() as u64;
        node.children.clear();
    }
    for child in &mut node.children {
        prune(child, depth - 1);
    }
}

/// The tree of a whole run: the first calls of its threads, and how many are left out.
pub fn tree(player: &mut NativePlayer, limits: TreeLimits) -> Result<(Vec<CallNode>, u64), TraceError> {
    player.rewind(Step(1));
    let mut builder = NativeTreeBuilder { tree: GrowingTree::new(limits), loops: HashMap::new(), last_returned: None };
    player.play(&mut builder)?;
    for thread in builder.tree.threads() {
        player.machine.thread = thread;
        while builder.tree.last(thread).is_some() {
            builder.close(&player.machine, false);
        }
    }
    let (mut roots, n_more) = builder.tree.end();
    for root in &mut roots {
        prune(root, limits.depth);
    }
    Ok((roots, n_more))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::stored::player;

    const ALL: TreeLimits = TreeLimits { depth: 100, width: 100 };

    /// A node in a line: `total(node = ...) = 11`, or `3 times`, with what is in it.
    fn line(node: &CallNode) -> String {
        let mut text = match &node.kind {
            NodeKind::Call { function, arguments, result, is_unfinished, .. } => {
                let arguments: Vec<String> =
                    arguments.iter().flatten().map(|(name, value)| format!("{name} = {value}")).collect();
                let result = result.as_ref().map(|result| format!(" = {result}")).unwrap_or_default();
                let end = if *is_unfinished { " ..." } else { "" };
                format!("{function}({}){result}{end}", arguments.join(", "))
            }
            NodeKind::Loop { n_iterations } => format!("{n_iterations} times"),
        };
        if let Some(iteration) = node.iteration {
            text = format!("{iteration}: {text}");
        }
        let mut inside: Vec<String> = node.children.iter().map(line).collect();
        if node.n_more > 0 {
            inside.push(format!("{} more", node.n_more));
        }
        if inside.is_empty() { text } else { format!("{text} {{{}}}", inside.join("; ")) }
    }

    #[track_caller]
    fn check(program: &str, limits: TreeLimits, expected: &str) {
        let (roots, n_more) = tree(&mut player(program, "bad"), limits).unwrap();
        assert_eq!((roots.iter().map(line).collect::<Vec<_>>().join("; "), n_more), (expected.to_owned(), 0));
    }

    #[test]
    fn calls_have_their_arguments_and_results_in_order() {
        check(
            "returns",
            ALL,
            "main() {may_climb(height = 5000) = 0; answer(height = 5000) = 10 {may_climb(height = 5000) = 0}}",
        );
    }

    #[test]
    fn what_is_left_out_is_counted() {
        check(
            "returns",
            TreeLimits { depth: 2, ..ALL },
            "main() {may_climb(height = 5000) = 0; answer(height = 5000) = 10 {1 more}}",
        );
        check("returns", TreeLimits { depth: 100, width: 1 }, "main() {may_climb(height = 5000) = 0; 1 more}");
        check("returns", TreeLimits { depth: 1, ..ALL }, "main() {2 more}");
    }

    #[test]
    fn a_loop_has_its_iterations() {
        let (roots, _) = tree(&mut player("text", "bad"), ALL).unwrap();
        let [fill] = &roots[0].children[..] else { panic!("{roots:?}") };
        let [while_loop] = &fill.children[..] else { panic!("{roots:?}") };
        assert_eq!(line(while_loop), "8 times");
        assert!(while_loop.step > fill.step && while_loop.last < fill.last);
        assert_eq!(while_loop.place.as_ref().unwrap().line, 10);
        let (roots, _) = tree(&mut player("list", "bad"), ALL).unwrap();
        let [made, total] = &roots[0].children[..] else { panic!("{roots:?}") };
        assert_eq!(line(made), "3 times");
        assert!(line(total).ends_with(" = 11 {3 times}"), "{}", line(total));
    }

    #[test]
    fn a_call_that_crashed_has_not_ended() {
        let (roots, _) = tree(&mut player("crash", "bad"), ALL).unwrap();
        let text = line(&roots[0]);
        assert!(text.starts_with("main() ... {size(whole = ") && text.ends_with(" ...}"), "{text}");
    }
}
