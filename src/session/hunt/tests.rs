use super::*;
use crate::order::Until;
use crate::testing::{Said, World, hunted, observation, order, test, text};
use idd_base::Observation;

#[test]
fn a_hunt_whose_results_are_all_known_ends_with_culprit_change_and_fix_and_runs_nothing() {
    let world = World::with_all();
    let plan = world.plan(order());
    let (report, said) = hunted(&world, &plan, test);
    assert_eq!(report.status, Status::Found, "{report:#?}");
    assert_eq!(report.first_bad.as_ref().unwrap().commit.commit, world.commits[2]);
    assert_eq!(report.last_good.as_ref().unwrap().commit, world.commits[1]);
    assert_eq!(text(report.signature.as_ref().unwrap().line.as_ref().unwrap()), "FAIL: a is bad");
    let necessary = report.change.necessary.as_ref().unwrap();
    assert_eq!((necessary.is_minimal, necessary.lines), (true, 1));
    assert!(text(&necessary.patch).ends_with(" good\n+bad\n"));
    let fix = report.fix.as_ref().unwrap();
    assert_eq!((fix.commit, fix.complete), (world.commits[3], true));
    assert!(text(&fix.patch).ends_with(" good\n-bad\n"));
    assert_eq!((report.probes.run, report.probes.verify), (0, 0));
    assert!(report.evidence.iter().all(|shown| shown.is_clean && shown.outcome == shown.expected));
    assert!(said.iter().any(|said| said == "Reproduced twice: exit code 1, `FAIL: a is bad`."), "{said:?}");

    let kept = kept::newest_finding(world.location(), None).unwrap().0;
    assert_eq!(Some(&kept.id), report.hunt.as_ref());
    assert_eq!(kept.replay.status.as_deref(), Some("found"));
    assert_eq!(kept.report().unwrap(), report);
    let refs = refs::of_findings(world.location()).unwrap();
    assert_eq!(refs, ["bad", "first-bad", "fix", "last-good"].map(|name| format!("refs/worktree/idd/{name}")));
    assert!(!world.location().git_directory.join("work").join(&kept.id).exists());
}

#[track_caller]
fn check_end(until: Until, test: impl Fn(&str, u32) -> Observation, expected: Status, sentence: &str) {
    let world = World::with_culprit();
    let mut order = order();
    order.effort.until = until;
    let (report, _) = hunted(&world, &world.plan(order), test);
    let said = report.error.as_ref().map_or_else(|| text(&report.sentence), |error| text(&error.message));
    assert_eq!((report.status, said.as_str()), (expected, sentence));
}

#[test]
fn each_way_in_which_a_hunt_can_end_has_its_status_and_its_sentence() {
    let found = "The first bad commit was found, and every claim about it was run again.";
    check_end(Until::Commit, test, Status::Found, found);
    let passes = "The test passes at the bad revision: there is nothing to hunt.";
    check_end(Until::Fix, |_, _| observation(0, ""), Status::BadPasses, passes);
    let fails = "No revision passes, back to the root; all 4 were tested, the oldest 3 steps before the bad one.";
    check_end(Until::Commit, |_, _| observation(1, "FAIL\n"), Status::NeverPassed, fails);
    let skipped = "the test gives no verdict at the bad revision (skip): not here";
    check_end(Until::Fix, |_, _| observation(125, "x\nnot here\n\n"), Status::NothingTestable, skipped);
    let differs = |_: &str, nth: u32| observation(if nth == 0 { 1 } else { 2 }, "FAIL\n");
    let disagree = "the runs at the bad revision disagree: exit code 1, then exit code 2";
    check_end(Until::Fix, differs, Status::NotReproducible, disagree);
}

#[test]
fn a_result_that_is_missing_and_may_not_be_made_ends_the_hunt_with_what_is_known() {
    let mut world = World::with_culprit();
    // The trees of the oldest commits have no results.
    let known = [2, 3].map(|index| world.tree_of(index));
    world.trees.retain(|tree| known.contains(tree));
    let plan = world.plan(order());
    let (report, _) = hunted(&world, &plan, test);
    assert_eq!(report.status, Status::Budget);
    assert!(report.first_bad.is_none() && report.last_good.is_none());
    assert!(
        report
            .notes
            .iter()
            .any(|note| text(note).starts_with("Of the revisions tested so far the oldest that fails is"))
    );
    let refs = refs::of_findings(world.location()).unwrap();
    assert!(refs.is_empty(), "{refs:?}");
}

#[test]
fn a_hunt_whose_test_cannot_be_run_at_all_leaves_nothing_behind() {
    let world = World::with_culprit();
    let plan = world.plan(order());
    let saved = world.tested(&plan, |_, _| observation(127, "sh: ./test.sh: not found\n"));
    let saved = Saved { is_new: true, ..saved };
    let mut said = Said::default();
    let interrupt = Arc::new(AtomicBool::new(false));
    let (location, context) = (world.location(), &world.context);
    let task = Task { plan: &plan, location, context, saved, interrupt, talk: &mut said };
    let failure = run(task, &world.user()).unwrap_err();
    assert_eq!(text(&failure.message), "the test command was not found (exit code 127): sh: ./test.sh: not found");
    assert!(kept::own(world.location()).is_empty());
}

#[test]
fn a_damaged_cache_is_reported_and_a_busy_one_is_not() {
    let said = |event: &cache::CacheEvent| {
        let mut said = Said::default();
        tell_cache_event(event, &mut said);
        said.0
    };
    assert!(said(&cache::CacheEvent::IndexBusy).is_empty());
    let damaged = cache::CacheEvent::SegmentDamaged { path: "/j/a.log".into(), offset: 12 };
    assert_eq!(said(&damaged), ["The journal `/j/a.log` is damaged at byte 12; the rest of it is not used."]);
    assert_eq!(said(&cache::CacheEvent::IndexLost { reason: "no space".into() }).len(), 1);
}
