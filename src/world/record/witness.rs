//! Replaces the compilers that a build calls by a path of its own, or finds in a `PATH` of its own.
//!
//! Used only if nothing was recorded: the build runs once more, with a library loaded into all its processes
//! (`runtime/witness.c`). A compiler with such a name becomes the instrumenting one before it begins. All other calls are
//! logged with their caller, and name the compiler in the message if still nothing was recorded. A statically linked compiler
//! is not seen.

use crate::compiler::plain;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::record::RecordError;
use crate::record::build::BuildDirectory;

const SOURCE: &str = include_str!("runtime/witness.c");

/// The names of C compilers, without machine prefix and version suffix.
const COMPILERS: [&str; 11] = ["cc", "gcc", "clang", "c99", "c89", "tcc", "icx", "icc", "c++", "g++", "clang++"];

/// Programs that run others, and do not choose the compiler.
const RUNNERS: [&str; 10] = ["make", "gmake", "ninja", "samu", "cmake", "meson", "bash", "dash", "sh", "env"];

/// A compiler that was called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompilerRun {
    /// Its name or path, as it was called.
    pub compiler: String,
    /// The script or program that called it, unless that is a build tool.
    pub by: Option<String>,
}

/// Compiles the library: all further commands of this build have it.
///
/// Errors: the compiler cannot make a library.
pub fn load(build: &BuildDirectory) -> Result<(), RecordError> {
    let failed = |source| RecordError::Prepare { path: build.path.clone(), source };
    fs::write(build.path.join("witness.c"), SOURCE).map_err(failed)?;
    let words = ["-O2", "-fPIC", "-shared", "-w", "witness.c", "-o", "witness.so"].map(OsStr::new);
    build.compile(&words)
}

/// The variables that load the library, if it was compiled.
pub fn variables(build: &BuildDirectory) -> Vec<(OsString, OsString)> {
    let library = build.path.join("witness.so");
    if !library.exists() {
        return Vec::new();
    }
    let bin = build.bin().into();
    vec![
        ("LD_PRELOAD".into(), library.into()),
        ("IDD_WITNESS".into(), file(build).into()),
        ("IDD_WITNESS_BIN".into(), bin),
    ]
}

fn file(build: &BuildDirectory) -> PathBuf {
    build.path.join("witness")
}

/// The compilers that were called instead of the instrumenting one, each once, in order.
pub fn called(build: &BuildDirectory) -> io::Result<Vec<CompilerRun>> {
    let text = match fs::read(file(build)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        text => text?,
    };
    Ok(read(&String::from_utf8_lossy(&text)))
}

fn read(text: &str) -> Vec<CompilerRun> {
    let mut all: Vec<CompilerRun> = Vec::new();
    for line in text.lines() {
        let parts: Vec<&str> = line.split('\t').collect();
        let [program, name, caller, second] = parts[..] else { continue };
        // The instrumenting compiler is called like one, and calls one itself; compilers call themselves.
        let is_ours = |program| base(program).starts_with("git-idd");
        let is_one = is_compiler(base(program)) || is_compiler(base(name));
        if !is_one || is_ours(program) || is_ours(caller) || is_compiler(base(caller)) {
            continue;
        }
        let is_runner = RUNNERS.contains(&base(caller)) || caller.is_empty();
        let script = Some(second).filter(|second| !second.is_empty() && !second.starts_with('-'));
        let by = if is_runner {
            // A shell that runs a line, or a build tool, is not a wrapper.
            script.filter(|_| matches!(base(caller), "bash" | "dash" | "sh"))
        } else {
            Some(base(caller))
        };
        let one = CompilerRun { compiler: name.to_owned(), by: by.map(str::to_owned) };
        if !all.contains(&one) {
            all.push(one);
        }
    }
    all
}

fn base(path: &str) -> &str {
    Path::new(path).file_name().and_then(OsStr::to_str).unwrap_or_default()
}

/// Whether a program of this name compiles C or C++: `cc`, `clang-19`, `aarch64-linux-gnu-gcc-12`.
pub fn is_compiler(name: &str) -> bool {
    COMPILERS.contains(&plain(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_compilers_are_known_with_machine_and_version() {
        for name in ["cc", "gcc-12", "clang-19", "x86_64-linux-gnu-gcc-12.2", "clang++", "tcc", "musl-gcc"] {
            assert!(is_compiler(name), "{name}");
        }
        for name in ["cc1", "git-idd", "gcc-ar", "gcc-ranlib-12", "make", "ccache", "clang-format-19", ""] {
            assert!(!is_compiler(name), "{name}");
        }
    }

    #[test]
    fn compilers_are_told_from_the_instrumenting_one_and_from_what_they_call() {
        let text = "/usr/bin/dash\t/bin/sh\t/usr/bin/make\tall\n\
            /usr/bin/x86_64-linux-gnu-gcc-12\t/usr/bin/gcc\t/usr/bin/make\tall\n\
            /usr/bin/x86_64-linux-gnu-gcc-12\t/usr/bin/gcc\t/usr/bin/dash\t-c\n\
            /usr/bin/x86_64-linux-gnu-gcc-12\tgcc\t/usr/bin/dash\t./wrap\n\
            /opt/git-idd\tcc\t/usr/bin/make\tall\n\
            /usr/lib/llvm-19/bin/clang\t/usr/bin/clang-19\t/opt/git-idd\t-c\n\
            /usr/lib/llvm-19/bin/clang\tclang\t/usr/lib/llvm-19/bin/clang\t-c\n\
            /usr/bin/tcc\ttcc\t/usr/bin/ccache\ttcc\n";
        let called =
            |compiler: &str, by: Option<&str>| CompilerRun { compiler: compiler.into(), by: by.map(Into::into) };
        let expected = [called("/usr/bin/gcc", None), called("gcc", Some("./wrap")), called("tcc", Some("ccache"))];
        assert_eq!(read(text), expected);
    }
}
