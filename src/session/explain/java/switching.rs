//! Explaining a Java program without a version that passes: the reference is the failing run with one decision switched, so
//! that the test passes.
//!
//! Source: Sumner and Zhang, section 4.1; [`order`] says which decisions are tried. Deviation: a virtual machine cannot be
//! forked, so the program runs for each decision from its beginning, see [`trials`](super::trials), and fewer are tried. Of those with which it passes, the one is taken whose
//! chain explains most for what it changes: see [`passing`].

use std::slice;
use std::time::Instant;

use crate::Failure;
use crate::explain::java::experiments::{BUDGET, FailingOutput, Laboratory, RunOutput};
use crate::explain::java::trials::Bounds;
use crate::explain::java::{Begun, ChainStart, JavaSide, runs, too_long, wrong};
use crate::explain::model::{Desk, Explainer, interrupted};
use crate::record::instruments::RecordingTools;
use idd_base::{Ending, count};
use idd_explain::java::chain;
use idd_explain::java::comparable_run::{MAX_STEPS, TakenRun};
use idd_explain::java::effects::StepEffects;
use idd_explain::passing::{self, PassingDecision};
use idd_explain::switch::order;
use idd_report::Untrusted;
use idd_report::chain::{EffectKind, ReportChain, ReportLink, Switched};
use idd_trace::Step;
use idd_trace::instrument::java::replace::Replacement;
use idd_trace::java::uses;
use idd_world::process::CommandWatch as _;
use idd_world::record::listen;

/// Decisions with which the test passes and whose chains are compared.
const N_COMPARED: u32 = 4;

/// Decisions that are tried at least, however long the test takes.
const N_LEAST: usize = 8;

/// For so many decisions there is time in most tests.
const N_LIKELY: usize = 512;

/// A decision that can be switched.
struct SwitchableDecision {
    step: Step,
    /// Its ordinal among the decisions of the run.
    nth: usize,
    /// The number of its statement.
    statement: u32,
    is_loop: bool,
    replacement: Replacement,
}

/// The decisions of a run, in the order in which they are switched.
struct Tries {
    all: Vec<SwitchableDecision>,
    n_decisions: usize,
}

impl Tries {
    /// Cost: plays the run three times.
    fn new(bad: &JavaSide, number: usize, budget: usize) -> Result<Self, Failure> {
        let mut player = bad.player(number)?;
        player.machine.program.meet_all()?;
        let taken = TakenRun::read(&mut player)?;
        if taken.run.n_steps() > MAX_STEPS {
            return Err(too_long());
        }
        let failing = taken.escapes.last().map_or(Step(taken.run.n_steps()), |escape| escape.step);
        let dependences = uses::dependences(&mut player, Step(u32::MAX))?;
        let is_decision = |step: &Step| taken.ways[step.0 as usize].number != 0;
        let decisions: Vec<Step> = (1..=failing.0).map(Step).filter(is_decision).collect();
        let mut tried = order(&decisions, &dependences, &[failing], budget.min(N_LIKELY));
        tried.truncate(budget);
        let steps: Vec<Step> = tried.iter().map(|nth| decisions[*nth]).collect();
        let effects = StepEffects::read(&mut player, &steps)?;
        let all = tried.into_iter().filter_map(|nth| {
            let step = decisions[nth];
            let (replacement, is_loop) = effects.switched(step)?;
            Some(SwitchableDecision { step, nth, statement: taken.statements[step.0 as usize], is_loop, replacement })
        });
        Ok(Self { all: all.collect(), n_decisions: decisions.len() })
    }
}

/// A decision with which the test passes, and the chain that it gives.
struct FoundJavaDecision {
    step: Step,
    passing: PassingDecision,
    begun: Begun,
}

