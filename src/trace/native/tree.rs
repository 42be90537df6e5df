//! The tree of calls and loops of a run.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::instrument::instruction::Op;
use crate::trace::TraceError;
use crate::trace::flow::BlockId;
use crate::trace::native::globals::Globals;
use crate::trace::native::machine::{Machine, Watch};
use crate::trace::native::object::View;
use crate::trace::native::play::Player;
use crate::trace::native::shape::Shape;
use crate::trace::step::Step;
use crate::trace::tree::{Kind, Limits, Node};

/// A node that has not ended.
struct Open {
    /// Its frame, and its head if it is a loop.
    frame: u64,
    head: Option<BlockId>,
    /// `None` if it is not wanted.
    node: Option<Node>,
    n_iterations: u64,
    has_arguments: bool,
}

/// The loops of a function.
struct Loops {
    /// The heads of the loops around each block, the outermost first.
    around: Vec<Vec<BlockId>>,
    /// For the head of a loop: the block that tests whether there is another iteration.
    tests: HashMap<BlockId, BlockId>,
}

impl Loops {
    fn of(shape: &Shape) -> Self {
        let around = shape.flow.loops();
        let heads: HashSet<BlockId> = around.iter().flatten().copied().collect();
        let tests = heads.into_iter().map(|head| (head, test(shape, head, &around))).collect();
        Self { around, tests }
    }
}

/// The block that tests whether there is another iteration of a loop: its head, but where the condition has an `&&`,
/// `||` or `?:` the block where the values that those choose among come together.
fn test(shape: &Shape, head: BlockId, around: &[Vec<BlockId>]) -> BlockId {
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

struct Builder<'b> {
    limits: Limits,
    globals: &'b Globals,
    words: &'b [u8],
    open: HashMap<u32, Vec<Open>>,
    /// What no open node has, by thread, and how many are left out.
    roots: BTreeMap<u32, (Vec<Node>, u64)>,
    /// For each thread what was closed last by a return; its value comes later.
    loops: HashMap<u32, Rc<Loops>>,
    last_returned: Option<u64>,
}

