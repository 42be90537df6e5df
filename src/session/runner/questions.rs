//! Questions about a tree besides the test: the exact failure, new warnings, the suite.

use crate::criteria::FIRST_LIMIT;
use crate::runner::known::FIRST_OF_PROOF;
use crate::runner::time_limit::measured_limits;
use crate::runner::{Runner, RunnerError};
use crate::side_results::Border;
use crate::suite::{self, Failures};
use crate::tally::counted;
use idd_base::{CommitId, Ending, Observation, Outcome, Reason, Sought, TreeId};
use idd_change::trees::Trees;
use idd_hunt::finding::Finding;
use idd_hunt::{Baseline, History, Phase, Probe, ProbeQuestion};
use idd_report::Untrusted;
use idd_world::cache::Want;
use idd_world::process::CommandWords;
use idd_world::repo::TreeStore;
use idd_world::run::classify::{
    SignatureMode, breaks_others, classify, failing_others, printed_failure, printed_trouble, value,
};
use idd_world::run::exact::{Exact, Exactness};
use idd_world::run::runners::RunnerReport;
use idd_world::run::{alike, normalise};
use std::sync::Arc;
use std::time::Duration;

/// A suite that takes this many times the test, or more, is not run for each hit.
const SLOW_SUITE: u32 = 20;

/// A suite that takes less time than this is never slow.
const QUICK_SUITE: Duration = Duration::from_secs(2);

/// The same for the tests of the culprit, which are run for the fixes only.
const OWN_TESTS: Duration = Duration::from_secs(30);

/// What differs between so many runs of an end is noise.
const N_OF_END: u32 = 2;

/// The maximum length of a quoted line of the suite, in characters.
const MAX_SAID: usize = 80;