impl Explainer<'_> {
    /// Explains the failing version by itself; `None` if the test runs no Java program.
    ///
    /// Cost: a run of the program for each decision that is tried, and a recorded one for each of at most [`N_COMPARED`] with
    /// which it passes.
    pub(super) fn explain_java_switched(
        &self,
        budget: usize,
        desk: &mut Desk<'_>,
    ) -> Result<Option<ReportChain>, Failure> {
        let begin = Instant::now();
        if RecordingTools::of_java(self.location, self.context, self.pair.failing.tree).is_none() {
            return Ok(None);
        }
        desk.talk.say("Building and running the failing version; Java programs are recorded.");
        desk.sandbox.keep_products();
        let bad = self.java_side("bad", self.pair.failing.tree, desk)?;
        let wanted = |(number, process): &(usize, &listen::TakenTrace)| self.is_wanted(*number, process);
        let Some((number, _)) = bad.processes.iter().enumerate().rfind(wanted) else { return Ok(None) };
        bad.check_failing()?;
        let tries = Tries::new(&bad, number, budget)?;
        desk.talk.say(&format!("Switching one of {} at a time.", count(tries.n_decisions, "decision")));
        let (passing, n_runs) = self.switched_java(&tries, &bad, number, desk)?;
        if passing.is_empty() {
            let message = format!("no decision makes the test pass when it is switched (switched: {n_runs})");
            return Err(Failure::error(message).with_hint(format!(
                "the run makes {}; `--budget` gives more time, `--good` names a version that passes",
                count(tries.n_decisions, "decision")
            )));
        }
        let n_passing = passing.len();
        desk.talk.say(&format!("Searching for the chain, {}.", count(n_passing, "switched run")));
        let searched = Instant::now();
        let mut found = Vec::new();
        for next in passing {
            found.extend(self.with_switched(next, &bad, number, desk)?);
        }
        let told: Vec<passing::SwitchedChain> = found
            .iter()
            .map(|found| passing::SwitchedChain {
                passing: found.passing,
                n_links: found.begun.chain.links.len(),
                is_whole: found.begun.is_whole,
            })
            .collect();
        let Some(best) = passing::best(&told) else {
            return Err(Failure::error(
                "in a second run with the same decision switched, the program does not do anything else",
            ));
        };
        let FoundJavaDecision { step, begun: Begun { mut chain, remedies, .. }, .. } = found.swap_remove(best);
        let distance = chain.failure.step.saturating_sub(step.0);
        // A decision that only keeps a line from being executed is told by what that line would have written.
        let way = |link: &ReportLink, value: &Untrusted| (link.kind == EffectKind::Decision).then(|| value.clone());
        chain.switched = chain.links.first().map(|link| Switched {
            file: link.file.clone(),
            line: link.line,
            which: link.which,
            step: step.0,
            outcome: way(link, &link.value),
            reference: way(link, &link.reference),
            n_forks: n_runs,
            n_runs,
            n_passing,
            distance,
            is_prefix: false,
            others: Vec::new(),
        });
        self.finish(&mut chain, &remedies, &bad, number, self.pair.failing.tree, desk)?;
        chain.figures.build_seconds = searched.duration_since(begin).as_secs_f64();
        chain.figures.seconds = searched.elapsed().as_secs_f64();
        Ok(Some(chain))
    }

    /// The decisions with which the test passes, and how many were tried.
    fn switched_java<'t>(
        &self,
        tries: &'t Tries,
        bad: &JavaSide,
        number: usize,
        desk: &mut Desk<'_>,
    ) -> Result<(Vec<&'t SwitchableDecision>, usize), Failure> {
        let order = self.record_args();
        let instruments = self.java_instruments(&order, self.pair.failing.tree, desk)?;
        let mut laboratory = Laboratory::new(self, &instruments, desk.sandbox, bad, number, self.pair.failing.tree);
        let sets: Vec<&[Replacement]> = tries.all.iter().map(|next| slice::from_ref(&next.replacement)).collect();
        let budget = self.order.budget.unwrap_or(BUDGET);
        let bounds = Bounds { begin: Instant::now(), budget, n_wanted: N_COMPARED };
        let said = RunOutput { ending: bad.ending, output: &bad.output };
        let test = FailingOutput::new(said, said).expect("it is like itself");
        let outcomes = laboratory.try_out(&sets, &test, bounds)?.all;
        let (mut found, mut n_runs): (Vec<&SwitchableDecision>, usize) = (Vec::new(), 0);
        for (next, trial) in tries.all.iter().zip(outcomes) {
            if found.len() >= N_COMPARED as usize {
                break;
            }
            if self.interrupt.is_interrupted() {
                return Err(interrupted());
            }
            let is_passing = if let Some(trial) = trial {
                trial.code == 0 && trial.is_done(1)
            } else {
                if n_runs >= N_LEAST && bounds.begin.elapsed() >= budget {
                    break;
                }
                let ran = laboratory.run(slice::from_ref(&next.replacement))?;
                ran.is_some_and(|(seen, is_done)| is_done && seen.ending == Ending::Exit(0))
            };
            n_runs += 1;
            if is_passing {
                found.push(next);
            }
        }
        Ok((found, n_runs))
    }

    /// The chain of the run with a decision switched; `None` if that does nothing else when it is recorded.
    fn with_switched(
        &self,
        next: &SwitchableDecision,
        bad: &JavaSide,
        number: usize,
        desk: &mut Desk<'_>,
    ) -> Result<Option<FoundJavaDecision>, Failure> {
        let replacements = slice::from_ref(&next.replacement);
        let good = self.java_run("switched", self.pair.failing.tree, false, replacements, desk)?;
        if good.ending != Ending::Exit(0) {
            return Ok(None);
        }
        let Some(twin) = bad.twin(number, &good) else { return Ok(None) };
        let mut runs = runs(bad.player(number)?, good.player(twin)?)?;
        let Some(wrong) = wrong(&runs) else { return Ok(None) };
        let n_same = 2 * runs.alignment.pairs.len();
        let n_steps = (runs.failing.1.run.n_steps() + runs.reference.1.run.n_steps()) as usize;
        let begun = self.java_chain(&mut runs, &wrong, ChainStart::Decision(next.step))?;
        let passing = PassingDecision {
            nth: next.nth,
            segment: next.statement,
            is_accident: next.is_loop,
            n_changed: u32::try_from(n_steps.saturating_sub(n_same)).unwrap_or(u32::MAX),
            is_far: false,
        };
        Ok(Some(FoundJavaDecision { step: next.step, passing, begun }))
    }
}

/// Where the chain of a switched run begins, in words.
pub(super) fn beginning(found: &chain::JavaChain) -> &'static str {
    match found.begin {
        chain::JavaChainBegin::Change => "What comes before the switched decision is the same in both runs.",
        _ => "The chain does not come to the switched decision: what leads from there is not recorded.",
    }
}
