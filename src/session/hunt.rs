//! Runs one hunt, from the plan to the report.

use crate::announce::Announcing;
use crate::audit::Audit;
use crate::criteria::{FIRST_LIMIT, criteria};
use crate::deadline::Deadline;
use crate::environment::Environment;
use crate::finding::FindingSources;
use crate::hints::HintScene;
use crate::order::EffortOrder;
use crate::plan::{Adjustments, Plan};
use crate::positions::Positions;
use crate::precheck::Checking;
use crate::runner::{Runner, RunnerStart};
use crate::saved::{KeptCommit, Saved};
use crate::tally::HuntLimits;
use crate::varying_line::UnlikeLines;
use crate::{Context, Failure, Talk, bisect, hold, kept, mend, remote, sandboxes, saved, suite};
use idd_base::{CommitId, HuntGoal, HuntStage, Observation, Signature, TimeLimits, TreeId, count};
use idd_change::trees::Trees;
use idd_hunt::drive::{Engine, drive};
use idd_hunt::finding::{Conclusion, Finding};
use idd_hunt::{Again, EngineState, Halt, History, HuntWishes, Phase, Probe};
use idd_report::{ErrorReport, Report, Status, Terminal, Untrusted};
use idd_world::cache::Observations;
use idd_world::journal::{FileLock, Record};
use idd_world::place::ProbePlace;
use idd_world::place::surroundings::Surroundings;
use idd_world::repo::fetch::Remote;
use idd_world::repo::promisor::Promisor;
use idd_world::repo::state::UserState;
use idd_world::repo::{
    Location, RepoError, Repository, TreeStore, fetch, graph, locate, modules, private, promisor, refs,
};
use idd_world::shared_cost::SharedCost;
use idd_world::tools::{HuntTools, ToolContext};
use idd_world::{cache, files, tools};
use serde_json::Value;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

/// The maximum number of adjustments of the plan in one hunt.
pub(super) const MAX_ADJUSTMENTS: usize = 8;

/// The input of a hunt.
pub struct Task<'t> {
    /// The plan.
    pub plan: &'t Plan,
    /// The repository.
    pub location: &'t Location,
    /// The context of the process.
    pub context: &'t Context,
    /// Journal and identity of the hunt.
    pub saved: Saved,
    /// Set when the user interrupts.
    pub interrupt: Arc<AtomicBool>,
    /// Receives messages for the user.
    pub talk: &'t mut dyn Talk,
}

/// Runs a hunt to its end, and writes its finding into the journal.
pub fn run(task: Task<'_>, user: &Repository) -> Result<Report, Failure> {
    let (location, is_new) = (task.location, task.saved.is_new);
    let EffortOrder { until, reduction, .. } = task.plan.order.effort;
    let before = UserState::read(location).with_work_tree(location);
    let mut hunt = Hunt::open(task, user)?;
    hunt.runner.talk.looks_for(hunt.plan.order.history.find);
    if let Some(remark) = bisect::remark(&hunt.plan.order.history, location) {
        hunt.runner.talk.say(&remark);
    }
    if let Some(path) = hunt.plan.missing.first() {
        hunt.runner.talk.say(&hold::missing_file(path));
    }
    hunt.runner.append(&Record::Asked(HuntGoal { until, reduction }))?;
    let result = hunt.run_in_spite_of_damage();
    let result = result.and_then(|mut report| {
        let after = UserState::read(location).with_work_tree(location);
        hunt.describe_run(&mut report, &before, &after);
        hunt.give_hints(&mut report);
        report.seconds = hunt.begin.1 + hunt.begin.0.elapsed().as_secs_f64();
        report.hunt = Some(hunt.id.clone());
        report.log = Some(Untrusted::from(hunt.log.to_string_lossy().as_ref()));
        hunt.write_down(&report)?;
        Ok(report)
    });
    if hunt.is_hopeless {
        // There is nothing to continue.
        let status = Status::Usage.word().to_owned();
        hunt.runner.append(&Record::Ended { status })?;
    }
    hunt.runner.talk.finish();
    hunt.runner.close();
    if hunt.is_hopeless && is_new {
        kept::remove(location, &hunt.id)?;
    }
    result
}

