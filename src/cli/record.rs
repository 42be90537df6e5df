//! `git idd record`: builds in a checkout under the instrumenting compiler, runs the test, keeps the trace.

use crate::cli::args::RecordArgs;
use crate::cli::args::TestCommand;
use crate::cli::commands::Console;
use crate::cli::failure::Failure;
use crate::cli::hunt::sandboxes;
use crate::cli::interrupt::Interrupt;
use crate::cli::plan::Surroundings;
use crate::cli::progress::Progress;
use crate::cli::reproduce::FIRST_LIMIT;
use crate::cli::saved;
use crate::instrument::segment::Grain;
use crate::outcome::Observation;
use crate::outcome::Stage;
use crate::report::Status;
use crate::report::Untrusted;
use crate::report::escape::Terminal;
use crate::trace::digest;
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
use crate::world::repo::graph;
use crate::world::repo::locate::Location;
use crate::world::repo::private;
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

/// What a recorded program is told of the clock (2026-01-01) and of its number.
pub const SAME_IN_EVERY_RUN: [&str; 2] = ["IDD_CLOCK=1767225600000000000", "IDD_PID=4242"];

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

    let _lock = saved::lock(location)?;
    let mut interrupt = Interrupt::register()?;
    let name = store::new_name(&location.session_directory());
    let root = sandboxes(around, location, &format!("record-{name}"))?;
    let done = (|| {
        let mut sandbox = Sandbox::create(&root, "w", &private, commit).map_err(|error| Failure::from_error(&error))?;
        let program = files::this_program().map_err(|error| Failure::from_error(&error))?;
        let build = BuildDirectory::create(&root.join("build"), &clang, &program, Grain::Straight);
        let build = build.map_err(|error| Failure::from_error(&error))?;
        let place = store::directory(&location.session_directory()).join(&name);
        let limit = args.timeout.unwrap_or(FIRST_LIMIT);
        let job = Job { tree, exposed_commit: None, precheck: None, is_clean: true, limit };
        let mut observe = |job: &Job, commands: &Commands| {
            let seen = sandbox.observe(job, commands, &mut interrupt).map_err(|error| Failure::from_error(&error))?;
            seen.ok_or_else(|| Failure::new(Status::Interrupted, "the recording was interrupted"))
        };
        let reference = if args.once {
            None
        } else {
            progress.say("Building and running the test as it is.");
            Some(observe(&job, &plain_commands(args, location, around))?)
        };
        let mut run = |job: &Job, place: &Path| {
            let socket = root.join("trace");
            let variables = vec![variable(listen::VARIABLE, &socket)];
            let commands = commands(args, location, around, &build, variables);
            let listener =
                Listener::start(&socket, place, args.max_trace).map_err(|error| Failure::from_error(&error))?;
            let seen = observe(job, &commands);
            let taken = listener.finish().into_iter().collect::<io::Result<Vec<_>>>();
            let kept = |source| Failure::from_error(&RecordError::Keep { path: place.to_owned(), source });
            Ok::<_, Failure>((seen?, taken.map_err(kept)?))
        };
        progress.say("Building and running the test under the instrumenting compiler.");
        let (seen, taken) = run(&job, &place)?;
        let kept = |source| Failure::from_error(&RecordError::Keep { path: place.clone(), source });
        let logged = build.logged();
        complain(&seen, &logged, &taken)?;
        let mut recording = recording(args, &commit.to_string(), &seen, (&logged, taken));
        if let (Some(program), None) = (&args.program, recording.chosen) {
            let names: Vec<&str> = recording.processes.iter().map(|traced| traced.program.as_str()).collect();
            let program = program.to_string_lossy();
            let failure = Failure::new(Status::Error, format!("the test ran no instrumented program `{program}`"));
            return Err(failure.with_hint(format!("these it ran: {}", names.join(", "))));
        }
        if let Some(reference) = &reference {
            progress.say("Running the test again.");
            let again = root.join("again");
            let (seen_again, taken_again) = run(&Job { is_clean: false, ..job }, &again)?;
            recording.units = store::take_maps(&build.path, &place).map_err(kept)?;
            let is_same = seen_again.ending == seen.ending && is_same_run(&place, &again, &recording, &taken_again)?;
            recording.is_repeatable = Some(is_same);
            recording.reference = Some(reference.ending.to_string());
            recording.is_same_output = Some(reference.output == seen.output);
        } else {
            recording.units = store::take_maps(&build.path, &place).map_err(kept)?;
        }
        store::write(&place, &recording).map_err(kept)?;
        Ok(summary(&name, &recording))
    })();
    sandbox::remove(&root, &private);
    if done.is_err() {
        // What came to nothing is not to be taken for the last recording; that it cannot be removed is no news by now.
        let _ = files::remove(&store::directory(&location.session_directory()).join(&name));
    }
    done.map(String::into_bytes)
}

