//! Names revisions by their place in history, as git does: `HEAD~37`.

use idd_base::CommitId;
use idd_hunt::History;
use idd_world::repo::{Location, graph, private};
use std::fmt::Write as _;
use std::rc::Rc;

/// The searched history, and the place of each of its revisions.
#[derive(Debug, Clone, Default)]
pub struct Positions {
    /// The history.
    pub history: Rc<History>,
    /// The revision from which places are counted.
    origin: Option<NamedRevision>,
    /// For each row of the history its distance on the line of first parents.
    distances: Vec<Option<u32>>,
}

/// A revision with a name.
#[derive(Debug, Clone)]
struct NamedRevision {
    revision: CommitId,
    name: String,
}

impl Positions {
    /// Places are counted from `head`, as `HEAD`, if it leads to `bad`; else from `bad`, by its short id.
    pub fn new(history: Rc<History>, bad: CommitId, head: Option<CommitId>) -> Self {
        let is_known = |id: &CommitId| history.contains(*id);
        let head = head.filter(|head| is_known(head) && (*head == bad || history.path(*head, bad).is_some()));
        let origin = match head {
            Some(revision) => Some(NamedRevision { revision, name: "HEAD".to_owned() }),
            None if is_known(&bad) => Some(NamedRevision { revision: bad, name: bad.short() }),
            None => None,
        };
        let mut distances = vec![None; history.revisions().n_rows()];
        let line = origin.iter().flat_map(|origin| history.first_parent_rows(origin.revision));
        line.zip(0..).for_each(|(row, distance)| distances[row] = Some(distance));
        Self { history, origin, distances }
    }

    /// The same with the present HEAD of a worktree.
    pub fn of(history: Rc<History>, bad: CommitId, location: &Location) -> Self {
        let user = private::open(&location.git_directory);
        let head = user.ok().and_then(|user| graph::resolve(&user, "HEAD").ok());
        Self::new(history, bad, head)
    }

    /// `HEAD`, `HEAD~37`, or `HEAD~3^2~1` behind a merge; `None` if the history does not lead there.
    ///
    /// Cost: one pass over the history if the revision is not on the line of first parents.
    pub fn name(&self, id: CommitId) -> Option<String> {
        let NamedRevision { revision, mut name } = self.origin.clone()?;
        if let Some(distance) = self.distances[self.history.revisions().row(id)?] {
            step(&mut name, distance);
            return Some(name);
        }
        let path = self.history.path(revision, id)?;
        let mut n_first = 0;
        for (child, parent) in path.iter().zip(&path[1..]) {
            match self.history.get(*child).parents.iter().position(|known| known == parent)? {
                0 => n_first += 1,
                nth => {
                    step(&mut name, std::mem::take(&mut n_first));
                    let _ = write!(name, "^{}", nth + 1);
                }
            }
        }
        step(&mut name, n_first);
        Some(name)
    }
}

/// Goes back by so many first parents.
fn step(name: &mut String, distance: u32) {
    if distance > 0 {
        let _ = write!(name, "~{distance}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::narrowing::tests::{history, id};

    #[test]
    fn a_revision_has_the_name_that_git_understands() {
        // 1 - 2 - 3 - 6 (merge of 3 and 5) - 7, with 2 - 4 - 5 as side branch.
        let history =
            Rc::new(history(&[(7, &[6]), (6, &[3, 5]), (5, &[4]), (4, &[2]), (3, &[2]), (2, &[1]), (1, &[])]));
        let named =
            |bad: u8, head: Option<u8>, of: u8| Positions::new(Rc::clone(&history), id(bad), head.map(id)).name(id(of));
        for (of, name) in [(7, "HEAD"), (6, "HEAD~1"), (1, "HEAD~4"), (5, "HEAD~1^2"), (4, "HEAD~1^2~1")] {
            assert_eq!(named(6, Some(7), of).as_deref(), Some(name));
        }
        assert_eq!(named(6, Some(5), 2).as_deref(), Some("060606060606~2"), "HEAD does not lead to the bad revision");
        assert_eq!((named(6, None, 7), named(6, None, 9), named(9, None, 7)), (None, None, None));
    }
}
