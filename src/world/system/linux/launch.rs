//! Starts a program without copying this process.
//!
//! A fork copies the page tables of a process that has a whole history in memory, and causes a page fault for each page
//! that is written afterwards. Both cost milliseconds for each probe. `posix_spawn` copies nothing, but cannot make the
//! child die with its parent. So the child is created as `posix_spawn` does it: it borrows the memory of its parent,
//! which waits until the child executes the program (`vfork`).

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_int, c_void};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::{mem, ptr};

use rustix::io::Errno;
use rustix::process::{Pid, Signal};

use crate::system::linux::exec_filter;
use crate::system::linux::executions::WatchSetup;
use crate::system::linux::mounts::Mounts;
use crate::system::view::MountView;
use crate::system::wait::wait;

/// Bytes of the child's stack; it makes a dozen system calls.
const STACK_BYTES: usize = 256 << 10;

/// The directories of programs without a `PATH`, as in the C library.
const DEFAULT_PATH: &[u8] = b"/bin:/usr/bin";

/// The shell that runs files which the kernel cannot execute, as shells do.
const SHELL: &CStr = c"/bin/sh";

/// Signals of the kernel: 1 to 64.
const N_SIGNALS: c_int = 64;

/// Starts a program in a session of its own, which dies with the thread that starts it.
///
/// - `words`: the program and its arguments; not empty. A program without a slash is searched in `PATH` of
///   `environment`, relative entries from `directory`.
/// - `environment`: all of it; of two variables with one name the later one counts.
/// - `view`: what it sees at other paths; `directory` is looked for there.
/// - `output`: becomes both output streams. Input is empty. No signal is blocked, and only those are ignored that this
///   process ignores, without `SIGPIPE`, which Rust ignores.
/// - `bait`: the data for watching the programs that the child executes.
///
/// The caller must [`wait`] for the child. Errors: the reason why it could not start, with its code.
pub fn launch(
    words: &[&OsStr],
    directory: &Path,
    environment: &[(OsString, OsString)],
    output: impl AsFd,
    view: Option<&MountView>,
    bait: Option<WatchSetup>,
) -> io::Result<Pid> {
    start(words, directory, environment, output.as_fd(), view, bait, libc::CLONE_VM)
}

/// The same with a copy of the memory of this process, which costs time, but the child does not count the memory of its parent
/// as its own peak. A program that cannot be executed is a child that ends with exit code 127.
pub fn launch_copied(
    words: &[&OsStr],
    directory: &Path,
    environment: &[(OsString, OsString)],
    output: impl AsFd,
) -> io::Result<Pid> {
    start(words, directory, environment, output.as_fd(), None, None, 0)
}

/// - `flags`: whether the child shares the memory of this process until it executes the program.
fn start(
    words: &[&OsStr],
    directory: &Path,
    environment: &[(OsString, OsString)],
    output: BorrowedFd<'_>,
    view: Option<&MountView>,
    mut bait: Option<WatchSetup>,
    flags: c_int,
) -> io::Result<Pid> {
    let program = words.first().ok_or(ErrorKind::InvalidInput)?;
    let variables: BTreeMap<&OsStr, &OsStr> =
        environment.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str())).collect();
    let path = variables.get(OsStr::new("PATH")).map_or(DEFAULT_PATH, |path| path.as_bytes());
    let programs = candidates(program.as_bytes(), path)?;
    let argv = words.iter().map(|word| CString::new(word.as_bytes())).collect::<Result<Vec<_>, _>>()?;
    let variables = variables.iter().map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat());
    let variables = variables.map(CString::new).collect::<Result<Vec<_>, _>>()?;
    let directory = CString::new(directory.as_os_str().as_bytes())?;
    let input = File::open("/dev/null")?;
    let mounts = view.map(Mounts::new).transpose()?;

    let mut argv = pointers(&argv);
    let mut argv_of_shell = vec![SHELL.as_ptr(), ptr::null()];
    argv_of_shell.extend_from_slice(&argv[1..]);
    let mut environment = pointers(&variables);
    let programs_of_child = pointers(&programs);
    let filter = bait.as_mut().map(|bait| (bait.filter.program(), bait.socket.as_raw_fd()));
    let mut plan = ChildPlan {
        filter: filter.as_ref().map_or((ptr::null(), -1), |(program, socket)| (ptr::from_ref(program), *socket)),
        programs: programs_of_child.as_ptr(),
        argv: argv.as_mut_ptr(),
        argv_of_shell: argv_of_shell.as_mut_ptr(),
        environment: environment.as_mut_ptr(),
        mounts: mounts.as_ref(),
        directory: directory.as_ptr(),
        input: input.as_raw_fd(),
        output: output.as_raw_fd(),
        parent: rustix::process::getpid(),
        failed: 0,
        is_mounted: false,
    };
    let pid = create_child(&mut plan, flags)?;
    if plan.failed == 0 {
        return Ok(pid);
    }
    let error = io::Error::from_raw_os_error(plan.failed);
    let error = if mounts.is_none() || plan.is_mounted { error } else { unmounted(&error) };
    wait(pid)?;
    Err(error)
}

