//! How the verdicts of a search narrow its range.

use idd_base::{CommitId, Outcome};
use idd_hunt::{History, RevisionSet};

/// The range of a search: from the newest revision that passes to the oldest one that fails.
#[derive(Debug, Clone, Default)]
pub struct Narrowing {
    /// The newest revision that passes.
    pub pass: Option<CommitId>,
    /// The oldest revision that fails, and is newer than it.
    pub fail: Option<CommitId>,
    /// The revisions that may be the first that fails: `fail`, and what leads to it and not to a pass.
    pub candidates: RevisionSet,
}

impl Narrowing {
    /// The range after these verdicts, in their order.
    pub fn of(verdicts: impl IntoIterator<Item = (CommitId, Outcome)>, history: &History) -> Self {
        let mut narrowing = Self::default();
        verdicts.into_iter().for_each(|(revision, outcome)| narrowing.take(revision, outcome, history));
        narrowing
    }

    /// Takes a verdict. One outside of the range does not change it.
    ///
    /// Cost: one look at each candidate.
    pub fn take(&mut self, revision: CommitId, outcome: Outcome, history: &History) {
        let is_inside =
            history.contains(revision) && (self.fail.is_none() || history.is_in(&self.candidates, revision));
        match outcome {
            Outcome::Fail if is_inside => {
                let mut left = history.ancestors(revision);
                match (self.fail, self.pass) {
                    (Some(_), _) => left.keep_all(&self.candidates),
                    // A revision that is given as good may pass before any fails.
                    (None, Some(pass)) => left.remove_all(&history.ancestors(pass)),
                    (None, None) => {}
                }
                (self.candidates, self.fail) = (left, Some(revision));
            }
            Outcome::Pass if is_inside && self.fail != Some(revision) => {
                if self.fail.is_some() {
                    self.candidates.remove_all(&history.ancestors(revision));
                }
                self.pass = Some(revision);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use idd_base::{Revision, TreeId};
    use std::collections::HashSet;

    pub(crate) fn id(n: u8) -> CommitId {
        CommitId::sha1([n; 20])
    }

    /// Revisions with their parents, children first.
    pub(crate) fn history(revisions: &[(u8, &[u8])]) -> History {
        let revision = |(n, parents): &(u8, &[u8])| Revision {
            id: id(*n),
            parents: parents.iter().map(|parent| id(*parent)).collect(),
            tree: TreeId::sha1([*n; 20]),
            author: "a".to_owned(),
            author_time: (i64::from(*n), 0),
            commit_time: i64::from(*n),
            subject: format!("change {n}"),
        };
        History::new(revisions.iter().map(revision).collect::<Vec<_>>(), HashSet::new())
    }

    /// - `verdicts`: `+9` passes, `-3` fails.
    /// - `ends`: the revisions at the ends of the range, likewise.
    #[track_caller]
    fn check(history: &History, verdicts: &[i16], ends: &[i16], mut candidates: Vec<u8>) {
        let verdict = |n: &i16| {
            let outcome = if *n > 0 { Outcome::Pass } else { Outcome::Fail };
            (id(u8::try_from(n.abs()).unwrap()), outcome)
        };
        let narrowing = Narrowing::of(verdicts.iter().map(verdict), history);
        let outcomes = [(narrowing.pass, Outcome::Pass), (narrowing.fail, Outcome::Fail)];
        let found = outcomes.into_iter().filter_map(|(end, outcome)| Some((end?, outcome)));
        assert_eq!(found.collect::<Vec<_>>(), ends.iter().map(verdict).collect::<Vec<_>>());
        let ids = history.revisions().rows().map(|row| history.revisions().id(row));
        let mut left: Vec<CommitId> = ids.filter(|id| history.is_in(&narrowing.candidates, *id)).collect();
        left.sort_unstable();
        candidates.sort_unstable();
        assert_eq!(left, candidates.into_iter().map(id).collect::<Vec<_>>());
    }

    #[test]
    fn each_verdict_inside_narrows_the_range_and_others_do_not() {
        let line: Vec<(u8, Vec<u8>)> = (1..=20).rev().map(|n| (n, if n > 1 { vec![n - 1] } else { vec![] })).collect();
        let line: Vec<(u8, &[u8])> = line.iter().map(|(n, parents)| (*n, parents.as_slice())).collect();
        let line = history(&line);
        check(&line, &[], &[], vec![]);
        check(&line, &[-20, -19, -17], &[-17], (1..=17).collect());
        check(&line, &[-20, -17, 9], &[9, -17], (10..=17).collect());
        check(&line, &[-20, -17, 9, -13, 11, -12], &[11, -12], vec![12]);
        // Given as good, and tested first; older and newer verdicts say nothing about the range.
        check(&line, &[9, -20, -13, -5, 18], &[9, -13], (10..=13).collect());
    }

    #[test]
    fn a_side_branch_is_left_once_its_merge_is_between_the_ends() {
        let merged = history(&[(7, &[6]), (6, &[3, 5]), (5, &[4]), (4, &[2]), (3, &[2]), (2, &[1]), (1, &[])]);
        check(&merged, &[-7, -6, 3], &[3, -6], vec![6, 5, 4]);
        check(&merged, &[-7, -6, 3, -5], &[3, -5], vec![5, 4]);
        check(&merged, &[-7, -6, 3, -5, 4], &[4, -5], vec![5]);
    }
}
