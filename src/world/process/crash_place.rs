//! Runs a program under `ptrace`, and says at which instructions its processes crash.
//!
//! Many programs die of a signal without a message. The instruction distinguishes two crashes of one program. It is
//! given relative to its file, because the system loads files at random addresses. An instruction of a library of the
//! system says little: the same faulty call crashes at different instructions of `memcpy`, and all calls of `abort` at
//! one. So the place is then the return address of the call that led there.
//!
//! Source: `ptrace(2)`, `proc_pid_maps(5)`.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::{fmt, io};

use crate::process::command::start_traced;
use crate::process::symbols::function_at;
use crate::system;
use crate::system::mapping::Mapping;

/// The signals of a crash.
const CRASHES: [i32; 7] =
    [libc::SIGILL, libc::SIGTRAP, libc::SIGABRT, libc::SIGBUS, libc::SIGFPE, libc::SIGSEGV, libc::SIGSYS];

/// Bytes of the stack in which a call into a library is searched.
const MAX_STACK: usize = 64 << 10;

/// The number of calls of which a place consists, at most.
const MAX_FRAMES: usize = 4;

/// The directories of libraries of the system.
const OF_SYSTEM: [&str; 4] = ["/lib", "/usr/lib", "/usr/local/lib", "/nix/store"];

/// The longest instruction of a call, in bytes.
const MAX_CALL: usize = 7;

/// The beginning of the line for a crash.
pub const MARK: &str = "git-idd: crashed at ";

/// An instruction in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionPlace {
    /// The name of the file, without blanks and commas.
    pub file: String,
    /// Its offset in the file.
    pub offset: u64,
    /// The function that it is in, if the file names it.
    pub function: Option<String>,
}

impl fmt::Display for InstructionPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{:#x}", self.file, self.offset)?;
        self.function.as_ref().map_or(Ok(()), |function| write!(f, " ({function})"))
    }
}

/// A crash of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessCrash {
    /// The signal that ended it.
    pub signal: i32,
    /// The instruction, or the return address of the call into the library that has it.
    pub place: Option<InstructionPlace>,
    /// Return addresses of calls that led there, the nearest one first; empty for code without frame pointers.
    pub calls: Vec<InstructionPlace>,
}

impl fmt::Display for ProcessCrash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{MARK}{place}, signal {}", self.signal)?,
            None => write!(f, "{MARK}?, signal {}", self.signal)?,
        }
        self.calls.iter().try_for_each(|call| write!(f, ", called from {call}"))
    }
}

/// Runs a program with our streams, and returns how it ended and which of its processes crashed, in this order. When it
/// has ended, processes that it leaves are killed.
///
/// Errors: the program cannot be started, or the system permits no `ptrace`.
pub fn locate(program: &OsStr, words: &[&OsStr]) -> io::Result<(ExitStatus, Vec<ProcessCrash>)> {
    let root = start_traced(program, words)?;
    Tracer { root: root.as_raw_pid(), known: HashSet::new(), last: HashMap::new(), crashes: Vec::new() }.follow()
}

