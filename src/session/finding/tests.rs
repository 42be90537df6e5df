use super::*;
use crate::testing::{World, order, text};
use idd_base::TreeId;
use idd_hunt::Noise;
use idd_world::repo::graph;

#[test]
fn a_note_begins_with_a_capital_letter_unless_it_begins_with_an_id() {
    for (note, expected) in [("one is left", "One is left."), ("f56aaea01525 fails.", "f56aaea01525 fails."), ("", ".")]
    {
        assert_eq!(sentence_of(note), expected);
    }
}

fn commit(digit: u8) -> CommitId {
    CommitId::sha1([digit; 20])
}

#[track_caller]
fn check_narrowed(conclusion: Conclusion, verdicts: &[(u8, Outcome)], expected: &[u8]) {
    let finding = Finding {
        conclusion,
        range: (1..=5).map(commit).collect(),
        verdicts: verdicts.iter().map(|(id, outcome)| (commit(*id), *outcome, false)).collect(),
        ..Finding::new(commit(1))
    };
    let expected: Vec<CommitId> = expected.iter().copied().map(commit).collect();
    assert_eq!(narrowed(&finding), expected);
}

#[test]
fn a_stopped_search_leaves_the_commits_between_the_oldest_failure_and_the_newest_pass() {
    let (fail, pass) = (Outcome::Fail, Outcome::Pass);
    check_narrowed(Conclusion::Budget, &[], &[1, 2, 3, 4, 5]);
    check_narrowed(Conclusion::Budget, &[(1, fail), (4, pass)], &[1, 2, 3]);
    check_narrowed(Conclusion::Interrupted, &[(1, fail), (2, fail), (5, pass), (4, pass)], &[2, 3]);
    check_narrowed(Conclusion::Budget, &[(3, Outcome::Unresolved(Reason::Build))], &[1, 2, 3, 4, 5]);
    // A failure that is older than the newest pass does not count.
    check_narrowed(Conclusion::Budget, &[(2, fail), (3, pass), (4, fail)], &[2]);
    check_narrowed(Conclusion::Range, &[(2, fail), (3, pass)], &[1, 2, 3, 4, 5]);
}

#[test]
fn edits_become_lines_of_a_patch_with_deletions_first() {
    let edit = |is_insertion, text: &str| found::ChangeEdit { path: b"a".to_vec(), is_insertion, text: text.into() };
    let lines = |edits: &[found::ChangeEdit]| String::from_utf8(patch_lines(edits)).unwrap();
    assert_eq!(lines(&[edit(true, "new\n"), edit(false, "one\ntwo\n"), edit(true, "")]), "-one\n-two\n+new\n");
    assert_eq!(lines(&[edit(true, "no end")]), "+no end\n");
    assert_eq!(lines(&[edit(false, "\n")]), "-\n");
    assert_eq!(lines(&[]), "");
}

fn fix(change: impl FnOnce(&mut found::Fix)) -> Finding {
    let tree = TreeId::sha1([1; 20]);
    let mut fix = found::Fix {
        scope: found::Scope::Declarations,
        commit: None,
        stopped_by: None,
        reverted: tree,
        revision: commit(1),
        older: tree,
        newer: tree,
        probed: tree,
        tested: Outcome::Pass,
        is_complete: true,
        n_lines: 1,
        rung: Rung::Merge,
        still_fails: false,
        has_complaints: false,
        suite: None,
    };
    change(&mut fix);
    Finding { fixes: vec![fix], ..Finding::new(commit(1)) }
}

#[test]
fn the_reason_for_no_fix_is_the_first_one_that_holds_for_a_complete_reversal() {
    let check = |finding: &Finding, expected: &str| assert!(why_no_fix(finding).contains(expected), "{expected}");
    let partial = |fix: &mut found::Fix| fix.scope = found::Scope::Statements;
    check(&fix(|_| {}), "newer commits rewrote");
    let revert = |rung| fix(|fix| (fix.scope, fix.rung) = (found::Scope::Revert, rung));
    check(&revert(Rung::Merge), "of all its code makes");
    check(&revert(Rung::Syntax), "of all that newer commits left of it makes");
    let mut rewritten = revert(Rung::Merge);
    rewritten.fixes.push(found::Fix {
        scope: found::Scope::Lines,
        tested: DOES_NOT_APPLY,
        is_complete: false,
        ..rewritten.fixes[0].clone()
    });
    check(&rewritten, "less than whole commits does not fit");
    let fails = |reason| fix(|fix| (fix.tested, fix.is_complete) = (Outcome::Unresolved(reason), false));
    check(&fails(Reason::DoesNotApply), "newer commits rewrote");
    let own_tests = vec![b"t".to_vec()];
    check(&Finding { own_tests: own_tests.clone(), ..fails(Reason::DoesNotApply) }, "newer commits rewrote");
    check(&fails(Reason::Other), "the newest revision does not pass with its reversal");
    check(&fix(partial), "only a part of a declaration");
    let warns = |fix: &mut found::Fix| (fix.has_complaints, fix.scope) = (true, found::Scope::Lines);
    check(&fix(warns), "causes new warnings");
    let worse = |fix: &mut found::Fix| (fix.has_complaints, fix.suite) = (true, Some(Outcome::Fail));
    check(&fix(worse), "other tests of the suite fail");
    check(&Finding { own_tests, ..fix(worse) }, "it changed tests");
    let carried_less = |fix: &mut found::Fix| (fix.is_complete, fix.has_complaints) = (false, true);
    check(&fix(carried_less), "newer commits rewrote");
}

