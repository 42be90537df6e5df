//! Reproducing the failure: the runs at the bad revision that establish the signature and the time limit.

use crate::criteria::{FIRST_LIMIT, criteria};
use crate::environment::FirstRun;
use crate::hints::HintScene;
use crate::hints::output::has_port_taken;
use crate::hunt::{Hunt, Reproduced};
use crate::plan::Adjustments;
use crate::runner::FAR_RUNS;
use crate::runner::time_limit::measured_limits;
use crate::suite::is_unstarted;
use crate::{Failure, finding, hints};
use idd_base::{Ending, Observation, Reason, Signature, Sought, Stage, TimeLimits, count};
use idd_change::EntryMode;
use idd_hunt::finding::Conclusion;
use idd_hunt::{Artifacts, Phase, Probe};
use idd_report::{ErrorReport, Status, Terminal, Untrusted, text};
use idd_world::process::time_of_commands;
use idd_world::repo::{HeldFiles, Repository, TreeStore, graph, private};
use idd_world::run::classify::{
    Criteria, PlainResult, SignatureMode, absent, hunted, is_build_failure, printed_trouble, reproduced, value,
};
use idd_world::run::{failure_line, normalise};
use std::os::unix::ffi::OsStrExt as _;
use std::slice;
use std::time::{Duration, Instant};

/// A bad revision passes if this many runs pass.
const N_PASSES: usize = 4;

/// The numbers of the first runs are below this one.
const N_FIRST_RUNS: u32 = 4;

/// If a noisy test has not failed twice in this many runs of the bad revision, it is not run further.
const MAX_REPRODUCTION_RUNS: u32 = 40;

/// A command that keeps more processors busy than this runs in parallel by itself.
const MAX_BUSY_OF_ONE: f64 = 1.3;

/// The sentence about a first run that took long: nothing else is printed before the second one ends.
fn slow_first_run(duration: Duration) -> Option<String> {
    let is_slow = duration >= Duration::from_secs(60);
    is_slow.then(|| format!("The first run took {}; the second one follows.", text::duration(duration.as_secs_f64())))
}

