//! Explaining without a version that passes: the reference is the failing run with one decision switched, so that the test passes.
//!
//! Each decision is first switched in a fork of the parked process ([`search`]). Only where that makes the program say something new and end by itself, the test is run with that
//! decision switched in the program itself; whether it passes is for the test to say. Both need the failing version built, which is done once ([`super::products`]).
//!
//! Mostly several decisions make the test pass. The chains of some of them are computed and compared: `explain::passing` says which, and which chain is the best.
//!
//! Source: Sumner and Zhang, section 4.1. [`order`](idd_explain::switch::order) says which are tried where there are too many. Deviation: a run that crashes passes as soon as it does
//! not come to where it crashes, and an early decision that makes it do nothing explains nothing. So runs come first that still make the decision, or the call, because of which the
//! statement runs that crashes; of the others that one in which the switched decision was made last, nearest to the crash.

pub(super) mod search;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use crate::explain::forks::ForkServer;
use crate::explain::model::{
    ChainLimits, Desk, Explainer, Explanation, FIRST_TRACE, Limit, Other, PARKED_LIMIT, PATIENCE, RecordLimits, Sides,
    Switched, interrupted,
};
use crate::explain::parking::EndOfTest;
use crate::explain::products::Products;
use crate::explain::sides::{BuiltSide, TargetProcess, is_same, is_start};
use crate::explain::switching::search::{DecisionSearch, NewBehaviour, RunDigest, SwitchTry, none_passes};
use crate::explain::which::ExplainedProcess;
use crate::explain::{forks, which};
use crate::{Failure, Talk};
use idd_base::{Ending, TreeId, count};
use idd_explain::align::Alignment;
use idd_explain::chain::ChainEnd;
use idd_explain::link::Link;
use idd_explain::native::origin::DifferenceOrigin;
use idd_explain::native::recorded::NativeRecorded;
use idd_explain::native::replacements::{ReplacedValue, behind};
use idd_explain::native::story;
use idd_explain::passing::{PassingDecision, SwitchedChain, best, compared};
use idd_report::Status;
use idd_trace::container::is_stopped;
use idd_trace::{Run, Step, TracedProcess};
use idd_world::process::CommandWatch as _;
use idd_world::record::control::{ForkReply, ForkTest, ParkControl, TurnedDecision, process_of};
use idd_world::record::listen::{TakenTrace, has_failed};
use idd_world::run::sandbox::Sandbox;

/// A failing run that was killed at its limit is looked at for as long as this many segments of a reference allow.
const ENDLESS: u64 = 50_000;

/// Chains that are compared, if the run has at most [`SHORT`] steps; less of longer ones, but at least two.
const N_COMPARED: usize = 8;

/// Steps of a run that all of its experiments may be made with.
const SHORT: usize = 100_000;

/// Runs of which the steps are counted, if the run has at most [`SHORT`] steps; less of longer ones.
const N_MEASURED: usize = 40;

/// When a decision was found that makes the test pass, it may be run so many times more to find others, and as often as it had been run till then.
const N_MORE: usize = 4;

/// The failing run, and how to run it again.
struct SwitchedRun<'s, 'e> {
    explainer: &'s Explainer<'e>,
    sandbox: &'s mut Sandbox,
    tree: TreeId,
    meant: TargetProcess,
    products: Products,
    /// The run without a switch.
    whole: ForkTest,
    n_processes: usize,
}

/// A decision that makes the test pass, and what it makes the program do.
#[derive(Debug, Clone, Copy)]
struct FoundDecision {
    next: SwitchTry,
    seen: RunDigest,
    /// Whether the test was run with it.
    is_tested: bool,
    passing: PassingDecision,
}

impl SwitchedRun<'_, '_> {
    /// Parks the program at its start.
    fn at_start<T>(&mut self, ask: impl FnOnce(ForkServer, TracedProcess) -> Result<T, Failure>) -> Result<T, Failure> {
        let (explainer, products) = (self.explainer, &self.products);
        let commands = |variables| products.commands(explainer, variables).map_err(Failure::from);
        explainer.while_parked(self.sandbox, &products.job(self.tree, PARKED_LIMIT), &self.meant, commands, ask)
    }

    fn passes(&mut self, turn: TurnedDecision) -> Result<bool, Failure> {
        self.explainer.passes(self.sandbox, self.tree, &self.meant, &self.products, turn)
    }

