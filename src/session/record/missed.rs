//! Error messages with advice if nothing was recorded.

use crate::Failure;
use idd_base::{Ending, Observation, Stage};
use idd_report::{Terminal, Untrusted};
use idd_world::record::build::{BuildDirectory, Logged};
use idd_world::record::listen::TakenTrace;
use idd_world::record::witness::CompilerRun;
use idd_world::record::{java, witness};
use idd_world::run::classify::reported;

/// Text of the program or the tree, for a line of the terminal.
pub fn shown(text: &str) -> String {
    Terminal.line(&Untrusted::from(text))
}

/// The line in which a command reports an error: the first with the word, else the last one.
pub fn said(seen: &Observation) -> String {
    shown(reported(&seen.output))
}

/// Whether something was built and run, but no part of it by the instrumenting compiler.
pub fn is_bypassed(seen: &Observation, logged: &[Logged], taken: &[TakenTrace]) -> bool {
    let is_touched = logged.iter().any(|entry| !matches!(entry, Logged::Linked(_)));
    let is_without = !is_touched && !taken.iter().any(|taken| taken.is_java);
    seen.stage == Stage::Test && !is_not_found(seen) && (is_without || taken.is_empty())
}

/// How often the instrumenting compiler has compiled a source.
pub fn n_instrumented(build: &BuildDirectory) -> usize {
    build.logged().iter().filter(|entry| matches!(entry, Logged::Instrumented(_))).count()
}

/// Whether the test command could not be run at all, by the exit code of a shell.
fn is_not_found(seen: &Observation) -> bool {
    seen.stage == Stage::Test && matches!(seen.ending, Ending::Exit(126 | 127))
}

/// What is known of the Java programs of a test.
#[derive(Debug, Clone, Copy, Default)]
pub struct Java<'j> {
    /// Whether they had an agent.
    pub has_agent: bool,
    /// Why records are missing.
    pub losses: &'j [String],
}

/// The error if a recording is impossible. If the build [bypasses](is_bypassed) the instrumenting compiler, it was run again
/// with the [compilers replaced](witness::load).
pub fn complain(
    seen: &Observation,
    build: &BuildDirectory,
    taken: &[TakenTrace],
    java: Java<'_>,
) -> Result<(), Failure> {
    if seen.stage == Stage::Build {
        let said = said(seen);
        let said = if said.is_empty() { "it says nothing" } else { &said };
        let message = format!("the build fails under the instrumenting compiler: {said}");
        return Err(Failure::error(message)
            .with_hint("`--build` is a shell line that is run in a new checkout of the revision"));
    }
    if taken.is_empty() && is_not_found(seen) {
        return Err(not_found(seen));
    }
    if taken.iter().any(|taken| taken.is_java) {
        return Ok(());
    }
    lost(seen, java.losses)?;
    let logged = build.logged();
    let is_recordable = n_instrumented(build) > 0;
    if is_recordable && !taken.is_empty() {
        return Ok(());
    }
    // Without a readable log no call is known.
    let called = witness::called(build).unwrap_or_default();
    let past = past(&called);
    if is_recordable {
        let printed = match said(seen) {
            said if said.is_empty() => String::new(),
            said => format!("; it printed: {said}"),
        };
        let message = format!("the test ran no instrumented program, and ended with {}{printed}", seen.ending);
        let failure = Failure::error(message);
        return Err(failure.with_hint(match &past {
            Some((names, way)) => format!("sources were instrumented, but others were compiled by {names}: {way}"),
            None => "it must run the program that the build made in the checkout, not an installed one; a file that \
                     git does not know is not in the checkout, unless `--hold` or `--input` names it"
                .to_owned(),
        }));
    }
    let plain = logged.iter().find_map(|entry| match entry {
        Logged::Plain(source, why) => Some(format!("{}: {}", shown(source), shown(why))),
        _ => None,
    });
    if let Some(plain) = plain {
        return Err(Failure::error("no source could be instrumented").with_hint(plain));
    }
    let Some((names, way)) = past else {
        let message = if java.has_agent {
            "the test ran no Java class of the checkout, and the build never called the instrumenting compiler for C"
        } else {
            "the build never called the instrumenting compiler"
        };
        return Err(Failure::error(message).with_hint(
            "no other compiler was seen either: name the command that compiles with `--build`, or let the test \
             compile; C is instrumented, and Java is recorded if there is a JDK (`javac` in `PATH` or in `JAVA_HOME`) and \
             the classes are in the checkout",
        ));
    };
    let message = format!("the build never called the instrumenting compiler, but {names}");
    Err(Failure::error(message).with_hint(way))
}

/// The error if nothing was recorded where there is only a JDK.
pub(super) fn complain_without_clang(
    seen: &Observation,
    taken: &[TakenTrace],
    losses: &[String],
) -> Result<(), Failure> {
    if !taken.is_empty() {
        return Ok(());
    }
    if is_not_found(seen) {
        return Err(not_found(seen));
    }
    lost(seen, losses)?;
    let message = format!("the test ran no Java class of the checkout, and ended with {}", seen.ending);
    Err(Failure::error(message).with_hint(
        "only Java is recorded, and only classes that lie in the checkout, in a directory or an archive: no clang (version \
         16 or newer) was found to instrument C",
    ))
}

/// The error if Java programs ran, but nothing is left of their records.
fn lost(seen: &Observation, losses: &[String]) -> Result<(), Failure> {
    if let Some(line) = java::refusal(&seen.output) {
        let message = format!("a Java virtual machine does not start with the agent that records it: {}", shown(line));
        return Err(Failure::error(message).with_hint(
            "the agent is an option in `JAVA_TOOL_OPTIONS`, behind those that you set there; a runtime that `jlink` made \
             needs the module `java.instrument`",
        ));
    }
    let Some(loss) = losses.first() else { return Ok(()) };
    Err(Failure::error(format!("nothing was recorded: {}", shown(loss))))
}

fn not_found(seen: &Observation) -> Failure {
    let message = format!("the test ended with {}: {}", seen.ending, said(seen));
    Failure::error(message).with_hint(
        "it runs in a checkout of the revision, after the build; a file that git does not have is missing there, unless \
         `--hold` names it",
    )
}

/// The called compilers as part of a sentence, and advice.
fn past(called: &[CompilerRun]) -> Option<(String, String)> {
    let name = |called: &CompilerRun| match &called.by {
        Some(by) => format!("`{}` (by `{}`)", shown(&called.compiler), shown(by)),
        None => format!("`{}`", shown(&called.compiler)),
    };
    let first = called.first()?;
    let names: Vec<String> = called.iter().take(3).map(name).collect();
    let way = match &first.by {
        Some(by) => format!(
            "have `{}` call `cc` by its name, so that it is found in `PATH`, or go without it: `--build 'make CC=cc'`",
            shown(by)
        ),
        None if first.compiler.contains('/') => {
            "have the build call `$CC`, or `cc` by its name and not by a path: `--build 'make CC=cc'`, if it is set in a makefile or by `CC=`".to_owned()
        }
        None => "the build has a `PATH` of its own, or another compiler than cc, gcc or clang: have it call `$CC`".to_owned(),
    };
    Some((names.join(", "), way))
}
