//! The runner of one hunt: it answers probes from the journal, the cache or a sandbox.
//!
//! The order of writing is intent, run, observation (durable), consumed. So no completed probe is run again whenever
//! the program is killed, and a resumed hunt takes the same path. [`jobs`] manages the running probes.

mod answers;
mod budget;
mod complaining;
pub mod complaints;
mod doubt;
mod error;
mod fetched;
mod job;
mod jobs;
mod keys;
mod known;
pub mod questions;
mod removed;
pub mod stand;
pub mod time_limit;
mod tools;
mod user_watch;
mod vetting;

use crate::audit::Audit;
use crate::deadline::Deadline;
use crate::order::{SignatureMode, Until};
use crate::plan::Plan;
use crate::precheck::Checking;
use crate::runner::answers::AnswerStore;
use crate::runner::complaining::Complaining;
pub use crate::runner::error::RunnerError;
pub use crate::runner::job::FAR_RUNS;
use crate::runner::job::{ProbeState, QueuedJob, RunningJob};
use crate::runner::known::first_run;
use crate::runner::time_limit::{RunTimes, is_of_reduction};
use crate::runner::user_watch::UserWatch;
use crate::side_results::SideResults;
use crate::spent::Spent;
use crate::tally::{HuntLimits, Tally, counted};
use crate::{Talk, chronicle};
use idd_base::{Observation, Outcome, RemainingWork, Rest, Stage, TimeLimits, TreeId};
use idd_hunt::drive::{ProbeRunner, RunnerReply};
use idd_hunt::finding::Conclusion;
use idd_hunt::{Again, Event, Noise, Phase, Probe};
use idd_world::cache::{Key, Observations, ProductParts};
use idd_world::journal::{AnswerRecord, JournalSegment, Record, Replay};
use idd_world::process::CommandWords;
use idd_world::repo::{Location, private};
use idd_world::run::classify::Criteria;
use idd_world::run::executor::Executor;
use idd_world::run::java_check::JavaCheck;
use idd_world::run::sandbox::{self, Commands, Probed};
use std::collections::HashMap;
use std::mem;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// Facts for the report, besides the answers.
#[derive(Debug, Default)]
pub struct Noticed {
    /// Whether build or test of some probe changed tracked files.
    pub is_tampered: bool,
    /// Whether the precheck changed tracked files when it ran alone.
    pub is_tampered_by_check: bool,
    /// The number of probes with a product to compare, and without one although `--artifact` names it.
    pub n_products: (u64, u64),
    /// Whether it was said that the runs which prove a claim build everything.
    is_cold_said: bool,
    /// The time limit that some probe has reached.
    pub cut_at: Option<Duration>,
    /// The changed program that was reported to the user.
    changed_tool: Option<String>,
    /// What all revisions are tested with although they may have another version of it, as sentences.
    pub unchanging: Vec<String>,
    /// Why runs of this hunt no longer count, each as a sentence.
    pub doubts: Vec<String>,
    /// The missing object or submodule of the first revision that lacks one.
    pub lack: Option<String>,
    /// The service that ran the test of a tree: of its claims, if it has any. Trees of this machine have none.
    pub places: HashMap<TreeId, String>,
    /// The untracked products that were removed after the first probe that left any, relative to the top.
    pub removed: Vec<Vec<u8>>,
    /// What was said of artifacts, as sentences.
    pub artifacts: Vec<String>,
}

/// Answers the probes of one hunt.
pub struct Runner<'p> {
    plan: &'p Plan,
    commands: Arc<Commands>,
    location: Location,
    root: PathBuf,
    interrupt: Arc<AtomicBool>,
    /// The results of the hunt, and what earlier ones know.
    pub answers: AnswerStore,
    jobs: JobPool,
    /// What probes do to the files of the user.
    pub user: UserWatch,
    /// How observations are judged.
    pub judging: Judging,
    /// What may reject a candidate before its build, or make it worse than others.
    pub checks: CandidateChecks,
    /// What the hunt has spent, and may spend.
    pub effort: HuntEffort,
    /// Facts for the report.
    pub noticed: Noticed,
    /// Results other than outcomes of the test.
    pub beside: SideResults,
    /// Receives messages for the user.
    pub talk: &'p mut dyn Talk,
}

/// The workers, and the probes that they run.
struct JobPool {
    executor: Box<dyn Executor>,
    running: Vec<RunningJob>,
    /// The thread that reads the history; it is woken when commands run.
    reader: Thread,
}

