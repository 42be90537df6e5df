//! The report of a hunt that has ended or stopped.

use crate::finding::FindingSources;
use crate::hunt::Hunt;
use crate::plan::Adjustments;
use crate::runner::questions::MUTE;
use crate::tally::counted;
use crate::{Failure, finding, hints, hold, kept, saved, suite};
use idd_base::{Ending, Observation, Signature, count};
use idd_hunt::finding::{Conclusion, Expected, Finding};
use idd_hunt::own_tests::{Covered, named};
use idd_hunt::{Phase, Probe};
use idd_report::{Report, Status, Untrusted, text};
use idd_world::journal::Record;
use idd_world::repo::TreeStore;
use idd_world::repo::promisor::Promisor;
use idd_world::repo::state::UserState;
use idd_world::run::compared::compared_values;
use idd_world::run::toolchain;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// The number of tests that are named of those that fail beside the hunted one.
const MAX_OTHERS: usize = 3;

impl Hunt<'_> {
    /// The report of a hunt that has ended, whose finding is kept.
    pub(super) fn end(
        &mut self,
        finding: &Finding,
        adjustments: &Adjustments,
        store: &TreeStore,
    ) -> Result<Report, Failure> {
        let mut report = self.report(finding, adjustments, store)?;
        report.notes.extend(self.cut_short(finding));
        report.notes.extend(self.notes_of_never_passed(finding));
        report.notes.extend(self.other_values(finding)?);
        report.notes.extend(self.state_outside(finding, store)?);
        self.say_of_fixes(finding, store, &mut report)?;
        if finding.is_finding()
            && let Err(failure) = self.keep(finding, store)
        {
            let why = String::from_utf8_lossy(failure.message.as_bytes()).into_owned();
            let note = format!("The finding could not be kept as refs of this worktree: {why}.");
            report.notes.push(Untrusted::from(note));
        }
        report.notes.extend(self.passes_upstream(finding, store)?);
        Ok(report)
    }

    /// The report of a hunt that was interrupted, or has reached its budget.
    pub(super) fn stopped(
        &mut self,
        finding: &Finding,
        adjustments: &Adjustments,
        store: &TreeStore,
    ) -> Result<Report, Failure> {
        let finding = Finding { conclusion: self.runner.conclusion(), ..finding.clone() };
        self.report(&finding, adjustments, store)
    }

    /// The note about a reduction that was stopped at its time limit.
    pub(super) fn cut_short(&self, finding: &Finding) -> Option<Untrusted> {
        let has_ended = matches!(finding.conclusion, Conclusion::Found | Conclusion::Unfixed | Conclusion::Range);
        let changes = [("sufficient", &finding.sufficient), ("necessary", &finding.necessary)];
        let cut = changes.into_iter().filter_map(|(name, change)| Some((name, change.as_ref()?)));
        let cut: Vec<String> = cut
            .filter(|(_, change)| !change.is_minimal)
            .map(|(name, change)| format!("{} of the {name} change", count(change.units.len(), "unit")))
            .collect();
        if !has_ended || cut.is_empty() {
            return None;
        }
        let bound = self.runner.bound();
        // In whole seconds, so that it can be typed.
        let twice = bound.saturating_mul(2).as_secs().max(1);
        let (took, cut) = (text::duration(bound.as_secs_f64()), cut.join(" and "));
        Some(Untrusted::from(format!(
            "The reduction was stopped after {took} (`--effort`); {cut} are left, and may be more than needed; `git \
             idd resume --effort {twice}s` goes on."
        )))
    }

    /// The note on a first bad commit whose failure has other values than that of the bad revision: the signature leaves
    /// them out, so this can be another failure, with passing revisions between the two.
    fn other_values(&mut self, finding: &Finding) -> Result<Option<Untrusted>, Failure> {
        let line = self.signature.as_ref().and_then(|signature| signature.line.clone());
        let (Some(line), Some(first_bad)) = (line, finding.first_bad) else { return Ok(None) };
        let values = |seen: &Observation| Some(compared_values(seen, &line)).filter(|values| !values.is_empty());
        let at_bad: BTreeSet<_> = self.seen.iter().filter_map(values).collect();
        let mut fails = finding.evidence.iter().filter(|run| run.expected == Expected::Fail);
        let Some(run) = fails.find(|run| run.revision == first_bad) else { return Ok(None) };
        let Some(seen) = self.runner.seen(&Probe::of(run.tree, first_bad, Phase::Search))? else { return Ok(None) };
        // Where the values change from run to run, they tell nothing.
        let others = values(&seen).filter(|values| at_bad.len() == 1 && !at_bad.contains(values));
        Ok(others.map(|others| {
            Untrusted::from(format!(
                "At {} the failure has other values than at the bad revision: `{}`. If it is another failure, `--match \
                 <regex>` hunts one of the two.",
                first_bad.short(),
                others.join("`, `")
            ))
        }))
    }

    pub(super) fn report(
        &mut self,
        finding: &Finding,
        adjustments: &Adjustments,
        store: &TreeStore,
    ) -> Result<Report, Failure> {
        let is_stopped = matches!(finding.conclusion, Conclusion::Budget | Conclusion::Interrupted);
        // A search that started again, and was stopped, takes nothing back that was proved before.
        let proved = self.proved.as_ref().filter(|_| is_stopped && finding.first_bad.is_none());
        let proved = proved.map(|proved| Finding { conclusion: finding.conclusion, ..proved.clone() });
        let finding = proved.as_ref().unwrap_or(finding);
        let before = self.runner.value_before(finding, &self.history, store)?;
        let signature = self.signature.as_ref();
        let beside = Some(&self.runner.beside);
        let sources = FindingSources { plan: self.plan, adjustments, history: &self.history, store, signature, beside };
        Ok(Report { before, ..finding::report(finding, sources)? })
    }

    /// Counts, disturbances and notices.
    pub(super) fn describe_run(&self, report: &mut Report, before: &UserState, after: &UserState) {
        let session = &self.runner;
        let refused = report.probes.refused;
        report.probes = finding::probes(&session.effort.tally, refused);
        report.in_place = self.plan.remote.is_none().then(|| session.surroundings().place.is_some());
        report.artifacts.iter_mut().for_each(|artifacts| finding::count_artifacts(artifacts, &session.effort.tally));
        for shown in &mut report.evidence {
            let place = shown.tree.and_then(|tree| session.noticed.places.get(&tree));
            shown.place = place.map(|place| Untrusted::from(place.as_str()));
        }
        let is_too_short = report.status == Status::Budget && session.was_too_short();
        let mut note = |text: String| report.notes.push(Untrusted::from(text));
        if is_too_short {
            note(
                "No test ended within the budget, so the same one cannot go on; `--budget` sets a larger one."
                    .to_owned(),
            );
        }
        for (part, tree) in &session.user.disturbed {
            note(format!("The user's {part} changed while tree {tree} was tested; a test is not confined."));
        }
        let others =
            self.signature.iter().filter_map(|signature| signature.test.as_ref()).flat_map(|test| &test.others);
        let others: Vec<String> = others.map(|name| format!("`{name}`")).collect();
        if let Some(shown) = others.chunks(MAX_OTHERS).next() {
            let (fail, are) = if others.len() == 1 { ("fails", "is") } else { ("fail", "are") };
            let n_others = count(others.len(), "other test");
            let more = if others.len() > shown.len() { " and more" } else { "" };
            note(format!(
                "{n_others} {fail} at the bad revision, too, and {are} not hunted: {}{more}.",
                shown.join(", ")
            ));
        }
        for part in before.changed(after) {
            if session.user.disturbed.iter().all(|(known, _)| *known != part) {
                note(format!("The {part} of the repository changed during the hunt."));
            }
        }
        if let Some(why) = session.checks.precheck.as_ref().and_then(|checking| checking.useless) {
            note(why.to_owned());
        }
        if session.noticed.is_tampered {
            note("Build or test change files of the tested tree; they were restored after each probe.".to_owned());
        }
        if session.noticed.is_tampered_by_check {
            note("`--precheck` changes tracked files; they were restored after each probe.".to_owned());
        }
        if let (0, 1..) = session.noticed.n_products {
            note(not_made(&self.plan.order.test.artifact));
        }
        if self.plan.divisions.is_regenerated && report.fix.is_some() {
            note("Generated files are in no patch: `idd.regenerate` wrote them for each probe.".to_owned());
        }
        session.noticed.unchanging.iter().cloned().for_each(&mut note);
        session.noticed.artifacts.iter().cloned().for_each(&mut note);
        if let Some(limit) = session.noticed.cut_at
            && !matches!(self.signature, Some(Signature { ending: Ending::Timeout, .. }))
        {
            let seconds = limit.as_secs();
            note(format!("At least one probe reached the time limit of {seconds} s and counts as unresolved."));
        }
        session.noticed.doubts.iter().cloned().for_each(&mut note);
        let n_rebuilt = session.effort.tally.n_rebuilt + session.effort.tally.earlier(counted::REBUILT);
        if n_rebuilt > 0 {
            let runs = count(usize::try_from(n_rebuilt).unwrap_or(usize::MAX), "run");
            note(format!(
                "Products of earlier builds left {runs} without a verdict; the results of fresh checkouts count."
            ));
        }
        if let Some(lack) = &session.noticed.lack {
            note(format!("A revision could not be tested: {lack}."));
        }
        self.plan.missing.first().map(|path| hold::missing_file(path)).into_iter().for_each(&mut note);
        self.fetched.iter().cloned().for_each(&mut note);
        if let Some((n_fetched @ 1.., remote)) = self.promisor.as_ref().map(Promisor::fetched) {
            note(format!("Fetched {} from `{remote}` that this partial clone lacked.", count(n_fetched, "object")));
        }
        session.notices().into_iter().chain(session.notes_of_tools()).for_each(note);
    }

    /// Puts what was seen of the cause, if there is no finding, in front of the notes.
    pub(super) fn give_hints(&self, report: &mut Report) {
        if !report.find.is_failure() {
            return;
        }
        let conclusion = match report.status {
            Status::BadPasses => Conclusion::BadPasses,
            Status::GoodFails => Conclusion::GoodFails,
            Status::NothingTestable => Conclusion::NothingTestable,
            Status::NotReproducible => Conclusion::NotReproducible,
            Status::NeverPassed => Conclusion::NeverPassed,
            _ => return,
        };
        let notes = self.with_scene(&self.seen, |scene| hints::of(scene, conclusion)).unwrap_or_default();
        report.notes.splice(0..0, notes.into_iter().map(Untrusted::from));
    }

    /// Notes on the fixes and on the comparison of failures.
    pub(super) fn say_of_fixes(
        &self,
        finding: &Finding,
        store: &TreeStore,
        report: &mut Report,
    ) -> Result<(), Failure> {
        if self.runner.beside.is_mute {
            report.notes.push(Untrusted::from(MUTE));
        }
        report.notes.extend(self.runner.beside.borders.iter().map(|border| Untrusted::from(border.to_string())));
        report.notes.extend(self.runner.beside.silent_suites.iter().map(|said| Untrusted::from(said.as_str())));
        report.notes.extend(self.runner.checks.complaining.unchecked.iter().map(|sentence| Untrusted::from(*sentence)));
        if let Some(named) = named(&finding.own_tests) {
            report.notes.push(Untrusted::from(format!(
                "The culprit changed tests, and these changes still stand in {named}: a reversal of only a part of it would \
                 probably make them fail."
            )));
        }
        let has_run = finding.fixes.iter().any(|fix| fix.suite.is_some());
        let beside = &self.runner.beside;
        let derived = beside.suite_line(self.plan).filter(|_| self.plan.is_suite_derived() && has_run);
        if let Some(line) = &derived {
            let what =
                if beside.own_tests.is_empty() { "without its selection" } else { "with the tests of the culprit" };
            let said = format!("`, the test command {what}; `--no-suite` turns this off.");
            let begin = b"Reversals that make the test pass were also tested with `";
            report.notes.push([begin, line.as_bytes(), said.as_bytes()].concat().into());
        }
        if self.plan.order.test.suite.is_none()
            && derived.is_none()
            && beside.silent_suites.is_empty()
            && suite::covered(&self.plan.order.command) != Covered::All
            && let Some(fix) = finding.fixes.first()
            && let Some(command) = suite::obvious(store, fix.older, &self.plan.commands.directory)?
        {
            report.notes.extend(self.suite_advice(command));
        }
        Ok(())
    }

    /// The note on the command for all tests of the project, if it can be run here and is not the test.
    fn suite_advice(&self, obvious: &str) -> Option<Untrusted> {
        if self.plan.order.command.to_line() == obvious.as_bytes() {
            return None;
        }
        let program = obvious.split(' ').next().unwrap_or_default();
        let is_missing = toolchain::is_missing(&self.plan.commands.environment, program)
            || hints::runners::has_own_environment(&self.plan.order.command);
        // The runner of the test is known to work here.
        let line = suite::whole(&self.plan.order.command).or_else(|| (!is_missing).then(|| obvious.to_owned()))?;
        let directory = self.plan.commands.directory.display().to_string();
        let of = if directory.is_empty() { "of the project".to_owned() } else { format!("in `{directory}`") };
        let said = format!("With `--suite '{line}'`, all tests {of} choose the fix, not only this one.");
        Some(Untrusted::from(said))
    }

    /// Stores the finding in the journal and, as refs of this worktree, in the repository.
    pub(super) fn write_down(&mut self, report: &Report) -> Result<(), Failure> {
        let value = serde_json::to_value(report)?;
        let status = report.status.word().to_owned();
        self.runner.append(&Record::Finding { value })?;
        self.runner.append(&Record::Ended { status }).map_err(Failure::from)
    }

    pub(super) fn keep(&self, finding: &Finding, store: &TreeStore) -> Result<(), Failure> {
        if kept::is_outdone(self.location, &self.id, self.plan, finding) {
            return Ok(());
        }
        saved::keep_refs(finding, store, self.location).map_err(Failure::from)
    }
}

