//! Recordings that are stored with the tests; `scripts/traces` makes them. Reading them needs no compiler.
#![expect(clippy::unwrap_used, reason = "only tests call this")]

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use serde_json::Value;

use crate::native::NativePlayer;
use crate::native::records::Records;
use crate::native::units::RecordedUnits;
use crate::{Step, Trace};

/// The one process of a recording, and what is known of its program.
fn opened(program: &str, version: &str) -> (Trace, RecordedUnits) {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/traces").join(format!("{program}-{version}"));
    let description = fs::read(place.join("recording.json")).unwrap();
    let description: Value = serde_json::from_slice(&description).unwrap();
    let trace = File::open(place.join(description["processes"][0]["file"].as_str().unwrap())).unwrap();
    let trace = Trace::open(Box::new(BufReader::new(trace))).unwrap();
    let ranges: Vec<(u32, u32, u32)> = serde_json::from_value(description["units"].clone()).unwrap();
    let units = ranges.into_iter().map(|(unit, first, end)| (unit, first..end));
    (trace, RecordedUnits::new(units, Box::new(move |unit| fs::read(place.join(format!("maps/{unit}.map"))))))
}

/// The recorded run of a program in `tests/traces`, in the version `good` or `bad`.
pub fn player(program: &str, version: &str) -> NativePlayer {
    let (trace, units) = opened(program, version);
    NativePlayer::new(trace, units).unwrap()
}

/// The records of a run.
pub fn records(program: &str, version: &str) -> Vec<Vec<u8>> {
    let (mut trace, mut units) = opened(program, version);
    let (mut records, mut found) = (Records::new(&trace), Vec::new());
    while let Some(record) = records.next(&mut trace, &mut units).unwrap() {
        found.push(record.bytes.to_vec());
    }
    found
}

/// The line of each step of a run; 0 for the start.
pub fn lines(player: &mut NativePlayer) -> Vec<u32> {
    let mut lines = vec![0];
    player.each_step(|_, frame| lines.push(frame.place().map_or(0, |place| place.line))).unwrap();
    lines
}

/// The `nth` step of a line, from 0.
pub fn step(player: &mut NativePlayer, line: u32, nth: usize) -> Step {
    let lines = lines(player);
    let steps = (0..).map(Step).zip(lines).filter(|(_, at)| *at == line);
    steps.map(|(step, _)| step).nth(nth).unwrap()
}