/// How observations of the test become verdicts.
pub struct Judging {
    /// The criteria for observations; set when the failure was reproduced.
    pub criteria: Criteria,
    /// The time limits, and what they come from.
    pub times: RunTimes,
    /// Whether every probe starts from a fresh worktree.
    pub is_clean: bool,
    /// The noise of the test, if it is noisy: verdicts then have as many runs as it requires.
    pub noise: Option<Noise>,
    /// Whether failures are compared line by line in reductions; not if the user sets how they are compared.
    pub compares_lines: bool,
}

/// The checks of candidates besides the test.
#[derive(Default)]
pub struct CandidateChecks {
    /// The precheck.
    pub precheck: Option<Checking>,
    /// The check of an end of a change, which runs in place of build and test.
    vetting: Option<Arc<JavaCheck>>,
    /// The state of the checks for new warnings.
    pub complaining: Complaining,
    /// Receives the trees that are rejected before their build.
    pub audit: Option<Audit>,
}

/// What a hunt has spent, and may spend.
pub struct HuntEffort {
    /// The counts so far.
    pub tally: Tally,
    /// The counter of a run that is not of the test.
    counts_as: Option<&'static str>,
    /// The number of probes that run at once.
    pub n_jobs: usize,
    /// When to stop.
    pub limits: HuntLimits,
    /// The length of the history; 0 until it was read.
    pub n_revisions: usize,
    /// The work of the present phase, as far as it was told.
    ahead: Option<RemainingWork>,
    /// The start of this run, and the time of earlier ones.
    begin: (Instant, Duration),
    /// The time, by what it was spent on.
    pub spent: Spent,
}

impl HuntEffort {
    /// The time of the hunt so far, with that of earlier runs of the program.
    fn elapsed(&self) -> Duration {
        self.begin.1 + self.begin.0.elapsed()
    }
}

/// The input of a runner.
pub struct RunnerStart<'p> {
    /// The plan.
    pub plan: &'p Plan,
    /// The repository.
    pub location: Location,
    /// The journal, open for appending.
    pub segment: JournalSegment,
    /// The content of the journal, if the hunt is resumed.
    pub replay: Option<Replay>,
    /// The observations of all hunts.
    pub observations: Observations,
    /// Runs the probes.
    pub executor: Box<dyn Executor>,
    /// The directory for what only this hunt needs.
    pub root: PathBuf,
    /// Set when the user interrupts.
    pub interrupt: Arc<AtomicBool>,
    /// The thread that reads the history; it is woken when commands run.
    pub reader: Thread,
    /// Receives messages for the user.
    pub talk: &'p mut dyn Talk,
    /// Receives the trees that are rejected before their build.
    pub audit: Option<Audit>,
    /// When to stop.
    pub limits: HuntLimits,
    /// The time of earlier runs of the hunt, and its parts.
    pub before: (Duration, Spent),
}

impl<'p> Runner<'p> {
    /// Opens a runner; no sandbox is made before the first probe needs one.
    pub fn new(start: RunnerStart<'p>, criteria: Criteria, time_limits: TimeLimits) -> Self {
        let RunnerStart { plan, location, segment, replay, observations, executor, root, .. } = start;
        let RunnerStart { interrupt, reader, talk, audit, limits, before: (seconds_before, spent), .. } = start;
        let programs = executor.programs();
        let earlier = replay.as_ref().map(|replay| replay.counts.clone()).unwrap_or_default();
        let user = UserWatch::new(&location);
        let cache = root.parent().unwrap_or(&root).to_owned();
        let checking = plan.precheck.clone().map(|precheck| Checking::new(precheck, plan.probe_plan(), &cache));
        Self {
            plan,
            commands: Arc::new(plan.commands.clone()),
            location,
            root,
            interrupt,
            answers: AnswerStore::new(plan, programs, observations, segment, replay),
            user,
            judging: Judging {
                criteria,
                times: RunTimes::new(time_limits),
                is_clean: plan.order.effort.clean,
                noise: None,
                compares_lines: plan.order.test.signature == SignatureMode::Auto
                    && plan.order.history.find.is_failure(),
            },
            checks: CandidateChecks { precheck: checking, audit, ..CandidateChecks::default() },
            effort: HuntEffort {
                tally: Tally { earlier, ..Tally::default() },
                counts_as: None,
                n_jobs: plan.order.effort.jobs.map_or_else(|| executor.usual_width(), |jobs| jobs as usize),
                limits,
                n_revisions: 0,
                ahead: None,
                begin: (Instant::now(), seconds_before),
                spent,
            },
            jobs: JobPool { executor, running: Vec::new(), reader },
            noticed: Noticed::default(),
            beside: SideResults::default(),
            talk,
        }
    }

