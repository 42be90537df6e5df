//! Many revisions in little memory.

use crate::{CommitId, ObjectId, Revision, TreeId};
use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasher as _, RandomState};

/// A place of the index without a row.
const FREE: u32 = u32::MAX;

/// Revisions of one repository, each at the *row* of its commit. A commit that is known only as a parent has a row, too.
///
/// Memory: about 120 bytes for each revision, and its subject.
#[derive(Debug, Clone, Default)]
pub struct RevisionTable {
    /// The length of an id in bytes.
    n_id_bytes: usize,
    /// For each row the ids of its commit and of its tree.
    ids: Vec<u8>,
    facts: Vec<RevisionRow>,
    /// The rows of the parents of all revisions.
    parents: Vec<u32>,
    /// The subjects, each with a line feed after it.
    subjects: String,
    authors: Vec<String>,
    author_numbers: HashMap<String, u32>,
    /// The row of each commit, at the first free place from its hash on.
    index: Vec<u32>,
    hasher: RandomState,
    /// The rows of the revisions.
    order: Vec<u32>,
}

#[derive(Debug, Clone, Copy, Default)]
struct RevisionRow {
    commit_time: i64,
    author_seconds: i64,
    author_minutes: i32,
    author: u32,
    /// The beginning of the subject.
    subject: usize,
    /// The first parent in the list of all.
    parents: u32,
    n_parents: u32,
    /// Whether this is more than a parent.
    is_there: bool,
}

impl RevisionTable {
    /// The number of rows, which are those below it.
    pub fn n_rows(&self) -> usize {
        self.facts.len()
    }

    /// The rows of the revisions, in the order in which they were added or [sorted](Self::sort).
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator + '_ {
        self.order.iter().map(|row| *row as usize)
    }

    /// The row of a commit, if its revision is there.
    pub fn row(&self, id: CommitId) -> Option<usize> {
        let row = *self.index.get(self.place(id.0)?)?;
        (row != FREE && self.is_there(row as usize)).then_some(row as usize)
    }

    /// Whether the revision of a row is there.
    pub fn is_there(&self, row: usize) -> bool {
        self.facts[row].is_there
    }

    /// The commit of a row.
    pub fn id(&self, row: usize) -> CommitId {
        CommitId(self.object(2 * row))
    }

    /// The tree of a revision.
    pub fn tree(&self, row: usize) -> TreeId {
        TreeId(self.object(2 * row + 1))
    }

    /// The rows of the parents of a revision, first parent first; their revisions need not be there.
    pub fn parents(&self, row: usize) -> impl ExactSizeIterator<Item = usize> + '_ {
        let RevisionRow { parents, n_parents, .. } = self.facts[row];
        self.parents[parents as usize..][..n_parents as usize].iter().map(|row| *row as usize)
    }

    /// The revision of a row.
    pub fn revision(&self, row: usize) -> Revision {
        let facts = self.facts[row];
        Revision {
            id: self.id(row),
            parents: self.parents(row).map(|parent| self.id(parent)).collect(),
            tree: self.tree(row),
            author: self.authors[facts.author as usize].clone(),
            author_time: (facts.author_seconds, facts.author_minutes),
            commit_time: facts.commit_time,
            subject: self.subjects[facts.subject..].split('\n').next().unwrap_or_default().to_owned(),
        }
    }

    /// The row of a commit, which is added if it is new.
    pub fn add(&mut self, id: CommitId) -> usize {
        self.n_id_bytes = id.0.as_bytes().len();
        if 4 * (self.n_rows() + 1) > 3 * self.index.len() {
            self.index = vec![FREE; (2 * self.index.len()).max(1024)];
            for row in 0..self.n_rows() {
                self.enter(row);
            }
        }
        let known = self.place(id.0).map(|place| self.index[place]).filter(|row| *row != FREE);
        known.map_or_else(
            || {
                let row = self.n_rows();
                self.ids.extend_from_slice(id.0.as_bytes());
                self.ids.resize(2 * (row + 1) * self.n_id_bytes, 0);
                self.facts.push(RevisionRow::default());
                self.enter(row);
                row
            },
            |row| row as usize,
        )
    }

    /// Adds a revision that is not there yet.
    pub fn push(&mut self, revision: &Revision) {
        let row = self.add(revision.id);
        let tree = (2 * row + 1) * self.n_id_bytes;
        self.ids[tree..tree + self.n_id_bytes].copy_from_slice(revision.tree.0.as_bytes());
        let author = self.author_numbers.get(&revision.author).copied().unwrap_or_else(|| {
            let number = number(self.authors.len());
            self.authors.push(revision.author.clone());
            self.author_numbers.insert(revision.author.clone(), number);
            number
        });
        let (subject, parents) = (self.subjects.len(), number(self.parents.len()));
        self.subjects.extend([&revision.subject, "\n"]);
        for parent in &revision.parents {
            let parent = number(self.add(*parent));
            self.parents.push(parent);
        }
        self.facts[row] = RevisionRow {
            commit_time: revision.commit_time,
            author_seconds: revision.author_time.0,
            author_minutes: revision.author_time.1,
            author,
            subject,
            parents,
            n_parents: number(revision.parents.len()),
            is_there: true,
        };
        self.order.push(number(row));
    }

    /// Brings the revisions into an order with children before parents; of several possible ones the newest first.
    pub fn sort(&mut self) {
        let mut n_children = vec![0_u32; self.n_rows()];
        for row in self.rows() {
            self.parents(row).for_each(|parent| n_children[parent] += 1);
        }
        let by_time = |row: usize| (self.facts[row].commit_time, self.id(row), row);
        let mut ready: BinaryHeap<_> = self.rows().filter(|row| n_children[*row] == 0).map(by_time).collect();
        let mut order = Vec::with_capacity(self.order.len());
        while let Some((_, _, row)) = ready.pop() {
            order.push(number(row));
            for parent in self.parents(row) {
                n_children[parent] -= 1;
                if n_children[parent] == 0 && self.is_there(parent) {
                    ready.push(by_time(parent));
                }
            }
        }
        self.order = order;
    }

    fn object(&self, nth: usize) -> ObjectId {
        let bytes = &self.ids[nth * self.n_id_bytes..][..self.n_id_bytes];
        ObjectId::from_bytes(bytes).expect("the bytes of an id were stored")
    }

    /// Where the row of an id is in the index, or would be; `None` in an empty table.
    fn place(&self, id: ObjectId) -> Option<usize> {
        let mask = self.index.len().checked_sub(1)?;
        let is_its = |place: &usize| {
            let row = self.index[*place];
            row == FREE || self.object(2 * row as usize) == id
        };
        let first = usize::try_from(self.hasher.hash_one(id) & mask as u64).expect("it is below the mask");
        (first..=mask).chain(0..first).find(is_its)
    }

    fn enter(&mut self, row: usize) {
        let place = self.place(self.object(2 * row)).expect("the index has free places");
        self.index[place] = number(row);
    }
}

