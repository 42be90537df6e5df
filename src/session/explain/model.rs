//! What an explanation works with, and what it comes to.

use crate::explain::change;
use crate::explain::forks::ForkServer;
use crate::recorded::order::ExplainOrder;
use crate::version::TreeVersion;
use crate::{Context, Failure, Interrupt, Talk};
use idd_base::TreeId;
use idd_explain::chain::FaultChain;
use idd_explain::failure::RunEnding;
use idd_explain::link::{Instance, Link};
use idd_explain::native::origin::DifferenceOrigin;
use idd_explain::native::standing::Standing;
use idd_report::{Status, chain};
use idd_trace::container::{REPLACED, is_stopped};
use idd_trace::native::NativePlayer;
use idd_trace::native::target::OpenedFile;
use idd_trace::{Place, Step};
use idd_world::place::surroundings::Surroundings;
use idd_world::record::objects::InstrumentedObjects;
use idd_world::repo::Location;
use idd_world::run::sandbox::Sandbox;
use std::path::Path;
use std::time::Duration;

/// How long the failing process may stay parked.
pub(super) const PARKED_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// The failing version may take so many times as long as the reference, and so much longer.
pub(super) const LONGER: (u32, Duration) = (10, Duration::from_secs(10));

/// Of the first run of the failing version only the processes are looked at; so much of its records is kept.
pub(super) const FIRST_TRACE: u64 = 64 << 20;

/// The failing run may be so many times as long as the reference, and so many segments longer; then it does not end.
pub(super) const PATIENCE: (u64, u64) = (20, 200_000);

/// The same for a failing run that had not ended when the test was killed: only the beginning of what does not end is needed.
pub(super) const PATIENCE_ENDLESS: (u64, u64) = (4, 20_000);

/// How much of a run is recorded, and how long it may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordLimits {
    pub(super) max_bytes: u64,
    pub(super) time: Duration,
}

/// How many runs of the test the search for a chain may use, and how long it may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChainLimits {
    pub(super) max_tests: u64,
    pub(super) time: Option<Duration>,
}

/// The two versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The tree that fails, and the commit that it is closest to.
    pub failing: TreeVersion,
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
    pub chain: FaultChain,
    /// Its sets: the step of the failing run before which each one is, and its variables.
    pub sets: Vec<(Step, Vec<String>)>,
    /// The failure, and where it is seen.
    pub failure: (idd_explain::failure::RunFailure, Standing),
    /// The file that the call wrote to that says something else.
    pub target: Option<OpenedFile>,
    /// Why the program crashed or did not end, in a clause.
    pub reason: Option<String>,
    /// Where the difference comes from that the chain begins with.
    pub origin: DifferenceOrigin,
    /// Lines of the failing version that the change touches, by path.
    pub changed: change::LinesByPath,
    /// The versions.
    pub pair: Pair,
    /// Figures.
    pub figures: Figures,
    /// The decision that makes the reference, if it is a run of the failing version.
    pub switched: Option<Switched>,
    /// Why the search did not come to the beginning of the chain, if it did not.
    pub limit: Option<Limit>,
    /// What could not be done, in words.
    pub remarks: Vec<String>,
}

/// What ended the search for a chain before its beginning was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The number of tests.
    MaxTests,
    /// Its time.
    Budget,
    /// A signal.
    Interrupt,
}

impl Explanation {
    /// With a remark before the others.
    pub(super) fn with(mut self, remark: Option<String>) -> Self {
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

/// An explanation, and what it is printed from.
pub struct Explained {
    /// The explanation.
    pub chain: chain::ReportChain,
    /// The sources of the failing version.
    pub sources: change::TreeSources,
    /// Whether a signal ended the search before the beginning was found.
    pub is_interrupted: bool,
}

/// Both runs, and the failing program.
pub(super) struct Sides {
    pub(super) failing: (NativePlayer, RunEnding),
    pub(super) reference: (NativePlayer, RunEnding),
    pub(super) server: ForkServer,
    pub(super) switched: Option<Switched>,
    /// Of programs that the test ran on the failing version.
    pub(super) n_processes: usize,
    pub(super) limits: ChainLimits,
}

/// Where versions are built and run, and who hears of it.
pub(crate) struct Desk<'d> {
    pub(super) sandbox: &'d mut Sandbox,
    pub(super) talk: &'d mut dyn Talk,
}

/// What an explanation works with.
pub(crate) struct Explainer<'e> {
    pub(crate) pair: Pair,
    /// Lines of the failing version that the change touches, by path.
    pub(crate) changed: change::LinesByPath,
    pub(super) order: &'e ExplainOrder,
    pub(super) location: &'e Location,
    pub(super) context: &'e Context,
    pub(super) root: &'e Path,
    /// Where the commands see the checkout.
    pub(super) surroundings: Surroundings,
    /// Where instrumented objects are kept; `None` if they cannot be.
    pub(super) objects: Option<InstrumentedObjects>,
    pub(super) interrupt: Interrupt,
}

pub(super) fn interrupted() -> Failure {
    Failure::new(Status::Interrupted, "the explanation was interrupted")
}

/// How a traced process ended.
pub(crate) fn ending_of(end: Option<u32>) -> RunEnding {
    match end {
        Some(code @ 0..0x100) => RunEnding::Exit(code),
        // It did what it had to when another program took its place.
        Some(REPLACED) => RunEnding::Exit(0),
        Some(signal) => RunEnding::Signal(signal & 0xff),
        None => RunEnding::Endless,
    }
}

/// How the reference ended. If it was stopped as the failing program was, which does not end, then neither ends.
pub(super) fn reference_ending(failing: RunEnding, reference: Option<u32>) -> RunEnding {
    if failing == RunEnding::Endless && is_stopped(reference) { failing } else { ending_of(reference) }
}

/// The decision that was switched.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Switched {
    /// Its step.
    pub step: Step,
    /// Where it is in the source.
    pub place: Option<Place>,
    /// Which instance of its statement it is, once that is known.
    pub instance: Option<Instance>,
    /// How it went in the failing run.
    pub outcome: Option<String>,
    /// How it went when it was switched.
    pub reference: Option<String>,
    /// Decisions that were switched in forks, and runs of the test.
    pub n_tried: (usize, usize),
    /// Decisions each of which makes the program do what it does when the test passes.
    pub n_passing: usize,
    /// Whether all that the reference says is the beginning of what the failing run says.
    pub is_prefix: bool,
    /// The other decisions whose chains were compared.
    pub others: Vec<Other>,
}

/// Another decision that makes the test pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Other {
    /// Its step.
    pub step: Step,
    /// Where it is in the source.
    pub place: Option<Place>,
    /// Which instance of its statement it is.
    pub instance: Option<Instance>,
    /// Links of its chain.
    pub n_links: usize,
}
