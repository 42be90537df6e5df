use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::instrument::map::UnitMap;
use crate::instrument::module::Module;
use crate::instrument::{Segment, SegmentGrain, map, rewrite};
use crate::native::units::{Body, SegmentEntry};

/// A function with these ways from block to block; blocks of the second list call `setjmp`.
fn text(ways: &[Vec<usize>], setjmps: &[usize]) -> String {
    let mut text =
        "source_filename = \"a.c\"\n\ndefine i32 @f() {\nentry:\n  %s = alloca i32, align 4\n  br label %b0\n"
            .to_owned();
    for (block, ways) in ways.iter().enumerate() {
        writeln!(text, "\nb{block}:\n  store i32 {block}, ptr %s, align 4").unwrap();
        if setjmps.contains(&block) {
            writeln!(text, "  %j{block} = call i32 @setjmp(ptr null)").unwrap();
            writeln!(text, "  store i32 %j{block}, ptr %s, align 4").unwrap();
        }
        match &ways[..] {
            [] => writeln!(text, "  ret i32 0").unwrap(),
            [only] => writeln!(text, "  br label %b{only}").unwrap(),
            [first, others @ ..] => {
                writeln!(text, "  %v{block} = load i32, ptr %s, align 4").unwrap();
                writeln!(text, "  switch i32 %v{block}, label %b{first} [").unwrap();
                for (case, other) in others.iter().enumerate() {
                    writeln!(text, "    i32 {case}, label %b{other}").unwrap();
                }
                writeln!(text, "  ]").unwrap();
            }
        }
    }
    text + "}\n\ndeclare i32 @setjmp(ptr)\n"
}

/// The first function of a text.
pub(crate) fn shape(text: &str) -> Arc<FunctionShape> {
    let module = Module::read(text).unwrap();
    let n_segments = rewrite::count(text, &module, SegmentGrain::Straight).unwrap();
    let map = Arc::new(UnitMap::read(&map::write(1, 0, SegmentGrain::Straight, &n_segments, text)).unwrap());
    let (function, segments) = map.function(0).unwrap().unwrap();
    let body = Arc::new(Body { unit: 1, index: 0, function, segments, first: 0 });
    Arc::new(FunctionShape::new(&body, &map, 0).unwrap())
}

fn send(
    machine: &mut NativeMachine,
    shape: &Arc<FunctionShape>,
    segment: usize,
    watch: &mut dyn Watch,
) -> Result<(), TraceError> {
    let size = shape.body.segments.segments[segment].size;
    let segment = u32::try_from(segment).unwrap();
    let mut bytes = vec![0; size as usize];
    bytes[..4].copy_from_slice(&segment.to_le_bytes());
    machine.take(
        shape,
        &NativeRecord { thread: 0, segment, entry: SegmentEntry { body: 0, size }, bytes: &bytes, offset: 0 },
        watch,
    )
}

#[derive(Default)]
struct Seen(Vec<(Step, Step)>);

impl Watch for Seen {
    fn step(&mut self, machine: &NativeMachine) {
        let frame = machine.frame().unwrap();
        self.0.push((frame.step, frame.decider()));
    }
}

/// The blocks that all ways from `from` to an end go through, by leaving each out.
fn post_dominators(ways: &[Vec<usize>], from: usize) -> Vec<usize> {
    let is_needed = |block: usize| {
        let mut seen = vec![false; ways.len()];
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            if at != block && !std::mem::replace(&mut seen[at], true) {
                open.extend(&ways[at]);
            }
        }
        !(0..ways.len()).any(|end| ways[end].is_empty() && seen[end])
    };
    (0..ways.len()).filter(|block| *block != from && is_needed(*block)).collect()
}

/// The closest of them: it has all the others behind it.
fn closest(ways: &[Vec<usize>], from: usize) -> Option<usize> {
    let all = post_dominators(ways, from);
    all.iter().copied().max_by_key(|block| post_dominators(ways, *block).len())
}

