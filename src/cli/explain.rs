//! `git idd explain`: why a change makes a test fail.
//!
//! Both versions are built under the instrumenting compiler, in the same place, and the test is run on each. Then the failing one is built and run once more, and
//! its failing process stays parked before its first statement while it is asked: everything that is tried runs in forks of it.

use crate::cli::args::ExplainArgs;
use crate::cli::args::RecordArgs;
use crate::cli::args::TestCommand;
use crate::cli::args::options;
use crate::cli::commands::Console;
use crate::cli::explain::forks::Server;
use crate::cli::explain::switching::Switched;
use crate::cli::failure::Failure;
use crate::cli::hunt::sandboxes;
use crate::cli::interrupt::Interrupt;
use crate::cli::plan::Surroundings;
use crate::cli::progress::Progress;
use crate::cli::record;
use crate::cli::reproduce::FIRST_LIMIT;
use crate::cli::saved;
use crate::cli::trace::json_line;
use crate::explain;
use crate::explain::align::Alignment;
use crate::explain::align::run::Run;
use crate::explain::align::statements::Function;
use crate::explain::align::statements::Names;
use crate::explain::align::statements::Version;
use crate::explain::causality::Causality;
use crate::explain::causality::CausalityError;
use crate::explain::causality::Recorded;
use crate::explain::chain;
use crate::explain::chain::Chain;
use crate::explain::chain::Options;
use crate::explain::failure::Ending;
use crate::explain::story;
use crate::explain::story::Link;
use crate::explain::story::Standing;
use crate::instrument::segment::Grain;
use crate::outcome;
use crate::report::Status;
use crate::report::escape::Terminal;
use crate::report::escape::Untrusted;
use crate::revision::CommitId;
use crate::revision::TreeId;
use crate::trace::assemble::assemble;
use crate::trace::container::Process;
use crate::trace::container::Trace;
use crate::trace::play::Player;
use crate::trace::step::Step;
use crate::world::files;
use crate::world::record::build::BuildDirectory;
use crate::world::record::control::Control;
use crate::world::record::control::Parked;
use crate::world::record::control::Reply;
use crate::world::record::control::Test;
use crate::world::record::control::process_of;
use crate::world::record::listen;
use crate::world::record::listen::Keep;
use crate::world::record::listen::Listener;
use crate::world::record::listen::Taken;
use crate::world::record::store;
use crate::world::record::store::UnitRange;
use crate::world::repo::locate::Location;
use crate::world::repo::private;
use crate::world::run::ProcessGroup;
use crate::world::run::Watch;
use crate::world::run::sandbox;
use crate::world::run::sandbox::Commands;
use crate::world::run::sandbox::Job;
use crate::world::run::sandbox::Sandbox;
use std::ffi::OsString;
use std::io;
use std::io::Cursor;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;
use std::time::Instant;

mod change;
mod forks;
mod json;
mod pair;
mod switching;
mod text;

/// How long the failing process may stay parked.
const PARKED_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// A test that is recorded may take so many times as long as one that is not, and so much longer; so may a build.
const SLOWER: (u32, Duration) = (5, Duration::from_secs(30));

/// The failing version may take so many times as long as the reference, and so much longer.
const LONGER: (u32, Duration) = (10, Duration::from_secs(10));

/// Of the first run of the failing version only the processes are looked at; so much of its records is kept.
const FIRST_TRACE: u64 = 64 << 20;

/// The failing run may be so many times as long as the reference, and so many segments longer; then it does not end.
const PATIENCE: (u64, u64) = (20, 200_000);

/// How long the build and the run up to the failing process may take at the most before it is given up.
const START_LIMIT: Duration = Duration::from_secs(60 * 60);

/// The two versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The tree that fails, and the commit that it is closest to.
    pub failing: (TreeId, CommitId),
    /// The tree that passes.
    pub reference: TreeId,
    /// How both are called.
    pub names: (String, String),
    /// The hunt that found them, if one did.
    pub hunt: Option<String>,
}

