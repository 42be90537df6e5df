//! Both versions, built under the instrumenting compiler and run with the test; and which of the processes is meant.

use crate::criteria::FIRST_LIMIT;
use crate::explain::model::{Explainer, RecordLimits, interrupted};
use crate::explain::products::Products;
use crate::order::{Holding, TestCommand};
use crate::record::missed;
use crate::recorded::order::{KeepOrder, RecordOrder};
use crate::recorded::{failed, is_java};
use crate::{Failure, record, sandboxes};
use idd_base::{Ending, Observation, TreeId};
use idd_trace::instrument::SegmentGrain;
use idd_trace::instrument::java::sites::RecordedContent;
use idd_trace::native::NativePlayer;
use idd_trace::{TraceError, TracedProcess};
use idd_world::files;
use idd_world::record::build::BuildDirectory;
use idd_world::record::listen::{KeptPart, TakenTrace, TraceListener};
use idd_world::record::store::UnitRange;
use idd_world::record::{listen, store, witness};
use idd_world::run::sandbox::{Commands, ProbeJob, Sandbox};
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// A test that is recorded may take so many times as long as one that is not, and so much longer; so may a build.
const SLOWER: (u32, Duration) = (5, Duration::from_secs(30));

/// Build and test with these variables for the programs that the test runs.
type WithVariables<'c> = &'c dyn Fn(Vec<(OsString, OsString)>) -> io::Result<Commands>;

/// One side, built and run.
pub(super) struct BuiltSide {
    pub(super) place: PathBuf,
    pub(super) units: Vec<UnitRange>,
    pub(super) taken: Vec<TakenTrace>,
    pub(super) ending: Ending,
    /// The last line that the test printed.
    pub(super) said: String,
    /// Time of the build and of the test.
    pub(super) duration: Duration,
}

/// The process that is meant.
pub(super) struct TargetProcess {
    /// Its number among those of its side.
    pub(super) number: usize,
    pub(super) process: TracedProcess,
    /// Those before it that look the same, without those that were forked: a process is met where its program starts.
    pub(super) n_before: usize,
}

impl TargetProcess {
    pub(super) fn new(side: &BuiltSide, number: usize) -> Self {
        let process = side.taken[number].process.clone();
        let is_before = |taken: &&TakenTrace| is_start(taken) && is_same(&taken.process, &process);
        let n_before = side.taken[..number].iter().filter(is_before).count();
        Self { number, process, n_before }
    }
}