/// The last decision whose region is still open, by looking through all that ran.
fn decider(ways: &[Vec<usize>], history: &[(usize, Step)], now: usize) -> Step {
    let is_open = |at: &usize| {
        let end = closest(ways, history[*at].0);
        ways[history[*at].0].len() > 1
            && history[at + 1..].iter().map(|(block, _)| *block).chain([now]).all(|block| Some(block) != end)
    };
    (0..history.len()).rev().find(is_open).map_or(Step::START, |at| history[at].1)
}

prop_compose! {
    /// Blocks of which each can come to the end, and where a walk turns.
    fn walk()(n in 2..9_usize)(
        ways in proptest::collection::vec((0..100_usize, proptest::collection::vec(0..n, 0..3)), n),
        setjmps in proptest::collection::vec(0..n, 0..3),
        turns in proptest::collection::vec((0..100_usize, 0..5_usize), 1..60),
    ) -> (Vec<Vec<usize>>, Vec<usize>, Vec<(usize, usize)>) {
        let n = ways.len();
        let ways = ways.into_iter().enumerate().map(|(block, (forward, mut others))| {
            if block + 1 == n {
                return Vec::new();
            }
            others.push(block + 1 + forward % (n - block - 1));
            others.sort_unstable();
            others.dedup();
            others
        }).collect();
        (ways, setjmps, turns)
    }
}

proptest! {
    #[test]
    fn the_control_dominator_is_the_last_decision_whose_region_is_open((ways, setjmps, turns) in walk()) {
        let shape = shape(&text(&ways, &setjmps));
        let segments = &shape.body.segments.segments;
        let of_block = |block: usize| segments.iter().position(|segment| segment.block.0 as usize == block + 1).unwrap();
        let (mut machine, mut seen) = (NativeMachine::default(), Seen::default());
        send(&mut machine, &shape, 0, &mut seen).unwrap();
        prop_assert_eq!(seen.0.pop(), Some((Step(1), Step::START)));
        let mut history: Vec<(usize, Step)> = Vec::new();
        // Where `setjmp` can return to: its block, and what had run by then.
        let mut marks: Vec<(usize, Vec<(usize, Step)>)> = Vec::new();
        let mut at = 0;
        for (turn, jump) in turns {
            send(&mut machine, &shape, of_block(at), &mut seen).unwrap();
            let expected = decider(&ways, &history, at);
            if setjmps.contains(&at) {
                marks.retain(|(block, _)| *block != at);
                marks.push((at, history.clone()));
                send(&mut machine, &shape, of_block(at) + 1, &mut seen).unwrap();
            }
            for (_, found) in &seen.0 {
                prop_assert_eq!(*found, expected);
            }
            let step = machine.frame().map(|frame| frame.step);
            seen.0.clear();
            match step {
                Some(step) => history.push((at, step)),
                None => break,
            }
            let mut last = at;
            if let (0, Some((block, before))) = (jump, marks.last().cloned()) {
                // `longjmp`: everything since is as if it had not been decided.
                history = before;
                last = block;
                send(&mut machine, &shape, of_block(block) + 1, &mut seen).unwrap();
                // Where nothing came between the return of `setjmp` and the jump there is no telling; it goes on.
                let Some(frame) = machine.frame() else { break };
                let step = frame.step;
                if let Some((_, found)) = seen.0.pop() {
                    prop_assert_eq!(found, decider(&ways, &history, block));
                }
                history.push((block, step));
            }
            at = ways[last][turn % ways[last].len()];
        }
    }
}

/// Who used what of whom.
#[derive(Default)]
struct Uses(Vec<(Step, Step, UsedThing)>);

impl Watch for Uses {
    fn uses(&mut self, user: Step, maker: Step, what: UsedThing) {
        self.0.push((user, maker, what));
    }
}

/// `int x = f() && g();`
pub(crate) const CHOICE: &str = "source_filename = \"a.c\"

