//! The checks of a fix that applies.

use crate::hunt::Hunt;
use crate::suite::{Failures, why_useless};
use crate::trial::stopped;
use crate::trial::vacuous::{ComparedRuns, TestedAmount, compare};
use crate::{Failure, hold};
use idd_base::{CommitId, Ending, Observation, Outcome, Reason, TreeId, count};
use idd_change::trees::{Favor, Merged, Rung, Trees as _};
use idd_hunt::drive::{ProbeRunner as _, RunnerReply};
use idd_hunt::own_tests::{OwnTest, own_tests};
use idd_hunt::test_paths::is_test_path;
use idd_hunt::{Baseline, ChangeEnds, Phase, Probe, ProbeQuestion};
use idd_report::trial::{CheckName, CheckResult, FixCheck, FixTrial};
use idd_report::{Report, Untrusted};
use idd_world::repo::{TreeStore, graph};
use idd_world::run::classify::{breaks_others, classify, failing_others, printed_trouble};
use idd_world::run::counts::TestCounts;
use std::collections::BTreeSet;

/// At most this many names stand in a line.
const MAX_NAMED: usize = 5;

/// Files that decide which tests run, beside those that look like tests.
const CONFIGURATIONS: [&str; 5] = ["conftest.py", "pytest.ini", "tox.ini", ".mocharc.json", ".rspec"];

/// Files that say how the program is built, and often how it is tested.
const BUILD_FILES: [&str; 10] = [
    "Makefile",
    "makefile",
    "GNUmakefile",
    "CMakeLists.txt",
    "package.json",
    "pyproject.toml",
    "setup.cfg",
    "pom.xml",
    "build.gradle",
    "Cargo.toml",
];

/// Whether a path ends with one of these names.
fn is_named(path: &[u8], names: &[&str]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    names.iter().any(|known| known.as_bytes() == name)
}

/// The trees of a trial.
pub(super) struct FixTrees<'s> {
    /// HEAD, with the held files.
    pub(super) head: TreeId,
    /// HEAD with the fix, with the held files.
    pub(super) patched: TreeId,
    /// HEAD with the fix.
    pub(super) bare: TreeId,
    pub(super) store: &'s TreeStore,
    /// The finding.
    pub(super) report: &'s Report,
}

/// The test without some files of a fix.
struct RunWithout {
    outcome: Outcome,
    /// The run; `None` if nothing is left of the fix.
    seen: Option<Observation>,
    /// The files.
    paths: Vec<Vec<u8>>,
}

/// Makes the checks.
pub(super) struct FixChecks<'c, 'h> {
    pub(super) hunt: &'c mut Hunt<'h>,
    pub(super) scene: FixTrees<'c>,
    /// The number of runs with the fix.
    pub(super) n_runs: u32,
    /// The share of the runs that pass without it, if the test fails only now and then.
    pub(super) passing: Option<f64>,
}

/// The names of some paths or tests, quoted.
fn named<N: AsRef<[u8]>>(names: &[N]) -> String {
    let shown = names.iter().take(MAX_NAMED).map(|name| format!("`{}`", String::from_utf8_lossy(name.as_ref())));
    let mut shown: Vec<String> = shown.collect();
    if names.len() > MAX_NAMED {
        shown.push(format!("and {} more", names.len() - MAX_NAMED));
    }
    shown.join(", ")
}

impl FixChecks<'_, '_> {
    /// Makes all checks after the first one; those after a test that does not pass are left out.
    pub(super) fn make(&mut self, trial: &mut FixTrial) -> Result<(), Failure> {
        let pass = match self.test()? {
            Ok((check, pass)) => {
                trial.checks.push(check);
                pass
            }
            Err(check) => {
                trial.checks.push(check);
                trial.remarks.extend(self.held_remark()?);
                return Ok(());
            }
        };
        trial.remarks.extend(self.held_remark()?);
        let vacuous = self.vacuous(&pass, &mut trial.remarks)?;
        trial.checks.push(vacuous);
        trial.checks.push(self.warnings()?);
        let is_revert = self.is_revert()?;
        let suite = self.suite(is_revert)?;
        let of_suite = suite.result;
        trial.checks.push(suite);
        trial.checks.push(self.own_tests(of_suite, is_revert)?);
        Ok(())
    }

