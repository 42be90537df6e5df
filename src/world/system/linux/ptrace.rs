//! Traces processes: their signals, registers and memory.
//!
//! Source: `ptrace(2)`, `proc_pid_maps(5)`.

use std::fs::File;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::{fs, io, mem};

use crate::system::mapping::Mapping;

/// Lets the parent trace this process; a child calls it before it executes a program, so it makes only a system call.
#[expect(unsafe_code, reason = "there is no safe interface for `ptrace`")]
pub fn be_traced() -> io::Result<()> {
    // SAFETY: it has only numbers.
    match unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The process of a thread.
pub fn process_of_thread(thread: i32) -> Option<i32> {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok())
}

/// The files in the memory of a thread.
pub fn mappings(thread: i32) -> Option<Vec<Mapping>> {
    let maps = fs::read(format!("/proc/{thread}/maps")).ok()?;
    Some(String::from_utf8_lossy(&maps).lines().filter_map(mapping).collect())
}

/// Reads a line of `/proc/<pid>/maps`; `None` if it names no file.
fn mapping(line: &str) -> Option<Mapping> {
    // No field before it has a slash.
    let file = &line[line.find('/')?..];
    let mut fields = line.split_ascii_whitespace();
    let (from, to) = fields.next()?.split_once('-')?;
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let (rights, offset) = (fields.next()?, fields.next()?);
    let (from, to, offset) = (number(from)?, number(to)?, number(offset)?);
    Some(Mapping { from, to, offset, is_code: rights.contains('x'), file: file.into() })
}

/// The memory of a thread, by address.
pub fn memory_of(thread: i32) -> Option<File> {
    File::open(format!("/proc/{thread}/mem")).ok()
}

#[cfg(target_arch = "x86_64")]
fn pointers(registers: &libc::user_regs_struct) -> (u64, u64, u64) {
    (registers.rip, registers.rsp, registers.rbp)
}

#[cfg(target_arch = "aarch64")]
fn pointers(registers: &libc::user_regs_struct) -> (u64, u64, u64) {
    (registers.pc, registers.sp, registers.regs[29])
}

/// The addresses of the instruction, of the stack and of the frame; `None` if the thread is gone, or of another kind than this
/// program.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[expect(unsafe_code, reason = "there is no safe interface for `ptrace`")]
pub fn registers(thread: i32) -> Option<(u64, u64, u64)> {
    /// The general registers.
    const PRSTATUS: usize = 1;
    // SAFETY: the kernel fills at most the length that is given.
    unsafe {
        let mut registers: libc::user_regs_struct = mem::zeroed();
        let mut part = libc::iovec { iov_base: (&raw mut registers).cast(), iov_len: size_of_val(&registers) };
        let done = libc::ptrace(libc::PTRACE_GETREGSET, thread, PRSTATUS, &raw mut part);
        (done == 0 && part.iov_len == size_of_val(&registers)).then(|| pointers(&registers))
    }
}

/// No register is known on this machine.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn registers(_: i32) -> Option<(u64, u64, u64)> {
    None
}

/// From now on, the descendants of a traced process are traced too, and end with this one.
#[expect(unsafe_code, reason = "there is no safe interface for `ptrace`")]
pub fn follow_descendants(thread: i32) -> io::Result<()> {
    let options = libc::PTRACE_O_EXITKILL
        | libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_TRACEVFORK
        | libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEEXEC;
    // SAFETY: it has only numbers.
    match unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, thread, 0, options) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Lets a stopped thread run on, with a signal or 0 for none. It may have been killed in the meantime.
#[expect(unsafe_code, reason = "there is no safe interface for `ptrace`")]
pub fn continue_with(thread: i32, signal: i32) {
    // SAFETY: it has only numbers.
    unsafe { libc::ptrace(libc::PTRACE_CONT, thread, 0, signal) };
}

/// Waits until some thread stops or ends.
#[expect(unsafe_code, reason = "the safe interface cannot wait for threads of other processes")]
pub fn wait_for_any() -> io::Result<(i32, ExitStatus)> {
    loop {
        let mut status = 0;
        // SAFETY: the kernel writes one number.
        let thread = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL) };
        if thread > 0 {
            return Ok((thread, ExitStatus::from_raw(status)));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_process_table_gives_the_file_at_an_address() {
        let line = "55d0c0001000-55d0c0002000 r-xp 00001000 fd:00 1234     /w/a b/p";
        let expected = Mapping {
            from: 0x55d0_c000_1000,
            to: 0x55d0_c000_2000,
            offset: 0x1000,
            is_code: true,
            file: "/w/a b/p".into(),
        };
        assert_eq!(mapping(line), Some(expected));
        assert_eq!(mapping("7ffd0-7ffd1 rw-p 00000000 00:00 0     [stack]"), None);
    }
}