/// What was found.
pub struct Explanation {
    /// The links of the chain.
    pub links: Vec<Link>,
    /// The chain that they tell.
    pub chain: Chain,
    /// Its sets: the step of the failing run before which each one is, and its variables.
    pub sets: Vec<(Step, Vec<String>)>,
    /// The failure, and where it is seen.
    pub failure: (explain::failure::Failure, Standing),
    /// Lines of the failing version that the change touches, by path.
    pub changed: change::Lines,
    /// The versions.
    pub pair: Pair,
    /// Figures.
    pub figures: Figures,
    /// The decision that makes the reference, if it is a run of the failing version.
    pub switched: Option<Switched>,
    /// What could not be done, in words.
    pub remarks: Vec<String>,
}

/// Figures of an explanation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// Steps of the failing run and of the reference, and pairs of them that correspond.
    pub n_steps: (u32, u32),
    /// See [`n_steps`](Self::n_steps).
    pub n_aligned: usize,
    /// Causality tests, and forks that were run for them.
    pub n_tests: u64,
    /// See [`n_tests`](Self::n_tests).
    pub n_forks: u64,
    /// Time of the builds and runs, and of what came after.
    pub seconds: (f64, f64),
}

/// Explains; the result is what is printed.
pub fn run(
    args: &ExplainArgs,
    location: &Location,
    around: &Surroundings,
    console: Console,
) -> Result<Vec<u8>, Failure> {
    let mut progress =
        Progress::new(Box::new(io::stderr()), console.err_style, console.volume, console.is_err_terminal);
    let clang = record::clang(around)?;
    let user = private::open(&location.git_directory).map_err(|error| Failure::from_error(&error))?;
    let (pair, args) = pair::find(args, location, &user)?;
    let idd = location.idd_directory();
    drop(private::create(&idd, &user, pair.failing.1).map_err(|error| Failure::from_error(&error))?);
    let private = private::private_directory(&idd);
    let changed = change::lines(location, &pair)?;

    let _lock = saved::lock(location)?;
    let interrupt = Interrupt::register()?;
    let root = sandboxes(around, location, "explain")?;
    let explainer = Explainer { args: &args, location, around, root: &root, clang: &clang, interrupt };
    let done = (|| {
        let mut sandbox =
            Sandbox::create(&root, "w", &private, pair.failing.1).map_err(|error| Failure::from_error(&error))?;
        match args.switch_budget {
            Some(budget) => explainer.explain_switched(budget, &mut sandbox, (pair, changed), &mut progress),
            None => explainer.explain(&mut sandbox, pair, changed, &mut progress),
        }
    })();
    sandbox::remove(&root, &private);
    let mut explanation = done?;
    let mut sources = change::Sources::new(location, explanation.pair.failing.0)?;
    for link in explanation.links.iter_mut().filter(|link| link.step == Step::START) {
        if let Some(place) = &mut link.place {
            place.line = sources.touched(&place.file, place.line, &explanation.changed);
        }
    }
    let value = json::value(&explanation, &mut sources);
    if let Some(hunt) = &explanation.pair.hunt
        && let Err(failure) = saved::keep_explanation(location, hunt, explanation.pair.failing, &value)
    {
        let why = String::from_utf8_lossy(failure.message.as_bytes()).into_owned();
        progress.say(&format!("The explanation could not be kept for reports: {why}."));
    }
    Ok(if console.is_json { json_line(&value) } else { text::write(&explanation, &mut sources, console).into_bytes() })
}

/// One side, built and run.
struct Side {
    place: PathBuf,
    units: Vec<UnitRange>,
    taken: Vec<Taken>,
    ending: outcome::Ending,
    /// Time of the build and of the test.
    duration: Duration,
}

/// The process that is meant.
struct Meant {
    /// Its number among those of its side.
    number: usize,
    process: Process,
    /// Those before it that look the same.
    n_before: usize,
}

impl Meant {
    fn new(side: &Side, number: usize) -> Self {
        let process = side.taken[number].process.clone();
        let n_before = side.taken[..number].iter().filter(|taken| is_same(&taken.process, &process)).count();
        Self { number, process, n_before }
    }
}

/// A whole run in a fork.
struct Fork {
    player: Player,
    ending: Ending,
    /// What the fork told, without its records.
    reply: Reply,
}

/// Both runs, and the failing program.
struct Sides {
    failing: (Player, Ending),
    reference: (Player, Ending),
    server: Server,
    switched: Option<Switched>,
}

struct Explainer<'e> {
    args: &'e ExplainArgs,
    location: &'e Location,
    around: &'e Surroundings,
    root: &'e Path,
    clang: &'e Path,
    interrupt: Interrupt,
}

