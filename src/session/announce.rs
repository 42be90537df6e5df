//! Reports and stores the first bad commit as soon as it is found, and again when it is proved, while the hunt goes on.

use crate::environment::{AllFiles, Environment};
use crate::finding::FindingSources;
use crate::order::Until;
use crate::runner::{Runner, RunnerError};
use crate::saved::KeptCommit;
use crate::varying_line::UnlikeLines;
use crate::{finding, kept, own_copy, python, saved};
use idd_base::Outcome;
use idd_hunt::drive::{ProbeRunner, RunnerReply};
use idd_hunt::finding::{Conclusion, Finding};
use idd_hunt::{EngineState, Event, Phase, Probe};
use idd_report::{Report, Untrusted};
use idd_world::journal::Record;
use idd_world::repo::Location;
use std::cell::RefCell;
use std::path::Path;
use std::time::Instant;

/// The runner of a hunt that also reports the first bad commit when it is found, and when it is proved.
pub struct Announcing<'a, 'p> {
    /// The runner.
    pub runner: &'a mut Runner<'p>,
    /// The state of the engine.
    pub state: &'a RefCell<EngineState>,
    /// The data for a report.
    pub sources: FindingSources<'a>,
    /// The repository.
    pub location: &'a Location,
    /// All files of the user, if the hunt uses only some of them, until a run at the first bad commit has seen them.
    pub all_files: Option<AllFiles>,
    /// What the revisions have of the working tree.
    pub environment: &'a Environment,
    /// The commit that the journal has.
    pub kept: &'a mut Option<KeptCommit>,
    /// The lines of failures that only differ in them; `None` if the line does not count, or always counts.
    pub unlike: Option<UnlikeLines>,
    /// What was known when the last commit was proved.
    pub proved: &'a mut Option<Finding>,
    /// The id of the hunt, its journal, the start of this run, and the seconds of earlier runs.
    pub hunt: (&'a str, &'a Path, Instant, f64),
}

impl Announcing<'_, '_> {
    /// Ends the hunt if the first bad revision was tested with a product of the working tree that does not belong to it: a
    /// compiled module of which the good one has another source, or a file of which the good one has its own.
    fn refuse_old_product(&self) -> Result<(), RunnerError> {
        let finding = &self.state.borrow().finding;
        let Some((good, bad)) = finding.last_good.zip(finding.first_bad) else { return Ok(()) };
        // The test may build them.
        if self.runner.has_built() != Some(false) {
            return Ok(());
        }
        let (plan, repository) = (self.sources.plan, self.sources.store.repository());
        let same = python::same_module(&self.environment.compiled, good, plan, self.location, repository);
        let same = same
            .or_else(|| own_copy::failure_at(&self.environment.needed, [good, bad], plan, self.location, repository));
        same.map_or(Ok(()), |failure| Err(RunnerError::Ended(Box::new(failure))))
    }

    fn announce(&mut self) -> Result<(), RunnerError> {
        let (mut found, n_refused) = {
            let state = self.state.borrow();
            (state.finding.clone(), state.n_refused as u64)
        };
        found.conclusion = Conclusion::Culprit;
        self.runner.end_of_search();
        // An unreadable tree shows again in the reduction.
        let Ok(mut report) = finding::report(&found, self.sources) else { return Ok(()) };
        let Some(commit) = found.first_bad else { return Ok(()) };
        let (id, log, begin, seconds_before) = self.hunt;
        report.before = self.runner.value_before(&found, self.sources.history, self.sources.store)?;
        report.probes = finding::probes(&self.runner.effort.tally, n_refused);
        report.seconds = seconds_before + begin.elapsed().as_secs_f64();
        report.hunt = Some(id.to_owned());
        report.log = Some(Untrusted::from(log.to_string_lossy().as_ref()));
        if found.is_proved {
            self.runner.talk.finish();
            self.runner.talk.proved(&report, commit);
            *self.proved = Some(found.clone());
        }
        // The hunt ends with this stage, or a resumed hunt may know more already.
        let last = if found.is_proved { Until::Commit } else { Until::Found };
        let is_known = |kept: KeptCommit| kept.commit == commit && kept.is_proved >= found.is_proved;
        if self.sources.plan.order.effort.until == last || self.kept.is_some_and(is_known) {
            return Ok(());
        }
        let is_new = self.kept.is_none_or(|kept| kept.commit != commit);
        *self.kept = Some(KeptCommit { commit, is_proved: found.is_proved });
        self.keep(&report, &found)?;
        if is_new {
            self.runner.talk.kept(&report);
        }
        Ok(())
    }

