//! Judges a fix that somebody proposes for a finding, in the way in which a hunt judges its own reversals.
//!
//! The plan of the finding runs again, with HEAD as the bad revision. [`proposal`] makes the tree of the fix,
//! [`vacuous`] compares outputs, [`checks`] makes the checks.

mod checks;
pub mod proposal;
mod vacuous;

use crate::certificate::signature;
use crate::criteria::FIRST_LIMIT;
use crate::hunt::{Hunt, MAX_ADJUSTMENTS, Reproduced, Task, left, promisor_of};
use crate::kept::KeptHunt;
use crate::order::{EffortOrder, HistoryOrder, HuntOrder, TestOrder};
use crate::plan::{Adjustments, Plan};
use crate::saved::{self, SavedPlan};
use crate::trial::checks::{FixChecks, FixTrees};
use crate::trial::proposal::{Proposal, ProposedChange, Unfit, applied};
use crate::{Context, Failure, Talk};
use idd_base::{Observation, Outcome, TimeLimits, TreeId};
use idd_change::trees::Trees as _;
use idd_hunt::Again;
use idd_hunt::finding::Conclusion;
use idd_report::trial::{CheckName, CheckResult, FixCheck, FixTrial, Proposed};
use idd_report::{Report, Status, Untrusted};
use idd_world::repo::{HeldFiles, Location, TreeStore, graph, private};
use idd_world::run::classify::{Criteria, classify, failing_others, printed_trouble};
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The fewest runs with the fix.
const MIN_RUNS: u32 = 3;

/// The most, for a test that fails only now and then.
const MAX_RUNS: u32 = 40;

/// What is judged, and how much is done for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialOrder {
    /// The fix.
    pub proposal: Proposal,
    /// Shell line with more tests; `None` for no suite.
    pub suite: Option<OsString>,
    /// The time limit.
    pub budget: Option<Duration>,
}

/// The surroundings of a trial.
pub struct TrialTask<'t> {
    /// The hunt.
    pub kept: &'t KeptHunt,
    /// The repository.
    pub location: &'t Location,
    /// The context of the process.
    pub context: &'t Context,
    /// Set when the user interrupts.
    pub interrupt: Arc<AtomicBool>,
    /// Receives messages for the user.
    pub talk: &'t mut dyn Talk,
}

/// Judges a fix for the finding of a hunt. The files of the user are not changed.
///
/// Errors: the hunt has no failure to mend; the proposal cannot be read, or changes nothing; HEAD does not show the
/// failure; the time is over, or the user interrupts.
///
/// Cost: none if the fix does not apply. Otherwise at least two runs that reproduce the failure at HEAD, three with the
/// fix (more if the test fails only now and then), at most two without its tests, one of the last good revision, two of
/// the suite, and the checks for new warnings.
pub fn run(order: &TrialOrder, task: TrialTask<'_>) -> Result<FixTrial, Failure> {
    let TrialTask { kept, location, context, interrupt, talk } = task;
    let (report, saved) = (kept.report()?, saved::plan(&kept.replay)?);
    refuse(kept, &report, &saved)?;
    let user = private::open(&location.git_directory)?;
    let location = &Location { prefix: saved.prefix.clone(), ..location.clone() };
    let directory = location.top.as_ref().map_or_else(|| context.directory.clone(), |top| top.join(&saved.prefix));
    let context = &Context { directory, ..context.clone() };
    let plan = Plan::new(hunt_order(order, &saved), None, location, &user, context)?;
    let private = saved::make_private(location, &user, plan.bad)?;
    let bare = TreeStore::new(private, HeldFiles::default(), Vec::new())?;
    let bare = bare.with_promisor(promisor_of(&plan, location, context));
    let change = applied(&order.proposal, plan.bad, &user, &bare)?;
    let mut trial = FixTrial {
        hunt: kept.id.clone(),
        test: plan.order.command.to_line().into(),
        head: plan.bad,
        fix: proposed(&order.proposal, &change, graph::tree_of(&user, plan.bad)?, &bare)?,
        checks: Vec::new(),
        remarks: remarks(&saved, &plan),
        n_runs: 0,
    };
    match &change.tree {
        Err(unfit) => trial.checks.push(does_not_apply(unfit)),
        Ok(tree) => {
            let journal = saved::open_apart(&plan, location)?;
            let task = Task { plan: &plan, location, context, saved: journal, interrupt, talk };
            let mut hunt = Hunt::open(task, &user)?;
            let result = judged(&mut hunt, &report, &mut trial, *tree);
            trial.n_runs = hunt.runner.effort.tally.n_runs();
            hunt.runner.talk.finish();
            hunt.runner.close();
            result?;
        }
    }
    for name in CheckName::ALL {
        if trial.checks.iter().all(|check| check.check != name) {
            trial.checks.push(FixCheck::new(name, CheckResult::NotRun, "not checked"));
        }
    }
    Ok(trial)
}

