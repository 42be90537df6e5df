//! Properties of whole hunts over random histories, compared with the construction of the histories.

use crate::drive::{Engine, drive};
use crate::finding::{Conclusion, Finding, FoundChange};
use crate::testing::{Files, MemoryTrees, Oracle};
use crate::{EngineState, Halt, History, HistoryWalk, HuntWishes, Phase, testing};
use idd_base::{CommitId, Outcome, Reason, Revision};
use proptest::prelude::*;
use std::collections::HashSet;
use std::ops::Range;

/// Lines of noise in the program; each commit edits some of them.
const N_NOISE: usize = 12;

/// A linear history with its defects. Positions count from the root (0) to HEAD (`n` - 1).
#[derive(Debug, Clone)]
struct Story {
    n: usize,
    /// The first position with the bug; 0 means every position.
    culprit: usize,
    /// Positions that do not build, without the root and HEAD.
    windows: Vec<Range<usize>>,
    /// The first position with the function that the test needs.
    api: usize,
    /// The first position with a target that runs the test.
    target: usize,
    /// The first position with another feature that the test needs. Without it the test fails in another way, unless
    /// the bug is present.
    feature: usize,
    /// For each position, the noise lines that it edits.
    edits: Vec<Vec<usize>>,
}

impl Story {
    /// The program at a position.
    fn files(&self, position: usize) -> Files {
        let mut lines: Vec<String> = (0..N_NOISE)
            .map(|noise| {
                let last = (0..=position).rev().find(|at| self.edits[*at].contains(&noise)).unwrap_or(0);
                format!("noise {noise} of {last}\n")
            })
            .collect();
        for (index, window) in self.windows.iter().enumerate() {
            let is_broken = window.contains(&position);
            lines.insert(3 * index, if is_broken { "broken brace {{{\n" } else { "sound line;\n" }.to_owned());
        }
        lines.insert(5, if position >= self.api { "api: present\n" } else { "none of that here\n" }.to_owned());
        lines.push(if position >= self.culprit { "count from one\n" } else { "count from zero\n" }.to_owned());
        if position >= self.feature {
            lines.insert(9, "feature: present\n".to_owned());
        }
        let has_target = position >= self.target;
        let makefile = if has_target { "program:\n\tcc\ncheck:\n\ttests/run.sh\n" } else { "program:\n\tcc\n" };
        let mut files = Files::from([
            (b"program.c".to_vec(), lines.concat().into_bytes()),
            (b"Makefile".to_vec(), makefile.as_bytes().to_vec()),
        ]);
        if has_target {
            files.insert(b"tests/run.sh".to_vec(), b"count\n".to_vec());
        }
        files
    }

    fn id(position: usize) -> CommitId {
        let mut bytes = [0; 20];
        bytes[..8].copy_from_slice(&(position as u64 + 1).to_be_bytes());
        CommitId::sha1(bytes)
    }

    fn history(&self, trees: &MemoryTrees) -> History {
        let revisions = (0..self.n).rev().map(|position| Revision {
            id: Self::id(position),
            parents: if position == 0 { Vec::new() } else { vec![Self::id(position - 1)] },
            tree: trees.add(self.files(position)),
            author: "a".to_owned(),
            author_time: (0, 0),
            commit_time: 86_400 * i64::try_from(position).unwrap(),
            subject: format!("change {position}"),
        });
        History::new(revisions.collect::<Vec<_>>(), HashSet::new())
    }
}

/// The outcome of the test: it needs a program that builds, the function that it calls, and a target, which can be
/// empty.
fn judge(files: &Files) -> Outcome {
    let text = |path: &[u8]| String::from_utf8_lossy(files.get(path).map_or(&[], Vec::as_slice)).into_owned();
    let (program, makefile) = (text(b"program.c"), text(b"Makefile"));
    let is_runnable =
        makefile.contains("check:") && (!makefile.contains("run.sh") || files.contains_key(&b"tests/run.sh"[..]));
    if program.contains("broken") || !program.contains("api: present") || !is_runnable {
        Outcome::Unresolved(Reason::Build)
    } else if !makefile.contains("run.sh") {
        Outcome::Pass
    } else if program.contains("count from one") {
        Outcome::Fail
    } else if !program.contains("feature: present") {
        Outcome::Unresolved(Reason::Other)
    } else {
        Outcome::Pass
    }
}

fn order(story: &Story, walk: HistoryWalk) -> HuntWishes {
    HuntWishes { walk, ..testing::order(Story::id(story.n - 1), Vec::new()) }
}

/// Hunts through a story; returns the finding, and how many trees were probed to find the pair.
fn hunt(story: &Story, walk: HistoryWalk, width: usize) -> (Finding, usize) {
    let trees = MemoryTrees::default();
    let history = story.history(&trees);
    let order = order(story, walk);
    let state = EngineState::new(order.bad);
    let mut oracle = Oracle::new(&trees, judge, width);
    let halt = drive(Engine::Hunt, &trees, &history, &order, &mut oracle, &state).unwrap();
    let Halt::Concluded(conclusion) = &*halt else { panic!("{halt:?}") };
    let finding = Finding { conclusion: *conclusion, ..state.borrow().finding.clone() };
    (finding, oracle.n_used(Phase::Search))
}

