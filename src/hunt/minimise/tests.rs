use super::*;
use crate::drive::{Engine, drive};
use crate::finding::Finding;
use crate::testing::{Files, MemoryTrees, Oracle};
use crate::{EngineState, History, HuntWishes, testing};
use idd_base::{HuntStage, Reason, Revision};
use idd_change::Level;
use idd_change::trees::Trees;
use proptest::prelude::*;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

const GOOD: CommitId = CommitId::sha1([1; 20]);
const BAD: CommitId = CommitId::sha1([2; 20]);

/// A pair of revisions: a file with the lines of `good`, and one with the lines of `bad`.
fn history(trees: &MemoryTrees, good: &[&str], bad: &[&str]) -> History {
    let tree = |lines: &[&str]| {
        let text = lines.iter().flat_map(|line| [*line, "\n"]).collect::<String>();
        trees.add(Files::from([(b"f".to_vec(), text.into_bytes())]))
    };
    history_of(tree(good), tree(bad))
}

fn history_of(good: TreeId, bad: TreeId) -> History {
    let revision = |id, parents, tree| Revision {
        id,
        parents,
        tree,
        author: "A U Thor <author@example.com>".to_owned(),
        author_time: (0, 0),
        commit_time: 0,
        subject: "Change".to_owned(),
    };
    let revisions = vec![revision(BAD, vec![GOOD], bad), revision(GOOD, Vec::new(), good)];
    History::new(revisions, HashSet::new())
}

fn order() -> HuntWishes {
    HuntWishes {
        until: HuntStage::Fix,
        port: false,
        check_vacuous: false,
        may_release: false,
        may_widen: false,
        is_clean: true,
        ..testing::order(BAD, vec![GOOD])
    }
}

/// Reduces a pair: the bad side has `lines`, the good side has none.
fn minimized(order: &HuntWishes, lines: &[&str], judge: impl Fn(&str) -> Outcome) -> Finding {
    minimized_pair(&MemoryTrees::default(), order, &[], lines, judge)
}

fn minimized_pair(
    trees: &MemoryTrees,
    order: &HuntWishes,
    good: &[&str],
    bad: &[&str],
    judge: impl Fn(&str) -> Outcome,
) -> Finding {
    let history = history(trees, good, bad);
    let judge = |files: &Files| judge(std::str::from_utf8(&files[&b"f"[..]]).unwrap());
    let mut oracle = Oracle::new(trees, judge, 2);
    let state = EngineState::new(BAD);
    drive(Engine::Minimize, trees, &history, order, &mut oracle, &state).unwrap();
    state.borrow().finding.clone()
}

fn fails_if(is_failure: bool) -> Outcome {
    if is_failure { Outcome::Fail } else { Outcome::Pass }
}

fn text_of(change: Option<&FoundChange>) -> Vec<u8> {
    change.unwrap().units.iter().flat_map(|unit| &unit.edits).flat_map(|edit| edit.text.clone()).collect()
}

#[test]
fn retry_keeps_the_smaller_of_two_results() {
    let has = |text: &str, letters: &str| letters.chars().any(|letter| text.contains(letter));
    let judge = |text: &str| fails_if(has(text, "abc") && has(text, "de"));
    let lines = ["a", "b", "c", "d", "e"];
    assert_eq!(text_of(minimized(&order(), &lines, judge).necessary.as_ref()), b"a\nb\nc\n");
    let retried = HuntWishes { is_retried: true, ..order() };
    assert_eq!(text_of(minimized(&retried, &lines, judge).necessary.as_ref()), b"d\ne\n");
    let turned: Vec<&str> = lines.into_iter().rev().collect();
    assert_eq!(text_of(minimized(&retried, &turned, judge).necessary.as_ref()), b"e\nd\n");
}

#[test]
fn the_sufficient_change_is_grown_around_the_necessary_one() {
    let judge = |text: &str| fails_if(text.contains('b') || text.contains('d') && text.contains('e'));
    let finding = minimized(&order(), &["a", "b", "c", "d", "e"], judge);
    assert_eq!(text_of(finding.necessary.as_ref()), b"b\nd\n");
    assert_eq!(text_of(finding.sufficient.as_ref()), b"b\n");
}

