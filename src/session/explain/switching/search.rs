//! The search for decisions that change what the program does: each is switched in a fork of it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::Failure;
use crate::explain::forks::{self, ForkServer};
use crate::explain::model::{Explainer, interrupted};
use crate::explain::parking::ForkedRun;
use idd_base::count;
use idd_explain::failure::RunEnding;
use idd_explain::native::decisions::Decisions;
use idd_explain::switch::order;
use idd_trace::{Run, Step};
use idd_world::process::CommandWatch as _;
use idd_world::record::control::{ForkReply, ForkTest, SegmentInstance, TestEnding, TurnedDecision};

/// A switched run may have so many times as many segments as the failing one, and so many more: that one may have ended early.
const SWITCHED_PATIENCE: (u64, u64) = (4, 200_000);

/// What is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SwitchTry {
    /// Which of the decisions it is, as they were made: a condition that calls a function is decided after what is decided in there, but its step is the earlier one.
    pub(super) nth: usize,
    pub(super) step: Step,
    pub(super) turn: TurnedDecision,
    /// Whether it decides whether a loop repeats, or about input that was just read.
    pub(super) is_accident: bool,
}

/// What can be seen of a run: how it ended, and a digest of what it said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct RunDigest {
    code: u32,
    digest: u64,
}

impl RunDigest {
    /// `None` of a run that did not come to an end by itself.
    pub(super) fn of(ended: TestEnding, output: &[u8]) -> Option<Self> {
        let TestEnding::Exit(code) = ended else { return None };
        let mut hasher = DefaultHasher::new();
        output.hash(&mut hasher);
        Some(Self { code, digest: hasher.finish() })
    }
}

/// Something new that the program does, and the decisions each of which makes it do so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NewBehaviour {
    pub(super) seen: RunDigest,
    /// As they were made.
    pub(super) tries: Vec<SwitchTry>,
}

impl NewBehaviour {
    /// The decision that stands for all of them: the first that is no accident, else the first.
    pub(super) fn first(&self) -> SwitchTry {
        let first = self.tries.iter().find(|next| !next.is_accident);
        *first.unwrap_or(&self.tries[0])
    }
}

/// The search for a decision.
pub(in crate::explain) struct DecisionSearch {
    /// What is switched, in this order.
    pub(super) queue: Vec<SwitchTry>,
    pub(super) n_decisions: usize,
    /// Whether that is all that can be switched.
    is_whole: bool,
    /// The index of the decision or call because of which the statement runs that crashes.
    pub(super) context: Option<u64>,
    /// What can be seen of the failing run.
    failing: Option<RunDigest>,
    /// Segments that a fork may run.
    patience: u64,
    /// Decisions that were switched in forks, and runs of the test.
    pub(super) n_tried: (usize, usize),
}

impl DecisionSearch {
    /// Finds out what can be switched in the failing run.
    pub(super) fn new(mut fork: ForkedRun, budget: usize) -> Result<Self, Failure> {
        let run = Run::read(&mut fork.player)?;
        let decisions = Decisions::read(&mut fork.player)?;
        let mut failing = vec![Step(run.n_steps())];
        if matches!(fork.ending, RunEnding::Exit(_)) {
            // Any of the things that it said may be the wrong one.
            failing.extend(run.said.iter().map(|said| said.step));
        }
        let decider = run.deciders[run.n_steps() as usize];
        let context =
            (matches!(fork.ending, RunEnding::Signal(_)) && decider != 0).then(|| run.indices[decider as usize]);
        let steps: Vec<Step> = decisions.all.iter().map(|decision| decision.step).collect();
        let ordered = order(&steps, &decisions.dependences, &failing, budget);
        let queue = ordered.into_iter().flat_map(|index| {
            let decision = &decisions.all[index];
            let at = SegmentInstance { segment: decision.segment, n: decision.n };
            decision.cases.iter().map(move |case| SwitchTry {
                nth: index,
                step: decision.step,
                turn: TurnedDecision { at, case: *case, choice: decision.choice },
                is_accident: decision.is_repeating || decision.has_input,
            })
        });
        let mut queue: Vec<SwitchTry> = queue.collect();
        let is_whole = queue.len() <= budget;
        queue.truncate(budget);
        Ok(Self {
            queue,
            is_whole,
            n_decisions: steps.len(),
            context,
            failing: RunDigest::of(fork.reply.ended, &fork.reply.output),
            patience: run.n_records.saturating_mul(SWITCHED_PATIENCE.0).saturating_add(SWITCHED_PATIENCE.1),
            n_tried: (0, 0),
        })
    }

    pub(super) fn test(&self, turn: TurnedDecision) -> ForkTest {
        ForkTest { switch: Some(turn), is_traced: false, ..forks::whole(self.patience, forks::FORK_LIMIT) }
    }

