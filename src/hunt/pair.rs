//! The pair: a revision that passes and its neighbour that fails, both with the same repair.
//!
//! A pair counts only if both sides have the same repair. Otherwise the difference between them also contains the
//! difference between two repairs.

use crate::finding::{ChangeEdit, FoundChange, RepairCheck};
use crate::minimise::{Aim, ChangeDirection, ReductionStart, edits};
use crate::test_paths::is_test_path;
use crate::{Carried, ChangeEnds, Halt, Hunter, Phase, TestedRevision};
use idd_base::{CommitId, Outcome, TreeId};
use idd_change::trees::{Favor, Merged};
use std::collections::HashSet;
use std::rc::Rc;

/// A line whose first revision fails and whose last one passes.
#[derive(Debug, Clone)]
pub struct Bracket {
    /// Newest first.
    pub line: Vec<CommitId>,
    /// The failing end, index 0 of the line.
    pub bad: TestedRevision,
    /// The passing end, last of the line.
    pub good: TestedRevision,
}

/// Two trees that differ by the culprit, and their revisions.
#[derive(Debug, Clone)]
pub struct TreePair {
    /// The newest revision found to pass.
    pub last_good: CommitId,
    /// The passing side of the difference: the last good revision, or the merge base of a merge that fails by itself.
    pub older: TestedRevision,
    /// The failing side.
    pub newer: TestedRevision,
    /// Commits that are one step together with the newer revision.
    pub joined: Vec<CommitId>,
    /// Whether both sides have the same repair, so that the newer revision is the culprit.
    pub is_exact: bool,
}

impl TreePair {
    /// The two trees.
    pub fn ends(&self) -> ChangeEnds {
        ChangeEnds { older: self.older.tree, newer: self.newer.tree }
    }
}

/// The result of aligning a pair.
pub enum Aligned {
    /// A pair to reduce.
    Pair(TreePair),
    /// The culprit was inside the repair, which was replaced; search again.
    Again,
}

