//! The searched history: a directed graph of revisions, and lines through it.

use idd_base::revision::{CommitId, Revision};
use std::collections::{HashMap, HashSet};

/// Two commits of one author are one step if their committer times are at most this many seconds apart.
///
/// Source: Artho, Iterative Delta Debugging, section 5.3, where five minutes recover the revisions of CVS.
const BURST_SECONDS: u64 = 5 * 60;

/// All revisions of one hunt.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// Children before parents.
    revisions: Vec<Revision>,
    index: HashMap<CommitId, usize>,
    shallow: HashSet<CommitId>,
    /// Commits with a tag.
    tagged: HashSet<CommitId>,
}

impl History {
    /// Takes revisions in topological order (children before parents) and the commits whose parents a shallow clone
    /// lacks.
    pub fn new(revisions: Vec<Revision>, shallow: HashSet<CommitId>) -> Self {
        let index = revisions.iter().enumerate().map(|(index, revision)| (revision.id, index)).collect();
        Self { revisions, index, shallow, tagged: HashSet::new() }
    }

    /// The same history, in which these commits have a tag.
    #[must_use]
    pub fn with_tagged(self, tagged: HashSet<CommitId>) -> Self {
        Self { tagged, ..self }
    }

    /// Whether a commit has a tag: it is probably a release, which can be built and was tested.
    pub fn is_tagged(&self, id: CommitId) -> bool {
        self.tagged.contains(&id)
    }

    /// The revision of a commit of this history.
    ///
    /// Panics if the commit is not part of it; ids come from this history only.
    pub fn get(&self, id: CommitId) -> &Revision {
        self.find(id).expect("a commit id that came from this history")
    }

    /// The revision of a commit, if it is part of this history.
    pub fn find(&self, id: CommitId) -> Option<&Revision> {
        self.index.get(&id).map(|index| &self.revisions[*index])
    }

    /// All revisions, children before parents.
    pub fn revisions(&self) -> &[Revision] {
        &self.revisions
    }

    /// Number of revisions.
    pub fn len(&self) -> usize {
        self.revisions.len()
    }

    /// Whether there is no revision at all.
    pub fn is_empty(&self) -> bool {
        self.revisions.is_empty()
    }

    /// Whether the history ends at `id` only because the clone is shallow.
    pub fn is_shallow_border(&self, id: CommitId) -> bool {
        self.shallow.contains(&id)
    }

    /// The line of first parents from `newest` (index 0) to its root.
    pub fn first_parents(&self, newest: CommitId) -> Vec<CommitId> {
        let mut line = vec![newest];
        let mut current = newest;
        while let Some(parent) = self.get(current).parents.first().copied() {
            if self.find(parent).is_none() {
                break;
            }
            line.push(parent);
            current = parent;
        }
        line
    }

    /// `of` and everything reachable from it.
    pub fn ancestors(&self, of: CommitId) -> HashSet<CommitId> {
        let mut reached = HashSet::from([of]);
        let mut open = vec![of];
        while let Some(current) = open.pop() {
            for parent in &self.get(current).parents {
                if self.find(*parent).is_some() && reached.insert(*parent) {
                    open.push(*parent);
                }
            }
        }
        reached
    }

    /// A line of parent links from `newer` (index 0) down to `older` (last); first parents wherever they lead there.
    ///
    /// `None` if `older` is not an ancestor of `newer`. Cost: one pass over the history.
    pub fn path(&self, newer: CommitId, older: CommitId) -> Option<Vec<CommitId>> {
        let leads_there = self.descendants(older);
        let mut current = newer;
        let mut line = Vec::new();
        leads_there.contains(&newer).then_some(())?;
        loop {
            line.push(current);
            if current == older {
                return Some(line);
            }
            current = *self.get(current).parents.iter().find(|parent| leads_there.contains(parent))?;
        }
    }

    /// The commits that have `of` as an ancestor, and `of` itself.
    fn descendants(&self, of: CommitId) -> HashSet<CommitId> {
        let mut reached = HashSet::from([of]);
        for revision in self.revisions.iter().rev() {
            if revision.parents.iter().any(|parent| reached.contains(parent)) {
                reached.insert(revision.id);
            }
        }
        reached
    }

