//! The check of a Java candidate before its build: a compiler that stays in memory reads its changed sources.
//!
//! [`Compiler`] is a virtual machine with `Checker.java`. A [`JavaCheck`] is what it is asked for one change. It sees
//! only sources of the candidate, archives that git tracks, and what lies outside of the checkout: no product of a
//! build, so the answer depends on nothing but the tree. Nothing of the repository is run: no annotation processors, no
//! plug-ins.
//!
//! Deviation from the build: its options are known only in part. So a candidate is refused only for errors that hardly
//! depend on options ([`COUNTED`]), and only in sources that have no error at both ends of the change.

use crate::files;
use crate::jdk::{Jdk, Kit};
use crate::process::{CommandWatch, EndedCommand, HelperProgram};
use crate::run::complaints::java::CompilerOptions;
use crate::system::usage::Usage;
use idd_base::Ending;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const KIT: Kit = Kit {
    archive: "checker.jar",
    manifest: "Main-Class: idd.Checker\n",
    sources: &[("idd/Checker.java", include_str!("Checker.java"))],
};

/// Options for a virtual machine that is used for minutes.
const MACHINE: [&str; 3] = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"];

/// Options of every check. The old names of the policies are for Java 8.
const USUAL: [&str; 13] = [
    "-proc:none",
    "-implicit:none",
    "-Xprefer:source",
    "-nowarn",
    "-Xmaxerrs",
    "200",
    "-XDshould-stop.ifError=FLOW",
    "-XDshould-stop.ifNoError=FLOW",
    "-XDshouldStopPolicyIfError=FLOW",
    "-XDshouldStopPolicyIfNoError=FLOW",
    "-Xlint:none",
    "-encoding",
    "UTF-8",
];

/// The errors for which a candidate is refused: those of `compiler.properties` that come from the text of the program.
/// Not among them are errors about files, modules, versions of the language, processors, and classes that cannot be
/// read.
const COUNTED: [&str; 47] = [
    "abstract.cant.be.instantiated",
    "already.defined",
    "anonymous.diamond.method.does.not.override.superclass",
    "array.req.but.found",
    "cant.apply.diamond.1",
    "cant.apply.symbol",
    "cant.apply.symbols",
    "cant.assign.val.to.final.var",
    "cant.assign.val.to.var",
    "cant.deref",
    "cant.inherit.from.final",
    "cant.ref.non.effectively.final.var",
    "cant.resolve",
    "cant.resolve.args",
    "cant.resolve.location",
    "cant.resolve.location.args",
    "cant.resolve.location.args.params",
    "catch.without.try",
    "does.not.override.abstract",
    "doesnt.exist",
    "else.without.if",
    "except.never.thrown.in.try",
    "expected",
    "expected2",
    "expected3",
    "illegal.start.of.expr",
    "illegal.start.of.stmt",
    "illegal.start.of.type",
    "incomparable.types",
    "invalid.meth.decl.ret.type.req",
    "method.does.not.override.superclass",
    "missing.ret.stmt",
    "non-static.cant.be.ref",
    "not.stmt",
    "operator.cant.be.applied",
    "operator.cant.be.applied.1",
    "override.meth",
    "override.meth.doesnt.throw",
    "override.weaker.access",
    "premature.eof",
    "prob.found.req",
    "report.access",
    "unexpected.type",
    "unreachable.stmt",
    "unreported.exception.need.to.catch.or.throw",
    "var.might.already.be.assigned",
    "var.might.not.have.been.initialized",
];

/// The longest time of one check. A check that takes longer is of no use.
const LIMIT: Duration = Duration::from_secs(20);

/// A check that has run this long ends when its probe is not needed any more; before, its end is waited for, because
/// the compiler would have to be started again.
const PATIENCE: Duration = Duration::from_secs(2);

/// The number of times that the compiler is started: it may die once.
const MAX_STARTS: usize = 2;

/// A compiler in memory; it ends when dropped.
#[derive(Debug)]
pub struct Compiler {
    jdk: Jdk,
    cache: PathBuf,
    running: Mutex<RunningCompiler>,
}

#[derive(Debug, Default)]
struct RunningCompiler {
    server: Option<HelperProgram>,
    n_starts: usize,
}

/// An error of the compiler.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CompilerError {
    file: String,
    code: String,
    text: String,
}

impl Compiler {
    /// A compiler that is started when it is first needed.
    ///
    /// - `cache`: the directory in which its program is kept.
    pub fn new(jdk: Jdk, cache: PathBuf) -> Self {
        Self { jdk, cache, running: Mutex::default() }
    }