    fn probe(&self, tree: TreeId) -> Probe {
        Probe::of(tree, self.hunt.plan.bad, Phase::Port)
    }

    /// One run of the test in a fresh checkout.
    fn run(&mut self, tree: TreeId, nth: u32) -> Result<(Outcome, Observation), Failure> {
        let probe = Probe { is_claim: true, ..self.probe(tree) };
        let seen = self.hunt.runner.reproduce(probe, &[nth])?.and_then(|mut seen| seen.pop());
        let Some(seen) = seen else { return Err(stopped(self.hunt)) };
        let criteria = &self.hunt.runner.judging.criteria;
        let mut outcome = classify(&seen, criteria);
        if outcome == Outcome::Pass && criteria.named().is_some_and(|test| breaks_others(&seen, test)) {
            outcome = Outcome::Unresolved(Reason::Other);
        }
        Ok((outcome, seen))
    }

    /// What a run that is no pass shows.
    fn trouble(&self, outcome: Outcome, seen: &Observation) -> String {
        let others =
            self.hunt.runner.judging.criteria.named().map(|test| failing_others(seen, test)).unwrap_or_default();
        if outcome == Outcome::Unresolved(Reason::Other) && !others.is_empty() {
            return format!("other tests fail: {}", named(&others));
        }
        let what = match outcome {
            Outcome::Fail => format!("it still fails ({})", seen.ending),
            Outcome::Unresolved(Reason::Build) => "it cannot be built".to_owned(),
            Outcome::Unresolved(Reason::Other) => format!("it fails in another way ({})", seen.ending),
            Outcome::Unresolved(reason) => format!("it gives no verdict ({reason}, {})", seen.ending),
            Outcome::Pass => "it passes".to_owned(),
        };
        match printed_trouble(seen) {
            Some(line) => format!("{what}: {line}"),
            None => what,
        }
    }

    /// The test with the fix: the check and a pass, or the check that fails.
    fn test(&mut self) -> Result<Result<(FixCheck, Observation), FixCheck>, Failure> {
        let mut last = None;
        for nth in 0..self.n_runs {
            self.hunt.runner.talk.say(&format!("Running the test with the fix: {} of {}.", nth + 1, self.n_runs));
            let (outcome, seen) = self.run(self.scene.patched, nth)?;
            if outcome != Outcome::Pass {
                let why = format!("run {} of {}: {}", nth + 1, self.n_runs, self.trouble(outcome, &seen));
                return Ok(Err(FixCheck::new(CheckName::TestPasses, CheckResult::Fails, why)));
            }
            last = Some(seen);
        }
        let without = self.passing.map(|passing| {
            let percent = 100.0 * passing;
            format!("; without the fix, {percent:.0} % of the runs pass")
        });
        let runs = count(self.n_runs, "run");
        let why = format!("{runs} in a row, each in a fresh checkout{}", without.unwrap_or_default());
        let check = FixCheck::new(CheckName::TestPasses, CheckResult::Holds, why);
        Ok(Ok((check, last.expect("there is at least one run"))))
    }

    /// The paths that the fix changes, both names of renamed files.
    fn changed(&self, is_wanted: &dyn Fn(&[u8]) -> bool) -> Result<Vec<Vec<u8>>, Failure> {
        let head = graph::tree_of(self.scene.store.repository(), self.hunt.plan.bad)?;
        let pairs = self.scene.store.files(head, self.scene.bare, is_wanted)?;
        let sides = pairs.into_iter().flat_map(|pair| [pair.older, pair.newer]).flatten();
        let paths: BTreeSet<Vec<u8>> = sides.map(|side| side.path).filter(|path| is_wanted(path)).collect();
        Ok(paths.into_iter().collect())
    }

    fn held_remark(&self) -> Result<Option<Untrusted>, Failure> {
        let held = self.changed(&|path| self.hunt.plan.held.contains_key(path))?;
        let said = format!("The test runs with {} of your working tree, not of the fix.", named(&held));
        Ok((!held.is_empty()).then(|| said.into()))
    }