    fn keep(&mut self, report: &Report, found: &Finding) -> Result<(), RunnerError> {
        // Numbers, ids and escaped texts can be written.
        let value = serde_json::to_value(report).unwrap_or_default();
        self.runner.append(&Record::Finding { value })?;
        if found.is_proved && !kept::is_outdone(self.location, self.hunt.0, self.sources.plan, found) {
            // The final finding reports the reason.
            let _ = saved::keep_refs(found, self.sources.store, self.location);
        }
        Ok(())
    }
}

impl ProbeRunner for Announcing<'_, '_> {
    type Error = RunnerError;

    fn width(&self) -> usize {
        self.runner.width()
    }

    fn answer(&mut self, probes: &[Probe]) -> Result<RunnerReply, RunnerError> {
        let first_bad = self.state.borrow().finding.first_bad;
        if let Some(revision) = first_bad
            && let Some(all_files) = self.all_files.take()
            && all_files.lets_pass(revision, self.runner)?
        {
            // The search was misled; its end looks for a revision that passes with all files, and finds this one.
            return Ok(RunnerReply::Stop(Conclusion::NeverPassed));
        }
        let is_searching = probes.first().is_some_and(|probe| matches!(probe.phase, Phase::Search | Phase::Repair));
        if let Some(unlike) = self.unlike.as_ref().filter(|_| is_searching) {
            let state = self.state.borrow();
            let hunted = self.sources.signature.and_then(|signature| signature.line.as_deref()).unwrap_or_default();
            if let Some(again) = unlike.widened(hunted, &state, self.sources.history).filter(|_| !state.has_repair()) {
                return Ok(RunnerReply::Again(again));
            }
        }
        self.refuse_old_product()?;
        let reply = self.runner.answer(probes)?;
        self.refuse_old_product()?;
        Ok(reply)
    }

    fn has_slow_claim(&mut self, probes: &[Probe]) -> Result<bool, RunnerError> {
        self.runner.has_slow_claim(probes)
    }

    fn used(&mut self, probes: &[Probe], outcomes: &[Outcome]) -> Result<(), RunnerError> {
        if let Some(unlike) = &mut self.unlike {
            let is_open = |outcome: &Outcome| !outcome.is_testable();
            let of_search = |probe: &Probe| probe.phase == Phase::Search && !probe.is_claim;
            for (probe, _) in
                probes.iter().zip(outcomes).filter(|(probe, outcome)| of_search(probe) && is_open(outcome))
            {
                if let Some(seen) = self.runner.seen(probe)? {
                    unlike.add(probe, &seen, &self.runner.judging.criteria);
                }
            }
        }
        self.runner.used(probes, outcomes)
    }

    fn tell(&mut self, events: &[Event]) {
        self.runner.tell(events);
        let is_known = |event: &Event| matches!(event, Event::Culprit { n_candidates: 1, .. } | Event::Proved { .. });
        if self.sources.plan.order.effort.explain && events.iter().any(|event| matches!(event, Event::Proved { .. })) {
            self.runner.keep_a_third();
        }
        if events.iter().any(is_known) && !self.sources.plan.is_minimize {
            // A full disk shows again when an observation is written.
            let _ = self.announce();
        }
    }
}