impl Hunt<'_> {
    /// Runs the test at the bad revision twice, and opens the trees with the files that it needs.
    pub(super) fn reproduce_and_open(
        &mut self,
        adjustments: &mut Adjustments,
    ) -> Result<(Reproduced, TreeStore), Failure> {
        let (store, before) = (self.store(adjustments)?, adjustments.environment.clone());
        let reproduced = self.reproduce(adjustments, &store)?;
        let is_same = adjustments.environment == before;
        Ok((reproduced, if is_same { store } else { self.store(adjustments)? }))
    }

    /// The trees of all further probes.
    pub(super) fn store(&mut self, adjustments: &Adjustments) -> Result<TreeStore, Failure> {
        let held = self.held(adjustments)?;
        self.runner.compare_products(Some(&held).filter(|_| self.plan.noisy(adjustments).is_none()));
        self.trees_with(held)
    }

    /// What is held under these adjustments.
    pub(super) fn held(&mut self, adjustments: &Adjustments) -> Result<HeldFiles, Failure> {
        let bare = TreeStore::new(self.open_private()?, HeldFiles::default(), Vec::new())?;
        let bare = bare.with_promisor(self.promisor.clone());
        // If the patch does not apply, there is no hunt to continue.
        self.plan.held(adjustments, &bare).inspect_err(|failure| {
            self.is_hopeless |= failure.status == Status::Usage;
        })
    }

    /// The trees with these held files.
    pub(super) fn trees_with(&self, held: HeldFiles) -> Result<TreeStore, Failure> {
        let paths = self.plan.order.history.path.iter().map(|path| path.to_string_lossy().into_owned());
        let store = TreeStore::new(self.open_private()?, held, paths.collect())?;
        Ok(store.with_divisions(self.plan.divisions.clone()).with_promisor(self.promisor.clone()))
    }

    fn open_private(&self) -> Result<Repository, Failure> {
        private::open(&private::private_directory(&self.location.idd_directory())).map_err(Failure::from)
    }

    /// Runs the test at the bad revision twice, and computes the signature.
    pub(super) fn reproduce(
        &mut self,
        adjustments: &mut Adjustments,
        store: &TreeStore,
    ) -> Result<Reproduced, Failure> {
        use idd_change::trees::Trees;
        let tree = match self.subject {
            Some(tree) => tree,
            None => graph::tree_of(store.repository(), self.plan.bad)?,
        };
        let tree = store.view(tree)?;
        let probe = Probe::of(tree, self.plan.bad, Phase::Reproduce);
        self.runner.judging.criteria = criteria(self.plan, None)?;
        if self.plan.order.test.timeout.is_none() {
            self.runner.judging.times.limits = TimeLimits::both(FIRST_LIMIT);
        }
        let is_first = self.signature.is_none() && !self.is_environment_listed();
        self.look_beside()?;
        if is_first {
            self.say_what_begins();
        }
        let is_noisy = self.plan.noisy(adjustments).is_some();
        let (with_all, used) = match self.with_all_files(adjustments)? {
            FirstRun::Seen(seen, used) => (Some(seen), used),
            FirstRun::NotNeeded => (None, Vec::new()),
            FirstRun::Known => return Ok(Reproduced::Otherwise),
            FirstRun::Stopped => return Ok(Reproduced::No(self.runner.conclusion(), None)),
        };
        let Some(probe) = self.second_probe(probe, &used, adjustments)? else {
            return Ok(Reproduced::No(self.runner.conclusion(), None));
        };
        let key = self.runner.key(&probe);
        let first = with_all.clone().or_else(|| self.environment.first_run(key));
        let Some(seen) = self.reproduction_runs(probe, is_noisy, first)? else {
            return Ok(Reproduced::No(self.runner.conclusion(), None));
        };
        let result = match with_all {
            Some(with_all) if used.is_empty() => self.environment(&with_all, &seen[1..], adjustments)?,
            Some(with_all) => self.environment_by_use(&with_all, &seen[1..], used, adjustments)?,
            None => None,
        };
        if let Some(result) = result {
            return Ok(result);
        }
        self.environment.first_run = Some((key, seen[0].clone()));
        self.seen.clone_from(&seen);
        let shown: Vec<PlainResult> = seen.iter().map(|seen| reproduced(seen, &self.runner.judging.criteria)).collect();
        let failing: Vec<&Observation> =
            seen.iter().zip(&shown).filter(|(_, shown)| **shown == PlainResult::Fails).map(|(seen, _)| seen).collect();
        if shown.iter().all(|shown| *shown == PlainResult::Passes) {
            return Ok(Reproduced::No(Conclusion::BadPasses, None));
        }
        let is_alike = shown.windows(2).all(|pair| pair[0] == pair[1]);
        let passes = shown.contains(&PlainResult::Passes);
        if passes && !failing.is_empty() && !is_noisy {
            return Ok(Reproduced::NowAndThen);
        }
        if failing.is_empty() || (failing.len() < seen.len() && !is_noisy) {
            return Ok(match shown[0] {
                PlainResult::Passes | PlainResult::Fails => {
                    Reproduced::No(Conclusion::NotReproducible, Some(self.disagreement(&seen)))
                }
                _ if !is_alike => Reproduced::No(Conclusion::NotReproducible, Some(self.disagreement(&seen))),
                PlainResult::BuildFails => self.untestable(Reason::Build, &seen[0]),
                PlainResult::Skipped => self.untestable(Reason::Skip, &seen[0]),
                PlainResult::FailsOtherwise => self.untestable(Reason::Other, &seen[0]),
                PlainResult::NotRun(reason) => self.untestable(reason, &seen[0]),
            });
        }
        if let Some(failure) = self.is_bogus(failing[0], store)? {
            return Err(failure);
        }
        let second = failing.get(1).copied().unwrap_or(failing[0]);
        let (mode, found) = self.hunted_failure([failing[0], second], adjustments)?;
        let Some(found) = found else {
            return Ok(Reproduced::No(Conclusion::NotReproducible, Some(self.disagreement(&seen))));
        };
        if let Some(failure) = self.lacks_product(found.printed.as_deref().unwrap_or_default()) {
            return Err(failure);
        }
        self.runner.judging.criteria = Criteria {
            mode,
            is_build_hunted: is_build_failure(failing[0]),
            ..criteria(self.plan, Some(found.clone()))?
        };
        if self.plan.order.test.timeout.is_none() {
            let longest = seen.iter().map(|seen| seen.duration).max().unwrap_or_default();
            self.runner.judging.times.limits = measured_limits(longest);
        }
        let is_known =
            |known: &Signature| (known.ending, &known.test, &known.line) == (found.ending, &found.test, &found.line);
        if !self.signature.as_ref().is_some_and(is_known) {
            self.say_reproduced(&found, [failing.len(), seen.len()], failing[0]);
        }
        self.signature = Some(found);
        Ok(Reproduced::Yes)
    }

    fn say_reproduced(&mut self, found: &Signature, [n_failing, n_runs]: [usize; 2], failing: &Observation) {
        let times = match (n_failing, n_runs) {
            (2.., n_runs) if n_runs == n_failing => "twice".to_owned(),
            _ => format!("in {n_failing} of {}", count(n_runs, "run")),
        };
        match self.plan.order.history.find {
            Sought::Failure | Sought::Slower => {
                self.runner.talk.say(&format!("Reproduced {times}: {found}."));
                self.say_of_output(failing);
            }
            Sought::Fix => self.runner.talk.say(&format!("It passes there {times}.")),
            Sought::Change => self.runner.talk.say(&format!("It prints the same {times}: {found}.")),
        }
    }

    /// The failure of a hunt whose test does not find a product that the user has built.
    fn lacks_product(&mut self, line: &str) -> Option<Failure> {
        let lacked = self.with_scene(&[], |scene| hints::files::lacked_product(scene, line)).flatten();
        let [message, hint] = lacked?.map(|said| Terminal.line(&Untrusted::from(said)));
        self.is_hopeless = true;
        Some(Failure::new(Status::NothingTestable, message).with_hint(hint))
    }

    /// What two runs have in common, and how it is recognised.
    fn hunted_failure(
        &self,
        [first, second]: [&Observation; 2],
        adjustments: &Adjustments,
    ) -> Result<(SignatureMode, Option<Signature>), Failure> {
        let found = |mode| Ok::<_, Failure>(hunted(first, second, &Criteria { mode, ..criteria(self.plan, None)? }));
        let mode = self.plan.order.test.signature;
        let as_asked = found(mode)?;
        if !adjustments.signature_is_exit {
            let varied = as_asked.map(|found| match &adjustments.line {
                Some(pattern) if found.line.is_some() => {
                    Signature { line: Some(pattern.clone()), printed: None, ..found }
                }
                _ => found,
            });
            return Ok((mode, varied));
        }
        // Without the line, the name of the test still tells failures apart.
        if let Some(named) = as_asked.filter(|found| found.test.is_some()) {
            return Ok((mode, Some(Signature { line: None, printed: None, ..named })));
        }
        Ok((SignatureMode::Exit, found(SignatureMode::Exit)?))
    }

    /// Says that the failure is reproduced, and where.
    fn say_what_begins(&mut self) {
        let directory = &self.plan.commands.directory;
        if !directory.as_os_str().is_empty() {
            let directory = Terminal.line(&Untrusted::from(directory.as_os_str().as_bytes()));
            self.runner.talk.say(&format!(
                "Build and test run in `{directory}` of each checkout, because you are in this directory."
            ));
        }
        if let Some(said) = hints::files::not_tested(self.plan, self.location, &self.environment.edited) {
            self.runner.talk.say(&Terminal.line(&Untrusted::from(said)));
        }
        let minutes = FIRST_LIMIT.as_secs() / 60;
        let what = self.plan.order.history.find.words().reproducing;
        let files = if self.is_environment_open() {
            format!(", first with all your {}", self.environment.in_words())
        } else {
            String::new()
        };
        self.runner.talk.say(&match self.plan.order.test.timeout {
            Some(limit) => {
                format!("{what}{files} (each command is killed after {} s).", limit.as_secs_f64())
            }
            None => {
                format!("{what}{files} (killed after {minutes} minutes; `--timeout` sets another limit).")
            }
        });
    }

    /// The probe of the bad revision: of its artifact if artifacts are used and it has one, or else of a build. `None` if
    /// interrupted or out of budget.
    pub(super) fn bad_probe(&mut self, probe: Probe) -> Result<Option<Probe>, Failure> {
        let artifacts = self.plan.artifacts();
        let fetched = Probe { is_fetched: artifacts != Artifacts::Unused && self.subject.is_none(), ..probe };
        if artifacts != Artifacts::BeforeBuilds || !fetched.is_fetched {
            return Ok(Some(fetched));
        }
        let Some(seen) = self.runner.reproduce(fetched, &[0])? else { return Ok(None) };
        let is_there = seen.iter().all(|seen| seen.stage != Stage::Fetch);
        Ok(Some(if is_there { fetched } else { probe }))
    }

    /// Says what the output of the reproduced failure shows beside the failure.
    fn say_of_output(&mut self, failing: &Observation) {
        let hints = self.with_scene(slice::from_ref(failing), hints::reproduced).unwrap_or_default();
        for hint in hints {
            self.runner.talk.say(&Terminal.line(&Untrusted::from(hint)));
        }
    }

    /// The runs that reproduce the failure: one, then another; in the second round both at once if probes run in
    /// parallel. A noisy test is run until it has failed twice.
    ///
    /// - `first`: the first run, if it was made already.
    fn reproduction_runs(
        &mut self,
        probe: Probe,
        is_noisy: bool,
        first: Option<Observation>,
    ) -> Result<Option<Vec<Observation>>, Failure> {
        let Some(mut seen) = self.first_runs(probe, first)? else { return Ok(None) };
        let first = N_FIRST_RUNS.max(2 * self.plan.order.test.repeat);
        for nth in first..first + MAX_REPRODUCTION_RUNS {
            let count =
                |shown| seen.iter().filter(|seen| reproduced(seen, &self.runner.judging.criteria) == shown).count();
            let (n_failing, n_passing) = (count(PlainResult::Fails), count(PlainResult::Passes));
            // Two passes are not enough to report that the bad revision passes.
            let is_enough = if is_noisy { n_failing >= 2 } else { n_failing > 0 || n_passing >= N_PASSES };
            // The first run can have files that the build needs.
            let lacks_files = count(PlainResult::BuildFails) + 1 == seen.len();
            if is_enough || (!is_noisy && (n_passing == 0 || lacks_files)) {
                break;
            }
            let Some(more) = self.runner.reproduce(probe, &[nth])? else { return Ok(None) };
            seen.extend(more);
        }
        Ok(Some(seen))
    }

    fn first_runs(&mut self, probe: Probe, first: Option<Observation>) -> Result<Option<Vec<Observation>>, Failure> {
        let repeat = self.plan.order.test.repeat;
        let first = match first {
            Some(first) => Some(vec![first]),
            None => self.first_run(probe)?,
        };
        let Some(mut seen) = first else { return Ok(None) };
        if let Some(said) = slow_first_run(seen[0].duration)
            && !self.runner.knows(&probe, 1)?
        {
            self.runner.talk.say(&said);
        }
        if self.runner.effort.n_jobs > 1 && self.plan.order.effort.jobs.is_none() {
            let n_busy = self.n_busy;
            if n_busy > MAX_BUSY_OF_ONE {
                self.runner.talk.say(&format!(
                    "The test keeps {n_busy:.1} processors busy, so one runs at a time (`-j` overrides this)."
                ));
            }
            // With `--repeat`, runs that disturb each other cannot be distinguished from a flaky test.
            if n_busy > MAX_BUSY_OF_ONE || repeat > 1 {
                self.runner.effort.n_jobs = 1;
            }
        }
        let rounds: Vec<u32> = (1..2 * repeat.max(1)).collect();
        if self.runner.effort.n_jobs > 1 && repeat == 1 {
            let Some(more) = self.runner.reproduce(probe, &[1, 2])? else { return Ok(None) };
            if let Some(failure) = self.differs_far(probe, &seen[0], &more)? {
                return Err(failure);
            }
            // Another environment explains a difference as well.
            let alone = if self.is_environment_open() { &more[0] } else { &seen[0] };
            let is_port_taken = !has_port_taken(alone) && more.iter().any(has_port_taken);
            if is_port_taken || more.iter().any(|other| other.ending != alone.ending) {
                let why = if is_port_taken { ": its port is taken then (`-j1` avoids these runs)" } else { "" };
                self.runner.talk.say(&format!(
                    "The test behaves differently when it runs twice at once{why}; going on with one run at a time."
                ));
                self.runner.effort.n_jobs = 1;
                let Some(alone) = self.runner.reproduce(probe, &[3])? else { return Ok(None) };
                seen.extend(alone);
            } else {
                seen.push(more[0].clone());
            }
            return Ok(Some(seen));
        }
        for nth in rounds {
            let enough = seen
                .iter()
                .filter(|seen| reproduced(seen, &self.runner.judging.criteria) == PlainResult::Fails)
                .count()
                >= 2;
            if enough && repeat > 1 {
                break;
            }
            let Some(more) = self.runner.reproduce(probe, &[nth])? else { return Ok(None) };
            seen.extend(more);
        }
        Ok(Some(seen))
    }

    /// The first run of a test that needs no files of the user.
    fn first_run(&mut self, probe: Probe) -> Result<Option<Vec<Observation>>, Failure> {
        // Recording takes time in a run that looks at many files, such as a build.
        if self.is_python()? {
            self.runner.record_uses();
        }
        let seen = self.busily(|hunt| hunt.runner.reproduce(probe, &[0]))?;
        let recorded = self.runner.take_uses();
        if let Some(first) = seen.as_ref().and_then(|seen| seen.first()) {
            self.judge_uses(first, &recorded, &[])?;
        }
        Ok(seen)
    }

    /// Measures how many processors the commands of a run keep busy.
    pub(super) fn busily<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let (begin, before) = (Instant::now(), time_of_commands());
        let result = run(self);
        self.n_busy = time_of_commands().saturating_sub(before).as_secs_f64() / begin.elapsed().as_secs_f64();
        result
    }

    /// The failure of a hunt on a service and on this machine whose test ends differently there, each time.
    ///
    /// - `near`, `more`: the first run, and the two after it, of which the service made one.
    ///
    /// Cost: one more run on the service, if its first one differs from both of this machine.
    fn differs_far(
        &mut self,
        probe: Probe,
        near: &Observation,
        more: &[Observation],
    ) -> Result<Option<Failure>, Failure> {
        let [far, again] = more else { return Ok(None) };
        let Some(place) = far.place.clone().filter(|_| near.place.is_none() && again.place.is_none()) else {
            return Ok(None);
        };
        let shown = |seen: &Observation| (seen.ending, failure_line(&seen.output).map(|line| normalise(&line)));
        if shown(near) != shown(again) || shown(near) == shown(far) {
            return Ok(None);
        }
        let Some(confirmed) = self.runner.reproduce(probe, &FAR_RUNS[1..])? else { return Ok(None) };
        if confirmed.iter().any(|other| shown(other) != shown(far)) {
            return Ok(None);
        }
        let told = |seen: &Observation| with_last_line(seen.ending.to_string(), seen);
        let message =
            format!("the test ends differently on `{place}` ({}) than on this machine ({})", told(far), told(near));
        Ok(Some(Failure::new(Status::NotReproducible, Terminal.line(&Untrusted::from(message))).with_hint(
            "a worker has only the files of the tree and the variables of `idd.remoteEnv`; without `--local-jobs`, all \
             probes run on the service, and with `--remote none` on this machine",
        )))
    }

    fn untestable(&self, reason: Reason, seen: &Observation) -> Reproduced {
        let has_build = self.plan.commands.build.is_some();
        if (self.plan.order.history.find, reason) == (Sought::Change, Reason::Other) {
            let message =
                with_last_line("the command fails at the newer revision, so it has no value there".to_owned(), seen);
            let hint = Some(
                "the exit code must be 0 where there is a value; `--bad <rev>` names another newer revision".into(),
            );
            return Reproduced::No(Conclusion::NothingTestable, Some(ErrorReport { message: message.into(), hint }));
        }
        if reason == Reason::NoArtifact {
            let revision = self.plan.order.history.find.newer_revision();
            let message = with_last_line(format!("there is no artifact of {revision} ({})", seen.ending), seen);
            let hint = finding::hint_for(reason, false);
            let error = ErrorReport { message: message.into(), hint: Some(Untrusted::from(hint)) };
            return Reproduced::No(Conclusion::NothingTestable, Some(error));
        }
        let find = self.plan.order.history.find;
        let revision = if self.subject.is_some() { "the revision" } else { find.newer_revision() };
        let message = format!("the test gives no verdict at {revision} ({reason})");
        let absent = absent(seen, &self.runner.judging.criteria).filter(|_| reason == Reason::TestAbsent);
        let trouble = printed_trouble(seen).filter(|_| reason == Reason::Build);
        let message = match trouble.or_else(|| absent.map(str::to_owned)) {
            Some(line) => format!("{message}: {}", line.trim()),
            None => with_last_line(message, seen),
        };
        let hint = self.hint_of_directory().filter(|_| reason == Reason::TestAbsent);
        let hint = hint.unwrap_or_else(|| match reason {
            Reason::Other if self.plan.order.test.match_line.is_none() => {
                "this is neither a pass nor the failure; check the command, or name another revision with `--bad`"
                    .to_owned()
            }
            _ if absent.is_some() => {
                "the runner does not find the test in the bad revision; check its name. `--match` with a part of \
                 this line looks for the message itself"
                    .to_owned()
            }
            reason => finding::hint_for(reason, has_build).to_owned(),
        });
        let hint = hint.replace("the bad revision", revision);
        let hint =
            Some(Untrusted::from(hint.replace("`--bad`", if self.subject.is_some() { "`--at`" } else { "`--bad`" })));
        Reproduced::No(Conclusion::NothingTestable, Some(ErrorReport { message: Untrusted::from(message), hint }))
    }

    /// Whether an exit code of 126 or 127 means that the command cannot be run. It counts as the failure only if the
    /// script that it names exists and is executable (so the code comes from inside it), or if another revision ends
    /// differently.
    ///
    /// A directory, and a script that is nowhere, cannot be run, whatever the exit code of the interpreter is.
    ///
    /// Source: the rule of `git bisect run` for a first 126 or 127. Cost: one probe, only for these codes.
    fn is_bogus(&mut self, seen: &Observation, store: &TreeStore) -> Result<Option<Failure>, Failure> {
        use idd_change::trees::Trees;
        if let Ending::Exit(code) = seen.ending
            && is_unstarted(&seen.output)
            && hints::program::is_absent(self.plan, self.location, store.repository())
        {
            return Ok(Some(self.bogus(code, seen)));
        }
        if let Ending::Exit(code) = seen.ending
            && hints::program::is_unreadable(&self.plan.order.command, &seen.output)
        {
            return Ok(Some(self.bogus(code, seen)));
        }
        let Ending::Exit(code @ (126 | 127)) = seen.ending else { return Ok(None) };
        if hints::program::has_started(&self.plan.order.command, &seen.output) {
            return Ok(None);
        }
        if hints::program::is_directory(self.plan, self.location) {
            return Ok(Some(self.bogus(code, seen)));
        }
        let bad = match self.subject {
            Some(tree) => tree,
            None => graph::tree_of(store.repository(), self.plan.bad)?,
        };
        let bad = store.view(bad)?;
        if let Some(script) = &self.plan.program {
            let file = store.file(bad, script)?;
            if matches!(file, Some((EntryMode::Executable, _))) {
                return Ok(None);
            }
        }
        if self.subject.is_some() {
            return Ok(Some(self.bogus(code, seen)));
        }
        self.know_history()?;
        let parent = self.history.first_parent(self.plan.bad);
        let Some(other) = self.plan.goods.first().copied().or(parent) else {
            return Ok(Some(self.bogus(code, seen)));
        };
        let tree = store.view(self.history.tree(other))?;
        let is_fetched = self.plan.artifacts() == Artifacts::Only;
        let probe = Probe { is_fetched, ..Probe::of(tree, other, Phase::Reproduce) };
        let others = self.runner.reproduce(probe, &[0])?;
        let is_same = others.is_none_or(|others| others.iter().all(|other| other.ending == Ending::Exit(code)));
        Ok(is_same.then(|| self.bogus(code, seen)))
    }

    pub(super) fn disagreement(&self, seen: &[Observation]) -> ErrorReport {
        if self.plan.order.history.find == Sought::Change {
            let values: Vec<String> = seen.iter().map(|seen| format!("`{}`", value(&seen.output))).collect();
            let hint = "print only what should be compared; `--by '<command> 2>/dev/null'` leaves out standard error";
            return ErrorReport {
                message: Untrusted::from(format!("the runs at the newer revision print {}", values.join(", then "))),
                hint: Some(Untrusted::from(hint)),
            };
        }
        let endings: Vec<String> = seen.iter().map(|seen| seen.ending.to_string()).collect();
        let (revision, hint) = if self.subject.is_some() {
            ("the revision", "make the test repeatable; `--signature exit` compares only exit codes and signals")
        } else {
            (
                "the bad revision",
                "make the test repeatable; one that only fails now and then is searched by probability with `--flaky`",
            )
        };
        ErrorReport {
            message: Untrusted::from(format!("the runs at {revision} disagree: {}", endings.join(", then "))),
            hint: Some(Untrusted::from(hint)),
        }
    }

    /// The failure of a test command that cannot be run.
    pub(super) fn bogus(&mut self, code: i32, seen: &Observation) -> Failure {
        self.is_hopeless = true;
        let what = match code {
            126 => "cannot be executed",
            _ if hints::program::is_unreadable(&self.plan.order.command, &seen.output) => "cannot be run",
            _ => "was not found",
        };
        let checkout = if self.subject.is_some() { "the revision" } else { "each revision" };
        let hint = format!(
            "the command runs in a checkout of {checkout}: `--hold <path>` puts a file of your working tree there; use \
             an absolute path for a file outside the repository"
        );
        let hint = self.hint_of_program().unwrap_or(hint);
        let message = with_last_line(format!("the test command {what} (exit code {code})"), seen);
        Failure::error(message).with_hint(hint)
    }

    /// The hint about a directory in which the commands run, and that the bad revision does not have.
    fn hint_of_directory(&self) -> Option<String> {
        let directory = &self.plan.commands.directory;
        let path = directory.as_os_str().as_bytes();
        let path = path.strip_suffix(b"/").unwrap_or(path);
        let is_there =
            |scene: &HintScene<'_>| path.is_empty() || graph::has_path(scene.repository, self.plan.bad, path);
        let is_absent = !self.with_scene(&[], is_there)?;
        is_absent.then(|| {
            format!(
                "build and test run in `{}`, which the bad revision does not have; start `git idd` in a directory that it \
                 has",
                directory.display()
            )
        })
    }

    fn hint_of_program(&self) -> Option<String> {
        let hint = |scene: &HintScene<'_>| {
            let of_program = hints::program::hint(self.plan, self.location, scene.repository);
            of_program.or_else(|| hints::files::named_by_command(scene))
        };
        self.with_scene(&[], hint).flatten()
    }
}

