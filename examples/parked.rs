//! Measures causality tests of a parked process beside runs from the beginning: the entry of `scripts/bench record`.
//!
//! `parked <recording directory> -- <program> [args]` runs the recorded program, parks it in the middle of its trace, and tries for two seconds each: to
//! go on for 100, 1,000 and 10,000 segments; and to run from the beginning to the end with one branch turned. Prints JSON.

use git_idd::trace::records::Records;
use git_idd::world::record::control::Control;
use git_idd::world::record::control::Ended;
use git_idd::world::record::control::Point;
use git_idd::world::record::control::Test;
use git_idd::world::record::store;
use std::collections::HashMap;
use std::env;
use std::error::Error;
use std::fs;
use std::io;
use std::io::Seek;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

const FOR: Duration = Duration::from_secs(2);

/// The instance that the record of this number is, counted from behind the record `from`.
fn point(segments: &[u32], from: usize, at: usize) -> Point {
    let segment = segments[at];
    Point { segment, n: segments[from..=at].iter().filter(|other| **other == segment).count() as u64 }
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<_> = env::args_os().skip(1).collect();
    let [place, dash, program, arguments @ ..] = words.as_slice() else {
        return Err("usage: parked <recording directory> -- <program> [args]".into());
    };
    if dash != "--" {
        return Err("usage: parked <recording directory> -- <program> [args]".into());
    }
    let place = PathBuf::from(place);
    let recording = store::read(&place)?;
    let traced = recording.chosen.and_then(|index| recording.processes.get(index)).ok_or("nothing was recorded")?;
    let (mut trace, mut units) = (store::trace(&place, &recording, traced)?, store::units(&place, &recording));
    let mut records = Records::new(&trace);
    let mut segments = Vec::new();
    while let Some(record) = records.next(&mut trace, &mut units)? {
        segments.push(record.segment);
        // More is not needed to park in the middle of something.
        if segments.len() == 40_000_000 {
            break;
        }
    }
    let middle = segments.len() / 2;
    let scratch = env::temp_dir().join(format!("parked-{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    let control = Control::new(&scratch.join("socket"))?;
    let run = |variables: &[(_, _)]| {
        let mut stdin = fs::File::open("/proc/self/fd/0")?;
        stdin.rewind()?;
        let mut command = Command::new("setarch");
        command.arg("-R").arg(program).args(arguments).envs(variables.iter().cloned());
        command.stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
    };
    let mut child = run(&control.variables(point(&segments, 0, middle), &scratch))?;
    let mut parked = control.wait()?;
    let status = fs::read_to_string(format!("/proc/{}/status", parked.pid))?;
    let rss = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let kib: f64 = rss.trim().trim_end_matches(" kB").parse()?;
    let begin = Instant::now();
    let mut n_runs: u32 = 0;
    while begin.elapsed() < FOR {
        let turned = point(&segments, 0, middle);
        run(&[("IDD_SWITCH".into(), format!("{}:{}", turned.segment, turned.n).into())])?.wait()?;
        n_runs += 1;
    }
    let runs_per_second = f64::from(n_runs) / begin.elapsed().as_secs_f64();
    let mut rows = Vec::new();
    for n_segments in [100, 1_000, 10_000] {
        let at = (middle + n_segments).min(segments.len() - 1);
        let stop = Some(point(&segments, middle + 1, at));
        let (patches, dumps, limit) = (Vec::new(), Vec::new(), Duration::from_secs(10));
        let test = Test { patches, stop, switch: None, dumps, budget: u64::MAX, limit, is_traced: false };
        let (begin, mut n_tests, mut ends) = (Instant::now(), 0_u32, HashMap::new());
        while begin.elapsed() < FOR {
            let reply = parked.test(&test)?;
            *ends.entry(format!("{:?}", reply.ended)).or_insert(0) += 1;
            n_tests += 1;
            if reply.ended != Ended::Reached {
                return Err(format!("a test did not come to its point: {ends:?}").into());
            }
        }
        let tests_per_second = f64::from(n_tests) / begin.elapsed().as_secs_f64();
        rows.push(serde_json::json!({ "mib": kib / 1024.0, "n_segments": n_segments, "tests_per_second": tests_per_second, "runs_per_second": runs_per_second }));
    }
    child.kill()?;
    child.wait()?;
    fs::remove_dir_all(&scratch)?;
    serde_json::to_writer(io::stdout().lock(), &rows)?;
    Ok(())
}
