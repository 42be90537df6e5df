//! The walk for a noisy test: it does not shrink a bracket, but computes a probability for each place of a line.
//!
//! See [`Belief`] for the method. Both ends of the result are run again as claims (in fresh worktrees, and not counting
//! earlier runs). These runs are added to the belief. The answer stands when they agree with it and its probability is
//! reached. If the rates of the belief do not explain the runs (see [`fit`]), its probability is worth nothing: then the
//! answer has no confidence, and stands when the commits on both sides of it are told apart by their own runs.

use crate::belief::Belief;
use crate::finding::Conclusion;
use crate::fit::{self, EndNeighbours, Separation};
use crate::pair::{Bracket, TreePair};
use crate::{Event, Halt, Hunter, Noise, Noisy, Probe, ProbeQuestion, TestedRevision, Weighing};
use idd_base::{CommitId, Outcome};
use std::ops::Range;

/// From this probability on, the ends are run as claims: these runs are needed anyway, and have as much information as
/// others.
const WORTH_A_CLAIM: f64 = 0.8;

/// A search among n places ends after log2(n) + 4 times this many runs: then the two rates are too similar.
const MAX_RUNS: u32 = 24;

/// The culprit is one of the named candidates, except with this probability.
const REST: f64 = 0.05;

/// The number of runs of the bad revision that reproduced the failure.
const N_REPRODUCED: u32 = 2;

/// A searched line with its runs.
struct SearchedLine {
    /// Newest first.
    revisions: Vec<CommitId>,
    belief: Belief,
    /// The rate that the user gave.
    rate: Option<f64>,
    /// Runs of the search, by index; and those as claims.
    n_runs: Vec<u32>,
    n_claims: Vec<u32>,
    /// Indices with a run that passed or failed with the signature.
    tested: Vec<usize>,
    /// Places that their runs as claims have contradicted, or whose neighbours were not told apart.
    refuted: Vec<usize>,
}

impl SearchedLine {
    fn add(&mut self, index: usize, outcome: Outcome) {
        if outcome.is_testable() {
            self.belief.add(index, outcome == Outcome::Fail);
            if !self.tested.contains(&index) {
                self.tested.push(index);
            }
        }
    }

    fn is_fitting(&self, place: usize) -> bool {
        fit::is_fitting(self.belief.noise(), self.belief.sides(place), self.rate)
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
    /// Ends the hunt if all revisions fail, or with a range if no place stands twice. If untestable revisions are in
    /// the way, [`bisect`](Self::bisect) does the rest, with verdicts of several runs.
    ///
    /// Cost: in the mean 2 to 3 times the bound log2(n) / C, n = length of the line, C = capacity of one run in bits.
    /// At most 160 runs more for each place that is likely but does not fit.
    pub(super) async fn likely_pair(&self, noisy: Noisy) -> Result<TreePair, Halt> {
        let (revisions, is_bounded) = self.line_to_search()?;
        if revisions.len() < 2 {
            return self.surely_pair().await;
        }
        self.note(
            "runs of one revision disagree, so the first bad commit has a probability, and each verdict rests on several runs"
                .to_owned(),
        );
        let belief = Belief::new(revisions.len(), is_bounded, noisy.rate);
        let (n_runs, n_claims) = (vec![0; revisions.len()], vec![0; revisions.len()]);
        let mut line = SearchedLine {
            revisions,
            belief,
            rate: noisy.rate,
            n_runs,
            n_claims,
            tested: Vec::new(),
            refuted: Vec::new(),
        };
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
            let is_right = if line.is_fitting(places.start) {
                self.ends_agree(&mut line, ends).await?
            } else if probability < noisy.confidence {
                true
            } else if let Some(noise) = self.told_apart(&mut line, ends).await? {
                return self.pair_without_confidence(&line, ends, noise).await;
            } else {
                false
            };
            wanted = noisy.confidence;
            if !is_right {
                if line.refuted.contains(&places.start) {
                    break;
                }
                line.refuted.push(places.start);
                continue;
            }
            let (likeliest, probability) = line.belief.likeliest();
            if likeliest == places && probability >= wanted && line.is_fitting(places.start) {
                self.write_belief(&line);
                return self.pair_of(&line, ends).await;
            }
        }
        Err(Halt::Concluded(self.left_open(&line)))
    }

