//! `git idd record`: builds in a checkout under the instrumenting compiler, runs the test, keeps the trace.
//!
//! [`missed`] says why nothing was recorded, [`recording`] what was; [`java`] records Java programs.

use crate::criteria::FIRST_LIMIT;
use crate::hold::FileHolder;
use crate::order::TestCommand;
use crate::record::instruments::{Instruments, RecordedRun, RecordingTools, kept};
use crate::record::missed::Java;
use crate::recorded::ProcessRun;
use crate::recorded::order::{KeepOrder, RecordOrder};
use crate::sandboxes::sandboxes;
use crate::surroundings::surroundings;
use crate::version::TreeVersion;
use crate::{Context, Failure, Interrupt, Talk, recorded, saved};
use idd_base::{Ending, Observation, Stage, TreeId};
use idd_report::Status;
use idd_trace::container::is_stopped;
use idd_trace::instrument::java::sites::RecordedContent;
use idd_trace::native::digest;
use idd_world::files;
use idd_world::place::surroundings::Surroundings;
use idd_world::process::CommandWords;
use idd_world::record::build::BuildDirectory;
use idd_world::record::listen::{TakenTrace, TraceListener};
use idd_world::record::store::Recording;
use idd_world::record::{build, store, witness};
use idd_world::repo::{Location, graph, private};
use idd_world::run::sandbox::{self, Commands, ProbeJob, Sandbox};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

pub(crate) mod instruments;
mod java;
pub mod missed;
mod recording;

/// What a recorded program is told of the clock (2026-01-01) and of its number.
pub const SAME_IN_EVERY_RUN: [&str; 2] = ["IDD_CLOCK=1767225600000000000", "IDD_PID=4242"];

/// What is set for a build by others that keep objects: they would keep instrumented ones, or give back others.
const NOTHING_KEPT: [(&str, &str); 2] = [("CCACHE_DISABLE", "1"), ("SCCACHE_RECACHE", "1")];

/// Bytes of a block, in which the shell counts what may be written.
const BLOCK: u64 = 512;

/// The clang to instrument with.
pub fn clang(context: &Context) -> Result<PathBuf, Failure> {
    let path = context.variable("PATH").unwrap_or_default();
    let preferred = context.variable("IDD_CLANG");
    build::find_clang(&path, preferred.as_deref()).ok_or_else(|| match &preferred {
        Some(named) => {
            let named = missed::shown(&named.to_string_lossy());
            Failure::error(format!("`IDD_CLANG` names `{named}`, which is not clang 16 or newer"))
                .with_hint("without `IDD_CLANG`, clang is searched in `PATH`")
        }
        None => Failure::error("no clang (version 16 or newer) was found to instrument the program").with_hint(
            "install one, such as the package clang-19, or name one in `IDD_CLANG`; a Java program needs none, but a \
                 JDK: `javac` in `PATH` or in `JAVA_HOME`",
        ),
    })
}

/// Builds and runs the test in a sandbox; `None` if that was interrupted.
///
/// - `listener`: takes what connects meanwhile.
pub(crate) fn observe(
    sandbox: &mut Sandbox,
    job: &ProbeJob,
    commands: &Commands,
    listener: Option<&TraceListener>,
    interrupt: &mut Interrupt,
) -> Result<Option<Observation>, Failure> {
    let seen = match listener {
        Some(listener) => sandbox.observe(job, commands, &mut listener.watched(interrupt)),
        None => sandbox.observe(job, commands, interrupt),
    };
    Ok(seen?.as_ref().map(java::without_notes))
}

/// Builds and runs the test; what connects meanwhile is listened to.
type Observe<'o> = dyn FnMut(&ProbeJob, &Commands, Option<&TraceListener>) -> Result<Observation, Failure> + 'o;

/// Records the test; returns the name of the recording, and what it says of itself.
pub fn run(
    order: &RecordOrder,
    location: &Location,
    context: &Context,
    talk: &mut dyn Talk,
) -> Result<(String, Recording), Failure> {
    let user = private::open(&location.git_directory)?;
    let commit = graph::resolve(&user, &order.at)?;
    let mut tree = graph::tree_of(&user, commit)?;
    drop(saved::make_private(location, &user, commit)?);
    let holder = FileHolder::new(&order.command, &order.holding, commit, location, &user, context)?;
    holder.held(&mut [&mut tree], talk)?;
    of_tree(order, TreeVersion { tree, commit }, location, context, talk)
}

