//! Repairs: the smallest part of the difference to a testable neighbour that makes a revision testable.
//!
//! Source: Artho, Iterative Delta Debugging, section 4. Deviation: a repair is reduced for "testable" (a pass, or the
//! hunted failure), not for "still fails": a reduction for the failure can delete code that the test needs to pass at
//! all (his section 5.2). A repair can still contain the culprit, so its verdicts are checked.

use crate::finding::{Repair, RepairCheck};
use crate::minimise::{Aim, ReductionStart};
use crate::own_tests::tests_and_calls;
use crate::{Carried, Event, Halt, Hunter, Phase, TestedRevision};
use idd_base::{CommitId, Outcome, Reason, TreeId};
use idd_change::trees::{Favor, Merged};
use idd_change::{ChangeSet, Level, Subset};
use std::rc::Rc;

impl Hunter<'_> {
    /// Reduces (`revision` -> tested tree of `source`) to a part that makes `revision` testable, and carries it from
    /// now on.
    ///
    /// The new repair replaces the old one, and can contain it, because the neighbour was tested with it. `None` if no
    /// tree that is smaller than the neighbour's own can be written. Cost: one reduction.
    pub(super) async fn repair(
        &self,
        revision: CommitId,
        source: TestedRevision,
    ) -> Result<Option<TestedRevision>, Halt> {
        let base = self.view(revision)?;
        let set = self.trees.change_set(base, source.tree)?;
        if set.full().is_empty() {
            return Ok(None);
        }
        let wanted = |outcome: Outcome| outcome.is_testable();
        let aim = Aim::repair(self.repair_bound());
        let mut kept = self.reduce_units(ReductionStart::whole(&set, base), revision, aim, &wanted).await?;
        let Some(mut patched) = self.trees.compose(&set, base, &kept)? else { return Ok(None) };
        let mut outcome = self.probe(patched, revision, Phase::Repair).await;
        if outcome == Outcome::Pass
            && self.history.path(source.revision, revision).is_some()
            && let Some(start) = self.unless_with_tests(&set, base, &kept, revision).await?
        {
            kept = self.reduce_units(start, revision, aim, &wanted).await?;
            let Some(tree) = self.trees.compose(&set, base, &kept)? else { return Ok(None) };
            patched = tree;
            outcome = self.probe(patched, revision, Phase::Repair).await;
        }
        if !outcome.is_testable() {
            return Ok(None);
        }
        let n_lines = set.n_lines(&kept);
        let index = {
            let mut state = self.state.borrow_mut();
            let index = state.finding.repairs.len();
            let (source, control) = (source.revision, RepairCheck::Provisional);
            state.finding.repairs.push(Repair { revision, source, base, patched, n_lines, control });
            state.irreparable.clear();
            state.carried = Some(Rc::new(Carried { base, patched, index }));
            index
        };
        self.tell(Event::Repaired { revision, source: source.revision, n_lines });
        Ok(Some(self.record(TestedRevision {
            revision,
            tree: patched,
            outcome,
            repair: Some(index),
            is_fetched: false,
        })))
    }

    /// The start of a second search for a repair that keeps the tests, if the first one (`kept`) passes only without
    /// them.
    ///
    /// The whole difference fails, and a part of it passes: that part lacks either the culprit or the test. A repair
    /// that adds an empty target to a makefile makes any revision pass. Cost: one probe, if the difference has tests,
    /// or calls of tests, that `kept` lacks.
    async fn unless_with_tests<'s>(
        &self,
        set: &'s ChangeSet,
        base: TreeId,
        kept: &Subset,
        revision: CommitId,
    ) -> Result<Option<ReductionStart<'s>>, Halt> {
        let tests = set.close(&tests_and_calls(set).difference(kept));
        if tests.is_empty() {
            return Ok(None);
        }
        let with = kept.union(&tests);
        let outcome = match self.trees.compose(set, base, &with)? {
            Some(tree) => self.probe(tree, revision, Phase::Repair).await,
            None => Outcome::Unresolved(Reason::DoesNotApply),
        };
        Ok(match outcome {
            Outcome::Pass => None,
            Outcome::Fail => Some(ReductionStart::pinned(set, base, kept, tests)),
            Outcome::Unresolved(_) => Some(ReductionStart::pinned(set, base, &set.full(), tests)),
        })
    }

    /// The trees without and with a repair.
    pub(super) fn repair_trees(&self, repair: usize) -> (TreeId, TreeId) {
        let state = self.state.borrow();
        let repair = &state.finding.repairs[repair];
        (repair.base, repair.patched)
    }

    /// Applies a repair to a tree; `None` if it does not apply.
    pub(super) fn with_repair(&self, repair: usize, tree: TreeId) -> Result<Option<TreeId>, Halt> {
        let (base, patched) = self.repair_trees(repair);
        match self.trees.merge(base, tree, patched, Favor::Neither)? {
            Merged::Clean(tree, _) => Ok(Some(tree)),
            Merged::Conflict => Ok(None),
        }
    }

    /// Applies the units of a repair that fit to a tree; also returns whether all its additions are among them.
    ///
    /// A line that the repair deletes and that is absent anyway cannot add the culprit.
    fn with_parts(&self, repair: usize, tree: TreeId) -> Result<(TreeId, bool), Halt> {
        let (base, patched) = self.repair_trees(repair);
        let set = self.trees.change_set(base, patched)?;
        let (mut tree, mut is_whole) = (tree, true);
        for group in set.groups(Level::Line) {
            let closed = set.close(&set.subset(group));
            let part = if closed.is_empty() { None } else { self.trees.compose(&set, base, &closed)? };
            let merged = match part {
                Some(part) => self.trees.merge(base, tree, part, Favor::Neither)?,
                None => Merged::Conflict,
            };
            match merged {
                Merged::Clean(with, _) => tree = with,
                Merged::Conflict => {
                    let is_deletion = |unit| {
                        let text = set.describe(unit);
                        text.inserted.is_empty() && !text.deleted.is_empty()
                    };
                    is_whole &= set.subset(group).iter().all(is_deletion);
                }
            }
        }
        Ok((tree, is_whole))
    }

    /// Checks the repair of a verdict: applied to a known pass, it must still pass. Cost: at most one probe.
    ///
    /// A repair from a newer revision can contain the culprit; then the pass becomes a failure.
    pub(super) async fn control(&self, repair: usize, pass: TestedRevision) -> Result<RepairCheck, Halt> {
        let (tree, is_whole) = match self.with_repair(repair, pass.tree)? {
            Some(tree) => (tree, true),
            None => self.with_parts(repair, pass.tree)?,
        };
        let seen = if tree == pass.tree { pass.outcome } else { self.probe(tree, pass.revision, Phase::Repair).await };
        let control = match seen {
            Outcome::Pass if is_whole => RepairCheck::Held,
            Outcome::Fail => RepairCheck::Flipped,
            Outcome::Pass | Outcome::Unresolved(_) => RepairCheck::Provisional,
        };
        self.state.borrow_mut().finding.repairs[repair].control = control;
        Ok(control)
    }
}
