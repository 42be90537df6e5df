//! The directory of an instrumented build: the compiler's links, the runtime, the maps and what happened.
//!
//! ```text
//! bin/      cc, gcc, clang, c99, <triple>-gcc, c++, g++: links to this program, for the front of PATH
//! runtime.o what is linked into programs
//! maps/     one file for each unit that was instrumented, by its number
//! next      number of the next unit and of the next segment, in text; locked while it is changed
//! objects   where instrumented objects are kept; see [`InstrumentedObjects`]
//! claims/   one file for each kept unit that is used: the source and the output
//! grain     how long segments are: 0 or 1
//! idd.hpp   what every C++ source begins with
//! log       one line for each command: see [`Logged`]
//! ```

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::compiler::{CPLUSPLUS, NAMES, is_known};
use crate::record::objects::{InstrumentedObjects, KeptObject};
use crate::record::{RecordError, objects};
use crate::{files, process};
use idd_trace::instrument::SegmentGrain;

/// The variable with the directory, for the compiler's links.
pub const VARIABLE: &str = "IDD_BUILD";

/// The compilers to search, best first.
const COMPILERS: [&str; 8] =
    ["clang-19", "clang-18", "clang-17", "clang-20", "clang-21", "clang-22", "clang-16", "clang"];

/// The oldest supported clang.
const OLDEST: u32 = 16;

/// The runtime, one unit.
const RUNTIME: &str = concat!(
    include_str!("runtime/trace.c"),
    include_str!("runtime/control.c"),
    include_str!("runtime/files.c"),
    include_str!("runtime/clock.c"),
    include_str!("runtime/threads.c"),
    include_str!("runtime/exec.c"),
    include_str!("runtime/fault.c"),
    include_str!("runtime/forks.c")
);

/// With it, the functions of `std::string` are compiled in each unit, so that they are instrumented. The library of GNU
/// defines the macro itself, as 1: they are those of the library then. With 0, those of the streams would be, too.
const HEADER: &str = "#if __has_include(<bits/c++config.h>)
#include <bits/c++config.h>
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE -1
#endif
";

/// Functions of the C library that the runtime wraps.
pub const WRAPPED: [&str; 46] = [
    "_exit",
    "_Exit",
    "execve",
    "execv",
    "execvp",
    "execvpe",
    "fexecve",
    "execveat",
    "execl",
    "execlp",
    "execle",
    "time",
    "gettimeofday",
    "clock_gettime",
    "clock",
    "getpid",
    "kill",
    "fork",
    "_Fork",
    "clone",
    "syscall",
    "close",
    "closefrom",
    "close_range",
    "dup2",
    "dup3",
    "sigaction",
    "signal",
    "__sysv_signal",
    "getrandom",
    "getentropy",
    "pthread_create",
    "pthread_join",
    "pthread_mutex_lock",
    "pthread_mutex_trylock",
    "pthread_mutex_unlock",
    "pthread_cond_wait",
    "pthread_cond_timedwait",
    "pthread_cond_signal",
    "pthread_cond_broadcast",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_unlock",
    "pthread_barrier_wait",
    "sem_wait",
    "sem_post",
];

/// A log entry for one source, or one command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Logged {
    /// The source was instrumented.
    Instrumented(String),
    /// The source was compiled without instrumentation, with the reason.
    Plain(String, String),
    /// A program or library was linked.
    Linked(String),
}

/// The directory of an instrumented build.
#[derive(Debug, Clone)]
pub struct BuildDirectory {
    /// Its path.
    pub path: PathBuf,
    /// The clang that is used.
    pub clang: PathBuf,
    /// The length of segments.
    pub grain: SegmentGrain,
    /// Where instrumented objects are kept.
    pub objects: Option<InstrumentedObjects>,
}

