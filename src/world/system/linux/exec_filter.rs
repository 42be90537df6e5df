//! A filter with which the kernel asks before a process of a test executes a program, and on request before it opens or changes a file.
//!
//! The first process of a command installs a filter on itself, which all its descendants inherit. From then on each
//! `execve` of theirs waits until the holder of the listener permits it. All other system calls keep their speed. Other
//! methods change the behaviour of tests: under `ptrace` the leak checker of sanitizers refuses to work; their shared
//! runtime refuses a preloaded library; and a directory of wrappers in `PATH` is visible to a configure script.
//!
//! A process can have only one such filter, so a test that installs one itself cannot be watched. Without privileges,
//! the filter disables the rights of setuid programs; see [`ExecListener::takes_privileges`].
//!
//! Source: `seccomp(2)`, `seccomp_unotify(2)`.

use std::ffi::OsString;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStringExt as _;
use std::{io, mem, ptr};

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use crate::system::observer::{FileAccess, WatchedCalls};

/// The kernel's number of this program's architecture, for filters; `None` if the filter does not support it.
const ARCHITECTURE: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xc000_003e)
} else if cfg!(target_arch = "aarch64") {
    Some(0xc000_00b7)
} else {
    None
};

/// A call on a file.
struct FileCall {
    number: i64,
    /// The paths among the arguments.
    paths: &'static [PathArgument],
    /// The argument with the flags of a call that opens the file.
    flags: Option<usize>,
}

/// A path among the arguments of a call.
struct PathArgument {
    /// The argument with the directory to which it is relative; `None` for the current one.
    directory: Option<usize>,
    path: usize,
    access: FileAccess,
}

const fn below(directory: usize, access: FileAccess) -> PathArgument {
    PathArgument { directory: Some(directory), path: directory + 1, access }
}

const fn here(path: usize, access: FileAccess) -> PathArgument {
    PathArgument { directory: None, path, access }
}

impl FileCall {
    const fn new(number: i64, paths: &'static [PathArgument]) -> Self {
        Self { number, paths, flags: None }
    }

    fn needs(&self) -> WatchedCalls {
        let is_look = self.paths.iter().all(|path| path.access == FileAccess::Look);
        if is_look { WatchedCalls::Looks } else { WatchedCalls::Files }
    }
}

/// The calls on files that are watched.
const FILE_CALLS: &[FileCall] = {
    use FileAccess::{Change, Look, Make, Read, Write};
    &[
        FileCall { flags: Some(2), ..FileCall::new(libc::SYS_openat, &[below(0, Read)]) },
        FileCall::new(libc::SYS_openat2, &[below(0, Read)]),
        FileCall::new(libc::SYS_mkdirat, &[below(0, Make)]),
        FileCall::new(libc::SYS_mknodat, &[below(0, Make)]),
        FileCall::new(libc::SYS_symlinkat, &[below(1, Make)]),
        FileCall::new(libc::SYS_linkat, &[below(2, Make)]),
        FileCall::new(libc::SYS_unlinkat, &[below(0, Change)]),
        FileCall::new(libc::SYS_renameat2, &[below(0, Change), below(2, Write)]),
        FileCall::new(libc::SYS_fchmodat, &[below(0, Change)]),
        FileCall::new(libc::SYS_fchmodat2, &[below(0, Change)]),
        FileCall::new(libc::SYS_fchownat, &[below(0, Change)]),
        FileCall::new(libc::SYS_utimensat, &[below(0, Change)]),
        FileCall::new(libc::SYS_truncate, &[here(0, Change)]),
        FileCall::new(libc::SYS_setxattr, &[here(0, Change)]),
        FileCall::new(libc::SYS_newfstatat, &[below(0, Look)]),
        FileCall::new(libc::SYS_statx, &[below(0, Look)]),
        FileCall::new(libc::SYS_faccessat, &[below(0, Look)]),
        FileCall::new(libc::SYS_faccessat2, &[below(0, Look)]),
    ]
};