    /// The answer to a message; `None` if there is none, for whatever reason.
    fn ask(&self, message: &[u8], limit: Duration, is_cancelled: &dyn Fn() -> bool) -> Option<Vec<u8>> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let mut server = match running.server.take() {
            Some(server) => server,
            None if running.n_starts >= MAX_STARTS => return None,
            None => {
                running.n_starts += 1;
                self.start()?
            }
        };
        let answer = server.ask(message, limit, is_cancelled).ok()?;
        running.server = Some(server);
        Some(answer)
    }

    fn start(&self) -> Option<HelperProgram> {
        let archive = self.jdk.archive(&KIT, &self.cache).ok()?;
        let mut words: Vec<&OsStr> = MACHINE.iter().map(OsStr::new).collect();
        words.extend([OsStr::new("-cp"), archive.as_os_str(), OsStr::new("idd.Checker")]);
        HelperProgram::start(self.jdk.java()?.as_os_str(), &words, &self.cache).ok()
    }
}

/// What a compiler is asked for the candidates of one change.
#[derive(Debug, Clone)]
pub struct JavaCheck {
    /// The compiler.
    pub compiler: Arc<Compiler>,
    /// The changed sources, relative to the top. Those that a candidate does not have are skipped.
    pub sources: Vec<String>,
    /// The directories of sources, relative to the top.
    pub roots: Vec<String>,
    /// Archives of classes in the tree, relative to the top.
    pub archives: Vec<String>,
    /// The options of the build; of the class paths, only absolute ones are used.
    pub options: CompilerOptions,
    /// A text that differs for another compiler.
    pub version: String,
    /// Whether all errors count, because an end of the change is compiled.
    pub is_vetting: bool,
}

impl JavaCheck {
    /// A text that differs for another question.
    pub fn digest(&self) -> String {
        let Self { sources, roots, archives, options, version, is_vetting, compiler: _ } = self;
        let text = format!("{sources:?} {roots:?} {archives:?} {options:?} {version} {is_vetting} {KIT:?}");
        files::hex(&Sha256::digest(text))
    }

    /// Checks the tree in a worktree, as a command that prints errors and fails if there are any.
    ///
    /// If the compiler gives no answer, the check passes; that of an end of the change reaches its time limit.
    pub fn run(&self, worktree: &Path, limit: Duration, watch: &dyn CommandWatch) -> EndedCommand {
        let begin = Instant::now();
        let is_cancelled = || begin.elapsed() >= PATIENCE && watch.is_interrupted();
        let found = self.complaints(worktree, limit.min(LIMIT), &is_cancelled);
        let is_cancelled = found.is_none() && watch.is_interrupted();
        let is_known = found.is_some();
        let mut output = String::new();
        for CompilerError { file, code, text } in found.into_iter().flatten() {
            if self.is_vetting || COUNTED.binary_search(&&code[..]).is_ok() && self.sources.contains(&file) {
                writeln!(output, "{file}: error: {text} [{code}]").expect("a string takes all");
            }
        }
        let ending = match (is_known, output.is_empty()) {
            (true, false) => Ending::Exit(1),
            (false, _) if self.is_vetting => Ending::Timeout,
            _ => Ending::Exit(0),
        };
        let (duration, output) = (begin.elapsed(), output.into_bytes());
        EndedCommand { ending, duration, output, cancelled: is_cancelled, usage: Usage::default() }
    }

    /// This check, without the sources that an output of [`run`](Self::run) at an end of the change names.
    #[must_use]
    pub fn without(self, output: &str) -> Self {
        let named: BTreeSet<&str> = output.lines().filter_map(|line| Some(line.split_once(": error: ")?.0)).collect();
        let sources = self.sources.into_iter().filter(|source| !named.contains(&source[..])).collect();
        Self { sources, ..self }
    }

    fn complaints(&self, top: &Path, limit: Duration, is_cancelled: &dyn Fn() -> bool) -> Option<Vec<CompilerError>> {
        let place = |path: &String| Some(top.join(path).to_str()?.to_owned());
        let is_file = |path: &&String| fs::symlink_metadata(top.join(path)).is_ok_and(|found| found.is_file());
        let sources: Vec<String> = self.sources.iter().filter(is_file).filter_map(place).collect();
        if sources.is_empty() {
            return Some(Vec::new());
        }
        let joined = |paths: &[String]| paths.iter().filter_map(place).collect::<Vec<String>>().join(":");
        let absolute = self.options.class_paths.iter().flat_map(|path| path.split(':'));
        let absolute = absolute.filter(|path| path.starts_with('/')).map(str::to_owned);
        let class_path: Vec<String> = [joined(&self.archives)].into_iter().chain(absolute).collect();
        let mut options: Vec<String> = USUAL.iter().map(|word| (*word).to_owned()).collect();
        options.extend(self.options.words.iter().cloned());
        // Without a path of processors, the compiler would look for plug-ins in the class path.
        let nowhere = "/nonexistent/idd".to_owned();
        options.extend(["-processorpath".to_owned(), nowhere]);
        options.extend(["-sourcepath".to_owned(), joined(&self.roots)]);
        options.extend(["-classpath".to_owned(), class_path.join(":")]);
        let message = [list(&options)?, list(&sources)?].concat();
        let message = Some(message).filter(|message| message.len() <= HelperProgram::MAX_MESSAGE)?;
        read(&self.compiler.ask(&message, limit, is_cancelled)?, &format!("{}/", top.to_str()?))
    }
}