    /// Records the places that the runs leave open, without a confidence. If these are all, the test is not
    /// reproducible.
    fn left_open(&self, line: &SearchedLine) -> Conclusion {
        let place = line.belief.likeliest().0.start;
        let (open, likely) = (fit::open_places(line.belief.sides(place)), line.belief.interval(REST));
        self.write_places(line, open.start.min(likely.start)..open.end.max(likely.end));
        self.note("the runs of the test do not tell revisions apart with the confidence that is asked for".to_owned());
        let finding = &mut self.state.borrow_mut().finding;
        finding.confidence = None;
        let is_range = (2..line.last()).contains(&finding.range.len());
        if is_range { Conclusion::Range } else { Conclusion::NotReproducible }
    }

    /// The walk with one verdict for each revision, if there is no line to compute probabilities for.
    async fn surely_pair(&self) -> Result<TreePair, Halt> {
        let bracket = self.bracket().await?;
        self.bisect(bracket).await
    }

    /// The line from the bad revision to the nearest merge base with a revision given as good, or else to the root; and
    /// whether its last revision was given as good.
    fn line_to_search(&self) -> Result<(Vec<CommitId>, bool), Halt> {
        let bad = self.order.bad;
        let lines =
            self.order.goods.iter().filter_map(|good| self.line_towards(bad, *good).filter(|line| line.len() > 1));
        match lines.min_by_key(Vec::len) {
            Some(line) => Ok((self.in_scope(line)?, true)),
            None => Ok((self.in_scope(self.history.first_parents(bad))?, false)),
        }
    }

    /// Runs a revision of the line once more. Excludes it if it cannot be tested.
    async fn run_once(&self, line: &mut SearchedLine, index: usize) -> Result<(), Halt> {
        let outcome = self.run_of(line.revisions[index], line.n_runs[index]).await?;
        line.n_runs[index] += 1;
        line.add(index, outcome);
        if !outcome.is_testable() && line.n_runs[index] > 1 && !line.tested.contains(&index) {
            line.belief.leave_out(index, &line.tested);
        }
        Ok(())
    }

    /// Runs both ends of a place as claims until each has a verdict. Returns whether these are pass and fail.
    async fn ends_agree(&self, line: &mut SearchedLine, ends: [usize; 2]) -> Result<bool, Halt> {
        let noise = line.belief.noise();
        self.tell(Event::Noise { noise });
        let mut agree = true;
        for (index, expected) in ends.into_iter().zip([Outcome::Pass, Outcome::Fail]) {
            let mut weighing = Weighing::of_end(noise);
            let verdict = loop {
                weighing.add(self.run_as_claim(line, index).await?);
                if let Some(verdict) = weighing.verdict() {
                    break verdict;
                }
            };
            agree &= verdict == expected;
        }
        Ok(agree)
    }

    /// Runs a revision of the line once more in a fresh worktree.
    async fn run_as_claim(&self, line: &mut SearchedLine, index: usize) -> Result<Outcome, Halt> {
        let revision = line.revisions[index];
        let Probe { tree, is_fetched, .. } = self.bare_probe(revision)?;
        let run = Some(line.n_claims[index]);
        let claim = Probe { is_fetched, run, ..Probe::claim(tree, revision, ProbeQuestion::Test) };
        let outcome = self.asker.one(claim).await;
        line.n_claims[index] += 1;
        line.add(index, outcome);
        Ok(outcome)
    }

