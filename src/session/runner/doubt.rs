//! Decides about a run that contradicts an earlier one of the same tree.

use crate::runner::known::first_run;
use crate::runner::{Runner, RunnerError};
use idd_base::{CommitId, Observation, Outcome, TreeId};
use idd_hunt::{Phase, Probe};
use idd_report::{Terminal, Untrusted};
use idd_world::run::normalise::normalise;
use std::mem;

/// The first number of runs that are made alone; smaller than those of proofs.
const FIRST_ALONE: u32 = 1 << 15;

/// Longer lines are cut in quotations.
const MAX_QUOTED_CHARS: usize = 200;

impl Runner<'_> {
    /// After two runs of one tree disagreed: whether simultaneous probes disturbed each other. That is so if a run
    /// beside earlier products and two in fresh worktrees pass when they run alone: a disturbance makes a test fail, and
    /// a stale product can make it pass. `None` if interrupted or out of budget.
    ///
    /// Cost: three runs; none if probes already run one at a time.
    pub fn is_disturbed(&mut self, doubt: Probe) -> Result<Option<bool>, RunnerError> {
        if self.effort.n_jobs == 1 {
            return Ok(Some(false));
        }
        let incremental = Probe { is_claim: false, phase: Phase::Search, ..doubt };
        let Some(mut seen) = self.alone(incremental, &[FIRST_ALONE])? else { return Ok(None) };
        let clean = Probe { is_claim: true, ..doubt };
        let Some(fresh) = self.alone(clean, &[FIRST_ALONE + 1, FIRST_ALONE + 2])? else { return Ok(None) };
        seen.extend(fresh);
        Ok(Some(seen.iter().all(|observation| self.judged(&doubt, observation) == Outcome::Pass)))
    }

    /// Whether a revision that failed beside other probes passes alone, in a fresh worktree.
    ///
    /// Cost: one run; none if probes already run one at a time.
    pub fn passes_alone(&mut self, tree: TreeId, revision: CommitId, is_fetched: bool) -> Result<bool, RunnerError> {
        if self.effort.n_jobs == 1 {
            return Ok(false);
        }
        let probe = Probe { is_claim: true, is_fetched, ..Probe::of(tree, revision, Phase::Verify) };
        let seen = self.alone(probe, &[FIRST_ALONE])?;
        Ok(seen.into_iter().flatten().any(|observation| self.judged(&probe, &observation) == Outcome::Pass))
    }

    /// Runs a probe under these numbers, one run at a time.
    fn alone(&mut self, probe: Probe, numbers: &[u32]) -> Result<Option<Vec<Observation>>, RunnerError> {
        let n_jobs = mem::replace(&mut self.effort.n_jobs, 1);
        let seen = self.reproduce(probe, numbers);
        self.effort.n_jobs = n_jobs;
        seen
    }

    /// Reports, for the first time only, that a revision gave no verdict only because of products of earlier builds.
    pub(super) fn tell_stale(&mut self, probe: &Probe, line: &str) {
        if self.effort.tally.n_rebuilt == 0 {
            let line = Terminal.line(&Untrusted::from(line));
            self.talk.say(&format!(
                "Products of earlier builds made {} untestable (`{line}`); the result of a fresh checkout counts.",
                probe.revision.short()
            ));
        }
        self.effort.tally.n_rebuilt += 1;
    }

    /// The difference between a clean run and the incremental one that it contradicts, as part of a sentence; `None` if
    /// unknown.
    pub fn contradiction(&mut self, doubt: Probe) -> Result<Option<String>, RunnerError> {
        let incremental = Probe { is_claim: false, phase: Phase::Search, ..doubt };
        let queued_job = self.queued(incremental, 0);
        let Some((incremental, _)) = self.known(&queued_job)? else { return Ok(None) };
        let queued_job = self.queued(doubt, first_run(&doubt));
        let Some(clean) = self.own_observation(&queued_job)? else { return Ok(None) };
        let line = match first_difference(&incremental.output, &clean.output) {
            Some(line) => format!("; the first line that differs: `{line}`"),
            None => String::new(),
        };
        let endings = match (incremental.ending, clean.ending) {
            (incremental, clean) if incremental == clean => String::new(),
            (incremental, clean) => format!(", {clean} and not {incremental}"),
        };
        Ok(Some(format!("at {}{endings}{line}", doubt.revision.short())))
    }
}

/// The first line in which two outputs differ, without regard to numbers, paths and times.
fn first_difference(one: &str, other: &str) -> Option<String> {
    let (mut one, mut other) = (one.lines(), other.lines());
    loop {
        let line = match (one.next(), other.next()) {
            (None, None) => return None,
            (Some(one), Some(other)) if normalise(one) == normalise(other) => continue,
            (Some(line), _) | (None, Some(line)) => line,
        };
        return Some(line.trim().chars().take(MAX_QUOTED_CHARS).collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(one: &str, other: &str, expected: Option<&str>) {
        assert_eq!(first_difference(one, other).as_deref(), expected);
    }

    #[test]
    fn the_first_line_that_differs_is_quoted() {
        check("a\nb 17\nc\n", "a\nb 18\nc\n", None);
        check("a\nfound 3\n", "a\nlost 3\n", Some("found 3"));
        check("a\n", "a\n  port is in use\nb\n", Some("port is in use"));
        check("a\nb\n", "a\n", Some("b"));
        check("", "", None);
    }
}