fn stories(with_trouble: bool) -> impl Strategy<Value = Story> {
    (2..40_usize).prop_flat_map(move |n| {
        let edits = prop::collection::vec(prop::collection::vec(0..N_NOISE, 1..4), n);
        let n_windows = if with_trouble { 0..3_usize } else { 0..1 };
        let windows = prop::collection::vec((1..n, 1..8_usize), n_windows);
        let api = if with_trouble { 0..n } else { 0..1 };
        (1..n, windows, api, edits).prop_map(move |(culprit, windows, api, edits)| {
            let windows = windows
                .into_iter()
                .map(|(start, length)| start..(start + length).min(n - 1))
                .filter(|window| !window.is_empty())
                .collect();
            Story { n, culprit, windows, api, target: 0, feature: 0, edits }
        })
    })
}

/// The properties of every finding: the true culprit, its one line with the line that it replaces, and a reversal that
/// fixes HEAD. It is recommended if everything that the culprit changed there can still be reversed.
fn check_culprit(story: &Story, finding: &Finding) -> Result<(), TestCaseError> {
    let is_recommended = finding.fix.as_ref().is_some_and(|fix| fix.is_complete);
    let conclusion = if is_recommended { Conclusion::Found } else { Conclusion::Unfixed };
    prop_assert_eq!(finding.conclusion, conclusion);
    prop_assert_eq!(finding.first_bad, Some(Story::id(story.culprit)));
    prop_assert_eq!(finding.last_good, Some(Story::id(story.culprit - 1)));
    prop_assert_eq!(finding.sufficient.as_ref().map(|change| change.n_lines), Some(2));
    prop_assert_eq!(finding.necessary.as_ref().map(|change| change.n_lines), Some(2));
    prop_assert!(finding.fixes.iter().any(|fix| fix.is_complete && fix.n_lines >= 2));
    let shown = |change: &Option<FoundChange>| -> Vec<_> {
        change.iter().flat_map(|change| &change.units).map(|unit| unit.shown_without).collect()
    };
    prop_assert_eq!(shown(&finding.sufficient), [Some(Outcome::Pass)]);
    prop_assert_eq!(shown(&finding.necessary), [Some(Outcome::Fail)]);
    prop_assert!(finding.evidence.iter().all(crate::finding::CleanRun::holds));
    Ok(())
}

proptest! {
    #[test]
    fn the_culprit_of_a_sound_history_is_found_within_the_bound(story in stories(false)) {
        let (finding, n_search) = hunt(&story, HistoryWalk::Auto, 1);
        check_culprit(&story, &finding)?;
        let distance = story.n - story.culprit;
        let n_steps = (distance.next_power_of_two().ilog2() as usize).div_ceil(2).max(1);
        // The bad end, the steps of the gallop, and two halvings for each of them. Two more probes reproduce the failure
        // before the engine starts.
        prop_assert!(n_search <= 3 * n_steps + 1, "{n_search} probes for a culprit {distance} back");
    }

    #[test]
    fn the_culprit_is_found_through_windows_and_without_the_api(story in stories(true)) {
        let (finding, _) = hunt(&story, HistoryWalk::Auto, 1);
        check_culprit(&story, &finding)?;
    }

    #[test]
    fn no_other_commit_is_named_where_repairs_can_pass_emptily_or_bring_the_failure(
        story in stories(true),
        target in 0..40_usize,
        feature in 0..40_usize,
    ) {
        let last = story.n - 1;
        let story = Story { target: target.min(last), feature: feature.min(last), ..story };
        let (finding, _) = hunt(&story, HistoryWalk::Auto, 1);
        if matches!(finding.conclusion, Conclusion::Found | Conclusion::Unfixed) {
            prop_assert_eq!(finding.first_bad, Some(Story::id(story.culprit)));
        }
        let is_seen = finding.oldest_failing.is_none_or(|oldest| oldest >= Story::id(story.culprit));
        prop_assert!(is_seen, "{:?}", finding.oldest_failing);
    }

    #[test]
    fn the_finding_does_not_depend_on_the_number_of_jobs(story in stories(true), width in 2..6_usize) {
        prop_assert_eq!(hunt(&story, HistoryWalk::Auto, 1), hunt(&story, HistoryWalk::Auto, width));
    }

    #[test]
    fn the_linear_walk_finds_the_culprit_of_a_sound_history(story in stories(false)) {
        let (finding, n_search) = hunt(&story, HistoryWalk::Linear, 1);
        check_culprit(&story, &finding)?;
        prop_assert_eq!(n_search, story.n - story.culprit + 1);
    }

    #[test]
    fn a_history_that_never_passed_says_so(story in stories(false)) {
        let story = Story { culprit: 0, ..story };
        let (finding, _) = hunt(&story, HistoryWalk::Auto, 1);
        prop_assert_eq!(finding.conclusion, Conclusion::NeverPassed);
        prop_assert_eq!(finding.oldest_tested, Some(Story::id(0)));
    }
}
