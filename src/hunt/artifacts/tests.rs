use super::*;
use crate::drive::{Engine, ProbeRunner, RunnerReply, drive};
use crate::finding::Finding;
use crate::testing::{Files, MemoryTrees};
use crate::{EngineState, History, HuntWishes, testing};
use idd_base::{HuntStage, Reason, Revision};
use std::collections::HashSet;
use std::convert::Infallible;

fn id(position: usize) -> CommitId {
    let mut bytes = [0; 20];
    bytes[..8].copy_from_slice(&(position as u64).to_be_bytes());
    CommitId::sha1(bytes)
}

fn position(id: CommitId) -> usize {
    let bytes = id.0.as_bytes()[..8].try_into().unwrap();
    usize::try_from(u64::from_be_bytes(bytes)).unwrap()
}

/// Answers by the position of the revision, and writes down what the search asks for the first time.
struct Store<F> {
    width: usize,
    answer: F,
    asked: HashSet<Probe>,
    fetched: Vec<usize>,
    built: Vec<usize>,
}

impl<F: Fn(usize, bool) -> Outcome> ProbeRunner for Store<F> {
    type Error = Infallible;

    fn width(&self) -> usize {
        self.width
    }

    fn answer(&mut self, probes: &[Probe]) -> Result<RunnerReply, Infallible> {
        let of = |probe: &Probe| (self.answer)(position(probe.revision), probe.is_fetched);
        Ok(RunnerReply::Outcomes(probes.iter().map(of).collect()))
    }

    fn used(&mut self, probes: &[Probe], _: &[Outcome]) -> Result<(), Infallible> {
        for probe in probes.iter().filter(|probe| !probe.is_claim) {
            if self.asked.insert(*probe) {
                let asked = if probe.is_fetched { &mut self.fetched } else { &mut self.built };
                asked.push(position(probe.revision));
            }
        }
        Ok(())
    }

    fn tell(&mut self, _: &[Event]) {}
}

/// Hunts for the commit in a line of `n` revisions, of which the last one is bad; the answer depends on the position,
/// and on whether the artifact is asked for. Returns the finding, and the positions that were fetched and built.
fn hunt(
    n: usize,
    artifacts: Artifacts,
    width: usize,
    answer: impl Fn(usize, bool) -> Outcome,
) -> (Finding, Vec<usize>, Vec<usize>) {
    let trees = MemoryTrees::default();
    let tree = |position: usize| trees.add(Files::from([(b"n".to_vec(), position.to_string().into_bytes())]));
    let revisions = (0..n).rev().map(|position| Revision {
        id: id(position),
        parents: if position == 0 { Vec::new() } else { vec![id(position - 1)] },
        tree: tree(position),
        author: "a".to_owned(),
        author_time: (0, 0),
        commit_time: 86_400 * i64::try_from(position).unwrap(),
        subject: String::new(),
    });
    let history = History::new(revisions.collect::<Vec<_>>(), HashSet::new());
    let order = HuntWishes { artifacts, until: HuntStage::Commit, ..testing::order(id(n - 1), Vec::new()) };
    let mut store = Store { width, answer, asked: HashSet::new(), fetched: Vec::new(), built: Vec::new() };
    let state = EngineState::new(order.bad);
    let Ok(halt) = drive(Engine::Hunt, &trees, &history, &order, &mut store, &state);
    let Halt::Concluded(conclusion) = &*halt else { panic!("{halt:?}") };
    let finding = Finding { conclusion: *conclusion, ..state.borrow().finding.clone() };
    (finding, store.fetched, store.built)
}

fn outcome(is_fail: bool) -> Outcome {
    if is_fail { Outcome::Fail } else { Outcome::Pass }
}

const ABSENT: Outcome = Outcome::Unresolved(Reason::NoArtifact);