/// A list of texts as `Checker.java` reads it; `None` if one is too long.
fn list(texts: &[String]) -> Option<Vec<u8>> {
    let mut bytes = u32::try_from(texts.len()).ok()?.to_be_bytes().to_vec();
    for text in texts {
        // In the form of Java, other characters than these have other bytes.
        let is_same = text.chars().all(|char| char != '\0' && char <= '\u{ffff}');
        let length = u16::try_from(text.len()).ok().filter(|_| is_same)?;
        bytes.extend(length.to_be_bytes());
        bytes.extend(text.as_bytes());
    }
    Some(bytes)
}

/// Reads an answer; paths below `top` become relative to it. `None` if the compiler failed.
fn read(answer: &[u8], top: &str) -> Option<Vec<CompilerError>> {
    let (_, mut rest) = answer.split_first_chunk::<4>()?;
    let mut texts = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk::<2>() {
        let (text, after) = after.split_at_checked(u16::from_be_bytes(*length).into())?;
        texts.push(String::from_utf8_lossy(text).into_owned());
        rest = after;
    }
    let complaint = |parts: &[String]| {
        let [file, code, text] = parts else { return None };
        let file = file.strip_prefix(top).unwrap_or(file).to_owned();
        Some(CompilerError { file, code: code.clone(), text: text.clone() })
    };
    texts.chunks(3).map(complaint).collect()
}

/// The directory of a source without the directories of its package; `.` for the top.
pub fn root_of(path: &str, text: &str) -> String {
    let package = text.lines().map(str::trim).find_map(|line| line.strip_prefix("package "));
    let package = package.and_then(|rest| rest.split(';').next()).unwrap_or_default().trim().replace('.', "/");
    let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    let root = directory.strip_suffix(&package[..]).map_or(directory, |root| match root.strip_suffix('/') {
        Some(root) => root,
        None if root.is_empty() || package.is_empty() => root,
        // The package is only the end of a name.
        None => directory,
    });
    if root.is_empty() { ".".to_owned() } else { root.to_owned() }
}

/// The directory of sources that the name of a path tells, as in Maven and Gradle.
pub fn usual_root(path: &str) -> Option<&str> {
    ["src/main/java/", "src/test/java/"].iter().find_map(|name| Some(&path[..path.find(name)? + name.len() - 1]))
}

/// The names of all classes in these directories, without those inside others.
pub fn classes<'d>(directories: impl IntoIterator<Item = &'d Path>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open: Vec<PathBuf> = directories.into_iter().map(Path::to_owned).collect();
    while let Some(directory) = open.pop() {
        for name in files::names(&directory) {
            let path = directory.join(&name);
            match name.to_str().and_then(|name| name.strip_suffix(".class")) {
                Some(name) => drop(found.insert(name.to_owned())),
                None if name != ".git" && fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir()) => {
                    open.push(path);
                }
                None => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counted_errors_are_sorted() {
        assert!(COUNTED.is_sorted());
    }

    #[test]
    fn the_root_of_a_source_is_above_its_package() {
        for (path, text, expected) in [
            ("A.java", "class A {}", "."),
            ("src/A.java", "class A {}", "src"),
            ("src/org/x/A.java", "// A\n  package org.x;\nclass A {}", "src"),
            ("org/x/A.java", "package org.x ; class A {}", "."),
            ("borg/x/A.java", "package org.x;", "borg/x"),
            ("src/elsewhere/A.java", "package org.x;", "src/elsewhere"),
        ] {
            assert_eq!(root_of(path, text), expected, "{path}");
        }
        assert_eq!(usual_root("core/src/main/java/org/A.java"), Some("core/src/main/java"));
        assert_eq!(usual_root("src/org/A.java"), None);
    }

    #[test]
    fn an_answer_is_a_list_of_errors_and_an_empty_one_is_none() {
        let texts = ["/t/src/A.java", "cant.resolve", "cannot find x"].map(str::to_owned);
        let [file, code, text] = ["src/A.java", "cant.resolve", "cannot find x"].map(str::to_owned);
        assert_eq!(read(&list(&texts).unwrap(), "/t/"), Some(vec![CompilerError { file, code, text }]));
        assert_eq!(read(&list(&[]).unwrap(), "/t/"), Some(Vec::new()));
        assert_eq!(read(&[], "/t/"), None);
    }
}