/// Those that newer architectures do not have.
#[cfg(target_arch = "x86_64")]
const OLD_FILE_CALLS: &[FileCall] = {
    use FileAccess::{Change, Look, Make, Read, Write};
    &[
        FileCall { flags: Some(1), ..FileCall::new(libc::SYS_open, &[here(0, Read)]) },
        FileCall::new(libc::SYS_creat, &[here(0, Write)]),
        FileCall::new(libc::SYS_mkdir, &[here(0, Make)]),
        FileCall::new(libc::SYS_mknod, &[here(0, Make)]),
        FileCall::new(libc::SYS_symlink, &[here(1, Make)]),
        FileCall::new(libc::SYS_link, &[here(1, Make)]),
        FileCall::new(libc::SYS_unlink, &[here(0, Change)]),
        FileCall::new(libc::SYS_rmdir, &[here(0, Change)]),
        FileCall::new(libc::SYS_rename, &[here(0, Change), here(1, Write)]),
        FileCall::new(libc::SYS_renameat, &[below(0, Change), below(2, Write)]),
        FileCall::new(libc::SYS_chmod, &[here(0, Change)]),
        FileCall::new(libc::SYS_chown, &[here(0, Change)]),
        FileCall::new(libc::SYS_utime, &[here(0, Change)]),
        FileCall::new(libc::SYS_utimes, &[here(0, Change)]),
        FileCall::new(libc::SYS_stat, &[here(0, Look)]),
        FileCall::new(libc::SYS_lstat, &[here(0, Look)]),
        FileCall::new(libc::SYS_access, &[here(0, Look)]),
    ]
};
#[cfg(not(target_arch = "x86_64"))]
const OLD_FILE_CALLS: &[FileCall] = &[];

fn file_calls() -> impl Iterator<Item = &'static FileCall> {
    FILE_CALLS.iter().chain(OLD_FILE_CALLS)
}

/// `execve` and `execveat` of 32-bit programs on the same machine.
const OF_32_BIT: [u32; 2] = if cfg!(target_arch = "x86_64") { [11, 358] } else { [11, 387] };

/// `SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP`, which `libc` does not have.
const SYNC_WAKE_UP: u64 = 1;

/// The size of a descriptor, in bytes.
const SIZE_OF_FD: u32 = RawFd::BITS / 8;

/// The maximum length of a path in the kernel.
const MAX_PATH: usize = 4096;

/// The maximum number of words that are read.
const MAX_WORDS: usize = 4096;

/// A filter, the same for every command.
pub(super) struct ExecFilter {
    instructions: Vec<libc::sock_filter>,
}

/// The byte that the child sends with the listener: whether setuid programs have lost their rights.
const TAKES_PRIVILEGES: u8 = 1;

/// Why there is no listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoListener {
    /// The process runs without a filter, unchanged.
    Refused,
    /// The process runs without a filter, but setuid programs have lost their rights.
    Harmed,
}

/// Whether a file is opened for writing, by the flags of the call.
fn writes(flags: u64) -> bool {
    let of_mode = flags & u64::from(libc::O_ACCMODE.cast_unsigned());
    of_mode != u64::from(libc::O_RDONLY.cast_unsigned())
}

