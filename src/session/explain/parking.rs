//! The failing program, run by the test and parked before its first segment while it is asked.

use crate::explain::forks::{self, ForkServer};
use crate::explain::model::{Explainer, ending_of, interrupted};
use crate::explain::sides::{TargetProcess, is_same};
use crate::{Failure, Interrupt};
use idd_explain::failure::RunEnding;
use idd_trace::container::is_stopped;
use idd_trace::native::NativePlayer;
use idd_trace::native::assemble::assemble;
use idd_trace::{Trace, TracedProcess};
use idd_world::files;
use idd_world::process::{CommandWatch, ProcessGroup};
use idd_world::record::build::BuildDirectory;
use idd_world::record::control::{ForkReply, ForkTest, ParkControl, Parked, process_of};
use idd_world::record::listen::TakenTrace;
use idd_world::record::store;
use idd_world::run::sandbox::{Commands, ProbeJob, Sandbox};
use std::ffi::OsString;
use std::io::Cursor;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long the build and the run up to the failing process may take at the most before it is given up.
const START_LIMIT: Duration = Duration::from_secs(60 * 60);

/// A whole run in a fork.
pub(super) struct ForkedRun {
    pub(super) player: NativePlayer,
    pub(super) ending: RunEnding,
    /// What the fork told, without its records.
    pub(super) reply: ForkReply,
    /// Bytes of its records.
    pub(super) n_bytes: u64,
}

impl Explainer<'_> {
    /// The directory below which forks may write.
    pub(super) fn scratch(&self) -> Result<PathBuf, Failure> {
        let scratch = self.root.join("scratch");
        files::make_private(&scratch)?;
        Ok(scratch)
    }

    /// Runs the test up to the process that is meant, and has it asked while it is parked before its first segment; then the test is ended.
    pub(super) fn while_parked<T>(
        &self,
        sandbox: &mut Sandbox,
        job: &ProbeJob,
        meant: &TargetProcess,
        commands: impl FnOnce(Vec<(OsString, OsString)>) -> Result<Commands, Failure>,
        ask: impl FnOnce(ForkServer, TracedProcess) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let control = ParkControl::new(&self.root.join("control"))?;
        let commands = commands(control.variables_at_start(&self.scratch()?))?;
        let is_over = Arc::new(AtomicBool::new(false));
        let is_held = Arc::new(AtomicBool::new(false));
        let mut watch = EndOfTest {
            interrupt: self.interrupt.clone(),
            is_over: Arc::clone(&is_over),
            is_held: Arc::clone(&is_held),
        };
        thread::scope(|scope| {
            let running = scope.spawn(|| sandbox.observe(job, &commands, &mut watch));
            let parked = self.parked(&control, &meant.process, meant.n_before, &running);
            // The test may kill the program and end, but not its copy.
            is_held.store(true, Ordering::Relaxed);
            let told = parked
                .and_then(|(parked, process)| ask(ForkServer::new(control, parked, self.interrupt.clone()), process));
            is_over.store(true, Ordering::Relaxed);
            drop(running.join());
            // With the test its processes are ended, so that nobody answers any more. What was found by then is told.
            if self.interrupt.is_interrupted() { told.map_err(|_| interrupted()) } else { told }
        })
    }

    /// Waits for the process that is meant; others go on.
    pub(super) fn parked<T>(
        &self,
        control: &ParkControl,
        wanted: &TracedProcess,
        n_before: usize,
        running: &thread::ScopedJoinHandle<'_, T>,
    ) -> Result<(Parked, TracedProcess), Failure> {
        let begin = Instant::now();
        let mut n_same = 0;
        loop {
            if self.interrupt.is_interrupted() {
                return Err(interrupted());
            }
            let parked = control.wait_at_most(Duration::from_millis(50), &|| false)?;
            let Some(parked) = parked else {
                let is_over = running.is_finished() || begin.elapsed() > START_LIMIT;
                // The signal may have ended the test first.
                if is_over && !self.interrupt.is_interrupted() {
                    return Err(Failure::error("in a second run, the test did not start the failing program")
                        .with_hint("its runs differ, so no experiment is possible"));
                }
                continue;
            };
            let process = process_of(parked.pid);
            if is_same(&process, wanted) {
                if n_same == n_before {
                    return Ok((parked, process));
                }
                n_same += 1;
            }
            parked.go()?;
        }
    }

    /// A whole run, as a fork of the parked process tells it.
    pub(super) fn fork(
        &self,
        build: &BuildDirectory,
        server: &mut ForkServer,
        process: &TracedProcess,
        test: &ForkTest,
    ) -> Result<ForkedRun, Failure> {
        let place = self.root.join("park");
        let units = store::take_maps(&build.path, &place)?;
        let mut reply = server.start().test(test).map_err(|error| forks::failure(&error))?;
        let ending = forks::ending(reply.ended).ok_or_else(|| {
            Failure::error("the failing program cannot be forked here")
                .with_hint("its forks are confined by Landlock, which this kernel does not have or does not allow")
        })?;
        let globals = server.start().globals()?;
        let mut units_of = store::units_at(&place, &units);
        let records = std::mem::take(&mut reply.records);
        let n_bytes = records.len() as u64;
        let bytes = assemble(process, &globals, &records, &mut units_of)?;
        let trace = Trace::open(Box::new(Cursor::new(bytes)))?;
        let player = NativePlayer::new(trace, store::units_at(&place, &units))?;
        Ok(ForkedRun { player, ending, reply, n_bytes })
    }
}

impl ForkedRun {
    /// Compares it with the same program as the test ran it. It has no files to write to but those of the checkout, and no threads but one.
    ///
    /// Errors: it ended otherwise. What it says then is told of no run that the test had.
    pub(super) fn compared(&self, taken: &TakenTrace) -> Result<Option<String>, Failure> {
        let is_partial = taken.is_cut || taken.is_lost || taken.is_left;
        if is_partial || (is_stopped(taken.end) && self.ending == RunEnding::Endless) {
            return Ok(None);
        }
        if ending_of(taken.end) != self.ending {
            return Err(Failure::error(
                "in a fork, the failing program ends differently than in the test: it writes outside of its checkout, \
                 has several threads, or differs from run to run",
            )
            .with_hint("`git idd record` and `git idd trace` show what it does in the test"));
        }
        // A stack is full a call sooner or later.
        let (ours, theirs) = (self.n_bytes, taken.n_bytes);
        Ok((ours.abs_diff(theirs) > theirs / 1000).then(|| {
            format!(
                "in a fork, the failing program took another path than in the test ({ours} bytes of records, in \
                     the test {theirs}): the explanation may not fit the test"
            )
        }))
    }
}

/// Ends the test when everything was asked.
pub(super) struct EndOfTest {
    pub(super) interrupt: Interrupt,
    pub(super) is_over: Arc<AtomicBool>,
    /// Whether processes of the test are still needed when it has ended.
    pub(super) is_held: Arc<AtomicBool>,
}

impl CommandWatch for EndOfTest {
    fn started(&mut self, _group: ProcessGroup) {}

    fn is_interrupted(&self) -> bool {
        self.interrupt.is_interrupted() || self.is_over.load(Ordering::Relaxed)
    }

    fn is_held(&self) -> bool {
        self.is_held.load(Ordering::Relaxed)
    }
}