/// The limits of this run of the program. The time of its budget begins now.
fn limits(effort: &EffortOrder, interrupt: &Arc<AtomicBool>, context: &Context) -> HuntLimits {
    let shared = effort.max_cost.and(effort.lease.as_ref());
    HuntLimits {
        deadline: effort.budget.and_then(|budget| Deadline::after(budget, interrupt)),
        reserve: Duration::ZERO,
        max_probes: effort.max_probes,
        max_cost: effort.max_cost,
        shared: shared.map(|name| SharedCost::new(&context.directory.join(name))),
    }
}

/// Where the probes of this machine see their checkout; `None` for where it is.
fn place(plan: &Plan, location: &Location, context: &Context, root: &Path) -> Option<Arc<ProbePlace>> {
    if plan.remote.is_some() {
        return None;
    }
    ProbePlace::try_out(location, root, &context.environment).ok().map(Arc::new)
}

/// The remote for the objects that a partial clone lacks.
pub(super) fn promisor_of(plan: &Plan, location: &Location, context: &Context) -> Option<Promisor> {
    let configuration = context.configuration.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    let name = promisor::promising(configuration)?;
    Some(Promisor::new(Remote::new(&name, location, &context.environment), plan.order.effort.fetch))
}

/// The message about a program for which checkouts cannot be in the place of the working tree.
pub(super) fn left(program: &str) -> String {
    format!(
        "`{program}` works in a service that cannot see a checkout at the path of your working tree, so probes run in checkouts elsewhere."
    )
}

/// Reads the history in a separate thread, which waits until it is woken: it would slow down the first checkout.
fn read_history(plan: &Plan, location: &Location) -> Result<JoinHandle<Result<History, RepoError>>, Failure> {
    let tips: Vec<CommitId> = [plan.bad].iter().chain(&plan.goods).chain([&plan.target]).copied().collect();
    let git_directory = location.git_directory.clone();
    let reading = thread::Builder::new().spawn(move || {
        thread::park();
        let user = private::open(&git_directory)?;
        let (revisions, shallow) = graph::load(&user, &tips)?;
        Ok(History::new(revisions, shallow).with_tagged(refs::tagged(&user)))
    });
    reading.map_err(|error| Failure::error(format!("failed to start a thread: {error}")))
}

/// Says that the directories of submodules stay empty, unless the user has chosen that.
fn tell_of_submodules(plan: &Plan, user: &Repository, context: &Context, talk: &mut dyn Talk) {
    let is_chosen = context.configured("idd.submodules").last().is_some();
    if plan.has_empty_submodules && !is_chosen && modules::has_any(user) {
        talk.say(
            "No submodule is checked out here, so their directories stay empty in every revision; `git submodule update \
             --init --recursive` gets them.",
        );
    }
}

/// The message about a precheck that rejects a revision that can be built.
const PRECHECK_USELESS: &str =
    "The command of `--precheck` fails at the bad revision, which can be built; it is not used.";

/// The result of reproducing the failure.
pub(super) enum Reproduced {
    /// The failure is known.
    Yes,
    /// Some runs fail and some pass, and the hunt did not know of noise.
    NowAndThen,
    /// The failure has to be reproduced again, in another environment.
    Otherwise,
    /// The hunt ends here.
    No(Conclusion, Option<ErrorReport>),
}

