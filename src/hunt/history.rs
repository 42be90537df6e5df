//! The searched history: a directed graph of revisions, and lines through it.

use idd_base::{CommitId, Revision, RevisionTable, TreeId};
use std::collections::HashSet;
use std::{iter, mem};

/// Two commits of one author are one step if their committer times are at most this many seconds apart.
///
/// Source: Artho, Iterative Delta Debugging, section 5.3, where five minutes recover the revisions of CVS.
const BURST_SECONDS: u64 = 5 * 60;

/// All revisions of one hunt.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// Children before parents.
    revisions: RevisionTable,
    shallow: HashSet<CommitId>,
    /// Commits with a tag.
    tagged: HashSet<CommitId>,
}

/// Revisions of one history, by their rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RevisionSet(Vec<bool>);

impl RevisionSet {
    /// Removes the revisions of another set of the same history.
    pub fn remove_all(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(is_in, is_other)| *is_in &= !is_other);
    }

    /// Keeps only the revisions of another set of the same history.
    pub fn keep_all(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(is_in, is_other)| *is_in &= is_other);
    }
}

impl History {
    /// Takes revisions in topological order (children before parents) and the commits whose parents a shallow clone
    /// lacks.
    pub fn new(revisions: impl Into<RevisionTable>, shallow: HashSet<CommitId>) -> Self {
        Self { revisions: revisions.into(), shallow, tagged: HashSet::new() }
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
    pub fn get(&self, id: CommitId) -> Revision {
        self.revisions.revision(self.known_row(id))
    }

    /// The tree of a commit of this history. Panics as [`get`](Self::get).
    pub fn tree(&self, id: CommitId) -> TreeId {
        self.revisions.tree(self.known_row(id))
    }

    /// The first parent of a commit of this history, if it is part of it, too. Panics as [`get`](Self::get).
    pub fn first_parent(&self, id: CommitId) -> Option<CommitId> {
        Some(self.revisions.id(self.first_parent_row(self.known_row(id))?))
    }

    /// Whether a commit of this history has several parents. Panics as [`get`](Self::get).
    pub fn is_merge(&self, id: CommitId) -> bool {
        self.revisions.parents(self.known_row(id)).len() > 1
    }

    /// The revision of a commit, if it is part of this history.
    pub fn find(&self, id: CommitId) -> Option<Revision> {
        Some(self.revisions.revision(self.revisions.row(id)?))
    }

    /// Whether a commit is part of this history.
    pub fn contains(&self, id: CommitId) -> bool {
        self.revisions.row(id).is_some()
    }

    /// All revisions, children before parents.
    pub fn revisions(&self) -> &RevisionTable {
        &self.revisions
    }

    /// Number of revisions.
    pub fn len(&self) -> usize {
        self.revisions.rows().len()
    }

    /// Whether there is no revision at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the history ends at `id` only because the clone is shallow.
    pub fn is_shallow_border(&self, id: CommitId) -> bool {
        self.shallow.contains(&id)
    }

    /// The rows of the line of first parents from `newest` to its root.
    pub fn first_parent_rows(&self, newest: CommitId) -> impl Iterator<Item = usize> + '_ {
        iter::successors(Some(self.known_row(newest)), move |row| self.first_parent_row(*row))
    }

    /// The line of first parents from `newest` (index 0) to its root.
    pub fn first_parents(&self, newest: CommitId) -> Vec<CommitId> {
        self.first_parent_rows(newest).map(|row| self.revisions.id(row)).collect()
    }

    /// `of` and everything reachable from it.
    pub fn ancestors(&self, of: CommitId) -> RevisionSet {
        let mut reached = vec![false; self.revisions.n_rows()];
        let mut open = vec![self.known_row(of)];
        while let Some(current) = open.pop() {
            if self.revisions.is_there(current) && !mem::replace(&mut reached[current], true) {
                open.extend(self.revisions.parents(current));
            }
        }
        RevisionSet(reached)
    }

    /// Whether a commit is in a set.
    pub fn is_in(&self, set: &RevisionSet, id: CommitId) -> bool {
        self.revisions.row(id).is_some_and(|row| set.0.get(row) == Some(&true))
    }

    /// A line of parent links from `newer` (index 0) down to `older` (last); first parents wherever they lead there.
    ///
    /// `None` if `older` is not an ancestor of `newer`. Cost: one pass over the history.
    pub fn path(&self, newer: CommitId, older: CommitId) -> Option<Vec<CommitId>> {
        let older = self.revisions.row(older)?;
        let leads_there = self.descendants(older);
        let next = |row: &usize| {
            let mut parents = self.revisions.parents(*row).filter(|_| *row != older);
            parents.find(|parent| leads_there[*parent])
        };
        let newer = self.revisions.row(newer).filter(|row| leads_there[*row])?;
        Some(iter::successors(Some(newer), next).map(|row| self.revisions.id(row)).collect())
    }

    /// For each row whether its commit has that of `of` as an ancestor, or is it.
    fn descendants(&self, of: usize) -> Vec<bool> {
        let mut reached = vec![false; self.revisions.n_rows()];
        reached[of] = true;
        for row in self.revisions.rows().rev() {
            let is_after = self.revisions.parents(row).any(|parent| reached[parent]);
            reached[row] |= is_after;
        }
        reached
    }

    /// A common ancestor: one of the two if it is an ancestor of the other, else the newest one, preferably on the
    /// first-parent line of `ours`.
    pub fn merge_base(&self, ours: CommitId, theirs: CommitId) -> Option<CommitId> {
        let (own, reachable) = (self.ancestors(ours), self.ancestors(theirs));
        if self.is_in(&own, theirs) {
            return Some(theirs);
        }
        let on_line = self.first_parent_rows(ours).find(|row| reachable.0[*row]);
        let newest = || self.revisions.rows().find(|row| own.0[*row] && reachable.0[*row]);
        on_line.or_else(newest).map(|row| self.revisions.id(row))
    }

    /// The commits reachable from `newer` but not from `older`, children before parents.
    pub fn between(&self, older: CommitId, newer: CommitId) -> Vec<CommitId> {
        let mut reached = self.ancestors(newer);
        reached.remove_all(&self.ancestors(older));
        self.revisions.rows().filter(|row| reached.0[*row]).map(|row| self.revisions.id(row)).collect()
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

    fn known_row(&self, id: CommitId) -> usize {
        self.revisions.row(id).expect("a commit id that came from this history")
    }

    fn first_parent_row(&self, row: usize) -> Option<usize> {
        self.revisions.parents(row).next().filter(|parent| self.revisions.is_there(*parent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
