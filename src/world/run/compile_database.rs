//! A compile database: the user's own compile command of each C source, as far as a syntax check needs it.
//!
//! Its content is not trusted. Only the compiler's name and a list of harmless options are used. A command with
//! anything else (a plug-in, a response file, a program to run) is not used at all. The check is a new shell line:
//! `/usr/bin/cc -fsyntax-only -w '-DX=1' -I"$IDD_WORKTREE"/include "$IDD_WORKTREE"/a.c`.
//!
//! Source of the format: "JSON Compilation Database Format Specification", Clang documentation.

use crate::process::executions::without_dots;
use crate::process::shell::quoted;
use crate::run::toolchain;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A longer database is not read.
const MAX_BYTES: u64 = 64 << 20;

/// Programs that run the compiler in their next argument.
const LAUNCHERS: [&str; 4] = ["ccache", "sccache", "distcc", "icecc"];

/// Names of C compilers, after a prefix such as `x86_64-linux-gnu-` and before a version such as `-12`.
const COMPILERS: [&str; 6] = ["cc", "gcc", "clang", "c89", "c99", "c11"];

/// Options `-f<name>` and `-fno-<name>` that change the language or the macros; all others are dropped.
const LANGUAGE_OPTIONS: [&str; 24] = [
    "PIC",
    "PIE",
    "asm",
    "blocks",
    "builtin",
    "common",
    "cond-mismatch",
    "dollars-in-identifiers",
    "exceptions",
    "fast-math",
    "freestanding",
    "gnu89-inline",
    "hosted",
    "lax-vector-conversions",
    "math-errno",
    "ms-extensions",
    "openmp",
    "pic",
    "pie",
    "plan9-extensions",
    "short-enums",
    "short-wchar",
    "signed-char",
    "unsigned-char",
];

/// Options that do not affect syntax; for the first ones the value is the next word.
const LEFT_OUT_WITH_VALUE: [&str; 5] = ["-o", "-MF", "-MT", "-MQ", "--param"];
const LEFT_OUT: [&str; 19] = [
    "--",
    "--coverage",
    "-MD",
    "-MMD",
    "-MP",
    "-c",
    "-no-pie",
    "-nostdlib",
    "-pedantic",
    "-pedantic-errors",
    "-pg",
    "-pie",
    "-pipe",
    "-pthread",
    "-rdynamic",
    "-s",
    "-shared",
    "-static",
    "-w",
];
const LEFT_OUT_BEGINNINGS: [&str; 10] = ["-O", "-W", "-g", "-L", "-l", "-o", "-MF", "-MT", "-MQ", "--param="];

/// Options for a compiler of which only the exit code counts.
const SILENT: &str = " -fsyntax-only -w";

/// The allowed places of a database and its files.
#[derive(Debug, Clone, Copy)]
pub struct DatabaseRoots<'g> {
    /// The top of the user's working tree; its paths become paths of the probe's worktree.
    pub top: &'g Path,
    /// Directories from which no compiler may come.
    pub foreign: &'g [PathBuf],
    /// The directories in which compilers without a directory are searched.
    pub path: &'g OsStr,
}

/// The syntax checks of a database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompileDatabase {
    /// For each C source, relative to the top, the line that checks it.
    checks: BTreeMap<Vec<u8>, Vec<u8>>,
    compilers: BTreeSet<PathBuf>,
}

#[derive(Debug, Deserialize)]
struct DatabaseEntry {
    directory: PathBuf,
    file: PathBuf,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

impl CompileDatabase {
    /// Reads a database; `None` if the file does not belong to this user, or has no usable command for a source below
    /// the top.
    pub fn read(path: &Path, grounds: &DatabaseRoots<'_>) -> Option<Self> {
        let file = fs::File::open(path).ok()?;
        let metadata = file.metadata().ok()?;
        let is_own = metadata.is_file() && metadata.uid() == rustix::process::geteuid().as_raw();
        (is_own && metadata.len() <= MAX_BYTES).then_some(())?;
        let mut text = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut text).ok()?;
        let entries: Vec<serde_json::Value> = serde_json::from_slice(&text).ok()?;
        let mut database = Self::default();
        for entry in entries.into_iter().filter_map(|entry| serde_json::from_value::<DatabaseEntry>(entry).ok()) {
            let Some((source, compiler, check)) = check(&entry, grounds) else { continue };
            // If a source is compiled several times, the first command counts.
            database.checks.entry(source).or_insert(check);
            database.compilers.insert(compiler);
        }
        (!database.checks.is_empty()).then_some(database)
    }

    /// Whether there is a check for a source, a path relative to the top.
    pub fn has(&self, source: &[u8]) -> bool {
        self.checks.contains_key(source)
    }

