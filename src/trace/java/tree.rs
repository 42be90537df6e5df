//! The tree of calls and loops of a run.

use crate::instrument::java::descriptor::result_type;
use crate::instrument::java::sites::Content;
use crate::trace::TraceError;
use crate::trace::flow::BlockId;
use crate::trace::java::frame::Frame;
use crate::trace::java::machine::{Machine, Watch};
use crate::trace::java::memory::Location;
use crate::trace::java::method::Method;
use crate::trace::java::player::Player;
use crate::trace::java::text;
use crate::trace::java::value::Value;
use crate::trace::step::Step;
use crate::trace::tree::{Kind, Limits, Node};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

/// A node that has not ended.
struct Open {
    /// Its activation, and its head if it is a loop.
    frame: u64,
    head: Option<BlockId>,
    /// `None` if it is not wanted.
    node: Option<Node>,
    n_iterations: u64,
    /// For a loop: the block that was entered last in it.
    block: Option<BlockId>,
}

/// How a call or loop ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    /// The call returned a value, or nothing; the method of the loop ended.
    Returned(Option<String>),
    /// An exception ended the call, or it never ended; the loop ended by itself.
    Left,
}

struct Builder {
    limits: Limits,
    open: HashMap<u32, Vec<Open>>,
    /// By thread, and how many are left out.
    roots: BTreeMap<u32, (Vec<Node>, u64)>,
    /// The heads of the loops around each block, by method.
    loops: HashMap<u32, Rc<Vec<Vec<BlockId>>>>,
    n_steps: u32,
}

impl Builder {
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

    fn close(&mut self, thread: u32, end: End) {
        let open = self.open.entry(thread).or_default();
        let Some(mut closed) = open.pop() else { return };
        if let Some(node) = &mut closed.node {
            node.last = Step(self.n_steps);
            match &mut node.kind {
                // The last test of the head leads out of the loop.
                Kind::Loop { n_iterations } => {
                    *n_iterations = closed.n_iterations - u64::from(closed.block == closed.head && end == End::Left);
                }
                Kind::Call { is_unfinished, result, .. } => {
                    *is_unfinished = end == End::Left;
                    *result = if let End::Returned(value) = end { value } else { None };
                }
            }
        }
        let iteration = open.last().filter(|last| last.head.is_some()).map(|last| last.n_iterations.saturating_sub(1));
        let (children, n_more) = match open.last_mut() {
            Some(Open { node: Some(node), .. }) => (&mut node.children, &mut node.n_more),
            Some(_) => return,
            None => {
                let (roots, n_more) = self.roots.entry(thread).or_default();
                (roots, n_more)
            }
        };
        match closed.node {
            Some(node) => children.push(Node { iteration, ..node }),
            None => *n_more += 1,
        }
    }

    fn loops(&mut self, method: &Method) -> Rc<Vec<Vec<BlockId>>> {
        Rc::clone(self.loops.entry(method.number).or_insert_with(|| Rc::new(method.blocks.flow.loops())))
    }

    /// Closes the loops that were left, and opens those that were entered.
    fn note_loops(&mut self, thread: u32, frame: &Frame, block: BlockId) {
        let loops = self.loops(&frame.method);
        let around = &loops[block.0 as usize];
        loop {
            let open = self.open.entry(thread).or_default();
            let n_loops =
                open.iter().rev().take_while(|open| open.frame == frame.number && open.head.is_some()).count();
            let heads = open[open.len() - n_loops..].iter().map(|open| open.head);
            if n_loops <= around.len() && heads.zip(around).all(|(head, expected)| head == Some(*expected)) {
                if n_loops == around.len() {
                    if let Some(last) = open.last_mut().filter(|_| n_loops > 0) {
                        last.n_iterations += u64::from(last.head == Some(block));
                        last.block = Some(block);
                    }
                    return;
                }
                break;
            }
            self.close(thread, End::Left);
        }
        let open = &self.open[&thread];
        let n_open = open.iter().rev().take_while(|open| open.frame == frame.number && open.head.is_some()).count();
        for head in &around[n_open..] {
            let first = frame.method.blocks.ranges[head.0 as usize].start;
            let place = &frame.method.places[frame.method.starts[first as usize] as usize];
            let node = self.has_room(thread).then(|| Node {
                kind: Kind::Loop { n_iterations: 0 },
                step: frame.step,
                last: frame.step,
                place: Some(place.clone()),
                iteration: None,
                children: Vec::new(),
                n_more: 0,
            });
            let n_iterations = 1;
            let open = Open { frame: frame.number, head: Some(*head), node, n_iterations, block: Some(block) };
            self.open.entry(thread).or_default().push(open);
        }
    }
}

impl Watch for Builder {
    fn enters(&mut self, machine: &Machine, frame: &Frame) {
        let node = self.has_room(machine.thread).then(|| Node {
            kind: Kind::Call {
                function: Arc::clone(&frame.method.function),
                arguments: (machine.program.content() == Content::Values).then(Vec::new),
                result: None,
                is_unfinished: true,
                is_earlier: false,
            },
            step: frame.step,
            last: frame.step,
            place: Some(frame.place().clone()).filter(|place| place.line != 0),
            iteration: None,
            children: Vec::new(),
            n_more: 0,
        });
        let open = Open { frame: frame.number, head: None, node, n_iterations: 0, block: None };
        self.open.entry(machine.thread).or_default().push(open);
    }

    fn writes(&mut self, machine: &Machine, frame: &Frame, location: Location, value: Value) {
        // What is written before the first statement are the parameters.
        if frame.is_begun || !matches!(location, Location::Local(_)) {
            return;
        }
        let last = self.open.get_mut(&machine.thread).and_then(|open| open.last_mut());
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
            let last = self.open.get(&machine.thread).and_then(|open| open.last());
            let Some(last) = last.filter(|last| last.frame == frame.number) else { return };
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
    let mut builder =
        Builder { limits, open: HashMap::new(), roots: BTreeMap::new(), loops: HashMap::new(), n_steps: 0 };
    player.replay(&mut builder)?;
    let threads: Vec<u32> = builder.open.keys().copied().collect();
    for thread in threads {
        while builder.open.get(&thread).is_some_and(|open| !open.is_empty()) {
            builder.close(thread, End::Left);
        }
    }
    let n_more = builder.roots.values().map(|(_, n_more)| n_more).sum();
    let mut roots: Vec<Node> = builder.roots.into_values().flat_map(|(roots, _)| roots).collect();
    roots.sort_by_key(|root| root.step);
    Ok((roots, n_more))
}
