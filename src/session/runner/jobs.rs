//! Running probes: starts them, ends unneeded ones, and takes their results.

use crate::runner::job::{QueuedJob, RunningJob};
use crate::runner::time_limit::is_of_reduction;
use crate::runner::{Runner, RunnerError};
use crate::{Failure, leak};
use idd_base::Observation;
use idd_hunt::drive::ProbeRunner;
use idd_hunt::{Phase, Probe, ProbeQuestion};
use idd_report::{Terminal, Untrusted, text};
use idd_world::cache::{ProductParts, Want};
use idd_world::journal::{AboutRecord, JournalSegment, Record};
use idd_world::process::executions::ExecutedPrograms;
use idd_world::process::{CommandWatch, ProcessGroup};
use idd_world::run::executor::{KnownProducts, LOOK_AFTER, PlaceResult, PlacedJob, Wish};
use idd_world::run::live;
use idd_world::run::sandbox::{Precheck, ProbeJob, Rebuild};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

impl Runner<'_> {
    /// Starts these jobs, first ones first, and ends other probes if their workers are needed.
    ///
    /// Returns whether the hunt goes on: a probe is running, or nothing was requested.
    pub(super) fn schedule(&mut self, queued_jobs: &[QueuedJob]) -> Result<bool, RunnerError> {
        let queued_jobs: Vec<(QueuedJob, bool)> = queued_jobs
            .iter()
            .take(self.width())
            .map(|queued_job| (*queued_job, self.wants_clean(&queued_job.probe)))
            .collect();
        let is_wanted =
            |running_job: &RunningJob| queued_jobs.contains(&(running_job.queued_job, running_job.is_clean));
        let is_under_way = |session: &Self, queued_job: &(QueuedJob, bool)| {
            session.jobs.running.iter().any(|running_job| {
                (running_job.queued_job, running_job.is_clean) == *queued_job && !running_job.is_leaving()
            })
        };
        for queued_job in &queued_jobs {
            if is_under_way(self, queued_job) {
                continue;
            }
            if self.stops_before_another() {
                break;
            }
            let probe = queued_job.0.probe;
            let is_reference = probe.question == ProbeQuestion::Reference;
            let wish = Wish {
                tree: probe.tree,
                is_reference,
                is_far: self.effort.n_jobs > 1 && queued_job.0.is_far(),
                width: self.width(),
            };
            let Some(place) = self.jobs.executor.reserve(wish)? else {
                self.cancel(|running_job| !is_wanted(running_job));
                break;
            };
            self.start(place, queued_job.0, queued_job.1)?;
        }
        Ok(queued_jobs.is_empty() || !self.jobs.running.is_empty() && !self.is_interrupted())
    }

    /// The question of a worker between build and test. Runs that reproduce the failure, and repeated runs, always run.
    fn known_products(&self, probe: &Probe) -> KnownProducts {
        let may_be_spared = probe.phase != Phase::Reproduce && !probe.is_fetched && self.plan.order.test.repeat == 1;
        let Some(plan) = self.answers.product_digest.filter(|_| may_be_spared) else { return Box::new(|_| None) };
        let (observations, exposed_commit) = (Arc::clone(&self.answers.observations), self.exposed(probe));
        let want = Want { clean: false, limits: self.answering_limits(probe) };
        Box::new(move |product| {
            let key = ProductParts { product: product.0, exposed_commit, plan }.digest();
            observations.lock().unwrap_or_else(PoisonError::into_inner).lookup_product(&key, want)
        })
    }

    /// Whether no other probe may be started, counting the running ones.
    fn stops_before_another(&self) -> bool {
        let n_under_way = self.jobs.running.iter().filter(|running_job| !running_job.is_leaving()).count() as u64;
        let is_full = self.effort.limits.max_probes.is_some_and(|max| self.effort.tally.n_runs() + n_under_way >= max);
        is_full || self.stops().is_some()
    }

    fn start(&mut self, place: usize, queued_job: QueuedJob, is_clean: bool) -> Result<(), RunnerError> {
        let sequence = self.answers.next_sequence;
        self.answers.next_sequence += 1;
        let worktree = self.jobs.executor.directory(place).map(Path::to_owned).unwrap_or_default();
        let key = self.key_of(queued_job.keys).to_string();
        let about = Some(about(&queued_job.probe));
        self.answers.segment().append(&Record::Intent { sequence, key, worktree, clean: is_clean, about })?;
        let refusal_key = self.refusal_key(&queued_job.probe);
        let vetting = self.checks.vetting.clone().map(Precheck::Java);
        let limits = self.limits_of(&queued_job);
        self.say_if_again(&queued_job)?;
        self.say_if_cold(&queued_job);
        let job = ProbeJob {
            tree: queued_job.probe.tree,
            artifact_of: queued_job.probe.is_fetched.then_some(queued_job.probe.revision),
            revision: Some(self.head_of(&queued_job.probe)),
            exposed_commit: self.plan.order.test.expose_commit.then_some(queued_job.probe.revision),
            precheck: vetting.or_else(|| self.check(&queued_job.probe).map(|check| check.run)),
            is_clean: is_clean || self.was_rejected(&queued_job.probe),
            rebuild: if is_of_reduction(&queued_job.probe) { Rebuild::MissingFile } else { Rebuild::Failure },
            limits,
            may_share: self.may_share(&queued_job),
        };
        // The first run tells whether the test reads the files of the user, and no claim may rest on them.
        let is_first = queued_job.probe.phase == Phase::Reproduce && queued_job.nth == 0;
        let is_called_back = Arc::new(AtomicBool::new(false));
        let executions = self.answers.observations().executions().filter(|executions| !executions.is_harmful());
        let directory = self.jobs.executor.directory(place).map(Path::to_owned);
        let watch = Journalled {
            sequence,
            directory,
            executions,
            watches_files: self.user.can_leak && (is_first || queued_job.probe.is_claim),
            segment: Arc::clone(&self.answers.segment),
            interrupts: [Arc::clone(&self.interrupt), Arc::clone(&is_called_back)],
            reader: self.jobs.reader.clone(),
        };
        let known = self.known_products(&queued_job.probe);
        self.jobs
            .executor
            .start(place, PlacedJob { job, commands: Arc::clone(&self.commands), watch: Box::new(watch), known });
        let has_build = self.commands.build.is_some();
        self.talk.running(&queued_job.probe, if has_build { limits.build.max(limits.test) } else { limits.test });
        let begin = Instant::now();
        let running_job =
            RunningJob { queued_job, is_clean, sequence, refusal_key, place, is_called_back, begin, n_said: 0 };
        self.jobs.running.push(running_job);
        Ok(())
    }

    /// Whether the result of an earlier run elsewhere may answer: not if the run is to confirm another one.
    fn may_share(&self, queued_job: &QueuedJob) -> bool {
        let is_first = queued_job.nth == 0 && queued_job.probe.phase != Phase::Reproduce && !queued_job.probe.is_claim;
        is_first && !self.judging.is_clean && !self.plan.order.effort.no_cache
    }

    /// Makes the running probes that `is_unwanted` selects end soon; each must still [`collect`](Self::collect).
    pub(super) fn cancel(&mut self, is_unwanted: impl Fn(&RunningJob) -> bool) {
        for running_job in self.jobs.running.iter().filter(|running_job| is_unwanted(running_job)) {
            running_job.is_called_back.store(true, Ordering::Relaxed);
        }
    }

    /// Waits until one worker has finished, and records its observation; `None` if it was interrupted or ended.
    ///
    /// At least one must be running.
    pub(super) fn collect(&mut self) -> Result<Option<(QueuedJob, Observation)>, RunnerError> {
        let PlaceResult { place, result } = self.wait();
        let index = self.jobs.running.iter().position(|running_job| running_job.place == place);
        let running_job = self.jobs.running.swap_remove(index.expect("every probe under way has a running_job"));
        self.user.look(&self.location, running_job.queued_job.probe.tree);
        if let Some(failure) = self.leak() {
            return Err(RunnerError::Ended(Box::new(failure)));
        }
        let Some(probed) = result? else { return Ok(None) };
        self.observed(&running_job, &probed)?;
        Ok(Some((running_job.queued_job, probed.observation)))
    }

    /// Waits until a probe is done. While the failure is reproduced, it says what a long run has printed last.
    fn wait(&mut self) -> PlaceResult {
        loop {
            if let Some(done) = self.jobs.executor.poll(LOOK_AFTER) {
                return done;
            }
            let slow = self
                .jobs
                .running
                .iter_mut()
                .filter(|running_job| running_job.queued_job.probe.phase == Phase::Reproduce);
            for running_job in slow {
                let time = running_job.begin.elapsed();
                if !is_time_to_speak(time, running_job.n_said) {
                    continue;
                }
                running_job.n_said += 1;
                let printed = self.jobs.executor.directory(running_job.place).and_then(live::read);
                let line = printed.as_deref().and_then(live::last_line);
                let line = line.map_or(String::new(), |line| {
                    format!(" The last line of its output: `{}`.", Terminal.line(&Untrusted::from(line)))
                });
                self.talk.say(&format!("It has run for {}.{line}", text::duration(time.as_secs_f64())));
            }
        }
    }

    /// The failure of a test that reads tracked files of the user.
    fn leak(&mut self) -> Option<Failure> {
        let executions = self.answers.observations().executions().filter(|_| self.user.can_leak)?;
        let n_before = mem::replace(&mut self.user.n_opened, executions.opened().len());
        if n_before == self.user.n_opened {
            return None;
        }
        leak::leak(&executions, &self.root, &self.plan.held, &self.location, &self.commands.environment)
    }

    /// Ends all probes, and waits for them.
    pub fn collect_all(&mut self) -> Result<(), RunnerError> {
        self.cancel(|_| true);
        while !self.jobs.running.is_empty() {
            self.collect()?;
        }
        Ok(())
    }
}