    /// Switches decisions in forks; returns the new things that the program does, in the order of their [first](NewBehaviour::first) decisions.
    ///
    /// Cost: as many forks as decisions are tried.
    pub(super) fn promising(
        &mut self,
        server: &mut ForkServer,
        explainer: &Explainer<'_>,
    ) -> Result<Vec<NewBehaviour>, Failure> {
        let mut found: HashMap<RunDigest, Vec<SwitchTry>> = HashMap::new();
        for next in &self.queue {
            if explainer.interrupt.is_interrupted() {
                return Err(interrupted());
            }
            let ForkReply { ended, output, .. } = server.start().test(&self.test(next.turn))?;
            self.n_tried.0 += 1;
            if let Some(seen) = RunDigest::of(ended, &output).filter(|seen| Some(*seen) != self.failing) {
                found.entry(seen).or_default().push(*next);
            }
        }
        let order = |next: &SwitchTry| (next.nth, next.turn.case);
        let group = |(seen, mut tries): (RunDigest, Vec<SwitchTry>)| {
            tries.sort_by_key(order);
            NewBehaviour { seen, tries }
        };
        let mut found: Vec<NewBehaviour> = found.into_iter().map(group).collect();
        found.sort_by_key(|group| order(&group.first()));
        Ok(found)
    }
}

pub(in crate::explain) fn none_passes(search: &DecisionSearch) -> Failure {
    let (n_forks, n_runs) = search.n_tried;
    let message = format!(
        "no decision makes the test pass when it is switched (switched: {n_forks}, runs of the test: {n_runs})"
    );
    let failure = Failure::error(message);
    if search.is_whole {
        failure.with_hint("all decisions were tried; name a version that passes with `--good`")
    } else {
        failure.with_hint(format!(
            "the run makes {}; a larger `--switch-budget` tries more of them",
            count(search.n_decisions, "decision")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use idd_trace::native::stored::{lines, player};

    /// The search in a stored run, and the line of each decision that it tries.
    fn search(program: &str, ending: RunEnding, budget: usize) -> (DecisionSearch, Vec<u32>) {
        let reply = ForkReply {
            ended: TestEnding::Exit(1),
            n_segments: 0,
            output: b"x".to_vec(),
            dumps: Vec::new(),
            records: Vec::new(),
        };
        let fork = ForkedRun { player: player(program, "bad"), ending, reply, n_bytes: 0 };
        let search = DecisionSearch::new(fork, budget).unwrap();
        let lines = lines(&mut player(program, "bad"));
        let tried = search.queue.iter().map(|next| lines[next.step.0 as usize]).collect();
        (search, tried)
    }

    #[test]
    fn every_decision_that_the_output_depends_on_is_tried_nearest_first() {
        let (search, lines) = search("returns", RunEnding::Exit(0), 100);
        assert!(search.is_whole);
        assert_eq!(search.context, None);
        // The decision of `may_climb` in the second call decides about that of `main`.
        assert!(lines.contains(&11) && lines.contains(&25), "{lines:?}");
        let numbers: Vec<usize> = search.queue.iter().map(|next| next.nth).collect();
        assert!(numbers.iter().all(|nth| *nth < search.n_decisions));
        assert!(search.patience > SWITCHED_PATIENCE.1);
    }

    #[test]
    fn a_budget_cuts_the_queue_and_the_advice_says_so() {
        let (whole, _) = search("list", RunEnding::Exit(0), 1000);
        let n = whole.queue.len();
        assert!(n >= 4, "{n}");
        let hint =
            |search: &DecisionSearch| String::from_utf8(none_passes(search).hint.unwrap().as_bytes().to_vec()).unwrap();
        assert!(hint(&whole).starts_with("all decisions were tried"));
        let (mut cut, _) = search("list", RunEnding::Exit(0), 2);
        assert_eq!((cut.queue.len(), cut.is_whole, cut.n_decisions), (2, false, whole.n_decisions));
        assert!(hint(&cut).starts_with(&format!("the run makes {n} decisions; ")), "{}", hint(&cut));
        cut.n_tried = (7, 2);
        let message = "no decision makes the test pass when it is switched (switched: 7, runs of the test: 2)";
        assert_eq!(none_passes(&cut).message, message.into());
    }

    #[test]
    fn a_crash_has_the_call_around_it_as_its_context() {
        let (search, _) = search("crash", RunEnding::Signal(11), 10);
        let run = Run::read(&mut player("crash", "bad")).unwrap();
        let decider = run.deciders[run.n_steps() as usize];
        assert_ne!(decider, 0);
        assert_eq!(search.context, Some(run.indices[decider as usize]));
    }

    #[test]
    fn only_a_run_that_ended_by_itself_is_something_to_see() {
        let seen = |ended, output: &[u8]| RunDigest::of(ended, output);
        let one = seen(TestEnding::Exit(0), b"a");
        assert!(one.is_some());
        assert_eq!(one, seen(TestEnding::Exit(0), b"a"));
        assert_ne!(one, seen(TestEnding::Exit(0), b"b"));
        assert_ne!(one, seen(TestEnding::Exit(1), b"a"));
        assert_eq!(seen(TestEnding::Signal(11), b"a"), None);
    }
}