    /// The compilers of the checks.
    pub fn compilers(&self) -> impl Iterator<Item = &Path> {
        self.compilers.iter().map(PathBuf::as_path)
    }

    /// The compile command of a source with `flags` in place of the silent syntax check; `None` if unknown.
    pub fn line_with(&self, source: &[u8], flags: &str) -> Option<Vec<u8>> {
        let check = self.checks.get(source)?;
        let at = check.windows(SILENT.len()).position(|window| window == SILENT.as_bytes())?;
        Some([&check[..at], b" ", flags.as_bytes(), &check[at + SILENT.len()..]].concat())
    }

    /// The shell line that checks these sources in this order and stops at the first failure; `None` if none is known.
    pub fn line(&self, sources: &[Vec<u8>]) -> Option<OsString> {
        let checks: Vec<&[u8]> = sources.iter().filter_map(|source| Some(&self.checks.get(source)?[..])).collect();
        (!checks.is_empty()).then(|| OsString::from_vec(checks.join(&b" && "[..])))
    }
}

/// The source of an entry, its compiler, and the line that checks it; `None` if any part is not understood.
fn check(entry: &DatabaseEntry, grounds: &DatabaseRoots<'_>) -> Option<(Vec<u8>, PathBuf, Vec<u8>)> {
    let words: Vec<Vec<u8>> = match (&entry.arguments, &entry.command) {
        (Some(words), _) => words.iter().map(|word| word.clone().into_bytes()).collect(),
        (None, Some(line)) => shlex::bytes::split(line.as_bytes())?,
        (None, None) => return None,
    };
    if words.iter().any(|word| word.contains(&0)) || !entry.directory.is_absolute() {
        return None;
    }
    let place = |path: &[u8]| CheckedPlace::of(&entry.directory.join(OsStr::from_bytes(path)), grounds.top);
    let CheckedPlace::Inside(source) = place(entry.file.as_os_str().as_bytes()) else { return None };
    source.ends_with(b".c").then_some(())?;
    let mut words = words.iter().map(Vec::as_slice).peekable();
    words.next_if(|word| LAUNCHERS.iter().any(|launcher| name_of(word) == *launcher));
    let compiler = compiler(words.next()?, grounds)?;
    let mut line = quoted(compiler.as_os_str().as_bytes());
    line.extend(SILENT.bytes());
    while let Some(word) = words.next() {
        let text = std::str::from_utf8(word).ok()?;
        let (option, joined) = text.split_at_checked(2)?;
        match text {
            "-x" => (words.next()? == b"c").then_some(())?,
            "-ansi" => line.extend(b" -std=c90"),
            "-isystem" | "-iquote" | "-idirafter" => include_directory(&mut line, &place(words.next()?)),
            "-include" => match place(words.next()?) {
                inside @ CheckedPlace::Inside(_) => inside.append(&mut line, b" -include "),
                CheckedPlace::Outside(_) => return None,
            },
            _ if option == "-I" => {
                let directory = if joined.is_empty() { words.next()? } else { joined.as_bytes() };
                (directory != b"-").then_some(())?;
                include_directory(&mut line, &place(directory));
            }
            _ if option == "-D" || option == "-U" => {
                let value = if joined.is_empty() { words.next()? } else { joined.as_bytes() };
                append(&mut line, &[option.as_bytes(), value].concat());
            }
            _ if text.starts_with("-std=") => append(&mut line, word),
            _ if text.contains("plugin") => return None,
            _ if option == "-f" => {
                let name = joined.strip_prefix("no-").unwrap_or(joined);
                if LANGUAGE_OPTIONS.contains(&name) {
                    append(&mut line, word);
                }
            }
            // These two pass their value to another part of the compiler, which can load a library.
            _ if text.starts_with("-mllvm") || text.starts_with("-mmlir") => return None,
            _ if option == "-m" => append(&mut line, word),
            _ if LEFT_OUT_WITH_VALUE.contains(&text) => drop(words.next()?),
            _ if LEFT_OUT.contains(&text) || LEFT_OUT_BEGINNINGS.iter().any(|part| text.starts_with(part)) => {}
            _ if !text.starts_with(['-', '@']) && place(word) == CheckedPlace::Inside(source.clone()) => {}
            _ => return None,
        }
    }
    CheckedPlace::Inside(source.clone()).append(&mut line, b" ");
    Some((source, compiler, line))
}

/// The place of a file.
#[derive(Debug, PartialEq, Eq)]
enum CheckedPlace {
    /// Below the top, relative to it.
    Inside(Vec<u8>),
    /// Elsewhere; absolute.
    Outside(Vec<u8>),
}