    /// A common ancestor: one of the two if it is an ancestor of the other, else the newest one, preferably on the
    /// first-parent line of `ours`.
    pub fn merge_base(&self, ours: CommitId, theirs: CommitId) -> Option<CommitId> {
        let (own, reachable) = (self.ancestors(ours), self.ancestors(theirs));
        if own.contains(&theirs) {
            return Some(theirs);
        }
        let mut first_parents = self.first_parents(ours).into_iter();
        first_parents.find(|id| reachable.contains(id)).or_else(|| {
            self.revisions.iter().map(|revision| revision.id).find(|id| own.contains(id) && reachable.contains(id))
        })
    }

    /// The commits reachable from `newer` but not from `older`, children before parents.
    pub fn between(&self, older: CommitId, newer: CommitId) -> Vec<CommitId> {
        let excluded = self.ancestors(older);
        let included = self.ancestors(newer);
        let ids = self.revisions.iter().map(|revision| revision.id);
        ids.filter(|id| included.contains(id) && !excluded.contains(id)).collect()
    }

    /// The index on `line` of the newest commit of the burst that `line[index]` belongs to, at most `index`.
    ///
    /// A burst is a run of single-parent commits of one author, each within five minutes of the next.
    pub fn burst_end(&self, line: &[CommitId], index: usize) -> usize {
        let mut end = index;
        while end > 0 && self.is_same_step(line[end], line[end - 1]) {
            end -= 1;
        }
        end
    }

    fn is_same_step(&self, older: CommitId, newer: CommitId) -> bool {
        let (older, newer) = (self.get(older), self.get(newer));
        newer.parents.len() == 1
            && older.author == newer.author
            && newer.commit_time.abs_diff(older.commit_time) <= BURST_SECONDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use idd_base::revision::TreeId;

    fn id(n: u8) -> CommitId {
        CommitId::sha1([n; 20])
    }

    fn revision(n: u8, parents: &[u8], author: &str, commit_time: i64) -> Revision {
        Revision {
            id: id(n),
            parents: parents.iter().map(|parent| id(*parent)).collect(),
            tree: TreeId::sha1([n; 20]),
            author: author.to_owned(),
            author_time: (commit_time, 0),
            commit_time,
            subject: format!("change {n}"),
        }
    }

    /// 1 - 2 - 3 - 6 (merge of 3 and 5) - 7, with 2 - 4 - 5 as side branch.
    fn merged() -> History {
        let revisions = vec![
            revision(7, &[6], "a", 7000),
            revision(6, &[3, 5], "a", 6000),
            revision(5, &[4], "b", 5000),
            revision(4, &[2], "b", 4900),
            revision(3, &[2], "a", 3000),
            revision(2, &[1], "a", 2000),
            revision(1, &[], "a", 1000),
        ];
        History::new(revisions, HashSet::new())
    }

    fn ids(ns: &[u8]) -> Vec<CommitId> {
        ns.iter().map(|n| id(*n)).collect()
    }

    #[test]
    fn the_first_parent_line_leaves_side_branches_out() {
        assert_eq!(merged().first_parents(id(7)), ids(&[7, 6, 3, 2, 1]));
    }

    #[test]
    fn a_path_enters_a_side_branch_only_if_it_must() {
        assert_eq!(merged().path(id(7), id(2)), Some(ids(&[7, 6, 3, 2])));
        assert_eq!(merged().path(id(7), id(4)), Some(ids(&[7, 6, 5, 4])));
        assert_eq!(merged().path(id(3), id(5)), None);
    }

    #[test]
    fn the_merge_base_of_two_branches_is_where_they_parted() {
        assert_eq!(merged().merge_base(id(3), id(5)), Some(id(2)));
        assert_eq!(merged().merge_base(id(7), id(5)), Some(id(5)));
    }

    #[test]
    fn between_lists_what_the_older_end_cannot_reach() {
        assert_eq!(merged().between(id(3), id(6)), ids(&[6, 5, 4]));
    }

    #[test]
    fn a_burst_is_one_author_within_five_minutes() {
        let history = merged();
        let line = ids(&[6, 5, 4, 2]);
        assert_eq!(history.burst_end(&line, 2), 1);
        assert_eq!(history.burst_end(&line, 1), 1);
        assert_eq!(history.burst_end(&line, 3), 3);
    }
}
