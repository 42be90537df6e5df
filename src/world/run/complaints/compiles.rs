//! Finds out how a build calls its compilers, with links under the compilers' names at the front of `PATH`.
//!
//! Each link leads to this program, which [logs](note) the call in the file in `IDD_COMPILES` and runs the real
//! compiler. After the build, the link `idd-compiles` [lists](list) the calls, short enough for the limited output of a
//! probe. So the list is a normal observation, and a resumed hunt knows it without a build.
//!
//! A compiler that a build calls by an absolute path is seen where the system permits to watch what is executed: this process
//! [logs](note_execution) its call.

use crate::compiler::arguments::{is_probe, words_of};
use crate::compiler::is_known;
use crate::process::shell::quoted;
use crate::run::complaints::c::CheckedUnit;
use crate::run::complaints::{c, plain};
use crate::run::toolchain;
use crate::system::observer::ProgramStart;
use crate::{files, process};
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The variable with the log file, for the compilers' links.
pub const VARIABLE: &str = "IDD_COMPILES";

/// The variable with the directory of the links.
pub const LINKS: &str = "IDD_COMPILES_BIN";

/// The name of the link that lists the calls.
pub const LISTER: &str = "idd-compiles";

/// The largest response file that is read, in bytes.
const MAX_RESPONSE_FILE: u64 = 1 << 20;

/// The text for the worktree in output; see the sandbox.
const WORKTREE: &str = "<worktree>";

/// Options with a value in the next word that affect how a source is read.
const KEPT_WITH_VALUE: [&str; 17] = [
    "-I",
    "-D",
    "-U",
    "-x",
    "-B",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "-target",
    "-Xclang",
    "--param",
];

/// Options with a value in the next word that are dropped.
const LEFT_OUT_WITH_VALUE: [&str; 16] = [
    "-o",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-L",
    "-l",
    "-T",
    "-u",
    "-z",
    "-e",
    "-Xlinker",
    "-Xassembler",
    "-framework",
    "-aux-info",
    "-dumpbase",
];

/// Options that are dropped.
const LEFT_OUT: [&str; 18] = [
    "-c",
    "-w",
    "-s",
    "-r",
    "-v",
    "-pipe",
    "-pie",
    "-no-pie",
    "-static",
    "-shared",
    "-rdynamic",
    "-nostdlib",
    "-nodefaultlibs",
    "-nostartfiles",
    "-pedantic-errors",
    "-fwhole-program",
    "-fstack-usage",
    "--coverage",
];

/// Prefixes of options that are dropped: options of linker and optimiser, options that write files, and options that
/// disable warnings.
const LEFT_OUT_BEGINNINGS: [&str; 19] = [
    "-o",
    "-M",
    "-O",
    "-g",
    "-l",
    "-L",
    "-Wl,",
    "-Wa,",
    "-Wp,-M",
    "-Werror",
    "-Wno-",
    "-Wfatal-errors",
    "-flto",
    "-fuse-ld",
    "-fprofile",
    "-ftest-coverage",
    "-fdiagnostics",
    "-fmax-errors",
    "-save-temps",
];

/// Options of calls that compile nothing.
const NOTHING_COMPILED: [&str; 9] =
    ["-E", "-S", "-M", "-MM", "-fsyntax-only", "--version", "-dumpversion", "-dumpmachine", "-###"];

/// One logged call: a line of JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct LoggedCall {
    /// Directory, compiler, and its options that affect how sources are read.
    words: Vec<String>,
    sources: Vec<String>,
}

/// The options and the sources of a call; `None` if it compiles no source of C or C++, or only tests the compiler.
///
/// Options that disable warnings are dropped: a warning at both ends does not count anyway.
fn call(compiler: &str, words: &[OsString], directory: &Path) -> Option<LoggedCall> {
    let mut call = LoggedCall { words: vec![directory.to_str()?.to_owned(), compiler.to_owned()], sources: Vec::new() };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_str()?;
        if NOTHING_COMPILED.contains(&text) || text.starts_with("-print-") || text.starts_with("-fdump-") {
            return None;
        }
        if KEPT_WITH_VALUE.contains(&text) {
            call.words.extend([text.to_owned(), words.next()?.to_str()?.to_owned()]);
        } else if LEFT_OUT_WITH_VALUE.contains(&text) {
            words.next()?;
        } else if text.starts_with('-') && text.len() > 1 {
            let is_left_out =
                LEFT_OUT.contains(&text) || LEFT_OUT_BEGINNINGS.iter().any(|begin| text.starts_with(begin));
            if !is_left_out {
                call.words.push(text.to_owned());
            }
        } else if c::is_source(word.as_bytes()) {
            call.sources.push(text.to_owned());
        }
    }
    let is_trial = is_probe(directory) || call.sources.iter().any(|source| is_probe(Path::new(source)));
    (!is_trial && !call.sources.is_empty()).then_some(call)
}