impl CheckedPlace {
    fn of(path: &Path, top: &Path) -> Self {
        let plain = without_dots(path);
        // The build may know the working tree under another name.
        let real = || fs::canonicalize(path).ok()?.strip_prefix(top).map(Path::to_owned).ok();
        match plain.strip_prefix(top).map(Path::to_owned).ok().or_else(real) {
            Some(inside) => Self::Inside(inside.into_os_string().into_vec()),
            None => Self::Outside(plain.into_os_string().into_vec()),
        }
    }

    fn append(&self, line: &mut Vec<u8>, before: &[u8]) {
        line.extend(before);
        match self {
            Self::Inside(path) => {
                line.extend(b"\"$IDD_WORKTREE\"/");
                line.extend(quoted(path));
            }
            Self::Outside(path) => line.extend(quoted(path)),
        }
    }
}

fn include_directory(line: &mut Vec<u8>, place: &CheckedPlace) {
    place.append(line, b" -I");
}

fn append(line: &mut Vec<u8>, word: &[u8]) {
    line.push(b' ');
    line.extend(quoted(word));
}

fn name_of(word: &[u8]) -> &str {
    let name = word.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    std::str::from_utf8(name).unwrap_or_default()
}

/// The compiler: an absolute path, or found in `PATH`, and not below a foreign directory.
fn compiler(word: &[u8], grounds: &DatabaseRoots<'_>) -> Option<PathBuf> {
    let name = name_of(word);
    let (front, version) = name.rsplit_once('-').unwrap_or((name, ""));
    let is_version = version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let kind = if is_version { front } else { name };
    let kind = kind.rsplit('-').next().unwrap_or_default();
    COMPILERS.contains(&kind).then_some(())?;
    let is_ours = |path: &Path| {
        let real = fs::canonicalize(path).ok()?;
        let is_foreign = |path: &Path| grounds.foreign.iter().any(|foreign| path.starts_with(foreign));
        let metadata = fs::metadata(&real).ok()?;
        let is_program = metadata.is_file() && metadata.permissions().mode() & 0o111 != 0;
        (is_program && !is_foreign(&real) && !is_foreign(&without_dots(path))).then_some(())
    };
    let path = Path::new(OsStr::from_bytes(word));
    if path.is_absolute() {
        return is_ours(path).map(|()| path.to_owned());
    }
    if word.contains(&b'/') {
        return None;
    }
    toolchain::places(grounds.path, name).find(|place| is_ours(place).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(arguments: &[&str]) -> Option<String> {
        let entry = DatabaseEntry {
            directory: "/top/build".into(),
            file: "../src/a.c".into(),
            command: None,
            arguments: Some(arguments.iter().map(|word| (*word).to_owned()).collect()),
        };
        let foreign = ["/top".into()];
        let grounds = DatabaseRoots { top: Path::new("/top"), foreign: &foreign, path: OsStr::new("/usr/bin") };
        let (source, _, line) = check(&entry, &grounds)?;
        assert_eq!(source, b"src/a.c");
        Some(String::from_utf8(line).unwrap())
    }

    #[track_caller]
    fn check_options(words: &str, expected: &str) {
        let words: Vec<&str> = ["cc"].into_iter().chain(words.split(' ')).chain(["-c", "../src/a.c"]).collect();
        let front = "/usr/bin/cc -fsyntax-only -w";
        let expected = format!("{front}{expected} \"$IDD_WORKTREE\"/src/a.c");
        assert_eq!(checked(&words), Some(expected));
    }

    #[test]
    fn options_that_make_the_language_are_kept_and_paths_are_those_of_the_worktree() {
        check_options("-O2", "");
        check_options("-I. -I ../include", " -I\"$IDD_WORKTREE\"/build -I\"$IDD_WORKTREE\"/include");
        check_options("-isystem /usr/include/x", " -I/usr/include/x");
        check_options("-DA=it's -U B -std=gnu11", " \"-DA=it's\" -UB '-std=gnu11'");
        check_options("-fPIC -fno-builtin -fprofile-use=/x -m32", " -fPIC -fno-builtin -m32");
        check_options("-include ../config.h", " -include \"$IDD_WORKTREE\"/config.h");
        check_options("-Wall -w -g -MD -MF x.d -o x.o -pthread --param x=1", "");
    }

    #[test]
    fn a_command_with_anything_else_is_not_used() {
        for words in [
            "-fplugin=./x.so",
            "-fpass-plugin=x.so",
            "-include /etc/passwd",
            "-include ../../x.h",
            "-B .",
            "-B.",
            "-specs=x",
            "-wrapper x",
            "-Xclang -load",
            "-mllvm -load=x.so",
            "-mllvm=-load=x.so",
            "@x",
            "-x c++",
            "b.c",
            "-I",
            "--sysroot=/x",
        ] {
            let words: Vec<&str> = ["cc", "../src/a.c"].into_iter().chain(words.split(' ')).collect();
            assert_eq!(checked(&words), None, "{words:?}");
        }
    }

    #[test]
    fn the_compiler_is_one_by_name_and_lies_outside_of_the_repository() {
        let place = tempfile::tempdir().unwrap();
        let top = place.path().join("top");
        let elsewhere = place.path().join("elsewhere");
        for directory in [&top, &elsewhere] {
            fs::create_dir(directory).unwrap();
            fs::write(directory.join("gcc"), "").unwrap();
            fs::set_permissions(directory.join("gcc"), fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::write(elsewhere.join("clang"), "not a program").unwrap();
        std::os::unix::fs::symlink(top.join("gcc"), elsewhere.join("cc")).unwrap();
        let path = [top.as_os_str(), elsewhere.as_os_str(), OsStr::new("bin")].map(OsStr::as_bytes).join(&b':');
        let foreign = [fs::canonicalize(&top).unwrap(), top.clone()];
        let grounds = DatabaseRoots { top: &top, foreign: &foreign, path: OsStr::from_bytes(&path) };
        let found = |word: &str| compiler(word.as_bytes(), &grounds);
        let of = |directory: &Path, name: &str| directory.join(name).to_str().unwrap().to_owned();
        assert_eq!(found("gcc"), Some(elsewhere.join("gcc")));
        assert_eq!(found(&of(&elsewhere, "gcc")), Some(elsewhere.join("gcc")));
        for refused in ["cc", "clang", "./gcc", "../elsewhere/gcc", "sh", "python3", "clang-cl", "gcc-nm"] {
            assert_eq!(found(refused), None, "{refused}");
        }
        for refused in [of(&top, "gcc"), of(&elsewhere, "cc"), of(&elsewhere, "../top/gcc"), "/bin/sh".into()] {
            assert_eq!(found(&refused), None, "{refused}");
        }
    }

    #[test]
    fn a_database_is_read_as_far_as_it_is_understood() {
        let place = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(place.path()).unwrap();
        let path = top.join("compile_commands.json");
        let grounds = DatabaseRoots { top: &top, foreign: &[], path: OsStr::new("/usr/bin") };
        let read = |text: &str| {
            fs::write(&path, text.replace("TOP", top.to_str().unwrap())).unwrap();
            CompileDatabase::read(&path, &grounds)
        };
        for text in ["", "{}", "[]", "[1, {}]", r#"[{"directory": "TOP", "file": "a.cc", "command": "cc -c a.cc"}]"#] {
            assert_eq!(read(text), None, "{text}");
        }
        let database = read(
            r#"[7, {"directory": "TOP", "file": "a.c", "command": "ccache cc -DX=\\\"y\\\" -o a.o -c 'a.c'", "output": "a.o"},
                {"directory": "TOP", "file": "a.c", "command": "cc -DX=2 -c a.c"},
                {"directory": "TOP", "file": "e.c", "command": "cc '-DX=\\\\\"y' -c e.c"},
                {"directory": "TOP", "file": "f.c", "command": "cc '-DX=1 -c f.c"},
                {"directory": "TOP/b", "file": "TOP/b/c d.c", "arguments": ["cc", "-c", "c d.c"]}]"#,
        );
        let database = database.unwrap();
        let line = |sources: &[&str]| {
            let sources: Vec<Vec<u8>> = sources.iter().map(|source| source.as_bytes().to_vec()).collect();
            database.line(&sources).map(|line| line.to_str().unwrap().to_owned())
        };
        let front = "/usr/bin/cc -fsyntax-only -w";
        let both = format!("{front} \"$IDD_WORKTREE\"/'b/c d.c' && {front} '-DX=\"y\"' \"$IDD_WORKTREE\"/a.c");
        assert_eq!(line(&["b/c d.c", "unknown.c", "a.c"]), Some(both));
        // The shell takes what stands in single quotes as it is.
        assert_eq!(line(&["e.c"]), Some(format!(r#"{front} "-DX=\\\\\"y" "$IDD_WORKTREE"/e.c"#)));
        assert!(!database.has(b"f.c"));
        assert_eq!((line(&["unknown.c"]), line(&[])), (None, None));
        let command = database.line_with(b"b/c d.c", "-Wall").unwrap();
        assert_eq!(String::from_utf8(command).unwrap(), "/usr/bin/cc -Wall \"$IDD_WORKTREE\"/'b/c d.c'");
        assert_eq!(database.line_with(b"unknown.c", ""), None);
        assert!(database.has(b"a.c") && !database.has(b"unknown.c"));
        assert_eq!(database.compilers().collect::<Vec<_>>(), [Path::new("/usr/bin/cc")]);
    }
}