    /// The time limit of all reductions together.
    pub fn bound(&self) -> Duration {
        self.effort.spent.bound(self.plan.order.effort.reduction)
    }

    /// What the hunt may still do, if the search ended now.
    fn rest(&self) -> Rest {
        let effort = &self.plan.order.effort;
        let search = self.effort.spent.search.unwrap_or_else(|| self.effort.elapsed());
        let bound = Spent { search: Some(search), ..self.effort.spent }.bound(effort.reduction);
        let reduction = match effort.until {
            Until::Found | Until::Commit => Duration::ZERO,
            _ if bound == Duration::MAX => bound,
            _ => bound.saturating_sub(self.effort.spent.reduction),
        };
        let runs = |phase| self.effort.tally.runs.get(&phase).copied().unwrap_or_default();
        Rest { n_jobs: self.effort.n_jobs, reduction, runs: (runs(Phase::Repair), runs(Phase::Search)) }
    }

    /// Why no more probes run: the user asked to stop, or the budget is used up.
    pub fn conclusion(&self) -> Conclusion {
        let is_late = self.effort.limits.deadline.as_ref().is_some_and(Deadline::has_interrupted);
        if self.is_interrupted() && !is_late { Conclusion::Interrupted } else { Conclusion::Budget }
    }

    /// Whether the user asked to stop.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// Writes a record of the hunt as a whole.
    pub fn append(&mut self, record: &Record) -> Result<(), RunnerError> {
        self.answers.segment().append_durable(record)?;
        Ok(())
    }

    /// Whether this hunt has this observation.
    pub fn knows(&self, probe: &Probe, nth: u32) -> Result<bool, RunnerError> {
        let queued_job = self.queued(*probe, nth);
        Ok(self.own_observation(&queued_job)?.is_some())
    }

    /// Drops every observation of this hunt, because probes disturbed each other.
    pub fn void_all(&mut self) -> Result<(), RunnerError> {
        self.answers.void_all()?;
        self.jobs.executor.spoil();
        self.judging.times.durations.clear();
        Ok(())
    }

    /// The notices about the trees (unsupported filters, LFS pointers), as sentences.
    pub fn notices(&self) -> Vec<String> {
        self.jobs.executor.notices().iter().map(ToString::to_string).collect()
    }

    /// Ends the work: the index is stored and the sandboxes are removed.
    pub fn close(&mut self) {
        self.answers.observations().flush();
        // An observation that can no longer be written is not needed either.
        let _ = self.collect_all();
        if self.jobs.executor.dismiss() {
            sandbox::remove(&self.root, &private::private_directory(&self.location.idd_directory()));
        }
    }

    /// Observes the bad tree; `nths` are the numbers of the runs that reproduce the failure. `None` if interrupted.
    ///
    /// Answers only from the journal of this hunt: a new hunt runs the test again.
    pub fn reproduce(&mut self, probe: Probe, nths: &[u32]) -> Result<Option<Vec<Observation>>, RunnerError> {
        let queued_jobs: Vec<QueuedJob> = nths.iter().map(|nth| self.queued(probe, *nth)).collect();
        let mut seen = Vec::new();
        let mut open = Vec::new();
        for queued_job in queued_jobs {
            match self.own_observation(&queued_job)? {
                Some(observation) => seen.push(observation),
                None => open.push(queued_job),
            }
        }
        let Some(run) = self.run(&open)? else { return Ok(None) };
        seen.extend(run);
        Ok(Some(seen))
    }

    /// Observes a tree with another test and another limit, in a fresh worktree. `None` if interrupted or out of
    /// budget.
    pub fn observe_with(
        &mut self,
        test: CommandWords,
        limit: Duration,
        probe: Probe,
    ) -> Result<Option<Observation>, RunnerError> {
        let commands = Commands { test, artifacts: Vec::new(), ..(*self.commands).clone() };
        self.observe_commands(commands, limit, probe)
    }

    /// Runs another test from now on.
    pub fn use_test(&mut self, test: CommandWords) {
        let commands = Commands { test, ..(*self.commands).clone() };
        let plan = self.plan_with(&commands);
        (self.commands, self.answers.plan_digest) = (Arc::new(commands), self.answers.digest(&plan));
    }