#[test]
fn evidence_has_the_seen_outcome_as_the_expected_one_where_anything_else_was_excluded() {
    let shown = |expected, seen, is_sample| {
        let claim = "x".to_owned();
        let shown = found::CleanRun { claim, revision: commit(1), tree: TreeId::sha1([1; 20]), expected, seen };
        let made = evidence(&shown, is_sample);
        (made.expected, made.verified == idd_report::Verified::Verified)
    };
    let unresolved = Outcome::Unresolved(Reason::Build);
    assert_eq!(shown(found::Expected::Pass, Outcome::Pass, false), (Outcome::Pass, true));
    assert_eq!(shown(found::Expected::Fail, unresolved, false), (Outcome::Fail, true));
    assert_eq!(shown(found::Expected::NotFail, unresolved, false), (unresolved, true));
    assert_eq!(shown(found::Expected::NotFail, Outcome::Fail, false), (Outcome::Pass, true));
    assert_eq!(shown(found::Expected::NotPass, Outcome::Pass, true), (Outcome::Fail, false));
    assert_eq!(shown(found::Expected::Pass, Outcome::Pass, true), (Outcome::Pass, true));
}

#[test]
fn counts_of_a_report_include_those_of_earlier_sessions() {
    let mut tally = Tally { n_cached: 4, n_checks: 1, n_suite_runs: 2, n_prechecked: 3, ..Tally::default() };
    tally.runs.insert(Phase::Search, 5);
    tally.runs.insert(Phase::Verify, 1);
    tally.outcomes.insert((Phase::Search, "pass".to_owned()), 6);
    for (word, n) in [(Phase::Search.word(), 10), (counted::SUITE, 20), (counted::PRECHECKED, 30), (counted::CHECK, 40)]
    {
        tally.earlier.insert(word.to_owned(), n);
    }
    let probes = probes(&tally, 7);
    assert_eq!((probes.run, probes.search, probes.verify, probes.reduce), (16, 15, 1, 0));
    assert_eq!((probes.suite, probes.prechecked, probes.checks, probes.refused, probes.cached), (22, 33, 41, 7, 4));
    assert_eq!(probes.outcomes["search"]["pass"], 6);
}

/// The report of a finding in a small history; `change` gets the commits, the oldest first.
fn reported(until: Until, change: impl FnOnce(&mut Finding, &World)) -> Report {
    let world = World::with_culprit();
    let mut order = order();
    order.effort.until = until;
    let plan = world.plan(order);
    let (revisions, shallow) = graph::load(&world.user(), &[plan.bad]).unwrap();
    let (history, store) = (History::new(revisions, shallow), world.store());
    let mut finding = Finding::new(plan.bad);
    change(&mut finding, &world);
    let adjustments = Adjustments::default();
    let sources = FindingSources {
        plan: &plan,
        adjustments: &adjustments,
        history: &history,
        store: &store,
        signature: None,
        beside: None,
    };
    report(&finding, sources).unwrap()
}

fn notes_of(report: &Report) -> Vec<String> {
    report.notes.iter().map(text).collect()
}

#[test]
fn a_stopped_search_says_what_it_has_tested_and_what_is_left() {
    let report = reported(Until::Fix, |finding, world| {
        let [one, two, three, four] = world.commits[..] else { panic!("four commits") };
        finding.conclusion = Conclusion::Budget;
        finding.range = vec![four, three, two];
        finding.verdicts =
            vec![(four, Outcome::Fail, false), (one, Outcome::Pass, false), (three, Outcome::Fail, true)];
    });
    let notes = notes_of(&report);
    assert!(notes[0].contains(" (with a repair), the newest that passes is "), "{notes:?}");
    assert_eq!(report.range.unwrap().candidates.len(), 2);
    let none = reported(Until::Fix, |finding, world| {
        finding.conclusion = Conclusion::Interrupted;
        finding.verdicts = vec![(world.commits[2], Outcome::Fail, false)];
    });
    assert!(notes_of(&none)[0].ends_with(", none passes yet."));
    let untestable = reported(Until::Fix, |finding, world| {
        let [one, .., four] = world.commits[..] else { panic!("four commits") };
        (finding.conclusion, finding.bad) = (Conclusion::Budget, four);
        finding.verdicts = vec![(four, Outcome::Fail, false), (one, Outcome::Pass, false)];
    });
    let bad = untestable.bad.as_ref().unwrap().commit.short();
    assert!(notes_of(&untestable)[0].contains(&format!("the oldest that fails is {bad}, the newest that passes is ")));
}

