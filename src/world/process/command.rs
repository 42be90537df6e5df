//! Runs one command, with all its processes.
//!
//! [`run`] starts a command in its own session, stores a limited part of its output, and returns when the command has
//! ended, was interrupted, or has reached its time limit. Then none of its processes is alive. Only this module starts
//! programs. It does not know the meaning of an ending; see [`classify`](crate::run::classify).

use std::ffi::{OsStr, OsString};
use std::io::{ErrorKind, PipeReader, Read as _, Write as _};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use std::{io, thread};

use rustix::io::Errno;
use rustix::process::{Pid, Signal};

use crate::process::executions::ExecutedPrograms;
use crate::process::stream::{ProcessStream, StopReason};
use crate::process::survivors::{MARKER, ProcessGroup, Survivors};
use crate::process::{RunError, executions, survivors};
use crate::system::usage::Usage;
use crate::system::view::MountView;
use crate::system::{self, WatchSetup, launch, wait_with_usage};
use idd_base::{Ending, Reason};

/// A command with its context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The words of the command.
    pub words: CommandWords,
    /// Its working directory; relative programs are searched from here.
    pub directory: PathBuf,
    /// What it sees at other paths; `None` for what is there.
    pub view: Option<MountView>,
    /// The complete environment: nothing is inherited, and only `IDD_PROBE` is added.
    pub environment: Vec<(OsString, OsString)>,
    /// The time limit.
    pub limit: Duration,
}

/// The two forms of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandWords {
    /// A line for `/bin/sh -c`.
    Shell(OsString),
    /// The program and its arguments; not empty.
    Argv(Vec<OsString>),
}

impl CommandWords {
    fn program(&self) -> String {
        match self {
            Self::Shell(line) => line.to_string_lossy().into_owned(),
            Self::Argv(words) => words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default(),
        }
    }
}

/// The ending of a command, and its output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedCommand {
    /// Its ending. If the command of a shell line died of signal n, the shell's exit code is 128 + n.
    pub ending: Ending,
    /// Wall time until the command itself ended.
    pub duration: Duration,
    /// Standard output and error in their order, at most 128 KiB (see [`idd_base::Observation::output`]).
    pub output: Vec<u8>,
    /// Whether it was killed because of [`CommandWatch::is_interrupted`]; then `ending` says nothing about the command.
    pub cancelled: bool,
    /// What it used.
    pub usage: Usage,
}

/// An observer of a running command.
pub trait CommandWatch {
    /// Called once, before the start.
    fn starting(&mut self) {}

    /// The record of the programs that the command executes; `None` if it is not needed.
    fn executions(&self) -> Option<Arc<ExecutedPrograms>> {
        None
    }

    /// Whether the files that the command opens are recorded too.
    fn watches_files(&self) -> bool {
        false
    }

    /// Called once, directly after the start, with the data that [`kill_leftover`](crate::process::kill_leftover) needs if this
    /// process dies.
    fn started(&mut self, group: ProcessGroup);

    /// Whether to kill the command now; called at least every 50 ms.
    fn is_interrupted(&self) -> bool;

    /// Whether the command is to be followed although its first process has ended, because others are still needed.
    fn is_held(&self) -> bool {
        false
    }

    /// Called about once a second while there is new output, with its end.
    ///
    /// - `tail`: computed only if it is called.
    fn printed(&self, _tail: &dyn Fn() -> Vec<u8>) {}

    /// Called once, when the command has ended or is about to be killed, before its remaining processes are killed.
    fn ended(&mut self) {}
}