fn failed(error: impl std::error::Error + 'static) -> Failure {
    Failure::from_error(&error)
}

impl Explainer<'_> {
    fn explain(
        &self,
        sandbox: &mut Sandbox,
        pair: Pair,
        changed: change::Lines,
        progress: &mut Progress,
    ) -> Result<Explanation, Failure> {
        let begin = Instant::now();
        progress.say("Building and running the reference.");
        let good = self.side("good", pair.reference, (self.args.max_trace, self.limit()), sandbox)?;
        if good.ending != outcome::Ending::Exit(0) {
            let message =
                format!("under instrumentation the test does not pass on the reference, it ends with {}", good.ending);
            return Err(Failure::new(Status::Error, message)
                .with_hint("an explanation needs a version that passes; `git idd record` shows what differs"));
        }
        progress.say("Building and running the failing version.");
        // What takes so much longer than the reference will not end, and may fill the disk till then.
        let longest = good.duration * LONGER.0 + LONGER.1;
        let limits = (FIRST_TRACE.min(self.args.max_trace), self.limit().min(longest));
        let bad = self.side("bad", pair.failing.0, limits, sandbox)?;
        Self::check_failing(&bad)?;
        let (number, twin) = self.process(&bad, &good)?;
        let mut reference = Self::reference(&good, twin)?;
        let n_reference = Run::read(&mut reference).map_err(failed)?.n_records;

        let build = self.build("park")?;
        let commands = |variables| Ok(self.commands(&build, variables));
        self.while_parked(
            sandbox,
            &job(pair.failing.0, PARKED_LIMIT),
            &Meant::new(&bad, number),
            commands,
            |mut server, process| {
                let budget = PATIENCE.0.saturating_mul(n_reference) + PATIENCE.1;
                let failing = self.fork(&build, &mut server, &process, &forks::whole(budget, self.limit()))?;
                let seconds = begin.elapsed().as_secs_f64();
                progress.say("Looking for the chain.");
                let expected = ending_of(reference.trace().end());
                let (failing, reference) = ((failing.player, failing.ending), (reference, expected));
                self.chain(Sides { failing, reference, server, switched: None }, pair, changed, seconds)
            },
        )
    }

    fn check_failing(bad: &Side) -> Result<(), Failure> {
        if bad.ending != outcome::Ending::Exit(0) {
            return Ok(());
        }
        Err(Failure::new(Status::Error, "under instrumentation the test passes on the failing version, too").with_hint(
            "the failure may depend on the compiler, or on undefined behaviour: try the test with clang -O0",
        ))
    }

    /// The directory below which forks may write.
    fn scratch(&self) -> Result<PathBuf, Failure> {
        let scratch = self.root.join("scratch");
        files::make_private(&scratch).map_err(failed)?;
        Ok(scratch)
    }

    /// Runs the test up to the process that is meant, and has it asked while it is parked before its first segment; then the test is ended.
    fn while_parked<T>(
        &self,
        sandbox: &mut Sandbox,
        job: &Job,
        meant: &Meant,
        commands: impl FnOnce(Vec<(OsString, OsString)>) -> Result<Commands, Failure>,
        ask: impl FnOnce(Server, Process) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let control = Control::new(&self.root.join("control")).map_err(failed)?;
        let commands = commands(control.variables_at_start(&self.scratch()?))?;
        let is_over = Arc::new(AtomicBool::new(false));
        let mut watch = Until { interrupt: self.interrupt.clone(), is_over: Arc::clone(&is_over) };
        thread::scope(|scope| {
            let running = scope.spawn(|| sandbox.observe(job, &commands, &mut watch));
            let parked = self.parked(&control, &meant.process, meant.n_before, &running);
            let told =
                parked.and_then(|(parked, process)| ask(Server::new(control, parked, self.interrupt.clone()), process));
            is_over.store(true, Ordering::Relaxed);
            drop(running.join());
            told
        })
    }

    fn build(&self, name: &str) -> Result<BuildDirectory, Failure> {
        let program = files::this_program().map_err(failed)?;
        let path = self.root.join(format!("build-{name}"));
        BuildDirectory::create(&path, self.clang, &program, Grain::Statement).map_err(failed)
    }

    fn record_args(&self) -> RecordArgs {
        RecordArgs {
            command: self.args.command.clone().unwrap_or(TestCommand::Shell(OsString::new())),
            at: String::new(),
            build: self.args.build.clone(),
            program: self.args.program.clone(),
            once: true,
            max_trace: self.args.max_trace,
            keep: options::Keep::First,
            timeout: self.args.timeout,
        }
    }

    /// Build and test with these variables for the programs that the test runs.
    fn commands(&self, build: &BuildDirectory, variables: Vec<(OsString, OsString)>) -> Commands {
        let set = |(name, value): (OsString, OsString)| record::variable(name, value);
        let variables = variables.into_iter().map(set).collect();
        record::commands(&self.record_args(), self.location, self.around, build, variables)
    }

    fn limit(&self) -> Duration {
        self.args.timeout.map_or(FIRST_LIMIT, |limit| limit * SLOWER.0 + SLOWER.1)
    }

    fn side(
        &self,
        name: &str,
        tree: TreeId,
        (max_trace, limit): (u64, Duration),
        sandbox: &mut Sandbox,
    ) -> Result<Side, Failure> {
        let build = self.build(name)?;
        let (socket, place) = (self.root.join(format!("trace-{name}")), self.root.join(name));
        let commands = self.commands(&build, vec![(listen::VARIABLE.into(), socket.clone().into())]);
        let listener = Listener::start(&socket, &place, (max_trace, Keep::First)).map_err(failed)?;
        let seen = sandbox.observe(&job(tree, limit), &commands, &mut self.interrupt.clone());
        let taken = listener.finish().into_iter().collect::<io::Result<Vec<_>>>().map_err(failed)?;
        let seen = seen.map_err(failed)?.ok_or_else(interrupted)?;
        record::complain(&seen, &build.logged(), &taken)?;
        let units = store::take_maps(&build.path, &place).map_err(failed)?;
        Ok(Side { place, units, taken, ending: seen.ending, duration: seen.duration })
    }

    /// The process of the failing side that is meant, and its counterpart.
    fn process(&self, bad: &Side, good: &Side) -> Result<(usize, usize), Failure> {
        let named = |taken: &Taken| {
            let name = Path::new(&*String::from_utf8_lossy(&taken.process.program)).file_name().map(OsString::from);
            self.args.program.is_none() || name == self.args.program
        };
        let n_of = |side: &Side, number: usize| {
            side.taken[..number]
                .iter()
                .filter(|taken| taken.process.program == side.taken[number].process.program)
                .count()
        };
        let twin = |number: usize| {
            let process = &bad.taken[number].process;
            let mut same = (0..good.taken.len()).filter(|other| good.taken[*other].process.program == process.program);
            same.nth(n_of(bad, number))
        };
        let pairs: Vec<(usize, usize)> = (0..bad.taken.len())
            .filter(|number| named(&bad.taken[*number]))
            .filter_map(|number| Some((number, twin(number)?)))
            .collect();
        let differs = |(number, other): &&(usize, usize)| bad.taken[*number].end != good.taken[*other].end;
        let is_longer = |(number, other): &&(usize, usize)| bad.taken[*number].n_bytes != good.taken[*other].n_bytes;
        let found = pairs.iter().rev().find(differs).or(pairs.iter().rev().find(is_longer)).or(pairs.last());
        found.copied().ok_or_else(|| {
            let mut programs: Vec<String> =
                bad.taken.iter().map(|taken| String::from_utf8_lossy(&taken.process.program).into_owned()).collect();
            programs.dedup();
            let programs = Terminal.line(&Untrusted::from(programs.join(", ").as_str()));
            Failure::new(Status::Error, "no program was run by the test on both versions")
                .with_hint(format!("on the failing one it ran: {programs}; `--program` names the one that is meant"))
        })
    }

    fn reference(side: &Side, number: usize) -> Result<Player, Failure> {
        let taken = &side.taken[number];
        if taken.is_cut {
            return Err(Failure::new(Status::Error, "the run of the reference is longer than its trace may be")
                .with_hint("`--max-trace` sets another limit"));
        }
        let trace = store::open(&side.place.join(&taken.file)).map_err(failed)?;
        Player::new(trace, store::units_at(&side.place, &side.units)).map_err(failed)
    }

    /// Waits for the process that is meant; others go on.
    fn parked<T>(
        &self,
        control: &Control,
        wanted: &Process,
        n_before: usize,
        running: &thread::ScopedJoinHandle<'_, T>,
    ) -> Result<(Parked, Process), Failure> {
        let begin = Instant::now();
        let mut n_same = 0;
        loop {
            if self.interrupt.is_interrupted() {
                return Err(interrupted());
            }
            let parked = control.wait_at_most(Duration::from_millis(50)).map_err(failed)?;
            let Some(parked) = parked else {
                let is_over = running.is_finished() || begin.elapsed() > START_LIMIT;
                // The signal may have ended the test first.
                if is_over && !self.interrupt.is_interrupted() {
                    return Err(Failure::new(Status::Error, "run again, the test did not start the failing program")
                        .with_hint("it does not do the same in every run, so nothing can be tried"));
                }
                continue;
            };
            let process = process_of(parked.pid);
            if is_same(&process, wanted) {
                if n_same == n_before {
                    return Ok((parked, process));
                }
                n_same += 1;
            }
            parked.go().map_err(failed)?;
        }
    }

    /// A whole run, as a fork of the parked process tells it.
    fn fork(
        &self,
        build: &BuildDirectory,
        server: &mut Server,
        process: &Process,
        test: &Test,
    ) -> Result<Fork, Failure> {
        let place = self.root.join("park");
        let units = store::take_maps(&build.path, &place).map_err(failed)?;
        let mut reply = server.start().test(test).map_err(failed)?;
        let ending = forks::ending(reply.ended).ok_or_else(|| {
            Failure::new(Status::Error, "the failing program cannot be forked here")
                .with_hint("its forks are confined by Landlock, which this kernel does not have or does not allow")
        })?;
        let globals = server.start().globals().map_err(failed)?;
        let mut units_of = store::units_at(&place, &units);
        let records = std::mem::take(&mut reply.records);
        let bytes = assemble(process, &globals, &records, &mut units_of).map_err(failed)?;
        let trace = Trace::open(Box::new(Cursor::new(bytes))).map_err(failed)?;
        let player = Player::new(trace, store::units_at(&place, &units)).map_err(failed)?;
        Ok(Fork { player, ending, reply })
    }

    /// Aligns the runs and finds the chain.
    fn chain(&self, sides: Sides, pair: Pair, changed: change::Lines, before: f64) -> Result<Explanation, Failure> {
        let begin = Instant::now();
        let mut remarks = Vec::new();
        let Sides { failing: (mut failing, ending), reference: (mut reference, expected), server, mut switched } =
            sides;
        // Which functions ran is known only when the traces have been read; then they are read again with the names that both versions share.
        if switched.is_none() {
            Run::read(&mut failing).map_err(failed)?;
            let functions = |player: &Player| player.shapes().map(|shape| Function::new(shape)).collect::<Vec<_>>();
            let (mut ours, mut theirs) = (functions(&failing), functions(&reference));
            complete(&mut ours, &theirs, &mut failing)?;
            complete(&mut theirs, &ours, &mut reference)?;
            let names = Arc::new(Names::new(&ours, &theirs));
            failing = failing.renamed(names.naming(Version::First));
            reference = reference.renamed(names.naming(Version::Second));
            remarks.extend(without_counterpart(&names));
        }
        let run = Run::read(&mut failing).map_err(failed)?;
        let other = Run::read(&mut reference).map_err(failed)?;
        let alignment = Alignment::new(&run, &other);
        let failure = explain::failure::Failure::find(&run, &other, &alignment, (ending, expected));
        let failure = failure.ok_or_else(|| {
            Failure::new(Status::Error, "both versions of the program say the same and end alike").with_hint(
                "the failure may be seen in another program (`--program`), or in a file that the program writes",
            )
        })?;
        if run.n_threads > 1 || other.n_threads > 1 {
            remarks.push(
                "several threads ran: only the steps of one at a time are ordered, and tests run the first one alone"
                    .to_owned(),
            );
        }
        let mut figures = Figures {
            n_steps: (run.n_steps(), other.n_steps()),
            n_aligned: alignment.pairs.len(),
            ..Figures::default()
        };
        let (failing, reference) = (Recorded { player: failing, run }, Recorded { player: reference, run: other });
        let mut causality = Causality::new(failing, reference, alignment, failure, server);
        let told = |error: CausalityError<io::Error>| match error {
            CausalityError::Fork(error) if error.kind() == io::ErrorKind::Interrupted => interrupted(),
            error => Failure::from_error(&error),
        };
        let options = Options { method: self.args.method, ..Options::default() };
        let found = chain::compute(&mut causality, options).map_err(told)?;
        if !self.args.is_unchecked
            && let Err(what) = chain::verify(&found, &mut causality).map_err(told)?
        {
            remarks.push(format!("asked again, the chain does not hold: {what}"));
        }
        let links =
            story::tell(&mut causality, &found, switched.as_ref().map(|switched| switched.step)).map_err(told)?;
        let mut sets = Vec::new();
        for (point, set) in &found.sets {
            let state = causality.state(*point).map_err(told)?;
            let held = state.cells.iter().filter(|(definition, _)| set.contains(definition));
            sets.push((causality.steps(*point).0, held.map(|(_, cell)| cell.path.clone()).collect()));
        }
        let failure = causality.failure().clone();
        let standing = story::standing(causality.failing(), failure.step).map_err(failed)?;
        if let Some(switched) = &mut switched {
            let standing = story::standing(causality.failing(), switched.step).map_err(failed)?;
            (switched.place, switched.outcome) = (standing.place, standing.outcome.map(|(outcome, _)| outcome));
            if let Some(step) = causality.alignment().reference(switched.step) {
                let standing = story::standing(causality.reference(), step).map_err(failed)?;
                switched.reference = standing.outcome.map(|(outcome, _)| outcome);
            }
        }
        if causality.n_unpatched > 0 {
            remarks.push(format!(
                "up to {} differing variables point to something that the failing run does not have, and could not be overwritten",
                causality.n_unpatched
            ));
        }
        figures.n_tests = found.n_tests;
        figures.n_forks = causality.n_forks;
        figures.seconds = (before, begin.elapsed().as_secs_f64());
        let failure = (failure, standing);
        Ok(Explanation { links, chain: found, sets, failure, changed, pair, figures, switched, remarks })
    }
}