pub(super) struct Hunt<'h> {
    pub(super) plan: &'h Plan,
    pub(super) location: &'h Location,
    /// The remote for the objects that a partial clone lacks.
    pub(super) promisor: Option<Promisor>,
    /// The remote for the rest of a shallow history, if it may be fetched.
    remote: Option<Remote>,
    /// The thread that reads the history; reproduction does not need it.
    reading: Option<JoinHandle<Result<History, RepoError>>>,
    /// Empty until it is [asked for](Hunt::know_history).
    pub(super) history: Rc<History>,
    pub(super) runner: Runner<'h>,
    pub(super) signature: Option<Signature>,
    /// The tree whose failure is reproduced, if that is the only task; else that of the bad revision.
    pub(super) subject: Option<TreeId>,
    /// The processors that the first run kept busy.
    pub(super) n_busy: f64,
    /// What the test needs of the user's untracked and ignored files, as far as it is known.
    pub(super) environment: Environment,
    /// The runs of the last reproduction.
    pub(super) seen: Vec<Observation>,
    /// The note about a fetched history.
    pub(super) fetched: Option<String>,
    /// Whether the command cannot be run at all, so that there is no hunt to continue.
    pub(super) is_hopeless: bool,
    /// The commit that the journal has.
    kept: Option<KeptCommit>,
    /// What was known when the last commit was proved.
    pub(super) proved: Option<Finding>,
    /// Its id.
    pub(super) id: String,
    /// Its journal.
    pub(super) log: PathBuf,
    /// The start of this run, and the seconds of earlier ones.
    begin: (Instant, f64),
    /// One command at a time works in a worktree.
    _lock: FileLock,
}

impl<'h> Hunt<'h> {
    /// Opens the runner of a hunt. Nothing is run before the first probe.
    pub(super) fn open(task: Task<'h>, user: &Repository) -> Result<Self, Failure> {
        let Task { plan, location, context, saved, interrupt, talk } = task;
        let begin = Instant::now();
        saved.remarks.iter().for_each(|remark| talk.say(remark));
        let kept = saved.replay.as_ref().and_then(saved::first_bad);
        let audit = Audit::open(context)?;
        let reading = read_history(plan, location)?;
        let promisor = promisor_of(plan, location, context);
        drop(saved::make_private(location, user, plan.bad)?);
        private::fill_submodules(&location.idd_directory(), !plan.has_empty_submodules)?;
        tell_of_submodules(plan, user, context, talk);
        let started = SystemTime::now();
        let (mut observations, events) = Observations::open(&location.idd_directory())?;
        for event in &events {
            tell_cache_event(event, talk);
        }
        let limits = limits(&plan.order.effort, &interrupt, context);
        let kept_executor = context.kept_executor.as_ref().filter(|_| plan.remote.is_none());
        if !sandboxes::left(context, location)?.is_empty() {
            talk.say("Removing the checkouts that an earlier run left.");
        }
        let root = match kept_executor {
            Some(kept_executor) => kept_executor.root().to_owned(),
            None => sandboxes::sandboxes(context, location, &saved.id)?,
        };
        let place = place(plan, location, context, &root);
        if plan.remote.is_none() {
            observations.use_tools(HuntTools::new(ToolContext {
                directory: tools::directory(&location.idd_directory()),
                environment: plan.commands.environment.clone(),
                root: root.clone(),
                place: place.as_ref().map(|place| place.top.clone()),
                started,
                audited: plan.audited(),
                earlier: saved.replay.as_ref().and_then(|replay| replay.toolset.clone()),
            }));
        }
        let executor = remote::executor(plan, &root, kept_executor, location, &interrupt, talk)?;
        let executor = match &context.embedding.around {
            Some(around) => around.around(executor),
            None => executor,
        };
        let log = saved.segment.path().to_owned();
        let before = Duration::try_from_secs_f64(saved.seconds_before).unwrap_or_default();
        talk.resumed(before);
        let start = RunnerStart {
            plan,
            location: location.clone(),
            segment: saved.segment,
            replay: saved.replay,
            observations,
            executor,
            root,
            interrupt,
            reader: reading.thread().clone(),
            talk,
            audit,
            limits,
            before: (before, saved.spent),
        };
        let criteria = criteria(plan, None)?;
        let limits = TimeLimits::both(plan.order.test.timeout.unwrap_or(FIRST_LIMIT));
        let mut runner = Runner::new(start, criteria, limits);
        runner.checks.complaining.program.clone_from(&context.embedding.program);
        if plan.remote.is_none() {
            let hidden = place.as_ref().map(|place| place.top.clone());
            let tops = locate::tops(location).into_iter().filter(|top| Some(top) != hidden.as_ref());
            runner.watch_files_below(tops.collect());
        }
        if place.is_some() {
            runner.stand(Surroundings { place, ..Surroundings::default() });
        }
        Ok(Self {
            plan,
            location,
            promisor,
            remote: plan.order.effort.fetch.then(|| Remote::of_history(location, &context.environment)).flatten(),
            reading: Some(reading),
            history: Rc::default(),
            runner,
            signature: None,
            subject: None,
            n_busy: 0.0,
            environment: Environment::default(),
            seen: Vec::new(),
            fetched: None,
            is_hopeless: false,
            kept,
            proved: None,
            id: saved.id,
            log,
            begin: (begin, saved.seconds_before),
            _lock: saved.lock,
        })
    }

