//! The instrumenting compiler: the work of the links in the build directory when the build calls them.
//!
//! Each source of C or C++ is printed as LLVM IR, rewritten, and compiled from there. Options for reading the source go to the
//! first step, options for the code to the last. If a command is not understood, or a step fails, the original command
//! is run unchanged, and logged.

use crate::{compiler, process};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::compiler::arguments::{Build, CompiledLanguage, CompilerJob, words_of};
use crate::record::build::{BuildDirectory, Logged, WRAPPED};
use crate::record::objects::{self, KeptObject};
use idd_trace::instrument::invoke::normalised;
use idd_trace::instrument::module::Module;
use idd_trace::instrument::{SegmentGrain, map, rewrite};
use idd_trace::native::readback::with_readback;

/// How the IR is printed: unoptimised, with all names, and with null as a valid address. So the result crashes where
/// the program would, and undefined behaviour is not optimised away.
const PRINT: [&str; 11] = [
    "-S",
    "-emit-llvm",
    "-O0",
    "-g",
    "-Xclang",
    "-disable-O0-optnone",
    "-fno-discard-value-names",
    "-fno-delete-null-pointer-checks",
    "-fno-lto",
    "-w",
    "-Qunused-arguments",
];

/// How the rewritten IR is compiled. What it does was decided when it was printed: passes over it would take two thirds of the time, and programs record as fast without them.
const BACK: [&str; 8] = ["-O1", "-Xclang", "-disable-llvm-passes", "-w", "-c", "-Qunused-arguments", "-x", "ir"];

/// Added for C++. The classes of the standard library are described in each unit, so that their members have names.
const PRINT_CPLUSPLUS: [&str; 2] = ["--driver-mode=g++", "-fstandalone-debug"];

/// Added if runs of two versions are compared: a function that grows a little, or a longer text, then does not move the
/// following ones. So values that a program computes from addresses, such as the order of its hash tables, are the
/// same. It is not used for recordings alone: functions that all begin at a page boundary compete for the same cache
/// lines.
const LEVEL_CODE: &str = "-falign-functions=4096";
/// See [`LEVEL_CODE`]: the code, the constants, and the variables each begin at a boundary.
const LEVEL_SEGMENTS: [&str; 2] = ["-Wl,-z,separate-code", "-Wl,-z,max-page-size=0x200000"];

/// Options with which a new compiler accepts old sources.
const LENIENT: [&str; 7] = [
    "-Wno-error=implicit-function-declaration",
    "-Wno-error=implicit-int",
    "-Wno-error=int-conversion",
    "-Wno-error=incompatible-function-pointer-types",
    "-Wno-error=incompatible-pointer-types",
    "-Wno-error=return-mismatch",
    "-w",
];

/// A compiler call.
pub struct CompilerCall<'c> {
    /// The build that it belongs to.
    pub build: &'c BuildDirectory,
    /// The name under which the compiler was called.
    pub name: &'c OsStr,
    /// The working directory.
    pub directory: &'c Path,
    /// `PATH` without the links.
    pub path: OsString,
}