/// Runs `command` to its end, and kills all its remaining processes.
///
/// - Standard input is empty; standard output and error are one stream.
/// - A missing program gives `Exit(127)`, one that cannot be executed `Exit(126)`, with a line in the output; a missing
///   directory gives `NotRun(TestAbsent)`.
/// - At the time limit, and when interrupted, all processes are killed with `SIGKILL`.
/// - Must not be called from a thread that ends before the call returns: the command dies with its thread.
pub fn run(command: &Command, watch: &mut dyn CommandWatch) -> Result<EndedCommand, RunError> {
    let begin = Instant::now();
    let never_ran = |ending: Ending, output: String| {
        let (duration, output) = (begin.elapsed(), output.into_bytes());
        Ok(EndedCommand { ending, duration, output, cancelled: false, usage: Usage::default() })
    };
    if !command.directory.is_dir() && command.view.is_none() {
        return never_ran(Ending::NotRun(Reason::TestAbsent), String::new());
    }
    let program = command.words.program();
    watch.starting();
    // Dropped when all started processes have ended.
    let (_following, bait) = watch.executions().and_then(|all| executions::follow(&all, watch.watches_files())).unzip();
    let (child, survivors, reader) = match start(command, bait) {
        Ok(started) => started,
        Err(source) => match exit_code_of_shells(&source) {
            Some(code) => {
                let output = format!("git-idd: cannot run `{program}`: {source}\n");
                return never_ran(Ending::Exit(code), output);
            }
            None => return Err(RunError::Spawn { program, source }),
        },
    };
    watch.started(survivors.group);

    let mut stream = ProcessStream::new(reader, child);
    let cut = stream.follow(begin, command.limit, &*watch, &survivors::reap_orphans);
    let duration = begin.elapsed();
    watch.ended();

    // The first process is not reaped yet, so its number is still its own. It may have ended, or be privileged.
    let _ = rustix::process::kill_process_group(child, Signal::KILL);
    let is_dead = stream.wait_for_death();
    survivors.end_all();
    stream.drain();
    // A process that cannot be killed is not waited for.
    let ended = if is_dead { wait_with_usage(child) } else { Err(ErrorKind::TimedOut.into()) };
    let (status, usage) =
        ended.map_or_else(|error| (Err(error), Usage::default()), |(status, usage)| (Ok(status), usage));
    let ending = match cut {
        Some(StopReason::Limit) => Ending::Timeout,
        Some(StopReason::Interrupt) => Ending::Signal(Signal::KILL.as_raw()),
        None => ending_of(status.map_err(|source| RunError::Wait { program, source })?),
    };
    Ok(EndedCommand { ending, duration, output: stream.finish(), cancelled: cut == Some(StopReason::Interrupt), usage })
}

fn ending_of(status: ExitStatus) -> Ending {
    match status.code() {
        Some(code) => Ending::Exit(code),
        None => Ending::Signal(status.signal().expect("a process that did not exit was killed by a signal")),
    }
}

/// Starts `command`; errors of the system are returned unchanged.
fn start(command: &Command, bait: Option<WatchSetup>) -> io::Result<(Pid, Survivors, PipeReader)> {
    let (reader, writer) = io::pipe()?;
    rustix::io::ioctl_fionbio(&reader, true)?;
    let words: Vec<&OsStr> = match &command.words {
        CommandWords::Shell(line) => vec![OsStr::new("/bin/sh"), OsStr::new("-c"), line],
        CommandWords::Argv(words) => words.iter().map(OsString::as_os_str).collect(),
    };
    let (child, survivors) = Survivors::start(|marker| {
        let mut environment = command.environment.clone();
        environment.push((MARKER.into(), marker.into()));
        launch(&words, &command.directory, &environment, &writer, command.view.as_ref(), bait)
    })?;
    Ok((child, survivors, reader))
}

/// The exit code of a shell for such a program; `None` if the error is not caused by the program.
fn exit_code_of_shells(error: &io::Error) -> Option<i32> {
    match Errno::from_io_error(error)? {
        Errno::NOENT => Some(127),
        Errno::ACCESS
        | Errno::PERM
        | Errno::NOEXEC
        | Errno::NOTDIR
        | Errno::ISDIR
        | Errno::LOOP
        | Errno::NAMETOOLONG
        | Errno::TXTBSY => Some(126),
        other if system::CANNOT_BE_EXECUTED.contains(&other) => Some(126),
        _ => None,
    }
}

/// The output of a program that was run for its answer, such as git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// All of its standard output.
    pub stdout: Vec<u8>,
    /// All of its standard error.
    pub stderr: Vec<u8>,
}

/// Runs a program that is no probe and ends by itself; standard input is empty.
///
/// - `environment`: added to the environment of this process; wins over it.
pub fn capture(
    program: &OsStr,
    words: &[&OsStr],
    directory: &Path,
    environment: &[(OsString, OsString)],
) -> io::Result<Captured> {
    let variables = environment.iter().map(|(name, value)| (name, value));
    let output = std::process::Command::new(program)
        .args(words)
        .current_dir(directory)
        .envs(variables)
        .stdin(Stdio::null())
        .output()?;
    Ok(Captured { code: output.status.code(), stdout: output.stdout, stderr: output.stderr })
}

