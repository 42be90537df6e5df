//! A hunt for the commit since which a command needs more time or memory, with the engine of every other hunt.
//!
//! A measurement answers in place of a test. Three checkouts stay built: the good end, the bad end, and the revision that is
//! asked for. All of them run in the same minutes, and a revision is bad if it is nearer to the bad end: see [`judge`]. The
//! threshold decides only whether there is a loss at all. Without a good revision, the walk looks for a large loss first,
//! with few runs of each revision, and for a smaller one only if there is none. Verdicts are records of the journal, as in a hunt by hand, and there
//! is no reduction.

pub mod judge;
pub mod peak;
pub mod places;
mod rounds;

use crate::finding::FindingSources;
use crate::order::{Measure, Perf};
use crate::perf::judge::{BorderSide, CONFIDENCE, Interval, LARGE, MAX_ROUNDS, MIN_ROUNDS};
use crate::perf::places::{AttemptResult, BuiltCheckout, PerfCheckouts};
use crate::perf::rounds::{Costs, PATIENCE, RoundLimit, RoundResult};
use crate::plan::Adjustments;
use crate::positions::Positions;
use crate::saved::Saved;
use crate::tally::Tally;
use crate::verdict_records::{HuntScene, JournalVerdict, Verdicts};
use crate::{Failure, Interrupt, Talk, finding, saved};
use idd_base::{CommitId, Outcome, Reason, Rest, Sought, TreeId, count};
use idd_change::trees::Trees as _;
use idd_hunt::drive::{Engine, ProbeRunner, RunnerReply, drive};
use idd_hunt::finding::{Conclusion, Finding};
use idd_hunt::{EngineState, Event, Halt, History, Probe};
use idd_report::{ClaimEvidence, Loss, Report, Status, Terminal, Untrusted, Verified};
use idd_world::journal::Record;
use idd_world::repo::TreeStore;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The rounds of the proof, if the search did not need more and a run is short.
const PROOF_ROUNDS: usize = 30;

/// The time that the rounds of the proof may take beyond the fewest ones.
const PROOF_TIME: Duration = Duration::from_secs(300);

/// Below this time, the start of a command takes a good part of it.
const SHORT: f64 = 0.01;

/// The proved difference of two revisions, or why there is none.
struct Proof {
    loss: Loss,
    trees: [(TreeId, CommitId); 2],
}

