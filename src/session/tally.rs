//! Counts of a hunt, and their limits.

use crate::deadline::Deadline;
use idd_base::Pace;
use idd_hunt::Phase;
use idd_report::Probes;
use idd_world::shared_cost::SharedCost;
use std::collections::BTreeMap;
use std::time::Duration;

/// The words of counters other than phases, as in the journal.
pub mod counted {
    /// A run of the precheck.
    pub const PRECHECKED: &str = "prechecked";
    /// The precheck rejected the candidate.
    pub const REFUSED: &str = "precheck_refused";
    /// The test was not run, because an earlier one had the same product.
    pub const SAME_PRODUCT: &str = "same_product";
    /// The build failed beside products of earlier builds, but not in a fresh worktree.
    pub const REBUILT: &str = "rebuilt";
    /// An artifact was fetched, and tested in place of a build.
    pub const ARTIFACT_FETCHED: &str = "artifact_fetched";
    /// A kept artifact was tested in place of a build.
    pub const ARTIFACT_KEPT: &str = "artifact_kept";
    /// A revision had no artifact that could be used.
    pub const ARTIFACT_ABSENT: &str = "artifact_absent";
    /// A revision was built because its artifact gave no verdict.
    pub const ARTIFACT_BUILT: &str = "artifact_built";
    /// A check for new warnings ran in place of the test.
    pub const CHECK: &str = "check";
    /// The suite ran in place of the test.
    pub const SUITE: &str = "suite";
}

/// The limits of a run of the program.
#[derive(Debug, Default)]
pub struct HuntLimits {
    /// The end of this run of the program.
    pub deadline: Option<Deadline>,
    /// The time between this end and that of the budget, which is for the explanation.
    pub reserve: Duration,
    /// The maximum number of test runs in this run of the program.
    pub max_probes: Option<u64>,
    /// The maximum time of all workers together in this run of the program.
    pub max_cost: Option<Duration>,
    /// The time of the workers of all jobs that share a directory for leases; it counts in place of that of this job.
    pub shared: Option<SharedCost>,
}

impl HuntLimits {
    /// Whether the workers have taken all the time that they may.
    ///
    /// - `cost`: that of this job.
    pub fn is_spent(&self, cost: Duration) -> bool {
        self.max_cost.is_some_and(|max| self.spent(cost) >= max)
    }

    /// The time of the workers that counts, if that of this job is `cost`.
    fn spent(&self, cost: Duration) -> Duration {
        self.shared.as_ref().map_or(cost, |shared| shared.total().max(cost))
    }

    /// The number of runs that the limits still allow, besides that of time on the clock; `None` if they do not say.
    ///
    /// A limit of the workers' time needs the typical duration of a run, so it says nothing before there is one.
    pub fn n_affordable(&self, tally: &Tally) -> Option<u64> {
        let of_probes = self.max_probes.map(|max| max.saturating_sub(tally.n_runs()));
        let spent = self.spent(tally.cost);
        let typical = tally.pace.typical().map(|typical| typical.as_nanos().max(1));
        let of_cost = self.max_cost.zip(typical).map(|(max, typical)| max.saturating_sub(spent).as_nanos() / typical);
        let of_cost = of_cost.map(|n_runs| u64::try_from(n_runs).unwrap_or(u64::MAX));
        of_probes.into_iter().chain(of_cost).min()
    }
}

/// The counts of answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// The counts of earlier runs of the program, by the words above.
    pub earlier: BTreeMap<String, u64>,
    /// Runs for each phase.
    pub runs: BTreeMap<Phase, u64>,
    /// Runs of the precheck, for unknown candidates.
    pub n_prechecked: u64,
    /// Failed runs of the precheck, after which nothing else was run.
    pub n_refused: u64,
    /// Builds with the product of an earlier test, so that the test was not run.
    pub n_same_product: u64,
    /// Builds that failed beside products of earlier builds, but not in a fresh worktree.
    pub n_rebuilt: u64,
    /// What was done in place of builds, by the words above.
    pub artifacts: BTreeMap<&'static str, u64>,
    /// Runs of the checks for new warnings.
    pub n_checks: u64,
    /// Runs of the suite.
    pub n_suite_runs: u64,
    /// Answers from the cache.
    pub n_cached: u64,
    /// Used answers for each phase, by outcome.
    pub outcomes: BTreeMap<(Phase, String), u64>,
    /// The durations of the last runs.
    pub pace: Pace,
    /// The time of all runs together in this run of the program.
    pub cost: Duration,
}

/// Brings the counts of a report up to date with the journal of its hunt: the hunt may have gone on since.
///
/// - `counts`: those of all runs of the program, by the words above; empty in the journal of an old version.
pub fn update(probes: &mut Probes, counts: &BTreeMap<String, u64>) {
    let of = |word: &str, known: u64| known.max(counts.get(word).copied().unwrap_or(0));
    probes.reproduce = of(Phase::Reproduce.word(), probes.reproduce);
    probes.search = of(Phase::Search.word(), probes.search);
    probes.repair = of(Phase::Repair.word(), probes.repair);
    probes.reduce = of(Phase::Reduce.word(), probes.reduce);
    probes.port = of(Phase::Port.word(), probes.port);
    probes.verify = of(Phase::Verify.word(), probes.verify);
    let Probes { reproduce, search, repair, reduce, port, verify, .. } = *probes;
    probes.run = probes.run.max(reproduce + search + repair + reduce + port + verify);
    probes.prechecked = of(counted::PRECHECKED, probes.prechecked);
    probes.precheck_refused = of(counted::REFUSED, probes.precheck_refused);
    probes.same_product = of(counted::SAME_PRODUCT, probes.same_product);
    probes.checks = of(counted::CHECK, probes.checks);
    probes.suite = of(counted::SUITE, probes.suite);
}

impl Tally {
    /// The count of a word in earlier runs of the program.
    pub fn earlier(&self, word: &str) -> u64 {
        self.earlier.get(word).copied().unwrap_or(0)
    }

    /// Runs of all phases in this run of the program.
    pub fn n_runs(&self) -> u64 {
        self.runs.values().sum()
    }
}