#[test]
fn two_changes_without_a_common_line_are_told() {
    // Removing `a` fixes it, and `b` alone breaks it: this test is not monotone.
    let judge = |text: &str| match text {
        "" | "b\nc\n" => Outcome::Pass,
        "a\n" | "c\n" => Outcome::Unresolved(Reason::Build),
        _ => Outcome::Fail,
    };
    let finding = minimized(&order(), &["a", "b", "c"], judge);
    assert_eq!(text_of(finding.necessary.as_ref()), b"a\n");
    assert_eq!(text_of(finding.sufficient.as_ref()), b"b\n");
    assert!(finding.notes.iter().any(|note| note.contains("have no line in common")));
}

#[test]
fn hits_that_the_suite_or_the_compiler_turn_down_are_none() {
    let judge = |text: &str| fails_if(text.contains('a'));
    let trees = MemoryTrees::default();
    let history = history(&trees, &[], &["a", "b", "c"]);
    let judge = |files: &Files| judge(std::str::from_utf8(&files[&b"f"[..]]).unwrap());
    let mut oracle = Oracle::new(&trees, judge, 2);
    // Without `a`, the rest must not have `b` either: there would be a new warning.
    oracle.complains = Some(|files| files[&b"f"[..]].starts_with(b"b"));
    let state = EngineState::new(BAD);
    let order = HuntWishes { asks_complaints: true, ..order() };
    drive(Engine::Minimize, &trees, &history, &order, &mut oracle, &state).unwrap();
    assert_eq!(text_of(state.borrow().finding.necessary.as_ref()), b"a\nb\n");
    assert_eq!(text_of(state.borrow().finding.sufficient.as_ref()), b"a\n");
}

#[test]
fn of_a_line_that_replaces_another_both_halves_are_shown_unless_half_lines_are_asked_for() {
    let (good, bad) = (["same", "add(1)"], ["same", "add(2)"]);
    let finding = |judge: fn(&str) -> Outcome, order: &HuntWishes| {
        let finding = minimized_pair(&MemoryTrees::default(), order, &good, &bad, judge);
        [&finding.sufficient, &finding.necessary].map(|change| String::from_utf8(text_of(change.as_ref())).unwrap())
    };
    let half = HuntWishes { level: Level::HalfLine, ..order() };
    let new_is_bad = |text: &str| fails_if(text.contains("add(2)"));
    assert_eq!(finding(new_is_bad, &order()), ["add(2)\nadd(1)\n", "add(1)\nadd(2)\n"]);
    assert_eq!(finding(new_is_bad, &half), ["add(2)\n", "add(1)\nadd(2)\n"]);
    let old_is_missing = |text: &str| fails_if(!text.contains("add(1)"));
    assert_eq!(finding(old_is_missing, &half), ["add(1)\n", "add(1)\nadd(2)\n"]);
    let both = |text: &str| fails_if(text.contains("add(2)") && !text.contains("add(1)"));
    assert_eq!(finding(both, &half)[0], "add(2)\nadd(1)\n");
    let hunks = HuntWishes { level: Level::Hunk, ..order() };
    assert_eq!(finding(new_is_bad, &hunks)[0], "add(2)\nadd(1)\n");
    for (reducer, expected) in [(Reducer::Fast, "add(2)\n"), (Reducer::Artho, "add(2)\nadd(1)\n")] {
        assert_eq!(finding(new_is_bad, &HuntWishes { reducer, ..half.clone() })[0], expected);
    }
}

#[test]
fn of_equal_results_retry_keeps_the_first() {
    let retried = HuntWishes { is_retried: true, ..order() };
    for order in [&order(), &retried] {
        let finding = minimized(order, &["a", "b"], |text| fails_if(!text.is_empty()));
        assert_eq!(text_of(finding.sufficient.as_ref()), b"a\n");
    }
}

