//! `git idd record`: builds in a checkout under the instrumenting compiler, runs the test, keeps the trace.

use crate::cli::args::RecordArgs;
use crate::cli::args::TestCommand;
use crate::cli::commands::Console;
use crate::cli::failure::Failure;
use crate::cli::hunt::sandboxes;
use crate::cli::plan::Surroundings;
use crate::cli::progress::Progress;
use crate::cli::reproduce::FIRST_LIMIT;
use crate::outcome::Observation;
use crate::outcome::Stage;
use crate::report::Status;
use crate::world::files;
use crate::world::record::RecordError;
use crate::world::record::build;
use crate::world::record::build::BuildDirectory;
use crate::world::record::build::Logged;
use crate::world::record::listen;
use crate::world::record::listen::Listener;
use crate::world::record::listen::Taken;
use crate::world::record::store;
use crate::world::record::store::Recording;
use crate::world::record::store::Traced;
use crate::world::record::store::UnitRange;
use crate::world::repo::graph;
use crate::world::repo::locate::Location;
use crate::world::repo::private;
use crate::world::run::ProcessGroup;
use crate::world::run::Watch;
use crate::world::run::Words;
use crate::world::run::sandbox;
use crate::world::run::sandbox::Commands;
use crate::world::run::sandbox::Job;
use crate::world::run::sandbox::Sandbox;
use std::ffi::OsStr;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

struct Unwatched;

impl Watch for Unwatched {
    fn started(&mut self, _group: ProcessGroup) {}

    fn is_interrupted(&self) -> bool {
        false
    }
}

/// Records the test; the result is what is printed.
pub fn run(
    args: &RecordArgs,
    location: &Location,
    around: &Surroundings,
    console: Console,
) -> Result<Vec<u8>, Failure> {
    let mut progress =
        Progress::new(Box::new(io::stderr()), console.err_style, console.volume, console.is_err_terminal);
    let path = around.variable("PATH").unwrap_or_default();
    let preferred = around.variable("IDD_CLANG");
    let Some(clang) = build::find_clang(&path, preferred.as_deref()) else {
        return Err(Failure::new(
            Status::Error,
            "there is no clang, version 16 or newer, to instrument the program with",
        )
        .with_hint("install one, such as the package clang-19, or name one in `IDD_CLANG`"));
    };
    let user = private::open(&location.git_directory).map_err(|error| Failure::from_error(&error))?;
    let commit = graph::resolve(&user, &args.at).map_err(|error| Failure::from_error(&error))?;
    let tree = graph::tree_of(&user, commit).map_err(|error| Failure::from_error(&error))?;
    let idd = location.idd_directory();
    drop(private::create(&idd, &user, commit).map_err(|error| Failure::from_error(&error))?);
    let private = private::private_directory(&idd);

    let name = store::new_name(&location.session_directory());
    let root = sandboxes(around, location, &format!("record-{name}"))?;
    let done = (|| {
        let mut sandbox = Sandbox::create(&root, "w", &private, commit).map_err(|error| Failure::from_error(&error))?;
        let program = files::this_program().map_err(|error| Failure::from_error(&error))?;
        let build = BuildDirectory::create(&root.join("build"), &clang, &program);
        let build = build.map_err(|error| Failure::from_error(&error))?;
        let socket = root.join("trace");
        let place = store::directory(&location.session_directory()).join(&name);
        let commands = commands(args, location, around, (&build, &socket));
        progress.say("Building and running the test under the instrumenting compiler.");
        let listener = Listener::start(&socket, &place, args.max_trace).map_err(|error| Failure::from_error(&error))?;
        let limit = args.timeout.unwrap_or(FIRST_LIMIT);
        let job = Job { tree, exposed_commit: None, is_prechecked: false, is_clean: true, limit };
        let seen = sandbox.observe(&job, &commands, &mut Unwatched);
        let taken = listener.finish();
        let seen = seen.map_err(|error| Failure::from_error(&error))?;
        let seen = seen.ok_or_else(|| Failure::new(Status::Interrupted, "the recording was interrupted"))?;
        let kept = |source| Failure::from_error(&RecordError::Keep { path: place.clone(), source });
        let units = store::take_maps(&build.path, &place).map_err(kept)?;
        let taken = taken.into_iter().collect::<io::Result<Vec<_>>>().map_err(kept)?;
        let logged = build.logged();
        complain(&seen, &logged, &taken)?;
        let recording = recording(args, &commit.to_string(), &seen, (&logged, taken, units));
        store::write(&place, &recording).map_err(kept)?;
        Ok(summary(&name, &recording))
    })();
    sandbox::remove(&root, &private);
    done.map(String::into_bytes)
}

