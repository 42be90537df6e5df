//! Records all programs that the commands of a hunt execute, in any of their processes, and files that they open.
//!
//! All commands of a hunt share [`ExecutedPrograms`]; [`follow`] watches one command. See [`system`] for the method.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::system::observer::{FileAccess, Observer, ProgramStart, WatchedCalls};
use crate::system::{self, ExecutionWatch, WatchSetup};

/// The maximum length of a script's first line, which names its interpreter, in bytes; as in the kernel.
const MAX_FIRST_LINE: u64 = 256;

/// The bits of a mode with which a program gets the rights of its owner or of its group.
const SETUID_OR_SETGID: u32 = 0o6000;

/// The programs executed so far.
#[derive(Debug, Default)]
pub struct ExecutedPrograms {
    seen: Mutex<SeenExecutions>,
}

#[derive(Debug, Default)]
struct SeenExecutions {
    /// Paths that were already examined.
    known: HashSet<PathBuf>,
    programs: BTreeSet<PathBuf>,
    has_gaps: bool,
    is_harmful: bool,
    /// The directories below which opened files are of interest, links resolved.
    watched: Vec<PathBuf>,
    /// Files that were opened, as written.
    asked: HashSet<PathBuf>,
    /// Those below `watched`, links resolved.
    opened: BTreeSet<PathBuf>,
    /// Directories below `watched` in which commands may write.
    spared: Vec<PathBuf>,
    /// The first file that a command was about to write to.
    written: Option<PathBuf>,
    /// What is told of each execution.
    told: Option<fn(&ProgramStart<'_>)>,
    /// The uses of each path, as long as that is recorded.
    uses: Option<HashMap<PathBuf, PathUse>>,
}

/// How commands use a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathUse {
    /// The first use. A look is replaced by the use that follows.
    first: FileAccess,
    /// Whether a command removes, renames or cuts it.
    pub is_changed: bool,
}

impl PathUse {
    /// Whether a command opens it before one makes or changes it.
    pub fn is_opened(self) -> bool {
        self.first == FileAccess::Read
    }

    /// Whether a command looks at it or reads it before one makes or changes it.
    pub fn is_read(self) -> bool {
        matches!(self.first, FileAccess::Look | FileAccess::Read)
    }
}

impl SeenExecutions {
    /// Watching would change the behaviour of the test.
    fn give_up(&mut self) {
        (self.is_harmful, self.has_gaps) = (true, true);
    }
}

impl ExecutedPrograms {
    fn lock(&self) -> MutexGuard<'_, SeenExecutions> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The programs so far, and the interpreters of scripts: absolute paths, links not resolved.
    pub fn programs(&self) -> BTreeSet<PathBuf> {
        self.lock().programs.clone()
    }

    /// Whether some program may be missing: the kernel does not support the filter, or a process may not be examined.
    pub fn has_gaps(&self) -> bool {
        self.lock().has_gaps
    }

    /// Records the files below some directories (links resolved) that commands open while their files are watched.
    ///
    /// - `spared`: directories below them in which commands may write.
    pub fn watch_files_below(&self, directories: Vec<PathBuf>, spared: Vec<PathBuf>) {
        let mut seen = self.lock();
        (seen.watched, seen.spared) = (directories, spared);
    }