    /// The paths of the fix that belong to the tests, without held ones, which have no effect.
    fn changed_tests(&self) -> Result<Vec<Vec<u8>>, Failure> {
        let plan = self.hunt.plan;
        let script = hold::script(&plan.order.command).and_then(|script| hold::inside(&script, self.hunt.location));
        self.changed(&|path| {
            !plan.held.contains_key(path)
                && (is_test_path(path) || is_named(path, &CONFIGURATIONS) || script.as_deref() == Some(path))
        })
    }

    /// Whether the pass shows that the failure is mended.
    fn vacuous(&mut self, pass: &Observation, remarks: &mut Vec<Untrusted>) -> Result<FixCheck, Failure> {
        let judged = |result, why: String| FixCheck::new(CheckName::NoVacuousPass, result, why);
        let good = self.last_good()?;
        let criteria = &self.hunt.runner.judging.criteria;
        let failing = self.hunt.seen.iter().find(|seen| classify(seen, criteria) == Outcome::Fail);
        let failing = failing.expect("the failure was reproduced");
        let outputs = ComparedRuns { pass, failing, good: good.as_ref(), named: criteria.named() };
        let known = match compare(&outputs) {
            TestedAmount::Less(why) => return Ok(judged(CheckResult::Fails, why)),
            TestedAmount::AsMuch(known) => known,
        };
        let is_shown = known.is_some();
        let mut said: Vec<String> = known.into_iter().collect();
        // What the culprit broke has to be mended where it is.
        let (causes, tests): (Vec<_>, Vec<_>) = self.changed_tests()?.into_iter().partition(|path| self.is_cause(path));
        let builds = self.changed(&|path| is_named(path, &BUILD_FILES) && !self.is_cause(path))?;
        let mut unseen = causes;
        if let Some(RunWithout { outcome, seen, paths }) = self.without(&tests, &builds)? {
            let names = named(&paths);
            let (result, why) = match (outcome, seen) {
                (Outcome::Pass, _) => {
                    said.push(format!("the test passes without the changes of {names}, too"));
                    (CheckResult::Holds, String::new())
                }
                (_, None) => (CheckResult::Fails, format!("the fix changes only {names}, which belong to the tests")),
                (Outcome::Fail, _) => (CheckResult::Fails, format!("the test passes only with the changes of {names}")),
                (outcome, Some(seen)) => {
                    let trouble = self.trouble(outcome, &seen);
                    (CheckResult::Unknown, format!("without the changes of {names}, {trouble}"))
                }
            };
            if result == CheckResult::Fails || (result == CheckResult::Unknown && !tests.is_empty()) {
                return Ok(judged(result, why).about(paths));
            }
            let is_left_out = |path: &Vec<u8>| result == CheckResult::Holds && paths.contains(path);
            unseen.extend(builds.into_iter().filter(|path| !is_left_out(path)));
        }
        if !unseen.is_empty() {
            let said = "can decide what is tested, and the fix cannot be run without their changes: read them.";
            remarks.push(format!("{} {said}", named(&unseen)).into());
        }
        if !is_shown {
            remarks.push(
                "The test prints nothing that shows that it ran to its end, so an early end of it would not be seen."
                    .into(),
            );
        }
        remarks.extend(self.inline_remark()?);
        let why = if said.is_empty() { "the fix changes no test".to_owned() } else { said.join("; ") };
        Ok(judged(CheckResult::Holds, why))
    }

    /// The test with the fix, but with the files of its tests and its build as HEAD has them. If that gives no verdict,
    /// without the files of the build; and then with the tests that the fix adds. `None` if it changes no such file.
    fn without(&mut self, tests: &[Vec<u8>], builds: &[Vec<u8>]) -> Result<Option<RunWithout>, Failure> {
        let store = self.scene.store;
        let head = graph::tree_of(store.repository(), self.hunt.plan.bad)?;
        let present = tests.iter().filter(|path| store.file(head, path).is_ok_and(|file| file.is_some()));
        let mut sets = vec![[tests, builds].concat(), tests.to_vec(), present.cloned().collect()];
        sets.retain(|paths| !paths.is_empty());
        sets.dedup();
        let mut last = None;
        for paths in sets {
            let Some(tree) = store.with_paths_of(head, self.scene.bare, &paths)? else { continue };
            let tree = store.view(tree)?;
            if tree == self.scene.head {
                return Ok(Some(RunWithout { outcome: Outcome::Fail, seen: None, paths }));
            }
            self.hunt.runner.talk.say("Running the test with the fix, without its changes of tests.");
            let (outcome, seen) = self.run(tree, 0)?;
            last = Some(RunWithout { outcome, seen: Some(seen), paths });
            if matches!(outcome, Outcome::Pass | Outcome::Fail) {
                break;
            }
        }
        Ok(last)
    }