#[test]
fn only_the_range_between_two_artifacts_is_built_and_by_halves() {
    for every in 1..=20 {
        for culprit in [1, 2, 17, 31, 40, 62, 63] {
            let answer = |position: usize, is_fetched: bool| {
                if is_fetched && !(63 - position).is_multiple_of(every) { ABSENT } else { outcome(position >= culprit) }
            };
            let (finding, fetched, built) = hunt(64, Artifacts::BeforeBuilds, 1, answer);
            let what = format!("every {every}, culprit {culprit}: built {built:?}");
            assert_eq!((finding.conclusion, finding.first_bad), (Conclusion::Found, Some(id(culprit))), "{what}");
            // Where the oldest artifact still fails, the revisions before it are built.
            let oldest = 63 - 63 / every * every;
            let range = if culprit > oldest { every } else { oldest + 1 };
            let halvings = range.next_power_of_two().ilog2() as usize;
            // One more compares an artifact with a build, if the two sides are of both kinds.
            let n_compared = usize::from(every > 1);
            let n_gallops = if culprit > oldest { 0 } else { 6 };
            assert!(built.len() <= halvings + n_compared + n_gallops, "{what}");
            assert!(fetched.len() <= 64, "{what}: each is fetched at most once");
            let wide = hunt(64, Artifacts::BeforeBuilds, 7, answer);
            assert_eq!((finding, fetched, built), wide, "{what}");
        }
    }
}

#[test]
fn without_builds_the_commits_between_two_artifacts_are_the_answer() {
    for every in 1..=20 {
        let answer = |position: usize, is_fetched: bool| {
            if is_fetched && (63 - position).is_multiple_of(every) { outcome(position >= 31) } else { ABSENT }
        };
        let (finding, _, built) = hunt(64, Artifacts::Only, 1, answer);
        assert!(built.is_empty(), "every {every}: {built:?}");
        let newer = 63 - (63 - 31) / every * every;
        let expected: Vec<CommitId> = (newer - every + 1..=newer).rev().map(id).collect();
        if every == 1 {
            assert_eq!((finding.conclusion, finding.first_bad), (Conclusion::Found, Some(id(31))));
        } else {
            assert_eq!((finding.conclusion, finding.range), (Conclusion::Range, expected), "every {every}");
        }
    }
}

#[test]
fn after_a_long_stretch_without_artifacts_revisions_are_built() {
    let answer = |position: usize, is_fetched: bool| {
        if is_fetched && position < 2990 { ABSENT } else { outcome(position >= 1000) }
    };
    let (finding, fetched, built) = hunt(3000, Artifacts::BeforeBuilds, 1, answer);
    assert_eq!((finding.conclusion, finding.first_bad), (Conclusion::Found, Some(id(1000))));
    assert!(fetched.len() < 300, "{}", fetched.len());
    assert!(built.len() < 30, "{built:?}");
}

#[test]
fn an_artifact_that_gives_no_verdict_is_built_and_one_that_differs_from_its_build_is_not_mixed_with_builds() {
    // The artifact of one revision crashes.
    let answer = |position: usize, is_fetched: bool| match (position, is_fetched) {
        (9, true) => Outcome::Unresolved(Reason::Signal),
        _ => outcome(position >= 9),
    };
    let (finding, _, built) = hunt(16, Artifacts::BeforeBuilds, 1, answer);
    assert_eq!((finding.conclusion, finding.first_bad), (Conclusion::Found, Some(id(9))));
    assert!(built.contains(&9), "{built:?}");
    // Everything that is built fails.
    let answer = |position: usize, is_fetched: bool| match position % 4 {
        3 if is_fetched => outcome(position >= 9),
        _ if is_fetched => ABSENT,
        _ => Outcome::Fail,
    };
    let (finding, _, _) = hunt(16, Artifacts::BeforeBuilds, 1, answer);
    assert_eq!(finding.conclusion, Conclusion::Range);
    assert_eq!(finding.range, [11, 10, 9, 8].map(id));
    assert!(finding.notes.iter().any(|note| note.contains("revisions that were built are not used")));
}