/// Whether a second run went through the same segments, process by process.
fn is_same_run(place: &Path, again: &Path, recording: &Recording, taken: &[Taken]) -> Result<bool, Failure> {
    if taken.len() != recording.processes.len() {
        return Ok(false);
    }
    let digest = |directory: &Path, file: &str| {
        // The maps of both runs are in the first one's directory.
        let mut units = store::units(place, recording);
        let mut trace = store::open(&directory.join(file))?;
        digest::digest(&mut trace, &mut units)
    };
    for (first, second) in recording.processes.iter().zip(taken) {
        let pair = digest(place, &first.file).and_then(|one| Ok((one, digest(again, &second.file)?)));
        let (one, other) = pair.map_err(|error| Failure::from_error(&error))?;
        if one != other {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The build and the test as the user would run them.
fn plain_commands(args: &RecordArgs, location: &Location, around: &Surroundings) -> Commands {
    let is_ours = |name: &OsStr| name.as_bytes().starts_with(b"GIT_") || name.as_bytes().starts_with(b"IDD_");
    let environment = around.environment.iter().filter(|(name, _)| !is_ours(name)).cloned().collect();
    let test = match &args.command {
        TestCommand::Shell(line) => Words::Shell(line.clone()),
        TestCommand::Argv(words) => Words::Argv(words.clone()),
    };
    Commands {
        regeneration: None,
        build: args.build.clone().map(Words::Shell),
        test,
        directory: location.prefix.clone(),
        environment,
        is_home_isolated: false,
    }
}

/// A variable, as `env` takes it.
pub fn variable(name: impl Into<OsString>, value: impl AsRef<OsStr>) -> OsString {
    let mut word = name.into();
    word.push("=");
    word.push(value);
    word
}

/// The same under the instrumenting compiler, with `variables` for the test; the programs that the test runs are traced, and told the same time and number in every run.
pub fn commands(
    args: &RecordArgs,
    location: &Location,
    around: &Surroundings,
    build: &BuildDirectory,
    variables: Vec<OsString>,
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
    let mut words: Vec<OsString> = vec!["/usr/bin/env".into()];
    words.extend(variables);
    words.extend(SAME_IN_EVERY_RUN.map(OsString::from));
    words.extend(["setarch".into(), "-R".into()]);
    match &args.command {
        TestCommand::Shell(line) => words.extend(["/bin/sh".into(), "-c".into(), line.clone()]),
        TestCommand::Argv(test) => words.extend(test.iter().cloned()),
    }
    Commands {
        regeneration: None,
        build: args.build.clone().map(Words::Shell),
        test: Words::Argv(words),
        directory: location.prefix.clone(),
        environment,
        is_home_isolated: false,
    }
}

/// What makes a recording impossible, said so that the user can do something about it.
pub fn complain(seen: &Observation, logged: &[Logged], taken: &[Taken]) -> Result<(), Failure> {
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
    (logged, taken): (&[Logged], Vec<Taken>),
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
        units: Vec::new(),
        reference: None,
        is_same_output: None,
        is_repeatable: None,
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
        line(format!("  {}: {}", shown(source), shown(why)));
    }
    if let Some(reference) = recording.reference.as_ref().filter(|reference| **reference != recording.ending) {
        line(format!("warning: without instrumentation the test ends with {reference}, so this is not the same run"));
    } else if recording.is_same_output == Some(false) {
        line("note: without instrumentation the test ends in the same way, but prints something else".to_owned());
    }
    if recording.is_repeatable == Some(false) {
        line("warning: a second run took another way, so what is tried in it may not hold for this one".to_owned());
    }
    if recording.processes.iter().any(|traced| traced.is_cut) {
        line("warning: the trace was cut at its limit; `--max-trace` sets another one".to_owned());
    }
    for (index, traced) in recording.processes.iter().enumerate() {
        let mark = if recording.chosen == Some(index) { "*" } else { " " };
        let size = match traced.n_bytes {
            0 => "no records: it was killed, or closed the files of others".to_owned(),
            bytes if bytes < 1 << 20 => format!("{} KiB of records", bytes.div_ceil(1 << 10)),
            bytes => format!("{} MiB of records", bytes >> 20),
        };
        line(format!("{mark} {index}: {} ({size})", shown(&traced.words.join(" "))));
    }
    text
}

/// Text of the program or the tree, for a line of the terminal.
fn shown(text: &str) -> String {
    Terminal.line(&Untrusted::from(text))
}
