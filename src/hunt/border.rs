//! Borders: the commits at which revisions stop being testable, and how the search avoids the revisions before them.
//!
//! If an untestable revision has testable neighbours, one of them is tested instead. Only if the search cannot avoid a
//! border, the border is narrowed to one commit, and the change of this commit is reduced to a repair.

use crate::belief::{as_f64, entropy};
use crate::pair::Bracket;
use crate::{Event, Halt, Hunter, TestedRevision};
use idd_base::{CommitId, Outcome};
use std::collections::BTreeSet;
use std::f64::consts::LN_2;

/// The probability that a single untestable revision has no untestable neighbour.
const ALONE: f64 = 0.4;

/// A repair is worth more than a test that is expected to show less than this, in bits.
const MIN_INFORMATION: f64 = 0.3;

/// The maximum depth of side branches: a side branch can contain merges with side branches of their own.
const MAX_DEPTH: usize = 4;

/// The number of tests that a repair may always take.
const REPAIR_BASE: usize = 30;

/// The number of additional tests of a repair for each halving of the history.
const REPAIR_PER_HALVING: usize = 3;

/// While no revision passes, all repairs together may take the tests of this many full ones.
const MAX_REPAIRS_WITHOUT_PASS: usize = 3;

/// Where the search for a border has led.
pub enum Border {
    /// To an untestable revision and a testable child of it, or as near to these as could be.
    At(CommitId, TestedRevision),
    /// Into a side branch with a revision that fails and an older one that passes: the failure began between them.
    Around(Bracket),
}

/// What made an untestable revision unnecessary, or testable.
pub enum Crossed {
    /// It is testable with a repair.
    Repaired(TestedRevision),
    /// It need not be tested; see [`Border::Around`].
    Around(Bracket),
    /// Nothing.
    Nothing,
}