    /// Tells each execution to a function from now on, or to none.
    pub fn tell(&self, told: Option<fn(&ProgramStart<'_>)>) {
        self.lock().told = told;
    }

    /// Records from now on which paths commands use.
    pub fn record_uses(&self) {
        self.lock().uses = Some(HashMap::new());
    }

    /// The paths that were used since [`record_uses`](Self::record_uses), as written and with links resolved: absolute
    /// ones, without `.` and `..`. They need not exist. Nothing is recorded from now on.
    pub fn take_uses(&self) -> HashMap<PathBuf, PathUse> {
        self.lock().uses.take().unwrap_or_default()
    }

    /// Records the use of a path, as written and with links resolved.
    fn record_use(&self, path: &Path, access: FileAccess) {
        let is_changed = access == FileAccess::Change;
        let is_new = |known: Option<&PathUse>| {
            known.is_none_or(|known| {
                known.first == FileAccess::Look && access != known.first || is_changed && !known.is_changed
            })
        };
        let written = without_dots(path);
        if !self.lock().uses.as_ref().is_some_and(|uses| is_new(uses.get(&written))) {
            return;
        }
        let resolved = fs::canonicalize(path).ok();
        let mut seen = self.lock();
        for path in [Some(written), resolved].into_iter().flatten() {
            let Some(uses) = &mut seen.uses else { continue };
            let known = uses.entry(path).or_insert(PathUse { first: access, is_changed });
            if known.first == FileAccess::Look {
                known.first = access;
            }
            known.is_changed |= is_changed;
        }
    }

    /// Whether a command was about to write to such a file.
    pub fn is_leaking(&self) -> bool {
        self.lock().written.is_some()
    }

    /// The file that a command was about to write to, which was prevented.
    pub fn written(&self) -> Option<PathBuf> {
        self.lock().written.clone()
    }

    /// The directories of the files that are recorded.
    pub fn watched(&self) -> Vec<PathBuf> {
        self.lock().watched.clone()
    }

    /// All files that commands tried to open while their files were watched, as written.
    pub fn asked(&self) -> Vec<PathBuf> {
        self.lock().asked.iter().cloned().collect()
    }

    /// The recorded files, links resolved.
    pub fn opened(&self) -> BTreeSet<PathBuf> {
        self.lock().opened.clone()
    }

    /// Whether watching would change the behaviour of a test, so the command must be ended and run again without it.
    /// This is the case if a program needs rights that it cannot get while it is watched (`sudo`, `ping`), or wants to
    /// install such a filter itself (`podman`).
    pub fn is_harmful(&self) -> bool {
        self.lock().is_harmful
    }

    /// Adds a path that a process is about to execute.
    pub(crate) fn take_in(&self, path: PathBuf, takes_privileges: bool) {
        if !self.lock().known.insert(path.clone()) {
            return;
        }
        // A missing file is no error: shells try the directories of `PATH` in turn.
        let Ok(metadata) = fs::metadata(&path) else {
            self.lock().known.remove(&path);
            return;
        };
        if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
            return;
        }
        if takes_privileges && gets_rights(&path, &metadata) {
            self.lock().give_up();
        }
        let interpreter = interpreter(&path);
        self.lock().programs.insert(path);
        if let Some(interpreter) = interpreter.filter(|interpreter| interpreter.is_absolute()) {
            self.take_in(interpreter, takes_privileges);
        }
    }
}

/// Whether a program runs with other rights than its caller.
fn gets_rights(path: &Path, metadata: &fs::Metadata) -> bool {
    let is_setuid = metadata.mode() & SETUID_OR_SETGID != 0;
    is_setuid || rustix::fs::getxattr(path, "security.capability", &mut [0_u8; 64][..]).is_ok()
}

/// The path without `.` and `..`, resolved by name only.
pub fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// The program that the kernel starts for a script.
fn interpreter(path: &Path) -> Option<PathBuf> {
    let mut line = Vec::new();
    File::open(path).ok()?.take(MAX_FIRST_LINE).read_to_end(&mut line).ok()?;
    let line = line.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let name = line.trim_ascii_start().split(|byte| matches!(byte, b' ' | b'\t')).next()?;
    Some(PathBuf::from(OsStr::from_bytes(name)))
}

/// Prepares to watch a command; `None`, and a gap, if that is not possible.
///
/// - `with_files`: whether the files that it opens are watched.
pub(super) fn follow(executions: &Arc<ExecutedPrograms>, with_files: bool) -> Option<(ExecutionWatch, WatchSetup)> {
    let watched = match (executions.lock().uses.is_some(), with_files) {
        (true, _) => WatchedCalls::Looks,
        (false, true) => WatchedCalls::Files,
        (false, false) => WatchedCalls::Programs,
    };
    let following = system::follow(executions, watched);
    if following.is_none() {
        executions.misses();
    }
    following
}

impl Observer for ExecutedPrograms {
    fn executes(&self, execution: ProgramStart<'_>) {
        let told = self.lock().told;
        if let Some(told) = told {
            told(&execution);
        }
        self.record_use(&execution.program, FileAccess::Read);
        self.take_in(execution.program, execution.takes_privileges);
    }

    fn is_leaking(&self) -> bool {
        ExecutedPrograms::is_leaking(self)
    }

    fn uses(&self, path: PathBuf, access: FileAccess) {
        self.record_use(&path, access);
        if access == FileAccess::Look {
            return;
        }
        let watched = self.watched();
        let is_read = access == FileAccess::Read;
        if watched.is_empty() || !self.lock().asked.insert(path.clone()) && is_read {
            return;
        }
        let is_there = fs::symlink_metadata(&path).is_ok();
        let file = if is_read || access == FileAccess::Write && is_there {
            fs::canonicalize(&path).ok().filter(|file| file.is_file())
        } else {
            // The entry itself, also one that is made.
            let entry = || Some(fs::canonicalize(path.parent()?).ok()?.join(path.file_name()?));
            let has_effect = match access {
                FileAccess::Make => !is_there,
                FileAccess::Change => is_there,
                FileAccess::Look | FileAccess::Read | FileAccess::Write => true,
            };
            entry().filter(|_| has_effect)
        };
        let is_below = |file: &PathBuf| watched.iter().any(|directory| file.starts_with(directory));
        let Some(file) = file.filter(is_below) else { return };
        let mut seen = self.lock();
        if !is_read && !seen.spared.iter().any(|directory| file.starts_with(directory)) {
            seen.written.get_or_insert_with(|| file.clone());
        }
        seen.opened.insert(file);
    }