    /// Runs the test with one decision of each group switched; returns the groups with which it passes.
    ///
    /// Cost: a run of the test for each group, until enough decisions are found.
    fn passing(&mut self, groups: Vec<NewBehaviour>, n_runs: &mut usize) -> Result<Vec<NewBehaviour>, Failure> {
        let mut passing: Vec<NewBehaviour> = Vec::new();
        let mut most = usize::MAX;
        for group in groups {
            let n_found: usize = passing.iter().map(|group| group.tries.len()).sum();
            if n_found >= N_COMPARED || *n_runs >= most {
                break;
            }
            *n_runs += 1;
            if self.passes(group.first().turn)? {
                if passing.is_empty() {
                    most = *n_runs * 2 + N_MORE;
                }
                passing.push(group);
            }
        }
        Ok(passing)
    }

    /// Counts what each switch changes.
    ///
    /// Cost: a whole traced run for each of at most [`N_MEASURED`] decisions.
    fn measured(&mut self, groups: &[NewBehaviour], search: &DecisionSearch) -> Result<Vec<FoundDecision>, Failure> {
        let (explainer, whole) = (self.explainer, self.whole.clone());
        let build = self.products.build.clone();
        self.at_start(|mut server, process| {
            let mut failing = explainer.fork(&build, &mut server, &process, &whole)?;
            let run = Run::read(&mut failing.player)?;
            let n_runs = at_most(N_MEASURED, &run);
            let all: Vec<(SwitchTry, &NewBehaviour)> =
                groups.iter().flat_map(|group| group.tries.iter().map(move |next| (*next, group))).collect();
            let mut found = Vec::new();
            // Some of all parts of the run.
            for (next, group) in all.iter().step_by(all.len().div_ceil(n_runs).max(1)) {
                if explainer.interrupt.is_interrupted() {
                    return Err(interrupted());
                }
                let test = ForkTest { is_traced: true, limit: explainer.limit(), ..search.test(next.turn) };
                let mut fork = explainer.fork(&build, &mut server, &process, &test)?;
                let other = Run::read(&mut fork.player)?;
                let n_same = 2 * Alignment::new(&run, &other).pairs.len();
                let n_steps = run.n_steps() as usize + other.n_steps() as usize;
                found.push(FoundDecision {
                    next: *next,
                    seen: group.seen,
                    is_tested: group.first() == *next,
                    passing: PassingDecision {
                        nth: next.nth,
                        segment: next.turn.at.segment,
                        is_accident: next.is_accident,
                        n_changed: u32::try_from(n_steps.saturating_sub(n_same)).unwrap_or(u32::MAX),
                        is_far: search.context.is_some_and(|context| !other.indices.contains(&context)),
                    },
                });
            }
            let passing: Vec<PassingDecision> = found.iter().map(|found| found.passing).collect();
            let chosen = compared(&passing, at_most(N_COMPARED, &run).max(2));
            Ok(chosen.into_iter().map(|index| found[index]).collect())
        })
    }

    /// The links before a decision that makes the test pass.
    ///
    /// Cost: at most [`MAX_TRIED`](idd_explain::native::replacements::MAX_TRIED) forks, each from the start of the run.
    fn behind(
        &mut self,
        chosen: &FoundDecision,
        search: &DecisionSearch,
        passing: &[NewBehaviour],
    ) -> Result<Vec<Link>, Failure> {
        let (explainer, whole) = (self.explainer, self.whole.clone());
        let build = self.products.build.clone();
        let same = passing.iter().filter(|group| group.seen == chosen.seen).flat_map(|group| &group.tries);
        let same: Vec<Step> = same.map(|next| next.step).collect();
        let nothing = ForkTest { switch: None, ..search.test(chosen.next.turn) };
        self.at_start(|mut server, process| {
            let mut failing = explainer.fork(&build, &mut server, &process, &whole)?;
            let run = Run::read(&mut failing.player)?;
            let mut recorded = NativeRecorded { player: failing.player, run };
            let mut passes = |next: &ReplacedValue| {
                if explainer.interrupt.is_interrupted() {
                    return Err(interrupted());
                }
                let test = ForkTest { patches: vec![next.patch.clone()], from: next.from, ..nothing.clone() };
                let ForkReply { ended, output, .. } = server.start().test(&test)?;
                Ok(RunDigest::of(ended, &output) == Some(chosen.seen))
            };
            let mut links = behind(&mut recorded, chosen.next.step, &same, &mut passes)?;
            story::number(&mut recorded, &mut links, &mut [])?;
            Ok(links)
        })
    }