/// A message with the last line of the output after it, if there is one.
fn with_last_line(message: String, seen: &Observation) -> String {
    match seen.output.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(last) => format!("{message}: {last}"),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::{HuntOrder, Until};
    use crate::testing::{World, hunted, hunted_after, key, observation, order, text};

    fn fails(nth: u32, of: &[u32]) -> Observation {
        if of.contains(&nth) { observation(1, "FAIL: x\n") } else { observation(0, "") }
    }

    /// The end of a hunt whose bad revision has these runs: status, error and hint, and what was said.
    fn reproduced_by(order: HuntOrder, run: impl Fn(u32) -> Observation) -> (Status, [String; 2], Vec<String>) {
        let world = World::with_culprit();
        let test = |a: &str, nth| if a.contains("bad") { run(nth) } else { observation(0, "") };
        let (report, said) = hunted(&world, &world.plan(order), test);
        let error =
            report.error.map(|error| [text(&error.message), error.hint.map(|hint| text(&hint)).unwrap_or_default()]);
        (report.status, error.unwrap_or_default(), said)
    }

    fn until_commit() -> HuntOrder {
        let mut order = order();
        order.effort.until = Until::Commit;
        order
    }

    #[test]
    fn a_first_run_that_takes_minutes_is_reported_before_the_second_unless_that_is_known() {
        assert_eq!(slow_first_run(Duration::from_secs(59)), None);
        let said = slow_first_run(Duration::from_secs(250)).unwrap();
        assert_eq!(said, "The first run took 4 min 10 s; the second one follows.");
        let slow = Observation { duration: Duration::from_secs(250), ..observation(1, "FAIL: x\n") };
        let (_, _, said_of_known) = reproduced_by(until_commit(), |_| slow.clone());
        assert!(said_of_known.len() > 1 && !said_of_known.contains(&said), "{said_of_known:?}");
        let world = World::with_culprit();
        let plan = world.plan(until_commit());
        let first = (key(&plan, world.trees[3]), 0, slow);
        let (_, said_of_first) = hunted_after(&world, &plan, world.saved(&plan, &[first]));
        assert!(said_of_first.contains(&said), "{said_of_first:?}");
    }

    #[test]
    fn a_run_without_a_verdict_is_explained_by_its_last_line_and_a_hint() {
        let of = |order: HuntOrder, seen: Observation| {
            let (status, error, _) = reproduced_by(order, |_| seen.clone());
            assert_eq!(status, Status::NothingTestable);
            error.map(|text| text.chars().take(65).collect::<String>())
        };
        let message = "the test gives no verdict at the bad revision";
        let skip = "exit code 125 means that the revision cannot be tested";
        assert_eq!(of(order(), observation(125, "why\n \n")), [&format!("{message} (skip): why"), skip]);
        let built = Observation { stage: Stage::Build, ..observation(2, "x\n") };
        let [said, hint] = of(order(), built.clone());
        assert_eq!(
            (said, &hint[..43]),
            (format!("{message} (build): x"), "the output looks like a failed build; give ")
        );
        let mut with_build = order();
        with_build.test.build = Some("make".into());
        assert!(of(with_build, built)[1].starts_with("the build command fails at the bad revision"));
        let mut matching = order();
        matching.test.match_line = Some("^E:".into());
        let [said, hint] = of(matching, observation(1, "FAIL: x\n"));
        assert_eq!(said, format!("{message} (other): FAIL: x"));
        assert!(hint.starts_with("the test fails at the bad revision, but no line"), "{hint}");
        let mut requiring = order();
        requiring.test.pass_match = Some("^OK".into());
        assert!(of(requiring, observation(0, "0 tests\n"))[0].contains("(test-absent): 0"));
    }

    #[test]
    fn runs_that_disagree_make_the_search_noisy_unless_none_of_them_fails_as_the_others() {
        let noisy =
            "Two runs of one revision disagree, so a single run is no verdict: the search goes on by probability.";
        let (_, _, said) = reproduced_by(until_commit(), |nth| fails(nth, &[0, 2, 4]));
        assert!(said.iter().any(|said| said == noisy), "{said:?}");
        let (status, _, said) = reproduced_by(until_commit(), |nth| fails(nth, &[0, 1, 2, 3, 4, 5]));
        assert!(!said.iter().any(|said| said == noisy), "{said:?}");
        assert_ne!(status, Status::NotReproducible);
        // One skips, one fails.
        let mixed = |nth| if nth == 0 { observation(1, "FAIL: x\n") } else { observation(125, "") };
        let (status, [message, _], _) = reproduced_by(order(), mixed);
        assert_eq!(status, Status::NotReproducible);
        assert_eq!(message, "the runs at the bad revision disagree: exit code 1, then exit code 125");
    }

    #[test]
    fn a_revision_passes_only_after_four_passes() {
        let (status, ..) = reproduced_by(order(), |nth| fails(nth, &[3]));
        assert_eq!(status, Status::BadPasses);
        let (status, _, said) = reproduced_by(until_commit(), |nth| fails(nth, &[4, 65537]));
        assert_ne!(status, Status::BadPasses, "{said:?}");
    }

    #[test]
    fn a_test_that_differs_when_two_run_at_once_is_run_alone() {
        let once = "The test behaves differently when it runs twice at once; going on with one run at a time.";
        // The runs 1 and 2 are made together, the run 3 alone.
        let (_, _, said) = reproduced_by(until_commit(), |nth| fails(nth, &[0, 3]));
        assert_eq!(said.iter().filter(|said| *said == once).count(), 1, "{said:?}");
        assert!(said.iter().any(|said| said == "Reproduced twice: exit code 1, `FAIL: x`."), "{said:?}");
    }

    #[test]
    fn exit_code_127_is_the_failure_if_another_revision_ends_otherwise() {
        let mut order = until_commit();
        order.history.good = vec!["HEAD~3".to_owned()];
        let (status, _, said) = reproduced_by(order, |_| observation(127, "sh: ./gone: not found\n"));
        assert_eq!(status, Status::Found, "{said:?}");
        assert!(said.iter().any(|said| said.starts_with("Reproduced twice: exit code 127")), "{said:?}");
    }

    #[test]
    fn another_exit_code_with_the_same_line_is_another_failure() {
        let run = |nth| observation(if nth == 1 || nth == 2 { 1 } else { 3 }, "FAIL: x\n");
        let (_, _, said) = reproduced_by(until_commit(), run);
        assert!(said.iter().any(|said| said == "Reproduced twice: exit code 3, `FAIL: x`."), "{said:?}");
    }
}