impl BuildDirectory {
    /// Creates one whose compilers are links to `program`, and which takes objects that were kept.
    ///
    /// - `cache`: the directory of the user in which the compiled runtime is kept, for all repositories.
    pub fn create(
        path: &Path,
        clang: &Path,
        program: &Path,
        cache: &Path,
        grain: SegmentGrain,
        objects: Option<&InstrumentedObjects>,
    ) -> Result<Self, RecordError> {
        let failed = |source| RecordError::Prepare { path: path.to_owned(), source };
        fs::create_dir_all(path.join("bin")).map_err(failed)?;
        fs::create_dir_all(path.join("maps")).map_err(failed)?;
        for name in NAMES.iter().chain(&CPLUSPLUS) {
            std::os::unix::fs::symlink(program, path.join("bin").join(name)).map_err(failed)?;
        }
        fs::write(path.join("clang"), clang.as_os_str().as_encoded_bytes()).map_err(failed)?;
        fs::write(path.join("grain"), (grain as u32).to_string()).map_err(failed)?;
        if let Some(objects) = objects {
            fs::write(path.join("objects"), objects.path().as_os_str().as_bytes()).map_err(failed)?;
        }
        let build = Self { path: path.to_owned(), clang: clang.to_owned(), grain, objects: objects.cloned() };
        // Without a place for it, it is compiled each time.
        build.compile_runtime(InstrumentedObjects::prepare(&cache.join("runtime")).ok().as_ref())?;
        build.renumber().map_err(failed)?;
        Ok(build)
    }

    /// Compiles what is linked into programs, unless it is kept, and writes the header.
    fn compile_runtime(&self, runtimes: Option<&InstrumentedObjects>) -> Result<(), RecordError> {
        let failed = |source| RecordError::Prepare { path: self.path.clone(), source };
        fs::write(self.header(), HEADER).map_err(failed)?;
        let words = ["-O2", "-fPIC", "-w", "-c", "trace.c", "-o", "runtime.o"].map(OsStr::new);
        let key = objects::key(&self.clang, SegmentGrain::Straight, words, RUNTIME.as_bytes());
        if let Some(kept) = runtimes.and_then(|runtimes| runtimes.find(&key)) {
            return fs::write(self.runtime(), kept.object).map_err(failed);
        }
        fs::write(self.path.join("trace.c"), RUNTIME).map_err(failed)?;
        self.compile(&words)?;
        if let Some(runtimes) = runtimes {
            let object = fs::read(self.runtime()).map_err(failed)?;
            runtimes.keep(&key, &KeptObject { unit: 0, map: Vec::new(), object });
        }
        Ok(())
    }

    /// Compiles a part of the recorder in this directory.
    pub fn compile(&self, words: &[&OsStr]) -> Result<(), RecordError> {
        let failed = |source| RecordError::Prepare { path: self.path.clone(), source };
        let said = process::capture(self.clang.as_os_str(), words, &self.path, &[]).map_err(failed)?;
        if said.code == Some(0) {
            return Ok(());
        }
        Err(RecordError::Runtime { said: String::from_utf8_lossy(&said.stderr).into_owned() })
    }

    /// Adds links for the versioned compilers in `path`, such as `gcc-12`.
    pub fn link_versions(&self, path: &OsStr, program: &Path) -> Result<(), RecordError> {
        for directory in path.as_bytes().split(|byte| *byte == b':').filter(|directory| !directory.is_empty()) {
            for name in files::names(Path::new(OsStr::from_bytes(directory))) {
                let link = self.bin().join(&name);
                if name.to_str().is_some_and(is_known) && link.symlink_metadata().is_err() {
                    let failed = |source| RecordError::Prepare { path: link.clone(), source };
                    std::os::unix::fs::symlink(program, &link).map_err(failed)?;
                }
            }
        }
        Ok(())
    }

    /// Starts again with the first number: a build in the same order, or with the same kept objects, gets the same numbers.
    pub fn renumber(&self) -> io::Result<()> {
        let claims = self.path.join("claims");
        fs::create_dir_all(&claims)?;
        for name in files::names(&claims) {
            fs::remove_file(claims.join(name))?;
        }
        fs::write(self.path.join("next"), "1 1\n")
    }