impl Builder<'_> {
    fn push(&mut self, machine: &Machine, open: Open) {
        self.open.entry(machine.thread).or_default().push(open);
    }

    /// Whether another node is wanted in the last open one.
    fn has_room(&self, thread: u32) -> bool {
        let open = self.open.get(&thread).map_or(&[][..], Vec::as_slice);
        match open.last() {
            None => self.roots.get(&thread).is_none_or(|(roots, _)| roots.len() < self.limits.width),
            Some(last) => {
                open.len() < self.limits.depth
                    && last.node.as_ref().is_some_and(|node| node.children.len() < self.limits.width)
            }
        }
    }

    fn close(&mut self, machine: &Machine, is_return: bool) {
        let open = self.open.entry(machine.thread).or_default();
        let Some(mut closed) = open.pop() else { return };
        if let Some(node) = &mut closed.node {
            node.last = Step(machine.n_steps);
            match &mut node.kind {
                Kind::Loop { n_iterations } => *n_iterations = closed.n_iterations,
                Kind::Call { is_unfinished, .. } => *is_unfinished = !is_return,
            }
        }
        let iteration = open.last().filter(|last| last.head.is_some()).map(|last| last.n_iterations);
        let (children, n_more) = if let Some(last) = open.last_mut() {
            let Some(node) = &mut last.node else { return };
            (&mut node.children, &mut node.n_more)
        } else {
            let (roots, n_more) = self.roots.entry(machine.thread).or_default();
            (roots, n_more)
        };
        match closed.node {
            Some(node) => children.push(Node { iteration, ..node }),
            None => *n_more += 1,
        }
    }

    /// Notes what the last call was given: before its first statement, and before a loop that its body begins with.
    fn note_arguments(&mut self, machine: &Machine) {
        let Some(frame) = machine.frame() else { return };
        let Some(open) = self.open.get_mut(&machine.thread).and_then(|open| open.last_mut()) else { return };
        if open.has_arguments || open.head.is_some() || open.frame != frame.number {
            return;
        }
        open.has_arguments = true;
        if let Some(Node { kind: Kind::Call { arguments, .. }, .. }) = &mut open.node {
            let view = View { machine, globals: self.globals, words: self.words };
            *arguments = Some(view.arguments(frame));
        }
    }

    /// Closes the loops that were left, and opens those that were entered.
    fn note_loops(&mut self, machine: &Machine) {
        let Some(frame) = machine.frame() else { return };
        let loops = self.loops.entry(frame.shape.index).or_insert_with(|| Rc::new(Loops::of(&frame.shape)));
        let loops = Rc::clone(loops);
        let around = &loops.around[frame.block.0 as usize];
        let number = frame.number;
        if around.is_empty()
            && self.open.get(&machine.thread).and_then(|open| open.last()).is_none_or(|last| last.head.is_none())
        {
            return;
        }
        loop {
            let open = self.open.entry(machine.thread).or_default();
            let n_loops = open.iter().rev().take_while(|open| open.frame == number && open.head.is_some()).count();
            let heads = open[open.len() - n_loops..].iter().map(|open| open.head);
            if n_loops <= around.len() && heads.zip(around).all(|(head, expected)| head == Some(*expected)) {
                let is_again = around.last() == Some(&frame.block) && n_loops == around.len();
                if is_again {
                    if let Some(last) = open.last_mut() {
                        last.n_iterations += 1;
                    }
                    return;
                }
                break;
            }
            if let Some(last) = open.last_mut() {
                // Left from elsewhere than where it is tested: the iteration was begun.
                let test = last.head.and_then(|head| loops.tests.get(&head));
                last.n_iterations += u64::from(test != Some(&frame.block_before));
            }
            self.close(machine, true);
        }
        let n_open = {
            let open = &self.open[&machine.thread];
            open.iter().rev().take_while(|open| open.frame == number && open.head.is_some()).count()
        };
        for head in &around[n_open..] {
            let first = frame.shape.statements.iter().find(|statement| statement.block == *head);
            let node = self.has_room(machine.thread).then(|| Node {
                kind: Kind::Loop { n_iterations: 0 },
                step: Step(machine.n_steps + 1),
                last: Step(machine.n_steps + 1),
                place: first.and_then(|statement| statement.place.clone()),
                iteration: None,
                children: Vec::new(),
                n_more: 0,
            });
            self.push(machine, Open { frame: number, head: Some(*head), node, n_iterations: 0, has_arguments: true });
        }
    }
}

