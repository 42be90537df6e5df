//! The walk for a noisy test: it does not shrink a bracket, but computes a probability for each place of a line.
//!
//! See [`Belief`] for the method. Both ends of the result are run again as claims (in fresh worktrees, and not counting
//! earlier runs). These runs are added to the belief. The answer stands when they agree with it and its probability is
//! reached.

use crate::hunt::belief::Belief;
use crate::hunt::event::Event;
use crate::hunt::finding::Conclusion;
use crate::hunt::known::Tested;
use crate::hunt::noise::{Noise, Weighing};
use crate::hunt::pair::Pair;
use crate::hunt::probe::{Probe, Question};
use crate::hunt::walk::Bracket;
use crate::hunt::{Halt, Hunter, Noisy};
use crate::outcome::Outcome;
use crate::revision::CommitId;

/// From this probability on, the ends are run as claims: these runs are needed anyway, and have as much information as
/// others.
const WORTH_A_CLAIM: f64 = 0.8;

/// A search among n places ends after log2(n) + 4 times this many runs: then the two rates are too similar.
const MAX_RUNS: u32 = 24;

/// The number of runs of the bad revision that reproduced the failure.
const N_REPRODUCED: u32 = 2;

/// A searched line with its runs.
struct Line {
    /// Newest first.
    revisions: Vec<CommitId>,
    belief: Belief,
    /// Runs of the search, by index.
    n_runs: Vec<u32>,
    /// Indices with a run that passed or failed with the signature.
    tested: Vec<usize>,
    /// Places that their runs as claims have contradicted.
    refuted: Vec<usize>,
}

impl Line {
    fn add(&mut self, index: usize, outcome: Outcome) {
        if outcome.is_testable() {
            self.belief.add(index, outcome == Outcome::Fail);
            if !self.tested.contains(&index) {
                self.tested.push(index);
            }
        }
    }

    fn last(&self) -> usize {
        self.revisions.len() - 1
    }
}

