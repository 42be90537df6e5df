//! `git idd record`: builds in a checkout under the instrumenting compiler, runs the test, keeps the trace.

use crate::cli::args::RecordArgs;
use crate::cli::args::TestCommand;
use crate::cli::args::options;
use crate::cli::commands::Console;
use crate::cli::failure::Failure;
use crate::cli::hunt::sandboxes;
use crate::cli::interrupt::Interrupt;
use crate::cli::plan::Surroundings;
use crate::cli::progress::Progress;
use crate::cli::reproduce::FIRST_LIMIT;
use crate::cli::saved;
use crate::instrument::segment::Grain;
use crate::outcome::Ending;
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
use crate::world::record::listen::Keep;
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
use std::path::PathBuf;

/// What a recorded program is told of the clock (2026-01-01) and of its number.
pub const SAME_IN_EVERY_RUN: [&str; 2] = ["IDD_CLOCK=1767225600000000000", "IDD_PID=4242"];

/// What the test runs may write 1 GiB to a file, or less if that is the limit already: a program that prints without an end is not to fill the disk.
const LIMIT: &str = "ulimit -f 2097152 2>/dev/null || :; ";

/// The clang to instrument with.
pub fn clang(around: &Surroundings) -> Result<PathBuf, Failure> {
    let path = around.variable("PATH").unwrap_or_default();
    let preferred = around.variable("IDD_CLANG");
    build::find_clang(&path, preferred.as_deref()).ok_or_else(|| {
        Failure::new(Status::Error, "there is no clang, version 16 or newer, to instrument the program with")
            .with_hint("install one, such as the package clang-19, or name one in `IDD_CLANG`")
    })
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
    let clang = clang(around)?;
    let user = private::open(&location.git_directory).map_err(|error| Failure::from_error(&error))?;
    let commit = graph::resolve(&user, &args.at).map_err(|error| Failure::from_error(&error))?;
    let tree = graph::tree_of(&user, commit).map_err(|error| Failure::from_error(&error))?;
    let idd = location.idd_directory();
    drop(private::create(&idd, &user, commit).map_err(|error| Failure::from_error(&error))?);
    let private = private::private_directory(&idd);

    let _lock = saved::lock(location)?;
    saved::sign_recorder(location)?;
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
        let keep = match args.keep {
            options::Keep::First => Keep::First,
            options::Keep::Last => Keep::Last,
        };
        let job = Job { tree, exposed_commit: None, precheck: None, is_clean: true, limit };
        let mut observe = |job: &Job, commands: &Commands| {
            let seen = sandbox.observe(job, commands, &mut interrupt);
            let seen = seen.map_err(|error| Failure::from_error(&error))?;
            seen.ok_or_else(|| Failure::new(Status::Interrupted, "the recording was interrupted"))
        };
        let reference = if args.once {
            None
        } else {
            progress.say("Building and running the test as it is.");
            let seen = observe(&job, &plain_commands(args, location, around))?;
            if seen.stage == Stage::Build {
                let message = format!("the build fails, also without the instrumenting compiler: {}", said(&seen));
                return Err(Failure::new(Status::Error, message)
                    .with_hint("`--build` is a shell line that is run in a new checkout of the revision"));
            }
            Some(seen)
        };
        let mut run = |job: &Job, place: &Path| {
            let socket = root.join("trace");
            let variables = vec![variable(listen::VARIABLE, &socket)];
            let commands = commands(args, location, around, &build, variables);
            let listener =
                Listener::start(&socket, place, (args.max_trace, keep)).map_err(|error| Failure::from_error(&error))?;
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
            recording.reference = Some(reference.ending.to_string());
            recording.is_same_output = Some(reference.output == seen.output);
            // Where two runs are cut by the clock says nothing about either.
            if seen.ending == Ending::Timeout {
                recording.units = store::take_maps(&build.path, &place).map_err(kept)?;
            } else {
                progress.say("Running the test again.");
                let again = root.join("again");
                let (seen_again, taken_again) = run(&Job { is_clean: false, ..job }, &again)?;
                recording.units = store::take_maps(&build.path, &place).map_err(kept)?;
                let is_same = seen_again.ending == seen.ending
                    && is_same_run(&place, &again, &recording, &taken_again)?.unwrap_or(true);
                recording.is_repeatable = Some(is_same);
            }
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

/// Whether a second run went through the same segments, process by process; `None` if other parts of them were kept.
fn is_same_run(place: &Path, again: &Path, recording: &Recording, taken: &[Taken]) -> Result<Option<bool>, Failure> {
    if taken.len() != recording.processes.len() {
        return Ok(Some(false));
    }
    let mut is_compared = true;
    let digest = |directory: &Path, file: &str| {
        // The maps of both runs are in the first one's directory.
        let mut units = store::units(place, recording);
        let mut trace = store::open(&directory.join(file))?;
        digest::digest(&mut trace, &mut units)
    };
    for (first, second) in recording.processes.iter().zip(taken) {
        if first.n_given_up != second.n_given_up {
            is_compared = false;
            continue;
        }
        let pair = digest(place, &first.file).and_then(|one| Ok((one, digest(again, &second.file)?)));
        let (one, other) = pair.map_err(|error| Failure::from_error(&error))?;
        if one != other {
            return Ok(Some(false));
        }
    }
    Ok(is_compared.then_some(true))
}

/// The build and the test as the user would run them.
fn plain_commands(args: &RecordArgs, location: &Location, around: &Surroundings) -> Commands {
    let is_ours = |name: &OsStr| name.as_bytes().starts_with(b"GIT_") || name.as_bytes().starts_with(b"IDD_");
    let mut environment: Vec<(OsString, OsString)> =
        around.environment.iter().filter(|(name, _)| !is_ours(name)).cloned().collect();
    // Under the instrumenting compiler there is one, and the build may rely on it.
    if !environment.iter().any(|(name, _)| name == "CC") {
        environment.push(("CC".into(), "cc".into()));
    }
    let test = match &args.command {
        TestCommand::Shell(line) => Words::Shell([LIMIT.as_ref(), line.as_os_str()].into_iter().collect()),
        TestCommand::Argv(words) => Words::Argv(words.clone()),
    };
    Commands {
        regeneration: None,
        build: args.build.clone().map(Words::Shell),
        test,
        build_cache: None,
        artifacts: Vec::new(),
        directory: location.prefix.clone(),
        environment,
        is_home_isolated: false,
    }
}

/// The test with the limit to what it writes.
fn limited(command: &TestCommand) -> Vec<OsString> {
    let mut words: Vec<OsString> = ["/bin/sh", "-c"].map(OsString::from).into();
    match command {
        TestCommand::Shell(line) => words.push([LIMIT.as_ref(), line.as_os_str()].into_iter().collect()),
        TestCommand::Argv(test) => {
            words.extend([format!("{LIMIT}exec \"$@\"").into(), "sh".into()]);
            words.extend(test.iter().cloned());
        }
    }
    words
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
    words.extend(limited(&args.command));
    Commands {
        regeneration: None,
        build: args.build.clone().map(Words::Shell),
        test: Words::Argv(words),
        build_cache: None,
        artifacts: Vec::new(),
        directory: location.prefix.clone(),
        environment,
        is_home_isolated: false,
    }
}

/// The last line that a command printed.
fn said(seen: &Observation) -> String {
    shown(seen.output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default())
}

/// What makes a recording impossible, said so that the user can do something about it.
pub fn complain(seen: &Observation, logged: &[Logged], taken: &[Taken]) -> Result<(), Failure> {
    if seen.stage == Stage::Build {
        let said = said(seen);
        let said = if said.is_empty() { "it says nothing" } else { &said };
        let message = format!("the build fails under the instrumenting compiler: {said}");
        return Err(Failure::new(Status::Error, message));
    }
    let is_instrumented = |entry: &&Logged| matches!(entry, Logged::Instrumented(_));
    if !logged.iter().any(|entry| is_instrumented(&entry)) {
        let message = if logged.is_empty() {
            "the build never called the instrumenting compiler"
        } else {
            "no source could be instrumented"
        };
        let failure = Failure::new(Status::Error, message);
        let plain = logged.iter().find_map(|entry| match entry {
            Logged::Plain(source, why) => Some(format!("{}: {}", shown(source), shown(why))),
            _ => None,
        });
        return Err(failure.with_hint(plain.unwrap_or_else(|| {
            "the build has to take its compiler from `CC` or `PATH` (cc, gcc, clang), and only C is instrumented; a build that is part of the test is fine, too".to_owned()
        })));
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
    let pids: Vec<u32> = taken.iter().map(|taken| taken.process.pid).collect();
    let traced = |(index, taken): (usize, Taken)| Traced {
        forked_by: taken
            .process
            .forked_at
            .and_then(|_| pids[..index].iter().rposition(|pid| *pid == taken.process.parent)),
        n_given_up: taken.n_given_up,
        n_packed: taken.n_packed,
        file: taken.file,
        program: text(&taken.process.program),
        words: taken.process.words.split(|byte| *byte == 0).map(text).filter(|word| !word.is_empty()).collect(),
        pid: taken.process.pid,
        n_bytes: taken.n_bytes,
        end: taken.end,
        is_cut: taken.is_cut,
    };
    let processes: Vec<Traced> = taken.into_iter().enumerate().map(traced).collect();
    let chosen = choose(&processes, args.program.as_deref(), seen.ending);
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

/// The process that is meant, of the named program if one is named: the last that ended as the test did; else the last that failed; else the last. Of
/// processes that a program forked only the first one counts, unless it did not fail.
fn choose(processes: &[Traced], program: Option<&OsStr>, ending: Ending) -> Option<usize> {
    let is_named =
        |traced: &Traced| program.is_none_or(|program| Path::new(&traced.program).file_name() == Some(program));
    let is_alike = |end: Option<u32>| match (ending, end) {
        (Ending::Exit(code), Some(end @ 0..256)) => u32::try_from(code) == Ok(end),
        // A shell says 128 + n for signal n.
        (Ending::Exit(code), Some(end)) => u32::try_from(code) == Ok(end - 128),
        (Ending::Signal(signal), Some(end)) => u32::try_from(signal) == Ok(end & 0xff) && end >= 256,
        (Ending::Timeout, None) => true,
        _ => false,
    };
    let named = || processes.iter().enumerate().filter(|(_, traced)| is_named(traced));
    let rank = |traced: &Traced| {
        let is_failed = traced.end != Some(0);
        (is_failed && is_alike(traced.end), is_failed, traced.forked_by.is_none())
    };
    named().max_by_key(|(index, traced)| (rank(traced), *index)).map(|(index, _)| index)
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
    if recording.ending == Ending::Timeout.to_string() {
        line(
            "note: the test was cut at its time limit: the last records may be missing, and it was not run again"
                .to_owned(),
        );
    } else if recording.is_repeatable == Some(false) {
        line("warning: a second run took another way, so what is tried in it may not hold for this one".to_owned());
    }
    if recording.processes.iter().any(|traced| traced.is_cut) {
        line(
            "warning: the end of the run was left out: the trace came to its limit; `--max-trace` sets another one"
                .to_owned(),
        );
    }
    if recording.processes.iter().any(|traced| traced.n_given_up > 0) {
        line("warning: the beginning of the run was left out: the trace came to its limit; `--max-trace` sets another one, `--keep first` keeps the beginning".to_owned());
    }
    for (index, traced) in recording.processes.iter().enumerate() {
        let mark = if recording.chosen == Some(index) { "*" } else { " " };
        let size = match traced.n_bytes {
            0 => "no records: it was killed, or closed the files of others".to_owned(),
            bytes => format!("{} of records, {} on disk", size_of(bytes), size_of(traced.n_packed)),
        };
        let left_out = match traced.n_given_up {
            0 => String::new(),
            bytes => format!(", the first {} left out", size_of(bytes)),
        };
        let forked = traced.forked_by.map(|parent| format!("forked by {parent}: ")).unwrap_or_default();
        line(format!("{mark} {index}: {forked}{} ({size}{left_out})", shown(&traced.words.join(" "))));
    }
    text
}

/// Bytes, for people.
fn size_of(n_bytes: u64) -> String {
    match n_bytes {
        0..0x10_0000 => format!("{} KiB", n_bytes.div_ceil(1 << 10)),
        0x10_0000..0x4000_0000 => format!("{} MiB", n_bytes >> 20),
        _ => format!("{}.{} GiB", n_bytes >> 30, ((n_bytes >> 20) & 0x3ff) * 10 / 1024),
    }
}

/// Text of the program or the tree, for a line of the terminal.
fn shown(text: &str) -> String {
    Terminal.line(&Untrusted::from(text))
}