/// Hunts to the end, or until the user stops it.
pub fn hunt(
    scene: &HuntScene<'_>,
    saved: Saved,
    perf: Perf,
    interrupt: Interrupt,
    talk: &mut dyn Talk,
) -> Result<Report, Failure> {
    let begin = Instant::now();
    let Saved { id, segment, replay, seconds_before, lock: _lock, remarks, .. } = saved;
    if replay.is_some() {
        for remark in &remarks {
            talk.say(remark);
        }
    }
    let earlier = |name: &str| {
        let finding = replay.as_ref().and_then(|replay| replay.finding.as_ref());
        finding.and_then(|finding| finding.pointer(&format!("/probes/{name}"))?.as_u64()).unwrap_or(0)
    };
    let (history, store) = scene.read()?;
    let history = Rc::new(history);
    scene.refuse_swapped(&history, "`--good` is the older revision, where the command is fast")?;
    talk.looks_for(Sought::Slower);
    talk.use_history(Rc::new(Positions::of(Rc::clone(&history), scene.plan.bad, scene.location)));
    let judged = JournalVerdict::all(scene.location, &id)?;
    let tree = |commit: CommitId| store.view(history.tree(commit)).map_err(|error| Failure::from_error(&error));
    let bad = tree(scene.plan.bad)?;
    let mut known = HashMap::from([(bad, Outcome::Fail)]);
    known.extend(judged.iter().map(|judged| (judged.tree, judged.outcome)));
    // Without a good revision, the first fast one of the walk takes its place.
    let good = match scene.plan.goods.first() {
        Some(good) => Some(tree(*good)?),
        None => judged.iter().find(|judged| judged.outcome == Outcome::Pass).map(|judged| judged.tree),
    };
    let is_new = judged.is_empty();
    let mut hunt = PerfHunt {
        scene,
        perf,
        bad,
        good,
        newer: None,
        older: None,
        verdicts: Verdicts { known, judged, segment, n_revisions: history.len() },
        places: PerfCheckouts::new(*scene, perf.measure, interrupt, &id)?,
        glanced: Some(Vec::new()),
        is_small: false,
        most_rounds: if is_new { 0 } else { MIN_ROUNDS },
        shortest: f64::INFINITY,
        talk,
    };
    let result = hunt.run(&history, &store);
    hunt.talk.finish();
    let PerfHunt { places, mut verdicts, .. } = hunt;
    let n_runs = places.n_runs;
    places.remove();
    let (mut report, finding, n_proof) = result?;
    report.hunt = Some(id);
    report.log = Some(Untrusted::from(verdicts.segment.path().to_string_lossy().as_ref()));
    report.seconds = seconds_before + begin.elapsed().as_secs_f64();
    report.probes.verify = earlier("verify") + n_proof;
    report.probes.search = earlier("search") + n_runs.saturating_sub(n_proof);
    report.probes.run = report.probes.search + report.probes.verify;
    verdicts.segment.append(&Record::Finding { value: serde_json::to_value(&report)? })?;
    verdicts.segment.append_durable(&Record::Ended { status: report.status.word().to_owned() })?;
    if finding.is_finding() {
        saved::keep_refs(&finding, &store, scene.location)?;
    }
    Ok(report)
}

/// What the two ends gave.
enum EndResults {
    Loss,
    NoLoss(Loss),
    Open(Loss),
    Interrupted,
}

struct PerfHunt<'h> {
    scene: &'h HuntScene<'h>,
    perf: Perf,
    /// The tree of the bad end.
    bad: TreeId,
    /// The tree of the good end, if it is known.
    good: Option<TreeId>,
    /// The checkout of the bad end.
    newer: Option<BuiltCheckout>,
    /// The checkout of the good end.
    older: Option<BuiltCheckout>,
    verdicts: Verdicts,
    places: PerfCheckouts<'h>,
    /// While a large loss is searched: the revisions that count as slow because no large difference from the bad end was
    /// seen in a few runs.
    glanced: Option<Vec<JournalVerdict>>,
    /// Whether the difference of the ends is too small for verdicts at a glance.
    is_small: bool,
    /// The most rounds that a decision took.
    most_rounds: usize,
    /// The cost of the cheapest first run.
    shortest: f64,
    talk: &'h mut dyn Talk,
}