impl From<Vec<Revision>> for RevisionTable {
    /// In the same order.
    fn from(revisions: Vec<Revision>) -> Self {
        let mut table = Self::default();
        for revision in &revisions {
            table.push(revision);
        }
        table
    }
}

fn number(of: usize) -> u32 {
    u32::try_from(of).expect("a history has fewer than 4 thousand million commits")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn revision(n: u16, parents: &[u16], commit_time: i64) -> Revision {
        let id =
            |n: &u16| CommitId(ObjectId::Sha1([[0; 18].as_slice(), &n.to_be_bytes()].concat().try_into().unwrap()));
        Revision {
            id: id(&n),
            parents: parents.iter().map(id).collect(),
            tree: TreeId::sha1([7; 20]),
            author: format!("author {}", n % 7),
            author_time: (commit_time - 1, -60),
            commit_time,
            subject: format!("ü {n}"),
        }
    }

    #[test]
    fn revisions_are_read_as_they_were_added() {
        let revisions: Vec<Revision> = (1..4000).rev().map(|n| revision(n, &[n - 1, n / 2], i64::from(n))).collect();
        let table = RevisionTable::from(revisions.clone());
        assert_eq!(table.rows().map(|row| table.revision(row)).collect::<Vec<_>>(), revisions);
        assert!(revisions.iter().all(|revision| table.row(revision.id).map(|row| table.id(row)) == Some(revision.id)));
        assert_eq!((table.row(revision(0, &[], 0).id), table.row(revision(4000, &[], 0).id)), (None, None));
        assert_eq!(RevisionTable::default().row(revisions[0].id), None);
    }

    #[test]
    fn children_come_before_parents_and_newer_ones_first() {
        let mut table = RevisionTable::from(vec![
            revision(1, &[0], 9),
            revision(3, &[1], 5),
            revision(4, &[2, 3], 1),
            revision(2, &[1], 4),
            revision(5, &[2], 3),
        ]);
        table.sort();
        let ids: Vec<CommitId> = table.rows().map(|row| table.id(row)).collect();
        assert_eq!(ids, [5, 4, 3, 2, 1].map(|n| revision(n, &[], 0).id));
    }
}