    fn observe_commands(
        &mut self,
        commands: Commands,
        limit: Duration,
        probe: Probe,
    ) -> Result<Option<Observation>, RunnerError> {
        let commands = Arc::new(commands);
        let plan = self.plan_with(&commands);
        let usual = (Arc::clone(&self.commands), self.answers.plan_digest, self.judging.times.limits);
        let limits = TimeLimits { test: limit, ..self.judging.times.limits };
        (self.commands, self.answers.plan_digest, self.judging.times.limits) =
            (commands, self.answers.digest(&plan), limits);
        // What the test takes says nothing about another command.
        let durations = mem::take(&mut self.judging.times.durations);
        let queued_job = self.queued(probe, probe.run.unwrap_or_default());
        let seen = match self.known(&queued_job) {
            Ok(Some((observation, _))) => {
                self.effort.tally.n_cached += 1;
                Ok(Some(observation))
            }
            Ok(None) => self.run(&[queued_job]).map(|seen| seen.and_then(|mut seen| seen.pop())),
            Err(error) => Err(error),
        };
        (self.commands, self.answers.plan_digest, self.judging.times.limits) = usual;
        self.judging.times.durations = durations;
        seen
    }

    fn wants_clean(&self, probe: &Probe) -> bool {
        self.judging.is_clean || probe.is_claim
    }

    /// Runs all these jobs, as many at once as there are jobs. `None` if interrupted or out of budget.
    fn run(&mut self, queued_jobs: &[QueuedJob]) -> Result<Option<Vec<Observation>>, RunnerError> {
        self.collect_all()?;
        let mut seen: Vec<Option<Observation>> = vec![None; queued_jobs.len()];
        while seen.iter().any(Option::is_none) {
            let open: Vec<QueuedJob> = queued_jobs
                .iter()
                .zip(&seen)
                .filter(|(_, seen)| seen.is_none())
                .map(|(queued_job, _)| *queued_job)
                .collect();
            if !self.schedule(&open)? {
                self.collect_all()?;
                return Ok(None);
            }
            if let Some((landed, observation)) = self.collect()?
                && let Some(index) = queued_jobs.iter().position(|queued_job| *queued_job == landed)
            {
                seen[index] = Some(observation);
            }
        }
        Ok(Some(seen.into_iter().flatten().collect()))
    }

    fn observed(&mut self, running_job: &RunningJob, probed: &Probed) -> Result<(), RunnerError> {
        self.look_for_contradiction(&running_job.queued_job.probe, &probed.observation);
        let RunningJob { queued_job, sequence, refusal_key, .. } = *running_job;
        let Probed { observation, product, is_same_product, stale, removed, .. } = probed;
        self.say_removed(removed);
        let is_refused = observation.stage == Stage::Precheck && refusal_key.is_some();
        let same_product = self.same_product_key(&queued_job.probe).filter(|_| *is_same_product);
        // The run itself may have been the first that executed git.
        let own_key = || self.key_of(queued_job.keys);
        let key = same_product.or(refusal_key.filter(|_| is_refused)).unwrap_or_else(own_key);
        let exposed_commit = self.exposed(&queued_job.probe);
        if !self.commands.artifacts.is_empty() && observation.stage == Stage::Test {
            self.noticed.n_products.0 += u64::from(product.is_some());
            self.noticed.n_products.1 += u64::from(product.is_none());
        }
        let product = product.zip(self.answers.product_digest).filter(|_| !is_same_product);
        let product = product.map(|(product, plan)| ProductParts { product: product.0, exposed_commit, plan }.digest());
        let toolset = self.answers.observations().toolset();
        let record = Record::Observed {
            sequence,
            toolset,
            key: key.to_string(),
            nth: queued_job.nth,
            product: product.map(|key| key.to_string()),
            observation: observation.clone(),
        };
        self.append(&record)?;
        let segment = Arc::clone(&self.answers.segment);
        self.answers.observations().record(&segment.lock().unwrap_or_else(PoisonError::into_inner));
        self.answers.unconsumed.insert(key, sequence);
        self.answers.own.insert((key, queued_job.nth, observation.is_clean), observation.clone());
        let mut counts = Vec::new();
        match self.effort.counts_as {
            Some(word) => counts.push(word),
            None if is_refused => counts.push(counted::REFUSED),
            None if *is_same_product => counts.push(counted::SAME_PRODUCT),
            None if observation.stage == Stage::Fetch => {}
            None => counts.push(queued_job.probe.phase.word()),
        }
        counts.extend(self.count_artifact(&queued_job.probe, probed));
        counts.extend(refusal_key.map(|_| counted::PRECHECKED));
        counts.extend(stale.as_ref().map(|_| counted::REBUILT));
        if let Some(line) = stale {
            self.tell_stale(&queued_job.probe, line);
        }
        let counts = counts.into_iter().map(str::to_owned).collect();
        let elapsed = self.effort.elapsed();
        self.answers.segment().append(&Record::Ran { sequence, counts, elapsed })?;
        self.effort.tally.n_prechecked += u64::from(refusal_key.is_some());
        self.effort.tally.n_refused += u64::from(is_refused);
        self.effort.tally.n_same_product += u64::from(*is_same_product);
        if is_refused {
            self.checks.audit.iter().for_each(|audit| audit.add(queued_job.probe.tree, "precheck"));
        } else if !is_same_product && observation.stage != Stage::Fetch {
            *self.effort.tally.runs.entry(queued_job.probe.phase).or_default() += 1;
            self.effort.tally.pace.add(observation.duration);
            self.effort.tally.cost += observation.duration;
            if let Some(Err(error)) = self.effort.limits.shared.as_mut().map(|shared| shared.add(observation.duration))
            {
                self.effort.limits.shared = None;
                self.talk
                    .say(&format!("Only the cost of this job counts from now on: its sum cannot be shared ({error})."));
            }
        }
        Ok(())
    }