impl Runner<'_> {
    /// Learns the exact failures that `probes` need, from the runs of each end (two if nothing was cached); makes
    /// missing runs.
    pub(super) fn learn_exact(&mut self, probes: &[Probe]) -> Result<(), RunnerError> {
        for probe in probes {
            let ProbeQuestion::Exact(ends) = probe.question else { continue };
            if self.beside.exact.contains_key(&ends) || !self.judging.compares_lines {
                continue;
            }
            let older = self.runs_of(ends.older, probe.revision, Outcome::Pass)?;
            let newer = self.runs_of(ends.newer, probe.revision, Outcome::Fail)?;
            if self.is_interrupted() {
                return Ok(());
            }
            let signature = self.judging.criteria.signature.as_ref();
            let wanted = signature.and_then(|signature| signature.line.clone());
            let is_failure_line =
                |line: &str| wanted.as_ref().is_some_and(|wanted| alike::matches(&normalise(line), wanted));
            let is_known = wanted.is_some().then_some(&is_failure_line as &dyn Fn(&str) -> bool);
            let is_named = self.judging.criteria.named().is_some();
            let exact = (!older.is_empty() && !newer.is_empty()).then(|| {
                let exact = Exact::new(&older, &newer, is_known);
                Arc::new(if is_named { exact.of_named_test() } else { exact })
            });
            let exactness = exact.as_ref().map_or(Exactness::Normalised, |exact| exact.exactness);
            self.beside.exactness = self.beside.exactness.max(Some(exactness));
            if exact.as_ref().is_some_and(|exact| exact.is_mute) && !self.beside.is_mute {
                self.beside.is_mute = true;
                self.talk.say(MUTE);
            }
            self.beside.exact.insert(ends, exact);
        }
        Ok(())
    }

    /// Runs of a tree with the known outcome, at least [`N_OF_END`] unless interrupted.
    fn runs_of(&mut self, tree: TreeId, revision: CommitId, wanted: Outcome) -> Result<Vec<Observation>, RunnerError> {
        let probe = Probe::of(tree, revision, Phase::Verify);
        let keys = self.keys(&probe).both();
        let of_tree = self.answers.own.iter().filter(|((known, _, _), _)| keys.contains(known));
        let mut runs: Vec<Observation> = of_tree.map(|(_, observation)| observation.clone()).collect();
        if !self.plan.order.effort.no_cache {
            for (key, clean) in keys.into_iter().flat_map(|key| [(key, true), (key, false)]) {
                let known = self.answers.observations().lookup(&key, Want { clean, limits: self.judging.times.limits });
                runs.extend(known.filter(|known| !runs.contains(known)));
            }
        }
        // The clean run of a claim and that of the search are two runs; a hunt that was resumed has them in its journal. A
        // missing run has a number of its own.
        if let Some(replay) = &self.answers.replay {
            let numbers = (0..=N_OF_END).chain(FIRST_OF_PROOF..FIRST_OF_PROOF + N_OF_END);
            for (nth, key) in numbers.flat_map(|nth| keys.map(|key| (nth, key))) {
                let run = replay.observation(&key.to_string(), nth)?;
                runs.extend(run.filter(|run| !runs.contains(run)));
            }
        }
        for nth in 1..=N_OF_END {
            if runs.len() < N_OF_END as usize {
                let made = self.reproduce(probe, &[nth])?.into_iter().flatten();
                let new: Vec<Observation> = made.filter(|run| !runs.contains(run)).collect();
                runs.extend(new);
            }
        }
        runs.retain(|run| classify(run, &self.judging.criteria) == wanted);
        Ok(runs)
    }

    /// The outcome of an observation for a probe.
    pub(super) fn judged(&self, probe: &Probe, observation: &Observation) -> Outcome {
        let mut tolerant = classify(observation, &self.judging.criteria);
        // What breaks another test is no fix.
        let is_fix = probe.phase == Phase::Port && probe.revision == self.plan.bad;
        if tolerant == Outcome::Pass
            && is_fix
            && self.judging.criteria.named().is_some_and(|test| breaks_others(observation, test))
        {
            tolerant = Outcome::Unresolved(Reason::Other);
        }
        match probe.question {
            ProbeQuestion::Exact(ends) => match self.beside.exact.get(&ends) {
                Some(Some(exact)) => exact.judge(observation, tolerant),
                _ => tolerant,
            },
            _ => tolerant,
        }
    }

    /// Answers a question that is not about the test; `None` if interrupted or out of budget.
    pub(super) fn ask_beside(&mut self, probe: &Probe) -> Result<Option<Outcome>, RunnerError> {
        let outcome = |is_good: bool| if is_good { Outcome::Pass } else { Outcome::Fail };
        Ok(match probe.question {
            ProbeQuestion::Test | ProbeQuestion::Reference | ProbeQuestion::Exact(_) => None,
            ProbeQuestion::Complaints(baseline) => self.new_complaints(probe, baseline)?.map(outcome),
            ProbeQuestion::Suite(baseline) => self.is_suite_as_good(probe, baseline)?.map(outcome),
            ProbeQuestion::Command => self.is_command_passing(probe)?.map(outcome),
            ProbeQuestion::IsSuiteQuick => self.suits(probe)?,
        })
    }

    /// Whether the run that tested the tree ended as a pass, and not only the hunted test in it; `None` if it is unknown.
    fn is_command_passing(&mut self, probe: &Probe) -> Result<Option<bool>, RunnerError> {
        let tested = self.queued(Probe { question: ProbeQuestion::Test, ..*probe }, 0);
        Ok(self.known(&tested)?.map(|(seen, _)| seen.ending == Ending::Exit(0)))
    }

    /// Whether there are no new warnings.
    fn new_complaints(&mut self, probe: &Probe, baseline: Baseline) -> Result<Option<bool>, RunnerError> {
        let Some(complaints) = self.complaints(probe.tree, probe.revision, &baseline.trees)? else { return Ok(None) };
        let is_quiet = complaints.is_empty();
        if !is_quiet {
            self.beside.complaints.insert(probe.tree, complaints);
        }
        Ok(Some(is_quiet))
    }

    /// Whether the suite has no failure that it does not have in one of the trees of the baseline. These are run only
    /// while a failure is unexplained.
    ///
    /// A suite can count failures and end with 0. A suite that fails without naming a failure counts as worse.
    fn is_suite_as_good(&mut self, probe: &Probe, baseline: Baseline) -> Result<Option<bool>, RunnerError> {
        let Some(seen) = self.suite_of(probe)? else { return Ok(None) };
        let failures = Failures::of(&seen);
        let is_passed = seen.ending == Ending::Exit(0);
        if is_passed && failures == Failures::default() {
            return Ok(Some(true));
        }
        // What was not run with a reversal says nothing for it.
        let has_run_all = || RunnerReport::of_run(&seen).is_some_and(|report| report.has_run_all());
        if !is_passed && !self.beside.own_tests.is_empty() && !has_run_all() {
            return Ok(Some(false));
        }
        let mut new: Vec<String> = failures.beyond(&Failures::default()).cloned().collect();
        let (mut ends_alike, mut counts_more) = (is_passed, true);
        let mut trees: Vec<TreeId> = Vec::new();
        for tree in baseline.trees {
            if !trees.contains(&tree) {
                trees.push(tree);
            }
        }
        for tree in trees {
            let Some(known) = self.suite_of(&Probe { tree, ..*probe })? else { return Ok(None) };
            ends_alike |= known.ending == seen.ending;
            let known = Failures::of(&known);
            counts_more &= failures.counts_more_than(&known);
            let beyond: Vec<&String> = failures.beyond(&known).collect();
            new.retain(|line| beyond.contains(&line));
            // If the suite passes and counts no failure, its output contains none.
            if ends_alike && !counts_more && (is_passed || (new.is_empty() && failures.can_tell())) {
                return Ok(Some(true));
            }
        }
        new.truncate(suite::MAX_LINES);
        self.beside.suite_lines.insert(probe.tree, new);
        Ok(Some(false))
    }

    /// Runs the suite in the tree of `probe`; for a fix in a fresh worktree.
    fn suite_of(&mut self, probe: &Probe) -> Result<Option<Observation>, RunnerError> {
        let Some(line) = self.beside.suite_line(self.plan) else { return Ok(None) };
        let is_claim = probe.phase == Phase::Port;
        if let Some(known) = self.beside.suites.get(&(probe.tree, is_claim)) {
            return Ok(Some(known.clone()));
        }
        let (runs, cached) = (self.effort.tally.runs.clone(), self.effort.tally.n_cached);
        let limit = if self.plan.is_suite_derived() {
            (2 * self.slow_from(probe)).max(self.judging.times.limits.test)
        } else {
            self.suite_limit().max(self.judging.times.limits.test)
        };
        let asked = Probe { is_claim, precheck: None, question: ProbeQuestion::Test, ..*probe };
        self.effort.counts_as = Some(counted::SUITE);
        let seen = self.observe_with(CommandWords::Shell(line), limit, asked);
        self.effort.counts_as = None;
        let seen = seen?;
        self.effort.tally.n_suite_runs += u64::from(self.effort.tally.runs != runs);
        (self.effort.tally.runs, self.effort.tally.n_cached) = (runs, cached);
        if let Some(seen) = &seen {
            self.beside.suites.insert((probe.tree, is_claim), seen.clone());
        }
        Ok(seen)
    }

    /// The duration from which on a suite is slow: a slow one is not run for each hit, and one that is derived from the test
    /// command is not used.
    fn slow_from(&self, probe: &Probe) -> Duration {
        let keys = self.keys(probe).both();
        let of_tree = self.answers.own.iter().filter(|((known, _, _), _)| keys.contains(known));
        let test = of_tree.map(|(_, observation)| observation.duration).min().unwrap_or_default();
        (SLOW_SUITE * test).max(if self.beside.own_tests.is_empty() { QUICK_SUITE } else { OWN_TESTS })
    }

    /// The time limit of the suite: that of the user, or else that of a test which takes as long as its longest run.
    fn suite_limit(&self) -> Duration {
        let ended = self.beside.suites.values().filter(|seen| seen.ending != Ending::Timeout);
        let longest = ended.map(|seen| seen.duration).max();
        let measured = longest.map_or(FIRST_LIMIT, |longest| measured_limits(longest).test);
        self.plan.order.test.timeout.unwrap_or(measured)
    }

    /// Passes if the suite is fast, fails if it is not; unresolved, with a message, if it cannot compare two trees.
    fn suits(&mut self, probe: &Probe) -> Result<Option<Outcome>, RunnerError> {
        let Some(suite) = self.suite_of(probe)? else { return Ok(None) };
        let cannot_load = || RunnerReport::of_run(&suite).is_none_or(|report| report.has_lost());
        let why = suite::why_useless(&suite).or_else(|| {
            let is_partial = !self.beside.own_tests.is_empty() && suite.ending != Ending::Exit(0) && cannot_load();
            is_partial.then_some("some of its tests cannot be run")
        });
        if let Some(why) = why.filter(|_| self.plan.is_suite_derived()) {
            self.tell_unused(probe, why);
            return Ok(Some(Outcome::Unresolved(Reason::Suite)));
        }
        if let Some(why) = why {
            let last = suite.output.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
            let last: String = last.chars().take(MAX_SAID).collect();
            let (at, ending) = (probe.revision.short(), suite.ending);
            let quoted = if last.is_empty() { String::new() } else { format!(", `{last}`") };
            let said = format!("The suite gives no result at {at}: {why} ({ending}{quoted}). It is not used there.");
            if self.beside.silent_suites.insert(said.clone()) {
                self.talk.say(&said);
            }
            return Ok(Some(Outcome::Unresolved(Reason::Suite)));
        }
        if suite.duration <= self.slow_from(probe) {
            return Ok(Some(Outcome::Pass));
        }
        if self.plan.is_suite_derived() {
            self.tell_unused(probe, "it takes much longer than the test");
            return Ok(Some(Outcome::Unresolved(Reason::Suite)));
        }
        self.talk
            .say("The suite takes more than 20 times as long as the test; it is run at the end of each level only.");
        Ok(Some(Outcome::Fail))
    }

    /// Keeps for the report why no reversal was tested with the suite that is derived from the test command.
    fn tell_unused(&mut self, probe: &Probe, why: &str) {
        if probe.phase == Phase::Port
            && let Some(line) = self.beside.suite_line(self.plan)
        {
            let line = line.to_string_lossy();
            self.beside.silent_suites.insert(format!(
                "The reversals were not tested with `{line}`: {why}. `--suite` names another command."
            ));
        }
    }

    /// Reports the failure line of revisions before `first`; `probe` is the probe of the newest of them.
    pub(super) fn tell_border(&mut self, probe: &Probe, first: CommitId) -> Result<(), RunnerError> {
        let queued_job = self.queued(*probe, 0);
        let Some((observation, _)) = self.known(&queued_job)? else { return Ok(()) };
        let outcome = self.judged(probe, &observation);
        let why = match (&self.judging.criteria.named(), printed_trouble(&observation)) {
            (Some(test), _) if outcome == Outcome::Unresolved(Reason::TestAbsent) => {
                format!("do not run the test `{}`", test.name)
            }
            (_, Some(line)) => format!("do not run as they are: `{line}`"),
            (_, None) => format!("do not run as they are: {}", observation.ending),
        };
        let same = self.beside.borders.iter_mut().find(|border| normalise(&border.why) == normalise(&why));
        match same {
            Some(border) if border.firsts.contains(&first) => {}
            Some(border) => border.firsts.push(first),
            None => {
                let border = Border { firsts: vec![first], why };
                self.talk.say(&border.to_string());
                self.beside.borders.push(border);
            }
        }
        Ok(())
    }

    /// The value before the commit that was found, if a change of a value is looked for; `None` if it is not known any more.
    pub fn value_before(
        &mut self,
        finding: &Finding,
        history: &History,
        store: &TreeStore,
    ) -> Result<Option<Untrusted>, RunnerError> {
        let older = finding.last_good.filter(|_| self.plan.order.history.find == Sought::Change);
        let Some(revision) = older.and_then(|id| history.find(id)) else { return Ok(None) };
        // A tree that cannot be read has no result, either.
        let Ok(tree) = store.view(revision.tree) else { return Ok(None) };
        let probe = Probe::of(tree, revision.id, Phase::Search);
        let queued_job = self.queued(probe, 0);
        let known = self.known(&queued_job)?;
        Ok(known.map(|(observation, _)| Untrusted::from(value(&observation.output))))
    }

    /// Reports why a revision gives no verdict, if it printed that.
    pub(super) fn tell_trouble(&mut self, probe: &Probe, outcome: Outcome) -> Result<(), RunnerError> {
        if probe.phase != Phase::Search || !matches!(outcome, Outcome::Unresolved(_)) {
            return Ok(());
        }
        let queued_job = self.queued(*probe, 0);
        let absent = self.judging.criteria.named().filter(|_| outcome == Outcome::Unresolved(Reason::TestAbsent));
        // The output tells of other tests.
        let line = match absent.map(|test| format!("{} has no result", test.name)) {
            Some(line) => Some(line),
            None => self.known(&queued_job)?.and_then(|(observation, _)| printed_trouble(&observation)),
        };
        if let Some(line) = line {
            self.talk.troubled(probe, &line);
        }
        Ok(())
    }

    /// Whether the hunted failure printed no line in common, although one would count.
    fn is_silent(&self) -> bool {
        self.judging.criteria.mode == SignatureMode::Auto
            && self.judging.criteria.named().is_none()
            && self.judging.criteria.fail_match.is_none()
    }

    /// The search has found a commit. What fails only in other tests from now on is a part of its change, and is not told as
    /// a revision.
    pub fn end_of_search(&mut self) {
        self.beside.told_lines.insert(ONLY_OTHERS.to_owned());
    }

    /// Reports a revision that fails with another line than the bad one, once for each line.
    pub(super) fn tell_other_failure(&mut self, probe: &Probe, outcome: Outcome) -> Result<(), RunnerError> {
        let is_other =
            matches!(outcome, Outcome::Unresolved(Reason::Other | Reason::Assertion | Reason::Memory | Reason::Signal));
        let is_told = is_other || [Outcome::Fail, Outcome::Pass].contains(&outcome);
        if probe.phase != Phase::Search || !is_told {
            return Ok(());
        }
        let queued_job = self.queued(*probe, 0);
        let Some((observation, _)) = self.known(&queued_job)? else { return Ok(()) };
        if outcome == Outcome::Pass {
            let other =
                self.judging.criteria.named().and_then(|test| failing_others(&observation, test).into_iter().next());
            if let Some(other) = other
                && self.beside.told_lines.insert(ONLY_OTHERS.to_owned())
            {
                let revision = probe.revision.short();
                self.talk.say(&format!("{revision} {ONLY_OTHERS}, such as `{other}`: the hunted one passes."));
            }
            return Ok(());
        }
        let Some(line) = printed_failure(&observation, &self.judging.criteria) else { return Ok(()) };
        let revision = probe.revision.short();
        let hunted = self.judging.criteria.signature.as_ref().and_then(|signature| signature.printed.as_ref());
        let said = match hunted {
            Some(hunted) if is_other && normalise(hunted) != normalise(&line) => format!(
                "{revision} fails with another line, it is not the failure that is hunted: `{line}` (hunted: `{hunted}`)."
            ),
            None if outcome == Outcome::Fail && self.is_silent() => {
                format!("{revision} fails and prints `{line}`. {SILENT}")
            }
            _ => return Ok(()),
        };
        let key = if is_other { line } else { SILENT.to_owned() };
        if self.beside.told_lines.insert(key) {
            self.talk.say(&said);
        }
        Ok(())
    }
}

