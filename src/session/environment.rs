//! What a hunt needs of what only the user's working tree has: its environment.
//!
//! The first of the runs that reproduce the failure sees all of these files, and it is recorded which of them it uses before
//! it makes or changes them. The second run sees only these, without what a compiler makes. If both show the same failure,
//! every probe has these files.
//!
//! If the first run uses none, or if that cannot be recorded, or if the second run differs, then a run without any of the
//! files is compared to the first one. If both show the same, the test needs none of them. Otherwise the smallest set with
//! which the failure is the first one is searched by halves, in at most eight runs or half a minute (Zeller and Hildebrandt's delta debugging, with what is known to
//! be needed kept in place).
//!
//! A large directory is mounted, and no command can remove or rename a mount. If the first run tries that, a copy takes the
//! place of the directory, unless a run without it shows the same.
//!
//! Tests that the user has edited and not committed belong to these files. A revision that is tested with another version of
//! a test than its own says less of the revision, so the second run has none of them; they come back if it differs.

use crate::hints::files::listed;
use crate::hints::words::lacking;
use crate::hunt::{Hunt, Reproduced};
use crate::plan::Adjustments;
use crate::python::CompiledModule;
use crate::runner::{Runner, RunnerError};
use crate::{Failure, hold};
use idd_base::{CommitId, Observation, Outcome, Reason};
use idd_change::trees::Trees as _;
use idd_hunt::finding::{Conclusion, Finding};
use idd_hunt::test_paths::{is_setup_path, is_test_path};
use idd_hunt::{Phase, Probe};
use idd_report::{Terminal, Untrusted};
use idd_world::cache::Key;
use idd_world::files;
use idd_world::journal::Record;
use idd_world::place::surroundings::{ShownPath, Surroundings};
use idd_world::place::untracked::{Tracking, Untracked, UserPath, has_objects, untracked, used};
use idd_world::process::executions::PathUse;
use idd_world::repo::unchanged::FileTimes;
use idd_world::repo::{TreeStore, graph, private};
use idd_world::run::classify::{PlainResult, classify, reproduced};
use idd_world::run::{failure_line, normalise};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::mem;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Runs of the search for the smallest set, and the time of these runs after which no other one begins: a set with some
/// files too many costs less than builds from nothing.
const MAX_RUNS: usize = 8;
const MAX_RUN_TIME: Duration = Duration::from_secs(30);

/// If the first run of that search takes this long, it is said why there are others before the failure is reproduced.
const SLOW_RUN: Duration = Duration::from_secs(5);

/// The number of paths that are named.
const MAX_NAMED: usize = 5;

/// What is known of the environment.
#[derive(Debug, Default)]
pub struct Environment {
    listed: EnvironmentState,
    /// What the test needs, if that is known.
    pub(super) needed: Vec<Arc<UserPath>>,
    /// All files, if not all are in use, and no run has shown yet whether other revisions need them.
    all: Vec<Arc<UserPath>>,
    /// Whether a run with the files that the first one used, or that were known to be needed, differed from it.
    is_use_refuted: bool,
    /// The tests that the user has edited and not committed.
    pub(super) edited: Vec<Arc<UserPath>>,
    /// What is tried if no edited test is enough: the files that the first run used, with such tests.
    with_edited: Option<Vec<Arc<UserPath>>>,
    /// Programs that a build makes; only the run with all files sees them.
    programs: Vec<Arc<UserPath>>,
    /// A probe that showed the same as the first run, and what that showed.
    pub(super) first_run: Option<(Key, Observation)>,
    /// Whether the first run read no tracked file but tests and their setup.
    pub(super) reads_no_source: bool,
    /// The modules of Python in the working tree that were compiled of a tracked source, if nothing builds them.
    pub(super) compiled: Vec<CompiledModule>,
    /// The mounted directories that the first run tried to remove or to rename.
    removed: Vec<Vec<u8>>,
}

impl Environment {
    /// What the first run showed, if a probe with this key showed the same.
    pub(super) fn first_run(&self, key: Key) -> Option<Observation> {
        let (of, seen) = self.first_run.as_ref()?;
        (*of == key).then(|| seen.clone())
    }