impl Hunter<'_> {
    /// Gives both sides of a pair the same repair, and checks it.
    ///
    /// Cost: at most two probes; one reduction if the verdict changes.
    pub(super) async fn align(&self, pair: TreePair) -> Result<Aligned, Halt> {
        match (pair.older.repair, pair.newer.repair) {
            (None, None) => Ok(Aligned::Pair(pair)),
            (older, newer) if older == newer => {
                self.hold([older, None]);
                Ok(Aligned::Pair(pair))
            }
            (None, Some(repair)) => match self.control(repair, pair.older).await? {
                RepairCheck::Held => {
                    let tree = self.with_repair(repair, pair.older.tree)?.unwrap_or(pair.older.tree);
                    let older = TestedRevision { tree, repair: Some(repair), is_fetched: false, ..pair.older };
                    Ok(Aligned::Pair(TreePair { older, ..pair }))
                }
                RepairCheck::Flipped => self.flipped(repair, pair).await,
                RepairCheck::Provisional => self.without_pair(repair, pair).await,
            },
            (Some(repair), _) => self.align_newer(repair, pair).await,
        }
    }

    /// Applies the repair of the passing side to the failing one, which must still fail. If that is not possible,
    /// applies the repairs of the failing side to the passing one, which must still pass.
    ///
    /// Cost: at most two probes, and the cost of [`flipped`](Self::flipped).
    async fn align_newer(&self, repair: usize, pair: TreePair) -> Result<Aligned, Halt> {
        let bare = self.view(pair.newer.revision)?;
        let alone = self.with_repair(repair, bare)?;
        if let Some(tree) = alone
            && self.probe(tree, pair.newer.revision, Phase::Repair).await == Outcome::Fail
        {
            self.hold([Some(repair), None]);
            let newer = TestedRevision { tree, repair: Some(repair), is_fetched: false, ..pair.newer };
            return Ok(Aligned::Pair(TreePair { newer, ..pair }));
        }
        let own = pair.newer.repair;
        let older = match self.evened(&pair)? {
            Some(tree) if self.probe(tree, pair.older.revision, Phase::Repair).await == Outcome::Pass => {
                Some(TestedRevision { tree, is_fetched: false, ..pair.older })
            }
            _ => None,
        };
        match (older, own) {
            (Some(older), _) => {
                self.hold([Some(repair), own]);
                Ok(Aligned::Pair(TreePair { older, ..pair }))
            }
            (None, Some(own)) => self.without_pair(own, pair).await,
            (None, None) => {
                // The newer revision has the repair already: it contains that change in a later form.
                let is_exact = alone.is_none() && self.is_contained(repair, pair.newer.revision);
                if is_exact {
                    self.hold([Some(repair), None]);
                }
                Ok(Aligned::Pair(TreePair { is_exact, ..pair }))
            }
        }
    }

    fn is_contained(&self, repair: usize, revision: CommitId) -> bool {
        let source = self.state.borrow().finding.repairs[repair].source;
        self.history.path(revision, source).is_some()
    }

    /// The passing side with the edits of the difference that are part of a repair of either side, so that both sides
    /// have the same repairs; `None` if there is no such tree. Costs no probe.
    fn evened(&self, pair: &TreePair) -> Result<Option<TreeId>, Halt> {
        let set = self.trees.change_set(pair.older.tree, pair.newer.tree)?;
        let mut of_repairs = set.empty();
        let sides = [(pair.older.repair, ChangeDirection::Backward), (pair.newer.repair, ChangeDirection::Forward)];
        for (repair, direction) in sides {
            let Some(repair) = repair else { continue };
            let (base, patched) = self.repair_trees(repair);
            let repair = self.trees.change_set(base, patched)?;
            let made: HashSet<ChangeEdit> =
                edits(&repair, &repair.full(), ChangeDirection::Forward).into_iter().collect();
            of_repairs.extend(set.full().iter().filter(|unit| {
                let mut unit_alone = set.empty();
                unit_alone.extend(std::iter::once(*unit));
                edits(&set, &unit_alone, direction).iter().any(|edit| made.contains(edit))
            }));
        }
        Ok(self.trees.compose(&set, pair.older.tree, &set.close(&of_repairs))?)
    }

    /// Records that these repairs do not decide the verdict.
    fn hold(&self, repairs: [Option<usize>; 2]) {
        let mut state = self.state.borrow_mut();
        for repair in repairs.into_iter().flatten() {
            state.finding.repairs[repair].control = RepairCheck::Held;
        }
    }

    /// The culprit is inside the repair: reduces the repair for the failure, and removes that part from it.
    async fn flipped(&self, repair: usize, pair: TreePair) -> Result<Aligned, Halt> {
        let Some(with) = self.with_repair(repair, pair.older.tree)? else {
            return Ok(Aligned::Pair(TreePair { is_exact: false, ..pair }));
        };
        let set = self.trees.change_set(pair.older.tree, with)?;
        let wanted = |outcome| outcome == Outcome::Fail;
        let aim = Aim::of(Phase::Repair, "the culprit inside the repair");
        let culprit =
            self.reduce_units(ReductionStart::whole(&set, pair.older.tree), pair.older.revision, aim, &wanted).await?;
        let without = self.trees.compose(&set, pair.older.tree, &set.close(&set.full().difference(&culprit)))?;
        if let Some(without) = without
            && self.replace_repair(repair, with, without, pair.newer.revision).await?
        {
            self.note(
                "a repair contained the culprit; that part was taken out of the repair and the search goes on"
                    .to_owned(),
            );
            return Ok(Aligned::Again);
        }
        self.without_pair(repair, pair).await
    }

    /// Continues if the repair of the failing side cannot be separated from the culprit.
    ///
    /// The older neighbour can give another repair. If not, the culprit is anywhere between the passing side and the
    /// revision from which the repair came, which fails by itself.
    async fn without_pair(&self, repair: usize, pair: TreePair) -> Result<Aligned, Halt> {
        let newer = self.failing_source(repair).await?.unwrap_or(pair.newer);
        if self.repair_from_older(&pair, newer).await? {
            self.note("a repair contained the culprit; the older neighbour gives another one".to_owned());
            return Ok(Aligned::Again);
        }
        self.note(
            "the lines that cause the failure cannot be separated from those that make the revision testable"
                .to_owned(),
        );
        Ok(Aligned::Pair(TreePair { newer, is_exact: false, joined: Vec::new(), ..pair }))
    }

    /// The revision from which a repair came, if it fails; preferably one on the way that fails without a repair.
    async fn failing_source(&self, repair: usize) -> Result<Option<TestedRevision>, Halt> {
        let mut failing = None;
        let mut repair = Some(repair);
        let mut sources = HashSet::new();
        while let Some(index) = repair {
            let source = self.state.borrow().finding.repairs[index].source;
            let tested = self.as_tested(source).await?;
            if tested.outcome != Outcome::Fail || !sources.insert(source) {
                break;
            }
            failing = Some(tested);
            repair = tested.repair;
        }
        Ok(failing)
    }

    /// Repairs the failing side from its older, passing neighbour instead, and drops verdicts with the old repair.
    ///
    /// Check: applied to the nearest known failure (`fail`), such a repair must still fail; otherwise it reverses the
    /// culprit. Cost: one reduction and one probe.
    async fn repair_from_older(&self, pair: &TreePair, fail: TestedRevision) -> Result<bool, Halt> {
        let before = self.state.borrow().carried.clone();
        let Some(tested) = self.repair(pair.newer.revision, pair.older).await? else { return Ok(false) };
        let repair = tested.repair.expect("a repaired verdict names its repair");
        let tree = self.with_repair(repair, fail.tree)?;
        let is_held = match tree {
            Some(tree) => self.probe(tree, fail.revision, Phase::Repair).await == Outcome::Fail,
            None => false,
        };
        let control = if is_held { RepairCheck::Held } else { RepairCheck::Flipped };
        let mut state = self.state.borrow_mut();
        state.finding.repairs[repair].control = control;
        state.tested.retain(|_, tested| tested.repair.is_none());
        if !is_held {
            state.carried = before;
        }
        Ok(is_held)
    }

    /// Removes `with` -> `without` from a repair, if a revision that needs the repair stays testable and passes.
    async fn replace_repair(
        &self,
        repair: usize,
        with: TreeId,
        without: TreeId,
        revision: CommitId,
    ) -> Result<bool, Halt> {
        let (base, patched) = self.repair_trees(repair);
        let Merged::Clean(reduced, _) = self.trees.merge(with, patched, without, Favor::Neither)? else {
            return Ok(false);
        };
        let unrepaired = self.view(revision)?;
        let Merged::Clean(tree, _) = self.trees.merge(base, unrepaired, reduced, Favor::Neither)? else {
            return Ok(false);
        };
        if reduced == base || tree == unrepaired || !self.probe(tree, revision, Phase::Repair).await.is_testable() {
            return Ok(false);
        }
        let set = self.trees.change_set(base, reduced)?;
        let mut state = self.state.borrow_mut();
        state.finding.repairs[repair].patched = reduced;
        state.finding.repairs[repair].n_lines = set.n_lines(&set.full());
        state.finding.repairs[repair].control = RepairCheck::Flipped;
        state.carried = Some(Rc::new(Carried { base, patched: reduced, index: repair }));
        state.tested.retain(|_, tested| tested.repair.is_none());
        Ok(true)
    }

    /// All commits between the two sides, newest first: the candidates if the pair is not exact.
    pub(super) fn candidates(&self, pair: &TreePair) -> Vec<CommitId> {
        self.history.between(pair.older.revision, pair.newer.revision)
    }

    /// Whether a change touches only files that look like tests.
    pub(super) fn is_only_tests(change: &FoundChange) -> bool {
        !change.units.is_empty() && change.units.iter().all(|unit| is_test_path(&unit.path))
    }
}