#[test]
fn a_hunt_that_ended_early_by_wish_says_how_it_goes_on() {
    let with = |until, conclusion| {
        notes_of(&reported(until, |finding, world| {
            finding.conclusion = conclusion;
            finding.range = vec![world.commits[2], world.commits[1]];
        }))
    };
    let ended = |word: &str| format!("The hunt ended with the {word} (`--until {word}`); ");
    let on = "`git idd resume --until fix` goes on.";
    assert_eq!(with(Until::Commit, Conclusion::Found), [format!("{}{on}", ended("commit"))]);
    assert_eq!(with(Until::Change, Conclusion::Range), [format!("{}{on}", ended("change"))]);
    assert!(with(Until::Commit, Conclusion::Range)[0].contains("distinguishes the commits by their changes"));
    assert!(with(Until::Fix, Conclusion::Found).is_empty());
    assert!(with(Until::Commit, Conclusion::NeverPassed).is_empty());
}

#[test]
fn a_range_of_a_noisy_test_has_candidates_and_rates_but_no_confidence() {
    let report = reported(Until::Commit, |finding, world| {
        (finding.conclusion, finding.range) = (Conclusion::Range, world.commits[1..].to_vec());
        finding.noise = Some(Noise { false_fails: 0.3, false_passes: 0.3 });
    });
    assert_eq!((report.confidence, report.range.as_ref().unwrap().candidates.len()), (None, 3));
    assert!(report.noise.is_some() && report.first_bad.is_none());
    // A reduction does not tell the commits apart.
    assert!(notes_of(&report).is_empty());
}

#[track_caller]
fn check_sentence(change: impl FnOnce(&mut Finding, &World), expected: &str) {
    assert_eq!(text(&reported(Until::Fix, change).sentence), expected);
}

#[test]
fn the_sentence_of_a_finding_has_its_distances_and_numbers() {
    check_sentence(
        |finding, world| {
            (finding.conclusion, finding.oldest_tested) = (Conclusion::NeverPassed, Some(world.commits[2]));
        },
        "No revision that could be tested passes; the oldest of them is 1 step before the bad one, and there are older \
         ones back to the root.",
    );
    check_sentence(
        |finding, world| {
            (finding.conclusion, finding.is_interaction) = (Conclusion::Found, true);
            finding.culprits = world.commits[1..3].to_vec();
        },
        "The failure needs 2 commits together; the newest of them is the first bad commit.",
    );
    check_sentence(
        |finding, world| (finding.conclusion, finding.range) = (Conclusion::Range, world.commits[1..].to_vec()),
        "The first bad commit is one of 3; they could not be told apart.",
    );
    check_sentence(
        |finding, _| *finding = Finding { conclusion: Conclusion::Unfixed, bad: finding.bad, ..fix(|_| {}) },
        "The first bad commit was found, but no fix is recommended: its reversal does not fit the newest revision, because \
         newer commits rewrote the code around it.",
    );
    check_sentence(
        |finding, _| finding.conclusion = Conclusion::Unfixed,
        "The first bad commit was found, but no fix is recommended: its reversal does not fit the newest revision, because \
         newer commits rewrote the code around it.",
    );
}

#[test]
fn shares_are_rounded_down_and_the_culprit_has_its_lines() {
    let report = reported(Until::Fix, |finding, world| {
        finding.conclusion = Conclusion::Found;
        (finding.first_bad, finding.last_good) = (Some(world.commits[2]), Some(world.commits[1]));
        finding.confidence = Some(0.999_99);
        finding.noise = Some(Noise { false_fails: 0.0559, false_passes: 0.0 });
        finding.n_unverified_units = 3;
        finding.notes = vec!["a note".to_owned()];
    });
    assert_eq!((report.confidence, report.noise.unwrap().false_fails), (Some(0.999), 0.055));
    assert_eq!(report.first_bad.as_ref().unwrap().lines, 1);
    let notes = notes_of(&report);
    assert_eq!(notes[0], "A note.");
    assert!(notes[1].starts_with("3 of the units were not run again one by one"));
}