impl Explainer<'_> {
    pub(super) fn check_failing(bad: &BuiltSide) -> Result<(), Failure> {
        if bad.ending != Ending::Exit(0) {
            return Ok(());
        }
        Err(Failure::error("under instrumentation the test passes on the failing version, too").with_hint(
            "the failure may depend on the compiler, or on undefined behaviour: try the test with clang -O0",
        ))
    }

    /// A place for instrumented programs. Names have three letters: they stand in the environment, and what is above the stack is to be as long in all runs.
    pub(super) fn build(&self, name: &str) -> Result<BuildDirectory, Failure> {
        let program = files::this_program()?;
        let path = self.root.join(format!("build-{name}"));
        let build = BuildDirectory::create(
            &path,
            &record::clang(self.context)?,
            &program,
            sandboxes::cache(self.root),
            SegmentGrain::Statement,
            self.objects.as_ref(),
        )?;
        build.link_versions(&self.context.variable("PATH").unwrap_or_default(), &program)?;
        Ok(build)
    }

    pub(super) fn record_args(&self) -> RecordOrder {
        RecordOrder {
            command: self.order.command.clone().unwrap_or(TestCommand::Shell(OsString::new())),
            at: String::new(),
            build: self.order.build.clone(),
            holding: Holding::default(),
            program: self.order.program.clone(),
            once: true,
            max_trace: self.order.max_trace,
            max_output: self.order.max_output,
            keep: Some(KeepOrder::First),
            content: RecordedContent::Values,
            timeout: self.order.timeout,
        }
    }

    /// Build and test with these variables for the programs that the test runs.
    pub(super) fn commands(&self, build: &BuildDirectory, variables: Vec<(OsString, OsString)>) -> Commands {
        let set = |(name, value): (OsString, OsString)| record::variable(name, value);
        let variables = level(variables).into_iter().map(set).collect();
        let commands = record::commands(&self.record_args(), self.location, self.context, build, variables);
        Commands { surroundings: self.surroundings.clone(), ..commands }
    }

    pub(super) fn limit(&self) -> Duration {
        self.order.timeout.map_or(FIRST_LIMIT, |limit| limit * SLOWER.0 + SLOWER.1)
    }

    /// Builds a version, and runs the test on it.
    pub(super) fn side(
        &self,
        name: &str,
        tree: TreeId,
        limits: RecordLimits,
        sandbox: &mut Sandbox,
    ) -> Result<BuiltSide, Failure> {
        let build = self.build(name)?;
        self.recorded(name, tree, limits, sandbox, &build, &|variables| Ok(self.commands(&build, variables)))
    }

    /// Builds the failing version, keeps what the build makes, and runs the test on it.
    pub(super) fn failing(
        &self,
        tree: TreeId,
        limits: RecordLimits,
        sandbox: &mut Sandbox,
    ) -> Result<(BuiltSide, Products), Failure> {
        let products = Products::new(self)?;
        let commands = |variables| products.commands(self, variables);
        let side = self.recorded("bad", tree, limits, sandbox, &products.build, &commands)?;
        Ok((side, products))
    }

    fn recorded(
        &self,
        name: &str,
        tree: TreeId,
        limits: RecordLimits,
        sandbox: &mut Sandbox,
        build: &BuildDirectory,
        commands: WithVariables<'_>,
    ) -> Result<BuiltSide, Failure> {
        let (socket, place) = (self.root.join(format!("trace-{name}")), self.root.join(name));
        let mut run = || -> Result<(Observation, Vec<TakenTrace>), Failure> {
            let recording = commands(vec![(listen::VARIABLE.into(), socket.clone().into())])?;
            let listener = TraceListener::start(&socket, &place, limits.max_bytes, KeptPart::First)?;
            let seen = sandbox.observe(
                &ProbeJob::fresh(tree, limits.time),
                &recording,
                &mut listener.watched(&mut self.interrupt.clone()),
            );
            let taken = listener.finish().into_iter().collect::<io::Result<Vec<_>>>()?;
            Ok((seen?.ok_or_else(interrupted)?, taken))
        };
        let (mut seen, mut taken) = run()?;
        if missed::is_bypassed(&seen, &build.logged(), &taken) {
            witness::load(build)?;
            Products::forget(self)?;
            let n_before = missed::n_instrumented(build);
            let again = run()?;
            // Where no compiler was replaced, this is another run of the same programs.
            if missed::n_instrumented(build) > 2 * n_before {
                (seen, taken) = again;
            }
        }
        missed::complain(&seen, build, &taken, missed::Java::default())?;
        let units = store::take_maps(&build.path, &place)?;
        Ok(BuiltSide { place, units, taken, ending: seen.ending, said: missed::said(&seen), duration: seen.duration })
    }

    pub(super) fn reference(side: &BuiltSide, number: usize) -> Result<NativePlayer, Failure> {
        let taken = &side.taken[number];
        if taken.is_cut {
            return Err(Failure::error("the run of the reference is longer than the limit of its trace")
                .with_hint("`--max-trace` sets another limit"));
        }
        side.player(number)
    }
}

impl BuiltSide {
    /// The run of a process.
    pub(super) fn player(&self, number: usize) -> Result<NativePlayer, Failure> {
        let trace = store::open(&self.place.join(&self.taken[number].file))?;
        if !trace.is_complete {
            return Err(Failure::from(TraceError::Damaged("it is cut short")));
        }
        if is_java(&trace) {
            return Err(failed(&TraceError::Java));
        }
        NativePlayer::new(trace, store::units_at(&self.place, &self.units)).map_err(Failure::from)
    }
}

/// Whether a program started there; else the process was forked by another one.
pub(super) fn is_start(taken: &TakenTrace) -> bool {
    taken.process.forked_at.is_none()
}

/// Adds variables, so that all runs have as many of them and as many bytes in them: they lie above the stack, whose addresses are to be the same in all runs.
fn level(mut variables: Vec<(OsString, OsString)>) -> Vec<(OsString, OsString)> {
    const N_VARIABLES: usize = 4;
    const N_BYTES: usize = 1024;
    for n in variables.len()..N_VARIABLES {
        let name = OsString::from(format!("IDD_LEVEL_{n}"));
        // An equals sign and a zero byte stand with each; the others that are still to come have no value.
        let taken: usize = variables.iter().map(|(name, value)| name.len() + value.len() + 2).sum();
        let later = (N_VARIABLES - n) * (name.len() + 2);
        let rest = if n + 1 == N_VARIABLES { N_BYTES.saturating_sub(taken + later) } else { 0 };
        variables.push((name, "=".repeat(rest).into()));
    }
    variables
}

/// Whether both are the same program with the same arguments.
pub(super) fn is_same(process: &TracedProcess, other: &TracedProcess) -> bool {
    process.program == other.program && process.words == other.words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_have_as_much_in_their_environment_whatever_is_asked_of_them() {
        let set = |names: &[&str]| names.iter().map(|name| ((*name).into(), "/some/where".into())).collect();
        let size = |variables: &[(OsString, OsString)]| -> (usize, usize) {
            (variables.len(), variables.iter().map(|(name, value)| name.len() + value.len()).sum())
        };
        let one = level(set(&["IDD_TRACE"]));
        assert_eq!(size(&one), size(&level(set(&["IDD_CONTROL", "IDD_PARK", "IDD_SCRATCH"]))));
        assert_eq!(one[0], ("IDD_TRACE".into(), "/some/where".into()));
    }
}