impl Watch for Builder<'_> {
    fn enters(&mut self, machine: &Machine) {
        let Some(frame) = machine.frame() else { return };
        let is_earlier = machine.is_window && frame.is_partial;
        let is_root = self.open.get(&machine.thread).is_none_or(Vec::is_empty);
        // Whoever was called earlier and is met only now had called all that was met before.
        let within = if is_earlier && is_root { self.roots.remove(&machine.thread) } else { None };
        let first = Step(machine.n_steps + 1);
        let node = self.has_room(machine.thread).then(|| {
            let (function, arguments) = (frame.shape.name(), Some(Vec::new()));
            let (children, n_more) = within.unwrap_or_default();
            Node {
                kind: Kind::Call { function, arguments, result: None, is_unfinished: true, is_earlier },
                step: children.first().map_or(first, |child| child.step),
                last: first,
                place: frame.shape.statements[0].place.clone(),
                iteration: None,
                children,
                n_more,
            }
        });
        let frame = frame.number;
        self.push(machine, Open { frame, head: None, node, n_iterations: 0, has_arguments: is_earlier });
    }

    fn step(&mut self, machine: &Machine) {
        if machine.frame().is_some_and(|frame| frame.statement != 0) {
            self.note_arguments(machine);
        }
    }

    fn block(&mut self, machine: &Machine) {
        self.note_arguments(machine);
        self.note_loops(machine);
    }

    fn leaves(&mut self, machine: &Machine, is_return: bool) {
        let Some(frame) = machine.frame() else { return };
        loop {
            let Some(open) = self.open.get_mut(&machine.thread).and_then(|open| open.last_mut()) else { return };
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

    fn returned(&mut self, machine: &Machine, result: Option<u64>) {
        let (Some(result), Some(_)) = (result, self.last_returned.take()) else { return };
        let view = View { machine, globals: self.globals, words: self.words };
        let Some(frame) = machine.frame() else { return };
        let Some((text, _)) = view.result(frame, result) else { return };
        let last = self.open.get_mut(&machine.thread).and_then(|open| open.last_mut());
        let children = match last {
            Some(open) => match &mut open.node {
                Some(node) if node.n_more == 0 => &mut node.children,
                _ => return,
            },
            None => return,
        };
        if let Some(Node { kind: Kind::Call { result, .. }, .. }) = children.last_mut() {
            *result = Some(text);
        }
    }
}

/// Takes away what is deeper than wanted: in calls that were met after what they had called.
fn prune(node: &mut Node, depth: usize) {
    if depth <= 1 {
        node.n_more += node.children.len() as u64;
        node.children.clear();
    }
    for child in &mut node.children {
        prune(child, depth - 1);
    }
}

/// The tree of a whole run: the first calls of its threads, and how many are left out.
pub fn tree(player: &mut Player, limits: Limits) -> Result<(Vec<Node>, u64), TraceError> {
    player.rewind(Step(1));
    let (globals, words) = (Arc::clone(&player.globals), player.trace().process.words.clone());
    let mut builder = Builder {
        limits,
        globals: &globals,
        words: &words,
        open: HashMap::new(),
        roots: BTreeMap::new(),
        loops: HashMap::new(),
        last_returned: None,
    };
    player.play(&mut builder)?;
    let threads: Vec<u32> = builder.open.keys().copied().collect();
    for thread in threads {
        player.machine.thread = thread;
        while builder.open.get(&thread).is_some_and(|open| !open.is_empty()) {
            builder.close(&player.machine, false);
        }
    }
    let n_more = builder.roots.values().map(|(_, n_more)| n_more).sum();
    let mut roots: Vec<Node> = builder.roots.into_values().flat_map(|(roots, _)| roots).collect();
    roots.sort_by_key(|root| root.step);
    for root in &mut roots {
        prune(root, limits.depth);
    }
    Ok((roots, n_more))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::native::stored::player;

    const ALL: Limits = Limits { depth: 100, width: 100 };

    /// A node in a line: `total(node = ...) = 11`, or `3 times`, with what is in it.
    fn line(node: &Node) -> String {
        let mut text = match &node.kind {
            Kind::Call { function, arguments, result, is_unfinished, .. } => {
                let arguments: Vec<String> =
                    arguments.iter().flatten().map(|(name, value)| format!("{name} = {value}")).collect();
                let result = result.as_ref().map(|result| format!(" = {result}")).unwrap_or_default();
                let end = if *is_unfinished { " ..." } else { "" };
                format!("{function}({}){result}{end}", arguments.join(", "))
            }
            Kind::Loop { n_iterations } => format!("{n_iterations} times"),
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
    fn check(program: &str, limits: Limits, expected: &str) {
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
            Limits { depth: 2, ..ALL },
            "main() {may_climb(height = 5000) = 0; answer(height = 5000) = 10 {1 more}}",
        );
        check("returns", Limits { depth: 100, width: 1 }, "main() {may_climb(height = 5000) = 0; 1 more}");
        check("returns", Limits { depth: 1, ..ALL }, "main() {2 more}");
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
