//! Control dominators of compiled programs against an oracle that knows only which block can follow which.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::rc::Rc;

use idd_trace::Step;
use idd_trace::native::{NativeMachine, NativePlayer, Watch};
use idd_world::record::store;

use crate::fixture::Fixture;
use crate::plain;

/// Numbers that look like chance.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// A function of labels, jumps forward and back, switches that fall through, and loops in loops.
fn function(name: &str, n_labels: u64, chance: &mut Chance) -> String {
    let mut text = format!("static unsigned {name}(unsigned x)\n{{\n    int n = 30;\n");
    for label in 0..n_labels {
        writeln!(text, "L{label}:\n    if (n-- <= 0) goto end;\n    x = x * 1103515245u + 12345u;").unwrap();
        let mut target = || chance.below(n_labels);
        match (label + target()) % 4 {
            0 => {
                writeln!(text, "    switch (x >> 16 & 7) {{").unwrap();
                writeln!(text, "    case 0: goto L{};\n    case 1: x += 3;\n    case 2: x ^= 5; break;", target())
                    .unwrap();
                writeln!(text, "    case 4: if (x & 2) goto L{};\n    default: x++;\n    }}", target()).unwrap();
            }
            1 => {
                writeln!(text, "    for (unsigned i = 0; i < (x >> 20 & 3); i++) {{").unwrap();
                writeln!(text, "        if (x & 4) x += i; else continue;").unwrap();
                writeln!(text, "        while (x & 24) {{ x -= 8; if ((x & 64) && i) break; }}\n    }}").unwrap();
            }
            2 => {
                writeln!(text, "    do {{ x = x / 2 + 7; }} while (x & 1 && n-- > 0);").unwrap();
                writeln!(text, "    if (x & 32) goto L{};", target()).unwrap();
            }
            _ => {
                writeln!(
                    text,
                    "    if ((x & 128) || (x & 3) == 2) goto L{};\n    x = x & 1 ? x + 9 : x - 4;",
                    target()
                )
                .unwrap();
            }
        }
    }
    text + "end:\n    return x;\n}\n"
}

/// The blocks that all ways from `from` to an end go through, by leaving each out; the closest has all others behind it.
fn post_dominator(ways: &[Vec<usize>], from: usize) -> Option<usize> {
    let needed = |from: usize| -> Vec<usize> {
        let is_needed = |block: &usize| {
            let mut seen = vec![false; ways.len()];
            let mut open = vec![from];
            while let Some(at) = open.pop() {
                if at != *block && !std::mem::replace(&mut seen[at], true) {
                    open.extend(&ways[at]);
                }
            }
            *block != from && !(0..ways.len()).any(|end| ways[end].is_empty() && seen[end])
        };
        (0..ways.len()).filter(is_needed).collect()
    };
    needed(from).into_iter().max_by_key(|block| needed(*block).len())
}

/// For each block of a function how many can follow, and which ends what it decides.
type Ends = Rc<[(usize, Option<usize>)]>;

fn ends(machine: &NativeMachine) -> Ends {
    let flow = &machine.frame().unwrap().shape.flow;
    let ways: Vec<Vec<usize>> =
        flow.successors.iter().map(|blocks| blocks.iter().map(|block| block.0 as usize).collect()).collect();
    (0..ways.len()).map(|block| (ways[block].len(), post_dominator(&ways, block))).collect()
}

/// What was seen of one frame.
struct Seen {
    caller: Step,
    ends: Ends,
    /// Blocks that ran, and the last step of each.
    history: Vec<(usize, Step)>,
    now: usize,
    last: Step,
}

impl Seen {
    fn new(machine: &NativeMachine, ends: Ends) -> Self {
        let caller = machine.frame().unwrap().caller;
        Self { caller, ends, history: Vec::new(), now: 0, last: Step::START }
    }

    /// The last decision whose region is open, by looking through all that ran.
    fn expected(&self) -> Step {
        let is_open = |at: &usize| {
            let (block, _) = self.history[*at];
            let behind = self.history[at + 1..].iter().map(|(block, _)| *block).chain([self.now]);
            let (n_ways, end) = self.ends[block];
            n_ways > 1 && behind.into_iter().all(|block| Some(block) != end)
        };
        (0..self.history.len()).rev().find(is_open).map_or(self.caller, |at| self.history[at].1)
    }
}

#[derive(Default)]
struct Oracle {
    frames: BTreeMap<u64, Seen>,
    functions: BTreeMap<u32, Ends>,
    n_steps: u32,
}

impl Watch for Oracle {
    fn enters(&mut self, machine: &NativeMachine) {
        let frame = machine.frame().unwrap();
        let ends = self.functions.entry(frame.shape.index).or_insert_with(|| ends(machine));
        self.frames.insert(frame.number, Seen::new(machine, Rc::clone(ends)));
    }

    fn block(&mut self, machine: &NativeMachine) {
        let frame = machine.frame().unwrap();
        let seen = self.frames.get_mut(&frame.number).unwrap();
        seen.history.push((seen.now, seen.last));
        seen.now = frame.block.0 as usize;
    }

    fn step(&mut self, machine: &NativeMachine) {
        let frame = machine.frame().unwrap();
        let seen = self.frames.get_mut(&frame.number).unwrap();
        seen.last = frame.step;
        assert_eq!(
            frame.decider(),
            seen.expected(),
            "step {:?} in block {} of {}",
            frame.step,
            seen.now,
            frame.shape.name()
        );
        self.n_steps += 1;
    }
}

#[track_caller]
fn check(clang: &str) {
    let mut chance = Chance(7);
    let mut source = String::new();
    let mut calls = String::new();
    for number in 0..6 {
        source += &function(&format!("f{number}"), 4 + number, &mut chance);
        writeln!(calls, "    for (unsigned i = 0; i < 3; i++) x += f{number}(x + i);").unwrap();
    }
    let main = format!("int main(void)\n{{\n    unsigned x = 1;\n{calls}    return x == 0;\n}}\n");
    let fixture = Fixture::of(&format!("cat >a.c <<'END'\n{source}{main}END\ngit add a.c && git commit -qm one"));
    let output = plain::program(&fixture.repo())
        .args(["record", "--once", "--build", "$CC -w -o a a.c", "--", "./a"])
        .env("IDD_CLANG", clang)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let place = fixture.place().join("repo/.git/idd/recordings/0001");
    let recording = store::read(&place).unwrap();
    let trace = store::trace(&place, &recording, &recording.processes[0]).unwrap();
    let mut player = NativePlayer::new(trace, store::units(&place, &recording)).unwrap();
    let mut oracle = Oracle::default();
    assert!(!player.play(&mut oracle).unwrap());
    assert!(oracle.n_steps > 1000, "{}", oracle.n_steps);
}

#[test]
fn control_dominators_of_compiled_programs_are_those_of_the_oracle() {
    let is_there = |clang: &&str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|directory| directory.join(clang).is_file())
    };
    let clangs: Vec<&str> = ["clang-16", "clang-19", "clang-22"].into_iter().filter(is_there).collect();
    for clang in &clangs {
        check(clang);
    }
    if clangs.is_empty() {
        check("clang");
    }
}