/// Logs a call in `file`, if that is possible.
fn log(file: &Path, compiler: &OsStr, words: &[OsString], directory: &Path) {
    let mut expanded = Vec::new();
    for word in words {
        match word
            .as_bytes()
            .strip_prefix(b"@")
            .and_then(|name| response_file(&directory.join(OsStr::from_bytes(name))))
        {
            Some(content) => expanded.extend(words_of(&content)),
            None => expanded.push(word.clone()),
        }
    }
    if let Some(call) = call(&compiler.to_string_lossy(), &expanded, directory)
        && let Ok(line) = serde_json::to_string(&call)
    {
        // A process of the build may say anything of the file: it must neither lead to another one nor hold this process up.
        let flags = OFlags::APPEND | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        if file.ends_with(LISTER)
            && let Ok(file) = rustix::fs::open(file, flags, Mode::empty())
        {
            // In one write, because compilers run at the same time.
            let _ = rustix::io::write(file, (line + "\n").as_bytes());
        }
    }
}

/// The words of a response file; `None` if it is no file, or too large.
fn response_file(path: &Path) -> Option<Vec<u8>> {
    files::plain_up_to(&fs::canonicalize(path).ok()?, MAX_RESPONSE_FILE).ok()?
}

/// Logs the call of a compiler that a process of a watched build is about to execute. The links log their own calls.
pub fn note_execution(start: &ProgramStart<'_>) {
    let program = &start.program;
    let name = program.file_name().and_then(OsStr::to_str);
    if !name.is_some_and(is_known) || !program.is_file() {
        return;
    }
    let is_link = |links: OsString| program.starts_with(links);
    if let Some(file) = start.variable(VARIABLE)
        && !start.variable(LINKS).is_some_and(is_link)
        && let Some(words) = (start.words)()
        && let Some(directory) = start.directory()
    {
        log(Path::new(&file), program.as_os_str(), words.get(1..).unwrap_or_default(), &directory);
    }
}

/// Logs a call in `file`, and runs it; the result is the compiler's exit code. If logging fails, the call is run
/// anyway.
///
/// - `name`: the link that was called.
/// - `path`: the directories of compilers, without the links.
pub fn note(file: &Path, name: &OsStr, words: &[OsString], directory: &Path, path: &OsStr) -> io::Result<i32> {
    log(file, name, words, directory);
    relay(name, words, directory, path)
}

/// Runs a call of a compiler by its name as it is; the result is its exit code. A link to this program is no compiler.
pub fn relay(name: &OsStr, words: &[OsString], directory: &Path, path: &OsStr) -> io::Result<i32> {
    let name = name.to_str().unwrap_or_default();
    let this = files::this_program().ok();
    let is_link = |place: &Path| {
        let program = fs::canonicalize(place).ok();
        program.as_deref().and_then(Path::file_name) == this.as_deref().and_then(Path::file_name)
    };
    let is_compiler = |place: &PathBuf| place.is_file() && !is_link(place);
    let program = toolchain::places(path, name).find(is_compiler).ok_or(io::ErrorKind::NotFound)?;
    let words: Vec<&OsStr> = words.iter().map(OsString::as_os_str).collect();
    process::relay(program.as_os_str(), &words, directory, &[("PATH".into(), path.to_owned())], false)
}

/// The calls in `file`, for [`Compiles::read`]: each source once, common options once.
pub fn list(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    let mut first: BTreeMap<String, LoggedCall> = BTreeMap::new();
    for call in text.lines().filter_map(|line| serde_json::from_slice::<LoggedCall>(line.as_bytes()).ok()) {
        for source in &call.sources {
            let place = Path::new(&call.words[0]).join(source);
            let place = place.to_string_lossy().into_owned();
            let one = LoggedCall { words: call.words.clone(), sources: vec![source.clone()] };
            // If a source is compiled in several ways, the choice does not depend on the order of compilation.
            let known = first.entry(place).or_insert_with(|| one.clone());
            if one.words < known.words {
                *known = one;
            }
        }
    }
    let mut together: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    for call in first.into_values() {
        together.entry(call.words).or_default().extend(call.sources);
    }
    let json = |value: &dyn Fn() -> serde_json::Result<String>| value().unwrap_or_default() + "\n";
    let mut text = String::new();
    for (words, sources) in together {
        text += &json(&|| serde_json::to_string(&words));
        for source in sources {
            text += &json(&|| serde_json::to_string(&source));
        }
    }
    text + "@idd end\n"
}