/// Versions of the recorded tree whose runs are recorded, examined, and not stored.
pub struct Others<'o> {
    /// The trees. They differ from the recorded one only in files that the build does not read: they are run with its
    /// products.
    pub trees: &'o [TreeId],
    /// Takes each run: its position among the trees, and its default process. A run of which nothing can be read is
    /// left out.
    pub take: &'o mut dyn FnMut(usize, ProcessRun),
}

/// Records the test in a tree of the private repository; the revision of the order is not used.
pub fn of_tree(
    order: &RecordOrder,
    version: TreeVersion,
    location: &Location,
    context: &Context,
    talk: &mut dyn Talk,
) -> Result<(String, Recording), Failure> {
    of_trees(order, version, &mut Others { trees: &[], take: &mut |_, _| {} }, location, context, talk)
}

/// The same, and then records the test in other trees.
///
/// Cost: a run for each other tree.
pub fn of_trees(
    order: &RecordOrder,
    version: TreeVersion,
    others: &mut Others<'_>,
    location: &Location,
    context: &Context,
    talk: &mut dyn Talk,
) -> Result<(String, Recording), Failure> {
    let TreeVersion { tree, commit } = version;
    let tools = RecordingTools::find(location, context, tree)?;
    let private = private::private_directory(&location.idd_directory());
    let _lock = saved::lock(location)?;
    saved::sign_recorder(location)?;
    let mut interrupt = context.interrupt()?;
    let name = store::new_name(&location.session_directory());
    let root = sandboxes(context, location, &format!("record-{name}"))?;
    let done = (|| {
        let mut sandbox = Sandbox::create(&root, "w", &private, commit)?;
        if !others.trees.is_empty() {
            sandbox.keep_products();
        }
        let surroundings = surroundings(location, context, &root, &[]);
        let at = instruments::RecordingPlace { order, location, context, root: &root, surroundings: &surroundings };
        let instruments = Instruments::create(tools, at, &sandbox.tree_directory(), talk)?;
        let place = store::directory(&location.session_directory()).join(&name);
        let limit = order.timeout.unwrap_or(FIRST_LIMIT);
        let job = ProbeJob::fresh(tree, limit);
        let mut observe = |job: &ProbeJob, commands: &Commands, listener: Option<&TraceListener>| {
            let seen = observe(&mut sandbox, job, commands, listener, &mut interrupt)?;
            seen.ok_or_else(|| Failure::new(Status::Interrupted, "the recording was interrupted"))
        };
        let reference = if order.once {
            None
        } else {
            talk.say("Building and running the test as it is.");
            let commands = plain_commands(order, location, context);
            let seen = observe(&job, &Commands { surroundings: surroundings.clone(), ..commands }, None)?;
            plain_build(&seen)?;
            Some(seen)
        };
        talk.say(match &instruments.build {
            Some(_) => "Building and running the test under the instrumenting compiler.",
            None => "Building and running the test; only Java is recorded, as no clang was found.",
        });
        let recorded = instruments.run_with_any_compiler(&job, &place, &mut observe, talk)?;
        let RecordedRun { seen, taken, losses } = recorded;
        let logged = instruments.build.as_ref().map(BuildDirectory::logged).unwrap_or_default();
        match &instruments.build {
            Some(build) => {
                missed::complain(&seen, build, &taken, Java { has_agent: instruments.has_agent(), losses: &losses })?;
            }
            None => missed::complain_without_clang(plain_build(&seen)?, &taken, &losses)?,
        }
        let mut recording = recording::recording(order, tree, commit, &seen, &logged, taken)?;
        recording.losses = losses;
        if let Some(reference) = &reference {
            recording.reference = Some(reference.ending.to_string());
            recording.is_same_output = Some(reference.output == seen.output);
            // Where two runs are cut by the clock says nothing about either.
            if seen.ending == Ending::Timeout {
                recording.units = instruments.take_maps(&place)?;
            } else {
                talk.say("Running the test again.");
                let again = root.join("again");
                let job = ProbeJob { is_clean: !others.trees.is_empty(), ..job.clone() };
                let other = instruments.run(&job, &again, true, &mut observe)?;
                recording.units = instruments.take_maps(&place)?;
                let is_same = other.seen.ending == seen.ending
                    && is_same_run(&place, &again, &recording, &other.taken)?.unwrap_or(true);
                recording.is_repeatable = Some(is_same);
            }
        } else {
            recording.units = instruments.take_maps(&place)?;
        }
        for (index, tree) in others.trees.iter().enumerate() {
            let at = root.join("other");
            let job = ProbeJob { tree: *tree, is_clean: false, ..job.clone() };
            let RecordedRun { seen, taken, .. } = instruments.run(&job, &at, false, &mut observe)?;
            let other = recording::recording(order, *tree, commit, &seen, &logged, taken);
            let units = instruments.take_maps(&at)?;
            let other = other.ok().map(|other| Recording { units, ..other });
            if let Some(run) = other.and_then(|other| recorded::run(&at, &other, other.chosen?).ok()) {
                (others.take)(index, run);
            }
            files::remove(&at).map_err(kept(&at))?;
        }
        store::write(&place, &recording).map_err(kept(&place))?;
        if order.content == RecordedContent::Steps && recording.processes.iter().any(|traced| traced.has_values) {
            talk.say("Note: `--steps` has no effect on C programs: their values are recorded, too.");
        }
        if order.keep == Some(KeepOrder::Last) && recording.processes.iter().any(|traced| traced.is_java) {
            talk.say("Note: `--keep last` has no effect on Java programs: the beginning of each run is kept.");
        }
        Ok(recording)
    })();
    sandbox::remove(&root, &private);
    if done.is_err() {
        // What came to nothing is not to be taken for the last recording; that it cannot be removed is no news by now.
        let _ = files::remove(&store::directory(&location.session_directory()).join(&name));
    }
    done.map(|recording| (name, recording))
}