/// The note if no product could be compared.
fn not_made(artifacts: &[OsString]) -> String {
    let names: Vec<String> = artifacts.iter().map(|name| format!("`{}`", name.to_string_lossy())).collect();
    let names = names.join(", ");
    let is_pattern = artifacts.iter().any(|name| name.as_encoded_bytes().iter().any(|byte| b"*?[".contains(byte)));
    let patterns = if is_pattern { " It takes names, not patterns." } else { "" };
    format!("No build made the files that `--artifact` names ({names}), so every test was run.{patterns}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hunt::{Task, run};
    use crate::testing::{Said, World, fail, key, order, pass};
    use crate::{kept, saved};
    use idd_base::Observation;
    use std::sync::Arc;

    /// The tree with the fix fails when it is run again.
    #[test]
    fn a_proved_commit_stands_when_the_reduction_starts_again_and_is_stopped() {
        const PROOF: u32 = 1 << 16;
        let world = World::with_all();
        let mut order = order();
        order.effort.jobs = Some(1);
        let plan = world.plan(order);
        let runs = (0..6).chain(PROOF..PROOF + 4).flat_map(|nth| (0..world.trees.len()).map(move |tree| (tree, nth)));
        let seen = |tree: usize, nth: u32| {
            let is_bad = [2, 3, 4, 8].contains(&tree) || tree == 6 && nth >= PROOF;
            Observation { is_clean: nth >= PROOF, ..if is_bad { fail() } else { pass() } }
        };
        let results: Vec<_> = runs.map(|(tree, nth)| (key(&plan, world.trees[tree]), nth, seen(tree, nth))).collect();
        let (location, context) = (world.location(), &world.context);
        let (mut said, saved) = (Said::default(), world.saved(&plan, &results));
        let task = Task { plan: &plan, location, context, saved, interrupt: Arc::default(), talk: &mut said };
        let report = run(task, &world.user()).unwrap();
        assert!(said.0.iter().any(|said| said.starts_with("A clean run contradicts an incremental one")), "{said:?}");
        assert!(!said.0.iter().any(|said| said.contains("withdrawn")), "{said:?}");
        assert_eq!((report.status, report.proved), (Status::Budget, true));
        assert_eq!(report.first_bad.unwrap().commit.commit, world.commits[2]);
        let kept = kept::newest(world.location(), None).unwrap();
        assert!(saved::first_bad(&kept.replay).unwrap().is_proved);
    }

    #[test]
    fn only_a_name_with_a_wildcard_is_said_to_be_no_pattern() {
        let names = |names: &[&str]| not_made(&names.iter().map(OsString::from).collect::<Vec<_>>());
        let all = "so every test was run.";
        assert_eq!(
            names(&["bin/a", "b"]),
            format!("No build made the files that `--artifact` names (`bin/a`, `b`), {all}")
        );
        assert!(names(&["a", "*.o"]).ends_with(&format!("{all} It takes names, not patterns.")));
    }
}
