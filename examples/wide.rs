//! Searches with many probes at once, simulated: the entry of `scripts/bench wide`.
//!
//! `wide history <revisions> <good|no-good> <width> <hunts>` drives the engine of a hunt for the commit;
//! `wide reduction <units> <needed> <width> <reductions>` drives the reducer of a change. All probes of a round run at once and
//! take the same time; the next round begins when all have ended. Prints one JSON object: the mean number of rounds, of probes
//! that ran, and of probes that ran in vain. Only the test is simulated: the engines decide what is asked. The bad revision is
//! known, as in a hunt whose failure was reproduced.

mod common;

use common::{Numbers, id, order, position};
use idd_base::{Asker, Asking, Outcome, Search, SearchStep, TreeId};
use idd_change::reduce::{Judge, NextCandidates, ReduceOptions, reduce};
use idd_change::{ChangeSet, EntryContent, EntryMode, FilePair, FileSide, Subset, UnitId};
use idd_hunt::drive::{Engine, ProbeRunner, RunnerReply, drive};
use idd_hunt::{EngineState, Event, Phase, Probe};
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::error::Error;
use std::hash::Hash;
use std::io::Write as _;
use std::{env, io};

/// What a search cost.
#[derive(Default)]
struct Cost {
    rounds: usize,
    probes: usize,
    used: usize,
}

/// The rounds of one search.
struct Rounds<Q> {
    width: usize,
    known: HashSet<Q>,
    told: HashSet<Q>,
    cost: Cost,
}

impl<Q: Clone + Eq + Hash> Rounds<Q> {
    fn new(width: usize) -> Self {
        Self { width, known: HashSet::new(), told: HashSet::new(), cost: Cost::default() }
    }

    /// Runs what is asked in one round, unless the first is known; returns what to tell of the others.
    fn run(&mut self, asked: &[Q]) -> Vec<Q> {
        if self.known.contains(&asked[0]) {
            return Vec::new();
        }
        let new = asked.iter().filter(|query| !self.known.contains(*query)).take(self.width);
        let new: Vec<Q> = new.cloned().collect();
        self.cost.rounds += 1;
        self.cost.probes += new.len();
        self.known.extend(new.iter().cloned());
        new.into_iter().skip(1).filter(|query| self.told.insert(query.clone())).collect()
    }
}

/// A hunt whose failure began with a revision.
struct Hunt {
    culprit: usize,
    rounds: Rounds<(TreeId, bool)>,
}

impl Hunt {
    fn outcome(&self, probe: &Probe) -> Outcome {
        if probe.tree.0 >= id(self.culprit) { Outcome::Fail } else { Outcome::Pass }
    }
}

impl ProbeRunner for Hunt {
    type Error = Infallible;

    fn width(&self) -> usize {
        self.rounds.width
    }

    fn answer(&mut self, probes: &[Probe]) -> Result<RunnerReply, Infallible> {
        // Only the search is counted: claims are proved afterwards, all at once.
        if probes[0].phase == Phase::Search {
            let keys: Vec<(TreeId, bool)> = probes.iter().map(|probe| (probe.tree, probe.is_claim)).collect();
            let early = self.rounds.run(&keys);
            if !early.is_empty() {
                let early = probes.iter().filter(|probe| early.contains(&(probe.tree, probe.is_claim)));
                return Ok(RunnerReply::Overheard(early.map(|probe| (*probe, self.outcome(probe))).collect()));
            }
        }
        Ok(RunnerReply::Outcomes(vec![self.outcome(&probes[0])]))
    }

    fn used(&mut self, probes: &[Probe], _: &[Outcome]) -> Result<(), Infallible> {
        self.rounds.cost.used += probes.iter().filter(|probe| probe.phase == Phase::Search).count();
        Ok(())
    }

    fn tell(&mut self, _: &[Event]) {}
}

struct Asked {
    asker: Asker<Subset, bool>,
}

impl Judge for Asked {
    type Error = Infallible;

    async fn is_interesting(&mut self, candidate: &Subset, ahead: NextCandidates<'_>) -> Result<bool, Infallible> {
        let guesses = |early: &HashMap<Subset, bool>, n: usize| ahead(&|subset| early.get(subset).copied(), n);
        Ok(self.asker.one_before(candidate.clone(), guesses).await)
    }

    fn note_refused(&mut self, _: usize) {}
}