    /// A note if a changed file has both the program and the test that failed.
    fn inline_remark(&self) -> Result<Option<Untrusted>, Failure> {
        let Some(test) = self.hunt.runner.judging.criteria.named() else { return Ok(None) };
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let Some(word) = test.name.split(|letter| !is_word(letter)).rfind(|word| !word.is_empty()) else {
            return Ok(None);
        };
        // Some runners name a test by a sentence, and its last word can be anywhere.
        let sentence = test.name.rsplit(['›', '>', '/', ':', '#', '(']).next().unwrap_or_default().trim();
        let head = graph::tree_of(self.scene.store.repository(), self.hunt.plan.bad)?;
        let is_there = |path: &&Vec<u8>| {
            let file = self.scene.store.file(head, path).ok().flatten();
            let content = file.map(|(_, content)| content).unwrap_or_default();
            let content = String::from_utf8_lossy(&content);
            if sentence.contains(' ') {
                content.contains(sentence)
            } else {
                content.split(|letter| !is_word(letter)).any(|other| other == word)
            }
        };
        let paths = self.changed(&|path| !is_test_path(path))?;
        let paths: Vec<&Vec<u8>> = paths.iter().filter(is_there).collect();
        let said = format!(
            "{} names the test `{}`, so read whether the fix changes the test itself.",
            named(&paths),
            test.name
        );
        Ok((!paths.is_empty()).then(|| said.into()))
    }

    /// A pass of the last good revision; `None` if there is none.
    fn last_good(&mut self) -> Result<Option<Observation>, Failure> {
        let Some(commit) = self.scene.report.last_good.as_ref().map(|commit| commit.commit) else { return Ok(None) };
        let tree = self.scene.store.view(graph::tree_of(self.scene.store.repository(), commit)?)?;
        let probe = Probe::of(tree, commit, Phase::Search);
        let seen = match self.hunt.runner.seen(&probe)? {
            Some(seen) => seen,
            None => match self.hunt.runner.reproduce(probe, &[0])?.and_then(|mut seen| seen.pop()) {
                Some(seen) => seen,
                None => return Err(stopped(self.hunt)),
            },
        };
        Ok(Some(seen).filter(|seen| classify(seen, &self.hunt.runner.judging.criteria) == Outcome::Pass))
    }

    fn warnings(&mut self) -> Result<FixCheck, Failure> {
        let check = |result, why: String| FixCheck::new(CheckName::NoNewWarning, result, why);
        let FixTrees { head, patched, store, report, .. } = self.scene;
        self.hunt.runner.talk.say("Checking for new warnings.");
        let mut baseline = vec![head];
        let first_bad = report.first_bad.as_ref().map(|first_bad| first_bad.commit.commit);
        for commit in report.last_good.as_ref().map(|commit| commit.commit).into_iter().chain(first_bad) {
            baseline.push(store.view(graph::tree_of(store.repository(), commit)?)?);
        }
        let Some(new) = self.hunt.runner.complaints(patched, self.hunt.plan.bad, &baseline)? else {
            return Err(stopped(self.hunt));
        };
        let unchecked: Vec<&str> = self.hunt.runner.checks.complaining.unchecked.iter().copied().collect();
        Ok(match (new.is_empty(), unchecked.is_empty()) {
            (false, _) => check(CheckResult::Fails, named(&new)).about(new),
            (true, false) => check(CheckResult::NotRun, unchecked.join(" ")),
            (true, true) if self.hunt.runner.checks.complaining.has_checked() => {
                check(CheckResult::Holds, "compilers and interpreters print none".to_owned())
            }
            (true, true) => {
                let why = "not run, no checker knows these files, or they are as before the culprit";
                check(CheckResult::NotRun, why.to_owned())
            }
        })
    }