    /// Opens an existing one.
    pub fn open(path: &Path) -> Result<Self, RecordError> {
        let failed = |source| RecordError::Prepare { path: path.to_owned(), source };
        let clang = fs::read_to_string(path.join("clang")).map_err(failed)?;
        let grain = fs::read_to_string(path.join("grain")).map_err(failed)?;
        let grain = grain.trim().parse().ok().and_then(SegmentGrain::from_number);
        let grain = grain.ok_or_else(|| failed(io::ErrorKind::InvalidData.into()))?;
        let objects = fs::read(path.join("objects")).ok();
        let objects = objects.map(|path| InstrumentedObjects::open(OsStr::from_bytes(&path).into()));
        Ok(Self { path: path.to_owned(), clang: clang.into(), grain, objects })
    }

    /// The directory of the compiler's links.
    pub fn bin(&self) -> PathBuf {
        self.path.join("bin")
    }

    /// The object that is linked into programs.
    pub fn runtime(&self) -> PathBuf {
        self.path.join("runtime.o")
    }

    /// The header that every C++ source begins with.
    pub fn header(&self) -> PathBuf {
        self.path.join("idd.hpp")
    }

    /// The map of a unit.
    pub fn map(&self, unit: u32) -> PathBuf {
        self.path.join("maps").join(format!("{unit}.map"))
    }

    /// Allocates the number of a unit, and the first of `n_segments` numbers for its segments.
    pub fn number(&self, n_segments: u32) -> io::Result<(u32, u32)> {
        match &self.objects {
            Some(objects) => objects.number(n_segments),
            None => objects::number(&self.path.join("next"), n_segments),
        }
    }

    /// Takes a unit that was kept for a source and its output; `false` if it is in this build for another one already.
    pub fn claim(&self, unit: u32, owner: &[u8]) -> bool {
        let path = self.path.join("claims").join(unit.to_string());
        match File::options().write(true).create_new(true).open(&path) {
            Ok(mut file) => file.write_all(owner).is_ok(),
            Err(_) => fs::read(path).is_ok_and(|other| other == owner),
        }
    }

    /// Appends a log entry.
    pub fn log(&self, logged: &Logged) -> io::Result<()> {
        let mut line = serde_json::to_string(logged)?;
        line.push('\n');
        File::options().create(true).append(true).open(self.path.join("log"))?.write_all(line.as_bytes())
    }

    /// The log entries, in order.
    pub fn logged(&self) -> Vec<Logged> {
        let text = fs::read_to_string(self.path.join("log")).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_slice(line.as_bytes()).ok()).collect()
    }
}

/// Finds a clang that is new enough; `preferred` is the user's choice.
pub fn find_clang(path: &OsStr, preferred: Option<&OsStr>) -> Option<PathBuf> {
    let places = |name: &OsStr| -> Vec<PathBuf> {
        if Path::new(name).is_absolute() {
            return vec![name.into()];
        }
        path.as_encoded_bytes()
            .split(|byte| *byte == b':')
            .map(|directory| Path::new(&*String::from_utf8_lossy(directory)).join(name))
            .collect()
    };
    let is_usable = |place: &PathBuf| place.is_file() && version(place).is_some_and(|version| version >= OLDEST);
    let names: Vec<OsString> = match preferred {
        Some(preferred) => vec![preferred.to_owned()],
        None => COMPILERS.iter().map(OsString::from).collect(),
    };
    names.iter().flat_map(|name| places(name)).find(is_usable)
}

/// The version of a clang; `None` if it is no clang.
pub fn version(clang: &Path) -> Option<u32> {
    let said = process::capture(clang.as_os_str(), &[OsStr::new("--version")], Path::new("/"), &[]).ok()?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let (_, behind) = text.split_once("clang version ")?;
    behind.split('.').next()?.parse().ok()
}