    /// The chain of the run with a decision switched.
    fn chain(
        &mut self,
        found: &FoundDecision,
        search: &DecisionSearch,
        limits: ChainLimits,
        seconds: f64,
        talk: &mut dyn Talk,
    ) -> Result<Explanation, Failure> {
        let (explainer, whole, n_processes) = (self.explainer, self.whole.clone(), self.n_processes);
        let build = self.products.build.clone();
        self.at_start(|mut server, process| {
            let failing = explainer.fork(&build, &mut server, &process, &whole)?;
            let test = ForkTest { is_traced: true, limit: explainer.limit(), ..search.test(found.next.turn) };
            let reference = explainer.fork(&build, &mut server, &process, &test)?;
            if RunDigest::of(reference.reply.ended, &reference.reply.output) != Some(found.seen) {
                return Err(Failure::error(
                    "in a second run with the same decision switched, the program behaves differently",
                )
                .with_hint("its runs differ, so no experiment is possible"));
            }
            let (ours, theirs) = (&failing.reply.output, &reference.reply.output);
            let switched = Switched {
                step: found.next.step,
                n_tried: search.n_tried,
                is_prefix: ours.len() > theirs.len() && ours.starts_with(theirs),
                ..Switched::default()
            };
            let sides = Sides {
                failing: (failing.player, failing.ending),
                reference: (reference.player, reference.ending),
                server,
                switched: Some(switched),
                n_processes,
                limits,
            };
            explainer.chain(sides, seconds, talk)
        })
    }
}

/// So many experiments with a run, less if it is long.
fn at_most(n: usize, run: &Run) -> usize {
    (n * SHORT / (run.n_steps() as usize).max(1)).clamp(1, n)
}