/// Refuses hunts without a failure that can be mended and seen again.
fn refuse(kept: &KeptHunt, report: &Report, saved: &SavedPlan) -> Result<(), Failure> {
    let fails = |message: &str, hint: &str| Err(Failure::error(message).with_hint(hint));
    if !report.find.is_failure() || saved.order.perf.is_some() {
        return fails("only a hunt for a failure has something to mend", "`git idd list` lists the hunts");
    }
    if saved.order.by_hand {
        return fails("a hunt by hand has no test that could judge a fix", "`git idd <test-cmd>` hunts with one");
    }
    if report.signature.is_none() || report.first_bad.is_none() {
        let message = format!("the hunt {} has found no commit that breaks the test", kept.id);
        return fails(&message, "`git idd show` says how it ended; a fix is judged for a finding");
    }
    if saved.order.test.from_artifacts.is_some() && saved.order.test.build.is_none() {
        return fails(
            "the hunt tested programs that were fetched, and a fix has to be built",
            "hunt again with `--build <command>`; known results are not run again",
        );
    }
    Ok(())
}

/// The order of the hunt, for HEAD, and without what only a search needs.
fn hunt_order(order: &TrialOrder, saved: &SavedPlan) -> HuntOrder {
    let HuntOrder { command, history, test, effort, .. } = saved.order.clone();
    let EffortOrder { jobs, local_jobs, fetch, .. } = effort;
    HuntOrder {
        history: HistoryOrder { find: history.find, ..HistoryOrder::default() },
        test: TestOrder { from_artifacts: None, precheck: None, suite: order.suite.clone(), ..test },
        effort: EffortOrder { jobs, local_jobs, fetch, budget: order.budget, ..EffortOrder::default() },
        ..HuntOrder::new(command)
    }
}

fn remarks(saved: &SavedPlan, plan: &Plan) -> Vec<Untrusted> {
    let changed = saved.changed(plan);
    let said = format!("Since the hunt, this has changed: {}.", changed.join(", "));
    (!changed.is_empty()).then(|| said.into()).into_iter().collect()
}

fn proposed(
    proposal: &Proposal,
    change: &ProposedChange,
    head: TreeId,
    store: &TreeStore,
) -> Result<Proposed, Failure> {
    let mut proposed = Proposed {
        name: proposal.name().into(),
        commit: change.commit,
        merged: change.is_merged,
        patch: None,
        lines: None,
        files: Vec::new(),
    };
    if let Ok(tree) = change.tree {
        let (patch, n_lines) = store.patch(head, tree)?;
        (proposed.patch, proposed.lines) = (Some(patch.into()), Some(n_lines as u64));
        proposed.files = store.paths(head, tree)?.into_iter().map(Untrusted::from).collect();
    }
    Ok(proposed)
}

fn does_not_apply(unfit: &Unfit) -> FixCheck {
    let names: Vec<String> = unfit.files.iter().map(|path| format!("`{}`", String::from_utf8_lossy(path))).collect();
    let inside = if names.is_empty() { String::new() } else { format!(" in {}", names.join(", ")) };
    let why = format!("{}{inside}", unfit.why);
    FixCheck::new(CheckName::Applies, CheckResult::Fails, why).about(unfit.files.iter().cloned())
}

/// Reproduces the failure at HEAD, and makes all checks after the first.
fn judged(hunt: &mut Hunt<'_>, report: &Report, trial: &mut FixTrial, tree: TreeId) -> Result<(), Failure> {
    let (store, is_noisy) = reproduce(hunt, report)?;
    let head = graph::tree_of(store.repository(), hunt.plan.bad)?;
    let scene = FixTrees { head: store.view(head)?, patched: store.view(tree)?, bare: tree, store: &store, report };
    let passing = is_noisy.then(|| passing(hunt, report));
    let n_runs = n_runs(hunt, passing);
    trial.checks.push(FixCheck::new(CheckName::Applies, CheckResult::Holds, applies(trial)));
    FixChecks { hunt, scene, n_runs, passing }.make(trial)
}

fn applies(trial: &FixTrial) -> String {
    let head = trial.head.short();
    match trial.fix.merged {
        Some(true) => format!("its change is merged into HEAD ({head})"),
        Some(false) => format!("it has HEAD ({head}) in its history"),
        None => format!("at HEAD ({head})"),
    }
}