    /// Compares the suite with the fix to that of HEAD.
    ///
    /// - `is_revert`: whether the fix takes back a whole commit, with the tests that came with it.
    fn suite(&mut self, is_revert: bool) -> Result<FixCheck, Failure> {
        let judged = |result, why: &str| FixCheck::new(CheckName::Suite, result, why);
        if self.hunt.plan.suite.is_none() {
            return Ok(judged(CheckResult::NotRun, "not run (`--suite <command>` names one)"));
        }
        let FixTrees { head, patched, .. } = self.scene;
        let is_quick = Probe { question: ProbeQuestion::IsSuiteQuick, ..self.probe(head) };
        if self.hunt.plan.is_suite_derived() && self.ask(is_quick)? != Outcome::Pass {
            return Ok(judged(CheckResult::NotRun, "not run (`--suite <command>` names one)"));
        }
        let question = ProbeQuestion::Suite(Baseline { trees: [head; 3] });
        self.hunt.runner.talk.say("Running the suite at HEAD, and with the fix.");
        self.ask(Probe { question, ..self.probe(head) })?;
        let outcome = self.ask(Probe { question, ..self.probe(patched) })?;
        if let Some(why) = self.hunt.runner.beside.suite(head).and_then(why_useless) {
            let passes =
                |seen: &Observation| seen.ending == Ending::Exit(0) && Failures::of(seen) == Failures::default();
            if self.hunt.runner.beside.suite(patched).is_some_and(passes) {
                return Ok(judged(CheckResult::Holds, "it passes"));
            }
            return Ok(judged(CheckResult::NotRun, &format!("it gives no result at HEAD: {why}")));
        }
        let beside = &self.hunt.runner.beside;
        let counts = |tree| beside.suite(tree).and_then(|seen| TestCounts::of(&seen.output));
        if outcome == Outcome::Pass {
            return Ok(match (counts(head), counts(patched)) {
                (Some(before), Some(now)) if now.n_ran < before.n_ran => {
                    let why = format!("{} run with the fix; {} at HEAD", count(now.n_ran, "test"), before.n_ran);
                    if is_revert {
                        judged(CheckResult::Holds, &format!("{why}, with those of the reverted commit"))
                    } else {
                        judged(CheckResult::Fails, &why)
                    }
                }
                (Some(before), None) => {
                    let why = format!("it counts no test with the fix; {} at HEAD", before.n_ran);
                    judged(CheckResult::Fails, &why)
                }
                (before, _) => {
                    let uncounted = if before.is_none() { "; its tests were not counted" } else { "" };
                    let why = format!("no failure that HEAD does not have{uncounted}{}", self.which_suite());
                    judged(CheckResult::Holds, &why)
                }
            });
        }
        let lines = beside.suite_lines.get(&patched).cloned().unwrap_or_default();
        let why = match &lines[..] {
            [] => "it fails, or counts more failures than at HEAD".to_owned(),
            lines => format!("new failures: {}", named(lines)),
        };
        Ok(judged(CheckResult::Fails, &why).about(lines))
    }

    /// Which suite was run, if the user has named none.
    fn which_suite(&self) -> String {
        let line = self.hunt.plan.suite.as_ref().filter(|_| self.hunt.plan.is_suite_derived());
        line.map(|line| format!(" (`{}`)", line.to_string_lossy())).unwrap_or_default()
    }

    /// The answer to a question about the suite.
    fn ask(&mut self, probe: Probe) -> Result<Outcome, Failure> {
        match self.hunt.runner.answer(&[probe])? {
            RunnerReply::Outcomes(outcomes) => Ok(outcomes[0]),
            _ => Err(stopped(self.hunt)),
        }
    }