/// Files of fifty hunks of ten lines, each line a unit.
fn change(n_units: usize) -> ChangeSet {
    const HUNK: usize = 10;
    const FILE: usize = 500;
    let file = |number: usize| {
        let n_here = FILE.min(n_units - number * FILE);
        let text = |is_newer: bool| -> Vec<u8> {
            let hunks = (0..n_here.div_ceil(HUNK)).flat_map(|hunk| {
                let n_lines = if is_newer { HUNK.min(n_here - hunk * HUNK) } else { 0 };
                let lines = (0..n_lines).map(move |line| format!("new {number} {hunk} {line}\n"));
                std::iter::once(format!("same {hunk}\n")).chain(lines)
            });
            hunks.collect::<String>().into_bytes()
        };
        let side = |is_newer| {
            let content = EntryContent::Bytes(text(is_newer).into());
            Some(FileSide { path: format!("f{number:05}").into_bytes(), mode: EntryMode::Regular, content })
        };
        FilePair { older: side(false), newer: side(true) }
    };
    ChangeSet::new((0..n_units.div_ceil(FILE)).map(file).collect())
}

fn reduction(change: &ChangeSet, needed: &[UnitId], width: usize) -> Cost {
    let mut rounds = Rounds::new(width);
    let options = ReduceOptions::default();
    let mut search = Asking::new(|asker| async move {
        let mut judge = Asked { asker };
        let Ok(found) = reduce(change, change.full(), &options, &|_| true, &mut judge).await;
        found
    });
    let is_interesting = |subset: &Subset| needed.iter().all(|unit| subset.contains(*unit));
    loop {
        match search.ask(width) {
            SearchStep::Found(found) => {
                assert!(is_interesting(&found) && found.len() == needed.len(), "the reduction is right");
                return rounds.cost;
            }
            SearchStep::Probe(asked) => {
                for early in rounds.run(&asked) {
                    let answer = is_interesting(&early);
                    search.overhear(early, answer);
                }
                rounds.cost.used += search.tell(&[is_interesting(&asked[0])]);
            }
        }
    }
}

/// A sequence of numbers that looks random, and is the same in each run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((u128::from(self.0) * end as u128) >> 64).expect("it is below a number of this type")
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    const USAGE: &str = "usage: wide history <revisions> <good|no-good> <width> <hunts>\n       \
                         wide reduction <units> <needed> <width> <reductions>";
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [kind, n, more, width, times] = &arguments[..] else { return Err(USAGE.into()) };
    let (n, width, times): (usize, usize, usize) = (n.parse()?, width.parse()?, times.parse()?);
    let mut random = Chance(1);
    let mut costs = Vec::new();
    match kind.as_str() {
        "history" => {
            let history = common::history(n);
            for _ in 0..times {
                let culprit = 1 + random.below(n);
                let mut hunt = Hunt { culprit, rounds: Rounds::new(width) };
                // The runs that reproduce the failure have tested the bad revision.
                hunt.rounds.known.insert((TreeId(id(n)), false));
                let order = order(n, more == "good");
                let board = EngineState::new(order.bad);
                let Ok(_) = drive(Engine::Hunt, &Numbers, &history, &order, &mut hunt, &board);
                assert_eq!(board.borrow().finding.first_bad.map(position), Some(culprit), "the hunt is right");
                costs.push(hunt.rounds.cost);
            }
        }
        "reduction" => {
            let change = change(n);
            let n_needed: usize = more.parse()?;
            for _ in 0..times {
                let mut needed = HashSet::new();
                while needed.len() < n_needed.min(n) {
                    needed.insert(UnitId(u32::try_from(random.below(n))?));
                }
                costs.push(reduction(&change, &needed.into_iter().collect::<Vec<_>>(), width));
            }
        }
        _ => return Err(USAGE.into()),
    }
    #[expect(clippy::cast_precision_loss, reason = "a number of probes")]
    let mean = |of: fn(&Cost) -> usize| costs.iter().map(of).sum::<usize>() as f64 / costs.len() as f64;
    let line = serde_json::json!({
        "kind": kind, "n": n, "width": width, "rounds": mean(|cost| cost.rounds), "run": mean(|cost| cost.probes),
        "used": mean(|cost| cost.used), "most_rounds": costs.iter().map(|cost| cost.rounds).max(),
    });
    writeln!(io::stdout().lock(), "{line}")?;
    Ok(())
}