/// Whether it is time for the next sentence about a run: after a minute, two minutes, four, and so on.
fn is_time_to_speak(time: Duration, n_said: u32) -> bool {
    time.as_secs() / 60 >= 1_u64.checked_shl(n_said).unwrap_or(u64::MAX)
}

/// The probe for people who watch the hunt.
fn about(probe: &Probe) -> AboutRecord {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    AboutRecord {
        phase: probe.phase.word().to_owned(),
        revision: probe.revision,
        started_at_unix: i64::try_from(now.as_secs()).unwrap_or(i64::MAX),
    }
}

/// Writes the process group of a running command into the journal, and what it prints beside its checkout.
struct Journalled {
    sequence: u64,
    /// The checkout; `None` on another machine.
    directory: Option<PathBuf>,
    executions: Option<Arc<ExecutedPrograms>>,
    watches_files: bool,
    segment: Arc<Mutex<JournalSegment>>,
    /// The interrupt of the user, and that of this probe alone.
    interrupts: [Arc<AtomicBool>; 2],
    /// See [`RunnerStart::reader`](super::RunnerStart::reader).
    reader: Thread,
}

impl CommandWatch for Journalled {
    fn executions(&self) -> Option<Arc<ExecutedPrograms>> {
        self.executions.clone()
    }

