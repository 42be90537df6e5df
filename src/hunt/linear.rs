//! The linear walk: one revision after the other, with a reduction whenever the outcome changes.
//!
//! Source: Artho, Iterative Delta Debugging, Figure 2, followed exactly, including its target: the reduction keeps the
//! *original failure*, even if the older revision passes. Deviation: a patch is carried by a three-way merge, not by
//! the patch tool; if it conflicts, the outcome is `does-not-apply`.

use crate::finding::{Conclusion, Repair, RepairCheck};
use crate::minimise::{Aim, ReductionStart};
use crate::pair::TreePair;
use crate::{Event, Halt, Hunter, Phase, TestedRevision};
use idd_base::{CommitId, Outcome, Reason, TreeId};
use idd_change::trees::{Favor, Merged};

impl Hunter<'_> {
    /// Walks back on the first-parent line until a revision passes, and carries the patch that preserves the failure.
    ///
    /// Proves that this pass is the newest on the line. Cost: one probe for each revision, and one reduction for each
    /// revision whose outcome is not the original failure.
    pub(super) async fn linear(&self) -> Result<TreePair, Halt> {
        let line = self.history.first_parents(self.order.bad);
        let mut previous = self.failing_bad().await?;
        let mut patch: Option<(TreeId, TreeId, usize)> = None;
        for (steps, revision) in line.iter().copied().enumerate().skip(1) {
            self.tell(Event::Galloping { distance: steps, next: revision });
            let bare = self.view(revision)?;
            let tested = self.with_patch(patch, bare, revision).await?;
            self.record(tested);
            if tested.outcome == Outcome::Pass {
                let exact = TreePair {
                    last_good: revision,
                    older: tested,
                    newer: previous,
                    joined: Vec::new(),
                    is_exact: true,
                };
                return Ok(exact);
            }
            previous = if tested.outcome == Outcome::Fail {
                tested
            } else {
                let (kept, index) = self.keep_failure(bare, previous, revision).await?;
                patch = Some((bare, kept, index));
                TestedRevision { revision, tree: kept, outcome: Outcome::Fail, repair: Some(index), is_fetched: false }
            };
        }
        self.state.borrow_mut().finding.oldest_tested = line.last().copied();
        Err(Halt::Concluded(Conclusion::NeverPassed))
    }

    async fn with_patch(
        &self,
        patch: Option<(TreeId, TreeId, usize)>,
        bare: TreeId,
        revision: CommitId,
    ) -> Result<TestedRevision, Halt> {
        let Some((without, patched, index)) = patch else {
            let outcome = self.probe(bare, revision, Phase::Search).await;
            return Ok(TestedRevision { revision, tree: bare, outcome, repair: None, is_fetched: false });
        };
        match self.trees.merge(without, bare, patched, Favor::Neither)? {
            Merged::Clean(tree, _) => {
                let outcome = self.probe(tree, revision, Phase::Search).await;
                Ok(TestedRevision { revision, tree, outcome, repair: Some(index), is_fetched: false })
            }
            Merged::Conflict => {
                let outcome = Outcome::Unresolved(Reason::DoesNotApply);
                Ok(TestedRevision { revision, tree: bare, outcome, repair: Some(index), is_fetched: false })
            }
        }
    }

    /// `patch = DD(current, previous)`: the part of the difference that keeps the original failure.
    async fn keep_failure(
        &self,
        bare: TreeId,
        previous: TestedRevision,
        revision: CommitId,
    ) -> Result<(TreeId, usize), Halt> {
        let set = self.trees.change_set(bare, previous.tree)?;
        let wanted = |outcome| outcome == Outcome::Fail;
        let aim = Aim::of(Phase::Repair, "the patch");
        let kept = self.reduce_units(ReductionStart::whole(&set, bare), revision, aim, &wanted).await?;
        let patched = self.trees.compose(&set, bare, &kept)?.unwrap_or(previous.tree);
        let n_lines = set.n_lines(&kept);
        let source = previous.revision;
        self.tell(Event::Repaired { revision, source, n_lines });
        let mut state = self.state.borrow_mut();
        let control = RepairCheck::Provisional;
        state.finding.repairs.push(Repair { revision, source, base: bare, patched, n_lines, control });
        Ok((patched, state.finding.repairs.len() - 1))
    }
}
