use super::*;
use crate::change::Level;
use crate::hunt::Board;
use crate::hunt::Order;
use crate::hunt::Walk;
use crate::hunt::drive::Engine;
use crate::hunt::drive::drive;
use crate::hunt::finding::Finding;
use crate::hunt::history::History;
use crate::hunt::testing::Files;
use crate::hunt::testing::MemoryTrees;
use crate::hunt::testing::Oracle;
use crate::outcome::Reason;
use crate::revision::Revision;
use std::collections::HashSet;

const GOOD: CommitId = CommitId([1; 20]);
const BAD: CommitId = CommitId([2; 20]);

/// A pair of revisions: a file without lines, and with `lines`.
fn history(trees: &MemoryTrees, lines: &[&str]) -> History {
    let tree = |lines: &[&str]| {
        let text = lines.iter().flat_map(|line| [*line, "\n"]).collect::<String>();
        trees.add(Files::from([(b"f".to_vec(), text.into_bytes())]))
    };
    let revision = |id, parents, tree| Revision {
        id,
        parents,
        tree,
        author: "A U Thor <author@example.com>".to_owned(),
        author_time: (0, 0),
        commit_time: 0,
        subject: "Change".to_owned(),
    };
    let revisions = vec![revision(BAD, vec![GOOD], tree(lines)), revision(GOOD, Vec::new(), tree(&[]))];
    History::new(revisions, HashSet::new())
}

fn order() -> Order {
    Order {
        has_precheck: false,
        bad: BAD,
        goods: vec![GOOD],
        target: BAD,
        walk: Walk::Auto,
        first_parent: false,
        reducer: Reducer::Hierarchical,
        level: Level::Line,
        is_retried: false,
        is_audited: false,
        port: false,
        check_vacuous: false,
        may_release: false,
        may_widen: false,
        is_clean: true,
    }
}

/// Reduces a pair whose bad side has `lines`.
fn minimized(order: &Order, lines: &[&str], judge: impl Fn(&str) -> Outcome) -> Finding {
    let trees = MemoryTrees::default();
    let history = history(&trees, lines);
    let judge = |files: &Files| judge(std::str::from_utf8(&files[&b"f"[..]]).unwrap());
    let mut oracle = Oracle::new(&trees, judge, 2);
    let board = Board::new(BAD);
    drive(Engine::Minimize, (&trees, &history, order), &mut oracle, &board).unwrap();
    board.borrow().finding.clone()
}

fn fails_if(is_failure: bool) -> Outcome {
    if is_failure { Outcome::Fail } else { Outcome::Pass }
}

fn text_of(change: Option<&Change>) -> Vec<u8> {
    change.unwrap().units.iter().flat_map(|unit| &unit.edits).flat_map(|edit| edit.text.clone()).collect()
}

#[test]
fn retry_keeps_the_smaller_of_two_results() {
    let has = |text: &str, letters: &str| letters.chars().all(|letter| text.contains(letter));
    let judge = |text: &str| fails_if(has(text, "ab") || has(text, "e"));
    let lines = ["a", "b", "c", "d", "e"];
    assert_eq!(text_of(minimized(&order(), &lines, judge).sufficient.as_ref()), b"a\nb\n");
    let retried = Order { is_retried: true, ..order() };
    assert_eq!(text_of(minimized(&retried, &lines, judge).sufficient.as_ref()), b"e\n");
    let turned: Vec<&str> = lines.into_iter().rev().collect();
    assert_eq!(text_of(minimized(&retried, &turned, judge).sufficient.as_ref()), b"e\n");
}

#[test]
fn of_equal_results_retry_keeps_the_first() {
    let retried = Order { is_retried: true, ..order() };
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
    let shown = |change: &Option<Change>| -> Vec<_> {
        change.iter().flat_map(|change| &change.units).map(|unit| unit.shown_without).collect()
    };
    assert_eq!(shown(&finding.sufficient), vec![Some(Outcome::Unresolved(Reason::Build)); 60]);
    assert_eq!(shown(&finding.necessary).len(), 31);
    assert!(shown(&finding.necessary).iter().all(|shown| *shown == Some(Outcome::Unresolved(Reason::Build))));
    assert_eq!(finding.n_unverified_units, 10);
}
