use super::*;
use crate::order::{Bound, Until};
use crate::testing::{World, hunted, order, test, text};
use idd_base::{Outcome, RemainingWork};
use serde_json::json;

/// Opens a hunt, ends it with this status, and returns its id.
fn ended(world: &World, order: HuntOrder, status: Option<Status>) -> String {
    let mut saved = open(&world.plan(order), world.location(), None, false).unwrap();
    if let Some(status) = status {
        saved.segment.append(&Record::Ended { status: status.word().to_owned() }).unwrap();
    }
    saved.id
}

#[test]
fn limits_are_no_part_of_a_hunt_and_what_decides_its_answers_is() {
    let world = World::with_culprit();
    let id = ended(&world, order(), None);
    let replay = Replay::read(&segment_path(world.location(), &id).unwrap()).unwrap();
    let check = |change: &dyn Fn(&mut HuntOrder), expected: bool| {
        let mut other = order();
        change(&mut other);
        assert_eq!(is_same(&world.plan(other.clone()), &replay).unwrap(), expected, "{other:?}");
    };
    check(&|order| order.effort.jobs = Some(7), true);
    check(&|order| order.effort.budget = Some(Duration::from_secs(1)), true);
    check(&|order| order.effort.max_probes = None, true);
    check(&|order| order.effort.until = Until::Commit, true);
    check(&|order| order.effort.reduction = Some(Bound::Unlimited), true);
    check(&|order| order.effort.notify = Some("x".to_owned()), true);
    check(&|order| order.effort.fetch = true, true);
    check(&|order| order.test.build = Some("make".into()), false);
    check(&|order| order.test.repeat = 2, false);
    check(&|order| order.history.bad = "HEAD~1".to_owned(), false);
    check(&|order| order.effort.clean = true, false);
}

#[test]
fn the_same_order_continues_what_did_not_end_and_begins_anew_after_an_end() {
    let world = World::with_culprit();
    for (status, is_continued) in [
        (None, true),
        (Some(Status::Interrupted), true),
        (Some(Status::Budget), true),
        (Some(Status::Error), true),
        (Some(Status::Found), false),
        (Some(Status::NeverPassed), false),
    ] {
        let id = ended(&world, order(), status);
        let next = open(&world.plan(order()), world.location(), None, false).unwrap();
        assert_eq!((next.id == id, next.is_new), (is_continued, !is_continued), "{status:?}");
        assert_eq!(next.replay.is_some(), is_continued);
        kept::clear(world.location()).unwrap();
    }
}

#[test]
fn an_ended_hunt_goes_on_if_it_is_asked_to_or_if_more_is_wanted_than_it_was_asked_for() {
    let world = World::with_culprit();
    let with = |until| {
        let mut order = order();
        order.effort.until = until;
        world.plan(order)
    };
    let mut saved = open(&with(Until::Change), world.location(), None, false).unwrap();
    saved.segment.append(&Record::Asked(HuntGoal { until: Until::Change, reduction: None })).unwrap();
    saved.segment.append(&Record::Ended { status: "found".to_owned() }).unwrap();
    let id = saved.id.clone();
    drop(saved);
    let next = |until, is_continued| open(&with(until), world.location(), None, is_continued).unwrap().id;
    assert_eq!(next(Until::Fix, false), id);
    // The journal is written to when it is opened: it is unfinished now.
    assert_eq!(next(Until::Commit, false), id);
    let mut saved = open(&with(Until::Change), world.location(), None, false).unwrap();
    saved.segment.append(&Record::Ended { status: "found".to_owned() }).unwrap();
    drop(saved);
    assert_eq!(next(Until::Commit, true), id);
}

#[test]
fn a_named_hunt_is_continued_only_with_its_own_order() {
    let world = World::with_culprit();
    let id = ended(&world, order(), Some(Status::Found));
    let kept = kept::newest(world.location(), None).unwrap();
    assert_eq!(open(&world.plan(order()), world.location(), Some(&kept), true).unwrap().id, id);
    let mut other = order();
    other.test.repeat = 3;
    assert_ne!(open(&world.plan(other), world.location(), Some(&kept), true).unwrap().id, id);
}