/// Creates links to `program` in the new directory `links`, under the names of all compilers in `path`.
pub fn prepare(program: &Path, links: &Path, path: &OsStr) -> io::Result<()> {
    fs::create_dir_all(links)?;
    let mut names = vec![OsString::from(LISTER)];
    for directory in path.as_bytes().split(|byte| *byte == b':').filter(|directory| directory.starts_with(b"/")) {
        let found = files::names(Path::new(OsStr::from_bytes(directory)));
        names.extend(found.into_iter().filter(|name| name.to_str().is_some_and(is_known)));
    }
    names.sort();
    names.dedup();
    for name in names {
        match std::os::unix::fs::symlink(program, links.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// The shell line that builds with the links at the front of `PATH`, and prints only the list of calls.
///
/// - `builds`: lines for the shell. Each is run only if the previous ones compiled nothing.
pub fn line(builds: &[&OsStr]) -> OsString {
    use std::os::unix::ffi::OsStringExt;
    let mut text = format!(
        "{VARIABLE}=\"$TMPDIR/{LISTER}\"; PATH=\"${LINKS}:$PATH\"; export {VARIABLE} PATH\n: > \"${VARIABLE}\"\n"
    )
    .into_bytes();
    for build in builds {
        text.extend(format!("test -s \"${VARIABLE}\" || sh -c ").bytes());
        text.extend(quoted(build.as_bytes()));
        text.extend(b" >/dev/null 2>&1\n");
    }
    text.extend(LISTER.bytes());
    text.push(b'\n');
    OsString::from_vec(text)
}

/// How a build compiles its sources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compiles {
    /// By path of the source.
    seen: BTreeMap<Vec<u8>, SeenCompile>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct SeenCompile {
    directory: String,
    /// Compiler and options, for the shell.
    command: Vec<u8>,
    /// Its name in the call, for the shell.
    source: Vec<u8>,
}

impl Compiles {
    /// Reads the list of calls; of cut output, the complete part. `None` if there is no list.
    pub fn read(output: &str) -> Option<Self> {
        let mut compiles = Self::default();
        let mut words: Option<Vec<String>> = None;
        let mut is_whole = false;
        for line in output.lines() {
            is_whole |= line == "@idd end";
            if line.starts_with('[') {
                words = serde_json::from_slice(line.as_bytes()).ok();
            } else if let (Some(words), Ok(source)) = (&words, serde_json::from_slice::<String>(line.as_bytes()))
                && let Some((path, seen)) = seen(words, &source)
            {
                compiles.seen.entry(path).or_insert(seen);
            }
        }
        is_whole.then_some(compiles)
    }

    /// The check with `flags` of a source, relative to the top; `None` if it was not compiled.
    pub fn unit(&self, path: &[u8], flags: &str) -> Option<CheckedUnit> {
        let SeenCompile { directory, command, source } = self.seen.get(path)?;
        let command = [&command[..], flags.as_bytes(), source].join(&b' ');
        Some(CheckedUnit { path: path.to_vec(), directory: directory.clone(), command })
    }
}

fn seen(words: &[String], source: &str) -> Option<(Vec<u8>, SeenCompile)> {
    let [directory, compiler, options @ ..] = words else { return None };
    let directory = match directory.strip_prefix(WORKTREE)? {
        "" => ".".to_owned(),
        below => plain(below)?,
    };
    let path = match source.strip_prefix(WORKTREE) {
        Some(below) => plain(below)?,
        None if source.starts_with('/') => return None,
        None => plain(&format!("{directory}/{source}"))?,
    };
    let mut command = quoted(compiler.as_bytes());
    for word in options {
        command.push(b' ');
        command.extend(in_worktree(word));
    }
    Some((path.into_bytes(), SeenCompile { directory, command, source: in_worktree(source) }))
}

/// A word for the shell, with the worktree replaced by the current one.
fn in_worktree(word: &str) -> Vec<u8> {
    let parts: Vec<Vec<u8>> = word.split(WORKTREE).map(|part| quoted(part.as_bytes())).collect();
    parts.join(&b"\"$IDD_WORKTREE\""[..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::FileType;

    fn called(line: &str) -> Option<(String, Vec<String>)> {
        let call = call("gcc", &words_of(line.as_bytes()), Path::new("/w"))?;
        Some((call.words[2..].join(" "), call.sources))
    }

    #[track_caller]
    fn check(line: &str, options: &str, sources: &[&str]) {
        let expected = Some((options.to_owned(), sources.iter().map(|source| (*source).to_owned()).collect()));
        assert_eq!(called(line), expected, "{line}");
    }

    #[test]
    fn of_a_call_stays_how_its_sources_are_read() {
        check(
            "-I inc -Idir -DX=1 -std=gnu11 -Werror=foo -Wno-unused -Wcast-align -w -O2 -g3 -MD -MF a.d -MT a.o -fPIC -m32 -c -o a.o a.c",
            "-I inc -Idir -DX=1 -std=gnu11 -Wcast-align -fPIC -m32",
            &["a.c"],
        );
        check(
            "-o prog -include x.h a.cc b.o c.cpp -lm -L lib -Wl,-z,now -pthread",
            "-include x.h -pthread",
            &["a.cc", "c.cpp"],
        );
        for line in
            ["", "-o a b.o", "-E a.c", "--version", "-c conftest.c", "-c a.S", "-M a.c", "-print-prog-name=ld a.c"]
        {
            assert_eq!(called(line), None, "{line}");
        }
    }

    #[test]
    fn what_was_noted_is_listed_shortly_and_read_again() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("calls");
        for (directory, words) in [
            ("<worktree>", "-DX -c b.c"),
            ("<worktree>/sub", "-I<worktree>/inc -c ../a.c"),
            ("<worktree>", "-DX -O2 -c z.c"),
            ("<worktree>", "-DY -c z.c"),
            ("/elsewhere", "-c e.c"),
        ] {
            let call = call("gcc", &words_of(words.as_bytes()), Path::new(directory)).unwrap();
            files::append(&file, (serde_json::to_string(&call).unwrap() + "\n").as_bytes()).unwrap();
        }
        let text = list(&file);
        assert_eq!(text.matches("-DX").count(), 1, "{text}");
        let compiles = Compiles::read(&text).unwrap();
        let paths: Vec<&[u8]> = compiles.seen.keys().map(Vec::as_slice).collect();
        assert_eq!(paths, [b"a.c", b"b.c", b"z.c"]);
        let unit = compiles.unit(b"a.c", "-Wall").unwrap();
        let command = String::from_utf8(unit.command).unwrap();
        assert_eq!(command, "gcc -I\"$IDD_WORKTREE\"/inc -Wall ../a.c");
        assert_eq!(unit.directory, "sub");
        assert_eq!(Compiles::read("sh: idd-compiles: not found\n"), None);
    }

    #[test]
    fn a_build_neither_leads_the_log_elsewhere_nor_holds_it_up() {
        let place = tempfile::tempdir().unwrap();
        let here = |name: &str| place.path().join(name);
        let note = |file: &Path, words: &str| log(file, OsStr::new("cc"), &words_of(words.as_bytes()), place.path());
        let pipe = |path: &Path| rustix::fs::mknodat(rustix::fs::CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap();
        // Nobody reads the pipes.
        pipe(&here(LISTER));
        pipe(&here("words"));
        note(&here(LISTER), "-c a.c");
        fs::remove_file(here(LISTER)).unwrap();
        fs::write(here("mine"), "").unwrap();
        std::os::unix::fs::symlink(here("mine"), here(LISTER)).unwrap();
        note(&here(LISTER), "-c a.c");
        note(&here("mine"), "-c a.c");
        assert_eq!(fs::read(here("mine")).unwrap(), b"");
        fs::remove_file(here(LISTER)).unwrap();
        fs::write(here(LISTER), "").unwrap();
        fs::write(here("options"), "-DX b.c").unwrap();
        note(&here(LISTER), "-c @words @/dev/zero a.c");
        note(&here(LISTER), "-c @options");
        let text = list(&here(LISTER));
        assert!(text.contains("\"-DX\"") && text.contains("\"b.c\"") && text.contains("\"a.c\""), "{text}");
    }
}
