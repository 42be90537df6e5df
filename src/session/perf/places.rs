//! The checkouts of a performance hunt, in each of which one version is built, and the runs there.

use crate::order::Measure;
use crate::perf::peak;
use crate::plan::Plan;
use crate::sandboxes::sandboxes;
use crate::surroundings::surroundings;
use crate::verdict_records::{self, Built, HuntScene};
use crate::{Failure, Interrupt};
use idd_base::{Ending, Reason, TreeId};
use idd_report::{Terminal, Untrusted};
use idd_world::process::{CommandWords, EndedCommand};
use idd_world::repo::private;
use idd_world::run::sandbox::{self, Commands, Sandbox};
use idd_world::system::InstructionCounter;
use std::io;
use std::path::PathBuf;

/// A cost that is not measurable counts as this: a logarithm needs a positive number.
const LEAST: f64 = 1e-9;

/// What becomes of a run, or of a build.
pub enum AttemptResult<T> {
    /// It succeeded.
    Done(T),
    /// It failed, with what was printed.
    Broken(Reason, String),
    /// The user stopped it.
    Interrupted,
}

/// A checkout with a built version.
pub struct BuiltCheckout {
    /// The version.
    pub tree: TreeId,
    sandbox: Sandbox,
    /// The cost of the first run, which is not used: it fills caches.
    pub first: f64,
}

/// The checkouts. Commands see them at one path, or else their paths have one length: a path can change how fast a program is.
pub struct PerfCheckouts<'s> {
    scene: HuntScene<'s>,
    /// The plan of the hunt, with the place of the checkouts.
    plan: Plan,
    measure: Measure,
    root: PathBuf,
    n_created: usize,
    free: Vec<Sandbox>,
    interrupt: Interrupt,
    /// The runs so far.
    pub n_runs: u64,
}

impl<'s> PerfCheckouts<'s> {
    /// No checkout yet.
    pub fn new(scene: HuntScene<'s>, measure: Measure, interrupt: Interrupt, id: &str) -> Result<Self, Failure> {
        let root = sandboxes(scene.context, scene.location, id)?;
        let surroundings = surroundings(scene.location, scene.context, &root, &[]);
        let commands = Commands { surroundings, ..scene.plan.commands.clone() };
        let plan = Plan { commands, ..scene.plan.clone() };
        Ok(Self { scene, plan, measure, root, n_created: 0, free: Vec::new(), interrupt, n_runs: 0 })
    }

    /// Removes all checkouts.
    pub fn remove(self) {
        let private = private::private_directory(&self.scene.location.idd_directory());
        sandbox::remove(&self.root, &private);
    }

    /// A checkout in which this version is built and has run once.
    pub fn set_up(&mut self, tree: TreeId) -> Result<AttemptResult<BuiltCheckout>, Failure> {
        let mut sandbox = match self.free.pop() {
            Some(sandbox) => sandbox,
            None => self.create()?,
        };
        let built = verdict_records::build(tree, &self.plan, &mut sandbox, &mut self.interrupt)?;
        let mut place = BuiltCheckout { tree, sandbox, first: 0.0 };
        match built {
            None => Ok(AttemptResult::Interrupted),
            Some(Built::No(reason, why)) => {
                self.free.push(place.sandbox);
                Ok(AttemptResult::Broken(reason, why.unwrap_or_else(|| reason.to_string())))
            }
            Some(Built::Yes) => Ok(match self.run(&mut place)? {
                AttemptResult::Done(first) => AttemptResult::Done(BuiltCheckout { first, ..place }),
                AttemptResult::Broken(reason, why) => {
                    self.free.push(place.sandbox);
                    AttemptResult::Broken(reason, why)
                }
                AttemptResult::Interrupted => AttemptResult::Interrupted,
            }),
        }
    }

    /// Takes a checkout back; another version may be built there.
    pub fn release(&mut self, place: BuiltCheckout) {
        self.free.push(place.sandbox);
    }

    fn create(&mut self) -> Result<Sandbox, Failure> {
        self.n_created += 1;
        let private = private::private_directory(&self.scene.location.idd_directory());
        let mut sandbox =
            Sandbox::create(&self.root, &format!("place{}", self.n_created), &private, self.scene.plan.bad)?;
        sandbox.keep_products();
        Ok(sandbox)
    }

    /// Runs the command once; returns its cost, in seconds, bytes or instructions.
    pub fn run(&mut self, place: &mut BuiltCheckout) -> Result<AttemptResult<f64>, Failure> {
        let plan = &self.plan;
        let job = verdict_records::job(plan, place.tree);
        let file = self.root.join("peak");
        let words = match self.measure {
            Measure::Memory => peak::words(&plan.commands.test, &file)?,
            _ => plan.commands.test.clone(),
        };
        let mut counter = match self.measure {
            Measure::Instructions => Some(counter()?),
            _ => None,
        };
        self.n_runs += 1;
        let ran = place.sandbox.run_again(&words, &job, &plan.commands, &mut self.interrupt)?;
        let Some(ran) = ran else { return Ok(AttemptResult::Interrupted) };
        let reason = match ran.ending {
            Ending::Exit(0) => None,
            Ending::Exit(125) => Some(Reason::Skip),
            Ending::Exit(_) => Some(Reason::Other),
            Ending::Signal(_) => Some(Reason::Signal),
            Ending::Timeout => Some(Reason::Timeout),
            Ending::NotRun(reason) => Some(reason),
        };
        if let Some(reason) = reason {
            return Ok(AttemptResult::Broken(reason, ending(&ran)));
        }
        let cost = match self.measure {
            Measure::Time => ran.duration.as_secs_f64(),
            Measure::Cpu => ran.usage.processor.as_secs_f64(),
            Measure::Memory => number(peak::read(&file)?),
            Measure::Instructions => number(counter.as_mut().map_or(Ok(0), InstructionCounter::count)?),
        };
        Ok(AttemptResult::Done(cost.max(LEAST)))
    }
}

/// A cost is compared by its logarithm, so the last digits of a large number do not matter.
#[expect(clippy::cast_precision_loss, reason = "see above")]
fn number(count: u64) -> f64 {
    count as f64
}

/// How a command ended, and the last line that it printed.
fn ending(ran: &EndedCommand) -> String {
    let output = String::from_utf8_lossy(&ran.output);
    match output.lines().rev().map(str::trim).find(|line| !line.is_empty()) {
        Some(line) => format!("{}, `{}`", ran.ending, Terminal.line(&Untrusted::from(line))),
        None => ran.ending.to_string(),
    }
}

/// Refuses a measure that this machine does not have.
pub fn check(measure: Measure) -> Result<(), Failure> {
    if measure == Measure::Instructions {
        drop(counter()?);
    }
    Ok(())
}

fn counter() -> Result<InstructionCounter, Failure> {
    InstructionCounter::of_instructions().map_err(|error| {
        let (why, hint) = match error.kind() {
            io::ErrorKind::PermissionDenied => (
                "the kernel does not allow it",
                "`sysctl kernel.perf_event_paranoid=2` allows it; `--measure cpu` needs no counter",
            ),
            _ => (
                "this machine has no counter for them",
                "`--measure cpu` needs no counter; a virtual machine often has none",
            ),
        };
        Failure::error(format!("instructions cannot be counted: {why} ({error})")).with_hint(hint)
    })
}

/// The words of a shell for a command, for programs that start it.
pub(super) fn argv(words: &CommandWords) -> Vec<std::ffi::OsString> {
    match words {
        CommandWords::Shell(line) => vec!["/bin/sh".into(), "-c".into(), line.clone()],
        CommandWords::Argv(words) => words.clone(),
    }
}