impl PerfHunt<'_> {
    /// The report, the finding, and the number of runs of the proof.
    fn run(&mut self, history: &History, store: &TreeStore) -> Result<(Report, Finding, u64), Failure> {
        let plan = self.scene.plan;
        let mut state = EngineState::new(plan.bad);
        let mut ends = None;
        let conclusion = match self.measure_ends()? {
            EndResults::Interrupted => Conclusion::Interrupted,
            EndResults::NoLoss(loss) => {
                ends = Some(loss);
                Conclusion::BadPasses
            }
            EndResults::Open(loss) => {
                ends = Some(loss);
                Conclusion::NotReproducible
            }
            EndResults::Loss => {
                let mut order = plan.engine_order(&Adjustments::default(), history);
                (order.check_vacuous, order.may_release, order.may_widen) = (false, false, false);
                (order.asks_complaints, order.is_clean) = (false, true);
                let mut halt = drive(Engine::Hunt, store, history, &order, self, &state)?;
                if self.is_small_loss(&halt) {
                    self.talk.say("There is no large loss: the revisions are measured more exactly.");
                    self.glanced = None;
                    state = EngineState::new(plan.bad);
                    halt = drive(Engine::Hunt, store, history, &order, self, &state)?;
                }
                match &*halt {
                    Halt::Concluded(conclusion) => *conclusion,
                    Halt::Trees(error) => return Err(Failure::from_error(error)),
                    Halt::Again(_) => {
                        return Err(Failure::error("the measurements contradict each other").with_hint(
                            "`git idd log` lists them; hunt on a quieter machine, or with `--measure cpu`",
                        ));
                    }
                }
            }
        };
        let mut finding: Finding = state.borrow().finding.clone();
        finding.conclusion = conclusion;
        let n_before = self.places.n_runs;
        let mut proof = None;
        if let (true, Some(fast), Some(slow)) = (finding.is_finding(), finding.last_good, finding.first_bad) {
            self.talk.say("Measuring the two revisions once more.");
            proof = self.prove(fast, slow, history, store)?;
            if proof.is_none() {
                finding.conclusion = Conclusion::Interrupted;
            }
        }
        let report = self.report(&finding, ends, proof, history, store)?;
        Ok((report, finding, self.places.n_runs - n_before))
    }

    /// Whether revisions that were only glanced at have to be measured.
    fn is_small_loss(&self, halt: &Halt) -> bool {
        let has_glanced = self.glanced.as_ref().is_some_and(|glanced| !glanced.is_empty());
        has_glanced && (self.is_small || matches!(halt, Halt::Concluded(Conclusion::NeverPassed)))
    }

    fn report(
        &self,
        finding: &Finding,
        ends: Option<Loss>,
        proof: Option<Proof>,
        history: &History,
        store: &TreeStore,
    ) -> Result<Report, Failure> {
        let plan = self.scene.plan;
        let adjustments = Adjustments::default();
        let sources = FindingSources { plan, adjustments: &adjustments, history, store, signature: None, beside: None };
        let mut report = finding::report(finding, sources)?;
        report.evidence = proof.iter().flat_map(evidence).collect();
        if let (Conclusion::Found, Some(proof)) = (finding.conclusion, &proof) {
            let said = proof.loss.in_words();
            report.sentence = Untrusted::from(if proof.loss.low > 0.0 {
                format!("The first slower commit was found: {said} than before it, measured once more.")
            } else {
                format!("The first slower commit was found, but measured once more the loss was not seen: {said}.")
            });
        }
        if finding.conclusion == Conclusion::NotReproducible {
            report.sentence =
                Untrusted::from("It cannot be decided whether the bad revision is slower than the good one.");
            report.notes.push(Untrusted::from(NOISY));
        }
        if let (Conclusion::BadPasses, Some(loss)) = (finding.conclusion, &ends)
            && loss.low > 0.0
        {
            report.sentence = Untrusted::from(format!(
                "The bad revision needs {} than the good one, less than the threshold of {}: there is nothing to hunt.",
                loss.in_words(),
                self.perf.threshold
            ));
        }
        report.loss = proof.map(|proof| proof.loss).or(ends);
        let is_of_time = matches!(self.perf.measure, Measure::Time | Measure::Cpu);
        if is_of_time && self.shortest < SHORT {
            report.notes.push(Untrusted::from(format!(
                "A run takes {:.1} ms, and the start of the command is a good part of it; a loop in the command makes a loss clearer.",
                1e3 * self.shortest
            )));
        }
        report.notes.splice(0..0, self.verdicts.judged.iter().filter_map(said));
        Ok(report)
    }

    /// Compares the two ends, if both are given and this was not done before.
    fn measure_ends(&mut self) -> Result<EndResults, Failure> {
        let (Some(good), Some(revision)) = (self.good, self.scene.plan.goods.first().copied()) else {
            // A command that fails is an error before anything is said of the revision.
            if self.verdicts.judged.is_empty() {
                self.newer = self.end("bad", self.bad)?;
            }
            return Ok(if self.verdicts.judged.is_empty() && self.newer.is_none() {
                EndResults::Interrupted
            } else {
                EndResults::Loss
            });
        };
        if good == self.bad {
            return Ok(EndResults::NoLoss(self.loss(1.0, Interval { middle: 0.0, low: 0.0, high: 0.0 }, 0)));
        }
        if self.verdicts.known.get(&good) == Some(&Outcome::Pass) {
            return Ok(EndResults::Loss);
        }
        self.talk.say("Measuring the good and the bad revision.");
        let (Some(mut older), Some(mut newer)) = (self.end("good", good)?, self.end("bad", self.bad)?) else {
            return Ok(EndResults::Interrupted);
        };
        let border = self.perf.threshold.ratio().ln();
        let versions = &mut [&mut older, &mut newer];
        let value = |logs: &[f64]| logs[1] - logs[0];
        let mut found = rounds::run(&mut self.places, versions, &value, RoundLimit::Side(border))?;
        let is_clearly_faster =
            matches!(&found, RoundResult::Decided(Some(BorderSide::Below), costs) if costs.n_rounds() < MIN_ROUNDS);
        if is_clearly_faster {
            // There is nothing to prove later, so the figures are final.
            found = rounds::run(&mut self.places, versions, &value, RoundLimit::Rounds(MIN_ROUNDS))?;
        }
        let (side, costs) = match found {
            RoundResult::Decided(side, costs) => (side, costs),
            RoundResult::Broken(nth, _, why) => return Err(broken(["good", "bad"][nth], &why)),
            RoundResult::Interrupted => return Ok(EndResults::Interrupted),
        };
        (self.older, self.newer) = (Some(older), Some(newer));
        self.most_rounds = self.most_rounds.max(costs.n_rounds());
        let ratio = costs.ratio(1, 0);
        let loss = Loss { slow: costs.median(1), ..self.loss(costs.median(0), ratio, costs.n_rounds()) };
        let figures = self.figures(ratio, costs.n_rounds(), "the good one");
        self.talk.say(&format!("The bad revision needs {figures}."));
        Ok(match side {
            Some(BorderSide::Above) => {
                let figures = self.figures(ratio.reversed(), costs.n_rounds(), "the bad revision");
                self.add(good, revision, Outcome::Pass, figures, false)?;
                EndResults::Loss
            }
            None if !is_clearly_faster => EndResults::Open(loss),
            None | Some(BorderSide::Below) => EndResults::NoLoss(loss),
        })
    }

    /// The checkout of an end. `None` if it was interrupted.
    fn end(&mut self, name: &str, tree: TreeId) -> Result<Option<BuiltCheckout>, Failure> {
        match self.places.set_up(tree)? {
            AttemptResult::Done(place) => {
                self.shortest = self.shortest.min(place.first);
                Ok(Some(place))
            }
            AttemptResult::Broken(Reason::Build, why) => {
                let why = Terminal.line(&Untrusted::from(why));
                Err(Failure::new(Status::NothingTestable, format!("the {name} revision cannot be built: {why}"))
                    .with_hint("name another revision with `--good` or `--bad`; both ends have to be measured"))
            }
            AttemptResult::Broken(_, why) => Err(broken(name, &why)),
            AttemptResult::Interrupted => Ok(None),
        }
    }

    /// Measures a revision against the ends that are known. `None` if it was interrupted.
    fn judge(&mut self, probe: &Probe) -> Result<Option<Outcome>, Failure> {
        self.talk.running(probe, PATIENCE);
        let Some(mut newer) = self.newer.take().map_or_else(|| self.end("bad", self.bad), |place| Ok(Some(place)))?
        else {
            return Ok(None);
        };
        let mut older = match (self.older.take(), self.good) {
            (None, Some(good)) => match self.end("good", good)? {
                Some(place) => Some(place),
                None => return Ok(None),
            },
            (older, _) => older,
        };
        let mut own = match self.places.set_up(probe.tree)? {
            AttemptResult::Done(place) => place,
            AttemptResult::Interrupted => return Ok(None),
            AttemptResult::Broken(reason, why) => {
                (self.newer, self.older) = (Some(newer), older);
                let what = if reason == Reason::Build { "cannot be built" } else { "cannot be measured" };
                let said = Terminal.line(&Untrusted::from(why.as_str()));
                self.talk.say(&format!("{} {what}: {said}", probe.revision.short()));
                let outcome = Outcome::Unresolved(reason);
                self.add(probe.tree, probe.revision, outcome, why, reason == Reason::Build)?;
                return Ok(Some(outcome));
            }
        };
        self.shortest = self.shortest.min(own.first);
        let border = -self.perf.threshold.ratio().ln();
        let mut loss = 0.0;
        let found = match &mut older {
            // Nearer to which end?
            Some(older) => rounds::run(
                &mut self.places,
                &mut [&mut own, &mut newer, older],
                &|logs| logs[0] - f64::midpoint(logs[1], logs[2]),
                RoundLimit::Side(0.0),
            )?,
            // Slow, unless it is faster than the bad end by the threshold.
            None => rounds::run(
                &mut self.places,
                &mut [&mut own, &mut newer],
                &|logs| logs[0] - logs[1],
                match &self.glanced {
                    Some(_) => RoundLimit::Glance(border),
                    None => RoundLimit::Side(border),
                },
            )?,
        };
        let (outcome, why) = match found {
            RoundResult::Interrupted => return Ok(None),
            RoundResult::Broken(0, reason, why) => {
                self.talk.say(&format!("{} cannot be measured: {why}", probe.revision.short()));
                (Outcome::Unresolved(reason), why)
            }
            RoundResult::Broken(nth, _, why) => return Err(broken(["own", "bad", "good"][nth], &why)),
            RoundResult::Decided(side, costs) => {
                self.most_rounds = self.most_rounds.max(costs.n_rounds());
                let outcome = match side {
                    Some(BorderSide::Above) => Outcome::Fail,
                    Some(BorderSide::Below) => Outcome::Pass,
                    None => Outcome::Unresolved(Reason::Skip),
                };
                loss = costs.ratio(1, 0).middle;
                let why = self.compared(&costs, older.is_some());
                self.talk.say(&format!("{} needs {why}.", probe.revision.short()));
                (outcome, why)
            }
        };
        self.newer = Some(newer);
        let is_first_good = older.is_none() && outcome == Outcome::Pass;
        let is_glance = older.is_none() && outcome == Outcome::Fail;
        if is_first_good {
            self.good = Some(probe.tree);
            older = Some(own);
        } else {
            self.places.release(own);
        }
        self.older = older;
        if let (true, Some(glanced)) = (is_glance, &mut self.glanced) {
            let (tree, revision) = (probe.tree, probe.revision);
            let why = Some(why);
            glanced.push(JournalVerdict { tree, revision, outcome, why, is_of_build: false, is_named: false });
            return Ok(Some(outcome));
        }
        if is_first_good && loss >= LARGE {
            // They are nearer to the bad end than to this one.
            for glanced in self.glanced.take().into_iter().flatten() {
                self.verdicts.add(glanced)?;
            }
        }
        self.add(probe.tree, probe.revision, outcome, why, false)?;
        self.is_small = is_first_good && self.glanced.as_ref().is_some_and(|glanced| !glanced.is_empty());
        Ok((!self.is_small).then_some(outcome))
    }

    fn add(
        &mut self,
        tree: TreeId,
        revision: CommitId,
        outcome: Outcome,
        why: String,
        is_of_build: bool,
    ) -> Result<(), Failure> {
        self.verdicts.add(JournalVerdict { tree, revision, outcome, why: Some(why), is_of_build, is_named: false })
    }

    /// The figures of the first version.
    fn compared(&self, costs: &Costs, has_good: bool) -> String {
        let (other, name) = if has_good { (2, "the good revision") } else { (1, "the bad revision") };
        self.figures(costs.ratio(0, other), costs.n_rounds(), name)
    }

    /// "12.3 % more time than the good revision (9.8 to 14.6 %, 24 rounds)".
    fn figures(&self, ratio: Interval, n_rounds: usize, than: &str) -> String {
        let percent = |log: f64| 100.0 * log.exp_m1();
        let middle = percent(ratio.middle);
        let (word, noun) = (if middle < 0.0 { "less" } else { "more" }, self.perf.measure.noun());
        let (low, high) = (percent(ratio.low), percent(ratio.high));
        if n_rounds < MIN_ROUNDS {
            return format!("{:.1} % {word} {noun} than {than} ({})", middle.abs(), count(n_rounds as u64, "round"));
        }
        format!("{:.1} % {word} {noun} than {than} ({low:.1} to {high:.1} %, {n_rounds} rounds)", middle.abs())
    }

    fn loss(&self, fast: f64, ratio: Interval, n_rounds: usize) -> Loss {
        Loss {
            measure: self.perf.measure.word().to_owned(),
            unit: match self.perf.measure {
                Measure::Time | Measure::Cpu => "seconds",
                Measure::Memory => "bytes",
                Measure::Instructions => "instructions",
            }
            .to_owned(),
            more: ratio.middle.exp_m1(),
            low: ratio.low.exp_m1(),
            high: ratio.high.exp_m1(),
            confidence: CONFIDENCE,
            rounds: n_rounds as u64,
            fast,
            slow: fast * ratio.middle.exp(),
        }
    }

    /// Measures the two revisions of a finding once more. `None` if it was interrupted.
    ///
    /// The number of rounds is fixed before, so that the interval is right.
    fn prove(
        &mut self,
        fast: CommitId,
        slow: CommitId,
        history: &History,
        store: &TreeStore,
    ) -> Result<Option<Proof>, Failure> {
        let mut trees = Vec::new();
        for (revision, outcome) in [(fast, Outcome::Pass), (slow, Outcome::Fail)] {
            // A repaired revision was measured as another tree.
            let is_it = |judged: &&JournalVerdict| judged.revision == revision && judged.outcome == outcome;
            let measured = self.verdicts.judged.iter().rfind(is_it).map(|judged| judged.tree);
            let view = || store.view(history.tree(revision)).map_err(|error| Failure::from_error(&error));
            trees.push((measured.map_or_else(view, Ok)?, revision));
        }
        for place in self.older.take().into_iter().chain(self.newer.take()) {
            self.places.release(place);
        }
        let Some(mut older) = self.end("last fast", trees[0].0)? else { return Ok(None) };
        let Some(mut newer) = self.end("first slower", trees[1].0)? else { return Ok(None) };
        let versions = &mut [&mut older, &mut newer];
        let value = |logs: &[f64]| logs[1] - logs[0];
        let mut n_rounds = MIN_ROUNDS;
        // A loss that each decision saw at a glance needs no exact figure.
        if self.most_rounds > 1 {
            let begin = Instant::now();
            match rounds::run(&mut self.places, versions, &value, RoundLimit::Rounds(1))? {
                RoundResult::Decided(..) => {}
                RoundResult::Interrupted => return Ok(None),
                RoundResult::Broken(nth, _, why) => return Err(broken(["last fast", "first slower"][nth], &why)),
            }
            let affordable = PROOF_TIME.as_secs_f64() / begin.elapsed().as_secs_f64().max(1e-3);
            let wanted = self.most_rounds.clamp(PROOF_ROUNDS, MAX_ROUNDS);
            let is_affordable =
                |n_rounds: &usize| u32::try_from(*n_rounds).is_ok_and(|n_rounds| f64::from(n_rounds) <= affordable);
            n_rounds = (MIN_ROUNDS..=wanted).rev().find(is_affordable).unwrap_or(MIN_ROUNDS);
        }
        match rounds::run(&mut self.places, versions, &value, RoundLimit::Rounds(n_rounds))? {
            RoundResult::Interrupted => Ok(None),
            RoundResult::Broken(nth, _, why) => Err(broken(["last fast", "first slower"][nth], &why)),
            RoundResult::Decided(_, costs) => {
                let loss = self.loss(costs.median(0), costs.ratio(1, 0), costs.n_rounds());
                let loss = Loss { slow: costs.median(1), ..loss };
                Ok(Some(Proof { loss, trees: [trees[0], trees[1]] }))
            }
        }
    }
}

