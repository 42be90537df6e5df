//! Prechecks: what they must accept before they may reject candidates, and what shows that they are wrong.

use crate::precheck::java::{self, sides};
use crate::runner::{Runner, RunnerError};
use idd_base::{Ending, Observation, Outcome, Reason, Stage};
use idd_hunt::{ChangeEnds, Phase, Probe};
use idd_world::process::CommandWords;
use idd_world::repo::{Repository, private};
use idd_world::run::java_check::{self, JavaCheck};
use idd_world::run::sandbox::Commands;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The message about a compile database whose commands reject a revision that can be built.
const DATABASE_USELESS: &str =
    "The commands of the compile database fail at a revision that can be built; they are not used.";

/// The message about a check that rejected a candidate that can be built.
const CONTRADICTED: &str =
    "A candidate that the check before the build rejected can be built; the check is not used any more.";

impl Runner<'_> {
    /// Whether the precheck accepts a tree; `None` if interrupted or out of budget. Counted as a precheck.
    pub fn is_let_pass(&mut self, precheck: CommandWords, probe: Probe) -> Result<Option<bool>, RunnerError> {
        let seen = self.observe_check(precheck, probe)?;
        self.noticed.is_tampered_by_check |= seen.as_ref().is_some_and(|seen| seen.is_tampered);
        Ok(seen.map(|seen| seen.ending == Ending::Exit(0)))
    }

    /// Observes a tree with a precheck in place of build and test; counted as a precheck.
    fn observe_check(&mut self, precheck: CommandWords, probe: Probe) -> Result<Option<Observation>, RunnerError> {
        let usual = (*self.commands).clone();
        let commands = Commands { test: precheck, build: None, artifacts: Vec::new(), ..usual };
        let runs = self.effort.tally.runs.clone();
        let seen = self.observe_commands(commands, self.judging.times.limits.test, probe)?;
        self.effort.tally.runs = runs;
        self.effort.tally.n_prechecked += 1;
        Ok(seen)
    }

    /// Runs the precheck once at both ends of the change of `probes`, which can be built. A command that rejects one is
    /// not used any more. A compiler of Java does not check the sources that it rejects.
    pub(super) fn vet(&mut self, probes: &[Probe]) -> Result<(), RunnerError> {
        for (probe, ends) in probes.iter().filter_map(|probe| Some((probe, probe.precheck?))) {
            let open = self.opener();
            let is_repair = probe.phase == Phase::Repair;
            let Some(checking) = &mut self.checks.precheck else { return Ok(()) };
            for (tree, words) in checking.to_vet(&open, ends, is_repair) {
                let end = Probe { tree, precheck: None, ..*probe };
                if self.is_let_pass(words, end)? == Some(false) {
                    self.is_checked_in_vain(DATABASE_USELESS);
                }
            }
            let java = self.checks.precheck.iter_mut().find_map(|checking| checking.java.as_mut());
            if let Some(check) = java.and_then(|java| java.to_vet(&open, ends)) {
                self.vet_java(check, ends, probe)?;
            }
        }
        Ok(())
    }

    /// Compiles both ends of a change, and uses the check for those sources that have no errors there.
    ///
    /// Without a build command, a failing test can be a build that fails, and be what is hunted: then there must be no
    /// errors at all. Sources whose classes no build makes are not checked, if any build leaves classes.
    fn vet_java(&mut self, mut check: JavaCheck, ends: ChangeEnds, probe: &Probe) -> Result<(), RunnerError> {
        for ChangeEnds { newer: tree, .. } in sides(ends, probe.phase == Phase::Repair) {
            let end = Probe { tree, precheck: None, ..*probe };
            self.checks.vetting = Some(Arc::new(check.clone()));
            let seen = self.observe_check(java::words(&check), end);
            self.checks.vetting = None;
            let Some(seen) = seen? else { return Ok(()) };
            match seen.ending {
                Ending::Exit(0) => {}
                Ending::Exit(_) if self.commands.build.is_some() => check = check.without(&seen.output),
                _ => return Ok(()),
            }
        }
        let directories = self.jobs.executor.directories();
        let directories: Vec<&Path> = directories.iter().map(PathBuf::as_path).collect();
        let made = java_check::classes(directories);
        if !made.is_empty() {
            let name =
                |path: &str| path.rsplit('/').next().and_then(|name| name.strip_suffix(".java")).map(str::to_owned);
            check.sources.retain(|path| name(path).is_some_and(|name| made.contains(&name)));
        }
        self.checks.precheck.iter_mut().for_each(|checking| checking.use_java(ends, check.clone()));
        Ok(())
    }

    /// Opens the private repository.
    fn opener(&self) -> impl Fn() -> Option<Repository> + use<> {
        let directory = private::private_directory(&self.location.idd_directory());
        move || private::open(&directory).ok()
    }

    /// Counts the time of a build of a candidate that failed, which a compiler in memory could have saved.
    pub(super) fn count_lost_build(&mut self, probe: &Probe, outcome: Outcome, duration: Duration) {
        let is_lost = probe.precheck.is_some() && outcome == Outcome::Unresolved(Reason::Build);
        let java = self.checks.precheck.iter_mut().find_map(|checking| checking.java.as_mut());
        java.filter(|_| is_lost).into_iter().for_each(|java| java.lose(duration));
    }

    /// Whether a tree that a compiler in memory rejected is built now. It is built in a fresh worktree, because classes
    /// of earlier builds can hide its errors from an incremental build.
    pub(super) fn was_rejected(&self, probe: &Probe) -> bool {
        let checking =
            self.checks.precheck.as_ref().filter(|checking| checking.java.is_some() && probe.precheck.is_none());
        checking.is_some_and(|checking| checking.refused.contains(&probe.tree))
    }

    /// Disables a precheck that rejected a tree which can be built.
    pub(super) fn look_for_contradiction(&mut self, probe: &Probe, seen: &Observation) {
        let Some(checking) = &mut self.checks.precheck else { return };
        if seen.stage == Stage::Precheck && probe.precheck.is_some() {
            checking.refused.insert(probe.tree);
        }
        let ran = match seen.ending {
            Ending::Exit(0) => true,
            // Without a build command, the test may have failed to build.
            Ending::Exit(_) | Ending::Signal(_) => self.commands.build.is_some(),
            Ending::Timeout | Ending::NotRun(_) => false,
        };
        if ran && seen.stage == Stage::Test && seen.is_clean && self.was_rejected(probe) {
            self.is_checked_in_vain(CONTRADICTED);
        }
    }

    /// Disables the precheck.
    pub fn is_checked_in_vain(&mut self, why: &'static str) {
        if let Some(checking) = self.checks.precheck.as_mut().filter(|checking| checking.useless.is_none()) {
            checking.useless = Some(why);
            self.talk.say(why);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::precheck::java::OfJava;
    use crate::precheck::{CandidatePrecheck, Checking};
    use crate::testing::{fail, order, pass, probe, with_runner};
    use idd_world::cache::ProbePlan;

    /// Whether the check is still used after the candidate that it rejected was tested so.
    #[track_caller]
    fn check(has_build: bool, seen: &Observation, is_useful: bool) {
        let mut order = order();
        order.test.build = has_build.then(|| "make".into());
        let said = with_runner(order, &[], |runner, world| {
            let java = CandidatePrecheck::Java(Arc::new(OfJava::of_nothing()));
            runner.checks.precheck = Some(Checking::new(java, ProbePlan::default(), Path::new("/nowhere")));
            let ends = ChangeEnds { older: world.trees[0], newer: world.trees[3] };
            let checked = Probe { precheck: Some(ends), ..probe(world, 1, Phase::Reduce) };
            let unchecked = Probe { precheck: None, ..checked };
            runner.look_for_contradiction(&unchecked, seen);
            assert!(!runner.was_rejected(&unchecked));
            let rejected = Observation { stage: Stage::Precheck, ..fail() };
            runner.look_for_contradiction(&checked, &rejected);
            assert!(runner.was_rejected(&unchecked) && !runner.was_rejected(&checked));
            runner.look_for_contradiction(&unchecked, seen);
            assert_eq!(runner.checks.precheck.as_ref().unwrap().useless.is_none(), is_useful, "{seen:?}");
        });
        assert_eq!(said.len(), usize::from(!is_useful), "{said:?}");
    }

    #[test]
    fn a_rejected_candidate_that_can_be_built_ends_the_check() {
        check(true, &pass(), false);
        check(true, &fail(), false);
        check(true, &Observation { stage: Stage::Build, ..fail() }, true);
        check(true, &Observation { is_clean: false, ..pass() }, true);
        check(true, &Observation { ending: Ending::Timeout, ..fail() }, true);
        // The test may have failed to build.
        check(false, &fail(), true);
        check(false, &pass(), false);
    }
}