/// Ends this process as another one ended.
pub fn end_as(status: ExitStatus) -> i32 {
    if let Some(signal) = status.signal() {
        #[expect(unsafe_code, reason = "there is no safe interface for the handler of a signal")]
        // SAFETY: it only restores the default actions and limits of this process.
        unsafe {
            let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
        return 128 + signal;
    }
    status.code().unwrap_or(1)
}

struct Tracer {
    root: i32,
    /// The threads whose first stop was seen.
    known: HashSet<i32>,
    /// The last signal of a crash in each process, which it may survive.
    last: HashMap<i32, ProcessCrash>,
    crashes: Vec<ProcessCrash>,
}

impl Tracer {
    fn follow(mut self) -> io::Result<(ExitStatus, Vec<ProcessCrash>)> {
        loop {
            let (thread, status) = system::wait_for_any()?;
            let Some(signal) = status.stopped_signal() else {
                let crash = self.last.remove(&thread);
                self.crashes.extend(crash.filter(|crash| status.signal() == Some(crash.signal)));
                if thread == self.root {
                    return Ok((status, self.crashes));
                }
                continue;
            };
            let is_first = self.known.insert(thread);
            let is_event = status.into_raw() >> 16 != 0;
            let passed_on = if is_first && thread == self.root {
                system::follow_descendants(thread)?;
                0
            } else if is_event || (is_first && signal == libc::SIGSTOP) {
                0
            } else {
                signal
            };
            if CRASHES.contains(&passed_on) {
                self.note(thread, passed_on);
            }
            // It may have been killed in the meantime.
            system::continue_with(thread, passed_on);
        }
    }

    fn note(&mut self, thread: i32, signal: i32) {
        let process = system::process_of_thread(thread).unwrap_or(thread);
        let (place, calls) = ThreadState::read(thread).map(|state| state.place()).unwrap_or_default();
        self.last.insert(process, ProcessCrash { signal, place, calls });
    }
}

/// Whether a file belongs to the libraries of the system.
fn is_of_system(mapping: &Mapping) -> bool {
    OF_SYSTEM.iter().any(|directory| mapping.file.starts_with(directory))
}

/// The place of an address that is in the mapping.
fn place_in(mapping: &Mapping, address: u64) -> InstructionPlace {
    let name = mapping.file.file_name().unwrap_or_default().to_string_lossy();
    // The line of a crash has words between blanks.
    let clean = |name: &str| name.replace(|letter: char| letter.is_whitespace() || letter == ',', "_");
    let offset = address - mapping.from + mapping.offset;
    InstructionPlace {
        file: clean(&name),
        offset,
        function: function_at(&mapping.file, offset).map(|name| clean(&name)),
    }
}

/// The state of a stopped thread.
struct ThreadState {
    instruction: u64,
    stack: u64,
    frame: u64,
    mappings: Vec<Mapping>,
    memory: File,
}

impl ThreadState {
    fn read(thread: i32) -> Option<Self> {
        let (instruction, stack, frame) = system::registers(thread)?;
        let (mappings, memory) = (system::mappings(thread)?, system::memory_of(thread)?);
        Some(Self { instruction, stack, frame, mappings, memory })
    }

    fn code_at(&self, address: u64) -> Option<&Mapping> {
        self.mappings.iter().find(|mapping| mapping.is_code && (mapping.from..mapping.to).contains(&address))
    }

    /// The place of the crash, and the calls that led there.
    fn place(&self) -> (Option<InstructionPlace>, Vec<InstructionPlace>) {
        let here = self.code_at(self.instruction);
        let place = match here {
            Some(mapping) if !is_of_system(mapping) => Some(place_in(mapping, self.instruction)),
            // A call of a null pointer is in no file.
            _ => self.caller().or_else(|| here.map(|mapping| place_in(mapping, self.instruction))),
        };
        (place, self.calls())
    }

    /// The return addresses in the frames, as far as they are linked by pointers.
    fn calls(&self) -> Vec<InstructionPlace> {
        let mut calls = Vec::new();
        let (mut frame, mut below) = (self.frame, self.stack);
        let mut words = [0; 16];
        while calls.len() < MAX_FRAMES
            && frame >= below
            && frame - below < MAX_STACK as u64
            && self.memory.read_at(&mut words, frame).ok() == Some(words.len())
        {
            let word = |at: usize| u64::from_ne_bytes(words[at..at + 8].try_into().expect("eight bytes"));
            let (next, address) = (word(0), word(8));
            let Some(mapping) = self.code_at(address).filter(|_| self.is_after_call(address)) else { break };
            if !is_of_system(mapping) {
                calls.push(place_in(mapping, address));
            }
            (below, frame) = (frame + 16, next);
        }
        calls
    }

    /// The word nearest to the top of the stack that can be a return address into the program. It can be of a call that
    /// has returned.
    fn caller(&self) -> Option<InstructionPlace> {
        let mut bytes = vec![0; MAX_STACK];
        // Less is read at the end of the stack.
        let n_read = self.memory.read_at(&mut bytes, self.stack).unwrap_or(0);
        bytes[..n_read].chunks_exact(8).find_map(|word| {
            let word = u64::from_ne_bytes(word.try_into().expect("eight bytes"));
            let mapping = self.code_at(word).filter(|mapping| !is_of_system(mapping))?;
            self.is_after_call(word).then(|| place_in(mapping, word))
        })
    }

    /// Whether an instruction of a call is before an address.
    fn is_after_call(&self, address: u64) -> bool {
        let mut before = [0; MAX_CALL];
        if self.memory.read_at(&mut before, address - MAX_CALL as u64).ok() != Some(MAX_CALL) {
            return false;
        }
        if cfg!(target_arch = "x86_64") {
            // A relative call, or an indirect one of two to seven bytes.
            let is_indirect = |length: usize| {
                let at = MAX_CALL - length;
                before[at] == 0xff && before[at + 1] >> 3 & 7 == 2
            };
            before[MAX_CALL - 5] == 0xe8 || (2..=MAX_CALL).any(is_indirect)
        } else {
            // `bl` and `blr`.
            let word = u32::from_le_bytes([before[3], before[4], before[5], before[6]]);
            word >> 26 == 0b10_0101 || word & 0xffff_fc1f == 0xd63f_0000
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_crash_is_a_line_that_names_file_offset_signal_and_calls() {
        let place = |name: &str, offset, function: Option<&str>| InstructionPlace {
            file: name.to_owned(),
            offset,
            function: function.map(str::to_owned),
        };
        let crash = ProcessCrash {
            signal: 11,
            place: Some(place("p", 0x1139, None)),
            calls: vec![place("p", 0x1180, Some("main"))],
        };
        assert_eq!(crash.to_string(), "git-idd: crashed at p+0x1139, signal 11, called from p+0x1180 (main)");
        let unknown = ProcessCrash { signal: 6, place: None, calls: Vec::new() };
        assert_eq!(unknown.to_string(), "git-idd: crashed at ?, signal 6");
    }

    #[test]
    fn an_address_in_a_mapped_file_is_told_as_its_place_there() {
        let mapping =
            Mapping { from: 0x1000, to: 0x2000, offset: 0x400, is_code: true, file: PathBuf::from("/w/a b/p q") };
        assert_eq!(place_in(&mapping, 0x1139).to_string(), "p_q+0x539");
    }

    #[test]
    fn the_processes_of_a_program_that_crash_are_found_and_it_ends_as_without_a_tracer() {
        let run = |line: &str| locate(OsStr::new("/bin/sh"), &[OsStr::new("-c"), OsStr::new(line)]).unwrap();
        let (status, crashes) = run("sh -c 'kill -SEGV $$'; exit 3");
        assert_eq!((status.code(), crashes.iter().map(|crash| crash.signal).collect::<Vec<_>>()), (Some(3), vec![11]));
        let (status, crashes) = run("kill -FPE $$");
        assert_eq!((status.signal(), crashes.len()), (Some(8), 1));
        let (status, crashes) = run("trap 'exit 4' SEGV; kill -SEGV $$; (sleep 1000 &); exit 5");
        assert_eq!((status.code(), crashes), (Some(4), Vec::new()));
        assert!(locate(OsStr::new("/no/such/program"), &[]).is_err());
    }
}