/// A run without instrumentation; an error if its build failed.
pub(crate) fn plain_build(seen: &Observation) -> Result<&Observation, Failure> {
    if seen.stage == Stage::Build {
        let said = match missed::said(seen) {
            said if said.is_empty() => format!("it ended with {}, and printed nothing", seen.ending),
            said => said,
        };
        let message = format!("the build fails, also without the instrumenting compiler: {said}");
        return Err(Failure::error(message)
            .with_hint("`--build` is a shell line that is run in a new checkout of the revision"));
    }
    Ok(seen)
}

/// Whether a second run went through the same segments, process by process; `None` if other parts of them were kept.
fn is_same_run(
    place: &Path,
    again: &Path,
    recording: &Recording,
    taken: &[TakenTrace],
) -> Result<Option<bool>, Failure> {
    // How far those came that outlived the test is no question of the way.
    let first: Vec<_> = recording.processes.iter().filter(|traced| !traced.is_left).collect();
    let second: Vec<_> = taken.iter().filter(|taken| !taken.is_left).collect();
    if first.len() != second.len() {
        return Ok(Some(false));
    }
    let mut is_compared = true;
    let digest = |directory: &Path, file: &str| {
        // The maps of both runs are in the first one's directory.
        let mut units = store::units(place, recording);
        let mut trace = store::open(&directory.join(file))?;
        digest::digest(&mut trace, &mut units)
    };
    for (first, second) in first.into_iter().zip(second) {
        if first.n_given_up != second.n_given_up {
            is_compared = false;
            continue;
        }
        if first.is_java || second.is_java {
            let (one, other) = (place.join(&first.file), again.join(&second.file));
            if first.is_java != second.is_java || !java::is_same(&one, &other)? {
                return Ok(Some(false));
            }
            continue;
        }
        // Nor of those that were stopped.
        if is_stopped(first.end) && is_stopped(second.end) {
            continue;
        }
        let pair = digest(place, &first.file).and_then(|one| Ok((one, digest(again, &second.file)?)));
        let (one, other) = pair?;
        if one != other {
            return Ok(Some(false));
        }
    }
    Ok(is_compared.then_some(true))
}

/// The build and the test as the user would run them.
pub fn plain_commands(order: &RecordOrder, location: &Location, context: &Context) -> Commands {
    let is_ours = |name: &OsStr| name.as_bytes().starts_with(b"GIT_") || name.as_bytes().starts_with(b"IDD_");
    let mut environment: Vec<(OsString, OsString)> =
        context.environment.iter().filter(|(name, _)| !is_ours(name)).cloned().collect();
    // Under the instrumenting compiler there is one, and the build may rely on it.
    if !environment.iter().any(|(name, _)| name == "CC") {
        environment.push(("CC".into(), "cc".into()));
    }
    Commands {
        fetching: None,
        regeneration: None,
        build: order.build.clone().map(CommandWords::Shell),
        test: CommandWords::Argv(limited(order)),
        artifacts: Vec::new(),
        directory: location.prefix.clone(),
        environment,
        is_home_isolated: false,
        surroundings: Surroundings::default(),
    }
}

