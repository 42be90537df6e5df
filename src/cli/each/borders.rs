//! The commits that are known to have broken a test, and which of them to try for the next test.

use crate::revision::CommitId;
use crate::world::repo::Repository;
use crate::world::repo::graph;

/// A commit that broke a test, and the revision before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Border {
    /// The commit.
    pub bad: CommitId,
    /// The revision before it, where the test passes.
    pub good: CommitId,
}

/// Where the culprit of a test is, seen from a border.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The test passes with the commit, too.
    Newer,
    /// The test fails before the commit, too.
    Older,
    /// The commit cannot be tested with it.
    Unknown,
}

/// All known borders.
pub struct Borders {
    /// Older ones before newer ones.
    known: Vec<Border>,
    /// The one of the last test: tests of one culprit often stand beside each other in a list.
    last: Option<Border>,
    repository: Repository,
}

impl Borders {
    /// None yet.
    pub fn new(repository: Repository) -> Self {
        Self { known: Vec::new(), last: None, repository }
    }

    /// A test has this border.
    pub fn add(&mut self, border: Border) {
        self.last = Some(border);
        if self.known.iter().all(|known| known.bad != border.bad) {
            let is_newer = |known: &Border| graph::is_ancestor(&self.repository, border.bad, known.bad);
            let place = self.known.iter().position(is_newer).unwrap_or(self.known.len());
            self.known.insert(place, border);
        }
    }

    /// The search for the border of the next test.
    pub fn search(&self) -> Search<'_> {
        Search { borders: self, left: self.known.clone(), first: self.last, passing: Vec::new() }
    }

    fn is_before(&self, older: CommitId, newer: CommitId) -> bool {
        older == newer || graph::is_ancestor(&self.repository, older, newer)
    }
}

/// A binary search in the known borders. In a linear history with n of them, it takes at most log n + 2 questions.
pub struct Search<'b> {
    borders: &'b Borders,
    left: Vec<Border>,
    first: Option<Border>,
    passing: Vec<CommitId>,
}

impl Search<'_> {
    /// The border to try next; `None` if no known one is left.
    pub fn next(&mut self) -> Option<Border> {
        self.first.take().or_else(|| self.left.get(self.left.len() / 2).copied())
    }

    /// What trying a border has said.
    pub fn seen(&mut self, border: Border, side: Side) {
        let borders = self.borders;
        self.left.retain(|left| match side {
            Side::Newer => !borders.is_before(left.bad, border.bad),
            Side::Older => !borders.is_before(border.bad, left.bad),
            Side::Unknown => *left != border,
        });
        if side == Side::Newer {
            self.passing.retain(|older| !borders.is_before(*older, border.bad));
            self.passing.push(border.bad);
        }
    }

    /// The newest revisions at which the test has passed.
    pub fn into_passing(self) -> Vec<CommitId> {
        self.passing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing::World;
    use crate::world::repo::private;

    /// The borders of a history, by the indices of the bad commits, and all commits, the oldest first.
    fn borders(indices: &[usize]) -> (Borders, Vec<Border>) {
        let world = World::with_culprit();
        let commits = world.commits.clone();
        let mut borders = Borders::new(private::open(&world.location().git_directory).unwrap());
        let all: Vec<Border> = commits.windows(2).map(|pair| Border { good: pair[0], bad: pair[1] }).collect();
        for index in indices {
            borders.add(all[*index]);
        }
        (borders, all)
    }

    /// The borders that are tried for a culprit.
    fn tried(borders: &Borders, culprit: Border, all: &[Border]) -> (Vec<usize>, usize) {
        let index = |border: Border| all.iter().position(|other| *other == border).unwrap();
        let mut search = borders.search();
        let mut tried = Vec::new();
        while let Some(border) = search.next() {
            tried.push(index(border));
            if border == culprit {
                break;
            }
            search.seen(border, if index(culprit) > index(border) { Side::Newer } else { Side::Older });
        }
        (tried, search.into_passing().len())
    }

    #[test]
    fn the_last_border_is_tried_first_and_then_the_middle_of_what_is_left() {
        let (borders, all) = borders(&[2, 0, 1]);
        assert_eq!(tried(&borders, all[1], &all), (vec![1], 0));
        assert_eq!(tried(&borders, all[2], &all), (vec![1, 2], 1));
        assert_eq!(tried(&borders, all[0], &all), (vec![1, 0], 0));
    }

    #[test]
    fn a_border_that_cannot_be_tested_is_left_out() {
        let (borders, all) = borders(&[0]);
        let mut search = borders.search();
        assert_eq!(search.next(), Some(all[0]));
        search.seen(all[0], Side::Unknown);
        assert_eq!(search.next(), None);
        assert!(search.into_passing().is_empty());
    }
}