    fn watches_files(&self) -> bool {
        self.watches_files
    }

    fn starting(&mut self) {
        self.reader.unpark();
    }

    fn started(&mut self, group: ProcessGroup) {
        let record = Record::Started { sequence: self.sequence, pid: group.pid, start_time: group.start_time };
        // A full disk shows again when the observation is written, which stops the hunt.
        let _ = self.segment.lock().unwrap_or_else(PoisonError::into_inner).append(&record);
        self.directory.iter().for_each(|directory| live::clear(directory));
    }

    fn printed(&self, tail: &dyn Fn() -> Vec<u8>) {
        self.directory.iter().for_each(|directory| live::write(directory, &tail()));
    }

    fn is_interrupted(&self) -> bool {
        // It is run again, without being watched.
        let ends = |executions: &Arc<ExecutedPrograms>| executions.is_harmful() || executions.is_leaking();
        let is_ended = self.executions.as_ref().is_some_and(ends);
        is_ended || self.interrupts.iter().any(|interrupt| interrupt.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_is_spoken_of_after_one_two_and_four_minutes() {
        let mut spoken = Vec::new();
        for seconds in 0..=500 {
            let n_said = u32::try_from(spoken.len()).unwrap();
            if is_time_to_speak(Duration::from_secs(seconds), n_said) {
                spoken.push(seconds);
            }
        }
        assert_eq!(spoken, [60, 120, 240, 480]);
    }
}
