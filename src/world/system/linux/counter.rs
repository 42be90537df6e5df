//! Counts the instructions of a command.
//!
//! The counter belongs to the thread that opens it, and is off. A child of this thread inherits it; it is switched on when the
//! child executes a program, and its descendants inherit it in this state. So nothing of this process is counted. When a
//! process ends, its count is added to that of the thread.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::FromRawFd as _;

/// The first version of the argument of `perf_event_open`, which all later kernels take.
#[repr(C)]
#[derive(Clone, Copy)]
struct CounterAttributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

const HARDWARE: u32 = 0;
const INSTRUCTIONS: u64 = 1;

/// Together with the count, the times during which the event was on, and during which it was counted.
const TIMES: u64 = 1 | 2;

const DISABLED: u64 = 1;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const ENABLE_ON_EXEC: u64 = 1 << 12;

/// The flag of the system call: no program inherits the descriptor.
const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;

/// A counter for the commands that this thread starts.
#[derive(Debug)]
pub struct InstructionCounter(File);

impl InstructionCounter {
    /// Counts instructions in user space.
    ///
    /// Errors: the processor, or the virtual machine, has no such counter (`ENOENT`, `EOPNOTSUPP`), or its use is not
    /// allowed (`EACCES`, `EPERM`; see `/proc/sys/kernel/perf_event_paranoid`).
    pub fn of_instructions() -> io::Result<Self> {
        Self::open(HARDWARE, INSTRUCTIONS)
    }

    #[expect(unsafe_code, reason = "there is no safe interface for this system call")]
    fn open(kind: u32, config: u64) -> io::Result<Self> {
        let attributes = CounterAttributes {
            kind,
            size: u32::try_from(size_of::<CounterAttributes>()).unwrap_or(0),
            config,
            sample_period: 0,
            sample_type: 0,
            read_format: TIMES,
            flags: DISABLED | INHERIT | EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR | ENABLE_ON_EXEC,
            wakeup_events: 0,
            breakpoint_type: 0,
            config1: 0,
        };
        let (this_thread, any_processor, no_group): (libc::pid_t, libc::c_int, libc::c_int) = (0, -1, -1);
        // SAFETY: the kernel reads the attributes, whose size is in them; the other arguments are numbers.
        let descriptor = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                this_thread,
                any_processor,
                no_group,
                CLOSE_ON_EXEC,
            )
        };
        let descriptor = libc::c_int::try_from(descriptor).unwrap_or(-1);
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it was just opened, and nothing else owns it.
        Ok(Self(unsafe { File::from_raw_fd(descriptor) }))
    }

    /// The count of all commands that this thread has started since; call it when they have ended.
    ///
    /// If the processor had to share its counters, the count is scaled to the whole time.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a scaled count is no exact number"
    )]
    pub fn count(&mut self) -> io::Result<u64> {
        let mut bytes = [0; 3 * size_of::<u64>()];
        self.0.read_exact(&mut bytes)?;
        let mut numbers = [0; 3];
        for (number, bytes) in numbers.iter_mut().zip(bytes.chunks_exact(size_of::<u64>())) {
            *number = u64::from_ne_bytes(bytes.try_into().unwrap_or_default());
        }
        let [count, time_on, time_counted] = numbers;
        if time_counted == 0 || time_counted == time_on {
            return Ok(count);
        }
        Ok((count as f64 * (time_on as f64 / time_counted as f64)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::{launch, wait_with_usage};
    use std::path::Path;

    const SOFTWARE: u32 = 1;
    const TASK_CLOCK: u64 = 1;

    /// Processor time in nanoseconds, by the same mechanism as instructions, of a command with a child.
    fn counted(line: &str) -> Option<u64> {
        let mut counter = InstructionCounter::open(SOFTWARE, TASK_CLOCK).ok()?;
        let (_reader, writer) = io::pipe().unwrap();
        let words = ["/bin/sh", "-c", line].map(std::ffi::OsStr::new);
        let child = launch(&words, Path::new("/"), &[], &writer, None, None).unwrap();
        wait_with_usage(child).unwrap();
        Some(counter.count().unwrap())
    }

    #[test]
    #[expect(clippy::print_stderr, reason = "a test that tests nothing says so")]
    fn a_counter_counts_descendants_and_not_this_process() {
        let Some(idle) = counted("exit 0") else {
            eprintln!("this kernel has no counters at all: nothing is tested");
            return;
        };
        // Work of this process between the opening and the reading does not count.
        let busy = counted("(i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done); exit 0").unwrap();
        assert!(busy > 20_000_000 && idle < busy / 4, "{busy} {idle}");
    }

    #[test]
    fn a_refusal_is_an_error_of_the_system() {
        if let Err(error) = InstructionCounter::of_instructions() {
            assert!(error.raw_os_error().is_some(), "{error}");
        }
        assert!(InstructionCounter::open(u32::MAX, 0).is_err());
    }
}