/// What names do not match, in words.
fn without_counterpart(names: &Names) -> Vec<String> {
    let (n_functions, n_statements) = (names.n_functions, names.n_statements);
    let remark = |(n_all, n_without), what: &str| {
        (n_without > 0).then(|| format!("{n_without} of {n_all} {what} have no counterpart in the reference"))
    };
    let without = [remark(n_functions, "functions that ran"), remark(n_statements, "statements")];
    let renamed = names.renamed.iter().map(|(name, other)| format!("`{name}` is taken for `{other}` of the reference"));
    without.into_iter().flatten().chain(renamed).collect()
}

/// Adds the functions that ran only in the other version.
fn complete(functions: &mut Vec<Function>, others: &[Function], player: &mut Player) -> Result<(), Failure> {
    for other in others {
        if functions.iter().all(|function| function.name != other.name || function.file != other.file) {
            let found = player.function(&other.file, &other.name).map_err(failed)?;
            functions.extend(found.map(|shape| Function::new(&shape)));
        }
    }
    Ok(())
}

/// How a traced process ended.
fn ending_of(end: Option<u32>) -> Ending {
    match end {
        Some(code @ 0..0x100) => Ending::Exit(code),
        Some(signal) => Ending::Signal(signal & 0xff),
        None => Ending::Endless,
    }
}

/// Whether both are the same program with the same arguments.
fn is_same(process: &Process, other: &Process) -> bool {
    process.program == other.program && process.words == other.words
}

fn interrupted() -> Failure {
    Failure::new(Status::Interrupted, "the explanation was interrupted")
}

fn job(tree: TreeId, limit: Duration) -> Job {
    Job { tree, exposed_commit: None, precheck: None, is_clean: true, limit }
}

/// Ends the test when everything was asked.
struct Until {
    interrupt: Interrupt,
    is_over: Arc<AtomicBool>,
}

impl Watch for Until {
    fn started(&mut self, _group: ProcessGroup) {}

    fn is_interrupted(&self) -> bool {
        self.interrupt.is_interrupted() || self.is_over.load(Ordering::Relaxed)
    }
}