    /// Runs the two commits on each side of the named one, where the rates of the whole line say nothing. Returns
    /// their own rates if these tell them apart. A neighbour that cannot be tested is left out.
    async fn told_apart(&self, line: &mut SearchedLine, [older, newer]: [usize; 2]) -> Result<Option<Noise>, Halt> {
        let goods = older..(older + 2).min(line.revisions.len());
        let mut neighbours = EndNeighbours::new(newer.saturating_sub(1)..newer + 1, goods);
        loop {
            let [with, _] = line.belief.sides(newer);
            match neighbours.told(&with[..newer.saturating_sub(1)]) {
                Separation::Apart(noise) => return Ok(Some(noise)),
                Separation::Alike => return Ok(None),
                Separation::Open(next) => {
                    for index in next {
                        match self.run_as_claim(line, index).await? {
                            Outcome::Unresolved(_) => neighbours.leave_out(index),
                            outcome => neighbours.add(index, outcome == Outcome::Fail),
                        }
                    }
                }
            }
        }
    }

    /// The pair of two indices of the line, shown by their own runs, with these rates.
    async fn pair_without_confidence(
        &self,
        line: &SearchedLine,
        ends: [usize; 2],
        noise: Noise,
    ) -> Result<TreePair, Halt> {
        self.tell(Event::Noise { noise });
        self.note(
            "the error rates are not the same in the whole history, or too high, so no confidence is given; the two commits \
             on each side of the named one were run until they were told apart"
                .to_owned(),
        );
        {
            let finding = &mut self.state.borrow_mut().finding;
            (finding.confidence, finding.noise) = (None, Some(noise));
        }
        self.pair_of(line, ends).await
    }

    /// The conclusion if no place of the line fits: all of it fails, or its older part cannot be tested.
    async fn nothing_first(&self, line: &SearchedLine, place: usize, is_bounded: bool) -> Result<TreePair, Halt> {
        let last = line.last();
        if place < last {
            return self.surely_pair().await;
        }
        if is_bounded {
            self.state.borrow_mut().finding.last_good = Some(line.revisions[last]);
            return Err(Halt::Concluded(Conclusion::GoodFails));
        }
        self.never_passed(&line.revisions, last).await?;
        Err(Halt::Concluded(Conclusion::NeverPassed))
    }

    /// The pair of two indices of the line. Untestable revisions between them are repaired.
    async fn pair_of(&self, line: &SearchedLine, [older, newer]: [usize; 2]) -> Result<TreePair, Halt> {
        let tested = |index: usize, outcome| {
            let revision = line.revisions[index];
            let Probe { tree, is_fetched, .. } = self.bare_probe(revision)?;
            Ok::<_, Halt>(self.record(TestedRevision { revision, tree, outcome, repair: None, is_fetched }))
        };
        let good = tested(older, Outcome::Pass)?;
        let bad = tested(newer, Outcome::Fail)?;
        self.bisect(Bracket { line: line.revisions[newer..=older].to_vec(), bad, good }).await
    }

    /// Records the most likely places so far, and their probability.
    fn write_belief(&self, line: &SearchedLine) {
        self.write_places(line, line.belief.interval(REST));
        self.state.borrow_mut().finding.confidence = Some(line.belief.likeliest().1);
    }

    fn write_places(&self, line: &SearchedLine, places: Range<usize>) {
        let finding = &mut self.state.borrow_mut().finding;
        finding.noise = Some(line.belief.noise());
        finding.last_good = line.revisions.get(places.end).copied();
        finding.range = line.revisions[places.start..places.end.min(line.last())].to_vec();
    }
}

#[cfg(test)]
mod tests {
    use crate::drive::{Engine, ProbeRunner, RunnerReply, drive};
    use crate::finding::{Conclusion, Finding};
    use crate::testing::{Files, MemoryTrees, order};
    use crate::{EngineState, Event, Halt, History, Noise, Noisy, Probe, Weighing};
    use idd_base::{CommitId, HuntStage, Outcome, Reason, Revision};
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