    /// Runs the hunt again if some of its candidates were damaged in the meantime; tested candidates are known then.
    fn run_in_spite_of_damage(&mut self) -> Result<Report, Failure> {
        const MAX_TIMES: usize = 3;
        let mut n_times = 0;
        loop {
            let result = self.run();
            n_times += 1;
            if result.is_ok() || n_times == MAX_TIMES {
                return result;
            }
            let Some(said) = mend::clear_store(&self.location.idd_directory()) else { return result };
            let user = private::open(&self.location.git_directory)?;
            drop(saved::make_private(self.location, &user, self.plan.bad)?);
            // Each failure ends one running probe.
            while self.runner.collect_all().is_err() {}
            self.runner.talk.say(&said);
        }
    }

    fn run(&mut self) -> Result<Report, Failure> {
        self.refuse_path_outside()?;
        // If a clean run contradicted an incremental one before the hunt was resumed, this still holds.
        let (is_clean, is_alone) = (self.runner.answers.is_voided(), self.runner.answers.is_alone());
        let mut adjustments = Adjustments { is_clean, is_alone, ..Adjustments::default() };
        let mut before_hold = None;
        for _ in 0..MAX_ADJUSTMENTS {
            self.runner.judging.is_clean = self.plan.order.effort.clean || adjustments.is_clean;
            self.runner.judging.noise = None;
            if adjustments.is_clean || adjustments.is_alone {
                self.runner.effort.n_jobs = 1;
            }
            let (reproduced, store) = self.reproduce_and_open(&mut adjustments)?;
            if let Some(name) = self.runner.leave_place() {
                self.runner.talk.say(&left(name));
                continue;
            }
            self.know_history()?;
            match reproduced {
                Reproduced::Yes => {}
                Reproduced::NowAndThen => {
                    self.runner.talk.say(reason_of(&Again::Noisy));
                    adjustments.adjust(&Again::Noisy);
                    self.withdraw()?;
                    continue;
                }
                Reproduced::Otherwise => continue,
                Reproduced::No(conclusion, error) => {
                    let finding = Finding { conclusion, ..Finding::new(self.plan.bad) };
                    return Ok(Report { error, ..self.report(&finding, &adjustments, &store)? });
                }
            }
            self.try_precheck(&store)?;
            let all_files = self.all_files(&adjustments)?;
            let state = EngineState::new(self.plan.bad);
            let order = self.order(&adjustments, &store)?;
            let engine = if self.plan.is_minimize { Engine::Minimize } else { Engine::Hunt };
            let history = Rc::clone(&self.history);
            let signature = self.signature.as_ref();
            let mut announcing = Announcing {
                runner: &mut self.runner,
                state: &state,
                sources: FindingSources {
                    plan: self.plan,
                    adjustments: &adjustments,
                    history: &history,
                    store: &store,
                    signature,
                    beside: None,
                },
                location: self.location,
                all_files,
                environment: &self.environment,
                kept: &mut self.kept,
                unlike: order.may_widen.then(UnlikeLines::default),
                proved: &mut self.proved,
                hunt: (&self.id, &self.log, self.begin.0, self.begin.1),
            };
            let halt = drive(engine, &store, &history, &order, &mut announcing, &state)?;
            self.runner.collect_all()?;
            let n_refused = state.borrow().n_refused as u64;
            match &*halt {
                Halt::Trees(error) => return Err(Failure::from_error(error)),
                Halt::Concluded(Conclusion::NeverPassed | Conclusion::GoodFails)
                    if self.passes_with_all_files(&state.borrow().finding, &mut adjustments)? => {}
                Halt::Concluded(Conclusion::NeverPassed | Conclusion::GoodFails)
                    if self.passes_alone(&state.borrow().finding, &store)? =>
                {
                    adjustments.adjust(&Again::Alone);
                }
                Halt::Concluded(Conclusion::NeverPassed)
                    if before_hold.is_some() && self.is_seen_to_the_end(&state.borrow().finding) =>
                {
                    // The test files are the culprit after all: with them held, nothing ever passes.
                    adjustments = before_hold.take().expect("the guard saw it");
                    adjustments.believe_tests = true;
                }
                Halt::Concluded(Conclusion::NeverPassed) if self.deepen()? => {}
                Halt::Concluded(conclusion) => {
                    let finding = Finding { conclusion: *conclusion, ..state.borrow().finding.clone() };
                    let mut report = self.end(&finding, &adjustments, &store)?;
                    report.probes.refused = n_refused;
                    return Ok(report);
                }
                Halt::Again(again) => {
                    if matches!(again, Again::Hold(_)) {
                        before_hold = Some(adjustments.clone());
                    }
                    let doubt = state.borrow().doubt;
                    let Some(again) = self.doubted(again, doubt)? else {
                        return self.stopped(&state.borrow().finding, &adjustments, &store);
                    };
                    adjustments.adjust(&again);
                    self.runner.beside.borders.clear();
                    if self.stands(&again, doubt) {
                        continue;
                    }
                }
            }
            self.withdraw()?;
        }
        Err(Failure::error("the plan of the hunt had to be changed too often")
            .with_hint("the test may not be reproducible; try `--clean` and `--repeat`"))
    }

