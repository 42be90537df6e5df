use super::*;
use crate::drive::{Engine, drive};
use crate::finding::{CleanRun, Conclusion, Finding};
use crate::testing::{Files, MemoryTrees, Oracle};
use crate::{EngineState, History, HuntWishes, Phase, testing};
use idd_base::{Reason, Revision};
use std::collections::HashSet;

/// The number of lines that a test needs in the stories of a large repair; it needs all of them.
const N_NEEDED: usize = 60;

fn id(number: usize) -> CommitId {
    let mut bytes = [3; 20];
    bytes[..8].copy_from_slice(&(number as u64).to_be_bytes());
    CommitId::sha1(bytes)
}

#[test]
fn a_stretch_of_untestable_revisions_is_left_with_few_tests() {
    // One between its neighbours; the neighbours of one in a short line; far from one in a long line.
    let next = |open: &[usize], good| beside(0, &open.iter().copied().collect(), good);
    assert_eq!(next(&[1], 2), None);
    assert!([1, 3].contains(&next(&[2], 4).unwrap()));
    let first = next(&[100], 200).unwrap();
    assert!((10..40).contains(&first.abs_diff(100)), "{first}");
    // The longer the stretch is, the farther away, until nothing is left to learn.
    let second = next(&[80, 100], 200).unwrap();
    assert!((30..70).contains(&(second - 100)), "{second}");
    assert_eq!(next(&[10, 30, 50, 70, 90, 110, 130, 150, 170, 190], 200), None);
    // Two that are far from each other are perhaps no stretch.
    assert!((100..900).contains(&next(&[100, 900], 1000).unwrap()));
}

/// A history of commits, each with its number, its parents and its program; children first.
struct Told {
    trees: MemoryTrees,
    revisions: Vec<Revision>,
    judge: fn(&Files) -> Outcome,
}

impl Told {
    fn new() -> Self {
        Self { trees: MemoryTrees::default(), revisions: Vec::new(), judge }
    }

    /// Adds an older commit.
    fn commit(&mut self, number: usize, parents: &[usize], program: &[String]) {
        let text: String = program.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
        self.revisions.push(Revision {
            id: id(number),
            parents: parents.iter().map(|parent| id(*parent)).collect(),
            tree: self.trees.add(Files::from([(b"program.c".to_vec(), text.into_bytes())])),
            author: number.to_string(),
            author_time: (0, 0),
            commit_time: 86_400 * i64::try_from(number).expect("there are few"),
            subject: String::new(),
        });
    }

    /// A history without merges: `program` of each number from `n` down to 1.
    fn linear(&mut self, n: usize, program: impl Fn(usize) -> Vec<String>) {
        for number in (1..=n).rev() {
            let parents: Vec<usize> = (number > 1).then_some(number - 1).into_iter().collect();
            self.commit(number, &parents, &program(number));
        }
    }

    /// Hunts from the newest commit; returns the finding, and how many trees were probed in a phase.
    fn hunt(self, order: impl FnOnce(HuntWishes) -> HuntWishes, phase: Phase) -> (Finding, usize) {
        let bad = self.revisions[0].id;
        let history = History::new(self.revisions, HashSet::new());
        let order = order(testing::order(bad, Vec::new()));
        let state = EngineState::new(bad);
        let mut oracle = Oracle::new(&self.trees, self.judge, 1);
        let halt = drive(Engine::Hunt, &self.trees, &history, &order, &mut oracle, &state);
        let Ok(halt) = halt;
        let Halt::Concluded(conclusion) = &*halt else { panic!("{halt:?}") };
        let finding = Finding { conclusion: *conclusion, ..state.borrow().finding.clone() };
        (finding, oracle.n_used(phase))
    }
}

/// The program builds if it is not broken and has everything that the test needs.
fn judge(files: &Files) -> Outcome {
    let text = String::from_utf8_lossy(&files[&b"program.c"[..]]).into_owned();
    if text.contains("broken") || text.contains("lacking") {
        Outcome::Unresolved(Reason::Build)
    } else if text.contains("defect") {
        Outcome::Fail
    } else {
        Outcome::Pass
    }
}