/// Runs a program in place of this one, with our streams; the result is its exit code (128 + n for signal n).
///
/// - `environment`: added to the environment of this process; wins over it.
/// - `is_silent`: whether its messages are dropped: standard error goes nowhere.
pub fn relay(
    program: &OsStr,
    words: &[&OsStr],
    directory: &Path,
    environment: &[(OsString, OsString)],
    is_silent: bool,
) -> io::Result<i32> {
    let messages = if is_silent { Stdio::null() } else { Stdio::inherit() };
    let variables = environment.iter().map(|(name, value)| (name, value));
    let mut command = std::process::Command::new(program);
    let status = command.args(words).current_dir(directory).envs(variables).stderr(messages).status()?;
    Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default()))
}

/// Starts a program with our streams, which this thread traces; it stops before its first instruction.
///
/// Errors: the program cannot be started, or may not be traced.
#[expect(unsafe_code, reason = "there is no safe interface for a child before it executes its program")]
pub(super) fn start_traced(program: &OsStr, words: &[&OsStr]) -> io::Result<Pid> {
    let mut command = std::process::Command::new(program);
    command.args(words);
    // SAFETY: the child makes one system call, which has only numbers.
    unsafe { command.pre_exec(system::be_traced) };
    Ok(Pid::from_child(&command.spawn()?))
}

/// The destination of a program's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputDestination {
    /// To our standard output.
    Here,
    /// To our standard error, because our standard output has an answer.
    ToStderr,
}

/// Runs a program of the user that reads `input`, but need not read all of it; returns its exit code (128 + n for
/// signal n).
///
/// - `environment`: added to the environment of this process; wins over it.
/// - `limit`: after this time, or when the flag is set, it is killed with its process group, and `None` is returned.
///   Without a limit it stays in our group, so that it can read keys.
pub fn feed(
    program: &OsStr,
    words: &[&OsStr],
    directory: &Path,
    environment: &[(OsString, OsString)],
    input: Vec<u8>,
    printed: OutputDestination,
    limit: Option<(Duration, &AtomicBool)>,
) -> io::Result<Option<i32>> {
    /// The interval of checks of a program with a limit.
    const POLL: Duration = Duration::from_millis(20);
    let variables = environment.iter().map(|(name, value)| (name, value));
    let mut command = std::process::Command::new(program);
    command.args(words).current_dir(directory).envs(variables).stdin(Stdio::piped());
    if printed == OutputDestination::ToStderr {
        command.stdout(io::stderr());
    }
    if limit.is_some() {
        command.process_group(0);
    }
    let mut child = command.spawn()?;
    let (stdin, group) = (child.stdin.take(), Pid::from_child(&child));
    let begin = Instant::now();
    // A program that never reads delays nothing else.
    let fed = thread::spawn(move || stdin.map_or(Ok(()), |mut stdin| stdin.write_all(&input)));
    let status = match limit {
        None => child.wait()?,
        Some((limit, is_interrupted)) => loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if begin.elapsed() >= limit || is_interrupted.load(Ordering::Relaxed) {
                // It may have ended already.
                let _ = rustix::process::kill_process_group(group, Signal::KILL);
                child.wait()?;
                return Ok(None);
            }
            thread::sleep(POLL);
        },
    };
    // Its descendants can hold the other end, and it did not need the unread input.
    if fed.is_finished()
        && let Err(error) = fed.join().expect("writing does not panic")
        && error.kind() != ErrorKind::BrokenPipe
    {
        return Err(error);
    }
    Ok(Some(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())))
}

/// Runs a program of the user that reads `input` and answers on its standard output; returns what it printed until it
/// ended, until the time was up, or until that was too much. Then it is killed with its process group.
///
/// - `limits`: its time, and bytes of its output.
pub fn ask(
    program: &OsStr,
    words: &[&OsStr],
    directory: &Path,
    input: Vec<u8>,
    limits: (Duration, usize),
) -> io::Result<Vec<u8>> {
    let mut piped = Piped::start(program, words, directory)?;
    // A program that reads nothing, and one that leaves somebody with its output, delay nothing.
    let stdin = piped.stdin.take();
    thread::spawn(move || stdin.map_or(Ok(()), |mut stdin| stdin.write_all(&input)));
    let (end, mut printed) = (Instant::now() + limits.0, Vec::new());
    while let Ok(part) = piped.printed.recv_timeout(end.saturating_duration_since(Instant::now())) {
        printed.extend(part);
        if printed.len() > limits.1 {
            break;
        }
    }
    Ok(printed)
}