    /// The directories of the checkouts.
    pub fn checkouts(&self) -> Vec<PathBuf> {
        self.jobs.executor.directories()
    }

    /// Whether a probe must not run because it is a candidate of a reduction whose time is used up.
    fn is_too_late_for(&self, probe: &Probe) -> bool {
        is_candidate(probe) && self.effort.spent.reduction >= self.bound()
    }

    fn answered(&mut self, probes: &[Probe]) -> Result<RunnerReply, RunnerError> {
        loop {
            let mut outcomes = Vec::new();
            let mut overheard = Vec::new();
            let mut open = Vec::new();
            for probe in probes {
                match self.state(probe)? {
                    ProbeState::Disagreeing if outcomes.is_empty() && open.is_empty() => {
                        return Ok(RunnerReply::Again(Again::Noisy));
                    }
                    ProbeState::Disagreeing => break,
                    ProbeState::Missing(queued_job) => open.push(queued_job),
                    ProbeState::Known(seen) if open.is_empty() => outcomes.extend(seen.outcome),
                    ProbeState::Known(seen) => overheard.extend(seen.outcome.map(|outcome| (*probe, outcome))),
                }
            }
            if outcomes.is_empty() && open.first().is_some_and(|queued_job| self.is_too_late_for(&queued_job.probe)) {
                self.cancel(|_| true);
                self.collect_all()?;
                return Ok(RunnerReply::Spent);
            }
            if outcomes.is_empty() && !overheard.is_empty() {
                return Ok(RunnerReply::Overheard(overheard));
            }
            let goes_on = self.schedule(&open)?;
            if !outcomes.is_empty() {
                return Ok(RunnerReply::Outcomes(outcomes));
            }
            if !goes_on {
                self.collect_all()?;
                return Ok(RunnerReply::Stop(self.stops().unwrap_or(Conclusion::Interrupted)));
            }
            self.collect()?;
        }
    }

    fn stops(&self) -> Option<Conclusion> {
        if self.is_interrupted() {
            return Some(self.conclusion());
        }
        let is_late = self.effort.limits.deadline.as_ref().is_some_and(Deadline::is_over);
        let is_many = self.effort.limits.max_probes.is_some_and(|max| self.effort.tally.n_runs() >= max);
        let is_costly = self.effort.limits.is_spent(self.effort.tally.cost);
        (is_late || is_many || is_costly).then_some(Conclusion::Budget)
    }
}

/// Whether a probe is a candidate of a reduction of the culprit.
fn is_candidate(probe: &Probe) -> bool {
    is_of_reduction(probe) && probe.phase == Phase::Reduce && probe.question.is_of_test()
}