    /// Whether a proved commit stands although the search starts again: a doubt about another tree is none about the fresh
    /// runs of its two.
    fn stands(&self, again: &Again, doubt: Option<Probe>) -> bool {
        let Some(proved) = self.proved.as_ref().filter(|_| matches!(again, Again::Clean | Again::Alone)) else {
            return false;
        };
        !doubt.is_some_and(|doubt| proved.evidence.iter().any(|end| end.tree == doubt.tree))
    }

    /// Takes back the commit that was named, because the search starts again.
    fn withdraw(&mut self) -> Result<(), Failure> {
        self.proved = None;
        self.runner.give_back();
        let Some(KeptCommit { commit, .. }) = self.kept.take() else { return Ok(()) };
        self.runner.talk.say(&format!("{} is withdrawn, and the search starts again.", commit.short()));
        saved::withdraw_refs(commit, self.location).map_err(Failure::from)?;
        Ok(self.runner.append(&Record::Finding { value: Value::Null })?)
    }

    /// Refuses a relative path out of the working tree where probes do not see their checkout there.
    fn refuse_path_outside(&mut self) -> Result<(), Failure> {
        if self.plan.remote.is_some() || self.runner.surroundings().place.is_some() {
            return Ok(());
        }
        let top = self.location.top.as_ref().map(|top| top.join(&self.plan.commands.directory));
        let Some((word, top)) = self.plan.path_outside(self.location).zip(top) else { return Ok(()) };
        self.is_hopeless = true;
        let word_shown = Terminal.line(&Untrusted::from(word.as_bytes()));
        let path = files::real(&top.join(&word)).unwrap_or_else(|| top.join(&word));
        let path = Terminal.line(&Untrusted::from(path.as_os_str().as_bytes()));
        let message =
            format!("the test names `{word_shown}`, but the checkouts are elsewhere, and do not have this path");
        let hint =
            format!("name it by its absolute path, `{path}`; `git idd doctor` shows why checkouts are elsewhere");
        Err(Failure::usage(message).with_hint(hint))
    }