impl CompilerCall<'_> {
    /// Runs the call; the result is the exit code.
    pub fn run(&self, words: &[OsString]) -> io::Result<i32> {
        let words = self.expanded(words);
        let CompilerJob::Build(build) = CompilerJob::read(&words, self.directory, self.language()) else {
            return match self.language() {
                CompiledLanguage::C => self.clang(&words),
                CompiledLanguage::Cplusplus => self.original(&words),
            };
        };
        if build.is_compile_only {
            for (position, language) in build.sources.iter().zip(&build.languages) {
                let object = self.directory.join(build.object(&words[*position]));
                let source = words[*position].as_os_str();
                if let Err(why) = self.instrument(&build, source, *language, &object)? {
                    self.build.log(&Logged::Plain(self.name_of(&words[*position]), why))?;
                    // The whole command is left to the compiler, so that its messages are printed once.
                    return self.plain(&words);
                }
                self.build.log(&Logged::Instrumented(self.name_of(&words[*position])))?;
            }
            return Ok(0);
        }
        self.link(&build, words)
    }

    /// The words, with response files expanded.
    fn expanded(&self, words: &[OsString]) -> Vec<OsString> {
        let mut expanded = Vec::new();
        for word in words {
            let file = word.as_bytes().strip_prefix(b"@").map(|path| self.directory.join(OsStr::from_bytes(path)));
            match file.and_then(|path| fs::read(path).ok()) {
                Some(content) => expanded.extend(words_of(&content)),
                None => expanded.push(word.clone()),
            }
        }
        expanded
    }

    /// The language of the compiler.
    fn language(&self) -> CompiledLanguage {
        if self.name.to_str().is_some_and(compiler::is_cplusplus) {
            CompiledLanguage::Cplusplus
        } else {
            CompiledLanguage::C
        }
    }

    /// Runs the original compiler.
    fn original(&self, words: &[OsString]) -> io::Result<i32> {
        let words: Vec<&OsStr> = words.iter().map(OsString::as_os_str).collect();
        self.relay(self.name, &words)
    }

    /// The object that is linked into a program; for a library, options that allow linking without it.
    fn runtime_for(&self, build: &Build) -> Vec<OsString> {
        if !build.is_program {
            return vec!["-Wl,-z,undefs".into()];
        }
        let mut words = vec![self.build.runtime().into()];
        words.extend(WRAPPED.iter().map(|name| format!("-Wl,--wrap={name}").into()));
        words.push("-Wl,--export-dynamic-symbol=__idd_*".into());
        words.push("-lpthread".into());
        words
    }

    fn name_of(&self, source: &OsStr) -> String {
        self.directory.join(source).to_string_lossy().into_owned()
    }

    /// Compiles or links with clang, leniently; as C++ if the compiler is one of C++.
    fn clang(&self, words: &[OsString]) -> io::Result<i32> {
        let mut all: Vec<&OsStr> = words.iter().map(OsString::as_os_str).collect();
        all.push(OsStr::new("-Qunused-arguments"));
        if self.language() == CompiledLanguage::Cplusplus {
            all.push(OsStr::new("--driver-mode=g++"));
        }
        self.relay(self.build.clang.as_os_str(), &all)
    }

    /// Compiles without instrumentation: with clang or, if that fails, with the original compiler.
    fn plain(&self, words: &[OsString]) -> io::Result<i32> {
        if self.language() == CompiledLanguage::Cplusplus {
            return self.original(words);
        }
        let mut all: Vec<&OsStr> = words.iter().map(OsString::as_os_str).collect();
        all.extend(LENIENT.map(OsStr::new));
        let said = process::capture(self.build.clang.as_os_str(), &all, self.directory, &self.environment())?;
        if said.code == Some(0) {
            return Ok(0);
        }
        self.original(words)
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        vec![("PATH".into(), self.path.clone())]
    }

    fn relay(&self, program: &OsStr, words: &[&OsStr]) -> io::Result<i32> {
        let program = find(program, &self.path).unwrap_or_else(|| self.build.clang.clone());
        process::relay(program.as_os_str(), words, self.directory, &self.environment(), false)
    }

    /// Compiles one source; the inner error is the reason to compile it without instrumentation.
    fn instrument(
        &self,
        build: &Build,
        source: &OsStr,
        language: CompiledLanguage,
        object: &Path,
    ) -> io::Result<Result<(), String>> {
        let text_file = beside(object, "idd.ll");
        let done = self.instrument_by(build, source, language, object, &text_file);
        let _ = fs::remove_file(&text_file);
        done
    }

    fn instrument_by(
        &self,
        build: &Build,
        source: &OsStr,
        language: CompiledLanguage,
        object: &Path,
        text_file: &Path,
    ) -> io::Result<Result<(), String>> {
        let mut words: Vec<OsString> = build.front.clone();
        if language == CompiledLanguage::Cplusplus {
            words.extend(PRINT_CPLUSPLUS.map(OsString::from));
            words.extend(["-include".into(), self.build.header().into()]);
        }
        words.extend(PRINT.iter().chain(&LENIENT).map(OsString::from));
        if self.build.grain == SegmentGrain::Statement {
            words.push(LEVEL_CODE.into());
        }
        if let Some(dependencies) = &build.dependencies {
            if !dependencies.has_file {
                words.extend(["-MF".into(), object.with_extension("d").into()]);
            }
            if !dependencies.has_target {
                let target = build.object(source);
                words.extend(["-MQ".into(), target.into()]);
            }
        }
        words.extend(["-x".into(), language.name().into(), source.to_owned(), "-o".into(), text_file.into()]);
        if let Err(said) = self.step(&words)? {
            return Ok(Err(format!("clang does not compile it: {said}")));
        }
        let mut text = fs::read(text_file)?;
        // Names of files are escaped everywhere except in the comment in the first line.
        let first_line = text.iter_mut().take_while(|byte| **byte != b'\n');
        first_line.filter(|byte| !byte.is_ascii()).for_each(|byte| *byte = b'?');
        let Ok(text) = String::from_utf8(text) else {
            return Ok(Err("the text of its IR is not UTF-8".to_owned()));
        };
        let text = match with_readback(normalised(text)) {
            Ok(text) => text,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let mut words: Vec<OsString> = build.back.clone();
        words.extend(BACK.iter().map(OsString::from));
        let key =
            objects::key(&self.build.clang, self.build.grain, words.iter().map(OsString::as_os_str), text.as_bytes());
        let kept = self.build.objects.as_ref().and_then(|objects| objects.find(&key));
        if let Some(kept) = kept
            && self.build.claim(kept.unit, &self.owner(build, source))
        {
            fs::write(object, kept.object)?;
            fs::write(self.build.map(kept.unit), kept.map)?;
            return Ok(Ok(()));
        }
        let module = match Module::read(&text) {
            Ok(module) => module,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let n_segments = match rewrite::count(&text, &module, self.build.grain) {
            Ok(n_segments) => n_segments,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let grain = self.build.grain;
        let (unit, first) = self.build.number(n_segments.iter().sum())?;
        let rewritten = match rewrite::rewrite(&text, &module, rewrite::UnitNumbers { unit, first, grain }) {
            Ok(rewritten) => rewritten,
            Err(error) => return Ok(Err(error.to_string())),
        };
        fs::write(text_file, &rewritten.text)?;
        words.extend([text_file.into(), "-o".into(), object.into()]);
        if let Err(said) = self.step(&words)? {
            return Ok(Err(format!("clang does not take the rewritten IR: {said}")));
        }
        let map = map::write(unit, first, grain, &n_segments, &text);
        fs::write(self.build.map(unit), &map)?;
        if let Some(objects) = &self.build.objects
            && self.build.claim(unit, &self.owner(build, source))
        {
            objects.keep(&key, &KeptObject { unit, map, object: fs::read(object)? });
        }
        Ok(Ok(()))
    }

    /// What a unit is in a build: the same source may be compiled for several programs.
    fn owner(&self, build: &Build, source: &OsStr) -> Vec<u8> {
        let output = build.output.as_deref().unwrap_or_default();
        [self.directory.as_os_str(), source, output].map(OsStr::as_bytes).join(&0)
    }

    /// Runs clang quietly; the inner error is the first line of its messages.
    fn step(&self, words: &[OsString]) -> io::Result<Result<(), String>> {
        let words: Vec<&OsStr> = words.iter().map(OsString::as_os_str).collect();
        let said = process::capture(self.build.clang.as_os_str(), &words, self.directory, &self.environment())?;
        if said.code == Some(0) {
            return Ok(Ok(()));
        }
        let text = String::from_utf8_lossy(&said.stderr).into_owned();
        let line = text.lines().find(|line| line.contains("error")).or(text.lines().next()).unwrap_or_default();
        Ok(Err(line.trim().to_owned()))
    }

    /// Compiles the sources, and links.
    fn link(&self, build: &Build, mut words: Vec<OsString>) -> io::Result<i32> {
        let mut temporary = Vec::new();
        let stem = build.output.clone().unwrap_or_else(|| "a.out".into());
        let is_one_step = !build.sources.is_empty();
        for (index, (position, language)) in build.sources.iter().zip(&build.languages).enumerate() {
            let object = beside(&self.directory.join(&stem), &format!("idd-{index}.o"));
            let source = words[*position].clone();
            match self.instrument(build, &source, *language, &object)? {
                Ok(()) => {
                    self.build.log(&Logged::Instrumented(self.name_of(&source)))?;
                    words[*position] = object.clone().into();
                    temporary.push(object);
                }
                Err(why) => self.build.log(&Logged::Plain(self.name_of(&source), why))?,
            }
        }
        let original = words.clone();
        if is_one_step {
            // Sources that were given as C by `-x` are objects now.
            strip_language(&mut words);
        }
        words.extend(self.runtime_for(build));
        if self.build.grain == SegmentGrain::Statement {
            words.extend(LEVEL_SEGMENTS.map(OsString::from));
        }
        let mut code = self.clang(&words)?;
        if code != 0 && temporary.is_empty() && find(self.name, &self.path).is_some() {
            code = self.original(&original)?;
        }
        for object in temporary {
            let _ = fs::remove_file(object);
        }
        if code == 0 {
            self.build.log(&Logged::Linked(self.name_of(&stem)))?;
        }
        Ok(code)
    }
}

/// Removes `-x <language>`; an output may be called `-x`.
fn strip_language(words: &mut Vec<OsString>) {
    let mut index = 0;
    while index < words.len() {
        if words[index] == "-o" {
            index += 2;
        } else if words[index] == "-x" {
            words.drain(index..(index + 2).min(words.len()));
        } else if words[index] == "-xc" {
            words.remove(index);
        } else {
            index += 1;
        }
    }
}

/// A unique name for a temporary file beside `path`.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.{suffix}", std::process::id()));
    path.with_file_name(name)
}

/// Finds a program in `PATH`.
fn find(program: &OsStr, path: &OsStr) -> Option<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return Some(program.into());
    }
    path.as_bytes()
        .split(|byte| *byte == b':')
        .map(|directory| Path::new(OsStr::from_bytes(directory)).join(program))
        .find(|place| place.is_file())
}