/// A program in a process group of its own, in our session, whose streams are ours. It is killed with its group when
/// dropped.
#[derive(Debug)]
struct Piped {
    child: Child,
    stdin: Option<ChildStdin>,
    /// The parts of what it prints.
    printed: Receiver<Vec<u8>>,
}

impl Piped {
    fn start(program: &OsStr, words: &[&OsStr], directory: &Path) -> io::Result<Self> {
        let mut command = std::process::Command::new(program);
        command.args(words).current_dir(directory).process_group(0);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (sender, printed) = mpsc::sync_channel::<Vec<u8>>(1);
        thread::spawn(move || {
            let Some(mut stdout) = stdout else { return };
            let mut buffer = vec![0; 1 << 16];
            while let Ok(n @ 1..) = stdout.read(&mut buffer) {
                if sender.send(buffer[..n].to_vec()).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, stdin, printed })
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = rustix::process::kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}

/// A program of this project that answers messages until it is dropped. Each message and each answer is 4 bytes length,
/// the highest first, and so many bytes.
#[derive(Debug)]
pub struct HelperProgram {
    piped: Piped,
    /// What it printed of the next answer.
    begun: Vec<u8>,
}

impl HelperProgram {
    /// The longest message: a pipe takes it although nobody reads yet.
    pub const MAX_MESSAGE: usize = 48 << 10;

    /// Starts it. Errors: those of the system.
    pub fn start(program: &OsStr, words: &[&OsStr], directory: &Path) -> io::Result<Self> {
        Ok(Self { piped: Piped::start(program, words, directory)?, begun: Vec::new() })
    }

    /// The answer to a message of at most [`MAX_MESSAGE`](Self::MAX_MESSAGE) bytes.
    ///
    /// - `is_cancelled`: asked about every 50 ms; true gives an error.
    ///
    /// Errors: it ended, or does not answer within `limit`. It must not be asked again then, since a late answer would be
    /// taken for the next one.
    pub fn ask(&mut self, message: &[u8], limit: Duration, is_cancelled: &dyn Fn() -> bool) -> io::Result<Vec<u8>> {
        const POLL: Duration = Duration::from_millis(50);
        let length = u32::try_from(message.len()).ok().filter(|_| message.len() <= Self::MAX_MESSAGE);
        let length = length.ok_or(ErrorKind::InvalidInput)?;
        let stdin = self.piped.stdin.as_mut().ok_or(ErrorKind::BrokenPipe)?;
        stdin.write_all(&[&length.to_be_bytes(), message].concat())?;
        stdin.flush()?;
        let end = Instant::now() + limit;
        loop {
            if let Some((head, rest)) = self.begun.split_first_chunk::<4>() {
                let length = u32::from_be_bytes(*head) as usize;
                if rest.len() >= length {
                    let answer = rest[..length].to_vec();
                    self.begun.drain(..4 + length);
                    return Ok(answer);
                }
            }
            let left = end.saturating_duration_since(Instant::now());
            match self.piped.printed.recv_timeout(left.min(POLL)) {
                Ok(part) => self.begun.extend(part),
                Err(RecvTimeoutError::Timeout) if left.is_zero() || is_cancelled() => {
                    return Err(ErrorKind::TimedOut.into());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(ErrorKind::UnexpectedEof.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::HashSet;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::process::{kill_leftover, kill_leftovers_of, this_process};
    use crate::system::wait;

    #[derive(Default)]
    struct Watcher {
        group: Option<ProcessGroup>,
        interrupt_after: Option<Duration>,
        begin: Cell<Option<Instant>>,
    }

    impl CommandWatch for Watcher {
        fn started(&mut self, group: ProcessGroup) {
            self.group = Some(group);
            self.begin.set(Some(Instant::now()));
        }

        fn is_interrupted(&self) -> bool {
            self.interrupt_after.is_some_and(|after| self.begin.get().is_some_and(|begin| begin.elapsed() >= after))
        }
    }

    /// Creates a file before the start.
    struct Marker<'f>(&'f Path);

    impl CommandWatch for Marker<'_> {
        fn starting(&mut self) {
            std::fs::write(self.0, "").unwrap();
        }

        fn started(&mut self, _: ProcessGroup) {}

        fn is_interrupted(&self) -> bool {
            false
        }
    }

    #[test]
    fn the_watch_is_told_before_the_command_can_do_anything() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("told");
        let line = format!("test -e {}", file.display());
        let ran = run(&command(CommandWords::Shell(line.into()), 20_000), &mut Marker(&file)).unwrap();
        assert_eq!(ran.ending, Ending::Exit(0));
    }

    fn command(words: CommandWords, limit_millis: u64) -> Command {
        Command {
            words,
            directory: std::env::temp_dir(),
            view: None,
            environment: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
            limit: Duration::from_millis(limit_millis),
        }
    }

    fn argv(words: &[&str]) -> CommandWords {
        CommandWords::Argv(words.iter().map(OsString::from).collect())
    }

    fn run_words(words: CommandWords) -> EndedCommand {
        run(&command(words, 20_000), &mut Watcher::default()).unwrap()
    }

    fn run_shell(line: &str) -> EndedCommand {
        run_words(CommandWords::Shell(line.into()))
    }

    /// Less than the limit of a command and than any [`nap`], and more than a busy machine needs for anything else.
    const SOON: Duration = Duration::from_secs(15);

    /// A duration for `sleep` that only one test uses.
    fn nap() -> String {
        static N_NAPS: AtomicU32 = AtomicU32::new(0);
        format!("1{:03}.{}", N_NAPS.fetch_add(1, Ordering::Relaxed), std::process::id())
    }

    fn n_sleeping(nap: &str) -> usize {
        let is_sleeping = |pid: i32| {
            let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            words.split(|byte| *byte == 0).any(|word| word == nap.as_bytes()) && words.starts_with(b"sleep")
        };
        system::all().iter().filter(|process| is_sleeping(process.pid)).count()
    }

    #[track_caller]
    fn check_nothing_is_left(line: &str, nap: &str) {
        let line = line.replace("NAP", nap);
        let ran = run_shell(&line);
        assert_eq!((ran.ending, n_sleeping(nap)), (Ending::Exit(3), 0), "{line}");
        assert_eq!(String::from_utf8(ran.output).unwrap(), "said\n", "{line}");
        assert!(ran.duration < SOON, "{line}: waited for a child that holds the pipe");
    }

    #[test]
    fn exit_codes_and_both_streams_are_reported() {
        for code in [0, 1, 125, 255] {
            let ran = run_shell(&format!("echo out; echo err >&2; exit {code}"));
            assert_eq!((ran.ending, ran.output.as_slice()), (Ending::Exit(code), &b"out\nerr\n"[..]));
            assert!(!ran.cancelled);
        }
    }

    #[test]
    fn a_signal_is_told_from_a_shell_that_reports_one() {
        assert_eq!(run_shell("kill -SEGV $$").ending, Ending::Signal(11));
        assert_eq!(run_shell("sh -c 'kill -SEGV $$'; exit $?").ending, Ending::Exit(139));
    }

    #[test]
    fn a_missing_program_ends_as_in_a_shell() {
        let missing = run_words(argv(&["./no-such-program", "x"]));
        assert_eq!(missing.ending, Ending::Exit(127));
        assert!(String::from_utf8(missing.output).unwrap().contains("`./no-such-program`"));
        assert_eq!(run_words(argv(&["/etc/passwd"])).ending, Ending::Exit(126));
        assert_eq!(run_words(argv(&["/"])).ending, Ending::Exit(126));
        assert_eq!(run_shell("./no-such-program").ending, Ending::Exit(127));
    }

    #[test]
    fn a_missing_directory_is_an_answer_and_an_empty_command_an_error() {
        let mut absent = command(argv(&["true"]), 1000);
        absent.directory = "/no/such/directory".into();
        let ran = run(&absent, &mut Watcher::default()).unwrap();
        assert_eq!(ran.ending, Ending::NotRun(Reason::TestAbsent));
        let empty = run(&command(CommandWords::Argv(Vec::new()), 1000), &mut Watcher::default());
        assert!(matches!(empty, Err(RunError::Spawn { .. })));
    }

    #[test]
    fn the_environment_is_exactly_what_was_given_and_the_marker() {
        let output = String::from_utf8(run_words(argv(&["env"])).output).unwrap();
        let names: HashSet<&str> = output.lines().filter_map(|line| line.split('=').next()).collect();
        assert_eq!(names, HashSet::from(["PATH", MARKER]));
    }

    #[test]
    fn the_test_has_its_own_session_and_no_input() {
        let ran = run_shell("cat; cut -d' ' -f1,5,6 /proc/$$/stat");
        let output = String::from_utf8(ran.output).unwrap();
        let numbers: HashSet<&str> = output.split_whitespace().collect();
        assert_eq!(numbers.len(), 1, "process, group and session have one number: {output}");
    }

    #[test]
    fn a_command_is_cut_at_its_limit_with_all_its_children() {
        let nap = nap();
        let line = format!("echo begin; sleep {nap} & setsid sleep {nap} & sleep {nap}");
        let ran = run(&command(CommandWords::Shell(line.into()), 1000), &mut Watcher::default()).unwrap();
        assert_eq!((ran.ending, ran.cancelled, ran.output.as_slice()), (Ending::Timeout, false, &b"begin\n"[..]));
        assert!(ran.duration >= Duration::from_secs(1) && ran.duration < SOON);
        assert_eq!(n_sleeping(&nap), 0);
    }

    #[test]
    fn an_interrupt_ends_everything_soon() {
        let nap = nap();
        let mut watcher = Watcher { interrupt_after: Some(Duration::from_millis(60)), ..Watcher::default() };
        let line = format!("sleep {nap} & sleep {nap}");
        let ran = run(&command(CommandWords::Shell(line.into()), 20_000), &mut watcher).unwrap();
        assert!(ran.cancelled && ran.duration < SOON);
        assert_eq!(n_sleeping(&nap), 0);
    }

    #[test]
    fn leaves_children_a_background_child_that_holds_the_pipe_is_ended() {
        check_nothing_is_left("sleep NAP & echo said; exit 3", &nap());
    }

    #[test]
    fn leaves_children_a_child_in_its_own_session_is_ended() {
        check_nothing_is_left("setsid sleep NAP & echo said; sleep 0.05; exit 3", &nap());
    }

    #[test]
    fn leaves_children_a_daemon_without_parent_and_streams_is_ended() {
        let daemon = "(setsid sh -c '(setsid sleep NAP </dev/null >/dev/null 2>&1 &) ; exit 0' &); sleep 0.05; echo said; exit 3";
        check_nothing_is_left(daemon, &nap());
    }

    #[test]
    fn fifty_sleeping_children_in_many_sessions_are_ended() {
        let line = "for i in 1 2 3 4 5; do for j in 1 2 3 4 5; do sleep NAP & setsid sleep NAP & done; done; echo said; exit 3";
        check_nothing_is_left(line, &nap());
    }

    #[test]
    fn no_zombie_of_a_probe_is_left() {
        let ran = run_shell("(setsid sleep 0.01 & echo $!); sleep 0.05; exit 0");
        let pid = String::from_utf8(ran.output).unwrap().trim().parse().unwrap();
        assert!(system::read(pid).is_none_or(|process| process.parent != std::process::id().cast_signed()));
    }

    #[test]
    fn an_orphan_that_ends_is_reaped_while_the_probe_goes_on() {
        let ran = run_shell("pid=$(setsid sleep 0.01 >/dev/null & echo $!); sleep 1.5; test ! -e /proc/$pid");
        assert_eq!(ran.ending, Ending::Exit(0));
    }

    #[test]
    fn big_output_is_bounded_and_keeps_head_and_tail() {
        let ran = run_shell("echo first; head -c 20000000 /dev/zero | tr '\\0' x; echo; echo last");
        assert_eq!(ran.ending, Ending::Exit(0));
        assert!(ran.output.len() <= 128 * 1024);
        assert!(ran.output.starts_with(b"first\n") && ran.output.ends_with(b"\nlast\n"));
        assert!(ran.output.windows(14).any(|window| window == b" bytes cut ..."));
    }

    #[test]
    fn an_endless_writer_is_cut_at_its_limit() {
        let ran = run(&command(argv(&["yes"]), 200), &mut Watcher::default()).unwrap();
        assert_eq!(ran.ending, Ending::Timeout);
        assert!(ran.duration < SOON && ran.output.len() <= 128 * 1024);
    }

    #[test]
    fn a_command_that_closes_its_streams_is_still_waited_for() {
        let ran = run_shell("exec >&- 2>&-; sleep 0.1; exit 7");
        assert_eq!(ran.ending, Ending::Exit(7));
        assert!(ran.duration >= Duration::from_millis(100));
    }

    #[test]
    fn a_kernel_without_process_handles_gives_the_same_answer() {
        let line = "echo hello; sleep 0.05; exit 4";
        let (child, survivors, reader) = start(&command(CommandWords::Shell(line.into()), 0), None).unwrap();
        let mut stream = ProcessStream::new(reader, child).without_handle();
        assert_eq!(stream.follow(Instant::now(), Duration::from_secs(20), &Watcher::default(), &|| {}), None);
        survivors.end_all();
        stream.drain();
        assert_eq!((wait(child).unwrap().code(), stream.finish().as_slice()), (Some(4), &b"hello\n"[..]));
    }

    #[test]
    fn concurrent_runs_do_not_end_each_others_children() {
        let line = "sleep NAP & a=$!; setsid sleep NAP & b=$!; sleep 0.3; kill -0 $a && kill -0 $b && echo alive";
        thread::scope(|scope| {
            let slow: Vec<_> = (0..3)
                .map(|_| {
                    scope.spawn(|| {
                        let nap = nap();
                        (run_shell(&line.replace("NAP", &nap)), n_sleeping(&nap))
                    })
                })
                .collect();
            while slow.iter().any(|thread| !thread.is_finished()) {
                let nap = nap();
                assert_eq!(run_shell(&format!("setsid sleep {nap} & sleep {nap} & exit 0")).ending, Ending::Exit(0));
                assert_eq!(n_sleeping(&nap), 0);
            }
            for thread in slow {
                let (ran, n_left) = thread.join().unwrap();
                assert_eq!((ran.ending, ran.output.as_slice(), n_left), (Ending::Exit(0), &b"alive\n"[..], 0));
            }
        });
    }

    /// The state after `git-idd` was killed: a running probe, and all `n_naps` of its children.
    fn leave(line: &str, nap: &str, n_naps: usize) -> (Pid, Survivors) {
        let (child, survivors, _) = start(&command(CommandWords::Shell(line.into()), 0), None).unwrap();
        let begin = Instant::now();
        while n_sleeping(nap) < n_naps {
            assert!(begin.elapsed() < SOON, "{line}");
            thread::sleep(Duration::from_millis(1));
        }
        (child, survivors)
    }

    #[test]
    fn kill_leftover_ends_a_recorded_group_and_only_with_its_start_time() {
        let nap = nap();
        let (child, survivors) = leave(&format!("sleep {nap} & setsid sleep {nap} & sleep {nap} & wait"), &nap, 3);
        let group = survivors.group;
        assert!(!kill_leftover(ProcessGroup { start_time: group.start_time + 1, ..group }));
        assert_eq!(n_sleeping(&nap), 3);
        assert!(kill_leftover(group));
        assert_eq!(n_sleeping(&nap), 0);
        assert!(!kill_leftover(group));
        wait(child).unwrap();
    }

    #[test]
    fn kill_leftover_ends_the_rest_of_a_group_whose_first_process_died() {
        let nap = nap();
        let (child, survivors) = leave(&format!("sleep {nap} & setsid sleep {nap} & wait"), &nap, 2);
        rustix::process::kill_process(child, Signal::KILL).unwrap();
        wait(child).unwrap();
        assert_eq!(n_sleeping(&nap), 2);
        assert!(kill_leftover(survivors.group));
        assert_eq!(n_sleeping(&nap), 0);
    }

    #[test]
    fn kill_leftovers_of_a_dead_owner_finds_its_daemons_and_nothing_else() {
        let nap = nap();
        let dead = i32::MAX - std::process::id().cast_signed();
        let line = format!("{MARKER}={dead}-0 setsid sleep {nap} & sleep {nap} & wait");
        let (child, survivors) = leave(&line, &nap, 2);
        assert!(kill_leftovers_of(ProcessGroup { pid: dead, start_time: 0 }));
        assert_eq!(n_sleeping(&nap), 1);
        assert!(kill_leftover(survivors.group));
        wait(child).unwrap();
    }

    #[test]
    fn kill_leftovers_of_spares_the_probes_of_a_living_owner() {
        let ran = run_shell("sleep 0.05; echo said");
        assert!(!kill_leftovers_of(this_process()));
        assert_eq!(ran.output, b"said\n");
    }
}