    /// The order for the engine.
    fn order(&self, adjustments: &Adjustments, store: &TreeStore) -> Result<HuntWishes, Failure> {
        let mut order = self.plan.engine_order(adjustments, &self.history);
        // A test file of the user replaces those of the revisions: what breaks it can be no test of a revision.
        order.check_vacuous = order.check_vacuous && !self.runs_tests_of_user()?;
        order.is_audited = self.runner.checks.audit.is_some();
        order.may_widen &= self.signature.as_ref().is_some_and(|signature| signature.line.is_some());
        order.has_precheck &= self.runner.checks.precheck.as_ref().is_some_and(|checking| checking.useless.is_none());
        // Without the name of the hunted test, others that fail beside it would not be seen.
        if self.signature.as_ref().is_some_and(|signature| signature.test.is_some()) {
            let directory = &self.plan.commands.directory;
            order.covered = suite::covered(&self.plan.order.command).run_in(directory);
            order.runnable = suite::runnable_files(&self.plan.order).run_in(directory);
        }
        if !order.has_suite && order.until == HuntStage::Fix {
            let tree = self.history.tree(self.plan.bad);
            order.could_ask_suite = suite::obvious(store, tree, &self.plan.commands.directory)?.is_some();
        }
        Ok(order)
    }

    /// In a hunt without a pass: whether a revision passes when it runs alone although it failed beside other probes.
    /// If so, all observations that were made beside others are dropped.
    fn passes_alone(&mut self, finding: &Finding, store: &TreeStore) -> Result<bool, Failure> {
        let Some(revision) = finding.last_good.or(finding.oldest_failing) else { return Ok(false) };
        let tree = store.view(self.history.tree(revision))?;
        let passes = self.runner.passes_alone(tree, revision, finding.fetched.contains(&revision))?;
        if passes {
            self.doubted(&Again::Alone, None)?;
        }
        Ok(passes)
    }

    /// Reports how the plan changes, and drops observations that no longer count. If runs disagree that were made
    /// beside others, runs alone come first. `None` if interrupted or out of budget.
    fn doubted(&mut self, again: &Again, doubt: Option<Probe>) -> Result<Option<Again>, Failure> {
        let doubt = doubt.filter(|_| matches!(again, Again::Clean | Again::Noisy));
        let difference = match doubt {
            Some(doubt) if *again == Again::Clean => self.runner.contradiction(doubt)?,
            _ => None,
        };
        let again = match doubt.map(|doubt| self.runner.is_disturbed(doubt)).transpose()? {
            Some(None) => return Ok(None),
            Some(Some(true)) => &Again::Alone,
            Some(Some(false)) | None => again,
        };
        if doubt.is_some() {
            self.runner.effort.n_jobs = 1;
        }
        let mut said = reason_of(again).to_owned();
        if let Some(difference) = difference.filter(|_| *again == Again::Clean) {
            said = said.replacen(':', &format!(" ({difference}):"), 1);
        }
        self.runner.talk.say(&Terminal.line(&Untrusted::from(said.as_str())));
        match again {
            Again::Clean => self.runner.answers.void_incremental()?,
            Again::Alone => self.runner.void_all()?,
            _ => {}
        }
        if matches!(again, Again::Clean | Again::Alone) {
            self.environment.first_run = None;
            self.runner.noticed.doubts.push(said);
        }
        Ok(Some(again.clone()))
    }

    /// If nothing passes: whether every revision back to the end of the history can be tested without a repair.
    fn is_seen_to_the_end(&self, finding: &Finding) -> bool {
        let oldest = finding.oldest_failing.map(|id| self.history.first_parents(id));
        oldest.is_none_or(|line| line.len() == 1)
    }

    /// Fetches the history behind the borders of a shallow clone; returns whether there are new revisions.
    fn deepen(&mut self) -> Result<bool, Failure> {
        let borders = fetch::borders(self.location);
        let Some(remote) = self.remote.take().filter(|_| !borders.is_empty()) else { return Ok(false) };
        let n_before = self.history.len();
        remote.history_behind(&borders)?;
        self.reading = Some(read_history(self.plan, self.location)?);
        self.know_history()?;
        let n_more = self.history.len().saturating_sub(n_before);
        let said = format!(
            "Fetched {} from `{}`; the clone is not shallow there any more (`shallow` in the git directory).",
            count(n_more, "more revision"),
            remote.name
        );
        self.runner.talk.say(&said);
        self.fetched = Some(said);
        Ok(n_more > 0)
    }

