//! Recordings that are stored with the tests; `scripts/traces` makes them. Reading them needs no compiler.

use std::path::Path;

use crate::trace::container::Trace;
use crate::trace::native::machine::{Machine, Watch};
use crate::trace::native::play::Player;
use crate::trace::native::records::Records;
use crate::trace::native::units::Units;
use crate::trace::step::Step;
use crate::world::record::store;

fn opened(program: &str, version: &str) -> (Trace, Units) {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces").join(format!("{program}-{version}"));
    let recording = store::read(&place).unwrap();
    let trace = store::trace(&place, &recording, &recording.processes[0]).unwrap();
    (trace, store::units(&place, &recording))
}

/// The recorded run of a program in `tests/traces`, in the version `good` or `bad`.
pub(crate) fn player(program: &str, version: &str) -> Player {
    let (trace, units) = opened(program, version);
    Player::new(trace, units).unwrap()
}

/// The records of a run.
pub(crate) fn records(program: &str, version: &str) -> Vec<Vec<u8>> {
    let (mut trace, mut units) = opened(program, version);
    let (mut records, mut found) = (Records::new(&trace), Vec::new());
    while let Some(record) = records.next(&mut trace, &mut units).unwrap() {
        found.push(record.bytes.to_vec());
    }
    found
}

/// The line of each step of a run; 0 for the start.
pub(crate) fn lines(player: &mut Player) -> Vec<u32> {
    struct Lines(Vec<u32>);
    impl Watch for Lines {
        fn step(&mut self, machine: &Machine) {
            self.0.push(machine.frame().unwrap().place().map_or(0, |place| place.line));
        }
    }
    let mut lines = Lines(vec![0]);
    player.replay(&mut lines).unwrap();
    lines.0
}

/// The `nth` step of a line, from 0.
pub(crate) fn step(player: &mut Player, line: u32, nth: usize) -> Step {
    let lines = lines(player);
    let steps = (0..).map(Step).zip(lines).filter(|(_, at)| *at == line);
    steps.map(|(step, _)| step).nth(nth).unwrap()
}