/// The error of a command that could not get its view. It has no code: it says nothing about the program.
fn unmounted(error: &io::Error) -> io::Error {
    io::Error::other(format!("its checkout cannot be mounted: {error}"))
}

/// The possible files of a program name, in order.
fn candidates(program: &[u8], path: &[u8]) -> io::Result<Vec<CString>> {
    if program.contains(&b'/') || program.is_empty() {
        return Ok(vec![CString::new(program)?]);
    }
    let in_directory = |directory: &[u8]| match directory {
        b"" => CString::new(program),
        directory => CString::new([directory, b"/", program].concat()),
    };
    Ok(path.split(|byte| *byte == b':').map(in_directory).collect::<Result<_, _>>()?)
}

/// The array that C expects: it ends with a null.
fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect()
}

/// The data of the child; all of it is prepared before, because the child must not allocate.
struct ChildPlan<'p> {
    /// The filter, null for none, and the socket for its listener.
    filter: (*const libc::sock_fprog, RawFd),
    /// The programs to try, in order; ends with a null, as the others.
    programs: *const *const c_char,
    argv: *mut *const c_char,
    /// The child fills in the second element.
    argv_of_shell: *mut *const c_char,
    environment: *mut *const c_char,
    mounts: Option<&'p Mounts>,
    directory: *const c_char,
    input: RawFd,
    output: RawFd,
    parent: Pid,
    /// The code of the error that ended the child before it executed the program; 0 if there was none.
    failed: c_int,
    /// Whether the child has the view that it should have.
    is_mounted: bool,
}

#[expect(
    unsafe_code,
    reason = "no safe interface starts a child without a copy of this process that dies with its parent"
)]
fn create_child(plan: &mut ChildPlan<'_>, flags: c_int) -> io::Result<Pid> {
    let mut stack = Vec::<u128>::with_capacity(STACK_BYTES / size_of::<u128>());
    let top = stack.spare_capacity_mut().as_mut_ptr_range().end;
    // SAFETY: `plan`, all its data and the stack live until the child no longer uses this memory (if it shares it), because with
    // `CLONE_VFORK` this thread waits for that. The child changes only `plan`, `argv_of_shell`, its stack and `errno`.
    // All signals are blocked until it has removed the handlers of this process, so that none of them runs in it.
    unsafe {
        let mut all = mem::zeroed();
        let mut before = mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, &raw mut before);
        let flags = flags | libc::CLONE_VFORK | libc::SIGCHLD;
        let pid = libc::clone(in_child, top.cast(), flags, ptr::from_mut(plan).cast());
        let error = io::Error::last_os_error();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut());
        Pid::from_raw(pid).filter(|_| pid > 0).ok_or(error)
    }
}