/// The two claims of a proof.
fn evidence(proof: &Proof) -> Vec<ClaimEvidence> {
    let claims = Sought::Slower.words().claims;
    let of = |nth: usize, claim: &str, expected: Outcome| {
        let (tree, commit) = proof.trees[nth];
        ClaimEvidence {
            claim: Untrusted::from(claim),
            commit: Some(commit),
            tree: Some(tree),
            expected,
            outcome: if proof.loss.low > 0.0 { expected } else { Outcome::Unresolved(Reason::Other) },
            is_clean: true,
            verified: Verified::Verified,
            place: None,
        }
    };
    vec![of(0, claims[0], Outcome::Pass), of(1, claims[2], Outcome::Fail)]
}

/// What to do if the two ends cannot be told apart.
const NOISY: &str = "The runs differ too much. `--measure cpu` does not count the time in which other programs run; a quieter \
                     machine and a command that runs longer help, too. A smaller or larger `--threshold` decides if the \
                     loss is about as large as the threshold.";

/// The error of an end that fails.
fn broken(name: &str, why: &str) -> Failure {
    let why = Terminal.line(&Untrusted::from(why));
    Failure::new(Status::NothingTestable, format!("the command fails at the {name} revision: {why}"))
        .with_hint("the command has to end with exit code 0 at both ends; `--timeout` gives more time")
}