#[test]
fn a_journal_with_a_damaged_end_goes_on_without_it() {
    let world = World::with_culprit();
    let id = ended(&world, order(), None);
    let path = segment_path(world.location(), &id).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend(b"0123 half");
    std::fs::write(&path, bytes).unwrap();
    let saved = open(&world.plan(order()), world.location(), None, false).unwrap();
    assert_eq!(saved.id, id);
    assert!(saved.remarks[0].starts_with("The journal was damaged at its end; 9 bytes set aside as `"));
    assert_eq!(saved.remarks[1], format!("Resuming the hunt {id}: 0 probes known already."));
}

#[test]
fn the_seconds_of_a_resumed_hunt_are_those_of_its_finding_or_of_its_last_probe() {
    let world = World::with_culprit();
    let mut saved = open(&world.plan(order()), world.location(), None, false).unwrap();
    let elapsed = Duration::from_secs(5);
    saved.segment.append(&Record::Ran { sequence: 0, counts: Vec::new(), elapsed }).unwrap();
    let spent = Spent { search: Some(Duration::from_secs(3)), reduction: Duration::from_secs(2) };
    saved.segment.append(&spent.record()).unwrap();
    drop(saved);
    let mut saved = open(&world.plan(order()), world.location(), None, false).unwrap();
    assert!((saved.seconds_before - 5.0).abs() < f64::EPSILON);
    assert_eq!(saved.spent, spent);
    saved.segment.append(&Record::Finding { value: json!({"seconds": 8.5}) }).unwrap();
    drop(saved);
    let saved = open(&world.plan(order()), world.location(), None, false).unwrap();
    assert!((saved.seconds_before - 8.5).abs() < f64::EPSILON);
}

#[test]
fn a_changed_condition_is_named() {
    let world = World::with_culprit();
    let top = world.location().top.clone().unwrap();
    std::fs::write(top.join("test.sh"), "#!/bin/sh\n").unwrap();
    let plan = world.plan(order());
    let saved = SavedPlan::of(&plan);
    assert!(saved.changed(&plan).is_empty());
    std::fs::write(top.join("test.sh"), "#!/bin/sh\nexit 1\n").unwrap();
    assert_eq!(saved.changed(&world.plan(order())), ["the held file `test.sh`"]);
    let mut no_hold = order();
    no_hold.test.no_hold = true;
    assert_eq!(saved.changed(&world.plan(no_hold)), ["the held file `test.sh`"]);
    let mut other = plan;
    other.listed_environment.insert(b"LANG".to_vec(), b"C".to_vec());
    assert_eq!(saved.changed(&other), ["the variable `LANG`"]);
}

#[test]
fn the_goal_and_the_limit_of_a_run_are_read_as_they_were_written_and_the_last_counts() {
    let world = World::with_culprit();
    let mut saved = open(&world.plan(order()), world.location(), None, false).unwrap();
    assert_eq!(asked(world.location(), &saved.id).unwrap(), None);
    for until in [Until::Commit, Until::Change, Until::Fix] {
        for reduction in [None, Some(Bound::Unlimited), Some(Bound::Within(Duration::from_millis(1500)))] {
            let goal = HuntGoal { until, reduction };
            saved.segment.append(&Record::Asked(goal)).unwrap();
            assert_eq!(asked(world.location(), &saved.id).unwrap(), Some(goal));
        }
    }
}

#[test]
fn each_revision_has_its_last_verdict_in_the_order_of_the_verdicts() {
    let world = World::with_culprit();
    let mut saved = open(&world.plan(order()), world.location(), None, false).unwrap();
    let [one, two, ..] = world.commits[..] else { panic!("four commits") };
    for (revision, outcome, is_repaired) in
        [(one, Outcome::Pass, false), (two, Outcome::Fail, false), (one, Outcome::Fail, true)]
    {
        let outcome = outcome.to_string();
        saved.segment.append(&Record::Tested { revision, outcome, is_repaired }).unwrap();
    }
    let expected = [(two, "fail".to_owned(), false), (one, "fail".to_owned(), true)];
    assert_eq!(verdicts(world.location(), &saved.id).unwrap(), expected);
}

#[test]
fn what_is_ahead_comes_with_the_pace_of_the_last_runs() {
    let world = World::with_culprit();
    let plan = world.plan(order());
    let mut saved = world.tested(&plan, test);
    assert_eq!(ahead(world.location(), &saved.id).unwrap(), None);
    saved.segment.append(&Record::Ahead(RemainingWork::Bisecting { n_candidates: 9 }, 2)).unwrap();
    saved.segment.append(&Record::Ahead(RemainingWork::Reducing { n_units: 3 }, 4)).unwrap();
    let (ahead, n_jobs, pace) = ahead(world.location(), &saved.id).unwrap().unwrap();
    assert_eq!(
        (ahead, n_jobs, pace.typical()),
        (RemainingWork::Reducing { n_units: 3 }, 4, Some(Duration::from_millis(7)))
    );
}

