//! Borders: where revisions stop being testable, and how the search goes around the revisions beyond.
//!
//! An untestable revision between testable ones is left alone: one beside it answers as well. Only where the search stands before
//! a border it cannot go around, the border is narrowed to one commit, whose change is reduced to a repair.

use crate::hunt::Halt;
use crate::hunt::Hunter;
use crate::hunt::event::Event;
use crate::hunt::verdict::Tested;
use crate::outcome::Outcome;
use crate::revision::CommitId;

/// A testable revision at most this far away is tested instead, whatever the length of the line.
const NEAR: usize = 3;

/// And one at most this part of the line away.
const NEAR_SHARE: usize = 100;

/// A merge brings side branches whose own merges are looked into up to this depth.
const MAX_DEPTH: usize = 4;

/// A repair may take so many tests, beside those for each halving of the history.
const REPAIR_BASE: usize = 30;

/// Tests of a repair for each halving of the history.
const REPAIR_PER_HALVING: usize = 3;

/// So many repairs of full size are paid for while no revision passes.
const MAX_REPAIRS_WITHOUT_PASS: usize = 3;

impl Hunter<'_> {
    /// The index of `line` to go on with instead of `middle`, between `bad` and `good` (both excluded): `middle` itself if it can be
    /// tested, else the nearest that can, of two the older one.
    ///
    /// Looks three steps far, or a hundredth of the way if that is more; `middle` if it finds none. Cost: seven revisions, and two for
    /// each doubling of the distance beyond.
    pub(super) async fn around(
        &self,
        line: &[CommitId],
        middle: usize,
        (bad, good): (usize, usize),
    ) -> Result<usize, Halt> {
        if self.as_tested(line[middle]).await?.outcome.is_testable() {
            return Ok(middle);
        }
        let reach = NEAR.max((good - bad) / NEAR_SHARE);
        let far = std::iter::successors(Some(2 * NEAR), |distance| Some(2 * distance));
        let distances =
            (1..=NEAR).chain(far.take_while(|distance| *distance < reach)).chain((reach > NEAR).then_some(reach));
        for distance in distances {
            let older = Some(middle + distance).filter(|index| *index < good);
            let newer = middle.checked_sub(distance).filter(|index| *index > bad);
            for index in older.into_iter().chain(newer) {
                if self.as_tested(line[index]).await?.outcome.is_testable() {
                    return Ok(index);
                }
            }
        }
        Ok(middle)
    }

    /// Narrows the border between an untestable revision and a testable one that has it as an ancestor to one commit.
    ///
    /// - Result: an untestable revision and a testable child of it; the two that were given if the border cannot be narrowed.
    ///
    /// Between the two may be commits that the line leaves out, and side branches if the testable one is a merge. In a branch that is
    /// testable at its tip and not where it parted, the border is searched by bisection. Cost: log2(n) revisions for each layer.
    pub(super) async fn border(&self, untestable: CommitId, testable: Tested) -> Result<(CommitId, Tested), Halt> {
        let mut border = (untestable, testable);
        for _ in 0..MAX_DEPTH {
            let Some(line) = self.line_across(border).await? else { break };
            border = self.narrow(&line, border.1).await?;
        }
        Ok(border)
    }

    /// A line from the testable revision to an untestable one, longer than one step, along which to look for the border.
    async fn line_across(&self, (untestable, testable): (CommitId, Tested)) -> Result<Option<Vec<CommitId>>, Halt> {
        let parents = &self.history.get(testable.revision).parents;
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
    async fn narrow(&self, line: &[CommitId], first: Tested) -> Result<(CommitId, Tested), Halt> {
        let (mut near, mut untestable) = (0, line.len() - 1);
        let mut testable = if first.revision == line[0] { first } else { self.as_tested(line[0]).await? };
        while untestable - near > 1 {
            let middle = near + (untestable - near) / 2;
            let tested = self.as_tested(line[middle]).await?;
            if tested.outcome.is_testable() {
                (near, testable) = (middle, tested);
            } else {
                untestable = middle;
            }
        }
        Ok((line[untestable], testable))
    }

    /// Makes `untestable` testable by the change of the commit at the border between it and `testable`, else by their whole difference.
    ///
    /// `None` if neither helps. Cost: the search of the border, and one or two reductions.
    pub(super) async fn across(&self, untestable: CommitId, testable: Tested) -> Result<Option<Tested>, Halt> {
        let (older, newer) = self.border(untestable, testable).await?;
        self.tell_border(older, newer)?;
        if (older, newer.revision) != (untestable, testable.revision) && self.repair(older, newer).await?.is_some() {
            let tested = self.as_tested(untestable).await?;
            if tested.outcome.is_testable() {
                return Ok(Some(tested));
            }
        }
        self.repair(untestable, testable).await
    }

    /// Tells that revisions before `newer` do not run, once.
    fn tell_border(&self, older: CommitId, newer: Tested) -> Result<(), Halt> {
        let bare = self.bare_probe(older)?;
        let mut board = self.board.borrow_mut();
        if board.finding.borders.iter().all(|(_, first)| *first != newer.revision) {
            board.finding.borders.push((older, newer.revision));
            board.events.push(Event::Border { probe: bare, first: newer.revision });
        }
        Ok(())
    }

    /// How many tests one repair may take; `None` if it is not bounded.
    ///
    /// What a search costs grows with the logarithm of the history, and so does this.
    pub(super) fn repair_bound(&self) -> Option<usize> {
        let halvings = self.history.len().next_power_of_two().ilog2() as usize;
        self.order.bounds_repairs.then_some(REPAIR_BASE + REPAIR_PER_HALVING * halvings)
    }

    /// Whether repairs have taken as many tests as they may, and nothing passes yet.
    pub(super) fn is_repairing_spent(&self) -> bool {
        let board = self.board.borrow();
        let is_spent = |bound: usize| board.n_asked_for_repairs >= MAX_REPAIRS_WITHOUT_PASS * bound;
        self.repair_bound().is_some_and(is_spent) && board.tested.values().all(|tested| tested.outcome != Outcome::Pass)
    }
}

#[cfg(test)]
mod tests;