/// A note on a revision that got no verdict.
fn said(judged: &JournalVerdict) -> Option<Untrusted> {
    let why = judged.why.as_ref()?;
    let revision = judged.revision.short();
    let said = match judged.outcome {
        Outcome::Pass | Outcome::Fail => return None,
        Outcome::Unresolved(Reason::Skip) => format!("{revision} is undecided: {why}"),
        Outcome::Unresolved(_) => format!("{revision} cannot be measured: {why}"),
    };
    Some(Untrusted::from(said))
}

impl ProbeRunner for PerfHunt<'_> {
    type Error = Failure;

    fn width(&self) -> usize {
        1
    }

    fn answer(&mut self, probes: &[Probe]) -> Result<RunnerReply, Failure> {
        let probe = probes[0];
        let is_glanced = |glanced: &JournalVerdict| glanced.tree == probe.tree;
        let glanced = self.glanced.iter().flatten().any(is_glanced).then_some(Outcome::Fail);
        let outcome = match self.verdicts.answer(&probe).or(glanced) {
            Some(outcome) => Some(outcome),
            None => self.judge(&probe)?,
        };
        Ok(outcome.map_or(RunnerReply::Stop(Conclusion::Interrupted), |outcome| RunnerReply::Outcomes(vec![outcome])))
    }

    fn used(&mut self, _: &[Probe], _: &[Outcome]) -> Result<(), Failure> {
        Ok(())
    }

    fn tell(&mut self, events: &[Event]) {
        let rest = Rest { n_jobs: 1, reduction: Duration::ZERO, runs: (0, 0) };
        for event in events {
            self.verdicts.tell(event);
            // The proof follows the search.
            if !matches!(event, Event::Culprit { .. } | Event::Proved { .. }) {
                self.talk.tell(event, &Tally::default(), rest);
            }
        }
    }
}