#[test]
fn a_finding_says_which_commit_it_is_and_whether_its_reduction_was_stopped() {
    let world = World::with_culprit();
    let mut saved = open(&world.plan(order()), world.location(), None, false).unwrap();
    let mut check = |value, commit: Option<KeptCommit>, is_cut: bool| {
        saved.segment.append(&Record::Finding { value }).unwrap();
        let replay = Replay::read(saved.segment.path()).unwrap();
        assert_eq!((first_bad(&replay), is_cut_short(&replay)), (commit, is_cut));
    };
    let commit = world.commits[0];
    check(json!({}), None, false);
    check(json!({"first_bad": {"commit": "no id"}}), None, false);
    for is_proved in [false, true] {
        let value = json!({"first_bad": {"commit": commit.to_string()}, "proved": is_proved, "change": {}});
        check(value, Some(KeptCommit { commit, is_proved }), false);
    }
    check(json!({"change": {"sufficient": {"is_minimal": true}, "necessary": {"is_minimal": true}}}), None, false);
    check(json!({"change": {"sufficient": {"is_minimal": true}, "necessary": {"is_minimal": false}}}), None, true);
    // A commit that was withdrawn.
    check(serde_json::Value::Null, None, false);
}

#[test]
fn one_command_at_a_time_works_in_a_worktree() {
    let world = World::with_culprit();
    let first = lock(world.location()).unwrap();
    let failure = lock(world.location()).unwrap_err();
    let pid = std::process::id();
    assert_eq!(text(&failure.message), format!("`git idd` is at work already in this worktree, as process {pid}"));
    assert!(text(&failure.hint.unwrap()).contains(&format!("`kill -INT {pid}` stops it")));
    drop(first);
    lock(world.location()).unwrap();
}

#[test]
fn a_recorder_that_is_gone_is_forgotten_by_the_next_lock() {
    let world = World::with_culprit();
    for left in [&b"not json"[..], b"[2147483647,1]"] {
        files::replace(&recorder(world.location()), left).unwrap();
        drop(lock(world.location()).unwrap());
        assert!(!recorder(world.location()).exists());
    }
}

#[test]
fn an_explanation_is_kept_beside_its_hunt_and_one_that_cannot_be_read_is_reported() {
    let world = World::with_culprit();
    let id = ended(&world, order(), None);
    let report = Report::new(Status::Found, "x");
    let nothing = (Vec::new(), Vec::new());
    assert_eq!(explanations(world.location(), &id, &report), nothing);
    let stored = json!({
        "hunt": id, "commit": world.commits[2], "tree": world.trees[2],
        "explanation": {
            "schema": "git-idd explanation 1", "bad": "b", "good": "a", "switched": null, "chain": [], "end": "start",
            "beginning": null, "failure": { "what": "w", "file": null, "line": null, "in_change": false }, "remarks": [],
        },
    });
    keep_explanation(world.location(), &serde_json::from_value(stored).unwrap()).unwrap();
    let (found, complaints) = explanations(world.location(), &id, &report);
    let [unusable] = &complaints[..] else { panic!("{complaints:?}") };
    assert!(found.is_empty());
    assert!(unusable.ends_with("` is left out: it explains something else than the finding."), "{unusable}");
    assert_eq!(explanations(world.location(), "../x", &report), nothing);
}

#[test]
fn what_a_worktree_keeps_is_forgotten_and_the_journals_stay() {
    let world = World::with_all();
    let (report, _) = hunted(&world, &world.plan(order()), test);
    let id = report.hunt.unwrap();
    let location = world.location();
    let made = [location.session_directory().join("fix.patch"), page_path(location)];
    for path in &made {
        std::fs::write(path, "x").unwrap();
    }
    assert!(!refs::of_findings(location).unwrap().is_empty());
    assert!(!is_running(location, &id).unwrap());
    forget(location).unwrap();
    assert!(kept::own(location).is_empty() && refs::of_findings(location).unwrap().is_empty());
    assert!(made.iter().all(|path| !path.exists()));
    assert!(segment_path(location, &id).unwrap().exists());
}