impl Hunter<'_> {
    /// Reports the assumed noise of the test, if it is noisy.
    pub(super) fn expect_noise(&self) {
        if let Some(Noisy { rate, .. }) = self.order.noisy {
            self.tell(Event::Noise { noise: Noise::expected(rate) });
        }
    }

    /// Finds the pair that has the required probability.
    ///
    /// Ends the hunt if all revisions fail, or if the confidence is not reached. If untestable revisions are in the
    /// way, [`bisect`](Self::bisect) does the rest, with verdicts of several runs.
    ///
    /// Cost: in the mean 1.6 to 2.5 times the bound log2(n) / C, n = length of the line, C = capacity of one run in
    /// bits.
    pub(super) async fn likely_pair(&self, noisy: Noisy) -> Result<Pair, Halt> {
        let (revisions, is_bounded) = self.line_to_search()?;
        if revisions.len() < 2 {
            return self.surely_pair().await;
        }
        self.note(
            "runs of one revision disagree, so the first bad commit has a probability, and each verdict rests on several runs"
                .to_owned(),
        );
        let belief = Belief::new(revisions.len(), is_bounded, noisy.rate);
        let n_runs = vec![0; revisions.len()];
        let mut line = Line { revisions, belief, n_runs, tested: Vec::new(), refuted: Vec::new() };
        for _ in 0..N_REPRODUCED {
            self.run_once(&mut line, 0).await?;
        }
        let mut wanted = noisy.confidence.min(WORTH_A_CLAIM);
        for _ in 0..MAX_RUNS * (line.revisions.len().ilog2() + 4) {
            let (places, probability) = line.belief.likeliest();
            if probability < wanted {
                let next = line.belief.next();
                let revision = line.revisions[next];
                self.write_belief(&line);
                self.tell(Event::Weighing { next: revision, likeliest: line.revisions[places.start], probability });
                self.run_once(&mut line, next).await?;
                continue;
            }
            self.write_belief(&line);
            if places.end > line.last() {
                return self.nothing_first(&line, places.start, is_bounded).await;
            }
            let ends = [places.end, places.start];
            if !self.ends_agree(&mut line, ends).await? {
                if line.refuted.contains(&places.start) {
                    break;
                }
                line.refuted.push(places.start);
            } else if line.belief.likeliest().0 == places && line.belief.likeliest().1 >= noisy.confidence {
                return self.pair_of(&line, ends).await;
            }
            wanted = noisy.confidence;
        }
        self.write_belief(&line);
        self.note("the runs of the test do not tell revisions apart with the confidence that is asked for".to_owned());
        Err(Halt::Concluded(Conclusion::NotReproducible))
    }

    /// The walk with one verdict for each revision, if there is no line to compute probabilities for.
    async fn surely_pair(&self) -> Result<Pair, Halt> {
        let bracket = self.bracket().await?;
        self.bisect(bracket).await
    }

    /// The line from the bad revision to the nearest merge base with a revision given as good, or else to the root; and
    /// whether its last revision was given as good.
    fn line_to_search(&self) -> Result<(Vec<CommitId>, bool), Halt> {
        let bad = self.order.bad;
        let lines = self.order.goods.iter().filter_map(|good| {
            let base = self.history.merge_base(bad, *good)?;
            self.history.path(bad, base).filter(|line| line.len() > 1)
        });
        match lines.min_by_key(Vec::len) {
            Some(line) => Ok((self.in_scope(&line)?, true)),
            None => Ok((self.in_scope(&self.history.first_parents(bad))?, false)),
        }
    }

    /// Runs a revision of the line once more. Excludes it if it cannot be tested.
    async fn run_once(&self, line: &mut Line, index: usize) -> Result<(), Halt> {
        let outcome = self.run_of(line.revisions[index], line.n_runs[index]).await?;
        line.n_runs[index] += 1;
        line.add(index, outcome);
        if !outcome.is_testable() && line.n_runs[index] > 1 && !line.tested.contains(&index) {
            line.belief.leave_out(index, &line.tested);
        }
        Ok(())
    }

    /// Runs both ends of a place as claims until each has a verdict. Returns whether these are pass and fail.
    async fn ends_agree(&self, line: &mut Line, ends: [usize; 2]) -> Result<bool, Halt> {
        let noise = line.belief.noise();
        self.tell(Event::Noise { noise });
        let mut agree = true;
        for (index, expected) in ends.into_iter().zip([Outcome::Pass, Outcome::Fail]) {
            let revision = line.revisions[index];
            let bare = self.bare_probe(revision)?;
            let claim = Probe { is_fetched: bare.is_fetched, ..Probe::claim(bare.tree, revision, Question::Test) };
            let mut weighing = Weighing::new(noise);
            let mut run = 0;
            let verdict = loop {
                let outcome = self.asker.one(Probe { run: Some(run), ..claim }).await;
                run += 1;
                line.add(index, outcome);
                weighing.add(outcome);
                if let Some(verdict) = weighing.verdict() {
                    break verdict;
                }
            };
            agree &= verdict == expected;
        }
        Ok(agree)
    }

    /// The conclusion if no place of the line fits: all of it fails, or its older part cannot be tested.
    async fn nothing_first(&self, line: &Line, place: usize, is_bounded: bool) -> Result<Pair, Halt> {
        let last = line.last();
        if place < last {
            return self.surely_pair().await;
        }
        if is_bounded {
            self.board.borrow_mut().finding.last_good = Some(line.revisions[last]);
            return Err(Halt::Concluded(Conclusion::GoodFails));
        }
        self.never_passed(&line.revisions, last).await?;
        Err(Halt::Concluded(Conclusion::NeverPassed))
    }

    /// The pair of two indices of the line. Untestable revisions between them are repaired.
    async fn pair_of(&self, line: &Line, [older, newer]: [usize; 2]) -> Result<Pair, Halt> {
        self.write_belief(line);
        let tested = |index: usize, outcome| {
            let revision = line.revisions[index];
            let Probe { tree, is_fetched, .. } = self.bare_probe(revision)?;
            Ok::<_, Halt>(self.record(Tested { revision, tree, outcome, repair: None, is_fetched }))
        };
        let good = tested(older, Outcome::Pass)?;
        let bad = tested(newer, Outcome::Fail)?;
        self.bisect(Bracket { line: line.revisions[newer..=older].to_vec(), bad, good }).await
    }

    /// Records the most likely places so far.
    fn write_belief(&self, line: &Line) {
        /// The culprit is one of the named candidates, except with this probability.
        const REST: f64 = 0.05;
        let places = line.belief.interval(REST);
        let (_, probability) = line.belief.likeliest();
        let finding = &mut self.board.borrow_mut().finding;
        finding.confidence = Some(probability);
        finding.noise = Some(line.belief.noise());
        finding.last_good = line.revisions.get(places.end).copied();
        finding.range = line.revisions[places.start..places.end.min(line.last())].to_vec();
    }
}

#[cfg(test)]
mod tests {
    use crate::hunt::drive::{Engine, ProbeRunner, Reply, drive};
    use crate::hunt::event::Event;
    use crate::hunt::finding::{Conclusion, Finding, Stage};
    use crate::hunt::history::History;
    use crate::hunt::noise::{Noise, Weighing};
    use crate::hunt::probe::Probe;
    use crate::hunt::testing::{Files, MemoryTrees, order};
    use crate::hunt::{Board, Halt, Noisy};
    use crate::outcome::{Outcome, Reason};
    use crate::revision::{CommitId, Revision};
    use std::collections::{HashMap, HashSet};
    use std::convert::Infallible;

    const N_REVISIONS: u8 = 20;

    fn id(position: u8) -> CommitId {
        CommitId::sha1([position; 20])
    }

    /// Answers each run by the position of its revision and the number of runs so far, and records it.
    struct Runs<R> {
        run: R,
        known: HashMap<Probe, Outcome>,
        noise: Option<Noise>,
    }

    impl<R: Fn(u8, usize) -> Outcome> ProbeRunner for Runs<R> {
        type Error = Infallible;

