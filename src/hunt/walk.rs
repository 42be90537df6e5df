//! The walk: gallop back until a revision passes, then bisect down to a pair.
//!
//! A *line* is a list of revisions, newest first, each a parent of the one before. The bad end has index 0. Any line
//! from a failing revision to a passing one contains a pair of neighbours that pass and fail. So a search on one line
//! is right for every graph; side branches are entered later (see [`crate::culprit`]).

use crate::artifacts::Gallop;
use crate::finding::Conclusion;
use crate::pair::{Bracket, TreePair};
use crate::verdict::Examined;
use crate::{Again, Artifacts, Event, Halt, Hunter, Phase, Probe, TestedRevision, WalkPosition};
use idd_base::{CommitId, Outcome, Reason, count};

/// The distances of a gallop: the first one, and the factor from each to the next.
///
/// Deviation from the doubling of Bentley and Yao's unbounded search: for a culprit that is anywhere in the last 16 to 64
/// commits, the gallop and the bisection behind it take a fifth of the tests less; in the last 4, a tenth more.
pub(crate) const GALLOP: (usize, usize) = (4, 4);

/// A revision that is given as good is tested after this many failures without a pass.
const MAX_FAILURES: usize = 2;

impl Hunter<'_> {
    /// The bad revision as it was tested. Ends the hunt if it does not fail.
    pub(super) async fn failing_bad(&self) -> Result<TestedRevision, Halt> {
        let bad = self.as_tested(self.order.bad).await?;
        match bad.outcome {
            Outcome::Fail => Ok(bad),
            Outcome::Pass => Err(Halt::Concluded(Conclusion::BadPasses)),
            Outcome::Unresolved(_) => Err(Halt::Concluded(Conclusion::NothingTestable)),
        }
    }

    /// Finds a line from the bad revision to a passing one.
    ///
    /// Ends the hunt if a revision given as good fails, or if nothing passes.
    pub(super) async fn bracket(&self) -> Result<Bracket, Halt> {
        let bad = self.failing_bad().await?;
        let mut best: Option<Bracket> = None;
        for good in &self.order.goods {
            if let Some(bracket) = self.bracket_from(*good, bad).await?
                && best.as_ref().is_none_or(|known| bracket.line.len() < known.line.len())
            {
                best = Some(bracket);
            }
        }
        match best {
            Some(bracket) => Ok(bracket),
            None => match self.gallop_fetched(bad).await? {
                Gallop::Bracket(bracket) => Ok(bracket),
                Gallop::Until(near) => self.gallop(bad, near).await,
            },
        }
    }

    /// The line to a revision that was given as good, verified. `None` if it cannot bound the search.
    async fn bracket_from(&self, good: CommitId, bad: TestedRevision) -> Result<Option<Bracket>, Halt> {
        let line = self.line_towards(bad.revision, good);
        let base = line.as_ref().and_then(|line| line.last().copied());
        let mut line = line.map(|line| self.in_scope(line)).transpose()?;
        let mut bad = bad;
        if let Some(line) = line.as_mut().filter(|line| line.len() > 1 && base == Some(good)) {
            if self.order.goods.len() == 1
                && let Some(bracket) = self.bracket_before(line, &mut bad).await?
            {
                return Ok(Some(bracket));
            }
            self.look_ahead(line, WalkPosition::Verify { good: line.len() - 1 });
        }
        let tested = self.as_tested(good).await?;
        if tested.outcome == Outcome::Fail && tested.repair.is_none() {
            self.check(&[tested]).await?;
            self.state.borrow_mut().finding.last_good = Some(good);
            return Err(Halt::Concluded(Conclusion::GoodFails));
        }
        if tested.outcome == Outcome::Unresolved(Reason::NoArtifact) {
            self.note(format!("{} was given as good, but has no artifact; another revision is searched", good.short()));
        }
        let Some(base) = base else {
            self.note("a revision given as good shares no history with the bad one and is ignored".to_owned());
            return Ok(None);
        };
        if base != good {
            self.note(
                "a revision given as good is not an ancestor of the bad one; their merge base is tested instead"
                    .to_owned(),
            );
        }
        let Some(line) = line else { return Ok(None) };
        let last = line.len() - 1;
        if last == 0 {
            return Ok(None);
        }
        let mut near = 0;
        let examined = loop {
            match self.examine(&line, last, near).await? {
                Examined::Verdict { index, tested, .. } if tested.outcome == Outcome::Fail && index < last => {
                    near = index;
                }
                examined => break examined,
            }
        };
        match examined {
            Examined::Verdict { index, tested, .. } if tested.outcome == Outcome::Pass => {
                Ok(Some(Bracket { line: line[..=index].to_vec(), bad, good: tested }))
            }
            // A repair can bring the failure along.
            Examined::Verdict { tested, .. } if tested.repair.is_none() => {
                self.note(
                    "the merge base with a revision given as good fails too: the failure was fixed on the other branch"
                        .to_owned(),
                );
                Ok(None)
            }
            Examined::Around(bracket) => Ok(Some(bracket)),
            Examined::Verdict { .. } | Examined::Irreparable => match self.open_before(&line, good) {
                Some(conclusion) => Err(Halt::Concluded(conclusion)),
                None => Ok(None),
            },
        }
    }

    /// The line from a revision to the nearest common ancestor with one given as good; only along first parents, if side
    /// branches do not count.
    pub(super) fn line_towards(&self, bad: CommitId, good: CommitId) -> Option<Vec<CommitId>> {
        if !self.order.first_parent {
            return self.history.path(bad, self.history.merge_base(bad, good)?);
        }
        let mut line = self.history.first_parents(bad);
        let ancestors = self.history.contains(good).then(|| self.history.ancestors(good))?;
        let base = line.iter().position(|id| self.history.is_in(&ancestors, *id))?;
        line.truncate(base + 1);
        Some(line)
    }

    /// The conclusion if the one revision given as good, at the end of a line, cannot be tested: it is taken at its word,
    /// and the commits after it up to the oldest failure are a range.
    fn open_before(&self, line: &[CommitId], good: CommitId) -> Option<Conclusion> {
        let last = line.len() - 1;
        if self.order.goods.len() > 1 || line[last] != good || self.order.artifacts == Artifacts::Only {
            return None;
        }
        let oldest = {
            let state = self.state.borrow();
            let fails = |id: &CommitId| {
                state.tested.get(id).is_some_and(|tested| tested.outcome == Outcome::Fail && tested.repair.is_none())
            };
            if fails(&good) {
                return None;
            }
            line.iter().rposition(fails)?
        };
        self.note(format!(
            "{} was given as good and cannot be tested without a repair, so it is taken at its word; of the revisions between it \
             and {}, none that was tried gives a verdict without a repair",
            good.short(),
            line[oldest].short()
        ));
        let range = if self.order.first_parent {
            line[oldest..last].to_vec()
        } else {
            self.history.between(good, line[oldest])
        };
        let finding = &mut self.state.borrow_mut().finding;
        (finding.last_good, finding.range) = (Some(good), range);
        (finding.range.len() > 1).then_some(Conclusion::Range)
    }

    /// Bisects a line whose last revision is given as good, until a revision passes: then that one need not be tested.
    /// `None` if nothing has passed after some failures, or if a revision cannot be tested; the line and its failing end are
    /// cut then.
    async fn bracket_before(
        &self,
        line: &mut Vec<CommitId>,
        bad: &mut TestedRevision,
    ) -> Result<Option<Bracket>, Halt> {
        for _ in 0..MAX_FAILURES {
            let good = line.len() - 1;
            if good < 2 {
                break;
            }
            let middle = self.next_step(line, 0, good);
            let tested = self.as_tested(line[middle]).await?;
            match tested.outcome {
                Outcome::Pass => {
                    return Ok(Some(Bracket { line: line[..=middle].to_vec(), bad: *bad, good: tested }));
                }
                Outcome::Fail => {
                    line.drain(..middle);
                    *bad = tested;
                }
                Outcome::Unresolved(_) => break,
            }
        }
        Ok(None)
    }

    /// Gallops back 4, 16, 64, ... steps on the first-parent line until a revision passes, beyond the revision at
    /// `near`, which fails. A tagged revision near a stop is taken in its place.
    ///
    /// An untestable revision is repaired only if the next stop is untestable too: a window of broken revisions is
    /// skipped, a border is not; the wide gaps behind it are sampled first. Cost: at most log4(d) + 1 revisions for a pass d steps back.
    async fn gallop(&self, bad: TestedRevision, near: usize) -> Result<Bracket, Halt> {
        let line = self.in_scope(self.history.first_parents(bad.revision))?;
        let last = line.len() - 1;
        let mut near = match self.gallop_known(&line, bad, near).await? {
            Gallop::Bracket(bracket) => return Ok(bracket),
            Gallop::Until(near) => near,
        };
        let (first, factor) = GALLOP;
        let mut distance = (factor * near).max(first);
        while near < last {
            let stop = self.tagged_near(&line, near, distance.min(last));
            if !self.is_known(line[stop]) {
                self.tell(Event::Galloping { distance: stop, next: line[stop] });
            }
            self.look_ahead(&line, WalkPosition::Gallop { near, stop });
            let mut seen = (stop, self.as_tested(line[stop]).await?);
            if !seen.1.outcome.is_testable() && stop < last {
                let further = (2 * distance).min(last);
                let tested = self.as_tested(line[further]).await?;
                if tested.outcome.is_testable() {
                    seen = (further, tested);
                }
            }
            if !seen.1.outcome.is_testable()
                && self.order.noisy.is_none()
                && let Some(bracket) = self.sample_wide_gaps(&line[..=near]).await?
            {
                return Ok(bracket);
            }
            if !seen.1.outcome.is_testable() {
                match self.examine(&line, stop, near).await? {
                    Examined::Verdict { index, tested, .. } => seen = (index, tested),
                    Examined::Around(bracket) => return Ok(bracket),
                    Examined::Irreparable => break,
                }
            }
            let (index, tested) = seen;
            if tested.outcome == Outcome::Pass {
                let bad = self.as_tested(line[near]).await?;
                return Ok(Bracket { line: line[near..=index].to_vec(), bad, good: tested });
            }
            near = index;
            distance = factor * stop.max(index);
        }
        self.never_passed(&line, near).await
    }

    /// The index of the tagged revision nearest to `stop`, beyond `near`, if there is one at most a quarter of the way
    /// from it: releases are built and tested more often than others. Else `stop` itself.
    fn tagged_near(&self, line: &[CommitId], near: usize, stop: usize) -> usize {
        let last = line.len() - 1;
        if stop == last {
            return stop;
        }
        let reach = stop / 4;
        let around = (stop - reach).max(near + 1)..=(stop + reach).min(last);
        around.filter(|at| self.history.is_tagged(line[*at])).min_by_key(|at| at.abs_diff(stop)).unwrap_or(stop)
    }

    /// Tries the revisions before commits that broke other tests: first the likeliest, then by halves, until one passes.
    ///
    /// Cost: log2(n) + 2 revisions for n known commits.
    async fn gallop_known(&self, line: &[CommitId], bad: TestedRevision, near: usize) -> Result<Gallop, Halt> {
        let before = |id: &CommitId| Some(line.iter().position(|other| other == id)? + 1);
        let stops = |near: usize| -> Vec<usize> {
            let stops = self.order.known.iter().filter_map(before);
            stops.filter(|stop| *stop > near && *stop < line.len()).collect()
        };
        let mut near = near;
        let mut next = stops(near).first().copied();
        while let Some(stop) = next {
            let tested = self.as_tested(line[stop]).await?;
            match tested.outcome {
                Outcome::Pass => {
                    return Ok(Gallop::Bracket(Bracket { line: line[..=stop].to_vec(), bad, good: tested }));
                }
                Outcome::Fail => near = stop,
                // The usual walk goes around it.
                Outcome::Unresolved(_) => break,
            }
            let mut left = stops(near);
            left.sort_unstable();
            next = left.get(left.len() / 2).copied();
        }
        Ok(Gallop::Until(near))
    }

    /// The next revision of a search between two indices of a line: a commit that broke another test, or the one before
    /// it if it fails; else the middle. At least one revision must be between the two.
    fn next_between(&self, line: &[CommitId], bad: usize, good: usize) -> usize {
        if bad > 0 && self.order.known.contains(&line[bad]) {
            return bad + 1;
        }
        let middle = bad + (good - bad) / 2;
        let known = (bad + 1..good).filter(|index| self.order.known.contains(&line[*index]));
        known.min_by_key(|index| index.abs_diff(middle)).unwrap_or(middle)
    }

    /// The next revision of a bisection between two indices of a line, which is announced.
    fn next_step(&self, line: &[CommitId], bad: usize, good: usize) -> usize {
        let middle = self.next_between(line, bad, good);
        self.state.borrow_mut().finding.range = line[bad..good].to_vec();
        if !self.is_known(line[middle]) {
            let (n_left, n_candidates) = (good - middle - 1, good - bad);
            self.tell(Event::Bisecting { n_left, n_candidates, next: line[middle] });
        }
        self.look_ahead(line, WalkPosition::Bisect { bad, good });
        middle
    }

    /// Nothing passes: runs the oldest failure again clean, as [`check`](Self::check) does, and once without the held files.
    /// Then the gaps between the tested revisions are sampled; the hunt ends if nothing passes there, either.
    ///
    /// With noise, each verdict takes several runs, and the walk has weighed all places: nothing is sampled.
    pub(super) async fn never_passed(&self, line: &[CommitId], near: usize) -> Result<Bracket, Halt> {
        let last = line.len() - 1;
        let oldest_failing = || {
            let state = self.state.borrow();
            let fails = |id: &CommitId| state.tested.get(id).is_some_and(|tested| tested.outcome == Outcome::Fail);
            line.iter().rposition(fails).unwrap_or(near)
        };
        let oldest = self.as_tested(line[oldest_failing()]).await?;
        self.check(&[oldest]).await?;
        let mut stops = vec![last, last / 2];
        stops.dedup();
        for stop in stops {
            if self.order.may_release
                && let Some(tree) = self.trees.released(self.history.tree(line[stop]))?
            {
                let is_fetched = self.is_fetched(line[stop]);
                let probe = Probe { is_fetched, ..Probe::of(tree, line[stop], Phase::Search) };
                if self.asker.one(probe).await == Outcome::Pass {
                    return Err(Halt::Again(Again::HoldNothing));
                }
            }
        }
        if self.order.noisy.is_none()
            && let Some(bracket) = self.sample_gaps(line).await?
        {
            return Ok(bracket);
        }
        let near = oldest_failing();
        self.end_of_evidence(line, near);
        if self.history.is_shallow_border(line[last]) {
            self.note(
                "the history ends at the border of a shallow clone; `git idd --fetch` or `git fetch --unshallow` gives more to search"
                    .to_owned(),
            );
        }
        if near < last {
            self.note(format!("the oldest {} of the line have no verdict", count(last - near, "revision")));
        }
        Err(Halt::Concluded(Conclusion::NeverPassed))
    }

    /// Records how far back the failure occurs without a repair. In older revisions the repair may cause it, and there
    /// is no known pass on which to check this.
    fn end_of_evidence(&self, line: &[CommitId], near: usize) {
        let bare = {
            let state = self.state.borrow();
            let fails_bare = |id: &CommitId| {
                state.tested.get(id).is_some_and(|tested| tested.outcome == Outcome::Fail && tested.repair.is_none())
            };
            line[..=near].iter().rposition(fails_bare).unwrap_or(0)
        };
        {
            let finding = &mut self.state.borrow_mut().finding;
            finding.oldest_tested = Some(line[near]);
            finding.oldest_failing = Some(line[bare]);
        }
        if bare < near {
            self.note(format!(
                "{} is the oldest revision that fails without a repair; older ones fail with one, and no known pass \
                 shows that the repair does not cause the failure",
                line[bare].short()
            ));
        }
    }

    /// The revisions of a line that change something in the scope of the hunt, and its two ends.
    pub(super) fn in_scope(&self, mut line: Vec<CommitId>) -> Result<Vec<CommitId>, Halt> {
        let mut keeps = vec![true; line.len()];
        for index in 1..line.len() - 1 {
            let [older, newer] = [line[index + 1], line[index]].map(|id| self.history.tree(id));
            keeps[index] = self.trees.differ_in_scope(older, newer)?;
        }
        if line.len() > 2 && !keeps[1..line.len() - 1].contains(&true) {
            self.note(
                "no commit of the line changes a path that `--path` names, so all of them are searched".to_owned(),
            );
            return Ok(line);
        }
        let mut keeps = keeps.into_iter();
        line.retain(|_| keeps.next() == Some(true));
        Ok(line)
    }

    /// Narrows a bracket to two neighbours of its line.
    ///
    /// The pair is exact unless a revision between the two could not be tested at all. Cost: log2(n) revisions, n =
    /// length of the line, and the repairs of untestable ones.
    pub(super) async fn bisect(&self, bracket: Bracket) -> Result<TreePair, Halt> {
        let Bracket { mut line, mut bad, mut good } = bracket;
        let mut bad_index = 0;
        let mut good_index = line.len() - 1;
        let mut joined: Vec<CommitId> = Vec::new();
        let mut is_decided = true;
        while good_index - bad_index > 1 {
            self.state.borrow_mut().finding.last_good = Some(good.revision);
            let middle = self.next_step(&line, bad_index, good_index);
            let middle = self.around(&line, middle, bad_index, good_index).await?;
            match self.examine(&line, middle, bad_index).await? {
                Examined::Verdict { index, tested, .. } if tested.outcome == Outcome::Pass => {
                    (good, good_index) = (tested, index);
                }
                Examined::Verdict { index, tested, is_burst } => {
                    (bad, bad_index) = (tested, index);
                    if is_burst {
                        joined = self.join_step(&mut line, index, middle, &mut good_index);
                    }
                }
                Examined::Around(bracket) => {
                    Bracket { line, bad, good } = bracket;
                    (bad_index, good_index) = (0, line.len() - 1);
                    joined.clear();
                }
                Examined::Irreparable => {
                    is_decided = false;
                    break;
                }
            }
        }
        joined.retain(|id| self.history.path(bad.revision, *id).is_some());
        let is_joined = joined.iter().any(|id| self.history.path(*id, good.revision).is_some());
        let joined = if is_joined { joined } else { Vec::new() };
        Ok(TreePair { last_good: good.revision, older: good, newer: bad, joined, is_exact: is_decided })
    }

    /// Removes the untestable commits of a burst from the line: they are one step together with its newest commit.
    fn join_step(&self, line: &mut Vec<CommitId>, end: usize, index: usize, good: &mut usize) -> Vec<CommitId> {
        let mut oldest = index;
        while oldest + 1 < *good && self.history.burst_end(line, oldest + 1) <= end {
            oldest += 1;
        }
        let step: Vec<CommitId> = line.drain(end + 1..=oldest).collect();
        *good -= step.len();
        step
    }
}