    /// Runs the user's precheck at the bad revision, which can be built. If it rejects this revision, or reaches the
    /// time limit, it is not used.
    fn try_precheck(&mut self, store: &TreeStore) -> Result<(), Failure> {
        let Some(precheck) = self.runner.checks.precheck.as_ref().and_then(Checking::command).cloned() else {
            return Ok(());
        };
        let tree = store.view(self.history.tree(self.plan.bad))?;
        let probe = Probe::of(tree, self.plan.bad, Phase::Reproduce);
        let is_let_pass = self.runner.is_let_pass(precheck, probe)?;
        if is_let_pass == Some(false) {
            self.runner.is_checked_in_vain(PRECHECK_USELESS);
        }
        Ok(())
    }

    /// Waits until the history is read.
    pub(super) fn know_history(&mut self) -> Result<(), Failure> {
        let Some(reading) = self.reading.take() else { return Ok(()) };
        reading.thread().unpark();
        let history = reading.join().expect("reading the history does not panic");
        self.history = Rc::new(history?);
        self.runner.effort.n_revisions = self.history.len();
        let positions = Positions::of(Rc::clone(&self.history), self.plan.bad, self.location);
        self.runner.talk.use_history(Rc::new(positions));
        Ok(())
    }

    /// Looks for hints; `None` if the repository cannot be opened.
    pub(super) fn with_scene<T>(&self, seen: &[Observation], look: impl FnOnce(&HintScene<'_>) -> T) -> Option<T> {
        let private = private::private_directory(&self.location.idd_directory());
        let (checkouts, removed) = (self.runner.checkouts(), &self.runner.noticed.removed);
        let repository = &private::open(&private).ok()?;
        let (plan, location, environment) = (self.plan, self.location, &self.environment.needed[..]);
        Some(look(&HintScene { plan, location, repository, checkouts, environment, removed, seen }))
    }
}

fn reason_of(again: &Again) -> &'static str {
    match again {
        Again::Hold(_) => {
            "What breaks the test in this change is in its test files, so the revision before it passes without testing \
             anything: these files are held now, and the hunt starts again."
        }
        Again::HoldNothing => "No revision passes with the held files, but one does without them: nothing is held now.",
        Again::NewerPass(_) => {
            "A revision after the first bad one passes as it is: that failure was fixed, and the search goes on from there."
        }
        Again::LineVaries(_) => {
            "The line of the failure varies from revision to revision: only the words that its forms have in common count \
             now."
        }
        Again::SignatureIsExit => {
            "The line of the failure varies from revision to revision, so it does not count any more; how the test ends \
             still does."
        }
        Again::TestSkips => {
            "The test exits with 125 at some revision: only its exit codes are compared now, not the lines that it \
             prints."
        }
        Again::Noisy => {
            "Two runs of one revision disagree, so a single run is no verdict: the search goes on by probability."
        }
        Again::Clean => {
            "A clean run contradicts an incremental one: every probe starts from a fresh checkout now, one at a time."
        }
        Again::Alone => {
            "Runs of one revision disagree when several tests run at once, and agree when one runs alone: one probe runs \
             at a time now."
        }
    }
}

fn tell_cache_event(event: &cache::CacheEvent, talk: &mut dyn Talk) {
    let text = match event {
        cache::CacheEvent::IndexBusy => return,
        cache::CacheEvent::IndexRebuilt { kept, reason } => {
            format!(
                "The index of known results was damaged ({reason}) and made anew; the old one is `{}`.",
                kept.display()
            )
        }
        cache::CacheEvent::IndexLost { reason } => {
            format!("The index of known results cannot be stored ({reason}); going on from the journals.")
        }
        cache::CacheEvent::SegmentDamaged { path, offset } => {
            format!("The journal `{}` is damaged at byte {offset}; the rest of it is not used.", path.display())
        }
        cache::CacheEvent::SegmentSkipped { path, reason } => {
            format!("The journal `{}` cannot be read ({reason}) and is not used.", path.display())
        }
    };
    talk.say(&text);
}

#[cfg(test)]
mod tests;