impl Explainer<'_> {
    /// Explains the failing version by itself.
    pub(super) fn explain_switched(&self, budget: usize, desk: &mut Desk<'_>) -> Result<Explanation, Failure> {
        let begin = Instant::now();
        let tree = self.pair.failing.tree;
        desk.talk.say("Building and running the failing version.");
        let limits = RecordLimits { max_bytes: FIRST_TRACE.min(self.order.max_trace), time: self.limit() };
        let (bad, products) = self.failing(tree, limits, desk.sandbox)?;
        Self::check_failing(&bad)?;
        let meant = TargetProcess::new(&bad, self.failed_process(&bad)?);
        let which = ExplainedProcess { number: meant.number, twin: meant.number, others: Vec::new() };
        let which = which::remark(&bad, &which);
        let is_endless = is_stopped(bad.taken[meant.number].end);
        let patience = if is_endless { PATIENCE.0 * ENDLESS + PATIENCE.1 } else { u64::MAX >> 8 };
        let whole = forks::whole(patience, self.limit());
        let n_processes = bad.taken.len();
        let mut subject =
            SwitchedRun { explainer: self, sandbox: desk.sandbox, tree, meant, products, whole, n_processes };

        let (build, whole) = (subject.products.build.clone(), subject.whole.clone());
        let (mut search, groups) = subject.at_start(|mut server, process| {
            let fork = self.fork(&build, &mut server, &process, &whole)?;
            let mut search = DecisionSearch::new(fork, budget)?;
            let (n_ways, n_decisions) = (search.queue.len(), search.n_decisions);
            desk.talk.say(&format!(
                "Switching one of {} at a time, in {}.",
                count(n_decisions, "decision"),
                count(n_ways, "way")
            ));
            let mut groups = search.promising(&mut server, self)?;
            if let Some(context) = search.context {
                let mut apart = Vec::new();
                for group in std::mem::take(&mut groups) {
                    let test = ForkTest { is_traced: true, limit: self.limit(), ..search.test(group.first().turn) };
                    let mut fork = self.fork(&build, &mut server, &process, &test)?;
                    let run = Run::read(&mut fork.player)?;
                    let is_there = run.indices.contains(&context);
                    if is_there { &mut groups } else { &mut apart }.push(group);
                }
                groups.extend(apart.into_iter().rev());
            }
            Ok((search, groups))
        })?;
        desk.talk.say(&format!("Running the test with up to {} of them switched.", groups.len()));
        let passing = subject.passing(groups, &mut search.n_tried.1)?;
        if passing.is_empty() {
            let desk = &mut Desk { sandbox: subject.sandbox, talk: desk.talk };
            return Err(self.none_passes(&search, desk));
        }
        let n_passing = passing.iter().map(|group| group.tries.len()).sum();
        let mut found = subject.measured(&passing, &search)?;
        desk.talk.say(&format!("Searching for the chain, {}.", count(found.len(), "switched run")));
        let seconds = begin.elapsed().as_secs_f64();
        let searching = Instant::now();
        let max_tests = self.order.max_tests;
        let (mut explained, mut told, mut problem) = (Vec::new(), Vec::new(), None);
        let mut n_left = u32::try_from(found.len()).unwrap_or(u32::MAX);
        let (max_each, budget) = (max_tests / u64::from(n_left.max(1)), self.order.budget);
        for each in &mut found {
            let time = budget.map(|budget| budget.saturating_sub(searching.elapsed()) / n_left.max(1));
            n_left = n_left.saturating_sub(1);
            if !each.is_tested {
                search.n_tried.1 += 1;
                if !subject.passes(each.next.turn)? {
                    continue;
                }
                each.is_tested = true;
            }
            match subject.chain(each, &search, ChainLimits { max_tests: max_each, time }, seconds, desk.talk) {
                Ok(explanation) => {
                    let is_whole = explanation.chain.end != ChainEnd::Unfinished;
                    let n_links = explanation.links.len();
                    let is_interrupted = explanation.limit == Some(Limit::Interrupt);
                    told.push(SwitchedChain { passing: each.passing, n_links, is_whole });
                    explained.push((*each, explanation));
                    if is_interrupted {
                        break;
                    }
                }
                Err(failure) if failure.status == Status::Interrupted => return Err(failure),
                Err(failure) => problem = problem.or(Some(failure)),
            }
        }
        let Some(index) = best(&told) else { return Err(problem.unwrap_or_else(|| none_passes(&search))) };
        let (chosen, mut explanation) = explained.swap_remove(index);
        if explanation.limit == Some(Limit::MaxTests) && max_each < max_tests {
            let time = budget.map(|budget| budget.saturating_sub(searching.elapsed()));
            explanation = subject.chain(&chosen, &search, ChainLimits { max_tests, time }, seconds, desk.talk)?;
        }
        if explanation.limit.is_none() && budget.is_none_or(|budget| searching.elapsed() < budget) {
            desk.talk.say("Replacing values before the switched decision.");
            let links = subject.behind(&chosen, &search, &passing)?;
            if !links.is_empty() {
                explanation.origin = DifferenceOrigin::Replaced;
                explanation.links.splice(0..0, links);
            }
        }
        if let Some(switched) = &mut explanation.switched {
            switched.n_tried = search.n_tried;
            switched.n_passing = n_passing;
            switched.others = explained.iter().filter_map(|(_, other)| alternative(other)).collect();
            switched.others.sort_by_key(|other| other.step);
        }
        Ok(explanation.with(which))
    }

    /// The process of the failing side that is meant: the last of the named program, else the last that failed, else the last.
    fn failed_process(&self, bad: &BuiltSide) -> Result<usize, Failure> {
        let is_meant = |(number, taken): &(usize, &TakenTrace)| is_start(taken) && self.is_wanted(*number, taken);
        let wanted: Vec<(usize, &TakenTrace)> = bad.taken.iter().enumerate().filter(is_meant).collect();
        let failed = |(_, taken): &&(usize, &TakenTrace)| has_failed(taken.end, taken.is_left, bad.ending);
        let failed = wanted.iter().rfind(failed).or(wanted.last());
        // What no program of its own began cannot be met again.
        failed.map(|(number, _)| *number).ok_or_else(|| self.none_wanted(bad))
    }

    /// Runs the test with a decision of the program switched.
    fn passes(
        &self,
        sandbox: &mut Sandbox,
        tree: TreeId,
        meant: &TargetProcess,
        products: &Products,
        turn: TurnedDecision,
    ) -> Result<bool, Failure> {
        let control = ParkControl::new(&self.root.join("control"))?;
        let commands = products.commands(self, control.variables_at_start(&self.scratch()?))?;
        let job = products.job(tree, self.limit());
        let mut watch =
            EndOfTest { interrupt: self.interrupt.clone(), is_over: Arc::default(), is_held: Arc::default() };
        let is_over = Arc::clone(&watch.is_over);
        let seen = thread::scope(|scope| {
            let running = scope.spawn(|| sandbox.observe(&job, &commands, &mut watch));
            let mut n_same = 0;
            while !running.is_finished() {
                // Who is gone before it has said who it is needs no answer.
                let Ok(Some(mut parked)) = control.wait_at_most(Duration::from_millis(4), &|| false) else { continue };
                if is_same(&process_of(parked.pid), &meant.process) {
                    if n_same == meant.n_before && parked.turn(turn).is_err() {
                        is_over.store(true, Ordering::Relaxed);
                    }
                    n_same += 1;
                }
                drop(parked.go());
            }
            running.join()
        });
        let seen = seen.map_err(|_| Failure::error("the run of the test panicked"))??;
        Ok(seen.ok_or_else(interrupted)?.ending == Ending::Exit(0))
    }
}

/// The decision of a chain that is not the best.
fn alternative(explanation: &Explanation) -> Option<Other> {
    let Switched { step, place, instance, .. } = explanation.switched.clone()?;
    Some(Other { step, place, instance, n_links: explanation.links.len() })
}