fn commands(
    args: &RecordArgs,
    location: &Location,
    around: &Surroundings,
    (build, socket): (&BuildDirectory, &Path),
) -> Commands {
    let is_ours = |name: &OsStr| name.as_bytes().starts_with(b"GIT_") || name.as_bytes().starts_with(b"IDD_");
    let is_kept = |name: &OsStr| !is_ours(name) && name != "PATH" && name != "CC";
    let mut environment: Vec<(OsString, OsString)> =
        around.environment.iter().filter(|(name, _)| is_kept(name)).cloned().collect();
    let mut path = build.bin().into_os_string();
    path.push(":");
    path.push(around.variable("PATH").unwrap_or_default());
    environment.push(("PATH".into(), path));
    environment.push(("CC".into(), build.bin().join("cc").into()));
    environment.push((build::VARIABLE.into(), build.path.clone().into()));
    // Only the test is traced, not what the build runs of its own products.
    let mut traced = OsString::from(listen::VARIABLE);
    traced.push("=");
    traced.push(socket);
    let mut words: Vec<OsString> = vec!["/usr/bin/env".into(), traced, "setarch".into(), "-R".into()];
    match &args.command {
        TestCommand::Shell(line) => words.extend(["/bin/sh".into(), "-c".into(), line.clone()]),
        TestCommand::Argv(test) => words.extend(test.iter().cloned()),
    }
    Commands {
        regeneration: None,
        precheck: None,
        build: args.build.clone().map(Words::Shell),
        test: Words::Argv(words),
        directory: location.prefix.clone(),
        environment,
        is_home_isolated: false,
    }
}

/// What makes a recording impossible, said so that the user can do something about it.
fn complain(seen: &Observation, logged: &[Logged], taken: &[Taken]) -> Result<(), Failure> {
    let said = || seen.output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
    if seen.stage == Stage::Build {
        return Err(Failure::new(
            Status::Error,
            format!("the build fails under the instrumenting compiler: {}", said()),
        ));
    }
    let is_instrumented = |entry: &&Logged| matches!(entry, Logged::Instrumented(_));
    if !logged.iter().any(|entry| is_instrumented(&entry)) {
        let message = if logged.is_empty() {
            "the build never called the instrumenting compiler"
        } else {
            "no source could be instrumented"
        };
        return Err(Failure::new(Status::Error, message).with_hint(
            "the build has to take its compiler from `CC` or `PATH` (cc, gcc, clang); a build that is part of the test is fine, too",
        ));
    }
    if taken.is_empty() {
        return Err(Failure::new(Status::Error, "the test ran no instrumented program")
            .with_hint("it has to run what the build made in the checkout, and not an installed program"));
    }
    Ok(())
}

fn recording(
    args: &RecordArgs,
    commit: &str,
    seen: &Observation,
    (logged, taken, units): (&[Logged], Vec<Taken>, Vec<UnitRange>),
) -> Recording {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let traced = |taken: Taken| Traced {
        file: taken.file,
        program: text(&taken.process.program),
        words: taken.process.words.split(|byte| *byte == 0).map(text).filter(|word| !word.is_empty()).collect(),
        pid: taken.process.pid,
        n_bytes: taken.n_bytes,
        end: taken.end,
        is_cut: taken.is_cut,
    };
    let processes: Vec<Traced> = taken.into_iter().map(traced).collect();
    let chosen = choose(&processes, args.program.as_deref());
    let words = match &args.command {
        TestCommand::Shell(line) => vec![line.to_string_lossy().into_owned()],
        TestCommand::Argv(words) => words.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
    };
    let plain = |entry: &Logged| match entry {
        Logged::Plain(source, why) => Some((source.clone(), why.clone())),
        _ => None,
    };
    Recording {
        version: store::VERSION,
        commit: commit.to_owned(),
        command: words,
        ending: seen.ending.to_string(),
        chosen,
        processes,
        n_instrumented: logged.iter().filter(|entry| matches!(entry, Logged::Instrumented(_))).count(),
        plain: logged.iter().filter_map(plain).collect(),
        units,
    }
}

/// The process that is meant: the last of the named program; else the last that failed; else the last.
fn choose(processes: &[Traced], program: Option<&OsStr>) -> Option<usize> {
    if let Some(program) = program {
        let is_meant = |traced: &Traced| Path::new(&traced.program).file_name() == Some(program);
        return processes.iter().rposition(is_meant);
    }
    processes.iter().rposition(|traced| traced.end != Some(0)).or(processes.len().checked_sub(1))
}

fn summary(name: &str, recording: &Recording) -> String {
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{line}").expect("a string takes all");
    line(format!("recording {name}: the test ended with {}", recording.ending));
    line(format!(
        "sources instrumented: {}, compiled as they are: {}",
        recording.n_instrumented,
        recording.plain.len()
    ));
    for (source, why) in &recording.plain {
        line(format!("  {source}: {why}"));
    }
    for (index, traced) in recording.processes.iter().enumerate() {
        let mark = if recording.chosen == Some(index) { "*" } else { " " };
        let mib = traced.n_bytes.div_ceil(1 << 20);
        line(format!("{mark} {index}: {} ({mib} MiB of records)", traced.words.join(" ")));
    }
    text
}
