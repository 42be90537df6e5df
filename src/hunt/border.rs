//! Borders: the commits at which revisions stop being testable, and how the search avoids the revisions before them.
//!
//! If an untestable revision has testable neighbours, one of them is tested instead. Only if the search cannot avoid a
//! border, the border is narrowed to one commit, and the change of this commit is reduced to a repair.

use crate::hunt::event::Event;
use crate::hunt::known::Tested;
use crate::hunt::{Halt, Hunter};
use crate::outcome::Outcome;
use crate::revision::CommitId;

/// A testable revision is tested instead if it is at most this many steps away,
const NEAR: usize = 3;

/// or at most one part in this many of the line.
const NEAR_SHARE: usize = 100;

/// The maximum depth of side branches: a side branch can contain merges with side branches of their own.
const MAX_DEPTH: usize = 4;

/// The number of tests that a repair may always take.
const REPAIR_BASE: usize = 30;

/// The number of additional tests of a repair for each halving of the history.
const REPAIR_PER_HALVING: usize = 3;

/// While no revision passes, all repairs together may take the tests of this many full ones.
const MAX_REPAIRS_WITHOUT_PASS: usize = 3;

impl Hunter<'_> {
    /// The index of `line` to test in place of `middle`, between `bad` and `good` (both excluded): `middle` itself if
    /// it can be tested, or else the nearest testable one, of two the older one.
    ///
    /// It looks at most three steps far, or a hundredth of the line if that is more. Result: `middle` if there is none.
    /// Cost: seven revisions, and two for each doubling of the distance after that.
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

    /// Narrows the border between an untestable revision and a testable descendant of it to one commit.
    ///
    /// - Result: an untestable revision and a testable child of it, or the two arguments if the border cannot be
    ///   narrowed.
    ///
    /// The line can omit commits between the two, and the testable one can be a merge with side branches. If the tip of
    /// a branch is testable and the commit at which it forked is not, the border in it is found by bisection. Cost:
    /// log2(n) revisions for each layer.
    pub(super) async fn border(&self, untestable: CommitId, testable: Tested) -> Result<(CommitId, Tested), Halt> {
        let mut border = (untestable, testable);
        for _ in 0..MAX_DEPTH {
            let Some(line) = self.line_across(border).await? else { break };
            border = self.narrow(&line, border.1).await?;
        }
        Ok(border)
    }

    /// A line of more than one step from the testable revision to an untestable one, on which to search the border.
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

    /// Makes `untestable` testable with the change of the commit at the border between it and `testable`, or else with
    /// the whole difference.
    ///
    /// `None` if neither works. Cost: the search of the border, and one or two reductions.
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

    /// Reports once that revisions before `newer` do not run.
    fn tell_border(&self, older: CommitId, newer: Tested) -> Result<(), Halt> {
        let bare = self.bare_probe(older)?;
        let mut board = self.board.borrow_mut();
        if board.finding.borders.iter().all(|(_, first)| *first != newer.revision) {
            board.finding.borders.push((older, newer.revision));
            board.events.push(Event::Border { probe: bare, first: newer.revision });
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
        let board = self.board.borrow();
        let is_spent = |bound: usize| board.n_asked_for_repairs >= MAX_REPAIRS_WITHOUT_PASS * bound;
        self.repair_bound().is_some_and(is_spent) && board.tested.values().all(|tested| tested.outcome != Outcome::Pass)
    }
}

#[cfg(test)]
mod tests;