        fn width(&self) -> usize {
            1
        }

        fn answer(&mut self, probes: &[Probe]) -> Result<Reply, Infallible> {
            let mut weighing = self.noise.map(Weighing::new);
            for nth in probes[0].run.unwrap_or_default().. {
                let probe = Probe { run: Some(nth), ..probes[0] };
                let n_runs = self.known.len();
                let outcome =
                    *self.known.entry(probe).or_insert_with(|| (self.run)(probe.revision.0.as_bytes()[0], n_runs));
                let verdict = match &mut weighing {
                    Some(weighing) if probes[0].run.is_none() => {
                        weighing.add(outcome);
                        weighing.verdict()
                    }
                    _ => Some(outcome),
                };
                if let Some(verdict) = verdict {
                    return Ok(Reply::Outcomes(vec![verdict]));
                }
            }
            unreachable!("runs are numbered without an end")
        }

        fn used(&mut self, _: &[Probe], _: &[Outcome]) -> Result<(), Infallible> {
            Ok(())
        }

        fn tell(&mut self, events: &[Event]) {
            for event in events {
                if let Event::Noise { noise } = event {
                    self.noise = Some(*noise);
                }
            }
        }
    }

    /// Hunts for the commit with a noisy test; returns the finding and the number of runs.
    fn hunt(goods: Vec<CommitId>, run: impl Fn(u8, usize) -> Outcome) -> (Conclusion, Finding, usize) {
        let trees = MemoryTrees::default();
        let tree = |position: u8| trees.add(Files::from([(b"n".to_vec(), vec![position])]));
        let revisions = (0..N_REVISIONS).rev().map(|position| Revision {
            id: id(position),
            parents: if position == 0 { Vec::new() } else { vec![id(position - 1)] },
            tree: tree(position),
            author: "a".to_owned(),
            author_time: (0, 0),
            commit_time: 86_400 * i64::from(position),
            subject: String::new(),
        });
        let history = History::new(revisions.collect(), HashSet::new());
        let mut order = order(id(N_REVISIONS - 1), goods);
        order.until = Stage::Commit;
        order.noisy = Some(Noisy { rate: None, confidence: 0.95 });
        order.is_clean = true;
        let mut runs = Runs { run, known: HashMap::new(), noise: None };
        let board = Board::new(order.bad);
        let Ok(halt) = drive(Engine::Hunt, (&trees, &history, &order), &mut runs, &board);
        let Halt::Concluded(conclusion) = &*halt else { panic!("{halt:?}") };
        (*conclusion, board.borrow().finding.clone(), runs.known.len())
    }

    fn outcome(is_fail: bool) -> Outcome {
        if is_fail { Outcome::Fail } else { Outcome::Pass }
    }

    #[test]
    fn the_first_bad_commit_is_found_where_every_fifth_run_of_a_good_one_fails() {
        for culprit in [1, 7, 18] {
            for goods in [vec![], vec![id(0)]] {
                let run = |position, n_runs| outcome(position >= culprit || n_runs % 5 == 2);
                let (conclusion, finding, n_runs) = hunt(goods, run);
                assert_eq!((conclusion, finding.first_bad), (Conclusion::Found, Some(id(culprit))));
                assert!(finding.confidence.unwrap() >= 0.95);
                assert!(n_runs < 60, "{n_runs}");
            }
        }
    }

    #[test]
    fn the_commit_that_made_a_test_flaky_is_found() {
        let run = |position, n_runs| outcome(position >= 9 && n_runs % 2 == 0);
        let (conclusion, finding, _) = hunt(vec![id(0)], run);
        assert_eq!((conclusion, finding.first_bad), (Conclusion::Found, Some(id(9))));
        assert!(finding.noise.unwrap().false_passes > 0.2, "{:?}", finding.noise);
    }

    #[test]
    fn revisions_that_cannot_be_tested_are_jumped_over_as_a_stretch() {
        let run = |position, n_runs| match position {
            5..15 => Outcome::Unresolved(Reason::Build),
            _ => outcome(position >= 3 || n_runs % 7 == 3),
        };
        let (conclusion, finding, n_runs) = hunt(vec![id(0)], run);
        assert_eq!((conclusion, finding.first_bad), (Conclusion::Found, Some(id(3))));
        assert!(n_runs < 60, "{n_runs}");
    }

    #[test]
    fn a_failure_everywhere_names_no_commit() {
        let run = |_, n_runs| outcome(n_runs % 4 != 1);
        assert_eq!(hunt(vec![], run).0, Conclusion::NeverPassed);
        assert_eq!(hunt(vec![id(0)], run).0, Conclusion::GoodFails);
    }

    #[test]
    fn a_test_that_fails_by_turns_names_no_commit() {
        let (conclusion, finding, _) = hunt(vec![], |_, n_runs| outcome(n_runs % 2 == 0));
        assert!(matches!(conclusion, Conclusion::NotReproducible | Conclusion::NeverPassed), "{conclusion:?}");
        assert_eq!(finding.first_bad, None);
    }
}
