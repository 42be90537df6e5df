//! Measures causality tests of a parked process beside runs from the beginning: the entry of `scripts/bench record`.
//!
//! `parked <recording directory> <scratch directory> <shell line>` runs the recorded program by the line, parks it in the middle of its trace, and tries for two
//! seconds each: to go on for 100, 1,000 and 10,000 segments; and to run from the beginning to the end with one branch turned. Prints JSON.

use idd_trace::native::records::Records;
use idd_world::record::control::{ForkTest, ParkControl, SegmentInstance, TestEnding};
use idd_world::record::store;
use idd_world::{files, process};
use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, io, thread};

const FOR: Duration = Duration::from_secs(2);

/// More records are not needed to park in the middle of something.
const MAX_RECORDS: usize = 40_000_000;

/// The instance that the record `at` is, counted from the record `from` on.
fn point(segments: &[u32], from: usize, at: usize) -> SegmentInstance {
    let segment = segments[at];
    SegmentInstance { segment, n: segments[from..=at].iter().filter(|other| **other == segment).count() as u64 }
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    let [place, scratch, line] = words.as_slice() else {
        return Err("usage: parked <recording directory> <scratch directory> <shell line>".into());
    };
    let (place, scratch) = (PathBuf::from(place), PathBuf::from(scratch));
    let recording = store::read(&place)?;
    let traced = recording.chosen.and_then(|index| recording.processes.get(index)).ok_or("nothing was recorded")?;
    let (mut trace, mut units) = (store::trace(&place, &recording, traced)?, store::units(&place, &recording));
    let mut records = Records::new(&trace);
    let mut segments = Vec::new();
    while let Some(record) = records.next(&mut trace, &mut units)?
        && segments.len() < MAX_RECORDS
    {
        segments.push(record.segment);
    }
    let middle = segments.len() / 2;
    let control = ParkControl::new(&scratch.join("socket"))?;
    let run = {
        let line = line.clone();
        move |variables: &[(OsString, OsString)]| {
            process::capture(
                OsStr::new("setarch"),
                &["-R", "sh", "-c"].map(OsStr::new).into_iter().chain([&*line]).collect::<Vec<_>>(),
                Path::new("."),
                variables,
            )
        }
    };
    let begin = Instant::now();
    let mut n_runs: u32 = 0;
    while begin.elapsed() < FOR {
        let turned = point(&segments, 0, middle);
        run(&[("IDD_SWITCH".into(), format!("{}:{}", turned.segment, turned.n).into())])?;
        n_runs += 1;
    }
    let runs_per_second = f64::from(n_runs) / begin.elapsed().as_secs_f64();
    let variables = control.variables(point(&segments, 0, middle), &scratch);
    let running = thread::spawn(move || run(&variables));
    let mut parked = control.wait()?;
    let status = files::bytes(Path::new(&format!("/proc/{}/status", parked.pid)))?;
    let status = String::from_utf8(status)?;
    let rss = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let kib: f64 = rss.trim().trim_end_matches(" kB").parse()?;
    let mut rows = Vec::new();
    for n_segments in [100, 1_000, 10_000] {
        let at = (middle + n_segments).min(segments.len() - 1);
        let (patches, dumps, limit) = (Vec::new(), Vec::new(), Duration::from_secs(10));
        let stop = Some(point(&segments, middle + 1, at));
        let test = ForkTest { patches, stop, switch: None, dumps, budget: u64::MAX, limit, is_traced: false, from: 0 };
        let (begin, mut n_tests) = (Instant::now(), 0_u32);
        while begin.elapsed() < FOR {
            let reply = parked.test(&test)?;
            if reply.ended != TestEnding::Reached {
                return Err(format!("a test did not come to its point: {:?}", reply.ended).into());
            }
            n_tests += 1;
        }
        let tests_per_second = f64::from(n_tests) / begin.elapsed().as_secs_f64();
        rows.push(serde_json::json!({
            "mib": kib / 1024.0,
            "n_segments": n_segments,
            "tests_per_second": tests_per_second,
            "runs_per_second": runs_per_second,
        }));
    }
    parked.go()?;
    running.join().map_err(|_| "the program was not run")??;
    serde_json::to_writer(io::stdout().lock(), &rows)?;
    Ok(())
}