    /// What the first run sees.
    pub(super) fn in_words(&self) -> &'static str {
        if self.edited.is_empty() {
            "untracked and ignored files"
        } else {
            "untracked and ignored files and edited tests"
        }
    }
}

/// All files of the user, for a run at the first bad commit. If the test passes there, it fails for want of a file that the
/// bad revision does not need, or whose use was not seen.
pub struct AllFiles {
    store: TreeStore,
    surroundings: Surroundings,
}

impl AllFiles {
    /// Whether the test passes at a revision with these files.
    ///
    /// Cost: a run.
    pub fn lets_pass(&self, revision: CommitId, runner: &mut Runner<'_>) -> Result<bool, RunnerError> {
        let tree = graph::tree_of(self.store.repository(), revision).ok();
        let Some(tree) = tree.and_then(|tree| self.store.view(tree).ok()) else { return Ok(false) };
        let present = runner.surroundings().clone();
        runner.stand(self.surroundings.clone());
        let seen = runner.reproduce(Probe::of(tree, revision, Phase::Reproduce), &[0])?;
        let seen = seen.and_then(|mut seen| seen.pop());
        // A revision without the test passes, too.
        let passes = seen.is_some_and(|seen| {
            reproduced(&seen, &runner.judging.criteria) == PlainResult::Passes
                && classify(&seen, &runner.judging.criteria) != Outcome::Unresolved(Reason::TestAbsent)
        });
        runner.stand(present);
        Ok(passes)
    }
}

/// What the search for the smallest set has used.
#[derive(Debug, Default, Clone, Copy)]
struct SearchCost {
    n_runs: usize,
    /// The sum of their durations.
    time: Duration,
}

/// What the working tree has, as long as it is not known what the test needs of it.
#[derive(Debug, Default)]
enum EnvironmentState {
    /// It was not looked at.
    #[default]
    No,
    /// These files.
    Open(Vec<Arc<UserPath>>),
    /// It is known what is needed, or that nothing can be known.
    Closed,
}

/// The first run, with all files.
pub(super) enum FirstRun {
    /// There are no such files, or it is known which of them are needed.
    NotNeeded,
    /// It was interrupted, or is out of budget.
    Stopped,
    /// It is known from before what is needed; the failure has to be reproduced with it.
    Known,
    /// What it showed, and which of the files it used; no files if that is not known, or if it does not fail.
    Seen(Observation, Vec<Arc<UserPath>>),
}