define i32 @main() {
entry:
  %x = alloca i32, align 4
  %call = call i32 @f()
  %tobool = icmp ne i32 %call, 0
  br i1 %tobool, label %land.rhs, label %land.end

land.rhs:
  %call1 = call i32 @g()
  %tobool2 = icmp ne i32 %call1, 0
  br label %land.end

land.end:
  %0 = phi i1 [ false, %entry ], [ %tobool2, %land.rhs ]
  %ext = zext i1 %0 to i32
  store i32 %ext, ptr %x, align 4
  ret i32 0
}

declare i32 @f()
declare i32 @g()
";

/// Runs through blocks of the first function of a text.
pub(crate) fn walk_through(text: &str, blocks: &[&str], watch: &mut dyn Watch) {
    let (shape, mut machine) = (shape(text), NativeMachine::default());
    for label in blocks {
        let segments = shape.body.segments.segments.iter().enumerate();
        let is_here = |(_, segment): &(usize, &Segment)| &*shape.body.function.block(segment.block).label == *label;
        for (number, _) in segments.filter(is_here) {
            send(&mut machine, &shape, number, watch).unwrap();
        }
    }
}

#[test]
fn what_a_phi_is_depends_on_the_decision_that_led_there() {
    let uses = |blocks: &[&str]| {
        let mut uses = Uses::default();
        walk_through(CHOICE, blocks, &mut uses);
        uses.0
    };
    // Steps: `f()` with the entry of the function, `g()` if it runs, the value.
    assert_eq!(uses(&["entry", "land.end"]), [(Step(2), Step(1), UsedThing::Decision)]);
    assert_eq!(
        uses(&["entry", "land.rhs", "land.end"]),
        [(Step(3), Step(2), UsedThing::Temporary), (Step(3), Step(1), UsedThing::Decision)]
    );
}

#[test]
fn records_in_any_order_are_errors_or_steps_and_never_a_panic() {
    let ways = [vec![1, 2], vec![0, 2], vec![]];
    let shape = shape(&text(&ways, &[1]));
    let n = shape.body.segments.segments.len();
    for first in 0..n {
        for second in 0..n {
            for third in 0..n {
                let mut machine = NativeMachine::default();
                for segment in [first, second, third] {
                    let _ = send(&mut machine, &shape, segment, &mut Nobody);
                }
                assert!(machine.frames.len() <= 3);
            }
        }
    }
    // A record that is shorter than its items.
    let record =
        NativeRecord { thread: 0, segment: 0, entry: SegmentEntry { body: 0, size: 4 }, bytes: &[0; 4], offset: 0 };
    let _ = NativeMachine::default().take(&shape, &record, &mut Nobody);
}

#[test]
fn an_exception_goes_to_the_frame_that_catches_it_and_not_to_the_innermost_of_its_function() {
    let shape = shape(
        "source_filename = \"a.cpp\"

define void @f() personality ptr @p {
entry:
  %s = alloca i32, align 4
  invoke void @f()
          to label %after unwind label %pad

after:
  ret void

pad:
  %0 = landingpad { ptr, i32 }
          catch ptr null
  store i32 7, ptr %s, align 4
  ret void
}
",
    );
    let segments = &shape.body.segments.segments;
    let pad = segments.iter().position(|segment| segment.kind == SegmentKind::Block).unwrap();
    let mut machine = NativeMachine::default();
    let mut take = |segment: usize, address: u64| {
        let size = segments[segment].size;
        let mut bytes = vec![0; size as usize];
        for item in segments[segment].items.iter().filter(|item| item.size == 8) {
            bytes[item.offset as usize..][..8].copy_from_slice(&address.to_le_bytes());
        }
        let segment = u32::try_from(segment).unwrap();
        let record =
            NativeRecord { thread: 0, segment, entry: SegmentEntry { body: 0, size }, bytes: &bytes, offset: 0 };
        machine.take(&shape, &record, &mut Nobody).unwrap();
        machine.frames.len()
    };
    assert_eq!([0x3000, 0x2000, 0x1000].map(|address| take(0, address)), [1, 2, 3]);
    // The second one catches, and returns; the first one goes on behind its call.
    assert_eq!(take(pad, 0x2000), 1);
    assert_eq!(take(1, 0), 0);
    assert_eq!(machine.check.n_unwound, 1);
}