impl ExecFilter {
    /// The filter; `None` on unsupported machines.
    ///
    /// Each of the watched calls waits for an answer.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "codes of a machine with 16-bit codes, and small numbers of system calls"
    )]
    pub(super) fn new(watched: WatchedCalls) -> Option<Self> {
        /// Offsets of the number of a system call, the architecture, and the lower half of the second argument.
        const NUMBER: u32 = 0;
        const KIND: u32 = 4;
        const SECOND: u32 = 24;
        // The argument with the flags of a call that may look at a descriptor.
        let flags_of = |number: i64| match number {
            libc::SYS_newfstatat => Some(16 + 8 * 3),
            libc::SYS_statx => Some(16 + 8 * 2),
            _ => None,
        };
        let make = |code: u32, jf, k| libc::sock_filter { code: code as u16, jt: 0, jf, k };
        let load = |at| make(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, at);
        // Both skip this number of instructions if the comparison fails.
        let is = |k, n_skipped| make(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, n_skipped, k);
        let has = |k, n_skipped| make(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, n_skipped, k);
        let end = |k| make(libc::BPF_RET | libc::BPF_K, 0, k);
        let (ask, pass) = (end(libc::SECCOMP_RET_USER_NOTIF), end(libc::SECCOMP_RET_ALLOW));
        let [of_32_bit, at_of_32_bit] = OF_32_BIT;
        let executes = [libc::SYS_execve, libc::SYS_execveat];
        let files = file_calls().filter(|call| call.needs() <= watched).map(|call| &call.number);
        let asked: Vec<_> = executes
            .iter()
            .chain(files)
            .flat_map(|number| {
                let of_descriptor = flags_of(*number)
                    .map_or_else(Vec::new, |at| vec![load(at), has(libc::AT_EMPTY_PATH.cast_unsigned(), 1), pass]);
                let is_number = is(u32::try_from(*number).unwrap_or_default(), of_descriptor.len() as u8 + 1);
                [vec![is_number], of_descriptor, vec![ask]].concat()
            })
            .collect();
        let n_native = asked.len() + 6;
        let mut instructions = vec![load(KIND), is(ARCHITECTURE?, n_native as u8), load(NUMBER)];
        instructions.extend(asked);
        instructions.extend([
            is(libc::SYS_seccomp as u32, 3),
            load(SECOND),
            has(libc::SECCOMP_FILTER_FLAG_NEW_LISTENER as u32, 1),
            ask,
            pass,
            load(NUMBER),
            is(of_32_bit, 1),
            ask,
            is(at_of_32_bit, 1),
            ask,
            pass,
        ]);
        Some(Self { instructions })
    }

    /// The form for the kernel; it points into the filter.
    pub(super) fn program(&mut self) -> libc::sock_fprog {
        let len = u16::try_from(self.instructions.len()).expect("there are at most 120");
        libc::sock_fprog { len, filter: self.instructions.as_mut_ptr() }
    }
}

/// Installs the filter on the calling process and sends its listener through `socket`, to [`ExecListener::receive`]. If the
/// kernel refuses, the process continues without it.
///
/// # Safety
///
/// It makes only system calls, so it may be called between `vfork` and `exec`. `program` is that of a living
/// [`ExecFilter`].
#[expect(unsafe_code, reason = "no safe interface of these system calls works without an allocation")]
pub(super) unsafe fn install(program: *const libc::sock_fprog, socket: RawFd) {
    // SAFETY: the flags are numbers; the caller guarantees a valid program.
    let listen = || unsafe {
        let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;
        // A signal must not end a wait that the process does not know about; older kernels do not have the flag.
        for more in [libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, 0] {
            let listener = libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags | more, program);
            if listener >= 0 || *libc::__errno_location() != libc::EINVAL {
                return RawFd::try_from(listener).unwrap_or(-1);
            }
        }
        -1
    };
    // SAFETY: plain system calls; the message points to data that lives until it is sent.
    unsafe {
        let mut byte = 0_u8;
        let mut listener = listen();
        if listener < 0 && *libc::__errno_location() == libc::EACCES {
            byte = TAKES_PRIVILEGES;
            if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 {
                listener = listen();
            }
        }
        if listener < 0 && byte == 0 {
            return;
        }
        let mut part = libc::iovec { iov_base: ptr::from_mut(&mut byte).cast(), iov_len: 1 };
        let mut space = [0_u64; 4];
        let mut message: libc::msghdr = mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        if listener < 0 {
            libc::sendmsg(socket, &raw const message, libc::MSG_NOSIGNAL);
            return;
        }
        message.msg_control = space.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(SIZE_OF_FD) as _;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(SIZE_OF_FD) as _;
        libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(listener);
        libc::sendmsg(socket, &raw const message, libc::MSG_NOSIGNAL);
        // While this process has a copy, it would wait for a permission that nobody can give if the other end was lost.
        libc::close(listener);
    }
}