        fn answer(&mut self, probes: &[Probe]) -> Result<RunnerReply, Infallible> {
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
                    return Ok(RunnerReply::Outcomes(vec![verdict]));
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

    fn hunt(goods: Vec<CommitId>, run: impl Fn(u8, usize) -> Outcome) -> (Conclusion, Finding, usize) {
        hunt_with(None, goods, run)
    }

    /// Hunts for the commit with a noisy test; returns the finding and the number of runs.
    fn hunt_with(
        rate: Option<f64>,
        goods: Vec<CommitId>,
        run: impl Fn(u8, usize) -> Outcome,
    ) -> (Conclusion, Finding, usize) {
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
        let history = History::new(revisions.collect::<Vec<_>>(), HashSet::new());
        let mut order = order(id(N_REVISIONS - 1), goods);
        order.until = HuntStage::Commit;
        order.noisy = Some(Noisy { rate, confidence: 0.95 });
        order.is_clean = true;
        let mut runs = Runs { run, known: HashMap::new(), noise: None };
        let state = EngineState::new(order.bad);
        let Ok(halt) = drive(Engine::Hunt, &trees, &history, &order, &mut runs, &state);
        let Halt::Concluded(conclusion) = &*halt else { panic!("{halt:?}") };
        (*conclusion, state.borrow().finding.clone(), runs.known.len())
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

    /// A number below 1000 that depends on all of `seed`.
    fn chance(seed: usize) -> usize {
        let mixed = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as usize % 1000
    }

    #[test]
    fn noise_in_the_middle_third_alone_ends_with_the_commit_or_a_range() {
        let (mut n_wrong, mut n_ranges) = (0, 0);
        for seed in 0..60 {
            let culprit = 7 + u8::try_from(seed % 6).unwrap();
            let run = |position, n_runs| {
                let is_wrong = (7..13).contains(&position) && chance(1000 * seed + n_runs) < 300;
                outcome((position >= culprit) != is_wrong)
            };
            let (conclusion, finding, n_runs) = hunt(if seed < 30 { vec![id(0)] } else { vec![] }, run);
            match conclusion {
                Conclusion::Found => n_wrong += usize::from(finding.first_bad != Some(id(culprit))),
                Conclusion::Range => {
                    assert!(finding.range.contains(&id(culprit)), "{seed}");
                    assert_eq!((finding.confidence, finding.first_bad), (None, None));
                    n_ranges += 1;
                }
                conclusion => assert_eq!(conclusion, Conclusion::NotReproducible),
            }
            assert!(n_runs < 500, "{n_runs}");
        }
        assert!(n_wrong < 2 && n_ranges < 30, "{n_wrong} {n_ranges}");
    }

    #[test]
    fn the_commit_that_made_a_test_flaky_is_found() {
        let run = |position, n_runs| outcome(position >= 9 && chance(n_runs) < 400);
        let (conclusion, finding, _) = hunt(vec![id(0)], run);
        assert_eq!((conclusion, finding.first_bad), (Conclusion::Found, Some(id(9))));
        assert!(finding.noise.unwrap().false_passes > 0.2, "{:?}", finding.noise);
        assert_eq!(finding.confidence, None);
        assert!(finding.notes.iter().any(|note| note.contains("no confidence is given")), "{:?}", finding.notes);
    }

    #[test]
    fn a_given_rate_of_passes_above_one_half_is_plausible() {
        let run = |position, n_runs| outcome(position >= 9 && chance(n_runs) < 300);
        let (conclusion, finding, n_runs) = hunt_with(Some(0.7), vec![id(0)], run);
        assert_eq!((conclusion, finding.first_bad), (Conclusion::Found, Some(id(9))));
        assert!(finding.confidence.unwrap() >= 0.95 && n_runs < 120, "{n_runs}");
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
        let ends = [Conclusion::NotReproducible, Conclusion::NeverPassed, Conclusion::Range];
        assert!(ends.contains(&conclusion), "{conclusion:?}");
        assert_eq!(finding.first_bad, None);
    }
}