/// The test with the limit to each file that it writes: a program that prints without an end is not to fill the disk. It is a soft one: the runtime keeps records beside it.
fn limited(order: &RecordOrder) -> Vec<OsString> {
    let limit = format!("ulimit -S -f {} 2>/dev/null || :; ", order.max_output.div_ceil(BLOCK));
    let mut words: Vec<OsString> = ["/bin/sh", "-c"].map(OsString::from).into();
    match &order.command {
        TestCommand::Shell(line) => words.push([OsStr::new(&limit), line.as_os_str()].into_iter().collect()),
        TestCommand::Argv(test) => {
            words.extend([format!("{limit}exec \"$@\"").into(), "sh".into()]);
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
    order: &RecordOrder,
    location: &Location,
    context: &Context,
    build: &BuildDirectory,
    variables: Vec<OsString>,
) -> Commands {
    let is_ours = |name: &OsStr| name.as_bytes().starts_with(b"GIT_") || name.as_bytes().starts_with(b"IDD_");
    let is_kept = |name: &OsStr| !is_ours(name) && name != "PATH" && name != "CC";
    let mut environment: Vec<(OsString, OsString)> =
        context.environment.iter().filter(|(name, _)| is_kept(name)).cloned().collect();
    let mut path = build.bin().into_os_string();
    path.push(":");
    path.push(context.variable("PATH").unwrap_or_default());
    environment.push(("PATH".into(), path));
    environment.push(("CC".into(), build.bin().join("cc").into()));
    environment.push((build::VARIABLE.into(), build.path.clone().into()));
    environment.extend(witness::variables(build));
    environment.extend(NOTHING_KEPT.map(|(name, value)| (name.into(), value.into())));
    // Only the test is traced, not what the build runs of its own products.
    let mut words: Vec<OsString> = vec!["/usr/bin/env".into()];
    words.extend(variables);
    words.extend(SAME_IN_EVERY_RUN.map(OsString::from));
    words.extend(["setarch".into(), "-R".into()]);
    words.extend(limited(order));
    Commands { test: CommandWords::Argv(words), environment, ..plain_commands(order, location, context) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Embedding;
    use crate::order::Holding;
    use idd_trace::TracedProcess;
    use idd_trace::instrument::SegmentGrain;
    use idd_world::record::store::Traced;

    fn order(command: TestCommand, max_output: u64) -> RecordOrder {
        RecordOrder {
            command,
            at: "HEAD".to_owned(),
            build: Some("make".into()),
            holding: Holding::default(),
            program: None,
            once: true,
            max_trace: 1 << 20,
            max_output,
            keep: None,
            content: RecordedContent::Values,
            timeout: None,
        }
    }

    fn words(words: &[OsString]) -> Vec<&str> {
        words.iter().map(|word| word.to_str().unwrap()).collect()
    }

    #[test]
    fn the_test_is_run_by_a_shell_that_limits_its_files_in_whole_blocks() {
        let line = limited(&order(TestCommand::Shell("./t; echo $?".into()), 1025));
        assert_eq!(words(&line), ["/bin/sh", "-c", "ulimit -S -f 3 2>/dev/null || :; ./t; echo $?"]);
        let argv = limited(&order(TestCommand::Argv(vec!["./t".into(), "a b".into()]), 1024));
        assert_eq!(words(&argv), ["/bin/sh", "-c", "ulimit -S -f 2 2>/dev/null || :; exec \"$@\"", "sh", "./t", "a b"]);
        assert!(limited(&order(TestCommand::Shell("t".into()), 0))[2].to_string_lossy().starts_with("ulimit -S -f 0 "));
    }

    fn context(variables: &[(&str, &str)]) -> Context {
        let environment = variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        Context {
            directory: "/".into(),
            environment,
            configuration: Vec::new(),
            interrupt: None,
            kept_executor: None,
            embedding: Embedding::default(),
        }
    }

    fn location() -> Location {
        Location { git_directory: "/g".into(), common_directory: "/g".into(), top: None, prefix: "sub".into() }
    }

    #[track_caller]
    fn check_set(commands: &Commands, expected: &[(&str, &str)]) {
        let set = commands.environment.iter();
        let set: Vec<_> = set.map(|(name, value)| (name.to_str().unwrap(), value.to_str().unwrap())).collect();
        assert_eq!(set, expected);
    }

    #[test]
    fn the_plain_run_has_the_environment_of_the_user_and_a_compiler() {
        let order = order(TestCommand::Shell("t".into()), 1);
        let mine = [("A", "1"), ("GIT_DIR", "x"), ("IDD_CLANG", "y"), ("PATH", "/bin")];
        let commands = plain_commands(&order, &location(), &context(&mine));
        check_set(&commands, &[("A", "1"), ("PATH", "/bin"), ("CC", "cc")]);
        assert_eq!((commands.build, commands.directory), (Some(CommandWords::Shell("make".into())), "sub".into()));
        let own = plain_commands(&order, &location(), &context(&[("CC", "tcc")]));
        check_set(&own, &[("CC", "tcc")]);
    }

    #[test]
    fn under_the_instrumenting_compiler_only_the_test_is_traced_with_the_same_clock_and_number() {
        let order = order(TestCommand::Shell("t".into()), 512);
        let build =
            BuildDirectory { path: "/b".into(), clang: "/clang".into(), grain: SegmentGrain::Straight, objects: None };
        let mine = [("PATH", "/bin"), ("CC", "tcc"), ("GIT_DIR", "x"), ("A", "1")];
        let commands = commands(&order, &location(), &context(&mine), &build, vec![variable("X", "y")]);
        let bin = build.bin();
        let (path, cc) = (format!("{}:/bin", bin.display()), bin.join("cc").display().to_string());
        let expected = [
            ("A", "1"),
            ("PATH", &path),
            ("CC", &cc),
            (build::VARIABLE, "/b"),
            ("CCACHE_DISABLE", "1"),
            ("SCCACHE_RECACHE", "1"),
        ];
        check_set(&commands, &expected);
        let CommandWords::Argv(test) = &commands.test else { panic!("words") };
        assert_eq!(words(&test[..4]), ["/usr/bin/env", "X=y", SAME_IN_EVERY_RUN[0], SAME_IN_EVERY_RUN[1]]);
        assert_eq!(words(&test[4..8]), ["setarch", "-R", "/bin/sh", "-c"]);
    }

    /// The comparison of a stored run with another one.
    #[track_caller]
    fn check_same(other: &str, change: impl FnOnce(&mut Traced, &mut Vec<TakenTrace>), expected: Option<bool>) {
        let at = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/traces").join(name);
        let (place, again) = (at("returns-bad"), at(other));
        let mut recording = store::read(&place).unwrap();
        let second = &store::read(&again).unwrap().processes[0];
        let process = TracedProcess { pid: 1, program: b"a".to_vec(), words: vec![], forked_at: None, parent: 0 };
        let mut taken = vec![TakenTrace {
            file: second.file.clone(),
            process,
            n_bytes: second.n_bytes,
            end: second.end,
            is_left: false,
            n_given_up: 0,
            is_cut: false,
            is_lost: false,
            n_packed: 0,
            is_java: false,
            has_values: true,
            left_out: Vec::new(),
        }];
        change(&mut recording.processes[0], &mut taken);
        assert_eq!(is_same_run(&place, &again, &recording, &taken).unwrap(), expected);
    }

    #[test]
    fn a_second_run_is_the_same_if_each_process_went_through_the_same_segments() {
        check_same("returns-bad", |_, _| {}, Some(true));
        check_same("returns-good", |_, _| {}, Some(false));
        check_same("returns-bad", |_, taken| taken.clear(), Some(false));
        check_same("returns-bad", |_, taken| taken.push(taken[0].clone()), Some(false));
        // What outlived the test is not compared.
        check_same("returns-bad", |_, taken| taken.push(TakenTrace { is_left: true, ..taken[0].clone() }), Some(true));
        // Other parts were kept.
        check_same("returns-good", |_, taken| taken[0].n_given_up = 1, None);
        // Both were killed.
        check_same("returns-good", |first, taken| (first.end, taken[0].end) = (None, None), Some(true));
    }
}
