//! Revisions whose program is fetched: they are searched first, because a fetch costs less than a build.
//!
//! Most revisions can have no artifact. The first search goes from one revision that has an artifact to the next one,
//! and never builds. What is left between a failing and a passing one is then searched by building.

use crate::finding::Conclusion;
use crate::pair::{Bracket, TreePair};
use crate::{Artifacts, Event, Halt, Hunter, Probe, TestedRevision, WalkPosition};
use idd_base::{CommitId, Outcome};

/// After this many revisions in a row without an artifact, the next ones are built.
const MAX_ABSENT_BEFORE_BUILDS: usize = 100;

/// The same if nothing can be built: the search ends.
const MAX_ABSENT: usize = 1000;

/// The result of galloping over some revisions: those with artifacts, or those before known commits.
pub enum Gallop {
    /// One of them passes.
    Bracket(Bracket),
    /// None passes; the one at this index of the line is the oldest that fails.
    Until(usize),
}

/// The result of looking for an artifact among some revisions.
enum Sight {
    /// The revision at this index has a verdict by its artifact.
    Seen(usize, TestedRevision),
    /// None of them has.
    Nothing,
    /// Too many in a row have none.
    TooMany,
}

impl Hunter<'_> {
    /// Whether the artifact of a revision is asked for, and not a build.
    pub(super) fn is_fetched(&self, revision: CommitId) -> bool {
        let state = self.state.borrow();
        match self.order.artifacts {
            Artifacts::Unused => false,
            Artifacts::Only => true,
            Artifacts::BeforeBuilds => !state.is_building && !state.unfetched.contains(&revision),
        }
    }

    /// Whether an artifact gave no verdict, and the revision can be built instead.
    pub(super) fn is_to_be_built(&self, tested: &TestedRevision) -> bool {
        tested.is_fetched && !tested.outcome.is_testable() && self.order.artifacts == Artifacts::BeforeBuilds
    }

    /// Tests the artifact of a revision; `None` if it has none, or none that gives a verdict, and can be built.
    pub(super) async fn fetched(&self, revision: CommitId) -> Result<Option<TestedRevision>, Halt> {
        let tested = self.asked(revision).await?;
        if self.is_to_be_built(&tested) {
            self.state.borrow_mut().unfetched.insert(revision);
            return Ok(None);
        }
        Ok(Some(tested))
    }

    /// The verdict of a revision without a build; `None` if there is none.
    async fn seen_fetched(&self, revision: CommitId) -> Result<Option<TestedRevision>, Halt> {
        let known = self.state.borrow().tested.get(&revision).copied();
        let tested = match known {
            Some(tested) => Some(tested),
            None if self.is_fetched(revision) => self.fetched(revision).await?,
            None => None,
        };
        Ok(tested.filter(|tested| tested.outcome.is_testable()))
    }

    /// Looks for the revision nearest to `middle` that has a verdict by its artifact, between two indices of `line`
    /// (both excluded); of two the older one.
    async fn sight(&self, line: &[CommitId], middle: usize, newer: usize, older: usize) -> Result<Sight, Halt> {
        let max_absent = match self.order.artifacts {
            Artifacts::Only => MAX_ABSENT,
            Artifacts::Unused | Artifacts::BeforeBuilds => MAX_ABSENT_BEFORE_BUILDS,
        };
        let mut n_absent = 0;
        for distance in 0..older - newer {
            let behind = Some(middle + distance).filter(|index| *index < older);
            let before = middle.checked_sub(distance).filter(|index| *index > newer && distance > 0);
            for index in behind.into_iter().chain(before) {
                if let Some(tested) = self.seen_fetched(line[index]).await? {
                    return Ok(Sight::Seen(index, tested));
                }
                n_absent += 1;
                if n_absent >= max_absent {
                    return Ok(Sight::TooMany);
                }
            }
        }
        Ok(Sight::Nothing)
    }

    /// Gallops back as [`bracket`](Self::bracket) does, but only over revisions that have an artifact.
    pub(super) async fn gallop_fetched(&self, bad: TestedRevision) -> Result<Gallop, Halt> {
        if self.order.artifacts == Artifacts::Unused {
            return Ok(Gallop::Until(0));
        }
        let line = self.in_scope(self.history.first_parents(bad.revision))?;
        let last = line.len() - 1;
        let (mut near, mut stop) = (0, 1.min(last));
        while near < last {
            self.tell(Event::Galloping { distance: stop, next: line[stop] });
            self.look_ahead(&line, WalkPosition::Gallop { near, stop });
            match self.sight(&line, stop, near, (2 * stop).min(last + 1)).await? {
                Sight::Seen(index, tested) if tested.outcome == Outcome::Pass => {
                    return Ok(Gallop::Bracket(Bracket { line: line[..=index].to_vec(), bad, good: tested }));
                }
                Sight::Seen(index, _) => near = index,
                Sight::TooMany => break,
                Sight::Nothing if stop == last => break,
                Sight::Nothing => {}
            }
            stop = (2 * stop.max(near)).min(last);
        }
        Ok(Gallop::Until(near))
    }

    /// Narrows a bracket to a pair: first by artifacts, then by builds.
    ///
    /// Without builds, the pair is exact only if its two sides are neighbours. Cost: none but fetches while there is an
    /// artifact between the two sides.
    pub(super) async fn search(&self, bracket: Bracket) -> Result<TreePair, Halt> {
        if self.order.artifacts == Artifacts::Unused {
            return self.bisect(bracket).await;
        }
        let Bracket { line, bad, good } = self.narrowed(bracket).await?;
        let is_exact = line.len() == 2;
        if is_exact || self.order.artifacts == Artifacts::Only {
            let pair = TreePair { last_good: good.revision, older: good, newer: bad, joined: Vec::new(), is_exact };
            return self.comparable(pair, (bad, good)).await;
        }
        let pair = self.bisect(Bracket { line, bad, good }).await?;
        self.comparable(pair, (bad, good)).await
    }

    /// Narrows a bracket as far as artifacts allow.
    async fn narrowed(&self, bracket: Bracket) -> Result<Bracket, Halt> {
        let Bracket { line, mut bad, mut good } = bracket;
        let (mut bad_index, mut good_index) = (0, line.len() - 1);
        while good_index - bad_index > 1 {
            let middle = bad_index + (good_index - bad_index) / 2;
            {
                let mut state = self.state.borrow_mut();
                state.finding.last_good = Some(good.revision);
                state.finding.range = line[bad_index..good_index].to_vec();
            }
            let (n_left, n_candidates) = (good_index - middle - 1, good_index - bad_index);
            self.tell(Event::Bisecting { n_left, n_candidates, next: line[middle] });
            self.look_ahead(&line, WalkPosition::Bisect { bad: bad_index, good: good_index });
            match self.sight(&line, middle, bad_index, good_index).await? {
                Sight::Seen(index, tested) if tested.outcome == Outcome::Pass => (good, good_index) = (tested, index),
                Sight::Seen(index, tested) => (bad, bad_index) = (tested, index),
                Sight::Nothing | Sight::TooMany => break,
            }
        }
        Ok(Bracket { line: line[bad_index..=good_index].to_vec(), bad, good })
    }

    /// Builds the side of a pair that was fetched if the other one was built: a program that was built elsewhere can
    /// behave differently, and then the two sides say nothing together.
    ///
    /// - `outer`: the failing and the passing revision between which was built.
    ///
    /// Ends the hunt with the commits between them if the build has another outcome. Cost: at most one probe.
    async fn comparable(&self, pair: TreePair, outer: (TestedRevision, TestedRevision)) -> Result<TreePair, Halt> {
        if pair.older.is_fetched == pair.newer.is_fetched {
            return Ok(pair);
        }
        let fetched = if pair.older.is_fetched { pair.older } else { pair.newer };
        let seen = self.asker.one(self.build_of(&fetched)?).await;
        if seen == fetched.outcome {
            let built = |end: TestedRevision| TestedRevision { is_fetched: false, ..end };
            return Ok(TreePair { older: built(pair.older), newer: built(pair.newer), ..pair });
        }
        self.note_difference(&fetched, seen, "revisions that were built are not used");
        let (bad, good) = outer;
        let mut state = self.state.borrow_mut();
        let finding = &mut state.finding;
        finding.last_good = Some(good.revision);
        finding.first_bad = Some(bad.revision);
        finding.culprits = vec![bad.revision];
        finding.range = self.history.between(good.revision, bad.revision);
        Err(Halt::Concluded(Conclusion::Range))
    }

    /// The pair with both sides built, because parts of a commit have no artifact.
    ///
    /// Ends the hunt with the commit if a build has another outcome than the artifact. Cost: one probe for each side
    /// that was fetched.
    pub(super) async fn built(&self, pair: TreePair, candidates: &[CommitId]) -> Result<TreePair, Halt> {
        self.state.borrow_mut().is_building = true;
        for fetched in [pair.older, pair.newer].iter().filter(|end| end.is_fetched) {
            let claim = Probe { is_fetched: false, ..Probe::again(fetched) };
            let seen = self.asker.one(claim).await;
            if seen != fetched.outcome {
                self.note_difference(fetched, seen, "the change inside the commit is not reduced");
                let is_one = candidates.len() < 2;
                if !is_one {
                    self.state.borrow_mut().finding.range = candidates.to_vec();
                }
                return Err(Halt::Concluded(if is_one { Conclusion::Found } else { Conclusion::Range }));
            }
        }
        let built = |end: TestedRevision| TestedRevision { is_fetched: false, ..end };
        Ok(TreePair { older: built(pair.older), newer: built(pair.newer), ..pair })
    }

    /// The outcome of one run of a revision: of its artifact, or else of what is built of it.
    pub(super) async fn run_of(&self, revision: CommitId, number: u32) -> Result<Outcome, Halt> {
        let run = Some(number);
        let probe = Probe { run, ..self.bare_probe(revision)? };
        let outcome = self.asker.one(probe).await;
        if probe.is_fetched && !outcome.is_testable() && self.order.artifacts == Artifacts::BeforeBuilds {
            self.state.borrow_mut().unfetched.insert(revision);
            return Ok(self.asker.one(Probe { run, ..self.bare_probe(revision)? }).await);
        }
        Ok(outcome)
    }

    /// The probe that builds a revision whose artifact was tested.
    fn build_of(&self, fetched: &TestedRevision) -> Result<Probe, Halt> {
        let probe = self.bare_probe(fetched.revision)?;
        Ok(Probe { is_fetched: false, ..probe })
    }

    fn note_difference(&self, fetched: &TestedRevision, seen: Outcome, so: &str) {
        let words = self.order.sought.words().outcomes;
        let word = |outcome| match outcome {
            Outcome::Pass => words[0].to_owned(),
            Outcome::Fail => words[1].to_owned(),
            Outcome::Unresolved(reason) => format!("no verdict ({reason})"),
        };
        self.note(format!(
            "{}: the outcome of the artifact is `{}`, that of the build here `{}`, so {so}; without `--from-artifacts`, \
             builds alone decide, and `.git/idd/artifacts` has what was fetched",
            fetched.revision.short(),
            word(fetched.outcome),
            word(seen)
        ));
    }
}

#[cfg(test)]
mod tests;