/// For tests: builds a program of one source, `a.c`, in `place` as `a` with the instrumenting compiler.
#[cfg(any(test, feature = "testing"))]
#[expect(clippy::unwrap_used, reason = "only tests call this")]
pub fn built(place: &Path, program: &str, grain: SegmentGrain) -> BuildDirectory {
    let path = std::env::var_os("PATH").unwrap();
    let clang = crate::record::build::find_clang(&path, None).expect("the tests need a clang of version 16 or newer");
    let build =
        BuildDirectory::create(&place.join("build"), &clang, Path::new("/proc/self/exe"), place, grain, None).unwrap();
    fs::write(place.join("a.c"), program).unwrap();
    let call = CompilerCall { build: &build, name: OsStr::new("cc"), directory: place, path };
    assert_eq!(call.run(&["-o", "a", "a.c"].map(Into::into)).unwrap(), 0);
    build
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_removed_and_an_output_of_that_name_stays() {
        let stripped = |line: &str| {
            let mut words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            strip_language(&mut words);
            words.join(OsStr::new(" ")).into_string().unwrap()
        };
        assert_eq!(stripped("-x c -o a a.c -xc"), "-o a a.c");
        assert_eq!(stripped("-o -x a.c"), "-o -x a.c");
        assert_eq!(stripped("a.c -x"), "a.c");
    }
}