impl Hunt<'_> {
    /// Whether it is not known yet what the test needs of the working tree.
    pub(super) fn is_environment_open(&self) -> bool {
        matches!(self.environment.listed, EnvironmentState::Open(_))
    }

    /// Whether it was looked at what the working tree has.
    pub(super) fn is_environment_listed(&self) -> bool {
        !matches!(self.environment.listed, EnvironmentState::No)
    }

    /// Lists what the test may need of the working tree, once.
    pub(super) fn look_beside(&mut self) -> Result<(), Failure> {
        if !matches!(self.environment.listed, EnvironmentState::No) {
            return Ok(());
        }
        self.environment.listed = EnvironmentState::Closed;
        if self.plan.order.test.no_hold || self.plan.remote.is_some() || self.subject.is_some() {
            return Ok(());
        }
        let user = private::open(&self.location.git_directory)?;
        let is_known = |path: &[u8]| self.plan.held.contains_key(path) || graph::has_path(&user, self.plan.bad, path);
        let Untracked { mut candidates, programs, caches } =
            untracked(self.location, &self.plan.commands.environment, &is_known);
        let test = &self.plan.order.command;
        let is_listed = |path: &Vec<u8>| candidates.iter().any(|candidate| candidate.path == *path);
        let known: Vec<_> = self.needed_before().into_iter().filter(|path| !is_listed(path)).collect();
        let edited = hold::edited(test, &self.plan.held, self.plan.bad, self.location, &user, &known);
        self.environment.edited = edited.iter().cloned().map(Arc::new).collect();
        candidates.extend(edited);
        let has_overlays = self.runner.surroundings().place.as_ref().is_some_and(|place| place.has_overlays);
        let is_cache_shown = has_overlays && !caches.is_empty();
        let has_products = candidates.iter().any(UserPath::is_ignored);
        if is_cache_shown || has_products {
            let caches = if has_overlays { caches } else { Vec::new() };
            let times = Some(Arc::new(FileTimes::read(self.location)));
            self.runner.stand(Surroundings { times, caches, ..self.runner.surroundings().clone() });
        }
        self.refuse_gone()?;
        self.environment.programs = programs.into_iter().map(Arc::new).collect();
        self.keep_all(&[], &[]);
        if !candidates.is_empty() {
            let copied = self.runner.answers.copied();
            self.environment.removed = copied.iter().filter_map(|path| files::unhex(path)).collect();
            let all = candidates.into_iter().map(|candidate| self.unmounted(&Arc::new(candidate)));
            self.environment.listed = EnvironmentState::Open(all.collect());
        }
        Ok(())
    }

    /// The paths that the hunt needed before it was stopped.
    fn needed_before(&self) -> Vec<Vec<u8>> {
        let needed = self.runner.answers.environment().unwrap_or_default();
        needed.iter().filter_map(|path| files::unhex(path)).collect()
    }

    /// Refuses to go on with a hunt that needs a file which is gone.
    fn refuse_gone(&self) -> Result<(), Failure> {
        let is_gone = |path: &Vec<u8>| {
            let top = self.location.top.as_ref();
            top.is_some_and(|top| top.join(OsStr::from_bytes(path)).symlink_metadata().is_err())
        };
        let Some(path) = self.needed_before().into_iter().find(is_gone) else { return Ok(()) };
        let path = Terminal.line(&Untrusted::from(path));
        Err(Failure::error(format!("the hunt needs `{path}` of your working tree, which is gone"))
            .with_hint("put it back, or start another hunt with `--no-cache`"))
    }

    /// Keeps all files for a later run, if fewer than all are in use. Edited tests that make no difference are left out.
    fn keep_all(&mut self, candidates: &[Arc<UserPath>], used: &[Arc<UserPath>]) {
        let is_kept = |candidate: &&Arc<UserPath>| !candidate.is_edited() || used.contains(candidate);
        let all = candidates.iter().chain(&self.environment.programs).filter(is_kept);
        let all: Vec<_> = all.map(|candidate| self.unmounted(candidate)).collect();
        if used.len() < all.len() {
            self.environment.all = all;
        }
    }

    /// The first run at the bad revision, with all untracked and ignored files.
    pub(super) fn with_all_files(&mut self, adjustments: &mut Adjustments) -> Result<FirstRun, Failure> {
        let EnvironmentState::Open(all) = &self.environment.listed else { return Ok(FirstRun::NotNeeded) };
        let all = all.clone();
        let known = self.runner.answers.environment().filter(|_| !self.environment.is_use_refuted).map(|known| {
            let is_needed = |candidate: &&Arc<UserPath>| known.contains(&files::hex(&candidate.path));
            all.iter().filter(is_needed).cloned().collect::<Vec<_>>()
        });
        if let Some(needed) = &known
            && let probe = self.probe_with(&all, adjustments)?
            && !self.runner.knows(&probe, 0)?
        {
            // The files have changed since the hunt was stopped; which of them it needs is known.
            let needed = needed.clone();
            self.keep_all(&all, &needed);
            self.environment.listed = EnvironmentState::Closed;
            self.use_files(needed, adjustments)?;
            return Ok(FirstRun::Known);
        }
        self.runner.record_uses();
        let Some(seen) = self.busily(|hunt| hunt.with_files(&all, adjustments, 0))? else {
            return Ok(FirstRun::Stopped);
        };
        let recorded = self.runner.take_uses();
        self.find_removed(&all, &recorded.inside);
        let read = recorded.read_inside();
        let is_failing = self.judge_uses(&seen, &recorded, &all)?;
        let is_read_and_removed = |needed: &Arc<UserPath>| self.environment.removed.contains(&needed.path);
        if (!is_failing || self.used(&all, &read).iter().any(is_read_and_removed)) && self.unmount(&all)? {
            return self.with_all_files(adjustments);
        }
        let used = match known {
            _ if !is_failing => Vec::new(),
            Some(known) => known,
            None => match self.environment.with_edited.take() {
                Some(used) => used,
                None => self.without_edited(&all, &read),
            },
        };
        self.show(&adjustments.environment);
        Ok(FirstRun::Seen(seen, used))
    }

    /// If the test passes without the uncommitted changes of its setup, they are the cause of the failure and no part of the
    /// test: leaves them out from now on, and returns whether there are any.
    fn leave_setup(&mut self, all: &[Arc<UserPath>], without: &[Observation]) -> bool {
        let passes = |seen: &Observation| reproduced(seen, &self.runner.judging.criteria) == PlainResult::Passes;
        let is_setup =
            |path: &Arc<UserPath>| path.is_edited() && is_setup_path(&path.path) && !is_test_path(&path.path);
        let (left, kept): (Vec<_>, Vec<_>) = all.iter().cloned().partition(is_setup);
        if left.is_empty() || !without.iter().any(passes) {
            return false;
        }
        let paths: Vec<&[u8]> = left.iter().map(|path| &path.path[..]).collect();
        let names = listed(&paths, self.location);
        let said = format!("The test passes without your uncommitted changes in {names}, so they are not tested.");
        self.runner.talk.say(&Terminal.line(&Untrusted::from(said)));
        self.environment.edited.retain(|path| !left.contains(path));
        self.environment.with_edited = None;
        self.environment.listed = if kept.is_empty() { EnvironmentState::Closed } else { EnvironmentState::Open(kept) };
        true
    }

    /// Keeps which mounted directories a run tried to remove or to rename.
    fn find_removed(&mut self, all: &[Arc<UserPath>], recorded: &BTreeMap<PathBuf, PathUse>) {
        let is_removed = |shown: &ShownPath| recorded.get(&shown.path).is_some_and(|seen| seen.is_changed);
        let is_mounted = |shown: &&ShownPath| self.runner.surroundings().is_mounted(shown);
        let removed = |candidate: &&Arc<UserPath>| candidate.shown().filter(is_mounted).is_some_and(is_removed);
        let removed = all.iter().filter(removed).map(|candidate| candidate.path.clone()).collect::<Vec<_>>();
        self.environment.removed.extend(removed);
    }

    /// Shows copies of the directories that the first run tried to remove from now on; returns whether that is new.
    fn unmount(&mut self, all: &[Arc<UserPath>]) -> Result<bool, Failure> {
        let unmounted: Vec<_> = all.iter().map(|candidate| self.unmounted(candidate)).collect();
        if unmounted == all {
            return Ok(false);
        }
        let paths = self.environment.removed.iter().map(|path| files::hex(path)).collect();
        self.runner.append(&Record::Copied { paths })?;
        self.environment.listed = EnvironmentState::Open(unmounted);
        Ok(true)
    }

    fn unmounted(&self, candidate: &Arc<UserPath>) -> Arc<UserPath> {
        let is_mounted = candidate.shown().is_some_and(|shown| self.runner.surroundings().is_mounted(shown));
        if is_mounted && self.environment.removed.contains(&candidate.path) {
            Arc::new(candidate.copied())
        } else {
            Arc::clone(candidate)
        }
    }

    /// The files that the first run used, and those that the command names: a failure can be the same without them.
    fn used(&self, all: &[Arc<UserPath>], read: &BTreeSet<PathBuf>) -> Vec<Arc<UserPath>> {
        let Some(top) = &self.location.top else { return Vec::new() };
        let (used, named) = (used(all, read, top), hold::named(&self.plan.order.command, self.location));
        let is_named = |candidate: &Arc<UserPath>| {
            let path = Path::new(OsStr::from_bytes(&candidate.path));
            candidate.tracking == Tracking::Untracked
                && named.iter().any(|(_, named)| Path::new(OsStr::from_bytes(named)).starts_with(path))
        };
        all.iter().filter(|candidate| used.contains(candidate) || is_named(candidate)).cloned().collect()
    }

    /// The files that the first run used but edited tests; these are tried later.
    fn without_edited(&mut self, all: &[Arc<UserPath>], read: &BTreeSet<PathBuf>) -> Vec<Arc<UserPath>> {
        let used = self.used(all, read);
        let (edited, others): (Vec<_>, Vec<_>) = used.iter().cloned().partition(|path| path.is_edited());
        self.environment.with_edited = Some(used).filter(|_| !edited.is_empty());
        others
    }

    /// The probe of the second run: with the files that the first one used.
    pub(super) fn second_probe(
        &mut self,
        probe: Probe,
        used: &[Arc<UserPath>],
        adjustments: &Adjustments,
    ) -> Result<Option<Probe>, Failure> {
        let with_files = if used.is_empty() { probe } else { self.probe_with(used, adjustments)? };
        self.bad_probe(with_files)
    }

    /// Compares the run with all files to those with the `used` ones: uses these if all show the same. If the runs differ,
    /// the next round compares with runs without any file.
    pub(super) fn environment_by_use(
        &mut self,
        with: &Observation,
        others: &[Observation],
        used: Vec<Arc<UserPath>>,
        adjustments: &mut Adjustments,
    ) -> Result<Option<Reproduced>, Failure> {
        if !others.iter().all(|other| self.is_alike(with, other)) {
            if let EnvironmentState::Open(all) = &self.environment.listed
                && self.leave_setup(&all.clone(), others)
            {
                return Ok(Some(Reproduced::Otherwise));
            }
            self.environment.is_use_refuted = true;
            self.show(&adjustments.environment);
            return Ok(Some(Reproduced::Otherwise));
        }
        let listed = mem::replace(&mut self.environment.listed, EnvironmentState::Closed);
        if let EnvironmentState::Open(all) = listed {
            self.keep_all(&all, &used);
        }
        self.use_files(used, adjustments)?;
        Ok(None)
    }

    /// Compares the run with all files to those without: finds the environment, and says it. `None` if it is empty.
    pub(super) fn environment(
        &mut self,
        with: &Observation,
        without: &[Observation],
        adjustments: &mut Adjustments,
    ) -> Result<Option<Reproduced>, Failure> {
        let EnvironmentState::Open(all) = mem::replace(&mut self.environment.listed, EnvironmentState::Closed) else {
            return Ok(None);
        };
        if without.iter().any(|other| self.is_alike(with, other)) {
            self.keep_all(&all, &[]);
            self.use_files(Vec::new(), adjustments)?;
            return Ok(None);
        }
        if self.unmount(&all)? || self.leave_setup(&all, without) {
            return Ok(Some(Reproduced::Otherwise));
        }
        if self.environment.with_edited.is_some() {
            self.environment.listed = EnvironmentState::Open(all);
            return Ok(Some(Reproduced::Otherwise));
        }
        let kind = |seen: &Observation| reproduced(seen, &self.runner.judging.criteria);
        let (shown, other) = (kind(with), without.first().map(kind));
        let is_build = shown == PlainResult::Passes && other == Some(PlainResult::BuildFails);
        if shown != PlainResult::Fails && other != Some(PlainResult::Fails) && !is_build {
            return Ok(None);
        }
        // Runs of one tree that differ explain the difference.
        let Some(again) = self.with_files(&all, adjustments, 1)? else {
            return Ok(Some(Reproduced::No(self.runner.conclusion(), None)));
        };
        if !self.is_alike(with, &again) {
            self.show(&adjustments.environment);
            if [shown, reproduced(&again, &self.runner.judging.criteria)].contains(&PlainResult::Passes) {
                return Ok(None);
            }
            let said = self.disagreement(&[with.clone(), again]);
            return Ok(Some(Reproduced::No(Conclusion::NotReproducible, Some(said))));
        }
        if matches!(shown, PlainResult::Passes | PlainResult::NotRun(Reason::TestAbsent)) {
            // What is seen without the files is another failure than the user's.
            self.use_files(all, adjustments)?;
            return Ok(Some(Reproduced::Otherwise));
        }
        if shown != PlainResult::Fails {
            self.show(&adjustments.environment);
            let line = last_line(with);
            self.runner.talk.say(&Terminal.line(&Untrusted::from(format!(
                "With your {} the revision cannot be tested ({line}), so no probe sees these files.",
                self.environment.in_words(),
            ))));
            return Ok(Some(Reproduced::Otherwise));
        }
        let mut spent = SearchCost::default();
        let Some(needed) = self.needed(&all, &[], with, &mut spent, adjustments)? else {
            return Ok(Some(Reproduced::No(self.runner.conclusion(), None)));
        };
        self.keep_all(&all, &needed);
        self.use_files(needed, adjustments)?;
        Ok(Some(Reproduced::Otherwise))
    }

    /// All files, if not all are in use.
    pub(super) fn all_files(&mut self, adjustments: &Adjustments) -> Result<Option<AllFiles>, Failure> {
        let all = self.environment.all.clone();
        if all.is_empty() {
            return Ok(None);
        }
        let surroundings = self.with(&all);
        let held = self.held(&Adjustments { environment: all, ..adjustments.clone() })?;
        Ok(Some(AllFiles { store: self.trees_with(held)?, surroundings }))
    }

    /// In a hunt that does not use all untracked files, whether a revision passes with all of them although it failed
    /// without: the first bad commit, or in a hunt without a pass another one. If so, every probe has them from now on.
    pub(super) fn passes_with_all_files(
        &mut self,
        finding: &Finding,
        adjustments: &mut Adjustments,
    ) -> Result<bool, Failure> {
        let failing = finding.first_bad.or(finding.last_good).or(finding.oldest_failing);
        let Some((revision, all_files)) = failing.zip(self.all_files(adjustments)?) else { return Ok(false) };
        let all = mem::take(&mut self.environment.all);
        let passes = all_files.lets_pass(revision, &mut self.runner)?;
        if passes {
            let revision = revision.short();
            self.runner.talk.say(&format!(
                "{revision} failed without your other untracked and ignored files, and passed with them: the hunt starts \
                 again with all of them."
            ));
            self.use_files(all, adjustments)?;
        }
        Ok(passes)
    }

    /// The smallest part of `open` that shows the failure `with` beside `fixed`, as far as the runs suffice; all of `open` is
    /// known to show it. `None` if interrupted or out of budget.
    fn needed(
        &mut self,
        open: &[Arc<UserPath>],
        fixed: &[Arc<UserPath>],
        with: &Observation,
        spent: &mut SearchCost,
        adjustments: &Adjustments,
    ) -> Result<Option<Vec<Arc<UserPath>>>, Failure> {
        if open.len() <= 1 {
            return Ok(Some(open.to_vec()));
        }
        let (first, second) = open.split_at(open.len() / 2);
        for half in [first, second] {
            if spent.n_runs >= MAX_RUNS || spent.time >= MAX_RUN_TIME {
                return Ok(Some(open.to_vec()));
            }
            let Some(seen) = self.with_files(&[half, fixed].concat(), adjustments, 0)? else { return Ok(None) };
            *spent = SearchCost { n_runs: spent.n_runs + 1, time: spent.time + seen.duration };
            if spent.n_runs == 1 && seen.duration >= SLOW_RUN {
                self.runner.talk.say("The test needs some of these files; looking for the smallest set of them.");
            }
            if self.is_alike(with, &seen) {
                return self.needed(half, fixed, with, spent, adjustments);
            }
        }
        let of_second = [second, fixed].concat();
        let Some(needed) = self.needed(first, &of_second, with, spent, adjustments)? else {
            return Ok(None);
        };
        let of_first = [&needed[..], fixed].concat();
        let Some(more) = self.needed(second, &of_first, with, spent, adjustments)? else { return Ok(None) };
        Ok(Some([needed, more].concat()))
    }

    /// A run at the bad revision with these files; `None` if interrupted or out of budget.
    fn with_files(
        &mut self,
        files: &[Arc<UserPath>],
        adjustments: &Adjustments,
        nth: u32,
    ) -> Result<Option<Observation>, Failure> {
        let probe = self.probe_with(files, adjustments)?;
        let Some(probe) = self.bad_probe(probe)? else { return Ok(None) };
        Ok(self.runner.reproduce(probe, &[nth])?.and_then(|mut seen| seen.pop()))
    }

    /// The probe of the bad revision with these files, which are shown from now on.
    fn probe_with(&mut self, files: &[Arc<UserPath>], adjustments: &Adjustments) -> Result<Probe, Failure> {
        self.show(files);
        let adjustments = Adjustments { environment: files.to_vec(), ..adjustments.clone() };
        let store = self.store(&adjustments)?;
        let tree = store.view(graph::tree_of(store.repository(), self.plan.bad)?)?;
        Ok(Probe::of(tree, self.plan.bad, Phase::Reproduce))
    }

    /// Uses these files from now on, and writes that down.
    fn use_files(&mut self, needed: Vec<Arc<UserPath>>, adjustments: &mut Adjustments) -> Result<(), Failure> {
        self.show(&needed);
        let paths = needed.iter().map(|candidate| files::hex(&candidate.path)).collect();
        self.runner.append(&Record::Environment { paths })?;
        if !needed.is_empty() {
            let revision = self.plan.bad_in_words();
            let said = format!("Testing {revision} with your files: {}.", named(&needed));
            self.runner.talk.say(&Terminal.line(&Untrusted::from(said)));
        }
        let edited = self.environment.edited.iter();
        let left: Vec<&[u8]> = edited.filter(|path| !needed.contains(path)).map(|path| &path.path[..]).collect();
        if !left.is_empty() {
            let left = listed(&left, self.location);
            let said =
                format!("Not tested: your uncommitted changes in {left}; the test ends in the same way without them.");
            self.runner.talk.say(&Terminal.line(&Untrusted::from(said)));
        }
        let has_objects = needed.iter().filter_map(|path| path.shown()).any(|shown| has_objects(&shown.source));
        self.runner.stand(Surroundings { has_objects, ..self.runner.surroundings().clone() });
        self.environment.needed.clone_from(&needed);
        adjustments.environment = needed;
        self.say_if_old()?;
        Ok(())
    }

    /// Shows these files to probes from now on; the small ones are part of the trees.
    fn show(&mut self, files: &[Arc<UserPath>]) {
        let (surroundings, present) = (self.with(files), self.runner.surroundings());
        if (&surroundings.shown, &surroundings.held) != (&present.shown, &present.held) {
            self.runner.stand(surroundings);
        }
    }

    fn with(&self, files: &[Arc<UserPath>]) -> Surroundings {
        let shown = files.iter().filter_map(|candidate| candidate.shown().cloned()).collect();
        let held = files.iter().flat_map(|candidate| candidate.held()).map(|(path, _)| path.clone()).collect();
        let edited =
            files.iter().filter(|candidate| candidate.is_edited()).map(|candidate| candidate.path.clone()).collect();
        Surroundings { shown, held, edited, ..self.runner.surroundings().clone() }
    }

    fn is_alike(&self, one: &Observation, other: &Observation) -> bool {
        let shown = |seen: &Observation| {
            let line = failure_line(&seen.output).map(|line| normalise(&line));
            (reproduced(seen, &self.runner.judging.criteria), seen.ending, line)
        };
        shown(one) == shown(other) && !self.has_lost_file(one, other)
    }

    /// Whether only the second run reports that a file is missing which the working tree has. The line of a failure can be the
    /// same: a test compares the output of a program, and the program is not there.
    fn has_lost_file(&self, one: &Observation, other: &Observation) -> bool {
        let known = lacking(&one.output);
        let is_there = |word: &&str| {
            let path = hold::inside(OsStr::new(word), self.location).filter(|_| word.contains(['/', '.']));
            let top = self.location.top.as_ref();
            top.zip(path).is_some_and(|(top, path)| top.join(OsStr::from_bytes(&path)).is_file())
        };
        lacking(&other.output).iter().filter(|word| !known.contains(word)).any(is_there)
    }
}

/// The paths of the environment, as a list.
fn named(needed: &[Arc<UserPath>]) -> String {
    let name = |candidate: &Arc<UserPath>| {
        let path = String::from_utf8_lossy(&candidate.path).into_owned();
        match candidate.tracking {
            Tracking::Untracked => path,
            Tracking::Ignored => format!("{path} (ignored)"),
            Tracking::Edited => format!("{path} (edited)"),
        }
    };
    let mut names: Vec<String> = needed.iter().take(MAX_NAMED).map(name).collect();
    if needed.len() > MAX_NAMED {
        names.push(format!("and {} more", needed.len() - MAX_NAMED));
    }
    names.join(", ")
}

/// The failure line of a run, or how it ended.
fn last_line(seen: &Observation) -> String {
    failure_line(&seen.output).map_or_else(|| seen.ending.to_string(), |line| format!("`{line}`"))
}