    fn misses(&self) {
        self.lock().has_gaps = true;
    }

    fn harms(&self) {
        self.lock().give_up();
    }

    fn is_harmful(&self) -> bool {
        ExecutedPrograms::is_harmful(self)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::process::{Command, CommandWatch, CommandWords, EndedCommand, ProcessGroup, run};
    use idd_base::Ending;

    struct Watcher(Arc<ExecutedPrograms>);

    impl CommandWatch for Watcher {
        fn executions(&self) -> Option<Arc<ExecutedPrograms>> {
            Some(Arc::clone(&self.0))
        }

        fn started(&mut self, _: ProcessGroup) {}

        fn is_interrupted(&self) -> bool {
            self.0.is_harmful()
        }
    }

    fn shell(line: &str, directory: &Path, path: &str) -> (EndedCommand, Arc<ExecutedPrograms>) {
        let executions = Arc::new(ExecutedPrograms::default());
        let command = Command {
            words: CommandWords::Shell(line.into()),
            directory: directory.to_owned(),
            view: None,
            environment: vec![("PATH".into(), path.into())],
            limit: Duration::from_secs(20),
        };
        let ran = run(&command, &mut Watcher(Arc::clone(&executions))).unwrap();
        (ran, executions)
    }

    fn write(path: &Path, text: &str) {
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn every_program_is_seen_with_the_interpreter_of_a_script() {
        let directory = tempfile::tempdir().unwrap();
        let here = directory.path();
        for name in ["first", "second"] {
            fs::create_dir(here.join(name)).unwrap();
        }
        write(&here.join("second/tool"), "#! /bin/sh -e\n/bin/echo from a tool\n");
        write(&here.join("relative"), "#!/usr/bin/env /bin/true\n");
        fs::write(here.join("first/tool"), "not executable").unwrap();
        let path = format!("{0}/first:{0}/second", here.display());
        let (ran, executions) = shell("tool & ./relative; wait; exit 7", here, &path);
        assert_eq!((ran.ending, &ran.output[..]), (Ending::Exit(7), &b"from a tool\n"[..]));
        let programs = executions.programs();
        for program in ["/bin/sh", "/bin/echo", "/usr/bin/env"] {
            assert!(programs.contains(Path::new(program)), "{program} in {programs:?}");
        }
        assert!(programs.contains(&here.join("second/tool")) && programs.contains(&here.join("./relative")));
        assert!(!programs.contains(&here.join("first/tool")));
        assert!(!executions.has_gaps() && !executions.is_harmful());
    }

    #[test]
    fn a_watched_command_ends_and_is_cut_as_ever() {
        let here = std::env::temp_dir();
        let path = "/usr/bin:/bin";
        let (ran, _) = shell("kill -SEGV $$", &here, path);
        assert_eq!(ran.ending, Ending::Signal(libc::SIGSEGV));
        let (ran, _) = shell("no-such-program", &here, path);
        assert_eq!(ran.ending, Ending::Exit(127));
        let begin = Instant::now();
        let (ran, _) = shell("sleep 1000 & setsid sleep 1000 & exit 3", &here, path);
        assert_eq!(ran.ending, Ending::Exit(3));
        assert!(begin.elapsed() < Duration::from_secs(15));
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn a_test_that_watches_others_is_not_watched() {
        let here = std::env::temp_dir();
        for (flags, expected) in [(1 << 2, false), (1 << 3, true)] {
            let line = format!("perl -e 'syscall(317, 1, {flags}, 0)'");
            let (ran, executions) = shell(&line, &here, "/usr/bin:/bin");
            assert_eq!((ran.cancelled, executions.is_harmful()), (expected, expected));
        }
    }

    #[test]
    fn a_program_with_other_rights_makes_watching_harmful() {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("program");
        write(&program, "");
        let executions = ExecutedPrograms::default();
        executions.take_in(program.clone(), true);
        assert!(!executions.is_harmful());
        fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).unwrap();
        for (takes_privileges, expected) in [(false, false), (true, true)] {
            let executions = ExecutedPrograms::default();
            executions.take_in(program.clone(), takes_privileges);
            assert_eq!(executions.is_harmful(), expected);
        }
    }
}
