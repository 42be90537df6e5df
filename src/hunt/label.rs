//! Labels the parts of a difference over several commits with the commit of each part.

use crate::finding::{ChangeEdit, FoundChange};
use crate::minimise::{ChangeDirection, edits};
use crate::{Halt, Hunter};
use idd_base::CommitId;
use idd_change::{ChangeSet, Subset};
use std::collections::HashSet;

impl Hunter<'_> {
    /// Labels each part of `change` with the newest commit of `commits` (newest first) that makes the same edit.
    ///
    /// A merge gets only parts that no other commit makes. A part that no commit makes alone (its text was edited
    /// twice) keeps its label. Cost: no probe; one difference for each compared commit.
    pub(super) fn label(&self, change: &mut FoundChange, commits: &[CommitId]) -> Result<(), Halt> {
        let (merges, plain): (Vec<CommitId>, Vec<CommitId>) =
            commits.iter().partition(|id| self.history.is_merge(**id));
        let mut open: Vec<_> = change.units.iter_mut().collect();
        for commit in plain.into_iter().chain(merges) {
            if open.is_empty() {
                break;
            }
            let Some(parent) = self.history.first_parent(commit) else { continue };
            let set = self.trees.change_set(self.view(parent)?, self.view(commit)?)?;
            let made: HashSet<ChangeEdit> = edits(&set, &set.full(), ChangeDirection::Forward).into_iter().collect();
            open.retain_mut(|part| {
                let is_made_here = part.edits.iter().any(|edit| made.contains(edit));
                if is_made_here {
                    part.commit = commit;
                }
                !is_made_here
            });
        }
        Ok(())
    }

    /// The units of a change set that one of these commits makes. Cost: no probe; one difference for each commit.
    pub(super) fn made_by(&self, set: &ChangeSet, commits: &[CommitId]) -> Result<Subset, Halt> {
        let mut made: HashSet<ChangeEdit> = HashSet::new();
        for commit in commits {
            let Some(parent) = self.history.first_parent(*commit) else { continue };
            let of_commit = self.trees.change_set(self.view(parent)?, self.view(*commit)?)?;
            made.extend(edits(&of_commit, &of_commit.full(), ChangeDirection::Forward));
        }
        let mut units = set.empty();
        for unit in &set.full() {
            let mut alone = set.empty();
            alone.insert(unit);
            if edits(set, &alone, ChangeDirection::Forward).iter().any(|edit| made.contains(edit)) {
                units.insert(unit);
            }
        }
        Ok(units)
    }

    /// The commits in the labels of a change, newest first, each once.
    pub(super) fn labels(change: &FoundChange, commits: &[CommitId]) -> Vec<CommitId> {
        let named: HashSet<CommitId> = change.units.iter().map(|unit| unit.commit).collect();
        commits.iter().copied().filter(|id| named.contains(id)).collect()
    }
}