/// Three lines that describe the commit, and some lines that each commit changes.
fn program(number: usize, is_broken: bool, is_lacking: bool, has_defect: bool) -> Vec<String> {
    let mut lines = vec![
        if is_broken { "broken" } else { "sound" }.to_owned(),
        "---".to_owned(),
        if is_lacking { "lacking" } else { "api" }.to_owned(),
        "---".to_owned(),
        if has_defect { "defect" } else { "fine" }.to_owned(),
    ];
    lines.extend((0..20).map(|line| format!("{line} of {}", number - number % (line + 1))));
    lines
}

#[test]
fn an_isolated_untestable_revision_is_gone_around() {
    let mut told = Told::new();
    told.linear(100, |number| {
        // The bisection after the gallop stops at some of them.
        let is_broken = number % 4 == 0;
        program(number, is_broken, false, number >= 30)
    });
    let (finding, n_repair) = told.hunt(|order| HuntWishes { bad: id(99), target: id(99), ..order }, Phase::Repair);
    assert_eq!((finding.first_bad, finding.last_good), (Some(id(30)), Some(id(29))));
    assert_eq!((finding.repairs.len(), n_repair), (0, 0));
}

/// The gallop steps over all revisions that pass, into an old defect that was mended, and then to where nothing can be tested.
#[test]
fn a_wide_gap_of_the_gallop_is_sampled_before_old_revisions_are_repaired() {
    let mut told = Told::new();
    told.linear(400, |number| program(number, false, number < 100, !(160..326).contains(&number)));
    let (finding, n_repair) = told.hunt(|order| order, Phase::Repair);
    assert_eq!((finding.first_bad, finding.last_good), (Some(id(326)), Some(id(325))));
    assert_eq!((finding.repairs.len(), n_repair), (0, 0));
}

#[test]
fn an_untestable_revision_beside_the_culprit_is_repaired_after_all() {
    let mut told = Told::new();
    told.linear(40, |number| program(number, number == 19, false, number >= 20));
    let (finding, _) = told.hunt(|order| order, Phase::Repair);
    assert_eq!((finding.first_bad, finding.last_good), (Some(id(20)), Some(id(19))));
    assert_eq!(finding.repairs.len(), 1);
}

/// 50 merges a branch of 20 commits, one of which adds what the test needs; the culprit is much older.
#[test]
fn a_border_inside_a_side_branch_is_narrowed_to_one_commit() {
    let mut told = Told::new();
    let is_in_branch = |number: usize| (30..50).contains(&number);
    for number in (1..=60).rev() {
        let is_lacking = number < 50 && !(is_in_branch(number) && number >= 41);
        let parents = match number {
            1 => vec![],
            50 => vec![29, 49],
            number => vec![number - 1],
        };
        told.commit(number, &parents, &program(number, false, is_lacking, number >= 10));
    }
    let (finding, n_repair) = told.hunt(|order| order, Phase::Repair);
    assert_eq!(finding.first_bad, Some(id(10)));
    assert_eq!(finding.borders, [(id(40), id(41))]);
    assert_eq!((finding.repairs[0].revision, finding.repairs[0].source), (id(40), id(41)));
    assert_eq!((finding.repairs.len(), finding.repairs[0].n_lines), (1, 2));
    assert!(n_repair <= 30, "{n_repair}");
}

/// 50 merges a branch of 20 commits. One of them adds what the test needs, and a later one is the culprit. No revision
/// before the branch can be tested.
#[test]
fn a_pass_and_a_failure_in_a_side_branch_are_searched_in_place_of_a_repair() {
    for goods in [vec![], vec![id(1)]] {
        let mut told = Told::new();
        let is_in_branch = |number: usize| (30..50).contains(&number);
        for number in (1..=60).rev() {
            let is_lacking = number < 50 && !(is_in_branch(number) && number >= 35);
            let parents = match number {
                1 => vec![],
                50 => vec![29, 49],
                number => vec![number - 1],
            };
            told.commit(number, &parents, &program(number, false, is_lacking, number >= 43));
        }
        let (finding, n_repair) = told.hunt(|order| HuntWishes { goods, ..order }, Phase::Repair);
        assert_eq!((finding.first_bad, finding.last_good), (Some(id(43)), Some(id(42))));
        assert_eq!((finding.repairs.len(), n_repair), (0, 0));
    }
}