/// Why another line is no other failure, said once.
const SILENT: &str = "The hunted failure prints no line that tells it apart, so this counts as the same one.";

/// What is said once of a revision where the test command fails, and the hunted test passes.
const ONLY_OTHERS: &str = "fails only in other tests";

/// The message before a reduction whose test does not distinguish failures.
pub const MUTE: &str = "The test does not say how it fails: it prints the same when it passes. So any failure with \
                        the same exit code counts as this one. Better answers need a test that prints the value that \
                        it got and the one that it expected.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::HuntOrder;
    use crate::testing::{fail, observation, order, pass, probe, with_runner, words};
    use idd_base::{Signature, Stage};
    use idd_hunt::ChangeEnds;
    use idd_hunt::drive::ProbeRunner as _;

    #[test]
    fn another_failure_line_is_reported_once_and_only_during_the_search() {
        let other = observation(1, "FAIL: another\n");
        let said = with_runner(order(), &[(0, 0, other.clone()), (1, 0, other), (2, 0, fail())], |runner, world| {
            let signature = Signature {
                ending: Ending::Exit(1),
                test: None,
                line: Some("FAIL: x".into()),
                printed: Some("FAIL: x".into()),
            };
            runner.judging.criteria.signature = Some(signature);
            let is_other = Outcome::Unresolved(Reason::Other);
            for (index, phase, outcome) in [
                (2, Phase::Search, Outcome::Fail),
                (0, Phase::Reduce, is_other),
                (0, Phase::Search, Outcome::Unresolved(Reason::Build)),
                (0, Phase::Search, is_other),
                (1, Phase::Search, is_other),
            ] {
                runner.tell_other_failure(&probe(world, index, phase), outcome).unwrap();
            }
            let first = world.commits[1];
            runner.tell_border(&probe(world, 0, Phase::Search), first).unwrap();
            assert_eq!(
                runner.beside.borders.iter().map(Border::to_string).collect::<Vec<_>>(),
                [format!("Revisions right before {} do not run as they are: `FAIL: another`.", first.short())]
            );
            runner.tell_border(&probe(world, 0, Phase::Search), world.commits[2]).unwrap();
            let both = format!("{} and {}", first.short(), world.commits[2].short());
            let said = format!("Revisions right before {both} do not run as they are: `FAIL: another`.");
            assert_eq!(runner.beside.borders.iter().map(Border::to_string).collect::<Vec<_>>(), [said]);
        });
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(
            said[0].ends_with(
                " fails with another line, it is not the failure that is hunted: `FAIL: another` (hunted: `FAIL: x`)."
            ),
            "{said:?}"
        );
    }

    /// An order with a suite.
    fn with_suite() -> HuntOrder {
        let mut order = order();
        order.test.suite = Some("make check".into());
        order
    }

    /// The answer about the suite of the newest tree, beside those of the other two trees.
    #[track_caller]
    fn check_suite(seen: Observation, known: &[Observation; 2], expected: &str) -> Vec<String> {
        let mut lines = Vec::new();
        with_runner(with_suite(), &[], |runner, world| {
            let trees = [world.trees[3], world.trees[0], world.trees[1]];
            for (tree, seen) in trees.into_iter().zip([vec![seen], known.to_vec()].concat()) {
                runner.beside.suites.insert((tree, false), seen);
            }
            let baseline = Baseline { trees: [trees[1], trees[2], trees[2]] };
            let asked = Probe { question: ProbeQuestion::Suite(baseline), ..probe(world, 3, Phase::Reduce) };
            assert_eq!(words(runner.answer(&[asked]).unwrap()), expected);
            lines = runner.beside.suite_lines.get(&trees[0]).cloned().unwrap_or_default();
        });
        lines
    }

    #[test]
    fn a_suite_is_as_good_if_each_of_its_failures_is_one_of_the_baseline() {
        let fails = |code: i32, lines: &[&str]| observation(code, &lines.concat());
        let (one, two) = ("FAIL: one\n", "FAIL: two\n");
        check_suite(pass(), &[fails(1, &[one]), fails(1, &[one])], "pass");
        check_suite(fails(1, &[one]), &[fails(1, &[one]), pass()], "pass");
        check_suite(fails(1, &[one]), &[pass(), fails(1, &[one, two])], "pass");
        // Each failure is that of another tree.
        check_suite(fails(1, &[one, two]), &[fails(1, &[one]), fails(1, &[two])], "pass");
        assert_eq!(check_suite(fails(1, &[one, two]), &[fails(1, &[one]), pass()], "fail"), ["FAIL: two"]);
        // It fails in another way, with the same failures.
        check_suite(fails(2, &[one]), &[fails(1, &[one]), pass()], "fail");
        // It names no failure.
        check_suite(fails(1, &["x\n"]), &[fails(1, &["x\n"]), pass()], "fail");
        // It passes, but counts more failures.
        check_suite(fails(0, &["2 failed\n"]), &[fails(0, &["1 failed\n"]), pass()], "fail");
        check_suite(fails(0, &["1 failed\n"]), &[fails(0, &["1 failed\n"]), pass()], "pass");
    }

    /// The answer to whether the suite is quick, beside a test of 7 ms, and what was said.
    #[track_caller]
    fn check_quick(suite: Observation, expected: &str, why: Option<&str>) {
        let said = with_runner(with_suite(), &[], |runner, world| {
            let asked = Probe { question: ProbeQuestion::IsSuiteQuick, ..probe(world, 3, Phase::Reduce) };
            runner.answers.own.insert((runner.key(&asked), 0, false), pass());
            runner.beside.suites.insert((asked.tree, false), suite);
            for _ in 0..2 {
                assert_eq!(words(runner.answer(&[asked]).unwrap()), expected);
            }
        });
        match why {
            Some(why) => assert!(said[0].contains(why), "{said:?}"),
            None => assert!(said.is_empty(), "{said:?}"),
        }
        // A suite that cannot be used is reported once.
        assert!(expected != "unresolved(suite)" || said.len() == 1, "{said:?}");
    }

    #[test]
    fn a_suite_is_used_only_if_it_can_compare_trees_and_for_each_hit_only_if_it_is_quick() {
        let takes = |milliseconds| Observation { duration: Duration::from_millis(milliseconds), ..pass() };
        check_quick(takes(2000), "pass", None);
        check_quick(takes(2001), "fail", Some("more than 20 times"));
        check_quick(observation(1, "FAIL: a\n"), "pass", None);
        let cannot = "unresolved(suite)";
        check_quick(
            observation(1, "oops\n\n"),
            cannot,
            Some(": it fails, and names no failure (exit code 1, `oops`). "),
        );
        check_quick(observation(127, ""), cannot, Some(": it cannot be run (exit code 127). "));
        check_quick(
            Observation { ending: Ending::Timeout, ..pass() },
            cannot,
            Some("it does not end in time (timeout)"),
        );
        let broken = Observation { stage: Stage::Build, ..observation(2, "x.c: error\n") };
        check_quick(broken, cannot, Some("the build fails (exit code 2, `x.c: error`)"));
        check_quick(observation(1, &format!("{}\n", "x".repeat(99))), cannot, Some(&format!("`{}`", "x".repeat(80))));
    }

    #[test]
    fn a_failure_is_compared_with_those_of_both_ends_of_the_change() {
        // Two runs never take the same time.
        let run = |nth: u32, code, output: &str| Observation {
            duration: Duration::from_millis(nth.into()),
            ..observation(code, output)
        };
        let older = [0, 1].map(|nth| (0, nth, run(nth, 0, "begin\n")));
        let newer = |nth, output: &str| (2, nth, run(nth, 1, output));
        let ask = |output: &str, seen: &str| {
            let of_ends = older.iter().cloned().chain([newer(0, output), newer(1, output)]);
            let known: Vec<_> = of_ends.chain([(1, 0, observation(1, seen))]).collect();
            let mut answer = String::new();
            let said = with_runner(order(), &known, |runner, world| {
                let line = Some("FAIL: N".to_owned());
                runner.judging.criteria.signature =
                    Some(Signature { ending: Ending::Exit(1), test: None, line, printed: None });
                let ends = ChangeEnds { older: world.trees[0], newer: world.trees[2] };
                let asked = Probe { question: ProbeQuestion::Exact(ends), ..probe(world, 1, Phase::Reduce) };
                answer = words(runner.answer(&[asked]).unwrap());
                assert_eq!(runner.beside.exactness, Some(Exactness::Output));
            });
            assert!(said.is_empty(), "{said:?}");
            answer
        };
        assert_eq!(ask("begin\nFAIL: 7\n", "begin\nFAIL: 7\n"), "fail");
        assert_eq!(ask("begin\nFAIL: 7\n", "begin\nFAIL: 8\n"), "unresolved(other)");
        assert_eq!(ask("begin\nFAIL: 7\n", "begin\n"), "unresolved(other)");
    }

    #[test]
    fn a_failure_that_says_nothing_is_pointed_out_once() {
        let known =
            [(0, 0, observation(0, "begin\n")), (2, 0, observation(1, "begin\n")), (1, 0, observation(1, "begin\n"))];
        let said = with_runner(order(), &known, |runner, world| {
            runner.judging.criteria.signature =
                Some(Signature { ending: Ending::Exit(1), test: None, line: None, printed: None });
            let question = |newer| ProbeQuestion::Exact(ChangeEnds { older: world.trees[0], newer });
            for newer in [world.trees[2], world.trees[1]] {
                let asked = Probe { question: question(newer), ..probe(world, 1, Phase::Reduce) };
                assert_eq!(words(runner.answer(&[asked]).unwrap()), "fail");
            }
            assert!(runner.beside.is_mute);
        });
        assert_eq!(said, [MUTE]);
    }
}
