//! Finds the culprit of a pair on a line: if the newer revision is a merge, it enters the side branches.

use crate::pair::{Bracket, TreePair};
use crate::verdict::Examined;
use crate::{Halt, Hunter, TestedRevision};
use idd_base::{CommitId, Outcome};

/// The side branch of a merge.
enum SideBranch {
    /// It can be searched: from the merge to the merge base, which passes.
    Line(Vec<CommitId>, TestedRevision),
    /// There is nothing to search.
    None,
    /// Neither its tip nor the merge base has a verdict.
    Untestable,
}

impl Hunter<'_> {
    /// Follows the failure into the side branches of a culprit merge.
    ///
    /// A side branch is entered only if the merge base passes, because a search needs a passing end. If every parent
    /// passes, the merge itself is the culprit, and the merge base becomes the passing side, so the reduction sees the
    /// changes of each branch. Cost: two probes for each merge, log2(n) in the branch.
    pub(super) async fn enter_side_branches(&self, pair: TreePair) -> Result<TreePair, Halt> {
        let mut pair = pair;
        'merge: loop {
            let merge = pair.newer.revision;
            let parents = self.history.get(merge).parents;
            let Some(main) = self.main_parent(&pair, &parents) else { return Ok(pair) };
            let mut passing_base = None;
            for parent in parents.iter().filter(|parent| **parent != main) {
                let (line, base) = match self.side_line(merge, *parent, main).await? {
                    SideBranch::Line(line, base) => (line, base),
                    SideBranch::None => return Ok(pair),
                    SideBranch::Untestable => return Ok(TreePair { is_exact: false, ..pair }),
                };
                match self.examine(&line, 1, 0).await? {
                    Examined::Verdict { tested, .. } if tested.outcome == Outcome::Fail => {
                        let bracket = Bracket { line: line[1..].to_vec(), bad: tested, good: base };
                        pair = self.search(bracket).await?;
                        continue 'merge;
                    }
                    Examined::Around(bracket) => {
                        pair = self.search(bracket).await?;
                        continue 'merge;
                    }
                    Examined::Verdict { .. } => passing_base = Some(base),
                    Examined::Irreparable => {
                        // The commits of the branch are candidates.
                        return Ok(TreePair { is_exact: false, ..pair });
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

    /// The parent of a merge through which the line of a pair goes. The line can omit commits that change no path of the
    /// search. `None` if the newer revision is no merge, or if side branches do not count.
    fn main_parent(&self, pair: &TreePair, parents: &[CommitId]) -> Option<CommitId> {
        if self.order.first_parent || parents.len() < 2 {
            return None;
        }
        let older = pair.older.revision;
        let is_omitted = || pair.is_exact && pair.joined.is_empty() && self.history.path(parents[0], older).is_some();
        if parents.contains(&older) { Some(older) } else { is_omitted().then(|| parents[0]) }
    }

    /// The line from a merge through one of its other parents down to the merge base, if that base passes.
    async fn side_line(&self, merge: CommitId, parent: CommitId, main: CommitId) -> Result<SideBranch, Halt> {
        let Some(base) = self.history.merge_base(main, parent) else {
            self.note(
                "the first bad merge joins histories without a common commit, so its side branch was not searched"
                    .to_owned(),
            );
            return Ok(SideBranch::None);
        };
        let Some(branch) = self.history.path(parent, base) else { return Ok(SideBranch::None) };
        let tested = self.as_tested(base).await?;
        if !tested.outcome.is_testable() && self.as_tested(parent).await?.outcome != Outcome::Pass {
            self.note(
                "the merge base of the first bad merge cannot be tested, so the commits of its side branch are candidates"
                    .to_owned(),
            );
            return Ok(SideBranch::Untestable);
        }
        if tested.outcome != Outcome::Pass {
            self.note(
                "the merge base of the first bad merge does not pass, so its side branch was not searched".to_owned(),
            );
            return Ok(SideBranch::None);
        }
        let line: Vec<CommitId> = std::iter::once(merge).chain(branch).collect();
        Ok(if line.len() > 2 { SideBranch::Line(line, tested) } else { SideBranch::None })
    }
}