/// A program without many lines until 20. The test needs all of them, so no part of them can be left out.
fn with_a_large_repair() -> Told {
    let mut told = Told::new();
    told.linear(30, |number| {
        let mut lines = program(number, false, false, number >= 25);
        let needed = |line: usize| if number < 20 { format!("lacking {line}") } else { format!("needed {line}") };
        lines.extend((0..N_NEEDED).flat_map(|line| [needed(line), "---".to_owned()]));
        lines
    });
    told
}

#[test]
fn a_repair_takes_no_more_tests_than_its_bound_and_is_used_as_far_as_it_came() {
    let mut told = with_a_large_repair();
    // Nothing passes: every revision fails.
    for revision in &mut told.revisions {
        let mut files = told.trees.files(revision.tree);
        let text = String::from_utf8_lossy(&files[&b"program.c"[..]]).replace("fine", "defect");
        files.insert(b"program.c".to_vec(), text.into_bytes());
        revision.tree = told.trees.add(files);
    }
    let (finding, n_repair) = told.hunt(|order| order, Phase::Repair);
    assert_eq!(finding.conclusion, Conclusion::NeverPassed);
    assert_eq!(finding.oldest_failing, Some(id(20)));
    assert!(n_repair <= (MAX_REPAIRS_WITHOUT_PASS + 1) * (REPAIR_BASE + REPAIR_PER_HALVING * 5), "{n_repair}");
    for said in ["`--repair` reduces it further", "`--repair` goes on"] {
        assert!(finding.notes.iter().any(|note| note.contains(said)), "{:?}", finding.notes);
    }
}

/// 20 adds the function that the test needs. Reduced to its first line, the function makes every program fail like the
/// culprit.
#[test]
fn a_repair_is_not_cut_down_to_what_fails_for_itself() {
    let mut told = Told::new();
    told.linear(30, |number| {
        let mut lines = program(number, false, false, number >= 12);
        let function = if number < 20 { vec![] } else { vec!["head", "  body", "  tail"] };
        lines.splice(3..3, function.into_iter().map(str::to_owned));
        lines
    });
    told.judge = |files| {
        let text = String::from_utf8_lossy(&files[&b"program.c"[..]]).into_owned();
        match judge(files) {
            _ if !text.contains("head") => Outcome::Unresolved(Reason::Build),
            Outcome::Pass if !text.contains("body") => Outcome::Fail,
            outcome => outcome,
        }
    };
    let (finding, _) = told.hunt(|order| order, Phase::Repair);
    assert_eq!((finding.first_bad, finding.last_good), (Some(id(12)), Some(id(11))));
}

#[test]
fn revisions_before_a_border_do_not_widen_the_signature() {
    let mut told = Told::new();
    told.linear(100, |number| program(number, false, number < 95, number >= 20));
    told.judge = |files| match judge(files) {
        Outcome::Unresolved(_) => Outcome::Unresolved(Reason::Other),
        outcome => outcome,
    };
    let (finding, _) = told.hunt(|order| HuntWishes { goods: vec![id(1)], ..order }, Phase::Search);
    assert_eq!((finding.first_bad, finding.last_good), (Some(id(20)), Some(id(19))));
}

/// The culprit can be tested only with a repair, and its reversal is not carried.
#[test]
fn the_claims_of_a_fix_that_is_not_carried_rest_on_the_repaired_culprit() {
    let mut told = Told::new();
    told.linear(30, |number| program(number, false, number < 25, number >= 12));
    let (finding, _) = told.hunt(|order| HuntWishes { port: false, ..order }, Phase::Verify);
    assert_eq!((finding.first_bad, finding.last_good), (Some(id(12)), Some(id(11))));
    assert!(finding.fix.is_some() && finding.evidence.iter().all(CleanRun::holds), "{:?}", finding.evidence);
}
