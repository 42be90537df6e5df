//! Which two versions are explained, and by which test.

use crate::explain::model::Pair;
use crate::kept::KeptHunt;
use crate::recorded::order::{ExplainOrder, ExplainedSide};
use crate::version::TreeVersion;
use crate::{Failure, Talk, kept, saved};
use idd_base::TreeId;
use idd_report::certificate::{ClaimRole, proven};
use idd_report::{Commit, Report, Terminal, Untrusted};
use idd_world::repo::{Location, Repository, graph, private};
use std::os::unix::ffi::OsStringExt;

/// What the reference is called where it is a run of the failing version.
pub(super) const SWITCHED: &str = "the same run with one decision switched";

/// Finds the versions; the arguments are completed by what the hunt was given.
pub fn find(
    order: &ExplainOrder,
    location: &Location,
    user: &Repository,
    talk: &mut dyn Talk,
) -> Result<(Pair, ExplainOrder), Failure> {
    match (&order.bad, &order.good, &order.command) {
        (bad, Some(good), Some(_)) => {
            let bad = bad.as_deref().unwrap_or("HEAD");
            let commit = graph::resolve(user, bad)?;
            let other = graph::resolve(user, good)?;
            let failing = TreeVersion { tree: graph::tree_of(user, commit)?, commit };
            let reference = graph::tree_of(user, other)?;
            if failing.tree == reference {
                return Err(Failure::error(format!("`{bad}` and `{good}` are the same tree")));
            }
            Ok((
                Pair { failing, reference, names: (bad.to_owned(), good.clone()), hunt: None },
                built(order, location, talk),
            ))
        }
        (bad, None, Some(_)) if order.switch_budget.is_some() => {
            let name = bad.as_deref().unwrap_or("HEAD");
            let commit = graph::resolve(user, name)?;
            let tree = graph::tree_of(user, commit)?;
            Ok((
                Pair {
                    failing: TreeVersion { tree, commit },
                    reference: tree,
                    names: (name.to_owned(), SWITCHED.to_owned()),
                    hunt: None,
                },
                built(order, location, talk),
            ))
        }
        (None, None, None) => {
            let (kept, remark) = kept::newest_finding(location, order.hunt.as_deref())?;
            if let Some(remark) = remark {
                talk.say(&remark);
            }
            of_hunt(order, kept, location)
        }
        _ if order.switch_budget.is_some() => Err(Failure::usage("`--bad` and a test command must be given together")
            .with_hint("without a test command, the failing version of the newest finding is explained")),
        _ => Err(Failure::usage("`--good` and a test command must be given together")
            .with_hint("without any of them the newest finding is explained")),
    }
}

/// With the build of the last hunt if none is given: another test of the same program needs it, too.
fn built(order: &ExplainOrder, location: &Location, talk: &mut dyn Talk) -> ExplainOrder {
    let mut order = order.clone();
    if order.build.is_none()
        && let Ok(kept) = kept::newest(location, None)
        && let Ok(plan) = saved::plan(&kept.replay)
        && let Some(build) = plan.order.test.build
    {
        let line = Terminal.line(&Untrusted::from(build.clone().into_vec()));
        talk.say(&format!("Building as in the last hunt, with `{line}`; `--build` names another command."));
        order.build = Some(build);
    }
    order
}

/// Refuses a finding that is not about a failing test.
fn of_failure(report: &Report) -> Result<(), Failure> {
    if report.find.is_failure() {
        return Ok(());
    }
    let short = |commit: Option<&Commit>| commit.map_or_else(|| "<rev>".to_owned(), |commit| commit.commit.short());
    let bad = short(report.last_good.as_ref());
    let good = short(report.first_bad.as_ref().map(|first| &first.commit));
    Err(Failure::error("the hunt did not look for a failure, so there is none to explain").with_hint(format!(
        "if the test fails at {bad}, `git idd explain --bad {bad} --good {good} -- <test-cmd>` compares the two revisions"
    )))
}

fn of_hunt(order: &ExplainOrder, kept: KeptHunt, location: &Location) -> Result<(Pair, ExplainOrder), Failure> {
    let (report, plan) = (kept.report()?, saved::plan(&kept.replay)?);
    of_failure(&report)?;
    let proven = proven(&report);
    let of = |role: ClaimRole| {
        let claim = proven.iter().find(|(found, ..)| *found == role);
        claim.map(|(_, commit, tree)| TreeVersion { tree: *tree, commit: *commit })
    };
    let roles = match order.at {
        ExplainedSide::Culprit => (ClaimRole::BadFails, ClaimRole::NecessaryPasses),
        ExplainedSide::Head => (ClaimRole::TargetFails, ClaimRole::FixPasses),
    };
    // Without a reference only the lines are marked that the change touches.
    let other = of(roles.1).or_else(|| of(roles.0).filter(|_| order.switch_budget.is_some()));
    let (Some(failing), Some(TreeVersion { tree: reference, .. })) = (of(roles.0), other) else {
        let (message, hint) = match order.at {
            ExplainedSide::Culprit => (
                "the hunt has found no necessary change to explain",
                "`git idd resume` goes on with a hunt that was stopped; or name the versions: \
                 `git idd explain --bad <rev> --good <rev> --build <line> -- <test-cmd>`",
            ),
            ExplainedSide::Head => {
                ("the hunt has found no fix and no revert for HEAD", "without `--at head` the culprit is explained")
            }
        };
        return Err(Failure::error(message).with_hint(hint));
    };
    let private = private::open(&private::private_directory(&location.idd_directory()));
    let is_there = |tree: TreeId| private.as_ref().is_ok_and(|private| graph::has_tree(private, tree));
    if ![failing.tree, reference].into_iter().all(is_there) {
        return Err(Failure::error("the trees that the hunt tested no longer exist")
            .with_hint("`git idd gc` removes such trees; hunt again, known results are not run again"));
    }
    let short = failing.commit.to_string().chars().take(10).collect::<String>();
    let names = match order.at {
        _ if order.switch_budget.is_some() => (short, SWITCHED.to_owned()),
        ExplainedSide::Culprit => (short, "the same revision without the necessary change".to_owned()),
        ExplainedSide::Head if report.fix.is_none() => (short, "the same revision with the revert".to_owned()),
        ExplainedSide::Head => (short, "the same revision with the fix".to_owned()),
    };
    let completed = ExplainOrder {
        command: Some(plan.order.command),
        build: order.build.clone().or(plan.order.test.build),
        timeout: order.timeout.or(plan.order.test.timeout),
        ..order.clone()
    };
    Ok((Pair { failing, reference, names, hunt: Some(kept.id) }, completed))
}