#[test]
fn each_kept_unit_says_what_happens_without_it_even_where_they_are_too_many_to_be_proved() {
    let lines: Vec<String> = (0..60).map(|line| format!("line {line}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let finding = minimized(&order(), &lines, |text| match text.lines().count() {
        60 => Outcome::Fail,
        0..30 => Outcome::Pass,
        _ => Outcome::Unresolved(Reason::Build),
    });
    let shown = |change: &Option<FoundChange>| -> Vec<_> {
        change.iter().flat_map(|change| &change.units).map(|unit| unit.shown_without).collect()
    };
    assert_eq!(shown(&finding.sufficient), vec![Some(Outcome::Unresolved(Reason::Build)); 60]);
    assert_eq!(shown(&finding.necessary).len(), 31);
    assert!(shown(&finding.necessary).iter().all(|shown| *shown == Some(Outcome::Unresolved(Reason::Build))));
    assert_eq!(finding.n_unverified_units, 10);
}

#[test]
fn what_is_divided_anew_and_is_no_smaller_is_not_reduced_for_ever() {
    let mut trees = MemoryTrees::default();
    trees.rewritten = Some(b"same".to_vec());
    let tree = |text: &str| {
        trees.add(Files::from([(b"f".to_vec(), text.as_bytes().to_vec()), (b"same".to_vec(), b"1\n2\n".to_vec())]))
    };
    let (good, bad) = (tree("a\n"), tree("a\nb\nc\n"));
    let history = history_of(good, bad);
    let judge = |files: &Files| match files.get(&b"same"[..]) {
        Some(same) if same == b"1\n2\n" => fails_if(files[&b"f"[..]].ends_with(b"c\n")),
        _ => Outcome::Unresolved(Reason::Build),
    };
    let mut oracle = Oracle::new(&trees, judge, 1);
    let state = EngineState::new(BAD);
    drive(Engine::Minimize, &trees, &history, &order(), &mut oracle, &state).unwrap();
    assert_eq!(text_of(state.borrow().finding.sufficient.as_ref()), b"c\n");
}

/// Lines of two sides. The lines of one side all differ; common ones are in the same order.
fn sides() -> impl Strategy<Value = (Vec<&'static str>, Vec<&'static str>)> {
    const LINES: [&str; 9] = ["a = 1", "b = 1", "c", "a = 2", "d", "b = 2", "e", "f", "g = b"];
    let on = || prop::sample::select(vec![(true, false), (false, true), (true, true), (true, false), (false, true)]);
    prop::collection::vec(on(), LINES.len()).prop_map(|sides| {
        let lines = |is_on: fn(&(bool, bool)) -> bool| {
            LINES.into_iter().zip(&sides).filter(|(_, on)| is_on(on)).map(|(line, _)| line).collect()
        };
        (lines(|on| on.0), lines(|on| on.1))
    })
}

proptest! {
    #[test]
    fn no_line_of_the_sufficient_change_can_be_taken_out_alone_whatever_the_test_says(
        (older, newer) in sides(),
        seed in any::<u64>(),
        n_of_8_fail in 1_u64..5,
        reducer in prop::sample::select(vec![Reducer::Hierarchical, Reducer::Fast]),
    ) {
        prop_assume!(older != newer);
        let text_of = |lines: &[&str]| lines.iter().flat_map(|line| [*line, "\n"]).collect::<String>();
        let (good, bad) = (text_of(&older), text_of(&newer));
        let judge = |text: &str| {
            let mut hasher = DefaultHasher::new();
            (seed, text).hash(&mut hasher);
            match hasher.finish() % 8 {
                _ if text == good => Outcome::Pass,
                _ if text == bad => Outcome::Fail,
                share if share < n_of_8_fail => Outcome::Fail,
                7 => Outcome::Pass,
                _ => Outcome::Unresolved(Reason::Build),
            }
        };
        let trees = MemoryTrees::default();
        let finding = minimized_pair(&trees, &HuntWishes { reducer, level: Level::HalfLine, ..order() }, &older, &newer, judge);
        let change = finding.sufficient.unwrap();
        let set = trees.change_set(change.older, change.newer).unwrap().with_single_lines();
        prop_assert_eq!(set.units().len(), change.n_lines);
        for unit in &set.full() {
            let mut rest = set.full();
            rest.remove(unit);
            let tree = trees.compose(&set, change.older, &rest).unwrap().unwrap();
            let text = String::from_utf8(trees.files(tree)[&b"f"[..]].clone()).unwrap();
            prop_assert!(judge(&text) != Outcome::Fail, "{:?} is not needed", set.describe(unit));
        }
    }
}
