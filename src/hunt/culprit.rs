//! Finds the culprit of a pair on a line: if the newer revision is a merge, it enters the side branches.

use crate::hunt::known::Tested;
use crate::hunt::pair::Pair;
use crate::hunt::verdict::Examined;
use crate::hunt::walk::Bracket;
use crate::hunt::{Artifacts, Halt, Hunter};
use crate::outcome::Outcome;
use crate::revision::CommitId;

impl Hunter<'_> {
    /// Follows the failure into the side branches of a culprit merge.
    ///
    /// A side branch is entered only if the merge base passes, because a search needs a passing end. If every parent
    /// passes, the merge itself is the culprit, and the merge base becomes the passing side, so the reduction sees the
    /// changes of each branch. Cost: two probes for each merge, log2(n) in the branch.
    pub(super) async fn enter_side_branches(&self, pair: Pair) -> Result<Pair, Halt> {
        let mut pair = pair;
        'merge: loop {
            let merge = pair.newer.revision;
            let parents = self.history.get(merge).parents.clone();
            if self.order.first_parent || parents.len() < 2 || !parents.contains(&pair.older.revision) {
                return Ok(pair);
            }
            let mut passing_base = None;
            for parent in parents.iter().filter(|parent| **parent != pair.older.revision) {
                let Some((line, base)) = self.side_line(merge, *parent, pair.older.revision).await? else {
                    return Ok(pair);
                };
                match self.examine(&line, 1, 0).await? {
                    Examined::Verdict { tested, .. } if tested.outcome == Outcome::Fail => {
                        let bracket = Bracket { line: line[1..].to_vec(), bad: tested, good: base };
                        pair = self.search(bracket).await?;
                        continue 'merge;
                    }
                    Examined::Verdict { .. } => passing_base = Some(base),
                    Examined::Irreparable => {
                        // The commits of the branch are candidates.
                        let is_exact = pair.is_exact && self.order.artifacts != Artifacts::Only;
                        return Ok(Pair { is_exact, ..pair });
                    }
                }
            }
            if let Some(base) = passing_base
                && base.repair == pair.older.repair
            {
                self.note(
                    "every parent of the first bad revision passes: the merge itself brings the failure".to_owned(),
                );
                pair.older = base;
            }
            return Ok(pair);
        }
    }

    /// The line from a merge through one of its other parents down to the merge base, if that base passes.
    async fn side_line(
        &self,
        merge: CommitId,
        parent: CommitId,
        main: CommitId,
    ) -> Result<Option<(Vec<CommitId>, Tested)>, Halt> {
        let Some(base) = self.history.merge_base(main, parent) else {
            self.note(
                "the first bad merge joins histories without a common commit, so its side branch was not searched"
                    .to_owned(),
            );
            return Ok(None);
        };
        let Some(branch) = self.history.path(parent, base) else { return Ok(None) };
        let tested = self.as_tested(base).await?;
        if tested.outcome != Outcome::Pass {
            self.note(
                "the merge base of the first bad merge does not pass, so its side branch was not searched".to_owned(),
            );
            return Ok(None);
        }
        let line: Vec<CommitId> = std::iter::once(merge).chain(branch).collect();
        Ok((line.len() > 2).then_some((line, tested)))
    }
}