impl ProbeRunner for Runner<'_> {
    type Error = RunnerError;

    fn width(&self) -> usize {
        let ahead = self.effort.ahead.unwrap_or(RemainingWork::of_all(self.effort.n_revisions));
        let n_affordable = self.effort.limits.n_affordable(&self.effort.tally);
        n_affordable
            .map_or(self.effort.n_jobs, |n_affordable| ahead.affordable_width(self.effort.n_jobs, n_affordable))
            .max(1)
    }

    fn answer(&mut self, probes: &[Probe]) -> Result<RunnerReply, RunnerError> {
        if self.is_interrupted() {
            // Also if all answers are known.
            self.collect_all()?;
            return Ok(RunnerReply::Stop(self.conclusion()));
        }
        if let Some(probe) = probes.first().filter(|probe| !probe.question.is_of_test()) {
            return Ok(match self.ask_beside(probe)? {
                Some(outcome) => RunnerReply::Outcomes(vec![outcome]),
                None => RunnerReply::Stop(self.conclusion()),
            });
        }
        self.vet(probes)?;
        self.learn_exact(probes)?;
        if !probes.first().is_some_and(is_candidate) {
            return self.answered(probes);
        }
        let elapsed = self.effort.elapsed();
        self.effort.spent.search.get_or_insert(elapsed);
        let begin = Instant::now();
        let reply = self.answered(probes);
        self.effort.spent.reduction += begin.elapsed();
        reply
    }

    fn has_slow_claim(&mut self, probes: &[Probe]) -> Result<bool, RunnerError> {
        self.is_claim_slow(probes)
    }

    fn used(&mut self, probes: &[Probe], outcomes: &[Outcome]) -> Result<(), RunnerError> {
        for (probe, outcome) in probes.iter().zip(outcomes) {
            if !probe.question.is_of_test() {
                continue;
            }
            self.tell_other_failure(probe, *outcome)?;
            let mut is_same_product = false;
            if let ProbeState::Known(seen) = self.state(probe)? {
                // Changes by the precheck, which also runs before the build, are not attributed to the build.
                let is_checked = self.noticed.is_tampered_by_check;
                self.noticed.is_tampered |= seen.is_tampered && !is_checked;
                self.noticed.cut_at = self.noticed.cut_at.max(seen.cut_at);
                self.time(probe, *outcome, seen.duration);
                self.count_lost_build(probe, *outcome, seen.duration);
                self.noticed.lack = self.noticed.lack.take().or(seen.lack);
                if let Some(place) = seen.place {
                    self.noticed.places.insert(probe.tree, place);
                } else if probe.is_claim {
                    self.noticed.places.remove(&probe.tree);
                }
                is_same_product = seen.is_same_product;
            }
            let others = [self.same_product_key(probe), self.refusal_key(probe)];
            let keys: Vec<Key> = self.keys(probe).both().into_iter().chain(others.into_iter().flatten()).collect();
            let run: Vec<u64> = keys.iter().filter_map(|key| self.answers.unconsumed.remove(key)).collect();
            self.effort.tally.n_cached +=
                u64::from(run.is_empty() && !self.answers.is_counted_before(&keys, first_run(probe)));
            let answer = Record::Answer(AnswerRecord {
                phase: probe.phase.word().to_owned(),
                revision: probe.revision,
                tree: probe.tree,
                key: self.key(probe).to_string(),
                sequence: run.last().copied(),
                outcome: outcome.to_string(),
            });
            self.answers.segment().append(&answer)?;
            if is_candidate(probe) && !run.is_empty() {
                self.answers.segment().append(&self.effort.spent.record())?;
            }
            let number = run.last().copied();
            for sequence in run {
                self.answers.segment().append(&Record::Consumed { sequence })?;
            }
            *self.effort.tally.outcomes.entry((probe.phase, outcome.to_string())).or_default() += 1;
            self.talk.probed(probe, *outcome, is_same_product, number);
            self.tell_trouble(probe, *outcome)?;
        }
        Ok(())
    }

    fn tell(&mut self, events: &[Event]) {
        for event in events {
            if let Event::Border { probe, first } = event {
                // If it can no longer be read, it is not reported.
                let _ = self.tell_border(probe, *first);
            }
            if let Event::OwnTests { paths } = event {
                self.beside.ask_with(paths);
            }
            if let Event::Noise { noise } = event {
                self.judging.noise = Some(*noise);
            }
            self.effort.ahead = event.remaining_work(self.effort.n_revisions).or(self.effort.ahead);
            for record in chronicle::records(event, self.effort.n_revisions, self.effort.n_jobs) {
                // As with a process group: a full disk shows again when an observation is written.
                let _ = self.answers.segment().append(&record);
            }
            if let Event::Refused { tree } = event {
                self.checks.audit.iter().for_each(|audit| audit.add(*tree, "syntax"));
            }
            let rest = self.rest();
            self.talk.tell(event, &self.effort.tally, rest);
        }
    }
}

#[cfg(test)]
mod tests;
