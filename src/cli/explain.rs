//! `git idd explain`: why a change makes a test fail.
//!
//! Both versions are built under the instrumenting compiler, in the same place, and the test is run on each. Then the failing one is built and run once more, and
//! its failing process stays parked before its first statement while it is asked: everything that is tried runs in forks of it.

use crate::cli::args::ExplainArgs;
use crate::cli::commands::Console;
use crate::cli::explain::forks::Server;
use crate::cli::explain::sides::Meant;
use crate::cli::explain::sides::Side;
use crate::cli::explain::sides::job;
use crate::cli::explain::switching::Switched;
use crate::cli::failure::Failure;
use crate::cli::hold::Holder;
use crate::cli::hunt::sandboxes;
use crate::cli::interrupt::Interrupt;
use crate::cli::plan::Surroundings;
use crate::cli::progress::Progress;
use crate::cli::record;
use crate::cli::saved;
use crate::cli::trace::json_line;
use crate::explain;
use crate::explain::align::run::Run;
use crate::explain::chain::Chain;
use crate::explain::failure::Ending;
use crate::explain::origin::Origin;
use crate::explain::story::Link;
use crate::explain::story::Standing;
use crate::outcome;
use crate::report::Status;
use crate::revision::CommitId;
use crate::revision::TreeId;
use crate::trace::container::REPLACED;
use crate::trace::play::Player;
use crate::trace::step::Step;
use crate::world::repo::locate::Location;
use crate::world::repo::private;
use crate::world::run::sandbox;
use crate::world::run::sandbox::Sandbox;
use std::io;
use std::path::Path;
use std::time::Duration;
use std::time::Instant;

mod change;
mod finding;
mod forks;
mod json;
mod pair;
mod parking;
mod sides;
mod switching;
mod text;

/// How long the failing process may stay parked.
const PARKED_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// The failing version may take so many times as long as the reference, and so much longer.
const LONGER: (u32, Duration) = (10, Duration::from_secs(10));

/// Of the first run of the failing version only the processes are looked at; so much of its records is kept.
const FIRST_TRACE: u64 = 64 << 20;

/// The failing run may be so many times as long as the reference, and so many segments longer; then it does not end.
const PATIENCE: (u64, u64) = (20, 200_000);

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
    /// The null pointer that a program crashed at.
    pub null: Option<String>,
    /// Where the difference comes from that the chain begins with.
    pub origin: Origin,
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

impl Explanation {
    /// With a remark before the others.
    fn with(mut self, remark: Option<String>) -> Self {
        self.remarks.splice(..0, remark);
        self
    }
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
    /// Points at which the states of both runs were compared; one that was asked for again much later counts again.
    pub n_states: u64,
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
    let (mut pair, args) = pair::find(args, location, &user, &mut progress)?;
    drop(saved::make_private(location, &user, pair.failing.1)?);
    let private = private::private_directory(&location.idd_directory());
    if let (None, Some(command)) = (&pair.hunt, &args.command) {
        let holder = Holder::new(command, &args.holding, pair.failing.1, location, (&user, around))?;
        holder.held(&mut [&mut pair.failing.0, &mut pair.reference], &mut progress)?;
    }
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
    Ok(if console.is_json {
        json_line(&value)
    } else {
        text::write(&explanation, &value, &mut sources, console)?.into_bytes()
    })
}

/// Both runs, and the failing program.
struct Sides {
    failing: (Player, Ending),
    reference: (Player, Ending),
    server: Server,
    switched: Option<Switched>,
    /// Of programs that the test ran on the failing version.
    n_processes: usize,
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
    /// What is said of a reference that does not pass; named versions that were swapped are told to be.
    fn not_passing(&self, good: &Side, pair: &Pair, sandbox: &mut Sandbox) -> Failure {
        if pair.hunt.is_none() {
            let bad = self.side("bad", pair.failing.0, (FIRST_TRACE.min(self.args.max_trace), self.limit()), sandbox);
            if bad.is_ok_and(|bad| bad.ending == outcome::Ending::Exit(0)) {
                let (bad, good) = &pair.names;
                let message = format!("the test passes on `{bad}` and fails on `{good}`: they look swapped");
                return Failure::new(Status::Error, message)
                    .with_hint(format!("`--bad` is the version that fails: `--bad {good} --good {bad}`"));
            }
        }
        let said = if good.said.is_empty() { String::new() } else { format!(": {}", good.said) };
        let message = format!(
            "under instrumentation the test does not pass on the reference, it ends with {}{said}",
            good.ending
        );
        Failure::new(Status::Error, message)
            .with_hint("an explanation needs a version that passes; `git idd record` shows what the test does there")
    }

    fn explain(
        &self,
        sandbox: &mut Sandbox,
        pair: Pair,
        changed: change::Lines,
        progress: &mut Progress,
    ) -> Result<Explanation, Failure> {
        let begin = Instant::now();
        progress.say("Building and running the reference.");
        let good = self.side("ref", pair.reference, (self.args.max_trace, self.limit()), sandbox)?;
        if good.ending != outcome::Ending::Exit(0) {
            return Err(self.not_passing(&good, &pair, sandbox));
        }
        progress.say("Building and running the failing version.");
        // What takes so much longer than the reference will not end, and may fill the disk till then.
        let longest = good.duration * LONGER.0 + LONGER.1;
        let limits = (FIRST_TRACE.min(self.args.max_trace), self.limit().min(longest));
        let bad = self.side("bad", pair.failing.0, limits, sandbox)?;
        Self::check_failing(&bad)?;
        let (number, twin) = self.process(&bad, &good)?;
        let which = Self::say_which(&bad, number, progress);
        let mut reference = Self::reference(&good, twin)?;
        let n_reference = Run::read(&mut reference).map_err(failed)?.n_records;

        let build = self.build("run")?;
        let commands = |variables| Ok(self.commands(&build, variables));
        self.while_parked(
            sandbox,
            &job(pair.failing.0, PARKED_LIMIT),
            &Meant::new(&bad, number),
            commands,
            |mut server, process| {
                let taken = &bad.taken[number];
                // A record has four bytes at least: what ended by itself in the test may come as far here.
                let n_failing = if taken.end.is_some() { taken.n_bytes / 4 } else { 0 };
                let budget = (PATIENCE.0.saturating_mul(n_reference) + PATIENCE.1).max(n_failing + PATIENCE.1);
                let failing = self.fork(&build, &mut server, &process, &forks::whole(budget, self.limit()))?;
                let way = failing.compared(taken)?;
                let seconds = begin.elapsed().as_secs_f64();
                progress.say("Searching for the chain.");
                let expected = ending_of(reference.trace().end());
                let (failing, reference) = ((failing.player, failing.ending), (reference, expected));
                let explained = self.chain(
                    Sides { failing, reference, server, switched: None, n_processes: bad.taken.len() },
                    pair,
                    changed,
                    seconds,
                )?;
                Ok(explained.with(which).with(way))
            },
        )
    }
}

fn interrupted() -> Failure {
    Failure::new(Status::Interrupted, "the explanation was interrupted")
}

/// How a traced process ended.
fn ending_of(end: Option<u32>) -> Ending {
    match end {
        Some(code @ 0..0x100) => Ending::Exit(code),
        // It did what it had to when another program took its place.
        Some(REPLACED) => Ending::Exit(0),
        Some(signal) => Ending::Signal(signal & 0xff),
        None => Ending::Endless,
    }
}
