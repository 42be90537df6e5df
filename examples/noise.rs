//! Hunts with a noisy test, simulated: the entry of `scripts/bench noise`.
//!
//! `noise <hunts> <revisions> <false fails> <false passes> <good|no-good> <all|middle> [rate]` drives the engine of a hunt for
//! the commit over a line of revisions, with a test that shows the wrong outcome in these shares of its runs, and prints one
//! JSON object for each hunt: how it ended, its answer, the true answer, its confidence and the number of runs. Only the test
//! is simulated; which revision is run, and how often, is decided by the program's own engine and rules. `middle`: only the
//! middle third of the revisions has noise, and the culprit is one of them.

mod common;

use common::{Numbers, order, position};
use idd_base::{CommitId, Outcome, TreeId};
use idd_hunt::drive::{Engine, ProbeRunner, RunnerReply, drive};
use idd_hunt::finding::{Conclusion, Finding};
use idd_hunt::{Again, EngineState, Event, Halt, History, HuntWishes, Noise, Noisy, Phase, Probe, Weighing};
use std::collections::HashMap;
use std::convert::Infallible;
use std::error::Error;
use std::io::Write;
use std::ops::Range;
use std::{env, io};

/// A test with noise; each run of a tree is remembered by its number, as the journal of a hunt does.
struct Test {
    state: u64,
    noise: Noise,
    /// The revisions with noise, by position.
    spoiled: Range<usize>,
    culprit: usize,
    runs: HashMap<(TreeId, bool, u32), Outcome>,
    /// What the engine has told of the noise.
    expected: Option<Noise>,
}

impl Test {
    fn chance(&mut self) -> f64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(self.state >> 33).expect("31 bits")) / f64::from(1_u32 << 31)
    }

    fn run(&mut self, tree: TreeId, is_claim: bool, nth: u32) -> Outcome {
        if let Some(known) = self.runs.get(&(tree, is_claim, nth)) {
            return *known;
        }
        let chance = self.chance();
        let position = position(CommitId(tree.0));
        let (has_cause, is_noisy) = (position >= self.culprit, self.spoiled.contains(&position));
        let rate = if has_cause { self.noise.false_passes } else { self.noise.false_fails };
        let is_fail = has_cause != (is_noisy && chance < rate);
        let outcome = if is_fail { Outcome::Fail } else { Outcome::Pass };
        self.runs.insert((tree, is_claim, nth), outcome);
        outcome
    }
}

impl ProbeRunner for Test {
    type Error = Infallible;

    fn width(&self) -> usize {
        1
    }

    fn answer(&mut self, probes: &[Probe]) -> Result<RunnerReply, Infallible> {
        let probe = &probes[0];
        let is_claim = probe.is_claim && probe.phase == Phase::Verify;
        let outcome = match (probe.run, self.expected) {
            (None, Some(noise)) => {
                let mut weighing = Weighing::new(noise);
                let mut nth = 0;
                loop {
                    weighing.add(self.run(probe.tree, is_claim, nth));
                    nth += 1;
                    if let Some(verdict) = weighing.verdict() {
                        break verdict;
                    }
                }
            }
            (run, _) => self.run(probe.tree, is_claim, run.unwrap_or_default()),
        };
        Ok(RunnerReply::Outcomes(vec![outcome]))
    }

    fn used(&mut self, _: &[Probe], _: &[Outcome]) -> Result<(), Infallible> {
        Ok(())
    }

    fn tell(&mut self, events: &[Event]) {
        for event in events {
            if let Event::Noise { noise } = event {
                self.expected = Some(*noise);
            }
        }
    }
}

/// Returns how a hunt ended, and what it found.
fn hunt(
    test: &mut Test,
    history: &History,
    mut order: HuntWishes,
    noisy: Noisy,
) -> Result<(Conclusion, Finding), Box<dyn Error>> {
    let is_fail = |run: &Outcome| *run == Outcome::Fail;
    let mut seen: Vec<Outcome> = (0..2).map(|nth| test.run(TreeId(order.bad.0), false, nth)).collect();
    if !seen.iter().any(is_fail) {
        seen.extend((2..4).map(|nth| test.run(TreeId(order.bad.0), false, nth)));
    }
    if !seen.iter().any(is_fail) {
        return Ok((Conclusion::BadPasses, Finding::new(order.bad)));
    }
    if !seen.iter().all(is_fail) {
        order.noisy = Some(noisy);
    }
    loop {
        test.expected = None;
        let board = EngineState::new(order.bad);
        let Ok(halt) = drive(Engine::Hunt, &Numbers, history, &order, test, &board);
        match &*halt {
            Halt::Again(Again::Noisy) => order.noisy = Some(noisy),
            Halt::Again(Again::Clean) => order.is_clean = true,
            Halt::Concluded(conclusion) => {
                return Ok((*conclusion, board.borrow().finding.clone()));
            }
            halt => return Err(format!("{halt}").into()),
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    const USAGE: &str =
        "usage: noise <hunts> <revisions> <false fails> <false passes> <good|no-good> <all|middle> [rate]";
    let arguments: Vec<String> = env::args().skip(1).collect();
    let ([n_hunts, n_revisions, false_fails, false_passes, good, place], rate) = match arguments.split_at_checked(6) {
        Some((first, rest)) if rest.len() < 2 => {
            (<[String; 6]>::try_from(first.to_vec()).map_err(|_| USAGE)?, rest.first())
        }
        _ => return Err(USAGE.into()),
    };
    let (n_hunts, n_revisions): (u64, usize) = (n_hunts.parse()?, n_revisions.parse()?);
    let noise = Noise { false_fails: false_fails.parse()?, false_passes: false_passes.parse()? };
    let rate = rate.map(|rate| rate.parse::<f64>()).transpose()?;
    let history = common::history(n_revisions);
    let third = n_revisions / 3;
    let spoiled = if place == "middle" { third..2 * third } else { 0..n_revisions + 1 };
    let culprits = if place == "middle" { spoiled.clone() } else { 1..n_revisions + 1 };
    let mut stdout = io::stdout().lock();
    for seed in 0..n_hunts {
        let state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1;
        let mut test =
            Test { state, noise, spoiled: spoiled.clone(), culprit: 0, runs: HashMap::new(), expected: None };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            clippy::cast_sign_loss,
            reason = "a position in a short line"
        )]
        let culprit = culprits.start + (test.chance() * culprits.len() as f64) as usize;
        test.culprit = culprit;
        let order = order(n_revisions, good == "good");
        let (conclusion, finding) = hunt(&mut test, &history, order, Noisy { rate, confidence: 0.95 })?;
        let line = serde_json::json!({
            "ended": format!("{conclusion:?}"), "culprit": culprit, "found": finding.first_bad.map(position),
            "range": finding.range.iter().map(|id| position(*id)).collect::<Vec<_>>(),
            "confidence": finding.confidence, "noticed": finding.noise.is_some(), "runs": test.runs.len(),
        });
        writeln!(stdout, "{line}")?;
    }
    Ok(())
}
