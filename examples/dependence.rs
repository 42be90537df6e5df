//! Measures the graph of dependences beside what it replaced: the entry of `scripts/bench dependence`.
//!
//! `dependence <recording directory> <variable>...` plays the failing process of a recording, packs its graph, and asks
//! before the last step why each variable has its value: by the graph, and by playing every step that is found from the
//! checkpoint before it. Then it computes a backward slice of the last step and a forward slice of the second one. Prints JSON.

use idd_trace::native::detail::detail;
use idd_trace::native::uses::dependences;
use idd_trace::native::{NativeMachine, NativePlayer, Nobody, Watch};
use idd_trace::slice::Kinds;
use idd_trace::{Execution, OriginAnswer, Step, UsedThing, slice};
use idd_world::record::store;
use std::collections::BTreeSet;
use std::error::Error;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Instant;
use std::{env, io};

/// Steps that are asked for.
const LIMITS: [usize; 2] = [20, 500];

/// Pairs of steps, as they were kept before there was a graph.
#[derive(Default)]
struct Pairs(Vec<(Step, Step)>);

impl Watch for Pairs {
    fn step(&mut self, machine: &NativeMachine) {
        self.0.extend(machine.frame().map(|frame| (frame.step, frame.decider())));
    }

    fn uses(&mut self, user: Step, maker: Step, _what: UsedThing) {
        if maker != Step::START && self.0.last() != Some(&(user, maker)) {
            self.0.push((user, maker));
        }
    }
}

/// The steps that a value comes from, each played by itself.
fn played(player: &mut NativePlayer, makers: &BTreeSet<Step>, at: Step, limit: usize) -> Result<usize, Box<dyn Error>> {
    let mut open: BTreeSet<Step> = makers.iter().copied().filter(|step| *step != Step::START).collect();
    let (mut seen, mut n_steps) = (open.clone(), 0);
    while n_steps < limit
        && let Some(step) = open.pop_last()
    {
        if let Some(detail) = detail(player, step)? {
            let makers = detail.makers().into_iter().filter(|maker| *maker < at);
            open.extend(makers.filter(|maker| seen.insert(*maker)));
            n_steps += 1;
        }
    }
    Ok(n_steps)
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [place, variables @ ..] = words.as_slice() else {
        return Err("usage: dependence <recording directory> <variable>...".into());
    };
    let place = PathBuf::from(place);
    let recording = store::read(&place)?;
    let traced = recording.chosen.and_then(|index| recording.processes.get(index)).ok_or("nothing was recorded")?;
    let open = || -> Result<NativePlayer, Box<dyn Error>> {
        Ok(NativePlayer::new(store::trace(&place, &recording, traced)?, store::units(&place, &recording))?)
    };
    let mut player = open()?;
    // The first pass makes the checkpoints, which all that follows has then.
    player.play(&mut Nobody)?;
    let begin = Instant::now();
    player.seek(0)?;
    player.play(&mut Nobody)?;
    let play = begin.elapsed().as_secs_f64();
    let n_steps = player.machine.n_steps;
    let begin = Instant::now();
    let mut pairs = Pairs::default();
    player.seek(0)?;
    player.play(&mut pairs)?;
    pairs.0.sort_unstable();
    pairs.0.dedup();
    let (sorted, n_pairs) = (begin.elapsed().as_secs_f64(), pairs.0.len());
    drop(pairs);
    let begin = Instant::now();
    let graph = dependences(&mut player, Step(u32::MAX))?;
    let packed = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    let backward = slice::backward(&graph, &[(Step(n_steps), Step(u32::MAX))], Kinds::ALL).len();
    let backward_time = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    let forward = slice::forward(&graph, &[Step(2)], Kinds::ALL).len();
    let forward_time = begin.elapsed().as_secs_f64();
    let at = Step(n_steps);
    let mut rows = Vec::new();
    for (variable, limit) in variables.iter().flat_map(|variable| LIMITS.map(|limit| (variable, limit))) {
        let begin = Instant::now();
        let OriginAnswer::Found(found) = player.why(&graph, (at, variable), limit)? else {
            return Err(format!("there is no `{variable}` before the last step").into());
        };
        let by_graph = begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        let n_played = played(&mut player, &found.asked.makers, at, limit)?;
        let by_play = begin.elapsed().as_secs_f64();
        rows.push(serde_json::json!({
            "variable": variable, "limit": limit, "n_steps": found.steps.len(), "n_played": n_played,
            "by_graph": by_graph, "by_play": by_play,
        }));
    }
    let result = serde_json::json!({
        "n_steps": n_steps, "play": play, "pairs": sorted, "pair_bytes": n_pairs * size_of::<(Step, Step)>(),
        "pack": packed, "bytes": graph.n_bytes(), "is_on_disk": graph.is_on_disk(), "whys": rows,
        "backward": backward_time, "backward_steps": backward, "forward": forward_time, "forward_steps": forward,
    });
    writeln!(io::stdout(), "{result}")?;
    Ok(())
}
