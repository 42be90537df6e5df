//! Follows a running command: its output and its end, without a busy loop.

use std::io::{ErrorKind, PipeReader, Read};
use std::os::fd::OwnedFd;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions};

use crate::process::command::CommandWatch;
use crate::process::output::{BoundedOutput, MAX_END_BYTES};
use crate::system;

/// The maximum delay of an interrupt.
const INTERRUPT_PERIOD: Duration = Duration::from_millis(50);
/// The interval at which ended orphans are reaped.
const TIDY_PERIOD: Duration = Duration::from_secs(1);
/// The interval of checks if the kernel cannot report the end of a process.
const FALLBACK_PERIOD: Duration = Duration::from_millis(5);
/// The maximum time for a killed command to die.
const MAX_DYING: Duration = Duration::from_secs(5);
/// The maximum size of a pipe for an unprivileged user, and so of the unread output at the end.
const MAX_PIPE_BYTES: usize = 1024 * 1024;
const CHUNK_BYTES: usize = 64 * 1024;

/// Why a command did not end by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopReason {
    Limit,
    Interrupt,
}

/// The two events to wait for: output, and the end of the first process.
pub(super) struct ProcessStream {
    /// `None` once all writers have closed it.
    reader: Option<PipeReader>,
    pid: Pid,
    /// Readable once the process has ended; `None` on a kernel without such handles.
    handle: Option<OwnedFd>,
    output: BoundedOutput,
    chunk: Vec<u8>,
}

impl ProcessStream {
    /// Prepares to follow the unreaped child `pid`, whose output comes through `reader`, a pipe that does not block.
    pub(super) fn new(reader: PipeReader, pid: Pid) -> Self {
        let handle = system::end_of(pid);
        Self { reader: Some(reader), pid, handle, output: BoundedOutput::default(), chunk: vec![0; CHUNK_BYTES] }
    }

    /// Collects output until the process has ended (`None`) or must be killed.
    ///
    /// - `tidy`: called about once in [`TIDY_PERIOD`] meanwhile.
    pub(super) fn follow(
        &mut self,
        begin: Instant,
        limit: Duration,
        watch: &dyn CommandWatch,
        tidy: &dyn Fn(),
    ) -> Option<StopReason> {
        let mut tidied = Instant::now();
        let mut has_new = false;
        loop {
            if tidied.elapsed() > TIDY_PERIOD {
                tidy();
                if std::mem::take(&mut has_new) {
                    watch.printed(&|| self.output.end(MAX_END_BYTES));
                }
                tidied = Instant::now();
            }
            let has_ended = self.has_ended();
            if has_ended && !watch.is_held() {
                return None;
            }
            if watch.is_interrupted() {
                return Some(StopReason::Interrupt);
            }
            let left = limit.saturating_sub(begin.elapsed());
            if left.is_zero() {
                return Some(StopReason::Limit);
            }
            let period = left.min(INTERRUPT_PERIOD);
            if has_ended {
                thread::sleep(period);
            } else {
                self.wait(period);
            }
            has_new |= self.read() > 0;
        }
    }

    /// Whether the process has ended; it is not reaped yet.
    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // An error means that there is no such child any more.
        !matches!(rustix::process::waitid(WaitId::Pid(self.pid), options), Ok(None) | Err(Errno::INTR))
    }

    /// Sleeps until there is something to read, the process has ended, or `period` is over.
    fn wait(&self, period: Duration) {
        let period = if self.handle.is_some() { period } else { period.min(FALLBACK_PERIOD) };
        let timeout = Timespec { tv_sec: 0, tv_nsec: period.subsec_nanos().into() };
        let reader = self.reader.iter().map(|reader| PollFd::new(reader, PollFlags::IN));
        let handle = self.handle.iter().map(|handle| PollFd::new(handle, PollFlags::IN));
        let mut watched: Vec<PollFd<'_>> = reader.chain(handle).collect();
        match rustix::event::poll(&mut watched, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => thread::sleep(period.min(FALLBACK_PERIOD)),
        }
    }

    /// Reads available output, at most one chunk; returns its size.
    fn read(&mut self) -> usize {
        let Some(reader) = &mut self.reader else { return 0 };
        match reader.read(&mut self.chunk) {
            Ok(n_read @ 1..) => {
                self.output.push(&self.chunk[..n_read]);
                n_read
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => 0,
            Ok(0) | Err(_) => {
                self.reader = None;
                0
            }
        }
    }

    /// Reads the output from before the kill; does not wait, and ignores a writer that survived.
    pub(super) fn drain(&mut self) {
        let mut n_bytes = 0;
        while n_bytes < MAX_PIPE_BYTES {
            match self.read() {
                0 => break,
                n_read => n_bytes += n_read,
            }
        }
    }

    /// Waits for a killed process; `false` if it cannot be killed (it belongs to another user now, or the kernel
    /// hangs).
    pub(super) fn wait_for_death(&mut self) -> bool {
        let begin = Instant::now();
        while !self.has_ended() {
            if begin.elapsed() > MAX_DYING {
                return false;
            }
            self.wait(INTERRUPT_PERIOD);
            self.read();
        }
        true
    }

    /// The whole output, bounded.
    pub(super) fn finish(self) -> Vec<u8> {
        self.output.finish()
    }

    /// For tests: as on a kernel without process handles.
    #[cfg(test)]
    pub(super) fn without_handle(self) -> Self {
        Self { handle: None, ..self }
    }
}