/// The text at an address of a process, at most [`MAX_PATH`] bytes; `None` if its memory must not be read.
fn text(pid: u32, address: u64) -> Option<OsString> {
    let mut text = Vec::new();
    // Memory after the end of a page may be missing.
    while text.len() < MAX_PATH {
        let at = usize::try_from(address).ok()?.checked_add(text.len())?;
        let mut bytes = [0_u8; 256];
        let bytes = &mut bytes[..(256 - at % 256).min(MAX_PATH - text.len())];
        read(pid, u64::try_from(at).ok()?, bytes)?;
        match bytes.iter().position(|byte| *byte == 0) {
            Some(end) => {
                text.extend(&bytes[..end]);
                return Some(OsString::from_vec(text));
            }
            None => text.extend(&*bytes),
        }
    }
    None
}

/// Fills `bytes` from an address of a process; `None` if that is not possible.
#[expect(unsafe_code, reason = "there is no safe interface")]
fn read(pid: u32, address: u64, bytes: &mut [u8]) -> Option<()> {
    let pid = libc::pid_t::try_from(pid).ok()?;
    let ours = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let theirs =
        libc::iovec { iov_base: ptr::without_provenance_mut(usize::try_from(address).ok()?), iov_len: bytes.len() };
    // SAFETY: the kernel writes at most as many bytes as there are.
    let read = unsafe { libc::process_vm_readv(pid, &raw const ours, 1, &raw const theirs, 1, 0) };
    (usize::try_from(read) == Ok(bytes.len())).then_some(())
}

/// The other end of a filter: its holder permits programs to start. It must not be dropped before all processes with
/// the filter have ended, because none of them could start a program then.
pub(super) struct ExecListener {
    fd: OwnedFd,
    /// Whether setuid programs run without their rights because of the filter.
    pub(super) takes_privileges: bool,
}

/// What a waiting process is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WatchedCall {
    /// It executes a program.
    Execute,
    /// It opens a file, or changes one.
    Use(FileAccess),
    /// It requests a listener of its own, which is impossible beside this one.
    Listen,
}

/// A waiting process.
pub(super) struct ExecRequest {
    id: u64,
    pub(super) pid: u32,
    pub(super) asks: Vec<AskedPath>,
    /// The address of the words of a program that it executes.
    words: Option<u64>,
}

/// What a waiting process is about to do with a path.
pub(super) struct AskedPath {
    pub(super) what: WatchedCall,
    /// The descriptor to which the path is relative; `None` for the current directory.
    pub(super) at: Option<RawFd>,
    path: u64,
}