#[expect(unsafe_code, reason = "called by the kernel on a stack of its own")]
extern "C" fn in_child(plan: *mut c_void) -> c_int {
    // SAFETY: the caller of `clone` passed a `Plan` that nothing else uses at the same time.
    let plan = unsafe { &mut *plan.cast::<ChildPlan<'_>>() };
    // SAFETY: only system calls on data of the plan; nothing is allocated and no lock is taken.
    plan.failed = unsafe { become_program(plan) }.raw_os_error();
    127
}

/// Returns only if that failed.
#[expect(unsafe_code, reason = "what is not offered by a safe interface, or would allocate there")]
unsafe fn become_program(plan: &mut ChildPlan<'_>) -> Errno {
    let errno = || Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::INVAL);
    let mut prepare = || -> Result<(), Errno> {
        rustix::process::setsid()?;
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have died before this request.
        if rustix::process::getppid() != Some(plan.parent) {
            return Err(Errno::SRCH);
        }
        // SAFETY: the descriptors are open, the strings end with a null, and the structures are plain data.
        unsafe {
            for (from, to) in [(plan.input, 0), (plan.output, 1), (plan.output, 2)] {
                if libc::dup2(from, to) < 0 {
                    return Err(errno());
                }
            }
            if let Some(mounts) = plan.mounts {
                mounts.enter()?;
                plan.is_mounted = true;
            }
            if libc::chdir(plan.directory) < 0 {
                return Err(errno());
            }
            // The handlers of some signals cannot be read; these have none here.
            for signal in 1..=N_SIGNALS {
                let mut action: libc::sigaction = mem::zeroed();
                let is_known = libc::sigaction(signal, ptr::null(), &raw mut action) == 0;
                if is_known && (action.sa_sigaction != libc::SIG_IGN || signal == libc::SIGPIPE) {
                    action.sa_sigaction = libc::SIG_DFL;
                    libc::sigaction(signal, &raw const action, ptr::null_mut());
                }
            }
            let mut none = mem::zeroed();
            libc::sigemptyset(&raw mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
        }
        Ok(())
    };
    if let Err(failed) = prepare() {
        return failed;
    }
    let (filter, socket) = plan.filter;
    if !filter.is_null() {
        // SAFETY: the creator of the plan holds the filter.
        unsafe { exec_filter::install(filter, socket) };
    }
    // As in shells: another directory may have it, but a permission error is reported rather than a missing file.
    let mut failed = Errno::NOENT;
    let mut program = plan.programs;
    // SAFETY: all arrays end with a null; the one for the shell has room for the program.
    unsafe {
        while !(*program).is_null() {
            libc::execve(*program, plan.argv.cast_const(), plan.environment.cast_const());
            match errno() {
                other @ (Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) if failed != Errno::ACCESS => failed = other,
                Errno::NOENT | Errno::NOTDIR | Errno::ACCESS => {}
                Errno::NOEXEC => {
                    *plan.argv_of_shell.add(1) = *program;
                    libc::execve(SHELL.as_ptr(), plan.argv_of_shell.cast_const(), plan.environment.cast_const());
                    return errno();
                }
                other => return other,
            }
            program = program.add(1);
        }
    }
    failed
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read as _;
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    use super::*;

    /// The ending and the output of a program that was started in `directory` with this `PATH`.
    fn run(words: &[&str], directory: &Path, path: Option<&str>) -> io::Result<(ExitStatus, String)> {
        let words: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
        let environment: Vec<(OsString, OsString)> =
            path.map(|path| ("PATH".into(), path.into())).into_iter().collect();
        let (mut reader, writer) = io::pipe()?;
        let child = launch(&words, directory, &environment, &writer, None, None)?;
        drop(writer);
        let mut said = String::new();
        reader.read_to_string(&mut said)?;
        Ok((wait(child)?, said))
    }

    fn error(words: &[&str], directory: &Path, path: Option<&str>) -> Option<Errno> {
        Errno::from_io_error(&run(words, directory, path).expect_err("nothing that can be run"))
    }

    fn write(path: &Path, text: &str, mode: u32) {
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_program_is_looked_for_as_shells_do() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["first", "second", "third"] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        write(&directory.path().join("first/there"), "not to be executed", 0o644);
        write(&directory.path().join("second/there"), "#!/bin/sh\necho second \"$1\"\n", 0o755);
        write(&directory.path().join("third/there"), "echo without a first line, \"$@\"\n", 0o755);
        let said = |program, path| run(&[program, "a b"], directory.path(), path).map(|(_, said)| said).unwrap();
        assert_eq!(said("there", Some("nowhere:first:second")), "second a b\n");
        assert_eq!(said("there", Some("third:second")), "without a first line, a b\n");
        assert_eq!(said("second/there", Some("third")), "second a b\n");
        assert_eq!(said("echo", None), "a b\n");
        assert_eq!(error(&["there"], directory.path(), Some("first:nowhere")), Some(Errno::ACCESS));
        assert_eq!(error(&["there"], directory.path(), Some("nowhere")), Some(Errno::NOENT));
        assert_eq!(error(&["first/there/below"], directory.path(), None), Some(Errno::NOTDIR));
    }

    #[test]
    fn no_handler_and_no_mask_reaches_the_program() {
        let here = Path::new("/");
        let (status, said) = run(&["/bin/sh", "-c", "cat /proc/self/status; kill -PIPE $$"], here, None).unwrap();
        assert_eq!(status.signal(), Some(libc::SIGPIPE));
        let of = |name: &str| {
            let line = said.lines().find_map(|line| line.strip_prefix(name)).expect("a line of each kind");
            u64::from_str_radix(line.trim_start_matches(':').trim(), 16).unwrap()
        };
        assert_eq!((of("SigBlk"), of("SigCgt")), (0, 0));
        assert_eq!(of("SigIgn") & (1 << (libc::SIGPIPE - 1)), 0);
    }

    #[test]
    fn it_dies_with_the_thread_that_started_it() {
        let (mut reader, writer) = io::pipe().unwrap();
        let words = ["/bin/sh", "-c", "echo begun; exec sleep 1000"].map(OsStr::new);
        let child = std::thread::spawn(move || {
            let child = launch(&words, Path::new("/"), &[], &writer, None, None).unwrap();
            let mut begun = [0; 6];
            reader.read_exact(&mut begun).unwrap();
            child
        });
        assert_eq!(wait(child.join().unwrap()).unwrap().signal(), Some(libc::SIGKILL));
    }

    #[test]
    fn what_cannot_be_said_in_c_is_refused() {
        assert!(run(&["echo", "a\0b"], Path::new("/"), None).is_err());
        assert!(run(&[], Path::new("/"), None).is_err());
        assert_eq!(error(&["true"], Path::new("/no/such/directory"), None), Some(Errno::NOENT));
    }
}