    /// Whether the fix is the revert of a culprit, or of a merge whose revert was tested.
    fn is_revert(&self) -> Result<bool, Failure> {
        let store = self.scene.store;
        let tested =
            self.scene.report.reverts.iter().filter_map(|fix| fix.reverts.as_ref()).map(|commit| commit.commit);
        for commit in self.culprits().into_iter().chain(tested) {
            let Some(ends) = self.ends_of(commit)? else { continue };
            let reverted = store.merge(ends.newer, self.scene.head, ends.older, Favor::Neither)?;
            if reverted == Merged::Clean(self.scene.patched, Rung::Merge) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the tests that came with the culprits stay. A revert of a whole commit may remove them; another fix may
    /// change them, if they pass with it as they are at HEAD, too.
    ///
    /// - `of_suite`: what the suite showed, which can have them.
    fn own_tests(&mut self, of_suite: CheckResult, is_revert: bool) -> Result<FixCheck, Failure> {
        let judged = |result, why: String| FixCheck::new(CheckName::OwnTests, result, why);
        let [mut kept, mut lost] = [const { BTreeSet::<Vec<u8>>::new() }; 2];
        for commit in self.culprits() {
            let Some(ends) = self.ends_of(commit)? else { continue };
            for test in own_tests(self.scene.store, &|path| self.is_cause(path), ends, self.scene.head)? {
                let group = if self.n_lost(&test)? > 0 { &mut lost } else { &mut kept };
                group.insert(test.path);
            }
        }
        let [kept, lost] = [kept, lost].map(Vec::from_iter);
        let run = match of_suite {
            CheckResult::NotRun => " (not run)",
            CheckResult::Holds => " (whether the suite runs them is not known)",
            CheckResult::Fails | CheckResult::Unknown => "",
        };
        Ok(match (&lost[..], &kept[..]) {
            ([], []) => judged(CheckResult::Holds, "it brought none that still exist".to_owned()),
            ([], kept) => judged(CheckResult::Holds, format!("{} stay{run}", named(kept))).about(kept.to_vec()),
            (lost, _) if is_revert => {
                let why = format!("{} go with the whole commit, which the fix reverts", named(lost));
                judged(CheckResult::Holds, why).about(lost.to_vec())
            }
            (lost, _) if of_suite == CheckResult::Holds && self.passes_with_tests_of_head(lost)? => {
                let why = format!("the fix changes {}; without that the suite is no worse, either", named(lost));
                judged(CheckResult::Holds, why).about(lost.to_vec())
            }
            (lost, _) => {
                let why = format!("the fix changes or removes what the culprit tests in {}", named(lost));
                judged(CheckResult::Fails, why).about(lost.to_vec())
            }
        })
    }

    /// Whether the suite is no worse than at HEAD with the fix but for its changes of these files, all of which it keeps.
    fn passes_with_tests_of_head(&mut self, paths: &[Vec<u8>]) -> Result<bool, Failure> {
        let FixTrees { head, bare, store, .. } = self.scene;
        for path in paths {
            if store.file(bare, path)?.is_none() {
                return Ok(false);
            }
        }
        let committed = graph::tree_of(store.repository(), self.hunt.plan.bad)?;
        let Some(tree) = store.with_paths_of(committed, bare, paths)? else { return Ok(false) };
        let tree = store.view(tree)?;
        let question = ProbeQuestion::Suite(Baseline { trees: [head; 3] });
        self.hunt.runner.talk.say("Running the suite with the fix, without its changes of tests.");
        Ok(tree != head && self.ask(Probe { question, ..self.probe(tree) })? == Outcome::Pass)
    }

    /// The commits that break the test.
    fn culprits(&self) -> Vec<CommitId> {
        let report = self.scene.report;
        let first_bad = report.first_bad.iter().map(|first_bad| first_bad.commit.commit);
        let all: BTreeSet<CommitId> = report.culprits.iter().map(|commit| commit.commit).chain(first_bad).collect();
        all.into_iter().collect()
    }

    /// A commit and its first parent; `None` if it has none.
    fn ends_of(&self, commit: CommitId) -> Result<Option<ChangeEnds>, Failure> {
        let store = self.scene.store;
        let revision = graph::revision_of(store.repository(), commit)?;
        let Some(parent) = revision.parents.first() else { return Ok(None) };
        let older = store.view(graph::tree_of(store.repository(), *parent)?)?;
        Ok(Some(ChangeEnds { older, newer: store.view(revision.tree)? }))
    }

    fn is_cause(&self, path: &[u8]) -> bool {
        let units = self.scene.report.change.necessary.iter().flat_map(|change| &change.units);
        units.map(|unit| unit.file.as_bytes()).any(|file| file == path)
    }

    fn n_lost(&self, test: &OwnTest) -> Result<usize, Failure> {
        let side = |tree| Ok::<_, Failure>(self.scene.store.file(tree, &test.path)?.map(|(_, content)| content));
        let (older, newer) = (side(self.scene.head)?, side(self.scene.patched)?);
        Ok(test.n_lost(older.as_deref(), newer.as_deref()))
    }
}