/// Reproduces the failure of the finding at HEAD, which becomes the criteria; returns the trees, and whether the test
/// fails only now and then.
fn reproduce(hunt: &mut Hunt<'_>, report: &Report) -> Result<(TreeStore, bool), Failure> {
    let mut adjustments = Adjustments::default();
    for _ in 0..MAX_ADJUSTMENTS {
        let (reproduced, store) = hunt.reproduce_and_open(&mut adjustments)?;
        if let Some(name) = hunt.runner.leave_place() {
            hunt.runner.talk.say(&left(name));
            continue;
        }
        match reproduced {
            Reproduced::Yes => {
                expect(hunt, report)?;
                return Ok((store, adjustments.is_noisy || hunt.plan.order.test.flaky.is_some()));
            }
            Reproduced::NowAndThen => adjustments.adjust(&Again::Noisy),
            Reproduced::Otherwise => {}
            Reproduced::No(conclusion, error) => {
                return Err(match (conclusion, error) {
                    (Conclusion::BadPasses, _) => passes(hunt),
                    (_, Some(error)) => Failure { status: Status::Error, message: error.message, hint: error.hint },
                    (_, None) => stopped(hunt),
                });
            }
        }
    }
    Err(Failure::new(Status::NotReproducible, "the runs of the test at HEAD disagree"))
}

/// HEAD does not fail.
fn passes(hunt: &Hunt<'_>) -> Failure {
    let head = hunt.plan.bad.short();
    Failure::new(Status::BadPasses, format!("the test passes at HEAD ({head}), so there is nothing to mend"))
        .with_hint("`git idd try` judges a fix for HEAD; check out a commit that fails")
}

/// Why no more runs are made.
fn stopped(hunt: &Hunt<'_>) -> Failure {
    match hunt.runner.conclusion() {
        Conclusion::Interrupted => Failure::new(Status::Interrupted, "stopped before the fix was judged"),
        _ => Failure::new(Status::Budget, "the budget was used up before the fix was judged")
            .with_hint("`git idd try --budget <duration>` gives it more time"),
    }
}

/// Sets the criteria of the finding. Errors: HEAD fails in another way.
fn expect(hunt: &mut Hunt<'_>, report: &Report) -> Result<(), Failure> {
    let wanted = report.signature.as_ref().and_then(signature);
    let mut criteria =
        Criteria { signature: wanted.or(hunt.signature.clone()), ..hunt.runner.judging.criteria.clone() };
    if let Some(test) = criteria.signature.as_mut().and_then(|signature| signature.test.as_mut()) {
        test.others = hunt.seen.iter().flat_map(|seen| failing_others(seen, test)).collect();
    }
    if !hunt.seen.iter().any(|seen| classify(seen, &criteria) == Outcome::Fail) {
        let is_failing = |seen: &&Observation| classify(seen, &hunt.runner.judging.criteria) == Outcome::Fail;
        let line = hunt.seen.iter().find(is_failing).and_then(printed_trouble);
        let line = line.map(|line| format!(": {line}")).unwrap_or_default();
        let message = format!("HEAD fails in another way than the finding{line}");
        return Err(
            Failure::error(message).with_hint("`git idd show` prints the failure of the finding; hunt again from HEAD")
        );
    }
    hunt.runner.judging.criteria = criteria;
    if hunt.plan.order.test.timeout.is_none() {
        // A pass can take longer than the failure.
        hunt.runner.judging.times.limits = TimeLimits::both(FIRST_LIMIT);
    }
    Ok(())
}

/// The share of the runs at HEAD that pass although the cause is there.
fn passing(hunt: &Hunt<'_>, report: &Report) -> f64 {
    let n_passing =
        hunt.seen.iter().filter(|seen| classify(seen, &hunt.runner.judging.criteria) == Outcome::Pass).count();
    #[expect(clippy::cast_precision_loss, reason = "there are few runs")]
    let seen = n_passing as f64 / hunt.seen.len().max(1) as f64;
    report.noise.map_or(seen, |noise| noise.false_passes).clamp(0.01, 0.99)
}

/// The number of runs with the fix: so many that a test which fails only now and then would have failed.
fn n_runs(hunt: &Hunt<'_>, passing: Option<f64>) -> u32 {
    let test = &hunt.plan.order.test;
    let least = MIN_RUNS.max(test.repeat);
    let Some(passing) = passing else { return least };
    let wanted = ((1.0 - test.confidence.value()).ln() / passing.ln()).ceil();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is clamped")]
    let n_runs = wanted.clamp(f64::from(least), f64::from(MAX_RUNS.max(least))) as u32;
    n_runs
}