impl ExecListener {
    /// Waits for the listener of a process that was started with the filter.
    #[expect(unsafe_code, reason = "there is no safe interface")]
    pub(super) fn receive(socket: BorrowedFd<'_>) -> Result<Self, NoListener> {
        let mut byte = [0_u8];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let parts = &mut [io::IoSliceMut::new(&mut byte)];
        let flags = RecvFlags::CMSG_CLOEXEC;
        let received = rustix::io::retry_on_intr(|| recvmsg(socket, parts, &mut ancillary, flags));
        if !received.is_ok_and(|received| received.bytes == 1) {
            return Err(NoListener::Refused);
        }
        let fd = ancillary.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
            _ => None,
        });
        let fd = fd.ok_or(NoListener::Harmed)?;
        // Holder and process take turns. Older kernels do not have the flag.
        // SAFETY: the kernel reads two numbers.
        unsafe { libc::ioctl(fd.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNC_WAKE_UP) };
        Ok(Self { fd, takes_privileges: byte[0] == TAKES_PRIVILEGES })
    }

    /// Becomes readable when a process waits.
    pub(super) fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// The next waiting process; `None` if it was killed in the meantime.
    #[expect(unsafe_code, reason = "there is no safe interface")]
    pub(super) fn next(&self) -> Option<ExecRequest> {
        // SAFETY: the kernel needs a zeroed structure, fills it in, and writes nothing else.
        let request = unsafe {
            let mut request: libc::seccomp_notif = mem::zeroed();
            (libc::ioctl(self.fd.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut request) == 0)
                .then_some(request)?
        };
        let arguments = request.data.args;
        let number = u32::try_from(request.data.nr).unwrap_or_default();
        let is_ours = Some(request.data.arch) == ARCHITECTURE;
        let call = i64::from(number);
        #[expect(clippy::cast_possible_truncation, reason = "a descriptor, as the kernel takes it")]
        let descriptor = |argument: usize| Some(arguments[argument] as RawFd).filter(|at| *at != libc::AT_FDCWD);
        let is_at = if is_ours { call == libc::SYS_execveat } else { number == OF_32_BIT[1] };
        let asks = match file_calls().find(|known| is_ours && known.number == call) {
            Some(known) => {
                let is_written = known.flags.is_some_and(|at| writes(arguments[at]));
                let asked = |argument: &PathArgument| {
                    let access = if is_written { FileAccess::Write } else { argument.access };
                    let at = argument.directory.and_then(descriptor);
                    AskedPath { what: WatchedCall::Use(access), at, path: arguments[argument.path] }
                };
                known.paths.iter().map(asked).collect()
            }
            None if is_ours && call == libc::SYS_seccomp => {
                vec![AskedPath { what: WatchedCall::Listen, at: None, path: arguments[0] }]
            }
            None => {
                let at = if is_at { descriptor(0) } else { None };
                vec![AskedPath { what: WatchedCall::Execute, at, path: arguments[usize::from(is_at)] }]
            }
        };
        let words = is_ours.then(|| arguments[1 + usize::from(is_at)]);
        Some(ExecRequest { id: request.id, pid: request.pid, asks, words })
    }

    /// The path that the process wants to execute, as written; `None` if its memory must not be read, or it was killed
    /// in the meantime.
    pub(super) fn path(&self, request: &ExecRequest, asked: &AskedPath) -> Option<OsString> {
        let path = text(request.pid, asked.path)?;
        self.is_waiting(request).then_some(path)
    }

    /// The words for the program that the process wants to execute, at most [`MAX_WORDS`]; `None` as for the path.
    pub(super) fn words(&self, request: &ExecRequest) -> Option<Vec<OsString>> {
        let mut words = Vec::new();
        let mut at = request.words?;
        while words.len() < MAX_WORDS {
            let mut address = [0; 8];
            read(request.pid, at, &mut address)?;
            match u64::from_ne_bytes(address) {
                0 => return self.is_waiting(request).then_some(words),
                word => words.push(text(request.pid, word)?),
            }
            at += 8;
        }
        None
    }

    /// Whether the process still waits; if not, another process may have its number now.
    #[expect(unsafe_code, reason = "there is no safe interface")]
    fn is_waiting(&self, request: &ExecRequest) -> bool {
        // SAFETY: the kernel reads a number.
        unsafe { libc::ioctl(self.fd.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw const request.id) == 0 }
    }

    /// Lets the process continue unchanged. It is no error if it was killed in the meantime.
    #[expect(unsafe_code, reason = "there is no safe interface")]
    #[expect(clippy::cast_possible_truncation, reason = "the flag is 1")]
    pub(super) fn let_pass(&self, request: &ExecRequest) {
        let flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32;
        let mut response = libc::seccomp_notif_resp { id: request.id, val: 0, error: 0, flags };
        // SAFETY: the kernel reads the structure.
        unsafe { libc::ioctl(self.fd.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut response) };
    }
}