impl Hunter<'_> {
    /// The index of `line` to test between `bad` and `good` (both excluded): `middle` if it can be tested, or else one
    /// beside the untestable revisions, as [`beside`] says. If none is left that is worth a test, the newest untestable
    /// one.
    ///
    /// Cost: as far as measured, two to five revisions for each window of untestable ones.
    pub(super) async fn around(
        &self,
        line: &[CommitId],
        middle: usize,
        bad: usize,
        good: usize,
    ) -> Result<usize, Halt> {
        let mut open = self.untestable_between(line, bad, good);
        loop {
            let next = match open.first() {
                None => middle,
                Some(newest) => match beside(bad, &open, good) {
                    Some(next) => next,
                    None => return Ok(*newest),
                },
            };
            if self.as_tested(line[next]).await?.outcome.is_testable() {
                return Ok(next);
            }
            open.insert(next);
        }
    }

    /// The indices between two that are known to be untestable, with the repair that is carried, if there is one.
    fn untestable_between(&self, line: &[CommitId], bad: usize, good: usize) -> BTreeSet<usize> {
        let state = self.state.borrow();
        let is_open = |index: &usize| match state.carried {
            Some(_) => state.irreparable.contains(&line[*index]),
            None => state.tested.get(&line[*index]).is_some_and(|tested| !tested.outcome.is_testable()),
        };
        (bad + 1..good).filter(is_open).collect()
    }

    /// Narrows the border between an untestable revision and a testable descendant of it to one commit.
    ///
    /// If it cannot be narrowed, the result has the two arguments.
    ///
    /// The line can omit commits between the two, and the testable one can be a merge with side branches. If the tip of
    /// a branch is testable and the commit at which it forked is not, the border in it is found by bisection. Cost:
    /// log2(n) revisions for each layer.
    pub(super) async fn border(&self, mut untestable: CommitId, mut testable: TestedRevision) -> Result<Border, Halt> {
        for _ in 0..MAX_DEPTH {
            let Some(line) = self.line_across(untestable, testable).await? else { break };
            match self.narrow(&line, testable).await? {
                Border::At(older, newer) => (untestable, testable) = (older, newer),
                around @ Border::Around(_) => return Ok(around),
            }
        }
        Ok(Border::At(untestable, testable))
    }

    /// A line of more than one step from the testable revision to an untestable one, on which to search the border.
    async fn line_across(&self, untestable: CommitId, testable: TestedRevision) -> Result<Option<Vec<CommitId>>, Halt> {
        let parents = self.history.get(testable.revision).parents;
        if !parents.contains(&untestable) {
            return Ok(self.history.path(testable.revision, untestable));
        }
        if self.order.first_parent {
            return Ok(None);
        }
        for parent in parents.iter().filter(|parent| **parent != untestable) {
            let Some(base) = self.history.merge_base(untestable, *parent) else { continue };
            let Some(line) = self.history.path(*parent, base).filter(|line| line.len() > 1) else { continue };
            let ends = [self.as_tested(*parent).await?, self.as_tested(base).await?];
            if let [Outcome::Pass | Outcome::Fail, Outcome::Unresolved(_)] = ends.map(|end| end.outcome) {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    /// The border on a line whose first revision is testable and whose last one is not.
    async fn narrow(&self, line: &[CommitId], first: TestedRevision) -> Result<Border, Halt> {
        let (mut near, mut untestable) = (0, line.len() - 1);
        let mut testable = if first.revision == line[0] { first } else { self.as_tested(line[0]).await? };
        while untestable - near > 1 {
            let middle = near + (untestable - near) / 2;
            let tested = self.as_tested(line[middle]).await?;
            let is_bare = testable.repair.is_none() && tested.repair.is_none();
            match (testable.outcome, tested.outcome) {
                (Outcome::Fail, Outcome::Pass) if is_bare => {
                    let line = line[near..=middle].to_vec();
                    return Ok(Border::Around(Bracket { line, bad: testable, good: tested }));
                }
                (_, Outcome::Unresolved(_)) => untestable = middle,
                _ => (near, testable) = (middle, tested),
            }
        }
        Ok(Border::At(line[untestable], testable))
    }

    /// Makes `untestable` testable with the change of the commit at the border between it and `testable`, or else with
    /// the whole difference.
    ///
    /// Cost: the search of the border, and one or two reductions.
    pub(super) async fn across(&self, untestable: CommitId, testable: TestedRevision) -> Result<Crossed, Halt> {
        let (older, newer) = match self.border(untestable, testable).await? {
            Border::At(older, newer) => (older, newer),
            Border::Around(bracket) => return Ok(Crossed::Around(bracket)),
        };
        self.tell_border(older, newer)?;
        if (older, newer.revision) != (untestable, testable.revision) && self.repair(older, newer).await?.is_some() {
            let tested = self.as_tested(untestable).await?;
            if tested.outcome.is_testable() {
                return Ok(Crossed::Repaired(tested));
            }
        }
        Ok(self.repair(untestable, testable).await?.map_or(Crossed::Nothing, Crossed::Repaired))
    }

    /// Reports once that revisions before `newer` do not run.
    fn tell_border(&self, older: CommitId, newer: TestedRevision) -> Result<(), Halt> {
        let bare = self.bare_probe(older)?;
        let mut state = self.state.borrow_mut();
        if state.finding.borders.iter().all(|(_, first)| *first != newer.revision) {
            state.finding.borders.push((older, newer.revision));
            state.events.push(Event::Border { probe: bare, first: newer.revision });
        }
        Ok(())
    }

    /// The maximum number of tests of one repair; `None` without a limit.
    ///
    /// Like the cost of a search, it grows with the logarithm of the history.
    pub(super) fn repair_bound(&self) -> Option<usize> {
        let halvings = self.history.len().next_power_of_two().ilog2() as usize;
        self.order.bounds_repairs.then_some(REPAIR_BASE + REPAIR_PER_HALVING * halvings)
    }

    /// Whether repairs have reached their number of tests while no revision passes.
    pub(super) fn is_repairing_spent(&self) -> bool {
        let state = self.state.borrow();
        let is_spent = |bound: usize| state.n_asked_for_repairs >= MAX_REPAIRS_WITHOUT_PASS * bound;
        self.repair_bound().is_some_and(is_spent) && state.tested.values().all(|tested| tested.outcome != Outcome::Pass)
    }
}

/// The index of a line whose test is expected to show most about the first bad revision between `bad` and `good`, beside
/// untestable ones; `None` if that is less than [`MIN_INFORMATION`].
///
/// The expected information of a test is its probability of a verdict times the entropy of the place at which it divides
/// the line. Untestable revisions come alone, or in stretches whose length has no scale: its logarithm is uniform, up to
/// the next revision that is known to be testable. Two of them are as likely in one stretch as in two.
///
/// - `open`: the indices of the untestable revisions, at least one.
///
/// Cost: time in proportion to the length of the line.
fn beside(bad: usize, open: &BTreeSet<usize>, good: usize) -> Option<usize> {
    let (newest, oldest) = (*open.first()?, *open.last()?);
    let ends = |n_known: usize, distance: usize, farthest: usize| {
        let longer = |n: usize| (as_f64(n_known + n) / as_f64(n_known)).ln();
        longer(distance) / longer(farthest)
    };
    let is_testable = |index: usize| {
        let (newer, older) = (open.range(..index).next_back(), open.range(index..).next());
        match (newer, older) {
            (Some(newer), Some(older)) => ends(1, (index - newer).min(older - index), good - bad) / 2.0,
            (newer, _) => {
                let (distance, farthest) =
                    if newer.is_some() { (index - oldest, good - oldest) } else { (newest - index, newest - bad) };
                let in_stretch = ends(oldest - newest + 1, distance, farthest);
                if newest == oldest { ALONE + (1.0 - ALONE) * in_stretch } else { in_stretch }
            }
        }
    };
    let shown = |index: usize| is_testable(index) * entropy(as_f64(index - bad) / as_f64(good - bad)) / LN_2;
    let closed = (bad + 1..good).filter(|index| !open.contains(index)).map(|index| (index, shown(index)));
    let (index, information) = closed.max_by(|a, b| a.1.total_cmp(&b.1))?;
    (information >= MIN_INFORMATION).then_some(index)
}

#[cfg(test)]
mod tests;
